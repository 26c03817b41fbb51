/*
 * Tables of two traces that are merged are those of one trace with all samples;
 * and memory that is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/memory_samples.h"

#define ROUNDS 40
#define SAMPLES 300

static uint32_t
next(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return ((uint32_t)(*random >> 33));
}

static struct hwtd_sample
random_sample(uint64_t *random)
{
	const uint64_t pc = 0x400100 + next(random) % 40 * 4;
	struct hwtd_sample s;

	if (next(random) % 4 == 0) {
		s = ms_branch(pc, next(random) % 2 == 0,
		    0x400100 + next(random) % 8 * 4, MS_MISPREDICTED);
		if (next(random) % 2 == 0) {
			s.present |= HWTD_SAMPLE_PREV_TARGET;
			s.prev_target = next(random) % 4;
		}
	} else {
		s = ms_access(pc, next(random) % 3 == 0,
		    (next(random) % 2 == 0 ? 0x8000
					   : UINT64_C(0xffff000000000000)) +
			next(random) % 40 * 8,
		    next(random) % 5 == 0 ? MS_NO_SOURCE : next(random) % 16,
		    next(random) % 0x800);
	}
	if (next(random) % 8 != 0)
		ms_latency(&s,
		    next(random) % 9 == 0 ? 0xfff
					  : (uint16_t)(next(random) % 6000),
		    (uint16_t)(next(random) % 50));
	if (next(random) % 10 == 0)
		s.flags |= 1u << next(random) % 4;
	if (next(random) % 20 == 0)
		s.present &= ~(uint32_t)HWTD_SAMPLE_PC;
	return (s);
}

static void
assert_same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a != NULL)
		assert_string_equal(a, b);
}

static void
assert_same_row(struct hwtd_memory_row a, struct hwtd_memory_row b)
{
	assert_same_text(a.image, b.image);
	assert_same_text(a.symbol, b.symbol);
	a.image = b.image = NULL;
	a.symbol = b.symbol = NULL;
	assert_memory_equal(&a, &b, sizeof(a));
}

static void
assert_same_accesses(struct hwtd_memory *a, struct hwtd_memory *b,
    uint64_t row)
{
	struct hwtd_memory_access x, y;
	size_t n;

	for (uint64_t i = 0;; i++) {
		const int rc = hwtd_memory_accesses(a, row, i, &x, sizeof(x),
		    1, &n);

		assert_int_equal(hwtd_memory_accesses(b, row, i, &y, sizeof(y),
				     1, &n),
		    rc);
		if (rc != HWTD_OK)
			break;
		assert_same_text(x.image, y.image);
		assert_same_text(x.symbol, y.symbol);
		x.image = y.image = NULL;
		x.symbol = y.symbol = NULL;
		assert_memory_equal(&x, &y, sizeof(x));
	}
}

static void
assert_same_histograms(struct hwtd_memory *a, struct hwtd_memory *b,
    uint32_t table, uint64_t row)
{
	for (uint32_t kind = 0; kind < HWTD_MEMORY_LATENCIES; kind++) {
		struct hwtd_memory_bucket x[SAMPLES], y[SAMPLES];
		size_t n, m;

		(void)hwtd_memory_histogram(a, table, row, kind, 0, x,
		    sizeof(x[0]), SAMPLES, &n);
		(void)hwtd_memory_histogram(b, table, row, kind, 0, y,
		    sizeof(y[0]), SAMPLES, &m);
		assert_int_equal(n, m);
		assert_memory_equal(x, y, n * sizeof(x[0]));
	}
}

static void
assert_same_table(struct hwtd_memory *a, struct hwtd_memory *b, uint32_t table)
{
	for (uint32_t sort = 0; sort < HWTD_MEMORY_SORTS; sort++) {
		struct hwtd_memory_row x, y;
		size_t n;

		if (sort == HWTD_MEMORY_BY_SHARING &&
		    table != HWTD_MEMORY_LINE)
			continue;
		assert_int_equal(hwtd_memory_sort(a, table, sort, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_memory_sort(b, table, sort, NULL),
		    HWTD_OK);
		for (uint64_t i = 0;; i++) {
			const int rc = hwtd_memory_read(a, table, i, &x,
			    sizeof(x), 1, &n);

			assert_int_equal(hwtd_memory_read(b, table, i, &y,
					     sizeof(y), 1, &n),
			    rc);
			if (rc != HWTD_OK)
				break;
			assert_same_row(x, y);
			if (sort != HWTD_MEMORY_BY_KEY)
				continue;
			assert_same_histograms(a, b, table, i);
			if (table == HWTD_MEMORY_LINE)
				assert_same_accesses(a, b, i);
		}
	}
}

static void
merged_is_as_one_trace_with_both(void **state)
{
	uint64_t random = 4711;

	(void)state;
	for (size_t round = 0; round < ROUNDS; round++) {
		struct hwtd_trace *traces[3] = { ms_trace(), ms_trace(),
			ms_trace() };
		struct hwtd_memory_info a = { .size = sizeof(a) };
		struct hwtd_memory_info b = { .size = sizeof(b) };
		struct hwtd_memory *memory[3];

		for (size_t i = 0; i < 3; i++)
			memory[i] = ms_open(traces[i], 0);
		for (size_t i = 0; i < SAMPLES; i++) {
			const struct hwtd_sample s = random_sample(&random);
			const uint32_t tid = next(&random) % 3;
			const uint32_t cpu = next(&random) % 4;
			/* All in one of them, sometimes. */
			const size_t part = round % 5 == 0
			    ? 1
			    : 1 + next(&random) % 2;
			struct hwtd_event row = ms_row(traces[0], 5, tid, cpu);

			ms_add(memory[0], &row, &s);
			row = ms_row(traces[part], 5, tid, cpu);
			ms_add(memory[part], &row, &s);
		}
		assert_int_equal(hwtd_memory_merge(memory[2], memory[1], NULL),
		    HWTD_OK);
		/* Names stay when their trace is gone. */
		hwtd_memory_close(memory[1]);
		hwtd_trace_close(traces[1]);
		for (uint32_t table = 0; table < HWTD_MEMORY_TABLES; table++)
			assert_same_table(memory[0], memory[2], table);
		assert_int_equal(hwtd_memory_info(memory[0], &a), HWTD_OK);
		assert_int_equal(hwtd_memory_info(memory[2], &b), HWTD_OK);
		assert_memory_equal(&a, &b, sizeof(a));
		for (size_t i = 0; i < 3; i += 2) {
			hwtd_memory_close(memory[i]);
			hwtd_trace_close(traces[i]);
		}
	}
}

static int
add_and_merge(struct hwtd_trace *trace, const struct hwtd_event *row)
{
	const struct hwtd_memory_options o = {
		.size = sizeof(o),
		.flags = HWTD_MEMORY_KEEP_ACCESSES,
	};
	struct hwtd_memory *memory[2] = { NULL, NULL };
	uint64_t random = 99;
	int rc;

	rc = hwtd_memory_open(trace, &o, &memory[0], NULL);
	if (rc == HWTD_OK)
		rc = hwtd_memory_open(trace, &o, &memory[1], NULL);
	for (size_t i = 0; rc == HWTD_OK && i < 12; i++) {
		const struct hwtd_sample s = random_sample(&random);

		rc = hwtd_memory_add(memory[i % 2], row, &s, NULL);
	}
	if (rc == HWTD_OK)
		rc = hwtd_memory_merge(memory[0], memory[1], NULL);
	for (uint32_t i = 0; rc == HWTD_OK && i < HWTD_MEMORY_TABLES; i++)
		rc = hwtd_memory_sort(memory[0], i, HWTD_MEMORY_BY_KEY, NULL);
	hwtd_memory_close(memory[0]);
	hwtd_memory_close(memory[1]);
	return (rc);
}

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_trace *trace;
	struct hwtd_context *ctx;
	struct hwtd_event row;
	int rc = HWTD_E_NOMEM;
	int64_t blocks;
	uint64_t n = 1;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	trace = ms_trace_in(ctx);
	row = ms_row(trace, 5, 50, 1);
	blocks = f.blocks;
	for (; rc != HWTD_OK; n++) {
		failing_allocator_arm(&f, n, false);
		rc = add_and_merge(trace, &row);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		assert_int_equal(f.blocks, blocks);
	}
	assert_true(n > 50);
	failing_allocator_arm(&f, 0, false);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_is_as_one_trace_with_both),
		cmocka_unit_test(
		    each_refused_request_is_reported_and_leaks_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
