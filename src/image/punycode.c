/*
 * Texts of Unicode in letters, digits and one other character.
 *
 * Source: RFC 3492, "Bias adaptation function", "Decoding procedure".
 */
#include "image/punycode.h"

#include <string.h>

static uint32_t
adapt(uint32_t delta, uint32_t n, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	delta += delta / n;
	for (; delta > 455; k += 36)
		delta /= 35;
	return (k + 36 * delta / (delta + 38));
}

static int
puny_digit(char c)
{
	if (c >= 'a' && c <= 'z')
		return (c - 'a');
	return (c >= '0' && c <= '9' ? c - '0' + 26 : -1);
}

/* One delta; false: it is none. */
static bool
read_delta(const char *text, size_t n, size_t *at_inout, uint32_t bias,
    uint32_t *i_inout)
{
	uint32_t w = 1;

	for (uint32_t k = 36;; k += 36) {
		const uint32_t t = k <= bias ? 1
		    : k >= bias + 26	     ? 26
					     : k - bias;
		int digit;

		if (*at_inout == n)
			return (false);
		digit = puny_digit(text[(*at_inout)++]);
		if (digit < 0 || (uint32_t)digit > (INT32_MAX - *i_inout) / w)
			return (false);
		*i_inout += (uint32_t)digit * w;
		if ((uint32_t)digit < t)
			return (true);
		if (w > INT32_MAX / (36 - t))
			return (false);
		w *= 36 - t;
	}
}

bool
hwtdi_punycode(const char *text, size_t n, uint32_t *out, size_t cap,
    size_t *n_out)
{
	uint32_t code = 128, i = 0, bias = 72;
	size_t plain = n, at = 0, k = 0;

	while (plain > 0 && text[plain - 1] != '_')
		plain--;
	if (plain > 0) {
		at = plain--;
		if (plain > cap)
			return (false);
		for (; k < plain; k++)
			out[k] = (uint8_t)text[k];
	}
	while (at < n) {
		const uint32_t before = i;

		if (k == cap || !read_delta(text, n, &at, bias, &i))
			return (false);
		k++;
		bias = adapt(i - before, (uint32_t)k, before == 0);
		code += i / (uint32_t)k;
		i %= (uint32_t)k;
		memmove(&out[i + 1], &out[i], (k - 1 - i) * sizeof(out[0]));
		out[i++] = code;
	}
	*n_out = k;
	return (true);
}
