/*
 * ETMv4 and ETE packets by their headers.
 */
#include "decode/coresight/cs_skim.h"

size_t
hwtdi_cs_skim_address(const uint8_t *bytes, size_t n)
{
	size_t length = 0;

	if (n == 0)
		return (0);
	switch (bytes[0]) {
	case 0x90:
	case 0x91:
	case 0x92:
		length = 1;
		break;
	case 0x95:
	case 0x96:
		/* The first of at most two bytes says whether both are there. */
		if (n > 1)
			length = (bytes[1] & 0x80) != 0 ? 3 : 2;
		break;
	case 0x9a:
	case 0x9b:
		length = 5;
		break;
	case 0x9d:
	case 0x9e:
		length = 9;
		break;
	default:
		break;
	}
	return (length <= n ? length : 0);
}

/* Of a context: VMID and context ID are behind it. */
#define CONTEXT_HAS_IDS 0xc0

size_t
hwtdi_cs_skim_long_address(const uint8_t *bytes, size_t n, uint64_t before,
    uint64_t *address_out)
{
	const size_t least = n > 0 ? hwtdi_cs_skim_least(bytes[0]) : 0;
	const size_t end = least >= 9 ? 9 : 5;
	uint64_t address;

	if (least < 5 || n < least ||
	    (least > end && (bytes[end] & CONTEXT_HAS_IDS) != 0))
		return (0);
	switch (bytes[0]) {
	case 0x82:
	case 0x85:
	case 0x9a:
	case 0x9d:
		/* IS0: bits 8 to 2, and 15 to 9. */
		address = (bytes[1] & 0x7fu) << 2 | (bytes[2] & 0x7fu) << 9;
		break;
	default:
		/* IS1, of T32: bits 7 to 1, and 15 to 8. */
		address = (bytes[1] & 0x7fu) << 1 | (uint32_t)bytes[2] << 8;
		break;
	}
	for (size_t i = 3; i < end; i++)
		address |= (uint64_t)bytes[i] << (8 * i - 8);
	if (end == 5)
		address |= before & ~(uint64_t)UINT32_MAX;
	*address_out = address;
	return (least);
}

size_t
hwtdi_cs_skim_least(uint8_t header)
{
	switch (header) {
	case 0x06:
	case 0x95:
	case 0x96:
		return (2);
	case 0x9a:
	case 0x9b:
		return (5);
	case 0x82:
	case 0x83:
		return (6);
	case 0x9d:
	case 0x9e:
		return (9);
	case 0x85:
	case 0x86:
		return (10);
	default:
		return (1);
	}
}
