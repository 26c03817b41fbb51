/*
 * What of an ETMv4 or ETE stream is not committed yet, as OpenCSD keeps it.
 *
 * Up to 1.4.0 the library looks behind the end of its list, or at what it has
 * given back, when packets take back, commit or correct what is not there.  Here
 * the list is kept once more, without what is in its elements, so that such a
 * packet is found before the library sees it.
 */
#ifndef HWTDI_CS_SPECULATION_H
#define HWTDI_CS_SPECULATION_H

#include <stdbool.h>

#include "base/library.h"

/* Elements; `P0` ones are counted. */
enum hwtdi_cs_pending {
	/* Goes with what is taken back. */
	HWTDI_CS_PENDING_OTHER = 0,
	/* Stays when what is older is taken back: events, times, cycles. */
	HWTDI_CS_PENDING_KEPT,
	HWTDI_CS_PENDING_ADDRESS,
	HWTDI_CS_PENDING_CONTEXT,
	/* P0: as many as it has atoms. */
	HWTDI_CS_PENDING_ATOM,
	/* P0; an address comes behind it. */
	HWTDI_CS_PENDING_EXCEPTION,
	HWTDI_CS_PENDING_P0,
	/* P0 for those that are committed, and not for those taken back. */
	HWTDI_CS_PENDING_SOURCE,
	/* P0, and the element behind it goes with it. */
	HWTDI_CS_PENDING_Q
};

/* Why a packet is not fed. */
enum hwtdi_cs_why {
	HWTDI_CS_WHY_NOTHING = 0,
	HWTDI_CS_WHY_BAD_PACKET,
	HWTDI_CS_WHY_COMMIT,
	HWTDI_CS_WHY_CANCEL,
	HWTDI_CS_WHY_MISPREDICT,
	HWTDI_CS_WHY_NO_ADDRESS,
	HWTDI_CS_WHY_Q,
	HWTDI_CS_WHY_ISA,
	HWTDI_CS_WHY_ENDLESS,
	HWTDI_CS_WHY_LIMIT
};

/* Elements that wait; what the library does with more takes too long. */
#define HWTDI_CS_PENDING_MAX 65536u
/* Elements that the library has lost for ever: see below. */
#define HWTDI_CS_LOST_MAX 1048576u

struct hwtdi_cs_pending_element {
	/* Of its packet. */
	uint64_t off;
	uint8_t kind;
	uint8_t atoms;
	/* Some of its atoms are committed. */
	bool begun;
};

struct hwtdi_cs_speculation {
	struct hwtd_context *library;
	/* In [first, n), oldest first. */
	struct hwtdi_cs_pending_element *at;
	size_t first, n, cap;
	/* P0 elements that are open, and how many may be. */
	int64_t depth, max_depth;
	/* The next address makes a P0 element whole. */
	bool awaits_address;
	/* Addresses that the library did not give back when it dropped them. */
	uint32_t lost;
	/* One could not be kept. */
	bool failed;
	/* The packet at hand; the oldest element before it, and whether it was begun. */
	uint64_t off;
	size_t was_first;
	bool was_begun;
};

/* Nothing waits, nor would: what is put is committed with its packet. */
static inline bool
hwtdi_cs_speculation_is_idle(const struct hwtdi_cs_speculation *s)
{
	return (s->first == s->n && s->depth == 0 && s->max_depth == 0 &&
	    !s->awaits_address && !s->failed);
}

/* What a packet says behind the elements that it makes. */
struct hwtdi_cs_resolution {
	uint32_t commit, cancel;
	bool mispredict;
};

void hwtdi_cs_speculation_init(struct hwtdi_cs_speculation *s,
    struct hwtd_context *library, uint32_t max_depth);
void hwtdi_cs_speculation_fini(struct hwtdi_cs_speculation *s);

/* Nothing waits; `depth` elements of before are open. */
void hwtdi_cs_speculation_begin(struct hwtdi_cs_speculation *s,
    uint32_t depth);

/* A packet begins there: what is put and resolved next is of it. */
void hwtdi_cs_speculation_packet(struct hwtdi_cs_speculation *s, uint64_t off);

/* The newest element; `atoms` of ATOM. */
void hwtdi_cs_speculation_put(struct hwtdi_cs_speculation *s, uint8_t kind,
    uint8_t atoms);

/*
 * The packet is over.  HWTDI_CS_WHY_NOTHING, or why the library must not see it;
 * what waits is not known then.
 */
uint8_t hwtdi_cs_speculation_resolve(struct hwtdi_cs_speculation *s,
    const struct hwtdi_cs_resolution *what);

/*
 * The library does not see the packet at hand, and forgets what waits: offset of the
 * first packet that nothing is told of because of that.
 */
uint64_t hwtdi_cs_speculation_lost(const struct hwtdi_cs_speculation *s);

#endif /* HWTDI_CS_SPECULATION_H */
