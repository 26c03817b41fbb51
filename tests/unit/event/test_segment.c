/*
 * Pieces of a stream: they tile it, and where they lie depends on its bytes
 * alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/decoder.h"
#include "decode/pt/pt_sync.h"
#include "event/segment.h"
#include "support/long_trace.h"
#include "support/memory_trace.h"

static const uint64_t sizes[] = { 64, 80, 100, 1000, 4096, (uint64_t)1 << 20 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

#define MOST_PIECES 1000

struct place {
	enum hwtdi_part_kind kind;
	uint64_t first, end;
	uint32_t reason;
};

static void
open_segments(struct hwtdi_segments *s, struct hwtd_trace *trace,
    uint64_t slot)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtdi_engine
	    *engine = hwtdi_engine_find(HWTD_TECH_INTEL_PT, "libipt");

	assert_int_equal(hwtdi_segments_init(s, trace, engine, 0, &err),
	    HWTD_OK);
	assert_int_equal(s->slot_bytes, HWTDI_SLOT_BYTES);
	s->slot_bytes = slot;
}

/* All pieces up to the end. */
static size_t
places(struct hwtdi_segments *s, struct place *out)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_part part;
	size_t n = 0;

	for (;;) {
		assert_int_equal(hwtdi_segments_next(s, &part, &err), HWTD_OK);
		if (part.kind == HWTDI_PART_END)
			return (n);
		assert_true(n < MOST_PIECES);
		out[n].kind = part.kind;
		out[n].reason = 0;
		if (part.kind == HWTDI_PART_SEGMENT) {
			assert_true(part.segment.n > 0);
			out[n].first = part.segment.stream_off;
			out[n].end = out[n].first + part.segment.n;
		} else {
			out[n].first = part.gap.first;
			out[n].end = part.gap.end;
			out[n].reason = part.gap.reason;
		}
		n++;
	}
}

static void
make(struct long_trace *t, size_t psb_bytes)
{
	struct long_trace_options o = {
		.seed = 9,
		.insns = 2000,
		.psb_bytes = psb_bytes,
	};

	long_trace_make(t, &o);
}

static struct hwtd_trace *
trace_of(const struct long_trace *t)
{
	return (mt_simple(0, NULL, 0, &t->packets));
}

static void
pieces_lie_side_by_side_from_the_first_byte_to_the_last(void **state)
{
	struct long_trace t;
	struct hwtd_trace *trace;

	(void)state;
	make(&t, 120);
	trace = trace_of(&t);
	for (size_t i = 0; i < N_SIZES; i++) {
		struct place at[MOST_PIECES];
		struct hwtdi_segments s;
		uint64_t end = 0;
		size_t n;

		open_segments(&s, trace, sizes[i]);
		n = places(&s, at);
		for (size_t p = 0; p < n; p++) {
			assert_int_equal(at[p].kind, HWTDI_PART_SEGMENT);
			assert_int_equal(at[p].first, end);
			end = at[p].end;
		}
		assert_int_equal(end, t.packets.n);
		/* The end stays the end. */
		assert_int_equal(places(&s, at), 0);
		hwtdi_segments_fini(&s);
	}
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

/* By hand: the first PSB that lies in a slot, for each slot but the first. */
static size_t
cuts_of(const struct long_trace *t, uint64_t slot, uint64_t *cuts)
{
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n_psbs; i++)
		if (t->psbs[i] / slot > last &&
		    (t->psbs[i] + HWTDI_PT_PSB_BYTES - 1) / slot ==
			t->psbs[i] / slot) {
			last = t->psbs[i] / slot;
			cuts[n++] = t->psbs[i];
		}
	return (n);
}

static void
the_first_psb_of_each_slot_is_a_cut_and_nothing_else(void **state)
{
	struct long_trace t;
	struct hwtd_trace *trace;

	(void)state;
	make(&t, 90);
	trace = trace_of(&t);
	for (size_t i = 0; i < N_SIZES; i++) {
		struct place at[MOST_PIECES];
		uint64_t cuts[MOST_PIECES];
		struct hwtdi_segments s;
		size_t n_cuts = cuts_of(&t, sizes[i], cuts);
		size_t n;

		open_segments(&s, trace, sizes[i]);
		n = places(&s, at);
		assert_int_equal(n, n_cuts + 1);
		for (size_t p = 1; p < n; p++)
			assert_int_equal(at[p].first, cuts[p - 1]);
		hwtdi_segments_fini(&s);
	}
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

static void
a_segment_shows_the_bytes_of_the_stream_and_some_behind_it(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct long_trace t;
	struct hwtd_trace *trace;
	struct hwtdi_segments s;
	struct hwtdi_part part;

	(void)state;
	make(&t, 120);
	trace = trace_of(&t);
	open_segments(&s, trace, 200);
	for (;;) {
		const struct hwtdi_segment *g = &part.segment;
		size_t left;

		assert_int_equal(hwtdi_segments_next(&s, &part, &err),
		    HWTD_OK);
		if (part.kind == HWTDI_PART_END)
			break;
		left = t.packets.n - (size_t)g->stream_off - g->n;
		assert_int_equal(g->tail,
		    left < s.engine->tail_bytes ? left : s.engine->tail_bytes);
		assert_memory_equal(g->bytes, t.packets.bytes + g->stream_off,
		    g->n + g->tail);
	}
	hwtdi_segments_fini(&s);
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

/* From each piece, over as many slots as there are. */
static void
skipping_comes_to_where_a_piece_begins(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct long_trace t;
	struct hwtd_trace *trace;

	(void)state;
	make(&t, 90);
	trace = trace_of(&t);
	for (size_t i = 0; i < N_SIZES; i++) {
		static struct place at[MOST_PIECES], rest[MOST_PIECES];
		struct hwtdi_segments s;
		size_t n, skipped = 0;

		open_segments(&s, trace, sizes[i]);
		n = places(&s, at);
		for (size_t p = 1; p < n; p += 1 + n / 40)
			for (uint64_t slots = 1; slots < 20; slots += 3) {
				struct hwtdi_part part;
				size_t k = p;

				hwtdi_segments_rewind(&s);
				/* Where the extent is not known it is not done. */
				assert_false(hwtdi_segments_skip(&s, slots));
				for (size_t j = 0; j < p; j++)
					assert_int_equal(hwtdi_segments_next(
							     &s, &part, &err),
					    HWTD_OK);
				if (!hwtdi_segments_skip(&s, slots))
					continue;
				skipped++;
				while (k < n && at[k].first < s.at)
					k++;
				assert_true(k > p);
				assert_int_equal(s.at,
				    k < n ? at[k].first : t.packets.n);
				assert_int_equal(places(&s, rest), n - k);
				assert_memory_equal(rest, at + k,
				    (n - k) * sizeof(rest[0]));
			}
		assert_true(n < 3 || skipped > 0);
		hwtdi_segments_fini(&s);
	}
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

static void
from_wherever_reading_begins_the_cuts_are_the_same(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct long_trace t;
	struct hwtd_trace *trace;

	(void)state;
	make(&t, 90);
	trace = trace_of(&t);
	for (size_t i = 0; i < N_SIZES; i++) {
		struct place all[MOST_PIECES], at[MOST_PIECES];
		struct hwtdi_segments s;
		size_t n_all;

		open_segments(&s, trace, sizes[i]);
		n_all = places(&s, all);
		for (uint64_t off = 0; off < t.packets.n + 50; off += 13) {
			size_t n, last = 0;

			assert_int_equal(hwtdi_segments_seek(&s, off, &err),
			    HWTD_OK);
			n = places(&s, at);
			/* The last part that begins at or before it. */
			while (last + 1 < n_all && all[last + 1].first <= off)
				last++;
			assert_int_equal(n, n_all - last);
			for (size_t p = 0; p < n; p++) {
				assert_int_equal(at[p].first,
				    all[last + p].first);
				assert_int_equal(at[p].end, all[last + p].end);
			}
		}
		hwtdi_segments_rewind(&s);
		assert_int_equal(places(&s, at), n_all);
		hwtdi_segments_fini(&s);
	}
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

static void
a_slot_is_found_by_its_number_or_has_no_cut(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct long_trace t;
	struct hwtd_trace *trace;
	const uint64_t slot = 70;
	uint64_t cuts[MOST_PIECES];
	struct hwtdi_segments s;
	struct hwtdi_part part;
	size_t n_cuts, found = 0;

	(void)state;
	make(&t, 90);
	trace = trace_of(&t);
	n_cuts = cuts_of(&t, slot, cuts);
	open_segments(&s, trace, slot);
	assert_int_equal(hwtdi_segments_slots(&s),
	    (t.packets.n + slot - 1) / slot);
	for (uint64_t i = 0; i < hwtdi_segments_slots(&s); i++) {
		int rc = hwtdi_segments_seek_slot(&s, i, &err);

		if (i > 0 && (found == n_cuts || cuts[found] / slot != i)) {
			assert_int_equal(rc, HWTD_E_NOT_FOUND);
			continue;
		}
		assert_int_equal(rc, HWTD_OK);
		assert_int_equal(hwtdi_segments_next(&s, &part, &err),
		    HWTD_OK);
		assert_int_equal(part.segment.stream_off,
		    i == 0 ? 0 : cuts[found++]);
	}
	assert_int_equal(found, n_cuts);
	assert_int_equal(hwtdi_segments_seek_slot(&s, hwtdi_segments_slots(&s),
			     &err),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtdi_segments_seek_slot(&s, UINT64_MAX, &err),
	    HWTD_E_NOT_FOUND);
	hwtdi_segments_fini(&s);
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

static void
an_empty_stream_has_no_pieces(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = mt_simple(0, NULL, 0, &p);
	struct hwtdi_segments s;
	struct place at[1];

	(void)state;
	open_segments(&s, trace, 64);
	assert_int_equal(places(&s, at), 0);
	assert_int_equal(hwtdi_segments_slots(&s), 0);
	assert_int_equal(hwtdi_segments_seek(&s, 0, &err), HWTD_OK);
	assert_int_equal(places(&s, at), 0);
	assert_int_equal(hwtdi_segments_seek(&s, UINT64_MAX, &err), HWTD_OK);
	assert_int_equal(places(&s, at), 0);
	hwtdi_segments_fini(&s);
	hwtd_trace_close(trace);
}

static void
extents_are_cut_on_their_own(void **state)
{
	struct long_trace t;
	struct hwtd_trace *trace = mt_create();
	struct place at[MOST_PIECES];
	struct hwtdi_segments s;
	uint64_t end = 0;
	size_t n, gaps = 0;

	(void)state;
	make(&t, 120);
	(void)mt_stream(trace, &t.packets, NULL);
	mt_extent(trace, 0, HWTD_EXTENT_NEW, t.packets.bytes, 333);
	mt_extent(trace, 0, HWTD_EXTENT_AFTER_LOSS, t.packets.bytes, 444);
	mt_seal(trace);
	open_segments(&s, trace, 256);
	n = places(&s, at);
	for (size_t p = 0; p < n; p++) {
		assert_int_equal(at[p].first, end);
		end = at[p].end;
		/* No part goes from one extent into the next. */
		assert_true(at[p].end <= t.packets.n ||
		    at[p].first >= t.packets.n);
		assert_true(at[p].end <= t.packets.n + 333 ||
		    at[p].first >= t.packets.n + 333);
		if (at[p].kind != HWTDI_PART_GAP)
			continue;
		gaps++;
		assert_int_equal(at[p].reason, HWTD_GAP_TRUNCATED);
		assert_int_equal(at[p].first, t.packets.n + 333);
		assert_int_equal(at[p].end, t.packets.n + 333);
	}
	assert_int_equal(gaps, 1);
	assert_int_equal(end, t.packets.n + 333 + 444);
	hwtdi_segments_fini(&s);
	hwtd_trace_close(trace);
	long_trace_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    pieces_lie_side_by_side_from_the_first_byte_to_the_last),
		cmocka_unit_test(
		    the_first_psb_of_each_slot_is_a_cut_and_nothing_else),
		cmocka_unit_test(
		    a_segment_shows_the_bytes_of_the_stream_and_some_behind_it),
		cmocka_unit_test(
		    from_wherever_reading_begins_the_cuts_are_the_same),
		cmocka_unit_test(skipping_comes_to_where_a_piece_begins),
		cmocka_unit_test(a_slot_is_found_by_its_number_or_has_no_cut),
		cmocka_unit_test(an_empty_stream_has_no_pieces),
		cmocka_unit_test(extents_are_cut_on_their_own),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
