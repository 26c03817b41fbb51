/*
 * Lines of perf-script(1): what each says.  Lines are as perf writes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/calls/branch_text.h"
#include <hwtdecode/trace.h>

#define NONE HWTD_NO_ID

static const struct {
	const char *line;
	enum hwtdi_text_kind kind;
	uint32_t pid, tid;
	uint64_t time_ns;
	enum hwtdi_text_branch branch;
	bool starts, ends, async;
	uint64_t from, to;
	/* Of the place it went to; NULL: none. */
	const char *symbol, *image;
	uint64_t offset;
} cases[] = {
	{ "30549/30549 174427.938462629:      1    branches:uH:   call        "
	  "  "
	  "7ffff7ddc143 _start+0x3 (/l/ld.so) =>     7ffff7ddc850 "
	  "_dl_start+0x10 (/l/ld.so)",
	    HWTDI_TEXT_BRANCH, 30549, 30549, 174427938462629, HWTDI_TEXT_CALL,
	    false, false, false, 0x7ffff7ddc143, 0x7ffff7ddc850, "_dl_start",
	    "/l/ld.so", 16 },
	/* A command of two words, a CPU, no process. */
	{ "a b: c  77 [003]    12.5:  branches:   return   10 f+0x0 (a) => 20 "
	  "operator<(int, int)+0x2 (b c)",
	    HWTDI_TEXT_BRANCH, NONE, 77, 12500000000, HWTDI_TEXT_RETURN, false,
	    false, false, 0x10, 0x20, "operator<(int, int)", "b c", 2 },
	/* A command that has a part like a time. */
	{ "build: 5.5: x  77/78 [003] 1.5: 1 branches:uH: call 10 f+0x0 (a) "
	  "=> "
	  "20 g+0x2 (b)",
	    HWTDI_TEXT_BRANCH, 77, 78, 1500000000, HWTDI_TEXT_CALL, false,
	    false, false, 0x10, 0x20, "g", "b", 2 },
	{ "1/2 1.000000001: 1 branches:u: tr strt 0 [unknown] ([unknown]) => "
	  "40 f+0x0 (a)",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000001, HWTDI_TEXT_NO_BRANCH, true,
	    false, false, 0, 0x40, "f", "a", 0 },
	{ "1/2 1.000000001: 1 branches:u: tr end  syscall 40 f+0x0 (a) => 0 "
	  "[unknown] ([unknown])",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000001, HWTDI_TEXT_FAR_CALL, false,
	    true, false, 0x40, 0, "", "[unknown]", 0 },
	{ "1/2 1.000000001: 1 branches:u: tr end  async 40 f+0x0 (a) => 0 "
	  "[unknown] ([unknown])",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000001, HWTDI_TEXT_NO_BRANCH, false,
	    true, true, 0x40, 0, "", "[unknown]", 0 },
	{ "1/2 1.0: 1 branches: hw int 40 f+0x0 (a) => ffffffff81000000 "
	  "irq+0x0 ([kernel.kallsyms])",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000000, HWTDI_TEXT_INTERRUPT, false,
	    false, false, 0x40, 0xffffffff81000000, "irq", "[kernel.kallsyms]",
	    0 },
	{ "1/2 1.0: 1 branches: int 40 f+0x0 (a) => 50 g (a)",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000000, HWTDI_TEXT_FAR_CALL, false,
	    false, false, 0x40, 0x50, "g", "a", 0 },
	{ "1/2 1.0: 1 branches: iret 40 f+0x0 (a) => 50 g+0x0 (a)",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000000, HWTDI_TEXT_FAR_RETURN, false,
	    false, false, 0x40, 0x50, "g", "a", 0 },
	{ "1/2 1.0: 1 branches: jcc (x) 40 f+0x0 (a) => 50 a=> b+0x0 (a)",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000000, HWTDI_TEXT_CONDITIONAL, false,
	    false, false, 0x40, 0x50, "a=> b", "a", 0 },
	{ "1/2 1.0: 1 branches: tx abrt 40 f+0x0 (a) => 50 f+0x10 (a)",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000000, HWTDI_TEXT_ABORT, false,
	    false, false, 0x40, 0x50, "f", "a", 16 },
	{ " instruction trace error type 1 time 47170.086912826 cpu -1 pid 3 "
	  "tid 4 ip 0x7ffff7327730 code 7: Overflow packet",
	    HWTDI_TEXT_ERROR, 3, 4, 47170086912826, HWTDI_TEXT_NO_BRANCH,
	    false, false, false, 0, 0, NULL, NULL, 0 },
	{ " instruction trace error type 1 cpu 0 pid -1 tid -1 ip 0 code 5: x",
	    HWTDI_TEXT_ERROR, NONE, NONE, 0, HWTDI_TEXT_NO_BRANCH, false,
	    false, false, 0, 0, NULL, NULL, 0 },
	{ "1/2 1.0:   1 cycles:u: ", HWTDI_TEXT_SAMPLE, 1, 2, 1000000000,
	    HWTDI_TEXT_NO_BRANCH, false, false, false, 0, 0, NULL, NULL, 0 },
	{ "\t   7f5c0c875c60 _dl_open+0xac (/l/ld.so)", HWTDI_TEXT_CALLER,
	    NONE, NONE, 0, HWTDI_TEXT_NO_BRANCH, false, false, false,
	    0x7f5c0c875c60, 0, NULL, NULL, 0 },
	{ "1/2 1.0: 1 psb: psb offs: 0x10", HWTDI_TEXT_OTHER, 1, 2, 1000000000,
	    HWTDI_TEXT_NO_BRANCH, false, false, false, 0, 0, NULL, NULL, 0 },
	{ "", HWTDI_TEXT_EMPTY, NONE, NONE, 0, HWTDI_TEXT_NO_BRANCH, false,
	    false, false, 0, 0, NULL, NULL, 0 },
	{ "# a comment", HWTDI_TEXT_EMPTY, NONE, NONE, 0, HWTDI_TEXT_NO_BRANCH,
	    false, false, false, 0, 0, NULL, NULL, 0 },
	/* Newer perf tells more of a branch. */
	{ "1/2 1.0: 1 branches: call/miss/ 40 f+0x0 (a) => 50 g+0x0 (a)",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000000, HWTDI_TEXT_CALL, false, false,
	    false, 0x40, 0x50, "g", "a", 0 },
	{ "1/2 1.0: 1 branches: jcc/miss,not_taken/ (x) 40 f+0x0 (a) => 42 "
	  "f+0x2 (a)",
	    HWTDI_TEXT_BRANCH, 1, 2, 1000000000, HWTDI_TEXT_NO_BRANCH, false,
	    false, false, 0x40, 0x42, "f", "a", 2 },
	{ "1/2 1.0: 1 branches: leap 40 f+0x0 (a) => 50 g+0x0 (a)",
	    HWTDI_TEXT_BAD, 1, 2, 1000000000, HWTDI_TEXT_NO_BRANCH, false,
	    false, false, 0, 0, NULL, NULL, 0 },
	/* What is missing makes a line that is none. */
	{ "1/2 1.0: 1 branches: call 40 f+0x0 (a)", HWTDI_TEXT_BAD, 1, 2,
	    1000000000, HWTDI_TEXT_NO_BRANCH, false, false, false, 0, 0, NULL,
	    NULL, 0 },
	{ "1/2 1.0: 1 branches: 40 f+0x0 (a) => 50 g+0x0 (a)", HWTDI_TEXT_BAD,
	    1, 2, 1000000000, HWTDI_TEXT_NO_BRANCH, false, false, false, 0, 0,
	    NULL, NULL, 0 },
	{ "call 40 => 50", HWTDI_TEXT_BAD, NONE, NONE, 0, HWTDI_TEXT_NO_BRANCH,
	    false, false, false, 0, 0, NULL, NULL, 0 },
	{ "1/99999999999 1.0: 1 branches: call 40 f (a) => 50 g (a)",
	    HWTDI_TEXT_BAD, NONE, NONE, 0, HWTDI_TEXT_NO_BRANCH, false, false,
	    false, 0, 0, NULL, NULL, 0 },
};

static void
assert_text(const struct hwtdi_text *text, const char *want)
{
	assert_int_equal(text->n, strlen(want));
	assert_memory_equal(text->at, want, text->n);
}

static void
lines_are_what_perf_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_text_line line;

		print_message("line %s\n", cases[i].line);
		hwtdi_text_line(cases[i].line, strlen(cases[i].line), &line);
		assert_int_equal(line.kind, cases[i].kind);
		assert_int_equal(line.time_ns, cases[i].time_ns);
		assert_int_equal(line.has_time, cases[i].time_ns != 0);
		if (line.kind == HWTDI_TEXT_BAD)
			continue;
		assert_int_equal(line.pid, cases[i].pid);
		assert_int_equal(line.tid, cases[i].tid);
		assert_int_equal(line.branch, cases[i].branch);
		assert_int_equal(line.starts, cases[i].starts);
		assert_int_equal(line.ends, cases[i].ends);
		assert_int_equal(line.async, cases[i].async);
		assert_int_equal(line.from.address, cases[i].from);
		assert_int_equal(line.to.address, cases[i].to);
		assert_int_equal(line.has_from, cases[i].from != 0);
		assert_int_equal(line.has_to, cases[i].to != 0);
		if (cases[i].symbol == NULL)
			continue;
		assert_text(&line.to.symbol, cases[i].symbol);
		assert_text(&line.to.image, cases[i].image);
		assert_int_equal(line.to.offset, cases[i].offset);
	}
}

/* No byte behind the line is looked at: there is none. */
static void
a_line_may_end_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t n = strlen(cases[i].line);

		for (size_t end = 0; end <= n; end++) {
			char *cut = malloc(end + (end == 0));
			struct hwtdi_text_line line;

			assert_non_null(cut);
			memcpy(cut, cases[i].line, end);
			hwtdi_text_line(cut, end, &line);
			assert_true(line.from.symbol.n <= end &&
			    line.to.symbol.n <= end);
			free(cut);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_what_perf_says),
		cmocka_unit_test(a_line_may_end_anywhere),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
