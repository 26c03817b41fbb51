/*
 * Damaged .hwt files: cut at every byte, every byte flipped.  Nothing may
 * crash, and nothing may be wrong without a word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/hand_written.h"
#include "support/sample_trace.h"
#include "support/temp_dir.h"

struct fixture {
	struct temp_dir dir;
	struct hwtd_context *ctx;
	struct hwtd_trace *whole;
	char path[300];
	uint8_t *bytes;
	size_t n;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct hwtd_save_options so = {
		.size = sizeof(so),
		.chunk_bytes = 128,
	};
	struct hwtd_trace *trace;

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "a.hwt", f->path);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	assert_int_equal(sample_trace_build(f->ctx, &trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_save(trace, f->path, &so, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &f->whole,
			     NULL),
	    HWTD_OK);
	f->bytes = read_file(f->path, &f->n);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtd_trace_close(f->whole);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	free(f->bytes);
	free(f);
	return (0);
}

/* What whole chunks of the first `cut` bytes hold, read by the man page. */
struct truth {
	size_t end;
	uint64_t stream_end[3];
	uint32_t n_streams;
	uint32_t n_images;
	uint64_t n_records;
};

static struct truth
truth_of(const struct fixture *f, size_t cut)
{
	struct truth t = { .end = HAND_FILE_HEADER };
	size_t next;

	if (cut < HAND_FILE_HEADER) {
		t.end = 0;
		return (t);
	}
	for (; t.end + HAND_HEADER <= cut; t.end = next) {
		const uint8_t *h = f->bytes + t.end;
		const uint64_t type = hwtdi_le(h + 4, 2);
		const uint64_t id = hwtdi_le(h + 8, 4);

		next = t.end + HAND_HEADER + (size_t)hwtdi_le(h + 16, 4);
		if (next > cut)
			break;
		if (type == HAND_STREAM)
			t.n_streams++;
		if (type == HAND_IMAGE)
			t.n_images++;
		if (type == HAND_DATA)
			t.stream_end[id] = hwtdi_le(h + 32, 8) +
			    hwtdi_le(h + 12, 4);
		/* All records in one chunk; one of them names a file. */
		if (type == HAND_RECORDS) {
			t.n_records += HWTD_REC_TYPES;
			t.n_images++;
		}
	}
	return (t);
}

static void
check_cut(const struct fixture *f, struct hwtd_trace *trace, size_t cut)
{
	const struct truth t = truth_of(f, cut);
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_damage damage = { .size = sizeof(damage) };
	uint8_t got[2048], want[2048];
	size_t n_got, n_want;

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(info.n_damages, 1);
	assert_int_equal(hwtd_trace_damage(trace, 0, &damage), HWTD_OK);
	assert_int_equal(damage.file_off, t.end);
	assert_int_equal(damage.file_bytes, cut - t.end);
	assert_int_equal(damage.stream, HWTD_NO_ID);
	assert_int_equal(hwtd_trace_damage(trace, 1, &damage), HWTD_END);
	if (cut - t.end == 0)
		assert_string_equal(damage.text,
		    "file ends without its end chunk");
	assert_int_equal(info.n_streams, t.n_streams);
	assert_int_equal(info.n_images, t.n_images);
	assert_int_equal(info.n_records, t.n_records);
	for (uint32_t i = 0; i < t.n_streams; i++) {
		struct hwtd_stream_desc d = { .size = sizeof(d) };

		assert_int_equal(hwtd_trace_stream(trace, i, &d), HWTD_OK);
		assert_int_equal(d.n_bytes, t.stream_end[i]);
		assert_int_equal(hwtd_trace_read_bytes(trace, i, 0, got,
				     (size_t)d.n_bytes, &n_got, NULL),
		    HWTD_OK);
		assert_int_equal(n_got, d.n_bytes);
		assert_int_equal(hwtd_trace_read_bytes(f->whole, i, 0, want,
				     n_got, &n_want, NULL),
		    HWTD_OK);
		assert_memory_equal(got, want, n_got);
	}
}

static void
cut_file_yields_its_whole_chunks_and_one_damage(void **state)
{
	struct fixture *f = *state;

	for (size_t cut = f->n; cut-- > 1;) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_trace *trace;
		int rc;

		cut_file(f->path, cut);
		rc = hwtd_trace_open(f->ctx, f->path, NULL, &trace, &err);
		if (cut < 8) {
			assert_int_equal(rc, HWTD_E_UNRECOGNIZED);
			continue;
		}
		if (rc != HWTD_OK)
			fail_msg("cut at %zu: %s", cut, err.message);
		check_cut(f, trace, cut);
		hwtd_trace_close(trace);
	}
}

/* "" if everything is as it was, "?" if something was reported. */
static const char *
judge(const struct fixture *f)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;
	const char *difference;
	int rc;

	if (hwtd_trace_open(f->ctx, f->path, NULL, &trace, &err) != HWTD_OK)
		return (err.message[0] != '\0' ? "?" : "no message");
	(void)hwtd_trace_info(trace, &info);
	rc = trace_read_all(trace);
	difference = trace_difference(f->whole, trace);
	hwtd_trace_close(trace);
	if (info.n_damages != 0 || rc == HWTD_E_CORRUPT)
		return ("?");
	return (difference != NULL ? difference : "");
}

static void
flipped_byte_is_harmless_or_reported(void **state)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0x20, 0xff };
	struct fixture *f = *state;
	size_t n_masks = getenv("HWTDECODE_TEST_SMALL") != NULL
	    ? 1
	    : sizeof(masks);

	for (size_t at = 0; at < f->n; at++) {
		for (size_t m = 0; m < n_masks; m++) {
			const uint8_t flipped = f->bytes[at] ^ masks[m];
			const char *verdict;

			poke_file(f->path, at, &flipped, 1);
			verdict = judge(f);
			/* Every byte is under a checksum. */
			if (strcmp(verdict, "?") != 0)
				fail_msg("byte %zu ^ %#x: %s", at, masks[m],
				    verdict[0] != '\0' ? verdict
						       : "not reported");
		}
		poke_file(f->path, at, &f->bytes[at], 1);
	}
}

/* The same without the index: then headers are searched. */
static void
flipped_byte_of_a_cut_file_is_reported_too(void **state)
{
	struct fixture *f = *state;
	const size_t end = (size_t)hwtdi_le(f->bytes + f->n - 32, 8);
	struct hwtd_trace *cut;
	struct hwtd_trace_info whole = { .size = sizeof(whole) };

	write_file(f->path, f->bytes, end);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &cut, NULL),
	    HWTD_OK);
	assert_null(trace_difference(f->whole, cut));
	hwtd_trace_close(cut);
	for (size_t at = 8; at < end; at++) {
		struct hwtd_trace_info info = { .size = sizeof(info) };
		const uint8_t flipped = f->bytes[at] ^ 0x10;
		struct hwtd_damage damage = { .size = sizeof(damage) };
		struct hwtd_trace *trace;
		int rc;

		poke_file(f->path, at, &flipped, 1);
		rc = hwtd_trace_open(f->ctx, f->path, NULL, &trace, NULL);
		if (rc != HWTD_OK)
			fail_msg("byte %zu: not opened", at);
		(void)hwtd_trace_info(trace, &info);
		rc = trace_read_all(trace);
		(void)hwtd_trace_damage(trace, 0, &damage);
		if (damage.file_bytes == 0 && rc != HWTD_E_CORRUPT)
			fail_msg("byte %zu: not reported", at);
		if (damage.file_bytes != 0 &&
		    (at < damage.file_off ||
			at >= damage.file_off + damage.file_bytes))
			fail_msg("byte %zu: another place was reported", at);
		hwtd_trace_close(trace);
		poke_file(f->path, at, &f->bytes[at], 1);
	}
}

/* Random damage of many bytes at once: only no crash can be asked for. */
static void
files_full_of_damage_do_no_harm(void **state)
{
	struct fixture *f = *state;
	const int rounds = getenv("HWTDECODE_TEST_SMALL") != NULL ? 300 : 3000;
	uint64_t seed = 7;

	for (int i = 0; i < rounds; i++) {
		uint8_t *copy = malloc(f->n);
		const size_t n = 1 + (size_t)(next_random(&seed) % f->n);

		memcpy(copy, f->bytes, f->n);
		for (uint64_t k = next_random(&seed) % 40; k > 0; k--)
			copy[next_random(&seed) % f->n] = (uint8_t)
			    next_random(&seed);
		poke_file(f->path, 0, copy, n);
		cut_file(f->path, n);
		(void)judge(f);
		free(copy);
	}
}

/* Change a byte in the middle of the payload of DATA chunk number `which`. */
static size_t
hurt_data(struct fixture *f, size_t which, bool header)
{
	size_t at = HAND_FILE_HEADER;

	for (;;) {
		const uint8_t *h = f->bytes + at;
		const size_t stored = (size_t)hwtdi_le(h + 16, 4);

		if (hwtdi_le(h + 4, 2) == HAND_DATA &&
		    hwtdi_le(h + 8, 4) == 0 && which-- == 0) {
			f->bytes[at +
			    (header ? 20 : HAND_HEADER + stored / 2)] ^= 0x55;
			write_file(f->path, f->bytes, f->n);
			return (at);
		}
		at += HAND_HEADER + stored;
	}
}

static void
damaged_payload_names_stream_and_file_range(void **state)
{
	struct fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	const size_t at = hurt_data(f, 2, false);
	struct hwtd_trace *trace;
	uint8_t buf[1001];
	size_t n;

	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &trace, NULL),
	    HWTD_OK);
	/* Chunks have 128 bytes: the third is [256, 384). */
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 0, buf, 1001, &n,
			     &err),
	    HWTD_E_CORRUPT);
	assert_int_equal(n, 256);
	assert_int_equal(err.offset, at);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 384, buf, 100, &n,
			     &err),
	    HWTD_OK);
	assert_int_equal(n, 100);
	hwtd_trace_close(trace);
}

static void
damaged_header_in_a_cut_file_makes_a_hole(void **state)
{
	struct fixture *f = *state;
	const size_t end = (size_t)hwtdi_le(f->bytes + f->n - 32, 8);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_damage damage = { .size = sizeof(damage) };
	struct hwtd_extent extent = { .size = sizeof(extent) };
	struct hwtd_trace *trace;
	uint8_t buf[1001], want[1001];
	size_t at, n;

	at = hurt_data(f, 2, true);
	write_file(f->path, f->bytes, end);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_damage(trace, 0, &damage), HWTD_OK);
	assert_int_equal(damage.file_off, at);
	assert_int_equal(damage.stream, 0);
	assert_int_equal(damage.first, 256);
	assert_int_equal(damage.end, 384);
	assert_int_equal(hwtd_trace_extent(trace, 0, 0, &extent), HWTD_OK);
	assert_int_equal(extent.end, 256);
	assert_int_equal(hwtd_trace_extent(trace, 0, 1, &extent), HWTD_OK);
	assert_int_equal(extent.start, 384);
	assert_int_equal(extent.why, HWTD_EXTENT_AFTER_DAMAGE);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 300, buf, 10, &n,
			     &err),
	    HWTD_E_CORRUPT);
	assert_int_equal(n, 0);
	assert_int_equal(err.offset, at);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 384, buf, 600, &n,
			     &err),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_read_bytes(f->whole, 0, 384, want, 600, &n,
			     &err),
	    HWTD_OK);
	assert_memory_equal(buf, want, 600);
	hwtd_trace_close(trace);
}

/* Saving a damaged trace keeps offsets true and says what is missing. */
static void
saving_a_damaged_trace_keeps_offsets(void **state)
{
	struct fixture *f = *state;
	struct hwtd_damage damage = { .size = sizeof(damage) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace, *again;
	char path[300];
	uint8_t buf[1001], want[1001];
	size_t n;

	(void)hurt_data(f, 2, false);
	(void)temp_dir_file(&f->dir, "again.hwt", path);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_save(trace, path, NULL, NULL), HWTD_OK);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_trace_open(f->ctx, path, NULL, &again, NULL),
	    HWTD_OK);
	(void)hwtd_trace_info(again, &info);
	assert_int_equal(info.n_damages, 1);
	assert_int_equal(hwtd_trace_damage(again, 0, &damage), HWTD_OK);
	assert_int_equal(damage.stream, 0);
	assert_int_equal(damage.first, 256);
	assert_int_equal(damage.end, 384);
	assert_int_equal(hwtd_trace_read_bytes(again, 0, 384, buf, 617, &n,
			     NULL),
	    HWTD_OK);
	assert_int_equal(n, 617);
	assert_int_equal(hwtd_trace_read_bytes(f->whole, 0, 384, want, 617, &n,
			     NULL),
	    HWTD_OK);
	assert_memory_equal(buf, want, 617);
	hwtd_trace_close(again);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(cut_file_yields_its_whole_chunks_and_one_damage),
		T(flipped_byte_is_harmless_or_reported),
		T(flipped_byte_of_a_cut_file_is_reported_too),
		T(files_full_of_damage_do_no_harm),
		T(damaged_payload_names_stream_and_file_range),
		T(damaged_header_in_a_cut_file_makes_a_hole),
		T(saving_a_damaged_trace_keeps_offsets),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
