/*
 * Options of the command calls.
 */
#ifndef HWTDECODE_CLI_CALL_OPTIONS_H
#define HWTDECODE_CLI_CALL_OPTIONS_H

#include "cli/options/options.h"

/* *known is false if the option is none of these. */
bool take_call_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

#endif /* HWTDECODE_CLI_CALL_OPTIONS_H */
