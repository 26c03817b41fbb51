/*
 * Reading columns to the end, for harnesses of what can be exported.
 */
#ifndef FUZZ_COLUMNS_H
#define FUZZ_COLUMNS_H

#include <hwtdecode/export.h>

/*
 * Read the stream, check each array, release all.  Returns its rows; it ends the
 * program if reading fails.
 */
uint64_t fuzz_columns_read(struct ArrowArrayStream *stream);

#endif /* FUZZ_COLUMNS_H */
