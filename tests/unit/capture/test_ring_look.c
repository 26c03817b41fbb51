/*
 * Looks into rings of hwt(4), of which a model of the hardware knows more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/trace.h>

#include "ring_model.h"

static void
random_slices_come_out_as_they_were_written(void **state)
{
	const uint64_t runs = ring_model_small() ? 2000 : 20000;

	(void)state;
	for (uint64_t run = 0; run < runs; run++) {
		ring_model_begin(ring_model_first_seed() + run,
		    (2 + run % 3) * PAGE, HWTDI_LOOK_RESTARTS);
		if (run % 4 == 1)
			ring_model.shared = ring_model_random_to(600);
		if (run % 8 == 2)
			ring_model.wrong = 1 +
			    (unsigned)ring_model_random_to(2);
		for (int i = 0; i < 6; i++) {
			for (uint64_t k = ring_model_random_to(3); k > 0; k--)
				ring_model_anything_happens(true,
				    2 * ring_model.size);
			ring_model_random_look(false);
		}
		ring_model_anything_happens(true, 2 * ring_model.size);
		ring_model_last_look();
	}
	assert_true(ring_model.joined > runs / 20 && ring_model.older > 0);
	assert_true(ring_model.mixed > 0 && ring_model.lost > 0 &&
	    ring_model.doubted > 0);
	assert_true(ring_model.lapped > 0);
}

static void
rings_that_go_round(enum hwtdi_look_kind kind)
{
	const uint64_t runs = ring_model_small() ? 500 : 4000;

	for (uint64_t run = 0; run < runs; run++) {
		ring_model_begin(ring_model_first_seed() + run + 7,
		    (4 + run % 5) * PAGE, kind);
		if (run % 8 == 2 && kind == HWTDI_LOOK_ROUND)
			ring_model.wrong = 1 +
			    (unsigned)ring_model_random_to(2);
		ring_model_switch_in();
		for (int i = 0; i < 6; i++) {
			ring_model_anything_happens(false, ring_model.size);
			ring_model_random_look(true);
		}
		ring_model_anything_happens(false, PAGE);
		ring_model_last_look();
	}
	assert_true(ring_model.joined > runs && ring_model.lost > runs / 10);
}

static void
rings_of_cpus_come_out_as_they_were_written(void **state)
{
	(void)state;
	rings_that_go_round(HWTDI_LOOK_ROUND);
}

static void
live_positions_come_out_as_they_were_written(void **state)
{
	(void)state;
	rings_that_go_round(HWTDI_LOOK_LIVE);
}

/* A look whose state and counts are known. */
static struct hwtdi_look
look_at(uint32_t state, uint64_t told_before, uint64_t told_after,
    uint64_t switches)
{
	const struct hwtdi_look_told both = { told_before, told_after };
	const struct hwtdi_look_hints hints = {
		.state = state,
		.switches_known = true,
		.switches = switches,
	};
	struct hwtdi_look look;

	hwtdi_look_read(&ring_model.look, ring_model.ring, told_before,
	    &hints);
	hwtdi_look_find(&ring_model.look, &both, &hints, &look);
	return (look);
}

static void
each_slice_comes_out_once_if_the_thread_is_off(void **state)
{
	(void)state;
	ring_model_begin(1, 2 * PAGE, HWTDI_LOOK_RESTARTS);
	for (size_t i = 0; i < 20; i++) {
		struct hwtdi_look look;
		size_t n = 100 + i * 350;

		ring_model_switch_in();
		ring_model_write_bytes(n);
		ring_model_switch_out();
		look = look_at(HWTDI_LOOK_OFF, n, n, 1);
		assert_int_equal(look.n_pieces, 1);
		assert_int_equal(look.pieces[0].n, n);
		assert_int_equal(look.pieces[0].why, HWTD_EXTENT_NEW);
		assert_false(look.pieces[0].joins || look.lost);
		assert_true(look.restarted && look.missed_known);
		assert_int_equal(look.missed, 0);
		ring_model_check_look(&look);
		/* And not again. */
		look = look_at(HWTDI_LOOK_OFF, n, n, 0);
		assert_int_equal(look.n_pieces, 0);
	}
	ring_model_end_chain();
	hwtdi_look_fini(&ring_model.look);
}

static void
a_slice_goes_round_and_joins(void **state)
{
	struct hwtdi_look look;

	(void)state;
	ring_model_begin(2, 8 * PAGE, HWTDI_LOOK_RESTARTS);
	ring_model_switch_in();
	ring_model_write_bytes(7 * PAGE + 1000);
	look = look_at(HWTDI_LOOK_ON, ring_model.told, ring_model.told, 0);
	ring_model_check_look(&look);
	assert_int_equal(look.n_pieces, 1);
	ring_model_write_bytes(2 * PAGE);
	ring_model_switch_out();
	look = look_at(HWTDI_LOOK_OFF, PAGE + 1000, PAGE + 1000, 1);
	ring_model_check_look(&look);
	assert_int_equal(look.n_pieces, 2);
	assert_true(look.pieces[0].joins && look.pieces[1].joins);
	assert_true(look.wrapped && !look.restarted);
	ring_model_end_chain();
	hwtdi_look_fini(&ring_model.look);
}

static void
a_torn_look_is_held_back_and_its_end_is_handed_out(void **state)
{
	struct hwtdi_look look;
	size_t n;

	(void)state;
	ring_model_begin(3, 8 * PAGE, HWTDI_LOOK_RESTARTS);
	ring_model_switch_in();
	ring_model_write_bytes(6 * PAGE);
	ring_model_switch_out();
	ring_model_switch_in();
	ring_model_write_bytes(500);
	look = look_at(HWTDI_LOOK_UNKNOWN, 6 * PAGE, 6 * PAGE, 1);
	assert_int_equal(look.n_pieces, 0);
	assert_int_equal(look.held_bytes, 6 * PAGE);
	ring_model_write_bytes(300);
	ring_model_switch_out();
	hwtdi_look_read_all(&ring_model.look, ring_model.ring, 800);
	hwtdi_look_last(&ring_model.look, 800, NULL, &look);
	ring_model_check_look(&look);
	/* From two pages on it is of the first slice, whatever happened. */
	assert_true(look.lost && look.n_pieces >= 2);
	assert_int_equal(look.pieces[0].at, 2 * PAGE);
	assert_int_equal(look.pieces[0].n, 4 * PAGE);
	assert_true(look.pieces[0].older && !look.pieces[0].joins);
	n = look.n_pieces - 1;
	assert_int_equal(look.pieces[n].at, 0);
	assert_int_equal(look.pieces[n].n, 800);
	ring_model_end_chain();
	hwtdi_look_fini(&ring_model.look);
}

static void
the_page_of_a_position_is_found_by_what_changed(void **state)
{
	struct hwtdi_look look;

	(void)state;
	ring_model_begin(4, 4 * PAGE, HWTDI_LOOK_RESTARTS);
	ring_model_switch_in();
	ring_model_write_bytes(2 * PAGE + 77);
	ring_model_switch_out();
	look = look_at(HWTDI_LOOK_OFF, 77, 77, 1);
	ring_model_check_look(&look);
	assert_true(look.position_doubted && !look.position_unknown);
	assert_int_equal(look.position, 2 * PAGE + 77);
	assert_int_equal(look.pieces[0].n, 2 * PAGE + 77);
	ring_model_switch_in();
	ring_model_write_bytes(PAGE + 5);
	ring_model_switch_out();
	/* A position that no page fits, and the largest one. */
	look = look_at(HWTDI_LOOK_OFF, UINT64_MAX, UINT64_MAX, 1);
	ring_model_check_look(&look);
	assert_true(look.position_doubted && look.position_unknown);
	assert_int_equal(look.pieces[0].n, PAGE + 5);
	assert_int_equal(look.pieces[0].why, HWTD_EXTENT_AFTER_LOSS);
	ring_model_end_chain();
	hwtdi_look_fini(&ring_model.look);
}

static void
a_slice_that_begins_while_another_one_is_read_waits(void **state)
{
	const struct hwtdi_look_hints goes_on = { .state = HWTDI_LOOK_ON,
		.switches_known = true };
	const struct hwtdi_look_hints lost_sight = { 0 };
	struct hwtdi_look_told both;
	struct hwtdi_look look;

	(void)state;
	ring_model_begin(5, 8 * PAGE, HWTDI_LOOK_RESTARTS);
	ring_model_switch_in();
	ring_model_write_bytes(5 * PAGE);
	look = look_at(HWTDI_LOOK_ON, ring_model.told, ring_model.told, 0);
	ring_model_check_look(&look);
	ring_model_write_bytes(PAGE);
	/* By the hints before it goes on, which those behind do not say. */
	both.before = both.after = ring_model.told;
	hwtdi_look_read(&ring_model.look, ring_model.ring, ring_model.told,
	    &goes_on);
	hwtdi_look_find(&ring_model.look, &both, &lost_sight, &look);
	assert_int_equal(look.n_pieces, 0);
	ring_model_switch_out();
	ring_model_switch_in();
	ring_model_write_bytes(700);
	ring_model_switch_out();
	look = look_at(HWTDI_LOOK_OFF, 700, 700, 2);
	ring_model_check_look(&look);
	/* Of the first slice there is what it wrote behind the position. */
	assert_true(look.n_pieces >= 2);
	assert_int_equal(look.pieces[look.n_pieces - 1].n, 700);
	/* Without a copy there is nothing, of which bytes are asked twice. */
	hwtdi_look_find(&ring_model.look, &both, &lost_sight, &look);
	assert_int_equal(look.n_pieces, 0);
	ring_model_end_chain();
	hwtdi_look_fini(&ring_model.look);
}

static void
the_end_of_a_slice_that_ran_is_lost_or_joins(void **state)
{
	struct hwtdi_look look;

	(void)state;
	ring_model_begin(6, 8 * PAGE, HWTDI_LOOK_RESTARTS);
	ring_model_switch_in();
	ring_model_write_bytes(2 * PAGE);
	look = look_at(HWTDI_LOOK_ON, ring_model.told, ring_model.told, 0);
	ring_model_check_look(&look);
	ring_model_write_bytes(300);
	ring_model_switch_out();
	ring_model_switch_in();
	ring_model_write_bytes(100);
	ring_model_switch_out();
	/* Behind the new one the end of the first one is left. */
	look = look_at(HWTDI_LOOK_OFF, 100, 100, 2);
	ring_model_check_look(&look);
	assert_int_equal(look.n_pieces, 2);
	assert_true(look.pieces[0].older && !look.lost);
	ring_model_switch_in();
	ring_model_write_bytes(PAGE + 800);
	look = look_at(HWTDI_LOOK_ON, ring_model.told, ring_model.told, 0);
	ring_model_check_look(&look);
	ring_model_switch_out();
	ring_model_switch_in();
	ring_model_write_bytes(2 * PAGE);
	ring_model_switch_out();
	look = look_at(HWTDI_LOOK_OFF, 2 * PAGE, 2 * PAGE, 2);
	ring_model_check_look(&look);
	assert_true(look.lost);
	assert_int_equal(look.pieces[look.n_pieces - 1].why, HWTD_EXTENT_NEW);
	ring_model_end_chain();
	hwtdi_look_fini(&ring_model.look);
}

static void
what_cannot_be_a_ring_is_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_look_ring ring;

	(void)state;
	assert_int_equal(hwtdi_look_init(&ring, ring_model.ctx, 0,
			     HWTDI_LOOK_ROUND, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_look_init(&ring, ring_model.ctx, 4097,
			     HWTDI_LOOK_ROUND, &err),
	    HWTD_E_INVALID);
	assert_non_null(strstr(err.message, "4097"));
	assert_int_equal(hwtdi_look_init(&ring, ring_model.ctx, 4096,
			     (enum hwtdi_look_kind)4, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_look_init(&ring, ring_model.ctx,
			     (uint64_t)1 << 62, HWTDI_LOOK_ROUND, &err),
	    HWTD_E_NOMEM);
	hwtdi_look_fini(&ring);
}

static int
set_up(void **state)
{
	(void)state;
	return (hwtd_context_create(NULL, &ring_model.ctx, NULL));
}

static int
tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < SLICES; i++) {
		free(ring_model.slices[i].bytes);
		free(ring_model.slices[i].given);
	}
	hwtd_context_destroy(ring_model.ctx);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_slices_come_out_as_they_were_written),
		cmocka_unit_test(rings_of_cpus_come_out_as_they_were_written),
		cmocka_unit_test(live_positions_come_out_as_they_were_written),
		cmocka_unit_test(
		    each_slice_comes_out_once_if_the_thread_is_off),
		cmocka_unit_test(a_slice_goes_round_and_joins),
		cmocka_unit_test(
		    a_torn_look_is_held_back_and_its_end_is_handed_out),
		cmocka_unit_test(
		    the_page_of_a_position_is_found_by_what_changed),
		cmocka_unit_test(
		    a_slice_that_begins_while_another_one_is_read_waits),
		cmocka_unit_test(the_end_of_a_slice_that_ran_is_lost_or_joins),
		cmocka_unit_test(what_cannot_be_a_ring_is_refused),
	};

	return (cmocka_run_group_tests(tests, set_up, tear_down));
}
