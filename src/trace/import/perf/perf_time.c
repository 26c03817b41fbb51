/*
 * The clock of Linux perf.
 */
#include "trace/import/perf/perf_time.h"

#include <string.h>

/*
 * ns = zero + (count * mult >> shift), all mod 2^64; of short counts
 * cycles + ((count - cycles) & mask) in place of the count.
 * Source: perf_event_open(2), "time_zero"; linux/perf_event.h, "time_cycles".
 */
bool
hwtdi_perf_time_clock(const struct hwtdi_perf_time *time,
    struct hwtd_clock *out)
{
	if (time->shift > 63 || time->mult == 0)
		return (false);
	memset(out, 0, sizeof(*out));
	out->counts_per = UINT64_C(1) << time->shift;
	out->ns_per = time->mult;
	out->base_ns = time->zero;
	if (time->is_short) {
		out->wrap_base = time->cycles;
		out->wrap_mask = time->mask;
	}
	return (true);
}
