/*
 * Trace-and-debug snapshots: recognising one, and the text that lists the
 * others.
 *
 * Source: OpenCSD, "External custom decoders", "Trace snapshot format"; the
 * snapshots of Arm DS-5.
 */
#include "trace/import/snapshot.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "trace/import/side_file.h"
#include "trace/import/snapshot_internal.h"

/* How much of a file is looked at. */
#define LOOK_BYTES ((size_t)4096)

int
hwtdi_snapshot_path(struct hwtd_context *ctx, const char *path, char **out,
    struct hwtd_error *err)
{
	const size_t n = strlen(path), room = n + sizeof(HWTDI_SNAPSHOT_NAME);
	struct stat st;
	char *text;

	*out = NULL;
	if (n == 0 || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return (HWTD_OK);
	/* As the length of a text, which has no slash at its end. */
	text = hwtdi_alloc(ctx, room + (path[n - 1] != '/'));
	if (text == NULL)
		return (hwtdi_fail_nomem(err, room + 1));
	(void)snprintf(text, room + 1, "%s%s" HWTDI_SNAPSHOT_NAME, path,
	    path[n - 1] != '/' ? "/" : "");
	if (stat(text, &st) != 0)
		hwtdi_strfree(ctx, text);
	else
		*out = text;
	return (HWTD_OK);
}

int
hwtdi_snapshot_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err)
{
	size_t n = trace->file.size < LOOK_BYTES ? (size_t)trace->file.size
						 : LOOK_BYTES;
	struct hwtdi_ini_line line;
	struct hwtdi_ini ini = { .left = n };
	char bytes[LOOK_BYTES];
	int rc;

	*is_out = false;
	rc = hwtdi_trace_file_read(&trace->file, 0, bytes, n, err);
	if (rc != HWTD_OK)
		return (rc);
	/* The first line that is more than a comment. */
	ini.at = bytes;
	*is_out = hwtdi_ini_next(&ini, &line, NULL) == HWTD_OK &&
	    line.is_section && line.n_key == 8 &&
	    memcmp(line.key, "snapshot", 8) == 0;
	return (HWTD_OK);
}

void
hwtdi_snapshot_warn(struct hwtdi_snapshot *s, const char *fmt, ...)
{
	char text[192];
	va_list ap;

	if (s->n_warnings++ >= HWTDI_SNAPSHOT_MAX_WARNINGS)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hwtdi_log(s->trace->library, HWTD_LOG_WARNING, "snapshot", "%s", text);
}

int
hwtdi_snapshot_miss(struct hwtdi_snapshot *s, uint32_t stream,
    const char *what, const struct hwtd_error *why)
{
	hwtdi_snapshot_warn(s, "%.60s: %.120s", what, why->message);
	return (hwtdi_trace_note_damage(s->trace, 0, 0, stream, 0, 0, s->err,
	    "%.30s: %.60s", what, why->message));
}

/* A text with room for a NUL. */
static int
take_text(struct hwtdi_snapshot *s, const char *name, uint8_t *bytes, size_t n,
    struct hwtdi_ini_file *out, struct hwtd_error *err)
{
	struct hwtd_context *ctx = s->trace->library;
	uint8_t *text = hwtdi_resize(ctx, bytes, n, n + 1);

	if (text == NULL) {
		hwtdi_free(ctx, bytes, n);
		return (hwtdi_fail_nomem(err, n + 1));
	}
	return (hwtdi_ini_file_init(out, ctx, name, (char *)text, n, err));
}

int
hwtdi_snapshot_read_ini(struct hwtdi_snapshot *s, const char *name,
    struct hwtdi_ini_file *out, struct hwtd_error *err)
{
	struct hwtdi_side_file file;
	int rc;

	rc = hwtdi_side_file_read(&file, s->trace, name, HWTDI_INI_MAX_TEXT,
	    err);
	return (rc == HWTD_OK
		? take_text(s, name, file.bytes, file.n, out, err)
		: rc);
}

/* The text that was opened. */
static int
read_root(struct hwtdi_snapshot *s)
{
	const struct hwtdi_trace_file *file = &s->trace->file;
	struct hwtd_context *ctx = s->trace->library;
	const size_t n = (size_t)file->size;
	uint8_t *bytes;
	int rc;

	if (file->size > HWTDI_INI_MAX_TEXT)
		return (hwtdi_fail(s->err, HWTD_E_LIMIT,
		    "text of %" PRIu64 " bytes; at most %" PRIu64, file->size,
		    HWTDI_INI_MAX_TEXT));
	bytes = hwtdi_alloc(ctx, n);
	if (bytes == NULL)
		return (hwtdi_trace_no_room(ctx, n, s->err));
	rc = hwtdi_trace_file_read(file, 0, bytes, n, s->err);
	if (rc == HWTD_OK)
		return (take_text(s, HWTDI_SNAPSHOT_NAME, bytes, n, &s->ini,
		    s->err));
	hwtdi_free(ctx, bytes, n);
	return (rc);
}

static int
read_head(struct hwtdi_snapshot *s)
{
	struct hwtdi_trace_text *said = &s->trace->text;
	const struct hwtdi_ini_section *section;
	const struct hwtdi_ini_entry *entry;
	int rc;

	rc = hwtdi_ini_section(&s->ini, "snapshot", &section, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_ini_entry(&s->ini, section, "version", &entry,
		    s->err);
	if (rc != HWTD_OK)
		return (rc);
	if (entry != NULL && strcmp(entry->value, "1") != 0 &&
	    strncmp(entry->value, "1.", 2) != 0)
		return (hwtdi_fail(s->err, HWTD_E_UNSUPPORTED,
		    "%s: line %" PRIu32 ": snapshot of version '%.40s'; 1.0 "
		    "is known",
		    s->ini.name, entry->line, entry->value));
	rc = hwtdi_ini_entry(&s->ini, section, "description", &entry, s->err);
	if (rc != HWTD_OK || entry == NULL || entry->value[0] == '\0')
		return (rc);
	if (strlen(entry->value) > HWTDI_TEXT_MAX)
		return (hwtdi_ini_fail(&s->ini, entry->line, s->err,
		    "description of %zu bytes; at most %u",
		    strlen(entry->value), HWTDI_TEXT_MAX));
	said->origin = hwtdi_strdup(s->trace->library, entry->value);
	return (said->origin != NULL
		? HWTD_OK
		: hwtdi_fail_nomem(s->err, strlen(entry->value)));
}

static int
read_devices(struct hwtdi_snapshot *s)
{
	const struct hwtdi_ini_section *section;
	int rc;

	rc = hwtdi_ini_section(&s->ini, "device_list", &section, s->err);
	for (size_t i = 0; rc == HWTD_OK && section != NULL && i < section->n;
	     i++)
		rc = hwtdi_snapshot_add_device(s,
		    &s->ini.entries[section->first + i]);
	return (rc);
}

static int
read_trace(struct hwtdi_snapshot *s)
{
	const struct hwtdi_ini_section *section;
	const struct hwtdi_ini_entry *entry = NULL;
	int rc;

	rc = hwtdi_ini_section(&s->ini, "trace", &section, s->err);
	if (rc == HWTD_OK)
		rc = hwtdi_ini_entry(&s->ini, section, "metadata", &entry,
		    s->err);
	if (rc != HWTD_OK)
		return (rc);
	if (entry == NULL || entry->value[0] == '\0') {
		hwtdi_snapshot_warn(s, "names no trace: it holds memory only");
		return (HWTD_OK);
	}
	return (hwtdi_snapshot_read_trace(s, entry->value));
}

static void
fini(struct hwtdi_snapshot *s)
{
	struct hwtd_context *ctx = s->trace->library;

	for (size_t i = 0; i < s->n_devices; i++) {
		hwtdi_ini_file_fini(&s->devices[i]->ini, ctx);
		hwtdi_free(ctx, s->devices[i], sizeof(*s->devices[i]));
	}
	hwtdi_array_free(ctx, s->devices, s->cap_devices, sizeof(*s->devices));
	hwtdi_index_fini(&s->names, ctx);
	for (size_t i = 0; i < s->n_dumps; i++)
		hwtdi_strfree(ctx, s->dumps[i].path);
	hwtdi_array_free(ctx, s->dumps, s->cap_dumps, sizeof(*s->dumps));
	hwtdi_index_fini(&s->dump_index, ctx);
	hwtdi_ini_file_fini(&s->ini, ctx);
}

int
hwtdi_snapshot_import(struct hwtd_trace *trace, struct hwtd_error *err)
{
	struct hwtdi_snapshot s = { .trace = trace, .err = err };
	int rc;

	trace->format = "snapshot";
	trace->owns_folder = true;
	rc = read_root(&s);
	if (rc == HWTD_OK)
		rc = read_head(&s);
	if (rc == HWTD_OK)
		rc = read_devices(&s);
	if (rc == HWTD_OK)
		rc = read_trace(&s);
	if (s.n_warnings > HWTDI_SNAPSHOT_MAX_WARNINGS)
		hwtdi_log(trace->library, HWTD_LOG_WARNING, "snapshot",
		    "%" PRIu64 " more warnings",
		    s.n_warnings - HWTDI_SNAPSHOT_MAX_WARNINGS);
	fini(&s);
	return (rc);
}
