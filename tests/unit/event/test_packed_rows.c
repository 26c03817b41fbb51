/*
 * Packed rows: what goes in comes out again, and what is usual takes little.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <hwtdecode/hwtdecode.h>

#include "event/packed_rows.h"

struct fixture {
	struct hwtd_context *ctx;
	struct hwtdi_packed_rows packed;
	struct hwtd_event rows[HWTDI_ROWS];
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	hwtdi_packed_rows_init(&f->packed);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtdi_packed_rows_fini(f->ctx, &f->packed);
	hwtd_context_destroy(f->ctx);
	free(f);
	return (0);
}

/* Blocks that go from each to the next. */
static void
make_usual(struct fixture *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->rows[i] = (struct hwtd_event){
			.time_ns = 1000000000000 + 5 * (i / 3),
			.ip = 0x7f0000001000 + 0x40 * i,
			.target = 0x7f0000001040 + 0x40 * i,
			.stream_off = 70000 + i / 2,
			.insns = (uint32_t)(1 + i % 255),
			.bytes = (uint32_t)(i % 65536),
			.stream = 3,
			.context = 0,
			.section = (uint32_t)(100000 + i / 100),
			.kind = HWTD_EV_BLOCK,
			.branch = HWTD_BRANCH_JUMP,
			.flags = HWTD_EVF_TIME | HWTD_EVF_IP |
			    HWTD_EVF_TARGET | HWTD_EVF_SECTION |
			    HWTD_ISA_X86_64 << HWTD_EVF_ISA_SHIFT,
		};
}

/* Pack and unpack; `odd` rows did not fit. */
static void
check(struct fixture *f, size_t n, size_t odd)
{
	static struct hwtd_event out[HWTDI_ROWS];

	assert_int_equal(hwtdi_rows_pack(f->ctx, f->rows, n, &f->packed),
	    HWTD_OK);
	assert_int_equal(f->packed.n_odd, odd);
	memset(out, 0xa5, sizeof(out));
	hwtdi_rows_unpack(&f->packed, n, 7, out);
	for (size_t i = 0; i < n; i++) {
		out[i].context -= 7;
		assert_memory_equal(&out[i], &f->rows[i], sizeof(out[i]));
	}
}

static void
usual_rows_fit_but_the_first(void **state)
{
	struct fixture *f = *state;

	make_usual(f, HWTDI_ROWS);
	check(f, HWTDI_ROWS, 1);
	check(f, 1, 1);
	check(f, 0, 0);
	/* Instructions, of which only branches lead on. */
	for (size_t i = 0; i < HWTDI_ROWS; i++) {
		f->rows[i].kind = HWTD_EV_INSN;
		if (i % 4 != 0) {
			f->rows[i].flags &= (uint16_t)~HWTD_EVF_TARGET;
			f->rows[i].target = 0;
		}
	}
	check(f, HWTDI_ROWS, 1);
	/* The kernel's. */
	for (size_t i = 0; i < HWTDI_ROWS; i++) {
		f->rows[i].ip |= 0xffff800000000000;
		if (i % 4 == 0)
			f->rows[i].target |= 0xffff800000000000;
	}
	check(f, HWTDI_ROWS, 1);
}

static void
much_does_not_fit(void **state)
{
	struct fixture *f = *state;
	struct hwtd_event *row = &f->rows[4];

	make_usual(f, 9);
	row->insns = 255;
	row->bytes = 65535;
	check(f, 9, 1);
	row->insns = 256;
	check(f, 9, 2);
	make_usual(f, 9);
	row->bytes = 65536;
	check(f, 9, 2);
	make_usual(f, 9);
	row->value = 1;
	check(f, 9, 2);
	make_usual(f, 9);
	row->kind = HWTD_EV_ENABLE;
	check(f, 9, 2);
	make_usual(f, 9);
	row->branch = 0xff;
	check(f, 9, 2);
	/* It, and the one behind it. */
	make_usual(f, 9);
	row->context = 1;
	check(f, 9, 3);
	make_usual(f, 9);
	row->stream = 1;
	check(f, 9, 3);
	/* Its target is elsewhere; there is none, but a number. */
	make_usual(f, 9);
	row->target++;
	check(f, 9, 2);
	make_usual(f, 9);
	row->flags &= (uint16_t)~HWTD_EVF_TARGET;
	check(f, 9, 2);
	/* It, and the one that goes there. */
	make_usual(f, 9);
	row->ip = row[-1].target = 0x0000800000000000;
	check(f, 9, 3);
	make_usual(f, 9);
	row->ip = row[-1].target = 0xffff7fffffffffff;
	check(f, 9, 3);
}

static void
time_and_offset_go_on_in_small_steps(void **state)
{
	struct fixture *f = *state;

	for (uint64_t more = 65535; more <= 65536; more++) {
		make_usual(f, 9);
		for (size_t i = 4; i < 9; i++)
			f->rows[i].time_ns = f->rows[3].time_ns + more;
		check(f, 9, more == 65535 ? 1 : 2);
	}
	for (uint64_t more = 255; more <= 256; more++) {
		make_usual(f, 9);
		for (size_t i = 4; i < 9; i++)
			f->rows[i].stream_off = f->rows[3].stream_off + more;
		check(f, 9, more == 255 ? 1 : 2);
	}
	/* Back, and on again. */
	make_usual(f, 9);
	f->rows[4].time_ns = 0;
	check(f, 9, 3);
}

static void
sections_are_numbered(void **state)
{
	struct fixture *f = *state;

	make_usual(f, 200);
	for (size_t i = 0; i < 200; i++)
		f->rows[i].section = UINT32_MAX -
		    (uint32_t)(i % HWTDI_PACKED_SECTIONS);
	check(f, 200, 1);
	/* One that is one too many, six times. */
	for (size_t i = 0; i < 6; i++)
		f->rows[50 + 20 * i].section = 5;
	check(f, 200, 7);
}

/* Samples of one thread, some of which are branches that were taken. */
static void
make_samples(struct fixture *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct hwtd_event *row = &f->rows[i];

		*row = (struct hwtd_event){
			.time_ns = 1000 + 9 * i,
			.ip = 0xffff800000001000 + 4 * i,
			.stream_off = 64 * (i + 1),
			.value = i,
			.stream = 3,
			.kind = HWTD_EV_SAMPLE,
			.branch = HWTD_BRANCH_NONE,
			.flags = HWTD_EVF_TIME | HWTD_EVF_IP | HWTD_EVF_VALUE,
		};
		if (i % 3 != 0)
			continue;
		row->branch = HWTD_BRANCH_CONDITIONAL;
		row->flags |= HWTD_EVF_TARGET | HWTD_EVF_TAKEN;
		row->target = row->ip +
		    (i % 2 == 0 ? 0x7fffffff : 0 - UINT64_C(0x80000000));
	}
}

/* As they are made: those that fit, and others in between. */
static void
check_samples(struct fixture *f, size_t n, size_t odd)
{
	static struct hwtd_event out[HWTDI_ROWS];

	hwtdi_packed_rows_clear(&f->packed, HWTD_EV_SAMPLE);
	for (size_t i = 0; i < n; i++)
		if (f->rows[i].kind != HWTD_EV_SAMPLE ||
		    !hwtdi_packed_sample(&f->packed, i, &f->rows[i]))
			assert_int_equal(hwtdi_packed_odd(f->ctx, &f->packed,
					     i, &f->rows[i]),
			    HWTD_OK);
	assert_int_equal(f->packed.n_odd, odd);
	memset(out, 0xa5, sizeof(out));
	hwtdi_rows_unpack(&f->packed, n, 7, out);
	for (size_t i = 0; i < n; i++) {
		out[i].context -= 7;
		assert_memory_equal(&out[i], &f->rows[i], sizeof(out[i]));
	}
}

static void
samples_fit_but_the_first(void **state)
{
	struct fixture *f = *state;
	struct hwtd_event *row = &f->rows[6];

	make_samples(f, HWTDI_ROWS);
	check_samples(f, HWTDI_ROWS, 1);
	check_samples(f, 1, 1);
	/* They are not packed behind their maker's back. */
	check(f, 9, 9);
	/* Further than that. */
	row->target++;
	check_samples(f, 9, 2);
	make_samples(f, 9);
	f->rows[3].target--;
	check_samples(f, 9, 2);
	make_samples(f, 9);
	row->ip = UINT64_C(1) << 47;
	row->target = row->ip;
	check_samples(f, 9, 2);
	/* Another context, up to the end. */
	make_samples(f, 9);
	for (size_t i = 6; i < 9; i++)
		f->rows[i].context = 1;
	check_samples(f, 9, 2);
	make_samples(f, 9);
	for (size_t i = 6; i < 9; i++)
		f->rows[i].stream_off += 192;
	check_samples(f, 9, 2);
	make_samples(f, 9);
	row->time_ns = row[-1].time_ns + 65536;
	row[1].time_ns = row[2].time_ns = row->time_ns;
	check_samples(f, 9, 2);
	/* A gap has its own details; samples go on behind it. */
	make_samples(f, 9);
	row->kind = HWTD_EV_GAP;
	row->value = 0;
	row[1].value--;
	row[2].value--;
	check_samples(f, 9, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(samples_fit_but_the_first,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(usual_rows_fit_but_the_first,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(much_does_not_fit, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    time_and_offset_go_on_in_small_steps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sections_are_numbered, set_up,
		    tear_down),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
