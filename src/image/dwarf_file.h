/*
 * The sections of an ELF file that hold DWARF, whole or split (.dwo, .dwp).
 */
#ifndef HWTDI_DWARF_FILE_H
#define HWTDI_DWARF_FILE_H

#include "image/dwarf_bytes.h"
#include "image/elf_tables.h"
#include "image/mapped_file.h"

enum hwtdi_dwarf_section_id {
	HWTDI_DWARF_INFO,
	HWTDI_DWARF_ABBREV,
	HWTDI_DWARF_STR,
	HWTDI_DWARF_STR_OFFSETS,
	HWTDI_DWARF_LINE,
	HWTDI_DWARF_LINE_STR,
	HWTDI_DWARF_RANGES,
	HWTDI_DWARF_RNGLISTS,
	HWTDI_DWARF_ADDR,
	HWTDI_DWARF_ARANGES,
	/* Of a package (.dwp). */
	HWTDI_DWARF_CU_INDEX,
	HWTDI_DWARF_SECTIONS
};

/* Bytes that a section may have when it is unpacked. */
#define HWTDI_DWARF_UNPACKED_MAX (UINT64_C(1) << 30)

struct hwtdi_dwarf_section {
	const uint8_t *bytes;
	uint64_t n;
	/* Memory of the library, where it had to be unpacked. */
	uint8_t *own;
	/* It is compressed, and not unpacked yet. */
	bool packed;
	/* Index in the file, and where its bytes are there. */
	uint32_t index;
	uint64_t off;
};

struct hwtdi_dwarf_file {
	struct hwtd_context *ctx;
	/* Owned. */
	char *path;
	struct hwtdi_mapped_file map;
	struct hwtdi_elf_tables tables;
	bool big;
	/* Where texts are that it shares with others; NULL: nowhere. */
	const struct hwtdi_dwarf_file *shared;
	struct hwtdi_dwarf_section sections[HWTDI_DWARF_SECTIONS];
};

/*
 * Map a file and find its sections; those of split DWARF have names that end in
 * ".dwo".  A file without DWARF has none.
 *
 * HWTD_E_IO, HWTD_E_UNRECOGNIZED, HWTD_E_CORRUPT, HWTD_E_UNSUPPORTED,
 * HWTD_E_NOMEM.
 */
int hwtdi_dwarf_file_open(struct hwtdi_dwarf_file *file,
    struct hwtd_context *ctx, const char *path, bool is_split,
    struct hwtd_error *err);

/* The same of bytes that the caller keeps. */
int hwtdi_dwarf_file_init(struct hwtdi_dwarf_file *file,
    struct hwtd_context *ctx, const char *name, const void *bytes,
    uint64_t n_bytes, bool is_split, struct hwtd_error *err);

bool hwtdi_dwarf_file_has(const struct hwtdi_dwarf_file *file,
    enum hwtdi_dwarf_section_id id);

/*
 * Make a section readable: it is unpacked when it is asked for first.  One that
 * is not there has 0 bytes.
 *
 * HWTD_E_CORRUPT, HWTD_E_LIMIT, HWTD_E_UNSUPPORTED (compressed otherwise),
 * HWTD_E_NOMEM.
 */
int hwtdi_dwarf_file_need(struct hwtdi_dwarf_file *file,
    enum hwtdi_dwarf_section_id id, struct hwtd_error *err);

/* A reader of a section from `off` on; `bad` if that is not in it. */
struct hwtdi_dwarf_reader hwtdi_dwarf_file_reader(const struct hwtdi_dwarf_file
						      *file,
    enum hwtdi_dwarf_section_id id, uint64_t off);

/* ".debug_info" and so on, for messages. */
const char *hwtdi_dwarf_section_name(enum hwtdi_dwarf_section_id id);

/* Fill an error: the file, its section, the offset in that, and the cause. */
int hwtdi_dwarf_fail(struct hwtd_error *err,
    const struct hwtdi_dwarf_file *file, enum hwtdi_dwarf_section_id id,
    uint64_t off, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

void hwtdi_dwarf_file_fini(struct hwtdi_dwarf_file *file);

#endif /* HWTDI_DWARF_FILE_H */
