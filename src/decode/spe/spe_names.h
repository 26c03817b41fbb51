/*
 * What events, data sources and operations of Arm SPE are called, and mean, by
 * the CPU that wrote them.
 *
 * Source: Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling
 * Extension Sample Record Specification"; Technical Reference Manuals of the
 * cores, "Statistical Profiling Extension support".
 */
#ifndef HWTDI_SPE_NAMES_H
#define HWTDI_SPE_NAMES_H

#include <hwtdecode/sample.h>
#include <stdbool.h>

/* Bits of events that have a meaning of their own. */
#define HWTDI_SPE_EV_EXCEPTION 0
#define HWTDI_SPE_EV_RETIRED 1
#define HWTDI_SPE_EV_L1D_ACCESS 2
#define HWTDI_SPE_EV_L1D_REFILL 3
#define HWTDI_SPE_EV_TLB_ACCESS 4
#define HWTDI_SPE_EV_TLB_WALK 5
#define HWTDI_SPE_EV_NOT_TAKEN 6
#define HWTDI_SPE_EV_MISPREDICTED 7
#define HWTDI_SPE_EV_LLC_ACCESS 8
#define HWTDI_SPE_EV_LLC_MISS 9
#define HWTDI_SPE_EV_REMOTE 10
#define HWTDI_SPE_EV_MISALIGNED 11
#define HWTDI_SPE_EV_TRANSACTION 16
#define HWTDI_SPE_EV_PARTIAL_PREDICATE 17
#define HWTDI_SPE_EV_EMPTY_PREDICATE 18
#define HWTDI_SPE_EV_L2D_ACCESS 19
#define HWTDI_SPE_EV_L2D_MISS 20
#define HWTDI_SPE_EV_MODIFIED 21
#define HWTDI_SPE_EV_RECENTLY_FETCHED 22
#define HWTDI_SPE_EV_SNOOPED 23
#define HWTDI_SPE_EV_STREAMING_SVE 24
#define HWTDI_SPE_EV_SMCU 25

/* ID_AA64DFR0_EL1.PMSVer: version 1.0 is 1, 1.4 is 5; 0: not known. */
#define HWTDI_SPE_V1P0 1
#define HWTDI_SPE_V1P1 2
#define HWTDI_SPE_V1P2 3
#define HWTDI_SPE_V1P3 4
#define HWTDI_SPE_V1P4 5

/* Who wrote a stream; 0: not known. */
struct hwtdi_spe_producer {
	uint32_t midr;
	/* HWTDI_SPE_V1P0 and so on. */
	uint32_t version;
};

/*
 * Name of an event bit; NULL: it has none.  With a version that is not known
 * those of the newest are named.
 */
const char *hwtdi_spe_event_name(const struct hwtdi_spe_producer *who,
    unsigned int bit);

/* Bits whose meaning is sure, so that something can be concluded from them. */
uint64_t hwtdi_spe_events_known(const struct hwtdi_spe_producer *who);

/* How much of a governing predicate is true. */
enum hwtdi_spe_predicate {
	HWTDI_SPE_PREDICATE_NONE,
	HWTDI_SPE_PREDICATE_FULL,
	HWTDI_SPE_PREDICATE_PARTIAL,
	HWTDI_SPE_PREDICATE_EMPTY
};

enum hwtdi_spe_predicate hwtdi_spe_predicate(const struct hwtd_sample *s);

/* Where data came from. */
enum hwtdi_spe_level {
	HWTDI_SPE_LEVEL_UNKNOWN,
	HWTDI_SPE_LEVEL_L1,
	/* A line that was on its way. */
	HWTDI_SPE_LEVEL_BUFFER,
	HWTDI_SPE_LEVEL_L2,
	/* As far as a cache of another core nearby is. */
	HWTDI_SPE_LEVEL_L3,
	HWTDI_SPE_LEVEL_SYSTEM,
	HWTDI_SPE_LEVEL_MEMORY,
	HWTDI_SPE_LEVEL_DEVICE
};

/* Another cache had the line. */
enum hwtdi_spe_snoop {
	HWTDI_SPE_SNOOP_UNKNOWN,
	HWTDI_SPE_SNOOP_NONE,
	/* From cache to cache; if it was modified is not known. */
	HWTDI_SPE_SNOOP_PEER,
	HWTDI_SPE_SNOOP_HIT,
	HWTDI_SPE_SNOOP_MODIFIED
};

struct hwtdi_spe_origin {
	/* An hwtdi_spe_level and an hwtdi_spe_snoop. */
	uint8_t level;
	uint8_t snoop;
	/* The level was missed; where the data was then is not known. */
	bool missed;
	bool remote;
	/* By the data source, not by events; by one that is only assumed. */
	bool by_source;
	bool assumed;
};

enum hwtdi_spe_family {
	HWTDI_SPE_FAMILY_UNKNOWN,
	/* Cores of Arm Ltd., and with their encoding. */
	HWTDI_SPE_FAMILY_ARM,
	/* The same, by what is like them: nobody says it. */
	HWTDI_SPE_FAMILY_ARM_ASSUMED,
	HWTDI_SPE_FAMILY_AMPERE,
	HWTDI_SPE_FAMILY_HISI_HIP12
};

enum hwtdi_spe_family hwtdi_spe_family(uint32_t midr);

/* Name of a data source; NULL: none is known. */
const char *hwtdi_spe_source_name(enum hwtdi_spe_family family,
    uint64_t source);

/*
 * Where the data of a sample came from, by its data source if that means
 * something, else by events.  False: it is no access to memory, or neither
 * tells it.
 */
bool hwtdi_spe_origin(const struct hwtdi_spe_producer *who,
    const struct hwtd_sample *s, struct hwtdi_spe_origin *out);

/* Short stable names, "unknown" out of range. */
const char *hwtdi_spe_level_name(uint32_t level);
const char *hwtdi_spe_snoop_name(uint32_t snoop);

#endif /* HWTDI_SPE_NAMES_H */
