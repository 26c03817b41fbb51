/*
 * Flames of profiles that were put together by hand; all numbers are added up by
 * hand from what was put in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <hwtdecode/flame.h>

#include "support/hand_profile.h"

static struct hand_profile now, before;
static char text[65536];

static int
set_up(void **state)
{
	(void)state;
	hand_profile_init(&now, 0);
	hand_profile_init(&before, 0);
	return (0);
}

static int
tear_down(void **state)
{
	(void)state;
	hand_profile_fini(&now);
	hand_profile_fini(&before);
	return (0);
}

/* A line for each node: dots as deep as it is, name, value, self, base, merged. */
static const char *
tell(struct hand_profile *h, struct hwtd_flame_options how,
    struct hwtd_flame_info *info_out)
{
	struct hwtd_flame_node nodes[3];
	struct hwtd_flame *flame = NULL;
	struct hwtd_error err = { .size = sizeof(err) };
	size_t n = 0, at_text = 0;

	how.size = sizeof(how);
	if (hwtd_flame_open(h->profile, &how, &flame, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	text[0] = '\0';
	for (uint64_t at = 0; hwtd_flame_nodes(flame, at, nodes,
				  sizeof(nodes[0]), 3, &n) == HWTD_OK;
	     at += n)
		for (size_t i = 0; i < n; i++) {
			const struct hwtd_flame_node *node = &nodes[i];
			struct hwtd_flame_frame frame = {
				.size = sizeof(frame)
			};

			assert_int_equal(hwtd_flame_frame(flame, node->frame,
					     &frame),
			    HWTD_OK);
			at_text += (size_t)snprintf(text + at_text,
			    sizeof(text) - at_text, "%.*s%s %llu %llu",
			    (int)node->depth, "..........", frame.name,
			    (unsigned long long)node->value,
			    (unsigned long long)node->self);
			if (how.base != NULL)
				at_text += (size_t)snprintf(text + at_text,
				    sizeof(text) - at_text, " was %llu %llu",
				    (unsigned long long)node->base,
				    (unsigned long long)node->base_self);
			if (node->merged != 0)
				at_text += (size_t)snprintf(text + at_text,
				    sizeof(text) - at_text, " of %llu",
				    (unsigned long long)node->merged);
			at_text += (size_t)snprintf(text + at_text,
			    sizeof(text) - at_text, "\n");
		}
	if (info_out != NULL) {
		info_out->size = sizeof(*info_out);
		assert_int_equal(hwtd_flame_info(flame, info_out), HWTD_OK);
	}
	hwtd_flame_close(flame);
	return (text);
}

static void
stacks_weigh_time_and_gaps_are_frames(void **state)
{
	struct hwtd_flame_info info;

	(void)state;
	hand_profile_fill(&now);
	assert_string_equal(tell(&now, (struct hwtd_flame_options){ 0 },
				&info),
	    "all 890 0\n"
	    ".main 890 100\n"
	    "..f 740 230\n"
	    "...g 460 400\n"
	    "....f 60 60\n"
	    "...[gap] 50 50\n"
	    "..g 50 50\n");
	assert_int_equal(info.value, HWTD_VALUE_TIME);
	assert_int_equal(info.total, 890);
	assert_int_equal(info.gap, 50);
	assert_int_equal(info.gaps, 1);
	assert_int_equal(info.gap_bytes, 77);
	assert_int_equal(info.flags, 0);
}

static void
instructions_have_no_gaps(void **state)
{
	(void)state;
	hand_profile_fill(&now);
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .value = HWTD_VALUE_INSNS,
				    .flags = HWTD_FLAME_BY_NAME },
				NULL),
	    "all 84 0\n"
	    ".main 84 10\n"
	    "..f 69 23\n"
	    "...g 46 40\n"
	    "....f 6 6\n"
	    "..g 5 5\n");
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .value = HWTD_VALUE_CALLS },
				NULL),
	    "all 10 0\n"
	    ".main 10 1\n"
	    "..f 8 3\n"
	    "...g 5 4\n"
	    "....f 1 1\n"
	    "..g 1 1\n");
}

static void
upside_down_it_begins_with_what_ran(void **state)
{
	(void)state;
	hand_profile_fill(&now);
	/* f: 230 called by main, 60 by g; g: 400 by f, 50 by main. */
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .flags = HWTD_FLAME_INVERT },
				NULL),
	    "all 890 0\n"
	    ".g 450 0\n"
	    "..f 400 0\n"
	    "...main 400 400\n"
	    "..main 50 50\n"
	    ".f 290 0\n"
	    "..main 230 230\n"
	    "..g 60 0\n"
	    "...f 60 0\n"
	    "....main 60 60\n"
	    ".main 100 100\n"
	    ".[gap] 50 0\n"
	    "..f 50 0\n"
	    "...main 50 50\n");
}

static void
what_is_small_is_summed_up_and_counted(void **state)
{
	struct hwtd_flame_info info;

	(void)state;
	hand_profile_fill(&now);
	/* Less than 61 ns of 890: the inner f, the gap, and g of main. */
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .min_ppm = 68000 },
				&info),
	    "all 890 0\n"
	    ".main 890 100\n"
	    "..f 740 230\n"
	    "...g 460 400\n"
	    "....[smaller] 60 60 of 1\n"
	    "...[smaller] 50 50 of 1\n"
	    "..[smaller] 50 50 of 1\n");
	assert_int_equal(info.smaller, 3);
	/* All but what main is itself: with what is below it. */
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .min_ppm = 900000 },
				&info),
	    "all 890 0\n"
	    ".main 890 100\n"
	    "..[smaller] 790 790 of 5\n");
	assert_int_equal(info.smaller, 5);
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){ .min_ppm = 300000,
				    .flags = HWTD_FLAME_INVERT },
				&info),
	    "all 890 0\n"
	    ".g 450 0\n"
	    "..f 400 0\n"
	    "...main 400 400\n"
	    "..[smaller] 50 50 of 1\n"
	    ".f 290 0\n"
	    "..[smaller] 290 290 of 2\n"
	    ".[smaller] 150 150 of 2\n");
	assert_int_equal(info.smaller, 5);
}

static void
what_is_deep_is_summed_up_and_counted(void **state)
{
	struct hwtd_flame_info info;

	(void)state;
	hand_profile_fill(&now);
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){ .max_depth = 2,
				    .value = HWTD_VALUE_INSNS },
				&info),
	    "all 84 0\n"
	    ".main 84 10\n"
	    "..f 69 23\n"
	    "...[deeper] 46 46 of 2\n"
	    "..g 5 5\n");
	assert_int_equal(info.deeper, 2);
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){ .max_depth = 1,
				    .value = HWTD_VALUE_INSNS,
				    .flags = HWTD_FLAME_INVERT },
				&info),
	    "all 84 0\n"
	    ".g 45 0\n"
	    "..[deeper] 45 45 of 2\n"
	    ".f 29 0\n"
	    "..[deeper] 29 29 of 3\n"
	    ".main 10 10\n");
}

static void
each_thread_has_a_frame_if_that_is_asked_for(void **state)
{
	struct hand_profile h;
	uint32_t f, a, b;

	(void)state;
	hand_profile_init(&h, HWTD_PROFILE_THREADS);
	f = hand_function(&h, HWTD_NO_ID, "f", 1);
	a = hand_root(&h, "worker", 101);
	b = hand_root(&h, NULL, 102);
	(void)hand_node(&h, a, f, HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 5, 0));
	(void)hand_node(&h, b, f, HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 7, 0));
	assert_string_equal(tell(&h,
				(struct hwtd_flame_options){
				    .flags = HWTD_FLAME_BY_THREAD },
				NULL),
	    "all 12 0\n"
	    ".100/102 7 0\n"
	    "..f 7 7\n"
	    ".worker 100/101 5 0\n"
	    "..f 5 5\n");
	/* Without: no time is known, so instructions weigh. */
	assert_string_equal(tell(&h, (struct hwtd_flame_options){ 0 }, NULL),
	    "all 12 0\n"
	    ".f 12 12\n");
	assert_string_equal(tell(&h,
				(struct hwtd_flame_options){
				    .flags = HWTD_FLAME_BY_THREAD |
					HWTD_FLAME_INVERT },
				NULL),
	    "all 12 0\n"
	    ".100/102 7 0\n"
	    "..f 7 7\n"
	    ".worker 100/101 5 0\n"
	    "..f 5 5\n");
	hand_profile_fini(&h);
}

static void
what_has_no_name_is_told_by_where_it_is(void **state)
{
	const uint32_t lib = hand_image(&now, "/usr/lib/libfoo.so");
	const uint32_t unnamed = hand_function(&now, lib, NULL, 0);
	const uint32_t root = hand_root(&now, NULL, HWTD_NO_ID);
	struct hwtd_profile_sums off = hand_sums(1, 1, 10);
	uint32_t at;

	(void)state;
	off.off_ns = 1000;
	at = hand_node(&now, root, unnamed, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, 1, 90));
	(void)hand_node(&now, at, HWTD_NO_ID, HWTD_CALL_TYPE_SYSCALL,
	    HWTD_PROFILE_NODEF_UNTRACED, off);
	(void)hand_node(&now, at, HWTD_NO_ID, HWTD_CALL_TYPE_INTERRUPT,
	    HWTD_PROFILE_NODEF_UNTRACED, hand_sums(1, 1, 9));
	(void)hand_node(&now, at, HWTD_NO_ID, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, 1, 8));
	assert_string_equal(tell(&now, (struct hwtd_flame_options){ 0 }, NULL),
	    "all 117 0\n"
	    ".libfoo.so+0x0 117 90\n"
	    "..[syscall] 10 10\n"
	    "..[interrupt] 9 9\n"
	    "..[unknown] 8 8\n");
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .flags = HWTD_FLAME_OFF_TIME },
				NULL),
	    "all 1117 0\n"
	    ".libfoo.so+0x0 1117 90\n"
	    "..[syscall] 1010 10\n"
	    "...[not running] 1000 1000\n"
	    "..[interrupt] 9 9\n"
	    "..[unknown] 8 8\n");
}

static void
functions_of_one_name_are_one_frame_of_their_image(void **state)
{
	const uint32_t a = hand_image(&now, "/lib/a.so");
	const uint32_t b = hand_image(&now, "/lib/b.so");
	const uint32_t root = hand_root(&now, NULL, HWTD_NO_ID);

	(void)state;
	(void)hand_node(&now, root, hand_function(&now, a, "init", 1),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 5, 0));
	(void)hand_node(&now, root, hand_function(&now, a, "init", 2),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 6, 0));
	(void)hand_node(&now, root, hand_function(&now, b, "init", 1),
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 7, 0));
	assert_string_equal(tell(&now, (struct hwtd_flame_options){ 0 }, NULL),
	    "all 18 0\n"
	    ".init 11 11\n"
	    ".init 7 7\n");
}

/* Before: main 30, of which f is 20 and h, which is gone, 10; of instructions. */
static void
fill_before(void)
{
	const uint32_t prog = hand_image(&before, "/old/bin/prog");
	const uint32_t root = hand_root(&before, NULL, HWTD_NO_ID);
	const uint32_t main_f = hand_function(&before, prog, "main", 0x5000);
	const uint32_t f = hand_function(&before, prog, "f", 0x6000);
	const uint32_t h = hand_function(&before, prog, "h", 0x7000);
	const uint32_t at = hand_node(&before, root, main_f,
	    HWTD_CALL_TYPE_CALL, 0, hand_sums(1, 12, 0));

	(void)hand_node(&before, at, f, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, 20, 0));
	(void)hand_node(&before, at, h, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, 10, 0));
	hand_seen(&before, 2, 9);
}

static void
comparing_matches_names_and_scales_the_whole(void **state)
{
	struct hwtd_flame_info info;

	(void)state;
	hand_profile_fill(&now);
	fill_before();
	/* No time is known of both; 42 instructions become 84. */
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .base = before.profile },
				&info),
	    "all 84 0 was 84 0\n"
	    ".main 84 10 was 84 24\n"
	    "..f 69 23 was 40 40\n"
	    "...g 46 40 was 0 0\n"
	    "....f 6 6 was 0 0\n"
	    "..g 5 5 was 0 0\n"
	    "..h 0 0 was 20 20\n");
	assert_int_equal(info.value, HWTD_VALUE_INSNS);
	assert_int_equal(info.total, 84);
	assert_int_equal(info.base_total, 42);
	assert_int_equal(info.base_gaps, 2);
	assert_int_equal(info.base_gap_bytes, 9);
	assert_int_equal(info.flags,
	    HWTD_FLAMEF_COMPARED | HWTD_FLAMEF_SCALED);
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .base = before.profile,
				    .flags = HWTD_FLAME_ABSOLUTE |
					HWTD_FLAME_INVERT },
				&info),
	    "all 84 0 was 42 0\n"
	    ".g 45 0 was 0 0\n"
	    "..f 40 0 was 0 0\n"
	    "...main 40 40 was 0 0\n"
	    "..main 5 5 was 0 0\n"
	    ".f 29 0 was 20 0\n"
	    "..main 23 23 was 20 20\n"
	    "..g 6 0 was 0 0\n"
	    "...f 6 0 was 0 0\n"
	    "....main 6 6 was 0 0\n"
	    ".main 10 10 was 12 12\n"
	    ".h 0 0 was 10 0\n"
	    "..main 0 0 was 10 10\n");
	assert_int_equal(info.flags, HWTD_FLAMEF_COMPARED);
	/* What was large is told though it is small now: h is 24 % there. */
	assert_string_equal(tell(&now,
				(struct hwtd_flame_options){
				    .base = before.profile,
				    .min_ppm = 200000 },
				&info),
	    "all 84 0 was 84 0\n"
	    ".main 84 10 was 84 24\n"
	    "..f 69 23 was 40 40\n"
	    "...g 46 40 was 0 0\n"
	    "....[smaller] 6 6 was 0 0 of 1\n"
	    "..h 0 0 was 20 20\n"
	    "..[smaller] 5 5 was 0 0 of 1\n");
}

static void
sums_stay_at_their_greatest(void **state)
{
	const uint32_t f = hand_function(&now, HWTD_NO_ID, "f", 1);
	const uint32_t g = hand_function(&now, HWTD_NO_ID, "g", 2);
	const uint32_t root = hand_root(&now, NULL, HWTD_NO_ID);
	struct hwtd_flame_info info;

	(void)state;
	(void)hand_node(&now, root, f, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, UINT64_MAX - 1, 0));
	(void)hand_node(&now, root, g, HWTD_CALL_TYPE_CALL, 0,
	    hand_sums(1, 5, 0));
	assert_string_equal(tell(&now, (struct hwtd_flame_options){ 0 },
				&info),
	    "all 18446744073709551615 0\n"
	    ".f 18446744073709551614 18446744073709551614\n"
	    ".g 5 5\n");
	assert_int_equal(info.flags, HWTD_FLAMEF_SATURATED);
}

static void
nothing_is_a_flame_of_nothing(void **state)
{
	(void)state;
	assert_string_equal(tell(&now, (struct hwtd_flame_options){ 0 }, NULL),
	    "all 0 0\n");
}

static void
what_makes_no_sense_is_refused(void **state)
{
	static const struct hwtd_flame_options wrong[] = {
		{ .size = sizeof(wrong[0]), .flags = 0x8000 },
		{ .size = sizeof(wrong[0]), .value = 99 },
		{ .size = sizeof(wrong[0]), .min_ppm = 1000001 },
	};
	struct hwtd_flame_options how = { .size = sizeof(how),
		.base = now.profile };
	struct hwtd_flame_node node;
	struct hwtd_flame *flame = NULL;
	size_t n = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(hwtd_flame_open(now.profile, &wrong[i],
				     &flame, NULL),
		    HWTD_E_INVALID);
	assert_int_equal(hwtd_flame_open(now.profile, &how, &flame, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_flame_open(NULL, NULL, &flame, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_flame_open(now.profile, NULL, &flame, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_flame_nodes(flame, 0, &node, 4, 1, &n),
	    HWTD_E_INVALID);
	assert_int_equal(n, 0);
	assert_int_equal(hwtd_flame_nodes(flame, 1, &node, sizeof(node), 1,
			     &n),
	    HWTD_END);
	hwtd_flame_close(flame);
	hwtd_flame_close(NULL);
	assert_string_equal(hwtd_flame_kind_name(HWTD_FLAME_GAP), "gap");
	assert_string_equal(hwtd_flame_kind_name(99), "unknown");
	assert_string_equal(hwtd_export_value_name(HWTD_VALUE_CALLS), "calls");
	assert_string_equal(hwtd_export_value_name(99), "unknown");
}

static void
memory_that_is_refused_is_told_and_given_back(void **state)
{
	static const uint32_t flags[] = { 0, HWTD_FLAME_INVERT };
	struct hwtd_profile_info info = { .size = sizeof(info) };

	(void)state;
	hand_profile_fill(&now);
	fill_before();
	/* What profiles hold for their readers. */
	assert_int_equal(hwtd_profile_info(now.profile, &info), HWTD_OK);
	assert_int_equal(hwtd_profile_info(before.profile, &info), HWTD_OK);
	for (size_t i = 0; i < 2; i++) {
		const struct hwtd_flame_options how = { .size = sizeof(how),
			.flags = flags[i],
			.min_ppm = 100000,
			.base = before.profile };
		const int64_t held = now.memory.blocks;
		struct hwtd_flame *flame = NULL;
		uint64_t n = 0;
		int rc;

		do {
			failing_allocator_arm(&now.memory, ++n, false);
			rc = hwtd_flame_open(now.profile, &how, &flame, NULL);
			if (rc != HWTD_OK) {
				assert_int_equal(rc, HWTD_E_NOMEM);
				assert_int_equal(now.memory.blocks, held);
			}
		} while (rc != HWTD_OK);
		failing_allocator_arm(&now.memory, 0, false);
		assert_true(n > 20);
		hwtd_flame_close(flame);
		assert_int_equal(now.memory.blocks, held);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(stacks_weigh_time_and_gaps_are_frames),
		TEST(instructions_have_no_gaps),
		TEST(upside_down_it_begins_with_what_ran),
		TEST(what_is_small_is_summed_up_and_counted),
		TEST(what_is_deep_is_summed_up_and_counted),
		TEST(each_thread_has_a_frame_if_that_is_asked_for),
		TEST(what_has_no_name_is_told_by_where_it_is),
		TEST(functions_of_one_name_are_one_frame_of_their_image),
		TEST(comparing_matches_names_and_scales_the_whole),
		TEST(sums_stay_at_their_greatest),
		TEST(nothing_is_a_flame_of_nothing),
		TEST(what_makes_no_sense_is_refused),
		TEST(memory_that_is_refused_is_told_and_given_back),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
