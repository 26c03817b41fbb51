/*
 * One stream, several jobs: whoever makes the rows of a segment, they are those
 * that one thread makes, in the same order.
 *
 * Linked with --wrap of hwtdi_segments_init, so that slots can be small, and
 * of hwtdi_window_see, so that bytes of a trace in memory can be damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/fail.h"
#include "support/long_trace.h"
#include "support/mapped_trace.h"
#include "support/slot_size.h"

#define ALL_KINDS ((1u << HWTD_EV_KINDS) - 1)

static const uint64_t sizes[] = { 16, 64, 256, 1000, 4096, (uint64_t)1 << 20 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* What is damaged of stream 0; nothing if `end` is 0. */
static uint64_t damaged, damaged_end;
/* What begins at or behind it cannot be read. */
static uint64_t unreadable = UINT64_MAX;

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
	if (off >= unreadable)
		return (hwtdi_fail(err, HWTD_E_IO, "no byte %llu",
		    (unsigned long long)unreadable));
	if (off + n > damaged && off < damaged_end) {
		memset(damage_out, 0, sizeof(*damage_out));
		damage_out->size = sizeof(*damage_out);
		damage_out->first = damaged;
		damage_out->end = damaged_end;
		return (hwtdi_fail(err, HWTD_E_CORRUPT, "damage"));
	}
	return (__real_hwtdi_window_see(window, off, n, bytes_out, damage_out,
	    err));
}

static const struct hwtd_range addresses[] = { { LONG_TRACE_BASE,
    LONG_TRACE_BASE + 40 } };

static const struct hwtd_events_options options[] = {
	{ .size = sizeof(options[0]) },
	{ .size = sizeof(options[0]),
	    .level = HWTD_LEVEL_INSN,
	    .kinds = ALL_KINDS },
	{ .size = sizeof(options[0]),
	    .addresses = addresses,
	    .n_addresses = 1,
	    .kinds = 1u << HWTD_EV_BLOCK | 1u << HWTD_EV_RECORD },
	{ .size = sizeof(options[0]), .kinds = 1u << HWTD_EV_RECORD },
	{ .size = sizeof(options[0]), .kinds = ALL_KINDS, .engine = "libipt" },
};
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

/* Sanitizers make everything slow. */
static bool
is_small(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL);
}

/* Streams with some of everything, and records among their rows. */
static struct hwtd_trace *
make_trace(uint32_t streams, bool timed)
{
	struct hwtd_trace *trace = mt_create();

	(void)long_trace_code(trace);
	for (uint32_t i = 0; i < streams; i++) {
		const struct long_trace_options o = {
			.seed = 40 + i,
			.insns = 1500,
			.psb_bytes = 130 + 30 * i,
			.timed = timed,
			.tsc = 300 * i,
			.interrupt_of = 30,
			.overflow_of = 30,
			.pause_of = 5,
			.garbage_of = i % 2 != 0 ? 0 : 60,
		};
		const struct hwtd_stream_desc desc = {
			.cpu = i,
			.pid = 1,
			.tid = 100 + i,
			.clock = { .counts_per = timed, .ns_per = 1 },
		};
		struct long_trace t;

		long_trace_make(&t, &o);
		(void)mt_stream(trace, &t.packets, &desc);
		mt_extent(trace, i, HWTD_EXTENT_AFTER_LOSS, t.packets.bytes,
		    t.packets.n / 2);
		mt_extent(trace, i, HWTD_EXTENT_NEW, t.packets.bytes, 30);
		long_trace_free(&t);
	}
	for (uint32_t i = 0; i < 90; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_LOST, HWTD_NO_ID, 0,
		    0);

		r.flags = 0;
		if (i % 3 != 0)
			mr_place(&r, i % streams, 37 * (i / 3 * 7 % 50));
		if (i % 3 == 0 && timed)
			mr_time(&r, 100 * i);
		mr_add(trace, &r);
	}
	/* Threads take turns. */
	for (uint32_t i = 0; i < 20 && timed; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_SWITCH, 1, 0, 0);

		r.tid = 200 + i % 3;
		r.cpu = i % streams;
		mr_time(&r, 211 * i);
		mr_add(trace, &r);
	}
	return (mt_seal(trace));
}

static void
read_all(struct hwtd_trace *trace, const struct hwtd_events_options *o,
    uint32_t jobs, struct mt_rows *out)
{
	struct hwtd_events_options copy = *o;

	copy.jobs = jobs;
	mt_rows(trace, &copy, out);
}

static void
assert_jobs_agree(struct hwtd_trace *trace)
{
	for (size_t s = 0; s < N_SIZES; s++) {
		slot_bytes = sizes[s];
		for (size_t o = 0; o < N_OPTIONS; o++) {
			struct mt_rows want;

			read_all(trace, &options[o], 0, &want);
			for (uint32_t jobs = 1; jobs <= 8;
			     jobs += is_small() ? 3 : 1) {
				struct mt_rows rows;

				read_all(trace, &options[o], jobs, &rows);
				mt_assert_same(&want, 0, &rows);
				mt_rows_free(&rows);
			}
			mt_rows_free(&want);
		}
	}
}

static void
any_number_of_jobs_makes_the_same_rows(void **state)
{
	(void)state;
	for (uint32_t streams = 1; streams <= 3; streams += 2)
		for (int timed = 0; timed < 2; timed++) {
			struct hwtd_trace *trace = make_trace(streams,
			    timed != 0);

			print_message("%u streams, timed: %d\n", streams,
			    timed);
			assert_jobs_agree(trace);
			hwtd_trace_close(trace);
		}
}

static void
damage_is_told_the_same_way(void **state)
{
	static const uint64_t cases[][2] = { { 0, 300 }, { 500, 501 },
		{ 256, 512 }, { 700, 100000 } };
	struct hwtd_trace *trace = make_trace(1, true);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_extent e = { .size = sizeof(e) };

		assert_int_equal(hwtd_trace_extent(trace, 0, 0, &e), HWTD_OK);
		damaged = cases[i][0];
		damaged_end = cases[i][1] < e.end ? cases[i][1] : e.end;
		assert_jobs_agree(trace);
	}
	damaged = damaged_end = 0;
	hwtd_trace_close(trace);
}

/* What can be read comes first, then the error, and again until a seek. */
static void
an_error_comes_behind_the_rows_before_it(void **state)
{
	struct hwtd_trace *trace = make_trace(1, true);

	(void)state;
	slot_bytes = 256;
	for (uint32_t jobs = 0; jobs <= 4; jobs++) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.jobs = jobs };
		struct hwtd_events *ev = mt_events(trace, &o);
		struct hwtd_event rows[50];
		struct hwtd_batch b = { .size = sizeof(b),
			.events = rows,
			.stride = sizeof(rows[0]),
			.cap = 50 };
		static size_t n_serial;
		struct mt_rows want, got = { 0 };
		size_t n = 0;
		int rc;

		unreadable = 1500;
		while ((rc = hwtd_events_read(ev, &b, NULL)) == HWTD_OK)
			n += b.n;
		assert_int_equal(rc, HWTD_E_IO);
		assert_int_equal(hwtd_events_read(ev, &b, NULL), HWTD_E_IO);
		if (jobs == 0)
			n_serial = n;
		assert_true(n > 50);
		assert_int_equal(n, n_serial);
		unreadable = UINT64_MAX;
		assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
		mt_read(ev, 100, &got);
		mt_rows(trace, NULL, &want);
		mt_assert_same(&want, 0, &got);
		mt_rows_free(&want);
		mt_rows_free(&got);
		hwtd_events_close(ev);
	}
	hwtd_trace_close(trace);
}

/* What follows a seek is what follows it with one job. */
static void
assert_same_next(struct hwtd_events *one, struct hwtd_events *several,
    size_t most)
{
	struct mt_rows want = { 0 }, got = { 0 };

	mt_read_some(one, most, &want);
	mt_read_some(several, most, &got);
	mt_assert_same(&want, 0, &got);
	mt_rows_free(&want);
	mt_rows_free(&got);
}

static void
from_wherever_reading_begins_the_rest_is_the_same(void **state)
{
	struct hwtd_trace *trace = make_trace(2, true);
	struct hwtd_extent e = { .size = sizeof(e) };

	(void)state;
	assert_int_equal(hwtd_trace_extent(trace, 0, 2, &e), HWTD_OK);
	for (size_t i = 0; i < 3 * N_OPTIONS; i++) {
		struct hwtd_events_options o = options[i % N_OPTIONS];
		struct hwtd_events *one, *several;

		slot_bytes = sizes[1 + i / N_OPTIONS];
		one = mt_events(trace, &o);
		o.jobs = 2 + (uint32_t)i % 3;
		several = mt_events(trace, &o);
		for (uint64_t at = 0; at <= e.end + 40;
		     at += is_small() ? 397 : 97) {
			const size_t most = at % 5 == 0 ? SIZE_MAX : 60;

			assert_int_equal(hwtd_events_seek_offset(one, at & 1,
					     at, NULL),
			    HWTD_OK);
			assert_int_equal(hwtd_events_seek_offset(several,
					     at & 1, at, NULL),
			    HWTD_OK);
			assert_same_next(one, several, most);
			assert_int_equal(hwtd_events_seek_ns(one, at, NULL),
			    HWTD_OK);
			assert_int_equal(hwtd_events_seek_ns(several, at,
					     NULL),
			    HWTD_OK);
			assert_same_next(one, several, most);
		}
		hwtd_events_close(one);
		hwtd_events_close(several);
	}
	hwtd_trace_close(trace);
}

/* jne to itself: a row for each outcome, far more than are kept of a segment. */
static struct hwtd_trace *
make_many(size_t segments, size_t bytes)
{
	static const uint8_t code[] = { 0x75, 0xfe };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;

	for (size_t i = 0; i < segments; i++) {
		const size_t end = p.n + bytes;

		pt_psb_plus(&p, 0x1000, 64);
		while (p.n < end)
			pt_tnt(&p, i % 2 != 0 ? "TTTTTT" : "TTTTT");
	}
	trace = mt_simple(0x1000, code, sizeof(code), &p);
	pt_free(&p);
	return (trace);
}

static struct hwtd_event many_rows[4096];

static uint64_t
hash_rows(struct hwtd_events *ev, size_t most, size_t *n_out)
{
	struct hwtd_batch b = { .size = sizeof(b),
		.events = many_rows,
		.stride = sizeof(many_rows[0]),
		.cap = sizeof(many_rows) / sizeof(many_rows[0]) };
	uint64_t hash = 0;

	*n_out = 0;
	while (*n_out < most && hwtd_events_read(ev, &b, NULL) == HWTD_OK) {
		for (size_t i = 0; i < b.n; i++) {
			uint64_t words[8];

			memcpy(words, &many_rows[i], sizeof(words));
			for (size_t k = 0; k < 8; k++)
				hash = hash * 0x9e3779b97f4a7c15u + words[k];
		}
		*n_out += b.n;
	}
	return (hash);
}

/* More rows than are kept: a maker waits for the reader, who never starves. */
static void
rows_that_are_not_taken_are_bounded(void **state)
{
	const size_t segments = is_small() ? 2 : 3;
	struct hwtd_trace *trace = make_many(segments, (size_t)150 << 10);
	size_t n, n_want = 0;
	uint64_t want = 0;

	(void)state;
	slot_bytes = 4096;
	for (uint32_t jobs = 1; jobs <= (is_small() ? 3 : 5); jobs += 2) {
		const struct hwtd_events_options o = { .size = sizeof(o),
			.jobs = jobs };
		struct hwtd_events *ev = mt_events(trace, &o);
		const uint64_t hash = hash_rows(ev, SIZE_MAX, &n);

		if (jobs == 1) {
			want = hash;
			n_want = n;
		}
		assert_true(n > 700000 * segments);
		assert_int_equal(n, n_want);
		assert_true(hash == want);
		hwtd_events_close(ev);
	}
	hwtd_trace_close(trace);
}

/* Rows are made in place if there is enough room, and copied if not. */
static void
rows_are_the_same_wherever_they_are_made(void **state)
{
	static const size_t caps[] = { 64, 511, 512, 513, 600, 1024, 1100,
		3000 };

	(void)state;
	slot_bytes = 1000;
	for (unsigned int timed = 0; timed < 2; timed++) {
		struct hwtd_trace *trace = make_trace(1, timed != 0);

		for (size_t i = 0; i < N_OPTIONS; i++) {
			struct mt_rows want = { 0 };
			struct hwtd_events *ev = mt_events(trace, &options[i]);

			mt_read(ev, 1, &want);
			hwtd_events_close(ev);
			for (size_t k = 0; k < sizeof(caps) / sizeof(caps[0]);
			     k++) {
				struct mt_rows rows = { 0 };

				ev = mt_events(trace, &options[i]);
				mt_read(ev, caps[k], &rows);
				mt_assert_same(&want, 0, &rows);
				mt_rows_free(&rows);
				hwtd_events_close(ev);
			}
			mt_rows_free(&want);
		}
		hwtd_trace_close(trace);
	}
}

static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9);
}

static void
closing_and_seeking_wait_for_little(void **state)
{
	struct hwtd_trace *trace = make_many(8, (size_t)60 << 10);
	const struct hwtd_events_options o = { .size = sizeof(o), .jobs = 4 };
	double least = 1e9;
	size_t n, first;
	uint64_t want;

	(void)state;
	slot_bytes = 4096;
	for (size_t i = 0; i < 20; i++) {
		struct hwtd_events *ev = mt_events(trace, &o);
		double start, took;

		want = hash_rows(ev, 5000, &first);
		start = seconds();
		assert_int_equal(hwtd_events_seek_offset(ev, 0, 0, NULL),
		    HWTD_OK);
		took = seconds() - start;
		assert_true(hash_rows(ev, 5000, &n) == want);
		assert_int_equal(n, first);
		(void)hash_rows(ev, 30000 * i, &n);
		start = seconds();
		hwtd_events_close(ev);
		took += seconds() - start;
		if (took < least)
			least = took;
	}
	/* The machine may be busy now and then. */
	print_message("%f s\n", least);
	assert_true(least < 0.2);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_jobs_makes_the_same_rows),
		cmocka_unit_test(damage_is_told_the_same_way),
		cmocka_unit_test(an_error_comes_behind_the_rows_before_it),
		cmocka_unit_test(
		    from_wherever_reading_begins_the_rest_is_the_same),
		cmocka_unit_test(rows_that_are_not_taken_are_bounded),
		cmocka_unit_test(rows_are_the_same_wherever_they_are_made),
		cmocka_unit_test(closing_and_seeking_wait_for_little),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
