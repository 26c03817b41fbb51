/*
 * Random Intel PT packets of all kinds, with the rows that they are.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions".
 */
#ifndef TEST_RANDOM_PACKETS_H
#define TEST_RANDOM_PACKETS_H

#include <hwtdecode/hwtdecode.h>

#include "support/pt_packets.h"

struct random_packets {
	struct pt_packets packets;
	/* Without `time_ns`; of stream 0. */
	struct hwtd_packet *rows;
	size_t n;
	size_t cap;
	/* What packets mean depends on this. */
	uint64_t random;
	uint64_t last_ip;
	bool in_psb_plus;
	/* Bytes of an item of the block that is open, or 0. */
	unsigned int item_bytes;
};

/*
 * So many packets more, the first of all a PSB; blocks are closed, also by OVF
 * and PSB.  `psb_of`: one of so many is a PSB.
 */
void random_packets_make(struct random_packets *r, uint64_t seed, size_t n,
    unsigned int psb_of);
void random_packets_free(struct random_packets *r);

#endif /* TEST_RANDOM_PACKETS_H */
