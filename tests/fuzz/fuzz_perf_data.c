/*
 * Fuzz harness of perf.data: an input is a file.  It is read with the bytes of
 * trace and without.
 */
#include "fuzz.h"
#include "fuzz_perf.h"

#define MAX_INPUT ((size_t)1 << 17)

static void
open_file(const uint8_t *data, size_t size, uint32_t sideband_only)
{
	/* Nothing of this machine. */
	const struct hwtd_search search = { .size = sizeof(search),
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.search = &search,
		.sideband_only = sideband_only };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = fuzz_perf_context();
	struct hwtd_trace *trace;
	struct fuzz_file file;
	int rc;

	fuzz_file_open(&file, data, size);
	rc = hwtd_trace_open(ctx, file.path, &opts, &trace, &err);
	fuzz_file_close(&file);
	fuzz_perf_check_result(rc, &err);
	if (rc == HWTD_OK) {
		struct hwtd_trace_info info = { .size = sizeof(info) };

		(void)hwtd_trace_info(trace, &info);
		if (strcmp(info.format, "perf.data") == 0)
			fuzz_perf_check(trace, size);
		hwtd_trace_close(trace);
	}
	fuzz_perf_context_end(ctx);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > MAX_INPUT)
		return (0);
	open_file(data, size, 0);
	open_file(data, size, 1);
	return (0);
}
