/*
 * Exports: the formats there are, and what all of them have in common.
 */
#include "export/export.h"

#include <string.h>

#include "analysis/calls/call_source.h"
#include "analysis/coverage/coverage_internal.h"
#include "analysis/profile/flame_tree.h"
#include "analysis/profile/profile_store.h"
#include "analysis/runs/run_source.h"
#include "base/fail.h"
#include "event/cursor.h"
#include "export/compilers/code_export.h"
#include "export/formats.h"
#include "export/lcov.h"
#include "trace/trace_model.h"

/* One line for each format, in the order that users see; NULL ends it. */
static const struct hwtdi_exporter_ops *const exporters[] = {
	&hwtdi_folded_ops,
	&hwtdi_flame_svg_ops,
	&hwtdi_pprof_ops,
	&hwtdi_callgrind_ops,
	&hwtdi_speedscope_sampled_ops,
	&hwtdi_perfetto_ops,
	&hwtdi_chrome_ops,
	&hwtdi_speedscope_ops,
	&hwtdi_firefox_ops,
	&hwtdi_llvm_unsymbolized_ops,
	&hwtdi_autofdo_ops,
	&hwtdi_bolt_ops,
	&hwtdi_bolt_legacy_ops,
	&hwtdi_perf_script_ops,
	&hwtdi_export_lcov,
	NULL,
};

#define ALL_FLAGS                                                             \
	(HWTD_EXPORT_GZIP | HWTD_EXPORT_DETAILS | HWTD_EXPORT_COUNTERS |      \
	    HWTD_EXPORT_ICICLE)

static const struct hwtdi_exporter_ops *
ops_of(uint32_t format)
{
	size_t i = 0;

	while (exporters[i] != NULL && exporters[i]->format != format)
		i++;
	return (exporters[i]);
}

static const char *
source_text(uint32_t source)
{
	switch (source) {
	case HWTD_SOURCE_PROFILE:
		return ("a profile");
	case HWTD_SOURCE_CALLS:
		return ("calls");
	case HWTD_SOURCE_RUNS:
		return ("runs");
	case HWTD_SOURCE_EVENTS:
		return ("events");
	case HWTD_SOURCE_COVERAGE:
		return ("coverage");
	default:
		return ("nothing that is known");
	}
}

static int
check_options(const struct hwtd_format_options *o, uint32_t kind,
    const struct hwtdi_exporter_ops **ops_out, struct hwtd_error *err)
{
	const struct hwtdi_exporter_ops *ops = ops_of(o->format);

	if (ops == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no format %u",
		    o->format));
	if (ops->source != kind)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "format %s is made of %s, not of %s", ops->name,
		    source_text(ops->source), source_text(kind)));
	if (o->write == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no function that writes"));
	if ((o->flags & ~(uint32_t)ALL_FLAGS) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "flags %#x",
		    o->flags));
	if (o->value > HWTD_VALUE_CALLS)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no value %u",
		    o->value));
	if (o->split_bytes != 0 && o->next == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no function that begins the next file, for files of %llu "
		    "bytes",
		    (unsigned long long)o->split_bytes));
	*ops_out = ops;
	return (HWTD_OK);
}

static int
make(struct hwtd_export *ex, const struct hwtd_format_options *o,
    struct hwtd_error *err)
{
	const struct hwtdi_exporter_ops *ops = ex->ops;

	ex->options = *o;
	ex->options.title = hwtdi_strdup(ex->ctx,
	    o->title != NULL ? o->title : "");
	if (ex->options.title == NULL)
		return (hwtdi_fail_nomem(err,
		    o->title != NULL ? strlen(o->title) + 1 : 1));
	ex->state = hwtdi_zalloc(ex->ctx, ops->state_bytes);
	if (ex->state == NULL)
		return (hwtdi_fail_nomem(err, ops->state_bytes));
	return (hwtdi_sink_init(&ex->sink, ex->ctx, o->write, o->next,
	    o->write_arg, ops->packed || (o->flags & HWTD_EXPORT_GZIP) != 0,
	    err));
}

/* What it writes of stays while it is there. */
static void
hold_source(struct hwtdi_export_source *source)
{
	if (source->calls != NULL)
		(void)hwtdi_calls_hold(source->calls);
	if (source->runs != NULL)
		(void)hwtdi_runs_hold(source->runs);
	if (source->events != NULL)
		(void)hwtdi_events_hold(source->events);
	if (source->trace != NULL)
		(void)hwtdi_trace_hold(source->trace);
	if (source->profile != NULL)
		(void)hwtdi_profile_hold(source->profile);
	if (source->flame != NULL)
		(void)hwtdi_flame_hold(source->flame);
	if (source->coverage != NULL)
		(void)hwtdi_coverage_hold(source->coverage);
}

static void
drop_source(struct hwtdi_export_source *source)
{
	hwtd_calls_close(source->calls);
	hwtd_runs_close(source->runs);
	hwtd_events_close(source->events);
	hwtd_trace_close(source->trace);
	hwtd_profile_destroy(source->profile);
	hwtd_flame_close(source->flame);
	hwtd_coverage_close(source->coverage);
}

static void
unmake(struct hwtd_export *ex)
{
	struct hwtd_context *ctx = ex->ctx;

	drop_source(&ex->source);

	hwtdi_sink_fini(&ex->sink);
	if (ex->state != NULL)
		hwtdi_free(ctx, ex->state, ex->ops->state_bytes);
	if (ex->options.title != NULL) {
		char *title;

		/* It is a copy. */
		memcpy(&title, &ex->options.title, sizeof(title));
		hwtdi_strfree(ctx, title);
	}
	hwtdi_free(ctx, ex, sizeof(*ex));
	hwtd_context_destroy(ctx);
}

int
hwtdi_export_open(struct hwtd_context *ctx, uint32_t kind,
    const struct hwtdi_export_source *source,
    const struct hwtd_format_options *opts, struct hwtd_export **out,
    struct hwtd_error *err)
{
	const struct hwtdi_exporter_ops *ops = NULL;
	struct hwtd_format_options o;
	struct hwtd_export *ex;
	int rc = hwtdi_options_copy(&o, sizeof(o), opts, err);

	if (rc == HWTD_OK)
		rc = check_options(&o, kind, &ops, err);
	if (rc != HWTD_OK)
		return (rc);
	ex = hwtdi_zalloc(ctx, sizeof(*ex));
	if (ex == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*ex)));
	ex->ctx = hwtdi_context_hold(ctx);
	ex->ops = ops;
	ex->source = *source;
	hold_source(&ex->source);
	ex->info.format = ops->format;
	ex->info.viewer_bytes = ops->viewer_bytes;
	rc = make(ex, &o, err);
	if (rc == HWTD_OK && ops->open != NULL)
		rc = ops->open(ex, err);
	if (rc != HWTD_OK) {
		unmake(ex);
		return (rc);
	}
	*out = ex;
	return (HWTD_OK);
}

int
hwtd_export_write(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct hwtd_error inner;

	if (ex == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no export"));
	if (ex->rc == HWTD_END)
		return (HWTD_END);
	if (ex->rc != HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_STATE, "writing failed"));
	hwtdi_error_begin(&inner);
	ex->rc = ex->ops->step(ex, &inner);
	/* What could not be written comes before what could not be read. */
	if (ex->sink.rc != HWTD_OK)
		ex->rc = hwtdi_sink_flush(&ex->sink, &inner);
	else if (ex->rc == HWTD_END &&
	    hwtdi_sink_end_file(&ex->sink, &inner) != HWTD_OK)
		ex->rc = inner.code;
	if (ex->rc < 0)
		return (hwtdi_fail_pass(err, &inner));
	return (ex->rc);
}

void
hwtd_export_stop(struct hwtd_export *ex)
{
	if (ex != NULL)
		ex->stopped = true;
}

int
hwtd_export_info(const struct hwtd_export *ex, struct hwtd_export_info *out)
{
	struct hwtd_export_info info;

	if (ex == NULL || out == NULL)
		return (HWTD_E_INVALID);
	info = ex->info;
	info.bytes = ex->sink.written;
	info.files = ex->sink.files;
	info.largest_file = ex->sink.file_put > ex->sink.largest_file
	    ? ex->sink.file_put
	    : ex->sink.largest_file;
	if (info.viewer_bytes != 0 && info.largest_file > info.viewer_bytes)
		info.flags |= HWTD_EXPORTF_VIEWER_LIMIT;
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

void
hwtd_export_close(struct hwtd_export *ex)
{
	if (ex == NULL)
		return;
	if (ex->ops->close != NULL)
		ex->ops->close(ex);
	unmake(ex);
}

int
hwtd_export_format_info(size_t index, struct hwtd_export_format_info *out)
{
	struct hwtd_export_format_info info = { .size = sizeof(info) };
	const struct hwtdi_exporter_ops *ops;

	if (out == NULL)
		return (HWTD_E_INVALID);
	for (size_t i = 0; i <= index; i++)
		if (exporters[i] == NULL)
			return (HWTD_END);
	ops = exporters[index];
	info.format = ops->format;
	info.source = ops->source;
	info.name = ops->name;
	info.suffixes = ops->suffixes;
	info.viewer = ops->viewer;
	info.viewer_bytes = ops->viewer_bytes;
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}
