/*
 * Random x86 programs.
 *
 * Source: Intel SDM vol. 2, opcodes and encodings.
 */
#include "support/random_program.h"

#include <stdlib.h>
#include <string.h>

uint32_t
random_below(uint64_t *random, uint32_t n)
{
	uint64_t x = *random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*random = x;
	return ((uint32_t)((x * 0x2545f4914f6cdd1d) >> 32) % n);
}

static uint32_t
below(struct random_program *p, uint32_t n)
{
	return (random_below(&p->random, n));
}

/* Bytes of an instruction; direct branches have their offset behind them. */
struct form {
	const char *bytes;
	uint8_t n;
	uint8_t offset_bytes;
	/* 0: in every mode. */
	uint8_t bits;
};

#define FORM(text, offset, mode)                                              \
	{                                                                     \
		text, sizeof(text) - 1, offset, mode                          \
	}

#define FORMS 8

static const struct form forms[RANDOM_KINDS][FORMS] = {
	[RANDOM_PLAIN] = { FORM("\x90", 0, 0), FORM("\x66\x90", 0, 0),
	    FORM("\x0f\x1f\x00", 0, 0), FORM("\x48\x89\xc0", 0, 64),
	    FORM("\xf3\xa4", 0, 0),
	    FORM("\x0f\x1f\x84\x00\x00\x00\x00\x00", 0, 0),
	    FORM("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 0, 64),
	    FORM("\xfa", 0, 0) },
	[RANDOM_COND] = { FORM("\x74", 1, 0), FORM("\x0f\x85", 4, 0),
	    FORM("\xe2", 1, 0), FORM("\xe3", 1, 0), FORM("\x7f", 1, 0),
	    FORM("\x0f\x82", 4, 0) },
	[RANDOM_JUMP] = { FORM("\xeb", 1, 0), FORM("\xe9", 4, 0) },
	[RANDOM_CALL] = { FORM("\xe8", 4, 0) },
	[RANDOM_JUMP_INDIRECT] = { FORM("\xff\xe0", 0, 0),
	    FORM("\xff\x20", 0, 0), FORM("\xff\x64\x24\x10", 0, 0) },
	[RANDOM_CALL_INDIRECT] = { FORM("\xff\xd0", 0, 0),
	    FORM("\xff\x10", 0, 0), FORM("\x41\xff\xd3", 0, 64) },
	[RANDOM_RETURN] = { FORM("\xc3", 0, 0), FORM("\xc2\x08\x00", 0, 0),
	    FORM("\xf3\xc3", 0, 0) },
	[RANDOM_FAR_CALL] = { FORM("\x0f\x05", 0, 64), FORM("\xcd\x80", 0, 0),
	    FORM("\xcc", 0, 0), FORM("\xff\x18", 0, 0),
	    FORM("\x0f\x01\xc1", 0, 0), FORM("\x0f\x34", 0, 0),
	    FORM("\x9a\x00\x00\x00\x00\x07\x00", 0, 32) },
	[RANDOM_FAR_RETURN] = { FORM("\xcf", 0, 0), FORM("\x48\xcf", 0, 64),
	    FORM("\xcb", 0, 0), FORM("\x48\x0f\x07", 0, 64),
	    FORM("\x0f\x01\xc3", 0, 0), FORM("\x0f\x01\xc2", 0, 0) },
	[RANDOM_FAR_JUMP] = { FORM("\xff\x28", 0, 0),
	    FORM("\xea\x00\x00\x00\x00\x07\x00", 0, 32) },
	[RANDOM_WRITE_CR3] = { FORM("\x0f\x22\xd8", 0, 0) },
	[RANDOM_PTWRITE] = { FORM("\xf3\x0f\xae\xe0", 0, 0),
	    FORM("\xf3\x48\x0f\xae\xe1", 0, 64) },
	[RANDOM_VMPTRLD] = { FORM("\x0f\xc7\x30", 0, 0) },
	[RANDOM_MWAIT] = { FORM("\x0f\x01\xc9", 0, 0) },
	[RANDOM_XBEGIN] = { FORM("\xc7\xf8", 4, 0) },
	[RANDOM_XEND] = { FORM("\x0f\x01\xd5", 0, 0) },
	[RANDOM_XABORT] = { FORM("\xc6\xf8\x01", 0, 0) },
};

/* One of so many instructions is... */
static const uint8_t weights[RANDOM_KINDS] = {
	[RANDOM_PLAIN] = 28,
	[RANDOM_COND] = 20,
	[RANDOM_JUMP] = 7,
	[RANDOM_CALL] = 8,
	[RANDOM_JUMP_INDIRECT] = 4,
	[RANDOM_CALL_INDIRECT] = 5,
	[RANDOM_RETURN] = 9,
	[RANDOM_FAR_CALL] = 3,
	[RANDOM_FAR_RETURN] = 3,
	[RANDOM_FAR_JUMP] = 2,
	[RANDOM_WRITE_CR3] = 2,
	[RANDOM_PTWRITE] = 3,
	[RANDOM_VMPTRLD] = 1,
	[RANDOM_MWAIT] = 1,
	[RANDOM_XBEGIN] = 2,
	[RANDOM_XEND] = 2,
	[RANDOM_XABORT] = 1,
};

static uint8_t
pick_kind(struct random_program *p)
{
	uint32_t at = below(p, 101);
	uint8_t kind = 0;

	while (at >= weights[kind]) {
		at -= weights[kind++];
		if (kind == RANDOM_KINDS)
			return (RANDOM_PLAIN);
	}
	return (kind);
}

static const struct form *
pick_form(struct random_program *p, uint8_t kind, unsigned int bits)
{
	for (;;) {
		const struct form *f = &forms[kind][below(p, FORMS)];

		if (f->n != 0 && (f->bits == 0 || f->bits == bits))
			return (f);
	}
}

/* What an instruction is until its target is chosen. */
struct draft {
	const struct form *form[RANDOM_INSNS];
};

static void
add_insn(struct random_program *p, struct draft *d, uint32_t image,
    uint8_t kind, const struct form *f)
{
	struct random_image *im = &p->images[image];
	struct random_insn *i = &p->insns[p->n_insns];

	d->form[p->n_insns++] = f;
	im->n++;
	i->ip = im->address + im->n_bytes;
	i->kind = kind;
	i->image = (uint8_t)image;
	i->length = (uint8_t)(f->n + f->offset_bytes);
	i->target = RANDOM_NO_INSN;
	memcpy(im->bytes + im->n_bytes, f->bytes, f->n);
	im->n_bytes += i->length;
}

static bool
reaches(const struct random_program *p, uint32_t from, uint32_t to,
    uint8_t offset_bytes)
{
	const struct random_insn *a = &p->insns[from], *b = &p->insns[to];
	const int64_t off = (int64_t)(b->ip - (a->ip + a->length));
	const int64_t most = offset_bytes == 1 ? INT8_MAX : INT32_MAX;

	if (p->images[a->image].bits != p->images[b->image].bits)
		return (false);
	return (off <= most && off >= -most);
}

/* Choose where a direct branch leads; false: it reaches nothing. */
static bool
pick_target(struct random_program *p, uint32_t from, const struct form *f)
{
	const uint8_t kind = p->insns[from].kind;
	const bool forward = kind == RANDOM_JUMP || kind == RANDOM_CALL;
	const uint32_t first = forward ? from + 1 : 0;

	for (int tries = 0; tries < 300; tries++) {
		uint32_t to = first + below(p, p->n_insns - first);

		/* Near ones more often, and the next one. */
		if (below(p, 3) != 0) {
			to = from + below(p, 12);
			to = forward || to < 5 ? to + 1 : to - 5;
		}
		if (to < first || to >= p->n_insns ||
		    !reaches(p, from, to, f->offset_bytes))
			continue;
		p->insns[from].target = to;
		return (true);
	}
	return (false);
}

static void
link_insn(struct random_program *p, uint32_t at, const struct form *f)
{
	struct random_insn *i = &p->insns[at];
	struct random_image *im = &p->images[i->image];
	uint8_t *bytes = im->bytes + (i->ip - im->address);
	uint64_t off;

	if (f->offset_bytes == 0)
		return;
	if (!pick_target(p, at, f)) {
		/* As many bytes of something else. */
		memset(bytes, 0x90, i->length);
		bytes[0] = 0x3e;
		i->kind = RANDOM_PLAIN;
		if (i->length > 2)
			memcpy(bytes, "\x0f\x1f\x84\x00\x00\x00\x00\x00",
			    i->length);
		if (i->length == 5)
			memcpy(bytes, "\x0f\x1f\x44\x00\x00", 5);
		if (i->length == 6)
			memcpy(bytes, "\x66\x0f\x1f\x44\x00\x00", 6);
		return;
	}
	off = p->insns[i->target].ip - (i->ip + i->length);
	for (uint8_t k = 0; k < f->offset_bytes; k++)
		bytes[f->n + k] = (uint8_t)(off >> (8 * k));
}

/* Where images can lie; those of a row are in reach of each other. */
static const uint64_t places[][RANDOM_IMAGES] = {
	{ 0x400000, 0x401000, 0x8048000, 0x8049000 },
	{ 0x7ffff7dd0000, 0x7ffff7dd1000, 0x56555000, 0x56556000 },
	{ 0x400000, 0xffffffff81000000, 0xffffffff81002000, 0x8048000 },
	{ 0xffff800000000000, 0x7fffffffe000, 0xfffff000, 0x1000 },
	{ 0xff12345678900000, 0xff12345678901000, 0x100000, 0x7fff0000 },
};

#define PLACES (sizeof(places) / sizeof(places[0]))

void
random_program_make(struct random_program *p, uint64_t seed)
{
	const uint64_t *place;
	struct draft d;

	memset(p, 0, sizeof(*p));
	p->random = seed * 0x9e3779b97f4a7c15 + 0x1234567;
	place = places[below(p, PLACES)];
	p->n_images = 1 + below(p, RANDOM_IMAGES);
	for (uint32_t k = 0; k < p->n_images; k++) {
		struct random_image *im = &p->images[k];
		uint32_t n = 12 + below(p, 80);

		im->address = place[k] + below(p, 64);
		im->bits = im->address < UINT32_MAX && k != 0 && below(p, 2)
		    ? 32
		    : 64;
		im->first = p->n_insns;
		while (n-- > 0) {
			uint8_t kind = pick_kind(p);

			add_insn(p, &d, k, kind, pick_form(p, kind, im->bits));
		}
		/* Nothing runs off the end. */
		add_insn(p, &d, k, RANDOM_RETURN, &forms[RANDOM_RETURN][0]);
	}
	for (uint32_t i = 0; i < p->n_insns; i++)
		link_insn(p, i, d.form[i]);
}

uint32_t
random_program_any(const struct random_program *p, uint64_t *random,
    unsigned int bits, uint32_t image)
{
	for (int tries = 0; tries < 1000; tries++) {
		uint32_t i = random_below(random, p->n_insns);
		const struct random_insn *insn = &p->insns[i];

		if ((bits == 0 || p->images[insn->image].bits == bits) &&
		    (image == RANDOM_IMAGES || insn->image == image))
			return (i);
	}
	return (0);
}
