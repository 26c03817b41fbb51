/*
 * What no output may replace: the files that a command reads.
 */
#ifndef HWTDECODE_CLI_OUTPUT_GUARD_H
#define HWTDECODE_CLI_OUTPUT_GUARD_H

#include "cli/options/options.h"

/*
 * EXIT_DONE if no file that the options have written is one that they have
 * read, whatever links lead to it; else EXIT_BAD_USAGE after a message.  An
 * option that writes a file has its place here.
 */
int guard_inputs(const struct options *options);

/* The same for the files that the trace itself names. */
int guard_named_files(const struct options *options,
    const struct hwtd_trace *trace);

/* The same for a file that is written besides: it spares those of operands. */
int guard_further_output(const struct options *options, const char *path);

#endif /* HWTDECODE_CLI_OUTPUT_GUARD_H */
