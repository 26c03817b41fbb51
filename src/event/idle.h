/*
 * What makers of a trace share: the code graph, and decoders that nobody uses.
 *
 * What a decoder finds out of code and packets helps the next one who decodes
 * them.  So one that is not used any more waits with the trace for its next
 * user, as long as the graph is that of the trace.
 */
#ifndef HWTDI_IDLE_H
#define HWTDI_IDLE_H

#include "decode/decoder.h"
#include "trace/trace_model.h"

/* Decoders that wait at the most, and their bytes. */
#define HWTDI_IDLE_MOST 4u
#define HWTDI_IDLE_BYTES ((uint64_t)32 << 20)
/*
 * Nor do they take more than this part of the memory that is allowed; and none
 * wait where more than half of that is in use, by whatever it is.
 */
#define HWTDI_IDLE_SHARE 16u

/* Who decodes what. */
struct hwtdi_decoder_use {
	const struct hwtdi_engine *engine;
	uint32_t stream;
	/* As the arguments of the decoder. */
	bool runs;
	/* The graph that it has, held. */
	struct hwtdi_code_graph *graph;
	struct hwtdi_decoder *decoder;
};

/*
 * Have a decoder, and the code graph of the trace, a new one if that is full.
 * `args` lack the graph.  HWTD_OK, or HWTD_E_NOMEM; nothing is to be given back
 * then.
 */
int hwtdi_idle_take(struct hwtd_trace *trace, struct hwtdi_decoder_args *args,
    struct hwtdi_decoder_use *use_inout, struct hwtd_error *err);

/* Give them back; NULL is allowed for both. */
void hwtdi_idle_give(struct hwtd_trace *trace, struct hwtdi_decoder_use *use);

#endif /* HWTDI_IDLE_H */
