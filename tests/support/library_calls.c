/*
 * A program that calls into a library again and again, as a trace.
 */
#include "support/library_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Into the library and back, `rounds` times; `tnt` before the way back. */
void
lc_calls(struct pt_packets *p, const char *tnt, unsigned int rounds)
{
	pt_psb_plus(p, LC_MAIN, 64);
	for (unsigned int i = 0; i < rounds; i++) {
		pt_tip(p, PT_IP_32, LC_LIBRARY);
		if (tnt != NULL)
			pt_tnt(p, tnt);
		pt_tip(p, PT_IP_32, LC_MAIN);
	}
	pt_fup(p, PT_IP_32, LC_MAIN);
	pt_pgd(p, PT_IP_NONE, 0);
}

struct hwtd_trace *
lc_program(const struct pt_packets *p, uint32_t pid)
{
	struct hwtd_trace *trace = mt_create();
	const struct hwtd_stream_desc d = {
		.cpu = HWTD_NO_ID,
		.pid = pid,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 },
	};

	(void)mt_code(trace, LC_MAIN, lc_jump, sizeof(lc_jump));
	(void)mt_stream(trace, p, &d);
	return (trace);
}

/*
 * Rows of a sealed trace by image: "code newer older ...", a gap as its
 * reason and address.
 */
void
lc_assert_images(struct hwtd_trace *trace, const char *want)
{
	struct mt_rows rows;
	char got[4096] = "";
	size_t n = 0;

	mt_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_event *e = &rows.at[i].row;
		struct hwtd_section s = { .size = sizeof(s) };

		assert_true(sizeof(got) - n > 64);
		if (e->kind == HWTD_EV_BLOCK) {
			assert_int_equal(hwtd_trace_section(trace, e->section,
					     &s),
			    HWTD_OK);
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "%.40s ", s.path);
			/* Each block says where the next one is. */
			if ((e->flags & HWTD_EVF_TARGET) != 0 &&
			    i + 1 < rows.n &&
			    rows.at[i + 1].row.kind == HWTD_EV_BLOCK)
				assert_int_equal(e->target,
				    rows.at[i + 1].row.ip);
		} else if (e->kind == HWTD_EV_GAP) {
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "[%s %llx] ",
			    hwtd_gap_reason_name(rows.at[i].detail.gap.reason),
			    (unsigned long long)rows.at[i].detail.gap.addr);
		}
	}
	if (n > 0)
		got[n - 1] = '\0';
	mt_rows_free(&rows);
	assert_string_equal(got, want);
}

/* PSB+ with a time. */
void
lc_timed_calls(struct pt_packets *p, uint64_t tsc, const char *tnt)
{
	pt_psb(p);
	pt_tsc(p, tsc);
	pt_fup(p, PT_IP_64, LC_MAIN);
	pt_mode_exec(p, 64);
	pt_psbend(p);
	pt_tip(p, PT_IP_32, LC_LIBRARY);
	if (tnt != NULL)
		pt_tnt(p, tnt);
	pt_tip(p, PT_IP_32, LC_MAIN);
}
