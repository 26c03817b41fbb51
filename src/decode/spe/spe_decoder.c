/*
 * The engine for Arm SPE: each record is an event of its own.
 */
#include "base/fail.h"
#include "decode/flow_put.h"
#include "decode/spe/spe_branch.h"
#include "decode/spe/spe_engines.h"
#include "decode/spe/spe_names.h"
#include "decode/spe/spe_record.h"

/* Records that are read at once: they stay in the nearest cache. */
#define RECORDS 32

/* Rows that a record has at most: a gap and a sample. */
#define RARES_OF_RECORD 2

struct hwtdi_decoder {
	struct hwtd_context *library;
	struct hwtdi_code_graph *graph;
	bool timed;
	unsigned int counter_bits;
	struct hwtdi_segment segment;
	struct hwtdi_spe_reader reader;
	struct hwtdi_spe_branches branches;
};

static int
spe_open(const struct hwtdi_decoder_args *args, struct hwtdi_decoder **out,
    struct hwtd_error *err)
{
	struct hwtdi_decoder *d = hwtdi_zalloc(args->library, sizeof(*d));

	if (d == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*d)));
	d->library = args->library;
	d->graph = args->graph;
	d->timed = args->timed;
	hwtdi_spe_branches_init(&d->branches, &args->code, &args->context);
	if (args->spe != NULL)
		d->counter_bits = args->spe->counter_bits;
	*out = d;
	return (HWTD_OK);
}

static void
spe_close(struct hwtdi_decoder *d)
{
	if (d != NULL)
		hwtdi_free(d->library, d, sizeof(*d));
}

static int
spe_start(struct hwtdi_decoder *d, const struct hwtdi_segment *segment,
    struct hwtd_error *err)
{
	(void)err;
	d->segment = *segment;
	hwtdi_spe_reader_init(&d->reader, d->counter_bits);
	hwtdi_spe_reader_begin(&d->reader, segment->stream_off);
	return (HWTD_OK);
}

static void
put_time(const struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_sample *s)
{
	struct hwtdi_anchor *a;

	if (!d->timed || (s->present & HWTD_SAMPLE_COUNT) == 0 ||
	    (s->flags & HWTD_SAMPLEF_DAMAGED) != 0)
		return;
	a = &flow->anchors[flow->n_anchors++];
	a->at = (uint32_t)flow->n_tokens;
	a->flags = HWTDI_ANCHOR_TIME;
	a->stream_off = s->stream_off + s->bytes;
	a->count = s->count;
}

static bool
is_taken(const struct hwtd_sample *s)
{
	return (s->op == HWTD_OP_BRANCH &&
	    (s->present & HWTD_SAMPLE_EVENTS) != 0 &&
	    (s->events >> HWTDI_SPE_EV_NOT_TAKEN & 1) == 0);
}

/* The event of a sample that is where its details are to be. */
static void
put_sample(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	const struct hwtd_sample *s = &flow->rares[flow->n_rares]
					   .detail.sample;
	struct hwtdi_rare *rare = hwtdi_rare_begin(flow, HWTD_EV_SAMPLE,
	    s->stream_off + s->bytes);

	rare->row.branch = hwtdi_spe_branch(&d->branches, s);
	if ((s->present & HWTD_SAMPLE_PC) != 0)
		hwtdi_rare_set_ip(rare, s->pc);
	/* Where a branch would have gone, or 0, is not where it went. */
	if (is_taken(s)) {
		rare->row.flags |= HWTD_EVF_TAKEN;
		if ((s->present & HWTD_SAMPLE_TARGET) != 0)
			hwtdi_rare_set_target(rare, s->target);
	}
}

/* What is wrong with a record, in front of what is there of it all the same. */
static void
put_bad(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtd_sample *bad)
{
	const struct hwtd_sample s = *bad;
	const uint64_t *pc = (s.present & HWTD_SAMPLE_PC) != 0 ? &s.pc : NULL;

	if ((s.flags & HWTD_SAMPLEF_DAMAGED) != 0)
		(void)hwtdi_rare_gap(flow, HWTD_GAP_BAD_PACKET, s.stream_off,
		    s.stream_off + s.bytes, pc,
		    "the record of a sample is damaged");
	else
		(void)hwtdi_rare_gap(flow, HWTD_GAP_TRUNCATED, s.stream_off,
		    s.stream_off + s.bytes, pc,
		    "the record of a sample is cut off");
	if (s.present == 0 && s.n_extras == 0)
		return;
	flow->rares[flow->n_rares].detail.sample = s;
	put_sample(d, flow);
}

static int
spe_read(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	const uint32_t bad = HWTD_SAMPLEF_DAMAGED | HWTD_SAMPLEF_TRUNCATED;
	const uint64_t end = d->segment.stream_off + d->segment.n;

	(void)err;
	flow->graph = d->graph;
	for (int i = 0; i < RECORDS; i++) {
		const uint64_t at = d->reader.off;
		struct hwtd_sample *s = &flow->rares[flow->n_rares]
					     .detail.sample;

		if (flow->n_rares + RARES_OF_RECORD > HWTDI_FLOW_RARES ||
		    flow->n_anchors == HWTDI_FLOW_ANCHORS)
			return (HWTD_OK);
		if (hwtdi_spe_read(&d->reader,
			d->segment.bytes + (at - d->segment.stream_off),
			(size_t)(end - at), true, s, 1) == 0)
			return (HWTD_END);
		put_time(d, flow, s);
		if ((s->flags & bad) != 0)
			put_bad(d, flow, s);
		else
			put_sample(d, flow);
	}
	return (HWTD_OK);
}

const struct hwtdi_engine hwtdi_spe_native = {
	.name = "spe",
	.tech = HWTD_TECH_SPE,
	.open = spe_open,
	.start = spe_start,
	.read = spe_read,
	.close = spe_close,
	.find_sync = hwtdi_spe_find_sync,
	.tail_bytes = HWTDI_SPE_SYNC_LOOK,
};
