/*
 * Damage of a file that no byte of a stream can show: at the end of a stream,
 * or of no known stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/row_text.h"
#include "trace/trace_internal.h"

#define BASE 0x1000u

static const uint8_t code[] = { 0x90, 0x90, 0x90 };

static int
setup(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	mt_code(trace, BASE, code, sizeof(code));
	pt_psb_plus(&p, BASE, 64);
	pt_fup(&p, PT_IP_16, BASE + 1);
	pt_pgd(&p, PT_IP_NONE, 0);
	assert_int_equal(p.n, 0x1f);
	(void)mt_stream(trace, &p, NULL);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	/* As if it had been read from a file. */
	trace->file.size = 0x1000;
	assert_int_equal(hwtdi_trace_note_damage(trace, 0x300, 0x40,
			     HWTD_NO_ID, 0, 0, &err, "chunk of no kind"),
	    HWTD_OK);
	/* Known from the bytes themselves: no row of its own. */
	assert_int_equal(hwtdi_trace_note_damage(trace, 0x400, 0x10, 0, 4, 8,
			     &err, "inside"),
	    HWTD_OK);
	assert_int_equal(hwtdi_trace_note_damage(trace, 0x500, 0x20, 0, 0x1f,
			     0x2f, &err, "lost at the end"),
	    HWTD_OK);
	assert_int_equal(hwtdi_trace_note_damage(trace, 0x600, 8, HWTD_NO_ID,
			     0, 0, &err, "more"),
	    HWTD_OK);
	/* As a reader does: damage at the end is a part of the stream. */
	assert_int_equal(hwtdi_stream_empty(hwtdi_trace_library(trace),
			     trace->streams[0], 0x2f, HWTD_EXTENT_AFTER_DAMAGE,
			     &err),
	    HWTD_OK);
	*state = mt_seal(trace);
	return (0);
}

static int
teardown(void **state)
{
	hwtd_trace_close(*state);
	return (0);
}

#define S0                                                                    \
	"mode value=0 1000 status 64\n"                                       \
	"block 1000 1/1 ->1001 64 sec0\n"                                     \
	"disable 1001 async\n"                                                \
	"gap file-damaged [1f,2f) file=500+20 @1f\n"
#define S1                                                                    \
	"s1 mode value=0 1000 status 64\n"                                    \
	"s1 block 1000 1/1 ->1001 64 sec0\n"                                  \
	"s1 disable 1001 async\n"
#define STRAY                                                                 \
	"s-1 gap file-damaged [0,0) file=300+40 @0\n"                         \
	"s-1 gap file-damaged [0,0) file=600+8 @0\n"

static void
damage_of_no_stream_comes_last(void **state)
{
	struct hwtd_events_options jobs = { .size = sizeof(jobs), .jobs = 2 };

	assert_rows(*state, NULL, S0 S1 STRAY);
	assert_rows(*state, &jobs, S0 S1 STRAY);
}

static void
who_asks_for_streams_sees_their_damage_only(void **state)
{
	static const uint32_t ids[] = { 0, 1 };
	struct hwtd_events_options o = {
		.size = sizeof(o),
		.streams = &ids[0],
		.n_streams = 1,
	};

	assert_rows(*state, &o, S0);
	o.streams = &ids[1];
	assert_rows(*state, &o, S1);
}

static void
damage_is_counted_also_where_it_is_not_shown(void **state)
{
	struct hwtd_events_options o = {
		.size = sizeof(o),
		.kinds = 1u << HWTD_EV_BLOCK,
	};

	for (int pass = 0; pass < 2; pass++) {
		struct hwtd_events *ev = mt_events(*state,
		    pass == 0 ? NULL : &o);
		struct hwtd_stats s = { .size = sizeof(s) };
		struct mt_rows rows = { 0 };

		mt_read(ev, 3, &rows);
		assert_int_equal(rows.n, pass == 0 ? 9 : 2);
		assert_int_equal(hwtd_events_stats(ev, &s), HWTD_OK);
		assert_int_equal(s.gaps[HWTD_GAP_FILE_DAMAGED], 3);
		assert_int_equal(s.kinds[HWTD_EV_GAP], 3);
		assert_int_equal(s.gap_bytes, 0x10);
		assert_int_equal(s.file_gap_bytes, 0x20 + 0x40 + 8);
		mt_rows_free(&rows);
		hwtd_events_close(ev);
	}
}

static void
after_a_seek_it_is_told_again_or_not_at_all(void **state)
{
	struct hwtd_events *ev = mt_events(*state, NULL);
	struct mt_rows rows = { 0 };
	char *text;

	mt_read(ev, 100, &rows);
	rows.n = 0;
	assert_int_equal(hwtd_events_seek_ns(ev, 0, NULL), HWTD_OK);
	mt_read(ev, 100, &rows);
	text = row_text(*state, &rows);
	assert_string_equal(text, S0 S1 STRAY);
	free(text);
	rows.n = 0;
	assert_int_equal(hwtd_events_seek_offset(ev, 0, 0, NULL), HWTD_OK);
	mt_read(ev, 100, &rows);
	text = row_text(*state, &rows);
	assert_string_equal(text, S0);
	free(text);
	mt_rows_free(&rows);
	hwtd_events_close(ev);
}

static void
nobody_executed_what_belongs_to_no_stream(void **state)
{
	struct hwtd_exec_context c = { .size = sizeof(c) };
	struct mt_rows rows;

	mt_rows(*state, NULL, &rows);
	assert_int_equal(hwtd_trace_exec_context(*state,
			     rows.at[rows.n - 1].row.context, &c),
	    HWTD_OK);
	assert_int_equal(c.pid, HWTD_NO_ID);
	assert_int_equal(c.tid, HWTD_NO_ID);
	assert_int_equal(c.cpu, HWTD_NO_ID);
	assert_string_equal(rows.at[rows.n - 1].detail.gap.text, "more");
	mt_rows_free(&rows);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(damage_of_no_stream_comes_last),
		TEST(who_asks_for_streams_sees_their_damage_only),
		TEST(damage_is_counted_also_where_it_is_not_shown),
		TEST(after_a_seek_it_is_told_again_or_not_at_all),
		TEST(nobody_executed_what_belongs_to_no_stream),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
