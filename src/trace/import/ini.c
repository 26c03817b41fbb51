/*
 * Texts of sections and key=value lines.
 */
#include "trace/import/ini.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static bool
is_space(char c)
{
	return (c == ' ' || (c >= '\t' && c <= '\r'));
}

static void
trim(const char **at, size_t *n)
{
	while (*n > 0 && is_space((*at)[*n - 1]))
		(*n)--;
	while (*n > 0 && is_space(**at)) {
		(*at)++;
		(*n)--;
	}
}

/* The next line without its comment and the space around. */
static void
take_line(struct hwtdi_ini *ini, const char **at_out, size_t *n_out)
{
	const char *end = memchr(ini->at, '\n', ini->left);
	size_t n = end != NULL ? (size_t)(end - ini->at) : ini->left;
	size_t whole = end != NULL ? n + 1 : n;

	*at_out = ini->at;
	ini->at += whole;
	ini->left -= whole;
	ini->line++;
	for (size_t i = 0; i < n; i++)
		if ((*at_out)[i] == ';' || (*at_out)[i] == '#')
			n = i;
	*n_out = n;
	trim(at_out, n_out);
}

static int
take_section(const char *at, size_t n, struct hwtdi_ini_line *out,
    struct hwtd_error *err)
{
	if (at[n - 1] != ']')
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "line %" PRIu32 ": section without ']'", out->line));
	out->is_section = true;
	out->key = at + 1;
	out->n_key = n - 2;
	trim(&out->key, &out->n_key);
	if (out->n_key == 0)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "line %" PRIu32 ": section without a name", out->line));
	out->value = out->key + out->n_key;
	out->n_value = 0;
	return (HWTD_OK);
}

static int
take_entry(const char *at, size_t n, struct hwtdi_ini_line *out,
    struct hwtd_error *err)
{
	const char *equal = memchr(at, '=', n);
	const char *more;

	if (equal == NULL)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "line %" PRIu32 ": neither [section] nor key=value",
		    out->line));
	out->is_section = false;
	out->key = at;
	out->n_key = (size_t)(equal - at);
	more = memchr(at, '(', out->n_key);
	trim(&out->key, &out->n_key);
	if (more != NULL) {
		if (out->key[out->n_key - 1] != ')')
			return (hwtdi_fail(err, HWTD_E_CORRUPT,
			    "line %" PRIu32 ": '(' without ')' before '='",
			    out->line));
		out->n_key = (size_t)(more - at);
		trim(&out->key, &out->n_key);
	}
	if (out->n_key == 0)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "line %" PRIu32 ": value without a key", out->line));
	out->value = equal + 1;
	out->n_value = n - (size_t)(equal + 1 - at);
	trim(&out->value, &out->n_value);
	return (HWTD_OK);
}

int
hwtdi_ini_next(struct hwtdi_ini *ini, struct hwtdi_ini_line *out,
    struct hwtd_error *err)
{
	const char *at;
	size_t n = 0;

	/* What some editors put before a text. */
	if (ini->line == 0 && ini->left >= 3 &&
	    memcmp(ini->at, "\xef\xbb\xbf", 3) == 0) {
		ini->at += 3;
		ini->left -= 3;
	}
	while (n == 0) {
		if (ini->left == 0)
			return (HWTD_END);
		take_line(ini, &at, &n);
	}
	out->line = ini->line;
	if (memchr(at, '\0', n) != NULL)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "line %" PRIu32 ": NUL byte", out->line));
	return (at[0] == '[' ? take_section(at, n, out, err)
			     : take_entry(at, n, out, err));
}

static unsigned int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return ((unsigned int)(c - '0'));
	if (c >= 'a' && c <= 'f')
		return ((unsigned int)(c - 'a') + 10);
	return (c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 99);
}

bool
hwtdi_ini_number(const char *text, size_t n, uint64_t *out)
{
	unsigned int base = 10;
	uint64_t value = 0;

	if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
		n -= 2;
	} else if (n > 1 && text[0] == '0') {
		base = 8;
	}
	for (size_t i = 0; i < n; i++) {
		const unsigned int d = digit(text[i]);

		if (d >= base || value > (UINT64_MAX - d) / base)
			return (false);
		value = value * base + d;
	}
	*out = value;
	return (n > 0);
}

static char
lower(char c)
{
	return (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
}

bool
hwtdi_ini_same(const char *a, size_t n, const char *b)
{
	for (size_t i = 0; i < n; i++)
		if (b[i] == '\0' || lower(a[i]) != lower(b[i]))
			return (false);
	return (b[n] == '\0');
}

/* Terminate a piece of the text, behind which the scanner is. */
static const char *
end_piece(struct hwtdi_ini_file *file, const char *at, size_t n)
{
	char *piece = file->text + (at - file->text);

	piece[n] = '\0';
	return (piece);
}

static int
add_section(struct hwtdi_ini_file *file, struct hwtd_context *ctx,
    const struct hwtdi_ini_line *line, struct hwtd_error *err)
{
	struct hwtdi_ini_section *section;
	int rc;

	rc = hwtdi_array_grow(ctx, &file->sections, &file->cap_sections,
	    file->n_sections + 1, sizeof(*file->sections), err);
	if (rc != HWTD_OK)
		return (rc);
	section = &file->sections[file->n_sections++];
	section->name = end_piece(file, line->key, line->n_key);
	section->line = line->line;
	section->first = file->n_entries;
	section->n = 0;
	return (HWTD_OK);
}

static int
add_entry(struct hwtdi_ini_file *file, struct hwtd_context *ctx,
    const struct hwtdi_ini_line *line, struct hwtd_error *err)
{
	struct hwtdi_ini_entry *entry;
	int rc;

	if (file->n_sections == 0)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "line %" PRIu32 ": value before the first section",
		    line->line));
	rc = hwtdi_array_grow(ctx, &file->entries, &file->cap_entries,
	    file->n_entries + 1, sizeof(*file->entries), err);
	if (rc != HWTD_OK)
		return (rc);
	entry = &file->entries[file->n_entries++];
	entry->key = end_piece(file, line->key, line->n_key);
	entry->value = end_piece(file, line->value, line->n_value);
	entry->line = line->line;
	file->sections[file->n_sections - 1].n++;
	return (HWTD_OK);
}

int
hwtdi_ini_file_init(struct hwtdi_ini_file *file, struct hwtd_context *ctx,
    const char *name, char *text, size_t n, struct hwtd_error *err)
{
	struct hwtdi_ini ini = { .at = text, .left = n };
	struct hwtdi_ini_line line;
	int rc;

	memset(file, 0, sizeof(*file));
	file->text = text;
	file->n_text = n;
	file->name = hwtdi_strdup(ctx, name);
	if (file->name == NULL) {
		hwtdi_ini_file_fini(file, ctx);
		return (hwtdi_fail_nomem(err, strlen(name) + 1));
	}
	do {
		rc = hwtdi_ini_next(&ini, &line, err);
		if (rc == HWTD_OK)
			rc = line.is_section
			    ? add_section(file, ctx, &line, err)
			    : add_entry(file, ctx, &line, err);
	} while (rc == HWTD_OK);
	if (rc == HWTD_END)
		return (HWTD_OK);
	if (rc == HWTD_E_CORRUPT)
		hwtdi_fail_prefix(err, "%.80s", name);
	hwtdi_ini_file_fini(file, ctx);
	return (rc);
}

void
hwtdi_ini_file_fini(struct hwtdi_ini_file *file, struct hwtd_context *ctx)
{
	hwtdi_strfree(ctx, file->name);
	if (file->text != NULL)
		hwtdi_free(ctx, file->text, file->n_text + 1);
	hwtdi_array_free(ctx, file->sections, file->cap_sections,
	    sizeof(*file->sections));
	hwtdi_array_free(ctx, file->entries, file->cap_entries,
	    sizeof(*file->entries));
	memset(file, 0, sizeof(*file));
}

int
hwtdi_ini_section(const struct hwtdi_ini_file *file, const char *name,
    const struct hwtdi_ini_section **out, struct hwtd_error *err)
{
	*out = NULL;
	for (size_t i = 0; i < file->n_sections; i++) {
		if (strcmp(file->sections[i].name, name) != 0)
			continue;
		if (*out != NULL)
			return (hwtdi_ini_fail(file, file->sections[i].line,
			    err,
			    "[%.60s] again; the first is in line %" PRIu32,
			    name, (*out)->line));
		*out = &file->sections[i];
	}
	return (HWTD_OK);
}

int
hwtdi_ini_entry(const struct hwtdi_ini_file *file,
    const struct hwtdi_ini_section *section, const char *key,
    const struct hwtdi_ini_entry **out, struct hwtd_error *err)
{
	*out = NULL;
	for (size_t i = 0; section != NULL && i < section->n; i++) {
		const struct hwtdi_ini_entry
		    *entry = &file->entries[section->first + i];

		if (!hwtdi_ini_same(entry->key, strlen(entry->key), key))
			continue;
		if (*out != NULL)
			return (hwtdi_ini_fail(file, entry->line, err,
			    "%.60s again; the first is in line %" PRIu32, key,
			    (*out)->line));
		*out = entry;
	}
	return (HWTD_OK);
}

int
hwtdi_ini_fail(const struct hwtdi_ini_file *file, uint32_t line,
    struct hwtd_error *err, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return (hwtdi_fail(err, HWTD_E_CORRUPT, "%.80s: line %" PRIu32 ": %s",
	    file->name, line, text));
}
