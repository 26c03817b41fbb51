/*
 * Reading .hwt files that were put together by hand: the format as the man
 * page has it, versions, unknown parts, and files that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "support/hand_written.h"
#include "support/sample_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_model.h"

struct fixture {
	struct temp_dir dir;
	struct hwtd_context *ctx;
	char path[300];
	struct hand file;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "hand.hwt", f->path);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	hand_init(&f->file, 1, 0);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;
	uint64_t now = 1;

	hwtd_context_memory(f->ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	hand_free(&f->file);
	free(f);
	return (0);
}

static int
open_hand(struct fixture *f, struct hwtd_trace **out, struct hwtd_error *err)
{
	memset(err, 0, sizeof(*err));
	err->size = sizeof(*err);
	hand_save(&f->file, f->path);
	return (hwtd_trace_open(f->ctx, f->path, NULL, out, err));
}

static struct hwtd_trace *
must_open(struct fixture *f)
{
	struct hwtd_error err;
	struct hwtd_trace *trace = NULL;

	if (open_hand(f, &trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	return (trace);
}

static uint32_t
n_damages(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return (info.n_damages);
}

static struct hwtd_damage
damage_at(const struct hwtd_trace *trace, size_t i)
{
	struct hwtd_damage d = { .size = sizeof(d) };

	assert_int_equal(hwtd_trace_damage(trace, i, &d), HWTD_OK);
	return (d);
}

static void
assert_stream(const struct hwtd_trace *trace, uint32_t stream, uint64_t off,
    const char *want)
{
	char got[100];
	size_t n;

	assert_int_equal(hwtd_trace_read_bytes(trace, stream, off, got,
			     strlen(want), &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, strlen(want));
	assert_memory_equal(got, want, n);
}

static void
file_written_by_the_man_page_is_read(void **state)
{
	struct fixture *f = *state;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	const char text[] = "compressed compressed compressed compressed";
	const struct hand_chunk meta = { .type = HAND_META, .id = UINT32_MAX };
	const struct hand_chunk packed = {
		.type = HAND_DATA,
		.flags = HAND_ZSTD,
		.position = 5,
	};
	struct hand fields = { 0 };
	struct hwtd_trace *trace;
	char frame[200];
	size_t n;

	hand_number(&fields, 1, 4);
	hand_number(&fields, 4, 4);
	hand_bytes(&fields, "hand", 4);
	hand_chunk(&f->file, &meta, fields.bytes, fields.n, fields.n);
	hand_free(&fields);
	hand_stream(&f->file, 0, 4, "by hand");
	hand_data(&f->file, 0, 0, "hello", 5);
	n = ZSTD_compress(frame, sizeof(frame), text, strlen(text), 1);
	assert_false(ZSTD_isError(n));
	hand_chunk(&f->file, &packed, frame, n, strlen(text));
	hand_finish(&f->file);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 0);
	(void)hwtd_trace_info(trace, &info);
	assert_string_equal(info.origin, "hand");
	assert_string_equal(info.format, "hwt");
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.tech, HWTD_TECH_INTEL_PT);
	assert_int_equal(d.cpu, 4);
	assert_string_equal(d.name, "by hand");
	assert_null(d.pt);
	assert_int_equal(d.n_bytes, 5 + strlen(text));
	assert_stream(trace, 0, 0, "hellocompressed");
	assert_stream(trace, 0, 5, text);
	hwtd_trace_close(trace);
}

static void
newer_minor_version_is_read(void **state)
{
	struct fixture *f = *state;
	const struct hand_chunk future = { .type = 900, .id = 17 };
	struct hwtd_trace *trace;

	hand_free(&f->file);
	hand_init(&f->file, 1, 7);
	hand_stream(&f->file, 0, 0, "s");
	hand_chunk(&f->file, &future, "future", 6, 6);
	hand_data(&f->file, 0, 0, "abc", 3);
	hand_finish(&f->file);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 0);
	assert_stream(trace, 0, 0, "abc");
	hwtd_trace_close(trace);
}

static void
newer_major_version_is_unsupported(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_error err;

	hand_free(&f->file);
	hand_init(&f->file, 2, 0);
	hand_stream(&f->file, 0, 0, "s");
	hand_finish(&f->file);
	assert_int_equal(open_hand(f, &trace, &err), HWTD_E_UNSUPPORTED);
	assert_int_equal(err.offset, 8);
	assert_non_null(strstr(err.message, "version 2"));
}

static void
unknown_critical_chunk_is_unsupported(void **state)
{
	struct fixture *f = *state;
	const struct hand_chunk future = {
		.type = 900,
		.flags = HAND_CRITICAL,
	};
	struct hwtd_trace *trace;
	struct hwtd_error err;

	hand_stream(&f->file, 0, 0, "s");
	hand_chunk(&f->file, &future, "future", 6, 6);
	hand_finish(&f->file);
	assert_int_equal(open_hand(f, &trace, &err), HWTD_E_UNSUPPORTED);
	assert_int_equal(err.offset, f->file.at[1]);
}

static void
unknown_fields_and_longer_values_are_skipped(void **state)
{
	struct fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_STREAM };
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;
	struct hand p = { 0 };

	hand_number(&p, 4000, 4);
	hand_number(&p, 3, 4);
	hand_bytes(&p, "new", 3);
	hand_number(&p, 1, 4);
	hand_number(&p, 28, 4);
	hand_number(&p, HWTD_TECH_SPE, 4);
	hand_number(&p, 9, 4);
	hand_number(&p, 10, 4);
	hand_number(&p, 11, 4);
	hand_number(&p, 0xfffffff0, 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 12345, 4);
	hand_chunk(&f->file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
	hand_finish(&f->file);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 0);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.tech, HWTD_TECH_SPE);
	assert_int_equal(d.cpu, 9);
	assert_int_equal(d.pid, 10);
	assert_int_equal(d.tid, 11);
	assert_int_equal(d.flags, 0);
	hwtd_trace_close(trace);
}

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
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct hand_chunk c = lies[i].chunk;
		struct hwtd_trace *trace;
		struct hwtd_stream_desc d = { .size = sizeof(d) };
		struct hwtd_damage first;

		print_message("case %s\n", lies[i].name);
		hand_free(&f->file);
		hand_init(&f->file, 1, 0);
		hand_stream(&f->file, 0, 0, "s");
		hand_data(&f->file, 0, 0, "before", 6);
		c.type = HAND_DATA;
		if (c.position == 0)
			c.position = 6;
		hand_chunk(&f->file, &c, "lie", 3, lies[i].raw_n);
		trace = must_open(f);
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
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct hand_chunk c = lies[i].chunk;
		struct hwtd_trace *trace;
		struct hwtd_error err;
		char buf[16];
		size_t n;
		int rc;

		print_message("case %s\n", lies[i].name);
		hand_free(&f->file);
		hand_init(&f->file, 1, 0);
		hand_stream(&f->file, 0, 0, "s");
		hand_data(&f->file, 0, 0, "before", 6);
		c.type = HAND_DATA;
		if (c.position == 0)
			c.position = 6;
		hand_chunk(&f->file, &c, "lie", 3, lies[i].raw_n);
		hand_finish(&f->file);
		trace = must_open(f);
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
	struct fixture *f = *state;
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

		hand_free(&f->file);
		hand_init(&f->file, 1, 0);
		hand_stream(&f->file, 0, 0, "s");
		hand_chunk(&f->file, &c, frame, stored, n);
		hand_finish(&f->file);
		trace = must_open(f);
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
	struct fixture *f = *state;
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
	trace = must_open(f);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 0, buf, 10, &got,
			     &err),
	    HWTD_E_CORRUPT);
	assert_non_null(strstr(err.message, "one zstd frame"));
	hwtd_trace_close(trace);
}

static void
too_many_streams_are_a_limit(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_error err;

	hand_stream(&f->file, 65536, 0, "s");
	hand_finish(&f->file);
	assert_int_equal(open_hand(f, &trace, &err), HWTD_E_LIMIT);
	assert_int_equal(err.offset, 32);
}

static void
lost_description_leaves_the_bytes(void **state)
{
	struct fixture *f = *state;
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "a");
	hand_stream(&f->file, 1, 1, "b");
	hand_stream(&f->file, 2, 2, "c");
	hand_data(&f->file, 1, 0, "bytes", 5);
	hand_finish(&f->file);
	f->file.bytes[f->file.at[1] + HAND_HEADER + 9] ^= 1;
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).file_off, f->file.at[1]);
	assert_stream(trace, 1, 0, "bytes");
	assert_int_equal(hwtd_trace_stream(trace, 1, &d), HWTD_OK);
	assert_int_equal(d.tech, HWTD_TECH_UNKNOWN);
	assert_int_equal(hwtd_trace_stream(trace, 2, &d), HWTD_OK);
	assert_string_equal(d.name, "c");
	hwtd_trace_close(trace);
}

static void
stream_without_description_is_damage(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;

	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_stream(trace, 0, 0, "bytes");
	hwtd_trace_close(trace);
}

static void
index_that_lies_is_not_used(void **state)
{
	struct fixture *f = *state;
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
		hand_free(&f->file);
		hand_init(&f->file, 1, 0);
		hand_stream(&f->file, 0, 0, "s");
		hand_data(&f->file, 0, 0, "bytes", 5);
		hand_finish(&f->file);
		index = f->file.at[2];
		f->file.bytes[index + HAND_HEADER + cases[i].at] = cases[i]
								       .value;
		hand_resum_payload(&f->file, index);
		trace = must_open(f);
		assert_true(n_damages(trace) >= 1);
		assert_stream(trace, 0, 0, "bytes");
		hwtd_trace_close(trace);
	}
}

/* The index names another stream than the chunk itself. */
static void
chunk_that_contradicts_the_index_is_noticed(void **state)
{
	struct fixture *f = *state;
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
	trace = must_open(f);
	assert_int_equal(hwtd_trace_read_bytes(trace, 1, 0, buf, 5, &n, &err),
	    HWTD_E_CORRUPT);
	assert_int_equal(err.offset, f->file.at[2]);
	hwtd_trace_close(trace);
}

static void
bytes_after_the_end_are_damage(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	size_t n;

	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	n = f->file.n;
	hand_bytes(&f->file, "tail", 4);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).file_off, n);
	assert_int_equal(damage_at(trace, 0).file_bytes, 4);
	assert_stream(trace, 0, 0, "bytes");
	hwtd_trace_close(trace);
}

/* A .hwt file in the bytes of a stream is not taken for chunks. */
static void
chunks_inside_payloads_are_not_found(void **state)
{
	struct fixture *f = *state;
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
	trace = must_open(f);
	assert_int_equal(damage_at(trace, 0).file_off, f->file.at[1]);
	assert_int_equal(damage_at(trace, 0).file_bytes,
	    f->file.at[2] - f->file.at[1]);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_string_equal(d.name, "outer");
	assert_stream(trace, 0, inner.n, "outer bytes");
	hand_free(&inner);
	hwtd_trace_close(trace);
}

static void
put_image(struct hand *file, uint32_t id, uint32_t flags, uint64_t n_bytes,
    const char *path)
{
	const struct hand_chunk c = { .type = HAND_IMAGE, .id = id };
	struct hand p = { 0 };

	hand_number(&p, 1, 4);
	hand_number(&p, 40, 4);
	hand_number(&p, 0, 8);
	hand_number(&p, n_bytes, 8);
	hand_number(&p, 0x1000, 8);
	hand_number(&p, 0, 8);
	hand_number(&p, flags, 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 2, 4);
	hand_number(&p, strlen(path), 4);
	hand_bytes(&p, path, strlen(path));
	hand_chunk(file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
}

static void
image_that_claims_too_much_has_no_code(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		uint64_t n_bytes;
		uint64_t position;
		bool found;
	} cases[] = {
		{ "true", 4, 0, true },
		{ "more than there is", 1000000, 0, false },
		{ "less than there is", 3, 0, false },
		{ "bytes out of place", 8, 4, false },
		{ "none", 0, 0, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hand_chunk c = {
			.type = HAND_IMAGE_DATA,
			.position = cases[i].position,
		};
		struct hwtdi_span span;
		struct hwtd_trace *trace;
		int rc;

		print_message("case %s\n", cases[i].name);
		hand_free(&f->file);
		hand_init(&f->file, 1, 0);
		put_image(&f->file, 0, 0x3, cases[i].n_bytes, "x");
		hand_chunk(&f->file, &c, "code", 4, 4);
		hand_finish(&f->file);
		trace = must_open(f);
		rc = hwtdi_trace_find_code(trace, 0, 0, NULL, 0x1000, &span);
		assert_int_equal(rc,
		    cases[i].found ? HWTD_OK : HWTD_E_NOT_FOUND);
		assert_int_equal(n_damages(trace), cases[i].found ? 0 : 1);
		hwtd_trace_close(trace);
	}
}

static void
image_over_the_limit_is_a_limit(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;
	struct hwtd_error err;

	put_image(&f->file, 0, 0x3, UINT64_MAX / 2, "x");
	hand_finish(&f->file);
	assert_int_equal(open_hand(f, &trace, &err), HWTD_E_LIMIT);
	assert_int_equal(err.offset, 32);
}

/* 70 chunks of about 1 KiB that stand for 16 MiB of zeros each. */
static void
many_small_bombs_are_a_limit(void **state)
{
	struct fixture *f = *state;
	const size_t n = (size_t)16 << 20;
	char *zeros = calloc(1, n);
	char frame[20000];
	const size_t stored = ZSTD_compress(frame, sizeof(frame), zeros, n, 1);
	const struct {
		uint16_t type;
		int code;
	} cases[] = { { HAND_META, HWTD_E_LIMIT },
		{ HAND_RECORDS, HWTD_E_LIMIT }, { 900, HWTD_OK } };

	assert_false(ZSTD_isError(stored));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hand_chunk c = {
			.type = cases[i].type,
			.flags = HAND_ZSTD,
			.id = UINT32_MAX,
		};
		struct hwtd_trace *trace;
		struct hwtd_error err;
		int rc;

		hand_free(&f->file);
		hand_init(&f->file, 1, 0);
		for (int k = 0; k < 70; k++)
			hand_chunk(&f->file, &c, frame, stored, n);
		rc = open_hand(f, &trace, &err);
		assert_int_equal(rc, cases[i].code);
		if (rc == HWTD_OK)
			hwtd_trace_close(trace);
		else
			assert_int_equal(err.offset,
			    32 + 64 * (HAND_HEADER + stored));
	}
	free(zeros);
}

/* Without a checksum nothing says that a file is the one that was traced. */
static void
image_of_a_changed_file_has_no_code(void **state)
{
	struct fixture *f = *state;
	struct hwtdi_span span;
	struct hwtd_trace *trace;
	char path[300];

	write_file(temp_dir_file(&f->dir, "program", path), "code", 4);
	put_image(&f->file, 0, 0xd, 4, path);
	hand_finish(&f->file);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 0);
	assert_int_equal(hwtdi_trace_find_code(trace, 0, 0, NULL, 0x1000,
			     &span),
	    HWTD_E_NOT_FOUND);
	hwtd_trace_close(trace);
}

static void
records_name_only_what_is_there(void **state)
{
	struct fixture *f = *state;
	const struct hand_chunk c = { .type = HAND_RECORDS, .id = UINT32_MAX };
	struct hwtd_record r = { .size = sizeof(r) };
	struct hwtd_trace *trace;
	struct hand p = { 0 };

	/* A longer fixed part, as a newer version may have it. */
	hand_number(&p, 96 + 8 + 4, 4);
	hand_number(&p, 96 + 8, 2);
	hand_number(&p, 1, 2);
	hand_number(&p, 999, 4);
	hand_number(&p, 0, 4);
	hand_number(&p, 1, 4);
	hand_number(&p, 2, 4);
	hand_number(&p, 3, 4);
	hand_number(&p, 4, 4);
	hand_number(&p, 5, 4);
	hand_number(&p, 0, 4);
	for (uint64_t i = 0; i < 7; i++)
		hand_number(&p, 10 + i, 8);
	hand_number(&p, UINT64_MAX, 8);
	hand_bytes(&p, "name", 4);
	hand_chunk(&f->file, &c, p.bytes, p.n, p.n);
	hand_free(&p);
	hand_finish(&f->file);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(hwtd_trace_record(trace, 0, &r), HWTD_OK);
	assert_int_equal(r.type, 999);
	assert_string_equal(hwtd_record_type_name(r.type), "unknown");
	assert_int_equal(r.stream, HWTD_NO_ID);
	assert_int_equal(r.image, HWTD_NO_ID);
	assert_int_equal(r.time_ns, 10);
	assert_int_equal(r.value, 16);
	assert_string_equal(r.name, "name");
	hwtd_trace_close(trace);
}

static void
malformed_payloads_are_refused_as_a_whole(void **state)
{
	struct fixture *f = *state;
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
		hand_free(&f->file);
		hand_init(&f->file, 1, 0);
		hand_chunk(&f->file, &c, cases[i].bytes, cases[i].n,
		    cases[i].n);
		hand_finish(&f->file);
		trace = must_open(f);
		assert_int_equal(n_damages(trace), 1);
		assert_int_equal(damage_at(trace, 0).file_off, 32);
		hwtd_trace_close(trace);
	}
}

static void
damaged_file_header_does_not_hide_the_chunks(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace;

	hand_stream(&f->file, 0, 0, "s");
	hand_data(&f->file, 0, 0, "bytes", 5);
	hand_finish(&f->file);
	memset(f->file.bytes, 0, 32);
	trace = must_open(f);
	assert_int_equal(n_damages(trace), 1);
	assert_int_equal(damage_at(trace, 0).file_off, 0);
	assert_int_equal(damage_at(trace, 0).file_bytes, 32);
	assert_stream(trace, 0, 0, "bytes");
	hwtd_trace_close(trace);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(file_written_by_the_man_page_is_read),
		T(newer_minor_version_is_read),
		T(newer_major_version_is_unsupported),
		T(unknown_critical_chunk_is_unsupported),
		T(unknown_fields_and_longer_values_are_skipped),
		T(chunks_that_lie_are_refused_with_their_offset),
		T(index_that_repeats_a_lie_is_no_help),
		T(frame_must_give_exactly_the_raw_size),
		T(payload_must_be_one_frame),
		T(too_many_streams_are_a_limit),
		T(lost_description_leaves_the_bytes),
		T(stream_without_description_is_damage),
		T(index_that_lies_is_not_used),
		T(chunk_that_contradicts_the_index_is_noticed),
		T(bytes_after_the_end_are_damage),
		T(chunks_inside_payloads_are_not_found),
		T(image_that_claims_too_much_has_no_code),
		T(image_over_the_limit_is_a_limit),
		T(many_small_bombs_are_a_limit),
		T(image_of_a_changed_file_has_no_code),
		T(records_name_only_what_is_there),
		T(malformed_payloads_are_refused_as_a_whole),
		T(damaged_file_header_does_not_hide_the_chunks),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
