/*
 * All that a coverage tells, as text, to be compared.
 */
#ifndef TEST_COVERAGE_TEXT_H
#define TEST_COVERAGE_TEXT_H

#include <hwtdecode/hwtdecode.h>

/* Owned: free().  What a call refuses ends the test. */
char *coverage_text(struct hwtd_coverage *coverage);

#endif /* TEST_COVERAGE_TEXT_H */
