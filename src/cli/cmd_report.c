/*
 * hwtdecode report: what was executed, added up.
 */
#include "cli/input/input.h"
#include "cli/output/message.h"
#include "cli/options/report_options.h"
#include "cli/print/report_table.h"

static int
create(struct report *report)
{
	const struct options *o = report->options;
	const struct hwtd_context_options context = library_options(o);
	struct hwtd_profile_options opts = { .size = sizeof(opts) };
	struct hwtd_error err = { .size = sizeof(err) };

	if (o->report_by == HWTD_PROFILE_BY_LINE ||
	    o->report_by == HWTD_PROFILE_BY_INLINE)
		opts.flags |= HWTD_PROFILE_LINES;
	if (o->report_by == HWTD_PROFILE_BY_THREAD)
		opts.flags |= HWTD_PROFILE_THREADS;
	if (hwtd_context_create(&context, &report->library, &err) != HWTD_OK ||
	    hwtd_profile_create(report->library, &opts, &report->profile,
		&err) != HWTD_OK)
		return (say_library_error("report", &err));
	return (EXIT_DONE);
}

/* Done, or done as far as the user wanted. */
static bool
is_of_use(int code)
{
	return (code == EXIT_DONE || code == EXIT_INTERRUPTED);
}

static int
write_report(struct report *report, int code)
{
	struct output out;
	int done;

	if (!output_open(&out, report->options->output))
		return (EXIT_FAILED);
	report->out = &out;
	report->interrupted = code == EXIT_INTERRUPTED;
	done = report_write(report);
	if (!output_close(&out, done == EXIT_DONE || done == EXIT_LOSS))
		return (EXIT_FAILED);
	return (done != EXIT_DONE ? done : code);
}

int
cmd_report(const struct options *options)
{
	struct report report = { .options = options,
		.info = { .size = sizeof(report.info) } };
	int code = check_report_options(options);

	if (code != EXIT_DONE)
		return (code);
	code = create(&report);
	if (code == EXIT_DONE)
		code = report_read(&report);
	if (is_of_use(code))
		code = write_report(&report, code);
	hwtd_profile_destroy(report.profile);
	hwtd_context_destroy(report.library);
	return (code);
}
