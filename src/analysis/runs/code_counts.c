/*
 * How often code was executed, by address.
 */
#include "analysis/runs/code_counts.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

/* Memory for lengths; it never moves. */
struct hwtdi_length_chunk {
	struct hwtdi_length_chunk *next;
	size_t used, size;
	uint8_t bytes[];
};

#define CHUNK_BYTES ((size_t)1 << 14)

/* Stretches that may be put before they are sorted. */
#define MANY ((size_t)1 << 15)
#define FIRST_STRETCHES 512

/* Lengths of no stretch that may be there beside twice those of some. */
#define SPARE_LENGTHS ((size_t)1 << 16)

static size_t
chunk_bytes(size_t size)
{
	return (sizeof(struct hwtdi_length_chunk) + size);
}

static struct hwtdi_length_chunk *
new_chunk(struct hwtdi_code_counts *c, size_t size)
{
	struct hwtdi_length_chunk *chunk = hwtdi_alloc(c->library,
	    chunk_bytes(size));

	if (chunk == NULL)
		return (NULL);
	chunk->next = NULL;
	chunk->used = 0;
	chunk->size = size;
	return (chunk);
}

static const uint8_t *
put_lengths(struct hwtdi_length_chunk *chunk, const uint8_t *lengths, size_t n)
{
	uint8_t *at = chunk->bytes + chunk->used;

	memcpy(at, lengths, n);
	chunk->used += n;
	return (at);
}

static const uint8_t *
keep_lengths(struct hwtdi_code_counts *c, const uint8_t *lengths, size_t n)
{
	struct hwtdi_length_chunk *chunk = c->chunks;

	if (chunk == NULL || chunk->size - chunk->used < n) {
		chunk = new_chunk(c, n > CHUNK_BYTES ? n : CHUNK_BYTES);
		if (chunk == NULL)
			return (NULL);
		chunk->next = c->chunks;
		c->chunks = chunk;
	}
	c->n_lengths += n;
	return (put_lengths(chunk, lengths, n));
}

static void
free_lengths(struct hwtdi_code_counts *c)
{
	while (c->chunks != NULL) {
		struct hwtdi_length_chunk *chunk = c->chunks;

		c->chunks = chunk->next;
		hwtdi_free(c->library, chunk, chunk_bytes(chunk->size));
	}
	c->n_lengths = 0;
}

int
hwtdi_code_counts_tidy(struct hwtdi_code_counts *c, struct hwtd_error *err)
{
	struct hwtdi_length_chunk *chunk;
	size_t n = 0;

	for (size_t i = 0; i < c->n_stretches; i++)
		n += c->stretches[i].insns;
	if (c->n_lengths <= 2 * n + SPARE_LENGTHS)
		return (HWTD_OK);
	chunk = new_chunk(c, n);
	if (chunk == NULL)
		return (hwtdi_fail_nomem(err, n));
	for (size_t i = 0; i < c->n_stretches; i++) {
		struct hwtdi_stretch *s = &c->stretches[i];

		s->lengths = put_lengths(chunk, s->lengths, s->insns);
	}
	free_lengths(c);
	c->chunks = chunk;
	c->n_lengths = n;
	return (HWTD_OK);
}

void
hwtdi_code_counts_keep_edges(struct hwtdi_code_counts *c)
{
	free_lengths(c);
	hwtdi_array_free(c->library, c->stretches, c->cap_stretches,
	    sizeof(*c->stretches));
	hwtdi_index_fini(&c->stretch_index, c->library);
	hwtdi_index_fini(&c->edge_index, c->library);
	c->stretches = NULL;
	c->n_stretches = c->cap_stretches = c->n_sorted = 0;
}

void
hwtdi_code_counts_fini(struct hwtdi_code_counts *c)
{
	hwtdi_code_counts_keep_edges(c);
	hwtdi_array_free(c->library, c->edges, c->cap_edges,
	    sizeof(*c->edges));
	c->edges = NULL;
	c->n_edges = c->cap_edges = 0;
}

static uint64_t
stretch_hash(const struct hwtdi_code_counts *c, const struct hwtdi_stretch *s)
{
	return (hwtdi_hash_pair(c->library->seed, s->ip,
	    (uint64_t)s->section << 32 | s->bytes));
}

static bool
same_stretch(const struct hwtdi_stretch *a, const struct hwtdi_stretch *b)
{
	return (a->ip == b->ip && a->insns == b->insns &&
	    a->bytes == b->bytes && a->section == b->section &&
	    a->branch == b->branch && a->isa == b->isa &&
	    memcmp(a->lengths, b->lengths, a->insns) == 0);
}

static int
append(struct hwtdi_code_counts *c, const struct hwtdi_stretch *s,
    struct hwtd_error *err)
{
	struct hwtdi_stretch *kept;
	int rc = HWTD_OK;

	if (c->n_stretches == c->cap_stretches)
		rc = hwtdi_array_grow(c->library, &c->stretches,
		    &c->cap_stretches, 2 * c->n_stretches + FIRST_STRETCHES,
		    sizeof(*c->stretches), err);
	if (rc != HWTD_OK)
		return (rc);
	kept = &c->stretches[c->n_stretches];
	*kept = *s;
	kept->lengths = keep_lengths(c, s->lengths, s->insns);
	if (kept->lengths == NULL)
		return (hwtdi_fail_nomem(err, CHUNK_BYTES));
	c->n_stretches++;
	return (HWTD_OK);
}

int
hwtdi_code_counts_add(struct hwtdi_code_counts *c,
    const struct hwtdi_stretch *s, struct hwtd_error *err)
{
	const uint64_t hash = stretch_hash(c, s);
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&c->stretch_index, hash, &tries, &no))
		if (same_stretch(&c->stretches[no], s)) {
			c->stretches[no].count += s->count;
			return (HWTD_OK);
		}
	rc = hwtdi_index_reserve(&c->stretch_index, c->library, err);
	if (rc == HWTD_OK)
		rc = append(c, s, err);
	if (rc == HWTD_OK)
		hwtdi_index_put(&c->stretch_index, hash,
		    (uint32_t)(c->n_stretches - 1));
	return (rc);
}

int
hwtdi_code_counts_reserve(struct hwtdi_code_counts *c, size_t n,
    struct hwtd_error *err)
{
	return (hwtdi_array_grow(c->library, &c->stretches, &c->cap_stretches,
	    c->n_stretches + (n < MANY ? n : MANY), sizeof(*c->stretches),
	    err));
}

int
hwtdi_code_counts_put(struct hwtdi_code_counts *c,
    const struct hwtdi_stretch *s, struct hwtd_error *err)
{
	int rc = append(c, s, err);

	return (rc == HWTD_OK &&
		    c->n_stretches - c->n_sorted > c->n_sorted + MANY
		? hwtdi_code_counts_sort(c, err)
		: rc);
}

static bool
same_edge(const struct hwtd_edge *a, const struct hwtd_edge *b)
{
	return (a->from == b->from && a->to == b->to &&
	    a->from_section == b->from_section &&
	    a->to_section == b->to_section && a->branch == b->branch);
}

int
hwtdi_code_counts_edge(struct hwtdi_code_counts *c, const struct hwtd_edge *e,
    size_t *no_out, struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash_pair(c->library->seed, e->from,
	    e->to ^ (uint64_t)e->to_section << 32);
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&c->edge_index, hash, &tries, &no))
		if (same_edge(&c->edges[no], e)) {
			c->edges[no].count += e->count;
			if (no_out != NULL)
				*no_out = no;
			return (HWTD_OK);
		}
	rc = hwtdi_index_reserve(&c->edge_index, c->library, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(c->library, &c->edges, &c->cap_edges,
		    c->n_edges + 1, sizeof(*c->edges), err);
	if (rc != HWTD_OK)
		return (rc);
	if (no_out != NULL)
		*no_out = c->n_edges;
	c->edges[c->n_edges] = *e;
	hwtdi_index_put(&c->edge_index, hash, (uint32_t)c->n_edges++);
	return (HWTD_OK);
}

int
hwtdi_code_counts_join(struct hwtdi_code_counts *to,
    const struct hwtdi_code_counts *from, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < from->n_stretches && rc == HWTD_OK; i++)
		rc = hwtdi_code_counts_put(to, &from->stretches[i], err);
	for (size_t i = 0; i < from->n_edges && rc == HWTD_OK; i++)
		rc = hwtdi_code_counts_edge(to, &from->edges[i], NULL, err);
	return (rc);
}
