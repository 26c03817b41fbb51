/*
 * Length and class of x86 instructions: all of them.
 */
#include "decode/code/x86_plain.h"

/* By hwtdi_x86_special: values of modrm.reg that are nothing special. */
const uint8_t hwtdi_x86_plain_regs[64] = {
	[HWTDI_X86_SP_MOV_IMM] = 0x01,
	[HWTDI_X86_SP_UNARY] = 0xfc,
	[HWTDI_X86_SP_INC_DEC] = 0x03,
	[HWTDI_X86_SP_GROUP5] = 0x43,
};

bool
hwtdi_x86_decode(const uint8_t *bytes, size_t n, uint8_t isa, uint64_t address,
    struct hwtdi_x86_insn *out)
{
	const bool in_64 = isa == HWTD_ISA_X86_64;
	struct hwtdi_x86_plain plain;

	if (n >= HWTDI_X86_PLAIN_BYTES && (in_64 || isa == HWTD_ISA_X86_32) &&
	    hwtdi_x86_plain(bytes, in_64, true, &plain) && plain.length <= n) {
		hwtdi_x86_plain_insn(&plain, in_64, address, out);
		return (true);
	}
	if (isa < HWTD_ISA_X86_16 || isa > HWTD_ISA_X86_64)
		return (false);
	return (hwtdi_x86_decode_any(bytes, n, isa, address, out));
}
