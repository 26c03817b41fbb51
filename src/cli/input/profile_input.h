/*
 * The profile that a command makes of the calls of a trace or of text.
 */
#ifndef HWTDECODE_CLI_PROFILE_INPUT_H
#define HWTDECODE_CLI_PROFILE_INPUT_H

#include "cli/input/call_input.h"

struct profile_input {
	struct call_input calls;
	struct hwtd_profile *profile;
};

/*
 * Open the operand and make an empty profile; `flags` are HWTD_PROFILE_* bits.
 * EXIT_DONE, or an exit code after a message; to be closed in both cases.
 */
int profile_input_open(struct profile_input *in, const struct options *options,
    uint32_t flags);

/* Read some more: HWTD_OK, HWTD_END, or an error. */
int profile_input_step(struct profile_input *in, struct hwtd_error *err);

/* Read all, with progress.  An exit code. */
int profile_input_read(struct profile_input *in);

/* Say what was not seen.  An exit code. */
int profile_input_judge(const struct profile_input *in);

void profile_input_close(struct profile_input *in);

#endif /* HWTDECODE_CLI_PROFILE_INPUT_H */
