/*
 * Fuzz harness of records of perf beside raw bytes: sample_type, a byte of
 * choices (big-endian, a CPU), and the records.
 */
#include "fuzz.h"
#include "fuzz_perf.h"

#define MAX_INPUT ((size_t)1 << 16)

/* PSB and PSBEND. */
static const uint8_t raw[] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x23 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hwtd_search search = { .size = sizeof(search),
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_perf_records records = { .size = sizeof(records) };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.tech = HWTD_TECH_INTEL_PT,
		.search = &search,
		.perf_records = &records,
		.n_perf_records = 1 };
	struct fuzz_in in = { data, size };
	struct fuzz_file bytes, file;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint64_t choices;
	int rc;

	if (size > MAX_INPUT)
		return (0);
	records.sample_type = fuzz_take(&in, 8);
	choices = fuzz_take(&in, 1);
	records.big_endian = choices & 1;
	records.cpu_plus_1 = choices >> 1 & 3;
	ctx = fuzz_perf_context();
	fuzz_file_open(&bytes, raw, sizeof(raw));
	fuzz_file_open(&file, in.at, in.left);
	records.path = file.path;
	rc = hwtd_trace_open(ctx, bytes.path, &opts, &trace, &err);
	fuzz_file_close(&file);
	fuzz_file_close(&bytes);
	fuzz_perf_check_result(rc, &err);
	if (rc == HWTD_OK) {
		fuzz_perf_check(trace, size);
		hwtd_trace_close(trace);
	}
	fuzz_perf_context_end(ctx);
	return (0);
}
