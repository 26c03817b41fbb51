/*
 * Saving an input as a .hwt file.
 */
#include "cli/output/save.h"

#include "cli/output/message.h"

int
save_input(const struct input *input, const struct options *options,
    bool with_images)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_save_options how = {
		.size = sizeof(how),
		.level = options->no_compress ? -1 : options->level,
	};
	int code;

	if (with_images)
		how.flags |= HWTD_SAVE_IMAGES;
	if (options->any_file)
		how.flags |= HWTD_SAVE_ANY_FILE;
	if (hwtd_trace_save(input->trace, options->output, &how, &err) ==
	    HWTD_OK)
		return (EXIT_DONE);
	if (err.code == HWTD_E_STATE) {
		say_library_message(input->name, &err);
		say_hint("copy the file there; or, if it may be part of the "
			 "output, add --any-file");
		return (EXIT_FAILED);
	}
	error_drop_path(&err, options->output);
	code = say_library_error(options->output, &err);
	return (code);
}
