/*
 * Calls as the Trace Event Format of Chrome, an object of JSON.
 *
 * Begins and ends are events of their own (B and E): what is nested in what then
 * does not depend on how a viewer orders equal times.
 *
 * Source: "Trace Event Format" of the Chromium project.
 */
#include <stdio.h>

#include "export/json_writer.h"
#include "export/calls/call_notes.h"

/* Numbers of processes and threads that the trace does not know. */
#define INVENTED_PID UINT32_C(0x3fffffff)
#define INVENTED_TID UINT32_C(0x40000000)
/* Numbers of JSON are doubles: later ns would not be exact as us. */
#define LATEST_NS (UINT64_C(1) << 52)
/* Windows of the curve of instructions, in ns. */
#define WINDOW_LEAST 1000u

struct thread {
	/* The file in which they were named last, from 1. */
	uint32_t named, gaps_named;
	uint32_t pid;
	/* Of the curve: where the window began. */
	bool counting;
	uint64_t at, insns;
};

struct track {
	/* The file in which it was named last, from 1. */
	uint32_t named;
	uint32_t tid;
};

struct state {
	/* First, as hwtdi_timeline_step() wants it. */
	struct hwtdi_timeline timeline;
	struct hwtdi_json_writer json;
	struct thread *threads;
	size_t n_threads;
	struct track *tracks;
	size_t n_tracks;
	/* Its number, from 1. */
	uint32_t file;
};

static void
begin_event(struct state *s, char phase, uint32_t pid, uint32_t tid)
{
	struct hwtdi_json_writer *j = &s->json;
	const char text[] = { phase, '\0' };

	hwtdi_json_newline(j);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "ph");
	hwtdi_json_put_text(j, text);
	hwtdi_json_key(j, "pid");
	hwtdi_json_put_u64(j, pid);
	hwtdi_json_key(j, "tid");
	hwtdi_json_put_u64(j, tid);
}

static void
put_time(struct state *s, const char *key, uint64_t ns)
{
	hwtdi_json_key(&s->json, key);
	hwtdi_json_put_decimal(&s->json, ns, 3);
}

static void
put_metadata(struct state *s, const char *what, uint32_t pid, uint32_t tid,
    const char *name, const char *more)
{
	struct hwtdi_json_writer *j = &s->json;

	begin_event(s, 'M', pid, tid);
	hwtdi_json_key(j, "name");
	hwtdi_json_put_text(j, what);
	hwtdi_json_key(j, "args");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "name");
	if (more[0] != '\0')
		hwtdi_json_put_format(j, "%s%s", name, more);
	else
		hwtdi_json_put_text(j, name);
	hwtdi_json_end(j);
	hwtdi_json_end(j);
}

static void
name_process(struct state *s, const struct hwtd_call_thread *who, uint32_t pid,
    uint32_t tid)
{
	const char *name = hwtdi_timeline_process(&s->timeline, who->pid);
	char text[HWTDI_NAME_BUFFER];

	if (name == NULL && who->pid != HWTD_NO_ID) {
		(void)snprintf(text, sizeof(text), "process %u", who->pid);
		name = text;
	}
	if (name == NULL)
		name = s->timeline.ex->options.title;
	put_metadata(s, "process_name", pid, tid, name, "");
}

/* In each file, once. */
static void
name_thread(struct state *s, uint32_t thread, struct hwtd_call_thread *who,
    char name[HWTDI_NAME_BUFFER])
{
	struct thread *t = &s->threads[thread];

	hwtdi_timeline_who(&s->timeline, thread, who, name);
	if (t->named == s->file)
		return;
	t->named = s->file;
	t->pid = who->pid != HWTD_NO_ID ? who->pid : INVENTED_PID;
	name_process(s, who, t->pid,
	    who->tid != HWTD_NO_ID ? who->tid : INVENTED_TID);
}

static void
name_track(struct state *s, const struct hwtdi_line *line)
{
	char name[HWTDI_NAME_BUFFER], more[HWTDI_NAME_BUFFER] = "";
	struct track *track = &s->tracks[line->track];
	struct hwtd_call_thread who;
	const char *unit = "";

	name_thread(s, line->thread, &who, name);
	track->named = s->file;
	track->tid = who.tid != HWTD_NO_ID && line->lane == 0
	    ? who.tid
	    : INVENTED_TID + 2 * line->track;
	if (s->timeline.threads[line->thread].by_insns)
		unit = s->timeline.by_rows ? " (1 ns is 1 begin or end)"
					   : " (1 ns is 1 instruction)";
	if (line->lane != 0)
		(void)snprintf(more, sizeof(more), ", stack %u%s",
		    line->lane + 1, unit);
	put_metadata(s, "thread_name", s->threads[line->thread].pid,
	    track->tid, name, line->lane != 0 ? more : unit);
}

/* What a line is drawn on; it has a name by then. */
static int
place_of(struct state *s, const struct hwtdi_line *line, uint32_t *pid,
    uint32_t *tid, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (line->thread >= s->n_threads)
		rc = hwtdi_timeline_need(s->timeline.ctx, &s->threads,
		    &s->n_threads, (size_t)line->thread + 1,
		    sizeof(*s->threads), err);
	if (rc == HWTD_OK && line->track >= s->n_tracks)
		rc = hwtdi_timeline_need(s->timeline.ctx, &s->tracks,
		    &s->n_tracks, (size_t)line->track + 1, sizeof(*s->tracks),
		    err);
	if (rc != HWTD_OK)
		return (rc);
	if (s->tracks[line->track].named != s->file)
		name_track(s, line);
	*pid = s->threads[line->thread].pid;
	*tid = s->tracks[line->track].tid;
	return (HWTD_OK);
}

/* The same of the gaps of its thread. */
static int
place_of_gaps(struct state *s, const struct hwtdi_line *line, uint32_t *pid,
    uint32_t *tid, struct hwtd_error *err)
{
	struct hwtd_call_thread who;
	char name[HWTDI_NAME_BUFFER];
	struct thread *t;
	int rc = place_of(s, line, pid, tid, err);

	if (rc != HWTD_OK)
		return (rc);
	*tid = INVENTED_TID + 2 * line->thread + 1;
	t = &s->threads[line->thread];
	if (t->gaps_named == s->file)
		return (HWTD_OK);
	t->gaps_named = s->file;
	name_thread(s, line->thread, &who, name);
	put_metadata(s, "thread_name", *pid, *tid, name, ": not traced");
	return (HWTD_OK);
}

static void
put_notes(struct state *s, const struct hwtdi_note *notes, size_t n)
{
	struct hwtdi_json_writer *j = &s->json;

	if (n == 0)
		return;
	hwtdi_json_key(j, "args");
	hwtdi_json_begin_object(j);
	for (size_t i = 0; i < n; i++) {
		hwtdi_json_key(j, hwtdi_note_text(notes[i].name));
		if (notes[i].kind == HWTDI_NOTE_NUMBER)
			hwtdi_json_put_u64(j, notes[i].number);
		else if (notes[i].kind == HWTDI_NOTE_ADDRESS)
			hwtdi_json_put_address(j, notes[i].number);
		else
			hwtdi_json_put_text(j, notes[i].text);
	}
	hwtdi_json_end(j);
}

static void
put_begin(struct state *s, uint32_t pid, uint32_t tid, uint64_t at,
    const char *name, const char *category, const struct hwtdi_note *notes,
    size_t n)
{
	begin_event(s, 'B', pid, tid);
	put_time(s, "ts", at);
	hwtdi_json_key(&s->json, "cat");
	hwtdi_json_put_text(&s->json, category);
	hwtdi_json_key(&s->json, "name");
	hwtdi_json_put_text(&s->json, name);
	put_notes(s, notes, n);
	hwtdi_json_end(&s->json);
}

/* Its name is that of the begin: some viewers do not go by order alone. */
static void
put_end(struct state *s, uint32_t pid, uint32_t tid, uint64_t at,
    const char *name, const struct hwtdi_note *notes, size_t n)
{
	begin_event(s, 'E', pid, tid);
	put_time(s, "ts", at);
	hwtdi_json_key(&s->json, "name");
	hwtdi_json_put_text(&s->json, name);
	put_notes(s, notes, n);
	hwtdi_json_end(&s->json);
}

static bool
has_details(const struct state *s)
{
	return ((s->timeline.ex->options.flags & HWTD_EXPORT_DETAILS) != 0);
}

static int
begin(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	char buffer[HWTDI_NAME_BUFFER];
	uint32_t pid, tid;
	int rc = place_of(s, line, &pid, &tid, err);

	if (rc != HWTD_OK)
		return (rc);
	put_begin(s, pid, tid, span->begin,
	    hwtdi_timeline_name(&s->timeline, span->name, buffer),
	    hwtd_call_type_name(span->type), notes,
	    hwtdi_notes_of_begin(span, has_details(s), notes));
	return (HWTD_OK);
}

static int
end(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    uint64_t at, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	char buffer[HWTDI_NAME_BUFFER];
	uint32_t pid, tid;
	int rc = place_of(s, line, &pid, &tid, err);

	if (rc == HWTD_OK)
		put_end(s, pid, tid, at,
		    hwtdi_timeline_name(&s->timeline, span->name, buffer),
		    notes, hwtdi_notes_of_end(row, has_details(s), notes));
	return (rc);
}

static int
brief(void *arg, struct hwtdi_line *line, const struct hwtdi_run *run,
    struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	char buffer[HWTDI_NAME_BUFFER];
	const char *name = buffer;
	uint32_t pid, tid;
	int rc = place_of(s, line, &pid, &tid, err);

	if (rc != HWTD_OK)
		return (rc);
	if (run->n == 1)
		name = hwtdi_timeline_name(&s->timeline, run->name, buffer);
	else
		(void)snprintf(buffer, sizeof(buffer), "%llu short calls",
		    (unsigned long long)run->n);
	put_begin(s, pid, tid, run->begin, name,
	    run->n == 1 ? hwtd_call_type_name(run->type) : "short", notes,
	    hwtdi_notes_of_run(run, has_details(s), notes));
	put_end(s, pid, tid, run->begin + run->sum, name, NULL, 0);
	return (HWTD_OK);
}

static int
gap(void *arg, struct hwtdi_line *line, uint64_t from, uint64_t to,
    const struct hwtd_call *row, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtdi_note notes[HWTDI_NOTES_MOST];
	char name[HWTDI_NAME_BUFFER];
	uint32_t pid, tid;
	int rc = place_of_gaps(s, line, &pid, &tid, err);

	if (rc != HWTD_OK)
		return (rc);
	(void)snprintf(name, sizeof(name), "not traced: %s",
	    hwtd_gap_reason_name(row->end));
	put_begin(s, pid, tid, from, name, "gap", notes,
	    hwtdi_notes_of_gap(row, notes));
	put_end(s, pid, tid, to, name, NULL, 0);
	return (HWTD_OK);
}

/* Instructions in 1000 ns, of windows that are not shorter. */
static int
count(void *arg, uint32_t thread, uint64_t at, uint64_t insns,
    struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtdi_json_writer *j = &s->json;
	struct hwtd_call_thread who;
	char name[HWTDI_NAME_BUFFER];
	struct thread *t;
	int rc = hwtdi_timeline_need(s->timeline.ctx, &s->threads,
	    &s->n_threads, (size_t)thread + 1, sizeof(*s->threads), err);

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
	hwtdi_timeline_who(&s->timeline, thread, &who, name);
	begin_event(s, 'C', who.pid != HWTD_NO_ID ? who.pid : INVENTED_PID,
	    who.tid != HWTD_NO_ID ? who.tid : INVENTED_TID);
	put_time(s, "ts", t->at);
	hwtdi_json_key(j, "name");
	hwtdi_json_put_format(j, "instructions per us, %s", name);
	hwtdi_json_key(j, "args");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "instructions");
	hwtdi_json_put_decimal(j,
	    hwtdi_timeline_rate(insns - t->insns, at - t->at), 3);
	hwtdi_json_end(j);
	hwtdi_json_end(j);
	t->at = at;
	t->insns = insns;
	return (HWTD_OK);
}

static int
begin_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtd_export *ex = s->timeline.ex;
	struct hwtdi_json_writer *j = &s->json;

	(void)err;
	s->file = ex->sink.files;
	hwtdi_json_begin(j, &ex->sink);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "displayTimeUnit");
	hwtdi_json_put_text(j, "ns");
	hwtdi_json_key(j, "otherData");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "title");
	hwtdi_json_put_text(j, ex->options.title);
	hwtdi_json_key(j, "producer");
	hwtdi_json_put_text(j, "hwtdecode");
	hwtdi_json_key(j, "file");
	hwtdi_json_put_u64(j, ex->sink.files);
	hwtdi_json_end(j);
	hwtdi_json_key(j, "traceEvents");
	hwtdi_json_begin_array(j);
	return (HWTD_OK);
}

static int
end_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;

	(void)err;
	hwtdi_json_newline(&s->json);
	hwtdi_json_end(&s->json);
	hwtdi_json_end(&s->json);
	hwtdi_json_newline(&s->json);
	return (HWTD_OK);
}

static const struct hwtdi_timeline_ops timeline_ops = {
	.lanes = true,
	.latest = LATEST_NS,
	.begin = begin,
	.end = end,
	.brief = brief,
	.gap = gap,
	.count = count,
	.begin_file = begin_file,
	.end_file = end_file,
};

static int
chrome_open(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *s = ex->state;

	return (hwtdi_timeline_init(&s->timeline, ex, &timeline_ops, s, err));
}

static void
chrome_close(struct hwtd_export *ex)
{
	struct state *s = ex->state;

	hwtdi_array_free(ex->ctx, s->threads, s->n_threads,
	    sizeof(*s->threads));
	hwtdi_array_free(ex->ctx, s->tracks, s->n_tracks, sizeof(*s->tracks));
	hwtdi_timeline_fini(&s->timeline);
}

const struct hwtdi_exporter_ops hwtdi_chrome_ops = {
	.format = HWTD_FORMAT_CHROME,
	.source = HWTD_SOURCE_CALLS,
	.name = "chrome",
	.suffixes = ".chrome.json .trace.json",
	.viewer = "Perfetto, chrome://tracing",
	/* Strings of V8 end at 512 MB, and old viewers long before. */
	.viewer_bytes = 100000000,
	.state_bytes = sizeof(struct state),
	.open = chrome_open,
	.step = hwtdi_timeline_step,
	.close = chrome_close,
};
