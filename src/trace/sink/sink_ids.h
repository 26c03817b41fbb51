/*
 * Which trace IDs the bytes of a sink have, before its sources are known.
 */
#ifndef HWTDI_SINK_IDS_H
#define HWTDI_SINK_IDS_H

#include "trace/sink/framer.h"

struct hwtdi_sink_ids {
	struct hwtdi_framer framer;
	uint8_t id;
	/* Bytes of each. */
	uint64_t bytes[HWTDI_TRACE_IDS];
};

void hwtdi_sink_ids_init(struct hwtdi_sink_ids *ids,
    enum hwtdi_framing framing);
void hwtdi_sink_ids_add(struct hwtdi_sink_ids *ids, const uint8_t *bytes,
    size_t n);

#endif /* HWTDI_SINK_IDS_H */
