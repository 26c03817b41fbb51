/*
 * Names of code: from an address to its function, file, line, and what was
 * inlined there.
 */
#ifndef HWTDECODE_SYMBOL_H
#define HWTDECODE_SYMBOL_H

#ifndef HWTD_CDEF
#include <hwtdecode/space.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_symbolizer;

/** Options of a symbolizer.  All zero means defaults. */
struct hwtd_symbolizer_options {
	/** sizeof(struct hwtd_symbolizer_options). */
	size_t size;
	/** HWTD_SYMBOLIZER_* bits. */
	uint32_t flags;
	uint32_t reserved;
	/**
	 * Where files with symbols and debug information are looked for.  NULL:
	 * where the trace looked for images.
	 */
	const struct hwtd_search *search;
	/**
	 * Bytes of what was read of debug information that are kept; more where
	 * one address alone needs more.  0: 256 MiB.
	 */
	uint64_t max_cache;
};

/** No files, lines and inlined functions: they are what takes time. */
#define HWTD_SYMBOLIZER_NO_LINES 0x1
/** `text` is the name as the file has it. */
#define HWTD_SYMBOLIZER_RAW_NAMES 0x2
/** Do not look for files of debug information beside those of code. */
#define HWTD_SYMBOLIZER_NO_DEBUG_FILES 0x4

/** What to name: code at an address. */
struct hwtd_where {
	/** HWTD_WHERE_* bits: which fields are set. */
	uint32_t flags;
	/** Section of the trace that has `address`, as rows have it. */
	uint32_t section;
	/** Image of the trace; `address` is a byte offset in its file. */
	uint32_t image;
	/** Process. */
	uint32_t pid;
	/** Id of an execution context, as rows have it: its process. */
	uint32_t context;
	/** Stream that `stream_off` speaks of. */
	uint32_t stream;
	/** Virtual address. */
	uint64_t address;
	/** When, if there is no section or image; nothing: the end. */
	uint64_t stream_off;
	uint64_t time_ns;
};

#define HWTD_WHERE_SECTION 0x1
#define HWTD_WHERE_IMAGE 0x2
#define HWTD_WHERE_PID 0x4
#define HWTD_WHERE_CONTEXT 0x8
/** `stream` and `stream_off`. */
#define HWTD_WHERE_OFFSET 0x10
#define HWTD_WHERE_TIME 0x20

/** A function, and a place in it. */
struct hwtd_symbol_frame {
	/** As people write it; NULL: not known. */
	const char *function;
	/** As the linker knows it; NULL: it has no such name, or is not known. */
	const char *linkage_name;
	/** Path, as the compiler was given it, or NULL. */
	const char *file;
	/** 0: not known. */
	uint32_t line;
	/** 0: not known. */
	uint32_t column;
	/** Tells apart what stands on one line; 0: the first, or not known. */
	uint32_t discriminator;
	/** HWTD_FRAMEF_* bits. */
	uint32_t flags;
};

/** It was inlined into the function of the next frame. */
#define HWTD_FRAMEF_INLINED 0x1

/** What is known of code at an address. */
struct hwtd_symbol {
	/** HWTD_SYMBOLF_* bits. */
	uint32_t flags;
	/** Image id, or HWTD_NO_ID. */
	uint32_t image;
	/** Name of the image, of the kernel module, or NULL. */
	const char *image_name;
	/** Symbol as the file or the list of names has it; NULL: none. */
	const char *name;
	/** The same as people write it, with "@plt" for a stub; NULL: none. */
	const char *text;
	/** Bytes behind the begin of the symbol. */
	uint64_t offset;
	/** Bytes that the symbol has; 0: not told. */
	uint64_t symbol_size;
	/** Where the symbol begins, as its file or list has it. */
	uint64_t symbol_address;
	/** Byte offset in the file of the image; without an image the address. */
	uint64_t file_off;
	/**
	 * Shape [n_frames]: the innermost function first.  `file`, `line` and
	 * `column` of the first are those of the address, and of the others where
	 * they call the one before.  Without debug information there are none.
	 */
	const struct hwtd_symbol_frame *frames;
	uint32_t n_frames;
	uint32_t reserved;
	/**
	 * What could not be read: file, section, offset and cause, one line; NULL:
	 * nothing.  What is told in spite of it is right.
	 */
	const char *fault;
};

/** `file_off` is an offset in the file of `image`. */
#define HWTD_SYMBOLF_FILE_OFF 0x1
/** A stub that calls `name` in another file. */
#define HWTD_SYMBOLF_PLT 0x2
/** Finds the function to call (ifunc). */
#define HWTD_SYMBOLF_FINDER 0x4
/** The symbol has no size; it is taken to go on up to the next one. */
#define HWTD_SYMBOLF_GUESSED 0x8
/** Named by a record or a list of names (perf-PID.map, kallsyms). */
#define HWTD_SYMBOLF_LISTED 0x10
/** Of several mappings that are possible there this is the newest. */
#define HWTD_SYMBOLF_AMBIGUOUS 0x20
/** `text` is not `name`: it was mangled. */
#define HWTD_SYMBOLF_DEMANGLED 0x40

/**
 * Make a symbolizer.  Files are looked for and opened when an address of their
 * image is asked for first.
 *
 * @param[in]  trace           Sealed; kept alive.
 * @param[in]  opts            NULL: defaults.  Copied.
 * @param[out] symbolizer_out  Set on success.
 * @param[out] err             Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (not sealed), HWTD_E_NOMEM,
 *         HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_symbolizer_close().  Several threads may use
 *         it; they take turns.
 * Since:  0.1
 */
HWTD_MUST int hwtd_symbolizer_open(struct hwtd_trace *trace,
    const struct hwtd_symbolizer_options *opts,
    struct hwtd_symbolizer **symbolizer_out, struct hwtd_error *err);

/**
 * Name code at addresses.  What is not known, also because a file is missing or
 * damaged, is no failure: fields say so.  Symbols are of the file of the image
 * or its debug information, of records, and of lists of names, in that order.
 *
 * @param[in,out] symbolizer    Open.
 * @param[in]     where         Shape [n], `where_stride` bytes apart.
 * @param[in]     where_stride  sizeof(struct hwtd_where) as the caller knows
 *                              it; by 8.
 * @param[in]     n             May be 0.
 * @param[out]    out           Shape [n], `out_stride` bytes apart.
 * @param[in]     out_stride    sizeof(struct hwtd_symbol) as the caller knows
 *                              it; by 8.
 * @param[out]    err           Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID (a pointer, a stride, a flag that is not
 *         known, or both a section and an image), HWTD_E_NOT_FOUND (no such
 *         section, image, context or stream), HWTD_E_NOMEM, HWTD_E_LIMIT.  After
 *         an error nothing in `out` counts.
 *
 * Lives:  texts and frames are borrowed while the symbolizer is open.
 * Source: ELF gABI; DWARF 2 to 5.
 * Since:  0.1
 */
HWTD_MUST int hwtd_symbolize(struct hwtd_symbolizer *symbolizer,
    const struct hwtd_where *where, size_t where_stride, size_t n,
    struct hwtd_symbol *out, size_t out_stride, struct hwtd_error *err);

/**
 * Give up a symbolizer; the trace stays open.
 *
 * @param[in] symbolizer  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_symbolizer_close(struct hwtd_symbolizer *symbolizer);

/**
 * A mangled name of C++ or Rust as people write it.
 *
 * @param[in]  name   Any symbol; "name@VERSION" keeps its version.
 * @param[out] buf    Shape [cap].
 * @param[in]  cap    Room, with the NUL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID    a pointer is NULL, or no room;
 *         HWTD_E_NOT_FOUND  it is not mangled, or its text has no room or would
 *                           be out of proportion; `buf` is not a text then.
 *
 * Source: Itanium C++ ABI, "External Names (a.k.a. Mangling)"; Rust RFC 2603.
 * Since:  0.1
 */
HWTD_API int hwtd_symbol_text(const char *name, char *buf, size_t cap);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_SYMBOL_H */
