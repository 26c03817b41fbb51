/*
 * Which program or library a profile for compilers is of.
 */
#ifndef HWTDECODE_CLI_EXPORT_PROGRAM_H
#define HWTDECODE_CLI_EXPORT_PROGRAM_H

#include "cli/input/input.h"

/*
 * The image that --program names, by its path or the last part of it; HWTD_NO_ID
 * without the option.  EXIT_DONE, or an exit code after a message.
 */
int export_program_find(const struct input *input,
    const struct options *options, uint32_t *image_out);

/* Say what of a trace is not in a profile, if anything is not. */
void export_program_note(const struct input *input,
    const struct hwtd_compiler_info *info);

#endif /* HWTDECODE_CLI_EXPORT_PROGRAM_H */
