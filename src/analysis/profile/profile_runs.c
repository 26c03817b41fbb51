/*
 * Counts of code go into a profile, and where its branches went.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/profile_code.h"
#include "analysis/runs/run_source.h"
#include "base/fail.h"
#include "trace/symbolizer.h"

/* Runs and edges that one step names. */
#define STEP 2048u
/* Sections that are looked at for one address. */
#define MAX_SECTIONS 64u

struct span {
	uint64_t first, last;
	/* The last byte of all up to this one. */
	uint64_t reach;
	uint32_t section;
};

enum state {
	COUNT,
	NAME,
	LINK,
	DONE
};

struct adding {
	struct hwtdi_profile_adding head;
	struct hwtd_runs *counted;
	struct hwtd_symbolizer *symbolizer;
	struct hwtdi_profile_coder coder;
	enum state state;
	/* All runs, and functions of their first and last instruction. */
	struct hwtd_run *runs;
	uint32_t *firsts, *lasts;
	size_t n_runs, cap_runs, cap_firsts, cap_lasts;
	uint64_t next;
	/* Sections by address. */
	struct span *spans;
	size_t n_spans;
	struct hwtd_edge edges[STEP];
};

/* Where a branch leads to code that was not seen to run. */

static int
compare_spans(const void *va, const void *vb)
{
	const struct span *a = va, *b = vb;

	if (a->first != b->first)
		return (a->first < b->first ? -1 : 1);
	return (a->section < b->section ? -1 : a->section > b->section);
}

static int
make_spans(struct adding *a, struct hwtd_profile *p, struct hwtd_error *err)
{
	const size_t n = a->coder.names.n_sections;
	uint64_t reach = 0;

	if (n == 0)
		return (HWTD_OK);
	a->spans = hwtdi_alloc(p->library, n * sizeof(*a->spans));
	if (a->spans == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*a->spans)));
	a->n_spans = n;
	for (size_t i = 0; i < n; i++) {
		struct hwtd_section s = { .size = sizeof(s) };

		(void)hwtd_trace_section(a->coder.names.trace, (uint32_t)i,
		    &s);
		a->spans[i] = (struct span){ .first = s.address,
			.last = s.address + (s.length - 1),
			.section = (uint32_t)i };
	}
	qsort(a->spans, n, sizeof(*a->spans), compare_spans);
	for (size_t i = 0; i < n; i++) {
		if (a->spans[i].last > reach)
			reach = a->spans[i].last;
		a->spans[i].reach = reach;
	}
	return (HWTD_OK);
}

/*
 * The section of an address, where all that have it are of the same place of the
 * same image; else HWTD_NO_ID.  So the answer does not depend on what ran.
 */
static int
find_section(struct adding *a, uint64_t address, uint32_t *out,
    struct hwtd_error *err)
{
	struct hwtdi_profile_section *s, *found = NULL;
	size_t low = 0, high = a->n_spans;
	size_t looked_at = 0;
	int rc;

	*out = HWTD_NO_ID;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (a->spans[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && a->spans[i - 1].reach >= address; i--) {
		if (a->spans[i - 1].last < address)
			continue;
		rc = hwtdi_profile_names_section(&a->coder.names,
		    a->spans[i - 1].section, &s, err);
		if (rc != HWTD_OK)
			return (rc);
		if (++looked_at > MAX_SECTIONS ||
		    (found != NULL &&
			(s == NULL || s->image != found->image ||
			    s->shift != found->shift))) {
			*out = HWTD_NO_ID;
			return (HWTD_OK);
		}
		found = s;
		*out = a->spans[i - 1].section;
	}
	return (HWTD_OK);
}

/* Branches. */

/* The first run at or behind an address of a section; they are in that order. */
static size_t
run_at(const struct adding *a, uint64_t address, uint32_t section)
{
	size_t low = 0, high = a->n_runs;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct hwtd_run *run = &a->runs[middle];

		if (run->address < address ||
		    (run->address == address && run->section < section))
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

/* The function that a branch leads to. */
static int
function_to(struct adding *a, uint32_t section, uint64_t to, uint32_t *out,
    struct hwtd_error *err)
{
	const size_t at = run_at(a, to, section);
	struct hwtdi_profile_named named;
	int rc;

	if (at < a->n_runs && a->runs[at].address == to &&
	    a->runs[at].section == section) {
		*out = a->firsts[at];
		return (HWTD_OK);
	}
	rc = hwtdi_profile_coder_name(&a->coder, section, to, &named, err);
	*out = named.function;
	return (rc);
}

/* The one that it is in: it is the last instruction of a run, mostly. */
static int
function_from(struct adding *a, uint32_t section, uint64_t from, uint32_t *out,
    struct hwtd_error *err)
{
	struct hwtdi_profile_named named;
	const size_t at = run_at(a, from, section);
	int rc;

	for (size_t i = at < a->n_runs ? at + 1 : at; i > 0 && i + 4 > at;
	     i--) {
		const struct hwtd_run *run = &a->runs[i - 1];

		if (run->section == section &&
		    from - run->address < run->bytes &&
		    a->firsts[i - 1] == a->lasts[i - 1]) {
			*out = a->lasts[i - 1];
			return (HWTD_OK);
		}
	}
	rc = hwtdi_profile_coder_name(&a->coder, section, from, &named, err);
	*out = named.function;
	return (rc);
}

static int
add_edge(struct adding *a, struct hwtd_profile *p, const struct hwtd_edge *e,
    struct hwtd_error *err)
{
	struct hwtd_profile_edge edge = { .from_image = HWTD_NO_ID,
		.to_image = HWTD_NO_ID,
		.from_off = e->from,
		.to_off = e->to,
		.count = e->count,
		.from_function = HWTD_NO_ID,
		.to_function = HWTD_NO_ID,
		.branch = e->branch };
	uint32_t to_section = e->to_section;
	struct hwtdi_profile_section *s;
	int rc;

	rc = hwtdi_profile_names_section(&a->coder.names, e->from_section, &s,
	    err);
	if (rc == HWTD_OK && s != NULL) {
		edge.from_image = s->image;
		edge.from_off += s->shift;
		rc = function_from(a, e->from_section, e->from,
		    &edge.from_function, err);
	}
	if (rc == HWTD_OK && to_section == HWTD_NO_ID)
		rc = find_section(a, e->to, &to_section, err);
	if (rc == HWTD_OK)
		rc = hwtdi_profile_names_section(&a->coder.names, to_section,
		    &s, err);
	if (rc == HWTD_OK && s != NULL) {
		edge.to_image = s->image;
		edge.to_off += s->shift;
		rc = function_to(a, to_section, e->to, &edge.to_function, err);
	}
	if (rc != HWTD_OK)
		return (rc);
	if (edge.to_function != HWTD_NO_ID &&
	    edge.to_off == p->functions[edge.to_function].file_off)
		edge.flags |= HWTD_PROFILE_EDGEF_TO_START;
	return (hwtdi_profile_add_edge(p, &edge, err));
}

/* Steps. */

static void
add_seen(struct hwtd_profile *p, const struct hwtd_runs *counted)
{
	struct hwtd_profile_seen seen = { .added = 1 };
	struct hwtd_runs_info info = { .size = sizeof(info) };

	if (hwtd_runs_info(counted, &info) != HWTD_OK)
		return;
	seen.bytes = info.bytes;
	seen.insns = info.insns;
	seen.gap_bytes = info.gap_bytes;
	seen.file_gap_bytes = info.file_gap_bytes;
	memcpy(seen.gaps, info.gaps, sizeof(seen.gaps));
	memcpy(seen.gap_bytes_by_reason, info.gap_bytes_by_reason,
	    sizeof(seen.gap_bytes_by_reason));
	hwtdi_profile_add_seen(p, HWTD_PROFILE_RUNS, &seen);
}

/* All is counted: have the runs in one place. */
static int
take_runs(struct adding *a, struct hwtd_profile *p, struct hwtd_error *err)
{
	struct hwtd_runs_info info = { .size = sizeof(info) };
	size_t n;
	int rc;

	(void)hwtd_runs_info(a->counted, &info);
	n = (size_t)info.n_runs;
	a->state = NAME;
	if (n == 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(p->library, &a->runs, &a->cap_runs, n,
	    sizeof(*a->runs), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &a->firsts, &a->cap_firsts,
		    n, sizeof(*a->firsts), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(p->library, &a->lasts, &a->cap_lasts, n,
		    sizeof(*a->lasts), err);
	return (rc == HWTD_OK ? hwtd_runs_read(a->counted, 0, a->runs,
				    sizeof(*a->runs), n, &a->n_runs)
			      : rc);
}

static int
name_some(struct adding *a, struct hwtd_profile *p, struct hwtd_error *err)
{
	const size_t at = (size_t)a->next;
	const size_t n = a->n_runs - at < STEP ? a->n_runs - at : STEP;
	int rc;

	if (n == 0) {
		a->next = 0;
		a->state = LINK;
		return (make_spans(a, p, err));
	}
	rc = hwtdi_profile_coder_add(&a->coder, a->runs + at, n,
	    a->firsts + at, a->lasts + at, err);
	a->next += n;
	return (rc);
}

static int
link_some(struct adding *a, struct hwtd_profile *p, struct hwtd_error *err)
{
	size_t n;
	int rc = hwtd_runs_edges(a->counted, a->next, a->edges,
	    sizeof(a->edges[0]), STEP, &n);

	for (size_t i = 0; i < n && rc == HWTD_OK; i++)
		rc = add_edge(a, p, &a->edges[i], err);
	a->next += n;
	return (rc);
}

/* All that is left of what was counted.  HWTD_OK if nothing is. */
static int
name_rest(struct adding *a, struct hwtd_profile *p, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK)
		rc = a->state == NAME ? name_some(a, p, err)
				      : link_some(a, p, err);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

/* Code that was counted is added as a whole, or else not at all. */
static int
end(struct hwtd_profile *p, struct hwtdi_profile_adding *head, bool keep,
    struct hwtd_error *err)
{
	struct adding *a = (struct adding *)(void *)head;
	struct hwtd_context *library = p->library;
	int rc = HWTD_OK;

	if (keep && a->state != COUNT) {
		rc = a->state != DONE ? name_rest(a, p, err) : HWTD_OK;
		if (rc == HWTD_OK)
			add_seen(p, a->counted);
	}
	hwtdi_profile_coder_fini(&a->coder);
	hwtd_symbolizer_close(a->symbolizer);
	hwtd_runs_close(a->counted);
	hwtdi_array_free(library, a->runs, a->cap_runs, sizeof(*a->runs));
	hwtdi_array_free(library, a->firsts, a->cap_firsts,
	    sizeof(*a->firsts));
	hwtdi_array_free(library, a->lasts, a->cap_lasts, sizeof(*a->lasts));
	hwtdi_free(library, a->spans, a->n_spans * sizeof(*a->spans));
	hwtdi_free(library, a, sizeof(*a));
	return (rc);
}

static int
begin(struct hwtd_profile *p, struct hwtd_runs *counted,
    struct hwtd_symbolizer *symbolizer, struct hwtd_error *err)
{
	const struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
		.flags = (p->options.flags & HWTD_PROFILE_LINES) != 0
		    ? 0
		    : HWTD_SYMBOLIZER_NO_LINES };
	struct hwtd_trace *trace = hwtdi_runs_trace(counted);
	struct adding *a;
	int rc = HWTD_OK;

	a = hwtdi_zalloc(p->library, sizeof(*a));
	if (a == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*a)));
	a->head.by = counted;
	a->head.end = end;
	a->counted = hwtdi_runs_hold(counted);
	if ((p->options.flags & HWTD_PROFILE_NO_SYMBOLS) != 0)
		symbolizer = NULL;
	else if (symbolizer == NULL)
		rc = hwtd_symbolizer_open(trace, &opts, &a->symbolizer, err);
	else
		a->symbolizer = hwtdi_symbolizer_hold(symbolizer);
	if (rc == HWTD_OK)
		rc = hwtdi_profile_coder_init(&a->coder, p, trace,
		    a->symbolizer, err);
	if (rc != HWTD_OK) {
		(void)end(p, &a->head, false, NULL);
		return (rc);
	}
	p->adding = &a->head;
	return (HWTD_OK);
}

static int
work(struct hwtd_profile *p, struct adding *a, struct hwtd_error *err)
{
	int rc;

	switch (a->state) {
	case COUNT:
		rc = hwtd_runs_count(a->counted, err);
		return (rc == HWTD_END ? take_runs(a, p, err) : rc);
	case NAME:
		return (name_some(a, p, err));
	default:
		rc = link_some(a, p, err);
		if (rc != HWTD_END)
			return (rc);
		a->state = DONE;
		p->adding = NULL;
		rc = end(p, &a->head, true, err);
		return (rc == HWTD_OK ? HWTD_END : rc);
	}
}

int
hwtd_profile_add_runs(struct hwtd_profile *p, struct hwtd_runs *runs,
    struct hwtd_symbolizer *symbolizer, struct hwtd_error *err)
{
	int rc;

	if (p == NULL || runs == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no profile or no runs"));
	rc = hwtdi_profile_begin(p, runs, err);
	if (rc == HWTD_OK && p->adding == NULL)
		rc = begin(p, runs, symbolizer, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = work(p, (struct adding *)(void *)p->adding, err);
	p->failed = rc < 0;
	return (rc);
}
