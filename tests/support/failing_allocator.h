/*
 * An allocator that counts what is outstanding and can refuse one request.
 */
#ifndef TEST_FAILING_ALLOCATOR_H
#define TEST_FAILING_ALLOCATOR_H

#include <hwtdecode/context.h>
#include <stdatomic.h>

struct failing_allocator {
	struct hwtd_allocator allocator;
	/* Requests until one is refused; 0: none is. */
	_Atomic uint64_t fail_at;
	/* Refuse all that follow too. */
	_Atomic bool for_ever;
	/* Requests so far; blocks and bytes that were not given back. */
	_Atomic uint64_t requests;
	_Atomic int64_t blocks;
	_Atomic int64_t bytes;
};

void failing_allocator_init(struct failing_allocator *f);

/* Refuse request number `n` from now on; 0: none. */
void failing_allocator_arm(struct failing_allocator *f, uint64_t n,
    bool for_ever);

#endif /* TEST_FAILING_ALLOCATOR_H */
