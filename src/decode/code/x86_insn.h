/*
 * Length and class of x86 instructions, and which packets of a processor
 * trace they can be bound to.
 */
#ifndef HWTDI_X86_INSN_H
#define HWTDI_X86_INSN_H

#include <hwtdecode/event.h>

#define HWTDI_X86_MAX_LENGTH 15

/*
 * Packets that an instruction can be bound to besides those of its branch
 * class: a far branch can also bring PIP, VMCS, MODE.Exec and TIP.PGD.
 *
 * Source: Intel SDM vol. 3C, "Intel Processor Trace", "Packet Definitions".
 */

/* MOV to CR3: PIP, and TIP.PGD or TIP.PGE by the filter of CR3. */
#define HWTDI_X86_MOV_CR3 (1u << 0)
/* VMPTRLD: VMCS. */
#define HWTDI_X86_VMPTRLD (1u << 1)
/* VMLAUNCH and VMRESUME: VMCS, PIP. */
#define HWTDI_X86_VM_ENTRY (1u << 2)
#define HWTDI_X86_PTWRITE (1u << 3)
/* MWAIT, UMWAIT and TPAUSE. */
#define HWTDI_X86_MWAIT (1u << 4)
/* XBEGIN, or the prefix XACQUIRE: MODE.TSX. */
#define HWTDI_X86_XBEGIN (1u << 5)
/* XEND, or the prefix XRELEASE: MODE.TSX. */
#define HWTDI_X86_XEND (1u << 6)
#define HWTDI_X86_XABORT (1u << 7)
/* CLI, STI and POPF: MODE.Exec with a change of IF. */
#define HWTDI_X86_IFLAG (1u << 8)
/*
 * WRMSR in all its forms, XSAVES, XRSTORS, VMXON and GETSEC: they can clear
 * or set TraceEn.
 */
#define HWTDI_X86_TRACE_SWITCH (1u << 9)
/* A repeated string instruction: it can be interrupted and go on. */
#define HWTDI_X86_REP_STRING (1u << 10)
/* IN and INS: a read of a port that is redirected to MWAIT. */
#define HWTDI_X86_PORT_READ (1u << 11)

struct hwtdi_x86_insn {
	/* Bytes. */
	uint8_t length;
	/* An hwtd_branch. */
	uint8_t branch;
	/* `target` is known from the instruction alone. */
	bool direct;
	/* HWTDI_X86_* bits. */
	uint16_t binds;
	/* Virtual address, cut to the width of the mode. */
	uint64_t target;
};

/*
 * Decode the instruction in bytes[0..n) that lies at `address`.  False if the
 * opcode map has none there, or if it is longer than `n`.
 *
 * Refused is what the opcode, the prefixes, mod, reg and the kind of operand
 * show to be undefined.  Not looked at are W, L, vvvv, masks and which of the
 * registers are the same in VEX, EVEX and XOP encodings: a few of those that
 * are taken raise #UD.
 */
bool hwtdi_x86_decode(const uint8_t *bytes, size_t n, uint8_t isa,
    uint64_t address, struct hwtdi_x86_insn *out);

#endif /* HWTDI_X86_INSN_H */
