/*
 * Printing what hwtdecode check found, in the three formats.
 */
#ifndef HWTDECODE_CLI_CHECK_REPORT_H
#define HWTDECODE_CLI_CHECK_REPORT_H

#include "cli/output/account.h"

struct check_report {
	struct output *out;
	const struct input *input;
	enum output_format format;
	bool color;
	bool interrupted;
	/* Gaps and differences were printed: a title is due or was given. */
	bool listed_gaps;
	bool listed_differences;
};

/* Columns of CSV, when that is the format. */
void check_report_begin(struct check_report *report);

/* One gap, while decoding. */
void check_report_gap(struct check_report *report, uint32_t stream,
    const struct hwtd_event *row, const struct hwtd_gap *gap);

/* Everything that was added up. */
void check_report_account(struct check_report *report,
    const struct account *account);

/* A difference_fn whose `arg` is the report. */
void check_report_difference(void *arg, const char *key, const char *expected,
    const char *found);

/* The last line: what it comes to. */
void check_report_verdict(struct check_report *report,
    const struct account *account);

#endif /* HWTDECODE_CLI_CHECK_REPORT_H */
