/*
 * Standard input as a file: traces are read more than once and out of order.
 */
#ifndef HWTDECODE_CLI_SPOOL_H
#define HWTDECODE_CLI_SPOOL_H

#include <stdbool.h>

/*
 * Copy standard input to a temporary file.  Returns its path, or NULL after a
 * message, or, without one, after an interrupt.
 */
char *spool_standard_input(void);

/* Remove the file and give up its path; NULL does nothing. */
void spool_remove(char *path);

#endif /* HWTDECODE_CLI_SPOOL_H */
