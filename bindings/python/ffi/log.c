/*
 * A ring of log lines, filled by any thread.
 */
#include "log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LINES_MOST 256

struct hwtpy_log {
	pthread_mutex_t lock;
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
		log = NULL;
	}
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

void
hwtpy_log_take(void *arg, const struct hwtd_log_record *record)
{
	struct hwtpy_log *log = arg;
	struct hwtpy_line *line;

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
	pthread_mutex_unlock(&log->lock);
}

hwtd_log_fn
hwtpy_log_take_ptr(void)
{
	return (hwtpy_log_take);
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
	pthread_mutex_unlock(&log->lock);
	return (lost);
}
