/*
 * Printing coverage: tables of what was reached, and what was not seen.
 */
#ifndef HWTDECODE_CLI_COVERAGE_REPORT_H
#define HWTDECODE_CLI_COVERAGE_REPORT_H

#include "cli/options/options.h"
#include "cli/output/output.h"

struct coverage_report {
	struct output *out;
	const struct options *options;
	struct hwtd_coverage *coverage;
	struct hwtd_coverage_info info;
	/* Paths of files and names of images, borrowed, by index. */
	const char **files, **images;
	uint64_t n_files, n_images;
};

/* EXIT_DONE, or an exit code after a message. */
int coverage_report(struct coverage_report *report);

/* coverage_rows.c: rows of one table, in the format that the options say. */
int coverage_write_rows(struct coverage_report *report);

/* "83.3", or "-" where there is nothing; never more than it is. */
void coverage_percent(char buf[16], uint64_t hit, uint64_t total);

#endif /* HWTDECODE_CLI_COVERAGE_REPORT_H */
