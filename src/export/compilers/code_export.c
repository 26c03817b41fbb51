/*
 * Exports for compilers: opening, and what those of runs have in common.
 */
#include "export/compilers/code_export.h"

#include "analysis/runs/run_source.h"
#include "base/fail.h"
#include "event/cursor.h"
#include "export/compilers/code_base.h"

/* Lines that one step writes. */
#define LINES 4096

#define MOST ((uint64_t)INT64_MAX)

uint64_t
hwtdi_code_export_count(struct hwtdi_code_export *s, uint64_t count)
{
	if (count <= MOST)
		return (count);
	s->told.info.flags |= HWTD_COMPILERF_SATURATED;
	return (MOST);
}

static int
make_profile(struct hwtd_export *ex, const struct hwtdi_code_writer *writer,
    struct hwtd_error *err)
{
	struct hwtdi_code_export *s = ex->state;
	int rc;

	rc = hwtdi_code_profile_init(&s->profile, ex->source.runs,
	    ex->source.image, writer->with_flows, err);
	if (rc != HWTD_OK)
		return (rc);
	s->counted = true;
	s->told.info = s->profile.info;
	s->told.info.base = hwtdi_code_base(&s->profile.layout,
	    ex->ops->format);
	if (writer->begin != NULL)
		writer->begin(ex, s);
	return (HWTD_OK);
}

int
hwtdi_code_export_step(struct hwtd_export *ex,
    const struct hwtdi_code_writer *writer, struct hwtd_error *err)
{
	struct hwtdi_code_export *s = ex->state;
	int rc;

	if (!s->counted) {
		if (ex->stopped)
			return (hwtdi_fail(err, HWTD_E_STATE,
			    "stopped before all code was counted"));
		rc = hwtd_runs_count(ex->source.runs, err);
		return (rc == HWTD_END ? make_profile(ex, writer, err) : rc);
	}
	rc = HWTD_OK;
	for (size_t i = 0; i < LINES && rc == HWTD_OK; i++)
		if (!writer->put(ex, s, s->line++))
			rc = HWTD_END;
	ex->info.rows = s->told.info.n_ranges + s->told.info.n_branches;
	return (rc);
}

void
hwtdi_code_export_close(struct hwtd_export *ex)
{
	struct hwtdi_code_export *s = ex->state;

	hwtdi_code_profile_fini(&s->profile);
}

/* The public interface. */

int
hwtdi_compiler_image_check(const struct hwtd_trace *trace, uint32_t image,
    struct hwtd_error *err)
{
	struct hwtd_image_info info = { .size = sizeof(info) };

	if (image == HWTD_NO_ID ||
	    hwtd_trace_image(trace, image, &info) == HWTD_OK)
		return (HWTD_OK);
	return (hwtdi_fail(err, HWTD_E_NOT_FOUND, "no image %u", image));
}

static int
open_source(uint32_t kind, const struct hwtdi_export_source *source,
    const struct hwtd_format_options *opts, struct hwtd_export **out,
    struct hwtd_error *err)
{
	int rc = hwtdi_compiler_image_check(source->trace, source->image, err);

	if (rc == HWTD_OK)
		rc = hwtdi_export_open(hwtdi_trace_library(source->trace),
		    kind, source, opts, out, err);
	return (rc);
}

int
hwtd_export_open_runs(struct hwtd_runs *runs, uint32_t image,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err)
{
	struct hwtdi_export_source source = { .runs = runs, .image = image };

	if (runs == NULL || opts == NULL || export_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (!hwtdi_runs_have_edges(runs))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "runs were opened without edges"));
	source.trace = hwtdi_runs_trace(runs);
	return (open_source(HWTD_SOURCE_RUNS, &source, opts, export_out, err));
}

int
hwtd_export_open_events(struct hwtd_events *events, uint32_t image,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err)
{
	struct hwtdi_export_source source = { .events = events,
		.image = image };

	if (events == NULL || opts == NULL || export_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	source.trace = hwtdi_events_trace(events);
	return (open_source(HWTD_SOURCE_EVENTS, &source, opts, export_out,
	    err));
}

int
hwtd_export_compiler_info(const struct hwtd_export *ex,
    struct hwtd_compiler_info *out)
{
	const struct hwtdi_compiler_state *state;

	if (ex == NULL || out == NULL ||
	    (ex->ops->source != HWTD_SOURCE_RUNS &&
		ex->ops->source != HWTD_SOURCE_EVENTS))
		return (HWTD_E_INVALID);
	state = ex->state;
	return (hwtdi_result_copy(out, &state->info, sizeof(state->info)));
}
