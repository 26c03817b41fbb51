/*
 * Records of a perf.data one after the other: where they lie, what lies between
 * them, and where they go on behind damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "support/mapped_trace.h"
#include "support/perf_writer.h"
#include "trace/import/perf/perf_reader.h"

static const struct pw_who who = { 7, 8, 1000, 1, 2 };

/* The names that threads got, in order and with a blank behind each. */
static void
assert_names(const struct hwtd_trace *trace, const char *want)
{
	const size_t n = pw_n_records(trace);
	char got[256] = "";

	for (size_t i = 0; i < n; i++) {
		const struct hwtd_record r = pw_record(trace, i);

		if (r.type != HWTD_REC_THREAD_NAME)
			continue;
		strncat(got, r.name, 20);
		strcat(got, " ");
	}
	assert_string_equal(got, want);
}

static void
put_name(struct pw *w, const char *name)
{
	pw_comm(w, &who, 0, 7, 8, name);
}

static void
records_of_both_byte_orders_are_read(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct hwtd_trace *trace;
		struct hwtd_record r;
		struct pw w;

		pw_file(&w, big != 0, PW_USUAL);
		put_name(&w, "a");
		put_name(&w, "seven-b");
		put_name(&w, "eight-bb");
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_no_damage(trace);
		assert_names(trace, "a seven-b eight-bb ");
		r = pw_record(trace, 2);
		assert_int_equal(r.pid, 7);
		assert_int_equal(r.tid, 8);
		assert_int_equal(r.cpu, 2);
		assert_int_equal(r.time_ns, 1000);
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static void
pipe_has_its_events_among_the_records(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct hwtd_trace *trace;
		struct pw w;

		pw_pipe(&w, big != 0, PW_USUAL);
		put_name(&w, "a");
		put_name(&w, "b");
		trace = pw_open(&w, NULL);
		pw_assert_no_damage(trace);
		assert_names(trace, "a b ");
		assert_int_equal(pw_record(trace, 0).time_ns, 1000);
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static int
read_memory(struct hwtd_trace *trace, const struct pw *w, bool strict,
    unsigned *n_out, uint64_t *last_off, struct hwtd_error *err)
{
	const struct hwtdi_perf_range range = { .bytes = w->bytes,
		.end = w->n,
		.big = w->big,
		.strict = strict,
		.name = "sideband" };
	struct hwtdi_perf_reader *reader;
	struct hwtdi_perf_record r;
	int rc;

	assert_int_equal(hwtdi_perf_reader_create(trace, &range, &reader, err),
	    HWTD_OK);
	*n_out = 0;
	while ((rc = hwtdi_perf_reader_next(reader, &r, err)) == HWTD_OK) {
		assert_false(r.unpacked);
		assert_int_equal(r.type, PW_COMM);
		*last_off = r.off;
		++*n_out;
	}
	hwtdi_perf_reader_destroy(reader);
	return (rc);
}

static void
records_in_memory_are_read_in_place(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = mr_create(NULL);
	uint64_t last = 0;
	unsigned n;
	struct pw w;

	(void)state;
	pw_init(&w, true, 0);
	for (int i = 0; i < 1000; i++)
		pw_comm(&w, NULL, 0, 7, 8, "name");
	assert_int_equal(read_memory(trace, &w, true, &n, &last, &err),
	    HWTD_END);
	assert_int_equal(n, 1000);
	assert_int_equal(last, 999 * 24);
	pw_assert_no_damage(trace);
	pw_fini(&w);
	hwtd_trace_close(trace);
}

static void
damage_is_an_error_where_it_is_to_be(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = mr_create(NULL);
	uint64_t last = 0;
	unsigned n;
	struct pw w;

	(void)state;
	pw_init(&w, false, 0);
	for (int i = 0; i < 10; i++)
		pw_comm(&w, NULL, 0, 7, 8, "name");
	pw_set(&w, 5 * 24 + 6, 4, 2);
	assert_int_equal(read_memory(trace, &w, true, &n, &last, &err),
	    HWTD_E_CORRUPT);
	assert_int_equal(n, 5);
	assert_int_equal(err.offset, 120);
	assert_non_null(strstr(err.message, "120"));
	pw_assert_no_damage(trace);
	/* Else records go on behind it. */
	assert_int_equal(read_memory(trace, &w, false, &n, &last, &err),
	    HWTD_END);
	assert_int_equal(n, 9);
	pw_assert_damage(trace, 0, "sideband: record at 0x78");
	pw_fini(&w);
	hwtd_trace_close(trace);
}

static void
bytes_of_trace_are_no_records(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, fake;

	(void)state;
	pw_init(&fake, false, PW_USUAL);
	for (int i = 0; i < 20; i++)
		pw_comm(&fake, &who, 0, 7, 8, "fake");
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	put_name(&w, "a");
	pw_auxtrace(&w, fake.n, 0, 0, 2, HWTD_NO_ID, fake.bytes, fake.n);
	put_name(&w, "b");
	/* Of tracepoints: filled up to 8 bytes. */
	pw_begin(&w, PW_TRACING_DATA, 0);
	pw_put(&w, 61, 4);
	pw_put(&w, 0, 4);
	pw_end(&w, NULL);
	pw_bytes(&w, fake.bytes, 64);
	put_name(&w, "c");
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_names(trace, "a b c ");
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&fake);
}

static void
index_of_trace_is_that_of_the_header(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, index;

	(void)state;
	pw_init(&index, false, 0);
	pw_put(&index, 1, 8);
	pw_put(&index, 1 << 30, 8);
	pw_put(&index, 48, 8);
	pw_file(&w, false, PW_USUAL);
	pw_feature(&w, 18, &index);
	/* Another one among the records is too late: it is in use. */
	for (int i = 0; i < 200; i++) {
		pw_begin(&w, PW_HEADER_FEATURE, 0);
		pw_put(&w, 18, 8);
		pw_put(&w, 50, 8);
		for (int k = 0; k < 100; k++)
			pw_put(&w, 16, 8);
		pw_end(&w, NULL);
		put_name(&w, "a");
	}
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(pw_n_records(trace), 200);
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&index);
}

/* What is wrong with the record in the middle. */
static const struct {
	const char *name;
	uint32_t type;
	size_t size;
	const char *why;
} damages[] = {
	{ "no size", PW_COMM, 0, "of type 3 has 0 bytes" },
	{ "less than a header", PW_COMM, 4, "of type 3 has 4 bytes" },
	{ "beyond the end", PW_COMM, 65528,
	    "of type 3 has 65528 bytes; 4288 are left" },
	{ "no type", 0, 2000, "and none comes behind it" },
	{ "a type as no kernel has", 0xffffff, 2000,
	    "and none comes behind it" },
};

static void
records_go_on_behind_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct hwtd_trace *trace;
		size_t at;
		struct pw w;

		print_message("case %s\n", damages[i].name);
		pw_file(&w, false, PW_USUAL);
		put_name(&w, "before");
		at = pw_begin(&w, damages[i].type, 0);
		for (int k = 0; k < 500; k++)
			pw_put(&w, 0xfefefefefefefefe, 8);
		pw_set(&w, at + 6, damages[i].size, 2);
		for (int k = 0; k < 5; k++)
			put_name(&w, "behind");
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_damage(trace, at, damages[i].why);
		assert_names(trace,
		    "before behind behind behind behind behind ");
		hwtd_trace_close(trace);
		pw_fini(&w);
	}
}

static void
damage_that_is_longer_than_what_is_read_at_once_is_passed(void **state)
{
	struct hwtd_trace *trace;
	size_t at;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	put_name(&w, "before");
	at = w.n;
	for (int k = 0; k < 100000; k++)
		pw_put(&w, 0, 8);
	put_name(&w, "behind");
	put_name(&w, "it");
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "of type 0 has 0 bytes");
	assert_names(trace, "before behind it ");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
types_that_are_not_known_are_passed_over(void **state)
{
	static const uint32_t types[] = { 5, 8, 22, 63, 65, 127, 200 };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		pw_begin(&w, types[i], 0xffff);
		for (int k = 0; k < 6; k++)
			pw_put(&w, UINT64_MAX, 8);
		pw_end(&w, NULL);
		put_name(&w, "a");
	}
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_names(trace, "a a a a a a a ");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
tail_that_was_cut_off_is_told(void **state)
{
	struct pw w;
	size_t first, last;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	put_name(&w, "a");
	first = w.n;
	put_name(&w, "b");
	last = w.n;
	pw_finish(&w);
	/* The size of the records is there, they are not. */
	for (size_t n = first + 1; n < last; n++) {
		struct hwtd_damage d = { .size = sizeof(d) };
		struct hwtd_trace *trace;

		w.n = n;
		trace = pw_open(&w, NULL);
		assert_names(trace, "a ");
		assert_int_equal(hwtd_trace_damage(trace, 0, &d), HWTD_OK);
		assert_non_null(strstr(d.text, "the file is cut off"));
		assert_int_equal(hwtd_trace_damage(trace, 1, &d), HWTD_OK);
		assert_int_equal(d.file_off, first);
		assert_int_equal(d.file_bytes, n - first);
		hwtd_trace_close(trace);
	}
	pw_fini(&w);
}

static void
file_that_perf_did_not_finish_is_read_to_its_end(void **state)
{
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	put_name(&w, "a");
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, w.data, "perf did not finish the file");
	assert_names(trace, "a ");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
trace_that_was_cut_off_is_missing_at_its_end(void **state)
{
	const uint8_t bytes[100] = { 0 };
	struct hwtd_damage d = { .size = sizeof(d) };
	struct hwtd_stream_desc s = { .size = sizeof(s) };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	put_name(&w, "a");
	pw_auxtrace(&w, 1000, 0, 0, 2, HWTD_NO_ID, bytes, sizeof(bytes));
	trace = pw_open(&w, NULL);
	assert_names(trace, "a ");
	assert_int_equal(hwtd_trace_stream(trace, 0, &s), HWTD_OK);
	assert_int_equal(s.n_bytes, 1000);
	assert_int_equal(hwtd_trace_damage(trace, 1, &d), HWTD_OK);
	assert_int_equal(d.stream, 0);
	assert_int_equal(d.first, 100);
	assert_int_equal(d.end, 1000);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

/* Compressed records. */

/* What `from` holds, as records of `part` bytes each. */
static void
put_packed(struct pw *w, const struct pw *from, size_t part, bool is_2)
{
	const size_t room = ZSTD_compressBound(from->n);
	uint8_t *packed = malloc(room);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_inBuffer in = { from->bytes, from->n, 0 };
	ZSTD_outBuffer out = { packed, room, 0 };
	size_t n;

	assert_non_null(packed);
	assert_non_null(zstd);
	/* perf does not end the frame, either. */
	assert_int_equal(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush),
	    0);
	(void)ZSTD_freeCCtx(zstd);
	n = out.pos;
	for (size_t at = 0; at < n; at += part) {
		const size_t some = n - at < part ? n - at : part;

		pw_begin(w, is_2 ? PW_COMPRESSED2 : PW_COMPRESSED, 0);
		if (is_2)
			pw_put(w, some, 8);
		pw_bytes(w, packed + at, some);
		/* Filled up with what must not be unpacked. */
		while (is_2 && w->n % 8 != 0)
			pw_put(w, 0xee, 1);
		pw_end(w, NULL);
	}
	free(packed);
}

static void
compressed_records_are_one_stream(void **state)
{
	(void)state;
	for (int is_2 = 0; is_2 < 2; is_2++) {
		struct hwtd_trace *trace;
		struct pw w, packed;

		pw_init(&packed, false, PW_USUAL);
		pw_file(&w, false, PW_USUAL);
		put_name(&packed, "a");
		put_name(&packed, "b");
		put_name(&packed, "c");
		/* Records, and what they are packed in, end anywhere. */
		put_packed(&w, &packed, 7, is_2 != 0);
		put_name(&w, "d");
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_no_damage(trace);
		assert_names(trace, "a b c d ");
		hwtd_trace_close(trace);
		pw_fini(&w);
		pw_fini(&packed);
	}
}

static void
records_of_the_last_compressed_one_are_all_read(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, packed;

	(void)state;
	pw_init(&packed, false, PW_USUAL);
	pw_file(&w, false, PW_USUAL);
	/* Much more than what is unpacked at once, in few bytes. */
	for (int i = 0; i < 30000; i++)
		put_name(&packed, "same");
	put_packed(&w, &packed, 60000, false);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(pw_n_records(trace), 30000);
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&packed);
}

static void
largest_record_may_be_compressed(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, packed;

	(void)state;
	pw_init(&packed, false, PW_USUAL);
	pw_file(&w, false, PW_USUAL);
	for (int i = 0; i < 5; i++) {
		put_name(&packed, "a");
		pw_begin(&packed, 99, 0);
		for (int k = 0; k < 8190; k++)
			pw_put(&packed, (uint64_t)k * 0x9e3779b97f4a7c15, 8);
		pw_end(&packed, NULL);
	}
	put_name(&packed, "b");
	put_packed(&w, &packed, 65000, false);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_names(trace, "a a a a a b ");
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&packed);
}

static void
what_cannot_be_unpacked_is_lost_and_no_more(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, packed;
	size_t at;

	(void)state;
	pw_init(&packed, false, PW_USUAL);
	pw_file(&w, false, PW_USUAL);
	put_name(&packed, "a");
	put_name(&packed, "b");
	put_packed(&w, &packed, 60000, false);
	at = pw_begin(&w, PW_COMPRESSED, 0);
	for (int i = 0; i < 10; i++)
		pw_put(&w, 0x1234567, 8);
	pw_end(&w, NULL);
	put_name(&w, "c");
	put_packed(&w, &packed, 60000, false);
	put_name(&w, "d");
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "compressed record");
	assert_names(trace, "a b c d ");
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&packed);
}

static void
size_in_a_compressed_record_is_checked(void **state)
{
	struct hwtd_trace *trace;
	struct pw w;
	size_t at;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	at = pw_begin(&w, PW_COMPRESSED2, 0);
	pw_put(&w, 9, 8);
	pw_put(&w, 0, 8);
	pw_end(&w, NULL);
	put_name(&w, "a");
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "its size is beyond it");
	assert_names(trace, "a ");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
compressed_records_that_end_in_a_record_are_told(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, packed;
	const size_t at = 112 + 112 + 16;

	(void)state;
	pw_init(&packed, false, PW_USUAL);
	pw_file(&w, false, PW_USUAL);
	put_name(&packed, "a");
	put_name(&packed, "b");
	packed.n -= 8;
	put_packed(&w, &packed, 60000, false);
	put_name(&w, "c");
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "they end inside of a record");
	assert_names(trace, "a c ");
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&packed);
}

static void
record_without_a_size_ends_what_is_compressed(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, packed;
	size_t second;

	(void)state;
	pw_init(&packed, false, PW_USUAL);
	pw_file(&w, false, PW_USUAL);
	put_name(&packed, "a");
	second = packed.n;
	put_name(&packed, "b");
	put_name(&packed, "c");
	pw_set(&packed, second + 6, 0, 2);
	put_packed(&w, &packed, 60000, false);
	put_name(&w, "d");
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, w.data, "a record in it has no size");
	assert_names(trace, "a d ");
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&packed);
}

static void
header_that_lies_is_refused(void **state)
{
	static const struct {
		const char *name;
		size_t at;
		uint64_t value;
		const char *why;
	} cases[] = {
		{ "size", 8, 24, "size 24 at 8" },
		{ "attr_size of less", 16, 79, "attr_size 79 at 16" },
		{ "attr_size of more", 16, 65536, "attr_size 65536 at 16" },
		{ "attributes", 24, 1 << 20,
		    "attrs at 24 are 128 bytes at 1048576" },
		{ "records", 40, 1 << 20, "records begin at 1048576" },
	};
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_trace *trace;
		struct pw w;

		print_message("case %s\n", cases[i].name);
		pw_file(&w, false, PW_USUAL);
		pw_finish(&w);
		pw_set(&w, cases[i].at, cases[i].value, 8);
		assert_int_equal(pw_open_in(ctx, &w, NULL, &trace, &err),
		    HWTD_E_CORRUPT);
		assert_int_equal(err.offset, cases[i].at);
		assert_non_null(strstr(err.message, cases[i].why));
		pw_fini(&w);
	}
	hwtd_context_destroy(ctx);
}

static void
file_that_ends_in_its_header_is_refused(void **state)
{
	struct hwtd_context *ctx;
	struct pw w;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	pw_file(&w, false, PW_USUAL);
	for (w.n = 16; w.n < 104; w.n++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_trace *trace;

		assert_int_equal(pw_open_in(ctx, &w, NULL, &trace, &err),
		    HWTD_E_CORRUPT);
		assert_non_null(strstr(err.message, "header"));
	}
	pw_fini(&w);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_both_byte_orders_are_read),
		cmocka_unit_test(pipe_has_its_events_among_the_records),
		cmocka_unit_test(records_in_memory_are_read_in_place),
		cmocka_unit_test(damage_is_an_error_where_it_is_to_be),
		cmocka_unit_test(bytes_of_trace_are_no_records),
		cmocka_unit_test(index_of_trace_is_that_of_the_header),
		cmocka_unit_test(records_go_on_behind_damage),
		cmocka_unit_test(
		    damage_that_is_longer_than_what_is_read_at_once_is_passed),
		cmocka_unit_test(types_that_are_not_known_are_passed_over),
		cmocka_unit_test(tail_that_was_cut_off_is_told),
		cmocka_unit_test(
		    file_that_perf_did_not_finish_is_read_to_its_end),
		cmocka_unit_test(trace_that_was_cut_off_is_missing_at_its_end),
		cmocka_unit_test(compressed_records_are_one_stream),
		cmocka_unit_test(
		    records_of_the_last_compressed_one_are_all_read),
		cmocka_unit_test(largest_record_may_be_compressed),
		cmocka_unit_test(what_cannot_be_unpacked_is_lost_and_no_more),
		cmocka_unit_test(size_in_a_compressed_record_is_checked),
		cmocka_unit_test(
		    compressed_records_that_end_in_a_record_are_told),
		cmocka_unit_test(
		    record_without_a_size_ends_what_is_compressed),
		cmocka_unit_test(header_that_lies_is_refused),
		cmocka_unit_test(file_that_ends_in_its_header_is_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
