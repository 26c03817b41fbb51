/*
 * Numbers in texts of others.
 */
#ifndef HWTDI_NUMBER_TEXT_H
#define HWTDI_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -1: it is none. */
static inline int
hwtdi_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	return (c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1);
}

/* All of a text is hexadecimal digits; false: not, or above 64 bits. */
static inline bool
hwtdi_hex_of(const char *text, size_t n, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		const int digit = hwtdi_hex_digit(text[i]);

		if (digit < 0 || *out >> 60 != 0)
			return (false);
		*out = *out << 4 | (uint64_t)digit;
	}
	return (n > 0);
}

/* All of a text is decimal digits, or 0x and hexadecimal ones. */
static inline bool
hwtdi_number_of(const char *text, size_t n, uint64_t *out)
{
	if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return (hwtdi_hex_of(text + 2, n - 2, out));
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		const uint64_t digit = (uint64_t)(text[i] - '0');

		if (text[i] < '0' || text[i] > '9' ||
		    *out > (UINT64_MAX - digit) / 10)
			return (false);
		*out = *out * 10 + digit;
	}
	return (n > 0);
}

#endif /* HWTDI_NUMBER_TEXT_H */
