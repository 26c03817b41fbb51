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
