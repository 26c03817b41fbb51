/*
 * Counts of the same code that came in several pieces: one count for each
 * instruction, and blocks as long as they can be.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/profile_order.h"
#include "base/fail.h"
#include "base/sort.h"

/* A block while it is sorted. */
struct place {
	uint64_t off;
	uint32_t image, generation;
	uint32_t no;
	uint8_t isa;
};

/* An instruction; several that are the same become one. */
struct insn {
	uint64_t off;
	uint64_t count;
	uint32_t function, inlined, line;
	/* Of the chain that it is in, the next one + 1; 0: the last. */
	uint32_t next_plus_1;
	uint8_t length, branch;
	/* It is the first one of a chain. */
	bool first;
};

/* As many may end behind the begin of an instruction. */
#define MAX_CHAINS (HWTDI_PROFILE_INSN_MAX * 2)

struct chain {
	uint32_t first, last;
	uint64_t end;
};

struct work {
	struct hwtd_profile *p;
	struct place *places;
	/* Instructions of blocks that overlap or touch. */
	struct insn *insns;
	size_t n_insns, cap_insns;
	/* What comes out. */
	struct hwtdi_profile_code *blocks;
	size_t n_blocks, cap_blocks;
	uint8_t *lengths;
	size_t n_lengths, cap_lengths;
	struct hwtd_error *err;
};

#define ORDER(a, b)                                                           \
	if ((a) != (b))                                                       \
	return ((a) < (b) ? -1 : 1)

static int
compare_places(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	ORDER(a->image, b->image);
	ORDER(a->generation, b->generation);
	ORDER(a->isa, b->isa);
	ORDER(a->off, b->off);
	ORDER(a->no, b->no);
	return (0);
}

static int
compare_insns(const void *va, const void *vb)
{
	const struct insn *a = va, *b = vb;

	ORDER(a->off, b->off);
	ORDER(a->length, b->length);
	return (0);
}

/* Blocks of one cluster may belong together; others do not. */

static bool
same_space(const struct place *a, const struct place *b)
{
	return (a->image == b->image && a->generation == b->generation &&
	    a->isa == b->isa);
}

/* Blocks from `first` on that overlap, or touch where no branch ends one. */
static size_t
cluster_end(const struct work *w, size_t first, size_t n)
{
	const struct hwtdi_profile_code *blocks = w->p->blocks;
	uint64_t end = 0;
	bool open = false;
	size_t i = first;

	do {
		const struct hwtdi_profile_code
		    *code = &blocks[w->places[i].no];
		const uint64_t its_end = code->off + code->bytes;
		const bool its_open = code->branch == HWTD_BRANCH_NONE;

		open = its_end > end ? its_open
				     : open || (its_end == end && its_open);
		if (its_end > end)
			end = its_end;
		i++;
	} while (i < n && same_space(&w->places[first], &w->places[i]) &&
	    (w->places[i].off < end || (open && w->places[i].off == end)));
	return (i);
}

static int
expand(struct work *w, const struct hwtdi_profile_code *code)
{
	const uint8_t *lengths = w->p->lengths + code->lengths;
	uint64_t off = code->off;
	int rc = hwtdi_array_grow(w->p->library, &w->insns, &w->cap_insns,
	    w->n_insns + code->insns, sizeof(*w->insns), w->err);

	if (rc != HWTD_OK)
		return (rc);
	for (uint32_t i = 0; i < code->insns; i++) {
		w->insns[w->n_insns++] = (struct insn){
			.off = off,
			.count = code->count,
			.function = code->function,
			.inlined = code->inlined,
			.line = code->line,
			.length = lengths[i],
			.branch = i + 1 == code->insns ? code->branch
						       : HWTD_BRANCH_NONE,
		};
		off += lengths[i];
	}
	return (HWTD_OK);
}

/* Where parts disagree on what an instruction is of, any order gives the same. */
static void
join(const struct hwtd_profile *p, struct insn *a, const struct insn *b)
{
	a->count = hwtdi_profile_sum(a->count, b->count);
	if (hwtdi_profile_compare_functions(p, b->function, a->function) < 0)
		a->function = b->function;
	if (hwtdi_profile_compare_functions(p, b->inlined, a->inlined) < 0)
		a->inlined = b->inlined;
	if (hwtdi_profile_compare_lines(p, b->line, a->line) < 0)
		a->line = b->line;
	if (b->branch > a->branch)
		a->branch = b->branch;
}

static void
join_equal(struct work *w)
{
	size_t n = 0;

	qsort(w->insns, w->n_insns, sizeof(*w->insns), compare_insns);
	for (size_t i = 0; i < w->n_insns; i++) {
		if (n > 0 && w->insns[n - 1].off == w->insns[i].off &&
		    w->insns[n - 1].length == w->insns[i].length)
			join(w->p, &w->insns[n - 1], &w->insns[i]);
		else
			w->insns[n++] = w->insns[i];
	}
	w->n_insns = n;
}

static bool
goes_on(const struct insn *a, const struct insn *b)
{
	return (a->count == b->count && a->branch == HWTD_BRANCH_NONE &&
	    a->function == b->function && a->inlined == b->inlined &&
	    a->line == b->line);
}

/* Which instruction goes on with which: mostly there is one chain. */
static void
link_chains(struct work *w)
{
	struct chain chains[MAX_CHAINS];
	size_t n_chains = 0;

	for (size_t i = 0; i < w->n_insns; i++) {
		struct insn *in = &w->insns[i];
		struct chain *found = NULL;
		size_t n = 0;

		/* In the order of their begin; those that ended are over. */
		for (size_t k = 0; k < n_chains; k++)
			if (chains[k].end >= in->off)
				chains[n++] = chains[k];
		n_chains = n;
		for (size_t k = 0; k < n_chains && found == NULL; k++)
			if (chains[k].end == in->off &&
			    goes_on(&w->insns[chains[k].last], in))
				found = &chains[k];
		in->first = found == NULL;
		if (found == NULL) {
			if (n_chains == MAX_CHAINS)
				continue;
			found = &chains[n_chains++];
			found->first = (uint32_t)i;
		} else {
			w->insns[found->last].next_plus_1 = (uint32_t)i + 1;
		}
		found->last = (uint32_t)i;
		found->end = in->off + in->length;
	}
}

/* Putting out. */

static int
put_block(struct work *w, const struct hwtdi_profile_code *like)
{
	int rc = hwtdi_array_grow(w->p->library, &w->blocks, &w->cap_blocks,
	    w->n_blocks + 1, sizeof(*w->blocks), w->err);

	if (rc == HWTD_OK) {
		w->blocks[w->n_blocks] = *like;
		w->blocks[w->n_blocks++].lengths = w->n_lengths;
	}
	return (rc);
}

static int
put_lengths(struct work *w, const uint8_t *lengths, size_t n)
{
	int rc = hwtdi_array_grow(w->p->library, &w->lengths, &w->cap_lengths,
	    w->n_lengths + n, 1, w->err);

	if (rc == HWTD_OK) {
		memcpy(w->lengths + w->n_lengths, lengths, n);
		w->n_lengths += n;
	}
	return (rc);
}

static int
put_chain(struct work *w, const struct hwtdi_profile_code *like, size_t at)
{
	const struct insn *in = &w->insns[at];
	struct hwtdi_profile_code code = *like;
	int rc;

	code.off = in->off;
	code.count = in->count;
	code.function = in->function;
	code.inlined = in->inlined;
	code.line = in->line;
	code.bytes = code.insns = 0;
	rc = put_block(w, &code);
	while (rc == HWTD_OK) {
		struct hwtdi_profile_code *out = &w->blocks[w->n_blocks - 1];

		rc = put_lengths(w, &in->length, 1);
		out->bytes += in->length;
		out->insns++;
		out->branch = in->branch;
		if (in->next_plus_1 == 0)
			break;
		in = &w->insns[in->next_plus_1 - 1];
	}
	return (rc);
}

static int
put_cluster(struct work *w, size_t first, size_t end)
{
	const struct hwtdi_profile_code *blocks = w->p->blocks;
	const struct hwtdi_profile_code *like = &blocks[w->places[first].no];
	int rc = HWTD_OK;

	if (end == first + 1) {
		rc = put_block(w, like);
		return (rc == HWTD_OK
			? put_lengths(w, w->p->lengths + like->lengths,
			      like->insns)
			: rc);
	}
	w->n_insns = 0;
	for (size_t i = first; i < end && rc == HWTD_OK; i++)
		rc = expand(w, &blocks[w->places[i].no]);
	if (rc != HWTD_OK)
		return (rc);
	join_equal(w);
	link_chains(w);
	for (size_t i = 0; i < w->n_insns && rc == HWTD_OK; i++)
		if (w->insns[i].first)
			rc = put_chain(w, like, i);
	return (rc);
}

static int
put_all(struct work *w)
{
	const struct hwtd_profile *p = w->p;
	const size_t n = p->n_blocks;
	int rc;

	for (size_t i = 0; i < n; i++) {
		const struct hwtdi_profile_code *code = &p->blocks[i];

		w->places[i] = (struct place){ .off = code->off,
			.image = code->image,
			.generation = code->generation,
			.no = (uint32_t)i,
			.isa = code->isa };
	}
	rc = hwtdi_sort(p->library, w->places, n, sizeof(*w->places),
	    compare_places, w->err);
	for (size_t i = 0; i < n && rc == HWTD_OK;) {
		const size_t end = cluster_end(w, i, n);

		rc = put_cluster(w, i, end);
		i = end;
	}
	return (rc);
}

static void
fini(struct work *w, size_t n)
{
	struct hwtd_context *library = w->p->library;

	hwtdi_free(library, w->places, n * sizeof(*w->places));
	hwtdi_array_free(library, w->insns, w->cap_insns, sizeof(*w->insns));
	hwtdi_array_free(library, w->blocks, w->cap_blocks,
	    sizeof(*w->blocks));
	hwtdi_array_free(library, w->lengths, w->cap_lengths, 1);
}

int
hwtdi_profile_order_blocks(struct hwtd_profile *p, struct hwtd_error *err)
{
	struct work w = { .p = p, .err = err };
	const size_t n = p->n_blocks;
	int rc;

	if (n == p->n_ordered && n <= p->options.max_blocks)
		return (HWTD_OK);
	w.places = hwtdi_alloc(p->library, n * sizeof(*w.places));
	if (w.places == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*w.places)));
	rc = put_all(&w);
	if (rc == HWTD_OK) {
		struct work old = w;

		old.blocks = p->blocks;
		old.cap_blocks = p->cap_blocks;
		old.lengths = p->lengths;
		old.cap_lengths = p->cap_lengths;
		p->blocks = w.blocks;
		p->n_blocks = p->n_ordered = w.n_blocks;
		p->cap_blocks = w.cap_blocks;
		p->lengths = w.lengths;
		p->n_lengths = w.n_lengths;
		p->cap_lengths = w.cap_lengths;
		w = old;
	}
	fini(&w, n);
	if (rc == HWTD_OK && p->n_blocks > p->options.max_blocks)
		rc = hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u blocks in a profile", p->options.max_blocks);
	return (rc);
}
