/*
 * A line of words, with a comma and a blank between them.
 */
#ifndef HWTDI_WORDS_H
#define HWTDI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct hwtdi_words {
	/* Where the next one goes, and the room there. */
	char *at;
	size_t left;
	/* One is there. */
	bool any;
};

/* Add words; what does not fit is left out. */
void hwtdi_words_add(struct hwtdi_words *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif /* HWTDI_WORDS_H */
