/*
 * The library context: allocator, log sink, limits, use count.
 */
#include "base/library.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

static void *
system_alloc(void *arg, size_t bytes)
{
	(void)arg;
	return (malloc(bytes));
}

static void *
system_resize(void *arg, void *old, size_t old_bytes, size_t bytes)
{
	(void)arg;
	(void)old_bytes;
	return (realloc(old, bytes));
}

static void
system_free(void *arg, void *memory, size_t bytes)
{
	(void)arg;
	(void)bytes;
	free(memory);
}

static const struct hwtd_allocator system_allocator = {
	.size = sizeof(struct hwtd_allocator),
	.alloc = system_alloc,
	.resize = system_resize,
	.free = system_free,
};

int
hwtd_context_create(const struct hwtd_context_options *opts,
    struct hwtd_context **ctx_out, struct hwtd_error *err)
{
	struct hwtd_context_options o;
	struct hwtd_allocator a = system_allocator;
	struct hwtd_context *ctx;
	int rc;

	if (ctx_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "ctx_out is NULL"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	if (o.allocator != NULL) {
		rc = hwtdi_options_copy(&a, sizeof(a), o.allocator, err);
		if (rc != HWTD_OK)
			return (rc);
		if (a.alloc == NULL || a.resize == NULL || a.free == NULL)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "allocator lacks a function"));
	}
	ctx = a.alloc(a.arg, sizeof(*ctx));
	if (ctx == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*ctx)));
	memset(ctx, 0, sizeof(*ctx));
	ctx->allocator = a;
	ctx->log = o.log;
	ctx->log_arg = o.log_arg;
	ctx->log_level = o.log_level != 0 ? o.log_level : HWTD_LOG_WARNING;
	ctx->max_memory = o.max_memory != 0 ? o.max_memory : UINT64_MAX;
	ctx->max_alloc = o.max_alloc != 0 ? o.max_alloc : (uint64_t)1 << 30;
	ctx->max_image = o.max_image != 0 ? o.max_image : (uint64_t)4 << 30;
	ctx->poll = o.poll;
	ctx->poll_arg = o.poll_arg;
	ctx->seed = hwtdi_hash_seed(ctx);
	atomic_init(&ctx->users, 1);
	*ctx_out = ctx;
	return (HWTD_OK);
}

struct hwtd_context *
hwtdi_context_hold(struct hwtd_context *ctx)
{
	atomic_fetch_add_explicit(&ctx->users, 1, memory_order_relaxed);
	return (ctx);
}

void
hwtd_context_destroy(struct hwtd_context *ctx)
{
	struct hwtd_allocator a;

	if (ctx == NULL)
		return;
	if (atomic_fetch_sub_explicit(&ctx->users, 1, memory_order_acq_rel) !=
	    1)
		return;
	a = ctx->allocator;
	a.free(a.arg, ctx, sizeof(*ctx));
}

void
hwtd_context_memory(const struct hwtd_context *ctx, uint64_t *now_out,
    uint64_t *peak_out)
{
	if (ctx == NULL)
		return;
	if (now_out != NULL)
		*now_out = atomic_load(&ctx->memory);
	if (peak_out != NULL)
		*peak_out = atomic_load(&ctx->peak);
}

int
hwtdi_poll(const struct hwtd_context *ctx, struct hwtd_error *err)
{
	if (ctx->poll == NULL || ctx->poll(ctx->poll_arg) == 0)
		return (HWTD_OK);
	return (hwtdi_fail(err, HWTD_E_CANCELED,
	    "the caller asked for an end"));
}

/* Book `bytes` more; false if a limit says no. */
static bool
book(struct hwtd_context *ctx, size_t bytes)
{
	uint64_t now, peak;

	now = atomic_fetch_add_explicit(&ctx->memory, bytes,
		  memory_order_relaxed) +
	    bytes;
	if (now > ctx->max_memory) {
		atomic_fetch_sub_explicit(&ctx->memory, bytes,
		    memory_order_relaxed);
		return (false);
	}
	peak = atomic_load_explicit(&ctx->peak, memory_order_relaxed);
	while (now > peak &&
	    !atomic_compare_exchange_weak_explicit(&ctx->peak, &peak, now,
		memory_order_relaxed, memory_order_relaxed))
		continue;
	return (true);
}

void *
hwtdi_alloc(struct hwtd_context *ctx, size_t bytes)
{
	void *memory;

	if (bytes == 0)
		bytes = 1;
	if (bytes > ctx->max_alloc || !book(ctx, bytes))
		return (NULL);
	memory = ctx->allocator.alloc(ctx->allocator.arg, bytes);
	if (memory == NULL)
		atomic_fetch_sub_explicit(&ctx->memory, bytes,
		    memory_order_relaxed);
	return (memory);
}

void *
hwtdi_zalloc(struct hwtd_context *ctx, size_t bytes)
{
	void *memory = hwtdi_alloc(ctx, bytes);

	if (memory != NULL)
		memset(memory, 0, bytes);
	return (memory);
}

void *
hwtdi_resize(struct hwtd_context *ctx, void *old, size_t old_bytes,
    size_t bytes)
{
	void *memory;

	if (old == NULL)
		return (hwtdi_alloc(ctx, bytes));
	if (bytes == 0)
		bytes = 1;
	if (old_bytes == 0)
		old_bytes = 1;
	if (bytes > ctx->max_alloc)
		return (NULL);
	if (bytes > old_bytes && !book(ctx, bytes - old_bytes))
		return (NULL);
	memory = ctx->allocator.resize(ctx->allocator.arg, old, old_bytes,
	    bytes);
	if (memory == NULL) {
		if (bytes > old_bytes)
			atomic_fetch_sub_explicit(&ctx->memory,
			    bytes - old_bytes, memory_order_relaxed);
		return (NULL);
	}
	if (bytes < old_bytes)
		atomic_fetch_sub_explicit(&ctx->memory, old_bytes - bytes,
		    memory_order_relaxed);
	return (memory);
}

void
hwtdi_free(struct hwtd_context *ctx, void *memory, size_t bytes)
{
	if (memory == NULL)
		return;
	if (bytes == 0)
		bytes = 1;
	ctx->allocator.free(ctx->allocator.arg, memory, bytes);
	atomic_fetch_sub_explicit(&ctx->memory, bytes, memory_order_relaxed);
}

char *
hwtdi_strdup(struct hwtd_context *ctx, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = hwtdi_alloc(ctx, bytes);

	if (copy != NULL)
		memcpy(copy, text, bytes);
	return (copy);
}

void
hwtdi_strfree(struct hwtd_context *ctx, char *text)
{
	if (text != NULL)
		hwtdi_free(ctx, text, strlen(text) + 1);
}

int
hwtdi_array_grow(struct hwtd_context *ctx, void *array_inout,
    size_t *cap_inout, size_t need, size_t elem, struct hwtd_error *err)
{
	void *old, *array;
	size_t cap = *cap_inout;

	if (need <= cap)
		return (HWTD_OK);
	cap += cap / 2;
	if (cap < need)
		cap = need;
	if (cap < 8)
		cap = 8;
	if (need > SIZE_MAX / elem)
		return (hwtdi_fail_nomem(err, SIZE_MAX));
	/* Near the limit there is room for no more than is asked. */
	if (cap > ctx->max_alloc / elem)
		cap = need;
	memcpy(&old, array_inout, sizeof(old));
	array = hwtdi_resize(ctx, old, *cap_inout * elem, cap * elem);
	if (array == NULL && need * elem > ctx->max_alloc)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "%zu bytes in one piece are over max_alloc", need * elem));
	if (array == NULL)
		return (hwtdi_fail_nomem(err, cap * elem));
	memcpy(array_inout, &array, sizeof(array));
	*cap_inout = cap;
	return (HWTD_OK);
}

void
hwtdi_array_free(struct hwtd_context *ctx, void *array, size_t cap,
    size_t elem)
{
	hwtdi_free(ctx, array, cap * elem);
}

void
hwtdi_log(const struct hwtd_context *ctx, int level, const char *area,
    const char *fmt, ...)
{
	struct hwtd_log_record record = { .size = sizeof(record) };
	char message[256];
	va_list ap;

	if (ctx->log == NULL || level > ctx->log_level)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	record.level = level;
	record.area = area;
	record.message = message;
	ctx->log(ctx->log_arg, &record);
}
