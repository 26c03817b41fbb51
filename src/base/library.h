/*
 * The library context: counted, with memory through its allocator.
 */
#ifndef HWTDI_LIBRARY_H
#define HWTDI_LIBRARY_H

#include <hwtdecode/context.h>
#include <stdatomic.h>

struct hwtd_context {
	struct hwtd_allocator allocator;
	hwtd_log_fn log;
	void *log_arg;
	int32_t log_level;
	uint64_t max_memory;
	uint64_t max_alloc;
	uint64_t max_image;
	int (*poll)(void *arg);
	void *poll_arg;
	/* Of the hashes; no result depends on it. */
	uint64_t seed;
	_Atomic uint64_t memory;
	_Atomic uint64_t peak;
	_Atomic uint32_t users;
};

struct hwtd_context *hwtdi_context_hold(struct hwtd_context *ctx);

/*
 * Memory.  The size is given back on free, so that no header is needed.  All
 * return NULL when the allocator or a limit says no.
 */
void *hwtdi_alloc(struct hwtd_context *ctx, size_t bytes);
void *hwtdi_zalloc(struct hwtd_context *ctx, size_t bytes);
void *hwtdi_resize(struct hwtd_context *ctx, void *old, size_t old_bytes,
    size_t bytes);
void hwtdi_free(struct hwtd_context *ctx, void *memory, size_t bytes);

char *hwtdi_strdup(struct hwtd_context *ctx, const char *text);
void hwtdi_strfree(struct hwtd_context *ctx, char *text);

/*
 * Grow an array so that it holds `need` elements of `elem` bytes; existing
 * elements are kept, new ones are not set.  HWTD_OK or HWTD_E_NOMEM.
 */
int hwtdi_array_grow(struct hwtd_context *ctx, void *array_inout,
    size_t *cap_inout, size_t need, size_t elem, struct hwtd_error *err);
void hwtdi_array_free(struct hwtd_context *ctx, void *array, size_t cap,
    size_t elem);

/*
 * Asks whether the call shall end: HWTD_OK or HWTD_E_CANCELED.  Only where failures
 * go up to the caller, and no lock is held but that of the object of the call.
 */
int hwtdi_poll(const struct hwtd_context *ctx, struct hwtd_error *err);

/* The same where each of many is little work: for one of some. */
static inline int
hwtdi_poll_each(const struct hwtd_context *ctx, uint64_t number,
    struct hwtd_error *err)
{
	return (number % 256 != 0 ? HWTD_OK : hwtdi_poll(ctx, err));
}

void hwtdi_log(const struct hwtd_context *ctx, int level, const char *area,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif /* HWTDI_LIBRARY_H */
