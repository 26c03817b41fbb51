/*
 * Signals while the library works: Python runs its handlers only when somebody
 * asks it to.
 */
#ifndef HWTPY_SIGNALS_H
#define HWTPY_SIGNALS_H

#ifndef HWTD_CDEF
#include <stdint.h>
#endif

/*
 * In Python: run handlers.  Other than 0: one raised, and what it raised is kept.
 */
#ifdef HWTPY_CFFI
extern "Python+C" int hwtpy_signals_look(void);
#endif

/*
 * Handlers run in this thread, as PyThread_get_thread_ident() numbers it; in a process
 * that was forked that may be another one.
 */
void hwtpy_signals_begin(uint64_t main_thread);

/*
 * How many calls of the library wait for handlers, one inside the other, if this is
 * their thread.
 */
unsigned int hwtpy_signals_level(void);

/* For hwtd_context_options.poll; `arg` is not used. */
int hwtpy_signals_poll(void *arg);

#endif /* HWTPY_SIGNALS_H */
