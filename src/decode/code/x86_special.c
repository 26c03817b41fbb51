/*
 * Instructions of which the opcode map alone does not tell enough.
 */
#include "decode/code/x86_state.h"

const uint8_t hwtdi_x86_tail_bytes[HWTDI_X86_N_TAILS][4] = {
	[HWTDI_X86_TAIL_8] = { 1, 1, 1 },
	[HWTDI_X86_TAIL_16] = { 2, 2, 2 },
	[HWTDI_X86_TAIL_24] = { 3, 3, 3 },
	[HWTDI_X86_TAIL_32] = { 4, 4, 4 },
	[HWTDI_X86_TAIL_Z] = { 2, 4, 4 },
	[HWTDI_X86_TAIL_V] = { 2, 4, 8 },
	[HWTDI_X86_TAIL_J] = { 2, 4, 4 },
	[HWTDI_X86_TAIL_P] = { 4, 6, 6 },
};

#define BYTES(n) ((n) << HWTDI_X86_OPERAND_SHIFT)
#define SAME4(v) v, v, v, v
#define SAME16(v) SAME4(v), SAME4(v), SAME4(v), SAME4(v)
#define SAME64(v) SAME16(v), SAME16(v), SAME16(v), SAME16(v)
#define EIGHT(m) m, m, m, m, m, m, m, m
/* By rm.  4 has a SIB byte, and with mod 0, 5 is a displacement alone. */
#define MOD0                                                                  \
	SAME4(BYTES(1)), BYTES(2) | HWTDI_X86_SIB, BYTES(5), BYTES(1), BYTES(1)
#define MOD1 SAME4(BYTES(2)), BYTES(3), BYTES(2), BYTES(2), BYTES(2)
#define MOD2 SAME4(BYTES(5)), BYTES(6), BYTES(5), BYTES(5), BYTES(5)
#define MOD3 BYTES(1) | HWTDI_X86_REGISTER

const uint8_t hwtdi_x86_operands[512] = {
	EIGHT(MOD0),
	EIGHT(MOD1),
	EIGHT(MOD2),
	SAME64(MOD3),
	SAME64(HWTDI_X86_REGISTER),
	SAME64(HWTDI_X86_REGISTER),
	SAME64(HWTDI_X86_REGISTER),
	SAME64(HWTDI_X86_REGISTER),
};

/* The wide instructions of 0F 01 with a register form. */
static bool
system_instruction(const struct hwtdi_x86_state *s, struct hwtdi_x86_insn *out)
{
	unsigned int forms = hwtdi_x86_0f01[s->modrm & 63];

	if ((forms >> s->mandatory & 1) == 0 ||
	    (s->isa != HWTD_ISA_X86_64 &&
		(forms >> (4 + s->mandatory) & 1) != 0))
		return (false);
	switch (s->modrm) {
	case 0xc1: /* VMCALL */
	case 0xcc: /* TDCALL */
	case 0xd7: /* ENCLU */
		out->branch = HWTD_BRANCH_FAR_CALL;
		break;
	case 0xcf: /* ENCLS; 66: SEAMCALL */
		if (s->mandatory == HWTDI_X86_WITH_66)
			out->branch = HWTD_BRANCH_FAR_CALL;
		break;
	case 0xc2: /* VMLAUNCH */
	case 0xc3: /* VMRESUME */
		out->branch = HWTD_BRANCH_FAR_RETURN;
		out->binds = HWTDI_X86_VM_ENTRY;
		break;
	case 0xcd: /* SEAMRET */
	case 0xec: /* UIRET */
		out->branch = HWTD_BRANCH_FAR_RETURN;
		break;
	case 0xca: /* CLAC; F3: ERETU, F2: ERETS */
		if (s->mandatory != HWTDI_X86_NO_PREFIX)
			out->branch = HWTD_BRANCH_FAR_RETURN;
		break;
	case 0xc6: /* WRMSRNS; F3: WRMSRLIST, F2: RDMSRLIST */
		if (s->mandatory != HWTDI_X86_WITH_F2)
			out->binds = HWTDI_X86_TRACE_SWITCH;
		break;
	case 0xc9:
		out->binds = HWTDI_X86_MWAIT;
		break;
	case 0xd5:
		out->binds = HWTDI_X86_XEND;
		break;
	default:
		break;
	}
	return (true);
}

static bool
group_has(const struct hwtdi_x86_state *s, unsigned int special)
{
	const struct hwtdi_x86_group *g = &hwtdi_x86_groups[special];
	const uint8_t *masks = hwtdi_x86_is_register(s->modrm) ? g->reg
							       : g->mem;
	unsigned int bit = 1u << hwtdi_x86_reg(s->modrm);

	if ((s->prefixes & HWTDI_X86_LOCK) != 0 &&
	    (hwtdi_x86_is_register(s->modrm) || (g->lock & bit) == 0))
		return (false);
	return ((masks[s->mandatory] & bit) != 0);
}

static bool
group9(const struct hwtdi_x86_state *s, struct hwtdi_x86_insn *out)
{
	unsigned int reg = hwtdi_x86_reg(s->modrm);

	if (hwtdi_x86_is_register(s->modrm)) {
		/* SENDUIPI. */
		return (s->mandatory != HWTDI_X86_WITH_F3 || reg != 6 ||
		    s->isa == HWTD_ISA_X86_64);
	}
	if (reg == 6 && s->mandatory == HWTDI_X86_NO_PREFIX)
		out->binds = HWTDI_X86_VMPTRLD;
	else if (reg == 3 || reg == 5 ||
	    (reg == 6 && s->mandatory == HWTDI_X86_WITH_F3))
		out->binds = HWTDI_X86_TRACE_SWITCH;
	return (true);
}

static bool
group15(const struct hwtdi_x86_state *s, struct hwtdi_x86_insn *out)
{
	unsigned int reg = hwtdi_x86_reg(s->modrm);

	if (s->mandatory == HWTDI_X86_WITH_F3 && reg == 4)
		out->binds = HWTDI_X86_PTWRITE;
	if (!hwtdi_x86_is_register(s->modrm))
		return (true);
	/* TPAUSE and UMWAIT. */
	if (reg == 6 &&
	    (s->mandatory == HWTDI_X86_WITH_66 ||
		s->mandatory == HWTDI_X86_WITH_F2))
		out->binds = HWTDI_X86_MWAIT;
	/* RDFSBASE and so on. */
	return (s->mandatory != HWTDI_X86_WITH_F3 || reg > 3 ||
	    s->isa == HWTD_ISA_X86_64);
}

static bool
group5(const struct hwtdi_x86_state *s, struct hwtdi_x86_insn *out)
{
	static const uint8_t branches[8] = {
		[2] = HWTD_BRANCH_INDIRECT_CALL,
		[3] = HWTD_BRANCH_FAR_CALL,
		[4] = HWTD_BRANCH_INDIRECT_JUMP,
		[5] = HWTD_BRANCH_FAR_JUMP,
	};

	out->branch = branches[hwtdi_x86_reg(s->modrm)];
	return (true);
}

/* XABORT and XBEGIN among the MOVs. */
static bool
mov_imm(const struct hwtdi_x86_state *s, struct hwtdi_x86_insn *out)
{
	if (hwtdi_x86_reg(s->modrm) == 0)
		return (true);
	out->binds = s->opcode == 0xc6 ? HWTDI_X86_XABORT : HWTDI_X86_XBEGIN;
	return (s->modrm == 0xf8);
}

/* CR0, CR2, CR3, CR4, and CR8, which REX.R makes of 0. */
static bool
is_control_register(const struct hwtdi_x86_state *s)
{
	unsigned int valid = (s->rex & HWTDI_X86_REX_R) != 0 ? 0x01 : 0x1d;

	return ((valid >> hwtdi_x86_reg(s->modrm) & 1) != 0);
}

bool
hwtdi_x86_special(struct hwtdi_x86_state *s, unsigned int which,
    struct hwtdi_x86_insn *out)
{
	if (which < HWTDI_X86_N_GROUPS && !group_has(s, which))
		return (false);
	switch (which) {
	case HWTDI_X86_SP_MOV_IMM:
		return (mov_imm(s, out));
	case HWTDI_X86_SP_UNARY:
		if (hwtdi_x86_reg(s->modrm) < 2)
			s->tail = s->opcode == 0xf6
			    ? 1
			    : hwtdi_x86_tail_bytes[HWTDI_X86_TAIL_Z][s->size];
		return (true);
	case HWTDI_X86_SP_GROUP5:
		return (group5(s, out));
	case HWTDI_X86_SP_GROUP6:
		return (hwtdi_x86_reg(s->modrm) != 6 ||
		    s->isa == HWTD_ISA_X86_64);
	case HWTDI_X86_SP_GROUP7:
		return (!hwtdi_x86_is_register(s->modrm) ||
		    system_instruction(s, out));
	case HWTDI_X86_SP_GROUP9:
		return (group9(s, out));
	case HWTDI_X86_SP_GROUP15:
		return (group15(s, out));
	case HWTDI_X86_SP_VMREAD:
		/* EXTRQ and INSERTQ take two bytes. */
		s->tail = s->mandatory != HWTDI_X86_NO_PREFIX ? 2 : 0;
		return (true);
	case HWTDI_X86_SP_HRESET:
		return (s->modrm == 0xc0);
	case HWTDI_X86_SP_PORT_STRING:
	case HWTDI_X86_SP_STRING:
		if ((s->prefixes & (HWTDI_X86_REP | HWTDI_X86_REPNE)) != 0)
			out->binds = HWTDI_X86_REP_STRING;
		if (which == HWTDI_X86_SP_PORT_STRING)
			out->binds |= HWTDI_X86_PORT_READ;
		return (true);
	case HWTDI_X86_SP_PORT_READ:
		out->binds = HWTDI_X86_PORT_READ;
		return (true);
	case HWTDI_X86_SP_MOFFS:
		s->tail = s->isa == HWTD_ISA_X86_64 ? 8 : 4;
		if ((s->isa == HWTD_ISA_X86_16) ==
		    ((s->prefixes & HWTDI_X86_ADDRESS_SIZE) == 0))
			s->tail = s->isa == HWTD_ISA_X86_64 ? 4 : 2;
		return (true);
	case HWTDI_X86_SP_FPU:
		if (!hwtdi_x86_is_register(s->modrm))
			return ((hwtdi_x86_fpu_mem[s->opcode & 7] >>
					hwtdi_x86_reg(s->modrm) &
				    1) != 0);
		return ((hwtdi_x86_fpu[s->opcode & 7] >> (s->modrm & 63) &
			    1) != 0);
	case HWTDI_X86_SP_IFLAG:
		out->binds = HWTDI_X86_IFLAG;
		return (true);
	case HWTDI_X86_SP_TRACE_SWITCH:
		out->binds = HWTDI_X86_TRACE_SWITCH;
		return (true);
	case HWTDI_X86_SP_TO_CONTROL:
		if (hwtdi_x86_reg(s->modrm) == 3)
			out->binds = HWTDI_X86_MOV_CR3;
		return (is_control_register(s));
	case HWTDI_X86_SP_CONTROL:
		return (is_control_register(s));
	case HWTDI_X86_SP_DEBUG:
		return ((s->rex & HWTDI_X86_REX_R) == 0);
	case HWTDI_X86_SP_3DNOW:
		return (s->at < s->end &&
		    (hwtdi_x86_3dnow[s->at[0] >> 5] >> (s->at[0] & 31) & 1) !=
			0);
	case HWTDI_X86_SP_PADLOCK_A6:
		return (s->modrm == 0xc0 || s->modrm == 0xc8 ||
		    s->modrm == 0xd0);
	case HWTDI_X86_SP_PADLOCK_A7:
		return ((s->modrm & 7) == 0 && s->modrm <= 0xe8);
	default:
		return (true);
	}
}

/*
 * HWTDI_X86_LOCK where it is allowed only, and the prefixes of lock elision.  Of a
 * group the row has said already what may be locked.
 */
bool
hwtdi_x86_lock(const struct hwtdi_x86_state *s, uint32_t entry,
    struct hwtdi_x86_insn *out)
{
	const unsigned int special = (entry & HWTDI_X86_SPECIAL_MASK) >>
	    HWTDI_X86_SPECIAL_SHIFT;
	const bool memory = (entry & HWTDI_X86_BARE) == 0 &&
	    !hwtdi_x86_is_register(s->modrm);
	const bool locked = (s->prefixes & HWTDI_X86_LOCK) != 0;
	const bool one_byte = s->encoding == HWTDI_X86_LEGACY && s->map == 0;

	if (locked &&
	    !(memory &&
		((entry & HWTDI_X86_LOCKABLE) != 0 ||
		    (special > 0 && special < HWTDI_X86_N_GROUPS))))
		return (false);
	/* CMP among ADD, OR and so on. */
	if (locked && one_byte && (s->opcode & 0xfc) == 0x80 &&
	    hwtdi_x86_reg(s->modrm) == 7)
		return (false);
	if (!memory || (s->prefixes & (HWTDI_X86_REP | HWTDI_X86_REPNE)) == 0)
		return (true);
	/* Lock elision knows CMPXCHG8B, not CMPXCHG16B. */
	if (s->wide && !one_byte && s->opcode == 0xc7)
		return (true);
	if (locked || (one_byte && (s->opcode & 0xfe) == 0x86))
		out->binds |= (s->prefixes & HWTDI_X86_REP) != 0
		    ? HWTDI_X86_XEND
		    : HWTDI_X86_XBEGIN;
	else if (one_byte && (s->prefixes & HWTDI_X86_REP) != 0 &&
	    ((s->opcode & 0xfe) == 0x88 || (s->opcode & 0xfe) == 0xc6))
		out->binds |= HWTDI_X86_XEND;
	return (true);
}
