/*
 * The whole opcode map of x86, and random bytes, compared with Zydis.  What
 * Zydis 4.0 does not know yet is in test_x86_newer.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/code/x86_insn.h"
#include "x86_oracle.h"

static const uint8_t isas[] = { HWTD_ISA_X86_16, HWTD_ISA_X86_32,
	HWTD_ISA_X86_64 };

/* Every n-th of what would be walked, for slow builds. */
static unsigned int
stride(void)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL ? 3 : 1);
}

static void
walk_modrm(uint8_t *bytes, size_t at, uint8_t isa)
{
	static const uint8_t sibs[] = { 0x24, 0x25, 0x8d };

	for (unsigned int m = 0; m < 256; m += stride()) {
		bool sib = m < 0xc0 && (m & 7) == 4;

		bytes[at] = (uint8_t)m;
		for (size_t i = 0; i < (sib ? 3 : 1); i++) {
			bytes[at + 1] = sibs[i];
			(void)x86_oracle_compare(bytes, 15, isa);
		}
	}
}

/* All opcodes of a map, behind prefixes and escapes without a 0. */
static void
walk_map(const char *head, uint8_t isa)
{
	size_t n = strlen(head);

	for (unsigned int op = 0; op < 256; op++) {
		uint8_t bytes[32];

		memset(bytes, 0x81, sizeof(bytes));
		memcpy(bytes, head, n);
		bytes[n] = (uint8_t)op;
		walk_modrm(bytes, n + 1, isa);
	}
}

static void
every_opcode_with_every_prefix_is_as_zydis_says(void **state)
{
	static const char *const prefixes[] = { "", "\x66", "\xf3", "\xf2",
		"\xf0", "\x67", "\x66\xf3", "\xf2\x66", "\xf2\xf3", "\xf3\xf2",
		"\xf0\xf2", "\xf3\xf0", "\x2e", "\x67\x66" };
	static const char *const rexes[] = { "", "\x48", "\x45", "\x4f\x66" };
	static const char *const escapes[] = { "", "\x0f", "\x0f\x38",
		"\x0f\x3a" };

	(void)state;
	for (size_t p = 0; p < 14; p++)
		for (size_t e = 0; e < 4; e++) {
			char head[16];

			(void)snprintf(head, sizeof(head), "%s%s", prefixes[p],
			    escapes[e]);
			walk_map(head, HWTD_ISA_X86_16);
			walk_map(head, HWTD_ISA_X86_32);
			/* Few prefixes go with every REX. */
			for (size_t r = 0; r < (p < 4 ? 4 : 2); r++) {
				(void)snprintf(head, sizeof(head), "%s%s%s",
				    prefixes[p], rexes[r], escapes[e]);
				walk_map(head, HWTD_ISA_X86_64);
			}
		}
}

static void
three_d_now_ends_in_an_opcode(void **state)
{
	uint8_t bytes[16] = { 0x0f, 0x0f };

	(void)state;
	for (size_t isa = 0; isa < 3; isa++)
		for (unsigned int m = 0; m < 256; m++)
			for (unsigned int last = 0; last < 256; last++) {
				memset(bytes + 2, (int)last, 13);
				bytes[2] = (uint8_t)m;
				(void)x86_oracle_compare(bytes, 15, isas[isa]);
			}
}

/* Encodings of VEX and so on that Zydis 4.0 does not know, by map. */
struct newer {
	uint8_t encoding, map, first, last;
};

static const struct newer newer_opcodes[] = {
	/* AMX, VNNI, NE-CONVERT, SHA512, SM3, SM4, CMPccXADD, USER_MSR. */
	{ 0xc4, 2, 0x48, 0x4b },
	{ 0xc4, 2, 0x50, 0x5e },
	{ 0xc4, 2, 0x6c, 0x6c },
	{ 0xc4, 2, 0x72, 0x72 },
	{ 0xc4, 2, 0xb0, 0xb5 },
	{ 0xc4, 2, 0xcb, 0xcd },
	{ 0xc4, 2, 0xd2, 0xda },
	{ 0xc4, 2, 0xe0, 0xef },
	{ 0xc4, 3, 0xde, 0xde },
	{ 0xc4, 5, 0xfd, 0xfd },
	{ 0xc4, 7, 0xf6, 0xf8 },
	/* KMOV, AMX, AVX10.2, CMPccXADD, BMI; APX. */
	{ 0x62, 1, 0x2e, 0x2f },
	{ 0x62, 1, 0x6e, 0x7e },
	{ 0x62, 1, 0x90, 0xd6 },
	{ 0x62, 2, 0x49, 0x53 },
	{ 0x62, 2, 0x67, 0x74 },
	{ 0x62, 2, 0xd2, 0xda },
	{ 0x62, 2, 0xe0, 0xf7 },
	{ 0x62, 3, 0x07, 0x08 },
	{ 0x62, 3, 0x26, 0x26 },
	{ 0x62, 3, 0x42, 0x56 },
	{ 0x62, 3, 0x66, 0x77 },
	{ 0x62, 3, 0xc2, 0xf0 },
	{ 0x62, 4, 0x00, 0xff },
	{ 0x62, 5, 0x18, 0x1e },
	{ 0x62, 5, 0x2e, 0x2f },
	{ 0x62, 5, 0x51, 0x7e },
	{ 0x62, 6, 0x2c, 0x4e },
	{ 0x62, 6, 0x98, 0xbe },
	{ 0x62, 7, 0xf6, 0xf8 },
	/* No news, but the registers walked here are the same: VFMADDCPH. */
	{ 0x62, 6, 0x56, 0x57 },
	{ 0x62, 6, 0xd6, 0xd7 },
};

static bool
is_listed(uint8_t encoding, unsigned int map, unsigned int opcode)
{
	for (size_t i = 0;
	     i < sizeof(newer_opcodes) / sizeof(newer_opcodes[0]); i++) {
		const struct newer *n = &newer_opcodes[i];

		if (n->encoding == encoding && n->map == map &&
		    opcode >= n->first && opcode <= n->last)
			return (true);
	}
	return (false);
}

/*
 * One opcode with pp and modrm: with W, L, vvvv, mask and z as they come,
 * compare each, and see that Zydis takes one if we take one.
 */
static void
walk_fields(uint8_t encoding, unsigned int map, unsigned int pp,
    unsigned int opcode, unsigned int modrm, uint8_t isa)
{
	/* vvvv with aaa and V': none, one, one and a mask. */
	static const uint8_t vvvvs[] = { 0x78, 0x20, 0x78 };
	static const uint8_t masks[] = { 0x08, 0x08, 0x09 };
	bool evex = encoding == 0x62, ours = false, known = false;

	for (unsigned int f = 0; f < (evex ? 24 : 8); f++) {
		/* Without EVEX: W, L, vvvv; with it two bits of L and all. */
		unsigned int w = f & 1, l = f >> 1 & (evex ? 3 : 1);
		unsigned int v = evex ? f >> 3 : f >> 2;
		struct hwtdi_x86_insn insn;
		uint8_t bytes[16], w_pp;
		size_t n = 0;

		w_pp = (uint8_t)(w << 7 | vvvvs[v] | pp);
		memset(bytes, 0x91, sizeof(bytes));
		bytes[n++] = encoding;
		/* Inverted, so 32-bit code can have them. */
		bytes[n++] = (uint8_t)((evex ? 0xf0 : 0xe0) | map);
		bytes[n++] = evex ? w_pp | 0x04 : (uint8_t)(w_pp | l << 2);
		if (evex)
			bytes[n++] = (uint8_t)(l << 5 | masks[v]);
		bytes[n++] = (uint8_t)opcode;
		bytes[n++] = (uint8_t)modrm;
		/* For gathers: an index that is not reg. */
		bytes[n] = (uint8_t)(((modrm >> 3) + 1) << 3 & 0x38) | 4;
		known |= x86_oracle_compare(bytes, 15, isa);
		ours |= hwtdi_x86_decode(bytes, 15, isa, X86_ORACLE_IP, &insn);
	}
	if (ours && !known && !is_listed(encoding, map, opcode))
		fail_msg("isa %u: %#x map %u pp %u opcode %#x modrm %#x is "
			 "taken",
		    isa, encoding, map, pp, opcode, modrm);
}

static void
walk_maps(uint8_t encoding, unsigned int first, unsigned int last)
{
	/* Each mod, with and without SIB, and the ends of the registers. */
	static const uint8_t operands[] = { 0x00, 0x04, 0x05, 0x41, 0x84, 0xc0,
		0xc1 };

	for (size_t isa = 0; isa < 3; isa++)
		for (unsigned int map = first; map <= last; map++)
			for (unsigned int op = 0; op < 256; op += stride())
				for (unsigned int i = 0; i < 4u * 7 * 8; i++)
					walk_fields(encoding, map, i & 3, op,
					    operands[i / 4 % 7] | i / 28 << 3,
					    isas[isa]);
}

static void
vex_opcodes_are_those_of_zydis_and_newer_ones(void **state)
{
	(void)state;
	walk_maps(0xc4, 0, 9);
}

static void
evex_opcodes_are_those_of_zydis_and_newer_ones(void **state)
{
	(void)state;
	walk_maps(0x62, 0, 7);
}

static void
xop_opcodes_are_those_of_zydis(void **state)
{
	(void)state;
	walk_maps(0x8f, 8, 12);
}

static void
random_bytes_are_as_zydis_says(void **state)
{
	uint64_t seed = 88172645463325252u;
	unsigned long tries = 20000000 / stride() / stride();

	(void)state;
	for (unsigned long i = 0; i < tries; i++) {
		uint8_t bytes[16];

		for (size_t at = 0; at < 16; at += 8) {
			/* Xorshift. */
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			memcpy(bytes + at, &seed, 8);
		}
		(void)x86_oracle_compare(bytes,
		    seed >> 60 == 0 ? seed >> 56 & 15 : 15, isas[i % 3]);
	}
}

/* The end of the bytes is the end of memory: sanitizers look. */
static void
nothing_is_read_behind_the_end(void **state)
{
	uint64_t seed = 2463534242u;

	(void)state;
	for (unsigned int i = 0; i < 200000; i++) {
		size_t n = i % 17;
		uint8_t *bytes = malloc(n > 0 ? n : 1);
		struct hwtdi_x86_insn insn;

		assert_non_null(bytes);
		for (size_t at = 0; at < n; at++) {
			seed = seed * 6364136223846793005u +
			    1442695040888963407u;
			bytes[at] = (uint8_t)(seed >> 56);
		}
		if (hwtdi_x86_decode(bytes, n, isas[i % 3], X86_ORACLE_IP,
			&insn))
			assert_in_range(insn.length, 1, n < 15 ? n : 15);
		free(bytes);
	}
}

static int
set_up(void **state)
{
	(void)state;
	return (x86_oracle_init() ? 0 : -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    every_opcode_with_every_prefix_is_as_zydis_says),
		cmocka_unit_test(three_d_now_ends_in_an_opcode),
		cmocka_unit_test(
		    vex_opcodes_are_those_of_zydis_and_newer_ones),
		cmocka_unit_test(
		    evex_opcodes_are_those_of_zydis_and_newer_ones),
		cmocka_unit_test(xop_opcodes_are_those_of_zydis),
		cmocka_unit_test(random_bytes_are_as_zydis_says),
		cmocka_unit_test(nothing_is_read_behind_the_end),
	};

	return (cmocka_run_group_tests(tests, set_up, NULL));
}
