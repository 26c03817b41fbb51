/*
 * The references of a block: packets that tell a count of the time stamp
 * counter.
 */
#include <hwtdecode/trace.h>

#include "decode/pt/pt_sync.h"
#include "decode/pt/pt_time.h"

/* PSB+ is not longer, else its TSC counts only for what is behind it. */
#define PSB_PLUS_BYTES 1024

/* References of a block; TSC may be more than MTC. */
#define MANY_MTCS ((size_t)1 << 18)
#define MANY_REFS (2 * MANY_MTCS)

/* Payload bits: of TSC; of TMA and MTC, of the crystal clock. */
#define TSC_BITS 56
#define TMA_BITS 16
#define MTC_STEPS 256

/* FastCounter of TMA has 9 bits. */
#define FAST_COUNTS 512

/* Counts that an edge of the crystal clock is off, by rounding. */
#define EDGE_ERROR 2

/* The first pass over a block. */
struct pass {
	struct hwtdi_pt_time *time;
	uint64_t start;
	/* The PSB+ at hand is that of the block, or the one behind it. */
	uint64_t psb_off;
	bool in_psb, behind, ended;
	int rc;

	struct hwtdi_pt_cycles cycles;
	/* Since the last reference; see there. */
	uint64_t broken;
	/* Nothing was between the last CYC, or OVF, and here. */
	bool after_cyc, after_ovf;
	uint64_t before_cyc;
	/* The first reference behind the last CYC. */
	size_t after_cycs;

	/* The last TSC, and the first reference behind it. */
	bool has_tsc;
	uint64_t tsc;
	size_t after_tsc;
	/*
	 * TMA: the count at the edge of the crystal clock before it, how many
	 * edges that was past one of MTC, and the number of the last MTC.
	 */
	bool has_tma;
	uint64_t edge, past;
	uint32_t mtc;
	/* MTC come round after so many; the first of them, in TMA. */
	uint32_t round, first_round;
	/* Periods of MTC since TMA. */
	uint64_t periods;
	/* MTC may be missing since the last one; the first that came then. */
	bool lost;
	size_t after_loss;
};

uint64_t
hwtdi_pt_scale(uint64_t a, uint64_t b, uint64_t c)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t product;
	wide v;

	if (!__builtin_mul_overflow(a, b, &product))
		return (product / c);
	v = (wide)a * b / c;
	return (v > UINT64_MAX ? UINT64_MAX : (uint64_t)v);
}

void
hwtdi_pt_no_cycles(const struct hwtdi_pt_time *time,
    struct hwtdi_pt_cycles *cycles)
{
	cycles->weight = 0;
	/* Without CBR and nominal ratio, all core clocks are of one length. */
	cycles->each = HWTDI_PT_CYCLE;
	if (time->nominal != 0)
		cycles->each /= time->nominal;
}

void
hwtdi_pt_pass_cbr(struct hwtdi_pt_cycles *cycles, uint64_t ratio)
{
	if (ratio != 0)
		cycles->each = HWTDI_PT_CYCLE / ratio;
}

/* All bits of a TSC payload. */
static uint64_t
whole_tsc(uint64_t payload, uint64_t near)
{
	const uint64_t span = (uint64_t)1 << TSC_BITS;
	const uint64_t tsc = (near & ~(span - 1)) | payload;

	if (tsc < near && near - tsc > span / 2 && tsc <= UINT64_MAX - span)
		return (tsc + span);
	if (tsc > near && tsc - near > span / 2 && tsc >= span)
		return (tsc - span);
	return (tsc);
}

/* So many crystal clocks, in counts. */
static uint64_t
counts_of(const struct hwtdi_pt_time *time, uint64_t crystals)
{
	return (hwtdi_pt_scale(crystals, time->counter, time->crystal));
}

/* So much time is in `counts` of whole rounds of MTC. */
static uint64_t
rounds_in(const struct hwtdi_pt_time *time, uint64_t counts, uint32_t round)
{
	const uint64_t all = hwtdi_pt_add(counts, EDGE_ERROR);
	const uint64_t crystals = hwtdi_pt_scale(all, time->crystal,
	    time->counter);
	const uint64_t ticks = (uint64_t)round << time->mtc_freq;

	return (counts_of(time, crystals / ticks * ticks));
}

static void
add_ref(struct pass *p, uint64_t off, uint64_t count, uint64_t error)
{
	struct hwtdi_pt_time *const t = p->time;
	struct hwtdi_pt_ref *ref;

	if (hwtdi_array_grow(t->library, &t->refs, &t->cap_refs, t->n_refs + 1,
		sizeof(*t->refs), NULL) != HWTD_OK) {
		p->rc = HWTD_E_NOMEM;
		return;
	}
	ref = &t->refs[t->n_refs];
	ref->stream_off = off;
	ref->count = count;
	ref->error = error;
	ref->weight = ref->told = p->cycles.weight;
	ref->low = p->after_cyc ? p->before_cyc : ref->weight;
	ref->high = p->after_cyc ? ref->weight : HWTDI_PT_NEVER;
	ref->broken = p->broken;
	ref->estimated = false;
	if (t->n_refs > 0 && count < ref[-1].count) {
		ref->error = hwtdi_pt_add(error, ref[-1].count - count);
		ref->count = ref[-1].count;
		ref->estimated = true;
	}
	t->n_refs++;
	p->broken = HWTDI_PT_NEVER;
}

/* From `first` on, MTC are so much later, and off by so much more. */
static void
shift(struct pass *p, size_t first, uint64_t later, uint64_t error,
    uint64_t most)
{
	struct hwtdi_pt_time *const t = p->time;

	for (size_t i = first; i < t->n_refs; i++) {
		struct hwtdi_pt_ref *const ref = &t->refs[i];

		ref->count = hwtdi_pt_add(ref->count, later);
		if (error != 0) {
			ref->error = hwtdi_pt_add(ref->error, error);
			ref->estimated = true;
		}
		if (ref->count <= most)
			continue;
		/* The rounding of edges is no reason to doubt them. */
		if (ref->count - most > EDGE_ERROR)
			ref->estimated = true;
		ref->error = hwtdi_pt_add(ref->error, ref->count - most);
		ref->count = most;
	}
}

/*
 * A TSC ends the stretch of MTC behind the last one.  They come round, so more
 * of them can be missing than one sees; how many, the TSC tells.  They are taken
 * to be missing where packets were lost, else behind the last MTC.
 */
static void
settle_mtcs(struct pass *p, uint64_t tsc)
{
	const struct hwtdi_pt_time *const t = p->time;
	const size_t first = p->after_tsc;
	const bool first_is_after_loss = p->after_loss == first;
	uint64_t last, room;

	if (!p->has_tma || first == t->n_refs)
		return;
	last = t->refs[t->n_refs - 1].count;
	if (last > tsc) {
		/* Beyond rounding, they are no edges of this crystal clock. */
		shift(p, first, 0, last - tsc > EDGE_ERROR ? tsc - p->tsc : 0,
		    tsc);
		return;
	}
	room = rounds_in(t, tsc - last, p->first_round);
	if (room == 0)
		return;
	shift(p, first, 0, room, tsc);
	if (p->after_loss >= t->n_refs)
		return;
	if (!first_is_after_loss)
		room = rounds_in(t, tsc - last, p->round);
	shift(p, p->after_loss, room, 0, tsc);
}

/*
 * No TSC is behind: what may be missing before an MTC, nobody knows.  Of the
 * first MTC behind TMA even a few that are missing cannot be seen, if TMA lacks
 * bits of it.
 */
static void
leave_mtcs(struct pass *p)
{
	const size_t first = p->first_round < MTC_STEPS ? p->after_tsc
							: p->after_loss;

	if (p->has_tma && first < p->time->n_refs)
		shift(p, first, 0, UINT64_MAX, UINT64_MAX);
}

static void
pass_tsc(struct pass *p, uint64_t off, uint64_t payload)
{
	struct hwtdi_pt_time *const t = p->time;
	const uint64_t tsc = whole_tsc(payload, p->has_tsc ? p->tsc : t->near);

	if (p->has_tsc && tsc >= p->tsc)
		settle_mtcs(p, tsc);
	else if (p->has_tsc)
		leave_mtcs(p);
	if (p->behind) {
		add_ref(p, p->psb_off, tsc, 0);
		t->most = tsc;
		p->ended = true;
		return;
	}
	/* The PSB was made at the same time. */
	if (p->in_psb && t->n_refs == 0 && off - p->psb_off < PSB_PLUS_BYTES)
		add_ref(p, p->psb_off, tsc, 0);
	if (t->n_refs < MANY_REFS)
		add_ref(p, off, tsc, 0);
	p->has_tsc = true;
	p->tsc = tsc;
	p->after_tsc = t->n_refs;
	p->after_loss = SIZE_MAX;
	p->has_tma = false;
	p->lost = false;
}

static void
pass_tma(struct pass *p, const struct hwtd_packet *packet)
{
	const struct hwtdi_pt_time *const t = p->time;
	const unsigned int freq = t->mtc_freq;
	const uint64_t low = packet->value & (((uint64_t)1 << freq) - 1);

	if (!p->has_tsc || t->crystal == 0 || p->after_tsc != t->n_refs)
		return;
	p->edge = p->tsc > packet->count ? p->tsc - packet->count : 0;
	p->past = low;
	p->mtc = (uint32_t)(packet->value >> freq);
	/* Of the first MTC, TMA has only the bits below 16. */
	p->first_round = freq > 8 ? 1u << (TMA_BITS - freq) : MTC_STEPS;
	p->round = p->first_round;
	p->periods = 0;
	p->has_tma = true;
}

static void
pass_mtc(struct pass *p, const struct hwtd_packet *packet)
{
	struct hwtdi_pt_time *const t = p->time;
	const uint32_t value = (uint32_t)packet->value;
	uint32_t steps;
	uint64_t counts, error = EDGE_ERROR;

	if (t->crystal == 0)
		t->mtc_ignored = true;
	if (!p->has_tma || p->behind)
		return;
	steps = (value - p->mtc) & (p->round - 1);
	/* What TMA lacks of the bits before the first MTC is as in this one. */
	if (steps == 0 && p->round < MTC_STEPS)
		steps = p->round;
	p->round = MTC_STEPS;
	p->mtc = value;
	p->periods += steps;
	/* The edge was before the TSC, or is told again. */
	if (steps == 0 || t->n_refs >= MANY_MTCS)
		return;
	counts = counts_of(t, (p->periods << t->mtc_freq) - p->past);
	if (counts_of(t, 1) >= FAST_COUNTS)
		error += counts_of(t, 1);
	if (p->lost && p->after_loss == SIZE_MAX)
		p->after_loss = t->n_refs;
	p->lost = false;
	add_ref(p, packet->stream_off, hwtdi_pt_add(p->edge, counts), error);
}

/* Cycles were lost, or the core slept. */
static void
pass_break(struct pass *p)
{
	if (p->broken == HWTDI_PT_NEVER)
		p->broken = p->after_cyc ? p->before_cyc : p->cycles.weight;
	p->lost = true;
}

/* PSB+ of the block, or the one that ends it. */
static void
pass_psb(struct pass *p, uint64_t off)
{
	if (off != p->start) {
		p->ended = p->behind;
		if (!p->behind)
			p->time->end = off;
		p->behind = true;
	}
	if (!p->ended)
		p->psb_off = off;
	p->in_psb = true;
}

/* PSB+ is over. */
static void
leave_psb(struct pass *p)
{
	p->in_psb = false;
	if (p->behind)
		p->ended = true;
}

static int
stop(struct pass *p, uint64_t off)
{
	if (p->behind && off - p->psb_off >= PSB_PLUS_BYTES)
		p->ended = true;
	return (p->ended || p->rc != HWTD_OK);
}

static int
see_tnt(void *arg, uint64_t off, uint64_t outcomes, uint32_t n)
{
	struct pass *const p = arg;

	(void)outcomes;
	(void)n;
	p->after_cyc = false;
	p->after_ovf = false;
	leave_psb(p);
	return (stop(p, off));
}

static int
see_ip(void *arg, uint64_t off, uint32_t kind, uint64_t ip, int known)
{
	struct pass *const p = arg;

	(void)ip;
	(void)known;
	if (kind != HWTD_PK_PT_FUP || (!p->in_psb && !p->after_ovf)) {
		p->after_cyc = false;
		leave_psb(p);
	}
	p->after_ovf = false;
	return (stop(p, off));
}

/* Remember a CYC for the second pass. */
static inline void
keep_cyc(struct pass *p, uint64_t off)
{
	struct hwtdi_pt_time *const t = p->time;

	if (p->behind || !t->has_cycs)
		return;
	if (t->n_cycs == HWTDI_PT_CYCS) {
		t->has_cycs = false;
		return;
	}
	if (t->n_cycs == t->cap_cycs &&
	    hwtdi_array_grow(t->library, &t->cycs, &t->cap_cycs, t->n_cycs + 1,
		sizeof(*t->cycs), NULL) != HWTD_OK) {
		p->rc = HWTD_E_NOMEM;
		return;
	}
	t->cycs[t->n_cycs].stream_off = off;
	t->cycs[t->n_cycs++].weight = p->cycles.weight;
}

static inline void
pass_cyc(struct pass *p, uint64_t off, uint64_t cycles)
{
	if (!p->after_cyc)
		p->before_cyc = p->cycles.weight;
	hwtdi_pt_count_cycles(&p->cycles, cycles);
	p->after_cyc = true;
	keep_cyc(p, off);
	for (; p->after_cycs < p->time->n_refs; p->after_cycs++) {
		struct hwtdi_pt_ref *const ref = &p->time->refs[p->after_cycs];

		if (ref->high == HWTDI_PT_NEVER)
			ref->high = p->cycles.weight;
	}
}

static int
see_cyc(void *arg, uint64_t off, uint64_t cycles)
{
	struct pass *const p = arg;

	if (stop(p, off))
		return (1);
	pass_cyc(p, off, cycles);
	return (0);
}

/*
 * Pass short CYC, and packets that tell no time, as long as all there is to do is
 * to remember the CYC.
 */
static inline const uint8_t *
skim_cycs(struct pass *p, const uint8_t *at, const uint8_t *end,
    uint16_t skd007)
{
	struct hwtdi_pt_time *const t = p->time;
	const size_t cap = t->cap_cycs < HWTDI_PT_CYCS ? t->cap_cycs
						       : HWTDI_PT_CYCS;
	const size_t first = t->n_cycs;
	const size_t room = t->has_cycs && p->after_cycs == t->n_refs
	    ? cap - first
	    : 0;
	const uint64_t base = t->segment.stream_off -
	    (uint64_t)(uintptr_t)t->segment.bytes;
	struct hwtdi_pt_cycles sum = p->cycles;
	uint64_t before_cyc = p->before_cyc, cycles;
	bool after_cyc = p->after_cyc;
	size_t n = 0;

	for (;;) {
		const uint8_t *const next = hwtdi_pt_skip(at, end);
		struct hwtdi_pt_cyc *cyc;
		unsigned int bytes;

		/* FUP too: it stands alone here. */
		after_cyc = after_cyc && next == at;
		at = next;
		if (n == room || at >= end ||
		    hwtdi_pt_classes[at[0]] != HWTDI_PT_CYC)
			break;
		bytes = hwtdi_pt_short_cyc(at, skd007, &cycles);
		if (bytes == 0)
			break;
		if (!after_cyc)
			before_cyc = sum.weight;
		hwtdi_pt_count_cycles(&sum, cycles);
		after_cyc = true;
		cyc = &t->cycs[first + n++];
		cyc->stream_off = base + (uint64_t)(uintptr_t)at;
		cyc->weight = sum.weight;
		at += bytes;
	}
	t->n_cycs = first + n;
	p->cycles = sum;
	p->before_cyc = before_cyc;
	p->after_cyc = after_cyc;
	return (at);
}

/* Most packets are CYC, or tell no time. */
static const uint8_t *
skim(void *arg, const uint8_t *at, const uint8_t *end)
{
	struct pass *const p = arg;
	const struct hwtdi_pt_stretch *const segment = &p->time->segment;
	const uint16_t skd007 = p->time->lexer.state.skd007;

	if (p->in_psb || p->behind || p->after_ovf)
		return (at);
	while (p->rc == HWTD_OK) {
		uint64_t cycles;
		unsigned int n;

		at = skim_cycs(p, at, end, skd007);
		if (at >= end || hwtdi_pt_classes[at[0]] != HWTDI_PT_CYC)
			break;
		n = hwtdi_pt_short_cyc(at, skd007, &cycles);
		if (n == 0)
			break;
		pass_cyc(p,
		    segment->stream_off + (uint64_t)(at - segment->bytes),
		    cycles);
		at += n;
	}
	return (at);
}

static int
see_packet(void *arg, const struct hwtd_packet *packet)
{
	struct pass *const p = arg;

	if (packet->kind != HWTD_PK_PT_PSB && stop(p, packet->stream_off))
		return (1);
	switch (packet->kind) {
	case HWTD_PK_PT_PAD:
		return (0);
	case HWTD_PK_PT_PSB:
		pass_psb(p, packet->stream_off);
		break;
	case HWTD_PK_PT_PSBEND:
		leave_psb(p);
		return (p->ended);
	case HWTD_PK_PT_TSC:
		pass_tsc(p, packet->stream_off, packet->value);
		break;
	case HWTD_PK_PT_TMA:
		pass_tma(p, packet);
		break;
	case HWTD_PK_PT_MTC:
		pass_mtc(p, packet);
		break;
	case HWTD_PK_PT_CBR:
		hwtdi_pt_pass_cbr(&p->cycles, packet->value);
		break;
	case HWTD_PK_PT_OVF:
		leave_psb(p);
		pass_break(p);
		p->after_ovf = true;
		return (stop(p, packet->stream_off));
	case HWTD_PK_UNKNOWN:
	case HWTD_PK_TRUNCATED:
	case HWTD_PK_PT_EXSTOP:
	case HWTD_PK_PT_PWRE:
	case HWTD_PK_PT_PWRX:
		pass_break(p);
		break;
	default:
		break;
	}
	p->after_cyc = p->after_cyc && p->in_psb;
	p->after_ovf = false;
	return (stop(p, packet->stream_off));
}

static uint64_t
within(uint64_t v, uint64_t low, uint64_t high)
{
	if (v > high)
		v = high;
	return (v < low ? low : v);
}

/* How long the cycles of the block are: as told, else as the ratios say. */
static void
find_rate(struct hwtdi_pt_time *t)
{
	uint64_t counts = 0, weight = 0;

	for (size_t i = 1; i < t->n_refs; i++) {
		const struct hwtdi_pt_ref *const ref = &t->refs[i];

		if (ref->broken != HWTDI_PT_NEVER)
			continue;
		counts += ref->count - ref[-1].count;
		weight += ref->told - ref[-1].told;
	}
	t->rate_counts = counts;
	t->rate_weight = weight;
	if (counts != 0 && weight != 0)
		return;
	t->rate_counts = t->nominal;
	t->rate_weight = t->nominal != 0 ? HWTDI_PT_CYCLE : 0;
}

/*
 * How many cycles there were at each reference.  It lies between two CYC, of
 * which the first may already be that of a later packet: an MTC can be written
 * late.  So it is as far from the one before as is usual in the block.
 */
static void
settle_weights(struct hwtdi_pt_time *t)
{
	for (size_t i = 1; i < t->n_refs && t->rate_weight != 0; i++) {
		struct hwtdi_pt_ref *const ref = &t->refs[i];
		const uint64_t from = ref[-1].weight;
		const uint64_t counts = ref->count - ref[-1].count;
		uint64_t weight = ref->told;

		if (ref->broken == HWTDI_PT_NEVER)
			weight = hwtdi_pt_add(from,
			    hwtdi_pt_scale(counts, t->rate_weight,
				t->rate_counts));
		ref->weight = within(weight, ref->low > from ? ref->low : from,
		    ref->high);
	}
}

int
hwtdi_pt_find_refs(struct hwtdi_pt_time *time)
{
	static const struct hwtd_packet_visitor visitor = {
		.size = sizeof(visitor),
		.tnt = see_tnt,
		.ip = see_ip,
		.cyc = see_cyc,
		.packet = see_packet,
	};
	const struct hwtdi_pt_stretch *const segment = &time->segment;
	struct hwtdi_pt_stretch s = *segment;
	const size_t skip = (size_t)(time->at - segment->stream_off);
	struct pass p = { .time = time, .start = time->at };
	struct hwtdi_pt_lexer lexer = time->lexer;
	size_t used;

	time->n_refs = 0;
	time->n_cycs = 0;
	time->has_cycs = true;
	time->end = segment->stream_off + segment->n;
	time->most = UINT64_MAX;
	hwtdi_pt_no_cycles(time, &p.cycles);
	p.broken = HWTDI_PT_NEVER;
	p.after_loss = SIZE_MAX;
	s.bytes += skip;
	s.n -= skip;
	s.stream_off += skip;
	/* The PSB+ of the next segment ends the last block of this one. */
	if (s.tail >= HWTDI_PT_PACKET_MAX &&
	    hwtdi_pt_find_psb(s.bytes + s.n, HWTDI_PT_PSB_BYTES, 0) == 0) {
		const size_t more = s.tail < PSB_PLUS_BYTES ? s.tail
							    : PSB_PLUS_BYTES;

		s.n += more;
		s.tail -= more;
	}
	s.kinds = UINT64_MAX;
	s.visitor = &visitor;
	s.skim = skim;
	s.arg = &p;
	hwtdi_pt_lexer_restart(&lexer, time->synced);
	(void)hwtdi_pt_lexer_visit(&lexer, &s, &used);
	/* The next PSB can begin some bytes behind the cut. */
	if (time->end > segment->stream_off + segment->n)
		time->end = segment->stream_off + segment->n;
	if (time->most == UINT64_MAX)
		leave_mtcs(&p);
	if (p.rc == HWTD_OK) {
		find_rate(time);
		settle_weights(time);
	}
	return (p.rc);
}
