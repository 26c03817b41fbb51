/*
 * Every allocation of an export fails once: it says so, leaks nothing, and no
 * row that was handed out is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "support/arrow_rows.h"
#include "support/failing_allocator.h"
#include "support/long_trace.h"
#include "support/mapped_trace.h"

struct fixture {
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct mt_rows rows;
};

static const struct hwtd_events_options all_kinds = {
	.size = sizeof(all_kinds),
	.kinds = (1u << HWTD_EV_KINDS) - 1,
};

static int
setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	struct hwtd_context_options o = { .size = sizeof(o) };
	const struct long_trace_options lo = {
		.insns = 3000,
		.psb_bytes = 1000,
		.timed = true,
		.overflow_of = 100,
	};
	const struct hwtd_stream_desc desc = {
		.cpu = 1,
		.pid = 2,
		.tid = 3,
		.clock = { .counts_per = 1, .ns_per = 1 },
	};
	struct long_trace t;

	if (x == NULL)
		return (-1);
	failing_allocator_init(&x->f);
	o.allocator = &x->f.allocator;
	if (hwtd_context_create(&o, &x->ctx, NULL) != HWTD_OK)
		return (-1);
	x->trace = mt_create_in(x->ctx);
	(void)long_trace_code(x->trace);
	long_trace_make(&t, &lo);
	(void)mt_stream(x->trace, &t.packets, &desc);
	long_trace_free(&t);
	for (uint32_t i = 0; i < 10; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_LOST, i, 0, 0);

		mr_add(x->trace, &r);
	}
	mt_seal(x->trace);
	mt_rows(x->trace, &all_kinds, &x->rows);
	*state = x;
	return (0);
}

static int
teardown(void **state)
{
	struct fixture *x = *state;
	bool clean;

	mt_rows_free(&x->rows);
	hwtd_trace_close(x->trace);
	hwtd_context_destroy(x->ctx);
	clean = x->f.blocks == 0 && x->f.bytes == 0;
	free(x);
	return (clean ? 0 : -1);
}

/* HWTD_OK: all was read; HWTD_E_NOMEM: the stream, or its making, failed. */
static int
export_all(struct fixture *x, uint64_t columns, uint32_t rows, uint64_t n,
    bool for_ever)
{
	const struct hwtd_export_options o = {
		.size = sizeof(o),
		.columns = columns,
		.rows = rows,
	};
	struct hwtd_events *ev = mt_events(x->trace, &all_kinds);
	struct hwtd_error err = { .size = sizeof(err) };
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray array;
	size_t first = 0;
	int rc;

	failing_allocator_arm(&x->f, n, for_ever);
	rc = hwtd_events_export(ev, &o, &stream, &err);
	if (rc != HWTD_OK) {
		assert_int_equal(rc, HWTD_E_NOMEM);
		assert_int_equal(err.code, rc);
		failing_allocator_arm(&x->f, 0, false);
		hwtd_events_close(ev);
		return (rc);
	}
	while ((rc = stream.get_schema(&stream, &schema)) != 0) {
		assert_int_equal(rc, ENOMEM);
		assert_null(schema.release);
		assert_non_null(stream.get_last_error(&stream));
		/* This is not for ever. */
		failing_allocator_arm(&x->f, 0, false);
	}
	while ((rc = stream.get_next(&stream, &array)) == 0 &&
	    array.release != NULL) {
		ar_assert_array(x->trace, &schema, &array, &x->rows, first);
		first += (size_t)array.length;
		array.release(&array);
	}
	failing_allocator_arm(&x->f, 0, false);
	if (rc != 0) {
		assert_int_equal(rc, ENOMEM);
		assert_null(array.release);
		assert_non_null(strstr(stream.get_last_error(&stream),
		    "memory"));
		/* What was lost is not passed over. */
		assert_int_equal(stream.get_next(&stream, &array), ENOMEM);
	} else
		assert_int_equal(first, x->rows.n);
	schema.release(&schema);
	stream.release(&stream);
	return (rc == 0 ? HWTD_OK : HWTD_E_NOMEM);
}

static void
try_all(struct fixture *x, uint64_t columns, uint32_t rows, bool for_ever)
{
	const int64_t blocks = x->f.blocks;
	uint64_t n = 1, failed = 0, good = 0;

	/* Room that is only to be given back may fail without harm. */
	for (; good < 100; n++) {
		const int rc = export_all(x, columns, rows, n, for_ever);

		assert_int_equal(x->f.blocks, blocks);
		good = rc == HWTD_OK ? good + 1 : 0;
		failed += rc != HWTD_OK;
	}
	print_message("%d requests, %d of them matter\n", (int)n - 100,
	    (int)failed);
	assert_true(failed > 10);
}

static void
each_allocation_may_fail(void **state)
{
	try_all(*state, 0, 0, false);
	try_all(*state, HWTD_COL_IP | HWTD_COL_KIND | HWTD_COL_GAPS, 1500,
	    false);
}

static void
all_allocations_may_fail_from_one_on(void **state)
{
	try_all(*state, 0, 0, true);
	try_all(*state, HWTD_COL_IP | HWTD_COL_KIND | HWTD_COL_GAPS, 1500,
	    true);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_allocation_may_fail),
		TEST(all_allocations_may_fail_from_one_on),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
