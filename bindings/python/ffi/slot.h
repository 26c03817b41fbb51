/*
 * Places where the library puts what it opens: it belongs to somebody from the start,
 * whatever handler of a signal runs when the call comes back.
 */
#ifndef HWTPY_SLOT_H
#define HWTPY_SLOT_H

#ifndef HWTD_CDEF
#include <stdint.h>
#endif

/*
 * An empty place with one user.  What is in it later is closed by `close`; but only in
 * `process`, if that is not 0: what has threads lost them in a process that was forked,
 * and who waits for them there waits for ever.  NULL: out of memory.
 */
void **hwtpy_slot_create(void (*close)(void *object), uint64_t process);

/* One user more. */
void hwtpy_slot_hold(void *slot);

/* One less; the last one closes what is in it still. */
void hwtpy_slot_drop(void *slot);

/* Close what is in it, and drop it; `object` is what it was, and does not matter. */
void hwtpy_slot_close(void *slot, void *object);

#endif /* HWTPY_SLOT_H */
