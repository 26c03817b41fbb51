/*
 * A batch of columns, filled from rows.
 */
#include "export/columns/column_batch.h"

#include <string.h>

#include "base/fail.h"
#include "export/plain_text.h"

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

/*
 * Change the room of a column.  Values and bits have one `cap`, so both are
 * had before the old ones are given back.
 */
static int
set_room(struct hwtdi_column_batch *batch, struct hwtdi_column_buffer *b,
    size_t cap, struct hwtd_error *err)
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
		rc = set_room(batch, b, cap, err);
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
			(void)set_room(batch, b, batch->n, NULL);
	}
}

/* Where values come from. */

void
hwtdi_rows_put(struct hwtdi_column_filler *f, const void *from, size_t row)
{
	f->from[f->n_from] = from;
	f->at[f->n_from++] = (uint16_t)row;
}

/* Values. */

/* Numbers of a member of what was gathered. */
#define LOAD(type)                                                            \
	for (size_t i = 0; i < n; i++) {                                      \
		type v_;                                                      \
		memcpy(&v_, from[i] + off, sizeof(v_));                       \
		numbers[i] = v_;                                              \
	}

static void
load(struct hwtdi_column_filler *f, struct hwtdi_field field)
{
	const uint8_t *const *restrict from = f->from;
	uint64_t *restrict numbers = f->numbers;
	const size_t n = f->n_from, off = field.off;

	/* Neighbours in the table often look at the same member. */
	if (f->loaded.off == field.off && f->loaded.bytes == field.bytes)
		return;
	f->loaded = field;
	switch (field.bytes) {
	case sizeof(uint8_t):
		LOAD(uint8_t);
		break;
	case sizeof(uint16_t):
		LOAD(uint16_t);
		break;
	case sizeof(uint32_t):
		LOAD(uint32_t);
		break;
	default:
		LOAD(uint64_t);
		break;
	}
}

static void
apply(struct hwtdi_column_filler *f, const struct hwtdi_condition *c)
{
	const uint64_t *restrict v = f->numbers;
	uint8_t *restrict known = f->known;
	const size_t n = f->n_from;
	const uint64_t set = c->set;

	load(f, c->field);
	switch (c->type) {
	case HWTDI_ALWAYS:
		break;
	case HWTDI_IF_BITS:
		for (size_t i = 0; i < n; i++)
			known[i] &= (v[i] & set) != 0;
		break;
	case HWTDI_IF_ONE_OF:
		for (size_t i = 0; i < n; i++)
			known[i] &= v[i] < 32 && (set >> (v[i] & 31) & 1) != 0;
		break;
	case HWTDI_IF_ID:
		for (size_t i = 0; i < n; i++)
			known[i] &= v[i] != HWTD_NO_ID;
		break;
	case HWTDI_IF_SET:
		for (size_t i = 0; i < n; i++)
			known[i] &= v[i] != 0;
		break;
	case HWTDI_IF_NOT_MAX:
		for (size_t i = 0; i < n; i++)
			known[i] &= v[i] != UINT64_MAX;
		break;
	}
}

/* Set `known` for what was gathered; how many are. */
static size_t
find_known(struct hwtdi_column_filler *f, const struct hwtdi_column *column)
{
	size_t n = 0;

	memset(f->known, 1, f->n_from);
	if (column->conditions[0].type == HWTDI_ALWAYS)
		return (f->n_from);
	for (size_t i = 0; i < HWTDI_CONDITIONS; i++)
		if (column->conditions[i].type != HWTDI_ALWAYS)
			apply(f, &column->conditions[i]);
	for (size_t i = 0; i < f->n_from; i++)
		n += f->known[i];
	return (n);
}

/* Append `n` bits to `at` that there are; what is behind them becomes 0. */
static void
append_bits(uint8_t *bits, size_t at, const uint8_t *flags, size_t n)
{
	size_t i = 0;

	for (; i < n && (at + i) % 8 != 0; i++)
		bits[(at + i) / 8] |= (uint8_t)(flags[i] << (at + i) % 8);
	for (; i + 8 <= n; i += 8) {
		unsigned int byte = 0;

		for (unsigned int bit = 0; bit < 8; bit++)
			byte |= (unsigned int)flags[i + bit] << bit;
		bits[(at + i) / 8] = (uint8_t)byte;
	}
	if (i == n)
		return;
	bits[(at + i) / 8] = 0;
	for (; i < n; i++)
		bits[(at + i) / 8] |= (uint8_t)(flags[i] << (at + i) % 8);
}

/* The chunk's `known` bits, for rows that the source has nothing for too. */
static void
store_known(struct hwtdi_column_filler *f, struct hwtdi_column_buffer *b,
    size_t at, size_t n)
{
	if (b->known == NULL)
		return;
	if (f->n_from == n) {
		append_bits(b->known, at, f->known, n);
		return;
	}
	memset(f->flags, 0, n);
	for (size_t i = 0; i < f->n_from; i++)
		f->flags[f->at[i]] = f->known[i];
	append_bits(b->known, at, f->flags, n);
}

static void
store_flags(struct hwtdi_column_filler *f, struct hwtdi_column_buffer *b,
    size_t at, size_t n)
{
	const uint64_t bits = b->column->bits;
	const uint64_t *restrict numbers = f->numbers;
	const uint8_t *restrict known = f->known;
	uint8_t *restrict flags = f->flags;
	const size_t n_from = f->n_from;

	if (n_from < n)
		memset(flags, 0, n);
	for (size_t i = 0; n_from == n && i < n; i++)
		flags[i] = known[i] & ((numbers[i] & bits) != 0);
	for (size_t i = 0; n_from < n && i < n_from; i++)
		flags[f->at[i]] = known[i] & ((numbers[i] & bits) != 0);
	append_bits(b->values, at, flags, n);
}

static int
store_text(struct hwtdi_column_filler *f, struct hwtdi_column_batch *batch,
    struct hwtdi_column_buffer *b, size_t n, struct hwtd_error *err)
{
	const struct hwtdi_field field = b->column->field;
	int32_t *offsets = (void *)b->values;
	size_t k = 0;
	int rc;

	rc = hwtdi_array_grow(batch->library, &b->text, &b->cap_text,
	    b->n_text + f->n_from * field.bytes, 1, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < n; i++) {
		if (k < f->n_from && f->at[k] == i) {
			const char *text = (const char *)f->from[k] +
			    field.off;
			const size_t length = f->known[k] != 0
			    ? strnlen(text, field.bytes)
			    : 0;

			memcpy(b->text + b->n_text, text, length);
			b->n_text += length;
			k++;
		}
		offsets[batch->n + i + 1] = (int32_t)b->n_text;
	}
	return (HWTD_OK);
}

/* Bytes that take U+FFFD instead of one that is no UTF-8. */
#define REPLACED "\xef\xbf\xbd"
#define REPLACED_BYTES 3

static size_t
put_utf8(char *to, const char *text, size_t n)
{
	size_t done = 0, written = 0;

	while (done < n) {
		const size_t k = hwtdi_utf8_bytes(text + done, n - done);

		if (k == 0)
			memcpy(to + written, REPLACED, REPLACED_BYTES);
		else
			memcpy(to + written, text + done, k);
		written += k == 0 ? REPLACED_BYTES : k;
		done += k == 0 ? 1 : k;
	}
	return (written);
}

static int
store_strings(struct hwtdi_column_filler *f, struct hwtdi_column_batch *batch,
    struct hwtdi_column_buffer *b, size_t n, struct hwtd_error *err)
{
	int32_t *offsets = (void *)b->values;
	const char *last = NULL;
	size_t k = 0, last_at = 0, last_n = 0;

	for (size_t i = 0; i < n; i++) {
		const char *text = NULL;
		size_t bytes;
		int rc;

		if (k < f->n_from && f->at[k] == i) {
			if (f->known[k] != 0)
				memcpy(&text,
				    f->from[k] + b->column->field.off,
				    sizeof(text));
			k++;
		}
		if (text == NULL) {
			offsets[batch->n + i + 1] = (int32_t)b->n_text;
			continue;
		}
		/* Rows that follow on one another are often of one thing. */
		bytes = text == last ? last_n : REPLACED_BYTES * strlen(text);
		if (b->n_text + bytes > INT32_MAX)
			return (hwtdi_fail(err, HWTD_E_LIMIT,
			    "more than 2 GiB of text in column %s of an "
			    "array; "
			    "ask for fewer rows",
			    b->column->name));
		rc = hwtdi_array_grow(batch->library, &b->text, &b->cap_text,
		    b->n_text + bytes, 1, err);
		if (rc != HWTD_OK)
			return (rc);
		if (text == last)
			memcpy(b->text + b->n_text, b->text + last_at, bytes);
		else
			bytes = put_utf8(b->text + b->n_text, text,
			    strlen(text));
		last = text;
		last_at = b->n_text;
		last_n = bytes;
		b->n_text += bytes;
		offsets[batch->n + i + 1] = (int32_t)b->n_text;
	}
	return (HWTD_OK);
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

/* Mostly there is something for each row. */
#define STORE(type)                                                           \
	do {                                                                  \
		type *restrict to_ = (type *)(void *)b->values + at;          \
		if (n_from < n)                                               \
			memset(to_, 0, n * sizeof(*to_));                     \
		for (size_t i = 0; n_from == n && i < n; i++)                 \
			to_[i] = known[i] ? (type)numbers[i] : 0;             \
		for (size_t i = 0; n_from < n && i < n_from; i++)             \
			to_[f->at[i]] = known[i] ? (type)numbers[i] : 0;      \
	} while (0)

/* Numbers of things become those of their names. */
static void
find_names(struct hwtdi_column_filler *f, const struct hwtdi_column_plan *plan)
{
	const uint8_t *restrict index = plan->dictionary->index;
	const uint32_t shift = plan->column->shift;
	uint64_t *restrict numbers = f->numbers;
	const size_t n = f->n_from;

	f->loaded.bytes = 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t number = numbers[i] >> shift;

		numbers[i] = index[number < HWTDI_NUMBERS ? number
							  : HWTDI_NUMBERS - 1];
	}
}

static int
store(struct hwtdi_column_filler *f, const struct hwtdi_column_plan *plan,
    struct hwtdi_column_batch *batch, struct hwtdi_column_buffer *b, size_t n,
    struct hwtd_error *err)
{
	const uint64_t *restrict numbers = f->numbers;
	const uint8_t *restrict known = f->known;
	const size_t at = batch->n, n_from = f->n_from;

	if (b->column->type == HWTDI_TEXT)
		return (store_text(f, batch, b, n, err));
	if (b->column->type == HWTDI_STRING)
		return (store_strings(f, batch, b, n, err));
	load(f, b->column->field);
	switch (b->column->type) {
	case HWTDI_U64:
		STORE(uint64_t);
		break;
	case HWTDI_U32:
	case HWTDI_I32:
		STORE(uint32_t);
		break;
	case HWTDI_NAME:
		find_names(f, plan);
		STORE(uint8_t);
		break;
	case HWTDI_BOOL:
		store_flags(f, b, at, n);
		break;
	case HWTDI_U8:
	default:
		STORE(uint8_t);
		break;
	}
	return (HWTD_OK);
}

static int
add_to_column(struct hwtdi_column_batch *batch, struct hwtdi_column_filler *f,
    size_t i, size_t n, struct hwtd_error *err)
{
	struct hwtdi_column_buffer *b = &batch->columns[i];
	const size_t n_known = find_known(f, f->plan[i].column);
	int rc;

	if (n_known == 0 && b->values == NULL)
		return (HWTD_OK);
	if (b->values == NULL) {
		rc = set_room(batch, b, batch->cap, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	rc = store(f, &f->plan[i], batch, b, n, err);
	store_known(f, b, batch->n, n);
	b->n_known += n_known;
	return (rc);
}

int
hwtdi_column_batch_add(struct hwtdi_column_batch *batch,
    struct hwtdi_column_filler *f, struct hwtdi_rows *rows, size_t n,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (unsigned int s = 0; s < rows->ops->n_sources; s++) {
		bool gathered = false;

		for (size_t i = 0; rc == HWTD_OK && i < batch->n_columns;
		     i++) {
			if (f->plan[i].column->source != s)
				continue;
			if (!gathered) {
				f->n_from = 0;
				f->loaded.bytes = 0;
				rc = rows->ops->gather(rows, s, f, err);
			}
			gathered = true;
			if (rc == HWTD_OK)
				rc = add_to_column(batch, f, i, n, err);
		}
	}
	batch->n += n;
	return (rc);
}
