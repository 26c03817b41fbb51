/*
 * Differences of two profiles: functions, calls between them, and branches.
 *
 * Functions are the same one if their names and the last names of their images
 * are, so that builds can be compared; what has no name is known by its place,
 * and so are branches, which are compared in images of equal builds only.
 *
 * Where two traces went different ways first is in hwtdecode/divergence.h.
 */
#ifndef HWTDECODE_DIFF_H
#define HWTDECODE_DIFF_H

#ifndef HWTD_CDEF
#include <hwtdecode/profile.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_diff;

/** What changes are measured by.  Numbers are pinned for ever. */
enum hwtd_diff_by {
	/** Instructions of functions themselves; from runs, else from calls. */
	HWTD_DIFF_BY_INSNS = 0,
	/** Time of functions themselves; from calls. */
	HWTD_DIFF_BY_TIME = 1,
	/** Time with what they called; from calls. */
	HWTD_DIFF_BY_TOTAL_TIME = 2,
	/** Cycles of functions themselves; from calls. */
	HWTD_DIFF_BY_CYCLES = 3,
	/** How often they were entered; from runs, else how often called. */
	HWTD_DIFF_BY_CALLS = 4
};

#define HWTD_DIFF_BYS 5

/** Options.  All zero means defaults. */
struct hwtd_diff_options {
	/** sizeof(struct hwtd_diff_options). */
	size_t size;
	/** HWTD_DIFF_* bits. */
	uint32_t flags;
	/** An hwtd_diff_by. */
	uint32_t by;
};

/**
 * The second profile counts as much as the first in all: `change` is that of
 * shares.
 */
#define HWTD_DIFF_NORMALIZE 0x1

/** It is in the first, or the second profile only. */
#define HWTD_DIFF_ONLY_A 0x1
#define HWTD_DIFF_ONLY_B 0x2
/** Code of the image, if there is one, that no function is known of. */
#define HWTD_DIFF_NO_FUNCTION 0x4

/** A function.  Arrays are by profile. */
struct hwtd_diff_function {
	/** As people write it; NULL: not known.  Borrowed, as all texts. */
	const char *name;
	/** Path or name; NULL: not known. */
	const char *image;
	/** HWTD_DIFF_* bits from ONLY_A on. */
	uint32_t flags;
	/** Functions of each profile that have the name. */
	uint32_t n[2];
	uint32_t reserved;
	/** Without a name: of its first byte in the file. */
	uint64_t file_off;
	/** From runs. */
	uint64_t insns[2];
	uint64_t entered[2];
	/** From calls: of itself, and with all it called. */
	uint64_t calls[2];
	uint64_t self_insns[2];
	uint64_t self_ns[2];
	uint64_t total_ns[2];
	uint64_t self_cycles[2];
	/**
	 * Of what is measured: the second less the first one.  What is in one only
	 * changes by all it has.
	 */
	double change;
};

/** Calls from one function to another, by profile. */
struct hwtd_diff_edge {
	/** NULL: not known. */
	const char *from;
	const char *from_image;
	const char *to;
	const char *to_image;
	uint32_t flags;
	uint32_t reserved;
	/** Without a name: of the first byte of the function in the file. */
	uint64_t from_off;
	uint64_t to_off;
	/**
	 * From runs with edges: branches to the begin of the other one, or calls
	 * to anywhere in it.
	 */
	uint64_t branches[2];
	/** From calls. */
	uint64_t calls[2];
	/** Of `branches`, or of `calls` if no edge has any. */
	double change;
};

/** Executions of one branch in one direction, by profile. */
struct hwtd_diff_branch {
	const char *image;
	/** Where it leads. */
	const char *to_image;
	/** NULL: not known. */
	const char *function;
	const char *to_function;
	/** Of the branch instruction, and of where it leads, in the files. */
	uint64_t from_off;
	uint64_t to_off;
	/** An hwtd_branch. */
	uint32_t branch;
	uint32_t flags;
	uint64_t count[2];
	double change;
};

/** What was compared. */
struct hwtd_diff_info {
	/** sizeof(struct hwtd_diff_info) as the caller knows it. */
	size_t size;
	/** An hwtd_diff_by. */
	uint32_t by;
	uint32_t reserved;
	uint64_t n_functions;
	uint64_t n_edges;
	uint64_t n_branches;
	/** By profile: functions that only one has. */
	uint64_t n_only[2];
	/** By profile: what is measured, of all; of TOTAL_TIME that of TIME. */
	uint64_t total[2];
	/** By profile: raw bytes, those in gaps, and gaps; of the source counted. */
	uint64_t bytes[2];
	uint64_t gap_bytes[2];
	uint64_t gaps[2];
	/**
	 * Images that both have: with equal build-ids; of which nothing tells, and
	 * that are taken to be equal; and those that differ.
	 */
	uint64_t same_images;
	uint64_t assumed_images;
	uint64_t different_images;
};

/**
 * Compare two profiles.
 *
 * @param[in]     ctx       A context; kept alive.
 * @param[in,out] a         The first profile; its tables are put in order.
 * @param[in,out] b         The second one.
 * @param[in]     opts      NULL: defaults.
 * @param[out]    diff_out  Set on success.
 * @param[out]    err       Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID    a pointer is NULL or an option is wrong;
 *         HWTD_E_NOT_FOUND  one has nothing of what is measured by;
 *         HWTD_E_NOMEM, HWTD_E_LIMIT, HWTD_E_STATE, HWTD_E_TOO_NEW.
 *
 * Lives:  owned; destroy with hwtd_diff_destroy().  It keeps nothing of the
 *         profiles.  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_diff_create(struct hwtd_context *ctx,
    struct hwtd_profile *a, struct hwtd_profile *b,
    const struct hwtd_diff_options *opts, struct hwtd_diff **diff_out,
    struct hwtd_error *err);

/**
 * What was compared.
 *
 * @param[in]     diff  A difference.
 * @param[in,out] out   `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_diff_info(const struct hwtd_diff *diff,
    struct hwtd_diff_info *out);

/**
 * Functions, calls between functions, and branches in images of equal builds:
 * those that changed most first, what changed equally by name and place.
 *
 * @param[in]  diff    A difference.
 * @param[in]  first   Index of the first one that is wanted.
 * @param[out] out     Shape [cap], `stride` bytes apart.
 * @param[in]  stride  Of the struct as the caller knows it; by 8.
 * @param[in]  cap     Room.
 * @param[out] n_out   How many were stored.
 *
 * @return HWTD_OK, HWTD_END: there is none from `first` on, or HWTD_E_INVALID.
 *
 * Lives:  texts are borrowed while the difference is there.
 * Since:  0.1
 */
HWTD_API int hwtd_diff_functions(const struct hwtd_diff *diff, uint64_t first,
    struct hwtd_diff_function *out, size_t stride, size_t cap, size_t *n_out);
HWTD_API int hwtd_diff_edges(const struct hwtd_diff *diff, uint64_t first,
    struct hwtd_diff_edge *out, size_t stride, size_t cap, size_t *n_out);
HWTD_API int hwtd_diff_branches(const struct hwtd_diff *diff, uint64_t first,
    struct hwtd_diff_branch *out, size_t stride, size_t cap, size_t *n_out);

/**
 * Give up a difference.
 *
 * @param[in] diff  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_diff_destroy(struct hwtd_diff *diff);

/**
 * Short stable names, for instance "total-time".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_diff_by_name(uint32_t by);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_DIFF_H */
