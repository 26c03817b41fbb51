/*
 * Threads of a profile of the Firefox Profiler: columns of samples and markers, and
 * the tables that they need.
 */
#include "export/calls/firefox_thread.h"

#include "base/hash.h"

#define NO_STACK UINT32_MAX
/* Tables. */

int
hwtdi_firefox_text(struct hwtdi_firefox *s, const char *text, uint32_t *out,
    struct hwtd_error *err)
{
	return (hwtdi_text_pool_add(&s->texts, s->spool.timeline.ctx,
	    text[0] != '\0' ? text : "[unknown]", out, err));
}

static int
lib_of(struct hwtdi_firefox *s, const char *image, uint32_t *out,
    struct hwtd_error *err)
{
	uint32_t text;
	int rc;

	*out = HWTD_NO_ID;
	if (image == NULL)
		return (HWTD_OK);
	rc = hwtdi_firefox_text(s, image, &text, err);
	if (rc == HWTD_OK)
		rc = hwtdi_timeline_need(s->spool.timeline.ctx, &s->lib_places,
		    &s->n_lib_places, (size_t)text + 1, sizeof(*s->lib_places),
		    err);
	if (rc == HWTD_OK && s->lib_places[text] == 0) {
		rc = hwtdi_array_grow(s->spool.timeline.ctx, &s->libs,
		    &s->cap_libs, s->n_libs + 1, sizeof(*s->libs), err);
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
func_of(struct hwtdi_firefox *s, uint32_t name, uint32_t *out,
    struct hwtd_error *err)
{
	struct hwtd_context *ctx = s->spool.timeline.ctx;
	char buffer[HWTDI_NAME_BUFFER];
	struct hwtdi_firefox_func func = { .name = name };
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
		rc = hwtdi_firefox_text(s,
		    hwtdi_timeline_name(&s->spool.timeline, name, buffer),
		    &func.text, err);
	if (rc == HWTD_OK)
		rc = lib_of(s, hwtdi_timeline_image(&s->spool.timeline, name),
		    &func.lib, err);
	if (rc != HWTD_OK)
		return (rc);
	*out = (uint32_t)s->n_funcs;
	s->funcs[s->n_funcs++] = func;
	s->places[name] = (uint32_t)s->n_funcs;
	return (HWTD_OK);
}

static int
stack_of(struct hwtdi_firefox *s, uint32_t prefix, uint32_t name,
    uint32_t *out, struct hwtd_error *err)
{
	struct hwtd_context *ctx = s->spool.timeline.ctx;
	struct hwtdi_firefox_stack stack = { .prefix = prefix };
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
put_ms(struct hwtdi_firefox *s, uint64_t at)
{
	hwtdi_json_put_decimal(&s->json, at > s->from ? at - s->from : 0,
	    HWTDI_FIREFOX_DIGITS);
}

/* A stretch of time ends. */
static void
put_sample(struct hwtdi_firefox *s, uint64_t at)
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
		hwtdi_json_put_decimal(&s->json, at - s->since,
		    HWTDI_FIREFOX_DIGITS);
	}
	s->since = at;
}

static bool
is_gap(uint32_t name)
{
	return (name >= HWTDI_NAME_GAPS && name < HWTDI_NAME_FUNCTIONS);
}

static void
put_marker(struct hwtdi_firefox *s, uint64_t at, uint32_t name)
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
	struct hwtdi_firefox *s = arg;
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
		rc = hwtdi_array_grow(s->spool.timeline.ctx, &s->path,
		    &s->cap_path, s->n_path + 1, sizeof(*s->path), err);
	if (rc == HWTD_OK)
		s->path[s->n_path++] = stack;
	return (rc);
}

static int
take_end(void *arg, uint64_t at, uint32_t name, struct hwtd_error *err)
{
	struct hwtdi_firefox *s = arg;

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
put_column(struct hwtdi_firefox *s, uint32_t thread, const char *key,
    enum hwtdi_firefox_column column, struct hwtd_error *err)
{
	const struct hwtdi_spool_reader reader = { take_begin, take_end, s };
	int rc = HWTD_OK;

	hwtdi_json_key(&s->json, key);
	hwtdi_json_begin_array(&s->json);
	s->column = column;
	s->n_path = 0;
	s->since = s->spool.threads[thread].begin;
	if (column <= COLUMN_MARKER_BEGIN || s->n_markers > 0)
		rc = hwtdi_spool_read(&s->spool, thread, &reader, err);
	hwtdi_json_end(&s->json);
	return (rc);
}

static void
put_length(struct hwtdi_firefox *s, size_t n)
{
	hwtdi_json_key(&s->json, "length");
	hwtdi_json_put_u64(&s->json, n);
	hwtdi_json_end(&s->json);
}

static int
put_samples(struct hwtdi_firefox *s, uint32_t thread, struct hwtd_error *err)
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
put_markers(struct hwtdi_firefox *s, uint32_t thread, struct hwtd_error *err)
{
	static const struct {
		const char *key;
		enum hwtdi_firefox_column column;
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
put_table(struct hwtdi_firefox *s, const char *key)
{
	hwtdi_json_newline(&s->json);
	hwtdi_json_key(&s->json, key);
	hwtdi_json_begin_object(&s->json);
}

static void
put_stacks(struct hwtdi_firefox *s)
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

static enum hwtdi_firefox_category
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
put_field(struct hwtdi_firefox *s, const char *key, enum field field)
{
	struct hwtdi_json_writer *j = &s->json;

	hwtdi_json_key(j, key);
	hwtdi_json_begin_array(j);
	for (size_t i = 0; i < s->n_funcs; i++) {
		const struct hwtdi_firefox_func *f = &s->funcs[i];

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
put_functions(struct hwtdi_firefox *s)
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
put_resources(struct hwtdi_firefox *s)
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
put_who(struct hwtdi_firefox *s, uint32_t thread)
{
	const struct hwtdi_spool_thread *t = &s->spool.threads[thread];
	const bool by_insns = s->spool.timeline.threads[thread].by_insns;
	struct hwtdi_json_writer *j = &s->json;
	struct hwtd_call_thread who;
	char name[HWTDI_NAME_BUFFER];
	const char *process;

	hwtdi_timeline_who(&s->spool.timeline, thread, &who, name);
	process = hwtdi_timeline_process(&s->spool.timeline, who.pid);
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
		    s->spool.timeline.by_rows ? "begin or end"
					      : "instruction");
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

void
hwtdi_firefox_reset(struct hwtdi_firefox *s)
{
	s->n_stacks = 0;
	hwtdi_index_fini(&s->stack_index, s->spool.timeline.ctx);
	for (size_t i = 0; i < s->n_funcs; i++)
		s->places[s->funcs[i].name] = 0;
	s->n_funcs = 0;
}

int
hwtdi_firefox_put_thread(struct hwtdi_firefox *s, uint32_t thread,
    struct hwtd_error *err)
{
	int rc;

	hwtdi_firefox_reset(s);
	s->from = hwtdi_spool_from(&s->spool, thread);
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
