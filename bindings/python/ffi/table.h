/*
 * Tables: columns out of numbers and texts that Python has, or out of members of
 * C structs, as one Arrow record batch.
 *
 * A table holds copies, so that what it was made of can be closed.  It is never
 * changed, and counted: arrays that were given out keep it alive.
 */
#ifndef HWTPY_TABLE_H
#define HWTPY_TABLE_H

#ifndef HWTD_CDEF
#include <hwtdecode/hwtdecode.h>
#endif

struct hwtpy_table;
struct hwtpy_names;

/** What a column has. */
enum hwtpy_kind {
	HWTPY_U64 = 0,
	HWTPY_I64 = 1,
	HWTPY_U32 = 2,
	HWTPY_U8 = 3,
	HWTPY_F64 = 4,
	HWTPY_BOOL = 5,
	HWTPY_TEXT = 6,
	/** Text out of a list of names: numbers of these, and the list. */
	HWTPY_NAME = 7
};

/** How a value lies in memory. */
enum hwtpy_type {
	HWTPY_TYPE_U64 = 0,
	HWTPY_TYPE_I64 = 1,
	HWTPY_TYPE_U32 = 2,
	HWTPY_TYPE_I32 = 3,
	HWTPY_TYPE_U16 = 4,
	HWTPY_TYPE_U8 = 5,
	HWTPY_TYPE_F64 = 6,
	/** A pointer to text that ends in NUL; NULL: not known. */
	HWTPY_TYPE_STRING = 7,
	/** Bytes of all texts, one behind the other; see `offsets`. */
	HWTPY_TYPE_BYTES = 8
};

/** Which values are known, by a member of the same row. */
enum hwtpy_known {
	HWTPY_KNOWN_ALL = 0,
	/** One of the bits of `mask` is set, or none of them. */
	HWTPY_KNOWN_BITS = 1,
	HWTPY_KNOWN_NO_BITS = 2,
	/** It is not HWTD_NO_ID. */
	HWTPY_KNOWN_ID = 3,
	HWTPY_KNOWN_NONE = 4
};

/** Members of an array of structs, `stride` bytes apart. */
struct hwtpy_members {
	/** That of the first row. */
	const void *first;
	size_t stride;
	/** An hwtpy_type. */
	uint32_t type;
	uint32_t reserved;
};

/** A column. */
struct hwtpy_column {
	/** UTF-8; `unit` and `meaning` may be NULL. */
	const char *name;
	const char *unit;
	const char *meaning;
	/** An hwtpy_kind. */
	uint32_t kind;
	/** An hwtpy_known. */
	uint32_t known;
	struct hwtpy_members values;
	/** What tells if they are known. */
	struct hwtpy_members known_by;
	uint64_t known_mask;
	/**
	 * Where `values` and `known_by` are those of other structs: the number of
	 * such a struct, for each row.  `first` is NULL: they are the row's own.
	 */
	struct hwtpy_members at;
	/** Of these structs.  A number past them: nothing is known. */
	uint64_t n_others;
	/** HWTPY_BOOL: true if one of these bits is set; 0: any. */
	uint64_t mask;
	/** HWTPY_F64: what values are multiplied with; 0: nothing. */
	double scale;
	/** HWTPY_TYPE_BYTES: shape [rows + 1], where each text begins. */
	const uint64_t *offsets;
	/** HWTPY_NAME: the list. */
	struct hwtpy_names *names;
	/** Shape [n_numbers]: from values to numbers in it; NULL: the same. */
	const uint32_t *numbers;
	size_t n_numbers;
};

/*
 * Make a list of names in which each stands once.
 *
 * @param[in]  texts        HWTPY_TYPE_STRING, or HWTPY_TYPE_BYTES with
 *                          `offsets`, shape [n + 1].
 * @param[out] numbers_out  Shape [n]: the number of each text, or HWTD_NO_ID
 *                          where there is none.
 *
 * @return HWTD_OK, HWTD_E_NOMEM, HWTD_E_LIMIT: more than 2 GiB, HWTD_E_INVALID.
 *
 * Lives:  owned; give up with hwtpy_names_release().
 */
int hwtpy_names_create(const struct hwtpy_members *texts,
    const uint64_t *offsets, size_t n, uint32_t *numbers_out,
    struct hwtpy_names **names_out, struct hwtd_error *err);
size_t hwtpy_names_count(const struct hwtpy_names *names);
void hwtpy_names_release(struct hwtpy_names *names);

/*
 * Gather columns.  Text that is no UTF-8 becomes text with \xNN.
 *
 * @return HWTD_OK, HWTD_E_NOMEM, HWTD_E_LIMIT: texts of a column are more than
 *         2 GiB, HWTD_E_INVALID.
 *
 * Lives:  owned; give up with hwtpy_table_release().
 */
int hwtpy_table_create(const struct hwtpy_column *columns, size_t n_columns,
    uint64_t n_rows, struct hwtpy_table **table_out, struct hwtd_error *err);

/*
 * A table of some rows of another one, in any order.
 *
 * @param[in] rows  Shape [n]: numbers of rows.
 */
int hwtpy_table_take(const struct hwtpy_table *table, const uint64_t *rows,
    uint64_t n, struct hwtpy_table **table_out, struct hwtd_error *err);

void hwtpy_table_release(struct hwtpy_table *table);

/* A schema and an array of the same memory; both to be released. */
int hwtpy_table_export(struct hwtpy_table *table, struct ArrowSchema *schema,
    struct ArrowArray *array, struct hwtd_error *err);

#endif /* HWTPY_TABLE_H */
