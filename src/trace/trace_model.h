/*
 * The trace as neighbours see it: streams and extents of raw bytes, code
 * lookup, interned execution contexts.
 */
#ifndef HWTDI_TRACE_MODEL_H
#define HWTDI_TRACE_MODEL_H

#include <hwtdecode/trace.h>

#include "base/library.h"

struct hwtd_context *hwtdi_trace_library(const struct hwtd_trace *trace);
struct hwtd_trace *hwtdi_trace_hold(struct hwtd_trace *trace);
bool hwtdi_trace_sealed(const struct hwtd_trace *trace);

/*
 * A window over raw bytes of one stream, one thread at a time.  It keeps what
 * it needs (a buffer, an unpacked chunk) from one call to the next.
 */
struct hwtdi_window;

int hwtdi_window_create(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtdi_window **out, struct hwtd_error *err);
void hwtdi_window_destroy(struct hwtdi_window *window);

/*
 * See [off, off + n) of the stream as adjoining bytes.  Without copy where
 * the stream lies in memory that way.  The bytes are borrowed until the next
 * call on the window.  The range must lie inside one extent.
 *
 * HWTD_E_CORRUPT: a chunk in the range is damaged; *damage_out (never NULL)
 * names the damaged part of the stream and of the file, and the bytes before
 * it in the range can still be seen by asking for less.
 */
int hwtdi_window_see(struct hwtdi_window *window, uint64_t off, size_t n,
    const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err);

/*
 * Damage of the file where bytes of a stream from `first` on are missing, or
 * NULL.  O(log n).
 */
const struct hwtd_damage *hwtdi_trace_find_damage(
    const struct hwtd_trace *trace, uint32_t stream, uint64_t first);

/* The configuration of an Intel PT stream, or NULL. */
const struct hwtd_pt_config *hwtdi_trace_pt_config(
    const struct hwtd_trace *trace, uint32_t stream);

/* Id of an execution context; equal contexts have one id for ever. */
int hwtdi_trace_intern_context(struct hwtd_trace *trace,
    const struct hwtd_exec_context *context, uint32_t *id_out,
    struct hwtd_error *err);

/*
 * A run of code bytes in place.  Valid while the trace is open.
 */
struct hwtdi_span {
	const uint8_t *bytes;
	/* Virtual address of the first byte. */
	uint64_t address;
	/* Bytes. */
	uint64_t length;
	/* Section id; stands for image and generation. */
	uint32_t section;
};

/*
 * The span that holds `address`, for code that runs at byte `stream_off` of
 * `stream` in `context` (may be NULL: unknown).  HWTD_OK or
 * HWTD_E_NOT_FOUND.  Thread-safe on a sealed trace.
 */
int hwtdi_trace_find_code(const struct hwtd_trace *trace, uint32_t stream,
    uint64_t stream_off, const struct hwtd_exec_context *context,
    uint64_t address, struct hwtdi_span *out);

#endif /* HWTDI_TRACE_MODEL_H */
