/*
 * The rows of a cursor as an Arrow C stream.
 *
 * Source: Apache Arrow, "The Arrow C stream interface".
 */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "event/cursor.h"
#include "export/columns/arrow_parts.h"

#define DEFAULT_ROWS 65536

struct stream {
	struct hwtd_context *library;
	size_t bytes;
	struct hwtd_events *events;
	/* Rows in an array. */
	size_t rows;
	/* Room that the array before needed. */
	size_t cap;
	struct hwtdi_column_plan *plan;
	size_t n_columns;
	/* Why there is no more: HWTD_OK, HWTD_END or an error, with its text. */
	int rc;
	struct hwtd_error err;
	/* What get_last_error() tells. */
	struct hwtd_error last;
	struct hwtdi_column_filler filler;
	/* The one batch of rows that columns are made of. */
	struct hwtd_event chunk[HWTDI_CHUNK];
};

/* Making an array. */

/* Read rows into columns.  HWTD_OK: to hand out, if any; else give it up. */
static int
fill(struct stream *s, struct hwtdi_column_batch *columns)
{
	int rc = HWTD_OK;

	while (rc == HWTD_OK && columns->n < s->rows) {
		struct hwtd_batch b = {
			.size = sizeof(b),
			.events = s->chunk,
			.stride = sizeof(s->chunk[0]),
			.cap = s->rows - columns->n,
		};
		size_t cap = columns->cap * 2;

		if (b.cap > HWTDI_CHUNK)
			b.cap = HWTDI_CHUNK;
		s->rc = hwtd_events_read(s->events, &b, &s->err);
		/* Rows before the end or a failure come first. */
		if (s->rc != HWTD_OK)
			return (HWTD_OK);
		if (cap < HWTDI_CHUNK)
			cap = HWTDI_CHUNK;
		if (cap > s->rows)
			cap = s->rows;
		if (columns->n + b.n > columns->cap)
			rc = hwtdi_column_batch_reserve(columns, cap, &s->err);
		if (rc == HWTD_OK && b.n > 0)
			rc = hwtdi_column_batch_add(columns, &s->filler, &b,
			    &s->err);
	}
	return (rc);
}

/* HWTD_OK, HWTD_END, or an error that stays. */
static int
make_array(struct stream *s, struct ArrowArray *out)
{
	struct hwtdi_column_batch columns;
	int rc;

	rc = hwtdi_column_batch_init(&columns, s->library, s->plan,
	    s->n_columns, &s->err);
	if (rc == HWTD_OK && s->cap > 0)
		rc = hwtdi_column_batch_reserve(&columns, s->cap, &s->err);
	if (rc == HWTD_OK)
		rc = fill(s, &columns);
	if (rc == HWTD_OK && columns.n == 0)
		rc = s->rc;
	else if (rc == HWTD_OK) {
		s->cap = columns.cap;
		hwtdi_column_batch_trim(&columns);
		rc = hwtdi_arrow_array(&columns, s->plan, out, &s->err);
	}
	hwtdi_column_batch_fini(&columns);
	if (rc != HWTD_OK)
		s->rc = rc;
	return (rc);
}

/* Callbacks. */

static int
errno_of(const struct hwtd_error *err)
{
	switch (err->code) {
	case HWTD_E_NOMEM:
	case HWTD_E_LIMIT:
		return (ENOMEM);
	case HWTD_E_INVALID:
		return (EINVAL);
	case HWTD_E_IO:
		return (err->sys_errno != 0 ? err->sys_errno : EIO);
	case HWTD_E_UNSUPPORTED:
		return (ENOSYS);
	default:
		return (EIO);
	}
}

static int
answer(struct stream *s, int rc, const struct hwtd_error *err)
{
	memset(&s->last, 0, sizeof(s->last));
	if (rc >= 0)
		return (0);
	s->last = *err;
	return (errno_of(err));
}

static int
get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct stream *s = stream->private_data;
	struct hwtd_error err = { .size = sizeof(err) };
	int rc;

	memset(out, 0, sizeof(*out));
	rc = hwtdi_arrow_schema(s->library, s->plan, s->n_columns, out, &err);
	return (answer(s, rc, &err));
}

static int
get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct stream *s = stream->private_data;
	int rc = s->rc;

	/* Without a release callback it says that nothing is left. */
	memset(out, 0, sizeof(*out));
	if (rc == HWTD_OK)
		rc = make_array(s, out);
	return (answer(s, rc, &s->err));
}

static const char *
get_last_error(struct ArrowArrayStream *stream)
{
	const struct stream *s = stream->private_data;

	return (s->last.code != HWTD_OK ? s->last.message : NULL);
}

static void
destroy(struct stream *s)
{
	struct hwtd_context *library = s->library;

	hwtdi_array_free(library, s->filler.contexts, s->filler.cap_contexts,
	    sizeof(*s->filler.contexts));
	hwtdi_free(library, s, s->bytes);
	hwtd_context_destroy(library);
}

static void
release(struct ArrowArrayStream *stream)
{
	struct stream *s = stream->private_data;

	if (stream->release == NULL)
		return;
	stream->release = NULL;
	stream->private_data = NULL;
	hwtd_events_close(s->events);
	destroy(s);
}

/* Opening. */

static struct stream *
create(struct hwtd_events *ev, uint64_t wanted, struct hwtd_error *err)
{
	struct hwtd_context *library = hwtdi_events_library(ev);
	size_t n_all, n = 0, n_names = 0, bytes = sizeof(struct stream);
	const struct hwtdi_column *all = hwtdi_columns(&n_all);
	struct hwtdi_dictionary *dictionary;
	struct stream *s;

	for (size_t i = 0; i < n_all; i++)
		if ((all[i].column & wanted) != 0) {
			n++;
			n_names += all[i].type == HWTDI_NAME;
		}
	bytes += n * sizeof(struct hwtdi_column_plan) +
	    n_names * sizeof(struct hwtdi_dictionary);
	s = hwtdi_zalloc(library, bytes);
	if (s == NULL) {
		(void)hwtdi_fail_nomem(err, bytes);
		return (NULL);
	}
	s->library = hwtdi_context_hold(library);
	s->bytes = bytes;
	s->plan = (void *)(s + 1);
	dictionary = (void *)(s->plan + n);
	for (size_t i = 0; i < n_all; i++) {
		struct hwtdi_column_plan *plan = &s->plan[s->n_columns];

		if ((all[i].column & wanted) == 0)
			continue;
		plan->column = &all[i];
		s->n_columns++;
		if (all[i].type != HWTDI_NAME)
			continue;
		plan->dictionary = dictionary++;
		hwtdi_dictionary_init(plan->dictionary, all[i].name_of);
	}
	s->err.size = sizeof(s->err);
	s->last.size = sizeof(s->last);
	s->filler.plan = s->plan;
	s->filler.trace = hwtdi_events_trace(ev);
	return (s);
}

int
hwtd_events_export(struct hwtd_events *ev,
    const struct hwtd_export_options *opts,
    struct ArrowArrayStream *stream_out, struct hwtd_error *err)
{
	const uint64_t all = hwtdi_columns_all();
	struct hwtd_export_options o;
	struct stream *s;
	int rc;

	if (ev == NULL || stream_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no cursor or no place for the stream"));
	rc = hwtdi_options_copy(&o, sizeof(o), opts, err);
	if (rc != HWTD_OK)
		return (rc);
	if ((o.columns & ~all) != 0)
		return (hwtdi_fail(err, HWTD_E_TOO_NEW,
		    "columns %#llx are newer than this library",
		    (unsigned long long)(o.columns & ~all)));
	if (o.reserved != 0)
		return (hwtdi_fail(err, HWTD_E_TOO_NEW,
		    "reserved is %#x, not 0", o.reserved));
	if (o.rows > HWTD_EXPORT_MAX_ROWS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u rows in an array; at most %u", o.rows,
		    HWTD_EXPORT_MAX_ROWS));
	s = create(ev, o.columns != 0 ? o.columns : all, err);
	if (s == NULL)
		return (HWTD_E_NOMEM);
	s->events = ev;
	s->rows = o.rows != 0 ? o.rows : DEFAULT_ROWS;
	memset(stream_out, 0, sizeof(*stream_out));
	stream_out->get_schema = get_schema;
	stream_out->get_next = get_next;
	stream_out->get_last_error = get_last_error;
	stream_out->release = release;
	stream_out->private_data = s;
	return (HWTD_OK);
}
