/*
 * Where Intel PT can be entered: PSB and the packets of PSB+.
 */
#ifndef HWTDI_PT_SYNC_H
#define HWTDI_PT_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a PSB: 02 82, eight times. */
#define HWTDI_PT_PSB_BYTES 16

/* Offset of the first PSB in [from, n), or n. */
size_t hwtdi_pt_find_psb(const uint8_t *bytes, size_t n, size_t from);

/*
 * Offset of the first PSB of which the begin seems to be in [0, n], or `seen`;
 * so many bytes are there.  A payload, or an outcome behind one, may look like
 * the begin of a PSB; so the last eight of several pairs of 02 82 are the PSB.
 */
size_t hwtdi_pt_next_psb(const uint8_t *bytes, size_t n, size_t seen);

/*
 * Offset of the first PSB that lies in [from, n), or n; by the same rule, with
 * `seen` bytes to look at.
 */
size_t hwtdi_pt_find_sync(const uint8_t *bytes, size_t n, size_t seen,
    size_t from);

struct hwtdi_pt_psb {
	/* Bytes from the PSB to the end of PSBEND or OVF. */
	size_t bytes;
	/* Tracing is on at `ip` (PSB+ carries a FUP). */
	bool has_ip;
	uint64_t ip;
	/* It tells the execution mode. */
	bool has_mode;
	/* Time stamp counter at the PSB. */
	bool has_tsc;
	uint64_t tsc;
};

/*
 * Read PSB+ at bytes[0].  False if a packet is cut off or cannot stand there;
 * `out` holds what was read before.
 */
bool hwtdi_pt_read_psb(const uint8_t *bytes, size_t n,
    struct hwtdi_pt_psb *out);

#endif /* HWTDI_PT_SYNC_H */
