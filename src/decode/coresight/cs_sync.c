/*
 * Synchronisation packets of CoreSight protocols.
 */
#include <string.h>

#include "decode/coresight/cs_decoder.h"

/* Bytes of zeros, or of ones, before the last byte of the packet. */
struct pattern {
	uint8_t run, n, last;
};

/* ETMv3, PFT and ITM: at least five bytes of 0; ETMv4 and ETE: eleven. */
static const struct pattern patterns[] = {
	[HWTD_CS_UNKNOWN] = { 0x00, 11, 0x80 },
	[HWTD_CS_ETMV3] = { 0x00, 5, 0x80 },
	[HWTD_CS_PTM] = { 0x00, 5, 0x80 },
	[HWTD_CS_ETMV4] = { 0x00, 11, 0x80 },
	[HWTD_CS_ETE] = { 0x00, 11, 0x80 },
	[HWTD_CS_STM] = { 0xff, 10, 0x0f },
	[HWTD_CS_ITM] = { 0x00, 5, 0x80 },
};

/* ASYNC of STM is of 21 halves of a byte f and one 0, at any half. */
static size_t
find_stm(const uint8_t *bytes, size_t n, size_t from)
{
	size_t ones = 0;

	for (size_t i = from; i < n; i++) {
		const uint8_t halves[] = { bytes[i] & 0xf, bytes[i] >> 4 };

		for (size_t k = 0; k < 2; k++) {
			if (halves[k] == 0xf) {
				ones++;
				continue;
			}
			if (halves[k] == 0 && ones >= 21) {
				const size_t at = 2 * i + k - 21;

				return (at / 2 > from ? at / 2 : from);
			}
			ones = 0;
		}
	}
	return (n);
}

size_t
hwtdi_cs_find_sync(uint32_t protocol, const uint8_t *bytes, size_t n,
    size_t from)
{
	const struct pattern *p = &patterns[protocol <= HWTD_CS_ITM
		? protocol
		: HWTD_CS_UNKNOWN];
	size_t run = 0;

	if (protocol == HWTD_CS_STM)
		return (find_stm(bytes, n, from));
	for (size_t i = from; i < n; i++) {
		if (bytes[i] == p->run)
			run++;
		else if (bytes[i] == p->last && run >= p->n)
			return (i - p->n);
		else
			run = 0;
	}
	return (n);
}
