/*
 * Trace sinks and CoreSight sources, for info.
 */
#ifndef HWTDECODE_CLI_CORESIGHT_REPORT_H
#define HWTDECODE_CLI_CORESIGHT_REPORT_H

#include "cli/input.h"
#include "cli/output.h"

/* Lines of a stream, if it is a sink or has a configuration. */
void coresight_text(struct output *out, const struct input *input, uint32_t id,
    const struct hwtd_stream_desc *stream);

/* Keys of the object of a stream. */
void coresight_json(struct output *out, const struct input *input, uint32_t id,
    const struct hwtd_stream_desc *stream);

#endif /* HWTDECODE_CLI_CORESIGHT_REPORT_H */
