/*
 * The line table of a unit of DWARF: addresses to files, lines and columns.
 */
#ifndef HWTDI_DWARF_LINES_H
#define HWTDI_DWARF_LINES_H

#include "image/dwarf_die.h"

struct hwtdi_dwarf_row {
	uint64_t address;
	/* Of the table, as the program counts. */
	uint32_t file;
	uint32_t line;
	uint32_t column;
	uint32_t discriminator : 31;
	/* A statement begins here; else it is some of its code. */
	uint32_t is_statement : 1;
};

/* Rows [first, end) are of [low, high), by address. */
struct hwtdi_dwarf_sequence {
	uint64_t low, high, reach;
	size_t first, end;
};

struct hwtdi_dwarf_file_name {
	const char *name;
	uint64_t dir;
};

/* All zero: none. */
struct hwtdi_dwarf_lines {
	uint16_t version;
	struct hwtdi_dwarf_row *rows;
	size_t n_rows, cap_rows;
	/* By address. */
	struct hwtdi_dwarf_sequence *sequences;
	size_t n_sequences, cap_sequences;
	/* In place. */
	const char **dirs;
	size_t n_dirs, cap_dirs;
	struct hwtdi_dwarf_file_name *files;
	size_t n_files, cap_files;
};

/*
 * Read the table that a unit names.  HWTD_E_NOMEM, HWTD_E_LIMIT;
 * HWTD_E_CORRUPT: what came before the damage is there.
 */
int hwtdi_dwarf_lines_init(struct hwtdi_dwarf_lines *lines,
    const struct hwtdi_dwarf_file *file, const struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err);

/* The row that an address is in; NULL: none. */
const struct hwtdi_dwarf_row *hwtdi_dwarf_lines_find(
    const struct hwtdi_dwarf_lines *lines, uint64_t address);

/*
 * Name of a file as its table has it, and the folder that it is relative to;
 * NULL: that of the compiler.  *whole_out: that folder is relative to no other.
 * False: no such file.
 */
bool hwtdi_dwarf_lines_file(const struct hwtdi_dwarf_lines *lines,
    uint32_t file, const char **dir_out, bool *whole_out,
    const char **name_out);

uint64_t hwtdi_dwarf_lines_bytes(const struct hwtdi_dwarf_lines *lines);

void hwtdi_dwarf_lines_fini(struct hwtdi_dwarf_lines *lines,
    struct hwtd_context *ctx);

#endif /* HWTDI_DWARF_LINES_H */
