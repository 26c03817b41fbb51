/*
 * Names of code from lines of text.
 *
 * Sources: Linux, tools/perf/Documentation/jit-interface.txt (perf-PID.map);
 * proc(5), /proc/kallsyms; nm(1), the letters of symbol types.
 */
#include <string.h>

#include "image/name_table.h"

/* What is left of a line. */
struct line {
	const char *at;
	size_t n;
};

static void
skip_blanks(struct line *l)
{
	while (l->n > 0 && (*l->at == ' ' || *l->at == '\t')) {
		l->at++;
		l->n--;
	}
}

static int
digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	c |= 0x20;
	return (c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1);
}

/* A hexadecimal number and the blank behind it. */
static bool
take_number(struct line *l, uint64_t *out)
{
	size_t n = 0;

	skip_blanks(l);
	if (l->n > 2 && l->at[0] == '0' && (l->at[1] | 0x20) == 'x') {
		l->at += 2;
		l->n -= 2;
	}
	*out = 0;
	while (n < l->n && digit_of(l->at[n]) >= 0) {
		if (*out >> 60 != 0)
			return (false);
		*out = *out << 4 | (uint64_t)digit_of(l->at[n++]);
	}
	if (n == 0 || n == l->n || (l->at[n] != ' ' && l->at[n] != '\t'))
		return (false);
	l->at += n;
	l->n -= n;
	skip_blanks(l);
	return (true);
}

/* The next line, without what ends it; false: there is none. */
static bool
next_line(struct line *text, struct line *out)
{
	const char *end;

	if (text->n == 0)
		return (false);
	end = memchr(text->at, '\n', text->n);
	*out = *text;
	if (end != NULL)
		out->n = (size_t)(end - text->at);
	text->at += out->n + (end != NULL);
	text->n -= out->n + (end != NULL);
	while (out->n > 0 &&
	    (out->at[out->n - 1] == '\r' || out->at[out->n - 1] == ' ' ||
		out->at[out->n - 1] == '\t'))
		out->n--;
	return (true);
}

static int
take_mapped(struct hwtdi_name_table *table, struct hwtd_context *ctx,
    struct line *l, struct hwtd_error *err)
{
	struct hwtdi_name name = { 0 };

	if (!take_number(l, &name.address) || !take_number(l, &name.size)) {
		table->n_bad++;
		return (HWTD_OK);
	}
	return (hwtdi_name_table_add(table, ctx, &name, l->at, l->n, NULL, 0,
	    err));
}

/* A word; what follows is left. */
static struct line
take_word(struct line *l)
{
	struct line word = *l;

	word.n = 0;
	while (word.n < l->n && l->at[word.n] != ' ' && l->at[word.n] != '\t')
		word.n++;
	l->at += word.n;
	l->n -= word.n;
	skip_blanks(l);
	return (word);
}

/* Marks of assemblers, of code and data of Arm. */
static bool
is_mark(const struct line *name)
{
	return (name->n > 0 &&
	    (name->at[0] == '$' ||
		(name->n > 1 && memcmp(name->at, ".L", 2) == 0)));
}

static int
take_symbol(struct hwtdi_name_table *table, struct hwtd_context *ctx,
    struct line *l, struct hwtd_error *err)
{
	static const char code[] = "TWtw";
	struct hwtdi_name name = { 0 };
	struct line type, text, module;
	const char *rank;

	if (!take_number(l, &name.address)) {
		table->n_bad++;
		return (HWTD_OK);
	}
	type = take_word(l);
	text = take_word(l);
	module = take_word(l);
	if (type.n != 1 || text.n == 0) {
		table->n_bad++;
		return (HWTD_OK);
	}
	rank = type.at[0] != '\0' ? strchr(code, type.at[0]) : NULL;
	/* Kernels that hide addresses say that all are 0. */
	if (rank == NULL || name.address == 0 || is_mark(&text))
		return (HWTD_OK);
	name.rank = (uint32_t)(rank - code);
	if (module.n < 3 || module.at[0] != '[' ||
	    module.at[module.n - 1] != ']')
		module.n = 0;
	return (hwtdi_name_table_add(table, ctx, &name, text.at, text.n,
	    module.at, module.n, err));
}

static int
add_lines(struct hwtdi_name_table *table, struct hwtd_context *ctx,
    const void *bytes, size_t n,
    int (*take)(struct hwtdi_name_table *table, struct hwtd_context *ctx,
	struct line *l, struct hwtd_error *err),
    struct hwtd_error *err)
{
	struct line text = { bytes, n }, line;
	uint64_t no = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && next_line(&text, &line)) {
		const uint64_t n_bad = table->n_bad;

		rc = hwtdi_poll_each(ctx, ++no, err);
		if (rc == HWTD_OK && line.n != 0)
			rc = take(table, ctx, &line, err);
		if (table->n_bad != n_bad && table->first_bad == 0)
			table->first_bad = no;
	}
	return (rc);
}

int
hwtdi_name_table_add_perf_map(struct hwtdi_name_table *table,
    struct hwtd_context *ctx, const void *text, size_t n,
    struct hwtd_error *err)
{
	return (add_lines(table, ctx, text, n, take_mapped, err));
}

int
hwtdi_name_table_add_kallsyms(struct hwtdi_name_table *table,
    struct hwtd_context *ctx, const void *text, size_t n,
    struct hwtd_error *err)
{
	return (add_lines(table, ctx, text, n, take_symbol, err));
}
