/*
 * How the code of an ELF file lies in memory.
 *
 * A linked file (ET_EXEC, ET_DYN, ET_CORE) lies as mmap(2) puts it there: each
 * segment from the start of its first page to the end of its last, moved by
 * one number, the bias.  Addresses are modulo 2^64: a bias may be "negative".
 * Objects (ET_REL) are laid out by elf_object.h.
 */
#ifndef HWTDI_ELF_LOAD_H
#define HWTDI_ELF_LOAD_H

#include "image/elf_file.h"

#define HWTDI_ELF_PAGE 4096u

/* Mappings that are compared to find a bias; further ones are not looked at. */
#define HWTDI_ELF_MAX_MAPPINGS 8u

/* Biases that are told apart; hostile files have as many as segments. */
#define HWTDI_ELF_MAX_FITS 16u

/* [address, address + length) shows the file from `file_off` on. */
struct hwtdi_elf_piece {
	uint64_t address;
	uint64_t length;
	uint64_t file_off;
};

struct hwtdi_elf_layout {
	struct hwtdi_elf_piece *pieces;
	size_t n_pieces;
	size_t cap_pieces;
	/* Pieces that would lie past the end of the address space. */
	uint32_t n_left_out;
};

/* An executable mapping of a file; fields that are not known are left out. */
struct hwtdi_elf_mapping {
	uint64_t address;
	bool has_file_off;
	bool has_length;
	uint64_t file_off;
	uint64_t length;
};

struct hwtdi_elf_bias {
	uint64_t bias;
	/* Index in `segments` of the segment that the first mapping shows. */
	uint32_t segment;
	/*
	 * How many biases all mappings allow.  With more than 1, `bias` is the
	 * first that the alignment of segments allows, or else the first: a
	 * guess.  Not counted beyond HWTDI_ELF_MAX_FITS.
	 */
	uint32_t n_fits;
};

/*
 * Bias when the kernel told the load bias of a program.  0 for files that are
 * not moved (ET_EXEC, ET_CORE), whatever was told.
 */
uint64_t hwtdi_elf_bias_of_program(const struct hwtdi_elf_file *file,
    uint64_t load_bias);

/*
 * Bias when the address of the lowest PT_LOAD is known, as dynamic linkers
 * and debuggers tell it.  `page` is a power of 2 or 0: HWTDI_ELF_PAGE.
 */
uint64_t hwtdi_elf_bias_of_base(const struct hwtdi_elf_file *file,
    uint64_t base, uint64_t page);

/*
 * Bias when executable mappings of one load of the file are known (at least
 * one; the first says which segment is asked for).
 *
 * A mapping without file offset starts where a segment starts.  One with a
 * file offset may start anywhere in a segment.
 *
 * HWTD_E_INVALID (no mapping, `page` is no power of 2), HWTD_E_NOT_FOUND (no
 * segment can lie there; err->addr is not used, the message tells).
 */
int hwtdi_elf_bias_of_mappings(const struct hwtdi_elf_file *file,
    const struct hwtdi_elf_mapping *mappings, size_t n, uint64_t page,
    struct hwtdi_elf_bias *out, struct hwtd_error *err);

/*
 * Code of a linked file at a bias, a piece for each segment in their order;
 * where pieces overlap, the later one was mapped over the earlier.
 *
 * HWTD_E_INVALID (`page`), HWTD_E_NOMEM.
 */
int hwtdi_elf_layout_init(struct hwtdi_elf_layout *layout,
    struct hwtd_context *ctx, const struct hwtdi_elf_file *file, uint64_t bias,
    uint64_t page, struct hwtd_error *err);

void hwtdi_elf_layout_fini(struct hwtdi_elf_layout *layout,
    struct hwtd_context *ctx);

/* Add a piece; one that wraps is left out, an empty one does nothing. */
int hwtdi_elf_layout_add(struct hwtdi_elf_layout *layout,
    struct hwtd_context *ctx, const struct hwtdi_elf_piece *piece,
    struct hwtd_error *err);

#endif /* HWTDI_ELF_LOAD_H */
