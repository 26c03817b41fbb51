/*
 * A crew: several makers that make the rows of one stream at the same time.
 *
 * Units are segments, counted from where reading began.  The maker of one finds
 * where its segment ends, says so, and then makes its rows; who comes next
 * begins there.  At most `n_units` are at work or wait to be taken, each in a
 * slot of a ring.
 *
 * The reader takes the rows of the first unit.  When there are no more it goes
 * on with that unit itself, so that those rows stay in its cache, and others
 * work ahead.
 *
 * Of streams that are merged the reader needs all at the same time, so it keeps
 * no unit: it makes a batch, and whoever has time makes the next ones.
 */
#include "event/crew.h"

#include <pthread.h>
#include <string.h>

#include "base/fail.h"
#include "event/batch_chain.h"

/* Batches that are handed over at once. */
#define HAND_OVER 16

/* The least batches that are kept of a unit. */
#define LEAST_OF_UNIT 2

/*
 * A batch is made in again when so many others were read behind it.  Sooner it
 * is still in the cache of the reader's CPU, and to have each line from there
 * takes longer than to make a row.
 */
#define MOST_SPARE 40

/*
 * The same of samples, which nobody reads on the way, but which are long: those
 * that are made and wait have to be in the cache of their maker.
 */
#define HAND_OVER_SAMPLES 4
#define MOST_SPARE_SAMPLES 6
/* A batch of them is as large as so many of blocks. */
#define BATCHES_OF_SAMPLES 4

struct unit {
	/* Rows to be taken, in order. */
	struct hwtdi_batch_chain ready;
	/* Its maker has stopped before the end; the reader goes on with it. */
	bool parked;
	/* All its rows are there. */
	bool done;
	/* There is no batch to tell that. */
	int rc;
	struct worker *worker;
};

struct worker {
	struct hwtdi_crew *crew;
	struct hwtdi_maker maker;
	struct hwtdi_job job;
	/* What it works on, or was to work on. */
	struct unit *unit;
	bool is_first, begun, idle;
	/* The reader waits. */
	atomic_bool wanted;
	/* Rows that were made, but not handed over; more go to `now`. */
	struct hwtdi_batch_chain made;
	struct hwtdi_batch *now;
	/* HWTDI_ROWS of them, before they are packed. */
	struct hwtd_event *rows;
};

struct hwtdi_crew {
	struct hwtd_context *library;
	struct hwtdi_pool *pool;
	const atomic_bool *cancel;
	/* Rows of blocks, or of samples, come packed. */
	bool packs;
	bool samples;
	/* The reader reads other streams between two batches of this one. */
	bool merged;
	/* Batches that are kept of a unit, and of all. */
	size_t most_of_unit, most_of_all;
	/* HAND_OVER and MOST_SPARE. */
	size_t most_handed, most_spare;

	pthread_mutex_t lock;
	/* Rows of the first unit came, or no job is left. */
	pthread_cond_t came;
	bool stop;
	/* Jobs that run or wait in the pool. */
	unsigned int n_jobs;
	/* The maker of the first unit, if it is the reader's own. */
	struct worker *own;

	/* Where the next unit begins, unless its maker is finding that out. */
	struct hwtdi_segments at;
	bool searching, at_end;
	uint64_t next_unit, first_unit;
	/* Batches to hand over at once: few at the start. */
	size_t hand_over;
	/* Batches that are ready, and all that there are. */
	size_t n_ready, n_batches;

	/* Batches to make rows in, those first that were read first. */
	struct hwtdi_batch_chain spare;
	/* What the reader has: rows to come, and those to be given back. */
	struct hwtdi_batch_chain taken, used;
	struct hwtdi_batch *front;
	/* The one that the reader makes rows in itself; it is at hand. */
	struct hwtdi_batch *mine;
	bool mine_free;
	/* Where the reader wants the next rows, as in hwtdi_crew_next(). */
	struct hwtd_event *place;
	uint32_t first_context;

	struct unit *units;
	unsigned int n_units;
	struct worker *workers;
	unsigned int n_workers;
};

static struct unit *
unit_at(const struct hwtdi_crew *crew, uint64_t no)
{
	return (&crew->units[no % crew->n_units]);
}

static bool
is_cancelled(const struct hwtdi_crew *crew)
{
	return (atomic_load_explicit(crew->cancel, memory_order_relaxed));
}

/* With the lock held. */

/* Have a maker for the next unit, if there is a place for it. */
static struct worker *
assign_next(struct hwtdi_crew *crew)
{
	struct worker *w = NULL;
	struct unit *unit;

	if (crew->stop || is_cancelled(crew) || crew->searching ||
	    crew->at_end ||
	    crew->next_unit - crew->first_unit == crew->n_units)
		return (NULL);
	for (unsigned int i = 0; i < crew->n_workers && w == NULL; i++)
		if (crew->workers[i].idle)
			w = &crew->workers[i];
	if (w == NULL)
		return (NULL);
	unit = unit_at(crew, crew->next_unit);
	memset(unit, 0, sizeof(*unit));
	hwtdi_chain_init(&unit->ready);
	unit->worker = w;
	w->unit = unit;
	w->is_first = crew->next_unit == 0;
	w->begun = false;
	w->idle = false;
	atomic_store(&w->wanted, false);
	crew->next_unit++;
	crew->searching = true;
	return (w);
}

/* Let whoever has time work on its unit. */
static void
give(struct hwtdi_crew *crew, struct worker *w)
{
	w->unit->parked = false;
	crew->n_jobs++;
	hwtdi_pool_add(crew->pool, &w->job);
}

static void
begin_next(struct hwtdi_crew *crew)
{
	struct worker *w = assign_next(crew);

	if (w != NULL)
		give(crew, w);
}

static void
hand_over(struct hwtdi_crew *crew, struct worker *w)
{
	if (w->made.n == 0)
		return;
	if (crew->hand_over < crew->most_handed)
		crew->hand_over *= 2;
	crew->n_ready += w->made.n;
	hwtdi_chain_move(&w->unit->ready, &w->made);
	if (w->unit == unit_at(crew, crew->first_unit))
		pthread_cond_signal(&crew->came);
}

static void
end_job(struct hwtdi_crew *crew, const struct unit *unit)
{
	crew->n_jobs--;
	if (crew->n_jobs == 0 || unit == unit_at(crew, crew->first_unit))
		pthread_cond_signal(&crew->came);
}

/* The unit has all its rows, or no more for the reason `rc`. */
static void
end_unit(struct hwtdi_crew *crew, struct worker *w, int rc)
{
	hand_over(crew, w);
	if (w->now != NULL)
		hwtdi_chain_add(&crew->spare, w->now);
	w->now = NULL;
	w->unit->done = true;
	w->unit->rc = rc;
	w->idle = true;
	if (!w->begun) {
		crew->searching = false;
		crew->at_end = true;
	}
	if (rc < 0)
		crew->at_end = true;
}

/* A maker's job. */

static struct hwtdi_batch *
new_batch(const struct hwtdi_crew *crew)
{
	struct hwtdi_batch *batch = hwtdi_alloc(crew->library, sizeof(*batch));

	if (batch == NULL)
		return (NULL);
	hwtdi_rows_init(&batch->rows, crew->library);
	batch->packed = false;
	hwtdi_packed_rows_init(&batch->codes);
	return (batch);
}

/* With the lock held: one that can be made in, or NULL: a new one is needed. */
static struct hwtdi_batch *
take_spare(struct hwtdi_crew *crew)
{
	if (crew->spare.n >= crew->most_spare ||
	    (crew->spare.n > 0 && crew->n_batches >= crew->most_of_all))
		return (hwtdi_chain_take(&crew->spare));
	crew->n_batches++;
	return (NULL);
}

/* Make rows in a batch, at a place with room for HWTDI_ROWS. */
static void
begin_batch(const struct hwtdi_crew *crew, struct worker *w,
    struct hwtdi_batch *batch, struct hwtd_event *place)
{
	hwtdi_rows_clear(&batch->rows);
	batch->rows.rows = place;
	batch->rows.cap = HWTDI_ROWS;
	batch->packed = place == NULL;
	if (batch->packed) {
		hwtdi_packed_rows_clear(&batch->codes,
		    crew->samples ? HWTD_EV_SAMPLE : HWTD_EV_BLOCK);
		batch->rows.packed = &batch->codes;
	}
	w->now = batch;
}

/* Have a batch to make rows in. */
static bool
need_batch(struct hwtdi_crew *crew, struct worker *w)
{
	struct hwtdi_batch *batch;

	if (w->now != NULL)
		return (true);
	if (w->rows == NULL && !crew->packs)
		w->rows = hwtdi_alloc(crew->library,
		    HWTDI_ROWS * sizeof(*w->rows));
	if (w->rows == NULL && !crew->packs)
		return (false);
	pthread_mutex_lock(&crew->lock);
	batch = take_spare(crew);
	pthread_mutex_unlock(&crew->lock);
	if (batch == NULL)
		batch = new_batch(crew);
	if (batch == NULL)
		return (false);
	begin_batch(crew, w, batch, w->rows);
	return (true);
}

/* The batch was made; `pack`: another is to be made in the same place. */
static bool
keep_batch(struct hwtdi_crew *crew, struct worker *w, bool pack)
{
	struct hwtdi_batch *batch = w->now;

	if (pack && !batch->packed) {
		if (hwtdi_rows_pack(crew->library, batch->rows.rows,
			batch->rows.n, &batch->codes) != HWTD_OK)
			return (false);
		batch->packed = true;
	}
	hwtdi_chain_add(&w->made, batch);
	w->now = NULL;
	return (true);
}

/* Find the segment of the unit, and say where the next one begins. */
static int
begin_unit(struct hwtdi_crew *crew, struct worker *w, bool again)
{
	int rc;

	rc = hwtdi_maker_ready(&w->maker, &w->now->rows.err);
	if (rc != HWTD_OK) {
		w->now->rows.rc = rc;
		return (rc);
	}
	rc = hwtdi_maker_begin(&w->maker, again ? NULL : &crew->at,
	    w->is_first, &w->now->rows);
	if (rc != HWTD_OK)
		return (w->now->rows.rc);
	pthread_mutex_lock(&crew->lock);
	w->begun = true;
	hwtdi_segments_go(&crew->at, &w->maker.next);
	crew->searching = false;
	begin_next(crew);
	pthread_mutex_unlock(&crew->lock);
	return (HWTD_OK);
}

enum step {
	STEP_ON,
	/* So many rows were made that they are handed over. */
	STEP_ENOUGH,
	STEP_DONE,
	STEP_NOMEM
};

/* Make a batch; `pack`: another thread reads it. */
static enum step
make_batch(struct hwtdi_crew *crew, struct worker *w, size_t enough, bool pack)
{
	struct hwtdi_rows *rows;
	bool few, again = false;

	if (!need_batch(crew, w))
		return (STEP_NOMEM);
	while (!w->begun) {
		const int rc = begin_unit(crew, w, again);

		if (w->begun)
			break;
		if (!keep_batch(crew, w, true))
			return (STEP_NOMEM);
		if (rc != HWTD_OK)
			return (STEP_DONE);
		/* Gaps alone filled it. */
		again = pack = true;
		if (!need_batch(crew, w))
			return (STEP_NOMEM);
	}
	rows = &w->now->rows;
	hwtdi_maker_make(&w->maker, rows);
	few = rows->n < HWTDI_ROWS / 2;
	if (!keep_batch(crew, w, pack))
		return (STEP_NOMEM);
	if (rows->rc != HWTD_OK || w->maker.state == HWTDI_MAKER_PAUSED)
		return (STEP_DONE);
	return (few || w->made.n >= enough ? STEP_ENOUGH : STEP_ON);
}

/* Hand over what was made.  True: go on, *enough_out batches. */
static bool
settle(struct hwtdi_crew *crew, struct worker *w, enum step step,
    size_t *enough_out)
{
	struct unit *unit = w->unit;
	bool on = false, wanted;

	pthread_mutex_lock(&crew->lock);
	hand_over(crew, w);
	*enough_out = crew->hand_over;
	wanted = atomic_exchange(&w->wanted, false);
	if (crew->stop || is_cancelled(crew))
		end_unit(crew, w, HWTD_OK);
	else if (step == STEP_DONE || step == STEP_NOMEM)
		end_unit(crew, w, step == STEP_NOMEM ? HWTD_E_NOMEM : HWTD_OK);
	else if (unit->ready.n >= crew->most_of_unit ||
	    crew->n_ready >= crew->most_of_all || (wanted && !crew->merged))
		/* The reader would rather make the rows itself. */
		unit->parked = true;
	else
		on = true;
	if (!on) {
		end_job(crew, unit);
		/* It may be this maker that goes on with it. */
		begin_next(crew);
	}
	pthread_mutex_unlock(&crew->lock);
	return (on);
}

static void
run_job(void *arg)
{
	struct worker *w = arg;
	struct hwtdi_crew *crew = w->crew;
	enum step step = STEP_ENOUGH;
	size_t enough = 1;

	while (settle(crew, w, step, &enough)) {
		if (enough > crew->most_of_unit / 2)
			enough = crew->most_of_unit / 2;
		do
			step = make_batch(crew, w, enough, true);
		while (step == STEP_ON && !is_cancelled(crew) &&
		    !atomic_load_explicit(&w->wanted, memory_order_relaxed));
	}
}

/* The reader. */

/* Batches of rows that are kept for each job, and at the most. */
#define BATCHES_OF_JOB 160
#define MOST_BATCHES 2560

void
hwtdi_crew_share(struct hwtdi_crew_args *args, uint32_t jobs)
{
	struct hwtd_stream_desc desc;
	size_t n = 0;

	for (uint32_t i = 0;; i++) {
		memset(&desc, 0, sizeof(desc));
		desc.size = sizeof(desc);
		if (hwtd_trace_stream(args->trace, i, &desc) != HWTD_OK)
			break;
		if (desc.clock.counts_per != 0 &&
		    hwtdi_filter_stream(args->filter, i, &desc))
			n++;
	}
	args->makers = jobs;
	args->batches = (size_t)jobs * BATCHES_OF_JOB;
	if (args->batches > MOST_BATCHES)
		args->batches = MOST_BATCHES;
	if (n <= 1)
		return;
	args->batches /= n;
	if (jobs / n + 1 < jobs)
		args->makers = (unsigned int)(jobs / n) + 1;
}

static void
set_limits(struct hwtdi_crew *crew, size_t batches)
{
	crew->most_handed = HAND_OVER;
	crew->most_spare = MOST_SPARE;
	if (crew->samples) {
		crew->most_handed = HAND_OVER_SAMPLES;
		crew->most_spare = MOST_SPARE_SAMPLES;
		batches /= BATCHES_OF_SAMPLES;
	}
	/* Most units are kept in part only. */
	crew->most_of_all = batches > 0 ? batches : 1;
	crew->most_of_unit = 2 * batches / crew->n_units;
	if (crew->most_of_unit < LEAST_OF_UNIT)
		crew->most_of_unit = LEAST_OF_UNIT;
}

int
hwtdi_crew_create(const struct hwtdi_crew_args *args, struct hwtdi_crew **out,
    struct hwtd_error *err)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_context *library = hwtdi_trace_library(args->trace);
	const unsigned int n_units = args->makers + 1;
	struct hwtdi_crew *crew = hwtdi_zalloc(library, sizeof(*crew));

	if (crew == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*crew)));
	(void)hwtd_trace_stream(args->trace, args->stream, &desc);
	crew->library = library;
	crew->pool = args->pool;
	crew->cancel = args->cancel;
	crew->merged = args->merged;
	crew->packs = args->filter->o.level == HWTD_LEVEL_BLOCK &&
	    !args->filter->by_row;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->came, NULL);
	hwtdi_chain_init(&crew->spare);
	hwtdi_chain_init(&crew->taken);
	hwtdi_chain_init(&crew->used);
	crew->n_units = n_units;
	crew->units = hwtdi_zalloc(library, n_units * sizeof(*crew->units));
	crew->workers = hwtdi_zalloc(library,
	    args->makers * sizeof(*crew->workers));
	crew->n_workers = args->makers;
	if (crew->units == NULL || crew->workers == NULL) {
		hwtdi_crew_destroy(crew);
		return (hwtdi_fail_nomem(err,
		    args->makers * sizeof(*crew->workers)));
	}
	for (unsigned int i = 0; i < n_units; i++)
		hwtdi_chain_init(&crew->units[i].ready);
	for (unsigned int i = 0; i < args->makers; i++) {
		struct worker *w = &crew->workers[i];

		w->crew = crew;
		w->job.run = run_job;
		w->job.arg = w;
		w->idle = true;
		hwtdi_chain_init(&w->made);
		hwtdi_maker_init(&w->maker, args->trace, args->stream, &desc,
		    args->filter, args->records);
	}
	crew->samples = crew->workers[0].maker.engine->samples != NULL;
	set_limits(crew, args->batches);
	*out = crew;
	return (HWTD_OK);
}

void
hwtdi_crew_start(struct hwtdi_crew *crew, const struct hwtdi_segments *from)
{
	pthread_mutex_lock(&crew->lock);
	hwtdi_segments_go(&crew->at, from);
	crew->stop = false;
	crew->searching = false;
	crew->at_end = false;
	crew->next_unit = 0;
	crew->first_unit = 0;
	crew->hand_over = 1;
	/* The first rows wait for no other thread. */
	crew->own = assign_next(crew);
	pthread_mutex_unlock(&crew->lock);
}

static void
free_batches(struct hwtdi_crew *crew)
{
	while (crew->spare.n > 0) {
		struct hwtdi_batch *batch = hwtdi_chain_take(&crew->spare);

		hwtdi_rows_fini(&batch->rows);
		hwtdi_packed_rows_fini(crew->library, &batch->codes);
		hwtdi_free(crew->library, batch, sizeof(*batch));
	}
	crew->n_batches = 0;
}

/* The reader is done with the batch that it reads. */
static void
leave_front(struct hwtdi_crew *crew)
{
	if (crew->front == crew->mine)
		crew->mine_free = true;
	else
		hwtdi_chain_add(&crew->used, crew->front);
	crew->front = NULL;
}

void
hwtdi_crew_stop(struct hwtdi_crew *crew, bool give_up)
{
	pthread_mutex_lock(&crew->lock);
	crew->stop = true;
	crew->own = NULL;
	while (crew->n_jobs > 0)
		pthread_cond_wait(&crew->came, &crew->lock);
	for (unsigned int i = 0; i < crew->n_workers; i++) {
		struct worker *w = &crew->workers[i];

		w->idle = true;
		hwtdi_chain_move(&crew->spare, &w->made);
		if (w->now != NULL)
			hwtdi_chain_add(&crew->spare, w->now);
		w->now = NULL;
		if (!give_up)
			continue;
		hwtdi_maker_rest(&w->maker);
		hwtdi_free(crew->library, w->rows,
		    HWTDI_ROWS * sizeof(*w->rows));
		w->rows = NULL;
	}
	for (unsigned int i = 0; i < crew->n_units; i++)
		hwtdi_chain_move(&crew->spare, &crew->units[i].ready);
	crew->n_ready = 0;
	if (crew->front != NULL)
		leave_front(crew);
	hwtdi_chain_move(&crew->spare, &crew->taken);
	hwtdi_chain_move(&crew->spare, &crew->used);
	if (crew->mine_free)
		hwtdi_chain_add(&crew->spare, crew->mine);
	crew->mine = NULL;
	crew->mine_free = false;
	if (give_up)
		free_batches(crew);
	pthread_mutex_unlock(&crew->lock);
}

void
hwtdi_crew_destroy(struct hwtdi_crew *crew)
{
	if (crew == NULL)
		return;
	if (crew->units != NULL && crew->workers != NULL)
		hwtdi_crew_stop(crew, true);
	pthread_cond_destroy(&crew->came);
	pthread_mutex_destroy(&crew->lock);
	hwtdi_free(crew->library, crew->units,
	    crew->n_units * sizeof(*crew->units));
	hwtdi_free(crew->library, crew->workers,
	    crew->n_workers * sizeof(*crew->workers));
	hwtdi_free(crew->library, crew, sizeof(*crew));
}

/* Have the maker of the first unit for oneself, if it is not at work. */
static bool
take_unit(struct hwtdi_crew *crew, struct unit *unit)
{
	struct worker *w = unit->worker;

	if (!unit->parked) {
		if (!hwtdi_pool_remove(crew->pool, &w->job))
			return (false);
		crew->n_jobs--;
	}
	unit->parked = false;
	crew->own = w;
	return (true);
}

/*
 * Have some rows taken, or the maker of the first unit for oneself.  HWTD_OK,
 * or why there are none.
 */
static int
take_some(struct hwtdi_crew *crew)
{
	struct unit *unit;
	int rc = HWTD_OK;

	pthread_mutex_lock(&crew->lock);
	/* What the reader is done with can be made in again. */
	hwtdi_chain_move(&crew->spare, &crew->used);
	for (;;) {
		unit = unit_at(crew, crew->first_unit);
		if (unit->ready.n > 0)
			break;
		if (crew->first_unit == crew->next_unit) {
			/* The one before would have said that it is the end. */
			rc = HWTD_E_STATE;
			break;
		}
		if (!unit->done && take_unit(crew, unit))
			break;
		if (!unit->done) {
			atomic_store(&unit->worker->wanted, true);
			pthread_cond_wait(&crew->came, &crew->lock);
			continue;
		}
		rc = unit->rc;
		if (rc != HWTD_OK)
			break;
		crew->first_unit++;
		begin_next(crew);
	}
	while (unit->ready.n > 0 && crew->taken.n < crew->most_handed)
		hwtdi_chain_add(&crew->taken, hwtdi_chain_take(&unit->ready));
	crew->n_ready -= crew->taken.n;
	if (crew->merged && unit->parked &&
	    unit->ready.n <= crew->most_of_unit / 2)
		give(crew, unit->worker);
	pthread_mutex_unlock(&crew->lock);
	return (rc);
}

/* Have the reader's own batch to make rows in, which no other CPU writes to. */
static void
need_mine(struct hwtdi_crew *crew, struct worker *w)
{
	if (w->now != NULL)
		return;
	if (crew->mine == NULL) {
		crew->mine = new_batch(crew);
		crew->mine_free = crew->mine != NULL;
	}
	if (!crew->mine_free)
		return;
	crew->mine_free = false;
	begin_batch(crew, w, crew->mine, crew->place);
	crew->mine->rows.first_context = crew->first_context;
}

/* Make rows of the first unit here. */
static int
make_own(struct hwtdi_crew *crew)
{
	struct worker *w = crew->own;
	enum step step;

	need_mine(crew, w);
	/* Without one the rows are where the worker makes the next ones. */
	step = make_batch(crew, w, 1, w->now == NULL);
	hwtdi_chain_move(&crew->taken, &w->made);
	if (step != STEP_DONE && step != STEP_NOMEM && !crew->merged)
		return (HWTD_OK);
	pthread_mutex_lock(&crew->lock);
	crew->own = NULL;
	if (step != STEP_DONE && step != STEP_NOMEM) {
		give(crew, w);
		pthread_mutex_unlock(&crew->lock);
		return (HWTD_OK);
	}
	if (w->now != NULL && w->now == crew->mine) {
		crew->mine_free = true;
		w->now = NULL;
	}
	end_unit(crew, w, step == STEP_NOMEM ? HWTD_E_NOMEM : HWTD_OK);
	begin_next(crew);
	pthread_mutex_unlock(&crew->lock);
	return (HWTD_OK);
}

struct hwtdi_rows *
hwtdi_crew_next(struct hwtdi_crew *crew, struct hwtd_event *place,
    uint32_t first_context, struct hwtd_error *err)
{
	struct hwtdi_rows *rows;
	int rc = HWTD_OK;

	crew->place = place;
	crew->first_context = first_context;
	if (crew->front != NULL)
		leave_front(crew);
	while (crew->taken.n == 0 && rc == HWTD_OK)
		rc = crew->own != NULL ? make_own(crew) : take_some(crew);
	if (rc != HWTD_OK) {
		(void)(rc == HWTD_E_NOMEM
			? hwtdi_fail_nomem(err, sizeof(struct hwtdi_batch))
			: hwtdi_fail(err, rc, "there are no more rows"));
		return (NULL);
	}
	crew->front = hwtdi_chain_take(&crew->taken);
	rows = &crew->front->rows;
	if (crew->front->packed) {
		hwtdi_rows_unpack(&crew->front->codes, rows->n,
		    first_context - rows->first_context, place);
		rows->first_context = first_context;
		rows->rows = place;
	}
	return (rows);
}
