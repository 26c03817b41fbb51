/*
 * The text of Arm instructions, through Capstone.
 */
#include <stdio.h>
#include <string.h>

#include "cli/print/disassembly_arm.h"

/* Instructions of an IT block, with the IT itself. */
#define BLOCK_INSNS 5

static bool
open_handle(csh *handle, uint32_t isa)
{
	const cs_arch arch = isa == HWTD_ISA_A64 ? CS_ARCH_ARM64 : CS_ARCH_ARM;
	const cs_mode mode = isa == HWTD_ISA_A64 ? CS_MODE_LITTLE_ENDIAN
	    : isa == HWTD_ISA_A32
	    ? CS_MODE_ARM
	    : (cs_mode)((int)CS_MODE_THUMB | (int)CS_MODE_V8);

	return (*handle != 0 || cs_open(arch, mode, handle) == CS_ERR_OK);
}

void
disassembly_arm_fini(struct disassembly_arm *arm)
{
	for (size_t i = 0; i <= HWTD_ISA_A64; i++)
		if (arm->handles[i] != 0)
			(void)cs_close(&arm->handles[i]);
}

static uint32_t
half_at(const uint8_t *bytes)
{
	return ((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8);
}

/*
 * Bytes from an IT up to the instruction, which is in its block; 0: none is.
 * Where instructions of two and of four bytes begin is told by the bytes from
 * the IT on alone.
 */
static size_t
bytes_from_it(const struct arm_code *code)
{
	for (size_t back = 2; back <= code->n_before; back += 2) {
		const uint8_t *it = code->bytes + code->n_before - back;
		const uint32_t mask = half_at(it) & 0xf;
		size_t at = 2;
		size_t n = 0;

		if ((half_at(it) & 0xff00) != 0xbf00)
			continue;
		for (; at < back; n++)
			at += half_at(it + at) >> 11 >= 0x1d ? 4 : 2;
		/* The block is as long as the lowest bit is high. */
		if (at == back && n < BLOCK_INSNS && (mask << n & 0xf) != 0)
			return (back);
	}
	return (0);
}

bool
disassembly_arm_text(struct disassembly_arm *arm, const struct arm_code *code,
    char *text, size_t n_text)
{
	csh handle;
	cs_insn *insns = NULL;
	size_t before = 0;
	size_t n;

	/* A handle remembers IT blocks: those of another place, here. */
	if (code->isa == HWTD_ISA_T32 && arm->handles[code->isa] != 0)
		(void)cs_close(&arm->handles[code->isa]);
	if (!open_handle(&arm->handles[code->isa], code->isa))
		return (false);
	handle = arm->handles[code->isa];
	if (code->isa == HWTD_ISA_T32)
		before = bytes_from_it(code);
	n = cs_disasm(handle, code->bytes + code->n_before - before,
	    code->n + before, code->ip - before, BLOCK_INSNS, &insns);
	const bool found = n > 0 && insns[n - 1].address == code->ip;

	if (found)
		(void)snprintf(text, n_text, "%s%s%s", insns[n - 1].mnemonic,
		    insns[n - 1].op_str[0] != '\0' ? " " : "",
		    insns[n - 1].op_str);
	if (n > 0)
		cs_free(insns, n);
	return (found);
}
