/*
 * Damage of a file that belongs to no stream.
 */
#include <string.h>

#include "event/cursor.h"

bool
hwtdi_stray_damage(const struct hwtd_trace *trace,
    const struct hwtdi_filter *filter, size_t *no_inout,
    struct hwtd_damage *out)
{
	for (;; ++*no_inout) {
		memset(out, 0, sizeof(*out));
		out->size = sizeof(*out);
		if (filter->o.n_streams != 0 ||
		    hwtd_trace_damage(trace, *no_inout, out) != HWTD_OK)
			return (false);
		if (out->stream == HWTD_NO_ID || out->first == out->end)
			break;
	}
	++*no_inout;
	return (true);
}

void
hwtdi_stray_gap(const struct hwtd_damage *damage, struct hwtd_gap *out)
{
	memset(out, 0, sizeof(*out));
	out->reason = HWTD_GAP_FILE_DAMAGED;
	out->flags = HWTD_GAPF_FILE;
	out->file_off = damage->file_off;
	out->file_bytes = damage->file_bytes;
	memcpy(out->text, damage->text, sizeof(out->text) - 1);
}
