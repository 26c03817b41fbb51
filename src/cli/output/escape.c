/*
 * Making strings from files safe to print: a name in a trace can hold
 * anything, also what drives a terminal.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cli/output/escape.h"

static const char hex_digits[] = "0123456789abcdef";

/*
 * Length of the UTF-8 sequence at `p` and its code point; 0 if the bytes are
 * no UTF-8 (overlong forms, surrogates and what lies past U+10FFFF included).
 */
static size_t
utf8_length(const unsigned char *p, size_t n, uint32_t *code_out)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code;
	size_t len;

	if (p[0] < 0x80) {
		*code_out = p[0];
		return (1);
	}
	if (p[0] >= 0xc2 && p[0] < 0xe0) {
		len = 2;
		code = p[0] & 0x1f;
	} else if (p[0] >= 0xe0 && p[0] < 0xf0) {
		len = 3;
		code = p[0] & 0x0f;
	} else if (p[0] >= 0xf0 && p[0] < 0xf5) {
		len = 4;
		code = p[0] & 0x07;
	} else {
		return (0);
	}
	if (n < len)
		return (0);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return (0);
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < smallest[len] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return (0);
	*code_out = code;
	return (len);
}

/* Characters that move the cursor, reorder text or show nothing. */
static bool
misleads(uint32_t code)
{
	return (code < 0x20 || (code >= 0x7f && code < 0xa0) ||
	    (code >= 0x200b && code <= 0x200f) ||
	    (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2060 && code <= 0x2069) || code == 0xfeff);
}

size_t
escape_text_step(char *dst, const char *src, size_t n, size_t *i)
{
	const unsigned char *p = (const unsigned char *)src + *i;
	uint32_t code = 0;
	size_t len = utf8_length(p, n - *i, &code);
	size_t out = 0;

	if (len != 0 && !misleads(code)) {
		memcpy(dst, p, len);
		*i += len;
		return (len);
	}
	if (len == 0)
		len = 1;
	for (size_t k = 0; k < len; k++) {
		dst[out++] = '\\';
		dst[out++] = 'x';
		dst[out++] = hex_digits[p[k] >> 4];
		dst[out++] = hex_digits[p[k] & 15];
	}
	*i += len;
	return (out);
}

size_t
escape_json_step(char *dst, const char *src, size_t n, size_t *i)
{
	const unsigned char *p = (const unsigned char *)src + *i;
	uint32_t code = 0;
	const size_t len = utf8_length(p, n - *i, &code);

	if (len == 0) {
		*i += 1;
		memcpy(dst, "\\ufffd", 6);
		return (6);
	}
	*i += len;
	if (code == '"' || code == '\\') {
		dst[0] = '\\';
		dst[1] = (char)code;
		return (2);
	}
	if (misleads(code)) {
		dst[0] = '\\';
		dst[1] = 'u';
		for (int k = 0; k < 4; k++)
			dst[2 + k] = hex_digits[code >> (12 - 4 * k) & 15];
		return (6);
	}
	memcpy(dst, p, len);
	return (len);
}
