/*
 * Files beside the one that was opened.
 */
#include "trace/import/side_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"

int
hwtdi_side_path(struct hwtd_context *ctx, const char *beside, const char *name,
    char **out, struct hwtd_error *err)
{
	const char *slash = strrchr(beside, '/');
	size_t folder = slash != NULL ? (size_t)(slash - beside) + 1 : 2;
	size_t n = strlen(name);
	char *path;

	if (name[0] == '/')
		folder = 0;
	if (n == 0)
		return (hwtdi_fail(err, HWTD_E_CORRUPT, "is no file name"));
	if (folder + n > HWTDI_TEXT_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "path of %zu bytes; at most %u", folder + n,
		    HWTDI_TEXT_MAX));
	path = hwtdi_alloc(ctx, folder + n + 1);
	if (path == NULL)
		return (hwtdi_fail_nomem(err, folder + n + 1));
	memcpy(path, slash != NULL ? beside : "./", folder);
	memcpy(path + folder, name, n + 1);
	*out = path;
	return (HWTD_OK);
}

static int
read_all(struct hwtdi_side_file *out, struct hwtd_context *ctx,
    const struct hwtdi_trace_file *file, struct hwtd_error *err)
{
	int rc;

	if (file->size == 0)
		return (HWTD_OK);
	if (file->size > ctx->max_alloc)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "%.100s has %" PRIu64 " bytes; max_alloc is %" PRIu64,
		    file->path, file->size, ctx->max_alloc));
	out->bytes = hwtdi_alloc(ctx, (size_t)file->size);
	if (out->bytes == NULL)
		return (hwtdi_trace_no_room(ctx, file->size, err));
	out->n = (size_t)file->size;
	rc = hwtdi_trace_file_read(file, 0, out->bytes, out->n, err);
	if (rc != HWTD_OK)
		hwtdi_side_file_fini(out, ctx);
	return (rc);
}

bool
hwtdi_side_is_beside(const char *beside, const char *path)
{
	const char *slash = strrchr(beside, '/');
	char folder[PATH_MAX], file[PATH_MAX];
	size_t n = slash != NULL ? (size_t)(slash - beside) + 1 : 0;

	if (n >= sizeof(file))
		return (false);
	/* With the slash, which the root has and a name has not. */
	memcpy(file, beside, n);
	file[n] = '\0';
	if (realpath(n > 0 ? file : ".", folder) == NULL ||
	    realpath(path, file) == NULL)
		return (false);
	n = strlen(folder);
	if (n > 0 && folder[n - 1] == '/')
		n--;
	return (strncmp(file, folder, n) == 0 && file[n] == '/');
}

/* Takes over the path on success.  `named`: saving it shows what a file named. */
static int
note(struct hwtd_trace *trace, char *path, bool named, struct hwtd_error *err)
{
	int rc = hwtdi_array_grow(trace->library, &trace->side_files,
	    &trace->cap_side_files, trace->n_side_files + 1,
	    sizeof(*trace->side_files), err);

	if (rc != HWTD_OK)
		return (rc);
	trace->side_files[trace->n_side_files++] = path;
	if (named && trace->outside == NULL &&
	    !hwtdi_side_is_beside(trace->file.path, path))
		trace->outside = path;
	return (HWTD_OK);
}

/* Takes over the path. */
static int
read_path(struct hwtdi_side_file *out, struct hwtd_trace *trace, char *path,
    uint64_t most, bool named, struct hwtd_error *err)
{
	struct hwtd_context *ctx = trace->library;
	struct hwtdi_trace_file file = { .fd = -1, .path = path };
	int rc;

	rc = hwtdi_regular_file_open(path, &file.fd, &file.size, err);
	if (rc != HWTD_OK)
		hwtdi_fail_prefix(err, "cannot read %.100s", path);
	if (rc == HWTD_OK && file.size > most)
		rc = hwtdi_fail(err, HWTD_E_LIMIT,
		    "%.100s has %" PRIu64 " bytes; at most %" PRIu64, path,
		    file.size, most);
	if (rc == HWTD_OK)
		rc = read_all(out, ctx, &file, err);
	if (file.fd >= 0)
		(void)close(file.fd);
	if (rc == HWTD_OK) {
		rc = note(trace, path, named, err);
		if (rc == HWTD_OK)
			return (rc);
		hwtdi_side_file_fini(out, ctx);
	}
	hwtdi_strfree(ctx, path);
	return (rc);
}

int
hwtdi_side_file_read(struct hwtdi_side_file *file, struct hwtd_trace *trace,
    const char *name, uint64_t most, struct hwtd_error *err)
{
	char *path = NULL;
	int rc;

	memset(file, 0, sizeof(*file));
	rc = hwtdi_side_path(trace->library, trace->file.path, name, &path,
	    err);
	return (rc == HWTD_OK ? read_path(file, trace, path, most, true, err)
			      : rc);
}

int
hwtdi_side_code_read(struct hwtdi_side_file *file, struct hwtd_trace *trace,
    const char *path, uint64_t most, struct hwtd_error *err)
{
	char *copy = hwtdi_strdup(trace->library, path);

	memset(file, 0, sizeof(*file));
	if (copy == NULL)
		return (hwtdi_fail_nomem(err, strlen(path)));
	return (read_path(file, trace, copy, most, false, err));
}

int
hwtdi_side_file_read_as(struct hwtdi_side_file *file, struct hwtd_trace *trace,
    const char *path, struct hwtd_error *err)
{
	return (hwtdi_side_code_read(file, trace, path, UINT64_MAX, err));
}

void
hwtdi_side_file_fini(struct hwtdi_side_file *file, struct hwtd_context *ctx)
{
	hwtdi_free(ctx, file->bytes, file->n);
	memset(file, 0, sizeof(*file));
}

int
hwtdi_side_bytes_open(struct hwtd_trace *trace, const char *path,
    uint32_t *no_out, struct hwtd_error *err)
{
	struct hwtd_context *ctx = trace->library;
	struct hwtdi_trace_file file = { .fd = -1 };
	char *copy = NULL;
	int rc;

	rc = hwtdi_array_grow(ctx, &trace->more_files, &trace->cap_more_files,
	    trace->n_more_files + 1, sizeof(*trace->more_files), err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_regular_file_open(path, &file.fd, &file.size, err);
	if (rc != HWTD_OK) {
		hwtdi_fail_prefix(err, "cannot read %.100s", path);
		return (rc);
	}
	file.path = hwtdi_strdup(ctx, path);
	copy = hwtdi_strdup(ctx, path);
	if (file.path == NULL || copy == NULL)
		rc = hwtdi_fail_nomem(err, strlen(path) + 1);
	if (rc == HWTD_OK)
		rc = note(trace, copy, true, err);
	if (rc != HWTD_OK) {
		hwtdi_strfree(ctx, copy);
		hwtdi_strfree(ctx, file.path);
		(void)close(file.fd);
		return (rc);
	}
	trace->more_files[trace->n_more_files++] = file;
	*no_out = (uint32_t)trace->n_more_files;
	return (HWTD_OK);
}

int
hwtdi_side_bytes_place(struct hwtd_trace *trace, uint32_t stream, uint32_t no,
    struct hwtd_error *err)
{
	const struct hwtdi_trace_file *file = no == 0
	    ? &trace->file
	    : &trace->more_files[no - 1];
	struct hwtdi_stream *s = trace->streams[stream];
	const struct hwtdi_stretch stretch = { .start = s->end,
		.length = file->size,
		.room = no,
		.kind = HWTDI_STRETCH_FILE };

	if (file->size == 0)
		return (HWTD_OK);
	return (hwtdi_stream_place(trace->library, s, &stretch, err));
}
