/*
 * Lines that are JSON objects of strings and whole numbers.
 *
 * Source: RFC 8259, but for what is said at hwtdi_flat_parse().
 */
#include "trace/import/flat_json.h"

#include <string.h>

#include "base/number_text.h"

struct reader {
	struct hwtdi_flat_line *line;
	char *text;
	size_t at, n;
};

static bool
refuse(struct reader *r, const char *why)
{
	r->line->at = r->at;
	r->line->why = why;
	return (false);
}

static size_t
behind_blanks(const struct reader *r, size_t at)
{
	while (at < r->n && strchr(" \t\r", r->text[at]) != NULL &&
	    r->text[at] != '\0')
		at++;
	return (at);
}

static bool
next_is(const struct reader *r, size_t at, char c)
{
	return (at < r->n && r->text[at] == c);
}

/* Whether the quote at `at` ends a string. */
static bool
is_end(const struct reader *r, size_t at)
{
	const size_t next = behind_blanks(r, at + 1);

	if (next == r->n || r->text[next] == '}' || r->text[next] == ':')
		return (true);
	return (r->text[next] == ',' &&
	    next_is(r, behind_blanks(r, next + 1), '"'));
}

/* Four digits behind \u; false: they are none. */
static bool
read_unit(struct reader *r, uint32_t *out)
{
	*out = 0;
	if (r->n - r->at < 4)
		return (false);
	for (int i = 0; i < 4; i++) {
		const int digit = hwtdi_hex_digit(r->text[r->at]);

		if (digit < 0)
			return (false);
		*out = *out << 4 | (uint32_t)digit;
		r->at++;
	}
	return (true);
}

/* bsdtrace escapes bytes, not characters. */
static size_t
put_character(char *to, uint32_t c)
{
	size_t n = 0;

	if (c < 0x100) {
		to[n++] = (char)c;
	} else if (c < 0x800) {
		to[n++] = (char)(0xc0 | c >> 6);
		to[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		to[n++] = (char)(0xe0 | c >> 12);
		to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		to[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		to[n++] = (char)(0xf0 | c >> 18);
		to[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		to[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		to[n++] = (char)(0x80 | (c & 0x3f));
	}
	return (n);
}

static bool
read_unicode(struct reader *r, uint32_t *out)
{
	uint32_t low;

	if (!read_unit(r, out) || *out == 0)
		return (false);
	if (*out < 0xd800 || *out > 0xdfff)
		return (true);
	if (*out > 0xdbff || !next_is(r, r->at, '\\') ||
	    !next_is(r, r->at + 1, 'u'))
		return (false);
	r->at += 2;
	if (!read_unit(r, &low) || low < 0xdc00 || low > 0xdfff)
		return (false);
	*out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
	return (true);
}

/* The escape whose backslash was read; what comes out is never longer. */
static bool
read_escape(struct reader *r, size_t *to)
{
	static const char from[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *known;
	uint32_t c;

	if (r->at == r->n || r->text[r->at] == '\0')
		return (refuse(r, "an escape is cut off"));
	if (r->text[r->at] == 'u') {
		r->at++;
		if (!read_unicode(r, &c))
			return (refuse(r, "no such \\u escape"));
		*to += put_character(r->text + *to, c);
		return (true);
	}
	known = strchr(from, r->text[r->at]);
	if (known == NULL)
		return (refuse(r, "no such escape"));
	r->at++;
	r->text[(*to)++] = meant[known - from];
	return (true);
}

static bool
read_string(struct reader *r, const char **out)
{
	size_t to;

	if (!next_is(r, r->at, '"'))
		return (refuse(r, "no string begins"));
	to = ++r->at;
	*out = r->text + to;
	while (r->at < r->n) {
		const char c = r->text[r->at];

		if (c == '"' && is_end(r, r->at)) {
			r->at++;
			r->text[to] = '\0';
			return (true);
		}
		if (c == '\0')
			return (refuse(r, "a NUL character"));
		r->at++;
		if (c != '\\')
			r->text[to++] = c;
		else if (!read_escape(r, &to))
			return (false);
	}
	return (refuse(r, "a string has no end"));
}

static bool
read_number(struct reader *r, struct hwtdi_flat_field *field)
{
	const size_t start = r->at + next_is(r, r->at, '-');
	size_t end = start;

	while (end < r->n && r->text[end] >= '0' && r->text[end] <= '9')
		end++;
	if (end == start)
		return (refuse(r, "no string or number"));
	field->negative = start != r->at;
	if (!hwtdi_number_of(r->text + start, end - start, &field->number))
		return (refuse(r, "a number above 64 bits"));
	r->at = end;
	return (true);
}

static bool
read_field(struct reader *r)
{
	struct hwtdi_flat_field *field = &r->line->fields[r->line->n];

	if (r->line->n == HWTDI_FLAT_FIELDS)
		return (refuse(r, "too many fields"));
	memset(field, 0, sizeof(*field));
	if (!read_string(r, &field->key))
		return (false);
	if (hwtdi_flat_find(r->line, field->key) != NULL)
		return (refuse(r, "a field is there twice"));
	r->at = behind_blanks(r, r->at);
	if (!next_is(r, r->at, ':'))
		return (refuse(r, "no ':' behind the name of a field"));
	r->at = behind_blanks(r, r->at + 1);
	if (next_is(r, r->at, '"') ? !read_string(r, &field->text)
				   : !read_number(r, field))
		return (false);
	r->line->n++;
	r->at = behind_blanks(r, r->at);
	return (true);
}

bool
hwtdi_flat_parse(struct hwtdi_flat_line *line, char *text, size_t n)
{
	struct reader r = { .line = line, .text = text, .n = n };

	line->n = 0;
	line->why = NULL;
	line->at = 0;
	r.at = behind_blanks(&r, 0);
	if (!next_is(&r, r.at, '{'))
		return (refuse(&r, "no '{' begins"));
	r.at = behind_blanks(&r, r.at + 1);
	if (!next_is(&r, r.at, '}')) {
		if (!read_field(&r))
			return (false);
		while (next_is(&r, r.at, ',')) {
			r.at = behind_blanks(&r, r.at + 1);
			if (!read_field(&r))
				return (false);
		}
	}
	if (!next_is(&r, r.at, '}'))
		return (refuse(&r, "no ',' or '}' behind a field"));
	r.at = behind_blanks(&r, r.at + 1);
	return (r.at == n || refuse(&r, "something follows the '}'"));
}

const struct hwtdi_flat_field *
hwtdi_flat_find(const struct hwtdi_flat_line *line, const char *key)
{
	for (size_t i = 0; i < line->n; i++)
		if (strcmp(line->fields[i].key, key) == 0)
			return (&line->fields[i]);
	return (NULL);
}

const char *
hwtdi_flat_number(const struct hwtdi_flat_line *line, const char *key,
    uint64_t most, uint64_t *out)
{
	const struct hwtdi_flat_field *field = hwtdi_flat_find(line, key);

	*out = 0;
	if (field == NULL)
		return ("is missing");
	if (field->text == NULL)
		*out = field->number;
	else if (!hwtdi_number_of(field->text, strlen(field->text), out))
		return ("is no number");
	if (field->negative && *out != 0)
		return ("is less than 0");
	return (*out > most ? "is too large" : NULL);
}
