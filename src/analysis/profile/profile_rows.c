/*
 * Tables of a profile: what nodes, blocks and threads add up to.
 */
#include "analysis/profile/profile_rows.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/profile/profile_order.h"
#include "base/fail.h"
#include "base/sort.h"

/* Rows of what has no function or no image, behind those that have. */
#define SLOT_OTHERS HWTD_CALL_TYPES
#define SLOT_UNKNOWN (HWTD_CALL_TYPES + 1u)
#define SLOT_ROOT (HWTD_CALL_TYPES + 2u)
#define EXTRA_SLOTS (HWTD_CALL_TYPES + 3u)

/* A table while it is made: a row for each slot, and then those that are used. */
struct making {
	struct hwtd_profile *p;
	struct hwtdi_profile_table *table;
	uint32_t by;
	/* Things that slots stand for; the extra ones come behind. */
	size_t n_things;
	/* By slot: calls of it that are open. */
	uint32_t *open;
	/* By slot. */
	bool *used;
	size_t n_slots;
};

/* Slots. */

static int
make_slots(struct making *m, size_t n_things)
{
	struct hwtdi_profile_table *t = m->table;
	struct hwtd_context *library = m->p->library;
	int rc;

	m->n_things = n_things;
	/* And one for code of each image that has no function. */
	m->n_slots = n_things + EXTRA_SLOTS + m->p->n_images;
	rc = hwtdi_array_grow(library, &t->rows, &t->cap, m->n_slots,
	    sizeof(*t->rows), NULL);
	if (rc != HWTD_OK)
		return (rc);
	m->open = hwtdi_zalloc(library, m->n_slots * sizeof(*m->open));
	m->used = hwtdi_zalloc(library, m->n_slots * sizeof(*m->used));
	if (m->open == NULL || m->used == NULL)
		return (HWTD_E_NOMEM);
	memset(t->rows, 0, m->n_slots * sizeof(*t->rows));
	for (size_t i = 0; i < m->n_slots; i++) {
		struct hwtd_profile_row *row = &t->rows[i];

		row->function = row->image = row->thread = row->cpu =
		    HWTD_NO_ID;
		if (i < n_things)
			continue;
		if (i >= n_things + EXTRA_SLOTS) {
			row->image = (uint32_t)(i - n_things - EXTRA_SLOTS);
			continue;
		}
		row->flags = i == n_things + SLOT_ROOT
		    ? HWTD_PROFILE_NODEF_ROOT
		    : i == n_things + SLOT_OTHERS ? HWTD_PROFILE_NODEF_OTHERS
		    : i < n_things + HWTD_CALL_TYPES
		    ? HWTD_PROFILE_NODEF_UNTRACED
		    : 0;
		if (i < n_things + HWTD_CALL_TYPES)
			row->type = (uint32_t)(i - n_things);
	}
	return (HWTD_OK);
}

static void
drop_slots(struct making *m)
{
	hwtdi_free(m->p->library, m->open, m->n_slots * sizeof(*m->open));
	hwtdi_free(m->p->library, m->used, m->n_slots * sizeof(*m->used));
}

/* Rows that nothing is in are none. */
static void
keep_used(struct making *m)
{
	struct hwtdi_profile_table *t = m->table;

	t->n = 0;
	for (size_t i = 0; i < m->n_slots; i++)
		if (m->used[i])
			t->rows[t->n++] = t->rows[i];
	t->made = true;
}

static uint32_t
thing_of_function(const struct making *m, uint32_t function)
{
	const struct hwtd_profile *p = m->p;

	if (function == HWTD_NO_ID)
		return (HWTD_NO_ID);
	return (m->by == HWTD_PROFILE_BY_IMAGE
		? hwtdi_profile_rank(&p->order->images,
		      p->functions[function].image)
		: p->order->functions.ranks[function]);
}

static size_t
slot_of_node(const struct making *m, uint32_t no)
{
	const struct hwtdi_profile_node *node = &m->p->nodes[no];
	const uint32_t thing = thing_of_function(m, node->function);

	if (thing != HWTD_NO_ID)
		return (thing);
	return (m->n_things +
	    ((node->flags & HWTD_PROFILE_NODEF_ROOT) != 0 ? SLOT_ROOT
		    : (node->flags & HWTD_PROFILE_NODEF_OTHERS) != 0
		    ? SLOT_OTHERS
		    : (node->flags & HWTD_PROFILE_NODEF_UNTRACED) != 0
		    ? node->type
		    : SLOT_UNKNOWN));
}

/* From calls. */

static bool
is_nothing(const struct hwtd_profile_sums *sums)
{
	static const struct hwtd_profile_sums nothing;

	return (memcmp(sums, &nothing, sizeof(nothing)) == 0);
}

static void
leave_slot(void *arg, uint32_t no)
{
	struct making *m = arg;

	m->open[slot_of_node(m, no)]--;
}

static int
add_nodes(struct making *m)
{
	struct hwtd_profile *p = m->p;
	struct hwtdi_profile_path path = { .n = 0 };
	int rc = HWTD_OK;

	for (size_t i = 0; i < p->n_nodes && rc == HWTD_OK; i++) {
		const uint32_t no = p->order->nodes.at[i];
		const size_t slot = slot_of_node(m, no);
		struct hwtd_profile_row *row = &m->table->rows[slot];

		rc = hwtdi_profile_path_to(p, &path, no, leave_slot, m, NULL);
		if (rc != HWTD_OK)
			break;
		hwtdi_profile_add_sums(&row->self, &p->nodes[no].self);
		/* What is around all has itself only. */
		if (m->open[slot]++ == 0)
			hwtdi_profile_add_sums(&row->total,
			    slot == m->n_things + SLOT_ROOT
				? &p->nodes[no].self
				: &p->order->totals[no]);
		if (slot != m->n_things + SLOT_ROOT ||
		    !is_nothing(&p->nodes[no].self))
			m->used[slot] = true;
	}
	hwtdi_array_free(p->library, path.at, path.cap, sizeof(*path.at));
	return (rc);
}

/* From runs. */

static void
add_block(struct making *m, const struct hwtdi_profile_code *code)
{
	const struct hwtd_profile *p = m->p;
	const uint32_t function = m->by == HWTD_PROFILE_BY_INLINE &&
		code->inlined != HWTD_NO_ID
	    ? code->inlined
	    : code->function;
	const uint32_t thing = m->by == HWTD_PROFILE_BY_IMAGE
	    ? hwtdi_profile_rank(&p->order->images, code->image)
	    : thing_of_function(m, function);
	const size_t slot = thing != HWTD_NO_ID ? thing
	    : code->image != HWTD_NO_ID
	    ? m->n_things + EXTRA_SLOTS + p->order->images.ranks[code->image]
	    : m->n_things + SLOT_UNKNOWN;
	struct hwtd_profile_row *row = &m->table->rows[slot];

	m->used[slot] = true;
	row->insns = hwtdi_profile_sum(row->insns,
	    hwtdi_profile_times(code->count, code->insns));
	if (m->by == HWTD_PROFILE_BY_IMAGE || function == HWTD_NO_ID)
		return;
	if ((p->functions[function].flags & HWTD_PROFILE_FUNCTIONF_INLINED) !=
	    0) {
		if (code->count > row->entered)
			row->entered = code->count;
	} else if (code->off == p->functions[function].file_off &&
	    (p->functions[function].flags &
		(HWTD_PROFILE_FUNCTIONF_OFFSET |
		    HWTD_PROFILE_FUNCTIONF_ADDRESS)) != 0) {
		row->entered = hwtdi_profile_sum(row->entered, code->count);
	}
}

static void
name_rows(struct making *m)
{
	const struct hwtd_profile *p = m->p;

	for (size_t i = 0; i < m->n_things; i++) {
		struct hwtd_profile_row *row = &m->table->rows[i];
		const struct hwtdi_profile_function *f;

		if (m->by == HWTD_PROFILE_BY_IMAGE) {
			row->image = (uint32_t)i;
			continue;
		}
		f = &p->functions[p->order->functions.at[i]];
		row->function = (uint32_t)i;
		row->image = hwtdi_profile_rank(&p->order->images, f->image);
		row->file = hwtdi_text_pool_get(&p->texts, f->file);
		row->line = f->line;
		row->file_off = f->file_off;
	}
}

static int
make_functions(struct making *m)
{
	struct hwtd_profile *p = m->p;
	int rc = make_slots(m,
	    m->by == HWTD_PROFILE_BY_IMAGE ? p->n_images : p->n_functions);

	if (rc != HWTD_OK)
		return (rc);
	name_rows(m);
	/* Calls are not of what was inlined. */
	if (m->by != HWTD_PROFILE_BY_INLINE)
		rc = add_nodes(m);
	for (size_t i = 0; i < p->n_blocks && rc == HWTD_OK; i++)
		add_block(m, &p->blocks[i]);
	if (rc == HWTD_OK)
		keep_used(m);
	return (rc);
}

/* Lines. */

struct line_item {
	/* Ranks. */
	uint32_t image, line;
	uint32_t block;
};

static int
compare_lines(const void *va, const void *vb)
{
	const struct line_item *a = va, *b = vb;

	if (a->image != b->image)
		return (a->image < b->image ? -1 : 1);
	return (a->line < b->line ? -1 : a->line > b->line);
}

static int
add_line(struct making *m, const struct line_item *item, bool is_new)
{
	struct hwtdi_profile_table *t = m->table;
	struct hwtd_profile *p = m->p;
	const struct hwtdi_profile_code *code = &p->blocks[item->block];
	struct hwtd_profile_row *row;
	int rc;

	if (is_new) {
		rc = hwtdi_array_grow(p->library, &t->rows, &t->cap, t->n + 1,
		    sizeof(*t->rows), NULL);
		if (rc != HWTD_OK)
			return (rc);
		row = &t->rows[t->n++];
		memset(row, 0, sizeof(*row));
		row->function = row->thread = row->cpu = HWTD_NO_ID;
		row->image = item->image;
		if (code->line != HWTD_NO_ID) {
			row->file = hwtdi_text_pool_get(&p->texts,
			    p->lines[code->line].file);
			row->line = p->lines[code->line].line;
		}
	}
	row = &t->rows[t->n - 1];
	row->insns = hwtdi_profile_sum(row->insns,
	    hwtdi_profile_times(code->count, code->insns));
	if (code->count > row->entered)
		row->entered = code->count;
	return (HWTD_OK);
}

static int
make_lines(struct making *m)
{
	struct hwtd_profile *p = m->p;
	const size_t bytes = p->n_blocks * sizeof(struct line_item);
	struct line_item *items;
	int rc = HWTD_OK;

	if (p->n_blocks != 0) {
		items = hwtdi_alloc(p->library, bytes);
		if (items == NULL)
			return (HWTD_E_NOMEM);
		for (size_t i = 0; i < p->n_blocks; i++)
			items[i] = (struct line_item){
				hwtdi_profile_rank(&p->order->images,
				    p->blocks[i].image),
				hwtdi_profile_rank(&p->order->lines,
				    p->blocks[i].line),
				(uint32_t)i
			};
		rc = hwtdi_sort(p->library, items, p->n_blocks, sizeof(*items),
		    compare_lines, NULL);
		for (size_t i = 0; i < p->n_blocks && rc == HWTD_OK; i++)
			rc = add_line(m, &items[i],
			    i == 0 ||
				compare_lines(&items[i - 1], &items[i]) != 0);
		hwtdi_free(p->library, items, bytes);
	}
	m->table->made = rc == HWTD_OK;
	return (rc);
}

/* Threads and CPUs. */

static int
compare_cpus(const void *va, const void *vb)
{
	const struct hwtd_profile_row *a = va, *b = vb;

	return (a->cpu < b->cpu ? -1 : a->cpu > b->cpu);
}

static int
make_cpus(struct making *m)
{
	struct hwtdi_profile_table *t = m->table;
	struct hwtd_profile *p = m->p;
	size_t n = 0;
	int rc = hwtdi_array_grow(p->library, &t->rows, &t->cap,
	    p->n_places + 1, sizeof(*t->rows), NULL);

	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < p->n_places; i++)
		t->rows[i] = (struct hwtd_profile_row){
			.function = HWTD_NO_ID,
			.image = HWTD_NO_ID,
			.thread = HWTD_NO_ID,
			.cpu = p->places[i].cpu,
			.insns = p->places[i].insns,
		};
	qsort(t->rows, p->n_places, sizeof(*t->rows), compare_cpus);
	for (size_t i = 0; i < p->n_places; i++) {
		if (n > 0 && t->rows[n - 1].cpu == t->rows[i].cpu)
			t->rows[n - 1]
			    .insns = hwtdi_profile_sum(t->rows[n - 1].insns,
			    t->rows[i].insns);
		else
			t->rows[n++] = t->rows[i];
	}
	t->n = n;
	t->made = true;
	return (HWTD_OK);
}

static int
make_threads(struct making *m)
{
	struct hwtd_profile *p = m->p;
	int rc = make_slots(m, p->n_threads);

	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < p->n_threads; i++)
		m->table->rows[i].thread = (uint32_t)i;
	for (size_t i = 0; i < p->n_nodes; i++) {
		const struct hwtdi_profile_node *node = &p->nodes[i];
		struct hwtd_profile_row *row;
		uint32_t slot;

		if (node->parent != HWTD_NO_ID || node->thread == HWTD_NO_ID)
			continue;
		slot = p->order->threads.ranks[node->thread];
		row = &m->table->rows[slot];
		hwtdi_profile_add_sums(&row->self, &p->order->totals[i]);
		row->total = row->self;
		m->used[slot] = true;
	}
	for (size_t i = 0; i < p->n_places; i++) {
		const struct hwtdi_profile_place *place = &p->places[i];
		const size_t slot = place->thread != HWTD_NO_ID
		    ? p->order->threads.ranks[place->thread]
		    : m->n_things + SLOT_UNKNOWN;

		m->table->rows[slot]
		    .insns = hwtdi_profile_sum(m->table->rows[slot].insns,
		    place->insns);
		m->used[slot] = true;
	}
	keep_used(m);
	return (HWTD_OK);
}

/* Reading. */

static int
make_table(struct hwtd_profile *p, uint32_t by)
{
	struct making m = { .p = p, .by = by, .table = &p->order->tables[by] };
	int rc;

	if (m.table->made)
		return (HWTD_OK);
	m.table->n = 0;
	switch (by) {
	case HWTD_PROFILE_BY_LINE:
		rc = make_lines(&m);
		break;
	case HWTD_PROFILE_BY_THREAD:
		rc = make_threads(&m);
		break;
	case HWTD_PROFILE_BY_CPU:
		rc = make_cpus(&m);
		break;
	default:
		rc = make_functions(&m);
		break;
	}
	drop_slots(&m);
	return (rc);
}

/* There are many of them, and they need no table. */
static void
row_of_block(const struct hwtd_profile *p, uint64_t i,
    struct hwtd_profile_row *row)
{
	struct hwtd_profile_block block;

	hwtdi_profile_block_at(p, p->order->blocks.at[i], &block);
	memset(row, 0, sizeof(*row));
	row->function = block.function;
	row->image = block.image;
	row->thread = row->cpu = HWTD_NO_ID;
	row->file = block.file;
	row->line = block.line;
	row->bytes = block.bytes;
	row->file_off = block.file_off;
	row->insns = hwtdi_profile_times(block.count, block.insns);
	row->entered = block.count;
}

int
hwtd_profile_rows(struct hwtd_profile *p, uint32_t by, uint64_t first,
    struct hwtd_profile_row *out, size_t stride, size_t cap, size_t *n_out)
{
	struct hwtd_profile_row row;
	size_t n;
	int rc = hwtdi_profile_check_read(p, out, stride, sizeof(row), cap,
	    n_out);

	if (rc == HWTD_OK && by >= HWTD_PROFILE_BYS)
		rc = HWTD_E_INVALID;
	if (rc == HWTD_OK && by != HWTD_PROFILE_BY_ADDRESS)
		rc = make_table(p, by);
	if (rc != HWTD_OK)
		return (rc);
	n = by == HWTD_PROFILE_BY_ADDRESS ? p->n_blocks
					  : p->order->tables[by].n;
	if (first >= n)
		return (HWTD_END);
	for (; *n_out < cap && first + *n_out < n; ++*n_out) {
		if (by == HWTD_PROFILE_BY_ADDRESS)
			row_of_block(p, first + *n_out, &row);
		else
			row = p->order->tables[by].rows[first + *n_out];
		hwtdi_profile_store(out, stride, *n_out, &row, sizeof(row));
	}
	return (HWTD_OK);
}
