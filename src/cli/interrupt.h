/*
 * Signals: the one flag that handlers set.
 */
#ifndef HWTDECODE_CLI_INTERRUPT_H
#define HWTDECODE_CLI_INTERRUPT_H

#include <stdbool.h>

/* Catch SIGINT once (a second one kills), ignore SIGPIPE. */
void interrupt_catch(void);
bool interrupt_seen(void);

#endif /* HWTDECODE_CLI_INTERRUPT_H */
