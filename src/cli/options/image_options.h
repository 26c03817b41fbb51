/*
 * Images named on the command line: --image and --images.
 */
#ifndef HWTDECODE_CLI_IMAGE_OPTIONS_H
#define HWTDECODE_CLI_IMAGE_OPTIONS_H

#include "cli/options/options.h"

/* FILE[:OFFSET[:SIZE]]@ADDRESS.  False after a message. */
bool take_image(struct options *options, const char *spec);

/* A text file with one image per line.  False after a message. */
bool take_image_list(struct options *options, const char *path);

#endif /* HWTDECODE_CLI_IMAGE_OPTIONS_H */
