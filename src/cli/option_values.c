/*
 * Parsing the values of options: numbers, lists, ranges, times.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/option_values.h"

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

static bool
parse_digits(const char *text, size_t n, uint64_t base, uint64_t *out)
{
	uint64_t value = 0;

	if (n == 0)
		return (false);
	for (size_t i = 0; i < n; i++) {
		const uint64_t digit = (uint64_t)digit_value(text[i]);

		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return (false);
		value = value * base + digit;
	}
	*out = value;
	return (true);
}

bool
parse_number(const char *text, size_t n, uint64_t *out)
{
	if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return (parse_digits(text + 2, n - 2, 16, out));
	return (parse_digits(text, n, 10, out));
}

bool
parse_hex(const char *text, size_t n, uint64_t *out)
{
	return (parse_digits(text, n, 16, out));
}

bool
parse_number_in(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;

	if (!parse_number(text, strlen(text), &value) || value < min ||
	    value > max)
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

bool
parse_number_pair(const char *text, char separator, uint64_t *a, uint64_t *b)
{
	const char *mid = strchr(text, separator);

	return (mid != NULL && parse_number(text, (size_t)(mid - text), a) &&
	    parse_number(mid + 1, strlen(mid + 1), b));
}

bool
parse_address_range(const char *text, struct hwtd_range *out)
{
	const char *mid = strchr(text, '-');
	struct hwtd_range range = { 0, UINT64_MAX };

	if (mid == NULL) {
		if (!parse_number(text, strlen(text), &range.start) ||
		    range.start == UINT64_MAX)
			return (false);
		range.end = range.start + 1;
	} else {
		if (mid == text && mid[1] == '\0')
			return (false);
		if (mid != text &&
		    !parse_number(text, (size_t)(mid - text), &range.start))
			return (false);
		if (mid[1] != '\0' &&
		    !parse_number(mid + 1, strlen(mid + 1), &range.end))
			return (false);
	}
	*out = range;
	return (range.start < range.end);
}

/* "1.5ms" in ns.  A fraction finer than 1 ns is refused. */
static bool
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

		if (digit > 9 || (point && zeros == 0) ||
		    value > (UINT64_MAX - digit) / 10)
			return (false);
		value = value * 10 + digit;
		any = true;
		if (point)
			zeros--;
	}
	while (zeros-- > 0) {
		if (value > UINT64_MAX / 10)
			return (false);
		value *= 10;
	}
	*out = value;
	return (any);
}

bool
parse_time_range(const char *text, struct hwtd_range *out)
{
	const char *mid = strchr(text, '-');
	struct hwtd_range range = { 0, UINT64_MAX };

	if (mid == NULL || (mid == text && mid[1] == '\0'))
		return (false);
	if (mid != text &&
	    !parse_time(text, (size_t)(mid - text), &range.start))
		return (false);
	if (mid[1] != '\0' &&
	    !parse_time(mid + 1, strlen(mid + 1), &range.end))
		return (false);
	*out = range;
	return (range.start < range.end);
}

static bool
id_list_add(struct id_list *list, uint64_t first, uint64_t last)
{
	if (first > last || last >= HWTD_NO_ID || last - first >= MAX_LIST ||
	    list->n + (size_t)(last - first) >= MAX_LIST)
		return (false);
	const size_t more = (size_t)(last - first) + 1;
	uint32_t *ids = realloc(list->ids, (list->n + more) * sizeof(*ids));

	if (ids == NULL)
		return (false);
	list->ids = ids;
	for (size_t i = 0; i < more; i++)
		ids[list->n++] = (uint32_t)(first + i);
	return (true);
}

bool
parse_id_list(const char *text, struct id_list *list)
{
	for (;;) {
		const size_t n = strcspn(text, ",");
		const char *mid = memchr(text, '-', n);
		uint64_t first, last;

		if (mid == NULL) {
			if (!parse_number(text, n, &first))
				return (false);
			last = first;
		} else if (!parse_number(text, (size_t)(mid - text), &first) ||
		    !parse_number(mid + 1, n - (size_t)(mid + 1 - text),
			&last)) {
			return (false);
		}
		if (!id_list_add(list, first, last))
			return (false);
		if (text[n] == '\0')
			return (true);
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

bool
parse_clock(const char *text, struct hwtd_clock *out)
{
	const char *slash = strchr(text, '/');
	const char *at = strchr(text, '@');
	const char *equal = at != NULL ? strchr(at, '=') : NULL;
	const char *end = text + strlen(text);
	struct hwtd_clock clock = { 0 };

	if (slash == NULL)
		return (false);
	if (!parse_number(text, (size_t)(slash - text), &clock.counts_per) ||
	    !parse_number(slash + 1,
		(size_t)((at != NULL ? at : end) - (slash + 1)),
		&clock.ns_per))
		return (false);
	if (at != NULL &&
	    !parse_number(at + 1,
		(size_t)((equal != NULL ? equal : end) - (at + 1)),
		&clock.base_count))
		return (false);
	if (equal != NULL &&
	    !parse_number(equal + 1, strlen(equal + 1), &clock.base_ns))
		return (false);
	if (clock.counts_per == 0 || clock.ns_per == 0)
		return (false);
	*out = clock;
	return (true);
}

bool
parse_pt_cpu(const char *text, struct hwtd_pt_config *out)
{
	uint64_t part[3] = { 0 };
	static const uint64_t most[3] = { UINT16_MAX, UINT8_MAX, UINT8_MAX };
	size_t n = 0;

	for (;;) {
		const size_t len = strcspn(text, "/");

		if (n == 3 || !parse_number(text, len, &part[n]) ||
		    part[n] > most[n])
			return (false);
		n++;
		if (text[len] == '\0')
			break;
		text += len + 1;
	}
	if (n < 2)
		return (false);
	out->cpu_family = (uint16_t)part[0];
	out->cpu_model = (uint8_t)part[1];
	out->cpu_stepping = (uint8_t)part[2];
	return (true);
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
