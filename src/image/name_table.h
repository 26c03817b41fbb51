/*
 * Names of code by address that come from no ELF file: lists that runtimes
 * write for perf (perf-PID.map), symbols of a kernel (kallsyms), and what
 * records tell.
 *
 * Each line is hostile: what cannot be read is left out and counted.
 */
#ifndef HWTDI_NAME_TABLE_H
#define HWTDI_NAME_TABLE_H

#include <stdbool.h>

#include "base/library.h"

/* Names of one table; further ones are left out and counted. */
#define HWTDI_NAMES_MAX (UINT32_C(1) << 24)

/* Bytes of a name; the rest of a longer one is cut off. */
#define HWTDI_NAME_BYTES_MAX 4095u

/* Bytes of a page, where a name without a size ends that has no neighbour. */
#define HWTDI_NAME_PAGE 4096u

struct hwtdi_name {
	uint64_t address;
	/* 0: it goes on to the next one of its group. */
	uint64_t size;
	/* Of the strings; group 0: none. */
	uint32_t text, group;
	/* Of names without a size at one address the lowest is taken. */
	uint32_t rank;
	uint32_t no;
};

/* [first, last] has this name. */
struct hwtdi_name_piece {
	uint64_t first, last;
	uint32_t name;
};

/* All zero: empty. */
struct hwtdi_name_table {
	struct hwtdi_name *names;
	size_t n, cap;
	/* By address, without overlaps; made by .._finish(). */
	struct hwtdi_name_piece *pieces;
	size_t n_pieces, cap_pieces;
	/* The first byte is a NUL. */
	char *strings;
	size_t n_strings, cap_strings;
	/* Lines or names that were left out; the first line, from 1 on. */
	uint64_t n_bad, first_bad;
};

/* What is at an address; borrowed from the table. */
struct hwtdi_name_found {
	const char *text;
	/* "": none; of kallsyms the module. */
	const char *group;
	uint64_t address;
};

/*
 * Add a name.  `group` NULL: none.  Bytes behind a NUL do not count; an empty
 * name is left out.  HWTD_E_NOMEM, HWTD_E_LIMIT (2^32 bytes of strings).
 */
int hwtdi_name_table_add(struct hwtdi_name_table *table,
    struct hwtd_context *ctx, const struct hwtdi_name *name, const char *text,
    size_t n_text, const char *group, size_t n_group, struct hwtd_error *err);

/*
 * Lines "START SIZE name", numbers in hexadecimal.  Code can be made where other
 * code was: later lines count.
 */
int hwtdi_name_table_add_perf_map(struct hwtdi_name_table *table,
    struct hwtd_context *ctx, const void *text, size_t n,
    struct hwtd_error *err);

/*
 * Lines "ADDRESS T name [module]"; those of code, which have an address.
 */
int hwtdi_name_table_add_kallsyms(struct hwtdi_name_table *table,
    struct hwtd_context *ctx, const void *text, size_t n,
    struct hwtd_error *err);

/*
 * Sort.  Where names overlap, the one that was added last counts; a name with
 * a size before those without.
 */
int hwtdi_name_table_finish(struct hwtdi_name_table *table,
    struct hwtd_context *ctx, struct hwtd_error *err);

/* False: no name.  O(log n). */
bool hwtdi_name_table_find(const struct hwtdi_name_table *table,
    uint64_t address, struct hwtdi_name_found *out);

void hwtdi_name_table_fini(struct hwtdi_name_table *table,
    struct hwtd_context *ctx);

#endif /* HWTDI_NAME_TABLE_H */
