/*
 * What holds of rows of calls, whatever they were made of: they nest, each ends
 * once, and times add up.
 */
#ifndef TEST_CALL_CHECK_H
#define TEST_CALL_CHECK_H

#include <hwtdecode/hwtdecode.h>

struct open_call {
	uint64_t id;
	uint32_t thread, stack;
	uint64_t begin_ns;
	int32_t depth;
};

/* All zero: nothing was seen. */
struct call_check {
	struct open_call *open;
	size_t n, cap;
	uint64_t begun, ended;
	/* Of all threads. */
	uint64_t self_ns, gap_ns, off_ns, insns;
	/* What is wrong. */
	char text[128];
};

/* A row of ENTER, LEAVE or GAP; false: `text` says what is wrong. */
bool call_check_row(struct call_check *c, const struct hwtd_call *row);

/* All calls ended, and so much time all threads have; gives memory back. */
bool call_check_end(struct call_check *c, uint64_t span_ns);

/* The time of all threads, without that in no call. */
uint64_t call_check_span(const struct hwtd_calls *calls);

#endif /* TEST_CALL_CHECK_H */
