/*
 * What a trace is made of, for the files of this folder.
 *
 * Bytes of a stream lie in stretches: memory, a part of the file, or a chunk of
 * a .hwt file.  Extents are kept apart from stretches: an extent spans any number
 * of stretches.  Between two extents offsets may be missing; within one, stretches
 * adjoin.
 */
#ifndef HWTDI_TRACE_INTERNAL_H
#define HWTDI_TRACE_INTERNAL_H

#include "record/record_list.h"
#include "trace/exec_context.h"
#include "trace/search_copy.h"
#include "trace/trace_model.h"
#include "trace/trace_names.h"
#include "trace/trace_space.h"

/* Streams of one trace; a file that claims more is refused. */
#define HWTDI_MAX_STREAMS 65536u

/* Images of one trace, and parts of files. */
#define HWTDI_MAX_IMAGES (1u << 20)

/* Damaged places of one file that are listed; the last one says of more. */
#define HWTDI_MAX_DAMAGES 65536u

/* Bytes of a name or another text. */
#define HWTDI_TEXT_MAX 65535u

/* Bytes of one stretch in memory; further bytes start a new stretch. */
#define HWTDI_STRETCH_MAX ((uint64_t)256 << 20)

enum hwtdi_stretch_kind {
	HWTDI_STRETCH_MEMORY = 1,
	HWTDI_STRETCH_FILE = 2,
	HWTDI_STRETCH_CHUNK = 3,
	/* The bytes of one source in a piece of its sink. */
	HWTDI_STRETCH_FRAMES = 4
};

struct hwtdi_stretch {
	/* [start, start + length) of the stream. */
	uint64_t start;
	uint64_t length;
	union {
		uint8_t *memory;
		/* FILE: of the first byte.  CHUNK: of the chunk's header. */
		uint64_t file_off;
		/* FRAMES: of the sink. */
		size_t piece;
	} at;
	/*
	 * MEMORY: bytes allocated.  CHUNK: bytes of the stored payload.  FILE: which
	 * one; 0: that of the trace, 1 and up: of those beside it.
	 */
	uint32_t room;
	uint32_t kind;
};

/* The field has 4 bits. */
#define HWTDI_SPE_PMSVER_MAX 15

struct hwtdi_stream {
	/* Pointers are set when it is handed out. */
	struct hwtd_stream_desc desc;
	char *name;
	struct hwtd_pt_config pt;
	bool has_pt;
	struct hwtd_coresight_config coresight;
	bool has_coresight;
	struct hwtd_spe_config spe;
	bool has_spe;
	/* Of a stream with frames; made at seal. */
	struct hwtdi_sink *sink;
	/* And which trace IDs streams have of it: a bit each. */
	uint64_t source_ids[2];
	/* A file named the stream but its description is lost. */
	bool undescribed;
	/* What comes next starts an extent, for this reason. */
	bool pending;
	uint32_t pending_why;
	/* Offset after the last byte. */
	uint64_t end;
	struct hwtd_extent *extents;
	size_t n_extents;
	size_t cap_extents;
	struct hwtdi_stretch *stretches;
	size_t n_stretches;
	size_t cap_stretches;
};

struct hwtdi_image {
	char *path;
	/* File that was read or refused; NULL: none. */
	char *file;
	/* A named file's part that was saved with the trace. */
	bool part;
	/* No bytes: the file is that of part `file_part` before it. */
	bool same_file;
	uint32_t file_part;
	/* A part as its file was changed when it was loaded, at `address`. */
	bool linked;
	/* Records name it; made at seal, and not saved as such. */
	bool named;
	/* Only what was saved as parts is there; the rest is 0. */
	bool sparse;
	/* A module that calls what nobody knows. */
	bool unlinked;
	/* Its bytes were looked for in a file, which is no program. */
	bool stranger;
	/* Named: its file belongs to the trace as the text does that names it. */
	bool own;
	/* An hwtd_image_state, and why it is missing. */
	uint32_t state;
	char text[96];
	/* The build-id: of records, `n_wanted_id` bytes, or of the file. */
	uint32_t n_build_id, n_wanted_id;
	uint8_t build_id[HWTD_MAX_BUILD_ID];
	uint64_t offset;
	/* The file holds the bytes under `path` and `offset`. */
	bool from_file;
	bool mapped;
	uint64_t address;
	/* NULL: known by name only; its code is missing. */
	uint8_t *bytes;
	uint64_t n_bytes;
	/* The bytes belong to an image or part before it. */
	bool borrowed;
	/* Of the bytes, as a file says; to find them again under `path`. */
	bool has_sum;
	uint64_t sum;
};

/* A file that was changed when it was loaded. */
struct hwtdi_linked {
	uint8_t *bytes;
	uint64_t n_bytes;
};

/* Stands for code that is not known. */
extern const uint8_t hwtdi_no_code[1];

/* Free text about where a trace comes from.  NULL: not known. */
struct hwtdi_trace_text {
	/* Tool and version that recorded or imported. */
	char *origin;
	/* ABI of the traced programs. */
	char *abi;
	/* CPU model in words. */
	char *cpu_model;
	/* What time_ns counts, for instance "CLOCK_MONOTONIC". */
	char *clock;
	/* Of the kernel that ran, as uname -r tells; to find its file. */
	char *release;
	/* How it was recorded: lines of what=value. */
	char *capture;
};

/* The file that stretches lie in. */
struct hwtdi_trace_file {
	/* Below 0: there is none. */
	int fd;
	uint64_t size;
	char *path;
};

struct hwtd_trace {
	struct hwtd_context *library;
	_Atomic uint32_t users;
	bool sealed;
	/* Static storage. */
	const char *format;
	struct hwtdi_trace_text text;
	struct hwtdi_trace_file file;
	/* Further files that stretches lie in. */
	struct hwtdi_trace_file *more_files;
	size_t n_more_files, cap_more_files;
	/* Paths of files that it names. */
	char **side_files;
	size_t n_side_files, cap_side_files;
	/* The first of them that is not in its folder; NULL: none. */
	const char *outside;
	/* What records name in that folder belongs to it, program or not. */
	bool owns_folder;
	/* Bytes of trace are not to be read. */
	bool sideband_only;
	struct hwtdi_stream **streams;
	size_t n_streams;
	size_t cap_streams;
	struct hwtdi_image *images;
	size_t n_images;
	size_t cap_images;
	/* What a file holds of files that records name; no images. */
	struct hwtdi_image *parts;
	size_t n_parts, cap_parts;
	struct hwtdi_record_list records;
	struct hwtd_damage *damages;
	size_t n_damages;
	size_t cap_damages;
	/* Damages by stream and first byte; made at seal. */
	struct hwtd_damage **by_stream;
	/* Made at seal. */
	struct hwtd_section *sections;
	size_t n_sections, cap_sections;
	/*
	 * By section: the whole file as it was changed when it was loaded,
	 * hwtdi_no_code: nobody knows how, or NULL: as the image is.
	 */
	const uint8_t **section_code;
	size_t cap_section_code;
	struct hwtdi_linked *linked;
	size_t n_linked, cap_linked;
	struct hwtdi_trace_space space;
	struct hwtdi_trace_names names;
	/* Where images of records are looked for. */
	struct hwtdi_search search;
	struct hwtdi_exec_contexts *contexts;
	struct hwtdi_shared shared;
};

/* A trace without anything, users 1; `format` has static storage. */
int hwtdi_trace_new(struct hwtd_context *ctx, const char *format,
    struct hwtd_trace **out, struct hwtd_error *err);

/* HWTD_E_LIMIT if max_memory says no to `bytes` more, else HWTD_E_NOMEM. */
int hwtdi_trace_no_room(const struct hwtd_context *ctx, uint64_t bytes,
    struct hwtd_error *err);

/* A window also of a trace that is being sealed. */
int hwtdi_window_open(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtdi_window **out, struct hwtd_error *err);

/* NULL if there is no such stream. */
struct hwtdi_stream *hwtdi_trace_stream_at(const struct hwtd_trace *trace,
    uint32_t stream);

/* HWTD_E_INVALID if it is not as such ones are; NULL: all unknown. */
int hwtdi_spe_config_copy(struct hwtd_spe_config *out,
    const struct hwtd_spe_config *from, struct hwtd_error *err);

/*
 * Put a stretch behind the last byte of a stream; what lies between is missing
 * and the stretch starts an extent AFTER_DAMAGE.  Takes over memory on success.
 */
int hwtdi_stream_place(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    const struct hwtdi_stretch *stretch, struct hwtd_error *err);

/* What comes next starts an extent.  Of several reasons the gravest stays. */
void hwtdi_stream_break(struct hwtdi_stream *stream, uint32_t why);

/* An extent without bytes at `start`, which is at or after the end. */
int hwtdi_stream_empty(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    uint64_t start, uint32_t why, struct hwtd_error *err);

/* An extent without bytes, if a reason was given after the last byte. */
int hwtdi_stream_finish(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    struct hwtd_error *err);

/* Forget all bytes and extents. */
void hwtdi_stream_clear(struct hwtd_context *ctx, struct hwtdi_stream *stream);

void hwtdi_stream_free(struct hwtd_context *ctx, struct hwtdi_stream *stream);

/* Index of the stretch, or of the extent, that holds `off`; or the count. */
size_t hwtdi_stream_stretch(const struct hwtdi_stream *stream, uint64_t off);
size_t hwtdi_stream_extent(const struct hwtdi_stream *stream, uint64_t off);

/* HWTD_E_INVALID if a text (may be NULL) is longer than HWTDI_TEXT_MAX. */
int hwtdi_trace_check_text(const char *what, const char *text,
    struct hwtd_error *err);

/* Add an image whose bytes are taken over on success; see add_image. */
int hwtdi_trace_put_image(struct hwtd_trace *trace,
    const struct hwtdi_image *image, const char *path, uint32_t *id_out,
    struct hwtd_error *err);

/* The same for a part of a file; its number among the parts. */
int hwtdi_trace_put_part(struct hwtd_trace *trace,
    const struct hwtdi_image *part, const char *path, uint32_t *no_out,
    struct hwtd_error *err);

/* Whether its bytes are of a file that is no program and that a trace named. */
bool hwtdi_trace_is_stranger(const struct hwtdi_image *image);

/* Damage as it is told, without a look at the file. */
int hwtdi_trace_add_damage(struct hwtd_trace *trace,
    const struct hwtd_damage *damage, struct hwtd_error *err);

/*
 * Note damage of the file: [file_off, file_off + file_bytes).  `stream` may
 * be HWTD_NO_ID.
 */
int hwtdi_trace_note_damage(struct hwtd_trace *trace, uint64_t file_off,
    uint64_t file_bytes, uint32_t stream, uint64_t first, uint64_t end,
    struct hwtd_error *err, const char *fmt, ...)
    __attribute__((format(printf, 8, 9)));

/* A clock that the configuration of an Intel PT stream implies. */
bool hwtdi_pt_config_clock(const struct hwtd_pt_config *pt,
    struct hwtd_clock *out);

/* Read all of [off, off + n) of a file; HWTD_E_CORRUPT if it is shorter. */
int hwtdi_trace_file_read(const struct hwtdi_trace_file *file, uint64_t off,
    void *buf, size_t n, struct hwtd_error *err);

#endif /* HWTDI_TRACE_INTERNAL_H */
