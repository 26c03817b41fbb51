/*
 * The files that an export writes.
 */
#include "cli/export/export_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output/message.h"
#include "cli/output/output_guard.h"

bool
export_files_open(struct export_files *files, const struct options *options)
{
	*files = (struct export_files){ .options = options, .n = 1 };
	return (output_open(&files->out, options->output));
}

int
export_files_write(void *arg, const void *bytes, size_t n)
{
	struct export_files *files = arg;

	output_bytes(&files->out, bytes, n);
	return (files->out.failed);
}

int
export_files_next(void *arg)
{
	struct export_files *files = arg;
	const char *first = files->options->output;
	const size_t room = strlen(first) + 16;
	char *name = malloc(room);

	if (name == NULL)
		return (ENOMEM);
	files->said = true;
	(void)snprintf(name, room, "%s.%u", first, files->n + 1);
	if (!output_close(&files->out, true) ||
	    guard_further_output(files->options, name) != EXIT_DONE ||
	    !output_open(&files->out, name)) {
		free(name);
		return (EIO);
	}
	files->said = false;
	free(files->name);
	files->name = name;
	files->n++;
	return (0);
}

bool
export_files_close(struct export_files *files, bool keep)
{
	const bool good = output_close(&files->out, keep);

	free(files->name);
	files->name = NULL;
	return (good);
}
