/*
 * What analyses that are made of runs ask them besides.
 */
#ifndef HWTDI_RUNS_INTERNAL_H
#define HWTDI_RUNS_INTERNAL_H

#include <hwtdecode/runs.h>

struct hwtd_trace *hwtdi_runs_trace(const struct hwtd_runs *runs);

#endif /* HWTDI_RUNS_INTERNAL_H */
