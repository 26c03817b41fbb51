/*
 * The life of a trace, sealing it, and its tables by id.
 */
#include "trace/trace_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "trace/sink/sink.h"
#include "trace/trace_internal.h"

int
hwtdi_trace_new(struct hwtd_context *ctx, const char *format,
    struct hwtd_trace **out, struct hwtd_error *err)
{
	struct hwtd_trace *trace = hwtdi_zalloc(ctx, sizeof(*trace));
	int rc;

	if (trace == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*trace)));
	rc = hwtdi_exec_contexts_create(ctx, &trace->contexts, err);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, trace, sizeof(*trace));
		return (rc);
	}
	trace->library = hwtdi_context_hold(ctx);
	atomic_init(&trace->users, 1);
	pthread_mutex_init(&trace->shared.lock, NULL);
	trace->format = format;
	trace->file.fd = -1;
	*out = trace;
	return (HWTD_OK);
}

int
hwtdi_trace_check_text(const char *what, const char *text,
    struct hwtd_error *err)
{
	if (text != NULL && strlen(text) > HWTDI_TEXT_MAX)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%s of %zu bytes; at most %u", what, strlen(text),
		    HWTDI_TEXT_MAX));
	return (HWTD_OK);
}

int
hwtd_trace_create(struct hwtd_context *ctx,
    const struct hwtd_trace_options *opts, struct hwtd_trace **trace_out,
    struct hwtd_error *err)
{
	struct hwtd_trace_options o;
	struct hwtd_trace *trace = NULL;
	int rc;

	if (ctx == NULL || trace_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_check_text("origin", o.origin, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_new(ctx, "memory", &trace, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtdi_search_init(&trace->search, ctx, o.search, err);
	if (rc != HWTD_OK) {
		hwtd_trace_close(trace);
		return (rc);
	}
	if (o.origin != NULL) {
		trace->text.origin = hwtdi_strdup(ctx, o.origin);
		if (trace->text.origin == NULL) {
			hwtd_trace_close(trace);
			return (hwtdi_fail_nomem(err, strlen(o.origin) + 1));
		}
	}
	*trace_out = trace;
	return (HWTD_OK);
}

struct hwtd_context *
hwtdi_trace_library(const struct hwtd_trace *trace)
{
	return (trace->library);
}

struct hwtd_trace *
hwtdi_trace_hold(struct hwtd_trace *trace)
{
	atomic_fetch_add_explicit(&trace->users, 1, memory_order_relaxed);
	return (trace);
}

struct hwtdi_shared *
hwtdi_trace_shared(struct hwtd_trace *trace)
{
	return (&trace->shared);
}

void
hwtdi_trace_forget(struct hwtd_trace *trace)
{
	struct hwtdi_shared *shared = &trace->shared;

	pthread_mutex_lock(&shared->lock);
	if (shared->object != NULL)
		shared->drop(shared->object);
	shared->object = NULL;
	pthread_mutex_unlock(&shared->lock);
}

bool
hwtdi_trace_sealed(const struct hwtd_trace *trace)
{
	return (trace->sealed);
}

/* What was made for sections when it was sealed. */
static void
free_sections(struct hwtd_trace *trace)
{
	struct hwtd_context *ctx = trace->library;

	for (size_t i = 0; i < trace->n_linked; i++)
		hwtdi_free(ctx, trace->linked[i].bytes,
		    (size_t)trace->linked[i].n_bytes);
	hwtdi_array_free(ctx, trace->linked, trace->cap_linked,
	    sizeof(*trace->linked));
	hwtdi_array_free(ctx, trace->section_code, trace->cap_section_code,
	    sizeof(*trace->section_code));
	hwtdi_array_free(ctx, trace->sections, trace->cap_sections,
	    sizeof(*trace->sections));
	trace->linked = NULL;
	trace->section_code = NULL;
	trace->sections = NULL;
	trace->n_linked = trace->cap_linked = trace->cap_section_code = 0;
	trace->n_sections = trace->cap_sections = 0;
}

static void
free_image(struct hwtd_context *ctx, struct hwtdi_image *image)
{
	hwtdi_strfree(ctx, image->path);
	hwtdi_strfree(ctx, image->file);
	if (!image->borrowed)
		hwtdi_free(ctx, image->bytes, (size_t)image->n_bytes);
}

void
hwtd_trace_close(struct hwtd_trace *trace)
{
	struct hwtd_context *ctx;

	if (trace == NULL ||
	    atomic_fetch_sub_explicit(&trace->users, 1,
		memory_order_acq_rel) != 1)
		return;
	ctx = trace->library;
	hwtdi_trace_forget(trace);
	pthread_mutex_destroy(&trace->shared.lock);
	for (size_t i = 0; i < trace->n_streams; i++)
		hwtdi_stream_free(ctx, trace->streams[i]);
	hwtdi_array_free(ctx, trace->streams, trace->cap_streams,
	    sizeof(*trace->streams));
	for (size_t i = 0; i < trace->n_images; i++)
		free_image(ctx, &trace->images[i]);
	hwtdi_array_free(ctx, trace->images, trace->cap_images,
	    sizeof(*trace->images));
	for (size_t i = 0; i < trace->n_parts; i++)
		free_image(ctx, &trace->parts[i]);
	hwtdi_array_free(ctx, trace->parts, trace->cap_parts,
	    sizeof(*trace->parts));
	hwtdi_record_list_fini(ctx, &trace->records);
	hwtdi_free(ctx, trace->by_stream,
	    trace->n_damages * sizeof(*trace->by_stream));
	hwtdi_array_free(ctx, trace->damages, trace->cap_damages,
	    sizeof(*trace->damages));
	free_sections(trace);
	hwtdi_trace_space_fini(&trace->space);
	hwtdi_trace_names_fini(trace);
	hwtdi_search_fini(&trace->search, ctx);
	hwtdi_exec_contexts_destroy(trace->contexts);
	hwtdi_strfree(ctx, trace->text.origin);
	hwtdi_strfree(ctx, trace->text.abi);
	hwtdi_strfree(ctx, trace->text.cpu_model);
	hwtdi_strfree(ctx, trace->text.clock);
	hwtdi_strfree(ctx, trace->text.release);
	hwtdi_strfree(ctx, trace->text.capture);
	for (size_t i = 0; i < trace->n_side_files; i++)
		hwtdi_strfree(ctx, trace->side_files[i]);
	hwtdi_array_free(ctx, trace->side_files, trace->cap_side_files,
	    sizeof(*trace->side_files));
	hwtdi_strfree(ctx, trace->file.path);
	if (trace->file.fd >= 0)
		(void)close(trace->file.fd);
	for (size_t i = 0; i < trace->n_more_files; i++) {
		hwtdi_strfree(ctx, trace->more_files[i].path);
		(void)close(trace->more_files[i].fd);
	}
	hwtdi_array_free(ctx, trace->more_files, trace->cap_more_files,
	    sizeof(*trace->more_files));
	hwtdi_free(ctx, trace, sizeof(*trace));
	hwtd_context_destroy(ctx);
}

int
hwtdi_trace_no_room(const struct hwtd_context *ctx, uint64_t bytes,
    struct hwtd_error *err)
{
	uint64_t now = atomic_load(&ctx->memory);

	if (now > ctx->max_memory || bytes > ctx->max_memory - now)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "%" PRIu64 " bytes more are over max_memory %" PRIu64,
		    bytes, ctx->max_memory));
	return (hwtdi_fail_nomem(err, (size_t)bytes));
}

/* Give up the images that were added for records. */
static void
forget_named(struct hwtd_trace *trace, size_t n_images)
{
	while (trace->n_images > n_images)
		free_image(trace->library, &trace->images[--trace->n_images]);
	free_sections(trace);
}

static int
by_stream_and_first(const void *a, const void *b)
{
	const struct hwtd_damage *x = *(struct hwtd_damage *const *)a;
	const struct hwtd_damage *y = *(struct hwtd_damage *const *)b;

	if (x->stream != y->stream)
		return (x->stream < y->stream ? -1 : 1);
	if (x->first != y->first)
		return (x->first < y->first ? -1 : 1);
	return (x < y ? -1 : x > y);
}

static int
sort_damages(struct hwtd_trace *trace, struct hwtd_error *err)
{
	const size_t bytes = trace->n_damages * sizeof(*trace->by_stream);

	if (trace->n_damages == 0)
		return (HWTD_OK);
	trace->by_stream = hwtdi_alloc(trace->library, bytes);
	if (trace->by_stream == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	for (size_t i = 0; i < trace->n_damages; i++)
		trace->by_stream[i] = &trace->damages[i];
	qsort(trace->by_stream, trace->n_damages, sizeof(*trace->by_stream),
	    by_stream_and_first);
	return (HWTD_OK);
}

const struct hwtd_damage *
hwtdi_trace_find_damage(const struct hwtd_trace *trace, uint32_t stream,
    uint64_t first)
{
	size_t low = 0, high = trace->n_damages;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct hwtd_damage *d = trace->by_stream[middle];

		if (d->stream < stream ||
		    (d->stream == stream && d->first < first))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == trace->n_damages ||
	    trace->by_stream[low]->stream != stream ||
	    trace->by_stream[low]->first != first)
		return (NULL);
	return (trace->by_stream[low]);
}

int
hwtd_trace_seal(struct hwtd_trace *trace, struct hwtd_error *err)
{
	size_t n_images;
	int rc = HWTD_OK;

	if (trace == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "trace is NULL"));
	if (trace->sealed)
		return (hwtdi_fail(err, HWTD_E_STATE, "the trace is sealed"));
	for (size_t i = 0; rc == HWTD_OK && i < trace->n_streams; i++)
		rc = hwtdi_stream_finish(trace->library, trace->streams[i],
		    err);
	if (rc != HWTD_OK)
		return (rc);
	n_images = trace->n_images;
	rc = trace->sideband_only ? HWTD_OK : hwtdi_sinks_read(trace, err);
	if (rc != HWTD_OK)
		return (rc);
	rc = sort_damages(trace, err);
	if (rc != HWTD_OK) {
		hwtdi_sinks_forget(trace);
		return (rc);
	}
	rc = hwtdi_trace_names_build(trace, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_space_build(trace, &trace->space, err);
	if (rc != HWTD_OK) {
		forget_named(trace, n_images);
		hwtdi_sinks_forget(trace);
		hwtdi_free(trace->library, trace->by_stream,
		    trace->n_damages * sizeof(*trace->by_stream));
		trace->by_stream = NULL;
		return (rc);
	}
	trace->sealed = true;
	return (HWTD_OK);
}

static const char *
text_or_nothing(const char *text)
{
	return (text != NULL ? text : "");
}

int
hwtd_trace_info(const struct hwtd_trace *trace, struct hwtd_trace_info *out)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	info.n_streams = (uint32_t)trace->n_streams;
	info.n_sections = (uint32_t)trace->n_sections;
	info.n_images = (uint32_t)trace->n_images;
	info.n_damages = (uint32_t)trace->n_damages;
	info.n_records = trace->records.n;
	for (size_t i = 0; i < trace->n_streams; i++)
		if (trace->streams[i]->desc.sink_plus_1 == 0)
			info.n_bytes += trace->streams[i]->end;
	info.format = trace->format;
	info.origin = text_or_nothing(trace->text.origin);
	info.abi = text_or_nothing(trace->text.abi);
	info.cpu_model = text_or_nothing(trace->text.cpu_model);
	info.clock = text_or_nothing(trace->text.clock);
	info.capture = text_or_nothing(trace->text.capture);
	return (hwtdi_result_copy(out, &info, sizeof(info)));
}

int
hwtd_trace_record(const struct hwtd_trace *trace, uint64_t index,
    struct hwtd_record *out)
{
	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (index >= trace->records.n)
		return (HWTD_E_NOT_FOUND);
	return (hwtdi_result_copy(out, &trace->records.records[index],
	    sizeof(*out)));
}

const size_t *
hwtdi_trace_record_order(const struct hwtd_trace *trace, size_t *n_out)
{
	return (hwtdi_position_order(trace->space.positions, n_out));
}

int
hwtd_trace_section(const struct hwtd_trace *trace, uint32_t section,
    struct hwtd_section *out)
{
	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (section >= trace->n_sections)
		return (HWTD_E_NOT_FOUND);
	return (hwtdi_result_copy(out, &trace->sections[section],
	    sizeof(*out)));
}

const char *
hwtd_trace_file(const struct hwtd_trace *trace, size_t index)
{
	if (trace == NULL)
		return (NULL);
	if (index == 0)
		return (trace->file.path);
	return (index - 1 < trace->n_side_files ? trace->side_files[index - 1]
						: NULL);
}

int
hwtdi_trace_intern_context(struct hwtd_trace *trace,
    const struct hwtd_exec_context *context, uint32_t *id_out,
    struct hwtd_error *err)
{
	return (hwtdi_exec_contexts_intern(trace->contexts, context, id_out,
	    err));
}

int
hwtd_trace_exec_context(const struct hwtd_trace *trace, uint32_t context,
    struct hwtd_exec_context *out)
{
	struct hwtd_exec_context row;

	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (!hwtdi_exec_contexts_get(trace->contexts, context, &row))
		return (HWTD_E_NOT_FOUND);
	return (hwtdi_result_copy(out, &row, sizeof(row)));
}

int
hwtd_trace_damage(const struct hwtd_trace *trace, size_t index,
    struct hwtd_damage *out)
{
	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	if (index >= trace->n_damages)
		return (HWTD_END);
	return (hwtdi_result_copy(out, &trace->damages[index], sizeof(*out)));
}

int
hwtdi_trace_add_damage(struct hwtd_trace *trace,
    const struct hwtd_damage *damage, struct hwtd_error *err)
{
	struct hwtd_damage *d;
	int rc;

	if (trace->n_damages == HWTDI_MAX_DAMAGES)
		return (HWTD_OK);
	rc = hwtdi_array_grow(trace->library, &trace->damages,
	    &trace->cap_damages, trace->n_damages + 1, sizeof(*trace->damages),
	    err);
	if (rc != HWTD_OK)
		return (rc);
	d = &trace->damages[trace->n_damages++];
	if (trace->n_damages < HWTDI_MAX_DAMAGES) {
		*d = *damage;
		return (HWTD_OK);
	}
	memset(d, 0, sizeof(*d));
	d->size = sizeof(*d);
	d->file_off = damage->file_off;
	d->flags = damage->flags | HWTD_DAMAGEF_MORE;
	d->stream = HWTD_NO_ID;
	(void)snprintf(d->text, sizeof(d->text),
	    "more than %u damaged places: others are not listed",
	    HWTDI_MAX_DAMAGES - 1);
	return (HWTD_OK);
}

int
hwtdi_trace_note_damage(struct hwtd_trace *trace, uint64_t file_off,
    uint64_t file_bytes, uint32_t stream, uint64_t first, uint64_t end,
    struct hwtd_error *err, const char *fmt, ...)
{
	struct hwtd_damage d = {
		.size = sizeof(d),
		.stream = stream,
		.first = first,
		.end = end,
	};
	va_list ap;

	/* What a chunk claims to have may not be there. */
	if (file_off > trace->file.size)
		file_off = trace->file.size;
	if (file_bytes > trace->file.size - file_off)
		file_bytes = trace->file.size - file_off;
	d.file_off = file_off;
	d.file_bytes = file_bytes;
	va_start(ap, fmt);
	(void)vsnprintf(d.text, sizeof(d.text), fmt, ap);
	va_end(ap);
	return (hwtdi_trace_add_damage(trace, &d, err));
}

void
hwtdi_trace_image_source(const struct hwtd_trace *trace, size_t image,
    struct hwtdi_image_source *out)
{
	const struct hwtdi_image *held = &trace->images[image];

	memset(out, 0, sizeof(*out));
	out->name = held->path;
	if (held->bytes != NULL && held->offset == 0) {
		out->bytes = held->bytes;
		out->n_bytes = held->n_bytes;
	}
	/* A file that is not the right one is of no use. */
	if (held->state == HWTD_IMAGE_MISMATCH)
		return;
	out->path = held->file != NULL ? held->file
	    : held->from_file	       ? held->path
				       : NULL;
}
