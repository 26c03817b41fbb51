/*
 * Intel PT packets for tests: each function appends one packet.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions".
 */
#ifndef TEST_PT_PACKETS_H
#define TEST_PT_PACKETS_H

#include <stddef.h>
#include <stdint.h>

struct pt_packets {
	uint8_t *bytes;
	size_t n;
	size_t cap;
};

/* How an IP packet is compressed. */
enum pt_ip_mode {
	PT_IP_NONE = 0,
	PT_IP_16 = 1,
	PT_IP_32 = 2,
	PT_IP_48_SIGNED = 3,
	PT_IP_48 = 4,
	PT_IP_64 = 6
};

void pt_free(struct pt_packets *p);
/* Forget the packets, keep the memory. */
void pt_clear(struct pt_packets *p);
void pt_raw(struct pt_packets *p, const void *bytes, size_t n);
void pt_append(struct pt_packets *p, const struct pt_packets *more);

void pt_pad(struct pt_packets *p, size_t n);
void pt_psb(struct pt_packets *p);
void pt_psbend(struct pt_packets *p);
void pt_ovf(struct pt_packets *p);
void pt_stop(struct pt_packets *p);

/* Outcomes as T and N, oldest first: up to 6, and up to 47. */
void pt_tnt(struct pt_packets *p, const char *outcomes);
void pt_long_tnt(struct pt_packets *p, const char *outcomes);

/* The same as numbers: the oldest in the top bit of `n`; a long one may be 0. */
void pt_tnt_bits(struct pt_packets *p, uint64_t outcomes, unsigned int n);
void pt_long_tnt_bits(struct pt_packets *p, uint64_t outcomes, unsigned int n);

void pt_tip(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip);
void pt_pge(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip);
void pt_pgd(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip);
void pt_fup(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip);

/* A tidy end of the stream: an interrupt to where nothing is traced. */
void pt_leave_at(struct pt_packets *p, uint64_t ip);

/* MODE.Exec for 16, 32 or 64 bits. */
void pt_mode_exec(struct pt_packets *p, unsigned int bits);
/* The same with RFLAGS.IF. */
void pt_mode_exec_if(struct pt_packets *p, unsigned int bits, int interrupts);
#define PT_TSX_COMMIT 0u
#define PT_TSX_BEGIN 1u
#define PT_TSX_ABORT 2u
void pt_mode_tsx(struct pt_packets *p, unsigned int bits);
void pt_pip(struct pt_packets *p, uint64_t cr3, int non_root);
void pt_vmcs(struct pt_packets *p, uint64_t base);

void pt_tsc(struct pt_packets *p, uint64_t tsc);
void pt_tma(struct pt_packets *p, unsigned int ctc, unsigned int fc);
void pt_mtc(struct pt_packets *p, unsigned int ctc);
void pt_cyc(struct pt_packets *p, uint64_t cycles);
/* The same in so many bytes, up to 15. */
void pt_cyc_of(struct pt_packets *p, uint64_t cycles, unsigned int bytes);
void pt_cbr(struct pt_packets *p, unsigned int ratio);

/* `size`: 4 or 8 bytes.  `ip`: a FUP follows. */
void pt_ptw(struct pt_packets *p, unsigned int size, uint64_t payload, int ip);
void pt_mnt(struct pt_packets *p, uint64_t payload);
void pt_exstop(struct pt_packets *p, int ip);
void pt_mwait(struct pt_packets *p, uint32_t hints, uint32_t extensions);
void pt_pwre(struct pt_packets *p, unsigned int state, unsigned int sub_state,
    int by_hardware);
#define PT_WAKE_INTERRUPT 1u
#define PT_WAKE_STORE 4u
#define PT_WAKE_AUTONOMOUS 8u
void pt_pwrx(struct pt_packets *p, unsigned int last, unsigned int deepest,
    unsigned int wake);

/* A block, its items of 4 or 8 bytes, and its end.  `ip`: a FUP follows. */
void pt_bbp(struct pt_packets *p, unsigned int type, unsigned int item_bytes);
void pt_bip(struct pt_packets *p, unsigned int id, uint64_t value,
    unsigned int item_bytes);
void pt_bep(struct pt_packets *p, int ip);

void pt_cfe(struct pt_packets *p, unsigned int type, unsigned int vector,
    int ip);
void pt_evd(struct pt_packets *p, unsigned int type, uint64_t payload);
#define PT_TRIG_MULTIPLE 0x20u
#define PT_TRIG_COUNT 0x40u
#define PT_TRIG_IP 0x80u
/* `insns` is there with PT_TRIG_COUNT. */
void pt_trig(struct pt_packets *p, unsigned int triggers, unsigned int flags,
    unsigned int insns);

/* PSB, FUP, MODE.Exec, PSBEND: tracing is on at `ip`. */
void pt_psb_plus(struct pt_packets *p, uint64_t ip, unsigned int bits);
/* PSB, MODE.Exec, PSBEND: tracing is off. */
void pt_psb_plus_off(struct pt_packets *p, unsigned int bits);

#endif /* TEST_PT_PACKETS_H */
