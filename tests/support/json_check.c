/*
 * A strict reader of JSON that keeps nothing; it shares no code with the library.
 */
#include "support/json_check.h"

#include <stdint.h>
#include <string.h>

#define DEPTH_MOST 64

struct reader {
	const uint8_t *text;
	size_t n, at;
	unsigned int depth;
};

static bool value(struct reader *r);

/* Bytes of a character; 0: it is none.  By decoding it, and encoding it again. */
static size_t
character(const uint8_t *p, size_t n)
{
	const uint8_t lead = p[0];
	const size_t bytes = lead < 0x80 ? 1
	    : (lead & 0xe0) == 0xc0	 ? 2
	    : (lead & 0xf0) == 0xe0	 ? 3
	    : (lead & 0xf8) == 0xf0	 ? 4
					 : 0;
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code;

	if (bytes < 2 || bytes > n)
		return (bytes > n ? 0 : bytes);
	code = lead & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return (0);
		code = code << 6 | (p[i] & 0x3f);
	}
	return (code < least[bytes] || code > 0x10ffff ||
		    (code >= 0xd800 && code <= 0xdfff)
		? 0
		: bytes);
}

bool
utf8_check(const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		const size_t bytes = character((const uint8_t *)text + i,
		    n - i);

		if (bytes == 0)
			return (false);
		i += bytes;
	}
	return (true);
}

static void
blanks(struct reader *r)
{
	while (r->at < r->n && strchr(" \t\r\n", r->text[r->at]) != NULL &&
	    r->text[r->at] != '\0')
		r->at++;
}

static bool
one(struct reader *r, char c)
{
	if (r->at == r->n || r->text[r->at] != (uint8_t)c)
		return (false);
	r->at++;
	return (true);
}

static bool
word(struct reader *r, const char *text)
{
	for (; *text != '\0'; text++)
		if (!one(r, *text))
			return (false);
	return (true);
}

static bool
string(struct reader *r)
{
	if (!one(r, '"'))
		return (false);
	while (r->at < r->n && r->text[r->at] != '"') {
		const uint8_t c = r->text[r->at];
		const size_t bytes = character(r->text + r->at, r->n - r->at);

		if (c < 0x20 || bytes == 0)
			return (false);
		r->at += bytes;
		if (c != '\\')
			continue;
		if (r->at == r->n)
			return (false);
		if (r->text[r->at] != 'u') {
			if (strchr("\"\\/bfnrt", r->text[r->at]) == NULL ||
			    r->text[r->at] == '\0')
				return (false);
			r->at++;
			continue;
		}
		if (r->n - r->at < 5)
			return (false);
		for (size_t i = 1; i < 5; i++)
			if (strchr("0123456789abcdefABCDEF",
				r->text[r->at + i]) == NULL ||
			    r->text[r->at + i] == '\0')
				return (false);
		r->at += 5;
	}
	return (one(r, '"'));
}

static bool
digits(struct reader *r)
{
	const size_t begin = r->at;

	while (r->at < r->n && r->text[r->at] >= '0' && r->text[r->at] <= '9')
		r->at++;
	return (r->at > begin);
}

static bool
number(struct reader *r)
{
	(void)one(r, '-');
	if (!one(r, '0') && !digits(r))
		return (false);
	if (one(r, '.') && !digits(r))
		return (false);
	if (one(r, 'e') || one(r, 'E')) {
		if (!one(r, '+'))
			(void)one(r, '-');
		return (digits(r));
	}
	return (true);
}

static bool
members(struct reader *r, char end, bool keyed)
{
	r->at++;
	if (++r->depth > DEPTH_MOST)
		return (false);
	blanks(r);
	if (!one(r, end)) {
		do {
			blanks(r);
			if (keyed) {
				if (!string(r))
					return (false);
				blanks(r);
				if (!one(r, ':'))
					return (false);
			}
			if (!value(r))
				return (false);
		} while (one(r, ','));
		if (!one(r, end))
			return (false);
	}
	r->depth--;
	return (true);
}

static bool
value(struct reader *r)
{
	bool good;

	blanks(r);
	if (r->at == r->n)
		return (false);
	switch (r->text[r->at]) {
	case '{':
		good = members(r, '}', true);
		break;
	case '[':
		good = members(r, ']', false);
		break;
	case '"':
		good = string(r);
		break;
	case 't':
		good = word(r, "true");
		break;
	case 'f':
		good = word(r, "false");
		break;
	case 'n':
		good = word(r, "null");
		break;
	default:
		good = number(r);
		break;
	}
	blanks(r);
	return (good);
}

bool
json_check(const char *text, size_t n, size_t *at_out)
{
	struct reader r = { .text = (const uint8_t *)text, .n = n };
	const bool good = value(&r) && r.at == n;

	*at_out = r.at;
	return (good);
}
