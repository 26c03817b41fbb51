/*
 * Threads by what is known of them, and the times of steps.
 */
#include "analysis/calls/call_feed.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/ratio.h"

/* Threads. */

static uint64_t
hash_of(const struct hwtdi_call_threads *threads,
    const struct hwtdi_call_who *who)
{
	const uint64_t seed = threads->rules->library->seed;

	return (hwtdi_hash_pair(seed,
	    hwtdi_hash_pair(seed, who->pid, who->tid),
	    hwtdi_hash_pair(seed, who->stream, who->space)));
}

bool
hwtdi_call_threads_known(const struct hwtdi_call_threads *threads,
    const struct hwtdi_call_who *who, uint32_t *no_out)
{
	const uint64_t hash = hash_of(threads, who);
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&threads->index, hash, &tries, &no)) {
		const struct hwtdi_call_who *at = &threads->at[no];

		if (at->pid == who->pid && at->tid == who->tid &&
		    at->stream == who->stream && at->space == who->space) {
			*no_out = no;
			return (true);
		}
	}
	return (false);
}

int
hwtdi_call_threads_find(struct hwtdi_call_threads *threads,
    const struct hwtdi_call_who *who, uint32_t *no_out, struct hwtd_error *err)
{
	struct hwtd_context *ctx = threads->rules->library;
	struct hwtdi_call_who *at;
	int rc;

	if (hwtdi_call_threads_known(threads, who, no_out))
		return (HWTD_OK);
	rc = hwtdi_index_reserve(&threads->index, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &threads->at, &threads->cap,
		    threads->n + 1, sizeof(*threads->at), err);
	if (rc != HWTD_OK)
		return (rc);
	at = &threads->at[threads->n];
	*at = *who;
	at->calls = hwtdi_alloc(ctx, sizeof(*at->calls));
	if (at->calls == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*at->calls)));
	hwtdi_call_thread_init(at->calls, threads->rules,
	    (uint32_t)threads->n);
	hwtdi_index_put(&threads->index, hash_of(threads, who),
	    (uint32_t)threads->n);
	*no_out = (uint32_t)threads->n++;
	return (HWTD_OK);
}

static struct hwtdi_call_process *
find_process(struct hwtdi_call_threads *threads, uint32_t pid)
{
	const uint64_t hash = hwtdi_hash_pair(threads->rules->library->seed,
	    pid, 0);
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&threads->process_index, hash, &tries, &no)) {
		if (threads->processes[no].pid == pid)
			return (&threads->processes[no]);
	}
	return (NULL);
}

int
hwtdi_call_threads_list(struct hwtdi_call_threads *threads, uint32_t no,
    struct hwtd_error *err)
{
	struct hwtd_context *ctx = threads->rules->library;
	struct hwtdi_call_who *who = &threads->at[no];
	struct hwtdi_call_process *process;
	int rc;

	if (who->listed || who->pid == HWTD_NO_ID)
		return (HWTD_OK);
	process = find_process(threads, who->pid);
	if (process == NULL) {
		rc = hwtdi_index_reserve(&threads->process_index, ctx, err);
		if (rc == HWTD_OK)
			rc = hwtdi_array_grow(ctx, &threads->processes,
			    &threads->cap_processes, threads->n_processes + 1,
			    sizeof(*threads->processes), err);
		if (rc != HWTD_OK)
			return (rc);
		process = &threads->processes[threads->n_processes];
		*process = (struct hwtdi_call_process){ .pid = who->pid };
		hwtdi_index_put(&threads->process_index,
		    hwtdi_hash_pair(ctx->seed, who->pid, 0),
		    (uint32_t)threads->n_processes++);
	}
	who->listed = true;
	who->next_plus_1 = process->first_plus_1;
	process->first_plus_1 = no + 1;
	return (HWTD_OK);
}

uint32_t
hwtdi_call_threads_take(struct hwtdi_call_threads *threads, uint32_t pid)
{
	struct hwtdi_call_process *process = find_process(threads, pid);
	uint32_t first;

	if (process == NULL)
		return (0);
	first = process->first_plus_1;
	process->first_plus_1 = 0;
	for (uint32_t no = first; no != 0;
	     no = threads->at[no - 1].next_plus_1)
		threads->at[no - 1].listed = false;
	return (first);
}

int
hwtdi_call_threads_end(struct hwtdi_call_threads *threads,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < threads->n && rc == HWTD_OK; i++)
		rc = hwtdi_call_thread_end(threads->at[i].calls, err);
	return (rc);
}

void
hwtdi_call_threads_fini(struct hwtdi_call_threads *threads)
{
	struct hwtd_context *ctx = threads->rules->library;

	for (size_t i = 0; i < threads->n; i++) {
		hwtdi_call_thread_fini(threads->at[i].calls);
		hwtdi_free(ctx, threads->at[i].calls,
		    sizeof(*threads->at[i].calls));
	}
	hwtdi_array_free(ctx, threads->at, threads->cap, sizeof(*threads->at));
	hwtdi_index_fini(&threads->index, ctx);
	hwtdi_array_free(ctx, threads->processes, threads->cap_processes,
	    sizeof(*threads->processes));
	hwtdi_index_fini(&threads->process_index, ctx);
	threads->processes = NULL;
	threads->at = NULL;
	threads->n = threads->cap = 0;
}

/* Steps. */

/* a * b / c, where b <= c; 0 of nothing. */
static uint64_t
share(uint64_t a, uint64_t b, uint64_t c)
{
	return (c == 0 ? 0 : (uint64_t)((hwtdi_uint128)a * b / c));
}

static int
go_on(struct hwtdi_call_feed *feed, const struct hwtdi_step *step,
    struct hwtd_error *err)
{
	return (hwtdi_call_thread_step(feed->threads->at[step->thread].calls,
	    step, err));
}

int
hwtdi_call_feed_flush(struct hwtdi_call_feed *feed, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < feed->n && rc == HWTD_OK; i++)
		rc = go_on(feed, &feed->queue[i].step, err);
	feed->n = 0;
	feed->has_anchor = false;
	return (rc);
}

int
hwtdi_call_feed_add(struct hwtdi_call_feed *feed, struct hwtdi_step *step,
    struct hwtd_error *err)
{
	const uint32_t waits = HWTDI_STEP_TIME | HWTDI_STEP_ESTIMATED;
	int rc;

	step->insns = feed->insns;
	step->cycles = feed->cycles;
	if (feed->has_cycles)
		step->flags |= HWTDI_STEP_CYCLES;
	feed->insns = feed->cycles = 0;
	feed->has_cycles = false;
	if (feed->n == HWTDI_CALL_QUEUE) {
		rc = hwtdi_call_feed_flush(feed, err);
		if (rc != HWTD_OK)
			return (rc);
	}
	if (feed->n == 0 &&
	    (!feed->interpolate || !feed->has_anchor ||
		(step->flags & waits) != waits))
		return (go_on(feed, step, err));
	rc = hwtdi_array_grow(feed->threads->rules->library, &feed->queue,
	    &feed->cap, feed->n + 1, sizeof(*feed->queue), err);
	if (rc != HWTD_OK)
		return (rc);
	feed->queue[feed->n++] = (struct hwtdi_queued){ *step,
		feed->executed };
	return (HWTD_OK);
}

int
hwtdi_call_feed_anchor(struct hwtdi_call_feed *feed, uint64_t ns, uint64_t at,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (feed->has_anchor && ns > feed->anchor_ns) {
		for (size_t i = 0; i < feed->n; i++) {
			struct hwtdi_step *step = &feed->queue[i].step;

			if ((step->flags & HWTDI_STEP_ESTIMATED) == 0 ||
			    feed->queue[i].at <= feed->anchor_at)
				continue;
			step->time_ns = feed->anchor_ns +
			    share(ns - feed->anchor_ns,
				feed->queue[i].at - feed->anchor_at,
				at - feed->anchor_at);
			step->flags = (step->flags & ~HWTDI_STEP_ESTIMATED) |
			    HWTDI_STEP_INTERPOLATED;
		}
	}
	if (feed->n != 0)
		rc = hwtdi_call_feed_flush(feed, err);
	feed->has_anchor = true;
	feed->anchor_ns = ns;
	feed->anchor_at = at;
	return (rc);
}

void
hwtdi_call_feed_cycles(struct hwtdi_call_feed *feed, uint64_t cycles)
{
	uint64_t all = feed->insns, left = cycles;

	for (size_t i = 0; i < feed->n; i++)
		all += feed->queue[i].step.insns;
	for (size_t i = 0; i < feed->n && all != 0; i++) {
		struct hwtdi_step *step = &feed->queue[i].step;
		const uint64_t part = share(cycles, step->insns, all);

		step->cycles += part;
		step->flags |= HWTDI_STEP_CYCLES;
		left -= part;
	}
	feed->cycles += left;
	feed->has_cycles = true;
}

void
hwtdi_call_feed_fini(struct hwtdi_call_feed *feed)
{
	if (feed->threads != NULL)
		hwtdi_array_free(feed->threads->rules->library, feed->queue,
		    feed->cap, sizeof(*feed->queue));
	feed->queue = NULL;
	feed->n = feed->cap = 0;
}
