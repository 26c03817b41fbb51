/*
 * Finding PSB and reading PSB+.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions" and "PSB Packet".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_sync.h"
#include "support/pt_packets.h"

/* Exactly as large as the bytes, so that a sanitizer sees reads behind. */
static uint8_t *
exact(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n == 0 ? 1 : n);

	assert_non_null(copy);
	if (n > 0)
		memcpy(copy, bytes, n);
	return (copy);
}

static size_t
find(const struct pt_packets *p, size_t from)
{
	uint8_t *bytes = exact(p->bytes, p->n);
	size_t at = hwtdi_pt_find_psb(bytes, p->n, from);

	free(bytes);
	return (at);
}

/* Every offset up to the PSB finds it, every one behind does not. */
static void
a_psb_is_found_wherever_it_lies(void **state)
{
	(void)state;
	for (size_t before = 0; before < 70; before++) {
		struct pt_packets p = { 0 };

		pt_pad(&p, before);
		pt_psb(&p);
		pt_pad(&p, 5);
		for (size_t from = 0; from <= p.n; from++)
			assert_int_equal(find(&p, from),
			    from <= before ? before : p.n);
		pt_free(&p);
	}
}

static void
no_psb_is_found_in_less_than_sixteen_bytes(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	for (p.n = 0; p.n < HWTDI_PT_PSB_BYTES; p.n++)
		for (size_t from = 0; from <= p.n; from++)
			assert_int_equal(find(&p, from), p.n);
	assert_int_equal(find(&p, 0), 0);
	pt_free(&p);
}

static void
a_false_start_does_not_hide_the_psb_behind_it(void **state)
{
	static const uint8_t ends[] = { 0x02, 0x82, 0x00, 0x23 };

	(void)state;
	/* Parts of a PSB of every length, then one of four bytes. */
	for (size_t part = 1; part < HWTDI_PT_PSB_BYTES; part++)
		for (size_t e = 0; e < sizeof(ends); e++) {
			struct pt_packets p = { 0 };
			uint8_t next = part % 2 == 0 ? 0x02 : 0x82;
			size_t want;

			/* That would be a PSB from the start on. */
			if (ends[e] == next)
				continue;
			pt_psb(&p);
			p.n = part;
			pt_raw(&p, &ends[e], 1);
			want = p.n;
			pt_psb(&p);
			assert_int_equal(find(&p, 0), want);
			pt_free(&p);
		}
}

/* What is before them may be of a payload, and of outcomes behind it. */
static void
the_last_pairs_of_a_run_are_the_next_psb(void **state)
{
	(void)state;
	for (size_t before = 0; before < 20; before++)
		for (size_t stray = 0; stray < 8; stray++)
			for (size_t n = 1; n < 4; n++) {
				struct pt_packets p = { 0 };
				uint8_t *bytes;
				size_t want;

				pt_pad(&p, before);
				for (size_t i = 0; i < stray; i++)
					pt_raw(&p, "\x02\x82", 2);
				want = p.n;
				for (size_t i = 0; i < n; i++)
					pt_psb(&p);
				pt_psbend(&p);
				bytes = exact(p.bytes, p.n);
				/* Its begin, or what looks so, is in [0, n]. */
				assert_int_equal(hwtdi_pt_next_psb(bytes,
						     before, p.n),
				    want);
				assert_int_equal(hwtdi_pt_next_psb(bytes, p.n,
						     p.n),
				    want);
				if (before > 0)
					assert_int_equal(
					    hwtdi_pt_next_psb(bytes,
						before - 1, p.n),
					    p.n);
				free(bytes);
				pt_free(&p);
			}
}

/* Against a search at every byte. */
static void
random_bytes_like_psbs_are_searched_right(void **state)
{
	uint64_t random = 88172645463325252;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct pt_packets p = { 0 };
		uint8_t byte = 0;
		size_t want;

		random = random * 6364136223846793005u + 1442695040888963407u;
		for (size_t i = 0; i < 4 + (random >> 60); i++) {
			const unsigned int kind = (unsigned int)(random >>
				(20 + 2 * i) &
			    3);

			byte = kind == 0 ? 0x02 : 0x82;
			if (kind == 3)
				pt_psb(&p);
			else
				pt_raw(&p, &byte, 1);
			if (kind == 2)
				p.n -= p.n % 3;
		}
		for (want = 0; want + 16 <= p.n; want++)
			if (memcmp(p.bytes + want,
				"\x02\x82\x02\x82\x02\x82\x02\x82"
				"\x02\x82\x02\x82\x02\x82\x02\x82",
				16) == 0)
				break;
		assert_int_equal(find(&p, 0), want + 16 <= p.n ? want : p.n);
		pt_free(&p);
	}
}

static void
of_several_psbs_the_first_one_counts(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_psb(&p);
	pt_pad(&p, 1);
	pt_psb(&p);
	assert_int_equal(find(&p, 0), 0);
	/* 02 82, nine times: also a PSB, two bytes on. */
	assert_int_equal(find(&p, 1), 2);
	assert_int_equal(find(&p, 15), 16);
	assert_int_equal(find(&p, 16), 16);
	assert_int_equal(find(&p, 17), 33);
	assert_int_equal(find(&p, 34), p.n);
	pt_free(&p);
}

static void
a_start_behind_the_end_finds_nothing(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	assert_int_equal(find(&p, p.n), p.n);
	assert_int_equal(hwtdi_pt_find_psb(p.bytes, 0, 0), 0);
	pt_free(&p);
}

static bool
read_psb(const struct pt_packets *p, struct hwtdi_pt_psb *out)
{
	uint8_t *bytes = exact(p->bytes, p->n);
	bool ok;

	memset(out, 0xa5, sizeof(*out));
	ok = hwtdi_pt_read_psb(bytes, p->n, out);
	free(bytes);
	return (ok);
}

static void
psb_and_psbend_alone_tell_nothing(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_psbend(&p);
	pt_tnt(&p, "TN");
	assert_true(read_psb(&p, &psb));
	assert_int_equal(psb.bytes, 18);
	assert_false(psb.has_ip);
	assert_false(psb.has_mode);
	assert_false(psb.has_tsc);
	pt_free(&p);
}

/* Everything that PSB+ may hold, in the order of a real one and more. */
static void
full_psb(struct pt_packets *p)
{
	pt_psb(p);
	pt_pad(p, 3);
	pt_tsc(p, 0xfedcba98765432);
	pt_tma(p, 0x1234, 0x1ff);
	pt_pad(p, 1);
	pt_cbr(p, 36);
	pt_mode_tsx(p, PT_TSX_COMMIT);
	pt_mode_exec(p, 64);
	pt_fup(p, PT_IP_48_SIGNED, 0xffffffff81234567);
	pt_pip(p, 0x7000, 1);
	pt_vmcs(p, 0x5000);
	pt_mtc(p, 0x99);
	pt_cyc(p, 5);
	pt_cyc(p, 0x12345);
	pt_mnt(p, 0x0282028202820282);
	pt_psbend(p);
}

static void
psb_plus_with_every_packet_is_read_to_its_end(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };
	size_t n;

	(void)state;
	full_psb(&p);
	n = p.n;
	pt_pad(&p, 40);
	assert_true(read_psb(&p, &psb));
	assert_int_equal(psb.bytes, n);
	assert_true(psb.has_ip);
	assert_int_equal(psb.ip, 0xffffffff81234567);
	assert_true(psb.has_mode);
	assert_true(psb.has_tsc);
	assert_int_equal(psb.tsc, 0xfedcba98765432);
	pt_free(&p);
}

static void
psb_plus_that_is_cut_off_anywhere_is_not_whole(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };
	size_t n, tsc_end, fup_end;

	(void)state;
	full_psb(&p);
	n = p.n;
	tsc_end = 16 + 3 + 8;
	/* TMA, PAD, CBR, two MODE, FUP */
	fup_end = tsc_end + 7 + 1 + 4 + 2 + 2 + 7;
	for (p.n = HWTDI_PT_PSB_BYTES; p.n < n; p.n++) {
		assert_false(read_psb(&p, &psb));
		assert_true(psb.bytes <= p.n);
		/* What was whole is told all the same. */
		assert_int_equal(psb.has_tsc, p.n >= tsc_end);
		assert_int_equal(psb.has_ip, p.n >= fup_end);
	}
	assert_true(read_psb(&p, &psb));
	pt_free(&p);
}

static void
every_ip_compression_counts_from_zero(void **state)
{
	static const struct {
		enum pt_ip_mode mode;
		uint64_t ip, want;
		size_t bytes;
	} cases[] = {
		{ PT_IP_16, 0x8765, 0x8765, 3 },
		{ PT_IP_32, 0x87654321, 0x87654321, 5 },
		{ PT_IP_48_SIGNED, 0x7fff87654321, 0x7fff87654321, 7 },
		{ PT_IP_48_SIGNED, 0x800087654321, 0xffff800087654321, 7 },
		{ PT_IP_48_SIGNED, 0, 0, 7 },
		{ PT_IP_48, 0x800087654321, 0x800087654321, 7 },
		{ PT_IP_64, 0x00f0800087654321, 0x00f0800087654321, 9 },
		{ PT_IP_64, UINT64_MAX, UINT64_MAX, 9 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_pt_psb psb;
		struct pt_packets p = { 0 };

		pt_psb(&p);
		pt_fup(&p, cases[i].mode, cases[i].ip);
		assert_int_equal(p.n, 16 + cases[i].bytes);
		pt_psbend(&p);
		assert_true(read_psb(&p, &psb));
		assert_int_equal(psb.bytes, p.n);
		assert_true(psb.has_ip);
		assert_true(psb.ip == cases[i].want);
		pt_free(&p);
	}
}

static void
a_fup_without_address_tells_no_address(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_fup(&p, PT_IP_NONE, 0);
	pt_psbend(&p);
	assert_true(read_psb(&p, &psb));
	assert_int_equal(psb.bytes, 19);
	assert_false(psb.has_ip);
	pt_free(&p);
}

static void
only_mode_exec_tells_the_execution_mode(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_mode_tsx(&p, PT_TSX_BEGIN);
	pt_psbend(&p);
	assert_true(read_psb(&p, &psb));
	assert_false(psb.has_mode);
	pt_clear(&p);
	/* 16-bit code: the payload is 0. */
	pt_psb(&p);
	pt_mode_exec(&p, 16);
	pt_psbend(&p);
	assert_true(read_psb(&p, &psb));
	assert_true(psb.has_mode);
	pt_free(&p);
}

static void
an_overflow_ends_psb_plus(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_tsc(&p, 7);
	pt_ovf(&p);
	pt_fup(&p, PT_IP_48_SIGNED, 0x1000);
	assert_true(read_psb(&p, &psb));
	assert_int_equal(psb.bytes, 26);
	assert_true(psb.has_tsc);
	assert_false(psb.has_ip);
	pt_free(&p);
}

/* Xen pads between all packets of PSB+. */
static void
pads_between_the_packets_do_not_matter(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };

	(void)state;
	pt_psb(&p);
	pt_pad(&p, 8);
	pt_pip(&p, 0x3000, 1);
	pt_pad(&p, 8);
	pt_vmcs(&p, 0x1000);
	pt_pad(&p, 8);
	pt_tsc(&p, 42);
	pt_pad(&p, 8);
	pt_psbend(&p);
	assert_true(read_psb(&p, &psb));
	assert_int_equal(psb.bytes, p.n);
	assert_int_equal(psb.tsc, 42);
	pt_free(&p);
}

static void
what_cannot_stand_in_psb_plus_ends_the_reading(void **state)
{
	static const struct {
		const char *name;
		uint8_t bytes[8];
		size_t n;
	} cases[] = {
		{ "TNT", { 0x06 }, 1 },
		{ "long TNT", { 0x02, 0xa3, 1, 0, 0, 0, 0, 0 }, 8 },
		{ "TIP", { 0x0d }, 1 },
		{ "TIP.PGE", { 0x31, 0x00, 0x10 }, 3 },
		{ "TIP.PGD", { 0x01 }, 1 },
		{ "PSB", { 0x02, 0x82 }, 2 },
		{ "unknown", { 0x02, 0xff }, 2 },
		{ "unknown", { 0x05 }, 1 },
		{ "02 alone", { 0x02 }, 1 },
		{ "PTW", { 0x02, 0x12, 0, 0, 0, 0 }, 6 },
		{ "EXSTOP", { 0x02, 0x62 }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_pt_psb psb;
		struct pt_packets p = { 0 };

		print_message("%s\n", cases[i].name);
		pt_psb(&p);
		pt_tsc(&p, 99);
		pt_raw(&p, cases[i].bytes, cases[i].n);
		if (cases[i].n > 1 || cases[i].bytes[0] != 0x02)
			pt_psbend(&p);
		assert_false(read_psb(&p, &psb));
		assert_int_equal(psb.bytes, 24);
		assert_true(psb.has_tsc);
		assert_int_equal(psb.tsc, 99);
		pt_free(&p);
	}
}

static void
a_cycle_count_never_runs_behind_the_end(void **state)
{
	struct hwtdi_pt_psb psb;
	struct pt_packets p = { 0 };
	static const uint8_t more[] = { 0x07, 0x01, 0x01, 0x01 };

	(void)state;
	pt_psb(&p);
	pt_raw(&p, more, sizeof(more));
	assert_false(read_psb(&p, &psb));
	assert_int_equal(psb.bytes, 16);
	pt_free(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_psb_is_found_wherever_it_lies),
		cmocka_unit_test(no_psb_is_found_in_less_than_sixteen_bytes),
		cmocka_unit_test(
		    a_false_start_does_not_hide_the_psb_behind_it),
		cmocka_unit_test(the_last_pairs_of_a_run_are_the_next_psb),
		cmocka_unit_test(random_bytes_like_psbs_are_searched_right),
		cmocka_unit_test(of_several_psbs_the_first_one_counts),
		cmocka_unit_test(a_start_behind_the_end_finds_nothing),
		cmocka_unit_test(psb_and_psbend_alone_tell_nothing),
		cmocka_unit_test(
		    psb_plus_with_every_packet_is_read_to_its_end),
		cmocka_unit_test(
		    psb_plus_that_is_cut_off_anywhere_is_not_whole),
		cmocka_unit_test(every_ip_compression_counts_from_zero),
		cmocka_unit_test(a_fup_without_address_tells_no_address),
		cmocka_unit_test(only_mode_exec_tells_the_execution_mode),
		cmocka_unit_test(an_overflow_ends_psb_plus),
		cmocka_unit_test(pads_between_the_packets_do_not_matter),
		cmocka_unit_test(
		    what_cannot_stand_in_psb_plus_ends_the_reading),
		cmocka_unit_test(a_cycle_count_never_runs_behind_the_end),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
