/*
 * Names of CoreSight packets.
 *
 * Names are those that listings of OpenCSD have, so that both can be compared; the
 * typing error of one of them is OpenCSD's.
 */
#include "decode/coresight/cs_packet.h"

#include "decode/coresight/itm_packet.h"

struct named {
	uint16_t number;
	uint16_t kind;
	const char *name;
};

/* Numbers are those of the first byte, or what OpenCSD has beside them. */
static const struct named etmv4[] = {
	{ 0x000, HWTD_PK_CS_OTHER, "I_EXTENSION" },
	{ 0x001, HWTD_PK_CS_INFO, "I_TRACE_INFO" },
	{ 0x002, HWTD_PK_CS_TIMESTAMP, "I_TIMESTAMP" },
	{ 0x004, HWTD_PK_CS_TRACE_ON, "I_TRACE_ON" },
	{ 0x005, HWTD_PK_CS_EXCEPTION_RETURN, "I_FUNC_RET" },
	{ 0x006, HWTD_PK_CS_EXCEPTION, "I_EXCEPT" },
	{ 0x007, HWTD_PK_CS_EXCEPTION_RETURN, "I_EXCEPT_RTN" },
	{ 0x009, HWTD_PK_CS_DATA, "I_ITE" },
	{ 0x00a, HWTD_PK_CS_TRANSACTION, "I_TRANS_ST" },
	{ 0x00b, HWTD_PK_CS_TRANSACTION, "I_TRANS_COMMIT" },
	{ 0x00c, HWTD_PK_CS_CYCLES, "I_CCNT_F2" },
	{ 0x00e, HWTD_PK_CS_CYCLES, "I_CCNT_F1" },
	{ 0x010, HWTD_PK_CS_CYCLES, "I_CCNT_F3" },
	{ 0x020, HWTD_PK_CS_MARKER, "I_NUM_DS_MKR" },
	{ 0x028, HWTD_PK_CS_MARKER, "I_UNNUM_DS_MKR" },
	{ 0x02d, HWTD_PK_CS_SPECULATION, "I_COMMIT" },
	{ 0x02e, HWTD_PK_CS_SPECULATION, "I_CANCEL_F1" },
	{ 0x02f, HWTD_PK_CS_SPECULATION, "I_CANCEL_F1_MISPRED" },
	{ 0x030, HWTD_PK_CS_SPECULATION, "I_MISPREDICT" },
	{ 0x034, HWTD_PK_CS_SPECULATION, "I_CANCEL_F2" },
	{ 0x038, HWTD_PK_CS_SPECULATION, "I_CANCEL_F3" },
	{ 0x040, HWTD_PK_CS_OTHER, "I_COND_I_F2" },
	{ 0x043, HWTD_PK_CS_OTHER, "I_COND_FLUSH" },
	{ 0x044, HWTD_PK_CS_OTHER, "I_COND_RES_F4" },
	{ 0x048, HWTD_PK_CS_OTHER, "I_COND_RES_F2" },
	{ 0x050, HWTD_PK_CS_OTHER, "I_COND_RES_F3" },
	{ 0x068, HWTD_PK_CS_OTHER, "I_COND_RES_F1" },
	{ 0x06c, HWTD_PK_CS_OTHER, "I_COND_I_F1" },
	{ 0x06d, HWTD_PK_CS_OTHER, "I_COND_I_F3" },
	{ 0x070, HWTD_PK_CS_IGNORE, "I_IGNORE" },
	{ 0x071, HWTD_PK_CS_EVENT, "I_EVENT" },
	{ 0x080, HWTD_PK_CS_CONTEXT, "I_CTXT" },
	{ 0x082, HWTD_PK_CS_ADDRESS, "I_ADDR_CTXT_L_32IS0" },
	{ 0x083, HWTD_PK_CS_ADDRESS, "I_ADDR_CTXT_L_32IS1" },
	{ 0x085, HWTD_PK_CS_ADDRESS, "I_ADDR_CTXT_L_64IS0" },
	{ 0x086, HWTD_PK_CS_ADDRESS, "I_ADDR_CTXT_L_64IS1" },
	{ 0x088, HWTD_PK_CS_MARKER, "I_TS_MARKER" },
	{ 0x090, HWTD_PK_CS_ADDRESS, "I_ADDR_MATCH" },
	{ 0x095, HWTD_PK_CS_ADDRESS, "I_ADDR_S_IS0" },
	{ 0x096, HWTD_PK_CS_ADDRESS, "I_ADDR_S_IS1" },
	{ 0x09a, HWTD_PK_CS_ADDRESS, "I_ADDR_L_32IS0" },
	{ 0x09b, HWTD_PK_CS_ADDRESS, "I_ADDR_L_32IS1" },
	{ 0x09d, HWTD_PK_CS_ADDRESS, "I_ADDR_L_64IS0" },
	{ 0x09e, HWTD_PK_CS_ADDRESS, "I_ADDR_L_64IS1" },
	{ 0x0a0, HWTD_PK_CS_Q, "I_Q" },
	{ 0x0b0, HWTD_PK_CS_ADDRESS, "I_SRC_ADDR_MATCH" },
	{ 0x0b4, HWTD_PK_CS_ADDRESS, "I_SRC_ADDR_S_IS0" },
	{ 0x0b5, HWTD_PK_CS_ADDRESS, "I_SRC_ADDR_S_IS1" },
	{ 0x0b6, HWTD_PK_CS_ADDRESS, "I_SCR_ADDR_L_32IS0" },
	{ 0x0b7, HWTD_PK_CS_ADDRESS, "I_SRC_ADDR_L_32IS1" },
	{ 0x0b8, HWTD_PK_CS_ADDRESS, "I_SRC_ADDR_L_64IS0" },
	{ 0x0b9, HWTD_PK_CS_ADDRESS, "I_SRC_ADDR_L_64IS1" },
	{ 0x0c0, HWTD_PK_CS_ATOM, "I_ATOM_F6" },
	{ 0x0d5, HWTD_PK_CS_ATOM, "I_ATOM_F5" },
	{ 0x0d8, HWTD_PK_CS_ATOM, "I_ATOM_F2" },
	{ 0x0dc, HWTD_PK_CS_ATOM, "I_ATOM_F4" },
	{ 0x0f6, HWTD_PK_CS_ATOM, "I_ATOM_F1" },
	{ 0x0f8, HWTD_PK_CS_ATOM, "I_ATOM_F3" },
	{ 0x100, HWTD_PK_CS_ASYNC, "I_ASYNC" },
	{ 0x103, HWTD_PK_CS_DISCARD, "I_DISCARD" },
	{ 0x105, HWTD_PK_CS_OVERFLOW, "I_OVERFLOW" },
	{ 0x200, HWTD_PK_UNSYNCED, "I_NOT_SYNC" },
	{ 0x201, HWTD_PK_TRUNCATED, "I_INCOMPLETE_EOT" },
	{ 0x202, HWTD_PK_UNKNOWN, "I_NO_ERR_TYPE" },
	{ 0x300, HWTD_PK_UNKNOWN, "I_BAD_SEQUENCE" },
	{ 0x301, HWTD_PK_UNKNOWN, "I_BAD_TRACEMODE" },
	{ 0x302, HWTD_PK_UNKNOWN, "I_RESERVED" },
	{ 0x303, HWTD_PK_UNKNOWN, "I_RESERVED_CFG" },
	{ 0x400, HWTD_PK_CS_EXCEPTION, "I_PE_RESET" },
	{ 0x401, HWTD_PK_CS_TRANSACTION, "I_TRANS_FAIL" },
};

static const struct named etmv3[] = {
	{ 0, HWTD_PK_UNKNOWN, "NO_ERROR" },
	{ 1, HWTD_PK_UNSYNCED, "NOTSYNC" },
	{ 2, HWTD_PK_TRUNCATED, "INCOMPLETE_EOT" },
	{ 3, HWTD_PK_CS_ADDRESS, "BRANCH_ADDRESS" },
	{ 4, HWTD_PK_CS_ASYNC, "A_SYNC" },
	{ 5, HWTD_PK_CS_CYCLES, "CYCLE_COUNT" },
	{ 6, HWTD_PK_CS_ISYNC, "I_SYNC" },
	{ 7, HWTD_PK_CS_ISYNC, "I_SYNC_CYCLE" },
	{ 8, HWTD_PK_CS_TRIGGER, "TRIGGER" },
	{ 9, HWTD_PK_CS_ATOM, "P_HDR" },
	{ 10, HWTD_PK_CS_OTHER, "STORE_FAIL" },
	{ 11, HWTD_PK_CS_DATA, "OOO_DATA" },
	{ 12, HWTD_PK_CS_OTHER, "OOO_ADDR_PLC" },
	{ 13, HWTD_PK_CS_DATA, "NORM_DATA" },
	{ 14, HWTD_PK_CS_OTHER, "DATA_SUPPRESSED" },
	{ 15, HWTD_PK_CS_OTHER, "VAL_NOT_TRACED" },
	{ 16, HWTD_PK_CS_IGNORE, "IGNORE" },
	{ 17, HWTD_PK_CS_CONTEXT, "CONTEXT_ID" },
	{ 18, HWTD_PK_CS_CONTEXT, "VMID" },
	{ 19, HWTD_PK_CS_EXCEPTION, "EXCEPTION_ENTRY" },
	{ 20, HWTD_PK_CS_EXCEPTION_RETURN, "EXCEPTION_EXIT" },
	{ 21, HWTD_PK_CS_TIMESTAMP, "TIMESTAMP" },
	{ 22, HWTD_PK_UNKNOWN, "BRANCH_OR_BYPASS_EOT" },
	{ 23, HWTD_PK_UNKNOWN, "BAD_SEQUENCE" },
	{ 24, HWTD_PK_UNKNOWN, "BAD_TRACEMODE" },
	{ 25, HWTD_PK_UNKNOWN, "RESERVED" },
};

static const struct named ptm[] = {
	{ 0, HWTD_PK_UNSYNCED, "NOTSYNC" },
	{ 1, HWTD_PK_TRUNCATED, "INCOMPLETE_EOT" },
	{ 2, HWTD_PK_UNKNOWN, "NO_ERROR" },
	{ 3, HWTD_PK_CS_ADDRESS, "BRANCH_ADDRESS" },
	{ 4, HWTD_PK_CS_ASYNC, "ASYNC" },
	{ 5, HWTD_PK_CS_ISYNC, "ISYNC" },
	{ 6, HWTD_PK_CS_TRIGGER, "TRIGGER" },
	{ 7, HWTD_PK_CS_ADDRESS, "WP_UPDATE" },
	{ 8, HWTD_PK_CS_IGNORE, "IGNORE" },
	{ 9, HWTD_PK_CS_CONTEXT, "CTXTID" },
	{ 10, HWTD_PK_CS_CONTEXT, "VMID" },
	{ 11, HWTD_PK_CS_ATOM, "ATOM" },
	{ 12, HWTD_PK_CS_TIMESTAMP, "TIMESTAMP" },
	{ 13, HWTD_PK_CS_EXCEPTION_RETURN, "ERET" },
	{ 14, HWTD_PK_UNKNOWN, "BRANCH_OR_BYPASS_EOT" },
	{ 15, HWTD_PK_CS_IGNORE, "TPIU_PAD_EOB" },
	{ 16, HWTD_PK_UNKNOWN, "BAD_SEQUENCE" },
	{ 17, HWTD_PK_UNKNOWN, "RESERVED" },
};

static const struct named stm[] = {
	{ 0, HWTD_PK_UNSYNCED, "NOTSYNC" },
	{ 1, HWTD_PK_TRUNCATED, "INCOMPLETE_EOT" },
	{ 2, HWTD_PK_UNKNOWN, "NO_ERROR" },
	{ 3, HWTD_PK_CS_ASYNC, "ASYNC" },
	{ 4, HWTD_PK_CS_INFO, "VERSION" },
	{ 5, HWTD_PK_CS_OTHER, "FREQ" },
	{ 6, HWTD_PK_CS_IGNORE, "NULL" },
	{ 7, HWTD_PK_CS_TRIGGER, "TRIG" },
	{ 8, HWTD_PK_CS_OVERFLOW, "GERR" },
	{ 9, HWTD_PK_CS_OVERFLOW, "MERR" },
	{ 10, HWTD_PK_CS_CHANNEL, "M8" },
	{ 11, HWTD_PK_CS_CHANNEL, "C8" },
	{ 12, HWTD_PK_CS_CHANNEL, "C16" },
	{ 13, HWTD_PK_CS_MARKER, "FLAG" },
	{ 14, HWTD_PK_CS_DATA, "D4" },
	{ 15, HWTD_PK_CS_DATA, "D8" },
	{ 16, HWTD_PK_CS_DATA, "D16" },
	{ 17, HWTD_PK_CS_DATA, "D32" },
	{ 18, HWTD_PK_CS_DATA, "D64" },
	{ 19, HWTD_PK_UNKNOWN, "BAD_SEQUENCE" },
	{ 20, HWTD_PK_UNKNOWN, "RESERVED" },
	{ 0x10e, HWTD_PK_CS_DATA, "D4M" },
	{ 0x10f, HWTD_PK_CS_DATA, "D8M" },
	{ 0x110, HWTD_PK_CS_DATA, "D16M" },
	{ 0x111, HWTD_PK_CS_DATA, "D32M" },
	{ 0x112, HWTD_PK_CS_DATA, "D64M" },
	{ 0x205, HWTD_PK_CS_OTHER, "FREQTS" },
	{ 0x206, HWTD_PK_CS_IGNORE, "NULLTS" },
	{ 0x207, HWTD_PK_CS_TRIGGER, "TRIGTS" },
	{ 0x20d, HWTD_PK_CS_MARKER, "FLAGTS" },
	{ 0x20e, HWTD_PK_CS_DATA, "D4TS" },
	{ 0x20f, HWTD_PK_CS_DATA, "D8TS" },
	{ 0x210, HWTD_PK_CS_DATA, "D16TS" },
	{ 0x211, HWTD_PK_CS_DATA, "D32TS" },
	{ 0x212, HWTD_PK_CS_DATA, "D64TS" },
	{ 0x30e, HWTD_PK_CS_DATA, "D4MTS" },
	{ 0x30f, HWTD_PK_CS_DATA, "D8MTS" },
	{ 0x310, HWTD_PK_CS_DATA, "D16MTS" },
	{ 0x311, HWTD_PK_CS_DATA, "D32MTS" },
	{ 0x312, HWTD_PK_CS_DATA, "D64MTS" },
};

static const struct named itm[] = {
	{ HWTDI_ITM_NONE, HWTD_PK_UNSYNCED, "ITM_NOTSYNC" },
	{ HWTDI_ITM_SYNC, HWTD_PK_CS_ASYNC, "ITM_ASYNC" },
	{ HWTDI_ITM_OVERFLOW, HWTD_PK_CS_OVERFLOW, "ITM_OVERFLOW" },
	{ HWTDI_ITM_LOCAL, HWTD_PK_CS_CYCLES, "ITM_TS_LOCAL" },
	{ HWTDI_ITM_GLOBAL_1, HWTD_PK_CS_TIMESTAMP, "ITM_GTS_1" },
	{ HWTDI_ITM_GLOBAL_2, HWTD_PK_CS_TIMESTAMP, "ITM_GTS_2" },
	{ HWTDI_ITM_PAGE, HWTD_PK_CS_CHANNEL, "ITM_EXTENSION" },
	{ HWTDI_ITM_SOFTWARE, HWTD_PK_CS_DATA, "ITM_SWIT" },
	{ HWTDI_ITM_HARDWARE, HWTD_PK_CS_DATA, "ITM_DWT" },
	{ HWTDI_ITM_RESERVED, HWTD_PK_UNKNOWN, "ITM_RESERVED" },
	{ HWTDI_ITM_RESERVED + 1, HWTD_PK_TRUNCATED, "ITM_INCOMPLETE_EOT" },
};

static const struct named sink[] = {
	{ HWTDI_CS_SINK_FRAME, HWTD_PK_CS_FRAME, "FRAME" },
	{ HWTDI_CS_SINK_BARRIER, HWTD_PK_CS_FRAME, "BARRIER" },
	{ HWTDI_CS_SINK_SYNC, HWTD_PK_CS_FRAME, "FSYNC" },
	{ HWTDI_CS_SINK_FOOTER, HWTD_PK_CS_IGNORE, "FOOTER" },
};

/* clang-format off */
#define TABLE(names) { names, sizeof(names) / sizeof((names)[0]) }
/* clang-format on */

static const struct {
	const struct named *names;
	size_t n;
} tables[HWTDI_CS_SINK + 1] = {
	[HWTD_CS_ETMV3] = TABLE(etmv3),
	[HWTD_CS_PTM] = TABLE(ptm),
	[HWTD_CS_ETMV4] = TABLE(etmv4),
	[HWTD_CS_STM] = TABLE(stm),
	[HWTD_CS_ITM] = TABLE(itm),
	[HWTDI_CS_SINK] = TABLE(sink),
};

/* Tables are sorted by number. */
static const struct named *
find(uint32_t code)
{
	const uint32_t protocol = code >> 16;
	size_t low = 0, high;

	if (protocol > HWTDI_CS_SINK)
		return (NULL);
	high = tables[protocol].n;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		const struct named *named = &tables[protocol].names[middle];

		if (named->number == (code & 0xffff))
			return (named);
		if (named->number < (code & 0xffff))
			low = middle + 1;
		else
			high = middle;
	}
	return (NULL);
}

uint16_t
hwtdi_cs_packet_kind(uint32_t code)
{
	const struct named *named = find(code);

	return (named != NULL ? named->kind : HWTD_PK_UNKNOWN);
}

const char *
hwtdi_cs_packet_name(uint32_t code)
{
	const struct named *named = find(code);

	return (named != NULL ? named->name : NULL);
}

const char *
hwtd_packet_code_name(uint32_t code)
{
	return (hwtdi_cs_packet_name(code));
}
