/*
 * Names of the fields and flags of markers.
 */
#include "cli/print/marker_fields.h"

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

bool
marker_has_master(const struct hwtd_marker *marker)
{
	return (marker->source == HWTD_MARKER_STM &&
	    (marker->flags & HWTD_MARKERF_NO_CHANNEL) == 0);
}

const char *
marker_channel_name(const struct hwtd_marker *marker)
{
	switch (marker->source) {
	case HWTD_MARKER_STM:
		return (marker_has_master(marker) ? "channel" : NULL);
	case HWTD_MARKER_ITM:
		return ((marker->flags & HWTD_MARKERF_HARDWARE) != 0
			? "discriminator"
			: "port");
	case HWTD_MARKER_INSTRUMENTATION:
		return ("level");
	default:
		return (NULL);
	}
}
