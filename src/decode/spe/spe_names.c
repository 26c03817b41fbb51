/*
 * Names of events and operations of Arm SPE.
 */
#include "decode/spe/spe_names.h"

#include <hwtdecode/spe.h>
#include <stddef.h>

#define MIDR_MASK UINT32_C(0xff00fff0)
#define NEOVERSE_N1 UINT32_C(0x4100d0c0)
/* Of Neoverse N1 only. */
#define N1_LATE_PREFETCH 12

#define BIT(n) (UINT64_C(1) << (n))
#define BITS(first, last) ((BIT((last) + 1) - 1) & ~(BIT(first) - 1))

static const struct {
	const char *name;
	/* The version that brought it. */
	uint32_t version;
} events[] = {
	[HWTDI_SPE_EV_EXCEPTION] = { "exception", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_RETIRED] = { "retired", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_L1D_ACCESS] = { "l1d-access", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_L1D_REFILL] = { "l1d-refill", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_TLB_ACCESS] = { "tlb-access", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_TLB_WALK] = { "tlb-walk", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_NOT_TAKEN] = { "not-taken", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_MISPREDICTED] = { "mispredicted", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_LLC_ACCESS] = { "llc-access", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_LLC_MISS] = { "llc-miss", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_REMOTE] = { "remote-access", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_MISALIGNED] = { "misaligned", HWTDI_SPE_V1P1 },
	[HWTDI_SPE_EV_TRANSACTION] = { "transaction", HWTDI_SPE_V1P0 },
	[HWTDI_SPE_EV_PARTIAL_PREDICATE] = { "partial-predicate",
	    HWTDI_SPE_V1P1 },
	[HWTDI_SPE_EV_EMPTY_PREDICATE] = { "empty-predicate", HWTDI_SPE_V1P1 },
	[HWTDI_SPE_EV_L2D_ACCESS] = { "l2d-access", HWTDI_SPE_V1P4 },
	[HWTDI_SPE_EV_L2D_MISS] = { "l2d-miss", HWTDI_SPE_V1P4 },
	[HWTDI_SPE_EV_MODIFIED] = { "modified", HWTDI_SPE_V1P4 },
	[HWTDI_SPE_EV_RECENTLY_FETCHED] = { "recently-fetched",
	    HWTDI_SPE_V1P4 },
	[HWTDI_SPE_EV_SNOOPED] = { "snooped", HWTDI_SPE_V1P4 },
	[HWTDI_SPE_EV_STREAMING_SVE] = { "streaming-sve", HWTDI_SPE_V1P4 },
	[HWTDI_SPE_EV_SMCU] = { "smcu", HWTDI_SPE_V1P4 },
};

#define N_EVENTS (sizeof(events) / sizeof(events[0]))

static bool
is_n1(uint32_t midr)
{
	return ((midr & MIDR_MASK) == NEOVERSE_N1);
}

const char *
hwtdi_spe_event_name(const struct hwtdi_spe_producer *who, unsigned int bit)
{
	if (bit == N1_LATE_PREFETCH && is_n1(who->midr))
		return ("late-prefetch");
	if (bit >= N_EVENTS || events[bit].name == NULL)
		return (NULL);
	/* Before that it is the implementation's own. */
	if (who->version != 0 && who->version < events[bit].version)
		return (NULL);
	return (events[bit].name);
}

const char *
hwtd_sample_event_name(uint32_t midr, uint32_t version, uint32_t bit)
{
	const struct hwtdi_spe_producer who = { midr, version };

	return (hwtdi_spe_event_name(&who, bit));
}

uint64_t
hwtdi_spe_events_known(const struct hwtdi_spe_producer *who)
{
	uint64_t known = BITS(0, 10) | BIT(HWTDI_SPE_EV_TRANSACTION);

	/* Where it is not known bits of 1.1 are as likely no others. */
	if (who->version == 0 || who->version >= HWTDI_SPE_V1P1)
		known |= BIT(HWTDI_SPE_EV_MISALIGNED) |
		    BIT(HWTDI_SPE_EV_PARTIAL_PREDICATE) |
		    BIT(HWTDI_SPE_EV_EMPTY_PREDICATE);
	if (who->version >= HWTDI_SPE_V1P4)
		known |= BITS(HWTDI_SPE_EV_L2D_ACCESS, HWTDI_SPE_EV_SMCU);
	if (is_n1(who->midr))
		known |= BIT(N1_LATE_PREFETCH);
	return (known);
}

enum hwtdi_spe_predicate
hwtdi_spe_predicate(const struct hwtd_sample *s)
{
	/* That it is empty is told with both. */
	if ((s->events & BIT(HWTDI_SPE_EV_EMPTY_PREDICATE)) != 0)
		return (HWTDI_SPE_PREDICATE_EMPTY);
	if ((s->events & BIT(HWTDI_SPE_EV_PARTIAL_PREDICATE)) != 0)
		return (HWTDI_SPE_PREDICATE_PARTIAL);
	return ((s->op_flags & HWTD_OPF_PREDICATED) != 0
		? HWTDI_SPE_PREDICATE_FULL
		: HWTDI_SPE_PREDICATE_NONE);
}

static const char *
name_of(const char *const *names, size_t n, uint32_t i)
{
	return (i < n && names[i] != NULL ? names[i] : "unknown");
}

#define NAME(names, i) name_of(names, sizeof(names) / sizeof((names)[0]), i)

const char *
hwtd_op_name(uint32_t op)
{
	static const char *const names[] = {
		[HWTD_OP_RESERVED] = "reserved",
		[HWTD_OP_OTHER] = "other",
		[HWTD_OP_SVE] = "sve",
		[HWTD_OP_SME] = "sme",
		[HWTD_OP_MEM_GENERAL] = "general",
		[HWTD_OP_MEM_SIMD_FP] = "simd-fp",
		[HWTD_OP_MEM_UNSPECIFIED] = "unspecified",
		[HWTD_OP_MEM_SYSTEM_REGISTER] = "system-register",
		[HWTD_OP_MEM_TAG] = "tag",
		[HWTD_OP_MEM_COPY] = "copy",
		[HWTD_OP_MEM_SET] = "set",
		[HWTD_OP_MEM_EXTENDED] = "extended",
		[HWTD_OP_MEM_SVE_SME] = "sve-sme",
		[HWTD_OP_MEM_GCS] = "gcs",
		[HWTD_OP_BRANCH] = "branch",
	};

	return (NAME(names, op));
}

const char *
hwtd_op_class_name(uint32_t op_class)
{
	static const char *const names[] = {
		[HWTD_OP_CLASS_OTHER] = "other",
		[HWTD_OP_CLASS_MEMORY] = "memory",
		[HWTD_OP_CLASS_BRANCH] = "branch",
		[HWTD_OP_CLASS_RESERVED] = "reserved",
	};

	return (NAME(names, op_class));
}

const char *
hwtd_security_name(uint32_t security)
{
	static const char *const names[] = {
		[HWTD_SECURITY_SECURE] = "secure",
		[HWTD_SECURITY_NONSECURE] = "nonsecure",
		[HWTD_SECURITY_ROOT] = "root",
		[HWTD_SECURITY_REALM] = "realm",
	};

	return (NAME(names, security));
}

const char *
hwtd_spe_owner_name(uint32_t owner)
{
	static const char *const names[] = {
		[HWTD_SPE_OWNER_THREAD] = "thread",
		[HWTD_SPE_OWNER_PROCESS] = "process",
		[HWTD_SPE_OWNER_CPU] = "cpu",
	};

	return (NAME(names, owner));
}

const char *
hwtdi_spe_level_name(uint32_t level)
{
	static const char *const names[] = {
		[HWTDI_SPE_LEVEL_L1] = "l1",
		[HWTDI_SPE_LEVEL_BUFFER] = "fill-buffer",
		[HWTDI_SPE_LEVEL_L2] = "l2",
		[HWTDI_SPE_LEVEL_L3] = "l3",
		[HWTDI_SPE_LEVEL_SYSTEM] = "system-cache",
		[HWTDI_SPE_LEVEL_MEMORY] = "memory",
		[HWTDI_SPE_LEVEL_DEVICE] = "device",
	};

	return (NAME(names, level));
}

const char *
hwtdi_spe_snoop_name(uint32_t snoop)
{
	static const char *const names[] = {
		[HWTDI_SPE_SNOOP_NONE] = "none",
		[HWTDI_SPE_SNOOP_PEER] = "peer",
		[HWTDI_SPE_SNOOP_HIT] = "hit",
		[HWTDI_SPE_SNOOP_MODIFIED] = "modified",
	};

	return (NAME(names, snoop));
}
