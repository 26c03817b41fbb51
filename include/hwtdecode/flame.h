/*
 * Flames: the stacks of a profile as one tree of names that weigh something, as
 * it is drawn, folded into lines, or compared with that of another profile.
 *
 * Where a profile tells functions apart, a flame tells names apart: two functions
 * of one name in one image are one frame.  That is what makes trees of two
 * programs comparable.
 */
#ifndef HWTDECODE_FLAME_H
#define HWTDECODE_FLAME_H

#ifndef HWTD_CDEF
#include <hwtdecode/format.h>
#include <hwtdecode/profile.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_flame;

/** What a frame is.  Numbers are pinned for ever. */
enum hwtd_flame_kind {
	/** The root: all there is. */
	HWTD_FLAME_ALL = 0,
	HWTD_FLAME_THREAD = 1,
	HWTD_FLAME_FUNCTION = 2,
	/** Code of which no function is known. */
	HWTD_FLAME_UNKNOWN = 3,
	/** What ran was not traced: the kernel, mostly. */
	HWTD_FLAME_UNTRACED = 4,
	/** Time in gaps: what ran is not known. */
	HWTD_FLAME_GAP = 5,
	/** Time in which the thread did not run. */
	HWTD_FLAME_OFF = 6,
	/** Calls that the profile had no room for. */
	HWTD_FLAME_OTHERS = 7,
	/** Frames that weigh less than was asked for, with all that is in them. */
	HWTD_FLAME_SMALLER = 8,
	/** Frames of more levels than were asked for. */
	HWTD_FLAME_DEEPER = 9
};

#define HWTD_FLAME_KINDS 10

/** Options.  All zero means defaults. */
struct hwtd_flame_options {
	/** sizeof(struct hwtd_flame_options). */
	size_t size;
	/** HWTD_FLAME_* bits, below. */
	uint32_t flags;
	/**
	 * An hwtd_export_value.  By default time, if it is known of all
	 * profiles, else instructions, else calls.
	 */
	uint32_t value;
	/**
	 * Levels below the root and its threads.  What is deeper is summed up.
	 * 0: 1024.
	 */
	uint32_t max_depth;
	/** Frames of less than this, of a million, are summed up.  0: none. */
	uint32_t min_ppm;
	/** What it is compared with; NULL: nothing.  Only read while it is made. */
	struct hwtd_profile *base;
};

/** A frame for each thread, if the profile has them. */
#define HWTD_FLAME_BY_THREAD 0x1
/** From what ran to what called it, instead of the other way. */
#define HWTD_FLAME_INVERT 0x2
/** Frames of one caller by name; else the one that weighs most first. */
#define HWTD_FLAME_BY_NAME 0x4
/** Compare numbers as they are; else as shares of each whole. */
#define HWTD_FLAME_ABSOLUTE 0x8
/** Of time: also that in which threads did not run. */
#define HWTD_FLAME_OFF_TIME 0x10

/** What there is at a place of the tree. */
struct hwtd_flame_node {
	/** HWTD_NO_ID: it is the root. */
	uint32_t parent;
	/** Number of the first node that is not below this one. */
	uint32_t next;
	/** See hwtd_flame_frame(). */
	uint32_t frame;
	/** 0: the root. */
	uint32_t depth;
	/** With all that is below it, and without. */
	uint64_t value;
	uint64_t self;
	/**
	 * The same of what it is compared with; but for HWTD_FLAME_ABSOLUTE as if
	 * both wholes weighed the same.
	 */
	uint64_t base;
	uint64_t base_self;
	/** Of SMALLER and DEEPER: frames that are summed up in it. */
	uint64_t merged;
};

/** What a node stands for. */
struct hwtd_flame_frame {
	/** sizeof(struct hwtd_flame_frame) as the caller knows it. */
	size_t size;
	/** An hwtd_flame_kind. */
	uint32_t kind;
	/** Where its code was written; 0: not known. */
	uint32_t line;
	/** Never NULL.  What is no name of a function is in brackets. */
	const char *name;
	/** NULL: not known. */
	const char *image;
	const char *file;
};

/** What is in a flame. */
struct hwtd_flame_info {
	/** sizeof(struct hwtd_flame_info) as the caller knows it. */
	size_t size;
	/** An hwtd_export_value: what was taken, never the default. */
	uint32_t value;
	/** HWTD_FLAMEF_* bits. */
	uint32_t flags;
	uint32_t n_nodes;
	uint32_t n_frames;
	/** The whole, and that of what it is compared with, as it is there. */
	uint64_t total;
	uint64_t base_total;
	/** Of these: in frames of gaps. */
	uint64_t gap;
	uint64_t base_gap;
	/** Of the profiles: gaps, and bytes of trace in them. */
	uint64_t gaps;
	uint64_t gap_bytes;
	uint64_t base_gaps;
	uint64_t base_gap_bytes;
	/** Frames that are summed up because they are too small, and too deep. */
	uint64_t smaller;
	uint64_t deeper;
	/** Calls that the profiles had no room for. */
	uint64_t others;
};

/** It is compared with something. */
#define HWTD_FLAMEF_COMPARED 0x1
/** A sum has more than 64 bits: it and those around it are too small. */
#define HWTD_FLAMEF_SATURATED 0x2
/** Numbers of what it is compared with are as if both wholes weighed the same. */
#define HWTD_FLAMEF_SCALED 0x4

/**
 * Make a flame out of the stacks of a profile.
 *
 * @param[in,out] profile    A profile with calls; not needed any more then.
 * @param[in]     opts       NULL: defaults.
 * @param[out]    flame_out  Set on success.
 * @param[out]    err        Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_LIMIT, HWTD_E_STATE (the
 *         profile failed before), HWTD_E_TOO_NEW.
 *
 * Units:  ns, instructions, CPU cycles or calls, as `value` says.
 * Lives:  owned; close with hwtd_flame_close().  Several threads may read it.
 * Since:  0.1
 */
HWTD_MUST int hwtd_flame_open(struct hwtd_profile *profile,
    const struct hwtd_flame_options *opts, struct hwtd_flame **flame_out,
    struct hwtd_error *err);

/**
 * What is in a flame.
 *
 * @param[in]     flame  Open.
 * @param[in,out] out    `size` set by the caller.
 *
 * @return HWTD_OK, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_flame_info(const struct hwtd_flame *flame,
    struct hwtd_flame_info *out);

/**
 * Nodes: each is followed by all that is below it.  The root is node 0.
 *
 * @param[in]  flame   Open.
 * @param[in]  first   Number of the first node that is wanted.
 * @param[out] out     Shape [cap], `stride` bytes apart.
 * @param[in]  stride  sizeof(struct hwtd_flame_node) as the caller knows it; by
 *                     8.
 * @param[in]  cap     Room, in nodes.
 * @param[out] n_out   Nodes stored.
 *
 * @return HWTD_OK, HWTD_END: there is none from `first` on, or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_flame_nodes(const struct hwtd_flame *flame, uint64_t first,
    struct hwtd_flame_node *out, size_t stride, size_t cap, size_t *n_out);

/**
 * Look up a frame of nodes.
 *
 * @param[in]     flame  Open.
 * @param[in]     frame  Its number in nodes.
 * @param[in,out] out    `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END past the last, or HWTD_E_INVALID.
 *
 * Lives:  texts are borrowed while the flame is open.
 * Since:  0.1
 */
HWTD_API int hwtd_flame_frame(const struct hwtd_flame *flame, uint32_t frame,
    struct hwtd_flame_frame *out);

/**
 * Give up a flame.
 *
 * @param[in] flame  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_flame_close(struct hwtd_flame *flame);

/**
 * Short stable names of kinds, for instance "function"; and of hwtd_export_value,
 * for instance "insns".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_flame_kind_name(uint32_t kind);
HWTD_API const char *hwtd_export_value_name(uint32_t value);

/**
 * Begin to write a profile: formats of HWTD_SOURCE_PROFILE.  Those that are drawn
 * or folded are of a flame with threads and else default options.
 *
 * @param[in,out] profile     Stays as it is until the export is closed.
 * @param[in]     opts        `format` and `write` have to be set.  Copied.
 * @param[out]    export_out  Set on success.
 * @param[out]    err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID   a pointer is NULL, an option is wrong, or the
 *                          format is not one of profiles;
 *         HWTD_E_NOMEM     out of memory;
 *         HWTD_E_LIMIT     a limit of the context was reached;
 *         HWTD_E_TOO_NEW   `opts` has fields that this library does not know.
 *
 * Lives:  owned; close with hwtd_export_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_export_open_profile(struct hwtd_profile *profile,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err);

/**
 * Begin to write a flame: HWTD_FORMAT_FOLDED, HWTD_FORMAT_SPEEDSCOPE_SAMPLED or
 * HWTD_FORMAT_FLAME_SVG.  What weighs, and how deep it goes, the flame says.
 *
 * Lines of one that is compared have two numbers, that of what it is compared
 * with first; pictures have colours.
 *
 * @param[in]  flame       Kept alive.
 * @param[in]  opts        `format` and `write` have to be set.  Copied.
 * @param[out] export_out  Set on success.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return as hwtd_export_open_profile().
 *
 * Lives:  owned; close with hwtd_export_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_export_open_flame(struct hwtd_flame *flame,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_FLAME_H */
