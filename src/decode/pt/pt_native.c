/*
 * The native Intel PT engine.
 */
#include <string.h>

#include "base/fail.h"
#include "decode/pt/pt_engines.h"
#include "decode/pt/pt_native.h"

/* Bytes of PSB+ to look at behind a segment. */
#define TAIL_BYTES 4096

/* All packets of the segment are used. */
static int
finish(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (d->at_joint) {
		rc = hwtdi_ptn_joint(d, flow, err);
		if (rc == HWTD_OK && d->on && d->has_next_psb &&
		    d->next_psb.has_ip) {
			flow->has_next_ip = true;
			flow->next_ip = d->next_psb.ip;
		}
	}
	if (rc == HWTD_AGAIN || rc < 0)
		return (rc);
	hwtdi_ptn_tell_detail(d, flow);
	d->done = true;
	return (HWTD_OK);
}

static int
step(struct hwtdi_decoder *d, struct hwtdi_flow *flow, struct hwtd_error *err)
{
	int why;

	if (!d->synced)
		return (hwtdi_ptn_enter(d, flow, err));
	if (d->at >= d->recheck_at && d->n_bits == 0)
		return (hwtdi_ptn_recheck(d, flow, err));
	why = hwtdi_ptn_walk(d, flow, err);
	switch (why) {
	case HWTDI_PTN_STOP_FULL:
		return (HWTD_AGAIN);
	case HWTDI_PTN_STOP_PACKET:
		return (hwtdi_ptn_has_room(flow)
			? hwtdi_ptn_packet(d, flow, err)
			: HWTD_AGAIN);
	case HWTDI_PTN_STOP_NODE:
		return (hwtdi_ptn_has_room(flow) ? hwtdi_ptn_node(d, flow, err)
						 : HWTD_AGAIN);
	case HWTDI_PTN_STOP_END:
		break;
	case HWTDI_PTN_STOP_MORE:
		return (HWTD_OK);
	default:
		return (why);
	}
	if (d->at < d->segment.n || d->n_bits != 0 || d->ahead != 0)
		return (HWTD_OK);
	return (hwtdi_ptn_has_room(flow) ? finish(d, flow, err) : HWTD_AGAIN);
}

int
hwtdi_ptn_read(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	hwtdi_ptn_memo_begin(&d->memo, d->library);
	if (hwtdi_ptn_runs_begin(d->runs, d->library))
		hwtdi_ptn_memo_forget(&d->memo);
	flow->graph = d->graph;
	flow->has_last_count = d->next_psb.has_tsc;
	flow->last_count = d->next_psb.tsc;
	/* A trial has its answer when something is lost. */
	while (!d->done && rc != HWTD_AGAIN &&
	    !(d->choice.trial && d->choice.lost)) {
		rc = step(d, flow, err);
		if (rc == HWTD_E_LIMIT)
			rc = hwtdi_ptn_lose(d, flow, HWTD_GAP_LIMIT,
			    "more code than is kept");
		if (rc < 0)
			return (rc);
	}
	hwtdi_ptn_memo_end(&d->memo, flow->n_tokens);
	hwtdi_ptn_runs_end(d->runs, flow);
	return (d->done ? HWTD_END : HWTD_OK);
}

/* Packets that begin in the last bytes are read from a copy with bytes behind. */
void
hwtdi_ptn_copy_edge(struct hwtdi_decoder *d)
{
	const struct hwtdi_segment *s = &d->segment;
	size_t room = s->n + s->tail, n;

	d->edge_at = room < HWTDI_PT_PACKET_MAX
	    ? 0
	    : room - (HWTDI_PT_PACKET_MAX - 1);
	if (d->edge_at > s->n)
		d->edge_at = s->n;
	memset(d->edge, 0, sizeof(d->edge));
	n = room - d->edge_at;
	if (n > sizeof(d->edge) - HWTDI_PT_PACKET_MAX)
		n = sizeof(d->edge) - HWTDI_PT_PACKET_MAX;
	if (n != 0)
		memcpy(d->edge, s->bytes + d->edge_at, n);
}

int
hwtdi_ptn_start(struct hwtdi_decoder *d, const struct hwtdi_segment *segment)
{
	d->segment = *segment;
	d->at = 0;
	hwtdi_ptn_copy_edge(d);
	memset(&d->next_psb, 0, sizeof(d->next_psb));
	d->at_joint = segment->tail >= HWTDI_PT_PSB_BYTES &&
	    hwtdi_pt_find_psb(segment->bytes + segment->n, HWTDI_PT_PSB_BYTES,
		0) == 0;
	d->has_next_psb = d->at_joint &&
	    hwtdi_pt_read_psb(segment->bytes + segment->n, segment->tail,
		&d->next_psb);
	d->done = segment->n == 0;
	d->synced = false;
	d->on = false;
	d->n_bits = 0;
	d->node = 0;
	d->last_token = 0;
	d->has_last_ip = false;
	d->anchored = false;
	d->anchor_off = 0;
	d->context = d->base;
	d->recheck_at = 0;
	d->has_count = false;
	d->row_timed = false;
	d->code_timed = false;
	/* Where units lie is told anew: what was told can have been lost. */
	hwtdi_ptn_clear_calls(d);
	hwtdi_ptn_forget_code(d);
	hwtdi_places_forget(d->places, d->cap_places);
	d->loop_at = SIZE_MAX;
	hwtdi_graph_see(d->graph, &d->view);
	return (HWTD_OK);
}

static int
native_start(struct hwtdi_decoder *d, const struct hwtdi_segment *segment,
    struct hwtd_error *err)
{
	(void)err;
	return (hwtdi_ptn_start(d, segment));
}

static int
native_times(struct hwtdi_decoder *d, struct hwtdi_when out[HWTDI_WHENS],
    size_t *n_out)
{
	if (!d->row_timed) {
		const struct hwtdi_pt_stretch s = { .bytes = d->segment.bytes,
			.n = d->segment.n,
			.tail = d->segment.tail,
			.stream_off = d->segment.stream_off };

		d->row_timed = true;
		hwtdi_pt_time_start(&d->row_time, &s, true);
	}
	return (hwtdi_pt_time_list(&d->row_time, out, n_out));
}

struct hwtdi_decoder *
hwtdi_ptn_new(struct hwtd_context *library)
{
	struct hwtdi_decoder *d = hwtdi_alloc(library, sizeof(*d));

	if (d == NULL)
		return (NULL);
	memset(d, 0, offsetof(struct hwtdi_decoder, edge));
	d->library = library;
	return (d);
}

/* What is of no use for the next user. */

static void
begin_use(struct hwtdi_decoder *d)
{
	hwtdi_loop_init(&d->loop, d->library);
	hwtdi_loop_init(&d->loop_starts, d->library);
	hwtdi_pt_time_init(&d->row_time, d->library, &d->pt, d->near_count);
	hwtdi_pt_time_init(&d->code_time, d->library, &d->pt, d->near_count);
	d->row_time.only_told = true;
	d->code_time.only_told = true;
}

static void
end_use(struct hwtdi_decoder *d)
{
	hwtdi_loop_fini(&d->loop);
	hwtdi_loop_fini(&d->loop_starts);
	hwtdi_pt_time_fini(&d->row_time);
	hwtdi_pt_time_fini(&d->code_time);
}

void
hwtdi_ptn_init(struct hwtdi_decoder *d)
{
	hwtdi_ptn_targets_init(&d->targets);
	begin_use(d);
}

void
hwtdi_ptn_fini(struct hwtdi_decoder *d)
{
	end_use(d);
	hwtdi_ptn_targets_fini(&d->targets, d->library);
	hwtdi_ptn_memo_fini(&d->memo, d->library);
	hwtdi_ptn_runs_close(d->library, d->runs);
	hwtdi_array_free(d->library, d->places, d->cap_places,
	    sizeof(*d->places));
}

static void
native_close(struct hwtdi_decoder *d)
{
	if (d == NULL)
		return;
	hwtdi_ptn_fini(d);
	hwtdi_free(d->library, d, sizeof(*d));
}

/* What may be another thing for each user. */
static void
bind(struct hwtdi_decoder *d, const struct hwtdi_decoder_args *args)
{
	d->code = args->code;
	d->base = args->context;
	d->context = args->context;
	d->timed = args->timed;
	d->near_count = args->near_count;
}

static int
native_open(const struct hwtdi_decoder_args *args, struct hwtdi_decoder **out,
    struct hwtd_error *err)
{
	struct hwtdi_decoder *d = hwtdi_ptn_new(args->library);
	int rc = HWTD_OK;

	if (d == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*d)));
	bind(d, args);
	d->graph = args->graph;
	d->epoch = 1;
	if (args->pt != NULL)
		d->pt = *args->pt;
	for (size_t i = 0; i < HWTD_PT_MAX_FILTERS; i++)
		d->filtered |= d->pt.filters[i].mode != HWTD_PT_FILTER_OFF;
	d->errata = hwtdi_pt_errata_of(args->pt);
	hwtdi_ptn_init(d);
	hwtdi_ptn_memo_init(&d->memo);
	if (args->runs)
		rc = hwtdi_ptn_runs_open(d->library, &d->runs, err);
	if (rc != HWTD_OK) {
		native_close(d);
		return (rc);
	}
	*out = d;
	return (HWTD_OK);
}

static size_t
native_rest(struct hwtdi_decoder *d)
{
	end_use(d);
	memset(&d->code, 0, sizeof(d->code));
	return (sizeof(*d) + hwtdi_ptn_targets_bytes(&d->targets) +
	    hwtdi_ptn_memo_bytes(&d->memo) + hwtdi_ptn_runs_bytes(d->runs) +
	    d->cap_places * sizeof(*d->places));
}

static bool
native_rebind(struct hwtdi_decoder *d, const struct hwtdi_decoder_args *args)
{
	static const struct hwtd_pt_config none;

	if (memcmp(&d->pt, args->pt != NULL ? args->pt : &none,
		sizeof(d->pt)) != 0)
		return (false);
	bind(d, args);
	begin_use(d);
	return (true);
}

static const uint32_t *
native_run(const struct hwtdi_decoder *d, uint32_t number, size_t *n_out)
{
	return (hwtdi_ptn_runs_expand(d->runs, number, n_out));
}

const struct hwtdi_engine hwtdi_pt_native = {
	.name = "native",
	.tech = HWTD_TECH_INTEL_PT,
	.open = native_open,
	.start = native_start,
	.read = hwtdi_ptn_read,
	.close = native_close,
	.rest = native_rest,
	.rebind = native_rebind,
	.times = native_times,
	.run = native_run,
	.find_sync = hwtdi_pt_find_sync,
	.tail_bytes = TAIL_BYTES,
};
