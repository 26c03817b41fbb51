/*
 * The columns of events: the one table that says what each is called, what it
 * means, where its values stand and when they are known.
 */
#ifndef HWTDI_COLUMNS_H
#define HWTDI_COLUMNS_H

#include <hwtdecode/export.h>

/* Where the values of a column stand. */
enum hwtdi_column_source {
	/* struct hwtd_event, of each row. */
	HWTDI_FROM_ROW,
	/* The same, of rows whose place in a stream is known. */
	HWTDI_FROM_PLACED_ROW,
	/* struct hwtd_exec_context, of each row. */
	HWTDI_FROM_CONTEXT,
	/* The detail of rows of a kind. */
	HWTDI_FROM_GAP,
	HWTDI_FROM_MARKER,
	HWTDI_FROM_POWER,
	HWTDI_FROM_ASYNC,
	HWTDI_FROM_SAMPLE
};

#define HWTDI_COLUMN_SOURCES 8

enum hwtdi_column_type {
	HWTDI_U64,
	HWTDI_U32,
	HWTDI_U8,
	/* Whether any of the bits `bits` is set. */
	HWTDI_BOOL,
	/* A number with a name: the field shifted right by `shift`. */
	HWTDI_NAME,
	/* A string in an array of char. */
	HWTDI_TEXT
};

/* A member of the source: its offset, and its bytes: 1, 2, 4, 8, or text. */
struct hwtdi_field {
	uint16_t off;
	uint16_t bytes;
};

/* When a value is known. */
enum hwtdi_condition_type {
	HWTDI_ALWAYS = 0,
	/* Any of the bits `set` of the field is set. */
	HWTDI_IF_BITS,
	/* The field is a number n with bit (1 << n) in `set`. */
	HWTDI_IF_ONE_OF,
	/* The field is not HWTD_NO_ID. */
	HWTDI_IF_ID
};

struct hwtdi_condition {
	enum hwtdi_condition_type type;
	struct hwtdi_field field;
	uint32_t set;
};

#define HWTDI_CONDITIONS 2

struct hwtdi_column {
	const char *name;
	/* An HWTD_COL_* bit. */
	uint64_t column;
	enum hwtdi_column_source source;
	enum hwtdi_column_type type;
	struct hwtdi_field field;
	/* All have to hold. */
	struct hwtdi_condition conditions[HWTDI_CONDITIONS];
	uint32_t bits;
	uint32_t shift;
	const char *(*name_of)(uint32_t number);
	const char *meaning;
	/* NULL: none. */
	const char *unit;
};

/* In the order of the schema. */
const struct hwtdi_column *hwtdi_columns(size_t *n_out);

/* All HWTD_COL_* bits of the table. */
uint64_t hwtdi_columns_all(void);

/* Values of it may be unknown. */
bool hwtdi_column_nullable(const struct hwtdi_column *column);

#endif /* HWTDI_COLUMNS_H */
