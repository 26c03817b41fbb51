/*
 * Samples of Arm SPE: what the hardware recorded of one operation.
 *
 * A sample is the detail of an event of kind HWTD_EV_SAMPLE.  Any subset of its
 * fields can be there, and 0 is a valid value of nearly all of them: `present`
 * says which are.  A field that is not present is 0.
 */
#ifndef HWTDECODE_SAMPLE_H
#define HWTDECODE_SAMPLE_H

#ifndef HWTD_CDEF
#include <hwtdecode/error.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/*
 * Bits of hwtd_sample.present: the record had the packet.
 */
/** `pc`, `pc_el`, `pc_security`. */
#define HWTD_SAMPLE_PC 0x1
/** `target`, `target_el`, `target_security`. */
#define HWTD_SAMPLE_TARGET 0x2
/** `va`, `va_tag`. */
#define HWTD_SAMPLE_VA 0x4
/** `pa`, `pa_tag`, `pa_security`, `pa_checked`. */
#define HWTD_SAMPLE_PA 0x8
/** `prev_target`, `prev_target_el`, `prev_target_security`. */
#define HWTD_SAMPLE_PREV_TARGET 0x10
/** `lat_total`, `lat_issue`, `lat_xlat`. */
#define HWTD_SAMPLE_LAT_TOTAL 0x20
#define HWTD_SAMPLE_LAT_ISSUE 0x40
#define HWTD_SAMPLE_LAT_XLAT 0x80
/** `context_el1`, `context_el2`. */
#define HWTD_SAMPLE_CONTEXT_EL1 0x100
#define HWTD_SAMPLE_CONTEXT_EL2 0x200
/** `op_class`, `op_raw`, `op`, `op_flags`. */
#define HWTD_SAMPLE_OP 0x400
/** `events`, `event_bytes`. */
#define HWTD_SAMPLE_EVENTS 0x800
/** `source`, `source_bytes`.  Without it there is no data source. */
#define HWTD_SAMPLE_SOURCE 0x1000
/** `count`: the record ends with a timestamp. */
#define HWTD_SAMPLE_COUNT 0x2000
/** `vector_bits`: the operation tells the length of its vectors. */
#define HWTD_SAMPLE_VECTOR 0x4000

/*
 * Bits of hwtd_sample.flags: what is wrong with the record.  A sample that has
 * one of the first four belongs in no statistics.
 */
/** Bytes that are no packet, or no end where there must be one. */
#define HWTD_SAMPLEF_DAMAGED 0x1
/**
 * A packet came twice, the last one counts: most often an end was lost, and the
 * fields are those of two records.
 */
#define HWTD_SAMPLEF_DUPLICATE 0x2
/**
 * The buffer ends before the record does; or it begins in the timestamp of this one,
 * of which nothing is known then.
 */
#define HWTD_SAMPLEF_TRUNCATED 0x4
/**
 * The first of a buffer, without a PC or an operation: it may have begun before
 * that.
 */
#define HWTD_SAMPLEF_HEADLESS 0x8
/** More than HWTD_SAMPLE_EXTRAS packets of no field: some are not kept. */
#define HWTD_SAMPLEF_MORE_EXTRAS 0x10
/** A latency is at its limit: it was that, or more. */
#define HWTD_SAMPLEF_TOTAL_SATURATED 0x20
#define HWTD_SAMPLEF_ISSUE_SATURATED 0x40
#define HWTD_SAMPLEF_XLAT_SATURATED 0x80
/**
 * The count of the timestamp is below that of the record before, unless it only
 * began again: see hwtd_clock.wrap_mask.
 */
#define HWTD_SAMPLEF_COUNT_BACK 0x100

/** What ends a record.  Numbers are pinned for ever. */
enum hwtd_sample_end {
	/** Nothing: see HWTD_SAMPLEF_DAMAGED, HWTD_SAMPLEF_TRUNCATED. */
	HWTD_SAMPLE_END_NONE = 0,
	HWTD_SAMPLE_END_END = 1,
	HWTD_SAMPLE_END_TIMESTAMP = 2
};

/** Security state of an address: bits NSE and NS of it. */
enum hwtd_security {
	HWTD_SECURITY_SECURE = 0,
	HWTD_SECURITY_NONSECURE = 1,
	HWTD_SECURITY_ROOT = 2,
	HWTD_SECURITY_REALM = 3
};

/** Class of an operation, as its header says.  Numbers are pinned for ever. */
enum hwtd_op_class {
	HWTD_OP_CLASS_UNKNOWN = 0,
	HWTD_OP_CLASS_OTHER = 1,
	/** Load, store, atomic. */
	HWTD_OP_CLASS_MEMORY = 2,
	/** Branch, exception return. */
	HWTD_OP_CLASS_BRANCH = 3,
	HWTD_OP_CLASS_RESERVED = 4
};

/** What an operation is.  Numbers are pinned for ever. */
enum hwtd_op {
	HWTD_OP_UNKNOWN = 0,
	/** No meaning is known of `op_raw`; the class holds. */
	HWTD_OP_RESERVED = 1,

	/** Scalar, Advanced SIMD, or anything. */
	HWTD_OP_OTHER = 2,
	HWTD_OP_SVE = 3,
	/** `vector_bits` is the size of a tile, or the length of a vector. */
	HWTD_OP_SME = 4,

	/** Memory, and general-purpose registers. */
	HWTD_OP_MEM_GENERAL = 16,
	HWTD_OP_MEM_SIMD_FP = 17,
	/** Registers are not told. */
	HWTD_OP_MEM_UNSPECIFIED = 18,
	/** A system register access that nested virtualization turned. */
	HWTD_OP_MEM_SYSTEM_REGISTER = 19,
	/** Allocation tags. */
	HWTD_OP_MEM_TAG = 20,
	HWTD_OP_MEM_COPY = 21,
	HWTD_OP_MEM_SET = 22,
	/** Atomic, exclusive, acquire, release: see `op_flags`. */
	HWTD_OP_MEM_EXTENDED = 23,
	HWTD_OP_MEM_SVE_SME = 24,
	/** Guarded control stack. */
	HWTD_OP_MEM_GCS = 25,

	HWTD_OP_BRANCH = 32
};

/** Memory: it writes; else it reads. */
#define HWTD_OPF_STORE 0x1
/** Other: a conditional select or compare.  Branch: it has a condition. */
#define HWTD_OPF_CONDITIONAL 0x2
#define HWTD_OPF_FLOATING_POINT 0x4
/** Other: Advanced SIMD. */
#define HWTD_OPF_SIMD 0x8
/** SVE: it has a governing predicate. */
#define HWTD_OPF_PREDICATED 0x10
/** SVE, memory: gather load, scatter store. */
#define HWTD_OPF_GATHER_SCATTER 0x20
/** Memory, extended. */
#define HWTD_OPF_ATOMIC 0x40
#define HWTD_OPF_EXCLUSIVE 0x80
#define HWTD_OPF_ACQUIRE_RELEASE 0x100
/** Guarded control stack: of the common kind. */
#define HWTD_OPF_GCS_COMMON 0x200
/** Branch. */
#define HWTD_OPF_INDIRECT 0x400
#define HWTD_OPF_GCS 0x800
/** Branch: one of them, if the hardware tells which; none: it does not. */
#define HWTD_OPF_LINK 0x1000
#define HWTD_OPF_RETURN 0x2000
#define HWTD_OPF_NO_LINK_RETURN 0x4000

/** Packets of no field that a sample keeps. */
#define HWTD_SAMPLE_EXTRAS 4

/** A packet of a record that has no field of its own. */
struct hwtd_sample_extra {
	/** Little-endian, as it was. */
	uint64_t payload;
	/** Its header; of an extended one the second byte. */
	uint8_t header;
	/** Index of a counter, an address or a context; else 0. */
	uint8_t index;
	/** Bytes of payload: 0, 1, 2, 4 or 8. */
	uint8_t bytes;
	/** 1: nothing is known of the header, the size is by rule. */
	uint8_t is_unknown;
	uint32_t reserved;
};

/**
 * One record.
 *
 * Units:  latencies are in cycles of the core, saturating, see `flags`; counts
 *         are of the generic timer.
 * Source: Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling
 *         Extension Sample Record Specification".
 * Since:  0.1
 */
struct hwtd_sample {
	/** HWTD_SAMPLE_* bits: which fields are known. */
	uint32_t present;
	/** HWTD_SAMPLEF_* bits. */
	uint32_t flags;
	/** Bytes from the start of the raw stream to its first packet. */
	uint64_t stream_off;
	/** Bytes of the stream, with what is damaged in it. */
	uint64_t bytes;
	/** Raw count of the timer when it was recorded. */
	uint64_t count;
	/** Virtual address of the instruction, canonical by bit 55. */
	uint64_t pc;
	/** Where a branch goes, taken or not (then it may be 0). */
	uint64_t target;
	/** Target of the last branch that was taken before. */
	uint64_t prev_target;
	/** Virtual address of the data, canonical by bit 55. */
	uint64_t va;
	/** Physical address of the data, 56 bits. */
	uint64_t pa;
	/** Bits as the hardware gives them; what they mean depends on it. */
	uint64_t events;
	/** Data source; what it means depends on the CPU. */
	uint64_t source;
	/** From dispatch to completion. */
	uint16_t lat_total;
	/** From dispatch to issue. */
	uint16_t lat_issue;
	/** Of the translation of `va`. */
	uint16_t lat_xlat;
	/** Bytes of the packet of `events`, and of `source`: 1, 2, 4 or 8. */
	uint8_t event_bytes;
	uint8_t source_bytes;
	/** CONTEXTIDR_EL1 and CONTEXTIDR_EL2. */
	uint32_t context_el1;
	uint32_t context_el2;
	/** HWTD_OPF_* bits. */
	uint32_t op_flags;
	uint32_t vector_bits;
	/** An hwtd_op_class. */
	uint8_t op_class;
	/** An hwtd_op. */
	uint8_t op;
	/** Payload of the operation packet. */
	uint8_t op_raw;
	/** An hwtd_sample_end. */
	uint8_t end;
	/** Exception levels, 0 to 3, and hwtd_security of addresses. */
	uint8_t pc_el;
	uint8_t pc_security;
	uint8_t target_el;
	uint8_t target_security;
	uint8_t prev_target_el;
	uint8_t prev_target_security;
	/** Top byte of `va` as it was: the logical tag, if there are any. */
	uint8_t va_tag;
	/** Bits 59 to 56: the allocation tag, if the access is checked. */
	uint8_t pa_tag;
	/** An hwtd_security. */
	uint8_t pa_security;
	/** 1: the access is checked against the tag. */
	uint8_t pa_checked;
	/** Entries of `extras` that count. */
	uint8_t n_extras;
	uint8_t reserved;
	struct hwtd_sample_extra extras[HWTD_SAMPLE_EXTRAS];
};

/**
 * Short stable names, for instance "memory", "simd-fp", "realm".
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_op_class_name(uint32_t op_class);
HWTD_API const char *hwtd_op_name(uint32_t op);
HWTD_API const char *hwtd_security_name(uint32_t security);

/**
 * Short stable name of a bit of hwtd_sample.events, for instance "l1d-refill".
 *
 * @param[in] midr     MIDR_EL1 of the CPU; 0: not known.
 * @param[in] version  ID_AA64DFR0_EL1.PMSVer, 1 is version 1.0; 0: not known,
 *                     which names bits as the newest version does.
 * @param[in] bit      0 to 63.
 *
 * @return NULL: no name is known.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_sample_event_name(uint32_t midr, uint32_t version,
    uint32_t bit);

/**
 * Short stable name of hwtd_sample.source, for instance "peer-core".
 *
 * @param[in] midr    MIDR_EL1 of the CPU.
 * @param[in] source  As the sample has it.
 *
 * @return NULL: no name is known.  On stores the source has no meaning for
 *         CPUs of Arm Ltd.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_sample_source_name(uint32_t midr, uint64_t source);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_SAMPLE_H */
