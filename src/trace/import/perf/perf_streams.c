/*
 * Streams of a perf.data: what its queues hold, and how that was recorded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "trace/import/perf/perf_queues.h"
#include "trace/sink/sink_ids.h"

/* Bytes read at once to find trace IDs. */
#define SEARCH_PART ((size_t)256 << 10)

static void
name_queue(const struct hwtdi_perf_queue *q, char *name, size_t n)
{
	if (q->cpu != HWTD_NO_ID)
		(void)snprintf(name, n, "cpu %" PRIu32, q->cpu);
	else if (q->tid != HWTD_NO_ID)
		(void)snprintf(name, n, "thread %" PRIu32, q->tid);
	else
		(void)snprintf(name, n, "all");
}

/* Bytes. */

static int
place_missing(struct hwtdi_perf_file *f, uint32_t stream,
    const struct hwtdi_perf_run *run)
{
	struct hwtdi_stream *s = f->trace->streams[stream];
	const uint64_t start = s->end;
	int rc;

	if (run->n > UINT64_MAX - start)
		return (hwtdi_fail(f->err, HWTD_E_LIMIT,
		    "stream %" PRIu32 " is full", stream));
	rc = hwtdi_trace_note_damage(f->trace, f->trace->file.size, 0, stream,
	    start, start + run->n, f->err,
	    "%" PRIu64 " bytes of trace are not in the file", run->n);
	if (rc == HWTD_OK)
		rc = hwtdi_stream_empty(f->trace->library, s, start + run->n,
		    HWTD_EXTENT_AFTER_DAMAGE, f->err);
	return (rc);
}

static int
place_runs(struct hwtdi_perf_file *f, uint32_t stream,
    const struct hwtdi_perf_run *runs, size_t n_runs)
{
	struct hwtdi_stream *s = f->trace->streams[stream];
	int rc = HWTD_OK;

	for (size_t i = 0; i < n_runs && rc == HWTD_OK; i++) {
		const struct hwtdi_perf_run *run = &runs[i];
		const struct hwtdi_stretch stretch = {
			.kind = HWTDI_STRETCH_FILE,
			.start = s->end,
			.length = run->n,
			.at = { .file_off = run->data_off },
		};

		if (run->is_missing) {
			rc = place_missing(f, stream, run);
			continue;
		}
		if (run->breaks && s->end > 0)
			hwtdi_stream_break(s, run->why);
		rc = run->bytes != NULL
		    ? hwtd_trace_add_bytes(f->trace, stream, run->bytes,
			  (size_t)run->n, f->err)
		    : hwtdi_stream_place(f->trace->library, s, &stretch,
			  f->err);
	}
	return (rc);
}

static int
add_stream(struct hwtdi_perf_file *f, const struct hwtdi_perf_queue *q,
    struct hwtd_stream_desc *desc, uint32_t *out)
{
	char name[64], queue[32];

	name_queue(q, queue, sizeof(queue));
	/* Of a source the queue is that of who had the buffer. */
	if (desc->sink_plus_1 != 0)
		(void)snprintf(name, sizeof(name),
		    "id 0x%02" PRIx32 " in the buffer of %s",
		    desc->coresight->trace_id, queue);
	desc->size = sizeof(*desc);
	desc->name = desc->sink_plus_1 != 0 ? name : queue;
	desc->pid = q->pid;
	desc->tid = q->cpu != HWTD_NO_ID ? HWTD_NO_ID : q->tid;
	if (desc->tid == HWTD_NO_ID)
		desc->pid = HWTD_NO_ID;
	return (hwtd_trace_add_stream(f->trace, desc, out, f->err));
}

/* Configuration. */

/* "GenuineIntel,6,78,3". */
static void
set_processor(const struct hwtdi_perf_file *f, struct hwtd_pt_config *pt)
{
	unsigned family, model, stepping;

	if (f->texts.cpuid == NULL ||
	    sscanf(f->texts.cpuid, "GenuineIntel,%u,%u,%u", &family, &model,
		&stepping) != 3 ||
	    family > UINT16_MAX || model > UINT8_MAX || stepping > UINT8_MAX)
		return;
	pt->cpu_family = (uint16_t)family;
	pt->cpu_model = (uint8_t)model;
	pt->cpu_stepping = (uint8_t)stepping;
}

static void
set_mtc(const struct hwtdi_perf_file *f, struct hwtd_pt_config *pt)
{
	uint64_t bits = f->aux.mtc_bits;

	for (size_t i = 0; i < f->events.n && bits != 0; i++) {
		const struct hwtdi_perf_event *event = &f->events.events[i];
		uint64_t value = event->config & bits;

		if (event->type != f->aux.pmu_type)
			continue;
		while ((bits & 1) == 0) {
			bits >>= 1;
			value >>= 1;
		}
		pt->mtc_freq = value <= 15 ? (uint8_t)value : 0;
		return;
	}
}

/* Records have a time. */
static bool
has_times(const struct hwtdi_perf_file *f)
{
	for (size_t i = 0; i < f->events.n; i++)
		if ((f->events.events[i].sample_type & PERF_SAMPLE_TIME) != 0)
			return (true);
	return (false);
}

/* The same for all streams. */
static void
complete_pt(struct hwtdi_perf_file *f)
{
	struct hwtd_pt_config *pt = &f->aux.pt;
	struct hwtd_clock clock;

	pt->size = sizeof(*pt);
	set_processor(f, pt);
	set_mtc(f, pt);
	/* Times of another clock than that of records would be worse than none. */
	if (!hwtdi_perf_clock(f, &clock) && has_times(f))
		pt->nom_freq = 0;
}

static int
make_pt(struct hwtdi_perf_file *f, const struct hwtdi_perf_queue *q,
    uint32_t *out)
{
	struct hwtd_stream_desc desc = { .tech = HWTD_TECH_INTEL_PT,
		.cpu = q->cpu,
		.pt = &f->aux.pt };
	int rc;

	(void)hwtdi_perf_clock(f, &desc.clock);
	rc = add_stream(f, q, &desc, out);
	return (rc == HWTD_OK ? place_runs(f, *out, q->runs, q->n_runs) : rc);
}

/* Version 1 of the metadata does not tell; the processor of the header does. */
static uint32_t
midr_of(const struct hwtdi_perf_file *f, uint32_t cpu)
{
	const struct hwtdi_perf_aux *aux = &f->aux;
	const struct hwtdi_perf_traced_cpu *own = hwtdi_perf_traced_cpu(f,
	    cpu);
	uint32_t midr = aux->n_cpus > 0 ? aux->cpus[0].midr : 0;
	uint64_t value;

	if (own != NULL)
		return (own->midr);
	for (size_t i = 0; i < aux->n_cpus; i++)
		if (aux->cpus[i].midr != midr)
			midr = 0;
	if (midr != 0)
		return (cpu == HWTD_NO_ID ? midr : 0);
	if (f->texts.cpuid == NULL || f->texts.cpuid[0] != '0' ||
	    aux->n_cpus > 0)
		return (0);
	value = strtoull(f->texts.cpuid, NULL, 16);
	return (value <= UINT32_MAX ? (uint32_t)value : 0);
}

static int
make_spe(struct hwtdi_perf_file *f, const struct hwtdi_perf_queue *q,
    uint32_t *out)
{
	struct hwtd_stream_desc desc = { .tech = HWTD_TECH_SPE,
		.cpu = q->cpu };
	struct hwtd_spe_config spe = { .size = sizeof(spe),
		.owner = HWTD_SPE_OWNER_THREAD };
	int rc;

	spe.midr = midr_of(f, q->cpu);
	if (spe.midr == 0 && f->opts->spe != NULL)
		rc = hwtdi_spe_config_copy(&spe, f->opts->spe, f->err);
	else
		rc = HWTD_OK;
	spe.size = sizeof(spe);
	(void)hwtdi_perf_clock(f, &desc.clock);
	desc.spe = &spe;
	if (rc == HWTD_OK)
		rc = add_stream(f, q, &desc, out);
	return (rc == HWTD_OK ? place_runs(f, *out, q->runs, q->n_runs) : rc);
}

/* CoreSight. */

static void
set_source(const struct hwtdi_perf_file *f,
    const struct hwtdi_perf_traced_cpu *cpu, struct hwtd_stream_desc *desc)
{
	desc->cpu = cpu->cpu;
	desc->coresight = &cpu->coresight;
	memset(&desc->clock, 0, sizeof(desc->clock));
	if (cpu->is_kernel_time)
		(void)hwtdi_perf_clock(f, &desc->clock);
}

static int
by_cpu(const void *a, const void *b)
{
	const struct hwtdi_perf_run *x = a, *y = b;

	if (x->cpu != y->cpu)
		return (x->cpu < y->cpu ? -1 : 1);
	return (x->no < y->no ? -1 : x->no > y->no);
}

/*
 * A stream for each CPU, of bytes without frames.  *out: the only one, or
 * HWTD_NO_ID.
 */
static int
make_unframed(struct hwtdi_perf_file *f, struct hwtdi_perf_queue *q,
    uint32_t *out)
{
	struct hwtdi_perf_run *runs = q->runs;
	size_t n = 0;
	int rc = HWTD_OK;

	if (q->n_runs > 0)
		qsort(runs, q->n_runs, sizeof(*runs), by_cpu);
	for (size_t i = 0; i < q->n_runs && rc == HWTD_OK; i += n) {
		struct hwtd_stream_desc desc = { .tech = HWTD_TECH_CORESIGHT,
			.cpu = runs[i].cpu };
		const struct hwtdi_perf_traced_cpu
		    *source = hwtdi_perf_traced_cpu(f, runs[i].cpu);
		uint32_t stream;

		for (n = 1;
		     i + n < q->n_runs && runs[i + n].cpu == runs[i].cpu;)
			n++;
		if (source != NULL)
			set_source(f, source, &desc);
		rc = add_stream(f, q, &desc, &stream);
		if (rc == HWTD_OK)
			rc = place_runs(f, stream, &runs[i], n);
		*out = n == q->n_runs ? stream : HWTD_NO_ID;
	}
	return (rc);
}

static int
read_run(const struct hwtdi_perf_file *f, const struct hwtdi_perf_run *run,
    uint64_t off, uint8_t *out, size_t n)
{
	if (run->bytes == NULL)
		return (hwtdi_trace_file_read(&f->trace->file,
		    run->data_off + off, out, n, f->err));
	memcpy(out, run->bytes + off, n);
	return (HWTD_OK);
}

/* Which trace IDs the frames of a queue have bytes of. */
static int
find_ids(struct hwtdi_perf_file *f, const struct hwtdi_perf_queue *q,
    struct hwtdi_sink_ids *ids)
{
	uint8_t *part = hwtdi_alloc(f->trace->library, SEARCH_PART);
	uint64_t bytes[HWTDI_TRACE_IDS] = { 0 };
	int rc = HWTD_OK;

	if (part == NULL)
		return (hwtdi_fail_nomem(f->err, SEARCH_PART));
	for (size_t i = 0; i < q->n_runs && rc == HWTD_OK; i++) {
		const struct hwtdi_perf_run *run = &q->runs[i];
		uint64_t at = 0;

		hwtdi_sink_ids_init(ids, HWTDI_FRAMING_MEMORY);
		while (rc == HWTD_OK && !run->is_missing && at < run->n) {
			const size_t n = run->n - at < SEARCH_PART
			    ? (size_t)(run->n - at)
			    : SEARCH_PART;

			rc = read_run(f, run, at, part, n);
			if (rc == HWTD_OK)
				hwtdi_sink_ids_add(ids, part, n);
			if (rc == HWTD_OK)
				rc = hwtdi_poll(f->trace->library, f->err);
			at += n;
		}
		for (size_t k = 0; k < HWTDI_TRACE_IDS; k++)
			bytes[k] += ids->bytes[k];
	}
	memcpy(ids->bytes, bytes, sizeof(bytes));
	hwtdi_free(f->trace->library, part, SEARCH_PART);
	return (rc);
}

/*
 * The CPU of each trace ID in the frames of a queue; NULL: none.  IDs of records hold
 * for their sink where they name it, and come before those of registers, which are of
 * a rule that newer kernels do not follow.
 */
static void
give_ids(const struct hwtdi_perf_file *f, const struct hwtdi_perf_queue *q,
    const struct hwtdi_perf_traced_cpu *cpus[HWTDI_TRACE_IDS])
{
	const struct hwtdi_perf_aux *aux = &f->aux;
	const struct hwtdi_perf_traced_cpu *own = hwtdi_perf_traced_cpu(f,
	    q->cpu);

	for (size_t i = 0; i < HWTDI_TRACE_IDS; i++)
		cpus[i] = NULL;
	for (size_t i = 0; i < aux->n_cpus; i++) {
		const struct hwtdi_perf_traced_cpu *cpu = &aux->cpus[i];
		const uint32_t id = aux->has_hw_ids ? cpu->trace_id
						    : cpu->coresight.trace_id;

		if (cpu->has_sink && own != NULL && own->has_sink &&
		    cpu->sink != own->sink)
			continue;
		if (id != 0 && cpus[id] == NULL)
			cpus[id] = cpu;
	}
}

static int
make_sources(struct hwtdi_perf_file *f, const struct hwtdi_perf_queue *q,
    uint32_t sink)
{
	const struct hwtdi_perf_traced_cpu *cpus[HWTDI_TRACE_IDS];
	struct hwtdi_sink_ids *ids;
	int rc = HWTD_OK;

	ids = hwtdi_zalloc(f->trace->library, sizeof(*ids));
	if (ids == NULL)
		return (hwtdi_fail_nomem(f->err, sizeof(*ids)));
	rc = find_ids(f, q, ids);
	give_ids(f, q, cpus);
	for (uint32_t id = 0; id < HWTDI_TRACE_IDS && rc == HWTD_OK; id++) {
		struct hwtd_stream_desc desc = { .tech = HWTD_TECH_CORESIGHT,
			.sink_plus_1 = sink + 1 };
		struct hwtdi_perf_traced_cpu source;
		uint32_t stream;

		if (cpus[id] == NULL || ids->bytes[id] == 0)
			continue;
		source = *cpus[id];
		source.coresight.trace_id = id;
		set_source(f, &source, &desc);
		rc = add_stream(f, q, &desc, &stream);
	}
	hwtdi_free(f->trace->library, ids, sizeof(*ids));
	return (rc);
}

/* Bytes that are not there have no frames either. */
static bool
is_unframed(const struct hwtdi_perf_queue *q)
{
	bool is_there = false;

	for (size_t i = 0; i < q->n_runs; i++) {
		if ((q->runs[i].flags & PERF_AUX_FORMAT) ==
		    PERF_AUX_FORMAT_RAW)
			return (true);
		is_there = is_there || !q->runs[i].is_missing;
	}
	return (!is_there);
}

static int
make_coresight(struct hwtdi_perf_file *f, struct hwtdi_perf_queue *q,
    uint32_t *out)
{
	struct hwtd_stream_desc desc = { .tech = HWTD_TECH_CORESIGHT,
		.framing = HWTD_FRAMING_MEMORY,
		.cpu = HWTD_NO_ID };
	int rc;

	if (is_unframed(q))
		return (make_unframed(f, q, out));
	rc = add_stream(f, q, &desc, out);
	return (rc == HWTD_OK ? place_runs(f, *out, q->runs, q->n_runs) : rc);
}

/* Records. */

static int
by_tid(const void *a, const void *b)
{
	const struct hwtdi_perf_queue *x = *(struct hwtdi_perf_queue *const *)
					       a;
	const struct hwtdi_perf_queue *y = *(struct hwtdi_perf_queue *const *)
					       b;

	return (x->tid < y->tid ? -1 : x->tid > y->tid);
}

/* The processes of threads that have a queue. */
static int
find_processes(struct hwtdi_perf_file *f, struct hwtdi_perf_queues *queues)
{
	const struct hwtdi_record_list *list = &f->trace->records;
	const size_t bytes = queues->n * sizeof(struct hwtdi_perf_queue *);
	struct hwtdi_perf_queue **sorted;

	sorted = hwtdi_alloc(f->trace->library, bytes + 1);
	if (sorted == NULL)
		return (hwtdi_fail_nomem(f->err, bytes));
	for (size_t i = 0; i < queues->n; i++)
		sorted[i] = &queues->queues[i];
	qsort(sorted, queues->n, sizeof(*sorted), by_tid);
	for (size_t i = 0; i < list->n; i++) {
		const struct hwtd_record *r = &list->records[i];
		size_t low = 0, high = queues->n;

		/* Others have ids of whoever happened to run. */
		if (r->tid == HWTD_NO_ID || r->pid == HWTD_NO_ID ||
		    r->type == HWTD_REC_BUFFER || r->type == HWTD_REC_LOST)
			continue;
		while (low < high) {
			const size_t middle = low + (high - low) / 2;

			if (sorted[middle]->tid < r->tid)
				low = middle + 1;
			else
				high = middle;
		}
		/* Of several queues of a thread the first, and those by it. */
		if (low < queues->n && sorted[low]->tid == r->tid)
			sorted[low]->pid = r->pid;
	}
	for (size_t i = 1; i < queues->n; i++)
		if (sorted[i]->tid == sorted[i - 1]->tid)
			sorted[i]->pid = sorted[i - 1]->pid;
	hwtdi_free(f->trace->library, sorted, bytes + 1);
	return (HWTD_OK);
}

/* Where in its stream each piece ends. */
static void
place_records(struct hwtdi_perf_file *f, const uint32_t *streams)
{
	for (size_t i = 0; i < f->aux.n_pieces; i++) {
		const struct hwtdi_perf_piece *p = &f->aux.pieces[i];
		struct hwtd_record *r;

		if (p->queue_plus_1 == 0)
			continue;
		r = &f->trace->records.records[p->record];
		r->stream = streams[p->queue_plus_1 - 1];
		/* Those of snapshots and of several CPUs are of no place. */
		if (!p->has_end || r->stream == HWTD_NO_ID ||
		    ((p->flags & PERF_AUX_OVERWRITE) != 0 && p->n > 0))
			continue;
		r->flags |= HWTD_RECF_STREAM_OFF;
		r->stream_off = p->end;
	}
}

static int
make_stream(struct hwtdi_perf_file *f, struct hwtdi_perf_queue *q,
    uint32_t *out)
{
	*out = HWTD_NO_ID;
	switch (f->aux.kind) {
	case PERF_AUXTRACE_INTEL_PT:
		return (make_pt(f, q, out));
	case PERF_AUXTRACE_ARM_SPE:
		return (make_spe(f, q, out));
	case PERF_AUXTRACE_CS_ETM:
		return (make_coresight(f, q, out));
	default:
		return (HWTD_OK);
	}
}

int
hwtdi_perf_give_streams(struct hwtdi_perf_file *f)
{
	struct hwtd_context *ctx = f->trace->library;
	struct hwtdi_perf_queues queues;
	uint32_t *streams = NULL;
	size_t bytes = 0;
	int rc;

	rc = hwtdi_perf_queues_make(f, &queues);
	if (rc == HWTD_OK && f->aux.kind == 0 && f->aux.n_buffers > 0)
		rc = hwtdi_trace_note_damage(f->trace,
		    f->aux.buffers[0].data_off, f->aux.buffers[0].n_data,
		    HWTD_NO_ID, 0, 0, f->err,
		    "%zu buffers of trace, and no AUXTRACE_INFO tells of "
		    "what kind",
		    f->aux.n_buffers);
	/* Else nothing at all would tell why there are no rows. */
	if (rc == HWTD_OK && queues.n == 0 && f->opts->sideband_only == 0)
		hwtdi_log(ctx, HWTD_LOG_WARNING, "perf",
		    "no trace is in it; perf record -e intel_pt//, cs_etm// "
		    "or arm_spe_0// records one");
	if (rc == HWTD_OK && queues.n > 0) {
		bytes = queues.n * sizeof(*streams);
		streams = hwtdi_alloc(ctx, bytes);
		if (streams == NULL)
			rc = hwtdi_fail_nomem(f->err, bytes);
	}
	if (rc == HWTD_OK && queues.n > 0)
		rc = find_processes(f, &queues);
	if (f->aux.kind == PERF_AUXTRACE_INTEL_PT)
		complete_pt(f);
	for (size_t i = 0; i < queues.n && rc == HWTD_OK; i++)
		rc = make_stream(f, &queues.queues[i], &streams[i]);
	/*
	 * Sinks come first, whatever sources they have; which these are only their
	 * bytes tell.
	 */
	for (size_t i = 0; i < queues.n && rc == HWTD_OK; i++)
		if (f->opts->sideband_only == 0 && streams[i] != HWTD_NO_ID &&
		    f->trace->streams[streams[i]]->desc.framing !=
			HWTD_FRAMING_NONE)
			rc = make_sources(f, &queues.queues[i], streams[i]);
	if (rc == HWTD_OK)
		place_records(f, streams);
	hwtdi_free(ctx, streams, bytes);
	hwtdi_perf_queues_fini(&queues, ctx);
	return (rc);
}
