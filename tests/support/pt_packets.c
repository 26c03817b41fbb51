/*
 * Intel PT packets for tests.
 */
#include "support/pt_packets.h"

#include <stdlib.h>
#include <string.h>

void
pt_free(struct pt_packets *p)
{
	free(p->bytes);
	memset(p, 0, sizeof(*p));
}

void
pt_clear(struct pt_packets *p)
{
	p->n = 0;
}

void
pt_raw(struct pt_packets *p, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	if (p->n + n > p->cap) {
		p->cap = (p->n + n) * 2;
		p->bytes = realloc(p->bytes, p->cap);
		if (p->bytes == NULL)
			abort();
	}
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

void
pt_append(struct pt_packets *p, const struct pt_packets *more)
{
	pt_raw(p, more->bytes, more->n);
}

static void
byte(struct pt_packets *p, unsigned int value)
{
	uint8_t b = (uint8_t)value;

	pt_raw(p, &b, 1);
}

/* The low `n` bytes of a value, lowest first. */
static void
little(struct pt_packets *p, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		byte(p, (unsigned int)(value >> (8 * i) & 0xff));
}

/* 02 and the second byte of the opcode. */
static void
extended(struct pt_packets *p, unsigned int opcode)
{
	byte(p, 0x02);
	byte(p, opcode);
}

void
pt_pad(struct pt_packets *p, size_t n)
{
	while (n-- > 0)
		byte(p, 0x00);
}

void
pt_psb(struct pt_packets *p)
{
	for (size_t i = 0; i < 8; i++)
		extended(p, 0x82);
}

void
pt_psbend(struct pt_packets *p)
{
	extended(p, 0x23);
}

void
pt_ovf(struct pt_packets *p)
{
	extended(p, 0xf3);
}

void
pt_stop(struct pt_packets *p)
{
	extended(p, 0x83);
}

/* Outcomes behind a stop bit. */
static uint64_t
tnt_payload(const char *outcomes)
{
	uint64_t value = 1;

	for (; *outcomes != '\0'; outcomes++)
		value = value << 1 | (*outcomes == 'T');
	return (value);
}

void
pt_tnt(struct pt_packets *p, const char *outcomes)
{
	if (strlen(outcomes) < 1 || strlen(outcomes) > 6)
		abort();
	byte(p, (unsigned int)(tnt_payload(outcomes) << 1));
}

void
pt_long_tnt(struct pt_packets *p, const char *outcomes)
{
	if (strlen(outcomes) > 47)
		abort();
	extended(p, 0xa3);
	little(p, tnt_payload(outcomes), 6);
}

void
pt_tnt_bits(struct pt_packets *p, uint64_t outcomes, unsigned int n)
{
	if (n < 1 || n > 6 || outcomes >> n != 0)
		abort();
	byte(p, (unsigned int)((1u << n | outcomes) << 1));
}

void
pt_long_tnt_bits(struct pt_packets *p, uint64_t outcomes, unsigned int n)
{
	if (n > 47 || outcomes >> n != 0)
		abort();
	extended(p, 0xa3);
	little(p, (uint64_t)1 << n | outcomes, 6);
}

static void
ip_packet(struct pt_packets *p, unsigned int opcode, enum pt_ip_mode mode,
    uint64_t ip)
{
	static const uint8_t sizes[8] = { 0, 2, 4, 6, 6, 0, 8, 0 };

	byte(p, (unsigned int)mode << 5 | opcode);
	little(p, ip, sizes[mode]);
}

void
pt_tip(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip)
{
	ip_packet(p, 0x0d, mode, ip);
}

void
pt_pge(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip)
{
	ip_packet(p, 0x11, mode, ip);
}

void
pt_pgd(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip)
{
	ip_packet(p, 0x01, mode, ip);
}

void
pt_fup(struct pt_packets *p, enum pt_ip_mode mode, uint64_t ip)
{
	ip_packet(p, 0x1d, mode, ip);
}

void
pt_leave_at(struct pt_packets *p, uint64_t ip)
{
	pt_fup(p, PT_IP_32, ip);
	pt_pgd(p, PT_IP_NONE, 0);
}

void
pt_mode_exec(struct pt_packets *p, unsigned int bits)
{
	byte(p, 0x99);
	byte(p, bits == 64 ? 0x01 : bits == 32 ? 0x02 : 0x00);
}

void
pt_mode_exec_if(struct pt_packets *p, unsigned int bits, int interrupts)
{
	pt_mode_exec(p, bits);
	if (interrupts != 0)
		p->bytes[p->n - 1] |= 0x04;
}

void
pt_mode_tsx(struct pt_packets *p, unsigned int bits)
{
	byte(p, 0x99);
	byte(p, 0x20 | bits);
}

void
pt_pip(struct pt_packets *p, uint64_t cr3, int non_root)
{
	extended(p, 0x43);
	little(p, cr3 >> 5 << 1 | (non_root != 0), 6);
}

void
pt_vmcs(struct pt_packets *p, uint64_t base)
{
	extended(p, 0xc8);
	little(p, base >> 12, 5);
}

void
pt_tsc(struct pt_packets *p, uint64_t tsc)
{
	byte(p, 0x19);
	little(p, tsc, 7);
}

void
pt_tma(struct pt_packets *p, unsigned int ctc, unsigned int fc)
{
	extended(p, 0x73);
	little(p, ctc, 2);
	byte(p, 0);
	little(p, fc, 2);
}

void
pt_mtc(struct pt_packets *p, unsigned int ctc)
{
	byte(p, 0x59);
	byte(p, ctc);
}

void
pt_cyc(struct pt_packets *p, uint64_t cycles)
{
	uint64_t more = cycles >> 5;

	byte(p, (unsigned int)(cycles & 31) << 3 | (more != 0 ? 4 : 0) | 3);
	while (more != 0) {
		unsigned int low = (unsigned int)(more & 0x7f);

		more >>= 7;
		byte(p, low << 1 | (more != 0 ? 1 : 0));
	}
}

void
pt_cyc_of(struct pt_packets *p, uint64_t cycles, unsigned int bytes)
{
	uint64_t more = cycles >> 5;

	byte(p, (unsigned int)(cycles & 31) << 3 | (bytes > 1 ? 4 : 0) | 3);
	for (unsigned int i = 1; i < bytes; i++) {
		byte(p,
		    (unsigned int)(more & 0x7f) << 1 |
			(i + 1 < bytes ? 1 : 0));
		more >>= 7;
	}
	if (bytes < 1 || bytes > 15 || more != 0)
		abort();
}

void
pt_cbr(struct pt_packets *p, unsigned int ratio)
{
	extended(p, 0x03);
	byte(p, ratio);
	byte(p, 0);
}

void
pt_ptw(struct pt_packets *p, unsigned int size, uint64_t payload, int ip)
{
	extended(p, 0x12 | (size == 8 ? 0x20 : 0) | (ip != 0 ? 0x80 : 0));
	little(p, payload, size);
}

void
pt_mnt(struct pt_packets *p, uint64_t payload)
{
	extended(p, 0xc3);
	byte(p, 0x88);
	little(p, payload, 8);
}

void
pt_exstop(struct pt_packets *p, int ip)
{
	extended(p, 0x62 | (ip != 0 ? 0x80 : 0));
}

void
pt_mwait(struct pt_packets *p, uint32_t hints, uint32_t extensions)
{
	extended(p, 0xc2);
	little(p, hints, 4);
	little(p, extensions, 4);
}

void
pt_pwre(struct pt_packets *p, unsigned int state, unsigned int sub_state,
    int by_hardware)
{
	extended(p, 0x22);
	byte(p, by_hardware != 0 ? 0x80 : 0);
	byte(p, state << 4 | sub_state);
}

void
pt_pwrx(struct pt_packets *p, unsigned int last, unsigned int deepest,
    unsigned int wake)
{
	extended(p, 0xa2);
	byte(p, last << 4 | deepest);
	byte(p, wake);
	little(p, 0, 3);
}

void
pt_bbp(struct pt_packets *p, unsigned int type, unsigned int item_bytes)
{
	extended(p, 0x63);
	byte(p, type | (item_bytes == 4 ? 0x80 : 0));
}

void
pt_bip(struct pt_packets *p, unsigned int id, uint64_t value,
    unsigned int item_bytes)
{
	byte(p, id << 3 | 4);
	little(p, value, item_bytes);
}

void
pt_bep(struct pt_packets *p, int ip)
{
	extended(p, 0x33 | (ip != 0 ? 0x80 : 0));
}

void
pt_cfe(struct pt_packets *p, unsigned int type, unsigned int vector, int ip)
{
	extended(p, 0x13);
	byte(p, type | (ip != 0 ? 0x80 : 0));
	byte(p, vector);
}

void
pt_evd(struct pt_packets *p, unsigned int type, uint64_t payload)
{
	extended(p, 0x53);
	byte(p, type);
	little(p, payload, 8);
}

void
pt_trig(struct pt_packets *p, unsigned int triggers, unsigned int flags,
    unsigned int insns)
{
	byte(p, 0xd9);
	byte(p, flags);
	byte(p, triggers);
	if ((flags & PT_TRIG_COUNT) != 0)
		little(p, insns, 2);
}

void
pt_psb_plus(struct pt_packets *p, uint64_t ip, unsigned int bits)
{
	pt_psb(p);
	pt_fup(p, PT_IP_48_SIGNED, ip);
	pt_mode_exec(p, bits);
	pt_psbend(p);
}

void
pt_psb_plus_off(struct pt_packets *p, unsigned int bits)
{
	pt_psb(p);
	pt_mode_exec(p, bits);
	pt_psbend(p);
}
