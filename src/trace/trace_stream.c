/*
 * Streams of a trace: stretches of bytes, and the extents over them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "trace/sink/sink.h"
#include "trace/trace_internal.h"

struct hwtdi_stream *
hwtdi_trace_stream_at(const struct hwtd_trace *trace, uint32_t stream)
{
	return (stream < trace->n_streams ? trace->streams[stream] : NULL);
}

void
hwtdi_stream_break(struct hwtdi_stream *stream, uint32_t why)
{
	if (!stream->pending || why > stream->pending_why)
		stream->pending_why = why;
	stream->pending = true;
}

/* Room for one extent more. */
static int
reserve_extent(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    struct hwtd_error *err)
{
	return (hwtdi_array_grow(ctx, &stream->extents, &stream->cap_extents,
	    stream->n_extents + 1, sizeof(*stream->extents), err));
}

static void
push_extent(struct hwtdi_stream *stream, uint64_t start, uint32_t why)
{
	struct hwtd_extent *extent = &stream->extents[stream->n_extents++];

	memset(extent, 0, sizeof(*extent));
	extent->size = sizeof(*extent);
	extent->start = start;
	extent->end = start;
	extent->why = why;
	stream->pending = false;
	stream->pending_why = HWTD_EXTENT_NEW;
}

int
hwtdi_stream_place(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    const struct hwtdi_stretch *stretch, struct hwtd_error *err)
{
	const bool hole = stretch->start > stream->end;
	uint32_t why = stream->pending ? stream->pending_why : HWTD_EXTENT_NEW;
	int rc;

	rc = hwtdi_array_grow(ctx, &stream->stretches, &stream->cap_stretches,
	    stream->n_stretches + 1, sizeof(*stream->stretches), err);
	if (rc == HWTD_OK)
		rc = reserve_extent(ctx, stream, err);
	if (rc != HWTD_OK)
		return (rc);
	if (hole)
		why = HWTD_EXTENT_AFTER_DAMAGE;
	if (hole || stream->pending || stream->n_extents == 0)
		push_extent(stream, stretch->start, why);
	stream->stretches[stream->n_stretches++] = *stretch;
	stream->end = stretch->start + stretch->length;
	stream->extents[stream->n_extents - 1].end = stream->end;
	return (HWTD_OK);
}

int
hwtdi_stream_empty(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    uint64_t start, uint32_t why, struct hwtd_error *err)
{
	int rc = reserve_extent(ctx, stream, err);

	if (rc != HWTD_OK)
		return (rc);
	push_extent(stream, start, why);
	stream->end = start;
	return (HWTD_OK);
}

int
hwtdi_stream_finish(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    struct hwtd_error *err)
{
	if (!stream->pending || stream->pending_why == HWTD_EXTENT_NEW)
		return (HWTD_OK);
	return (hwtdi_stream_empty(ctx, stream, stream->end,
	    stream->pending_why, err));
}

void
hwtdi_stream_clear(struct hwtd_context *ctx, struct hwtdi_stream *stream)
{
	for (size_t i = 0; i < stream->n_stretches; i++)
		if (stream->stretches[i].kind == HWTDI_STRETCH_MEMORY)
			hwtdi_free(ctx, stream->stretches[i].at.memory,
			    stream->stretches[i].room);
	hwtdi_array_free(ctx, stream->stretches, stream->cap_stretches,
	    sizeof(*stream->stretches));
	hwtdi_array_free(ctx, stream->extents, stream->cap_extents,
	    sizeof(*stream->extents));
	stream->stretches = NULL;
	stream->extents = NULL;
	stream->n_stretches = stream->cap_stretches = 0;
	stream->n_extents = stream->cap_extents = 0;
	stream->end = 0;
	stream->pending = false;
	stream->pending_why = HWTD_EXTENT_NEW;
}

void
hwtdi_stream_free(struct hwtd_context *ctx, struct hwtdi_stream *stream)
{
	if (stream == NULL)
		return;
	hwtdi_stream_clear(ctx, stream);
	hwtdi_sink_destroy(ctx, stream->sink);
	hwtdi_strfree(ctx, stream->name);
	hwtdi_free(ctx, stream, sizeof(*stream));
}

size_t
hwtdi_stream_stretch(const struct hwtdi_stream *stream, uint64_t off)
{
	size_t low = 0, high = stream->n_stretches;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct hwtdi_stretch *stretch = &stream->stretches[mid];

		if (stretch->start + stretch->length <= off)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < stream->n_stretches && stream->stretches[low].start > off)
		return (stream->n_stretches);
	return (low);
}

size_t
hwtdi_stream_extent(const struct hwtdi_stream *stream, uint64_t off)
{
	size_t low = 0, high = stream->n_extents;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (stream->extents[mid].end <= off)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < stream->n_extents && stream->extents[low].start > off)
		return (stream->n_extents);
	return (low);
}

/*
 * With the crystal's ratio alone the frequency is not known; the nominal
 * frequency is that of the TSC, in steps of 100 MHz: nom_freq counts in 10 ns.
 */
bool
hwtdi_pt_config_clock(const struct hwtd_pt_config *pt, struct hwtd_clock *out)
{
	if (pt->nom_freq == 0)
		return (false);
	memset(out, 0, sizeof(*out));
	out->counts_per = pt->nom_freq;
	out->ns_per = 10;
	return (true);
}

static int
check_desc(const struct hwtd_stream_desc *desc, struct hwtd_error *err)
{
	if (desc->tech > HWTD_TECH_SPE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "technology %" PRIu32 " is not known", desc->tech));
	if (desc->flags & ~(uint32_t)HWTD_STREAMF_CLOCK_DERIVED)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "stream flags %#" PRIx32 " are not known", desc->flags));
	if (desc->clock.counts_per != 0 && desc->clock.ns_per == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "clock with %" PRIu64 " counts in 0 ns",
		    desc->clock.counts_per));
	return (HWTD_OK);
}

static int
fill_coresight(struct hwtdi_stream *stream,
    const struct hwtd_coresight_config *from, struct hwtd_error *err)
{
	struct hwtd_coresight_config *c = &stream->coresight;
	int rc;

	stream->desc.coresight = NULL;
	if (from == NULL)
		return (HWTD_OK);
	rc = hwtdi_options_copy(c, sizeof(*c), from, err);
	if (rc != HWTD_OK)
		return (rc);
	if (c->protocol > HWTD_CS_ITM || c->arch > HWTD_ARM_ARCH_V8_3 ||
	    c->profile > HWTD_ARM_PROFILE_M)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "CoreSight protocol %" PRIu32 ", architecture %" PRIu32
		    ", profile %" PRIu32 ": not all are known",
		    c->protocol, c->arch, c->profile));
	if (c->trace_id != 0 &&
	    (c->trace_id > UINT8_MAX ||
		!hwtdi_trace_id_is_source((uint8_t)c->trace_id)))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "trace ID %#" PRIx32 " of a source; at most %#x",
		    c->trace_id, HWTD_CS_LAST_ID));
	stream->has_coresight = true;
	return (HWTD_OK);
}

int
hwtdi_spe_config_copy(struct hwtd_spe_config *c,
    const struct hwtd_spe_config *from, struct hwtd_error *err)
{
	int rc = hwtdi_options_copy(c, sizeof(*c), from, err);

	if (rc != HWTD_OK)
		return (rc);
	if (c->owner > HWTD_SPE_OWNER_CPU || c->version > HWTDI_SPE_PMSVER_MAX)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "owner %" PRIu32 ", PMSVer %" PRIu32 " of SPE: not both "
		    "are known",
		    c->owner, c->version));
	if (c->counter_bits != 0 && c->counter_bits != 12 &&
	    c->counter_bits != 16)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "counters of SPE with %" PRIu32 " bits; 12 or 16",
		    c->counter_bits));
	return (HWTD_OK);
}

static int
fill_spe(struct hwtdi_stream *stream, const struct hwtd_spe_config *from,
    struct hwtd_error *err)
{
	int rc;

	stream->desc.spe = NULL;
	if (from == NULL)
		return (HWTD_OK);
	rc = hwtdi_spe_config_copy(&stream->spe, from, err);
	stream->has_spe = rc == HWTD_OK;
	return (rc);
}

/* The sink that a stream names has its frames, and no other names its ID. */
static int
check_sink(const struct hwtd_trace *trace, const struct hwtdi_stream *stream,
    struct hwtd_error *err)
{
	const struct hwtd_stream_desc *d = &stream->desc;
	const uint32_t id = stream->coresight.trace_id;

	if (d->framing > HWTD_FRAMING_DSTREAM ||
	    ((d->framing != HWTD_FRAMING_NONE || d->sink_plus_1 != 0) &&
		d->tech != HWTD_TECH_CORESIGHT))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "framing %" PRIu32 " with technology %" PRIu32, d->framing,
		    d->tech));
	if (d->sink_plus_1 == 0)
		return (HWTD_OK);
	if (d->sink_plus_1 > trace->n_streams ||
	    trace->streams[d->sink_plus_1 - 1]->desc.framing ==
		HWTD_FRAMING_NONE ||
	    d->framing != HWTD_FRAMING_NONE)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "stream %" PRIu32
		    " is no sink with frames before this one",
		    d->sink_plus_1 - 1));
	if (id == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no trace ID says which bytes of the sink are meant"));
	if ((trace->streams[d->sink_plus_1 - 1]->source_ids[id / 64] >>
		    id % 64 &
		1) == 0)
		return (HWTD_OK);
	for (size_t i = d->sink_plus_1; i < trace->n_streams; i++)
		if (trace->streams[i]->desc.sink_plus_1 == d->sink_plus_1 &&
		    trace->streams[i]->coresight.trace_id == id)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "trace ID %#" PRIx32 " of sink %" PRIu32
			    " is that of stream %zu already",
			    id, d->sink_plus_1 - 1, i));
	return (HWTD_OK);
}

static void
own_id(struct hwtdi_stream *sink, uint32_t id)
{
	sink->source_ids[id / 64] |= UINT64_C(1) << id % 64;
}

static int
fill_stream(struct hwtd_context *ctx, struct hwtdi_stream *stream,
    const struct hwtd_stream_desc *desc, size_t id, struct hwtd_error *err)
{
	char name[32];
	int rc;

	stream->desc = *desc;
	stream->desc.name = NULL;
	stream->desc.pt = NULL;
	stream->desc.n_bytes = 0;
	stream->desc.reserved = 0;
	if (desc->pt != NULL) {
		rc = hwtdi_options_copy(&stream->pt, sizeof(stream->pt),
		    desc->pt, err);
		if (rc != HWTD_OK)
			return (rc);
		if (stream->pt.mtc_freq > 15)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "MTC frequency %u; at most 15",
			    stream->pt.mtc_freq));
		stream->has_pt = true;
	}
	rc = fill_coresight(stream, desc->coresight, err);
	if (rc == HWTD_OK)
		rc = fill_spe(stream, desc->spe, err);
	if (rc != HWTD_OK)
		return (rc);
	if (desc->clock.counts_per == 0) {
		memset(&stream->desc.clock, 0, sizeof(stream->desc.clock));
		stream->desc.flags &= ~(uint32_t)HWTD_STREAMF_CLOCK_DERIVED;
		if (desc->tech == HWTD_TECH_INTEL_PT && stream->has_pt &&
		    hwtdi_pt_config_clock(&stream->pt, &stream->desc.clock))
			stream->desc.flags |= HWTD_STREAMF_CLOCK_DERIVED;
	}
	(void)snprintf(name, sizeof(name), "stream %zu", id);
	stream->name = hwtdi_strdup(ctx,
	    desc->name != NULL ? desc->name : name);
	if (stream->name == NULL)
		return (hwtdi_fail_nomem(err, sizeof(name)));
	return (HWTD_OK);
}

int
hwtd_trace_add_stream(struct hwtd_trace *trace,
    const struct hwtd_stream_desc *desc, uint32_t *id_out,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc d;
	struct hwtdi_stream *stream;
	int rc;

	if (trace == NULL || desc == NULL || id_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (trace->sealed)
		return (hwtdi_fail(err, HWTD_E_STATE, "the trace is sealed"));
	rc = hwtdi_options_copy(&d, sizeof(d), desc, err);
	if (rc == HWTD_OK)
		rc = check_desc(&d, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_check_text("stream name", d.name, err);
	if (rc != HWTD_OK)
		return (rc);
	if (trace->n_streams >= HWTDI_MAX_STREAMS)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "a trace may have %u streams", HWTDI_MAX_STREAMS));
	rc = hwtdi_array_grow(trace->library, &trace->streams,
	    &trace->cap_streams, trace->n_streams + 1, sizeof(*trace->streams),
	    err);
	if (rc != HWTD_OK)
		return (rc);
	stream = hwtdi_zalloc(trace->library, sizeof(*stream));
	if (stream == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*stream)));
	rc = fill_stream(trace->library, stream, &d, trace->n_streams, err);
	if (rc == HWTD_OK)
		rc = check_sink(trace, stream, err);
	if (rc != HWTD_OK) {
		hwtdi_stream_free(trace->library, stream);
		return (rc);
	}
	if (d.sink_plus_1 != 0)
		own_id(trace->streams[d.sink_plus_1 - 1],
		    stream->coresight.trace_id);
	*id_out = (uint32_t)trace->n_streams;
	trace->streams[trace->n_streams++] = stream;
	return (HWTD_OK);
}

int
hwtd_trace_stream(const struct hwtd_trace *trace, uint32_t stream,
    struct hwtd_stream_desc *out)
{
	struct hwtd_stream_desc d;
	const struct hwtdi_stream *s;

	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	s = hwtdi_trace_stream_at(trace, stream);
	if (s == NULL)
		return (HWTD_E_NOT_FOUND);
	d = s->desc;
	d.name = s->name;
	d.pt = s->has_pt ? &s->pt : NULL;
	d.coresight = s->has_coresight ? &s->coresight : NULL;
	d.spe = s->has_spe ? &s->spe : NULL;
	d.n_bytes = s->end;
	return (hwtdi_result_copy(out, &d, sizeof(d)));
}

int
hwtd_trace_extent(const struct hwtd_trace *trace, uint32_t stream,
    size_t index, struct hwtd_extent *out)
{
	const struct hwtdi_stream *s;

	if (trace == NULL || out == NULL)
		return (HWTD_E_INVALID);
	s = hwtdi_trace_stream_at(trace, stream);
	if (s == NULL)
		return (HWTD_E_NOT_FOUND);
	if (index >= s->n_extents)
		return (HWTD_END);
	return (hwtdi_result_copy(out, &s->extents[index],
	    sizeof(s->extents[index])));
}

const struct hwtd_pt_config *
hwtdi_trace_pt_config(const struct hwtd_trace *trace, uint32_t stream)
{
	const struct hwtdi_stream *s = hwtdi_trace_stream_at(trace, stream);

	return (s != NULL && s->has_pt ? &s->pt : NULL);
}

const struct hwtd_coresight_config *
hwtdi_trace_coresight_config(const struct hwtd_trace *trace, uint32_t stream)
{
	const struct hwtdi_stream *s = hwtdi_trace_stream_at(trace, stream);

	return (s != NULL && s->has_coresight ? &s->coresight : NULL);
}

const struct hwtd_spe_config *
hwtdi_trace_spe_config(const struct hwtd_trace *trace, uint32_t stream)
{
	const struct hwtdi_stream *s = hwtdi_trace_stream_at(trace, stream);

	return (s != NULL && s->has_spe ? &s->spe : NULL);
}
