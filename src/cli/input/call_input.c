/*
 * The calls that a command reads.
 */
#include <string.h>

#include "cli/input/call_input.h"
#include "cli/output/interrupt.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/output/output_guard.h"
#include "cli/input/spool.h"

static struct hwtd_calls_options
options_of(const struct options *o, uint32_t flags)
{
	return ((struct hwtd_calls_options){
	    .size = sizeof(struct hwtd_calls_options),
	    .flags = flags |
		(o->no_interpolation ? HWTD_CALLS_NO_INTERPOLATION : 0) });
}

/* Of text no rows can be chosen, and nothing of it is decoded. */
static int
check_text_options(const struct options *o, const char *name)
{
	if (o->times.n + o->cpus.n + o->tids.n + o->pids.n + o->streams.n ==
		0 &&
	    o->engine == NULL && !o->strict)
		return (EXIT_DONE);
	say_error("%s: of text all rows are read", name);
	say_hint("leave out --time, --cpu, --tid, --pid, --stream, --engine "
		 "and --strict");
	return (EXIT_BAD_USAGE);
}

/* HWTD_E_UNRECOGNIZED where it is no text is for the caller to tell. */
static int
open_text(struct call_input *in, const char *path, uint32_t flags,
    struct hwtd_error *err)
{
	const struct hwtd_calls_options how = options_of(in->options, flags);
	const struct hwtd_context_options
	    limits = library_options(in->options);
	int rc = hwtd_context_create(&limits, &in->library, err);

	return (rc != HWTD_OK ? rc
			      : hwtd_calls_open_text(in->library, path, &how,
				    &in->calls, err));
}

static int
open_trace(struct call_input *in, uint32_t flags)
{
	struct hwtd_calls_options how = options_of(in->options, flags);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options events;
	int code = input_open(&in->input, in->options);

	if (code != EXIT_DONE)
		return (code);
	in->has_trace = true;
	in->name = in->input.name;
	code = input_check_streams(&in->input, in->options);
	if (code != EXIT_DONE)
		return (code);
	input_events_options(in->options, &events);
	how.events = &events;
	if (hwtd_calls_open(in->input.trace, &how, &in->calls, &err) !=
	    HWTD_OK)
		return (say_library_error(in->name, &err));
	return (EXIT_DONE);
}

int
call_input_open(struct call_input *in, const struct options *options,
    uint32_t flags)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const char *path = options->operands[0];
	const bool standard = strcmp(path, "-") == 0;
	int rc = guard_inputs(options);

	*in = (struct call_input){ .options = options,
		.name = standard ? "standard input" : path };
	/* Text is an input, too. */
	if (rc != EXIT_DONE)
		return (rc);
	if (standard && !options->text_input)
		return (open_trace(in, flags));
	if (standard) {
		path = in->spooled = spool_standard_input();
		if (path == NULL)
			return (interrupt_seen() ? EXIT_INTERRUPTED
						 : EXIT_FAILED);
	}
	rc = open_text(in, path, flags, &err);
	if (rc == HWTD_OK)
		return (check_text_options(options, in->name));
	/* Whatever it is, or is not, a trace is what it should be. */
	if (!options->text_input && rc != HWTD_E_NOMEM)
		return (open_trace(in, flags));
	error_drop_path(&err, path);
	rc = say_library_error(in->name, &err);
	return (err.code == HWTD_E_UNRECOGNIZED ? EXIT_BAD_INPUT : rc);
}

void
call_input_close(struct call_input *in)
{
	hwtd_calls_close(in->calls);
	if (in->has_trace)
		input_close(&in->input);
	hwtd_context_destroy(in->library);
	spool_remove(in->spooled);
}

uint64_t
call_input_bytes(const struct call_input *in)
{
	return (in->has_trace ? in->input.info.n_bytes : 0);
}

uint64_t
call_input_bytes_read(const struct call_input *in)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };

	return (hwtd_calls_info(in->calls, &info) == HWTD_OK ? info.bytes : 0);
}

int
call_input_say_error(const struct call_input *in, const struct hwtd_error *err)
{
	return (in->has_trace
		? input_say_read_error(&in->input, in->options, err)
		: say_library_error(in->name, err));
}

int
call_input_judge(const struct call_input *in)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (hwtd_calls_info(in->calls, &info) != HWTD_OK)
		return (EXIT_FAILED);
	if (info.bad_lines == 1)
		say_warning("%s: 1 line is none that perf-script(1) writes: "
			    "line %llu",
		    in->name, (unsigned long long)info.first_bad_line);
	else if (info.bad_lines != 0)
		say_warning("%s: %llu lines are none that perf-script(1) "
			    "writes, the first is line %llu",
		    in->name, (unsigned long long)info.bad_lines,
		    (unsigned long long)info.first_bad_line);
	if (info.limited != 0)
		say_warning("%s: %llu calls were ended because too many were "
			    "open",
		    in->name, (unsigned long long)info.limited);
	stats.bytes = info.bytes;
	stats.gap_bytes = info.gap_bytes;
	stats.file_gap_bytes = info.file_gap_bytes;
	memcpy(stats.gaps, info.gaps, sizeof(stats.gaps));
	return (loss_exit_code(in->name, &stats, in->options->max_loss));
}
