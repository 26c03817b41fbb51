/*
 * A ring of log lines, filled by any thread.
 */
#include "log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LINES_MOST 256

struct hwtpy_log {
	pthread_mutex_t lock;
	atomic_int level;
	/* Lines that are there or were lost, for who has not the lock. */
	atomic_uint waits;
	/* The oldest line, and how many there are. */
	size_t first, n;
	unsigned long long lost;
	struct hwtpy_line lines[LINES_MOST];
};

struct hwtpy_log *
hwtpy_log_create(void)
{
	struct hwtpy_log *log = calloc(1, sizeof(*log));

	if (log != NULL && pthread_mutex_init(&log->lock, NULL) != 0) {
		free(log);
		return (NULL);
	}
	if (log != NULL)
		atomic_init(&log->level, HWTD_LOG_WARNING);
	return (log);
}

void
hwtpy_log_destroy(struct hwtpy_log *log)
{
	if (log == NULL)
		return;
	pthread_mutex_destroy(&log->lock);
	free(log);
}

static void
take(void *arg, const struct hwtd_log_record *record)
{
	struct hwtpy_log *log = arg;
	struct hwtpy_line *line;

	if (record->level > atomic_load(&log->level))
		return;
	pthread_mutex_lock(&log->lock);
	if (log->n == LINES_MOST) {
		log->lost++;
	} else {
		line = &log->lines[(log->first + log->n++) % LINES_MOST];
		line->level = record->level;
		(void)snprintf(line->area, sizeof(line->area), "%s",
		    record->area != NULL ? record->area : "");
		(void)snprintf(line->message, sizeof(line->message), "%s",
		    record->message != NULL ? record->message : "");
	}
	atomic_store(&log->waits, 1);
	pthread_mutex_unlock(&log->lock);
}

hwtd_log_fn
hwtpy_log_sink(void)
{
	return (take);
}

void
hwtpy_log_set_level(struct hwtpy_log *log, int level)
{
	atomic_store(&log->level, level);
}

int
hwtpy_log_waits(const struct hwtpy_log *log)
{
	return (atomic_load(&log->waits) != 0);
}

int
hwtpy_log_next(struct hwtpy_log *log, struct hwtpy_line *out)
{
	int found = 0;

	pthread_mutex_lock(&log->lock);
	if (log->n != 0) {
		*out = log->lines[log->first];
		log->first = (log->first + 1) % LINES_MOST;
		log->n--;
		found = 1;
	}
	if (log->n == 0 && log->lost == 0)
		atomic_store(&log->waits, 0);
	pthread_mutex_unlock(&log->lock);
	return (found);
}

unsigned long long
hwtpy_log_lost(struct hwtpy_log *log)
{
	unsigned long long lost;

	pthread_mutex_lock(&log->lock);
	lost = log->lost;
	log->lost = 0;
	if (log->n == 0)
		atomic_store(&log->waits, 0);
	pthread_mutex_unlock(&log->lock);
	return (lost);
}

void
hwtpy_log_forked(struct hwtpy_log *log)
{
	(void)pthread_mutex_init(&log->lock, NULL);
	log->first = log->n = 0;
	log->lost = 0;
	atomic_store(&log->waits, 0);
}
