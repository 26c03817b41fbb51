/*
 * Who runs: tables of what records say, by CPU, stream or thread, and in that
 * by time, byte or sequence; searched by bisection.
 */
#include "space/switches.h"

#include <string.h>

#include "base/fail.h"
#include "space/key_sort.h"

/* From `at` on, `id` (a CPU, stream or thread) is, has or runs this. */
struct fact {
	uint64_t at;
	const char *name;
	uint32_t id;
	uint32_t pid;
	uint32_t tid;
	/* This record or one before made the thread. */
	bool birth;
	/* A SWITCH; of one that stops. */
	bool is_switch;
	bool stops;
	/* Then: who comes next, if it is told. */
	uint32_t next_pid;
	uint32_t next_tid;
};

/* Facts by (id, at). */
struct table {
	struct fact *facts;
	size_t n;
	size_t cap;
};

struct hwtdi_switches {
	struct hwtd_context *library;
	struct table cpus;
	struct table streams;
	struct table processes;
	struct table names;
	/* Threads that ran, of which no record may tell more. */
	struct table runs;
};

static int
add(struct hwtd_context *ctx, struct table *table, const struct fact *fact,
    struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_array_grow(ctx, &table->facts, &table->cap, table->n + 1,
	    sizeof(*table->facts), err);
	if (rc == HWTD_OK)
		table->facts[table->n++] = *fact;
	return (rc);
}

static void
free_table(struct hwtd_context *ctx, struct table *table)
{
	hwtdi_array_free(ctx, table->facts, table->cap, sizeof(*table->facts));
	memset(table, 0, sizeof(*table));
}

/* Into the order by (id, at); what is equal stays in order. */
static int
sort(struct hwtd_context *ctx, struct table *table, struct hwtd_error *err)
{
	const size_t n = table->n;
	struct hwtdi_keyed *items;
	struct fact *sorted;
	int rc = HWTD_OK;

	if (n == 0)
		return (HWTD_OK);
	items = hwtdi_alloc(ctx, n * sizeof(*items));
	sorted = hwtdi_alloc(ctx, n * sizeof(*sorted));
	if (items == NULL || sorted == NULL)
		rc = hwtdi_fail_nomem(err, n * sizeof(*sorted));
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		items[i].key = table->facts[i].at;
		items[i].index = i;
	}
	if (rc == HWTD_OK)
		rc = hwtdi_key_sort(ctx, items, n, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		items[i].key = table->facts[items[i].index].id;
	if (rc == HWTD_OK)
		rc = hwtdi_key_sort(ctx, items, n, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++)
		sorted[i] = table->facts[items[i].index];
	hwtdi_free(ctx, items, n * sizeof(*items));
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, sorted, n * sizeof(*sorted));
		return (rc);
	}
	free_table(ctx, table);
	table->facts = sorted;
	table->n = n;
	table->cap = n;
	return (HWTD_OK);
}

/*
 * Who stops at the first switch of an id ran from the beginning: facts[first]
 * up to facts[end] are of that id.  Not if it was made later, or if others
 * were seen to run before.
 */
static int
add_beginning(struct hwtd_context *ctx, struct table *table, size_t first,
    size_t end, struct hwtd_error *err)
{
	struct fact f;
	size_t i = first;

	while (i < end && !table->facts[i].is_switch)
		i++;
	if (i == end || !table->facts[i].stops || table->facts[i].birth)
		return (HWTD_OK);
	f = table->facts[i];
	for (size_t k = first; k < i; k++)
		if (table->facts[k].pid != f.pid ||
		    table->facts[k].tid != f.tid)
			return (HWTD_OK);
	if (table->facts[first].at == 0)
		return (HWTD_OK);
	f.at = 0;
	f.stops = false;
	return (add(ctx, table, &f, err));
}

/* Of a sorted table: facts of who stops become who runs before and after. */
static int
credit(struct hwtd_context *ctx, struct table *table, struct hwtd_error *err)
{
	const size_t n = table->n;
	size_t end, first = 0;
	int rc = HWTD_OK;

	for (; first < n && rc == HWTD_OK; first = end) {
		end = first + 1;
		while (end < n &&
		    table->facts[end].id == table->facts[first].id)
			end++;
		rc = add_beginning(ctx, table, first, end, err);
	}
	for (size_t i = 0; i < n; i++)
		if (table->facts[i].stops) {
			table->facts[i].pid = table->facts[i].next_pid;
			table->facts[i].tid = table->facts[i].next_tid;
		}
	return (rc != HWTD_OK || table->n == n ? rc : sort(ctx, table, err));
}

/*
 * Of facts at one place the last remains, and what says the same as the one
 * before goes; before the first, nobody is known.
 */
static void
tidy(struct table *table)
{
	static const struct fact nobody = { .pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct fact *f = &table->facts[i];
		const struct fact *before;

		if (n > 0 && table->facts[n - 1].id == f->id &&
		    table->facts[n - 1].at == f->at)
			n--;
		before = n > 0 && table->facts[n - 1].id == f->id
		    ? &table->facts[n - 1]
		    : &nobody;
		if (before->pid == f->pid && before->tid == f->tid)
			continue;
		table->facts[n++] = *f;
	}
	table->n = n;
}

/* Of a sorted table of which only ids count. */
static void
keep_one_of_each(struct table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++)
		if (n == 0 || table->facts[n - 1].id != table->facts[i].id)
			table->facts[n++] = table->facts[i];
	table->n = n;
}

/* How many facts come before (id, at). */
static size_t
count_before(const struct table *table, uint32_t id, uint64_t at)
{
	size_t low = 0, high = table->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct fact *f = &table->facts[mid];

		if (f->id < id || (f->id == id && f->at < at))
			low = mid + 1;
		else
			high = mid;
	}
	return (low);
}

/* The last fact before (id, at), of that id, or NULL. */
static const struct fact *
last_before(const struct table *table, uint32_t id, uint64_t at)
{
	const size_t n = count_before(table, id, at);

	if (n == 0 || table->facts[n - 1].id != id)
		return (NULL);
	return (&table->facts[n - 1]);
}

/* Only the thread that runs can do this. */
static bool
is_by_runner(const struct hwtd_record *r)
{
	switch (r->type) {
	case HWTD_REC_SWITCH:
		return (true);
	case HWTD_REC_EXEC:
	case HWTD_REC_EXIT:
	case HWTD_REC_THREAD_EXIT:
		return (r->pid != HWTD_NO_ID && r->tid != HWTD_NO_ID);
	default:
		return (false);
	}
}

static bool
makes_thread(const struct hwtd_record *r)
{
	return (r->type == HWTD_REC_FORK || r->type == HWTD_REC_THREAD_CREATE);
}

/* Before a thread was made, its id meant another one. */
static void
note_births(struct table *table)
{
	for (size_t i = 1; i < table->n; i++)
		if (table->facts[i - 1].birth &&
		    table->facts[i - 1].id == table->facts[i].id)
			table->facts[i].birth = true;
}

/* What a record says of its thread. */
static int
add_thread(struct hwtdi_switches *s, const struct hwtd_record *r, uint64_t seq,
    bool at_start, struct hwtd_error *err)
{
	struct fact f = { .at = seq, .id = r->tid };
	int rc = HWTD_OK;

	if (r->tid == HWTD_NO_ID)
		return (HWTD_OK);
	/* What tells how things were is no birth. */
	f.birth = makes_thread(r) && !at_start;
	f.pid = r->pid;
	if (r->pid != HWTD_NO_ID || f.birth)
		rc = add(s->library, &s->processes, &f, err);
	f.name = r->type == HWTD_REC_THREAD_NAME || makes_thread(r) ? r->name
								    : NULL;
	if (rc == HWTD_OK && (f.name != NULL || f.birth))
		rc = add(s->library, &s->names, &f, err);
	return (rc);
}

static int
add_runner(struct hwtdi_switches *s, const struct hwtd_record *r, uint64_t seq,
    struct hwtd_error *err)
{
	struct fact f = { .pid = r->pid,
		.tid = r->tid,
		.next_pid = HWTD_NO_ID,
		.next_tid = HWTD_NO_ID };
	const struct fact *before;
	int rc = HWTD_OK;

	if (r->pid == HWTD_NO_ID && r->tid != HWTD_NO_ID)
		f.pid = hwtdi_switches_process(s, r->tid, seq);
	f.is_switch = r->type == HWTD_REC_SWITCH;
	f.stops = f.is_switch && (r->flags & HWTD_RECF_SWITCH_OUT) != 0;
	if (f.stops && (r->flags & HWTD_RECF_VALUE) != 0 &&
	    r->value < HWTD_NO_ID) {
		f.next_tid = (uint32_t)r->value;
		f.next_pid = hwtdi_switches_process(s, f.next_tid, seq);
	}
	if (r->tid != HWTD_NO_ID) {
		const struct fact ran = { .id = r->tid };

		rc = add(s->library, &s->runs, &ran, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	before = last_before(&s->processes, r->tid, seq);
	f.birth = before != NULL && before->birth;
	if ((r->flags & HWTD_RECF_TIME) != 0 && r->cpu != HWTD_NO_ID) {
		f.id = r->cpu;
		f.at = r->time_ns;
		rc = add(s->library, &s->cpus, &f, err);
	}
	if (rc == HWTD_OK && (r->flags & HWTD_RECF_STREAM_OFF) != 0 &&
	    r->stream != HWTD_NO_ID) {
		f.id = r->stream;
		f.at = r->stream_off;
		rc = add(s->library, &s->streams, &f, err);
	}
	return (rc);
}

int
hwtdi_switches_create(struct hwtd_context *ctx,
    const struct hwtd_record *records, const struct hwtdi_position *position,
    struct hwtdi_switches **switches_out, struct hwtd_error *err)
{
	const uint64_t n_start = hwtdi_position_start(position);
	struct hwtdi_switches *s;
	const size_t *order;
	int rc = HWTD_OK;
	size_t n;

	s = hwtdi_zalloc(ctx, sizeof(*s));
	if (s == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*s)));
	s->library = ctx;
	order = hwtdi_position_order(position, &n);
	for (size_t seq = 0; rc == HWTD_OK && seq < n; seq++) {
		rc = add_thread(s, &records[order[seq]], seq, seq < n_start,
		    err);
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(ctx, seq, err);
	}
	if (rc == HWTD_OK)
		rc = sort(ctx, &s->processes, err);
	if (rc == HWTD_OK)
		rc = sort(ctx, &s->names, err);
	note_births(&s->processes);
	/* Runners ask for the processes of threads. */
	for (size_t seq = 0; rc == HWTD_OK && seq < n; seq++) {
		if (is_by_runner(&records[order[seq]]))
			rc = add_runner(s, &records[order[seq]], seq, err);
		if (rc == HWTD_OK)
			rc = hwtdi_poll_each(ctx, seq, err);
	}
	if (rc == HWTD_OK)
		rc = sort(ctx, &s->runs, err);
	if (rc == HWTD_OK)
		rc = sort(ctx, &s->cpus, err);
	if (rc == HWTD_OK)
		rc = sort(ctx, &s->streams, err);
	if (rc == HWTD_OK)
		rc = credit(ctx, &s->cpus, err);
	if (rc == HWTD_OK)
		rc = credit(ctx, &s->streams, err);
	if (rc != HWTD_OK) {
		hwtdi_switches_destroy(s);
		return (rc);
	}
	keep_one_of_each(&s->runs);
	tidy(&s->cpus);
	tidy(&s->streams);
	*switches_out = s;
	return (HWTD_OK);
}

void
hwtdi_switches_destroy(struct hwtdi_switches *s)
{
	if (s == NULL)
		return;
	free_table(s->library, &s->cpus);
	free_table(s->library, &s->streams);
	free_table(s->library, &s->processes);
	free_table(s->library, &s->names);
	free_table(s->library, &s->runs);
	hwtdi_free(s->library, s, sizeof(*s));
}

static bool
find_runner(const struct table *table, uint32_t id, uint64_t at,
    struct hwtdi_runner *out)
{
	size_t next = count_before(table, id, at);

	if (next < table->n && table->facts[next].id == id &&
	    table->facts[next].at == at)
		next++;
	out->pid = HWTD_NO_ID;
	out->tid = HWTD_NO_ID;
	out->until = UINT64_MAX;
	if (next < table->n && table->facts[next].id == id)
		out->until = table->facts[next].at;
	if (next == 0 || table->facts[next - 1].id != id)
		return (false);
	out->pid = table->facts[next - 1].pid;
	out->tid = table->facts[next - 1].tid;
	return (out->pid != HWTD_NO_ID || out->tid != HWTD_NO_ID);
}

bool
hwtdi_switches_at_time(const struct hwtdi_switches *s, uint32_t cpu,
    uint64_t time_ns, struct hwtdi_runner *out)
{
	return (find_runner(&s->cpus, cpu, time_ns, out));
}

bool
hwtdi_switches_at_offset(const struct hwtdi_switches *s, uint32_t stream,
    uint64_t off, struct hwtdi_runner *out)
{
	return (find_runner(&s->streams, stream, off, out));
}

uint32_t
hwtdi_switches_process(const struct hwtdi_switches *s, uint32_t tid,
    uint64_t seq)
{
	const struct table *table = &s->processes;
	const size_t n = count_before(table, tid, seq);
	const struct fact *f;

	if (n > 0 && table->facts[n - 1].id == tid)
		return (table->facts[n - 1].pid);
	/* The first that is later, if the thread was there before it. */
	if (n == table->n)
		return (HWTD_NO_ID);
	f = &table->facts[n];
	return (f->id == tid && !f->birth ? f->pid : HWTD_NO_ID);
}

static bool
names(const struct table *table, uint32_t id)
{
	const size_t n = count_before(table, id, 0);

	return (n < table->n && table->facts[n].id == id);
}

bool
hwtdi_switches_knows(const struct hwtdi_switches *s, uint32_t tid)
{
	return (names(&s->processes, tid) || names(&s->names, tid) ||
	    names(&s->runs, tid));
}

const char *
hwtdi_switches_name(const struct hwtdi_switches *s, uint32_t tid, uint64_t seq)
{
	const struct fact *f = last_before(&s->names, tid, seq);

	return (f == NULL ? NULL : f->name);
}
