/*
 * Names that rustc mangles by its scheme "v0".
 *
 * Source: Rust RFC 2603, "Rust symbol name mangling (v0)".
 */
#include "image/rust_v0.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "image/punycode.h"

/* Paths in paths, types in types. */
#define DEPTH_MAX 96u
/* Productions of one name, those of references each time. */
#define STEPS_MAX 200000u
/* Characters of an identifier that is not ASCII. */
#define WIDE_MAX 256u

struct reader {
	/* Behind "_R" and the version. */
	const char *name;
	size_t n, at;
	char *out;
	size_t n_out, cap;
	unsigned int depth, steps;
	/* Lifetimes that are bound here. */
	uint64_t bound;
	/* What is read is not printed. */
	bool mute;
	bool bad;
};

struct identifier {
	const char *at;
	size_t n;
	bool wide;
	uint64_t disambiguator;
};

static void read_path(struct reader *r, bool in_value);
static void read_type(struct reader *r);
static void read_const(struct reader *r);

/* Output. */

static void
put_n(struct reader *r, const char *text, size_t n)
{
	if (r->mute || r->bad)
		return;
	if (n >= r->cap - r->n_out) {
		r->bad = true;
		return;
	}
	memcpy(r->out + r->n_out, text, n);
	r->n_out += n;
}

static void
put(struct reader *r, const char *text)
{
	put_n(r, text, strlen(text));
}

static void
put_number(struct reader *r, uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	put(r, text);
}

static void
put_utf8(struct reader *r, uint32_t c)
{
	char t[4];

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		r->bad = true;
	} else if (c < 0x80) {
		t[0] = (char)c;
		put_n(r, t, 1);
	} else if (c < 0x800) {
		t[0] = (char)(0xc0 | c >> 6);
		t[1] = (char)(0x80 | (c & 0x3f));
		put_n(r, t, 2);
	} else if (c < 0x10000) {
		t[0] = (char)(0xe0 | c >> 12);
		t[1] = (char)(0x80 | (c >> 6 & 0x3f));
		t[2] = (char)(0x80 | (c & 0x3f));
		put_n(r, t, 3);
	} else {
		t[0] = (char)(0xf0 | c >> 18);
		t[1] = (char)(0x80 | (c >> 12 & 0x3f));
		t[2] = (char)(0x80 | (c >> 6 & 0x3f));
		t[3] = (char)(0x80 | (c & 0x3f));
		put_n(r, t, 4);
	}
}

/* Input. */

static char
peek(const struct reader *r)
{
	return (r->bad || r->at >= r->n ? '\0' : r->name[r->at]);
}

static bool
take(struct reader *r, char c)
{
	if (peek(r) != c)
		return (false);
	r->at++;
	return (true);
}

static char
next(struct reader *r)
{
	const char c = peek(r);

	if (c == '\0')
		r->bad = true;
	else
		r->at++;
	return (c);
}

static bool
enter(struct reader *r)
{
	if (++r->depth > DEPTH_MAX || ++r->steps > STEPS_MAX)
		r->bad = true;
	return (!r->bad);
}

static int
base_62(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'z')
		return (c - 'a' + 10);
	return (c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1);
}

/* Digits and "_": none stand for 0, the others for one more than they say. */
static uint64_t
read_base_62(struct reader *r)
{
	uint64_t v = 0;

	if (take(r, '_'))
		return (0);
	while (!take(r, '_')) {
		const int digit = base_62(next(r));

		if (digit < 0 || v > (UINT64_MAX - 62) / 62) {
			r->bad = true;
			return (0);
		}
		v = v * 62 + (unsigned int)digit;
	}
	return (v + 1);
}

/* A number behind a letter; 0: the letter is not there. */
static uint64_t
read_optional(struct reader *r, char letter)
{
	uint64_t v;

	if (!take(r, letter))
		return (0);
	v = read_base_62(r);
	return (v == UINT64_MAX ? v : v + 1);
}

static size_t
read_decimal(struct reader *r)
{
	size_t v = 0;

	if (peek(r) < '0' || peek(r) > '9') {
		r->bad = true;
		return (0);
	}
	if (take(r, '0'))
		return (0);
	while (peek(r) >= '0' && peek(r) <= '9') {
		v = v * 10 + (size_t)(next(r) - '0');
		if (v > r->n) {
			r->bad = true;
			return (0);
		}
	}
	return (v);
}

/* Of an ABI and of bindings there is no disambiguator. */
static struct identifier
read_undisambiguated(struct reader *r)
{
	struct identifier id = { .at = "" };

	id.wide = take(r, 'u');
	id.n = read_decimal(r);
	(void)take(r, '_');
	if (r->bad || id.n > r->n - r->at) {
		r->bad = true;
		id.n = 0;
		return (id);
	}
	id.at = r->name + r->at;
	r->at += id.n;
	return (id);
}

static struct identifier
read_identifier(struct reader *r)
{
	const uint64_t disambiguator = read_optional(r, 's');
	struct identifier id = read_undisambiguated(r);

	id.disambiguator = disambiguator;
	return (id);
}

static void
put_wide(struct reader *r, const struct identifier *id)
{
	uint32_t c[WIDE_MAX];
	size_t n;

	if (!hwtdi_punycode(id->at, id->n, c, WIDE_MAX, &n)) {
		r->bad = true;
		return;
	}
	for (size_t k = 0; k < n; k++)
		put_utf8(r, c[k]);
}

static void
put_identifier(struct reader *r, const struct identifier *id)
{
	if (id->wide)
		put_wide(r, id);
	else
		put_n(r, id->at, id->n);
}

/* Read what is referred to again; where nothing is printed, nothing is. */
static void
read_again(struct reader *r, void (*read)(struct reader *r))
{
	const size_t letter = r->at - 1;
	const uint64_t to = read_base_62(r);
	const size_t back = r->at;

	if (to >= letter) {
		r->bad = true;
		return;
	}
	if (r->mute || r->bad)
		return;
	r->at = (size_t)to;
	read(r);
	r->at = back;
}

static void
put_lifetime(struct reader *r, uint64_t index)
{
	uint64_t depth;
	char c;

	put(r, "'");
	if (index == 0) {
		put(r, "_");
		return;
	}
	if (index > r->bound) {
		r->bad = true;
		return;
	}
	depth = r->bound - index;
	c = (char)('a' + depth % 26);
	if (depth < 26) {
		put_n(r, &c, 1);
	} else {
		put(r, "_");
		put_number(r, depth);
	}
}

/* Lifetimes of "for<...>"; how many there are. */
static uint64_t
read_binder(struct reader *r)
{
	const uint64_t n = read_optional(r, 'G');

	/* Each has to be named at least once to be of use. */
	if (n > r->n) {
		r->bad = true;
		return (0);
	}
	if (n == 0)
		return (0);
	put(r, "for<");
	for (uint64_t i = 0; i < n; i++) {
		put(r, i == 0 ? "" : ", ");
		r->bound++;
		put_lifetime(r, 1);
	}
	put(r, "> ");
	return (n);
}

/* Paths. */

/* The path of what holds an impl is there to tell it from others. */
static void
skip_impl_path(struct reader *r)
{
	const bool mute = r->mute;

	(void)read_optional(r, 's');
	r->mute = true;
	read_path(r, false);
	r->mute = mute;
}

static void
read_nested(struct reader *r, bool in_value)
{
	const char space = next(r);
	struct identifier id;

	read_path(r, in_value);
	id = read_identifier(r);
	if (space >= 'A' && space <= 'Z') {
		put(r, "::{");
		if (space == 'C')
			put(r, "closure");
		else if (space == 'S')
			put(r, "shim");
		else
			put_n(r, &space, 1);
		if (id.n != 0) {
			put(r, ":");
			put_identifier(r, &id);
		}
		put(r, "#");
		put_number(r, id.disambiguator);
		put(r, "}");
	} else if (space >= 'a' && space <= 'z') {
		if (id.n != 0) {
			put(r, "::");
			put_identifier(r, &id);
		}
	} else {
		r->bad = true;
	}
}

static void
read_generic_args(struct reader *r)
{
	for (bool first = true; !r->bad && !take(r, 'E'); first = false) {
		put(r, first ? "" : ", ");
		if (take(r, 'L'))
			put_lifetime(r, read_base_62(r));
		else if (take(r, 'K'))
			read_const(r);
		else
			read_type(r);
	}
}

static void
read_path_in_value(struct reader *r)
{
	read_path(r, true);
}

static void
read_path_in_type(struct reader *r)
{
	read_path(r, false);
}

static void
read_path(struct reader *r, bool in_value)
{
	struct identifier id;

	if (!enter(r))
		return;
	switch (next(r)) {
	case 'C':
		id = read_identifier(r);
		put_identifier(r, &id);
		break;
	case 'N':
		read_nested(r, in_value);
		break;
	case 'M':
		skip_impl_path(r);
		put(r, "<");
		read_type(r);
		put(r, ">");
		break;
	case 'X':
		skip_impl_path(r);
		/* FALLTHROUGH */
	case 'Y':
		put(r, "<");
		read_type(r);
		put(r, " as ");
		read_path(r, false);
		put(r, ">");
		break;
	case 'I':
		read_path(r, in_value);
		put(r, in_value ? "::<" : "<");
		read_generic_args(r);
		put(r, ">");
		break;
	case 'B':
		read_again(r,
		    in_value ? read_path_in_value : read_path_in_type);
		break;
	default:
		r->bad = true;
		break;
	}
	r->depth--;
}

/* Types. */

static const char *
basic_type(char c)
{
	static const char *const names[26] = { "i8", "bool", "char", "f64",
		"str", "f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32",
		"i128", "u128", "_", NULL, NULL, "i16", "u16", "()", "...",
		NULL, "i64", "u64", "!" };

	return (c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL);
}

static void
read_abi(struct reader *r)
{
	struct identifier id = { .at = "C", .n = 1 };

	if (!take(r, 'C'))
		id = read_undisambiguated(r);
	put(r, "extern \"");
	/* "-" cannot be in a symbol. */
	for (size_t i = 0; i < id.n; i++)
		put_n(r, id.at[i] == '_' ? "-" : id.at + i, 1);
	put(r, "\" ");
}

static void
read_function(struct reader *r)
{
	const uint64_t n = read_binder(r);

	if (take(r, 'U'))
		put(r, "unsafe ");
	if (take(r, 'K'))
		read_abi(r);
	put(r, "fn(");
	for (bool first = true; !r->bad && !take(r, 'E'); first = false) {
		put(r, first ? "" : ", ");
		read_type(r);
	}
	put(r, ")");
	if (!take(r, 'u')) {
		put(r, " -> ");
		read_type(r);
	}
	r->bound -= n;
}

/* A path whose "<...>" is still open; true: it is. */
static bool
read_open_path(struct reader *r)
{
	bool open = false;

	if (!enter(r))
		return (false);
	if (take(r, 'B')) {
		const size_t letter = r->at - 1;
		const uint64_t to = read_base_62(r);
		const size_t back = r->at;

		if (to >= letter)
			r->bad = true;
		if (!r->mute && !r->bad) {
			r->at = (size_t)to;
			open = read_open_path(r);
			r->at = back;
		}
	} else if (take(r, 'I')) {
		read_path(r, false);
		put(r, "<");
		read_generic_args(r);
		open = true;
	} else {
		read_path(r, false);
	}
	r->depth--;
	return (open);
}

static void
read_dyn_trait(struct reader *r)
{
	bool open = read_open_path(r);

	while (take(r, 'p')) {
		struct identifier id;

		put(r, open ? ", " : "<");
		open = true;
		id = read_undisambiguated(r);
		put_identifier(r, &id);
		put(r, " = ");
		read_type(r);
	}
	put(r, open ? ">" : "");
}

static void
read_dyn(struct reader *r)
{
	uint64_t n, lifetime;

	put(r, "dyn ");
	n = read_binder(r);
	for (bool first = true; !r->bad && !take(r, 'E'); first = false) {
		put(r, first ? "" : " + ");
		read_dyn_trait(r);
	}
	r->bound -= n;
	if (!take(r, 'L')) {
		r->bad = true;
		return;
	}
	lifetime = read_base_62(r);
	if (lifetime != 0) {
		put(r, " + ");
		put_lifetime(r, lifetime);
	}
}

static void
read_reference(struct reader *r, const char *what)
{
	uint64_t lifetime;

	put(r, "&");
	if (take(r, 'L')) {
		lifetime = read_base_62(r);
		if (lifetime != 0) {
			put_lifetime(r, lifetime);
			put(r, " ");
		}
	}
	put(r, what);
	read_type(r);
}

static void
read_tuple(struct reader *r)
{
	size_t n = 0;

	put(r, "(");
	for (; !r->bad && !take(r, 'E'); n++) {
		put(r, n == 0 ? "" : ", ");
		read_type(r);
	}
	put(r, n == 1 ? ",)" : ")");
}

static void
read_type(struct reader *r)
{
	const char c = next(r);
	const char *basic = basic_type(c);

	if (!enter(r))
		return;
	if (basic != NULL) {
		put(r, basic);
		r->depth--;
		return;
	}
	switch (c) {
	case 'R':
		read_reference(r, "");
		break;
	case 'Q':
		read_reference(r, "mut ");
		break;
	case 'P':
		put(r, "*const ");
		read_type(r);
		break;
	case 'O':
		put(r, "*mut ");
		read_type(r);
		break;
	case 'A':
	case 'S':
		put(r, "[");
		read_type(r);
		if (c == 'A') {
			put(r, "; ");
			read_const(r);
		}
		put(r, "]");
		break;
	case 'T':
		read_tuple(r);
		break;
	case 'F':
		read_function(r);
		break;
	case 'D':
		read_dyn(r);
		break;
	case 'B':
		read_again(r, read_type);
		break;
	default:
		r->at--;
		read_path(r, false);
		break;
	}
	r->depth--;
}

/* Constants. */

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	return (c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1);
}

/* Digits up to "_"; their number, without zeros ahead. */
static size_t
read_hex(struct reader *r, const char **at_out, uint64_t *value_out)
{
	size_t first = r->at, end;

	*value_out = 0;
	while (!r->bad && !take(r, '_')) {
		const int digit = hex_digit(next(r));

		if (digit < 0)
			r->bad = true;
		*value_out = *value_out << 4 | (unsigned int)(digit & 0xf);
	}
	if (r->bad)
		return (0);
	end = r->at - 1;
	while (first < end && r->name[first] == '0')
		first++;
	*at_out = r->name + first;
	return (end - first);
}

static void
put_integer(struct reader *r)
{
	const char *digits = "";
	uint64_t v;
	size_t n;

	n = read_hex(r, &digits, &v);
	if (n > 16) {
		put(r, "0x");
		put_n(r, digits, n);
	} else {
		put_number(r, v);
	}
}

static void
put_char(struct reader *r)
{
	const char *digits;
	uint64_t v;
	char text[16];

	if (read_hex(r, &digits, &v) > 6 || v > 0x10ffff)
		r->bad = true;
	put(r, "'");
	if (v == '\'' || v == '\\') {
		put(r, "\\");
		put_utf8(r, (uint32_t)v);
	} else if (v == '\n' || v == '\r' || v == '\t') {
		put(r, v == '\n' ? "\\n" : v == '\r' ? "\\r" : "\\t");
	} else if (v < 0x20 || (v >= 0x7f && v < 0xa0)) {
		(void)snprintf(text, sizeof(text), "\\u{%x}", (unsigned int)v);
		put(r, text);
	} else {
		put_utf8(r, (uint32_t)v);
	}
	put(r, "'");
}

static void
read_const(struct reader *r)
{
	const char *digits;
	uint64_t v;

	if (!enter(r))
		return;
	switch (next(r)) {
	case 'p':
		put(r, "_");
		break;
	case 'a':
	case 'i':
	case 'l':
	case 'n':
	case 's':
	case 'x':
		put(r, take(r, 'n') ? "-" : "");
		put_integer(r);
		break;
	case 'h':
	case 'j':
	case 'm':
	case 'o':
	case 't':
	case 'y':
		put_integer(r);
		break;
	case 'b':
		if (read_hex(r, &digits, &v) > 1 || v > 1)
			r->bad = true;
		put(r, v != 0 ? "true" : "false");
		break;
	case 'c':
		put_char(r);
		break;
	case 'B':
		read_again(r, read_const);
		break;
	default:
		r->bad = true;
		break;
	}
	r->depth--;
}

bool
hwtdi_rust_v0(const char *name, char *out, size_t cap, size_t *n_out)
{
	struct reader r = { .out = out, .cap = cap };

	if (strncmp(name, "_R", 2) != 0 || cap == 0)
		return (false);
	r.name = name + 2;
	r.n = strlen(r.name);
	/* Numbers are versions to come; paths begin with capitals. */
	if (peek(&r) < 'A' || peek(&r) > 'Z')
		return (false);
	read_path(&r, true);
	if (peek(&r) >= 'A' && peek(&r) <= 'Z') {
		/* The crate that made an instance of it. */
		r.mute = true;
		read_path(&r, false);
		r.mute = false;
	}
	if (!r.bad && r.at < r.n) {
		if (r.name[r.at] != '.' && r.name[r.at] != '$')
			return (false);
		/* LLVM makes names of its own unique by that. */
		if (strncmp(r.name + r.at, ".llvm.", 6) != 0)
			put_n(&r, r.name + r.at, r.n - r.at);
	}
	if (r.bad)
		return (false);
	out[r.n_out] = '\0';
	*n_out = r.n_out;
	return (true);
}
