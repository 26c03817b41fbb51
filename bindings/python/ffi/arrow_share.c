/*
 * Schemas and arrays that several consumers have at the same time.
 *
 * Source: Apache Arrow, "The Arrow C data interface", "Release callback
 *         semantics".
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arrow.h"

struct hwtpy_schema {
	_Atomic size_t users;
	struct ArrowSchema schema;
};

struct hwtpy_array {
	_Atomic size_t users;
	struct ArrowArray array;
};

/*
 * What one consumer was given: all structs of it, each of which may be moved
 * away and outlive the others.  The last one that is released gives it back.
 */
struct schema_block {
	_Atomic size_t users;
	struct hwtpy_schema *of;
};

struct array_block {
	_Atomic size_t users;
	struct hwtpy_array *of;
};

static bool
dropped_last(_Atomic size_t *users)
{
	return (atomic_fetch_sub_explicit(users, 1, memory_order_acq_rel) ==
	    1);
}

static void
hold(_Atomic size_t *users)
{
	atomic_fetch_add_explicit(users, 1, memory_order_relaxed);
}

/* Schemas. */

struct hwtpy_schema *
hwtpy_schema_take(struct ArrowSchema *from)
{
	struct hwtpy_schema *schema = malloc(sizeof(*schema));

	if (schema == NULL)
		return (NULL);
	atomic_init(&schema->users, 1);
	schema->schema = *from;
	memset(from, 0, sizeof(*from));
	return (schema);
}

void
hwtpy_schema_drop(struct hwtpy_schema *schema)
{
	if (schema == NULL || !dropped_last(&schema->users))
		return;
	if (schema->schema.release != NULL)
		schema->schema.release(&schema->schema);
	free(schema);
}

const struct ArrowSchema *
hwtpy_schema_get(const struct hwtpy_schema *schema)
{
	return (&schema->schema);
}

static void
release_schema(struct ArrowSchema *schema)
{
	struct schema_block *block = schema->private_data;

	if (schema->release == NULL)
		return;
	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release != NULL)
			schema->children[i]->release(schema->children[i]);
	if (schema->dictionary != NULL && schema->dictionary->release != NULL)
		schema->dictionary->release(schema->dictionary);
	schema->release = NULL;
	schema->private_data = NULL;
	if (dropped_last(&block->users)) {
		hwtpy_schema_drop(block->of);
		free(block);
	}
}

/* Structs below it, and pointers to them. */
static size_t
schema_room(const struct ArrowSchema *schema)
{
	size_t bytes = 0;

	for (int64_t i = 0; i < schema->n_children; i++)
		bytes += sizeof(void *) + sizeof(*schema) +
		    schema_room(schema->children[i]);
	if (schema->dictionary != NULL)
		bytes += sizeof(*schema) + schema_room(schema->dictionary);
	return (bytes);
}

/* Copy `from` with all below it, for which `at` has room. */
static char *
copy_schema(struct schema_block *block, const struct ArrowSchema *from,
    struct ArrowSchema *to, char *at)
{
	*to = *from;
	to->release = release_schema;
	to->private_data = block;
	hold(&block->users);
	if (from->n_children > 0) {
		to->children = (void *)at;
		at += (size_t)from->n_children * sizeof(void *);
	}
	for (int64_t i = 0; i < from->n_children; i++) {
		to->children[i] = (void *)at;
		at = copy_schema(block, from->children[i], to->children[i],
		    at + sizeof(*to));
	}
	if (from->dictionary != NULL) {
		to->dictionary = (void *)at;
		at = copy_schema(block, from->dictionary, to->dictionary,
		    at + sizeof(*to));
	}
	return (at);
}

int
hwtpy_schema_export(struct hwtpy_schema *schema, struct ArrowSchema *out)
{
	struct schema_block *block = malloc(sizeof(*block) +
	    schema_room(&schema->schema));

	if (block == NULL)
		return (ENOMEM);
	atomic_init(&block->users, 0);
	block->of = schema;
	hold(&schema->users);
	(void)copy_schema(block, &schema->schema, out, (char *)(block + 1));
	return (0);
}

/* Arrays. */

struct hwtpy_array *
hwtpy_array_take(struct ArrowArray *from)
{
	struct hwtpy_array *array = malloc(sizeof(*array));

	if (array == NULL)
		return (NULL);
	atomic_init(&array->users, 1);
	array->array = *from;
	memset(from, 0, sizeof(*from));
	return (array);
}

void
hwtpy_array_drop(struct hwtpy_array *array)
{
	if (array == NULL || !dropped_last(&array->users))
		return;
	if (array->array.release != NULL)
		array->array.release(&array->array);
	free(array);
}

const struct ArrowArray *
hwtpy_array_get(const struct hwtpy_array *array)
{
	return (&array->array);
}

static void
release_array(struct ArrowArray *array)
{
	struct array_block *block = array->private_data;

	if (array->release == NULL)
		return;
	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release != NULL)
			array->children[i]->release(array->children[i]);
	if (array->dictionary != NULL && array->dictionary->release != NULL)
		array->dictionary->release(array->dictionary);
	array->release = NULL;
	array->private_data = NULL;
	if (dropped_last(&block->users)) {
		hwtpy_array_drop(block->of);
		free(block);
	}
}

/* Structs below it, and pointers to them. */
static size_t
array_room(const struct ArrowArray *array)
{
	size_t bytes = 0;

	for (int64_t i = 0; i < array->n_children; i++)
		bytes += sizeof(void *) + sizeof(*array) +
		    array_room(array->children[i]);
	if (array->dictionary != NULL)
		bytes += sizeof(*array) + array_room(array->dictionary);
	return (bytes);
}

/* Copy `from` with all below it, for which `at` has room; buffers are shared. */
static char *
copy_array(struct array_block *block, const struct ArrowArray *from,
    struct ArrowArray *to, char *at)
{
	*to = *from;
	to->release = release_array;
	to->private_data = block;
	hold(&block->users);
	if (from->n_children > 0) {
		to->children = (void *)at;
		at += (size_t)from->n_children * sizeof(void *);
	}
	for (int64_t i = 0; i < from->n_children; i++) {
		to->children[i] = (void *)at;
		at = copy_array(block, from->children[i], to->children[i],
		    at + sizeof(*to));
	}
	if (from->dictionary != NULL) {
		to->dictionary = (void *)at;
		at = copy_array(block, from->dictionary, to->dictionary,
		    at + sizeof(*to));
	}
	return (at);
}

int
hwtpy_array_export(struct hwtpy_array *array, int64_t first, int64_t n,
    struct ArrowArray *out)
{
	struct array_block *block = malloc(sizeof(*block) +
	    array_room(&array->array));

	if (block == NULL)
		return (ENOMEM);
	atomic_init(&block->users, 0);
	block->of = array;
	hold(&array->users);
	(void)copy_array(block, &array->array, out, (char *)(block + 1));
	if (first == 0 && n == out->length)
		return (0);
	/* Children of a struct that begins at 0 are cut themselves. */
	out->length = n;
	for (int64_t i = 0; i < out->n_children; i++) {
		struct ArrowArray *child = out->children[i];

		child->offset += first;
		child->length = n;
		if (child->null_count != 0)
			child->null_count = -1;
	}
	return (0);
}

/* Arrays as a stream. */

struct all_arrays {
	/* Of `at`: who shares a reader of pyarrow reads in several threads. */
	pthread_mutex_t lock;
	struct hwtpy_schema *schema;
	size_t n, at;
	bool failed;
	struct hwtpy_array *arrays[];
};

static int
all_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct all_arrays *all = stream->private_data;
	const int rc = hwtpy_schema_export(all->schema, out);

	all->failed = rc != 0;
	return (rc);
}

static int
all_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct all_arrays *all = stream->private_data;
	struct hwtpy_array *array;
	int rc = 0;

	pthread_mutex_lock(&all->lock);
	if (all->at == all->n) {
		memset(out, 0, sizeof(*out));
	} else {
		array = all->arrays[all->at];
		rc = hwtpy_array_export(array, 0, array->array.length, out);
		all->at += rc == 0;
	}
	all->failed = rc != 0;
	pthread_mutex_unlock(&all->lock);
	return (rc);
}

static const char *
all_error(struct ArrowArrayStream *stream)
{
	const struct all_arrays *all = stream->private_data;

	return (all->failed ? "out of memory" : NULL);
}

static void
all_release(struct ArrowArrayStream *stream)
{
	struct all_arrays *all = stream->private_data;

	if (stream->release == NULL)
		return;
	stream->release = NULL;
	stream->private_data = NULL;
	hwtpy_schema_drop(all->schema);
	for (size_t i = 0; i < all->n; i++)
		hwtpy_array_drop(all->arrays[i]);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

int
hwtpy_arrays_stream(struct hwtpy_schema *schema,
    struct hwtpy_array *const *arrays, size_t n, struct ArrowArrayStream *out)
{
	struct all_arrays *all = malloc(sizeof(*all) + n * sizeof(*arrays));

	if (all == NULL)
		return (ENOMEM);
	*all = (struct all_arrays){ .schema = schema, .n = n };
	if (pthread_mutex_init(&all->lock, NULL) != 0) {
		free(all);
		return (ENOMEM);
	}
	hold(&schema->users);
	for (size_t i = 0; i < n; i++) {
		all->arrays[i] = arrays[i];
		hold(&arrays[i]->users);
	}
	memset(out, 0, sizeof(*out));
	out->get_schema = all_schema;
	out->get_next = all_next;
	out->get_last_error = all_error;
	out->release = all_release;
	out->private_data = all;
	return (0);
}

void
hwtpy_unpack_bits(const uint8_t *bits, int64_t first, int64_t n, uint8_t *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = bits[(first + i) / 8] >> ((first + i) % 8) & 1;
}
