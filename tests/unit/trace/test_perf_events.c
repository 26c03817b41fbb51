/*
 * Events of a perf.data: attributes of all versions, and what records end with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/perf_writer.h"
#include "trace/import/perf/perf_events.h"

static const struct pw_who who = { 0x11223344, 0x55667788, 0x99aabbccddeeff01,
	0x0203040506070809, 0x0a0b0c0d };

static struct hwtd_context *
setup(struct hwtdi_perf_events *e)
{
	struct hwtd_context *ctx;

	memset(e, 0, sizeof(*e));
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

/* perf_event_attr as a file has it. */
static void
add_attr(struct hwtdi_perf_events *e, struct hwtd_context *ctx, bool big,
    size_t n, uint64_t sample_type)
{
	struct hwtd_error err = { .size = sizeof(err) };
	uint32_t event;
	struct pw w;

	pw_init(&w, big, 0);
	pw_attr(&w, n, 8, 0x123456789, sample_type);
	assert_int_equal(hwtdi_perf_events_add(e, ctx, w.bytes, n, big, &event,
			     &err),
	    HWTD_OK);
	assert_int_equal(event + 1, e->n);
	pw_fini(&w);
}

/* What a record of 16 bytes before the sample id ends with. */
static int
sample_id(const struct hwtdi_perf_events *e, struct hwtd_context *ctx,
    bool big, uint64_t written, const struct pw_who *by,
    struct hwtdi_perf_sample_id *out, struct hwtd_error *err)
{
	struct hwtdi_perf_record r = { .type = PW_LOST };
	struct pw w;
	int rc;

	pw_init(&w, big, 0);
	pw_put(&w, UINT64_MAX, 8);
	pw_put(&w, UINT64_MAX, 8);
	pw_who(&w, written, by);
	/* Just as large, so that reads past the end are noticed. */
	w.bytes = realloc(w.bytes, w.n);
	assert_non_null(w.bytes);
	r.body = (struct hwtdi_perf_bytes){ { w.bytes, w.n, false }, big };
	rc = hwtdi_perf_events_sample_id(e, ctx, &r, out, err);
	pw_fini(&w);
	return (rc);
}

static void
fields_of_all_sample_ids_are_found(void **state)
{
	static const uint32_t fields[] = { PW_TID, PW_TIME, PW_ID,
		PW_STREAM_ID, PW_CPU, PW_IDENTIFIER };

	(void)state;
	for (unsigned i = 0; i < 2u << 6; i++) {
		const bool big = (i & 1) != 0;
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_perf_sample_id id;
		struct hwtdi_perf_events e;
		struct hwtd_context *ctx = setup(&e);
		/* Of samples only. */
		uint64_t type = PW_IP | PW_ADDR;
		size_t n = 0;

		for (unsigned k = 0; k < 6; k++)
			if ((i >> (k + 1) & 1) != 0) {
				type |= fields[k];
				n += 8;
			}
		add_attr(&e, ctx, big, 112, type);
		assert_int_equal(sample_id(&e, ctx, big, type, &who, &id,
				     &err),
		    HWTD_OK);
		assert_int_equal(id.size, n);
		if (n > 0)
			assert_int_equal(id.has, type);
		assert_int_equal(id.pid,
		    (type & PW_TID) != 0 ? 0x11223344 : 0);
		assert_int_equal(id.tid,
		    (type & PW_TID) != 0 ? 0x55667788 : 0);
		assert_true(id.time ==
		    ((type & PW_TIME) != 0 ? 0x99aabbccddeeff01 : 0));
		assert_true(id.id ==
		    ((type & (PW_ID | PW_IDENTIFIER)) != 0 ? 0x0203040506070809
							   : 0));
		assert_int_equal(id.cpu,
		    (type & PW_CPU) != 0 ? 0x0a0b0c0d : 0);
		hwtdi_perf_events_fini(&e, ctx);
		hwtd_context_destroy(ctx);
	}
}

static void
attributes_of_all_versions_are_read(void **state)
{
	/* Up to version 8, and one that is to come. */
	static const size_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128,
		136, 144, 1000 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		const bool big = (i & 1) != 0;
		const size_t n = sizes[i / 2];
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_perf_events e;
		struct hwtd_context *ctx = setup(&e);
		uint32_t event;
		struct pw w;
		/* sample_id_all and use_clockid, bits 18 and 25. */
		const uint64_t flags = big ? UINT64_C(0x204000000000)
					   : UINT64_C(0x2040000);

		pw_init(&w, big, 0);
		pw_attr(&w, n, 8, 0x123456789abcdef0, PW_USUAL);
		pw_set(&w, 40, flags, 8);
		if (n >= 80)
			pw_set(&w, 72, 0x40003, 8);
		if (n >= 96)
			pw_set(&w, 92, (uint32_t)-5, 4);
		assert_int_equal(hwtdi_perf_events_add(&e, ctx, w.bytes, n,
				     big, &event, &err),
		    HWTD_OK);
		assert_int_equal(e.events[0].type, 8);
		assert_true(e.events[0].config == 0x123456789abcdef0);
		assert_int_equal(e.events[0].sample_type, PW_USUAL);
		assert_true(e.events[0].has_sample_id);
		assert_true(e.events[0].has_clockid);
		assert_int_equal(e.events[0].branch_type,
		    n >= 80 ? 0x40003 : 0);
		assert_int_equal(e.events[0].clockid, n >= 96 ? -5 : 0);
		pw_fini(&w);
		hwtdi_perf_events_fini(&e, ctx);
		hwtd_context_destroy(ctx);
	}
}

static void
bits_of_attributes_begin_with_the_byte_order(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_perf_events e;
		struct hwtd_context *ctx = setup(&e);
		uint8_t attr[64] = { 0 };
		uint32_t event;

		/* Bit 18, as the machine's compiler lays it out. */
		attr[42] = big != 0 ? 0x20 : 0x04;
		assert_int_equal(hwtdi_perf_events_add(&e, ctx, attr, 64,
				     big != 0, &event, &err),
		    HWTD_OK);
		assert_true(e.events[0].has_sample_id);
		assert_false(e.events[0].has_clockid);
		memset(attr, 0xff, sizeof(attr));
		attr[42] = big != 0 ? 0xdf : 0xfb;
		assert_int_equal(hwtdi_perf_events_add(&e, ctx, attr, 64,
				     big != 0, &event, &err),
		    HWTD_OK);
		assert_false(e.events[1].has_sample_id);
		assert_true(e.events[1].has_clockid);
		hwtdi_perf_events_fini(&e, ctx);
		hwtd_context_destroy(ctx);
	}
}

static void
attribute_of_less_than_the_first_version_is_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const uint8_t attr[64] = { 0 };
	struct hwtdi_perf_events e;
	struct hwtd_context *ctx = setup(&e);
	uint32_t event;

	(void)state;
	assert_int_equal(hwtdi_perf_events_add(&e, ctx, attr, 63, false,
			     &event, &err),
	    HWTD_E_CORRUPT);
	assert_non_null(strstr(err.message, "63 bytes; at least 64"));
	hwtdi_perf_events_fini(&e, ctx);
	hwtd_context_destroy(ctx);
}

static void
records_of_no_sample_id_end_with_nothing(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_perf_sample_id id;
	struct hwtdi_perf_events e;
	struct hwtd_context *ctx = setup(&e);

	(void)state;
	/* No event is known. */
	assert_int_equal(sample_id(&e, ctx, false, PW_USUAL, &who, &id, &err),
	    HWTD_OK);
	assert_int_equal(id.size, 0);
	assert_int_equal(id.has, 0);
	add_attr(&e, ctx, false, 112, PW_USUAL);
	e.events[0].has_sample_id = false;
	assert_int_equal(sample_id(&e, ctx, false, PW_USUAL, &who, &id, &err),
	    HWTD_OK);
	assert_int_equal(id.size, 0);
	assert_int_equal(id.has, 0);
	hwtdi_perf_events_fini(&e, ctx);
	hwtd_context_destroy(ctx);
}

static void
record_with_less_than_its_sample_id_is_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_perf_sample_id id;
	struct hwtdi_perf_events e;
	struct hwtd_context *ctx = setup(&e);

	(void)state;
	add_attr(&e, ctx, false, 112, PW_USUAL);
	/* 16 bytes of the record, and none behind. */
	assert_int_equal(sample_id(&e, ctx, false, 0, &who, &id, &err),
	    HWTD_E_CORRUPT);
	assert_non_null(strstr(err.message, "16 bytes, less than"));
	assert_non_null(strstr(err.message, "than 32 of"));
	assert_non_null(strstr(err.message, "sample_type 0x10086"));
	hwtdi_perf_events_fini(&e, ctx);
	hwtd_context_destroy(ctx);
}

static void
time_of_all_ones_is_none(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_perf_sample_id id;
	struct hwtdi_perf_events e;
	struct hwtd_context *ctx = setup(&e);
	struct pw_who nobody = who;

	(void)state;
	add_attr(&e, ctx, false, 112, PW_USUAL);
	nobody.time = UINT64_MAX;
	assert_int_equal(sample_id(&e, ctx, false, PW_USUAL, &nobody, &id,
			     &err),
	    HWTD_OK);
	assert_int_equal(id.has, PW_USUAL & ~PW_TIME);
	assert_int_equal(id.cpu, who.cpu);
	hwtdi_perf_events_fini(&e, ctx);
	hwtd_context_destroy(ctx);
}

/* Of several events each record ends with what its own says. */
static void
check_several(uint64_t first, uint64_t second)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_perf_sample_id id;
	struct hwtdi_perf_events e;
	struct hwtd_context *ctx = setup(&e);
	struct pw_who by = who;

	add_attr(&e, ctx, true, 112, first);
	add_attr(&e, ctx, true, 112, second);
	for (uint64_t i = 1; i <= 4; i++)
		assert_int_equal(hwtdi_perf_events_add_id(&e, ctx, i,
				     i > 2 ? 1 : 0, &err),
		    HWTD_OK);
	by.id = 4;
	assert_int_equal(sample_id(&e, ctx, true, second, &by, &id, &err),
	    HWTD_OK);
	assert_int_equal(id.has, second);
	assert_int_equal(id.id, 4);
	assert_int_equal(id.tid, (second & PW_TID) != 0 ? who.tid : 0);
	by.id = 2;
	assert_int_equal(sample_id(&e, ctx, true, first, &by, &id, &err),
	    HWTD_OK);
	assert_int_equal(id.has, first);
	/* perf's own records have id 0. */
	by.id = 0;
	assert_int_equal(sample_id(&e, ctx, true, first, &by, &id, &err),
	    HWTD_OK);
	assert_int_equal(id.has, first);
	hwtdi_perf_events_fini(&e, ctx);
	hwtd_context_destroy(ctx);
}

static void
identifier_tells_the_event(void **state)
{
	(void)state;
	check_several(PW_TIME | PW_IDENTIFIER,
	    PW_TID | PW_TIME | PW_CPU | PW_STREAM_ID | PW_IDENTIFIER);
	check_several(PW_TID | PW_CPU | PW_ID | PW_IDENTIFIER, PW_IDENTIFIER);
}

static void
place_of_the_id_tells_the_event(void **state)
{
	(void)state;
	/* As far from the end. */
	check_several(PW_ID, PW_TID | PW_ID);
	check_several(PW_TID | PW_ID | PW_CPU, PW_TIME | PW_ID | PW_CPU);
	check_several(PW_TIME | PW_ID | PW_STREAM_ID | PW_CPU,
	    PW_ID | PW_STREAM_ID | PW_CPU);
}

static void
ids_are_found_whatever_their_order_and_number(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_perf_events e;
	struct hwtd_context *ctx = setup(&e);

	(void)state;
	for (unsigned i = 0; i < 7; i++)
		add_attr(&e, ctx, false, 64, i);
	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(hwtdi_perf_events_add_id(&e, ctx,
				     i * 0x9e3779b97f4a7c15, (uint32_t)(i % 7),
				     &err),
		    HWTD_OK);
	/* Of an id that is told twice the first counts. */
	assert_int_equal(hwtdi_perf_events_add_id(&e, ctx,
			     3 * 0x9e3779b97f4a7c15, 6, &err),
	    HWTD_OK);
	for (uint64_t i = 0; i < 20000; i++) {
		const struct hwtdi_perf_event *event = hwtdi_perf_events_find(
		    &e, ctx, i * 0x9e3779b97f4a7c15);

		assert_ptr_equal(event, &e.events[i % 7]);
	}
	assert_null(hwtdi_perf_events_find(&e, ctx, 1));
	hwtdi_perf_events_fini(&e, ctx);
	hwtd_context_destroy(ctx);
}

static void
number_of_events_is_limited(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const uint8_t attr[64] = { 0 };
	struct hwtdi_perf_events e;
	struct hwtd_context *ctx = setup(&e);
	uint32_t event = 0;

	(void)state;
	for (uint32_t i = 0; i < HWTDI_PERF_MAX_EVENTS; i++)
		assert_int_equal(hwtdi_perf_events_add(&e, ctx, attr, 64,
				     false, &event, &err),
		    HWTD_OK);
	assert_int_equal(event, HWTDI_PERF_MAX_EVENTS - 1);
	assert_int_equal(hwtdi_perf_events_add(&e, ctx, attr, 64, false,
			     &event, &err),
	    HWTD_E_LIMIT);
	hwtdi_perf_events_fini(&e, ctx);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_all_sample_ids_are_found),
		cmocka_unit_test(attributes_of_all_versions_are_read),
		cmocka_unit_test(bits_of_attributes_begin_with_the_byte_order),
		cmocka_unit_test(
		    attribute_of_less_than_the_first_version_is_refused),
		cmocka_unit_test(records_of_no_sample_id_end_with_nothing),
		cmocka_unit_test(
		    record_with_less_than_its_sample_id_is_refused),
		cmocka_unit_test(time_of_all_ones_is_none),
		cmocka_unit_test(identifier_tells_the_event),
		cmocka_unit_test(place_of_the_id_tells_the_event),
		cmocka_unit_test(
		    ids_are_found_whatever_their_order_and_number),
		cmocka_unit_test(number_of_events_is_limited),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
