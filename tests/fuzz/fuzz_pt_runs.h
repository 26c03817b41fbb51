/*
 * What the native Intel PT engine remembers changes nothing of its flows, be they
 * of nodes or of runs.
 */
#ifndef FUZZ_PT_RUNS_H
#define FUZZ_PT_RUNS_H

#include <hwtdecode/hwtdecode.h>

/* Of stream 0, whose bytes these are; `pt` may be NULL. */
void fuzz_pt_runs(struct hwtd_trace *trace, const struct hwtd_pt_config *pt,
    const uint8_t *bytes, size_t n);

#endif /* FUZZ_PT_RUNS_H */
