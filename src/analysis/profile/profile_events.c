/*
 * Rows go into a profile: how many instructions which thread executed on which
 * CPU.
 */
#include <string.h>

#include "analysis/profile/profile_names.h"
#include "base/fail.h"
#include "event/cursor.h"

#define ROWS_AT_ONCE 1024u

/* Rows of the same context and stream follow each other. */
struct last {
	bool known;
	uint32_t context, stream;
	uint64_t insns;
};

struct adding {
	struct hwtdi_profile_adding head;
	struct hwtd_events *events;
	struct hwtdi_profile_names names;
	struct last last;
	uint64_t insns;
	struct hwtd_event rows[ROWS_AT_ONCE];
};

/* What the last context executed is its thread's, on its CPU. */
static int
add_last(struct adding *a, struct hwtd_profile *p, struct hwtd_error *err)
{
	struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.cpu = HWTD_NO_ID };
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };
	struct hwtdi_profile_place place = { .insns = a->last.insns };
	struct hwtd_profile_thread thread = { .size = sizeof(thread) };
	int rc;

	if (!a->last.known || a->last.insns == 0)
		return (HWTD_OK);
	if (a->last.context != HWTD_NO_ID)
		(void)hwtd_trace_exec_context(a->names.trace, a->last.context,
		    &who);
	place.cpu = who.cpu;
	if (place.cpu == HWTD_NO_ID &&
	    hwtd_trace_stream(a->names.trace, a->last.stream, &stream) ==
		HWTD_OK)
		place.cpu = stream.cpu;
	thread.pid = who.pid;
	thread.tid = who.tid;
	thread.stream = who.tid == HWTD_NO_ID && who.pid == HWTD_NO_ID
	    ? a->last.stream
	    : HWTD_NO_ID;
	rc = hwtdi_profile_add_thread(p, &thread, &place.thread, err);
	if (rc == HWTD_OK)
		rc = hwtdi_profile_add_place(p, &place, err);
	a->insns += a->last.insns;
	a->last.insns = 0;
	return (rc);
}

static int
add_row(struct adding *a, struct hwtd_profile *p, const struct hwtd_event *row,
    struct hwtd_error *err)
{
	struct last *last = &a->last;
	int rc = HWTD_OK;

	if (row->kind != HWTD_EV_BLOCK && row->kind != HWTD_EV_INSN)
		return (HWTD_OK);
	if (!last->known || last->context != row->context ||
	    last->stream != row->stream) {
		rc = add_last(a, p, err);
		*last = (struct last){ .known = true,
			.context = row->context,
			.stream = row->stream };
	}
	last->insns += row->insns;
	return (rc);
}

static void
add_seen(const struct adding *a, struct hwtd_profile *p)
{
	struct hwtd_profile_seen seen = { .added = 1, .insns = a->insns };
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (hwtd_events_stats(a->events, &stats) != HWTD_OK)
		return;
	seen.bytes = stats.bytes;
	seen.gap_bytes = stats.gap_bytes;
	seen.file_gap_bytes = stats.file_gap_bytes;
	memcpy(seen.gaps, stats.gaps, sizeof(seen.gaps));
	memcpy(seen.gap_bytes_by_reason, stats.gap_bytes_by_reason,
	    sizeof(seen.gap_bytes_by_reason));
	hwtdi_profile_add_seen(p, HWTD_PROFILE_EVENTS, &seen);
}

static int
end(struct hwtd_profile *p, struct hwtdi_profile_adding *head, bool keep,
    struct hwtd_error *err)
{
	struct adding *a = (struct adding *)(void *)head;
	int rc = HWTD_OK;

	if (keep) {
		rc = add_last(a, p, err);
		if (rc == HWTD_OK)
			rc = hwtdi_profile_names_threads(&a->names, err);
		add_seen(a, p);
	}
	hwtdi_profile_names_fini(&a->names);
	hwtd_events_close(a->events);
	hwtdi_free(p->library, a, sizeof(*a));
	return (rc);
}

static int
begin(struct hwtd_profile *p, struct hwtd_events *events,
    struct hwtd_error *err)
{
	struct adding *a = hwtdi_zalloc(p->library, sizeof(*a));
	int rc;

	if (a == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*a)));
	a->head.by = events;
	a->head.end = end;
	a->events = hwtdi_events_hold(events);
	rc = hwtdi_profile_names_init(&a->names, p, hwtdi_events_trace(events),
	    err);
	if (rc != HWTD_OK) {
		(void)end(p, &a->head, false, NULL);
		return (rc);
	}
	p->adding = &a->head;
	return (HWTD_OK);
}

static int
work(struct hwtd_profile *p, struct adding *a, struct hwtd_error *err)
{
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = a->rows,
		.stride = sizeof(a->rows[0]),
		.cap = ROWS_AT_ONCE };
	int rc = hwtd_events_read(a->events, &batch, err);

	if (rc == HWTD_OK)
		for (size_t i = 0; i < batch.n && rc == HWTD_OK; i++)
			rc = add_row(a, p, &a->rows[i], err);
	if (rc != HWTD_END)
		return (rc);
	p->adding = NULL;
	rc = end(p, &a->head, true, err);
	return (rc == HWTD_OK ? HWTD_END : rc);
}

int
hwtd_profile_add_events(struct hwtd_profile *p, struct hwtd_events *events,
    struct hwtd_error *err)
{
	int rc;

	if (p == NULL || events == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no profile or no events"));
	rc = hwtdi_profile_begin(p, events, err);
	if (rc == HWTD_OK && p->adding == NULL)
		rc = begin(p, events, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = work(p, (struct adding *)(void *)p->adding, err);
	p->failed = rc < 0;
	return (rc);
}
