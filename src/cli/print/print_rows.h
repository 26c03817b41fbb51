/*
 * Printing the rows of a trace: what events and insns have in common.
 */
#ifndef HWTDECODE_CLI_PRINT_ROWS_H
#define HWTDECODE_CLI_PRINT_ROWS_H

#include "cli/options/options.h"

/* `level` is an hwtd_level.  Returns an exit code. */
int print_rows(const struct options *options, uint32_t level);

#endif /* HWTDECODE_CLI_PRINT_ROWS_H */
