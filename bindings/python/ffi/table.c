/*
 * Tables: gathering columns, and taking rows of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_parts.h"

static int
fail(struct hwtd_error *err, int code, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return (code);
	err->code = code;
	err->sys_errno = 0;
	err->offset = UINT64_MAX;
	err->addr = UINT64_MAX;
	va_start(args, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return (code);
}

int
hwtpy_no_memory(struct hwtd_error *err)
{
	return (fail(err, HWTD_E_NOMEM, "out of memory"));
}

/* NULL also when the product has no size_t. */
static void *
make(size_t n, size_t bytes)
{
	/* A buffer of nothing is one, too: readers want no NULL. */
	return (calloc(n != 0 ? n : 1, bytes));
}

/* UTF-8. */

static bool
is_tail(uint8_t byte)
{
	return ((byte & 0xc0) == 0x80);
}

/* Bytes of the character at the front; 0: it is none. */
static size_t
character_bytes(const uint8_t *at, size_t n)
{
	const uint8_t first = at[0];
	const size_t bytes = first < 0x80 ? 1
	    : first < 0xc2		  ? 0
	    : first < 0xe0		  ? 2
	    : first < 0xf0		  ? 3
	    : first < 0xf5		  ? 4
					  : 0;

	if (bytes == 0 || bytes > n)
		return (0);
	for (size_t i = 1; i < bytes; i++)
		if (!is_tail(at[i]))
			return (0);
	/* What has a shorter form, surrogates, and beyond the last one. */
	if ((first == 0xe0 && at[1] < 0xa0) ||
	    (first == 0xed && at[1] > 0x9f) ||
	    (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f))
		return (0);
	return (bytes);
}

/* Copies text, with \xNN for what is none; `to` may be NULL.  Its bytes. */
static uint64_t
put_text(const uint8_t *from, size_t n, uint8_t *to)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t put = 0;

	for (size_t i = 0; i < n;) {
		const size_t bytes = character_bytes(from + i, n - i);

		if (bytes != 0) {
			if (to != NULL)
				memcpy(to + put, from + i, bytes);
			put += bytes;
			i += bytes;
			continue;
		}
		if (to != NULL) {
			to[put] = '\\';
			to[put + 1] = 'x';
			to[put + 2] = (uint8_t)digits[from[i] >> 4];
			to[put + 3] = (uint8_t)digits[from[i] & 15];
		}
		put += 4;
		i++;
	}
	return (put);
}

/* Members. */

static const void *
member_at(const struct hwtpy_members *m, uint64_t row)
{
	return ((const uint8_t *)m->first + (size_t)row * m->stride);
}

/* As 64 bits; of I64 and I32 in two's complement, of pointers if there is one. */
static uint64_t
load(const struct hwtpy_members *m, uint64_t row)
{
	const void *at = member_at(m, row);
	const char *text;
	uint64_t u64;
	uint32_t u32;
	int32_t i32;
	uint16_t u16;

	switch (m->type) {
	case HWTPY_TYPE_U64:
	case HWTPY_TYPE_I64:
	case HWTPY_TYPE_F64:
		memcpy(&u64, at, sizeof(u64));
		return (u64);
	case HWTPY_TYPE_U32:
		memcpy(&u32, at, sizeof(u32));
		return (u32);
	case HWTPY_TYPE_I32:
		memcpy(&i32, at, sizeof(i32));
		return ((uint64_t)(int64_t)i32);
	case HWTPY_TYPE_U16:
		memcpy(&u16, at, sizeof(u16));
		return (u16);
	case HWTPY_TYPE_U8:
		return (*(const uint8_t *)at);
	case HWTPY_TYPE_STRING:
		memcpy(&text, at, sizeof(text));
		return (text != NULL);
	default:
		return (0);
	}
}

static double
load_real(const struct hwtpy_members *m, uint64_t row)
{
	const uint64_t bits = load(m, row);
	double real;

	if (m->type == HWTPY_TYPE_F64) {
		memcpy(&real, &bits, sizeof(real));
		return (real);
	}
	if (m->type == HWTPY_TYPE_I64 || m->type == HWTPY_TYPE_I32)
		return ((double)(int64_t)bits);
	return ((double)bits);
}

struct text {
	const uint8_t *bytes;
	size_t n;
};

/* False: there is none. */
static bool
load_text(const struct hwtpy_members *m, const uint64_t *offsets, uint64_t row,
    struct text *out)
{
	const char *text;

	if (m->type == HWTPY_TYPE_BYTES) {
		out->bytes = (const uint8_t *)m->first + offsets[row];
		out->n = (size_t)(offsets[row + 1] - offsets[row]);
		return (true);
	}
	memcpy(&text, member_at(m, row), sizeof(text));
	out->bytes = (const uint8_t *)text;
	out->n = text != NULL ? strlen(text) : 0;
	return (text != NULL);
}

static bool
is_known(const struct hwtpy_column *c, uint64_t row)
{
	switch (c->known) {
	case HWTPY_KNOWN_BITS:
		return ((load(&c->known_by, row) & c->known_mask) != 0);
	case HWTPY_KNOWN_NO_BITS:
		return ((load(&c->known_by, row) & c->known_mask) == 0);
	case HWTPY_KNOWN_ID:
		return (load(&c->known_by, row) != HWTD_NO_ID);
	default:
		return (true);
	}
}

/* Names. */

static uint64_t
hash_of(const uint8_t *bytes, uint64_t n)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (uint64_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	return (hash ^ hash >> 29);
}

/* The number of the text at the end of `names`, which it may have already. */
static uint32_t
number_of(struct hwtpy_names *names, uint32_t *slots, size_t n_slots,
    uint64_t bytes)
{
	const uint8_t *text = names->bytes + names->offsets[names->n];
	size_t at = (size_t)hash_of(text, bytes) & (n_slots - 1);

	for (; slots[at] != 0; at = (at + 1) & (n_slots - 1)) {
		const uint32_t no = slots[at] - 1;
		const int32_t begin = names->offsets[no];

		if ((uint64_t)(names->offsets[no + 1] - begin) == bytes &&
		    memcmp(names->bytes + begin, text, (size_t)bytes) == 0)
			return (no);
	}
	slots[at] = ++names->n;
	names->offsets[names->n] = names->offsets[names->n - 1] +
	    (int32_t)bytes;
	return (names->n - 1);
}

static int
grow(struct hwtpy_names *names, uint64_t used, uint64_t more, size_t *cap,
    struct hwtd_error *err)
{
	const uint64_t needed = used + more;
	uint8_t *grown;
	uint64_t want = *cap;

	if (needed > INT32_MAX)
		return (fail(err, HWTD_E_LIMIT,
		    "names of more than 2 GiB in a column"));
	if (needed <= *cap && names->bytes != NULL)
		return (HWTD_OK);
	while (want < needed || want < 256)
		want = want * 2 + 256;
	grown = realloc(names->bytes, (size_t)want);
	if (grown == NULL)
		return (hwtpy_no_memory(err));
	names->bytes = grown;
	*cap = (size_t)want;
	return (HWTD_OK);
}

static int
fill_names(struct hwtpy_names *names, const struct hwtpy_members *texts,
    const uint64_t *offsets, size_t n, uint32_t *slots, size_t n_slots,
    uint32_t *numbers_out, struct hwtd_error *err)
{
	struct text text;
	size_t cap = 0;
	int rc = grow(names, 0, 0, &cap, err);

	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		const int32_t used = names->offsets[names->n];
		uint64_t bytes;

		numbers_out[i] = HWTD_NO_ID;
		if (!load_text(texts, offsets, i, &text))
			continue;
		bytes = put_text(text.bytes, text.n, NULL);
		rc = grow(names, (uint64_t)used, bytes, &cap, err);
		if (rc != HWTD_OK)
			break;
		(void)put_text(text.bytes, text.n, names->bytes + used);
		numbers_out[i] = number_of(names, slots, n_slots, bytes);
	}
	return (rc);
}

int
hwtpy_names_create(const struct hwtpy_members *texts, const uint64_t *offsets,
    size_t n, uint32_t *numbers_out, struct hwtpy_names **names_out,
    struct hwtd_error *err)
{
	struct hwtpy_names *names;
	size_t n_slots = 16;
	uint32_t *slots;
	int rc;

	if (n >= UINT32_MAX / 2)
		return (fail(err, HWTD_E_LIMIT, "%zu names in a list", n));
	if (texts->type != HWTPY_TYPE_STRING &&
	    texts->type != HWTPY_TYPE_BYTES)
		return (fail(err, HWTD_E_INVALID, "type %u is no text",
		    texts->type));
	while (n_slots < n * 2)
		n_slots *= 2;
	names = calloc(1, sizeof(*names));
	slots = make(n_slots, sizeof(*slots));
	if (names != NULL)
		names->offsets = make(n + 1, sizeof(*names->offsets));
	if (names == NULL || slots == NULL || names->offsets == NULL) {
		rc = hwtpy_no_memory(err);
	} else {
		atomic_init(&names->references, 1);
		rc = fill_names(names, texts, offsets, n, slots, n_slots,
		    numbers_out, err);
	}
	free(slots);
	if (rc != HWTD_OK && names != NULL) {
		free(names->offsets);
		free(names->bytes);
		free(names);
	}
	if (rc == HWTD_OK)
		*names_out = names;
	return (rc);
}

size_t
hwtpy_names_count(const struct hwtpy_names *names)
{
	return (names->n);
}

static struct hwtpy_names *
names_retain(struct hwtpy_names *names)
{
	if (names != NULL)
		(void)atomic_fetch_add(&names->references, 1);
	return (names);
}

void
hwtpy_names_release(struct hwtpy_names *names)
{
	if (names == NULL || atomic_fetch_sub(&names->references, 1) != 1)
		return;
	free(names->offsets);
	free(names->bytes);
	free(names);
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
	part->valid = make((size_t)(n / 8 + 1), 1);
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
	const uint64_t value = load(&c->values, row);
	uint32_t no;

	if (c->numbers == NULL)
		return (value < c->names->n ? (uint32_t)value : HWTD_NO_ID);
	if (value >= c->n_numbers)
		return (HWTD_NO_ID);
	no = c->numbers[value];
	return (no < c->names->n ? no : HWTD_NO_ID);
}

static void
put_number(struct part *part, const struct hwtpy_column *c, uint64_t row)
{
	const uint64_t bits = load(&c->values, row);
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
		real = load_real(&c->values, row);
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
		uint32_t no;

		if (!is_known(c, i)) {
			rc = set_unknown(part, i, n, err);
		} else if (c->kind != HWTPY_NAME) {
			put_number(part, c, i);
		} else {
			no = name_at(c, i);
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
	return (fail(err, HWTD_E_LIMIT,
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
	struct text text;
	int rc = HWTD_OK;

	for (uint64_t i = 0; i < n && rc == HWTD_OK; i++) {
		if (!is_known(c, i) ||
		    !load_text(&c->values, c->offsets, i, &text))
			rc = set_unknown(part, i, n, err);
		else
			bytes += put_text(text.bytes, text.n, NULL);
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
	struct text text;
	int rc = measure_texts(part, c, n, err);

	if (rc != HWTD_OK)
		return (rc);
	part->bytes = make((size_t)offsets[n], 1);
	if (part->bytes == NULL)
		return (hwtpy_no_memory(err));
	for (uint64_t i = 0; i < n; i++)
		if (part_knows(part, i) &&
		    load_text(&c->values, c->offsets, i, &text))
			(void)put_text(text.bytes, text.n,
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
	part->data = make((size_t)cells, width_of(part->kind));
	return (part->data != NULL ? HWTD_OK : hwtpy_no_memory(err));
}

static char *
copy_text(const char *text, size_t *bytes_out)
{
	const size_t n = strlen(text);
	const uint64_t bytes = put_text((const uint8_t *)text, n, NULL);
	char *copy = make((size_t)bytes + 1, 1);

	if (copy != NULL)
		(void)put_text((const uint8_t *)text, n, (uint8_t *)copy);
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
		out = make(total, 1);
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
	    c->values.type > HWTPY_TYPE_BYTES || c->known > HWTPY_KNOWN_ID ||
	    (c->kind == HWTPY_TEXT) != has_text ||
	    (c->kind == HWTPY_NAME && c->names == NULL) ||
	    (c->values.type == HWTPY_TYPE_BYTES && c->offsets == NULL))
		return (fail(err, HWTD_E_INVALID,
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
	part->nullable = c->known != HWTPY_KNOWN_ALL ||
	    c->values.type == HWTPY_TYPE_STRING || c->kind == HWTPY_NAME;
	part->names = c->kind == HWTPY_NAME ? names_retain(c->names) : NULL;
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
	table->parts = make(n_parts, sizeof(*table->parts));
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
	part->bytes = make((size_t)bytes, 1);
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
	copy = make((size_t)(at - from), 1);
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
	part->names = names_retain(from->names);
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
			return (fail(err, HWTD_E_INVALID,
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
