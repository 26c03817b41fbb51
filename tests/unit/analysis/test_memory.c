/*
 * Tables of samples, with samples by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/memory/memory_producer.h"
#include "support/memory_samples.h"

#define ALPHA UINT64_C(0x400100)
#define BETA UINT64_C(0x400140)
#define NOBODY HWTD_NO_ID

static uint64_t
count_rows(struct hwtd_memory *memory, uint32_t table)
{
	struct hwtd_memory_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	return (info.rows[table]);
}

static void
samples_are_added_up_by_function_and_instruction(void **state)
{
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 0);
	const struct hwtd_event row = ms_row(trace, 5, 50, 1);
	struct hwtd_memory_info info = { .size = sizeof(info) };
	struct hwtd_memory_row r;
	struct hwtd_sample s;

	(void)state;
	s = ms_access(ALPHA, false, 0x1000, 0, MS_L1_ACCESS);
	ms_latency(&s, 10, 4);
	ms_add(memory, &row, &s);
	s = ms_access(ALPHA + 8, false, 0x2000, 0xe,
	    MS_L1_ACCESS | MS_L1_MISS | MS_LLC_ACCESS | MS_LLC_MISS |
		MS_TLB_ACCESS | MS_TLB_MISS);
	ms_latency(&s, 210, 20);
	ms_add(memory, &row, &s);
	s = ms_branch(BETA + 4, true, ALPHA, MS_MISPREDICTED);
	ms_add(memory, &row, &s);
	/* Where no symbol is, and where nothing is mapped. */
	s = ms_branch(0x400180, false, 0, 0);
	ms_add(memory, &row, &s);
	s = ms_branch(0x900000, true, ALPHA, 0);
	ms_add(memory, &row, &s);

	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	assert_int_equal(info.without_symbol, 2);
	assert_int_equal(count_rows(memory, HWTD_MEMORY_SYMBOL), 4);
	r = ms_sorted(memory, HWTD_MEMORY_SYMBOL, HWTD_MEMORY_BY_SAMPLES, 0);
	assert_string_equal(r.image, "dir/prog");
	assert_string_equal(r.symbol, "alpha");
	assert_int_equal(r.symbol_off, ALPHA);
	assert_int_equal(r.samples, 2);
	assert_int_equal(r.weight, 2000);
	assert_int_equal(r.loads, 2);
	assert_int_equal(r.l1_accesses, 2);
	assert_int_equal(r.l1_misses, 1);
	assert_int_equal(r.llc_misses, 1);
	assert_int_equal(r.tlb_misses, 1);
	assert_int_equal(r.at_level[HWTD_MEMORY_LEVEL_L1], 1);
	assert_int_equal(r.at_level[HWTD_MEMORY_LEVEL_MEMORY], 1);
	assert_int_equal(r.latency[HWTD_MEMORY_TOTAL].sum, 220);
	assert_int_equal(r.latency[HWTD_MEMORY_TOTAL].min, 10);
	assert_int_equal(r.latency[HWTD_MEMORY_TOTAL].max, 210);
	assert_int_equal(r.latency[HWTD_MEMORY_ISSUE].sum, 24);
	assert_int_equal(r.latency[HWTD_MEMORY_EXECUTION].sum, 196);
	assert_int_equal(r.latency[HWTD_MEMORY_EXECUTION].p50, 6);
	assert_int_equal(r.latency[HWTD_MEMORY_TRANSLATION].n, 0);
	r = ms_sorted(memory, HWTD_MEMORY_SYMBOL, HWTD_MEMORY_BY_KEY, 1);
	assert_string_equal(r.symbol, "beta");
	assert_int_equal(r.branches, 1);
	assert_int_equal(r.taken, 1);
	assert_int_equal(r.mispredicted, 1);
	r = ms_sorted(memory, HWTD_MEMORY_SYMBOL, HWTD_MEMORY_BY_KEY, 2);
	assert_string_equal(r.image, "dir/prog");
	assert_null(r.symbol);
	assert_int_equal(r.taken, 0);
	r = ms_sorted(memory, HWTD_MEMORY_SYMBOL, HWTD_MEMORY_BY_KEY, 3);
	assert_null(r.image);

	assert_int_equal(count_rows(memory, HWTD_MEMORY_INSN), 5);
	r = ms_sorted(memory, HWTD_MEMORY_INSN, HWTD_MEMORY_BY_LATENCY, 0);
	assert_int_equal(r.address, ALPHA + 8);
	assert_string_equal(r.symbol, "alpha");
	assert_int_equal(r.symbol_off, 8);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
what_is_at_a_limit_is_not_averaged(void **state)
{
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 1u << HWTD_MEMORY_CPU);
	const struct hwtd_event row = ms_row(trace, 5, 50, 1);
	struct hwtd_memory_info info = { .size = sizeof(info) };
	const struct hwtd_memory_latency *l;
	struct hwtd_memory_bucket buckets[4];
	struct hwtd_memory_row r;
	struct hwtd_sample s;
	size_t n;

	(void)state;
	s = ms_access(ALPHA, false, 0x1000, 0, 0);
	ms_latency(&s, 100, 30);
	ms_add(memory, &row, &s);
	s = ms_access(ALPHA, false, 0x1000, 0, 0);
	ms_latency(&s, 0xfff, 95);
	ms_add(memory, &row, &s);
	s = ms_access(ALPHA, false, 0x1000, 0, 0);
	ms_latency(&s, 0xfff, 0xfff);
	ms_add(memory, &row, &s);
	r = ms_sorted(memory, HWTD_MEMORY_CPU, HWTD_MEMORY_BY_SAMPLES, 0);
	assert_int_equal(r.cpu, 1);
	l = &r.latency[HWTD_MEMORY_TOTAL];
	assert_int_equal(l->n, 1);
	assert_int_equal(l->sum, 100);
	assert_int_equal(l->max, 100);
	assert_int_equal(l->n_saturated, 2);
	assert_int_equal(l->saturated_sum, 2 * 0xfff);
	assert_int_equal(l->p50, 0xfff);
	assert_int_equal(l->at_least, 15);
	assert_int_equal(l->longest, 0xfff);
	/* Total at its limit: the execution took that, or more. */
	l = &r.latency[HWTD_MEMORY_EXECUTION];
	assert_int_equal(l->n, 1);
	assert_int_equal(l->sum, 70);
	assert_int_equal(l->n_saturated, 1);
	assert_int_equal(l->saturated_sum, 4000);
	assert_int_equal(hwtd_memory_histogram(memory, HWTD_MEMORY_CPU, 0,
			     HWTD_MEMORY_TOTAL, 0, buckets, sizeof(buckets[0]),
			     4, &n),
	    HWTD_OK);
	assert_int_equal(n, 1);
	assert_int_equal(buckets[0].first, 100);
	assert_int_equal(buckets[0].end, 101);
	assert_int_equal(buckets[0].n, 1);
	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	assert_int_equal(info.saturated, 2);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
samples_that_are_not_whole_are_only_counted(void **state)
{
	static const uint32_t flags[] = {
		HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_TRUNCATED,
		HWTD_SAMPLEF_DUPLICATE,
		HWTD_SAMPLEF_TRUNCATED,
		HWTD_SAMPLEF_TRUNCATED,
		HWTD_SAMPLEF_HEADLESS,
	};
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 0);
	const struct hwtd_event row = ms_row(trace, 5, 50, 1);
	struct hwtd_memory_info info = { .size = sizeof(info) };
	struct hwtd_sample s = ms_access(ALPHA, true, 0x1000, 0, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		s.flags = flags[i];
		ms_add(memory, &row, &s);
	}
	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	assert_int_equal(info.samples, 5);
	assert_int_equal(info.used, 0);
	assert_int_equal(info.damaged, 1);
	assert_int_equal(info.duplicate, 1);
	assert_int_equal(info.truncated, 2);
	assert_int_equal(info.headless, 1);
	for (size_t i = 0; i < HWTD_MEMORY_TABLES; i++)
		assert_int_equal(info.rows[i], 0);
	/* That time went back is no damage. */
	s.flags = HWTD_SAMPLEF_COUNT_BACK;
	ms_add(memory, &row, &s);
	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	assert_int_equal(info.used, 1);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
no_source_is_not_source_0(void **state)
{
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 1u << HWTD_MEMORY_SOURCE);
	const struct hwtd_event row = ms_row(trace, 5, 50, 1);
	struct hwtd_memory_info info = { .size = sizeof(info) };
	struct hwtd_memory_row r;
	struct hwtd_sample s;

	(void)state;
	s = ms_access(ALPHA, false, 0x1000, MS_NO_SOURCE, 0);
	ms_add(memory, &row, &s);
	s = ms_access(ALPHA, false, 0x1000, 0, 0);
	ms_add(memory, &row, &s);
	/* Of a store it has no meaning: events say what level it was. */
	s = ms_access(ALPHA, true, 0x1000, 0,
	    MS_L1_ACCESS | MS_L1_MISS | MS_LLC_ACCESS);
	ms_add(memory, &row, &s);
	/* But an atomic store loads, too. */
	s = ms_access(ALPHA, true, 0x1000, 0x9, 0);
	s.op_flags |= HWTD_OPF_ATOMIC;
	ms_add(memory, &row, &s);
	assert_int_equal(count_rows(memory, HWTD_MEMORY_SOURCE), 4);
	r = ms_sorted(memory, HWTD_MEMORY_SOURCE, HWTD_MEMORY_BY_KEY, 0);
	assert_int_equal(r.flags, 0);
	assert_null(r.source_name);
	assert_int_equal(r.at_level[HWTD_MEMORY_LEVEL_L1], 0);
	r = ms_sorted(memory, HWTD_MEMORY_SOURCE, HWTD_MEMORY_BY_KEY, 1);
	assert_int_equal(r.flags, HWTD_MEMORY_ROW_SOURCE);
	assert_string_equal(r.source_name, "l1d");
	assert_int_equal(r.at_level[HWTD_MEMORY_LEVEL_L1], 1);
	r = ms_sorted(memory, HWTD_MEMORY_SOURCE, HWTD_MEMORY_BY_KEY, 2);
	assert_int_equal(r.flags,
	    HWTD_MEMORY_ROW_SOURCE | HWTD_MEMORY_ROW_STORES);
	assert_null(r.source_name);
	assert_int_equal(r.at_level[HWTD_MEMORY_LEVEL_L1], 0);
	assert_int_equal(r.at_level[HWTD_MEMORY_LEVEL_L3], 1);
	r = ms_sorted(memory, HWTD_MEMORY_SOURCE, HWTD_MEMORY_BY_KEY, 3);
	assert_string_equal(r.source_name, "peer-core");
	assert_int_equal(r.stores, 1);
	assert_int_equal(r.atomics, 1);
	assert_int_equal(r.transfers, 1);
	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	assert_int_equal(info.without_origin, 1);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
data_is_that_of_its_process(void **state)
{
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 0);
	const struct hwtd_event one = ms_row(trace, 5, 50, 1);
	const struct hwtd_event two = ms_row(trace, 6, 60, 1);
	struct hwtd_memory_row r;
	struct hwtd_sample s;

	(void)state;
	s = ms_access(ALPHA, false, 0x12345, 0, 0);
	ms_add(memory, &one, &s);
	ms_add(memory, &two, &s);
	s = ms_access(ALPHA, false, 0x12350, 0, 0);
	ms_add(memory, &one, &s);
	/* Of the kernel there is one. */
	s = ms_access(ALPHA, false, UINT64_C(0xffff000012345678), 0, 0);
	ms_add(memory, &one, &s);
	ms_add(memory, &two, &s);
	assert_int_equal(count_rows(memory, HWTD_MEMORY_ADDRESS), 4);
	assert_int_equal(count_rows(memory, HWTD_MEMORY_LINE), 3);
	assert_int_equal(count_rows(memory, HWTD_MEMORY_PAGE), 3);
	r = ms_sorted(memory, HWTD_MEMORY_PAGE, HWTD_MEMORY_BY_KEY, 0);
	assert_int_equal(r.address, 0x12000);
	assert_int_equal(r.pid, 5);
	assert_int_equal(r.samples, 2);
	r = ms_sorted(memory, HWTD_MEMORY_LINE, HWTD_MEMORY_BY_KEY, 0);
	assert_int_equal(r.address, 0x12340);
	r = ms_sorted(memory, HWTD_MEMORY_PAGE, HWTD_MEMORY_BY_KEY, 2);
	assert_int_equal(r.address, UINT64_C(0xffff000012345000));
	assert_int_equal(r.pid, NOBODY);
	assert_int_equal(r.samples, 2);
	r = ms_sorted(memory, HWTD_MEMORY_THREAD, HWTD_MEMORY_BY_SAMPLES, 0);
	assert_int_equal(r.pid, 5);
	assert_int_equal(r.tid, 50);
	assert_int_equal(r.samples, 3);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
branches_are_pairs(void **state)
{
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 0);
	const struct hwtd_event row = ms_row(trace, 5, 50, 1);
	struct hwtd_memory_row r;
	struct hwtd_sample s;

	(void)state;
	s = ms_branch(ALPHA, true, BETA, MS_MISPREDICTED);
	s.present |= HWTD_SAMPLE_PREV_TARGET;
	s.prev_target = ALPHA - 16;
	ms_add(memory, &row, &s);
	s.prev_target = ALPHA - 32;
	ms_add(memory, &row, &s);
	/* Where it would go, or 0, is not where it went. */
	s = ms_branch(ALPHA, false, 0, 0);
	ms_add(memory, &row, &s);
	s = ms_branch(ALPHA, false, BETA, 0);
	ms_add(memory, &row, &s);
	assert_int_equal(count_rows(memory, HWTD_MEMORY_BRANCH), 2);
	r = ms_sorted(memory, HWTD_MEMORY_BRANCH, HWTD_MEMORY_BY_MISPREDICTED,
	    0);
	assert_int_equal(r.address, ALPHA);
	assert_int_equal(r.to, BETA);
	assert_int_equal(r.flags,
	    HWTD_MEMORY_ROW_ADDRESS | HWTD_MEMORY_ROW_TO |
		HWTD_MEMORY_ROW_TAKEN);
	assert_int_equal(r.samples, 2);
	assert_int_equal(r.mispredicted, 2);
	r = ms_sorted(memory, HWTD_MEMORY_BRANCH, HWTD_MEMORY_BY_MISPREDICTED,
	    1);
	assert_int_equal(r.flags, HWTD_MEMORY_ROW_ADDRESS);
	assert_int_equal(r.samples, 2);
	assert_int_equal(count_rows(memory, HWTD_MEMORY_PATH), 2);
	r = ms_sorted(memory, HWTD_MEMORY_PATH, HWTD_MEMORY_BY_KEY, 0);
	assert_int_equal(r.prev_target, ALPHA - 32);
	assert_int_equal(r.address, ALPHA);
	assert_int_equal(r.to, BETA);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
use_line(struct hwtd_memory *memory, const struct hwtd_event *row, uint64_t va,
    bool store, uint32_t source)
{
	struct hwtd_sample s = ms_access(ALPHA + va % 64, store, va, source,
	    0);

	ms_latency(&s, 50, 10);
	ms_add(memory, row, &s);
}

static void
lines_that_are_shared_come_first(void **state)
{
	static const struct {
		uint64_t line;
		uint32_t sharing, users, writers, cpus, transfers;
	} want[] = {
		{ 0x1000, HWTD_MEMORY_SHARING_FALSE, 2, 2, 2, 3 },
		{ 0x2000, HWTD_MEMORY_SHARING_TRUE, 2, 1, 2, 1 },
		{ 0x3000, HWTD_MEMORY_SHARING_MIXED, 2, 2, 1, 0 },
		/* What is used most, by one, or only read, comes behind. */
		{ 0x4000, HWTD_MEMORY_SHARING_NONE, 2, 0, 2, 1 },
		{ 0x5000, HWTD_MEMORY_SHARING_NONE, 1, 1, 2, 0 },
	};
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 0);
	const struct hwtd_event a = ms_row(trace, 5, 50, 1);
	const struct hwtd_event a_elsewhere = ms_row(trace, 5, 50, 2);
	const struct hwtd_event b = ms_row(trace, 5, 51, 2);
	const struct hwtd_event b_here = ms_row(trace, 5, 51, 1);
	struct hwtd_memory_access accesses[8];
	struct hwtd_memory_row r;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 20; i++) {
		use_line(memory, &a, 0x5000, true, 0);
		use_line(memory, &a_elsewhere, 0x5008, false, 0);
		use_line(memory, &a, 0x4000, false, 0);
	}
	use_line(memory, &b, 0x4000, false, 9);
	use_line(memory, &a, 0x1000, true, 0);
	use_line(memory, &a, 0x1000, false, 9);
	use_line(memory, &b, 0x1008, true, 0);
	use_line(memory, &b, 0x1008, false, 9);
	use_line(memory, &b, 0x1008, false, 0xa);
	use_line(memory, &a, 0x2000, true, 0);
	use_line(memory, &b, 0x2000, false, 9);
	use_line(memory, &a, 0x3000, true, 0);
	use_line(memory, &b_here, 0x3000, true, 0);
	use_line(memory, &b_here, 0x3020, true, 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		r = ms_sorted(memory, HWTD_MEMORY_LINE, HWTD_MEMORY_BY_SHARING,
		    i);
		print_message("line %#llx\n", (unsigned long long)r.address);
		assert_int_equal(r.address, want[i].line);
		assert_int_equal(r.sharing, want[i].sharing);
		assert_int_equal(r.users, want[i].users);
		assert_int_equal(r.writers, want[i].writers);
		assert_int_equal(r.cpus, want[i].cpus);
		assert_int_equal(r.transfers, want[i].transfers);
	}
	assert_int_equal(hwtd_memory_accesses(memory, 0, 0, accesses,
			     sizeof(accesses[0]), 8, &n),
	    HWTD_OK);
	assert_int_equal(n, 5);
	assert_int_equal(accesses[0].offset, 0);
	assert_int_equal(accesses[0].tid, 50);
	assert_int_equal(accesses[4].offset, 8);
	assert_int_equal(accesses[4].tid, 51);
	assert_int_equal(accesses[4].cpu, 2);
	assert_int_equal(accesses[4].pc, ALPHA + 8);
	assert_string_equal(accesses[4].symbol, "alpha");
	assert_int_equal(accesses[4].symbol_off, 8);
	assert_int_equal(accesses[4].source, 0xa);
	assert_int_equal(accesses[4].transfers, 1);
	assert_int_equal(accesses[4].latency, 50);
	assert_int_equal(hwtd_memory_accesses(memory, 0, 5, accesses,
			     sizeof(accesses[0]), 8, &n),
	    HWTD_END);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
cpus_stand_for_threads_that_are_not_known(void **state)
{
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 0);
	const struct hwtd_event a = ms_row(trace, NOBODY, NOBODY, 1);
	const struct hwtd_event b = ms_row(trace, NOBODY, NOBODY, 2);
	struct hwtd_memory_row r;

	(void)state;
	use_line(memory, &a, 0x1000, true, 0);
	use_line(memory, &b, 0x1008, false, 0);
	r = ms_sorted(memory, HWTD_MEMORY_LINE, HWTD_MEMORY_BY_SHARING, 0);
	assert_int_equal(r.users, 2);
	assert_int_equal(r.sharing, HWTD_MEMORY_SHARING_FALSE);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
what_has_no_room_is_one_row(void **state)
{
	const struct hwtd_memory_options o = {
		.size = sizeof(o),
		.flags = HWTD_MEMORY_KEEP_ACCESSES,
		.max_rows = 3,
		.max_accesses = 2,
	};
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory_info info = { .size = sizeof(info) };
	const struct hwtd_event row = ms_row(trace, 5, 50, 1);
	struct hwtd_memory *memory;
	struct hwtd_memory_row r;

	(void)state;
	assert_int_equal(hwtd_memory_open(trace, &o, &memory, NULL), HWTD_OK);
	for (uint64_t i = 0; i < 10; i++)
		use_line(memory, &row, 0x1000 * (i + 1), false, 0);
	assert_int_equal(hwtd_memory_info(memory, &info), HWTD_OK);
	assert_int_equal(info.rows[HWTD_MEMORY_ADDRESS], 4);
	assert_true((info.flags & HWTD_MEMORY_INFO_FULL) != 0);
	assert_true((info.flags & HWTD_MEMORY_INFO_NO_MIDR) != 0);
	assert_int_equal(info.accesses_lost, 8);
	assert_int_equal(info.unweighted, 10);
	/* It is the last, however many there are. */
	r = ms_sorted(memory, HWTD_MEMORY_ADDRESS, HWTD_MEMORY_BY_SAMPLES, 3);
	assert_int_equal(r.flags, HWTD_MEMORY_ROW_OTHER);
	assert_int_equal(r.samples, 7);
	assert_int_equal(r.weight, 0);
	hwtd_memory_close(memory);
	hwtd_trace_close(trace);
}

static void
wrong_calls_are_refused(void **state)
{
	struct hwtd_trace *trace = ms_trace();
	struct hwtd_memory *memory = ms_open(trace, 1u << HWTD_MEMORY_CPU);
	struct hwtd_memory_options o = { .size = sizeof(o), .line_bytes = 48 };
	struct hwtd_event row = ms_row(trace, 5, 50, 1);
	const struct hwtd_sample s = ms_access(ALPHA, true, 0, 0, 0);
	struct hwtd_memory *other;
	struct hwtd_memory_row r;
	size_t n;

	(void)state;
	assert_int_equal(hwtd_memory_open(trace, &o, &other, NULL),
	    HWTD_E_INVALID);
	o = (struct hwtd_memory_options){ .size = sizeof(o),
		.tables = 1u << HWTD_MEMORY_TABLES };
	assert_int_equal(hwtd_memory_open(trace, &o, &other, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_memory_open(NULL, NULL, &other, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_memory_read(memory, HWTD_MEMORY_CPU, 0, &r,
			     sizeof(r), 1, &n),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_memory_sort(memory, HWTD_MEMORY_LINE, 0, NULL),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_memory_sort(memory, HWTD_MEMORY_CPU,
			     HWTD_MEMORY_BY_SHARING, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_memory_merge(memory, memory, NULL),
	    HWTD_E_INVALID);
	row.kind = HWTD_EV_GAP;
	assert_int_equal(hwtd_memory_add(memory, &row, &s, NULL),
	    HWTD_E_INVALID);
	row.kind = HWTD_EV_SAMPLE;
	ms_add(memory, &row, &s);
	assert_int_equal(hwtd_memory_sort(memory, HWTD_MEMORY_CPU,
			     HWTD_MEMORY_BY_KEY, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_memory_read(memory, HWTD_MEMORY_CPU, 0, &r, 12,
			     1, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_memory_read(memory, HWTD_MEMORY_CPU, 1, &r,
			     sizeof(r), 1, &n),
	    HWTD_END);
	/* Added to: what was sorted does not hold any more. */
	ms_add(memory, &row, &s);
	assert_int_equal(hwtd_memory_read(memory, HWTD_MEMORY_CPU, 0, &r,
			     sizeof(r), 1, &n),
	    HWTD_E_STATE);
	hwtd_memory_close(memory);
	hwtd_memory_close(NULL);
	hwtd_trace_close(trace);
}

/* Source: Neoverse N1 Software Developer Errata Notice, erratum 1694299. */
static void
the_bias_of_n1_is_fixed_in_r4p1(void **state)
{
	(void)state;
	assert_true(hwtdi_memory_has_branch_bias(0x410fd0c0));
	assert_true(hwtdi_memory_has_branch_bias(0x413fd0c1));
	assert_true(hwtdi_memory_has_branch_bias(0x414fd0c0));
	assert_false(hwtdi_memory_has_branch_bias(0x414fd0c1));
	assert_false(hwtdi_memory_has_branch_bias(0x410fd400));
	assert_false(hwtdi_memory_has_branch_bias(0x480fd010));
	assert_false(hwtdi_memory_has_branch_bias(0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    samples_are_added_up_by_function_and_instruction),
		cmocka_unit_test(what_is_at_a_limit_is_not_averaged),
		cmocka_unit_test(samples_that_are_not_whole_are_only_counted),
		cmocka_unit_test(no_source_is_not_source_0),
		cmocka_unit_test(data_is_that_of_its_process),
		cmocka_unit_test(branches_are_pairs),
		cmocka_unit_test(lines_that_are_shared_come_first),
		cmocka_unit_test(cpus_stand_for_threads_that_are_not_known),
		cmocka_unit_test(what_has_no_room_is_one_row),
		cmocka_unit_test(wrong_calls_are_refused),
		cmocka_unit_test(the_bias_of_n1_is_fixed_in_r4p1),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
