/*
 * The sink of exports: that all bytes arrive in their order, packed or not, and
 * what happens when they cannot.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "support/sink_text.h"

static struct sink_text out;

static int
tear_down(void **state)
{
	(void)state;
	sink_text_fini(&out);
	assert_int_equal(out.memory.bytes, 0);
	return (0);
}

static int
set_up(void **state)
{
	(void)state;
	return (sink_text_init(&out));
}

static int
set_up_packed(void **state)
{
	(void)state;
	return (sink_text_init_packed(&out));
}

/* Bytes of which no two neighbours look alike. */
static uint8_t *
many_bytes(size_t n)
{
	uint8_t *bytes = malloc(n);
	uint32_t x = 1;

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
	return (bytes);
}

static void
bytes_arrive_in_their_order_whatever_their_pieces(void **state)
{
	const size_t n = 400000;
	uint8_t *bytes = many_bytes(n);
	size_t piece = 1;

	(void)state;
	for (size_t i = 0; i < n; i += piece) {
		piece = piece * 3 % 100003 + 1;
		if (piece > n - i)
			piece = n - i;
		hwtdi_sink_put(&out.sink, bytes + i, piece);
	}
	assert_int_equal(hwtdi_sink_end_file(&out.sink, NULL), HWTD_OK);
	assert_int_equal(out.n, n);
	assert_memory_equal(out.text, bytes, n);
	assert_int_equal(out.sink.written, n);
	assert_int_equal(out.sink.largest_file, n);
	free(bytes);
}

static void
files_begin_where_they_are_told_to(void **state)
{
	(void)state;
	hwtdi_sink_text(&out.sink, "one");
	assert_int_equal(hwtdi_sink_next_file(&out.sink, NULL), HWTD_OK);
	assert_int_equal(out.nexts, 1);
	assert_int_equal(out.n, 3);
	hwtdi_sink_text(&out.sink, "second");
	assert_int_equal(hwtdi_sink_next_file(&out.sink, NULL), HWTD_OK);
	hwtdi_sink_text(&out.sink, "3");
	assert_int_equal(hwtdi_sink_end_file(&out.sink, NULL), HWTD_OK);
	assert_int_equal(out.n, 10);
	assert_memory_equal(out.text, "onesecond3", 10);
	assert_int_equal(out.sink.files, 3);
	assert_int_equal(out.sink.largest_file, 6);
}

/* Unpack one file of gzip; the bytes of it that were packed. */
static size_t
unpack(const uint8_t *packed, size_t n, uint8_t *to, size_t cap, size_t *n_out)
{
	z_stream z;

	memset(&z, 0, sizeof(z));
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)packed;
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = (uInt)cap;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	*n_out = z.total_out;
	n = z.total_in;
	(void)inflateEnd(&z);
	return (n);
}

static void
each_packed_file_can_be_unpacked_alone(void **state)
{
	const size_t n = 300000;
	uint8_t *bytes = many_bytes(n), *back = malloc(n + 1);
	size_t got, first;

	(void)state;
	assert_non_null(back);
	hwtdi_sink_put(&out.sink, bytes, n);
	assert_int_equal(hwtdi_sink_next_file(&out.sink, NULL), HWTD_OK);
	first = out.n;
	hwtdi_sink_text(&out.sink, "the next one");
	assert_int_equal(hwtdi_sink_end_file(&out.sink, NULL), HWTD_OK);
	assert_int_equal(unpack((uint8_t *)out.text, first, back, n + 1, &got),
	    first);
	assert_int_equal(got, n);
	assert_memory_equal(back, bytes, n);
	assert_int_equal(unpack((uint8_t *)out.text + first, out.n - first,
			     back, n + 1, &got),
	    out.n - first);
	assert_int_equal(got, 12);
	assert_memory_equal(back, "the next one", 12);
	/* Limits of viewers are about what they unpack. */
	assert_int_equal(out.sink.largest_file, n);
	free(bytes);
	free(back);
}

static void
what_failed_first_stays(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };

	(void)state;
	out.error = ENOSPC;
	hwtdi_sink_text(&out.sink, "lost");
	assert_int_equal(hwtdi_sink_flush(&out.sink, &err), HWTD_E_IO);
	assert_int_equal(err.sys_errno, ENOSPC);
	assert_string_equal(err.message,
	    "cannot write after 0 bytes: No space left on device");
	out.error = 0;
	hwtdi_sink_text(&out.sink, "lost too");
	assert_int_equal(hwtdi_sink_end_file(&out.sink, &err), HWTD_E_IO);
	assert_int_equal(out.n, 0);
}

static void
a_file_that_cannot_begin_is_a_failure(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };

	(void)state;
	out.error = EMFILE;
	assert_int_equal(hwtdi_sink_next_file(&out.sink, &err), HWTD_E_IO);
	assert_int_equal(err.sys_errno, EMFILE);
	assert_string_equal(err.message,
	    "cannot begin file 2: Too many open files");
}

static void
memory_that_is_refused_is_no_leak(void **state)
{
	const struct hwtd_error want = { .code = HWTD_E_NOMEM };
	int rc = HWTD_E_NOMEM;

	(void)state;
	hwtdi_sink_fini(&out.sink);
	for (uint64_t n = 1; rc == HWTD_E_NOMEM; n++) {
		struct hwtd_error err = { .size = sizeof(err) };

		assert_true(n < 20);
		failing_allocator_arm(&out.memory, n, false);
		rc = hwtdi_sink_init(&out.sink, out.ctx, out.sink.write,
		    out.sink.next, &out, true, &err);
		assert_true(rc == HWTD_OK || err.code == want.code);
	}
	failing_allocator_arm(&out.memory, 0, false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    bytes_arrive_in_their_order_whatever_their_pieces, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    files_begin_where_they_are_told_to, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    each_packed_file_can_be_unpacked_alone, set_up_packed,
		    tear_down),
		cmocka_unit_test_setup_teardown(what_failed_first_stays,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_file_that_cannot_begin_is_a_failure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    memory_that_is_refused_is_no_leak, set_up, tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
