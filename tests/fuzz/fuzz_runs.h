/*
 * Runs of a trace, counted in several ways.
 */
#ifndef FUZZ_RUNS_H
#define FUZZ_RUNS_H

#include <hwtdecode/hwtdecode.h>

/* Fail unless all ways to count agree. */
void fuzz_runs_check(struct hwtd_trace *trace);

#endif /* FUZZ_RUNS_H */
