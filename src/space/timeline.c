/*
 * The mapping timeline: each change of a space is a new version of its map,
 * versions share what is equal, a fork is a version of the parent.
 */
#include "space/timeline.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "space/space_table.h"
#include "space/version_tree.h"

/* The values of the maps: what lies from `first` on.  Change 0: nothing. */
struct change {
	/* First moment at which it may show. */
	uint64_t from;
	uint64_t first;
	struct hwtdi_piece piece;
};

/* A space from moment `from` on. */
struct version {
	uint64_t from;
	/* Nothing of the space is from before this moment. */
	uint64_t epoch;
	/* Two maps: JIT code lies over the rest. */
	uint32_t rest;
	uint32_t jit;
};

struct space {
	struct version *versions;
	size_t n;
	size_t cap;
	/* The space to look through to; HWTD_NO_ID: none. */
	uint32_t kernel;
	/* Records of the start: it has mappings; they came from a parent. */
	bool own;
	bool inherited;
};

struct hwtdi_timeline {
	struct hwtd_context *library;
	uint64_t n_start;
	/* Records before this one have had their turn. */
	uint64_t seq;
	struct hwtdi_version_tree tree;
	struct hwtdi_space_table table;
	struct change *changes;
	size_t n_changes;
	size_t cap_changes;
	struct space *spaces;
	size_t cap_spaces;
};

/* One answer at one moment; it holds from `from` on, at [first, last]. */
struct view {
	uint64_t from;
	uint64_t first;
	uint64_t last;
};

int
hwtdi_timeline_create(struct hwtd_context *ctx, uint64_t n_start,
    struct hwtdi_timeline **timeline_out, struct hwtd_error *err)
{
	static const struct hwtdi_space_key fixed[2] = {
		{ HWTDI_SPACE_KIND_ANY, HWTD_NO_ID, HWTD_NO_ID },
		{ HWTDI_SPACE_KIND_KERNEL, HWTD_NO_ID, HWTD_NO_ID },
	};
	struct hwtdi_timeline *tl = hwtdi_zalloc(ctx, sizeof(*tl));
	uint32_t number;
	int rc;

	if (tl == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*tl)));
	tl->library = ctx;
	tl->n_start = n_start;
	rc = hwtdi_array_grow(ctx, &tl->changes, &tl->cap_changes, 1,
	    sizeof(*tl->changes), err);
	if (rc == HWTD_OK) {
		memset(&tl->changes[0], 0, sizeof(tl->changes[0]));
		tl->changes[0].piece.section = HWTD_NO_ID;
		tl->changes[0].piece.flags = HWTDI_PIECE_NOTHING;
		tl->n_changes = 1;
	}
	for (size_t i = 0; rc == HWTD_OK && i < 2; i++)
		rc = hwtdi_timeline_space(tl, &fixed[i], &number, err);
	if (rc != HWTD_OK) {
		hwtdi_timeline_destroy(tl);
		return (rc);
	}
	*timeline_out = tl;
	return (HWTD_OK);
}

void
hwtdi_timeline_destroy(struct hwtdi_timeline *tl)
{
	struct hwtd_context *ctx;

	if (tl == NULL)
		return;
	ctx = tl->library;
	for (size_t i = 0; i < tl->table.n && i < tl->cap_spaces; i++)
		hwtdi_array_free(ctx, tl->spaces[i].versions,
		    tl->spaces[i].cap, sizeof(*tl->spaces[i].versions));
	hwtdi_array_free(ctx, tl->spaces, tl->cap_spaces, sizeof(*tl->spaces));
	hwtdi_array_free(ctx, tl->changes, tl->cap_changes,
	    sizeof(*tl->changes));
	hwtdi_space_table_fini(ctx, &tl->table);
	hwtdi_version_tree_fini(ctx, &tl->tree);
	hwtdi_free(ctx, tl, sizeof(*tl));
}

int
hwtdi_timeline_space(struct hwtdi_timeline *tl,
    const struct hwtdi_space_key *key, uint32_t *space_out,
    struct hwtd_error *err)
{
	const size_t n = tl->table.n;
	uint32_t kernel = HWTD_NO_ID;
	struct space *space;
	int rc;

	if (hwtdi_space_table_find(&tl->table, key, space_out))
		return (HWTD_OK);
	if (key->kind == HWTDI_SPACE_KIND_USER ||
	    key->kind == HWTDI_SPACE_KIND_HYPERVISOR) {
		const struct hwtdi_space_key k = { HWTDI_SPACE_KIND_KERNEL,
			HWTD_NO_ID, key->vmid };

		rc = hwtdi_timeline_space(tl, &k, &kernel, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	rc = hwtdi_array_grow(tl->library, &tl->spaces, &tl->cap_spaces, n + 2,
	    sizeof(*tl->spaces), err);
	if (rc == HWTD_OK)
		rc = hwtdi_space_table_intern(tl->library, &tl->table, key,
		    space_out, err);
	if (rc != HWTD_OK)
		return (rc);
	space = &tl->spaces[*space_out];
	memset(space, 0, sizeof(*space));
	space->kernel = kernel;
	return (HWTD_OK);
}

bool
hwtdi_timeline_space_find(const struct hwtdi_timeline *tl,
    const struct hwtdi_space_key *key, uint32_t *space_out)
{
	return (hwtdi_space_table_find(&tl->table, key, space_out));
}

/* What a space is after all changes so far. */
static struct version
newest(const struct space *space)
{
	static const struct version empty;

	return (space->n == 0 ? empty : space->versions[space->n - 1]);
}

/*
 * Look that a change may be made and make room for it, so that nothing can
 * fail later.  `from_out` is the first moment at which it shows.
 */
static int
prepare(struct hwtdi_timeline *tl, uint64_t seq, uint32_t space,
    uint64_t *from_out, struct hwtd_error *err)
{
	struct hwtd_context *ctx = tl->library;
	struct space *s;
	int rc;

	if (space >= tl->table.n)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no address space %u",
		    space));
	s = &tl->spaces[space];
	if (seq == HWTDI_SEQ_START) {
		if (newest(s).from != 0)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "address space %u is past its start", space));
		*from_out = 0;
	} else {
		if (seq < tl->seq)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "record %" PRIu64 " comes after record %" PRIu64,
			    seq, tl->seq));
		*from_out = seq < tl->n_start ? 0 : seq + 1;
	}
	if (tl->n_changes == UINT32_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u changes of mappings", UINT32_MAX));
	rc = hwtdi_array_grow(ctx, &s->versions, &s->cap, s->n + 1,
	    sizeof(*s->versions), err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &tl->changes, &tl->cap_changes,
		    tl->n_changes + 1, sizeof(*tl->changes), err);
	if (rc == HWTD_OK && seq != HWTDI_SEQ_START)
		tl->seq = seq;
	return (rc);
}

/* The byte of the section is known, not only that something is there. */
static bool
has_bytes(const struct hwtdi_piece *piece)
{
	return (piece->section != HWTD_NO_ID);
}

/* Changes of one moment make one version. */
static void
add_version(struct space *space, const struct version *version)
{
	if (space->n == 0 ||
	    space->versions[space->n - 1].from != version->from)
		space->n++;
	space->versions[space->n - 1] = *version;
}

/* A map already says this about the whole range. */
static bool
says(const struct hwtdi_timeline *tl, uint32_t map, uint64_t first,
    uint64_t last, const struct hwtdi_piece *piece)
{
	const struct hwtdi_version_range r = hwtdi_version_tree_find(&tl->tree,
	    map, first);
	const struct change *c = &tl->changes[r.value];

	if (r.last < last || c->piece.section != piece->section ||
	    c->piece.flags != piece->flags)
		return (false);
	return (!has_bytes(piece) ||
	    c->piece.section_off + (first - c->first) == piece->section_off);
}

/* The map with `piece` at [first, last]. */
static int
put(struct hwtdi_timeline *tl, uint32_t *map, uint64_t from, uint64_t first,
    uint64_t last, const struct hwtdi_piece *piece, struct hwtd_error *err)
{
	struct change *c;
	int rc;

	/* The same again makes nothing new, and cuts nothing. */
	if (says(tl, *map, first, last, piece))
		return (HWTD_OK);
	rc = hwtdi_version_tree_reserve(tl->library, &tl->tree, err);
	if (rc != HWTD_OK)
		return (rc);
	c = &tl->changes[tl->n_changes];
	c->from = from;
	c->first = first;
	c->piece = *piece;
	*map = hwtdi_version_tree_set(&tl->tree, *map, first, last,
	    (uint32_t)tl->n_changes);
	tl->n_changes++;
	return (HWTD_OK);
}

/* Both maps of a space get a piece at [first, last], or lose what is there. */
static int
put_both(struct hwtdi_timeline *tl, uint64_t seq, uint32_t space,
    uint64_t first, uint64_t last, const struct hwtdi_piece *piece,
    struct hwtd_error *err)
{
	const struct hwtdi_piece nothing = tl->changes[0].piece;
	struct version v;
	uint64_t from;
	int rc;

	rc = prepare(tl, seq, space, &from, err);
	if (rc != HWTD_OK)
		return (rc);
	v = newest(&tl->spaces[space]);
	/* A child with mappings of its own at the start inherited nothing. */
	if (from == 0 && tl->spaces[space].inherited)
		memset(&v, 0, sizeof(v));
	v.from = from;
	if ((piece->flags & HWTDI_PIECE_JIT) != 0) {
		rc = put(tl, &v.jit, from, first, last, piece, err);
	} else {
		if ((piece->flags & HWTDI_PIECE_ANONYMOUS) == 0)
			rc = put(tl, &v.jit, from, first, last, &nothing, err);
		/* A second change may need a second place. */
		if (rc == HWTD_OK)
			rc = prepare(tl, seq, space, &from, err);
		if (rc == HWTD_OK)
			rc = put(tl, &v.rest, from, first, last, piece, err);
	}
	if (rc != HWTD_OK)
		return (rc);
	if (from == 0) {
		tl->spaces[space].inherited = false;
		tl->spaces[space].own = true;
	}
	add_version(&tl->spaces[space], &v);
	return (HWTD_OK);
}

/* The last address of a range that is not empty, at most the highest. */
static uint64_t
last_of(uint64_t addr, uint64_t len)
{
	return (len - 1 > UINT64_MAX - addr ? UINT64_MAX : addr + (len - 1));
}

int
hwtdi_timeline_map(struct hwtdi_timeline *tl, uint64_t seq, uint32_t space,
    uint64_t addr, uint64_t len, const struct hwtdi_piece *piece,
    struct hwtd_error *err)
{
	struct hwtdi_piece p = *piece;

	if (len == 0)
		return (HWTD_OK);
	p.flags &= HWTDI_PIECE_JIT | HWTDI_PIECE_ANONYMOUS;
	if (!has_bytes(&p))
		p.section_off = 0;
	return (put_both(tl, seq, space, addr, last_of(addr, len), &p, err));
}

int
hwtdi_timeline_unmap(struct hwtdi_timeline *tl, uint64_t seq, uint32_t space,
    uint64_t addr, uint64_t len, struct hwtd_error *err)
{
	const struct hwtdi_piece nothing = tl->changes[0].piece;

	if (len == 0)
		return (HWTD_OK);
	return (put_both(tl, seq, space, addr, last_of(addr, len), &nothing,
	    err));
}

int
hwtdi_timeline_exec(struct hwtdi_timeline *tl, uint64_t seq, uint32_t space,
    struct hwtd_error *err)
{
	struct version v = { 0 };
	int rc;

	rc = prepare(tl, seq, space, &v.from, err);
	if (rc != HWTD_OK)
		return (rc);
	v.epoch = v.from;
	tl->spaces[space].inherited = false;
	add_version(&tl->spaces[space], &v);
	return (HWTD_OK);
}

int
hwtdi_timeline_exit(struct hwtdi_timeline *tl, uint64_t seq, uint32_t space,
    struct hwtd_error *err)
{
	return (hwtdi_timeline_exec(tl, seq, space, err));
}

int
hwtdi_timeline_fork(struct hwtdi_timeline *tl, uint64_t seq, uint32_t child,
    uint32_t parent, struct hwtd_error *err)
{
	struct version v;
	uint64_t from = 0;
	int rc;

	if (parent >= tl->table.n)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no address space %u",
		    parent));
	if (child == parent)
		return (HWTD_OK);
	rc = prepare(tl, seq, child, &from, err);
	if (rc != HWTD_OK)
		return (rc);
	if (from == 0) {
		if (tl->spaces[child].own)
			return (HWTD_OK);
		tl->spaces[child].inherited = true;
	}
	v = newest(&tl->spaces[parent]);
	v.from = from;
	v.epoch = from;
	add_version(&tl->spaces[child], &v);
	return (HWTD_OK);
}

static void
narrow(struct view *view, uint64_t from, uint64_t first, uint64_t last)
{
	if (view->from < from)
		view->from = from;
	if (view->first < first)
		view->first = first;
	if (view->last > last)
		view->last = last;
}

/* What one map says; the view becomes as narrow as that is. */
static const struct change *
see_map(const struct hwtdi_timeline *tl, uint32_t map, uint64_t addr,
    struct view *view)
{
	const struct hwtdi_version_range r = hwtdi_version_tree_find(&tl->tree,
	    map, addr);
	const struct change *c = &tl->changes[r.value];

	narrow(view, c->from, r.first, r.last);
	return (c);
}

/* A space at moment `t`; NULL: nothing was done to it yet. */
static const struct version *
version_at(const struct hwtdi_timeline *tl, uint32_t space, uint64_t t)
{
	const struct space *s = &tl->spaces[space];
	size_t low = 0, high = s->n;

	/* The first version that is from later than `t`. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->versions[mid].from <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return (low == 0 ? NULL : &s->versions[low - 1]);
}

uint64_t
hwtdi_timeline_epoch(const struct hwtdi_timeline *tl, uint32_t space,
    uint64_t t)
{
	const struct version *v = NULL;

	if (space < tl->table.n)
		v = version_at(tl, space, t);
	return (v == NULL ? 0 : v->epoch);
}

/* What a space has itself; of JIT code only, or of all. */
static const struct change *
see_space(const struct hwtdi_timeline *tl, uint32_t space, uint64_t t,
    uint64_t addr, bool only_jit, struct view *view)
{
	const struct version *v = version_at(tl, space, t);
	const struct change *c;

	if (v == NULL)
		return (&tl->changes[0]);
	narrow(view, v->epoch, 0, UINT64_MAX);
	c = see_map(tl, v->jit, addr, view);
	if (only_jit || (c->piece.flags & HWTDI_PIECE_NOTHING) == 0)
		return (c);
	return (see_map(tl, v->rest, addr, view));
}

/* What a space sees at one moment, also through to others. */
static const struct change *
see(const struct hwtdi_timeline *tl, uint32_t space, uint64_t t, uint64_t addr,
    bool through, struct view *view)
{
	const uint32_t others[2] = { tl->spaces[space].kernel,
		space == HWTDI_SPACE_ANY ? HWTD_NO_ID : HWTDI_SPACE_ANY };
	const struct change *c, *other;

	c = see_space(tl, space, t, addr, false, view);
	if (!through)
		return (c);
	for (size_t i = 0; i < 2; i++) {
		if (others[i] == HWTD_NO_ID)
			continue;
		if ((c->piece.flags & HWTDI_PIECE_NOTHING) != 0) {
			c = see_space(tl, others[i], t, addr, false, view);
		} else if ((c->piece.flags & HWTDI_PIECE_JIT) == 0 &&
		    (c->piece.flags & HWTDI_PIECE_ANONYMOUS) != 0) {
			other = see_space(tl, others[i], t, addr, true, view);
			if ((other->piece.flags & HWTDI_PIECE_NOTHING) == 0)
				c = other;
		}
	}
	return (c);
}

void
hwtdi_timeline_newest(const struct hwtdi_timeline *tl, uint32_t space,
    uint64_t addr, struct hwtdi_place *out)
{
	const struct version v = newest(&tl->spaces[space]);
	struct hwtdi_version_range r;
	uint32_t map = v.jit;

	r = hwtdi_version_tree_find(&tl->tree, map, addr);
	if ((tl->changes[r.value].piece.flags & HWTDI_PIECE_NOTHING) != 0) {
		map = v.rest;
		r = hwtdi_version_tree_find(&tl->tree, map, addr);
	}
	out->first = r.first;
	out->last = r.last;
	out->piece = tl->changes[r.value].piece;
	if (has_bytes(&out->piece))
		out->piece.section_off += r.first - tl->changes[r.value].first;
}

/* A change, said of an address. */
static struct hwtdi_piece
piece_at(const struct change *c, uint64_t addr)
{
	struct hwtdi_piece piece = c->piece;

	if (has_bytes(&piece))
		piece.section_off += addr - c->first;
	return (piece);
}

static bool
same_piece(const struct hwtdi_piece *a, const struct hwtdi_piece *b)
{
	return (a->section == b->section && a->flags == b->flags &&
	    a->section_off == b->section_off);
}

int
hwtdi_timeline_find(const struct hwtdi_timeline *tl, uint32_t space,
    uint64_t lo, uint64_t hi, uint64_t addr, struct hwtdi_place *out,
    size_t max, size_t *n_out)
{
	struct view run = { 0, 0, UINT64_MAX };
	int rc = HWTD_E_LIMIT;
	uint64_t t = hi;
	size_t n = 0;

	*n_out = 0;
	if (space >= tl->table.n)
		return (HWTD_E_INVALID);
	for (unsigned int i = 0; i < HWTDI_TIMELINE_MAX_STEPS; i++) {
		struct view view = { 0, 0, UINT64_MAX };
		struct hwtdi_piece piece;
		size_t k = 0;

		piece = piece_at(see(tl, space, t, addr, true, &view), addr);
		while (k < n && !same_piece(&out[k].piece, &piece))
			k++;
		if (k == n) {
			if (n == max)
				break;
			out[n++].piece = piece;
		}
		narrow(&run, 0, view.first, view.last);
		if (view.from <= lo) {
			rc = HWTD_OK;
			break;
		}
		t = view.from - 1;
	}
	for (size_t i = 0; i < n; i++) {
		out[i].first = run.first;
		out[i].last = run.last;
		if (has_bytes(&out[i].piece))
			out[i].piece.section_off -= addr - run.first;
	}
	*n_out = n;
	return (rc);
}

int
hwtdi_timeline_walk(const struct hwtdi_timeline *tl, uint32_t space,
    uint64_t seq, bool through,
    int (*place_fn)(void *arg, const struct hwtdi_place *place), void *arg)
{
	struct hwtdi_place place = { 0 };
	uint64_t addr = 0;
	int rc = 0;

	if (space >= tl->table.n)
		return (HWTD_E_INVALID);
	place.piece = tl->changes[0].piece;
	for (;;) {
		struct view view = { 0, 0, UINT64_MAX };
		const struct change *c = see(tl, space, seq, addr, through,
		    &view);
		const struct hwtdi_piece piece = piece_at(c, addr);
		struct hwtdi_piece next = place.piece;

		/* How it would go on. */
		if (has_bytes(&next))
			next.section_off += addr - place.first;
		if (addr == 0 || !same_piece(&next, &piece)) {
			if ((place.piece.flags & HWTDI_PIECE_NOTHING) == 0)
				rc = place_fn(arg, &place);
			if (rc != 0)
				return (rc);
			place.first = addr;
			place.piece = piece;
		}
		place.last = view.last;
		if (view.last == UINT64_MAX)
			break;
		addr = view.last + 1;
	}
	if ((place.piece.flags & HWTDI_PIECE_NOTHING) == 0)
		rc = place_fn(arg, &place);
	return (rc);
}
