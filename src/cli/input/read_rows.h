/*
 * Reading the rows of a trace, batch by batch, with progress and interrupts.
 */
#ifndef HWTDECODE_CLI_READ_ROWS_H
#define HWTDECODE_CLI_READ_ROWS_H

#include "cli/input/input.h"

/* What is done with the rows. */
struct row_reader {
	void *arg;
	/*
	 * Takes a batch and says in *n_out how many rows counted, for --limit.
	 * An exit code: not EXIT_DONE ends reading.
	 */
	int (*take)(void *arg, const struct hwtd_batch *batch,
	    uint64_t *n_out);
	/* True: no more is wanted. */
	bool (*stopped)(void *arg);
	/* Before something is said that must not stand in the output. */
	void (*flush)(void *arg);
};

/*
 * Rows at a level (an hwtd_level) that the options ask for, until the end, the
 * limit, or something stops it.  Returns an exit code, EXIT_LOSS if more was
 * lost than --max-loss allows; *stats_out is set in any case.
 */
int read_rows(const struct input *input, const struct options *options,
    uint32_t level, const struct row_reader *reader,
    struct hwtd_stats *stats_out);

#endif /* HWTDECODE_CLI_READ_ROWS_H */
