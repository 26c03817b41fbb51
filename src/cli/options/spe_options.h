/*
 * Options that describe raw bytes of Arm SPE, and buffers of raw bytes.
 */
#ifndef HWTDECODE_CLI_SPE_OPTIONS_H
#define HWTDECODE_CLI_SPE_OPTIONS_H

#include "cli/options/options.h"

/* False after a message.  Sets *known when `entry` is one of them. */
bool take_spe_option(struct options *options, const struct option_entry *entry,
    const char *value, bool *known);

/* They fit to each other.  False after a message. */
bool check_spe_options(const struct options *options);

/* What the file says counts. */
void warn_of_unused_spe(const struct hwtd_trace *trace, uint32_t n_streams,
    const char *name, const struct options *options);

void spe_options_fini(struct options *options);

#endif /* HWTDECODE_CLI_SPE_OPTIONS_H */
