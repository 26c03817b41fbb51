/*
 * The packets that nearly all records are made of, told one by one.
 *
 * The size of each is a constant where it is used: so a CPU foresees where the
 * next one begins, and does not wait for the header.
 */
#include "decode/spe/spe_walk.h"

#include <hwtdecode/packet.h>

#include "base/bytes.h"
#include "decode/spe/spe_packet.h"

#define LE_1(p) (*(p))
#define LE_2 hwtdi_le16
#define LE_4 hwtdi_le32
#define LE_8 hwtdi_le64

/* A packet with a payload of so many bytes. */
#define TELL(packet_kind, payload_bytes)                                      \
	next = at + 1 + (payload_bytes);                                      \
	if (next > stop)                                                      \
		goto out;                                                     \
	in_record = true;                                                     \
	walk->rc = walk->see(walk->arg, off + (uint64_t)(at - bytes),         \
	    packet_kind, *at, LE_##payload_bytes(at + 1));                    \
	break

size_t
hwtdi_spe_walk(struct hwtdi_spe_walk *walk, const uint8_t *bytes, size_t n,
    uint64_t off)
{
	const uint8_t *const stop = bytes + n;
	const uint8_t *at = bytes, *next;
	bool in_record = walk->in_record;

	walk->rc = 0;
	while (at < stop && walk->rc == 0) {
		switch (*at) {
		case 0x00:
			next = at + hwtdi_spe_few_zeros(at);
			if (next == at + 8)
				next += hwtdi_spe_zeros(next,
				    next < stop ? (size_t)(stop - next) : 0);
			/* It may go on there. */
			if (next >= stop)
				goto out;
			walk->rc = walk->see(walk->arg,
			    off + (uint64_t)(at - bytes), HWTD_PK_SPE_PAD, 0,
			    (uint64_t)(next - at));
			break;
		case 0x01:
			next = at + 1;
			in_record = false;
			walk->rc = walk->see(walk->arg,
			    off + (uint64_t)(at - bytes), HWTD_PK_SPE_END,
			    0x01, 0);
			break;
		case 0x42:
			TELL(HWTD_PK_SPE_EVENTS, 1);
		case 0x52:
			TELL(HWTD_PK_SPE_EVENTS, 2);
		case 0x62:
			TELL(HWTD_PK_SPE_EVENTS, 4);
		case 0x72:
			TELL(HWTD_PK_SPE_EVENTS, 8);
		case 0x43:
			TELL(HWTD_PK_SPE_SOURCE, 1);
		case 0x53:
			TELL(HWTD_PK_SPE_SOURCE, 2);
		case 0x48:
		case 0x49:
		case 0x4a:
			TELL(HWTD_PK_SPE_OPERATION, 1);
		case 0x64:
		case 0x65:
			TELL(HWTD_PK_SPE_CONTEXT, 4);
		case 0x71:
			next = at + 9;
			if (next > stop)
				goto out;
			in_record = false;
			walk->rc = walk->see(walk->arg,
			    off + (uint64_t)(at - bytes),
			    HWTD_PK_SPE_TIMESTAMP, 0x71, hwtdi_le64(at + 1));
			break;
		case 0x98:
			TELL(HWTD_PK_SPE_TOTAL, 2);
		case 0x99:
			TELL(HWTD_PK_SPE_ISSUE, 2);
		case 0x9a:
			TELL(HWTD_PK_SPE_XLAT, 2);
		case 0xb0:
			TELL(HWTD_PK_SPE_PC, 8);
		case 0xb1:
			TELL(HWTD_PK_SPE_TARGET, 8);
		case 0xb2:
			TELL(HWTD_PK_SPE_VA, 8);
		case 0xb3:
			TELL(HWTD_PK_SPE_PA, 8);
		case 0xb4:
			TELL(HWTD_PK_SPE_PREV_TARGET, 8);
		default:
			goto out;
		}
		at = next;
	}
out:
	walk->in_record = in_record;
	return ((size_t)(at - bytes));
}
