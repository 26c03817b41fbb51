/*
 * Printing a flame: a row for each frame, as text, JSON lines or CSV.
 */
#ifndef HWTDECODE_CLI_FLAME_WRITER_H
#define HWTDECODE_CLI_FLAME_WRITER_H

#include "cli/options/flame_options.h"
#include "cli/output/output.h"

/* `interrupted`: the user broke off, and it is marked.  Returns an exit code. */
int flame_write(struct output *out, const struct options *options,
    enum flame_format format, const struct hwtd_flame *flame,
    bool interrupted);

#endif /* HWTDECODE_CLI_FLAME_WRITER_H */
