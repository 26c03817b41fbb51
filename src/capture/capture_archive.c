/*
 * Completing the file of a capture with the code of what was mapped.
 */
#include "capture/capture_archive.h"

int
hwtdi_capture_archive(struct hwtd_context *library,
    const struct hwtd_capture_options *options, struct hwtd_error *err)
{
	const struct hwtd_open_options open = {
		.size = sizeof(open),
		.search = options->search,
	};
	const struct hwtd_save_options save = {
		.size = sizeof(save),
		.level = options->level,
		.flags = HWTD_SAVE_IMAGES,
	};
	struct hwtd_trace *trace;
	int rc;

	rc = hwtd_trace_open(library, options->output, &open, &trace, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_trace_save(trace, options->output, &save, err);
	hwtd_trace_close(trace);
	return (rc);
}
