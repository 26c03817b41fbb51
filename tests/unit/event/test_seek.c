/*
 * Segments: whatever their size, wherever reading begins and whoever decodes,
 * the rows are the same.
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

static const uint64_t sizes[] = { 64, 100, 256, 1000, 4096,
	(uint64_t)1 << 20 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const struct hwtd_events_options insns = {
	.size = sizeof(insns),
	.level = HWTD_LEVEL_INSN,
};

static const struct hwtd_stream_desc timed = {
	.cpu = 1,
	.pid = 2,
	.tid = 3,
	.clock = { .counts_per = 1, .ns_per = 1 },
};

static const struct hwtd_stream_desc untimed = {
	.cpu = 1,
	.pid = 2,
	.tid = 3,
};

static const struct {
	const char *name;
	struct long_trace_options o;
} programs[] = {
	{ "plain", { .seed = 1, .insns = 3000, .psb_bytes = 150 } },
	{ "timed",
	    { .seed = 2, .insns = 3000, .psb_bytes = 150, .timed = true } },
	{ "interrupts and pauses",
	    { .seed = 3,
		.insns = 3000,
		.psb_bytes = 200,
		.timed = true,
		.interrupt_of = 20,
		.pause_of = 4 } },
	{ "overflows",
	    { .seed = 4,
		.insns = 3000,
		.psb_bytes = 200,
		.timed = true,
		.overflow_of = 20 } },
	{ "garbage",
	    { .seed = 5,
		.insns = 3000,
		.psb_bytes = 300,
		.timed = true,
		.garbage_of = 20 } },
	{ "everything",
	    { .seed = 6,
		.insns = 3000,
		.psb_bytes = 120,
		.timed = true,
		.interrupt_of = 30,
		.overflow_of = 30,
		.pause_of = 5,
		.garbage_of = 60 } },
};
#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static struct hwtd_trace *
trace_of(const struct long_trace *t, const struct hwtd_stream_desc *desc)
{
	struct hwtd_trace *trace = mt_create();

	(void)long_trace_code(trace);
	(void)mt_stream(trace, &t->packets, desc);
	return (mt_seal(trace));
}

/* What must hold for all rows of one stream of `n` bytes. */
static void
assert_sane(const struct mt_rows *rows, size_t n)
{
	uint64_t off = 0, ns = 0, end = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_event *e = &rows->at[i].row;

		assert_true(e->stream_off >= off);
		assert_true(e->stream_off <= n);
		off = e->stream_off;
		if ((e->flags & HWTD_EVF_TIME) != 0) {
			assert_true(e->time_ns >= ns);
			ns = e->time_ns;
		}
		if (e->kind != HWTD_EV_GAP)
			continue;
		assert_true(rows->at[i].detail.gap.first >= end);
		assert_true(rows->at[i].detail.gap.first <=
		    rows->at[i].detail.gap.end);
		end = rows->at[i].detail.gap.end;
		assert_true(end <= n);
	}
}

static void
the_instructions_are_those_that_were_executed(void **state)
{
	(void)state;
	for (size_t p = 0; p < N_PROGRAMS; p++) {
		struct long_trace t;
		struct hwtd_trace *trace;

		/* A decoder may leave out a branch in front of garbage. */
		if (programs[p].o.garbage_of != 0)
			continue;
		long_trace_make(&t, &programs[p].o);
		trace = trace_of(&t, &timed);
		for (size_t s = 0; s < N_SIZES; s++) {
			struct mt_rows rows;
			size_t n = 0;

			slot_bytes = sizes[s];
			print_message("%s, slots of %llu\n", programs[p].name,
			    (unsigned long long)slot_bytes);
			mt_rows(trace, &insns, &rows);
			assert_sane(&rows, t.packets.n);
			for (size_t i = 0; i < rows.n; i++) {
				if (rows.at[i].row.kind != HWTD_EV_INSN)
					continue;
				assert_true(n < t.n_ips);
				if (rows.at[i].row.ip != t.ips[n])
					fail_msg("instruction %zu", n);
				n++;
			}
			assert_int_equal(n, t.n_ips);
			mt_rows_free(&rows);
		}
		hwtd_trace_close(trace);
		long_trace_free(&t);
	}
}

/* Addresses of instructions alone, from blocks or not. */
static size_t
instructions(const struct mt_rows *rows, uint64_t *ips)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i].row.kind == HWTD_EV_INSN)
			ips[n++] = rows->at[i].row.ip;
	return (n);
}

static void
the_size_of_slots_changes_no_instruction(void **state)
{
	(void)state;
	for (size_t p = 0; p < N_PROGRAMS; p++) {
		struct long_trace t;
		struct hwtd_trace *trace;
		struct mt_rows rows;
		uint64_t *want, *got;
		size_t n;

		long_trace_make(&t, &programs[p].o);
		trace = trace_of(&t, &timed);
		slot_bytes = (uint64_t)1 << 20;
		mt_rows(trace, &insns, &rows);
		want = calloc(rows.n, sizeof(*want));
		got = calloc(rows.n + 1000, sizeof(*got));
		assert_non_null(want);
		assert_non_null(got);
		n = instructions(&rows, want);
		mt_rows_free(&rows);
		for (size_t s = 0; s < N_SIZES; s++) {
			slot_bytes = sizes[s];
			print_message("%s, slots of %llu\n", programs[p].name,
			    (unsigned long long)slot_bytes);
			mt_rows(trace, &insns, &rows);
			assert_sane(&rows, t.packets.n);
			assert_int_equal(instructions(&rows, got), n);
			assert_memory_equal(got, want, n * sizeof(*want));
			mt_rows_free(&rows);
		}
		free(want);
		free(got);
		hwtd_trace_close(trace);
		long_trace_free(&t);
	}
}

/* A few rows most of the time, all of them now and then. */
static size_t
some(uint64_t i)
{
	return (i % 5 == 0 ? SIZE_MAX : 100);
}

static size_t
first_at_offset(const struct mt_rows *rows, uint64_t off)
{
	size_t i = 0;

	while (i < rows->n && rows->at[i].row.stream_off < off)
		i++;
	return (i);
}

static void
check_offset(struct hwtd_events *ev, const struct mt_rows *whole, uint64_t off)
{
	assert_int_equal(hwtd_events_seek_offset(ev, 0, off, NULL), HWTD_OK);
	mt_assert_next(ev, whole, first_at_offset(whole, off), some(off));
}

static void
rows_from_an_offset_on_are_the_end_of_all_rows(void **state)
{
	(void)state;
	for (size_t p = 0; p < N_PROGRAMS; p++) {
		struct long_trace t;
		struct hwtd_trace *trace;

		long_trace_make(&t, &programs[p].o);
		trace = trace_of(&t, &timed);
		for (size_t s = 0; s < N_SIZES; s++) {
			struct hwtd_events *ev;
			struct mt_rows whole;

			slot_bytes = sizes[s];
			print_message("%s, slots of %llu\n", programs[p].name,
			    (unsigned long long)slot_bytes);
			mt_rows(trace, NULL, &whole);
			ev = mt_events(trace, NULL);
			for (size_t i = 0; i < t.n_psbs; i++) {
				check_offset(ev, &whole, t.psbs[i]);
				check_offset(ev, &whole, t.psbs[i] + 1);
				check_offset(ev, &whole, t.psbs[i] + 40);
			}
			for (uint64_t off = 0; off < t.packets.n;
			     off += slot_bytes < 256 ? 256 : slot_bytes) {
				check_offset(ev, &whole, off);
				check_offset(ev, &whole, off + 17);
			}
			check_offset(ev, &whole, t.packets.n - 1);
			check_offset(ev, &whole, t.packets.n);
			check_offset(ev, &whole, t.packets.n + 1);
			check_offset(ev, &whole, UINT64_MAX);
			hwtd_events_close(ev);
			mt_rows_free(&whole);
		}
		hwtd_trace_close(trace);
		long_trace_free(&t);
	}
}

static size_t
first_at_time(const struct mt_rows *rows, uint64_t ns)
{
	size_t i = 0;

	/* Time 0 is the start, before rows without time. */
	while (ns != 0 && i < rows->n &&
	    ((rows->at[i].row.flags & HWTD_EVF_TIME) == 0 ||
		rows->at[i].row.time_ns < ns))
		i++;
	return (i);
}

static void
check_time(struct hwtd_events *ev, const struct mt_rows *whole, uint64_t ns)
{
	assert_int_equal(hwtd_events_seek_ns(ev, ns, NULL), HWTD_OK);
	mt_assert_next(ev, whole, first_at_time(whole, ns), some(ns));
}

static void
rows_from_a_time_on_are_the_end_of_all_rows(void **state)
{
	(void)state;
	for (size_t p = 0; p < N_PROGRAMS; p++) {
		struct long_trace t;
		struct hwtd_trace *trace;

		if (!programs[p].o.timed)
			continue;
		long_trace_make(&t, &programs[p].o);
		trace = trace_of(&t, &timed);
		for (size_t s = 0; s < N_SIZES; s++) {
			struct hwtd_events *ev;
			struct mt_rows whole;
			uint64_t last;

			slot_bytes = sizes[s];
			print_message("%s, slots of %llu\n", programs[p].name,
			    (unsigned long long)slot_bytes);
			mt_rows(trace, NULL, &whole);
			last = whole.at[whole.n - 1].row.time_ns;
			ev = mt_events(trace, NULL);
			for (uint64_t ns = 0; ns <= last; ns += last / 60)
				check_time(ev, &whole, ns);
			for (size_t i = 0; i < whole.n; i += 40)
				check_time(ev, &whole,
				    whole.at[i].row.time_ns);
			check_time(ev, &whole, last);
			check_time(ev, &whole, last + 1);
			check_time(ev, &whole, UINT64_MAX);
			hwtd_events_close(ev);
			mt_rows_free(&whole);
		}
		hwtd_trace_close(trace);
		long_trace_free(&t);
	}
}

/* Sought by time, a stream without time is read from its start. */
static void
a_stream_without_time_has_no_place_for_a_time(void **state)
{
	struct hwtd_events *ev;
	struct hwtd_trace *trace;
	struct long_trace t;
	struct mt_rows whole, rows = { 0 };

	(void)state;
	long_trace_make(&t, &programs[1].o);
	trace = trace_of(&t, &untimed);
	slot_bytes = 256;
	mt_rows(trace, NULL, &whole);
	ev = mt_events(trace, NULL);
	mt_read(ev, 100, &rows);
	rows.n = 0;
	assert_int_equal(hwtd_events_seek_ns(ev, 2000, NULL), HWTD_OK);
	mt_read(ev, 100, &rows);
	mt_assert_same(&whole, 0, &rows);
	mt_rows_free(&rows);
	mt_rows_free(&whole);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

/* A clock, but no packet that says what it shows. */
static void
without_packets_of_time_only_time_0_has_rows(void **state)
{
	struct hwtd_trace *trace;
	struct long_trace t;
	struct mt_rows whole;

	(void)state;
	long_trace_make(&t, &programs[0].o);
	trace = trace_of(&t, &timed);
	slot_bytes = 256;
	mt_rows(trace, NULL, &whole);
	assert_true(whole.n > 100);
	for (uint32_t jobs = 1; jobs <= 2; jobs++) {
		const struct hwtd_events_options opts = { .size = sizeof(opts),
			.jobs = jobs };
		struct hwtd_events *ev = mt_events(trace, &opts);
		struct mt_rows rows = { 0 };

		mt_read(ev, 100, &rows);
		rows.n = 0;
		assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
		mt_read(ev, 100, &rows);
		mt_assert_same(&whole, 0, &rows);
		rows.n = 0;
		assert_int_equal(hwtd_events_seek_ns(ev, 1, NULL), HWTD_OK);
		mt_read(ev, 100, &rows);
		assert_int_equal(rows.n, 0);
		mt_rows_free(&rows);
		hwtd_events_close(ev);
	}
	mt_rows_free(&whole);
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

static void
bytes_are_counted_once_whatever_the_slots(void **state)
{
	(void)state;
	for (size_t p = 0; p < N_PROGRAMS; p++) {
		struct long_trace t;
		struct hwtd_trace *trace;

		long_trace_make(&t, &programs[p].o);
		trace = trace_of(&t, &timed);
		for (size_t s = 0; s < N_SIZES; s++) {
			struct hwtd_stats stats = { .size = sizeof(stats) };
			struct hwtd_events *ev;
			struct mt_rows rows = { 0 };
			uint64_t in_gaps = 0, n_gaps = 0;

			slot_bytes = sizes[s];
			ev = mt_events(trace, NULL);
			mt_read(ev, 500, &rows);
			assert_int_equal(hwtd_events_stats(ev, &stats),
			    HWTD_OK);
			assert_int_equal(stats.bytes, t.packets.n);
			for (size_t i = 0; i < rows.n; i++) {
				const struct hwtd_gap *g = &rows.at[i]
								.detail.gap;

				if (rows.at[i].row.kind != HWTD_EV_GAP)
					continue;
				in_gaps += g->end - g->first;
				n_gaps++;
			}
			assert_int_equal(stats.gap_bytes, in_gaps);
			assert_int_equal(stats.kinds[HWTD_EV_GAP], n_gaps);
			assert_int_equal(stats.gaps[HWTD_GAP_OVERFLOW],
			    t.n_overflows);
			assert_true(n_gaps >= t.n_overflows + t.n_garbage);
			assert_true(in_gaps >= t.garbage_bytes);
			if (t.n_garbage == 0)
				assert_int_equal(stats.insns, t.n_ips);
			mt_rows_free(&rows);
			hwtd_events_close(ev);
		}
		hwtd_trace_close(trace);
		long_trace_free(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_instructions_are_those_that_were_executed),
		cmocka_unit_test(the_size_of_slots_changes_no_instruction),
		cmocka_unit_test(
		    rows_from_an_offset_on_are_the_end_of_all_rows),
		cmocka_unit_test(rows_from_a_time_on_are_the_end_of_all_rows),
		cmocka_unit_test(
		    a_stream_without_time_has_no_place_for_a_time),
		cmocka_unit_test(without_packets_of_time_only_time_0_has_rows),
		cmocka_unit_test(bytes_are_counted_once_whatever_the_slots),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
