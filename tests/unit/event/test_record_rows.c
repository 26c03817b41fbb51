/*
 * Rows of records: where each one comes, what it tells, and filters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/row_text.h"

#define RECORD (1u << HWTD_EV_RECORD)
#define ALL ((1u << HWTD_EV_KINDS) - 1 - (1u << HWTD_EV_TIME))

static const struct hwtd_events_options all = {
	.size = sizeof(all),
	.kinds = ALL,
};

static const struct hwtd_events_options records_only = {
	.size = sizeof(records_only),
	.kinds = RECORD,
};

#define BASE 0x100000u

/* Blocks at times 100 and 200, bytes 0x1d and 0x26. */
static void
put_packets(struct pt_packets *p)
{
	pt_psb(p); /* 0 */
	pt_tsc(p, 100);
	pt_fup(p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(p, 64);
	pt_psbend(p);
	pt_tnt(p, "T");
	pt_tsc(p, 200);
	pt_tnt(p, "T");
	pt_leave_at(p, BASE);
}

/* jne to itself, nops; one stream, with or without time. */
static struct hwtd_trace *
small_trace(bool timed)
{
	static const uint8_t code[] = { 0x75, 0xfe, 0x90, 0x90 };
	const struct hwtd_stream_desc desc = {
		.cpu = 3,
		.pid = 10,
		.tid = 20,
		.clock = { .counts_per = timed, .ns_per = 1 },
	};
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	(void)mt_code(trace, BASE, code, sizeof(code));
	put_packets(&p);
	(void)mt_stream(trace, &p, &desc);
	pt_free(&p);
	return (trace);
}

/* A record that changes nothing. */
static struct hwtd_record
plain(void)
{
	struct hwtd_record r = mr_record(HWTD_REC_LOST, HWTD_NO_ID, 0, 0);

	r.flags = 0;
	return (r);
}

static void
add_plain(struct hwtd_trace *trace)
{
	const struct hwtd_record r = plain();

	mr_add(trace, &r);
}

static void
add_at_time(struct hwtd_trace *trace, uint64_t time_ns)
{
	struct hwtd_record r = plain();

	mr_time(&r, time_ns);
	mr_add(trace, &r);
}

static void
add_at_byte(struct hwtd_trace *trace, uint32_t stream, uint64_t off)
{
	struct hwtd_record r = plain();

	mr_place(&r, stream, off);
	mr_add(trace, &r);
}

static void
records_come_before_the_rows_of_their_time(void **state)
{
	struct hwtd_trace *trace = small_trace(true);

	(void)state;
	add_at_time(trace, 201);
	add_at_time(trace, 200);
	add_at_time(trace, 0);
	add_at_time(trace, 100);
	add_at_time(trace, 99);
	add_at_time(trace, 0);
	mt_seal(trace);
	assert_rows(trace, &records_only,
	    "s-1 t=0 record value=2\n"
	    "s-1 t=0 record value=5\n"
	    "s-1 t=99 record value=4\n"
	    "s-1 t=100 record value=3\n"
	    "s-1 t=200 record value=1\n"
	    "s-1 t=201 record value=0\n");
	assert_rows(trace, &all,
	    "s-1 t=0 record value=2\n"
	    "s-1 t=0 record value=5\n"
	    "s-1 t=99 record value=4\n"
	    "s-1 t=100 record value=3\n"
	    "t=100 mode value=0 100000 status 64\n"
	    "~t=100 block 100000 1/2 conditional ->100000 taken 64 sec0\n"
	    "s-1 t=200 record value=1\n"
	    "t=200 block 100000 1/2 conditional ->100000 taken 64 sec0\n"
	    "~t=200 disable 100000 async\n"
	    "s-1 t=201 record value=0\n");
	hwtd_trace_close(trace);
}

static void
without_the_kind_there_are_none(void **state)
{
	struct hwtd_trace *trace = small_trace(true);
	struct hwtd_stats s = { .size = sizeof(s) };
	struct hwtd_events *ev;
	struct mt_rows rows = { 0 };

	(void)state;
	add_at_time(trace, 0);
	add_plain(trace);
	mt_seal(trace);
	ev = mt_events(trace, NULL);
	mt_read(ev, 10, &rows);
	assert_true(rows.n > 0);
	for (size_t i = 0; i < rows.n; i++)
		assert_int_not_equal(rows.at[i].row.kind, HWTD_EV_RECORD);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.kinds[HWTD_EV_RECORD], 0);
	assert_int_equal(s.first_ns, 100);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

static void
records_that_name_a_byte_come_before_it(void **state)
{
	static const bool timed[] = { true, false };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct hwtd_trace *trace = small_trace(timed[i]);
		struct mt_rows rows, only;
		uint64_t off = 0;
		size_t n = 0;

		mt_rows(mt_seal(trace), NULL, &rows);
		/* The second block. */
		for (size_t k = 0; k < rows.n; k++)
			if (rows.at[k].row.kind == HWTD_EV_BLOCK)
				off = rows.at[k].row.stream_off;
		mt_rows_free(&rows);
		hwtd_trace_close(trace);

		trace = small_trace(timed[i]);
		add_at_byte(trace, 0, 10000);
		add_at_byte(trace, 0, off + 1);
		add_at_byte(trace, 0, off);
		add_plain(trace);
		add_at_byte(trace, 0, 0);
		mt_seal(trace);
		mt_rows(trace, &all, &rows);
		assert_int_equal(rows.at[0].row.value, 4);
		for (size_t k = 0; k < rows.n; k++) {
			const struct hwtd_event *e = &rows.at[k].row;

			if (e->kind == HWTD_EV_BLOCK && e->stream_off == off)
				break;
			n = k;
		}
		assert_int_equal(rows.at[n - 1].row.value, 2);
		assert_int_equal(rows.at[n - 1].row.stream, 0);
		assert_int_equal(rows.at[n - 1].row.stream_off, off);
		/* It follows the one before it. */
		assert_int_equal(rows.at[n].row.value, 3);
		assert_int_equal(rows.at[n].row.stream, HWTD_NO_ID);
		/* Behind the block, and behind all that is there. */
		for (size_t k = 0; k <= n + 1; k++)
			assert_true(rows.at[k].row.kind != HWTD_EV_RECORD ||
			    rows.at[k].row.value > 1);
		assert_int_equal(rows.at[rows.n - 1].row.value, 0);
		assert_int_equal(rows.at[rows.n - 1].row.kind, HWTD_EV_RECORD);
		mt_rows_free(&rows);

		mt_rows(trace, &records_only, &only);
		assert_int_equal(only.n, 5);
		mt_rows_free(&only);
		hwtd_trace_close(trace);
	}
}

static void
a_record_with_neither_follows_the_one_before_it(void **state)
{
	struct hwtd_trace *trace = mt_create();

	(void)state;
	add_plain(trace);
	add_at_time(trace, 50);
	add_plain(trace);
	add_plain(trace);
	add_at_time(trace, 7);
	add_plain(trace);
	mt_seal(trace);
	assert_rows(trace, &all,
	    "s-1 t=7 record value=4\n"
	    "s-1 record value=5\n"
	    "s-1 record value=0\n"
	    "s-1 t=50 record value=1\n"
	    "s-1 record value=2\n"
	    "s-1 record value=3\n");
	hwtd_trace_close(trace);
}

static void
records_without_any_place_come_first(void **state)
{
	struct hwtd_trace *trace = small_trace(true);
	struct mt_rows rows;

	(void)state;
	add_plain(trace);
	add_plain(trace);
	mt_rows(mt_seal(trace), &all, &rows);
	assert_int_equal(rows.at[0].row.kind, HWTD_EV_RECORD);
	assert_int_equal(rows.at[0].row.value, 0);
	assert_int_equal(rows.at[1].row.value, 1);
	assert_int_not_equal(rows.at[2].row.kind, HWTD_EV_RECORD);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
a_row_tells_what_the_record_knows(void **state)
{
	struct hwtd_trace *trace = small_trace(true);
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 7, 0, 0x1000);
	struct hwtd_exec_context c = { .size = sizeof(c) };
	struct mt_rows rows;
	const struct hwtd_event *e;

	(void)state;
	r.cpu = 1;
	r.tid = 8;
	mr_time(&r, 0);
	mr_place(&r, 0, 9);
	mr_add(trace, &r);
	add_plain(trace);
	mt_rows(mt_seal(trace), &records_only, &rows);
	assert_int_equal(rows.n, 2);
	e = &rows.at[0].row;
	assert_int_equal(e->kind, HWTD_EV_RECORD);
	assert_int_equal(e->flags,
	    HWTD_EVF_TIME | HWTD_EVF_IP | HWTD_EVF_VALUE);
	assert_int_equal(e->stream, 0);
	assert_int_equal(e->stream_off, 9);
	assert_int_equal(hwtd_trace_exec_context(trace, e->context, &c),
	    HWTD_OK);
	assert_int_equal(c.cpu, 1);
	assert_int_equal(c.pid, 7);
	assert_int_equal(c.tid, 8);
	e = &rows.at[1].row;
	assert_int_equal(e->flags, HWTD_EVF_VALUE);
	assert_int_equal(e->value, 1);
	assert_int_equal(e->stream, HWTD_NO_ID);
	assert_int_equal(e->stream_off, 0);
	assert_int_equal(e->insns + e->bytes + e->branch, 0);
	assert_int_equal(hwtd_trace_exec_context(trace, e->context, &c),
	    HWTD_OK);
	assert_int_equal(c.cpu, HWTD_NO_ID);
	assert_int_equal(c.pid, HWTD_NO_ID);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

/* Filters. */

static const struct hwtd_range low_addresses[] = { { 0x1800, 0x1801 } };
static const struct hwtd_range early[] = { { 0, 100 }, { 150, 160 } };
static const uint32_t one[] = { 1 };
static const uint32_t three[] = { 3 };
static const uint32_t zero[] = { 0 };

static const struct {
	struct hwtd_events_options o;
	const char *want;
} filters[] = {
	{ { .n_cpus = 1, .cpus = one }, "1 " },
	/* The stream of record 4 is of CPU 3. */
	{ { .n_cpus = 1, .cpus = three }, "4 " },
	{ { .n_pids = 1, .pids = one }, "2 " },
	{ { .n_tids = 1, .tids = one }, "3 " },
	{ { .n_streams = 1, .streams = zero }, "4 5 " },
	{ { .n_times = 2, .times_ns = early }, "0 1 3 5 " },
	/* Inside of one; the other begins behind it. */
	{ { .n_addresses = 1, .addresses = low_addresses }, "2 " },
	{ { .n_pids = 1, .pids = one, .n_tids = 1, .tids = one }, "" },
};

static void
filters_apply_to_what_records_know(void **state)
{
	struct hwtd_trace *trace = small_trace(true);
	struct hwtd_record r;

	(void)state;
	add_at_time(trace, 0);
	r = plain();
	r.cpu = 1;
	mr_time(&r, 99);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_CODE, 1, 0x1000, 0x1000);
	mr_time(&r, 100);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_CODE, 2, 0x1801, UINT64_MAX);
	r.tid = 1;
	mr_time(&r, 155);
	mr_add(trace, &r);
	add_at_byte(trace, 0, 20);
	r = plain();
	r.cpu = 9;
	mr_time(&r, 5);
	mr_place(&r, 0, 20);
	mr_add(trace, &r);
	mt_seal(trace);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct hwtd_events_options o = filters[i].o;
		struct hwtd_stats s = { .size = sizeof(s) };
		struct hwtd_events *ev;
		struct mt_rows rows = { 0 };
		bool seen[6] = { false };
		char text[64] = "";

		print_message("filter %zu\n", i);
		o.size = sizeof(o);
		o.kinds = RECORD;
		ev = mt_events(trace, &o);
		mt_read(ev, 10, &rows);
		for (size_t k = 0; k < rows.n; k++)
			seen[rows.at[k].row.value] = true;
		for (size_t k = 0; k < 6; k++)
			if (seen[k])
				(void)snprintf(text + strlen(text),
				    sizeof(text) - strlen(text), "%zu ", k);
		assert_string_equal(text, filters[i].want);
		/* Those of other streams and CPUs are not made at all. */
		assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
		assert_int_equal(s.kinds[HWTD_EV_RECORD],
		    o.n_cpus != 0 || o.n_streams != 0 ? rows.n : 6);
		mt_rows_free(&rows);
		hwtd_events_close(ev);
	}
	hwtd_trace_close(trace);
}

/* A stream that is not read gives no place. */
static void
records_in_streams_that_are_left_out_follow_others(void **state)
{
	struct hwtd_trace *trace = small_trace(true);
	struct hwtd_events_options o = { .size = sizeof(o),
		.kinds = RECORD,
		.cpus = one,
		.n_cpus = 1 };
	struct hwtd_record r = plain();

	(void)state;
	r.cpu = 1;
	mr_time(&r, 500);
	mr_add(trace, &r);
	r = plain();
	r.cpu = 1;
	mr_place(&r, 0, 1);
	mr_add(trace, &r);
	mt_seal(trace);
	assert_rows(trace, &o,
	    "s-1 t=500 record value=0\n"
	    "record value=1\n");
	hwtd_trace_close(trace);
}

/* Without streams, and many. */

static void
no_stream_is_needed(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct hwtd_events *ev;
	struct mt_rows rows = { 0 };

	(void)state;
	add_at_time(trace, 5);
	add_at_time(trace, 3);
	mt_seal(trace);
	for (uint32_t jobs = 0; jobs <= 4; jobs += 2) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.kinds = ALL,
			.jobs = jobs };

		assert_rows(trace, &o,
		    "s-1 t=3 record value=1\n"
		    "s-1 t=5 record value=0\n");
	}
	ev = mt_events(trace, &all);
	assert_int_equal(hwtd_events_seek_ns(ev, 4, NULL), HWTD_OK);
	mt_read(ev, 1, &rows);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.at[0].row.value, 0);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

#define MANY 100000u

/* A third of them at one time, a third at one byte, the others behind. */
static void
many_records_in_one_place_are_no_burden(void **state)
{
	struct hwtd_trace *trace = small_trace(true);
	struct hwtd_stats s = { .size = sizeof(s) };
	uint64_t last[3] = { 0 };
	bool *seen = calloc(MANY, sizeof(*seen));
	struct hwtd_events *ev;
	struct mt_rows rows = { 0 };

	(void)state;
	assert_non_null(seen);
	for (uint32_t i = 0; i < MANY; i++) {
		if (i % 3 == 0)
			add_at_time(trace, 150);
		else if (i % 3 == 1)
			add_at_byte(trace, 0, 30);
		else
			add_plain(trace);
	}
	ev = mt_events(mt_seal(trace), &all);
	mt_read(ev, 1000, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const uint64_t value = rows.at[i].row.value;

		if (rows.at[i].row.kind != HWTD_EV_RECORD)
			continue;
		assert_true(value < MANY && !seen[value]);
		seen[value] = true;
		assert_true(value >= last[value % 3]);
		last[value % 3] = value;
	}
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.kinds[HWTD_EV_RECORD], MANY);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(seen[i]);
	free(seen);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

static void
records_alone_do_not_decode_for_times(void **state)
{
	struct hwtd_trace *trace = small_trace(true);
	struct hwtd_stats s = { .size = sizeof(s) };
	struct hwtd_events *ev;
	struct mt_rows rows = { 0 };

	(void)state;
	add_at_time(trace, 150);
	add_plain(trace);
	ev = mt_events(mt_seal(trace), &records_only);
	mt_read(ev, 10, &rows);
	assert_int_equal(rows.n, 2);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.bytes, 0);
	assert_int_equal(s.kinds[HWTD_EV_RECORD], 2);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

/* The numbers of the records that are read from a time on. */
static void
numbers_from(struct hwtd_trace *trace, uint32_t kinds, uint64_t ns,
    char text[64])
{
	const struct hwtd_events_options o = { .size = sizeof(o),
		.kinds = kinds };
	struct hwtd_events *ev = mt_events(trace, &o);
	struct mt_rows rows = { 0 };

	text[0] = '\0';
	assert_int_equal(hwtd_events_seek_ns(ev, ns, NULL), HWTD_OK);
	mt_read(ev, 10, &rows);
	for (size_t i = 0; i < rows.n; i++)
		if (rows.at[i].row.kind == HWTD_EV_RECORD)
			(void)snprintf(text + strlen(text), 64 - strlen(text),
			    "%d ", (int)rows.at[i].row.value);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
}

/* A segment begins without time; the rows before it tell where that is. */
static void
a_seek_by_time_finds_records_before_rows_without_time(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = { { 0, "0 1 2 3 4 " }, { 1, "0 1 2 3 4 " },
		{ 100, "0 1 2 3 4 " }, { 101, "1 2 3 4 " },
		{ 200, "1 2 3 4 " }, { 201, "3 4 " }, { 300, "3 4 " },
		{ 301, "" } };
	static const uint32_t kinds[] = { RECORD, ALL,
		RECORD | 1u << HWTD_EV_POWER };
	struct hwtd_trace *trace = small_trace(true);
	struct pt_packets p = { 0 };
	uint64_t second;

	(void)state;
	put_packets(&p);
	second = p.n;
	pt_clear(&p);
	pt_psb(&p);
	pt_fup(&p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_tnt(&p, "T");
	pt_cyc(&p, 1);
	pt_tnt(&p, "T");
	pt_tsc(&p, 300);
	pt_tnt(&p, "T");
	pt_leave_at(&p, BASE);
	mt_extent(trace, 0, HWTD_EXTENT_NEW, p.bytes, p.n);
	add_at_byte(trace, 0, 0);
	add_at_byte(trace, 0, second - 5);
	/* Before a row without time. */
	add_at_byte(trace, 0, second + 16);
	add_at_byte(trace, 0, second + p.n - 1);
	add_plain(trace);
	pt_free(&p);
	mt_seal(trace);
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			char text[64];

			print_message("kinds %#x, time %d\n", kinds[k],
			    (int)cases[i].ns);
			numbers_from(trace, kinds[k], cases[i].ns, text);
			assert_string_equal(text, cases[i].want);
		}
	hwtd_trace_close(trace);
}

static void
a_strict_cursor_for_records_finds_gaps(void **state)
{
	static const uint8_t junk[] = { 0x02, 0xff, 0xff };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace = mt_create();
	struct hwtd_events_options o = { .size = sizeof(o),
		.kinds = RECORD,
		.flags = HWTD_DECODE_STRICT };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_event rows[4];
	struct hwtd_batch b = { .size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 4 };
	struct hwtd_events *ev;
	int rc;

	(void)state;
	pt_raw(&p, junk, sizeof(junk));
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	add_at_time(trace, 1);
	ev = mt_events(mt_seal(trace), &o);
	assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_OK);
	assert_int_equal(b.n, 1);
	assert_int_equal(rows[0].kind, HWTD_EV_RECORD);
	do {
		rc = hwtd_events_read(ev, &b, &err);
	} while (rc == HWTD_OK && b.n == 0);
	assert_int_equal(rc, HWTD_E_CORRUPT);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_before_the_rows_of_their_time),
		cmocka_unit_test(without_the_kind_there_are_none),
		cmocka_unit_test(records_that_name_a_byte_come_before_it),
		cmocka_unit_test(
		    a_record_with_neither_follows_the_one_before_it),
		cmocka_unit_test(records_without_any_place_come_first),
		cmocka_unit_test(a_row_tells_what_the_record_knows),
		cmocka_unit_test(filters_apply_to_what_records_know),
		cmocka_unit_test(
		    records_in_streams_that_are_left_out_follow_others),
		cmocka_unit_test(no_stream_is_needed),
		cmocka_unit_test(many_records_in_one_place_are_no_burden),
		cmocka_unit_test(records_alone_do_not_decode_for_times),
		cmocka_unit_test(
		    a_seek_by_time_finds_records_before_rows_without_time),
		cmocka_unit_test(a_strict_cursor_for_records_finds_gaps),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
