/*
 * What flags of a marker are called, in all forms of rows.
 */
#ifndef CLI_MARKER_FLAGS_H
#define CLI_MARKER_FLAGS_H

#include <hwtdecode/event.h>

struct marker_flag {
	uint32_t bit;
	const char *name;
};

#define N_MARKER_FLAGS 8

extern const struct marker_flag marker_flags[N_MARKER_FLAGS];

#endif /* CLI_MARKER_FLAGS_H */
