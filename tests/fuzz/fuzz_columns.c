/*
 * Checks of columns: nulls are counted, text is UTF-8 between offsets that never go
 * back, numbers of names have a name, bytes of unknown values are 0.
 */
#include "fuzz_columns.h"

#include "fuzz.h"

static bool
is_known(const struct ArrowArray *a, int64_t row)
{
	const uint8_t *bits = a->buffers[0];

	return (bits == NULL || (bits[row / 8] >> row % 8 & 1) != 0);
}

/* Lengths of sequences and their first bytes are enough to see what was not replaced. */
static bool
is_utf8(const uint8_t *text, size_t n)
{
	size_t at = 0;

	while (at < n) {
		const uint8_t c = text[at];
		const size_t more = c < 0x80 ? 0
		    : c >= 0xc2 && c < 0xe0  ? 1
		    : c >= 0xe0 && c < 0xf0  ? 2
		    : c >= 0xf0 && c < 0xf5  ? 3
					     : n;

		if (more >= n - at)
			return (false);
		for (size_t i = 1; i <= more; i++)
			if ((text[at + i] & 0xc0) != 0x80)
				return (false);
		at += more + 1;
	}
	return (true);
}

static void
check_text(const char *name, const struct ArrowArray *a)
{
	const int32_t *offsets = a->buffers[1];
	const uint8_t *text = a->buffers[2];

	FUZZ_CHECK(offsets[0] == 0, "%s: begins at %d", name, offsets[0]);
	for (int64_t i = 0; i < a->length; i++) {
		const int32_t n = offsets[i + 1] - offsets[i];

		FUZZ_CHECK(n >= 0 && (n == 0 || is_known(a, i)),
		    "%s: %d bytes in row %lld", name, n, (long long)i);
		FUZZ_CHECK(is_utf8(text + offsets[i], (size_t)n),
		    "%s: no UTF-8 in row %lld", name, (long long)i);
	}
}

static size_t
bytes_of(const char *format)
{
	switch (format[0]) {
	case 'l':
	case 'L':
		return (8);
	case 'i':
	case 'I':
		return (4);
	case 'c':
	case 'C':
		return (1);
	default:
		return (0);
	}
}

static void
check_column(const struct ArrowSchema *field, const struct ArrowArray *a)
{
	const uint8_t *values = a->buffers[1];
	const size_t bytes = bytes_of(field->format);
	int64_t nulls = 0;

	for (int64_t i = 0; i < a->length; i++) {
		const uint8_t *v = values + (size_t)i * bytes;
		uint8_t any = 0;

		for (size_t k = 0; k < bytes; k++)
			any |= v[k];
		nulls += !is_known(a, i);
		FUZZ_CHECK(any == 0 || is_known(a, i),
		    "%s: a value that is not known in row %lld", field->name,
		    (long long)i);
		FUZZ_CHECK(a->dictionary == NULL ||
			v[0] < a->dictionary->length,
		    "%s: no name %u", field->name, v[0]);
	}
	FUZZ_CHECK(nulls == a->null_count, "%s: %lld nulls, not %lld",
	    field->name, (long long)nulls, (long long)a->null_count);
	FUZZ_CHECK(nulls == 0 || (field->flags & ARROW_FLAG_NULLABLE) != 0,
	    "%s: has nulls", field->name);
	if (field->format[0] == 'u')
		check_text(field->name, a);
	if (a->dictionary != NULL)
		check_text(field->name, a->dictionary);
}

uint64_t
fuzz_columns_read(struct ArrowArrayStream *stream)
{
	struct ArrowSchema schema;
	uint64_t rows = 0;

	FUZZ_CHECK(stream->get_schema(stream, &schema) == 0, "no schema");
	for (;;) {
		struct ArrowArray array;
		const int rc = stream->get_next(stream, &array);

		FUZZ_CHECK(rc == 0, "columns: %d %s", rc,
		    stream->get_last_error(stream));
		if (array.release == NULL)
			break;
		FUZZ_CHECK(array.n_children == schema.n_children,
		    "%lld columns", (long long)array.n_children);
		for (int64_t i = 0; i < array.n_children; i++) {
			FUZZ_CHECK(array.children[i]->length == array.length,
			    "column %lld has other rows", (long long)i);
			check_column(schema.children[i], array.children[i]);
		}
		rows += (uint64_t)array.length;
		array.release(&array);
	}
	schema.release(&schema);
	stream->release(stream);
	return (rows);
}
