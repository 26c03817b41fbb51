/*
 * hwtdecode import: saves any readable input as a .hwt file.
 */
#include <sys/stat.h>

#include <string.h>

#include "cli/output/message.h"
#include "cli/output/save.h"

static bool
options_fit(const struct options *options)
{
	struct stat st;

	if (options->output == NULL) {
		say_error("import needs -o FILE");
		say_hint("for instance: hwtdecode import -o run.hwt %s",
		    options->operands[0]);
		return (false);
	}
	if (strcmp(options->output, "-") == 0 ||
	    (stat(options->output, &st) == 0 && !S_ISREG(st.st_mode))) {
		say_error("%s: import writes regular files only",
		    options->output);
		say_hint("name a file with -o");
		return (false);
	}
	if (options->embed && options->no_embed) {
		say_error("--embed and --no-embed exclude each other");
		return (false);
	}
	if (options->no_compress && options->level != 0) {
		say_error("--level and --no-compress exclude each other");
		return (false);
	}
	return (true);
}

int
cmd_import(const struct options *options)
{
	struct input input;

	if (!options_fit(options))
		return (EXIT_BAD_USAGE);
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	const bool embed = options->embed ||
	    (!options->no_embed && options->n_images > 0);

	code = save_input(&input, options, embed);
	input_close(&input);
	return (code);
}
