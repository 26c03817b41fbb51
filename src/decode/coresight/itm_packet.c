/*
 * Packets of the ITM protocol.
 */
#include "decode/coresight/itm_packet.h"

#include <string.h>

#define OVERFLOW 0x70
#define GLOBAL_1 0x94
#define GLOBAL_2 0xb4

/* Bit 7 of a byte of payload says that another one comes. */
#define MORE 0x80

/*
 * Bytes of 7 bits each, lowest first, up to one without MORE; at most `most`.
 * How many they are; 0: cut off.
 */
static size_t
read_groups(const uint8_t *bytes, size_t n, size_t most, uint64_t *value_out)
{
	*value_out = 0;
	for (size_t i = 0; i < n && i < most; i++) {
		*value_out |= (uint64_t)(bytes[i] & 0x7f) << 7 * i;
		if ((bytes[i] & MORE) == 0 || i + 1 == most)
			return (i + 1);
	}
	return (0);
}

static void
read_local(const uint8_t *bytes, size_t n, struct hwtdi_itm_packet *out)
{
	size_t groups;

	out->kind = HWTDI_ITM_LOCAL;
	if ((bytes[0] & MORE) == 0) {
		out->value = bytes[0] >> 4 & 7;
		out->bits = 3;
		out->bytes = 1;
		return;
	}
	out->flags = bytes[0] >> 4 & 3;
	groups = read_groups(bytes + 1, n - 1, 4, &out->value);
	out->bits = (uint8_t)(7 * groups);
	out->bytes = (uint8_t)(1 + groups);
	if (groups == 0)
		out->kind = HWTDI_ITM_NONE;
}

/* Bits 25 to 0; the fourth byte has five of them and two flags. */
static void
read_global_1(const uint8_t *bytes, size_t n, struct hwtdi_itm_packet *out)
{
	const size_t groups = read_groups(bytes + 1, n - 1, 4, &out->value);

	out->kind = groups == 0 ? HWTDI_ITM_NONE : HWTDI_ITM_GLOBAL_1;
	out->bytes = (uint8_t)(1 + groups);
	out->bits = (uint8_t)(7 * groups);
	if (groups < 4)
		return;
	out->bits = 26;
	out->value &= (UINT32_C(1) << 26) - 1;
	out->flags = (uint8_t)(((bytes[4] & 0x20) != 0
				       ? HWTDI_ITM_CLOCK_CHANGED
				       : 0) |
	    ((bytes[4] & 0x40) != 0 ? HWTDI_ITM_WRAPPED : 0));
}

/* Bits 47 to 26 in four bytes, or 63 to 26 in six. */
static void
read_global_2(const uint8_t *bytes, size_t n, struct hwtdi_itm_packet *out)
{
	const size_t groups = read_groups(bytes + 1, n - 1, 6, &out->value);

	out->kind = groups == 0 ? HWTDI_ITM_NONE : HWTDI_ITM_GLOBAL_2;
	out->bytes = (uint8_t)(1 + groups);
	out->bits = groups <= 4 ? 22 : 38;
	out->value &= (UINT64_C(1) << out->bits) - 1;
}

/* Extensions: only the page of stimulus ports is known. */
static void
read_extension(const uint8_t *bytes, size_t n, struct hwtdi_itm_packet *out)
{
	uint64_t high = 0;
	size_t groups = 0;

	out->kind = HWTDI_ITM_PAGE;
	out->value = bytes[0] >> 4 & 7;
	out->bits = 3;
	if ((bytes[0] & MORE) != 0) {
		groups = read_groups(bytes + 1, n - 1, 4, &high);
		if (groups == 0)
			out->kind = HWTDI_ITM_NONE;
		out->value |= high << 3;
		out->bits = (uint8_t)(3 + 7 * groups);
	}
	out->bytes = (uint8_t)(1 + groups);
	/* Of the DWT; or more than one byte: no meaning is known. */
	if (out->kind == HWTDI_ITM_PAGE &&
	    ((bytes[0] & 0x04) != 0 || groups != 0))
		out->kind = HWTDI_ITM_RESERVED;
}

static void
read_source(const uint8_t *bytes, size_t n, struct hwtdi_itm_packet *out)
{
	static const uint8_t sizes[] = { 0, 1, 2, 4 };
	const uint8_t size = sizes[bytes[0] & 3];

	out->kind = (bytes[0] & 0x04) != 0 ? HWTDI_ITM_HARDWARE
					   : HWTDI_ITM_SOFTWARE;
	out->source = bytes[0] >> 3;
	out->bits = (uint8_t)(8 * size);
	out->bytes = (uint8_t)(1 + size);
	if (n < out->bytes) {
		out->kind = HWTDI_ITM_NONE;
		return;
	}
	for (size_t i = 0; i < size; i++)
		out->value |= (uint64_t)bytes[1 + i] << 8 * i;
}

void
hwtdi_itm_read(const uint8_t *bytes, size_t n, struct hwtdi_itm_packet *out)
{
	memset(out, 0, sizeof(*out));
	if (n == 0)
		return;
	if ((bytes[0] & 3) != 0)
		read_source(bytes, n, out);
	else if (bytes[0] == OVERFLOW) {
		out->kind = HWTDI_ITM_OVERFLOW;
		out->bytes = 1;
	} else if (bytes[0] == GLOBAL_1)
		read_global_1(bytes, n, out);
	else if (bytes[0] == GLOBAL_2)
		read_global_2(bytes, n, out);
	else if ((bytes[0] & 0x08) != 0)
		read_extension(bytes, n, out);
	else if ((bytes[0] & 0xcf) == 0xc0 ||
	    ((bytes[0] & 0x8f) == 0 && bytes[0] != 0))
		read_local(bytes, n, out);
	else {
		out->kind = HWTDI_ITM_RESERVED;
		out->bytes = 1;
	}
}
