/*
 * Whether to colour: the option, the environment, the terminal.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/color.h"

static bool
is_set(const char *variable)
{
	const char *value = getenv(variable);

	return (value != NULL && value[0] != '\0');
}

bool
color_wanted(const struct options *options, const struct output *out)
{
	if (options->format != FORMAT_TEXT || options->color == COLOR_NEVER)
		return (false);
	if (options->color == COLOR_ALWAYS)
		return (true);
	if (is_set("NO_COLOR"))
		return (false);
	if (is_set("CLICOLOR_FORCE") &&
	    strcmp(getenv("CLICOLOR_FORCE"), "0") != 0)
		return (true);
	const char *terminal = getenv("TERM");

	return (isatty(out->fd) != 0 &&
	    (terminal == NULL || strcmp(terminal, "dumb") != 0));
}
