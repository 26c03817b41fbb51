/*
 * Positions: the order of records, and which of them can have happened when a
 * byte of trace was written.
 */
#ifndef HWTDI_POSITION_H
#define HWTDI_POSITION_H

#include <hwtdecode/record.h>

#include "base/library.h"

/*
 * Records are put in order of time; time 0 is before everything.  Records of
 * one time stay in order, and a record without time stays behind the record it
 * follows (at the beginning, before the one that follows it).  Their places in
 * that order are the sequence numbers of the mapping timeline.
 */
struct hwtdi_position;

/* The records are not used later.  HWTD_E_NOMEM. */
int hwtdi_position_create(struct hwtd_context *ctx,
    const struct hwtd_record *records, size_t n,
    struct hwtdi_position **position_out, struct hwtd_error *err);
void hwtdi_position_destroy(struct hwtdi_position *position);

/* order[seq] is the index of a record.  Borrowed from `position`. */
const size_t *hwtdi_position_order(const struct hwtdi_position *position,
    size_t *n_out);

/*
 * How many records tell how things were at the beginning: those up to the
 * last with time 0.
 */
uint64_t hwtdi_position_start(const struct hwtdi_position *position);

/*
 * How many records have happened when the byte at `off` of a stream was
 * written: at least `lo`, at most `hi`.
 *
 * With a time, records up to and at that time have happened, later ones have
 * not.  Records that name a byte of the stream (of any type, BUFFER too) and
 * all before them have happened from that byte on; until then, neither they
 * nor any after them have.  What nothing of this decides is between lo and
 * hi.  Where times and bytes contradict each other, what either says is in the
 * range.
 *
 * O(log n).
 */
void hwtdi_position_range(const struct hwtdi_position *position,
    uint32_t stream, uint64_t off, bool has_time, uint64_t time_ns,
    uint64_t *lo_out, uint64_t *hi_out);

/*
 * Where the answer to the same question becomes another one: not before this
 * byte, and not before this time.  UINT64_MAX: never.
 */
void hwtdi_position_until(const struct hwtdi_position *position,
    uint32_t stream, uint64_t off, bool has_time, uint64_t time_ns,
    uint64_t *off_out, uint64_t *time_out);

#endif /* HWTDI_POSITION_H */
