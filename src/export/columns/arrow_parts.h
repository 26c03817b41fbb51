/*
 * Schemas and arrays of the Arrow C data interface, made of columns.
 */
#ifndef HWTDI_ARROW_PARTS_H
#define HWTDI_ARROW_PARTS_H

#include "export/columns/column_batch.h"

/*
 * What a schema or array, its children and their dictionaries stand in.  Each
 * of them can be moved away and outlive the others, on another thread, so the
 * last one that is released gives it back.
 */
struct hwtdi_arrow_block {
	struct hwtd_context *library;
	_Atomic size_t users;
	size_t bytes;
	/* Arrays only: the columns, and zeros for those without a value. */
	struct hwtdi_column_batch batch;
	uint8_t *zeros;
	size_t n_zeros;
};

/* All zero but for what is said; the context is held. */
struct hwtdi_arrow_block *hwtdi_arrow_block_create(
    struct hwtd_context *library, size_t bytes, struct hwtd_error *err);

/* One user less; the context is given up with the last one. */
void hwtdi_arrow_block_drop(struct hwtdi_arrow_block *block);

int hwtdi_arrow_schema(struct hwtd_context *library,
    const struct hwtdi_column_plan *plan, size_t n_columns,
    struct ArrowSchema *out, struct hwtd_error *err);

/* On success the columns are taken over, and `batch` is empty. */
int hwtdi_arrow_array(struct hwtdi_column_batch *batch,
    const struct hwtdi_column_plan *plan, struct ArrowArray *out,
    struct hwtd_error *err);

#endif /* HWTDI_ARROW_PARTS_H */
