/*
 * Buffers of Arm SPE that nothing marks: found where time goes back, or another CPU
 * is told, and never glued.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/memory_trace.h"
#include "support/spe_bytes.h"

#define MOST_SLOTS 64

struct made {
	uint8_t bytes[MOST_SLOTS * SPE_SLOT];
	size_t n;
};

/* `n` records of a CPU, 10 counts from one to the next. */
static void
add(struct made *m, size_t n, uint64_t count, uint32_t cpu)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *slot = m->bytes + m->n;

		assert_true(m->n + SPE_SLOT <= sizeof(m->bytes));
		spe_slot(slot, 0x400000 + m->n, count + 10 * i);
		hwtdi_put_le(slot + 10, cpu, 4);
		m->n += SPE_SLOT;
	}
}

static void
assert_buffers(const struct made *m, uint32_t owner,
    const struct hwtd_buffer *want, size_t n_want)
{
	const struct hwtd_spe_config spe = { .size = sizeof(spe),
		.owner = owner };
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.spe = &spe };
	struct hwtd_buffer have[16];
	struct hwtd_trace *trace = mt_create();
	uint32_t id;
	size_t n = 0;

	assert_int_equal(hwtd_trace_add_stream(trace, &desc, &id, NULL),
	    HWTD_OK);
	mt_extent(trace, 0, HWTD_EXTENT_NEW, m->bytes, m->n);
	(void)mt_seal(trace);
	assert_int_equal(hwtd_spe_find_buffers(trace, 0, NULL, 0, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, n_want);
	assert_int_equal(hwtd_spe_find_buffers(trace, 0, have, 16, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, n_want);
	for (size_t i = 0; i < n; i++) {
		print_message("buffer %zu at %u\n", i,
		    (unsigned int)have[i].off);
		assert_int_equal(have[i].off, want[i].off);
		assert_int_equal(have[i].source, want[i].source);
		assert_int_equal(have[i].cpu, want[i].cpu);
	}
	hwtd_trace_close(trace);
}

static void
time_that_goes_back_begins_a_buffer(void **state)
{
	static const struct hwtd_buffer want[] = { { 0, 0, HWTD_NO_ID },
		{ 5 * 64, 1, HWTD_NO_ID }, { 8 * 64, 0, HWTD_NO_ID },
		{ 11 * 64, 1, HWTD_NO_ID }, { 14 * 64, 2, HWTD_NO_ID } };
	struct made m = { .n = 0 };

	(void)state;
	/* Two CPUs by turns, which overlap by less than a buffer has. */
	add(&m, 5, 1000, 0);
	add(&m, 3, 1005, 0);
	assert_buffers(&m, 0, want, 2);
	/* 1041 is behind 1025: that is no other buffer for sure. */
	add(&m, 3, 1041, 0);
	assert_buffers(&m, 0, want, 2);
	/* Back to 1030, behind none but 1025. */
	m.n -= 3 * SPE_SLOT;
	assert_buffers(&m, 0, want, 2);
	/* Back to before all others. */
	add(&m, 1, 500, 0);
	assert_buffers(&m, 0,
	    (const struct hwtd_buffer[]){ { 0, 0, HWTD_NO_ID },
		{ 5 * 64, 1, HWTD_NO_ID }, { 8 * 64, 2, HWTD_NO_ID } },
	    3);
	/* That source ended at 500, and the next buffer goes on there. */
	add(&m, 2, 3000, 0);
	add(&m, 2, 1200, 0);
	assert_buffers(&m, 0,
	    (const struct hwtd_buffer[]){ { 0, 0, HWTD_NO_ID },
		{ 5 * 64, 1, HWTD_NO_ID }, { 8 * 64, 2, HWTD_NO_ID },
		{ 11 * 64, 0, HWTD_NO_ID } },
	    4);
	m.n = 0;
	assert_buffers(&m, 0, want, 1);
}

static void
one_odd_time_is_no_buffer(void **state)
{
	static const struct hwtd_buffer one[] = { { 0, 0, HWTD_NO_ID } };

	(void)state;
	for (int high = 0; high < 2; high++) {
		struct made m = { .n = 0 };

		add(&m, 5, 1000, 0);
		add(&m, 1, high != 0 ? 1000000 : 1005, 0);
		add(&m, 5, 1050, 0);
		assert_buffers(&m, 0, one, 1);
	}
}

static void
another_cpu_begins_a_buffer(void **state)
{
	static const struct hwtd_buffer cpus[] = { { 0, 0, 4 },
		{ 3 * 64, 1, 7 }, { 5 * 64, 0, 4 }, { 7 * 64, 1, 7 } };
	static const struct hwtd_buffer one[] = { { 0, 0, HWTD_NO_ID } };
	struct made m = { .n = 0 };

	(void)state;
	add(&m, 3, 1000, 4);
	add(&m, 2, 1100, 7);
	add(&m, 2, 1200, 4);
	add(&m, 2, 1300, 7);
	assert_buffers(&m, HWTD_SPE_OWNER_CPU, cpus, 4);
	/* Numbers of threads say nothing of CPUs. */
	assert_buffers(&m, HWTD_SPE_OWNER_THREAD, one, 1);
}

/* A record that is cut off anywhere, and the first one of the next buffer. */
static void
what_is_cut_off_is_not_glued(void **state)
{
	(void)state;
	/* Up to its timestamp, which takes the bytes behind it for its own. */
	for (size_t cut = 0; cut < 56; cut++) {
		struct hwtd_buffer want[] = { { 0, 0, 4 }, { 0, 1, 7 } };
		struct made m = { .n = 0 };

		print_message("cut %zu\n", cut);
		add(&m, 4, 1000, 4);
		m.n -= SPE_SLOT - cut;
		/* Zeros at the end are padding, of either. */
		while (cut > 0 && m.bytes[m.n - 1] == 0)
			m.n--;
		want[1].off = m.n;
		add(&m, 5, 500, 7);
		assert_buffers(&m, HWTD_SPE_OWNER_CPU, want, 2);
	}
}

/*
 * A snapshot of a buffer of two halves, whose older half was not written again: it
 * lies behind the newer one in memory, and its times go back.  Each record is there
 * once, whether somebody tells where the halves are or not, and with nothing added
 * to it or left out.
 */
static void
an_old_half_in_a_snapshot_is_read_once(void **state)
{
	static const struct hwtd_buffer halves[] = { { 0, 0, HWTD_NO_ID },
		{ 4 * 64, 1, HWTD_NO_ID } };
	struct made m = { .n = 0 };

	(void)state;
	/* Newer: 2000 to 2030; older: 1960 to 1990. */
	add(&m, 4, 2000, 0);
	add(&m, 4, 1960, 0);
	assert_buffers(&m, 0, halves, 2);
	for (int split = 0; split < 2; split++) {
		struct hwtd_trace *trace = spe_trace(3, m.bytes,
		    split != 0 ? 4 * (size_t)SPE_SLOT : m.n);
		struct mt_rows rows = { 0 };
		unsigned int back = 0;

		if (split != 0)
			mt_extent(trace, 0, HWTD_EXTENT_NEW,
			    m.bytes + 4 * (size_t)SPE_SLOT,
			    4 * (size_t)SPE_SLOT);
		mt_rows(mt_seal(trace), NULL, &rows);
		assert_int_equal(rows.n, 8);
		for (size_t i = 0; i < 8; i++) {
			const struct hwtd_sample *s = &rows.at[i]
							   .detail.sample;

			assert_int_equal(rows.at[i].row.kind, HWTD_EV_SAMPLE);
			assert_int_equal(s->stream_off, i * SPE_SLOT);
			assert_int_equal(s->pc, 0x400000 + i * SPE_SLOT);
			assert_int_equal(s->count,
			    i < 4 ? 2000 + 10 * i : 1960 + 10 * (i - 4));
			assert_int_equal(s->bytes, SPE_SLOT);
			back += (s->flags & HWTD_SAMPLEF_COUNT_BACK) != 0;
		}
		/* In a buffer of its own it goes on from nothing. */
		assert_int_equal(back, split != 0 ? 0 : 1);
		mt_rows_free(&rows);
		hwtd_trace_close(trace);
	}
}

static void
wrong_arguments_are_refused(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };
	struct hwtd_buffer b[1];
	size_t n = 7;

	(void)state;
	assert_int_equal(hwtd_spe_find_buffers(trace, 0, b, 1, &n, NULL),
	    HWTD_E_STATE);
	pt_psb(&p);
	(void)mt_stream(trace, &p, NULL);
	(void)mt_seal(trace);
	assert_int_equal(hwtd_spe_find_buffers(trace, 0, b, 1, &n, NULL),
	    HWTD_E_UNSUPPORTED);
	assert_int_equal(hwtd_spe_find_buffers(trace, 1, b, 1, &n, NULL),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_spe_find_buffers(trace, 0, NULL, 1, &n, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_spe_find_buffers(NULL, 0, b, 1, &n, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(n, 7);
	pt_free(&p);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_that_goes_back_begins_a_buffer),
		cmocka_unit_test(one_odd_time_is_no_buffer),
		cmocka_unit_test(another_cpu_begins_a_buffer),
		cmocka_unit_test(what_is_cut_off_is_not_glued),
		cmocka_unit_test(an_old_half_in_a_snapshot_is_read_once),
		cmocka_unit_test(wrong_arguments_are_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
