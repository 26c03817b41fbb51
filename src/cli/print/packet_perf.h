/*
 * Packets of Arm SPE as perf lists them.
 */
#ifndef HWTDECODE_CLI_PACKET_PERF_H
#define HWTDECODE_CLI_PACKET_PERF_H

#include <hwtdecode/hwtdecode.h>

#include "cli/output/output.h"

/* The line before the packets of a buffer of `n` bytes. */
void perf_write_header(struct output *out, uint64_t n);

/* One line; the packet begins at `off` in its buffer. */
void perf_write_packet(struct output *out, const struct hwtd_packet *packet,
    uint64_t off, const uint8_t *bytes, size_t n);

#endif /* HWTDECODE_CLI_PACKET_PERF_H */
