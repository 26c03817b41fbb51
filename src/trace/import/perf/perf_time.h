/*
 * The clock of Linux perf: what PERF_RECORD_TIME_CONV says, and the page that
 * an event is mapped with.
 */
#ifndef HWTDI_PERF_TIME_H
#define HWTDI_PERF_TIME_H

#include "trace/trace_internal.h"

struct hwtdi_perf_time {
	uint64_t shift;
	uint64_t mult;
	uint64_t zero;
	/* With is_short (cap_user_time_short) only. */
	uint64_t cycles;
	uint64_t mask;
	bool is_short;
};

/* False: no clock can be made of it. */
bool hwtdi_perf_time_clock(const struct hwtdi_perf_time *time,
    struct hwtd_clock *out);

#endif /* HWTDI_PERF_TIME_H */
