/*
 * hwtdecode import: saves any readable input as a .hwt file.
 */
#include <sys/stat.h>

#include <string.h>

#include "cli/input.h"
#include "cli/message.h"

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
	struct hwtd_error err = { .size = sizeof(err) };
	struct input input;

	if (!options_fit(options))
		return (EXIT_BAD_USAGE);
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	const bool embed = options->embed ||
	    (!options->no_embed && options->n_images > 0);
	const struct hwtd_save_options how = {
		.size = sizeof(how),
		.level = options->no_compress ? -1 : options->level,
		.flags = embed ? HWTD_SAVE_IMAGES : 0,
	};

	if (hwtd_trace_save(input.trace, options->output, &how, &err) !=
	    HWTD_OK) {
		error_drop_path(&err, options->output);
		code = say_library_error(options->output, &err);
	}
	input_close(&input);
	return (code);
}
