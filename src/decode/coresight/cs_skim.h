/*
 * ETMv4 and ETE packets that need not be read to be looked at: most are atoms and
 * addresses, and their headers say what they are and how long.
 *
 * Source: ETM (IHI 0064), "Instruction trace packets".
 */
#ifndef HWTDI_CS_SKIM_H
#define HWTDI_CS_SKIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Atoms of a packet of them, which is one byte; 0: it is none. */
static inline unsigned int
hwtdi_cs_skim_atoms(uint8_t header)
{
	if (header < 0xc0)
		return (0);
	/* Format 6, whose last atom may be another one than those before. */
	if (header <= 0xd4 || (header >= 0xe0 && header <= 0xf4))
		return ((header & 0x1fu) + 4);
	if (header <= 0xd7 || header == 0xf5)
		return (5);
	if (header <= 0xdb)
		return (2);
	if (header <= 0xdf)
		return (4);
	return (header <= 0xf7 ? 1 : 3);
}

/* Bytes of a packet with an address and nothing else; 0: it is none, or cut. */
size_t hwtdi_cs_skim_address(const uint8_t *bytes, size_t n);

/*
 * Bytes of a packet that has 32 or 64 bits of an address, maybe with a context that
 * has no IDs; `before` is the address that was told last.  0: it is another packet,
 * or cut.
 */
size_t hwtdi_cs_skim_long_address(const uint8_t *bytes, size_t n,
    uint64_t before, uint64_t *address_out);

/* Any packet with a header has so many bytes, or more. */
size_t hwtdi_cs_skim_least(uint8_t header);

#endif /* HWTDI_CS_SKIM_H */
