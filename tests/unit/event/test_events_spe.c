/*
 * Samples of Arm SPE as rows: in time, with what is damaged as gaps, and the same
 * in segments of any size and with several jobs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/slot_size.h"
#include "support/spe_bytes.h"

#define SLOTS 1000

static void
fill(uint8_t *bytes, size_t n_slots)
{
	for (size_t i = 0; i < n_slots; i++)
		spe_slot(bytes + i * SPE_SLOT, 0x400000 + 4 * i, 1000 + 5 * i);
}

static void
a_sample_is_a_row_with_the_whole_record(void **state)
{
	uint8_t bytes[3 * SPE_SLOT];
	struct hwtd_trace *trace;
	struct mt_rows rows = { 0 };

	(void)state;
	fill(bytes, 3);
	/* The last one is a branch that is taken, the one before is not. */
	for (size_t i = 1; i < 3; i++) {
		uint8_t *slot = bytes + i * SPE_SLOT;

		slot[19] = 0x4a;
		slot[20] = 0x01;
		slot[22] = i == 1 ? 0x42 : 0x02;
		slot[30] = 0xb1;
		memset(slot + 39, 0, 14);
	}
	trace = mt_seal(spe_trace(3, bytes, sizeof(bytes)));
	mt_rows(trace, NULL, &rows);
	assert_int_equal(rows.n, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct hwtd_event *row = &rows.at[i].row;
		const struct hwtd_sample *s = &rows.at[i].detail.sample;

		assert_int_equal(row->kind, HWTD_EV_SAMPLE);
		assert_int_equal(row->ip, 0x400000 + 4 * i);
		assert_int_equal(row->time_ns, 1000 + 20 * i);
		assert_int_equal(row->stream_off, 64 * (i + 1));
		assert_true((row->flags & HWTD_EVF_VALUE) != 0);
		assert_int_equal(s->pc, row->ip);
		assert_int_equal(s->count, 1000 + 5 * i);
		assert_int_equal(s->stream_off, 64 * i);
		assert_int_equal(s->bytes, 64);
		assert_int_equal((row->flags & HWTD_EVF_TAKEN) != 0, i == 2);
		assert_int_equal((row->flags & HWTD_EVF_TARGET) != 0, i == 2);
		assert_int_equal(row->branch,
		    i == 0 ? HWTD_BRANCH_NONE : HWTD_BRANCH_CONDITIONAL);
	}
	assert_int_equal(rows.at[0].detail.sample.va, 0x2040);
	assert_string_equal(hwtd_sample_source_name(0x413fd0c1,
				rows.at[0].detail.sample.source),
	    "l2");
	assert_string_equal(hwtd_sample_event_name(0, 0, 1), "retired");
	assert_string_equal(hwtd_op_name(rows.at[0].detail.sample.op),
	    "general");
	assert_int_equal(rows.at[2].row.target, 0x2040);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

/* Of a branch at `pc` that does not say if it is a call or a return. */
static void
branch_slot(uint8_t *slot, uint64_t pc, uint8_t op, uint64_t count)
{
	spe_slot(slot, pc, count);
	slot[19] = 0x4a;
	slot[20] = op;
	slot[22] = 0x02;
	slot[30] = 0xb1;
	memset(slot + 39, 0, 14);
}

#define INDIRECT 0x02

static void
what_a_branch_is_its_instruction_tells(void **state)
{
	static const struct {
		uint32_t word;
		uint8_t op;
		uint8_t branch;
	} cases[] = {
		/* B, BL, BR x1, BLR x1, RET, ERET. */
		{ 0x14000004, 0, HWTD_BRANCH_JUMP },
		{ 0x94000004, 0, HWTD_BRANCH_CALL },
		{ 0xd61f0020, INDIRECT, HWTD_BRANCH_INDIRECT_JUMP },
		{ 0xd63f0020, INDIRECT, HWTD_BRANCH_INDIRECT_CALL },
		{ 0xd65f03c0, INDIRECT, HWTD_BRANCH_RETURN },
		{ 0xd69f03e0, INDIRECT, HWTD_BRANCH_FAR_RETURN },
		/* Other code is there than ran. */
		{ 0xd65f03c0, 0, HWTD_BRANCH_NONE },
		{ 0x94000004, INDIRECT, HWTD_BRANCH_NONE },
		{ 0xd503201f, 0, HWTD_BRANCH_NONE },
		{ 0x54000040, 0, HWTD_BRANCH_NONE },
		/* A condition and a return are told: nobody asks. */
		{ 0xd503201f, 0x01, HWTD_BRANCH_CONDITIONAL },
		{ 0xd503201f, 0x10 | INDIRECT, HWTD_BRANCH_RETURN },
	};
	enum {
		N = sizeof(cases) / sizeof(cases[0])
	};
	uint8_t bytes[2 * N * SPE_SLOT], code[4 * N];
	struct mt_rows rows = { 0 };
	struct hwtd_trace *trace;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		for (unsigned int k = 0; k < 4; k++)
			code[4 * i + k] = (uint8_t)(cases[i].word >> 8 * k);
		/* Twice: what is found is remembered. */
		branch_slot(bytes + i * SPE_SLOT, 0x400000 + 4 * i,
		    cases[i].op, 1000 + i);
		branch_slot(bytes + (N + i) * SPE_SLOT, 0x400000 + 4 * i,
		    cases[i].op, 2000 + i);
	}
	trace = spe_trace(3, bytes, sizeof(bytes));
	(void)mt_code(trace, 0x400000, code, sizeof(code));
	mt_seal(trace);
	mt_rows(trace, NULL, &rows);
	assert_int_equal(rows.n, 2 * N);
	for (size_t i = 0; i < 2 * N; i++)
		assert_int_equal(rows.at[i].row.branch, cases[i % N].branch);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
	/* Without code. */
	trace = mt_seal(spe_trace(3, bytes, sizeof(bytes)));
	mt_rows(trace, NULL, &rows);
	assert_int_equal(rows.n, 2 * N);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(rows.at[i].row.branch,
		    (cases[i].op & ~INDIRECT) != 0 ? cases[i].branch
						   : HWTD_BRANCH_NONE);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
damage_is_a_gap_of_its_record(void **state)
{
	uint8_t bytes[10 * SPE_SLOT];
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_trace *trace;
	struct hwtd_events *ev;
	struct mt_rows rows = { 0 };

	(void)state;
	fill(bytes, 10);
	bytes[5 * SPE_SLOT + 53] = 0x30;
	bytes[5 * SPE_SLOT + 54] = 0x30;
	/* And the last one is cut off. */
	trace = mt_seal(spe_trace(3, bytes, sizeof(bytes) - 12));
	ev = mt_events(trace, NULL);
	mt_read(ev, 4, &rows);
	assert_int_equal(hwtd_events_stats(ev, &stats), HWTD_OK);
	assert_int_equal(rows.n, 12);
	assert_int_equal(rows.at[5].row.kind, HWTD_EV_GAP);
	assert_int_equal(rows.at[5].detail.gap.reason, HWTD_GAP_BAD_PACKET);
	assert_int_equal(rows.at[5].detail.gap.first, 5 * SPE_SLOT);
	assert_int_equal(rows.at[5].detail.gap.end, 6 * SPE_SLOT);
	/* What is there of it is told. */
	assert_int_equal(rows.at[6].row.kind, HWTD_EV_SAMPLE);
	assert_int_equal(rows.at[6].row.ip, 0x400014);
	assert_int_equal(rows.at[6].detail.sample.flags, HWTD_SAMPLEF_DAMAGED);
	assert_int_equal(rows.at[10].row.kind, HWTD_EV_GAP);
	assert_int_equal(rows.at[10].detail.gap.reason, HWTD_GAP_TRUNCATED);
	assert_int_equal(rows.at[10].detail.gap.first, 9 * SPE_SLOT);
	assert_int_equal(rows.at[11].detail.sample.flags,
	    HWTD_SAMPLEF_TRUNCATED);
	assert_int_equal(stats.bytes, sizeof(bytes) - 12);
	assert_int_equal(stats.gap_bytes, 64 + 52);
	assert_int_equal(stats.kinds[HWTD_EV_SAMPLE], 10);
	hwtd_events_close(ev);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
extents_are_not_glued(void **state)
{
	uint8_t bytes[4 * SPE_SLOT];
	struct hwtd_trace *trace;
	struct mt_rows rows = { 0 };
	size_t samples = 0;

	(void)state;
	fill(bytes, 4);
	trace = spe_trace(3, bytes, 2 * SPE_SLOT - 10);
	mt_extent(trace, 0, HWTD_EXTENT_NEW, bytes + 2 * SPE_SLOT,
	    2 * SPE_SLOT);
	mt_seal(trace);
	mt_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_sample *s = &rows.at[i].detail.sample;

		if (rows.at[i].row.kind != HWTD_EV_SAMPLE)
			continue;
		assert_int_equal(s->pc, 0x400000 + 4 * samples);
		assert_int_equal(s->flags,
		    samples == 1 ? HWTD_SAMPLEF_TRUNCATED : 0);
		samples++;
	}
	assert_int_equal(samples, 4);
	mt_rows_free(&rows);
	hwtd_trace_close(trace);
}

static void
segments_and_jobs_change_nothing(void **state)
{
	static const uint64_t sizes[] = { 100, 256, 1000, 4096, 0 };
	uint8_t *bytes = malloc((size_t)SLOTS * SPE_SLOT);
	struct mt_rows whole = { 0 }, got = { 0 };

	(void)state;
	assert_non_null(bytes);
	for (int damaged = 0; damaged < 2; damaged++) {
		fill(bytes, SLOTS);
		for (size_t i = 7; damaged && i < (size_t)SLOTS * SPE_SLOT;
		     i += 997)
			bytes[i] ^= 0x55;
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			const struct hwtd_events_options two = {
				.size = sizeof(two),
				.jobs = 2,
			};
			struct hwtd_trace *trace;

			slot_bytes = sizes[i];
			trace = mt_seal(spe_trace(3, bytes,
			    (size_t)SLOTS * SPE_SLOT));
			mt_rows(trace, NULL, &got);
			mt_rows(trace, &two, &whole);
			mt_assert_same(&whole, 0, &got);
			if (!damaged)
				assert_int_equal(got.n, SLOTS);
			mt_rows_free(&got);
			mt_rows_free(&whole);
			hwtd_trace_close(trace);
		}
	}
	slot_bytes = 0;
	free(bytes);
}

static void
a_stream_can_be_sought(void **state)
{
	uint8_t *bytes = malloc((size_t)SLOTS * SPE_SLOT);
	struct hwtd_trace *trace;
	struct hwtd_events *ev;
	struct mt_rows all = { 0 };

	(void)state;
	assert_non_null(bytes);
	fill(bytes, SLOTS);
	slot_bytes = 4096;
	trace = mt_seal(spe_trace(3, bytes, (size_t)SLOTS * SPE_SLOT));
	mt_rows(trace, NULL, &all);
	ev = mt_events(trace, NULL);
	for (size_t i = 1; i < SLOTS; i += 111) {
		assert_int_equal(hwtd_events_seek_ns(ev, 1000 + 20 * i, NULL),
		    HWTD_OK);
		mt_assert_next(ev, &all, i, 5);
		assert_int_equal(hwtd_events_seek_offset(ev, 0,
				     SPE_SLOT * (i + 1), NULL),
		    HWTD_OK);
		mt_assert_next(ev, &all, i, 5);
	}
	slot_bytes = 0;
	hwtd_events_close(ev);
	mt_rows_free(&all);
	hwtd_trace_close(trace);
	free(bytes);
}

/* A record of a Kunpeng 920, and what perf makes of its timestamp. */
static void
times_are_those_of_perf(void **state)
{
	static const uint8_t bytes[] = { 0xb0, 0x00, 0xe1, 0x20, 0x2a, 0xee,
		0xb7, 0xff, 0xc0, 0x99, 0x02, 0x00, 0x98, 0x03, 0x00, 0x52,
		0xc2, 0x00, 0x4a, 0x01, 0xb1, 0x04, 0xe1, 0x20, 0x2a, 0xee,
		0xb7, 0xff, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x71,
		0x3f, 0xe9, 0x51, 0xb9, 0xa9, 0x1c, 0x00, 0x00 };
	static const struct {
		struct hwtd_clock clock;
		uint64_t time_ns;
	} cases[] = {
		/* As it was recorded: 10 ns a count, from before time 0 on. */
		{ { 1, 10, 0, 0 - UINT64_C(213982967020), 0, 0 },
		    UINT64_C(314938859071370) },
		/* PERF_RECORD_TIME_CONV: 2^shift counts in mult ns from zero. */
		{ { 1 << 5, 321, 0, 12345, 0, 0 }, UINT64_C(316137694682104) },
		{ { 1 << 26, UINT64_C(2684354567), 0, 0 - UINT64_C(1000), 0,
		      0 },
		    UINT64_C(1260611371439860) },
		/*
		 * Of 48 bits, as far as one that is at 2^48: the timestamp is
		 * 31515284203839, and 2^48 behind.
		 */
		{ { 1, 10, 0, 0, UINT64_C(1) << 48, (UINT64_C(1) << 48) - 1 },
		    UINT64_C(3129902609144950) },
		/* One count ahead of it: it is of 2^48 counts later. */
		{ { 1, 10, 0, 0,
		      (UINT64_C(1) << 48) + UINT64_C(31515284203840),
		      (UINT64_C(1) << 48) - 1 },
		    UINT64_C(5944652376251510) },
		/* As long ago as can be: all bits are there. */
		{ { 1, 10, 0, 0, UINT64_C(31515284203839), UINT64_MAX },
		    UINT64_C(315152842038390) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace = mt_create();
		const struct hwtd_stream_desc desc = {
			.size = sizeof(desc),
			.tech = HWTD_TECH_SPE,
			.cpu = 30,
			.pid = HWTD_NO_ID,
			.tid = HWTD_NO_ID,
			.clock = cases[i].clock,
		};
		struct mt_rows rows = { 0 };
		uint32_t id;

		assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id,
				     NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_add_bytes(trace, id, bytes,
				     sizeof(bytes), NULL),
		    HWTD_OK);
		mt_rows(mt_seal(trace), NULL, &rows);
		assert_int_equal(rows.n, 1);
		assert_true((rows.at[0].row.flags & HWTD_EVF_TIME) != 0);
		assert_int_equal(rows.at[0].row.time_ns, cases[i].time_ns);
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
	}
}

/* A latency of 0xfff is at its limit where counters have 12 bits. */
static void
counters_saturate_by_their_size(void **state)
{
	static const uint32_t bits[] = { 0, 12, 16 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct hwtd_spe_config spe = { .size = sizeof(spe),
			.counter_bits = bits[i] };
		const struct hwtd_stream_desc desc = { .size = sizeof(desc),
			.tech = HWTD_TECH_SPE,
			.spe = &spe };
		struct hwtd_trace *trace = mt_create();
		struct mt_rows rows = { 0 };
		uint8_t slot[SPE_SLOT];
		uint32_t id;

		spe_slot(slot, 0x400000, 1000);
		slot[28] = 0xff;
		slot[29] = 0x0f;
		assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id,
				     NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_add_bytes(trace, id, slot,
				     sizeof(slot), NULL),
		    HWTD_OK);
		mt_rows(mt_seal(trace), NULL, &rows);
		assert_int_equal(rows.n, 1);
		assert_int_equal(rows.at[0].detail.sample.flags,
		    bits[i] == 16 ? 0 : HWTD_SAMPLEF_TOTAL_SATURATED);
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_is_a_row_with_the_whole_record),
		cmocka_unit_test(what_a_branch_is_its_instruction_tells),
		cmocka_unit_test(damage_is_a_gap_of_its_record),
		cmocka_unit_test(extents_are_not_glued),
		cmocka_unit_test(segments_and_jobs_change_nothing),
		cmocka_unit_test(a_stream_can_be_sought),
		cmocka_unit_test(times_are_those_of_perf),
		cmocka_unit_test(counters_saturate_by_their_size),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
