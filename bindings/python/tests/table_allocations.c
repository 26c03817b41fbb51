/*
 * Makes tables while each allocation fails in turn: nothing is lost, and all of it
 * is given back.  Built with the files of ffi/ by test_table.py.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t left, live;

static bool
fails(void)
{
	return (left != 0 && --left == 0);
}

static void *
test_calloc(size_t n, size_t bytes)
{
	void *memory = fails() ? NULL : calloc(n, bytes);

	live += memory != NULL;
	return (memory);
}

static void *
test_realloc(void *old, size_t bytes)
{
	void *memory = fails() ? NULL : realloc(old, bytes);

	live += memory != NULL && old == NULL;
	return (memory);
}

static void
test_free(void *memory)
{
	live -= memory != NULL;
	free(memory);
}

#define calloc test_calloc
#define realloc test_realloc
#define free test_free
#include "../ffi/table.c"
#include "../ffi/table_export.c"
#include "../ffi/table_values.c"
#undef calloc
#undef realloc
#undef free

struct row {
	uint64_t number;
	const char *text;
	uint32_t name;
	uint32_t known;
};

static const struct row rows[] = {
	{ 1, "one \xff", 0, 1 },
	{ 2, NULL, 1, 0 },
	{ 3, "three", HWTD_NO_ID, 1 },
};

#define ROWS 3

static struct hwtpy_members
members(const void *first, uint32_t type)
{
	return ((struct hwtpy_members){ .first = first,
	    .stride = sizeof(struct row),
	    .type = type });
}

/* A table of all kinds, and rows of it, given out. */
static int
use(struct hwtd_error *err)
{
	const struct hwtpy_members texts = members(&rows[0].text,
	    HWTPY_TYPE_STRING);
	const uint64_t order[] = { 2, 1, 0, 2 };
	struct hwtpy_names *names = NULL;
	struct hwtpy_table *table = NULL, *taken = NULL;
	struct ArrowSchema schema = { .release = NULL };
	struct ArrowArray array = { .release = NULL };
	uint32_t numbers[ROWS];
	int rc = hwtpy_names_create(&texts, NULL, ROWS, numbers, &names, err);

	if (rc == HWTD_OK) {
		const struct hwtpy_column columns[] = {
			{ .name = "number",
			    .unit = "ns",
			    .meaning = "some",
			    .kind = HWTPY_U64,
			    .known = HWTPY_KNOWN_BITS,
			    .values = members(&rows[0].number, HWTPY_TYPE_U64),
			    .known_by = members(&rows[0].known,
				HWTPY_TYPE_U32),
			    .known_mask = 1 },
			{ .name = "text",
			    .kind = HWTPY_TEXT,
			    .values = texts },
			{ .name = "name",
			    .kind = HWTPY_NAME,
			    .values = members(&rows[0].name, HWTPY_TYPE_U32),
			    .names = names },
			{ .name = "odd",
			    .kind = HWTPY_BOOL,
			    .values = members(&rows[0].number, HWTPY_TYPE_U64),
			    .mask = 1 },
		};
		rc = hwtpy_table_create(columns, 4, ROWS, &table, err);
	}
	if (rc == HWTD_OK)
		rc = hwtpy_table_take(table, order, 4, &taken, err);
	if (rc == HWTD_OK)
		rc = hwtpy_table_export(taken, &schema, &array, err);
	/* What was given out outlives all. */
	hwtpy_table_release(taken);
	hwtpy_table_release(table);
	hwtpy_names_release(names);
	if (rc == HWTD_OK) {
		const int32_t *ends = array.children[1]->buffers[1];

		if (array.length != 4 || array.null_count != 0 ||
		    array.children[1]->null_count != 1 || ends[4] != 18 ||
		    memcmp(array.children[1]->buffers[2],
			"threeone \\xffthree", 18) != 0)
			rc = -100;
		schema.release(&schema);
		array.release(&array);
	}
	return (rc);
}

int
main(void)
{
	struct hwtd_error err = { .size = sizeof(err) };
	size_t n = 0;
	int rc = HWTD_E_NOMEM;

	while (rc == HWTD_E_NOMEM) {
		left = ++n;
		rc = use(&err);
		if (live != 0) {
			printf("%zu: %zu are not given back\n", n, live);
			return (1);
		}
		if (rc == HWTD_E_NOMEM && err.code != HWTD_E_NOMEM) {
			printf("%zu: nothing is said\n", n);
			return (1);
		}
	}
	printf("%d after %zu\n", rc, n);
	return (rc == HWTD_OK && n > 20 ? 0 : 1);
}
