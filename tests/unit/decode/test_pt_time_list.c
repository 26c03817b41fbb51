/*
 * The time at packets of Intel PT as lists, of many packets and of any bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/packet_clock.h"

static uint32_t
dice(uint32_t *random, uint32_t sides)
{
	*random = *random * 1664525u + 1013904223u;
	return ((*random >> 8) % sides);
}

/* A second clock over the same packets. */
static void
start_another(const struct packet_clock *w, struct hwtdi_pt_time *time)
{
	const struct hwtdi_pt_stretch s = { .bytes = w->p.bytes, .n = w->p.n };

	hwtdi_pt_time_init(time, w->library, &w->config, w->near);
	hwtdi_pt_time_start(time, &s, false);
	time->only_told = true;
}

/* A list tells the same as who asks at each byte. */
static void
check_list(const struct packet_clock *w)
{
	struct hwtdi_when list[HWTDI_WHENS], now = { 0 };
	struct hwtdi_pt_time listed, asked;
	size_t i = 0, n = 0;
	bool ended = false;

	start_another(w, &listed);
	start_another(w, &asked);
	for (uint64_t off = 0; off < w->p.n; off++) {
		const uint64_t end = off == 0 ? 0 : off + 1;
		const int rc = hwtdi_pt_time_pass(&asked, off);

		for (;;) {
			if (i == n && !ended) {
				i = 0;
				assert_int_equal(hwtdi_pt_time_list(&listed,
						     list, &n),
				    HWTD_OK);
				assert_in_range(n, 0, HWTDI_WHENS);
				ended = n == 0;
			}
			if (i == n || list[i].from_off > end)
				break;
			assert_true(list[i].from_off >= now.from_off);
			now = list[i++];
		}
		assert_int_equal(rc,
		    (now.flags & HWTDI_ANCHOR_TIME) != 0 ? HWTD_OK
							 : HWTD_E_NOT_FOUND);
		if (rc != HWTD_OK)
			continue;
		assert_int_equal(now.count, hwtdi_pt_time_told(&asked, off));
		assert_int_equal((now.flags & HWTDI_ANCHOR_ESTIMATED) != 0,
		    hwtdi_pt_time_now(&asked)->estimated);
	}
	hwtdi_pt_time_fini(&listed);
	hwtdi_pt_time_fini(&asked);
}

/* Any bytes: what is told stays in order and in bounds. */
static void
hostile_bytes_are_harmless(void **state)
{
	static const uint32_t ratios[][2] = { { 1, 1 }, { 1, UINT32_MAX },
		{ UINT32_MAX, 1 }, { 2, 250 } };

	(void)state;
	for (uint32_t seed = 0; seed < 400; seed++) {
		struct packet_clock w;
		uint32_t random = seed;
		const struct hwtdi_pt_moment *m;
		uint64_t last = 0, last_off = 0;

		pc_begin(&w);
		w.config.mtc_freq = (uint8_t)dice(&random, 256);
		w.config.nom_freq = (uint8_t)dice(&random, 256);
		w.config.cpuid_15h_eax = ratios[seed % 4][0];
		w.config.cpuid_15h_ebx = ratios[seed % 4][1];
		w.near = dice(&random, 2) == 0 ? UINT64_MAX : 0;
		for (int i = 0; i < 300; i++) {
			const uint64_t any = (uint64_t)dice(&random, 1u << 24)
				<< 40 |
			    (uint64_t)dice(&random, 1u << 24) << 16 |
			    dice(&random, 1u << 16);

			switch (dice(&random, 10)) {
			case 0:
				pc_put_psb(&w, any >> dice(&random, 56) >> 8);
				break;
			case 1:
				pt_tma(&w.p, dice(&random, 65536),
				    dice(&random, 512));
				break;
			case 2:
				pt_cyc(&w.p, any >> dice(&random, 64));
				break;
			case 3:
				pt_cbr(&w.p, dice(&random, 256));
				break;
			case 4:
				pt_ovf(&w.p);
				break;
			case 5:
				pt_tsc(&w.p, any >> dice(&random, 56) >> 8);
				break;
			case 6:
				pt_raw(&w.p, &any, dice(&random, 8));
				break;
			case 7:
				pt_exstop(&w.p, 0);
				break;
			default:
				pc_put_mtc(&w, dice(&random, 256));
				break;
			}
		}
		pc_start(&w);
		for (;;) {
			assert_int_equal(hwtdi_pt_time_look_ahead(&w.time),
			    HWTD_OK);
			m = hwtdi_pt_time_next(&w.time);
			if (m == NULL)
				break;
			assert_true(m->count >= last);
			assert_true(m->stream_off >= last_off);
			assert_true(m->stream_off < w.p.n);
			last = m->count;
			last_off = m->stream_off;
			assert_int_equal(hwtdi_pt_time_pass(&w.time, last_off),
			    HWTD_OK);
		}
		check_list(&w);
		pc_end(&w);
	}
}

/* Each CYC is one cycle, and each cycle two counts. */
static void
check_many_cyc(size_t n, bool only_told)
{
	struct packet_clock w;
	size_t first;

	pc_begin(&w);
	(void)pc_put_psb(&w, 5000);
	pt_psbend(&w.p);
	first = w.p.n;
	for (size_t i = 0; i < n; i++) {
		(void)pc_put_cyc(&w, 1);
		(void)pc_put_tnt(&w);
	}
	(void)pc_put_psb(&w, 5000 + 2 * n);
	pc_start(&w);
	w.time.only_told = only_told;
	for (size_t i = 0; i < n; i++) {
		const uint64_t at = first + 2 * i;

		assert_int_equal(hwtdi_pt_time_pass(&w.time, at), HWTD_OK);
		assert_int_equal(hwtdi_pt_time_told(&w.time, at),
		    5000 + 2 * (i + 1));
		assert_false(hwtdi_pt_time_now(&w.time)->estimated);
		if (i + 1 < n)
			assert_int_equal(
			    hwtdi_pt_time_next(&w.time)->stream_off, at + 2);
	}
	pc_end(&w);
}

/* The same as a list: that of PSB and TSC, each CYC, and the PSB and TSC again. */
static void
check_list_of_many_cyc(size_t n)
{
	struct hwtdi_when list[HWTDI_WHENS];
	struct packet_clock w;
	size_t first, tsc, psb, told = 0, n_list;

	pc_begin(&w);
	tsc = pc_put_psb(&w, 5000);
	pt_psbend(&w.p);
	first = w.p.n;
	for (size_t i = 0; i < n; i++) {
		(void)pc_put_cyc(&w, 1);
		(void)pc_put_tnt(&w);
	}
	psb = w.p.n;
	(void)pc_put_psb(&w, 5000 + 2 * n);
	pc_start(&w);
	w.time.only_told = true;
	do {
		assert_int_equal(hwtdi_pt_time_list(&w.time, list, &n_list),
		    HWTD_OK);
		for (size_t k = 0; k < n_list; k++, told++) {
			uint64_t from = tsc + 1, count = 5000;

			if (told == 0)
				from = 0;
			if (told >= 2) {
				from = first + 2 * (told - 2) + 1;
				count += 2 * (told - 1);
			}
			if (told >= 2 + n) {
				from = psb + (told - 2 - n) * tsc + 1;
				count = 5000 + 2 * n;
			}
			assert_int_equal(list[k].from_off, from);
			assert_int_equal(list[k].count, count);
			assert_int_equal(list[k].flags, HWTDI_ANCHOR_TIME);
		}
	} while (n_list != 0);
	assert_int_equal(told, n + 4);
	pc_end(&w);
}

static void
a_list_tells_each_time_in_order(void **state)
{
	(void)state;
	check_list_of_many_cyc(1);
	check_list_of_many_cyc(HWTDI_WHENS - 3);
	check_list_of_many_cyc(HWTDI_WHENS);
	check_list_of_many_cyc(HWTDI_PT_CYCS);
	check_list_of_many_cyc(HWTDI_PT_CYCS + 1);
}

static void
cyc_that_are_too_many_to_remember_have_the_same_times(void **state)
{
	(void)state;
	for (unsigned int only_told = 0; only_told < 2; only_told++) {
		check_many_cyc(10, only_told != 0);
		check_many_cyc(HWTDI_PT_CYCS, only_told != 0);
		check_many_cyc(HWTDI_PT_CYCS + 1, only_told != 0);
		check_many_cyc(3 * HWTDI_PT_CYCS, only_told != 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    cyc_that_are_too_many_to_remember_have_the_same_times),
		cmocka_unit_test(a_list_tells_each_time_in_order),
		cmocka_unit_test(hostile_bytes_are_harmless),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
