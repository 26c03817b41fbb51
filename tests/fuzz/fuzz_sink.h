/*
 * Checks of trace sinks and their sources.
 */
#ifndef FUZZ_SINK_H
#define FUZZ_SINK_H

#include <hwtdecode/hwtdecode.h>

/*
 * All bytes of a sink are accounted for, and a source has what its ID has.
 */
void fuzz_check_sink_stream(const struct hwtd_trace *trace, uint32_t stream);

#endif /* FUZZ_SINK_H */
