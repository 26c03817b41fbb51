/*
 * What looks into rings of hwt(4) read, and their memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/trace.h>

#include "capture/ring_look.h"
#include "support/failing_allocator.h"

#define PAGE 4096

static struct hwtd_context *ctx;

static void
no_memory_is_an_error_and_leaves_nothing(void **state)
{
	struct failing_allocator memory;
	struct hwtd_context_options options = { .size = sizeof(options) };
	struct hwtd_context *own;
	uint64_t requests;
	int64_t blocks;

	(void)state;
	failing_allocator_init(&memory);
	options.allocator = &memory.allocator;
	assert_int_equal(hwtd_context_create(&options, &own, NULL), HWTD_OK);
	blocks = memory.blocks;
	/* Two copies of the ring, and marks of its pages. */
	for (requests = 1; requests <= 3; requests++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_look_ring ring;

		failing_allocator_arm(&memory, requests, false);
		assert_int_equal(hwtdi_look_init(&ring, own, 4 * PAGE,
				     HWTDI_LOOK_ROUND, &err),
		    HWTD_E_NOMEM);
		assert_int_equal(err.code, HWTD_E_NOMEM);
		assert_int_equal(memory.blocks, blocks);
		hwtdi_look_fini(&ring);
	}
	failing_allocator_arm(&memory, 0, false);
	hwtd_context_destroy(own);
	assert_int_equal(memory.blocks, 0);
}

/* A large ring, in which a writer goes on from page to page. */
#define LARGE ((uint64_t)2 << 20)
/* What a look may read of it when 8 KiB came. */
#define LARGE_READ ((uint64_t)160 << 10)

static struct large {
	_Alignas(8) uint8_t ring[LARGE];
	struct hwtdi_look_ring look;
	uint64_t at;
	uint64_t seed;
} large;

static void
write_large(uint64_t n)
{
	for (; n > 0; n--) {
		large.seed = large.seed * 6364136223846793005u +
		    1442695040888963407u;
		large.ring[large.at] = (uint8_t)(large.seed >> 56);
		large.at = large.at + 1 < LARGE ? large.at + 1 : 0;
	}
}

static void
begin_large(enum hwtdi_look_kind kind)
{
	memset(&large, 0, sizeof(large));
	assert_int_equal(hwtdi_look_init(&large.look, ctx, LARGE, kind, NULL),
	    HWTD_OK);
}

/* Bytes that one look handed out, which is to have read few of the ring. */
static uint64_t
look_at_large(uint32_t state, uint64_t switches, uint64_t most)
{
	const struct hwtdi_look_told both = { large.at, large.at };
	const struct hwtdi_look_hints hints = {
		.state = state,
		.switches_known = true,
		.switches = switches,
	};
	struct hwtdi_look look;
	uint64_t n = 0;

	hwtdi_look_read(&large.look, large.ring, large.at, &hints);
	assert_true(large.look.bytes_read > 0);
	assert_true(large.look.bytes_read <= most);
	hwtdi_look_find(&large.look, &both, &hints, &look);
	assert_false(look.lost || look.position_doubted);
	for (size_t i = 0; i < look.n_pieces; i++) {
		const struct hwtdi_look_piece *piece = &look.pieces[i];

		assert_memory_equal(piece->bytes, large.ring + piece->at,
		    piece->n);
		n += piece->n;
	}
	return (n);
}

static void
a_ring_that_goes_round_is_read_where_it_is_new(void **state)
{
	static const enum hwtdi_look_kind kinds[] = { HWTDI_LOOK_ROUND,
		HWTDI_LOOK_LIVE };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		begin_large(kinds[k]);
		/* Twice round. */
		for (size_t i = 0; i < 2 * LARGE / (8 * PAGE); i++) {
			write_large(8 * PAGE);
			assert_int_equal(look_at_large(HWTDI_LOOK_ON, 0,
					     LARGE_READ),
			    8 * PAGE);
		}
		write_large(2 * PAGE);
		assert_int_equal(look_at_large(HWTDI_LOOK_ON, 0, LARGE_READ),
		    2 * PAGE);
		/* Nothing came. */
		assert_int_equal(look_at_large(HWTDI_LOOK_ON, 0, LARGE_READ),
		    0);
		hwtdi_look_fini(&large.look);
	}
}

static void
a_slice_that_goes_on_is_read_from_its_last_position_on(void **state)
{
	(void)state;
	begin_large(HWTDI_LOOK_RESTARTS);
	write_large(LARGE / 2);
	assert_int_equal(look_at_large(HWTDI_LOOK_ON, 0, 2 * LARGE),
	    LARGE / 2);
	for (size_t i = 0; i < 32; i++) {
		write_large(2 * PAGE);
		assert_int_equal(look_at_large(HWTDI_LOOK_ON, 0, LARGE_READ),
		    2 * PAGE);
	}
	/* It ended, and another one begins. */
	write_large(100);
	assert_int_equal(look_at_large(HWTDI_LOOK_OFF, 1, LARGE_READ), 100);
	for (size_t i = 0; i < 8; i++) {
		large.at = 0;
		write_large(2 * PAGE);
		assert_int_equal(look_at_large(HWTDI_LOOK_OFF, 1, LARGE_READ),
		    2 * PAGE);
	}
	hwtdi_look_fini(&large.look);
}

static void
a_slice_that_was_long_is_found_by_probes(void **state)
{
	struct hwtdi_look_told both = { 300, 300 };
	const struct hwtdi_look_hints hints = { .state = HWTDI_LOOK_OFF,
		.switches_known = true,
		.switches = 2 };
	struct hwtdi_look look;

	(void)state;
	begin_large(HWTDI_LOOK_RESTARTS);
	write_large(LARGE / 2 + 5);
	large.at = 0;
	write_large(300);
	hwtdi_look_read(&large.look, large.ring, 300, &hints);
	hwtdi_look_find(&large.look, &both, &hints, &look);
	assert_int_equal(look.n_pieces, 2);
	assert_int_equal(look.pieces[0].at, 300);
	assert_int_equal(look.pieces[0].n, LARGE / 2 + 5 - 300);
	assert_memory_equal(look.pieces[0].bytes, large.ring + 300,
	    look.pieces[0].n);
	assert_true(look.pieces[0].older);
	assert_int_equal(look.pieces[1].n, 300);
	hwtdi_look_fini(&large.look);
}

static void
a_last_look_that_was_not_read_as_a_whole_hands_out_nothing(void **state)
{
	const struct hwtdi_look_hints goes_on = { .state = HWTDI_LOOK_ON,
		.switches_known = true };
	struct hwtdi_look look;

	(void)state;
	begin_large(HWTDI_LOOK_RESTARTS);
	write_large(3 * PAGE);
	look_at_large(HWTDI_LOOK_ON, 0, LARGE_READ);
	hwtdi_look_read(&large.look, large.ring, large.at, &goes_on);
	hwtdi_look_last(&large.look, large.at, NULL, &look);
	assert_int_equal(look.n_pieces, 0);
	assert_int_equal(look.held_bytes, 0);
	assert_true(look.lost);
	hwtdi_look_fini(&large.look);
}

static int
set_up(void **state)
{
	(void)state;
	return (hwtd_context_create(NULL, &ctx, NULL));
}

static int
tear_down(void **state)
{
	(void)state;
	hwtd_context_destroy(ctx);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory_is_an_error_and_leaves_nothing),
		cmocka_unit_test(
		    a_ring_that_goes_round_is_read_where_it_is_new),
		cmocka_unit_test(
		    a_slice_that_goes_on_is_read_from_its_last_position_on),
		cmocka_unit_test(a_slice_that_was_long_is_found_by_probes),
		cmocka_unit_test(
		    a_last_look_that_was_not_read_as_a_whole_hands_out_nothing),
	};

	return (cmocka_run_group_tests(tests, set_up, tear_down));
}
