/*
 * Signals: the flags that handlers set.
 */
#ifndef HWTDECODE_CLI_INTERRUPT_H
#define HWTDECODE_CLI_INTERRUPT_H

#include <stdbool.h>

/* Catch SIGINT once (a second one kills), ignore SIGPIPE. */
void interrupt_catch(void);
bool interrupt_seen(void);

/*
 * From now on SIGINT, SIGTERM and SIGHUP are counted and end nothing; those that
 * were ignored stay so.
 */
void interrupt_count(void);
unsigned int interrupt_times(void);

/* True once after the user asked how far it is (SIGINFO, else SIGUSR1). */
bool interrupt_asked(void);

#endif /* HWTDECODE_CLI_INTERRUPT_H */
