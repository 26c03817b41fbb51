/*
 * The opcode map of one and two bytes, and its groups.
 */
#include <hwtdecode/event.h>

#include "decode/code/x86_tables.h"

#define X2(e) e, e
#define X3(e) e, e, e
#define X4(e) X2(e), X2(e)
#define X6(e) X4(e), X2(e)
#define X7(e) X4(e), X3(e)
#define X8(e) X4(e), X4(e)
#define X16(e) X8(e), X8(e)

/* Mandatory prefixes.  Most opcodes take them for what they otherwise mean. */
#define NP HWTDI_X86_NP
#define P66 HWTDI_X86_66
#define PF3 HWTDI_X86_F3
#define PF2 HWTDI_X86_F2
#define MMX (NP | P66)
#define SCALAR (PF3 | PF2)
#define ANY (NP | P66 | PF3 | PF2)

/* Forms with a modrm byte. */
#define MEM(p) (p)
#define REG(p) ((p) << HWTDI_X86_REG_SHIFT)
#define BOTH(p) (MEM(p) | REG(p))
/* Without one. */
#define BARE(p) (REG(p) | HWTDI_X86_BARE)

#define TAIL(t) ((uint32_t)HWTDI_X86_TAIL_##t << HWTDI_X86_TAIL_SHIFT)
#define SP(s) ((uint32_t)HWTDI_X86_SP_##s << HWTDI_X86_SPECIAL_SHIFT)
#define GROUP(s) (BOTH(ANY) | SP(s))
#define BRANCH(b) ((uint32_t)HWTD_BRANCH_##b << HWTDI_X86_BRANCH_SHIFT)

#define NOT64 HWTDI_X86_NOT_64
#define ONLY64 HWTDI_X86_ONLY_64
#define LOCK HWTDI_X86_LOCKABLE
#define HEAD HWTDI_X86_HEAD

/* Whole entries. */
#define OP BARE(ANY)
#define OP_32 (OP | NOT64)
#define OP_I8 (OP | TAIL(8))
#define OP_IZ (OP | TAIL(Z))
#define RM BOTH(ANY)
#define RM_I8 (RM | TAIL(8))
#define RM_IZ (RM | TAIL(Z))
#define RM_LOCK (RM | LOCK)
#define PREFIX (OP | HEAD)
#define REX (OP | HEAD)
#define JCC8 (OP_I8 | BRANCH(CONDITIONAL))
#define JCC (OP | TAIL(J) | BRANCH(CONDITIONAL))
#define FPU (RM | SP(FPU))
#define STRING (OP | SP(STRING))
/* ADD, OR ... with a destination that can be locked. */
#define ARITH_ROW X2(RM_LOCK), X2(RM), OP_I8, OP_IZ

const uint32_t hwtdi_x86_one_byte[256] = {
	[0x00] = ARITH_ROW,
	[0x06] = X2(OP_32),
	[0x08] = ARITH_ROW,
	[0x0e] = OP_32,
	[0x0f] = HEAD,
	[0x10] = ARITH_ROW,
	[0x16] = X2(OP_32),
	[0x18] = ARITH_ROW,
	[0x1e] = X2(OP_32),
	[0x20] = ARITH_ROW,
	[0x26] = PREFIX,
	[0x27] = OP_32,
	[0x28] = ARITH_ROW,
	[0x2e] = PREFIX,
	[0x2f] = OP_32,
	[0x30] = ARITH_ROW,
	[0x36] = PREFIX,
	[0x37] = OP_32,
	/* CMP has no destination. */
	[0x38] = X4(RM),
	[0x3c] = OP_I8,
	[0x3d] = OP_IZ,
	[0x3e] = PREFIX,
	[0x3f] = OP_32,
	[0x40] = X16(REX),
	[0x50] = X16(OP),
	[0x60] = X2(OP_32),
	[0x62] = MEM(ANY) | NOT64 | HEAD,
	/* ARPL; MOVSXD. */
	[0x63] = RM,
	[0x64] = X4(PREFIX),
	[0x68] = OP_IZ,
	[0x69] = RM_IZ,
	[0x6a] = OP_I8,
	[0x6b] = RM_I8,
	[0x6c] = X2(OP | SP(PORT_STRING)),
	[0x6e] = X2(STRING),
	[0x70] = X16(JCC8),
	[0x80] = RM_LOCK | TAIL(8),
	[0x81] = RM_LOCK | TAIL(Z),
	[0x82] = RM_LOCK | TAIL(8) | NOT64,
	[0x83] = RM_LOCK | TAIL(8),
	[0x84] = X2(RM),
	[0x86] = X2(RM_LOCK),
	[0x88] = X4(RM),
	[0x8c] = GROUP(FROM_SEG),
	[0x8d] = MEM(ANY),
	[0x8e] = GROUP(TO_SEG),
	[0x8f] = GROUP(POP) | HEAD,
	[0x90] = X8(OP),
	[0x98] = X2(OP),
	[0x9a] = OP | TAIL(P) | NOT64 | BRANCH(FAR_CALL),
	[0x9b] = X2(OP),
	[0x9d] = OP | SP(IFLAG),
	[0x9e] = X2(OP),
	[0xa0] = X4(OP | SP(MOFFS)),
	[0xa4] = X4(STRING),
	[0xa8] = OP_I8,
	[0xa9] = OP_IZ,
	[0xaa] = X6(STRING),
	[0xb0] = X8(OP_I8),
	[0xb8] = X8(OP | TAIL(V)),
	[0xc0] = X2(RM_I8),
	[0xc2] = OP | TAIL(16) | BRANCH(RETURN),
	[0xc3] = OP | BRANCH(RETURN),
	[0xc4] = X2(MEM(ANY) | NOT64 | HEAD),
	[0xc6] = GROUP(MOV_IMM) | TAIL(8),
	[0xc7] = GROUP(MOV_IMM) | TAIL(Z),
	[0xc8] = OP | TAIL(24),
	[0xc9] = OP,
	[0xca] = OP | TAIL(16) | BRANCH(FAR_RETURN),
	[0xcb] = OP | BRANCH(FAR_RETURN),
	[0xcc] = OP | BRANCH(FAR_CALL),
	[0xcd] = OP_I8 | BRANCH(FAR_CALL),
	[0xce] = OP_32 | BRANCH(FAR_CALL),
	[0xcf] = OP | BRANCH(FAR_RETURN),
	[0xd0] = X4(RM),
	[0xd4] = OP_I8 | NOT64,
	[0xd5] = OP_I8 | NOT64 | HEAD,
	[0xd6] = OP_32,
	[0xd7] = OP,
	[0xd8] = X8(FPU),
	/* LOOPNE, LOOPE, LOOP, JCXZ. */
	[0xe0] = X4(JCC8),
	[0xe4] = X2(OP_I8 | SP(PORT_READ)),
	[0xe6] = X2(OP_I8),
	[0xe8] = OP | TAIL(J) | BRANCH(CALL),
	[0xe9] = OP | TAIL(J) | BRANCH(JUMP),
	[0xea] = OP | TAIL(P) | NOT64 | BRANCH(FAR_JUMP),
	[0xeb] = OP_I8 | BRANCH(JUMP),
	[0xec] = X2(OP | SP(PORT_READ)),
	[0xee] = X2(OP),
	[0xf0] = PREFIX,
	[0xf1] = OP | BRANCH(FAR_CALL),
	[0xf2] = X2(PREFIX),
	[0xf4] = X2(OP),
	/* The immediate of TEST is looked after where groups are. */
	[0xf6] = X2(GROUP(UNARY)),
	[0xf8] = X2(OP),
	[0xfa] = X2(OP | SP(IFLAG)),
	[0xfc] = X2(OP),
	[0xfe] = GROUP(INC_DEC),
	[0xff] = GROUP(GROUP5),
};

const uint32_t hwtdi_x86_two_byte[256] = {
	[0x00] = GROUP(GROUP6),
	[0x01] = GROUP(GROUP7),
	[0x02] = X2(RM),
	[0x05] = OP | BRANCH(FAR_CALL),
	[0x06] = OP,
	[0x07] = OP | BRANCH(FAR_RETURN),
	/* INVD, WBINVD, UD2. */
	[0x08] = X2(OP),
	[0x0b] = OP,
	[0x0d] = RM,
	[0x0e] = OP,
	[0x0f] = RM_I8 | SP(3DNOW),
	[0x10] = X2(BOTH(ANY)),
	[0x12] = BOTH(NP | SCALAR) | MEM(P66),
	[0x13] = MEM(MMX),
	[0x14] = X2(BOTH(MMX)),
	[0x16] = BOTH(NP | PF3) | MEM(P66),
	[0x17] = MEM(MMX),
	/* Hints and what older processors take for NOP: ENDBR, MPX. */
	[0x18] = X8(RM),
	[0x20] = RM | SP(CONTROL) | HWTDI_X86_MOD_IGNORED,
	[0x21] = RM | SP(DEBUG) | HWTDI_X86_MOD_IGNORED,
	[0x22] = RM | SP(TO_CONTROL) | HWTDI_X86_MOD_IGNORED,
	[0x23] = RM | SP(DEBUG) | HWTDI_X86_MOD_IGNORED,
	[0x28] = X2(BOTH(MMX)),
	[0x2a] = BOTH(ANY),
	[0x2b] = MEM(ANY),
	[0x2c] = X2(BOTH(ANY)),
	[0x2e] = X2(BOTH(MMX)),
	[0x30] = OP | SP(TRACE_SWITCH),
	[0x31] = X3(OP),
	[0x34] = OP | BRANCH(FAR_CALL),
	[0x35] = OP | BRANCH(FAR_RETURN),
	[0x37] = BARE(NP) | SP(TRACE_SWITCH),
	[0x38] = HEAD,
	[0x3a] = HEAD,
	[0x40] = X16(RM),
	[0x50] = REG(MMX),
	[0x51] = BOTH(ANY),
	[0x52] = X2(BOTH(NP | PF3)),
	[0x54] = X4(BOTH(MMX)),
	[0x58] = X3(BOTH(ANY)),
	[0x5b] = BOTH(MMX | PF3),
	[0x5c] = X4(BOTH(ANY)),
	[0x60] = X8(BOTH(MMX)),
	[0x68] = X4(BOTH(MMX)),
	[0x6c] = X2(BOTH(P66)),
	[0x6e] = BOTH(MMX),
	[0x6f] = BOTH(MMX | PF3),
	[0x70] = BOTH(ANY) | TAIL(8),
	[0x71] = X2(RM_I8 | SP(SHIFT_W_D)),
	[0x73] = RM_I8 | SP(SHIFT_Q),
	[0x74] = X3(BOTH(MMX)),
	[0x77] = BARE(NP),
	[0x78] = GROUP(VMREAD),
	[0x79] = BOTH(NP) | REG(P66 | PF2),
	[0x7c] = X2(BOTH(P66 | PF2)),
	[0x7e] = X2(BOTH(MMX | PF3)),
	[0x80] = X16(JCC),
	[0x90] = X16(RM),
	[0xa0] = X3(OP),
	[0xa3] = RM,
	[0xa4] = RM_I8,
	[0xa5] = RM,
	[0xa6] = REG(ANY) | SP(PADLOCK_A6),
	[0xa7] = REG(ANY) | SP(PADLOCK_A7),
	[0xa8] = X2(OP),
	[0xaa] = OP | BRANCH(FAR_RETURN),
	[0xab] = RM_LOCK,
	[0xac] = RM_I8,
	[0xad] = RM,
	[0xae] = GROUP(GROUP15),
	[0xaf] = RM,
	[0xb0] = X2(RM_LOCK),
	[0xb2] = MEM(ANY),
	[0xb3] = RM_LOCK,
	[0xb4] = X2(MEM(ANY)),
	[0xb6] = X2(RM),
	[0xb8] = BOTH(PF3),
	[0xb9] = RM,
	[0xba] = RM_I8 | SP(BIT_TEST),
	[0xbb] = RM_LOCK,
	[0xbc] = X4(RM),
	[0xc0] = X2(RM_LOCK),
	[0xc2] = BOTH(ANY) | TAIL(8),
	[0xc3] = MEM(NP),
	[0xc4] = BOTH(MMX) | TAIL(8),
	[0xc5] = REG(MMX) | TAIL(8),
	[0xc6] = BOTH(MMX) | TAIL(8),
	[0xc7] = GROUP(GROUP9),
	[0xc8] = X8(OP),
	[0xd0] = BOTH(P66 | PF2),
	[0xd1] = X4(BOTH(MMX)),
	[0xd5] = BOTH(MMX),
	[0xd6] = BOTH(P66) | REG(SCALAR),
	[0xd7] = REG(MMX),
	[0xd8] = X8(BOTH(MMX)),
	[0xe0] = X6(BOTH(MMX)),
	[0xe6] = BOTH(P66 | SCALAR),
	[0xe7] = MEM(MMX),
	[0xe8] = X8(BOTH(MMX)),
	[0xf0] = MEM(PF2),
	[0xf1] = X6(BOTH(MMX)),
	[0xf7] = REG(MMX),
	/* The last is UD0. */
	[0xf8] = X7(BOTH(MMX)),
	[0xff] = RM,
};

#define EACH(m)                                                               \
	{                                                                     \
		m, m, m, m                                                    \
	}

const struct hwtdi_x86_group hwtdi_x86_groups[HWTDI_X86_N_GROUPS] = {
	[HWTDI_X86_SP_POP] = { EACH(0x01), EACH(0x01), 0 },
	[HWTDI_X86_SP_FROM_SEG] = { EACH(0x3f), EACH(0x3f), 0 },
	/* Not CS. */
	[HWTDI_X86_SP_TO_SEG] = { EACH(0x3d), EACH(0x3d), 0 },
	/* F8 alone: XABORT, XBEGIN. */
	[HWTDI_X86_SP_MOV_IMM] = { EACH(0x01), EACH(0x81), 0 },
	/* TEST, TEST, NOT, NEG, MUL, IMUL, DIV, IDIV. */
	[HWTDI_X86_SP_UNARY] = { EACH(0xff), EACH(0xff), 0x0c },
	[HWTDI_X86_SP_INC_DEC] = { EACH(0x03), EACH(0x03), 0x03 },
	/* INC, DEC, CALL, CALL far, JMP, JMP far, PUSH. */
	[HWTDI_X86_SP_GROUP5] = { EACH(0x7f), EACH(0x57), 0x03 },
	/* SLDT, STR, LLDT, LTR, VERR, VERW, F2: LKGS. */
	[HWTDI_X86_SP_GROUP6] = { { 0x3f, 0x3f, 0x3f, 0x7f },
	    { 0x3f, 0x3f, 0x3f, 0x7f }, 0 },
	/* SGDT, SIDT, LGDT, LIDT, SMSW, F3: RSTORSSP, LMSW, INVLPG. */
	[HWTDI_X86_SP_GROUP7] = { { 0xdf, 0xdf, 0xff, 0xdf }, EACH(0xff), 0 },
	/* BT, BTS, BTR, BTC. */
	[HWTDI_X86_SP_BIT_TEST] = { EACH(0xf0), EACH(0xf0), 0xe0 },
	/*
	 * CMPXCHG8B, XRSTORS, XSAVEC, XSAVES, VMPTRLD (66: VMCLEAR, F3:
	 * VMXON), VMPTRST; RDRAND (F3: SENDUIPI), RDSEED (F3: RDPID).
	 */
	[HWTDI_X86_SP_GROUP9] = { { 0xfa, 0x42, 0x42, 0x02 },
	    { 0xc0, 0xc0, 0xc0, 0x00 }, 0x02 },
	[HWTDI_X86_SP_SHIFT_W_D] = { EACH(0), { 0x54, 0x54, 0, 0 }, 0 },
	[HWTDI_X86_SP_SHIFT_Q] = { EACH(0), { 0x44, 0xcc, 0, 0 }, 0 },
	/*
	 * FXSAVE, FXRSTOR, LDMXCSR, STMXCSR, XSAVE, XRSTOR, XSAVEOPT, CLFLUSH;
	 * 66: CLWB, CLFLUSHOPT; F3: PTWRITE, CLRSSBSY; LFENCE, MFENCE, SFENCE;
	 * 66: TPAUSE; F3: RDFSBASE, RDGSBASE, WRFSBASE, WRGSBASE,
	 * PTWRITE, INCSSP, UMONITOR; F2: UMWAIT.
	 */
	[HWTDI_X86_SP_GROUP15] = { { 0xff, 0xc0, 0x50, 0x00 },
	    { 0xe0, 0x40, 0x7f, 0x40 }, 0 },
	/* VMREAD; 66: EXTRQ; F2: INSERTQ. */
	[HWTDI_X86_SP_VMREAD] = { { 0xff, 0, 0, 0 }, { 0xff, 0x01, 0, 0xff },
	    0 },
	[HWTDI_X86_SP_AES_WIDE] = { { 0, 0, 0x0f, 0 }, EACH(0), 0 },
	[HWTDI_X86_SP_HRESET] = { EACH(0), { 0, 0, 0x01, 0 }, 0 },
};

#define ALWAYS(p) (p)
#define IN_64(p) ((p) | (p) << 4)

const uint8_t hwtdi_x86_0f01[64] = {
	/* ENCLV, VMCALL, VMLAUNCH, VMRESUME, VMXOFF, PCONFIG. */
	[0x00] = X6(ALWAYS(NP)),
	/* WRMSRNS (F3: WRMSRLIST, F2: RDMSRLIST), PBNDKB. */
	[0x06] = ALWAYS(NP | SCALAR) | IN_64(SCALAR),
	[0x07] = IN_64(NP),
	/* MONITOR, MWAIT, CLAC (F3: ERETU, F2: ERETS), STAC. */
	[0x08] = X2(ALWAYS(NP)),
	[0x0a] = ALWAYS(NP | SCALAR) | IN_64(SCALAR),
	[0x0b] = ALWAYS(NP),
	/* TDCALL, SEAMRET, SEAMOPS; ENCLS, 66: SEAMCALL. */
	[0x0c] = ALWAYS(P66),
	[0x0d] = X2(IN_64(P66)),
	[0x0f] = ALWAYS(MMX) | IN_64(P66),
	/* XGETBV, XSETBV; VMFUNC, XEND, XTEST, ENCLU. */
	[0x10] = X2(ALWAYS(NP)),
	[0x14] = X4(ALWAYS(NP)),
	/* VMRUN, VMMCALL, VMLOAD, VMSAVE, STGI, CLGI, SKINIT, INVLPGA. */
	[0x18] = X8(ALWAYS(ANY)),
	/* SMSW. */
	[0x20] = X8(ALWAYS(ANY)),
	/* SERIALIZE (F3: SETSSBSY, F2: XSUSLDTRK), XRESLDTRK, SAVEPREVSSP. */
	[0x28] = ALWAYS(NP | SCALAR),
	[0x29] = ALWAYS(PF2),
	[0x2a] = ALWAYS(PF3),
	/* UIRET, TESTUI, CLUI (RDPKRU), STUI (WRPKRU). */
	[0x2c] = X2(IN_64(PF3)),
	[0x2e] = ALWAYS(NP | PF3) | IN_64(PF3),
	[0x2f] = ALWAYS(NP | PF3) | IN_64(PF3),
	/* LMSW. */
	[0x30] = X8(ALWAYS(ANY)),
	/* SWAPGS, RDTSCP, MONITORX (F3: MCOMMIT), MWAITX. */
	[0x38] = IN_64(ANY),
	[0x39] = ALWAYS(ANY),
	[0x3a] = ALWAYS(NP | PF3),
	[0x3b] = ALWAYS(NP),
	/* CLZERO, RDPRU (F3: RMPQUERY, F2: RMPREAD). */
	[0x3c] = ALWAYS(ANY),
	[0x3d] = ALWAYS(ANY),
	/* INVLPGB (RMPADJUST, RMPUPDATE), TLBSYNC (PSMASH, PVALIDATE). */
	[0x3e] = ALWAYS(NP | SCALAR) | IN_64(SCALAR),
	[0x3f] = ALWAYS(NP | SCALAR) | IN_64(PF3),
};

/* Of D9 to DF there are holes. */
const uint64_t hwtdi_x86_fpu[8] = {
	0xffffffffffffffff,
	0xffff7f33ff01ffff,
	0x00000200ffffffff,
	0x00ffff1fffffffff,
	0xffffffffffffffff,
	0x0000ffffffffffff,
	0xffffffff02ffffff,
	0x00ffff01ffffffff,
};

const uint8_t hwtdi_x86_fpu_mem[8] = {
	0xff,
	0xfd,
	0xff,
	0xaf,
	0xff,
	0xdf,
	0xff,
	0xff,
};

#define BIT(n) (1u << ((n)&31))

const uint32_t hwtdi_x86_3dnow[8] = {
	[0] = BIT(0x0c) | BIT(0x0d) | BIT(0x1c) | BIT(0x1d),
	[4] = BIT(0x8a) | BIT(0x8e) | BIT(0x90) | BIT(0x94) | BIT(0x96) |
	    BIT(0x97) | BIT(0x9a) | BIT(0x9e),
	[5] = BIT(0xa0) | BIT(0xa4) | BIT(0xa6) | BIT(0xa7) | BIT(0xaa) |
	    BIT(0xae) | BIT(0xb0) | BIT(0xb4) | BIT(0xb6) | BIT(0xb7) |
	    BIT(0xbb) | BIT(0xbf),
};
