/*
 * A batch of columns: filled from rows, chunk by chunk, in the layout that
 * Arrow gives to arrays.
 */
#ifndef HWTDI_COLUMN_BATCH_H
#define HWTDI_COLUMN_BATCH_H

#include "base/library.h"
#include "export/columns/columns.h"
#include "export/columns/row_source.h"

/* Rows that are added at once, at most. */
#define HWTDI_CHUNK 1024

/* Numbers below it have names of their own; the rest has that of the last. */
#define HWTDI_NUMBERS 96
#define HWTDI_NAMES_BYTES 1024

/* The names of a column, each once, in the order of their numbers. */
struct hwtdi_dictionary {
	size_t n;
	int32_t offsets[HWTDI_NUMBERS + 1];
	char text[HWTDI_NAMES_BYTES];
	/* Which name a number has. */
	uint8_t index[HWTDI_NUMBERS];
};

void hwtdi_dictionary_init(struct hwtdi_dictionary *dictionary,
    const char *(*name_of)(uint32_t number));

/* One column that is wanted, for all batches. */
struct hwtdi_column_plan {
	const struct hwtdi_column *column;
	/* Columns of names only. */
	struct hwtdi_dictionary *dictionary;
};

struct hwtdi_column_buffer {
	const struct hwtdi_column *column;
	/* Numbers, bits or offsets of text; NULL: so far all are unknown. */
	uint8_t *values;
	/* Bits; NULL where the column is always known. */
	uint8_t *known;
	/* Rows that there is room for. */
	size_t cap;
	char *text;
	size_t n_text, cap_text;
	size_t n_known;
};

struct hwtdi_column_batch {
	struct hwtd_context *library;
	struct hwtdi_column_buffer *columns;
	size_t n_columns;
	/* Rows, and how many there is room for. */
	size_t n, cap;
};

/* Members of a chunk that are summed up, at most. */
#define HWTDI_SUMMARIES 6

/* What all values of a member have in common. */
struct hwtdi_summary {
	struct hwtdi_field field;
	/* Bits that are set in all, and in any. */
	uint64_t all, any;
	/* Of bytes: bit (1 << n) where there is a number n, below 64. */
	uint64_t numbers;
};

/* What is needed to fill batches, one after the other. */
struct hwtdi_column_filler {
	const struct hwtdi_column_plan *plan;

	/* What the source at hand has for a chunk, and for which rows. */
	const uint8_t *from[HWTDI_CHUNK];
	uint16_t at[HWTDI_CHUNK];
	size_t n_from;
	/*
	 * Instead of these two, where there is something for each row: it stands
	 * here, so many bytes apart; 0: it is the same for all.
	 */
	const uint8_t *base;
	size_t stride;
	struct hwtdi_summary summaries[HWTDI_SUMMARIES];
	size_t n_summaries;
	/* Numbers of a member of it; no bytes: of none. */
	struct hwtdi_field loaded;
	uint64_t numbers[HWTDI_CHUNK];
	/* 1: known. */
	uint8_t known[HWTDI_CHUNK];
	/* 0 or 1 for each row, to become bits. */
	uint8_t flags[HWTDI_CHUNK];
};

int hwtdi_column_batch_init(struct hwtdi_column_batch *batch,
    struct hwtd_context *library, const struct hwtdi_column_plan *plan,
    size_t n_columns, struct hwtd_error *err);
void hwtdi_column_batch_fini(struct hwtdi_column_batch *batch);

/* Change the room of a column, which has no more rows than that. */
int hwtdi_column_buffer_room(struct hwtdi_column_batch *batch,
    struct hwtdi_column_buffer *buffer, size_t cap, struct hwtd_error *err);

/* Have room for so many rows in all. */
int hwtdi_column_batch_reserve(struct hwtdi_column_batch *batch, size_t cap,
    struct hwtd_error *err);

/*
 * Append the `n` rows that were read last, which there is room for.  After a
 * failure: give it up.
 */
int hwtdi_column_batch_add(struct hwtdi_column_batch *batch,
    struct hwtdi_column_filler *filler, struct hwtdi_rows *rows, size_t n,
    struct hwtd_error *err);

/* Bytes of the text of the column that has most. */
size_t hwtdi_column_batch_text(const struct hwtdi_column_batch *batch);

/* Give back room that was not needed. */
void hwtdi_column_batch_trim(struct hwtdi_column_batch *batch);

#endif /* HWTDI_COLUMN_BATCH_H */
