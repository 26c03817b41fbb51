/*
 * Filters of cursors: each alone, some together, and what they never hide.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

/* 0: jne to itself; 2: nops; 8: jmp *%rax */
static const uint8_t code[] = { 0x75, 0xfe, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0xff, 0xe0 };

/*
 * Stream 0, CPU 0: times 100, 200.  Stream 1, CPU 1: 150, and a gap up to
 * 400.  Stream 2, CPU 2, no time.  Processes 10, 11, 11; threads 20, 21, 22.
 */
static void
stream_0(struct hwtd_trace *trace)
{
	static const struct hwtd_stream_desc desc = {
		.cpu = 0,
		.pid = 10,
		.tid = 20,
		.clock = { .counts_per = 1, .ns_per = 1 },
	};
	struct pt_packets p = { 0 };

	pt_psb(&p);
	pt_tsc(&p, 100);
	pt_fup(&p, PT_IP_48_SIGNED, BASE);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_tnt(&p, "T");
	pt_tsc(&p, 200);
	pt_tnt(&p, "TN");
	pt_fup(&p, PT_IP_16, BASE + 4);
	pt_pgd(&p, PT_IP_NONE, 0);
	assert_int_equal(mt_stream(trace, &p, &desc), 0);
	pt_free(&p);
}

static void
stream_1(struct hwtd_trace *trace)
{
	static const struct hwtd_stream_desc desc = {
		.cpu = 1,
		.pid = 11,
		.tid = 21,
		.clock = { .counts_per = 1, .ns_per = 1 },
	};
	static const uint8_t unknown[] = { 0x02, 0xff };
	struct pt_packets p = { 0 };

	pt_psb(&p);
	pt_tsc(&p, 150);
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 8);
	pt_mode_exec(&p, 64);
	pt_psbend(&p); /* 23 */
	pt_tip(&p, PT_IP_16, BASE); /* 26 */
	pt_tnt(&p, "T"); /* 27 */
	pt_raw(&p, unknown, sizeof(unknown));
	pt_psb(&p);
	pt_tsc(&p, 400);
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 4);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_fup(&p, PT_IP_16, BASE + 6);
	pt_pgd(&p, PT_IP_NONE, 0);
	assert_int_equal(mt_stream(trace, &p, &desc), 1);
	pt_free(&p);
}

static void
stream_2(struct hwtd_trace *trace)
{
	static const struct hwtd_stream_desc desc = {
		.cpu = 2,
		.pid = 11,
		.tid = 22,
	};
	struct pt_packets p = { 0 };

	pt_pad(&p, 1);
	pt_psb_plus(&p, BASE + 6, 64);
	pt_fup(&p, PT_IP_48_SIGNED, BASE + 7);
	pt_pgd(&p, PT_IP_NONE, 0);
	assert_int_equal(mt_stream(trace, &p, &desc), 2);
	pt_free(&p);
}

static int
setup(void **state)
{
	struct hwtd_trace *trace = mt_create();

	mt_code(trace, BASE, code, sizeof(code));
	stream_0(trace);
	stream_1(trace);
	stream_2(trace);
	*state = mt_seal(trace);
	return (0);
}

static int
teardown(void **state)
{
	hwtd_trace_close(*state);
	return (0);
}

#define S0_MODE "t=100 mode value=0 100000 status 64\n"
#define S0_JNE_1 "~t=100 block 100000 1/2 conditional ->100000 taken 64 sec0\n"
#define S0_JNE_2 "t=200 block 100000 1/2 conditional ->100000 taken 64 sec0\n"
#define S0_JNE_3 "~t=200 block 100000 1/2 conditional ->100002 64 sec0\n"
#define S0_NOPS "~t=200 block 100002 2/2 ->100004 64 sec0\n"
#define S0_OFF "~t=200 disable 100004 async\n"
#define S1_MODE "s1 t=150 mode value=0 100008 status 64\n"
#define S1_JMP                                                                \
	"s1 ~t=150 block 100008 1/2 indirect-jump ->100000 taken 64 sec0\n"
#define S1_JNE "s1 ~t=150 block 100000 1/2 conditional 64 sec0\n"
#define S1_GAP                                                                \
	"s1 ~t=150 gap bad-packet [27,29) before=100000 after=100004 "        \
	"from=150 to=400 @27\n"
#define S1_MODE_2 "s1 t=400 mode value=0 100004 status 64\n"
#define S1_NOPS "s1 ~t=400 block 100004 2/2 ->100006 64 sec0\n"
#define S1_OFF "s1 ~t=400 disable 100006 async\n"
#define S2_GAP "s2 gap unsynced [0,1) after=100006 @0\n"
#define S2_MODE "s2 mode value=0 100006 status 64\n"
#define S2_NOP "s2 block 100006 1/1 ->100007 64 sec0\n"
#define S2_OFF "s2 disable 100007 async\n"

#define S0 S0_MODE S0_JNE_1 S0_JNE_2 S0_JNE_3 S0_NOPS S0_OFF
#define S1 S1_MODE S1_JMP S1_JNE S1_GAP S1_MODE_2 S1_NOPS S1_OFF
#define S2 S2_GAP S2_MODE S2_NOP S2_OFF
#define ALL_ROWS                                                              \
	S0_MODE S0_JNE_1 S1_MODE S1_JMP S1_JNE S1_GAP S0_JNE_2 S0_JNE_3       \
	    S0_NOPS S0_OFF S1_MODE_2 S1_NOPS S1_OFF S2

#define BIT(kind) ((uint32_t)1 << (kind))

static const uint32_t n0[] = { 0 }, n1[] = { 1 }, n2[] = { 2 },
		      n02[] = { 2, 0 }, n10[] = { 10 }, n11[] = { 11 },
		      n20[] = { 20 }, n22_20[] = { 22, 20 }, n99[] = { 99 };
static const struct hwtd_range upto_150[] = { { 0, 150 } };
static const struct hwtd_range from_150[] = { { 150, 151 } };
static const struct hwtd_range late_and_early[] = { { 400, UINT64_MAX },
	{ 0, 101 } };
static const struct hwtd_range nothing[] = { { 150, 150 } };
static const struct hwtd_range first_insn[] = { { BASE, BASE + 2 } };
static const struct hwtd_range last_byte[] = { { BASE + 3, BASE + 4 } };
static const struct hwtd_range fourth[] = { { BASE + 4, BASE + 5 } };
static const struct hwtd_range ends[] = { { BASE + 9, BASE + 10 },
	{ 0, BASE + 1 } };
static const struct hwtd_range all_addresses[] = { { 0, UINT64_MAX } };

static const struct {
	const char *name;
	struct hwtd_events_options o;
	const char *want;
} cases[] = {
	{ "none", { 0 }, ALL_ROWS },
	{ "stream 0", { .streams = n0, .n_streams = 1 }, S0 },
	{ "stream 1", { .streams = n1, .n_streams = 1 }, S1 },
	{ "stream 2", { .streams = n2, .n_streams = 1 }, S2 },
	{ "streams 2 and 0", { .streams = n02, .n_streams = 2 }, S0 S2 },
	{ "cpu 1", { .cpus = n1, .n_cpus = 1 }, S1 },
	{ "cpus 2 and 0", { .cpus = n02, .n_cpus = 2 }, S0 S2 },
	{ "cpu 99", { .cpus = n99, .n_cpus = 1 }, "" },
	{ "cpu 1 of stream 0",
	    { .cpus = n1, .n_cpus = 1, .streams = n0, .n_streams = 1 }, "" },
	{ "pid 10", { .pids = n10, .n_pids = 1 }, S0 },
	{ "pid 11", { .pids = n11, .n_pids = 1 }, S1 S2 },
	{ "tid 20", { .tids = n20, .n_tids = 1 }, S0 },
	{ "tids 22 and 20", { .tids = n22_20, .n_tids = 2 }, S0 S2 },
	{ "tid 99", { .tids = n99, .n_tids = 1 }, "" },
	{ "pid 11, tids 22 and 20",
	    { .pids = n11, .n_pids = 1, .tids = n22_20, .n_tids = 2 }, S2 },
	{ "modes", { .kinds = BIT(HWTD_EV_MODE) },
	    S0_MODE S1_MODE S1_MODE_2 S2_MODE },
	{ "gaps and disables",
	    { .kinds = BIT(HWTD_EV_GAP) | BIT(HWTD_EV_DISABLE) },
	    S1_GAP S0_OFF S1_OFF S2_GAP S2_OFF },
	{ "a kind that does not come", { .kinds = BIT(HWTD_EV_SAMPLE) }, "" },
	{ "times below 150",
	    { .times_ns = upto_150,
		.n_times = 1,
		.kinds = BIT(HWTD_EV_BLOCK) | BIT(HWTD_EV_MODE) },
	    S0_MODE S0_JNE_1 },
	{ "time 150",
	    { .times_ns = from_150,
		.n_times = 1,
		.streams = n1,
		.n_streams = 1 },
	    S1_MODE S1_JMP S1_JNE S1_GAP },
	{ "two ranges of time",
	    { .times_ns = late_and_early,
		.n_times = 2,
		.kinds = BIT(HWTD_EV_BLOCK) },
	    S0_JNE_1 S1_NOPS },
	{ "no time at all",
	    { .times_ns = nothing, .n_times = 1, .kinds = BIT(HWTD_EV_BLOCK) },
	    "" },
	{ "an instruction",
	    { .addresses = first_insn,
		.n_addresses = 1,
		.kinds = BIT(HWTD_EV_BLOCK) },
	    S0_JNE_1 S1_JNE S0_JNE_2 S0_JNE_3 },
	{ "the last byte of a block",
	    { .addresses = last_byte,
		.n_addresses = 1,
		.kinds = BIT(HWTD_EV_BLOCK) },
	    S0_NOPS },
	{ "the byte behind a block",
	    { .addresses = fourth,
		.n_addresses = 1,
		.kinds = BIT(HWTD_EV_BLOCK) },
	    S1_NOPS },
	{ "two ranges of addresses",
	    { .addresses = ends,
		.n_addresses = 2,
		.kinds = BIT(HWTD_EV_BLOCK) },
	    S0_JNE_1 S1_JMP S1_JNE S0_JNE_2 S0_JNE_3 },
	{ "all addresses", { .addresses = all_addresses, .n_addresses = 1 },
	    ALL_ROWS },
	{ "kind, pid, time and address",
	    { .kinds = BIT(HWTD_EV_BLOCK),
		.pids = n10,
		.n_pids = 1,
		.times_ns = upto_150,
		.n_times = 1,
		.addresses = first_insn,
		.n_addresses = 1 },
	    S0_JNE_1 },
};

static void
every_filter_lets_through_what_it_names(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_events_options o = cases[i].o;

		print_message("%s\n", cases[i].name);
		o.size = sizeof(o);
		assert_rows(*state, &o, cases[i].want);
	}
}

static void
rows_are_filtered_alike_by_jobs(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_events_options o = cases[i].o;

		o.size = sizeof(o);
		o.jobs = 3;
		assert_rows(*state, &o, cases[i].want);
	}
}

static void
statistics_do_not_depend_on_filters_of_rows(void **state)
{
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct hwtd_stats want = { .size = sizeof(want) };
	struct mt_rows rows = { 0 };

	mt_read(ev, 100, &rows);
	assert_int_equal(hwtd_events_stats(ev, &want), HWTD_OK);
	hwtd_events_close(ev);
	assert_int_equal(want.insns, 1 + 1 + 1 + 2 + 1 + 1 + 2 + 1);
	assert_int_equal(want.blocks, 4 + 3 + 1);
	assert_int_equal(want.gap_bytes, 2 + 1);
	assert_int_equal(want.has_time, 1);
	assert_int_equal(want.first_ns, 100);
	assert_int_equal(want.last_ns, 400);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_events_options o = cases[i].o;
		struct hwtd_stats s = { .size = sizeof(s) };

		/* These choose streams; others are not read at all. */
		if (o.n_streams != 0 || o.n_cpus != 0)
			continue;
		o.size = sizeof(o);
		ev = mt_events(*state, &o);
		rows.n = 0;
		mt_read(ev, 3, &rows);
		assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
		assert_memory_equal(&s, &want, sizeof(s));
		hwtd_events_close(ev);
	}
	mt_rows_free(&rows);
}

/* Lost bytes may have held what is looked for. */
static void
gaps_without_time_are_not_hidden_by_times(void **state)
{
	struct hwtd_events_options o = {
		.size = sizeof(o),
		.times_ns = nothing,
		.n_times = 1,
		.streams = n2,
		.n_streams = 1,
	};

	assert_rows(*state, &o, S2_GAP);
}

static void
gaps_are_not_hidden_by_times_that_they_span(void **state)
{
	static const struct hwtd_range inside[] = { { 300, 310 } };
	struct hwtd_events_options o = {
		.size = sizeof(o),
		.times_ns = inside,
		.n_times = 1,
		.streams = n1,
		.n_streams = 1,
	};

	assert_rows(*state, &o, S1_GAP);
}

static void
gaps_are_not_hidden_by_addresses(void **state)
{
	static const struct hwtd_range elsewhere[] = { { 0x900000,
	    0x900001 } };
	struct hwtd_events_options o = {
		.size = sizeof(o),
		.addresses = elsewhere,
		.n_addresses = 1,
	};

	assert_rows(*state, &o, S1_GAP S2_GAP);
}

static void
a_strict_cursor_ends_at_a_gap_that_no_filter_shows(void **state)
{
	struct hwtd_events_options o = {
		.size = sizeof(o),
		.kinds = BIT(HWTD_EV_BLOCK),
		.flags = HWTD_DECODE_STRICT,
		.streams = n1,
		.n_streams = 1,
	};
	struct hwtd_events *ev = mt_events(*state, &o);
	struct hwtd_event rows[8];
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 8,
	};
	size_t n = 0;
	int rc;

	while ((rc = hwtd_events_read(ev, &b, NULL)) == HWTD_OK)
		n += b.n;
	assert_int_equal(rc, HWTD_E_CORRUPT);
	assert_int_equal(n, 2);
	hwtd_events_close(ev);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_filter_lets_through_what_it_names),
		TEST(rows_are_filtered_alike_by_jobs),
		TEST(statistics_do_not_depend_on_filters_of_rows),
		TEST(gaps_without_time_are_not_hidden_by_times),
		TEST(gaps_are_not_hidden_by_times_that_they_span),
		TEST(gaps_are_not_hidden_by_addresses),
		TEST(a_strict_cursor_ends_at_a_gap_that_no_filter_shows),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
