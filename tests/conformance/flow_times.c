/*
 * Times of packets: those of truth records, compared with the truth and with
 * what the engine told of the same records.
 */
#include "flow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COMPLAINTS 20

/* Distances from the truth, in ticks. */
struct distances {
	uint64_t n;
	uint64_t most;
	uint64_t sum;
};

struct flow_times {
	struct flow_times_record *records;
	size_t n;
	size_t room;
	struct distances packets;
	struct distances engine;
	uint64_t complaints;
};

struct flow_times *
flow_times_create(void)
{
	struct flow_times *times = flow_alloc(sizeof(*times));

	memset(times, 0, sizeof(*times));
	return (times);
}

void
flow_times_add(struct flow_times *times,
    const struct flow_times_record *record)
{
	if (times->n == times->room) {
		times->room = times->room == 0 ? 1024 : times->room * 2;
		times->records = flow_grow(times->records,
		    times->room * sizeof(*times->records));
	}
	times->records[times->n++] = *record;
}

static uint64_t
outside(uint64_t value, uint64_t low, uint64_t high)
{
	if (value < low)
		return (low - value);
	return (value > high ? value - high : 0);
}

static void
count(struct distances *d, uint64_t ticks)
{
	d->n++;
	d->sum += ticks;
	if (ticks > d->most)
		d->most = ticks;
}

static double
mean(const struct distances *d)
{
	return (d->n == 0 ? 0 : (double)d->sum / (double)d->n);
}

static void
check(struct flow_times *times, const struct flow_times_record *record,
    const struct hwtd_packet *packet, uint64_t ticks, FILE *out)
{
	const char *wrong = NULL;

	if ((packet->flags & HWTD_PKF_TIME) == 0)
		wrong = "has no time";
	else if (outside(packet->time_ns, record->low, record->high) > ticks)
		wrong = "is too far from the truth";
	else if (outside(record->truth, packet->time_ns, packet->time_ns) >
	    packet->time_error_ns)
		wrong = "says too small an error";
	if (wrong != NULL && ++times->complaints <= MAX_COMPLAINTS)
		fprintf(out,
		    "packet at %" PRIu64 " (%s) %s: time is %" PRIu64
		    " or %" PRIu64 " off, truth is %" PRIu64 "\n",
		    packet->stream_off, hwtd_packet_kind_name(packet->kind),
		    wrong, packet->time_ns, packet->time_error_ns,
		    record->truth);
	if ((packet->flags & HWTD_PKF_TIME) == 0)
		return;
	count(&times->packets,
	    outside(packet->time_ns, record->from, record->to));
	count(&times->engine,
	    outside(record->engine, record->from, record->to));
}

static int
by_offset(const void *a, const void *b)
{
	const struct flow_times_record *x = a, *y = b;

	return (x->off < y->off ? -1 : x->off > y->off);
}

static void
compare(struct flow_times *times, struct hwtd_packets *packets, uint64_t ticks,
    FILE *out)
{
	struct hwtd_packet_batch batch = { .size = sizeof(batch) };
	struct hwtd_error err = { .size = sizeof(err) };
	size_t at = 0;
	int rc;

	while ((rc = hwtd_packets_read(packets, &batch, &err)) == HWTD_OK) {
		for (size_t i = 0; i < batch.n; i++) {
			const struct hwtd_packet *packet = &batch.packets[i];

			while (at < times->n &&
			    times->records[at].off <
				packet->stream_off + packet->bytes)
				check(times, &times->records[at++], packet,
				    ticks, out);
		}
	}
	if (rc != HWTD_END)
		flow_die("packets: %s", err.message);
	times->complaints += times->n - at;
}

bool
flow_times_end(struct flow_times *times, struct hwtd_trace *trace,
    uint32_t stream, uint64_t ticks, FILE *out)
{
	const struct hwtd_packets_options how = {
		.size = sizeof(how),
		.stream = stream,
		.flags = HWTD_PACKETS_TIME,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_packets *packets = NULL;
	bool good;

	if (times->n > 0) {
		qsort(times->records, times->n, sizeof(*times->records),
		    by_offset);
		if (hwtd_packets_open(trace, &how, &packets, &err) != HWTD_OK)
			flow_die("packets: %s", err.message);
		compare(times, packets, ticks, out);
		hwtd_packets_close(packets);
		fprintf(out,
		    "packet times: %" PRIu64 ", max %" PRIu64
		    " mean %.2f ticks, engine max %" PRIu64
		    " mean %.2f, %" PRIu64 " complaints\n",
		    times->packets.n, times->packets.most,
		    mean(&times->packets), times->engine.most,
		    mean(&times->engine), times->complaints);
	}
	good = times->complaints == 0;
	free(times->records);
	free(times);
	return (good);
}
