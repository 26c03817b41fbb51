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
	/* First, as hwtdi_timeline_step() wants it. */
	struct hwtdi_spool spool;
	struct hwtdi_json_writer json;
	/* By name: its place in the file, + 1.  And names in that order. */
	uint32_t *places, *names;
	size_t n_places, cap_names;
	uint32_t n_names;
	/* Times of the thread that is written are from here on. */
	uint64_t from;
};

static int
place_of(struct state *s, uint32_t name, uint32_t *place,
    struct hwtd_error *err)
{
	struct hwtd_context *ctx = s->spool.timeline.ctx;
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
	const bool by_insns = s->spool.timeline.threads[thread].by_insns;
	int rc;

	s->from = hwtdi_spool_from(&s->spool, thread);
	hwtdi_timeline_who(&s->spool.timeline, thread, &who, name);
	hwtdi_json_newline(j);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "type");
	hwtdi_json_put_text(j, "evented");
	hwtdi_json_key(j, "name");
	if (by_insns)
		hwtdi_json_put_format(j, "%s (%s)", name,
		    s->spool.timeline.by_rows ? "begins and ends of calls"
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
		const char *image = hwtdi_timeline_image(&s->spool.timeline,
		    name);

		hwtdi_json_newline(j);
		hwtdi_json_begin_object(j);
		hwtdi_json_key(j, "name");
		hwtdi_json_put_text(j,
		    hwtdi_timeline_name(&s->spool.timeline, name, buffer));
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
	for (uint32_t i = 0; i < s->n_names; i++)
		s->places[s->names[i]] = 0;
	s->n_names = 0;
	return (HWTD_OK);
}

static int
put_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtd_export *ex = s->spool.timeline.ex;
	struct hwtdi_json_writer *j = &s->json;
	int rc = HWTD_OK;

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

static const struct hwtdi_spool_ops spool_ops = {
	.begin_file = begin_file,
	.put_file = put_file,
	.event_bytes = EVENT_BYTES,
};

static int
speedscope_open(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *s = ex->state;

	return (hwtdi_spool_init(&s->spool, ex, &spool_ops, s, err));
}

static void
speedscope_close(struct hwtd_export *ex)
{
	struct state *s = ex->state;

	hwtdi_array_free(ex->ctx, s->places, s->n_places, sizeof(*s->places));
	hwtdi_array_free(ex->ctx, s->names, s->cap_names, sizeof(*s->names));
	hwtdi_spool_fini(&s->spool);
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
	.step = hwtdi_timeline_step,
	.close = speedscope_close,
};
