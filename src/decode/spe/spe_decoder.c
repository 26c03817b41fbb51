/*
 * The engine for Arm SPE: each record is an event of its own.
 */
#include "base/fail.h"
#include "decode/flow_put.h"
#include "decode/spe/spe_branch.h"
#include "decode/spe/spe_engines.h"
#include "decode/spe/spe_names.h"
#include "decode/spe/spe_record.h"
#include "decode/spe/spe_row.h"

/* Records that are read at once: they stay in the nearest cache. */
#define RECORDS HWTDI_FLOW_SAMPLES

/* Rows that a record has at most: a gap and a sample. */
#define RARES_OF_RECORD 2

struct hwtdi_decoder {
	struct hwtd_context *library;
	struct hwtdi_code_graph *graph;
	bool timed;
	unsigned int counter_bits;
	uint64_t wrap_base;
	uint64_t wrap_mask;
	struct hwtdi_segment segment;
	struct hwtdi_spe_reader reader;
	struct hwtdi_spe_branches branches;
	/* So many more are read at once. */
	size_t left;
	/* A record that was read, but is not handed out yet. */
	bool has_held;
	struct hwtd_sample held;
};

static const uint32_t bad_flags = HWTD_SAMPLEF_DAMAGED |
    HWTD_SAMPLEF_TRUNCATED;

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
	d->wrap_base = args->wrap_base;
	d->wrap_mask = args->wrap_mask;
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
	d->left = 0;
	d->has_held = false;
	hwtdi_spe_reader_init(&d->reader, d->counter_bits);
	hwtdi_spe_reader_wrap(&d->reader, d->wrap_base, d->wrap_mask);
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

/* The event of a sample that is where its details are to be. */
static void
put_sample(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	const struct hwtd_sample *s = &flow->rares[flow->n_rares]
					   .detail.sample;
	struct hwtdi_rare *rare = hwtdi_rare_begin(flow, HWTD_EV_SAMPLE,
	    s->stream_off + s->bytes);

	hwtdi_spe_row(s, hwtdi_spe_branch(&d->branches, s), &rare->row);
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

/* The bytes that were not read yet. */
static const uint8_t *
rest_of(const struct hwtdi_decoder *d, size_t *n_out)
{
	const uint64_t done = d->reader.off - d->segment.stream_off;

	*n_out = d->segment.n - (size_t)done;
	return (d->segment.bytes + done);
}

static bool
next_record(struct hwtdi_decoder *d, struct hwtd_sample *out)
{
	size_t n;
	const uint8_t *bytes = rest_of(d, &n);

	return (hwtdi_spe_read(&d->reader, bytes, n, true, out, 1) == 1);
}

static int
spe_read(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	(void)err;
	flow->graph = d->graph;
	if (d->left == 0)
		d->left = RECORDS;
	for (; d->left > 0; d->left--) {
		struct hwtd_sample *s = &flow->rares[flow->n_rares]
					     .detail.sample;

		if (flow->n_rares + RARES_OF_RECORD > HWTDI_FLOW_RARES ||
		    flow->n_anchors == HWTDI_FLOW_ANCHORS) {
			d->left = 0;
			return (HWTD_OK);
		}
		if (d->has_held)
			*s = d->held;
		else if (!next_record(d, s))
			return (HWTD_END);
		d->has_held = false;
		put_time(d, flow, s);
		if ((s->flags & bad_flags) != 0)
			put_bad(d, flow, s);
		else
			put_sample(d, flow);
	}
	return (HWTD_OK);
}

/* Records of which nothing has to be told beside. */
static size_t
good_records(struct hwtdi_decoder *d, struct hwtd_sample *out, size_t cap)
{
	const uint8_t *bytes;
	size_t k = 0, n;

	while (k < cap && !d->has_held) {
		bytes = rest_of(d, &n);
		k += hwtdi_spe_read_alike(&d->reader, bytes, n, &out[k],
		    cap - k);
		if (k == cap || !next_record(d, &out[k]))
			break;
		if ((out[k].flags & bad_flags) == 0) {
			k++;
			continue;
		}
		d->held = out[k];
		d->has_held = true;
	}
	return (k);
}

static size_t
spe_samples(struct hwtdi_decoder *d, struct hwtd_sample *out,
    uint8_t *branches_out, size_t cap)
{
	size_t n;

	/* How many are read at once is the same in both ways. */
	if (d->left == 0)
		d->left = RECORDS;
	n = good_records(d, out, cap < d->left ? cap : d->left);
	for (size_t i = 0; i < n; i++)
		branches_out[i] = hwtdi_spe_branch(&d->branches, &out[i]);
	d->left -= n;
	return (n);
}

const struct hwtdi_engine hwtdi_spe_native = {
	.name = "spe",
	.tech = HWTD_TECH_SPE,
	.open = spe_open,
	.start = spe_start,
	.read = spe_read,
	.samples = spe_samples,
	.close = spe_close,
	.find_sync = hwtdi_spe_find_sync,
	.tail_bytes = HWTDI_SPE_SYNC_LOOK,
};
