/*
 * Parsing the values of options: numbers, lists, ranges, times.
 *
 * All return false when the text is not such a value and say nothing; the
 * caller knows the option and says it.
 */
#ifndef HWTDECODE_CLI_OPTION_VALUES_H
#define HWTDECODE_CLI_OPTION_VALUES_H

#include "cli/options.h"

/* Decimal, or hexadecimal after 0x; all of [text, text + n). */
bool parse_number(const char *text, size_t n, uint64_t *out);
/* The same without 0x and always hexadecimal. */
bool parse_hex(const char *text, size_t n, uint64_t *out);
/* A NUL-terminated number in [min, max]. */
bool parse_number_in(const char *text, uint64_t min, uint64_t max,
    uint64_t *out);
/* A percentage, 0 to 100, with a fraction. */
bool parse_percent(const char *text, double *out);

/* "A-B", both needed; inclusive or half-open is up to the caller. */
bool parse_number_pair(const char *text, char separator, uint64_t *a,
    uint64_t *b);
/* "A-B", "A-", "-B", "A": half-open. */
bool parse_address_range(const char *text, struct hwtd_range *out);
/* "A-B" in ns or with units, ends may be left out: half-open. */
bool parse_time_range(const char *text, struct hwtd_range *out);

/* "0,2-5", added to the list. */
bool parse_id_list(const char *text, struct id_list *list);

bool range_list_add(struct range_list *list, struct hwtd_range range);

/* One of "a|b|c": its place in *index_out. */
bool parse_choice(const char *text, const char *choices, size_t *index_out);

/* COUNTS/NS[@BASE[=BASENS]] */
bool parse_clock(const char *text, struct hwtd_clock *out);
/* FAMILY/MODEL[/STEPPING] */
bool parse_pt_cpu(const char *text, struct hwtd_pt_config *out);

/*
 * Distance of two words in edits, for "did you mean"; swapped neighbours
 * count as one.
 */
unsigned int word_distance(const char *a, const char *b);

#endif /* HWTDECODE_CLI_OPTION_VALUES_H */
