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

/* Both say the same; else `why` is where they begin to differ. */
bool profile_same(struct hwtd_profile *a, struct hwtd_profile *b,
    unsigned int without, char *why, size_t n);

/* For tests: a difference fails. */
#define profile_assert_same(a, b, without)                                    \
	do {                                                                  \
		char why_[1024];                                              \
                                                                              \
		if (!profile_same((a), (b), (without), why_, sizeof(why_)))   \
			fail_msg("%s", why_);                                 \
	} while (0)

#endif /* TEST_PROFILE_TEXT_H */
