/*
 * Where records come among rows, by a plain model.  Every failure fails the test.
 */
#ifndef TEST_RECORD_MODEL_H
#define TEST_RECORD_MODEL_H

#include "support/memory_trace.h"

/*
 * Put `n` records among the rows of a trace, as a cursor would; `timed` says of
 * each stream whether it has a clock.  *places_out: of each row of `want`, where it
 * is in `plain`, or would be; to be freed.
 */
void rm_insert(const struct mt_rows *plain, const bool *timed,
    const struct hwtd_record *records, size_t n, struct mt_rows *want,
    size_t **places_out);

#endif /* TEST_RECORD_MODEL_H */
