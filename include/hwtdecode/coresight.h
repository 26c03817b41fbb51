/*
 * How CoreSight streams were recorded: protocol, registers, trace sinks.
 */
#ifndef HWTDECODE_CORESIGHT_H
#define HWTDECODE_CORESIGHT_H

#ifndef HWTD_CDEF
#include <hwtdecode/error.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

/** What writes a stream.  Numbers are pinned for ever. */
enum hwtd_cs_protocol {
	HWTD_CS_UNKNOWN = 0,
	HWTD_CS_ETMV3 = 1,
	/** PFT, of PTM macrocells. */
	HWTD_CS_PTM = 2,
	HWTD_CS_ETMV4 = 3,
	HWTD_CS_ETE = 4,
	HWTD_CS_STM = 5,
	HWTD_CS_ITM = 6
};

/** Architecture of the processor that is traced. */
enum hwtd_arm_arch {
	/** As new as it can be with the protocol. */
	HWTD_ARM_ARCH_UNKNOWN = 0,
	HWTD_ARM_ARCH_V7 = 1,
	/** Armv8.0 to Armv8.2. */
	HWTD_ARM_ARCH_V8 = 2,
	/** Armv8.3 and newer. */
	HWTD_ARM_ARCH_V8_3 = 3
};

enum hwtd_arm_profile {
	/** Application. */
	HWTD_ARM_PROFILE_UNKNOWN = 0,
	HWTD_ARM_PROFILE_A = 1,
	HWTD_ARM_PROFILE_R = 2,
	HWTD_ARM_PROFILE_M = 3
};

/**
 * For which sources a configuration is, where raw bytes are opened: many are
 * often configured alike.
 */
enum hwtd_cs_ids {
	/** For that of `trace_id`. */
	HWTD_CS_IDS_ONE = 0,
	/** For each ID that the frames have bytes of, and no other names. */
	HWTD_CS_IDS_OTHERS = 1,
	/**
	 * The same, and ID n is that of CPU n - 1: as hwt(4) gives them where it
	 * traces CPUs.
	 */
	HWTD_CS_IDS_CPUS = 2
};

/** How bytes of trace sources lie in a stream. */
enum hwtd_framing {
	/** They are those of one source. */
	HWTD_FRAMING_NONE = 0,
	/** Formatter frames of 16 bytes, as an ETR, ETB or TRBE writes them. */
	HWTD_FRAMING_MEMORY = 1,
	/** Frames with FSYNC and HSYNC packets: the output of a TPIU. */
	HWTD_FRAMING_TPIU = 2,
	/** The same as a DSTREAM keeps it: 504 of each 512 bytes are trace. */
	HWTD_FRAMING_DSTREAM = 3
};

/** Registers TRCIDR0 to TRCIDR13. */
#define HWTD_CS_IDRS 14

/**
 * Registers of a trace source as they were when it recorded.  Those that a
 * protocol does not have are not used; 0: not known.
 */
struct hwtd_coresight_config {
	/** sizeof(struct hwtd_coresight_config). */
	size_t size;
	/** An hwtd_cs_protocol. */
	uint32_t protocol;
	/** An hwtd_arm_arch. */
	uint32_t arch;
	/** An hwtd_arm_profile. */
	uint32_t profile;
	/** CoreSight trace ID: 1 to 0x6f; 0: not known, or see `ids`. */
	uint32_t trace_id;
	/** ETMv4, ETE: TRCCONFIGR. */
	uint32_t configr;
	/** ETE: TRCDEVARCH. */
	uint32_t devarch;
	/** ETMv4, ETE: TRCIDR0 to TRCIDR13; 3 to 7 are not used. */
	uint32_t idr[HWTD_CS_IDRS];
	/** ETMv3, PTM. */
	uint32_t etmcr;
	uint32_t etmidr;
	uint32_t etmccer;
	/** STM. */
	uint32_t stmtcsr;
	uint32_t stmfeat1r;
	uint32_t stmfeat3r;
	uint32_t stmdevid;
	uint32_t stmhemastr;
	/** ITM. */
	uint32_t itmtcr;
	/** An hwtd_cs_ids. */
	uint32_t ids;
};

/** Number of trace IDs; IDs lie in [0, HWTD_CS_TRACE_IDS). */
#define HWTD_CS_TRACE_IDS 128
/** Those of trace sources; 0 fills frames up. */
#define HWTD_CS_FIRST_ID 1
#define HWTD_CS_LAST_ID 0x6f

/** What the bytes of a sink with frames are; all of them are counted. */
struct hwtd_sink_info {
	size_t size;
	/** An hwtd_framing. */
	uint32_t framing;
	uint32_t reserved;
	uint64_t n_frames;
	/** IDs and flags in frames. */
	uint64_t overhead_bytes;
	/** FSYNC, HSYNC and barriers. */
	uint64_t sync_bytes;
	/** Of DSTREAM blocks. */
	uint64_t footer_bytes;
	/** Barriers: what comes behind does not adjoin. */
	uint64_t n_barriers;
	/** Bytes that are in no frame, or could not be read. */
	uint64_t lost_bytes;
	/** In frames, before the first ID. */
	uint64_t untold_bytes;
	/**
	 * Offset of the oldest frame, where memory was found to be that of a ring,
	 * copied as it lay there; frames are read from there on, up to the end
	 * and then from the start.  0: it was not.
	 */
	uint64_t turned_off;
	/** By trace ID; those of 0 fill frames up. */
	uint64_t id_bytes[HWTD_CS_TRACE_IDS];
};

/**
 * Short stable names of a protocol ("etmv4"), an architecture ("v8"), a profile
 * ("A"), and a framing ("memory").
 *
 * @return "unknown" out of range, never NULL.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API const char *hwtd_cs_protocol_name(uint32_t protocol);
HWTD_API const char *hwtd_arm_arch_name(uint32_t arch);
HWTD_API const char *hwtd_arm_profile_name(uint32_t profile);
HWTD_API const char *hwtd_framing_name(uint32_t framing);

/**
 * Read a configuration from a text of key=value lines: registers by their
 * names, and protocol, arch, profile and trace_id.  Numbers as in C; from ';'
 * or '#' on a line is a comment.  Other registers of trace sources, and what
 * else a device of a trace-and-debug snapshot says, is passed over.  What is told
 * twice has to be the same.
 *
 * @param[in]  text  Shape [n]; need not be terminated.
 * @param[in]  n     At most 1 MiB.
 * @param[out] out   Its `size` is set by the caller.
 * @param[out] err   Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_LIMIT, or HWTD_E_CORRUPT (a line is
 *         not understood or contradicts another, or none tells the protocol).
 *
 * Source: hwtdecode(1), "CoreSight".
 * Since:  0.1
 */
HWTD_MUST int hwtd_coresight_parse(const char *text, size_t n,
    struct hwtd_coresight_config *out, struct hwtd_error *err);

/**
 * A register that the protocol of a configuration has, and a decoder needs.
 *
 * @param[in]  config     Its `protocol` and registers count.
 * @param[in]  index      From 0.
 * @param[out] name_out   Name of the register in its architecture.
 * @param[out] value_out  Its value; 0 also if it is not known.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID, HWTD_E_TOO_NEW.
 *
 * Lives:  static storage.
 * Since:  0.1
 */
HWTD_API int hwtd_coresight_register(const struct hwtd_coresight_config
					 *config,
    size_t index, const char **name_out, uint32_t *value_out);

/**
 * What looks wrong about a configuration: a register that cannot be as it is, or
 * contradicts another.  Traces are decoded with it all the same.
 *
 * @param[in]  config    Its `protocol` and registers count.
 * @param[in]  index     From 0.
 * @param[out] name_out  Name of the register.
 * @param[out] text_out  What is wrong, for people.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID, HWTD_E_TOO_NEW.
 *
 * Lives:  static storage.
 * Source: Arm ETM architecture specifications (IHI 0014, 0035, 0064), Arm ARM
 *         (ETE), STM (IHI 0054).
 * Since:  0.1
 */
HWTD_API int hwtd_coresight_doubt(const struct hwtd_coresight_config *config,
    size_t index, const char **name_out, const char **text_out);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_CORESIGHT_H */
