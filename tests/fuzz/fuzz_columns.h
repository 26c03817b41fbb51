/*
 * Reading columns to the end, for harnesses of what can be exported.
 */
#ifndef FUZZ_COLUMNS_H
#define FUZZ_COLUMNS_H

#include <hwtdecode/export.h>
#include <hwtdecode/packet.h>

/*
 * Read the stream, check each array, release all.  Returns its rows; it ends the
 * program if reading fails.
 */
uint64_t fuzz_columns_read(struct ArrowArrayStream *stream);

/*
 * Columns of packets have the rows that reading has, `n` of them; only what is 0
 * there can be null here.
 */
void fuzz_packet_columns(struct hwtd_trace *trace,
    const struct hwtd_packets_options *opts, uint64_t n);

#endif /* FUZZ_COLUMNS_H */
