/*
 * Intel PT packets as bytes.  Knows the formats and the last IP, nothing of
 * programs.  Shares nothing with the decoders of this project.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions".
 */
#ifndef PT_ENCODE_H
#define PT_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_TNT8_MAX 6
#define PT_TNT64_MAX 47

enum pt_ip_packet {
	PT_TIP_PGD = 0x01,
	PT_TIP = 0x0d,
	PT_TIP_PGE = 0x11,
	PT_FUP = 0x1d
};

struct pt_out {
	uint8_t *data;
	size_t len;
	size_t cap;
	uint64_t last_ip;
	/* Use the shortest form of an IP; else 6 bytes always. */
	bool compress;
};

void pt_psb(struct pt_out *);
void pt_psbend(struct pt_out *);
void pt_mode_exec_64(struct pt_out *);
void pt_cbr(struct pt_out *, unsigned int ratio);
void pt_tsc(struct pt_out *, uint64_t tsc);
void pt_tma(struct pt_out *, unsigned int ctc, unsigned int fc);
void pt_mtc(struct pt_out *, unsigned int ctc);
void pt_cyc(struct pt_out *, uint64_t cycles);

/* The oldest outcome is the highest of the n low bits. */
void pt_tnt(struct pt_out *, uint64_t bits, unsigned int n);
void pt_ip(struct pt_out *, enum pt_ip_packet, uint64_t ip);
/* With the address left out. */
void pt_ip_suppressed(struct pt_out *, enum pt_ip_packet);

#endif /* PT_ENCODE_H */
