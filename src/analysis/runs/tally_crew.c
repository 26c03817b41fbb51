/*
 * A tally crew: several makers that count the code of all streams.
 *
 * Streams are taken one after the other, and their segments as they come.  Who
 * needs one finds it under the lock, and decodes it without.  The caller's
 * thread works as the others do, a part at a time.
 */
#include "analysis/runs/tally_crew.h"

#include <pthread.h>
#include <string.h>

#include "analysis/runs/tally.h"
#include "base/fail.h"
#include "base/pool.h"

/* Bytes that the caller's thread decodes before it returns. */
#define BYTES_AT_ONCE ((uint64_t)1 << 20)

struct worker {
	struct hwtdi_tally_crew *crew;
	struct hwtdi_job job;
	struct hwtdi_tally tally;
	/* Of this stream, if there is one. */
	struct hwtdi_maker maker;
	bool has_maker;
	uint32_t stream;
	/* What the maker says besides flows. */
	struct hwtdi_row_store store;
};

struct hwtdi_tally_crew {
	struct hwtd_context *library;
	struct hwtd_trace *trace;
	const struct hwtdi_filter *filter;
	/* None are read. */
	struct hwtdi_record_lane records;
	struct hwtdi_pool *pool;

	pthread_mutex_t lock;
	/* A job has ended. */
	pthread_cond_t ended;
	/* Jobs that run or wait in the pool. */
	unsigned int n_jobs;
	bool stop;
	int rc;
	struct hwtd_error err;
	struct hwtd_stats stats;
	/* The stream at hand; it was begun, and so far. */
	uint32_t stream, n_streams;
	bool begun, first;
	struct hwtdi_segments at;

	struct worker *workers;
	unsigned int n_workers;
};

/* What was counted by a maker that is not needed any more is kept. */
static int
drop_maker(struct worker *w, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (!w->has_maker)
		return (rc);
	if (w->maker.decoder != NULL)
		rc = w->tally.sink.leave(&w->tally, err);
	hwtdi_maker_rest(&w->maker);
	w->has_maker = false;
	return (rc);
}

static int
need_maker(struct hwtdi_tally_crew *crew, struct worker *w, uint32_t stream,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	int rc;

	if (w->has_maker && w->stream == stream)
		return (HWTD_OK);
	rc = drop_maker(w, err);
	if (rc != HWTD_OK)
		return (rc);
	(void)hwtd_trace_stream(crew->trace, stream, &desc);
	hwtdi_maker_init(&w->maker, crew->trace, stream, &desc, crew->filter,
	    &crew->records);
	w->maker.sink = &w->tally.sink;
	w->has_maker = true;
	w->stream = stream;
	return (hwtdi_maker_ready(&w->maker, err));
}

/* With the lock held. */

/* Go to the next stream that was asked for, if that at hand is done. */
static bool
need_stream(struct hwtdi_tally_crew *crew)
{
	struct hwtd_stream_desc desc;

	for (; !crew->begun && crew->stream < crew->n_streams;
	     crew->stream++) {
		memset(&desc, 0, sizeof(desc));
		desc.size = sizeof(desc);
		if (hwtd_trace_stream(crew->trace, crew->stream, &desc) ==
			HWTD_OK &&
		    hwtdi_filter_stream(crew->filter, crew->stream, &desc))
			return (true);
	}
	return (crew->begun);
}

/* Have a maker begin the next segment of the stream at hand, if there is one. */
static int
begin_segment(struct hwtdi_tally_crew *crew, struct worker *w)
{
	const struct hwtdi_segments *from = &crew->at;
	struct hwtdi_rows *rows = &w->store.rows;
	int rc;

	if (!crew->begun) {
		hwtdi_maker_rewind(&w->maker);
		hwtdi_segments_go(&crew->at, &w->maker.segments);
		crew->begun = true;
		crew->first = true;
	}
	do {
		hwtdi_rows_clear(rows);
		rc = hwtdi_maker_begin(&w->maker, from, crew->first, rows);
		hwtdi_stats_add(&crew->stats, &rows->stats);
		from = NULL;
		/* Gaps alone can fill the rows. */
	} while (rc != HWTD_OK && rows->rc == HWTD_OK);
	crew->first = false;
	hwtdi_segments_go(&crew->at, &w->maker.segments);
	return (rc == HWTD_OK ? HWTD_OK : rows->rc);
}

/* Have a segment.  HWTD_OK; HWTD_END: there is none; or an error. */
static int
take_segment(struct hwtdi_tally_crew *crew, struct worker *w,
    struct hwtd_error *err)
{
	int rc;

	while (!crew->stop && need_stream(crew)) {
		rc = need_maker(crew, w, crew->stream, err);
		if (rc != HWTD_OK)
			return (rc);
		rc = begin_segment(crew, w);
		if (rc < 0)
			return (hwtdi_fail_pass(err, &w->store.rows.err));
		if (rc == HWTD_OK)
			return (HWTD_OK);
		crew->begun = false;
		crew->stream++;
	}
	return (HWTD_END);
}

static bool
is_strict_end(const struct hwtdi_tally_crew *crew)
{
	uint64_t n = 0;

	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		n += crew->stats.gaps[i];
	return (n != 0 && (crew->filter->o.flags & HWTD_DECODE_STRICT) != 0);
}

/* The first error is that of the crew. */
static void
note(struct hwtdi_tally_crew *crew, int rc, const struct hwtd_error *err)
{
	if (rc >= 0 && is_strict_end(crew)) {
		crew->stop = true;
		return;
	}
	if (rc >= 0 || crew->rc < 0)
		return;
	crew->rc = rc;
	crew->err = *err;
	crew->stop = true;
}

/* Work. */

/* Decode the segment that was begun, and the gaps behind it. */
static int
count_segment(struct worker *w, struct hwtd_stats *stats,
    struct hwtd_error *err)
{
	struct hwtdi_rows *rows = &w->store.rows;

	do {
		hwtdi_rows_clear(rows);
		hwtdi_maker_make(&w->maker, rows);
		hwtdi_stats_add(stats, &rows->stats);
	} while (rows->rc == HWTD_OK && w->maker.state != HWTDI_MAKER_PAUSED);
	return (rows->rc < 0 ? hwtdi_fail_pass(err, &rows->err) : HWTD_OK);
}

/* Count segments, as many as have so many bytes; results as of take_segment(). */
static int
work(struct hwtdi_tally_crew *crew, struct worker *w, uint64_t bytes)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stats stats;
	uint64_t done = 0;
	int rc;

	pthread_mutex_lock(&crew->lock);
	for (;;) {
		rc = take_segment(crew, w, &err);
		note(crew, rc, &err);
		if (rc != HWTD_OK)
			break;
		pthread_mutex_unlock(&crew->lock);
		memset(&stats, 0, sizeof(stats));
		rc = count_segment(w, &stats, &err);
		pthread_mutex_lock(&crew->lock);
		hwtdi_stats_add(&crew->stats, &stats);
		note(crew, rc, &err);
		/* What slots are is rough, but near enough. */
		done += HWTDI_SLOT_BYTES;
		if (rc != HWTD_OK || done >= bytes)
			break;
	}
	if (rc != HWTD_OK) {
		pthread_mutex_unlock(&crew->lock);
		rc = drop_maker(w, &err);
		pthread_mutex_lock(&crew->lock);
		note(crew, rc, &err);
		rc = HWTD_END;
	}
	pthread_mutex_unlock(&crew->lock);
	return (rc);
}

static void
run_job(void *arg)
{
	struct worker *w = arg;
	struct hwtdi_tally_crew *crew = w->crew;

	(void)work(crew, w, UINT64_MAX);
	pthread_mutex_lock(&crew->lock);
	crew->n_jobs--;
	pthread_cond_signal(&crew->ended);
	pthread_mutex_unlock(&crew->lock);
}

static void
wait_for_jobs(struct hwtdi_tally_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	while (crew->n_jobs > 0)
		pthread_cond_wait(&crew->ended, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}

int
hwtdi_tally_crew_work(struct hwtdi_tally_crew *crew, struct hwtd_error *err)
{
	int rc = work(crew, &crew->workers[0], BYTES_AT_ONCE);

	if (rc == HWTD_OK)
		return (HWTD_OK);
	wait_for_jobs(crew);
	if (crew->rc < 0)
		return (hwtdi_fail_pass(err, &crew->err));
	return (is_strict_end(crew)
		? hwtdi_fail(err, HWTD_E_CORRUPT,
		      "the trace has a gap, and counting is strict")
		: HWTD_END);
}

void
hwtdi_tally_crew_stats(struct hwtdi_tally_crew *crew, struct hwtd_stats *out)
{
	pthread_mutex_lock(&crew->lock);
	*out = crew->stats;
	pthread_mutex_unlock(&crew->lock);
}

int
hwtdi_tally_crew_take(struct hwtdi_tally_crew *crew,
    struct hwtdi_code_counts *out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	*out = crew->workers[0].tally.code;
	memset(&crew->workers[0].tally.code, 0, sizeof(*out));
	crew->workers[0].tally.code.library = crew->library;
	for (unsigned int i = 1; i < crew->n_workers && rc == HWTD_OK; i++) {
		rc = hwtdi_code_counts_join(out, &crew->workers[i].tally.code,
		    err);
		hwtdi_code_counts_fini(&crew->workers[i].tally.code);
	}
	return (rc);
}

/* Opening and closing. */

int
hwtdi_tally_crew_create(struct hwtd_trace *trace,
    const struct hwtdi_filter *filter, bool with_edges,
    struct hwtdi_tally_crew **out, struct hwtd_error *err)
{
	struct hwtd_context *library = hwtdi_trace_library(trace);
	struct hwtd_trace_info info = { .size = sizeof(info) };
	const unsigned int n = filter->o.jobs > 1 ? filter->o.jobs : 1;
	struct hwtdi_tally_crew *crew = hwtdi_zalloc(library, sizeof(*crew));

	if (crew == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*crew)));
	(void)hwtd_trace_info(trace, &info);
	crew->library = library;
	crew->trace = trace;
	crew->filter = filter;
	crew->n_streams = info.n_streams;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->ended, NULL);
	/* It is a lot, mostly rows. */
	crew->workers = hwtdi_alloc(library, n * sizeof(*crew->workers));
	if (crew->workers == NULL) {
		hwtdi_tally_crew_destroy(crew);
		return (hwtdi_fail_nomem(err, n * sizeof(*crew->workers)));
	}
	crew->n_workers = n;
	for (unsigned int i = 0; i < n; i++) {
		struct worker *w = &crew->workers[i];

		w->crew = crew;
		memset(&w->job, 0, sizeof(w->job));
		w->job.run = run_job;
		w->job.arg = w;
		w->has_maker = false;
		hwtdi_tally_init(&w->tally, library, with_edges);
		hwtdi_row_store_init(&w->store, library);
	}
	if (n > 1) {
		/* The caller's own thread is one of them. */
		int rc = hwtdi_pool_create(library, n - 1, &crew->pool, err);

		if (rc != HWTD_OK) {
			hwtdi_tally_crew_destroy(crew);
			return (rc);
		}
	}
	crew->n_jobs = n - 1;
	for (unsigned int i = 1; i < n; i++)
		hwtdi_pool_add(crew->pool, &crew->workers[i].job);
	*out = crew;
	return (HWTD_OK);
}

void
hwtdi_tally_crew_destroy(struct hwtdi_tally_crew *crew)
{
	if (crew == NULL)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->stop = true;
	pthread_mutex_unlock(&crew->lock);
	hwtdi_pool_destroy(crew->pool);
	for (unsigned int i = 0; i < crew->n_workers; i++) {
		struct worker *w = &crew->workers[i];

		if (w->has_maker)
			hwtdi_maker_rest(&w->maker);
		hwtdi_tally_fini(&w->tally);
		hwtdi_rows_fini(&w->store.rows);
	}
	hwtdi_free(crew->library, crew->workers,
	    crew->n_workers * sizeof(*crew->workers));
	pthread_cond_destroy(&crew->ended);
	pthread_mutex_destroy(&crew->lock);
	hwtdi_free(crew->library, crew, sizeof(*crew));
}
