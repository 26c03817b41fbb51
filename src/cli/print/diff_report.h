/*
 * Two traces that are compared, and printing how they differ.
 */
#ifndef HWTDECODE_CLI_DIFF_REPORT_H
#define HWTDECODE_CLI_DIFF_REPORT_H

#include "cli/input/call_input.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"

/* One of both. */
struct diff_side {
	/* With one operand. */
	struct options options;
	/* As the user named it. */
	const char *name;
	/* A trace, or text. */
	struct call_input input;
	bool is_text;
	struct hwtd_profile *profile;
	struct hwtd_symbolizer *symbolizer;
	/* What flow saw of it, if that was all. */
	struct hwtd_stats stats;
};

struct diff_report {
	const struct options *options;
	struct output *out;
	struct hwtd_context *library;
	struct diff_side sides[2];
	struct progress progress;
	/* An hwtd_diff_by. */
	uint32_t by;
	/* Something is not the same, of what was asked for. */
	bool differs;
};

/*
 * Open both; EXIT_DONE, or an exit code after a message.  To be closed in any
 * case.
 */
int diff_open(struct diff_report *report);
void diff_close(struct diff_report *report);

/* Profiles of both; then their functions, edges and branches. */
int diff_read_profiles(struct diff_report *report);
int diff_tables(struct diff_report *report);

/* Where threads went different ways. */
int diff_flow(struct diff_report *report);

/* What was lost of both: an exit code. */
int diff_judge(const struct diff_report *report);

bool diff_shows(const struct diff_report *report, unsigned int part);

#endif /* HWTDECODE_CLI_DIFF_REPORT_H */
