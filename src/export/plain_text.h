/*
 * Names of anybody's making as text that formats can hold: UTF-8, and no control
 * characters where these would break lines.
 */
#ifndef HWTDI_PLAIN_TEXT_H
#define HWTDI_PLAIN_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest name that is written; longer ones are cut, with "...". */
#define HWTDI_NAME_MAX 4096u

/*
 * Bytes of the character of UTF-8 at the front of a text of `n` bytes, n > 0;
 * 0: it is none, and one byte has to be replaced by U+FFFD.
 *
 * Source: The Unicode Standard, "Well-Formed UTF-8 Byte Sequences".
 */
size_t hwtdi_utf8_bytes(const char *text, size_t n);

/*
 * How much of a text of `n` bytes is written: all, or what is whole characters in
 * HWTDI_NAME_MAX less the dots.
 */
size_t hwtdi_name_bytes(const char *text, size_t n);

#endif /* HWTDI_PLAIN_TEXT_H */
