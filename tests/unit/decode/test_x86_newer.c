/*
 * Instructions of 64-bit code that Zydis 4.0 does not know, or not well:
 * APX, AVX10.2, AMX, FRED, MSRLIST, USER_MSR and others.
 *
 * Encodings made with and lengths checked against llvm-mc 22.1.8:
 *     echo TEXT | llvm-mc -triple=x86_64 -mattr=+avx10.2-512 -show-encoding
 *     echo BYTES | llvm-mc -triple=x86_64 --disassemble
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/code/x86_insn.h"

#define NONE HWTD_BRANCH_NONE
#define TRACE HWTDI_X86_TRACE_SWITCH

/* All the bytes of `bytes` are one instruction. */
static const struct {
	const char *text;
	const char *bytes;
	uint8_t branch;
	unsigned int binds;
} cases[] = {
	{ "addl %eax, %ebx, %r16d", "62f47c1001c3", NONE, 0 },
	{ "{nf} addq $0x12345678, (%rax,%rbx), %r31", "62f4841481041878563412",
	    NONE, 0 },
	{ "addw $0x1234, %ax, %r17w", "62f4751081c03412", NONE, 0 },
	{ "ctestneb {dfv=} $1, (%rax)", "62f40405f60001", NONE, 0 },
	{ "ccmpeql %ebx, %eax", "62f4140439d8", NONE, 0 },
	{ "push2 %rax, %rbx", "62f46418fff0", NONE, 0 },
	{ "pop2p %rax, %r20", "62f4dc108fc0", NONE, 0 },
	{ "pushp %r16", "d51850", NONE, 0 },
	{ "jmpabs $0x123456789abcdef0", "d500a1f0debc9a78563412",
	    HWTD_BRANCH_INDIRECT_JUMP, 0 },
	{ "movq %r16, %r31", "d55989c7", NONE, 0 },
	{ "movl 0x12345678(%r16,%r17,4), %eax", "d5308b848878563412", NONE,
	    0 },
	{ "imull $0x12345678, (%rax), %r16d", "d540690078563412", NONE, 0 },
	{ "imulq $1, %rax, %r16", "d5486bc001", NONE, 0 },
	{ "setzune %r16b", "62fc7f1845c0", NONE, 0 },
	{ "cfcmovnel %eax, (%r16)", "62fc7c0c4500", NONE, 0 },
	{ "{nf} popcntl %eax, %r16d", "62e47c0c88c0", NONE, 0 },
	{ "movbel (%rax), %r16d", "62e47c086000", NONE, 0 },
	{ "movdir64b (%rax), %r16", "62e47d08f800", NONE, 0 },
	{ "kmovq (%r16), %k1", "62f9fc089008", NONE, 0 },
	{ "andnl %eax, %r16d, %ebx", "62f27c00f2d8", NONE, 0 },
	{ "rorxl $3, %r16d, %eax", "62fb7f08f0c003", NONE, 0 },
	{ "cmpbexadd %eax, %ebx, (%rax)", "c4e279e618", NONE, 0 },
	{ "cmpoxadd %eax, %ebx, (%r16)", "62fa7d08e018", NONE, 0 },
	{ "vaddbf16 %zmm1, %zmm2, %zmm3", "62f56d4858d9", NONE, 0 },
	{ "vaddph (%r16,%r17), %zmm2, %zmm3", "62fd6848581c08", NONE, 0 },
	{ "vminmaxps $1, %zmm1, %zmm2, %zmm3", "62f36d4852d901", NONE, 0 },
	{ "vmpsadbw $1, %zmm1, %zmm2, %zmm3", "62f36e4842d901", NONE, 0 },
	{ "vcvtph2bf8 %zmm1, %ymm2", "62f27e4874d1", NONE, 0 },
	{ "vmovrsb (%rax), %zmm1", "62f57f486f08", NONE, 0 },
	{ "vcomxsd %xmm1, %xmm2", "62f1ff082fd1", NONE, 0 },
	{ "vpdpbuud %ymm1, %ymm2, %ymm3", "c4e26c50d9", NONE, 0 },
	{ "vpdpwsud %ymm1, %ymm2, %ymm3", "c4e26ed2d9", NONE, 0 },
	{ "vbcstnebf162ps (%rax), %xmm1", "c4e27ab108", NONE, 0 },
	{ "vcvtneps2bf16 %ymm1, %xmm2", "62f27e2872d1", NONE, 0 },
	{ "vpmadd52huq %ymm1, %ymm2, %ymm3", "62f2ed28b5d9", NONE, 0 },
	{ "vsha512rnds2 %xmm1, %ymm2, %ymm3", "c4e26fcbd9", NONE, 0 },
	{ "vsm3rnds2 $1, %xmm1, %xmm2, %xmm3", "c4e369ded901", NONE, 0 },
	{ "vsm4key4 %ymm1, %ymm2, %ymm3", "c4e26edad9", NONE, 0 },
	{ "tcmmimfp16ps %tmm1, %tmm2, %tmm3", "c4e2716cda", NONE, 0 },
	{ "tdpfp16ps %tmm1, %tmm2, %tmm3", "c4e2735cda", NONE, 0 },
	{ "tdpbf8ps %tmm1, %tmm2, %tmm3", "c4e570fdda", NONE, 0 },
	{ "tmmultf32ps %tmm1, %tmm2, %tmm3", "c4e27148da", NONE, 0 },
	{ "tileloaddrs (%rax,%rbx), %tmm1", "c4e27b4a0c18", NONE, 0 },
	{ "tileloadd (%r16,%rbx), %tmm1", "62fa7f084b0c18", NONE, 0 },
	{ "tilemovrow $1, %tmm1, %zmm2", "62f37d4807d101", NONE, 0 },
	{ "tcvtrowd2ps $1, %tmm1, %zmm2", "62f37e4807d101", NONE, 0 },
	{ "aaddl %eax, (%rbx)", "0f38fc03", NONE, 0 },
	{ "axorq %rax, (%rbx)", "f3480f38fc03", NONE, 0 },
	{ "movrsb (%rax), %al", "0f388a00", NONE, 0 },
	{ "movrsq (%rax), %rax", "480f388b00", NONE, 0 },
	{ "wrmsrns", "0f01c6", NONE, TRACE },
	{ "wrmsrlist", "f30f01c6", NONE, TRACE },
	{ "rdmsrlist", "f20f01c6", NONE, 0 },
	{ "wrmsrns %rax, $0x12345678", "c4e77af6c078563412", NONE, TRACE },
	{ "rdmsr $0x12345678, %rax", "c4e77bf6c078563412", NONE, 0 },
	{ "urdmsr %rax, %rbx", "f20f38f8d8", NONE, 0 },
	{ "urdmsr $0x12345678, %rax", "c4e77bf8c078563412", NONE, 0 },
	{ "uwrmsr %rax, $0x12345678", "c4e77af8c078563412", NONE, 0 },
	{ "lkgs %eax", "f20f00f0", NONE, 0 },
	{ "lkgs (%rax)", "f20f0030", NONE, 0 },
	{ "erets", "f20f01ca", HWTD_BRANCH_FAR_RETURN, 0 },
	{ "eretu", "f30f01ca", HWTD_BRANCH_FAR_RETURN, 0 },
	{ "uiret", "f30f01ec", HWTD_BRANCH_FAR_RETURN, 0 },
	{ "senduipi %rax", "f30fc7f0", NONE, 0 },
	{ "pbndkb", "0f01c7", NONE, 0 },
	{ "prefetchit0 (%rip)", "0f183d00000000", NONE, 0 },
	{ "rmpquery", "f30f01fd", NONE, 0 },
	{ "hreset $1", "f30f3af0c001", NONE, 0 },
	{ "encodekey128 %eax, %ebx", "f30f38fad8", NONE, 0 },
	{ "tdcall", "660f01cc", HWTD_BRANCH_FAR_CALL, 0 },
	{ "seamcall", "660f01cf", HWTD_BRANCH_FAR_CALL, 0 },
	{ "seamret", "660f01cd", HWTD_BRANCH_FAR_RETURN, 0 },
	{ "seamops", "660f01ce", NONE, 0 },
	{ "xresldtrk", "f20f01e9", NONE, 0 },
	{ "serialize", "0f01e8", NONE, 0 },
};

static size_t
unhex(const char *text, uint8_t out[16])
{
	size_t n = strlen(text) / 2;

	for (size_t i = 0; i < n; i++) {
		char digits[3] = { text[2 * i], text[2 * i + 1], '\0' };

		out[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (n);
}

static void
newer_instructions_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_x86_insn insn;
		uint8_t bytes[16] = { 0 };
		size_t n = unhex(cases[i].bytes, bytes);

		if (!hwtdi_x86_decode(bytes, 15, HWTD_ISA_X86_64, 0x401000,
			&insn))
			fail_msg("%s: no instruction", cases[i].text);
		if (insn.length != n || insn.branch != cases[i].branch ||
		    insn.direct || insn.binds != cases[i].binds)
			fail_msg("%s: length %u branch %u binds %#x",
			    cases[i].text, insn.length, insn.branch,
			    insn.binds);
		for (size_t cut = 0; cut < n; cut++)
			if (hwtdi_x86_decode(bytes, cut, HWTD_ISA_X86_64,
				0x401000, &insn))
				fail_msg("%s: decoded from %zu bytes",
				    cases[i].text, cut);
	}
}

/* APX is of 64-bit code; there, its escape rows stay undefined. */
static void
rex2_is_refused_where_it_must_not_be(void **state)
{
	static const char *const refused[] = {
		/* Before 0F, a prefix, REX, VEX and REX2. */
		"d5000f1f00",
		"d50066900000",
		"d500489000",
		"d500c5f877",
		"d500d5009000",
		/* Rows 4, 7, A and E of map 0; 3 and 8 of map 1. */
		"d5004890",
		"d5007400",
		"d500a8ff",
		"d500e800000000",
		"d5803000",
		"d5808400000000",
		/* JMPABS with W, 66, 67, F2 and LOCK. */
		"d508a1f0debc9a78563412",
		"66d500a1f0debc9a78563412",
		"67d500a1f0debc9a78563412",
		"f2d500a1f0debc9a78563412",
		"f0d500a1f0debc9a78563412",
		"48d50089c7",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct hwtdi_x86_insn insn;
		uint8_t bytes[16] = { 0 };

		(void)unhex(refused[i], bytes);
		if (hwtdi_x86_decode(bytes, 15, HWTD_ISA_X86_64, 0x401000,
			&insn))
			fail_msg("%s is taken", refused[i]);
	}
}

static void
what_is_of_64_bit_code_is_refused_elsewhere(void **state)
{
	static const char *const only_64[] = { "f20f01ca", "f30f01ca",
		"f30f01ec", "f20f00f0", "f30f01c6", "f30fc7f0", "0f388a00",
		"c4e279e618", "c4e27b4a0c18", "c4e77af6c078563412",
		"62f47c1001c3", "62f27c00f2d8", "62fb7f08f0c003", "f30faec0" };

	(void)state;
	for (size_t i = 0; i < sizeof(only_64) / sizeof(only_64[0]); i++) {
		struct hwtdi_x86_insn insn;
		uint8_t bytes[16] = { 0 };

		(void)unhex(only_64[i], bytes);
		assert_true(hwtdi_x86_decode(bytes, 15, HWTD_ISA_X86_64,
		    0x401000, &insn));
		if (hwtdi_x86_decode(bytes, 15, HWTD_ISA_X86_32, 0x401000,
			&insn) ||
		    hwtdi_x86_decode(bytes, 15, HWTD_ISA_X86_16, 0x401000,
			&insn))
			fail_msg("%s is taken", only_64[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newer_instructions_are_known),
		cmocka_unit_test(rex2_is_refused_where_it_must_not_be),
		cmocka_unit_test(what_is_of_64_bit_code_is_refused_elsewhere),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
