/*
 * Profiles of parts of a trace, merged, are those of the whole: by stream, by
 * thread, and in counts of code by time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/profile_text.h"
#include "support/profile_trace.h"

#define STREAMS 4u

static struct hwtd_profile *
make_part(struct hwtd_trace *trace, const struct hwtd_events_options *o,
    bool with_calls)
{
	struct hwtd_profile *p = pa_create(trace, HWTD_PROFILE_THREADS);

	pa_runs(p, trace, HWTD_RUNS_EDGES, o);
	pa_events(p, trace, o);
	if (with_calls)
		pa_calls(p, trace, o);
	return (p);
}

/* From both ends, so that parts meet in the middle. */
static void
check_parts(struct hwtd_profile *whole, struct hwtd_profile **parts, size_t n,
    unsigned int without)
{
	for (size_t i = 1; i < (n + 1) / 2; i++) {
		assert_int_equal(hwtd_profile_merge(parts[0], parts[i], NULL),
		    HWTD_OK);
		hwtd_profile_destroy(parts[i]);
	}
	for (size_t i = n - 1; i-- > (n + 1) / 2;) {
		assert_int_equal(hwtd_profile_merge(parts[n - 1], parts[i],
				     NULL),
		    HWTD_OK);
		hwtd_profile_destroy(parts[i]);
	}
	assert_int_equal(hwtd_profile_merge(parts[n - 1], parts[0], NULL),
	    HWTD_OK);
	profile_assert_same(whole, parts[n - 1], without);
	hwtd_profile_destroy(parts[0]);
	hwtd_profile_destroy(parts[n - 1]);
	hwtd_profile_destroy(whole);
}

static void
parts_by_stream_are_the_whole(void **state)
{
	struct hwtd_trace *trace = pa_long(NULL, 70, STREAMS, 1500, false);
	struct hwtd_profile *parts[STREAMS];

	(void)state;
	for (uint32_t i = 0; i < STREAMS; i++) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.streams = &i,
			.n_streams = 1 };

		parts[i] = make_part(trace, &o, true);
	}
	check_parts(make_part(trace, NULL, true), parts, STREAMS,
	    PROFILE_TEXT_NO_SEEN);
	hwtd_trace_close(trace);
}

static void
parts_by_thread_are_the_whole(void **state)
{
	static const uint32_t tids[] = { 200, 201, 202, 101, 102, 103 };
	struct hwtd_trace *trace = pa_long(NULL, 70, STREAMS, 1500, true);
	struct hwtd_events_options all = { .size = sizeof(all),
		.tids = tids,
		.n_tids = 6 };
	struct hwtd_profile *parts[6];

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.tids = &tids[i],
			.n_tids = 1 };

		parts[i] = make_part(trace, &o, false);
	}
	/* Where a thread takes over, a branch leads to it or to nowhere. */
	check_parts(make_part(trace, &all, false), parts, 6,
	    PROFILE_TEXT_NO_SEEN | PROFILE_TEXT_NO_EDGES);
	hwtd_trace_close(trace);
}

static void
parts_by_time_are_the_whole_in_counts_of_code(void **state)
{
	struct hwtd_trace *trace = pa_long(NULL, 90, STREAMS, 1500, true);
	const struct hwtd_events_options all = { .size = sizeof(all),
		.times_ns = &(const struct hwtd_range){ 0, UINT64_MAX },
		.n_times = 1 };
	struct hwtd_profile *parts[7];
	uint64_t at = 0;

	(void)state;
	for (uint32_t i = 0; i < 7; i++) {
		const struct hwtd_range range = { at,
			i == 6 ? UINT64_MAX : at + 37 * (i + 1) * (i + 1) };
		const struct hwtd_events_options o = { .size = sizeof(o),
			.times_ns = &range,
			.n_times = 1 };

		at = range.end;
		parts[i] = make_part(trace, &o, false);
	}
	/* A branch at the end of a part leads to what is in the next one. */
	check_parts(make_part(trace, &all, false), parts, 7,
	    PROFILE_TEXT_NO_SEEN | PROFILE_TEXT_NO_EDGES);
	hwtd_trace_close(trace);
}

/* Which stacks there are depends on the cut, but not what all executed. */
static void
calls_of_parts_by_time_have_all_instructions(void **state)
{
	struct hwtd_trace *trace = pa_long(NULL, 90, STREAMS, 1500, true);
	struct hwtd_profile *parts = pa_create(trace, 0);
	struct hwtd_profile *whole = pa_create(trace, 0);
	struct hwtd_profile_info a = { .size = sizeof(a) };
	struct hwtd_profile_info b = { .size = sizeof(b) };
	uint64_t at = 0;

	(void)state;
	pa_calls(whole, trace, NULL);
	for (uint32_t i = 0; i < 5; i++) {
		const struct hwtd_range range = { at,
			i == 4 ? UINT64_MAX : at + 61 * (i + 1) * (i + 1) };
		const struct hwtd_events_options o = { .size = sizeof(o),
			.times_ns = &range,
			.n_times = 1 };

		at = range.end;
		pa_calls(parts, trace, &o);
	}
	assert_int_equal(hwtd_profile_info(whole, &a), HWTD_OK);
	assert_int_equal(hwtd_profile_info(parts, &b), HWTD_OK);
	assert_int_equal(a.total.insns, b.total.insns);
	hwtd_profile_destroy(parts);
	hwtd_profile_destroy(whole);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_by_stream_are_the_whole),
		cmocka_unit_test(parts_by_thread_are_the_whole),
		cmocka_unit_test(
		    parts_by_time_are_the_whole_in_counts_of_code),
		cmocka_unit_test(calls_of_parts_by_time_have_all_instructions),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
