/*
 * Lines of branches as perf-script(1) writes them, and histograms of their calls.
 * Every failure fails the test.
 */
#ifndef TEST_CALL_LINES_H
#define TEST_CALL_LINES_H

#include <hwtdecode/hwtdecode.h>

/* Rows of calls that everything can be made of. */
#define CL_CALLS (HWTD_CALLS_ENTERS | HWTD_CALLS_GAPS)

/* Text that grows; all zero: none.  `at` is the caller's to free. */
struct call_lines {
	char *at;
	size_t n, cap;
};

void cl_say(struct call_lines *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void cl_append(struct call_lines *t, const struct call_lines *more);

/* A line of a branch of thread `tid`. */
void cl_branch(struct call_lines *t, unsigned int tid, uint64_t ns,
    const char *how, const char *from, const char *to);

struct hwtd_context *cl_context(void);
struct hwtd_histogram *cl_histogram(const struct hwtd_histogram_options *opts);

/* All of the calls, which are closed; or of lines. */
void cl_add(struct hwtd_histogram *h, struct hwtd_calls *calls);
void cl_add_text(struct hwtd_histogram *h, const char *bytes, size_t n);

/* A row, and that of a function; NULL: of what has no name. */
void cl_row(struct hwtd_histogram *h, uint64_t no,
    struct hwtd_histogram_row *out);
void cl_row_of(struct hwtd_histogram *h, const char *function,
    struct hwtd_histogram_row *out);

#endif /* TEST_CALL_LINES_H */
