/*
 * Recordings of bsdtrace, which drives hwt(4).
 *
 * Its texts have a JSON object in each line.  Those of further threads have the
 * records of the first one again, as they were at the end: they are not read
 * where the first one is.
 */
#include "trace/import/bsdtrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"
#include "trace/import/file_family.h"
#include "trace/import/flat_json.h"
#include "trace/import/side_file.h"

#define META ".meta"
#define BYTES ".pt"

/* How much of a file is looked at. */
#define LOOK_BYTES ((size_t)512)

/* A text while it is read. */
struct meta {
	struct hwtd_trace *trace;
	struct hwtd_error *err;
	/* Last part of its path, and whether it is the file of the trace. */
	const char *name;
	bool is_first;
	bool has_header, has_env, has_timing;
	uint32_t pid, tid;
	struct hwtd_pt_config pt;
	bool has_pt;
	size_t n_filters;
	/* The line at hand: its number, and where it is. */
	size_t number;
	uint64_t off, length;
	struct hwtdi_flat_line line;
};

/* Damage. */

static int
tell(struct meta *m, const char *what, const char *why)
{
	return (hwtdi_trace_note_damage(m->trace, m->is_first ? m->off : 0,
	    m->is_first ? m->length : 0, HWTD_NO_ID, 0, 0, m->err,
	    "%.24s: line %zu: %.20s%s%.36s", m->name, m->number, what,
	    what[0] != '\0' ? " " : "", why));
}

/* Fields. */

/* False, and told, if it is not there or no such number. */
static bool
number(struct meta *m, const char *key, uint64_t most, uint64_t *out, int *rc)
{
	const char *why = hwtdi_flat_number(&m->line, key, most, out);

	*rc = why == NULL ? HWTD_OK : tell(m, key, why);
	return (why == NULL);
}

/* The same; a field that is not there is 0. */
static bool
optional(struct meta *m, const char *key, uint64_t *out, int *rc)
{
	*out = 0;
	*rc = HWTD_OK;
	return (hwtdi_flat_find(&m->line, key) == NULL ||
	    number(m, key, UINT64_MAX, out, rc));
}

/* An id of hwt(4) or of a process, less than 0 where it is not known. */
static bool
id(struct meta *m, const char *key, uint32_t *out, int *rc)
{
	const struct hwtdi_flat_field *field = hwtdi_flat_find(&m->line, key);
	uint64_t value;

	*rc = HWTD_OK;
	*out = HWTD_NO_ID;
	if (field != NULL && field->negative)
		return (true);
	if (!number(m, key, INT32_MAX, &value, rc))
		return (false);
	*out = (uint32_t)value;
	return (true);
}

/* Kinds of lines.  Each returns an error of the whole, not of its line. */

static int
read_header(struct meta *m)
{
	uint32_t pid, tid;
	int rc;

	if (m->has_header)
		return (tell(m, "", "a second header"));
	if (!id(m, "pid", &pid, &rc) || !id(m, "tid", &tid, &rc))
		return (rc);
	m->has_header = true;
	m->pid = pid != 0 ? pid : HWTD_NO_ID;
	m->tid = tid;
	return (HWTD_OK);
}

static int
read_timing(struct meta *m)
{
	uint64_t freq;
	int rc;

	if (m->has_timing)
		return (tell(m, "", "timing is told twice"));
	/* The field of IA32_RTIT_CTL has 4 bits. */
	if (!number(m, "mtc_freq", 15, &freq, &rc))
		return (rc);
	m->has_timing = true;
	m->has_pt = true;
	m->pt.mtc_freq = (uint8_t)freq;
	return (HWTD_OK);
}

static int
read_env(struct meta *m)
{
	uint64_t family, model, stepping, eax, ebx, freq;
	int rc;

	if (m->has_env)
		return (tell(m, "", "capture_env is told twice"));
	if (!number(m, "family", UINT16_MAX, &family, &rc) ||
	    !number(m, "model", UINT8_MAX, &model, &rc) ||
	    !number(m, "stepping", UINT8_MAX, &stepping, &rc) ||
	    !number(m, "cpuid15_eax", UINT32_MAX, &eax, &rc) ||
	    !number(m, "cpuid15_ebx", UINT32_MAX, &ebx, &rc) ||
	    !number(m, "nom_freq", UINT8_MAX, &freq, &rc))
		return (rc);
	m->has_env = true;
	m->has_pt = true;
	m->pt.cpu_family = (uint16_t)family;
	m->pt.cpu_model = (uint8_t)model;
	m->pt.cpu_stepping = (uint8_t)stepping;
	m->pt.cpuid_15h_eax = (uint32_t)eax;
	m->pt.cpuid_15h_ebx = (uint32_t)ebx;
	m->pt.nom_freq = (uint8_t)freq;
	return (HWTD_OK);
}

static int
read_range(struct meta *m)
{
	struct hwtd_pt_filter filter = { 0 };
	uint64_t mode;
	int rc;

	if (!number(m, "a", UINT64_MAX, &filter.start, &rc) ||
	    !number(m, "b", UINT64_MAX, &filter.end, &rc) ||
	    !number(m, "cfg", HWTD_PT_FILTER_STOP, &mode, &rc))
		return (rc);
	if (filter.end < filter.start)
		return (tell(m, "", "the range ends before it begins"));
	if (m->n_filters == HWTD_PT_MAX_FILTERS)
		return (tell(m, "", "more ranges than a CPU has"));
	filter.mode = (uint32_t)mode;
	/* The user's are for texts that tell of none. */
	if (m->n_filters == 0)
		memset(m->pt.filters, 0, sizeof(m->pt.filters));
	m->pt.filters[m->n_filters++] = filter;
	m->has_pt = true;
	return (HWTD_OK);
}

static struct hwtd_record
record_of(const struct meta *m, uint32_t type)
{
	const struct hwtd_record r = {
		.size = sizeof(r),
		.type = type,
		.cpu = HWTD_NO_ID,
		.pid = m->pid,
		.tid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
	};

	return (r);
}

/* A record about a file, at "addr". */
static int
read_file(struct meta *m, uint32_t type)
{
	const struct hwtdi_flat_field *path = hwtdi_flat_find(&m->line,
	    "path");
	struct hwtd_record r = record_of(m, type);
	uint64_t base, len;
	int rc;

	if (path == NULL || path->text == NULL || path->text[0] == '\0')
		return (tell(m, "path",
		    path == NULL ? "is missing" : "is no name"));
	if (strlen(path->text) > HWTDI_TEXT_MAX)
		return (tell(m, "path", "is too long"));
	if (!number(m, "addr", UINT64_MAX, &r.addr, &rc) ||
	    !optional(m, "base", &base, &rc) ||
	    !optional(m, "len", &len, &rc) ||
	    !optional(m, "pgoff", &r.file_off, &rc))
		return (rc);
	r.flags = HWTD_RECF_ADDR;
	r.name = path->text;
	/* Kernels leave it to chance in all other records. */
	if (type == HWTD_REC_EXEC && base != 0) {
		r.flags |= HWTD_RECF_BASE;
		r.base = base;
	}
	if (type == HWTD_REC_KERNEL)
		r.pid = HWTD_NO_ID;
	if (len != 0 && type != HWTD_REC_EXEC) {
		r.flags |= HWTD_RECF_LEN;
		r.len = len;
	}
	if (len != 0 && type == HWTD_REC_MMAP)
		r.flags |= HWTD_RECF_FILE_OFF;
	return (hwtd_trace_add_record(m->trace, &r, m->err));
}

static int
read_exec(struct meta *m)
{
	return (read_file(m, HWTD_REC_EXEC));
}

static int
read_mmap(struct meta *m)
{
	return (read_file(m, HWTD_REC_MMAP));
}

static int
read_kernel(struct meta *m)
{
	return (read_file(m, HWTD_REC_KERNEL));
}

/* Kernels of 2023 told of the dynamic linker apart. */
static int
read_interp(struct meta *m)
{
	return (read_file(m, HWTD_REC_MODULE_LOAD));
}

static int
read_munmap(struct meta *m)
{
	struct hwtd_record r = record_of(m, HWTD_REC_MUNMAP);
	int rc;

	if (!optional(m, "addr", &r.addr, &rc) ||
	    !optional(m, "len", &r.len, &rc))
		return (rc);
	/* Kernels forget where it was. */
	if (r.addr != 0)
		r.flags |= HWTD_RECF_ADDR;
	if (r.addr != 0 && r.len != 0)
		r.flags |= HWTD_RECF_LEN;
	return (hwtd_trace_add_record(m->trace, &r, m->err));
}

static int
add_thread(struct meta *m, uint32_t type)
{
	const struct hwtdi_flat_field *name = hwtdi_flat_find(&m->line,
	    "name");
	struct hwtd_record r = record_of(m, type);
	int rc;

	if (!id(m, "tid", &r.tid, &rc))
		return (rc);
	if (type == HWTD_REC_THREAD_NAME && name != NULL)
		r.name = name->text;
	return (hwtd_trace_add_record(m->trace, &r, m->err));
}

static int
read_thread(struct meta *m)
{
	return (add_thread(m, HWTD_REC_THREAD_CREATE));
}

static int
read_thread_name(struct meta *m)
{
	return (add_thread(m, HWTD_REC_THREAD_NAME));
}

/* Values of "type". */
static const struct {
	const char *name;
	int (*read)(struct meta *m);
	/* Also of a text that belongs to another one. */
	bool of_thread;
} kinds[] = {
	{ "header", read_header, true },
	{ "timing", read_timing, true },
	{ "capture_env", read_env, true },
	{ "addr_range", read_range, true },
	{ "exec", read_exec, false },
	{ "mmap", read_mmap, false },
	{ "kernel", read_kernel, false },
	{ "interp", read_interp, false },
	{ "munmap", read_munmap, false },
	{ "thread_create", read_thread, false },
	{ "thread_set_name", read_thread_name, false },
	{ "thread_name", read_thread_name, false },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int
read_line(struct meta *m, char *text, size_t n)
{
	const struct hwtdi_flat_field *type;

	if (!hwtdi_flat_parse(&m->line, text, n)) {
		char where[24];

		(void)snprintf(where, sizeof(where),
		    "byte %zu:", m->line.at + 1);
		return (tell(m, where, m->line.why));
	}
	type = hwtdi_flat_find(&m->line, "type");
	if (type == NULL || type->text == NULL)
		return (tell(m, "type", "is no text"));
	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i].name, type->text) != 0)
			continue;
		return (m->is_first || kinds[i].of_thread ? kinds[i].read(m)
							  : HWTD_OK);
	}
	return (tell(m, type->text, "is no known type"));
}

/* Lines of a text, with a byte to spare behind it. */
static int
read_text(struct meta *m, char *text, size_t n)
{
	size_t at = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && at < n) {
		char *line = text + at;
		const char *stop = memchr(line, '\n', n - at);
		size_t length = stop != NULL ? (size_t)(stop - line) : n - at;

		m->number++;
		m->off = at;
		m->length = length;
		at += length + 1;
		while (length > 0 &&
		    (line[length - 1] == ' ' || line[length - 1] == '\t' ||
			line[length - 1] == '\r'))
			length--;
		if (length > 0)
			rc = read_line(m, line, length);
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(m->trace->library, m->number,
			    m->err);
	}
	return (rc);
}

/* Recognising one. */

static bool
ends_with(const char *path, const char *suffix)
{
	const size_t n = strlen(path), n_suffix = strlen(suffix);

	return (n > n_suffix && strcmp(path + n - n_suffix, suffix) == 0);
}

static size_t
skip(const char *bytes, size_t n, size_t at, char c)
{
	while (at < n && (bytes[at] == ' ' || bytes[at] == '\t'))
		at++;
	return (at < n && bytes[at] == c ? at + 1 : n);
}

/* A line that begins like one with a known type. */
static bool
begins_right(const char *bytes, size_t n)
{
	static const char key[] = "type\"";
	size_t at = skip(bytes, n, 0, '{');

	at = skip(bytes, n, at, '"');
	if (n - at < sizeof(key) || memcmp(bytes + at, key, sizeof(key) - 1))
		return (false);
	at = skip(bytes, n, at + sizeof(key) - 1, ':');
	at = skip(bytes, n, at, '"');
	for (size_t i = 0; i < KINDS; i++) {
		const size_t length = strlen(kinds[i].name);

		if (n - at > length && bytes[at + length] == '"' &&
		    memcmp(bytes + at, kinds[i].name, length) == 0)
			return (true);
	}
	return (false);
}

/* One of the first lines does; others may be damaged. */
static bool
looks_right(const char *bytes, size_t n)
{
	while (n > 0) {
		const char *stop = memchr(bytes, '\n', n);
		const size_t line = stop != NULL ? (size_t)(stop - bytes) : n;

		if (begins_right(bytes, line))
			return (true);
		bytes += line + (stop != NULL);
		n -= line + (stop != NULL);
	}
	return (false);
}

static bool
is_meta(const struct hwtdi_trace_file *file)
{
	const size_t n = file->size < LOOK_BYTES ? (size_t)file->size
						 : LOOK_BYTES;
	char bytes[LOOK_BYTES];

	return (hwtdi_trace_file_read(file, 0, bytes, n, NULL) == HWTD_OK &&
	    looks_right(bytes, n));
}

/* A path with another end.  Owned: hwtdi_strfree(). */
static char *
with_end(struct hwtd_context *ctx, const char *path, const char *end,
    const char *other)
{
	const size_t n = strlen(path) - strlen(end);
	const size_t room = n + strlen(other) + 1;
	char *out = hwtdi_alloc(ctx, room);

	if (out != NULL)
		(void)snprintf(out, room, "%.*s%s", (int)n, path, other);
	return (out);
}

int
hwtdi_bsdtrace_path(struct hwtd_context *ctx, const char *path, char **out,
    struct hwtd_error *err)
{
	struct hwtdi_trace_file file = { .fd = -1 };
	bool good;

	*out = NULL;
	if (!ends_with(path, BYTES) || strlen(path) > HWTDI_TEXT_MAX)
		return (HWTD_OK);
	file.path = with_end(ctx, path, BYTES, META);
	if (file.path == NULL)
		return (hwtdi_fail_nomem(err, strlen(path) + sizeof(META)));
	good = hwtdi_regular_file_open(file.path, &file.fd, &file.size,
		   NULL) == HWTD_OK &&
	    is_meta(&file);
	if (file.fd >= 0)
		(void)close(file.fd);
	if (good)
		*out = file.path;
	else
		hwtdi_strfree(ctx, file.path);
	return (HWTD_OK);
}

int
hwtdi_bsdtrace_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err)
{
	(void)err;
	*is_out = ends_with(trace->file.path, META) && is_meta(&trace->file);
	return (HWTD_OK);
}

/* Streams. */

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL ? slash + 1 : path);
}

/* The bytes of the file `no` as a stream of who the text names. */
static int
add_stream(struct meta *m, const struct hwtd_open_options *opts,
    const char *path, uint32_t no)
{
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = HWTD_NO_ID,
		.pid = m->pid,
		.tid = m->tid,
		.name = last_part(path),
		.pt = m->has_pt ? &m->pt : NULL,
		.clock = opts->clock };
	uint32_t stream = 0;
	int rc;

	rc = hwtd_trace_add_stream(m->trace, &desc, &stream, m->err);
	return (rc == HWTD_OK
		? hwtdi_side_bytes_place(m->trace, stream, no, m->err)
		: rc);
}

/* The text of a further thread, if there is one. */
static int
read_thread_text(struct meta *m, const char *path)
{
	struct hwtd_context *ctx = m->trace->library;
	struct hwtdi_side_file file;
	struct hwtd_error inner;
	int rc;

	if (access(path, F_OK) != 0)
		return (HWTD_OK);
	hwtdi_error_begin(&inner);
	rc = hwtdi_side_file_read(&file, m->trace, m->name,
	    HWTDI_BSDTRACE_MAX_TEXT, &inner);
	if (rc == HWTD_E_IO)
		return (hwtdi_trace_note_damage(m->trace, 0, 0, HWTD_NO_ID, 0,
		    0, m->err, "%.90s", inner.message));
	if (rc != HWTD_OK)
		return (hwtdi_fail_pass(m->err, &inner));
	if (file.n > 0) {
		/* The last line may have no end to put a NUL at. */
		uint8_t *text = hwtdi_resize(ctx, file.bytes, file.n,
		    file.n + 1);

		if (text == NULL)
			rc = hwtdi_fail_nomem(m->err, file.n + 1);
		else
			file.bytes = text;
		if (rc == HWTD_OK) {
			rc = read_text(m, (char *)file.bytes, file.n);
			file.n++;
		}
	}
	hwtdi_side_file_fini(&file, ctx);
	return (rc);
}

static int
add_thread_stream(const struct meta *first,
    const struct hwtd_open_options *opts, uint32_t index, const char *bytes,
    const char *text)
{
	struct meta m = *first;
	struct hwtd_error inner;
	uint32_t no = 0;
	int rc;

	hwtdi_error_begin(&inner);
	rc = hwtdi_side_bytes_open(m.trace, bytes, &no, &inner);
	if (rc == HWTD_E_IO)
		return (hwtdi_trace_note_damage(m.trace, 0, 0, HWTD_NO_ID, 0,
		    0, m.err, "%.90s", inner.message));
	if (rc != HWTD_OK)
		return (hwtdi_fail_pass(m.err, &inner));
	m.name = last_part(text);
	m.is_first = false;
	m.has_header = m.has_env = m.has_timing = false;
	m.number = 0;
	m.n_filters = 0;
	rc = read_thread_text(&m, text);
	if (!m.has_header || m.tid == HWTD_NO_ID)
		m.tid = index;
	if (m.pid == HWTD_NO_ID)
		m.pid = first->pid;
	return (rc == HWTD_OK ? add_stream(&m, opts, bytes, no) : rc);
}

/* NAME-tidN.pt of all N. */
static int
add_threads(const struct meta *first, const struct hwtd_open_options *opts)
{
	struct hwtd_context *ctx = first->trace->library;
	struct hwtdi_file_family family = { 0 };
	char *prefix, *bytes = NULL, *text = NULL;
	int rc;

	prefix = with_end(ctx, first->trace->file.path, META, "-tid");
	if (prefix == NULL)
		return (hwtdi_fail_nomem(first->err, HWTDI_TEXT_MAX));
	rc = hwtdi_file_family_find(&family, ctx, prefix, BYTES, first->err);
	for (size_t i = 0; rc == HWTD_OK && i < family.n; i++) {
		rc = hwtdi_file_family_path(ctx, prefix, family.numbers[i],
		    BYTES, &bytes, first->err);
		if (rc == HWTD_OK)
			rc = hwtdi_file_family_path(ctx, prefix,
			    family.numbers[i], META, &text, first->err);
		if (rc == HWTD_OK)
			rc = add_thread_stream(first, opts, family.numbers[i],
			    bytes, text);
		hwtdi_strfree(ctx, bytes);
		hwtdi_strfree(ctx, text);
		bytes = text = NULL;
	}
	hwtdi_file_family_fini(&family, ctx);
	hwtdi_strfree(ctx, prefix);
	return (rc);
}

/* The text that was opened. */
static int
read_first(struct meta *m)
{
	const struct hwtdi_trace_file *file = &m->trace->file;
	struct hwtd_context *ctx = m->trace->library;
	char *text;
	int rc;

	if (file->size > HWTDI_BSDTRACE_MAX_TEXT)
		return (hwtdi_fail(m->err, HWTD_E_LIMIT,
		    "text of %" PRIu64 " bytes; at most %" PRIu64, file->size,
		    HWTDI_BSDTRACE_MAX_TEXT));
	text = hwtdi_alloc(ctx, (size_t)file->size + 1);
	if (text == NULL)
		return (hwtdi_trace_no_room(ctx, file->size + 1, m->err));
	rc = hwtdi_trace_file_read(file, 0, text, (size_t)file->size, m->err);
	if (rc == HWTD_OK)
		rc = read_text(m, text, (size_t)file->size);
	hwtdi_free(ctx, text, (size_t)file->size + 1);
	return (rc);
}

int
hwtdi_bsdtrace_import(struct hwtd_trace *trace,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	struct meta m = { .trace = trace,
		.err = err,
		.name = last_part(trace->file.path),
		.is_first = true,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.has_pt = opts->pt != NULL };
	struct hwtd_context *ctx = trace->library;
	uint32_t no = 0;
	char *bytes;
	int rc;

	trace->format = "bsdtrace";
	bytes = with_end(ctx, trace->file.path, META, BYTES);
	if (bytes == NULL)
		return (hwtdi_fail_nomem(err, strlen(trace->file.path)));
	rc = hwtdi_options_copy(&m.pt, sizeof(m.pt), opts->pt, err);
	m.pt.size = sizeof(m.pt);
	if (rc == HWTD_OK)
		rc = hwtdi_side_bytes_open(trace, bytes, &no, err);
	if (rc == HWTD_OK)
		rc = read_first(&m);
	if (rc == HWTD_OK)
		rc = add_stream(&m, opts, bytes, no);
	if (rc == HWTD_OK)
		rc = add_threads(&m, opts);
	hwtdi_strfree(ctx, bytes);
	return (rc);
}
