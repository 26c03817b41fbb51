/*
 * Flows of the native Intel PT engine, read segment by segment without the rest
 * of the library, and put together: runs are what they stand for.
 */
#ifndef TEST_NATIVE_FLOWS_H
#define TEST_NATIVE_FLOWS_H

#include <hwtdecode/hwtdecode.h>

#include "decode/decoder.h"

struct native_flows {
	uint32_t *tokens;
	size_t n_tokens, cap_tokens;
	/* `at` counts tokens from the first of all flows. */
	struct hwtdi_rare *rares;
	size_t n_rares, cap_rares;
	struct hwtdi_placement *places;
	size_t n_places, cap_places;
	struct hwtdi_anchor *anchors;
	size_t n_anchors, cap_anchors;
	/* Tokens before they were put together. */
	size_t n_told;
	/* Times that tracing went off in a run. */
	size_t n_off;
	/* Times that runs began anew. */
	size_t n_over;
};

struct native_reader {
	struct hwtd_trace *trace;
	struct hwtdi_code_graph *graph;
	struct hwtdi_decoder *decoder;
	struct hwtdi_flow *flow;
	/* Bytes after which code is looked up anew; 0: it is fixed. */
	uint64_t horizon;
	/* Called before each flow; may be NULL. */
	void (*prepare)(struct hwtdi_decoder *decoder, uint64_t *random);
	uint64_t random;
};

/* Of stream 0 of a sealed trace; `pt` may be NULL. */
void native_open(struct native_reader *r, struct hwtd_trace *trace,
    struct hwtdi_code_graph *graph, const struct hwtd_pt_config *pt,
    uint64_t horizon, bool runs);
void native_close(struct native_reader *r);

/* All of the bytes, as one segment, or cut at each PSB. */
void native_read(struct native_reader *r, const uint8_t *bytes, size_t n,
    bool cut, struct native_flows *out);
void native_free(struct native_flows *f);

/*
 * All is the same; else `text` says up to where.  Without anchors tracing may go
 * off and on in runs.
 */
bool native_same(const struct native_flows *a, const struct native_flows *b,
    bool anchors, char *text, size_t text_bytes);

#endif /* TEST_NATIVE_FLOWS_H */
