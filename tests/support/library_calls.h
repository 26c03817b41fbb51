/*
 * A program that calls into a library again and again, as a trace: which code
 * its rows show.  Every failure fails the test.
 */
#ifndef TEST_LIBRARY_CALLS_H
#define TEST_LIBRARY_CALLS_H

#include "support/mapped_trace.h"

#define LC_MAIN 0x500000u
#define LC_LIBRARY 0x800000u

/* jmp *%rax: a TIP packet says where to. */
static const uint8_t lc_jump[] = { 0xff, 0xe0 };
/* A branch that needs a TNT packet, then a jump. */
static const uint8_t lc_branches[] = { 0x75, 0x00, 0xff, 0xe0 };
/* No branch before the jump. */
static const uint8_t lc_straight[] = { 0x90, 0x90, 0x90, 0xff, 0xe0 };

/* Into the library and back, `rounds` times; `tnt` before the way back. */
void lc_calls(struct pt_packets *p, const char *tnt, unsigned int rounds);

/* PSB+ with a time, then into the library and back. */
void lc_timed_calls(struct pt_packets *p, uint64_t tsc, const char *tnt);

/* Not sealed: the program, "code", everywhere, and a stream of `pid`. */
struct hwtd_trace *lc_program(const struct pt_packets *p, uint32_t pid);

/*
 * Rows of a sealed trace by image: "code newer older ...", a gap as its
 * reason and address.
 */
void lc_assert_images(struct hwtd_trace *trace, const char *want);

#endif /* TEST_LIBRARY_CALLS_H */
