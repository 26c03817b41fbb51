/*
 * Extents, damage and forced cuts: what is lost is told once, exactly, and
 * wherever reading begins.
 *
 * Linked with --wrap of hwtdi_segments_init, so that slots can be small, and
 * of hwtdi_window_see, so that bytes of a trace in memory can be damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/fail.h"
#include "support/long_trace.h"
#include "support/row_text.h"
#include "support/slot_size.h"

/* Damaged chunks of stream 0, in order. */
static struct chunk {
	uint64_t first, end;
} chunks[8];
static size_t n_chunks;

int __real_hwtdi_window_see(struct hwtdi_window *window, uint64_t off,
    size_t n, const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err);
int __wrap_hwtdi_window_see(struct hwtdi_window *window, uint64_t off,
    size_t n, const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err);

int
__wrap_hwtdi_window_see(struct hwtdi_window *window, uint64_t off, size_t n,
    const uint8_t **bytes_out, struct hwtd_damage *damage_out,
    struct hwtd_error *err)
{
	for (size_t i = 0; i < n_chunks; i++) {
		const struct chunk *c = &chunks[i];

		if (off + n <= c->first || off >= c->end)
			continue;
		memset(damage_out, 0, sizeof(*damage_out));
		damage_out->size = sizeof(*damage_out);
		damage_out->first = c->first;
		damage_out->end = c->end;
		damage_out->file_off = 0x10000 + c->first;
		damage_out->file_bytes = (c->end - c->first) / 2;
		(void)snprintf(damage_out->text, sizeof(damage_out->text),
		    "checksum of chunk %zu", i);
		return (hwtdi_fail(err, HWTD_E_CORRUPT, "chunk %zu", i));
	}
	return (__real_hwtdi_window_see(window, off, n, bytes_out, damage_out,
	    err));
}

static const struct hwtd_stream_desc timed = {
	.cpu = 1,
	.pid = 2,
	.tid = 3,
	.clock = { .counts_per = 1, .ns_per = 1 },
};

static const struct long_trace_options program = {
	.seed = 77,
	.insns = 1500,
	.psb_bytes = 150,
	.timed = true,
	.overflow_of = 50,
	.interrupt_of = 50,
};

static const uint64_t sizes[] = { 64, 100, 256, 1000, 4096,
	(uint64_t)1 << 20 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Gaps of a reason; they must lie one behind the other. */
static size_t
gaps_of(const struct mt_rows *rows, uint32_t reason, struct hwtd_gap *out,
    size_t cap)
{
	uint64_t end = 0;
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct hwtd_gap *g = &rows->at[i].detail.gap;

		if (rows->at[i].row.kind != HWTD_EV_GAP)
			continue;
		assert_true(g->first >= end && g->end >= g->first);
		end = g->end;
		if (g->reason != reason)
			continue;
		assert_true(n < cap);
		out[n++] = *g;
	}
	return (n);
}

/* A few rows most of the time, all of them now and then. */
static size_t
some(uint64_t i)
{
	return (i % 17 == 0 ? SIZE_MAX : 60);
}

/* From every offset and at every time the rest of the rows is the same. */
static void
assert_seekable(struct hwtd_trace *trace, uint64_t n_bytes)
{
	struct hwtd_events *ev = mt_events(trace, NULL);
	struct mt_rows whole;

	mt_rows(trace, NULL, &whole);
	for (uint64_t off = 0; off <= n_bytes + 40;
	     off += 37 + n_bytes / 200) {
		size_t first = 0;

		while (first < whole.n && whole.at[first].row.stream_off < off)
			first++;
		assert_int_equal(hwtd_events_seek_offset(ev, 0, off, NULL),
		    HWTD_OK);
		mt_assert_next(ev, &whole, first, some(off));
	}
	for (size_t i = 0; i < whole.n; i += 30 + whole.n / 200) {
		uint64_t ns = whole.at[i].row.time_ns;
		size_t first = 0;

		if ((whole.at[i].row.flags & HWTD_EVF_TIME) == 0)
			continue;
		while (first < whole.n &&
		    ((whole.at[first].row.flags & HWTD_EVF_TIME) == 0 ||
			whole.at[first].row.time_ns < ns))
			first++;
		assert_int_equal(hwtd_events_seek_ns(ev, ns, NULL), HWTD_OK);
		mt_assert_next(ev, &whole, first, some(i));
	}
	mt_rows_free(&whole);
	hwtd_events_close(ev);
}

static void
assert_all_bytes_read(struct hwtd_trace *trace, uint64_t n_bytes)
{
	struct hwtd_stats s = { .size = sizeof(s) };
	struct hwtd_events *ev = mt_events(trace, NULL);
	struct mt_rows rows = { 0 };

	mt_read(ev, 500, &rows);
	mt_rows_free(&rows);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.bytes, n_bytes);
	hwtd_events_close(ev);
}

static void
check_chunks(struct hwtd_trace *trace, uint64_t n_bytes)
{
	for (size_t s = 0; s < N_SIZES; s++) {
		struct hwtd_gap gaps[8];
		struct mt_rows rows;

		slot_bytes = sizes[s];
		print_message("slots of %llu\n",
		    (unsigned long long)slot_bytes);
		mt_rows(trace, NULL, &rows);
		assert_int_equal(gaps_of(&rows, HWTD_GAP_FILE_DAMAGED, gaps,
				     8),
		    n_chunks);
		for (size_t i = 0; i < n_chunks; i++) {
			assert_int_equal(gaps[i].first, chunks[i].first);
			assert_int_equal(gaps[i].end, chunks[i].end);
			assert_int_equal(gaps[i].flags & HWTD_GAPF_FILE,
			    HWTD_GAPF_FILE);
			assert_int_equal(gaps[i].file_off,
			    0x10000 + chunks[i].first);
			assert_int_equal(gaps[i].file_bytes,
			    (chunks[i].end - chunks[i].first) / 2);
			assert_true(strncmp(gaps[i].text, "checksum of chunk ",
					18) == 0);
		}
		mt_rows_free(&rows);
		assert_all_bytes_read(trace, n_bytes);
		assert_seekable(trace, n_bytes);
	}
}

static struct hwtd_trace *
long_one(struct long_trace *t)
{
	struct hwtd_trace *trace = mt_create();

	long_trace_make(t, &program);
	(void)long_trace_code(trace);
	(void)mt_stream(trace, &t->packets, &timed);
	return (mt_seal(trace));
}

static void
damaged_chunks_are_gaps_with_their_bytes(void **state)
{
	struct long_trace t;
	struct hwtd_trace *trace = long_one(&t);
	const uint64_t n = t.packets.n;
	/* In the middle; at both ends; side by side; a byte. */
	const struct chunk cases[][3] = {
		{ { 1000, 1300 } },
		{ { 0, 500 }, { n - 200, n } },
		{ { 640, 700 }, { 700, 960 }, { 2000, 2001 } },
		{ { 1024, 2048 }, { 3072, 3073 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n_chunks = 0;
		while (n_chunks < 3 && cases[i][n_chunks].end != 0) {
			chunks[n_chunks] = cases[i][n_chunks];
			n_chunks++;
		}
		check_chunks(trace, n);
	}
	n_chunks = 0;
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

static void
a_stream_that_is_damaged_all_over_is_one_gap(void **state)
{
	struct long_trace t;
	struct hwtd_trace *trace = long_one(&t);
	struct hwtd_gap gap;
	struct mt_rows rows;

	(void)state;
	n_chunks = 1;
	chunks[0].first = 0;
	chunks[0].end = t.packets.n;
	slot_bytes = 256;
	mt_rows(trace, NULL, &rows);
	assert_int_equal(rows.n, 1);
	assert_int_equal(gaps_of(&rows, HWTD_GAP_FILE_DAMAGED, &gap, 1), 1);
	assert_int_equal(gap.end, t.packets.n);
	mt_rows_free(&rows);
	assert_all_bytes_read(trace, t.packets.n);
	n_chunks = 0;
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

static void
lost_data_between_extents_is_a_gap_without_bytes(void **state)
{
	static const struct {
		uint32_t why, reason;
	} cases[] = {
		{ HWTD_EXTENT_AFTER_LOSS, HWTD_GAP_TRUNCATED },
		{ HWTD_EXTENT_AFTER_DAMAGE, HWTD_GAP_FILE_DAMAGED },
		{ HWTD_EXTENT_NEW, HWTD_GAP_UNKNOWN },
	};
	struct long_trace t[3];
	uint64_t ends[3], n_bytes = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct long_trace_options o = program;

		o.seed += i;
		o.tsc = i * 1000000;
		long_trace_make(&t[i], &o);
		n_bytes += t[i].packets.n;
		ends[i] = n_bytes;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace = mt_create();
		struct hwtd_gap gaps[2];
		struct mt_rows rows;
		size_t n;

		(void)long_trace_code(trace);
		(void)mt_stream(trace, &t[0].packets, &timed);
		for (size_t e = 1; e < 3; e++)
			mt_extent(trace, 0, cases[i].why, t[e].packets.bytes,
			    t[e].packets.n);
		mt_seal(trace);
		for (size_t s = 0; s < N_SIZES; s++) {
			slot_bytes = sizes[s];
			print_message("%u, slots of %llu\n", cases[i].why,
			    (unsigned long long)slot_bytes);
			mt_rows(trace, NULL, &rows);
			n = gaps_of(&rows, cases[i].reason, gaps, 2);
			assert_int_equal(n,
			    cases[i].reason == HWTD_GAP_UNKNOWN ? 0 : 2);
			for (size_t g = 0; g < n; g++) {
				assert_int_equal(gaps[g].first, ends[g]);
				assert_int_equal(gaps[g].end, ends[g]);
			}
			mt_rows_free(&rows);
			assert_all_bytes_read(trace, n_bytes);
			assert_seekable(trace, n_bytes);
		}
		hwtd_trace_close(trace);
	}
	for (size_t i = 0; i < 3; i++)
		long_trace_free(&t[i]);
}

static void
bytes_never_join_across_extents(void **state)
{
	struct long_trace t;
	struct hwtd_trace *trace = mt_create();
	struct mt_rows rows;
	const size_t cut = 200;

	(void)state;
	long_trace_make(&t, &program);
	(void)long_trace_code(trace);
	/* A PSB in two halves is none. */
	t.packets.n = t.psbs[1] + 7;
	(void)mt_stream(trace, &t.packets, &timed);
	mt_extent(trace, 0, HWTD_EXTENT_NEW, t.packets.bytes + t.packets.n,
	    cut);
	mt_seal(trace);
	slot_bytes = 0;
	mt_rows(trace, NULL, &rows);
	/* The rest of it, and what follows, is not synchronised. */
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_event *e = &rows.at[i].row;

		if (e->stream_off == t.packets.n && e->kind == HWTD_EV_GAP) {
			assert_int_equal(rows.at[i].detail.gap.reason,
			    HWTD_GAP_UNSYNCED);
			mt_rows_free(&rows);
			hwtd_trace_close(trace);
			long_trace_free(&t);
			return;
		}
	}
	fail_msg("no gap at the start of the second extent");
}

/*
 * Without a PSB for more than HWTDI_MAX_SLOTS slots a cut is forced: what
 * follows up to the next PSB is lost, but the memory stays small.
 */
static void
without_a_psb_for_long_a_cut_is_forced(void **state)
{
	/* jne to itself: a bit for each pass */
	static const uint8_t code[] = { 0x75, 0xfe };
	struct pt_packets p = { 0 };
	struct hwtd_gap gaps[8];
	struct hwtd_trace *trace;
	struct mt_rows rows;
	size_t second, n;

	(void)state;
	pt_psb_plus(&p, 0x1000, 64);
	while (p.n < 16 * HWTDI_MAX_SLOTS * 2 + 200)
		pt_tnt(&p, "TTTTTT");
	second = p.n;
	pt_psb_plus(&p, 0x1000, 64);
	pt_tnt(&p, "TTT");
	trace = mt_simple(0x1000, code, sizeof(code), &p);
	slot_bytes = 16;
	mt_rows(trace, NULL, &rows);
	n = gaps_of(&rows, HWTD_GAP_UNSYNCED, gaps, 8);
	assert_true(n >= 1);
	assert_int_equal(gaps[0].first % (16 * HWTDI_MAX_SLOTS), 0);
	assert_int_equal(gaps[n - 1].end, second);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(gaps[i].first, gaps[i - 1].end);
	mt_rows_free(&rows);
	assert_all_bytes_read(trace, p.n);
	assert_seekable(trace, p.n);
	/* With larger slots nothing is lost. */
	slot_bytes = 256;
	mt_rows(trace, NULL, &rows);
	assert_int_equal(gaps_of(&rows, HWTD_GAP_UNSYNCED, gaps, 8), 0);
	mt_rows_free(&rows);
	assert_seekable(trace, p.n);
	hwtd_trace_close(trace);
	pt_free(&p);
}

/* A PSB that begins in one slot and ends in the next, at every place. */
static void
a_psb_across_the_border_of_a_slot_is_found(void **state)
{
	static const uint8_t code[] = { 0x75, 0xfe };

	(void)state;
	slot_bytes = 128;
	for (size_t before = 90; before < 150; before++) {
		struct hwtd_gap gap;
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		struct mt_rows rows;
		size_t jumps = 0;

		pt_psb_plus(&p, 0x1000, 64);
		while (p.n < before) {
			pt_tnt(&p, "T");
			jumps++;
		}
		for (int i = 0; i < 5; i++) {
			pt_psb_plus(&p, 0x1000, 64);
			while (p.n % 100 != before % 100) {
				pt_tnt(&p, "T");
				jumps++;
			}
		}
		pt_fup(&p, PT_IP_48_SIGNED, 0x1000);
		pt_pgd(&p, PT_IP_NONE, 0);
		trace = mt_simple(0x1000, code, sizeof(code), &p);
		mt_rows(trace, NULL, &rows);
		for (size_t r = 0; r < rows.n; r++)
			jumps -= rows.at[r].row.insns;
		assert_int_equal(jumps, 0);
		assert_int_equal(gaps_of(&rows, HWTD_GAP_UNSYNCED, &gap, 1),
		    0);
		mt_rows_free(&rows);
		assert_all_bytes_read(trace, p.n);
		assert_seekable(trace, p.n);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

/* Streams made of what looks like PSB most of the time. */
static void
any_bytes_give_the_same_rows_from_everywhere(void **state)
{
	static const uint8_t code[] = { 0x75, 0xfe };
	uint64_t random = 12345;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct pt_packets p = { 0 };
		struct hwtd_trace *trace;
		uint64_t tsc = 0;

		while (p.n < 700) {
			random = random * 6364136223846793005u + 1442695;
			switch (random >> 33 & 7) {
			case 0:
				pt_psb_plus(&p, 0x1000, 64);
				break;
			case 1:
				pt_psb(&p);
				break;
			case 2:
				pt_raw(&p, "\x02\x82\x02", 3);
				break;
			case 3:
				pt_raw(&p, "\x82\x02\x82", 3);
				break;
			case 4:
				pt_tnt(&p, "TTT");
				break;
			case 5:
				tsc += random >> 40 & 0xffff;
				pt_tsc(&p, tsc);
				break;
			case 6:
				pt_psbend(&p);
				break;
			default:
				pt_pad(&p, 1);
				break;
			}
		}
		trace = mt_create();
		(void)mt_code(trace, 0x1000, code, sizeof(code));
		(void)mt_stream(trace, &p, &timed);
		mt_seal(trace);
		slot_bytes = 16 + (random >> 50 & 127);
		assert_all_bytes_read(trace, p.n);
		assert_seekable(trace, p.n);
		hwtd_trace_close(trace);
		pt_free(&p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_chunks_are_gaps_with_their_bytes),
		cmocka_unit_test(a_stream_that_is_damaged_all_over_is_one_gap),
		cmocka_unit_test(
		    lost_data_between_extents_is_a_gap_without_bytes),
		cmocka_unit_test(bytes_never_join_across_extents),
		cmocka_unit_test(without_a_psb_for_long_a_cut_is_forced),
		cmocka_unit_test(a_psb_across_the_border_of_a_slot_is_found),
		cmocka_unit_test(any_bytes_give_the_same_rows_from_everywhere),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
