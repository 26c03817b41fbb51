/*
 * Trace buffers of snapshots: streams of sinks and of their sources.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/import/arm_core.h"
#include "trace/import/side_file.h"
#include "trace/import/snapshot_internal.h"
#include "trace/sink/frame.h"

struct buffer {
	const char *name;
	const char *files;
	/* Where it is described. */
	uint32_t line;
	/* An hwtd_framing; not known: bytes of whoever wrote them. */
	uint32_t framing;
	bool is_known;
};

/* The text that describes the trace. */
struct trace_text {
	struct hwtdi_snapshot *s;
	struct hwtdi_ini_file ini;
	struct buffer *buffers;
	size_t n_buffers, cap_buffers;
	/* Sources in the order in which their buffers are told. */
	struct hwtdi_snapshot_device **sources;
	size_t n_sources, cap_sources;
};

/* The next name of a list, copied; false: there is none. */
static bool
next_name(const char **list, const char **at, size_t *n)
{
	do {
		*list += strspn(*list, ", \t");
		*at = *list;
		*n = strcspn(*list, ",");
		*list += *n;
		while (*n > 0 &&
		    ((*at)[*n - 1] == ' ' || (*at)[*n - 1] == '\t'))
			(*n)--;
	} while (*n == 0 && **list != '\0');
	return (*n > 0);
}

/* Names of lists as texts; owned, hwtdi_strfree(). */
static int
copy_name(struct trace_text *t, const char *at, size_t n, char **out)
{
	*out = hwtdi_alloc(t->s->trace->library, n + 1);
	if (*out == NULL)
		return (hwtdi_fail_nomem(t->s->err, n + 1));
	memcpy(*out, at, n);
	(*out)[n] = '\0';
	return (HWTD_OK);
}

/* Buffers. */

static int
entry_of(struct trace_text *t, const struct hwtdi_ini_section *section,
    const char *key, const char **out)
{
	const struct hwtdi_ini_entry *entry;
	int rc;

	rc = hwtdi_ini_entry(&t->ini, section, key, &entry, t->s->err);
	*out = entry != NULL ? entry->value : "";
	return (rc);
}

static void
find_framing(struct trace_text *t, const char *format, struct buffer *b)
{
	b->is_known = true;
	if (strcmp(format, "coresight") == 0)
		b->framing = HWTD_FRAMING_MEMORY;
	else if (strcmp(format, "dstream_coresight") == 0)
		b->framing = HWTD_FRAMING_DSTREAM;
	else if (strcmp(format, "source_data") != 0)
		b->is_known = false;
	if (!b->is_known)
		hwtdi_snapshot_warn(t->s,
		    "%.40s: line %" PRIu32 ": buffer of format '%.40s' is not "
		    "known; coresight, dstream_coresight, source_data",
		    t->ini.name, b->line, format);
}

static int
read_buffer(struct trace_text *t, const struct hwtdi_ini_entry *list,
    const char *id)
{
	const struct hwtdi_ini_section *section;
	const char *format = "";
	struct buffer b = { 0 };
	int rc;

	rc = hwtdi_ini_section(&t->ini, id, &section, t->s->err);
	if (rc == HWTD_OK && section == NULL)
		return (hwtdi_ini_fail(&t->ini, list->line, t->s->err,
		    "there is no section [%.60s] of this buffer", id));
	if (rc == HWTD_OK)
		rc = entry_of(t, section, "name", &b.name);
	if (rc == HWTD_OK)
		rc = entry_of(t, section, "file", &b.files);
	if (rc == HWTD_OK)
		rc = entry_of(t, section, "format", &format);
	if (rc != HWTD_OK)
		return (rc);
	b.line = section->line;
	if (b.name[0] == '\0')
		b.name = section->name;
	for (size_t i = 0; i < t->n_buffers; i++)
		if (strcmp(t->buffers[i].name, b.name) == 0)
			return (hwtdi_ini_fail(&t->ini, b.line, t->s->err,
			    "there is a buffer '%.60s' already", b.name));
	if (t->n_buffers >= HWTDI_SNAPSHOT_MAX_BUFFERS)
		return (hwtdi_fail(t->s->err, HWTD_E_LIMIT,
		    "%.80s: more than %u buffers", t->ini.name,
		    HWTDI_SNAPSHOT_MAX_BUFFERS));
	find_framing(t, format, &b);
	rc = hwtdi_array_grow(t->s->trace->library, &t->buffers,
	    &t->cap_buffers, t->n_buffers + 1, sizeof(*t->buffers), t->s->err);
	if (rc == HWTD_OK)
		t->buffers[t->n_buffers++] = b;
	return (rc);
}

static int
read_buffers(struct trace_text *t)
{
	const struct hwtdi_ini_section *section;
	const struct hwtdi_ini_entry *list;
	const char *names, *at;
	size_t n;
	char *id;
	int rc;

	rc = hwtdi_ini_section(&t->ini, "trace_buffers", &section, t->s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_ini_entry(&t->ini, section, "buffers", &list,
		    t->s->err);
	if (rc == HWTD_OK && list == NULL)
		return (hwtdi_fail(t->s->err, HWTD_E_CORRUPT,
		    "%.80s: has no buffers= in [trace_buffers]", t->ini.name));
	names = list != NULL ? list->value : "";
	while (rc == HWTD_OK && next_name(&names, &at, &n)) {
		rc = copy_name(t, at, n, &id);
		if (rc != HWTD_OK)
			return (rc);
		rc = read_buffer(t, list, id);
		hwtdi_strfree(t->s->trace->library, id);
	}
	return (rc);
}

/* Sources. */

static int
assign(struct trace_text *t, struct hwtdi_snapshot_device *source,
    size_t buffer)
{
	int rc = hwtdi_array_grow(t->s->trace->library, &t->sources,
	    &t->cap_sources, t->n_sources + 1, sizeof(*t->sources), t->s->err);

	if (rc != HWTD_OK)
		return (rc);
	source->buffer = (uint32_t)buffer + 1;
	t->sources[t->n_sources++] = source;
	return (HWTD_OK);
}

/* The buffer of a source: the first of a list. */
static int
assign_listed(struct trace_text *t, const struct hwtdi_ini_entry *entry)
{
	struct hwtdi_snapshot_device *source = hwtdi_snapshot_device(t->s,
	    entry->key);
	const char *list = entry->value, *at;
	size_t n;

	if (source == NULL || !source->is_source) {
		hwtdi_snapshot_warn(t->s,
		    "%.40s: line %" PRIu32
		    ": there is no trace source '%.60s'",
		    t->ini.name, entry->line, entry->key);
		return (HWTD_OK);
	}
	if (!next_name(&list, &at, &n))
		return (HWTD_OK);
	if (source->buffer != 0) {
		hwtdi_snapshot_warn(t->s,
		    "%.40s: line %" PRIu32 ": %.60s has a buffer already",
		    t->ini.name, entry->line, entry->key);
		return (HWTD_OK);
	}
	for (size_t i = 0; i < t->n_buffers; i++)
		if (strlen(t->buffers[i].name) == n &&
		    memcmp(t->buffers[i].name, at, n) == 0)
			return (assign(t, source, i));
	hwtdi_snapshot_warn(t->s,
	    "%.40s: line %" PRIu32 ": there is no buffer '%.*s' of %.60s",
	    t->ini.name, entry->line, (int)(n < 40 ? n : 40), at, entry->key);
	return (HWTD_OK);
}

typedef int each_fn(struct trace_text *t, const struct hwtdi_ini_entry *entry);

static int
each(struct trace_text *t, const char *section, each_fn *fn)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < t->ini.n_sections; i++) {
		const struct hwtdi_ini_section *s = &t->ini.sections[i];

		if (strcmp(s->name, section) != 0)
			continue;
		for (size_t k = 0; rc == HWTD_OK && k < s->n; k++)
			rc = fn(t, &t->ini.entries[s->first + k]);
	}
	return (rc);
}

static int
read_sources(struct trace_text *t)
{
	struct hwtdi_snapshot *s = t->s;
	int rc = each(t, "source_buffers", assign_listed);

	for (size_t i = 0; rc == HWTD_OK && i < s->n_devices; i++) {
		struct hwtdi_snapshot_device *d = s->devices[i];

		if (!d->is_source || d->buffer != 0)
			continue;
		/* Where there is one it need not be told. */
		if (t->n_buffers == 1)
			rc = assign(t, d, 0);
		else
			hwtdi_snapshot_warn(s,
			    "%.60s: nothing says in which buffer its trace is",
			    d->name);
	}
	return (rc);
}

/* A core and who traces it. */
static int
read_core(struct trace_text *t, const struct hwtdi_ini_entry *entry)
{
	const struct hwtdi_snapshot_device *core = hwtdi_snapshot_device(t->s,
	    entry->key);
	struct hwtdi_snapshot_device *source = hwtdi_snapshot_device(t->s,
	    entry->value);
	struct hwtd_coresight_config *c;

	if (core == NULL || !core->is_core || source == NULL ||
	    !source->is_source) {
		hwtdi_snapshot_warn(t->s,
		    "%.40s: line %" PRIu32 ": there is no %s '%.60s'",
		    t->ini.name, entry->line,
		    core == NULL || !core->is_core ? "core" : "trace source",
		    core == NULL || !core->is_core ? entry->key
						   : entry->value);
		return (HWTD_OK);
	}
	if (source->cpu != HWTD_NO_ID) {
		if (source->cpu != core->cpu)
			hwtdi_snapshot_warn(t->s,
			    "%.40s: line %" PRIu32
			    ": %.60s traces another core already",
			    t->ini.name, entry->line, entry->value);
		return (HWTD_OK);
	}
	c = &source->config;
	source->cpu = core->cpu;
	if (!hwtdi_arm_core_find(core->type, strlen(core->type), &c->arch,
		&c->profile))
		hwtdi_snapshot_warn(t->s,
		    "%.40s: core of type '%.40s' is not known; what %.60s "
		    "traced may be decoded wrongly",
		    core->name, core->type, source->name);
	return (HWTD_OK);
}

/* Streams. */

static int
add_bytes(struct trace_text *t, const struct buffer *b, uint32_t stream,
    const char *name, uint32_t why)
{
	struct hwtd_error missing = { .size = sizeof(missing) };
	struct hwtd_trace *trace = t->s->trace;
	struct hwtdi_side_file file;
	int rc;

	if (t->s->n_files++ >= HWTDI_SNAPSHOT_MAX_FILES)
		return (hwtdi_fail(t->s->err, HWTD_E_LIMIT,
		    "%.80s: more than %u files of buffers", t->ini.name,
		    HWTDI_SNAPSHOT_MAX_FILES));
	rc = hwtdi_side_file_read(&file, trace, name, UINT64_MAX, &missing);
	if (rc != HWTD_OK && rc != HWTD_E_IO)
		return (hwtdi_fail_pass(t->s->err, &missing));
	if (rc == HWTD_E_IO) {
		rc = hwtdi_snapshot_miss(t->s, stream, b->name, &missing);
		return (rc == HWTD_OK ? hwtd_trace_start_extent(trace, stream,
					    HWTD_EXTENT_AFTER_LOSS, t->s->err)
				      : rc);
	}
	rc = hwtd_trace_start_extent(trace, stream, why, t->s->err);
	if (rc == HWTD_OK && file.n > 0)
		rc = hwtd_trace_add_bytes(trace, stream, file.bytes, file.n,
		    t->s->err);
	hwtdi_side_file_fini(&file, trace->library);
	return (rc);
}

static int
add_files(struct trace_text *t, const struct buffer *b, uint32_t stream)
{
	const char *files = b->files, *at;
	size_t n;
	char *name;
	int rc = HWTD_OK;

	if (b->files[0] == '\0')
		hwtdi_snapshot_warn(t->s,
		    "%.40s: line %" PRIu32 ": buffer %.60s names no file",
		    t->ini.name, b->line, b->name);
	while (rc == HWTD_OK && next_name(&files, &at, &n)) {
		rc = copy_name(t, at, n, &name);
		if (rc != HWTD_OK)
			return (rc);
		rc = add_bytes(t, b, stream, name, HWTD_EXTENT_NEW);
		hwtdi_strfree(t->s->trace->library, name);
	}
	return (rc);
}

static struct hwtd_stream_desc
stream_desc(const char *name)
{
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.name = name };

	return (desc);
}

/* The next source of a buffer, from *at_inout on; NULL: there is none. */
static const struct hwtdi_snapshot_device *
next_source(const struct trace_text *t, size_t buffer, size_t *at_inout)
{
	while (*at_inout < t->n_sources) {
		const struct hwtdi_snapshot_device
		    *d = t->sources[(*at_inout)++];

		if (d->buffer == buffer + 1)
			return (d);
	}
	return (NULL);
}

static int
add_sink(struct trace_text *t, size_t no)
{
	const struct buffer *b = &t->buffers[no];
	struct hwtd_stream_desc desc = stream_desc(b->name);
	const struct hwtdi_snapshot_device *d;
	bool used[HWTDI_TRACE_IDS] = { true };
	uint32_t sink, id;
	size_t at = 0;
	int rc;

	desc.framing = b->framing;
	rc = hwtd_trace_add_stream(t->s->trace, &desc, &sink, t->s->err);
	if (rc == HWTD_OK)
		rc = add_files(t, b, sink);
	while (rc == HWTD_OK && (d = next_source(t, no, &at)) != NULL) {
		if (used[d->config.trace_id]) {
			hwtdi_snapshot_warn(t->s,
			    "%.60s: trace ID %#" PRIx32 " in buffer %.60s %s",
			    d->name, d->config.trace_id, b->name,
			    d->config.trace_id == 0
				? "is none of a source"
				: "is another source's already");
			continue;
		}
		used[d->config.trace_id] = true;
		desc = stream_desc(d->name);
		desc.cpu = d->cpu;
		desc.coresight = &d->config;
		desc.sink_plus_1 = sink + 1;
		rc = hwtd_trace_add_stream(t->s->trace, &desc, &id, t->s->err);
	}
	return (rc);
}

static int
add_single(struct trace_text *t, size_t no)
{
	const struct buffer *b = &t->buffers[no];
	struct hwtd_stream_desc desc = stream_desc(b->name);
	const struct hwtdi_snapshot_device *d;
	size_t at = 0;
	uint32_t id;
	int rc;

	d = next_source(t, no, &at);
	if (d == NULL)
		hwtdi_snapshot_warn(t->s, "%.60s: no source of its bytes",
		    b->name);
	if (d != NULL) {
		desc.name = d->name;
		desc.cpu = d->cpu;
		desc.coresight = &d->config;
	}
	rc = hwtd_trace_add_stream(t->s->trace, &desc, &id, t->s->err);
	while ((d = next_source(t, no, &at)) != NULL)
		hwtdi_snapshot_warn(t->s,
		    "%.60s: buffer %.60s has no frames, its bytes are those "
		    "of "
		    "%.60s",
		    d->name, b->name, desc.name);
	return (rc == HWTD_OK ? add_files(t, b, id) : rc);
}

static int
read_all(struct trace_text *t)
{
	int rc = read_buffers(t);

	if (rc == HWTD_OK)
		rc = read_sources(t);
	if (rc == HWTD_OK)
		rc = each(t, "core_trace_sources", read_core);
	for (size_t i = 0; rc == HWTD_OK && i < t->n_sources; i++) {
		const struct hwtdi_snapshot_device *d = t->sources[i];

		if (d->cpu == HWTD_NO_ID && d->config.protocol < HWTD_CS_STM)
			hwtdi_snapshot_warn(t->s,
			    "%.60s: nothing says which core it traces",
			    d->name);
	}
	for (size_t i = 0; rc == HWTD_OK && i < t->n_buffers; i++)
		rc = t->buffers[i].framing != HWTD_FRAMING_NONE
		    ? add_sink(t, i)
		    : add_single(t, i);
	return (rc);
}

int
hwtdi_snapshot_read_trace(struct hwtdi_snapshot *s, const char *name)
{
	struct hwtd_error why = { .size = sizeof(why) };
	struct hwtd_context *ctx = s->trace->library;
	struct trace_text t = { .s = s };
	int rc;

	rc = hwtdi_snapshot_read_ini(s, name, &t.ini, &why);
	if (rc == HWTD_E_IO)
		return (hwtdi_snapshot_miss(s, HWTD_NO_ID, "metadata", &why));
	if (rc != HWTD_OK)
		return (hwtdi_fail_pass(s->err, &why));
	rc = read_all(&t);
	hwtdi_array_free(ctx, t.buffers, t.cap_buffers, sizeof(*t.buffers));
	hwtdi_array_free(ctx, t.sources, t.cap_sources, sizeof(*t.sources));
	hwtdi_ini_file_fini(&t.ini, ctx);
	return (rc);
}
