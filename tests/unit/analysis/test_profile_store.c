/*
 * What a profile keeps and tells, of things that were put in by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/profile/profile_store.h"
#include "support/failing_allocator.h"
#include "support/profile_text.h"

static struct hwtd_profile *
create(uint32_t flags, uint32_t max_nodes)
{
	const struct hwtd_profile_options opts = { .size = sizeof(opts),
		.flags = flags,
		.max_nodes = max_nodes };
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

static uint32_t
add_node(struct hwtd_profile *p, uint32_t parent, uint32_t function,
    uint64_t calls, uint64_t insns)
{
	const struct hwtd_profile_node node = { .parent = parent,
		.function = function,
		.thread = HWTD_NO_ID,
		.type = parent == HWTD_NO_ID ? HWTD_CALL_TYPE_FOUND
					     : HWTD_CALL_TYPE_CALL,
		.self = { .calls = calls, .insns = insns } };
	uint32_t no;

	assert_int_equal(hwtdi_profile_add_node(p, &node, &no, NULL), HWTD_OK);
	return (no);
}

static void
add_code(struct hwtd_profile *p, uint32_t image, uint64_t off,
    const char *lengths, uint64_t count, uint32_t function, uint8_t branch)
{
	struct hwtdi_profile_code code = { .off = off,
		.count = count,
		.image = image,
		.function = function,
		.inlined = HWTD_NO_ID,
		.line = HWTD_NO_ID,
		.insns = (uint32_t)strlen(lengths),
		.isa = HWTD_ISA_X86_64,
		.branch = branch };
	uint8_t bytes[64];

	for (size_t i = 0; i < code.insns; i++) {
		bytes[i] = (uint8_t)(lengths[i] - '0');
		code.bytes += bytes[i];
	}
	assert_int_equal(hwtdi_profile_add_code(p, &code, bytes, NULL),
	    HWTD_OK);
}

/* Stacks. */

/* "main:1/10;f:2/20 ..." in the order of the tree, with totals behind. */
static void
assert_nodes(struct hwtd_profile *p, const char *want)
{
	struct hwtd_profile_node node;
	char got[2048] = "";
	size_t at = 0, n;

	for (uint64_t i = 0;
	     hwtd_profile_nodes(p, i, &node, sizeof(node), 1, &n) == HWTD_OK;
	     i++) {
		struct hwtd_profile_function f = { .size = sizeof(f) };

		(void)hwtd_profile_function(p, node.function, &f);
		at += (size_t)snprintf(got + at, sizeof(got) - at,
		    "%s%u%s:%llu/%llu/%llu", i == 0 ? "" : " ", node.depth,
		    f.name != NULL ? f.name : "-",
		    (unsigned long long)node.self.calls,
		    (unsigned long long)node.self.insns,
		    (unsigned long long)node.total.insns);
		assert_true(at < sizeof(got));
		if (node.parent != HWTD_NO_ID)
			assert_true(node.parent < i);
	}
	assert_string_equal(got, want);
}

static void
nodes_are_in_the_order_of_their_functions(void **state)
{
	struct hwtd_profile *p = create(0, 0);
	const uint32_t image = add_image(p, "b");
	const uint32_t g = add_function(p, image, 0x30, "g");
	const uint32_t f = add_function(p, image, 0x20, "f");
	const uint32_t m = add_function(p, image, 0x10, "main");
	const uint32_t h = add_function(p, add_image(p, "a"), 0x90, "h");
	const uint32_t root = add_node(p, HWTD_NO_ID, HWTD_NO_ID, 0, 0);
	const uint32_t main_node = add_node(p, root, m, 1, 10);
	const uint32_t g_node = add_node(p, main_node, g, 2, 20);

	(void)state;
	(void)add_node(p, g_node, f, 4, 40);
	(void)add_node(p, main_node, f, 1, 3);
	(void)add_node(p, g_node, h, 1, 5);
	/* The same again. */
	assert_int_equal(add_node(p, main_node, g, 1, 1), g_node);
	assert_nodes(p,
	    "0-:0/0/79 1main:1/10/79 2f:1/3/3 2g:3/21/66 3h:1/5/5 3f:4/40/40");
	hwtd_profile_destroy(p);
}

static struct hwtd_profile_row
row_of(struct hwtd_profile *p, uint32_t by, const char *name)
{
	struct hwtd_profile_row row;
	size_t n;

	for (uint64_t i = 0;
	     hwtd_profile_rows(p, by, i, &row, sizeof(row), 1, &n) == HWTD_OK;
	     i++) {
		struct hwtd_profile_function f = { .size = sizeof(f) };
		struct hwtd_profile_image image = { .size = sizeof(image) };

		(void)hwtd_profile_function(p, row.function, &f);
		(void)hwtd_profile_image(p, row.image, &image);
		if (strcmp(by == HWTD_PROFILE_BY_IMAGE ? image.name : f.name,
			name) == 0)
			return (row);
	}
	fail_msg("no row '%s'", name);
	return (row);
}

/* main calls f, which calls g, which calls f, which calls itself. */
static struct hwtd_profile *
make_recursive(void)
{
	struct hwtd_profile *p = create(0, 0);
	const uint32_t a = add_image(p, "a"), b = add_image(p, "b");
	const uint32_t m = add_function(p, a, 1, "main");
	const uint32_t f = add_function(p, a, 2, "f");
	const uint32_t g = add_function(p, b, 1, "g");
	uint32_t node = add_node(p, HWTD_NO_ID, HWTD_NO_ID, 0, 0);

	node = add_node(p, node, m, 1, 1);
	node = add_node(p, node, f, 2, 10);
	node = add_node(p, node, g, 3, 100);
	node = add_node(p, node, f, 4, 1000);
	(void)add_node(p, node, f, 5, 10000);
	return (p);
}

static void
recursion_counts_once(void **state)
{
	struct hwtd_profile *p = make_recursive();
	struct hwtd_profile_row row = row_of(p, HWTD_PROFILE_BY_FUNCTION, "f");

	(void)state;
	assert_int_equal(row.self.calls, 11);
	assert_int_equal(row.self.insns, 11010);
	assert_int_equal(row.total.insns, 11110);
	row = row_of(p, HWTD_PROFILE_BY_FUNCTION, "g");
	assert_int_equal(row.self.insns, 100);
	assert_int_equal(row.total.insns, 11100);
	row = row_of(p, HWTD_PROFILE_BY_FUNCTION, "main");
	assert_int_equal(row.total.insns, 11111);
	row = row_of(p, HWTD_PROFILE_BY_IMAGE, "a");
	assert_int_equal(row.self.insns, 11011);
	assert_int_equal(row.total.insns, 11111);
	row = row_of(p, HWTD_PROFILE_BY_IMAGE, "b");
	assert_int_equal(row.self.insns, 100);
	assert_int_equal(row.total.insns, 11100);
	hwtd_profile_destroy(p);
}

static void
assert_relatives(struct hwtd_profile *p, const char *name, uint32_t side,
    const char *want)
{
	struct hwtd_profile_relative r;
	struct hwtd_profile_function f = { .size = sizeof(f) };
	char got[1024] = "";
	size_t at = 0, n;
	uint32_t id = 0;

	while (hwtd_profile_function(p, id, &f) == HWTD_OK &&
	    strcmp(f.name, name) != 0)
		id++;
	for (uint64_t i = 0; hwtd_profile_relatives(p, id, side, i, &r,
				 sizeof(r), 1, &n) == HWTD_OK;
	     i++) {
		f.name = NULL;
		(void)hwtd_profile_function(p, r.function, &f);
		at += (size_t)snprintf(got + at, sizeof(got) - at,
		    "%s%s.%s:%llu/%llu/%llu", i == 0 ? "" : " ",
		    f.name != NULL ? f.name : "-", hwtd_call_type_name(r.type),
		    (unsigned long long)r.branches,
		    (unsigned long long)r.sums.calls,
		    (unsigned long long)r.sums.insns);
		assert_true(at < sizeof(got));
	}
	assert_string_equal(got, want);
}

static void
callers_and_callees_count_calls_within_calls_once(void **state)
{
	struct hwtd_profile *p = make_recursive();

	(void)state;
	/* f called by f is within f called by g. */
	assert_relatives(p, "f", HWTD_PROFILE_CALLERS,
	    "main.call:0/2/11110 f.call:0/5/10000 g.call:0/4/11000");
	assert_relatives(p, "f", HWTD_PROFILE_CALLEES,
	    "f.call:0/5/10000 g.call:0/3/11100");
	assert_relatives(p, "main", HWTD_PROFILE_CALLERS, "-.call:0/1/11111");
	assert_relatives(p, "g", HWTD_PROFILE_CALLEES, "f.call:0/4/11000");
	hwtd_profile_destroy(p);
}

static void
branches_to_functions_are_relatives(void **state)
{
	struct hwtd_profile *p = create(0, 0);
	const uint32_t a = add_image(p, "a");
	const uint32_t f = add_function(p, a, 0x10, "f");
	const uint32_t g = add_function(p, a, 0x20, "g");
	struct hwtd_profile_edge e = { .from_image = a,
		.to_image = a,
		.from_off = 0x15,
		.to_off = 0x20,
		.count = 7,
		.from_function = f,
		.to_function = g,
		.branch = HWTD_BRANCH_CALL,
		.flags = HWTD_PROFILE_EDGEF_TO_START };

	(void)state;
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	/* Again, from elsewhere, a jump there, and a return into its middle. */
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	e.from_off = 0x18;
	e.count = 1;
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	e.branch = HWTD_BRANCH_JUMP;
	e.count = 30;
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	e.branch = HWTD_BRANCH_RETURN;
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	e.branch = HWTD_BRANCH_JUMP;
	e.flags = 0;
	e.to_off = 0x22;
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	assert_relatives(p, "g", HWTD_PROFILE_CALLERS,
	    "f.call:15/0/0 f.tail:30/0/0");
	assert_relatives(p, "f", HWTD_PROFILE_CALLEES,
	    "g.call:15/0/0 g.tail:30/0/0");
	assert_relatives(p, "f", HWTD_PROFILE_CALLERS, "");
	hwtd_profile_destroy(p);
}

static void
calls_past_the_limit_are_those_of_others(void **state)
{
	struct hwtd_profile *p = create(0, 3);
	struct hwtd_profile_info info = { .size = sizeof(info) };
	const uint32_t a = add_image(p, "a");
	const uint32_t f = add_function(p, a, 1, "f");
	const uint32_t g = add_function(p, a, 2, "g");
	const uint32_t root = add_node(p, HWTD_NO_ID, HWTD_NO_ID, 0, 0);
	const uint32_t f_node = add_node(p, root, f, 1, 1);
	uint32_t other;

	(void)state;
	(void)add_node(p, f_node, f, 1, 10);
	other = add_node(p, f_node, g, 2, 100);
	(void)add_node(p, other, f, 1, 1000);
	/* What is there already goes on. */
	(void)add_node(p, root, f, 1, 10000);
	assert_nodes(p,
	    "0-:0/0/11111 1f:2/10001/11111 2f:1/10/10 "
	    "2-:3/1100/1100");
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_OK);
	assert_int_equal(info.others, 3);
	hwtd_profile_destroy(p);
}

/* Code. */

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

static void
pieces_of_code_become_blocks_of_equal_counts(void **state)
{
	struct hwtd_profile *p = create(0, 0);
	const uint32_t a = add_image(p, "a");

	(void)state;
	/* Instructions at 0, 2, 5, 6, 9; a branch is the last. */
	add_code(p, a, 0, "23132", 3, HWTD_NO_ID, HWTD_BRANCH_JUMP);
	assert_blocks(p, "0+11:5*3");
	add_code(p, a, 5, "132", 2, HWTD_NO_ID, HWTD_BRANCH_JUMP);
	assert_blocks(p, "0+5:2*3 5+6:3*5");
	add_code(p, a, 0, "2", 1, HWTD_NO_ID, HWTD_BRANCH_NONE);
	assert_blocks(p, "0+2:1*4 2+3:1*3 5+6:3*5");
	/* What was less is made up for. */
	add_code(p, a, 2, "3", 1, HWTD_NO_ID, HWTD_BRANCH_NONE);
	assert_blocks(p, "0+5:2*4 5+6:3*5");
	add_code(p, a, 0, "23", 1, HWTD_NO_ID, HWTD_BRANCH_NONE);
	assert_blocks(p, "0+11:5*5");
	/* Behind a branch another block begins. */
	add_code(p, a, 11, "4", 5, HWTD_NO_ID, HWTD_BRANCH_NONE);
	assert_blocks(p, "0+11:5*5 b+4:1*5");
	hwtd_profile_destroy(p);
}

static void
code_that_is_read_in_two_ways_is_two_blocks(void **state)
{
	struct hwtd_profile *p = create(0, 0);
	const uint32_t a = add_image(p, "a");

	(void)state;
	/* 0, 4, 6 and from the middle of the first 1, 4: they meet. */
	add_code(p, a, 0, "422", 2, HWTD_NO_ID, HWTD_BRANCH_NONE);
	add_code(p, a, 1, "3", 2, HWTD_NO_ID, HWTD_BRANCH_NONE);
	assert_blocks(p, "0+8:3*2 1+3:1*2");
	add_code(p, a, 1, "322", 1, HWTD_NO_ID, HWTD_BRANCH_NONE);
	/* 4 and 6 three times: as often as 1 was. */
	assert_blocks(p, "0+4:1*2 1+7:3*3");
	hwtd_profile_destroy(p);
}

static void
functions_are_entered_at_their_first_byte(void **state)
{
	struct hwtd_profile *p = create(0, 0);
	const uint32_t a = add_image(p, "a");
	const uint32_t f = add_function(p, a, 4, "f");
	const uint32_t g = add_function(p, a, 8, "g");
	struct hwtd_profile_row row;

	(void)state;
	add_code(p, a, 4, "22", 7, f, HWTD_BRANCH_NONE);
	add_code(p, a, 8, "1", 7, g, HWTD_BRANCH_NONE);
	add_code(p, a, 9, "11", 70, g, HWTD_BRANCH_CONDITIONAL);
	row = row_of(p, HWTD_PROFILE_BY_FUNCTION, "f");
	assert_int_equal(row.insns, 14);
	assert_int_equal(row.entered, 7);
	row = row_of(p, HWTD_PROFILE_BY_FUNCTION, "g");
	assert_int_equal(row.insns, 147);
	assert_int_equal(row.entered, 7);
	row = row_of(p, HWTD_PROFILE_BY_IMAGE, "a");
	assert_int_equal(row.insns, 161);
	hwtd_profile_destroy(p);
}

static void
limits_are_kept_to(void **state)
{
	const struct hwtd_profile_options opts = { .size = sizeof(opts),
		.max_functions = 2,
		.max_blocks = 1 };
	const struct hwtd_profile_function f = { .name = "c",
		.image = HWTD_NO_ID };
	struct hwtd_profile_info info = { .size = sizeof(info) };
	struct hwtd_profile_edge e = { .from_image = HWTD_NO_ID,
		.to_image = HWTD_NO_ID,
		.from_function = HWTD_NO_ID,
		.to_function = HWTD_NO_ID };
	struct hwtd_context *ctx;
	struct hwtd_profile *p;
	uint32_t no;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_profile_create(ctx, &opts, &p, NULL), HWTD_OK);
	(void)add_function(p, HWTD_NO_ID, 1, "a");
	(void)add_function(p, HWTD_NO_ID, 1, "b");
	(void)add_function(p, HWTD_NO_ID, 1, "a");
	assert_int_equal(hwtdi_profile_add_function(p, &f, &no, NULL),
	    HWTD_E_LIMIT);
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_OK);
	e.to_off = 1;
	assert_int_equal(hwtdi_profile_add_edge(p, &e, NULL), HWTD_E_LIMIT);
	/* The same block many times is one. */
	for (size_t i = 0; i < 200000; i++)
		add_code(p, HWTD_NO_ID, 0, "22", 1, HWTD_NO_ID,
		    HWTD_BRANCH_JUMP);
	assert_blocks(p, "0+4:2*200000");
	add_code(p, HWTD_NO_ID, 4, "2", 1, HWTD_NO_ID, HWTD_BRANCH_JUMP);
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_E_LIMIT);
	assert_int_equal(hwtd_profile_info(p, &info), HWTD_E_LIMIT);
	hwtd_profile_destroy(p);
	hwtd_context_destroy(ctx);
}

/* Names. */

static void
names_are_kept_as_they_are(void **state)
{
	static char longest[65536];
	static const char *const names[] = { "\"quoted\";semi\ncolon",
		"\xff\xfe not UTF-8", "", "a\tb\x01", longest };
	struct hwtd_profile *p = create(0, 0);

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	for (size_t i = 0; i < 5; i++)
		(void)add_function(p, HWTD_NO_ID, i, names[i]);
	for (uint32_t i = 0; i < 5; i++) {
		struct hwtd_profile_function f = { .size = sizeof(f) };

		assert_int_equal(hwtd_profile_function(p, i, &f), HWTD_OK);
		if (names[i][0] == '\0')
			assert_null(f.name);
		else
			assert_string_equal(f.name, names[i]);
	}
	hwtd_profile_destroy(p);
}

static void
what_is_wrong_is_refused(void **state)
{
	static const uint8_t lengths[] = { 1, 16 };
	struct hwtd_profile_options opts = { .size = sizeof(opts),
		.flags = 0x100 };
	const struct hwtdi_profile_code code = { .image = HWTD_NO_ID,
		.function = HWTD_NO_ID,
		.inlined = HWTD_NO_ID,
		.line = HWTD_NO_ID,
		.insns = 2,
		.bytes = 17 };
	struct hwtd_profile *p = create(0, 0);
	struct hwtd_profile *threads = create(HWTD_PROFILE_THREADS, 0);
	struct hwtd_profile *q;
	struct hwtd_context *ctx;
	struct hwtd_profile_row row;
	size_t n;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_profile_create(ctx, &opts, &q, NULL),
	    HWTD_E_INVALID);
	opts.flags = 0;
	opts.max_nodes = UINT32_MAX;
	assert_int_equal(hwtd_profile_create(ctx, &opts, &q, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_profile_create(NULL, NULL, &q, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_profile_add_code(p, &code, lengths, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_profile_rows(p, HWTD_PROFILE_BYS, 0, &row,
			     sizeof(row), 1, &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_profile_rows(p, 0, 0, &row, sizeof(row) - 8, 1,
			     &n),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_profile_rows(p, 0, 0, &row, sizeof(row), 1, &n),
	    HWTD_END);
	assert_int_equal(hwtd_profile_merge(p, p, NULL), HWTD_E_INVALID);
	assert_int_equal(hwtd_profile_merge(p, threads, NULL), HWTD_E_INVALID);
	assert_string_equal(hwtd_profile_by_name(HWTD_PROFILE_BY_ADDRESS),
	    "block");
	assert_string_equal(hwtd_profile_by_name(99), "unknown");
	hwtd_profile_destroy(p);
	hwtd_profile_destroy(threads);
	hwtd_profile_destroy(NULL);
	hwtd_context_destroy(ctx);
}

/* Memory that is refused. */

static int
merge_once(struct hwtd_context *ctx, struct hwtd_profile *from)
{
	struct hwtd_profile *p;
	int rc = hwtd_profile_create(ctx, NULL, &p, NULL);
	char *text;

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_profile_merge(p, from, NULL);
	if (rc == HWTD_OK) {
		text = profile_text(p, 0, &rc);
		free(text);
	} else {
		struct hwtd_profile_info info = { .size = sizeof(info) };

		assert_int_equal(hwtd_profile_info(p, &info), HWTD_E_STATE);
		assert_int_equal(hwtd_profile_merge(p, from, NULL),
		    HWTD_E_STATE);
	}
	hwtd_profile_destroy(p);
	return (rc);
}

static void
memory_that_is_refused_is_an_error(void **state)
{
	struct hwtd_profile *from = make_recursive();
	struct failing_allocator f;
	uint64_t n = 0;
	int rc;

	(void)state;
	add_code(from, 0, 0, "422", 2, HWTD_NO_ID, HWTD_BRANCH_NONE);
	add_code(from, 0, 1, "322", 1, HWTD_NO_ID, HWTD_BRANCH_NONE);
	do {
		struct hwtd_context_options o = { .size = sizeof(o) };
		struct hwtd_context *ctx;

		failing_allocator_init(&f);
		o.allocator = &f.allocator;
		assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
		failing_allocator_arm(&f, ++n, false);
		rc = merge_once(ctx, from);
		failing_allocator_arm(&f, 0, false);
		hwtd_context_destroy(ctx);
		assert_int_equal(f.blocks, 0);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
	} while (rc != HWTD_OK && n < 10000);
	assert_true(n > 30);
	hwtd_profile_destroy(from);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_in_the_order_of_their_functions),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(
		    callers_and_callees_count_calls_within_calls_once),
		cmocka_unit_test(branches_to_functions_are_relatives),
		cmocka_unit_test(calls_past_the_limit_are_those_of_others),
		cmocka_unit_test(pieces_of_code_become_blocks_of_equal_counts),
		cmocka_unit_test(code_that_is_read_in_two_ways_is_two_blocks),
		cmocka_unit_test(functions_are_entered_at_their_first_byte),
		cmocka_unit_test(limits_are_kept_to),
		cmocka_unit_test(names_are_kept_as_they_are),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(memory_that_is_refused_is_an_error),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
