/*
 * Records among the rows: sorted by where they come, turned into rows.
 */
#include "event/record_lane.h"

#include <string.h>

#include "base/fail.h"
#include "space/key_sort.h"

static bool
has(const struct hwtd_record *record, uint32_t flag)
{
	return ((record->flags & flag) != 0);
}

/* The cursor reads this stream; *cpu_out is its CPU. */
static bool
is_read(const struct hwtdi_record_lane *lane,
    const struct hwtdi_filter *filter, uint32_t stream, uint32_t *cpu_out)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	*cpu_out = HWTD_NO_ID;
	if (hwtd_trace_stream(lane->trace, stream, &desc) != HWTD_OK)
		return (false);
	*cpu_out = desc.cpu;
	return (hwtdi_filter_stream(filter, stream, &desc));
}

/* Add the records in their order.  Those that are not selected place others. */
static void
add_all(struct hwtdi_record_lane *lane, const struct hwtdi_filter *filter,
    const size_t *order, size_t n)
{
	struct hwtdi_record_place here = { .stream = HWTD_NO_ID };

	for (size_t i = 0; i < n; i++) {
		struct hwtd_record r = { .size = sizeof(r) };
		struct hwtd_stream_desc desc = { .size = sizeof(desc) };
		bool read;

		(void)hwtd_trace_record(lane->trace, order[i], &r);
		read = is_read(lane, filter, r.stream, &desc.cpu);
		if (has(&r, HWTD_RECF_TIME)) {
			here.key = r.time_ns;
			here.stream = HWTD_NO_ID;
		} else if (read && has(&r, HWTD_RECF_STREAM_OFF)) {
			here.key = r.stream_off;
			here.stream = r.stream;
		}
		if (r.cpu != HWTD_NO_ID)
			desc.cpu = r.cpu;
		if (!hwtdi_filter_stream(filter, r.stream, &desc))
			continue;
		here.index = order[i];
		here.hidden = !hwtdi_filter_record(filter, &r);
		lane->places[lane->n++] = here;
		lane->n_timed += here.stream == HWTD_NO_ID;
	}
}

/* By stream, none first, and in it by key. */
static int
sort(struct hwtdi_record_lane *lane, struct hwtd_error *err)
{
	const size_t n = lane->n;
	struct hwtdi_record_place *sorted;
	struct hwtdi_keyed *items;
	int rc;

	sorted = hwtdi_alloc(lane->library, lane->cap * sizeof(*sorted));
	items = hwtdi_alloc(lane->library, n * sizeof(*items));
	rc = sorted != NULL && items != NULL
	    ? HWTD_OK
	    : hwtdi_fail_nomem(err, n * sizeof(*sorted));
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		items[i].key = lane->places[i].key;
		items[i].index = i;
	}
	if (rc == HWTD_OK)
		rc = hwtdi_key_sort(lane->library, items, n, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		items[i].key = lane->places[items[i].index].stream + 1u;
	if (rc == HWTD_OK)
		rc = hwtdi_key_sort(lane->library, items, n, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		sorted[i] = lane->places[items[i].index];
	hwtdi_free(lane->library, items, n * sizeof(*items));
	if (rc == HWTD_OK) {
		struct hwtdi_record_place *swap = lane->places;

		lane->places = sorted;
		sorted = swap;
	}
	hwtdi_free(lane->library, sorted, lane->cap * sizeof(*sorted));
	return (rc);
}

int
hwtdi_record_lane_init(struct hwtdi_record_lane *lane,
    struct hwtd_trace *trace, const struct hwtdi_filter *filter,
    struct hwtd_error *err)
{
	const size_t *order;
	size_t n = 0;

	memset(lane, 0, sizeof(*lane));
	lane->library = hwtdi_trace_library(trace);
	lane->trace = trace;
	lane->only = HWTD_NO_ID;
	if ((filter->o.kinds >> HWTD_EV_RECORD & 1) == 0)
		return (HWTD_OK);
	order = hwtdi_trace_record_order(trace, &n);
	if (n == 0)
		return (HWTD_OK);
	lane->places = hwtdi_alloc(lane->library, n * sizeof(*lane->places));
	if (lane->places == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*lane->places)));
	lane->cap = n;
	add_all(lane, filter, order, n);
	/* By time they are in order. */
	return (lane->n_timed < lane->n ? sort(lane, err) : HWTD_OK);
}

void
hwtdi_record_lane_fini(struct hwtdi_record_lane *lane)
{
	hwtdi_free(lane->library, lane->places,
	    lane->cap * sizeof(*lane->places));
}

const struct hwtdi_record_place *
hwtdi_record_lane_of(const struct hwtdi_record_lane *lane, uint32_t stream,
    size_t *n_out)
{
	size_t low = lane->n_timed, high = lane->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (lane->places[mid].stream < stream)
			low = mid + 1;
		else
			high = mid;
	}
	while (high < lane->n && lane->places[high].stream == stream)
		high++;
	*n_out = high - low;
	return (low < high ? &lane->places[low] : NULL);
}

size_t
hwtdi_record_lane_find(const struct hwtdi_record_place *places, size_t n,
    uint64_t key)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (places[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return (low);
}

void
hwtdi_record_lane_rewind(struct hwtdi_record_lane *lane)
{
	lane->at = 0;
	lane->only = HWTD_NO_ID;
}

void
hwtdi_record_lane_seek_ns(struct hwtdi_record_lane *lane, uint64_t time_ns)
{
	lane->at = hwtdi_record_lane_find(lane->places, lane->n_timed,
	    time_ns);
	lane->only = HWTD_NO_ID;
}

void
hwtdi_record_lane_seek_offset(struct hwtdi_record_lane *lane, uint32_t stream,
    uint64_t off)
{
	lane->at = 0;
	lane->only = stream;
	lane->only_from = off;
}

bool
hwtdi_record_lane_next(const struct hwtdi_record_lane *lane,
    uint64_t *time_out)
{
	if (lane->at >= lane->n_timed)
		return (false);
	*time_out = lane->places[lane->at].key;
	return (true);
}

int
hwtdi_record_lane_row(const struct hwtdi_record_lane *lane,
    const struct hwtdi_record_place *place, struct hwtd_event *row,
    struct hwtd_error *err)
{
	struct hwtd_record r = { .size = sizeof(r) };
	struct hwtd_exec_context context;

	(void)hwtd_trace_record(lane->trace, place->index, &r);
	if (lane->only != HWTD_NO_ID &&
	    (r.stream != lane->only || !has(&r, HWTD_RECF_STREAM_OFF) ||
		r.stream_off < lane->only_from))
		return (HWTD_END);
	if (place->hidden)
		return (HWTD_AGAIN);
	memset(row, 0, sizeof(*row));
	row->kind = HWTD_EV_RECORD;
	row->flags = HWTD_EVF_VALUE;
	row->value = place->index;
	row->stream = r.stream;
	if (has(&r, HWTD_RECF_STREAM_OFF))
		row->stream_off = r.stream_off;
	if (has(&r, HWTD_RECF_TIME)) {
		row->time_ns = r.time_ns;
		row->flags |= HWTD_EVF_TIME;
	}
	if (has(&r, HWTD_RECF_ADDR)) {
		row->ip = r.addr;
		row->flags |= HWTD_EVF_IP;
	}
	memset(&context, 0, sizeof(context));
	context.size = sizeof(context);
	context.pid = r.pid;
	context.tid = r.tid;
	context.cpu = r.cpu;
	return (hwtdi_trace_intern_context(lane->trace, &context,
	    &row->context, err));
}
