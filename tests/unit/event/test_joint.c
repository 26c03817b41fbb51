/*
 * Joints of segments: where what a PSB says does not fit to what came before it,
 * there is one gap, the same whether a segment ends there or not.
 *
 * Linked with --wrap=hwtdi_segments_init, so that slots can be small.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/long_trace.h"
#include "support/memory_trace.h"
#include "support/slot_size.h"

static const uint64_t sizes[] = { 64, 100, 256, 1000, 4096 };
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const struct long_trace_options programs[] = {
	{ .seed = 21, .insns = 1500, .psb_bytes = 150 },
	{ .seed = 22,
	    .insns = 1500,
	    .psb_bytes = 110,
	    .timed = true,
	    .interrupt_of = 20,
	    .pause_of = 4 },
	{ .seed = 23,
	    .insns = 1500,
	    .psb_bytes = 130,
	    .timed = true,
	    .overflow_of = 25 },
};
#define N_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

/* What is done to a PSB+. */
enum change {
	/* Nothing. */
	NONE,
	/* Its address is one that the code does not lead to. */
	ELSEWHERE,
	/* It says that tracing is off, or if it does, on. */
	OFF,
	/* It says another mode. */
	MODE,
	CHANGES
};

static size_t
find(const struct long_trace *t, size_t psb, uint8_t mask, uint8_t value)
{
	for (size_t at = t->psbs[psb] + 16; at < t->packets.n; at++) {
		const uint8_t *p = t->packets.bytes + at;

		if (p[0] == 0x02 && p[1] == 0x23)
			break;
		if ((p[0] & mask) == value)
			return (at);
		/* TSC and FUP have payloads. */
		if (p[0] == 0x19)
			at += 7;
		else if ((p[0] & 0x1f) == 0x1d)
			at += 6;
		else if (p[0] == 0x99 || p[0] == 0x02)
			at++;
	}
	return (0);
}

static bool
change(struct long_trace *t, size_t psb, enum change what)
{
	const size_t fup = find(t, psb, 0x1f, 0x1d);
	const size_t mode = find(t, psb, 0xff, 0x99);
	uint8_t *bytes = t->packets.bytes;

	switch (what) {
	case ELSEWHERE:
		if (fup == 0)
			return (false);
		/* The program is a loop over less than this. */
		bytes[fup + 3] ^= 0x10;
		return (true);
	case OFF:
		if (fup == 0)
			return (false);
		memset(bytes + fup, 0, 7);
		return (true);
	case MODE:
		if (mode == 0 || fup == 0)
			return (false);
		bytes[mode + 1] ^= 3;
		return (true);
	default:
		return (true);
	}
}

/* Gaps are the same, and rows of code but for those of segments' starts. */
static void
assert_same_gaps(const struct mt_rows *a, const struct mt_rows *b)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < a->n && a->at[i].row.kind != HWTD_EV_GAP)
			i++;
		while (k < b->n && b->at[k].row.kind != HWTD_EV_GAP)
			k++;
		if (i == a->n || k == b->n)
			break;
		assert_memory_equal(&a->at[i].detail.gap, &b->at[k].detail.gap,
		    sizeof(struct hwtd_gap));
		assert_int_equal(a->at[i].row.ip, b->at[k].row.ip);
		assert_int_equal(a->at[i].row.target, b->at[k].row.target);
		assert_int_equal(a->at[i].row.flags, b->at[k].row.flags);
		assert_int_equal(a->at[i].row.time_ns, b->at[k].row.time_ns);
		assert_int_equal(a->at[i].row.stream_off,
		    b->at[k].row.stream_off);
		i++;
		k++;
	}
	assert_int_equal(i, a->n);
	assert_int_equal(k, b->n);
}

static size_t
gaps_of(const struct mt_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		n += rows->at[i].row.kind == HWTD_EV_GAP;
	return (n);
}

static void
check(const struct long_trace *t, const struct long_trace_options *program,
    enum change what)
{
	const struct hwtd_stream_desc desc = {
		.cpu = 1,
		.clock = { .counts_per = program->timed, .ns_per = 1 },
	};
	const struct hwtd_events_options jobs = { .size = sizeof(jobs),
		.jobs = 3 };
	struct hwtd_trace *trace = mt_create();
	struct mt_rows whole;

	(void)long_trace_code(trace);
	(void)mt_stream(trace, &t->packets, &desc);
	mt_seal(trace);
	slot_bytes = 0;
	mt_rows(trace, NULL, &whole);
	if (what == NONE)
		assert_int_equal(gaps_of(&whole), t->n_overflows);
	else
		assert_true(gaps_of(&whole) > t->n_overflows);
	for (size_t s = 0; s < N_SIZES; s++) {
		struct mt_rows rows, same;

		slot_bytes = sizes[s];
		mt_rows(trace, NULL, &rows);
		assert_same_gaps(&whole, &rows);
		mt_rows(trace, &jobs, &same);
		mt_assert_same(&rows, 0, &same);
		mt_rows_free(&same);
		mt_rows_free(&rows);
	}
	mt_rows_free(&whole);
	hwtd_trace_close(trace);
}

static void
a_joint_that_does_not_fit_is_one_gap(void **state)
{
	(void)state;
	for (size_t p = 0; p < N_PROGRAMS; p++)
		for (enum change what = NONE; what < CHANGES; what++) {
			struct long_trace t;
			size_t n = 0;

			long_trace_make(&t, &programs[p]);
			for (size_t psb = 1; psb + 1 < t.n_psbs; psb++) {
				uint8_t *old = malloc(t.packets.n);

				assert_non_null(old);
				memcpy(old, t.packets.bytes, t.packets.n);
				if (change(&t, psb, what)) {
					print_message("%zu: %d at %zx\n", p,
					    (int)what, t.psbs[psb]);
					check(&t, &programs[p], what);
					n++;
				}
				memcpy(t.packets.bytes, old, t.packets.n);
				free(old);
			}
			assert_true(n > 3);
			long_trace_free(&t);
		}
}

/* Of two PSB+ without an address, the second of which begins a segment. */
static void
check_status(const char *engine)
{
	const struct hwtd_events_options opts = { .size = sizeof(opts),
		.engine = engine };
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	for (unsigned int i = 0; i < 40; i++) {
		pt_psb(&p);
		pt_vmcs(&p, 0x1000 + 0x1000 * i);
		pt_psbend(&p);
	}
	(void)mt_stream(trace, &p, NULL);
	mt_seal(trace);
	for (size_t s = 0; s <= N_SIZES; s++) {
		struct mt_rows rows;
		uint64_t want = 0x1000;

		slot_bytes = s < N_SIZES ? sizes[s] : 0;
		mt_rows(trace, &opts, &rows);
		for (size_t i = 0; i < rows.n; i++) {
			const struct hwtd_event *row = &rows.at[i].row;
			struct hwtd_exec_context context = {
				.size = sizeof(context)
			};

			assert_int_equal(row->kind, HWTD_EV_CONTEXT);
			assert_true((row->flags & HWTD_EVF_STATUS) != 0);
			assert_int_equal(hwtd_trace_exec_context(trace,
					     row->context, &context),
			    HWTD_OK);
			/* At the start of a segment nothing is known. */
			if ((context.flags & HWTD_CTXF_VMCS) == 0)
				continue;
			assert_int_equal(context.vmcs, want);
			want += 0x1000;
		}
		assert_int_equal(want, 0x1000 + 0x1000 * 40);
		mt_rows_free(&rows);
	}
	hwtd_trace_close(trace);
	pt_free(&p);
}

static void
status_behind_which_a_segment_ends_is_told(void **state)
{
	(void)state;
	check_status("native");
	check_status("libipt");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_joint_that_does_not_fit_is_one_gap),
		cmocka_unit_test(status_behind_which_a_segment_ends_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
