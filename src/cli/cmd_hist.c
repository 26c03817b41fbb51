/*
 * hwtdecode hist: how times of calls, or other values, are distributed.
 */
#include "cli/input/call_input.h"
#include "cli/print/hist_report.h"
#include "cli/output/interrupt.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"

static int
check_options(const struct options *o)
{
	if ((o->from_symbol != NULL) != (o->to_symbol != NULL)) {
		say_error("--from and --to belong together");
		say_hint("--from NAME --to NAME: the time from a call of one "
			 "to the next one of the other");
		return (EXIT_BAD_USAGE);
	}
	if (o->from_symbol != NULL &&
	    (o->symbol != NULL || o->hist_value != 0)) {
		say_error("--from and --to measure the time between them");
		say_hint("leave out --sym and --value");
		return (EXIT_BAD_USAGE);
	}
	if (o->buckets && o->format != FORMAT_CSV) {
		say_error("--buckets is of CSV");
		say_hint("JSON lines have them, text has --bars");
		return (EXIT_BAD_USAGE);
	}
	if (o->bars && o->format != FORMAT_TEXT) {
		say_error("--bars are of text");
		say_hint("JSON lines have buckets, CSV has --buckets");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

static int
create(struct hist_report *report, struct hwtd_context **library_out)
{
	const struct options *o = report->options;
	const struct hwtd_context_options limits = library_options(o);
	const struct hwtd_histogram_options opts = { .size = sizeof(opts),
		.value = o->hist_value,
		.flags = o->exact ? HWTD_HISTOGRAM_EXACT : 0,
		.function = o->from_symbol != NULL ? o->from_symbol
						   : o->symbol,
		.to = o->to_symbol };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_histogram_info info = { .size = sizeof(info) };
	int rc = hwtd_context_create(&limits, library_out, &err);

	if (rc == HWTD_OK)
		rc = hwtd_histogram_create(*library_out, &opts,
		    &report->histogram, &err);
	if (rc != HWTD_OK)
		return (say_library_error(o->operands[0], &err));
	(void)hwtd_histogram_info(report->histogram, &info);
	report->value = info.value;
	report->is_time = info.value == HWTD_HISTOGRAM_TIME ||
	    info.value == HWTD_HISTOGRAM_RUNNING ||
	    info.value == HWTD_HISTOGRAM_SELF ||
	    info.value == HWTD_HISTOGRAM_BETWEEN;
	report->bars = o->bars || o->symbol != NULL || o->from_symbol != NULL;
	return (EXIT_DONE);
}

/* Rows alone have no place for it. */
static void
warn_of_loss(const struct hist_report *report, const struct call_input *in)
{
	const struct options *o = report->options;
	struct hwtd_calls_info info = { .size = sizeof(info) };
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (o->format != FORMAT_CSV &&
	    (o->format != FORMAT_TEXT || !o->no_header))
		return;
	if (hwtd_calls_info(in->calls, &info) != HWTD_OK)
		return;
	stats.bytes = info.bytes;
	stats.gap_bytes = info.gap_bytes;
	stats.file_gap_bytes = info.file_gap_bytes;
	memcpy(stats.gaps, info.gaps, sizeof(stats.gaps));
	loss_warn(in->name, &stats);
}

static int
add_calls(struct hist_report *report, struct call_input *in)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct progress progress;
	int code = EXIT_DONE, rc = HWTD_OK;

	progress_start(&progress, report->options->progress,
	    call_input_bytes(in));
	while (code == EXIT_DONE && rc == HWTD_OK) {
		rc = hwtd_histogram_add_calls(report->histogram, in->calls,
		    &err);
		if (progress_due(&progress))
			progress_show(&progress, call_input_bytes_read(in));
		if (rc == HWTD_OK && interrupt_seen())
			code = EXIT_INTERRUPTED;
	}
	progress_end(&progress);
	if (code == EXIT_DONE && rc != HWTD_END)
		code = call_input_say_error(in, &err);
	if (code == EXIT_DONE || code == EXIT_INTERRUPTED)
		warn_of_loss(report, in);
	return (code == EXIT_DONE ? call_input_judge(in) : code);
}

static int
add_inputs(struct hist_report *report)
{
	const struct options *options = report->options;
	const uint32_t flags = report->value == HWTD_HISTOGRAM_BETWEEN
	    ? HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS
	    : 0;
	int code = EXIT_DONE;

	for (size_t i = 0; i < options->n_operands; i++) {
		struct options one = *options;
		struct call_input in;
		int more;

		one.operands = options->operands + i;
		one.n_operands = 1;
		more = call_input_open(&in, &one, flags);
		if (more == EXIT_DONE)
			more = add_calls(report, &in);
		call_input_close(&in);
		if (more != EXIT_DONE)
			code = more;
		if (more != EXIT_DONE && more != EXIT_LOSS)
			break;
	}
	return (code);
}

/* A name that nothing has is most often a mistake. */
static void
warn_of_nothing(const struct hist_report *report)
{
	const struct options *o = report->options;
	struct hwtd_histogram_info info = { .size = sizeof(info) };

	if (hwtd_histogram_info(report->histogram, &info) != HWTD_OK ||
	    info.n_rows != 0)
		return;
	if (o->from_symbol != NULL)
		say_warning("no call of '%s' came before one of '%s'",
		    o->from_symbol, o->to_symbol);
	else if (o->symbol != NULL)
		say_warning("no function that was called is '%s'", o->symbol);
	else
		say_warning("%s: no calls", o->operands[0]);
}

int
cmd_hist(const struct options *options)
{
	struct hist_report report = { .options = options };
	struct hwtd_context *library = NULL;
	struct output out;
	int code = check_options(options);

	if (code == EXIT_DONE)
		code = create(&report, &library);
	if (code == EXIT_DONE)
		code = add_inputs(&report);
	if (code == EXIT_DONE || code == EXIT_LOSS ||
	    code == EXIT_INTERRUPTED) {
		report.interrupted = code == EXIT_INTERRUPTED;
		if (!report.interrupted)
			warn_of_nothing(&report);
		report.out = &out;
		if (!output_open(&out, options->output)) {
			code = EXIT_FAILED;
		} else {
			const int done = hist_report(&report);

			if (done != EXIT_DONE)
				code = done;
			if (!output_close(&out, done == EXIT_DONE))
				code = EXIT_FAILED;
		}
	}
	hwtd_histogram_destroy(report.histogram);
	hwtd_context_destroy(library);
	return (code);
}
