/*
 * Writing a sealed trace to a .hwt file.
 */
#include <inttypes.h>

#include "base/fail.h"
#include "image/elf_file.h"
#include "trace/trace_archive.h"
#include "trace/trace_internal.h"

/* Parts that the trace was read with, under new ids. */
static int
save_parts(const struct hwtd_trace *trace, bool any_file,
    struct hwtdi_writer *w, struct hwtd_error *err)
{
	const size_t room = trace->n_parts * sizeof(uint32_t);
	uint32_t *ids;
	int rc = HWTD_OK;

	if (trace->n_parts == 0)
		return (HWTD_OK);
	ids = hwtdi_alloc(trace->library, room);
	if (ids == NULL)
		return (hwtdi_fail_nomem(err, room));
	for (size_t i = 0; rc == HWTD_OK && i < trace->n_parts; i++) {
		const struct hwtdi_image *part = &trace->parts[i];

		ids[i] = HWTD_NO_ID;
		rc = part->same_file
		    ? hwtdi_writer_same_file(w, part, ids[part->file_part],
			  err)
		    : hwtdi_writer_image(w, part, any_file || !part->stranger,
			  &ids[i], err);
	}
	hwtdi_free(trace->library, ids, room);
	return (rc);
}

static int
save_tables(const struct hwtd_trace *trace, struct hwtdi_writer *w,
    uint32_t flags, struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	const bool any_file = (flags & HWTD_SAVE_ANY_FILE) != 0;
	uint32_t id;
	int rc;

	rc = hwtdi_writer_meta(w, &trace->text, err);
	for (uint32_t i = 0; rc == HWTD_OK && i < trace->n_streams; i++) {
		(void)hwtd_trace_stream(trace, i, &desc);
		rc = hwtdi_writer_stream(w, &desc, &id, err);
	}
	for (size_t i = 0; rc == HWTD_OK && i < trace->n_images; i++) {
		const struct hwtdi_image *image = &trace->images[i];

		/* Records name it; who opens the file finds it by them. */
		if (image->named)
			continue;
		/* There is nowhere else to find bytes without a file. */
		rc = hwtdi_writer_image(w, image,
		    !image->from_file ||
			((flags & HWTD_SAVE_IMAGES) != 0 &&
			    (any_file || !image->stranger)),
		    NULL, err);
	}
	/* Behind the images, so that these keep their ids. */
	rc = rc == HWTD_OK ? save_parts(trace, any_file, w, err) : rc;
	if (rc == HWTD_OK && (flags & HWTD_SAVE_IMAGES) != 0)
		rc = hwtdi_trace_archive(trace, any_file, w, err);
	for (size_t i = 0; rc == HWTD_OK && i < trace->records.n; i++) {
		rc = hwtdi_poll_each(trace->library, i, err);
		if (rc == HWTD_OK)
			rc = hwtdi_writer_record(w, &trace->records.records[i],
			    err);
	}
	/* Holes of streams are told by where their bytes lie. */
	for (size_t i = 0; rc == HWTD_OK && i < trace->n_damages; i++)
		if (hwtdi_damage_is_stray(&trace->damages[i]))
			rc = hwtdi_writer_damage(w, &trace->damages[i], err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_flush(w, err);
	return (rc);
}

/*
 * Write [*at, *at + n) of an extent.  Of damaged chunks nothing is written and
 * *at goes behind them; offsets stay true and the new file says that bytes
 * are missing.
 */
static int
save_part(struct hwtdi_writer *w, uint32_t stream, struct hwtdi_window *window,
    uint64_t *at, uint64_t n, uint64_t end, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_damage damage;
	const uint8_t *bytes;
	int rc;

	rc = hwtdi_window_see(window, *at, (size_t)n, &bytes, &damage, &inner);
	if (rc == HWTD_E_CORRUPT && damage.first > *at) {
		n = damage.first - *at;
		rc = hwtdi_window_see(window, *at, (size_t)n, &bytes, &damage,
		    &inner);
	}
	if (rc == HWTD_E_CORRUPT) {
		*at = damage.end < end ? damage.end : end;
		return (hwtdi_writer_extent(w, stream, *at,
		    HWTD_EXTENT_AFTER_DAMAGE, err));
	}
	if (rc != HWTD_OK)
		return (hwtdi_fail_pass(err, &inner));
	*at += n;
	return (hwtdi_writer_bytes(w, stream, bytes, (size_t)n, err));
}

static int
save_stream(const struct hwtd_trace *trace, struct hwtdi_writer *w,
    uint32_t stream, uint32_t chunk_bytes, struct hwtd_error *err)
{
	const struct hwtdi_stream *s = trace->streams[stream];
	struct hwtdi_window *window;
	int rc;

	rc = hwtdi_window_create(trace, stream, &window, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; rc == HWTD_OK && i < s->n_extents; i++) {
		const struct hwtd_extent *extent = &s->extents[i];
		uint64_t at = extent->start;

		/* The first extent needs no word if nothing is special. */
		if (i != 0 || at != 0 || extent->why != HWTD_EXTENT_NEW)
			rc = hwtdi_writer_extent(w, stream, at, extent->why,
			    err);
		while (rc == HWTD_OK && at < extent->end) {
			uint64_t n = extent->end - at;

			if (n > chunk_bytes)
				n = chunk_bytes;
			rc = hwtdi_poll(trace->library, err);
			if (rc == HWTD_OK)
				rc = save_part(w, stream, window, &at, n,
				    extent->end, err);
		}
	}
	if (rc == HWTD_OK)
		rc = hwtdi_writer_end_stream(w, stream, err);
	hwtdi_window_destroy(window);
	return (rc);
}

bool
hwtdi_trace_is_stranger(const struct hwtdi_image *image)
{
	return (image->stranger ||
	    (image->named && !image->sparse && !image->own &&
		image->bytes != NULL &&
		!hwtdi_elf_is_program(image->bytes, image->n_bytes)));
}

/* Say which images will have no bytes. */
static void
warn_of_strangers(const struct hwtd_trace *trace, uint32_t flags)
{
	for (size_t i = 0; i < trace->n_images; i++)
		if ((flags & HWTD_SAVE_IMAGES) != 0 &&
		    hwtdi_trace_is_stranger(&trace->images[i]))
			hwtdi_log(trace->library, HWTD_LOG_WARNING, "trace",
			    "%.150s: is no ELF program, library or object; "
			    "its bytes are not saved",
			    trace->images[i].path);
}

int
hwtd_trace_save(struct hwtd_trace *trace, const char *path,
    const struct hwtd_save_options *opts, struct hwtd_error *err)
{
	struct hwtdi_writer_options wo = { 0 };
	struct hwtd_save_options o;
	struct hwtdi_writer *w;
	int rc;

	if (trace == NULL || path == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	if (!trace->sealed)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	/* It has streams without their bytes, and bytes that it should not have. */
	if (trace->sideband_only)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace was opened for its sideband only"));
	if (o.flags & ~(uint32_t)(HWTD_SAVE_IMAGES | HWTD_SAVE_ANY_FILE))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "save flags %#" PRIx32 " are not known", o.flags));
	if (trace->outside != NULL && (o.flags & HWTD_SAVE_ANY_FILE) == 0)
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "%.150s is named by the bundle and not in its folder; "
		    "only HWTD_SAVE_ANY_FILE saves it",
		    trace->outside));
	if ((o.flags & HWTD_SAVE_ANY_FILE) == 0)
		warn_of_strangers(trace, o.flags);
	if (o.chunk_bytes == 0)
		o.chunk_bytes = (uint32_t)1 << 20;
	wo.level = o.level;
	wo.chunk_bytes = o.chunk_bytes;
	rc = hwtdi_writer_create(trace->library, path, &wo, &w, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = save_tables(trace, w, o.flags, err);
	for (uint32_t i = 0; rc == HWTD_OK && i < trace->n_streams; i++)
		if (trace->streams[i]->desc.sink_plus_1 == 0)
			rc = save_stream(trace, w, i, o.chunk_bytes, err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_finish(w, err);
	hwtdi_writer_destroy(w);
	return (rc);
}
