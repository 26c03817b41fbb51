/*
 * Trace bundles of LLDB: the records of context switches beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/lldb_bundle.h"

#define SWITCH_OUT 0x2000u

/* Two turns round an indirect jump to itself at 0x1000. */
static void
put_turns(struct pt_packets *p)
{
	pt_mode_exec(p, 64);
	pt_pge(p, PT_IP_48, 0x1000);
	pt_tip(p, PT_IP_48, 0x1000);
	pt_tip(p, PT_IP_48, 0x1000);
	pt_pgd(p, PT_IP_NONE, 0);
}

/* Two threads of one CPU; `starts`: the start of the first is recorded. */
static void
two_threads(struct bundle_fixture *f, bool starts)
{
	static const uint8_t jump[] = { 0xff, 0xe0 };
	static const uint8_t nop_jump[] = { 0x90, 0xff, 0xe0 };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct mt_rows rows = { 0 };
	unsigned int n_first = 0, n_second = 0;
	uint8_t switches[256];
	size_t n = 0;

	bundle_put_module(f, "first", jump, sizeof(jump));
	bundle_put_module(f, "second", nop_jump, sizeof(nop_jump));
	pt_psb(&p);
	pt_tsc(&p, 1000);
	pt_psbend(&p);
	put_turns(&p);
	pt_tsc(&p, 2000);
	put_turns(&p);
	bundle_put(f, "cpu", p.bytes, p.n);
	pt_free(&p);
	/* Their clock is 16 ns ahead of the counter. */
	if (starts)
		n += bundle_put_switch(switches + n, 12, 0, 10, 11, 900);
	n += bundle_put_switch(switches + n, 15, SWITCH_OUT, 10, 11, 1500);
	n += bundle_put_switch(switches + n, 14, 0, 20, 21, 2015);
	n += bundle_put_switch(switches + n, 14, SWITCH_OUT | 0x4000, 20, 21,
	    3000);
	bundle_put(f, "switches", switches, n);
	trace = bundle_must_open(f,
	    BUNDLE(CLOCK
		",\"cpus\":[{\"id\":3,\"iptTrace\":\"cpu\","
		"\"contextSwitchTrace\":\"switches\"}],"
		"\"processes\":[{\"pid\":10,\"threads\":[{\"tid\":11,"
		"\"iptTrace\":\"not read\"}],\"modules\":[{"
		"\"systemPath\":\"first\",\"loadAddress\":4096}]},"
		"{\"pid\":20,\"threads\":[],\"modules\":[{"
		"\"systemPath\":\"second\",\"loadAddress\":4096}]}]"));
	assert_int_equal(bundle_stream_at(trace, 0).cpu, 3);
	assert_int_equal(bundle_stream_at(trace, 0).tid, HWTD_NO_ID);
	mt_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_event *row = &rows.at[i].row;
		struct hwtd_exec_context who = { .size = sizeof(who) };
		struct hwtd_section code = { .size = sizeof(code) };
		bool first;

		if (row->kind != HWTD_EV_BLOCK)
			continue;
		assert_int_equal(hwtd_trace_exec_context(trace, row->context,
				     &who),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_section(trace, row->section,
				     &code),
		    HWTD_OK);
		assert_true(row->flags & HWTD_EVF_TIME);
		assert_true(row->time_ns == 1016 || row->time_ns == 2016);
		first = row->time_ns == 1016;
		assert_int_equal(who.pid, first ? 10 : 20);
		assert_int_equal(who.tid, first ? 11 : 21);
		assert_int_equal(who.cpu, 3);
		assert_int_equal(row->insns, first ? 1 : 2);
		assert_non_null(strstr(code.path, first ? "first" : "second"));
		n_first += first;
		n_second += !first;
	}
	assert_true(n_first >= 2);
	assert_true(n_second >= 2);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
threads_of_one_cpu_are_told_apart(void **state)
{
	two_threads(*state, true);
}

/* It ran when the trace began. */
static void
who_is_switched_out_first_ran_before(void **state)
{
	two_threads(*state, false);
}

static void
switch_records_are_taken_by_their_own_thread(void **state)
{
	static const uint8_t other[16] = { 2, 0, 0, 0, 0, 0, 16, 0 };
	struct bundle_fixture *f = *state;
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;
	struct hwtd_record r;
	uint8_t bytes[256];
	size_t n = 0;

	n += bundle_put_switch(bytes + n, 15, SWITCH_OUT, 0, 0, 5);
	memcpy(bytes + n, other, sizeof(other));
	n += sizeof(other);
	n += bundle_put_switch(bytes + n, 15, 0, 7, 8, UINT64_MAX - 1);
	bundle_put(f, "s", bytes, n);
	trace = bundle_must_open(f,
	    CPU_TRACE("\"cpus\":[{\"id\":0,\"iptTrace\":\"t\","
		      "\"contextSwitchTrace\":\"s\"}]"));
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(info.n_records, 2);
	r = bundle_record_at(trace, 0);
	assert_int_equal(r.type, HWTD_REC_SWITCH);
	assert_int_equal(r.flags & ~HWTD_RECF_VALUE,
	    HWTD_RECF_TIME | HWTD_RECF_SWITCH_OUT);
	assert_int_equal(r.cpu, 0);
	assert_int_equal(r.pid, 0);
	assert_int_equal(r.tid, 0);
	assert_int_equal(r.time_ns, 5);
	r = bundle_record_at(trace, 1);
	assert_int_equal(r.flags, HWTD_RECF_TIME);
	assert_int_equal(r.pid, 7);
	assert_int_equal(r.tid, 8);
	assert_true(r.time_ns == UINT64_MAX - 1);
	hwtd_trace_close(trace);
}

static void
damaged_switch_records_are_refused_with_their_offset(void **state)
{
	static const struct {
		const char *name;
		/* Of the second record; `n` bytes of it are there. */
		uint8_t type, size;
		size_t n;
		const char *message;
	} cases[] = {
		{ "no whole header", 15, 32, 7,
		    "record at 32 7 bytes are no header" },
		{ "cut", 15, 32, 31,
		    "record at 32 of type 15 has 32 bytes; 31 are" },
		{ "size 0", 15, 0, 32, "at 32 of type 15 has 0 bytes" },
		{ "smaller than its header", 99, 7, 32,
		    "at 32 of type 99 has 7 bytes" },
		{ "without time", 15, 16, 32,
		    "8 bytes, less than 16 of a sample id" },
		{ "of another size", 14, 32, 32, "32 bytes, not 24" },
	};
	struct bundle_fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace = NULL;
		uint8_t bytes[64] = { 0 };
		int rc;

		print_message("case %s\n", cases[i].name);
		(void)bundle_put_switch(bytes, 15, 0, 1, 1, 1);
		bytes[32] = cases[i].type;
		bytes[38] = cases[i].size;
		bundle_put(f, "s", bytes, 32 + cases[i].n);
		rc = bundle_try_open(f,
		    CPU_TRACE("\"cpus\":[{\"id\":0,\"iptTrace\":\"t\","
			      "\"contextSwitchTrace\":\"s\"}]"),
		    NULL, &trace);
		assert_int_equal(rc, HWTD_E_CORRUPT);
		assert_int_equal(f->err.offset, 32);
		if (strstr(f->err.message, cases[i].message) == NULL ||
		    strstr(f->err.message,
			": cpus[0].contextSwitchTrace: s: ") == NULL)
			fail_msg("%s", f->err.message);
	}
}

int
main(void)
{
#define TEST(name)                                                            \
	cmocka_unit_test_setup_teardown(name, bundle_set_up, bundle_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(threads_of_one_cpu_are_told_apart),
		TEST(who_is_switched_out_first_ran_before),
		TEST(switch_records_are_taken_by_their_own_thread),
		TEST(damaged_switch_records_are_refused_with_their_offset),
	};
#undef TEST

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
