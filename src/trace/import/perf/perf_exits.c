/*
 * Ends of processes: perf tells when threads end, and which of them is the last.
 */
#include "base/fail.h"
#include "base/hash.h"
#include "space/position.h"
#include "trace/import/perf/perf_file.h"

/* A process of which other threads than the first are heard of later. */
struct process {
	uint32_t pid;
	bool is_later;
};

struct processes {
	struct process *list;
	size_t n, cap;
	struct hwtdi_index index;
};

static int
find(struct hwtdi_perf_file *f, struct processes *p, uint32_t pid,
    struct process **out)
{
	struct hwtd_context *ctx = f->trace->library;
	const uint64_t hash = hwtdi_hash(ctx, &pid, sizeof(pid));
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&p->index, hash, &tries, &no)) {
		*out = &p->list[no];
		if ((*out)->pid == pid)
			return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&p->index, ctx, f->err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &p->list, &p->cap, p->n + 1,
		    sizeof(*p->list), f->err);
	if (rc != HWTD_OK)
		return (rc);
	*out = &p->list[p->n];
	**out = (struct process){ .pid = pid };
	hwtdi_index_put(&p->index, hash, (uint32_t)p->n++);
	return (HWTD_OK);
}

/*
 * Backwards in time.  The first thread of a process may end before others, and
 * with it the process does not.
 */
static int
look_back(struct hwtdi_perf_file *f, struct processes *p,
    struct hwtd_record *r)
{
	struct process *process;
	int rc;

	if (r->pid == HWTD_NO_ID || r->tid == HWTD_NO_ID)
		return (HWTD_OK);
	rc = find(f, p, r->pid, &process);
	if (rc != HWTD_OK)
		return (rc);
	if (r->type == HWTD_REC_FORK) {
		/* Before it, the id was that of another process. */
		process->is_later = false;
	} else if (r->tid != r->pid) {
		process->is_later = true;
	} else if (r->type == HWTD_REC_THREAD_EXIT && !process->is_later) {
		r->type = HWTD_REC_EXIT;
	}
	return (HWTD_OK);
}

int
hwtdi_perf_give_exits(struct hwtdi_perf_file *f)
{
	struct hwtdi_record_list *list = &f->trace->records;
	struct hwtd_context *ctx = f->trace->library;
	struct hwtdi_position *position;
	struct processes processes = { 0 };
	const size_t *order;
	size_t n;
	int rc;

	rc = hwtdi_position_create(ctx, list->records, list->n, &position,
	    f->err);
	if (rc != HWTD_OK)
		return (rc);
	order = hwtdi_position_order(position, &n);
	while (rc == HWTD_OK && n > 0)
		rc = look_back(f, &processes, &list->records[order[--n]]);
	hwtdi_position_destroy(position);
	hwtdi_array_free(ctx, processes.list, processes.cap,
	    sizeof(*processes.list));
	hwtdi_index_fini(&processes.index, ctx);
	return (rc);
}
