/*
 * Length and class of x86 instructions, through Zydis.
 */
#include "decode/code/x86_insn.h"

#include <Zydis/Zydis.h>

/* Where a near branch goes: the end of the instruction plus the offset. */
static uint64_t
near_target(const ZydisDecodedInstruction *insn, uint8_t isa, uint64_t address)
{
	uint64_t target = address + insn->length +
	    (uint64_t)insn->raw.imm[0].value.s;

	/* Addresses out of the mode's reach are left as they are. */
	if (isa == HWTD_ISA_X86_64 || address > UINT32_MAX)
		return (target);
	return (insn->operand_width == 16 ? (uint16_t)target
					  : (uint32_t)target);
}

static void
near_branch(const ZydisDecodedInstruction *insn, uint8_t isa, uint64_t address,
    uint8_t direct, uint8_t indirect, struct hwtdi_x86_insn *out)
{
	if (insn->raw.imm[0].is_relative) {
		out->branch = direct;
		out->direct = true;
		out->target = near_target(insn, isa, address);
	} else
		out->branch = indirect;
}

/* Jumps and calls through a far pointer: 9A, EA, FF /3, FF /5. */
static bool
is_far(const ZydisDecodedInstruction *insn)
{
	if (insn->opcode == 0x9a || insn->opcode == 0xea)
		return (true);
	return (insn->opcode == 0xff &&
	    (insn->raw.modrm.reg == 3 || insn->raw.modrm.reg == 5));
}

static void
classify(const ZydisDecodedInstruction *insn, uint8_t isa, uint64_t address,
    struct hwtdi_x86_insn *out)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_JB:
	case ZYDIS_MNEMONIC_JBE:
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JL:
	case ZYDIS_MNEMONIC_JLE:
	case ZYDIS_MNEMONIC_JNB:
	case ZYDIS_MNEMONIC_JNBE:
	case ZYDIS_MNEMONIC_JNL:
	case ZYDIS_MNEMONIC_JNLE:
	case ZYDIS_MNEMONIC_JNO:
	case ZYDIS_MNEMONIC_JNP:
	case ZYDIS_MNEMONIC_JNS:
	case ZYDIS_MNEMONIC_JNZ:
	case ZYDIS_MNEMONIC_JO:
	case ZYDIS_MNEMONIC_JP:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_JS:
	case ZYDIS_MNEMONIC_JZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		near_branch(insn, isa, address, HWTD_BRANCH_CONDITIONAL,
		    HWTD_BRANCH_CONDITIONAL, out);
		break;
	case ZYDIS_MNEMONIC_JMP:
		if (is_far(insn))
			out->branch = HWTD_BRANCH_FAR_JUMP;
		else
			near_branch(insn, isa, address, HWTD_BRANCH_JUMP,
			    HWTD_BRANCH_INDIRECT_JUMP, out);
		break;
	case ZYDIS_MNEMONIC_CALL:
		if (is_far(insn))
			out->branch = HWTD_BRANCH_FAR_CALL;
		else
			near_branch(insn, isa, address, HWTD_BRANCH_CALL,
			    HWTD_BRANCH_INDIRECT_CALL, out);
		break;
	case ZYDIS_MNEMONIC_RET:
		/* CA and CB return far; C2 and C3 near. */
		out->branch = insn->opcode >= 0xca ? HWTD_BRANCH_FAR_RETURN
						   : HWTD_BRANCH_RETURN;
		break;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_ENCLU:
		out->branch = HWTD_BRANCH_FAR_CALL;
		break;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_UIRET:
	case ZYDIS_MNEMONIC_RSM:
	case ZYDIS_MNEMONIC_VMLAUNCH:
	case ZYDIS_MNEMONIC_VMRESUME:
		out->branch = HWTD_BRANCH_FAR_RETURN;
		break;
	default:
		break;
	}
}

static bool
decoder_init(ZydisDecoder *decoder, uint8_t isa)
{
	ZyanStatus status;

	switch (isa) {
	case HWTD_ISA_X86_64:
		status = ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64,
		    ZYDIS_STACK_WIDTH_64);
		break;
	case HWTD_ISA_X86_32:
		status = ZydisDecoderInit(decoder,
		    ZYDIS_MACHINE_MODE_LONG_COMPAT_32, ZYDIS_STACK_WIDTH_32);
		break;
	case HWTD_ISA_X86_16:
		status = ZydisDecoderInit(decoder,
		    ZYDIS_MACHINE_MODE_LONG_COMPAT_16, ZYDIS_STACK_WIDTH_16);
		break;
	default:
		return (false);
	}
	return (ZYAN_SUCCESS(status) &&
	    ZYAN_SUCCESS(ZydisDecoderEnableMode(decoder,
		ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)));
}

bool
hwtdi_x86_decode(const uint8_t *bytes, size_t n, uint8_t isa, uint64_t address,
    struct hwtdi_x86_insn *out)
{
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	if (!decoder_init(&decoder, isa) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes,
		n, &insn)))
		return (false);
	out->length = insn.length;
	out->branch = HWTD_BRANCH_NONE;
	out->binds = 0;
	if (insn.mnemonic == ZYDIS_MNEMONIC_MOV && insn.opcode_map == ZYDIS_OPCODE_MAP_0F && insn.opcode == 0x22 && insn.raw.modrm.reg == 3 && insn.raw.rex.R == 0)
		out->binds = HWTDI_X86_MOV_CR3;
	if (insn.mnemonic == ZYDIS_MNEMONIC_VMPTRLD)
		out->binds = HWTDI_X86_VMPTRLD;
	if (insn.mnemonic == ZYDIS_MNEMONIC_PTWRITE)
		out->binds = HWTDI_X86_PTWRITE;
	if (insn.mnemonic == ZYDIS_MNEMONIC_VMLAUNCH || insn.mnemonic == ZYDIS_MNEMONIC_VMRESUME)
		out->binds = HWTDI_X86_VM_ENTRY;
	out->direct = false;
	out->target = 0;
	classify(&insn, isa, address, out);
	return (true);
}
