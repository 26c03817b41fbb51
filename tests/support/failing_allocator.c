/*
 * An allocator that counts what is outstanding and can refuse one request.
 */
#include "support/failing_allocator.h"

#include <stdlib.h>
#include <string.h>

static bool
refused(struct failing_allocator *f)
{
	uint64_t n = atomic_fetch_add(&f->requests, 1) + 1;
	uint64_t fail_at = atomic_load(&f->fail_at);

	return (fail_at != 0 &&
	    (n == fail_at || (atomic_load(&f->for_ever) && n > fail_at)));
}

static void *
counted_alloc(void *arg, size_t bytes)
{
	struct failing_allocator *f = arg;
	void *memory;

	if (refused(f))
		return (NULL);
	memory = malloc(bytes);
	if (memory == NULL)
		return (NULL);
	/* What is read before it was written must not look like zero. */
	memset(memory, 0xa5, bytes);
	atomic_fetch_add(&f->blocks, 1);
	atomic_fetch_add(&f->bytes, (int64_t)bytes);
	return (memory);
}

static void *
counted_resize(void *arg, void *old, size_t old_bytes, size_t bytes)
{
	struct failing_allocator *f = arg;
	void *memory;

	if (refused(f))
		return (NULL);
	memory = realloc(old, bytes);
	if (memory == NULL)
		return (NULL);
	if (old == NULL)
		atomic_fetch_add(&f->blocks, 1);
	atomic_fetch_add(&f->bytes, (int64_t)bytes - (int64_t)old_bytes);
	return (memory);
}

static void
counted_free(void *arg, void *memory, size_t bytes)
{
	struct failing_allocator *f = arg;

	atomic_fetch_sub(&f->blocks, 1);
	atomic_fetch_sub(&f->bytes, (int64_t)bytes);
	free(memory);
}

void
failing_allocator_init(struct failing_allocator *f)
{
	memset(f, 0, sizeof(*f));
	f->allocator.size = sizeof(f->allocator);
	f->allocator.arg = f;
	f->allocator.alloc = counted_alloc;
	f->allocator.resize = counted_resize;
	f->allocator.free = counted_free;
}

void
failing_allocator_arm(struct failing_allocator *f, uint64_t n, bool for_ever)
{
	atomic_store(&f->requests, 0);
	atomic_store(&f->fail_at, n);
	atomic_store(&f->for_ever, for_ever);
}
