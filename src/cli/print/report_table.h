/*
 * A report: what was read, and the table that it is written as.
 */
#ifndef HWTDECODE_CLI_REPORT_TABLE_H
#define HWTDECODE_CLI_REPORT_TABLE_H

#include "cli/options/options.h"
#include "cli/output/output.h"

struct report {
	const struct options *options;
	struct hwtd_context *library;
	struct hwtd_profile *profile;
	struct hwtd_profile_info info;
	struct output *out;
	/* What the table is made of. */
	enum hwtd_profile_source source;
	/* All instructions; or of text all time, or all calls. */
	uint64_t whole;
	enum {
		WEIGHT_INSNS,
		WEIGHT_NS,
		WEIGHT_CALLS
	} weight;
	bool has_insns, has_time, has_cycles;
	/* Some of the inputs are text; of some code is counted. */
	bool has_text, has_code;
	/* The user ended it: what came later is not in it. */
	bool interrupted;
};

/* Read all inputs.  An exit code. */
int report_read(struct report *report);

/* Find out what is known, and write the table.  An exit code. */
int report_write(struct report *report);

/* What a row weighs, itself only or with all it called. */
uint64_t report_self(const struct report *report,
    const struct hwtd_profile_row *row);
uint64_t report_total(const struct report *report,
    const struct hwtd_profile_row *row);
double report_percent(const struct report *report, uint64_t part);

/* Of one row, and what comes before and behind all. */
void report_write_header(const struct report *report);
void report_write_row(const struct report *report,
    const struct hwtd_profile_row *row);
void report_write_relative_header(const struct report *report);
void report_write_relative(const struct report *report, uint32_t function,
    const struct hwtd_profile_relative *relative);
void report_write_unseen(const struct report *report);
/* Nothing if it was not. */
void report_write_interrupted(const struct report *report);

/* What names a row; for sorting, too.  NULL: nothing. */
const char *report_row_name(const struct report *report,
    const struct hwtd_profile_row *row);

#endif /* HWTDECODE_CLI_REPORT_TABLE_H */
