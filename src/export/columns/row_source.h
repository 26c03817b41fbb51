/*
 * Where rows of columns come from: some are read at a time, and then columns
 * gather what they have of them.
 */
#ifndef HWTDI_ROW_SOURCE_H
#define HWTDI_ROW_SOURCE_H

#include "base/library.h"
#include "export/columns/columns.h"

struct hwtdi_column_filler;
struct hwtdi_rows;

struct hwtdi_rows_ops {
	const struct hwtdi_column_table *table;
	unsigned int n_sources;
	/*
	 * Read up to `most` rows, at most HWTDI_CHUNK.  HWTD_OK, also without
	 * rows; HWTD_END; or an error.
	 */
	int (*read)(struct hwtdi_rows *rows, size_t most, size_t *n_out,
	    struct hwtd_error *err);
	/* Put what a source has of them, in their order. */
	int (*gather)(struct hwtdi_rows *rows, unsigned int source,
	    struct hwtdi_column_filler *filler, struct hwtd_error *err);
	/* Give back everything. */
	void (*close)(struct hwtdi_rows *rows);
};

/* The begin of what each kind of rows has. */
struct hwtdi_rows {
	const struct hwtdi_rows_ops *ops;
	struct hwtd_context *library;
	/* Rows that were read last. */
	size_t n;
};

/* All zero but for what is said; `bytes` from the begin on.  NULL: no memory. */
void *hwtdi_rows_create(struct hwtd_context *library,
    const struct hwtdi_rows_ops *ops, size_t bytes, struct hwtd_error *err);
void hwtdi_rows_destroy(struct hwtdi_rows *rows, size_t bytes);

/* Of row number `row`. */
void hwtdi_rows_put(struct hwtdi_column_filler *filler, const void *from,
    size_t row);

/* Of each of `n` rows, from `base` on so many bytes apart; 0: one for all. */
void hwtdi_rows_put_all(struct hwtdi_column_filler *filler, const void *base,
    size_t stride, size_t n);

/*
 * A stream of columns of rows, which belong to it then; on failure they are as
 * they were.  The options are a copy that was checked for its size.
 */
int hwtdi_column_stream(struct hwtdi_rows *rows,
    const struct hwtd_export_options *opts, struct ArrowArrayStream *out,
    struct hwtd_error *err);

/* Columns that a choice has: does one need the source? */
bool hwtdi_columns_need(const struct hwtdi_column_table *table,
    const struct hwtd_export_options *opts, unsigned int source);

#endif /* HWTDI_ROW_SOURCE_H */
