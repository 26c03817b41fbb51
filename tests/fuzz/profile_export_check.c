/*
 * Files that were made of profiles, read again.
 */
#include "profile_export_check.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* UTF-8, with a decoder of its own; returns the character and goes on. */
static uint32_t
take_character(const char **at, const char *end)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = (const uint8_t *)*at;
	const size_t n = p[0] < 0x80 ? 1
	    : (p[0] & 0xe0) == 0xc0  ? 2
	    : (p[0] & 0xf0) == 0xe0  ? 3
	    : (p[0] & 0xf8) == 0xf0  ? 4
				     : 0;
	uint32_t c = n == 1 ? p[0] : n == 0 ? 0 : p[0] & (0x7fu >> n);

	FUZZ_CHECK(n != 0 && n <= (size_t)(end - *at), "no UTF-8: %02x", p[0]);
	for (size_t i = 1; i < n; i++) {
		FUZZ_CHECK((p[i] & 0xc0) == 0x80, "no UTF-8: %02x", p[i]);
		c = c << 6 | (p[i] & 0x3f);
	}
	FUZZ_CHECK(c >= least[n] && c <= 0x10ffff && c >> 11 != 0x1b,
	    "no character: %x", c);
	*at += n;
	return (c);
}

/* Text of lines: no other control characters. */
static void
check_lines(const char *text, size_t n)
{
	const char *at = text;

	if (n == 0)
		return;
	while (at < text + n) {
		const uint32_t c = take_character(&at, text + n);

		FUZZ_CHECK(c == '\n' ||
			(c >= 0x20 && (c < 0x7f || c > 0x9f) && c != 0x2028 &&
			    c != 0x2029),
		    "a control character: %x", c);
	}
	FUZZ_CHECK(text[n - 1] == '\n', "a line without an end");
}

/* Flames. */

void
check_flame_adds_up(const struct hwtd_flame *flame)
{
	struct hwtd_flame_info info = { .size = sizeof(info) };
	struct hwtd_flame_node *nodes;
	uint64_t *sums;
	size_t n = 0;

	FUZZ_CHECK(hwtd_flame_info(flame, &info) == HWTD_OK, "no info");
	nodes = calloc(info.n_nodes, sizeof(*nodes));
	sums = calloc(info.n_nodes, sizeof(*sums));
	FUZZ_CHECK(nodes != NULL && sums != NULL, "out of memory");
	FUZZ_CHECK(hwtd_flame_nodes(flame, 0, nodes, sizeof(*nodes),
		       info.n_nodes, &n) == HWTD_OK &&
		n == info.n_nodes,
	    "%zu of %u nodes", n, info.n_nodes);
	for (size_t i = n; i-- > 0;) {
		const struct hwtd_flame_node *node = &nodes[i];

		FUZZ_CHECK(node->next > i && node->next <= n &&
			node->frame < info.n_frames,
		    "node %zu goes on at %u", i, node->next);
		FUZZ_CHECK(i == 0 ||
			(node->parent < i &&
			    nodes[node->parent].next >= node->next &&
			    node->depth == nodes[node->parent].depth + 1),
		    "node %zu is outside of its parent", i);
		if ((info.flags & HWTD_FLAMEF_SATURATED) == 0)
			FUZZ_CHECK(node->value == node->self + sums[i],
			    "node %zu does not add up", i);
		if (i != 0)
			sums[node->parent] += node->value;
	}
	FUZZ_CHECK(nodes[0].value == info.total ||
		(info.flags & HWTD_FLAMEF_SATURATED) != 0,
	    "the root is not all");
	free(nodes);
	free(sums);
}

/* Digits at the end, with a blank before; where that is. */
static const char *
number_before(const char *begin, const char *end)
{
	const char *at = end;

	while (at > begin && at[-1] >= '0' && at[-1] <= '9')
		at--;
	FUZZ_CHECK(at < end && at > begin && at[-1] == ' ',
	    "no number at the end of a line");
	return (at - 1);
}

void
check_folded(const char *text, size_t n, const struct hwtd_flame *flame)
{
	struct hwtd_flame_info info = { .size = sizeof(info) };
	struct hwtd_flame_node node;
	const char *at = text;
	bool compared;
	size_t got;

	check_lines(text, n);
	FUZZ_CHECK(hwtd_flame_info(flame, &info) == HWTD_OK, "no info");
	compared = (info.flags & HWTD_FLAMEF_COMPARED) != 0;
	for (uint64_t i = 0; hwtd_flame_nodes(flame, i, &node, sizeof(node), 1,
				 &got) == HWTD_OK;
	     i++) {
		const char *end, *names;
		uint32_t n_names = 1;

		if ((node.self | node.base_self) == 0)
			continue;
		FUZZ_CHECK(at < text + n, "a line is missing");
		end = memchr(at, '\n', (size_t)(text + n - at));
		names = number_before(at, end);
		FUZZ_CHECK(strtoull(names, NULL, 10) == node.self,
		    "another number");
		if (compared) {
			names = number_before(at, names);
			FUZZ_CHECK(strtoull(names, NULL, 10) == node.base_self,
			    "another number before");
		}
		for (const char *p = at; p < names; p++)
			n_names += *p == ';';
		FUZZ_CHECK(n_names == (node.depth == 0 ? 1 : node.depth),
		    "%u names, %u levels", n_names, node.depth);
		/* A reader that takes what looks like a number as one. */
		for (const char *p = names; p > at &&
		     ((p[-1] >= '0' && p[-1] <= '9') || p[-1] == '.');
		     p--)
			FUZZ_CHECK(p - 1 == at || p[-2] != ' ',
			    "a name that ends in a number");
		at = end + 1;
	}
	FUZZ_CHECK(at == text + n, "a line too many");
}

/* JSON. */

struct json {
	const char *at, *end;
	unsigned int depth;
};

static char
json_next(struct json *j)
{
	while (j->at < j->end && (*j->at == ' ' || *j->at == '\n'))
		j->at++;
	FUZZ_CHECK(j->at < j->end, "JSON without an end");
	return (*j->at);
}

static void
json_text(struct json *j)
{
	FUZZ_CHECK(*j->at == '"', "no text: %c", *j->at);
	for (j->at++; j->at < j->end && *j->at != '"';) {
		FUZZ_CHECK((uint8_t)*j->at >= 0x20, "a control character");
		if (*j->at != '\\') {
			(void)take_character(&j->at, j->end);
			continue;
		}
		FUZZ_CHECK(j->end - j->at > 6 &&
			strchr("\"\\/bfnrtu", j->at[1]) != NULL,
		    "no escape");
		j->at += j->at[1] == 'u' ? 6 : 2;
	}
	FUZZ_CHECK(j->at < j->end, "text without an end");
	j->at++;
}

/* How many elements an array has; 0 of what is none. */
static size_t
json_value(struct json *j)
{
	const char first = json_next(j);
	const char last = first == '{' ? '}' : ']';
	size_t n = 0, n_samples = 0, n_weights = 0;

	if (first == '"') {
		json_text(j);
		return (0);
	}
	if (first != '{' && first != '[') {
		const char *begin = j->at;

		while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
			j->at++;
		FUZZ_CHECK(j->at > begin &&
			(*begin != '0' || j->at == begin + 1),
		    "no value: %c", *begin);
		return (0);
	}
	FUZZ_CHECK(++j->depth < 16, "too deep");
	j->at++;
	while (json_next(j) != last) {
		const char *key;
		size_t got;

		if (n++ > 0) {
			FUZZ_CHECK(*j->at == ',', "no comma: %c", *j->at);
			j->at++;
			(void)json_next(j);
		}
		key = j->at;
		if (first == '{') {
			json_text(j);
			FUZZ_CHECK(json_next(j) == ':', "no colon");
			j->at++;
		}
		got = json_value(j);
		if (first == '{' && strncmp(key, "\"samples\"", 9) == 0)
			n_samples = got;
		if (first == '{' && strncmp(key, "\"weights\"", 9) == 0)
			n_weights = got;
	}
	FUZZ_CHECK(n_samples == n_weights, "%zu samples, %zu weights",
	    n_samples, n_weights);
	j->at++;
	j->depth--;
	return (n);
}

void
check_json(const char *text, size_t n)
{
	struct json j = { .at = text, .end = text + n };

	(void)json_value(&j);
	while (j.at < j.end && *j.at == '\n')
		j.at++;
	FUZZ_CHECK(j.at == j.end, "more than a value");
}

/* XML. */

static const char *
check_entity(const char *at)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;",
		"&#39;" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(at, known[i], strlen(known[i])) == 0)
			return (at + strlen(known[i]));
	FUZZ_CHECK(false, "no entity: %.8s", at);
	return (at + 1);
}

/* It lies in the picture. */
static void
check_rect(const char *at)
{
	const char *const x = strstr(at, " x=\""), *width;

	width = strstr(at, " width=\"");
	FUZZ_CHECK(x != NULL && width != NULL, "no place");
	FUZZ_CHECK(strtod(x + 4, NULL) >= 10 && strtod(width + 8, NULL) >= 0 &&
		strtod(x + 4, NULL) + strtod(width + 8, NULL) <= 1190.001,
	    "outside of the picture: %.60s", at);
}

void
check_svg(const char *text, size_t n)
{
	static const char cdata[] = "<![CDATA[";
	const char *names[16], *end = text + n;
	unsigned int depth = 0, scripts = 0;

	for (const char *at = text; at < end;) {
		const uint32_t c = take_character(&at, end);

		FUZZ_CHECK(c == '\n' ||
			(c >= 0x20 && c != 0xfffe && c != 0xffff),
		    "XML has no %x", c);
	}
	FUZZ_CHECK(strncmp(text, "<?xml ", 6) == 0, "no XML");
	for (const char *at = strchr(text, '\n'); at < end;) {
		const char *close;

		if (*at == '&') {
			at = check_entity(at);
			continue;
		}
		if (*at != '<') {
			at++;
			continue;
		}
		if (strncmp(at, cdata, sizeof(cdata) - 1) == 0) {
			at = strstr(at, "]]>");
			FUZZ_CHECK(at != NULL, "no end of CDATA");
			at += 3;
			continue;
		}
		close = memchr(at, '>', (size_t)(end - at));
		FUZZ_CHECK(close != NULL, "a tag without an end");
		scripts += strncmp(at, "<script", 7) == 0;
		if (strncmp(at, "<rect x=", 8) == 0)
			check_rect(at);
		if (at[1] == '/') {
			FUZZ_CHECK(depth > 0 &&
				strncmp(names[depth - 1], at + 2,
				    (size_t)(close - at - 2)) == 0,
			    "closed: %.20s", at);
			depth--;
		} else if (close[-1] != '/') {
			FUZZ_CHECK(depth < 16, "too deep");
			names[depth++] = at + 1;
		}
		at = close + 1;
	}
	FUZZ_CHECK(depth == 0 && scripts == 1, "%u open, %u scripts", depth,
	    scripts);
}

/* callgrind. */

#define MAX_NUMBERS 4096

struct callgrind {
	/* By ob, fl, fn: numbers that have names. */
	bool named[3][MAX_NUMBERS];
	size_t n_events;
	bool calls;
};

static void
check_name(struct callgrind *c, unsigned int space, const char *at,
    const char *end)
{
	char *after;
	unsigned long no;

	FUZZ_CHECK(*at == '(', "no number: %.10s", at);
	no = strtoul(at + 1, &after, 10);
	FUZZ_CHECK(*after == ')' && no != 0 && no < MAX_NUMBERS,
	    "no number: %.10s", at);
	after++;
	if (after < end) {
		FUZZ_CHECK(*after == ' ' && after + 1 < end, "no name");
		FUZZ_CHECK(!c->named[space][no], "another name of %lu", no);
		c->named[space][no] = true;
	}
	FUZZ_CHECK(c->named[space][no], "%lu has no name", no);
}

static void
check_cost(const struct callgrind *c, const char *at, const char *end)
{
	size_t n = 0;

	FUZZ_CHECK(strncmp(at, "0x", 2) == 0, "no address: %.20s", at);
	for (at += 2; at < end; at++) {
		n += *at == ' ';
		FUZZ_CHECK(strchr("0123456789abcdef ", *at) != NULL,
		    "no number: %.20s", at);
	}
	FUZZ_CHECK(n == c->n_events + 1, "%zu numbers", n);
}

static void
check_callgrind_line(struct callgrind *c, const char *at, const char *end)
{
	static const struct {
		const char *key;
		unsigned int space;
	} keys[] = {
		{ "ob=", 0 },
		{ "cob=", 0 },
		{ "fl=", 1 },
		{ "fi=", 1 },
		{ "cfi=", 1 },
		{ "fn=", 2 },
		{ "cfn=", 2 },
	};

	FUZZ_CHECK(!c->calls || at[0] == '0', "a call without a cost");
	c->calls = false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(at, keys[i].key, strlen(keys[i].key)) == 0) {
			check_name(c, keys[i].space, at + strlen(keys[i].key),
			    end);
			return;
		}
	if (strncmp(at, "calls=", 6) == 0) {
		FUZZ_CHECK(at[6] >= '1' && at[6] <= '9', "no calls");
		c->calls = true;
	} else {
		check_cost(c, at, end);
	}
}

void
check_callgrind(const char *text, size_t n)
{
	static struct callgrind c;
	const char *end;
	bool body = false;

	memset(&c, 0, sizeof(c));
	check_lines(text, n);
	for (const char *at = text; at < text + n; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + n - at));
		if (at == end) {
			body = true;
		} else if (body) {
			check_callgrind_line(&c, at, end);
		} else if (strncmp(at, "events:", 7) == 0) {
			for (const char *p = at; p < end; p++)
				c.n_events += *p == ' ';
		}
	}
	FUZZ_CHECK(c.n_events != 0 && !c.calls, "%zu events", c.n_events);
}

/* pprof. */

struct field {
	uint64_t no, wire, v;
	const char *bytes;
};

static uint64_t
take_varint(const char **at, const char *end)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		FUZZ_CHECK(*at < end && shift < 64, "no number");
		v |= (uint64_t)(**at & 0x7f) << shift;
		if ((uint8_t) * (*at)++ < 0x80)
			return (v);
	}
}

static bool
take_field(const char **at, const char *end, struct field *f)
{
	if (*at >= end)
		return (false);
	f->v = take_varint(at, end);
	f->no = f->v >> 3;
	f->wire = f->v & 7;
	FUZZ_CHECK(f->wire == 0 || f->wire == 2, "wire type %llu",
	    (unsigned long long)f->wire);
	f->v = take_varint(at, end);
	if (f->wire == 2) {
		FUZZ_CHECK(f->v <= (uint64_t)(end - *at), "too long");
		f->bytes = *at;
		*at += f->v;
	}
	return (true);
}

/* Number of a thing, its field 1; the highest is kept. */
static void
note_id(bool *ids, const struct field *f)
{
	const char *at = f->bytes;
	struct field id;

	FUZZ_CHECK(take_field(&at, f->bytes + f->v, &id) && id.no == 1 &&
		id.v != 0 && id.v < MAX_NUMBERS && !ids[id.v],
	    "number %llu", (unsigned long long)id.v);
	ids[id.v] = true;
}

static void
check_sample(const bool *locations, const struct field *f, uint64_t n_strings)
{
	const char *at = f->bytes;
	struct field part;

	while (take_field(&at, f->bytes + f->v, &part)) {
		const char *p = part.bytes;
		size_t n = 0;

		for (; part.no < 3 && p < part.bytes + part.v; n++) {
			const uint64_t v = take_varint(&p,
			    part.bytes + part.v);

			if (part.no == 1)
				FUZZ_CHECK(v < MAX_NUMBERS && locations[v],
				    "no location %llu", (unsigned long long)v);
			else
				FUZZ_CHECK(v <= INT64_MAX, "below 0");
		}
		FUZZ_CHECK(part.no != 1 || n > 0, "an empty stack");
		FUZZ_CHECK(part.no != 2 || n == 5, "%zu values", n);
		while (part.no == 3) {
			struct field label;

			if (!take_field(&p, part.bytes + part.v, &label))
				break;
			FUZZ_CHECK(label.no == 3 || label.v < n_strings,
			    "no string %llu", (unsigned long long)label.v);
		}
	}
}

/* Strings of functions, and functions and mappings of locations. */
static void
check_parts(const struct field *f, const bool *functions, const bool *mappings,
    uint64_t n_strings)
{
	const char *at = f->bytes;
	struct field part;

	while (take_field(&at, f->bytes + f->v, &part)) {
		if (f->no == 5 && part.no >= 2 && part.no <= 4)
			FUZZ_CHECK(part.v < n_strings, "no string");
		if (f->no == 3 && (part.no == 5 || part.no == 6))
			FUZZ_CHECK(part.v < n_strings, "no string");
		if (f->no == 4 && part.no == 2)
			FUZZ_CHECK(part.v < MAX_NUMBERS && mappings[part.v],
			    "no mapping");
		if (f->no == 4 && part.no == 4) {
			const char *p = part.bytes;
			struct field line;

			FUZZ_CHECK(take_field(&p, part.bytes + part.v,
				       &line) &&
				line.no == 1 && line.v < MAX_NUMBERS &&
				functions[line.v],
			    "no function");
		}
	}
}

void
check_pprof(const struct written_export *out)
{
	bool functions[MAX_NUMBERS] = { false };
	bool locations[MAX_NUMBERS] = { false };
	bool mappings[MAX_NUMBERS] = { false };
	uint64_t n_strings = 0;
	struct field f;
	size_t n;
	char *raw = written_export_unpack(out, &n);

	FUZZ_CHECK(raw != NULL, "no gzip");
	for (const char *at = raw; take_field(&at, raw + n, &f);) {
		FUZZ_CHECK((f.no >= 1 && f.no <= 6) || f.no == 13 ||
			f.no == 14,
		    "field %llu", (unsigned long long)f.no);
		if (f.no == 3)
			note_id(mappings, &f);
		else if (f.no == 4)
			note_id(locations, &f);
		else if (f.no == 5)
			note_id(functions, &f);
		else if (f.no == 6) {
			FUZZ_CHECK((n_strings != 0) == (f.v != 0),
			    "an empty string");
			n_strings++;
			for (const char *p = f.bytes; p < f.bytes + f.v;)
				(void)take_character(&p, f.bytes + f.v);
		}
	}
	for (const char *at = raw; take_field(&at, raw + n, &f);) {
		if (f.no == 2)
			check_sample(locations, &f, n_strings);
		else if (f.no >= 3 && f.no <= 5)
			check_parts(&f, functions, mappings, n_strings);
		else if (f.no == 13 || f.no == 14)
			FUZZ_CHECK(f.v < n_strings, "no string");
	}
	free(raw);
}
