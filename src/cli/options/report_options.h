/*
 * Options of the command report.
 */
#ifndef HWTDECODE_CLI_REPORT_OPTIONS_H
#define HWTDECODE_CLI_REPORT_OPTIONS_H

#include "cli/options/options.h"

/* In the order of hwtd_profile_by. */
#define REPORT_TABLES "function|line|image|thread|inline|block|cpu"

#define REPORT_SORTS "self|total|calls|time|cycles|entered|name"
enum report_sort {
	REPORT_BY_SELF,
	REPORT_BY_TOTAL,
	REPORT_BY_CALLS,
	REPORT_BY_TIME,
	REPORT_BY_CYCLES,
	REPORT_BY_ENTERED,
	REPORT_BY_NAME
};

/* *known is false if the option is none of these. */
bool take_report_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* Calls are followed, since the table or its order needs them. */
bool report_follows_calls(const struct options *options);

/* EXIT_DONE, or another exit code after a message about what goes not together. */
int check_report_options(const struct options *options);

#endif /* HWTDECODE_CLI_REPORT_OPTIONS_H */
