/*
 * Adding a trace to a coverage, in steps: its counts, then one unit of debug
 * information after the other.
 */
#include <string.h>

#include "analysis/coverage/coverage_internal.h"
#include "analysis/coverage/coverage_unit.h"
#include "analysis/runs/run_source.h"
#include "base/fail.h"
#include "trace/symbolizer.h"
#include "trace/trace_internal.h"

#define BATCH 256

enum stage {
	STAGE_COUNT,
	STAGE_IMAGE,
	STAGE_UNITS,
	STAGE_SYMBOLS,
	STAGE_END
};

struct hwtdi_cov_adding {
	struct hwtd_context *library;
	const struct hwtd_coverage *coverage;
	struct hwtd_runs *runs;
	struct hwtd_trace *trace;
	struct hwtd_symbolizer *symbolizer;
	enum stage stage;
	struct hwtdi_cov_store part;
	/* By image of the trace: that of the part, or NO_ID. */
	uint32_t *images;
	size_t n_images;
	/* What is looked at: image of the trace, and unit. */
	uint32_t image;
	uint32_t unit;
	bool looking;
	struct hwtdi_cov_look look;
	struct hwtd_run run_rows[BATCH];
	struct hwtd_edge edge_rows[BATCH];
};

static int
open_symbols(struct hwtdi_cov_adding *a, struct hwtd_error *err)
{
	const struct hwtd_symbolizer_options o = { .size = sizeof(o),
		.flags = HWTD_SYMBOLIZER_RAW_NAMES |
		    ((a->coverage->flags & HWTD_COVERAGE_NO_LINES) != 0
			    ? HWTD_SYMBOLIZER_NO_LINES
			    : 0) |
		    ((a->coverage->flags & HWTD_COVERAGE_NO_DEBUG_FILES) != 0
			    ? HWTD_SYMBOLIZER_NO_DEBUG_FILES
			    : 0),
		.search = a->coverage->has_search ? &a->coverage->search.o
						  : NULL };

	return (hwtd_symbolizer_open(a->trace, &o, &a->symbolizer, err));
}

int
hwtdi_cov_adding_create(const struct hwtd_coverage *coverage,
    struct hwtd_runs *runs, struct hwtdi_cov_adding **out,
    struct hwtd_error *err)
{
	struct hwtdi_cov_adding *a;
	int rc;

	if (!hwtdi_runs_have_edges(runs))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "the runs have no edges; open them with HWTD_RUNS_EDGES"));
	a = hwtdi_zalloc(coverage->library, sizeof(*a));
	if (a == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*a)));
	a->library = coverage->library;
	a->coverage = coverage;
	a->runs = hwtdi_runs_hold(runs);
	a->trace = hwtdi_trace_hold(hwtdi_runs_trace(runs));
	a->part.library = a->library;
	a->n_images = a->trace->n_images;
	a->images = hwtdi_alloc(a->library, a->n_images * sizeof(*a->images));
	rc = a->images == NULL && a->n_images != 0
	    ? hwtdi_fail_nomem(err, a->n_images * sizeof(*a->images))
	    : open_symbols(a, err);
	if (rc != HWTD_OK) {
		hwtdi_cov_adding_destroy(a);
		return (rc);
	}
	for (size_t i = 0; i < a->n_images; i++)
		a->images[i] = HWTD_NO_ID;
	*out = a;
	return (HWTD_OK);
}

const struct hwtdi_cov_store *
hwtdi_cov_adding_part(const struct hwtdi_cov_adding *adding)
{
	return (&adding->part);
}

bool
hwtdi_cov_adding_is_of(const struct hwtdi_cov_adding *adding,
    const struct hwtd_runs *runs)
{
	return (adding->runs == runs);
}

static void
end_look(struct hwtdi_cov_adding *a)
{
	if (!a->looking)
		return;
	hwtdi_cov_look_fini(&a->look);
	hwtdi_symbolizer_drop_image(a->symbolizer, a->image);
	a->looking = false;
}

void
hwtdi_cov_adding_destroy(struct hwtdi_cov_adding *adding)
{
	struct hwtdi_cov_adding *a = adding;
	struct hwtd_context *library;

	if (a == NULL)
		return;
	library = a->library;
	end_look(a);
	hwtdi_cov_store_fini(&a->part);
	hwtd_symbolizer_close(a->symbolizer);
	hwtdi_free(library, a->images, a->n_images * sizeof(*a->images));
	hwtd_trace_close(a->trace);
	hwtd_runs_close(a->runs);
	hwtdi_free(library, a, sizeof(*a));
}

/* Images. */

/* The image of the part; HWTD_NO_ID in *out: it was not chosen. */
static int
find_image(struct hwtdi_cov_adding *a, uint32_t image, bool as_target,
    uint32_t *out, struct hwtd_error *err)
{
	struct hwtd_image_info info = { .size = sizeof(info) };
	bool is_chosen;
	int rc;

	*out = HWTD_NO_ID;
	if (image >= a->n_images)
		return (HWTD_OK);
	if (a->images[image] != HWTD_NO_ID) {
		*out = a->images[image];
		if (!as_target &&
		    (a->part.images[*out].flags &
			HWTD_COVERAGE_IMAGE_LEFT_OUT) != 0)
			*out = HWTD_NO_ID;
		return (HWTD_OK);
	}
	if (hwtd_trace_image(a->trace, image, &info) != HWTD_OK)
		return (HWTD_OK);
	is_chosen = hwtdi_cov_paths_has_image(&a->coverage->paths, info.path,
	    info.build_id, info.n_build_id);
	if (!is_chosen && !as_target)
		return (HWTD_OK);
	rc = hwtdi_cov_image_add(&a->part, info.path, info.build_id,
	    info.n_build_id, out, err);
	if (rc != HWTD_OK)
		return (rc);
	a->images[image] = *out;
	if (!is_chosen)
		a->part.images[*out].flags |= HWTD_COVERAGE_IMAGE_LEFT_OUT;
	return (HWTD_OK);
}

/* What was asked for and is not there: nothing of it was seen. */
static int
note_missing(struct hwtdi_cov_adding *a, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (uint32_t i = 0; rc == HWTD_OK && i < a->n_images; i++) {
		struct hwtd_image_info info = { .size = sizeof(info) };
		uint32_t image;

		if (hwtd_trace_image(a->trace, i, &info) != HWTD_OK ||
		    (info.state != HWTD_IMAGE_MISSING &&
			info.state != HWTD_IMAGE_MISMATCH))
			continue;
		rc = find_image(a, i, false, &image, err);
		if (rc == HWTD_OK && image != HWTD_NO_ID) {
			a->part.images[image]
			    .flags |= HWTD_COVERAGE_IMAGE_MISSING;
			rc = hwtdi_cov_image_fault(&a->part, image, info.text,
			    err);
		}
	}
	return (rc);
}

/* Counts. */

/* The place of an address of a section; false: there is no such section. */
static bool
place_in(const struct hwtd_trace *trace, uint32_t section, uint64_t address,
    uint32_t *image_out, uint64_t *off_out)
{
	const struct hwtd_section *s;

	if (section >= trace->n_sections)
		return (false);
	s = &trace->sections[section];
	*image_out = s->image;
	*off_out = s->file_off + (address - s->address);
	return (true);
}

/* A branch that ran, also where its code is not looked at. */
static int
add_seen_site(struct hwtdi_cov_adding *a, const struct hwtd_run *run,
    uint32_t image, uint64_t off, struct hwtd_error *err)
{
	const struct hwtdi_cov_site site = { .off = off +
		    (run->bytes - run->last_bytes),
		.branch = run->branch,
		.length = (uint8_t)run->last_bytes };

	if (run->branch == HWTD_BRANCH_NONE ||
	    run->branch == HWTD_BRANCH_NO_PATH || run->last_bytes == 0 ||
	    run->last_bytes > UINT8_MAX ||
	    hwtdi_cov_paths_chosen(&a->coverage->paths))
		return (HWTD_OK);
	return (hwtdi_cov_add(&a->part, image, HWTDI_COV_SITES, &site, err));
}

static int
add_run(struct hwtdi_cov_adding *a, const struct hwtd_run *run,
    struct hwtd_error *err)
{
	struct hwtdi_cov_count count = { .count = run->count };
	uint32_t image;
	int rc;

	if (run->bytes == 0 ||
	    !place_in(a->trace, run->section, run->address, &image,
		&count.off))
		return (HWTD_OK);
	rc = find_image(a, image, false, &image, err);
	if (rc != HWTD_OK || image == HWTD_NO_ID)
		return (rc);
	count.end = count.off + run->bytes;
	rc = hwtdi_cov_add(&a->part, image, HWTDI_COV_COUNTS, &count, err);
	return (rc == HWTD_OK ? add_seen_site(a, run, image, count.off, err)
			      : rc);
}

static int
add_edge(struct hwtdi_cov_adding *a, const struct hwtd_edge *edge,
    struct hwtd_error *err)
{
	struct hwtdi_cov_edge e = { .to = edge->to,
		.count = edge->count,
		.to_image = HWTD_NO_ID,
		.branch = edge->branch };
	const struct hwtd_section *from;
	uint32_t image, to_image;
	uint64_t to;
	int rc;

	if (edge->branch == HWTD_BRANCH_NO_PATH ||
	    !place_in(a->trace, edge->from_section, edge->from, &image,
		&e.from))
		return (HWTD_OK);
	rc = find_image(a, image, false, &image, err);
	if (rc != HWTD_OK || image == HWTD_NO_ID)
		return (rc);
	from = &a->trace->sections[edge->from_section];
	/* Nothing was seen to run there, but it is in the same piece. */
	if (edge->to_section == HWTD_NO_ID &&
	    edge->to - from->address < from->length) {
		e.to = from->file_off + (edge->to - from->address);
		e.to_image = image;
	} else if (place_in(a->trace, edge->to_section, edge->to, &to_image,
		       &to)) {
		rc = find_image(a, to_image, true, &e.to_image, err);
		if (rc == HWTD_OK && e.to_image != HWTD_NO_ID)
			e.to = to;
	}
	return (rc == HWTD_OK
		? hwtdi_cov_add(&a->part, image, HWTDI_COV_EDGES, &e, err)
		: rc);
}

static int
add_sums(struct hwtdi_cov_adding *a, struct hwtd_error *err)
{
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_coverage_info *to = &a->part.sums;

	if (hwtd_runs_info(a->runs, &info) != HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_STATE, "the runs are closed"));
	to->traces = 1;
	to->insns = info.insns;
	to->bytes = info.bytes;
	to->gap_bytes = info.gap_bytes;
	to->file_gap_bytes = info.file_gap_bytes;
	memcpy(to->gaps, info.gaps, sizeof(to->gaps));
	memcpy(to->gap_bytes_by_reason, info.gap_bytes_by_reason,
	    sizeof(to->gap_bytes_by_reason));
	return (HWTD_OK);
}

/* All was counted: take it over, by place. */
static int
take_counts(struct hwtdi_cov_adding *a, struct hwtd_error *err)
{
	int rc = add_sums(a, err);
	size_t n;

	for (uint64_t at = 0; rc == HWTD_OK &&
	     hwtd_runs_read(a->runs, at, a->run_rows, sizeof(a->run_rows[0]),
		 BATCH, &n) == HWTD_OK;
	     at += n)
		for (size_t i = 0; rc == HWTD_OK && i < n; i++)
			rc = add_run(a, &a->run_rows[i], err);
	for (uint64_t at = 0; rc == HWTD_OK &&
	     hwtd_runs_edges(a->runs, at, a->edge_rows,
		 sizeof(a->edge_rows[0]), BATCH, &n) == HWTD_OK;
	     at += n)
		for (size_t i = 0; rc == HWTD_OK && i < n; i++)
			rc = add_edge(a, &a->edge_rows[i], err);
	for (uint32_t i = 0; rc == HWTD_OK && i < a->part.n_images; i++) {
		rc = hwtdi_cov_tidy(&a->part, i, HWTDI_COV_COUNTS, err);
		if (rc == HWTD_OK)
			rc = hwtdi_cov_tidy(&a->part, i, HWTDI_COV_EDGES, err);
	}
	return (rc == HWTD_OK ? note_missing(a, err) : rc);
}

/* Images, one after the other. */

/* It ran, and no image before it is the same. */
static bool
is_to_look_at(const struct hwtdi_cov_adding *a, uint32_t image)
{
	const uint32_t no = a->images[image];

	return (no != HWTD_NO_ID && !a->part.images[no].looked_at &&
	    a->part.images[no].lists[HWTDI_COV_COUNTS].n != 0);
}

static int
begin_image(struct hwtdi_cov_adding *a, struct hwtd_error *err)
{
	struct hwtdi_symbol_image *symbols;
	int rc;

	while (a->image < a->n_images && !is_to_look_at(a, a->image))
		a->image++;
	if (a->image == a->n_images) {
		a->stage = STAGE_END;
		return (HWTD_OK);
	}
	rc = hwtdi_symbolizer_image(a->symbolizer, a->image, &symbols, err);
	if (rc != HWTD_OK)
		return (rc);
	memset(&a->look, 0, sizeof(a->look));
	a->look.store = &a->part;
	a->look.paths = &a->coverage->paths;
	a->look.flags = a->coverage->flags;
	a->look.image = a->images[a->image];
	a->look.symbols = symbols;
	a->part.images[a->look.image].looked_at = true;
	a->looking = true;
	a->unit = 0;
	a->stage = symbols->dwarf != NULL ? STAGE_UNITS : STAGE_SYMBOLS;
	return (hwtdi_cov_look_init(&a->look, err));
}

/* Edges from code that was left out go with it. */
static int
drop_edges(struct hwtdi_cov_adding *a, struct hwtd_error *err)
{
	struct hwtdi_cov_list *l = &a->part.images[a->look.image]
					.lists[HWTDI_COV_EDGES];
	struct hwtdi_cov_edge *edges = l->at;
	const struct hwtdi_cov_site *sites;
	size_t n = 0, n_sites, at = 0;
	int rc;

	if (!hwtdi_cov_paths_chosen(&a->coverage->paths))
		return (HWTD_OK);
	rc = hwtdi_cov_tidy(&a->part, a->look.image, HWTDI_COV_SITES, err);
	if (rc != HWTD_OK)
		return (rc);
	sites = hwtdi_cov_list(&a->part, a->look.image, HWTDI_COV_SITES,
	    &n_sites);
	for (size_t i = 0; i < l->n; i++) {
		while (at < n_sites && sites[at].off < edges[i].from)
			at++;
		if (at < n_sites && sites[at].off == edges[i].from)
			edges[n++] = edges[i];
	}
	l->n = l->n_tidy = n;
	return (HWTD_OK);
}

static int
end_image(struct hwtdi_cov_adding *a, struct hwtd_error *err)
{
	int rc = hwtdi_cov_look_symbols(&a->look, err);

	if (rc == HWTD_OK)
		rc = drop_edges(a, err);
	end_look(a);
	a->image++;
	a->stage = STAGE_IMAGE;
	return (rc);
}

int
hwtdi_cov_adding_step(struct hwtdi_cov_adding *adding, struct hwtd_error *err)
{
	struct hwtdi_cov_adding *a = adding;
	int rc = HWTD_OK;

	switch (a->stage) {
	case STAGE_COUNT:
		rc = hwtd_runs_count(a->runs, err);
		if (rc != HWTD_END)
			return (rc);
		a->stage = STAGE_IMAGE;
		return (take_counts(a, err));
	case STAGE_IMAGE:
		return (begin_image(a, err));
	case STAGE_UNITS:
		if (a->unit < hwtdi_dwarf_walk_units(a->look.symbols->dwarf))
			return (hwtdi_cov_look_unit(&a->look, a->unit++, err));
		a->stage = STAGE_SYMBOLS;
		return (HWTD_OK);
	case STAGE_SYMBOLS:
		return (end_image(a, err));
	default:
		return (HWTD_END);
	}
}
