/*
 * speedscope's JSON: stacks with weights, a profile for each thread.
 *
 * Source: speedscope, file-format-schema.json: SampledProfile.
 */
#include <string.h>

#include "export/stacks/flame_source.h"
#include "export/formats.h"
#include "export/json_writer.h"

#define STEP_BYTES 65536u

enum phase {
	PHASE_HEAD,
	PHASE_FRAMES,
	PHASE_PROFILE,
	PHASE_SAMPLES,
	PHASE_WEIGHTS,
	PHASE_END
};

struct speedscope {
	struct hwtdi_flame_source source;
	struct hwtdi_json_writer json;
	enum phase phase;
	uint32_t frame;
	/* Nodes of the profile that is written: [first, end). */
	uint32_t first, end;
	/* Nodes that the profile's own root hides: a thread, or all. */
	uint32_t levels;
	/* All that is no thread's comes last; it was begun. */
	bool rest;
};

static int
open_speedscope(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct speedscope *s = ex->state;

	hwtdi_json_begin(&s->json, &ex->sink);
	return (hwtdi_flame_source_open(ex, &s->source, HWTD_FLAME_BY_THREAD,
	    err));
}

static void
put_head(struct hwtd_export *ex, struct speedscope *s)
{
	struct hwtdi_json_writer *json = &s->json;

	hwtdi_json_begin_object(json);
	hwtdi_json_key(json, "$schema");
	hwtdi_json_put_text(json,
	    "https://www.speedscope.app/file-format-schema.json");
	hwtdi_json_key(json, "exporter");
	hwtdi_json_put_text(json, "hwtdecode");
	if (ex->options.title[0] != '\0') {
		hwtdi_json_key(json, "name");
		hwtdi_json_put_text(json, ex->options.title);
	}
	hwtdi_json_key(json, "shared");
	hwtdi_json_begin_object(json);
	hwtdi_json_key(json, "frames");
	hwtdi_json_begin_array(json);
}

static void
put_frame(struct speedscope *s)
{
	struct hwtdi_json_writer *json = &s->json;
	struct hwtd_flame_frame frame;

	hwtdi_flame_source_frame(&s->source, s->frame++, &frame);
	hwtdi_json_newline(json);
	hwtdi_json_begin_object(json);
	hwtdi_json_key(json, "name");
	hwtdi_json_put_text(json, frame.name);
	if (frame.file != NULL || frame.image != NULL) {
		hwtdi_json_key(json, "file");
		hwtdi_json_put_text(json,
		    frame.file != NULL ? frame.file : frame.image);
	}
	if (frame.file != NULL && frame.line != 0) {
		hwtdi_json_key(json, "line");
		hwtdi_json_put_u64(json, frame.line);
	}
	hwtdi_json_end(json);
}

static bool
is_thread(const struct speedscope *s, const struct hwtd_flame_node *node)
{
	struct hwtd_flame_frame frame;

	hwtdi_flame_source_frame(&s->source, node->frame, &frame);
	return (frame.kind == HWTD_FLAME_THREAD);
}

static void
put_profile(struct hwtd_export *ex, struct speedscope *s, const char *name,
    uint64_t weight)
{
	struct hwtdi_json_writer *json = &s->json;

	hwtdi_json_newline(json);
	hwtdi_json_begin_object(json);
	hwtdi_json_key(json, "type");
	hwtdi_json_put_text(json, "sampled");
	hwtdi_json_key(json, "name");
	hwtdi_json_put_text(json, name);
	hwtdi_json_key(json, "unit");
	hwtdi_json_put_text(json,
	    s->source.info.value == HWTD_VALUE_TIME ? "nanoseconds" : "none");
	hwtdi_json_key(json, "startValue");
	hwtdi_json_put_u64(json, 0);
	hwtdi_json_key(json, "endValue");
	hwtdi_json_put_u64(json, weight);
	hwtdi_json_key(json, "samples");
	hwtdi_json_begin_array(json);
	s->source.at = s->first;
	s->phase = PHASE_SAMPLES;
	ex->info.rows++;
}

/*
 * The next profile: of a thread, and after these of what is no thread's, if there
 * is any, or nothing at all.  False: there is none.
 */
static bool
begin_profile(struct hwtd_export *ex, struct speedscope *s)
{
	struct hwtd_flame_node root, node;
	struct hwtd_flame_frame frame;
	uint64_t rest;

	hwtdi_flame_source_node(&s->source, 0, &root);
	while (!s->rest && s->end < root.next) {
		s->first = s->end == 0 ? 1 : s->end;
		if (s->first >= root.next)
			break;
		hwtdi_flame_source_node(&s->source, s->first, &node);
		s->end = node.next;
		if (!is_thread(s, &node))
			continue;
		hwtdi_flame_source_frame(&s->source, node.frame, &frame);
		s->levels = 2;
		put_profile(ex, s, frame.name, node.value);
		return (true);
	}
	if (s->rest)
		return (false);
	s->rest = true;
	rest = root.self;
	for (uint32_t i = 1; i < root.next; i = node.next) {
		hwtdi_flame_source_node(&s->source, i, &node);
		if (!is_thread(s, &node))
			rest += node.value;
	}
	if (rest == 0 && ex->info.rows != 0)
		return (false);
	s->first = 0;
	s->end = root.next;
	s->levels = 1;
	put_profile(ex, s,
	    ex->options.title[0] != '\0' ? ex->options.title : "all", rest);
	return (true);
}

/* The next node of the profile with a weight of its own. */
static bool
next_sample(struct speedscope *s, struct hwtd_flame_node *node)
{
	while (hwtdi_flame_source_next(&s->source, s->end, node)) {
		if (s->rest && node->depth == 1 && is_thread(s, node))
			s->source.at = node->next;
		else if (node->self != 0)
			return (true);
	}
	return (false);
}

static void
put_sample(struct speedscope *s, const struct hwtd_flame_node *node)
{
	struct hwtdi_json_writer *json = &s->json;

	hwtdi_json_newline(json);
	hwtdi_json_begin_array(json);
	for (uint32_t i = s->levels; i <= node->depth; i++)
		hwtdi_json_put_u64(json, s->source.path[i]);
	hwtdi_json_end(json);
}

static int
step_speedscope(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct speedscope *s = ex->state;
	const uint64_t begin = ex->sink.put;
	struct hwtdi_json_writer *json = &s->json;
	struct hwtd_flame_node node;

	(void)err;
	while (ex->sink.put - begin < STEP_BYTES) {
		switch (s->phase) {
		case PHASE_HEAD:
			put_head(ex, s);
			s->phase = PHASE_FRAMES;
			break;
		case PHASE_FRAMES:
			if (s->frame < s->source.info.n_frames) {
				put_frame(s);
				break;
			}
			hwtdi_json_end(json);
			hwtdi_json_end(json);
			hwtdi_json_key(json, "profiles");
			hwtdi_json_begin_array(json);
			s->phase = PHASE_PROFILE;
			break;
		case PHASE_PROFILE:
			if (!begin_profile(ex, s))
				s->phase = PHASE_END;
			break;
		case PHASE_SAMPLES:
			if (next_sample(s, &node)) {
				put_sample(s, &node);
				break;
			}
			hwtdi_json_end(json);
			hwtdi_json_key(json, "weights");
			hwtdi_json_begin_array(json);
			s->source.at = s->first;
			s->phase = PHASE_WEIGHTS;
			break;
		case PHASE_WEIGHTS:
			if (next_sample(s, &node)) {
				hwtdi_json_put_u64(json, node.self);
				break;
			}
			hwtdi_json_end(json);
			hwtdi_json_end(json);
			s->phase = PHASE_PROFILE;
			break;
		case PHASE_END:
			hwtdi_json_end(json);
			hwtdi_json_end(json);
			hwtdi_json_newline(json);
			return (HWTD_END);
		}
	}
	return (HWTD_OK);
}

static void
close_speedscope(struct hwtd_export *ex)
{
	struct speedscope *s = ex->state;

	hwtdi_flame_source_close(ex, &s->source);
}

const struct hwtdi_exporter_ops hwtdi_speedscope_sampled_ops = {
	.format = HWTD_FORMAT_SPEEDSCOPE_SAMPLED,
	.source = HWTD_SOURCE_PROFILE,
	.name = "speedscope-sampled",
	.suffixes = ".sampled.speedscope.json",
	.viewer = "speedscope",
	.viewer_bytes = UINT64_C(50000000),
	.state_bytes = sizeof(struct speedscope),
	.open = open_speedscope,
	.step = step_speedscope,
	.close = close_speedscope,
};
