/*
 * Lifetimes: streams, schemas, arrays and what was moved out of them can be
 * released in any order, on any thread, and give back all they hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "support/arrow_rows.h"
#include "support/failing_allocator.h"
#include "support/long_trace.h"
#include "trace/trace_model.h"

struct fixture {
	struct failing_allocator memory;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct mt_rows rows;
};

static int
setup(void **state)
{
	const struct long_trace_options lo = {
		.insns = 300,
		.psb_bytes = 100,
		.overflow_of = 10,
	};
	struct fixture *f = calloc(1, sizeof(*f));
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct long_trace t;

	if (f == NULL)
		return (-1);
	failing_allocator_init(&f->memory);
	o.allocator = &f->memory.allocator;
	if (hwtd_context_create(&o, &f->ctx, NULL) != HWTD_OK)
		return (-1);
	f->trace = mt_create_in(f->ctx);
	(void)long_trace_code(f->trace);
	long_trace_make(&t, &lo);
	(void)mt_stream(f->trace, &t.packets, NULL);
	long_trace_free(&t);
	mt_seal(f->trace);
	mt_rows(f->trace, NULL, &f->rows);
	*state = f;
	return (0);
}

static void
give_up(struct fixture *f)
{
	hwtd_trace_close(f->trace);
	hwtd_context_destroy(f->ctx);
	f->trace = NULL;
	f->ctx = NULL;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;
	bool clean;

	give_up(f);
	clean = f->memory.blocks == 0 && f->memory.bytes == 0;
	mt_rows_free(&f->rows);
	free(f);
	return (clean ? 0 : -1);
}

#define PARTS 7
#define N_ORDERS 5040

/* The order with this number: parts[0] is released first. */
static void
order_of(unsigned int number, unsigned int parts[PARTS])
{
	unsigned int left[PARTS];

	for (unsigned int i = 0; i < PARTS; i++)
		left[i] = i;
	for (unsigned int i = 0; i < PARTS; i++) {
		const unsigned int n = PARTS - i, k = number % n;

		parts[i] = left[k];
		memmove(&left[k], &left[k + 1], (n - k - 1) * sizeof(left[0]));
		number /= n;
	}
}

static struct ArrowArray
moved_array(struct ArrowArray *from)
{
	struct ArrowArray to = *from;

	from->release = NULL;
	return (to);
}

static struct ArrowSchema
moved_schema(struct ArrowSchema *from)
{
	struct ArrowSchema to = *from;

	from->release = NULL;
	return (to);
}

/* What a trace holds that nobody reads; decoders that wait can be any. */
static int64_t
bytes_at_rest(struct fixture *f)
{
	hwtdi_trace_forget(f->trace);
	return (f->memory.bytes);
}

static int64_t
blocks_at_rest(struct fixture *f)
{
	hwtdi_trace_forget(f->trace);
	return (f->memory.blocks);
}

/* A stream, an array, a child and a dictionary of it; the same of a schema. */
static void
parts_can_be_released_in_any_order(void **state)
{
	struct fixture *f = *state;

	for (unsigned int order = 0; order < N_ORDERS; order++) {
		const int64_t blocks = blocks_at_rest(f);
		struct ArrowArrayStream stream = ar_export(mt_events(f->trace,
							       NULL),
		    HWTD_COL_IP | HWTD_COL_KIND, 16);
		struct ArrowSchema schema, field, names_field;
		struct ArrowArray array, child, names;
		unsigned int parts[PARTS];

		assert_int_equal(stream.get_schema(&stream, &schema), 0);
		assert_true(ar_next(&stream, &array));
		field = moved_schema(schema.children[1]);
		names_field = moved_schema(schema.children[0]->dictionary);
		child = moved_array(array.children[1]);
		names = moved_array(array.children[0]->dictionary);
		order_of(order, parts);
		for (unsigned int i = 0; i < PARTS; i++)
			switch (parts[i]) {
			case 0:
				stream.release(&stream);
				assert_null(stream.release);
				break;
			case 1:
				schema.release(&schema);
				break;
			case 2:
				assert_string_equal(field.name, "ip");
				field.release(&field);
				break;
			case 3:
				assert_string_equal(names_field.format, "u");
				names_field.release(&names_field);
				break;
			case 4:
				array.release(&array);
				break;
			case 5:
				assert_int_equal(child.length, 16);
				child.release(&child);
				break;
			default:
				assert_true(names.length > 10);
				names.release(&names);
				break;
			}
		assert_int_equal(blocks_at_rest(f), blocks);
	}
}

static void
arrays_outlive_all_they_came_from(void **state)
{
	struct fixture *f = *state;
	struct ArrowArrayStream stream = ar_export(mt_events(f->trace, NULL),
	    0, 64);
	struct hwtd_trace *keep = f->trace;
	struct ArrowSchema schema;
	struct ArrowArray first, second;

	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_true(ar_next(&stream, &first));
	assert_true(ar_next(&stream, &second));
	stream.release(&stream);
	/* The expectation still asks the trace who ran. */
	ar_assert_array(keep, &schema, &first, &f->rows, 0);
	ar_assert_array(keep, &schema, &second, &f->rows, 64);
	give_up(f);
	assert_true(f->memory.blocks > 0);
	for (int64_t c = 0; c < first.n_children; c++)
		for (int64_t i = 0; i < 64; i++)
			(void)ar_value(schema.children[c], first.children[c],
			    i);
	schema.release(&schema);
	first.release(&first);
	second.release(&second);
	assert_int_equal(f->memory.blocks, 0);
}

static void
a_stream_outlives_its_trace_and_context(void **state)
{
	struct fixture *f = *state;
	struct ArrowArrayStream stream = ar_export(mt_events(f->trace, NULL),
				    0, 7),
				moved;
	struct ArrowArray array;
	size_t n = 0;

	give_up(f);
	/* A stream can be moved too. */
	moved = stream;
	memset(&stream, 0xa5, sizeof(stream));
	while (ar_next(&moved, &array)) {
		n += (size_t)array.length;
		array.release(&array);
	}
	assert_int_equal(n, f->rows.n);
	moved.release(&moved);
	assert_int_equal(f->memory.blocks, 0);
}

static void
a_second_release_does_nothing(void **state)
{
	struct fixture *f = *state;
	struct ArrowArrayStream stream = ar_export(mt_events(f->trace, NULL),
	    0, 0);
	void (*release_stream)(struct ArrowArrayStream *) = stream.release;
	void (*release_schema)(struct ArrowSchema *);
	void (*release_array)(struct ArrowArray *);
	struct ArrowSchema schema, again;
	struct ArrowArray array;

	assert_int_equal(stream.get_schema(&stream, &schema), 0);
	assert_int_equal(stream.get_schema(&stream, &again), 0);
	assert_true(ar_next(&stream, &array));
	release_schema = schema.release;
	release_array = array.release;
	for (int i = 0; i < 2; i++) {
		release_stream(&stream);
		release_schema(&schema);
		release_array(&array);
		assert_null(stream.release);
		assert_null(schema.release);
		assert_null(array.release);
	}
	/* Each schema is its own. */
	assert_string_equal(again.children[0]->name, "time_ns");
	again.release(&again);
}

static void *
release_on_thread(void *arg)
{
	struct ArrowArray *array = arg;

	array->release(array);
	return (NULL);
}

static void
moved_children_can_be_released_by_threads(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 50; round++) {
		struct ArrowArrayStream stream = ar_export(mt_events(f->trace,
							       NULL),
		    HWTD_COL_IP | HWTD_COL_KIND | HWTD_COL_TARGET, 16);
		struct ArrowArray arrays[4];
		pthread_t threads[4];

		assert_true(ar_next(&stream, &arrays[0]));
		for (int i = 0; i < 3; i++)
			arrays[i + 1] = moved_array(arrays[0].children[i]);
		stream.release(&stream);
		for (int i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL,
					     release_on_thread, &arrays[i]),
			    0);
		for (int i = 0; i < 4; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
}

/* What a stream holds does not grow with what it has handed out. */
static void
one_array_is_held_at_a_time(void **state)
{
	struct fixture *f = *state;
	struct ArrowArrayStream stream = ar_export(mt_events(f->trace, NULL),
	    0, 16);
	struct ArrowArray array;
	int64_t bytes = 0;
	size_t n = 0;

	while (ar_next(&stream, &array)) {
		array.release(&array);
		if (n++ == 1)
			bytes = f->memory.bytes;
		if (n > 1)
			assert_true(f->memory.bytes <= bytes + 4096);
	}
	assert_true(n > 5);
	stream.release(&stream);
}

static void
a_short_array_holds_no_more_than_it_needs(void **state)
{
	struct fixture *f = *state;
	const int64_t before = bytes_at_rest(f);
	struct ArrowArrayStream stream = ar_export(mt_events(f->trace, NULL),
	    0, 0);
	struct ArrowArray array;

	assert_true(ar_next(&stream, &array));
	stream.release(&stream);
	assert_true(array.length < 400);
	/* Values and zeros of a row, names, structs of all columns. */
	assert_true(bytes_at_rest(f) - before < 120 * array.length + 60000);
	array.release(&array);
	assert_int_equal(f->memory.bytes, before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts_can_be_released_in_any_order),
		TEST(arrays_outlive_all_they_came_from),
		TEST(a_stream_outlives_its_trace_and_context),
		TEST(a_second_release_does_nothing),
		TEST(moved_children_can_be_released_by_threads),
		TEST(one_array_is_held_at_a_time),
		TEST(a_short_array_holds_no_more_than_it_needs),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
