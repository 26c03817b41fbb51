/*
 * What an object is made of may be closed before it: the object keeps it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "support/profile_trace.h"

#define STREAMS 2u
#define EDGES HWTD_RUNS_EDGES

static struct hwtd_trace *
make_trace(void)
{
	return (pa_long(NULL, 70, STREAMS, 3000, false));
}

static struct hwtd_runs *
open_runs(struct hwtd_trace *trace)
{
	const struct hwtd_runs_options o = { .size = sizeof(o),
		.flags = EDGES };
	struct hwtd_runs *runs;

	assert_int_equal(hwtd_runs_open(trace, &o, &runs, NULL), HWTD_OK);
	return (runs);
}

static struct hwtd_events *
open_events(struct hwtd_trace *trace)
{
	struct hwtd_events *events;

	assert_int_equal(hwtd_events_open(trace, NULL, &events, NULL),
	    HWTD_OK);
	return (events);
}

/* One step is added, the source is closed, and then something else is. */
static void
a_profile_keeps_what_is_half_added(void **state)
{
	struct hwtd_trace *trace = make_trace();
	struct hwtd_profile *p = pa_create(trace, HWTD_PROFILE_THREADS);
	struct hwtd_profile_info info = { .size = sizeof(info) };
	struct hwtd_calls *calls = pa_open_calls(trace, NULL);
	struct hwtd_runs *runs = open_runs(trace);
	struct hwtd_events *events = open_events(trace);
	struct hwtd_symbolizer *symbolizer;

	(void)state;
	assert_int_equal(hwtd_symbolizer_open(trace, NULL, &symbolizer, NULL),
	    HWTD_OK);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_profile_add_calls(p, calls, NULL), HWTD_OK);
	hwtd_calls_close(calls);
	assert_int_equal(hwtd_profile_add_events(p, events, NULL), HWTD_OK);
	hwtd_events_close(events);
	assert_int_equal(hwtd_profile_add_runs(p, runs, symbolizer, NULL),
	    HWTD_OK);
	hwtd_symbolizer_close(symbolizer);
	hwtd_runs_close(runs);
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
	assert_int_equal(info.seen[HWTD_PROFILE_CALLS].added, 1);
	assert_int_equal(info.seen[HWTD_PROFILE_EVENTS].added, 1);
	hwtd_profile_destroy(p);
}

static void
a_profile_is_destroyed_with_what_is_half_added(void **state)
{
	struct hwtd_trace *trace = make_trace();
	struct hwtd_profile *p = pa_create(trace, 0);
	struct hwtd_calls *calls = pa_open_calls(trace, NULL);

	(void)state;
	assert_int_equal(hwtd_profile_add_calls(p, calls, NULL), HWTD_OK);
	hwtd_calls_close(calls);
	hwtd_trace_close(trace);
	hwtd_profile_destroy(p);
}

static void
a_histogram_keeps_its_calls(void **state)
{
	struct hwtd_trace *trace = make_trace();
	struct hwtd_calls *calls = pa_open_calls(trace, NULL);
	struct hwtd_context *ctx;
	struct hwtd_histogram *h;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_histogram_create(ctx, NULL, &h, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	assert_int_equal(hwtd_histogram_add_calls(h, calls, NULL), HWTD_OK);
	hwtd_calls_close(calls);
	hwtd_trace_close(trace);
	hwtd_histogram_destroy(h);
}

static void
coverage_keeps_its_runs(void **state)
{
	struct hwtd_trace *trace = make_trace();
	struct hwtd_runs *runs = open_runs(trace);
	struct hwtd_context *ctx;
	struct hwtd_coverage *coverage;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_coverage_create(ctx, NULL, &coverage, NULL),
	    HWTD_OK);
	hwtd_context_destroy(ctx);
	assert_int_equal(hwtd_coverage_add_runs(coverage, runs, NULL),
	    HWTD_OK);
	hwtd_runs_close(runs);
	hwtd_trace_close(trace);
	hwtd_coverage_close(coverage);
}

/* Exports. */

struct text {
	char *bytes;
	size_t n;
};

static int
take(void *arg, const void *bytes, size_t n)
{
	struct text *text = arg;

	text->bytes = realloc(text->bytes, text->n + n);
	assert_non_null(text->bytes);
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	return (0);
}

/* All kinds of sources. */
enum source {
	CALLS,
	RUNS,
	EVENTS,
	PROFILE,
	FLAME,
	COVERAGE
};

static const uint32_t formats[] = {
	[CALLS] = HWTD_FORMAT_CHROME,
	[RUNS] = HWTD_FORMAT_AUTOFDO,
	[EVENTS] = HWTD_FORMAT_PERF_SCRIPT,
	[PROFILE] = HWTD_FORMAT_FOLDED,
	[FLAME] = HWTD_FORMAT_FOLDED,
	[COVERAGE] = HWTD_FORMAT_LCOV,
};

union opened {
	struct hwtd_calls *calls;
	struct hwtd_runs *runs;
	struct hwtd_events *events;
	struct hwtd_profile *profile;
	struct hwtd_flame *flame;
	struct hwtd_coverage *coverage;
};

static struct hwtd_profile *
make_profile(struct hwtd_trace *trace)
{
	struct hwtd_profile *p = pa_create(trace, 0);

	pa_calls(p, trace, NULL);
	return (p);
}

static void
open_source(struct hwtd_trace *trace, enum source source, union opened *out)
{
	struct hwtd_profile *p;
	struct hwtd_context *ctx;
	struct hwtd_runs *runs;
	int rc;

	switch (source) {
	case CALLS:
		out->calls = pa_open_calls(trace, NULL);
		break;
	case RUNS:
		out->runs = open_runs(trace);
		break;
	case EVENTS:
		out->events = open_events(trace);
		break;
	case PROFILE:
		out->profile = make_profile(trace);
		break;
	case FLAME:
		p = make_profile(trace);
		assert_int_equal(hwtd_flame_open(p, NULL, &out->flame, NULL),
		    HWTD_OK);
		hwtd_profile_destroy(p);
		break;
	case COVERAGE:
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_coverage_create(ctx, NULL,
				     &out->coverage, NULL),
		    HWTD_OK);
		hwtd_context_destroy(ctx);
		runs = open_runs(trace);
		do
			rc = hwtd_coverage_add_runs(out->coverage, runs, NULL);
		while (rc == HWTD_OK);
		assert_int_equal(rc, HWTD_END);
		hwtd_runs_close(runs);
		break;
	}
}

static void
close_source(enum source source, union opened *opened)
{
	switch (source) {
	case CALLS:
		hwtd_calls_close(opened->calls);
		break;
	case RUNS:
		hwtd_runs_close(opened->runs);
		break;
	case EVENTS:
		hwtd_events_close(opened->events);
		break;
	case PROFILE:
		hwtd_profile_destroy(opened->profile);
		break;
	case FLAME:
		hwtd_flame_close(opened->flame);
		break;
	case COVERAGE:
		hwtd_coverage_close(opened->coverage);
		break;
	}
}

static struct hwtd_export *
open_export(enum source source, const union opened *opened,
    const struct hwtd_format_options *o)
{
	struct hwtd_export *ex = NULL;
	int rc = HWTD_E_INVALID;

	switch (source) {
	case CALLS:
		rc = hwtd_export_open_calls(opened->calls, o, &ex, NULL);
		break;
	case RUNS:
		rc = hwtd_export_open_runs(opened->runs, HWTD_NO_ID, o, &ex,
		    NULL);
		break;
	case EVENTS:
		rc = hwtd_export_open_events(opened->events, HWTD_NO_ID, o,
		    &ex, NULL);
		break;
	case PROFILE:
		rc = hwtd_export_open_profile(opened->profile, o, &ex, NULL);
		break;
	case FLAME:
		rc = hwtd_export_open_flame(opened->flame, o, &ex, NULL);
		break;
	case COVERAGE:
		rc = hwtd_export_open_coverage(opened->coverage, o, &ex, NULL);
		break;
	}
	assert_int_equal(rc, HWTD_OK);
	return (ex);
}

static int
write_source(enum source source, bool close_first, struct text *text)
{
	const struct hwtd_format_options o = { .size = sizeof(o),
		.format = formats[source],
		.write = take,
		.write_arg = text };
	struct hwtd_trace *trace = make_trace();
	struct hwtd_export *ex;
	union opened opened;
	int rc;

	open_source(trace, source, &opened);
	ex = open_export(source, &opened, &o);
	if (close_first) {
		close_source(source, &opened);
		hwtd_trace_close(trace);
	}
	do
		rc = hwtd_export_write(ex, NULL);
	while (rc == HWTD_OK);
	hwtd_export_close(ex);
	if (!close_first) {
		close_source(source, &opened);
		hwtd_trace_close(trace);
	}
	return (rc);
}

static void
an_export_keeps_its_source(void **state)
{
	(void)state;
	for (enum source s = CALLS; s <= COVERAGE; s++) {
		struct text before = { 0 }, after = { 0 };
		int rc = write_source(s, true, &before);

		assert_int_equal(write_source(s, false, &after), rc);
		assert_int_equal(before.n, after.n);
		if (after.n != 0)
			assert_memory_equal(before.bytes, after.bytes,
			    after.n);
		free(before.bytes);
		free(after.bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_keeps_what_is_half_added),
		cmocka_unit_test(
		    a_profile_is_destroyed_with_what_is_half_added),
		cmocka_unit_test(a_histogram_keeps_its_calls),
		cmocka_unit_test(coverage_keeps_its_runs),
		cmocka_unit_test(an_export_keeps_its_source),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
