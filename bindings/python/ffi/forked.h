/*
 * Closing what has threads, in the process that has them.
 */
#ifndef HWTPY_FORKED_H
#define HWTPY_FORKED_H

#ifndef HWTD_CDEF
#include <hwtdecode/hwtdecode.h>
#endif

/*
 * Close it, if this process is `process`.  Threads do not come along when one is
 * forked: who waits for them there waits for ever.
 */
void hwtpy_events_close(uint64_t process, struct hwtd_events *events);
void hwtpy_calls_close(uint64_t process, struct hwtd_calls *calls);
void hwtpy_runs_close(uint64_t process, struct hwtd_runs *runs);
void hwtpy_divergences_close(uint64_t process,
    struct hwtd_divergences *divergences);

#endif /* HWTPY_FORKED_H */
