/*
 * The code table: runs are found by where they start and end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/code/code_table.h"
#include "support/chosen_key.h"

struct fixture {
	struct hwtd_context *library;
	struct hwtdi_code_table table;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (f == NULL || hwtd_context_create(NULL, &f->library, NULL) != 0)
		return (-1);
	hwtdi_code_table_init(&f->table, f->library);
	*state = f;
	return (0);
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	uint64_t now = 1;

	hwtdi_code_table_fini(&f->table);
	hwtd_context_memory(f->library, &now, NULL);
	hwtd_context_destroy(f->library);
	free(f);
	return (now == 0 ? 0 : -1);
}

/* A run of `n` instructions of 1, 2, 3, 1, 2... bytes. */
static struct hwtdi_run
make(uint64_t ip, uint32_t n, uint8_t *lengths)
{
	struct hwtdi_run run = {
		.ip = ip,
		.last_ip = ip,
		.target = ip ^ 0xff,
		.insns = n,
		.section = 7,
		.branch = HWTD_BRANCH_JUMP,
		.isa = HWTD_ISA_X86_64,
		.flags = HWTDI_RUN_DIRECT,
	};

	for (uint32_t i = 0; i < n; i++) {
		lengths[i] = (uint8_t)(1 + i % 3);
		if (i + 1 < n)
			run.last_ip += lengths[i];
		run.bytes += lengths[i];
	}
	return (run);
}

static uint32_t
add(struct fixture *f, const struct hwtdi_run *run, const uint8_t *lengths)
{
	struct hwtd_error err = { .size = sizeof(err) };
	uint32_t token = UINT32_MAX;

	assert_int_equal(hwtdi_code_table_add(&f->table, run, lengths, &token,
			     &err),
	    HWTD_OK);
	return (token);
}

static uint32_t
find(struct fixture *f, const struct hwtdi_run *run)
{
	return (hwtdi_code_table_find(&f->table, run->ip, run->last_ip,
	    run->section, run->split, run->isa,
	    run->flags & HWTDI_RUN_SPECULATIVE));
}

static void
an_empty_table_finds_nothing(void **state)
{
	struct fixture *f = *state;
	uint8_t lengths[1];
	struct hwtdi_run run = make(0, 1, lengths);

	assert_int_equal(find(f, &run), UINT32_MAX);
}

static void
a_run_keeps_all_that_it_was_added_with(void **state)
{
	struct fixture *f = *state;
	uint8_t lengths[5];
	struct hwtdi_run run = make(0xfffffffffffffff0, 5, lengths);
	const struct hwtdi_run *got;

	assert_int_equal(add(f, &run, lengths), 0);
	assert_int_equal(find(f, &run), 0);
	got = &f->table.runs[0];
	assert_true(got->ip == run.ip && got->last_ip == run.last_ip);
	assert_true(got->target == run.target);
	assert_int_equal(got->insns, 5);
	assert_int_equal(got->bytes, 1 + 2 + 3 + 1 + 2);
	assert_int_equal(got->section, 7);
	assert_int_equal(got->branch, HWTD_BRANCH_JUMP);
	assert_int_equal(got->isa, HWTD_ISA_X86_64);
	assert_int_equal(got->flags, HWTDI_RUN_DIRECT);
	assert_memory_equal(f->table.lengths + got->lengths, lengths, 5);
}

static void
runs_differ_by_each_part_of_their_key(void **state)
{
	struct fixture *f = *state;
	uint8_t lengths[3];
	struct hwtdi_run base = make(0x1000, 3, lengths), other;

	assert_int_equal(add(f, &base, lengths), 0);
	other = base;
	other.ip++;
	assert_int_equal(find(f, &other), UINT32_MAX);
	other = base;
	other.last_ip--;
	assert_int_equal(find(f, &other), UINT32_MAX);
	other = base;
	other.section++;
	assert_int_equal(find(f, &other), UINT32_MAX);
	other = base;
	other.split++;
	assert_int_equal(find(f, &other), UINT32_MAX);
	other = base;
	other.isa = HWTD_ISA_X86_32;
	assert_int_equal(find(f, &other), UINT32_MAX);
	other = base;
	other.flags |= HWTDI_RUN_SPECULATIVE;
	assert_int_equal(find(f, &other), UINT32_MAX);
	/* That a target is known is no part of it. */
	other = base;
	other.flags = 0;
	assert_int_equal(find(f, &other), 0);
	/* One beside the other. */
	other.flags = HWTDI_RUN_SPECULATIVE;
	assert_int_equal(add(f, &other, lengths), 1);
	assert_int_equal(find(f, &base), 0);
	assert_int_equal(find(f, &other), 1);
}

/* Strides that a bad hash would put on top of each other. */
static void
many_runs_are_all_found_while_the_table_grows(void **state)
{
	static const uint64_t strides[] = { 1, 16, 4096, 1 << 20,
		(uint64_t)1 << 32, (uint64_t)1 << 48 };
	struct fixture *f = *state;
	uint32_t n = 0;

	for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++)
		for (uint64_t i = 0; i < 2000; i++) {
			uint8_t lengths[8];
			struct hwtdi_run run = make(i * strides[s],
			    1 + (uint32_t)(i % 8), lengths);

			run.section = (uint32_t)s;
			assert_int_equal(find(f, &run), UINT32_MAX);
			assert_int_equal(add(f, &run, lengths), n);
			n++;
		}
	n = 0;
	for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++)
		for (uint64_t i = 0; i < 2000; i++) {
			uint8_t lengths[8];
			struct hwtdi_run run = make(i * strides[s],
			    1 + (uint32_t)(i % 8), lengths);

			run.section = (uint32_t)s;
			assert_int_equal(find(f, &run), n);
			assert_memory_equal(f->table.lengths +
				f->table.runs[n].lengths,
			    lengths, run.insns);
			n++;
		}
	assert_int_equal(f->table.n_runs, n);
}

static void
a_cleared_table_counts_from_zero_again(void **state)
{
	struct fixture *f = *state;
	uint8_t lengths[4];

	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 3000; i++) {
			struct hwtdi_run run = make(i * 5, 4, lengths);

			assert_int_equal(find(f, &run), UINT32_MAX);
			assert_int_equal(add(f, &run, lengths), i);
		}
		hwtdi_code_table_clear(&f->table);
		assert_int_equal(f->table.n_runs, 0);
	}
	hwtdi_code_table_clear(&f->table);
}

static void
clearing_an_empty_table_does_nothing(void **state)
{
	struct fixture *f = *state;

	hwtdi_code_table_clear(&f->table);
	assert_int_equal(f->table.n_runs, 0);
}

static void
without_memory_a_run_is_refused_and_the_rest_stays(void **state)
{
	struct hwtd_context_options opts = {
		.size = sizeof(opts),
		.max_memory = 20000,
	};
	struct fixture small = { 0 };
	struct hwtd_error err = { .size = sizeof(err) };
	uint8_t lengths[2];
	uint32_t n = 0, token = 0;
	int rc = HWTD_OK;

	(void)state;
	assert_int_equal(hwtd_context_create(&opts, &small.library, &err),
	    HWTD_OK);
	hwtdi_code_table_init(&small.table, small.library);
	while (rc == HWTD_OK && n < 10000) {
		struct hwtdi_run run = make(n, 2, lengths);

		rc = hwtdi_code_table_add(&small.table, &run, lengths, &token,
		    &err);
		if (rc == HWTD_OK)
			assert_int_equal(token, n++);
	}
	assert_int_equal(rc, HWTD_E_NOMEM);
	assert_int_equal(err.code, HWTD_E_NOMEM);
	assert_true(n > 0);
	for (uint32_t i = 0; i < n; i++) {
		struct hwtdi_run run = make(i, 2, lengths);

		assert_int_equal(find(&small, &run), i);
	}
	hwtdi_code_table_fini(&small.table);
	hwtd_context_destroy(small.library);
}

static uint64_t
plain_hash(uint64_t ip, uint64_t last_ip)
{
	uint64_t h = ip * 0x9e3779b97f4a7c15u;

	h ^= last_ip + (h >> 29);
	h *= 0xbf58476d1ce4e5b9u;
	return (h ^ h >> 32);
}

static void
addresses_that_were_chosen_for_a_hash_are_not_slow(void **state)
{
	struct fixture *f = *state;
	const double start = cpu_seconds();
	uint8_t lengths[1];
	uint32_t n = 0, token;

	for (uint64_t ip = 0; n < CHOSEN_KEYS; ip++) {
		struct hwtdi_run run;

		if (!is_chosen(plain_hash(ip, ip)))
			continue;
		run = make(ip, 1, lengths);
		assert_int_equal(find(f, &run), UINT32_MAX);
		assert_int_equal(hwtdi_code_table_add(&f->table, &run, lengths,
				     &token, NULL),
		    HWTD_OK);
		assert_int_equal(token, n++);
	}
	assert_true(cpu_seconds() - start < chosen_seconds());
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_empty_table_finds_nothing),
		TEST(a_run_keeps_all_that_it_was_added_with),
		TEST(runs_differ_by_each_part_of_their_key),
		TEST(many_runs_are_all_found_while_the_table_grows),
		TEST(a_cleared_table_counts_from_zero_again),
		TEST(clearing_an_empty_table_does_nothing),
		TEST(without_memory_a_run_is_refused_and_the_rest_stays),
		TEST(addresses_that_were_chosen_for_a_hash_are_not_slow),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
