/*
 * Stacks of branches: what is cut, and what goes on, by rows made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/compilers/branch_stack.h"
#include "support/memory_trace.h"
#include "trace/trace_model.h"

#define KERNEL 0xffffffff80000000u

struct fixture {
	struct hwtd_trace *trace;
	struct hwtdi_branch_stacks stacks;
	/* Of threads 1 and 2, and of nobody. */
	uint32_t contexts[3];
	/* "from>to from>to;" for each stack, the oldest branch first. */
	char got[2000];
};

static void
take(void *arg, const struct hwtdi_branch_stack *stack)
{
	struct fixture *f = arg;
	size_t n = strlen(f->got);

	for (size_t i = 0; i < stack->n; i++)
		n += (size_t)snprintf(f->got + n, sizeof(f->got) - n,
		    "%s%llx>%llx", i > 0 ? " " : "",
		    (unsigned long long)stack->branches[i].from,
		    (unsigned long long)stack->branches[i].to);
	(void)snprintf(f->got + n, sizeof(f->got) - n, ";");
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = 1,
		.cpu = HWTD_NO_ID };
	struct pt_packets p = { 0 };

	if (f == NULL)
		return (-1);
	f->trace = mt_create();
	pt_psb_plus_off(&p, 64);
	for (size_t i = 0; i < 2; i++)
		(void)mt_stream(f->trace, &p, NULL);
	pt_free(&p);
	(void)mt_seal(f->trace);
	for (uint32_t i = 0; i < 3; i++) {
		who.tid = i < 2 ? i + 1 : HWTD_NO_ID;
		if (hwtdi_trace_intern_context(f->trace, &who, &f->contexts[i],
			NULL) != HWTD_OK)
			return (-1);
	}
	*state = f;
	return (hwtdi_branch_stacks_init(&f->stacks, f->trace, 4, take, f,
	    NULL));
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtdi_branch_stacks_fini(&f->stacks);
	hwtd_trace_close(f->trace);
	free(f);
	return (0);
}

/* Ten bytes at `ip` that end with an instruction of two; to 0: not taken. */
static void
row_of(struct fixture *f, uint32_t stream, size_t thread, uint64_t ip,
    uint8_t branch, uint64_t to, bool wanted)
{
	struct hwtd_event row = { .ip = ip,
		.target = to,
		.bytes = 10,
		.insns = 3,
		.stream = stream,
		.context = f->contexts[thread],
		.kind = HWTD_EV_BLOCK,
		.branch = branch,
		.flags = HWTD_EVF_IP };

	if (to != 0)
		row.flags |= HWTD_EVF_TAKEN | HWTD_EVF_TARGET;
	assert_int_equal(hwtdi_branch_stacks_add(&f->stacks, &row, ip + 8,
			     wanted, NULL),
	    HWTD_OK);
}

static void
row(struct fixture *f, uint32_t stream, size_t thread, uint64_t ip,
    uint64_t to)
{
	row_of(f, stream, thread, ip, HWTD_BRANCH_CONDITIONAL, to, true);
}

static void
assert_stacks(struct fixture *f, const char *want)
{
	assert_int_equal(hwtdi_branch_stacks_end(&f->stacks, NULL), HWTD_OK);
	assert_string_equal(f->got, want);
}

static void
what_begins_and_ends_without_a_branch_is_told(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 0, 0x100, 0x200);
	row(f, 0, 0, 0x200, 0);
	assert_stacks(f, "0>100 108>200 208>0;");
	assert_int_equal(f->stacks.starts, 1);
}

static void
what_is_not_where_it_goes_on_is_cut(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 0, 0x100, 0x200);
	row(f, 0, 0, 0x300, 0);
	/* Behind the last row. */
	row(f, 0, 0, 0x30a, 0x400);
	assert_stacks(f, "0>100 108>200;0>300 312>400;");
}

static void
a_gap_cuts_even_if_it_goes_on_where_it_was(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 0, 0x100, 0x100);
	hwtdi_branch_stacks_gap(&f->stacks, 0);
	row(f, 0, 0, 0x100, 0x100);
	assert_stacks(f, "0>100 108>100;0>100 108>100;");
}

static void
a_gap_of_another_stream_cuts_nothing(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 0, 0x100, 0x100);
	hwtdi_branch_stacks_gap(&f->stacks, 1);
	row(f, 0, 0, 0x100, 0);
	assert_stacks(f, "0>100 108>100 108>0;");
}

static void
damage_of_no_stream_cuts_all(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 0, 0x100, 0x100);
	row(f, 1, 1, 0x900, 0x900);
	hwtdi_branch_stacks_gap(&f->stacks, HWTD_NO_ID);
	row(f, 0, 0, 0x100, 0);
	row(f, 1, 1, 0x900, 0);
	assert_stacks(f,
	    "0>100 108>100;0>900 908>900;0>100 108>0;0>900 908>0;");
}

static void
a_thread_goes_on_at_another_processor(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 0, 0x100, 0x200);
	row(f, 0, 1, 0x900, 0x910);
	row(f, 1, 0, 0x200, 0x300);
	row(f, 0, 1, 0x910, 0x920);
	assert_stacks(f, "0>100 108>200 208>300;0>900 908>910 918>920;");
}

static void
a_thread_that_was_away_during_a_gap_may_have_run_in_it(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 0, 0x100, 0x200);
	row(f, 0, 1, 0x900, 0x910);
	hwtdi_branch_stacks_gap(&f->stacks, 1);
	row(f, 0, 0, 0x200, 0);
	/* So may this one, which comes from there. */
	row(f, 1, 1, 0x910, 0);
	assert_stacks(f,
	    "0>100 108>200;0>900 908>910;0>200 208>0;0>910 918>0;");
}

static void
threads_that_are_not_known_are_those_of_their_stream(void **state)
{
	struct fixture *f = *state;

	row(f, 0, 2, 0x100, 0x200);
	row(f, 1, 2, 0x200, 0);
	row(f, 0, 2, 0x200, 0);
	assert_stacks(f, "0>100 108>200 208>0;0>200 208>0;");
}

static void
kernels_are_none_of_the_program(void **state)
{
	struct fixture *f = *state;

	/* A system call, what the kernel does, and back. */
	row_of(f, 0, 0, 0x100, HWTD_BRANCH_FAR_CALL, KERNEL, true);
	row(f, 0, 0, KERNEL, KERNEL + 0x100);
	row_of(f, 0, 0, KERNEL + 0x100, HWTD_BRANCH_FAR_RETURN, 0x10a, true);
	row(f, 0, 0, 0x10a, 0x200);
	/* An interrupt in the middle of nowhere. */
	row_of(f, 0, 0, KERNEL + 0x800, HWTD_BRANCH_FAR_RETURN, 0x200, true);
	row(f, 0, 0, 0x200, 0);
	assert_stacks(f,
	    "0>ffffffff80000000 ffffffff80000008>ffffffff80000100 "
	    "ffffffff80000108>0;"
	    "0>100 112>200 208>0;"
	    "0>ffffffff80000800 ffffffff80000808>0;");
}

static void
a_branch_to_nowhere_is_an_end(void **state)
{
	struct fixture *f = *state;
	struct hwtd_event lost = { .ip = 0x100,
		.bytes = 10,
		.insns = 1,
		.context = f->contexts[0],
		.kind = HWTD_EV_BLOCK,
		.branch = HWTD_BRANCH_INDIRECT_JUMP,
		.flags = HWTD_EVF_IP | HWTD_EVF_TAKEN };

	assert_int_equal(hwtdi_branch_stacks_add(&f->stacks, &lost, 0x108,
			     true, NULL),
	    HWTD_OK);
	row(f, 0, 0, 0x10a, 0x200);
	assert_stacks(f, "0>100 108>0;0>10a 112>200;");
}

static void
full_stacks_have_one_branch_in_common(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 6; i++)
		row(f, 0, 0, i << 8, (i + 1) << 8);
	assert_stacks(f,
	    "0>100 108>200 208>300 308>400;"
	    "308>400 408>500 508>600 608>700;");
}

static void
calls_are_told_once(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 4; i++)
		row_of(f, 0, 0, i << 8, HWTD_BRANCH_CALL, (i + 1) << 8, true);
	row(f, 0, 0, 0x500, 0x600);
	row(f, 0, 0, 0x600, 0);
	row(f, 0, 0, 0x60a, 0);
	assert_stacks(f,
	    "0>100 108>200 208>300 308>400 408>500 508>600;"
	    "508>600 612>0;");
}

static void
a_stack_of_calls_alone_is_full_some_time(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 8; i++)
		row_of(f, 0, 0, i << 8, HWTD_BRANCH_CALL, (i + 1) << 8, true);
	assert_stacks(f,
	    "0>100 108>200 208>300 308>400 408>500 508>600 608>700 708>800;"
	    "708>800 808>900;");
}

static void
what_was_told_is_not_told_again_alone(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= 3; i++)
		row(f, 0, 0, i << 8, (i + 1) << 8);
	/* Full by now; what follows is cut off. */
	row(f, 0, 0, 0x400, 0x500);
	hwtdi_branch_stacks_gap(&f->stacks, 0);
	assert_stacks(f, "0>100 108>200 208>300 308>400;308>400 408>500;");
}

static void
branches_of_others_are_left_out(void **state)
{
	struct fixture *f = *state;

	row_of(f, 0, 0, 0x100, HWTD_BRANCH_CALL, 0x900, true);
	row_of(f, 0, 0, 0x900, HWTD_BRANCH_JUMP, 0xa00, false);
	row_of(f, 0, 0, 0xa00, HWTD_BRANCH_JUMP, 0xb00, false);
	row_of(f, 0, 0, 0xb00, HWTD_BRANCH_RETURN, 0x10a, false);
	row(f, 0, 0, 0x10a, 0);
	assert_stacks(f, "0>100 108>900 b08>10a 112>0;");
}

static void
code_of_others_alone_is_no_stack(void **state)
{
	struct fixture *f = *state;

	row_of(f, 0, 0, 0x900, HWTD_BRANCH_JUMP, 0xa00, false);
	row_of(f, 0, 0, 0xa00, HWTD_BRANCH_JUMP, 0xb00, false);
	hwtdi_branch_stacks_gap(&f->stacks, 0);
	row_of(f, 0, 0, 0xb00, HWTD_BRANCH_JUMP, 0xc00, false);
	assert_stacks(f, "");
	assert_int_equal(f->stacks.starts, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_begins_and_ends_without_a_branch_is_told),
		TEST(what_is_not_where_it_goes_on_is_cut),
		TEST(a_gap_cuts_even_if_it_goes_on_where_it_was),
		TEST(a_gap_of_another_stream_cuts_nothing),
		TEST(damage_of_no_stream_cuts_all),
		TEST(a_thread_goes_on_at_another_processor),
		TEST(a_thread_that_was_away_during_a_gap_may_have_run_in_it),
		TEST(threads_that_are_not_known_are_those_of_their_stream),
		TEST(kernels_are_none_of_the_program),
		TEST(a_branch_to_nowhere_is_an_end),
		TEST(full_stacks_have_one_branch_in_common),
		TEST(calls_are_told_once),
		TEST(a_stack_of_calls_alone_is_full_some_time),
		TEST(what_was_told_is_not_told_again_alone),
		TEST(branches_of_others_are_left_out),
		TEST(code_of_others_alone_is_no_stack),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
