/*
 * Reading what a report is made of: counts of code, rows, or calls.
 */
#include "cli/input/input.h"
#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/output/output_guard.h"
#include "cli/output/progress.h"
#include "cli/options/report_options.h"
#include "cli/print/report_table.h"
#include "cli/input/spool.h"

/* One input on its way into the profile. */
struct reading {
	struct report *report;
	const struct options *options;
	const char *name;
	struct input input;
	bool has_input;
	char *spooled;
	struct progress progress;
	struct hwtd_calls *calls;
	struct hwtd_runs *runs;
	struct hwtd_events *events;
};

static uint64_t
bytes_read(const struct reading *r)
{
	struct hwtd_calls_info calls = { .size = sizeof(calls) };
	struct hwtd_runs_info runs = { .size = sizeof(runs) };
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (r->calls != NULL && hwtd_calls_info(r->calls, &calls) == HWTD_OK)
		return (calls.bytes);
	if (r->runs != NULL && hwtd_runs_info(r->runs, &runs) == HWTD_OK)
		return (runs.bytes);
	if (r->events != NULL &&
	    hwtd_events_stats(r->events, &stats) == HWTD_OK)
		return (stats.bytes);
	return (0);
}

static int
step(struct reading *r, struct hwtd_error *err)
{
	struct hwtd_profile *profile = r->report->profile;

	return (r->calls != NULL
		? hwtd_profile_add_calls(profile, r->calls, err)
		: r->runs != NULL
		? hwtd_profile_add_runs(profile, r->runs, NULL, err)
		: hwtd_profile_add_events(profile, r->events, err));
}

/* Whose time and instructions are those of their callers then. */
static void
warn_of_limit(const struct reading *r)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };

	if (r->calls != NULL && hwtd_calls_info(r->calls, &info) == HWTD_OK &&
	    info.limited != 0)
		say_warning("%s: %llu calls were ended because too many were "
			    "open",
		    r->name, (unsigned long long)info.limited);
}

static int
read_all(struct reading *r)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int code = EXIT_DONE, rc;

	progress_start(&r->progress, r->options->progress,
	    r->has_input ? r->input.info.n_bytes : 0);
	while ((rc = step(r, &err)) == HWTD_OK && !interrupt_seen())
		if (progress_due(&r->progress))
			progress_show(&r->progress, bytes_read(r));
	progress_end(&r->progress);
	warn_of_limit(r);
	if (rc == HWTD_OK)
		code = EXIT_INTERRUPTED;
	else if (rc != HWTD_END)
		code = r->has_input
		    ? input_say_read_error(&r->input, r->options, &err)
		    : say_library_error(r->name, &err);
	return (code);
}

/* Text. */

static struct hwtd_calls_options
calls_options(const struct options *o)
{
	return ((struct hwtd_calls_options){
	    .size = sizeof(struct hwtd_calls_options),
	    .flags = HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS |
		(o->no_interpolation ? HWTD_CALLS_NO_INTERPOLATION : 0) });
}

/* Of text no rows can be chosen, and nothing of it is decoded. */
static int
check_text_options(const struct options *o, const char *name)
{
	if (o->times.n + o->cpus.n + o->tids.n + o->pids.n + o->streams.n !=
		0 ||
	    o->engine != NULL || o->strict) {
		say_error("%s: of text all rows are read", name);
		say_hint("leave out --time, --cpu, --tid, --pid, --stream, "
			 "--engine and --strict");
		return (EXIT_BAD_USAGE);
	}
	if (o->report_by != HWTD_PROFILE_BY_FUNCTION &&
	    o->report_by != HWTD_PROFILE_BY_IMAGE &&
	    o->report_by != HWTD_PROFILE_BY_THREAD) {
		say_error("%s: --by %s needs code, which text has not", name,
		    hwtd_profile_by_name(o->report_by));
		say_hint("say --by function, image or thread");
		return (EXIT_BAD_USAGE);
	}
	if (o->has_report_sort && o->report_sort == REPORT_BY_ENTERED) {
		say_error("%s: --sort entered needs code, which text has not",
		    name);
		say_hint("say --sort calls");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

/* Lines that say nothing would be missed without a word. */
static void
warn_of_lines(const struct reading *r)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };

	if (hwtd_calls_info(r->calls, &info) == HWTD_OK && info.bad_lines != 0)
		say_warning("%s: %llu of %llu lines are none that "
			    "perf-script(1) writes, the first is line %llu",
		    r->name, (unsigned long long)info.bad_lines,
		    (unsigned long long)info.lines,
		    (unsigned long long)info.first_bad_line);
}

/* Counts of code and calls are not of one table. */
static int
check_mixture(const struct reading *r, bool is_text)
{
	struct report *report = r->report;

	if (is_text)
		report->has_text = true;
	else if (!report_follows_calls(r->options))
		report->has_code = true;
	if (!report->has_text || !report->has_code)
		return (EXIT_DONE);
	say_error("%s: text tells calls, and of traces code is counted",
	    r->name);
	say_hint("say --calls, or make a report of each");
	return (EXIT_BAD_USAGE);
}

static int
read_text(struct reading *r)
{
	int code = check_text_options(r->options, r->name);

	if (code == EXIT_DONE)
		code = check_mixture(r, true);
	if (code == EXIT_DONE)
		code = read_all(r);
	if (code == EXIT_DONE)
		warn_of_lines(r);
	return (code);
}

/* Traces. */

static int
open_source(struct reading *r, const struct hwtd_events_options *events,
    struct hwtd_error *err)
{
	const struct options *o = r->options;
	struct hwtd_trace *trace = r->input.trace;
	struct hwtd_calls_options calls = calls_options(o);
	const struct hwtd_runs_options runs = { .size = sizeof(runs),
		.flags = o->callers != NULL || o->callees != NULL
		    ? HWTD_RUNS_EDGES
		    : 0,
		.events = events };

	if (report_follows_calls(o)) {
		calls.events = events;
		return (hwtd_calls_open(trace, &calls, &r->calls, err));
	}
	if (o->report_by == HWTD_PROFILE_BY_THREAD ||
	    o->report_by == HWTD_PROFILE_BY_CPU)
		return (hwtd_events_open(trace, events, &r->events, err));
	return (hwtd_runs_open(trace, &runs, &r->runs, err));
}

static int
read_trace(struct reading *r)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options events;
	int code = input_open(&r->input, r->options);

	if (code != EXIT_DONE)
		return (code);
	r->has_input = true;
	r->name = r->input.name;
	code = input_check_streams(&r->input, r->options);
	if (code != EXIT_DONE)
		return (code);
	code = check_mixture(r, false);
	if (code != EXIT_DONE)
		return (code);
	input_events_options(r->options, &events);
	events.level = HWTD_LEVEL_BLOCK;
	if (open_source(r, &events, &err) != HWTD_OK)
		return (say_library_error(r->name, &err));
	return (read_all(r));
}

static int
read_one(struct reading *r)
{
	const struct hwtd_calls_options calls = calls_options(r->options);
	struct hwtd_error err = { .size = sizeof(err) };
	const char *path = r->options->operands[0];
	const bool standard = strcmp(path, "-") == 0;
	int rc;

	r->name = standard ? "standard input" : path;
	if (standard && !r->options->text_input)
		return (read_trace(r));
	if (standard) {
		path = r->spooled = spool_standard_input();
		if (path == NULL)
			return (interrupt_seen() ? EXIT_INTERRUPTED
						 : EXIT_FAILED);
	}
	rc = hwtd_calls_open_text(r->report->library, path, &calls, &r->calls,
	    &err);
	if (rc == HWTD_OK)
		return (read_text(r));
	/* Whatever it is, or is not, a trace is what it should be. */
	if (!r->options->text_input && rc != HWTD_E_NOMEM)
		return (read_trace(r));
	error_drop_path(&err, path);
	rc = say_library_error(r->name, &err);
	return (err.code == HWTD_E_UNRECOGNIZED ? EXIT_BAD_INPUT : rc);
}

static void
close_one(struct reading *r)
{
	hwtd_calls_close(r->calls);
	hwtd_runs_close(r->runs);
	hwtd_events_close(r->events);
	if (r->has_input)
		input_close(&r->input);
	spool_remove(r->spooled);
}

int
report_read(struct report *report)
{
	const struct options *options = report->options;
	int code = guard_inputs(options);

	for (size_t i = 0; i < options->n_operands && code == EXIT_DONE; i++) {
		struct options one = *options;
		struct reading r = { .report = report, .options = &one };

		one.operands = options->operands + i;
		one.n_operands = 1;
		code = read_one(&r);
		/* What was read of it is used while it is still open. */
		if (code == EXIT_INTERRUPTED)
			(void)hwtd_profile_info(report->profile,
			    &report->info);
		close_one(&r);
	}
	return (code);
}
