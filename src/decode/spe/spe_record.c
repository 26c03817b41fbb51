/*
 * Records of Arm SPE: where they begin and end, and what damage costs.
 */
#include "decode/spe/spe_record.h"

#include <string.h>

#include "base/bytes.h"
#include "decode/spe/spe_fields.h"
#include "decode/spe/spe_plain.h"

/* Of producers that write each record to a slot of its own. */
#define SLOT 64

/* Timestamps of records that follow one another are not further apart. */
#define FAR_TICKS (UINT64_C(1) << 40)

/* Those of two records of a buffer are rather less apart than that. */
#define NEAR_TICKS (UINT64_C(1) << 32)

/* So many records in slots are no chance. */
#define PROOF_SLOTS 4

/* hwtdi_spe_plain() reads so far. */
#define PLAIN_SPARE 16

/* Records of which no shape is learned. */
static const uint32_t no_shape = HWTD_SAMPLEF_DAMAGED |
    HWTD_SAMPLEF_DUPLICATE | HWTD_SAMPLEF_HEADLESS;

_Static_assert(SLOT == HWTDI_SPE_SHAPE_BYTES, "a slot has a shape");

/* The bytes at hand: [off, end) of the stream. */
struct window {
	const uint8_t *bytes;
	uint64_t off;
	uint64_t end;
	bool last;
};

static const uint8_t *
at(const struct window *w, uint64_t off)
{
	return (w->bytes + (size_t)(off - w->off));
}

static bool
all_zero(const struct window *w, uint64_t from, uint64_t to)
{
	const size_t n = (size_t)((to < w->end ? to : w->end) - from);

	return (hwtdi_spe_zeros(at(w, from), n) == n);
}

/* Packets that run to the end of a record. */
struct chain {
	/* Behind its last packet. */
	uint64_t end;
	/* The fields that it has. */
	uint32_t fields;
	/* Packets that are no PAD. */
	unsigned int packets;
	/* The buffer ends before it does; what is there fits. */
	bool cut;
};

static bool
near_count(const struct hwtdi_spe_reader *r, uint64_t count)
{
	const uint64_t apart = count > r->count ? count - r->count
						: r->count - count;

	return (!r->has_count || apart < FAR_TICKS);
}

/* What the hardware is known to write. */
static bool
is_sane(const struct hwtdi_spe_reader *r, const struct hwtdi_spe_packet *p)
{
	struct hwtdi_spe_operation op;

	switch (p->kind) {
	case HWTDI_SPE_TIMESTAMP:
		return (near_count(r, p->payload));
	case HWTDI_SPE_OPERATION:
		hwtdi_spe_operation_read(p->index, (uint8_t)p->payload, &op);
		return (op.op != HWTD_OP_RESERVED);
	case HWTDI_SPE_CONTEXT:
		return (p->index < 2);
	case HWTDI_SPE_COUNTER:
		return (!p->extended);
	case HWTDI_SPE_SOURCE:
		return (p->payload_bytes <= 2);
	case HWTDI_SPE_ADDRESS:
		if (p->extended || p->index > HWTDI_SPE_PREV_TARGET)
			return (false);
		return (p->index == HWTDI_SPE_VA || p->index == HWTDI_SPE_PA ||
		    (p->payload >> 56 & 15) == 0);
	case HWTDI_SPE_ALIGNMENT:
		return (false);
	default:
		return (true);
	}
}

/*
 * Valid packets from `off` on up to the end of a record, none of them twice; with
 * `strict` also sane ones.
 */
static bool
read_chain(const struct hwtdi_spe_reader *r, const struct window *w,
    uint64_t off, bool strict, struct chain *out)
{
	const uint64_t stop = off + HWTDI_SPE_MAX_RECORD;
	uint64_t counters = 0;
	struct hwtdi_spe_packet p;
	uint32_t field;

	memset(out, 0, sizeof(*out));
	while (off < w->end && off < stop) {
		const uint64_t left = (w->end < stop + HWTDI_SPE_MAX_BYTES
					      ? w->end
					      : stop + HWTDI_SPE_MAX_BYTES) -
		    off;

		hwtdi_spe_packet_read(at(w, off), (size_t)left,
		    off - r->buffer_off, 0, &p);
		if (p.kind == HWTDI_SPE_BAD || p.kind == HWTDI_SPE_UNKNOWN)
			return (false);
		if (p.kind == HWTDI_SPE_NONE) {
			out->cut = off + left == w->end && w->last;
			out->end = w->end;
			return (out->cut);
		}
		off += p.bytes;
		out->end = off;
		if (p.kind == HWTDI_SPE_PAD)
			continue;
		out->packets++;
		if (p.kind == HWTDI_SPE_END)
			return (true);
		if (strict && !is_sane(r, &p))
			return (false);
		field = hwtdi_spe_field(&p);
		if ((out->fields & field) != 0)
			return (false);
		out->fields |= field;
		if (p.kind == HWTDI_SPE_TIMESTAMP)
			return (true);
		if (p.kind == HWTDI_SPE_COUNTER) {
			if ((counters >> p.index & 1) != 0)
				return (false);
			counters |= UINT64_C(1) << p.index;
		}
	}
	out->cut = off == w->end && w->last;
	return (out->cut);
}

/* A record that could be a whole one, not only the rest of one. */
static bool
is_whole(const struct chain *c)
{
	const uint32_t fields = HWTD_SAMPLE_PC | HWTD_SAMPLE_OP;

	return ((c->fields & fields) == fields);
}

/*
 * A chain that is worth to go on with: a packet alone can be by chance, so what
 * follows must be able to begin a record.
 */
static bool
is_resync(const struct hwtdi_spe_reader *r, const struct window *w,
    uint64_t off, struct chain *c)
{
	struct hwtdi_spe_packet p;
	uint64_t next;

	if (!read_chain(r, w, off, true, c) || (c->cut && c->packets == 0))
		return (false);
	next = c->end;
	if (w->end - next > HWTDI_SPE_MAX_RECORD)
		next += hwtdi_spe_zeros(at(w, next), HWTDI_SPE_MAX_RECORD);
	else
		next += hwtdi_spe_zeros(at(w, next), (size_t)(w->end - next));
	if (next == w->end || next - c->end == HWTDI_SPE_MAX_RECORD)
		return (true);
	hwtdi_spe_packet_read(at(w, next), (size_t)(w->end - next),
	    next - r->buffer_off, 0, &p);
	switch (p.kind) {
	case HWTDI_SPE_BAD:
	case HWTDI_SPE_UNKNOWN:
	case HWTDI_SPE_END:
	case HWTDI_SPE_TIMESTAMP:
		return (false);
	default:
		return (p.kind == HWTDI_SPE_NONE || is_sane(r, &p));
	}
}

/* A slot begins here, or nothing does. */
static bool
is_slot(const struct hwtdi_spe_reader *r, const struct window *w, uint64_t off)
{
	struct chain c;

	if (off >= w->end || all_zero(w, off, off + SLOT))
		return (true);
	if (*at(w, off) == 0 || !read_chain(r, w, off, false, &c))
		return (false);
	return (c.cut ||
	    (c.end <= off + SLOT && all_zero(w, c.end, off + SLOT)));
}

static bool
in_slot(const struct hwtdi_spe_reader *r, const struct hwtd_sample *s)
{
	return (r->slots &&
	    (s->stream_off - r->buffer_off) % SLOT == r->phase);
}

/* Where a record has to end that goes on at r->off. */
static void
set_limit(struct hwtdi_spe_reader *r, const struct hwtd_sample *s)
{
	const uint64_t done = r->off - s->stream_off;

	if (in_slot(r, s) && done + SLOT < HWTDI_SPE_MAX_RECORD)
		r->limit = r->off + SLOT - done % SLOT;
	else
		r->limit = r->off + HWTDI_SPE_MAX_RECORD;
}

/* That is the end of a slot. */
static bool
limit_is_slot(const struct hwtdi_spe_reader *r, const struct hwtd_sample *s)
{
	return (r->limit - s->stream_off < HWTDI_SPE_MAX_RECORD &&
	    in_slot(r, s));
}

/*
 * So many bytes the buffer begins with are the rest of a timestamp; 0: they are not.
 * They could be packets.  But behind them is a whole record, and its own timestamp
 * goes on from theirs: they are its upper bytes.
 */
static uint64_t
rest_of_count(const struct hwtdi_spe_reader *r, const struct window *w)
{
	const uint64_t skipped = r->off - r->buffer_off;
	struct chain c;

	for (unsigned int n = 1; skipped + n <= 8 && r->off + n < w->end;
	     n++) {
		const unsigned int low = 64 - 8 * n;
		const uint64_t rest = hwtdi_le(at(w, r->off), n) << low;
		const uint64_t most = low > 32 ? UINT64_C(1) << low
					       : NEAR_TICKS;

		if (*at(w, r->off + n) != 0 &&
		    read_chain(r, w, r->off + n, true, &c) && !c.cut &&
		    is_whole(&c) && (c.fields & HWTD_SAMPLE_COUNT) != 0 &&
		    hwtdi_le(at(w, c.end - 8), 8) - rest < most)
			return (n);
	}
	return (0);
}

static void
begin(struct hwtdi_spe_reader *r, const struct window *w,
    struct hwtd_sample *s)
{
	hwtdi_spe_clear(s);
	s->stream_off = r->off;
	if (r->first)
		s->flags |= HWTD_SAMPLEF_HEADLESS;
	r->first = false;
	r->lost = false;
	r->first_header = *at(w, r->off);
	r->packet_end = r->off;
	set_limit(r, s);
}

/* It is [stream_off, end); what was read behind it is padding. */
static void
end_record(struct hwtdi_spe_reader *r, struct hwtd_sample *s, uint64_t end)
{
	const uint32_t whole = HWTD_SAMPLE_PC | HWTD_SAMPLE_OP;

	if ((s->present & whole) == whole)
		s->flags &= ~(uint32_t)HWTD_SAMPLEF_HEADLESS;
	s->bytes = end - s->stream_off;
	r->record_bytes += s->bytes;
	if (r->off > end)
		r->pad_bytes += r->off - end;
	else
		r->off = end;
	r->lost = false;
	r->has_last = true;
	r->last_start = s->stream_off;
}

/* Slots are where two records that follow one another begin. */
static void
learn(struct hwtdi_spe_reader *r, const struct hwtd_sample *s, uint64_t end)
{
	const uint64_t start = s->stream_off;

	if (in_slot(r, s))
		return;
	r->slots = r->has_last && end - start <= SLOT &&
	    (start - r->last_start) % SLOT == 0;
	r->slots_from = start;
	r->phase = (uint8_t)((start - r->buffer_off) % SLOT);
}

static void
note_count(struct hwtdi_spe_reader *r, struct hwtd_sample *s)
{
	uint64_t since;

	if ((s->present & HWTD_SAMPLE_COUNT) == 0)
		return;
	since = (s->count - r->wrap_base) & r->wrap_mask;
	if (r->has_before && since < r->since_before)
		s->flags |= HWTD_SAMPLEF_COUNT_BACK;
	r->has_before = true;
	r->since_before = since;
	/* A single count that is far off is rather a wrong one. */
	if (!near_count(r, s->count) && !r->odd_count) {
		r->odd_count = true;
		return;
	}
	r->odd_count = false;
	r->has_count = true;
	r->count = s->count;
}

/* Few records were in slots: those of a producer without can be by chance. */
static bool
is_proof(const struct hwtdi_spe_reader *r, const struct hwtd_sample *s)
{
	return (s->stream_off - r->slots_from >= (uint64_t)PROOF_SLOTS * SLOT);
}

/*
 * Records of this producer have no slots after all: one of its kind follows at
 * once.  What is left of a slot whose end is none has no second begin, and hardly
 * all that a whole record has.
 */
static bool
next_is_record(const struct hwtdi_spe_reader *r, const struct window *w,
    const struct hwtd_sample *s, uint64_t off)
{
	struct chain c;

	if (*at(w, off) != r->first_header ||
	    !read_chain(r, w, off, false, &c) || c.cut)
		return (false);
	return (is_whole(&c) ||
	    (!is_proof(r, s) && read_chain(r, w, off, true, &c)));
}

/*
 * It goes on past a slot up to its end.  With the next slot's record in it, it would
 * have packets twice.
 */
static bool
is_longer(const struct hwtdi_spe_reader *r, const struct window *w,
    const struct hwtd_sample *s)
{
	struct chain c;

	return (s->stream_off >= w->off &&
	    read_chain(r, w, s->stream_off, false, &c) && !c.cut &&
	    (is_whole(&c) || !is_proof(r, s)));
}

/* The packet that ends the record has been read. */
static void
finish(struct hwtdi_spe_reader *r, const struct window *w,
    struct hwtd_sample *s)
{
	const uint64_t end = r->packet_end;
	struct chain rest;

	if (limit_is_slot(r, s) && end != r->limit &&
	    !all_zero(w, end, r->limit)) {
		/* An end that is none, or a producer that has no slots. */
		if (!next_is_record(r, w, s, end) &&
		    ((read_chain(r, w, end, false, &rest) &&
			 rest.end == r->limit) ||
			is_slot(r, w, r->limit))) {
			s->flags |= HWTD_SAMPLEF_DAMAGED;
			end_record(r, s,
			    r->limit < w->end ? r->limit : w->end);
			return;
		}
		r->slots = false;
	}
	if ((s->flags & HWTD_SAMPLEF_DAMAGED) == 0) {
		learn(r, s, end);
		note_count(r, s);
	}
	end_record(r, s, end);
	if ((s->flags & no_shape) == 0 &&
	    w->end - s->stream_off >= HWTDI_SPE_SHAPE_LOOK)
		hwtdi_spe_shape_learn(&r->shapes, at(w, s->stream_off),
		    (size_t)s->bytes);
}

/* The record has no end where it must have one.  True: it is over. */
static bool
overrun(struct hwtdi_spe_reader *r, const struct window *w,
    struct hwtd_sample *s)
{
	if (limit_is_slot(r, s)) {
		if (!is_slot(r, w, r->limit) || is_longer(r, w, s)) {
			r->limit += SLOT;
			return (false);
		}
		s->flags |= HWTD_SAMPLEF_DAMAGED;
		r->packet_end = r->limit;
	}
	s->flags |= HWTD_SAMPLEF_DAMAGED;
	end_record(r, s, r->packet_end);
	return (true);
}

/*
 * Behind a bad byte: look for where packets go on.  True: the record is over;
 * else it goes on, or more bytes are needed.
 */
static bool
find(struct hwtdi_spe_reader *r, const struct window *w, struct hwtd_sample *s)
{
	const uint64_t stop = w->last ? w->end : w->end - HWTDI_SPE_LOOK;
	struct chain c;

	if (r->off <= r->limit && limit_is_slot(r, s) &&
	    is_slot(r, w, r->limit)) {
		end_record(r, s, r->limit < w->end ? r->limit : w->end);
		return (true);
	}
	for (; r->off < stop; r->off++) {
		r->off += hwtdi_spe_zeros(at(w, r->off),
		    (size_t)(stop - r->off));
		if (r->off == stop)
			break;
		if (!is_resync(r, w, r->off, &c))
			continue;
		if (is_whole(&c) || (c.fields & s->present) != 0) {
			end_record(r, s, r->off);
			return (true);
		}
		r->lost = false;
		set_limit(r, s);
		return (false);
	}
	if (w->last)
		end_record(r, s, w->end);
	return (w->last);
}

/*
 * The packet that the record began with comes again, and what follows can be a
 * whole record: the end of this one was lost.
 */
static bool
is_next_record(const struct hwtdi_spe_reader *r, const struct window *w,
    const struct hwtd_sample *s, const struct hwtdi_spe_packet *p)
{
	const uint32_t field = hwtdi_spe_field(p);
	struct chain c;

	return ((s->present & field) != 0 &&
	    hwtdi_spe_header_field(r->first_header) == field &&
	    read_chain(r, w, r->off, true, &c) && is_whole(&c) &&
	    (!in_slot(r, s) || c.end == r->off + SLOT));
}

/* The buffer ends in the record. */
static void
truncate_record(struct hwtdi_spe_reader *r, struct hwtd_sample *s)
{
	s->flags |= HWTD_SAMPLEF_TRUNCATED;
	end_record(r, s, r->packet_end);
}

/* Read those packets that nothing has to be thought of. */
static void
skip_plain(struct hwtdi_spe_reader *r, const struct window *w,
    struct hwtd_sample *s)
{
	const uint8_t *from = at(w, r->off), *end = from, *to;
	const uint64_t most = w->end - r->off;
	const uint64_t room = r->limit - r->off;

	if (most <= PLAIN_SPARE)
		return;
	to = hwtdi_spe_plain(r, from,
	    from + (room < most - PLAIN_SPARE ? room : most - PLAIN_SPARE), s,
	    &end);
	if (end != from)
		r->packet_end = r->off + (uint64_t)(end - from);
	r->off += (uint64_t)(to - from);
}

/*
 * Packets up to the end of the record.  True: it is over; else a byte is bad.
 */
static bool
read_packets(struct hwtdi_spe_reader *r, const struct window *w,
    struct hwtd_sample *s)
{
	struct hwtdi_spe_packet p;

	skip_plain(r, w, s);
	if (s->end == HWTD_SAMPLE_END_TIMESTAMP) {
		finish(r, w, s);
		return (true);
	}
	for (;;) {
		if (r->off == w->end) {
			truncate_record(r, s);
			return (true);
		}
		if (r->off >= r->limit) {
			if (overrun(r, w, s))
				return (true);
			continue;
		}
		if (*at(w, r->off) == 0) {
			const uint64_t end = r->limit < w->end ? r->limit
							       : w->end;

			r->off += hwtdi_spe_zeros(at(w, r->off),
			    (size_t)(end - r->off));
			continue;
		}
		hwtdi_spe_packet_read(at(w, r->off), (size_t)(w->end - r->off),
		    r->off - r->buffer_off, 0, &p);
		if (p.kind != HWTDI_SPE_NONE && r->off + p.bytes > r->limit) {
			if (overrun(r, w, s))
				return (true);
			continue;
		}
		if (is_next_record(r, w, s, &p)) {
			s->flags |= HWTD_SAMPLEF_DAMAGED;
			end_record(r, s, r->packet_end);
			return (true);
		}
		r->off += p.bytes;
		if (p.kind == HWTDI_SPE_ALIGNMENT)
			continue;
		r->packet_end = r->off;
		switch (p.kind) {
		case HWTDI_SPE_NONE:
			truncate_record(r, s);
			return (true);
		case HWTDI_SPE_BAD:
			s->flags |= HWTD_SAMPLEF_DAMAGED;
			r->lost = true;
			return (false);
		case HWTDI_SPE_END:
			s->end = HWTD_SAMPLE_END_END;
			finish(r, w, s);
			return (true);
		case HWTDI_SPE_TIMESTAMP:
			hwtdi_spe_add(s, &p, r->counter_bits);
			s->end = HWTD_SAMPLE_END_TIMESTAMP;
			finish(r, w, s);
			return (true);
		default:
			hwtdi_spe_add(s, &p, r->counter_bits);
			break;
		}
	}
}

/* The rest of a timestamp, of a record of which nothing else is there. */
static __attribute__((noinline)) bool
begins_in_count(struct hwtdi_spe_reader *r, const struct window *w,
    struct hwtd_sample *s)
{
	const uint64_t rest = rest_of_count(r, w);

	if (rest == 0)
		return (false);
	begin(r, w, s);
	s->flags |= HWTD_SAMPLEF_TRUNCATED;
	end_record(r, s, r->off + rest);
	return (true);
}

/* Padding between records. */
static void
skip_padding(struct hwtdi_spe_reader *r, const struct window *w)
{
	struct hwtdi_spe_packet p;

	while (r->off < w->end) {
		const uint8_t header = *at(w, r->off);

		if (header != 0 && (header & 0xfc) != 0x20)
			return;
		if (header != 0 && !w->last &&
		    w->end - r->off < HWTDI_SPE_LOOK)
			return;
		hwtdi_spe_packet_read(at(w, r->off), (size_t)(w->end - r->off),
		    r->off - r->buffer_off, 0, &p);
		if (p.kind != HWTDI_SPE_PAD && p.kind != HWTDI_SPE_ALIGNMENT)
			return;
		r->off += p.bytes;
		r->pad_bytes += p.bytes;
	}
}

/* Records that look like one before, and end where they must. */
static size_t
read_alike(struct hwtdi_spe_reader *r, const struct window *w,
    struct hwtd_sample *out, size_t cap)
{
	const uint64_t from = r->off;
	uint64_t off = from, bytes_of_records = 0;
	size_t k = 0;

	for (; k < cap && w->end - off >= HWTDI_SPE_SHAPE_LOOK; k++) {
		const uint8_t *const bytes = at(w, off);
		const struct hwtdi_spe_shape
		    *shape = hwtdi_spe_shape_find(&r->shapes, bytes);
		struct hwtd_sample *const s = &out[k];
		bool slot;

		if (shape == NULL)
			break;
		slot = r->slots && (off - r->buffer_off) % SLOT == r->phase;
		if (slot && shape->all_bytes != SLOT)
			break;
		hwtdi_spe_shape_read(shape, &r->ops, r->counter_bits, bytes,
		    s);
		s->stream_off = off;
		s->bytes = shape->bytes;
		if (!slot)
			learn(r, s, off + shape->bytes);
		note_count(r, s);
		r->has_last = true;
		r->last_start = off;
		bytes_of_records += shape->bytes;
		off += shape->all_bytes;
	}
	if (k == 0)
		return (0);
	r->first = false;
	r->record_bytes += bytes_of_records;
	r->pad_bytes += off - from - bytes_of_records;
	r->off = off;
	return (k);
}

size_t
hwtdi_spe_read_alike(struct hwtdi_spe_reader *r, const uint8_t *bytes,
    size_t n, struct hwtd_sample *out, size_t cap)
{
	const struct window w = { bytes, r->off, r->off + n, true };

	return (r->lost ? 0 : read_alike(r, &w, out, cap));
}

size_t
hwtdi_spe_read(struct hwtdi_spe_reader *r, const uint8_t *bytes, size_t n,
    bool last, struct hwtd_sample *out, size_t cap)
{
	const struct window w = { bytes, r->off, r->off + n, last };
	size_t k = 0;

	if (r->lost)
		out[0] = r->sample;
	while (k < cap) {
		if (!r->lost) {
			skip_padding(r, &w);
			if (r->off == w.end)
				break;
		}
		if (!last && w.end - r->off < HWTDI_SPE_LOOK)
			break;
		if (!r->lost) {
			const size_t alike = r->first &&
				begins_in_count(r, &w, &out[k])
			    ? 1
			    : read_alike(r, &w, &out[k], last ? cap - k : 1);

			k += alike;
			if (alike > 0)
				continue;
		}
		if (!r->lost) {
			begin(r, &w, &out[k]);
		} else if (find(r, &w, &out[k])) {
			k++;
			continue;
		} else if (r->lost)
			break;
		if (read_packets(r, &w, &out[k]))
			k++;
	}
	if (r->lost && k < cap)
		r->sample = out[k];
	return (k);
}

void
hwtdi_spe_reader_init(struct hwtdi_spe_reader *r, unsigned int counter_bits)
{
	memset(r, 0, sizeof(*r));
	r->counter_bits = (uint8_t)counter_bits;
	r->wrap_mask = UINT64_MAX;
	r->first = true;
}

void
hwtdi_spe_reader_wrap(struct hwtdi_spe_reader *r, uint64_t base, uint64_t mask)
{
	r->wrap_base = mask != 0 ? base : 0;
	r->wrap_mask = mask != 0 ? mask : UINT64_MAX;
}

void
hwtdi_spe_reader_begin(struct hwtdi_spe_reader *r, uint64_t off)
{
	r->off = off;
	r->buffer_off = off;
	r->lost = false;
	r->first = true;
	/* Where slots lie is not known of another buffer; that there are is. */
	r->phase = 0;
	r->has_last = false;
	r->has_before = false;
}

/* Three records that follow one another; the second begins at *second_out. */
static bool
is_sync(const struct hwtdi_spe_reader *r, const struct window *w, uint64_t off,
    uint64_t *second_out)
{
	const uint8_t header = *at(w, off);
	struct chain c;

	for (int i = 0; i < 3; i++) {
		if (off >= w->end || *at(w, off) != header ||
		    !read_chain(r, w, off, true, &c) || !is_whole(&c))
			return (false);
		off = c.end;
		off += hwtdi_spe_zeros(at(w, off),
		    w->end - off < HWTDI_SPE_MAX_RECORD
			? (size_t)(w->end - off)
			: HWTDI_SPE_MAX_RECORD);
		if (i == 0)
			*second_out = off;
	}
	return (true);
}

bool
hwtdi_spe_begins_record(const uint8_t *bytes, size_t n)
{
	const struct window w = { bytes, 0, n, false };
	struct hwtdi_spe_reader r;
	uint64_t second = 0;

	hwtdi_spe_reader_init(&r, 0);
	return (is_sync(&r, &w, 0, &second));
}

size_t
hwtdi_spe_find_sync(const uint8_t *bytes, size_t n, size_t seen, size_t from)
{
	const struct window w = { bytes, 0, seen, false };
	struct hwtdi_spe_reader r;
	uint64_t second = 0;

	hwtdi_spe_reader_init(&r, 0);
	while (from < n) {
		from += hwtdi_spe_zeros(bytes + from, n - from);
		/*
		 * What looks like the begin of a record may be a part of an address;
		 * up to where it ends, it has the packets of the real one.
		 */
		if (from < n && is_sync(&r, &w, from, &second))
			return (second < n ? (size_t)second : n);
		from++;
	}
	return (n);
}
