/*
 * CoreSight cases of the fixtures, as traces in memory.
 */
#include "support/cs_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "support/temp_dir.h"

#define PATH_CHARS 1200

static struct json_object *
member(struct json_object *object, const char *name)
{
	struct json_object *found = NULL;

	if (!json_object_object_get_ex(object, name, &found))
		fail_msg("no %s", name);
	return (found);
}

static const char *
text_of(struct json_object *object, const char *name)
{
	return (json_object_get_string(member(object, name)));
}

static const char *
ours(const char *theirs)
{
	static const char *const names[][2] = { { "ETMV4I", "etmv4" },
		{ "ETE", "ete" }, { "ETMV3", "etmv3" }, { "PTM", "ptm" },
		{ "STM", "stm" }, { "ITM", "itm" }, { "ARCH_V7", "v7" },
		{ "ARCH_V8", "v8" }, { "ARCH_AA64", "v8.3" } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i][0], theirs) == 0)
			return (names[i][1]);
	fail_msg("what is %s?", theirs);
	return (NULL);
}

static void
load_source(struct json_object *source, struct hwtd_coresight_config *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	char text[2000];
	int n;

	n = snprintf(text, sizeof(text), "protocol=%s\narch=%s\nprofile=%s\n",
	    ours(text_of(source, "protocol")),
	    ours(text_of(source, "arch_ver")),
	    text_of(source, "core_profile"));
	json_object_object_foreach(member(source, "regs"), name, value)
	{
		/* Of all protocols, as a trace ID. */
		const char *key = strcmp(name, "TRCTRACEIDR") == 0 ? "trace_id"
								   : name;

		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s=%s\n",
		    key, json_object_get_string(value));
	}
	out->size = sizeof(*out);
	if (hwtd_coresight_parse(text, (size_t)n, out, &err) != HWTD_OK)
		fail_msg("%s: %s", text, err.message);
}

static uint32_t
framing_of(const char *name)
{
	for (uint32_t i = 0; i <= HWTD_FRAMING_DSTREAM; i++)
		if (strcmp(hwtd_framing_name(i), name) == 0)
			return (i);
	fail_msg("what is %s?", name);
	return (0);
}

static uint8_t *
load_file(const char *folder, const char *name, size_t *n_out)
{
	char path[PATH_CHARS];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return (read_file(path, n_out));
}

static void
load_code(const char *folder, struct cs_case *out)
{
	size_t n;
	char *text = (char *)load_file(folder, "image.txt", &n);
	char *line, *rest;

	text = realloc(text, n + 1);
	text[n] = '\0';
	for (line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		unsigned long long off, size, address;
		char name[100];
		uint8_t *file;

		assert_int_equal(sscanf(line, "%99s %llx %llx %llx", name,
				     &off, &size, &address),
		    4);
		file = load_file(folder, name, &n);
		assert_true(off + size <= n && out->n_code < CS_CASE_PIECES);
		memmove(file, file + off, size);
		out->code[out->n_code].address = address;
		out->code[out->n_code].bytes = file;
		out->code[out->n_code].n = size;
		out->n_code++;
	}
	free(text);
}

void
cs_case_load(const char *folder, struct cs_case *out)
{
	char path[PATH_CHARS];
	struct json_object *root, *coresight, *sources;

	memset(out, 0, sizeof(*out));
	(void)snprintf(path, sizeof(path), "%s/case.json", folder);
	root = json_object_from_file(path);
	assert_non_null(root);
	coresight = member(member(root, "params"), "coresight");
	out->framing = framing_of(text_of(coresight, "framing"));
	sources = member(coresight, "sources");
	out->n_sources = json_object_array_length(sources);
	assert_true(out->n_sources <= CS_CASE_SOURCES);
	for (size_t i = 0; i < out->n_sources; i++)
		load_source(json_object_array_get_idx(sources, i),
		    &out->sources[i]);
	out->wrong = json_object_object_get_ex(member(root, "params"),
	    "opencsd", NULL);
	json_object_put(root);
	out->bytes = load_file(folder,
	    out->framing == HWTD_FRAMING_NONE ? "trace.etm" : "sink.bin",
	    &out->n);
	load_code(folder, out);
}

void
cs_case_free(struct cs_case *c)
{
	for (size_t i = 0; i < c->n_code; i++)
		free(c->code[i].bytes);
	free(c->bytes);
}

static uint32_t
add_stream(struct hwtd_trace *trace, const struct hwtd_stream_desc *desc)
{
	struct hwtd_error err = { .size = sizeof(err) };
	uint32_t id;

	if (hwtd_trace_add_stream(trace, desc, &id, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	return (id);
}

static void
add_code(struct hwtd_trace *trace, const struct cs_case *c)
{
	for (size_t i = 0; i < c->n_code; i++)
		(void)mt_code(trace, c->code[i].address, c->code[i].bytes,
		    c->code[i].n);
}

/* The streams of a case; which one has the bytes. */
static uint32_t
add_streams(struct hwtd_trace *trace, const struct cs_case *c)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	uint32_t sink = 0, id;

	if (c->framing != HWTD_FRAMING_NONE) {
		desc.framing = c->framing;
		sink = add_stream(trace, &desc);
		desc.framing = HWTD_FRAMING_NONE;
		desc.sink_plus_1 = sink + 1;
	}
	for (size_t i = 0; i < c->n_sources; i++) {
		desc.coresight = &c->sources[i];
		id = add_stream(trace, &desc);
		if (c->framing == HWTD_FRAMING_NONE)
			sink = id;
	}
	return (sink);
}

static void
add_bytes(struct hwtd_trace *trace, uint32_t stream, const uint8_t *bytes,
    size_t n)
{
	struct hwtd_error err = { .size = sizeof(err) };

	if (hwtd_trace_add_bytes(trace, stream, bytes, n, &err) != HWTD_OK)
		fail_msg("%s", err.message);
}

struct hwtd_trace *
cs_case_trace(const struct cs_case *c, size_t first)
{
	struct hwtd_trace *trace = mt_create();
	uint32_t stream;

	add_code(trace, c);
	stream = add_streams(trace, c);
	add_bytes(trace, stream, c->bytes + first, c->n - first);
	return (mt_seal(trace));
}

struct hwtd_trace *
cs_case_trace_cut(const struct cs_case *c, size_t n)
{
	struct hwtd_trace *trace = mt_create();
	uint32_t stream;

	add_code(trace, c);
	stream = add_streams(trace, c);
	add_bytes(trace, stream, c->bytes, n);
	mt_extent(trace, stream, HWTD_EXTENT_NEW, c->bytes, c->n);
	return (mt_seal(trace));
}

struct hwtd_trace *
cs_case_two_sinks(const struct cs_case *a, const struct cs_case *b)
{
	struct hwtd_trace *trace = mt_create();

	/* Both have the same code at the same addresses. */
	add_code(trace, a);
	add_bytes(trace, add_streams(trace, a), a->bytes, a->n);
	add_bytes(trace, add_streams(trace, b), b->bytes, b->n);
	return (mt_seal(trace));
}
