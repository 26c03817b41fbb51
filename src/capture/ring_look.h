/*
 * Looking into the ring that hwt(4) writes to: which bytes are new since the last
 * look, in which order, and what adjoins what.
 *
 * A look is two steps: hwtdi_look_read() copies what may have been written since
 * the last one, hwtdi_look_find() says what is new in the copy.  Between them the
 * caller asks for the position a second time and for what the thread did, so that
 * both are known for the whole time of the copying.  The order of a look:
 *
 *	threads; told.before = BUFPTR_GET; hwtdi_look_read(); told.after = BUFPTR_GET;
 *	threads; RECORD_GET; hwtdi_look_find()
 *
 * A writer that goes round as a whole while its ring is copied is noticed where
 * positions can be believed; then nothing of the copy is handed out.
 *
 * What is handed out never joins bytes of two slices, as far as that can be known:
 * see ring_look.c for the rules, and for what cannot be known.
 *
 * Source: pt(4) and hwt(4) of FreeBSD 15.
 */
#ifndef HWTDI_RING_LOOK_H
#define HWTDI_RING_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hwtdecode/context.h>
#include <hwtdecode/error.h>

enum hwtdi_look_kind {
	/*
	 * Intel PT of threads: begins again at 0 whenever the thread is switched
	 * in, and goes round in a slice that is longer than the ring.  The
	 * position is that of the last interrupt, or of the last switch-out.
	 */
	HWTDI_LOOK_RESTARTS = 1,
	/* Intel PT of CPUs: round and round; position of the last interrupt. */
	HWTDI_LOOK_ROUND = 2,
	/* A sink of CoreSight: round and round; the position is live. */
	HWTDI_LOOK_LIVE = 3
};

/* Whether the writer ran, as known for the whole time from told.before to .after. */
enum hwtdi_look_state {
	/* It may have been switched in or out meanwhile. */
	HWTDI_LOOK_UNKNOWN = 0,
	/*
	 * It did not run at all (switched out, or stopped), and the position is
	 * that of its last switch-out: bytes and position fit each other.
	 */
	HWTDI_LOOK_OFF = 1,
	/* It ran in one and the same slice. */
	HWTDI_LOOK_ON = 2
};

/* Positions: curpage * 4096 + offset, as the kernel says, however wrong. */
struct hwtdi_look_told {
	/* Read before the copying, and behind it. */
	uint64_t before;
	uint64_t after;
};

/* What else is known; all zero: nothing. */
struct hwtdi_look_hints {
	/* An hwtdi_look_state. */
	uint32_t state;
	/* `switches` is known. */
	bool switches_known;
	/* Times that the thread was switched out since the last look. */
	uint64_t switches;
	/*
	 * Positions of BUFFER records that came since the last look, in order;
	 * some may be missing, and the first ones may be from before it.
	 */
	const uint64_t *records;
	size_t n_records;
};

/* Bytes that follow one another, in the order in which they were written. */
struct hwtdi_look_piece {
	const uint8_t *bytes;
	size_t n;
	/* Where in the ring they lay. */
	uint64_t at;
	/* They adjoin the piece handed out before, be it of an earlier look. */
	bool joins;
	/*
	 * Not `joins`: HWTD_EXTENT_NEW (they begin a slice, nothing of which is
	 * missing), or HWTD_EXTENT_AFTER_LOSS (bytes before may be missing).
	 */
	uint32_t why;
	/* Left over of a slice that was overwritten by others from its start on. */
	bool older;
	/* Older: may be left over of several slices, seams of which nobody knows. */
	bool mixed;
};

/*
 * Pieces of a look at most: two each of what was held back, of older bytes, of the
 * newest and of what goes on behind the position.
 */
#define HWTDI_LOOK_PIECES 8

/* What a look came to. */
struct hwtdi_look {
	struct hwtdi_look_piece pieces[HWTDI_LOOK_PIECES];
	size_t n_pieces;

	/* The position that was taken for true: that told, or a corrected one. */
	uint64_t position;
	/* The position that was told cannot be: content says another one. */
	bool position_doubted;
	/* No position fits: all that changed was handed out, AFTER_LOSS. */
	bool position_unknown;

	/* A slice began since the last look. */
	bool restarted;
	/* The ring went round since the last look. */
	bool wrapped;
	/* Bytes were lost, `lost_bytes` of them or more. */
	bool lost;
	uint64_t lost_bytes;
	/*
	 * Whole slices that were never seen, or of which only an older piece was:
	 * as many or more.  Not known: there may be others.
	 */
	bool missed_known;
	uint64_t missed;
	/*
	 * Bytes may have been written again as they were: slices that nobody can
	 * tell from those handed out may be missing.
	 */
	bool alike;
	/* Bytes that are held back until the next look says whose they are. */
	uint64_t held_bytes;
};

/* The ring of one node. */
struct hwtdi_look_ring {
	struct hwtd_context *ctx;
	/* What the last looks came to, and the newest copy; marks of pages. */
	uint8_t *held;
	uint8_t *now;
	uint8_t *marks;
	/* How mapped bytes are read: hwtdi_look_copy(), but for tests. */
	void (*copy)(void *to, const void *mapped, uint64_t n);
	/* Bytes that the last hwtdi_look_read() read. */
	uint64_t bytes_read;
	uint64_t size;
	/* An hwtdi_look_kind. */
	uint32_t kind;

	/* Of the last look: its state, and the position told behind it. */
	uint32_t state;
	uint64_t told;
	/* What was taken for true, and the one of the look before. */
	uint64_t position;
	uint64_t position_before;
	/* Behind it so many bytes may be new, though `held` has them. */
	uint64_t untold;
	/* Up to here bytes of the slice were handed out; behind it: held back. */
	uint64_t given;
	/* From here on they are of one slice for sure. */
	uint64_t firm;
	/* The position is that of the newest slice. */
	bool sure;
	/* It is no position, because none fits. */
	bool placeless;
	/* A slice that may go on has gone round before. */
	bool turned;
	/* The newest slice began, and was not interrupted since. */
	bool waits;
	/* What is held back begins a slice. */
	bool begins;
	/* The next byte of the slice adjoins the last one handed out. */
	bool adjoins;
	/* No bytes behind the position are still to be handed out. */
	bool clean;
	/* Pages of positions are wrong; or one was told that can be. */
	bool broken;
	bool pages;
	/* There is a copy that was not looked at. */
	bool read;
	/* It was made as if no slice begins. */
	bool only;
	/* The writer went round while it was made; that would have been seen. */
	bool lapped;
	bool watched;
	/* So many bytes behind the position it has without holes. */
	uint64_t row;
	/* The next copy is of all. */
	bool whole;
	/* The writer went round, nobody knows how far behind the position. */
	bool astray;
	/* Copies that were made, for which places are probed. */
	uint64_t probes;
	/* Of the newest copy, what the next look compares with. */
	struct {
		uint64_t at;
		uint64_t n;
	} taken[2];
};

/*
 * Allocates 2 * size, and a byte for each page.  `size`: a multiple of 4096, not 0.
 * HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM.
 */
int hwtdi_look_init(struct hwtdi_look_ring *ring, struct hwtd_context *ctx,
    uint64_t size, enum hwtdi_look_kind kind, struct hwtd_error *err);

/* Gives memory back; all zero is fine. */
void hwtdi_look_fini(struct hwtdi_look_ring *ring);

/*
 * Copy `n` bytes of a mapped buffer, both multiples of 8, in aligned loads of 8
 * bytes: device memory of arm64 faults on others.
 */
void hwtdi_look_copy(void *to, const void *mapped, uint64_t n);

/*
 * Copy what of the mapped ring may have been written since the last copy.  `told`:
 * the position told before.  `before`: what else is known by then, for the time
 * from the last look on; NULL: nothing.  A thread that goes on in its slice is
 * read from its last position on, others from the start on as well; if it turns
 * out that a slice began after all, that look has nothing, and the next one is of
 * all.  `ring->bytes_read` counts.  Pieces of the last look become invalid.
 */
void hwtdi_look_read(struct hwtdi_look_ring *ring, const void *mapped,
    uint64_t told, const struct hwtdi_look_hints *before);
/* The same of all bytes, for the last look. */
void hwtdi_look_read_all(struct hwtdi_look_ring *ring, const void *mapped,
    uint64_t told);

/*
 * What is new in the copy that was read last, each byte once.  Pieces are borrowed
 * until the next hwtdi_look_read().  Without a new copy: no pieces.
 */
void hwtdi_look_find(struct hwtdi_look_ring *ring,
    const struct hwtdi_look_told *told, const struct hwtdi_look_hints *hints,
    struct hwtdi_look *out);

/*
 * The same for the last look, behind hwtdi_look_read_all(), when the writer has
 * stopped for good: `told` is its last position, hints may be NULL, and nothing is
 * held back.
 */
void hwtdi_look_last(struct hwtdi_look_ring *ring, uint64_t told,
    const struct hwtdi_look_hints *hints, struct hwtdi_look *out);

#endif /* HWTDI_RING_LOOK_H */
