/*
 * Calls as a processed profile of the Firefox Profiler.
 *
 * It has columns, one array behind the other, so that what is kept of a thread is
 * read once for each of them.  A stretch of time in which no call begins or ends
 * is a sample, which weighs as much as it took.
 *
 * Version 56 of the format has all tables in the thread; viewers turn it into
 * newer ones.
 *
 * Source: firefox-devtools/profiler, "src/types/profile", version 56.
 */
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/text_pool.h"
#include "export/call_spool.h"
#include "export/json_writer.h"

#define FORMAT_VERSION 56
/* Of a begin or end, about, in the file. */
#define EVENT_BYTES 34u
#define NO_STACK UINT32_MAX
/* Of ms. */
#define DIGITS 6

enum category {
	CATEGORY_OTHER,
	CATEGORY_CODE,
	CATEGORY_UNTRACED,
	CATEGORY_GAP,
	CATEGORIES
};

static const struct {
	const char *name, *color;
} categories[CATEGORIES] = {
	[CATEGORY_OTHER] = { "Other", "grey" },
	[CATEGORY_CODE] = { "Code", "blue" },
	[CATEGORY_UNTRACED] = { "Not traced by choice", "purple" },
	[CATEGORY_GAP] = { "Not traced", "red" },
};

/* A stack is another one and the function that it called. */
struct stack {
	uint32_t prefix, func;
};

struct func {
	uint32_t name;
	/* Of the texts of the file; place in its list of libraries, or NO_ID. */
	uint32_t text, lib;
};

enum column {
	COLUMN_STACK,
	COLUMN_TIME,
	COLUMN_WEIGHT,
	COLUMN_MARKER_BEGIN,
	COLUMN_MARKER_END,
	COLUMN_MARKER_NAME,
	COLUMN_MARKER_DATA,
	COLUMN_MARKER_CATEGORY,
	COLUMN_MARKER_PHASE
};

struct state {
	struct hwtdi_timeline timeline;
	struct hwtdi_spool spool;
	struct hwtdi_json_writer json;
	/* Of the file. */
	struct hwtdi_text_pool texts;
	uint32_t *libs;
	size_t n_libs, cap_libs;
	/* By text: place in `libs`, + 1. */
	uint32_t *lib_places;
	size_t n_lib_places;
	uint64_t base, from;
	bool based;
	uint32_t gap_text;
	/* Of the thread that is written. */
	struct stack *stacks;
	size_t n_stacks, cap_stacks;
	struct hwtdi_index stack_index;
	struct func *funcs;
	size_t n_funcs, cap_funcs;
	/* By name: place in `funcs`, + 1. */
	uint32_t *places;
	size_t n_places;
	/* Where reading stands: the stack, and since when. */
	enum column column;
	uint32_t *path;
	size_t n_path, cap_path;
	uint64_t since;
	size_t n_samples, n_markers;
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

/* Tables. */

/* The number of a text; an empty one is as good as none. */
static int
text_of(struct state *s, const char *text, uint32_t *out,
    struct hwtd_error *err)
{
	return (hwtdi_text_pool_add(&s->texts, s->timeline.ctx,
	    text[0] != '\0' ? text : "[unknown]", out, err));
}

static int
lib_of(struct state *s, const char *image, uint32_t *out,
    struct hwtd_error *err)
{
	uint32_t text;
	int rc;

	*out = HWTD_NO_ID;
	if (image == NULL)
		return (HWTD_OK);
	rc = text_of(s, image, &text, err);
	if (rc == HWTD_OK)
		rc = hwtdi_timeline_need(s->timeline.ctx, &s->lib_places,
		    &s->n_lib_places, (size_t)text + 1, sizeof(*s->lib_places),
		    err);
	if (rc == HWTD_OK && s->lib_places[text] == 0) {
		rc = hwtdi_array_grow(s->timeline.ctx, &s->libs, &s->cap_libs,
		    s->n_libs + 1, sizeof(*s->libs), err);
		if (rc != HWTD_OK)
			return (rc);
		s->libs[s->n_libs++] = text;
		s->lib_places[text] = (uint32_t)s->n_libs;
	}
	if (rc == HWTD_OK)
		*out = s->lib_places[text] - 1;
	return (rc);
}

static int
func_of(struct state *s, uint32_t name, uint32_t *out, struct hwtd_error *err)
{
	struct hwtd_context *ctx = s->timeline.ctx;
	char buffer[HWTDI_NAME_BUFFER];
	struct func func = { .name = name };
	int rc = HWTD_OK;

	if (name >= s->n_places)
		rc = hwtdi_timeline_need(ctx, &s->places, &s->n_places,
		    (size_t)name + 1, sizeof(*s->places), err);
	if (rc != HWTD_OK)
		return (rc);
	*out = s->places[name] - 1;
	if (s->places[name] != 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, &s->funcs, &s->cap_funcs, s->n_funcs + 1,
	    sizeof(*s->funcs), err);
	if (rc == HWTD_OK)
		rc = text_of(s,
		    hwtdi_timeline_name(&s->timeline, name, buffer),
		    &func.text, err);
	if (rc == HWTD_OK)
		rc = lib_of(s, hwtdi_timeline_image(&s->timeline, name),
		    &func.lib, err);
	if (rc != HWTD_OK)
		return (rc);
	*out = (uint32_t)s->n_funcs;
	s->funcs[s->n_funcs++] = func;
	s->places[name] = (uint32_t)s->n_funcs;
	return (HWTD_OK);
}

static int
stack_of(struct state *s, uint32_t prefix, uint32_t name, uint32_t *out,
    struct hwtd_error *err)
{
	struct hwtd_context *ctx = s->timeline.ctx;
	struct stack stack = { .prefix = prefix };
	size_t tries = 0;
	uint64_t hash;
	int rc = func_of(s, name, &stack.func, err);

	if (rc != HWTD_OK)
		return (rc);
	hash = hwtdi_hash(ctx, &stack, sizeof(stack));
	while (hwtdi_index_next(&s->stack_index, hash, &tries, out))
		if (s->stacks[*out].prefix == prefix &&
		    s->stacks[*out].func == stack.func)
			return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, &s->stacks, &s->cap_stacks, s->n_stacks + 1,
	    sizeof(*s->stacks), err);
	if (rc == HWTD_OK)
		rc = hwtdi_index_reserve(&s->stack_index, ctx, err);
	if (rc != HWTD_OK)
		return (rc);
	*out = (uint32_t)s->n_stacks;
	s->stacks[s->n_stacks++] = stack;
	hwtdi_index_put(&s->stack_index, hash, *out);
	return (HWTD_OK);
}

/* Columns. */

static void
put_ms(struct state *s, uint64_t at)
{
	hwtdi_json_put_decimal(&s->json, at > s->from ? at - s->from : 0,
	    DIGITS);
}

/* A stretch of time ends. */
static void
put_sample(struct state *s, uint64_t at)
{
	if (at <= s->since)
		return;
	if (s->column == COLUMN_STACK) {
		s->n_samples++;
		if (s->n_path == 0)
			hwtdi_json_put_null(&s->json);
		else
			hwtdi_json_put_u64(&s->json, s->path[s->n_path - 1]);
	} else if (s->column == COLUMN_TIME) {
		put_ms(s, s->since);
	} else if (s->column == COLUMN_WEIGHT) {
		hwtdi_json_put_decimal(&s->json, at - s->since, DIGITS);
	}
	s->since = at;
}

static bool
is_gap(uint32_t name)
{
	return (name >= HWTDI_NAME_GAPS && name < HWTDI_NAME_FUNCTIONS);
}

static void
put_marker(struct state *s, uint64_t at, uint32_t name)
{
	struct hwtdi_json_writer *j = &s->json;

	switch (s->column) {
	case COLUMN_MARKER_BEGIN:
		s->n_markers++;
		put_ms(s, at);
		break;
	case COLUMN_MARKER_NAME:
		hwtdi_json_put_u64(j, s->gap_text - 1);
		break;
	case COLUMN_MARKER_DATA:
		hwtdi_json_begin_object(j);
		hwtdi_json_key(j, "type");
		hwtdi_json_put_text(j, "Gap");
		hwtdi_json_key(j, "reason");
		hwtdi_json_put_text(j,
		    hwtd_gap_reason_name(name - HWTDI_NAME_GAPS));
		hwtdi_json_end(j);
		break;
	case COLUMN_MARKER_CATEGORY:
		hwtdi_json_put_u64(j, CATEGORY_GAP);
		break;
	case COLUMN_MARKER_PHASE:
		/* From a time to another. */
		hwtdi_json_put_u64(j, 1);
		break;
	default:
		break;
	}
}

static int
take_begin(void *arg, uint64_t at, uint32_t name, struct hwtd_error *err)
{
	struct state *s = arg;
	uint32_t stack;
	int rc;

	if (is_gap(name))
		put_marker(s, at, name);
	if (s->column > COLUMN_WEIGHT)
		return (HWTD_OK);
	put_sample(s, at);
	if (s->column != COLUMN_STACK)
		return (HWTD_OK);
	rc = stack_of(s, s->n_path == 0 ? NO_STACK : s->path[s->n_path - 1],
	    name, &stack, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(s->timeline.ctx, &s->path, &s->cap_path,
		    s->n_path + 1, sizeof(*s->path), err);
	if (rc == HWTD_OK)
		s->path[s->n_path++] = stack;
	return (rc);
}

static int
take_end(void *arg, uint64_t at, uint32_t name, struct hwtd_error *err)
{
	struct state *s = arg;

	(void)err;
	if (s->column == COLUMN_MARKER_END && is_gap(name))
		put_ms(s, at);
	if (s->column > COLUMN_WEIGHT)
		return (HWTD_OK);
	put_sample(s, at);
	if (s->column == COLUMN_STACK && s->n_path > 0)
		s->n_path--;
	return (HWTD_OK);
}

static int
put_column(struct state *s, uint32_t thread, const char *key,
    enum column column, struct hwtd_error *err)
{
	const struct hwtdi_spool_reader reader = { take_begin, take_end, s };
	int rc;

	hwtdi_json_key(&s->json, key);
	hwtdi_json_begin_array(&s->json);
	s->column = column;
	s->n_path = 0;
	s->since = s->spool.threads[thread].begin;
	rc = hwtdi_spool_read(&s->spool, thread, &reader, err);
	hwtdi_json_end(&s->json);
	return (rc);
}

static void
put_length(struct state *s, size_t n)
{
	hwtdi_json_key(&s->json, "length");
	hwtdi_json_put_u64(&s->json, n);
	hwtdi_json_end(&s->json);
}

static int
put_samples(struct state *s, uint32_t thread, struct hwtd_error *err)
{
	struct hwtdi_json_writer *j = &s->json;
	int rc;

	hwtdi_json_newline(j);
	hwtdi_json_key(j, "samples");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "weightType");
	hwtdi_json_put_text(j, "tracing-ms");
	s->n_samples = 0;
	rc = put_column(s, thread, "stack", COLUMN_STACK, err);
	if (rc == HWTD_OK)
		rc = put_column(s, thread, "time", COLUMN_TIME, err);
	if (rc == HWTD_OK)
		rc = put_column(s, thread, "weight", COLUMN_WEIGHT, err);
	put_length(s, s->n_samples);
	return (rc);
}

static int
put_markers(struct state *s, uint32_t thread, struct hwtd_error *err)
{
	static const struct {
		const char *key;
		enum column column;
	} columns[] = {
		{ "startTime", COLUMN_MARKER_BEGIN },
		{ "endTime", COLUMN_MARKER_END },
		{ "name", COLUMN_MARKER_NAME },
		{ "data", COLUMN_MARKER_DATA },
		{ "category", COLUMN_MARKER_CATEGORY },
		{ "phase", COLUMN_MARKER_PHASE },
	};
	int rc = HWTD_OK;

	hwtdi_json_newline(&s->json);
	hwtdi_json_key(&s->json, "markers");
	hwtdi_json_begin_object(&s->json);
	s->n_markers = 0;
	for (size_t i = 0;
	     i < sizeof(columns) / sizeof(columns[0]) && rc == HWTD_OK; i++)
		rc = put_column(s, thread, columns[i].key, columns[i].column,
		    err);
	put_length(s, s->n_markers);
	return (rc);
}

/* Tables of a thread. */

static void
put_table(struct state *s, const char *key)
{
	hwtdi_json_newline(&s->json);
	hwtdi_json_key(&s->json, key);
	hwtdi_json_begin_object(&s->json);
}

static void
put_stacks(struct state *s)
{
	struct hwtdi_json_writer *j = &s->json;

	put_table(s, "stackTable");
	hwtdi_json_key(j, "frame");
	hwtdi_json_begin_array(j);
	for (size_t i = 0; i < s->n_stacks; i++)
		hwtdi_json_put_u64(j, s->stacks[i].func);
	hwtdi_json_end(j);
	hwtdi_json_key(j, "prefix");
	hwtdi_json_begin_array(j);
	for (size_t i = 0; i < s->n_stacks; i++) {
		if (s->stacks[i].prefix == NO_STACK)
			hwtdi_json_put_null(j);
		else
			hwtdi_json_put_u64(j, s->stacks[i].prefix);
	}
	hwtdi_json_end(j);
	put_length(s, s->n_stacks);
}

enum field {
	FIELD_INDEX,
	FIELD_NULL,
	FIELD_ZERO,
	FIELD_FALSE,
	FIELD_NONE,
	FIELD_CATEGORY,
	FIELD_TEXT,
	FIELD_RESOURCE
};

static enum category
category_of(uint32_t name)
{
	if (name >= HWTDI_NAME_FUNCTIONS)
		return (CATEGORY_CODE);
	if (name >= HWTDI_NAME_GAPS)
		return (CATEGORY_GAP);
	return (name == HWTDI_NAME_UNKNOWN || name == HWTDI_NAME_SHORT
		? CATEGORY_OTHER
		: CATEGORY_UNTRACED);
}

/* A column of what there is of each function. */
static void
put_field(struct state *s, const char *key, enum field field)
{
	struct hwtdi_json_writer *j = &s->json;

	hwtdi_json_key(j, key);
	hwtdi_json_begin_array(j);
	for (size_t i = 0; i < s->n_funcs; i++) {
		const struct func *f = &s->funcs[i];

		if (field == FIELD_NULL)
			hwtdi_json_put_null(j);
		else if (field == FIELD_FALSE)
			hwtdi_json_put_bool(j, false);
		else if (field == FIELD_NONE ||
		    (field == FIELD_RESOURCE && f->lib == HWTD_NO_ID))
			hwtdi_json_put_i64(j, -1);
		else
			hwtdi_json_put_u64(j,
			    field == FIELD_INDEX ? i
				: field == FIELD_CATEGORY
				? category_of(f->name)
				: field == FIELD_TEXT	  ? f->text - 1
				: field == FIELD_RESOURCE ? f->lib
							  : 0);
	}
	hwtdi_json_end(j);
}

static void
put_functions(struct state *s)
{
	put_table(s, "frameTable");
	put_field(s, "address", FIELD_NONE);
	put_field(s, "inlineDepth", FIELD_ZERO);
	put_field(s, "category", FIELD_CATEGORY);
	put_field(s, "subcategory", FIELD_ZERO);
	put_field(s, "func", FIELD_INDEX);
	put_field(s, "nativeSymbol", FIELD_NULL);
	put_field(s, "innerWindowID", FIELD_NULL);
	put_field(s, "line", FIELD_NULL);
	put_field(s, "column", FIELD_NULL);
	put_length(s, s->n_funcs);
	put_table(s, "funcTable");
	put_field(s, "name", FIELD_TEXT);
	put_field(s, "isJS", FIELD_FALSE);
	put_field(s, "relevantForJS", FIELD_FALSE);
	put_field(s, "resource", FIELD_RESOURCE);
	put_field(s, "fileName", FIELD_NULL);
	put_field(s, "lineNumber", FIELD_NULL);
	put_field(s, "columnNumber", FIELD_NULL);
	put_length(s, s->n_funcs);
}

/* Each library of the file so far; place in the file and here are the same. */
static void
put_resources(struct state *s)
{
	static const char *const keys[] = { "lib", "name", "host", "type" };
	struct hwtdi_json_writer *j = &s->json;

	put_table(s, "resourceTable");
	for (size_t k = 0; k < 4; k++) {
		hwtdi_json_key(j, keys[k]);
		hwtdi_json_begin_array(j);
		for (size_t i = 0; i < s->n_libs; i++) {
			if (k == 2)
				hwtdi_json_put_null(j);
			else
				/* Type 1: a library. */
				hwtdi_json_put_u64(j,
				    k == 0	 ? i
					: k == 1 ? s->libs[i] - 1
						 : 1);
		}
		hwtdi_json_end(j);
	}
	put_length(s, s->n_libs);
	put_table(s, "nativeSymbols");
	for (size_t k = 0; k < 4; k++) {
		static const char *const names[] = { "libIndex", "address",
			"name", "functionSize" };

		hwtdi_json_key(j, names[k]);
		hwtdi_json_begin_array(j);
		hwtdi_json_end(j);
	}
	put_length(s, 0);
}

static void
put_who(struct state *s, uint32_t thread)
{
	const struct hwtdi_spool_thread *t = &s->spool.threads[thread];
	const bool by_insns = s->timeline.threads[thread].by_insns;
	struct hwtdi_json_writer *j = &s->json;
	struct hwtd_call_thread who;
	char name[HWTDI_NAME_BUFFER];
	const char *process;

	hwtdi_timeline_who(&s->timeline, thread, &who, name);
	process = hwtdi_timeline_process(&s->timeline, who.pid);
	hwtdi_json_key(j, "processType");
	hwtdi_json_put_text(j, "default");
	hwtdi_json_key(j, "processStartupTime");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "processShutdownTime");
	hwtdi_json_put_null(j);
	hwtdi_json_key(j, "registerTime");
	put_ms(s, t->begin);
	hwtdi_json_key(j, "unregisterTime");
	put_ms(s, t->at);
	hwtdi_json_key(j, "pausedRanges");
	hwtdi_json_begin_array(j);
	hwtdi_json_end(j);
	hwtdi_json_key(j, "name");
	if (by_insns)
		hwtdi_json_put_format(j, "%s (1 ns is 1 %s)", name,
		    s->timeline.by_rows ? "begin or end" : "instruction");
	else
		hwtdi_json_put_text(j, name);
	hwtdi_json_key(j, "isMainThread");
	hwtdi_json_put_bool(j, who.tid == who.pid);
	if (process != NULL) {
		hwtdi_json_key(j, "processName");
		hwtdi_json_put_text(j, process);
	}
	hwtdi_json_key(j, "showMarkersInTimeline");
	hwtdi_json_put_bool(j, true);
	hwtdi_json_key(j, "pid");
	if (who.pid != HWTD_NO_ID)
		hwtdi_json_put_format(j, "%u", who.pid);
	else
		hwtdi_json_put_text(j, "0");
	/* Threads without a number are told apart by one above all numbers. */
	hwtdi_json_key(j, "tid");
	hwtdi_json_put_u64(j,
	    who.tid != HWTD_NO_ID ? who.tid : UINT64_C(0x100000000) + thread);
}

static void
reset_thread(struct state *s)
{
	s->n_stacks = 0;
	hwtdi_index_fini(&s->stack_index, s->timeline.ctx);
	for (size_t i = 0; i < s->n_funcs; i++)
		s->places[s->funcs[i].name] = 0;
	s->n_funcs = 0;
}

static int
put_thread(struct state *s, uint32_t thread, struct hwtd_error *err)
{
	int rc;

	reset_thread(s);
	s->from = s->timeline.threads[thread].by_insns ? 0 : s->base;
	hwtdi_json_newline(&s->json);
	hwtdi_json_begin_object(&s->json);
	put_who(s, thread);
	rc = put_samples(s, thread, err);
	if (rc == HWTD_OK)
		rc = put_markers(s, thread, err);
	if (rc == HWTD_OK) {
		put_stacks(s);
		put_functions(s);
		put_resources(s);
	}
	hwtdi_json_end(&s->json);
	return (rc);
}

/* Files. */

static void
put_meta(struct state *s)
{
	struct hwtdi_json_writer *j = &s->json;

	hwtdi_json_key(j, "meta");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "preprocessedProfileVersion");
	hwtdi_json_put_u64(j, FORMAT_VERSION);
	hwtdi_json_key(j, "version");
	hwtdi_json_put_u64(j, 31);
	hwtdi_json_key(j, "interval");
	hwtdi_json_put_decimal(j, 1, DIGITS);
	hwtdi_json_key(j, "startTime");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "processType");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "stackwalk");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "product");
	hwtdi_json_put_text(j, s->timeline.ex->options.title);
	hwtdi_json_key(j, "importedFrom");
	hwtdi_json_put_text(j, "hwtdecode");
	hwtdi_json_key(j, "symbolicationNotSupported");
	hwtdi_json_put_bool(j, true);
	hwtdi_json_key(j, "usesOnlyOneStackType");
	hwtdi_json_put_bool(j, true);
	hwtdi_json_key(j, "sourceCodeIsNotOnSearchfox");
	hwtdi_json_put_bool(j, true);
	hwtdi_json_key(j, "categories");
	hwtdi_json_begin_array(j);
	for (size_t i = 0; i < CATEGORIES; i++) {
		hwtdi_json_begin_object(j);
		hwtdi_json_key(j, "name");
		hwtdi_json_put_text(j, categories[i].name);
		hwtdi_json_key(j, "color");
		hwtdi_json_put_text(j, categories[i].color);
		hwtdi_json_key(j, "subcategories");
		hwtdi_json_begin_array(j);
		hwtdi_json_put_text(j, "Other");
		hwtdi_json_end(j);
		hwtdi_json_end(j);
	}
	hwtdi_json_end(j);
	hwtdi_json_key(j, "markerSchema");
	hwtdi_json_begin_array(j);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "name");
	hwtdi_json_put_text(j, "Gap");
	hwtdi_json_key(j, "display");
	hwtdi_json_begin_array(j);
	hwtdi_json_put_text(j, "marker-chart");
	hwtdi_json_put_text(j, "marker-table");
	hwtdi_json_put_text(j, "timeline-overview");
	hwtdi_json_end(j);
	hwtdi_json_key(j, "fields");
	hwtdi_json_begin_array(j);
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "key");
	hwtdi_json_put_text(j, "reason");
	hwtdi_json_key(j, "label");
	hwtdi_json_put_text(j, "Reason");
	hwtdi_json_key(j, "format");
	hwtdi_json_put_text(j, "string");
	hwtdi_json_end(j);
	hwtdi_json_end(j);
	hwtdi_json_end(j);
	hwtdi_json_end(j);
	hwtdi_json_end(j);
}

/* What all threads need, behind them, since only then all of it is known. */
static void
put_shared(struct state *s)
{
	static const char *const keys[] = { "name", "path", "debugName",
		"debugPath" };
	struct hwtdi_json_writer *j = &s->json;

	hwtdi_json_key(j, "libs");
	hwtdi_json_begin_array(j);
	for (size_t i = 0; i < s->n_libs; i++) {
		const char *text = hwtdi_text_pool_get(&s->texts, s->libs[i]);
		const char *slash = strrchr(text, '/');

		hwtdi_json_newline(j);
		hwtdi_json_begin_object(j);
		for (size_t k = 0; k < 4; k++) {
			hwtdi_json_key(j, keys[k]);
			hwtdi_json_put_text(j,
			    k % 2 == 0 && slash != NULL ? slash + 1 : text);
		}
		hwtdi_json_key(j, "arch");
		hwtdi_json_put_text(j, "");
		hwtdi_json_key(j, "breakpadId");
		hwtdi_json_put_text(j, "");
		hwtdi_json_key(j, "codeId");
		hwtdi_json_put_null(j);
		hwtdi_json_end(j);
	}
	hwtdi_json_end(j);
	hwtdi_json_key(j, "shared");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "stringArray");
	hwtdi_json_begin_array(j);
	/* Number 0 is no text. */
	for (uint32_t i = 1; i <= s->texts.n; i++) {
		hwtdi_json_newline(j);
		hwtdi_json_put_text(j, hwtdi_text_pool_get(&s->texts, i));
	}
	hwtdi_json_end(j);
	hwtdi_json_end(j);
}

static int
begin_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;

	hwtdi_spool_clear(&s->spool);
	reset_thread(s);
	hwtdi_text_pool_fini(&s->texts, s->timeline.ctx);
	for (size_t i = 0; i < s->n_libs; i++)
		s->lib_places[s->libs[i]] = 0;
	s->n_libs = 0;
	return (text_of(s, "Not traced", &s->gap_text, err));
}

static int
end_file(void *arg, struct hwtd_error *err)
{
	struct state *s = arg;
	struct hwtdi_json_writer *j = &s->json;
	int rc = HWTD_OK;

	if (!s->based &&
	    hwtdi_spool_first(&s->spool, &s->timeline, &s->base)) {
		s->based = true;
		hwtdi_timeline_moved(&s->timeline, 0 - s->base);
	}
	hwtdi_json_begin(j, &s->timeline.ex->sink);
	hwtdi_json_begin_object(j);
	put_meta(s);
	hwtdi_json_key(j, "threads");
	hwtdi_json_begin_array(j);
	for (uint32_t i = 0; i < s->spool.n_threads && rc == HWTD_OK; i++)
		if (hwtdi_spool_has(&s->spool, i))
			rc = put_thread(s, i, err);
	hwtdi_json_end(j);
	put_shared(s);
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
firefox_open(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *s = ex->state;

	hwtdi_spool_init(&s->spool, ex->ctx);
	return (hwtdi_timeline_init(&s->timeline, ex, &timeline_ops, s, err));
}

static int
firefox_step(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *s = ex->state;

	return (hwtdi_timeline_step(&s->timeline, err));
}

static void
firefox_close(struct hwtd_export *ex)
{
	struct state *s = ex->state;
	struct hwtd_context *ctx = ex->ctx;

	hwtdi_text_pool_fini(&s->texts, ctx);
	hwtdi_index_fini(&s->stack_index, ctx);
	hwtdi_array_free(ctx, s->libs, s->cap_libs, sizeof(*s->libs));
	hwtdi_array_free(ctx, s->lib_places, s->n_lib_places,
	    sizeof(*s->lib_places));
	hwtdi_array_free(ctx, s->stacks, s->cap_stacks, sizeof(*s->stacks));
	hwtdi_array_free(ctx, s->funcs, s->cap_funcs, sizeof(*s->funcs));
	hwtdi_array_free(ctx, s->places, s->n_places, sizeof(*s->places));
	hwtdi_array_free(ctx, s->path, s->cap_path, sizeof(*s->path));
	hwtdi_spool_fini(&s->spool);
	hwtdi_timeline_fini(&s->timeline);
}

const struct hwtdi_exporter_ops hwtdi_firefox_ops = {
	.format = HWTD_FORMAT_FIREFOX,
	.source = HWTD_SOURCE_CALLS,
	.name = "firefox",
	.suffixes = ".firefox.json .profile.json",
	.viewer = "profiler.firefox.com",
	/* Twice as much and more, once its tables are there as JavaScript's. */
	.viewer_bytes = 250000000,
	.state_bytes = sizeof(struct state),
	.open = firefox_open,
	.step = firefox_step,
	.close = firefox_close,
};
