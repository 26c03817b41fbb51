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

#include "export/calls/firefox_thread.h"

#define FORMAT_VERSION 56
/* Of a begin or end, about, in the file. */
#define EVENT_BYTES 34u

static const struct {
	const char *name, *color;
} categories[CATEGORIES] = {
	[CATEGORY_OTHER] = { "Other", "grey" },
	[CATEGORY_CODE] = { "Code", "blue" },
	[CATEGORY_UNTRACED] = { "Not traced by choice", "purple" },
	[CATEGORY_GAP] = { "Not traced", "red" },
};

static void
put_meta(struct hwtdi_firefox *s)
{
	struct hwtdi_json_writer *j = &s->json;

	hwtdi_json_key(j, "meta");
	hwtdi_json_begin_object(j);
	hwtdi_json_key(j, "preprocessedProfileVersion");
	hwtdi_json_put_u64(j, FORMAT_VERSION);
	hwtdi_json_key(j, "version");
	hwtdi_json_put_u64(j, 31);
	hwtdi_json_key(j, "interval");
	hwtdi_json_put_decimal(j, 1, HWTDI_FIREFOX_DIGITS);
	hwtdi_json_key(j, "startTime");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "processType");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "stackwalk");
	hwtdi_json_put_u64(j, 0);
	hwtdi_json_key(j, "product");
	hwtdi_json_put_text(j, s->spool.timeline.ex->options.title);
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
put_shared(struct hwtdi_firefox *s)
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
	struct hwtdi_firefox *s = arg;

	hwtdi_firefox_reset(s);
	hwtdi_text_pool_fini(&s->texts, s->spool.timeline.ctx);
	for (size_t i = 0; i < s->n_libs; i++)
		s->lib_places[s->libs[i]] = 0;
	s->n_libs = 0;
	return (hwtdi_firefox_text(s, "Not traced", &s->gap_text, err));
}

static int
put_file(void *arg, struct hwtd_error *err)
{
	struct hwtdi_firefox *s = arg;
	struct hwtdi_json_writer *j = &s->json;
	int rc = HWTD_OK;

	hwtdi_json_begin(j, &s->spool.timeline.ex->sink);
	hwtdi_json_begin_object(j);
	put_meta(s);
	hwtdi_json_key(j, "threads");
	hwtdi_json_begin_array(j);
	for (uint32_t i = 0; i < s->spool.n_threads && rc == HWTD_OK; i++)
		if (hwtdi_spool_has(&s->spool, i))
			rc = hwtdi_firefox_put_thread(s, i, err);
	hwtdi_json_end(j);
	put_shared(s);
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
firefox_open(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct hwtdi_firefox *s = ex->state;

	return (hwtdi_spool_init(&s->spool, ex, &spool_ops, s, err));
}

static void
firefox_close(struct hwtd_export *ex)
{
	struct hwtdi_firefox *s = ex->state;
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
}

const struct hwtdi_exporter_ops hwtdi_firefox_ops = {
	.format = HWTD_FORMAT_FIREFOX,
	.source = HWTD_SOURCE_CALLS,
	.name = "firefox",
	.suffixes = ".firefox.json .profile.json",
	.viewer = "profiler.firefox.com",
	/* Twice as much and more, once its tables are there as JavaScript's. */
	.viewer_bytes = 250000000,
	.state_bytes = sizeof(struct hwtdi_firefox),
	.open = firefox_open,
	.step = hwtdi_timeline_step,
	.close = firefox_close,
};
