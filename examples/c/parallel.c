/*
 * Two ways to use more than one processor: jobs of one cursor, which still gives
 * all rows in order of time; and threads with a cursor of their own for each stream.
 *
 * usage: parallel TRACE [ROOT]
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define JOBS 4
#define ROWS 256

/* What one cursor is to read, and what it saw. */
struct part {
	struct hwtd_trace *trace;
	struct hwtd_events_options options;
	struct hwtd_stats stats;
	struct hwtd_error err;
	uint32_t stream;
	int rc;
};

/* A sealed trace is never written: threads share it without a lock. */
static void *
count(void *arg)
{
	struct part *part = arg;
	/* Cursor, rows and error belong to this thread alone. */
	struct hwtd_event rows[ROWS];
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	struct hwtd_events *ev = NULL;
	int rc;

	part->err.size = sizeof(part->err);
	part->stats.size = sizeof(part->stats);
	part->options.size = sizeof(part->options);
	rc = hwtd_events_open(part->trace, &part->options, &ev, &part->err);
	while (rc == HWTD_OK)
		rc = hwtd_events_read(ev, &batch, &part->err);
	if (rc == HWTD_END)
		rc = hwtd_events_stats(ev, &part->stats);
	hwtd_events_close(ev);
	part->rc = rc;
	return (NULL);
}

static void
print_part(const char *what, const struct part *part)
{
	if (part->rc == HWTD_OK)
		printf("%s: %" PRIu64 " instructions, %" PRIu64 " of %" PRIu64
		       " bytes lost\n",
		    what, part->stats.insns, part->stats.gap_bytes,
		    part->stats.bytes);
	else
		fprintf(stderr, "parallel: %s: %s\n", what, part->err.message);
}

/* Each thread takes every JOBS-th stream: there can be thousands of them. */
struct share {
	struct part *parts;
	uint32_t first;
	uint32_t n;
	pthread_t thread;
	int started;
};

static void *
count_share(void *arg)
{
	const struct share *share = arg;

	for (uint32_t i = share->first; i < share->n; i += JOBS)
		count(&share->parts[i]);
	return (NULL);
}

static int
count_streams(struct hwtd_trace *trace, uint32_t n)
{
	struct part *parts = calloc(n > 0 ? n : 1, sizeof(parts[0]));
	struct share shares[JOBS];
	char what[32];
	int rc = HWTD_OK;

	if (parts == NULL) {
		fprintf(stderr,
		    "parallel: no memory for %" PRIu32 " streams\n", n);
		return (HWTD_E_NOMEM);
	}
	for (uint32_t i = 0; i < n; i++) {
		parts[i].trace = trace;
		parts[i].stream = i;
		parts[i].options.streams = &parts[i].stream;
		parts[i].options.n_streams = 1;
	}
	for (uint32_t i = 0; i < JOBS; i++) {
		struct share *share = &shares[i];

		*share = (struct share){ .parts = parts, .first = i, .n = n };
		share->started = pthread_create(&share->thread, NULL,
				     count_share, share) == 0;
		/* A thread that cannot be started has its share read here. */
		if (!share->started)
			count_share(share);
	}
	for (uint32_t i = 0; i < JOBS; i++)
		if (shares[i].started)
			pthread_join(shares[i].thread, NULL);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(what, sizeof(what), "stream %" PRIu32, i);
		print_part(what, &parts[i]);
		if (parts[i].rc != HWTD_OK)
			rc = parts[i].rc;
	}
	free(parts);
	return (rc);
}

int
main(int argc, char **argv)
{
	static struct part whole = { .options = { .jobs = JOBS } };
	const char *const roots[1] = { argc > 2 ? argv[2] : NULL };
	const struct hwtd_search search = { .size = sizeof(search),
		.roots = roots,
		.n_roots = argc > 2 ? 1 : 0 };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.search = &search };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	int rc;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: parallel TRACE [ROOT]\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_open(ctx, argv[1], &opts, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_info(trace, &info);
	if (rc != HWTD_OK) {
		fprintf(stderr, "parallel: %s\n", err.message);
	} else {
		whole.trace = trace;
		count(&whole);
		print_part("all", &whole);
		rc = count_streams(trace, info.n_streams);
		if (rc == HWTD_OK)
			rc = whole.rc;
	}
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_OK ? 0 : 1);
}
