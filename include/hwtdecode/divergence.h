/*
 * Divergences: where two traces of a program first went different ways, thread by
 * thread.
 *
 * The code that both executed is passed over in lockstep.  Code is the same if it
 * is at the same place of the same image, wherever that was mapped.  Nothing is
 * claimed of what a trace does not have: behind a gap in one of them both are
 * brought together again, and what the other has meanwhile is not compared.
 *
 * Memory does not grow with the traces.
 */
#ifndef HWTDECODE_DIVERGENCE_H
#define HWTDECODE_DIVERGENCE_H

#ifndef HWTD_CDEF
#include <hwtdecode/event.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_divergences;

/** The two traces, where something is told of each. */
#define HWTD_SIDE_A 0
#define HWTD_SIDE_B 1
#define HWTD_SIDES 2

/** What was found.  Numbers are pinned for ever. */
enum hwtd_divergence_kind {
	HWTD_DIVERGENCE_UNKNOWN = 0,
	/** Both went on, to different places; one may have ended there. */
	HWTD_DIVERGENCE_FLOW = 1,
	/** One ends, and not in a gap; the other goes on. */
	HWTD_DIVERGENCE_END = 2,
	/**
	 * No place was found from where on both are the same again: what follows
	 * is not compared.
	 */
	HWTD_DIVERGENCE_LOST = 3
};

#define HWTD_DIVERGENCE_KINDS 4

/** Code that was executed, up to and with a branch. */
struct hwtd_flow_block {
	/** ns on the clock of its trace, see `flags`. */
	uint64_t time_ns;
	/** Virtual address of the first byte. */
	uint64_t address;
	/** Byte of the image's file; without an image the address. */
	uint64_t file_off;
	/** As rows have it, see struct hwtd_event. */
	uint64_t stream_off;
	/** Instructions that the thread executed before. */
	uint64_t insns_before;
	uint32_t insns;
	/** Bytes of code. */
	uint32_t bytes;
	uint32_t stream;
	uint32_t context;
	/** See hwtd_trace_section(), or HWTD_NO_ID. */
	uint32_t section;
	/** How it ended, an hwtd_branch. */
	uint32_t branch;
	/** HWTD_EVF_TIME, _TIME_ESTIMATED, _TAKEN and the ISA. */
	uint32_t flags;
	/** See hwtd_divergences_image(), or HWTD_NO_ID. */
	uint32_t image;
};

/** Where two threads went different ways. */
struct hwtd_divergence {
	/** sizeof(struct hwtd_divergence) as the caller knows it. */
	size_t size;
	/** An hwtd_divergence_kind. */
	uint32_t kind;
	/** HWTD_DIVERGENCEF_* bits. */
	uint32_t flags;
	/** See hwtd_divergences_pair(). */
	uint32_t pair;
	/** END: the side that ended. */
	uint32_t ended;
	/** Blocks that were the same since the last row of the pair. */
	uint64_t same;
	/**
	 * What both executed last, by side, shape [n_common]: the last one is
	 * the branch that went different ways.
	 */
	const struct hwtd_flow_block *common[2];
	/** What each executed then, by side, shape [n_next[side]]. */
	const struct hwtd_flow_block *next[2];
	size_t n_common;
	size_t n_next[2];
	/** Bytes from one block to the next. */
	size_t stride;
};

/** Since the last row of the pair there was a gap. */
#define HWTD_DIVERGENCEF_BEHIND_GAP 0x1
/** Behind that several places fitted: it may be an iteration of another loop. */
#define HWTD_DIVERGENCEF_AMBIGUOUS 0x2
/**
 * The bytes of code are not the same in both: the images are of different
 * builds.
 */
#define HWTD_DIVERGENCEF_CODE_DIFFERS 0x4
/** Nothing before it was the same. */
#define HWTD_DIVERGENCEF_AT_START 0x8

/** Two threads that are compared, or one that has no counterpart. */
struct hwtd_divergence_pair {
	/** sizeof(struct hwtd_divergence_pair) as the caller knows it. */
	size_t size;
	/** By side: HWTD_NO_ID: not known. */
	uint32_t pid[2];
	uint32_t tid[2];
	/** Where nothing tells threads apart: the stream.  Else HWTD_NO_ID. */
	uint32_t stream[2];
	/** HWTD_DIVERGENCE_PAIRF_* bits. */
	uint32_t flags;
	uint32_t reserved;
	/** The last one that records tell; NULL: none.  Borrowed. */
	const char *name[2];
	/** Blocks, and their instructions, that were the same. */
	uint64_t same;
	uint64_t same_insns;
	/** By side: instructions read. */
	uint64_t insns[2];
	/** Blocks that only one has: between a divergence and what is common then. */
	uint64_t other[2];
	/** Blocks that were passed over because the other has a gap. */
	uint64_t passed[2];
	/** Instructions in images that cannot be compared. */
	uint64_t foreign_insns[2];
	uint64_t gaps[2];
	uint64_t gap_bytes[2];
	/** Rows of kind FLOW. */
	uint64_t divergences;
};

/** It is in A, in B: both, but for one without a counterpart. */
#define HWTD_DIVERGENCE_PAIRF_A 0x1
#define HWTD_DIVERGENCE_PAIRF_B 0x2
/** All of it was compared that will be. */
#define HWTD_DIVERGENCE_PAIRF_DONE 0x4
/** It ended in a gap. */
#define HWTD_DIVERGENCE_PAIRF_A_CUT 0x8
#define HWTD_DIVERGENCE_PAIRF_B_CUT 0x10
/** What follows was not compared: see HWTD_DIVERGENCE_LOST. */
#define HWTD_DIVERGENCE_PAIRF_LOST 0x20
/** There were more rows than were asked for, or could be. */
#define HWTD_DIVERGENCE_PAIRF_MORE 0x40

/** How images of both belong together.  Numbers are pinned for ever. */
enum hwtd_divergence_image_state {
	HWTD_DIVERGENCE_IMAGE_UNKNOWN = 0,
	/** Their build-ids are equal. */
	HWTD_DIVERGENCE_IMAGE_SAME = 1,
	/** Their names and sizes are, as far as they are known. */
	HWTD_DIVERGENCE_IMAGE_ASSUMED = 2,
	/**
	 * Their names are, but they are different builds: what they execute
	 * cannot be compared, and is passed over.
	 */
	HWTD_DIVERGENCE_IMAGE_DIFFERENT = 3,
	HWTD_DIVERGENCE_IMAGE_ONLY_A = 4,
	HWTD_DIVERGENCE_IMAGE_ONLY_B = 5
};

#define HWTD_DIVERGENCE_IMAGE_STATES 6

/** An image of one or both. */
struct hwtd_divergence_image {
	/** sizeof(struct hwtd_divergence_image) as the caller knows it. */
	size_t size;
	/** An hwtd_divergence_image_state. */
	uint32_t state;
	/** By side: see hwtd_trace_image(), or HWTD_NO_ID. */
	uint32_t image[2];
	uint32_t reserved;
	/** By side: path in records.  Borrowed. */
	const char *path[2];
	/** By side: instructions that were read in it. */
	uint64_t insns[2];
};

/** How far it is. */
struct hwtd_divergences_info {
	/** sizeof(struct hwtd_divergences_info) as the caller knows it. */
	size_t size;
	uint32_t n_pairs;
	uint32_t n_images;
	/** Pairs that are done. */
	uint32_t n_done;
	uint32_t reserved;
	/** Raw bytes decoded of those to decode; for progress. */
	uint64_t bytes;
	uint64_t all_bytes;
	/** Rows by hwtd_divergence_kind. */
	uint64_t rows[HWTD_DIVERGENCE_KINDS];
	/** By side: threads without a counterpart. */
	uint32_t unpaired[2];
	/** By side: of all that was chosen, also of other threads. */
	uint64_t stream_bytes[2];
	uint64_t gap_bytes[2];
	uint64_t file_gap_bytes[2];
	uint64_t gaps[2];
};

/** Options.  All zero means defaults. */
struct hwtd_divergences_options {
	/** sizeof(struct hwtd_divergences_options). */
	size_t size;
	/** HWTD_DIVERGENCES_* bits. */
	uint32_t flags;
	/** Rows of each pair at most.  0: 1. */
	uint32_t max_rows;
	/** Blocks in `common` and `next` at most.  0: 8. */
	uint32_t n_blocks;
	/**
	 * Blocks that are looked through for what is common again; behind a gap
	 * this many at a time.  0: 16384.
	 */
	uint32_t window;
	/** By side: only this thread, plus 1.  0: all. */
	uint32_t tid_plus_1[2];
	/** By side: what is compared, as for hwtd_events_open().  NULL: all. */
	const struct hwtd_events_options *events[2];
};

/**
 * Code in the upper half of addresses, where kernels are, and of interrupts and
 * exceptions, too: they are seldom the same.
 */
#define HWTD_DIVERGENCES_KERNEL 0x1

/**
 * Begin to compare two sealed traces.
 *
 * Threads are paired by name and by the order in which they began, or just by
 * that where there are no names.
 *
 * @param[in]  a                Sealed; kept alive.
 * @param[in]  b                Likewise; may be the same.
 * @param[in]  opts             NULL: defaults.  Copied.
 * @param[out] divergences_out  Set on success.
 * @param[out] err              Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or as hwtd_events_open(), or HWTD_E_NOT_FOUND: no such thread.
 *
 * Lives:  owned; close with hwtd_divergences_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_divergences_open(struct hwtd_trace *a, struct hwtd_trace *b,
    const struct hwtd_divergences_options *opts,
    struct hwtd_divergences **divergences_out, struct hwtd_error *err);

/**
 * Go on, and tell the next divergence, pair by pair.  It does a part at a time: in
 * between progress can be shown.
 *
 * @param[in,out] divergences  Open.
 * @param[in,out] row          `size` set by the caller; `kind` is
 *                             HWTD_DIVERGENCE_UNKNOWN when nothing was found yet.
 * @param[out]    err          Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END: all was compared, or as hwtd_events_read().
 *         After an error it can only be closed.
 *
 * Lives:  blocks are borrowed until the next call.
 * Since:  0.1
 */
HWTD_MUST int hwtd_divergences_read(struct hwtd_divergences *divergences,
    struct hwtd_divergence *row, struct hwtd_error *err);

/**
 * How far it is, which threads are compared, and how images belong together.
 * Pairs and images are counted from 0.
 *
 * @param[in]     divergences  Open.
 * @param[in,out] out          `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END past the last, or HWTD_E_INVALID.
 *
 * Lives:  names are borrowed while it is open.
 * Since:  0.1
 */
HWTD_API int hwtd_divergences_info(const struct hwtd_divergences *divergences,
    struct hwtd_divergences_info *out);
HWTD_API int hwtd_divergences_pair(const struct hwtd_divergences *divergences,
    uint32_t pair, struct hwtd_divergence_pair *out);
HWTD_API int hwtd_divergences_image(const struct hwtd_divergences *divergences,
    uint32_t image, struct hwtd_divergence_image *out);

/**
 * Stop comparing; the traces stay open.
 *
 * @param[in] divergences  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_divergences_close(struct hwtd_divergences *divergences);

/**
 * Short stable names, for instance "flow", "different".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_divergence_kind_name(uint32_t kind);
HWTD_API const char *hwtd_divergence_image_state_name(uint32_t state);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_DIVERGENCE_H */
