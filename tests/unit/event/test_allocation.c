/*
 * Every allocation of a cursor fails once: an error code, nothing lost, and
 * the cursor can be sought and read again.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "support/row_text.h"
#include "support/slot_size.h"
#include "trace/trace_model.h"

struct fixture {
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
};

static int
setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	struct hwtd_context_options o = { .size = sizeof(o) };

	/* So that there are several. */
	slot_bytes = 256;
	if (x == NULL)
		return (-1);
	failing_allocator_init(&x->f);
	o.allocator = &x->f.allocator;
	if (hwtd_context_create(&o, &x->ctx, NULL) != HWTD_OK)
		return (-1);
	x->trace = mt_create_in(x->ctx);
	(void)long_trace_code(x->trace);
	for (uint32_t i = 0; i < 3; i++) {
		struct long_trace_options lo = {
			.seed = i,
			.insns = 400,
			.psb_bytes = 100,
			.timed = i != 2,
			.overflow_of = 20,
			.interrupt_of = 20,
			.garbage_of = 40,
		};
		struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = 1,
			.tid = 100 + i,
			.clock = { .counts_per = i != 2, .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &lo);
		(void)mt_stream(x->trace, &t.packets, &desc);
		long_trace_free(&t);
	}
	for (uint32_t i = 0; i < 40; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_LOST, i, 0, 0);

		if (i % 4 == 0)
			mr_time(&r, 40 - i);
		else if (i % 4 == 1)
			mr_place(&r, i % 3, 10 * i);
		mr_add(x->trace, &r);
	}
	mt_seal(x->trace);
	*state = x;
	return (0);
}

static int
teardown(void **state)
{
	struct fixture *x = *state;
	bool clean;

	hwtd_trace_close(x->trace);
	hwtd_context_destroy(x->ctx);
	clean = x->f.blocks == 0 && x->f.bytes == 0;
	free(x);
	return (clean ? 0 : -1);
}

static const uint32_t ids[] = { 0, 1, 2, 100, 101, 102 };
static const struct hwtd_range everything[] = { { 0, UINT64_MAX } };

/* Options with everything that is copied, and that let all rows pass. */
static const struct hwtd_events_options options[] = {
	{ .size = sizeof(options[0]) },
	{ .size = sizeof(options[0]), .level = HWTD_LEVEL_INSN, .jobs = 2 },
	{ .size = sizeof(options[0]), .kinds = (1u << HWTD_EV_KINDS) - 1 },
	{ .size = sizeof(options[0]), .kinds = 1u << HWTD_EV_RECORD },
	{
	    .size = sizeof(options[0]),
	    .kinds = (1u << HWTD_EV_KINDS) - 1,
	    .jobs = 4,
	    .streams = ids,
	    .n_streams = 1,
	},
	{
	    .size = sizeof(options[0]),
	    .cpus = ids,
	    .n_cpus = 6,
	    .tids = ids,
	    .n_tids = 6,
	    .pids = ids,
	    .n_pids = 6,
	    .addresses = everything,
	    .n_addresses = 1,
	    .engine = "libipt",
	    .streams = ids,
	    .n_streams = 3,
	},
};
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

/* Open and read to the end; what failed first, and the rows up to there. */
static int
read_all(struct hwtd_trace *trace, const struct hwtd_events_options *o,
    struct hwtd_events **ev_out, size_t *n_out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_event rows[32];
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 32,
	};
	int rc;

	*ev_out = NULL;
	*n_out = 0;
	rc = hwtd_events_open(trace, o, ev_out, &err);
	if (rc != HWTD_OK) {
		assert_int_equal(err.code, rc);
		assert_null(*ev_out);
		return (rc);
	}
	while ((rc = hwtd_events_read(*ev_out, &b, &err)) == HWTD_OK) {
		/* It is only written when a call fails. */
		assert_int_equal(err.code, 0);
		*n_out += b.n;
	}
	assert_int_equal(err.code, rc < 0 ? rc : 0);
	return (rc);
}

/* Leave decoders behind that know the trace. */
static void
read_whole(struct hwtd_trace *trace, const struct hwtd_events_options *o,
    size_t want)
{
	struct hwtd_events *ev;
	size_t n;

	assert_int_equal(read_all(trace, o, &ev, &n), HWTD_END);
	assert_int_equal(n, want);
	hwtd_events_close(ev);
}

static void
a_cursor_survives_the_failure_of_each_allocation(void **state)
{
	struct fixture *x = *state;

	for (size_t o = 0; o < N_OPTIONS; o++) {
		struct mt_rows whole;
		uint64_t n = 0, missed = 0;

		failing_allocator_arm(&x->f, 0, false);
		mt_rows(x->trace, &options[o], &whole);
		/* Some can be done without; of two tries one asks for less. */
		while (missed < 4) {
			struct hwtd_events *ev;
			int64_t blocks;
			struct mt_rows rows = { 0 };
			size_t n_rows;
			int rc;

			/* With decoders that wait, and without. */
			hwtdi_trace_forget(x->trace);
			blocks = x->f.blocks;
			if (n % 2 == 0)
				read_whole(x->trace, &options[o], whole.n);
			n++;
			failing_allocator_arm(&x->f, n, false);
			rc = read_all(x->trace, &options[o], &ev, &n_rows);
			missed = x->f.requests < n ? missed + 1 : 0;
			failing_allocator_arm(&x->f, 0, false);
			/* Nothing may be left out without a word. */
			if (rc == HWTD_END)
				assert_int_equal(n_rows, whole.n);
			if (rc != HWTD_END && rc != HWTD_E_NOMEM)
				fail_msg("request %d: code %d", (int)n, rc);
			if (ev != NULL) {
				/* With memory again it reads on. */
				assert_int_equal(hwtd_events_seek_ns(ev, 0,
						     NULL),
				    HWTD_OK);
				mt_read(ev, 100, &rows);
				mt_assert_same(&whole, 0, &rows);
				mt_rows_free(&rows);
				hwtd_events_close(ev);
			}
			hwtdi_trace_forget(x->trace);
			assert_int_equal(x->f.blocks, blocks);
		}
		print_message("options %d: %d requests\n", (int)o,
		    (int)(n - missed));
		assert_true(n > 10);
		mt_rows_free(&whole);
	}
}

static void
a_cursor_without_any_memory_gives_up(void **state)
{
	struct fixture *x = *state;

	for (size_t o = 0; o < N_OPTIONS; o++) {
		struct mt_rows whole;
		int rc = HWTD_E_NOMEM;

		/* The trace keeps the contexts that it has seen. */
		failing_allocator_arm(&x->f, 0, false);
		mt_rows(x->trace, &options[o], &whole);
		for (uint64_t n = 1; rc == HWTD_E_NOMEM; n++) {
			struct hwtd_events *ev;
			int64_t blocks;
			size_t n_rows;

			hwtdi_trace_forget(x->trace);
			blocks = x->f.blocks;
			if (n % 2 == 0)
				read_whole(x->trace, &options[o], whole.n);
			failing_allocator_arm(&x->f, n, true);
			rc = read_all(x->trace, &options[o], &ev, &n_rows);
			hwtd_events_close(ev);
			failing_allocator_arm(&x->f, 0, false);
			hwtdi_trace_forget(x->trace);
			assert_int_equal(x->f.blocks, blocks);
		}
		mt_rows_free(&whole);
		assert_int_equal(rc, HWTD_END);
	}
}

/* A place that was not found is none to read from, also not the one of before. */
static void
after_a_seek_that_failed_nothing_is_read_before_the_next(void **state)
{
	struct fixture *x = *state;

	for (size_t o = 0; o < 4 * N_OPTIONS; o++) {
		const struct hwtd_events_options *opts = &options[o / 4];
		const bool by_offset = o % 2 != 0, to_the_end = o % 4 < 2;
		struct hwtd_events *ev = mt_events(x->trace, opts);
		struct mt_rows whole;
		int rc = HWTD_E_NOMEM;
		size_t n = 0;

		mt_rows(x->trace, opts, &whole);
		for (; rc == HWTD_E_NOMEM; n++) {
			struct hwtd_error err = { .size = sizeof(err) };
			struct hwtd_event row;
			struct hwtd_batch b = { .size = sizeof(b),
				.events = &row,
				.stride = sizeof(row),
				.cap = 1 };

			mt_assert_next(ev, &whole, 0,
			    to_the_end ? whole.n + 1 : whole.n / 3);
			hwtdi_trace_forget(x->trace);
			failing_allocator_arm(&x->f, n + 1, true);
			rc = by_offset
			    ? hwtd_events_seek_offset(ev, 0, 100, &err)
			    : hwtd_events_seek_ns(ev, 2000, &err);
			failing_allocator_arm(&x->f, 0, false);
			if (rc != HWTD_OK) {
				assert_int_equal(rc, HWTD_E_NOMEM);
				assert_int_equal(hwtd_events_read(ev, &b,
						     NULL),
				    HWTD_E_STATE);
			}
			assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL),
			    HWTD_OK);
		}
		assert_int_equal(rc, HWTD_OK);
		mt_rows_free(&whole);
		hwtd_events_close(ev);
	}
}

/* Segments that are a batch each, more of them than are kept for another one. */
static struct hwtd_trace *
make_many(struct hwtd_context *ctx)
{
	const struct long_trace_options lo = { .seed = 1,
		.insns = 60000,
		.psb_bytes = 100 };
	struct hwtd_trace *trace = mt_create_in(ctx);
	struct long_trace t;

	(void)long_trace_code(trace);
	long_trace_make(&t, &lo);
	assert_true(t.n_psbs > 150);
	/* Rows of several streams stay in their batch until they are read. */
	for (unsigned int i = 0; i < 2; i++)
		(void)mt_stream(trace, &t.packets, NULL);
	long_trace_free(&t);
	return (mt_seal(trace));
}

/* Rows stay as they are while others work on, also where memory is short. */
static void
rows_that_wait_are_not_written_over(void **state)
{
	struct fixture *x = *state;
	const struct hwtd_events_options o = { .size = sizeof(o),
		.level = HWTD_LEVEL_INSN,
		.jobs = 4 };
	const struct timespec while_others_work = { .tv_nsec = 5000000 };
	struct hwtd_trace *trace = make_many(x->ctx);
	struct hwtd_events *ev = mt_events(trace, &o);
	struct mt_rows whole = { 0 };

	mt_rows(trace, &o, &whole);
	for (unsigned int i = 0; i < 20; i++) {
		struct hwtd_event first;
		struct hwtd_batch b = { .size = sizeof(b),
			.events = &first,
			.stride = sizeof(first),
			.cap = 1 };
		int rc;

		/* Not to the end, where all is given up. */
		mt_assert_next(ev, &whole, 0, whole.n / 4);
		assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
		failing_allocator_arm(&x->f, 1, false);
		rc = hwtd_events_read(ev, &b, NULL);
		failing_allocator_arm(&x->f, 0, false);
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		if (rc == HWTD_OK) {
			(void)nanosleep(&while_others_work, NULL);
			mt_assert_next(ev, &whole, 1, 2000);
		}
		assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
	}
	mt_rows_free(&whole);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cursor_survives_the_failure_of_each_allocation),
		TEST(a_cursor_without_any_memory_gives_up),
		TEST(after_a_seek_that_failed_nothing_is_read_before_the_next),
		TEST(rows_that_wait_are_not_written_over),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
