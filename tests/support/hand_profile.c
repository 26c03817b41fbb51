/*
 * A profile that is put together node by node.
 */
#include "support/hand_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NEED(call)                                                            \
	do {                                                                  \
		struct hwtd_error err = { .size = sizeof(err) };              \
		const int rc_ = (call);                                       \
                                                                              \
		if (rc_ != HWTD_OK)                                           \
			fail_msg("%s: %d %s", #call, rc_, err.message);       \
	} while (0)

void
hand_profile_init(struct hand_profile *h, uint32_t flags)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	const struct hwtd_profile_options how = { .size = sizeof(how),
		.flags = flags };

	memset(h, 0, sizeof(*h));
	failing_allocator_init(&h->memory);
	o.allocator = &h->memory.allocator;
	NEED(hwtd_context_create(&o, &h->ctx, &err));
	NEED(hwtd_profile_create(h->ctx, &how, &h->profile, &err));
}

void
hand_profile_fini(struct hand_profile *h)
{
	hwtd_profile_destroy(h->profile);
	hwtd_context_destroy(h->ctx);
	assert_int_equal(h->memory.blocks, 0);
}

uint32_t
hand_image(struct hand_profile *h, const char *name)
{
	const struct hwtd_profile_image image = { .size = sizeof(image),
		.name = name };
	uint32_t no = 0;

	NEED(hwtdi_profile_add_image(h->profile, &image, &no, &err));
	return (no);
}

uint32_t
hand_function(struct hand_profile *h, uint32_t image, const char *name,
    uint64_t off)
{
	const struct hwtd_profile_function f = { .size = sizeof(f),
		.name = name,
		.image = image,
		.file_off = off,
		.bytes = 16,
		.flags = image == HWTD_NO_ID ? HWTD_PROFILE_FUNCTIONF_ADDRESS
					     : HWTD_PROFILE_FUNCTIONF_OFFSET };
	uint32_t no = 0;

	NEED(hwtdi_profile_add_function(h->profile, &f, &no, &err));
	return (no);
}

uint32_t
hand_root(struct hand_profile *h, const char *name, uint32_t tid)
{
	const struct hwtd_profile_thread thread = { .size = sizeof(thread),
		.name = name,
		.pid = 100,
		.tid = tid,
		.stream = HWTD_NO_ID };
	uint32_t no = HWTD_NO_ID, root = 0;

	if (tid != HWTD_NO_ID)
		NEED(hwtdi_profile_add_thread(h->profile, &thread, &no, &err));
	NEED(hwtdi_profile_add_root(h->profile, no, &root, &err));
	return (root);
}

uint32_t
hand_node(struct hand_profile *h, uint32_t parent, uint32_t function,
    uint32_t type, uint32_t flags, struct hwtd_profile_sums self)
{
	const struct hwtd_profile_node node = { .parent = parent,
		.function = function,
		.thread = HWTD_NO_ID,
		.type = type,
		.flags = flags,
		.self = self };
	uint32_t no = 0;

	NEED(hwtdi_profile_add_node(h->profile, &node, &no, &err));
	return (no);
}

struct hwtd_profile_sums
hand_sums(uint64_t calls, uint64_t insns, uint64_t ns)
{
	return ((struct hwtd_profile_sums){ .calls = calls,
	    .insns = insns,
	    .ns = ns });
}

void
hand_seen(struct hand_profile *h, uint64_t gaps, uint64_t gap_bytes)
{
	struct hwtd_profile_seen seen = { .added = 1, .gap_bytes = gap_bytes };

	seen.gaps[1] = gaps;
	hwtdi_profile_add_seen(h->profile, HWTD_PROFILE_CALLS, &seen);
}

void
hand_code(struct hand_profile *h, uint32_t image, uint64_t off, uint64_t count,
    uint32_t function, uint32_t inlined, const char *file, uint32_t line)
{
	static const uint8_t lengths[] = { 2, 2 };
	struct hwtd_profile_seen seen = { .added = 1 };
	struct hwtdi_profile_code code = { .image = image,
		.off = off,
		.count = count,
		.function = function,
		.inlined = inlined,
		.bytes = 4,
		.insns = 2,
		.isa = HWTD_ISA_X86_64 };

	NEED(hwtdi_profile_add_line(h->profile, file, line, &code.line, &err));
	NEED(hwtdi_profile_add_code(h->profile, &code, lengths, &err));
	hwtdi_profile_add_seen(h->profile, HWTD_PROFILE_RUNS, &seen);
}

void
hand_profile_fill(struct hand_profile *h)
{
	const uint32_t prog = hand_image(h, "/bin/prog");
	const uint32_t lib = hand_image(h, "/lib/libg.so");
	const struct hwtd_profile_function of_f = { .size = sizeof(of_f),
		.name = "f",
		.file = "f.c",
		.line = 7,
		.image = prog,
		.file_off = 0x1100,
		.bytes = 16,
		.flags = HWTD_PROFILE_FUNCTIONF_OFFSET };
	const uint32_t main_f = hand_function(h, prog, "main", 0x1000);
	const uint32_t g = hand_function(h, lib, "g", 0x2000);
	const uint32_t root = hand_root(h, NULL, HWTD_NO_ID);
	struct hwtd_profile_sums sums = hand_sums(2, 20, 200);
	uint32_t f = 0, at_main, at_f, at_g;

	NEED(hwtdi_profile_add_function(h->profile, &of_f, &f, &err));
	sums.gap_ns = 50;
	sums.gaps = 1;
	sums.gap_bytes = 77;
	at_main = hand_node(h, root, main_f, HWTD_CALL_TYPE_FOUND, 0,
	    hand_sums(1, 10, 100));
	at_f = hand_node(h, at_main, f, HWTD_CALL_TYPE_CALL, 0, sums);
	at_g = hand_node(h, at_f, g, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(4, 40, 400));
	(void)hand_node(h, at_g, f, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, 6, 60));
	(void)hand_node(h, at_main, g, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, 5, 50));
	(void)hand_node(h, at_main, f, HWTD_CALL_TYPE_TAIL, 0,
	    hand_sums(1, 3, 30));
	hand_seen(h, 1, 77);
}
