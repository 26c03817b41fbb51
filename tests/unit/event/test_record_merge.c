/*
 * Records among many rows: each exactly once, in its place, whoever reads and
 * from wherever; compared with a plain insertion into the rows without them.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "support/record_model.h"
#include "support/slot_size.h"

#define RECORD (1u << HWTD_EV_RECORD)
#define ALL ((1u << HWTD_EV_KINDS) - 1 - (1u << HWTD_EV_TIME))
#define STREAMS 6
#define RECORDS 500

/* A record that changes nothing. */
static struct hwtd_record
plain(void)
{
	struct hwtd_record r = mr_record(HWTD_REC_LOST, HWTD_NO_ID, 0, 0);

	r.flags = 0;
	return (r);
}

static bool
has_time(uint32_t stream)
{
	return (stream % 3 != 2);
}

struct long_case {
	struct hwtd_trace *trace;
	struct hwtd_record records[RECORDS];
	/* All rows but those of records. */
	struct mt_rows plain;
	/* All rows as they should be. */
	struct mt_rows want;
	/* Of each of these, the index of the row in `plain` at its place. */
	size_t *places;
};

static unsigned int
choose(unsigned int n)
{
	static uint64_t random = 1;

	random = random * 6364136223846793005u + 1442695040888963407u;
	return ((unsigned int)(random >> 33) % n);
}

static void
add_streams(struct hwtd_trace *trace)
{
	(void)long_trace_code(trace);
	for (uint32_t i = 0; i < STREAMS; i++) {
		const struct long_trace_options o = {
			.seed = 100 + i,
			.insns = 600 + 100 * i,
			.psb_bytes = 100 + 20 * i,
			.timed = has_time(i),
			.tsc = 500 * (i % 5),
			.overflow_of = i % 2 != 0 ? 30 : 0,
			.interrupt_of = 25,
			.pause_of = 6,
			.garbage_of = i == 4 ? 40 : 0,
		};
		const struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = i % 4,
			.tid = i,
			.clock = { .counts_per = has_time(i), .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &o);
		(void)mt_stream(trace, &t.packets, &desc);
		long_trace_free(&t);
	}
}

static struct hwtd_record
random_record(void)
{
	struct hwtd_record r = plain();

	r.tid = choose(2) != 0 ? choose(STREAMS) : HWTD_NO_ID;
	r.cpu = choose(4) == 0 ? choose(STREAMS) : HWTD_NO_ID;
	switch (choose(4)) {
	case 0:
		break;
	case 1:
		mr_place(&r, choose(STREAMS), choose(1000));
		break;
	case 2:
		mr_place(&r, choose(STREAMS), choose(1000));
		/* FALLTHROUGH */
	default:
		mr_time(&r, choose(8) == 0 ? 0 : choose(4000));
		break;
	}
	return (r);
}

static int
setup(void **state)
{
	struct long_case *x = calloc(1, sizeof(*x));
	bool timed[STREAMS];

	if (x == NULL)
		return (-1);
	slot_bytes = 300;
	x->trace = mt_create();
	add_streams(x->trace);
	for (size_t i = 0; i < RECORDS; i++) {
		x->records[i] = random_record();
		mr_add(x->trace, &x->records[i]);
	}
	mt_rows(mt_seal(x->trace), NULL, &x->plain);
	for (uint32_t i = 0; i < STREAMS; i++)
		timed[i] = has_time(i);
	rm_insert(&x->plain, timed, x->records, RECORDS, &x->want, &x->places);
	*state = x;
	return (0);
}

static int
teardown(void **state)
{
	struct long_case *x = *state;

	mt_rows_free(&x->plain);
	mt_rows_free(&x->want);
	free(x->places);
	hwtd_trace_close(x->trace);
	free(x);
	slot_bytes = 0;
	return (0);
}

/* A row is that one; contexts of records are numbered while reading. */
static void
assert_row(const struct long_case *x, const struct mt_row *got,
    const struct mt_row *want)
{
	struct hwtd_exec_context c = { .size = sizeof(c) };
	struct mt_row row = *want;

	if (row.row.kind == HWTD_EV_RECORD) {
		const struct hwtd_record *r = &x->records[row.row.value];

		row.row.context = got->row.context;
		assert_int_equal(hwtd_trace_exec_context(x->trace,
				     row.row.context, &c),
		    HWTD_OK);
		assert_int_equal(c.cpu, r->cpu);
		assert_int_equal(c.pid, r->pid);
		assert_int_equal(c.tid, r->tid);
	}
	assert_memory_equal(got, &row, sizeof(row));
}

/* `rows` are those that are wanted, in order, and no others. */
static void
assert_wanted(const struct long_case *x, const struct mt_rows *rows,
    const bool *wanted)
{
	size_t at = 0;

	for (size_t i = 0; i < x->want.n; i++) {
		if (wanted != NULL && !wanted[i])
			continue;
		assert_true(at < rows->n);
		assert_row(x, &rows->at[at++], &x->want.at[i]);
	}
	assert_int_equal(at, rows->n);
}

static void
records_have_their_places_with_any_number_of_jobs(void **state)
{
	static const uint32_t jobs[] = { 0, 1, 2, 4 };
	static const size_t batches[] = { 1, 7, 1000 };
	const struct long_case *x = *state;
	struct hwtd_stats want = { .size = sizeof(want) };
	struct hwtd_events *ev = mt_events(x->trace, NULL);
	struct mt_rows rows = { 0 };

	mt_read(ev, 1000, &rows);
	assert_int_equal(hwtd_events_stats(ev, &want), HWTD_OK);
	hwtd_events_close(ev);
	want.kinds[HWTD_EV_RECORD] = RECORDS;
	for (size_t i = 0; i < 12; i++) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.kinds = ALL,
			.jobs = jobs[i / 3] };
		struct hwtd_stats s = { .size = sizeof(s) };

		ev = mt_events(x->trace, &o);
		rows.n = 0;
		mt_read(ev, batches[i % 3], &rows);
		assert_wanted(x, &rows, NULL);
		/* Nothing else changes because records were asked for. */
		assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
		assert_memory_equal(&s, &want, sizeof(s));
		hwtd_events_close(ev);
	}
	mt_rows_free(&rows);
}

static void
filters_change_no_order(void **state)
{
	static const uint32_t some[] = { 1, 2, 5 };
	static const struct hwtd_range times[] = { { 700, 900 },
		{ 1500, 3000 } };
	static const uint32_t kinds[] = { ALL, RECORD,
		RECORD | 1u << HWTD_EV_GAP, RECORD | 1u << HWTD_EV_CONTEXT };
	const struct long_case *x = *state;
	bool *wanted = calloc(x->want.n, sizeof(*wanted));

	assert_non_null(wanted);
	for (size_t f = 0; f < 24; f++) {
		const struct hwtd_events_options o = {
			.size = sizeof(o),
			.kinds = kinds[f % 4],
			.jobs = f % 8 < 4 ? 1 : 3,
			.tids = some,
			.n_tids = f / 8 == 1 ? 3 : 0,
			.times_ns = times,
			.n_times = f / 8 == 2 ? 2 : 0,
		};
		struct mt_rows rows = { 0 };

		for (size_t i = 0; i < x->want.n; i++) {
			const struct hwtd_event *e = &x->want.at[i].row;
			uint32_t tid = e->stream;

			if (e->kind == HWTD_EV_RECORD)
				tid = x->records[e->value].tid;
			wanted[i] = (o.kinds >> e->kind & 1) != 0 &&
			    (o.n_tids == 0 || tid == 1 || tid == 2 ||
				tid == 5) &&
			    (o.n_times == 0 ||
				((e->flags & HWTD_EVF_TIME) != 0 &&
				    ((e->time_ns >= 700 && e->time_ns < 900) ||
					(e->time_ns >= 1500 &&
					    e->time_ns < 3000))));
		}
		/* Gaps that span a time would be wanted too. */
		if (o.n_times != 0 && (o.kinds >> HWTD_EV_GAP & 1) != 0)
			continue;
		mt_rows(x->trace, &o, &rows);
		assert_wanted(x, &rows, wanted);
		mt_rows_free(&rows);
	}
	free(wanted);
}

/* Rows from a time on: those of each stream from the first one there. */
static void
want_from_time(const struct long_case *x, uint64_t ns, bool *wanted)
{
	bool reached[STREAMS] = { false };
	bool *rows = calloc(x->plain.n + 1, sizeof(*rows));

	assert_non_null(rows);
	for (size_t i = 0; i < x->plain.n; i++) {
		const struct hwtd_event *e = &x->plain.at[i].row;

		if (!has_time(e->stream) ||
		    ((e->flags & HWTD_EVF_TIME) != 0 && e->time_ns >= ns))
			reached[e->stream] = true;
		rows[i] = reached[e->stream];
	}
	for (size_t i = 0; i < x->want.n; i++) {
		const struct hwtd_event *e = &x->want.at[i].row;

		wanted[i] = rows[x->places[i]];
		if (e->kind == HWTD_EV_RECORD &&
		    (e->flags & HWTD_EVF_TIME) != 0)
			wanted[i] = e->time_ns >= ns;
	}
	/* One with neither goes with the record it follows. */
	for (size_t i = 0; i < x->want.n; i++) {
		const struct hwtd_event *e = &x->want.at[i].row;

		if (e->kind == HWTD_EV_RECORD &&
		    (e->flags & HWTD_EVF_TIME) == 0 && e->stream == HWTD_NO_ID)
			wanted[i] = i > 0 &&
			    x->want.at[i - 1].row.kind == HWTD_EV_RECORD &&
			    wanted[i - 1];
	}
	free(rows);
}

static void
a_seek_by_time_loses_and_repeats_none(void **state)
{
	const struct long_case *x = *state;
	bool *wanted = calloc(x->want.n, sizeof(*wanted));

	assert_non_null(wanted);
	for (size_t f = 0; f < 4; f++) {
		const struct hwtd_events_options o = {
			.size = sizeof(o),
			.kinds = f % 2 == 0 ? ALL : RECORD,
			.jobs = f < 2 ? 1 : 4,
		};
		struct hwtd_events *ev = mt_events(x->trace, &o);
		struct mt_rows rows = { 0 };

		for (uint64_t ns = 1; ns < 4500; ns += 111) {
			rows.n = 0;
			/* In the middle of something else. */
			mt_read_some(ev, 300, &rows);
			rows.n = 0;
			assert_int_equal(hwtd_events_seek_ns(ev, ns, NULL),
			    HWTD_OK);
			mt_read(ev, 50, &rows);
			want_from_time(x, ns, wanted);
			for (size_t i = 0; i < x->want.n; i++)
				if ((o.kinds >> x->want.at[i].row.kind & 1) ==
				    0)
					wanted[i] = false;
			assert_wanted(x, &rows, wanted);
		}
		mt_rows_free(&rows);
		hwtd_events_close(ev);
	}
	free(wanted);
}

static void
a_seek_by_offset_reads_records_of_that_stream(void **state)
{
	const struct long_case *x = *state;
	bool *wanted = calloc(x->want.n, sizeof(*wanted));

	assert_non_null(wanted);
	for (size_t f = 0; f < 4 * STREAMS; f++) {
		const uint32_t stream = (uint32_t)f / 4;
		const struct hwtd_events_options o = {
			.size = sizeof(o),
			.kinds = f % 2 == 0 ? ALL : RECORD,
			.jobs = f % 4 < 2 ? 1 : 4,
		};
		struct hwtd_events *ev = mt_events(x->trace, &o);
		struct mt_rows rows = { 0 };

		for (uint64_t off = 0; off < 1000; off += 73) {
			for (size_t i = 0; i < x->want.n; i++) {
				const struct hwtd_event *e = &x->want.at[i]
								  .row;

				wanted[i] = e->stream == stream &&
				    e->stream_off >= off &&
				    (o.kinds >> e->kind & 1) != 0;
			}
			rows.n = 0;
			mt_read_some(ev, 300, &rows);
			rows.n = 0;
			assert_int_equal(hwtd_events_seek_offset(ev, stream,
					     off, NULL),
			    HWTD_OK);
			mt_read(ev, 50, &rows);
			assert_wanted(x, &rows, wanted);
		}
		/* A seek by time brings all of them back. */
		assert_int_equal(hwtd_events_seek_ns(ev, 1, NULL), HWTD_OK);
		rows.n = 0;
		mt_read(ev, 50, &rows);
		want_from_time(x, 1, wanted);
		for (size_t i = 0; i < x->want.n; i++)
			if ((o.kinds >> x->want.at[i].row.kind & 1) == 0)
				wanted[i] = false;
		assert_wanted(x, &rows, wanted);
		mt_rows_free(&rows);
		hwtd_events_close(ev);
	}
	free(wanted);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_have_their_places_with_any_number_of_jobs),
		TEST(filters_change_no_order),
		TEST(a_seek_by_time_loses_and_repeats_none),
		TEST(a_seek_by_offset_reads_records_of_that_stream),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
