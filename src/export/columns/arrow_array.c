/*
 * Arrays of the Arrow C data interface.
 *
 * Source: Apache Arrow, "The Arrow C data interface", "The ArrowArray
 * structure", "Release callback semantics"; "Arrow Columnar Format", "Buffer
 * Listing for Each Layout".
 */
#include <string.h>

#include "base/fail.h"
#include "export/columns/arrow_parts.h"

/* Bitmap, values or offsets, text. */
#define MOST_BUFFERS 3

/* A column, with the dictionary that it may have. */
struct column_array {
	struct ArrowArray array;
	struct ArrowArray names;
	const void *buffers[MOST_BUFFERS];
	const void *names_buffers[MOST_BUFFERS];
};

struct array_block {
	struct hwtdi_arrow_block head;
	/* The bitmap that the struct of all columns does not need. */
	const void *buffers[1];
	struct column_array *columns;
	struct ArrowArray **children;
	struct hwtdi_dictionary *dictionaries;
};

struct hwtdi_arrow_block *
hwtdi_arrow_block_create(struct hwtd_context *library, size_t bytes,
    struct hwtd_error *err)
{
	struct hwtdi_arrow_block *block = hwtdi_zalloc(library, bytes);

	if (block == NULL) {
		(void)hwtdi_fail_nomem(err, bytes);
		return (NULL);
	}
	block->library = hwtdi_context_hold(library);
	block->bytes = bytes;
	atomic_init(&block->users, 0);
	return (block);
}

static void
destroy_block(struct hwtdi_arrow_block *block)
{
	struct hwtd_context *library = block->library;

	hwtdi_column_batch_fini(&block->batch);
	hwtdi_free(library, block->zeros, block->n_zeros);
	hwtdi_free(library, block, block->bytes);
	hwtd_context_destroy(library);
}

void
hwtdi_arrow_block_drop(struct hwtdi_arrow_block *block)
{
	if (atomic_fetch_sub_explicit(&block->users, 1,
		memory_order_acq_rel) == 1)
		destroy_block(block);
}

static void
release_array(struct ArrowArray *array)
{
	struct hwtdi_arrow_block *block;

	if (array->release == NULL)
		return;
	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release != NULL)
			array->children[i]->release(array->children[i]);
	if (array->dictionary != NULL && array->dictionary->release != NULL)
		array->dictionary->release(array->dictionary);
	block = array->private_data;
	array->release = NULL;
	array->private_data = NULL;
	hwtdi_arrow_block_drop(block);
}

static void
init_array(struct array_block *block, struct ArrowArray *array, size_t length,
    const void **buffers, int64_t n_buffers)
{
	memset(array, 0, sizeof(*array));
	array->length = (int64_t)length;
	array->n_buffers = n_buffers;
	array->buffers = buffers;
	array->release = release_array;
	array->private_data = block;
	atomic_fetch_add_explicit(&block->head.users, 1, memory_order_relaxed);
}

static void
init_names(struct array_block *block, struct column_array *to,
    struct hwtdi_dictionary *names)
{
	to->names_buffers[1] = names->offsets;
	to->names_buffers[2] = names->text;
	init_array(block, &to->names, names->n, to->names_buffers, 3);
	to->array.dictionary = &to->names;
}

static void
init_column(struct array_block *block, struct column_array *to,
    const struct hwtdi_column_buffer *from)
{
	const bool is_text = hwtdi_column_is_text(from->column);
	const size_t n = block->head.batch.n;
	const uint8_t *zeros = block->head.zeros;

	init_array(block, &to->array, n, to->buffers, is_text ? 3 : 2);
	to->array.null_count = (int64_t)(n - from->n_known);
	if (from->n_known < n)
		to->buffers[0] = from->values != NULL ? from->known : zeros;
	to->buffers[1] = from->values != NULL ? from->values : zeros;
	/* No text at all has to lie somewhere too. */
	if (is_text)
		to->buffers[2] = from->text != NULL ? (const void *)from->text
						    : to->buffers[1];
}

/* Zeros for all columns of which no value is known. */
static int
make_zeros(struct hwtdi_arrow_block *block,
    const struct hwtdi_column_batch *batch, struct hwtd_error *err)
{
	bool needed = false;

	for (size_t i = 0; i < batch->n_columns; i++)
		if (batch->columns[i].values == NULL)
			needed = true;
	if (!needed)
		return (HWTD_OK);
	/* Room for the widest values, and for an offset more of text. */
	block->n_zeros = (batch->n + 1) * sizeof(uint64_t);
	block->zeros = hwtdi_zalloc(block->library, block->n_zeros);
	return (block->zeros != NULL ? HWTD_OK
				     : hwtdi_fail_nomem(err, block->n_zeros));
}

static void
init_columns(struct array_block *block, const struct hwtdi_column_plan *plan)
{
	struct hwtdi_dictionary *names = block->dictionaries;

	for (size_t i = 0; i < block->head.batch.n_columns; i++) {
		struct column_array *column = &block->columns[i];

		init_column(block, column, &block->head.batch.columns[i]);
		block->children[i] = &column->array;
		if (plan[i].dictionary == NULL)
			continue;
		*names = *plan[i].dictionary;
		init_names(block, column, names++);
	}
}

int
hwtdi_arrow_array(struct hwtdi_column_batch *batch,
    const struct hwtdi_column_plan *plan, struct ArrowArray *out,
    struct hwtd_error *err)
{
	const size_t n = batch->n_columns;
	size_t bytes = sizeof(struct array_block);
	struct hwtdi_arrow_block *head;
	struct array_block *block;

	bytes += n * (sizeof(struct column_array) + sizeof(void *));
	for (size_t i = 0; i < n; i++)
		if (plan[i].dictionary != NULL)
			bytes += sizeof(struct hwtdi_dictionary);
	head = hwtdi_arrow_block_create(batch->library, bytes, err);
	if (head == NULL)
		return (HWTD_E_NOMEM);
	if (make_zeros(head, batch, err) != HWTD_OK) {
		destroy_block(head);
		return (HWTD_E_NOMEM);
	}
	head->batch = *batch;
	memset(batch, 0, sizeof(*batch));
	block = (struct array_block *)head;
	block->columns = (void *)(block + 1);
	block->children = (void *)(block->columns + n);
	block->dictionaries = (void *)(block->children + n);
	init_array(block, out, head->batch.n, block->buffers, 1);
	out->n_children = (int64_t)n;
	out->children = block->children;
	init_columns(block, plan);
	return (HWTD_OK);
}
