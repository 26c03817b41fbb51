/*
 * Counts of a clock as time.
 */
#ifndef HWTDI_CLOCK_H
#define HWTDI_CLOCK_H

#include <hwtdecode/trace.h>

/* A raw count of a clock whose counts begin again at 0, as if they did not. */
uint64_t hwtdi_clock_whole(const struct hwtd_clock *clock, uint64_t count);

/* A raw count of a clock in ns on the clock of the trace. */
uint64_t hwtdi_clock_ns(const struct hwtd_clock *clock, uint64_t count);

#endif /* HWTDI_CLOCK_H */
