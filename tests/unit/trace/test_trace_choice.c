/*
 * Which code is decoded where records leave several mappings possible: what
 * the packets allow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/library_calls.h"

/* As lc_straight, but other bytes. */
static const uint8_t long_nop[] = { 0x0f, 0x1f, 0x00, 0xff, 0xe0 };

/* What records tell of the end of the older library. */
enum between {
	NOTHING,
	ADDRESS,
	NO_ADDRESS
};

/* "older" and then "newer" at one address, without time. */
static struct hwtd_trace *
two_libraries(const struct pt_packets *p, enum between between,
    const void *older, size_t n_older, const void *newer, size_t n_newer)
{
	struct hwtd_trace *trace = lc_program(p, 5);
	struct hwtd_record gone = mr_record(HWTD_REC_MUNMAP, 5, LC_LIBRARY,
	    0x1000);

	mr_mmap(trace, 5, LC_LIBRARY, 0x1000,
	    mr_image(trace, "older", older, n_older));
	if (between == NO_ADDRESS)
		gone.flags = 0;
	if (between != NOTHING)
		mr_add(trace, &gone);
	mr_mmap(trace, 5, LC_LIBRARY, 0x1000,
	    mr_image(trace, "newer", newer, n_newer));
	return (mt_seal(trace));
}

static const struct {
	const char *name;
	/* The newer library has the branch. */
	bool newer_branches;
	const char *tnt;
	const char *want;
} libraries[] = {
	{ "only the newer fits", true, "T",
	    "code newer newer code newer newer" },
	{ "only the older fits", false, "T",
	    "code older older code older older" },
	{ "only the newer fits, straight", false, NULL,
	    "code newer code newer" },
	{ "only the older fits, straight", true, NULL,
	    "code older code older" },
	{ "none fits", false, "TTTT",
	    "code [ambiguous-mapping 800000] code [ambiguous-mapping "
	    "800000]" },
};

static void
assert_fits(size_t i, enum between between)
{
	const bool b = libraries[i].newer_branches;
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	print_message("%s, %d\n", libraries[i].name, (int)between);
	lc_calls(&p, libraries[i].tnt, 2);
	trace = two_libraries(&p, between, b ? lc_straight : lc_branches,
	    b ? sizeof(lc_straight) : sizeof(lc_branches),
	    b ? lc_branches : lc_straight,
	    b ? sizeof(lc_branches) : sizeof(lc_straight));
	lc_assert_images(trace, libraries[i].want);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* dlclose() and dlopen(): hwt(4) does not tell when. */
static void
packets_decide_between_libraries_at_one_address(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		assert_fits(i, NOTHING);
		assert_fits(i, ADDRESS);
		assert_fits(i, NO_ADDRESS);
	}
}

static void
packets_that_fit_both_are_of_the_newer(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	lc_calls(&p, NULL, 1);
	trace = two_libraries(&p, ADDRESS, lc_straight, sizeof(lc_straight),
	    long_nop, sizeof(long_nop));
	lc_assert_images(trace, "code newer");
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
equal_bytes_leave_no_doubt(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	lc_calls(&p, NULL, 1);
	trace = two_libraries(&p, ADDRESS, lc_straight, sizeof(lc_straight),
	    lc_straight, sizeof(lc_straight));
	lc_assert_images(trace, "code newer");
	hwtd_trace_close(trace);
	pt_clear(&p);
	/* These fit neither, so that a doubt would be told. */
	lc_calls(&p, "TTTT", 1);
	trace = two_libraries(&p, ADDRESS, lc_straight, sizeof(lc_straight),
	    lc_straight, sizeof(lc_straight));
	lc_assert_images(trace, "code newer [bad-flow 0]");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* Two versions of a library that differ far behind the asked address. */
static void
bytes_that_differ_further_on_are_told_apart(void **state)
{
	/* jmp .+0x3000: no packet comes on the way. */
	static const uint8_t far_jump[] = { 0xe9, 0xfb, 0x2f, 0x00, 0x00 };
	uint8_t older[0x4000], newer[0x4000];
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	memset(older, 0x90, sizeof(older));
	memcpy(older, far_jump, sizeof(far_jump));
	memcpy(newer, older, sizeof(newer));
	memcpy(older + 0x3000, lc_branches, sizeof(lc_branches));
	memcpy(newer + 0x3000, lc_straight, sizeof(lc_straight));
	pt_psb_plus(&p, LC_MAIN, 64);
	pt_tip(&p, PT_IP_32, LC_LIBRARY);
	pt_tnt(&p, "T");
	pt_tip(&p, PT_IP_32, LC_MAIN);
	pt_fup(&p, PT_IP_32, LC_MAIN);
	pt_pgd(&p, PT_IP_NONE, 0);
	trace = lc_program(&p, 5);
	mr_mmap(trace, 5, LC_LIBRARY, sizeof(older),
	    mr_image(trace, "older", older, sizeof(older)));
	mr_mmap(trace, 5, LC_LIBRARY, sizeof(newer),
	    mr_image(trace, "newer", newer, sizeof(newer)));
	(void)mt_seal(trace);
	/* The same bytes are the newer's. */
	lc_assert_images(trace, "code newer older older");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/*
 * A buffer position between them says which one it is, and so does the byte
 * from which on a mapping holds; packets fit both.
 */
static void
positions_leave_no_doubt(void **state)
{
	(void)state;
	for (int by_buffer = 0; by_buffer < 2; by_buffer++) {
		struct pt_packets p = { 0 };
		struct hwtd_position before, after;
		struct hwtd_trace *trace;
		struct hwtd_record r;
		uint64_t half;

		pt_psb_plus(&p, LC_MAIN, 64);
		pt_tip(&p, PT_IP_32, LC_LIBRARY);
		pt_tip(&p, PT_IP_32, LC_MAIN);
		half = p.n;
		lc_calls(&p, NULL, 1);
		trace = lc_program(&p, 5);
		mr_mmap(trace, 5, LC_LIBRARY, 0x1000,
		    mr_image(trace, "first", lc_straight,
			sizeof(lc_straight)));
		r = mr_record(HWTD_REC_MMAP, 5, LC_LIBRARY, 0x1000);
		r.image = mr_image(trace, "second", long_nop,
		    sizeof(long_nop));
		if (by_buffer)
			mr_buffer(trace, 0, half);
		else
			mr_place(&r, 0, half);
		mr_add(trace, &r);
		if (by_buffer)
			mr_buffer(trace, 0, half);
		(void)mt_seal(trace);
		lc_assert_images(trace, "code first code second");
		before = mr_at_byte(0, half - 1);
		after = mr_at_byte(0, half);
		mr_assert(trace, 5, &before, LC_LIBRARY, "first", 0);
		mr_assert(trace, 5, &after, LC_LIBRARY, "second", 0);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/* Library number k has k branches that need a TNT packet, then a jump. */
static uint32_t
library(struct hwtd_trace *trace, unsigned int k)
{
	uint8_t code[64];
	char name[16];
	size_t n = 0;

	for (unsigned int i = 0; i < k; i++) {
		code[n++] = 0x75;
		code[n++] = 0x00;
	}
	memcpy(code + n, lc_jump, sizeof(lc_jump));
	(void)snprintf(name, sizeof(name), "v%u", k);
	return (mr_image(trace, name, code, n + sizeof(lc_jump)));
}

/* To library number k, and through it up to its jump. */
static void
library_call(struct pt_packets *p, uint64_t address, unsigned int k)
{
	pt_tip(p, PT_IP_32, address);
	for (; k > 6; k -= 6)
		pt_tnt(p, "NNNNNN");
	pt_tnt(p, &"NNNNNN"[6 - k]);
}

static void
leave(struct pt_packets *p)
{
	pt_tip(p, PT_IP_32, LC_MAIN);
	pt_fup(p, PT_IP_32, LC_MAIN);
	pt_pgd(p, PT_IP_NONE, 0);
}

static void
one_call(struct pt_packets *p, unsigned int k)
{
	pt_psb_plus(p, LC_MAIN, 64);
	library_call(p, LC_LIBRARY, k);
	leave(p);
}

/* What rows say of a call of library number k. */
static void
put_blocks(char *want, size_t size, unsigned int k)
{
	for (unsigned int i = 0; i <= k; i++)
		(void)snprintf(want + strlen(want), size - strlen(want),
		    " v%u", k);
}

/* Of libraries 1 to n, in that order, number `ran` is called. */
static void
assert_ran(unsigned int n, unsigned int ran, bool found)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	char want[256] = "code";

	one_call(&p, ran);
	trace = lc_program(&p, 5);
	for (unsigned int k = 1; k <= n; k++)
		mr_mmap(trace, 5, LC_LIBRARY, 0x1000, library(trace, k));
	(void)mt_seal(trace);
	if (found)
		put_blocks(want, sizeof(want), ran);
	else
		(void)snprintf(want, sizeof(want),
		    "code [ambiguous-mapping %x]", LC_LIBRARY);
	lc_assert_images(trace, want);
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
the_right_one_of_many_is_found(void **state)
{
	(void)state;
	for (unsigned int n = 3; n <= 8; n++) {
		for (unsigned int ran = 1; ran <= n; ran++)
			assert_ran(n, ran, true);
		assert_ran(n, n + 1, false);
	}
}

/* Of very many only the newest are tried. */
static void
too_many_are_in_doubt(void **state)
{
	(void)state;
	for (unsigned int ran = 1; ran <= 20; ran++)
		assert_ran(20, ran, ran > 20 - 8);
}

/* Also when the newest are all alike, and could be taken for all there are. */
static void
older_ones_are_not_forgotten(void **state)
{
	(void)state;
	for (unsigned int ran = 1; ran <= 2; ran++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;

		one_call(&p, ran);
		trace = lc_program(&p, 5);
		mr_mmap(trace, 5, LC_LIBRARY, 0x1000, library(trace, 2));
		for (int i = 0; i < 20; i++)
			mr_mmap(trace, 5, LC_LIBRARY, 0x1000,
			    library(trace, 1));
		(void)mt_seal(trace);
		lc_assert_images(trace,
		    ran == 1 ? "code v1 v1"
			     : "code [ambiguous-mapping 800000]");
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/*
 * A file that is not there is no proof for the other: packets are.  What they
 * contradict leaves the missing one.
 */
static void
a_missing_library_is_one_of_several(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const unsigned int ran = 1 + (i & 1);
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, LC_LIBRARY,
		    0x1000);
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;

		one_call(&p, ran);
		trace = lc_program(&p, 5);
		r.name = "/nonexistent/gone.so";
		r.flags |= HWTD_RECF_FILE_OFF;
		if (i < 2)
			mr_add(trace, &r);
		mr_mmap(trace, 5, LC_LIBRARY, 0x1000, library(trace, 1));
		if (i >= 2)
			mr_add(trace, &r);
		(void)mt_seal(trace);
		lc_assert_images(trace,
		    ran == 1 ? "code v1 v1" : "code [no-code 800000]");
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/*
 * What was found to fit is remembered; behind a buffer position other
 * libraries are possible.
 */
static void
what_fits_is_found_again_behind_a_buffer_position(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	uint64_t half;

	(void)state;
	pt_psb_plus(&p, LC_MAIN, 64);
	library_call(&p, LC_LIBRARY, 1);
	pt_tip(&p, PT_IP_32, LC_MAIN);
	half = p.n;
	library_call(&p, LC_LIBRARY, 4);
	leave(&p);
	trace = lc_program(&p, 5);
	mr_mmap(trace, 5, LC_LIBRARY, 0x1000, library(trace, 1));
	mr_mmap(trace, 5, LC_LIBRARY, 0x1000, library(trace, 2));
	mr_buffer(trace, 0, half);
	mr_mmap(trace, 5, LC_LIBRARY, 0x1000, library(trace, 3));
	mr_mmap(trace, 5, LC_LIBRARY, 0x1000, library(trace, 4));
	mr_buffer(trace, 0, p.n);
	(void)mt_seal(trace);
	lc_assert_images(trace, "code v1 v1 code v4 v4 v4 v4 v4");
	hwtd_trace_close(trace);
	pt_free(&p);
}

/*
 * Two libraries that were both replaced: which one ran is found for each, also
 * when the newest of the other does not fit.  (The sums of branches differ:
 * a TIP packet may come behind the TNT bits of what follows it.)
 */
static void
doubts_at_two_places_are_decided_one_by_one(void **state)
{
	static const uint64_t at[2] = { LC_LIBRARY, LC_MAIN + 0x1000 };
	static const unsigned int versions[2][2] = { { 1, 2 }, { 1, 3 } };

	(void)state;
	for (unsigned int ran = 0; ran < 4; ran++) {
		const unsigned int k[2] = { versions[0][ran & 1],
			versions[1][ran >> 1] };
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		char want[64] = "code";

		pt_psb_plus(&p, LC_MAIN, 64);
		for (int i = 0; i < 2; i++)
			library_call(&p, at[i], k[i]);
		leave(&p);
		trace = lc_program(&p, 5);
		for (int i = 0; i < 4; i++)
			mr_mmap(trace, 5, at[i / 2], 0x1000,
			    library(trace, versions[i / 2][i % 2]));
		(void)mt_seal(trace);
		for (int i = 0; i < 2; i++)
			put_blocks(want, sizeof(want), k[i]);
		lc_assert_images(trace, want);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/* That other code is missing says nothing against a library. */
static void
missing_code_behind_a_library_is_no_contradiction(void **state)
{
	(void)state;
	for (unsigned int ran = 1; ran <= 3; ran++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		char want[64] = "code";

		pt_psb_plus(&p, LC_MAIN, 64);
		library_call(&p, LC_LIBRARY, ran);
		pt_tip(&p, PT_IP_32, 0x900000);
		pt_tip(&p, PT_IP_32, LC_MAIN);
		trace = lc_program(&p, 5);
		for (unsigned int k = 1; k <= 3; k++)
			mr_mmap(trace, 5, LC_LIBRARY, 0x1000,
			    library(trace, k));
		(void)mt_seal(trace);
		put_blocks(want, sizeof(want), ran);
		strcat(want, " [no-code 900000]");
		lc_assert_images(trace, want);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    packets_decide_between_libraries_at_one_address),
		cmocka_unit_test(packets_that_fit_both_are_of_the_newer),
		cmocka_unit_test(equal_bytes_leave_no_doubt),
		cmocka_unit_test(bytes_that_differ_further_on_are_told_apart),
		cmocka_unit_test(positions_leave_no_doubt),
		cmocka_unit_test(the_right_one_of_many_is_found),
		cmocka_unit_test(too_many_are_in_doubt),
		cmocka_unit_test(older_ones_are_not_forgotten),
		cmocka_unit_test(a_missing_library_is_one_of_several),
		cmocka_unit_test(
		    what_fits_is_found_again_behind_a_buffer_position),
		cmocka_unit_test(doubts_at_two_places_are_decided_one_by_one),
		cmocka_unit_test(
		    missing_code_behind_a_library_is_no_contradiction),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
