/*
 * Comparing the file of a capture with all that the hardware wrote.
 */
#define _GNU_SOURCE
#include "engine_account.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* So many bytes may be by chance what they were before. */
#define CHANCE 4u

struct matcher {
	const struct engine_run *run;
	struct hwtd_trace *trace;
	struct engine_account *out;
	bool failed;
	/* Losses that are told of no stream. */
	bool lost_somewhere;
	uint32_t stream;
	struct hwtd_stream_desc desc;
	bool lost;
	struct sim_buffer buffer;
	size_t required;
	uint8_t *bytes;
};

static void wrong(struct matcher *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
wrong(struct matcher *m, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	if (m->out->wrong[0] != '\0')
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)snprintf(m->out->wrong, sizeof(m->out->wrong), "%s: %s",
	    m->desc.name != NULL ? m->desc.name : "file", text);
}

/* The number behind "what=" in the text of the file, or -1. */
static int
said(struct hwtd_trace *trace, const char *what)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	const char *at;

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	at = info.capture != NULL ? strstr(info.capture, what) : NULL;
	return (at == NULL ? -1 : atoi(at + strlen(what)));
}

/* The buffer that a stream was read from; its number, or -1. */
static int
find_buffer(struct matcher *m)
{
	static const char *const idents[] = {
		[HWTD_TECH_INTEL_PT] = "pt.ident=",
		[HWTD_TECH_CORESIGHT] = "coresight.ident=",
		[HWTD_TECH_SPE] = "spe.ident="
	};
	const int ident = said(m->trace, idents[m->desc.tech]);
	int index = -1;

	if (m->desc.tech != HWTD_TECH_CORESIGHT &&
	    sscanf(m->desc.name, "%*s %*s %d", &index) != 1)
		return (-1);
	for (size_t i = 0; i < sim_buffers(m->run->kernel); i++) {
		sim_buffer(m->run->kernel, i, &m->buffer);
		if (m->buffer.ident != ident)
			continue;
		/* That of the sink is the first one. */
		if (index == -1 || m->buffer.id == index) {
			m->required = m->run->written[i];
			return ((int)i);
		}
	}
	return (-1);
}

/* [at, at + n) lies in one slice. */
static bool
in_a_slice(const struct sim_buffer *b, size_t at, size_t n)
{
	for (size_t i = 0; i < b->n_slices; i++)
		if (at >= b->slices[i].offset &&
		    at + n <= b->slices[i].offset + b->slices[i].n)
			return (true);
	return (false);
}

/* The ring of a thread begins anew: between two slices others may be missing. */
static bool
begins_anew(const struct matcher *m)
{
	return (m->desc.tech == HWTD_TECH_INTEL_PT && m->buffer.tid != 0);
}

/* Where the bytes are in what was written, from `from` on; SIZE_MAX: not. */
static size_t
find(const struct matcher *m, size_t from, const uint8_t *bytes, size_t n)
{
	const bool slices = begins_anew(m);

	while (from + n <= m->buffer.n) {
		const uint8_t *at = memmem(m->buffer.bytes + from,
		    m->buffer.n - from, bytes, n);

		if (at == NULL)
			break;
		from = (size_t)(at - m->buffer.bytes);
		if (!slices || in_a_slice(&m->buffer, from, n))
			return (from);
		from++;
	}
	return (SIZE_MAX);
}

/* Up to where the bytes can be found anywhere. */
static size_t
longest(const struct matcher *m, const uint8_t *bytes, size_t n, size_t *at)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = (low + high + 1) / 2;
		const size_t found = find(m, 0, bytes, middle);

		if (found == SIZE_MAX)
			high = middle - 1;
		else {
			low = middle;
			*at = found;
		}
	}
	return (low);
}

/* Bytes [from, to) are not in the file, and behind them comes an extent. */
static void
miss_between(struct matcher *m, size_t from, size_t to, bool after_loss)
{
	if (to > m->required)
		to = m->required;
	if (from >= to)
		return;
	m->out->missing += to - from;
	if (!after_loss && !begins_anew(m))
		wrong(m,
		    "bytes %zu to %zu are missing, and what is behind "
		    "them says nothing",
		    from, to);
	else if (!after_loss && !m->lost && !m->lost_somewhere && !m->failed)
		wrong(m, "bytes %zu to %zu are missing, and nobody says so",
		    from, to);
}

/* Bytes [from, to) are not in the file, and nothing comes behind them. */
static void
miss_last(struct matcher *m, size_t from, size_t to)
{
	if (to > m->required)
		to = m->required;
	if (from >= to)
		return;
	m->out->missing += to - from;
	if (!m->lost && !m->lost_somewhere && !m->failed)
		wrong(m, "bytes %zu to %zu are missing, and nobody says so",
		    from, to);
}

static void
match_extent(struct matcher *m, size_t index, const struct hwtd_extent *e,
    size_t *cursor)
{
	const uint8_t *bytes = m->bytes + e->start;
	const size_t n = (size_t)(e->end - e->start);
	size_t at = find(m, *cursor, bytes, n), anywhere = 0;

	if (n == 0) {
		wrong(m, "extent %zu is empty", index);
		return;
	}
	if (at != SIZE_MAX) {
		miss_between(m, *cursor, at, e->why == HWTD_EXTENT_AFTER_LOSS);
		*cursor = at + n;
		return;
	}
	at = longest(m, bytes, n, &anywhere);
	wrong(m,
	    "extent %zu (why %" PRIu32 ") of %zu bytes: %s %zu of them were "
	    "written at %zu (up to there: %zu)",
	    index, e->why, n, at == n ? "out of order," : "only", at, anywhere,
	    *cursor);
}

static void
match_stream(struct matcher *m)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	size_t n = 0, cursor = 0;

	m->bytes = malloc((size_t)m->desc.n_bytes + 1);
	assert_non_null(m->bytes);
	assert_int_equal(hwtd_trace_read_bytes(m->trace, m->stream, 0,
			     m->bytes, (size_t)m->desc.n_bytes, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, m->desc.n_bytes);
	for (size_t i = 0;
	     hwtd_trace_extent(m->trace, m->stream, i, &e) == HWTD_OK; i++) {
		m->out->after_loss += e.why == HWTD_EXTENT_AFTER_LOSS;
		match_extent(m, i, &e, &cursor);
	}
	/* CPUs that cannot be stopped are in the middle of writing. */
	if (m->desc.tech == HWTD_TECH_INTEL_PT && m->desc.cpu != HWTD_NO_ID)
		m->required -= m->required < CHANCE ? m->required : CHANCE;
	miss_last(m, cursor, m->required);
	free(m->bytes);
	if (m->desc.tid != HWTD_NO_ID && m->buffer.tid != 0 &&
	    m->desc.tid != m->buffer.tid)
		wrong(m, "thread %" PRIu32 ", and it was %" PRIu32,
		    m->desc.tid, m->buffer.tid);
}

/* Whether a loss is told of a stream; HWTD_NO_ID: of none. */
static bool
is_lost(struct hwtd_trace *trace, uint32_t stream)
{
	struct hwtd_record r = { .size = sizeof(r) };

	for (uint64_t i = 0; hwtd_trace_record(trace, i, &r) == HWTD_OK; i++)
		if (r.type == HWTD_REC_LOST && r.stream == stream &&
		    r.value > 0 && r.name != NULL &&
		    strcmp(r.name,
			hwtd_capture_loss_name(HWTD_CAPTURE_DOUBTED)) != 0)
			return (true);
	return (false);
}

void
engine_account(const struct engine_run *run, bool failed,
    struct engine_account *out)
{
	bool seen[ENGINE_RUN_BUFFERS] = { false };
	struct matcher m = { .run = run, .out = out, .failed = failed };

	memset(out, 0, sizeof(*out));
	m.trace = engine_run_open(run);
	m.lost_somewhere = is_lost(m.trace, HWTD_NO_ID);
	for (m.stream = 0;; m.stream++) {
		int number;

		m.desc = (struct hwtd_stream_desc){ .size = sizeof(m.desc) };
		if (hwtd_trace_stream(m.trace, m.stream, &m.desc) != HWTD_OK)
			break;
		/* What a source has is in its sink. */
		if (m.desc.sink_plus_1 != 0)
			continue;
		number = find_buffer(&m);
		if (number == -1 || seen[number]) {
			wrong(&m, "no buffer, or that of another stream");
			continue;
		}
		seen[number] = true;
		m.lost = is_lost(m.trace, m.stream);
		match_stream(&m);
	}
	m.desc.name = "no stream";
	m.lost = false;
	for (size_t i = 0; i < sim_buffers(run->kernel); i++) {
		out->written += run->written[i];
		m.required = run->written[i];
		if (!seen[i])
			miss_last(&m, 0, m.required);
	}
	hwtd_trace_close(m.trace);
}
