/*
 * What an export is made of: how the command export opens its input, by the kind
 * of source that the format has.
 *
 * A kind is a file that offers a struct of functions, and a line in sources[] of
 * cmd_export.c.
 */
#ifndef HWTDECODE_CLI_EXPORT_SOURCE_H
#define HWTDECODE_CLI_EXPORT_SOURCE_H

#include "cli/options/options.h"

struct export_source {
	/* Bytes of `state`, zeros when open() is called. */
	size_t state_bytes;
	/*
	 * Open the input, and set *name to what messages call it.  EXIT_DONE, or
	 * an exit code after a message; close() is called in both cases.
	 */
	int (*open)(void *state, const struct options *options,
	    const struct hwtd_format_options *how, const char **name);
	/*
	 * What has to be read before anything can be written, step by step, as
	 * hwtd_export_write().  NULL: nothing.
	 */
	int (*fill)(void *state, struct hwtd_error *err);
	/* Begin to write. */
	int (*begin)(void *state, const struct hwtd_format_options *how,
	    struct hwtd_export **export_out, struct hwtd_error *err);
	/* Raw bytes there are, and that were read so far; for progress. */
	uint64_t (*bytes)(const void *state);
	uint64_t (*bytes_read)(const void *state);
	/* A step failed: say why; the exit code. */
	int (*say_error)(const void *state, const struct hwtd_error *err);
	/* Say what was not seen, of an export that is still open; the exit code. */
	int (*judge)(const void *state);
	void (*close)(void *state);
};

extern const struct export_source export_from_calls;
extern const struct export_source export_from_profile;
/* Instead of it, with --code. */
extern const struct export_source export_from_counts;
extern const struct export_source export_from_runs;
extern const struct export_source export_from_events;
extern const struct export_source export_from_coverage;

#endif /* HWTDECODE_CLI_EXPORT_SOURCE_H */
