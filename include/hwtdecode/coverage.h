/*
 * Coverage: which functions, lines, branches and edges of programs ran, and
 * which did not.
 *
 * A coverage is a sum that is detached from any trace: it owns its texts.  Runs of
 * a trace are added (hwtd_runs with edges), and what was made of other traces, of
 * parts of one, or of other processes of a program, is merged.  Code is known by
 * its image (build-id, else path) and its place in the file of that, so that the
 * addresses it was loaded at do not matter.  Merging is associative and
 * commutative: parts merged in any order tell the same as the whole.
 *
 * What there is to be seen comes from the debug information (DWARF) of images that
 * ran: all of their lines with code and all of their functions, and from their code:
 * all of its conditional branches.  Without debug information functions are those
 * of symbols, and branches are known by place.
 *
 * Counts, and how they are to be read:
 *
 * - A line has code if the line table gives it at least one byte.  Where it marks
 *   some of that as the begin of a statement (is_stmt), only that counts, and
 *   what follows right behind it: compilers move instructions of a line ahead of
 *   the condition that it is under, and do not mark those.
 * - A line's count is how often it was executed, as gcov tells it: within one
 *   body of a function it is the count of the instruction of the line that ran
 *   most.  So `for (i = 0; i < 10; i++)` is 11, which is how often its condition
 *   was asked, and not 22, the sum of its three parts.  Code of an inlined
 *   function counts for the lines and the functions that it was written in.
 * - Bodies are added up: each instance of a template, each copy of an inline
 *   function in another unit, and each place where a function was inlined.
 * - Where a compiler made several copies of a line in one body (unrolled loops),
 *   each copy has a part of the executions, and the count is that of the largest
 *   part: it is too small then, and never 0 for what ran.
 * - A function's count is how often it was entered at its first instruction,
 *   without jumps from within it.  It is hit if any instruction of it ran.  So one in
 *   which the trace begins is hit though its count is 0.
 * - A branch is one conditional branch instruction, of each body.  Its counts are
 *   those of the two ways on.  One that was not reached has no counts.
 * - Edges that could be seen are both ways of each conditional branch, and each
 *   direct jump and call.  Indirect ones and returns are listed where they were
 *   seen, and are in no share: nobody knows how many there could be.
 *
 * Gaps of a trace hide code: what ran only then has count 0, as what never ran.
 * hwtd_coverage_info() says how many bytes were lost, by reason.
 */
#ifndef HWTDECODE_COVERAGE_H
#define HWTDECODE_COVERAGE_H

#ifndef HWTD_CDEF
#include <hwtdecode/format.h>
#include <hwtdecode/runs.h>
#include <hwtdecode/symbol.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_coverage;

/** Paths of source files that begin with `old_prefix` begin with `new_prefix`. */
struct hwtd_path_map {
	const char *old_prefix;
	const char *new_prefix;
};

/** Options.  All zero means defaults: all code, as it is called. */
struct hwtd_coverage_options {
	/** sizeof(struct hwtd_coverage_options). */
	size_t size;
	/** HWTD_COVERAGE_* bits. */
	uint32_t flags;
	/** 0. */
	uint32_t reserved;
	/**
	 * Where files with symbols and debug information are looked for.  NULL:
	 * where the trace looked for images.
	 */
	const struct hwtd_search *search;
	/**
	 * Shape [n_images]: only images of which one of these is the path, the
	 * end of the path behind a '/', or the build-id in hex digits.
	 */
	const char *const *images;
	size_t n_images;
	/**
	 * Shape [n_maps]: the first whose `old_prefix` a path of a source file
	 * begins with replaces that.  Done before `sources` and `excludes`.
	 */
	const struct hwtd_path_map *maps;
	size_t n_maps;
	/**
	 * Shape [n_sources]: only source files whose path begins with one of
	 * these; what has no source file is left out then.
	 */
	const char *const *sources;
	size_t n_sources;
	/**
	 * Shape [n_excludes]: no source files whose path matches one of these,
	 * as fnmatch(3) has it without flags: '*' is any text.
	 */
	const char *const *excludes;
	size_t n_excludes;
};

/** Functions by symbols, and no lines: they are what takes time. */
#define HWTD_COVERAGE_NO_LINES 0x1
/** Do not look for files of debug information beside those of code. */
#define HWTD_COVERAGE_NO_DEBUG_FILES 0x2
/** Names of functions as files have them. */
#define HWTD_COVERAGE_RAW_NAMES 0x4

/** So many of so many. */
struct hwtd_coverage_share {
	uint64_t hit;
	uint64_t total;
};

/** What all of it says, and what was not seen. */
struct hwtd_coverage_info {
	/** sizeof(struct hwtd_coverage_info) as the caller knows it. */
	size_t size;
	/** What has a source file. */
	struct hwtd_coverage_share lines;
	struct hwtd_coverage_share functions;
	/** Ways of conditional branches: two of each. */
	struct hwtd_coverage_share branches;
	/** What has none. */
	struct hwtd_coverage_share bare_functions;
	struct hwtd_coverage_share bare_branches;
	/** With and without. */
	struct hwtd_coverage_share edges;
	/** How many of each there are to read. */
	uint64_t n_images;
	uint64_t n_files;
	uint64_t n_functions;
	uint64_t n_lines;
	uint64_t n_branches;
	uint64_t n_edges;
	/** Traces that were added. */
	uint64_t traces;
	/** Executed instructions. */
	uint64_t insns;
	/** Raw bytes of trace that were decoded. */
	uint64_t bytes;
	/** Bytes of these in gaps, and file bytes in damage of files. */
	uint64_t gap_bytes;
	uint64_t file_gap_bytes;
	/**
	 * About how many instructions ran unseen: gaps have as many for each byte
	 * as the rest.  A guess, and one without overflows, which have no bytes.
	 */
	uint64_t lost_insns;
	/** Bytes of code that ran, and of them those without a line. */
	uint64_t code_bytes;
	uint64_t bare_bytes;
	/** Images whose code was not there, so that nothing of them was seen. */
	uint64_t images_missing;
	/** Images that ran and have no debug information that could be used. */
	uint64_t images_without_lines;
	/** Images with debug information that is damaged. */
	uint64_t images_damaged;
	/** Gaps, and bytes in them, by hwtd_gap_reason. */
	uint64_t gaps[HWTD_GAP_REASONS];
	uint64_t gap_bytes_by_reason[HWTD_GAP_REASONS];
};

/** An image that ran, or whose code was missing. */
struct hwtd_coverage_image {
	/** Path or name. */
	const char *name;
	/** Shape [n_build_id]; NULL: none is known. */
	const uint8_t *build_id;
	uint32_t n_build_id;
	/** HWTD_COVERAGE_IMAGE_* bits. */
	uint32_t flags;
	/** What of it has a source file. */
	struct hwtd_coverage_share lines;
	/** With and without source file. */
	struct hwtd_coverage_share functions;
	struct hwtd_coverage_share branches;
	struct hwtd_coverage_share edges;
	/** Bytes of code that ran. */
	uint64_t code_bytes;
	uint64_t bare_bytes;
	/** What of its files could not be read, one line; NULL: nothing. */
	const char *fault;
};

/** Its code was not there. */
#define HWTD_COVERAGE_IMAGE_MISSING 0x1
/** It has lines. */
#define HWTD_COVERAGE_IMAGE_LINES 0x2
/** Functions are those of symbols. */
#define HWTD_COVERAGE_IMAGE_SYMBOLS 0x4
/** It was not chosen; edges lead there. */
#define HWTD_COVERAGE_IMAGE_LEFT_OUT 0x8

/** A source file. */
struct hwtd_coverage_file {
	/** Path, as the compiler was given it and `maps` made it. */
	const char *path;
	/** Its lines are these of hwtd_coverage_lines(). */
	uint64_t first_line;
	uint64_t n_lines;
	/** And its functions and branches likewise. */
	uint64_t first_function;
	uint64_t n_functions;
	uint64_t first_branch;
	uint64_t n_branches;
	uint64_t n_lines_hit;
	uint64_t n_functions_hit;
	/** Ways; there are two of each branch. */
	uint64_t n_ways_hit;
};

/** A line with code. */
struct hwtd_coverage_line {
	/** How often it was executed. */
	uint64_t count;
	/** Index of its file. */
	uint32_t file;
	uint32_t line;
};

/** A function. */
struct hwtd_coverage_function {
	/** As people write it; NULL: not known. */
	const char *name;
	/** As the linker knows it, or NULL. */
	const char *linkage_name;
	/** How often it was entered, inlined or not. */
	uint64_t count;
	/** Index of its file, or HWTD_NO_ID: it has none. */
	uint32_t file;
	/** Of its declaration, else of its first code.  0: not known. */
	uint32_t line;
	/** Index of an image that has it. */
	uint32_t image;
	/** HWTD_COVERAGE_FUNCTION_* bits. */
	uint32_t flags;
	/** Where its code begins in the file of `image`; see FUNCTION_OFF. */
	uint64_t file_off;
};

/** Some instruction of it ran. */
#define HWTD_COVERAGE_FUNCTION_HIT 0x1
/** `file_off` is set: it has one body that is not inlined. */
#define HWTD_COVERAGE_FUNCTION_OFF 0x2
/** It was inlined somewhere that is known. */
#define HWTD_COVERAGE_FUNCTION_INLINED 0x4

/** A conditional branch instruction. */
struct hwtd_coverage_branch {
	/** Where it lies in the file of `image`. */
	uint64_t file_off;
	/** How often it jumped, and how often it went on behind itself. */
	uint64_t taken;
	uint64_t not_taken;
	/** Index of its file, or HWTD_NO_ID: it has no line. */
	uint32_t file;
	uint32_t line;
	uint32_t image;
	/** HWTD_COVERAGE_BRANCH_* bits. */
	uint32_t flags;
};

/** It ran. */
#define HWTD_COVERAGE_BRANCH_REACHED 0x1

/** A way from a branch instruction to what was executed next. */
struct hwtd_coverage_edge {
	/** The branch in the file of `from_image`. */
	uint64_t from;
	/** The place in the file of `to_image`, or a virtual address. */
	uint64_t to;
	/** 0: never. */
	uint64_t count;
	uint32_t from_image;
	/** HWTD_NO_ID: `to` is a virtual address. */
	uint32_t to_image;
	/** An hwtd_branch. */
	uint32_t branch;
	/** HWTD_COVERAGE_EDGE_* bits. */
	uint32_t flags;
};

/** It is in the share of `edges`: the code says that it can be. */
#define HWTD_COVERAGE_EDGE_KNOWN 0x1

/**
 * Make a coverage of nothing.
 *
 * @param[in]  ctx           Kept as long.
 * @param[in]  opts          NULL: defaults.  Copied.
 * @param[out] coverage_out  Set on success.
 * @param[out] err           Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM, HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_coverage_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_create(struct hwtd_context *ctx,
    const struct hwtd_coverage_options *opts,
    struct hwtd_coverage **coverage_out, struct hwtd_error *err);

/**
 * Add a part of what was counted of a trace.  To be called until it returns
 * HWTD_END; in between progress can be shown, or the whole be given up.  All of
 * a trace is added with the last call, or nothing.
 *
 * What of the files of an image is missing or damaged is no failure: the image
 * says so, and the rest is told.
 *
 * @param[in,out] coverage  Open.
 * @param[in,out] runs      Opened with HWTD_RUNS_EDGES.  What is not counted
 *                          yet is counted first.  The same until HWTD_END;
 *                          kept alive until then.
 * @param[out]    err       Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END, or
 *         HWTD_E_INVALID  a pointer is NULL, the runs have no edges, or are not
 *                         those that are being added;
 *         HWTD_E_NOMEM, HWTD_E_LIMIT, or as hwtd_runs_count().
 *
 * After an error nothing of the trace is in it.
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_add_runs(struct hwtd_coverage *coverage,
    struct hwtd_runs *runs, struct hwtd_error *err);

/**
 * Add all that another coverage has, also one of another context.
 *
 * @param[in,out] into  Open.
 * @param[in]     from  Open; not changed.  Not `into`.
 * @param[out]    err   Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID (a pointer is NULL, or they are the same),
 *         HWTD_E_STATE (runs are being added to one of them), HWTD_E_NOMEM,
 *         HWTD_E_LIMIT.  After an error `into` is as before.
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_merge(struct hwtd_coverage *into,
    const struct hwtd_coverage *from, struct hwtd_error *err);

/**
 * The sums.
 *
 * @param[in,out] coverage  Open.
 * @param[in,out] out       `size` set by the caller.
 * @param[out]    err       Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (runs are being added),
 *         HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_info(struct hwtd_coverage *coverage,
    struct hwtd_coverage_info *out, struct hwtd_error *err);

/**
 * Images: by name, then build-id.
 *
 * @param[in,out] coverage  Open.
 * @param[in]     first     Index of the first one that is wanted.
 * @param[out]    out       Shape [cap], `stride` bytes apart.
 * @param[in]     stride    sizeof(struct hwtd_coverage_image) as the caller
 *                          knows it; by 8.
 * @param[in]     cap       Room, in images.
 * @param[out]    n_out     Images stored.
 * @param[out]    err       Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_END: there is none from `first` on, or
 *         HWTD_E_INVALID  a pointer is NULL, no room, or a bad `stride`;
 *         HWTD_E_STATE    runs are being added;
 *         HWTD_E_NOMEM.
 *
 * Lives:  texts are borrowed until something is added or merged.
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_images(struct hwtd_coverage *coverage,
    uint64_t first, struct hwtd_coverage_image *out, size_t stride, size_t cap,
    size_t *n_out, struct hwtd_error *err);

/**
 * Source files with code: by path.  Otherwise as hwtd_coverage_images().
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_files(struct hwtd_coverage *coverage,
    uint64_t first, struct hwtd_coverage_file *out, size_t stride, size_t cap,
    size_t *n_out, struct hwtd_error *err);

/**
 * Functions: by file, line, name, and place; those without a file last.
 * Otherwise as hwtd_coverage_images().
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_functions(struct hwtd_coverage *coverage,
    uint64_t first, struct hwtd_coverage_function *out, size_t stride,
    size_t cap, size_t *n_out, struct hwtd_error *err);

/**
 * Lines with code: by file and line.  Otherwise as hwtd_coverage_images().
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_lines(struct hwtd_coverage *coverage,
    uint64_t first, struct hwtd_coverage_line *out, size_t stride, size_t cap,
    size_t *n_out, struct hwtd_error *err);

/**
 * Conditional branches: by file, line, image and place; those without a file
 * last.  Otherwise as hwtd_coverage_images().
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_branches(struct hwtd_coverage *coverage,
    uint64_t first, struct hwtd_coverage_branch *out, size_t stride,
    size_t cap, size_t *n_out, struct hwtd_error *err);

/**
 * Edges: by where they begin, then where they lead.  Otherwise as
 * hwtd_coverage_images().
 * Since:  0.1
 */
HWTD_MUST int hwtd_coverage_edges(struct hwtd_coverage *coverage,
    uint64_t first, struct hwtd_coverage_edge *out, size_t stride, size_t cap,
    size_t *n_out, struct hwtd_error *err);

/**
 * Begin to write what has a source file, as lcov(1) has it (HWTD_FORMAT_LCOV).
 * Functions are called as the linker knows them; one that is hit and was not
 * entered has count 1 there.
 *
 * @param[in]  coverage    Kept alive; has to stay as it is until the export is
 *                         closed.
 * @param[in]  opts        `format` and `write` have to be set.  Copied.
 * @param[out] export_out  Set on success.
 * @param[out] err         Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID (a pointer is NULL, an option is wrong, or the
 *         format is not one of coverage), HWTD_E_STATE (runs are being added),
 *         HWTD_E_NOMEM, HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_export_close().  One thread at a time.
 * Since:  0.1
 */
HWTD_MUST int hwtd_export_open_coverage(struct hwtd_coverage *coverage,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err);

/**
 * Give up a coverage.
 *
 * @param[in] coverage  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_coverage_close(struct hwtd_coverage *coverage);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_COVERAGE_H */
