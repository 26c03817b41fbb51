/*
 * Loops over rows, records and addresses that would be slow in Python.
 */
#include "account.h"

#define FNV_PRIME UINT64_C(1099511628211)

/* A record that says what its owner is called, or that there is one. */
static bool
names_owner(uint32_t type)
{
	return (type == HWTD_REC_EXEC || type == HWTD_REC_THREAD_NAME);
}

size_t
hwtpy_record_owners(const struct hwtd_trace *trace, uint64_t *at,
    uint64_t most, struct hwtpy_owner *seen, uint64_t *numbers, size_t cap)
{
	struct hwtd_record r = { .size = sizeof(r) };
	size_t n = 0;

	for (; most > 0 && n < cap; most--, (*at)++) {
		if (hwtd_trace_record(trace, *at, &r) != HWTD_OK)
			break;
		const uint32_t h = (r.pid * 0x9e3779b1u ^
				       r.tid * 0x85ebca6bu) +
		    r.cpu;
		struct hwtpy_owner *o = &seen[(h ^ h >> 15) % HWTPY_OWNERS];

		if (!names_owner(r.type) && o->used != 0 && o->cpu == r.cpu &&
		    o->pid == r.pid && o->tid == r.tid)
			continue;
		*o = (struct hwtpy_owner){
			.cpu = r.cpu,
			.pid = r.pid,
			.tid = r.tid,
			.used = 1,
		};
		numbers[n++] = *at;
	}
	return (n);
}

uint64_t
hwtpy_ip_hash(uint64_t hash, const struct hwtd_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = (const void
			*)((const char *)batch->events + i * batch->stride);

		if (row->kind != HWTD_EV_INSN)
			continue;
		for (int k = 0; k < 64; k += 8)
			hash = (hash ^ (row->ip >> k & 0xff)) * FNV_PRIME;
	}
	return (hash);
}

void
hwtpy_where_set(struct hwtd_where *where, size_t n, uint32_t flag,
    const uint64_t *values, size_t step)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t value = values[i * step];

		switch (flag) {
		case HWTD_WHERE_SECTION:
			where[i].section = (uint32_t)value;
			break;
		case HWTD_WHERE_IMAGE:
			where[i].image = (uint32_t)value;
			break;
		case HWTD_WHERE_PID:
			where[i].pid = (uint32_t)value;
			break;
		case HWTD_WHERE_CONTEXT:
			where[i].context = (uint32_t)value;
			break;
		case HWTD_WHERE_TIME:
			where[i].time_ns = value;
			break;
		default:
			where[i].address = value;
			break;
		}
		if (value != HWTD_NO_ID || flag == HWTD_WHERE_TIME)
			where[i].flags |= flag;
	}
}
