/*
 * The engine for CoreSight sources: OpenCSD decodes them, but for ITM.
 */
#include "decode/coresight/cs_decoder.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "decode/coresight/cs_engines.h"

/* Bytes that are fed at once: what they make waits in memory. */
#define FEED 256

/* Of each OpenCSD 1.3.3 leaks a little: damage is not to make more. */
#define MAX_TREES 4096

static bool
is_itm(const struct hwtdi_decoder *d)
{
	return (d->config.protocol == HWTD_CS_ITM);
}

static int
take_config(struct hwtdi_decoder *d, const struct hwtdi_decoder_args *args,
    struct hwtd_error *err)
{
	if (args->coresight == NULL ||
	    args->coresight->protocol == HWTD_CS_UNKNOWN)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "how the CoreSight stream was recorded is not known: its "
		    "protocol and registers"));
	d->config = *args->coresight;
	return (HWTD_OK);
}

static void
cs_close(struct hwtdi_decoder *d)
{
	struct hwtd_context *library;

	if (d == NULL)
		return;
	library = d->library;
	hwtdi_cs_tree_destroy(d->tree);
	hwtdi_cs_tail_fini(&d->tail);
	hwtdi_cs_queue_fini(&d->queue);
	hwtdi_array_free(library, d->places, d->cap_places,
	    sizeof(*d->places));
	hwtdi_free(library, d->ranges, HWTDI_CS_RANGES * sizeof(*d->ranges));
	hwtdi_free(library, d, sizeof(*d));
}

static void
see_stamp(void *arg, uint64_t off, const void *packet, const uint8_t *bytes,
    size_t n)
{
	struct hwtdi_decoder *d = arg;
	struct hwtd_packet row = { .stream_off = off };

	hwtdi_cs_read_packet(&d->reader, packet, bytes, n, &row);
	d->queue.stamp = d->reader.stamp;
}

/*
 * Also again: no version of OpenCSD forgets all with a reset, and what it knows
 * must not come from another segment.
 */
static int
make_tree(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	struct hwtdi_cs_tree_args args = { .library = d->library,
		.config = &d->config,
		.queue = &d->queue,
		.read_code = hwtdi_cs_read_code_at,
		.arg = d };

	struct hwtdi_cs_tree *tree;
	int rc;

	d->reader.protocol = d->config.protocol;
	d->reader.stamp = 0;
	rc = hwtdi_cs_layout_of(hwtdi_cs_library_version(), &d->reader.layout,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	d->queue.has_stamp = d->config.protocol == HWTD_CS_STM &&
	    d->reader.layout.wrong_gray;
	if (d->queue.has_stamp)
		args.see_packet = see_stamp;
	rc = hwtdi_cs_tree_create(&args, &tree, err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_cs_tree_destroy(d->tree);
	d->tree = tree;
	d->tree_is_new = true;
	return (HWTD_OK);
}

static int
begin_tree(struct hwtdi_decoder *d, uint64_t off, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	/* Up to 1.4.1 masters and channels stay. */
	if (d->config.protocol == HWTD_CS_STM && !d->tree_is_new &&
	    d->n_trees < MAX_TREES) {
		d->n_trees++;
		rc = make_tree(d, err);
	}
	d->tree_is_new = false;
	d->reset_off = off;
	return (rc == HWTD_OK ? hwtdi_cs_tree_reset(d->tree, off, err) : rc);
}

static int
cs_open(const struct hwtdi_decoder_args *args, struct hwtdi_decoder **out,
    struct hwtd_error *err)
{
	struct hwtdi_decoder *d = hwtdi_zalloc(args->library, sizeof(*d));
	struct hwtd_error why = { .size = sizeof(why) };
	int rc;

	if (d == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*d)));
	d->library = args->library;
	d->code = args->code;
	d->graph = args->graph;
	d->timed = args->timed;
	d->base = args->context;
	d->epoch = 1;
	hwtdi_cs_queue_init(&d->queue, args->library);
	hwtdi_cs_tail_init(&d->tail, args->library, &d->config);
	d->ranges = hwtdi_zalloc(args->library,
	    HWTDI_CS_RANGES * sizeof(*d->ranges));
	rc = d->ranges == NULL ? hwtdi_fail_nomem(&why, sizeof(*d->ranges))
			       : take_config(d, args, &why);
	if (rc == HWTD_OK && !is_itm(d))
		rc = make_tree(d, &why);
	if (rc == HWTD_E_UNSUPPORTED)
		/* Other streams of the trace may be decoded: this is a gap. */
		(void)snprintf(d->refusal, sizeof(d->refusal), "%s",
		    why.message);
	else if (rc != HWTD_OK) {
		cs_close(d);
		return (hwtdi_fail(err, rc, "%s", why.message));
	}
	*out = d;
	return (HWTD_OK);
}

/* Answers about code hold up to a byte that is behind what is fed. */
static void
set_until(struct hwtdi_decoder *d)
{
	d->until = hwtdi_cs_code_until(d, &d->front,
	    d->segment.stream_off + d->fed);
}

static int
cs_start(struct hwtdi_decoder *d, const struct hwtdi_segment *segment,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	d->segment = *segment;
	d->fed = 0;
	d->ended = false;
	d->context = d->base;
	d->front = d->base;
	d->front_span.length = 0;
	d->queue.failed = false;
	hwtdi_cs_queue_clear(&d->queue);
	d->n_contexts = d->queue.n_contexts;
	hwtdi_cs_forget_code(d);
	hwtdi_places_forget(d->places, d->cap_places);
	d->left = 0;
	d->has_last_ip = false;
	d->has_cycles = false;
	d->off = segment->stream_off;
	d->rows_until = segment->stream_off;
	d->reset_off = segment->stream_off;
	d->begun_off = segment->stream_off;
	d->anchored = false;
	d->in_gap = false;
	d->gap.end = segment->stream_off;
	d->on = false;
	d->to_enable = false;
	d->has_exception = false;
	d->has_marker = false;
	d->has_off_ip = false;
	d->transaction = false;
	if (is_itm(d)) {
		hwtdi_itm_reset(&d->itm, &d->queue, segment->stream_off);
		return (HWTD_OK);
	}
	if (d->tree == NULL) {
		hwtdi_cs_begin_gap(d, HWTD_GAP_UNSUPPORTED,
		    segment->stream_off, d->refusal);
		d->ended = true;
		return (HWTD_OK);
	}
	set_until(d);
	d->n_trees = 0;
	hwtdi_cs_tail_fini(&d->tail);
	if (!d->tree_is_new)
		rc = make_tree(d, err);
	return (rc == HWTD_OK ? begin_tree(d, segment->stream_off, err) : rc);
}

/* From a byte on nothing is known, behind the elements that wait. */
static int
put_no_sync(struct hwtdi_decoder *d, uint8_t reason, uint64_t off,
    struct hwtd_error *err)
{
	struct hwtdi_cs_element *e = hwtdi_cs_queue_put(&d->queue);

	if (e == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*e)));
	e->kind = HWTDI_CS_NO_SYNC;
	e->reason = reason;
	e->off = off;
	e->value = d->segment.stream_off + d->fed;
	return (HWTD_OK);
}

/* Offset of the last element, or of where the library was reset behind it. */
static uint64_t
last_known(const struct hwtdi_decoder *d)
{
	const struct hwtdi_cs_queue *q = &d->queue;
	const uint64_t off = q->n > q->first ? q->at[q->n - 1].off : d->off;

	return (off > d->reset_off ? off : d->reset_off);
}

/* The library stopped at a packet; it goes on at the next synchronisation. */
static int
refuse(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	const struct hwtdi_cs_stop stop = *hwtdi_cs_tree_stop(d->tree);
	const uint64_t base = d->segment.stream_off;
	int rc;

	d->fed = hwtdi_cs_find_sync(d->config.protocol, d->segment.bytes,
	    d->segment.n, (size_t)(stop.next - base));
	rc = begin_tree(d, base + d->fed, err);
	hwtdi_cs_tree_tell(d->tree, &stop);
	return (rc);
}

/*
 * The library gave up with something behind the last element, and with what it
 * kept back: that is a gap.  It goes on at the next synchronisation.
 */
static int
recover(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	const uint64_t base = d->segment.stream_off;
	const struct hwtdi_cs_stop *stop = hwtdi_cs_tree_stop(d->tree);
	uint64_t known = last_known(d), from;
	int rc;

	if (stop->is_known)
		return (refuse(d, err));
	/* What is before was taken: to feed it again could go on for long. */
	from = stop->next > known ? stop->next : known + 1;
	d->fed = hwtdi_cs_find_sync(d->config.protocol, d->segment.bytes,
	    d->segment.n, (size_t)(from - base));
	rc = hwtdi_cs_tail_look(&d->tail, base, d->segment.bytes, d->fed,
	    d->fed, err);
	if (rc != HWTD_OK)
		return (rc);
	/* What is behind the element may have been right. */
	if (d->tail.bad && d->tail.bad_off > known)
		known = d->tail.bad_off;
	rc = put_no_sync(d, HWTDI_CS_UNSYNCED_GIVEN_UP, known, err);
	return (rc == HWTD_OK ? begin_tree(d, base + d->fed, err) : rc);
}

static int
feed_itm(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	const uint64_t off = d->segment.stream_off + d->fed;
	size_t n = d->segment.n - d->fed;

	d->ended = n == 0;
	if (n > FEED)
		n = FEED;
	if (d->ended)
		hwtdi_itm_end(&d->itm, off);
	else
		hwtdi_itm_feed(&d->itm, off, d->segment.bytes + d->fed, n);
	d->fed += n;
	return (d->queue.failed
		? hwtdi_fail_nomem(err, sizeof(struct hwtdi_cs_element))
		: HWTD_OK);
}

/* What is lost of the last packets. */
static int
put_lost(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	const uint64_t off = d->segment.stream_off;
	int rc;

	if (hwtdi_cs_tree_is_whole(d->tree, off + d->segment.n))
		return (HWTD_OK);
	rc = hwtdi_cs_tail_look(&d->tail, off, d->segment.bytes, d->segment.n,
	    d->segment.n, err);
	if (rc != HWTD_OK)
		return (rc);
	/* The library would have told of it with the one behind it. */
	if (d->tail.bad)
		return (put_no_sync(d, HWTDI_CS_UNSYNCED_LAST_BAD,
		    d->tail.bad_off, err));
	return (d->tail.cut
		? put_no_sync(d, HWTDI_CS_UNSYNCED_END, d->tail.off, err)
		: HWTD_OK);
}

static int
end_of_bytes(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	const struct hwtdi_cs_stop untold = *hwtdi_cs_tree_untold(d->tree);
	const uint64_t end = d->segment.stream_off + d->segment.n;
	int rc = HWTD_OK;

	d->ended = true;
	if (untold.is_known) {
		/* The library tells of it with a packet behind it, if any. */
		rc = put_no_sync(d,
		    untold.end < end ? HWTDI_CS_UNSYNCED_BAD_PACKET
				     : HWTDI_CS_UNSYNCED_END,
		    untold.off, err);
		if (rc == HWTD_OK)
			d->queue.at[d->queue.n - 1].n = untold.why;
	}
	if (rc == HWTD_OK)
		rc = hwtdi_cs_tree_end(d->tree, err);
	if (rc == HWTD_E_CORRUPT)
		return (put_no_sync(d, HWTDI_CS_UNSYNCED_GIVEN_UP,
		    last_known(d), err));
	return (rc == HWTD_OK && !untold.is_known ? put_lost(d, err) : rc);
}

/* Give the library more bytes, or say that there are none. */
static int
feed(struct hwtdi_decoder *d, struct hwtd_error *err)
{
	const uint64_t off = d->segment.stream_off + d->fed;
	size_t n = d->segment.n - d->fed;
	int rc;

	if (n == 0)
		return (end_of_bytes(d, err));
	if (off >= d->until) {
		set_until(d);
		d->front_span.length = 0;
		rc = hwtdi_cs_tree_forget_code(d->tree, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (n > FEED)
		n = FEED;
	if (d->until > off && n > d->until - off)
		n = (size_t)(d->until - off);
	rc = hwtdi_cs_tree_feed(d->tree, off, d->segment.bytes + d->fed, n,
	    err);
	d->fed += n;
	return (rc == HWTD_E_CORRUPT ? recover(d, err) : rc);
}

static int
put_range(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	uint32_t reason = HWTD_GAP_UNKNOWN;
	int rc = hwtdi_cs_put_range(d, flow, &reason, err);

	if (rc == HWTD_END) {
		hwtdi_cs_begin_gap(d, reason, d->off,
		    "code is not what the trace is of");
		d->gap.addr = d->left_ip;
		d->gap.flags |= HWTD_GAPF_ADDR;
		d->left = 0;
		rc = HWTD_OK;
	}
	if (rc == HWTD_OK && d->left == 0)
		hwtdi_cs_end_range(d, flow);
	return (rc);
}

/*
 * A time stamp is that of the element before it, so code waits for what comes
 * behind it.  False: that has to be fed first.
 */
static bool
find_stamp(struct hwtdi_decoder *d, const struct hwtdi_cs_element *e,
    uint64_t *stamp_out)
{
	const struct hwtdi_cs_element *next;
	size_t i = 0;

	*stamp_out = 0;
	if (!d->timed || e->kind != HWTDI_CS_RANGE || d->has_marker)
		return (true);
	do
		next = hwtdi_cs_queue_at(&d->queue, ++i);
	while (next != NULL &&
	    (next->kind == HWTDI_CS_CYCLES || next->kind == HWTDI_CS_CONTEXT));
	if (next != NULL && next->kind == HWTDI_CS_TIMESTAMP)
		*stamp_out = next->timestamp;
	return (next != NULL || d->ended);
}

static int
cs_read(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	flow->graph = d->graph;
	while (rc == HWTD_OK && hwtdi_cs_has_room(flow)) {
		const struct hwtdi_cs_element *e;
		uint64_t stamp;

		if (d->left > 0) {
			rc = put_range(d, flow, err);
			continue;
		}
		if (hwtdi_cs_put_again(d, flow))
			continue;
		e = hwtdi_cs_queue_at(&d->queue, 0);
		if (e != NULL && find_stamp(d, e, &stamp)) {
			rc = hwtdi_cs_put_element(d, flow, e, stamp, err);
			hwtdi_cs_queue_drop(&d->queue);
			continue;
		}
		if (e == NULL && d->ended) {
			rc = hwtdi_cs_put_end(d, flow, err);
			return (rc == HWTD_OK ? HWTD_END : rc);
		}
		rc = is_itm(d) ? feed_itm(d, err) : feed(d, err);
	}
	return (rc);
}

/*
 * OpenCSD does not decode from the middle as it does from the start, so that a
 * stream is one segment.
 */
static size_t
cs_find_sync(const uint8_t *bytes, size_t n, size_t seen, size_t from)
{
	(void)bytes;
	(void)seen;
	(void)from;
	return (n);
}

const struct hwtdi_engine hwtdi_cs_opencsd = {
	.name = "opencsd",
	.tech = HWTD_TECH_CORESIGHT,
	.open = cs_open,
	.start = cs_start,
	.read = cs_read,
	.close = cs_close,
	.find_sync = cs_find_sync,
	.tail_bytes = 0,
};
