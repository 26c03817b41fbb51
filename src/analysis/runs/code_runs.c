/*
 * Runs out of stretches: stretches of the same code overlap, runs do not.
 *
 * A *front* is a place up to which code was passed, instruction by instruction,
 * with the stretches that go on there.  Mostly there is one.  Code that was
 * entered in the middle of an instruction is a front of its own, up to where
 * both agree again.
 */
#include <string.h>

#include "analysis/runs/code_counts.h"
#include "base/fail.h"

/* A run of so many bytes is not added to: what is added is less than the rest. */
#define MOST_BYTES (UINT32_MAX / 2)

struct front {
	uint64_t at;
	/* Stretches that go on here, one for each end, the nearest first. */
	struct hwtdi_stretch *first;
	/* The sum of their counts. */
	uint64_t count;
	/* Of the one that goes on furthest: what is left of it. */
	const uint8_t *lengths;
	uint32_t insns;
	uint64_t end;
	/* What was passed and can be added to. */
	struct hwtd_run run;
};

struct sweep {
	struct hwtdi_code_counts *counts;
	struct hwtd_error *err;
	/* Stretches in order, by address. */
	struct hwtdi_keyed *order;
	struct front *fronts;
	size_t n_fronts, cap_fronts;
	struct hwtd_run *runs;
	size_t n_runs, cap_runs;
};

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

static int
by_address(const struct hwtd_run *a, const struct hwtd_run *b)
{
	ORDER(a->address, b->address);
	ORDER(a->section, b->section);
	ORDER(a->isa, b->isa);
	ORDER(a->bytes, b->bytes);
	ORDER(a->insns, b->insns);
	ORDER(a->branch, b->branch);
	ORDER(a->count, b->count);
	return (0);
}

/* How far a stretch goes on; addresses may wrap. */
static uint64_t
ahead(const struct front *f, const struct hwtdi_stretch *s)
{
	return (s->ip + s->bytes - f->at);
}

/* The run at hand is a run. */
static int
close_run(struct sweep *w, struct front *f)
{
	int rc;

	if (f->run.insns == 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(w->counts->library, &w->runs, &w->cap_runs,
	    w->n_runs + 1, sizeof(*w->runs), w->err);
	if (rc != HWTD_OK)
		return (rc);
	w->runs[w->n_runs++] = f->run;
	f->run.insns = 0;
	return (HWTD_OK);
}

/* Have a stretch go on with others that have the same instructions. */
static void
add_to_list(struct front *f, struct hwtdi_stretch *s)
{
	struct hwtdi_stretch **at = &f->first;

	f->count += s->count;
	while (*at != NULL && ahead(f, *at) < ahead(f, s))
		at = &(*at)->next;
	if (*at != NULL && ahead(f, *at) == ahead(f, s)) {
		(*at)->count += s->count;
		if ((*at)->branch == HWTD_BRANCH_NONE)
			(*at)->branch = s->branch;
		return;
	}
	s->next = *at;
	*at = s;
}

/* A stretch of which so much is left goes on at the front. */
static bool
agrees(const struct front *f, const uint8_t *lengths, uint32_t insns)
{
	return (memcmp(f->lengths, lengths,
		    f->insns < insns ? f->insns : insns) == 0);
}

static void
reach(struct front *f, const uint8_t *lengths, uint32_t insns, uint64_t end)
{
	if (f->first != NULL && f->end - f->at >= end - f->at)
		return;
	f->lengths = lengths;
	f->insns = insns;
	f->end = end;
}

/* A stretch begins. */
static int
enter(struct sweep *w, struct hwtdi_stretch *s)
{
	struct front *f;
	size_t i = 0;
	int rc;

	while (i < w->n_fronts &&
	    (w->fronts[i].at != s->ip ||
		!agrees(&w->fronts[i], s->lengths, s->insns)))
		i++;
	if (i == w->n_fronts) {
		rc = hwtdi_array_grow(w->counts->library, &w->fronts,
		    &w->cap_fronts, i + 1, sizeof(*w->fronts), w->err);
		if (rc != HWTD_OK)
			return (rc);
		memset(&w->fronts[w->n_fronts++], 0, sizeof(*w->fronts));
		w->fronts[i].at = s->ip;
	}
	f = &w->fronts[i];
	reach(f, s->lengths, s->insns, s->ip + s->bytes);
	f->run.section = s->section;
	f->run.isa = s->isa;
	add_to_list(f, s);
	return (HWTD_OK);
}

/* Fronts that came to one place from different sides become one. */
static int
meet(struct sweep *w)
{
	for (size_t i = 0; i < w->n_fronts; i++)
		for (size_t k = i + 1; k < w->n_fronts; k++) {
			struct front *f = &w->fronts[i], *g = &w->fronts[k];
			struct hwtdi_stretch *s;
			int rc;

			if (f->at != g->at || !agrees(f, g->lengths, g->insns))
				continue;
			rc = close_run(w, f);
			if (rc == HWTD_OK)
				rc = close_run(w, g);
			if (rc != HWTD_OK)
				return (rc);
			reach(f, g->lengths, g->insns, g->end);
			while ((s = g->first) != NULL) {
				g->first = s->next;
				add_to_list(f, s);
			}
			*g = w->fronts[--w->n_fronts];
			k--;
		}
	return (HWTD_OK);
}

/* The run at hand goes on as it was, or another one is begun. */
static int
need_run(struct sweep *w, struct front *f)
{
	struct hwtd_run *run = &f->run;
	int rc = HWTD_OK;

	if (run->insns != 0 &&
	    (run->count != f->count || run->bytes > MOST_BYTES))
		rc = close_run(w, f);
	if (run->insns != 0)
		return (rc);
	run->address = f->at;
	run->count = f->count;
	run->bytes = 0;
	run->branch = HWTD_BRANCH_NONE;
	return (rc);
}

/*
 * Pass instructions: the first, and those that begin before `bytes` bytes and
 * before some stretch ends.
 */
static int
pass(struct sweep *w, struct front *f, uint64_t bytes)
{
	struct hwtdi_stretch *const s = f->first;
	struct hwtd_run *run = &f->run;
	const uint8_t *lengths = f->lengths;
	uint64_t passed = 0;
	int rc = need_run(w, f);

	if (rc != HWTD_OK)
		return (rc);
	if (bytes > ahead(f, s))
		bytes = ahead(f, s);
	do
		passed += *lengths++;
	while (passed < bytes);
	run->insns += (uint32_t)(lengths - f->lengths);
	run->bytes += (uint32_t)passed;
	run->last_bytes = lengths[-1];
	f->insns -= (uint32_t)(lengths - f->lengths);
	f->lengths = lengths;
	f->at += passed;
	if (ahead(f, s) != 0)
		return (HWTD_OK);
	f->first = s->next;
	f->count -= s->count;
	run->branch = s->branch;
	return (s->branch != HWTD_BRANCH_NONE ? close_run(w, f) : HWTD_OK);
}

/* Where the next instruction is. */
static uint64_t
next_place(const struct sweep *w, uint64_t start)
{
	uint64_t at = start;

	for (size_t i = 0; i < w->n_fronts; i++)
		if (w->fronts[i].at < at)
			at = w->fronts[i].at;
	return (at);
}

/* Go on with all fronts that are at a place; `bytes`: no stretch begins before. */
static int
go_on(struct sweep *w, uint64_t at, uint64_t bytes)
{
	int rc = HWTD_OK;

	/* Fronts can meet behind any instruction. */
	if (w->n_fronts > 1)
		bytes = 0;
	for (size_t i = 0; i < w->n_fronts && rc == HWTD_OK;) {
		struct front *f = &w->fronts[i];

		if (f->at == at && f->first == NULL) {
			/* Nothing went on where the last one ended. */
			rc = close_run(w, f);
			*f = w->fronts[--w->n_fronts];
			continue;
		}
		if (f->at == at)
			rc = pass(w, f, bytes);
		i++;
	}
	return (rc);
}

static struct hwtdi_stretch *
stretch_at(const struct sweep *w, size_t i)
{
	return (&w->counts->stretches[w->order[i].index]);
}

/*
 * A stretch that ends with a branch before the next one begins, which is at
 * `next`, is a run.  False: it is not so.
 */
static bool
is_run(const struct hwtdi_stretch *s, uint64_t next)
{
	return (s->branch != HWTD_BRANCH_NONE && next > s->ip &&
	    s->bytes <= next - s->ip);
}

static int
put_run(struct sweep *w, const struct hwtdi_stretch *s)
{
	int rc = hwtdi_array_grow(w->counts->library, &w->runs, &w->cap_runs,
	    w->n_runs + 1, sizeof(*w->runs), w->err);

	if (rc == HWTD_OK)
		w->runs[w->n_runs++] = (struct hwtd_run){ .address = s->ip,
			.count = s->count,
			.bytes = s->bytes,
			.insns = s->insns,
			.section = s->section,
			.branch = s->branch,
			.isa = s->isa,
			.last_bytes = s->lengths[s->insns - 1] };
	return (rc);
}

/* All stretches of one section and instruction set, by address, up to `n`. */
static int
sweep(struct sweep *w, size_t i, size_t n)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && (i < n || w->n_fronts > 0)) {
		const uint64_t at = next_place(w,
		    i < n ? w->order[i].key : UINT64_MAX);

		if (w->n_fronts == 0 && i + 1 < n &&
		    is_run(stretch_at(w, i), w->order[i + 1].key)) {
			rc = put_run(w, stretch_at(w, i++));
			continue;
		}
		for (; i < n && w->order[i].key == at && rc == HWTD_OK; i++)
			rc = enter(w, stretch_at(w, i));
		if (rc == HWTD_OK && w->n_fronts > 1)
			rc = meet(w);
		if (rc == HWTD_OK)
			rc = go_on(w, at,
			    i < n ? w->order[i].key - at : UINT64_MAX);
	}
	return (rc);
}

/* Of those at one address there are few. */
static void
sort_alike(struct hwtd_run *runs, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const struct hwtd_run run = runs[i];
		size_t k = i;

		for (; k > 0 && by_address(&runs[k - 1], &run) > 0; k--)
			runs[k] = runs[k - 1];
		runs[k] = run;
	}
}

/* Runs of several sections can come in any order. */
static int
sort_runs(struct sweep *w)
{
	const size_t n = w->n_runs, bytes = 2 * n * sizeof(*w->order);
	struct hwtd_context *library = w->counts->library;
	struct hwtdi_keyed *keys, *sorted;
	struct hwtd_run *runs;
	size_t i = 1;

	while (i < n && w->runs[i - 1].address <= w->runs[i].address)
		i++;
	if (i < n) {
		keys = hwtdi_alloc(library, bytes);
		runs = hwtdi_alloc(library, n * sizeof(*runs));
		if (keys == NULL || runs == NULL) {
			hwtdi_free(library, keys, bytes);
			hwtdi_free(library, runs, n * sizeof(*runs));
			return (hwtdi_fail_nomem(w->err, bytes));
		}
		for (i = 0; i < n; i++)
			keys[i] = (struct hwtdi_keyed){ w->runs[i].address,
				i };
		sorted = hwtdi_code_sort_keys(keys, keys + n, n);
		for (i = 0; i < n; i++)
			runs[i] = w->runs[sorted[i].index];
		hwtdi_free(library, keys, bytes);
		hwtdi_array_free(library, w->runs, w->cap_runs, sizeof(*runs));
		w->runs = runs;
		w->cap_runs = n;
	}
	sort_alike(w->runs, n);
	return (HWTD_OK);
}

/* Each section and instruction set by itself. */
static int
sweep_all(struct sweep *w)
{
	const size_t all = w->counts->n_stretches;
	int rc = HWTD_OK;

	for (size_t i = 0, n; i < all && rc == HWTD_OK; i = n) {
		const struct hwtdi_stretch *s = stretch_at(w, i);

		for (n = i + 1; n < all &&
		     stretch_at(w, n)->section == s->section &&
		     stretch_at(w, n)->isa == s->isa;)
			n++;
		rc = sweep(w, i, n);
	}
	return (rc);
}

int
hwtdi_code_runs(struct hwtdi_code_counts *c, struct hwtd_run **runs_out,
    size_t *n_out, size_t *cap_out, struct hwtd_error *err)
{
	struct sweep w = { .counts = c, .err = err };
	int rc = hwtdi_code_counts_order(c, &w.order, err);

	*runs_out = NULL;
	*n_out = 0;
	*cap_out = 0;
	if (rc != HWTD_OK)
		return (rc);
	/* That is mostly enough. */
	rc = hwtdi_array_grow(c->library, &w.runs, &w.cap_runs, c->n_stretches,
	    sizeof(*w.runs), err);
	if (rc == HWTD_OK)
		rc = sweep_all(&w);
	if (rc == HWTD_OK)
		rc = sort_runs(&w);
	hwtdi_free(c->library, w.order, 2 * c->n_stretches * sizeof(*w.order));
	hwtdi_array_free(c->library, w.fronts, w.cap_fronts,
	    sizeof(*w.fronts));
	*runs_out = w.runs;
	*n_out = w.n_runs;
	*cap_out = w.cap_runs;
	return (rc);
}
