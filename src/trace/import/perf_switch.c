/*
 * Context switches as Linux perf writes them.
 *
 * Source: Linux, include/uapi/linux/perf_event.h, enum perf_event_type.
 */
#include "trace/import/perf_switch.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/fail.h"

#define PERF_RECORD_ITRACE_START 12u
#define PERF_RECORD_SWITCH 14u
#define PERF_RECORD_SWITCH_CPU_WIDE 15u

#define PERF_RECORD_MISC_SWITCH_OUT 0x2000u

#define HEADER_BYTES 8u
/* What ends every record: u32 pid, u32 tid, u64 time. */
#define SAMPLE_ID_BYTES 16u

/* Bytes between header and sample id; UINT16_MAX: no record to read. */
static uint32_t
body_bytes(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_SWITCH:
		return (0);
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return (8);
	default:
		return (UINT16_MAX);
	}
}

/*
 * Only the sample id tells who runs or ran.  What SWITCH_CPU_WIDE says about
 * the other thread comes before that one's own record, and may be -1.
 */
static int
add(struct hwtd_trace *trace, uint32_t cpu, const uint8_t *record,
    uint32_t misc, size_t size, struct hwtd_error *err)
{
	const uint8_t *id = record + size - SAMPLE_ID_BYTES;
	struct hwtd_record r = {
		.size = sizeof(r),
		.type = HWTD_REC_SWITCH,
		.flags = HWTD_RECF_TIME,
		.cpu = cpu,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
	};

	r.pid = (uint32_t)hwtdi_le(id, 4);
	r.tid = (uint32_t)hwtdi_le(id + 4, 4);
	r.time_ns = hwtdi_le(id + 8, 8);
	if ((misc & PERF_RECORD_MISC_SWITCH_OUT) != 0)
		r.flags |= HWTD_RECF_SWITCH_OUT;
	return (hwtd_trace_add_record(trace, &r, err));
}

int
hwtdi_perf_switch_add(struct hwtd_trace *trace, uint32_t cpu,
    const uint8_t *bytes, size_t n, struct hwtd_error *err)
{
	size_t off = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && off < n) {
		uint32_t type, misc, body;
		size_t size;

		if (n - off < HEADER_BYTES)
			return (hwtdi_fail_at(err, HWTD_E_CORRUPT, off,
			    "%zu bytes at %zu are no record header", n - off,
			    off));
		type = (uint32_t)hwtdi_le(bytes + off, 4);
		misc = (uint32_t)hwtdi_le(bytes + off + 4, 2);
		size = (size_t)hwtdi_le(bytes + off + 6, 2);
		if (size < HEADER_BYTES || size > n - off)
			return (hwtdi_fail_at(err, HWTD_E_CORRUPT, off,
			    "record of type %" PRIu32
			    " at %zu has %zu bytes; %zu are left",
			    type, off, size, n - off));
		body = body_bytes(type);
		if (body != UINT16_MAX &&
		    size != HEADER_BYTES + body + SAMPLE_ID_BYTES)
			return (hwtdi_fail_at(err, HWTD_E_CORRUPT, off,
			    "record of type %" PRIu32
			    " at %zu has %zu bytes, not %u; it must hold "
			    "thread and time",
			    type, off, size,
			    HEADER_BYTES + body + SAMPLE_ID_BYTES));
		if (body != UINT16_MAX)
			rc = add(trace, cpu, bytes + off, misc, size, err);
		off += size;
	}
	return (rc);
}
