/*
 * The calls that a command reads: of a trace, or of text of perf-script(1).
 */
#ifndef HWTDECODE_CLI_CALL_INPUT_H
#define HWTDECODE_CLI_CALL_INPUT_H

#include "cli/input/input.h"

struct call_input {
	const struct options *options;
	/* As the user named it. */
	const char *name;
	struct hwtd_calls *calls;
	/* Of a trace, or of text, of which nothing is decoded. */
	struct input input;
	bool has_trace;
	struct hwtd_context *library;
	char *spooled;
};

/*
 * Open the operand; `flags` are HWTD_CALLS_* bits beside those of options.
 * EXIT_DONE, or an exit code after a message; to be closed in both cases.
 */
int call_input_open(struct call_input *in, const struct options *options,
    uint32_t flags);

/* Raw bytes there are to read, for progress; 0: not known.  And how many were. */
uint64_t call_input_bytes(const struct call_input *in);
uint64_t call_input_bytes_read(const struct call_input *in);

/* A failed read: says why and returns the exit code. */
int call_input_say_error(const struct call_input *in,
    const struct hwtd_error *err);

/* What was not seen, and what of the text is no branch.  An exit code. */
int call_input_judge(const struct call_input *in);

void call_input_close(struct call_input *in);

#endif /* HWTDECODE_CLI_CALL_INPUT_H */
