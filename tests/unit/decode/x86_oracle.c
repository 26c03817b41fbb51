/*
 * What Zydis 4.0 and newer says of x86 instructions.
 */
#include <Zydis/Zydis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decode/code/x86_insn.h"
#include "x86_oracle.h"

static ZydisDecoder decoders[HWTD_ISA_X86_64 + 1];

/* Where the opcode of an instruction is, behind prefixes and escapes. */
struct place {
	/* 0, 1, 2 and 3, or that of VEX, EVEX and XOP. */
	unsigned int map;
	/* 0xc4, 0x62, 0x8f or 0xd5; 0: none. */
	uint8_t encoding;
	/* With VEX and so on pp, else of the prefixes the last of F2 and F3. */
	uint8_t mandatory;
	uint8_t opcode, modrm;
	/* What Knights Corner had where EVEX is. */
	bool mvex;
};

/* Bytes behind bytes[14] are not read. */
static struct place
find(const uint8_t *bytes, uint8_t isa)
{
	struct place p = { 0, 0, 0, 0, 0, false };
	uint8_t padded[20] = { 0 };
	size_t at = 0;

	memcpy(padded, bytes, 15);
	for (; at < 14; at++) {
		uint8_t b = padded[at];

		if (b == 0xf2 || b == 0xf3)
			p.mandatory = b;
		else if (b != 0x66 && b != 0x67 && b != 0xf0 && b != 0x26 &&
		    b != 0x2e && b != 0x36 && b != 0x3e && b != 0x64 &&
		    b != 0x65 &&
		    (isa != HWTD_ISA_X86_64 || (b & 0xf0) != 0x40))
			break;
	}
	p.opcode = padded[at++];
	switch (p.opcode) {
	case 0x0f:
		p.map = 1;
		p.opcode = padded[at++];
		if (p.opcode == 0x38 || p.opcode == 0x3a) {
			p.map = p.opcode == 0x38 ? 2 : 3;
			p.opcode = padded[at++];
		}
		break;
	case 0xc4:
	case 0x8f:
	case 0x62:
		if (p.opcode == 0x8f
			? (padded[at] & 0x1f) < 8
			: isa != HWTD_ISA_X86_64 && padded[at] < 0xc0)
			break;
		p.encoding = p.opcode;
		p.map = padded[at] & (p.opcode == 0x62 ? 7 : 31);
		p.mandatory = padded[at + 1] & 3;
		p.mvex = p.opcode == 0x62 && (padded[at + 1] & 4) == 0;
		at += p.opcode == 0x62 ? 3 : 2;
		p.opcode = padded[at++];
		break;
	case 0xc5:
		if (isa != HWTD_ISA_X86_64 && padded[at] < 0xc0)
			break;
		p.encoding = 0xc4;
		p.map = 1;
		p.mandatory = padded[at] & 3;
		p.opcode = padded[at + 1];
		at += 2;
		break;
	case 0xd5:
		if (isa == HWTD_ISA_X86_64)
			p.encoding = 0xd5;
		break;
	default:
		break;
	}
	p.modrm = padded[at];
	return (p);
}

/* Instructions that Zydis 4.0 does not know and newer ones may. */
static bool
is_newer(const struct place *p)
{
	/* REX2; with MVEX, EVEX of APX. */
	if (p->encoding == 0xd5 || p->mvex)
		return (true);
	if (p->encoding != 0)
		return (false);
	switch (p->map << 8 | p->opcode) {
	case 0x100: /* LKGS */
		return (p->mandatory == 0xf2);
	case 0x101: /* WRMSRNS, RDMSRLIST, WRMSRLIST, PBNDKB, ERETS, ERETU */
		return (p->modrm == 0xc6 || p->modrm == 0xc7 ||
		    (p->modrm == 0xca && p->mandatory != 0));
	case 0x28a: /* MOVRS */
	case 0x28b:
	case 0x2fc: /* AADD and so on */
		return (true);
	case 0x2f8: /* URDMSR, UWRMSR */
		return (p->modrm >= 0xc0);
	default:
		return (false);
	}
}

/* What may be taken though Zydis refuses it. */
static bool
may_be_taken(const struct place *p)
{
	/*
	 * W, L, vvvv, masks and which registers are the same are not looked
	 * at; the other tests see that the opcode exists.
	 */
	if (p->encoding != 0)
		return (true);
	/*
	 * MPX, which is NOP where it is switched off: numbers of its
	 * registers, addresses of 16 bits.  PadLock without REP.
	 */
	return (p->map == 1 &&
	    (p->opcode == 0x1a || p->opcode == 0x1b || p->opcode == 0xa6 ||
		p->opcode == 0xa7));
}

/*
 * What may be refused though Zydis takes it: encodings with VEX that only
 * Knights Corner has, which has no Intel PT; elsewhere they are none.
 */
static bool
may_be_refused(const struct place *p)
{
	static const uint16_t knights_corner[] = { 0x074, 0x075, 0x118, 0x143,
		0x148, 0x149, 0x184, 0x185, 0x195, 0x197, 0x1ae, 0x1b8, 0x1bc,
		0x1bd, 0x33e };

	for (size_t i = 0;
	     i < sizeof(knights_corner) / sizeof(knights_corner[0]); i++)
		if (p->encoding == 0xc4 &&
		    (p->map << 8 | p->opcode) == knights_corner[i])
			return (true);
	return (false);
}

static bool
is_far(const ZydisDecodedInstruction *z)
{
	if (z->opcode == 0x9a || z->opcode == 0xea)
		return (true);
	return (z->opcode == 0xff &&
	    (z->raw.modrm.reg == 3 || z->raw.modrm.reg == 5));
}

/* Zydis has these among the branches. */
static bool
is_transaction(const ZydisDecodedInstruction *z)
{
	return (z->mnemonic == ZYDIS_MNEMONIC_XBEGIN ||
	    z->mnemonic == ZYDIS_MNEMONIC_XEND ||
	    z->mnemonic == ZYDIS_MNEMONIC_XABORT);
}

static uint8_t
branch_of(const ZydisDecodedInstruction *z)
{
	bool direct = z->raw.imm[0].is_relative;

	if (is_transaction(z))
		return (HWTD_BRANCH_NONE);
	if (z->meta.category == ZYDIS_CATEGORY_COND_BR)
		return (HWTD_BRANCH_CONDITIONAL);
	if (z->meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
		if (is_far(z))
			return (HWTD_BRANCH_FAR_JUMP);
		return (direct ? HWTD_BRANCH_JUMP : HWTD_BRANCH_INDIRECT_JUMP);
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
		if (is_far(z))
			return (HWTD_BRANCH_FAR_CALL);
		return (direct ? HWTD_BRANCH_CALL : HWTD_BRANCH_INDIRECT_CALL);
	case ZYDIS_MNEMONIC_RET:
		return (z->opcode >= 0xca ? HWTD_BRANCH_FAR_RETURN
					  : HWTD_BRANCH_RETURN);
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_ENCLU:
	case ZYDIS_MNEMONIC_SEAMCALL:
	case ZYDIS_MNEMONIC_TDCALL:
		return (HWTD_BRANCH_FAR_CALL);
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_UIRET:
	case ZYDIS_MNEMONIC_RSM:
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
	case ZYDIS_MNEMONIC_SEAMRET:
		return (HWTD_BRANCH_FAR_RETURN);
	default:
		return (HWTD_BRANCH_NONE);
	}
}

static unsigned int
binds_by_mnemonic(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return (z->opcode_map == ZYDIS_OPCODE_MAP_0F &&
			    z->opcode == 0x22 && z->raw.modrm.reg == 3
			? HWTDI_X86_MOV_CR3
			: 0);
	case ZYDIS_MNEMONIC_VMPTRLD:
		return (HWTDI_X86_VMPTRLD);
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
		return (HWTDI_X86_VM_ENTRY);
	case ZYDIS_MNEMONIC_PTWRITE:
		return (HWTDI_X86_PTWRITE);
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_UMWAIT:
	case ZYDIS_MNEMONIC_TPAUSE:
		return (HWTDI_X86_MWAIT);
	case ZYDIS_MNEMONIC_XBEGIN:
		return (HWTDI_X86_XBEGIN);
	case ZYDIS_MNEMONIC_XEND:
		return (HWTDI_X86_XEND);
	case ZYDIS_MNEMONIC_XABORT:
		return (HWTDI_X86_XABORT);
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:
		return (HWTDI_X86_IFLAG);
	case ZYDIS_MNEMONIC_WRMSR:
	case ZYDIS_MNEMONIC_XSAVES:
	case ZYDIS_MNEMONIC_XSAVES64:
	case ZYDIS_MNEMONIC_XRSTORS:
	case ZYDIS_MNEMONIC_XRSTORS64:
	case ZYDIS_MNEMONIC_VMXON:
	case ZYDIS_MNEMONIC_GETSEC:
		return (HWTDI_X86_TRACE_SWITCH);
	case ZYDIS_MNEMONIC_IN:
		return (HWTDI_X86_PORT_READ);
	default:
		return (0);
	}
}

static unsigned int
binds_of(const ZydisDecodedInstruction *z)
{
	unsigned int binds = binds_by_mnemonic(z);
	bool repeats = false;

	if ((z->attributes & ZYDIS_ATTRIB_HAS_XACQUIRE) != 0)
		binds |= HWTDI_X86_XBEGIN;
	if ((z->attributes & ZYDIS_ATTRIB_HAS_XRELEASE) != 0)
		binds |= HWTDI_X86_XEND;
	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return (binds);
	for (size_t i = 0; i < z->raw.prefix_count; i++)
		repeats |= (z->raw.prefixes[i].value & 0xfe) == 0xf2;
	/* INS, OUTS, MOVS, CMPS, STOS, LODS, SCAS. */
	if (repeats &&
	    ((z->opcode & 0xfc) == 0x6c || (z->opcode & 0xfc) == 0xa4 ||
		(z->opcode >= 0xaa && z->opcode <= 0xaf)))
		binds |= HWTDI_X86_REP_STRING;
	if ((z->opcode & 0xfe) == 0x6c)
		binds |= HWTDI_X86_PORT_READ;
	return (binds);
}

static uint64_t
target_of(const ZydisDecodedInstruction *z, uint8_t isa)
{
	uint64_t target = X86_ORACLE_IP + z->length +
	    (uint64_t)z->raw.imm[0].value.s;

	/* In 16-bit code the base of CS, which Zydis has not, is in it. */
	if (isa == HWTD_ISA_X86_64 ||
	    (isa == HWTD_ISA_X86_16 && target <= UINT32_MAX))
		return (target);
	return (z->operand_width == 16 ? (uint16_t)target : (uint32_t)target);
}

static void
fail_at(const uint8_t *bytes, uint8_t isa, const char *what)
{
	char text[2 * 15 + 1];

	for (size_t i = 0; i < 15; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	fail_msg("isa %u, %s: %s", isa, text, what);
}

/* Of what both take, all has to be the same. */
static void
compare_taken(const uint8_t *bytes, uint8_t isa,
    const ZydisDecodedInstruction *z, const struct hwtdi_x86_insn *insn)
{
	uint8_t branch = branch_of(z);
	bool direct = branch == HWTD_BRANCH_CONDITIONAL ||
	    branch == HWTD_BRANCH_JUMP || branch == HWTD_BRANCH_CALL;

	if (insn->length != z->length)
		fail_at(bytes, isa, "length");
	if (insn->branch != branch || insn->direct != direct)
		fail_at(bytes, isa, "branch");
	if (insn->target != (direct ? target_of(z, isa) : 0))
		fail_at(bytes, isa, "target");
	if (insn->binds != binds_of(z))
		fail_at(bytes, isa, "binds");
}

bool
x86_oracle_compare(const uint8_t *bytes, size_t n, uint8_t isa)
{
	struct place p = find(bytes, isa);
	ZydisDecodedInstruction z;
	struct hwtdi_x86_insn insn;
	bool known, ours;

	if (is_newer(&p))
		return (false);
	known = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoders[isa],
	    NULL, bytes, n, &z));
	ours = hwtdi_x86_decode(bytes, n, isa, X86_ORACLE_IP, &insn);
	if (known && ours)
		compare_taken(bytes, isa, &z, &insn);
	else if (known && !may_be_refused(&p))
		fail_at(bytes, isa, "refused");
	else if (ours && !may_be_taken(&p))
		fail_at(bytes, isa, "taken");
	return (known);
}

bool
x86_oracle_init(void)
{
	return (ZYAN_SUCCESS(ZydisDecoderInit(&decoders[HWTD_ISA_X86_16],
		    ZYDIS_MACHINE_MODE_LONG_COMPAT_16,
		    ZYDIS_STACK_WIDTH_16)) &&
	    ZYAN_SUCCESS(ZydisDecoderInit(&decoders[HWTD_ISA_X86_32],
		ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32)) &&
	    ZYAN_SUCCESS(ZydisDecoderInit(&decoders[HWTD_ISA_X86_64],
		ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
}
