/*
 * Coverage of one input or several, added up.
 */
#ifndef HWTDECODE_CLI_COVERAGE_INPUT_H
#define HWTDECODE_CLI_COVERAGE_INPUT_H

#include "cli/input/input.h"

struct coverage_input {
	const struct options *options;
	struct hwtd_context *library;
	struct hwtd_coverage *coverage;
	/* The input that is read; its options name it alone. */
	struct options one;
	struct input input;
	bool is_open;
	struct hwtd_runs *runs;
	/* The next one, and what was read of those before. */
	size_t next;
	uint64_t bytes;
	/* Exit code of what was lost. */
	int loss;
};

/*
 * Begin with the operands of the options.  EXIT_DONE, or an exit code after a
 * message; close it in both cases.
 */
int coverage_input_open(struct coverage_input *in,
    const struct options *options);

/*
 * Read on: HWTD_OK, HWTD_END, or an error: *code_out is the exit code after a
 * message.
 */
int coverage_input_step(struct coverage_input *in, int *code_out);

/* Bytes of the input that is read, and how much was read of it. */
uint64_t coverage_input_bytes(const struct coverage_input *in);
uint64_t coverage_input_bytes_read(const struct coverage_input *in);

/* What messages about all of it begin with. */
const char *coverage_input_name(const struct coverage_input *in);

void coverage_input_close(struct coverage_input *in);

#endif /* HWTDECODE_CLI_COVERAGE_INPUT_H */
