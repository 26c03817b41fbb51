/*
 * Traces that profiles are made of, and making them.  Every failure fails the test.
 */
#ifndef TEST_PROFILE_TRACE_H
#define TEST_PROFILE_TRACE_H

#include <hwtdecode/hwtdecode.h>

/* Code at an address has a name, in all processes. */
void pa_name(struct hwtd_trace *trace, uint64_t address, uint64_t bytes,
    const char *text);

/* An empty profile in the context of a trace. */
struct hwtd_profile *pa_create(struct hwtd_trace *trace, uint32_t flags);

/* Add all there is; calls are opened, and closed, or stay open. */
void pa_runs(struct hwtd_profile *p, struct hwtd_trace *trace, uint32_t flags,
    const struct hwtd_events_options *events);
struct hwtd_calls *pa_open_calls(struct hwtd_trace *trace,
    const struct hwtd_events_options *events);
void pa_calls_of(struct hwtd_profile *p, struct hwtd_calls *calls);
void pa_calls(struct hwtd_profile *p, struct hwtd_trace *trace,
    const struct hwtd_events_options *events);
void pa_events(struct hwtd_profile *p, struct hwtd_trace *trace,
    const struct hwtd_events_options *events);

/*
 * Streams with gaps, interrupts and pauses, of a thread each; `switches`: on the
 * first one threads take turns.
 */
struct hwtd_trace *pa_long(struct hwtd_context *ctx, uint64_t seed,
    uint32_t streams, size_t insns, bool switches);

#endif /* TEST_PROFILE_TRACE_H */
