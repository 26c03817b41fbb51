/*
 * Streams of a session: what describes them, and records about their bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "capture/session_internal.h"
#include "record/record_list.h"

static struct hwtd_stream_desc
describe(const struct hwtdi_session *s, const struct hwtdi_node *node)
{
	const bool cpus = s->options.mode == HWTDI_HWT_CPU;
	struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.cpu = cpus ? node->index : HWTD_NO_ID,
		.pid = cpus ? HWTD_NO_ID : s->pid,
		.tid = cpus ? HWTD_NO_ID : node->tid,
	};

	return (desc);
}

/* Counts of the timer of the machine, which SPE and TSC packets hold. */
static void
set_clock(const struct hwtdi_session *s, struct hwtd_stream_desc *desc)
{
	if (s->machine->frequency == 0)
		return;
	desc->clock.counts_per = s->machine->frequency;
	desc->clock.ns_per = 1000000000;
	desc->clock.base_count = s->machine->base_count;
	desc->clock.base_ns = s->machine->base_ns;
}

static int
sink_stream(struct hwtdi_session *s, struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.framing = HWTD_FRAMING_MEMORY,
		.name = "ETR",
	};

	return (hwtdi_capture_file_stream(s->file, &desc, &s->sink, err));
}

/* That of a thread goes with it from CPU to CPU. */
static int
source_stream(struct hwtdi_session *s, struct hwtdi_node *node,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = describe(s, node);
	struct hwtd_coresight_config config = s->config.cs;
	char name[32];

	/* Reserved numbers are no sources, and numbers have 7 bits. */
	if (node->index >= HWTD_CS_LAST_ID) {
		hwtdi_log(s->library, HWTD_LOG_WARNING, "capture",
		    "coresight: number %" PRIu32
		    " has no trace ID; what it ran cannot be told apart",
		    node->index);
		node->stream = s->sink;
		return (hwtdi_capture_file_loss(s->file,
		    HWTD_CAPTURE_LOST_THREADS, HWTD_NO_ID, 1, err));
	}
	config.trace_id = node->index + 1;
	if (!hwtdi_config_etm_ids(s->sys,
		s->options.mode == HWTDI_HWT_CPU ? node->index : 0,
		config.idr))
		hwtdi_log(s->library, HWTD_LOG_WARNING, "capture",
		    "coresight: dev.coresight_etm4x.*.idr* cannot be read; "
		    "the trace can be decoded only with registers that are "
		    "told later");
	(void)snprintf(name, sizeof(name), "ID %" PRIu32, config.trace_id);
	desc.tech = HWTD_TECH_CORESIGHT;
	desc.sink_plus_1 = s->sink + 1;
	desc.coresight = &config;
	desc.name = name;
	set_clock(s, &desc);
	return (hwtdi_capture_file_stream(s->file, &desc, &node->stream, err));
}

int
hwtdi_session_sources(struct hwtdi_session *s, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (s->sink == HWTD_NO_ID)
		rc = sink_stream(s, err);
	for (size_t i = 0; rc == HWTD_OK && i < s->n_nodes; i++)
		if (s->nodes[i].stream == HWTD_NO_ID)
			rc = source_stream(s, &s->nodes[i], err);
	return (rc);
}

int
hwtdi_session_stream(struct hwtdi_session *s, struct hwtdi_node *node,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = describe(s, node);
	char name[32];

	if (node->stream != HWTD_NO_ID)
		return (HWTD_OK);
	(void)snprintf(name, sizeof(name), "%s %s %" PRIu32,
	    hwtdi_backend_name(s->options.backend),
	    s->options.mode == HWTDI_HWT_CPU ? "CPU" : "thread", node->index);
	desc.name = name;
	if (s->options.backend == HWTDI_BACKEND_PT) {
		desc.tech = HWTD_TECH_INTEL_PT;
		desc.pt = &s->config.pt;
		/* Without TSC packets there is nothing to convert. */
		if ((s->hwt->rtit_ctl & HWTDI_HWT_PT_TSC) != 0)
			set_clock(s, &desc);
	} else {
		desc.tech = HWTD_TECH_SPE;
		desc.spe = &s->config.spe;
		set_clock(s, &desc);
	}
	return (hwtdi_capture_file_stream(s->file, &desc, &node->stream, err));
}

int
hwtdi_session_mark(struct hwtdi_session *s, uint32_t stream, uint64_t n,
    uint64_t time_ns, bool exact, uint64_t flags, struct hwtd_error *err)
{
	struct hwtd_record record = hwtdi_record_of(HWTD_REC_BUFFER);

	record.flags = HWTD_RECF_LEN | HWTD_RECF_VALUE;
	record.stream = stream;
	record.len = n;
	record.value = flags;
	/* Times of records never go back. */
	if (time_ns >= s->file->marked_ns) {
		record.flags |= HWTD_RECF_TIME;
		record.time_ns = time_ns;
	}
	/* What names a byte orders records and bytes. */
	if (exact) {
		record.flags |= HWTD_RECF_STREAM_OFF;
		record.stream_off = s->file->ends[stream];
	}
	return (hwtdi_capture_file_record(s->file, &record, err));
}
