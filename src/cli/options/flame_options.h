/*
 * Options of the command flame.
 */
#ifndef HWTDECODE_CLI_FLAME_OPTIONS_H
#define HWTDECODE_CLI_FLAME_OPTIONS_H

#include "cli/options/options.h"

/* In the order of the option's choices. */
enum flame_format {
	FLAME_TEXT,
	FLAME_SVG,
	FLAME_FOLDED,
	FLAME_SPEEDSCOPE,
	FLAME_JSONL,
	FLAME_CSV
};

#define FLAME_FORMATS "text|svg|folded|speedscope|jsonl|csv"

/* *known is false if the option is none of these. */
bool take_flame_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* That of --format, else of the name of -o, else text.  EXIT_DONE, or another. */
int flame_format_of(const struct options *options, enum flame_format *out);

#endif /* HWTDECODE_CLI_FLAME_OPTIONS_H */
