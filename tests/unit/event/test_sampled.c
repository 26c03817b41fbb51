/*
 * Who a sample is of: the ids in it, the records, the owner of the stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/mapped_trace.h"
#include "support/memory_trace.h"
#include "support/spe_bytes.h"

#define CPU 3
#define NOBODY HWTD_NO_ID

/* Two samples of the CPU; count 1000 is at 1000 ns. */
static struct hwtd_trace *
owned_trace_of(uint32_t pid, uint32_t tid, uint32_t el1, uint32_t el2,
    bool damaged, uint32_t owner)
{
	uint8_t bytes[2 * SPE_SLOT];
	struct hwtd_trace *trace = mt_create();
	const struct hwtd_spe_config config = { .size = sizeof(config),
		.owner = owner };
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.spe = &config,
		.tech = HWTD_TECH_SPE,
		.cpu = CPU,
		.pid = pid,
		.tid = tid,
		.clock = { 1, 1, 0, 0 },
	};
	uint32_t id;

	for (size_t i = 0; i < 2; i++) {
		spe_slot(bytes + i * SPE_SLOT, 0x400000, 1000 * (i + 1));
		hwtdi_put_le(bytes + i * SPE_SLOT + 10, el1, 4);
		hwtdi_put_le(bytes + i * SPE_SLOT + 15, el2, 4);
	}
	if (damaged)
		memset(bytes + 53, 0x30, 2);
	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, bytes, sizeof(bytes),
			     NULL),
	    HWTD_OK);
	return (trace);
}

static struct hwtd_trace *
trace_of(uint32_t pid, uint32_t tid, uint32_t el1, uint32_t el2, bool damaged)
{
	return (owned_trace_of(pid, tid, el1, el2, damaged,
	    HWTD_SPE_OWNER_UNKNOWN));
}

static void
add_switch(struct hwtd_trace *trace, uint32_t pid, uint32_t tid, uint64_t at)
{
	struct hwtd_record r = mr_record(HWTD_REC_SWITCH, pid, 0, 0);

	r.tid = tid;
	r.cpu = CPU;
	mr_time(&r, at);
	mr_add(trace, &r);
}

static void
add_thread(struct hwtd_trace *trace, uint32_t pid, uint32_t tid)
{
	struct hwtd_record r = mr_record(HWTD_REC_THREAD_CREATE, pid, 0, 0);

	r.tid = tid;
	mr_add(trace, &r);
}

/* The first whole sample is of this thread.  Closes the trace. */
static void
assert_is_of(struct hwtd_trace *trace, size_t which, uint32_t pid,
    uint32_t tid)
{
	struct hwtd_exec_context who = { .size = sizeof(who) };
	struct mt_rows rows = { 0 };
	size_t k = 0;

	mt_seal(trace);
	mt_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		if (rows.at[i].row.kind != HWTD_EV_SAMPLE || k++ != which)
			continue;
		assert_int_equal(hwtd_trace_exec_context(trace,
				     rows.at[i].row.context, &who),
		    HWTD_OK);
		assert_int_equal(who.pid, pid);
		assert_int_equal(who.tid, tid);
		assert_int_equal(who.cpu, CPU);
	}
	assert_true(k > which);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
the_id_in_the_sample_is_the_thread(void **state)
{
	(void)state;
	assert_is_of(trace_of(NOBODY, NOBODY, 52, 18, false), 0, NOBODY, 18);
	assert_is_of(trace_of(NOBODY, NOBODY, 52, 0, false), 0, NOBODY, 52);
	assert_is_of(trace_of(7, NOBODY, 52, 0, false), 0, 7, 52);
	/* Also where the stream is of another one, whose child it may be. */
	assert_is_of(trace_of(7, 70, 52, 0, false), 0, NOBODY, 52);
}

static void
zero_says_nothing(void **state)
{
	(void)state;
	assert_is_of(trace_of(7, 70, 0, 0, false), 0, 7, 70);
	assert_is_of(trace_of(NOBODY, NOBODY, 0, 0, false), 0, NOBODY, NOBODY);
}

static void
the_id_of_the_process_names_no_thread(void **state)
{
	(void)state;
	assert_is_of(trace_of(7, 70, 7, 0, false), 0, 7, 70);
}

static void
streams_say_whose_ids_they_are(void **state)
{
	struct hwtd_trace *trace;

	(void)state;
	/* A process: nothing tells which of its threads, unless records do. */
	assert_is_of(owned_trace_of(7, 70, 52, 0, false,
			 HWTD_SPE_OWNER_PROCESS),
	    0, 52, NOBODY);
	assert_is_of(owned_trace_of(7, 70, 7, 0, false,
			 HWTD_SPE_OWNER_PROCESS),
	    0, 7, 70);
	trace = owned_trace_of(NOBODY, NOBODY, 9, 0, false,
	    HWTD_SPE_OWNER_PROCESS);
	add_switch(trace, 9, 200, 500);
	assert_is_of(trace, 0, 9, 200);
	/* The number of a CPU says nothing of threads. */
	trace = owned_trace_of(NOBODY, NOBODY, CPU, 0, false,
	    HWTD_SPE_OWNER_CPU);
	assert_is_of(trace, 0, NOBODY, NOBODY);
	assert_is_of(owned_trace_of(7, 70, CPU, 0, false, HWTD_SPE_OWNER_CPU),
	    0, 7, 70);
	assert_is_of(owned_trace_of(7, 70, 52, 0, false,
			 HWTD_SPE_OWNER_THREAD),
	    0, NOBODY, 52);
}

static void
damage_leaves_the_owner(void **state)
{
	(void)state;
	assert_is_of(trace_of(7, 70, 52, 18, true), 0, 7, 70);
	assert_is_of(trace_of(7, 70, 70, 0, true), 1, 7, 70);
}

static void
records_come_before_ids_that_they_do_not_know(void **state)
{
	struct hwtd_trace *trace;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		trace = trace_of(NOBODY, NOBODY, 52, 18, false);
		add_switch(trace, 1, 200, 500);
		add_switch(trace, 2, 201, 1500);
		assert_is_of(trace, i, i == 0 ? 1 : 2, i == 0 ? 200 : 201);
	}
}

static void
an_id_that_records_know_is_the_thread(void **state)
{
	struct hwtd_trace *trace = trace_of(NOBODY, NOBODY, 52, 18, false);

	(void)state;
	add_switch(trace, 1, 200, 500);
	add_thread(trace, 5, 52);
	assert_is_of(trace, 0, 5, 52);
	/* A thread that only ran somewhere is known, too. */
	trace = trace_of(NOBODY, NOBODY, 201, 0, false);
	add_switch(trace, 1, 200, 500);
	add_switch(trace, HWTD_NO_ID, 201, 5000);
	assert_is_of(trace, 0, NOBODY, 201);
}

/* Two threads by turns, now and then none: in bytes, and in rows of any cursor. */
static struct hwtd_trace *
trace_by_turns(size_t n, bool timed)
{
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = CPU,
		.pid = 7,
		.tid = 70,
		.clock = { timed, timed, 0, 0 },
	};
	struct hwtd_trace *trace = mt_create();
	uint32_t id;

	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	for (size_t i = 0; i < n; i++) {
		uint8_t bytes[SPE_SLOT];

		spe_slot(bytes, 0x400000, 1000 * (i + 1));
		hwtdi_put_le(bytes + 10, i % 7 == 0 ? 0 : 51 + i % 2, 4);
		hwtdi_put_le(bytes + 15, 0, 4);
		assert_int_equal(hwtd_trace_add_bytes(trace, id, bytes,
				     sizeof(bytes), NULL),
		    HWTD_OK);
	}
	return (mt_seal(trace));
}

static void
each_sample_has_its_own_thread(void **state)
{
	enum {
		SAMPLES = 700
	};

	(void)state;
	for (uint32_t way = 0; way < 8; way++) {
		struct hwtd_trace *trace = trace_by_turns(SAMPLES,
		    (way & 1) != 0);
		const struct hwtd_events_options o = {
			.size = sizeof(o),
			.kinds = (way & 2) != 0 ? 1u << HWTD_EV_SAMPLE : 0,
			.jobs = (way & 4) != 0 ? 2 : 1,
		};
		struct mt_rows rows = { 0 };

		mt_rows(trace, &o, &rows);
		assert_int_equal(rows.n, SAMPLES);
		for (size_t i = 0; i < rows.n; i++) {
			struct hwtd_exec_context who = { .size = sizeof(who) };

			assert_int_equal(hwtd_trace_exec_context(trace,
					     rows.at[i].row.context, &who),
			    HWTD_OK);
			assert_int_equal(who.tid,
			    i % 7 == 0 ? 70 : 51 + i % 2);
			assert_int_equal(who.cpu, CPU);
		}
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
	}
}

static void
filters_ask_for_the_thread_of_the_sample(void **state)
{
	const uint32_t wanted = 52, other = 53;
	struct hwtd_events_options o = { .size = sizeof(o), .n_tids = 1 };
	struct hwtd_trace *trace = mt_seal(trace_of(NOBODY, NOBODY, 52, 0,
	    false));
	struct mt_rows rows = { 0 };

	(void)state;
	o.tids = &wanted;
	mt_rows(trace, &o, &rows);
	assert_int_equal(rows.n, 2);
	mt_rows_free(&rows);
	o.tids = &other;
	mt_rows(trace, &o, &rows);
	assert_int_equal(rows.n, 0);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_id_in_the_sample_is_the_thread),
		cmocka_unit_test(zero_says_nothing),
		cmocka_unit_test(the_id_of_the_process_names_no_thread),
		cmocka_unit_test(streams_say_whose_ids_they_are),
		cmocka_unit_test(damage_leaves_the_owner),
		cmocka_unit_test(
		    records_come_before_ids_that_they_do_not_know),
		cmocka_unit_test(an_id_that_records_know_is_the_thread),
		cmocka_unit_test(each_sample_has_its_own_thread),
		cmocka_unit_test(filters_ask_for_the_thread_of_the_sample),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
