/*
 * Which rows a cursor hands out: a copy of the caller's options and the tests
 * on streams and rows.
 */
#include "event/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "decode/decoder.h"

#define DEFAULT_KINDS                                                         \
	(((uint32_t)1 << HWTD_EV_KINDS) - 1 -                                 \
	    ((uint32_t)1 << HWTD_EV_RECORD) - ((uint32_t)1 << HWTD_EV_TIME))

static int
copy_array(struct hwtd_context *library, const void *array_inout, size_t n,
    size_t elem, const char *what, struct hwtd_error *err)
{
	void *copy = NULL;
	const void *array;

	memcpy(&array, array_inout, sizeof(array));
	if (n > 0 && array == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID, "%zu %s at NULL", n,
		    what));
	if (n > 0) {
		if (n > SIZE_MAX / elem)
			return (hwtdi_fail_nomem(err, SIZE_MAX));
		copy = hwtdi_alloc(library, n * elem);
		if (copy == NULL)
			return (hwtdi_fail_nomem(err, n * elem));
		memcpy(copy, array, n * elem);
	}
	memcpy((void *)(uintptr_t)array_inout, &copy, sizeof(copy));
	return (HWTD_OK);
}

static int
check(const struct hwtd_events_options *o, struct hwtd_error *err)
{
	if (o->level > HWTD_LEVEL_INSN)
		return (hwtdi_fail(err, HWTD_E_INVALID, "level %u", o->level));
	if ((o->kinds & ~(((uint32_t)1 << HWTD_EV_KINDS) - 1)) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "kinds %#x",
		    o->kinds));
	if ((o->flags & ~(uint32_t)HWTD_DECODE_STRICT) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "flags %#x",
		    o->flags));
	if (o->jobs > 1024)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u jobs; at most 1024", o->jobs));
	if (o->engine != NULL && !hwtdi_engine_exists(o->engine))
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "no engine named \"%.40s\"", o->engine));
	return (HWTD_OK);
}

static int
by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x < y ? -1 : x > y);
}

static void
sort(const uint32_t *ids, size_t n)
{
	if (n > 1)
		qsort((void *)(uintptr_t)ids, n, sizeof(*ids), by_number);
}

int
hwtdi_filter_init(struct hwtdi_filter *filter, struct hwtd_context *library,
    const struct hwtd_events_options *opts, struct hwtd_error *err)
{
	struct hwtd_events_options o;
	int rc;

	memset(filter, 0, sizeof(*filter));
	filter->library = library;
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc == HWTD_OK)
		rc = check(&o, err);
	if (rc != HWTD_OK)
		return (rc);
	if (o.kinds == 0)
		o.kinds = DEFAULT_KINDS;
	filter->by_row = o.n_tids != 0 || o.n_pids != 0 || o.n_times != 0 ||
	    o.n_addresses != 0 || (o.kinds & DEFAULT_KINDS) != DEFAULT_KINDS;
	filter->o = o;
	/* Nothing of the caller's is left in the copy when this fails. */
	filter->o.cpus = NULL;
	filter->o.tids = NULL;
	filter->o.pids = NULL;
	filter->o.times_ns = NULL;
	filter->o.addresses = NULL;
	filter->o.streams = NULL;
	filter->o.engine = NULL;
	rc = copy_array(library, &o.cpus, o.n_cpus, sizeof(*o.cpus), "cpus",
	    err);
	if (rc != HWTD_OK)
		return (rc);
	filter->o.cpus = o.cpus;
	rc = copy_array(library, &o.tids, o.n_tids, sizeof(*o.tids),
	    "thread ids", err);
	if (rc != HWTD_OK)
		return (rc);
	filter->o.tids = o.tids;
	rc = copy_array(library, &o.pids, o.n_pids, sizeof(*o.pids),
	    "process ids", err);
	if (rc != HWTD_OK)
		return (rc);
	filter->o.pids = o.pids;
	rc = copy_array(library, &o.times_ns, o.n_times, sizeof(*o.times_ns),
	    "time ranges", err);
	if (rc != HWTD_OK)
		return (rc);
	filter->o.times_ns = o.times_ns;
	rc = copy_array(library, &o.addresses, o.n_addresses,
	    sizeof(*o.addresses), "address ranges", err);
	if (rc != HWTD_OK)
		return (rc);
	filter->o.addresses = o.addresses;
	rc = copy_array(library, &o.streams, o.n_streams, sizeof(*o.streams),
	    "streams", err);
	if (rc != HWTD_OK)
		return (rc);
	filter->o.streams = o.streams;
	sort(o.cpus, o.n_cpus);
	sort(o.tids, o.n_tids);
	sort(o.pids, o.n_pids);
	sort(o.streams, o.n_streams);
	if (o.engine != NULL) {
		filter->engine = hwtdi_strdup(library, o.engine);
		if (filter->engine == NULL)
			return (hwtdi_fail_nomem(err, strlen(o.engine) + 1));
	}
	return (HWTD_OK);
}

static void
free_array(struct hwtd_context *library, const void *array, size_t n,
    size_t elem)
{
	hwtdi_free(library, (void *)(uintptr_t)array, n * elem);
}

void
hwtdi_filter_fini(struct hwtdi_filter *filter)
{
	struct hwtd_context *library = filter->library;
	struct hwtd_events_options *o = &filter->o;

	free_array(library, o->cpus, o->n_cpus, sizeof(*o->cpus));
	free_array(library, o->tids, o->n_tids, sizeof(*o->tids));
	free_array(library, o->pids, o->n_pids, sizeof(*o->pids));
	free_array(library, o->times_ns, o->n_times, sizeof(*o->times_ns));
	free_array(library, o->addresses, o->n_addresses,
	    sizeof(*o->addresses));
	free_array(library, o->streams, o->n_streams, sizeof(*o->streams));
	hwtdi_strfree(library, filter->engine);
}

/* `ids` are sorted; none: all. */
static bool
holds(const uint32_t *ids, size_t n, uint32_t id)
{
	return (n == 0 ||
	    bsearch(&id, ids, n, sizeof(*ids), by_number) != NULL);
}

bool
hwtdi_filter_records_only(const struct hwtdi_filter *filter)
{
	return (filter->o.kinds == (uint32_t)1 << HWTD_EV_RECORD &&
	    (filter->o.flags & HWTD_DECODE_STRICT) == 0);
}

int
hwtdi_filter_check_streams(const struct hwtdi_filter *filter,
    const struct hwtd_trace *trace, struct hwtd_error *err)
{
	const struct hwtd_events_options *o = &filter->o;
	struct hwtd_trace_info info = { .size = sizeof(info) };

	(void)hwtd_trace_info(trace, &info);
	for (size_t i = 0; i < o->n_streams; i++)
		if (o->streams[i] >= info.n_streams)
			return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
			    "no stream %u; the trace has %u", o->streams[i],
			    info.n_streams));
	return (HWTD_OK);
}

bool
hwtdi_filter_stream(const struct hwtdi_filter *filter, uint32_t stream,
    const struct hwtd_stream_desc *desc)
{
	const struct hwtd_events_options *o = &filter->o;

	/* What a sink wrote is decoded as the streams of its sources. */
	return (desc->framing == HWTD_FRAMING_NONE &&
	    holds(o->streams, o->n_streams, stream) &&
	    holds(o->cpus, o->n_cpus, desc->cpu));
}

/* True if [start, end) of the row touches one of the ranges. */
static bool
touches(const struct hwtd_range *ranges, size_t n, uint64_t start,
    uint64_t last)
{
	for (size_t i = 0; i < n; i++)
		if (start < ranges[i].end && last >= ranges[i].start)
			return (true);
	return (false);
}

/* The row lies in one of the times asked for, or a gap spans one. */
static bool
in_times(const struct hwtd_events_options *o, const struct hwtd_event *row,
    const struct hwtd_gap *gap)
{
	uint64_t last = row->time_ns;

	if ((row->flags & HWTD_EVF_TIME) == 0)
		return (gap != NULL);
	if (gap != NULL && (gap->flags & HWTD_GAPF_TIME_AFTER) != 0)
		last = gap->time_after_ns;
	return (touches(o->times_ns, o->n_times, row->time_ns, last));
}

static bool
in_addresses(const struct hwtd_events_options *o, const struct hwtd_event *row)
{
	uint64_t last = row->bytes > 0 ? row->ip + (row->bytes - 1) : row->ip;

	return ((row->flags & HWTD_EVF_IP) != 0 &&
	    touches(o->addresses, o->n_addresses, row->ip, last));
}

bool
hwtdi_filter_row(const struct hwtdi_filter *filter,
    const struct hwtd_event *row, const struct hwtd_gap *gap,
    const struct hwtd_exec_context *context)
{
	const struct hwtd_events_options *o = &filter->o;

	if (gap != NULL && (o->flags & HWTD_DECODE_STRICT) != 0)
		return (true);
	if ((o->kinds >> row->kind & 1) == 0)
		return (false);
	if (!holds(o->tids, o->n_tids, context->tid) ||
	    !holds(o->pids, o->n_pids, context->pid))
		return (false);
	if (o->n_times != 0 && !in_times(o, row, gap))
		return (false);
	return (gap != NULL || o->n_addresses == 0 || in_addresses(o, row));
}

bool
hwtdi_filter_record(const struct hwtdi_filter *filter,
    const struct hwtd_record *record)
{
	const struct hwtd_events_options *o = &filter->o;
	uint64_t last = record->addr;

	if (!holds(o->tids, o->n_tids, record->tid) ||
	    !holds(o->pids, o->n_pids, record->pid))
		return (false);
	if (o->n_times != 0 &&
	    ((record->flags & HWTD_RECF_TIME) == 0 ||
		!touches(o->times_ns, o->n_times, record->time_ns,
		    record->time_ns)))
		return (false);
	if ((record->flags & HWTD_RECF_LEN) != 0 && record->len > 0 &&
	    __builtin_add_overflow(record->addr, record->len - 1, &last))
		last = UINT64_MAX;
	return (o->n_addresses == 0 ||
	    ((record->flags & HWTD_RECF_ADDR) != 0 &&
		touches(o->addresses, o->n_addresses, record->addr, last)));
}
