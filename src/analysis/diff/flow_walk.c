/*
 * Two threads in lockstep: block by block, and what is done where that ends.
 */
#include "analysis/diff/flow_walk.h"

#include <string.h>

#include "base/fail.h"

/* Blocks that are compared before the caller can show progress. */
#define BLOCKS_AT_ONCE 65536u

/* So many blocks in a row are no chance. */
#define FIT_LEAST 32u
#define FIT_SURE 1024u
#define MOST_WINDOWS 16u
#define SHORT_PIECE 4096u
#define MEET_BLOCKS 8u
#define MEET_FEW 3u
#define MEET_NEAR 64u

int
hwtdi_flow_walk_init(struct hwtdi_flow_walk *w, struct hwtd_context *library,
    struct hwtd_trace *a, struct hwtd_trace *b,
    const struct hwtd_divergences_options *o, struct hwtd_error *err)
{
	struct hwtd_trace *const traces[2] = { a, b };
	int rc;

	memset(w, 0, sizeof(*w));
	w->library = library;
	w->state = HWTDI_FLOW_DONE;
	w->max_rows = o->max_rows;
	w->n_blocks = o->n_blocks;
	w->window = o->window;
	rc = hwtdi_flow_images_init(&w->images, library, a, b, err);
	for (unsigned int i = 0; i < 2; i++) {
		const size_t bytes = w->n_blocks * sizeof(*w->ring[i]);

		w->sides[i].library = library;
		w->sides[i].trace = traces[i];
		w->sides[i].images = &w->images;
		w->sides[i].side = i;
		w->sides[i].with_kernel = (o->flags &
					      HWTD_DIVERGENCES_KERNEL) != 0;
		w->ring[i] = hwtdi_zalloc(library, bytes);
		w->common[i] = hwtdi_zalloc(library, bytes);
		w->next[i] = hwtdi_zalloc(library, bytes);
		if (rc == HWTD_OK &&
		    (w->ring[i] == NULL || w->common[i] == NULL ||
			w->next[i] == NULL))
			rc = hwtdi_fail_nomem(err, bytes);
	}
	/* A window is that long, but for what came with its last rows. */
	w->cap_scratch = hwtdi_flow_meet_room(w->window);
	w->scratch = hwtdi_alloc(library,
	    w->cap_scratch * sizeof(*w->scratch));
	if (rc == HWTD_OK && w->scratch == NULL)
		rc = hwtdi_fail_nomem(err,
		    w->cap_scratch * sizeof(*w->scratch));
	return (rc);
}

void
hwtdi_flow_walk_fini(struct hwtdi_flow_walk *w)
{
	struct hwtd_context *ctx = w->library;

	hwtdi_flow_walk_end(w);
	for (unsigned int i = 0; i < 2; i++) {
		const size_t bytes = w->n_blocks * sizeof(*w->ring[i]);

		hwtdi_free(ctx, w->ring[i], bytes);
		hwtdi_free(ctx, w->common[i], bytes);
		hwtdi_free(ctx, w->next[i], bytes);
	}
	hwtdi_free(ctx, w->scratch, w->cap_scratch * sizeof(*w->scratch));
	hwtdi_flow_images_fini(&w->images);
}

int
hwtdi_flow_walk_begin(struct hwtdi_flow_walk *w,
    const struct hwtdi_flow_thread *a, const struct hwtdi_flow_thread *b,
    const struct hwtd_events_options *const events[2], struct hwtd_error *err)
{
	const struct hwtdi_flow_thread *const threads[2] = { a, b };
	int rc = HWTD_OK;

	memset(&w->pair, 0, sizeof(w->pair));
	w->state = HWTDI_FLOW_AT_START;
	w->n_ring = w->at_ring = 0;
	w->rows = 0;
	w->same = 0;
	w->any = w->gapped = w->ambiguous = false;
	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++) {
		w->had_gap[i] = false;
		rc = hwtdi_flow_side_begin(&w->sides[i], threads[i], events[i],
		    err);
	}
	return (rc);
}

void
hwtdi_flow_walk_end(struct hwtdi_flow_walk *w)
{
	for (unsigned int i = 0; i < 2; i++)
		if (w->sides[i].library != NULL)
			hwtdi_flow_side_end(&w->sides[i]);
	w->state = HWTDI_FLOW_DONE;
}

/* What there is of each side, without what lies behind a gap. */
struct view {
	struct hwtdi_flow_block *at[2];
	size_t n[2];
	/* Nothing comes behind; or a gap does. */
	bool ended[2], gap[2];
};

static int
look_at(struct hwtdi_flow_walk *w, const size_t wants[2], struct view *v,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	memset(v, 0, sizeof(*v));
	for (unsigned int i = 0; i < 2 && rc == HWTD_OK; i++) {
		struct hwtdi_flow_side *s = &w->sides[i];
		const size_t want = wants[i];
		size_t n = 0, most;

		rc = hwtdi_flow_side_fill(s, want, err);
		if (rc != HWTD_OK)
			break;
		v->at[i] = hwtdi_flow_side_blocks(s);
		most = hwtdi_flow_side_n(s);
		/* Whatever came with the last rows. */
		if (most > want)
			most = want;
		while (n < most && v->at[i][n].kind != HWTDI_FLOW_GAP)
			n++;
		v->n[i] = n;
		v->gap[i] = n < most;
		v->ended[i] = !v->gap[i] && s->ended &&
		    n == hwtdi_flow_side_n(s);
	}
	return (rc);
}

static int
look(struct hwtdi_flow_walk *w, size_t want, struct view *v,
    struct hwtd_error *err)
{
	const size_t wants[2] = { want, want };

	return (look_at(w, wants, v, err));
}

/* Rows. */

static void
copy_next(struct hwtdi_flow_walk *w, const struct view *v,
    struct hwtd_divergence *row)
{
	for (unsigned int i = 0; i < 2; i++) {
		size_t n = v->n[i] < w->n_blocks ? v->n[i] : w->n_blocks;

		for (size_t k = 0; k < n; k++)
			w->next[i][k] = v->at[i][k].told;
		row->next[i] = w->next[i];
		row->n_next[i] = n;
		for (size_t k = 0; k < w->n_ring; k++)
			w->common[i][k] = w->ring[i][(w->at_ring + k) %
			    w->n_ring];
		row->common[i] = w->common[i];
	}
	row->n_common = w->n_ring;
	row->stride = sizeof(struct hwtd_flow_block);
}

/* The code of two blocks is not the same one: the bytes that both have at the end. */
static bool
bytes_differ(struct hwtdi_flow_walk *w, const struct hwtd_flow_block *a,
    const struct hwtd_flow_block *b, bool at_end)
{
	const struct hwtd_flow_block *const both[2] = { a, b };
	const uint32_t common = a->bytes < b->bytes ? a->bytes : b->bytes;
	const size_t want = common < 64 ? common : 64;
	uint8_t bytes[2][64];

	for (unsigned int i = 0; i < 2; i++) {
		const uint64_t from = both[i]->address +
		    (at_end ? both[i]->bytes - want : 0);
		size_t n = 0;

		if (both[i]->section == HWTD_NO_ID ||
		    hwtd_trace_read_code(w->sides[i].trace, both[i]->section,
			from, bytes[i], want, &n) != HWTD_OK ||
		    n != want)
			return (false);
	}
	return (memcmp(bytes[0], bytes[1], want) != 0);
}

static bool
code_differs(struct hwtdi_flow_walk *w, const struct view *v)
{
	if (w->n_ring != 0) {
		const size_t last = (w->at_ring + w->n_ring - 1) % w->n_ring;

		if (w->ring[0][last].file_off == w->ring[1][last].file_off &&
		    bytes_differ(w, &w->ring[0][last], &w->ring[1][last],
			true))
			return (true);
	}
	return (v->n[0] != 0 && v->n[1] != 0 &&
	    v->at[0]->kind == HWTDI_FLOW_CODE &&
	    v->at[1]->kind == HWTDI_FLOW_CODE &&
	    v->at[0]->told.image == v->at[1]->told.image &&
	    v->at[0]->told.file_off == v->at[1]->told.file_off &&
	    bytes_differ(w, &v->at[0]->told, &v->at[1]->told, false));
}

static int
put_row(struct hwtdi_flow_walk *w, uint32_t kind, struct hwtd_divergence *row,
    struct hwtd_error *err)
{
	struct view v;
	int rc = look(w, w->n_blocks, &v, err);

	if (rc != HWTD_OK)
		return (rc);
	row->kind = kind;
	row->flags = (w->gapped ? HWTD_DIVERGENCEF_BEHIND_GAP : 0) |
	    (w->ambiguous ? HWTD_DIVERGENCEF_AMBIGUOUS : 0) |
	    (w->any ? 0 : HWTD_DIVERGENCEF_AT_START) |
	    (code_differs(w, &v) ? HWTD_DIVERGENCEF_CODE_DIFFERS : 0);
	row->same = w->same;
	copy_next(w, &v, row);
	w->same = 0;
	w->gapped = w->ambiguous = false;
	w->rows++;
	if (kind == HWTD_DIVERGENCE_FLOW)
		w->pair.divergences++;
	return (HWTD_OK);
}

static int
finish(struct hwtdi_flow_walk *w, uint32_t flags)
{
	w->pair.flags |= flags | HWTD_DIVERGENCE_PAIRF_DONE;
	w->state = HWTDI_FLOW_DONE;
	return (HWTD_OK);
}

/* States. */

static void
take_same(struct hwtdi_flow_walk *w, const struct hwtdi_flow_block *a,
    const struct hwtdi_flow_block *b)
{
	const struct hwtdi_flow_block *const both[2] = { a, b };
	size_t at = w->at_ring;

	if (w->n_ring < w->n_blocks)
		at = w->n_ring++;
	else
		w->at_ring = (w->at_ring + 1) % w->n_blocks;
	for (unsigned int i = 0; i < 2; i++)
		w->ring[i][at] = both[i]->told;
	if (a->kind == HWTDI_FLOW_CODE) {
		w->pair.same++;
		w->pair.same_insns += a->told.insns;
	}
	w->same++;
	w->any = true;
}

/* The last branch of both was taken in one only, whatever came then. */
static bool
last_differs(const struct hwtdi_flow_walk *w)
{
	size_t last;

	if (w->n_ring == 0 || w->had_gap[0] || w->had_gap[1])
		return (false);
	last = (w->at_ring + w->n_ring - 1) % w->n_ring;
	return (w->ring[0][last].branch == HWTD_BRANCH_CONDITIONAL &&
	    ((w->ring[0][last].flags ^ w->ring[1][last].flags) &
		HWTD_EVF_TAKEN) != 0);
}

/* One has no block any more. */
static int
at_end(struct hwtdi_flow_walk *w, const struct view *v,
    struct hwtd_divergence *row, struct hwtd_error *err)
{
	int rc;

	if (v->ended[0] && v->ended[1] && v->n[0] == 0 && v->n[1] == 0)
		return (finish(w, 0));
	/* Whoever ended in a gap may have gone on as the other does. */
	for (unsigned int i = 0; i < 2; i++)
		if (v->ended[i] && v->n[i] == 0 && w->had_gap[i])
			return (finish(w,
			    i == 0 ? HWTD_DIVERGENCE_PAIRF_A_CUT
				   : HWTD_DIVERGENCE_PAIRF_B_CUT));
	row->ended = v->ended[0] && v->n[0] == 0 ? HWTD_SIDE_A : HWTD_SIDE_B;
	rc = put_row(w,
	    last_differs(w) ? HWTD_DIVERGENCE_FLOW : HWTD_DIVERGENCE_END, row,
	    err);
	return (rc != HWTD_OK ? rc : finish(w, 0));
}

/* Gaps that come next are taken; false: there are none. */
static bool
take_gaps(struct hwtdi_flow_walk *w, const struct view *v)
{
	bool any = false;

	for (unsigned int i = 0; i < 2; i++) {
		if (v->n[i] != 0 || !v->gap[i])
			continue;
		hwtdi_flow_side_drop(&w->sides[i], 1);
		w->had_gap[i] = any = true;
	}
	if (any) {
		w->gapped = true;
		w->state = HWTDI_FLOW_BEHIND_GAP;
	}
	return (any);
}

static int
in_step(struct hwtdi_flow_walk *w, struct hwtd_divergence *row,
    struct hwtd_error *err)
{
	struct view v;
	size_t n, left = BLOCKS_AT_ONCE;
	int rc;

	for (;;) {
		rc = look(w, 1, &v, err);
		if (rc != HWTD_OK || left == 0)
			return (rc);
		if (take_gaps(w, &v))
			return (HWTD_OK);
		if (v.n[0] == 0 || v.n[1] == 0)
			return (at_end(w, &v, row, err));
		/* Those that are there are compared without looking anew. */
		n = hwtdi_flow_side_n(&w->sides[0]);
		if (hwtdi_flow_side_n(&w->sides[1]) < n)
			n = hwtdi_flow_side_n(&w->sides[1]);
		if (n > left)
			n = left;
		for (size_t i = 0; i < n; i++) {
			struct hwtdi_flow_block *a = &v.at[0][i];
			struct hwtdi_flow_block *b = &v.at[1][i];

			if (!hwtdi_flow_same(a, b)) {
				n = i;
				break;
			}
			take_same(w, a, b);
			w->had_gap[0] = w->had_gap[1] = false;
		}
		hwtdi_flow_side_drop(&w->sides[0], n);
		hwtdi_flow_side_drop(&w->sides[1], n);
		left -= n;
		if (n != 0)
			continue;
		/* Both have code, and it is not the same. */
		rc = put_row(w, HWTD_DIVERGENCE_FLOW, row, err);
		w->state = HWTDI_FLOW_APART;
		return (rc);
	}
}

static void
pass(struct hwtdi_flow_walk *w, unsigned int side, size_t n, uint64_t *counts)
{
	counts[side] += n;
	hwtdi_flow_side_drop(&w->sides[side], n);
}

/* Where both are the same again, the nearest. */
static bool
meet(struct hwtdi_flow_walk *w, const struct view *v, size_t *i_out,
    size_t *j_out)
{
	/* Near by a few blocks are enough, as far as they go; then more. */
	const struct {
		size_t n, window;
	} tries[] = { { MEET_FEW, MEET_NEAR }, { MEET_BLOCKS, SIZE_MAX },
		{ MEET_FEW, SIZE_MAX } };

	for (size_t k = 0; k < sizeof(tries) / sizeof(tries[0]); k++) {
		const size_t most = tries[k].window;

		if (hwtdi_flow_meet(v->at[0], v->n[0] < most ? v->n[0] : most,
			v->at[1], v->n[1] < most ? v->n[1] : most, tries[k].n,
			w->library->seed, w->scratch, i_out, j_out))
			return (true);
	}
	/* Both end soon: what is the last of both is the same end. */
	if (v->ended[0] && v->ended[1])
		return (hwtdi_flow_meet(v->at[0], v->n[0], v->at[1], v->n[1],
		    1, w->library->seed, w->scratch, i_out, j_out));
	return (false);
}

/* No more is told of the pair. */
static int
give_up(struct hwtdi_flow_walk *w, struct hwtd_divergence *row,
    struct hwtd_error *err)
{
	int rc = put_row(w, HWTD_DIVERGENCE_LOST, row, err);

	return (rc != HWTD_OK ? rc : finish(w, HWTD_DIVERGENCE_PAIRF_LOST));
}

static int
apart(struct hwtdi_flow_walk *w, struct hwtd_divergence *row,
    struct hwtd_error *err)
{
	struct view v;
	size_t i = 0, j = 0;
	int rc;

	if (w->rows >= w->max_rows)
		return (finish(w, HWTD_DIVERGENCE_PAIRF_MORE));
	rc = look(w, w->window, &v, err);
	if (rc != HWTD_OK)
		return (rc);
	if (meet(w, &v, &i, &j)) {
		pass(w, 0, i, w->pair.other);
		pass(w, 1, j, w->pair.other);
		w->state = HWTDI_FLOW_IN_STEP;
		return (HWTD_OK);
	}
	/* A gap hides where that was. */
	if (v.gap[0] || v.gap[1]) {
		for (unsigned int side = 0; side < 2; side++)
			if (v.gap[side])
				pass(w, side, v.n[side], w->pair.other);
		(void)look(w, 1, &v, err);
		(void)take_gaps(w, &v);
		return (HWTD_OK);
	}
	/* All that is left of both was looked at. */
	if (v.ended[0] && v.ended[1]) {
		pass(w, 0, v.n[0], w->pair.other);
		pass(w, 1, v.n[1], w->pair.other);
		return (finish(w, 0));
	}
	return (give_up(w, row, err));
}

static size_t
least_of(size_t a, size_t b)
{
	return (a < b ? a : b);
}

/* The begin of side `x` in the other one, if it is long enough to be no chance. */
static struct hwtdi_flow_fit
fit(struct hwtdi_flow_walk *w, const struct view *v, unsigned int x)
{
	const unsigned int y = 1 - x;
	const size_t n_x = least_of(v->n[x], w->window);
	struct hwtdi_flow_fit f = hwtdi_flow_fit(v->at[x], n_x, v->at[y],
	    v->n[y], w->scratch);
	/* A trace may end before so many. */
	const bool to_end = f.n >= MEET_BLOCKS && v->ended[y] &&
	    f.at + f.n == v->n[y];

	if (f.n < least_of(n_x, FIT_LEAST) && !to_end)
		f.n = 0;
	return (f);
}

/* What was found behind a gap, and in which of both. */
struct found {
	struct hwtdi_flow_fit fit;
	/* The side whose begin it is. */
	unsigned int x;
	/* Nothing better will be found further on. */
	bool sure;
};

static void
fit_both(struct hwtdi_flow_walk *w, const struct view *v, bool start,
    struct found *best)
{
	memset(best, 0, sizeof(*best));
	for (unsigned int x = 0; x < 2; x++) {
		struct hwtdi_flow_fit f;

		if (!start && !w->had_gap[x])
			continue;
		f = fit(w, v, x);
		if (f.n < best->fit.n ||
		    (f.n == best->fit.n && f.at >= best->fit.at))
			continue;
		best->fit = f;
		best->x = x;
		best->sure = f.n >= least_of(v->n[x], FIT_SURE);
	}
}

/*
 * Look for the begin of one in the other.  A gap may be long, and what is near
 * look like what is far: so all is looked through, up to some windows, until it is
 * sure.
 */
static int
find_fit(struct hwtdi_flow_walk *w, bool start, struct view *v,
    struct found *best, struct hwtd_error *err)
{
	size_t wants[2] = { w->window, w->window };
	int rc;

	for (size_t windows = 1;; windows *= 4) {
		bool more = false;

		for (unsigned int i = 0; i < 2; i++)
			/* Of who has the gap the begin is enough. */
			if (start || !w->had_gap[i] || w->had_gap[1 - i])
				wants[i] = w->window * windows;
		rc = look_at(w, wants, v, err);
		if (rc != HWTD_OK)
			return (rc);
		fit_both(w, v, start, best);
		for (unsigned int i = 0; i < 2; i++)
			more = more || v->n[i] == wants[i];
		if (best->sure || !more || windows >= MOST_WINDOWS)
			return (HWTD_OK);
	}
}

/* The begin of neither is in what there is of the other. */
static int
search_on(struct hwtdi_flow_walk *w, const struct view *v,
    struct hwtd_divergence *row, struct hwtd_error *err)
{
	/* Passed over is the one without a gap, or the shorter one. */
	const unsigned int y = w->had_gap[0] &&
		!(w->had_gap[1] && v->n[0] < v->n[1])
	    ? 1
	    : 0;
	const unsigned int x = 1 - y;
	size_t i = 0, j = 0, n = v->n[y];

	/* Maybe it lies in the next gap, and what follows has it. */
	if (v->gap[y]) {
		pass(w, y, n, w->pair.passed);
		return (HWTD_OK);
	}
	if (hwtdi_flow_meet(v->at[0], least_of(v->n[0], w->window), v->at[1],
		v->n[1], FIT_LEAST, w->library->seed, w->scratch, &i, &j)) {
		pass(w, 0, i, w->pair.passed);
		pass(w, 1, j, w->pair.passed);
		w->ambiguous = true;
		w->state = HWTDI_FLOW_IN_STEP;
		return (HWTD_OK);
	}
	if (v->gap[x] && v->n[x] < SHORT_PIECE) {
		pass(w, x, v->n[x], w->pair.passed);
		return (HWTD_OK);
	}
	if (v->ended[y])
		return (give_up(w, row, err));
	pass(w, y, n > FIT_LEAST ? n - FIT_LEAST : n, w->pair.passed);
	return (HWTD_OK);
}

static int
behind_gap(struct hwtdi_flow_walk *w, struct hwtd_divergence *row,
    struct hwtd_error *err)
{
	const bool start = w->state == HWTDI_FLOW_AT_START;
	struct found best;
	struct view v;
	int rc = look(w, 1, &v, err);

	if (rc != HWTD_OK)
		return (rc);
	if (take_gaps(w, &v))
		return (HWTD_OK);
	if (v.n[0] == 0 || v.n[1] == 0)
		return (at_end(w, &v, row, err));
	/* Nearly always both begin at one place. */
	if (start && hwtdi_flow_same(v.at[0], v.at[1])) {
		w->state = HWTDI_FLOW_IN_STEP;
		return (HWTD_OK);
	}
	rc = find_fit(w, start, &v, &best, err);
	if (rc != HWTD_OK)
		return (rc);
	if (best.fit.n != 0) {
		pass(w, 1 - best.x, best.fit.at, w->pair.passed);
		w->ambiguous = best.fit.ambiguous;
		w->state = HWTDI_FLOW_IN_STEP;
		return (HWTD_OK);
	}
	if (start) {
		w->state = HWTDI_FLOW_IN_STEP;
		return (HWTD_OK);
	}
	return (search_on(w, &v, row, err));
}

int
hwtdi_flow_walk_step(struct hwtdi_flow_walk *w, struct hwtd_divergence *row,
    struct hwtd_error *err)
{
	int rc;

	row->kind = HWTD_DIVERGENCE_UNKNOWN;
	switch (w->state) {
	case HWTDI_FLOW_IN_STEP:
		rc = in_step(w, row, err);
		break;
	case HWTDI_FLOW_APART:
		rc = apart(w, row, err);
		break;
	case HWTDI_FLOW_AT_START:
	case HWTDI_FLOW_BEHIND_GAP:
		rc = behind_gap(w, row, err);
		break;
	default:
		return (HWTD_END);
	}
	for (unsigned int i = 0; i < 2; i++) {
		w->pair.insns[i] = w->sides[i].insns;
		w->pair.foreign_insns[i] = w->sides[i].foreign_insns;
		w->pair.gaps[i] = w->sides[i].gaps;
		w->pair.gap_bytes[i] = w->sides[i].gap_bytes;
	}
	return (rc);
}
