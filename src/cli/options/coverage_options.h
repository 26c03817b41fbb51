/*
 * Options of the command coverage.
 */
#ifndef HWTDECODE_CLI_COVERAGE_OPTIONS_H
#define HWTDECODE_CLI_COVERAGE_OPTIONS_H

#include "cli/options/options.h"

/* *known is false if the option is none of these. */
bool take_coverage_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* What they say, for the library; borrowed from `options`. */
struct hwtd_coverage_options coverage_options_of(const struct options
	*options);

void coverage_options_fini(struct options *options);

#endif /* HWTDECODE_CLI_COVERAGE_OPTIONS_H */
