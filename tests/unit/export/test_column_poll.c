/*
 * Streams that come back early go on where they were, and say why they failed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include <hwtdecode/hwtdecode.h>

#include "support/profile_trace.h"

#define INSNS 5000u
#define ROWS 4096u

struct asked {
	size_t n;
	/* One of so many answers stops. */
	size_t stop_of;
};

static int
poll_asked(void *arg)
{
	struct asked *asked = arg;

	return (++asked->n % asked->stop_of == 0);
}

static struct ArrowArrayStream
export_with(struct hwtd_trace *trace, struct asked *asked, uint32_t flags)
{
	static const char *const names[] = { "stream_off", "kind" };
	const struct hwtd_events_options events = {
		.size = sizeof(events),
		.level = HWTD_LEVEL_INSN,
		.flags = flags,
	};
	struct hwtd_export_options o = { .size = sizeof(o),
		.rows = ROWS,
		.names = names,
		.n_names = 2 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct ArrowArrayStream stream;
	struct hwtd_events *ev;

	if (asked != NULL) {
		o.poll = poll_asked;
		o.poll_arg = asked;
	}
	assert_int_equal(hwtd_events_open(trace, &events, &ev, &err), HWTD_OK);
	assert_int_equal(hwtd_events_export(ev, &o, &stream, &err), HWTD_OK);
	return (stream);
}

/* The next array of one that comes back early, and how often it did. */
static size_t
next_of(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	size_t n = 0;
	int rc = stream->get_next(stream, out);

	for (; rc == EINTR; n++) {
		assert_null(out->release);
		assert_string_equal(stream->get_last_error(stream),
		    "interrupted");
		rc = stream->get_next(stream, out);
	}
	assert_int_equal(rc, 0);
	return (n);
}

static void
a_stream_that_comes_back_early_has_the_same_arrays(void **state)
{
	struct hwtd_trace *trace = pa_long(NULL, 5, 2, INSNS, true);
	struct asked asked = { .stop_of = 2 };
	struct ArrowArrayStream whole = export_with(trace, NULL, 0);
	struct ArrowArrayStream early = export_with(trace, &asked, 0);
	struct ArrowArray a, b;
	size_t n_early = 0, n_arrays = 0;

	(void)state;
	hwtd_trace_close(trace);
	for (;; n_arrays++) {
		n_early += next_of(&early, &a);
		assert_int_equal(next_of(&whole, &b), 0);
		assert_int_equal(a.release == NULL, b.release == NULL);
		if (a.release == NULL)
			break;
		assert_int_equal(a.length, b.length);
		assert_memory_equal(a.children[0]->buffers[1],
		    b.children[0]->buffers[1],
		    (size_t)a.length * sizeof(uint64_t));
		assert_memory_equal(a.children[1]->buffers[1],
		    b.children[1]->buffers[1], (size_t)a.length);
		a.release(&a);
		b.release(&b);
	}
	assert_true(n_arrays > 1);
	assert_true(n_early > n_arrays);
	early.release(&early);
	whole.release(&whole);
}

static void
what_was_begun_is_given_back(void **state)
{
	struct hwtd_trace *trace = pa_long(NULL, 6, 1, INSNS, false);
	struct asked asked = { .stop_of = 1 };
	struct ArrowArrayStream stream = export_with(trace, &asked, 0);
	struct ArrowArray array;

	(void)state;
	hwtd_trace_close(trace);
	/* A sanitizer tells if half an array is still there. */
	assert_int_equal(stream.get_next(&stream, &array), EINTR);
	assert_int_equal(asked.n, 1);
	stream.release(&stream);
}

static void
a_failure_says_where_the_gap_is(void **state)
{
	struct hwtd_trace *trace = pa_long(NULL, 7, 1, INSNS, false);
	struct ArrowArrayStream stream = export_with(trace, NULL,
	    HWTD_DECODE_STRICT);
	struct ArrowArrayStream foreign = { .release = NULL };
	const struct hwtd_events_options o = { .size = sizeof(o),
		.kinds = 1u << HWTD_EV_GAP };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_event row;
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = &row,
		.stride = sizeof(row),
		.cap = 1 };
	struct hwtd_events *ev;
	struct ArrowArray array = { .length = 1 };
	int rc = 0;

	(void)state;
	assert_int_equal(hwtd_export_failure(&stream, &err), HWTD_END);
	assert_int_equal(hwtd_export_failure(&foreign, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_export_failure(NULL, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_export_failure(&stream, NULL), HWTD_E_INVALID);
	while (rc == 0) {
		rc = stream.get_next(&stream, &array);
		if (rc == 0)
			array.release(&array);
	}
	assert_int_equal(rc, EIO);
	assert_int_equal(hwtd_export_failure(&stream, &err), HWTD_OK);
	assert_int_equal(err.code, HWTD_E_CORRUPT);
	assert_string_equal(err.message, stream.get_last_error(&stream));
	stream.release(&stream);

	/* The first gap of a cursor that is not strict. */
	assert_int_equal(hwtd_events_open(trace, &o, &ev, NULL), HWTD_OK);
	do
		assert_int_equal(hwtd_events_read(ev, &batch, NULL), HWTD_OK);
	while (batch.n == 0);
	assert_int_equal(err.offset, batch.gaps[row.value].first);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_stream_that_comes_back_early_has_the_same_arrays),
		cmocka_unit_test(what_was_begun_is_given_back),
		cmocka_unit_test(a_failure_says_where_the_gap_is),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
