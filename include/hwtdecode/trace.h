/*
 * Traces: streams of raw bytes, records, images and metadata; opened from a
 * file or built in memory.
 *
 * A trace is built, sealed and from then on immutable and shareable between
 * threads.  hwtd_trace_open() returns a sealed trace.
 */
#ifndef HWTDECODE_TRACE_H
#define HWTDECODE_TRACE_H

#ifndef HWTD_CDEF
#include <hwtdecode/coresight.h>
#include <hwtdecode/spe.h>
#include <hwtdecode/image.h>
#ifdef __cplusplus
extern "C" {
#endif
#endif

struct hwtd_trace;

/** Technologies of a stream.  Numbers are pinned for ever. */
enum hwtd_tech {
	HWTD_TECH_UNKNOWN = 0,
	HWTD_TECH_INTEL_PT = 1,
	HWTD_TECH_CORESIGHT = 2,
	HWTD_TECH_SPE = 3
};

#define HWTD_PT_MAX_FILTERS 4

/** Address filters of Intel PT (IA32_RTIT_CTL.ADDRn_CFG). */
enum hwtd_pt_filter_mode {
	HWTD_PT_FILTER_OFF = 0,
	/** Trace only inside [start, end]. */
	HWTD_PT_FILTER_TRACE = 1,
	/** Stop tracing when [start, end] is entered. */
	HWTD_PT_FILTER_STOP = 2
};

struct hwtd_pt_filter {
	/** An hwtd_pt_filter_mode. */
	uint32_t mode;
	uint32_t reserved;
	/** IA32_RTIT_ADDRn_A: first address. */
	uint64_t start;
	/** IA32_RTIT_ADDRn_B: last address. */
	uint64_t end;
};

/** How an Intel PT stream was recorded.  All zero: unknown. */
struct hwtd_pt_config {
	/** sizeof(struct hwtd_pt_config). */
	size_t size;
	/** CPU signature; family 0: unknown, treated as the newest. */
	uint16_t cpu_family;
	uint8_t cpu_model;
	uint8_t cpu_stepping;
	/** IA32_RTIT_CTL.MTCFreq: MTC every 2^mtc_freq ticks; to 15. */
	uint8_t mtc_freq;
	/** MSR_PLATFORM_INFO[15:8]: nominal ratio; 0: unknown. */
	uint8_t nom_freq;
	uint16_t reserved;
	/** CPUID leaf 15h: TSC ticks = crystal ticks * ebx / eax. */
	uint32_t cpuid_15h_eax;
	uint32_t cpuid_15h_ebx;
	struct hwtd_pt_filter filters[HWTD_PT_MAX_FILTERS];
};

/**
 * The clock of a stream: how raw counts become ns on the clock of the trace.
 * ns = base_ns + (count - base_count) * ns_per / counts_per.
 * What lies outside of 0 to UINT64_MAX is told as the nearer of the two.
 * Counts of a counter that is shorter than 64 bits begin again at 0: there
 * wrap_base + ((count - wrap_base) & wrap_mask) stands for a count.
 */
struct hwtd_clock {
	/** Counts in `ns_per` ns; 0: the stream has no clock. */
	uint64_t counts_per;
	uint64_t ns_per;
	uint64_t base_count;
	/** From 2^63 on: a time before 0, less 2^64. */
	uint64_t base_ns;
	/** A whole count that none in the stream is before. */
	uint64_t wrap_base;
	/** The bits that a raw count has; 0: all. */
	uint64_t wrap_mask;
};

/** A stream to add, or one that is there. */
struct hwtd_stream_desc {
	/** sizeof(struct hwtd_stream_desc). */
	size_t size;
	/** An hwtd_tech. */
	uint32_t tech;
	/** CPU, or HWTD_NO_ID. */
	uint32_t cpu;
	/** Process and thread that the stream belongs to, or HWTD_NO_ID. */
	uint32_t pid;
	uint32_t tid;
	/** HWTD_STREAMF_* bits. */
	uint32_t flags;
	uint32_t reserved;
	/** Name for messages; NULL: "stream N".  Copied. */
	const char *name;
	/** Configuration of an Intel PT stream; NULL: unknown.  Copied. */
	const struct hwtd_pt_config *pt;
	/** All zero: derived from the configuration where it can be. */
	struct hwtd_clock clock;
	/** Set by the library: bytes in the stream. */
	uint64_t n_bytes;
	/** Configuration of a CoreSight source; NULL: unknown.  Copied. */
	const struct hwtd_coresight_config *coresight;
	/**
	 * An hwtd_framing.  Not NONE: the stream is what a trace sink wrote
	 * for many sources.  Its bytes are decoded as those of the streams that
	 * name it in `sink_plus_1`.
	 */
	uint32_t framing;
	/**
	 * The bytes are those of `coresight->trace_id` in that sink, an
	 * earlier stream of the trace, and are there when it is sealed; none
	 * can be added.  0: the stream has its own.
	 */
	uint32_t sink_plus_1;
	/** Configuration of an Arm SPE stream; NULL: unknown.  Copied. */
	const struct hwtd_spe_config *spe;
};

/** `clock` was derived from the nominal frequency, not told. */
#define HWTD_STREAMF_CLOCK_DERIVED 0x1

/** A run of bytes that adjoin.  Bytes never join across extents. */
struct hwtd_extent {
	size_t size;
	/** [start, end) in the stream. */
	uint64_t start;
	uint64_t end;
	/** Why it starts here: an hwtd_extent_start. */
	uint32_t why;
	uint32_t reserved;
};

enum hwtd_extent_start {
	/** The first bytes, or the collector started a new buffer. */
	HWTD_EXTENT_NEW = 0,
	/** The collector lost bytes before it. */
	HWTD_EXTENT_AFTER_LOSS = 1,
	/** The bytes before it are in the stream, but their chunk is damaged. */
	HWTD_EXTENT_AFTER_DAMAGE = 2
};

/** A buffer of raw bytes of a file, which goes on up to the next one. */
struct hwtd_buffer {
	/** Its first byte in the file; more than that of the one before. */
	uint64_t off;
	/**
	 * Which stream it is of: 0, and then at most one more than there were
	 * before it.
	 */
	uint32_t source;
	/** CPU of the source, as its first buffer says; HWTD_NO_ID: as opened. */
	uint32_t cpu;
};

/** Who executes; rows carry its id.  Unknown ids are HWTD_NO_ID. */
struct hwtd_exec_context {
	size_t size;
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	/** HWTD_CTXF_* bits: which fields below are known. */
	uint32_t flags;
	/** Page table base (x86 CR3) without its low 5 bits. */
	uint64_t cr3;
	/** VMCS base address. */
	uint64_t vmcs;
	/** Arm CONTEXTIDR and VMID. */
	uint64_t contextidr;
	uint64_t vmid;
	/** Exception level (Arm) or privilege ring (x86). */
	uint8_t level;
	/** Security state: 0 secure, 1 non-secure, 2 root, 3 realm. */
	uint8_t security;
	uint16_t reserved;
	/** Process epoch: 0 before the first exec. */
	uint32_t epoch;
};

#define HWTD_CTXF_CR3 0x01
#define HWTD_CTXF_VMCS 0x02
#define HWTD_CTXF_CONTEXTIDR 0x04
#define HWTD_CTXF_VMID 0x08
#define HWTD_CTXF_LEVEL 0x10
#define HWTD_CTXF_SECURITY 0x20
/** Runs as a guest (VMX non-root). */
#define HWTD_CTXF_GUEST 0x40

/** A damaged or missing part of a trace file. */
struct hwtd_damage {
	size_t size;
	/** Bytes of the file, [file_off, file_off + file_bytes). */
	uint64_t file_off;
	uint64_t file_bytes;
	/** Stream whose bytes are missing, or HWTD_NO_ID when not known. */
	uint32_t stream;
	/** HWTD_DAMAGEF_* bits. */
	uint32_t flags;
	/** Bytes of that stream, [first, end). */
	uint64_t first;
	uint64_t end;
	/** What is wrong; one line, lower case. */
	char text[96];
};

/**
 * The file is not this one but an earlier one, in which the damage was found:
 * the trace was read from it, and saved.
 */
#define HWTD_DAMAGEF_EARLIER_FILE 0x1
/** The last one: it says that there are more, which are not listed. */
#define HWTD_DAMAGEF_MORE 0x2

/** Counts of a trace. */
struct hwtd_trace_info {
	size_t size;
	uint32_t n_streams;
	uint32_t n_sections;
	/** Images that were added, then one for each file that records name. */
	uint32_t n_images;
	/** Damaged places known without reading payloads. */
	uint32_t n_damages;
	uint64_t n_records;
	/** Those of sinks once, not of their sources again. */
	uint64_t n_bytes;
	/** Format it was read from, for instance "hwt", "raw", "memory". */
	const char *format;
	/** Free text about the origin: tool and version; or "". */
	const char *origin;
	/** ABI of the traced programs, model of the CPU in words; or "". */
	const char *abi;
	const char *cpu_model;
	/** What time_ns counts, for instance "CLOCK_MONOTONIC"; or "". */
	const char *clock;
	/**
	 * How it was recorded, as far as no stream tells it: lines "what=value", see
	 * hwtdecode-record(1); or "".
	 */
	const char *capture;
};

/** Options of a trace built in memory.  All zero means defaults. */
struct hwtd_trace_options {
	/** sizeof(struct hwtd_trace_options). */
	size_t size;
	/** Free text about the origin: tool and version.  Copied.  NULL: "". */
	const char *origin;
	/** Where images of records are looked for.  Copied.  NULL: defaults. */
	const struct hwtd_search *search;
};

/**
 * A file of records as Linux writes them into the ring buffer of a perf event, one
 * after the other and nothing else: mappings, switches and so on, beside raw bytes.
 *
 * Source: perf_event_open(2), "PERF_RECORD_*".
 */
struct hwtd_perf_records {
	/** sizeof(struct hwtd_perf_records). */
	size_t size;
	const char *path;
	/**
	 * perf_event_attr.sample_type, where sample_id_all was set: what each record
	 * ends with.  0: with nothing.
	 */
	uint64_t sample_type;
	/** CPU of records that do not tell theirs, plus 1; 0: not known. */
	uint32_t cpu_plus_1;
	/** Not 0: recorded by a machine whose numbers begin with the high byte. */
	uint32_t big_endian;
};

/** Options for opening.  All zero means defaults. */
struct hwtd_open_options {
	/** sizeof(struct hwtd_open_options). */
	size_t size;
	/** For raw bytes: an hwtd_tech.  0: recognised by content. */
	uint32_t tech;
	/** For raw bytes: CPU, process and thread, each plus 1; 0: unknown. */
	uint32_t cpu_plus_1;
	uint32_t pid_plus_1;
	uint32_t tid_plus_1;
	/** For raw bytes and files that lack it.  NULL: unknown. */
	const struct hwtd_pt_config *pt;
	/** For raw bytes and files that lack it.  All zero: derived. */
	struct hwtd_clock clock;
	/** Images to add before the trace is sealed. */
	const struct hwtd_image_desc *images;
	size_t n_images;
	/** Leave the trace unsealed, so that more can be added. */
	uint32_t unsealed;
	uint32_t reserved;
	/** Where images of records are looked for.  NULL: defaults. */
	const struct hwtd_search *search;
	/**
	 * For raw bytes of HWTD_TECH_CORESIGHT: shape [n_coresight], the sources
	 * that wrote them; without frames one at most.  One may be for many,
	 * see its `ids`.
	 */
	const struct hwtd_coresight_config *coresight;
	size_t n_coresight;
	/** For the same: an hwtd_framing. */
	uint32_t framing;
	uint32_t reserved2;
	/**
	 * For raw bytes: shape [n_buffers], the buffers that the file is made of,
	 * the first at 0.  Each is an extent: bytes never join across them.  NULL:
	 * one.
	 */
	const struct hwtd_buffer *buffers;
	size_t n_buffers;
	/**
	 * For raw bytes of HWTD_TECH_SPE and files that lack it.  NULL: unknown.
	 */
	const struct hwtd_spe_config *spe;
	/**
	 * Not 0: only what lies beside the bytes of trace is wanted, and of a
	 * perf.data these are not read.  Its CoreSight sinks have no sources then,
	 * since only the bytes tell which there are, and snapshots have what came
	 * before again: such a trace is not for decoding, and cannot be saved.
	 */
	uint32_t sideband_only;
	uint32_t reserved3;
	/** For raw bytes: shape [n_perf_records], what was recorded beside them. */
	const struct hwtd_perf_records *perf_records;
	size_t n_perf_records;
	/**
	 * For raw bytes: a text that says what lay where, as hwtdecode(1) describes
	 * it.  NULL: none.  What it does not understand is HWTD_E_CORRUPT.
	 */
	const char *map_file;
	/**
	 * For raw bytes: how hwt(4) counts their thread, plus 1; its id is that of
	 * `map_file`, else this number.  0: unknown.
	 */
	uint32_t thread_plus_1;
	uint32_t reserved4;
};

/** Options for saving.  All zero means defaults. */
struct hwtd_save_options {
	/** sizeof(struct hwtd_save_options). */
	size_t size;
	/** zstd level; 0: 3; negative: store without compression. */
	int32_t level;
	uint32_t flags;
	/** Raw bytes of a stream in one chunk.  0: 1 MiB; at most 16 MiB. */
	uint32_t chunk_bytes;
	uint32_t reserved;
};

/** Write the bytes of all images into the file. */
#define HWTD_SAVE_IMAGES 0x1

/**
 * Write bytes of any file that the trace names.  A trace can name every file
 * of this machine, and who gets the saved trace gets these bytes.  Without this
 * flag files that are no ELF program, library or object are left out, with a
 * warning in the log, and a bundle is not saved whose streams or records are
 * in files outside of its own folder.
 */
#define HWTD_SAVE_ANY_FILE 0x2

/**
 * Open a trace file; the format is recognised by content.
 *
 * A trace-and-debug snapshot is named by its folder or by the file snapshot.ini
 * in it.  Its memory dumps hold everywhere, those of EL2 for hypervisors only:
 * other exception levels and security states are not told apart, and of dumps
 * that overlap the later one is seen.
 *
 * A text in which perf lists Arm SPE (perf report -D, also an excerpt of it in a
 * mail) has a stream for each CPU or thread, and an extent for each buffer.  What
 * the text leaves out is damage.
 *
 * A recording of bsdtrace is named by NAME.pt or NAME.meta and has the streams of
 * NAME-tidN.pt too; lines of the texts that are damaged or not known are damage.
 *
 * What is no file but the beginning of the names of files, with numbers behind
 * it, names all of these: raw bytes of Intel PT as hwt(8) writes them, of one
 * thread each.
 *
 * @param[in]  ctx        A context; kept alive by the trace.
 * @param[in]  path       File to read, or the folder of a snapshot.
 * @param[in]  opts       NULL: defaults.
 * @param[out] trace_out  Set on success.
 * @param[out] err        Filled on failure.  May be NULL.
 *
 * Damage that leaves something readable is no failure: see
 * hwtd_trace_damage() and gaps of reason FILE_DAMAGED.
 *
 * @return HWTD_OK, or
 *         HWTD_E_INVALID       a pointer is NULL or an option out of range;
 *         HWTD_E_IO            the file cannot be read; see sys_errno;
 *         HWTD_E_UNRECOGNIZED  no reader knows the content;
 *         HWTD_E_CORRUPT       damaged beyond use; see offset;
 *         HWTD_E_UNSUPPORTED   a newer major version of the format;
 *         HWTD_E_LIMIT, HWTD_E_NOMEM, HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_trace_close().
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_open(struct hwtd_context *ctx, const char *path,
    const struct hwtd_open_options *opts, struct hwtd_trace **trace_out,
    struct hwtd_error *err);

/**
 * Start a trace in memory.
 *
 * @param[in]  ctx        A context; kept alive by the trace.
 * @param[in]  opts       NULL: defaults.
 * @param[out] trace_out  Set on success.
 * @param[out] err        Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOMEM or HWTD_E_TOO_NEW.
 *
 * Lives:  owned; close with hwtd_trace_close().
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_create(struct hwtd_context *ctx,
    const struct hwtd_trace_options *opts, struct hwtd_trace **trace_out,
    struct hwtd_error *err);

/**
 * Add a stream without bytes.
 *
 * @param[in,out] trace   Not sealed.
 * @param[in]     desc    Copied.
 * @param[out]    id_out  Stream id: 0, 1, ... in order of adding.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (sealed), HWTD_E_NOMEM,
 *         HWTD_E_TOO_NEW.
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_add_stream(struct hwtd_trace *trace,
    const struct hwtd_stream_desc *desc, uint32_t *id_out,
    struct hwtd_error *err);

/**
 * What the bytes of a sink with frames are.
 *
 * @param[in]  trace   Sealed.
 * @param[in]  stream  A stream with `framing`.
 * @param[out] out     Its `size` is set by the caller.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (not sealed),
 *         HWTD_E_NOT_FOUND (no such stream, or it has no frames).
 *
 * Source: CoreSight Architecture Specification, "Trace Formatter".
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_sink(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtd_sink_info *out);

/**
 * Append raw bytes to a stream; they adjoin what is there.
 *
 * @param[in,out] trace   Not sealed.
 * @param[in]     stream  Stream id.
 * @param[in]     bytes   Shape [n]; copied.
 * @param[in]     n       May be 0.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE, HWTD_E_NOT_FOUND,
 *         HWTD_E_NOMEM, HWTD_E_LIMIT.
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_add_bytes(struct hwtd_trace *trace, uint32_t stream,
    const void *bytes, size_t n, struct hwtd_error *err);

/**
 * Start a new extent: what is appended next does not adjoin.
 *
 * @param[in,out] trace   Not sealed.
 * @param[in]     stream  Stream id.
 * @param[in]     why     An hwtd_extent_start.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE, HWTD_E_NOT_FOUND,
 *         HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_start_extent(struct hwtd_trace *trace,
    uint32_t stream, uint32_t why, struct hwtd_error *err);

/**
 * Add a record; records keep the order of adding.
 *
 * @param[in,out] trace   Not sealed.
 * @param[in]     record  Copied, with its name.  Fields whose flag is not set
 *                        are taken for 0.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID (also a type or flag that is not known),
 *         HWTD_E_STATE (sealed), HWTD_E_NOT_FOUND (stream or image),
 *         HWTD_E_NOMEM, HWTD_E_LIMIT, HWTD_E_TOO_NEW.
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_add_record(struct hwtd_trace *trace,
    const struct hwtd_record *record, struct hwtd_error *err);

/**
 * Add an image; with HWTD_IMAGEF_ADDRESS also map it everywhere.
 *
 * A later mapping hides what it overlaps of an earlier one.
 *
 * @param[in,out] trace   Not sealed.
 * @param[in]     desc    Copied.
 * @param[out]    id_out  Image id: 0, 1, ... in order of adding.  May be NULL.
 * @param[out]    err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID (also an address range that wraps),
 *         HWTD_E_IO, HWTD_E_CORRUPT (the file is shorter than offset and
 *         length say), HWTD_E_STATE, HWTD_E_NOMEM, HWTD_E_LIMIT,
 *         HWTD_E_TOO_NEW.
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_add_image(struct hwtd_trace *trace,
    const struct hwtd_image_desc *desc, uint32_t *id_out,
    struct hwtd_error *err);

/**
 * Finish building: from now on the trace is immutable and shareable.
 *
 * Files that records name are looked for and read now; one that cannot be had
 * is a missing image and no failure.
 *
 * @param[in,out] trace  Not sealed; stays so on failure.
 * @param[out]    err    Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (sealed), HWTD_E_NOMEM,
 *         HWTD_E_LIMIT (max_memory, max_alloc, or more images or mappings than
 *         a trace may have).
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_seal(struct hwtd_trace *trace,
    struct hwtd_error *err);

/**
 * Write a sealed trace to a `.hwt` file.
 *
 * The file appears under `path` only when it is complete.
 *
 * @param[in]  trace  Sealed.
 * @param[in]  path   File to write; replaced if it is there.
 * @param[in]  opts   NULL: defaults.
 * @param[out] err    Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (not sealed, sideband_only
 *         of a perf.data, or it needs HWTD_SAVE_ANY_FILE), HWTD_E_IO, HWTD_E_NOMEM, HWTD_E_TOO_NEW,
 *         HWTD_E_LIMIT (more records or images than a file can be opened
 *         with; see hwtdecode-trace(5)).
 *
 * Source: hwtdecode-trace(5).
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_save(struct hwtd_trace *trace, const char *path,
    const struct hwtd_save_options *opts, struct hwtd_error *err);

/**
 * Give up a trace.  Open cursors keep it alive.
 *
 * @param[in] trace  NULL does nothing.
 *
 * Since:  0.1
 */
HWTD_API void hwtd_trace_close(struct hwtd_trace *trace);

/**
 * Counts and origin of a trace.
 *
 * @param[in]  trace  Sections and images of records count once it is sealed.
 * @param[out] out    `size` set by the caller.
 *
 * @return HWTD_OK or HWTD_E_INVALID.
 *
 * Lives:  pointers in `out` are borrowed while the trace is open.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_info(const struct hwtd_trace *trace,
    struct hwtd_trace_info *out);

/**
 * Look up a stream.
 *
 * @return HWTD_OK, HWTD_E_INVALID, or HWTD_E_NOT_FOUND.
 *
 * Lives:  pointers in `out` are borrowed while the trace is open.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_stream(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtd_stream_desc *out);

/**
 * The extents of a stream, in order of their offsets.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID, HWTD_E_NOT_FOUND.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_extent(const struct hwtd_trace *trace, uint32_t stream,
    size_t index, struct hwtd_extent *out);

/**
 * Copy raw bytes of a stream.  A compressed chunk is unpacked for each call,
 * so large steps are faster.
 *
 * @param[in]  trace   Sealed.
 * @param[in]  stream  Stream id.
 * @param[in]  off     First byte.
 * @param[out] buf     Shape [n].
 * @param[in]  n       Bytes wanted.
 * @param[out] n_out   Bytes copied; less than `n` at the end of the stream.
 * @param[out] err     Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOT_FOUND, HWTD_E_STATE,
 *         HWTD_E_CORRUPT (the range lies in damaged chunks), HWTD_E_IO,
 *         HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_MUST int hwtd_trace_read_bytes(const struct hwtd_trace *trace,
    uint32_t stream, uint64_t off, void *buf, size_t n, size_t *n_out,
    struct hwtd_error *err);

/**
 * Look up a record by number, in the order of adding.
 *
 * @param[in]  trace  A trace.
 * @param[in]  index  From 0.
 * @param[out] out    `size` set by the caller.
 *
 * @return as hwtd_trace_stream().
 *
 * Lives:  `name` is borrowed while the trace is open.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_record(const struct hwtd_trace *trace, uint64_t index,
    struct hwtd_record *out);

/**
 * Look up a section by id.
 *
 * @param[in]  trace    Sealed; before it has no sections.
 * @param[in]  section  From 0.
 * @param[out] out      `size` set by the caller.
 *
 * @return as hwtd_trace_stream().
 *
 * Lives:  `path` is borrowed while the trace is open.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_section(const struct hwtd_trace *trace,
    uint32_t section, struct hwtd_section *out);

/**
 * Copy the bytes of code at an address of a section.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_NOT_FOUND.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_read_code(const struct hwtd_trace *trace,
    uint32_t section, uint64_t address, void *buf, size_t n, size_t *n_out);

/**
 * Look up an image by id.  Ids count from 0: first images that were added or
 * saved as such, then, once the trace is sealed, the files that records name in
 * the order in which they are first needed.  What an archive holds of such a
 * file belongs to its image and has no id, so an archive has the ids of the
 * trace that it was made of.
 *
 * @param[in]  trace  A trace.
 * @param[in]  image  From 0.
 * @param[out] out    `size` set by the caller.
 *
 * @return as hwtd_trace_stream().
 *
 * Lives:  pointers in `out` are borrowed while the trace is open.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_image(const struct hwtd_trace *trace, uint32_t image,
    struct hwtd_image_info *out);

/**
 * A file that streams and records were read from: the one that was opened, then
 * those that it names.  Images have files of their own, see hwtd_trace_image().
 *
 * @return its path, or NULL past the last.
 *
 * Lives:  borrowed, while the trace is open.
 * Since:  0.1
 */
HWTD_API const char *hwtd_trace_file(const struct hwtd_trace *trace,
    size_t index);

/**
 * Look up who executed.
 *
 * @param[in]  trace    A trace.
 * @param[in]  context  The id in rows.
 * @param[out] out      `size` set by the caller.
 *
 * @return as hwtd_trace_stream().
 * Since:  0.1
 */
HWTD_API int hwtd_trace_exec_context(const struct hwtd_trace *trace,
    uint32_t context, struct hwtd_exec_context *out);

/**
 * Known damage of the file, in the order in which it was found.  At most 65,536
 * places are listed: with more, the last one says so.
 *
 * @param[in]  trace  A trace.
 * @param[in]  index  From 0.
 * @param[out] out    `size` set by the caller.
 *
 * @return HWTD_OK, HWTD_END past the last, HWTD_E_INVALID.
 * Since:  0.1
 */
HWTD_API int hwtd_trace_damage(const struct hwtd_trace *trace, size_t index,
    struct hwtd_damage *out);

/**
 * Find the buffers in a stream of Arm SPE that holds those of several CPUs, one
 * behind the other and with nothing between them: hwt(8) writes them so.  A new one
 * begins where time goes back, which one record alone does not tell unless it is from
 * before the first of the buffer, and, where contexts are CPUs (`owner`), at another
 * one.  Nothing is glued where a record is cut off by the next buffer.
 *
 * Buffers are of one source by their CPU, else such that time does not go back in
 * it: that many CPUs there were, or more.
 *
 * @param[in]  trace    Sealed.
 * @param[in]  stream   Stream id; offsets are those of its bytes.
 * @param[out] buffers  Shape [cap], for hwtd_open_options.
 * @param[in]  cap      Room, in buffers.
 * @param[out] n_out    How many there are, which can be more than `cap`: ask again
 *                      with so much room.
 * @param[out] err      Filled on failure.  May be NULL.
 *
 * @return HWTD_OK, HWTD_E_INVALID, HWTD_E_STATE (not sealed), HWTD_E_NOT_FOUND (no
 *         such stream), HWTD_E_UNSUPPORTED (no Arm SPE), HWTD_E_IO, HWTD_E_NOMEM.
 * Since:  0.1
 */
HWTD_MUST int hwtd_spe_find_buffers(struct hwtd_trace *trace, uint32_t stream,
    struct hwtd_buffer *buffers, size_t cap, size_t *n_out,
    struct hwtd_error *err);

#ifndef HWTD_CDEF
#ifdef __cplusplus
}
#endif
#endif

#endif /* HWTDECODE_TRACE_H */
