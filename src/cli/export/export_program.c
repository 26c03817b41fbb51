/*
 * Which program or library a profile for compilers is of.
 */
#include <string.h>

#include "cli/export/export_program.h"
#include "cli/output/message.h"

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL ? slash + 1 : path);
}

int
export_program_find(const struct input *input, const struct options *options,
    uint32_t *image_out)
{
	const char *name = options->export.program, *first = NULL;
	struct hwtd_image_info info = { .size = sizeof(info) };
	size_t n = 0;

	*image_out = HWTD_NO_ID;
	if (name == NULL)
		return (EXIT_DONE);
	for (uint32_t i = 0;
	     hwtd_trace_image(input->trace, i, &info) == HWTD_OK; i++) {
		if (strcmp(info.path, name) == 0) {
			*image_out = i;
			return (EXIT_DONE);
		}
		if (strcmp(last_part(info.path), name) != 0)
			continue;
		if (n++ == 0) {
			*image_out = i;
			first = info.path;
		} else if (n == 2) {
			say_error("--program %s: that is %s, and %s", name,
			    first, info.path);
		}
	}
	if (n == 1)
		return (EXIT_DONE);
	if (n == 0) {
		say_error("--program %s: there is no such image", name);
		say_hint("'hwtdecode info --images' lists them");
	} else {
		say_hint("give the whole path");
	}
	return (EXIT_BAD_USAGE);
}

void
export_program_note(const struct input *input,
    const struct hwtd_compiler_info *info)
{
	struct hwtd_image_info image = { .size = sizeof(image) };

	if ((info->flags & HWTD_COMPILERF_SATURATED) != 0)
		say_warning("%s: counts are larger than readers have room for",
		    input->name);
	if (info->image == HWTD_NO_ID || info->insns_elsewhere == 0 ||
	    hwtd_trace_image(input->trace, info->image, &image) != HWTD_OK)
		return;
	say_note("profile of %s: %llu instructions; %llu of other images are "
		 "left out",
	    image.path, (unsigned long long)info->insns,
	    (unsigned long long)info->insns_elsewhere);
}
