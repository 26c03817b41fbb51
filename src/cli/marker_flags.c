/*
 * Names of the flags of markers.
 */
#include "cli/marker_flags.h"

const struct marker_flag marker_flags[N_MARKER_FLAGS] = {
	{ HWTD_MARKERF_MULTIPLE, "multiple" },
	{ HWTD_MARKERF_TRIGGER, "trigger" },
	{ HWTD_MARKERF_MARKED, "marked" },
	{ HWTD_MARKERF_NO_CHANNEL, "no_channel" },
	{ HWTD_MARKERF_GLOBAL_ERROR, "global_error" },
	{ HWTD_MARKERF_MASTER_ERROR, "master_error" },
	{ HWTD_MARKERF_FREQUENCY, "frequency" },
	{ HWTD_MARKERF_HARDWARE, "hardware" },
};
