/*
 * Single packets: every kind, field, length and reserved bit.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/pt/pt_packet.h"
#include "support/pt_packets.h"

static const struct hwtdi_pt_lex_state fresh = {
	.classes = hwtdi_pt_classes,
	.ip_known = UINT64_MAX,
};

/* The packet at the begin of `n` bytes, behind which others lie. */
static bool
lex(struct hwtdi_pt_lex_state *state, const uint8_t *bytes, size_t n,
    struct hwtdi_pt_packet *out)
{
	uint8_t copy[3 * HWTDI_PT_PACKET_MAX];

	assert_true(n <= 2 * HWTDI_PT_PACKET_MAX);
	memset(copy, 0xff, sizeof(copy));
	memcpy(copy, bytes, n);
	memset(out, 0xee, sizeof(*out));
	return (hwtdi_pt_lex(state, copy, copy + n, out));
}

struct field_case {
	const char *name;
	uint8_t bytes[16];
	unsigned int n;
	unsigned int kind;
	uint64_t value;
	unsigned int count;
	unsigned int flags;
	uint64_t ip;
};

#define FUP_FOLLOWS HWTD_PKF_FUP_FOLLOWS
#define BAD HWTD_PKF_RESERVED

static const struct field_case cases[] = {
	{ "psb",
	    { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2,
		0x82 },
	    16, HWTD_PK_PT_PSB, 0, 0, 0, 0 },
	{ "psbend", { 2, 0x23 }, 2, HWTD_PK_PT_PSBEND, 0, 0, 0, 0 },
	{ "ovf", { 2, 0xf3 }, 2, HWTD_PK_PT_OVF, 0, 0, 0, 0 },
	{ "stop", { 2, 0x83 }, 2, HWTD_PK_PT_STOP, 0, 0, 0, 0 },
	{ "one outcome", { 0x06 }, 1, HWTD_PK_PT_TNT_8, 1, 1, 0, 0 },
	{ "oldest outcome on top", { 0x0a }, 1, HWTD_PK_PT_TNT_8, 1, 2, 0, 0 },
	{ "six outcomes", { 0xfe }, 1, HWTD_PK_PT_TNT_8, 63, 6, 0, 0 },
	{ "long, no outcome", { 2, 0xa3, 1 }, 8, HWTD_PK_PT_TNT_64, 0, 0, 0,
	    0 },
	{ "long, 47 outcomes", { 2, 0xa3, 1, 0, 0, 0, 0, 0xc0 }, 8,
	    HWTD_PK_PT_TNT_64, 0x400000000001, 47, 0, 0 },
	{ "long, 8 outcomes", { 2, 0xa3, 0x81, 1 }, 8, HWTD_PK_PT_TNT_64, 0x81,
	    8, 0, 0 },
	{ "tip without", { 0x0d }, 1, HWTD_PK_PT_TIP, 0, 0, 0, 0 },
	{ "tip 16", { 0x2d, 0x34, 0x12 }, 3, HWTD_PK_PT_TIP, 0x1234, 1,
	    HWTD_PKF_IP, 0x1234 },
	{ "pge 32", { 0x51, 0x78, 0x56, 0x34, 0x92 }, 5, HWTD_PK_PT_TIP_PGE,
	    0x92345678, 2, HWTD_PKF_IP, 0x92345678 },
	{ "pgd 48 signed", { 0x61, 1, 2, 3, 4, 5, 0x86 }, 7,
	    HWTD_PK_PT_TIP_PGD, 0x860504030201, 3, HWTD_PKF_IP,
	    0xffff860504030201 },
	{ "fup 48 signed, positive", { 0x7d, 1, 2, 3, 4, 5, 0x76 }, 7,
	    HWTD_PK_PT_FUP, 0x760504030201, 3, HWTD_PKF_IP, 0x760504030201 },
	{ "tip 48", { 0x8d, 1, 2, 3, 4, 5, 0x86 }, 7, HWTD_PK_PT_TIP,
	    0x860504030201, 4, HWTD_PKF_IP, 0x860504030201 },
	{ "fup 64", { 0xdd, 1, 2, 3, 4, 5, 6, 7, 0x88 }, 9, HWTD_PK_PT_FUP,
	    0x8807060504030201, 6, HWTD_PKF_IP, 0x8807060504030201 },
	{ "exec 16", { 0x99, 0 }, 2, HWTD_PK_PT_MODE_EXEC, 0, 0, 0, 0 },
	{ "exec 64 if", { 0x99, 5 }, 2, HWTD_PK_PT_MODE_EXEC, 5, 0, 0, 0 },
	{ "exec 32", { 0x99, 2 }, 2, HWTD_PK_PT_MODE_EXEC, 2, 0, 0, 0 },
	{ "exec reserved 3", { 0x99, 9 }, 2, HWTD_PK_PT_MODE_EXEC, 1, 0, BAD,
	    0 },
	{ "exec reserved 4", { 0x99, 0x11 }, 2, HWTD_PK_PT_MODE_EXEC, 1, 0,
	    BAD, 0 },
	{ "tsx begin", { 0x99, 0x21 }, 2, HWTD_PK_PT_MODE_TSX, 1, 0, 0, 0 },
	{ "tsx abort", { 0x99, 0x22 }, 2, HWTD_PK_PT_MODE_TSX, 2, 0, 0, 0 },
	{ "tsx reserved", { 0x99, 0x24 }, 2, HWTD_PK_PT_MODE_TSX, 0, 0, BAD,
	    0 },
	{ "pip", { 2, 0x43, 0, 1, 0, 0, 0, 0 }, 8, HWTD_PK_PT_PIP, 0x1000, 0,
	    0, 0 },
	{ "pip of a guest", { 2, 0x43, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 8,
	    HWTD_PK_PT_PIP, 0xfffffffffffe0, 0, HWTD_PKF_NON_ROOT, 0 },
	{ "vmcs", { 2, 0xc8, 1, 2, 3, 4, 0x85 }, 7, HWTD_PK_PT_VMCS,
	    0x8504030201000, 0, 0, 0 },
	{ "tsc", { 0x19, 1, 2, 3, 4, 5, 6, 0x87 }, 8, HWTD_PK_PT_TSC,
	    0x87060504030201, 0, 0, 0 },
	{ "tma", { 2, 0x73, 0x34, 0x92, 0, 0xff, 1 }, 7, HWTD_PK_PT_TMA,
	    0x9234, 0x1ff, 0, 0 },
	{ "mtc", { 0x59, 0xfe }, 2, HWTD_PK_PT_MTC, 0xfe, 0, 0, 0 },
	{ "cyc", { 0xfb }, 1, HWTD_PK_PT_CYC, 31, 0, 0, 0 },
	{ "cyc of two", { 0x0f, 0x02 }, 2, HWTD_PK_PT_CYC, 0x21, 0, 0, 0 },
	{ "cyc of two, most", { 0xff, 0xfe }, 2, HWTD_PK_PT_CYC, 4095, 0, 0,
	    0 },
	{ "cyc of three", { 7, 1, 2 }, 3, HWTD_PK_PT_CYC, 4096, 0, 0, 0 },
	{ "cyc of 15", { 0x0f, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0x00 },
	    15, HWTD_PK_PT_CYC, 1, 0, 0, 0 },
	{ "cyc of 15, above 64 bits",
	    { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xfe },
	    15, HWTD_PK_PT_CYC, UINT64_MAX, 0, 0, 0 },
	{ "cyc of 15, far above 64 bits",
	    { 7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2 }, 15,
	    HWTD_PK_PT_CYC, UINT64_MAX, 0, 0, 0 },
	{ "cyc of 10, one bit above", { 7, 1, 1, 1, 1, 1, 1, 1, 1, 0x10 }, 10,
	    HWTD_PK_PT_CYC, UINT64_MAX, 0, 0, 0 },
	{ "cyc of 10, the highest bit", { 7, 1, 1, 1, 1, 1, 1, 1, 1, 0x08 },
	    10, HWTD_PK_PT_CYC, (uint64_t)1 << 63, 0, 0, 0 },
	{ "cbr", { 2, 3, 0xa5, 0 }, 4, HWTD_PK_PT_CBR, 0xa5, 0, 0, 0 },
	{ "cbr reserved", { 2, 3, 0xa5, 0x80 }, 4, HWTD_PK_PT_CBR, 0xa5, 0,
	    BAD, 0 },
	{ "mnt", { 2, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 0x88 }, 11,
	    HWTD_PK_PT_MNT, 0x8807060504030201, 0, 0, 0 },
	{ "ptw 4", { 2, 0x12, 1, 2, 3, 0x84 }, 6, HWTD_PK_PT_PTW, 0x84030201,
	    4, 0, 0 },
	{ "ptw 4 ip", { 2, 0x92, 1, 2, 3, 0x84 }, 6, HWTD_PK_PT_PTW,
	    0x84030201, 4, FUP_FOLLOWS, 0 },
	{ "ptw 8", { 2, 0x32, 1, 2, 3, 4, 5, 6, 7, 0x88 }, 10, HWTD_PK_PT_PTW,
	    0x8807060504030201, 8, 0, 0 },
	{ "ptw 8 ip", { 2, 0xb2, 1, 2, 3, 4, 5, 6, 7, 0x88 }, 10,
	    HWTD_PK_PT_PTW, 0x8807060504030201, 8, FUP_FOLLOWS, 0 },
	{ "exstop", { 2, 0x62 }, 2, HWTD_PK_PT_EXSTOP, 0, 0, 0, 0 },
	{ "exstop ip", { 2, 0xe2 }, 2, HWTD_PK_PT_EXSTOP, 0, 0, FUP_FOLLOWS,
	    0 },
	{ "mwait", { 2, 0xc2, 1, 2, 3, 0x84, 5, 6, 7, 0x88 }, 10,
	    HWTD_PK_PT_MWAIT, 0x84030201, 0x88070605, HWTD_PKF_RESERVED, 0 },
	{ "mwait of all bits", { 2, 0xc2, 0xff, 0, 0, 0, 3, 0, 0, 0 }, 10,
	    HWTD_PK_PT_MWAIT, 0xff, 3, 0, 0 },
	{ "mwait, extensions reserved", { 2, 0xc2, 0, 0, 0, 0, 4, 0, 0, 0 },
	    10, HWTD_PK_PT_MWAIT, 0, 4, HWTD_PKF_RESERVED, 0 },
	{ "pwre", { 2, 0x22, 0, 0x5a }, 4, HWTD_PK_PT_PWRE, 5, 10, 0, 0 },
	{ "pwre by hardware", { 2, 0x22, 0x80, 0xf0 }, 4, HWTD_PK_PT_PWRE, 15,
	    0, HWTD_PKF_HARDWARE, 0 },
	{ "pwre reserved", { 2, 0x22, 0x40, 0x5a }, 4, HWTD_PK_PT_PWRE, 5, 10,
	    BAD, 0 },
	{ "pwrx", { 2, 0xa2, 0x5a, 0, 0, 0, 0 }, 7, HWTD_PK_PT_PWRX, 5, 10, 0,
	    0 },
	{ "pwrx by interrupt", { 2, 0xa2, 0x5a, 1 }, 7, HWTD_PK_PT_PWRX, 5, 10,
	    HWTD_PKF_WAKE_INTERRUPT, 0 },
	{ "pwrx by store", { 2, 0xa2, 0x5a, 4 }, 7, HWTD_PK_PT_PWRX, 5, 10,
	    HWTD_PKF_WAKE_STORE, 0 },
	{ "pwrx autonomous", { 2, 0xa2, 0x5a, 8 }, 7, HWTD_PK_PT_PWRX, 5, 10,
	    HWTD_PKF_WAKE_AUTONOMOUS, 0 },
	{ "pwrx reserved 1", { 2, 0xa2, 0x5a, 2 }, 7, HWTD_PK_PT_PWRX, 5, 10,
	    BAD, 0 },
	{ "pwrx reserved 4", { 2, 0xa2, 0x5a, 0x10 }, 7, HWTD_PK_PT_PWRX, 5,
	    10, BAD, 0 },
	{ "pwrx reserved last", { 2, 0xa2, 0x5a, 0, 0, 0, 0x80 }, 7,
	    HWTD_PK_PT_PWRX, 5, 10, BAD, 0 },
	{ "bbp of 8", { 2, 0x63, 4 }, 3, HWTD_PK_PT_BBP, 4, 8, 0, 0 },
	{ "bbp of 4", { 2, 0x63, 0x9f }, 3, HWTD_PK_PT_BBP, 31, 4, 0, 0 },
	{ "bbp reserved", { 2, 0x63, 0x20 }, 3, HWTD_PK_PT_BBP, 0, 8, BAD, 0 },
	{ "bep", { 2, 0x33 }, 2, HWTD_PK_PT_BEP, 0, 0, 0, 0 },
	{ "bep ip", { 2, 0xb3 }, 2, HWTD_PK_PT_BEP, 0, 0, FUP_FOLLOWS, 0 },
	{ "cfe", { 2, 0x13, 1, 0xfe }, 4, HWTD_PK_PT_CFE, 0xfe, 1, 0, 0 },
	{ "cfe ip", { 2, 0x13, 0x9f, 0 }, 4, HWTD_PK_PT_CFE, 0, 31,
	    FUP_FOLLOWS, 0 },
	{ "cfe reserved", { 2, 0x13, 0x41, 0 }, 4, HWTD_PK_PT_CFE, 0, 1, BAD,
	    0 },
	{ "evd", { 2, 0x53, 0x3f, 1, 2, 3, 4, 5, 6, 7, 0x88 }, 11,
	    HWTD_PK_PT_EVD, 0x8807060504030201, 63, 0, 0 },
	{ "evd reserved", { 2, 0x53, 0x81 }, 11, HWTD_PK_PT_EVD, 0, 1, BAD,
	    0 },
	{ "trig", { 0xd9, 0, 0xa1 }, 3, HWTD_PK_PT_TRIG, 0xa1, 0, 0, 0 },
	{ "trig all", { 0xd9, 0xe0, 0xa1, 0x34, 0x92 }, 5, HWTD_PK_PT_TRIG,
	    0xa1, 0x9234,
	    FUP_FOLLOWS | HWTD_PKF_TRIG_COUNT | HWTD_PKF_TRIG_MULTIPLE, 0 },
	{ "trig reserved", { 0xd9, 1, 0xa1 }, 3, HWTD_PK_PT_TRIG, 0xa1, 0, BAD,
	    0 },
};
#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void
fields_are_those_of_the_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++) {
		const struct field_case *c = &cases[i];
		struct hwtdi_pt_lex_state s = fresh;
		struct hwtdi_pt_packet p;

		print_message("case %s\n", c->name);
		assert_true(lex(&s, c->bytes, c->n, &p));
		assert_int_equal(p.kind, c->kind);
		assert_int_equal(p.bytes, c->n);
		assert_int_equal(p.value, c->value);
		assert_int_equal(p.count, c->count);
		assert_int_equal(p.flags, c->flags);
		assert_int_equal(p.ip, c->ip);
	}
}

static void
every_kind_has_a_case(void **state)
{
	(void)state;
	for (unsigned int kind = HWTD_PK_PT_PAD; kind < HWTD_PK_CS_ASYNC;
	     kind++) {
		bool found = kind == HWTD_PK_PT_PAD || kind == HWTD_PK_PT_BIP;

		for (size_t i = 0; i < N_CASES; i++)
			found |= cases[i].kind == kind;
		assert_true(found);
	}
}

static void
a_cut_packet_says_how_long_it_would_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_CASES; i++)
		for (size_t n = 1; n < cases[i].n; n++) {
			struct hwtdi_pt_lex_state s = fresh;
			uint8_t bytes[HWTDI_PT_PACKET_MAX] = { 0 };
			struct hwtdi_pt_packet p;

			/* Zeros follow, as the lexer has it at an end. */
			memcpy(bytes, cases[i].bytes, n);
			if (lex(&s, bytes, sizeof(bytes), &p))
				assert_true(p.bytes > n);
		}
}

static void
bytes_that_begin_no_packet_are_refused(void **state)
{
	static const uint8_t none[][16] = {
		/* Reserved first bytes. */
		{ 0x05 },
		{ 0xc5 },
		{ 0x09 },
		{ 0x39 },
		{ 0x79 },
		{ 0xb9 },
		{ 0xc9 },
		{ 0xe9 },
		{ 0xf9 },
		{ 0x29 },
		{ 0x15 },
		{ 0xf5 },
		/* IPBytes 5 and 7. */
		{ 0xad },
		{ 0xed },
		{ 0xb1 },
		{ 0xf1 },
		{ 0xa1 },
		{ 0xe1 },
		{ 0xbd },
		{ 0xfd },
		/* Second and third bytes. */
		{ 2, 0 },
		{ 2, 1 },
		{ 2, 0x24 },
		{ 2, 0xff },
		{ 2, 0x52 },
		{ 2, 0x72 },
		{ 2, 0xd2 },
		{ 2, 0xf2 },
		{ 2, 0xc3, 0x89 },
		{ 0x99, 0x40 },
		{ 0x99, 0xff },
		/* Outcomes without a stop bit; TMA with reserved bits. */
		{ 2, 0xa3 },
		{ 2, 0x73, 0, 0, 1 },
		{ 2, 0x73, 0, 0, 0, 0, 2 },
		/* A PSB that ends early, and CYC that does not. */
		{ 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2,
		    0x82, 2, 0x83 },
		{ 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		    0xff, 0xff, 0xff, 0xff, 0xff },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct hwtdi_pt_lex_state s = fresh;
		struct hwtdi_pt_packet p;

		print_message("case %zu\n", i);
		assert_false(lex(&s, none[i], sizeof(none[i]), &p));
		assert_memory_equal(&s, &fresh, sizeof(s));
	}
}

static void
what_a_first_byte_is_follows_from_its_bits(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < 256; b++) {
		const uint8_t bytes[16] = { (uint8_t)b, 0xff };
		struct hwtdi_pt_lex_state s = fresh, in_block = fresh;
		struct hwtdi_pt_packet p;
		const unsigned int low = b & 0x1f;
		bool is = lex(&s, bytes, sizeof(bytes), &p);

		if (b == 0) {
			assert_true(is && p.kind == HWTD_PK_PT_PAD);
		} else if (b != 2 && b % 2 == 0) {
			assert_true(is && p.kind == HWTD_PK_PT_TNT_8);
		} else if (b % 4 == 3) {
			assert_true(is && p.kind == HWTD_PK_PT_CYC);
			assert_int_equal(p.value & 31, b >> 3);
			assert_int_equal(p.bytes, (b & 4) != 0 ? 3 : 1);
		} else if (low == 0x0d || low == 0x11 || low == 0x01 ||
		    low == 0x1d) {
			assert_int_equal(is, b >> 5 != 5 && b >> 5 != 7);
		} else if (b == 0x19 || b == 0x59 || b == 0xd9) {
			assert_true(is);
		} else {
			assert_false(is);
		}
		/* In a block 100 in the low bits is an item, the rest stays. */
		in_block.classes = hwtdi_pt_block_classes;
		in_block.item_bytes = 4;
		if (b % 8 == 4) {
			assert_true(lex(&in_block, bytes, sizeof(bytes), &p));
			assert_int_equal(p.kind, HWTD_PK_PT_BIP);
			assert_int_equal(p.count, b >> 3);
			assert_int_equal(p.bytes, 5);
			assert_int_equal(p.value, 0xff);
		} else {
			struct hwtdi_pt_packet q;

			s = fresh;
			is = lex(&s, bytes, sizeof(bytes), &p);
			assert_int_equal(lex(&in_block, bytes, sizeof(bytes),
					     &q),
			    is);
			if (is)
				assert_memory_equal(&p, &q, sizeof(p));
		}
	}
}

static void
outcomes_of_every_count_and_value(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	for (unsigned int n = 1; n <= 6; n++)
		for (unsigned int bits = 0; bits < 1u << n; bits++) {
			struct hwtdi_pt_lex_state s = fresh;
			struct hwtdi_pt_packet out;

			pt_clear(&p);
			pt_tnt_bits(&p, bits, n);
			assert_true(lex(&s, p.bytes, p.n, &out));
			assert_int_equal(out.value, bits);
			assert_int_equal(out.count, n);
		}
	for (unsigned int n = 0; n <= 47; n++)
		for (unsigned int one = 0; one <= n; one++) {
			const uint64_t bits = (uint64_t)1 << one >> 1;
			struct hwtdi_pt_lex_state s = fresh;
			struct hwtdi_pt_packet out;

			pt_clear(&p);
			pt_long_tnt_bits(&p, bits, n);
			assert_true(lex(&s, p.bytes, p.n, &out));
			assert_int_equal(out.kind, HWTD_PK_PT_TNT_64);
			assert_int_equal(out.value, bits);
			assert_int_equal(out.count, n);
		}
	pt_free(&p);
}

static void
cycles_of_every_length_and_bit(void **state)
{
	struct pt_packets p = { 0 };

	(void)state;
	for (unsigned int n = 1; n <= 15; n++)
		for (unsigned int bit = 0; bit <= 64; bit++) {
			const uint64_t v = bit == 64 ? 0 : (uint64_t)1 << bit;
			struct hwtdi_pt_lex_state s = fresh;
			struct hwtdi_pt_packet out;

			if (bit < 64 && bit >= 5 + 7 * (n - 1))
				continue;
			pt_clear(&p);
			pt_cyc_of(&p, v, n);
			assert_true(lex(&s, p.bytes, p.n, &out));
			assert_int_equal(out.kind, HWTD_PK_PT_CYC);
			assert_int_equal(out.bytes, n);
			assert_int_equal(out.value, v);
		}
	pt_free(&p);
}

static void
padding_is_a_run_up_to_the_end(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (size_t n = 1; n <= 48; n++)
		for (size_t more = 0; more <= 48 - n; more++) {
			struct hwtdi_pt_lex_state s = fresh;
			struct hwtdi_pt_packet p;

			memset(bytes, 0xff, sizeof(bytes));
			memset(bytes, 0, n + more);
			assert_true(hwtdi_pt_lex(&s, bytes, bytes + n, &p));
			assert_int_equal(p.kind, HWTD_PK_PT_PAD);
			assert_int_equal(p.bytes, n);
			assert_int_equal(p.count, n);
			assert_true(hwtdi_pt_lex(&s, bytes, bytes + 49, &p));
			assert_int_equal(p.bytes, n + more);
		}
}

/* After each mode the bits that it does not tell stay those of last IP. */
static void
last_ip_gives_the_bits_that_are_not_told(void **state)
{
	static const enum pt_ip_mode modes[] = { PT_IP_NONE, PT_IP_16,
		PT_IP_32, PT_IP_48_SIGNED, PT_IP_48, PT_IP_64 };
	const uint64_t last = 0x1122334455667788, ip = 0xfedc66778899aabb;

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		static const uint64_t kept[] = { UINT64_MAX, ~0xffffull,
			~0xffffffffull, 0, 0xffff000000000000, 0 };
		struct hwtdi_pt_lex_state s = fresh;
		struct pt_packets p = { 0 };
		struct hwtdi_pt_packet out;
		uint64_t all = (last & kept[i]) | (ip & ~kept[i]);

		if (modes[i] == PT_IP_48_SIGNED)
			all = 0x66778899aabb;
		s.last_ip = last;
		pt_tip(&p, modes[i], ip);
		assert_true(lex(&s, p.bytes, p.n, &out));
		assert_int_equal(s.last_ip, all);
		assert_int_equal(out.ip, modes[i] != PT_IP_NONE ? all : 0);
		pt_free(&p);
	}
}

static void
an_ip_is_known_when_all_its_bits_were_told(void **state)
{
	struct pt_packets p = { 0 };
	struct hwtdi_pt_lex_state s = fresh;
	static const unsigned int flags[] = { 0, 0, 0, HWTD_PKF_IP, 0,
		HWTD_PKF_IP };
	size_t at = 0;

	(void)state;
	s.ip_known = 0;
	pt_tip(&p, PT_IP_16, 0x1111);
	pt_tip(&p, PT_IP_32, 0x22222222);
	pt_fup(&p, PT_IP_48, 0x333333333333);
	pt_pge(&p, PT_IP_48_SIGNED, 0x444444444444);
	pt_pgd(&p, PT_IP_NONE, 0);
	pt_tip(&p, PT_IP_16, 0x5555);
	for (size_t i = 0; i < 6; i++) {
		struct hwtdi_pt_packet out;

		assert_true(lex(&s, p.bytes + at,
		    p.n - at < 16 ? p.n - at : 16, &out));
		assert_int_equal(out.flags, flags[i]);
		if (out.flags == 0)
			assert_int_equal(out.ip, 0);
		at += out.bytes;
	}
	assert_int_equal(at, p.n);
	assert_int_equal(s.last_ip, 0x444444445555);
	pt_free(&p);
}

static void
psb_makes_last_ip_zero_and_known(void **state)
{
	struct hwtdi_pt_lex_state s = {
		.classes = hwtdi_pt_block_classes,
		.last_ip = 7,
		.place = HWTD_PKF_GUESSED,
	};
	struct hwtdi_pt_packet out;

	(void)state;
	assert_true(lex(&s, cases[0].bytes, 16, &out));
	assert_int_equal(s.last_ip, 0);
	assert_int_equal(s.ip_known, UINT64_MAX);
	assert_ptr_equal(s.classes, hwtdi_pt_classes);
	assert_int_equal(s.place, HWTD_PKF_STATUS);
}

static void
a_block_ends_with_bep_ovf_and_psb(void **state)
{
	static const uint8_t ends[][16] = { { 2, 0x33 }, { 2, 0xb3 },
		{ 2, 0xf3 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		static const uint8_t bbp[] = { 2, 0x63, 0x84 };
		struct hwtdi_pt_lex_state s = fresh;
		struct hwtdi_pt_packet out;

		assert_true(lex(&s, bbp, sizeof(bbp), &out));
		assert_ptr_equal(s.classes, hwtdi_pt_block_classes);
		assert_int_equal(s.item_bytes, 4);
		assert_true(lex(&s, ends[i], 2, &out));
		assert_ptr_equal(s.classes, hwtdi_pt_classes);
	}
}

/* Erratum SKD007: the second byte of CYC took the place of the first of OVF. */
static void
skd007_finds_the_overflow_that_a_cyc_swallowed(void **state)
{
	static const uint8_t bytes[] = { 0xaf, 0x02, 0xf3 };
	static const uint8_t others[][3] = { { 0xaf, 0x02, 0xf2 },
		{ 0xaf, 0x04, 0xf3 }, { 0xaf, 0x00, 0xf3 } };

	(void)state;
	for (unsigned int on = 0; on <= 1; on++) {
		struct hwtdi_pt_lex_state s = fresh;
		struct hwtdi_pt_packet out;

		s.skd007 = on != 0 ? HWTDI_PT_CYC_MORE : 0;
		s.classes = hwtdi_pt_block_classes;
		assert_true(lex(&s, bytes, sizeof(bytes), &out));
		assert_int_equal(out.kind,
		    on != 0 ? HWTD_PK_PT_OVF : HWTD_PK_PT_CYC);
		assert_int_equal(out.bytes, on != 0 ? 3 : 2);
		assert_ptr_equal(s.classes,
		    on != 0 ? hwtdi_pt_classes : hwtdi_pt_block_classes);
		for (size_t i = 0; i < 3; i++) {
			s.classes = hwtdi_pt_classes;
			assert_true(lex(&s, others[i], 3, &out));
			assert_int_equal(out.kind, HWTD_PK_PT_CYC);
			assert_int_equal(out.bytes, 2);
		}
		assert_true(lex(&s, (const uint8_t[]){ 0x03 }, 1, &out));
		assert_int_equal(out.kind, HWTD_PK_PT_CYC);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_those_of_the_manual),
		cmocka_unit_test(every_kind_has_a_case),
		cmocka_unit_test(a_cut_packet_says_how_long_it_would_be),
		cmocka_unit_test(bytes_that_begin_no_packet_are_refused),
		cmocka_unit_test(what_a_first_byte_is_follows_from_its_bits),
		cmocka_unit_test(outcomes_of_every_count_and_value),
		cmocka_unit_test(cycles_of_every_length_and_bit),
		cmocka_unit_test(padding_is_a_run_up_to_the_end),
		cmocka_unit_test(last_ip_gives_the_bits_that_are_not_told),
		cmocka_unit_test(an_ip_is_known_when_all_its_bits_were_told),
		cmocka_unit_test(psb_makes_last_ip_zero_and_known),
		cmocka_unit_test(a_block_ends_with_bep_ovf_and_psb),
		cmocka_unit_test(
		    skd007_finds_the_overflow_that_a_cyc_swallowed),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
