/*
 * All rows of a cursor with their details, for the harnesses that compare.
 */
#ifndef FUZZ_ROWS_H
#define FUZZ_ROWS_H

#include <hwtdecode/hwtdecode.h>

/* A row and its detail, 0 where it has none; equal rows are equal bytes. */
struct fuzz_row {
	/* `value` of a row with a detail is 0. */
	struct hwtd_event e;
	union {
		struct hwtd_gap gap;
		struct hwtd_marker marker;
		struct hwtd_power power;
		struct hwtd_async async;
		struct hwtd_sample sample;
	} detail;
};

struct fuzz_rows {
	struct fuzz_row *at;
	size_t n, cap;
	struct hwtd_stats stats;
	/* More rows than asked for: the rest was not read. */
	bool cut;
};

/* Read on to the end, `batch` rows at once, at most `max` rows. */
void fuzz_rows_read(struct hwtd_events *ev, size_t batch, size_t max,
    struct fuzz_rows *out);
void fuzz_rows_free(struct fuzz_rows *rows);

/* Fail unless [from, ...) of `a` is `b`. */
void fuzz_rows_same(const char *what, const struct fuzz_rows *a, size_t from,
    const struct fuzz_rows *b);

/* The rows of one stream, with the stream's id put as 0. */
void fuzz_rows_of(const struct fuzz_rows *all, uint32_t stream,
    struct fuzz_rows *out);

/* For a message about a row, on stderr. */
void fuzz_row_print(const char *what, const struct fuzz_row *row);

bool fuzz_row_is_code(const struct fuzz_row *row);

/*
 * What holds for the rows of one stream of `bytes` bytes.  `one_segment`:
 * time does not go back.
 */
void fuzz_rows_check(const struct fuzz_rows *rows, uint64_t bytes,
    bool one_segment);

/* Time does not go back, as in any trace that was not made to. */
bool fuzz_rows_ordered(const struct fuzz_rows *rows);

/* Code rows show what `trace` has there. */
void fuzz_rows_check_code(const struct hwtd_trace *trace,
    const struct fuzz_rows *rows);

/* Between two places where the trace speaks, no code comes twice. */
void fuzz_rows_check_loops(const struct fuzz_rows *rows);

/* Rows of instructions are the rows of blocks taken apart. */
void fuzz_rows_check_levels(const struct fuzz_rows *blocks,
    const struct fuzz_rows *insns);

/* All that is no record: sums are those of the rows then. */
#define FUZZ_KINDS (((uint32_t)1 << HWTD_EV_RECORD) - 1)

#endif /* FUZZ_ROWS_H */
