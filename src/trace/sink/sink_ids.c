/*
 * Which trace IDs the bytes of a sink have.
 */
#include "trace/sink/sink_ids.h"

#include <string.h>

void
hwtdi_sink_ids_init(struct hwtdi_sink_ids *ids, enum hwtdi_framing framing)
{
	memset(ids, 0, sizeof(*ids));
	ids->id = HWTDI_TRACE_ID_UNTOLD;
	hwtdi_framer_init(&ids->framer, framing, 0);
}

void
hwtdi_sink_ids_add(struct hwtdi_sink_ids *ids, const uint8_t *bytes, size_t n)
{
	struct hwtdi_frame_part parts[HWTDI_FRAME_PARTS];
	struct hwtdi_frame frame;

	while (n > 0) {
		const size_t took = hwtdi_framer_next(&ids->framer, bytes, n,
		    &frame);

		bytes += took;
		n -= took;
		if (frame.kind != HWTDI_FRAME_DATA)
			continue;
		const size_t n_parts = hwtdi_frame_split(frame.bytes, &ids->id,
		    parts);

		for (size_t i = 0; i < n_parts; i++)
			if (parts[i].id < HWTDI_TRACE_IDS)
				ids->bytes[parts[i].id] += parts[i].n;
	}
}
