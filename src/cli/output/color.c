/*
 * Whether to colour: the option, the environment, the terminal.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output/color.h"

bool
color_wanted(const struct options *options, const struct output *out)
{
	if (options->format != FORMAT_TEXT || options->color == COLOR_NEVER)
		return (false);
	if (options->color == COLOR_ALWAYS)
		return (true);
	const char *never = getenv("NO_COLOR");

	if (never != NULL && never[0] != '\0')
		return (false);
	const char *force = getenv("CLICOLOR_FORCE");

	if (force != NULL && force[0] != '\0' && strcmp(force, "0") != 0)
		return (true);
	const char *terminal = getenv("TERM");

	return (isatty(out->fd) != 0 &&
	    (terminal == NULL || strcmp(terminal, "dumb") != 0));
}
