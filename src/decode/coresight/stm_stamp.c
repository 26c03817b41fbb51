/*
 * Timestamps of STM in Gray code.
 */
#include "decode/coresight/stm_stamp.h"

#include <stdbool.h>

/* Half bytes, the lower one of a byte first. */
struct halves {
	const uint8_t *bytes;
	size_t n;
	size_t at;
};

static bool
next(struct halves *h, unsigned int *out)
{
	if (h->at >= h->n)
		return (false);
	*out = h->bytes[h->at / 2] >> (h->at % 2 * 4) & 0xf;
	h->at++;
	return (true);
}

/* Headers are f and more, f0 and more, or one half byte. */
static bool
pass_header(struct halves *h)
{
	unsigned int half = 0;

	/*
	 * No header of a packet with a timestamp begins with 0: the first half
	 * byte is of the packet before.
	 */
	if (!next(h, &half) || (half == 0 && !next(h, &half)))
		return (false);
	if (half == 0xf && !next(h, &half))
		return (false);
	return (half != 0 || next(h, &half));
}

static uint64_t
from_gray(uint64_t gray)
{
	for (unsigned int shift = 1; shift < 64; shift *= 2)
		gray ^= gray >> shift;
	return (gray);
}

uint64_t
hwtdi_stm_gray_stamp(const uint8_t *bytes, size_t n, unsigned int data,
    uint64_t before)
{
	struct halves h = { bytes, 2 * n, 0 };
	uint64_t gray = before ^ before >> 1;
	unsigned int count = 0, half = 0;
	uint64_t told = 0;

	if (!pass_header(&h))
		return (before);
	h.at += data;
	if (!next(&h, &count) || count == 0xf)
		return (before);
	/* There are no sizes 13 and 15. */
	if (count > 12)
		count = count == 13 ? 14 : 16;
	for (unsigned int i = 0; i < count; i++) {
		if (!next(&h, &half))
			return (before);
		told = told << 4 | half;
	}
	if (count < 16)
		told |= gray >> (4 * count) << (4 * count);
	return (from_gray(told));
}
