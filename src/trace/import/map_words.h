/*
 * Words of a line that a user wrote: apart by blanks, quoted where they have
 * some.
 */
#ifndef HWTDI_MAP_WORDS_H
#define HWTDI_MAP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct hwtdi_map_words {
	/* What was not read yet; ends with NUL. */
	char *at;
	/* What is wrong; NULL: nothing. */
	const char *why;
};

/*
 * The next word, in its place, with NUL behind it.  Quotes are taken off, also
 * those of key="value"; inside of them \" and \\ are escapes.  # begins a comment
 * where a word could.  NULL: there are no more, or `why` is set.
 */
char *hwtdi_map_word(struct hwtdi_map_words *words);

/* The next word as it is, without quotes or comments. */
char *hwtdi_map_column(struct hwtdi_map_words *words);

/* All that is left, without blanks at both ends. */
char *hwtdi_map_rest(struct hwtdi_map_words *words);

#endif /* HWTDI_MAP_WORDS_H */
