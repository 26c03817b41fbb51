/*
 * Saving an input as a .hwt file, for import and archive.
 */
#ifndef CLI_SAVE_H
#define CLI_SAVE_H

#include "cli/input/input.h"

/* Save to options->output; says what is wrong.  An exit code. */
int save_input(const struct input *input, const struct options *options,
    bool with_images);

#endif /* CLI_SAVE_H */
