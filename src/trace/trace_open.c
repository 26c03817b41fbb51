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

static int
open_file(struct hwtd_trace *trace, const char *path, uint32_t tech,
    struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_snapshot_path(trace->library, path, &trace->file.path, err);
	if (rc == HWTD_OK && trace->file.path == NULL)
		rc = hwtdi_perf_data_path(trace->library, path,
		    &trace->file.path, err);
	if (rc != HWTD_OK)
		return (rc);
	if (trace->file.path == NULL)
		trace->file.path = hwtdi_strdup(trace->library, path);
	if (trace->file.path == NULL)
		return (hwtdi_fail_nomem(err, strlen(path) + 1));
	rc = hwtdi_regular_file_open(trace->file.path, &trace->file.fd,
	    &trace->file.size, err);
	if (rc != HWTD_OK) {
		hwtdi_fail_prefix(err, "cannot open");
		return (rc);
	}
	if (trace->file.size == 0 && tech == HWTD_TECH_UNKNOWN)
		return (hwtdi_fail_at(err, HWTD_E_UNRECOGNIZED, 0,
		    "is empty; there is no trace in it"));
	return (HWTD_OK);
}

static int
fill(struct hwtd_trace *trace, const char *path,
    const struct hwtd_open_options *opts, struct hwtd_error *err)
{
	bool is_hwt = false, is_lldb = false, is_snapshot = false;
	bool is_text = false, is_perf = false;
	int rc;

	rc = open_file(trace, path, opts->tech, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_recognize(trace, &is_hwt, err);
	/* Who names the technology says that the bytes are raw. */
	if (rc == HWTD_OK && !is_hwt && opts->tech == HWTD_TECH_UNKNOWN)
		rc = hwtdi_perf_data_recognize(trace, &is_perf, err);
	if (rc == HWTD_OK && !is_hwt && opts->tech == HWTD_TECH_UNKNOWN)
		rc = hwtdi_lldb_recognize(trace, &is_lldb, err);
	if (rc == HWTD_OK && !is_hwt && !is_lldb &&
	    opts->tech == HWTD_TECH_UNKNOWN)
		rc = hwtdi_snapshot_recognize(trace, &is_snapshot, err);
	if (rc == HWTD_OK && !is_hwt && !is_lldb && !is_snapshot &&
	    opts->tech == HWTD_TECH_UNKNOWN)
		rc = hwtdi_spe_text_recognize(trace, &is_text, err);
	if (rc == HWTD_OK && is_hwt)
		rc = hwtdi_hwt_read(trace, opts, err);
	else if (rc == HWTD_OK && is_perf)
		rc = hwtdi_perf_data_import(trace, opts, err);
	else if (rc == HWTD_OK && is_lldb)
		rc = hwtdi_lldb_import(trace, opts, err);
	else if (rc == HWTD_OK && is_snapshot)
		rc = hwtdi_snapshot_import(trace, err);
	else if (rc == HWTD_OK && is_text)
		rc = hwtdi_spe_text_import(trace, opts, err);
	else if (rc == HWTD_OK)
		rc = hwtdi_raw_import(trace, opts, err);
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
