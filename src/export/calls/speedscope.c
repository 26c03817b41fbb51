/*
 * Calls as speedscope's file format: each thread is a profile of begins and ends.
 *
 * Profiles stand before the frames that they have, since only then all of these
 * are known; what is one behind the other in JSON has no order.
 *
 * Source: speedscope, "file-format-schema.json".
 */
#include <string.h>

#include "export/calls/call_spool.h"
#include "export/json_writer.h"

/* Of a begin or end, about, in the file. */
#define EVENT_BYTES 44u

struct state {
	struct hwtdi_timeline timeline;
	struct hwtdi_spool spool;
	struct hwtdi_json_writer json;
	/* By name: its place in the file, + 1.  And names in that order. */
	uint32_t *places, *names;
	size_t n_places, cap_names;
	uint32_t n_names;
	/* All times are from here on; that of the thread that is written. */
	uint64_t base, from;
	bool based;
};

/* Recording. */

static int
begin(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    struct hwtd_error *err)
{
	struct state *s = arg;

	return (hwtdi_spool_begin(&s->spool, line, span, err));
}

static int
end(void *arg, struct hwtdi_line *line, const struct hwtdi_span *span,
    uint64_t at, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct state *s = arg;

	(void)span;
	(void)row;
	return (hwtdi_spool_end(&s->spool, line, at, err));
}

static int
brief(void *arg, struct hwtdi_line *line, const struct hwtdi_run *run,
    struct hwtd_error *err)
{
	struct state *s = arg;

	return (hwtdi_spool_brief(&s->spool, line, run, err));
}

static int
gap(void *arg, struct hwtdi_line *line, uint64_t from, uint64_t to,
    const struct hwtd_call *row, struct hwtd_error *err)
{
	struct state *s = arg;

	return (hwtdi_spool_gap(&s->spool, line, from, to, row->end, err));
}

static int
switched(void *arg, struct hwtdi_line *line, uint64_t at,
    struct hwtd_error *err)
{
	struct state *s = arg;

	return (hwtdi_spool_switched(&s->spool, line, at, err));
}

/* Writing. */

static int
place_of(struct state *s, uint32_t name, uint32_t *place,
    struct hwtd_error *err)
{
	struct hwtd_context *ctx = s->timeline.ctx;
	int rc = HWTD_OK;

	if (name >= s->n_places)
		rc = hwtdi_timeline_need(ctx, &s->places, &s->n_places,
		    (size_t)name + 1, sizeof(*s->places), err);
	if (rc == HWTD_OK && s->places[name] == 0) {
		rc = hwtdi_array_grow(ctx, &s->names, &s->cap_names,
		    (size_t)s->n_names + 1, sizeof(*s->names), err);
		if (rc != HWTD_OK)
			return (rc);
		s->names[s->n_names++] = name;
		s->places[name] = s->n_names;
	}
	if (rc == HWTD_OK)
		*place = s->places[name] - 1;
	return (rc);
}

static int
put_event(struct state *s, const char *type, uint64_t at, uint32_t name,
    struct hwtd_error *err)
{
	struct hwtdi_json_writer *j = &s->json;
	uint32_t place;
	int rc = place_of(s, name, &place, err);

	if (rc != HWTD_OK)
		return (rc);
	hwtdi_json_newline(j);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "type");
	hwtdi_json_put_text(j, type);
	hwtdi_json_key(j, "frame");
	hwtdi_json_put_u64(j, place);
	hwtdi_json_key(j, "at");
	hwtdi_json_put_u64(j, at > s->from ? at - s->from : 0);
	hwtdi_json_end(j);
	return (HWTD_OK);
}

static int
put_open(void *arg, uint64_t at, uint32_t name, struct hwtd_error *err)
{
	return (put_event(arg, "O", at, name, err));
}

static int
put_close(void *arg, uint64_t at, uint32_t name, struct hwtd_error *err)
{
	return (put_event(arg, "C", at, name, err));
}

static int
put_profile(struct state *s, uint32_t thread, struct hwtd_error *err)
{
	const struct hwtdi_spool_reader reader = { put_open, put_close, s };
	const struct hwtdi_spool_thread *t = &s->spool.threads[thread];
	struct hwtdi_json_writer *j = &s->json;
	struct hwtd_call_thread who;
	char name[HWTDI_NAME_BUFFER];
	const bool by_insns = s->timeline.threads[thread].by_insns;
	int rc;

	s->from = by_insns ? 0 : s->base;
	hwtdi_timeline_who(&s->timeline, thread, &who, name);
	hwtdi_json_newline(j);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "type");
	hwtdi_json_put_text(j, "evented");
	hwtdi_json_key(j, "name");
	if (by_insns)
		hwtdi_json_put_format(j, "%s (%s)", name,
		    s->timeline.by_rows ? "begins and ends of calls"
					: "instructions");
	else
		hwtdi_json_put_text(j, name);
	hwtdi_json_key(j, "unit");
	hwtdi_json_put_text(j, by_insns ? "none" : "nanoseconds");
	hwtdi_json_key(j, "startValue");
	hwtdi_json_put_u64(j, t->begin > s->from ? t->begin - s->from : 0);
	hwtdi_json_key(j, "endValue");
	hwtdi_json_put_u64(j, t->at > s->from ? t->at - s->from : 0);
	hwtdi_json_key(j, "events");
	hwtdi_json_begin_array(j);
	rc = hwtdi_spool_read(&s->spool, thread, &reader, err);
	hwtdi_json_end(j);
	hwtdi_json_end(j);
	return (rc);
}

static void
put_frames(struct state *s)
{
	struct hwtdi_json_writer *j = &s->json;
	char buffer[HWTDI_NAME_BUFFER];

	hwtdi_json_key(j, "shared");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "frames");
	hwtdi_json_begin_array(j);
	for (uint32_t i = 0; i < s->n_names; i++) {
		const uint32_t name = s->names[i];
		const char *image = hwtdi_timeline_image(&s->timeline, name);

		hwtdi_json_newline(j);
		hwtdi_json_begin_object(j);
		hwtdi_json_key(j, "name");
		hwtdi_json_put_text(j,
		    hwtdi_timeline_name(&s->timeline, name, buffer));
		if (image != NULL) {
			hwtdi_json_key(j, "file");
			hwtdi_json_put_text(j, image);
		}
		hwtdi_json_end(j);
	}
	hwtdi_json_end(j);
	hwtdi_json_end(j);
}

static int
begin_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;

	(void)err;
	hwtdi_spool_clear(&s->spool);
	for (uint32_t i = 0; i < s->n_names; i++)
		s->places[s->names[i]] = 0;
	s->n_names = 0;
	return (HWTD_OK);
}

static int
end_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtd_export *ex = s->timeline.ex;
	struct hwtdi_json_writer *j = &s->json;
	int rc = HWTD_OK;

	if (!s->based &&
	    hwtdi_spool_first(&s->spool, &s->timeline, &s->base)) {
		s->based = true;
		hwtdi_timeline_moved(&s->timeline, 0 - s->base);
	}
	hwtdi_json_begin(j, &ex->sink);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "$schema");
	hwtdi_json_put_text(j,
	    "https://www.speedscope.app/file-format-schema.json");
	hwtdi_json_key(j, "exporter");
	hwtdi_json_put_text(j, "hwtdecode");
	hwtdi_json_key(j, "name");
	hwtdi_json_put_text(j, ex->options.title);
	hwtdi_json_key(j, "activeProfileIndex");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "profiles");
	hwtdi_json_begin_array(j);
	for (uint32_t i = 0; i < s->spool.n_threads && rc == HWTD_OK; i++)
		if (hwtdi_spool_has(&s->spool, i))
			rc = put_profile(s, i, err);
	hwtdi_json_end(j);
	put_frames(s);
	hwtdi_json_end(j);
	hwtdi_json_newline(j);
	return (rc);
}

static uint64_t
file_bytes(void *arg)
{
	const struct state *s = arg;

	return (s->spool.events * EVENT_BYTES);
}

static const struct hwtdi_timeline_ops timeline_ops = {
	.begin = begin,
	.end = end,
	.brief = brief,
	.gap = gap,
	.switched = switched,
	.begin_file = begin_file,
	.end_file = end_file,
	.file_bytes = file_bytes,
};

static int
speedscope_open(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *s = ex->state;

	hwtdi_spool_init(&s->spool, ex->ctx);
	return (hwtdi_timeline_init(&s->timeline, ex, &timeline_ops, s, err));
}

static int
speedscope_step(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *s = ex->state;

	return (hwtdi_timeline_step(&s->timeline, err));
}

static void
speedscope_close(struct hwtd_export *ex)
{
	struct state *s = ex->state;

	hwtdi_array_free(ex->ctx, s->places, s->n_places, sizeof(*s->places));
	hwtdi_array_free(ex->ctx, s->names, s->cap_names, sizeof(*s->names));
	hwtdi_spool_fini(&s->spool);
	hwtdi_timeline_fini(&s->timeline);
}

const struct hwtdi_exporter_ops hwtdi_speedscope_ops = {
	.format = HWTD_FORMAT_SPEEDSCOPE,
	.source = HWTD_SOURCE_CALLS,
	.name = "speedscope",
	.suffixes = ".speedscope.json .speedscope",
	.viewer = "speedscope",
	.viewer_bytes = 50000000,
	.state_bytes = sizeof(struct state),
	.open = speedscope_open,
	.step = speedscope_step,
	.close = speedscope_close,
};
