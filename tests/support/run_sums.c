/*
 * What runs have to say, added up from rows of single instructions.
 */
#include "support/run_sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS 1024
#define UNSORTED 100000

/* Sums. */

static int
compare(const void *x, const void *y)
{
	const struct run_sum *a = x, *b = y;

	if (a->section != b->section)
		return (a->section < b->section ? -1 : 1);
	if (a->isa != b->isa)
		return (a->isa < b->isa ? -1 : 1);
	if (a->a != b->a)
		return (a->a < b->a ? -1 : 1);
	if (a->b != b->b)
		return (a->b < b->b ? -1 : 1);
	if (a->branch != b->branch)
		return (a->branch < b->branch ? -1 : 1);
	return (0);
}

static void
settle(struct run_sum_list *list)
{
	size_t n = 0;

	if (list->n > 1)
		qsort(list->at, list->n, sizeof(*list->at), compare);
	for (size_t i = 0; i < list->n; i++)
		if (n > 0 && compare(&list->at[n - 1], &list->at[i]) == 0)
			list->at[n - 1].count += list->at[i].count;
		else
			list->at[n++] = list->at[i];
	list->n = n;
	list->sorted = n;
}

static void
add(struct run_sum_list *list, const struct run_sum *sum)
{
	if (list->n - list->sorted >= UNSORTED)
		settle(list);
	if (list->n == list->cap) {
		list->cap = list->cap * 2 + 1000;
		list->at = realloc(list->at, list->cap * sizeof(*list->at));
		assert_non_null(list->at);
	}
	list->at[list->n++] = *sum;
}

static void
add_row(struct run_sums *sums, const struct hwtd_event *row)
{
	struct run_sum sum = { .a = row->ip,
		.b = row->bytes,
		.count = 1,
		.section = row->section,
		.branch = row->branch,
		.isa = (row->flags & HWTD_EVF_ISA_MASK) >>
		    HWTD_EVF_ISA_SHIFT };

	sums->n_insns++;
	add(&sums->insns, &sum);
	if (row->branch == HWTD_BRANCH_NONE ||
	    (row->flags & HWTD_EVF_TARGET) == 0)
		return;
	sum.b = row->target;
	sum.isa = 0;
	add(&sums->edges, &sum);
}

void
run_sums_make(struct hwtd_trace *trace, const struct hwtd_events_options *opts,
    struct run_sums *out)
{
	static struct hwtd_event rows[ROWS];
	struct hwtd_events_options o = { .size = sizeof(o) };
	struct hwtd_batch b = { .size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev;
	int rc;

	memset(out, 0, sizeof(*out));
	if (opts != NULL)
		o = *opts;
	o.level = HWTD_LEVEL_INSN;
	o.kinds = 0;
	assert_int_equal(hwtd_events_open(trace, &o, &ev, &err), HWTD_OK);
	while ((rc = hwtd_events_read(ev, &b, &err)) == HWTD_OK)
		for (size_t i = 0; i < b.n; i++)
			if (rows[i].kind == HWTD_EV_INSN)
				add_row(out, &rows[i]);
			else if (rows[i].kind == HWTD_EV_GAP) {
				const struct hwtd_gap
				    *gap = &b.gaps[rows[i].value];

				out->gaps[gap->reason]++;
				out->gap_bytes += gap->end - gap->first;
			}
	if (rc != HWTD_END)
		fail_msg("%s", err.message);
	hwtd_events_close(ev);
	settle(&out->insns);
	settle(&out->edges);
}

void
run_sums_free(struct run_sums *sums)
{
	free(sums->insns.at);
	free(sums->edges.at);
	memset(sums, 0, sizeof(*sums));
}

/* Runs. */

struct hwtd_runs *
run_sums_count(struct hwtd_trace *trace, uint32_t flags,
    const struct hwtd_events_options *opts)
{
	const struct hwtd_runs_options o = { .size = sizeof(o),
		.flags = flags,
		.events = opts };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs;
	int rc = hwtd_runs_open(trace, &o, &runs, &err);

	if (rc != HWTD_OK)
		fail_msg("%s", err.message);
	while ((rc = hwtd_runs_count(runs, &err)) == HWTD_OK)
		continue;
	if (rc != HWTD_END)
		fail_msg("%s", err.message);
	return (runs);
}

/* The sum that has these first members, and was not told yet; or NULL. */
static struct run_sum *
find(const struct run_sum_list *list, uint32_t section, uint32_t isa,
    uint64_t a, uint64_t count)
{
	const struct run_sum key = { .a = a, .section = section, .isa = isa };
	size_t low = 0, high = list->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (compare(&list->at[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < list->n && list->at[low].a == a &&
	     list->at[low].section == section && list->at[low].isa == isa;
	     low++)
		if (!list->at[low].told && list->at[low].count == count)
			return (&list->at[low]);
	return (NULL);
}

static void
check_run(struct run_sums *sums, const struct hwtd_run *run)
{
	uint64_t at = run->address, last_bytes = 0;

	assert_true(run->insns > 0);
	for (uint32_t i = 0; i < run->insns; i++) {
		struct run_sum *sum = find(&sums->insns, run->section,
		    run->isa, at, run->count);

		if (sum == NULL)
			fail_msg("%llx of run %llx, %llu times, is in no row",
			    (unsigned long long)at,
			    (unsigned long long)run->address,
			    (unsigned long long)run->count);
		sum->told = 1;
		last_bytes = sum->b;
		at += last_bytes;
		assert_int_equal(sum->branch,
		    i + 1 < run->insns ? (uint32_t)HWTD_BRANCH_NONE
				       : run->branch);
	}
	assert_int_equal(at - run->address, run->bytes);
	assert_int_equal(run->last_bytes, last_bytes);
}

/* Two runs that should be one. */
static bool
is_cut_in_two(const struct hwtd_run *a, const struct hwtd_run *b)
{
	return (a->address + a->bytes == b->address &&
	    a->section == b->section && a->isa == b->isa &&
	    a->count == b->count && a->branch == HWTD_BRANCH_NONE);
}

static uint64_t
check_runs(struct run_sums *sums, const struct hwtd_runs *runs,
    const struct hwtd_runs_info *info)
{
	struct hwtd_run got[7], before = { 0 }, before2 = { 0 };
	uint64_t first = 0, insns = 0;
	size_t n;

	while (hwtd_runs_read(runs, first, got, sizeof(got[0]), 7, &n) ==
	    HWTD_OK) {
		for (size_t i = 0; i < n; i++) {
			check_run(sums, &got[i]);
			insns += got[i].insns * got[i].count;
			assert_true(first + i == 0 ||
			    got[i].address >= before.address);
			/* Where fronts meet there is a cut. */
			if (first + i > 0 &&
			    before2.address + before2.bytes <= before.address)
				assert_false(is_cut_in_two(&before, &got[i]));
			before2 = before;
			before = got[i];
		}
		first += n;
	}
	assert_int_equal(first, info->n_runs);
	for (size_t i = 0; i < sums->insns.n; i++)
		if (!sums->insns.at[i].told)
			fail_msg("%llx, %llu times, is in no run",
			    (unsigned long long)sums->insns.at[i].a,
			    (unsigned long long)sums->insns.at[i].count);
	return (insns);
}

/* Some instruction begins there. */
static bool
is_executed(const struct run_sums *sums, uint32_t section, uint64_t ip)
{
	for (size_t i = 0; i < sums->insns.n; i++)
		if (sums->insns.at[i].section == section &&
		    sums->insns.at[i].a == ip)
			return (true);
	return (false);
}

static void
check_edges(const struct run_sums *sums, const struct hwtd_runs *runs,
    const struct hwtd_runs_info *info)
{
	struct run_sum_list told = { 0 };
	struct hwtd_edge got[5];
	uint64_t first = 0;
	size_t n;

	while (hwtd_runs_edges(runs, first, got, sizeof(got[0]), 5, &n) ==
	    HWTD_OK) {
		for (size_t i = 0; i < n; i++) {
			const struct run_sum sum = { .a = got[i].from,
				.b = got[i].to,
				.count = got[i].count,
				.section = got[i].from_section,
				.branch = got[i].branch };

			assert_int_equal(got[i].reserved, 0);
			if (got[i].to_section != HWTD_NO_ID)
				assert_true(is_executed(sums,
				    got[i].to_section, got[i].to));
			add(&told, &sum);
		}
		first += n;
	}
	assert_int_equal(first, info->n_edges);
	settle(&told);
	for (size_t i = 0; i < told.n && i < sums->edges.n; i++)
		if (compare(&told.at[i], &sums->edges.at[i]) != 0 ||
		    told.at[i].count != sums->edges.at[i].count)
			fail_msg("edge %llx to %llx, %llu times; rows: %llx "
				 "to %llx, %llu",
			    (unsigned long long)told.at[i].a,
			    (unsigned long long)told.at[i].b,
			    (unsigned long long)told.at[i].count,
			    (unsigned long long)sums->edges.at[i].a,
			    (unsigned long long)sums->edges.at[i].b,
			    (unsigned long long)sums->edges.at[i].count);
	assert_int_equal(told.n, sums->edges.n);
	free(told.at);
}

void
run_sums_assert(struct run_sums *sums, const struct hwtd_runs *runs,
    bool edges)
{
	struct hwtd_runs_info info = { .size = sizeof(info) };
	uint64_t insns;

	assert_int_equal(hwtd_runs_info(runs, &info), HWTD_OK);
	assert_int_equal(info.done, 1);
	for (size_t i = 0; i < sums->insns.n; i++)
		sums->insns.at[i].told = 0;
	insns = check_runs(sums, runs, &info);
	assert_int_equal(insns, sums->n_insns);
	assert_int_equal(info.insns, sums->n_insns);
	if (edges)
		check_edges(sums, runs, &info);
	else
		assert_int_equal(info.n_edges, 0);
	assert_int_equal(info.gap_bytes, sums->gap_bytes);
	assert_memory_equal(info.gaps, sums->gaps, sizeof(info.gaps));
}

void
run_sums_assert_same(const struct hwtd_runs *a, const struct hwtd_runs *b)
{
	struct hwtd_edge ea[9], eb[9];
	struct hwtd_run ra[9], rb[9];
	size_t na, nb;

	for (uint64_t first = 0;; first += na) {
		(void)hwtd_runs_read(a, first, ra, sizeof(ra[0]), 9, &na);
		(void)hwtd_runs_read(b, first, rb, sizeof(rb[0]), 9, &nb);
		assert_int_equal(na, nb);
		if (na == 0)
			break;
		assert_memory_equal(ra, rb, na * sizeof(ra[0]));
	}
	for (uint64_t first = 0;; first += na) {
		(void)hwtd_runs_edges(a, first, ea, sizeof(ea[0]), 9, &na);
		(void)hwtd_runs_edges(b, first, eb, sizeof(eb[0]), 9, &nb);
		assert_int_equal(na, nb);
		if (na == 0)
			break;
		assert_memory_equal(ea, eb, na * sizeof(ea[0]));
	}
}
