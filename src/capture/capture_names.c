/*
 * Names of losses.
 */
#include <hwtdecode/capture.h>

const char *
hwtd_capture_loss_name(uint32_t loss)
{
	static const char *const names[HWTD_CAPTURE_LOSSES] = {
		[HWTD_CAPTURE_LOST_BYTES] = "bytes",
		[HWTD_CAPTURE_LOST_SLICES] = "slices",
		[HWTD_CAPTURE_LOST_UNKNOWN] = "unknown",
		[HWTD_CAPTURE_LOST_STALLS] = "stalls",
		[HWTD_CAPTURE_LOST_SAMPLES] = "samples",
		[HWTD_CAPTURE_LOST_RECORDS] = "records",
		[HWTD_CAPTURE_LOST_THREADS] = "threads",
		[HWTD_CAPTURE_DOUBTED] = "doubted",
	};

	return (loss < HWTD_CAPTURE_LOSSES ? names[loss] : "unknown");
}
