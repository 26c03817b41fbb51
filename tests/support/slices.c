/*
 * Reading begins and ends of files, and checking that they nest.
 */
#include "support/slices.h"

#include <stdlib.h>
#include <string.h>

#include "support/json_check.h"

void
slices_add(struct slices *s, uint64_t track, uint64_t at, bool begins)
{
	if (s->n == s->cap) {
		s->cap = 2 * s->cap + 64;
		s->at = realloc(s->at, s->cap * sizeof(*s->at));
		if (s->at == NULL)
			abort();
	}
	s->at[s->n] = (struct slice){ track, at, s->n, begins };
	s->n++;
	s->begun += begins;
}

static int
compare(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	if (x->track != y->track)
		return (x->track < y->track ? -1 : 1);
	if (x->at != y->at)
		return (x->at < y->at ? -1 : 1);
	return (x->no < y->no ? -1 : 1);
}

bool
slices_nest(struct slices *s)
{
	size_t depth = 0;
	bool good = true;

	if (s->n > 0)
		qsort(s->at, s->n, sizeof(*s->at), compare);
	for (size_t i = 0; i < s->n; i++) {
		if (i > 0 && s->at[i].track != s->at[i - 1].track) {
			good = good && depth == 0;
			depth = 0;
		}
		if (s->at[i].begins)
			depth++;
		else if (depth == 0)
			good = false;
		else
			depth--;
	}
	good = good && depth == 0;
	free(s->at);
	memset(s, 0, sizeof(*s));
	return (good);
}

/* A number behind a key, as thousandths; false: it is not there. */
static bool
number_of(const char *line, size_t n, const char *key, uint64_t *out)
{
	const size_t n_key = strlen(key);
	unsigned int digits = 0;
	bool point = false;
	size_t i;

	for (i = 0; i + n_key < n; i++)
		if (memcmp(line + i, key, n_key) == 0)
			break;
	if (i + n_key >= n)
		return (false);
	*out = 0;
	for (i += n_key; i < n && digits < 3; i++) {
		if (line[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (line[i] < '0' || line[i] > '9')
			break;
		digits += point;
		*out = *out * 10 + (uint64_t)(line[i] - '0');
	}
	for (; digits < 3; digits++)
		*out *= 10;
	return (true);
}

/* The next line; its bytes. */
static size_t
line_bytes(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return (newline != NULL ? (size_t)(newline - at) : (size_t)(end - at));
}

bool
slices_of_chrome(struct slices *s, const char *text, size_t n)
{
	const char *const end = text + n;

	for (const char *at = text; at < end; at++) {
		const size_t bytes = line_bytes(at, end);
		const char *const ph = bytes < 9	? NULL
		    : memcmp(at, "{\"ph\":\"", 7) == 0	? at + 7
		    : memcmp(at, ",{\"ph\":\"", 8) == 0 ? at + 8
							: NULL;
		uint64_t time, pid, tid;

		if (ph != NULL && (*ph == 'B' || *ph == 'E')) {
			if (!number_of(ph, bytes - 8, "\"ts\":", &time) ||
			    !number_of(ph, bytes - 8, "\"pid\":", &pid) ||
			    !number_of(ph, bytes - 8, "\"tid\":", &tid))
				return (false);
			slices_add(s, pid / 1000 << 32 | tid / 1000, time,
			    *ph == 'B');
		}
		at += bytes;
	}
	return (true);
}

bool
slices_of_speedscope(struct slices *s, const char *text, size_t n)
{
	const char *const end = text + n;
	uint64_t track = 0;

	for (const char *at = text; at < end; at++) {
		const size_t bytes = line_bytes(at, end);
		const char *const type = bytes < 12	   ? NULL
		    : memcmp(at, "{\"type\":\"", 9) == 0   ? at + 9
		    : memcmp(at, ",{\"type\":\"", 10) == 0 ? at + 10
							   : NULL;
		uint64_t time;

		if (type != NULL && type[0] == 'e')
			track++;
		if (type != NULL && (type[0] == 'O' || type[0] == 'C')) {
			if (!number_of(type, bytes - 10, "\"at\":", &time))
				return (false);
			slices_add(s, track, time, type[0] == 'O');
		}
		at += bytes;
	}
	return (true);
}

/* Protocol buffers: a field, of wire types 0, 1 and 2. */
struct field {
	uint64_t no, value;
	const uint8_t *bytes;
	size_t n;
};

static bool
varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	*out = 0;
	for (unsigned int shift = 0; *at < end && shift < 70; shift += 7) {
		const uint8_t c = *(*at)++;

		if (shift < 64)
			*out |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return (true);
	}
	return (false);
}

static bool
next_field(const uint8_t **at, const uint8_t *end, struct field *f)
{
	uint64_t tag, n;

	memset(f, 0, sizeof(*f));
	if (!varint(at, end, &tag) || tag >> 3 == 0)
		return (false);
	f->no = tag >> 3;
	switch (tag & 7) {
	case 0:
		return (varint(at, end, &f->value));
	case 1:
		if (end - *at < 8)
			return (false);
		*at += 8;
		return (true);
	case 2:
		if (!varint(at, end, &n) || n > (uint64_t)(end - *at))
			return (false);
		f->bytes = *at;
		f->n = (size_t)n;
		*at += n;
		return (true);
	default:
		return (false);
	}
}

/* Interned data: each entry has a number and a name, which is UTF-8. */
static bool
check_names(const uint8_t *at, size_t n)
{
	const uint8_t *const end = at + n;
	struct field entry, f;

	while (at < end) {
		const uint8_t *in;

		if (!next_field(&at, end, &entry) || entry.bytes == NULL)
			return (false);
		for (in = entry.bytes; in < entry.bytes + entry.n;)
			if (!next_field(&in, entry.bytes + entry.n, &f) ||
			    (f.no == 2 &&
				!utf8_check((const char *)f.bytes, f.n)))
				return (false);
	}
	return (true);
}

static bool
take_packet(struct slices *s, const struct field *packet)
{
	const uint8_t *at = packet->bytes;
	const uint8_t *const end = at + packet->n;
	uint64_t time = 0, type = 0, track = 0;
	struct field f, g;

	while (at < end) {
		const uint8_t *in;

		if (!next_field(&at, end, &f))
			return (false);
		if (f.no == 8)
			time = f.value;
		if (f.no == 12 && !check_names(f.bytes, f.n))
			return (false);
		for (in = f.bytes; f.no == 11 && in < f.bytes + f.n;) {
			if (!next_field(&in, f.bytes + f.n, &g) ||
			    (g.no == 23 &&
				!utf8_check((const char *)g.bytes, g.n)))
				return (false);
			if (g.no == 9)
				type = g.value;
			if (g.no == 11)
				track = g.value;
		}
	}
	if (type == 1 || type == 2)
		slices_add(s, track, time, type == 1);
	return (true);
}

bool
slices_of_perfetto(struct slices *s, const uint8_t *bytes, size_t n)
{
	const uint8_t *const end = bytes + n;
	struct field packet;

	while (bytes < end)
		if (!next_field(&bytes, end, &packet) || packet.no != 1 ||
		    packet.bytes == NULL || !take_packet(s, &packet))
			return (false);
	return (true);
}
