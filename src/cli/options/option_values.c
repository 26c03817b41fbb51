/*
 * Parsing the values of options: numbers, lists, ranges, times.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/options/option_values.h"

/* Ids that one list may hold; "0-4294967295" is a slip. */
#define MAX_LIST 65536

static int
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (c - 'A' + 10);
	return (99);
}

static enum value_fault
parse_digits(const char *text, size_t n, uint64_t base, uint64_t *out)
{
	enum value_fault fault = n == 0 ? VALUE_SHAPE : VALUE_FINE;
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t digit = (uint64_t)digit_value(text[i]);

		if (digit >= base)
			return (VALUE_SHAPE);
		if (value > (UINT64_MAX - digit) / base)
			fault = VALUE_LARGE;
		value = value * base + digit;
	}
	if (fault == VALUE_FINE)
		*out = value;
	return (fault);
}

enum value_fault
parse_number(const char *text, size_t n, uint64_t *out)
{
	if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return (parse_digits(text + 2, n - 2, 16, out));
	return (parse_digits(text, n, 10, out));
}

enum value_fault
parse_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMGkmg";
	size_t n = strlen(text);
	unsigned int shift = 0;
	enum value_fault fault;

	if (n > 1) {
		const char *unit = strchr(units, text[n - 1]);

		if (unit != NULL) {
			shift = 10 * (unsigned int)((unit - units) % 3 + 1);
			n--;
		}
	}
	fault = parse_number(text, n, out);
	if (fault == VALUE_FINE && *out > UINT64_MAX >> shift)
		fault = VALUE_LARGE;
	if (fault == VALUE_FINE)
		*out <<= shift;
	return (fault);
}

enum value_fault
parse_hex(const char *text, size_t n, uint64_t *out)
{
	return (parse_digits(text, n, 16, out));
}

bool
parse_number_in(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;

	if (parse_number(text, strlen(text), &value) != VALUE_FINE ||
	    value < min || value > max)
		return (false);
	*out = value;
	return (true);
}

bool
parse_percent(const char *text, double *out)
{
	size_t n = strlen(text);
	char *end;

	if (n > 0 && text[n - 1] == '%')
		n--;
	if (n == 0 || strspn(text, "0123456789.") != n)
		return (false);
	const double value = strtod(text, &end);

	if ((size_t)(end - text) != n || !(value >= 0 && value <= 100))
		return (false);
	*out = value;
	return (true);
}

/* A wrong shape is worse than what the numbers are. */
static enum value_fault
worse(enum value_fault a, enum value_fault b)
{
	return (a == VALUE_SHAPE || b == VALUE_FINE ? a : b);
}

enum value_fault
parse_number_pair(const char *text, char separator, uint64_t *a, uint64_t *b)
{
	const char *mid = strchr(text, separator);

	if (mid == NULL)
		return (VALUE_SHAPE);
	return (worse(parse_number(text, (size_t)(mid - text), a),
	    parse_number(mid + 1, strlen(mid + 1), b)));
}

enum value_fault
parse_inclusive_range(const char *text, uint64_t *first, uint64_t *last)
{
	const enum value_fault fault = parse_number_pair(text, '-', first,
	    last);

	return (fault != VALUE_FINE || *first <= *last ? fault
						       : VALUE_BACKWARDS);
}

static enum value_fault
check_range(const struct hwtd_range *range)
{
	return (range->start < range->end    ? VALUE_FINE
		: range->start == range->end ? VALUE_EMPTY
					     : VALUE_BACKWARDS);
}

/* "A-B", "A-" or "-B" of what `parse` takes. */
static enum value_fault
parse_half_open(const char *text,
    enum value_fault (*parse)(const char *text, size_t n, uint64_t *out),
    struct hwtd_range *out)
{
	const char *mid = strchr(text, '-');
	struct hwtd_range range = { 0, UINT64_MAX };
	enum value_fault fault = VALUE_FINE;

	if (mid == NULL || (mid == text && mid[1] == '\0'))
		return (VALUE_SHAPE);
	if (mid != text)
		fault = parse(text, (size_t)(mid - text), &range.start);
	if (mid[1] != '\0')
		fault = worse(fault,
		    parse(mid + 1, strlen(mid + 1), &range.end));
	*out = range;
	return (fault != VALUE_FINE ? fault : check_range(&range));
}

enum value_fault
parse_address_range(const char *text, struct hwtd_range *out)
{
	enum value_fault fault;

	if (strchr(text, '-') != NULL)
		return (parse_half_open(text, parse_number, out));
	fault = parse_number(text, strlen(text), &out->start);
	/* The range must have an end behind it. */
	if (fault == VALUE_FINE && out->start == UINT64_MAX)
		return (VALUE_LARGE);
	out->end = out->start + 1;
	return (fault);
}

/* "1.5ms" in ns.  A fraction finer than 1 ns is refused. */
static enum value_fault
parse_time(const char *text, size_t n, uint64_t *out)
{
	static const struct {
		const char *name;
		unsigned int zeros;
	} units[] = { { "ns", 0 }, { "us", 3 }, { "ms", 6 }, { "s", 9 } };
	unsigned int zeros = 0;
	uint64_t value = 0;
	size_t end = n;
	bool point = false;
	bool any = false;
	bool large = false;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t len = strlen(units[i].name);

		if (n > len &&
		    memcmp(text + n - len, units[i].name, len) == 0) {
			zeros = units[i].zeros;
			end = n - len;
			break;
		}
	}
	for (size_t i = 0; i < end; i++) {
		if (text[i] == '.' && !point) {
			point = true;
			continue;
		}
		const uint64_t digit = (uint64_t)digit_value(text[i]);

		if (digit > 9 || (point && zeros == 0))
			return (VALUE_SHAPE);
		large = large || value > (UINT64_MAX - digit) / 10;
		value = value * 10 + digit;
		any = true;
		if (point)
			zeros--;
	}
	while (zeros-- > 0) {
		large = large || value > UINT64_MAX / 10;
		value *= 10;
	}
	*out = value;
	return (!any ? VALUE_SHAPE : large ? VALUE_LARGE : VALUE_FINE);
}

enum value_fault
parse_duration(const char *text, uint64_t *out)
{
	return (parse_time(text, strlen(text), out));
}

enum value_fault
parse_time_range(const char *text, struct hwtd_range *out)
{
	return (parse_half_open(text, parse_time, out));
}

static enum value_fault
id_list_add(struct id_list *list, uint64_t first, uint64_t last)
{
	if (first > last)
		return (VALUE_BACKWARDS);
	if (last >= HWTD_NO_ID || last - first >= MAX_LIST ||
	    list->n + (size_t)(last - first) >= MAX_LIST)
		return (VALUE_LARGE);
	const size_t more = (size_t)(last - first) + 1;
	uint32_t *ids = realloc(list->ids, (list->n + more) * sizeof(*ids));

	if (ids == NULL)
		return (VALUE_NO_MEMORY);
	list->ids = ids;
	for (size_t i = 0; i < more; i++)
		ids[list->n++] = (uint32_t)(first + i);
	return (VALUE_FINE);
}

enum value_fault
parse_id_list(const char *text, struct id_list *list)
{
	for (;;) {
		const size_t n = strcspn(text, ",");
		const char *mid = memchr(text, '-', n);
		uint64_t first = 0;
		uint64_t last = 0;
		enum value_fault fault = parse_number(text,
		    mid != NULL ? (size_t)(mid - text) : n, &first);

		if (mid == NULL)
			last = first;
		else
			fault = worse(fault,
			    parse_number(mid + 1, n - (size_t)(mid + 1 - text),
				&last));
		if (fault == VALUE_FINE)
			fault = id_list_add(list, first, last);
		if (fault != VALUE_FINE || text[n] == '\0')
			return (fault);
		text += n + 1;
	}
}

bool
range_list_add(struct range_list *list, struct hwtd_range range)
{
	struct hwtd_range *ranges = realloc(list->ranges,
	    (list->n + 1) * sizeof(*ranges));

	if (ranges == NULL)
		return (false);
	list->ranges = ranges;
	ranges[list->n++] = range;
	return (true);
}

bool
parse_choice(const char *text, const char *choices, size_t *index_out)
{
	const size_t n = strlen(text);

	for (size_t i = 0;; i++) {
		const size_t len = strcspn(choices, "|");

		if (len == n && memcmp(choices, text, n) == 0) {
			*index_out = i;
			return (true);
		}
		if (choices[len] == '\0')
			return (false);
		choices += len + 1;
	}
}

enum value_fault
parse_clock(const char *text, struct hwtd_clock *out)
{
	const char *slash = strchr(text, '/');
	const char *at = strchr(text, '@');
	const char *equal = at != NULL ? strchr(at, '=') : NULL;
	const char *end = text + strlen(text);
	struct hwtd_clock clock = { 0 };
	enum value_fault fault;

	if (slash == NULL || (at != NULL && at < slash))
		return (VALUE_SHAPE);
	fault = worse(parse_number(text, (size_t)(slash - text),
			  &clock.counts_per),
	    parse_number(slash + 1,
		(size_t)((at != NULL ? at : end) - (slash + 1)),
		&clock.ns_per));
	if (at != NULL)
		fault = worse(fault,
		    parse_number(at + 1,
			(size_t)((equal != NULL ? equal : end) - (at + 1)),
			&clock.base_count));
	if (equal != NULL)
		fault = worse(fault,
		    parse_number(equal + 1, strlen(equal + 1),
			&clock.base_ns));
	if (fault != VALUE_FINE)
		return (fault);
	if (clock.counts_per == 0 || clock.ns_per == 0)
		return (VALUE_SHAPE);
	*out = clock;
	return (VALUE_FINE);
}

enum value_fault
parse_pt_cpu(const char *text, struct hwtd_pt_config *out)
{
	uint64_t part[3] = { 0 };
	static const uint64_t most[3] = { UINT16_MAX, UINT8_MAX, UINT8_MAX };
	enum value_fault fault = VALUE_FINE;
	size_t n = 0;

	for (;;) {
		const size_t len = strcspn(text, "/");

		if (n == 3)
			return (VALUE_SHAPE);
		fault = worse(fault, parse_number(text, len, &part[n]));
		if (part[n] > most[n])
			fault = worse(fault, VALUE_LARGE);
		n++;
		if (text[len] == '\0')
			break;
		text += len + 1;
	}
	if (n < 2)
		return (VALUE_SHAPE);
	if (fault != VALUE_FINE)
		return (fault);
	out->cpu_family = (uint16_t)part[0];
	out->cpu_model = (uint8_t)part[1];
	out->cpu_stepping = (uint8_t)part[2];
	return (VALUE_FINE);
}

#define MAX_WORD 32

unsigned int
word_distance(const char *a, const char *b)
{
	const size_t na = strlen(a);
	const size_t nb = strlen(b);
	unsigned int cost[MAX_WORD + 1][MAX_WORD + 1];

	if (na > MAX_WORD || nb > MAX_WORD)
		return (MAX_WORD);
	for (size_t i = 0; i <= na; i++) {
		for (size_t j = 0; j <= nb; j++) {
			if (i == 0 || j == 0) {
				cost[i][j] = (unsigned int)(i + j);
				continue;
			}
			unsigned int best = cost[i - 1][j - 1] +
			    (a[i - 1] != b[j - 1]);

			if (cost[i - 1][j] + 1 < best)
				best = cost[i - 1][j] + 1;
			if (cost[i][j - 1] + 1 < best)
				best = cost[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] &&
			    cost[i - 2][j - 2] + 1 < best)
				best = cost[i - 2][j - 2] + 1;
			cost[i][j] = best;
		}
	}
	return (cost[na][nb]);
}
