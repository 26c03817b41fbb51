/*
 * hwtdecode archive: saves a trace with the code of every image, so that it
 * decodes on any machine.
 */
#include <sys/stat.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print/image_report.h"
#include "cli/output/message.h"
#include "cli/output/save.h"

static bool
options_fit(const struct options *options)
{
	struct stat st;

	if (options->output == NULL) {
		say_error("archive needs -o FILE");
		say_hint("for instance: hwtdecode archive -o whole.hwt %s",
		    options->operands[0]);
		return (false);
	}
	if (strcmp(options->output, "-") == 0 ||
	    (stat(options->output, &st) == 0 && !S_ISREG(st.st_mode))) {
		say_error("%s: archive writes regular files only",
		    options->output);
		say_hint("name a file with -o");
		return (false);
	}
	return (true);
}

static void
summarise(const struct input *input, const struct options *options,
    struct output *out)
{
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct stat st;
	bool *shown = images_shown(input);
	uint32_t held = 0, missing = 0, left_out = 0;

	for (uint32_t i = 0;
	     hwtd_trace_image(input->trace, i, &info) == HWTD_OK; i++) {
		if (info.state != HWTD_IMAGE_FOUND)
			missing++;
		else if ((info.flags & HWTD_IMAGE_INFO_NO_PROGRAM) != 0 &&
		    !options->any_file)
			left_out++;
		else if (shown != NULL && shown[i])
			held++;
	}
	free(shown);
	output_escaped(out, options->output);
	output_format(out, ": code of %" PRIu32 " %s", held,
	    held == 1 ? "image" : "images");
	if (stat(options->output, &st) == 0)
		output_format(out, ", %" PRIu64 " bytes",
		    (uint64_t)st.st_size);
	output_char(out, '\n');
	if (left_out > 0)
		output_format(out,
		    "%" PRIu32 " %s no ELF file of a program and left out; "
		    "--any-file takes %s\n",
		    left_out, left_out == 1 ? "image is" : "images are",
		    left_out == 1 ? "it" : "them");
	if (missing == 0)
		return;
	output_format(out, "%" PRIu32 " %s not there:\n", missing,
	    missing == 1 ? "image is" : "images are");
	for (uint32_t i = 0;
	     hwtd_trace_image(input->trace, i, &info) == HWTD_OK; i++) {
		if (info.state == HWTD_IMAGE_FOUND)
			continue;
		output_format(out, "  %s  ", image_state_name(info.state));
		output_escaped(out, info.path);
		if (info.file[0] != '\0' &&
		    strcmp(info.file, info.path) != 0) {
			output_text(out, "  file ");
			output_escaped(out, info.file);
		}
		if (info.text[0] != '\0') {
			output_text(out, "  ");
			output_escaped(out, image_why(&info));
		}
		output_char(out, '\n');
	}
}

int
cmd_archive(const struct options *options)
{
	struct input input;
	struct output out;

	if (!options_fit(options))
		return (EXIT_BAD_USAGE);
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	code = save_input(&input, options, true);
	if (code == EXIT_DONE && !output_open(&out, NULL)) {
		code = EXIT_FAILED;
	} else if (code == EXIT_DONE) {
		summarise(&input, options, &out);
		if (!output_close(&out, true))
			code = EXIT_FAILED;
	}
	input_close(&input);
	return (code);
}
