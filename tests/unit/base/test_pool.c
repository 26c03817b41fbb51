/*
 * A pool of threads: jobs run in the order of adding, unless they are taken
 * back before.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/pool.h"

#define JOBS 5

/* The pool's only thread waits here, so that other jobs stay in the queue. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool waits, open;
};

struct noted {
	struct hwtdi_job job;
	struct log *log;
	int no;
};

struct log {
	struct gate gate;
	struct hwtdi_job gate_job, last_job;
	struct noted jobs[JOBS];
	/* Numbers of jobs as they ran; read when the last one has. */
	int ran[JOBS];
	size_t n;
	bool ended;
};

static void
wait_at_gate(void *arg)
{
	struct gate *gate = arg;

	pthread_mutex_lock(&gate->lock);
	gate->waits = true;
	pthread_cond_broadcast(&gate->moved);
	while (!gate->open)
		pthread_cond_wait(&gate->moved, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
}

static void
note(void *arg)
{
	struct noted *noted = arg;

	noted->log->ran[noted->log->n++] = noted->no;
}

static void
end(void *arg)
{
	struct log *log = arg;

	pthread_mutex_lock(&log->gate.lock);
	log->ended = true;
	pthread_cond_broadcast(&log->gate.moved);
	pthread_mutex_unlock(&log->gate.lock);
}

/* All jobs wait behind the one at the gate. */
static struct hwtdi_pool *
begin(struct log *log, struct hwtd_context *ctx)
{
	struct hwtdi_pool *pool;

	*log = (struct log){ .gate_job = { wait_at_gate, &log->gate, NULL },
		.last_job = { end, log, NULL } };
	pthread_mutex_init(&log->gate.lock, NULL);
	pthread_cond_init(&log->gate.moved, NULL);
	assert_int_equal(hwtdi_pool_create(ctx, 1, &pool, NULL), HWTD_OK);
	hwtdi_pool_add(pool, &log->gate_job);
	pthread_mutex_lock(&log->gate.lock);
	while (!log->gate.waits)
		pthread_cond_wait(&log->gate.moved, &log->gate.lock);
	pthread_mutex_unlock(&log->gate.lock);
	for (int i = 0; i < JOBS; i++) {
		log->jobs[i] = (struct noted){ { note, &log->jobs[i], NULL },
			log, i };
		hwtdi_pool_add(pool, &log->jobs[i].job);
	}
	return (pool);
}

/* Let them run, and destroy the pool. */
static void
finish(struct log *log, struct hwtdi_pool *pool)
{
	hwtdi_pool_add(pool, &log->last_job);
	pthread_mutex_lock(&log->gate.lock);
	log->gate.open = true;
	pthread_cond_broadcast(&log->gate.moved);
	while (!log->ended)
		pthread_cond_wait(&log->gate.moved, &log->gate.lock);
	pthread_mutex_unlock(&log->gate.lock);
	hwtdi_pool_destroy(pool);
	pthread_cond_destroy(&log->gate.moved);
	pthread_mutex_destroy(&log->gate.lock);
}

static void
assert_ran(const struct log *log, const int *want, size_t n)
{
	assert_int_equal(log->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(log->ran[i], want[i]);
}

static void
jobs_run_in_the_order_of_adding(void **state)
{
	const int want[] = { 0, 1, 2, 3, 4 };
	struct log log;
	struct hwtdi_pool *pool = begin(&log, *state);

	finish(&log, pool);
	assert_ran(&log, want, 5);
}

static void
a_job_that_is_taken_back_does_not_run(void **state)
{
	const int want[] = { 1, 3 };
	struct log log;
	struct hwtdi_pool *pool = begin(&log, *state);

	/* The last one, one between, the first one. */
	assert_true(hwtdi_pool_remove(pool, &log.jobs[4].job));
	assert_true(hwtdi_pool_remove(pool, &log.jobs[2].job));
	assert_true(hwtdi_pool_remove(pool, &log.jobs[0].job));
	assert_false(hwtdi_pool_remove(pool, &log.jobs[2].job));
	finish(&log, pool);
	assert_ran(&log, want, 2);
}

static void
a_job_that_was_taken_back_can_be_added_again(void **state)
{
	const int want[] = { 0, 1, 2, 3, 4 };
	struct log log;
	struct hwtdi_pool *pool = begin(&log, *state);

	for (int i = 0; i < JOBS; i++)
		assert_true(hwtdi_pool_remove(pool, &log.jobs[i].job));
	for (int i = 0; i < JOBS; i++)
		hwtdi_pool_add(pool, &log.jobs[i].job);
	finish(&log, pool);
	assert_ran(&log, want, 5);
}

static void
a_job_that_runs_is_not_taken_back(void **state)
{
	struct log log;
	struct hwtdi_pool *pool = begin(&log, *state);

	assert_false(hwtdi_pool_remove(pool, &log.gate_job));
	finish(&log, pool);
	assert_int_equal(log.n, JOBS);
}

static int
setup(void **state)
{
	struct hwtd_context *ctx;

	if (hwtd_context_create(NULL, &ctx, NULL) != HWTD_OK)
		return (-1);
	*state = ctx;
	return (0);
}

static int
teardown(void **state)
{
	hwtd_context_destroy(*state);
	return (0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_run_in_the_order_of_adding),
		cmocka_unit_test(a_job_that_is_taken_back_does_not_run),
		cmocka_unit_test(a_job_that_was_taken_back_can_be_added_again),
		cmocka_unit_test(a_job_that_runs_is_not_taken_back),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
