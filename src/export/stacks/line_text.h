/*
 * Names in formats of lines, that know no quotes: what would end a line or a
 * name, or is no text, is written as "\x" and two hexadecimal digits.
 */
#ifndef HWTDI_LINE_TEXT_H
#define HWTDI_LINE_TEXT_H

#include "export/export_sink.h"

/*
 * Write a name.  Of `also`, characters of ASCII, none is written as it is; nor a
 * backslash, blanks at the ends, and a blank before digits that end the name,
 * which readers would take for a number behind it.
 */
void hwtdi_line_text(struct hwtdi_sink *sink, const char *name,
    const char *also);

/*
 * Bytes of the character at the front of a text of `n` bytes, n > 0, which shows
 * as it is; 0: it has to be replaced.  Not shown are control characters of
 * ASCII and of Unicode, ends of lines, and what changes the direction of text.
 *
 * Source: Unicode Standard Annex #9, "Directional Formatting Characters".
 */
size_t hwtdi_shown_bytes(const char *text, size_t n);

#endif /* HWTDI_LINE_TEXT_H */
