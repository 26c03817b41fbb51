/*
 * Printing histograms of calls: a table, bars, JSON lines, CSV.
 */
#ifndef HWTDECODE_CLI_HIST_REPORT_H
#define HWTDECODE_CLI_HIST_REPORT_H

#include "cli/options/options.h"
#include "cli/output/output.h"

struct hist_report {
	const struct options *options;
	struct output *out;
	struct hwtd_histogram *histogram;
	/* An hwtd_histogram_value, and its unit is ns. */
	uint32_t value;
	bool is_time;
	/* Of each row the distribution. */
	bool bars;
	/* Not all was read. */
	bool interrupted;
};

/* An exit code. */
int hist_report(struct hist_report *report);

/* The name of a row, or what stands for it; `to`: that of where it ends. */
void hist_write_name(struct output *out, const struct hwtd_histogram_row *row,
    bool to);

/* A value as people read it. */
void hist_format_value(const struct hist_report *report, char text[32],
    uint64_t value);

/* The distribution of row `no`, a line for values near each other. */
void hist_write_bars(const struct hist_report *report,
    const struct hwtd_histogram_row *row, uint64_t no);

#endif /* HWTDECODE_CLI_HIST_REPORT_H */
