/*
 * Options of the command diff.
 */
#ifndef HWTDECODE_CLI_DIFF_OPTIONS_H
#define HWTDECODE_CLI_DIFF_OPTIONS_H

#include "cli/options/options.h"

/* In the order of hwtd_diff_by. */
#define DIFF_BYS "insns|time|total-time|cycles|calls"

/* What is printed: 1 << n of these in options->diff_parts. */
#define DIFF_PARTS "functions|edges|branches|flow"
enum diff_part {
	DIFF_FUNCTIONS,
	DIFF_EDGES,
	DIFF_BRANCHES,
	DIFF_FLOW
};
#define DIFF_PARTS_DEFAULT (1u << DIFF_FUNCTIONS | 1u << DIFF_FLOW)

/* *known is false if the option is none of these. */
bool take_diff_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

#endif /* HWTDECODE_CLI_DIFF_OPTIONS_H */
