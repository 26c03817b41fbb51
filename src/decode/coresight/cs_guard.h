/*
 * What stands between the bytes of a trace and OpenCSD: packets are read before
 * the library decodes them, and those that it cannot take are not fed.
 */
#ifndef HWTDI_CS_GUARD_H
#define HWTDI_CS_GUARD_H

#include "decode/coresight/cs_library.h"
#include "decode/coresight/cs_speculation.h"

struct hwtdi_cs_guard;

/*
 * HWTD_OK, HWTD_E_NOMEM, HWTD_E_UNSUPPORTED: the registers make the library do
 * what it must not.  *out is NULL where a protocol needs no guard.
 */
int hwtdi_cs_guard_create(struct hwtd_context *library,
    const struct hwtd_coresight_config *config,
    const struct hwtdi_cs_layout *layout, struct hwtdi_cs_guard **out,
    struct hwtd_error *err);
void hwtdi_cs_guard_destroy(struct hwtdi_cs_guard *guard);

/* The library is reset. */
int hwtdi_cs_guard_reset(struct hwtdi_cs_guard *guard, uint64_t off,
    struct hwtd_error *err);

/* Bytes to feed; `bytes` NULL: they are `own`. */
struct hwtdi_cs_feed {
	const uint8_t *bytes;
	size_t n;
	/* Where the first of them lies in the stream. */
	uint64_t off;
	uint8_t own[10];
};

/* What may be fed, valid up to the next look or reset. */
struct hwtdi_cs_plan {
	const struct hwtdi_cs_feed *feeds;
	size_t n_feeds;
	/* An hwtdi_cs_why: behind them a packet that must not be. */
	uint8_t why;
	/* Where it begins and ends; bytes of it may have been fed before. */
	uint64_t bad, bad_end;
	/* Where the packets begin that are lost with it. */
	uint64_t lost;
};

/* Look at bytes that adjoin, at most HWTDI_CS_FEED_MAX. */
int hwtdi_cs_guard_look(struct hwtdi_cs_guard *guard, uint64_t off,
    const uint8_t *bytes, size_t n, struct hwtdi_cs_plan *out,
    struct hwtd_error *err);

/*
 * All bytes up to `end` are of packets that can be, and none is cut off.  False also
 * where that is not known.
 */
bool hwtdi_cs_guard_is_whole(const struct hwtdi_cs_guard *guard, uint64_t end);

/* Where the packet begins that ends at `end`, of the last look; or `end`. */
uint64_t hwtdi_cs_guard_begin_of(const struct hwtdi_cs_guard *guard,
    uint64_t end);

/* Text of the gap where a packet was not fed. */
const char *hwtdi_cs_why_text(uint32_t why);
/* And its reason, an hwtd_gap_reason. */
uint32_t hwtdi_cs_why_reason(uint32_t why);

#endif /* HWTDI_CS_GUARD_H */
