/*
 * hwtdecode diff: how two traces differ.
 */
#include "cli/options/diff_options.h"
#include "cli/print/diff_report.h"
#include "cli/output/message.h"

static int
check_options(const struct diff_report *report)
{
	const struct options *o = report->options;
	unsigned int n = 0;

	for (unsigned int part = 0; part <= DIFF_FLOW; part++)
		n += diff_shows(report, part);
	if (o->format == FORMAT_CSV && n != 1) {
		say_error("CSV has rows of one kind");
		say_hint("say --show functions, edges, branches or flow");
		return (EXIT_BAD_USAGE);
	}
	if (!diff_shows(report, DIFF_FLOW) &&
	    (o->divergences != 0 || o->blocks != 0 || o->window != 0 ||
		o->with_kernel || o->one_tid[0] != UINT32_MAX ||
		o->one_tid[1] != UINT32_MAX)) {
		say_error("--divergences, --blocks, --window, --kernel, "
			  "--tid-a and --tid-b are of flow");
		say_hint("say --show flow, too");
		return (EXIT_BAD_USAGE);
	}
	return (EXIT_DONE);
}

static bool
shows_tables(const struct diff_report *report)
{
	return (diff_shows(report, DIFF_FUNCTIONS) ||
	    diff_shows(report, DIFF_EDGES) ||
	    diff_shows(report, DIFF_BRANCHES));
}

static int
write_all(struct diff_report *report)
{
	const bool text = report->sides[0].is_text || report->sides[1].is_text;
	int code = EXIT_DONE;

	if (shows_tables(report))
		code = diff_tables(report);
	if (code != EXIT_DONE || !diff_shows(report, DIFF_FLOW))
		return (code);
	/* It was not asked for by name. */
	if (text)
		return (EXIT_DONE);
	if (shows_tables(report) && report->options->format == FORMAT_TEXT)
		output_char(report->out, '\n');
	return (diff_flow(report));
}

int
cmd_diff(const struct options *options)
{
	struct diff_report report = { .options = options };
	struct output out;
	int code = check_options(&report);

	if (code == EXIT_DONE)
		code = diff_open(&report);
	if (code == EXIT_DONE && shows_tables(&report))
		code = diff_read_profiles(&report);
	if (code == EXIT_DONE) {
		if (!output_open(&out, options->output)) {
			code = EXIT_FAILED;
		} else {
			report.out = &out;
			code = write_all(&report);
			if (!output_close(&out,
				code == EXIT_DONE || code == EXIT_INTERRUPTED))
				code = EXIT_FAILED;
		}
	}
	if (code == EXIT_DONE)
		code = diff_judge(&report);
	/* As diff(1) and git do. */
	if (code == EXIT_DONE && options->exit_code && report.differs)
		code = EXIT_FAILED;
	diff_close(&report);
	return (code);
}
