/*
 * Mutations of inputs of fuzz_pt: besides libFuzzer's own it puts whole packets
 * into the packets and branches into the code.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions".
 */
#include "fuzz_pt_pieces.h"

#include "fuzz.h"

/* Bytes before the code, and where its address and length lie in them. */
#define HEADER 16
#define BASE_AT 8
#define BASE_BYTES 6
#define CODE_AT 14

static uint64_t state;

static uint32_t
pick(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ((uint32_t)(state >> 33) % n);
}

/* What is put in. */
struct piece {
	uint8_t bytes[96];
	size_t n;
};

static void
put(struct piece *p, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p->bytes[p->n++] = (uint8_t)(v >> (8 * i));
}

static uint64_t
le(const uint8_t *at, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return (v);
}

static void
put_ip(struct piece *p, uint8_t opcode, uint64_t ip)
{
	static const uint8_t modes[] = { 0, 1, 1, 2, 3, 3, 3, 4, 6 };
	static const uint8_t bytes[] = { 0, 2, 4, 6, 6, 0, 8, 0 };
	uint8_t mode = modes[pick(sizeof(modes))];

	put(p, (uint64_t)(mode << 5 | opcode), 1);
	put(p, ip, bytes[mode]);
}

static void
put_psb(struct piece *p, uint64_t ip)
{
	for (int i = 0; i < 8; i++)
		put(p, 0x8202, 2);
	if (pick(3) == 0) {
		put(p, 0x19, 1);
		put(p, pick(1u << 20), 7);
	}
	if (pick(5) != 0) {
		put(p, 0x7d, 1);
		put(p, ip, 6);
		put(p, pick(4) != 0 ? 0x0199 : 0x0299, 2);
	}
	if (pick(8) != 0)
		put(p, 0x2302, 2);
}

static void
put_timing(struct piece *p)
{
	switch (pick(5)) {
	case 0: /* TSC */
		put(p, 0x19, 1);
		put(p, pick(1u << 24), 7);
		break;
	case 1: /* MTC */
		put(p, 0x59, 1);
		put(p, pick(256), 1);
		break;
	case 2: /* TMA */
		put(p, 0x7302, 2);
		put(p, pick(1u << 30), 5);
		break;
	case 3: /* CYC */
		put(p, pick(32) << 3 | 3, 1);
		break;
	default: /* CBR */
		put(p, 0x0302, 2);
		put(p, pick(64), 2);
		break;
	}
}

static void
put_rare(struct piece *p, uint64_t ip)
{
	static const uint8_t modes[] = { 0x00, 0x01, 0x02, 0x20, 0x21, 0x22 };

	switch (pick(9)) {
	case 0: /* MODE */
		put(p, 0x99, 1);
		put(p, modes[pick(sizeof(modes))], 1);
		break;
	case 1: /* OVF */
		put(p, 0xf302, 2);
		break;
	case 2: /* PIP */
		put(p, 0x4302, 2);
		put(p, pick(64) << 5, 6);
		break;
	case 3: /* VMCS */
		put(p, 0xc802, 2);
		put(p, pick(16), 5);
		break;
	case 4: /* TraceStop */
		put(p, 0x8302, 2);
		break;
	case 5: /* PTW */
		put(p, 0x02 | (0x12 | pick(8) << 5) << 8, 2);
		put(p, ip, 8);
		break;
	case 6: /* EXSTOP, MWAIT */
		put(p, pick(2) ? 0x6202 : 0xe202, 2);
		break;
	case 7: /* MNT */
		put(p, 0x88c302, 3);
		put(p, ip, 8);
		break;
	default: /* Long TNT */
		put(p, 0xa302, 2);
		put(p, ((uint64_t)1 << pick(47) << 1) - 1, 6);
		break;
	}
}

static void
make_packets(struct piece *p, uint64_t base, uint32_t n_code)
{
	uint64_t ip = base + pick(n_code + 2);

	switch (pick(10)) {
	case 0:
		put_psb(p, ip);
		break;
	case 1:
	case 2: /* TNT */
		put(p, pick(254) + 1 & 0xfe, 1);
		break;
	case 3:
		put_ip(p, 0x0d, ip);
		break;
	case 4:
		put_ip(p, 0x1d, ip);
		if (pick(2) != 0)
			put_ip(p, pick(2) ? 0x0d : 0x01, ip + pick(8));
		break;
	case 5:
		put_ip(p, 0x11, ip);
		break;
	case 6:
		put_ip(p, 0x01, ip);
		break;
	case 7:
		put_timing(p);
		break;
	default:
		put_rare(p, ip);
		break;
	}
}

static void
make_code(struct piece *p)
{
	static const uint8_t singles[] = { 0x90, 0xc3, 0xcb, 0xcf, 0xcc, 0xf4,
		0x66, 0x48, 0xf3, 0x9a, 0xea };
	static const uint16_t pairs[] = { 0x050f, 0x070f, 0xe0ff, 0xd0ff,
		0x28ff, 0x340f, 0x80cd, 0x010f, 0xd8f7 };

	switch (pick(6)) {
	case 0: /* jmp short, jcc, loop, jrcxz */
		put(p, 0xeb, 1);
		put(p, pick(64) - 32, 1);
		break;
	case 1:
		put(p, 0x70 + pick(16), 1);
		put(p, pick(64) - 32, 1);
		break;
	case 2:
		put(p, pick(2) ? 0xe8 : 0xe9, 1);
		put(p, pick(128) - 64, 4);
		break;
	case 3:
		put(p, 0xe0 + pick(4), 1);
		put(p, pick(64) - 32, 1);
		break;
	case 4:
		put(p, singles[pick(sizeof(singles))], 1);
		break;
	default:
		put(p, pairs[pick(sizeof(pairs) / sizeof(pairs[0]))], 2);
		break;
	}
}

/* Put a piece at `at`, over what is there or before it. */
static size_t
insert(uint8_t *data, size_t size, size_t max, size_t at,
    const struct piece *p, bool over)
{
	if (over && p->n <= size - at) {
		memcpy(data + at, p->bytes, p->n);
		return (size);
	}
	if (p->n > max - size)
		return (size);
	memmove(data + at + p->n, data + at, size - at);
	memcpy(data + at, p->bytes, p->n);
	return (size + p->n);
}

/* The end of the packets most often: there the flow still makes sense. */
static size_t
place(size_t from, size_t to)
{
	return (to == from || pick(3) == 0
		? to
		: from + pick((uint32_t)(to - from)));
}

size_t
fuzz_pt_mutate(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	struct piece p = { .n = 0 };
	uint64_t base;
	size_t n_code, end;

	state = seed;
	(void)pick(1);
	if (size < HEADER || max < HEADER || pick(3) == 0)
		return (LLVMFuzzerMutate(data, size, max));
	base = le(data + BASE_AT, BASE_BYTES);
	n_code = (size_t)le(data + CODE_AT, 2);
	if (n_code > size - HEADER)
		n_code = size - HEADER;
	end = HEADER + n_code;
	if (pick(4) != 0) {
		for (uint32_t i = pick(4); i < 4; i++) {
			p.n = 0;
			make_packets(&p, base, (uint32_t)n_code);
			size = insert(data, size, max, place(end, size), &p,
			    pick(4) == 0);
		}
		return (size);
	}
	make_code(&p);
	if (pick(2) == 0 && n_code != 0)
		return (insert(data, size, max,
		    HEADER + pick((uint32_t)n_code), &p, true));
	end = place(HEADER, end);
	if (p.n <= max - size) {
		n_code += p.n;
		data[CODE_AT] = (uint8_t)n_code;
		data[CODE_AT + 1] = (uint8_t)(n_code >> 8);
	}
	return (insert(data, size, max, end, &p, false));
}
