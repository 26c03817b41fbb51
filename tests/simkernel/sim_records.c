/*
 * The queue of records of a context, and RECORD_GET.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim_internal.h"

void
sim_record(struct sim_kernel *k, struct sim_context *ctx,
    const struct sim_record *record)
{
	if (ctx->dead)
		return;
	if (record->type == HWTDI_HWT_ENTRY_BUFFER) {
		bool dropped = sim_chance(&k->fault_random, k->per_mille);

		k->totals.faults += dropped;
		if (k->drop_buffers != 0) {
			k->drop_buffers--;
			dropped = true;
		}
		if (dropped) {
			k->totals.records_dropped++;
			return;
		}
	}
	k->totals.records_queued++;
	*SIM_PUSH(k, &ctx->records, struct sim_record) = *record;
}

void
sim_hook_mapping(struct sim_kernel *k, struct sim_thread *t,
    const struct sim_record *record)
{
	if (t->process->ctx != NULL)
		sim_record(k, t->process->ctx, record);
}

/* The entry as user space gets it; returns its size. */
static size_t
entry(const struct sim_kernel *k, const struct sim_record *r,
    struct hwtdi_hwt_long_entry *out)
{
	const bool is_long = k->o.flavour == SIM_5BSD;

	memset(out, 0, sizeof(*out));
	out->type = r->type;
	switch (r->type) {
	case HWTDI_HWT_ENTRY_MMAP:
	case HWTDI_HWT_ENTRY_EXECUTABLE:
	case HWTDI_HWT_ENTRY_KERNEL:
		/* As strncpy(3) does: a full one has no end. */
		memcpy(out->u.path.fullpath, r->path,
		    strnlen(r->path, sizeof(out->u.path.fullpath)));
		out->u.path.addr = r->addr;
		out->u.path.baseaddr = r->baseaddr;
		if (is_long) {
			out->pgoff = r->pgoff;
			out->len = r->len;
		}
		break;
	case HWTDI_HWT_ENTRY_MUNMAP:
		if (is_long)
			out->u.path.addr = r->addr;
		break;
	case HWTDI_HWT_ENTRY_BUFFER:
	case HWTDI_HWT_ENTRY_OVERFLOW:
		out->u.buffer.buf_id = r->id;
		out->u.buffer.curpage = r->curpage;
		out->u.buffer.offset = r->offset;
		break;
	default:
		out->u.thread_id = r->id;
		break;
	}
	return (is_long ? HWTDI_HWT_LONG_ENTRY_SIZE : HWTDI_HWT_ENTRY_SIZE);
}

static bool
has_records(struct sim_kernel *k, void *arg)
{
	const struct sim_context *ctx = arg;

	(void)k;
	return (ctx->records.n - ctx->taken > (ctx->loses_wakeup ? 1U : 0U));
}

int
sim_record_get(struct sim_kernel *k, struct sim_context *ctx,
    struct hwtdi_hwt_record_get *get)
{
	int *nentries = (int *)(uintptr_t)get->nentries;
	uint8_t *records = (uint8_t *)(uintptr_t)get->records;
	struct hwtdi_hwt_long_entry e;
	size_t size, n, room;

	if (get->nentries < SIM_PAGE)
		return (-EFAULT);
	if (*nentries < 1 || *nentries > HWTDI_HWT_MAX_ENTRIES)
		return (-ENXIO);
	room = (size_t)*nentries;
	if (get->wait != 0 && ctx->records.n == ctx->taken) {
		ctx->loses_wakeup = k->o.lose_wakeups ||
		    sim_chance(&k->fault_random, 4 * k->per_mille);
		/* What ends the sleep is not looked at. */
		if (sim_wait(k, SIM_NEVER, has_records, ctx) == SIM_FOREVER)
			sim_hung(k,
			    "RECORD_GET waits for a record that never comes");
	}
	n = ctx->records.n - ctx->taken;
	if (n > room)
		n = room;
	/* They leave the queue before they are copied. */
	ctx->taken += n;
	if (n != 0 && get->records < SIM_PAGE) {
		k->totals.records_lost += n;
		return (-EFAULT);
	}
	for (size_t i = 0; i < n; i++) {
		size = entry(k,
		    &SIM_AT(&ctx->records, struct sim_record,
			ctx->taken - n + i),
		    &e);
		memcpy(records, &e, size);
		records += size;
	}
	*nentries = (int)n;
	return (0);
}
