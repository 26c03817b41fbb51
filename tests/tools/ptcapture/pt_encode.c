/*
 * Intel PT packets as bytes: the implementation.
 */
#include "pt_encode.h"

#include <err.h>
#include <stdlib.h>

static void
put(struct pt_out *out, uint64_t value, unsigned int bytes)
{
	if (out->len + bytes > out->cap) {
		out->cap = out->cap == 0 ? 65536 : 2 * out->cap;
		out->data = realloc(out->data, out->cap);
		if (out->data == NULL)
			err(1, "trace of %zu bytes", out->cap);
	}
	for (unsigned int i = 0; i < bytes; i++)
		out->data[out->len++] = (uint8_t)(value >> (8 * i));
}

void
pt_psb(struct pt_out *out)
{
	for (unsigned int i = 0; i < 8; i++)
		put(out, 0x8202, 2);
	out->last_ip = 0;
}

void
pt_psbend(struct pt_out *out)
{
	put(out, 0x2302, 2);
}

void
pt_mode_exec_64(struct pt_out *out)
{
	put(out, 0x0199, 2);
}

void
pt_cbr(struct pt_out *out, unsigned int ratio)
{
	put(out, 0x0302, 2);
	put(out, ratio, 2);
}

void
pt_tsc(struct pt_out *out, uint64_t tsc)
{
	put(out, 0x19, 1);
	put(out, tsc, 7);
}

void
pt_tma(struct pt_out *out, unsigned int ctc, unsigned int fc)
{
	put(out, 0x7302, 2);
	put(out, ctc, 2);
	put(out, 0, 1);
	put(out, fc, 2);
}

void
pt_mtc(struct pt_out *out, unsigned int ctc)
{
	put(out, 0x59, 1);
	put(out, ctc, 1);
}

void
pt_cyc(struct pt_out *out, uint64_t cycles)
{
	uint64_t more = cycles >> 5;

	put(out, (cycles & 31) << 3 | (more != 0 ? 4 : 0) | 3, 1);
	while (more != 0) {
		uint64_t low = more & 0x7f;

		more >>= 7;
		put(out, low << 1 | (more != 0 ? 1 : 0), 1);
	}
}

void
pt_tnt(struct pt_out *out, uint64_t bits, unsigned int n)
{
	/* The stop bit goes in front of the oldest outcome. */
	uint64_t payload = bits | UINT64_C(1) << n;

	if (n <= PT_TNT8_MAX) {
		put(out, payload << 1, 1);
		return;
	}
	put(out, 0xa302, 2);
	put(out, payload, 6);
}

void
pt_ip(struct pt_out *out, enum pt_ip_packet packet, uint64_t ip)
{
	const uint64_t differs = ip ^ out->last_ip;
	const uint64_t upper = ip >> 47;
	unsigned int mode, bytes;

	if (out->compress && differs >> 16 == 0) {
		mode = 1;
		bytes = 2;
	} else if (out->compress && differs >> 32 == 0) {
		mode = 2;
		bytes = 4;
	} else if (upper == 0 || upper == 0x1ffff) {
		mode = 3;
		bytes = 6;
	} else {
		mode = 6;
		bytes = 8;
	}
	put(out, mode << 5 | packet, 1);
	put(out, ip, bytes);
	out->last_ip = ip;
}

void
pt_ip_suppressed(struct pt_out *out, enum pt_ip_packet packet)
{
	put(out, packet, 1);
}
