/*
 * Reading DWARF: numbers off the front of a part of a section.
 *
 * After a read past the end `bad` stays set, and numbers are 0.
 *
 * Source: DWARF 5, "Data Representation" (7.5, 7.6).
 */
#ifndef HWTDI_DWARF_BYTES_H
#define HWTDI_DWARF_BYTES_H

#include "base/bytes.h"

struct hwtdi_dwarf_reader {
	/* The section, for offsets. */
	const uint8_t *base;
	const uint8_t *at, *end;
	bool big;
	bool bad;
};

static inline uint64_t
hwtdi_dw_off(const struct hwtdi_dwarf_reader *r)
{
	return ((uint64_t)(r->at - r->base));
}

static inline uint64_t
hwtdi_dw_left(const struct hwtdi_dwarf_reader *r)
{
	return ((uint64_t)(r->end - r->at));
}

static inline uint64_t
hwtdi_dw_uint(struct hwtdi_dwarf_reader *r, size_t n)
{
	uint64_t v;

	if (hwtdi_dw_left(r) < n) {
		r->bad = true;
		r->at = r->end;
		return (0);
	}
	v = hwtdi_uint(r->big, r->at, n);
	r->at += n;
	return (v);
}

static inline uint8_t
hwtdi_dw_u8(struct hwtdi_dwarf_reader *r)
{
	if (r->at == r->end) {
		r->bad = true;
		return (0);
	}
	return (*r->at++);
}

/* What does not fit 64 bits is cut off. */
static inline uint64_t
hwtdi_dw_uleb(struct hwtdi_dwarf_reader *r)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;

	do {
		b = hwtdi_dw_u8(r);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while ((b & 0x80) != 0);
	return (v);
}

static inline int64_t
hwtdi_dw_sleb(struct hwtdi_dwarf_reader *r)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;

	do {
		b = hwtdi_dw_u8(r);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while ((b & 0x80) != 0);
	if (shift < 64 && (b & 0x40) != 0)
		v |= ~UINT64_C(0) << shift;
	return ((int64_t)v);
}

static inline void
hwtdi_dw_skip(struct hwtdi_dwarf_reader *r, uint64_t n)
{
	if (hwtdi_dw_left(r) < n) {
		r->bad = true;
		r->at = r->end;
		return;
	}
	r->at += n;
}

/* A text with its NUL, in place; NULL: it has no end. */
static inline const char *
hwtdi_dw_text(struct hwtdi_dwarf_reader *r)
{
	const uint8_t *at = r->at;
	const uint8_t *nul = r->at == r->end
	    ? NULL
	    : memchr(r->at, 0, (size_t)(r->end - r->at));

	if (nul == NULL) {
		r->bad = true;
		r->at = r->end;
		return (NULL);
	}
	r->at = nul + 1;
	return ((const char *)at);
}

/* The length of what follows; 4 or 8 in *offset_bytes_out. */
static inline uint64_t
hwtdi_dw_length(struct hwtdi_dwarf_reader *r, uint8_t *offset_bytes_out)
{
	uint64_t length = hwtdi_dw_uint(r, 4);

	*offset_bytes_out = 4;
	if (length == 0xffffffff) {
		*offset_bytes_out = 8;
		length = hwtdi_dw_uint(r, 8);
	} else if (length >= 0xfffffff0) {
		r->bad = true;
	}
	return (length);
}

#endif /* HWTDI_DWARF_BYTES_H */
