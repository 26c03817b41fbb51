/*
 * What Capstone 4.0 and newer says of Arm instructions.
 */
#include <capstone/capstone.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arm_oracle.h"
#include "decode/code/arm_insn.h"

static csh handles[HWTD_ISA_A64 + 1];
static cs_insn *insn;

/* What is compared. */
struct verdict {
	unsigned int length, branch, binds, target_isa;
	bool is_it;
	bool direct;
	uint64_t target;
};

static bool
is_named(const char *name)
{
	return (strcmp(insn->mnemonic, name) == 0);
}

static bool
begins_with(const char *name)
{
	return (strncmp(insn->mnemonic, name, strlen(name)) == 0);
}

static void
direct(struct verdict *v, unsigned int branch, int64_t target)
{
	v->branch = branch;
	v->direct = true;
	v->target = (uint64_t)target;
}

static void
a64_verdict(uint32_t word, struct verdict *v)
{
	const cs_arm64 *a = &insn->detail->arm64;
	const int64_t target = a->op_count == 0
	    ? 0
	    : a->operands[a->op_count - 1].imm;

	switch (insn->id) {
	case ARM64_INS_B:
		direct(v,
		    word >> 24 == 0x54 ? HWTD_BRANCH_CONDITIONAL
				       : HWTD_BRANCH_JUMP,
		    target);
		break;
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		direct(v, HWTD_BRANCH_CONDITIONAL, target);
		break;
	case ARM64_INS_BL:
		direct(v, HWTD_BRANCH_CALL, target);
		break;
	case ARM64_INS_BR:
		v->branch = HWTD_BRANCH_INDIRECT_JUMP;
		break;
	case ARM64_INS_BLR:
		v->branch = HWTD_BRANCH_INDIRECT_CALL;
		break;
	case ARM64_INS_RET:
		v->branch = HWTD_BRANCH_RETURN;
		break;
	case ARM64_INS_ERET:
		v->branch = HWTD_BRANCH_FAR_RETURN;
		break;
	case ARM64_INS_SVC:
	case ARM64_INS_HVC:
	case ARM64_INS_SMC:
		v->branch = HWTD_BRANCH_FAR_CALL;
		break;
	case ARM64_INS_ISB:
		v->binds = HWTDI_ARM_ISB;
		break;
	case ARM64_INS_DSB:
	case ARM64_INS_DMB:
		v->binds = HWTDI_ARM_BARRIER;
		break;
	default:
		if (is_named("wfi") || is_named("wfe"))
			v->binds = HWTDI_ARM_WAIT;
		break;
	}
	if (v->branch == HWTD_BRANCH_CONDITIONAL)
		v->binds = HWTDI_ARM_CONDITIONAL;
}

/* Data processing, by its names in text: shifts are MOV otherwise. */
static bool
processes_data(void)
{
	static const unsigned int ids[] = { ARM_INS_AND, ARM_INS_EOR,
		ARM_INS_SUB, ARM_INS_RSB, ARM_INS_ADD, ARM_INS_ADC,
		ARM_INS_SBC, ARM_INS_RSC, ARM_INS_ORR, ARM_INS_MOV,
		ARM_INS_LSL, ARM_INS_LSR, ARM_INS_ASR, ARM_INS_ROR,
		ARM_INS_RRX, ARM_INS_BIC, ARM_INS_MVN, ARM_INS_ADR };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (insn->id == ids[i])
			return (true);
	return (false);
}

/* PC is loaded, or computed without a shift by a register. */
static bool
writes_pc(const cs_arm *a, uint32_t word, uint8_t isa)
{
	if (begins_with("ldm") || begins_with("pop")) {
		for (unsigned int i = 0; i < a->op_count; i++)
			if (a->operands[i].reg == ARM_REG_PC &&
			    (i != 0 || begins_with("pop")))
				return (true);
		return (false);
	}
	if (a->op_count < 2 || a->operands[0].type != ARM_OP_REG ||
	    a->operands[0].reg != ARM_REG_PC)
		return (false);
	if (insn->id == ARM_INS_LDR)
		return (true);
	/* Of T32 the short forms only can. */
	return (processes_data() &&
	    (isa == HWTD_ISA_T32 ? insn->size == 2 || word >> 16 == 0xf3de
				 : (word & 0x02000010) != 0x00000010));
}

static bool
reads_lr(const cs_arm *a, unsigned int i)
{
	return (a->op_count == i + 1 && a->operands[i].type == ARM_OP_REG &&
	    a->operands[i].reg == ARM_REG_LR &&
	    a->operands[i].shift.type == ARM_SFT_INVALID);
}

/* LDM and the like name SP and write it back, LDR has it in its memory. */
static bool
pops(const cs_arm *a)
{
	if (begins_with("pop"))
		return (true);
	if (begins_with("ldm"))
		return ((is_named("ldm") || is_named("ldm.w")) &&
		    a->writeback && a->operands[0].reg == ARM_REG_SP);
	return (begins_with("ldr") && a->op_count > 2 &&
	    a->operands[1].mem.base == ARM_REG_SP &&
	    a->operands[2].type == ARM_OP_IMM && !a->operands[2].subtracted &&
	    a->operands[2].imm >= 0);
}

static void
pc_written(const cs_arm *a, uint32_t word, uint8_t isa, struct verdict *v)
{
	const bool loads = begins_with("ldm") || begins_with("pop") ||
	    begins_with("ldr");

	/* Capstone 4.0 has flags for ADC, SBC and RSC even without S. */
	if (loads		      ? a->usermode
		: isa == HWTD_ISA_A32 ? (word & 0x00100000) != 0
				      : word >> 16 == 0xf3de)
		v->branch = HWTD_BRANCH_FAR_RETURN;
	else if (pops(a) || (insn->id == ARM_INS_MOV && reads_lr(a, 1)))
		v->branch = HWTD_BRANCH_RETURN;
	else
		v->branch = HWTD_BRANCH_INDIRECT_JUMP;
}

/* c7 of CP15. */
static unsigned int
cp15_binds(unsigned int crm, unsigned int opc2)
{
	if (crm == 5 && opc2 == 4)
		return (HWTDI_ARM_ISB);
	return (crm == 10 && (opc2 == 4 || opc2 == 5) ? HWTDI_ARM_BARRIER : 0);
}

static void
a32_verdict(uint32_t word, uint8_t isa, struct verdict *v)
{
	const cs_arm *a = &insn->detail->arm;
	const bool has_condition = a->cc != ARM_CC_AL &&
	    a->cc != ARM_CC_INVALID;
	const int64_t target = a->op_count == 0
	    ? 0
	    : (uint32_t)a->operands[a->op_count - 1].imm;

	if (has_condition)
		v->binds = HWTDI_ARM_CONDITIONAL;
	switch (insn->id) {
	case ARM_INS_B:
		direct(v,
		    has_condition ? HWTD_BRANCH_CONDITIONAL : HWTD_BRANCH_JUMP,
		    target);
		break;
	case ARM_INS_CBZ:
	case ARM_INS_CBNZ:
		direct(v, HWTD_BRANCH_CONDITIONAL, target);
		v->binds = HWTDI_ARM_CONDITIONAL;
		break;
	case ARM_INS_BL:
		direct(v, HWTD_BRANCH_CALL, target);
		break;
	case ARM_INS_BLX:
		v->branch = HWTD_BRANCH_INDIRECT_CALL;
		if (a->operands[0].type == ARM_OP_IMM) {
			direct(v, HWTD_BRANCH_CALL, target);
			v->target_isa = isa == HWTD_ISA_A32 ? HWTD_ISA_T32
							    : HWTD_ISA_A32;
		}
		break;
	case ARM_INS_BX:
		v->branch = reads_lr(a, 0) ? HWTD_BRANCH_RETURN
					   : HWTD_BRANCH_INDIRECT_JUMP;
		break;
	case ARM_INS_BXJ:
	case ARM_INS_TBB:
	case ARM_INS_TBH:
		v->branch = HWTD_BRANCH_INDIRECT_JUMP;
		break;
	case ARM_INS_SVC:
	case ARM_INS_HVC:
	case ARM_INS_SMC:
		v->branch = HWTD_BRANCH_FAR_CALL;
		break;
	case ARM_INS_ERET:
	case ARM_INS_RFEDA:
	case ARM_INS_RFEDB:
	case ARM_INS_RFEIA:
	case ARM_INS_RFEIB:
		v->branch = HWTD_BRANCH_FAR_RETURN;
		break;
	case ARM_INS_ISB:
		v->binds |= HWTDI_ARM_ISB;
		break;
	case ARM_INS_DSB:
	case ARM_INS_DMB:
		v->binds |= HWTDI_ARM_BARRIER;
		break;
	case ARM_INS_MCR:
		if (a->operands[0].imm == 15 && a->operands[1].imm == 0 &&
		    a->operands[3].imm == 7)
			v->binds |= cp15_binds((unsigned int)a->operands[4]
						   .imm,
			    (unsigned int)a->operands[5].imm);
		break;
	case ARM_INS_IT:
		v->binds = 0;
		v->is_it = true;
		break;
	default:
		if (begins_with("wfi") || begins_with("wfe"))
			v->binds |= HWTDI_ARM_WAIT;
		else if (writes_pc(a, word, isa))
			pc_written(a, word, isa, v);
		break;
	}
}

/* Capstone puts conditions on what comes behind IT: pass it. */
static void
pass_it_block(csh handle)
{
	static const uint8_t nops[8] = { 0, 0xbf, 0, 0xbf, 0, 0xbf, 0, 0xbf };
	const uint8_t *at = nops;
	size_t n = sizeof(nops);
	uint64_t ip = 0;

	while (n != 0)
		(void)cs_disasm_iter(handle, &at, &n, &ip, insn);
}

static void
fail_at(uint32_t word, uint8_t isa, const char *what, unsigned int known)
{
	if (known != 0)
		fail_msg("isa %u, %08x %s %s: %s", isa, word, insn->mnemonic,
		    insn->op_str, what);
	fail_msg("isa %u, %08x: %s", isa, word, what);
}

static void
put(uint8_t *bytes, uint32_t word, uint8_t isa)
{
	if (isa == HWTD_ISA_T32)
		word = word << 16 | word >> 16;
	for (size_t i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
}

/* What may have a class though Capstone 4.0 refuses it; most is newer. */
static bool
may_have_class(uint32_t word, uint8_t isa)
{
	switch (isa) {
	case HWTD_ISA_A64:
		/* BC.cond; RETAASPPC, RETABSPPC with a label. */
		if ((word & 0xff000010) == 0x54000010 ||
		    (word & 0xffc0001f) == 0x5500001f)
			return (true);
		/* CB, CBB, CBH. */
		if ((word & 0x7e000000) == 0x74000000)
			return (true);
		/* BRAA and the like, ERETAA, RETAA; TENTER, TEXIT. */
		if ((word & 0xfe1ff000) == 0xd61f0000 &&
		    (word & 0xf800) == 0x0800)
			return (true);
		return ((word & 0xfffdf01f) == 0xd4e00000 ||
		    (word & 0xfffffbff) == 0xd6ff03e0);
	case HWTD_ISA_T32:
		/* POP with SP or LR and PC. */
		if ((word & 0xffff8000) == 0xe8bd8000 && (word & 0x6000) != 0)
			return (true);
		/* BXJ, which Armv8 does not have. */
		if ((word & 0xfff0ffff) == 0xf3c08f00)
			return (true);
		/* BLXNS; the loops of Armv8.1-M. */
		return ((word >> 16 & 0xff87) == 0x4784 ||
		    ((word & 0xff80d001) == 0xf000c001 &&
			(word & 0xffff) != 0xe001));
	default:
		return (false);
	}
}

/* What Capstone 4.0 says that is not so, or not any more. */
static void
correct(uint32_t word, uint8_t isa, struct verdict *v)
{
	switch (isa) {
	case HWTD_ISA_A64:
		/* WFET, WFIT were MSR. */
		if ((word & 0xffffffc0) == 0xd5031000)
			v->binds = HWTDI_ARM_WAIT;
		/* TSTART was MRS. */
		if ((word & 0xffffffe0) == 0xd5233060)
			v->binds = HWTDI_ARM_TSTART;
		/* DSB with nXS was MSR. */
		if ((word & 0xfffff3ff) == 0xd503323f)
			v->binds = HWTDI_ARM_BARRIER;
		break;
	case HWTD_ISA_A32:
		/* RFE with bits that should be 0 or 1 and are not. */
		if ((word & 0xfe500000) == 0xf8100000 &&
		    (word & 0xffff) != 0x0a00)
			v->branch = HWTD_BRANCH_NONE;
		/* HVC, MRS and MSR of banked registers: their condition. */
		if ((word & 0x0ff000f0) == 0x01400070 ||
		    (word & 0x0f900ef0) == 0x01000200)
			v->binds = word >> 28 == 14 ? 0
						    : HWTDI_ARM_CONDITIONAL;
		break;
	case HWTD_ISA_T32:
		/* SMC, as RFE. */
		if ((word & 0xfff0f000) == 0xf7f08000 && (word & 0xfff) != 0)
			v->branch = HWTD_BRANCH_NONE;
		/* The same of BX. */
		if ((word >> 16 & 0xff80) == 0x4700 && (word & 0x30000) != 0)
			v->branch = HWTD_BRANCH_NONE;
		/* BXAUT, which was SMMLAR to PC. */
		if ((word & 0xfff00ff0) == 0xfb500f10)
			v->branch = (word & 15) == 14
			    ? HWTD_BRANCH_RETURN
			    : HWTD_BRANCH_INDIRECT_JUMP;
		/* MSR and MRS of banked registers have no condition. */
		if ((word & 0xffe0d000) == 0xf3808000 ||
		    (word & 0xffe0d0e0) == 0xf3e08020)
			v->binds = 0;
		/* LDM from PC: CLRM of Armv8.1-M, else UNPREDICTABLE. */
		if ((word & 0xfe5f0000) == 0xe81f0000 &&
		    (word >> 23 & 1) != (word >> 24 & 1))
			v->branch = HWTD_BRANCH_NONE;
		break;
	default:
		break;
	}
}

bool
arm_oracle_compare(uint32_t word, uint8_t isa)
{
	struct verdict v = { 0 };
	struct hwtdi_arm_insn ours;
	uint8_t bytes[4];
	const uint8_t *at = bytes;
	size_t n = sizeof(bytes);
	uint64_t ip = ARM_ORACLE_IP;
	bool known, is_ours;

	put(bytes, word, isa);
	is_ours = hwtdi_arm_decode(bytes, sizeof(bytes), isa, ip, &ours);
	known = cs_disasm_iter(handles[isa], &at, &n, &ip, insn);
	if (!known) {
		if (is_ours && ours.branch != HWTD_BRANCH_NONE &&
		    !may_have_class(word, isa))
			fail_at(word, isa, "has a class", false);
		return (false);
	}
	/* UDF is not taken, so that nodes end there. */
	if (is_ours == (begins_with("udf") || is_named("trap")))
		fail_at(word, isa, "taken or refused", true);
	if (!is_ours)
		return (true);
	v.length = insn->size;
	if (isa == HWTD_ISA_A64)
		a64_verdict(word, &v);
	else
		a32_verdict(word, isa, &v);
	correct(word, isa, &v);
	if (v.is_it)
		pass_it_block(handles[isa]);
	if (ours.length != v.length)
		fail_at(word, isa, "length", true);
	if (ours.branch != v.branch || ours.direct != v.direct)
		fail_at(word, isa, "class", true);
	if (ours.target != v.target || ours.target_isa != v.target_isa)
		fail_at(word, isa, "target", true);
	if (ours.binds != v.binds)
		fail_at(word, isa, "binds", true);
	if ((ours.it != 0) != v.is_it)
		fail_at(word, isa, "IT", true);
	return (true);
}

bool
arm_oracle_init(void)
{
	if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN,
		&handles[HWTD_ISA_A64]) != CS_ERR_OK ||
	    cs_open(CS_ARCH_ARM, CS_MODE_ARM | CS_MODE_V8,
		&handles[HWTD_ISA_A32]) != CS_ERR_OK ||
	    cs_open(CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_V8,
		&handles[HWTD_ISA_T32]) != CS_ERR_OK)
		return (false);
	for (unsigned int isa = HWTD_ISA_A32; isa <= HWTD_ISA_A64; isa++)
		if (handles[isa] != 0)
			(void)cs_option(handles[isa], CS_OPT_DETAIL,
			    CS_OPT_ON);
	insn = cs_malloc(handles[HWTD_ISA_A64]);
	return (insn != NULL);
}

void
arm_oracle_fini(void)
{
	cs_free(insn, 1);
	for (unsigned int isa = HWTD_ISA_A32; isa <= HWTD_ISA_A64; isa++)
		if (handles[isa] != 0)
			(void)cs_close(&handles[isa]);
}
