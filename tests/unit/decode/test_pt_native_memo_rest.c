/*
 * The native engine: when there is a memo of what was walked, and what is done to
 * the return stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_native.h"

/* The return stack. */

static void
calls_that_are_others_are_left_alone(void **state)
{
	uint32_t calls[HWTDI_PTN_CALLS] = { 0 }, before[HWTDI_PTN_CALLS];
	const struct hwtdi_ptn_calls_effect effect = { .pops = 2,
		.pushes = 1,
		.writes = 4 };
	const uint32_t stack[] = { 12, 11, 20 };
	uint32_t top = 1;

	(void)state;
	/* From the oldest: 10, 11, 12; it goes round the end. */
	calls[63] = 10;
	calls[0] = 11;
	calls[1] = 13;
	memcpy(before, calls, sizeof(calls));
	assert_false(hwtdi_ptn_calls_apply(calls, &top, effect, stack));
	assert_int_equal(top, 1);
	assert_memory_equal(calls, before, sizeof(calls));
	/* Two taken, three made, two of these taken. */
	calls[1] = 12;
	calls[2] = 99;
	calls[3] = 99;
	assert_true(hwtdi_ptn_calls_apply(calls, &top, effect, stack));
	assert_int_equal(top, 0);
	assert_int_equal(calls[63], 10);
	assert_int_equal(calls[0], 20);
	assert_int_equal(calls[1], 0);
	assert_int_equal(calls[2], 0);
	assert_int_equal(calls[3], 0);
}

/* When there is a memo. */

static void
memo_begins_with_the_second_flow(void **state)
{
	struct hwtdi_ptn_memo memo;
	struct hwtd_context *library;
	uint64_t now = 0;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &library, NULL), HWTD_OK);
	hwtdi_ptn_memo_init(&memo);
	hwtdi_ptn_memo_begin(&memo, library);
	assert_false(memo.on);
	hwtd_context_memory(library, &now, NULL);
	assert_int_equal(now, 0);
	hwtdi_ptn_memo_end(&memo, HWTDI_PTN_MEMO_BEFORE);
	hwtdi_ptn_memo_begin(&memo, library);
	assert_true(memo.on);
	assert_non_null(memo.entries);
	hwtdi_ptn_memo_fini(&memo, library);
	hwtd_context_memory(library, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(library);
}

static void
memo_is_not_made_for_a_few_tokens_at_a_time(void **state)
{
	struct hwtdi_ptn_memo memo;
	struct hwtd_context *library;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &library, NULL), HWTD_OK);
	hwtdi_ptn_memo_init(&memo);
	for (size_t tokens = 0; tokens < HWTDI_PTN_MEMO_BEFORE; tokens += 4) {
		hwtdi_ptn_memo_begin(&memo, library);
		assert_false(memo.on);
		assert_null(memo.entries);
		hwtdi_ptn_memo_end(&memo, 4);
	}
	hwtdi_ptn_memo_begin(&memo, library);
	assert_true(memo.on);
	hwtdi_ptn_memo_fini(&memo, library);
	hwtd_context_destroy(library);
}

static void
without_memory_for_a_memo_there_is_none(void **state)
{
	const struct hwtd_context_options opts = { .size = sizeof(opts),
		.max_memory = 1000 };
	struct hwtdi_ptn_memo memo;
	struct hwtd_context *library;

	(void)state;
	assert_int_equal(hwtd_context_create(&opts, &library, NULL), HWTD_OK);
	hwtdi_ptn_memo_init(&memo);
	for (int i = 0; i < 3; i++) {
		hwtdi_ptn_memo_begin(&memo, library);
		assert_false(memo.on);
		assert_null(memo.entries);
		hwtdi_ptn_memo_end(&memo, HWTDI_PTN_MEMO_BEFORE);
	}
	/* It is tried again, but not with each flow. */
	assert_true(memo.rest > 1);
	hwtdi_ptn_memo_fini(&memo, library);
	hwtd_context_destroy(library);
}

/* The memo after many calls, each of which finds `n` packets. */
static bool
is_on_after_calls_of(size_t n)
{
	/* Five times two outcomes. */
	static const uint8_t bytes[] = { 0x0c, 0x0c, 0x0c, 0x0c, 0x0c };
	struct hwtdi_decoder *d = calloc(1, sizeof(*d));
	struct hwtdi_flow *flow = calloc(1, sizeof(*flow));
	struct hwtd_context *library;
	bool on;

	assert_non_null(d);
	assert_non_null(flow);
	assert_int_equal(hwtd_context_create(NULL, &library, NULL), HWTD_OK);
	d->library = library;
	hwtdi_ptn_memo_init(&d->memo);
	assert_true(hwtdi_ptn_memo_wake(&d->memo, library));
	/* Wherever it is looked for: they lead from node 7 to node 7. */
	for (size_t i = 0; i >> d->memo.log == 0; i++) {
		d->memo.entries[i].key = 7 << 8 | 0x0c;
		d->memo.entries[i].end = 7;
		d->memo.entries[i].what = 2;
	}
	for (int i = 0; i < 1000; i++) {
		struct hwtdi_ptn_known k = { .p = bytes,
			.stop = bytes + n,
			.node = 7 };

		flow->n_anchors = 0;
		hwtdi_ptn_memo_packets(d, flow, &k);
		assert_ptr_equal(k.p, bytes + n);
		assert_int_equal(k.n, 2 * n);
	}
	on = d->memo.on;
	hwtdi_ptn_memo_fini(&d->memo, library);
	hwtd_context_destroy(library);
	free(flow);
	free(d);
	return (on);
}

static void
memo_rests_where_packets_come_one_by_one(void **state)
{
	(void)state;
	assert_false(is_on_after_calls_of(1));
	assert_false(is_on_after_calls_of(2));
	assert_true(is_on_after_calls_of(3));
	assert_true(is_on_after_calls_of(5));
}

static void
no_call_may_have_to_be_there(void **state)
{
	uint32_t calls[HWTDI_PTN_CALLS] = { 0 };
	const struct hwtdi_ptn_calls_effect effect = { .pops = 1,
		.writes = 1,
		.empty = true };
	const uint32_t stack[] = { 12 };
	uint32_t top = 0;

	(void)state;
	calls[0] = 12;
	calls[63] = UINT32_MAX;
	assert_false(hwtdi_ptn_calls_apply(calls, &top, effect, stack));
	assert_int_equal(calls[0], 12);
	calls[63] = 0;
	assert_true(hwtdi_ptn_calls_apply(calls, &top, effect, stack));
	assert_int_equal(top, 63);
	assert_int_equal(calls[0], 0);
}

/* All packets are met for the first time. */
static void
memo_rests_where_less_is_found_than_missed(void **state)
{
	struct hwtdi_decoder *d = calloc(1, sizeof(*d));
	struct hwtdi_flow *flow = calloc(1, sizeof(*flow));
	struct hwtd_context *library;
	uint32_t node;

	(void)state;
	assert_non_null(d);
	assert_non_null(flow);
	assert_int_equal(hwtd_context_create(NULL, &library, NULL), HWTD_OK);
	d->library = library;
	hwtdi_ptn_memo_init(&d->memo);
	assert_true(hwtdi_ptn_memo_wake(&d->memo, library));
	for (node = 1; node < 1000 && d->memo.on; node++) {
		static const uint8_t byte = 0x0c;
		struct hwtdi_ptn_known k = { .p = &byte,
			.stop = &byte + 1,
			.node = node };

		hwtdi_ptn_memo_packets(d, flow, &k);
		assert_ptr_equal(k.p, &byte);
	}
	/* All entries that were free could not be used up by then. */
	assert_true(node < 200);
	assert_true(d->memo.rest != 0);
	hwtdi_ptn_memo_fini(&d->memo, library);
	hwtd_context_destroy(library);
	free(flow);
	free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_are_others_are_left_alone),
		cmocka_unit_test(memo_begins_with_the_second_flow),
		cmocka_unit_test(memo_is_not_made_for_a_few_tokens_at_a_time),
		cmocka_unit_test(without_memory_for_a_memo_there_is_none),
		cmocka_unit_test(memo_rests_where_less_is_found_than_missed),
		cmocka_unit_test(memo_rests_where_packets_come_one_by_one),
		cmocka_unit_test(no_call_may_have_to_be_there),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
