/*
 * Times of Intel PT, against a core that notes when it wrote each packet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_sync.h"
#include "support/packet_clock.h"

/* A core with its clocks, that writes packets and notes when each was made. */

struct place {
	size_t off;
	uint64_t time;
};

struct core {
	struct packet_clock *w;
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
run_core(struct core *c, struct packet_clock *w, uint32_t seed)
{
	static const uint32_t ratios[][2] = { { 2, 250 }, { 1, 84 },
		{ 3, 250 }, { 5, 8 }, { 2, 1 }, { 1, 511 } };
	const uint32_t *ratio = ratios[seed % 6];

	pc_begin(w);
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
end_core(struct core *c, struct packet_clock *w)
{
	free(c->places);
	pc_end(w);
}

static void
the_truth_is_never_farther_than_the_error(void **state)
{
	unsigned int exact = 0, all = 0;

	(void)state;
	for (uint32_t seed = 0; seed < 192; seed++) {
		struct packet_clock w;
		struct core c;
		uint64_t last = 0;

		run_core(&c, &w, seed);
		pc_start(&w);
		for (size_t i = 0; i < c.n; i++) {
			const struct place *place = &c.places[i];
			const struct hwtdi_pt_moment m = pc_at(&w, place->off);
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
			assert_true(m.count != PC_NO_TIME);
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
		struct packet_clock w;
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
		pc_start(&w);
		for (size_t i = 0; i < c.n; i++) {
			const struct hwtdi_pt_moment m = pc_at(&w,
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
		struct packet_clock w;
		struct core c;
		size_t from = 0, i = 0;

		run_core(&c, &w, seed);
		whole = calloc(c.n, sizeof(*whole));
		assert_non_null(whole);
		pc_start(&w);
		for (size_t k = 0; k < c.n; k++)
			whole[k] = pc_at(&w, c.places[k].off);
		while (from < w.p.n) {
			size_t to = hwtdi_pt_find_psb(w.p.bytes, w.p.n,
			    from + 16 + dice(&c, 3000));

			s.bytes = w.p.bytes + from;
			s.stream_off = from;
			s.n = to - from;
			s.tail = w.p.n - to < 4096 ? w.p.n - to : 4096;
			hwtdi_pt_time_start(&w.time, &s, false);
			for (; i < c.n && c.places[i].off < to; i++) {
				struct hwtdi_pt_moment m = pc_at(&w,
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_is_never_farther_than_the_error),
		cmocka_unit_test(mtcs_of_every_frequency_are_exact),
		cmocka_unit_test(times_do_not_depend_on_segments),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
