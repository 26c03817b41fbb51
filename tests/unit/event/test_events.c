/*
 * The contract of cursors: misuse, batches, lifetimes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"

#define BASE 0x100000u

/* jne to itself; ptwrite %eax; nop */
static const uint8_t code[] = { 0x75, 0xfe, 0xf3, 0x0f, 0xae, 0xe0, 0x90, 0x90,
	0x90 };

#define WANT                                                                  \
	"gap unsynced [0,2) after=100000 @0\n"                                \
	"mode value=0 100000 status 64\n"                                     \
	"block 100000 1/2 conditional ->100000 taken 64 sec0\n"               \
	"block 100000 1/2 conditional ->100002 64 sec0\n"                     \
	"block 100002 1/4 ->100006 64 sec0\n"                                 \
	"marker ptwrite 4:55 100002\n"                                        \
	"power exit state=1 sub=2 hw=0 wake=1\n"                              \
	"block 100006 1/1 ->100007 64 sec0\n"                                 \
	"disable 100007 async\n"
#define ROWS 9

/* A stream with rows of many kinds, and two details of a gap. */
static void
packets(struct pt_packets *p)
{
	pt_pad(p, 2);
	pt_psb_plus(p, BASE, 64);
	pt_tnt(p, "TN");
	pt_ptw(p, 4, 0x55, 1);
	pt_fup(p, PT_IP_16, BASE + 2);
	pt_pwrx(p, 1, 2, PT_WAKE_INTERRUPT);
	pt_fup(p, PT_IP_16, BASE + 7);
	pt_pgd(p, PT_IP_NONE, 0);
}

static int
setup(void **state)
{
	struct pt_packets p = { 0 };

	packets(&p);
	*state = mt_simple(BASE, code, sizeof(code), &p);
	pt_free(&p);
	return (0);
}

static int
teardown(void **state)
{
	hwtd_trace_close(*state);
	return (0);
}

static void
the_trace_of_these_tests_has_these_rows(void **state)
{
	assert_rows(*state, NULL, WANT);
}

/* Misuse. */

static void
opening_without_trace_or_place_is_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev = NULL;

	assert_int_equal(hwtd_events_open(NULL, NULL, &ev, &err),
	    HWTD_E_INVALID);
	assert_int_equal(err.code, HWTD_E_INVALID);
	assert_true(err.message[0] != '\0');
	assert_int_equal(hwtd_events_open(*state, NULL, NULL, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_events_open(NULL, NULL, NULL, NULL),
	    HWTD_E_INVALID);
	assert_null(ev);
}

static void
a_trace_that_is_not_sealed_cannot_be_read(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = mt_create();
	struct hwtd_events *ev = NULL;

	(void)state;
	assert_int_equal(hwtd_events_open(trace, NULL, &ev, &err),
	    HWTD_E_STATE);
	assert_int_equal(err.code, HWTD_E_STATE);
	assert_null(ev);
	hwtd_trace_close(trace);
}

static void
options_out_of_range_are_refused(void **state)
{
	static const uint32_t one[] = { 0 }, nine[] = { 0, 9 };
	static const struct {
		const char *name;
		struct hwtd_events_options o;
		int want;
	} cases[] = {
		{ "level", { .level = 2 }, HWTD_E_INVALID },
		{ "level", { .level = UINT32_MAX }, HWTD_E_INVALID },
		{ "kind 16", { .kinds = 1u << 16 }, HWTD_E_INVALID },
		{ "kind 31", { .kinds = 1u << 31 | 2 }, HWTD_E_INVALID },
		{ "flag", { .flags = 2 }, HWTD_E_INVALID },
		{ "flag", { .flags = 0x80000000 }, HWTD_E_INVALID },
		{ "jobs", { .jobs = 1025 }, HWTD_E_INVALID },
		{ "jobs", { .jobs = UINT32_MAX }, HWTD_E_INVALID },
		{ "engine", { .engine = "nope" }, HWTD_E_NOT_FOUND },
		{ "engine", { .engine = "" }, HWTD_E_NOT_FOUND },
		{ "stream", { .streams = nine, .n_streams = 2 },
		    HWTD_E_NOT_FOUND },
		{ "cpus", { .n_cpus = 1 }, HWTD_E_INVALID },
		{ "tids", { .n_tids = 1 }, HWTD_E_INVALID },
		{ "pids", { .n_pids = 1 }, HWTD_E_INVALID },
		{ "times", { .n_times = 1 }, HWTD_E_INVALID },
		{ "addresses", { .n_addresses = 1 }, HWTD_E_INVALID },
		{ "streams", { .n_streams = 1 }, HWTD_E_INVALID },
		{ "streams", { .n_streams = SIZE_MAX }, HWTD_E_INVALID },
		{ "good", { .streams = one, .n_streams = 1 }, HWTD_OK },
		{ "good", { .level = 1, .kinds = 0xffff, .flags = 1 },
		    HWTD_OK },
		{ "good", { .engine = "libipt" }, HWTD_OK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_events_options o = cases[i].o;
		struct hwtd_events *ev = NULL;

		print_message("case %s\n", cases[i].name);
		o.size = sizeof(o);
		assert_int_equal(hwtd_events_open(*state, &o, &ev, &err),
		    cases[i].want);
		assert_int_equal(err.code, cases[i].want);
		assert_int_equal(err.message[0] != '\0',
		    cases[i].want != HWTD_OK);
		assert_int_equal(ev != NULL, cases[i].want == HWTD_OK);
		hwtd_events_close(ev);
	}
}

static void
options_of_a_newer_library_are_taken_if_they_are_zero(void **state)
{
	struct {
		struct hwtd_events_options o;
		uint64_t future[4];
	} newer;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev = NULL;

	memset(&newer, 0, sizeof(newer));
	newer.o.size = sizeof(newer);
	assert_int_equal(hwtd_events_open(*state, &newer.o, &ev, &err),
	    HWTD_OK);
	hwtd_events_close(ev);
	ev = NULL;
	newer.future[3] = (uint64_t)1 << 63;
	assert_int_equal(hwtd_events_open(*state, &newer.o, &ev, &err),
	    HWTD_E_TOO_NEW);
	assert_null(ev);
}

static void
options_of_an_older_caller_end_before_the_engine(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events_options o;
	struct hwtd_events *ev = NULL;

	/* What lies behind the size must not be looked at. */
	memset(&o, 0xff, sizeof(o));
	o.size = offsetof(struct hwtd_events_options, kinds);
	o.level = HWTD_LEVEL_BLOCK;
	o.jobs = 0;
	assert_int_equal(hwtd_events_open(*state, &o, &ev, &err), HWTD_OK);
	hwtd_events_close(ev);
}

static void
reading_without_cursor_or_room_is_refused(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct hwtd_event row;
	const struct hwtd_batch good = {
		.size = sizeof(good),
		.events = &row,
		.stride = sizeof(row),
		.cap = 1,
	};
	struct hwtd_batch b = good;

	assert_int_equal(hwtd_events_read(NULL, &b, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_events_read(ev, NULL, &err), HWTD_E_INVALID);
	b.cap = 0;
	assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_E_INVALID);
	b = good;
	b.stride = 63;
	assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_E_INVALID);
	b.stride = 0;
	assert_int_equal(hwtd_events_read(ev, &b, NULL), HWTD_E_INVALID);
	b = good;
	b.events = NULL;
	assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_E_INVALID);
	b = good;
	b.size = 0;
	assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_E_INVALID);
	b.size = offsetof(struct hwtd_batch, n);
	assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_E_INVALID);
	assert_int_equal(err.code, HWTD_E_INVALID);
	/* Nothing was lost by that. */
	b = good;
	assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_OK);
	assert_int_equal(b.n, 1);
	assert_int_equal(row.kind, HWTD_EV_GAP);
	hwtd_events_close(ev);
}

static void
other_calls_without_cursor_are_refused(void **state)
{
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev = mt_events(*state, NULL);

	assert_int_equal(hwtd_events_seek_ns(NULL, 0, &err), HWTD_E_INVALID);
	assert_int_equal(hwtd_events_seek_offset(NULL, 0, 0, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_events_stats(NULL, &stats), HWTD_E_INVALID);
	assert_int_equal(hwtd_events_stats(ev, NULL), HWTD_E_INVALID);
	assert_int_equal(hwtd_events_seek_offset(ev, 1, 0, &err),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(err.code, HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_events_seek_offset(ev, HWTD_NO_ID, 0, &err),
	    HWTD_E_NOT_FOUND);
	hwtd_events_close(ev);
	hwtd_events_close(NULL);
}

static void
a_seek_that_fails_changes_nothing(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct mt_rows rows = { 0 };
	char *text;

	assert_int_equal(hwtd_events_seek_offset(ev, 7, 0, &err),
	    HWTD_E_NOT_FOUND);
	mt_read(ev, 100, &rows);
	text = row_text(*state, &rows);
	assert_string_equal(text, WANT);
	free(text);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
}

/* Batches. */

static void
rows_are_the_same_in_batches_of_any_size(void **state)
{
	struct mt_rows whole;

	mt_rows(*state, NULL, &whole);
	assert_int_equal(whole.n, ROWS);
	for (size_t cap = 1; cap <= ROWS + 1; cap++) {
		struct hwtd_events *ev = mt_events(*state, NULL);
		struct mt_rows rows = { 0 };

		mt_read(ev, cap, &rows);
		mt_assert_same(&whole, 0, &rows);
		mt_rows_free(&rows);
		hwtd_events_close(ev);
	}
	mt_rows_free(&whole);
}

static void
a_larger_stride_leaves_what_lies_between_rows_alone(void **state)
{
	struct {
		struct hwtd_event row;
		uint8_t more[40];
	} wide[ROWS];
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = &wide[0].row,
		.stride = sizeof(wide[0]),
		.cap = ROWS,
	};
	struct mt_rows rows;
	size_t n = 0;

	memset(wide, 0xa5, sizeof(wide));
	mt_rows(*state, NULL, &rows);
	while (n < ROWS) {
		b.events = &wide[n].row;
		b.cap = ROWS - n;
		assert_int_equal(hwtd_events_read(ev, &b, NULL), HWTD_OK);
		assert_true(b.n > 0);
		n += b.n;
	}
	for (size_t i = 0; i < ROWS; i++) {
		assert_int_equal(wide[i].row.kind, rows.at[i].row.kind);
		assert_int_equal(wide[i].row.ip, rows.at[i].row.ip);
		for (size_t m = 0; m < sizeof(wide[i].more); m++)
			assert_int_equal(wide[i].more[m], 0xa5);
	}
	mt_rows_free(&rows);
	hwtd_events_close(ev);
}

static void
a_batch_without_details_still_gets_rows(void **state)
{
	struct hwtd_event rows[ROWS];
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct hwtd_batch b;

	memset(&b, 0xa5, sizeof(b));
	b.size = offsetof(struct hwtd_batch, gaps);
	b.events = rows;
	b.stride = sizeof(rows[0]);
	b.cap = ROWS;
	assert_int_equal(hwtd_events_read(ev, &b, NULL), HWTD_OK);
	assert_true(b.n > 0);
	assert_int_equal(b.size, offsetof(struct hwtd_batch, gaps));
	/* Behind its size the batch is not ours. */
	assert_int_equal(b.gap_stride, (size_t)0xa5a5a5a5a5a5a5a5);
	hwtd_events_close(ev);
}

static void
a_batch_of_a_newer_caller_is_cleared_behind_what_is_known(void **state)
{
	struct {
		struct hwtd_batch b;
		uint64_t future[4];
	} newer;
	struct hwtd_event row;
	struct hwtd_events *ev = mt_events(*state, NULL);

	memset(&newer, 0xa5, sizeof(newer));
	newer.b.size = sizeof(newer);
	newer.b.events = &row;
	newer.b.stride = sizeof(row);
	newer.b.cap = 1;
	assert_int_equal(hwtd_events_read(ev, &newer.b, NULL), HWTD_OK);
	assert_int_equal(newer.b.n, 1);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(newer.future[i], 0);
	hwtd_events_close(ev);
}

static void
details_count_from_zero_in_every_batch(void **state)
{
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct hwtd_event row;
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = &row,
		.stride = sizeof(row),
		.cap = 1,
	};
	size_t n = 0;

	while (hwtd_events_read(ev, &b, NULL) == HWTD_OK) {
		assert_int_equal(b.n, 1);
		assert_int_equal(b.n_gaps, row.kind == HWTD_EV_GAP);
		assert_int_equal(b.n_markers, row.kind == HWTD_EV_MARKER);
		assert_int_equal(b.n_powers, row.kind == HWTD_EV_POWER);
		assert_int_equal(b.n_asyncs, 0);
		assert_true(b.gap_stride >= sizeof(struct hwtd_gap));
		assert_true(b.marker_stride >= sizeof(struct hwtd_marker));
		assert_true(b.power_stride >= sizeof(struct hwtd_power));
		if (row.kind == HWTD_EV_GAP || row.kind == HWTD_EV_MARKER ||
		    row.kind == HWTD_EV_POWER) {
			assert_int_equal(row.value, 0);
			assert_true((row.flags & HWTD_EVF_VALUE) != 0);
		}
		n++;
	}
	assert_int_equal(n, ROWS);
	hwtd_events_close(ev);
}

static void
the_end_stays_the_end(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct hwtd_event rows[2];
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 2,
	};

	while (hwtd_events_read(ev, &b, &err) == HWTD_OK)
		;
	for (int i = 0; i < 3; i++) {
		b.n = 77;
		assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_END);
		assert_int_equal(b.n, 0);
		assert_int_equal(b.n_gaps, 0);
	}
	/* The end is no error. */
	assert_int_equal(err.code, 0);
	hwtd_events_close(ev);
}

static void
a_cursor_that_was_sought_begins_anew(void **state)
{
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct mt_rows whole;

	mt_rows(*state, NULL, &whole);
	for (int i = 0; i < 3; i++) {
		struct mt_rows rows = { 0 };

		mt_read(ev, 4, &rows);
		mt_assert_same(&whole, 0, &rows);
		mt_rows_free(&rows);
		assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
	}
	mt_rows_free(&whole);
	hwtd_events_close(ev);
}

/* Lifetimes. */

static void
a_cursor_outlives_its_trace(void **state)
{
	struct hwtd_events *ev;
	struct hwtd_trace *trace;
	struct pt_packets p = { 0 };
	struct mt_rows rows = { 0 };

	(void)state;
	packets(&p);
	trace = mt_simple(BASE, code, sizeof(code), &p);
	pt_free(&p);
	ev = mt_events(trace, NULL);
	hwtd_trace_close(trace);
	mt_read(ev, 3, &rows);
	assert_int_equal(rows.n, ROWS);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
}

static void
options_are_copied(void **state)
{
	uint32_t *streams = malloc(sizeof(*streams));
	char *engine = malloc(7);
	struct hwtd_events_options o = {
		.size = sizeof(o),
		.streams = streams,
		.n_streams = 1,
		.engine = engine,
	};
	struct hwtd_events *ev;
	struct mt_rows rows = { 0 };

	assert_non_null(streams);
	assert_non_null(engine);
	*streams = 0;
	memcpy(engine, "libipt", 7);
	ev = mt_events(*state, &o);
	free(streams);
	free(engine);
	memset(&o, 0xa5, sizeof(o));
	mt_read(ev, 3, &rows);
	assert_int_equal(rows.n, ROWS);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
}

static void
several_cursors_on_one_trace_do_not_disturb_each_other(void **state)
{
	struct hwtd_events *evs[4];
	struct mt_rows whole, rows[4] = { 0 };
	bool more = true;

	mt_rows(*state, NULL, &whole);
	for (size_t i = 0; i < 4; i++)
		evs[i] = mt_events(*state, NULL);
	/* A row here, two rows there... */
	while (more) {
		more = false;
		for (size_t i = 0; i < 4; i++) {
			struct hwtd_event buf[4];
			struct hwtd_batch b = {
				.size = sizeof(b),
				.events = buf,
				.stride = sizeof(buf[0]),
				.cap = i + 1,
			};

			if (hwtd_events_read(evs[i], &b, NULL) != HWTD_OK)
				continue;
			more = true;
			for (size_t r = 0; r < b.n; r++)
				assert_int_equal(buf[r].kind,
				    whole.at[rows[i].n++].row.kind);
		}
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(rows[i].n, whole.n);
		hwtd_events_close(evs[i]);
	}
	mt_rows_free(&whole);
}

/* Statistics. */

static void
statistics_count_what_was_made(void **state)
{
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct hwtd_stats s = { .size = sizeof(s) };
	struct mt_rows rows = { 0 };

	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.bytes, 0);
	assert_int_equal(s.insns, 0);
	mt_read(ev, 100, &rows);
	mt_rows_free(&rows);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.size, sizeof(s));
	/* 2 pads, PSB+ 27, TNT 1, PTW 6, FUP 3, PWRX 7, FUP 3, PGD 1. */
	assert_int_equal(s.bytes, 50);
	assert_int_equal(s.gap_bytes, 2);
	assert_int_equal(s.gaps[HWTD_GAP_UNSYNCED], 1);
	assert_int_equal(s.gap_bytes_by_reason[HWTD_GAP_UNSYNCED], 2);
	assert_int_equal(s.kinds[HWTD_EV_BLOCK], 4);
	assert_int_equal(s.kinds[HWTD_EV_INSN], 0);
	assert_int_equal(s.kinds[HWTD_EV_GAP], 1);
	assert_int_equal(s.kinds[HWTD_EV_MODE], 1);
	assert_int_equal(s.kinds[HWTD_EV_MARKER], 1);
	assert_int_equal(s.kinds[HWTD_EV_POWER], 1);
	assert_int_equal(s.kinds[HWTD_EV_DISABLE], 1);
	assert_int_equal(s.insns, 4);
	assert_int_equal(s.blocks, 4);
	assert_int_equal(s.has_time, 0);
	assert_int_equal(s.file_gap_bytes, 0);
	/* A seek begins anew. */
	assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.insns, 0);
	hwtd_events_close(ev);
}

static void
blocks_are_counted_alike_at_both_levels(void **state)
{
	static const struct hwtd_events_options insns = {
		.size = sizeof(insns),
		.level = HWTD_LEVEL_INSN,
	};
	struct hwtd_events *ev = mt_events(*state, &insns);
	struct hwtd_stats s = { .size = sizeof(s) };
	struct mt_rows rows = { 0 };

	mt_read(ev, 100, &rows);
	mt_rows_free(&rows);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.kinds[HWTD_EV_BLOCK], 0);
	assert_int_equal(s.kinds[HWTD_EV_INSN], 4);
	assert_int_equal(s.insns, 4);
	assert_int_equal(s.blocks, 4);
	hwtd_events_close(ev);
}

static void
statistics_of_an_older_caller_are_cut(void **state)
{
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct mt_rows rows = { 0 };
	struct hwtd_stats s;

	mt_read(ev, 100, &rows);
	mt_rows_free(&rows);
	memset(&s, 0xa5, sizeof(s));
	s.size = offsetof(struct hwtd_stats, kinds);
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
	assert_int_equal(s.bytes, 50);
	assert_int_equal(s.kinds[0], (uint64_t)0xa5a5a5a5a5a5a5a5);
	s.size = 0;
	assert_int_equal(hwtd_events_stats(ev, &s), HWTD_E_INVALID);
	hwtd_events_close(ev);
}

/* Strict. */

static void
a_strict_cursor_ends_with_the_first_gap(void **state)
{
	static const struct hwtd_events_options strict = {
		.size = sizeof(strict),
		.flags = HWTD_DECODE_STRICT,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *ev = mt_events(*state, &strict);
	struct hwtd_event rows[ROWS];
	struct hwtd_batch b = {
		.size = sizeof(b),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS,
	};

	for (int pass = 0; pass < 2; pass++) {
		/* The gap itself is handed out. */
		assert_int_equal(hwtd_events_read(ev, &b, &err), HWTD_OK);
		assert_int_equal(b.n, 1);
		assert_int_equal(rows[0].kind, HWTD_EV_GAP);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(hwtd_events_read(ev, &b, &err),
			    HWTD_E_CORRUPT);
			assert_int_equal(b.n, 0);
			assert_int_equal(err.code, HWTD_E_CORRUPT);
		}
		assert_int_equal(hwtd_events_seek_ns(ev, 0, &err), HWTD_OK);
	}
	hwtd_events_close(ev);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_trace_of_these_tests_has_these_rows),
		TEST(opening_without_trace_or_place_is_refused),
		TEST(a_trace_that_is_not_sealed_cannot_be_read),
		TEST(options_out_of_range_are_refused),
		TEST(options_of_a_newer_library_are_taken_if_they_are_zero),
		TEST(options_of_an_older_caller_end_before_the_engine),
		TEST(reading_without_cursor_or_room_is_refused),
		TEST(other_calls_without_cursor_are_refused),
		TEST(a_seek_that_fails_changes_nothing),
		TEST(rows_are_the_same_in_batches_of_any_size),
		TEST(a_larger_stride_leaves_what_lies_between_rows_alone),
		TEST(a_batch_without_details_still_gets_rows),
		TEST(
		    a_batch_of_a_newer_caller_is_cleared_behind_what_is_known),
		TEST(details_count_from_zero_in_every_batch),
		TEST(the_end_stays_the_end),
		TEST(a_cursor_that_was_sought_begins_anew),
		TEST(a_cursor_outlives_its_trace),
		TEST(options_are_copied),
		TEST(several_cursors_on_one_trace_do_not_disturb_each_other),
		TEST(statistics_count_what_was_made),
		TEST(blocks_are_counted_alike_at_both_levels),
		TEST(statistics_of_an_older_caller_are_cut),
		TEST(a_strict_cursor_ends_with_the_first_gap),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
