/*
 * Who wrote a stream of samples, and how often it sampled: the one place where
 * analyses ask for it.
 */
#ifndef HWTDI_MEMORY_PRODUCER_H
#define HWTDI_MEMORY_PRODUCER_H

#include <hwtdecode/memory.h>

#include "decode/spe/spe_names.h"

struct hwtdi_memory_producer {
	struct hwtdi_spe_producer who;
	/* Operations for each sample; 0: not known. */
	uint64_t interval;
};

/* What the stream tells; of what it does not, what the options say. */
void hwtdi_memory_producer(const struct hwtd_trace *trace, uint32_t stream,
    const struct hwtd_memory_options *options,
    struct hwtdi_memory_producer *out);

/* Neoverse N1 before r4p1: erratum 1694299. */
bool hwtdi_memory_has_branch_bias(uint32_t midr);

#endif /* HWTDI_MEMORY_PRODUCER_H */
