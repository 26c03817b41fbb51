/*
 * A line of words, with a comma and a blank between them.
 */
#include "event/words.h"

#include <stdarg.h>
#include <stdio.h>

void
hwtdi_words_add(struct hwtdi_words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (w->any && w->left > 2) {
		*w->at++ = ',';
		*w->at++ = ' ';
		w->left -= 2;
	}
	va_start(ap, fmt);
	n = vsnprintf(w->at, w->left, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= w->left)
		n = (int)w->left - 1;
	w->at += n;
	w->left -= (size_t)n;
	w->any = true;
}
