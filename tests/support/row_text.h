/*
 * Rows as text, so that tests can state what they expect line by line.
 *
 *	block 100000 2/7 jump ->100020 taken 64 sec0
 *	gap no-code [14,1c) before=100000 after=100020 addr=200000 @14
 *
 * One line a row.  What is not known is left out; a time is "t=NS", with a ~
 * in front if it is estimated.  A gap ends with "@" and its offset in the stream.
 * Numbers are hexadecimal, but for counts, times and ids.
 */
#ifndef TEST_ROW_TEXT_H
#define TEST_ROW_TEXT_H

#include "support/memory_trace.h"

/* All rows, a newline behind each; to be freed. */
char *row_text(struct hwtd_trace *trace, const struct mt_rows *rows);

/* Read all rows of the trace and compare them with lines of text. */
void assert_rows(struct hwtd_trace *trace,
    const struct hwtd_events_options *opts, const char *lines);

/* The same at block level without options; closes the trace. */
void assert_trace(struct hwtd_trace *trace, const char *lines);

#endif /* TEST_ROW_TEXT_H */
