/*
 * Records of Linux perf beside raw bytes: --perf-records.
 */
#ifndef HWTDECODE_CLI_PERF_OPTIONS_H
#define HWTDECODE_CLI_PERF_OPTIONS_H

#include "cli/options/options.h"

/* Sets *known when `entry` is one of them.  False after a message. */
bool take_perf_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

void perf_options_fini(struct options *options);

#endif /* HWTDECODE_CLI_PERF_OPTIONS_H */
