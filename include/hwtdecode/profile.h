/*
 * Profiles: sums of what was executed, by function, line, image, thread and
 * stack of calls.
 *
 * A profile is made of three sources, each of which can be left out: calls (see
 * hwtdecode/calls.h) give stacks and time, runs (hwtdecode/runs.h) give counts
 * of code and where branches went, and are several times as cheap, and rows give
 * sums of threads and CPUs.  What one source tells is never added to what another
 * one tells: fields say whose they are.
 *
 * It keeps its own texts, so traces can be closed, and profiles of parts, of
 * threads or of several traces be merged.  Numbers of images, functions, threads
 * and nodes, and the order of all tables, follow from what is in them, not from
 * the order in which it came: merged parts read as the whole does.  They hold
 * until something is added or merged.
 *
 * What parts cannot tell: where a trace is cut in time, calls that are open at
 * the cut are seen twice, as calls that did not end and as calls that began
 * before, and a branch at the cut leads to what only the next part knows.  So parts
 * add up to the whole in counts of code whatever the cut (also in instructions of
 * calls themselves, all together), and in stacks and branches where threads and
 * streams stay whole.  A function without a symbol is one where it was called, which
 * its part has to show.
 */
#ifndef HWTDECODE_PROFILE_H
#define HWTDECODE_PROFILE_H

#ifndef HWTD_CDEF
#include <hwtdecode/calls.h>
#include <hwtdecode/runs.h>
#include <hwtdecode/symbol.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_profile;

/** Options.  All zero means defaults. */
struct hwtd_profile_options {
	/** sizeof(struct hwtd_profile_options). */
	size_t size;
	/** HWTD_PROFILE_* bits. */
	uint32_t flags;
	/**
	 * Nodes of the tree of stacks.  When there are so many, a call whose
	 * stack has no node yet is summed up in a node of other calls, one for
	 * each caller.  0: 2^22.
	 */
	uint32_t max_nodes;
	/** Functions, images, threads; blocks, edges.  0: 2^22, 2^26. */
	uint32_t max_functions;
	uint32_t max_blocks;
};

/** The tree of stacks has a root for each thread, else one for all. */
#define HWTD_PROFILE_THREADS 0x1
/** Files, lines and inlined functions, too: they are what takes time. */
#define HWTD_PROFILE_LINES 0x2
/** Look for no symbols in runs. */
#define HWTD_PROFILE_NO_SYMBOLS 0x4

/** What a profile is made of.  Numbers are pinned for ever. */
enum hwtd_profile_source {
	HWTD_PROFILE_CALLS = 0,
	HWTD_PROFILE_RUNS = 1,
	HWTD_PROFILE_EVENTS = 2
};

#define HWTD_PROFILE_SOURCES 3

/** What the calls of a node, a function and so on add up to. */
struct hwtd_profile_sums {
	/** Calls that began or were found; roots have none. */
	uint64_t calls;
	/** Executed instructions, and CPU cycles as far as they are known. */
	uint64_t insns;
	uint64_t cycles;
	/** Time without the two below. */
	uint64_t ns;
	/** Time in gaps, and while the thread did not run. */
	uint64_t gap_ns;
	uint64_t off_ns;
	/** Bytes of trace in gaps, and gaps. */
	uint64_t gap_bytes;
	uint64_t gaps;
};

/** A file, or memory that code was in. */
struct hwtd_profile_image {
	/** sizeof(struct hwtd_profile_image) as the caller knows it. */
	size_t size;
	/** Path or name; NULL: not known. */
	const char *name;
	/** Bytes of `build_id`; 0: not known. */
	uint32_t n_build_id;
	uint8_t build_id[HWTD_MAX_BUILD_ID];
	/** HWTD_PROFILE_IMAGEF_* bits. */
	uint32_t flags;
};

/** Offsets in it are virtual addresses: no file is known that it comes from. */
#define HWTD_PROFILE_IMAGEF_ADDRESSES 0x1

/** A function. */
struct hwtd_profile_function {
	/** sizeof(struct hwtd_profile_function) as the caller knows it. */
	size_t size;
	/** As people write it; NULL: not known. */
	const char *name;
	/** As the linker knows it; NULL: the same as `name`, or not known. */
	const char *linkage_name;
	/** Where its first instruction was written; NULL: not known. */
	const char *file;
	/** 0: not known. */
	uint32_t line;
	/** See hwtd_profile_image(), or HWTD_NO_ID. */
	uint32_t image;
	/**
	 * Of its first byte in the file of the image; see
	 * HWTD_PROFILE_FUNCTIONF_OFFSET and _ADDRESS.
	 */
	uint64_t file_off;
	/** Of code; 0: not known. */
	uint64_t bytes;
	/** HWTD_PROFILE_FUNCTIONF_* bits. */
	uint32_t flags;
	uint32_t reserved;
	/**
	 * Where the symbols of its file say that it begins, as disassemblers
	 * show it; see HWTD_PROFILE_FUNCTIONF_LINKED.
	 */
	uint64_t link_address;
};

/** `file_off` is known, and is an offset in a file; or is an address. */
#define HWTD_PROFILE_FUNCTIONF_OFFSET 0x1
#define HWTD_PROFILE_FUNCTIONF_ADDRESS 0x2
/** It was inlined: only HWTD_PROFILE_BY_INLINE has rows of it. */
#define HWTD_PROFILE_FUNCTIONF_INLINED 0x4
/** A stub that calls a function of this name in another file. */
#define HWTD_PROFILE_FUNCTIONF_PLT 0x8
/** `link_address` is known. */
#define HWTD_PROFILE_FUNCTIONF_LINKED 0x10

/** Who executed. */
struct hwtd_profile_thread {
	/** sizeof(struct hwtd_profile_thread) as the caller knows it. */
	size_t size;
	/** The last one that records tell; NULL: not known. */
	const char *name;
	/** HWTD_NO_ID: not known. */
	uint32_t pid;
	uint32_t tid;
	/** Where nothing tells threads apart: the stream.  Else HWTD_NO_ID. */
	uint32_t stream;
	uint32_t reserved;
	/** From calls: time in no call at all, and in no gap. */
	uint64_t idle_ns;
};

/** What rows are of.  Numbers are pinned for ever. */
enum hwtd_profile_by {
	/** From calls, from runs. */
	HWTD_PROFILE_BY_FUNCTION = 0,
	/** A line of a file in an image.  From runs, with HWTD_PROFILE_LINES. */
	HWTD_PROFILE_BY_LINE = 1,
	/** From calls, from runs. */
	HWTD_PROFILE_BY_IMAGE = 2,
	/** From calls with HWTD_PROFILE_THREADS; from events. */
	HWTD_PROFILE_BY_THREAD = 3,
	/**
	 * The innermost function, inlined or not.  From runs, with
	 * HWTD_PROFILE_LINES.
	 */
	HWTD_PROFILE_BY_INLINE = 4,
	/** A block, see hwtd_profile_blocks().  From runs. */
	HWTD_PROFILE_BY_ADDRESS = 5,
	/** From events. */
	HWTD_PROFILE_BY_CPU = 6
};

#define HWTD_PROFILE_BYS 7

/** A row of a table.  What its table is not about is HWTD_NO_ID, NULL or 0. */
struct hwtd_profile_row {
	/**
	 * See hwtd_profile_function(); HWTD_NO_ID: not known, see `flags`.  Code
	 * of an image that has no function is a row for each image.
	 */
	uint32_t function;
	/** See hwtd_profile_image(). */
	uint32_t image;
	/** See hwtd_profile_thread(). */
	uint32_t thread;
	uint32_t cpu;
	/**
	 * Without a function or an image: HWTD_PROFILE_NODEF_* bits.  So a row of
	 * HWTD_PROFILE_NODEF_ROOT has what passed while no call was known.
	 */
	uint32_t flags;
	/** HWTD_PROFILE_NODEF_UNTRACED: an hwtd_call_type. */
	uint32_t type;
	/** NULL: not known. */
	const char *file;
	uint32_t line;
	/** Of one block: bytes of code. */
	uint32_t bytes;
	/** Of one block: offset in the file of the image. */
	uint64_t file_off;
	/**
	 * Executed instructions: of tables of threads and CPUs from events, of
	 * others from runs.
	 */
	uint64_t insns;
	/**
	 * From runs: how often the first instruction of a function was executed.
	 * A branch of its own back to that counts, too.  Of a block, a line or
	 * an inlined function: how often the instruction that was executed most
	 * often was.  Of others 0.
	 */
	uint64_t entered;
	/** From calls.  Of itself only. */
	struct hwtd_profile_sums self;
	/** From calls.  With all it called; what it called itself counts once. */
	struct hwtd_profile_sums total;
};

/** A caller of a function, or what it called. */
struct hwtd_profile_relative {
	/** The other function; HWTD_NO_ID: not known, or none: a root. */
	uint32_t function;
	/** An hwtd_call_type: how the calls were made. */
	uint32_t type;
	/**
	 * From runs with edges: how often a branch led from the one function to
	 * the first instruction of the other, or a call to anywhere in it.
	 */
	uint64_t branches;
	/**
	 * From calls: what was called, with all it called.  A call inside of
	 * another one between the same functions is in `calls` only.
	 */
	struct hwtd_profile_sums sums;
};

/** Which relatives.  Numbers are pinned for ever. */
enum hwtd_profile_side {
	HWTD_PROFILE_CALLERS = 0,
	HWTD_PROFILE_CALLEES = 1
};

/** A node of the tree of stacks: calls with the same callers. */
struct hwtd_profile_node {
	/** Number of the node of the caller, which is less; HWTD_NO_ID: a root. */
	uint32_t parent;
	/** HWTD_NO_ID: not known, see `flags`. */
	uint32_t function;
	/** HWTD_NO_ID: all. */
	uint32_t thread;
	/** An hwtd_call_type. */
	uint32_t type;
	/** HWTD_PROFILE_NODEF_* bits. */
	uint32_t flags;
	/** 0 of a root. */
	uint32_t depth;
	struct hwtd_profile_sums self;
	struct hwtd_profile_sums total;
};

/** All there is, or all of `thread`. */
#define HWTD_PROFILE_NODEF_ROOT 0x1
/** What some of its calls did was not traced: that of the kernel, mostly. */
#define HWTD_PROFILE_NODEF_UNTRACED 0x2
/** Calls that the limit on nodes left no room for. */
#define HWTD_PROFILE_NODEF_OTHERS 0x4

/**
 * Code at consecutive offsets, executed equally often, of one function and, with
 * HWTD_PROFILE_LINES, of one line.  As struct hwtd_run it ends behind a branch,
 * and is as long as this lets it be.
 */
struct hwtd_profile_block {
	/** See hwtd_profile_image(), or HWTD_NO_ID. */
	uint32_t image;
	/** Version of the bytes, as struct hwtd_section has it. */
	uint32_t generation;
	/** Byte offset in the image's file; without an image an address. */
	uint64_t file_off;
	uint64_t count;
	uint32_t bytes;
	uint32_t insns;
	/** HWTD_NO_ID: not known. */
	uint32_t function;
	/** The innermost function; `function` where nothing was inlined. */
	uint32_t inlined;
	/** NULL, 0: not known. */
	const char *file;
	uint32_t line;
	/** What the last instruction is, an hwtd_branch. */
	uint8_t branch;
	/** An hwtd_isa. */
	uint8_t isa;
	/** Bytes of the last instruction. */
	uint8_t last_bytes;
	uint8_t reserved;
};

/** A branch, see struct hwtd_edge. */
struct hwtd_profile_edge {
	/** HWTD_NO_ID: not known; then the offset is an address. */
	uint32_t from_image;
	uint32_t to_image;
	/** Of the first byte of the branch instruction, and where it led. */
	uint64_t from_off;
	uint64_t to_off;
	uint64_t count;
	/** HWTD_NO_ID: not known. */
	uint32_t from_function;
	uint32_t to_function;
	/** An hwtd_branch. */
	uint32_t branch;
	/** HWTD_PROFILE_EDGEF_* bits. */
	uint32_t flags;
};

/** It leads to the first byte of `to_function`. */
#define HWTD_PROFILE_EDGEF_TO_START 0x1

/** What one source saw. */
struct hwtd_profile_seen {
	/** How often it was added; 0: the profile has nothing of it. */
	uint64_t added;
	/** Raw bytes of streams. */
	uint64_t bytes;
	uint64_t insns;
	/** Stream bytes in gaps; what ran then is not counted. */
	uint64_t gap_bytes;
	/** File bytes in gaps of reason FILE_DAMAGED. */
	uint64_t file_gap_bytes;
	/** Gaps by hwtd_gap_reason, and their bytes (from calls: 0). */
	uint64_t gaps[HWTD_GAP_REASONS];
	uint64_t gap_bytes_by_reason[HWTD_GAP_REASONS];
	/** From calls: those whose begin and end have a time. */
	uint64_t timed_calls;
	/**
	 * Of these: begin or end are the time of an earlier timing packet.  Else:
	 * they lie between such, by instructions.  As in struct hwtd_histogram_row.
	 */
	uint64_t estimated_calls;
	uint64_t interpolated_calls;
};

/** What is in a profile. */
struct hwtd_profile_info {
	/** sizeof(struct hwtd_profile_info) as the caller knows it. */
	size_t size;
	/** Of each table. */
	uint32_t n_images;
	uint32_t n_functions;
	uint32_t n_threads;
	uint32_t n_nodes;
	uint64_t n_blocks;
	uint64_t n_edges;
	/** From calls: what all nodes add up to; and all threads. */
	struct hwtd_profile_sums total;
	uint64_t idle_ns;
	/** From calls: those in nodes of other calls. */
	uint64_t others;
	/** Instructions in runs that have no function, and no line. */
	uint64_t without_function;
	uint64_t without_line;
	/** By hwtd_profile_source. */
	struct hwtd_profile_seen seen[HWTD_PROFILE_SOURCES];
};

/**
 * Make an empty profile.
 *
 * @param[in]  ctx          A context; kept alive.
 * @param[in]  opts         NULL: defaults.  Copied.
 * @param[out] profile_out  Set on success.
 * @param[out] err          Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_TOO_NEW.
 *
 * Lives:  owned; destroy with hwtd_profile_destroy().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_profile_create(struct hwtd_context *ctx,
    const struct hwtd_profile_options *opts, struct hwtd_profile **profile_out,
    struct hwtd_error *err);

/**
 * Add calls: their stacks, time, and whatever else they tell.  Some rows are read
 * at a time; to be called until it returns HWTD_END.  In between progress can be
 * shown (hwtd_calls_info()).  When something else is done with the profile first,
 * the calls end there, and those that are open then are not counted.
 *
 * @param[in,out] profile  A profile.
 * @param[in,out] calls    Open, with HWTD_CALLS_ENTERS and HWTD_CALLS_GAPS, and
 *                         nothing read yet; of a trace or of text.  Kept alive
 *                         until all was added, or until something else is done
 *                         with the profile.
 * @param[out]    err      Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END: all was added, or as hwtd_calls_read(), or
 *         HWTD_E_INVALID  a pointer is NULL, or rows are missing that are needed;
 *         HWTD_E_LIMIT    a limit of the profile or context was reached.
 *
 * After an error the profile can only be destroyed.
 * Since:  0.1
 */
HWTD_MUST int hwtd_profile_add_calls(struct hwtd_profile *profile,
    struct hwtd_calls *calls, struct hwtd_error *err);

/**
 * Add counts of code.  Each call counts or names some of it; to be called until
 * it returns HWTD_END.  When something else is done with the profile first, what
 * is not counted to its end is left out; else all of it is named first.
 *
 * @param[in,out] profile     A profile.
 * @param[in,out] runs        Open; counted to the end here if it is not yet.
 *                            Kept alive as calls are, and `symbolizer` too.
 * @param[in,out] symbolizer  Of the same trace.  NULL: one is made.
 * @param[out]    err         Filled on failure.  May be NULL.
 *
 * @return as hwtd_profile_add_calls(), hwtd_runs_count().
 * Since:  0.1
 */
HWTD_MUST int hwtd_profile_add_runs(struct hwtd_profile *profile,
    struct hwtd_runs *runs, struct hwtd_symbolizer *symbolizer,
    struct hwtd_error *err);

/**
 * Add instructions of threads and CPUs, out of rows.  Each call reads a batch; to
 * be called until it returns HWTD_END.
 *
 * @param[in,out] profile  A profile.
 * @param[in,out] events   Open, with rows of HWTD_EV_BLOCK or HWTD_EV_INSN, and
 *                         none read yet.  Kept alive as calls are.
 * @param[out]    err      Filled on failure.  May be NULL.
 *
 * @return as hwtd_profile_add_calls(), hwtd_events_read().
 * Since:  0.1
 */
HWTD_MUST int hwtd_profile_add_events(struct hwtd_profile *profile,
    struct hwtd_events *events, struct hwtd_error *err);

/**
 * Add all that another profile has.  In what readers tell, the order does not
 * matter, nor how parts are grouped.
 *
 * @param[in,out] into  A profile.
 * @param[in,out] from  Another one, of any context; it stays as it is.
 * @param[out]    err   Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID  a pointer is NULL, both are the same, or one has a
 *                         root for each thread and the other has not;
 *         HWTD_E_NOMEM, HWTD_E_LIMIT.
 *
 * After an error `into` can only be destroyed.
 * Since:  0.1
 */
HWTD_MUST int hwtd_profile_merge(struct hwtd_profile *into,
    struct hwtd_profile *from, struct hwtd_error *err);

/**
 * What is in a profile.  This and all readers below put its tables in order
 * first, if something was added.
 *
 * @param[in,out] profile  A profile.
 * @param[in,out] out      `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_LIMIT, or HWTD_E_STATE:
 *         it failed before.
 * Since:  0.1
 */
HWTD_API int hwtd_profile_info(struct hwtd_profile *profile,
    struct hwtd_profile_info *out);

/**
 * Look up an image, a function, a thread.  Images are by name, then build-id;
 * functions by image, offset, then name; threads by pid, tid, then stream.
 *
 * @param[in,out] profile  A profile.
 * @param[in]     id       From 0.
 * @param[in,out] out      `size` set by the caller.
 *
 * @return as hwtd_profile_info(), or HWTD_END past the last.
 *
 * Lives:  texts are borrowed while the profile is there.
 * Since:  0.1
 */
HWTD_API int hwtd_profile_image(struct hwtd_profile *profile, uint32_t id,
    struct hwtd_profile_image *out);
HWTD_API int hwtd_profile_function(struct hwtd_profile *profile, uint32_t id,
    struct hwtd_profile_function *out);
HWTD_API int hwtd_profile_thread(struct hwtd_profile *profile, uint32_t id,
    struct hwtd_profile_thread *out);

/**
 * Rows of a table, by the number of what they are of; lines by image, file and
 * line, blocks by image and offset.  What is not known comes last.
 *
 * @param[in,out] profile  A profile.
 * @param[in]     by       An hwtd_profile_by.
 * @param[in]     first    Index of the first row that is wanted.
 * @param[out]    out      Shape [cap], `stride` bytes apart.
 * @param[in]     stride   sizeof(struct hwtd_profile_row) as the caller knows
 *                         it; by 8.
 * @param[in]     cap      Room, in rows.
 * @param[out]    n_out    Rows stored.
 *
 * @return as hwtd_profile_info(), or HWTD_END: there is none from `first` on.
 *
 * Lives:  texts are borrowed while the profile is there.
 * Since:  0.1
 */
HWTD_API int hwtd_profile_rows(struct hwtd_profile *profile, uint32_t by,
    uint64_t first, struct hwtd_profile_row *out, size_t stride, size_t cap,
    size_t *n_out);

/**
 * Callers of a function, or what it called, by function and type.
 *
 * @param[in,out] profile   A profile.
 * @param[in]     function  See hwtd_profile_function().
 * @param[in]     side      An hwtd_profile_side.
 * @param[in]     first     Index of the first one that is wanted.
 * @param[out]    out       Shape [cap], `stride` bytes apart.
 * @param[in]     stride    sizeof(struct hwtd_profile_relative) as the caller
 *                          knows it; by 8.
 * @param[in]     cap       Room.
 * @param[out]    n_out     How many were stored.
 *
 * @return as hwtd_profile_rows().
 * Since:  0.1
 */
HWTD_API int hwtd_profile_relatives(struct hwtd_profile *profile,
    uint32_t function, uint32_t side, uint64_t first,
    struct hwtd_profile_relative *out, size_t stride, size_t cap,
    size_t *n_out);

/**
 * The tree of stacks: a node, then its children with all that is below them, by
 * function, then type; those of other calls come last.  Roots are by thread.
 *
 * @param[in,out] profile  A profile.
 * @param[in]     first    Number of the first node that is wanted.
 * @param[out]    out      Shape [cap], `stride` bytes apart.
 * @param[in]     stride   sizeof(struct hwtd_profile_node) as the caller knows
 *                         it; by 8.
 * @param[in]     cap      Room, in nodes.
 * @param[out]    n_out    Nodes stored.
 *
 * @return as hwtd_profile_rows().
 * Since:  0.1
 */
HWTD_API int hwtd_profile_nodes(struct hwtd_profile *profile, uint64_t first,
    struct hwtd_profile_node *out, size_t stride, size_t cap, size_t *n_out);

/**
 * Counts of code, by image, generation, offset and instruction set; and branches,
 * by image and offset of both ends, if the runs had them.
 *
 * @param[in,out] profile  A profile.
 * @param[in]     first    Index of the first one that is wanted.
 * @param[out]    out      Shape [cap], `stride` bytes apart.
 * @param[in]     stride   Of the struct as the caller knows it; by 8.
 * @param[in]     cap      Room.
 * @param[out]    n_out    How many were stored.
 *
 * @return as hwtd_profile_rows().
 *
 * Lives:  texts are borrowed while the profile is there.
 * Since:  0.1
 */
HWTD_API int hwtd_profile_blocks(struct hwtd_profile *profile, uint64_t first,
    struct hwtd_profile_block *out, size_t stride, size_t cap, size_t *n_out);
HWTD_API int hwtd_profile_edges(struct hwtd_profile *profile, uint64_t first,
    struct hwtd_profile_edge *out, size_t stride, size_t cap, size_t *n_out);

/**
 * Give up a profile.
 *
 * @param[in] profile  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_profile_destroy(struct hwtd_profile *profile);

/**
 * Short stable names of hwtd_profile_by, for instance "function".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_profile_by_name(uint32_t by);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_PROFILE_H */
