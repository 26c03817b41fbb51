/*
 * Many streams as one: their order, and the same rows whoever decodes them.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/long_trace.h"
#include "support/row_text.h"
#include "support/slot_size.h"

#define STREAMS 12
#define LEVELS 2

/* Every third stream has no time; one is empty, one is of another kind. */
static struct hwtd_trace *
make_trace(void)
{
	struct hwtd_trace *trace = mt_create();

	(void)long_trace_code(trace);
	for (uint32_t i = 0; i < STREAMS; i++) {
		struct long_trace_options o = {
			.seed = 100 + i,
			.insns = i == 4 ? 1 : 600 + 100 * i,
			.psb_bytes = 100 + 20 * i,
			.timed = i % 3 != 2,
			.tsc = 500 * (i % 5),
			.overflow_of = i % 2 != 0 ? 30 : 0,
			.interrupt_of = 25,
			.pause_of = 6,
			.garbage_of = i == 7 ? 40 : 0,
		};
		struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = i % 4,
			.tid = i,
			.clock = { .counts_per = i % 3 != 2, .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &o);
		if (i == 5)
			t.packets.n = 0;
		assert_int_equal(mt_stream(trace, &t.packets, &desc), i);
		long_trace_free(&t);
	}
	return (mt_seal(trace));
}

static int
setup(void **state)
{
	slot_bytes = 300;
	*state = make_trace();
	return (0);
}

static int
teardown(void **state)
{
	hwtd_trace_close(*state);
	return (0);
}

static void
rows_are_in_the_order_of_time_stream_and_place(void **state)
{
	struct mt_rows rows;
	bool untimed = false;
	uint64_t offs[STREAMS] = { 0 };

	mt_rows(*state, NULL, &rows);
	assert_true(rows.n > 1000);
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_event *e = &rows.at[i].row;
		const struct hwtd_event *last = &rows.at[i - (i > 0)].row;

		assert_true(e->stream < STREAMS);
		assert_true(e->stream_off >= offs[e->stream]);
		offs[e->stream] = e->stream_off;
		if (e->stream % 3 == 2) {
			/* Streams without time come last, by their ids. */
			assert_int_equal(e->flags & HWTD_EVF_TIME, 0);
			if (untimed)
				assert_true(e->stream >= last->stream);
			untimed = true;
			continue;
		}
		assert_false(untimed);
		assert_int_equal(e->flags & HWTD_EVF_TIME, HWTD_EVF_TIME);
		assert_true(e->time_ns >= last->time_ns);
		if (e->time_ns == last->time_ns)
			assert_true(e->stream >= last->stream);
	}
	assert_true(untimed);
	mt_rows_free(&rows);
}

static void
merging_leaves_out_nothing_and_adds_nothing(void **state)
{
	struct mt_rows rows;
	size_t n = 0;

	mt_rows(*state, NULL, &rows);
	for (uint32_t s = 0; s < STREAMS; s++) {
		struct hwtd_events_options o = {
			.size = sizeof(o),
			.streams = &s,
			.n_streams = 1,
		};
		struct mt_rows one;
		size_t at = 0;

		mt_rows(*state, &o, &one);
		for (size_t i = 0; i < rows.n; i++) {
			if (rows.at[i].row.stream != s)
				continue;
			assert_true(at < one.n);
			assert_memory_equal(&rows.at[i], &one.at[at],
			    sizeof(one.at[at]));
			at++;
		}
		assert_int_equal(at, one.n);
		n += one.n;
		mt_rows_free(&one);
	}
	assert_int_equal(n, rows.n);
	mt_rows_free(&rows);
}

static void
any_number_of_jobs_gives_the_same_rows(void **state)
{
	static const uint32_t jobs[] = { 1, 2, 4, 16 };
	static const size_t batches[] = { 1, 7, 1000, 4096 };

	for (uint32_t level = 0; level < LEVELS; level++) {
		struct hwtd_events_options o = {
			.size = sizeof(o),
			.level = level,
		};
		struct hwtd_stats want = { .size = sizeof(want) };
		struct hwtd_events *ev = mt_events(*state, &o);
		struct mt_rows whole = { 0 };

		mt_read(ev, 4096, &whole);
		assert_int_equal(hwtd_events_stats(ev, &want), HWTD_OK);
		hwtd_events_close(ev);
		for (size_t j = 0; j < 4; j++)
			for (size_t b = 0; b < 4; b++) {
				struct hwtd_stats s = { .size = sizeof(s) };
				struct mt_rows rows = { 0 };

				o.jobs = jobs[j];
				ev = mt_events(*state, &o);
				mt_read(ev, batches[b], &rows);
				mt_assert_same(&whole, 0, &rows);
				assert_int_equal(hwtd_events_stats(ev, &s),
				    HWTD_OK);
				assert_memory_equal(&s, &want, sizeof(s));
				hwtd_events_close(ev);
				mt_rows_free(&rows);
			}
		mt_rows_free(&whole);
	}
}

/* Also the ids of contexts, which are given out while reading. */
static void
jobs_number_contexts_in_the_same_order(void **state)
{
	struct hwtd_events_options o = { .size = sizeof(o), .jobs = 4 };
	struct hwtd_trace *fresh = make_trace();
	struct mt_rows with, without;

	mt_rows(*state, NULL, &without);
	mt_rows(fresh, &o, &with);
	mt_assert_same(&without, 0, &with);
	for (size_t i = 0; i < with.n; i += 50) {
		struct hwtd_exec_context a = { .size = sizeof(a) };
		struct hwtd_exec_context b = { .size = sizeof(b) };

		assert_int_equal(hwtd_trace_exec_context(*state,
				     without.at[i].row.context, &a),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_exec_context(fresh,
				     with.at[i].row.context, &b),
		    HWTD_OK);
		assert_memory_equal(&a, &b, sizeof(a));
		assert_int_equal(a.tid, with.at[i].row.stream);
	}
	mt_rows_free(&with);
	mt_rows_free(&without);
	hwtd_trace_close(fresh);
}

static void
a_seek_gives_the_same_rows_with_jobs(void **state)
{
	struct hwtd_events_options o = { .size = sizeof(o) };
	struct mt_rows whole;

	mt_rows(*state, NULL, &whole);
	for (uint32_t jobs = 1; jobs <= 4; jobs += 3) {
		struct hwtd_events *ev;

		o.jobs = jobs;
		ev = mt_events(*state, &o);
		for (uint64_t ns = 0; ns < 4000; ns += 333) {
			bool reached[STREAMS] = { false };
			struct mt_rows rows = { 0 };
			size_t at = 0;

			/* In the middle of something else. */
			mt_read(ev, 1000, &rows);
			rows.n = 0;
			assert_int_equal(hwtd_events_seek_ns(ev, ns, NULL),
			    HWTD_OK);
			mt_read(ev, 1000, &rows);
			for (size_t i = 0; i < whole.n; i++) {
				const struct hwtd_event *e = &whole.at[i].row;

				/* Those without time come from their start. */
				if (e->stream % 3 == 2 ||
				    ((e->flags & HWTD_EVF_TIME) != 0 &&
					e->time_ns >= ns))
					reached[e->stream] = true;
				if (!reached[e->stream])
					continue;
				assert_true(at < rows.n);
				assert_memory_equal(&whole.at[i], &rows.at[at],
				    sizeof(rows.at[at]));
				at++;
			}
			assert_int_equal(at, rows.n);
			mt_rows_free(&rows);
		}
		hwtd_events_close(ev);
	}
	mt_rows_free(&whole);
}

static void
after_a_seek_by_offset_only_that_stream_is_read(void **state)
{
	struct hwtd_events_options o = { .size = sizeof(o), .jobs = 3 };
	struct hwtd_events *ev = mt_events(*state, &o);
	struct mt_rows whole, rows = { 0 };

	mt_rows(*state, NULL, &whole);
	for (uint32_t s = 0; s < STREAMS; s++) {
		size_t at = 0;

		assert_int_equal(hwtd_events_seek_offset(ev, s, 500, NULL),
		    HWTD_OK);
		rows.n = 0;
		mt_read(ev, 100, &rows);
		for (size_t i = 0; i < whole.n; i++) {
			const struct hwtd_event *e = &whole.at[i].row;

			if (e->stream != s || e->stream_off < 500)
				continue;
			assert_true(at < rows.n);
			assert_memory_equal(&whole.at[i], &rows.at[at],
			    sizeof(rows.at[at]));
			at++;
		}
		assert_int_equal(at, rows.n);
	}
	/* A seek by time brings all of them back. */
	assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
	rows.n = 0;
	mt_read(ev, 100, &rows);
	mt_assert_same(&whole, 0, &rows);
	mt_rows_free(&rows);
	mt_rows_free(&whole);
	hwtd_events_close(ev);
}

static void
a_cursor_can_be_closed_while_jobs_run(void **state)
{
	struct hwtd_events_options o = { .size = sizeof(o), .jobs = 4 };
	struct hwtd_event rows[3];
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 3,
	};

	for (int reads = 0; reads < 20; reads++) {
		struct hwtd_events *ev = mt_events(*state, &o);

		for (int i = 0; i < reads; i++)
			assert_int_equal(hwtd_events_read(ev, &b, NULL),
			    HWTD_OK);
		hwtd_events_close(ev);
	}
}

static void
streams_of_an_unknown_kind_are_gaps(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_UNKNOWN,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
	};
	struct hwtd_trace *trace = mt_create();
	struct hwtd_stats s = { .size = sizeof(s) };
	struct hwtd_events *ev;
	struct mt_rows rows = { 0 };
	uint32_t id = 0;

	(void)state;
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, &err),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, "12345", 5, &err),
	    HWTD_OK);
	mt_extent(trace, id, HWTD_EXTENT_AFTER_LOSS, "678", 3);
	mt_seal(trace);
	assert_rows(trace, NULL,
	    "gap unsupported [0,5) @0\n"
	    "gap truncated [5,5) @5\n"
	    "gap unsupported [5,8) @5\n");
	ev = mt_events(trace, NULL);
	mt_read(ev, 10, &rows);
	mt_rows_free(&rows);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.bytes, 8);
	assert_int_equal(s.gap_bytes, 8);
	assert_int_equal(s.gap_bytes_by_reason[HWTD_GAP_UNSUPPORTED], 8);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

static void
a_trace_without_streams_has_no_rows(void **state)
{
	struct hwtd_events_options o = { .size = sizeof(o), .jobs = 4 };
	struct hwtd_trace *trace = mt_seal(mt_create());

	(void)state;
	assert_rows(trace, NULL, "");
	assert_rows(trace, &o, "");
	hwtd_trace_close(trace);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_are_in_the_order_of_time_stream_and_place),
		TEST(merging_leaves_out_nothing_and_adds_nothing),
		TEST(any_number_of_jobs_gives_the_same_rows),
		TEST(jobs_number_contexts_in_the_same_order),
		TEST(a_seek_gives_the_same_rows_with_jobs),
		TEST(after_a_seek_by_offset_only_that_stream_is_read),
		TEST(a_cursor_can_be_closed_while_jobs_run),
		TEST(streams_of_an_unknown_kind_are_gaps),
		TEST(a_trace_without_streams_has_no_rows),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
