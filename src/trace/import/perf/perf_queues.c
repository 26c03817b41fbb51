/*
 * Bytes of trace in a perf.data: which lie where, and which are missing.
 *
 * Source: perf_event_open(2), "PERF_RECORD_AUX"; Linux, tools/perf/util/auxtrace.h
 * ("struct auxtrace_queues") and cs-etm.c (pieces of snapshots).
 */
#include "trace/import/perf/perf_queues.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/hash.h"

/* What a piece says about the bytes behind it. */
#define LOSS (PERF_AUX_TRUNCATED | PERF_AUX_PARTIAL)

static int
by_queue(const void *a, const void *b)
{
	const struct hwtdi_perf_buffer *x = a, *y = b;

	if (x->idx != y->idx)
		return (x->idx < y->idx ? -1 : 1);
	return (x->no < y->no ? -1 : x->no > y->no);
}

static int
add_queue(struct hwtdi_perf_file *f, struct hwtdi_perf_queues *queues,
    const struct hwtdi_perf_queue *queue)
{
	int rc;

	/* Each is a stream at least. */
	if (queues->n == HWTDI_MAX_STREAMS)
		return (hwtdi_fail(f->err, HWTD_E_LIMIT,
		    "trace of more than %u CPUs or threads",
		    HWTDI_MAX_STREAMS));
	rc = hwtdi_array_grow(f->trace->library, &queues->queues, &queues->cap,
	    queues->n + 1, sizeof(*queues->queues), f->err);
	if (rc == HWTD_OK)
		queues->queues[queues->n++] = *queue;
	return (rc);
}

static int
find_queues(struct hwtdi_perf_file *f, struct hwtdi_perf_queues *queues)
{
	struct hwtdi_perf_aux *aux = &f->aux;
	int rc = HWTD_OK;

	if (aux->n_buffers > 0)
		qsort(aux->buffers, aux->n_buffers, sizeof(*aux->buffers),
		    by_queue);
	for (size_t i = 0; i < aux->n_buffers && rc == HWTD_OK; i++) {
		const struct hwtdi_perf_buffer *b = &aux->buffers[i];
		const struct hwtdi_perf_queue new = { .cpu = b->cpu,
			.tid = b->tid,
			.pid = HWTD_NO_ID,
			.first_buffer = i };

		if (i == 0 || aux->buffers[i - 1].idx != b->idx)
			rc = add_queue(f, queues, &new);
		if (rc == HWTD_OK)
			queues->queues[queues->n - 1].n_buffers++;
	}
	return (rc);
}

/* Which queue is that of a CPU or a thread: the first. */
struct owners {
	struct hwtdi_perf_file *file;
	const struct hwtdi_perf_queues *queues;
	struct hwtdi_index index;
};

static uint64_t
hash_owner(const struct owners *o, uint32_t cpu, uint32_t tid)
{
	const uint32_t key[] = { cpu, cpu != HWTD_NO_ID ? HWTD_NO_ID : tid };

	return (hwtdi_hash(o->file->trace->library, key, sizeof(key)));
}

static bool
find_owner(const struct owners *o, uint32_t cpu, uint32_t tid, uint32_t *out)
{
	const uint64_t hash = hash_owner(o, cpu, tid);
	size_t tries = 0;

	while (hwtdi_index_next(&o->index, hash, &tries, out)) {
		const struct hwtdi_perf_queue *q = &o->queues->queues[*out];

		if (q->cpu == cpu && (cpu != HWTD_NO_ID || q->tid == tid))
			return (true);
	}
	return (false);
}

static int
add_owner(struct owners *o, uint32_t no)
{
	const struct hwtdi_perf_queue *q = &o->queues->queues[no];
	uint32_t other;
	int rc;

	if (find_owner(o, q->cpu, q->tid, &other))
		return (HWTD_OK);
	rc = hwtdi_index_reserve(&o->index, o->file->trace->library,
	    o->file->err);
	if (rc == HWTD_OK)
		hwtdi_index_put(&o->index, hash_owner(o, q->cpu, q->tid), no);
	return (rc);
}

/* The queue of a piece; false: none. */
static bool
queue_of(const struct owners *o, const struct hwtdi_perf_piece *piece,
    uint32_t *out)
{
	return ((piece->cpu != HWTD_NO_ID &&
		    find_owner(o, piece->cpu, HWTD_NO_ID, out)) ||
	    find_owner(o, HWTD_NO_ID, piece->tid, out));
}

/* Buffers are of CPUs, or of threads where they are not. */
static bool
are_of_cpus(const struct hwtdi_perf_queues *queues,
    const struct hwtdi_perf_piece *piece)
{
	return (queues->n > 0 ? queues->queues[0].cpu != HWTD_NO_ID
			      : piece->cpu != HWTD_NO_ID);
}

/* Pieces of which there is no buffer at all are a queue too: what it lacks. */
static int
add_lacking(struct owners *o, struct hwtdi_perf_queues *queues,
    const struct hwtdi_perf_piece *piece, uint32_t *out)
{
	const bool by_cpu = are_of_cpus(queues, piece);
	const struct hwtdi_perf_queue new = {
		.cpu = by_cpu ? piece->cpu : HWTD_NO_ID,
		.tid = by_cpu ? HWTD_NO_ID : piece->tid,
		.pid = HWTD_NO_ID,
		.first_buffer = o->file->aux.n_buffers,
	};
	int rc = add_queue(o->file, queues, &new);

	*out = (uint32_t)queues->n - 1;
	return (rc == HWTD_OK ? add_owner(o, *out) : rc);
}

/* The queue of a piece, + 1; 0: it is of none, or nothing tells of which. */
static int
give_piece(struct owners *o, struct hwtdi_perf_queues *queues,
    struct hwtdi_perf_piece *piece)
{
	const bool by_cpu = are_of_cpus(queues, piece);
	uint32_t no = 0;
	int rc = HWTD_OK;

	if (queues->n > 0 &&
	    (by_cpu ? piece->cpu : piece->tid) == HWTD_NO_ID) {
		piece->queue_plus_1 = queues->n == 1 ? 1 : 0;
		return (HWTD_OK);
	}
	if (!queue_of(o, piece, &no)) {
		/* Of nothing nothing is missing. */
		if (piece->n == 0)
			return (HWTD_OK);
		rc = add_lacking(o, queues, piece, &no);
	}
	piece->queue_plus_1 = no + 1;
	return (rc);
}

static int
give_pieces(struct hwtdi_perf_file *f, struct hwtdi_perf_queues *queues)
{
	struct hwtdi_perf_aux *aux = &f->aux;
	struct owners owners = { .file = f, .queues = queues };
	int rc = HWTD_OK;

	for (uint32_t i = 0; i < queues->n && rc == HWTD_OK; i++)
		rc = add_owner(&owners, i);
	for (size_t i = 0; i < aux->n_pieces && rc == HWTD_OK; i++)
		rc = give_piece(&owners, queues, &aux->pieces[i]);
	hwtdi_index_fini(&owners.index, f->trace->library);
	return (rc);
}

/* Runs. */

static int
add_run(struct hwtdi_perf_file *f, struct hwtdi_perf_queue *q,
    const struct hwtdi_perf_run *run)
{
	struct hwtdi_perf_run *last = q->n_runs > 0 ? &q->runs[q->n_runs - 1]
						    : NULL;
	bool was_missing;
	int rc;

	/* However many pieces are missing in a row, that is one hole. */
	if (last != NULL && last->is_missing && run->is_missing &&
	    last->cpu == run->cpu && run->n <= UINT64_MAX - last->n) {
		last->n += run->n;
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(f->trace->library, &q->runs, &q->cap_runs,
	    q->n_runs + 1, sizeof(*q->runs), f->err);

	if (rc != HWTD_OK)
		return (rc);
	/* A hole breaks as it is. */
	was_missing = q->n_runs > 0 && q->runs[q->n_runs - 1].is_missing &&
	    q->runs[q->n_runs - 1].cpu == run->cpu;
	q->runs[q->n_runs] = *run;
	q->runs[q->n_runs].breaks = run->breaks && !was_missing;
	q->runs[q->n_runs].no = q->n_runs;
	q->n_runs++;
	return (HWTD_OK);
}

/* Where the runs of a queue have come to, and which pieces are to come. */
struct walk {
	struct hwtdi_perf_file *file;
	struct hwtdi_perf_queue *queue;
	/* Its pieces in order, and the next one. */
	struct hwtdi_perf_piece **pieces;
	size_t n_pieces, next;
	/* Place behind the last run; something was put there. */
	uint64_t at;
	bool started;
	/* Bytes of all runs. */
	uint64_t n_put;
	/* The last piece lost what came behind it. */
	bool lost;
	/* The last run is of no piece. */
	bool is_free;
};

/*
 * Intel PT goes on across pieces as if there were none: each begins with a PSB, and
 * the bytes adjoin.  Others begin anew.
 */
static bool
begins_anew(const struct walk *w)
{
	return (w->file->aux.kind != PERF_AUXTRACE_INTEL_PT);
}

/* What comes next is behind the next piece. */
static void
pass_piece(struct walk *w)
{
	struct hwtdi_perf_piece *p = w->pieces[w->next++];

	w->lost = w->lost || (p->flags & LOSS) != 0;
	p->has_end = true;
	p->end = w->n_put;
	/* Without bytes, it may be where none came to. */
	if (w->started && p->n == 0 && p->aux_off > w->at)
		p->end += p->aux_off - w->at;
}

/* [start, end) of a buffer, or missing, where one piece is or none. */
static int
put(struct walk *w, const struct hwtdi_perf_buffer *buffer, uint64_t start,
    uint64_t end, const struct hwtdi_perf_piece *piece)
{
	const bool is_start = piece != NULL ? start == piece->aux_off
					    : !w->is_free;
	struct hwtdi_perf_run run = { .aux_off = start,
		.n = end - start,
		.cpu = piece != NULL ? piece->cpu : HWTD_NO_ID,
		.flags = piece != NULL ? piece->flags : 0 };
	uint64_t n_there;
	int rc = HWTD_OK;

	if (start == end)
		return (HWTD_OK);
	run.breaks = !w->started || w->lost || start != w->at ||
	    (is_start && begins_anew(w));
	/* What nothing tells of between two runs is lost too. */
	run.why = w->lost || (w->started && start > w->at)
	    ? HWTD_EXTENT_AFTER_LOSS
	    : HWTD_EXTENT_NEW;
	w->is_free = piece == NULL;
	w->lost = false;
	w->started = true;
	w->at = end;
	w->n_put += end - start;
	n_there = buffer == NULL || start - buffer->aux_off >= buffer->n_data
	    ? 0
	    : buffer->n_data - (start - buffer->aux_off);
	if (n_there > run.n)
		n_there = run.n;
	if (n_there > 0) {
		run.data_off = buffer->data_off + (start - buffer->aux_off);
		run.n = n_there;
		rc = add_run(w->file, w->queue, &run);
	}
	if (rc == HWTD_OK && n_there < end - start) {
		run.n = end - start - n_there;
		run.aux_off = start + n_there;
		run.is_missing = true;
		run.breaks = true;
		run.why = HWTD_EXTENT_AFTER_DAMAGE;
		rc = add_run(w->file, w->queue, &run);
	}
	return (rc);
}

/* Pieces before `until` that no buffer has. */
static int
put_missing(struct walk *w, uint64_t until)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && w->next < w->n_pieces) {
		const struct hwtdi_perf_piece *p = w->pieces[w->next];
		const uint64_t end = p->aux_off + p->n;
		uint64_t start = p->aux_off;

		if (start >= until)
			break;
		/* Buffers may go back. */
		if (w->started && start < w->at)
			start = w->at;
		if (start < end && start < until)
			rc = put(w, NULL, start, end < until ? end : until, p);
		if (end > until)
			break;
		pass_piece(w);
	}
	return (rc);
}

/* The last piece that begins before a place; NULL: none. */
static const struct hwtdi_perf_piece *
piece_before(const struct walk *w, uint64_t end)
{
	size_t low = 0, high = w->n_pieces;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (w->pieces[middle]->aux_off < end)
			low = middle + 1;
		else
			high = middle;
	}
	return (low > 0 ? w->pieces[low - 1] : NULL);
}

/*
 * Where the bytes of a buffer end: perf fills it up with up to 7 bytes of 0, which
 * pieces, or where the next buffer begins, tell.
 */
static uint64_t
end_of(const struct walk *w, const struct hwtdi_perf_buffer *b, bool is_last)
{
	const uint64_t end = b->aux_off + b->n_told;
	const struct hwtdi_perf_piece *p = piece_before(w, end);
	uint64_t at = p != NULL ? p->aux_off + p->n : end;

	if (at <= b->aux_off || at >= end || end - at >= HWTDI_PERF_ALIGNMENT)
		at = is_last ? end : (b + 1)->aux_off;
	return (at > b->aux_off && at < end && end - at < HWTDI_PERF_ALIGNMENT
		? at
		: end);
}

/* The bytes of a buffer, cut where pieces begin. */
static int
put_buffer(struct walk *w, const struct hwtdi_perf_buffer *b, bool is_last)
{
	const uint64_t end = end_of(w, b, is_last);
	uint64_t at = b->aux_off;
	int rc = put_missing(w, at);

	while (rc == HWTD_OK && at < end) {
		const struct hwtdi_perf_piece *p = w->next < w->n_pieces
		    ? w->pieces[w->next]
		    : NULL;
		uint64_t until = end;

		if (p == NULL || p->aux_off >= end) {
			rc = put(w, b, at, end, NULL);
			break;
		}
		/* What is before the piece, and then what is in it. */
		if (p->aux_off > at) {
			rc = put(w, b, at, p->aux_off, NULL);
			at = p->aux_off;
			continue;
		}
		if (p->aux_off + p->n < end)
			until = p->aux_off + p->n;
		if (until > at)
			rc = put(w, b, at, until, p);
		if (until > at)
			at = until;
		if (p->aux_off + p->n > end)
			break;
		pass_piece(w);
	}
	/* A piece without bytes at the end says that some were lost there. */
	while (w->next < w->n_pieces && w->pieces[w->next]->n == 0 &&
	    w->pieces[w->next]->aux_off == end)
		pass_piece(w);
	return (rc);
}

/* Snapshots: what a buffer has is of no place among other bytes. */
static int
put_snapshots(struct walk *w)
{
	struct hwtdi_perf_file *f = w->file;
	struct hwtdi_perf_queue *q = w->queue;
	int rc = HWTD_OK;

	for (size_t i = 0; i < q->n_buffers && rc == HWTD_OK; i++) {
		const struct hwtdi_perf_buffer
		    *b = &f->aux.buffers[q->first_buffer + i];
		struct hwtdi_perf_run run = { .data_off = b->data_off,
			.bytes = b->bytes,
			.n = b->n_data,
			.aux_off = b->aux_off,
			.breaks = true,
			.cpu = HWTD_NO_ID };
		uint64_t n_again = 0, n_filler = 0;

		/* Who wrote it last: of one CPU all of it is. */
		while (w->next < w->n_pieces &&
		    w->pieces[w->next]->aux_off <= b->aux_off + b->n_told) {
			run.cpu = w->pieces[w->next]->cpu;
			run.flags = w->pieces[w->next]->flags;
			w->next++;
		}
		if (i > 0)
			rc = hwtdi_perf_overlap(f, b - 1, b, &n_again,
			    &n_filler);
		if (rc == HWTD_OK)
			rc = hwtdi_poll(f->trace->library, f->err);
		if (rc != HWTD_OK)
			break;
		run.data_off += n_again;
		run.bytes = b->bytes != NULL ? b->bytes + n_again : NULL;
		run.n -= n_again;
		run.aux_off += n_again;
		run.breaks = n_again == 0;
		if (n_again > 0 && q->runs[q->n_runs - 1].n > n_filler)
			q->runs[q->n_runs - 1].n -= n_filler;
		if (run.n > 0)
			rc = add_run(f, q, &run);
		if (rc == HWTD_OK && b->n_told > b->n_data) {
			run.is_missing = true;
			run.n = b->n_told - b->n_data;
			rc = add_run(f, q, &run);
		}
	}
	return (rc);
}

static int
by_place(const void *a, const void *b)
{
	const struct hwtdi_perf_piece
	    *x = *(const struct hwtdi_perf_piece *const *)a;
	const struct hwtdi_perf_piece
	    *y = *(const struct hwtdi_perf_piece *const *)b;

	if (x->aux_off != y->aux_off)
		return (x->aux_off < y->aux_off ? -1 : 1);
	if (x->n != y->n)
		return (x->n < y->n ? -1 : 1);
	return (x->record < y->record ? -1 : x->record > y->record);
}

static bool
is_snapshot(const struct walk *w)
{
	if (w->file->aux.is_snapshot)
		return (true);
	for (size_t i = 0; i < w->n_pieces; i++)
		if ((w->pieces[i]->flags & PERF_AUX_OVERWRITE) != 0 &&
		    w->pieces[i]->n > 0)
			return (true);
	return (false);
}

/* The pieces of all queues, those of one beside each other. */
static int
by_queue_of_piece(const void *a, const void *b)
{
	const struct hwtdi_perf_piece
	    *x = *(const struct hwtdi_perf_piece *const *)a;
	const struct hwtdi_perf_piece
	    *y = *(const struct hwtdi_perf_piece *const *)b;

	if (x->queue_plus_1 != y->queue_plus_1)
		return (x->queue_plus_1 < y->queue_plus_1 ? -1 : 1);
	return (x->record < y->record ? -1 : x->record > y->record);
}

static int
find_runs(struct hwtdi_perf_file *f, struct hwtdi_perf_queue *q,
    struct hwtdi_perf_piece **pieces, size_t n_pieces)
{
	struct walk w = { .file = f,
		.queue = q,
		.pieces = pieces,
		.n_pieces = n_pieces };
	int rc = HWTD_OK;

	if (is_snapshot(&w))
		return (put_snapshots(&w));
	if (n_pieces > 0)
		qsort(pieces, n_pieces, sizeof(*pieces), by_place);
	for (size_t i = 0; i < q->n_buffers && rc == HWTD_OK; i++)
		rc = put_buffer(&w, &f->aux.buffers[q->first_buffer + i],
		    i + 1 == q->n_buffers);
	return (rc == HWTD_OK ? put_missing(&w, UINT64_MAX) : rc);
}

int
hwtdi_perf_queues_make(struct hwtdi_perf_file *f,
    struct hwtdi_perf_queues *queues)
{
	struct hwtd_context *ctx = f->trace->library;
	const struct hwtdi_perf_aux *aux = &f->aux;
	const size_t bytes = aux->n_pieces * sizeof(struct hwtdi_perf_piece *);
	struct hwtdi_perf_piece **pieces;
	size_t next = 0;
	int rc;

	memset(queues, 0, sizeof(*queues));
	rc = find_queues(f, queues);
	if (rc == HWTD_OK)
		rc = give_pieces(f, queues);
	if (rc != HWTD_OK)
		return (rc);
	pieces = hwtdi_alloc(ctx, bytes + 1);
	if (pieces == NULL)
		return (hwtdi_fail_nomem(f->err, bytes));
	for (size_t i = 0; i < aux->n_pieces; i++)
		pieces[i] = &aux->pieces[i];
	if (aux->n_pieces > 0)
		qsort(pieces, aux->n_pieces, sizeof(*pieces),
		    by_queue_of_piece);
	while (next < aux->n_pieces && pieces[next]->queue_plus_1 == 0)
		next++;
	for (size_t i = 0; i < queues->n && rc == HWTD_OK; i++) {
		const size_t first = next;

		while (next < aux->n_pieces &&
		    pieces[next]->queue_plus_1 == i + 1)
			next++;
		rc = find_runs(f, &queues->queues[i], pieces + first,
		    next - first);
	}
	hwtdi_free(ctx, pieces, bytes + 1);
	return (rc);
}

void
hwtdi_perf_queues_fini(struct hwtdi_perf_queues *queues,
    struct hwtd_context *ctx)
{
	for (size_t i = 0; i < queues->n; i++)
		hwtdi_array_free(ctx, queues->queues[i].runs,
		    queues->queues[i].cap_runs,
		    sizeof(*queues->queues[i].runs));
	hwtdi_array_free(ctx, queues->queues, queues->cap,
	    sizeof(*queues->queues));
	memset(queues, 0, sizeof(*queues));
}
