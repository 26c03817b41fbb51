/*
 * Checks of trace sinks and their sources.
 */
#include "fuzz_sink.h"

#include <inttypes.h>

#include "fuzz.h"

/* All bytes of a sink are accounted for. */
static void
check_sink(const struct hwtd_trace *trace, uint32_t stream, uint64_t n_bytes)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };
	uint64_t sum;

	FUZZ_CHECK(hwtd_trace_sink(trace, stream, &info) == HWTD_OK,
	    "sink %u tells nothing", stream);
	sum = info.overhead_bytes + info.sync_bytes + info.footer_bytes +
	    info.lost_bytes + info.untold_bytes;
	for (size_t i = 0; i < HWTD_CS_TRACE_IDS; i++)
		sum += info.id_bytes[i];
	FUZZ_CHECK(sum == n_bytes, "%" PRIu64 " of %" PRIu64 " bytes", sum,
	    n_bytes);
}

void
fuzz_check_sink_stream(const struct hwtd_trace *trace, uint32_t stream)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };
	struct hwtd_stream_desc d = { .size = sizeof(d) };

	FUZZ_CHECK(hwtd_trace_stream(trace, stream, &d) == HWTD_OK,
	    "no stream %u", stream);
	FUZZ_CHECK(d.tech == HWTD_TECH_CORESIGHT && d.name[0] != '\0',
	    "stream %u of technology %u", stream, d.tech);
	if (d.framing != HWTD_FRAMING_NONE)
		check_sink(trace, stream, d.n_bytes);
	if (d.sink_plus_1 == 0)
		return;
	FUZZ_CHECK(hwtd_trace_sink(trace, d.sink_plus_1 - 1, &info) == HWTD_OK,
	    "stream %u has no sink", stream);
	FUZZ_CHECK(d.n_bytes == info.id_bytes[d.coresight->trace_id],
	    "stream %u has %" PRIu64 " bytes", stream, d.n_bytes);
}
