/*
 * The library context: allocator, log sink and limits of everything below it.
 *
 * A context is shared by all threads and is never written after it was
 * created.  It outlives, by an internal count, everything made from it.
 */
#ifndef HWTDECODE_CONTEXT_H
#define HWTDECODE_CONTEXT_H

#ifndef HWTD_CDEF
#include <hwtdecode/error.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_context;

/** How grave a log line is. */
enum hwtd_log_level {
	HWTD_LOG_ERROR = 1,
	HWTD_LOG_WARNING = 2,
	HWTD_LOG_INFO = 3,
	HWTD_LOG_DEBUG = 4
};

/** One log line.  Borrowed during the call of the sink. */
struct hwtd_log_record {
	size_t size;
	/** An hwtd_log_level. */
	int32_t level;
	int32_t reserved;
	/** The part that speaks, for instance "pt". */
	const char *area;
	/** One line without newline. */
	const char *message;
};

/** Receives log lines on the calling thread, from several at once. */
typedef void (*hwtd_log_fn)(void *arg, const struct hwtd_log_record *record);

/**
 * Where memory comes from.  All three functions must be safe to call from
 * several threads.  Memory that third-party libraries take for themselves
 * does not pass through here.
 */
struct hwtd_allocator {
	size_t size;
	void *arg;
	/** `bytes` is never 0; the result is aligned for any type, or NULL. */
	void *(*alloc)(void *arg, size_t bytes);
	/** As realloc(); `old` may be NULL with `old_bytes` 0. */
	void *(*resize)(void *arg, void *old, size_t old_bytes, size_t bytes);
	void (*free)(void *arg, void *memory, size_t bytes);
};

/** Options of a context.  All zero means defaults. */
struct hwtd_context_options {
	/** sizeof(struct hwtd_context_options). */
	size_t size;
	/** NULL: malloc, realloc, free. */
	const struct hwtd_allocator *allocator;
	/** NULL: silent. */
	hwtd_log_fn log;
	void *log_arg;
	/** Lines above this level are not made.  0: HWTD_LOG_WARNING. */
	int32_t log_level;
	int32_t reserved;
	/**
	 * Bytes that all objects of the context may hold.  0: no limit; set it
	 * to open traces of others, a small file can stand for gigabytes.
	 */
	uint64_t max_memory;
	/** Bytes that one allocation may have.  0: 1 GiB. */
	uint64_t max_alloc;
	/** Bytes that one image may have.  0: 4 GiB. */
	uint64_t max_image;
	/**
	 * Called with `poll_arg` from time to time, mostly some milliseconds
	 * apart, on the thread that made a call which may take long: while a
	 * trace is opened, sealed or saved, wanted packets are searched, symbols of
	 * a file are read, what was counted is sorted, compared or summed up, or an
	 * export is written.
	 * Other than 0: that call fails with HWTD_E_CANCELED.  What it was to
	 * make is not there then; a sorting, reading or summing up begins anew
	 * when it is asked for once more.  It must not use what the call uses.
	 * NULL: none.
	 */
	int (*poll)(void *arg);
	void *poll_arg;
};

/**
 * Create a context.
 *
 * @param[in]  opts     NULL: defaults.
 * @param[out] ctx_out  Set on success.
 * @param[out] err      Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID  `ctx_out` is NULL or an allocator lacks a function;
 *         HWTD_E_NOMEM    out of memory;
 *         HWTD_E_TOO_NEW  `opts` has fields that this library does not know.
 *
 * Lives:  owned; destroy with hwtd_context_destroy().  The allocator and the
 *         log sink must live until the last object of the context is gone.
 * Since:  0.1
 */
HWTD_MUST int hwtd_context_create(const struct hwtd_context_options *opts,
    struct hwtd_context **ctx_out, struct hwtd_error *err);

/**
 * Give up a context.  Traces and cursors made from it stay valid.
 *
 * @param[in] ctx  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_context_destroy(struct hwtd_context *ctx);

/**
 * Bytes now held by all objects of the context, and the most at any time.
 *
 * @param[in]  ctx       A context.
 * @param[out] now_out   May be NULL.
 * @param[out] peak_out  May be NULL.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_context_memory(const struct hwtd_context *ctx,
    uint64_t *now_out, uint64_t *peak_out);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_CONTEXT_H */
