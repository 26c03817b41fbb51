/*
 * What an export wrote since it was last asked, until Python has taken it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink.h"

/* A buffer that became larger is given back when it is empty. */
#define KEPT_BYTES 8388608u

/* What cffi makes of the declaration in the header. */
int hwtpy_sink_drain(void *arg);

struct hwtpy_sink {
	void *arg;
	size_t full;
	uint8_t *bytes;
	size_t n;
	size_t cap;
	/* Up to here it was taken. */
	size_t taken;
	/* Where files begin, but for the first: a place in `bytes`. */
	size_t *marks;
	size_t n_marks;
	size_t cap_marks;
	size_t next_mark;
	bool failed;
};

struct hwtpy_sink *
hwtpy_sink_create(void *arg, size_t full)
{
	struct hwtpy_sink *sink = calloc(1, sizeof(*sink));

	if (sink != NULL) {
		sink->arg = arg;
		sink->full = full;
	}
	return (sink);
}

static int
no_room(struct hwtpy_sink *sink)
{
	sink->failed = true;
	return (ENOMEM);
}

static int
sink_write(void *arg, const void *bytes, size_t n)
{
	struct hwtpy_sink *sink = arg;
	size_t cap = sink->cap;
	uint8_t *grown;

	if (n > SIZE_MAX / 4 - sink->n)
		return (no_room(sink));
	while (cap < sink->n + n)
		cap = cap * 2 + 65536;
	if (cap != sink->cap) {
		grown = realloc(sink->bytes, cap);
		if (grown == NULL)
			return (no_room(sink));
		sink->bytes = grown;
		sink->cap = cap;
	}
	memcpy(sink->bytes + sink->n, bytes, n);
	sink->n += n;
	return (sink->n < sink->full ? 0 : hwtpy_sink_drain(sink->arg));
}

static int
sink_next(void *arg)
{
	struct hwtpy_sink *sink = arg;
	const size_t more = sink->cap_marks * 2 + 16;
	size_t *grown;

	if (sink->n_marks == sink->cap_marks) {
		grown = realloc(sink->marks, more * sizeof(*grown));
		if (grown == NULL)
			return (no_room(sink));
		sink->marks = grown;
		sink->cap_marks = more;
	}
	sink->marks[sink->n_marks++] = sink->n;
	return (0);
}

void
hwtpy_sink_connect(struct hwtpy_sink *sink,
    struct hwtd_format_options *options, bool several)
{
	options->write = sink_write;
	options->write_arg = sink;
	options->next = several ? sink_next : NULL;
}

static void
reset(struct hwtpy_sink *sink)
{
	sink->n = sink->taken = sink->n_marks = sink->next_mark = 0;
	if (sink->cap <= KEPT_BYTES)
		return;
	free(sink->bytes);
	sink->bytes = NULL;
	sink->cap = 0;
}

int
hwtpy_sink_take(struct hwtpy_sink *sink, const void **bytes_out, size_t *n_out)
{
	const size_t end = sink->next_mark < sink->n_marks
	    ? sink->marks[sink->next_mark]
	    : sink->n;

	*bytes_out = NULL;
	*n_out = 0;
	if (sink->taken < end) {
		*bytes_out = sink->bytes + sink->taken;
		*n_out = end - sink->taken;
		sink->taken = end;
		return (HWTPY_TAKEN_BYTES);
	}
	if (sink->next_mark < sink->n_marks) {
		sink->next_mark++;
		return (HWTPY_TAKEN_NEXT);
	}
	reset(sink);
	return (HWTPY_TAKEN_NONE);
}

bool
hwtpy_sink_failed(const struct hwtpy_sink *sink)
{
	return (sink->failed);
}

void
hwtpy_sink_destroy(struct hwtpy_sink *sink)
{
	if (sink == NULL)
		return;
	free(sink->bytes);
	free(sink->marks);
	free(sink);
}
