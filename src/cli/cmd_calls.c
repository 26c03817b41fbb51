/*
 * hwtdecode calls: which function called which, when, and for how long.
 */
#include <stdlib.h>

#include "cli/input/call_input.h"
#include "cli/print/call_writer.h"
#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"

#define BATCH_ROWS 512

struct reading {
	const struct options *options;
	struct call_input in;
	struct progress progress;
};

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
		const int rc = hwtd_calls_read(r->in.calls, &batch, &err);

		if (rc == HWTD_END)
			break;
		if (rc != HWTD_OK) {
			progress_end(&r->progress);
			output_flush(writer->out);
			code = call_input_say_error(&r->in, &err);
			break;
		}
		for (size_t i = 0; i < batch.n && !r->options->functions &&
		     writer->rows < r->options->limit;
		     i++)
			(void)call_write(writer, &rows[i]);
		if (progress_due(&r->progress))
			progress_show(&r->progress,
			    call_input_bytes_read(&r->in));
		if (interrupt_seen())
			code = EXIT_INTERRUPTED;
	}
	free(rows);
	return (code);
}

/* Tables and CSV have no rows of gaps: how much is missing is said besides. */
static void
say_gaps(const struct reading *r)
{
	struct hwtd_calls_info info = { .size = sizeof(info) };
	const struct options *o = r->options;
	uint64_t gaps = 0;

	if (hwtd_calls_info(r->in.calls, &info) != HWTD_OK)
		return;
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += info.gaps[i];
	if (gaps == 0 || o->format == FORMAT_JSONL ||
	    (o->format == FORMAT_TEXT && !o->functions))
		return;
	say_warning("%s: what ran in %llu gap%s (%llu bytes) is not known",
	    r->in.name, (unsigned long long)gaps, gaps == 1 ? "" : "s",
	    (unsigned long long)info.gap_bytes);
}

static int
print(struct reading *r, struct output *out)
{
	struct hwtd_calls *const calls = r->in.calls;
	struct call_writer writer;
	int code;

	call_writer_init(&writer, out, r->options, calls);
	if (!r->options->functions)
		call_write_header(&writer);
	progress_start(&r->progress, r->options->progress,
	    call_input_bytes(&r->in));
	code = read_calls(r, &writer);
	progress_end(&r->progress);
	if (code == EXIT_DONE || code == EXIT_INTERRUPTED) {
		if (r->options->functions &&
		    call_write_functions(out, r->options, calls) != EXIT_DONE)
			code = EXIT_FAILED;
		call_write_info(&writer);
	}
	if (code == EXIT_DONE && r->options->trigger != NULL &&
	    !writer.triggered && writer.rows < r->options->limit)
		say_warning("%s: no call of '%s' was seen", r->in.name,
		    r->options->trigger);
	if (writer.untimed != 0)
		say_warning("%s: how long %llu call%s took is not known; "
			    "--min-duration leaves them out",
		    r->in.name, (unsigned long long)writer.untimed,
		    writer.untimed == 1 ? "" : "s");
	call_writer_fini(&writer);
	if (code != EXIT_DONE)
		return (code);
	say_gaps(r);
	return (call_input_judge(&r->in));
}

int
cmd_calls(const struct options *options)
{
	struct reading r = { .options = options };
	struct output out;
	int code = check_options(options);

	if (code != EXIT_DONE)
		return (code);
	code = call_input_open(&r.in, options,
	    options->functions ? HWTD_CALLS_TIMES
			       : HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS);
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
	call_input_close(&r.in);
	return (code);
}
