/*
 * Going through a flame, box by box.
 */
#include "export/stacks/flame_boxes.h"

#include <string.h>

#include "base/fail.h"
#include "base/ratio.h"

static bool
is_narrow(const struct hwtdi_flame_boxes *b, uint64_t value)
{
	return (value == 0 ||
	    (hwtdi_uint128)value * b->per < (hwtdi_uint128)b->total * b->min);
}

/* Of sums that had no room the parts may be more than the whole. */
static uint64_t
sum(uint64_t a, uint64_t b)
{
	return (a > UINT64_MAX - b ? UINT64_MAX : a + b);
}

/* Frames of a node, with those below it and those that were summed up before. */
static uint64_t
count_frames(const struct hwtdi_flame_boxes *b, uint32_t no)
{
	struct hwtd_flame_node node;
	uint64_t n = 0;
	uint32_t end;

	hwtdi_flame_source_node(b->source, no, &node);
	end = node.next;
	for (; no < end; no++) {
		hwtdi_flame_source_node(b->source, no, &node);
		n += node.merged != 0 ? node.merged : 1;
	}
	return (n);
}

/* Narrow frames of a level become a box, if together they are wide enough. */
static bool
end_run(struct hwtdi_flame_boxes *b, uint32_t depth,
    struct hwtdi_flame_box *out)
{
	struct hwtdi_flame_run *run = &b->runs[depth];

	*out = (struct hwtdi_flame_box){ .off = run->off,
		.value = run->value,
		.base = run->base,
		.depth = depth,
		.frame = HWTD_NO_ID,
		.frames = run->frames };
	if (!b->counted)
		b->narrow += run->frames;
	run->frames = run->value = run->base = 0;
	return (out->frames != 0 && !is_narrow(b, out->value));
}

static void
add_narrow(struct hwtdi_flame_boxes *b, const struct hwtd_flame_node *node)
{
	struct hwtdi_flame_run *run = &b->runs[node->depth];
	const uint64_t frames = count_frames(b, b->at);

	/* Nothing of it can be seen. */
	if (node->value == 0) {
		if (!b->counted) {
			b->gone_frames += frames;
			b->gone = sum(b->gone, node->base);
		}
	} else {
		if (run->frames == 0)
			run->off = run->next;
		run->frames += frames;
		run->value = sum(run->value, node->value);
		run->base = sum(run->base, node->base);
		run->next = sum(run->next, node->value);
	}
	b->at = node->next;
}

bool
hwtdi_flame_boxes_next(struct hwtdi_flame_boxes *b,
    struct hwtdi_flame_box *out)
{
	const uint32_t n = b->source->info.n_nodes;

	for (;;) {
		struct hwtd_flame_node node = { .depth = 0 };
		struct hwtdi_flame_run *run;

		if (b->at < n)
			hwtdi_flame_source_node(b->source, b->at, &node);
		/* What is deeper is in frames that end here. */
		while (b->deepest > node.depth)
			if (end_run(b, b->deepest--, out))
				return (true);
		if (b->at >= n)
			return (false);
		b->deepest = node.depth;
		run = &b->runs[node.depth];
		if (node.depth != 0 && is_narrow(b, node.value)) {
			add_narrow(b, &node);
			continue;
		}
		if (end_run(b, node.depth, out))
			return (true);
		*out = (struct hwtdi_flame_box){ .off = run->next,
			.value = node.value,
			.base = node.base,
			.depth = node.depth,
			.frame = node.frame,
			.frames = node.merged };
		b->runs[node.depth + 1] = (struct hwtdi_flame_run){
			.next = run->next
		};
		run->next = sum(run->next, node.value);
		b->at++;
		return (true);
	}
}

static void
rewind_boxes(struct hwtdi_flame_boxes *b)
{
	memset(b->runs, 0, b->n_runs * sizeof(*b->runs));
	b->at = b->deepest = 0;
}

int
hwtdi_flame_boxes_open(struct hwtdi_flame_boxes *b, struct hwtd_context *ctx,
    const struct hwtdi_flame_source *source, uint64_t min, uint64_t per,
    struct hwtd_error *err)
{
	struct hwtd_flame_node root;
	struct hwtdi_flame_box box;

	memset(b, 0, sizeof(*b));
	b->ctx = ctx;
	b->source = source;
	b->min = min;
	b->per = per;
	hwtdi_flame_source_node(source, 0, &root);
	b->total = root.value;
	b->base_total = root.base;
	b->n_runs = source->n_path + 1;
	b->runs = hwtdi_alloc(ctx, b->n_runs * sizeof(*b->runs));
	if (b->runs == NULL)
		return (hwtdi_fail_nomem(err, b->n_runs * sizeof(*b->runs)));
	rewind_boxes(b);
	while (hwtdi_flame_boxes_next(b, &box)) {
		const uint64_t change = box.value > box.base
		    ? box.value - box.base
		    : box.base - box.value;

		if (box.depth >= b->rows)
			b->rows = box.depth + 1;
		if (box.depth != 0 && change > b->most_change)
			b->most_change = change;
	}
	b->counted = true;
	rewind_boxes(b);
	return (HWTD_OK);
}

void
hwtdi_flame_boxes_close(struct hwtdi_flame_boxes *b)
{
	hwtdi_array_free(b->ctx, b->runs, b->n_runs, sizeof(*b->runs));
	b->runs = NULL;
}
