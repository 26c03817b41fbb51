/*
 * The table of branch targets: what it finds is what was put, it grows when
 * addresses drive each other out, and it does without memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/pt/pt_native_target.h"
#include "support/failing_allocator.h"

static uint32_t
node_at(const struct hwtdi_ptn_targets *targets, uint64_t ip)
{
	const struct hwtdi_ptn_target *t = hwtdi_ptn_targets_slot(targets, ip);

	return (t->ip == ip ? t->node : 0);
}

static void
put(struct hwtdi_ptn_targets *targets, struct hwtd_context *library,
    uint64_t ip, uint32_t node)
{
	const struct hwtdi_ptn_target t = { ip, node, 1 };

	hwtdi_ptn_targets_put(targets, library, &t);
}

static void
an_empty_table_knows_no_address(void **state)
{
	struct hwtdi_ptn_targets targets;

	(void)state;
	hwtdi_ptn_targets_init(&targets);
	assert_int_equal(node_at(&targets, 0), 0);
	assert_int_equal(node_at(&targets, 0x401000), 0);
	assert_int_equal(node_at(&targets, UINT64_MAX), 0);
}

static void
what_was_put_last_is_found(void **state)
{
	struct hwtd_context *library;
	struct hwtdi_ptn_targets targets;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &library, NULL), HWTD_OK);
	hwtdi_ptn_targets_init(&targets);
	put(&targets, library, 0x401000, 7);
	assert_int_equal(node_at(&targets, 0x401000), 7);
	put(&targets, library, 0x401000, 8);
	assert_int_equal(node_at(&targets, 0x401000), 8);
	hwtdi_ptn_targets_clear(&targets);
	assert_int_equal(node_at(&targets, 0x401000), 0);
	hwtdi_ptn_targets_fini(&targets, library);
	hwtd_context_destroy(library);
}

/* Each may be driven out, but what is found is right. */
static void
many_addresses_get_more_slots_up_to_a_limit(void **state)
{
	const uint32_t many = 4 * HWTDI_PTN_MOST_TARGETS;
	struct hwtd_context *library;
	struct hwtdi_ptn_targets targets;
	uint32_t found = 0;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &library, NULL), HWTD_OK);
	hwtdi_ptn_targets_init(&targets);
	for (uint32_t i = 1; i <= 16; i++)
		put(&targets, library, 0x1000u * i, i);
	assert_int_equal(targets.n_room, HWTDI_PTN_FIRST_TARGETS);
	for (uint32_t i = 1; i <= many; i++)
		put(&targets, library, 0x1000u * (uint64_t)i, i);
	assert_int_equal(targets.n_room, HWTDI_PTN_MOST_TARGETS);
	for (uint32_t i = 1; i <= many; i++) {
		const uint32_t node = node_at(&targets, 0x1000u * (uint64_t)i);

		assert_true(node == 0 || node == i);
		found += node != 0;
	}
	assert_in_range(found, HWTDI_PTN_MOST_TARGETS / 2,
	    HWTDI_PTN_MOST_TARGETS);
	hwtdi_ptn_targets_fini(&targets, library);
	hwtd_context_destroy(library);
}

static void
without_memory_it_forgets(void **state)
{
	struct failing_allocator f;
	struct hwtd_context_options opts = { .size = sizeof(opts),
		.allocator = &f.allocator };
	struct hwtd_context *library;
	struct hwtdi_ptn_targets targets;

	(void)state;
	failing_allocator_init(&f);
	assert_int_equal(hwtd_context_create(&opts, &library, NULL), HWTD_OK);
	hwtdi_ptn_targets_init(&targets);
	failing_allocator_arm(&f, 1, true);
	put(&targets, library, 0x401000, 7);
	assert_int_equal(node_at(&targets, 0x401000), 0);
	failing_allocator_arm(&f, 0, false);
	put(&targets, library, 0x401000, 7);
	assert_int_equal(node_at(&targets, 0x401000), 7);
	/* Then it stays as it is. */
	failing_allocator_arm(&f, 1, true);
	for (uint32_t i = 1; i <= 4096; i++)
		put(&targets, library, 0x1000u * i, i);
	assert_int_equal(targets.n_room, HWTDI_PTN_FIRST_TARGETS);
	assert_int_equal(node_at(&targets, 0x1000000), 4096);
	hwtdi_ptn_targets_fini(&targets, library);
	hwtd_context_destroy(library);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_knows_no_address),
		cmocka_unit_test(what_was_put_last_is_found),
		cmocka_unit_test(many_addresses_get_more_slots_up_to_a_limit),
		cmocka_unit_test(without_memory_it_forgets),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
