/*
 * What is at hand while the address spaces of a trace are made from its
 * records.
 */
#ifndef HWTDI_SPACE_BUILDER_H
#define HWTDI_SPACE_BUILDER_H

#include "base/index.h"
#include "trace/load_list.h"
#include "trace/module_code.h"
#include "trace/trace_image.h"
#include "trace/trace_internal.h"

/* The smallest mapping there is; also of files that are missing. */
#define HWTDI_SPACE_PAGE HWTDI_ELF_PAGE

/*
 * Pieces that a record may map through its file for nothing, and those that
 * all records together may map beyond that.  Files of more executable segments
 * than a few are rare; a hostile one has thousands, and records load it
 * thousands of times.
 */
#define HWTDI_SPACE_OWN_PIECES 8u
#define HWTDI_SPACE_MAX_PIECES (1u << 18)

/* Copies of kernel memory that are kept in mind: of one kernel and few guests. */
#define HWTDI_SPACE_MAX_COPIES 16u

struct hwtdi_space_builder {
	struct hwtd_trace *trace;
	struct hwtdi_trace_space *space;
	struct hwtdi_named_files files;
	struct hwtdi_load_list loads;
	/* ELF files of which mappings tell single segments. */
	struct hwtdi_load_list segments;
	struct hwtdi_modules modules;
	/* Images that are copies of kernel memory. */
	uint32_t copies[HWTDI_SPACE_MAX_COPIES];
	size_t n_copies;
	/* Of HWTDI_SPACE_MAX_PIECES. */
	size_t n_pieces;
	/* Sections of the trace, by all that they are known by. */
	struct hwtdi_index sections;
	/* The record at hand, and its number in their order. */
	const struct hwtd_record *record;
	uint64_t seq;
	struct hwtd_error *err;
};

/* [address, address + length) of a space shows this. */
struct hwtdi_shown {
	/* HWTD_NO_ID: nobody knows the bytes. */
	uint32_t image;
	/* HWTDI_PIECE_* bits. */
	uint32_t flags;
	/* The file as it was changed when it was loaded; NULL: the image. */
	const uint8_t *code;
	uint64_t address;
	uint64_t length;
	uint64_t file_off;
};

/* A linked ELF file, moved by `bias`. */
struct hwtdi_shown_elf {
	const struct hwtdi_named_file *file;
	uint64_t bias;
	/* Only the segment that is there; NULL: all of them. */
	const uint64_t *around;
	/* HWTDI_PIECE_* bits. */
	uint32_t flags;
	/* Its pieces belong to the load that was added last here; NULL: none. */
	struct hwtdi_load_list *loads;
};

/*
 * The record at hand does this to a space.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_space_map(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_shown *shown);
int hwtdi_space_map_elf(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_shown_elf *elf);

/*
 * Whether it may map `n` pieces through a file; they are counted then.  If not,
 * what it maps is of unknown bytes, and the image of the file says so.
 */
bool hwtdi_space_take_pieces(struct hwtdi_space_builder *b, size_t n);

/* It loads its file as a whole, or unloads what lies at its address. */
int hwtdi_space_load(struct hwtdi_space_builder *b, uint32_t space);
int hwtdi_space_unload(struct hwtdi_space_builder *b, uint32_t space);

/* It unmaps a range, or what starts at its address. */
int hwtdi_space_unmap(struct hwtdi_space_builder *b, uint32_t space);

/*
 * How far a linked file is moved that a record loads.  A kernel (KERNEL) whose
 * `value` is known has its symbol _text there, and _stext at `base`; a file
 * without that symbol has its lowest code there.  Of all others the lowest
 * segment is at `addr`.  Copies of memory are not moved.
 */
uint64_t hwtdi_space_load_bias(const struct hwtdi_space_builder *b,
    const struct hwtd_record *r, struct hwtdi_named_file *file);

/* The file that a record names. */
int hwtdi_space_file(struct hwtdi_space_builder *b,
    const struct hwtd_record *r, struct hwtdi_named_file **out);

/* The file that the record at hand names. */
int hwtdi_space_named(struct hwtdi_space_builder *b,
    struct hwtdi_named_file **out);

#endif /* HWTDI_SPACE_BUILDER_H */
