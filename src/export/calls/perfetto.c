/*
 * Calls as trace packets of Perfetto.
 *
 * Names are sent once for each epoch of a file, and with them the descriptors of
 * tracks; an epoch begins with a packet that clears what was sent before.  So a
 * file can be cut at such a packet.
 *
 * Source: Perfetto, "protos/perfetto/trace": trace_packet.proto and what it has.
 */
#include <stdio.h>

#include "export/protobuf_writer.h"
#include "export/calls/call_notes.h"

/* Fields of messages. */
enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,

	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,

	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_NOTE_NAMES = 3,
	IID = 1,
	IID_NAME = 2,

	EVENT_CATEGORY_IID = 3,
	EVENT_NOTE = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_DOUBLE_COUNTER = 44,

	NOTE_NAME_IID = 1,
	NOTE_UINT = 3,
	NOTE_STRING = 6,
	NOTE_POINTER = 7,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_DESCRIPTION = 14,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT_NAME = 6
};

enum {
	SLICE_BEGIN = 1,
	SLICE_END = 2,
	COUNTER = 4
};

#define FLAG_CLEARED 1u
#define FLAG_NEEDS 2u
#define CLOCK_BOOTTIME 6u
#define SEQUENCE 1u
/* An epoch ends after so many bytes. */
#define EPOCH_BYTES (UINT64_C(4) << 20)
/* Windows of the curve of instructions, in ns. */
#define WINDOW_LEAST 1000u

/* Categories: types of calls, then these. */
enum {
	CATEGORY_SHORT = HWTD_CALL_TYPES,
	CATEGORY_GAP,
	CATEGORIES
};

/* Kinds of tracks: the low bits of their numbers. */
enum track_kind {
	KIND_PROCESS = 1,
	KIND_THREAD,
	KIND_LANE,
	KIND_GAPS,
	KIND_COUNTER
};

#define KIND_BITS 3

struct thread {
	/* Epochs in which tracks were described last. */
	uint32_t epoch, gaps_epoch, counter_epoch;
	/* Of the curve: where the window began. */
	bool counting;
	uint64_t at, insns;
};

struct state {
	/* First, as hwtdi_timeline_step() wants it. */
	struct hwtdi_timeline timeline;
	struct hwtdi_protobuf pb;
	struct thread *threads;
	size_t n_threads;
	/* By track, name and so on: the epoch in which it was sent last. */
	uint32_t *tracks, *names;
	size_t n_tracks, n_names;
	uint32_t categories[CATEGORIES], notes[HWTDI_NOTE_NAMES];
	/* From 1. */
	uint32_t epoch;
	uint64_t epoch_begin;
	/* A message of names in the packet that is written; 0: none yet. */
	size_t interned;
};

static uint64_t
uuid_of(enum track_kind kind, uint32_t number)
{
	return ((uint64_t)number << KIND_BITS | kind);
}

/* Packets. */

static size_t
begin_packet(struct state *s, bool timed, uint64_t at, uint32_t flags)
{
	const size_t begin = hwtdi_protobuf_begin(&s->pb, TRACE_PACKET);

	if (timed)
		hwtdi_protobuf_u64(&s->pb, PACKET_TIMESTAMP, at);
	hwtdi_protobuf_u64(&s->pb, PACKET_SEQUENCE_ID, SEQUENCE);
	if (flags != 0)
		hwtdi_protobuf_u64(&s->pb, PACKET_SEQUENCE_FLAGS, flags);
	return (begin);
}

static void
end_packet(struct state *s, size_t begin)
{
	hwtdi_protobuf_end(&s->pb, begin);
	hwtdi_protobuf_flush(&s->pb, &s->timeline.ex->sink);
}

/* What was sent counts no longer. */
static void
begin_epoch(struct state *s)
{
	size_t begin = begin_packet(s, false, 0, FLAG_CLEARED | FLAG_NEEDS);

	hwtdi_protobuf_u64(&s->pb, PACKET_FIRST_ON_SEQUENCE, s->epoch == 0);
	end_packet(s, begin);
	s->epoch++;
	s->epoch_begin = s->timeline.ex->sink.put;
}

/* Tracks. */

static size_t
begin_track(struct state *s, size_t *packet, uint64_t uuid, uint64_t parent)
{
	size_t begin;

	*packet = begin_packet(s, false, 0, 0);
	begin = hwtdi_protobuf_begin(&s->pb, PACKET_TRACK_DESCRIPTOR);
	hwtdi_protobuf_u64(&s->pb, TRACK_UUID, uuid);
	if (parent != 0)
		hwtdi_protobuf_u64(&s->pb, TRACK_PARENT, parent);
	return (begin);
}

static void
end_track(struct state *s, size_t packet, size_t begin)
{
	hwtdi_protobuf_end(&s->pb, begin);
	end_packet(s, packet);
}

static void
put_named_track(struct state *s, uint64_t uuid, uint64_t parent,
    const char *name)
{
	size_t packet, begin = begin_track(s, &packet, uuid, parent);

	hwtdi_protobuf_text(&s->pb, TRACK_NAME, name);
	end_track(s, packet, begin);
}

/* A process is described again with each of its threads, which does no harm. */
static uint64_t
put_process(struct state *s, uint32_t pid)
{
	const uint64_t uuid = uuid_of(KIND_PROCESS, pid);
	const char *name = hwtdi_timeline_process(&s->timeline, pid);
	size_t packet, begin, process;

	/* Numbers that Perfetto has no room for are no numbers of processes. */
	if (pid > INT32_MAX)
		return (0);
	begin = begin_track(s, &packet, uuid, 0);
	process = hwtdi_protobuf_begin(&s->pb, TRACK_PROCESS);
	hwtdi_protobuf_u64(&s->pb, PROCESS_PID, pid);
	if (name != NULL)
		hwtdi_protobuf_text(&s->pb, PROCESS_NAME, name);
	hwtdi_protobuf_end(&s->pb, process);
	end_track(s, packet, begin);
	return (uuid);
}

/* What the axis of a thread is, if it is not time. */
static const char *
unit_of(const struct state *s, uint32_t thread)
{
	if (!s->timeline.threads[thread].by_insns)
		return (NULL);
	return (s->timeline.by_rows ? "1 ns is 1 begin or end of a call"
				    : "1 ns is 1 instruction");
}

/* Of the first lane of a thread, under which all its others stand. */
static void
put_thread(struct state *s, uint32_t thread)
{
	struct hwtd_call_thread who;
	char name[HWTDI_NAME_BUFFER], full[2 * HWTDI_NAME_BUFFER];
	const char *unit = unit_of(s, thread);
	uint64_t process;
	size_t packet, begin, at;

	hwtdi_timeline_who(&s->timeline, thread, &who, name);
	(void)snprintf(full, sizeof(full), "%s%s%s%s", name,
	    unit != NULL ? " (" : "", unit != NULL ? unit : "",
	    unit != NULL ? ")" : "");
	process = put_process(s, who.pid);
	begin = begin_track(s, &packet, uuid_of(KIND_THREAD, thread), process);
	hwtdi_protobuf_text(&s->pb, TRACK_NAME, full);
	if (unit != NULL)
		hwtdi_protobuf_text(&s->pb, TRACK_DESCRIPTION, unit);
	if (process != 0 && who.tid <= INT32_MAX) {
		at = hwtdi_protobuf_begin(&s->pb, TRACK_THREAD);
		hwtdi_protobuf_u64(&s->pb, THREAD_PID, who.pid);
		hwtdi_protobuf_u64(&s->pb, THREAD_TID, who.tid);
		hwtdi_protobuf_text(&s->pb, THREAD_NAME, full);
		hwtdi_protobuf_end(&s->pb, at);
	}
	end_track(s, packet, begin);
}

static int
need_thread(struct state *s, uint32_t thread, struct hwtd_error *err)
{
	int rc = hwtdi_timeline_need(s->timeline.ctx, &s->threads,
	    &s->n_threads, (size_t)thread + 1, sizeof(*s->threads), err);

	if (rc != HWTD_OK || s->threads[thread].epoch == s->epoch)
		return (rc);
	s->threads[thread].epoch = s->epoch;
	put_thread(s, thread);
	return (HWTD_OK);
}

/* The track of a line; it is described by then. */
static int
track_of(struct state *s, const struct hwtdi_line *line, uint64_t *uuid,
    struct hwtd_error *err)
{
	char name[HWTDI_NAME_BUFFER];
	int rc = HWTD_OK;

	*uuid = line->lane == 0 ? uuid_of(KIND_THREAD, line->thread)
				: uuid_of(KIND_LANE, line->track);
	if (line->track < s->n_tracks && s->tracks[line->track] == s->epoch)
		return (HWTD_OK);
	rc = hwtdi_timeline_need(s->timeline.ctx, &s->tracks, &s->n_tracks,
	    (size_t)line->track + 1, sizeof(*s->tracks), err);
	if (rc == HWTD_OK)
		rc = need_thread(s, line->thread, err);
	if (rc != HWTD_OK)
		return (rc);
	s->tracks[line->track] = s->epoch;
	if (line->lane == 0)
		return (HWTD_OK);
	(void)snprintf(name, sizeof(name), "stack %u", line->lane + 1);
	put_named_track(s, *uuid, uuid_of(KIND_THREAD, line->thread), name);
	return (HWTD_OK);
}

/* Names. */

/* A name goes along with the packet that needs it first. */
static void
intern(struct state *s, uint32_t field, uint64_t iid, const char *text)
{
	size_t at;

	if (s->interned == 0)
		s->interned = hwtdi_protobuf_begin(&s->pb,
		    PACKET_INTERNED_DATA);
	at = hwtdi_protobuf_begin(&s->pb, field);
	hwtdi_protobuf_u64(&s->pb, IID, iid);
	hwtdi_protobuf_text(&s->pb, IID_NAME, text);
	hwtdi_protobuf_end(&s->pb, at);
}

static void
intern_end(struct state *s)
{
	if (s->interned != 0)
		hwtdi_protobuf_end(&s->pb, s->interned);
	s->interned = 0;
}

static void
intern_name(struct state *s, uint32_t name)
{
	char buffer[HWTDI_NAME_BUFFER];

	if (s->names[name] == s->epoch)
		return;
	s->names[name] = s->epoch;
	intern(s, INTERNED_NAMES, (uint64_t)name + 1,
	    hwtdi_timeline_name(&s->timeline, name, buffer));
}

static void
intern_category(struct state *s, uint32_t category)
{
	if (s->categories[category] == s->epoch)
		return;
	s->categories[category] = s->epoch;
	intern(s, INTERNED_CATEGORIES, (uint64_t)category + 1,
	    category == CATEGORY_SHORT	   ? "short"
		: category == CATEGORY_GAP ? "gap"
					   : hwtd_call_type_name(category));
}

static void
intern_notes(struct state *s, const struct hwtdi_note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s->notes[notes[i].name] == s->epoch)
			continue;
		s->notes[notes[i].name] = s->epoch;
		intern(s, INTERNED_NOTE_NAMES, (uint64_t)notes[i].name + 1,
		    hwtdi_note_text(notes[i].name));
	}
}

/* Events. */

static void
put_notes(struct state *s, const struct hwtdi_note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct hwtdi_note *note = &notes[i];
		const size_t at = hwtdi_protobuf_begin(&s->pb, EVENT_NOTE);

		hwtdi_protobuf_u64(&s->pb, NOTE_NAME_IID,
		    (uint64_t)note->name + 1);
		if (note->kind == HWTDI_NOTE_NUMBER)
			hwtdi_protobuf_u64(&s->pb, NOTE_UINT, note->number);
		else if (note->kind == HWTDI_NOTE_ADDRESS)
			hwtdi_protobuf_u64(&s->pb, NOTE_POINTER, note->number);
		else
			hwtdi_protobuf_text(&s->pb, NOTE_STRING, note->text);
		hwtdi_protobuf_end(&s->pb, at);
	}
}

/* What a slice is called. */
struct label {
	/* A name of the timeline, or `text` if that is not NULL. */
	uint32_t name;
	const char *text;
	uint32_t category;
};

static int
put_begin(struct state *s, uint64_t track, uint64_t at,
    const struct label *label, const struct hwtdi_note *notes, size_t n,
    struct hwtd_error *err)
{
	size_t packet, event;
	int rc = hwtdi_timeline_need(s->timeline.ctx, &s->names, &s->n_names,
	    (size_t)label->name + 1, sizeof(*s->names), err);

	if (rc != HWTD_OK)
		return (rc);
	packet = begin_packet(s, true, at, FLAG_NEEDS);
	if (label->text == NULL)
		intern_name(s, label->name);
	intern_category(s, label->category);
	intern_notes(s, notes, n);
	intern_end(s);
	event = hwtdi_protobuf_begin(&s->pb, PACKET_TRACK_EVENT);
	hwtdi_protobuf_u64(&s->pb, EVENT_TYPE, SLICE_BEGIN);
	hwtdi_protobuf_u64(&s->pb, EVENT_TRACK, track);
	if (label->text == NULL)
		hwtdi_protobuf_u64(&s->pb, EVENT_NAME_IID,
		    (uint64_t)label->name + 1);
	else
		hwtdi_protobuf_text(&s->pb, EVENT_NAME, label->text);
	hwtdi_protobuf_u64(&s->pb, EVENT_CATEGORY_IID,
	    (uint64_t)label->category + 1);
	put_notes(s, notes, n);
	hwtdi_protobuf_end(&s->pb, event);
	end_packet(s, packet);
	return (HWTD_OK);
}

static void
put_end(struct state *s, uint64_t track, uint64_t at,
    const struct hwtdi_note *notes, size_t n)
{
	const size_t packet = begin_packet(s, true, at, FLAG_NEEDS);
	size_t event;

	intern_notes(s, notes, n);
	intern_end(s);
	event = hwtdi_protobuf_begin(&s->pb, PACKET_TRACK_EVENT);
	hwtdi_protobuf_u64(&s->pb, EVENT_TYPE, SLICE_END);
	hwtdi_protobuf_u64(&s->pb, EVENT_TRACK, track);
	put_notes(s, notes, n);
	hwtdi_protobuf_end(&s->pb, event);
	end_packet(s, packet);
}

static bool
has_details(const struct state *s)
{
	return ((s->timeline.ex->options.flags & HWTD_EXPORT_DETAILS) != 0);
}

static void
check_epoch(struct state *s)
{
	if (s->timeline.ex->sink.put - s->epoch_begin > EPOCH_BYTES)
		begin_epoch(s);
}

static int
begin(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    struct hwtd_error *err)
{
	struct state *s = arg;
	const struct label label = { .name = span->name,
		.category = span->type };
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	uint64_t track;
	int rc;

	check_epoch(s);
	rc = track_of(s, line, &track, err);
	if (rc != HWTD_OK)
		return (rc);
	return (put_begin(s, track, span->begin, &label, notes,
	    hwtdi_notes_of_begin(span, has_details(s), notes), err));
}

static int
end(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    uint64_t at, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	uint64_t track;
	int rc;

	(void)span;
	check_epoch(s);
	rc = track_of(s, line, &track, err);
	if (rc == HWTD_OK)
		put_end(s, track, at, notes,
		    hwtdi_notes_of_end(row, has_details(s), notes));
	return (rc);
}

static int
brief(void *arg, struct hwtdi_line *line, const struct hwtdi_run *run,
    struct hwtd_error *err)
{
	struct state *s = arg;
	struct label label = { .name = run->name, .category = run->type };
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	char text[HWTDI_NAME_BUFFER];
	uint64_t track;
	int rc;

	check_epoch(s);
	rc = track_of(s, line, &track, err);
	if (rc != HWTD_OK)
		return (rc);
	if (run->n > 1) {
		(void)snprintf(text, sizeof(text), "%llu short calls",
		    (unsigned long long)run->n);
		label.text = text;
		label.category = CATEGORY_SHORT;
	}
	rc = put_begin(s, track, run->begin, &label, notes,
	    hwtdi_notes_of_run(run, has_details(s), notes), err);
	if (rc == HWTD_OK)
		put_end(s, track, run->begin + run->sum, NULL, 0);
	return (rc);
}

static int
gap(void *arg, struct hwtdi_line *line, uint64_t from, uint64_t to,
    const struct hwtd_call *row, struct hwtd_error *err)
{
	struct state *s = arg;
	const uint64_t track = uuid_of(KIND_GAPS, line->thread);
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	char text[HWTDI_NAME_BUFFER];
	const struct label label = { .text = text, .category = CATEGORY_GAP };
	int rc;

	check_epoch(s);
	rc = need_thread(s, line->thread, err);
	if (rc != HWTD_OK)
		return (rc);
	if (s->threads[line->thread].gaps_epoch != s->epoch) {
		s->threads[line->thread].gaps_epoch = s->epoch;
		put_named_track(s, track, uuid_of(KIND_THREAD, line->thread),
		    "not traced");
	}
	(void)snprintf(text, sizeof(text), "not traced: %s",
	    hwtd_gap_reason_name(row->end));
	rc = put_begin(s, track, from, &label, notes,
	    hwtdi_notes_of_gap(row, notes), err);
	if (rc == HWTD_OK)
		put_end(s, track, to, NULL, 0);
	return (rc);
}

/* Instructions in 1000 ns, of windows that are not shorter. */
static int
count(void *arg, uint32_t thread, uint64_t at, uint64_t insns,
    struct hwtd_error *err)
{
	struct state *s = arg;
	const uint64_t track = uuid_of(KIND_COUNTER, thread);
	struct thread *t;
	size_t packet, message;
	int rc = need_thread(s, thread, err);

	if (rc != HWTD_OK)
		return (rc);
	t = &s->threads[thread];
	if (!t->counting || insns < t->insns || at < t->at) {
		t->counting = true;
		t->at = at;
		t->insns = insns;
		return (HWTD_OK);
	}
	if (at - t->at < WINDOW_LEAST ||
	    at - t->at < s->timeline.ex->options.resolution_ns)
		return (HWTD_OK);
	if (t->counter_epoch != s->epoch) {
		t->counter_epoch = s->epoch;
		message = begin_track(s, &packet, track,
		    uuid_of(KIND_THREAD, thread));
		hwtdi_protobuf_text(&s->pb, TRACK_NAME, "instructions per us");
		hwtdi_protobuf_end(&s->pb,
		    hwtdi_protobuf_begin(&s->pb, TRACK_COUNTER));
		end_track(s, packet, message);
	}
	packet = begin_packet(s, true, t->at, FLAG_NEEDS);
	message = hwtdi_protobuf_begin(&s->pb, PACKET_TRACK_EVENT);
	hwtdi_protobuf_u64(&s->pb, EVENT_TYPE, COUNTER);
	hwtdi_protobuf_u64(&s->pb, EVENT_TRACK, track);
	hwtdi_protobuf_double(&s->pb, EVENT_DOUBLE_COUNTER,
	    (double)hwtdi_timeline_rate(insns - t->insns, at - t->at) / 1000);
	hwtdi_protobuf_end(&s->pb, message);
	end_packet(s, packet);
	t->at = at;
	t->insns = insns;
	return (HWTD_OK);
}

/* Files. */

/* All times are of one clock, which needs a snapshot to be known. */
static int
begin_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtd_export *ex = s->timeline.ex;
	char text[HWTDI_NAME_BUFFER];
	size_t packet, snapshot, clock, begin;

	(void)err;
	begin_epoch(s);
	packet = begin_packet(s, false, 0, 0);
	snapshot = hwtdi_protobuf_begin(&s->pb, PACKET_CLOCK_SNAPSHOT);
	clock = hwtdi_protobuf_begin(&s->pb, SNAPSHOT_CLOCKS);
	hwtdi_protobuf_u64(&s->pb, CLOCK_ID, CLOCK_BOOTTIME);
	hwtdi_protobuf_u64(&s->pb, CLOCK_TIMESTAMP, 0);
	hwtdi_protobuf_end(&s->pb, clock);
	hwtdi_protobuf_u64(&s->pb, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME);
	hwtdi_protobuf_end(&s->pb, snapshot);
	end_packet(s, packet);
	/* Number 0 of processes: the trace itself. */
	begin = begin_track(s, &packet, uuid_of(KIND_COUNTER + 1, 0), 0);
	hwtdi_protobuf_text(&s->pb, TRACK_NAME, ex->options.title);
	if (ex->options.split_bytes != 0) {
		(void)snprintf(text, sizeof(text), "file %u", ex->sink.files);
		hwtdi_protobuf_text(&s->pb, TRACK_DESCRIPTION, text);
	}
	end_track(s, packet, begin);
	return (HWTD_OK);
}

static const struct hwtdi_timeline_ops timeline_ops = {
	.lanes = true,
	.latest = INT64_MAX,
	.begin = begin,
	.end = end,
	.brief = brief,
	.gap = gap,
	.count = count,
	.begin_file = begin_file,
};

static int
perfetto_open(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *s = ex->state;

	hwtdi_protobuf_init(&s->pb, ex->ctx);
	return (hwtdi_timeline_init(&s->timeline, ex, &timeline_ops, s, err));
}

static void
perfetto_close(struct hwtd_export *ex)
{
	struct state *s = ex->state;

	hwtdi_array_free(ex->ctx, s->threads, s->n_threads,
	    sizeof(*s->threads));
	hwtdi_array_free(ex->ctx, s->tracks, s->n_tracks, sizeof(*s->tracks));
	hwtdi_array_free(ex->ctx, s->names, s->n_names, sizeof(*s->names));
	hwtdi_protobuf_fini(&s->pb);
	hwtdi_timeline_fini(&s->timeline);
}

const struct hwtdi_exporter_ops hwtdi_perfetto_ops = {
	.format = HWTD_FORMAT_PERFETTO,
	.source = HWTD_SOURCE_CALLS,
	.name = "perfetto",
	.suffixes = ".pftrace .perfetto-trace",
	.viewer = "ui.perfetto.dev",
	.viewer_bytes = 500000000,
	.state_bytes = sizeof(struct state),
	.open = perfetto_open,
	.step = hwtdi_timeline_step,
	.close = perfetto_close,
};
