/*
 * Making strings from files safe to print: in text, JSON and CSV.
 */
#ifndef HWTDECODE_CLI_ESCAPE_H
#define HWTDECODE_CLI_ESCAPE_H

#include <stddef.h>

/* Most bytes that one step writes. */
#define ESCAPE_ROOM 16

/*
 * Take the next character of `src` (`n` bytes) from *i on, write its printable
 * form to `dst` and return how many bytes that took.
 *
 * Text: control characters, bytes that are not UTF-8 and characters that
 * reorder or hide text become \xNN.  JSON: the inside of a string; invalid
 * bytes become U+FFFD.
 */
size_t escape_text_step(char *dst, const char *src, size_t n, size_t *i);
size_t escape_json_step(char *dst, const char *src, size_t n, size_t *i);

#endif /* HWTDECODE_CLI_ESCAPE_H */
