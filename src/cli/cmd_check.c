/*
 * hwtdecode check: decodes everything, accounts for every byte and compares
 * with a stored expectation.
 */
#include "cli/print/check_report.h"
#include "cli/output/color.h"
#include "cli/input/expectation.h"
#include "cli/print/image_report.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"

static int
compare(struct check_report *report, const struct expectation *found,
    const char *path)
{
	struct expectation expected;
	int code = EXIT_DONE;

	if (expectation_read(&expected, path, &code)) {
		const size_t n = expectation_compare(&expected, found,
		    check_report_difference, report);

		code = n > 0 ? EXIT_FAILED : EXIT_DONE;
		if (n > 0) {
			say_error("%s: %zu %s from what is expected",
			    report->input->name, n,
			    n == 1 ? "value differs" : "values differ");
			say_hint("if the new values are right, store them "
				 "with --update");
		}
	}
	expectation_fini(&expected);
	return (code);
}

static int
expect(struct check_report *report, const struct account *account,
    const struct options *options)
{
	struct expectation found;
	int code = EXIT_FAILED;

	if (expectation_of(&found, account)) {
		if (!options->update)
			code = compare(report, &found, options->expect);
		else if (expectation_write(&found, options->expect))
			code = EXIT_DONE;
	}
	expectation_fini(&found);
	return (code);
}

static int
judge(const struct input *input, const struct account *account,
    double max_loss)
{
	/* Whole chunks of a file can be lost without a stream to tell of. */
	if (max_loss == 0 && account->n_damages > 0 &&
	    !loss_any(&account->total)) {
		say_error("%s: the file is damaged", input->name);
		return (EXIT_LOSS);
	}
	return (loss_exceeds(&account->total, max_loss) ? EXIT_LOSS
							: EXIT_DONE);
}

/* What is done with every gap. */
struct gap_uses {
	/* NULL: gaps are not listed. */
	struct check_report *report;
	struct missing_images missing;
};

static bool
use_gap(void *arg, uint32_t stream, const struct hwtd_event *row,
    const struct hwtd_gap *gap)
{
	struct gap_uses *uses = arg;

	if (uses->report != NULL)
		check_report_gap(uses->report, stream, row, gap);
	return (missing_images_add(&uses->missing, stream, row, gap));
}

static int
check(const struct input *input, const struct options *options,
    struct output *out, bool *whole_out)
{
	struct check_report report = {
		.out = out,
		.input = input,
		.format = options->format,
		.color = color_wanted(options, out),
	};
	struct gap_uses uses = { .report = options->gaps ? &report : NULL };
	struct account account;
	/* What an expectation holds need not be lossless. */
	const double max_loss = options->max_loss >= 0 ? options->max_loss
	    : options->expect != NULL		       ? -1
						       : 0;

	*whole_out = false;
	check_report_begin(&report);
	missing_images_init(&uses.missing, input);
	int code = account_streams(&account, input, options,
	    options->expect != NULL, use_gap, &uses);

	if (code == EXIT_DONE || code == EXIT_INTERRUPTED) {
		report.interrupted = code == EXIT_INTERRUPTED;
		*whole_out = true;
		check_report_account(&report, &account);
		missing_images_write(&uses.missing, out, options);
		if (options->expect != NULL && code == EXIT_DONE)
			code = expect(&report, &account, options);
		check_report_verdict(&report, &account);
	}
	if (code == EXIT_DONE)
		code = judge(input, &account, max_loss);
	missing_images_fini(&uses.missing);
	account_fini(&account);
	return (code);
}

int
cmd_check(const struct options *options)
{
	struct input input;
	struct output out;

	if (options->update && options->expect == NULL) {
		say_error("--update needs --expect FILE");
		say_hint("--expect names the file to write");
		return (EXIT_BAD_USAGE);
	}
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	code = input_check_streams(&input, options);
	if (code == EXIT_DONE && !output_open(&out, options->output))
		code = EXIT_FAILED;
	else if (code == EXIT_DONE) {
		/* Differences and loss are results, not failures to print. */
		bool whole = false;

		code = check(&input, options, &out, &whole);
		if (!output_close(&out, whole))
			code = EXIT_FAILED;
	}
	input_close(&input);
	return (code);
}
