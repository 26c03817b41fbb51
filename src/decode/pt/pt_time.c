/*
 * The time at packets of Intel PT: the second pass, over all that tell it.
 */
#include "decode/pt/pt_time.h"

#include <hwtdecode/trace.h>

void
hwtdi_pt_time_init(struct hwtdi_pt_time *time, struct hwtd_context *library,
    const struct hwtd_pt_config *config, uint64_t near)
{
	memset(time, 0, offsetof(struct hwtdi_pt_time, found[1]));
	time->library = library;
	time->near = near;
	hwtdi_pt_lexer_init(&time->lexer, config);
	if (config == NULL)
		return;
	/* MTCFreq has 4 bits. */
	time->mtc_freq = config->mtc_freq & 15;
	time->nominal = config->nom_freq;
	if (config->cpuid_15h_eax != 0 && config->cpuid_15h_ebx != 0) {
		time->crystal = config->cpuid_15h_eax;
		time->counter = config->cpuid_15h_ebx;
	}
}

void
hwtdi_pt_time_fini(struct hwtdi_pt_time *time)
{
	hwtdi_array_free(time->library, time->refs, time->cap_refs,
	    sizeof(*time->refs));
	time->refs = NULL;
	time->cap_refs = 0;
	hwtdi_array_free(time->library, time->cycs, time->cap_cycs,
	    sizeof(*time->cycs));
	time->cycs = NULL;
	time->cap_cycs = 0;
}

void
hwtdi_pt_time_start(struct hwtdi_pt_time *time,
    const struct hwtdi_pt_stretch *segment, bool synced)
{
	time->segment = *segment;
	time->segment.kinds = UINT64_MAX;
	time->synced = synced;
	time->at = segment->stream_off;
	time->end = segment->stream_off;
	time->n_refs = 0;
	time->least = 0;
	time->n_found = 1;
	time->i_now = 0;
	time->has_now = false;
	time->most_found = HWTDI_PT_MOMENTS;
}

/* Blocks. */

/* HWTD_OK, HWTD_END, HWTD_E_NOMEM. */
static int
next_block(struct hwtdi_pt_time *time)
{
	const uint64_t end = time->segment.stream_off + time->segment.n;
	int rc;

	if (time->at >= end)
		return (HWTD_END);
	time->i_ref = 0;
	time->i_cyc = 0;
	rc = hwtdi_pt_find_refs(time);
	if (rc != HWTD_OK) {
		/* It can be tried again. */
		time->n_refs = 0;
		time->end = time->at;
		return (rc);
	}
	hwtdi_pt_lexer_restart(&time->lexer, time->synced);
	/* The next block begins with a PSB. */
	time->synced = true;
	hwtdi_pt_no_cycles(time, &time->cycles);
	return (HWTD_OK);
}

/* Moments. */

/* From the last reference to the next one: counts in so many weighted cycles. */
static inline uint64_t
counts_in(const struct hwtdi_pt_time *time, uint64_t weight)
{
	const struct hwtdi_pt_ref *const from = &time->refs[time->i_ref - 1];
	const struct hwtdi_pt_ref *const to = from + 1;

	return (time->pace.per != 0 ? hwtdi_ratio_of(&time->pace, weight)
				    : hwtdi_pt_scale(to->count - from->count,
					  weight, to->weight - from->weight));
}

/* Where a CYC lies.  False: its cycles are of no known length. */
static bool
place_cyc(const struct hwtdi_pt_time *time, uint64_t *count_out,
    bool *estimated_out)
{
	const struct hwtdi_pt_ref *const from = &time->refs[time->i_ref - 1];
	const struct hwtdi_pt_ref *const to = from + 1;
	const bool is_between = time->i_ref < time->n_refs;
	const bool is_broken = is_between && to->broken != HWTDI_PT_NEVER;
	const bool has_rate = time->rate_weight != 0;
	const uint64_t weight = time->cycles.weight;
	uint64_t count = from->count, left;

	*estimated_out = !is_between || is_broken;
	if (!is_between && !has_rate)
		return (false);
	if (weight <= from->weight) {
		*count_out = count;
		return (true);
	}
	if (is_between && weight >= to->weight) {
		count = to->count;
	} else if (is_between && (!is_broken || !has_rate)) {
		count += counts_in(time, weight - from->weight);
	} else if (is_broken && weight > to->broken) {
		/* Behind the break: so much before the next reference. */
		left = hwtdi_pt_scale(time->rate_counts, to->weight - weight,
		    time->rate_weight);
		if (left < to->count - count)
			count = to->count - left;
	} else {
		count = hwtdi_pt_add(count,
		    hwtdi_pt_scale(time->rate_counts, weight - from->weight,
			time->rate_weight));
	}
	*count_out = is_between && count > to->count ? to->count : count;
	return (true);
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return (a < b ? b - a : a - b);
}

/* How far a count can be off that lies behind the last reference. */
static uint64_t
error_of(const struct hwtdi_pt_time *time, uint64_t count)
{
	const struct hwtdi_pt_ref *const ref = &time->refs[time->i_ref - 1];
	const uint64_t before = hwtdi_pt_add(count - ref->count, ref->error);
	uint64_t behind;

	/* The truth lies between the references around. */
	if (time->i_ref == time->n_refs)
		return (UINT64_MAX);
	behind = hwtdi_pt_add(ref[1].count - count, ref[1].error);
	return (before > behind ? before : behind);
}

/* Where counts go back, the last one of the segment holds. */
static inline uint64_t
keep_order(struct hwtdi_pt_time *time, uint64_t count)
{
	if (count > time->most)
		count = time->most;
	if (count < time->least)
		count = time->least;
	time->least = count;
	return (count);
}

/*
 * How far a moment can be off, and what is known of the time behind it; `count`
 * and `count_after` are its counts before they were kept in order.
 */
static void
put_errors(const struct hwtdi_pt_time *time, struct hwtdi_pt_moment *m,
    uint64_t count, uint64_t count_after)
{
	const struct hwtdi_pt_ref *const ref = &time->refs[time->i_ref - 1];

	m->error = ref->stream_off == m->stream_off ? ref->error
						    : error_of(time, count);
	m->error = hwtdi_pt_add(m->error, distance(count, m->count));
	m->error_after = hwtdi_pt_add(error_of(time, count_after),
	    distance(count_after, m->count_after));
	m->has_ref = false;
	if (time->i_ref == time->n_refs)
		return;
	m->has_ref = ref[1].told == time->cycles.weight;
	m->ref_off = ref[1].stream_off;
	m->ref_count = ref[1].count < time->most ? ref[1].count : time->most;
}

static inline void
put_moment(struct hwtdi_pt_time *time, uint64_t stream_off, uint64_t count,
    bool estimated)
{
	const struct hwtdi_pt_ref *const ref = &time->refs[time->i_ref - 1];
	struct hwtdi_pt_moment *const m = &time->found[time->n_found++];
	uint64_t after = count;
	bool ignored;

	/* Cycles before an MTC can tell that it was made late. */
	if (ref->stream_off == stream_off && time->cycles.weight > ref->weight)
		(void)place_cyc(time, &after, &ignored);
	m->stream_off = stream_off;
	m->count = keep_order(time, count);
	m->count_after = keep_order(time, after);
	m->estimated = estimated || m->count != count ||
	    m->count_after != after;
	if (!time->only_told)
		put_errors(time, m, count, after);
}

/* What stops the second pass. */
#define MANY_MOMENTS 1
#define BLOCK_ENDS 2

/* Packets that tell nothing of the time. */
#define OF_NO_TIME                                                            \
	((uint64_t)1 << HWTD_PK_PT_TNT_8 | (uint64_t)1 << HWTD_PK_PT_TNT_64 | \
	    (uint64_t)1 << HWTD_PK_PT_TIP |                                   \
	    (uint64_t)1 << HWTD_PK_PT_TIP_PGE |                               \
	    (uint64_t)1 << HWTD_PK_PT_TIP_PGD |                               \
	    (uint64_t)1 << HWTD_PK_PT_FUP | (uint64_t)1 << HWTD_PK_PT_PAD)

static int
many(const struct hwtdi_pt_time *time)
{
	return (time->n_found > time->most_found ? MANY_MOMENTS : 0);
}

/* CYC at an offset, whose cycles were counted. */
static inline void
pass_cyc(struct hwtdi_pt_time *time, uint64_t off)
{
	uint64_t count;
	bool estimated;

	/* Before the first reference there is no time. */
	if (time->i_ref != 0 && place_cyc(time, &count, &estimated))
		put_moment(time, off, count, estimated);
}

static inline void
pass_ref(struct hwtdi_pt_time *time)
{
	const struct hwtdi_pt_ref *const ref = &time->refs[time->i_ref++];

	if (time->i_ref < time->n_refs)
		(void)hwtdi_ratio_init(&time->pace, ref[1].count - ref->count,
		    ref[1].weight - ref->weight);
	put_moment(time, ref->stream_off, ref->count, ref->estimated);
}

static int
see_cyc(void *arg, uint64_t off, uint64_t n)
{
	struct hwtdi_pt_time *const time = arg;

	hwtdi_pt_count_cycles(&time->cycles, n);
	pass_cyc(time, off);
	return (many(time));
}

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	struct hwtdi_pt_time *const time = arg;

	/* The PSB of the next block; it is seen so that bytes before it are
	 * named as in the first pass. */
	if (packet->stream_off >= time->end)
		return (BLOCK_ENDS);
	if (packet->kind == HWTD_PK_PT_CBR)
		hwtdi_pt_pass_cbr(&time->cycles, packet->value);
	if (time->i_ref == time->n_refs ||
	    time->refs[time->i_ref].stream_off != packet->stream_off)
		return (0);
	pass_ref(time);
	return (many(time));
}

/* Find moments in what is left of the block, whose CYC are not remembered. */
static void
read_moments(struct hwtdi_pt_time *time)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.cyc = see_cyc,
		.packet = see_packet,
	};
	const size_t before = (size_t)(time->at - time->segment.stream_off);
	struct hwtdi_pt_stretch s = time->segment;
	size_t used;
	int rc;

	s.bytes += before;
	s.stream_off += before;
	s.n -= before;
	s.kinds = ~OF_NO_TIME;
	s.visitor = &visitor;
	s.arg = time;
	rc = hwtdi_pt_lexer_visit(&time->lexer, &s, &used);
	time->at = rc == BLOCK_ENDS ? time->end : time->at + used;
}

/* The same of one whose CYC are remembered. */
static void
find_moments(struct hwtdi_pt_time *time)
{
	/* The reference behind the block is not in it. */
	while (many(time) == 0) {
		const uint64_t ref_off = time->i_ref < time->n_refs
		    ? time->refs[time->i_ref].stream_off
		    : time->end;
		const struct hwtdi_pt_cyc *const cyc = time->i_cyc <
			time->n_cycs
		    ? &time->cycs[time->i_cyc]
		    : NULL;

		if (cyc != NULL &&
		    (cyc->stream_off < ref_off || ref_off >= time->end)) {
			time->cycles.weight = cyc->weight;
			time->i_cyc++;
			pass_cyc(time, cyc->stream_off);
		} else if (ref_off < time->end) {
			pass_ref(time);
		} else {
			time->at = time->end;
			break;
		}
	}
}

int
hwtdi_pt_time_look_ahead(struct hwtdi_pt_time *time)
{
	int rc;

	if (hwtdi_pt_time_next(time) != NULL)
		return (HWTD_OK);
	time->found[0] = time->found[time->i_now];
	time->i_now = 0;
	time->n_found = 1;
	while (time->n_found == 1) {
		if (time->at >= time->end) {
			rc = next_block(time);
			if (rc != HWTD_OK)
				return (rc < 0 ? rc : HWTD_OK);
		}
		if (time->has_cycs)
			find_moments(time);
		else
			read_moments(time);
	}
	return (HWTD_OK);
}

/* Where packets at an offset end, or behind it. */
static inline uint64_t
end_of(const struct hwtdi_pt_time *time, uint64_t stream_off)
{
	/* The first packet stands also for what is before it. */
	return (stream_off > time->segment.stream_off ? stream_off + 1
						      : stream_off);
}

/* The moments that were found, in a list that has room for them. */
static size_t
list_found(const struct hwtdi_pt_time *time, struct hwtdi_when *out)
{
	size_t n = 0;

	for (unsigned int i = 1; i < time->n_found; i++) {
		const struct hwtdi_pt_moment *const m = &time->found[i];
		const uint32_t flags = HWTDI_ANCHOR_TIME |
		    (m->estimated ? HWTDI_ANCHOR_ESTIMATED : 0);

		out[n].from_off = end_of(time, m->stream_off);
		out[n].count = m->count;
		out[n++].flags = flags;
		if (m->count_after == m->count)
			continue;
		out[n].from_off = m->stream_off + 2;
		out[n].count = m->count_after;
		out[n++].flags = flags;
	}
	return (n);
}

/*
 * The remembered CYC up to the next reference, if cycles between are of one
 * length: the same as by place_cyc(), and most moments are so.
 */
static size_t
list_cycs(struct hwtdi_pt_time *time, struct hwtdi_when *out, size_t max)
{
	const struct hwtdi_ratio pace = time->pace;
	const struct hwtdi_pt_ref *to;
	const struct hwtdi_pt_cyc *cyc, *end;
	size_t n = 0;

	if (!time->has_cycs || time->i_cyc == time->n_cycs ||
	    time->i_ref == 0 || time->i_ref == time->n_refs || pace.per == 0)
		return (0);
	to = &time->refs[time->i_ref];
	if (to->broken != HWTDI_PT_NEVER)
		return (0);
	cyc = &time->cycs[time->i_cyc];
	end = &time->cycs[time->n_cycs];
	for (; n < max && cyc < end && cyc->stream_off < to->stream_off;
	     cyc++) {
		uint64_t count = to[-1].count, kept;

		if (cyc->weight >= to->weight)
			count = to->count;
		else if (cyc->weight > to[-1].weight)
			count += hwtdi_ratio_of(&pace,
			    cyc->weight - to[-1].weight);
		kept = keep_order(time, count);
		out[n].from_off = end_of(time, cyc->stream_off);
		out[n].count = kept;
		out[n++].flags = HWTDI_ANCHOR_TIME |
		    (kept != count ? HWTDI_ANCHOR_ESTIMATED : 0);
	}
	if (n == 0)
		return (0);
	time->i_cyc += n;
	time->cycles.weight = cyc[-1].weight;
	return (n);
}

int
hwtdi_pt_time_list(struct hwtdi_pt_time *time,
    struct hwtdi_when out[HWTDI_WHENS], size_t *n_out)
{
	size_t n = 0;
	int rc;

	*n_out = 0;
	while (n < HWTDI_WHENS / 2) {
		if (time->at >= time->end) {
			rc = n == 0 ? next_block(time) : HWTD_END;
			if (rc < 0)
				return (rc);
			if (rc == HWTD_END)
				break;
		}
		n += list_cycs(time, out + n, HWTDI_WHENS - n);
		if (HWTDI_WHENS - n < 2)
			break;
		/* What comes then can be cycles that are listed again. */
		time->n_found = 1;
		if (time->has_cycs) {
			time->most_found = 1;
			find_moments(time);
		} else {
			time->most_found = (unsigned int)(HWTDI_WHENS - n) / 2;
			read_moments(time);
		}
		n += list_found(time, out + n);
	}
	*n_out = n;
	return (HWTD_OK);
}

void
hwtdi_pt_moment_at(const struct hwtdi_pt_moment *moment, uint64_t stream_off,
    struct hwtdi_pt_moment *out)
{
	uint64_t later, before;

	*out = *moment;
	if (stream_off == moment->stream_off)
		return;
	out->stream_off = stream_off;
	out->estimated = true;
	out->count = moment->count_after;
	out->error = moment->error_after;
	if (!moment->has_ref || moment->ref_count <= out->count ||
	    moment->ref_off <= stream_off)
		return;
	later = hwtdi_pt_scale(moment->ref_count - out->count,
	    stream_off - moment->stream_off,
	    moment->ref_off - moment->stream_off);
	out->count += later;
	/* What lies behind is nearer now, and what lies before is farther. */
	before = hwtdi_pt_add(moment->error, out->count - moment->count);
	if (out->error != UINT64_MAX)
		out->error -= later;
	if (out->error < before)
		out->error = before;
}

int
hwtdi_pt_time_at(struct hwtdi_pt_time *time, uint64_t stream_off,
    struct hwtdi_pt_moment *out)
{
	const int rc = hwtdi_pt_time_pass(time, stream_off);
	const struct hwtdi_pt_moment *const next = hwtdi_pt_time_next(time);

	if (rc != HWTD_OK)
		return (rc);
	hwtdi_pt_moment_at(hwtdi_pt_time_now(time), stream_off, out);
	/* A CYC of no clocks may say that no time went by. */
	if (next != NULL && out->count > next->count) {
		out->error = hwtdi_pt_add(out->error,
		    out->count - next->count);
		out->count = next->count;
	}
	return (HWTD_OK);
}
