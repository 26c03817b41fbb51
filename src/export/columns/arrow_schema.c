/*
 * Schemas of the Arrow C data interface.
 *
 * Source: Apache Arrow, "The Arrow C data interface", "Data type description -
 * format strings", "ArrowSchema.metadata", "Release callback semantics".
 */
#include <string.h>

#include "base/fail.h"
#include "export/columns/arrow_parts.h"

/* A field, with the dictionary that it may have. */
struct field {
	struct ArrowSchema schema;
	struct ArrowSchema names;
};

struct schema_block {
	struct hwtdi_arrow_block head;
	struct field *fields;
	struct ArrowSchema **children;
	/* Where the next metadata go. */
	char *metadata;
};

struct pair {
	const char *key;
	const char *value;
};

static void
release_schema(struct ArrowSchema *schema)
{
	struct hwtdi_arrow_block *block;

	if (schema->release == NULL)
		return;
	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release != NULL)
			schema->children[i]->release(schema->children[i]);
	if (schema->dictionary != NULL && schema->dictionary->release != NULL)
		schema->dictionary->release(schema->dictionary);
	block = schema->private_data;
	schema->release = NULL;
	schema->private_data = NULL;
	hwtdi_arrow_block_drop(block);
}

static void
init_schema(struct schema_block *block, struct ArrowSchema *schema,
    const char *format, const char *name)
{
	memset(schema, 0, sizeof(*schema));
	schema->format = format;
	schema->name = name;
	schema->release = release_schema;
	schema->private_data = block;
	atomic_fetch_add_explicit(&block->head.users, 1, memory_order_relaxed);
}

/* Metadata: the number of pairs, then lengths and bytes. */

static size_t
metadata_bytes(const struct pair *pairs, size_t n)
{
	size_t bytes = sizeof(int32_t);

	for (size_t i = 0; i < n; i++)
		bytes += 2 * sizeof(int32_t) + strlen(pairs[i].key) +
		    strlen(pairs[i].value);
	return (bytes);
}

static char *
put_number(char *at, size_t n)
{
	const int32_t number = (int32_t)n;

	memcpy(at, &number, sizeof(number));
	return (at + sizeof(number));
}

static char *
put_text(char *at, const char *text)
{
	const size_t n = strlen(text);

	at = put_number(at, n);
	memcpy(at, text, n);
	return (at + n);
}

static const char *
put_metadata(struct schema_block *block, const struct pair *pairs, size_t n)
{
	const char *metadata = block->metadata;
	char *at = put_number(block->metadata, n);

	for (size_t i = 0; i < n; i++) {
		at = put_text(at, pairs[i].key);
		at = put_text(at, pairs[i].value);
	}
	block->metadata = at;
	return (metadata);
}

#define MOST_PAIRS 2

/* What is said of a column; how many pairs it is. */
static size_t
column_pairs(const struct hwtdi_column *column, struct pair *pairs)
{
	pairs[0] = (struct pair){ "meaning", column->meaning };
	pairs[1] = (struct pair){ "unit", column->unit };
	return (column->unit != NULL ? 2 : 1);
}

static struct pair
library_pair(void)
{
	return ((struct pair){ "libhwtdecode", hwtd_version() });
}

static const char *
format_of(enum hwtdi_column_type type)
{
	switch (type) {
	case HWTDI_U64:
		return ("L");
	case HWTDI_U32:
		return ("I");
	case HWTDI_I32:
		return ("i");
	case HWTDI_U8:
		return ("C");
	case HWTDI_BOOL:
		return ("b");
	case HWTDI_NAME:
		/* Of the indices, int8. */
		return ("c");
	case HWTDI_TEXT:
	case HWTDI_STRING:
	default:
		return ("u");
	}
}

static void
init_field(struct schema_block *block, struct field *field,
    const struct hwtdi_column *column)
{
	struct pair pairs[MOST_PAIRS];
	const size_t n = column_pairs(column, pairs);

	init_schema(block, &field->schema, format_of(column->type),
	    column->name);
	field->schema.metadata = put_metadata(block, pairs, n);
	if (hwtdi_column_nullable(column))
		field->schema.flags = ARROW_FLAG_NULLABLE;
	if (column->type == HWTDI_NAME) {
		init_schema(block, &field->names, "u", "");
		field->schema.dictionary = &field->names;
	}
}

int
hwtdi_arrow_schema(struct hwtd_context *library,
    const struct hwtdi_column_plan *plan, size_t n_columns,
    struct ArrowSchema *out, struct hwtd_error *err)
{
	const struct pair about = library_pair();
	struct pair pairs[MOST_PAIRS];
	size_t bytes = sizeof(struct schema_block) + metadata_bytes(&about, 1);
	struct hwtdi_arrow_block *head;
	struct schema_block *block;

	bytes += n_columns *
	    (sizeof(struct field) + sizeof(struct ArrowSchema *));
	for (size_t i = 0; i < n_columns; i++)
		bytes += metadata_bytes(pairs,
		    column_pairs(plan[i].column, pairs));
	head = hwtdi_arrow_block_create(library, bytes, err);
	if (head == NULL)
		return (HWTD_E_NOMEM);
	block = (struct schema_block *)head;
	block->fields = (void *)(block + 1);
	block->children = (void *)(block->fields + n_columns);
	block->metadata = (void *)(block->children + n_columns);
	init_schema(block, out, "+s", "");
	out->metadata = put_metadata(block, &about, 1);
	out->n_children = (int64_t)n_columns;
	out->children = block->children;
	for (size_t i = 0; i < n_columns; i++) {
		init_field(block, &block->fields[i], plan[i].column);
		block->children[i] = &block->fields[i].schema;
	}
	return (HWTD_OK);
}
