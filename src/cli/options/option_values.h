/*
 * Parsing the values of options: numbers, lists, ranges, times.
 *
 * All say nothing when the text is not such a value, only what is wrong with
 * it; the caller knows the option and says it.
 */
#ifndef HWTDECODE_CLI_OPTION_VALUES_H
#define HWTDECODE_CLI_OPTION_VALUES_H

#include "cli/options/options.h"

/* What is wrong with a value. */
enum value_fault {
	VALUE_FINE,
	/* It is not written as such values are. */
	VALUE_SHAPE,
	/* A number in it is larger than there can be. */
	VALUE_LARGE,
	/* A range ends before it starts. */
	VALUE_BACKWARDS,
	/* A half-open range ends where it starts. */
	VALUE_EMPTY,
	VALUE_NO_MEMORY
};

/* Decimal, or hexadecimal after 0x; all of [text, text + n). */
enum value_fault parse_number(const char *text, size_t n, uint64_t *out);
/* Bytes: a number, with K, M or G times 2^10, 2^20 or 2^30. */
enum value_fault parse_size(const char *text, uint64_t *out);
/* "1.5ms" and the like, or a number of ns. */
enum value_fault parse_duration(const char *text, uint64_t *out);
/* The same as a number without 0x and always hexadecimal. */
enum value_fault parse_hex(const char *text, size_t n, uint64_t *out);
/* A NUL-terminated number in [min, max]. */
bool parse_number_in(const char *text, uint64_t min, uint64_t max,
    uint64_t *out);
/* A percentage, 0 to 100, with a fraction. */
bool parse_percent(const char *text, double *out);

/* Two numbers with `separator` between. */
enum value_fault parse_number_pair(const char *text, char separator,
    uint64_t *a, uint64_t *b);
/* "A-B" that includes B. */
enum value_fault parse_inclusive_range(const char *text, uint64_t *first,
    uint64_t *last);
/* "A-B", "A-", "-B", "A": half-open. */
enum value_fault parse_address_range(const char *text, struct hwtd_range *out);
/* "A-B" in ns or with units, ends may be left out: half-open. */
enum value_fault parse_time_range(const char *text, struct hwtd_range *out);

/* "0,2-5", added to the list. */
enum value_fault parse_id_list(const char *text, struct id_list *list);

bool range_list_add(struct range_list *list, struct hwtd_range range);

/* One of "a|b|c": its place in *index_out. */
bool parse_choice(const char *text, const char *choices, size_t *index_out);

/* COUNTS/NS[@BASE[=BASENS]] */
enum value_fault parse_clock(const char *text, struct hwtd_clock *out);
/* FAMILY/MODEL[/STEPPING] */
enum value_fault parse_pt_cpu(const char *text, struct hwtd_pt_config *out);

/*
 * Distance of two words in edits, for "did you mean"; swapped neighbours
 * count as one.
 */
unsigned int word_distance(const char *a, const char *b);

#endif /* HWTDECODE_CLI_OPTION_VALUES_H */
