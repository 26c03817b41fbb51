/*
 * Where streams of CoreSight sources may be cut, to name their packets.
 */
#include "decode/coresight/cs_lexer.h"
#include "decode/decoder.h"

/* Bytes of 0 before the 80. */
#define SHORT_ZEROS 5
#define LONG_ZEROS 11

/* STM: 21 halves of a byte f and one 0. */
#define STM_ONES 10

/* Exactly so many zeros and an 80, with some other byte before, in [from, n). */
static size_t
find_zeros(const uint8_t *bytes, size_t n, size_t seen, size_t from,
    size_t zeros)
{
	for (size_t i = from + zeros; i < seen && i < n + zeros; i++) {
		size_t run = 0;

		if (bytes[i] != 0x80)
			continue;
		while (run < i && run <= zeros && bytes[i - 1 - run] == 0)
			run++;
		/* What is before the first byte is not seen. */
		if (run == zeros && run < i)
			return (i - zeros);
	}
	return (n);
}

static size_t
find_short(const uint8_t *bytes, size_t n, size_t seen, size_t from)
{
	return (find_zeros(bytes, n, seen, from, SHORT_ZEROS));
}

static size_t
find_long(const uint8_t *bytes, size_t n, size_t seen, size_t from)
{
	return (find_zeros(bytes, n, seen, from, LONG_ZEROS));
}

static bool
is_stm(const uint8_t *bytes, size_t n)
{
	if (n <= STM_ONES || bytes[STM_ONES] != 0x0f)
		return (false);
	for (size_t i = 0; i < STM_ONES; i++)
		if (bytes[i] != 0xff)
			return (false);
	return (true);
}

static size_t
find_stm(const uint8_t *bytes, size_t n, size_t seen, size_t from)
{
	/* More halves before are of the same packet. */
	for (size_t i = from > 0 ? from : 1; i < n; i++)
		if (bytes[i] == 0xff && (bytes[i - 1] & 0xf0) != 0xf0 &&
		    is_stm(bytes + i, seen - i))
			return (i);
	return (n);
}

static const struct hwtdi_engine cuts_short = {
	.name = "short",
	.find_sync = find_short,
	.tail_bytes = HWTDI_CS_SYNC_BYTES,
};

static const struct hwtdi_engine cuts_long = {
	.name = "long",
	.find_sync = find_long,
	.tail_bytes = HWTDI_CS_SYNC_BYTES,
};

static const struct hwtdi_engine cuts_stm = {
	.name = "stm",
	.find_sync = find_stm,
	.tail_bytes = HWTDI_CS_SYNC_BYTES,
};

const struct hwtdi_engine *
hwtdi_cs_cuts(uint32_t protocol)
{
	switch (protocol) {
	case HWTD_CS_STM:
		return (&cuts_stm);
	case HWTD_CS_ETMV4:
	case HWTD_CS_ETE:
		return (&cuts_long);
	default:
		return (&cuts_short);
	}
}

bool
hwtdi_cs_begins_sync(uint32_t protocol, const uint8_t *bytes, size_t n)
{
	const size_t zeros = hwtdi_cs_cuts(protocol) == &cuts_long
	    ? LONG_ZEROS
	    : SHORT_ZEROS;

	if (protocol == HWTD_CS_STM)
		return (is_stm(bytes, n));
	for (size_t i = 0; i < zeros; i++)
		if (i >= n || bytes[i] != 0)
			return (false);
	return (n > zeros && bytes[zeros] == 0x80);
}
