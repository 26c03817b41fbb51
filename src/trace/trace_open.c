/*
 * Opening a file: what kind of file it is, and which reader takes it.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"
#include "trace/container/hwt_reader.h"
#include "trace/import/bsdtrace.h"
#include "trace/import/file_family.h"
#include "trace/import/lldb.h"
#include "trace/import/perf/perf_data.h"
#include "trace/import/raw.h"
#include "trace/import/snapshot.h"
#include "trace/import/spe_text.h"
#include "trace/trace_internal.h"

int
hwtdi_trace_file_read(const struct hwtdi_trace_file *file, uint64_t off,
    void *buf, size_t n, struct hwtd_error *err)
{
	uint8_t *at = buf;

	if (off > file->size || n > file->size - off)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, off,
		    "file ends at %" PRIu64 ", before %" PRIu64 " + %zu",
		    file->size, off, n));
	while (n > 0) {
		ssize_t got = pread(file->fd, at, n, (off_t)off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return (hwtdi_fail_sys(err, errno,
			    "%.100s: cannot read at %" PRIu64 ": %s",
			    file->path, off, strerror(errno)));
		if (got == 0)
			return (hwtdi_fail_at(err, HWTD_E_CORRUPT, off,
			    "file became shorter; it ends before %" PRIu64,
			    off));
		at += got;
		off += (uint64_t)got;
		n -= (size_t)got;
	}
	return (HWTD_OK);
}

/* Of a name that is no file: those that it begins, with a number behind it. */
static int
find_family(struct hwtd_trace *trace, const char *path, uint32_t tech,
    struct hwtdi_file_family *family, struct hwtd_error *err)
{
	int rc;

	if ((tech != HWTD_TECH_UNKNOWN && tech != HWTD_TECH_INTEL_PT) ||
	    access(path, F_OK) == 0 || errno != ENOENT)
		return (HWTD_OK);
	rc = hwtdi_file_family_find(family, trace->library, path, "", err);
	if (rc == HWTD_OK && family->n > 0)
		rc = hwtdi_file_family_path(trace->library, path,
		    family->numbers[0], "", &trace->file.path, err);
	return (rc);
}

/* The file that stands for `path`, which may be one beside it. */
static int
find_path(struct hwtd_trace *trace, const char *path, uint32_t tech,
    struct hwtdi_file_family *family, struct hwtd_error *err)
{
	char **out = &trace->file.path;
	int rc;

	rc = hwtdi_snapshot_path(trace->library, path, out, err);
	if (rc == HWTD_OK && *out == NULL)
		rc = hwtdi_perf_data_path(trace->library, path, out, err);
	if (rc == HWTD_OK && *out == NULL && tech == HWTD_TECH_UNKNOWN)
		rc = hwtdi_bsdtrace_path(trace->library, path, out, err);
	if (rc == HWTD_OK && *out == NULL)
		rc = find_family(trace, path, tech, family, err);
	if (rc != HWTD_OK || *out != NULL)
		return (rc);
	*out = hwtdi_strdup(trace->library, path);
	return (*out != NULL ? HWTD_OK
			     : hwtdi_fail_nomem(err, strlen(path) + 1));
}

static int
open_file(struct hwtd_trace *trace, const char *path, uint32_t tech,
    struct hwtdi_file_family *family, struct hwtd_error *err)
{
	int rc;

	rc = find_path(trace, path, tech, family, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_regular_file_open(trace->file.path, &trace->file.fd,
	    &trace->file.size, err);
	if (rc != HWTD_OK) {
		hwtdi_fail_prefix(err, "cannot open");
		return (rc);
	}
	if (trace->file.size == 0 && tech == HWTD_TECH_UNKNOWN &&
	    family->n == 0)
		return (hwtdi_fail_at(err, HWTD_E_UNRECOGNIZED, 0,
		    "is empty; there is no trace in it"));
	return (HWTD_OK);
}

static int
import_snapshot(struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    struct hwtd_error *err)
{
	(void)opts;
	return (hwtdi_snapshot_import(trace, err));
}

/* What has a format of its own, in the order in which they are looked for. */
static const struct {
	int (*recognize)(const struct hwtd_trace *trace, bool *is_out,
	    struct hwtd_error *err);
	int (*import)(struct hwtd_trace *trace,
	    const struct hwtd_open_options *opts, struct hwtd_error *err);
} formats[] = {
	{ hwtdi_perf_data_recognize, hwtdi_perf_data_import },
	{ hwtdi_bsdtrace_recognize, hwtdi_bsdtrace_import },
	{ hwtdi_lldb_recognize, hwtdi_lldb_import },
	{ hwtdi_snapshot_recognize, import_snapshot },
	{ hwtdi_spe_text_recognize, hwtdi_spe_text_import },
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Sets *known if it is one of them. */
static int
import_format(struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    bool *known, struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_hwt_recognize(trace, known, err);
	if (rc != HWTD_OK || *known)
		return (rc == HWTD_OK ? hwtdi_hwt_read(trace, opts, err) : rc);
	/* Who names the technology says that the bytes are raw. */
	for (size_t i = 0; opts->tech == HWTD_TECH_UNKNOWN && i < FORMATS;
	     i++) {
		rc = formats[i].recognize(trace, known, err);
		if (rc != HWTD_OK || *known)
			return (rc == HWTD_OK
				? formats[i].import(trace, opts, err)
				: rc);
	}
	return (HWTD_OK);
}

static int
fill(struct hwtd_trace *trace, const char *path,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	struct hwtdi_file_family family = { 0 };
	const struct hwtdi_raw_how how = { .prefix = path, .family = &family };
	bool known = false;
	int rc;

	rc = open_file(trace, path, opts->tech, &family, err);
	if (rc == HWTD_OK && family.n == 0)
		rc = import_format(trace, opts, &known, err);
	if (rc == HWTD_OK && !known)
		rc = hwtdi_raw_import(trace, opts, &how, err);
	hwtdi_file_family_fini(&family, trace->library);
	if (rc == HWTD_OK && strcmp(trace->format, "raw") == 0)
		rc = hwtdi_perf_records_import(trace, opts, err);
	if (rc != HWTD_OK && rc != HWTD_E_NOMEM && rc != HWTD_E_TOO_NEW)
		hwtdi_fail_prefix(err, "%.100s", path);
	return (rc);
}

static int
check_options(const struct hwtd_open_options *o, struct hwtd_error *err)
{
	if (o->tech > HWTD_TECH_SPE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "technology %" PRIu32 " is not known", o->tech));
	if (o->clock.counts_per != 0 && o->clock.ns_per == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "clock with %" PRIu64 " counts in 0 ns",
		    o->clock.counts_per));
	if (o->images == NULL && o->n_images != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "%zu images at NULL",
		    o->n_images));
	if (o->coresight == NULL && o->n_coresight != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%zu CoreSight configurations at NULL", o->n_coresight));
	if (o->buffers == NULL && o->n_buffers != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "%zu buffers at NULL",
		    o->n_buffers));
	if (o->perf_records == NULL && o->n_perf_records != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%zu files of perf records at NULL", o->n_perf_records));
	if (o->framing > HWTD_FRAMING_DSTREAM)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "framing %" PRIu32 " is not known", o->framing));
	return (HWTD_OK);
}

/* Images of one array may be of an older or newer size, all alike. */
static int
add_images(struct hwtd_trace *trace, const struct hwtd_open_options *o,
    struct hwtd_error *err)
{
	const uint8_t *at = (const uint8_t *)o->images;
	size_t stride = 0;
	int rc = HWTD_OK;

	if (o->n_images != 0)
		memcpy(&stride, at, sizeof(stride));
	for (size_t i = 0; rc == HWTD_OK && i < o->n_images; i++)
		rc = hwtd_trace_add_image(trace,
		    (const void *)(at + i * stride), NULL, err);
	return (rc);
}

int
hwtd_trace_open(struct hwtd_context *ctx, const char *path,
    const struct hwtd_open_options *opts, struct hwtd_trace **trace_out,
    struct hwtd_error *err)
{
	struct hwtd_open_options o;
	struct hwtd_trace *trace;
	int rc;

	if (ctx == NULL || path == NULL || trace_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = check_options(&o, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_new(ctx, "", &trace, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_search_init(&trace->search, ctx, o.search, err);
	if (rc == HWTD_OK)
		rc = fill(trace, path, &o, err);
	if (rc == HWTD_OK)
		rc = add_images(trace, &o, err);
	if (rc == HWTD_OK && o.unsealed == 0)
		rc = hwtd_trace_seal(trace, err);
	if (rc != HWTD_OK) {
		hwtd_trace_close(trace);
		return (rc);
	}
	*trace_out = trace;
	return (HWTD_OK);
}
