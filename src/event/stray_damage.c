/*
 * Damage of a file that belongs to no stream.
 */
#include <string.h>

#include "event/cursor.h"
#include "trace/trace_model.h"

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
		if (hwtdi_damage_is_stray(out))
			break;
	}
	++*no_inout;
	return (true);
}

void
hwtdi_gap_set_file(struct hwtd_gap *gap, const struct hwtd_damage *damage)
{
	gap->flags |= HWTD_GAPF_FILE;
	if ((damage->flags & HWTD_DAMAGEF_EARLIER_FILE) != 0)
		gap->flags |= HWTD_GAPF_EARLIER_FILE;
	gap->file_off = damage->file_off;
	gap->file_bytes = damage->file_bytes;
}

void
hwtdi_stray_gap(const struct hwtd_damage *damage, struct hwtd_gap *out)
{
	memset(out, 0, sizeof(*out));
	out->reason = HWTD_GAP_FILE_DAMAGED;
	hwtdi_gap_set_file(out, damage);
	memcpy(out->text, damage->text, sizeof(out->text) - 1);
}
