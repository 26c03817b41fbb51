/*
 * Comparing the file of a capture with all that the hardware wrote.
 */
#ifndef TEST_ENGINE_ACCOUNT_H
#define TEST_ENGINE_ACCOUNT_H

#include "engine_run.h"

/* What the bytes of a file came to. */
struct engine_account {
	/* Bytes that were written before the capture was told to end. */
	uint64_t written;
	/* Of these: not in the file. */
	uint64_t missing;
	/* Extents that begin behind a loss. */
	uint64_t after_loss;
	/* What is wrong, first; "": nothing. */
	char wrong[400];
};

/*
 * Each extent holds bytes that the hardware wrote one after another, in the order
 * in which it wrote them, of one slice where slices begin anew; and where some are
 * missing the file says so.  `failed`: the capture did, which says so as well.
 */
void engine_account(const struct engine_run *run, bool failed,
    struct engine_account *out);

#endif /* TEST_ENGINE_ACCOUNT_H */
