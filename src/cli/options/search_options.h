/*
 * Where files of images are looked for: --root and the like; and the options
 * of the commands records and maps.
 */
#ifndef HWTDECODE_CLI_SEARCH_OPTIONS_H
#define HWTDECODE_CLI_SEARCH_OPTIONS_H

#include "cli/options/options.h"

/* Sets *known when `entry` is one of them.  False after a message. */
bool take_space_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

/* Look in perf's cache after all other folders of build-ids, if it is there. */
bool add_build_id_cache(struct options *options);

/* What they say, for the library; borrowed from `options`. */
struct hwtd_search search_of(const struct options *options);

void search_options_fini(struct options *options);

#endif /* HWTDECODE_CLI_SEARCH_OPTIONS_H */
