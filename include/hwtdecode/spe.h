/*
 * How Arm SPE streams were recorded.
 */
#ifndef HWTDECODE_SPE_H
#define HWTDECODE_SPE_H

#ifndef HWTD_CDEF
#include <hwtdecode/error.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/** Whose numbers CONTEXTIDR holds.  Numbers are pinned for ever. */
enum hwtd_spe_owner {
	HWTD_SPE_OWNER_UNKNOWN = 0,
	/** Threads: Linux with CONFIG_PID_IN_CONTEXTIDR. */
	HWTD_SPE_OWNER_THREAD = 1,
	/** Processes, 0 for those of the kernel: FreeBSD. */
	HWTD_SPE_OWNER_PROCESS = 2,
	/** CPUs: FreeBSD with ctx_field=cpu_id. */
	HWTD_SPE_OWNER_CPU = 3
};

/**
 * What tells how to read samples.  All but `size` may be 0: not known.
 */
struct hwtd_spe_config {
	/** sizeof(struct hwtd_spe_config). */
	size_t size;
	/** MIDR_EL1: names of events and of data sources depend on it. */
	uint32_t midr;
	/** ID_AA64DFR0_EL1.PMSVer: 1 is version 1.0, 5 is 1.4. */
	uint32_t version;
	/** An hwtd_spe_owner. */
	uint32_t owner;
	/** Bits of a latency, 12 or 16 (PMSIDR_EL1.CountSize). */
	uint32_t counter_bits;
	/** Operations for one sample, as the hardware counts them. */
	uint64_t interval;
};

/**
 * The name of a CPU that can have SPE, for instance "neoverse-n1".
 *
 * @param[in] midr  MIDR_EL1; variant and revision mean nothing.
 *
 * @return NULL: no name is known.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_spe_cpu_name(uint32_t midr);

/**
 * The CPU of that name, variant and revision 0.
 *
 * @param[in] name  Letters may be of any case.
 *
 * @return 0: no CPU of that name is known.
 * Since:  0.1
 */
HWTD_API uint32_t hwtd_spe_cpu_midr(const char *name);

/**
 * The `index`th of all names, from 0; NULL past the last.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_spe_cpu_at(size_t index);

/**
 * Short stable name of an owner: "unknown", "thread", "process", "cpu".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_spe_owner_name(uint32_t owner);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_SPE_H */
