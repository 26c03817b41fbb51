/*
 * A profile that is put together node by node, for tests of what is made of it.
 */
#ifndef TEST_HAND_PROFILE_H
#define TEST_HAND_PROFILE_H

#include "analysis/profile/profile_store.h"
#include "support/failing_allocator.h"

struct hand_profile {
	struct failing_allocator memory;
	struct hwtd_context *ctx;
	struct hwtd_profile *profile;
};

/* `flags` are HWTD_PROFILE_* bits.  Whatever fails ends the test. */
void hand_profile_init(struct hand_profile *h, uint32_t flags);
void hand_profile_fini(struct hand_profile *h);

/* Numbers for the calls below.  NULL: without a name; no image: HWTD_NO_ID. */
uint32_t hand_image(struct hand_profile *h, const char *name);
uint32_t hand_function(struct hand_profile *h, uint32_t image,
    const char *name, uint64_t off);
/* That of a thread; `tid` HWTD_NO_ID: of all. */
uint32_t hand_root(struct hand_profile *h, const char *name, uint32_t tid);

/* Calls of a function, by its number or HWTD_NO_ID, below a node. */
uint32_t hand_node(struct hand_profile *h, uint32_t parent, uint32_t function,
    uint32_t type, uint32_t flags, struct hwtd_profile_sums self);

/* Calls, instructions, ns. */
struct hwtd_profile_sums hand_sums(uint64_t calls, uint64_t insns,
    uint64_t ns);

/* As if calls were added that met so many gaps. */
void hand_seen(struct hand_profile *h, uint64_t gaps, uint64_t gap_bytes);

/*
 * As if runs were added: `count` times two instructions of two bytes, in a function
 * and in one that was inlined, by their numbers or HWTD_NO_ID.
 */
void hand_code(struct hand_profile *h, uint32_t image, uint64_t off,
    uint64_t count, uint32_t function, uint32_t inlined, const char *file,
    uint32_t line);

/*
 * The profile that tests of exports share, by instructions and ns of its own:
 *
 *   main           1 call    10   100
 *     f            2 calls   20   200 and 50 in a gap
 *       g          4 calls   40   400
 *         f        1 call     6    60
 *     g            1 call     5    50
 *     f (by jump)  1 call     3    30
 *
 * main and f are in /bin/prog at 0x1000 and 0x1100, f in f.c:7; g is in
 * /lib/libg.so at 0x2000.  All is 84 instructions and 890 ns with the gap.
 */
void hand_profile_fill(struct hand_profile *h);

#endif /* TEST_HAND_PROFILE_H */
