/*
 * Arm SPE out of the text of perf: what `perf report -D` and `perf script -D` list,
 * whole or an excerpt of it in a mail.
 */
#include "trace/import/spe_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/import/perf/perf_time.h"
#include "trace/import/text_lines.h"

/* How far a text is looked through; what is no text, not so far. */
#define LOOK_BYTES ((uint64_t)64 << 20)
#define TEXT_BYTES 4096

/* Bytes that are at hand before a stream gets them. */
#define PENDING_BYTES 4096
/* More than a line can tell. */
#define LINE_BYTES (HWTDI_LINE_MAX / 3)

/* Streams, and CPUs that the text describes. */
#define MAX_SOURCES 4096

/* Bytes that a text may leave out at once. */
#define MAX_HOLE (UINT64_C(1) << 32)

struct source {
	/* HWTD_NO_ID: not known. */
	uint32_t cpu;
	uint32_t tid;
	uint32_t stream;
};

struct described {
	uint32_t cpu;
	uint32_t midr;
};

enum place {
	/* Between dumps: lines of bytes without a head are an excerpt. */
	PLACE_OPEN,
	PLACE_BUFFER,
	/* In the dump of something else. */
	PLACE_OTHER
};

struct text {
	struct hwtd_trace *trace;
	const struct hwtd_open_options *opts;
	struct hwtd_error *err;
	struct hwtdi_lines lines;
	enum place place;

	/* What the record of the next buffer says. */
	uint32_t cpu, tid;
	struct source *sources;
	size_t n_sources, cap_sources;
	struct described *described;
	size_t n_described, cap_described;
	/* The CPU that the next MIDR is of. */
	uint32_t described_cpu;
	/* The last time conversion. */
	struct hwtdi_perf_time time;
	bool has_time;

	/* The buffer at hand. */
	uint32_t stream;
	bool has_size, headless;
	uint64_t size;
	/* Where it is in the file; offset of the next byte in it. */
	uint64_t file_off, at;
	size_t n_pending;
	uint8_t pending[PENDING_BYTES];
};

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	return (c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1);
}

static const char *
skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return (at);
}

/* A number, hexadecimal behind 0x; NULL: there is none, or it is too large. */
static const char *
read_number(const char *at, uint64_t *out)
{
	const bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	const unsigned int base = hex ? 16 : 10;
	const char *from;
	uint64_t v = 0;
	int digit;

	at = hex ? at + 2 : at;
	for (from = at; (digit = hex_digit(*at)) >= 0 && digit < (int)base;
	     at++)
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			return (NULL);
	*out = v;
	return (at != from ? at : NULL);
}

/* The number behind a word of the line; false: there is none. */
static bool
number_behind(const char *line, const char *word, uint64_t *out)
{
	const char *at = strstr(line, word);

	return (at != NULL &&
	    read_number(skip_blanks(at + strlen(word)), out) != NULL);
}

/* The line begins the dump of a buffer: ". ... ARM SPE data: size 0x80 bytes". */
static bool
is_head(const char *line, uint64_t *size_out)
{
	return (number_behind(line, " SPE data: size", size_out));
}

/*
 * Bytes of a line, ".  00000010:  b0 d0 PC 0x...", and their offset; how many
 * there are, 0: it is no such line.
 */
static size_t
read_bytes(const char *line, uint64_t *off_out, uint8_t out[LINE_BYTES],
    const char **words_out)
{
	const char *at = line;
	size_t digits = 0, n = 0;
	uint64_t off = 0;

	if (*at != '.')
		return (0);
	at = skip_blanks(at + 1);
	for (; hex_digit(*at) >= 0 && digits < 16; at++, digits++)
		off = off << 4 | (uint64_t)hex_digit(*at);
	/* Dumps of records have four digits. */
	if (digits < 8 || *at++ != ':')
		return (0);
	at = skip_blanks(at);
	/* Bytes have one blank between them, and more behind them. */
	while (n < LINE_BYTES && hex_digit(at[0]) >= 0 &&
	    hex_digit(at[1]) >= 0 &&
	    (at[2] == ' ' || at[2] == '\t' || at[2] == '\0')) {
		out[n++] = (uint8_t)(hex_digit(at[0]) << 4 | hex_digit(at[1]));
		at += 2;
		if (at[0] != ' ' || at[1] == ' ')
			break;
		at++;
	}
	*off_out = off;
	*words_out = skip_blanks(at);
	return (n);
}

/* Words that perf has for packets of SPE, and not for those of others. */
static bool
has_spe_words(const char *words)
{
	static const char *const known[] = { "PC 0x", "TGT 0x", "VA 0x",
		"PA 0x", "EV ", "LAT ", "CONTEXT ", "DATA-SOURCE ", "LD", "ST",
		"TS ", "INSN-OTHER", "OTHER ", "COND-SELECT" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(words, known[i], strlen(known[i])) == 0)
			return (true);
	return (false);
}

static int
looks_like_text(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err)
{
	const size_t n = trace->file.size < TEXT_BYTES
	    ? (size_t)trace->file.size
	    : TEXT_BYTES;
	uint8_t bytes[TEXT_BYTES];
	int rc = hwtdi_trace_file_read(&trace->file, 0, bytes, n, err);

	*is_out = rc == HWTD_OK && n > 0;
	for (size_t i = 0; *is_out && i < n; i++)
		*is_out = bytes[i] >= ' ' || bytes[i] == '\n' ||
		    bytes[i] == '\r' || bytes[i] == '\t' || bytes[i] == '\f' ||
		    bytes[i] == '\033';
	return (rc);
}

int
hwtdi_spe_text_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err)
{
	uint8_t bytes[LINE_BYTES];
	struct hwtdi_lines lines;
	const char *words;
	bool other = false;
	uint64_t number;
	int rc = looks_like_text(trace, is_out, err);

	if (rc != HWTD_OK || !*is_out)
		return (rc);
	*is_out = false;
	rc = hwtdi_lines_init(&lines, trace, LOOK_BYTES, err);
	while (rc == HWTD_OK && !*is_out &&
	    (rc = hwtdi_lines_next(&lines, err)) == HWTD_OK) {
		*is_out = is_head(lines.line, &number) ||
		    (!other &&
			read_bytes(lines.line, &number, bytes, &words) > 0 &&
			has_spe_words(words));
		if (strncmp(lines.line, ". ... ", 6) == 0)
			other = true;
	}
	hwtdi_lines_fini(&lines);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static struct hwtdi_stream *
stream_of(const struct text *t)
{
	return (t->trace->streams[t->stream]);
}

static int
flush(struct text *t)
{
	const size_t n = t->n_pending;

	t->n_pending = 0;
	return (n == 0 ? HWTD_OK
		       : hwtd_trace_add_bytes(t->trace, t->stream, t->pending,
			     n, t->err));
}

/* So many bytes of the buffer are not in the text. */
static int
put_hole(struct text *t, uint64_t n, const char *where)
{
	struct hwtdi_stream *s = stream_of(t);
	int rc = flush(t);
	const uint64_t first = s->end;

	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_trace_note_damage(t->trace, t->file_off,
	    t->lines.off - t->file_off, t->stream, first, first + n, t->err,
	    "line %" PRIu64 ": %#" PRIx64 " bytes of the buffer missing %s",
	    t->lines.number, n, where);
	if (rc == HWTD_OK)
		rc = hwtdi_stream_empty(t->trace->library, s, first + n,
		    HWTD_EXTENT_AFTER_DAMAGE, t->err);
	t->at += n;
	return (rc);
}

static int
end_buffer(struct text *t)
{
	int rc = HWTD_OK;

	if (t->place != PLACE_BUFFER)
		return (HWTD_OK);
	t->place = PLACE_OPEN;
	rc = flush(t);
	if (rc != HWTD_OK || !t->has_size || t->at == t->size)
		return (rc);
	if (t->at < t->size && t->size - t->at <= MAX_HOLE)
		return (put_hole(t, t->size - t->at, "at its end"));
	return (hwtdi_trace_note_damage(t->trace, t->file_off,
	    t->lines.off - t->file_off, t->stream, stream_of(t)->end,
	    stream_of(t)->end, t->err,
	    "line %" PRIu64 ": %#" PRIx64 " bytes of a buffer of %#" PRIx64,
	    t->lines.number, t->at, t->size));
}

/*
 * So that text cannot be more streams than there is use for: buffers of further
 * CPUs and threads are of one that tells neither.
 */
static int
forget_source(struct text *t)
{
	t->cpu = t->tid = HWTD_NO_ID;
	if (t->n_sources > MAX_SOURCES)
		return (HWTD_OK);
	return (hwtdi_trace_note_damage(t->trace, t->lines.off, t->lines.n,
	    HWTD_NO_ID, 0, 0, t->err,
	    "line %" PRIu64 ": over %d CPUs and threads; others: unknown",
	    t->lines.number, MAX_SOURCES));
}

/* A new stream for the CPU and thread at hand. */
static int
add_source(struct text *t)
{
	const struct hwtd_open_options *o = t->opts;
	const struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_SPE,
		.cpu = t->cpu == HWTD_NO_ID ? o->cpu_plus_1 - 1 : t->cpu,
		.pid = o->pid_plus_1 - 1,
		.tid = t->tid == HWTD_NO_ID ? o->tid_plus_1 - 1 : t->tid,
		.clock = o->clock,
		.spe = o->spe,
	};
	int rc;

	rc = hwtdi_array_grow(t->trace->library, &t->sources, &t->cap_sources,
	    t->n_sources + 1, sizeof(*t->sources), t->err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_stream(t->trace, &desc, &t->stream,
		    t->err);
	if (rc == HWTD_OK)
		t->sources[t->n_sources++] = (struct source){ t->cpu, t->tid,
			t->stream };
	return (rc);
}

static bool
has_source(struct text *t)
{
	for (size_t i = t->n_sources; i-- > 0;)
		if (t->sources[i].cpu == t->cpu &&
		    t->sources[i].tid == t->tid) {
			t->stream = t->sources[i].stream;
			return (true);
		}
	return (false);
}

static int
find_source(struct text *t)
{
	int rc;

	if (has_source(t))
		return (HWTD_OK);
	if (t->n_sources >= MAX_SOURCES) {
		rc = forget_source(t);
		if (rc != HWTD_OK || has_source(t))
			return (rc);
	}
	return (add_source(t));
}

static int
begin_buffer(struct text *t, bool has_size, uint64_t size)
{
	int rc = end_buffer(t);

	if (rc == HWTD_OK)
		rc = find_source(t);
	if (rc == HWTD_OK && stream_of(t)->n_extents > 0)
		rc = hwtd_trace_start_extent(t->trace, t->stream,
		    HWTD_EXTENT_NEW, t->err);
	t->place = PLACE_BUFFER;
	t->has_size = has_size;
	t->size = size;
	t->file_off = t->lines.off;
	t->at = 0;
	return (rc);
}

/* The offset of a line is not where the one before ends. */
static int
follow_offset(struct text *t, uint64_t off)
{
	int rc;

	/* Excerpts begin anywhere, and one follows another. */
	if (t->at == 0 && !t->has_size) {
		t->at = off;
		return (HWTD_OK);
	}
	if (off > t->at)
		return (put_hole(t, off - t->at, "before it"));
	rc = off == 0
	    ? HWTD_OK
	    : hwtdi_trace_note_damage(t->trace, t->lines.off, t->lines.n,
		  t->stream, stream_of(t)->end + t->n_pending,
		  stream_of(t)->end + t->n_pending, t->err,
		  "line %" PRIu64 ": offset %#" PRIx64 " after %#" PRIx64
		  ": a new buffer",
		  t->lines.number, off, t->at);
	/* Of the one that ends here the rest may be anywhere. */
	t->has_size = t->has_size && off == 0;
	if (rc == HWTD_OK)
		rc = begin_buffer(t, false, 0);
	t->at = off;
	return (rc);
}

/* A line that nothing is taken of. */
static int
note_line(struct text *t, const char *why)
{
	const uint64_t end = stream_of(t)->end + t->n_pending;

	return (hwtdi_trace_note_damage(t->trace, t->lines.off, t->lines.n,
	    t->stream, end, end, t->err,
	    "line %" PRIu64 ": %s; it is left out", t->lines.number, why));
}

/* More would be missing before the line than there can be. */
static bool
is_beyond(const struct text *t, uint64_t off)
{
	if (off <= t->at || (t->at == 0 && !t->has_size))
		return (false);
	return (off - t->at > MAX_HOLE || (t->has_size && off >= t->size));
}

static int
take_bytes(struct text *t, uint64_t off, const uint8_t *bytes, size_t n)
{
	int rc = HWTD_OK;

	if (t->place == PLACE_OPEN)
		rc = begin_buffer(t, false, 0);
	if (rc == HWTD_OK && is_beyond(t, off))
		return (note_line(t, "its offset is beyond the buffer"));
	if (rc == HWTD_OK && off != t->at)
		rc = follow_offset(t, off);
	if (rc == HWTD_OK && t->n_pending + n > PENDING_BYTES)
		rc = flush(t);
	if (rc != HWTD_OK)
		return (rc);
	memcpy(t->pending + t->n_pending, bytes, n);
	t->n_pending += n;
	t->at += n;
	return (HWTD_OK);
}

/* Whose the next buffer is; -1 stands for what is not known. */
static void
read_record(struct text *t, const char *line)
{
	uint64_t n;

	t->cpu = number_behind(line, " cpu:", &n) && n < HWTD_NO_ID
	    ? (uint32_t)n
	    : HWTD_NO_ID;
	t->tid = number_behind(line, " tid:", &n) && n < HWTD_NO_ID
	    ? (uint32_t)n
	    : HWTD_NO_ID;
}

static int
describe_cpu(struct text *t, uint32_t midr)
{
	int rc;

	if (t->described_cpu == HWTD_NO_ID || t->n_described == MAX_SOURCES)
		return (HWTD_OK);
	rc = hwtdi_array_grow(t->trace->library, &t->described,
	    &t->cap_described, t->n_described + 1, sizeof(*t->described),
	    t->err);
	if (rc == HWTD_OK)
		t->described[t->n_described++] = (struct described){
			t->described_cpu, midr
		};
	t->described_cpu = HWTD_NO_ID;
	return (rc);
}

/* What a count of the timer is in ns. */
static void
read_time(struct text *t, const char *line)
{
	uint64_t n;

	if (number_behind(line, "... Time Shift ", &n)) {
		t->time = (struct hwtdi_perf_time){ .shift = n };
		t->has_time = true;
	} else if (number_behind(line, "... Time Muliplier ", &n) ||
	    number_behind(line, "... Time Multiplier ", &n))
		t->time.mult = n;
	else if (number_behind(line, "... Time Zero ", &n))
		t->time.zero = n;
	else if (number_behind(line, "... Time Cycles ", &n))
		t->time.cycles = n;
	else if (number_behind(line, "... Time Mask ", &n))
		t->time.mask = n;
	else if (number_behind(line, "... Cap Time Short ", &n))
		t->time.is_short = n != 0;
}

/* CPUs and clocks. */
static int
read_metadata(struct text *t, const char *line)
{
	uint64_t n;

	if (number_behind(line, "CPU #            :", &n))
		t->described_cpu = n < HWTD_NO_ID ? (uint32_t)n : HWTD_NO_ID;
	else if (number_behind(line, "MIDR             :", &n))
		return (describe_cpu(t, (uint32_t)n));
	else
		read_time(t, line);
	return (HWTD_OK);
}

static int
take_line(struct text *t)
{
	const char *line = t->lines.line;
	uint8_t bytes[LINE_BYTES];
	const char *words;
	uint64_t number;
	size_t n;
	int rc;

	if (is_head(line, &number))
		return (begin_buffer(t, true, number));
	if (strncmp(line, ". ... ", 6) == 0) {
		rc = end_buffer(t);
		t->place = PLACE_OTHER;
		return (rc);
	}
	n = t->place == PLACE_OTHER ? 0
				    : read_bytes(line, &number, bytes, &words);
	if (n > 0)
		return (take_bytes(t, number, bytes, n));
	if (t->place == PLACE_BUFFER && line[0] == '.' && line[1] == ' ')
		return (note_line(t, "no bytes can be read of it"));
	if (strstr(line, "PERF_RECORD_") != NULL) {
		rc = end_buffer(t);
		t->place = PLACE_OTHER;
		if (strstr(line, "PERF_RECORD_AUXTRACE ") != NULL)
			read_record(t, line);
		return (rc);
	}
	return (read_metadata(t, line));
}

/* The MIDR of a CPU; of one that is not known, that of all. */
static uint32_t
midr_of(const struct text *t, uint32_t cpu)
{
	uint32_t midr = t->n_described > 0 ? t->described[0].midr : 0;

	for (size_t i = 0; i < t->n_described; i++) {
		if (t->described[i].cpu == cpu)
			return (t->described[i].midr);
		if (t->described[i].midr != midr)
			midr = 0;
	}
	return (cpu == HWTD_NO_ID ? midr : 0);
}

/* What was told of CPUs and of time, wherever that was. */
static void
finish(struct text *t)
{
	struct hwtd_clock clock;
	const bool has_clock = t->has_time &&
	    hwtdi_perf_time_clock(&t->time, &clock);

	for (size_t i = 0; i < t->n_sources; i++) {
		struct hwtdi_stream *s = t->trace
					     ->streams[t->sources[i].stream];
		const uint32_t midr = midr_of(t, t->sources[i].cpu);

		if (has_clock)
			s->desc.clock = clock;
		if (midr == 0)
			continue;
		s->has_spe = true;
		s->spe.size = sizeof(s->spe);
		s->spe.midr = midr;
	}
}

int
hwtdi_spe_text_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	struct text *t = hwtdi_zalloc(trace->library, sizeof(*t));
	int rc;

	if (t == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*t)));
	trace->format = "perf-text";
	t->trace = trace;
	t->opts = opts;
	t->err = err;
	t->cpu = t->tid = t->described_cpu = HWTD_NO_ID;
	rc = hwtdi_lines_init(&t->lines, trace, UINT64_MAX, err);
	while (rc == HWTD_OK &&
	    (rc = hwtdi_lines_next(&t->lines, err)) == HWTD_OK) {
		rc = take_line(t);
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(trace->library, t->lines.number,
			    err);
	}
	if (rc == HWTD_END) {
		t->lines.off = trace->file.size;
		rc = end_buffer(t);
	}
	if (rc == HWTD_OK)
		finish(t);
	hwtdi_lines_fini(&t->lines);
	hwtdi_array_free(trace->library, t->sources, t->cap_sources,
	    sizeof(*t->sources));
	hwtdi_array_free(trace->library, t->described, t->cap_described,
	    sizeof(*t->described));
	hwtdi_free(trace->library, t, sizeof(*t));
	return (rc);
}
