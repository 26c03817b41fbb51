/*
 * Options of the command export, and the formats that they name.
 */
#ifndef HWTDECODE_CLI_EXPORT_OPTIONS_H
#define HWTDECODE_CLI_EXPORT_OPTIONS_H

#include "cli/options/options.h"
#include "cli/output/output.h"

/* *known is false if the option is none of these. */
bool take_export_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* What is to be written. */
struct export_target {
	/* Rows of the command events instead: what follows does not count. */
	bool rows;
	enum output_format row_format;
	struct hwtd_export_format_info format;
	/* HWTD_EXPORT_* bits. */
	uint32_t flags;
};

/* EXIT_DONE, or an exit code after a message. */
int export_target_of(const struct options *options, struct export_target *out);

/* EXIT_DONE, or an exit code after a message: the format has no such thing. */
int export_check_fit(const struct options *options,
    const struct export_target *target);

/* A table of all formats, for people. */
void export_list_formats(struct output *out);

#endif /* HWTDECODE_CLI_EXPORT_OPTIONS_H */
