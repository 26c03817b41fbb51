/*
 * What a table is made of, for the files that make it and give it out.
 */
#ifndef HWTPY_TABLE_PARTS_H
#define HWTPY_TABLE_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "table.h"

/* Names that stand once each: text as Arrow has it. */
struct hwtpy_names {
	atomic_size_t references;
	uint32_t n;
	int32_t *offsets;
	uint8_t *bytes;
};

/* A column. */
struct part {
	char *name;
	char *metadata;
	uint32_t kind;
	bool nullable;
	uint64_t n_unknown;
	/* NULL: all is known. */
	uint8_t *valid;
	/* Values; of texts where they begin. */
	void *data;
	uint8_t *bytes;
	struct hwtpy_names *names;
};

struct hwtpy_table {
	atomic_size_t references;
	uint64_t n_rows;
	size_t n_parts;
	struct part *parts;
};

void hwtpy_table_retain(struct hwtpy_table *table);

/* Return `code`, which `err` says with a message of at most its room. */
int hwtpy_fail(struct hwtd_error *err, int code, const char *format, ...);
int hwtpy_no_memory(struct hwtd_error *err);

/* Zeroes; NULL also when the product has no size_t. */
void *hwtpy_make(size_t n, size_t bytes);

/* Copies text, with \xNN for what is none; `to` may be NULL.  Its bytes. */
uint64_t hwtpy_put_text(const uint8_t *from, size_t n, uint8_t *to);

/* As 64 bits; of I64 and I32 in two's complement, of pointers if there is one. */
uint64_t hwtpy_load(const struct hwtpy_members *m, uint64_t row);
double hwtpy_load_real(const struct hwtpy_members *m, uint64_t row);

struct hwtpy_text {
	const uint8_t *bytes;
	size_t n;
};

/* False: there is none. */
bool hwtpy_load_text(const struct hwtpy_members *m, const uint64_t *offsets,
    uint64_t row, struct hwtpy_text *out);

struct hwtpy_names *hwtpy_names_retain(struct hwtpy_names *names);

#endif /* HWTPY_TABLE_PARTS_H */
