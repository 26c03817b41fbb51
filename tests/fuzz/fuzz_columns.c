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

/* A number of 4 or 8 bytes. */
static uint64_t
number(const struct ArrowSchema *field, const struct ArrowArray *a,
    int64_t row)
{
	const uint8_t *at = a->buffers[1];
	uint64_t v = 0;

	for (size_t i = bytes_of(field->format); i-- > 0;)
		v = v << 8 | at[(size_t)row * bytes_of(field->format) + i];
	return (v);
}

/* Bytes of no packet say nothing; STM says more than its kinds do. */
static bool
may_hide(const struct hwtd_packet *p, int column)
{
	return (p->kind < HWTD_PK_LOST ||
	    (column == 3 && p->code >> 16 == HWTD_CS_STM));
}

static void
check_packet(const struct ArrowSchema *schema, const struct ArrowArray *array,
    int64_t row, const struct hwtd_packet *p)
{
	const uint64_t wanted[] = { p->value, p->count, p->stamp, p->aux };

	for (int i = 0; i < 4; i++) {
		const struct ArrowArray *a = array->children[i];
		const bool known = is_known(a, row);

		FUZZ_CHECK(known
			? number(schema->children[i], a, row) == wanted[i]
			: wanted[i] == 0 || may_hide(p, i),
		    "%s of %s is not %llu", schema->children[i]->name,
		    hwtd_packet_kind_name(p->kind),
		    (unsigned long long)wanted[i]);
	}
}

/* The next row; false: nothing is left. */
static bool
next_row(struct ArrowArrayStream *stream, struct ArrowArray *array,
    int64_t *row)
{
	if (array->release != NULL && ++*row < array->length)
		return (true);
	if (array->release != NULL)
		array->release(array);
	*row = 0;
	FUZZ_CHECK(stream->get_next(stream, array) == 0, "no columns");
	return (array->release != NULL);
}

static void
check_numbers(struct hwtd_trace *trace, const struct hwtd_packets_options *o,
    struct ArrowArrayStream *stream)
{
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_packets *packets;
	struct ArrowSchema schema;
	struct ArrowArray array = { .release = NULL };
	int64_t row = 0;

	FUZZ_CHECK(stream->get_schema(stream, &schema) == 0, "no schema");
	FUZZ_CHECK(hwtd_packets_open(trace, o, &packets, NULL) == HWTD_OK,
	    "no packets");
	while (hwtd_packets_read(packets, &batch, NULL) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++) {
			struct hwtd_packet p;

			memcpy(&p,
			    (const uint8_t *)batch.packets + i * batch.stride,
			    sizeof(p));
			FUZZ_CHECK(next_row(stream, &array, &row),
			    "columns have fewer rows");
			check_packet(&schema, &array, row, &p);
		}
	FUZZ_CHECK(!next_row(stream, &array, &row), "columns have more rows");
	hwtd_packets_close(packets);
	schema.release(&schema);
	stream->release(stream);
}

void
fuzz_packet_columns(struct hwtd_trace *trace,
    const struct hwtd_packets_options *o, uint64_t n)
{
	static const char *const texts[] = { "text", "name", "kind" };
	static const char *const numbers[] = { "value", "count", "stamp",
		"aux" };
	const struct hwtd_export_options how[] = {
		{ .size = sizeof(how[0]), .rows = 1000 },
		{ .size = sizeof(how[0]), .names = texts, .n_names = 3 },
		{ .size = sizeof(how[0]), .names = numbers, .n_names = 4 },
	};

	for (int i = 0; i < 3; i++) {
		struct hwtd_packets *packets;
		struct ArrowArrayStream stream;
		uint64_t rows = n;

		FUZZ_CHECK(hwtd_packets_open(trace, o, &packets, NULL) ==
			HWTD_OK,
		    "no packets");
		FUZZ_CHECK(hwtd_packets_export(packets, &how[i], &stream,
			       NULL) == HWTD_OK,
		    "no columns");
		if (i < 2)
			rows = fuzz_columns_read(&stream);
		else
			check_numbers(trace, o, &stream);
		FUZZ_CHECK(rows == n, "%llu rows in columns, not %llu",
		    (unsigned long long)rows, (unsigned long long)n);
	}
}
