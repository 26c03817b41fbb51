/*
 * What runs tell of one image: collected, and added up.
 */
#include "export/compilers/code_profile.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runs/run_source.h"
#include "base/fail.h"
#include "export/compilers/code_flows.h"

/* Runs and edges that are read at once. */
#define AT_ONCE 256

/* Pieces that end at one instruction, in code that is read in two ways. */
#define TRIES 16

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

struct collecting {
	struct hwtd_context *ctx;
	const struct hwtd_trace *trace;
	const struct hwtd_runs *runs;
	struct hwtdi_code_profile *profile;
	struct hwtd_error *err;
	/* By id. */
	struct hwtd_section *sections;
	size_t n_sections, cap_sections;
	struct hwtdi_code_pieces code;
};

/* Sections and images. */

static int
read_sections(struct collecting *c)
{
	struct hwtd_section s = { .size = sizeof(s) };
	int rc = HWTD_OK;

	while (rc == HWTD_OK &&
	    hwtd_trace_section(c->trace, (uint32_t)c->n_sections, &s) ==
		HWTD_OK) {
		rc = hwtdi_array_grow(c->ctx, &c->sections, &c->cap_sections,
		    c->n_sections + 1, sizeof(s), c->err);
		if (rc == HWTD_OK)
			c->sections[c->n_sections++] = s;
	}
	return (rc);
}

static bool
is_of_image(const struct collecting *c, uint32_t section)
{
	return (section < c->n_sections &&
	    c->sections[section].image == c->profile->image);
}

/* Where an instruction of the image is in its file, and how far it was moved. */
static bool
place_of(const struct collecting *c, uint32_t section, uint64_t address,
    uint64_t *at_out, uint64_t *bias_out)
{
	const struct hwtd_section *s;

	if (!is_of_image(c, section))
		return (false);
	s = &c->sections[section];
	if (!hwtdi_image_layout_address(&c->profile->layout,
		address - s->address + s->file_off, at_out))
		return (false);
	*bias_out = address - *at_out;
	return (true);
}

/* The section that a branch leads to, also where nothing was seen to run. */
static uint32_t
target_section(const struct collecting *c, const struct hwtd_edge *e)
{
	const struct hwtd_section *s;

	if (e->to_section != HWTD_NO_ID || e->from_section >= c->n_sections)
		return (e->to_section);
	s = &c->sections[e->from_section];
	return (e->to - s->address < s->length ? e->from_section : HWTD_NO_ID);
}

/* Which image is the program. */

struct candidate {
	uint32_t image;
	uint64_t insns;
	/* Code of kernels is no program, whatever its file is. */
	bool high;
};

static int
by_insns(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	ORDER(y->insns, x->insns);
	ORDER(x->image, y->image);
	return (0);
}

/* One for each image, by id, of which nothing is known yet. */
static int
begin_candidates(struct collecting *c, struct candidate **list, size_t *n,
    size_t *cap)
{
	int rc;

	for (size_t i = 0; i < c->n_sections; i++)
		if (c->sections[i].image >= *n)
			*n = (size_t)c->sections[i].image + 1;
	rc = hwtdi_array_grow(c->ctx, list, cap, *n, sizeof(**list), c->err);
	for (size_t i = 0; i < *n && rc == HWTD_OK; i++)
		(*list)[i] = (struct candidate){ .image = (uint32_t)i };
	return (rc);
}

static int
list_candidates(struct collecting *c, struct candidate **list, size_t *n,
    size_t *cap)
{
	struct hwtd_run runs[AT_ONCE];
	uint64_t first = 0;
	int rc = begin_candidates(c, list, n, cap);
	size_t got;

	while (rc == HWTD_OK &&
	    hwtd_runs_read(c->runs, first, runs, sizeof(runs[0]), AT_ONCE,
		&got) == HWTD_OK) {
		for (size_t i = 0; i < got; i++) {
			struct candidate *at;

			if (runs[i].section >= c->n_sections)
				continue;
			at = &(*list)[c->sections[runs[i].section].image];
			at->high = runs[i].address >> 63 != 0;
			at->insns = hwtdi_sum(at->insns,
			    hwtdi_product(runs[i].count, runs[i].insns));
		}
		first += got;
	}
	if (rc == HWTD_OK && *n > 0)
		qsort(*list, *n, sizeof(**list), by_insns);
	return (rc);
}

/* The program that executed most, else what did and has addresses of its own. */
static int
choose(struct collecting *c, const struct candidate *list, size_t n)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_image_layout layout;
	int rc;

	for (size_t i = 0; i < n && list[i].insns > 0; i++) {
		bool is_program;

		rc = hwtdi_image_layout_init(&layout, c->trace, list[i].image,
		    &inner);
		if (hwtdi_fail_is_final(rc))
			return (hwtdi_fail_pass(c->err, &inner));
		if (rc != HWTD_OK)
			continue;
		is_program = layout.is_program && !list[i].high;
		hwtdi_image_layout_fini(&layout);
		if (c->profile->image == HWTD_NO_ID || is_program)
			c->profile->image = list[i].image;
		if (is_program)
			return (HWTD_OK);
	}
	if (c->profile->image != HWTD_NO_ID)
		return (HWTD_OK);
	if (inner.code != HWTD_OK)
		return (hwtdi_fail_pass(c->err, &inner));
	return (hwtdi_fail(c->err, HWTD_E_NOT_FOUND,
	    "nothing was executed that could be the program"));
}

static int
find_program(struct collecting *c)
{
	struct candidate *list = NULL;
	size_t n = 0, cap = 0;
	int rc = list_candidates(c, &list, &n, &cap);

	if (rc == HWTD_OK)
		rc = choose(c, list, n);
	hwtdi_array_free(c->ctx, list, cap, sizeof(*list));
	return (rc);
}

/* Pieces: what was executed. */

static int
add_run(struct collecting *c, const struct hwtd_run *run)
{
	struct hwtd_compiler_info *info = &c->profile->info;
	const uint64_t insns = hwtdi_product(run->count, run->insns);
	struct hwtdi_code_piece piece;
	uint64_t bias;
	int rc;

	if (!place_of(c, run->section, run->address, &piece.code.start,
		&bias)) {
		info->insns_elsewhere = hwtdi_sum(info->insns_elsewhere,
		    insns);
		return (HWTD_OK);
	}
	info->insns = hwtdi_sum(info->insns, insns);
	piece.bias = bias;
	piece.code.end = piece.code.start + run->bytes;
	piece.code.last = piece.code.end - run->last_bytes;
	piece.code.count = run->count;
	piece.code.branch = run->branch;
	piece.code.isa = run->isa;
	piece.not_taken = 0;
	rc = hwtdi_array_grow(c->ctx, &c->code.pieces, &c->code.cap_pieces,
	    c->code.n_pieces + 1, sizeof(piece), c->err);
	if (rc == HWTD_OK)
		c->code.pieces[c->code.n_pieces++] = piece;
	return (rc);
}

static int
by_place(const void *a, const void *b)
{
	const struct hwtdi_code_piece *x = a, *y = b;

	ORDER(x->bias, y->bias);
	ORDER(x->code.start, y->code.start);
	ORDER(x->code.end, y->code.end);
	ORDER(x->code.last, y->code.last);
	ORDER(x->code.branch, y->code.branch);
	ORDER(x->code.isa, y->code.isa);
	return (0);
}

/* The same code in two processes is one piece. */
static void
join_pieces(struct hwtdi_code_pieces *code)
{
	size_t n = 0;

	if (code->n_pieces == 0)
		return;
	qsort(code->pieces, code->n_pieces, sizeof(*code->pieces), by_place);
	for (size_t i = 1; i < code->n_pieces; i++) {
		struct hwtdi_code_piece *to = &code->pieces[n];

		if (by_place(to, &code->pieces[i]) == 0)
			to->code.count = hwtdi_sum(to->code.count,
			    code->pieces[i].code.count);
		else
			code->pieces[++n] = code->pieces[i];
	}
	code->n_pieces = n + 1;
}

static int
read_runs(struct collecting *c)
{
	struct hwtd_run runs[AT_ONCE];
	uint64_t first = 0;
	int rc = HWTD_OK;
	size_t got;

	while (rc == HWTD_OK &&
	    hwtd_runs_read(c->runs, first, runs, sizeof(runs[0]), AT_ONCE,
		&got) == HWTD_OK) {
		for (size_t i = 0; i < got && rc == HWTD_OK; i++)
			rc = add_run(c, &runs[i]);
		first += got;
	}
	join_pieces(&c->code);
	return (rc);
}

/* Edges: taken branches, and those that were not. */

/* The piece that ends with the instruction at `last`, or NULL. */
static struct hwtdi_code_piece *
piece_ending(struct hwtdi_code_pieces *code, uint64_t bias, uint64_t last)
{
	size_t low = 0, high = code->n_pieces;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct hwtdi_code_piece *p = &code->pieces[mid];

		if (p->bias < bias ||
		    (p->bias == bias && p->code.start <= last))
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = 0; i < TRIES && i < low; i++) {
		struct hwtdi_code_piece *p = &code->pieces[low - 1 - i];

		if (p->bias == bias && p->code.last == last)
			return (p);
	}
	return (NULL);
}

static bool
is_far(uint32_t branch)
{
	return (branch == HWTD_BRANCH_FAR_CALL ||
	    branch == HWTD_BRANCH_FAR_JUMP ||
	    branch == HWTD_BRANCH_FAR_RETURN);
}

/* In A32 and T32 any branch can have a condition. */
static bool
can_go_on(const struct hwtdi_code_piece *p)
{
	return (p->code.branch == HWTD_BRANCH_CONDITIONAL ||
	    p->code.isa == HWTD_ISA_A32 || p->code.isa == HWTD_ISA_T32);
}

static void
count_edge(struct hwtd_compiler_info *info, const struct hwtdi_code_edge *e)
{
	uint64_t *sum = &info->branches;

	if (is_far(e->branch.branch) &&
	    (e->branch.from_side == HWTDI_CODE_INSIDE ||
		e->branch.branch == HWTD_BRANCH_FAR_RETURN))
		sum = &info->branches_far;
	else if (e->branch.from_side != HWTDI_CODE_INSIDE)
		sum = &info->branches_in;
	else if (e->branch.to_side != HWTDI_CODE_INSIDE)
		sum = &info->branches_out;
	*sum = hwtdi_sum(*sum, e->branch.count);
}

static int
add_edge(struct collecting *c, const struct hwtd_edge *edge)
{
	struct hwtd_compiler_info *info = &c->profile->info;
	struct hwtdi_code_edge e = { .branch = { .count = edge->count,
					 .branch = (uint8_t)edge->branch } };
	struct hwtdi_code_piece *p;
	uint64_t bias = 0;
	bool from, to;
	int rc;

	from = place_of(c, edge->from_section, edge->from, &e.branch.from,
	    &bias);
	to = place_of(c, target_section(c, edge), edge->to, &e.branch.to,
	    &e.bias);
	if (!from && !to) {
		info->branches_elsewhere = hwtdi_sum(info->branches_elsewhere,
		    edge->count);
		return (HWTD_OK);
	}
	p = from ? piece_ending(&c->code, bias, e.branch.from) : NULL;
	if (p != NULL && to && bias == e.bias && p->code.end == e.branch.to &&
	    can_go_on(p)) {
		p->not_taken = hwtdi_sum(p->not_taken, edge->count);
		return (HWTD_OK);
	}
	e.branch.from_side = from ? HWTDI_CODE_INSIDE : HWTDI_CODE_ELSEWHERE;
	e.branch.to_side = to ? HWTDI_CODE_INSIDE : HWTDI_CODE_ELSEWHERE;
	if (!from)
		e.branch.from = 0;
	if (!to)
		e.branch.to = 0;
	count_edge(info, &e);
	/* A system call or an interrupt; the program goes on behind it. */
	if (is_far(edge->branch) &&
	    (!to || (from && edge->branch != HWTD_BRANCH_FAR_RETURN)))
		return (HWTD_OK);
	rc = hwtdi_array_grow(c->ctx, &c->code.edges, &c->code.cap_edges,
	    c->code.n_edges + 1, sizeof(e), c->err);
	if (rc == HWTD_OK)
		c->code.edges[c->code.n_edges++] = e;
	return (rc);
}

static int
read_edges(struct collecting *c)
{
	struct hwtd_edge edges[AT_ONCE];
	uint64_t first = 0;
	int rc = HWTD_OK;
	size_t got;

	while (rc == HWTD_OK &&
	    hwtd_runs_edges(c->runs, first, edges, sizeof(edges[0]), AT_ONCE,
		&got) == HWTD_OK) {
		for (size_t i = 0; i < got && rc == HWTD_OK; i++)
			rc = add_edge(c, &edges[i]);
		first += got;
	}
	return (rc);
}

/* Added up, without where the image was loaded. */

static int
by_range(const void *a, const void *b)
{
	const struct hwtdi_code_range *x = a, *y = b;

	ORDER(x->start, y->start);
	ORDER(x->last, y->last);
	return (0);
}

static int
by_branch(const void *a, const void *b)
{
	const struct hwtdi_code_branch *x = a, *y = b;

	ORDER(x->from_side, y->from_side);
	ORDER(x->from, y->from);
	ORDER(x->to_side, y->to_side);
	ORDER(x->to, y->to);
	ORDER(x->branch, y->branch);
	return (0);
}

static int
by_flow(const void *a, const void *b)
{
	const struct hwtdi_code_flow *x = a, *y = b;

	ORDER(x->origin, y->origin);
	ORDER(x->from, y->from);
	ORDER(x->to, y->to);
	ORDER(x->bare, y->bare);
	ORDER(x->last, y->last);
	return (0);
}

/* `count` of equal neighbours is added up; how many are left. */
#define JOIN(array, n, by)                                                    \
	do {                                                                  \
		size_t kept = 0;                                              \
                                                                              \
		if ((n) == 0)                                                 \
			break;                                                \
		qsort((array), (n), sizeof(*(array)), (by));                  \
		for (size_t i = 1; i < (n); i++)                              \
			if ((by)(&(array)[kept], &(array)[i]) == 0)           \
				(array)[kept]                                 \
				    .count = hwtdi_sum((array)[kept].count,   \
				    (array)[i].count);                        \
			else                                                  \
				(array)[++kept] = (array)[i];                 \
		(n) = kept + 1;                                               \
	} while (0)

static uint8_t
blurred(uint8_t origin, bool outside)
{
	return (outside && origin != HWTDI_FLOW_BRANCH &&
		    origin != HWTDI_FLOW_UNKNOWN
		? HWTDI_FLOW_FROM_ELSEWHERE
		: HWTDI_FLOW_UNKNOWN);
}

void
hwtdi_code_profile_forget_origins(struct hwtdi_code_profile *profile,
    bool outside)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_flows; i++) {
		struct hwtdi_code_flow f = profile->flows[i];

		if (f.bare)
			continue;
		f.from = 0;
		f.origin = blurred(f.origin, outside);
		profile->flows[n++] = f;
	}
	profile->n_flows = n;
	JOIN(profile->flows, profile->n_flows, by_flow);
}

static int
add_up(struct collecting *c, bool with_flows)
{
	struct hwtdi_code_profile *p = c->profile;
	int rc;

	rc = hwtdi_code_flows_make(p, &c->code, with_flows, c->err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_array_grow(c->ctx, &p->ranges, &p->cap_ranges,
	    c->code.n_pieces, sizeof(*p->ranges), c->err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < c->code.n_pieces; i++)
		p->ranges[p->n_ranges++] = c->code.pieces[i].code;
	JOIN(p->ranges, p->n_ranges, by_range);
	JOIN(p->branches, p->n_branches, by_branch);
	JOIN(p->flows, p->n_flows, by_flow);
	return (HWTD_OK);
}

static int
collect(struct collecting *c, bool with_flows)
{
	struct hwtdi_code_profile *p = c->profile;
	int rc = read_sections(c);

	if (rc == HWTD_OK && p->image == HWTD_NO_ID)
		rc = find_program(c);
	if (rc == HWTD_OK)
		rc = hwtdi_image_layout_init(&p->layout, c->trace, p->image,
		    c->err);
	if (rc == HWTD_OK)
		rc = read_runs(c);
	if (rc == HWTD_OK && c->code.n_pieces == 0) {
		struct hwtdi_image_source held;

		hwtdi_trace_image_source(c->trace, p->image, &held);
		rc = hwtdi_fail(c->err, HWTD_E_NOT_FOUND,
		    "%.160s: nothing of it was executed", held.name);
	}
	if (rc == HWTD_OK)
		rc = read_edges(c);
	if (rc == HWTD_OK)
		rc = add_up(c, with_flows);
	return (rc);
}

int
hwtdi_code_profile_init(struct hwtdi_code_profile *profile,
    const struct hwtd_runs *runs, uint32_t image, bool with_flows,
    struct hwtd_error *err)
{
	const struct hwtd_trace *trace = hwtdi_runs_trace(runs);
	struct collecting c = { .ctx = hwtdi_trace_library(trace),
		.trace = trace,
		.runs = runs,
		.profile = profile,
		.err = err };
	int rc;

	memset(profile, 0, sizeof(*profile));
	profile->ctx = c.ctx;
	profile->image = image;
	rc = collect(&c, with_flows);
	profile->info.image = profile->image;
	if (profile->layout.is_fixed)
		profile->info.flags |= HWTD_COMPILERF_FIXED;
	hwtdi_array_free(c.ctx, c.sections, c.cap_sections,
	    sizeof(*c.sections));
	hwtdi_array_free(c.ctx, c.code.pieces, c.code.cap_pieces,
	    sizeof(*c.code.pieces));
	hwtdi_array_free(c.ctx, c.code.edges, c.code.cap_edges,
	    sizeof(*c.code.edges));
	if (rc != HWTD_OK)
		hwtdi_code_profile_fini(profile);
	return (rc);
}

void
hwtdi_code_profile_fini(struct hwtdi_code_profile *profile)
{
	if (profile->ctx == NULL)
		return;
	hwtdi_image_layout_fini(&profile->layout);
	hwtdi_array_free(profile->ctx, profile->ranges, profile->cap_ranges,
	    sizeof(*profile->ranges));
	hwtdi_array_free(profile->ctx, profile->branches,
	    profile->cap_branches, sizeof(*profile->branches));
	hwtdi_array_free(profile->ctx, profile->flows, profile->cap_flows,
	    sizeof(*profile->flows));
	memset(profile, 0, sizeof(*profile));
}
