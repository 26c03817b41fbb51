/*
 * Length and class of Arm instructions, and which of them a processor trace
 * tells of besides branches.
 *
 * Sources: DDI 0487 (A-profile), DDI 0406 (Armv7-A and -R), DDI 0553 (Armv8-M).
 */
#ifndef HWTDI_ARM_INSN_H
#define HWTDI_ARM_INSN_H

#include <hwtdecode/event.h>

#define HWTDI_ARM_MAX_LENGTH 4

/* What some protocols have an atom for though it is no branch. */

/* ISB; in A32 and T32 also as a write of CP15. */
#define HWTDI_ARM_ISB (1u << 0)
/* DSB and DMB, as ISB. */
#define HWTDI_ARM_BARRIER (1u << 1)
/* WFI, WFE, WFIT and WFET. */
#define HWTDI_ARM_WAIT (1u << 2)
#define HWTDI_ARM_TSTART (1u << 3)
/*
 * It may not do what its class says: it has a condition.  That of an IT block is
 * not seen by hwtdi_arm_decode, but by the code graph.
 */
#define HWTDI_ARM_CONDITIONAL (1u << 4)

struct hwtdi_arm_insn {
	/* Bytes: 2 or 4. */
	uint8_t length;
	/*
	 * An hwtd_branch.  A direct jump under a condition is CONDITIONAL; other
	 * classes stay what they are without their condition.  SVC, HVC, SMC and
	 * TENTER are FAR_CALL, all returns from exceptions FAR_RETURN.  RETURN is
	 * RET of A64, a branch to LR, and a load of PC off the stack.
	 */
	uint8_t branch;
	/* `target` is known from the instruction alone. */
	bool direct;
	/* An hwtd_isa: of the code at `target`; else 0, also with BX. */
	uint8_t target_isa;
	/* HWTDI_ARM_* bits. */
	uint8_t binds;
	/*
	 * Of an IT instruction the state that the next one has, as in PSTATE.IT;
	 * else 0.  See hwtdi_t32_it_next().
	 */
	uint8_t it;
	/* Virtual address, cut to 32 bits in A32 and T32. */
	uint64_t target;
};

/*
 * Decode the instruction in bytes[0..n) that lies at `address`, of A64, A32 or
 * T32; code of all of them is little-endian.  False if it is longer than `n`, if
 * it is UDF, which never completes, or if it is one of the branches that there
 * are not: what it may become would change where execution goes.  Other encodings
 * that are not allocated are instructions of no class.
 *
 * A branch with bits that should be 0 or 1 and are not has no class; one that is
 * UNPREDICTABLE otherwise may have its class or none.
 */
bool hwtdi_arm_decode(const uint8_t *bytes, size_t n, uint8_t isa,
    uint64_t address, struct hwtdi_arm_insn *out);

/* The same of one instruction set each; of T32 `high` comes first. */
bool hwtdi_a64_decode(uint32_t word, uint64_t address,
    struct hwtdi_arm_insn *out);
bool hwtdi_a32_decode(uint32_t word, uint64_t address,
    struct hwtdi_arm_insn *out);
bool hwtdi_t32_decode(uint16_t high, uint16_t low, uint64_t address,
    struct hwtdi_arm_insn *out);

static inline bool
hwtdi_isa_is_arm(uint8_t isa)
{
	return (isa == HWTD_ISA_A64 || isa == HWTD_ISA_A32 ||
	    isa == HWTD_ISA_T32);
}

/* The first halfword says whether there is another one. */
static inline bool
hwtdi_t32_is_long(uint16_t high)
{
	return (high >= 0xe800);
}

static inline uint16_t
hwtdi_arm_half(const uint8_t *bytes)
{
	return ((uint16_t)(bytes[0] | bytes[1] << 8));
}

/* Bytes that an instruction has, of which there are `n`; at most 4. */
static inline size_t
hwtdi_arm_length(const uint8_t *bytes, size_t n, uint8_t isa)
{
	return (isa == HWTD_ISA_T32 &&
		    (n < 2 || !hwtdi_t32_is_long(hwtdi_arm_half(bytes)))
		? 2
		: 4);
}

/*
 * Conditions of IT blocks.  A state is that of PSTATE.IT at an instruction: 0
 * outside of a block, else it has the condition in its high four bits.  Who goes
 * along instructions takes `it` of each that has one, and the next state else.
 */
static inline uint8_t
hwtdi_t32_it_next(uint8_t it)
{
	return ((it & 7) == 0 ? 0 : (uint8_t)((it & 0xe0) | (it << 1 & 0x1f)));
}

/* With AL, and NV of an ELSE of it, an instruction is always executed. */
static inline bool
hwtdi_t32_it_is_conditional(uint8_t it)
{
	return (it != 0 && it < 0xe0);
}

/*
 * The state at bytes[off] as the bytes before it have it, from bytes[0] on.  It
 * can be wrong only where these are not code, or begin within a block.
 */
uint8_t hwtdi_t32_it_at(const uint8_t *bytes, uint32_t off);

/* For the instruction sets: */

/* A number of `bits` bits with a sign. */
static inline int64_t
hwtdi_arm_signed(uint32_t value, unsigned int bits)
{
	const uint32_t sign = (uint32_t)1 << (bits - 1);

	return ((int64_t)((value & (sign * 2 - 1)) ^ sign) - (int64_t)sign);
}

static inline void
hwtdi_arm_branch_to(struct hwtdi_arm_insn *out, enum hwtd_branch branch,
    uint64_t target)
{
	out->branch = (uint8_t)branch;
	out->direct = true;
	out->target = target;
}

/* The same in A32 and T32; addresses that they cannot have are left alone. */
static inline void
hwtdi_arm_branch_32(struct hwtdi_arm_insn *out, enum hwtd_branch branch,
    uint64_t pc, int64_t offset)
{
	const uint64_t target = pc + (uint64_t)offset;

	hwtdi_arm_branch_to(out, branch,
	    pc > UINT32_MAX + (uint64_t)8 ? target : (uint32_t)target);
}

/*
 * Writes of CP15 that are barriers or WFI, the same in A32 and T32 but for the
 * condition.  0: it is another instruction.
 */
unsigned int hwtdi_a32_cp15_binds(uint32_t word);

#endif /* HWTDI_ARM_INSN_H */
