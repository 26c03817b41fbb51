/*
 * What holds of rows of calls, whatever the input was.
 */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <hwtdecode/hwtdecode.h>

struct fuzz_open_call {
	uint64_t id;
	uint32_t thread, stack;
	uint64_t begin_ns;
	int32_t depth;
};

/* All zero: nothing was seen. */
struct fuzz_calls {
	struct fuzz_open_call *open;
	size_t n, cap, most;
	uint64_t begun, ended;
	/* Of all threads. */
	uint64_t self_ns, gap_ns, off_ns;
};

/* A row of ENTER, LEAVE or GAP. */
void fuzz_calls_row(struct fuzz_calls *calls, const struct hwtd_call *row);

/* All calls ended; so much time all threads have. */
void fuzz_calls_end(struct fuzz_calls *calls, uint64_t span_ns);

#endif /* FUZZ_CALLS_H */
