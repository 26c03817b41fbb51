/*
 * A pass over rows: streams of the library one after the other, which come back
 * from time to time so that signals are seen.
 *
 * Source: Apache Arrow, "The Arrow C stream interface".
 */
#include <Python.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arrow.h"

/* Somebody who waits for an answer does not notice less. */
#define ANSWER_NS 50000000

struct hwtpy_pass {
	/*
	 * Of who reads.  Arrow leaves that to consumers, and pyarrow leaves it to
	 * those who share its readers.
	 */
	pthread_mutex_t lock;
	uint64_t main_thread;
	/* Who has the threads that decode. */
	pid_t process;
	/* Read by a consumer and not by Python. */
	bool exported;
	/* What get_last_error() says instead of a stream. */
	const char *error;
	atomic_bool stopped;
	/* When signals were looked for. */
	int64_t looked_ns;
	struct ArrowArrayStream *streams;
	size_t n, at;
};

static int64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

struct hwtpy_pass *
hwtpy_pass_create(uint64_t main_thread)
{
	struct hwtpy_pass *pass = calloc(1, sizeof(*pass));

	if (pass == NULL)
		return (NULL);
	if (pthread_mutex_init(&pass->lock, NULL) != 0) {
		free(pass);
		return (NULL);
	}
	pass->main_thread = main_thread;
	pass->process = getpid();
	atomic_init(&pass->stopped, false);
	return (pass);
}

/*
 * In a process that was forked there are no threads, and locks are as somebody
 * had them: nothing can be read there, nor given back.
 */
static bool
is_elsewhere(const struct hwtpy_pass *pass)
{
	return (pass->process != getpid());
}

static void
release_stream(struct ArrowArrayStream *stream)
{
	if (stream->release != NULL)
		stream->release(stream);
}

void
hwtpy_pass_destroy(struct hwtpy_pass *pass)
{
	if (pass == NULL || is_elsewhere(pass))
		return;
	for (size_t i = 0; i < pass->n; i++)
		release_stream(&pass->streams[i]);
	pthread_mutex_destroy(&pass->lock);
	free(pass->streams);
	free(pass);
}

struct ArrowArrayStream *
hwtpy_pass_add(struct hwtpy_pass *pass)
{
	struct ArrowArrayStream *streams = realloc(pass->streams,
	    (pass->n + 1) * sizeof(*streams));

	if (streams == NULL)
		return (NULL);
	pass->streams = streams;
	memset(&streams[pass->n], 0, sizeof(streams[0]));
	return (&streams[pass->n++]);
}

/*
 * A handler of Python's was called and raised.  What it raised cannot pass
 * through a consumer, who is told by errno instead.  The lock of the
 * interpreter is taken by its main thread only, which nobody can wait for while
 * it is here.
 */
static bool
interrupted(void)
{
	PyGILState_STATE state = PyGILState_Ensure();
	bool seen = false;

	if (PyErr_Occurred() == NULL && PyErr_CheckSignals() != 0) {
		PyErr_Clear();
		seen = true;
	}
	PyGILState_Release(state);
	return (seen);
}

int
hwtpy_pass_poll(void *arg)
{
	struct hwtpy_pass *pass = arg;
	const int64_t now = now_ns();

	if (atomic_load_explicit(&pass->stopped, memory_order_relaxed))
		return (1);
	if (now - pass->looked_ns < ANSWER_NS)
		return (0);
	pass->looked_ns = now;
	/* Python looks itself, and asks again. */
	if (!pass->exported)
		return (1);
	if (PyThread_get_thread_ident() != pass->main_thread || !interrupted())
		return (0);
	hwtpy_pass_stop(pass);
	return (1);
}

void
hwtpy_pass_stop(struct hwtpy_pass *pass)
{
	atomic_store_explicit(&pass->stopped, true, memory_order_relaxed);
}

/* What has to be read in the process that opened it, by one thread at a time. */
static int
begin_reading(struct hwtpy_pass *pass)
{
	if (is_elsewhere(pass)) {
		pass->error = "opened before this process was forked; open it "
			      "once more";
		return (EINVAL);
	}
	pthread_mutex_lock(&pass->lock);
	pass->error = NULL;
	return (0);
}

int
hwtpy_pass_schema(struct hwtpy_pass *pass, struct ArrowSchema *out)
{
	struct ArrowArrayStream *first;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = begin_reading(pass);
	if (rc != 0)
		return (rc);
	first = pass->streams;
	if (pass->n == 0) {
		pass->error = "there is no stream";
		rc = EINVAL;
	} else {
		rc = first->get_schema(first, out);
	}
	pthread_mutex_unlock(&pass->lock);
	return (rc);
}

/* The next array of the stream at hand, or none if it has come to its end. */
static int
next_of_stream(struct hwtpy_pass *pass, struct ArrowArray *out)
{
	struct ArrowArrayStream *stream = &pass->streams[pass->at];

	return (stream->get_next(stream, out));
}

/* The next array of all streams, or none. */
static int
next_of_all(struct hwtpy_pass *pass, struct ArrowArray *out)
{
	int rc = 0;

	/* An array that is made at once never asks. */
	if (pass->exported)
		(void)hwtpy_pass_poll(pass);
	else
		pass->looked_ns = now_ns();
	if (atomic_load_explicit(&pass->stopped, memory_order_relaxed)) {
		pass->error = "interrupted";
		return (EINTR);
	}
	while (rc == 0 && out->release == NULL && pass->at < pass->n) {
		rc = next_of_stream(pass, out);
		if (rc == 0 && out->release == NULL && pass->at + 1 < pass->n)
			pass->at++;
		else if (out->release == NULL)
			break;
	}
	return (rc);
}

int
hwtpy_pass_next(struct hwtpy_pass *pass, struct ArrowArray *out)
{
	int rc;

	memset(out, 0, sizeof(*out));
	rc = begin_reading(pass);
	if (rc != 0)
		return (rc);
	rc = next_of_all(pass, out);
	pthread_mutex_unlock(&pass->lock);
	return (rc);
}

const struct ArrowArrayStream *
hwtpy_pass_stream(const struct hwtpy_pass *pass)
{
	return (pass->at < pass->n ? &pass->streams[pass->at] : NULL);
}

const char *
hwtpy_pass_error(struct hwtpy_pass *pass)
{
	struct ArrowArrayStream *stream;

	if (pass->error != NULL || pass->at >= pass->n)
		return (pass->error);
	stream = &pass->streams[pass->at];
	return (stream->get_last_error(stream));
}

/* For consumers. */

static int
get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	return (hwtpy_pass_schema(stream->private_data, out));
}

static int
get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	return (hwtpy_pass_next(stream->private_data, out));
}

static const char *
get_last_error(struct ArrowArrayStream *stream)
{
	return (hwtpy_pass_error(stream->private_data));
}

static void
release(struct ArrowArrayStream *stream)
{
	struct hwtpy_pass *pass = stream->private_data;

	if (stream->release == NULL)
		return;
	stream->release = NULL;
	stream->private_data = NULL;
	hwtpy_pass_destroy(pass);
}

void
hwtpy_pass_export(struct hwtpy_pass *pass, struct ArrowArrayStream *out)
{
	pass->exported = true;
	pass->looked_ns = now_ns();
	memset(out, 0, sizeof(*out));
	out->get_schema = get_schema;
	out->get_next = get_next;
	out->get_last_error = get_last_error;
	out->release = release;
	out->private_data = pass;
}
