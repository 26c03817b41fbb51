/*
 * Trace sinks and CoreSight sources, for info: what the bytes of a sink are,
 * and how a source was configured.
 */
#include "cli/print/coresight_report.h"

#include <inttypes.h>

#include "cli/output/json_line.h"

/* What IDs that are none of sources stand for. */
#define ID_NULL 0x00
#define ID_TRIGGER 0x7d

void
coresight_sources(const struct input *input, uint32_t sink,
    uint32_t out[HWTD_CS_TRACE_IDS])
{
	for (size_t i = 0; i < HWTD_CS_TRACE_IDS; i++)
		out[i] = HWTD_NO_ID;
	for (uint32_t i = sink + 1; i < input->info.n_streams; i++) {
		struct hwtd_stream_desc d = { .size = sizeof(d) };

		if (hwtd_trace_stream(input->trace, i, &d) == HWTD_OK &&
		    d.sink_plus_1 == sink + 1 && d.coresight != NULL &&
		    d.coresight->trace_id < HWTD_CS_TRACE_IDS)
			out[d.coresight->trace_id] = i;
	}
}

static void
text_id(struct output *out, uint32_t stream, uint32_t id, uint64_t bytes)
{
	output_format(out, "  id 0x%02" PRIx32 "    %" PRIu64 " bytes", id,
	    bytes);
	if (stream != HWTD_NO_ID)
		output_format(out, "  stream %" PRIu32, stream);
	else if (id == ID_NULL)
		output_text(out, "  filler");
	else if (id == ID_TRIGGER)
		output_text(out, "  trigger");
	else if (id > HWTD_CS_LAST_ID)
		output_text(out, "  reserved");
	else
		output_text(out, "  no source is known");
	output_char(out, '\n');
}

static void
text_sink(struct output *out, const struct input *input, uint32_t sink,
    const struct hwtd_sink_info *info)
{
	uint32_t sources[HWTD_CS_TRACE_IDS];

	coresight_sources(input, sink, sources);
	output_format(out,
	    "  frames     %s  %" PRIu64 " frames  overhead %" PRIu64,
	    hwtd_framing_name(info->framing), info->n_frames,
	    info->overhead_bytes);
	if (info->sync_bytes != 0)
		output_format(out, "  sync %" PRIu64, info->sync_bytes);
	if (info->footer_bytes != 0)
		output_format(out, "  footers %" PRIu64, info->footer_bytes);
	if (info->n_barriers != 0)
		output_format(out, "  barriers %" PRIu64, info->n_barriers);
	output_format(out, "  lost %" PRIu64, info->lost_bytes);
	if (info->turned_off != 0)
		output_format(out, "  oldest at 0x%" PRIx64, info->turned_off);
	if (info->untold_bytes != 0)
		output_format(out, "  before the first id %" PRIu64,
		    info->untold_bytes);
	output_char(out, '\n');
	for (uint32_t id = 0; id < HWTD_CS_TRACE_IDS; id++)
		if (info->id_bytes[id] != 0 || sources[id] != HWTD_NO_ID)
			text_id(out, sources[id], id, info->id_bytes[id]);
}

void
coresight_doubts_text(struct output *out,
    const struct hwtd_coresight_config *config)
{
	const char *name = "";
	const char *text = "";

	for (size_t i = 0;
	     hwtd_coresight_doubt(config, i, &name, &text) == HWTD_OK; i++)
		output_format(out, "  doubtful   %-11s %s\n", name, text);
}

static void
text_config(struct output *out, const struct hwtd_coresight_config *config)
{
	const char *name = "";
	uint32_t value = 0;

	output_format(out, "  recorded   %s  arch %s  profile %s",
	    hwtd_cs_protocol_name(config->protocol),
	    hwtd_arm_arch_name(config->arch),
	    hwtd_arm_profile_name(config->profile));
	if (config->trace_id != 0)
		output_format(out, "  id 0x%02" PRIx32, config->trace_id);
	output_char(out, '\n');
	for (size_t i = 0;
	     hwtd_coresight_register(config, i, &name, &value) == HWTD_OK; i++)
		output_format(out, "  register   %-11s 0x%08" PRIx32 "\n",
		    name, value);
	coresight_doubts_text(out, config);
}

void
coresight_text(struct output *out, const struct input *input, uint32_t id,
    const struct hwtd_stream_desc *stream)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };

	if (stream->sink_plus_1 != 0)
		output_format(out, "  sink       stream %" PRIu32 "\n",
		    stream->sink_plus_1 - 1);
	if (stream->framing != HWTD_FRAMING_NONE &&
	    hwtd_trace_sink(input->trace, id, &info) == HWTD_OK)
		text_sink(out, input, id, &info);
	else if (stream->framing != HWTD_FRAMING_NONE)
		output_text(out,
		    "  sources    not looked for, as that reads the trace: "
		    "see --time-span\n");
	if (stream->coresight != NULL)
		text_config(out, stream->coresight);
}

static void
check_sink_text(struct output *out, const struct input *input, uint32_t sink,
    const struct hwtd_sink_info *info)
{
	uint32_t sources[HWTD_CS_TRACE_IDS];

	coresight_sources(input, sink, sources);
	for (uint32_t i = HWTD_CS_FIRST_ID; i <= HWTD_CS_LAST_ID; i++)
		if (info->id_bytes[i] != 0 && sources[i] == HWTD_NO_ID)
			text_id(out, HWTD_NO_ID, i, info->id_bytes[i]);
}

void
coresight_check_text(struct output *out, const struct input *input,
    uint32_t id, const struct hwtd_stats *stats)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_sink_info info = { .size = sizeof(info) };

	if (hwtd_trace_stream(input->trace, id, &d) != HWTD_OK)
		return;
	if (d.framing != HWTD_FRAMING_NONE &&
	    hwtd_trace_sink(input->trace, id, &info) == HWTD_OK)
		check_sink_text(out, input, id, &info);
	if (d.coresight == NULL)
		return;
	coresight_doubts_text(out, d.coresight);
	if (d.sink_plus_1 != 0 && d.n_bytes == 0)
		output_format(out,
		    "  no bytes   the sink has none of ID 0x%02" PRIx32
		    ": the source was off, or has another ID\n",
		    d.coresight->trace_id);
	else if (stats->bytes > 0 && stats->gap_bytes == stats->bytes &&
	    stats->gap_bytes_by_reason[HWTD_GAP_UNSYNCED] > 0)
		output_format(out,
		    "  no sync    no synchronisation packet of %s is in it: "
		    "the source is another one, or there is too little\n",
		    hwtd_cs_protocol_name(d.coresight->protocol));
}

static void
json_sink(struct output *out, const struct input *input, uint32_t sink,
    const struct hwtd_sink_info *info)
{
	uint32_t sources[HWTD_CS_TRACE_IDS];
	bool any = false;

	coresight_sources(input, sink, sources);
	json_name(out, "framing", hwtd_framing_name(info->framing));
	json_u64(out, "frames", info->n_frames);
	json_u64(out, "overhead_bytes", info->overhead_bytes);
	json_u64(out, "sync_bytes", info->sync_bytes);
	json_u64(out, "footer_bytes", info->footer_bytes);
	json_u64(out, "barriers", info->n_barriers);
	json_u64(out, "lost_bytes", info->lost_bytes);
	json_u64(out, "untold_bytes", info->untold_bytes);
	if (info->turned_off != 0)
		json_u64(out, "turned_offset", info->turned_off);
	json_key(out, "ids");
	output_char(out, '[');
	for (uint32_t id = 0; id < HWTD_CS_TRACE_IDS; id++) {
		const uint32_t stream = sources[id];

		if (info->id_bytes[id] == 0 && stream == HWTD_NO_ID)
			continue;
		output_format(out,
		    "%s{\"trace_id\":%" PRIu32 ",\"bytes\":%" PRIu64,
		    any ? "," : "", id, info->id_bytes[id]);
		if (stream != HWTD_NO_ID)
			output_format(out, ",\"stream\":%" PRIu32, stream);
		output_char(out, '}');
		any = true;
	}
	output_char(out, ']');
}

void
coresight_doubts_json(struct output *out,
    const struct hwtd_coresight_config *config)
{
	const char *name = "";
	const char *text = "";
	size_t n = 0;

	while (hwtd_coresight_doubt(config, n, &name, &text) == HWTD_OK) {
		if (n == 0)
			json_key(out, "doubts");
		output_format(out, "%s{\"register\":\"%s\",\"text\":\"%s\"}",
		    n == 0 ? "[" : ",", name, text);
		n++;
	}
	if (n > 0)
		output_char(out, ']');
}

static void
json_config(struct output *out, const struct hwtd_coresight_config *config)
{
	const char *name = "";
	uint32_t value = 0;

	json_name(out, "protocol", hwtd_cs_protocol_name(config->protocol));
	json_name(out, "arch", hwtd_arm_arch_name(config->arch));
	json_name(out, "profile", hwtd_arm_profile_name(config->profile));
	if (config->trace_id != 0)
		json_u64(out, "trace_id", config->trace_id);
	json_key(out, "registers");
	output_char(out, '{');
	for (size_t i = 0;
	     hwtd_coresight_register(config, i, &name, &value) == HWTD_OK; i++)
		output_format(out, "%s\"%s\":\"0x%" PRIx32 "\"",
		    i > 0 ? "," : "", name, value);
	output_char(out, '}');
	coresight_doubts_json(out, config);
}

void
coresight_json(struct output *out, const struct input *input, uint32_t id,
    const struct hwtd_stream_desc *stream)
{
	struct hwtd_sink_info info = { .size = sizeof(info) };

	if (stream->sink_plus_1 != 0)
		json_u64(out, "sink", stream->sink_plus_1 - 1);
	if (stream->framing != HWTD_FRAMING_NONE &&
	    hwtd_trace_sink(input->trace, id, &info) == HWTD_OK)
		json_sink(out, input, id, &info);
	if (stream->coresight != NULL)
		json_config(out, stream->coresight);
}
