/*
 * Exports of a profile that is made of counts of code: with lines and inlined
 * functions, without stacks.
 */
#include <string.h>

#include "cli/export/export_source.h"
#include "cli/input/input.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"

struct from_code {
	const struct options *options;
	struct input input;
	bool has_input;
	struct hwtd_runs *runs;
	struct hwtd_profile *profile;
};

static int
open_runs(struct from_code *c)
{
	const struct hwtd_profile_options how = { .size = sizeof(how),
		.flags = HWTD_PROFILE_LINES };
	struct hwtd_runs_options runs = { .size = sizeof(runs) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options events;

	input_events_options(c->options, &events);
	runs.events = &events;
	if (hwtd_runs_open(c->input.trace, &runs, &c->runs, &err) == HWTD_OK &&
	    hwtd_profile_create(c->input.library, &how, &c->profile, &err) ==
		HWTD_OK)
		return (EXIT_DONE);
	return (say_library_error(c->input.name, &err));
}

static int
open_code(void *state, const struct options *options,
    const struct hwtd_format_options *how, const char **name)
{
	struct from_code *c = state;
	int code;

	c->options = options;
	if (how->format != HWTD_FORMAT_PPROF &&
	    how->format != HWTD_FORMAT_CALLGRIND) {
		say_error("--code: this format is made of stacks");
		say_hint("--to pprof and callgrind can do without");
		return (EXIT_BAD_USAGE);
	}
	code = input_open(&c->input, options);
	if (code != EXIT_DONE)
		return (code);
	c->has_input = true;
	*name = c->input.name;
	code = input_check_streams(&c->input, options);
	return (code == EXIT_DONE ? open_runs(c) : code);
}

static int
fill_code(void *state, struct hwtd_error *err)
{
	struct from_code *c = state;

	return (hwtd_profile_add_runs(c->profile, c->runs, NULL, err));
}

static int
begin_code(void *state, const struct hwtd_format_options *how,
    struct hwtd_export **export_out, struct hwtd_error *err)
{
	struct from_code *c = state;

	return (hwtd_export_open_profile(c->profile, how, export_out, err));
}

static uint64_t
bytes_of_code(const void *state)
{
	const struct from_code *c = state;

	return (c->input.info.n_bytes);
}

static uint64_t
bytes_read_of_code(const void *state)
{
	const struct from_code *c = state;
	struct hwtd_runs_info info = { .size = sizeof(info) };

	return (hwtd_runs_info(c->runs, &info) == HWTD_OK ? info.bytes : 0);
}

static int
say_error_of_code(const void *state, const struct hwtd_error *err)
{
	const struct from_code *c = state;

	return (input_say_read_error(&c->input, c->options, err));
}

static int
judge_code(const void *state)
{
	const struct from_code *c = state;
	struct hwtd_runs_info info = { .size = sizeof(info) };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	uint64_t gaps = 0;

	if (hwtd_runs_info(c->runs, &info) != HWTD_OK)
		return (EXIT_FAILED);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += info.gaps[i];
	if (gaps != 0)
		say_warning("%s: %llu gap%s of %llu bytes: what ran there was "
			    "not seen",
		    c->input.name, (unsigned long long)gaps,
		    gaps == 1 ? "" : "s", (unsigned long long)info.gap_bytes);
	stats.bytes = info.bytes;
	stats.gap_bytes = info.gap_bytes;
	stats.file_gap_bytes = info.file_gap_bytes;
	memcpy(stats.gaps, info.gaps, sizeof(stats.gaps));
	return (loss_exit_code(c->input.name, &stats, c->options->max_loss));
}

static void
close_code(void *state)
{
	struct from_code *c = state;

	hwtd_profile_destroy(c->profile);
	hwtd_runs_close(c->runs);
	if (c->has_input)
		input_close(&c->input);
}

const struct export_source export_from_counts = {
	.state_bytes = sizeof(struct from_code),
	.open = open_code,
	.fill = fill_code,
	.begin = begin_code,
	.bytes = bytes_of_code,
	.bytes_read = bytes_read_of_code,
	.say_error = say_error_of_code,
	.judge = judge_code,
	.close = close_code,
};
