/*
 * The row of a sample.
 */
#ifndef HWTDI_SPE_ROW_H
#define HWTDI_SPE_ROW_H

#include <hwtdecode/event.h>
#include <stdbool.h>
#include <string.h>

#include "decode/spe/spe_names.h"

static inline bool
hwtdi_spe_is_taken(const struct hwtd_sample *s)
{
	return (s->op == HWTD_OP_BRANCH &&
	    (s->present & HWTD_SAMPLE_EVENTS) != 0 &&
	    (s->events >> HWTDI_SPE_EV_NOT_TAKEN & 1) == 0);
}

/* All that is known of it from the sample alone; the rest is 0. */
static inline void
hwtdi_spe_row(const struct hwtd_sample *s, uint8_t branch,
    struct hwtd_event *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = HWTD_EV_SAMPLE;
	out->branch = branch;
	out->stream_off = s->stream_off + s->bytes;
	if ((s->present & HWTD_SAMPLE_PC) != 0) {
		out->ip = s->pc;
		out->flags |= HWTD_EVF_IP;
	}
	/* Where a branch would have gone, or 0, is not where it went. */
	if (hwtdi_spe_is_taken(s)) {
		out->flags |= HWTD_EVF_TAKEN;
		if ((s->present & HWTD_SAMPLE_TARGET) != 0) {
			out->target = s->target;
			out->flags |= HWTD_EVF_TARGET;
		}
	}
}

#endif /* HWTDI_SPE_ROW_H */
