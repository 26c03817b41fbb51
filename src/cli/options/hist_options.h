/*
 * Options of the command hist.
 */
#ifndef HWTDECODE_CLI_HIST_OPTIONS_H
#define HWTDECODE_CLI_HIST_OPTIONS_H

#include "cli/options/options.h"

/* In the order of hwtd_histogram_value, from TIME on, without BETWEEN. */
#define HIST_VALUES "time|running|self|cycles|self-cycles|insns|self-insns"

/* In the order of hwtd_histogram_sort. */
#define HIST_SORTS "name|sum|calls|mean|max|p50|p99"

/* *known is false if the option is none of these. */
bool take_hist_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

#endif /* HWTDECODE_CLI_HIST_OPTIONS_H */
