/*
 * Captures of Intel PT of threads that come and go: the ring begins anew each time,
 * goes round, and the kernel tells positions late, wrong or not at all.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pt_run.h"
#include "support/memory_trace.h"

#define BIAS 0x200000u
#define START (BIAS + PT_RUN_CODE)
#define MODE "mode value=0 status 64\n"
#define ROWS 8192
#define MS 1000000u
#define SMALL (8u * PT_RUN_PAGE)

static uint64_t
losses(const struct pt_run *r)
{
	return (r->run.status.losses[HWTD_CAPTURE_LOST_BYTES] +
	    r->run.status.losses[HWTD_CAPTURE_LOST_SLICES] +
	    r->run.status.losses[HWTD_CAPTURE_LOST_UNKNOWN]);
}

/* Extents of the first stream. */
static size_t
extents(const struct pt_run *r)
{
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct hwtd_extent e = { .size = sizeof(e) };
	size_t n = 0;

	while (hwtd_trace_extent(trace, 0, n, &e) == HWTD_OK)
		n++;
	hwtd_trace_close(trace);
	return (n);
}

static void
slices_of_any_length_are_told_apart(void **state)
{
	static const size_t lengths[] = { 100, 9000, 50, 50, 30000, 4096, 8192,
		20, 29999, 1, 12000 };
	const size_t n = sizeof(lengths) / sizeof(lengths[0]);
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.pt.buffer_bytes = SMALL;
	pt_run_exec(&r, r.path, BIAS);
	for (size_t i = 0; i < n; i++)
		pt_run_trace(&r, 0, 5 * MS,
		    pt_run_unique(&r, lengths[i] + 20));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(pt_run_check_bytes(&r), 0);
	assert_int_equal(extents(&r), n);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
slices_decode_one_by_one(void **state)
{
	char rows[ROWS] = "";
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	for (unsigned i = 0; i < 6; i++) {
		const unsigned rounds = i % 2 == 0 ? 9 - i : i + 1;

		pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, rounds));
		(void)strcat(rows, MODE);
		pt_run_rows(rows, sizeof(rows), START, rounds, 0);
	}
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

/* A program that does the same again writes the same bytes again. */
static void
slices_of_the_same_bytes_are_all_saved(void **state)
{
	char rows[ROWS] = "";
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	for (unsigned i = 0; i < 5; i++) {
		pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 4));
		(void)strcat(rows, MODE);
		pt_run_rows(rows, sizeof(rows), START, 4, 0);
	}
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

/* Between two looks each overwrites the one before it. */
static void
slices_that_nobody_saw_are_counted(void **state)
{
	char rows[ROWS] = MODE;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	for (unsigned i = 0; i < 7; i++)
		pt_run_trace(&r, 0, 0, pt_run_flow(&r, START, 3));
	pt_run_trace(&r, 0, 0, pt_run_flow(&r, START, 5));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_trace(&r, 0, 0, pt_run_flow(&r, START, 1));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_rows(rows, sizeof(rows), START, 2, 0);
	(void)strcat(rows, MODE);
	pt_run_rows(rows, sizeof(rows), START, 5, 0);
	(void)strcat(rows, MODE);
	pt_run_rows(rows, sizeof(rows), START, 1, 0);
	pt_run_assert_rows(&r, 0, rows);
	pt_run_assert_losses(&r, "slices=7");
	pt_run_assert_said(&r, "lost.slices", "7");
	pt_run_fini(&r);
}

/* A slice goes round its ring while looks come often enough. */
static void
a_ring_that_goes_round_in_one_slice_is_one_piece(void **state)
{
	const struct pt_packets *p;
	struct pt_run r;

	(void)state;
	pt_run_init(&r, NULL);
	r.pt.buffer_bytes = SMALL;
	pt_run_exec(&r, r.path, BIAS);
	p = pt_run_unique(&r, 5 * SMALL + 1234);
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.ns = 5 * MS,
		.bytes = p->bytes,
		.n = p->n,
		.piece = 500,
		.piece_ns = 200000 });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(pt_run_check_bytes(&r), 0);
	assert_int_equal(extents(&r), 1);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

/* Faster than looks are: what is lost is lost, and told. */
static void
a_ring_that_laps_between_looks_tells_of_loss(void **state)
{
	const struct pt_packets *p;
	struct pt_run r;
	uint64_t missing;

	(void)state;
	pt_run_init(&r, NULL);
	r.pt.buffer_bytes = SMALL;
	pt_run_exec(&r, r.path, BIAS);
	p = pt_run_unique(&r, 20 * SMALL + 1234);
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.ns = 5 * MS,
		.bytes = p->bytes,
		.n = p->n,
		.piece = 4096,
		.piece_ns = 50000 });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	missing = pt_run_check_bytes(&r);
	assert_true(missing > 0);
	assert_true(losses(&r) > 0);
	assert_true(r.run.status.n_bytes >= SMALL - PT_RUN_PAGE);
	pt_run_fini(&r);
}

/* Packets up to the first PSB cannot be read, and nobody guesses what they were. */
static void
a_slice_that_begins_without_psb_invents_nothing(void **state)
{
	struct hwtd_trace *trace;
	struct mt_rows got = { 0 };
	struct pt_run r;
	unsigned blocks = 0, gaps = 0;

	(void)state;
	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 2));
	pt_run_trace(&r, 0, 5 * MS, pt_run_more(&r, START, 7));
	pt_run_trace(&r, 0, 5 * MS, pt_run_flow(&r, START, 3));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_losses(&r, "");
	trace = engine_run_open(&r.run);
	mt_rows(trace, NULL, &got);
	for (size_t i = 0; i < got.n; i++) {
		blocks += got.at[i].row.kind == HWTD_EV_BLOCK;
		gaps += got.at[i].row.kind == HWTD_EV_GAP;
	}
	/* 3 blocks a round. */
	assert_int_equal(blocks, 3 * 2 + 3 * 3);
	assert_int_equal(gaps, 1);
	mt_rows_free(&got);
	hwtd_trace_close(trace);
	pt_run_fini(&r);
}

/* The kernel has no memory for records of positions, or merges them. */
static void
records_of_positions_that_are_missing_lose_nothing(void **state)
{
	const struct sim_options kinds[] = {
		{ .coalesce = true },
		{ .swi_after_switch = true },
		{ .lose_wakeups = true },
		{ .n_cpus = 1 },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct pt_run r;

		pt_run_init(&r, &kinds[k]);
		r.pt.buffer_bytes = SMALL;
		sim_drop_buffers(r.run.kernel, k == 3 ? 1000 : 0);
		pt_run_exec(&r, r.path, BIAS);
		for (unsigned i = 1; i < 12; i++)
			pt_run_trace(&r, 0, 5 * MS,
			    pt_run_unique(&r, i * 2500));
		pt_run_exit(&r, 0);
		pt_run_ok(&r);
		assert_int_equal(pt_run_check_bytes(&r), 0);
		assert_int_equal(extents(&r), 11);
		pt_run_assert_losses(&r, "");
		pt_run_fini(&r);
	}
}

/* Pages of positions are wrong; contents say better. */
static void
wrong_pages_of_positions_are_doubted_and_nothing_is_joined(void **state)
{
	const struct sim_options kinds[] = {
		{ .positions = SIM_INDEX_LOST, .positions_at_pmi_only = true },
		{ .positions = SIM_SATURATED, .positions_at_pmi_only = true },
		{ .positions = SIM_INDEX_LOST },
		{ .positions = SIM_SATURATED },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct pt_run r;
		uint64_t missing;

		pt_run_init(&r, &kinds[k]);
		r.pt.buffer_bytes = SMALL;
		pt_run_exec(&r, r.path, BIAS);
		for (unsigned i = 0; i < 8; i++)
			pt_run_trace(&r, 0, 5 * MS,
			    pt_run_unique(&r, 1000 + i * 2500));
		pt_run_exit(&r, 0);
		pt_run_ok(&r);
		missing = pt_run_check_bytes(&r);
		if (missing > 0 && losses(&r) == 0)
			fail_msg("kind %zu: %" PRIu64
				 " bytes are missing without a word",
			    k, missing);
		/* Only told at a switch, positions are right. */
		if (k < 2)
			assert_int_equal(missing, 0);
		else
			assert_true(r.run.status.losses[HWTD_CAPTURE_DOUBTED] >
				0 ||
			    losses(&r) > 0);
		pt_run_fini(&r);
	}
}

/* Anything at any time. */
static void
whatever_happens_bytes_are_saved_or_told_to_be_lost(void **state)
{
	uint64_t saved = 0, lost = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		const struct sim_options o = {
			.n_cpus = 1 + seed % 3,
			.seed = seed,
			.coalesce = seed % 2 == 0,
			.swi_after_switch = seed % 5 == 0,
			.lose_wakeups = seed % 7 == 0,
		};
		struct pt_run r;
		uint64_t missing;

		pt_run_init(&r, &o);
		r.pt.buffer_bytes = SMALL;
		pt_run_exec(&r, r.path, BIAS);
		for (unsigned i = 0; i < 12; i++) {
			const struct pt_packets *p = pt_run_unique(&r,
			    300 + (seed * 977 + i * 3571) % 40000);

			pt_run_step(&r,
			    &(struct sim_step){ .op = SIM_TRACE,
				.ns = (seed + i) % 4 * MS / 2,
				.cpu = i,
				.bytes = p->bytes,
				.n = p->n,
				.piece = 700,
				.piece_ns = 30000 });
		}
		pt_run_exit(&r, 0);
		pt_run_ok(&r);
		missing = pt_run_check_bytes(&r);
		lost += missing;
		saved += r.run.status.n_bytes;
		if (missing > 0 && losses(&r) == 0)
			fail_msg("seed %" PRIu64 ": %" PRIu64
				 " bytes are missing without a word",
			    seed, missing);
		pt_run_fini(&r);
	}
	/* Else the above says nothing. */
	assert_true(saved > 0 && lost > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_of_any_length_are_told_apart),
		cmocka_unit_test(slices_decode_one_by_one),
		cmocka_unit_test(slices_of_the_same_bytes_are_all_saved),
		cmocka_unit_test(slices_that_nobody_saw_are_counted),
		cmocka_unit_test(
		    a_ring_that_goes_round_in_one_slice_is_one_piece),
		cmocka_unit_test(a_ring_that_laps_between_looks_tells_of_loss),
		cmocka_unit_test(
		    a_slice_that_begins_without_psb_invents_nothing),
		cmocka_unit_test(
		    records_of_positions_that_are_missing_lose_nothing),
		cmocka_unit_test(
		    wrong_pages_of_positions_are_doubted_and_nothing_is_joined),
		cmocka_unit_test(
		    whatever_happens_bytes_are_saved_or_told_to_be_lost),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
