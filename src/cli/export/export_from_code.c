/*
 * Exports that are made of runs of code, and of rows of events: for compilers.
 */
#include <string.h>

#include "cli/export/export_program.h"
#include "cli/export/export_source.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"

struct code {
	const struct options *options;
	struct input input;
	bool has_input;
	uint32_t image;
	/* One of them. */
	struct hwtd_runs *runs;
	struct hwtd_events *events;
	/* The command closes it when all is said. */
	const struct hwtd_export *export;
};

static int
open_input(struct code *c, const struct options *options, const char **name)
{
	int code;

	c->options = options;
	code = input_open(&c->input, options);
	if (code != EXIT_DONE)
		return (code);
	c->has_input = true;
	*name = c->input.name;
	code = input_check_streams(&c->input, options);
	if (code == EXIT_DONE)
		code = export_program_find(&c->input, options, &c->image);
	return (code);
}

static int
open_runs(void *state, const struct options *options,
    const struct hwtd_format_options *how, const char **name)
{
	struct code *c = state;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options events;
	const struct hwtd_runs_options runs = { .size = sizeof(runs),
		.flags = HWTD_RUNS_EDGES,
		.events = &events };
	const int code = open_input(c, options, name);

	(void)how;
	if (code != EXIT_DONE)
		return (code);
	input_events_options(options, &events);
	if (hwtd_runs_open(c->input.trace, &runs, &c->runs, &err) != HWTD_OK)
		return (say_library_error(c->input.name, &err));
	return (EXIT_DONE);
}

static int
open_events(void *state, const struct options *options,
    const struct hwtd_format_options *how, const char **name)
{
	struct code *c = state;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options events;
	const int code = open_input(c, options, name);

	(void)how;
	if (code != EXIT_DONE)
		return (code);
	input_events_options(options, &events);
	events.level = HWTD_LEVEL_BLOCK;
	events.kinds = 1u << HWTD_EV_BLOCK | 1u << HWTD_EV_GAP;
	if (hwtd_events_open(c->input.trace, &events, &c->events, &err) !=
	    HWTD_OK)
		return (say_library_error(c->input.name, &err));
	return (EXIT_DONE);
}

/* All is counted before anything is written. */
static int
fill(void *state, struct hwtd_error *err)
{
	struct code *c = state;

	return (hwtd_runs_count(c->runs, err));
}

static int
begin(void *state, const struct hwtd_format_options *how,
    struct hwtd_export **export_out, struct hwtd_error *err)
{
	struct code *c = state;
	const int rc = c->runs != NULL
	    ? hwtd_export_open_runs(c->runs, c->image, how, export_out, err)
	    : hwtd_export_open_events(c->events, c->image, how, export_out,
		  err);

	c->export = rc == HWTD_OK ? *export_out : NULL;
	return (rc);
}

/* What was seen so far. */
static void
stats_of(const struct code *c, struct hwtd_stats *stats)
{
	struct hwtd_runs_info info = { .size = sizeof(info) };

	*stats = (struct hwtd_stats){ .size = sizeof(*stats) };
	if (c->events != NULL) {
		(void)hwtd_events_stats(c->events, stats);
		return;
	}
	if (hwtd_runs_info(c->runs, &info) != HWTD_OK)
		return;
	stats->bytes = info.bytes;
	stats->gap_bytes = info.gap_bytes;
	stats->file_gap_bytes = info.file_gap_bytes;
	memcpy(stats->gaps, info.gaps, sizeof(stats->gaps));
}

static uint64_t
bytes(const void *state)
{
	const struct code *c = state;

	return (c->input.info.n_bytes);
}

static uint64_t
bytes_read(const void *state)
{
	struct hwtd_stats stats;

	stats_of(state, &stats);
	return (stats.bytes);
}

static int
say_read_error(const void *state, const struct hwtd_error *err)
{
	const struct code *c = state;

	if (err->code != HWTD_E_NOT_FOUND && err->code != HWTD_E_UNSUPPORTED)
		return (input_say_read_error(&c->input, c->options, err));
	say_library_message(c->input.name, err);
	say_hint("--program names another program or library; --root and "
		 "--module-dir say where its file is");
	return (EXIT_FAILED);
}

static int
judge(const void *state)
{
	const struct code *c = state;
	struct hwtd_compiler_info info = { .size = sizeof(info) };
	struct hwtd_stats stats;
	uint64_t gaps = 0;

	stats_of(c, &stats);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += stats.gaps[i];
	if (gaps != 0)
		say_warning("%s: %llu gap%s of %llu bytes: what ran there is "
			    "not counted",
		    c->input.name, (unsigned long long)gaps,
		    gaps == 1 ? "" : "s", (unsigned long long)stats.gap_bytes);
	if (hwtd_export_compiler_info(c->export, &info) == HWTD_OK)
		export_program_note(&c->input, &info);
	return (loss_exit_code(c->input.name, &stats, c->options->max_loss));
}

static void
close_code(void *state)
{
	struct code *c = state;

	hwtd_runs_close(c->runs);
	hwtd_events_close(c->events);
	if (c->has_input)
		input_close(&c->input);
}

const struct export_source export_from_runs = {
	.state_bytes = sizeof(struct code),
	.open = open_runs,
	.fill = fill,
	.begin = begin,
	.bytes = bytes,
	.bytes_read = bytes_read,
	.say_error = say_read_error,
	.judge = judge,
	.close = close_code,
};

const struct export_source export_from_events = {
	.state_bytes = sizeof(struct code),
	.open = open_events,
	.begin = begin,
	.bytes = bytes,
	.bytes_read = bytes_read,
	.say_error = say_read_error,
	.judge = judge,
	.close = close_code,
};
