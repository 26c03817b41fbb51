/*
 * Records of Arm SPE out of the packets of a stream.
 *
 * Nothing is assumed of the order of packets: a record ends with END or a
 * timestamp, and only there.  Damage costs the record that it is in.
 */
#ifndef HWTDI_SPE_RECORD_H
#define HWTDI_SPE_RECORD_H

#include <hwtdecode/sample.h>
#include <stdbool.h>

#include "decode/spe/spe_shape.h"

/* PMSIDR_EL1.MaxSize allows no larger record. */
#define HWTDI_SPE_MAX_RECORD 2048

/* What a reader looks ahead, at most. */
#define HWTDI_SPE_LOOK ((size_t)4 * HWTDI_SPE_MAX_RECORD)

struct hwtdi_spe_reader {
	/* The next byte to read, and the first of the buffer; in the stream. */
	uint64_t off;
	uint64_t buffer_off;
	/* Bits of a latency counter: 12, 16, or 0: not known. */
	uint8_t counter_bits;
	/* Behind a bad byte: the rest of the record is looked for. */
	bool lost;
	/* No record of the buffer has begun yet. */
	bool first;
	/* Records lie in slots: at this offset in slots of 64 bytes. */
	bool slots;
	uint8_t phase;
	/* The first record that did. */
	uint64_t slots_from;
	/* Where the record before began, if one did. */
	bool has_last;
	uint64_t last_start;
	/* Where counts begin again; a mask of all bits: nowhere. */
	uint64_t wrap_base;
	uint64_t wrap_mask;
	/* Counts from the base to the record before, in this buffer. */
	bool has_before;
	uint64_t since_before;
	/* Timestamp that others are near to; one since then was not. */
	bool has_count;
	bool odd_count;
	uint64_t count;
	/* The byte that the record begins with. */
	uint8_t first_header;
	/* The record has to end at this offset, up to what is known. */
	uint64_t limit;
	/* End of its last packet that is no padding. */
	uint64_t packet_end;
	/* With `lost`: the record as it is up to there. */
	struct hwtd_sample sample;
	struct hwtdi_spe_known_ops ops;
	struct hwtdi_spe_shapes shapes;
	/* All bytes of buffers that were read are in records, or between them. */
	uint64_t record_bytes;
	uint64_t pad_bytes;
};

/* `counter_bits` is 12, 16, or 0. */
void hwtdi_spe_reader_init(struct hwtdi_spe_reader *r,
    unsigned int counter_bits);

/*
 * Counts begin again, as wrap_base and wrap_mask of hwtd_clock say: one that did
 * is not below the one before it.  A mask of 0: they do not.
 */
void hwtdi_spe_reader_wrap(struct hwtdi_spe_reader *r, uint64_t base,
    uint64_t mask);

/*
 * A buffer begins at an offset of the stream.  Records never go on from one
 * buffer to the next; one that is open must have been read before, see `last`.
 */
void hwtdi_spe_reader_begin(struct hwtdi_spe_reader *r, uint64_t off);

/*
 * Read records.  bytes[0] is the byte at r->off; with `last` the buffer ends
 * after n bytes, else more follow, and HWTDI_SPE_LOOK bytes are enough to get
 * on.  `out` has room for `cap` > 0 of them.  Returns how many there are; fewer
 * than `cap`: give more bytes, or with `last` the buffer is read.  r->off is
 * moved behind what was read.
 */
size_t hwtdi_spe_read(struct hwtdi_spe_reader *r, const uint8_t *bytes,
    size_t n, bool last, struct hwtd_sample *out, size_t cap);

/*
 * The same of records that look like one before, up to one that does not, or up to
 * near the end of the n bytes that are there: nothing is wrong with any of them.
 */
size_t hwtdi_spe_read_alike(struct hwtdi_spe_reader *r, const uint8_t *bytes,
    size_t n, struct hwtd_sample *out, size_t cap);

/* What is looked at from a sync point on, at most. */
#define HWTDI_SPE_SYNC_LOOK ((size_t)8 * HWTDI_SPE_MAX_RECORD)

/*
 * Three records that can be whole follow one another from bytes[0] on, and begin
 * with the same packet.  It may still be in the middle of one: see
 * hwtdi_spe_find_sync().
 */
bool hwtdi_spe_begins_record(const uint8_t *bytes, size_t n);

/*
 * Offset of the first sync point in [from, n), or n; `seen` bytes are there to look
 * at.  It is the begin of a record behind one that was found so.
 */
size_t hwtdi_spe_find_sync(const uint8_t *bytes, size_t n, size_t seen,
    size_t from);

#endif /* HWTDI_SPE_RECORD_H */
