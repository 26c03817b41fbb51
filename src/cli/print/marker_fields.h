/*
 * What fields and flags of a marker are called, in all forms of rows.
 */
#ifndef CLI_MARKER_FIELDS_H
#define CLI_MARKER_FIELDS_H

#include <hwtdecode/event.h>
#include <stdbool.h>

struct marker_flag {
	uint32_t bit;
	const char *name;
};

#define N_MARKER_FLAGS 8

extern const struct marker_flag marker_flags[N_MARKER_FLAGS];

bool marker_has_master(const struct hwtd_marker *marker);
/* What its `channel` is; NULL: it has none. */
const char *marker_channel_name(const struct hwtd_marker *marker);

#endif /* CLI_MARKER_FIELDS_H */
