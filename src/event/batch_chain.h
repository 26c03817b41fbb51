/*
 * Batches of rows that one thread makes and another reads, in order.
 */
#ifndef HWTDI_BATCH_CHAIN_H
#define HWTDI_BATCH_CHAIN_H

#include "event/packed_rows.h"

struct hwtdi_batch {
	struct hwtdi_batch *next;
	/* Those that the reader made for itself are where it wants them. */
	bool packed;
	struct hwtdi_rows rows;
	struct hwtdi_packed_rows codes;
};

struct hwtdi_batch_chain {
	struct hwtdi_batch *first, **last;
	size_t n;
};

static inline void
hwtdi_chain_init(struct hwtdi_batch_chain *chain)
{
	chain->first = NULL;
	chain->last = &chain->first;
	chain->n = 0;
}

static inline void
hwtdi_chain_add(struct hwtdi_batch_chain *chain, struct hwtdi_batch *batch)
{
	batch->next = NULL;
	*chain->last = batch;
	chain->last = &batch->next;
	chain->n++;
}

static inline struct hwtdi_batch *
hwtdi_chain_take(struct hwtdi_batch_chain *chain)
{
	struct hwtdi_batch *batch = chain->first;

	chain->first = batch->next;
	if (chain->first == NULL)
		chain->last = &chain->first;
	chain->n--;
	return (batch);
}

static inline void
hwtdi_chain_move(struct hwtdi_batch_chain *to, struct hwtdi_batch_chain *from)
{
	if (from->n == 0)
		return;
	*to->last = from->first;
	to->last = from->last;
	to->n += from->n;
	hwtdi_chain_init(from);
}

#endif /* HWTDI_BATCH_CHAIN_H */
