/*
 * Streams of real traces: the rows of hwtd_events_read(), from where the cursor
 * stands, up to the end or to what failed.
 *
 * Linked with --wrap of hwtd_events_read, so that a read can be made to fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>

#include "base/fail.h"
#include "support/arrow_rows.h"
#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "support/sample_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_internal.h"

#define ALL_KINDS ((1u << HWTD_EV_KINDS) - 1)
#define ALL_COLUMNS UINT64_MAX

/* Reads until one fails, with this code; 0: none does. */
static unsigned int fail_after;
static int fail_code;
static unsigned int n_reads;

int __real_hwtd_events_read(struct hwtd_events *ev, struct hwtd_batch *batch,
    struct hwtd_error *err);
int __wrap_hwtd_events_read(struct hwtd_events *ev, struct hwtd_batch *batch,
    struct hwtd_error *err);

int
__wrap_hwtd_events_read(struct hwtd_events *ev, struct hwtd_batch *batch,
    struct hwtd_error *err)
{
	if (fail_after == 0 || ++n_reads < fail_after)
		return (__real_hwtd_events_read(ev, batch, err));
	if (fail_code == HWTD_E_IO)
		return (hwtdi_fail_sys(err, ENXIO, "no such disk"));
	return (hwtdi_fail(err, fail_code, "read %u fails", fail_after));
}

static const uint32_t sizes[] = { 1, 7, 64, 65536 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void
assert_same_rows(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts)
{
	struct mt_rows rows;

	mt_rows(trace, opts, &rows);
	assert_true(rows.n > 0);
	for (size_t i = 0; i < N_SIZES; i++) {
		struct ArrowArrayStream stream = ar_export(mt_events(trace,
							       opts),
		    0, sizes[i]);

		ar_assert_stream(&stream, trace, ALL_COLUMNS, &rows, sizes[i]);
	}
	mt_rows_free(&rows);
}

/* Three streams, two of them timed, and records. */
static struct hwtd_trace *
long_traces(size_t insns)
{
	struct hwtd_trace *trace = mt_create();

	(void)long_trace_code(trace);
	for (uint32_t i = 0; i < 3; i++) {
		const struct long_trace_options lo = {
			.seed = i,
			.insns = insns,
			.psb_bytes = 100,
			.timed = i != 2,
			.overflow_of = 20,
			.interrupt_of = 20,
			.pause_of = 30,
			.garbage_of = 40,
		};
		const struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = i == 1 ? HWTD_NO_ID : 1,
			.tid = 100 + i,
			.clock = { .counts_per = i != 2, .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &lo);
		(void)mt_stream(trace, &t.packets, &desc);
		long_trace_free(&t);
	}
	for (uint32_t i = 0; i < 40; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_LOST, i, 0, 0);

		if (i % 4 == 0)
			mr_time(&r, 40 - i);
		else if (i % 4 == 1)
			mr_place(&r, i % 3, 10 * (i - 1));
		else if (i % 4 == 2)
			r.stream = i % 3;
		mr_add(trace, &r);
	}
	return (mt_seal(trace));
}

static void
columns_of_long_traces_are_the_rows(void **state)
{
	struct hwtd_events_options o = { .size = sizeof(o) };
	const size_t n = getenv("HWTDECODE_TEST_SMALL") != NULL ? 1000 : 6000;
	struct hwtd_trace *trace = long_traces(n);

	(void)state;
	assert_same_rows(trace, NULL);
	o.kinds = ALL_KINDS;
	assert_same_rows(trace, &o);
	o.level = HWTD_LEVEL_INSN;
	o.jobs = 2;
	assert_same_rows(trace, &o);
	o.kinds = 1u << HWTD_EV_GAP;
	assert_same_rows(trace, &o);
	hwtd_trace_close(trace);
}

static void
streams_without_a_decoder_are_gaps(void **state)
{
	const struct hwtd_events_options o = {
		.size = sizeof(o),
		.kinds = ALL_KINDS,
	};
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(sample_trace_build(ctx, &trace, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	assert_same_rows(trace, &o);
	hwtd_trace_close(trace);
}

static void
damage_of_no_stream_has_no_place(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	struct ArrowArrayStream stream;
	struct ArrowArray array;

	(void)state;
	pt_psb_plus_off(&p, 64);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	trace->file.size = 0x1000;
	assert_int_equal(hwtdi_trace_note_damage(trace, 0x300, 0x40,
			     HWTD_NO_ID, 0, 0, NULL, "chunk of no kind"),
	    HWTD_OK);
	assert_same_rows(mt_seal(trace), NULL);
	stream = ar_export(mt_events(trace, NULL),
	    HWTD_COL_STREAM | HWTD_COL_STREAM_OFF, 0);
	assert_true(ar_next(&stream, &array));
	assert_int_equal(array.children[0]->null_count, 1);
	assert_int_equal(array.children[1]->null_count, 1);
	array.release(&array);
	stream.release(&stream);
	hwtd_trace_close(trace);
}

/* A line of image.txt: file, offset, bytes, address. */
static void
add_code(struct hwtd_trace *trace, const char *path, const char *line)
{
	unsigned long long off, n, address;
	char name[500], file[100];
	uint8_t *code;
	size_t n_code;

	if (sscanf(line, "%99s %llx %llx %llx", file, &off, &n, &address) != 4)
		return;
	(void)snprintf(name, sizeof(name), "%s/%s", path, file);
	code = read_file(name, &n_code);
	assert_true(off + n <= n_code);
	(void)mt_code(trace, address, code + off, (size_t)n);
	free(code);
}

/* A case of the fixtures: its code, its stream, a clock. */
static struct hwtd_trace *
open_case(const char *path)
{
	const struct hwtd_stream_desc desc = {
		.cpu = 0,
		.pid = 7,
		.tid = 8,
		.clock = { .counts_per = 1, .ns_per = 1 },
	};
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	char name[500], line[200];
	FILE *image;

	(void)snprintf(name, sizeof(name), "%s/image.txt", path);
	image = fopen(name, "r");
	assert_non_null(image);
	while (fgets(line, sizeof(line), image) != NULL)
		add_code(trace, path, line);
	(void)fclose(image);
	(void)snprintf(name, sizeof(name), "%s/trace.pt", path);
	p.bytes = read_file(name, &p.n);
	(void)mt_stream(trace, &p, &desc);
	free(p.bytes);
	return (mt_seal(trace));
}

static void
columns_of_all_fixtures_are_the_rows(void **state)
{
	DIR *dir = opendir(TEST_FIXTURES "/pt-good");
	uint64_t seen[HWTD_EV_KINDS] = { 0 };
	struct dirent *entry;
	char path[400];

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		struct hwtd_trace *trace;
		struct mt_rows rows;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), TEST_FIXTURES "/pt-good/%s",
		    entry->d_name);
		trace = open_case(path);
		mt_rows(trace, NULL, &rows);
		for (size_t i = 0; i < rows.n; i++)
			seen[rows.at[i].row.kind]++;
		if (rows.n > 0)
			assert_same_rows(trace, NULL);
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
	}
	(void)closedir(dir);
	/* What Intel PT has; some of it needs instructions or records. */
	for (uint32_t kind = HWTD_EV_BLOCK; kind < HWTD_EV_SAMPLE; kind++)
		if (seen[kind] == 0 && kind != HWTD_EV_INSN &&
		    kind != HWTD_EV_TIME && kind != HWTD_EV_CYCLES)
			fail_msg("no fixture has a row of kind %s",
			    hwtd_event_kind_name(kind));
}

static void
a_stream_begins_where_the_cursor_stands(void **state)
{
	struct hwtd_trace *trace = long_traces(500);
	struct hwtd_events *ev = mt_events(trace, NULL);
	struct mt_rows rows = { 0 }, some = { 0 };
	struct ArrowArrayStream stream;

	(void)state;
	mt_rows(trace, NULL, &rows);
	mt_read_some(ev, 100, &some);
	assert_int_equal(some.n, 100);
	memmove(rows.at, rows.at + 100, (rows.n - 100) * sizeof(*rows.at));
	rows.n -= 100;
	stream = ar_export(ev, 0, 64);
	ar_assert_stream(&stream, trace, ALL_COLUMNS, &rows, 64);
	mt_rows_free(&rows);

	ev = mt_events(trace, NULL);
	assert_int_equal(hwtd_events_seek_offset(ev, 1, 300, NULL), HWTD_OK);
	mt_read(ev, 100, &rows);
	assert_int_equal(hwtd_events_seek_offset(ev, 1, 300, NULL), HWTD_OK);
	stream = ar_export(ev, 0, 0);
	ar_assert_stream(&stream, trace, ALL_COLUMNS, &rows, 65536);
	mt_rows_free(&rows);
	mt_rows_free(&some);
	hwtd_trace_close(trace);
}

static void
a_trace_without_rows_is_a_stream_without_arrays(void **state)
{
	struct hwtd_trace *trace = mt_seal(mt_create());
	struct ArrowArrayStream stream = ar_export(mt_events(trace, NULL), 0,
	    0);
	const struct mt_rows none = { 0 };

	(void)state;
	ar_assert_stream(&stream, trace, ALL_COLUMNS, &none, 65536);
	hwtd_trace_close(trace);
}

/* Failures. */

/* Rows up to a failure, then its errno and text, again and again. */
static void
assert_fails(struct ArrowArrayStream *stream, const struct hwtd_trace *trace,
    const struct mt_rows *rows, size_t want, int want_errno, const char *text)
{
	struct ArrowSchema schema;
	struct ArrowArray array;
	size_t n = 0;
	int rc;

	assert_int_equal(stream->get_schema(stream, &schema), 0);
	while ((rc = stream->get_next(stream, &array)) == 0 &&
	    array.release != NULL) {
		assert_null(stream->get_last_error(stream));
		ar_assert_array(trace, &schema, &array, rows, n);
		n += (size_t)array.length;
		array.release(&array);
	}
	assert_int_equal(n, want);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rc, want_errno);
		assert_null(array.release);
		assert_non_null(stream->get_last_error(stream));
		assert_non_null(strstr(stream->get_last_error(stream), text));
		rc = stream->get_next(stream, &array);
	}
	schema.release(&schema);
	/* Another call is not to be blamed for it. */
	assert_int_equal(stream->get_schema(stream, &schema), 0);
	assert_null(stream->get_last_error(stream));
	schema.release(&schema);
	stream->release(stream);
}

static void
a_strict_cursor_hands_out_what_comes_before_its_gap(void **state)
{
	struct hwtd_events_options strict = {
		.size = sizeof(strict),
		.flags = HWTD_DECODE_STRICT,
	};
	struct hwtd_trace *trace = long_traces(2000);
	struct mt_rows rows;
	size_t first = 0;

	(void)state;
	mt_rows(trace, NULL, &rows);
	while (rows.at[first].row.kind != HWTD_EV_GAP)
		first++;
	assert_true(first > 10);
	/* The gap is a row, and then there is no more. */
	for (size_t i = 0; i < N_SIZES; i++) {
		struct ArrowArrayStream stream = ar_export(mt_events(trace,
							       &strict),
		    0, sizes[i]);

		assert_fails(&stream, trace, &rows, first + 1, EIO, "strict");
	}
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
a_failed_read_loses_no_row_before_it(void **state)
{
	static const struct {
		int code;
		int want_errno;
		const char *text;
	} cases[] = {
		{ HWTD_E_IO, ENXIO, "no such disk" },
		{ HWTD_E_NOMEM, ENOMEM, "fails" },
		{ HWTD_E_LIMIT, ENOMEM, "fails" },
		{ HWTD_E_CORRUPT, EIO, "fails" },
		{ HWTD_E_UNSUPPORTED, ENOSYS, "fails" },
		{ HWTD_E_INVALID, EINVAL, "fails" },
		{ HWTD_E_ENGINE, EIO, "fails" },
	};
	struct hwtd_trace *trace = long_traces(3000);
	struct mt_rows rows;

	(void)state;
	mt_rows(trace, NULL, &rows);
	assert_true(rows.n > 2 * 1024);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t k = 0; k < N_SIZES; k++) {
			const size_t room = sizes[k] < 1024 ? sizes[k] : 1024;
			struct ArrowArrayStream stream = ar_export(
			    mt_events(trace, NULL), 0, sizes[k]);

			/* Reads fill their room until the rows end. */
			for (unsigned int after = 1; after <= 3; after += 2) {
				n_reads = 0;
				fail_after = after;
				fail_code = cases[i].code;
				assert_fails(&stream, trace, &rows,
				    (after - 1) * room, cases[i].want_errno,
				    cases[i].text);
				fail_after = 0;
				stream = ar_export(mt_events(trace, NULL), 0,
				    sizes[k]);
			}
			stream.release(&stream);
		}
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
what_cannot_be_exported_leaves_the_cursor_alone(void **state)
{
	struct hwtd_export_options o = { .size = sizeof(o) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = long_traces(100);
	struct hwtd_events *ev = mt_events(trace, NULL);
	struct ArrowArrayStream stream;
	struct mt_rows all, rows = { 0 };
	int rc;

	(void)state;
	memset(&stream, 0, sizeof(stream));
	rc = hwtd_events_export(NULL, NULL, &stream, &err);
	assert_int_equal(rc, HWTD_E_INVALID);
	assert_int_equal(err.code, HWTD_E_INVALID);
	rc = hwtd_events_export(ev, NULL, NULL, &err);
	assert_int_equal(rc, HWTD_E_INVALID);
	o.rows = HWTD_EXPORT_MAX_ROWS + 1;
	rc = hwtd_events_export(ev, &o, &stream, &err);
	assert_int_equal(rc, HWTD_E_INVALID);
	o.rows = 0;
	o.reserved = 1;
	rc = hwtd_events_export(ev, &o, &stream, &err);
	assert_int_equal(rc, HWTD_E_TOO_NEW);
	o.reserved = 0;
	o.columns = HWTD_COL_IP | 1ull << 63;
	rc = hwtd_events_export(ev, &o, &stream, &err);
	assert_int_equal(rc, HWTD_E_TOO_NEW);
	assert_non_null(strstr(err.message, "0x8000000000000000"));
	assert_null(stream.release);

	mt_rows(trace, NULL, &all);
	mt_read(ev, 100, &rows);
	mt_assert_same(&all, 0, &rows);
	hwtd_events_close(ev);
	mt_rows_free(&all);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_of_long_traces_are_the_rows),
		cmocka_unit_test(streams_without_a_decoder_are_gaps),
		cmocka_unit_test(damage_of_no_stream_has_no_place),
		cmocka_unit_test(columns_of_all_fixtures_are_the_rows),
		cmocka_unit_test(a_stream_begins_where_the_cursor_stands),
		cmocka_unit_test(
		    a_trace_without_rows_is_a_stream_without_arrays),
		cmocka_unit_test(
		    a_strict_cursor_hands_out_what_comes_before_its_gap),
		cmocka_unit_test(a_failed_read_loses_no_row_before_it),
		cmocka_unit_test(
		    what_cannot_be_exported_leaves_the_cursor_alone),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
