/*
 * Which bytes of a name are characters.
 */
#include "export/plain_text.h"

#include <stdbool.h>

/* Bytes of the dots that a name ends in when it is cut off. */
#define DOTS 3u

static bool
is_tail(uint8_t c)
{
	return ((c & 0xc0) == 0x80);
}

size_t
hwtdi_utf8_bytes(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;
	const uint8_t c = p[0];

	if (c < 0x80)
		return (1);
	/* No overlong forms: those would begin with c0, c1. */
	if (c < 0xc2 || c > 0xf4 || n < 2 || !is_tail(p[1]))
		return (0);
	if (c < 0xe0)
		return (2);
	if (n < 3 || !is_tail(p[2]))
		return (0);
	if (c < 0xf0) {
		/* Nor here, and no surrogates. */
		if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f))
			return (0);
		return (3);
	}
	if (n < 4 || !is_tail(p[3]) || (c == 0xf0 && p[1] < 0x90) ||
	    (c == 0xf4 && p[1] > 0x8f))
		return (0);
	return (4);
}

size_t
hwtdi_name_bytes(const char *text, size_t n)
{
	size_t at = HWTDI_NAME_MAX - DOTS;

	if (n <= HWTDI_NAME_MAX)
		return (n);
	/* Not in the middle of a character; of what is none, anywhere. */
	for (size_t back = 0; back < 4 && is_tail((uint8_t)text[at]); back++)
		at--;
	return (at);
}
