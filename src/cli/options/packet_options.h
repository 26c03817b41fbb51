/*
 * Options of the command packets.
 */
#ifndef HWTDECODE_CLI_PACKET_OPTIONS_H
#define HWTDECODE_CLI_PACKET_OPTIONS_H

#include "cli/options/options.h"

/* False after a message.  Sets *known when `entry` is one of them. */
bool take_packet_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* Those that were given fit each other; false after a message. */
bool check_packet_options(const struct options *options);

/* Not all numbers below HWTD_PACKET_KINDS are in use. */
bool is_packet_kind(uint32_t kind);

#endif /* HWTDECODE_CLI_PACKET_OPTIONS_H */
