/*
 * Columns of rows: what each is called, what it means, where its values stand
 * and when they are known.  Each kind of rows has a table of them.
 */
#ifndef HWTDI_COLUMNS_H
#define HWTDI_COLUMNS_H

#include <hwtdecode/export.h>

#include <stdbool.h>
#include <stddef.h>

enum hwtdi_column_type {
	HWTDI_U64,
	HWTDI_U32,
	HWTDI_I32,
	HWTDI_U8,
	/* Whether any of the bits `bits` is set. */
	HWTDI_BOOL,
	/* A number with a name: the field shifted right by `shift`. */
	HWTDI_NAME,
	/* A string in an array of char. */
	HWTDI_TEXT,
	/* One that a pointer leads to; made UTF-8 if it is not. */
	HWTDI_STRING
};

/* A member of the source: its offset, and its bytes: 1, 2, 4, 8, or text. */
struct hwtdi_field {
	uint16_t off;
	uint16_t bytes;
};

#define HWTDI_FIELD(type, member)                                             \
	{                                                                     \
		(uint16_t) offsetof(struct type, member),                     \
		    (uint16_t)sizeof(((struct type *)0)->member)              \
	}

/* When a value is known. */
enum hwtdi_condition_type {
	HWTDI_ALWAYS = 0,
	/* Any of the bits `set` of the field is set. */
	HWTDI_IF_BITS,
	/* The field is a number n with bit (1 << n) in `set`. */
	HWTDI_IF_ONE_OF,
	/* The field is not HWTD_NO_ID. */
	HWTDI_IF_ID,
	/* The field, a pointer or number, is not 0. */
	HWTDI_IF_SET,
	/* The field of 64 bits is not UINT64_MAX. */
	HWTDI_IF_NOT_MAX
};

struct hwtdi_condition {
	enum hwtdi_condition_type type;
	struct hwtdi_field field;
	uint32_t set;
};

/* Instead of such a bit: the column is there only if it is named. */
#define HWTDI_NAMED_ONLY (UINT64_C(1) << 63)

#define HWTDI_CONDITIONS 3

struct hwtdi_column {
	const char *name;
	/* An HWTD_COL_* bit; 0: it has none, and is there if no names are. */
	uint64_t column;
	/* Which of the sources of its rows; not all rows have something there. */
	uint8_t source;
	bool sparse;
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
struct hwtdi_column_table {
	const struct hwtdi_column *columns;
	size_t n;
	/* HWTD_COL_* bits: all, and those that are there without being asked for. */
	uint64_t all, usual;
};

/* Sources of columns of events. */
enum hwtdi_event_source {
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
	HWTDI_FROM_SAMPLE,
	/* struct hwtdi_code_name, of rows with code. */
	HWTDI_FROM_NAME
};

#define HWTDI_EVENT_SOURCES 9

/* What is known of the code of a row; NULL, 0: nothing. */
struct hwtdi_code_name {
	const char *function;
	const char *image;
	const char *file;
	uint32_t line;
};

extern const struct hwtdi_column_table hwtdi_event_columns;

/* Values of it may be unknown. */
bool hwtdi_column_nullable(const struct hwtdi_column *column);

/* They are text: offsets, and bytes behind them. */
bool hwtdi_column_is_text(const struct hwtdi_column *column);

#endif /* HWTDI_COLUMNS_H */
