/*
 * The files that an export writes: NAME, NAME.2, NAME.3 and so on.
 */
#ifndef HWTDECODE_CLI_EXPORT_FILES_H
#define HWTDECODE_CLI_EXPORT_FILES_H

#include "cli/options/options.h"
#include "cli/output/output.h"

struct export_files {
	const struct options *options;
	struct output out;
	/* Of the one that is open, if it is not that of -o. */
	char *name;
	unsigned int n;
	/* A message was said of what next() returned. */
	bool said;
};

/* False after a message. */
bool export_files_open(struct export_files *files,
    const struct options *options);

/* For hwtd_format_options; `arg` is a struct export_files. */
int export_files_write(void *arg, const void *bytes, size_t n);
int export_files_next(void *arg);

/* False after a message.  What is not kept is the file that is open. */
bool export_files_close(struct export_files *files, bool keep);

#endif /* HWTDECODE_CLI_EXPORT_FILES_H */
