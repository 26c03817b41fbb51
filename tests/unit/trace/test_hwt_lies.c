/*
 * .hwt files that lie: sizes, places, indexes and payloads that break the
 * rules are refused with their offset.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "support/hand_fixture.h"

/* One DATA chunk whose header lies in one way; the file has no index. */
static const struct lie {
	const char *name;
	struct hand_chunk chunk;
	size_t raw_n;
} lies[] = {
	{ "raw size over the limit", { .flags = HAND_ZSTD }, (16u << 20) + 1 },
	{ "raw size of 4 GiB", { .flags = HAND_ZSTD }, UINT32_MAX },
	{ "sizes differ without compression", { .raw_lie = 5 }, 3 },
	{ "stored size past the end", { .stored_lie = 1 << 20 }, 3 },
	{ "stored size of 4 GiB", { .stored_lie = (1ll << 32) - 4 }, 3 },
	{ "number goes back", { .sequence_lie = -1 }, 3 },
	{ "header of another place", { .place_lie = 1 }, 3 },
	{ "stream far away", { .id = 60000 }, 3 },
	{ "offsets go back", { .position = 1 }, 3 },
	{ "offsets wrap", { .position = UINT64_MAX - 1 }, 3 },
};

static void
chunks_that_lie_are_refused_with_their_offset(void **state)
{
	struct hand_fixture *f = *state;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct hand_chunk c = lies[i].chunk;
		struct hwtd_trace *trace;
		struct hwtd_stream_desc d = { .size = sizeof(d) };
		struct hwtd_damage first;

		print_message("case %s\n", lies[i].name);
		hand_again(f);
		hand_stream(&f->file, 0, 0, "s");
		hand_data(&f->file, 0, 0, "before", 6);
		c.type = HAND_DATA;
		if (c.position == 0)
			c.position = 6;
		hand_chunk(&f->file, &c, "lie", 3, lies[i].raw_n);
		trace = hand_must_open(f);
		first = damage_at(trace, 0);
		assert_int_equal(first.file_off, f->file.at[2]);
		assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
		assert_int_equal(d.n_bytes, 6);
		assert_stream(trace, 0, 0, "before");
		hwtd_trace_close(trace);
	}
}

/* The same behind an index that repeats the lie. */
static void
index_that_repeats_a_lie_is_no_help(void **state)
{
	struct hand_fixture *f = *state;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct hand_chunk c = lies[i].chunk;
		struct hwtd_trace *trace;
		struct hwtd_error err;
		char buf[16];
		size_t n;
		int rc;

		print_message("case %s\n", lies[i].name);
		hand_again(f);
		hand_stream(&f->file, 0, 0, "s");
		hand_data(&f->file, 0, 0, "before", 6);
		c.type = HAND_DATA;
		if (c.position == 0)
			c.position = 6;
		hand_chunk(&f->file, &c, "lie", 3, lies[i].raw_n);
		hand_finish(&f->file);
		trace = hand_must_open(f);
		rc = hwtd_trace_read_bytes(trace, 0, 0, buf, 10, &n, &err);
		assert_true(rc == HWTD_E_CORRUPT || n_damages(trace) > 0 ||
		    lies[i].chunk.sequence_lie != 0);
		assert_true(n >= 6);
		assert_memory_equal(buf, "before", 6);
		hwtd_trace_close(trace);
	}
}

static void
frame_must_give_exactly_the_raw_size(void **state)
{
	struct hand_fixture *f = *state;
	static const int64_t off_by[] = { -1, 1, -999999, 1 << 20 };
	const size_t n = 1000000;
	char *zeros = calloc(1, n);
	char frame[1000];
	size_t stored = ZSTD_compress(frame, sizeof(frame), zeros, n, 1);

	assert_false(ZSTD_isError(stored));
	for (size_t i = 0; i < sizeof(off_by) / sizeof(off_by[0]); i++) {
		const struct hand_chunk c = {
			.type = HAND_DATA,
			.flags = HAND_ZSTD,
			.raw_lie = off_by[i],
		};
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_trace *trace;
		char buf[10];
		size_t got;

		hand_again(f);
		hand_stream(&f->file, 0, 0, "s");
		hand_chunk(&f->file, &c, frame, stored, n);
		hand_finish(&f->file);
		trace = hand_must_open(f);
		assert_int_equal(hwtd_trace_read_bytes(trace, 0, 0, buf, 10,
				     &got, &err),
		    HWTD_E_CORRUPT);
		assert_int_equal(err.offset, f->file.at[1]);
		hwtd_trace_close(trace);
	}
	free(zeros);
}

static void
payload_must_be_one_frame(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_DATA, .flags = HAND_ZSTD };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;
	char frames[200], buf[10];
	size_t a, b, got;

	a = ZSTD_compress(frames, 100, "one one one", 11, 1);
	b = ZSTD_compress(frames + a, 100, "two two two", 11, 1);
	hand_stream(&f->file, 0, 0, "s");
	hand_chunk(&f->file, &c, frames, a + b, 22);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 0, buf, 10, &got,
			     &err),
	    HWTD_E_CORRUPT);
	assert_non_null(strstr(err.message, "one zstd frame"));
	hwtd_trace_close(trace);
}

static void
too_many_streams_are_a_limit(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_error err;

	hand_stream(&f->file, 65536, 0, "s");
	hand_finish(&f->file);
	assert_int_equal(hand_open(f, &trace, &err), HWTD_E_LIMIT);
	assert_int_equal(err.offset, 32);
}

static void
index_that_lies_is_not_used(void **state)
{
	struct hand_fixture *f = *state;
	/* Offset in the first index entry, and what is written there. */
	static const struct {
		const char *name;
		size_t at;
		uint8_t value;
	} cases[] = {
		{ "another place", 0, 33 },
		{ "another stored size", 24, 1 },
		{ "overlap with the index", 27, 0x70 },
		{ "lists itself", 32, HAND_INDEX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace;
		size_t index;

		print_message("case %s\n", cases[i].name);
		hand_again(f);
		hand_stream(&f->file, 0, 0, "s");
		hand_data(&f->file, 0, 0, "bytes", 5);
		hand_finish(&f->file);
		index = f->file.at[2];
		f->file.bytes[index + HAND_HEADER + cases[i].at] = cases[i]
								       .value;
		hand_resum_payload(&f->file, index);
		trace = hand_must_open(f);
		assert_true(n_damages(trace) >= 1);
		assert_stream(trace, 0, 0, "bytes");
		hwtd_trace_close(trace);
	}
}

/* A refused chunk leaves the stream as it was, also one without bytes. */
static void
refused_chunk_makes_no_hole(void **state)
{
	struct hand_fixture *f = *state;
	const struct hand_chunk c = {
		.type = HAND_DATA,
		.flags = HAND_ZSTD,
		.position = 64,
	};
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_chunk(&f->file, &c, "no frame", 8, 0);
	hand_finish(&f->file);
	trace = hand_must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).file_off, f->file.at[2]);
	assert_int_equal(damage_at(trace, 0).stream, HWTD_NO_ID);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.n_bytes, 5);
	hwtd_trace_close(trace);
}

/* Damage lies inside the file, whatever a header claims. */
static void
index_that_claims_more_than_the_file_is_clipped(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_damage d;
	size_t index;

	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	index = f->file.at[2];
	/* Raw and stored size. */
	f->file.bytes[index + 13] = 0x40;
	f->file.bytes[index + 17] = 0x40;
	hand_resum(&f->file, index);
	trace = hand_must_open(f);
	for (uint32_t i = 0; i < n_damages(trace); i++) {
		d = damage_at(trace, i);
		assert_true(d.file_off + d.file_bytes <= f->file.n);
	}
	assert_true(n_damages(trace) >= 1);
	assert_stream(trace, 0, 0, "bytes");
	hwtd_trace_close(trace);
}

/* The index names another stream than the chunk itself. */
static void
chunk_that_contradicts_the_index_is_noticed(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;
	char buf[8];
	size_t n, index;

	hand_stream(&f->file, 0, 0, "a");
	hand_stream(&f->file, 1, 0, "b");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	index = f->file.at[3];
	f->file.bytes[index + HAND_HEADER + 2 * 40 + 16] = 1;
	hand_resum_payload(&f->file, index);
	trace = hand_must_open(f);
	assert_int_equal(hwtd_trace_read_bytes(trace, 1, 0, buf, 5, &n, &err),
	    HWTD_E_CORRUPT);
	assert_int_equal(err.offset, f->file.at[2]);
	hwtd_trace_close(trace);
}

/* A .hwt file in the bytes of a stream is not taken for chunks. */
static void
chunks_inside_payloads_are_not_found(void **state)
{
	struct hand_fixture *f = *state;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;
	struct hand inner;

	hand_init(&inner, 1, 0);
	hand_stream(&inner, 0, 0, "inner");
	hand_data(&inner, 0, 0, "inner bytes", 11);
	hand_stream(&f->file, 0, 0, "outer");
	hand_data(&f->file, 0, 0, inner.bytes, inner.n);
	hand_data(&f->file, 0, inner.n, "outer bytes", 11);
	f->file.bytes[f->file.at[1] + 20] ^= 1;
	trace = hand_must_open(f);
	assert_int_equal(damage_at(trace, 0).file_off, f->file.at[1]);
	assert_int_equal(damage_at(trace, 0).file_bytes,
	    f->file.at[2] - f->file.at[1]);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_string_equal(d.name, "outer");
	assert_stream(trace, 0, inner.n, "outer bytes");
	hand_free(&inner);
	hwtd_trace_close(trace);
}

/* 130 chunks of about 1 KiB that stand for 16 MiB of zeros each. */
static void
many_small_bombs_are_refused(void **state)
{
	struct hand_fixture *f = *state;
	const size_t n = (size_t)16 << 20;
	char *zeros = calloc(1, n);
	char frame[20000];
	size_t stored;
	/* Only what has to be kept is unpacked. */
	const struct {
		uint16_t type;
	} cases[] = { { HAND_META }, { HAND_RECORDS }, { 900 } };

	/* One field of unknown tag with all that follows. */
	for (size_t i = 0; i < 4; i++)
		zeros[4 + i] = (char)((n - 8) >> (8 * i) & 0xff);
	zeros[0] = 99;
	stored = ZSTD_compress(frame, sizeof(frame), zeros, n, 1);
	assert_false(ZSTD_isError(stored));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hand_chunk c = {
			.type = cases[i].type,
			.flags = HAND_ZSTD,
			.id = UINT32_MAX,
		};
		const uint64_t size = 32 + 130 * (HAND_HEADER + stored);
		/* 64 MiB, and 256 bytes for each of the file. */
		const uint64_t whole = (((uint64_t)64 << 20) + 256 * size) / n;
		struct hwtd_damage d = { .size = sizeof(d) };
		struct hwtd_trace *trace;
		struct hwtd_error err;

		hand_again(f);
		for (int k = 0; k < 130; k++)
			hand_chunk(&f->file, &c, frame, stored, n);
		assert_int_equal(hand_open(f, &trace, &err), HWTD_OK);
		if (cases[i].type == HAND_META) {
			assert_int_equal(hwtd_trace_damage(trace, 0, &d),
			    HWTD_OK);
			assert_int_equal(d.file_off,
			    32 + whole * (HAND_HEADER + stored));
			assert_non_null(strstr(d.text, "unpacks to more"));
		}
		/* All refused, and that there is no end. */
		for (size_t k = 0; hwtd_trace_damage(trace, k, &d) == HWTD_OK;
		     k++)
			assert_true(k <= 130);
		hwtd_trace_close(trace);
	}
	free(zeros);
}

static void
malformed_payloads_are_refused_as_a_whole(void **state)
{
	struct hand_fixture *f = *state;
	static const struct {
		const char *name;
		uint16_t type;
		const char *bytes;
		size_t n;
	} cases[] = {
		{ "cut field", HAND_META, "\1\0\0", 3 },
		{ "field past the end", HAND_META, "\1\0\0\0\5\0\0\0abc", 11 },
		{ "field of 4 GiB", HAND_META, "\1\0\0\0\xff\xff\xff\xff", 8 },
		{ "0 byte in a text", HAND_META, "\1\0\0\0\3\0\0\0a\0c", 11 },
		{ "stream of nothing", HAND_STREAM, "", 0 },
		{ "short description", HAND_STREAM, "\1\0\0\0\1\0\0\0a", 9 },
		{ "image of nothing", HAND_IMAGE, "", 0 },
		{ "short record", HAND_RECORDS, "abc", 3 },
		{ "bytes without image", HAND_IMAGE_DATA, "abc", 3 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hand_chunk c = { .type = cases[i].type };
		struct hwtd_trace *trace;

		print_message("case %s\n", cases[i].name);
		hand_again(f);
		hand_chunk(&f->file, &c, cases[i].bytes, cases[i].n,
		    cases[i].n);
		hand_finish(&f->file);
		trace = hand_must_open(f);
		assert_int_equal(n_damages(trace), 1);
		assert_int_equal(damage_at(trace, 0).file_off, 32);
		hwtd_trace_close(trace);
	}
}

int
main(void)
{
#define T(name)                                                               \
	cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)
	const struct CMUnitTest tests[] = {
		T(chunks_that_lie_are_refused_with_their_offset),
		T(index_that_repeats_a_lie_is_no_help),
		T(frame_must_give_exactly_the_raw_size),
		T(payload_must_be_one_frame),
		T(too_many_streams_are_a_limit),
		T(index_that_lies_is_not_used),
		T(refused_chunk_makes_no_hole),
		T(index_that_claims_more_than_the_file_is_clipped),
		T(chunk_that_contradicts_the_index_is_noticed),
		T(chunks_inside_payloads_are_not_found),
		T(many_small_bombs_are_refused),
		T(malformed_payloads_are_refused_as_a_whole),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
