/*
 * What an image has to be seen: lines, functions and branches.
 */
#include "analysis/coverage/coverage_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/*
 * Rows, entries and so on that are read of one image, for each byte of its file
 * and of any: less than one is usual, few where units share abbreviations.  Files
 * that name one table for many units have no end.
 */
#define WORK_A_BYTE 64u
#define WORK_OF_ANY (UINT64_C(1) << 22)

/* Bytes of debug information of other units that are kept. */
#define MOST_KEPT ((uint64_t)256 << 20)

#define NO_FUNC HWTD_NO_ID

/* A stretch of code of a unit. */
struct seg {
	uint64_t low, high;
	/* Text of its file; 0: it has no line, or is left out. */
	uint32_t file, line;
	uint32_t scope;
	bool is_statement, left_out;
};

/* What a scope is in the store. */
struct body {
	uint64_t off;
	uint32_t func;
	/* The first code of it, for those that do not say where they are. */
	uint64_t first;
	uint32_t file, line;
	bool has_first, left_out;
};

struct unit {
	struct hwtdi_cov_look *look;
	struct hwtdi_dwarf_walk walk;
	const struct hwtdi_cov_count *counts;
	size_t n_counts;
	struct seg *segs;
	size_t n_segs, cap_segs;
	/* By scope. */
	struct body *bodies;
	size_t n_bodies;
	/* By file of the table: its text + 2; 1: it is left out; 0: not asked. */
	uint32_t *files;
	size_t n_files;
	struct hwtd_error *err;
};

/* Texts. */

static int
keep(struct hwtdi_cov_look *look, const char *text, uint32_t *out,
    struct hwtd_error *err)
{
	return (hwtdi_text_pool_add(&look->store->texts, look->store->library,
	    text, out, err));
}

/* The text of a file, 0: none or left out. */
static int
find_file(struct unit *u, uint32_t file, uint32_t *text_out,
    bool *left_out_out)
{
	struct hwtdi_cov_look *look = u->look;
	struct hwtdi_dwarf_frame frame;
	const char *path;
	uint32_t text = 0;
	int rc;

	*text_out = 0;
	*left_out_out = false;
	if (file >= u->n_files)
		return (HWTD_OK);
	if (u->files[file] == 0) {
		hwtdi_dwarf_walk_file(&u->walk, file, &frame);
		path = hwtdi_dwarf_frame_path(&frame, look->path,
		    sizeof(look->path));
		if (path == NULL) {
			u->files[file] = 2;
		} else if (!hwtdi_cov_paths_map(look->paths, path,
			       look->mapped)) {
			u->files[file] = 1;
		} else {
			rc = keep(look, look->mapped, &text, u->err);
			if (rc != HWTD_OK)
				return (rc);
			u->files[file] = text + 2;
		}
	}
	*left_out_out = u->files[file] == 1;
	if (u->files[file] > 2)
		*text_out = u->files[file] - 2;
	return (HWTD_OK);
}

/* Code with its lines. */

static int
read_segs(struct unit *u)
{
	struct hwtdi_dwarf_seg from;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && hwtdi_dwarf_walk_next(&u->walk, &from)) {
		struct seg seg = { .low = from.low,
			.high = from.high,
			.line = from.line,
			.scope = from.scope,
			.is_statement = from.is_statement };
		uint64_t off, bytes;

		/* What the linker dropped lies nowhere. */
		if (!hwtdi_cov_code_place(&u->look->code, seg.low, &off,
			&bytes))
			continue;
		if (seg.high - seg.low > bytes)
			seg.high = seg.low + bytes;
		if (seg.line != 0)
			rc = find_file(u, from.file, &seg.file, &seg.left_out);
		if (rc == HWTD_OK)
			rc = hwtdi_array_grow(u->look->store->library,
			    &u->segs, &u->cap_segs, u->n_segs + 1, sizeof(seg),
			    u->err);
		if (rc == HWTD_OK)
			u->segs[u->n_segs++] = seg;
	}
	return (rc);
}

/* Functions. */

/* NULL: it has none. */
static const struct hwtdi_dwarf_range *
ranges_of(const struct unit *u, const struct hwtdi_dwarf_scope *scope)
{
	return (scope->n_ranges == 0
		? NULL
		: u->walk.scopes->ranges.at + scope->first_range);
}

static bool
has_code(const struct unit *u, const struct hwtdi_dwarf_scope *scope,
    bool *ran_out)
{
	const struct hwtdi_dwarf_range *r = ranges_of(u, scope);
	bool has = false;

	*ran_out = false;
	for (uint32_t i = 0; i < scope->n_ranges && !*ran_out; i++) {
		uint64_t off, bytes;

		if (r[i].low >= r[i].high ||
		    !hwtdi_cov_code_place(&u->look->code, r[i].low, &off,
			&bytes))
			continue;
		has = true;
		if (r[i].high - r[i].low < bytes)
			bytes = r[i].high - r[i].low;
		*ran_out = hwtdi_cov_ran(u->counts, u->n_counts, off,
		    off + bytes);
	}
	return (has);
}

/* The first edge from a place on. */
static size_t
first_edge(const struct hwtdi_cov_edge *edges, size_t n, uint64_t from)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (edges[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

static bool
is_jump(uint32_t branch)
{
	return (branch == HWTD_BRANCH_CONDITIONAL ||
	    branch == HWTD_BRANCH_JUMP || branch == HWTD_BRANCH_INDIRECT_JUMP);
}

/* How often it went back to its first instruction: that is no entry. */
static uint64_t
count_again(struct unit *u, const struct hwtdi_dwarf_scope *scope,
    uint64_t entry)
{
	const struct hwtdi_dwarf_range *r = ranges_of(u, scope);
	const struct hwtdi_cov_edge *edges;
	uint64_t again = 0;
	size_t n;

	edges = hwtdi_cov_list(u->look->store, u->look->image, HWTDI_COV_EDGES,
	    &n);
	for (uint32_t i = 0; i < scope->n_ranges; i++) {
		uint64_t off, bytes;

		if (r[i].low >= r[i].high ||
		    !hwtdi_cov_code_place(&u->look->code, r[i].low, &off,
			&bytes))
			continue;
		if (r[i].high - r[i].low < bytes)
			bytes = r[i].high - r[i].low;
		for (size_t e = first_edge(edges, n, off);
		     e < n && edges[e].from - off < bytes && u->look->left > 0;
		     e++, u->look->left--)
			if (edges[e].to == entry &&
			    edges[e].to_image == u->look->image &&
			    is_jump(edges[e].branch))
				again = hwtdi_cov_sum(again, edges[e].count);
	}
	return (again);
}

/* Its names, and where it is in the sources. */
static int
name_body(struct unit *u, uint32_t no, struct body *body)
{
	struct hwtdi_cov_look *look = u->look;
	struct hwtdi_cov_func func = { .image = HWTD_NO_ID };
	struct hwtdi_dwarf_frame frame;
	bool left_out = false;
	int rc;

	rc = hwtdi_dwarf_walk_function(&u->walk, no, &frame, u->err);
	if (rc == HWTD_OK)
		rc = keep(look, frame.name, &func.name, u->err);
	if (rc == HWTD_OK)
		rc = keep(look, frame.linkage_name, &func.linkage, u->err);
	if (rc == HWTD_OK && frame.decl_file != 0)
		rc = find_file(u, frame.decl_file, &func.file, &left_out);
	if (rc != HWTD_OK)
		return (rc);
	if (func.file == 0 && !left_out) {
		func.file = body->file;
		left_out = body->left_out;
	}
	func.line = frame.decl_line != 0 ? frame.decl_line : body->line;
	body->left_out = left_out ||
	    (func.file == 0 && hwtdi_cov_paths_only_sources(look->paths));
	if (body->left_out)
		return (HWTD_OK);
	if (func.file == 0)
		func.image = look->image;
	return (hwtdi_cov_func_add(look->store, &func,
	    (look->flags & HWTD_COVERAGE_RAW_NAMES) != 0, &body->func,
	    u->err));
}

/* Functions that do not say where they are written begin with their code. */
static void
find_first(struct unit *u)
{
	for (size_t i = 0; i < u->n_segs; i++) {
		const struct seg *seg = &u->segs[i];
		struct body *body;

		if (seg->scope >= u->n_bodies ||
		    (seg->file == 0 && !seg->left_out))
			continue;
		body = &u->bodies[seg->scope];
		if (body->has_first && body->first <= seg->low)
			continue;
		body->has_first = true;
		body->first = seg->low;
		body->file = seg->file;
		body->line = seg->line;
		body->left_out = seg->left_out;
	}
}

/*
 * A compiler may inline the begin of a function and leave the rest as one of its
 * own: who comes there was counted.  Only its symbol says so.
 */
static bool
is_part(const struct unit *u, const struct hwtdi_dwarf_scope *scope)
{
	const struct hwtdi_elf_name *name = hwtdi_elf_names_find(
	    &u->look->symbols->names, scope->entry);

	return (!scope->inlined && name != NULL &&
	    name->address == scope->entry &&
	    strstr(name->name, ".part.") != NULL);
}

static int
add_bodies(struct unit *u)
{
	struct hwtdi_cov_look *look = u->look;
	int rc = HWTD_OK;

	find_first(u);
	for (uint32_t i = 0; rc == HWTD_OK && i < u->n_bodies; i++) {
		const struct hwtdi_dwarf_scope *scope = &u->walk.scopes->at[i];
		struct hwtdi_cov_body new = { .off = HWTDI_COV_NOWHERE };
		struct body *body = &u->bodies[i];
		uint64_t bytes;
		bool ran;

		body->func = NO_FUNC;
		body->off = HWTDI_COV_NOWHERE;
		if (!has_code(u, scope, &ran))
			continue;
		rc = name_body(u, i, body);
		if (rc != HWTD_OK || body->func == NO_FUNC)
			continue;
		(void)hwtdi_cov_code_place(&look->code, scope->entry,
		    &body->off, &bytes);
		new.func = body->func;
		new.flags = scope->inlined ? HWTDI_COV_INLINED : 0;
		if (is_part(u, scope))
			new.flags |= HWTDI_COV_PART;
		if (ran)
			new.flags |= HWTDI_COV_HIT;
		if (ran || !scope->inlined)
			new.off = body->off;
		if (ran && body->off != HWTDI_COV_NOWHERE)
			new.again = count_again(u, scope, body->off);
		rc = hwtdi_cov_add(look->store, look->image, HWTDI_COV_BODIES,
		    &new, u->err);
	}
	return (rc);
}

/* Lines. */

static int
by_line(const void *va, const void *vb)
{
	const struct seg *a = va, *b = vb;

	if (a->scope != b->scope)
		return (a->scope < b->scope ? -1 : 1);
	if (a->file != b->file)
		return (a->file < b->file ? -1 : 1);
	if (a->line != b->line)
		return (a->line < b->line ? -1 : 1);
	if (a->is_statement != b->is_statement)
		return (a->is_statement ? -1 : 1);
	return (a->low < b->low ? -1 : a->low > b->low);
}

static bool
same_line(const struct seg *a, const struct seg *b)
{
	return (a->scope == b->scope && a->file == b->file &&
	    a->line == b->line);
}

/* Where a statement begins, the other code of its line in that body is none. */
static int
add_piece(struct unit *u, const struct seg *seg, bool has_statement)
{
	struct hwtdi_cov_look *look = u->look;
	const struct body *body = seg->scope < u->n_bodies
	    ? &u->bodies[seg->scope]
	    : NULL;
	struct hwtdi_cov_piece piece = { .func = NO_FUNC };
	uint64_t bytes;

	/* Without a line, and not because that is left out, it is bare. */
	if (seg->file == 0 && !seg->left_out)
		return (HWTD_OK);
	if (!hwtdi_cov_code_place(&look->code, seg->low, &piece.off, &bytes))
		return (HWTD_OK);
	piece.end = piece.off + (seg->high - seg->low);
	if (!hwtdi_cov_ran(u->counts, u->n_counts, piece.off, piece.end))
		return (HWTD_OK);
	if (seg->file == 0 || (has_statement && !seg->is_statement)) {
		piece.flags = HWTDI_COV_SHADOW;
	} else {
		piece.file = seg->file;
		piece.line = seg->line;
		if (body != NULL && body->func != NO_FUNC) {
			piece.func = body->func;
			piece.body_off = body->off;
			if (u->walk.scopes->at[seg->scope].inlined)
				piece.flags = HWTDI_COV_INLINED;
		}
	}
	return (hwtdi_cov_add(look->store, look->image, HWTDI_COV_PIECES,
	    &piece, u->err));
}

static int
add_lines(struct unit *u)
{
	struct hwtdi_cov_look *look = u->look;
	bool has_statement = false;
	int rc = HWTD_OK;

	if (u->n_segs > 1)
		qsort(u->segs, u->n_segs, sizeof(*u->segs), by_line);
	for (size_t i = 0; rc == HWTD_OK && i < u->n_segs; i++) {
		const struct seg *seg = &u->segs[i];

		if (i == 0 || !same_line(seg - 1, seg)) {
			const struct hwtdi_cov_line line = { seg->file,
				seg->line };

			has_statement = seg->is_statement;
			if (seg->file != 0)
				rc = hwtdi_cov_add(look->store, look->image,
				    HWTDI_COV_LINES, &line, u->err);
		}
		if (rc == HWTD_OK)
			rc = add_piece(u, seg, has_statement);
	}
	if (rc == HWTD_OK && u->n_segs > 0)
		look->store->images[look->image]
		    .flags |= HWTD_COVERAGE_IMAGE_LINES;
	return (rc);
}

/* Branches. */

static int
add_sites(struct hwtdi_cov_look *look, uint64_t low, uint64_t high,
    uint32_t file, uint32_t line, struct hwtd_error *err)
{
	struct hwtdi_cov_sweep sweep = { .code = &look->code,
		.at = low,
		.end = high };
	struct hwtdi_cov_branch branch;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && hwtdi_cov_sweep_next(&sweep, &branch)) {
		const struct hwtdi_cov_site site = { .off = branch.off,
			.to = branch.is_direct ? branch.to : 0,
			.file = file,
			.line = file != 0 ? line : 0,
			.branch = branch.branch,
			.length = branch.length,
			.is_direct = branch.is_direct };

		rc = hwtdi_cov_add(look->store, look->image, HWTDI_COV_SITES,
		    &site, err);
	}
	return (rc);
}

static int
by_low(const void *va, const void *vb)
{
	const struct seg *a = va, *b = vb;

	if (a->low != b->low)
		return (a->low < b->low ? -1 : 1);
	return (by_line(a, b));
}

static int
add_span(struct hwtdi_cov_look *look, uint64_t low, uint64_t high,
    struct hwtd_error *err)
{
	struct hwtdi_cov_span *last = look->n_spans > 0
	    ? &look->spans[look->n_spans - 1]
	    : NULL;
	int rc;

	if (last != NULL && low >= last->low && low <= last->high) {
		if (high > last->high)
			last->high = high;
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(look->store->library, &look->spans,
	    &look->cap_spans, look->n_spans + 1, sizeof(*last), err);
	if (rc == HWTD_OK)
		look->spans[look->n_spans++] = (struct hwtdi_cov_span){ low,
			high };
	return (rc);
}

static int
add_branches(struct unit *u)
{
	const struct hwtdi_dwarf_scopes *s = u->walk.scopes;
	struct hwtdi_cov_look *look = u->look;
	int rc = HWTD_OK;

	if (u->n_segs > 1)
		qsort(u->segs, u->n_segs, sizeof(*u->segs), by_low);
	for (size_t i = 0; rc == HWTD_OK && i < u->n_segs; i++) {
		const struct seg *seg = &u->segs[i];

		rc = add_span(look, seg->low, seg->high, u->err);
		if (rc == HWTD_OK && !seg->left_out &&
		    (seg->file != 0 ||
			!hwtdi_cov_paths_only_sources(look->paths)))
			rc = add_sites(look, seg->low, seg->high, seg->file,
			    seg->line, u->err);
	}
	for (size_t i = 0; rc == HWTD_OK && i < s->n_pieces; i++)
		rc = add_span(look, s->pieces[i].low, s->pieces[i].high,
		    u->err);
	return (rc);
}

/* A unit. */

static int
note_fault(struct hwtdi_cov_look *look, const struct hwtd_error *fault,
    struct hwtd_error *err)
{
	return (fault == NULL || fault->code == HWTD_OK
		? HWTD_OK
		: hwtdi_cov_image_fault(look->store, look->image,
		      fault->message, err));
}

static int
add_unit(struct unit *u)
{
	struct hwtd_context *library = u->look->store->library;
	int rc = HWTD_OK;

	/* Those of DWARF 5 are counted from 0, others from 1. */
	u->n_files = u->walk.lines->n_files + 1;
	u->n_bodies = u->walk.scopes->n;
	u->files = hwtdi_zalloc(library, u->n_files * sizeof(*u->files));
	u->bodies = hwtdi_zalloc(library, u->n_bodies * sizeof(*u->bodies));
	if (u->files == NULL || (u->bodies == NULL && u->n_bodies != 0))
		rc = hwtdi_fail_nomem(u->err,
		    u->n_bodies * sizeof(*u->bodies));
	if (rc == HWTD_OK)
		rc = read_segs(u);
	if (rc == HWTD_OK)
		rc = add_bodies(u);
	if (rc == HWTD_OK)
		rc = add_lines(u);
	if (rc == HWTD_OK)
		rc = add_branches(u);
	if (rc == HWTD_OK)
		rc = note_fault(u->look, u->walk.fault, u->err);
	hwtdi_free(library, u->files, u->n_files * sizeof(*u->files));
	hwtdi_free(library, u->bodies, u->n_bodies * sizeof(*u->bodies));
	hwtdi_array_free(library, u->segs, u->cap_segs, sizeof(*u->segs));
	return (rc);
}

int
hwtdi_cov_look_unit(struct hwtdi_cov_look *look, uint32_t unit,
    struct hwtd_error *err)
{
	struct unit u = { .look = look, .err = err };
	int rc;

	if (look->left == 0)
		return (HWTD_OK);
	rc = hwtdi_dwarf_walk_init(&u.walk, look->symbols->dwarf, unit, err);
	if (rc == HWTD_E_NOT_FOUND)
		return (HWTD_OK);
	if (rc != HWTD_OK)
		return (rc);
	look->left -= u.walk.work < look->left ? u.walk.work : look->left;
	u.counts = hwtdi_cov_list(look->store, look->image, HWTDI_COV_COUNTS,
	    &u.n_counts);
	rc = add_unit(&u);
	hwtdi_dwarf_walk_fini(&u.walk);
	if (hwtdi_dwarf_image_bytes(look->symbols->dwarf) > MOST_KEPT)
		hwtdi_dwarf_image_trim(look->symbols->dwarf, 0);
	if (rc == HWTD_OK && look->left == 0)
		rc = hwtdi_cov_image_fault(look->store, look->image,
		    "its debug information has no end: units share it; what "
		    "comes behind is not told",
		    err);
	return (rc);
}

/* Symbols. */

static int
by_span(const void *va, const void *vb)
{
	const struct hwtdi_cov_span *a = va, *b = vb;

	if (a->low != b->low)
		return (a->low < b->low ? -1 : 1);
	return (a->high > b->high ? -1 : a->high < b->high);
}

static void
join_spans(struct hwtdi_cov_look *look)
{
	size_t n = 0;

	if (look->n_spans > 1)
		qsort(look->spans, look->n_spans, sizeof(*look->spans),
		    by_span);
	for (size_t i = 0; i < look->n_spans; i++) {
		if (n > 0 && look->spans[i].low <= look->spans[n - 1].high) {
			if (look->spans[i].high > look->spans[n - 1].high)
				look->spans[n - 1].high = look->spans[i].high;
		} else {
			look->spans[n++] = look->spans[i];
		}
	}
	look->n_spans = n;
}

/* Debug information speaks of an address. */
static bool
is_told(const struct hwtdi_cov_look *look, uint64_t address)
{
	size_t low = 0, high = look->n_spans;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (look->spans[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low > 0 && address < look->spans[low - 1].high);
}

static int
add_symbol(struct hwtdi_cov_look *look, const struct hwtdi_elf_name *name,
    uint64_t off, uint64_t bytes, struct hwtd_error *err)
{
	struct hwtdi_cov_func func = { .image = look->image };
	struct hwtdi_cov_body body = { .off = off };
	const struct hwtdi_cov_count *counts;
	size_t n;
	int rc;

	counts = hwtdi_cov_list(look->store, look->image, HWTDI_COV_COUNTS,
	    &n);
	rc = keep(look, name->name, &func.linkage, err);
	if (rc == HWTD_OK)
		rc = hwtdi_cov_func_add(look->store, &func,
		    (look->flags & HWTD_COVERAGE_RAW_NAMES) != 0, &body.func,
		    err);
	if (rc != HWTD_OK)
		return (rc);
	if (hwtdi_cov_ran(counts, n, off, off + bytes))
		body.flags = HWTDI_COV_HIT;
	return (hwtdi_cov_add(look->store, look->image, HWTDI_COV_BODIES,
	    &body, err));
}

int
hwtdi_cov_look_symbols(struct hwtdi_cov_look *look, struct hwtd_error *err)
{
	const struct hwtdi_elf_names *names = &look->symbols->names;
	int rc = HWTD_OK;

	join_spans(look);
	if (hwtdi_cov_paths_only_sources(look->paths))
		return (HWTD_OK);
	for (size_t i = 0; rc == HWTD_OK && i < names->n; i++) {
		const struct hwtdi_elf_name *name = &names->at[i];
		uint64_t off, bytes, most = UINT64_MAX;

		if ((name->flags & HWTDI_ELF_NAME_STUB) != 0 ||
		    (name->rank & HWTDI_ELF_NAME_NO_FUNCTION) != 0 ||
		    is_told(look, name->address) ||
		    !hwtdi_cov_code_place(&look->code, name->address, &off,
			&bytes))
			continue;
		if (name->size != 0)
			most = name->size;
		else if (i + 1 < names->n)
			most = names->at[i + 1].address - name->address;
		if (bytes > most)
			bytes = most;
		rc = add_symbol(look, name, off, bytes, err);
		/* Where it ends is a guess without a size. */
		if (rc == HWTD_OK && name->size != 0)
			rc = add_sites(look, name->address,
			    name->address + bytes, 0, 0, err);
		if (rc == HWTD_OK)
			look->store->images[look->image]
			    .flags |= HWTD_COVERAGE_IMAGE_SYMBOLS;
	}
	return (rc);
}

int
hwtdi_cov_look_init(struct hwtdi_cov_look *look, struct hwtd_error *err)
{
	const struct hwtdi_image_found *debug = look->symbols->debug;
	uint64_t bytes = look->symbols->tables.n_bytes;
	int rc;

	if (debug != NULL && debug->bytes != NULL)
		bytes += debug->n_bytes;
	look->left = WORK_OF_ANY + WORK_A_BYTE * bytes;
	rc = hwtdi_cov_code_init(&look->code, look->store->library,
	    look->symbols, err);
	if (rc == HWTD_OK)
		rc = note_fault(look, &look->symbols->fault, err);
	if (rc == HWTD_OK && look->symbols->dwarf != NULL)
		rc = note_fault(look,
		    hwtdi_dwarf_image_fault(look->symbols->dwarf), err);
	return (rc);
}

void
hwtdi_cov_look_fini(struct hwtdi_cov_look *look)
{
	if (look->code.library != NULL)
		hwtdi_cov_code_fini(&look->code);
	hwtdi_array_free(look->store->library, look->spans, look->cap_spans,
	    sizeof(*look->spans));
	look->spans = NULL;
	look->n_spans = look->cap_spans = 0;
}
