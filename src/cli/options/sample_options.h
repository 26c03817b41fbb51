/*
 * Options of the commands spe and mem.
 */
#ifndef HWTDECODE_CLI_SAMPLE_OPTIONS_H
#define HWTDECODE_CLI_SAMPLE_OPTIONS_H

#include "cli/options/options.h"

/* In the order of hwtd_memory_table, and one more. */
#define SAMPLE_TABLES                                                         \
	"symbol|insn|address|page|line|source|cpu|thread|branch|path|sharing"
#define SAMPLE_BY_SHARING HWTD_MEMORY_TABLES

/* In the order of hwtd_memory_sort. */
#define SAMPLE_SORTS                                                          \
	"samples|weight|latency|max|mean|l1-misses|llc-misses|tlb-misses|"    \
	"remote|mispredicted|transfers|sharing|key"

/* False after a message.  Sets *known when `entry` is one of them. */
bool take_sample_option(struct options *options,
    const struct option_entry *entry, const char *value, bool *known);

#endif /* HWTDECODE_CLI_SAMPLE_OPTIONS_H */
