/*
 * What the stacks of profiles weigh, put into the tree of a flame: from callers
 * to what they called, or the other way.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/profile/flame_tree.h"
#include "analysis/profile/function_text.h"
#include "analysis/profile/profile_store.h"
#include "base/fail.h"

#define BATCH 256

/* A profile that is read. */
struct feed {
	struct hwtd_profile *profile;
	struct hwtd_profile_info info;
	unsigned int side;
	/* Shape [n_functions]; HWTD_NO_ID: not looked at yet. */
	uint32_t *functions;
	/* Shape [n_nodes]: where each node is, or begins to be (inverted). */
	uint32_t *spots;
	/* Inverted only: frame, or HWTD_NO_ID of a root, and caller. */
	uint32_t *frames;
	uint32_t *parents;
};

/* Inverted: what a stack weighs, and how far it was followed. */
struct item {
	uint64_t weight;
	uint32_t spot;
	/* The next node to be put below the spot. */
	uint32_t node;
	/* A frame that comes before that; HWTD_NO_ID: none. */
	uint32_t lead;
	uint32_t side;
};

struct items {
	struct item *at;
	size_t n, cap;
};

/* Texts. */

static int
thread_frame(struct hwtd_flame *f, const struct feed *feed, uint32_t thread,
    uint32_t *frame_out, struct hwtd_error *err)
{
	struct hwtd_profile_thread t = { .size = sizeof(t) };
	char ids[64] = " [unknown thread]";
	const char *suffix = ids;
	int rc;

	rc = hwtd_profile_thread(feed->profile, thread, &t);
	if (rc != HWTD_OK)
		return (hwtdi_fail(err, rc < 0 ? rc : HWTD_E_INVALID,
		    "thread %u of the profile cannot be read", thread));
	if (t.pid != HWTD_NO_ID && t.tid != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), " %u/%u", t.pid, t.tid);
	else if (t.tid != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), " tid %u", t.tid);
	else if (t.pid != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), " pid %u", t.pid);
	else if (t.stream != HWTD_NO_ID)
		(void)snprintf(ids, sizeof(ids), " stream %u", t.stream);
	if (t.name == NULL || t.name[0] == '\0')
		return (hwtdi_flame_frame(f, HWTD_FLAME_THREAD, "", ids + 1,
		    "", NULL, frame_out, err));
	/* Another run has other numbers. */
	if ((f->info.flags & HWTD_FLAMEF_COMPARED) != 0)
		suffix = "";
	return (hwtdi_flame_frame(f, HWTD_FLAME_THREAD, "", t.name, suffix,
	    NULL, frame_out, err));
}

static int
read_function(struct hwtd_flame *f, const struct feed *feed, uint32_t no,
    uint32_t *frame_out, struct hwtd_error *err)
{
	struct hwtd_profile_function function = { .size = sizeof(function) };
	struct hwtd_profile_image image = { .size = sizeof(image) };
	struct hwtdi_flame_frame *frame;
	char text[HWTDI_FUNCTION_TEXT];
	int rc = hwtd_profile_function(feed->profile, no, &function);

	if (rc == HWTD_OK && function.image != HWTD_NO_ID)
		rc = hwtd_profile_image(feed->profile, function.image, &image);
	if (rc != HWTD_OK)
		return (hwtdi_fail(err, rc < 0 ? rc : HWTD_E_INVALID,
		    "function %u of the profile cannot be read", no));
	if (function.name != NULL && function.name[0] != '\0')
		rc = hwtdi_flame_frame(f, HWTD_FLAME_FUNCTION, "",
		    function.name, "", image.name, frame_out, err);
	else {
		hwtdi_function_text(&function, &image, text);
		rc = hwtdi_flame_frame(f, HWTD_FLAME_UNKNOWN, "", text, "",
		    image.name, frame_out, err);
	}
	if (rc != HWTD_OK || function.name == NULL || function.file == NULL)
		return (rc);
	/* Of several functions of one name: the first. */
	frame = &f->frames[*frame_out];
	if (frame->file != 0)
		return (HWTD_OK);
	frame->line = function.line;
	return (hwtdi_text_pool_add(&f->texts, f->library, function.file,
	    &frame->file, err));
}

static const char *
untraced_name(uint32_t type)
{
	switch (type) {
	case HWTD_CALL_TYPE_SYSCALL:
		return ("[syscall]");
	case HWTD_CALL_TYPE_INTERRUPT:
		return ("[interrupt]");
	case HWTD_CALL_TYPE_EXCEPTION:
		return ("[exception]");
	default:
		return ("[untraced]");
	}
}

static int
node_frame(struct hwtd_flame *f, struct feed *feed,
    const struct hwtd_profile_node *node, uint32_t *frame_out,
    struct hwtd_error *err)
{
	int rc;

	if ((node->flags & HWTD_PROFILE_NODEF_OTHERS) != 0)
		return (hwtdi_flame_frame(f, HWTD_FLAME_OTHERS, "",
		    "[other calls]", "", NULL, frame_out, err));
	if (node->function != HWTD_NO_ID &&
	    node->function < feed->info.n_functions) {
		uint32_t *known = &feed->functions[node->function];

		rc = HWTD_OK;
		if (*known == HWTD_NO_ID)
			rc = read_function(f, feed, node->function, known,
			    err);
		*frame_out = *known;
		return (rc);
	}
	if ((node->flags & HWTD_PROFILE_NODEF_UNTRACED) != 0)
		return (hwtdi_flame_frame(f, HWTD_FLAME_UNTRACED, "",
		    untraced_name(node->type), "", NULL, frame_out, err));
	return (hwtdi_flame_frame(f, HWTD_FLAME_UNKNOWN, "", "[unknown]", "",
	    NULL, frame_out, err));
}

/* Where the stacks of a root begin. */
static int
root_spot(struct hwtd_flame *f, const struct feed *feed, uint32_t thread,
    uint32_t *spot_out, struct hwtd_error *err)
{
	uint32_t frame;
	int rc;

	*spot_out = 0;
	if (thread == HWTD_NO_ID ||
	    (f->options.flags & HWTD_FLAME_BY_THREAD) == 0)
		return (HWTD_OK);
	rc = thread_frame(f, feed, thread, &frame, err);
	return (rc != HWTD_OK ? rc
			      : hwtdi_flame_child(f, 0, frame, spot_out, err));
}

/* Weights. */

static uint64_t
weight_of(const struct hwtd_flame *f, const struct hwtd_profile_sums *sums)
{
	switch (f->info.value) {
	case HWTD_VALUE_INSNS:
		return (sums->insns);
	case HWTD_VALUE_TIME:
		return (sums->ns);
	case HWTD_VALUE_CYCLES:
		return (sums->cycles);
	default:
		return (sums->calls);
	}
}

/* Time that is not that of the function; 0: there is none, or it is not asked. */
static uint64_t
gap_of(const struct hwtd_flame *f, const struct hwtd_profile_sums *sums)
{
	return (f->info.value == HWTD_VALUE_TIME ? sums->gap_ns : 0);
}

static uint64_t
off_of(const struct hwtd_flame *f, const struct hwtd_profile_sums *sums)
{
	return (f->info.value == HWTD_VALUE_TIME &&
		    (f->options.flags & HWTD_FLAME_OFF_TIME) != 0
		? sums->off_ns
		: 0);
}

static void
count_total(struct hwtd_flame *f, const struct feed *feed,
    const struct hwtd_profile_sums *self)
{
	uint64_t *total = &f->total[feed->side];
	const uint64_t gap = gap_of(f, self);

	hwtdi_flame_add(f, total, weight_of(f, self));
	hwtdi_flame_add(f, total, gap);
	hwtdi_flame_add(f, total, off_of(f, self));
	hwtdi_flame_add(f, feed->side == 0 ? &f->info.gap : &f->info.base_gap,
	    gap);
}

/* From callers to what they called. */

static int
add_special(struct hwtd_flame *f, const struct feed *feed, uint32_t at,
    uint32_t kind, uint64_t weight, struct hwtd_error *err)
{
	uint32_t spot = at;
	int rc = HWTD_OK;

	if (weight == 0)
		return (HWTD_OK);
	rc = hwtdi_flame_special(f, at, kind, &spot, err);
	if (rc == HWTD_OK)
		hwtdi_flame_add(f, &f->spots[spot].self[feed->side], weight);
	return (rc);
}

static int
find_spot(struct hwtd_flame *f, struct feed *feed,
    const struct hwtd_profile_node *node, uint32_t *spot_out,
    struct hwtd_error *err)
{
	uint32_t parent, frame;
	int rc;

	if ((node->flags & HWTD_PROFILE_NODEF_ROOT) != 0 ||
	    node->parent == HWTD_NO_ID)
		return (root_spot(f, feed, node->thread, spot_out, err));
	parent = feed->spots[node->parent];
	if (f->frames[f->spots[parent].frame].kind == HWTD_FLAME_DEEPER) {
		*spot_out = parent;
	} else if (f->spots[parent].depth >= f->options.max_depth) {
		rc = hwtdi_flame_special(f, parent, HWTD_FLAME_DEEPER,
		    spot_out, err);
		if (rc != HWTD_OK)
			return (rc);
	} else {
		rc = node_frame(f, feed, node, &frame, err);
		return (rc != HWTD_OK
			? rc
			: hwtdi_flame_child(f, parent, frame, spot_out, err));
	}
	f->spots[*spot_out].merged++;
	f->info.deeper++;
	return (HWTD_OK);
}

static int
add_node(struct hwtd_flame *f, struct feed *feed, uint32_t no,
    const struct hwtd_profile_node *node, struct hwtd_error *err)
{
	uint32_t spot = 0;
	int rc = find_spot(f, feed, node, &spot, err);

	if (rc != HWTD_OK)
		return (rc);
	feed->spots[no] = spot;
	hwtdi_flame_add(f, &f->spots[spot].self[feed->side],
	    weight_of(f, &node->self));
	rc = add_special(f, feed, spot, HWTD_FLAME_GAP, gap_of(f, &node->self),
	    err);
	return (rc != HWTD_OK ? rc
			      : add_special(f, feed, spot, HWTD_FLAME_OFF,
				    off_of(f, &node->self), err));
}

/* From what ran to what called it. */

static int
add_item(struct hwtd_flame *f, struct items *items, const struct feed *feed,
    uint32_t no, const char *lead, uint32_t kind, uint64_t weight,
    struct hwtd_error *err)
{
	struct item item = { .weight = weight,
		.spot = feed->spots[no],
		.node = no,
		.lead = HWTD_NO_ID,
		.side = feed->side };
	int rc = HWTD_OK;

	if (weight == 0)
		return (HWTD_OK);
	if (lead != NULL)
		rc = hwtdi_flame_frame(f, kind, "", lead, "", NULL, &item.lead,
		    err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(f->library, &items->at, &items->cap,
		    items->n + 1, sizeof(*items->at), err);
	if (rc == HWTD_OK)
		items->at[items->n++] = item;
	return (rc);
}

static int
add_items(struct hwtd_flame *f, struct feed *feed, struct items *items,
    uint32_t no, const struct hwtd_profile_node *node, struct hwtd_error *err)
{
	const bool root = (node->flags & HWTD_PROFILE_NODEF_ROOT) != 0 ||
	    node->parent == HWTD_NO_ID;
	int rc = HWTD_OK;

	feed->parents[no] = node->parent;
	feed->frames[no] = HWTD_NO_ID;
	if (root) {
		rc = root_spot(f, feed, node->thread, &feed->spots[no], err);
	} else {
		feed->spots[no] = feed->spots[node->parent];
		rc = node_frame(f, feed, node, &feed->frames[no], err);
	}
	if (rc == HWTD_OK)
		rc = add_item(f, items, feed, no, NULL, 0,
		    weight_of(f, &node->self), err);
	if (rc == HWTD_OK)
		rc = add_item(f, items, feed, no, "[gap]", HWTD_FLAME_GAP,
		    gap_of(f, &node->self), err);
	if (rc == HWTD_OK)
		rc = add_item(f, items, feed, no, "[not running]",
		    HWTD_FLAME_OFF, off_of(f, &node->self), err);
	return (rc);
}

/* One level deeper, or to where it ends: then *done_out. */
static int
follow(struct hwtd_flame *f, const struct feed *feeds, struct item *item,
    bool *done_out, struct hwtd_error *err)
{
	const struct feed *feed = &feeds[item->side];
	uint32_t frame = item->lead;
	int rc = HWTD_OK;

	*done_out = false;
	if (frame == HWTD_NO_ID)
		frame = feed->frames[item->node];
	if (frame == HWTD_NO_ID) {
		*done_out = true;
	} else if (f->spots[item->spot].depth >= f->options.max_depth) {
		*done_out = true;
		rc = hwtdi_flame_special(f, item->spot, HWTD_FLAME_DEEPER,
		    &item->spot, err);
		if (rc != HWTD_OK)
			return (rc);
		f->spots[item->spot].merged++;
		f->info.deeper++;
	} else {
		rc = hwtdi_flame_child(f, item->spot, frame, &item->spot, err);
		if (rc != HWTD_OK)
			return (rc);
		if (item->lead == HWTD_NO_ID)
			item->node = feed->parents[item->node];
		item->lead = HWTD_NO_ID;
	}
	if (*done_out)
		hwtdi_flame_add(f, &f->spots[item->spot].self[item->side],
		    item->weight);
	else
		hwtdi_flame_add(f, &f->spots[item->spot].total[item->side],
		    item->weight);
	return (HWTD_OK);
}

/* Those that are too small are not followed, or the tree would be too large. */
static int
drop_small(struct hwtd_flame *f, struct items *items, struct hwtd_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < items->n; i++) {
		const struct item *item = &items->at[i];
		uint32_t smaller;
		int rc;

		if (!hwtdi_flame_small(f, &f->spots[item->spot])) {
			items->at[n++] = *item;
			continue;
		}
		rc = hwtdi_flame_drop(f, item->spot, &smaller, err);
		if (rc != HWTD_OK)
			return (rc);
		hwtdi_flame_add(f, &f->spots[smaller].self[item->side],
		    item->weight);
	}
	items->n = n;
	return (HWTD_OK);
}

static int
follow_all(struct hwtd_flame *f, const struct feed *feeds, struct items *items,
    struct hwtd_error *err)
{
	while (items->n > 0) {
		size_t n = 0;
		int rc;

		for (size_t i = 0; i < items->n; i++) {
			bool done;

			rc = follow(f, feeds, &items->at[i], &done, err);
			if (rc != HWTD_OK)
				return (rc);
			if (!done)
				items->at[n++] = items->at[i];
		}
		items->n = n;
		rc = drop_small(f, items, err);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(f->library, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

/* Reading. */

static int
read_nodes(struct hwtd_flame *f, struct feed *feed, struct items *items,
    struct hwtd_profile_node *batch, struct hwtd_error *err)
{
	const bool invert = (f->options.flags & HWTD_FLAME_INVERT) != 0;
	size_t n;
	int rc = HWTD_OK;

	for (uint64_t at = 0; at < feed->info.n_nodes; at += n) {
		rc = hwtd_profile_nodes(feed->profile, at, batch,
		    sizeof(*batch), BATCH, &n);
		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc < 0 ? rc : HWTD_E_INVALID,
			    "stacks of the profile cannot be read"));
		rc = hwtdi_poll(f->library, err);
		if (rc != HWTD_OK)
			return (rc);
		for (size_t i = 0; i < n; i++) {
			const uint32_t no = (uint32_t)(at + i);

			count_total(f, feed, &batch[i].self);
			rc = invert
			    ? add_items(f, feed, items, no, &batch[i], err)
			    : add_node(f, feed, no, &batch[i], err);
			if (rc != HWTD_OK)
				return (rc);
		}
	}
	return (HWTD_OK);
}

static uint32_t *
ids_alloc(struct hwtd_flame *f, size_t n)
{
	uint32_t *ids = hwtdi_alloc(f->library, (n + 1) * sizeof(*ids));

	if (ids != NULL)
		memset(ids, 0xff, (n + 1) * sizeof(*ids));
	return (ids);
}

static void
ids_free(struct hwtd_flame *f, uint32_t *ids, size_t n)
{
	hwtdi_free(f->library, ids, ids == NULL ? 0 : (n + 1) * sizeof(*ids));
}

static int
feed_begin(struct hwtd_flame *f, struct feed *feed,
    struct hwtd_profile *profile, unsigned int side, struct hwtd_error *err)
{
	const struct hwtd_profile_seen *seen = &feed->info
						    .seen[HWTD_PROFILE_CALLS];
	int rc;

	feed->side = side;
	feed->info.size = sizeof(feed->info);
	if (profile == NULL)
		return (HWTD_OK);
	rc = hwtd_profile_info(profile, &feed->info);
	if (rc != HWTD_OK)
		return (hwtdi_fail(err, rc, "the profile cannot be read"));
	feed->profile = profile;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		hwtdi_flame_add(f,
		    side == 0 ? &f->info.gaps : &f->info.base_gaps,
		    seen->gaps[i]);
	hwtdi_flame_add(f,
	    side == 0 ? &f->info.gap_bytes : &f->info.base_gap_bytes,
	    seen->gap_bytes);
	hwtdi_flame_add(f, &f->info.others, feed->info.others);
	feed->functions = ids_alloc(f, feed->info.n_functions);
	feed->spots = ids_alloc(f, feed->info.n_nodes);
	feed->frames = ids_alloc(f, feed->info.n_nodes);
	feed->parents = ids_alloc(f, feed->info.n_nodes);
	if (feed->functions == NULL || feed->spots == NULL ||
	    feed->frames == NULL || feed->parents == NULL)
		return (hwtdi_fail_nomem(err,
		    ((size_t)feed->info.n_nodes + 1) * sizeof(uint32_t)));
	return (HWTD_OK);
}

static void
feed_end(struct hwtd_flame *f, struct feed *feed)
{
	ids_free(f, feed->functions, feed->info.n_functions);
	ids_free(f, feed->spots, feed->info.n_nodes);
	ids_free(f, feed->frames, feed->info.n_nodes);
	ids_free(f, feed->parents, feed->info.n_nodes);
}

static bool
has_value(const struct feed *feed, uint32_t value)
{
	const struct hwtd_profile_sums *total = &feed->info.total;

	/* An empty one has whatever is asked for. */
	if (feed->profile == NULL || feed->info.n_nodes == 0)
		return (true);
	return (value == HWTD_VALUE_TIME ? total->ns != 0 || total->gap_ns != 0
					 : total->insns != 0);
}

static void
choose_value(struct hwtd_flame *f, const struct feed *feeds)
{
	static const uint32_t best[] = { HWTD_VALUE_TIME, HWTD_VALUE_INSNS };

	f->info.value = f->options.value;
	for (size_t i = 0; i < 2 && f->info.value == HWTD_VALUE_DEFAULT; i++)
		if (has_value(&feeds[0], best[i]) &&
		    has_value(&feeds[1], best[i]))
			f->info.value = best[i];
	if (f->info.value == HWTD_VALUE_DEFAULT)
		f->info.value = HWTD_VALUE_CALLS;
}

int
hwtdi_flame_feed(struct hwtd_flame *f,
    struct hwtd_profile *const profiles[HWTDI_FLAME_SIDES],
    struct hwtd_error *err)
{
	struct feed feeds[HWTDI_FLAME_SIDES];
	struct items items = { .n = 0 };
	struct hwtd_profile_node *batch;
	int rc = HWTD_OK;

	memset(feeds, 0, sizeof(feeds));
	batch = hwtdi_alloc(f->library, BATCH * sizeof(*batch));
	if (batch == NULL)
		return (hwtdi_fail_nomem(err, BATCH * sizeof(*batch)));
	for (unsigned int i = 0; i < HWTDI_FLAME_SIDES && rc == HWTD_OK; i++)
		rc = feed_begin(f, &feeds[i], profiles[i], i, err);
	if (rc == HWTD_OK)
		choose_value(f, feeds);
	for (unsigned int i = 0; i < HWTDI_FLAME_SIDES && rc == HWTD_OK; i++)
		rc = read_nodes(f, &feeds[i], &items, batch, err);
	if (rc == HWTD_OK)
		rc = follow_all(f, feeds, &items, err);
	hwtdi_array_free(f->library, items.at, items.cap, sizeof(*items.at));
	for (unsigned int i = 0; i < HWTDI_FLAME_SIDES; i++)
		feed_end(f, &feeds[i]);
	hwtdi_free(f->library, batch, BATCH * sizeof(*batch));
	return (rc);
}
