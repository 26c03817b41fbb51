/*
 * All that readers of a profile tell, as text: two profiles that say the same have
 * the same text.
 */
#ifndef TEST_PROFILE_TEXT_H
#define TEST_PROFILE_TEXT_H

#include <hwtdecode/hwtdecode.h>

/* What is not told. */
#define PROFILE_TEXT_NO_SEEN 0x1u
#define PROFILE_TEXT_NO_EDGES 0x2u

/* Freed by the caller; NULL: a reader failed, *rc_out says how. */
char *profile_text(struct hwtd_profile *profile, unsigned int without,
    int *rc_out);

/* Both say the same; a difference fails the test and is printed. */
void profile_assert_same(struct hwtd_profile *a, struct hwtd_profile *b,
    unsigned int without);

#endif /* TEST_PROFILE_TEXT_H */
