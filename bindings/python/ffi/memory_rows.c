/*
 * Tables of samples: what Python would take one by one.
 */
#include "memory_rows.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads in one step: it stays well below what somebody waits for. */
#define READS 2

static int
add_batch(struct hwtd_memory *memory, const struct hwtd_batch *batch,
    struct hwtd_error *err)
{
	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];
		const void *sample;
		int rc;

		if (row->kind != HWTD_EV_SAMPLE ||
		    row->value >= batch->n_samples)
			continue;
		sample = (const char *)batch->samples +
		    (size_t)row->value * batch->sample_stride;
		rc = hwtd_memory_add(memory, row, sample, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

int
hwtpy_memory_step(struct hwtd_memory *memory, struct hwtd_events *events,
    struct hwtd_event *rows, size_t n_rows, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (int i = 0; i < READS && rc == HWTD_OK; i++) {
		struct hwtd_batch batch = { .size = sizeof(batch),
			.events = rows,
			.stride = sizeof(*rows),
			.cap = n_rows };

		rc = hwtd_events_read(events, &batch, err);
		if (rc == HWTD_OK)
			rc = add_batch(memory, &batch, err);
	}
	return (rc);
}

_Static_assert(HWTD_MEMORY_LATENCIES == 4, "cffi wants a number");

static void
derive(struct hwtpy_memory_row *r)
{
	const struct hwtd_memory_row *row = &r->row;

	r->known = 0;
	r->reserved = 0;
	for (int i = 0; i < HWTD_MEMORY_LATENCIES; i++) {
		const struct hwtd_memory_latency *l = &row->latency[i];

		r->mean[i] = 0;
		if (l->n != 0) {
			r->mean[i] = (double)l->sum / (double)l->n;
			r->known |= HWTPY_MEMORY_MEAN << i;
		}
		if (l->n + l->n_saturated != 0)
			r->known |= HWTPY_MEMORY_LATENCY << i;
	}
	if ((row->flags & HWTD_MEMORY_ROW_OTHER) != 0) {
		r->known |= HWTPY_MEMORY_OTHER;
		return;
	}
	if (row->symbol == NULL && row->image != NULL)
		r->known |= HWTPY_MEMORY_IMAGE_OFFSET;
	if (row->branches != 0)
		r->known |= HWTPY_MEMORY_TAKEN;
}

int
hwtpy_memory_read(const struct hwtd_memory *memory, uint32_t table,
    uint64_t first, struct hwtpy_memory_row *out, size_t cap, size_t *n_out)
{
	int rc = hwtd_memory_read(memory, table, first, &out->row,
	    sizeof(*out), cap, n_out);

	for (size_t i = 0; rc == HWTD_OK && i < *n_out; i++)
		derive(&out[i]);
	return (rc);
}

int
hwtpy_memory_accesses(const struct hwtd_memory *memory, uint64_t row_no,
    const struct hwtd_memory_row *row, uint64_t first,
    struct hwtpy_access *out, size_t cap, size_t *n_out)
{
	int rc = hwtd_memory_accesses(memory, row_no, first, &out->access,
	    sizeof(*out), cap, n_out);

	for (size_t i = 0; rc == HWTD_OK && i < *n_out; i++) {
		out[i].line = row->address;
		out[i].sharing = row->sharing;
		out[i].reserved = 0;
	}
	return (rc);
}

static bool
is_of_samples(const struct hwtd_trace *trace, const struct hwtd_record *r)
{
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };

	return (r->type == HWTD_REC_BUFFER &&
	    (r->flags & HWTD_RECF_VALUE) != 0 &&
	    hwtd_trace_stream(trace, r->stream, &stream) == HWTD_OK &&
	    stream.tech == HWTD_TECH_SPE);
}

int
hwtpy_memory_buffers(const struct hwtd_trace *trace, uint64_t first,
    uint64_t n, struct hwtpy_buffers *out)
{
	const uint64_t lost = HWTD_BUFFERF_TRUNCATED | HWTD_BUFFERF_PARTIAL;

	for (uint64_t i = 0; i < n; i++) {
		struct hwtd_record r = { .size = sizeof(r) };
		const int rc = hwtd_trace_record(trace, first + i, &r);

		if (rc != HWTD_OK)
			return (rc == HWTD_E_NOT_FOUND ? HWTD_END : rc);
		if (!is_of_samples(trace, &r))
			continue;
		out->n++;
		out->collided += (r.value & HWTD_BUFFERF_COLLISION) != 0;
		out->cut_short += (r.value & lost) != 0;
	}
	return (HWTD_OK);
}
