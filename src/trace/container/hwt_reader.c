/*
 * Reading .hwt files into a trace: what each chunk says, and what is wrong.
 */
#include "trace/container/hwt_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/hash.h"
#include "trace/container/hwt_fields.h"

static uint64_t
chunk_bytes(const struct hwtdi_hwt_header *h)
{
	return (HWTDI_HWT_HEADER_SIZE + (uint64_t)h->stored_size);
}

int
hwtdi_hwt_refuse(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    const char *what, struct hwtd_error *err)
{
	return (hwtdi_trace_note_damage(r->trace, h->file_off, chunk_bytes(h),
	    HWTD_NO_ID, 0, 0, err, "%s", what));
}

int
hwtdi_hwt_refuse_for(struct hwtdi_hwt_reader *r,
    const struct hwtdi_hwt_header *h, const struct hwtd_error *inner,
    struct hwtd_error *err)
{
	if (inner->code != HWTD_E_CORRUPT && inner->code != HWTD_E_INVALID)
		return (hwtdi_fail_pass(err, inner));
	return (hwtdi_hwt_refuse(r, h, inner->message, err));
}

int
hwtdi_hwt_take_payload(struct hwtdi_hwt_reader *r,
    const struct hwtdi_hwt_header *h, struct hwtdi_bytes *out, bool *ok_out,
    struct hwtd_error *err)
{
	const struct hwtdi_hwt_kept before = r->kept;
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc = hwtdi_hwt_keep(&r->kept, h, r->trace->library, err);

	/* A file of many small bombs ends here. */
	if (rc != HWTD_OK)
		return (rc);
	*ok_out = false;
	if (!hwtdi_hwt_kept_fits(&r->kept, r->trace->file.size)) {
		r->kept = before;
		return (hwtdi_hwt_refuse(r, h,
		    "unpacks to more than a file of this size can hold", err));
	}
	*ok_out = hwtdi_hwt_unpack(&r->unpacker, &r->trace->file, h, &inner) ==
	    HWTD_OK;
	if (!*ok_out)
		return (hwtdi_hwt_refuse_for(r, h, &inner, err));
	out->at = r->unpacker.raw;
	out->left = h->raw_size;
	out->bad = false;
	return (HWTD_OK);
}

static int
accept_meta(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_context *ctx = r->trace->library;
	struct hwtdi_trace_text *text = &r->trace->text;
	struct hwtdi_hwt_field f;
	struct hwtdi_bytes from;
	bool ok;
	int rc;

	rc = hwtdi_hwt_take_payload(r, h, &from, &ok, err);
	if (rc != HWTD_OK || !ok)
		return (rc);
	while ((rc = hwtdi_hwt_get_field(&from, &f, &inner)) == HWTD_OK) {
		if (f.tag == HWTDI_HWT_META_ORIGIN)
			rc = hwtdi_hwt_get_text(ctx, &f, &text->origin,
			    &inner);
		else if (f.tag == HWTDI_HWT_META_ABI)
			rc = hwtdi_hwt_get_text(ctx, &f, &text->abi, &inner);
		else if (f.tag == HWTDI_HWT_META_CPU_MODEL)
			rc = hwtdi_hwt_get_text(ctx, &f, &text->cpu_model,
			    &inner);
		else if (f.tag == HWTDI_HWT_META_CLOCK)
			rc = hwtdi_hwt_get_text(ctx, &f, &text->clock, &inner);
		else if (f.tag == HWTDI_HWT_META_RELEASE)
			rc = hwtdi_hwt_get_text(ctx, &f, &text->release,
			    &inner);
		else if (f.tag == HWTDI_HWT_META_CAPTURE)
			rc = hwtdi_hwt_get_text(ctx, &f, &text->capture,
			    &inner);
		if (rc != HWTD_OK)
			break;
	}
	return (rc == HWTD_END ? HWTD_OK
			       : hwtdi_hwt_refuse_for(r, h, &inner, err));
}

/* Streams that are named but not described, so that ids stay true. */
static int
lost_streams(struct hwtdi_hwt_reader *r, uint32_t up_to,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
	};
	uint32_t id;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && r->trace->n_streams < up_to) {
		rc = hwtd_trace_add_stream(r->trace, &desc, &id, err);
		if (rc == HWTD_OK)
			r->trace->streams[id]->undescribed = true;
	}
	return (rc);
}

/* Whether `id` can be that of a stream; notes it if not. */
static int
check_stream_id(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    bool *ok_out, struct hwtd_error *err)
{
	*ok_out = true;
	if (h->id >= HWTDI_MAX_STREAMS)
		return (hwtdi_fail_at(err, HWTD_E_LIMIT, h->file_off,
		    "chunk at %" PRIu64 " names stream %" PRIu32
		    "; a file may have %u",
		    h->file_off, h->id, HWTDI_MAX_STREAMS));
	if (h->id <= r->trace->n_streams + HWTDI_HWT_MAX_LOST_IDS)
		return (HWTD_OK);
	*ok_out = false;
	return (hwtdi_hwt_refuse(r, h,
	    "stream id is far beyond the streams described", err));
}

/* What a newer minor version knows is unknown here. */
static void
forget_newer(struct hwtdi_hwt_stream *stream)
{
	struct hwtd_coresight_config *c = &stream->coresight;

	if (stream->desc.tech > HWTD_TECH_SPE)
		stream->desc.tech = HWTD_TECH_UNKNOWN;
	stream->desc.flags &= HWTD_STREAMF_CLOCK_DERIVED;
	if (stream->desc.spe != NULL && stream->spe.owner > HWTD_SPE_OWNER_CPU)
		stream->spe.owner = HWTD_SPE_OWNER_UNKNOWN;
	if (stream->desc.coresight == NULL)
		return;
	if (c->protocol > HWTD_CS_ITM)
		c->protocol = HWTD_CS_UNKNOWN;
	if (c->arch > HWTD_ARM_ARCH_V8_3)
		c->arch = HWTD_ARM_ARCH_UNKNOWN;
}

static int
accept_stream(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_context *ctx = r->trace->library;
	struct hwtdi_hwt_stream stream;
	struct hwtdi_bytes from;
	char *name = NULL;
	uint32_t id;
	bool ok;
	int rc;

	rc = check_stream_id(r, h, &ok, err);
	if (rc != HWTD_OK || !ok)
		return (rc);
	if (h->id < r->trace->n_streams)
		return (hwtdi_hwt_refuse(r, h, "stream is described twice",
		    err));
	rc = lost_streams(r, h->id, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_take_payload(r, h, &from, &ok, err);
	if (rc != HWTD_OK)
		return (rc);
	if (!ok)
		return (lost_streams(r, h->id + 1, err));
	rc = hwtdi_hwt_get_stream(ctx, from, &stream, &name, &inner);
	if (rc == HWTD_OK) {
		forget_newer(&stream);
		rc = hwtd_trace_add_stream(r->trace, &stream.desc, &id,
		    &inner);
		hwtdi_strfree(ctx, name);
	}
	if (rc == HWTD_OK)
		return (HWTD_OK);
	rc = hwtdi_hwt_refuse_for(r, h, &inner, err);
	if (rc == HWTD_OK)
		rc = lost_streams(r, h->id + 1, err);
	return (rc);
}

/* Where in the file the last stretch of a stream ends; 0 if there is none. */
static uint64_t
stream_file_end(const struct hwtdi_stream *s)
{
	const struct hwtdi_stretch *last;

	if (s->n_stretches == 0)
		return (0);
	last = &s->stretches[s->n_stretches - 1];
	return (last->at.file_off + HWTDI_HWT_HEADER_SIZE + last->room);
}

/*
 * Say that bytes before a chunk are missing: with the damage of the file that
 * lies between the chunk and the one before it, if there is one.
 */
static int
note_hole(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    const struct hwtdi_stream *s, struct hwtd_error *err)
{
	const uint64_t after = stream_file_end(s);
	struct hwtd_trace *trace = r->trace;

	for (size_t i = trace->n_damages; i-- > r->own_from;) {
		struct hwtd_damage *d = &trace->damages[i];

		/* They are noted in the order of the file. */
		if (d->file_off < after)
			break;
		if (d->file_off >= h->file_off || d->file_bytes == 0)
			continue;
		if (d->stream == HWTD_NO_ID) {
			d->stream = h->id;
			d->first = s->end;
			d->end = h->position;
			return (HWTD_OK);
		}
		return (hwtdi_trace_note_damage(trace, d->file_off,
		    d->file_bytes, h->id, s->end, h->position, err,
		    "chunk is damaged"));
	}
	return (hwtdi_trace_note_damage(trace, h->file_off, 0, h->id, s->end,
	    h->position, err,
	    (h->detail >> HWTDI_HWT_WHY_SHIFT & 0xff) ==
		    HWTD_EXTENT_AFTER_DAMAGE
		? "bytes were missing when the file was written"
		: "bytes before this chunk are missing"));
}

static int
accept_data(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    struct hwtd_error *err)
{
	struct hwtdi_stretch stretch = {
		.start = h->position,
		.length = h->raw_size,
		.at.file_off = h->file_off,
		.room = h->stored_size,
		.kind = HWTDI_STRETCH_CHUNK,
	};
	uint32_t why = h->detail >> HWTDI_HWT_WHY_SHIFT & 0xff;
	struct hwtdi_bytes nothing;
	struct hwtdi_stream *s;
	bool ok;
	int rc;

	rc = check_stream_id(r, h, &ok, err);
	if (rc != HWTD_OK || !ok)
		return (rc);
	if (h->id >= r->trace->n_streams && hwtdi_hwt_n_own_damages(r) == 0) {
		rc = hwtdi_trace_note_damage(r->trace, h->file_off, 0,
		    HWTD_NO_ID, 0, 0, err,
		    "stream %" PRIu32 " is not described", h->id);
		if (rc != HWTD_OK)
			return (rc);
	}
	rc = lost_streams(r, h->id + 1, err);
	if (rc != HWTD_OK)
		return (rc);
	s = r->trace->streams[h->id];
	if (s->desc.sink_plus_1 != 0)
		return (hwtdi_hwt_refuse(r, h,
		    "the stream has the bytes of its sink", err));
	if (h->position < s->end)
		return (hwtdi_hwt_refuse(r, h, "stream offsets go back", err));
	if (h->position > (uint64_t)INT64_MAX - h->raw_size)
		return (hwtdi_hwt_refuse(r, h, "stream offset is out of reach",
		    err));
	if (h->raw_size == 0) {
		/* There will be no reading that could notice damage. */
		rc = hwtdi_hwt_take_payload(r, h, &nothing, &ok, err);
		if (rc != HWTD_OK || !ok)
			return (rc);
	}
	if (h->position > s->end) {
		rc = note_hole(r, h, s, err);
		if (rc != HWTD_OK)
			return (rc);
		why = HWTD_EXTENT_AFTER_DAMAGE;
	} else if ((h->detail & HWTDI_HWT_EXTENT) == 0) {
		why = HWTD_EXTENT_NEW;
	} else if (why > HWTD_EXTENT_AFTER_DAMAGE) {
		/* A newer reason; at least bytes do not adjoin. */
		why = HWTD_EXTENT_AFTER_LOSS;
	}
	if (h->raw_size == 0 && why == HWTD_EXTENT_NEW)
		return (HWTD_OK);
	if (h->raw_size == 0)
		return (hwtdi_stream_empty(r->trace->library, s, h->position,
		    why, err));
	if (h->detail & HWTDI_HWT_EXTENT)
		hwtdi_stream_break(s, why);
	return (hwtdi_stream_place(r->trace->library, s, &stretch, err));
}

/* Streams and images of the trace instead of those of the file. */
static void
translate_ids(const struct hwtdi_hwt_reader *r, struct hwtd_record *record,
    bool *bad)
{
	if (record->stream != HWTD_NO_ID &&
	    record->stream >= r->trace->n_streams) {
		record->stream = HWTD_NO_ID;
		*bad = true;
	}
	if (record->image != HWTD_NO_ID) {
		record->image = hwtdi_hwt_image_of(r, record->image);
		*bad = *bad || record->image == HWTD_NO_ID;
	}
}

/* All records of a chunk, or only a check that they are well formed. */
static int
take_records(struct hwtdi_hwt_reader *r, struct hwtdi_bytes from, bool add,
    bool *bad_ids, struct hwtd_error *err)
{
	struct hwtd_context *ctx = r->trace->library;
	struct hwtd_record record;
	char *name;
	int rc;

	while ((rc = hwtdi_hwt_get_record(ctx, &from, &record, &name, err)) ==
	    HWTD_OK) {
		if (add) {
			translate_ids(r, &record, bad_ids);
			record.name = name;
			rc = hwtdi_record_list_add(ctx, &r->trace->records,
			    &record, err);
			r->next_record++;
			if (rc == HWTD_OK)
				rc = hwtdi_poll_each(ctx, r->next_record, err);
		}
		hwtdi_strfree(ctx, name);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
accept_records(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_bytes from;
	bool bad_ids = false;
	bool ok;
	int rc;

	if (h->position < r->next_record)
		return (hwtdi_hwt_refuse(r, h, "record numbers go back", err));
	rc = hwtdi_hwt_take_payload(r, h, &from, &ok, err);
	if (rc != HWTD_OK || !ok)
		return (rc);
	/* Either the whole chunk or nothing. */
	rc = take_records(r, from, false, &bad_ids, &inner);
	if (rc != HWTD_OK)
		return (hwtdi_hwt_refuse_for(r, h, &inner, err));
	r->next_record = h->position;
	rc = take_records(r, from, true, &bad_ids, err);
	if (rc == HWTD_OK && bad_ids)
		rc = hwtdi_hwt_refuse(r, h,
		    "records name streams or images that are "
		    "not in the file",
		    err);
	return (rc);
}

/* All damages of a chunk, or only a check that they are well formed. */
static int
take_damages(struct hwtdi_hwt_reader *r, struct hwtdi_bytes from, bool add,
    bool *bad_ids, struct hwtd_error *err)
{
	struct hwtd_trace *trace = r->trace;
	struct hwtd_damage d;
	int rc;

	while ((rc = hwtdi_hwt_get_damage(&from, &d, err)) == HWTD_OK) {
		if (!add)
			continue;
		r->next_damage++;
		if (d.stream != HWTD_NO_ID && d.stream >= trace->n_streams) {
			d.stream = HWTD_NO_ID;
			d.first = d.end = 0;
			*bad_ids = true;
		}
		if ((d.flags & HWTD_DAMAGEF_MORE) != 0) {
			r->has_more = true;
			r->more = d;
			continue;
		}
		rc = hwtdi_trace_add_damage(trace, &d, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
accept_damages(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	const size_t before = r->trace->n_damages;
	struct hwtdi_bytes from;
	bool bad_ids = false;
	bool ok;
	int rc;

	if (h->position < r->next_damage)
		return (hwtdi_hwt_refuse(r, h, "damage numbers go back", err));
	rc = hwtdi_hwt_take_payload(r, h, &from, &ok, err);
	if (rc != HWTD_OK || !ok)
		return (rc);
	/* Either the whole chunk or nothing. */
	rc = take_damages(r, from, false, &bad_ids, &inner);
	if (rc != HWTD_OK)
		return (hwtdi_hwt_refuse_for(r, h, &inner, err));
	r->next_damage = h->position;
	rc = take_damages(r, from, true, &bad_ids, err);
	r->n_earlier += r->trace->n_damages - before;
	r->own_from = r->trace->n_damages;
	if (rc == HWTD_OK && bad_ids)
		rc = hwtdi_hwt_refuse(r, h,
		    "damages name streams that are not in the file", err);
	return (rc);
}

int
hwtdi_hwt_accept(struct hwtdi_hwt_reader *r, const struct hwtdi_hwt_header *h,
    struct hwtd_error *err)
{
	switch (h->type) {
	case HWTDI_HWT_META:
		return (accept_meta(r, h, err));
	case HWTDI_HWT_STREAM:
		return (accept_stream(r, h, err));
	case HWTDI_HWT_DATA:
		return (accept_data(r, h, err));
	case HWTDI_HWT_RECORDS:
		return (accept_records(r, h, err));
	case HWTDI_HWT_DAMAGE:
		return (accept_damages(r, h, err));
	case HWTDI_HWT_IMAGE:
		return (hwtdi_hwt_accept_image(r, h, err));
	case HWTDI_HWT_IMAGE_DATA:
		return (hwtdi_hwt_accept_image_data(r, h, err));
	case HWTDI_HWT_INDEX:
	case HWTDI_HWT_END:
		return (hwtdi_hwt_refuse(r, h,
		    "index before the end of the file", err));
	default:
		if (h->flags & HWTDI_HWT_CRITICAL)
			return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED,
			    h->file_off,
			    "chunk at %" PRIu64 " is of type %u, which must "
			    "be understood; use a newer version",
			    h->file_off, h->type));
		hwtdi_log(r->trace->library, HWTD_LOG_INFO, "trace",
		    "skipped chunk of type %u at %" PRIu64, h->type,
		    h->file_off);
		return (HWTD_OK);
	}
}

static void
apply_spe(struct hwtdi_stream *s, const struct hwtd_spe_config *spe)
{
	if (s->desc.tech != HWTD_TECH_SPE)
		return;
	if (!s->has_spe)
		s->spe.size = sizeof(s->spe);
	s->has_spe = true;
	if (s->spe.midr == 0)
		s->spe.midr = spe->midr;
	if (s->spe.version == 0)
		s->spe.version = spe->version;
	if (s->spe.owner == HWTD_SPE_OWNER_UNKNOWN)
		s->spe.owner = spe->owner;
	if (s->spe.counter_bits == 0)
		s->spe.counter_bits = spe->counter_bits;
	if (s->spe.interval == 0)
		s->spe.interval = spe->interval;
}

/* What streams lack, configuration or clock, they get from the options. */
static void
apply_options(struct hwtd_trace *trace, const struct hwtd_pt_config *pt,
    const struct hwtd_spe_config *spe, const struct hwtd_clock *clock)
{
	for (size_t i = 0; i < trace->n_streams; i++) {
		struct hwtdi_stream *s = trace->streams[i];

		if (spe != NULL)
			apply_spe(s, spe);
		if (clock->counts_per != 0 && s->desc.clock.counts_per == 0)
			s->desc.clock = *clock;
		if (pt == NULL || s->has_pt ||
		    s->desc.tech != HWTD_TECH_INTEL_PT)
			continue;
		s->pt = *pt;
		s->has_pt = true;
		if (s->desc.clock.counts_per == 0 &&
		    hwtdi_pt_config_clock(pt, &s->desc.clock))
			s->desc.flags |= HWTD_STREAMF_CLOCK_DERIVED;
	}
}

static int
read_file_header(struct hwtd_trace *trace, struct hwtd_error *err)
{
	uint8_t h[HWTDI_HWT_FILE_HEADER_SIZE];
	unsigned int major;
	int rc;

	if (trace->file.size < sizeof(h))
		return (HWTD_OK);
	rc = hwtdi_trace_file_read(&trace->file, 0, h, sizeof(h), err);
	if (rc != HWTD_OK)
		return (rc);
	if (memcmp(h, HWTDI_HWT_MAGIC, HWTDI_HWT_MAGIC_SIZE) != 0 ||
	    hwtdi_le(h + 24, 8) != hwtdi_checksum(h, 24))
		return (hwtdi_trace_note_damage(trace, 0, sizeof(h),
		    HWTD_NO_ID, 0, 0, err, "file header is damaged"));
	major = (unsigned int)hwtdi_le(h + 8, 2);
	if (major != HWTDI_HWT_MAJOR)
		return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED, 8,
		    "version %u of the format; this library reads %d", major,
		    HWTDI_HWT_MAJOR));
	return (HWTD_OK);
}

int
hwtdi_hwt_recognize(const struct hwtd_trace *trace, bool *is_out,
    struct hwtd_error *err)
{
	uint8_t magic[HWTDI_HWT_MAGIC_SIZE];
	struct hwtdi_hwt_header h;
	int rc;

	*is_out = false;
	if (trace->file.size < sizeof(magic))
		return (HWTD_OK);
	rc = hwtdi_trace_file_read(&trace->file, 0, magic, sizeof(magic), err);
	if (rc != HWTD_OK)
		return (rc);
	*is_out = memcmp(magic, HWTDI_HWT_MAGIC, sizeof(magic)) == 0;
	if (*is_out)
		return (HWTD_OK);
	return (hwtdi_hwt_read_header(&trace->file, HWTDI_HWT_FILE_HEADER_SIZE,
	    &h, is_out, err));
}

/* Damage behind the last bytes of a stream is a part of the stream. */
static int
end_with_damage(struct hwtd_trace *trace, struct hwtd_error *err)
{
	for (size_t i = 0; i < trace->n_damages; i++) {
		const struct hwtd_damage *d = &trace->damages[i];
		struct hwtdi_stream *stream;
		int rc;

		/* What is no hole may be told of any byte. */
		if (d->stream >= trace->n_streams || d->first == d->end)
			continue;
		stream = trace->streams[d->stream];
		if (d->end <= stream->end)
			continue;
		rc = hwtdi_stream_empty(trace->library, stream, d->end,
		    HWTD_EXTENT_AFTER_DAMAGE, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

int
hwtdi_hwt_read(struct hwtd_trace *trace, const struct hwtd_open_options *opts,
    struct hwtd_error *err)
{
	struct hwtdi_hwt_reader r = { .trace = trace };
	struct hwtd_pt_config pt;
	struct hwtd_spe_config spe;
	bool done = false;
	int rc;

	trace->format = "hwt";
	rc = hwtdi_options_copy(&pt, sizeof(pt), opts->pt, err);
	if (rc == HWTD_OK)
		rc = hwtdi_spe_config_copy(&spe, opts->spe, err);
	if (rc == HWTD_OK)
		rc = read_file_header(trace, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_hwt_unpacker_init(&r.unpacker, trace->library);
	rc = hwtdi_hwt_read_index(&r, &done, err);
	if (rc == HWTD_OK && !done)
		rc = hwtdi_hwt_scan(&r, err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_finish_images(&r, err);
	if (rc == HWTD_OK)
		rc = end_with_damage(trace, err);
	if (rc == HWTD_OK && r.has_more)
		rc = hwtdi_trace_add_damage(trace, &r.more, err);
	hwtdi_hwt_drop_images(&r);
	hwtdi_hwt_unpacker_fini(&r.unpacker);
	if (rc == HWTD_OK)
		apply_options(trace, opts->pt != NULL ? &pt : NULL,
		    opts->spe != NULL ? &spe : NULL, &opts->clock);
	return (rc);
}
