/*
 * A pool of threads that run jobs.
 */
#ifndef HWTDI_POOL_H
#define HWTDI_POOL_H

#include "base/library.h"

struct hwtdi_pool;

/* The caller's memory; not touched by the caller while the job waits. */
struct hwtdi_job {
	void (*run)(void *arg);
	void *arg;
	struct hwtdi_job *next;
};

int hwtdi_pool_create(struct hwtd_context *library, unsigned int threads,
    struct hwtdi_pool **out, struct hwtd_error *err);

/* Jobs start in the order of adding. */
void hwtdi_pool_add(struct hwtdi_pool *pool, struct hwtdi_job *job);

/* Take back a job that was added and does not run.  False: it is not there. */
bool hwtdi_pool_remove(struct hwtdi_pool *pool, struct hwtdi_job *job);

/* Waits for running jobs; those that did not start are dropped. */
void hwtdi_pool_destroy(struct hwtdi_pool *pool);

#endif /* HWTDI_POOL_H */
