/*
 * The context: its allocator, its limits, its log, how long it lives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/library.h"
#include "support/failing_allocator.h"

static void
memory_goes_through_the_allocator_and_is_counted(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	uint64_t now, peak;
	uint8_t *a, *b;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	a = hwtdi_alloc(ctx, 100);
	b = hwtdi_zalloc(ctx, 50);
	assert_int_equal(b[49], 0);
	hwtd_context_memory(ctx, &now, &peak);
	assert_int_equal(now, 150);
	a = hwtdi_resize(ctx, a, 100, 300);
	hwtd_context_memory(ctx, &now, &peak);
	assert_int_equal(now, 350);
	a = hwtdi_resize(ctx, a, 300, 10);
	hwtd_context_memory(ctx, &now, &peak);
	assert_int_equal(now, 60);
	assert_int_equal(peak, 350);
	hwtdi_free(ctx, a, 10);
	hwtdi_free(ctx, b, 50);
	hwtdi_free(ctx, NULL, 1000);
	hwtd_context_memory(ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_memory(ctx, NULL, NULL);
	hwtd_context_memory(NULL, &now, NULL);
	hwtd_context_destroy(ctx);
	hwtd_context_destroy(NULL);
	assert_int_equal(f.blocks, 0);
	assert_int_equal(f.bytes, 0);
}

/* Nothing is a request of one byte, so that NULL always means no memory. */
static void
nothing_is_something(void **state)
{
	struct hwtd_context *ctx;
	uint64_t now;
	void *a;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	a = hwtdi_alloc(ctx, 0);
	assert_non_null(a);
	a = hwtdi_resize(ctx, a, 0, 0);
	assert_non_null(a);
	hwtdi_free(ctx, a, 0);
	hwtd_context_memory(ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(ctx);
}

static void
limits_say_no(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_context *ctx;
	void *a, *b;

	(void)state;
	o.max_memory = 1000;
	o.max_alloc = 600;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	assert_null(hwtdi_alloc(ctx, 601));
	assert_null(hwtdi_alloc(ctx, SIZE_MAX));
	a = hwtdi_alloc(ctx, 600);
	assert_non_null(a);
	assert_null(hwtdi_alloc(ctx, 401));
	b = hwtdi_alloc(ctx, 400);
	assert_non_null(b);
	assert_null(hwtdi_resize(ctx, b, 400, 401));
	assert_null(hwtdi_resize(ctx, a, 600, 601));
	hwtdi_free(ctx, a, 600);
	b = hwtdi_resize(ctx, b, 400, 600);
	assert_non_null(b);
	hwtdi_free(ctx, b, 600);
	hwtd_context_destroy(ctx);
}

static void
arrays_grow_and_keep_their_elements(void **state)
{
	struct hwtd_context *ctx;
	uint32_t *array = NULL;
	size_t cap = 0;
	uint64_t now;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(hwtdi_array_grow(ctx, &array, &cap, i + 1,
				     sizeof(*array), NULL),
		    HWTD_OK);
		array[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	assert_int_equal(hwtdi_array_grow(ctx, &array, &cap, SIZE_MAX / 2,
			     sizeof(*array), NULL),
	    HWTD_E_NOMEM);
	assert_int_equal(array[999], 999);
	hwtdi_array_free(ctx, array, cap, sizeof(*array));
	hwtd_context_memory(ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(ctx);
}

static void
strings_are_copied(void **state)
{
	struct hwtd_context *ctx;
	char text[] = "text";
	uint64_t now;
	char *copy;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	copy = hwtdi_strdup(ctx, text);
	text[0] = 'n';
	assert_string_equal(copy, "text");
	hwtdi_strfree(ctx, copy);
	hwtdi_strfree(ctx, NULL);
	hwtd_context_memory(ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(ctx);
}

struct heard {
	int lines;
	int32_t level;
	char area[16];
	char message[300];
};

static void
hear(void *arg, const struct hwtd_log_record *record)
{
	struct heard *h = arg;

	h->lines++;
	h->level = record->level;
	(void)strncpy(h->area, record->area, sizeof(h->area) - 1);
	(void)strncpy(h->message, record->message, sizeof(h->message) - 1);
}

static void
log_lines_up_to_the_level_are_heard(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct heard h = { 0 };
	struct hwtd_context *ctx;

	(void)state;
	o.log = hear;
	o.log_arg = &h;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	hwtdi_log(ctx, HWTD_LOG_INFO, "trace", "quiet");
	assert_int_equal(h.lines, 0);
	hwtdi_log(ctx, HWTD_LOG_WARNING, "trace", "loud %d", 5);
	assert_int_equal(h.lines, 1);
	assert_int_equal(h.level, HWTD_LOG_WARNING);
	assert_string_equal(h.area, "trace");
	assert_string_equal(h.message, "loud 5");
	hwtd_context_destroy(ctx);
	o.log = NULL;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	hwtdi_log(ctx, HWTD_LOG_ERROR, "trace", "to nobody");
	hwtd_context_destroy(ctx);
}

static void
held_context_outlives_its_maker(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	void *a;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	assert_ptr_equal(hwtdi_context_hold(ctx), ctx);
	hwtd_context_destroy(ctx);
	a = hwtdi_alloc(ctx, 5);
	assert_non_null(a);
	hwtdi_free(ctx, a, 5);
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

static void
bad_options_are_refused(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;

	(void)state;
	failing_allocator_init(&f);
	assert_int_equal(hwtd_context_create(NULL, NULL, NULL),
	    HWTD_E_INVALID);
	o.allocator = &f.allocator;
	f.allocator.free = NULL;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_E_INVALID);
	failing_allocator_init(&f);
	failing_allocator_arm(&f, 1, false);
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_E_NOMEM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    memory_goes_through_the_allocator_and_is_counted),
		cmocka_unit_test(nothing_is_something),
		cmocka_unit_test(limits_say_no),
		cmocka_unit_test(arrays_grow_and_keep_their_elements),
		cmocka_unit_test(strings_are_copied),
		cmocka_unit_test(log_lines_up_to_the_level_are_heard),
		cmocka_unit_test(held_context_outlives_its_maker),
		cmocka_unit_test(bad_options_are_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
