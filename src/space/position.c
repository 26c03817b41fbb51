/*
 * Positions: records sorted by time, and for each stream those that name one
 * of its bytes, searched by bisection.
 */
#include "space/position.h"

#include <string.h>

#include "base/fail.h"
#include "space/key_sort.h"

struct timed {
	uint64_t time_ns;
	uint64_t seq;
};

/* A record that names a byte of a stream. */
struct anchor {
	uint32_t stream;
	uint64_t seq;
	/* The lowest byte named by it and all after it in the stream. */
	uint64_t least;
	/* The highest byte named by it and all before it. */
	uint64_t most;
};

struct hwtdi_position {
	struct hwtd_context *library;
	size_t n;
	uint64_t n_start;
	size_t *order;
	struct timed *timed;
	size_t n_timed;
	struct anchor *anchors;
	size_t n_anchors;
};

static bool
has(const struct hwtd_record *record, uint32_t flag)
{
	return ((record->flags & flag) != 0);
}

static bool
is_anchor(const struct hwtd_record *record)
{
	return (has(record, HWTD_RECF_STREAM_OFF) &&
	    record->stream != HWTD_NO_ID);
}

/* By time; without time, with the record before. */
static int
make_order(struct hwtdi_position *p, const struct hwtd_record *records,
    struct hwtd_error *err)
{
	const size_t n = p->n;
	struct hwtdi_keyed *items;
	uint64_t key = 0;
	int rc;

	items = hwtdi_alloc(p->library, n * sizeof(*items));
	if (items == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*items)));
	for (size_t i = 0; i < n; i++) {
		if (has(&records[i], HWTD_RECF_TIME)) {
			key = records[i].time_ns;
			break;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (has(&records[i], HWTD_RECF_TIME))
			key = records[i].time_ns;
		items[i].key = key;
		items[i].index = i;
	}
	rc = hwtdi_key_sort(p->library, items, n, err);
	if (rc == HWTD_OK)
		rc = hwtdi_poll(p->library, err);
	for (size_t seq = 0; rc == HWTD_OK && seq < n; seq++) {
		const struct hwtd_record *r = &records[items[seq].index];

		p->order[seq] = items[seq].index;
		if (!has(r, HWTD_RECF_TIME))
			continue;
		p->timed[p->n_timed].time_ns = r->time_ns;
		p->timed[p->n_timed++].seq = seq;
		if (r->time_ns == 0)
			p->n_start = seq + 1;
	}
	hwtdi_free(p->library, items, n * sizeof(*items));
	return (rc);
}

/* By stream, in it by sequence; then what comes before and after. */
static int
make_anchors(struct hwtdi_position *p, const struct hwtd_record *records,
    struct hwtd_error *err)
{
	struct hwtdi_keyed *items;
	size_t n = 0;
	int rc;

	items = hwtdi_alloc(p->library, p->n * sizeof(*items));
	if (items == NULL)
		return (hwtdi_fail_nomem(err, p->n * sizeof(*items)));
	for (size_t seq = 0; seq < p->n; seq++) {
		const struct hwtd_record *r = &records[p->order[seq]];

		if (!is_anchor(r))
			continue;
		items[n].key = r->stream;
		items[n++].index = seq;
	}
	rc = hwtdi_key_sort(p->library, items, n, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		struct anchor *a = &p->anchors[i];
		const size_t seq = items[i].index;

		a->stream = (uint32_t)items[i].key;
		a->seq = seq;
		a->least = records[p->order[seq]].stream_off;
		a->most = a->least;
		if (i > 0 && a[-1].stream == a->stream && a[-1].most > a->most)
			a->most = a[-1].most;
	}
	for (size_t i = n; rc == HWTD_OK && i-- > 1;) {
		struct anchor *a = &p->anchors[i - 1];

		if (a[1].stream == a->stream && a[1].least < a->least)
			a->least = a[1].least;
	}
	p->n_anchors = n;
	hwtdi_free(p->library, items, p->n * sizeof(*items));
	return (rc);
}

static size_t
count_anchors(const struct hwtd_record *records, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += is_anchor(&records[i]);
	return (count);
}

int
hwtdi_position_create(struct hwtd_context *ctx,
    const struct hwtd_record *records, size_t n,
    struct hwtdi_position **position_out, struct hwtd_error *err)
{
	const size_t n_anchors = count_anchors(records, n);
	struct hwtdi_position *p;
	int rc = HWTD_OK;

	if (n > SIZE_MAX / sizeof(struct anchor))
		return (hwtdi_fail_nomem(err, SIZE_MAX));
	p = hwtdi_zalloc(ctx, sizeof(*p));
	if (p == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*p)));
	p->library = ctx;
	p->n = n;
	p->n_anchors = n_anchors;
	p->order = hwtdi_alloc(ctx, n * sizeof(*p->order));
	p->timed = hwtdi_alloc(ctx, n * sizeof(*p->timed));
	p->anchors = hwtdi_alloc(ctx, n_anchors * sizeof(*p->anchors));
	if (p->order == NULL || p->timed == NULL || p->anchors == NULL)
		rc = hwtdi_fail_nomem(err, n * sizeof(*p->timed));
	if (rc == HWTD_OK)
		rc = make_order(p, records, err);
	if (rc == HWTD_OK)
		rc = hwtdi_poll(ctx, err);
	if (rc == HWTD_OK)
		rc = make_anchors(p, records, err);
	if (rc != HWTD_OK) {
		hwtdi_position_destroy(p);
		return (rc);
	}
	*position_out = p;
	return (HWTD_OK);
}

void
hwtdi_position_destroy(struct hwtdi_position *p)
{
	struct hwtd_context *ctx;

	if (p == NULL)
		return;
	ctx = p->library;
	hwtdi_free(ctx, p->order, p->n * sizeof(*p->order));
	hwtdi_free(ctx, p->timed, p->n * sizeof(*p->timed));
	hwtdi_free(ctx, p->anchors, p->n_anchors * sizeof(*p->anchors));
	hwtdi_free(ctx, p, sizeof(*p));
}

const size_t *
hwtdi_position_order(const struct hwtdi_position *p, size_t *n_out)
{
	*n_out = p->n;
	return (p->order);
}

uint64_t
hwtdi_position_start(const struct hwtdi_position *p)
{
	return (p->n_start);
}

struct range {
	uint64_t lo;
	uint64_t hi;
};

/* The first record with time that is later. */
static size_t
first_later(const struct hwtdi_position *p, uint64_t time_ns)
{
	size_t low = 0, high = p->n_timed;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->timed[mid].time_ns <= time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return (low);
}

static struct range
by_time(const struct hwtdi_position *p, uint64_t time_ns)
{
	const size_t low = first_later(p, time_ns);
	struct range r;

	r.lo = low > 0 ? p->timed[low - 1].seq + 1 : 0;
	r.hi = low < p->n_timed ? p->timed[low].seq : p->n;
	return (r);
}

/* The first anchor of a stream or a later one. */
static size_t
first_anchor(const struct hwtdi_position *p, uint64_t stream)
{
	size_t low = 0, high = p->n_anchors;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->anchors[mid].stream < stream)
			low = mid + 1;
		else
			high = mid;
	}
	return (low);
}

/*
 * Anchors of a stream around a byte: the first of which all name a later one,
 * and the first that names a later one.
 */
struct around {
	size_t begin, end;
	size_t all_later, later;
};

static struct around
around(const struct hwtdi_position *p, uint32_t stream, uint64_t off)
{
	struct around a = { first_anchor(p, stream),
		first_anchor(p, (uint64_t)stream + 1), 0, 0 };
	size_t high = a.end;

	a.all_later = a.begin;
	while (a.all_later < high) {
		size_t mid = a.all_later + (high - a.all_later) / 2;

		if (p->anchors[mid].least <= off)
			a.all_later = mid + 1;
		else
			high = mid;
	}
	a.later = a.begin;
	high = a.end;
	while (a.later < high) {
		size_t mid = a.later + (high - a.later) / 2;

		if (p->anchors[mid].most <= off)
			a.later = mid + 1;
		else
			high = mid;
	}
	return (a);
}

static struct range
by_bytes(const struct hwtdi_position *p, uint32_t stream, uint64_t off)
{
	const struct around a = around(p, stream, off);
	struct range r = { 0, p->n };

	if (a.all_later > a.begin)
		r.lo = p->anchors[a.all_later - 1].seq + 1;
	if (a.later < a.end)
		r.hi = p->anchors[a.later].seq;
	/* Bytes that go back: all between is in doubt. */
	if (r.lo > r.hi) {
		const uint64_t swap = r.lo;

		r.lo = r.hi;
		r.hi = swap;
	}
	return (r);
}

void
hwtdi_position_range(const struct hwtdi_position *p, uint32_t stream,
    uint64_t off, bool has_time, uint64_t time_ns, uint64_t *lo_out,
    uint64_t *hi_out)
{
	const struct range b = by_bytes(p, stream, off);
	struct range a = { 0, p->n };

	if (has_time)
		a = by_time(p, time_ns);
	if (a.lo > b.hi || b.lo > a.hi) {
		*lo_out = a.lo < b.lo ? a.lo : b.lo;
		*hi_out = a.hi > b.hi ? a.hi : b.hi;
	} else {
		*lo_out = a.lo > b.lo ? a.lo : b.lo;
		*hi_out = a.hi < b.hi ? a.hi : b.hi;
	}
	if (*lo_out < p->n_start)
		*lo_out = p->n_start;
	if (*hi_out < p->n_start)
		*hi_out = p->n_start;
}

void
hwtdi_position_until(const struct hwtdi_position *p, uint32_t stream,
    uint64_t off, bool has_time, uint64_t time_ns, uint64_t *off_out,
    uint64_t *time_out)
{
	const struct around a = around(p, stream, off);
	const size_t later = has_time ? first_later(p, time_ns) : p->n_timed;

	*off_out = a.all_later < a.end ? p->anchors[a.all_later].least
				       : UINT64_MAX;
	if (a.later < a.end && p->anchors[a.later].most < *off_out)
		*off_out = p->anchors[a.later].most;
	*time_out = later < p->n_timed ? p->timed[later].time_ns : UINT64_MAX;
}
