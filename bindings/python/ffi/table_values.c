/*
 * Values of tables: reading them where they lie, text that is none, and lists of
 * names.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table_parts.h"

int
hwtpy_fail(struct hwtd_error *err, int code, const char *format, ...)
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
	return (hwtpy_fail(err, HWTD_E_NOMEM, "out of memory"));
}

void *
hwtpy_make(size_t n, size_t bytes)
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

uint64_t
hwtpy_put_text(const uint8_t *from, size_t n, uint8_t *to)
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

uint64_t
hwtpy_load(const struct hwtpy_members *m, uint64_t row)
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

double
hwtpy_load_real(const struct hwtpy_members *m, uint64_t row)
{
	const uint64_t bits = hwtpy_load(m, row);
	double real;

	if (m->type == HWTPY_TYPE_F64) {
		memcpy(&real, &bits, sizeof(real));
		return (real);
	}
	if (m->type == HWTPY_TYPE_I64 || m->type == HWTPY_TYPE_I32)
		return ((double)(int64_t)bits);
	return ((double)bits);
}

bool
hwtpy_load_text(const struct hwtpy_members *m, const uint64_t *offsets,
    uint64_t row, struct hwtpy_text *out)
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
		return (hwtpy_fail(err, HWTD_E_LIMIT,
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
	struct hwtpy_text text;
	size_t cap = 0;
	int rc = grow(names, 0, 0, &cap, err);

	for (size_t i = 0; i < n && rc == HWTD_OK; i++) {
		const int32_t used = names->offsets[names->n];
		uint64_t bytes;

		numbers_out[i] = HWTD_NO_ID;
		if (!hwtpy_load_text(texts, offsets, i, &text))
			continue;
		bytes = hwtpy_put_text(text.bytes, text.n, NULL);
		rc = grow(names, (uint64_t)used, bytes, &cap, err);
		if (rc != HWTD_OK)
			break;
		(void)hwtpy_put_text(text.bytes, text.n, names->bytes + used);
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
		return (hwtpy_fail(err, HWTD_E_LIMIT, "%zu names in a list",
		    n));
	if (texts->type != HWTPY_TYPE_STRING &&
	    texts->type != HWTPY_TYPE_BYTES)
		return (hwtpy_fail(err, HWTD_E_INVALID, "type %u is no text",
		    texts->type));
	while (n_slots < n * 2)
		n_slots *= 2;
	names = calloc(1, sizeof(*names));
	slots = hwtpy_make(n_slots, sizeof(*slots));
	if (names != NULL)
		names->offsets = hwtpy_make(n + 1, sizeof(*names->offsets));
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

struct hwtpy_names *
hwtpy_names_retain(struct hwtpy_names *names)
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
