/*
 * Random profiles in parts, which merged in any order and grouping are the whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/profile/profile_store.h"
#include "support/profile_text.h"
#include "support/random_program.h"

static struct hwtd_profile *
create(uint32_t flags)
{
	const struct hwtd_profile_options opts = { .size = sizeof(opts),
		.flags = flags };
	struct hwtd_context *ctx;
	struct hwtd_profile *p;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_profile_create(ctx, &opts, &p, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	return (p);
}

static uint32_t
add_image(struct hwtd_profile *p, const char *name)
{
	const struct hwtd_profile_image image = { .name = name };
	uint32_t no;

	assert_int_equal(hwtdi_profile_add_image(p, &image, &no, NULL),
	    HWTD_OK);
	return (no);
}

static uint32_t
add_function(struct hwtd_profile *p, uint32_t image, uint64_t off,
    const char *name)
{
	const struct hwtd_profile_function f = { .name = name,
		.image = image,
		.file_off = off,
		.flags = HWTD_PROFILE_FUNCTIONF_OFFSET };
	uint32_t no;

	assert_int_equal(hwtdi_profile_add_function(p, &f, &no, NULL),
	    HWTD_OK);
	return (no);
}

static void
assert_blocks(struct hwtd_profile *p, const char *want)
{
	struct hwtd_profile_block b;
	char got[2048] = "";
	size_t at = 0, n;

	for (uint64_t i = 0;
	     hwtd_profile_blocks(p, i, &b, sizeof(b), 1, &n) == HWTD_OK; i++) {
		at += (size_t)snprintf(got + at, sizeof(got) - at,
		    "%s%llx+%u:%u*%llu", i == 0 ? "" : " ",
		    (unsigned long long)b.file_off, b.bytes, b.insns,
		    (unsigned long long)b.count);
		assert_true(at < sizeof(got));
	}
	assert_string_equal(got, want);
}

#define PARTS 5u
#define CODE_BYTES 64u

/* Code of which each byte begins an instruction or does not. */
struct code_model {
	uint8_t lengths[CODE_BYTES];
	bool branches[CODE_BYTES];
	uint64_t counts[CODE_BYTES];
};

static void
make_model(struct code_model *m, uint64_t *random)
{
	memset(m, 0, sizeof(*m));
	for (size_t at = 0; at < CODE_BYTES;) {
		const size_t left = CODE_BYTES - at;
		const size_t n = 1 + random_below(random, 5);

		m->lengths[at] = (uint8_t)(n < left ? n : left);
		m->branches[at] = random_below(random, 4) == 0;
		at += m->lengths[at];
	}
}

/* Some instructions behind each other, up to a branch. */
static void
add_random_code(struct hwtd_profile *whole, struct hwtd_profile *part,
    struct code_model *m, uint64_t *random)
{
	struct hwtdi_profile_code code = { .image = 0,
		.function = HWTD_NO_ID,
		.inlined = HWTD_NO_ID,
		.line = HWTD_NO_ID,
		.isa = HWTD_ISA_X86_64,
		.count = 1 + random_below(random, 3) };
	const size_t most = 1 + random_below(random, 8);
	uint8_t lengths[CODE_BYTES];
	size_t at = random_below(random, CODE_BYTES);

	while (m->lengths[at] == 0)
		at--;
	code.off = at;
	while (at < CODE_BYTES && code.insns < most) {
		lengths[code.insns++] = m->lengths[at];
		code.bytes += m->lengths[at];
		m->counts[at] += code.count;
		if (m->branches[at])
			code.branch = HWTD_BRANCH_CONDITIONAL;
		at += m->lengths[at];
		if (code.branch != 0)
			break;
	}
	assert_int_equal(hwtdi_profile_add_code(whole, &code, lengths, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_profile_add_code(part, &code, lengths, NULL),
	    HWTD_OK);
}

/* The blocks of the model: as long as counts are equal and no branch is. */
static void
assert_model(struct hwtd_profile *p, const struct code_model *m)
{
	char want[4096] = "";
	size_t n = 0;

	for (size_t at = 0; at < CODE_BYTES;) {
		const size_t first = at;
		size_t insns = 0, last;

		do {
			last = at;
			at += m->lengths[at];
			insns++;
		} while (at < CODE_BYTES && !m->branches[last] &&
		    m->counts[at] == m->counts[first]);
		if (m->counts[first] != 0)
			n += (size_t)snprintf(want + n, sizeof(want) - n,
			    "%s%zx+%zu:%zu*%llu", n == 0 ? "" : " ", first,
			    at - first, insns,
			    (unsigned long long)m->counts[first]);
	}
	assert_blocks(p, want);
}

/* The same to both, whose numbers of arrival are not the same. */
static void
add_random_stack(struct hwtd_profile *whole, struct hwtd_profile *part,
    uint64_t *random)
{
	struct hwtd_profile *both[2] = { whole, part };
	const uint32_t depth = 1 + random_below(random, 5);
	const uint64_t chosen = *random;

	for (size_t i = 0; i < 2; i++) {
		const uint32_t image = add_image(both[i], "image");
		uint64_t r = chosen;
		struct hwtd_profile_thread thread = {
			.pid = random_below(&r, 2),
			.tid = random_below(&r, 3),
			.stream = HWTD_NO_ID,
			.idle_ns = random_below(&r, 5),
		};
		struct hwtd_profile_node node = { .function = HWTD_NO_ID };
		uint32_t no, thread_no;

		if (random_below(&r, 2) == 0)
			thread.name = random_below(&r, 2) == 0 ? "x" : "y";
		assert_int_equal(hwtdi_profile_add_thread(both[i], &thread,
				     &thread_no, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_profile_add_root(both[i], thread_no,
				     &no, NULL),
		    HWTD_OK);
		for (uint32_t k = 0; k < depth; k++) {
			const char name[2] = {
				(char)('a' + random_below(&r, 4)), '\0'
			};

			node.parent = no;
			node.function = random_below(&r, 9) == 0
			    ? HWTD_NO_ID
			    : add_function(both[i], image, (uint64_t)name[0],
				  name);
			node.type = random_below(&r, 3);
			node.flags = random_below(&r, 2) != 0
			    ? HWTD_PROFILE_NODEF_UNTRACED
			    : 0;
			node.self.calls = random_below(&r, 3);
			node.self.insns = random_below(&r, 100);
			node.self.ns = random_below(&r, 100);
			node.self.gap_bytes = random_below(&r, 9);
			assert_int_equal(hwtdi_profile_add_node(both[i], &node,
					     &no, NULL),
			    HWTD_OK);
		}
	}
	*random ^= depth;
	(void)random_below(random, 2);
}

/* Of some files and lines are known, of some functions in part only. */
static void
add_random_details(struct hwtd_profile *whole, struct hwtd_profile *part,
    uint64_t *random)
{
	struct hwtd_profile *both[2] = { whole, part };
	const uint64_t chosen = *random;

	for (size_t i = 0; i < 2; i++) {
		uint64_t r = chosen;
		const uint32_t image = add_image(both[i], "image");
		struct hwtd_profile_function f = { .name = "f",
			.image = image,
			.flags = HWTD_PROFILE_FUNCTIONF_OFFSET,
			.bytes = random_below(&r, 3),
			.line = random_below(&r, 3) };
		struct hwtd_profile_edge e = { .from_image = image,
			.to_image = HWTD_NO_ID,
			.from_off = random_below(&r, 3),
			.to_off = random_below(&r, 3),
			.count = 1 + random_below(&r, 3),
			.to_function = HWTD_NO_ID,
			.branch = HWTD_BRANCH_CALL };
		struct hwtdi_profile_place place = { .cpu = random_below(&r,
							 2),
			.thread = HWTD_NO_ID,
			.insns = random_below(&r, 9) };
		struct hwtdi_profile_code code = { .off = 1000,
			.image = image,
			.count = 1,
			.inlined = HWTD_NO_ID,
			.insns = 1,
			.bytes = 1 };
		const struct hwtd_profile_seen seen = { .added = 1,
			.bytes = random_below(&r, 100) };
		static const char *const files[] = { NULL, "a.c", "b.c" };
		static const uint8_t one = 1;

		f.file = files[random_below(&r, 3)];
		f.linkage_name = random_below(&r, 2) != 0 ? "_f" : NULL;
		if (random_below(&r, 2) != 0) {
			f.flags |= HWTD_PROFILE_FUNCTIONF_LINKED;
			f.link_address = random_below(&r, 3);
		}
		assert_int_equal(hwtdi_profile_add_function(both[i], &f,
				     &code.function, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_profile_add_line(both[i],
				     files[random_below(&r, 3)],
				     random_below(&r, 3), &code.line, NULL),
		    HWTD_OK);
		if (random_below(&r, 2) != 0)
			code.function = HWTD_NO_ID;
		e.from_function = code.function;
		assert_int_equal(hwtdi_profile_add_edge(both[i], &e, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_profile_add_place(both[i], &place,
				     NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_profile_add_code(both[i], &code, &one,
				     NULL),
		    HWTD_OK);
		hwtdi_profile_add_seen(both[i], HWTD_PROFILE_RUNS, &seen);
	}
	*random += 77;
	(void)random_below(random, 2);
}

/* Merge until one is left, always two of those that are there. */
static struct hwtd_profile *
merge_in_any_order(struct hwtd_profile **parts, uint64_t *random)
{
	size_t n = PARTS;

	while (n > 1) {
		const size_t into = random_below(random, (uint32_t)n);
		size_t from = random_below(random, (uint32_t)n);

		if (from == into)
			continue;
		/* Readers in between change nothing. */
		if (random_below(random, 3) == 0) {
			int rc;

			free(profile_text(parts[into], 0, &rc));
			assert_int_equal(rc, HWTD_OK);
		}
		assert_int_equal(hwtd_profile_merge(parts[into], parts[from],
				     NULL),
		    HWTD_OK);
		hwtd_profile_destroy(parts[from]);
		parts[from] = parts[--n];
	}
	return (parts[0]);
}

static void
parts_merged_in_any_order_are_the_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		const uint32_t flags = seed % 2 != 0 ? HWTD_PROFILE_THREADS
						     : 0;
		struct hwtd_profile *whole = create(flags);
		struct hwtd_profile *parts[PARTS];
		struct code_model model;
		uint64_t random = seed * 7919;

		make_model(&model, &random);
		(void)add_image(whole, "image");
		for (size_t i = 0; i < PARTS; i++) {
			parts[i] = create(flags);
			(void)add_image(parts[i], "image");
		}
		for (size_t i = 0; i < 60; i++) {
			struct hwtd_profile
			    *part = parts[random_below(&random, PARTS)];

			if (i % 3 == 0)
				add_random_stack(whole, part, &random);
			else if (i % 3 == 1)
				add_random_code(whole, part, &model, &random);
			else if (seed % 4 == 0)
				add_random_details(whole, part, &random);
		}
		if (seed % 4 != 0)
			assert_model(whole, &model);
		parts[0] = merge_in_any_order(parts, &random);
		profile_assert_same(whole, parts[0], 0);
		if (seed % 4 != 0)
			assert_model(parts[0], &model);
		hwtd_profile_destroy(whole);
		hwtd_profile_destroy(parts[0]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_merged_in_any_order_are_the_whole),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
