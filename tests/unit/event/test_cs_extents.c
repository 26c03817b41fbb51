/*
 * What does not adjoin does not mix: extents of sources and sinks, cut anywhere;
 * and one trace ID in two sinks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/cs_case.h"

static void
rows_of(struct hwtd_trace *trace, uint32_t stream, struct mt_rows *out)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.streams = &stream,
		.n_streams = 1 };

	memset(out, 0, sizeof(*out));
	mt_rows(trace, &opts, out);
}

/* As good as the same, that far behind in the stream. */
static void
assert_same_row(const struct mt_row *a, uint64_t skip, const struct mt_row *b)
{
	assert_int_equal(a->row.kind, b->row.kind);
	assert_int_equal(a->row.flags & ~HWTD_EVF_STATUS,
	    b->row.flags & ~HWTD_EVF_STATUS);
	assert_int_equal(a->row.ip, b->row.ip);
	assert_int_equal(a->row.target, b->row.target);
	assert_int_equal(a->row.insns, b->row.insns);
	assert_int_equal(a->row.stream_off + skip, b->row.stream_off);
	if (a->row.kind == HWTD_EV_MARKER)
		assert_int_equal(a->detail.marker.payload,
		    b->detail.marker.payload);
}

/* All but what goes on from one extent to the next: the context. */
static bool
is_kept(const struct mt_row *row)
{
	return (row->row.kind != HWTD_EV_CONTEXT);
}

static size_t
next_kept(const struct mt_rows *rows, size_t at)
{
	while (at < rows->n && !is_kept(&rows->at[at]))
		at++;
	return (at);
}

/* `both` is `first` and then `second`, `skip` bytes behind. */
static void
assert_joined(const struct mt_rows *first, const struct mt_rows *second,
    uint64_t skip, const struct mt_rows *both)
{
	size_t at = next_kept(both, 0);

	for (size_t i = next_kept(first, 0); i < first->n;
	     i = next_kept(first, i + 1)) {
		assert_true(at < both->n);
		assert_same_row(&first->at[i], 0, &both->at[at]);
		at = next_kept(both, at + 1);
	}
	for (size_t i = next_kept(second, 0); i < second->n;
	     i = next_kept(second, i + 1)) {
		assert_true(at < both->n);
		assert_same_row(&second->at[i], skip, &both->at[at]);
		at = next_kept(both, at + 1);
	}
	assert_int_equal(at, both->n);
}

static uint64_t
bytes_of(const struct hwtd_trace *trace, uint32_t stream)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	assert_int_equal(hwtd_trace_stream(trace, stream, &desc), HWTD_OK);
	return (desc.n_bytes);
}

/* The first `n` bytes of a case, and then all of it, in extents of their own. */
static void
check_cut(struct cs_case *c, size_t n)
{
	const size_t all = c->n;
	struct hwtd_trace *first, *second, *both;

	second = cs_case_trace(c, 0);
	both = cs_case_trace_cut(c, n);
	c->n = n;
	first = cs_case_trace(c, 0);
	c->n = all;
	for (uint32_t s = c->framing != HWTD_FRAMING_NONE;
	     s < c->n_sources + (c->framing != HWTD_FRAMING_NONE); s++) {
		struct mt_rows a, b, ab;

		rows_of(first, s, &a);
		rows_of(second, s, &b);
		rows_of(both, s, &ab);
		assert_joined(&a, &b, bytes_of(first, s), &ab);
		mt_rows_free(&a);
		mt_rows_free(&b);
		mt_rows_free(&ab);
	}
	hwtd_trace_close(first);
	hwtd_trace_close(second);
	hwtd_trace_close(both);
}

static void
extents_do_not_mix(void **state)
{
	static const char *const names[] = {
		"every-form-of-address-names-its-target",
		"atoms-of-every-format-are-branches-oldest-first",
		"returns-without-an-address-go-behind-their-call",
		"software-trace-has-master-and-channel",
		"instrumentation-ports-are-told-by-their-page",
		"three-sources-in-frames-are-told-apart",
		"synchronisation-of-a-trace-port-is-no-trace",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[1000];
		struct cs_case c;

		(void)snprintf(path, sizeof(path), TEST_FIXTURES "/cs-good/%s",
		    names[i]);
		cs_case_load(path, &c);
		for (size_t n = 1; n < c.n; n++) {
			print_message("%s: %zu bytes\n", names[i], n);
			check_cut(&c, n);
		}
		cs_case_free(&c);
	}
}

/* As trace IDs are given since Linux 6.11, to each sink its own. */
static void
one_trace_id_may_be_of_two_sinks(void **state)
{
	struct hwtd_trace *one, *other, *two;
	struct cs_case a, b;
	struct mt_rows want, got;

	(void)state;
	cs_case_load(TEST_FIXTURES
	    "/cs-good/three-sources-in-frames-are-told-apart",
	    &a);
	cs_case_load(TEST_FIXTURES
	    "/cs-bad/what-lies-behind-a-barrier-begins-anew",
	    &b);
	one = cs_case_trace(&a, 0);
	other = cs_case_trace(&b, 0);
	two = cs_case_two_sinks(&a, &b);
	for (uint32_t s = 1; s <= a.n_sources; s++) {
		rows_of(one, s, &want);
		rows_of(two, s, &got);
		assert_joined(&want, &(struct mt_rows){ 0 }, 0, &got);
		mt_rows_free(&want);
		mt_rows_free(&got);
	}
	for (uint32_t s = 1; s <= b.n_sources; s++) {
		rows_of(other, s, &want);
		rows_of(two, (uint32_t)(a.n_sources + 1 + s), &got);
		assert_true(want.n > 0);
		assert_joined(&want, &(struct mt_rows){ 0 }, 0, &got);
		mt_rows_free(&want);
		mt_rows_free(&got);
	}
	hwtd_trace_close(one);
	hwtd_trace_close(other);
	hwtd_trace_close(two);
	cs_case_free(&a);
	cs_case_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents_do_not_mix),
		cmocka_unit_test(one_trace_id_may_be_of_two_sinks),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
