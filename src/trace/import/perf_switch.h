/*
 * Context switches as Linux perf writes them: records one after the other,
 * each with thread and time at its end.
 */
#ifndef HWTDI_PERF_SWITCH_H
#define HWTDI_PERF_SWITCH_H

#include "trace/trace_internal.h"

/*
 * Add what the records of one CPU say to a trace.  Their times are on the
 * trace's clock.  HWTD_E_CORRUPT: a record's size is wrong; offset says where.
 */
int hwtdi_perf_switch_add(struct hwtd_trace *trace, uint32_t cpu,
    const uint8_t *bytes, size_t n, struct hwtd_error *err);

#endif /* HWTDI_PERF_SWITCH_H */
