/*
 * hwtdecode calls: which function called which, when, and for how long.
 */
#include <stdlib.h>

#include "cli/call_writer.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/loss.h"
#include "cli/message.h"
#include "cli/output_guard.h"
#include "cli/progress.h"
#include "cli/spool.h"

#define BATCH_ROWS 512

struct reading {
	const struct options *options;
	const char *name;
	struct hwtd_calls *calls;
	/* Of a trace, or of text. */
	struct input input;
	bool has_input;
	struct hwtd_context *library;
	char *spooled;
	struct progress progress;
};

static struct hwtd_calls_options
options_of(const struct options *o)
{
	return ((struct hwtd_calls_options){
	    .size = sizeof(struct hwtd_calls_options),
	    .flags = (o->functions ? HWTD_CALLS_TIMES
				   : HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS) |
		(o->no_interpolation ? HWTD_CALLS_NO_INTERPOLATION : 0) });
}

/* The table of functions is of all calls: these would say that it is not. */
static int
check_options(const struct options *o)
{
	if (!o->functions ||
	    (o->trigger == NULL && o->min_duration_ns == 0 &&
		o->max_depth == 0))
		return (EXIT_DONE);
	say_error("--functions is a table of all calls");
	say_hint("leave out --trigger, --min-duration and --max-depth");
	return (EXIT_BAD_USAGE);
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
open_text(struct reading *r, const char *path, struct hwtd_error *err)
{
	const struct hwtd_calls_options how = options_of(r->options);
	const struct hwtd_context_options
	    library = library_options(r->options);
	int rc = hwtd_context_create(&library, &r->library, err);

	return (rc != HWTD_OK ? rc
			      : hwtd_calls_open_text(r->library, path, &how,
				    &r->calls, err));
}

static int
open_trace(struct reading *r)
{
	struct hwtd_calls_options how = options_of(r->options);
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
	input_events_options(r->options, &events);
	how.events = &events;
	if (hwtd_calls_open(r->input.trace, &how, &r->calls, &err) != HWTD_OK)
		return (say_library_error(r->name, &err));
	return (EXIT_DONE);
}

static int
open_input(struct reading *r)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const char *path = r->options->operands[0];
	const bool standard = strcmp(path, "-") == 0;
	int rc = check_options(r->options);

	/* Text is an input, too. */
	if (rc == EXIT_DONE)
		rc = guard_inputs(r->options);
	if (rc != EXIT_DONE)
		return (rc);

	r->name = standard ? "standard input" : path;
	if (standard && !r->options->text_input)
		return (open_trace(r));
	if (standard) {
		path = r->spooled = spool_standard_input();
		if (path == NULL)
			return (interrupt_seen() ? EXIT_INTERRUPTED
						 : EXIT_FAILED);
	}
	rc = open_text(r, path, &err);
	if (rc == HWTD_OK)
		return (check_text_options(r->options, r->name));
	/* Whatever it is, or is not, a trace is what it should be. */
	if (!r->options->text_input && rc != HWTD_E_NOMEM)
		return (open_trace(r));
	error_drop_path(&err, path);
	rc = say_library_error(r->name, &err);
	return (err.code == HWTD_E_UNRECOGNIZED ? EXIT_BAD_INPUT : rc);
}

static void
close_input(struct reading *r)
{
	hwtd_calls_close(r->calls);
	if (r->has_input)
		input_close(&r->input);
	hwtd_context_destroy(r->library);
	spool_remove(r->spooled);
}

static void
show_progress(struct reading *r)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };

	if (progress_due(&r->progress) &&
	    hwtd_calls_info(r->calls, &info) == HWTD_OK)
		progress_show(&r->progress, info.bytes);
}

static int
read_error(struct reading *r, const struct hwtd_error *err)
{
	return (r->has_input ? input_say_read_error(&r->input, r->options, err)
			     : say_library_error(r->name, err));
}

static int
read_calls(struct reading *r, struct call_writer *writer)
{
	struct hwtd_call *rows = malloc(BATCH_ROWS * sizeof(*rows));
	struct hwtd_error err = { .size = sizeof(err) };
	int code = EXIT_DONE;

	if (rows == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	while (code == EXIT_DONE && !output_stopped(writer->out) &&
	    (r->options->functions || writer->rows < r->options->limit)) {
		struct hwtd_call_batch batch = { .size = sizeof(batch),
			.calls = rows,
			.stride = sizeof(*rows),
			.cap = BATCH_ROWS };
		const int rc = hwtd_calls_read(r->calls, &batch, &err);

		if (rc == HWTD_END)
			break;
		if (rc != HWTD_OK) {
			progress_end(&r->progress);
			output_flush(writer->out);
			code = read_error(r, &err);
			break;
		}
		for (size_t i = 0; i < batch.n && !r->options->functions &&
		     writer->rows < r->options->limit;
		     i++)
			(void)call_write(writer, &rows[i]);
		show_progress(r);
		if (interrupt_seen())
			code = EXIT_INTERRUPTED;
	}
	free(rows);
	return (code);
}

/* What was not seen, and what of the text is no branch. */
static int
judge(struct reading *r)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (hwtd_calls_info(r->calls, &info) != HWTD_OK)
		return (EXIT_FAILED);
	if (info.bad_lines == 1)
		say_warning("%s: 1 line is none that perf-script(1) writes: "
			    "line %llu",
		    r->name, (unsigned long long)info.first_bad_line);
	else if (info.bad_lines != 0)
		say_warning("%s: %llu lines are none that perf-script(1) "
			    "writes, the first is line %llu",
		    r->name, (unsigned long long)info.bad_lines,
		    (unsigned long long)info.first_bad_line);
	if (info.limited != 0)
		say_warning("%s: %llu calls were ended because too many were "
			    "open",
		    r->name, (unsigned long long)info.limited);
	stats.bytes = info.bytes;
	stats.gap_bytes = info.gap_bytes;
	stats.file_gap_bytes = info.file_gap_bytes;
	memcpy(stats.gaps, info.gaps, sizeof(stats.gaps));
	return (loss_exit_code(r->name, &stats, r->options->max_loss));
}

static int
print(struct reading *r, struct output *out)
{
	struct call_writer writer;
	int code;

	call_writer_init(&writer, out, r->options, r->calls);
	if (!r->options->functions)
		call_write_header(&writer);
	progress_start(&r->progress, r->options->progress,
	    r->has_input ? r->input.info.n_bytes : 0);
	code = read_calls(r, &writer);
	progress_end(&r->progress);
	if (code == EXIT_DONE || code == EXIT_INTERRUPTED) {
		if (r->options->functions &&
		    call_write_functions(out, r->options, r->calls) !=
			EXIT_DONE)
			code = EXIT_FAILED;
		call_write_info(&writer);
	}
	if (code == EXIT_DONE && r->options->trigger != NULL &&
	    !writer.triggered && writer.rows < r->options->limit)
		say_warning("%s: no call of '%s' was seen", r->name,
		    r->options->trigger);
	call_writer_fini(&writer);
	return (code == EXIT_DONE ? judge(r) : code);
}

int
cmd_calls(const struct options *options)
{
	struct reading r = { .options = options };
	struct output out;
	int code = open_input(&r);

	if (code == EXIT_DONE) {
		if (!output_open(&out, options->output)) {
			code = EXIT_FAILED;
		} else {
			code = print(&r, &out);
			if (!output_close(&out,
				code == EXIT_DONE || code == EXIT_LOSS ||
				    code == EXIT_INTERRUPTED))
				code = EXIT_FAILED;
		}
	}
	close_input(&r);
	return (code);
}
