/*
 * Random Intel PT packets.
 */
#include "support/random_packets.h"

#include <stdlib.h>
#include <string.h>

static uint64_t
any(struct random_packets *r)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return (r->random * 0x2545f4914f6cdd1d);
}

static unsigned int
below(struct random_packets *r, unsigned int n)
{
	return ((unsigned int)((any(r) >> 33) % n));
}

/* A number of any size up to `bits`; the ends are frequent. */
static uint64_t
number(struct random_packets *r, unsigned int bits)
{
	const uint64_t most = bits >= 64 ? UINT64_MAX
					 : ((uint64_t)1 << bits) - 1;

	switch (below(r, 8)) {
	case 0:
		return (0);
	case 1:
		return (most);
	default:
		return ((any(r) & most) >> below(r, bits));
	}
}

/* The row of the packet that was put at `at`. */
static struct hwtd_packet *
row(struct random_packets *r, size_t at, unsigned int kind, uint64_t value,
    unsigned int count, unsigned int flags)
{
	struct hwtd_packet *p;

	if (r->n == r->cap) {
		r->cap = r->cap == 0 ? 1024 : 2 * r->cap;
		r->rows = realloc(r->rows, r->cap * sizeof(*r->rows));
		if (r->rows == NULL)
			abort();
	}
	p = &r->rows[r->n++];
	memset(p, 0, sizeof(*p));
	p->stream_off = at;
	p->bytes = (uint32_t)(r->packets.n - at);
	p->kind = (uint16_t)kind;
	p->value = value;
	p->count = count;
	p->flags = (uint16_t)flags;
	if (r->in_psb_plus)
		p->flags |= HWTD_PKF_STATUS;
	return (p);
}

static void
put_psb(struct random_packets *r)
{
	const size_t at = r->packets.n;

	pt_psb(&r->packets);
	r->last_ip = 0;
	r->item_bytes = 0;
	r->in_psb_plus = true;
	(void)row(r, at, HWTD_PK_PT_PSB, 0, 0, 0);
}

static void
put_pads(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const unsigned int n = 1 + (unsigned int)number(r, 5);

	pt_pad(&r->packets, n);
	if (r->n > 0 && r->rows[r->n - 1].kind == HWTD_PK_PT_PAD) {
		r->rows[r->n - 1].bytes += n;
		r->rows[r->n - 1].count += n;
		return;
	}
	(void)row(r, at, HWTD_PK_PT_PAD, 0, n, 0);
}

static void
put_tnt(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const unsigned int n = 1 + below(r, 6);
	const uint64_t outcomes = any(r) & ((1u << n) - 1);

	r->in_psb_plus = false;
	pt_tnt_bits(&r->packets, outcomes, n);
	(void)row(r, at, HWTD_PK_PT_TNT_8, outcomes, n, 0);
}

static void
put_long_tnt(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const unsigned int n = below(r, 48);
	const uint64_t outcomes = any(r) & (((uint64_t)1 << n) - 1);

	r->in_psb_plus = false;
	pt_long_tnt_bits(&r->packets, outcomes, n);
	(void)row(r, at, HWTD_PK_PT_TNT_64, outcomes, n, 0);
}

static void
put_ip(struct random_packets *r)
{
	static const enum pt_ip_mode modes[] = { PT_IP_NONE, PT_IP_16,
		PT_IP_32, PT_IP_48_SIGNED, PT_IP_48, PT_IP_64 };
	const size_t at = r->packets.n;
	const enum pt_ip_mode mode = modes[below(r, 6)];
	const unsigned int kind = HWTD_PK_PT_TIP + below(r, 4);
	const uint64_t ip = any(r);
	uint64_t payload = 0;
	struct hwtd_packet *p;

	if (kind != HWTD_PK_PT_FUP)
		r->in_psb_plus = false;
	switch (kind) {
	case HWTD_PK_PT_TIP:
		pt_tip(&r->packets, mode, ip);
		break;
	case HWTD_PK_PT_TIP_PGE:
		pt_pge(&r->packets, mode, ip);
		break;
	case HWTD_PK_PT_TIP_PGD:
		pt_pgd(&r->packets, mode, ip);
		break;
	default:
		pt_fup(&r->packets, mode, ip);
		break;
	}
	switch (mode) {
	case PT_IP_NONE:
		break;
	case PT_IP_16:
		payload = ip & 0xffff;
		r->last_ip = (r->last_ip & ~(uint64_t)0xffff) | payload;
		break;
	case PT_IP_32:
		payload = ip & 0xffffffff;
		r->last_ip = (r->last_ip & ~(uint64_t)0xffffffff) | payload;
		break;
	case PT_IP_48_SIGNED:
		payload = ip & 0xffffffffffff;
		r->last_ip = payload;
		if ((payload >> 47 & 1) != 0)
			r->last_ip |= (uint64_t)0xffff << 48;
		break;
	case PT_IP_48:
		payload = ip & 0xffffffffffff;
		r->last_ip = (r->last_ip & (uint64_t)0xffff << 48) | payload;
		break;
	case PT_IP_64:
		payload = ip;
		r->last_ip = ip;
		break;
	}
	p = row(r, at, kind, payload, mode,
	    mode != PT_IP_NONE ? HWTD_PKF_IP : 0);
	if (mode != PT_IP_NONE)
		p->ip = r->last_ip;
}

static void
put_cyc(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const uint64_t cycles = number(r, 64);
	unsigned int bytes = 1;

	while (bytes < 10 && cycles >> 5 >> 7 * (bytes - 1) != 0)
		bytes++;
	if (below(r, 4) == 0)
		bytes += below(r, 16 - bytes);
	pt_cyc_of(&r->packets, cycles, bytes);
	(void)row(r, at, HWTD_PK_PT_CYC, cycles, 0, 0);
}

static void
put_time(struct random_packets *r)
{
	const size_t at = r->packets.n;
	uint64_t v;
	unsigned int fast;

	switch (below(r, 4)) {
	case 0:
		v = number(r, 56);
		pt_tsc(&r->packets, v);
		(void)row(r, at, HWTD_PK_PT_TSC, v, 0, 0);
		break;
	case 1:
		v = number(r, 16);
		fast = (unsigned int)number(r, 9);
		pt_tma(&r->packets, (unsigned int)v, fast);
		(void)row(r, at, HWTD_PK_PT_TMA, v, fast, 0);
		break;
	case 2:
		v = number(r, 8);
		pt_mtc(&r->packets, (unsigned int)v);
		(void)row(r, at, HWTD_PK_PT_MTC, v, 0, 0);
		break;
	default:
		v = number(r, 8);
		pt_cbr(&r->packets, (unsigned int)v);
		(void)row(r, at, HWTD_PK_PT_CBR, v, 0, 0);
		break;
	}
}

static void
put_mode(struct random_packets *r)
{
	static const unsigned int bits[] = { 16, 64, 32 };
	const size_t at = r->packets.n;
	const unsigned int which = below(r, 3), flag = below(r, 2);

	if (below(r, 2) == 0) {
		pt_mode_exec_if(&r->packets, bits[which], flag != 0);
		(void)row(r, at, HWTD_PK_PT_MODE_EXEC, which | flag << 2, 0,
		    0);
	} else {
		pt_mode_tsx(&r->packets, which);
		(void)row(r, at, HWTD_PK_PT_MODE_TSX, which, 0, 0);
	}
}

static void
put_where(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const bool guest = below(r, 2) != 0;
	uint64_t v;

	switch (below(r, 3)) {
	case 0:
		v = number(r, 47) << 5;
		pt_pip(&r->packets, v, guest);
		(void)row(r, at, HWTD_PK_PT_PIP, v, 0,
		    guest ? HWTD_PKF_NON_ROOT : 0);
		break;
	case 1:
		v = number(r, 40) << 12;
		pt_vmcs(&r->packets, v);
		(void)row(r, at, HWTD_PK_PT_VMCS, v, 0, 0);
		break;
	default:
		v = number(r, 64);
		pt_mnt(&r->packets, v);
		(void)row(r, at, HWTD_PK_PT_MNT, v, 0, 0);
		break;
	}
}

static void
put_power(struct random_packets *r)
{
	static const unsigned int wakes[] = { 0, PT_WAKE_INTERRUPT,
		PT_WAKE_STORE, PT_WAKE_AUTONOMOUS };
	const size_t at = r->packets.n;
	const unsigned int a = below(r, 16), b = below(r, 16);
	const unsigned int flag = below(r, 2);
	uint64_t hints;
	uint32_t extensions;

	switch (below(r, 4)) {
	case 0:
		pt_exstop(&r->packets, (int)flag);
		(void)row(r, at, HWTD_PK_PT_EXSTOP, 0, 0,
		    flag != 0 ? HWTD_PKF_FUP_FOLLOWS : 0);
		break;
	case 1:
		hints = number(r, 32);
		extensions = (uint32_t)number(r, 32);
		pt_mwait(&r->packets, (uint32_t)hints, extensions);
		(void)row(r, at, HWTD_PK_PT_MWAIT, hints, extensions,
		    hints > 0xff || extensions > 3 ? HWTD_PKF_RESERVED : 0);
		break;
	case 2:
		pt_pwre(&r->packets, a, b, (int)flag);
		(void)row(r, at, HWTD_PK_PT_PWRE, a, b,
		    flag != 0 ? HWTD_PKF_HARDWARE : 0);
		break;
	default:
		pt_pwrx(&r->packets, a, b, wakes[a % 4]);
		(void)row(r, at, HWTD_PK_PT_PWRX, a, b,
		    a % 4 == 0	     ? 0
			: a % 4 == 1 ? HWTD_PKF_WAKE_INTERRUPT
			: a % 4 == 2 ? HWTD_PKF_WAKE_STORE
				     : HWTD_PKF_WAKE_AUTONOMOUS);
		break;
	}
}

static void
put_event(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const unsigned int flag = below(r, 2);
	const unsigned int ip = flag != 0 ? HWTD_PKF_FUP_FOLLOWS : 0;
	const unsigned int type = below(r, 32), vector = below(r, 256);
	uint64_t v = number(r, 64);

	switch (below(r, 3)) {
	case 0:
		pt_cfe(&r->packets, type, vector, (int)flag);
		(void)row(r, at, HWTD_PK_PT_CFE, vector, type, ip);
		break;
	case 1:
		pt_evd(&r->packets, type * 2 + flag, v);
		(void)row(r, at, HWTD_PK_PT_EVD, v, type * 2 + flag, 0);
		break;
	default:
		if (flag == 0)
			v &= 0xffffffff;
		pt_ptw(&r->packets, flag != 0 ? 8 : 4, v, type & 1);
		(void)row(r, at, HWTD_PK_PT_PTW, v, flag != 0 ? 8 : 4,
		    (type & 1) != 0 ? HWTD_PKF_FUP_FOLLOWS : 0);
		break;
	}
}

static void
put_trig(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const unsigned int which = below(r, 256);
	const unsigned int insns = (unsigned int)number(r, 16);
	unsigned int flags = 0, want = 0;

	if (below(r, 2) != 0) {
		flags |= PT_TRIG_IP;
		want |= HWTD_PKF_FUP_FOLLOWS;
	}
	if (below(r, 2) != 0) {
		flags |= PT_TRIG_MULTIPLE;
		want |= HWTD_PKF_TRIG_MULTIPLE;
	}
	if (below(r, 2) != 0) {
		flags |= PT_TRIG_COUNT;
		want |= HWTD_PKF_TRIG_COUNT;
	}
	pt_trig(&r->packets, which, flags, insns);
	(void)row(r, at, HWTD_PK_PT_TRIG, which,
	    (flags & PT_TRIG_COUNT) != 0 ? insns : 0, want);
}

static void
put_plain(struct random_packets *r)
{
	const size_t at = r->packets.n;

	switch (below(r, 3)) {
	case 0:
		pt_psbend(&r->packets);
		(void)row(r, at, HWTD_PK_PT_PSBEND, 0, 0, 0);
		r->in_psb_plus = false;
		break;
	case 1:
		pt_ovf(&r->packets);
		(void)row(r, at, HWTD_PK_PT_OVF, 0, 0, 0);
		r->in_psb_plus = false;
		r->item_bytes = 0;
		break;
	default:
		pt_stop(&r->packets);
		(void)row(r, at, HWTD_PK_PT_STOP, 0, 0, 0);
		break;
	}
}

static void
put_bbp(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const unsigned int type = below(r, 32);

	r->item_bytes = below(r, 2) != 0 ? 4 : 8;
	pt_bbp(&r->packets, type, r->item_bytes);
	(void)row(r, at, HWTD_PK_PT_BBP, type, r->item_bytes, 0);
}

/* In a block: items, times between them, its end. */
static void
put_in_block(struct random_packets *r)
{
	const size_t at = r->packets.n;
	const unsigned int id = below(r, 32);
	uint64_t v;

	switch (below(r, 8)) {
	case 0:
		pt_bep(&r->packets, (int)(id & 1));
		r->item_bytes = 0;
		(void)row(r, at, HWTD_PK_PT_BEP, 0, 0,
		    (id & 1) != 0 ? HWTD_PKF_FUP_FOLLOWS : 0);
		break;
	case 1:
		put_cyc(r);
		break;
	case 2:
		put_time(r);
		break;
	case 3:
		if (id < 4)
			put_plain(r);
		else
			put_pads(r);
		break;
	default:
		v = number(r, 8 * r->item_bytes);
		pt_bip(&r->packets, id, v, r->item_bytes);
		(void)row(r, at, HWTD_PK_PT_BIP, v, id, 0);
		break;
	}
}

static void
put_one(struct random_packets *r)
{
	static void (*const puts[])(struct random_packets * r) = { put_pads,
		put_tnt, put_tnt, put_tnt, put_long_tnt, put_ip, put_ip,
		put_ip, put_cyc, put_cyc, put_time, put_mode, put_where,
		put_power, put_event, put_trig, put_plain, put_bbp };

	if (r->item_bytes != 0)
		put_in_block(r);
	else
		puts[below(r, sizeof(puts) / sizeof(puts[0]))](r);
}

void
random_packets_make(struct random_packets *r, uint64_t seed, size_t n,
    unsigned int psb_of)
{
	r->random = seed * 0x9e3779b97f4a7c15 + 1;
	if (r->n == 0)
		put_psb(r);
	while (n-- > 0) {
		if (psb_of != 0 && below(r, psb_of) == 0)
			put_psb(r);
		else
			put_one(r);
	}
}

void
random_packets_free(struct random_packets *r)
{
	pt_free(&r->packets);
	free(r->rows);
	memset(r, 0, sizeof(*r));
}
