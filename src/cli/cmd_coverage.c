/*
 * hwtdecode coverage: what of the code ran, and what did not.
 */
#include <stdio.h>

#include "cli/input/coverage_input.h"
#include "cli/print/coverage_report.h"
#include "cli/export/export_files.h"
#include "cli/output/interrupt.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"

static int
write_lcov(struct coverage_input *in, struct output *out)
{
	struct export_files files = { .options = in->options };
	struct hwtd_format_options how = { .size = sizeof(how),
		.format = HWTD_FORMAT_LCOV,
		.write = export_files_write,
		.write_arg = &files };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_export *export = NULL;
	int rc;

	/* What it writes to is open; it stays the caller's. */
	files.out = *out;
	rc = hwtd_export_open_coverage(in->coverage, &how, &export, &err);
	while (rc == HWTD_OK)
		rc = hwtd_export_write(export, &err);
	hwtd_export_close(export);
	*out = files.out;
	if (rc == HWTD_END || out->failed != 0)
		return (EXIT_DONE);
	return (say_library_error(coverage_input_name(in), &err));
}

/* The file of --lcov. */
static int
write_lcov_file(struct coverage_input *in)
{
	struct output out;
	int code;

	if (in->options->coverage.lcov == NULL)
		return (EXIT_DONE);
	if (!output_open(&out, in->options->coverage.lcov))
		return (EXIT_FAILED);
	code = write_lcov(in, &out);
	if (!output_close(&out, code == EXIT_DONE))
		code = EXIT_FAILED;
	return (code);
}

static int
read_all(struct coverage_input *in)
{
	struct progress progress;
	int code = EXIT_DONE, rc = HWTD_OK;

	progress_start(&progress, in->options->progress,
	    coverage_input_bytes(in));
	while (rc == HWTD_OK && code == EXIT_DONE) {
		rc = coverage_input_step(in, &code);
		progress.total_bytes = coverage_input_bytes(in);
		if (progress_due(&progress))
			progress_show(&progress,
			    coverage_input_bytes_read(in));
		/* What is half read says nothing about what was not reached. */
		if (code == EXIT_DONE && interrupt_seen())
			code = EXIT_INTERRUPTED;
	}
	progress_end(&progress);
	return (code);
}

/* --fail-under. */
static int
check_limits(struct coverage_input *in)
{
	static const char *const names[] = { "lines", "functions",
		"branches" };
	const struct coverage_options *c = &in->options->coverage;
	struct hwtd_coverage_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	int code = EXIT_DONE;

	if (hwtd_coverage_info(in->coverage, &info, &err) != HWTD_OK)
		return (say_library_error(coverage_input_name(in), &err));
	const struct hwtd_coverage_share shares[] = { info.lines,
		info.functions, info.branches };

	for (size_t i = 0; i < 3; i++) {
		const double share = shares[i].total == 0
		    ? 0
		    : 100.0 * (double)shares[i].hit / (double)shares[i].total;
		char percent[16];

		if (!c->has_limit[i])
			continue;
		coverage_percent(percent, shares[i].hit, shares[i].total);
		if (shares[i].total == 0) {
			say_error("%s: there are no %s with a source file, of "
				  "which --fail-under wants %.4g%%",
			    coverage_input_name(in), names[i],
			    c->fail_under[i]);
			say_hint("debug information is needed: "
				 "--build-id-dir, --root; and what of it "
				 "--source and --only-image leave");
			code = EXIT_FAILED;
		} else if (share < c->fail_under[i]) {
			say_error("%s: %s%% of the %s were reached, %llu of "
				  "%llu; --fail-under is %.4g%%",
			    coverage_input_name(in), percent, names[i],
			    (unsigned long long)shares[i].hit,
			    (unsigned long long)shares[i].total,
			    c->fail_under[i]);
			code = EXIT_FAILED;
		}
	}
	return (code);
}

static int
print(struct coverage_input *in)
{
	struct coverage_report report = { .options = in->options,
		.coverage = in->coverage };
	struct output out;
	int code;

	if (!output_open(&out, in->options->output))
		return (EXIT_FAILED);
	report.out = &out;
	code = in->options->coverage.to_lcov ? write_lcov(in, &out)
					     : coverage_report(&report);
	if (!output_close(&out, code == EXIT_DONE))
		code = EXIT_FAILED;
	return (code);
}

int
cmd_coverage(const struct options *options)
{
	struct coverage_input in;
	int code = coverage_input_open(&in, options);

	if (code == EXIT_DONE)
		code = read_all(&in);
	if (code == EXIT_DONE)
		code = print(&in);
	if (code == EXIT_DONE)
		code = write_lcov_file(&in);
	if (code == EXIT_DONE)
		code = check_limits(&in);
	if (code == EXIT_DONE)
		code = in.loss;
	coverage_input_close(&in);
	return (code);
}
