/*
 * The time at packets of Intel PT.
 *
 * Source: Intel SDM vol. 3C, "Timestamp Counter (TSC) Packet", "TSC/MTC
 * Alignment (TMA) Packet", "Mini Time Counter (MTC) Packet", "Cycle Count
 * (CYC) Packet", "Core:Bus Ratio (CBR) Packet".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_sync.h"
#include "decode/pt/pt_time.h"
#include "support/pt_packets.h"

#define NO_TIME UINT64_MAX

struct world {
	struct hwtd_context *library;
	struct hwtd_pt_config config;
	uint64_t near;
	struct pt_packets p;
	struct hwtdi_pt_time time;
};

static void
begin(struct world *w)
{
	struct hwtd_error err = { .size = sizeof(err) };

	memset(w, 0, sizeof(*w));
	assert_int_equal(hwtd_context_create(NULL, &w->library, &err),
	    HWTD_OK);
	w->config.size = sizeof(w->config);
	/* No erratum; one tick of the crystal clock is 8 counts. */
	w->config.cpu_family = 6;
	w->config.cpu_model = 0x97;
	w->config.cpuid_15h_eax = 2;
	w->config.cpuid_15h_ebx = 16;
}

static void
start(struct world *w)
{
	const struct hwtdi_pt_stretch s = { .bytes = w->p.bytes, .n = w->p.n };

	hwtdi_pt_time_init(&w->time, w->library, &w->config, w->near);
	hwtdi_pt_time_start(&w->time, &s, false);
}

static void
end(struct world *w)
{
	hwtdi_pt_time_fini(&w->time);
	pt_free(&w->p);
	hwtd_context_destroy(w->library);
}

/* The moment at an offset. */
static struct hwtdi_pt_moment
at(struct world *w, size_t off)
{
	struct hwtdi_pt_moment m = { .count = NO_TIME };
	int rc = hwtdi_pt_time_at(&w->time, off, &m);

	assert_true(rc == HWTD_OK || rc == HWTD_E_NOT_FOUND);
	return (m);
}

static void
check_at(struct world *w, size_t off, uint64_t count, bool estimated)
{
	const struct hwtdi_pt_moment m = at(w, off);

	assert_int_equal(m.count, count);
	assert_int_equal(m.estimated, estimated);
}

/* PSB+ with a TSC; where the TSC is. */
static size_t
put_psb(struct world *w, uint64_t tsc)
{
	size_t off;

	pt_psb(&w->p);
	off = w->p.n;
	pt_tsc(&w->p, tsc);
	return (off);
}

static size_t
put_mtc(struct world *w, unsigned int value)
{
	pt_mtc(&w->p, value & 0xff);
	return (w->p.n - 2);
}

static size_t
put_cyc(struct world *w, uint64_t cycles)
{
	const size_t off = w->p.n;

	pt_cyc(&w->p, cycles);
	return (off);
}

static size_t
put_tnt(struct world *w)
{
	pt_tnt(&w->p, "T");
	return (w->p.n - 1);
}

/* One packet after the other. */

static void
tsc_tells_the_time_of_its_psb_and_of_what_follows(void **state)
{
	struct world w;
	size_t tnt;

	(void)state;
	begin(&w);
	pt_tnt(&w.p, "T");
	assert_int_equal(put_psb(&w, 5000), 17);
	pt_psbend(&w.p);
	tnt = put_tnt(&w);
	start(&w);
	assert_int_equal(at(&w, 0).count, NO_TIME);
	check_at(&w, 1, 5000, false);
	assert_int_equal(at(&w, 1).error, 0);
	check_at(&w, 17, 5000, false);
	check_at(&w, tnt, 5000, true);
	/* How late it is, nobody knows. */
	assert_int_equal(at(&w, tnt).error, UINT64_MAX);
	end(&w);
}

static void
between_two_tsc_the_error_says_how_far_they_are(void **state)
{
	struct world w;
	size_t first, tnt, last;

	(void)state;
	begin(&w);
	first = put_psb(&w, 1000);
	pt_pad(&w.p, 4);
	tnt = put_tnt(&w);
	pt_pad(&w.p, 3);
	last = w.p.n;
	pt_tsc(&w.p, 1160);
	start(&w);
	check_at(&w, first, 1000, false);
	/* 12 of 16 bytes. */
	assert_int_equal(last - first, 16);
	check_at(&w, tnt, 1120, true);
	assert_int_equal(at(&w, tnt).error, 120);
	check_at(&w, last, 1160, false);
	assert_int_equal(at(&w, last).error, 0);
	end(&w);
}

static void
tma_says_which_edge_an_mtc_is(void **state)
{
	static const struct {
		unsigned int mtc_freq, ctc, fast;
		uint32_t eax, ebx;
		unsigned int mtc[2];
		uint64_t after[2];
	} cases[] = {
		/* Next edge of bit 0: 8 counts after the last, which was 3 ago. */
		{ 0, 0x1234, 3, 2, 16, { 0x35, 0x36 }, { 5, 13 } },
		/* Bits 11:4 are 23; 12 more ticks to 24, then 16. */
		{ 4, 0x1234, 3, 2, 16, { 0x24, 0x25 }, { 93, 221 } },
		/* A ratio that is no whole number: 83 * 1.6, 131 * 1.6. */
		{ 0, 0x0000, 0, 5, 8, { 83, 131 }, { 132, 209 } },
		/* Bits come round, of MTC and of all. */
		{ 0, 0x00ff, 0, 2, 16, { 0x00, 0x01 }, { 8, 16 } },
		{ 8, 0xffff, 7, 2, 16, { 0x00, 0x01 }, { 1, 2049 } },
		/* One is missing, 255 are. */
		{ 0, 0x0010, 0, 2, 16, { 0x12, 0x13 }, { 16, 24 } },
		{ 0, 0x0010, 0, 2, 16, { 0x0f, 0x10 }, { 255 * 8, 2048 } },
		/* TMA lacks upper bits: bits 15:12 are e; of MTC f is next. */
		{ 12, 0xe020, 8, 2, 1, { 0xaf, 0xb0 }, { 2024, 4072 } },
		{ 12, 0xf020, 8, 2, 1, { 0xa0, 0xa1 }, { 2024, 4072 } },
		/* Bit 15 only. */
		{ 15, 0x8000, 0, 1, 1, { 0x54, 0x55 }, { 32768, 65536 } },
		{ 15, 0x7fff, 0, 1, 1, { 0x01, 0x02 }, { 1, 32769 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;
		size_t mtc[2];

		print_message("case %zu\n", i);
		begin(&w);
		w.config.mtc_freq = (uint8_t)cases[i].mtc_freq;
		w.config.cpuid_15h_eax = cases[i].eax;
		w.config.cpuid_15h_ebx = cases[i].ebx;
		put_psb(&w, 100000);
		pt_tma(&w.p, cases[i].ctc, cases[i].fast);
		pt_cbr(&w.p, 20);
		pt_psbend(&w.p);
		for (size_t k = 0; k < 2; k++)
			mtc[k] = put_mtc(&w, cases[i].mtc[k]);
		start(&w);
		for (size_t k = 0; k < 2; k++) {
			check_at(&w, mtc[k], 100000 + cases[i].after[k],
			    false);
			assert_in_range(at(&w, mtc[k]).error, 0, 2);
		}
		end(&w);
	}
}

static void
an_mtc_without_tma_or_cpuid_15h_tells_nothing(void **state)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct world w;
		size_t mtc;

		(void)state;
		begin(&w);
		if (i == 1)
			w.config.cpuid_15h_eax = 0;
		if (i == 2)
			w.config.cpuid_15h_ebx = 0;
		put_psb(&w, 1000);
		if (i > 0)
			pt_tma(&w.p, 0, 0);
		mtc = put_mtc(&w, 1);
		start(&w);
		check_at(&w, mtc, 1000, true);
		assert_int_equal(w.time.mtc_ignored, i > 0);
		end(&w);
	}
}

static void
mtcs_missing_for_more_than_a_round_are_found_by_the_next_tsc(void **state)
{
	struct world w;
	size_t before, behind, last;

	(void)state;
	begin(&w);
	put_psb(&w, 0);
	pt_tma(&w.p, 0, 0);
	before = put_mtc(&w, 1);
	pt_ovf(&w.p);
	/* 2 rounds and 9 periods later. */
	behind = put_mtc(&w, 10);
	last = w.p.n;
	pt_tsc(&w.p, (512 + 11) * 8);
	start(&w);
	assert_int_equal(at(&w, before).count, 8);
	check_at(&w, behind, (512 + 10) * 8, true);
	/* But it could also have been before the first. */
	assert_in_range(at(&w, behind).error, 512 * 8, 512 * 8 + 2);
	check_at(&w, last, (512 + 11) * 8, false);
	end(&w);
}

static void
cyc_lies_between_those_around_it(void **state)
{
	struct world w;
	size_t cyc[4], tnt, mtc;

	(void)state;
	begin(&w);
	w.config.mtc_freq = 3;
	put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	pt_psbend(&w.p);
	/* 64 counts to the edge, 128 cycles: 2 are a count. */
	cyc[0] = put_cyc(&w, 32);
	tnt = put_tnt(&w);
	cyc[1] = put_cyc(&w, 6);
	put_tnt(&w);
	cyc[2] = put_cyc(&w, 90);
	mtc = put_mtc(&w, 1);
	cyc[3] = put_cyc(&w, 10);
	start(&w);
	check_at(&w, cyc[0], 1016, false);
	check_at(&w, tnt, 1016, true);
	check_at(&w, cyc[1], 1019, false);
	/* Not before the TSC nor behind the MTC. */
	assert_in_range(at(&w, cyc[1]).error, 45, 47);
	check_at(&w, cyc[2], 1064, false);
	check_at(&w, mtc, 1064, false);
	/* As long as before, but nothing says so. */
	check_at(&w, cyc[3], 1069, true);
	assert_int_equal(at(&w, cyc[3]).error, UINT64_MAX);
	end(&w);
}

static void
an_mtc_that_was_written_late_is_known_by_its_cycles(void **state)
{
	struct world w;
	size_t cyc, mtc, tnt, next;

	(void)state;
	begin(&w);
	w.config.mtc_freq = 3;
	put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	pt_psbend(&w.p);
	/* A cycle is a count long, and 64 counts a period. */
	for (unsigned int i = 1; i <= 2; i++) {
		put_cyc(&w, 64);
		put_mtc(&w, i);
	}
	cyc = put_cyc(&w, 100);
	mtc = put_mtc(&w, 3);
	tnt = put_tnt(&w);
	next = put_cyc(&w, 10);
	put_tnt(&w);
	put_cyc(&w, 18);
	put_mtc(&w, 4);
	start(&w);
	/* Time does not go back: the MTC tells of 1192. */
	check_at(&w, cyc, 1192, false);
	check_at(&w, mtc, 1192, false);
	check_at(&w, tnt, 1228, true);
	assert_in_range(at(&w, tnt).error, 36, 38);
	check_at(&w, next, 1238, false);
	end(&w);
}

static void
an_mtc_may_lie_between_two_cyc(void **state)
{
	struct world w;
	size_t cyc[4];

	(void)state;
	begin(&w);
	w.config.mtc_freq = 3;
	put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	pt_psbend(&w.p);
	/* A cycle is a count long. */
	cyc[0] = put_cyc(&w, 50);
	put_tnt(&w);
	put_mtc(&w, 1);
	cyc[1] = put_cyc(&w, 50);
	put_tnt(&w);
	put_mtc(&w, 2);
	cyc[2] = put_cyc(&w, 60);
	put_tnt(&w);
	cyc[3] = put_cyc(&w, 32);
	pt_tsc(&w.p, 1192);
	start(&w);
	check_at(&w, cyc[0], 1050, false);
	check_at(&w, cyc[1], 1100, false);
	check_at(&w, cyc[2], 1160, false);
	check_at(&w, cyc[3], 1192, false);
	end(&w);
}

static void
cycles_are_weighted_by_their_ratio(void **state)
{
	struct world w;
	size_t cyc[3];

	(void)state;
	begin(&w);
	put_psb(&w, 1000);
	pt_cbr(&w.p, 10);
	pt_psbend(&w.p);
	/* At ratio 10 a cycle is as long as two at ratio 20. */
	cyc[0] = put_cyc(&w, 50);
	put_tnt(&w);
	cyc[1] = put_cyc(&w, 50);
	pt_cbr(&w.p, 20);
	cyc[2] = put_cyc(&w, 100);
	put_tnt(&w);
	put_cyc(&w, 100);
	pt_tsc(&w.p, 1400);
	start(&w);
	assert_in_range(at(&w, cyc[0]).count, 1099, 1101);
	assert_in_range(at(&w, cyc[1]).count, 1199, 1201);
	assert_in_range(at(&w, cyc[2]).count, 1299, 1301);
	end(&w);
}

static void
cyc_without_another_reference_goes_by_the_nominal_ratio(void **state)
{
	struct world w;
	size_t cyc[2];

	(void)state;
	begin(&w);
	w.config.nom_freq = 30;
	put_psb(&w, 1000);
	pt_cbr(&w.p, 20);
	pt_psbend(&w.p);
	/* 30 counts in 20 cycles. */
	cyc[0] = put_cyc(&w, 40);
	put_tnt(&w);
	cyc[1] = put_cyc(&w, 2);
	start(&w);
	assert_in_range(at(&w, cyc[0]).count, 1059, 1060);
	assert_in_range(at(&w, cyc[1]).count, 1062, 1063);
	assert_true(at(&w, cyc[1]).estimated);
	end(&w);
}

static void
cyc_of_unknown_length_has_no_time(void **state)
{
	struct world w;
	size_t early, late;

	(void)state;
	begin(&w);
	early = put_cyc(&w, 7);
	put_psb(&w, 1000);
	late = put_cyc(&w, 100);
	start(&w);
	assert_int_equal(at(&w, early).count, NO_TIME);
	check_at(&w, late, 1000, true);
	end(&w);
}

static void
cycles_stand_still_while_the_core_sleeps(void **state)
{
	struct world w;
	size_t cyc[4];

	(void)state;
	begin(&w);
	w.config.nom_freq = 20;
	put_psb(&w, 1000);
	pt_cbr(&w.p, 10);
	pt_psbend(&w.p);
	cyc[0] = put_cyc(&w, 10);
	put_tnt(&w);
	cyc[1] = put_cyc(&w, 10);
	put_tnt(&w);
	pt_pwre(&w.p, 6, 0, 0);
	pt_exstop(&w.p, 0);
	pt_pwrx(&w.p, 6, 6, PT_WAKE_INTERRUPT);
	cyc[2] = put_cyc(&w, 10);
	put_tnt(&w);
	cyc[3] = put_cyc(&w, 10);
	pt_tsc(&w.p, 9000);
	start(&w);
	assert_in_range(at(&w, cyc[0]).count, 1019, 1020);
	assert_in_range(at(&w, cyc[1]).count, 1039, 1040);
	assert_in_range(at(&w, cyc[2]).count, 8980, 8981);
	assert_int_equal(at(&w, cyc[3]).count, 9000);
	end(&w);
}

static void
cyc_at_an_overflow_is_its_length(void **state)
{
	struct world w;
	size_t before, at_ovf;

	(void)state;
	begin(&w);
	w.config.nom_freq = 10;
	put_psb(&w, 1000);
	pt_cbr(&w.p, 10);
	pt_psbend(&w.p);
	before = put_cyc(&w, 100);
	put_tnt(&w);
	/* It lasted longer than the cycles say. */
	at_ovf = put_cyc(&w, 700);
	pt_ovf(&w.p);
	pt_fup(&w.p, PT_IP_48, 0x1000);
	pt_tsc(&w.p, 2000);
	start(&w);
	assert_in_range(at(&w, before).count, 1099, 1100);
	assert_int_equal(at(&w, at_ovf).count, 2000);
	end(&w);
}

static void
time_does_not_go_back(void **state)
{
	struct world w;
	size_t second, third, fourth;

	(void)state;
	begin(&w);
	put_psb(&w, 1000);
	second = w.p.n;
	pt_tsc(&w.p, 900);
	third = put_psb(&w, 950);
	fourth = w.p.n;
	pt_tsc(&w.p, 2000);
	start(&w);
	/* The next PSB says 950: so high may counts be. */
	check_at(&w, 0, 950, true);
	check_at(&w, second, 950, true);
	assert_in_range(at(&w, second).error, 50, UINT64_MAX);
	check_at(&w, third, 950, false);
	check_at(&w, fourth, 2000, false);
	end(&w);

	begin(&w);
	put_psb(&w, 1000);
	put_psb(&w, 1100);
	third = put_psb(&w, 900);
	fourth = w.p.n;
	pt_tsc(&w.p, 2000);
	start(&w);
	check_at(&w, 0, 1000, false);
	/* 1100 is above the 900 behind, and that below what was told. */
	check_at(&w, 24, 1000, true);
	check_at(&w, third, 1000, true);
	check_at(&w, fourth, 2000, false);
	end(&w);
}

static void
tsc_of_56_bits_goes_round(void **state)
{
	const uint64_t round = (uint64_t)1 << 56;
	struct world w;
	size_t second;

	(void)state;
	begin(&w);
	put_psb(&w, round - 10);
	second = w.p.n;
	pt_tsc(&w.p, 20);
	start(&w);
	check_at(&w, 0, round - 10, false);
	check_at(&w, second, round + 20, false);
	end(&w);

	/* The clock says which round it is. */
	begin(&w);
	w.near = 5 * round + 3;
	put_psb(&w, round - 10);
	pt_psbend(&w.p);
	second = put_psb(&w, 20);
	start(&w);
	check_at(&w, 0, 5 * round - 10, false);
	check_at(&w, second, 5 * round + 20, false);
	end(&w);
}

static void
a_damaged_tma_tells_nothing(void **state)
{
	struct world w;
	size_t mtc;

	(void)state;
	begin(&w);
	put_psb(&w, 1000);
	pt_tma(&w.p, 0, 0);
	/* Reserved bits are set, and a byte follows. */
	w.p.bytes[w.p.n - 1] = 0xff;
	pt_pad(&w.p, 1);
	mtc = put_mtc(&w, 1);
	start(&w);
	check_at(&w, mtc, 1000, true);
	end(&w);
}

/* A core with its clocks, that writes packets and notes when each was made. */

struct place {
	size_t off;
	uint64_t time;
};

struct core {
	struct world *w;
	uint32_t random;
	/* Counts; the crystal clock begins `phase` / eax before count 0. */
	uint64_t now, phase;
	uint64_t eax, ebx;
	unsigned int mtc_freq;
	uint64_t ticks;
	/* Cycles in units of 1 / 2^16, and those told. */
	uint64_t cycles, told;
	unsigned int cbr, nominal, threshold;
	bool cyc, mtc, asleep, lossy;
	struct place *places;
	size_t n, cap;
	size_t psb_at;
};

static uint32_t
dice(struct core *c, uint32_t sides)
{
	c->random = c->random * 1664525u + 1013904223u;
	return ((c->random >> 8) % sides);
}

/* A packet begins here. */
static void
note(struct core *c)
{
	if (c->n == c->cap) {
		c->cap = c->cap * 2 + 256;
		c->places = realloc(c->places, c->cap * sizeof(*c->places));
		assert_non_null(c->places);
	}
	c->places[c->n++] = (struct place){ c->w->p.n, c->now };
}

static void
tell_cycles(struct core *c, bool always)
{
	const uint64_t n = (c->cycles >> 16) - c->told;

	if (!c->cyc || n == 0 || (n < c->threshold && !always))
		return;
	note(c);
	pt_cyc(&c->w->p, n);
	c->told += n;
}

/* The tick of the crystal clock at a count: 1 tick is ebx / eax. */
static uint64_t
tick_at(const struct core *c, uint64_t count)
{
	return ((count * c->eax + c->phase) / c->ebx);
}

/* The first count at or behind a tick. */
static uint64_t
count_at(const struct core *c, uint64_t tick)
{
	return ((tick * c->ebx - c->phase + c->eax - 1) / c->eax);
}

static void
tell_tsc(struct core *c)
{
	const uint64_t tick = tick_at(c, c->now);

	note(c);
	pt_tsc(&c->w->p, c->now & (((uint64_t)1 << 56) - 1));
	if (!c->mtc)
		return;
	note(c);
	pt_tma(&c->w->p, (unsigned int)(tick & 0xffff),
	    (unsigned int)(c->now - count_at(c, tick)));
}

static void
tell_psb(struct core *c)
{
	if (dice(c, 2) == 0)
		tell_cycles(c, false);
	c->psb_at = c->w->p.n;
	note(c);
	pt_psb(&c->w->p);
	tell_tsc(c);
	note(c);
	pt_cbr(&c->w->p, c->cbr);
	note(c);
	pt_psbend(&c->w->p);
}

/* Time passes; MTC are written on their edges unless they are lost. */
static void
pass(struct core *c, uint64_t counts, bool lost)
{
	const uint64_t to = c->now + counts;

	while (c->now < to) {
		const uint64_t tick = ((tick_at(c, c->now) >> c->mtc_freq) + 1)
		    << c->mtc_freq;
		const uint64_t edge = count_at(c, tick);
		const uint64_t until = edge < to ? edge : to;

		if (!c->asleep)
			c->cycles += (until - c->now) * c->cbr * 65536 /
			    c->nominal * (90 + dice(c, 20)) / 100;
		c->now = until;
		if (until != edge || !c->mtc || lost)
			continue;
		tell_cycles(c, false);
		note(c);
		pt_mtc(&c->w->p, (unsigned int)(tick >> c->mtc_freq) & 0xff);
	}
}

static void
act(struct core *c)
{
	const uint64_t period = (c->ebx << c->mtc_freq) / c->eax + 1;

	switch (dice(c, 64)) {
	case 0:
		if (c->lossy)
			pass(c, dice(c, 200) * period, true);
		break;
	case 1:
		pass(c, dice(c, c->lossy ? 2000 : 3) * period, true);
		if (dice(c, 2) == 0)
			tell_cycles(c, true);
		note(c);
		pt_ovf(&c->w->p);
		tell_cycles(c, true);
		note(c);
		pt_fup(&c->w->p, PT_IP_48, 0x401000);
		if (dice(c, 2) == 0)
			tell_tsc(c);
		break;
	case 2:
		c->cbr = 8 + dice(c, 30);
		note(c);
		pt_cbr(&c->w->p, c->cbr);
		break;
	case 3:
		c->asleep = true;
		note(c);
		pt_pwre(&c->w->p, 6, 0, 0);
		pass(c, dice(c, 20) * period, dice(c, 2) == 0);
		c->asleep = false;
		note(c);
		pt_pwrx(&c->w->p, 6, 6, PT_WAKE_INTERRUPT);
		break;
	case 4:
		pass(c, dice(c, 30) * period, false);
		break;
	case 5:
		if (c->w->p.n - c->psb_at > 512)
			tell_psb(c);
		break;
	default:
		pass(c, dice(c, (uint32_t)(period / 4 + 40)), false);
		tell_cycles(c, false);
		note(c);
		pt_tnt(&c->w->p, "TN");
		break;
	}
}

static void
run_core(struct core *c, struct world *w, uint32_t seed)
{
	static const uint32_t ratios[][2] = { { 2, 250 }, { 1, 84 },
		{ 3, 250 }, { 5, 8 }, { 2, 1 }, { 1, 511 } };
	const uint32_t *ratio = ratios[seed % 6];

	begin(w);
	memset(c, 0, sizeof(*c));
	c->w = w;
	c->random = seed * 7919 + 1;
	c->eax = ratio[0];
	c->ebx = ratio[1];
	c->mtc_freq = seed / 2 % 16;
	c->nominal = 24;
	c->cbr = 20;
	c->cyc = dice(c, 4) != 0;
	c->mtc = dice(c, 4) != 0;
	c->lossy = dice(c, 2) != 0;
	c->threshold = dice(c, 3) == 0 ? 1 + dice(c, 600) : 1;
	c->phase = dice(c, (uint32_t)c->ebx);
	c->now = 1000000 + (uint64_t)dice(c, 1000000) * 4096;
	w->config.mtc_freq = (uint8_t)c->mtc_freq;
	w->config.cpuid_15h_eax = ratio[0];
	w->config.cpuid_15h_ebx = ratio[1];
	w->config.nom_freq = dice(c, 2) == 0 ? 24 : 0;
	tell_psb(c);
	for (int i = 0; i < 3000; i++)
		act(c);
	tell_psb(c);
}

static void
end_core(struct core *c, struct world *w)
{
	free(c->places);
	end(w);
}

static void
the_truth_is_never_farther_than_the_error(void **state)
{
	unsigned int exact = 0, all = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 192; seed++) {
		struct world w;
		struct core c;
		uint64_t last = 0;

		run_core(&c, &w, seed);
		start(&w);
		for (size_t i = 0; i < c.n; i++) {
			const struct place *place = &c.places[i];
			const struct hwtdi_pt_moment m = at(&w, place->off);
			const uint64_t off = m.count > place->time
			    ? m.count - place->time
			    : place->time - m.count;

			if (off > m.error || m.count < last)
				print_message("seed %u, byte %zu: %llu, "
					      "truth %llu, error %llu\n",
				    seed, place->off,
				    (unsigned long long)m.count,
				    (unsigned long long)place->time,
				    (unsigned long long)m.error);
			assert_true(m.count != NO_TIME);
			assert_true(off <= m.error);
			assert_true(m.count >= last);
			last = m.count;
			if (i + 1 < c.n && w.p.n - place->off > 40)
				assert_true(m.error != UINT64_MAX);
			exact += !m.estimated && m.error <= 2;
			all++;
		}
		end_core(&c, &w);
	}
	/* And it is not so by saying nothing. */
	assert_true(exact > all / 20);
}

/* Times of MTC are those of their edges, if few enough are missing. */
static void
mtcs_of_every_frequency_are_exact(void **state)
{
	(void)state;
	for (unsigned int freq = 0; freq < 16; freq++) {
		struct world w;
		struct core c;

		run_core(&c, &w, 2 * freq);
		pt_clear(&w.p);
		c.n = 0;
		c.mtc = true;
		c.cyc = false;
		tell_psb(&c);
		for (unsigned int i = 0; i < 700; i++)
			pass(&c, (c.ebx << freq) / c.eax + 1, i % 7 == 3);
		tell_psb(&c);
		start(&w);
		for (size_t i = 0; i < c.n; i++) {
			const struct hwtdi_pt_moment m = at(&w,
			    c.places[i].off);

			if (w.p.bytes[c.places[i].off] != 0x59)
				continue;
			assert_in_range(m.count + 2 - c.places[i].time, 0, 4);
			assert_in_range(m.error, 0, 2);
			assert_false(m.estimated);
		}
		end_core(&c, &w);
	}
}

/* Begun at any PSB, and in segments of any size, times are the same. */
static void
times_do_not_depend_on_segments(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 24; seed++) {
		struct hwtdi_pt_moment *whole;
		struct hwtdi_pt_stretch s = { .stream_off = 0 };
		struct world w;
		struct core c;
		size_t from = 0, i = 0;

		run_core(&c, &w, seed);
		whole = calloc(c.n, sizeof(*whole));
		assert_non_null(whole);
		start(&w);
		for (size_t k = 0; k < c.n; k++)
			whole[k] = at(&w, c.places[k].off);
		while (from < w.p.n) {
			size_t to = hwtdi_pt_find_psb(w.p.bytes, w.p.n,
			    from + 16 + dice(&c, 3000));

			s.bytes = w.p.bytes + from;
			s.stream_off = from;
			s.n = to - from;
			s.tail = w.p.n - to < 4096 ? w.p.n - to : 4096;
			hwtdi_pt_time_start(&w.time, &s, false);
			for (; i < c.n && c.places[i].off < to; i++) {
				struct hwtdi_pt_moment m = at(&w,
				    c.places[i].off);

				assert_int_equal(m.count, whole[i].count);
				assert_int_equal(m.error, whole[i].error);
				assert_int_equal(m.estimated,
				    whole[i].estimated);
			}
			from = to;
		}
		free(whole);
		end_core(&c, &w);
	}
}

/* Any bytes: what is told stays in order and in bounds. */
static void
hostile_bytes_are_harmless(void **state)
{
	static const uint32_t ratios[][2] = { { 1, 1 }, { 1, UINT32_MAX },
		{ UINT32_MAX, 1 }, { 2, 250 } };

	(void)state;
	for (uint32_t seed = 0; seed < 400; seed++) {
		struct world w;
		struct core c = { .random = seed };
		struct hwtdi_pt_moment m;
		uint64_t last = 0, last_off = 0;
		int rc;

		begin(&w);
		w.config.mtc_freq = (uint8_t)dice(&c, 256);
		w.config.nom_freq = (uint8_t)dice(&c, 256);
		w.config.cpuid_15h_eax = ratios[seed % 4][0];
		w.config.cpuid_15h_ebx = ratios[seed % 4][1];
		w.near = dice(&c, 2) == 0 ? UINT64_MAX : 0;
		for (int i = 0; i < 300; i++) {
			const uint64_t any = (uint64_t)dice(&c, 1u << 24)
				<< 40 |
			    (uint64_t)dice(&c, 1u << 24) << 16 |
			    dice(&c, 1u << 16);

			switch (dice(&c, 10)) {
			case 0:
				put_psb(&w, any >> dice(&c, 56) >> 8);
				break;
			case 1:
				pt_tma(&w.p, dice(&c, 65536), dice(&c, 512));
				break;
			case 2:
				pt_cyc(&w.p, any >> dice(&c, 64));
				break;
			case 3:
				pt_cbr(&w.p, dice(&c, 256));
				break;
			case 4:
				pt_ovf(&w.p);
				break;
			case 5:
				pt_tsc(&w.p, any >> dice(&c, 56) >> 8);
				break;
			case 6:
				pt_raw(&w.p, &any, dice(&c, 8));
				break;
			case 7:
				pt_exstop(&w.p, 0);
				break;
			default:
				put_mtc(&w, dice(&c, 256));
				break;
			}
		}
		start(&w);
		while ((rc = hwtdi_pt_time_next(&w.time, &m)) == HWTD_OK) {
			assert_true(m.count >= last);
			assert_true(m.stream_off >= last_off);
			assert_true(m.stream_off < w.p.n);
			last = m.count;
			last_off = m.stream_off;
		}
		assert_int_equal(rc, HWTD_END);
		end(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    tsc_tells_the_time_of_its_psb_and_of_what_follows),
		cmocka_unit_test(
		    between_two_tsc_the_error_says_how_far_they_are),
		cmocka_unit_test(tma_says_which_edge_an_mtc_is),
		cmocka_unit_test(
		    an_mtc_without_tma_or_cpuid_15h_tells_nothing),
		cmocka_unit_test(
		    mtcs_missing_for_more_than_a_round_are_found_by_the_next_tsc),
		cmocka_unit_test(cyc_lies_between_those_around_it),
		cmocka_unit_test(
		    an_mtc_that_was_written_late_is_known_by_its_cycles),
		cmocka_unit_test(an_mtc_may_lie_between_two_cyc),
		cmocka_unit_test(cycles_are_weighted_by_their_ratio),
		cmocka_unit_test(
		    cyc_without_another_reference_goes_by_the_nominal_ratio),
		cmocka_unit_test(cyc_of_unknown_length_has_no_time),
		cmocka_unit_test(cycles_stand_still_while_the_core_sleeps),
		cmocka_unit_test(cyc_at_an_overflow_is_its_length),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(tsc_of_56_bits_goes_round),
		cmocka_unit_test(a_damaged_tma_tells_nothing),
		cmocka_unit_test(the_truth_is_never_farther_than_the_error),
		cmocka_unit_test(mtcs_of_every_frequency_are_exact),
		cmocka_unit_test(times_do_not_depend_on_segments),
		cmocka_unit_test(hostile_bytes_are_harmless),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
