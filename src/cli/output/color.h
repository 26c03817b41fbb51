/*
 * Whether to colour, and the colours.
 */
#ifndef HWTDECODE_CLI_COLOR_H
#define HWTDECODE_CLI_COLOR_H

#include "cli/options/options.h"
#include "cli/output/output.h"

#define COLOR_LOSS "\033[31m"
#define COLOR_GOOD "\033[32m"
#define COLOR_FAINT "\033[2m"
#define COLOR_TITLE "\033[1m"
#define COLOR_OFF "\033[0m"

/*
 * --color first; then NO_COLOR, CLICOLOR_FORCE, and whether the output is a
 * terminal.  Only text is ever coloured.
 */
bool color_wanted(const struct options *options, const struct output *out);

#endif /* HWTDECODE_CLI_COLOR_H */
