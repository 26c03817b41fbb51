/*
 * Tables as Arrow schemas and arrays.
 *
 * Each struct that is given out, and each child of it, counts as a holder of the
 * table, so that children can be moved out and be released on their own.
 *
 * Source: Apache Arrow, "The Arrow C data interface".
 */
#include <stdlib.h>
#include <string.h>

#include "table_parts.h"

/* Schemas. */

struct schema_holder {
	struct hwtpy_table *table;
	struct ArrowSchema dictionary;
};

static const char *
format_of(uint32_t kind)
{
	switch (kind) {
	case HWTPY_U64:
		return ("L");
	case HWTPY_I64:
		return ("l");
	case HWTPY_U32:
	case HWTPY_NAME:
		return ("I");
	case HWTPY_U8:
		return ("C");
	case HWTPY_F64:
		return ("g");
	case HWTPY_BOOL:
		return ("b");
	default:
		return ("u");
	}
}

/* There is nothing to free. */
static void
release_dictionary_schema(struct ArrowSchema *schema)
{
	schema->release = NULL;
}

static void
release_column_schema(struct ArrowSchema *schema)
{
	struct schema_holder *holder = schema->private_data;

	if (schema->dictionary != NULL && schema->dictionary->release != NULL)
		schema->dictionary->release(schema->dictionary);
	hwtpy_table_release(holder->table);
	free(holder);
	schema->release = NULL;
}

static bool
export_column_schema(struct hwtpy_table *table, const struct part *part,
    struct ArrowSchema *out)
{
	struct schema_holder *holder = calloc(1, sizeof(*holder));

	if (holder == NULL)
		return (false);
	holder->table = table;
	hwtpy_table_retain(table);
	*out = (struct ArrowSchema){ .format = format_of(part->kind),
		.name = part->name,
		.metadata = part->metadata,
		.flags = part->nullable ? ARROW_FLAG_NULLABLE : 0,
		.release = release_column_schema,
		.private_data = holder };
	if (part->kind == HWTPY_NAME) {
		holder->dictionary = (struct ArrowSchema){ .format = "u",
			.name = "",
			.release = release_dictionary_schema };
		out->dictionary = &holder->dictionary;
	}
	return (true);
}

static void
release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release != NULL)
			schema->children[i]->release(schema->children[i]);
	free(schema->children);
	free(schema->private_data);
	schema->release = NULL;
}

static bool
export_schema(struct hwtpy_table *table, struct ArrowSchema *out)
{
	const size_t n = table->n_parts;
	struct ArrowSchema *all = calloc(n + 1, sizeof(*all));
	struct ArrowSchema **children = calloc(n + 1,
	    sizeof(struct ArrowSchema *));

	if (all == NULL || children == NULL) {
		free(all);
		free(children);
		return (false);
	}
	*out = (struct ArrowSchema){ .format = "+s",
		.name = "",
		.n_children = (int64_t)n,
		.children = children,
		.release = release_schema,
		.private_data = all };
	for (size_t i = 0; i < n; i++)
		children[i] = &all[i];
	for (size_t i = 0; i < n; i++) {
		if (export_column_schema(table, &table->parts[i], &all[i]))
			continue;
		release_schema(out);
		return (false);
	}
	return (true);
}

/* Arrays. */

struct array_holder {
	struct hwtpy_table *table;
	const void *buffers[3];
	/* Of a column of names. */
	struct ArrowArray dictionary;
};

static void
release_column(struct ArrowArray *array)
{
	struct array_holder *holder = array->private_data;

	if (array->dictionary != NULL && array->dictionary->release != NULL)
		array->dictionary->release(array->dictionary);
	hwtpy_table_release(holder->table);
	free(holder);
	array->release = NULL;
}

static struct array_holder *
make_holder(struct hwtpy_table *table, const void *first, const void *second,
    const void *third)
{
	struct array_holder *holder = calloc(1, sizeof(*holder));

	if (holder == NULL)
		return (NULL);
	holder->table = table;
	hwtpy_table_retain(table);
	holder->buffers[0] = first;
	holder->buffers[1] = second;
	holder->buffers[2] = third;
	return (holder);
}

/* It may be moved out, too. */
static bool
export_dictionary(struct hwtpy_table *table, const struct hwtpy_names *names,
    struct ArrowArray *out)
{
	struct array_holder *holder = make_holder(table, NULL, names->offsets,
	    names->bytes);

	if (holder == NULL)
		return (false);
	*out = (struct ArrowArray){ .length = names->n,
		.n_buffers = 3,
		.buffers = holder->buffers,
		.release = release_column,
		.private_data = holder };
	return (true);
}

static bool
export_column(struct hwtpy_table *table, const struct part *part,
    struct ArrowArray *out)
{
	struct array_holder *holder = make_holder(table, part->valid,
	    part->data, part->bytes);

	if (holder == NULL)
		return (false);
	*out = (struct ArrowArray){ .length = (int64_t)table->n_rows,
		.null_count = (int64_t)part->n_unknown,
		.n_buffers = part->kind == HWTPY_TEXT ? 3 : 2,
		.buffers = holder->buffers,
		.release = release_column,
		.private_data = holder };
	if (part->kind != HWTPY_NAME)
		return (true);
	if (!export_dictionary(table, part->names, &holder->dictionary)) {
		release_column(out);
		return (false);
	}
	out->dictionary = &holder->dictionary;
	return (true);
}

struct batch_holder {
	const void *buffers[1];
	struct ArrowArray **children;
	struct ArrowArray *all;
};

static void
release_array(struct ArrowArray *array)
{
	struct batch_holder *holder = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release != NULL)
			array->children[i]->release(array->children[i]);
	free(holder->children);
	free(holder->all);
	free(holder);
	array->release = NULL;
}

static bool
export_array(struct hwtpy_table *table, struct ArrowArray *out)
{
	const size_t n = table->n_parts;
	struct batch_holder *holder = calloc(1, sizeof(*holder));

	if (holder == NULL)
		return (false);
	holder->all = calloc(n + 1, sizeof(*holder->all));
	holder->children = calloc(n + 1, sizeof(*holder->children));
	if (holder->all == NULL || holder->children == NULL) {
		free(holder->all);
		free(holder->children);
		free(holder);
		return (false);
	}
	*out = (struct ArrowArray){ .length = (int64_t)table->n_rows,
		.n_buffers = 1,
		.n_children = (int64_t)n,
		.buffers = holder->buffers,
		.children = holder->children,
		.release = release_array,
		.private_data = holder };
	for (size_t i = 0; i < n; i++)
		holder->children[i] = &holder->all[i];
	for (size_t i = 0; i < n; i++) {
		if (export_column(table, &table->parts[i], &holder->all[i]))
			continue;
		release_array(out);
		return (false);
	}
	return (true);
}

int
hwtpy_table_export(struct hwtpy_table *table, struct ArrowSchema *schema,
    struct ArrowArray *array, struct hwtd_error *err)
{
	if (!export_schema(table, schema))
		return (hwtpy_no_memory(err));
	if (!export_array(table, array)) {
		schema->release(schema);
		return (hwtpy_no_memory(err));
	}
	return (HWTD_OK);
}
