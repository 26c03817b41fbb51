/*
 * Positions in a trace as users write them.
 */
#ifndef HWTDECODE_CLI_POSITION_OPTION_H
#define HWTDECODE_CLI_POSITION_OPTION_H

#include <stdbool.h>

#include <hwtdecode/space.h>

/*
 * "start", "end", a time ("1.5s", "20us", "123"), or STREAM:OFFSET.  False when
 * it is nothing of these.
 */
bool parse_position(const char *text, struct hwtd_position *out);

#endif /* HWTDECODE_CLI_POSITION_OPTION_H */
