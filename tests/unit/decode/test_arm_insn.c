/*
 * Length, class and target of Arm instructions, by hand; among them those that
 * Capstone 4.0 does not know: FEAT_HBC, FEAT_CMPBR, FEAT_PAuth, FEAT_PAuth_LR,
 * FEAT_WFxT, FEAT_XS, FEAT_TEV, Armv8.1-M.
 *
 * Encodings are of the Arm ARMs and were checked with llvm-mc 22.1.8:
 *     echo TEXT | llvm-mc -triple=aarch64 -mattr=+all -show-encoding
 *     echo TEXT | llvm-mc -triple=thumbv8.1m.main -mattr=+lob,+mve,+pacbti ...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "decode/code/arm_insn.h"

#define A64 HWTD_ISA_A64
#define A32 HWTD_ISA_A32
#define T32 HWTD_ISA_T32
#define NONE HWTD_BRANCH_NONE
#define COND HWTD_BRANCH_CONDITIONAL
#define JUMP HWTD_BRANCH_JUMP
#define CALL HWTD_BRANCH_CALL
#define IJUMP HWTD_BRANCH_INDIRECT_JUMP
#define ICALL HWTD_BRANCH_INDIRECT_CALL
#define RETURN HWTD_BRANCH_RETURN
#define FCALL HWTD_BRANCH_FAR_CALL
#define FRETURN HWTD_BRANCH_FAR_RETURN
#define IF HWTDI_ARM_CONDITIONAL

#define IP 0x10000002u
/* There is no target. */
#define NO INT64_MIN

/* Words as the manual shows them, of T32 both halfwords. */
static const struct {
	const char *text;
	uint8_t isa;
	uint32_t word;
	uint8_t branch;
	/* From the instruction. */
	int64_t target;
	unsigned int binds;
} cases[] = {
	{ "b #8", A64, 0x14000002, JUMP, 8, 0 },
	{ "b #-0x8000000", A64, 0x16000000, JUMP, -0x8000000, 0 },
	{ "bl #-4", A64, 0x97ffffff, CALL, -4, 0 },
	{ "b.eq #-0x100000", A64, 0x54800000, COND, -0x100000, IF },
	{ "bc.ne #8", A64, 0x54000051, COND, 8, IF },
	{ "cbz x3, #0xffffc", A64, 0xb47fffe3, COND, 0xffffc, IF },
	{ "tbnz w3, #5, #-0x8000", A64, 0x372c0003, COND, -0x8000, IF },
	{ "br x17", A64, 0xd61f0220, IJUMP, NO, 0 },
	{ "br x30", A64, 0xd61f03c0, IJUMP, NO, 0 },
	{ "blr x8", A64, 0xd63f0100, ICALL, NO, 0 },
	{ "ret", A64, 0xd65f03c0, RETURN, NO, 0 },
	{ "eret", A64, 0xd69f03e0, FRETURN, NO, 0 },
	{ "drps", A64, 0xd6bf03e0, NONE, NO, 0 },
	{ "svc #1", A64, 0xd4000021, FCALL, NO, 0 },
	{ "hvc #0", A64, 0xd4000002, FCALL, NO, 0 },
	{ "smc #0xffff", A64, 0xd41fffe3, FCALL, NO, 0 },
	{ "brk #1", A64, 0xd4200020, NONE, NO, 0 },
	{ "hlt #0", A64, 0xd4400000, NONE, NO, 0 },
	{ "isb", A64, 0xd5033fdf, NONE, NO, HWTDI_ARM_ISB },
	{ "dsb sy", A64, 0xd5033f9f, NONE, NO, HWTDI_ARM_BARRIER },
	{ "dmb ish", A64, 0xd5033bbf, NONE, NO, HWTDI_ARM_BARRIER },
	{ "clrex", A64, 0xd5033f5f, NONE, NO, 0 },
	{ "sb", A64, 0xd50330ff, NONE, NO, 0 },
	{ "wfe", A64, 0xd503205f, NONE, NO, HWTDI_ARM_WAIT },
	{ "wfi", A64, 0xd503207f, NONE, NO, HWTDI_ARM_WAIT },
	{ "nop", A64, 0xd503201f, NONE, NO, 0 },
	{ "mov x29, sp", A64, 0x910003fd, NONE, NO, 0 },
	/* Newer A64. */
	{ "dsb nshnxs", A64, 0xd503363f, NONE, NO, HWTDI_ARM_BARRIER },
	{ "wfet x3", A64, 0xd5031003, NONE, NO, HWTDI_ARM_WAIT },
	{ "wfit x3", A64, 0xd5031023, NONE, NO, HWTDI_ARM_WAIT },
	{ "tstart x2", A64, 0xd5233062, NONE, NO, HWTDI_ARM_TSTART },
	{ "tcommit", A64, 0xd503307f, NONE, NO, 0 },
	{ "tcancel #1", A64, 0xd4600020, NONE, NO, 0 },
	{ "braaz x3", A64, 0xd61f087f, IJUMP, NO, 0 },
	{ "braa x0, sp", A64, 0xd71f081f, IJUMP, NO, 0 },
	{ "brab x3, x4", A64, 0xd71f0c64, IJUMP, NO, 0 },
	{ "blrabz x3", A64, 0xd63f0c7f, ICALL, NO, 0 },
	{ "blraa x3, x4", A64, 0xd73f0864, ICALL, NO, 0 },
	{ "retaa", A64, 0xd65f0bff, RETURN, NO, 0 },
	{ "retab", A64, 0xd65f0fff, RETURN, NO, 0 },
	{ "eretaa", A64, 0xd69f0bff, FRETURN, NO, 0 },
	{ "eretab", A64, 0xd69f0fff, FRETURN, NO, 0 },
	{ "retaasppc #-8", A64, 0x5500005f, RETURN, NO, 0 },
	{ "retabsppc #-0x3fffc", A64, 0x553fffff, RETURN, NO, 0 },
	{ "retaasppcr x2", A64, 0xd65f0be2, RETURN, NO, 0 },
	{ "cbgt x0, x1, #-1024", A64, 0xf4012000, COND, -1024, IF },
	{ "cbhi w0, w1, #1020", A64, 0x74411fe0, COND, 1020, IF },
	{ "cbbgt w0, w1, #8", A64, 0x74018040, COND, 8, IF },
	{ "cbhne w0, w1, #8", A64, 0x74e1c040, COND, 8, IF },
	{ "cblt x3, #63, #8", A64, 0xf53f8043, COND, 8, IF },
	{ "cbeq w3, #0, #8", A64, 0x75c00043, COND, 8, IF },
	{ "tenter #3", A64, 0xd4e00060, FCALL, NO, 0 },
	{ "tenter #3, nb", A64, 0xd4e20060, FCALL, NO, 0 },
	{ "texit", A64, 0xd6ff03e0, FRETURN, NO, 0 },
	{ "texit nb", A64, 0xd6ff07e0, FRETURN, NO, 0 },

	{ "b #8", A32, 0xea000000, JUMP, 8, 0 },
	{ "bne #-0x1fffff8", A32, 0x1a800000, COND, -0x1fffff8, IF },
	{ "bl #4", A32, 0xebffffff, CALL, 4, 0 },
	{ "bleq #8", A32, 0x0b000000, CALL, 8, IF },
	{ "bx lr", A32, 0xe12fff1e, RETURN, NO, 0 },
	{ "bxeq lr", A32, 0x012fff1e, RETURN, NO, IF },
	{ "bx r3", A32, 0xe12fff13, IJUMP, NO, 0 },
	{ "bxj r3", A32, 0xe12fff23, IJUMP, NO, 0 },
	{ "blx r3", A32, 0xe12fff33, ICALL, NO, 0 },
	{ "mov pc, lr", A32, 0xe1a0f00e, RETURN, NO, 0 },
	{ "mov pc, r3", A32, 0xe1a0f003, IJUMP, NO, 0 },
	{ "add pc, pc, r3, lsl #2", A32, 0xe08ff103, IJUMP, NO, 0 },
	{ "addls pc, pc, r3, lsl #2", A32, 0x908ff103, IJUMP, NO, IF },
	{ "subs pc, lr, #4", A32, 0xe25ef004, FRETURN, NO, 0 },
	{ "movs pc, lr", A32, 0xe1b0f00e, FRETURN, NO, 0 },
	{ "cmp r15, r0", A32, 0xe15f0000, NONE, NO, 0 },
	{ "teq with P, of old", A32, 0xe130f00e, NONE, NO, 0 },
	{ "ldr pc, [r3]", A32, 0xe593f000, IJUMP, NO, 0 },
	{ "ldr pc, [pc, #-4]", A32, 0xe51ff004, IJUMP, NO, 0 },
	{ "ldr pc, [r3, r2]", A32, 0xe793f002, IJUMP, NO, 0 },
	{ "pop {pc}", A32, 0xe49df004, RETURN, NO, 0 },
	{ "ldr pc, [sp], #8", A32, 0xe49df008, RETURN, NO, 0 },
	{ "ldr pc, [sp], #-4", A32, 0xe41df004, IJUMP, NO, 0 },
	{ "ldrb r15, [r3]", A32, 0xe5d3f000, NONE, NO, 0 },
	{ "str pc, [r3]", A32, 0xe583f000, NONE, NO, 0 },
	{ "pop {r4, pc}", A32, 0xe8bd8010, RETURN, NO, 0 },
	{ "popne {r4, pc}", A32, 0x18bd8010, RETURN, NO, IF },
	{ "ldm r3, {r4, pc}", A32, 0xe8938010, IJUMP, NO, 0 },
	{ "ldm sp!, {r0, pc}^", A32, 0xe8fd8001, FRETURN, NO, 0 },
	{ "ldm sp, {r0, lr}^", A32, 0xe8dd4001, NONE, NO, 0 },
	{ "stmdb sp!, {r0, pc}", A32, 0xe92d8001, NONE, NO, 0 },
	{ "rfeia sp!", A32, 0xf8bd0a00, FRETURN, NO, 0 },
	{ "srsdb sp!, #19", A32, 0xf96d0513, NONE, NO, 0 },
	{ "eret", A32, 0xe160006e, FRETURN, NO, 0 },
	{ "svc #0", A32, 0xef000000, FCALL, NO, 0 },
	{ "svceq #0", A32, 0x0f000000, FCALL, NO, IF },
	{ "hvc #1", A32, 0xe1400071, FCALL, NO, 0 },
	{ "smc #1", A32, 0xe1600071, FCALL, NO, 0 },
	{ "bkpt #0", A32, 0xe1200070, NONE, NO, 0 },
	{ "isb sy", A32, 0xf57ff06f, NONE, NO, HWTDI_ARM_ISB },
	{ "dmb ish", A32, 0xf57ff05b, NONE, NO, HWTDI_ARM_BARRIER },
	{ "mcr p15, 0, r0, c7, c5, 4", A32, 0xee070f95, NONE, NO,
	    HWTDI_ARM_ISB },
	{ "mcreq p15, 0, r0, c7, c10, 5", A32, 0x0e070fba, NONE, NO,
	    HWTDI_ARM_BARRIER | IF },
	{ "wfi", A32, 0xe320f003, NONE, NO, HWTDI_ARM_WAIT },
	{ "wfene", A32, 0x1320f002, NONE, NO, HWTDI_ARM_WAIT | IF },
	{ "moveq r0, r1", A32, 0x01a00001, NONE, NO, IF },

	{ "b #-2", T32, 0xe7fd0000, JUMP, -2, 0 },
	{ "beq #-0xfc", T32, 0xd0800000, COND, -0xfc, IF },
	{ "cbz r3, #0x82", T32, 0xb3fb0000, COND, 0x82, IF },
	{ "cbnz r0, #4", T32, 0xb9000000, COND, 4, IF },
	{ "bx lr", T32, 0x47700000, RETURN, NO, 0 },
	{ "bx pc", T32, 0x47780000, IJUMP, NO, 0 },
	{ "blx r3", T32, 0x47980000, ICALL, NO, 0 },
	{ "bxns lr", T32, 0x47740000, RETURN, NO, 0 },
	{ "blxns r3", T32, 0x479c0000, ICALL, NO, 0 },
	{ "mov pc, lr", T32, 0x46f70000, RETURN, NO, 0 },
	{ "mov pc, r3", T32, 0x469f0000, IJUMP, NO, 0 },
	{ "mov r7, r3", T32, 0x461f0000, NONE, NO, 0 },
	{ "add pc, r3", T32, 0x449f0000, IJUMP, NO, 0 },
	{ "pop {r4, pc}", T32, 0xbd100000, RETURN, NO, 0 },
	{ "pop {r4}", T32, 0xbc100000, NONE, NO, 0 },
	{ "svc #0", T32, 0xdf000000, FCALL, NO, 0 },
	{ "bkpt #0", T32, 0xbe000000, NONE, NO, 0 },
	{ "wfi", T32, 0xbf300000, NONE, NO, HWTDI_ARM_WAIT },
	{ "b.w #-0x1000000+4", T32, 0xf4009000, JUMP, 4 - 0x1000000, 0 },
	{ "b.w #0xfffffe+4", T32, 0xf3ff97ff, JUMP, 4 + 0xfffffe, 0 },
	{ "bne.w #-0x100000+4", T32, 0xf4408000, COND, 4 - 0x100000, IF },
	{ "bl #4", T32, 0xf000f800, CALL, 4, 0 },
	{ "tbb [pc, r1]", T32, 0xe8dff001, IJUMP, NO, 0 },
	{ "tbh [r0, r1]", T32, 0xe8d0f011, IJUMP, NO, 0 },
	{ "ldr.w pc, [r0]", T32, 0xf8d0f000, IJUMP, NO, 0 },
	{ "ldr.w pc, [pc, #-8]", T32, 0xf85ff008, IJUMP, NO, 0 },
	{ "ldr.w pc, [r0, r1]", T32, 0xf850f001, IJUMP, NO, 0 },
	{ "ldr.w pc, [sp], #4", T32, 0xf85dfb04, RETURN, NO, 0 },
	{ "ldr.w pc, [r0, #-4]!", T32, 0xf850fd04, IJUMP, NO, 0 },
	{ "pld [r0]", T32, 0xf890f000, NONE, NO, 0 },
	{ "pop.w {r4, pc}", T32, 0xe8bd8010, RETURN, NO, 0 },
	{ "ldmdb r0, {r4, pc}", T32, 0xe9108010, IJUMP, NO, 0 },
	{ "push.w {r4, lr}", T32, 0xe92d4010, NONE, NO, 0 },
	{ "rfeia sp!", T32, 0xe9bdc000, FRETURN, NO, 0 },
	{ "rfedb r3", T32, 0xe813c000, FRETURN, NO, 0 },
	{ "subs pc, lr, #4", T32, 0xf3de8f04, FRETURN, NO, 0 },
	{ "eret", T32, 0xf3de8f00, FRETURN, NO, 0 },
	{ "bxj r3", T32, 0xf3c38f00, IJUMP, NO, 0 },
	{ "hvc #1", T32, 0xf7e08001, FCALL, NO, 0 },
	{ "smc #1", T32, 0xf7f18000, FCALL, NO, 0 },
	{ "dcps1", T32, 0xf78f8001, NONE, NO, 0 },
	{ "dsb sy", T32, 0xf3bf8f4f, NONE, NO, HWTDI_ARM_BARRIER },
	{ "isb sy", T32, 0xf3bf8f6f, NONE, NO, HWTDI_ARM_ISB },
	{ "wfi.w", T32, 0xf3af8003, NONE, NO, HWTDI_ARM_WAIT },
	{ "mcr p15, 0, r0, c7, c10, 4", T32, 0xee070f9a, NONE, NO,
	    HWTDI_ARM_BARRIER },
	/* Armv8-M and Armv8.1-M. */
	{ "sg", T32, 0xe97fe97f, NONE, NO, 0 },
	{ "clrm {r0, apsr}", T32, 0xe89f8001, NONE, NO, 0 },
	{ "le lr, #-8+4", T32, 0xf00fc005, COND, -4, IF },
	{ "le lr, #-4094+4", T32, 0xf00fcfff, COND, -4090, IF },
	{ "le #-8+4", T32, 0xf02fc005, JUMP, -4, 0 },
	{ "letp lr, #-8+4", T32, 0xf01fc005, COND, -4, IF },
	{ "wls lr, r3, #8+4", T32, 0xf043c005, COND, 12, IF },
	{ "wlstp.8 lr, r3, #8+4", T32, 0xf003c005, COND, 12, IF },
	{ "wlstp.64 lr, r3, #8+4", T32, 0xf033c005, COND, 12, IF },
	{ "dls lr, r3", T32, 0xf043e001, NONE, NO, 0 },
	{ "dlstp.32 lr, r3", T32, 0xf023e001, NONE, NO, 0 },
	{ "lctp", T32, 0xf00fe001, NONE, NO, 0 },
	{ "vctp.8 r1", T32, 0xf001e801, NONE, NO, 0 },
	{ "bf #8, #16", T32, 0xf240e009, NONE, NO, 0 },
	{ "bfl #8, #16", T32, 0xf200c009, NONE, NO, 0 },
	{ "bfx #8, r3", T32, 0xf263e001, NONE, NO, 0 },
	{ "bflx #4, r4", T32, 0xf174e001, NONE, NO, 0 },
	{ "bfcsel #8, #16, #12, eq", T32, 0xf202e009, NONE, NO, 0 },
	{ "pacbti r12, lr, sp", T32, 0xf3af800d, NONE, NO, 0 },
	{ "bxaut r1, r2, lr", T32, 0xfb521f1e, RETURN, NO, 0 },
	{ "bxaut r1, r2, r3", T32, 0xfb521f13, IJUMP, NO, 0 },
};

static void
put(uint8_t *bytes, uint32_t word, uint8_t isa)
{
	if (isa == T32)
		word = word << 16 | word >> 16;
	for (size_t i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
}

static void
instructions_have_the_class_and_target_of_the_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const bool direct = cases[i].target != NO;
		struct hwtdi_arm_insn insn;
		uint8_t bytes[4];
		size_t length = cases[i].isa == T32 &&
			cases[i].word < 0xe8000000
		    ? 2
		    : 4;

		print_message("%u %s\n", cases[i].isa, cases[i].text);
		put(bytes, cases[i].word, cases[i].isa);
		assert_true(hwtdi_arm_decode(bytes, 4, cases[i].isa, IP,
		    &insn));
		assert_int_equal(insn.length, length);
		assert_int_equal(insn.branch, cases[i].branch);
		assert_int_equal(insn.direct, direct);
		assert_int_equal(insn.target,
		    direct ? (uint64_t)(IP + cases[i].target) : 0);
		assert_int_equal(insn.binds, cases[i].binds);
		assert_int_equal(insn.target_isa, 0);
		assert_int_equal(insn.it, 0);
		/* All of it is needed, and no more. */
		assert_true(hwtdi_arm_decode(bytes, length, cases[i].isa, IP,
		    &insn));
		for (size_t n = 0; n < length; n++)
			assert_false(hwtdi_arm_decode(bytes, n, cases[i].isa,
			    IP, &insn));
	}
}

/* What is none, or never completes. */
static const struct {
	const char *text;
	uint8_t isa;
	uint32_t word;
} refused[] = {
	{ "udf", A64, 0x00000000 },
	{ "udf", A64, 0x0000ffff },
	{ "bit 24 of B.cond, another key", A64, 0x5540001f },
	{ "bit 24 of B.cond", A64, 0x55000000 },
	{ "no such comparison", A64, 0x74810000 },
	{ "bytes of 64 bits", A64, 0xf4018040 },
	{ "BR with a register more", A64, 0xd61f0221 },
	{ "BR without its ones", A64, 0xd61e0220 },
	{ "exception of level 0", A64, 0xd4000000 },
	{ "udf", A32, 0xe7f000f0 },
	{ "udf", A32, 0xe7ffffff },
	{ "udf", T32, 0xde000000 },
	{ "udf.w", T32, 0xf7f0a000 },
	{ "loop of another size", T32, 0xf053c005 },
	{ "LE of another kind", T32, 0xf03fc005 },
};

static void
what_does_not_complete_is_no_instruction(void **state)
{
	struct hwtdi_arm_insn insn;
	uint8_t bytes[4];

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		print_message("%u %s\n", refused[i].isa, refused[i].text);
		put(bytes, refused[i].word, refused[i].isa);
		assert_false(hwtdi_arm_decode(bytes, 4, refused[i].isa, IP,
		    &insn));
	}
	put(bytes, 0xe1a00000, A32);
	assert_false(hwtdi_arm_decode(bytes, 4, HWTD_ISA_T32EE, IP, &insn));
}

static void
blx_with_an_offset_changes_the_instruction_set(void **state)
{
	struct hwtdi_arm_insn insn;

	(void)state;
	/* blx #2 + 8, of A32: the lowest bit of the offset is in H. */
	assert_true(hwtdi_a32_decode(0xfb000000, 0x8000, &insn));
	assert_int_equal(insn.branch, CALL);
	assert_int_equal(insn.target_isa, T32);
	assert_int_equal(insn.target, 0x800a);
	assert_int_equal(insn.binds, 0);
	assert_true(hwtdi_a32_decode(0xfafffffe, 0x8000, &insn));
	assert_int_equal(insn.target, 0x8000);
	/* Of T32: from the word that PC is in. */
	assert_true(hwtdi_t32_decode(0xf000, 0xe800, 0x8000, &insn));
	assert_int_equal(insn.branch, CALL);
	assert_int_equal(insn.target_isa, A32);
	assert_int_equal(insn.target, 0x8004);
	assert_true(hwtdi_t32_decode(0xf000, 0xe802, 0x8002, &insn));
	assert_int_equal(insn.target, 0x8008);
}

static void
targets_stay_in_the_address_space(void **state)
{
	struct hwtdi_arm_insn insn;

	(void)state;
	assert_true(hwtdi_a32_decode(0xea000000, 0xfffffffc, &insn));
	assert_int_equal(insn.target, 4);
	assert_true(hwtdi_t32_decode(0xe7fd, 0, 0, &insn));
	assert_int_equal(insn.target, 0xfffffffe);
	assert_true(hwtdi_a64_decode(0x17ffffff, 0, &insn));
	assert_int_equal(insn.target, UINT64_MAX - 3);
	/* No such addresses are there; they are not made others. */
	assert_true(hwtdi_a32_decode(0xea000000, 0x100000000, &insn));
	assert_int_equal(insn.target, 0x100000008);
}

static void
it_gives_conditions_to_up_to_four(void **state)
{
	struct hwtdi_arm_insn insn;
	uint8_t it;

	(void)state;
	/* ITETT NE: NE, EQ, NE, NE */
	assert_true(hwtdi_t32_decode(0xbf17, 0, IP, &insn));
	assert_int_equal(insn.branch, NONE);
	assert_int_equal(insn.binds, 0);
	it = insn.it;
	assert_int_equal(it >> 4, 1);
	it = hwtdi_t32_it_next(it);
	assert_int_equal(it >> 4, 0);
	assert_true(hwtdi_t32_it_is_conditional(it));
	it = hwtdi_t32_it_next(it);
	assert_int_equal(it >> 4, 1);
	it = hwtdi_t32_it_next(it);
	assert_int_equal(it >> 4, 1);
	it = hwtdi_t32_it_next(it);
	assert_int_equal(it, 0);
	assert_false(hwtdi_t32_it_is_conditional(0));
	/* IT AL */
	assert_false(hwtdi_t32_it_is_conditional(0xe8));
	assert_int_equal(hwtdi_t32_it_next(0), 0);
}

static void
put_halves(uint8_t *bytes, const uint16_t *halves, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bytes[2 * i] = (uint8_t)halves[i];
		bytes[2 * i + 1] = (uint8_t)(halves[i] >> 8);
	}
}

static void
the_state_of_it_is_found_from_the_bytes_before(void **state)
{
	/* bl; itt eq; bl; mov; mov; and an IT that is half of LDR. */
	static const uint16_t code[] = { 0xf000, 0xf800, 0xbf04, 0xf000,
		0xf800, 0x4608, 0x4608, 0xf8d0, 0xbf08, 0x4608 };
	static const uint8_t want[] = { 0, 0, 0, 0x04, 0, 0x08, 0, 0, 0, 0 };
	/* Four of 4 bytes are the longest block. */
	static const uint16_t longest[] = { 0xbf01, 0xf000, 0xf800, 0xf000,
		0xf800, 0xf000, 0xf800, 0xf000, 0xf800, 0x4608 };
	uint8_t bytes[2000];

	(void)state;
	put_halves(bytes, code, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(hwtdi_t32_it_at(bytes, 2 * i), want[i]);
	/* What is before the first byte is not known. */
	assert_int_equal(hwtdi_t32_it_at(bytes + 6, 4), 0);
	put_halves(bytes, longest, 10);
	assert_int_equal(hwtdi_t32_it_at(bytes, 2), 0x01);
	assert_int_equal(hwtdi_t32_it_at(bytes, 14), 0x08);
	assert_int_equal(hwtdi_t32_it_at(bytes, 18), 0);
	/* It is not looked back for ever. */
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xf8;
	put_halves(bytes + 1996, code + 2, 1);
	(void)hwtdi_t32_it_at(bytes, 1998);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    instructions_have_the_class_and_target_of_the_manual),
		cmocka_unit_test(what_does_not_complete_is_no_instruction),
		cmocka_unit_test(
		    blx_with_an_offset_changes_the_instruction_set),
		cmocka_unit_test(targets_stay_in_the_address_space),
		cmocka_unit_test(it_gives_conditions_to_up_to_four),
		cmocka_unit_test(
		    the_state_of_it_is_found_from_the_bytes_before),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
