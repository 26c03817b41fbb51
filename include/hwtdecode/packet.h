/*
 * Raw packets of a stream: every byte has a name.
 *
 * Source: Intel SDM vol. 3C, "Packet Definitions", for HWTD_PK_PT_*; Arm IHI
 * 0014, 0035 and 0064, MIPI STPv2 and DDI 0403 for HWTD_PK_CS_*; Arm DDI 0487,
 * "Statistical Profiling Extension Sample Record Specification", for
 * HWTD_PK_SPE_*.
 */
#ifndef HWTDECODE_PACKET_H
#define HWTDECODE_PACKET_H

#ifndef HWTD_CDEF
#include <hwtdecode/trace.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_packets;

/**
 * What a packet is.  Numbers are pinned for ever.  For each kind: what
 * `value` and `count` of hwtd_packet hold; where nothing is said, 0.
 */
enum hwtd_packet_kind {
	/** Bytes that begin no packet. */
	HWTD_PK_UNKNOWN = 0,
	/** Bytes before the first synchronisation. */
	HWTD_PK_UNSYNCED = 1,
	/** A packet whose end is not there. */
	HWTD_PK_TRUNCATED = 2,
	/**
	 * `value` bytes are not there: lost, or the file is damaged; `count` is
	 * why, an hwtd_gap_reason.
	 */
	HWTD_PK_LOST = 3,

	/** A run of padding; `count` of them. */
	HWTD_PK_PT_PAD = 8,
	HWTD_PK_PT_PSB = 9,
	HWTD_PK_PT_PSBEND = 10,
	HWTD_PK_PT_OVF = 11,
	HWTD_PK_PT_STOP = 12,
	/** `count` outcomes; in `value`, 1 taken, the oldest in the top bit. */
	HWTD_PK_PT_TNT_8 = 13,
	HWTD_PK_PT_TNT_64 = 14,
	/**
	 * An address: `value` is the payload, `count` how it is compressed
	 * (IPBytes, 0 to 6), `ip` the whole address.
	 */
	HWTD_PK_PT_TIP = 15,
	HWTD_PK_PT_TIP_PGE = 16,
	HWTD_PK_PT_TIP_PGD = 17,
	HWTD_PK_PT_FUP = 18,
	/** `value`: bit 0 CS.L, bit 1 CS.D, bit 2 RFLAGS.IF. */
	HWTD_PK_PT_MODE_EXEC = 19,
	/** `value`: bit 0 in a transaction, bit 1 it was aborted. */
	HWTD_PK_PT_MODE_TSX = 20,
	/** `value` is CR3; with HWTD_PKF_NON_ROOT of a guest. */
	HWTD_PK_PT_PIP = 21,
	/** `value` is the address of the VMCS. */
	HWTD_PK_PT_VMCS = 22,
	/** `value`: the low 56 bits of the time stamp counter. */
	HWTD_PK_PT_TSC = 23,
	/** `value` is the low 16 bits of the crystal clock, `count` FastCounter. */
	HWTD_PK_PT_TMA = 24,
	/** `value`: 8 bits of the crystal clock from bit MTCFreq on. */
	HWTD_PK_PT_MTC = 25,
	/** `value`: core clocks since the CYC before; no more than UINT64_MAX. */
	HWTD_PK_PT_CYC = 26,
	/** `value`: core clocks per bus clock. */
	HWTD_PK_PT_CBR = 27,
	/** `value` is the payload, which each model has for itself. */
	HWTD_PK_PT_MNT = 28,
	/** `value` is what was written, `count` its bytes. */
	HWTD_PK_PT_PTW = 29,
	HWTD_PK_PT_EXSTOP = 30,
	/** `value` is EAX (hints), `count` ECX (extensions). */
	HWTD_PK_PT_MWAIT = 31,
	/**
	 * `value`: resolved C-state, less 1, and 15 is C0; `count`: sub-state, as
	 * such; see the flags.
	 */
	HWTD_PK_PT_PWRE = 32,
	/** `value`: last C-state, `count`: the deepest, as such; see the flags. */
	HWTD_PK_PT_PWRX = 33,
	/** A block begins: `value` is its type, `count` the bytes of an item. */
	HWTD_PK_PT_BBP = 34,
	/** An item of a block: `value`, and `count` is its id. */
	HWTD_PK_PT_BIP = 35,
	HWTD_PK_PT_BEP = 36,
	/** A control flow event: `count` is its type, `value` its vector, or 0. */
	HWTD_PK_PT_CFE = 37,
	/** Data of an event: `value`, and `count` is its type. */
	HWTD_PK_PT_EVD = 38,
	/** `value`: which triggers, `count`: instructions since; see the flags. */
	HWTD_PK_PT_TRIG = 39,

	/*
	 * CoreSight: what packets of all protocols are about; `code` tells which
	 * one of its protocol it is.
	 */
	/** Alignment synchronisation. */
	HWTD_PK_CS_ASYNC = 40,
	/**
	 * How was traced: `value` is the bits of TRACE_INFO, `count` the threshold
	 * of cycle counts if there are any; or `value` is the version.
	 */
	HWTD_PK_CS_INFO = 41,
	HWTD_PK_CS_TRACE_ON = 42,
	/** `count` outcomes; in `value`, 1 executed, the oldest in the top bit. */
	HWTD_PK_CS_ATOM = 43,
	/**
	 * `ip` is the whole address, if it is known; `count` is the ISA and, with
	 * HWTD_PKF_CONTEXT, all that HWTD_PKC_* say.  `value`: with
	 * HWTD_PKF_EXCEPTION its number, else as of CONTEXT.
	 */
	HWTD_PK_CS_ADDRESS = 44,
	/** `value`: context ID, and VMID from bit 32 on; `count`: HWTD_PKC_*. */
	HWTD_PK_CS_CONTEXT = 45,
	/** Of ETMv3 and PTM: address and context together. */
	HWTD_PK_CS_ISYNC = 46,
	/** `value` is its number. */
	HWTD_PK_CS_EXCEPTION = 47,
	HWTD_PK_CS_EXCEPTION_RETURN = 48,
	/** `stamp` is the timestamp; ITM: `count` bits of it, GTS_2 those from 26. */
	HWTD_PK_CS_TIMESTAMP = 49,
	/**
	 * `value`: cycles, with HWTD_PKF_COUNT; `count`: elements that are
	 * committed, if there are any.
	 */
	HWTD_PK_CS_CYCLES = 50,
	/** `value`: bits of events. */
	HWTD_PK_CS_EVENT = 51,
	/**
	 * Commit, cancel, mispredict: `value` is the elements it is of; `count`
	 * 1: a branch was predicted wrong.
	 */
	HWTD_PK_CS_SPECULATION = 52,
	/** `value`: instructions, with HWTD_PKF_COUNT. */
	HWTD_PK_CS_Q = 53,
	HWTD_PK_CS_OVERFLOW = 54,
	HWTD_PK_CS_DISCARD = 55,
	/** Of memory; `code` says what. */
	HWTD_PK_CS_TRANSACTION = 56,
	/** Of time or data; `value` is its number. */
	HWTD_PK_CS_MARKER = 57,
	/** Whose data follow: `value` is the master, channel or page. */
	HWTD_PK_CS_CHANNEL = 58,
	/** `value` is what was written, `count` its bits, `aux` by whom. */
	HWTD_PK_CS_DATA = 59,
	/** `value` by protocol. */
	HWTD_PK_CS_TRIGGER = 60,
	/** Nothing. */
	HWTD_PK_CS_IGNORE = 61,
	/** Any other. */
	HWTD_PK_CS_OTHER = 62,
	/** Of what a sink wrote: a frame, a barrier, synchronisation. */
	HWTD_PK_CS_FRAME = 63,

	/*
	 * Arm SPE.  `value` is the payload as it was, `aux` the header, the second
	 * byte where there are two, and the index of what has one is in `count`.
	 */
	/** A run of padding; `count` of them. */
	HWTD_PK_SPE_PAD = 64,
	/** A record ends; with a timestamp it ends as well. */
	HWTD_PK_SPE_END = 65,
	/** Up to a multiple of bytes of the buffer. */
	HWTD_PK_SPE_ALIGNMENT = 66,
	/** Addresses: `ip` is the canonical address. */
	HWTD_PK_SPE_PC = 67,
	HWTD_PK_SPE_TARGET = 68,
	HWTD_PK_SPE_VA = 69,
	/** A physical address: there is no `ip`. */
	HWTD_PK_SPE_PA = 70,
	HWTD_PK_SPE_PREV_TARGET = 71,
	/** Of an index that nothing is known of. */
	HWTD_PK_SPE_ADDRESS = 72,
	/** Latencies in cycles. */
	HWTD_PK_SPE_TOTAL = 73,
	HWTD_PK_SPE_ISSUE = 74,
	HWTD_PK_SPE_XLAT = 75,
	/** A counter of an index that nothing is known of. */
	HWTD_PK_SPE_COUNTER = 76,
	/** CONTEXTIDR of EL `count` + 1. */
	HWTD_PK_SPE_CONTEXT = 77,
	/** `stamp` is the count of the generic timer. */
	HWTD_PK_SPE_TIMESTAMP = 78,
	/** `stamp` is MIDR_EL1 of the stream, `count` its PMSVer; 0: unknown. */
	HWTD_PK_SPE_EVENTS = 79,
	/** Data source: `stamp` as above. */
	HWTD_PK_SPE_SOURCE = 80,
	/** `count` is the class. */
	HWTD_PK_SPE_OPERATION = 81,
	/** A header that nothing is known of, with the bytes that its size says. */
	HWTD_PK_SPE_UNKNOWN = 82
};

/** Number of kinds; kinds lie in [0, HWTD_PACKET_KINDS). */
#define HWTD_PACKET_KINDS 83

/** `time_ns` is known. */
#define HWTD_PKF_TIME 0x0001
/** `ip` is known. */
#define HWTD_PKF_IP 0x0002
/** `time_ns` was not told at this packet: it lies between two that were. */
#define HWTD_PKF_TIME_ESTIMATED 0x0004
/** Inside PSB+: from PSB to PSBEND. */
#define HWTD_PKF_STATUS 0x0008
/** A FUP packet with the address follows (PTW, EXSTOP, BEP, CFE, TRIG). */
#define HWTD_PKF_FUP_FOLLOWS 0x0010
/** PIP: of a guest.  PWRE: entered by hardware. */
#define HWTD_PKF_NON_ROOT 0x0020
#define HWTD_PKF_HARDWARE 0x0020
/** PWRX: what woke the core. */
#define HWTD_PKF_WAKE_INTERRUPT 0x0100
#define HWTD_PKF_WAKE_STORE 0x0200
#define HWTD_PKF_WAKE_AUTONOMOUS 0x0400
/** TRIG: more than one at a time; `count` is known. */
#define HWTD_PKF_TRIG_MULTIPLE 0x0100
#define HWTD_PKF_TRIG_COUNT 0x0200
/**
 * Where packets begin was guessed: after unknown bytes, up to a PSB; of SPE up to
 * the end of the record.
 */
#define HWTD_PKF_GUESSED 0x1000
/** A reserved bit is set that should not be. */
#define HWTD_PKF_RESERVED 0x2000

/** CoreSight: `count` tells a context; `aux` cycles; `stamp` a timestamp. */
#define HWTD_PKF_CONTEXT 0x0100
#define HWTD_PKF_CYCLES 0x0200
#define HWTD_PKF_STAMP 0x0400
/** CoreSight: `value` of an address is the number of an exception. */
#define HWTD_PKF_EXCEPTION 0x0008
/** CoreSight, CYCLES and Q: `value` is known. */
#define HWTD_PKF_COUNT 0x0010
/** STM: its first half byte is in the byte before `stream_off`. */
#define HWTD_PKF_HALF 0x0020
/** `sink_off` is known. */
#define HWTD_PKF_SINK 0x0800

/** Bits of `count`: exception level, security and more of a context. */
#define HWTD_PKC_LEVEL 0x00000003
/** 0 secure, 1 non-secure, 2 root, 3 realm. */
#define HWTD_PKC_SECURITY 0x0000000c
#define HWTD_PKC_SECURITY_SHIFT 2
#define HWTD_PKC_64_BIT 0x00000010
/** ETMv3, PTM: in Hyp mode. */
#define HWTD_PKC_HYP 0x00000020
/** `value` has a context ID; a VMID. */
#define HWTD_PKC_CONTEXT_ID 0x00000100
#define HWTD_PKC_VMID 0x00000200
/** An hwtd_isa; 0: not known. */
#define HWTD_PKC_ISA 0x000f0000
#define HWTD_PKC_ISA_SHIFT 16
/** ISYNC: why; 0 periodic, 1 trace on, 2 overflow, 3 debug. */
#define HWTD_PKC_REASON 0x0f000000
#define HWTD_PKC_REASON_SHIFT 24

/** One packet.  Plain data, without pointers; grows only at its end. */
struct hwtd_packet {
	/** Bytes from the start of the raw stream. */
	uint64_t stream_off;
	/** By kind. */
	uint64_t value;
	/** The address with all its bits. */
	uint64_t ip;
	/** ns on the clock of the trace. */
	uint64_t time_ns;
	/**
	 * `time_ns` is not off by more than this, in ns; UINT64_MAX: nobody
	 * knows.  It is relied upon that the description of the stream is
	 * right, and that less than 256 MTC in a row are missing without an OVF
	 * or a TSC that tells it.
	 */
	uint64_t time_error_ns;
	uint32_t stream;
	/** Bytes of the packet, or of the run. */
	uint32_t bytes;
	/** By kind. */
	uint32_t count;
	/** An hwtd_packet_kind. */
	uint16_t kind;
	/** HWTD_PKF_* bits. */
	uint16_t flags;
	/**
	 * With HWTD_PKF_SINK: where it begins in what the sink wrote, in the
	 * frame with its first byte.  Bytes of a source are counted from the
	 * trace ID before them, as OpenCSD does, so that it is one or more
	 * bytes before where an ID stands in the frame.
	 */
	uint64_t sink_off;
	/** With HWTD_PKF_STAMP: a raw timestamp.  SPE: by kind. */
	uint64_t stamp;
	/** CoreSight: which packet of its protocol; 0: none has that name. */
	uint32_t code;
	/**
	 * With HWTD_PKF_CYCLES: cycles.  DATA: of ITM port or discriminator; of
	 * STM master, and channel from bit 16 on; of ETE the exception level.
	 * SPE: the header.
	 */
	uint32_t aux;
};

/**
 * Short stable name of a kind, for instance "tip.pge"; "unknown".
 *
 * Since:  0.1
 */
HWTD_API const char *hwtd_packet_kind_name(uint32_t kind);

/**
 * The name of a packet in its protocol, for instance "I_ATOM_F6": those that
 * listings of OpenCSD have.  NULL: there is none.
 *
 * @param[in] code  Of hwtd_packet.
 *
 * Lives:  for ever.
 * Since:  0.1
 */
HWTD_API const char *hwtd_packet_code_name(uint32_t code);

/**
 * The fields of a packet in words, without name, offset and time; none for NULL.
 *
 * @param[in]  packet  NULL: no fields.
 * @param[out] buf     At most `n` bytes, with a NUL.
 * @param[in]  n       Bytes of `buf`; 0: it is not written.
 *
 * @return Bytes that the text has without its NUL, as snprintf(3).
 * Since:  0.1
 */
HWTD_API size_t hwtd_packet_text(const struct hwtd_packet *packet, char *buf,
    size_t n);

/** Begin at `first` itself, not at the first synchronisation behind it. */
#define HWTD_PACKETS_NO_SYNC 0x1
/**
 * Tell times, if the stream has a clock.  That costs more looks at each part of
 * the stream.  A time depends on the segment of its packet and on the PSB behind
 * alone, so it is the same wherever reading began.  It goes back only where that
 * of the trace does, or from one segment to the next by no more than the errors
 * of both.  TSC packets have 56 bits; the others are those of the count that is
 * nearest to the base of the clock.
 */
#define HWTD_PACKETS_TIME 0x2
/** Tell where packets lie in what the sink of the stream wrote, if it has one. */
#define HWTD_PACKETS_SINK 0x4
/**
 * SPE: rows are the lines of a listing of perf.  A header that nothing is known of
 * is one byte of HWTD_PK_UNKNOWN, as is each byte of a packet that is cut off; up
 * to 16 bytes of padding are one row, together with an alignment before them.
 */
#define HWTD_PACKETS_PERF_LINES 0x8

/** All zero but `size`: all packets of stream 0. */
struct hwtd_packets_options {
	/** sizeof(struct hwtd_packets_options). */
	size_t size;
	/** Stream id. */
	uint32_t stream;
	/** HWTD_PACKETS_* bits. */
	uint32_t flags;
	/** What begins in [first, end), in bytes.  `end` 0: all. */
	uint64_t first;
	uint64_t end;
	/**
	 * Bit (1 << kind) for each kind below 64 that is wanted; those of no kind
	 * mean nothing.  0, and the same of those from 64 on: all.  A call comes
	 * back when it has one, for a rare kind maybe only at the end.
	 */
	uint64_t kinds;
	/** Bit (1 << (kind - 64)) for each kind from 64 on that is wanted. */
	uint64_t kinds_from_64;
};

/** Packets that were read.  Borrowed until the next call on `packets`. */
struct hwtd_packet_batch {
	size_t size;
	const struct hwtd_packet *packets;
	/** Bytes from one packet to the next. */
	size_t stride;
	size_t n;
};

/** Counts since opening. */
struct hwtd_packets_stats {
	size_t size;
	/** Bytes that were given: those of packets, and all others. */
	uint64_t bytes;
	uint64_t bytes_named;
	uint64_t bytes_unknown;
	/** Bytes that were not given, because they are not there. */
	uint64_t bytes_lost;
};

/**
 * Open the packets of a stream.
 *
 * @param[in]  trace        Sealed.
 * @param[in]  opts         NULL: all packets of stream 0.  An empty range, or one
 *                          behind the stream, has no packets.
 * @param[out] packets_out  Not changed on failure.
 * @param[out] err          What failed, if it did.
 *
 * @return HWTD_OK; HWTD_E_NOT_FOUND (no such stream); HWTD_E_UNSUPPORTED (its
 *         technology); HWTD_E_INVALID (also: flags that are not known);
 *         HWTD_E_TOO_NEW (options); HWTD_E_STATE (not sealed); HWTD_E_IO;
 *         HWTD_E_NOMEM.
 *
 * Lives:  owned; close with hwtd_packets_close().  Keeps the trace alive.
 * Since:  0.1
 */
HWTD_MUST int hwtd_packets_open(struct hwtd_trace *trace,
    const struct hwtd_packets_options *opts, struct hwtd_packets **packets_out,
    struct hwtd_error *err);

/**
 * The next packets, in order.  After a failure a call goes on where it stood.
 * One thread at a time.
 *
 * @param[in]  packets  Of one stream.
 * @param[out] batch    `size` set by the caller; all else is filled on success.
 * @param[out] err      What failed, if it did.
 *
 * @return HWTD_OK (at least one), HWTD_END, HWTD_E_INVALID, HWTD_E_IO,
 *         HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_API int hwtd_packets_read(struct hwtd_packets *packets,
    struct hwtd_packet_batch *batch, struct hwtd_error *err);

/**
 * Functions that are called with packets; other than 0 stops: return more than 1,
 * which no code of the library is.  The most frequent packets have functions that
 * need no struct, and so have no time; where one is NULL, they go to `packet`,
 * and where that is NULL, nowhere.
 */
struct hwtd_packet_visitor {
	/** sizeof(struct hwtd_packet_visitor). */
	size_t size;
	/** TNT: `n` outcomes, 1 taken, the oldest in the top bit. */
	int (*tnt)(void *arg, uint64_t stream_off, uint64_t outcomes,
	    uint32_t n);
	/**
	 * TIP, TIP.PGE, TIP.PGD, FUP: the whole address; `known` 0: there is
	 * none, or not all of it is known.
	 */
	int (*ip)(void *arg, uint64_t stream_off, uint32_t kind, uint64_t ip,
	    int known);
	/** CYC. */
	int (*cyc)(void *arg, uint64_t stream_off, uint64_t cycles);
	/** All others, and all of CoreSight and SPE.  Borrowed during the call. */
	int (*packet)(void *arg, const struct hwtd_packet *packet);
	/**
	 * SPE: a packet of which nothing else is to be told.  `header` is its first
	 * byte, `value` as in hwtd_packet, of padding how many bytes it has.
	 */
	int (*payload)(void *arg, uint64_t stream_off, uint32_t kind,
	    uint32_t header, uint64_t value);
};

/**
 * Visit the packets that are left, without an array of them.
 *
 * @return HWTD_END after the last; what a function returned; or as above.
 * Since:  0.1
 */
HWTD_API int hwtd_packets_visit(struct hwtd_packets *packets,
    const struct hwtd_packet_visitor *visitor, void *arg,
    struct hwtd_error *err);

/**
 * What was read so far.
 *
 * @return HWTD_OK or HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_packets_stats(const struct hwtd_packets *packets,
    struct hwtd_packets_stats *out);

/**
 * Close.
 *
 * @param[in] packets  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_packets_close(struct hwtd_packets *packets);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_PACKET_H */
