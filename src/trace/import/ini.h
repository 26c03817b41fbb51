/*
 * Texts of sections and key=value lines, as trace-and-debug snapshots have
 * them: comments from ';' or '#', white space around names and values, and an
 * addition in parentheses behind a key, which is dropped.
 */
#ifndef HWTDI_INI_H
#define HWTDI_INI_H

#include <hwtdecode/error.h>

#include "base/library.h"

/* Bytes of a text, its sections, and its lines with a value, at the most. */
#define HWTDI_INI_MAX_TEXT ((uint64_t)1 << 20)

/* A text that is read line by line; all zero but `at` and `left`. */
struct hwtdi_ini {
	const char *at;
	size_t left;
	uint32_t line;
};

/* What a line says; not terminated. */
struct hwtdi_ini_line {
	/* The name of a section that begins; else a key. */
	bool is_section;
	const char *key;
	size_t n_key;
	/* Begins in the text, also if it is empty. */
	const char *value;
	size_t n_value;
	uint32_t line;
};

/* HWTD_END behind the last line; HWTD_E_CORRUPT "LINE: what is wrong". */
int hwtdi_ini_next(struct hwtdi_ini *ini, struct hwtdi_ini_line *out,
    struct hwtd_error *err);

/* Whole number with a prefix as in C: 0x or 0; false: it is none. */
bool hwtdi_ini_number(const char *text, size_t n, uint64_t *out);

/* The same but for the case of ASCII letters. */
bool hwtdi_ini_same(const char *a, size_t n, const char *b);

struct hwtdi_ini_entry {
	const char *key;
	const char *value;
	uint32_t line;
};

struct hwtdi_ini_section {
	const char *name;
	uint32_t line;
	/* Its entries. */
	size_t first, n;
};

/* A text as a table.  All zero: empty. */
struct hwtdi_ini_file {
	/* For messages. */
	char *name;
	char *text;
	size_t n_text;
	struct hwtdi_ini_section *sections;
	size_t n_sections, cap_sections;
	struct hwtdi_ini_entry *entries;
	size_t n_entries, cap_entries;
};

/*
 * Takes over `text`, which has room for n + 1 bytes, in any case; the name is
 * copied.  HWTD_E_CORRUPT, HWTD_E_NOMEM: the file is empty.
 */
int hwtdi_ini_file_init(struct hwtdi_ini_file *file, struct hwtd_context *ctx,
    const char *name, char *text, size_t n, struct hwtd_error *err);
void hwtdi_ini_file_fini(struct hwtdi_ini_file *file,
    struct hwtd_context *ctx);

/*
 * The only section of that name; NULL: there is none.  HWTD_E_CORRUPT: there
 * are several.
 */
int hwtdi_ini_section(const struct hwtdi_ini_file *file, const char *name,
    const struct hwtdi_ini_section **out, struct hwtd_error *err);

/*
 * The only entry of that key, whatever its case, in a section; NULL: there is
 * none, or no section.  HWTD_E_CORRUPT: there are several.
 */
int hwtdi_ini_entry(const struct hwtdi_ini_file *file,
    const struct hwtdi_ini_section *section, const char *key,
    const struct hwtdi_ini_entry **out, struct hwtd_error *err);

/* HWTD_E_CORRUPT "FILE: line LINE: message". */
int hwtdi_ini_fail(const struct hwtdi_ini_file *file, uint32_t line,
    struct hwtd_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif /* HWTDI_INI_H */
