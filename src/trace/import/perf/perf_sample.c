/*
 * Samples in a perf.data that tell something of traces: pieces of trace in them, and
 * switches that older kernels told by a tracepoint.
 *
 * Source: perf_event_open(2), "PERF_RECORD_SAMPLE"; Linux, include/trace/events/sched.h,
 * sched_switch.
 */
#include "base/fail.h"
#include "trace/import/perf/perf_file.h"

/* perf_event_attr.sample_type: what is in a sample, in this order. */
#define SAMPLE_IP 0x1u
#define SAMPLE_READ 0x10u
#define SAMPLE_CALLCHAIN 0x20u
#define SAMPLE_PERIOD 0x100u
#define SAMPLE_RAW 0x400u
#define SAMPLE_BRANCH_STACK 0x800u
#define SAMPLE_REGS_USER 0x1000u
#define SAMPLE_STACK_USER 0x2000u
#define SAMPLE_WEIGHT 0x4000u
#define SAMPLE_DATA_SRC 0x8000u
#define SAMPLE_TRANSACTION 0x20000u
#define SAMPLE_REGS_INTR 0x40000u
#define SAMPLE_PHYS_ADDR 0x80000u
#define SAMPLE_AUX 0x100000u
#define SAMPLE_CGROUP 0x200000u
#define SAMPLE_DATA_PAGE_SIZE 0x400000u
#define SAMPLE_CODE_PAGE_SIZE 0x800000u
#define SAMPLE_WEIGHT_STRUCT 0x1000000u

/* perf_event_attr.read_format. */
#define FORMAT_TIME_ENABLED 0x1u
#define FORMAT_TIME_RUNNING 0x2u
#define FORMAT_ID 0x4u
#define FORMAT_GROUP 0x8u
#define FORMAT_LOST 0x10u

/* perf_event_attr.branch_sample_type. */
#define BRANCH_HW_INDEX 0x20000u
#define BRANCH_COUNTERS 0x80000u

#define TYPE_TRACEPOINT 2u

/* Of sched_switch: next_pid. */
#define SWITCH_NEXT_PID 56u

struct sample {
	struct hwtdi_perf_sample_id id;
	struct hwtdi_bytes raw;
	struct hwtdi_bytes aux;
};

static void
skip(struct hwtdi_perf_bytes *b, uint64_t n)
{
	if (n > b->rest.left)
		b->rest.bad = true;
	else
		(void)hwtdi_bytes_take(&b->rest, (size_t)n);
}

/* `n` elements of `size` bytes. */
static void
skip_many(struct hwtdi_perf_bytes *b, uint64_t n, size_t size)
{
	if (n > b->rest.left / size)
		b->rest.bad = true;
	else
		skip(b, n * size);
}

static void
skip_read(struct hwtdi_perf_bytes *b, uint64_t format)
{
	const unsigned each = 1u + ((format & FORMAT_ID) != 0) +
	    ((format & FORMAT_LOST) != 0);
	const unsigned times = ((format & FORMAT_TIME_ENABLED) != 0) +
	    ((format & FORMAT_TIME_RUNNING) != 0);
	uint64_t n = 1;

	if ((format & FORMAT_GROUP) != 0)
		n = hwtdi_perf_u64(b);
	skip_many(b, times, 8);
	skip_many(b, n, 8 * (size_t)each);
}

static void
skip_branches(struct hwtdi_perf_bytes *b, uint64_t type)
{
	const uint64_t n = hwtdi_perf_u64(b);

	if ((type & BRANCH_HW_INDEX) != 0)
		skip(b, 8);
	skip_many(b, n, 24);
	if ((type & BRANCH_COUNTERS) != 0)
		skip_many(b, n, 8);
}

static void
skip_registers(struct hwtdi_perf_bytes *b, uint64_t mask)
{
	/* Without an ABI there are none. */
	if (hwtdi_perf_u64(b) == 0)
		return;
	for (; mask != 0; mask &= mask - 1)
		skip(b, 8);
}

static void
skip_stack(struct hwtdi_perf_bytes *b)
{
	const uint64_t n = hwtdi_perf_u64(b);

	skip(b, n);
	if (n != 0)
		skip(b, 8);
}

static struct hwtdi_bytes
take(struct hwtdi_perf_bytes *b, uint64_t n)
{
	struct hwtdi_bytes out = { NULL, 0, false };

	if (n > b->rest.left) {
		b->rest.bad = true;
		return (out);
	}
	out.at = hwtdi_bytes_take(&b->rest, (size_t)n);
	out.left = (size_t)n;
	return (out);
}

static void
read_id(struct hwtdi_perf_bytes *b, uint64_t type,
    struct hwtdi_perf_sample_id *id)
{
	id->has = type;
	if ((type & PERF_SAMPLE_IDENTIFIER) != 0)
		id->id = hwtdi_perf_u64(b);
	if ((type & SAMPLE_IP) != 0)
		skip(b, 8);
	if ((type & PERF_SAMPLE_TID) != 0) {
		id->pid = hwtdi_perf_u32(b);
		id->tid = hwtdi_perf_u32(b);
	}
	if ((type & PERF_SAMPLE_TIME) != 0)
		id->time = hwtdi_perf_u64(b);
	if ((type & PERF_SAMPLE_ADDR) != 0)
		skip(b, 8);
	if ((type & PERF_SAMPLE_ID) != 0)
		id->id = hwtdi_perf_u64(b);
	if ((type & PERF_SAMPLE_STREAM_ID) != 0)
		skip(b, 8);
	if ((type & PERF_SAMPLE_CPU) != 0) {
		id->cpu = hwtdi_perf_u32(b);
		skip(b, 4);
	}
}

/* Up to what is wanted; false: the sample ends before. */
static bool
read_sample(const struct hwtdi_perf_event *event, struct hwtdi_perf_bytes b,
    struct sample *out)
{
	const uint64_t type = event->sample_type;

	memset(out, 0, sizeof(*out));
	read_id(&b, type, &out->id);
	if ((type & SAMPLE_PERIOD) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_READ) != 0)
		skip_read(&b, event->read_format);
	if ((type & SAMPLE_CALLCHAIN) != 0)
		skip_many(&b, hwtdi_perf_u64(&b), 8);
	/* With its size it is filled up to 8 bytes. */
	if ((type & SAMPLE_RAW) != 0)
		out->raw = take(&b, hwtdi_perf_u32(&b));
	if ((type & SAMPLE_BRANCH_STACK) != 0)
		skip_branches(&b, event->branch_type);
	if ((type & SAMPLE_REGS_USER) != 0)
		skip_registers(&b, event->regs_user);
	if ((type & SAMPLE_STACK_USER) != 0)
		skip_stack(&b);
	if ((type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT)) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_DATA_SRC) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_TRANSACTION) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_REGS_INTR) != 0)
		skip_registers(&b, event->regs_intr);
	if ((type & SAMPLE_PHYS_ADDR) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_CGROUP) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_DATA_PAGE_SIZE) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_CODE_PAGE_SIZE) != 0)
		skip(&b, 8);
	if ((type & SAMPLE_AUX) != 0)
		out->aux = take(&b, hwtdi_perf_u64(&b));
	return (!b.rest.bad);
}

/* The event of a sample: its id has a place of its own in it. */
static const struct hwtdi_perf_event *
event_of(struct hwtdi_perf_file *f, const struct hwtdi_perf_record *record)
{
	const struct hwtdi_perf_event *first = f->events.events;
	const struct hwtdi_perf_event *found;
	struct hwtdi_perf_bytes b = record->body;
	struct hwtdi_perf_sample_id id = { 0 };

	if (f->events.n <= 1)
		return (f->events.n == 0 ? NULL : first);
	read_id(&b, first->sample_type, &id);
	if (b.rest.bad)
		return (first);
	found = hwtdi_perf_events_find(&f->events, f->trace->library, id.id);
	return (found != NULL ? found : first);
}

/* A piece of trace, as a buffer of its CPU or thread. */
static int
add_buffer(struct hwtdi_perf_file *f, const struct hwtdi_perf_record *record,
    const struct sample *s)
{
	struct hwtdi_perf_aux *aux = &f->aux;
	struct hwtdi_perf_buffer buffer = {
		.data_off = record->off + PERF_RECORD_HEADER_BYTES +
		    (uint64_t)(s->aux.at - record->body.rest.at),
		.n_data = s->aux.left,
		.n_told = s->aux.left,
		.idx = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.cpu = HWTD_NO_ID,
		.no = (uint32_t)aux->n_buffers,
	};
	int rc;

	if ((s->id.has & PERF_SAMPLE_CPU) != 0)
		buffer.idx = buffer.cpu = s->id.cpu;
	else if ((s->id.has & PERF_SAMPLE_TID) != 0)
		buffer.idx = buffer.tid = s->id.tid;
	/* Each is what was in memory when the sample was taken. */
	aux->is_snapshot = true;
	rc = hwtdi_array_grow(f->trace->library, &aux->buffers,
	    &aux->cap_buffers, aux->n_buffers + 1, sizeof(*aux->buffers),
	    f->err);
	if (rc != HWTD_OK)
		return (rc);
	if (record->unpacked) {
		buffer.bytes = hwtdi_alloc(f->trace->library, s->aux.left);
		if (buffer.bytes == NULL)
			return (hwtdi_trace_no_room(f->trace->library,
			    s->aux.left, f->err));
		memcpy(buffer.bytes, s->aux.at, s->aux.left);
	}
	aux->buffers[aux->n_buffers++] = buffer;
	return (HWTD_OK);
}

static bool
is_switch(const struct hwtdi_perf_event *event)
{
	static const char name[] = "sched:sched_switch";

	return (event->type == TYPE_TRACEPOINT && event->name != NULL &&
	    strncmp(event->name, name, sizeof(name) - 1) == 0);
}

static int
add_switch(struct hwtdi_perf_file *f, const struct sample *s)
{
	struct hwtd_record r = {
		.size = sizeof(r),
		.type = HWTD_REC_SWITCH,
		.flags = HWTD_RECF_TIME,
		.cpu = s->id.cpu,
		.pid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
		.time_ns = s->id.time,
	};
	const uint64_t needed = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

	if ((s->id.has & needed) != needed ||
	    s->raw.left < SWITCH_NEXT_PID + 4)
		return (HWTD_OK);
	r.tid = (uint32_t)hwtdi_uint(f->big, s->raw.at + SWITCH_NEXT_PID, 4);
	if (r.tid == 0)
		r.pid = 0;
	return (hwtd_trace_add_record(f->trace, &r, f->err));
}

int
hwtdi_perf_sample(struct hwtdi_perf_file *f,
    const struct hwtdi_perf_record *record)
{
	const struct hwtdi_perf_event *event = event_of(f, record);
	struct sample s;

	if (event == NULL ||
	    ((event->sample_type & SAMPLE_AUX) == 0 && !is_switch(event)))
		return (HWTD_OK);
	if (!read_sample(event, record->body, &s))
		return (hwtdi_perf_bad_record(f, record,
		    "it ends before what sample_type says"));
	if (s.aux.left > 0)
		return (add_buffer(f, record, &s));
	return (is_switch(event) ? add_switch(f, &s) : HWTD_OK);
}
