/*
 * Where data of a sample came from: data sources by family of CPU, and events.
 */
#include <hwtdecode/spe.h>
#include <stddef.h>
#include <string.h>

#include "decode/spe/spe_names.h"

/* Implementer and part number of MIDR_EL1. */
#define CPU(implementer, part)                                                \
	(UINT32_C(implementer) << 24 | UINT32_C(part) << 4)
#define CPU_MASK UINT32_C(0xff00fff0)

static const struct {
	uint32_t cpu;
	uint8_t family;
	const char *name;
} cpus[] = {
	{ CPU(0x41, 0xd0c), HWTDI_SPE_FAMILY_ARM, "neoverse-n1" },
	{ CPU(0x41, 0xd40), HWTDI_SPE_FAMILY_ARM, "neoverse-v1" },
	{ CPU(0x41, 0xd49), HWTDI_SPE_FAMILY_ARM, "neoverse-n2" },
	{ CPU(0x41, 0xd4f), HWTDI_SPE_FAMILY_ARM, "neoverse-v2" },
	{ CPU(0x41, 0xd84), HWTDI_SPE_FAMILY_ARM, "neoverse-v3" },
	{ CPU(0x41, 0xd4b), HWTDI_SPE_FAMILY_ARM, "cortex-a78c" },
	{ CPU(0x41, 0xd4d), HWTDI_SPE_FAMILY_ARM, "cortex-a715" },
	{ CPU(0x41, 0xd81), HWTDI_SPE_FAMILY_ARM, "cortex-a720" },
	{ CPU(0x41, 0xd89), HWTDI_SPE_FAMILY_ARM, "cortex-a720ae" },
	{ CPU(0x41, 0xd87), HWTDI_SPE_FAMILY_ARM, "cortex-a725" },
	{ CPU(0x41, 0xd44), HWTDI_SPE_FAMILY_ARM, "cortex-x1" },
	{ CPU(0x41, 0xd4c), HWTDI_SPE_FAMILY_ARM, "cortex-x1c" },
	{ CPU(0x41, 0xd4e), HWTDI_SPE_FAMILY_ARM, "cortex-x3" },
	{ CPU(0x41, 0xd82), HWTDI_SPE_FAMILY_ARM, "cortex-x4" },
	{ CPU(0x41, 0xd85), HWTDI_SPE_FAMILY_ARM, "cortex-x925" },
	{ CPU(0x4e, 0x010), HWTDI_SPE_FAMILY_ARM, "olympus" },
	{ CPU(0x6d, 0xd49), HWTDI_SPE_FAMILY_ARM, "cobalt-100" },
	{ CPU(0x41, 0xd83), HWTDI_SPE_FAMILY_ARM, "neoverse-v3ae" },
	{ CPU(0x41, 0xd8e), HWTDI_SPE_FAMILY_ARM_ASSUMED, "neoverse-n3" },
	{ CPU(0x41, 0xd47), HWTDI_SPE_FAMILY_ARM_ASSUMED, "cortex-a710" },
	{ CPU(0x41, 0xd48), HWTDI_SPE_FAMILY_ARM_ASSUMED, "cortex-x2" },
	{ CPU(0x41, 0xd46), HWTDI_SPE_FAMILY_ARM_ASSUMED, "cortex-a510" },
	{ CPU(0x41, 0xd80), HWTDI_SPE_FAMILY_ARM_ASSUMED, "cortex-a520" },
	{ CPU(0x41, 0xd8b), HWTDI_SPE_FAMILY_ARM_ASSUMED, "c1-pro" },
	{ CPU(0x41, 0xd8c), HWTDI_SPE_FAMILY_ARM_ASSUMED, "c1-ultra" },
	{ CPU(0x41, 0xd90), HWTDI_SPE_FAMILY_ARM_ASSUMED, "c1-premium" },
	{ CPU(0xc0, 0xac3), HWTDI_SPE_FAMILY_AMPERE, "ampereone" },
	{ CPU(0xc0, 0xac4), HWTDI_SPE_FAMILY_AMPERE, "ampereone-a" },
	{ CPU(0x48, 0xd06), HWTDI_SPE_FAMILY_HISI_HIP12, "kunpeng-930" },
	/* Without data sources that anybody told. */
	{ CPU(0x48, 0xd01), HWTDI_SPE_FAMILY_UNKNOWN, "kunpeng-920" },
	{ CPU(0x48, 0xd02), HWTDI_SPE_FAMILY_UNKNOWN, "hip09" },
};

struct source {
	uint16_t value;
	uint8_t level;
	uint8_t snoop;
	bool remote;
	const char *name;
};

#define LEVEL(x) HWTDI_SPE_LEVEL_##x
#define SNOOP(x) HWTDI_SPE_SNOOP_##x

static const struct source arm_sources[] = {
	{ 0x0, LEVEL(L1), SNOOP(NONE), false, "l1d" },
	{ 0x8, LEVEL(L2), SNOOP(UNKNOWN), false, "l2" },
	{ 0x9, LEVEL(L2), SNOOP(PEER), false, "peer-core" },
	{ 0xa, LEVEL(L3), SNOOP(PEER), false, "local-cluster" },
	{ 0xb, LEVEL(SYSTEM), SNOOP(UNKNOWN), false, "system-cache" },
	{ 0xc, LEVEL(L3), SNOOP(PEER), false, "peer-cluster" },
	{ 0xd, LEVEL(UNKNOWN), SNOOP(PEER), true, "remote" },
	{ 0xe, LEVEL(MEMORY), SNOOP(UNKNOWN), false, "dram" },
	{ 0, 0, 0, false, NULL },
};

static const struct source ampere_sources[] = {
	{ 0, LEVEL(UNKNOWN), SNOOP(UNKNOWN), false, "local-chip" },
	{ 3, LEVEL(SYSTEM), SNOOP(UNKNOWN), false, "system-cache" },
	{ 5, LEVEL(UNKNOWN), SNOOP(PEER), true, "remote-chip" },
	{ 7, LEVEL(MEMORY), SNOOP(UNKNOWN), false, "dram" },
	{ 8, LEVEL(L1), SNOOP(NONE), false, "l1d" },
	{ 9, LEVEL(L2), SNOOP(UNKNOWN), false, "l2d" },
	{ 0, 0, 0, false, NULL },
};

/*
 * Those of a peer, a peer cluster and another socket have the line from another
 * cache; a modified line of its own L2, or of L3, is a hit there.
 */
static const struct source hip12_sources[] = {
	{ 0, LEVEL(L2), SNOOP(HIT), false, "peer-cpu" },
	{ 1, LEVEL(L2), SNOOP(MODIFIED), false, "peer-cpu-modified" },
	{ 2, LEVEL(L3), SNOOP(UNKNOWN), false, "l3" },
	{ 3, LEVEL(L3), SNOOP(UNKNOWN), false, "l3-modified" },
	{ 4, LEVEL(L3), SNOOP(HIT), false, "peer-cluster" },
	{ 5, LEVEL(L3), SNOOP(MODIFIED), false, "peer-cluster-modified" },
	{ 6, LEVEL(UNKNOWN), SNOOP(HIT), true, "remote-socket" },
	{ 7, LEVEL(UNKNOWN), SNOOP(MODIFIED), true, "remote-socket-modified" },
	{ 8, LEVEL(MEMORY), SNOOP(UNKNOWN), false, "local-memory" },
	{ 9, LEVEL(MEMORY), SNOOP(UNKNOWN), true, "remote-memory" },
	{ 13, LEVEL(DEVICE), SNOOP(NONE), false, "device" },
	{ 16, LEVEL(L2), SNOOP(UNKNOWN), false, "l2" },
	{ 17, LEVEL(L2), SNOOP(UNKNOWN), false, "l2-modified" },
	{ 18, LEVEL(L1), SNOOP(NONE), false, "l1" },
	{ 0, 0, 0, false, NULL },
};

static const struct source *const sources[] = {
	[HWTDI_SPE_FAMILY_ARM] = arm_sources,
	[HWTDI_SPE_FAMILY_ARM_ASSUMED] = arm_sources,
	[HWTDI_SPE_FAMILY_AMPERE] = ampere_sources,
	[HWTDI_SPE_FAMILY_HISI_HIP12] = hip12_sources,
};

#define N_CPUS (sizeof(cpus) / sizeof(cpus[0]))

enum hwtdi_spe_family
hwtdi_spe_family(uint32_t midr)
{
	for (size_t i = 0; i < N_CPUS; i++)
		if ((midr & CPU_MASK) == cpus[i].cpu)
			return (cpus[i].family);
	return (HWTDI_SPE_FAMILY_UNKNOWN);
}

const char *
hwtd_spe_cpu_name(uint32_t midr)
{
	for (size_t i = 0; i < N_CPUS; i++)
		if ((midr & CPU_MASK) == cpus[i].cpu)
			return (cpus[i].name);
	return (NULL);
}

/* Of one case; names have letters of ASCII only. */
static bool
is_name(const char *name, const char *text)
{
	for (; *name != '\0'; name++, text++) {
		const char c = *text;

		if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != *name)
			return (false);
	}
	return (*text == '\0');
}

uint32_t
hwtd_spe_cpu_midr(const char *name)
{
	for (size_t i = 0; name != NULL && i < N_CPUS; i++)
		if (is_name(cpus[i].name, name))
			return (cpus[i].cpu);
	return (0);
}

const char *
hwtd_spe_cpu_at(size_t index)
{
	return (index < N_CPUS ? cpus[index].name : NULL);
}

static const struct source *
find_source(enum hwtdi_spe_family family, uint64_t value)
{
	if (sources[family] == NULL)
		return (NULL);
	for (const struct source *s = sources[family]; s->name != NULL; s++)
		if (s->value == value)
			return (s);
	return (NULL);
}

const char *
hwtdi_spe_source_name(enum hwtdi_spe_family family, uint64_t source)
{
	const struct source *s = find_source(family, source);

	return (s == NULL ? NULL : s->name);
}

const char *
hwtd_sample_source_name(uint32_t midr, uint64_t source)
{
	return (hwtdi_spe_source_name(hwtdi_spe_family(midr), source));
}

static bool
by_source(const struct hwtdi_spe_producer *who, const struct hwtd_sample *s,
    struct hwtdi_spe_origin *out)
{
	const enum hwtdi_spe_family family = hwtdi_spe_family(who->midr);
	const struct source *source;

	if ((s->present & HWTD_SAMPLE_SOURCE) == 0)
		return (false);
	/* On cores of Arm Ltd. that of a store has no meaning; but atomics load. */
	if ((family == HWTDI_SPE_FAMILY_ARM ||
		family == HWTDI_SPE_FAMILY_ARM_ASSUMED) &&
	    (s->op_flags & HWTD_OPF_STORE) != 0 &&
	    (s->op_flags & HWTD_OPF_ATOMIC) == 0)
		return (false);
	source = find_source(family, s->source);
	if (source == NULL)
		return (false);
	out->level = source->level;
	out->snoop = source->snoop;
	out->remote = source->remote;
	out->by_source = true;
	out->assumed = family == HWTDI_SPE_FAMILY_ARM_ASSUMED;
	return (true);
}

/* A level of caches: bits of an access and of a miss. */
struct cache {
	uint8_t access;
	uint8_t miss;
	uint8_t level;
};

static const struct cache caches[] = {
	{ HWTDI_SPE_EV_LLC_ACCESS, HWTDI_SPE_EV_LLC_MISS, LEVEL(L3) },
	{ HWTDI_SPE_EV_L2D_ACCESS, HWTDI_SPE_EV_L2D_MISS, LEVEL(L2) },
	{ HWTDI_SPE_EV_L1D_ACCESS, HWTDI_SPE_EV_L1D_REFILL, LEVEL(L1) },
};

#define CACHES (sizeof(caches) / sizeof(caches[0]))
#define HAS(events, bit) (((events) >> (bit)&1) != 0)

/* The level nearest to the core that had the data. */
static bool
level_of_load(uint64_t events, struct hwtdi_spe_origin *out)
{
	for (size_t i = CACHES; i-- > 0;) {
		if (HAS(events, caches[i].access) &&
		    !HAS(events, caches[i].miss)) {
			out->level = caches[i].level;
			return (true);
		}
		if (caches[i].level == LEVEL(L1) &&
		    HAS(events, HWTDI_SPE_EV_RECENTLY_FETCHED)) {
			out->level = LEVEL(BUFFER);
			return (true);
		}
	}
	for (size_t i = 0; i < CACHES; i++)
		if (HAS(events, caches[i].miss)) {
			out->level = caches[i].level;
			out->missed = true;
			return (true);
		}
	return (false);
}

/* The level furthest from the core that was asked. */
static bool
level_of_store(uint64_t events, struct hwtdi_spe_origin *out)
{
	for (size_t i = 0; i < CACHES; i++)
		if (HAS(events, caches[i].access) ||
		    HAS(events, caches[i].miss)) {
			out->level = caches[i].level;
			out->missed = HAS(events, caches[i].miss);
			return (true);
		}
	return (false);
}

bool
hwtdi_spe_origin(const struct hwtdi_spe_producer *who,
    const struct hwtd_sample *s, struct hwtdi_spe_origin *out)
{
	const uint64_t events = s->events & hwtdi_spe_events_known(who);
	bool known;

	memset(out, 0, sizeof(*out));
	if (s->op_class != HWTD_OP_CLASS_MEMORY)
		return (false);
	known = by_source(who, s, out);
	if (!known)
		known = (s->op_flags & HWTD_OPF_STORE) != 0
		    ? level_of_store(events, out)
		    : level_of_load(events, out);
	/* Events say more of other caches than most sources. */
	if (HAS(events, HWTDI_SPE_EV_SNOOPED))
		out->snoop = HAS(events, HWTDI_SPE_EV_MODIFIED)
		    ? SNOOP(MODIFIED)
		    : out->snoop == SNOOP(MODIFIED) ? SNOOP(MODIFIED)
						    : SNOOP(HIT);
	if (HAS(events, HWTDI_SPE_EV_REMOTE))
		out->remote = true;
	return (known || out->remote || out->snoop != SNOOP(UNKNOWN));
}
