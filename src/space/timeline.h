/*
 * The mapping timeline: which section lies at which address of which address
 * space after any number of records.
 */
#ifndef HWTDI_TIMELINE_H
#define HWTDI_TIMELINE_H

#include <hwtdecode/record.h>

#include "base/library.h"

/*
 * Moments are counted in records: at moment t the first t records, 0 to
 * t - 1, have happened.  The first `n_start` records describe how things
 * were when the trace began; they have happened at every moment.
 */

enum hwtdi_space_kind {
	/* What holds in every space, unless something else lies there. */
	HWTDI_SPACE_KIND_ANY = 0,
	/* Seen from all user spaces of the same machine (vmid). */
	HWTDI_SPACE_KIND_KERNEL = 1,
	HWTDI_SPACE_KIND_USER = 2,
	/* Sees its kernel, which can be the hypervisor itself. */
	HWTDI_SPACE_KIND_HYPERVISOR = 3
};

/* `pid` counts for user spaces, `vmid` for all but "any". */
struct hwtdi_space_key {
	uint32_t kind;
	uint32_t pid;
	/* HWTD_NO_ID: not a virtual machine. */
	uint32_t vmid;
};

/* Spaces that every timeline has. */
#define HWTDI_SPACE_ANY 0u
/* The kernel with vmid HWTD_NO_ID. */
#define HWTDI_SPACE_KERNEL 1u

/* Code that was made at run time; an anonymous mapping does not hide it. */
#define HWTDI_PIECE_JIT 0x1u
#define HWTDI_PIECE_ANONYMOUS 0x2u
/* Only in answers: nothing is mapped. */
#define HWTDI_PIECE_NOTHING 0x4u

/* What is mapped. */
struct hwtdi_piece {
	/* HWTD_NO_ID: nobody knows the bytes. */
	uint32_t section;
	/* HWTDI_PIECE_* bits. */
	uint32_t flags;
	/* Byte of the section at the first address; 0 without a section. */
	uint64_t section_off;
};

/* What lies at [first, last]. */
struct hwtdi_place {
	uint64_t first;
	uint64_t last;
	/* `section_off` is that of `first`. */
	struct hwtdi_piece piece;
};

/*
 * Moments of a space that are possible.  Records without time leave many open;
 * what was executed before closes some: a program that started does not stop
 * having started.
 */
struct hwtdi_moments {
	/* HWTD_NO_ID: nothing is known. */
	uint32_t space;
	uint64_t since;
	uint64_t until;
};

struct hwtdi_timeline;

/* Instead of a record's number: before all records. */
#define HWTDI_SEQ_START UINT64_MAX

/* HWTD_E_NOMEM. */
int hwtdi_timeline_create(struct hwtd_context *ctx, uint64_t n_start,
    struct hwtdi_timeline **timeline_out, struct hwtd_error *err);
void hwtdi_timeline_destroy(struct hwtdi_timeline *timeline);

/* The number of a space, made on first use.  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_timeline_space(struct hwtdi_timeline *timeline,
    const struct hwtdi_space_key *key, uint32_t *space_out,
    struct hwtd_error *err);

/* The number of a space that was made; false if it was not. */
bool hwtdi_timeline_space_find(const struct hwtdi_timeline *timeline,
    const struct hwtdi_space_key *key, uint32_t *space_out);

/*
 * Record `seq` did this to `space`.  Records come in order; several changes
 * may have the same number.  HWTDI_SEQ_START is for spaces that no record has
 * changed yet.
 *
 * HWTD_E_INVALID (order, no such space), HWTD_E_NOMEM, HWTD_E_LIMIT; then
 * the change is not made, but a change of the same record may have been.
 */

/*
 * [addr, addr + len) shows `piece`, and hides what lay there.  An anonymous
 * mapping does not hide JIT code.  `len` may reach 2^64, not over it: what is
 * over is cut off.  0 bytes change nothing.
 */
int hwtdi_timeline_map(struct hwtdi_timeline *timeline, uint64_t seq,
    uint32_t space, uint64_t addr, uint64_t len,
    const struct hwtdi_piece *piece, struct hwtd_error *err);

/* Nothing is at [addr, addr + len), JIT code included. */
int hwtdi_timeline_unmap(struct hwtdi_timeline *timeline, uint64_t seq,
    uint32_t space, uint64_t addr, uint64_t len, struct hwtd_error *err);

/* A program starts: the space is empty. */
int hwtdi_timeline_exec(struct hwtdi_timeline *timeline, uint64_t seq,
    uint32_t space, struct hwtd_error *err);

/* The process, not only a thread of it, is gone: the space is empty. */
int hwtdi_timeline_exit(struct hwtdi_timeline *timeline, uint64_t seq,
    uint32_t space, struct hwtd_error *err);

/*
 * `child` has what `parent` has now, and nothing of what it had before.  Costs
 * the same whatever the parent has.  A fork among the `n_start` first records
 * only tells who a parent is: it gives nothing to a child that has mappings of
 * its own among them, before or after it.  A space's fork of itself (a thread)
 * changes nothing.
 */
int hwtdi_timeline_fork(struct hwtdi_timeline *timeline, uint64_t seq,
    uint32_t child, uint32_t parent, struct hwtd_error *err);

/*
 * What can lie at `addr` at a moment in [lo, hi], newest first, each answer
 * once; "nothing" is an answer too.  A user space looks through to its kernel,
 * a hypervisor's too, and every space to "any": the first of them with something at the address
 * answers; JIT code of a later one is not hidden by anonymous memory of an
 * earlier one.
 *
 * All answers have the same run [first, last] around `addr`: for each address
 * in it the answers are these, with these bytes, in this order.  It may be
 * shorter than it could be.
 *
 * At most `max` answers are stored.  HWTD_OK: these are all.  HWTD_E_LIMIT:
 * there may be older ones; what is said of the run holds for the stored ones.
 * At one moment (lo == hi) there is one answer.
 *
 * O(log n) for each answer, n being the number of changes; at one address at
 * most HWTDI_TIMELINE_MAX_STEPS changes are looked at.  Any number of threads
 * may ask while nothing is changed.
 */
int hwtdi_timeline_find(const struct hwtdi_timeline *timeline, uint32_t space,
    uint64_t lo, uint64_t hi, uint64_t addr, struct hwtdi_place *out,
    size_t max, size_t *n_out);

#define HWTDI_TIMELINE_MAX_STEPS 256

/*
 * What a space has itself at `addr` after all changes so far, and how far that
 * one mapping goes without a hole.  O(log n).
 */
void hwtdi_timeline_newest(const struct hwtdi_timeline *timeline,
    uint32_t space, uint64_t addr, struct hwtdi_place *out);

/*
 * The moment from which a space is what it is at moment `t` but for mappings:
 * since the last exec, exit or fork of it; 0: since the beginning.  O(log n).
 */
uint64_t hwtdi_timeline_epoch(const struct hwtdi_timeline *timeline,
    uint32_t space, uint64_t t);

/*
 * Everything mapped at moment `seq`, by address, what goes on as one; with
 * `through` also what the space sees of its kernel and "any".  Stops when
 * `place_fn` returns something else than 0, and returns that.
 */
int hwtdi_timeline_walk(const struct hwtdi_timeline *timeline, uint32_t space,
    uint64_t seq, bool through,
    int (*place_fn)(void *arg, const struct hwtdi_place *place), void *arg);

#endif /* HWTDI_TIMELINE_H */
