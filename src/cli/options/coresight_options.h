/*
 * How raw CoreSight bytes were recorded: --etm-config and --framing.
 */
#ifndef HWTDECODE_CLI_CORESIGHT_OPTIONS_H
#define HWTDECODE_CLI_CORESIGHT_OPTIONS_H

#include "cli/options/options.h"

/* Sets *known when `entry` is one of them.  False after a message. */
bool take_coresight_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* They fit to each other.  False after a message. */
bool check_coresight_options(const struct options *options);

void coresight_options_fini(struct options *options);

#endif /* HWTDECODE_CLI_CORESIGHT_OPTIONS_H */
