/*
 * Packets of Intel PT and the clock that reads their times.  Every failure fails
 * the test.
 */
#ifndef TEST_PACKET_CLOCK_H
#define TEST_PACKET_CLOCK_H

#include "decode/pt/pt_time.h"
#include "support/pt_packets.h"

#define PC_NO_TIME UINT64_MAX

struct packet_clock {
	struct hwtd_context *library;
	struct hwtd_pt_config config;
	uint64_t near;
	struct pt_packets p;
	struct hwtdi_pt_time time;
};

/* No packets; one tick of the crystal clock is 8 counts. */
void pc_begin(struct packet_clock *w);
/* All packets are there. */
void pc_start(struct packet_clock *w);
void pc_end(struct packet_clock *w);

/* Add a packet; its offset.  PSB comes with a TSC, which is what it tells of. */
size_t pc_put_psb(struct packet_clock *w, uint64_t tsc);
size_t pc_put_mtc(struct packet_clock *w, unsigned int value);
size_t pc_put_cyc(struct packet_clock *w, uint64_t cycles);
size_t pc_put_tnt(struct packet_clock *w);

/* The moment at an offset, with PC_NO_TIME if none is known. */
struct hwtdi_pt_moment pc_at(struct packet_clock *w, size_t off);

#endif
