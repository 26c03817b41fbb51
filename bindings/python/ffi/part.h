/*
 * Files in the making, which have a name of their own until they are whole: they are gone
 * when nobody makes them any more, whatever handler of a signal runs meanwhile.
 */
#ifndef HWTPY_PART_H
#define HWTPY_PART_H

#ifndef HWTD_CDEF
#include <stdint.h>
#endif

struct hwtpy_part;

/*
 * The name of a file that may be there from now on, and that nobody else uses.  It is of
 * `process`; one that was forked leaves it alone.  NULL: out of memory.
 */
struct hwtpy_part *hwtpy_part_create(const char *name, uint64_t process);

/* Nobody makes it any more: the file goes, if it has that name still. */
void hwtpy_part_drop(struct hwtpy_part *part);

#endif /* HWTPY_PART_H */
