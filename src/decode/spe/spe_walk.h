/*
 * The packets that nearly all records are made of, told one by one.
 */
#ifndef HWTDI_SPE_WALK_H
#define HWTDI_SPE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As hwtd_packet_visitor.payload. */
typedef int hwtdi_spe_see(void *arg, uint64_t stream_off, uint32_t kind,
    uint32_t header, uint64_t value);

struct hwtdi_spe_walk {
	hwtdi_spe_see *see;
	void *arg;
	/* The next one is not the first of a record, or padding before it. */
	bool in_record;
	/* What `see` returned. */
	int rc;
};

/* Bytes behind those of a walk that can be read. */
#define HWTDI_SPE_WALK_SPARE 16

/*
 * Tell packets that end at or before bytes[n]; HWTDI_SPE_WALK_SPARE more are
 * there.  Stops before one that is not of the most common ones, and behind one of
 * which `see` does not return 0.  Returns the bytes that were told.
 */
size_t hwtdi_spe_walk(struct hwtdi_spe_walk *walk, const uint8_t *bytes,
    size_t n, uint64_t stream_off);

#endif /* HWTDI_SPE_WALK_H */
