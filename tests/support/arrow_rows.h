/*
 * Arrow streams of rows: what each column has to say of a row, told apart from
 * the library's table, and the comparison.  Every failure fails the test.
 */
#ifndef TEST_ARROW_ROWS_H
#define TEST_ARROW_ROWS_H

#include "support/memory_trace.h"

/* A value of a column as a consumer sees it. */
struct ar_value {
	bool known;
	/* Numbers, 0 and 1 of bool. */
	uint64_t number;
	/* Text, also of names; "" elsewhere. */
	char text[80];
};

struct ar_value ar_value(const struct ArrowSchema *field,
    const struct ArrowArray *column, int64_t row);

/* A value of the metadata of a field; NULL: it has none of that key. */
const char *ar_metadata(const struct ArrowSchema *field, const char *key,
    char out[200]);

/* One column. */
struct ar_column {
	const char *name;
	const char *format;
	/* NULL: none. */
	const char *unit;
	uint64_t column;
	bool nullable;
};

/* The columns with any of these bits, in order; NULL past the last. */
const struct ar_column *ar_column(uint64_t columns, size_t index);

/* What a column has to say of a row. */
struct ar_value ar_wanted(const struct hwtd_trace *trace,
    const struct mt_row *row, const char *column);

/* The schema is that of the columns with these bits. */
void ar_assert_schema(const struct ArrowSchema *schema, uint64_t columns);

/*
 * Rows [first, first + length) are what the array says, to the last bit of
 * what is unknown.
 */
void ar_assert_array(const struct hwtd_trace *trace,
    const struct ArrowSchema *schema, const struct ArrowArray *array,
    const struct mt_rows *rows, size_t first);

/* Make a stream of a cursor; `columns` and `rows` as in the options. */
struct ArrowArrayStream ar_export(struct hwtd_events *ev, uint64_t columns,
    uint32_t rows);

/* The next array; false: nothing is left. */
bool ar_next(struct ArrowArrayStream *stream, struct ArrowArray *out);

/* Read the stream to its end, `most` rows in each array, and release it. */
void ar_assert_stream(struct ArrowArrayStream *stream,
    const struct hwtd_trace *trace, uint64_t columns,
    const struct mt_rows *rows, size_t most);

#endif /* TEST_ARROW_ROWS_H */
