/*
 * The cursor: a lane for each stream that was asked for, and where they begin.
 */
#include <string.h>

#include "base/fail.h"
#include "event/events_internal.h"

/* Opening and closing. */

/* Rows of several streams are put in the order of their times. */
static bool
is_merged(const struct hwtd_events *ev, uint32_t n_streams)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	unsigned int timed = 0;

	for (uint32_t i = 0; i < n_streams && timed < 2; i++) {
		desc.size = sizeof(desc);
		if (hwtd_trace_stream(ev->trace, i, &desc) == HWTD_OK &&
		    desc.clock.counts_per != 0 &&
		    hwtdi_filter_stream(&ev->filter, i, &desc))
			timed++;
	}
	return (timed == 2);
}

static int
add_lanes(struct hwtd_events *ev, struct hwtd_error *err)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtdi_crew_args args = { .trace = ev->trace,
		.filter = &ev->filter,
		.records = &ev->records,
		.pool = ev->pool,
		.cancel = &ev->cancel };
	int rc;

	hwtdi_crew_share(&args, ev->filter.o.jobs);
	(void)hwtd_trace_info(ev->trace, &info);
	rc = hwtdi_filter_check_streams(&ev->filter, ev->trace, err);
	if (rc != HWTD_OK)
		return (rc);
	/* They would only be unpacked to be copied again. */
	args.merged = is_merged(ev, info.n_streams);
	ev->lanes = hwtdi_zalloc(ev->library,
	    info.n_streams * sizeof(struct hwtdi_lane *));
	ev->heap = hwtdi_zalloc(ev->library,
	    info.n_streams * sizeof(*ev->heap));
	if (ev->lanes == NULL || ev->heap == NULL)
		return (hwtdi_fail_nomem(err,
		    info.n_streams * sizeof(*ev->heap)));
	for (uint32_t i = 0; i < info.n_streams; i++) {
		desc.size = sizeof(desc);
		rc = hwtd_trace_stream(ev->trace, i, &desc);
		if (rc != HWTD_OK)
			return (hwtdi_fail(err, rc, "no stream %u", i));
		if (!hwtdi_filter_stream(&ev->filter, i, &desc))
			continue;
		args.stream = i;
		rc = hwtdi_lane_create(&args, &ev->lanes[ev->n_lanes], err);
		if (rc != HWTD_OK)
			return (rc);
		ev->n_lanes++;
	}
	return (HWTD_OK);
}

int
hwtd_events_open(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, struct hwtd_events **ev_out,
    struct hwtd_error *err)
{
	struct hwtd_context *library;
	struct hwtd_events *ev;
	int rc;

	if (trace == NULL || ev_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no trace or no place for the cursor"));
	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	library = hwtdi_trace_library(trace);
	ev = hwtdi_zalloc(library, sizeof(*ev));
	if (ev == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*ev)));
	ev->library = library;
	ev->trace = hwtdi_trace_hold(trace);
	ev->only = HWTD_NO_ID;
	ev->stats.size = sizeof(ev->stats);
	hwtdi_rows_init(&ev->details, library);
	rc = hwtdi_filter_init(&ev->filter, library, opts, err);
	if (rc == HWTD_OK && ev->filter.o.jobs > 1)
		/* The caller's own thread is one of them. */
		rc = hwtdi_pool_create(library, ev->filter.o.jobs - 1,
		    &ev->pool, err);
	if (rc == HWTD_OK)
		rc = hwtdi_record_lane_init(&ev->records, trace, &ev->filter,
		    err);
	if (rc == HWTD_OK)
		rc = add_lanes(ev, err);
	if (rc != HWTD_OK) {
		hwtd_events_close(ev);
		return (rc);
	}
	*ev_out = ev;
	return (HWTD_OK);
}

struct hwtd_events *
hwtdi_events_hold(struct hwtd_events *ev)
{
	hwtdi_users_add(&ev->users);
	return (ev);
}

void
hwtd_events_close(struct hwtd_events *ev)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;

	if (ev == NULL || !hwtdi_users_drop(&ev->users))
		return;
	trace = ev->trace;
	(void)hwtd_trace_info(trace, &info);
	atomic_store(&ev->cancel, true);
	for (size_t i = 0; i < ev->n_lanes; i++)
		hwtdi_lane_destroy(ev->lanes[i]);
	hwtdi_pool_destroy(ev->pool);
	hwtdi_free(ev->library, ev->lanes,
	    info.n_streams * sizeof(struct hwtdi_lane *));
	hwtdi_free(ev->library, ev->heap, info.n_streams * sizeof(*ev->heap));
	hwtdi_record_lane_fini(&ev->records);
	hwtdi_rows_fini(&ev->details);
	hwtdi_filter_fini(&ev->filter);
	hwtdi_free(ev->library, ev, sizeof(*ev));
	hwtd_trace_close(trace);
}

/* Seeking. */

/* Until that is done there is no place to read on from. */
static void
forget(struct hwtd_events *ev)
{
	atomic_store(&ev->cancel, true);
	for (size_t i = 0; i < ev->n_lanes; i++)
		hwtdi_lane_halt(ev->lanes[i]);
	atomic_store(&ev->cancel, false);
	ev->started = false;
	ev->n_started = 0;
	ev->n_heap = 0;
	ev->next_untimed = 0;
	ev->waiting = false;
	ev->strict_end = false;
	ev->astray = true;
	ev->damage_no = 0;
	ev->only = HWTD_NO_ID;
	hwtdi_record_lane_rewind(&ev->records);
	memset(&ev->stats, 0, sizeof(ev->stats));
	ev->stats.size = sizeof(ev->stats);
}

int
hwtd_events_seek_ns(struct hwtd_events *ev, uint64_t time_ns,
    struct hwtd_error *err)
{
	int rc;

	if (ev == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no cursor"));
	forget(ev);
	hwtdi_record_lane_seek_ns(&ev->records, time_ns);
	for (size_t i = 0; i < ev->n_lanes; i++) {
		rc = hwtdi_lane_seek_ns(ev->lanes[i], time_ns, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	ev->astray = false;
	return (HWTD_OK);
}

int
hwtd_events_seek_offset(struct hwtd_events *ev, uint32_t stream,
    uint64_t stream_off, struct hwtd_error *err)
{
	int rc;

	if (ev == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no cursor"));
	for (size_t i = 0; i < ev->n_lanes; i++) {
		if (ev->lanes[i]->stream != stream)
			continue;
		forget(ev);
		ev->only = stream;
		hwtdi_record_lane_seek_offset(&ev->records, stream,
		    stream_off);
		rc = hwtdi_lane_seek_offset(ev->lanes[i], stream_off, err);
		ev->astray = rc != HWTD_OK;
		return (rc);
	}
	return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
	    "stream %u is not read by this cursor", stream));
}

int
hwtd_events_stats(const struct hwtd_events *ev, struct hwtd_stats *stats)
{
	if (ev == NULL || stats == NULL)
		return (HWTD_E_INVALID);
	return (hwtdi_result_copy(stats, &ev->stats, sizeof(ev->stats)));
}

struct hwtd_context *
hwtdi_events_library(const struct hwtd_events *ev)
{
	return (ev->library);
}

struct hwtd_trace *
hwtdi_events_trace(const struct hwtd_events *ev)
{
	return (ev->trace);
}
