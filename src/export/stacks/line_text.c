/*
 * Names in formats of lines.
 */
#include "export/stacks/line_text.h"

#include <string.h>

#include "export/plain_text.h"

/* Where it is that a name goes on with digits and points only, behind a blank. */
static size_t
number_at_end(const char *name, size_t n)
{
	size_t at = n;

	while (at > 0 &&
	    ((name[at - 1] >= '0' && name[at - 1] <= '9') ||
		name[at - 1] == '.'))
		at--;
	return (at > 0 && at < n && name[at - 1] == ' ' ? at - 1 : n);
}

/* Of two characters with three bytes: those that are no text. */
static bool
is_hidden(const uint8_t *p)
{
	/* U+2028 to U+202E, U+2066 to U+2069, U+200E, U+200F. */
	if (p[0] == 0xe2 && p[1] == 0x80)
		return ((p[2] >= 0xa8 && p[2] <= 0xae) || p[2] == 0x8e ||
		    p[2] == 0x8f);
	if (p[0] == 0xe2 && p[1] == 0x81)
		return (p[2] >= 0xa6 && p[2] <= 0xa9);
	/* U+FFFE, U+FFFF. */
	return (p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe);
}

size_t
hwtdi_shown_bytes(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;
	const size_t bytes = hwtdi_utf8_bytes(text, n);

	if (bytes == 1 && (p[0] < 0x20 || p[0] == 0x7f))
		return (0);
	/* U+0080 to U+009F. */
	if (bytes == 2 && p[0] == 0xc2 && p[1] < 0xa0)
		return (0);
	return (bytes == 3 && is_hidden(p) ? 0 : bytes);
}

static void
put_escape(struct hwtdi_sink *sink, uint8_t c)
{
	static const char digits[] = "0123456789abcdef";
	const char text[4] = { '\\', 'x', digits[c >> 4], digits[c & 15] };

	hwtdi_sink_put(sink, text, sizeof(text));
}

void
hwtdi_line_text(struct hwtdi_sink *sink, const char *name, const char *also)
{
	const size_t n = strlen(name), taken = hwtdi_name_bytes(name, n);
	const size_t number = number_at_end(name, n);

	for (size_t i = 0; i < taken;) {
		const size_t bytes = hwtdi_shown_bytes(name + i, taken - i);
		const char c = name[i];

		if (bytes == 0 || c == '\\' || strchr(also, c) != NULL ||
		    (c == ' ' && (i == 0 || i + 1 == n || i == number))) {
			put_escape(sink, (uint8_t)c);
			i++;
		} else {
			hwtdi_sink_put(sink, name + i, bytes);
			i += bytes;
		}
	}
	if (taken < n)
		hwtdi_sink_put(sink, "...", 3);
}
