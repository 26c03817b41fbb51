/*
 * An exec is a barrier for records without time: code of the old program runs
 * before it, code of the new one after it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/library_calls.h"

#define OLD_ONLY 0x900000u
#define NEW_ONLY 0xa00000u
#define KERNEL 0xffff800000000000u

/* As lc_jump, but other bytes. */
static const uint8_t other_jump[] = { 0x90, 0xff, 0xe0 };

/*
 * Process 5: "old" at LC_LIBRARY and "before" at OLD_ONLY; exec; "new" at
 * LC_LIBRARY and "after" at NEW_ONLY.  The packets allow both at LC_LIBRARY.
 */
static void
add_programs(struct hwtd_trace *trace)
{
	const struct hwtd_record exec = mr_record(HWTD_REC_EXEC, 5, 0, 0);

	mr_mmap(trace, 5, LC_LIBRARY, 0x1000,
	    mr_image(trace, "old", other_jump, sizeof(other_jump)));
	mr_mmap(trace, 5, OLD_ONLY, 0x1000,
	    mr_image(trace, "before", lc_jump, sizeof(lc_jump)));
	mr_add(trace, &exec);
	mr_mmap(trace, 5, LC_LIBRARY, 0x1000,
	    mr_image(trace, "new", lc_jump, sizeof(lc_jump)));
	mr_mmap(trace, 5, NEW_ONLY, 0x1000,
	    mr_image(trace, "after", lc_jump, sizeof(lc_jump)));
}

enum step {
	END,
	LIBRARY,
	OLD,
	NEW,
	/* Tracing goes off and on at LC_MAIN; the kernel runs. */
	OFF_AND_ON,
	SYSCALL
};

static const struct {
	const char *name;
	enum step steps[6];
	const char *want;
} cases[] = {
	{ "nothing tells", { LIBRARY }, "code new" },
	{ "the old program runs", { OLD, LIBRARY }, "code before code old" },
	{ "the old program runs on", { LIBRARY, OLD },
	    "code old code before" },
	{ "the new program runs", { NEW, LIBRARY }, "code after code new" },
	{ "records that contradict what was known are believed",
	    { OLD, LIBRARY, NEW, LIBRARY },
	    "code before code old code after code new" },
	{ "it starts where tracing is off", { OLD, OFF_AND_ON, NEW, LIBRARY },
	    "code before code code after code new" },
	{ "it starts in the kernel", { OLD, LIBRARY, SYSCALL, NEW, LIBRARY },
	    "code before code old code kernel code after code new" },
	{ "what ran before the records began can have been anywhere",
	    { NEW, OLD, LIBRARY }, "code after code before code old" },
};

static void
run(struct pt_packets *p, const enum step *steps, size_t n)
{
	pt_psb_plus(p, LC_MAIN, 64);
	for (size_t i = 0; i < n && steps[i] != END; i++) {
		switch (steps[i]) {
		case LIBRARY:
			pt_tip(p, PT_IP_64, LC_LIBRARY);
			break;
		case OLD:
			pt_tip(p, PT_IP_64, OLD_ONLY);
			break;
		case NEW:
			pt_tip(p, PT_IP_64, NEW_ONLY);
			break;
		case SYSCALL:
			pt_tip(p, PT_IP_64, KERNEL);
			break;
		default:
			pt_pgd(p, PT_IP_NONE, 0);
			pt_pge(p, PT_IP_64, LC_MAIN);
			continue;
		}
		pt_tip(p, PT_IP_64, LC_MAIN);
	}
	pt_fup(p, PT_IP_64, LC_MAIN);
	pt_pgd(p, PT_IP_NONE, 0);
}

static void
an_exec_parts_old_from_new_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;

		print_message("%s\n", cases[i].name);
		run(&p, cases[i].steps, 6);
		trace = lc_program(&p, 5);
		mr_mmap(trace, HWTD_NO_ID, KERNEL, 0x1000,
		    mr_image(trace, "kernel", lc_jump, sizeof(lc_jump)));
		add_programs(trace);
		(void)mt_seal(trace);
		lc_assert_images(trace, cases[i].want);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/* A write position between the records and the packets decides. */
static void
a_position_of_records_is_stronger(void **state)
{
	static const enum step steps[] = { OLD, LIBRARY };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	run(&p, steps, 2);
	trace = lc_program(&p, 5);
	add_programs(trace);
	mr_buffer(trace, 0, 0);
	(void)mt_seal(trace);
	lc_assert_images(trace, "code [no-code 900000] code new");
	hwtd_trace_close(trace);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exec_parts_old_from_new_code),
		cmocka_unit_test(a_position_of_records_is_stronger),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
