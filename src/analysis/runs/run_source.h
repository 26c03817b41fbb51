/*
 * What neighbours ask runs besides what they tell everybody.
 */
#ifndef HWTDI_RUN_SOURCE_H
#define HWTDI_RUN_SOURCE_H

#include <hwtdecode/runs.h>
#include <stdbool.h>

/* Closed once more. */
struct hwtd_runs *hwtdi_runs_hold(struct hwtd_runs *runs);

/* Borrowed while the runs are open. */
struct hwtd_trace *hwtdi_runs_trace(const struct hwtd_runs *runs);

/* HWTD_RUNS_EDGES was asked for. */
bool hwtdi_runs_have_edges(const struct hwtd_runs *runs);

#endif /* HWTDI_RUN_SOURCE_H */
