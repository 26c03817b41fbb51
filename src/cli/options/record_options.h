/*
 * Options of record: what is traced, and how.
 */
#ifndef HWTDECODE_CLI_RECORD_OPTIONS_H
#define HWTDECODE_CLI_RECORD_OPTIONS_H

#include "cli/options/options.h"

/* False after a message.  Sets *known when `entry` is one of them. */
bool take_record_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* They fit to each other, and say what to record.  False after a message. */
bool check_record_options(const struct options *options);

void record_options_fini(struct options *options);

/* What the library is asked for; borrows from `options`. */
struct record_request {
	struct hwtd_capture_options options;
	struct hwtd_capture_pt pt;
	struct hwtd_capture_spe spe;
	struct hwtd_capture_coresight coresight;
	struct hwtd_search search;
};

void record_request_make(struct hwtd_context *library,
    const struct options *options, struct record_request *out);

#endif /* HWTDECODE_CLI_RECORD_OPTIONS_H */
