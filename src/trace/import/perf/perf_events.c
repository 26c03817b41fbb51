/*
 * The events that a perf.data was recorded with: what their records end with, and
 * which event a record is of.
 *
 * Source: perf_event_open(2), struct perf_event_attr and struct sample_id.
 */
#include "trace/import/perf/perf_events.h"

#include <inttypes.h>

#include "base/fail.h"
#include "base/hash.h"

/* Offsets and bits of perf_event_attr. */
#define ATTR_CONFIG 8u
#define ATTR_SAMPLE_TYPE 24u
#define ATTR_READ_FORMAT 32u
#define ATTR_FLAGS 40u
#define ATTR_BYTES_VER0 64u
#define ATTR_BRANCH_TYPE 72u
#define ATTR_REGS_USER 80u
#define ATTR_CLOCKID 92u
#define ATTR_REGS_INTR 96u
#define FLAG_SAMPLE_ID_ALL 18u
#define FLAG_USE_CLOCKID 25u

/* Fields of a sample id, in their order. */
static const uint32_t id_fields[] = {
	PERF_SAMPLE_TID,
	PERF_SAMPLE_TIME,
	PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID,
	PERF_SAMPLE_CPU,
	PERF_SAMPLE_IDENTIFIER,
};

#define N_ID_FIELDS (sizeof(id_fields) / sizeof(id_fields[0]))

/* Bit fields begin with the highest bit where bytes do. */
static bool
has_flag(uint64_t flags, bool big, unsigned bit)
{
	return ((flags >> (big ? 63 - bit : bit) & 1) != 0);
}

int
hwtdi_perf_events_add(struct hwtdi_perf_events *e, struct hwtd_context *ctx,
    const uint8_t *attr, size_t n, bool big, uint32_t *event_out,
    struct hwtd_error *err)
{
	struct hwtdi_perf_event *event;
	uint64_t flags;
	int rc;

	if (n < ATTR_BYTES_VER0)
		return (hwtdi_fail(err, HWTD_E_CORRUPT,
		    "perf_event_attr of %zu bytes; at least %u", n,
		    ATTR_BYTES_VER0));
	if (e->n == HWTDI_PERF_MAX_EVENTS)
		return (hwtdi_fail(err, HWTD_E_LIMIT, "over %u events",
		    HWTDI_PERF_MAX_EVENTS));
	rc = hwtdi_array_grow(ctx, &e->events, &e->cap, e->n + 1,
	    sizeof(*e->events), err);
	if (rc != HWTD_OK)
		return (rc);
	event = &e->events[e->n];
	memset(event, 0, sizeof(*event));
	event->type = (uint32_t)hwtdi_uint(big, attr, 4);
	event->config = hwtdi_uint(big, attr + ATTR_CONFIG, 8);
	event->sample_type = hwtdi_uint(big, attr + ATTR_SAMPLE_TYPE, 8);
	event->read_format = hwtdi_uint(big, attr + ATTR_READ_FORMAT, 8);
	flags = hwtdi_uint(big, attr + ATTR_FLAGS, 8);
	event->has_sample_id = has_flag(flags, big, FLAG_SAMPLE_ID_ALL);
	event->has_clockid = has_flag(flags, big, FLAG_USE_CLOCKID);
	if (n >= ATTR_CLOCKID + 4)
		event->clockid = (int32_t)hwtdi_uint(big, attr + ATTR_CLOCKID,
		    4);
	if (n >= ATTR_BRANCH_TYPE + 8)
		event->branch_type = hwtdi_uint(big, attr + ATTR_BRANCH_TYPE,
		    8);
	if (n >= ATTR_REGS_USER + 8)
		event->regs_user = hwtdi_uint(big, attr + ATTR_REGS_USER, 8);
	if (n >= ATTR_REGS_INTR + 8)
		event->regs_intr = hwtdi_uint(big, attr + ATTR_REGS_INTR, 8);
	*event_out = (uint32_t)e->n++;
	return (HWTD_OK);
}

int
hwtdi_perf_events_add_plain(struct hwtdi_perf_events *e,
    struct hwtd_context *ctx, uint64_t sample_type, struct hwtd_error *err)
{
	const struct hwtdi_perf_event event = { .sample_type = sample_type,
		.has_sample_id = true };
	int rc = hwtdi_array_grow(ctx, &e->events, &e->cap, e->n + 1,
	    sizeof(*e->events), err);

	if (rc == HWTD_OK)
		e->events[e->n++] = event;
	return (rc);
}

static struct hwtdi_perf_event_id *
find_id(const struct hwtdi_perf_events *e, const struct hwtd_context *ctx,
    uint64_t id)
{
	const uint64_t hash = hwtdi_hash(ctx, &id, sizeof(id));
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&e->by_id, hash, &tries, &no))
		if (e->ids[no].id == id)
			return (&e->ids[no]);
	return (NULL);
}

struct hwtdi_perf_event *
hwtdi_perf_events_find(const struct hwtdi_perf_events *e,
    const struct hwtd_context *ctx, uint64_t id)
{
	const struct hwtdi_perf_event_id *found = find_id(e, ctx, id);

	return (found != NULL ? &e->events[found->event] : NULL);
}

void
hwtdi_perf_events_place_id(struct hwtdi_perf_events *e,
    const struct hwtd_context *ctx, uint64_t id, uint32_t cpu, uint32_t tid)
{
	struct hwtdi_perf_event_id *found = find_id(e, ctx, id);

	if (found == NULL)
		return;
	found->cpu = cpu;
	found->tid = tid;
}

int
hwtdi_perf_events_add_id(struct hwtdi_perf_events *e, struct hwtd_context *ctx,
    uint64_t id, uint32_t event, struct hwtd_error *err)
{
	int rc;

	if (hwtdi_perf_events_find(e, ctx, id) != NULL)
		return (HWTD_OK);
	rc = hwtdi_index_reserve(&e->by_id, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &e->ids, &e->cap_ids, e->n_ids + 1,
		    sizeof(*e->ids), err);
	if (rc != HWTD_OK)
		return (rc);
	e->ids[e->n_ids] = (struct hwtdi_perf_event_id){ id, event, HWTD_NO_ID,
		HWTD_NO_ID };
	hwtdi_index_put(&e->by_id, hwtdi_hash(ctx, &id, sizeof(id)),
	    (uint32_t)e->n_ids++);
	return (HWTD_OK);
}

static size_t
id_bytes(const struct hwtdi_perf_event *event)
{
	size_t n = 0;

	if (event == NULL || !event->has_sample_id)
		return (0);
	for (size_t i = 0; i < N_ID_FIELDS; i++)
		if ((event->sample_type & id_fields[i]) != 0)
			n += 8;
	return (n);
}

/* How far from the end of a record the id of its event begins; 0: nowhere. */
static size_t
id_place(const struct hwtdi_perf_event *event)
{
	size_t place = 0;

	if (!event->has_sample_id)
		return (0);
	if ((event->sample_type & PERF_SAMPLE_IDENTIFIER) != 0)
		return (8);
	if ((event->sample_type & PERF_SAMPLE_ID) == 0)
		return (0);
	for (size_t i = 2; i < N_ID_FIELDS; i++)
		if ((event->sample_type & id_fields[i]) != 0)
			place += 8;
	return (place);
}

/*
 * The event of a record.  perf makes records of its own too, with id 0: these are
 * like those of the first event.
 */
static const struct hwtdi_perf_event *
event_of(const struct hwtdi_perf_events *e, const struct hwtd_context *ctx,
    const struct hwtdi_perf_record *record)
{
	const struct hwtdi_bytes *body = &record->body.rest;
	const struct hwtdi_perf_event *found;
	size_t place;

	if (e->n == 0)
		return (NULL);
	place = id_place(&e->events[0]);
	if (e->n == 1 || place == 0 || place > body->left)
		return (&e->events[0]);
	found = hwtdi_perf_events_find(e, ctx,
	    hwtdi_uint(record->body.big, body->at + body->left - place, 8));
	return (found != NULL ? found : &e->events[0]);
}

static void
read_field(struct hwtdi_perf_bytes *b, uint32_t field,
    struct hwtdi_perf_sample_id *out)
{
	switch (field) {
	case PERF_SAMPLE_TID:
		out->pid = hwtdi_perf_u32(b);
		out->tid = hwtdi_perf_u32(b);
		break;
	case PERF_SAMPLE_TIME:
		out->time = hwtdi_perf_u64(b);
		break;
	case PERF_SAMPLE_CPU:
		out->cpu = hwtdi_perf_u32(b);
		(void)hwtdi_perf_u32(b);
		break;
	case PERF_SAMPLE_ID:
	case PERF_SAMPLE_IDENTIFIER:
		out->id = hwtdi_perf_u64(b);
		break;
	default:
		(void)hwtdi_perf_u64(b);
		break;
	}
}

int
hwtdi_perf_events_sample_id(const struct hwtdi_perf_events *e,
    const struct hwtd_context *ctx, const struct hwtdi_perf_record *record,
    struct hwtdi_perf_sample_id *out, struct hwtd_error *err)
{
	const struct hwtdi_perf_event *event = event_of(e, ctx, record);
	const struct hwtdi_perf_event_id *found;
	struct hwtdi_perf_bytes b = record->body;

	memset(out, 0, sizeof(*out));
	out->event_cpu = out->event_tid = HWTD_NO_ID;
	out->size = id_bytes(event);
	if (out->size == 0)
		return (HWTD_OK);
	if (out->size > b.rest.left)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, record->off,
		    "%zu bytes, less than %zu of a sample id of "
		    "sample_type %#" PRIx64,
		    b.rest.left, out->size, event->sample_type));
	b.rest.at += b.rest.left - out->size;
	b.rest.left = out->size;
	out->has = event->sample_type;
	for (size_t i = 0; i < N_ID_FIELDS; i++)
		if ((event->sample_type & id_fields[i]) != 0)
			read_field(&b, id_fields[i], out);
	if ((out->has & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)) != 0 &&
	    (found = find_id(e, ctx, out->id)) != NULL) {
		out->event_cpu = found->cpu;
		out->event_tid = found->tid;
	}
	/* perf writes this where it knows no time. */
	if (out->time == UINT64_MAX)
		out->has &= ~(uint64_t)PERF_SAMPLE_TIME;
	return (HWTD_OK);
}

void
hwtdi_perf_events_fini(struct hwtdi_perf_events *e, struct hwtd_context *ctx)
{
	for (size_t i = 0; i < e->n; i++)
		hwtdi_strfree(ctx, e->events[i].name);
	hwtdi_array_free(ctx, e->events, e->cap, sizeof(*e->events));
	hwtdi_array_free(ctx, e->ids, e->cap_ids, sizeof(*e->ids));
	hwtdi_index_fini(&e->by_id, ctx);
	memset(e, 0, sizeof(*e));
}
