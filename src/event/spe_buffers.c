/*
 * Buffers of Arm SPE that were written one behind the other without a mark: found
 * by time, and by the CPUs that contexts are.
 */
#include <hwtdecode/trace.h>
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "decode/spe/spe_packet.h"
#include "decode/spe/spe_record.h"
#include "trace/trace_model.h"

/* Bytes that are read at once; more than a reader looks ahead. */
#define PART_BYTES ((size_t)1 << 20)
#define SAMPLES 64

/* Sources with a time or CPU of their own; buffers of more are of the first. */
#define MAX_SOURCES 256

/* Where a border is looked for: two records that became one. */
#define JOINT_BYTES ((size_t)2 * HWTDI_SPE_MAX_RECORD)

struct source {
	uint32_t cpu;
	/* Of its last record. */
	uint64_t count;
};

/* Where a record lies. */
struct place {
	bool known, broken;
	uint64_t off, end;
	/* The record before it, if that is broken and adjoins; else its own. */
	uint64_t from;
};

struct finder {
	const struct hwtd_trace *trace;
	struct hwtd_error *err;
	uint32_t stream;
	/* Contexts are CPUs. */
	bool by_cpu;

	struct hwtd_buffer *buffers;
	size_t cap, n;

	/* The buffer at hand: its times, and that before the last one. */
	uint64_t start;
	bool has_count, has_cpu;
	uint64_t first, last, before_last;
	uint32_t cpu;

	/* The record before. */
	struct place before;
	/* A record whose time is before the last one: is it the next's as well? */
	struct place doubt;
	uint64_t doubt_count;
	/* Kind and index of the packet that records begin with. */
	uint64_t first_packet;

	struct source sources[MAX_SOURCES];
	size_t n_sources;
	struct hwtd_sample samples[SAMPLES];
	uint8_t joint[JOINT_BYTES];
};

static bool
is_broken(const struct hwtd_sample *s)
{
	return ((s->flags &
		    (HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_DUPLICATE |
			HWTD_SAMPLEF_TRUNCATED)) != 0);
}

/* The source of the buffer at hand. */
static uint32_t
choose_source(struct finder *f)
{
	size_t best = f->n_sources;

	for (size_t i = 0; i < f->n_sources; i++) {
		struct source *s = &f->sources[i];

		if (f->by_cpu ? s->cpu == f->cpu
			      : (!f->has_count || s->count <= f->first) &&
			    (best == f->n_sources ||
				s->count > f->sources[best].count))
			best = i;
	}
	if (best == MAX_SOURCES)
		return (0);
	if (best == f->n_sources)
		f->sources[f->n_sources++].count = 0;
	f->sources[best].cpu = f->cpu;
	if (f->has_count)
		f->sources[best].count = f->last;
	return ((uint32_t)best);
}

/* The buffer at hand ends; the next one begins at `off`. */
static void
end_buffer(struct finder *f, uint64_t off)
{
	const uint32_t source = choose_source(f);

	if (f->n < f->cap)
		f->buffers[f->n] = (struct hwtd_buffer){ f->start, source,
			f->cpu };
	f->n++;
	f->start = off;
	f->doubt.known = false;
	f->has_count = false;
	f->has_cpu = false;
	f->cpu = HWTD_NO_ID;
}

/* Packets that a record has once, as bits; 0: of any number. */
static uint64_t
once(const struct hwtdi_spe_packet *p)
{
	switch (p->kind) {
	case HWTDI_SPE_ADDRESS:
		return (UINT64_C(1) << (p->index & 31));
	case HWTDI_SPE_COUNTER:
		return (UINT64_C(1) << 32 << (p->index & 15));
	case HWTDI_SPE_CONTEXT:
		return (UINT64_C(1) << 48 << p->index);
	case HWTDI_SPE_EVENTS:
	case HWTDI_SPE_SOURCE:
	case HWTDI_SPE_OPERATION:
	case HWTDI_SPE_TIMESTAMP:
		return (UINT64_C(1) << 52 << (p->kind - HWTDI_SPE_EVENTS));
	default:
		return (0);
	}
}

/* Bytes from `at` on are one whole record; where it ends, or 0. */
static size_t
whole_record(const uint8_t *bytes, size_t n, size_t at)
{
	uint64_t seen = 0;

	while (at < n) {
		struct hwtdi_spe_packet p;

		hwtdi_spe_packet_read(bytes + at, n - at, at, 0, &p);
		if (p.kind == HWTDI_SPE_NONE || p.kind == HWTDI_SPE_BAD ||
		    (seen & once(&p)) != 0)
			return (0);
		seen |= once(&p);
		at += p.bytes;
		if (p.kind == HWTDI_SPE_END || p.kind == HWTDI_SPE_TIMESTAMP)
			return (at);
	}
	return (0);
}

static uint64_t
first_packet(const uint8_t *bytes, size_t n)
{
	struct hwtdi_spe_packet p;

	hwtdi_spe_packet_read(bytes, n, 0, 0, &p);
	/* A byte of what was cut off can make a header longer. */
	return (p.extended ? 0 : once(&p));
}

/*
 * Where the buffer begins that has the record at `p`.  A record that is cut off by
 * the end of the buffer before it runs into the first one: it begins where a whole
 * one does that ends there.
 */
static int
find_joint(struct finder *f, const struct place *p, uint64_t *off_out)
{
	const size_t n = p->end - p->from < JOINT_BYTES
	    ? (size_t)(p->end - p->from)
	    : JOINT_BYTES;
	size_t got = 0;
	int rc;

	*off_out = p->off;
	if (p->from == p->off && !p->broken)
		return (HWTD_OK);
	rc = hwtd_trace_read_bytes(f->trace, f->stream, p->from, f->joint, n,
	    &got, f->err);
	for (size_t at = 0; rc == HWTD_OK && at < got; at++) {
		const uint64_t begins = first_packet(f->joint + at, got - at);
		size_t end;

		if (begins == 0 || begins != f->first_packet)
			continue;
		end = whole_record(f->joint, got, at);
		if (end == 0 || (p->from + end != p->off && end != got))
			continue;
		*off_out = p->from + at;
		break;
	}
	return (rc);
}

static struct place
place_of(const struct finder *f, const struct hwtd_sample *s)
{
	struct place p = { .known = true,
		.broken = is_broken(s),
		.off = s->stream_off,
		.end = s->stream_off + s->bytes,
		.from = s->stream_off };

	if (f->before.known && f->before.broken && f->before.end == p.off &&
	    f->before.off > f->start)
		p.from = f->before.off;
	return (p);
}

static int
begin_at(struct finder *f, const struct place *p)
{
	uint64_t off;
	int rc = find_joint(f, p, &off);

	if (rc == HWTD_OK && off > f->start)
		end_buffer(f, off);
	return (rc);
}

/*
 * Time goes on in a buffer.  One record of another time can be damaged, with two it
 * is another buffer; so is one from before the first of this one.
 */
static int
take_count(struct finder *f, const struct place *p, uint64_t count)
{
	int rc = HWTD_OK;

	if (f->has_count && count < f->first) {
		rc = begin_at(f, p);
	} else if (f->has_count && count < f->last && count < f->before_last) {
		if (!f->doubt.known || count < f->doubt_count) {
			f->doubt = *p;
			f->doubt_count = count;
			return (HWTD_OK);
		}
		rc = begin_at(f, &f->doubt);
		f->first = f->before_last = f->doubt_count;
		f->last = count;
		f->has_count = true;
		return (rc);
	}
	f->doubt.known = false;
	if (!f->has_count)
		f->first = count;
	f->before_last = f->has_count && count >= f->last ? f->last : count;
	f->last = count;
	f->has_count = true;
	return (rc);
}

static int
take_record(struct finder *f, const struct hwtd_sample *s)
{
	const uint32_t contexts = s->present &
	    (HWTD_SAMPLE_CONTEXT_EL1 | HWTD_SAMPLE_CONTEXT_EL2);
	const uint32_t cpu = (contexts & HWTD_SAMPLE_CONTEXT_EL1) != 0
	    ? s->context_el1
	    : s->context_el2;
	const struct place p = place_of(f, s);
	int rc = HWTD_OK;

	f->before = p;
	/* What is damaged tells nothing for sure. */
	if ((s->flags & HWTD_SAMPLEF_DAMAGED) != 0)
		return (HWTD_OK);
	if (f->by_cpu && contexts != 0) {
		if (f->has_cpu && cpu != f->cpu)
			rc = begin_at(f, &p);
		f->cpu = cpu;
		f->has_cpu = true;
	}
	if (rc == HWTD_OK && (s->present & HWTD_SAMPLE_COUNT) != 0)
		rc = take_count(f, &p, s->count);
	return (rc);
}

/* What records begin with, of the first one that is whole. */
static void
learn_first(struct finder *f, const struct hwtd_sample *s, const uint8_t *part,
    uint64_t base)
{
	if (f->first_packet == 0 && s->flags == 0)
		f->first_packet = first_packet(part +
			(size_t)(s->stream_off - base),
		    (size_t)s->bytes);
}

/* The records of an extent, which is a buffer or more of them. */
static int
take_extent(struct finder *f, const struct hwtd_extent *e, uint8_t *part)
{
	struct hwtdi_spe_reader r;
	bool last = false;
	int rc = HWTD_OK;

	hwtdi_spe_reader_init(&r, 0);
	hwtdi_spe_reader_begin(&r, e->start);
	f->before.known = false;
	f->doubt.known = false;
	while (rc == HWTD_OK && !last) {
		const uint64_t base = r.off;
		const uint64_t left = e->end - base;
		const size_t n = left < PART_BYTES ? (size_t)left : PART_BYTES;
		size_t got = 0, k;

		rc = hwtd_trace_read_bytes(f->trace, f->stream, base, part, n,
		    &got, f->err);
		last = got < n || n == left;
		do {
			const size_t at = (size_t)(r.off - base);

			k = rc != HWTD_OK
			    ? 0
			    : hwtdi_spe_read(&r, part + at, got - at, last,
				  f->samples, SAMPLES);
			for (size_t i = 0; rc == HWTD_OK && i < k; i++) {
				learn_first(f, &f->samples[i], part, base);
				rc = take_record(f, &f->samples[i]);
			}
		} while (k == SAMPLES);
	}
	return (rc);
}

static int
find(struct finder *f, uint8_t *part)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK &&
	     hwtd_trace_extent(f->trace, f->stream, i, &e) == HWTD_OK;
	     i++) {
		if (e.start > f->start)
			end_buffer(f, e.start);
		rc = take_extent(f, &e, part);
	}
	end_buffer(f, e.end);
	return (rc);
}

int
hwtd_spe_find_buffers(struct hwtd_trace *trace, uint32_t stream,
    struct hwtd_buffer *buffers, size_t cap, size_t *n_out,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_context *library;
	struct finder *f;
	uint8_t *part;
	int rc;

	if (trace == NULL || n_out == NULL || (buffers == NULL && cap != 0))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	if (!hwtdi_trace_sealed(trace))
		return (hwtdi_fail(err, HWTD_E_STATE,
		    "the trace is not sealed"));
	if (hwtd_trace_stream(trace, stream, &desc) != HWTD_OK)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND, "no stream %u",
		    stream));
	if (desc.tech != HWTD_TECH_SPE)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "stream %u is not of Arm SPE", stream));
	library = hwtdi_trace_library(trace);
	f = hwtdi_zalloc(library, sizeof(*f));
	part = hwtdi_alloc(library, PART_BYTES);
	rc = f == NULL || part == NULL ? hwtdi_fail_nomem(err, PART_BYTES)
				       : HWTD_OK;
	if (rc == HWTD_OK) {
		f->trace = trace;
		f->err = err;
		f->stream = stream;
		f->by_cpu = desc.spe != NULL &&
		    desc.spe->owner == HWTD_SPE_OWNER_CPU;
		f->buffers = buffers;
		f->cap = cap;
		f->cpu = HWTD_NO_ID;
		rc = find(f, part);
	}
	if (rc == HWTD_OK)
		*n_out = f->n;
	hwtdi_free(library, part, PART_BYTES);
	hwtdi_free(library, f, sizeof(*f));
	return (rc);
}
