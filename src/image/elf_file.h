/*
 * What an ELF file says about its code: executable segments, build-id,
 * interpreter, debug link.
 *
 * Segments count, not sections: a file without a section table is read as well
 * as any other.  Every header is hostile; damage that leaves something is
 * noted, the first by its offset, and what is whole is kept.
 */
#ifndef HWTDI_ELF_FILE_H
#define HWTDI_ELF_FILE_H

#include <stdbool.h>

#include "base/library.h"

/* Executable segments of one file; further ones are left out and noted. */
#define HWTDI_ELF_MAX_SEGMENTS 1024u

/* Bytes of the largest header of a file. */
#define HWTDI_ELF_HEADER_MAX 64u

/* Bytes of a build-id, of PT_INTERP and of a debug link, with its NUL. */
#define HWTDI_BUILD_ID_MAX 64u
#define HWTDI_ELF_PATH_MAX 1024u

struct hwtdi_build_id {
	/* 0: there is none. */
	uint32_t n;
	uint8_t bytes[HWTDI_BUILD_ID_MAX];
};

/* Numbers of the ELF specification that users of this header need. */
enum hwtdi_elf_type {
	HWTDI_ELF_REL = 1,
	HWTDI_ELF_EXEC = 2,
	HWTDI_ELF_DYN = 3,
	HWTDI_ELF_CORE = 4
};

/* An executable PT_LOAD. */
struct hwtdi_elf_segment {
	/* Index in the table of program headers. */
	uint32_t index;
	/* The file ends inside it; file_bytes is what there is. */
	bool cut;
	uint64_t vaddr;
	uint64_t file_off;
	uint64_t file_bytes;
	uint64_t memory_bytes;
	/* 0 and 1: none. */
	uint64_t align;
};

struct hwtdi_elf_file {
	/* An hwtdi_elf_type. */
	uint32_t type;
	/* e_machine. */
	uint32_t machine;
	bool is_64;
	bool is_little;
	/* Sections say that the code was taken out: debug information only. */
	bool debug_only;
	uint64_t entry;
	uint64_t n_bytes;
	/* Lowest p_vaddr of all PT_LOADs, executable or not. */
	bool has_load;
	uint64_t lowest_vaddr;
	/* Largest p_align of all PT_LOADs. */
	uint64_t largest_align;
	struct hwtdi_elf_segment *segments;
	size_t n_segments;
	size_t cap_segments;
	struct hwtdi_build_id build_id;
	/* "": there is none. */
	char interpreter[HWTDI_ELF_PATH_MAX];
	char debug_link[HWTDI_ELF_PATH_MAX];
	uint32_t debug_link_crc;
	/* Damaged places that left something to read, and the first. */
	uint32_t n_faults;
	struct hwtd_error fault;
};

/*
 * Read the headers of a file whose bytes are at `bytes`; nothing of it is
 * borrowed afterwards.  A file without executable segments is no failure.
 *
 * HWTD_E_UNRECOGNIZED (no ELF), HWTD_E_CORRUPT (nothing can be read),
 * HWTD_E_UNSUPPORTED, HWTD_E_NOMEM.  Messages begin with `name`.
 */
int hwtdi_elf_file_init(struct hwtdi_elf_file *file, struct hwtd_context *ctx,
    const char *name, const void *bytes, uint64_t n_bytes,
    struct hwtd_error *err);

/* Whether bytes begin like an ELF file that is run or loaded; no core file. */
bool hwtdi_elf_is_program(const void *bytes, uint64_t n_bytes);

void hwtdi_elf_file_fini(struct hwtdi_elf_file *file,
    struct hwtd_context *ctx);

#endif /* HWTDI_ELF_FILE_H */
