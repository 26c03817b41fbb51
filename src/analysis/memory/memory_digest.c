/*
 * What a sample says, as what it adds to the rows that it belongs to.
 */
#include <string.h>

#include "analysis/memory/memory_internal.h"

#define COUNT(d, what) ((d)->counts |= UINT64_C(1) << (what))

/* Events that are counted as they are. */
static const struct {
	uint8_t bit;
	uint8_t count;
} event_counts[] = {
	{ HWTDI_SPE_EV_EXCEPTION, HWTDI_MC_EXCEPTIONS },
	{ HWTDI_SPE_EV_L1D_ACCESS, HWTDI_MC_L1_ACCESSES },
	{ HWTDI_SPE_EV_L1D_REFILL, HWTDI_MC_L1_MISSES },
	{ HWTDI_SPE_EV_L2D_ACCESS, HWTDI_MC_L2_ACCESSES },
	{ HWTDI_SPE_EV_L2D_MISS, HWTDI_MC_L2_MISSES },
	{ HWTDI_SPE_EV_LLC_ACCESS, HWTDI_MC_LLC_ACCESSES },
	{ HWTDI_SPE_EV_LLC_MISS, HWTDI_MC_LLC_MISSES },
	{ HWTDI_SPE_EV_TLB_ACCESS, HWTDI_MC_TLB_ACCESSES },
	{ HWTDI_SPE_EV_TLB_WALK, HWTDI_MC_TLB_MISSES },
	{ HWTDI_SPE_EV_MISALIGNED, HWTDI_MC_MISALIGNED },
	{ HWTDI_SPE_EV_REMOTE, HWTDI_MC_REMOTE },
};

#define N_EVENT_COUNTS (sizeof(event_counts) / sizeof(event_counts[0]))
#define HAS(events, bit) (((events) >> (bit)&1) != 0)

/* Same numbers, so that no table is needed. */
_Static_assert((int)HWTD_MEMORY_LEVEL_DEVICE == (int)HWTDI_SPE_LEVEL_DEVICE &&
	(int)HWTD_MEMORY_LEVEL_SYSTEM == (int)HWTDI_SPE_LEVEL_SYSTEM &&
	(int)HWTD_MEMORY_LEVEL_BUFFER == (int)HWTDI_SPE_LEVEL_BUFFER &&
	(int)HWTDI_SPE_LEVEL_DEVICE + 1 == HWTD_MEMORY_LEVELS,
    "levels are those of decoding");

static void
add_operation(const struct hwtd_sample *s, struct hwtdi_memory_digest *d)
{
	const bool has_events = (s->present & HWTD_SAMPLE_EVENTS) != 0;

	switch (s->op_class) {
	case HWTD_OP_CLASS_MEMORY:
		COUNT(d,
		    (s->op_flags & HWTD_OPF_STORE) != 0 ? HWTDI_MC_STORES
							: HWTDI_MC_LOADS);
		if ((s->op_flags & HWTD_OPF_ATOMIC) != 0)
			COUNT(d, HWTDI_MC_ATOMICS);
		break;
	case HWTD_OP_CLASS_BRANCH:
		COUNT(d, HWTDI_MC_BRANCHES);
		if (has_events && !HAS(s->events, HWTDI_SPE_EV_NOT_TAKEN))
			COUNT(d, HWTDI_MC_TAKEN);
		if (HAS(s->events, HWTDI_SPE_EV_MISPREDICTED))
			COUNT(d, HWTDI_MC_MISPREDICTED);
		break;
	default:
		COUNT(d, HWTDI_MC_OTHERS);
		break;
	}
	if (has_events && !HAS(s->events, HWTDI_SPE_EV_RETIRED))
		COUNT(d, HWTDI_MC_NOT_RETIRED);
}

static void
add_origin(const struct hwtdi_spe_producer *who, const struct hwtd_sample *s,
    struct hwtdi_memory_digest *d)
{
	struct hwtdi_spe_origin origin;

	d->has_origin = hwtdi_spe_origin(who, s, &origin);
	if (!d->has_origin)
		return;
	COUNT(d,
	    (origin.missed ? HWTDI_MC_MISSED_LEVEL : HWTDI_MC_AT_LEVEL) +
		origin.level);
	if (origin.remote)
		COUNT(d, HWTDI_MC_REMOTE);
	if (origin.snoop == HWTDI_SPE_SNOOP_PEER ||
	    origin.snoop == HWTDI_SPE_SNOOP_HIT ||
	    origin.snoop == HWTDI_SPE_SNOOP_MODIFIED)
		COUNT(d, HWTDI_MC_TRANSFERS);
	if (origin.snoop == HWTDI_SPE_SNOOP_MODIFIED)
		COUNT(d, HWTDI_MC_MODIFIED);
}

static void
add_latency(const struct hwtd_sample *s, struct hwtdi_memory_digest *d,
    uint32_t kind, uint32_t present, uint32_t saturated, uint16_t cycles)
{
	if ((s->present & present) == 0)
		return;
	d->told |= 1u << kind;
	d->cycles[kind] = cycles;
	if ((s->flags & saturated) != 0)
		d->saturated |= 1u << kind;
}

static void
add_latencies(const struct hwtd_sample *s, struct hwtdi_memory_digest *d)
{
	const uint32_t both = HWTD_SAMPLE_LAT_TOTAL | HWTD_SAMPLE_LAT_ISSUE;

	add_latency(s, d, HWTD_MEMORY_TOTAL, HWTD_SAMPLE_LAT_TOTAL,
	    HWTD_SAMPLEF_TOTAL_SATURATED, s->lat_total);
	add_latency(s, d, HWTD_MEMORY_ISSUE, HWTD_SAMPLE_LAT_ISSUE,
	    HWTD_SAMPLEF_ISSUE_SATURATED, s->lat_issue);
	add_latency(s, d, HWTD_MEMORY_TRANSLATION, HWTD_SAMPLE_LAT_XLAT,
	    HWTD_SAMPLEF_XLAT_SATURATED, s->lat_xlat);
	/* Of two at their limit the difference says nothing. */
	if ((s->present & both) == both && s->lat_issue <= s->lat_total &&
	    (s->flags & HWTD_SAMPLEF_ISSUE_SATURATED) == 0)
		add_latency(s, d, HWTD_MEMORY_EXECUTION, both,
		    HWTD_SAMPLEF_TOTAL_SATURATED,
		    (uint16_t)(s->lat_total - s->lat_issue));
}

void
hwtdi_memory_digest(const struct hwtdi_memory_producer *producer,
    const struct hwtd_sample *s, struct hwtdi_memory_digest *out)
{
	const uint64_t events = s->events &
	    hwtdi_spe_events_known(&producer->who);

	memset(out, 0, sizeof(*out));
	COUNT(out, HWTDI_MC_SAMPLES);
	out->weight = producer->interval;
	out->family = hwtdi_spe_family(producer->who.midr);
	for (size_t i = 0; i < N_EVENT_COUNTS; i++)
		if (HAS(events, event_counts[i].bit))
			COUNT(out, event_counts[i].count);
	add_operation(s, out);
	if (s->op_class == HWTD_OP_CLASS_MEMORY)
		add_origin(&producer->who, s, out);
	add_latencies(s, out);
}
