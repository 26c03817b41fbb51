/*
 * Floods of rows that nobody wants, clocks that leave the range of time, and gaps
 * before the first time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "support/memory_trace.h"
#include "support/pt_packets.h"

#define OVERFLOWS 400000

/* Every OVF makes a gap with a detail; 80 MB of them if they were kept. */
static void
filtered_rows_keep_no_details(void **state)
{
	struct hwtd_context_options limits = { .size = sizeof(limits),
		.max_memory = (uint64_t)16 << 20 };
	struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = 1u << HWTD_EV_ENABLE };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct pt_packets packets = { 0 };
	struct mt_rows rows = { 0 };
	struct hwtd_context *ctx;
	struct hwtd_events *ev;
	struct hwtd_trace *trace;

	(void)state;
	assert_int_equal(hwtd_context_create(&limits, &ctx, NULL), HWTD_OK);
	trace = mt_create_in(ctx);
	pt_psb(&packets);
	pt_psbend(&packets);
	for (int i = 0; i < OVERFLOWS; i++)
		pt_ovf(&packets);
	(void)mt_stream(trace, &packets, NULL);
	ev = mt_events(mt_seal(trace), &opts);
	mt_read(ev, 64, &rows);
	assert_int_equal(rows.n, 0);
	assert_int_equal(hwtd_events_stats(ev, &stats), HWTD_OK);
	assert_int_equal(stats.gaps[HWTD_GAP_OVERFLOW], OVERFLOWS);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	pt_free(&packets);
}

/* The rows to skip after a seek may be more than are hidden at a time. */
static void
a_seek_past_many_filtered_rows_ends(void **state)
{
	struct hwtd_events_options opts = { .size = sizeof(opts),
		.kinds = 1u << HWTD_EV_ENABLE };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct pt_packets packets = { 0 };
	struct mt_rows rows = { 0 };
	struct hwtd_events *ev;
	struct hwtd_trace *trace = mt_create();

	(void)state;
	pt_psb(&packets);
	pt_psbend(&packets);
	for (int i = 0; i < OVERFLOWS; i++)
		pt_ovf(&packets);
	(void)mt_stream(trace, &packets, NULL);
	ev = mt_events(mt_seal(trace), &opts);
	assert_int_equal(hwtd_events_seek_offset(ev, 0, packets.n, NULL),
	    HWTD_OK);
	mt_read(ev, 64, &rows);
	assert_int_equal(rows.n, 0);
	assert_int_equal(hwtd_events_stats(ev, &stats), HWTD_OK);
	assert_int_equal(stats.gaps[HWTD_GAP_OVERFLOW], OVERFLOWS);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	pt_free(&packets);
}

static void
times_out_of_range_are_the_end_of_time(void **state)
{
	static const struct {
		const char *name;
		struct hwtd_clock clock;
		uint64_t want;
	} cases[] = {
		{ "exact", { .counts_per = 3, .ns_per = 2 }, 6666 },
		{ "product", { .counts_per = 1, .ns_per = UINT64_MAX },
		    UINT64_MAX },
		{ "sum",
		    { .counts_per = 1,
			.ns_per = 1000000000000000,
			.base_ns = INT64_MAX },
		    UINT64_MAX },
		{ "base before time 0",
		    { .counts_per = 1,
			.ns_per = 1,
			.base_ns = UINT64_MAX - 5 },
		    9994 },
		{ "base and count before time 0",
		    { .counts_per = 2,
			.ns_per = 1,
			.base_ns = UINT64_MAX - 5000 },
		    0 },
		{ "before the base",
		    { .counts_per = 1,
			.ns_per = 1,
			.base_count = 10001,
			.base_ns = 7 },
		    6 },
		{ "before all time",
		    { .counts_per = 1,
			.ns_per = 9,
			.base_count = 10001,
			.base_ns = 7 },
		    0 },
	};
	static const uint8_t code[] = { 0x90, 0x90 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_stream_desc desc = { .size = sizeof(desc),
			.tech = HWTD_TECH_INTEL_PT,
			.cpu = HWTD_NO_ID,
			.pid = HWTD_NO_ID,
			.tid = HWTD_NO_ID,
			.clock = cases[i].clock };
		struct hwtd_trace *trace = mt_create();
		struct pt_packets packets = { 0 };
		struct mt_rows rows = { 0 };
		bool seen = false;

		print_message("case %s\n", cases[i].name);
		(void)mt_code(trace, 0x1000, code, sizeof(code));
		pt_psb(&packets);
		pt_tsc(&packets, 10000);
		pt_fup(&packets, PT_IP_48, 0x1000);
		pt_mode_exec(&packets, 64);
		pt_psbend(&packets);
		pt_fup(&packets, PT_IP_16, 0x1001);
		pt_pgd(&packets, PT_IP_NONE, 0);
		(void)mt_stream(trace, &packets, &desc);
		mt_rows(mt_seal(trace), NULL, &rows);
		for (size_t k = 0; k < rows.n; k++) {
			const struct hwtd_event *e = &rows.at[k].row;

			if (e->kind != HWTD_EV_BLOCK)
				continue;
			assert_true((e->flags & HWTD_EVF_TIME) != 0);
			assert_true(e->time_ns == cases[i].want);
			if (e->time_ns == UINT64_MAX)
				assert_true((e->flags &
						HWTD_EVF_TIME_ESTIMATED) != 0);
			seen = true;
		}
		assert_true(seen);
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
		pt_free(&packets);
	}
}

/*
 * Where a gap ends is told by the first time behind it, but rows between the
 * two have none.
 */
static void
a_gap_before_the_first_time_tells_no_time(void **state)
{
	/* nop; je to the nop. */
	static const uint8_t code[] = { 0x90, 0x74, 0xfd };
	static const struct {
		const char *name;
		bool on, again;
	} cases[] = {
		{ "at the start", false, false },
		{ "behind rows", true, false },
		{ "two of them", true, true },
	};
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace = mt_create();
		struct pt_packets packets = { 0 };
		struct mt_rows rows = { 0 };
		size_t gaps = 0, untimed = 0, timed = 0;
		uint64_t told_off, last_ns = 0;

		print_message("case %s\n", cases[i].name);
		(void)mt_code(trace, 0x1000, code, sizeof(code));
		pt_psb(&packets);
		if (cases[i].on)
			pt_fup(&packets, PT_IP_48, 0x1000);
		pt_mode_exec(&packets, 64);
		pt_psbend(&packets);
		if (cases[i].on)
			pt_tnt(&packets, "TT");
		pt_ovf(&packets);
		pt_fup(&packets, PT_IP_48, 0x1000);
		pt_tnt(&packets, "TTT");
		pt_tnt(&packets, "TT");
		if (cases[i].again) {
			pt_ovf(&packets);
			pt_fup(&packets, PT_IP_48, 0x1000);
			pt_tnt(&packets, "T");
		}
		told_off = packets.n;
		pt_tsc(&packets, 5000);
		pt_tnt(&packets, "TT");
		pt_tsc(&packets, 6000);
		pt_tnt(&packets, "TT");
		(void)mt_stream(trace, &packets, &desc);
		mt_rows(mt_seal(trace), NULL, &rows);
		for (size_t k = 0; k < rows.n; k++) {
			const struct hwtd_event *e = &rows.at[k].row;

			if (e->kind == HWTD_EV_GAP) {
				const struct hwtd_gap *gap = &rows.at[k]
								  .detail.gap;

				gaps++;
				assert_int_equal(gap->flags &
					(HWTD_GAPF_TIME_BEFORE |
					    HWTD_GAPF_TIME_AFTER),
				    HWTD_GAPF_TIME_AFTER);
				assert_int_equal(gap->time_after_ns, 5000);
			}
			if (e->stream_off <= told_off) {
				assert_int_equal(e->flags & HWTD_EVF_TIME, 0);
				untimed += e->kind == HWTD_EV_BLOCK;
				continue;
			}
			assert_int_not_equal(e->flags & HWTD_EVF_TIME, 0);
			if (e->kind != HWTD_EV_BLOCK)
				continue;
			timed++;
			last_ns = e->time_ns;
		}
		assert_int_equal(gaps, cases[i].again ? 2 : 1);
		assert_int_equal(untimed,
		    5 + (cases[i].on ? 2 : 0) + (cases[i].again ? 1 : 0));
		assert_true(timed >= 4);
		assert_int_equal(last_ns, 6000);
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
		pt_free(&packets);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filtered_rows_keep_no_details),
		cmocka_unit_test(a_seek_past_many_filtered_rows_ends),
		cmocka_unit_test(times_out_of_range_are_the_end_of_time),
		cmocka_unit_test(a_gap_before_the_first_time_tells_no_time),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
