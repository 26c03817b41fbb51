/*
 * Length and class of x86 instructions in the three modes.
 *
 * Source: Intel SDM vol. 2, "Opcode Map"; branch classes by vol. 3C, "Change
 * of Flow Instruction (COFI) Tracing".  All lengths but that of the fourteen
 * prefixes were also compared with GNU objdump -M intel64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/code/x86_insn.h"

#define IP 0x401000u

#define NONE HWTD_BRANCH_NONE
#define COND HWTD_BRANCH_CONDITIONAL
#define JUMP HWTD_BRANCH_JUMP
#define IJUMP HWTD_BRANCH_INDIRECT_JUMP
#define CALL HWTD_BRANCH_CALL
#define ICALL HWTD_BRANCH_INDIRECT_CALL
#define RET HWTD_BRANCH_RETURN
#define FCALL HWTD_BRANCH_FAR_CALL
#define FRET HWTD_BRANCH_FAR_RETURN
#define FJUMP HWTD_BRANCH_FAR_JUMP

/* Modes of a case, as bits. */
#define M16 1u
#define M32 2u
#define M64 4u
#define ALL (M16 | M32 | M64)

struct insn_case {
	const char *name;
	/* Hexadecimal digits. */
	const char *bytes;
	unsigned int modes;
	uint8_t length;
	uint8_t branch;
	/* Not 0: a direct branch to there. */
	uint64_t target;
};

static size_t
unhex(const char *text, uint8_t *out)
{
	size_t n = strlen(text) / 2;

	for (size_t i = 0; i < n; i++) {
		char digits[3] = { text[2 * i], text[2 * i + 1], '\0' };

		out[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (n);
}

static void
check(const struct insn_case *c, uint8_t isa)
{
	struct hwtdi_x86_insn insn;
	/* What follows an instruction must not matter: 0f 0b is ud2. */
	uint8_t bytes[32];
	size_t n;

	memset(bytes, 0x0b, sizeof(bytes));
	n = unhex(c->bytes, bytes);
	memset(&insn, 0xa5, sizeof(insn));
	if (!hwtdi_x86_decode(bytes, sizeof(bytes), isa, IP, &insn))
		fail_msg("%s (isa %u): no instruction", c->name, isa);
	if (insn.length != c->length || insn.branch != c->branch ||
	    insn.direct != (c->target != 0) || insn.target != c->target)
		fail_msg("%s (isa %u): length %u branch %u direct %d "
			 "target %#llx",
		    c->name, isa, insn.length, insn.branch, insn.direct,
		    (unsigned long long)insn.target);
	/* All of its bytes are needed, and no more than they are. */
	assert_int_equal(n, c->length);
	assert_true(hwtdi_x86_decode(bytes, n, isa, IP, &insn));
	assert_int_equal(insn.length, n);
	for (size_t cut = 0; cut < n; cut++)
		if (hwtdi_x86_decode(bytes, cut, isa, IP, &insn))
			fail_msg("%s (isa %u): decoded from %zu bytes",
			    c->name, isa, cut);
}

static void
check_all(const struct insn_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((cases[i].modes & M16) != 0)
			check(&cases[i], HWTD_ISA_X86_16);
		if ((cases[i].modes & M32) != 0)
			check(&cases[i], HWTD_ISA_X86_32);
		if ((cases[i].modes & M64) != 0)
			check(&cases[i], HWTD_ISA_X86_64);
	}
}

#define CHECK_ALL(cases) check_all(cases, sizeof(cases) / sizeof((cases)[0]))

static void
every_conditional_jump_is_conditional_and_direct(void **state)
{
	uint8_t isas[] = { HWTD_ISA_X86_16, HWTD_ISA_X86_32, HWTD_ISA_X86_64 };
	struct hwtdi_x86_insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(isas); i++)
		for (unsigned int cc = 0; cc < 16; cc++) {
			/* In 16-bit code a near displacement has 2 bytes. */
			uint8_t near_length = isas[i] == HWTD_ISA_X86_16 ? 4
									 : 6;
			uint8_t brief[] = { (uint8_t)(0x70 + cc), 0xfe };
			uint8_t far_off[] = { 0x0f, (uint8_t)(0x80 + cc), 0x34,
				0x12, 0x00, 0x00 };

			assert_true(hwtdi_x86_decode(brief, sizeof(brief),
			    isas[i], IP, &insn));
			assert_int_equal(insn.length, 2);
			assert_int_equal(insn.branch, COND);
			assert_true(insn.direct);
			assert_int_equal(insn.target, IP);

			assert_true(hwtdi_x86_decode(far_off, near_length,
			    isas[i], IP, &insn));
			assert_int_equal(insn.length, near_length);
			assert_int_equal(insn.branch, COND);
			assert_true(insn.direct);
			assert_int_equal(insn.target,
			    IP + near_length + 0x1234);
		}
}

static void
loops_and_jumps_on_cx_are_conditional(void **state)
{
	static const struct insn_case cases[] = {
		{ "loopne", "e010", M32 | M64, 2, COND, IP + 0x12 },
		{ "loope", "e110", M32 | M64, 2, COND, IP + 0x12 },
		{ "loop", "e210", M32 | M64, 2, COND, IP + 0x12 },
		{ "jecxz, jrcxz", "e310", M32 | M64, 2, COND, IP + 0x12 },
		{ "loopne", "e010", M16, 2, COND, IP + 0x12 },
		{ "loope", "e110", M16, 2, COND, IP + 0x12 },
		{ "loop", "e210", M16, 2, COND, IP + 0x12 },
		{ "jcxz", "e310", M16, 2, COND, IP + 0x12 },
		{ "addr loop", "67e2f0", M32 | M64, 3, COND, IP - 0xd },
		{ "addr jcxz", "67e3f0", M32 | M64, 3, COND, IP - 0xd },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
near_jumps_and_calls_are_direct_or_indirect(void **state)
{
	static const struct insn_case cases[] = {
		{ "jmp short", "eb7f", M32 | M64, 2, JUMP, IP + 0x81 },
		{ "jmp short back", "ebfe", M32 | M64, 2, JUMP, IP },
		{ "jmp near", "e978563412", M32 | M64, 5, JUMP,
		    IP + 5 + 0x12345678 },
		{ "call near", "e8fbffffff", M32 | M64, 5, CALL, IP },
		{ "call to the next", "e800000000", M32 | M64, 5, CALL,
		    IP + 5 },
		{ "jmp short", "eb7f", M16, 2, JUMP, IP + 0x81 },
		{ "jmp near", "e93412", M16, 3, JUMP, IP + 0x1237 },
		{ "call near", "e80000", M16, 3, CALL, IP + 3 },
		{ "jmp *reg", "ffe0", ALL, 2, IJUMP, 0 },
		{ "jmp *r15", "41ffe7", M64, 3, IJUMP, 0 },
		{ "jmp *mem", "ff20", M32 | M64, 2, IJUMP, 0 },
		{ "jmp *disp32(rip)", "ff2500000000", M64, 6, IJUMP, 0 },
		{ "jmp *disp32", "ff2500000000", M32, 6, IJUMP, 0 },
		{ "jmp *disp16", "ff261234", M16, 4, IJUMP, 0 },
		{ "jmp *sib", "ff24c500000000", M64, 7, IJUMP, 0 },
		{ "call *reg", "ffd0", ALL, 2, ICALL, 0 },
		{ "call *mem", "ff5008", M32 | M64, 3, ICALL, 0 },
		{ "call *disp32(rip)", "ff1500000000", M64, 6, ICALL, 0 },
		{ "call *fs:0x10", "64ff142510000000", M64, 8, ICALL, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
near_returns_are_returns_and_far_ones_far_returns(void **state)
{
	static const struct insn_case cases[] = {
		{ "ret", "c3", ALL, 1, RET, 0 },
		{ "ret imm", "c20800", ALL, 3, RET, 0 },
		{ "rep ret", "f3c3", ALL, 2, RET, 0 },
		{ "bnd ret", "f2c3", ALL, 2, RET, 0 },
		{ "retf", "cb", ALL, 1, FRET, 0 },
		{ "retf imm", "ca0800", ALL, 3, FRET, 0 },
		{ "rex.w retf", "48cb", M64, 2, FRET, 0 },
		{ "iret", "cf", ALL, 1, FRET, 0 },
		{ "iretw", "66cf", M32 | M64, 2, FRET, 0 },
		{ "iretd", "66cf", M16, 2, FRET, 0 },
		{ "iretq", "48cf", M64, 2, FRET, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
far_jumps_and_calls_go_through_a_pointer(void **state)
{
	static const struct insn_case cases[] = {
		{ "jmp far ptr16:32", "ea785634121000", M32, 7, FJUMP, 0 },
		{ "jmp far ptr16:16", "ea34121000", M16, 5, FJUMP, 0 },
		{ "jmp far ptr16:16", "66ea34121000", M32, 6, FJUMP, 0 },
		{ "call far ptr16:32", "9a785634121000", M32, 7, FCALL, 0 },
		{ "call far ptr16:16", "9a34121000", M16, 5, FCALL, 0 },
		{ "jmp far *mem", "ff28", M32 | M64, 2, FJUMP, 0 },
		{ "jmp far *mem", "ff2f", M16, 2, FJUMP, 0 },
		{ "rex.w jmp far *mem", "48ff28", M64, 3, FJUMP, 0 },
		{ "call far *mem", "ff18", M32 | M64, 2, FCALL, 0 },
		{ "call far *mem", "ff1f", M16, 2, FCALL, 0 },
		{ "rex.w call far *mem", "48ff18", M64, 3, FCALL, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
system_calls_and_interrupts_are_far_calls(void **state)
{
	static const struct insn_case cases[] = {
		{ "int3", "cc", ALL, 1, FCALL, 0 },
		{ "int n", "cd80", ALL, 2, FCALL, 0 },
		{ "int1", "f1", ALL, 1, FCALL, 0 },
		{ "into", "ce", M16 | M32, 1, FCALL, 0 },
		{ "syscall", "0f05", M64, 2, FCALL, 0 },
		{ "sysenter", "0f34", ALL, 2, FCALL, 0 },
		{ "vmcall", "0f01c1", ALL, 3, FCALL, 0 },
		{ "enclu", "0f01d7", ALL, 3, FCALL, 0 },
		{ "tdcall", "660f01cc", ALL, 4, FCALL, 0 },
		{ "seamcall", "660f01cf", M64, 4, FCALL, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
returns_of_the_system_are_far_returns(void **state)
{
	static const struct insn_case cases[] = {
		{ "sysret", "0f07", M64, 2, FRET, 0 },
		{ "sysretq", "480f07", M64, 3, FRET, 0 },
		{ "sysexit", "0f35", M32 | M64, 2, FRET, 0 },
		{ "sysexitq", "480f35", M64, 3, FRET, 0 },
		{ "vmlaunch", "0f01c2", ALL, 3, FRET, 0 },
		{ "vmresume", "0f01c3", ALL, 3, FRET, 0 },
		{ "uiret", "f30f01ec", M64, 4, FRET, 0 },
		{ "rsm", "0faa", ALL, 2, FRET, 0 },
		{ "eretu", "f30f01ca", M64, 4, FRET, 0 },
		{ "erets", "f20f01ca", M64, 4, FRET, 0 },
		{ "seamret", "660f01cd", M64, 4, FRET, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
what_does_not_branch_is_no_branch(void **state)
{
	static const struct insn_case cases[] = {
		{ "nop", "90", ALL, 1, NONE, 0 },
		{ "nopl", "0f1f440000", M32 | M64, 5, NONE, 0 },
		{ "endbr64", "f30f1efa", M64, 4, NONE, 0 },
		{ "endbr32", "f30f1efb", M32, 4, NONE, 0 },
		{ "pause", "f390", ALL, 2, NONE, 0 },
		{ "hlt", "f4", ALL, 1, NONE, 0 },
		{ "ud2", "0f0b", ALL, 2, NONE, 0 },
		{ "push", "55", ALL, 1, NONE, 0 },
		{ "push *mem", "ff30", M32 | M64, 2, NONE, 0 },
		{ "inc *mem", "ff00", M32 | M64, 2, NONE, 0 },
		{ "dec *mem", "ff08", M32 | M64, 2, NONE, 0 },
		{ "mov imm64", "48b8f0debc9a78563412", M64, 10, NONE, 0 },
		{ "mov imm32", "b878563412", M32 | M64, 5, NONE, 0 },
		{ "mov imm16", "b83412", M16, 3, NONE, 0 },
		{ "mov moffs64", "48a1f0debc9a78563412", M64, 10, NONE, 0 },
		{ "lea sib disp32", "488d84c878563412", M64, 8, NONE, 0 },
		{ "movabs to cr3", "0f22d8", ALL, 3, NONE, 0 },
		{ "rep movsq", "f348a5", M64, 3, NONE, 0 },
		{ "lock cmpxchg", "f0480fb10a", M64, 5, NONE, 0 },
		{ "vzeroupper", "c5f877", M32 | M64, 3, NONE, 0 },
		{ "vpaddd ymm", "c4c175fec0", M64, 5, NONE, 0 },
		{ "vpaddd zmm", "62f17d48fec1", M64, 6, NONE, 0 },
		{ "crc32", "f20f38f1c1", M32 | M64, 5, NONE, 0 },
		{ "pclmulqdq", "660f3a44c100", M32 | M64, 6, NONE, 0 },
		{ "enter", "c8100000", ALL, 4, NONE, 0 },
		{ "ptwrite reg", "f30faee0", M32 | M64, 4, NONE, 0 },
		{ "ptwrite reg64", "f3480faee0", M64, 5, NONE, 0 },
		{ "ptwrite mem", "f30fae20", M32 | M64, 4, NONE, 0 },
		{ "xbegin", "c7f800000000", M32 | M64, 6, NONE, 0 },
		{ "xbegin", "c7f80000", M16, 4, NONE, 0 },
		{ "xabort", "c6f800", ALL, 3, NONE, 0 },
		{ "xend", "0f01d5", ALL, 3, NONE, 0 },
		{ "mwait", "0f01c9", ALL, 3, NONE, 0 },
		{ "vmptrld", "0fc730", M32 | M64, 3, NONE, 0 },
		{ "wrmsr", "0f30", ALL, 2, NONE, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
prefixes_count_and_change_only_what_they_name(void **state)
{
	static const struct insn_case cases[] = {
		{ "bnd jmp", "f2e900000000", M32 | M64, 6, JUMP, IP + 6 },
		{ "bnd call", "f2e800000000", M32 | M64, 6, CALL, IP + 6 },
		{ "bnd jne", "f275f0", M32 | M64, 3, COND, IP - 0xd },
		{ "notrack jmp *rax", "3effe0", M32 | M64, 3, IJUMP, 0 },
		{ "notrack call *rax", "3effd0", M32 | M64, 3, ICALL, 0 },
		{ "branch taken", "3e75f0", M32 | M64, 3, COND, IP - 0xd },
		{ "branch not taken", "2e75f0", M32 | M64, 3, COND, IP - 0xd },
		{ "rex.w jmp", "48e900000000", M64, 6, JUMP, IP + 6 },
		{ "rex.w call", "48e8fbffffff", M64, 6, CALL, IP + 1 },
		{ "rex.w jmp *rax", "48ffe0", M64, 3, IJUMP, 0 },
		{ "fourteen prefixes", "666666666666666666666666666690", ALL,
		    15, NONE, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

/*
 * 66 in front of a near branch: 16 bits of displacement and of IP in 16- and
 * 32-bit code's other size; Intel ignores it in 64-bit code.
 */
static void
operand_size_changes_near_branches_outside_64_bit_code(void **state)
{
	static const struct insn_case cases[] = {
		{ "66 call rel16", "66e83412", M32, 4, CALL, 0x2238 },
		{ "66 call rel32", "66e800001000", M16, 6, CALL, 0x501006 },
		{ "66 call rel32", "66e800001000", M64, 6, CALL,
		    IP + 6 + 0x100000 },
		{ "66 jmp rel16", "66e93412", M32, 4, JUMP, 0x2238 },
		{ "66 jmp rel32", "66e900001000", M16, 6, JUMP, 0x501006 },
		{ "66 jmp rel32", "66e900001000", M64, 6, JUMP,
		    IP + 6 + 0x100000 },
		{ "66 jmp rel8", "66eb10", M32, 3, JUMP, 0x1013 },
		{ "66 jmp rel8", "66eb10", M64, 3, JUMP, IP + 0x13 },
		{ "66 jne rel16", "660f853412", M32, 5, COND, 0x2239 },
		{ "66 jne rel32", "660f8500001000", M64, 7, COND,
		    IP + 7 + 0x100000 },
		{ "66 jne rel8", "667510", M32, 3, COND, 0x1013 },
		{ "66 jne rel8", "667510", M64, 3, COND, IP + 0x13 },
		{ "66 loop", "66e210", M32, 3, COND, 0x1013 },
		{ "66 loop", "66e210", M64, 3, COND, IP + 0x13 },
		{ "66 jecxz", "66e310", M32, 3, COND, 0x1013 },
		{ "66 jecxz", "66e310", M64, 3, COND, IP + 0x13 },
		{ "66 jmp *ax", "66ffe0", M32, 3, IJUMP, 0 },
		{ "66 ret", "66c3", ALL, 2, RET, 0 },
	};

	(void)state;
	CHECK_ALL(cases);
}

static void
targets_wrap_at_the_width_of_the_mode(void **state)
{
	static const struct {
		const char *bytes;
		uint8_t isa;
		uint64_t ip, target;
	} cases[] = {
		{ "66eb10", HWTD_ISA_X86_32, 0xfff8, 0x000b },
		{ "66ebf0", HWTD_ISA_X86_32, 0x0004, 0xfff7 },
		{ "eb10", HWTD_ISA_X86_32, 0xfffffff8, 0x0000000a },
		{ "ebf0", HWTD_ISA_X86_32, 0x00000004, 0xfffffff6 },
		{ "e9fbffff7f", HWTD_ISA_X86_32, 0x90000000, 0x10000000 },
		{ "75f0", HWTD_ISA_X86_32, 0x00000000, 0xfffffff2 },
		{ "eb10", HWTD_ISA_X86_64, 0xfffffffffffffff8, 0x0a },
		{ "ebf0", HWTD_ISA_X86_64, 0x4, 0xfffffffffffffff6 },
		{ "e9fbffff7f", HWTD_ISA_X86_64, 0xfffffff0, 0x17ffffff0 },
		{ "eb10", HWTD_ISA_X86_64, 0xfffffff8, 0x10000000a },
		{ "e800000080", HWTD_ISA_X86_64, 0xffffffff80000000,
		    0xffffffff00000005 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_x86_insn insn;
		uint8_t bytes[16];
		size_t n = unhex(cases[i].bytes, bytes);

		assert_true(hwtdi_x86_decode(bytes, n, cases[i].isa,
		    cases[i].ip, &insn));
		assert_true(insn.direct);
		if (insn.target != cases[i].target)
			fail_msg("case %zu: target %#llx", i,
			    (unsigned long long)insn.target);
	}
}

/*
 * Addresses in 16-bit code are linear: IP plus the base of CS, which is not
 * known.  Segments lie at any multiple of 16, and anywhere in protected mode;
 * that IP wraps is sure only where the segment would leave the 4 GiB.
 */
static void
targets_in_16_bit_code_are_linear(void **state)
{
	static const struct {
		const char *bytes;
		uint64_t ip, target;
	} cases[] = {
		{ "eb10", 0xfff8, 0x1000a },
		{ "eb10", 0x7c00, 0x7c12 },
		{ "ebf0", 0x20004, 0x1fff6 },
		{ "ebf0", 0x0004, 0xfff6 },
		{ "e90080", 0x9000, 0x1003 },
		{ "e90080", 0x7000, 0xf003 },
		{ "e8ff7f", 0xf8000, 0x100002 },
		{ "74f0", 0x10000, 0xfff2 },
		{ "e2fe", 0x12345, 0x12345 },
		/* The first instructions of a processor. */
		{ "e905fb", 0xfffffff0, 0xfffffaf8 },
		{ "eb10", 0xfffffff0, 0xffff0002 },
		/* Here EIP has 32 bits. */
		{ "66e9faffff7f", 0x90000000, 0x10000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_x86_insn insn;
		uint8_t bytes[16];
		size_t n = unhex(cases[i].bytes, bytes);

		assert_true(hwtdi_x86_decode(bytes, n, HWTD_ISA_X86_16,
		    cases[i].ip, &insn));
		assert_true(insn.direct);
		if (insn.target != cases[i].target)
			fail_msg("case %zu: target %#llx", i,
			    (unsigned long long)insn.target);
	}
}

static void
bytes_that_are_no_instruction_are_refused(void **state)
{
	static const struct {
		const char *name;
		const char *bytes;
		unsigned int modes;
	} cases[] = {
		{ "push es", "06", M64 },
		{ "daa", "27", M64 },
		{ "pusha", "60", M64 },
		{ "bound", "6200", M64 },
		{ "jmp far ptr16:32", "ea785634121000", M64 },
		{ "call far ptr16:32", "9a785634121000", M64 },
		{ "into", "ce", M64 },
		{ "salc", "d6", M64 },
		{ "ff /7", "ff38", ALL },
		{ "jmp far of a register", "ffe8", ALL },
		{ "call far of a register", "ffd8", ALL },
		{ "fe /7", "fe38", ALL },
		{ "8f /1 without xop", "8f0f", M64 },
		{ "0f 04", "0f04", ALL },
		{ "only prefixes", "66666666", ALL },
		{ "lock nop", "f090", ALL },
		{ "sixteen bytes", "66666666666666666666666666666690", ALL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned int m = 0; m < 3; m++) {
			static const uint8_t isas[] = { HWTD_ISA_X86_16,
				HWTD_ISA_X86_32, HWTD_ISA_X86_64 };
			struct hwtdi_x86_insn insn;
			uint8_t bytes[16];
			size_t n = unhex(cases[i].bytes, bytes);

			if ((cases[i].modes >> m & 1) != 0 &&
			    hwtdi_x86_decode(bytes, n, isas[m], IP, &insn))
				fail_msg("%s is taken (isa %u)", cases[i].name,
				    isas[m]);
		}
}

/*
 * What a packet can be bound to besides its branch.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions", "Generation Scenario".
 */
static void
packets_bind_to_these_instructions(void **state)
{
	static const struct {
		const char *name;
		const char *bytes;
		unsigned int modes, binds;
	} cases[] = {
		{ "mov to cr3", "0f22d8", ALL, HWTDI_X86_MOV_CR3 },
		{ "mov to cr3, mod 0", "0f2218", ALL, HWTDI_X86_MOV_CR3 },
		{ "mov to cr4", "0f22e0", ALL, 0 },
		{ "mov from cr3", "0f20d8", ALL, 0 },
		{ "vmptrld", "0fc730", ALL, HWTDI_X86_VMPTRLD },
		{ "vmclear", "660fc730", ALL, 0 },
		{ "vmxon", "f30fc730", ALL, HWTDI_X86_TRACE_SWITCH },
		{ "vmlaunch", "0f01c2", ALL, HWTDI_X86_VM_ENTRY },
		{ "vmresume", "0f01c3", ALL, HWTDI_X86_VM_ENTRY },
		{ "ptwrite", "f30faee0", ALL, HWTDI_X86_PTWRITE },
		{ "ptwrite mem", "f30fae20", ALL, HWTDI_X86_PTWRITE },
		{ "xsave", "0fae20", ALL, 0 },
		{ "mwait", "0f01c9", ALL, HWTDI_X86_MWAIT },
		{ "monitor", "0f01c8", ALL, 0 },
		{ "umwait", "f20faef0", ALL, HWTDI_X86_MWAIT },
		{ "tpause", "660faef0", ALL, HWTDI_X86_MWAIT },
		{ "umonitor", "f30faef0", ALL, 0 },
		{ "in al, imm8", "e480", ALL, HWTDI_X86_PORT_READ },
		{ "in eax, dx", "ed", ALL, HWTDI_X86_PORT_READ },
		{ "out dx, al", "ee", ALL, 0 },
		{ "xbegin", "c7f800000000", M32 | M64, HWTDI_X86_XBEGIN },
		{ "xend", "0f01d5", ALL, HWTDI_X86_XEND },
		{ "xabort", "c6f800", ALL, HWTDI_X86_XABORT },
		{ "xacquire add", "f2f00000", M32 | M64, HWTDI_X86_XBEGIN },
		{ "xrelease add", "f0f30000", M32 | M64, HWTDI_X86_XEND },
		{ "xacquire xchg", "f28700", M32 | M64, HWTDI_X86_XBEGIN },
		{ "xrelease mov", "f38900", M32 | M64, HWTDI_X86_XEND },
		{ "rep mov reg", "f389c0", ALL, 0 },
		{ "cli", "fa", ALL, HWTDI_X86_IFLAG },
		{ "sti", "fb", ALL, HWTDI_X86_IFLAG },
		{ "popf", "9d", ALL, HWTDI_X86_IFLAG },
		{ "pushf", "9c", ALL, 0 },
		{ "cld", "fc", ALL, 0 },
		{ "wrmsr", "0f30", ALL, HWTDI_X86_TRACE_SWITCH },
		{ "rdmsr", "0f32", ALL, 0 },
		{ "xsaves", "0fc728", ALL, HWTDI_X86_TRACE_SWITCH },
		{ "xrstors", "0fc718", ALL, HWTDI_X86_TRACE_SWITCH },
		{ "xsavec", "0fc720", ALL, 0 },
		{ "getsec", "0f37", ALL, HWTDI_X86_TRACE_SWITCH },
		{ "movsb", "a4", ALL, 0 },
		{ "rep movsb", "f3a4", ALL, HWTDI_X86_REP_STRING },
		{ "repne scasb", "f2ae", ALL, HWTDI_X86_REP_STRING },
		{ "rep outsb", "f36e", ALL, HWTDI_X86_REP_STRING },
		{ "insb", "6c", ALL, HWTDI_X86_PORT_READ },
		{ "rep insb", "f36c", ALL,
		    HWTDI_X86_PORT_READ | HWTDI_X86_REP_STRING },
		{ "rep ret", "f3c3", ALL, 0 },
		{ "pause", "f390", ALL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned int m = 0; m < 3; m++) {
			struct hwtdi_x86_insn insn;
			uint8_t bytes[16] = { 0 };

			if ((cases[i].modes >> m & 1) == 0)
				continue;
			(void)unhex(cases[i].bytes, bytes);
			if (!hwtdi_x86_decode(bytes, 15,
				(uint8_t)(HWTD_ISA_X86_16 + m), IP, &insn))
				fail_msg("%s: no instruction", cases[i].name);
			if (insn.binds != cases[i].binds)
				fail_msg("%s: binds %#x", cases[i].name,
				    insn.binds);
		}
}

static void
other_instruction_sets_are_refused(void **state)
{
	static const uint8_t isas[] = { HWTD_ISA_UNKNOWN, HWTD_ISA_A32,
		HWTD_ISA_T32, HWTD_ISA_T32EE, HWTD_ISA_A64, 8, 255 };
	static const uint8_t nop[] = { 0x90 };
	struct hwtdi_x86_insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(isas); i++)
		assert_false(hwtdi_x86_decode(nop, sizeof(nop), isas[i], IP,
		    &insn));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    every_conditional_jump_is_conditional_and_direct),
		cmocka_unit_test(loops_and_jumps_on_cx_are_conditional),
		cmocka_unit_test(near_jumps_and_calls_are_direct_or_indirect),
		cmocka_unit_test(
		    near_returns_are_returns_and_far_ones_far_returns),
		cmocka_unit_test(far_jumps_and_calls_go_through_a_pointer),
		cmocka_unit_test(system_calls_and_interrupts_are_far_calls),
		cmocka_unit_test(returns_of_the_system_are_far_returns),
		cmocka_unit_test(what_does_not_branch_is_no_branch),
		cmocka_unit_test(
		    prefixes_count_and_change_only_what_they_name),
		cmocka_unit_test(
		    operand_size_changes_near_branches_outside_64_bit_code),
		cmocka_unit_test(targets_wrap_at_the_width_of_the_mode),
		cmocka_unit_test(targets_in_16_bit_code_are_linear),
		cmocka_unit_test(bytes_that_are_no_instruction_are_refused),
		cmocka_unit_test(packets_bind_to_these_instructions),
		cmocka_unit_test(other_instruction_sets_are_refused),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
