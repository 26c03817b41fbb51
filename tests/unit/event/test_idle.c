/*
 * Decoders that wait with a trace: who gets which, how many wait, and when they
 * are closed.  The engine is one of the test's, which only counts.
 *
 * Linked with --wrap=hwtdi_graph_is_full, so that a graph can be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "event/idle.h"
#include "support/memory_trace.h"

struct hwtdi_decoder {
	struct hwtd_context *library;
	/* Its number, and what it was opened or bound with last. */
	unsigned int no;
	uint64_t near_count;
	bool runs;
};

static unsigned int n_opened, n_closed;
static size_t bytes_of_each;
static bool fails, refuses, full;

bool __wrap_hwtdi_graph_is_full(const struct hwtdi_code_graph *graph);

bool
__wrap_hwtdi_graph_is_full(const struct hwtdi_code_graph *graph)
{
	(void)graph;
	return (full);
}

static int
fake_open(const struct hwtdi_decoder_args *args, struct hwtdi_decoder **out,
    struct hwtd_error *err)
{
	struct hwtdi_decoder *d;

	assert_non_null(args->graph);
	if (fails)
		return (hwtdi_fail_nomem(err, 1));
	d = hwtdi_zalloc(args->library, sizeof(*d));
	assert_non_null(d);
	d->library = args->library;
	d->no = n_opened++;
	d->near_count = args->near_count;
	d->runs = args->runs;
	*out = d;
	return (HWTD_OK);
}

static void
fake_close(struct hwtdi_decoder *d)
{
	n_closed++;
	hwtdi_free(d->library, d, sizeof(*d));
}

static size_t
fake_rest(struct hwtdi_decoder *d)
{
	d->near_count = 0;
	return (bytes_of_each);
}

static bool
fake_rebind(struct hwtdi_decoder *d, const struct hwtdi_decoder_args *args)
{
	assert_int_equal(d->runs, args->runs);
	if (refuses)
		return (false);
	d->near_count = args->near_count;
	return (true);
}

static const struct hwtdi_engine engine = { .name = "fake",
	.open = fake_open,
	.close = fake_close,
	.rest = fake_rest,
	.rebind = fake_rebind };
static const struct hwtdi_engine other = { .name = "other",
	.open = fake_open,
	.close = fake_close };

static struct hwtd_trace *
begin(uint64_t max_memory)
{
	const struct hwtd_context_options o = { .size = sizeof(o),
		.max_memory = max_memory };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	n_opened = 0;
	n_closed = 0;
	bytes_of_each = 1000;
	fails = false;
	refuses = false;
	full = false;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	trace = mt_seal(mt_create_in(ctx));
	hwtd_context_destroy(ctx);
	return (trace);
}

static struct hwtdi_decoder_use
take(struct hwtd_trace *trace, const struct hwtdi_engine *e, uint32_t stream,
    bool runs)
{
	struct hwtdi_decoder_use use = { .engine = e, .stream = stream };
	struct hwtdi_decoder_args args;

	memset(&args, 0, sizeof(args));
	args.library = hwtdi_trace_library(trace);
	args.runs = runs;
	args.near_count = 7 + stream;
	assert_int_equal(hwtdi_idle_take(trace, &args, &use, NULL), HWTD_OK);
	assert_int_equal(use.decoder->near_count, 7 + stream);
	assert_int_equal(use.decoder->runs, runs);
	return (use);
}

/* Have decoders of streams 0 to n - 1 at the same time, and give them back. */
static void
use_several(struct hwtd_trace *trace, unsigned int n)
{
	struct hwtdi_decoder_use uses[8];

	for (unsigned int i = 0; i < n; i++)
		uses[i] = take(trace, &engine, i, false);
	for (unsigned int i = 0; i < n; i++) {
		hwtdi_idle_give(trace, &uses[i]);
		assert_null(uses[i].decoder);
		assert_null(uses[i].graph);
	}
}

static void
that_of_the_same_stream_is_taken_first(void **state)
{
	struct hwtd_trace *trace = begin(0);
	struct hwtdi_decoder_use a, b, c;

	(void)state;
	use_several(trace, 3);
	a = take(trace, &engine, 1, false);
	assert_int_equal(a.decoder->no, 1);
	/* Of none: that which came last. */
	b = take(trace, &engine, 9, false);
	assert_int_equal(b.decoder->no, 2);
	c = take(trace, &engine, 2, false);
	assert_int_equal(c.decoder->no, 0);
	assert_int_equal(n_opened, 3);
	hwtdi_idle_give(trace, &a);
	hwtdi_idle_give(trace, &b);
	hwtdi_idle_give(trace, &c);
	assert_int_equal(n_closed, 0);
	hwtd_trace_close(trace);
	assert_int_equal(n_closed, 3);
}

static void
what_does_not_suit_is_not_taken(void **state)
{
	struct hwtd_trace *trace = begin(0);
	struct hwtdi_decoder_use runs, another, refused;

	(void)state;
	use_several(trace, 1);
	runs = take(trace, &engine, 0, true);
	another = take(trace, &other, 0, false);
	refuses = true;
	refused = take(trace, &engine, 0, false);
	assert_int_equal(n_opened, 4);
	hwtdi_idle_give(trace, &runs);
	hwtdi_idle_give(trace, &refused);
	assert_int_equal(n_closed, 0);
	/* This engine has no way to wait. */
	hwtdi_idle_give(trace, &another);
	assert_int_equal(n_closed, 1);
	hwtd_trace_close(trace);
	assert_int_equal(n_closed, 4);
}

static void
few_wait_and_the_first_makes_way(void **state)
{
	struct hwtd_trace *trace = begin(0);
	struct hwtdi_decoder_use use;

	(void)state;
	use_several(trace, HWTDI_IDLE_MOST + 2);
	assert_int_equal(n_closed, 2);
	use = take(trace, &engine, 2, false);
	assert_int_equal(use.decoder->no, 2);
	hwtdi_idle_give(trace, &use);
	hwtd_trace_close(trace);
	assert_int_equal(n_closed, HWTDI_IDLE_MOST + 2);
}

static void
their_bytes_are_bounded(void **state)
{
	struct hwtd_trace *trace = begin(0);

	(void)state;
	bytes_of_each = HWTDI_IDLE_BYTES / 2;
	use_several(trace, 3);
	assert_int_equal(n_closed, 1);
	bytes_of_each = HWTDI_IDLE_BYTES + 1;
	use_several(trace, 1);
	assert_int_equal(n_closed, 2);
	hwtd_trace_close(trace);
	assert_int_equal(n_closed, n_opened);

	/* A part of the memory that is allowed. */
	trace = begin((uint64_t)64 << 20);
	bytes_of_each = ((uint64_t)64 << 20) / HWTDI_IDLE_SHARE;
	use_several(trace, 2);
	assert_int_equal(n_closed, 1);
	hwtd_trace_close(trace);
	assert_int_equal(n_closed, n_opened);
}

static void
where_memory_is_short_none_waits(void **state)
{
	const size_t half = (size_t)32 << 20;
	struct hwtd_trace *trace = begin(2 * half);
	struct hwtd_context *library = hwtdi_trace_library(trace);
	void *much;

	(void)state;
	use_several(trace, 3);
	assert_int_equal(n_closed, 0);
	much = hwtdi_alloc(library, half);
	assert_non_null(much);
	/* One is taken out; it is closed, and so are those that waited. */
	use_several(trace, 1);
	assert_int_equal(n_closed, 3);
	hwtdi_free(library, much, half);
	use_several(trace, 1);
	assert_int_equal(n_closed, 3);
	hwtd_trace_close(trace);
	assert_int_equal(n_closed, n_opened);
}

static void
a_full_graph_drops_them(void **state)
{
	struct hwtd_trace *trace = begin(0);
	struct hwtdi_decoder_use before, now;

	(void)state;
	use_several(trace, 2);
	before = take(trace, &engine, 0, false);
	full = true;
	now = take(trace, &engine, 1, false);
	full = false;
	/* What waited was closed; what is used stays, but waits no more. */
	assert_int_equal(n_closed, 1);
	assert_int_equal(n_opened, 3);
	assert_ptr_not_equal(now.graph, before.graph);
	hwtdi_idle_give(trace, &before);
	assert_int_equal(n_closed, 2);
	full = true;
	hwtdi_idle_give(trace, &now);
	assert_int_equal(n_closed, 3);
	hwtd_trace_close(trace);
}

static void
without_a_decoder_nothing_is_held(void **state)
{
	struct hwtd_trace *trace = begin(0);
	struct hwtdi_decoder_use use = { .engine = &engine };
	struct hwtdi_decoder_args args;

	(void)state;
	memset(&args, 0, sizeof(args));
	args.library = hwtdi_trace_library(trace);
	fails = true;
	assert_int_equal(hwtdi_idle_take(trace, &args, &use, NULL),
	    HWTD_E_NOMEM);
	assert_null(use.decoder);
	assert_null(use.graph);
	hwtdi_idle_give(trace, &use);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(that_of_the_same_stream_is_taken_first),
		cmocka_unit_test(what_does_not_suit_is_not_taken),
		cmocka_unit_test(few_wait_and_the_first_makes_way),
		cmocka_unit_test(their_bytes_are_bounded),
		cmocka_unit_test(where_memory_is_short_none_waits),
		cmocka_unit_test(a_full_graph_drops_them),
		cmocka_unit_test(without_a_decoder_nothing_is_held),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
