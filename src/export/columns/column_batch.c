/*
 * A batch of columns: names, and room for values.
 */
#include "export/columns/column_batch.h"

#include <string.h>

#include "base/fail.h"

/* Names. */

static size_t
find_name(const struct hwtdi_dictionary *d, const char *name, size_t n)
{
	size_t i = 0;

	for (; i < d->n; i++)
		if ((size_t)(d->offsets[i + 1] - d->offsets[i]) == n &&
		    memcmp(d->text + d->offsets[i], name, n) == 0)
			break;
	return (i);
}

void
hwtdi_dictionary_init(struct hwtdi_dictionary *d,
    const char *(*name_of)(uint32_t number))
{
	memset(d, 0, sizeof(*d));
	for (uint32_t number = 0; number < HWTDI_NUMBERS; number++) {
		const char *name = name_of(number);
		const size_t n = strlen(name), i = find_name(d, name, n);
		const size_t at = (size_t)d->offsets[d->n];

		d->index[number] = (uint8_t)i;
		if (i < d->n || at + n > sizeof(d->text))
			continue;
		memcpy(d->text + at, name, n);
		d->offsets[++d->n] = (int32_t)(at + n);
	}
}

/* Room. */

static size_t
values_bytes(const struct hwtdi_column *column, size_t cap)
{
	switch (column->type) {
	case HWTDI_U64:
		return (cap * sizeof(uint64_t));
	case HWTDI_U32:
	case HWTDI_I32:
		return (cap * sizeof(uint32_t));
	case HWTDI_BOOL:
		return ((cap + 7) / 8);
	case HWTDI_TEXT:
	case HWTDI_STRING:
		return ((cap + 1) * sizeof(int32_t));
	case HWTDI_U8:
	case HWTDI_NAME:
	default:
		return (cap);
	}
}

static size_t
known_bytes(size_t cap)
{
	return ((cap + 7) / 8);
}

int
hwtdi_column_batch_init(struct hwtdi_column_batch *batch,
    struct hwtd_context *library, const struct hwtdi_column_plan *plan,
    size_t n_columns, struct hwtd_error *err)
{
	const size_t bytes = n_columns * sizeof(*batch->columns);

	memset(batch, 0, sizeof(*batch));
	batch->columns = hwtdi_zalloc(library, bytes);
	if (batch->columns == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	batch->library = library;
	batch->n_columns = n_columns;
	for (size_t i = 0; i < n_columns; i++)
		batch->columns[i].column = plan[i].column;
	return (HWTD_OK);
}

void
hwtdi_column_batch_fini(struct hwtdi_column_batch *batch)
{
	struct hwtd_context *library = batch->library;

	if (batch->columns == NULL)
		return;
	for (size_t i = 0; i < batch->n_columns; i++) {
		struct hwtdi_column_buffer *b = &batch->columns[i];

		hwtdi_free(library, b->values,
		    values_bytes(b->column, b->cap));
		hwtdi_free(library, b->known, known_bytes(b->cap));
		hwtdi_array_free(library, b->text, b->cap_text, 1);
	}
	hwtdi_free(library, batch->columns,
	    batch->n_columns * sizeof(*batch->columns));
	memset(batch, 0, sizeof(*batch));
}

/* Values and bits have one `cap`: both are had before the old ones are given back. */
int
hwtdi_column_buffer_room(struct hwtdi_column_batch *batch,
    struct hwtdi_column_buffer *b, size_t cap, struct hwtd_error *err)
{
	const struct hwtdi_column *column = b->column;
	const size_t n_values = values_bytes(column, cap);
	const size_t n_known = known_bytes(cap);
	uint8_t *values, *known = NULL;

	values = hwtdi_alloc(batch->library, n_values);
	if (values == NULL)
		return (hwtdi_fail_nomem(err, n_values));
	if (hwtdi_column_nullable(column)) {
		known = hwtdi_alloc(batch->library, n_known);
		if (known == NULL) {
			hwtdi_free(batch->library, values, n_values);
			return (hwtdi_fail_nomem(err, n_known));
		}
	}
	if (b->values != NULL)
		memcpy(values, b->values, values_bytes(column, batch->n));
	else
		/* All rows so far are unknown. */
		memset(values, 0, values_bytes(column, batch->n));
	if (known != NULL && b->known != NULL)
		memcpy(known, b->known, known_bytes(batch->n));
	else if (known != NULL)
		memset(known, 0, known_bytes(batch->n));
	hwtdi_free(batch->library, b->values, values_bytes(column, b->cap));
	hwtdi_free(batch->library, b->known, known_bytes(b->cap));
	b->values = values;
	b->known = known;
	b->cap = cap;
	return (HWTD_OK);
}

int
hwtdi_column_batch_reserve(struct hwtdi_column_batch *batch, size_t cap,
    struct hwtd_error *err)
{
	int rc;

	for (size_t i = 0; i < batch->n_columns; i++) {
		struct hwtdi_column_buffer *b = &batch->columns[i];

		if (b->cap >= cap ||
		    (b->values == NULL && hwtdi_column_nullable(b->column)))
			continue;
		rc = hwtdi_column_buffer_room(batch, b, cap, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	batch->cap = cap;
	return (HWTD_OK);
}

void
hwtdi_column_batch_trim(struct hwtdi_column_batch *batch)
{
	for (size_t i = 0; i < batch->n_columns; i++) {
		struct hwtdi_column_buffer *b = &batch->columns[i];

		/* Where there is no memory to do it, it stays as it is. */
		if (b->values != NULL && b->cap > batch->n)
			(void)hwtdi_column_buffer_room(batch, b, batch->n,
			    NULL);
	}
}

size_t
hwtdi_column_batch_text(const struct hwtdi_column_batch *batch)
{
	size_t most = 0;

	for (size_t i = 0; i < batch->n_columns; i++)
		if (batch->columns[i].n_text > most)
			most = batch->columns[i].n_text;
	return (most);
}
