/*
 * Segments of another size.
 */
#include "support/slot_size.h"

uint64_t slot_bytes;

int __real_hwtdi_segments_init(struct hwtdi_segments *s,
    const struct hwtd_trace *trace, const struct hwtdi_engine *engine,
    uint32_t stream, struct hwtd_error *err);
int __wrap_hwtdi_segments_init(struct hwtdi_segments *s,
    const struct hwtd_trace *trace, const struct hwtdi_engine *engine,
    uint32_t stream, struct hwtd_error *err);

int
__wrap_hwtdi_segments_init(struct hwtdi_segments *s,
    const struct hwtd_trace *trace, const struct hwtdi_engine *engine,
    uint32_t stream, struct hwtd_error *err)
{
	int rc = __real_hwtdi_segments_init(s, trace, engine, stream, err);

	if (slot_bytes != 0)
		s->slot_bytes = slot_bytes;
	return (rc);
}
