/*
 * What the files of looks into rings share: a look at work, what differs between
 * the newest copy and what looks came to, and handing it out.
 */
#ifndef HWTDI_RING_LOOK_INTERNAL_H
#define HWTDI_RING_LOOK_INTERNAL_H

#include "capture/ring_look.h"

/* Bytes of a page; an interrupt comes with each. */
#define LOOK_PAGE ((uint64_t)4096)
/* What is written at most until the interrupt of a page changed the position. */
#define LOOK_SLACK (2 * LOOK_PAGE)
/* So many bytes are not written again as they were by chance. */
#define LOOK_ALIKE ((uint64_t)16)
/* The last bytes written can be as they were before. */
#define LOOK_CHANCE ((uint64_t)8)

#define LOOK_NOT_KNOWN UINT64_MAX

/* A look at work. */
struct hwtdi_look_work {
	struct hwtdi_look_ring *ring;
	const struct hwtdi_look_hints *hints;
	struct hwtdi_look *out;
	uint32_t state;
	uint64_t told;
	/* How far behind it the writer may be by now, and in the copy. */
	uint64_t ahead;
	uint64_t beyond;
	/* Nothing of the writer is behind the position. */
	bool exact;
	/* Slices that began since the last look, or LOOK_NOT_KNOWN. */
	uint64_t begun;
	/* The position was the same before and behind. */
	bool steady;
	bool last;
};

/* Content (ring_look_content.c) */

/* Whether any byte of a page differs, by a byte of it (ring_look_copy.c). */
bool hwtdi_look_changed(const struct hwtdi_look_ring *ring, uint64_t at);
/* Whether [from, to) is as it was. */
bool hwtdi_look_same(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t to);
/* Behind the last byte of [from, to) that differs, or `from`. */
uint64_t hwtdi_look_new_end(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t to);
/* The same for `n` bytes from `from` on, round the end; a distance. */
uint64_t hwtdi_look_reach(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t n);
/* How many of `n` bytes from `from` on are new up to the first that are not. */
uint64_t hwtdi_look_row(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t n);
/* From one place to another, round the end, and the other way round. */
uint64_t hwtdi_look_distance(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t to);
uint64_t hwtdi_look_move(const struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t n);
/* Behind the last new byte, or the last one before a hole. */
uint64_t hwtdi_look_all_new(const struct hwtdi_look_work *look);
/*
 * Whether the newest slice may have gone round since the last look: the end of the
 * ring was written, or had been when that look was made.
 */
bool hwtdi_look_turned(const struct hwtdi_look_work *look);
/*
 * A position of the same offset in its page as the one told, as content has it:
 * what is new ends `reach` behind `from`.  A distance, or LOOK_NOT_KNOWN.
 */
uint64_t hwtdi_look_position_of(const struct hwtdi_look_work *look,
    uint64_t from, uint64_t reach);

/* [from, to) as a piece, which the caller says more about; NULL: nothing. */
struct hwtdi_look_piece *hwtdi_look_hand_out(struct hwtdi_look_work *look,
    const uint8_t *copy, uint64_t from, uint64_t to);
/* `n` bytes from `from` on, which go round the end; said of the first one. */
void hwtdi_look_hand_out_round(struct hwtdi_look_work *look, uint64_t from,
    uint64_t n, bool joins, uint32_t why);
/* [0, to) of the newest copy is what the next look compares with. */
void hwtdi_look_take(struct hwtdi_look_ring *ring, uint64_t to);
/* The same for `n` bytes from `from` on, round the end. */
void hwtdi_look_take_round(struct hwtdi_look_ring *ring, uint64_t from,
    uint64_t n);

/* One writer (ring_look_round.c), whose last byte was the one before `from`. */
void hwtdi_look_round(struct hwtdi_look_work *look, uint64_t from, bool joins,
    uint32_t why);

/* Slices (ring_look_slices.c) */

/* The position is that of the newest slice, others may have been before it. */
void hwtdi_look_slices(struct hwtdi_look_work *look);
/* Nobody knows whether the position is that of the newest slice. */
void hwtdi_look_torn(struct hwtdi_look_work *look);
/* A slice began, and there was no interrupt of it yet. */
void hwtdi_look_await(struct hwtdi_look_work *look);
/* No page of the position fits: nobody knows where slices begin in what is new. */
void hwtdi_look_placeless(struct hwtdi_look_work *look);

#endif /* HWTDI_RING_LOOK_INTERNAL_H */
