/*
 * Traces that profiles are made of, and making them.
 */
#include "support/profile_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "trace/trace_model.h"
#include "trace/trace_names.h"

void
pa_name(struct hwtd_trace *trace, uint64_t address, uint64_t bytes,
    const char *text)
{
	assert_int_equal(hwtdi_trace_add_name(trace, HWTD_NO_ID, HWTD_NO_ID,
			     address, bytes, text, NULL),
	    HWTD_OK);
}

struct hwtd_profile *
pa_create(struct hwtd_trace *trace, uint32_t flags)
{
	const struct hwtd_profile_options opts = { .size = sizeof(opts),
		.flags = flags };
	struct hwtd_profile *p;

	assert_int_equal(hwtd_profile_create(hwtdi_trace_library(trace), &opts,
			     &p, NULL),
	    HWTD_OK);
	return (p);
}

void
pa_runs(struct hwtd_profile *p, struct hwtd_trace *trace, uint32_t flags,
    const struct hwtd_events_options *events)
{
	const struct hwtd_runs_options opts = { .size = sizeof(opts),
		.flags = flags,
		.events = events };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_runs *runs;
	int rc;

	assert_int_equal(hwtd_runs_open(trace, &opts, &runs, NULL), HWTD_OK);
	while ((rc = hwtd_profile_add_runs(p, runs, NULL, &err)) == HWTD_OK)
		continue;
	if (rc != HWTD_END)
		fail_msg("%s", err.message);
	hwtd_runs_close(runs);
}

struct hwtd_calls *
pa_open_calls(struct hwtd_trace *trace,
    const struct hwtd_events_options *events)
{
	const struct hwtd_calls_options opts = { .size = sizeof(opts),
		.flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS,
		.events = events };
	struct hwtd_calls *calls;

	assert_int_equal(hwtd_calls_open(trace, &opts, &calls, NULL), HWTD_OK);
	return (calls);
}

void
pa_calls_of(struct hwtd_profile *p, struct hwtd_calls *calls)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int rc;

	while ((rc = hwtd_profile_add_calls(p, calls, &err)) == HWTD_OK)
		continue;
	if (rc != HWTD_END)
		fail_msg("%s", err.message);
}

void
pa_calls(struct hwtd_profile *p, struct hwtd_trace *trace,
    const struct hwtd_events_options *events)
{
	struct hwtd_calls *calls = pa_open_calls(trace, events);

	pa_calls_of(p, calls);
	hwtd_calls_close(calls);
}

void
pa_events(struct hwtd_profile *p, struct hwtd_trace *trace,
    const struct hwtd_events_options *events)
{
	struct hwtd_events *ev;
	int rc;

	assert_int_equal(hwtd_events_open(trace, events, &ev, NULL), HWTD_OK);
	while ((rc = hwtd_profile_add_events(p, ev, NULL)) == HWTD_OK)
		continue;
	assert_int_equal(rc, HWTD_END);
	hwtd_events_close(ev);
}

struct hwtd_trace *
pa_long(struct hwtd_context *ctx, uint64_t seed, uint32_t streams,
    size_t insns, bool switches)
{
	struct hwtd_trace *trace = ctx != NULL ? mt_create_in(ctx)
					       : mt_create();

	(void)long_trace_code(trace);
	/* Without a name a function is one where some thread called it. */
	pa_name(trace, LONG_TRACE_BASE, 0x16, "loop");
	pa_name(trace, LONG_TRACE_BASE + 0x16, 4, "callee");
	pa_name(trace, LONG_TRACE_BASE + 0x20, 4, "handler");
	for (uint32_t i = 0; i < streams; i++) {
		const struct long_trace_options o = {
			.seed = seed + i,
			.insns = insns,
			.psb_bytes = 130 + 30 * i,
			.timed = true,
			.tsc = 300 * i,
			.interrupt_of = 30,
			.overflow_of = 30,
			.pause_of = 5,
			.garbage_of = i % 2 != 0 ? 0 : 60,
		};
		const struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = 1,
			.tid = switches && i == 0 ? HWTD_NO_ID : 100 + i,
			.clock = { .counts_per = 1, .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &o);
		(void)mt_stream(trace, &t.packets, &desc);
		mt_extent(trace, i, HWTD_EXTENT_AFTER_LOSS, t.packets.bytes,
		    t.packets.n / 2);
		long_trace_free(&t);
	}
	for (uint32_t i = 0; i < 20 && switches; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_SWITCH, 1, 0, 0);

		r.tid = 200 + i % 3;
		r.cpu = 0;
		mr_time(&r, 211 * i);
		mr_add(trace, &r);
	}
	return (mt_seal(trace));
}
