/*
 * A pool of threads that run jobs in the order of adding.
 */
#include "base/pool.h"

#include <pthread.h>
#include <string.h>

#include "base/fail.h"

struct hwtdi_pool {
	struct hwtd_context *library;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct hwtdi_job *first, **last;
	bool stop;
	unsigned int n_threads, cap_threads;
	pthread_t *threads;
};

static void *
worker(void *arg)
{
	struct hwtdi_pool *pool = arg;
	struct hwtdi_job *job;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (pool->first == NULL && !pool->stop)
			pthread_cond_wait(&pool->more, &pool->lock);
		if (pool->stop)
			break;
		job = pool->first;
		pool->first = job->next;
		if (pool->first == NULL)
			pool->last = &pool->first;
		pthread_mutex_unlock(&pool->lock);
		job->run(job->arg);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return (NULL);
}

int
hwtdi_pool_create(struct hwtd_context *library, unsigned int threads,
    struct hwtdi_pool **out, struct hwtd_error *err)
{
	struct hwtdi_pool *pool;
	int rc;

	pool = hwtdi_zalloc(library, sizeof(*pool));
	if (pool == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*pool)));
	pool->library = library;
	pool->last = &pool->first;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->more, NULL);
	pool->threads = hwtdi_alloc(library, threads * sizeof(*pool->threads));
	if (pool->threads == NULL) {
		hwtdi_pool_destroy(pool);
		return (hwtdi_fail_nomem(err,
		    threads * sizeof(*pool->threads)));
	}
	pool->cap_threads = threads;
	while (pool->n_threads < threads) {
		rc = pthread_create(&pool->threads[pool->n_threads], NULL,
		    worker, pool);
		if (rc != 0) {
			hwtdi_pool_destroy(pool);
			return (hwtdi_fail_sys(err, rc,
			    "a thread could not be started; use fewer jobs"));
		}
		pool->n_threads++;
	}
	*out = pool;
	return (HWTD_OK);
}

void
hwtdi_pool_add(struct hwtdi_pool *pool, struct hwtdi_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&pool->lock);
	*pool->last = job;
	pool->last = &job->next;
	pthread_cond_signal(&pool->more);
	pthread_mutex_unlock(&pool->lock);
}

bool
hwtdi_pool_remove(struct hwtdi_pool *pool, struct hwtdi_job *job)
{
	struct hwtdi_job **at;
	bool found;

	pthread_mutex_lock(&pool->lock);
	at = &pool->first;
	while (*at != NULL && *at != job)
		at = &(*at)->next;
	found = *at == job;
	if (found) {
		*at = job->next;
		if (pool->last == &job->next)
			pool->last = at;
	}
	pthread_mutex_unlock(&pool->lock);
	return (found);
}

void
hwtdi_pool_destroy(struct hwtdi_pool *pool)
{
	if (pool == NULL)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	pthread_cond_broadcast(&pool->more);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned int i = 0; i < pool->n_threads; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->more);
	pthread_mutex_destroy(&pool->lock);
	hwtdi_free(pool->library, pool->threads,
	    pool->cap_threads * sizeof(*pool->threads));
	hwtdi_free(pool->library, pool, sizeof(*pool));
}
