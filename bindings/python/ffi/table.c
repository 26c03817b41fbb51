/*
 * Tables: gathering columns, and taking rows of them.
 */
#include <stdlib.h>
#include <string.h>

#include "table_parts.h"

/* Where the value of a row is; UINT64_MAX: it has none. */
static uint64_t
place_of(const struct hwtpy_column *c, uint64_t row)
{
	uint64_t at;

	if (c->at.first == NULL)
		return (row);
	at = hwtpy_load(&c->at, row);
	return (at < c->n_others ? at : UINT64_MAX);
}

static bool
is_known(const struct hwtpy_column *c, uint64_t row)
{
	if (row == UINT64_MAX)
		return (false);
	switch (c->known) {
	case HWTPY_KNOWN_BITS:
		return ((hwtpy_load(&c->known_by, row) & c->known_mask) != 0);
	case HWTPY_KNOWN_NO_BITS:
		return ((hwtpy_load(&c->known_by, row) & c->known_mask) == 0);
	case HWTPY_KNOWN_ID:
		return (hwtpy_load(&c->known_by, row) != HWTD_NO_ID);
	case HWTPY_KNOWN_NONE:
		return (false);
	default:
		return (true);
	}
}

/* Columns. */

static size_t
width_of(uint32_t kind)
{
	switch (kind) {
	case HWTPY_U64:
	case HWTPY_I64:
	case HWTPY_F64:
		return (8);
	case HWTPY_U32:
	case HWTPY_NAME:
	case HWTPY_TEXT:
		return (4);
	default:
		return (1);
	}
}

static void
set_bit(uint8_t *bits, uint64_t row)
{
	bits[row / 8] |= (uint8_t)(1u << row % 8);
}

static bool
get_bit(const uint8_t *bits, uint64_t row)
{
	return ((bits[row / 8] >> row % 8 & 1) != 0);
}

/* A bit for each row, all known as yet. */
static int
make_valid(struct part *part, uint64_t n, struct hwtd_error *err)
{
	if (part->valid != NULL)
		return (HWTD_OK);
	part->valid = hwtpy_make((size_t)(n / 8 + 1), 1);
	if (part->valid == NULL)
		return (hwtpy_no_memory(err));
	memset(part->valid, 0xff, (size_t)(n / 8 + 1));
	return (HWTD_OK);
}

static int
set_unknown(struct part *part, uint64_t row, uint64_t n,
    struct hwtd_error *err)
{
	const int rc = make_valid(part, n, err);

	if (rc == HWTD_OK) {
		part->valid[row / 8] &= (uint8_t) ~(1u << row % 8);
		part->n_unknown++;
	}
	return (rc);
}

static bool
part_knows(const struct part *part, uint64_t row)
{
	return (part->valid == NULL || get_bit(part->valid, row));
}

/* Of HWTPY_NAME: HWTD_NO_ID is no name, nor is what the list does not have. */
static uint32_t
name_at(const struct hwtpy_column *c, uint64_t row)
{
	const uint64_t value = hwtpy_load(&c->values, row);
	uint32_t no;

	if (c->numbers == NULL)
		return (value < c->names->n ? (uint32_t)value : HWTD_NO_ID);
	if (value >= c->n_numbers)
		return (HWTD_NO_ID);
	no = c->numbers[value];
	return (no < c->names->n ? no : HWTD_NO_ID);
}

static void
put_number(struct part *part, const struct hwtpy_column *c, uint64_t row,
    uint64_t at)
{
	const uint64_t bits = hwtpy_load(&c->values, at);
	double real;

	switch (c->kind) {
	case HWTPY_U64:
	case HWTPY_I64:
		((uint64_t *)part->data)[row] = bits;
		break;
	case HWTPY_U32:
		((uint32_t *)part->data)[row] = (uint32_t)bits;
		break;
	case HWTPY_U8:
		((uint8_t *)part->data)[row] = (uint8_t)bits;
		break;
	case HWTPY_F64:
		real = hwtpy_load_real(&c->values, at);
		((double *)part->data)[row] = c->scale != 0 ? real * c->scale
							    : real;
		break;
	default:
		if ((bits & (c->mask != 0 ? c->mask : UINT64_MAX)) != 0)
			set_bit(part->data, row);
	}
}

static int
gather_numbers(struct part *part, const struct hwtpy_column *c, uint64_t n,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (uint64_t i = 0; i < n && rc == HWTD_OK; i++) {
		const uint64_t at = place_of(c, i);
		uint32_t no;

		if (!is_known(c, at)) {
			rc = set_unknown(part, i, n, err);
		} else if (c->kind != HWTPY_NAME) {
			put_number(part, c, i, at);
		} else {
			no = name_at(c, at);
			if (no == HWTD_NO_ID)
				rc = set_unknown(part, i, n, err);
			else
				((uint32_t *)part->data)[i] = no;
		}
	}
	return (rc);
}

static int
too_much_text(const struct part *part, struct hwtd_error *err)
{
	return (hwtpy_fail(err, HWTD_E_LIMIT,
	    "column %.64s: texts of more than 2 GiB; take fewer rows",
	    part->name));
}

/* Where each text ends, and how much there is. */
static int
measure_texts(struct part *part, const struct hwtpy_column *c, uint64_t n,
    struct hwtd_error *err)
{
	int32_t *offsets = part->data;
	uint64_t bytes = 0;
	struct hwtpy_text text;
	int rc = HWTD_OK;

	for (uint64_t i = 0; i < n && rc == HWTD_OK; i++) {
		const uint64_t at = place_of(c, i);

		if (!is_known(c, at) ||
		    !hwtpy_load_text(&c->values, c->offsets, at, &text))
			rc = set_unknown(part, i, n, err);
		else
			bytes += hwtpy_put_text(text.bytes, text.n, NULL);
		if (bytes > INT32_MAX)
			rc = too_much_text(part, err);
		else
			offsets[i + 1] = (int32_t)bytes;
	}
	return (rc);
}

static int
gather_texts(struct part *part, const struct hwtpy_column *c, uint64_t n,
    struct hwtd_error *err)
{
	const int32_t *offsets = part->data;
	struct hwtpy_text text;
	int rc = measure_texts(part, c, n, err);

	if (rc != HWTD_OK)
		return (rc);
	part->bytes = hwtpy_make((size_t)offsets[n], 1);
	if (part->bytes == NULL)
		return (hwtpy_no_memory(err));
	for (uint64_t i = 0; i < n; i++)
		if (part_knows(part, i) &&
		    hwtpy_load_text(&c->values, c->offsets, place_of(c, i),
			&text))
			(void)hwtpy_put_text(text.bytes, text.n,
			    part->bytes + offsets[i]);
	return (HWTD_OK);
}

/* Room for `n` rows. */
static int
make_data(struct part *part, uint64_t n, struct hwtd_error *err)
{
	const uint64_t cells = part->kind == HWTPY_BOOL ? n / 8 + 1 : n + 1;

	/* A buffer has to be addressable, and texts have 31 bits. */
	if (cells > SIZE_MAX / 8)
		return (hwtpy_no_memory(err));
	part->data = hwtpy_make((size_t)cells, width_of(part->kind));
	return (part->data != NULL ? HWTD_OK : hwtpy_no_memory(err));
}

static char *
copy_text(const char *text, size_t *bytes_out)
{
	const size_t n = strlen(text);
	const uint64_t bytes = hwtpy_put_text((const uint8_t *)text, n, NULL);
	char *copy = hwtpy_make((size_t)bytes + 1, 1);

	if (copy != NULL)
		(void)hwtpy_put_text((const uint8_t *)text, n,
		    (uint8_t *)copy);
	*bytes_out = (size_t)bytes;
	return (copy);
}

/* Arrow's form: a number of pairs, each text behind its length. */
static char *
make_metadata(const struct hwtpy_column *c)
{
	const char *const keys[] = { "unit", "meaning" };
	const char *const values[] = { c->unit, c->meaning };
	char *texts[2] = { NULL, NULL }, *out = NULL, *at;
	size_t bytes[2] = { 0, 0 }, total = 4;
	int32_t n = 0, length;
	bool good = true;

	for (size_t i = 0; i < 2 && good; i++) {
		if (values[i] == NULL || values[i][0] == '\0')
			continue;
		texts[i] = copy_text(values[i], &bytes[i]);
		good = texts[i] != NULL && bytes[i] < INT32_MAX;
		total += 8 + strlen(keys[i]) + bytes[i];
		n++;
	}
	if (good)
		out = hwtpy_make(total, 1);
	if (out != NULL) {
		memcpy(out, &n, 4);
		at = out + 4;
		for (size_t i = 0; i < 2; i++) {
			if (texts[i] == NULL)
				continue;
			length = (int32_t)strlen(keys[i]);
			memcpy(at, &length, 4);
			memcpy(at + 4, keys[i], (size_t)length);
			at += 4 + length;
			length = (int32_t)bytes[i];
			memcpy(at, &length, 4);
			memcpy(at + 4, texts[i], bytes[i]);
			at += 4 + bytes[i];
		}
	}
	free(texts[0]);
	free(texts[1]);
	return (out);
}

static int
check_column(const struct hwtpy_column *c, struct hwtd_error *err)
{
	const bool has_text = c->values.type == HWTPY_TYPE_STRING ||
	    c->values.type == HWTPY_TYPE_BYTES;

	if (c->name == NULL || c->kind > HWTPY_NAME ||
	    c->values.type > HWTPY_TYPE_BYTES || c->known > HWTPY_KNOWN_NONE ||
	    (c->kind == HWTPY_TEXT) != has_text ||
	    (c->kind == HWTPY_NAME && c->names == NULL) ||
	    (c->values.type == HWTPY_TYPE_BYTES && c->offsets == NULL))
		return (hwtpy_fail(err, HWTD_E_INVALID,
		    "column %.64s: kind %u of values of type %u",
		    c->name != NULL ? c->name : "without a name", c->kind,
		    c->values.type));
	return (HWTD_OK);
}

static int
gather(struct part *part, const struct hwtpy_column *c, uint64_t n,
    struct hwtd_error *err)
{
	size_t bytes;
	int rc = check_column(c, err);

	if (rc != HWTD_OK)
		return (rc);
	part->kind = c->kind;
	part->name = copy_text(c->name, &bytes);
	part->metadata = make_metadata(c);
	if (part->name == NULL || part->metadata == NULL)
		return (hwtpy_no_memory(err));
	part->nullable = c->known != HWTPY_KNOWN_ALL || c->at.first != NULL ||
	    c->values.type == HWTPY_TYPE_STRING || c->kind == HWTPY_NAME;
	part->names = c->kind == HWTPY_NAME ? hwtpy_names_retain(c->names)
					    : NULL;
	rc = make_data(part, n, err);
	if (rc != HWTD_OK)
		return (rc);
	return (c->kind == HWTPY_TEXT ? gather_texts(part, c, n, err)
				      : gather_numbers(part, c, n, err));
}

/* Tables. */

static struct hwtpy_table *
make_table(size_t n_parts, uint64_t n_rows)
{
	struct hwtpy_table *table = calloc(1, sizeof(*table));

	if (table == NULL)
		return (NULL);
	atomic_init(&table->references, 1);
	table->n_rows = n_rows;
	table->n_parts = n_parts;
	table->parts = hwtpy_make(n_parts, sizeof(*table->parts));
	if (table->parts == NULL) {
		free(table);
		return (NULL);
	}
	return (table);
}

void
hwtpy_table_retain(struct hwtpy_table *table)
{
	(void)atomic_fetch_add(&table->references, 1);
}

void
hwtpy_table_release(struct hwtpy_table *table)
{
	if (table == NULL || atomic_fetch_sub(&table->references, 1) != 1)
		return;
	for (size_t i = 0; i < table->n_parts; i++) {
		struct part *part = &table->parts[i];

		free(part->name);
		free(part->metadata);
		free(part->valid);
		free(part->data);
		free(part->bytes);
		hwtpy_names_release(part->names);
	}
	free(table->parts);
	free(table);
}

int
hwtpy_table_create(const struct hwtpy_column *columns, size_t n_columns,
    uint64_t n_rows, struct hwtpy_table **table_out, struct hwtd_error *err)
{
	struct hwtpy_table *table = make_table(n_columns, n_rows);
	int rc = table != NULL ? HWTD_OK : hwtpy_no_memory(err);

	for (size_t i = 0; i < n_columns && rc == HWTD_OK; i++)
		rc = gather(&table->parts[i], &columns[i], n_rows, err);
	if (rc != HWTD_OK)
		hwtpy_table_release(table);
	else
		*table_out = table;
	return (rc);
}

/* Rows of another table. */

static int
take_texts(struct part *part, const struct part *from, const uint64_t *rows,
    uint64_t n, struct hwtd_error *err)
{
	const int32_t *old = from->data;
	int32_t *offsets = part->data;
	uint64_t bytes = 0;

	/* A row can be taken many times. */
	for (uint64_t i = 0; i < n; i++) {
		bytes += (uint64_t)(old[rows[i] + 1] - old[rows[i]]);
		if (bytes > INT32_MAX)
			return (too_much_text(part, err));
		offsets[i + 1] = (int32_t)bytes;
	}
	part->bytes = hwtpy_make((size_t)bytes, 1);
	if (part->bytes == NULL)
		return (hwtpy_no_memory(err));
	for (uint64_t i = 0; i < n; i++)
		memcpy(part->bytes + offsets[i], from->bytes + old[rows[i]],
		    (size_t)(offsets[i + 1] - offsets[i]));
	return (HWTD_OK);
}

static void
take_numbers(struct part *part, const struct part *from, const uint64_t *rows,
    uint64_t n)
{
	const size_t width = width_of(part->kind);

	for (uint64_t i = 0; i < n; i++) {
		if (part->kind != HWTPY_BOOL)
			memcpy((uint8_t *)part->data + i * width,
			    (const uint8_t *)from->data + rows[i] * width,
			    width);
		else if (get_bit(from->data, rows[i]))
			set_bit(part->data, i);
	}
}

static char *
copy_metadata(const char *from)
{
	const char *at = from + 4;
	int32_t n, length;
	char *copy;

	memcpy(&n, from, 4);
	for (int32_t i = 0; i < n * 2; i++) {
		memcpy(&length, at, 4);
		at += 4 + length;
	}
	copy = hwtpy_make((size_t)(at - from), 1);
	if (copy != NULL)
		memcpy(copy, from, (size_t)(at - from));
	return (copy);
}

static int
take_part(struct part *part, const struct part *from, const uint64_t *rows,
    uint64_t n, struct hwtd_error *err)
{
	size_t bytes;
	int rc;

	part->kind = from->kind;
	part->nullable = from->nullable;
	part->name = copy_text(from->name, &bytes);
	part->metadata = copy_metadata(from->metadata);
	if (part->name == NULL || part->metadata == NULL)
		return (hwtpy_no_memory(err));
	part->names = hwtpy_names_retain(from->names);
	rc = make_data(part, n, err);
	for (uint64_t i = 0; i < n && rc == HWTD_OK; i++)
		if (!part_knows(from, rows[i]))
			rc = set_unknown(part, i, n, err);
	if (rc != HWTD_OK)
		return (rc);
	if (part->kind == HWTPY_TEXT)
		return (take_texts(part, from, rows, n, err));
	take_numbers(part, from, rows, n);
	return (HWTD_OK);
}

int
hwtpy_table_take(const struct hwtpy_table *table, const uint64_t *rows,
    uint64_t n, struct hwtpy_table **table_out, struct hwtd_error *err)
{
	struct hwtpy_table *taken;
	int rc;

	for (uint64_t i = 0; i < n; i++)
		if (rows[i] >= table->n_rows)
			return (hwtpy_fail(err, HWTD_E_INVALID,
			    "row %llu of a table of %llu",
			    (unsigned long long)rows[i],
			    (unsigned long long)table->n_rows));
	taken = make_table(table->n_parts, n);
	rc = taken != NULL ? HWTD_OK : hwtpy_no_memory(err);
	for (size_t i = 0; i < table->n_parts && rc == HWTD_OK; i++)
		rc = take_part(&taken->parts[i], &table->parts[i], rows, n,
		    err);
	if (rc != HWTD_OK)
		hwtpy_table_release(taken);
	else
		*table_out = taken;
	return (rc);
}
