/*
 * Lines that are JSON objects of strings and whole numbers, as bsdtrace writes
 * them; also those that it writes wrong.
 */
#ifndef HWTDI_FLAT_JSON_H
#define HWTDI_FLAT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fields of a line; more are refused. */
#define HWTDI_FLAT_FIELDS 16

struct hwtdi_flat_field {
	const char *key;
	/* NULL: a number. */
	const char *text;
	uint64_t number;
	/* The number is less than 0. */
	bool negative;
};

struct hwtdi_flat_line {
	struct hwtdi_flat_field fields[HWTDI_FLAT_FIELDS];
	size_t n;
	/* Of a line that was refused: where, and what is wrong there. */
	size_t at;
	const char *why;
};

/*
 * Take a line apart, in its place: strings are unescaped and end with NUL, and
 * borrow its bytes.  \u0000 is refused, \u0001 to \u00ff are bytes and others
 * UTF-8.  A quote inside of a string need not be escaped, where what follows
 * it is no end of a string.
 */
bool hwtdi_flat_parse(struct hwtdi_flat_line *line, char *text, size_t n);

/* NULL: it has none of that name. */
const struct hwtdi_flat_field *hwtdi_flat_find(
    const struct hwtdi_flat_line *line, const char *key);

/*
 * What is wrong with a field as a number of at most `most`, or NULL and the
 * number.  It may be a string: 0x..., or decimal.
 */
const char *hwtdi_flat_number(const struct hwtdi_flat_line *line,
    const char *key, uint64_t most, uint64_t *out);

#endif /* HWTDI_FLAT_JSON_H */
