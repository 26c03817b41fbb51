/*
 * A profile as callers read it: things, stacks and code.
 */
#include <string.h>

#include "analysis/profile/profile_order.h"
#include "analysis/profile/profile_rows.h"
#include "base/fail.h"

static const char *
text(const struct hwtd_profile *p, uint32_t no)
{
	return (hwtdi_text_pool_get(&p->texts, no));
}

int
hwtd_profile_info(struct hwtd_profile *p, struct hwtd_profile_info *out)
{
	struct hwtd_profile_info info = { .size = sizeof(info) };
	int rc;

	if (p == NULL || out == NULL)
		return (HWTD_E_INVALID);
	rc = hwtdi_profile_settle(p);
	if (rc != HWTD_OK)
		return (rc);
	info.n_images = (uint32_t)p->n_images;
	info.n_functions = (uint32_t)p->n_functions;
	info.n_threads = (uint32_t)p->n_threads;
	info.n_nodes = (uint32_t)p->n_nodes;
	info.n_blocks = p->n_blocks;
	info.n_edges = p->n_edges;
	info.total = p->order->total;
	info.idle_ns = p->order->idle_ns;
	info.others = p->others;
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct hwtdi_profile_code *code = &p->blocks[i];
		const uint64_t insns = hwtdi_profile_times(code->count,
		    code->insns);

		if (code->function == HWTD_NO_ID)
			info.without_function = hwtdi_profile_sum(
			    info.without_function, insns);
		if (code->line == HWTD_NO_ID)
			info.without_line = hwtdi_profile_sum(
			    info.without_line, insns);
	}
	memcpy(info.seen, p->seen, sizeof(info.seen));
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

/* The number of arrival of an id; HWTD_END past the last. */
static int
look_up(struct hwtd_profile *p, const void *out, size_t which, uint32_t id,
    uint32_t *no_out)
{
	const struct hwtdi_profile_list *list;
	int rc;

	if (p == NULL || out == NULL)
		return (HWTD_E_INVALID);
	rc = hwtdi_profile_settle(p);
	if (rc != HWTD_OK)
		return (rc);
	list = (const struct hwtdi_profile_list *)(const void
		*)((const uint8_t *)p->order + which);
	if (id >= list->n)
		return (HWTD_END);
	*no_out = list->at[id];
	return (HWTD_OK);
}

#define LIST(name) offsetof(struct hwtdi_profile_order, name)

int
hwtd_profile_image(struct hwtd_profile *p, uint32_t id,
    struct hwtd_profile_image *out)
{
	struct hwtd_profile_image image = { .size = sizeof(image) };
	const struct hwtdi_profile_image *at;
	uint32_t no;
	int rc = look_up(p, out, LIST(images), id, &no);

	if (rc != HWTD_OK)
		return (rc);
	at = &p->images[no];
	image.name = text(p, at->name);
	image.n_build_id = at->n_build_id;
	memcpy(image.build_id, at->build_id, sizeof(image.build_id));
	image.flags = at->flags;
	return (hwtdi_result_copy(out, &image, sizeof(image)));
}

int
hwtd_profile_function(struct hwtd_profile *p, uint32_t id,
    struct hwtd_profile_function *out)
{
	struct hwtd_profile_function f = { .size = sizeof(f) };
	const struct hwtdi_profile_function *at;
	uint32_t no;
	int rc = look_up(p, out, LIST(functions), id, &no);

	if (rc != HWTD_OK)
		return (rc);
	at = &p->functions[no];
	f.name = text(p, at->name);
	f.linkage_name = text(p, at->linkage_name);
	f.link_address = at->link_address;
	f.file = text(p, at->file);
	f.line = at->line;
	f.image = hwtdi_profile_rank(&p->order->images, at->image);
	f.file_off = at->file_off;
	f.bytes = at->bytes;
	f.flags = at->flags;
	return (hwtdi_result_copy(out, &f, sizeof(f)));
}

int
hwtd_profile_thread(struct hwtd_profile *p, uint32_t id,
    struct hwtd_profile_thread *out)
{
	struct hwtd_profile_thread t = { .size = sizeof(t) };
	const struct hwtdi_profile_thread *at;
	uint32_t no;
	int rc = look_up(p, out, LIST(threads), id, &no);

	if (rc != HWTD_OK)
		return (rc);
	at = &p->threads[no];
	t.name = text(p, at->name);
	t.pid = at->pid;
	t.tid = at->tid;
	t.stream = at->stream;
	t.idle_ns = at->idle_ns;
	return (hwtdi_result_copy(out, &t, sizeof(t)));
}

/* Arrays. */

int
hwtdi_profile_check_read(struct hwtd_profile *p, const void *out,
    size_t stride, size_t elem, size_t cap, size_t *n_out)
{
	if (n_out == NULL)
		return (HWTD_E_INVALID);
	*n_out = 0;
	if (p == NULL || out == NULL || cap == 0 || stride < elem ||
	    stride % 8 != 0)
		return (HWTD_E_INVALID);
	return (hwtdi_profile_settle(p));
}

void
hwtdi_profile_store(void *out, size_t stride, size_t i, const void *elem,
    size_t bytes)
{
	uint8_t *to = (uint8_t *)out + i * stride;

	memcpy(to, elem, bytes);
	memset(to + bytes, 0, stride - bytes);
}

static void
node_at(const struct hwtd_profile *p, uint32_t no,
    struct hwtd_profile_node *out)
{
	const struct hwtdi_profile_node *at = &p->nodes[no];
	const struct hwtdi_profile_order *o = p->order;

	out->parent = hwtdi_profile_rank(&o->nodes, at->parent);
	out->function = hwtdi_profile_rank(&o->functions, at->function);
	out->thread = hwtdi_profile_rank(&o->threads, at->thread);
	out->type = at->type;
	out->flags = at->flags;
	out->depth = at->depth;
	out->self = at->self;
	out->total = o->totals[no];
}

int
hwtd_profile_nodes(struct hwtd_profile *p, uint64_t first,
    struct hwtd_profile_node *out, size_t stride, size_t cap, size_t *n_out)
{
	struct hwtd_profile_node node;
	int rc = hwtdi_profile_check_read(p, out, stride, sizeof(node), cap,
	    n_out);

	if (rc != HWTD_OK)
		return (rc);
	if (first >= p->n_nodes)
		return (HWTD_END);
	for (; *n_out < cap && first + *n_out < p->n_nodes; ++*n_out) {
		node_at(p, p->order->nodes.at[first + *n_out], &node);
		hwtdi_profile_store(out, stride, *n_out, &node, sizeof(node));
	}
	return (HWTD_OK);
}

void
hwtdi_profile_block_at(const struct hwtd_profile *p, uint32_t no,
    struct hwtd_profile_block *out)
{
	const struct hwtdi_profile_code *at = &p->blocks[no];
	const struct hwtdi_profile_order *o = p->order;

	memset(out, 0, sizeof(*out));
	out->image = hwtdi_profile_rank(&o->images, at->image);
	out->generation = at->generation;
	out->file_off = at->off;
	out->count = at->count;
	out->bytes = at->bytes;
	out->insns = at->insns;
	out->function = hwtdi_profile_rank(&o->functions, at->function);
	out->inlined = hwtdi_profile_rank(&o->functions,
	    at->inlined != HWTD_NO_ID ? at->inlined : at->function);
	if (at->line != HWTD_NO_ID) {
		out->file = text(p, p->lines[at->line].file);
		out->line = p->lines[at->line].line;
	}
	out->branch = at->branch;
	out->isa = at->isa;
	out->last_bytes = p->lengths[at->lengths + at->insns - 1];
}

int
hwtd_profile_blocks(struct hwtd_profile *p, uint64_t first,
    struct hwtd_profile_block *out, size_t stride, size_t cap, size_t *n_out)
{
	struct hwtd_profile_block block;
	int rc = hwtdi_profile_check_read(p, out, stride, sizeof(block), cap,
	    n_out);

	if (rc != HWTD_OK)
		return (rc);
	if (first >= p->n_blocks)
		return (HWTD_END);
	for (; *n_out < cap && first + *n_out < p->n_blocks; ++*n_out) {
		hwtdi_profile_block_at(p, p->order->blocks.at[first + *n_out],
		    &block);
		hwtdi_profile_store(out, stride, *n_out, &block,
		    sizeof(block));
	}
	return (HWTD_OK);
}

int
hwtd_profile_edges(struct hwtd_profile *p, uint64_t first,
    struct hwtd_profile_edge *out, size_t stride, size_t cap, size_t *n_out)
{
	struct hwtd_profile_edge edge;
	int rc = hwtdi_profile_check_read(p, out, stride, sizeof(edge), cap,
	    n_out);

	if (rc != HWTD_OK)
		return (rc);
	if (first >= p->n_edges)
		return (HWTD_END);
	for (; *n_out < cap && first + *n_out < p->n_edges; ++*n_out) {
		const struct hwtdi_profile_order *o = p->order;

		edge = p->edges[o->edges.at[first + *n_out]];
		edge.from_image = hwtdi_profile_rank(&o->images,
		    edge.from_image);
		edge.to_image = hwtdi_profile_rank(&o->images, edge.to_image);
		edge.from_function = hwtdi_profile_rank(&o->functions,
		    edge.from_function);
		edge.to_function = hwtdi_profile_rank(&o->functions,
		    edge.to_function);
		hwtdi_profile_store(out, stride, *n_out, &edge, sizeof(edge));
	}
	return (HWTD_OK);
}

const char *
hwtd_profile_by_name(uint32_t by)
{
	static const char *const names[HWTD_PROFILE_BYS] = {
		[HWTD_PROFILE_BY_FUNCTION] = "function",
		[HWTD_PROFILE_BY_LINE] = "line",
		[HWTD_PROFILE_BY_IMAGE] = "image",
		[HWTD_PROFILE_BY_THREAD] = "thread",
		[HWTD_PROFILE_BY_INLINE] = "inline",
		[HWTD_PROFILE_BY_ADDRESS] = "block",
		[HWTD_PROFILE_BY_CPU] = "cpu",
	};

	return (by < HWTD_PROFILE_BYS ? names[by] : "unknown");
}
