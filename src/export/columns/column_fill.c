/*
 * Rows become columns: a chunk at a time, in loops over one member each.
 */
#include <string.h>

#include "base/fail.h"
#include "export/columns/column_batch.h"
#include "export/plain_text.h"

/* Where values come from. */

void
hwtdi_rows_put(struct hwtdi_column_filler *f, const void *from, size_t row)
{
	f->from[f->n_from] = from;
	f->at[f->n_from++] = (uint16_t)row;
}

void
hwtdi_rows_put_all(struct hwtdi_column_filler *f, const void *base,
    size_t stride, size_t n)
{
	f->base = base;
	f->stride = stride;
	f->n_from = n;
}

static bool
is_for(const struct hwtdi_column_filler *f, size_t k, size_t row)
{
	return (k < f->n_from && (f->base != NULL || f->at[k] == row));
}

static const uint8_t *
source_of(const struct hwtdi_column_filler *f, size_t k)
{
	return (f->base != NULL ? f->base + k * f->stride : f->from[k]);
}

/* Values. */

/* Numbers of a member of what was gathered. */
#define LOAD(type)                                                            \
	for (size_t i = 0; base == NULL && i < n; i++) {                      \
		type v_;                                                      \
		memcpy(&v_, from[i] + off, sizeof(v_));                       \
		numbers[i] = v_;                                              \
	}                                                                     \
	for (size_t i = 0; base != NULL && i < n; i++) {                      \
		type v_;                                                      \
		memcpy(&v_, base + i * stride + off, sizeof(v_));             \
		numbers[i] = v_;                                              \
	}

static void
load(struct hwtdi_column_filler *f, struct hwtdi_field field)
{
	const uint8_t *const *restrict from = f->from;
	uint64_t *restrict numbers = f->numbers;
	const uint8_t *restrict base = f->base;
	const size_t n = f->n_from, off = field.off, stride = f->stride;

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

/* What is in all: bits of numbers that are looked at once for all columns. */
#define SUM(type)                                                             \
	for (size_t i = 0; i < n; i++) {                                      \
		type v_;                                                      \
		memcpy(&v_, at + i * f->stride, sizeof(v_));                  \
		all &= v_;                                                    \
		any |= v_;                                                    \
	}

static void
sum_bytes(const struct hwtdi_column_filler *f, const uint8_t *at,
    struct hwtdi_summary *s)
{
	const size_t n = f->stride != 0 ? f->n_from : 1;
	uint64_t all = UINT64_MAX, any = 0, numbers = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t v = at[i * f->stride];

		all &= v;
		any |= v;
		numbers |= UINT64_C(1) << (v & 63);
	}
	s->all = all;
	s->any = any;
	s->numbers = numbers;
}

/* Of what there is something of for each row.  NULL: it is not kept. */
static const struct hwtdi_summary *
summary(struct hwtdi_column_filler *f, struct hwtdi_field field)
{
	const size_t n = f->stride != 0 ? f->n_from : 1;
	const uint8_t *at = f->base + field.off;
	uint64_t all = UINT64_MAX, any = 0;
	struct hwtdi_summary *s;

	for (size_t i = 0; i < f->n_summaries; i++)
		if (f->summaries[i].field.off == field.off &&
		    f->summaries[i].field.bytes == field.bytes)
			return (&f->summaries[i]);
	if (f->n_summaries == HWTDI_SUMMARIES)
		return (NULL);
	s = &f->summaries[f->n_summaries++];
	*s = (struct hwtdi_summary){ .field = field };
	switch (field.bytes) {
	case sizeof(uint8_t):
		sum_bytes(f, at, s);
		return (s);
	case sizeof(uint16_t):
		SUM(uint16_t);
		break;
	case sizeof(uint32_t):
		SUM(uint32_t);
		break;
	default:
		SUM(uint64_t);
		break;
	}
	s->all = all;
	s->any = any;
	return (s);
}

/* What is known of the values of a chunk. */
enum knowing {
	NONE,
	SOME,
	ALL
};

/* SOME: also where the summary does not tell. */
static enum knowing
ask(const struct hwtdi_summary *s, const struct hwtdi_condition *c)
{
	uint64_t not_that = UINT64_MAX;

	switch (c->type) {
	case HWTDI_ALWAYS:
		return (ALL);
	case HWTDI_IF_BITS:
		return ((s->all & c->set) != 0	 ? ALL
			: (s->any & c->set) == 0 ? NONE
						 : SOME);
	case HWTDI_IF_ONE_OF:
		if (s->numbers == 0 || s->any >= 64)
			return (SOME);
		return ((s->numbers & c->set) == 0		? NONE
			: (s->numbers & ~(uint64_t)c->set) == 0 ? ALL
								: SOME);
	case HWTDI_IF_SET:
		return (s->any == 0 ? NONE : s->all != 0 ? ALL : SOME);
	case HWTDI_IF_ID:
		not_that = HWTD_NO_ID;
		break;
	case HWTDI_IF_NOT_MAX:
		break;
	}
	return (s->all == not_that		  ? NONE
		: (s->any & not_that) != not_that ? ALL
						  : SOME);
}

/* Whether one look at the chunk tells it. */
static enum knowing
ask_all(struct hwtdi_column_filler *f, const struct hwtdi_column *column)
{
	enum knowing knowing = ALL;

	for (size_t i = 0; i < HWTDI_CONDITIONS; i++) {
		const struct hwtdi_condition *c = &column->conditions[i];
		const struct hwtdi_summary *s;
		enum knowing answer = SOME;

		if (c->type == HWTDI_ALWAYS)
			continue;
		s = f->base != NULL ? summary(f, c->field) : NULL;
		if (s != NULL)
			answer = ask(s, c);
		if (answer == NONE)
			return (NONE);
		if (answer == SOME)
			knowing = SOME;
	}
	return (knowing);
}

/* Set `known` for what was gathered, unless none is; how many are. */
static size_t
find_known(struct hwtdi_column_filler *f, const struct hwtdi_column *column)
{
	const enum knowing knowing = ask_all(f, column);
	size_t n = 0;

	if (knowing == NONE)
		memset(f->known, 0, f->n_from);
	else
		memset(f->known, 1, f->n_from);
	if (knowing != SOME)
		return (knowing == NONE ? 0 : f->n_from);
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

/* Append `n` bits that are all the same. */
static void
append_same(uint8_t *bits, size_t at, bool set, size_t n)
{
	const size_t end = at + n;

	for (; at < end && at % 8 != 0; at++)
		bits[at / 8] |= (uint8_t)(set << at % 8);
	if (at == end)
		return;
	memset(bits + at / 8, set ? 0xff : 0, (end - at + 7) / 8);
	/* What is behind them is 0. */
	if (set && end % 8 != 0)
		bits[end / 8] = (uint8_t)((1u << end % 8) - 1);
}

/* The chunk's `known` bits, for rows that the source has nothing for too. */
static void
store_known(struct hwtdi_column_filler *f, struct hwtdi_column_buffer *b,
    size_t at, size_t n, size_t n_known)
{
	if (b->known == NULL)
		return;
	if (n_known == 0 || n_known == n) {
		append_same(b->known, at, n_known != 0, n);
		return;
	}
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
		if (is_for(f, k, i)) {
			const char *text = (const char *)source_of(f, k) +
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

		if (is_for(f, k, i)) {
			if (f->known[k] != 0)
				memcpy(&text,
				    source_of(f, k) + b->column->field.off,
				    sizeof(text));
			k++;
		}
		/* Without any text there may be no memory for it yet. */
		if (text == NULL || text[0] == '\0') {
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

/* Members as they are, one behind the other. */
#define COPY(type)                                                            \
	do {                                                                  \
		type *restrict to_ = (type *)(void *)b->values + at;          \
		for (size_t i = 0; i < n; i++)                                \
			memcpy(&to_[i], from + i * stride, sizeof(to_[i]));   \
	} while (0)

/* All values of a chunk are known.  False: they are no plain copies. */
static bool
copy(const struct hwtdi_column_filler *f, struct hwtdi_column_buffer *b,
    size_t at, size_t n)
{
	const uint8_t *restrict from = f->base + b->column->field.off;
	const size_t stride = f->stride, bytes = b->column->field.bytes;

	switch (b->column->type) {
	case HWTDI_U64:
		if (bytes != sizeof(uint64_t))
			return (false);
		COPY(uint64_t);
		return (true);
	case HWTDI_U32:
	case HWTDI_I32:
		if (bytes != sizeof(uint32_t))
			return (false);
		COPY(uint32_t);
		return (true);
	case HWTDI_U8:
		if (bytes != sizeof(uint8_t))
			return (false);
		COPY(uint8_t);
		return (true);
	default:
		return (false);
	}
}

/* Flags and names that are the same in all rows.  False: they differ. */
static bool
store_same(struct hwtdi_column_filler *f, const struct hwtdi_column_plan *plan,
    struct hwtdi_column_buffer *b, size_t at, size_t n)
{
	const struct hwtdi_column *column = plan->column;
	const struct hwtdi_summary *s = summary(f, column->field);
	uint64_t number;

	if (s == NULL)
		return (false);
	if (column->type == HWTDI_BOOL) {
		const bool set = (s->all & column->bits) != 0;

		if (set || (s->any & column->bits) == 0)
			append_same(b->values, at, set, n);
		return (set || (s->any & column->bits) == 0);
	}
	number = s->any >> column->shift;
	if (number != s->all >> column->shift)
		return (false);
	memset(b->values + at,
	    plan->dictionary
		->index[number < HWTDI_NUMBERS ? number : HWTDI_NUMBERS - 1],
	    n);
	return (true);
}

/* Most chunks have values in all rows, which need not be looked at one by one. */
static bool
store_all(struct hwtdi_column_filler *f, const struct hwtdi_column_plan *plan,
    struct hwtdi_column_buffer *b, size_t at, size_t n)
{
	if (b->column->type == HWTDI_BOOL || b->column->type == HWTDI_NAME)
		return (store_same(f, plan, b, at, n));
	return (copy(f, b, at, n));
}

static int
store(struct hwtdi_column_filler *f, const struct hwtdi_column_plan *plan,
    struct hwtdi_column_batch *batch, struct hwtdi_column_buffer *b, size_t n,
    size_t n_known, struct hwtd_error *err)
{
	const uint64_t *restrict numbers = f->numbers;
	const uint8_t *restrict known = f->known;
	const size_t at = batch->n, n_from = f->n_from;

	if (b->column->type == HWTDI_TEXT)
		return (store_text(f, batch, b, n, err));
	if (b->column->type == HWTDI_STRING)
		return (store_strings(f, batch, b, n, err));
	if (f->base != NULL && n_known == n && store_all(f, plan, b, at, n))
		return (HWTD_OK);
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
		rc = hwtdi_column_buffer_room(batch, b, batch->cap, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	rc = store(f, &f->plan[i], batch, b, n, n_known, err);
	store_known(f, b, batch->n, n, n_known);
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
				f->base = NULL;
				f->n_summaries = 0;
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
