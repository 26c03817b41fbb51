/*
 * Names of functions as people write them: C++ and Rust.
 *
 * Sources: Itanium C++ ABI, "External Names (a.k.a. Mangling)"; Rust RFC 2603;
 * rustc, compiler/rustc_symbol_mangling, "legacy".
 */
#include "image/symbol_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/rust_v0.h"

/* Bytes that the text of a C++ name may have by a bound from above. */
#define CXX_BYTES_MAX (UINT64_C(8) << 20)
/* Names in names, pointers to pointers; the C++ runtime recurses. */
#define CXX_DEPTH_MAX 256u
/* Texts of builtin types and operators are shorter. */
#define CXX_WORD_BYTES 16u
/* std::basic_string<...> is the longest of abbreviations. */
#define CXX_STD_BYTES 80u

/*
 * Itanium C++ ABI, "Demangler API": every C++ runtime has it.  It gives memory
 * of malloc().
 */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *n,
    int *status);

/* C++. */

/*
 * How long a text can be: a few bytes that refer to what was before, which does
 * so too, stand for gigabytes, and the C++ runtime would write them.
 */
struct bound {
	const char *at;
	/* Parts that are open: bytes of each, and of its last component. */
	struct {
		char kind;
		uint64_t all, last;
	} part[CXX_DEPTH_MAX];
	size_t n;
	/* Letters in a row that wrap what follows. */
	size_t wraps;
	/* Of the largest component so far; a reference may be to it. */
	uint64_t most;
	bool over;
};

static void
add(struct bound *b, uint64_t bytes, bool begins)
{
	/* Names in "N...E" are one behind the other. */
	const bool joins = !begins || b->part[b->n].kind == 'N';

	b->part[b->n].last = joins ? b->part[b->n].last + bytes : bytes;
	b->part[b->n].all += bytes;
	if (b->part[b->n].last > b->most)
		b->most = b->part[b->n].last;
	if (b->part[b->n].all > CXX_BYTES_MAX)
		b->over = true;
	b->wraps = 0;
}

static void
open_part(struct bound *b, char kind)
{
	b->at++;
	if (b->n + 1 == CXX_DEPTH_MAX) {
		b->over = true;
		return;
	}
	b->n++;
	b->part[b->n].kind = kind;
	b->part[b->n].all = b->part[b->n].last = 0;
}

static void
close_part(struct bound *b)
{
	b->at++;
	if (b->n == 0)
		return;
	b->n--;
	/* Arguments of a template are of the name before. */
	add(b, b->part[b->n + 1].all + 4, b->part[b->n + 1].kind != 'I');
}

static void
add_source_name(struct bound *b)
{
	const size_t left = strlen(b->at);
	size_t n = 0, digits = 0;

	while (b->at[digits] >= '0' && b->at[digits] <= '9' && n <= left)
		n = n * 10 + (size_t)(b->at[digits++] - '0');
	if (n > left - digits)
		n = left - digits;
	b->at += digits + n;
	add(b, n + 2, true);
}

static void
add_reference(struct bound *b)
{
	const char *end = strchr(b->at, '_');

	b->at = end != NULL ? end + 1 : b->at + strlen(b->at);
	add(b, b->most + 2, true);
}

static bool
is_bounded(const char *mangled)
{
	struct bound b = { .at = mangled + 2 };

	b.part[0].kind = 'T';
	while (*b.at != '\0' && !b.over) {
		const char c = *b.at, after = b.at[1];

		if (c >= '0' && c <= '9') {
			add_source_name(&b);
		} else if (c == 'S' && after != '\0' &&
		    strchr("tasbiod", after) != NULL) {
			b.at += 2;
			add(&b, CXX_STD_BYTES, true);
		} else if ((c == 'S' || c == 'T') &&
		    (after == '_' || (after >= '0' && after <= '9') ||
			(c == 'S' && after >= 'A' && after <= 'Z'))) {
			add_reference(&b);
		} else if (strchr("INFXLJZ", c) != NULL) {
			open_part(&b, c);
		} else if (c == 'E') {
			close_part(&b);
		} else {
			const size_t wraps = b.wraps + 1;

			b.at++;
			add(&b, CXX_WORD_BYTES, strchr("PROKV", c) == NULL);
			b.wraps = wraps;
			b.over |= wraps > CXX_DEPTH_MAX;
		}
	}
	return (!b.over);
}

static bool
cxx_text(const char *mangled, char *out, size_t cap)
{
	int status = -1;
	char *text;
	size_t n;
	bool fits;

	if (!is_bounded(mangled))
		return (false);
	text = __cxa_demangle(mangled, NULL, NULL, &status);
	if (text == NULL)
		return (false);
	n = strlen(text);
	fits = status == 0 && n < cap;
	if (fits)
		memcpy(out, text, n + 1);
	free(text);
	return (fits);
}

/* Rust, as it was before "v0". */

struct legacy {
	char *out;
	size_t n, cap;
	bool bad;
};

static void
put(struct legacy *l, const char *text, size_t n)
{
	if (n >= l->cap - l->n) {
		l->bad = true;
		return;
	}
	memcpy(l->out + l->n, text, n);
	l->n += n;
}

/* "u7e": a character of ASCII; others stay. */
static char
character_of(const char *text, size_t n)
{
	unsigned int v = 0;

	if (n < 2 || n > 3 || text[0] != 'u')
		return ('\0');
	for (size_t i = 1; i < n; i++) {
		const char c = text[i];

		if (c >= '0' && c <= '9')
			v = v * 16 + (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v * 16 + (unsigned int)(c - 'a' + 10);
		else
			return ('\0');
	}
	return (v >= 0x20 && v < 0x7f ? (char)v : '\0');
}

static char
escape_of(const char *text, size_t n)
{
	static const struct {
		const char *name;
		char c;
	} escapes[] = { { "SP", '@' }, { "BP", '*' }, { "RF", '&' },
		{ "LT", '<' }, { "GT", '>' }, { "LP", '(' }, { "RP", ')' },
		{ "C", ',' } };

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
		if (strlen(escapes[i].name) == n &&
		    memcmp(escapes[i].name, text, n) == 0)
			return (escapes[i].c);
	return (character_of(text, n));
}

static void
put_legacy_part(struct legacy *l, const char *at, size_t n)
{
	size_t i = n > 1 && at[0] == '_' && at[1] == '$' ? 1 : 0;

	while (i < n) {
		const char *end;
		char c;

		if (at[i] == '.') {
			const bool two = i + 1 < n && at[i + 1] == '.';

			put(l, two ? "::" : ".", two ? 2 : 1);
			i += two ? 2 : 1;
			continue;
		}
		end = at[i] == '$' ? memchr(at + i + 1, '$', n - i - 1) : NULL;
		c = end != NULL
		    ? escape_of(at + i + 1, (size_t)(end - at) - i - 1)
		    : '\0';
		if (c != '\0') {
			put(l, &c, 1);
			i = (size_t)(end - at) + 1;
		} else {
			put(l, at + i, 1);
			i++;
		}
	}
}

/* The last part of all these names is "h" and 16 digits. */
static bool
is_hash(const char *at, size_t n)
{
	return (n == 17 && at[0] == 'h' &&
	    strspn(at + 1, "0123456789abcdef") >= 16);
}

/* The next part; false: there is none. */
static bool
next_part(const char **at_inout, const char **part_out, size_t *n_out)
{
	const char *at = *at_inout;
	const size_t left = strlen(at);
	size_t n = 0, digits = 0;

	while (at[digits] >= '0' && at[digits] <= '9' && n <= left)
		n = n * 10 + (size_t)(at[digits++] - '0');
	if (digits == 0 || n == 0 || n > left - digits)
		return (false);
	*part_out = at + digits;
	*n_out = n;
	*at_inout = at + digits + n;
	return (true);
}

static bool
legacy_text(const char *mangled, char *out, size_t cap)
{
	struct legacy l = { .out = out, .cap = cap };
	const char *at = mangled + 3, *part, *last = NULL;
	size_t n, n_last = 0, n_parts = 0;

	if (strncmp(mangled, "_ZN", 3) != 0)
		return (false);
	while (next_part(&at, &part, &n)) {
		if (last != NULL) {
			put(&l, "::", n_parts++ == 0 ? 0 : 2);
			put_legacy_part(&l, last, n_last);
		}
		last = part;
		n_last = n;
	}
	if (*at != 'E' || last == NULL || n_parts == 0 ||
	    !is_hash(last, n_last) ||
	    (at[1] != '\0' && at[1] != '.' && at[1] != '@'))
		return (false);
	at++;
	if (strncmp(at, ".llvm.", 6) != 0)
		put(&l, at, strlen(at));
	if (l.bad)
		return (false);
	out[l.n] = '\0';
	return (true);
}

bool
hwtdi_symbol_text(const char *name, char *out, size_t cap)
{
	char mangled[HWTDI_MANGLED_MAX];
	const char *version = strchr(name, '@');
	const size_t all = strlen(name);
	const size_t n = version != NULL ? (size_t)(version - name) : all;
	size_t n_out;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    n >= sizeof(mangled))
		return (false);
	memcpy(mangled, name, n);
	mangled[n] = '\0';
	if (!hwtdi_rust_v0(mangled, out, cap, &n_out) &&
	    !legacy_text(mangled, out, cap) &&
	    (name[1] != 'Z' || !cxx_text(mangled, out, cap)))
		return (false);
	n_out = strlen(out);
	if (all - n >= cap - n_out)
		return (false);
	memcpy(out + n_out, name + n, all - n + 1);
	return (true);
}
