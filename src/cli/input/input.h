/*
 * The trace that a command reads, opened with what the options say.
 */
#ifndef HWTDECODE_CLI_INPUT_H
#define HWTDECODE_CLI_INPUT_H

#include "cli/options/options.h"

struct input {
	/* As the user named it. */
	const char *name;
	/* Where it lies, if that is a copy of standard input; else NULL. */
	char *spooled;
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	struct hwtd_trace_info info;
};

/*
 * EXIT_DONE, or another exit code after a message: also when an output of the
 * options would replace a file that is read.
 */
int input_open(struct input *input, const struct options *options);
void input_close(struct input *input);

/* Fill cursor options from the command line; nothing is copied. */
void input_events_options(const struct options *options,
    struct hwtd_events_options *out);

/*
 * EXIT_DONE if every --stream is there; else an exit code after a message.  Warns
 * where no stream has what the command asks for.
 */
int input_check_streams(const struct input *input,
    const struct options *options);

/* A failed read: says why and returns the exit code. */
int input_say_read_error(const struct input *input,
    const struct options *options, const struct hwtd_error *err);

/* What the tool asks of the library. */
struct hwtd_context_options library_options(const struct options *options);

/* "intel-pt" and so on. */
const char *tech_name(uint32_t tech);

#endif /* HWTDECODE_CLI_INPUT_H */
