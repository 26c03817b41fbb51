/*
 * Words of a line that a user wrote.
 */
#include "trace/import/map_words.h"

#include <string.h>

static bool
is_blank(char c)
{
	return (c == ' ' || c == '\t' || c == '\r');
}

static void
skip_blanks(struct hwtdi_map_words *words)
{
	while (is_blank(*words->at))
		words->at++;
}

/* What is between quotes, from the first one on; false: they do not end. */
static bool
unquote(struct hwtdi_map_words *words, char **to)
{
	words->at++;
	while (*words->at != '"') {
		if (*words->at == '\\' &&
		    (words->at[1] == '"' || words->at[1] == '\\'))
			words->at++;
		if (*words->at == '\0') {
			words->why = "a quote has no end";
			return (false);
		}
		*(*to)++ = *words->at++;
	}
	words->at++;
	return (true);
}

char *
hwtdi_map_word(struct hwtdi_map_words *words)
{
	char *start, *to;
	bool more;

	skip_blanks(words);
	if (*words->at == '\0' || *words->at == '#')
		return (NULL);
	start = to = words->at;
	while (*words->at != '\0' && !is_blank(*words->at)) {
		if (*words->at != '"') {
			*to++ = *words->at++;
			continue;
		}
		if (!unquote(words, &to))
			return (NULL);
	}
	more = *words->at != '\0';
	*to = '\0';
	words->at += more;
	return (start);
}

char *
hwtdi_map_column(struct hwtdi_map_words *words)
{
	char *start;

	skip_blanks(words);
	start = words->at;
	while (*words->at != '\0' && !is_blank(*words->at))
		words->at++;
	if (words->at == start)
		return (NULL);
	if (*words->at != '\0')
		*words->at++ = '\0';
	return (start);
}

char *
hwtdi_map_rest(struct hwtdi_map_words *words)
{
	size_t n;
	char *start;

	skip_blanks(words);
	start = words->at;
	n = strlen(start);
	while (n > 0 && is_blank(start[n - 1]))
		n--;
	start[n] = '\0';
	words->at = start + n;
	return (start);
}
