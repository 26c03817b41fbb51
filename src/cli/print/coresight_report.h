/*
 * Trace sinks and CoreSight sources, for info.
 */
#ifndef HWTDECODE_CLI_CORESIGHT_REPORT_H
#define HWTDECODE_CLI_CORESIGHT_REPORT_H

#include "cli/input/input.h"
#include "cli/output/output.h"

/* The streams of a sink by their trace ID; HWTD_NO_ID: none. */
void coresight_sources(const struct input *input, uint32_t sink,
    uint32_t out[HWTD_CS_TRACE_IDS]);

/* Lines of a stream, if it is a sink or has a configuration. */
void coresight_text(struct output *out, const struct input *input, uint32_t id,
    const struct hwtd_stream_desc *stream);

/* Why a stream of a check gave nothing, or will. */
void coresight_check_text(struct output *out, const struct input *input,
    uint32_t id, const struct hwtd_stats *stats);

/* Keys of the object of a stream. */
void coresight_json(struct output *out, const struct input *input, uint32_t id,
    const struct hwtd_stream_desc *stream);

/* Registers of a configuration that look wrong. */
void coresight_doubts_text(struct output *out,
    const struct hwtd_coresight_config *config);
void coresight_doubts_json(struct output *out,
    const struct hwtd_coresight_config *config);

#endif /* HWTDECODE_CLI_CORESIGHT_REPORT_H */
