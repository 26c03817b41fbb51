/*
 * Runs out of stretches that overlap in every way, against counts that were kept
 * for each instruction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/runs/code_counts.h"
#include "support/memory_trace.h"
#include "trace/trace_model.h"

#define SECTIONS 3
#define BYTES 600
#define MOST 15

static uint64_t random_state;

static uint32_t
below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u +
	    1442695040888963407u;
	return ((uint32_t)((random_state >> 33) % n));
}

/* How the bytes from each on can be read, and what was counted so. */
static uint8_t length[SECTIONS][BYTES + MOST];
static bool is_branch[SECTIONS][BYTES + MOST];
static uint64_t counts[SECTIONS][BYTES + MOST][MOST + 1];
static bool told[SECTIONS][BYTES + MOST][MOST + 1];

/* From any byte on there is an instruction; several ways join later. */
static void
make_code(void)
{
	memset(counts, 0, sizeof(counts));
	memset(told, 0, sizeof(told));
	for (size_t s = 0; s < SECTIONS; s++)
		for (size_t i = 0; i < BYTES; i++) {
			length[s][i] = (uint8_t)(1 + below(6));
			is_branch[s][i] = below(6) == 0;
		}
}

/* Count a stretch from a byte on; the first one of another length, maybe. */
static int
put(struct hwtdi_code_counts *c, bool add, uint32_t section, size_t from,
    uint32_t most, uint64_t n, uint8_t other)
{
	uint8_t lengths[64];
	struct hwtdi_stretch s = { .ip = 0x1000 + from,
		.count = n,
		.lengths = lengths,
		.section = section,
		.isa = HWTD_ISA_X86_64 };
	size_t at = from;

	while (s.insns < most && at < BYTES && s.branch == 0) {
		const bool first = s.insns == 0 && other != 0;
		const uint8_t l = first ? other : length[section][at];

		lengths[s.insns++] = l;
		s.bytes += l;
		counts[section][at][l] += n;
		if (is_branch[section][at] && !first)
			s.branch = HWTD_BRANCH_JUMP;
		at += l;
		if (first) {
			s.branch = HWTD_BRANCH_JUMP;
			break;
		}
	}
	return (add ? hwtdi_code_counts_add(c, &s, NULL)
		    : hwtdi_code_counts_put(c, &s, NULL));
}

static void
check_run(const struct hwtd_run *r)
{
	size_t at = r->address - 0x1000;
	const size_t end = at + r->bytes;

	for (uint32_t i = 0; i < r->insns; i++) {
		uint8_t l = length[r->section][at];

		/* Only the last can be an odd one. */
		if (i + 1 == r->insns)
			l = (uint8_t)(end - at);
		assert_int_equal(counts[r->section][at][l], r->count);
		assert_false(told[r->section][at][l]);
		told[r->section][at][l] = true;
		at += l;
		if (i + 1 == r->insns)
			assert_int_equal(r->last_bytes, l);
	}
	assert_int_equal(at, end);
}

static void
check(struct hwtdi_code_counts *c)
{
	struct hwtd_run *runs;
	size_t n, cap;

	assert_int_equal(hwtdi_code_runs(c, &runs, &n, &cap, NULL), HWTD_OK);
	for (size_t i = 0; i < n; i++) {
		check_run(&runs[i]);
		if (i > 0)
			assert_true(runs[i - 1].address <= runs[i].address);
	}
	for (size_t s = 0; s < SECTIONS; s++)
		for (size_t i = 0; i < BYTES; i++)
			for (size_t l = 0; l <= MOST; l++)
				assert_true(counts[s][i][l] == 0 ||
				    told[s][i][l]);
	hwtdi_array_free(c->library, runs, cap, sizeof(*runs));
}

static void
each_instruction_has_its_count(void **state)
{
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct hwtdi_code_counts c = { .library = ctx };
		const bool add = seed % 2 == 0;
		uint64_t held;

		random_state = seed;
		make_code();
		for (uint32_t i = 0; i < seed; i++)
			assert_int_equal(put(&c, add, below(SECTIONS),
					     below(BYTES), 1 + below(60),
					     1 + below(3),
					     seed % 3 == 0 && below(5) == 0
						 ? (uint8_t)(7 + below(3))
						 : 0),
			    HWTD_OK);
		check(&c);
		hwtdi_code_counts_fini(&c);
		hwtd_context_memory(ctx, &held, NULL);
		assert_int_equal(held, 0);
	}
	hwtd_context_destroy(ctx);
}

/* The same few, a million times: memory does not grow with them. */
static void
what_is_put_again_needs_no_more_memory(void **state)
{
	struct hwtdi_code_counts c = { 0 };
	struct hwtd_context *ctx;
	uint64_t peak = 0;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	c.library = ctx;
	random_state = 9;
	make_code();
	for (uint32_t i = 0; i < 1000000; i++)
		assert_int_equal(put(&c, false, i % SECTIONS, i % BYTES, 20, 1,
				     0),
		    HWTD_OK);
	hwtd_context_memory(ctx, NULL, &peak);
	assert_true(peak < (uint64_t)12 << 20);
	check(&c);
	hwtdi_code_counts_fini(&c);
	hwtd_context_destroy(ctx);
}

/* Addresses wrap around. */
static void
code_at_the_end_of_all_addresses_is_counted(void **state)
{
	static const uint8_t lengths[] = { 4, 4, 4, 4 };
	const struct hwtdi_stretch s = { .ip = UINT64_MAX - 7,
		.count = 2,
		.lengths = lengths,
		.insns = 4,
		.bytes = 16 };
	const struct hwtdi_stretch t = { .ip = UINT64_MAX - 3,
		.count = 3,
		.lengths = lengths,
		.insns = 2,
		.bytes = 8 };
	struct hwtdi_code_counts c = { 0 };
	struct hwtd_context *ctx;
	struct hwtd_run *runs;
	uint64_t sum = 0;
	size_t n, cap;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	c.library = ctx;
	assert_int_equal(hwtdi_code_counts_put(&c, &s, NULL), HWTD_OK);
	assert_int_equal(hwtdi_code_counts_put(&c, &t, NULL), HWTD_OK);
	assert_int_equal(hwtdi_code_runs(&c, &runs, &n, &cap, NULL), HWTD_OK);
	for (size_t i = 0; i < n; i++)
		sum += runs[i].count * runs[i].insns;
	assert_int_equal(sum, 2 * 4 + 3 * 2);
	hwtdi_array_free(ctx, runs, cap, sizeof(*runs));
	hwtdi_code_counts_fini(&c);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction_has_its_count),
		cmocka_unit_test(what_is_put_again_needs_no_more_memory),
		cmocka_unit_test(code_at_the_end_of_all_addresses_is_counted),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
