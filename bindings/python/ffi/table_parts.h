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
int hwtpy_no_memory(struct hwtd_error *err);

#endif /* HWTPY_TABLE_PARTS_H */
