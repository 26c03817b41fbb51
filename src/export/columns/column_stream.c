/*
 * Rows as an Arrow C stream of columns.
 *
 * Source: Apache Arrow, "The Arrow C stream interface".
 */
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/near_names.h"
#include "export/columns/arrow_parts.h"

#define DEFAULT_ROWS 65536
/* An array ends when a column of it has so much text: offsets have 31 bits. */
#define TEXT_FULL (1u << 30)

struct stream {
	struct hwtd_context *library;
	size_t bytes;
	struct hwtdi_rows *from;
	/* Rows in an array. */
	size_t rows;
	/* Room that the array before needed. */
	size_t cap;
	struct hwtdi_column_plan *plan;
	size_t n_columns;
	int (*poll)(void *arg);
	void *poll_arg;
	/* What there is of the array that is made. */
	struct hwtdi_column_batch columns;
	bool making;
	/* Why there is no more: HWTD_OK, HWTD_END or an error, with its text. */
	int rc;
	struct hwtd_error err;
	/* What get_last_error() tells. */
	struct hwtd_error last;
	struct hwtdi_column_filler filler;
};

/* Making an array. */

static bool
has_room(const struct stream *s)
{
	return (s->columns.n < s->rows &&
	    hwtdi_column_batch_text(&s->columns) < TEXT_FULL);
}

/*
 * Read rows into columns.  HWTD_OK: to hand out, if any; HWTD_AGAIN: to go on
 * with later; else give it up.
 */
static int
fill(struct stream *s)
{
	struct hwtdi_column_batch *const columns = &s->columns;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && has_room(s)) {
		size_t most = s->rows - columns->n, cap = columns->cap * 2, n;

		if (most > HWTDI_CHUNK)
			most = HWTDI_CHUNK;
		s->rc = s->from->ops->read(s->from, most, &n, &s->err);
		/* Rows before the end or a failure come first. */
		if (s->rc != HWTD_OK)
			return (HWTD_OK);
		if (cap < HWTDI_CHUNK)
			cap = HWTDI_CHUNK;
		if (cap > s->rows)
			cap = s->rows;
		if (columns->n + n > columns->cap)
			rc = hwtdi_column_batch_reserve(columns, cap, &s->err);
		if (rc == HWTD_OK && n > 0)
			rc = hwtdi_column_batch_add(columns, &s->filler,
			    s->from, n, &s->err);
		if (rc == HWTD_OK && s->poll != NULL && has_room(s) &&
		    s->poll(s->poll_arg) != 0)
			rc = HWTD_AGAIN;
	}
	return (rc);
}

static int
begin_array(struct stream *s)
{
	int rc;

	rc = hwtdi_column_batch_init(&s->columns, s->library, s->plan,
	    s->n_columns, &s->err);
	if (rc == HWTD_OK && s->cap > 0)
		rc = hwtdi_column_batch_reserve(&s->columns, s->cap, &s->err);
	s->making = true;
	return (rc);
}

/* HWTD_OK, HWTD_END, HWTD_AGAIN, or an error that stays. */
static int
make_array(struct stream *s, struct ArrowArray *out)
{
	int rc = HWTD_OK;

	if (!s->making)
		rc = begin_array(s);
	if (rc == HWTD_OK)
		rc = fill(s);
	if (rc == HWTD_AGAIN)
		return (rc);
	if (rc == HWTD_OK && s->columns.n == 0)
		rc = s->rc;
	else if (rc == HWTD_OK) {
		s->cap = s->columns.cap;
		hwtdi_column_batch_trim(&s->columns);
		rc = hwtdi_arrow_array(&s->columns, s->plan, out, &s->err);
	}
	hwtdi_column_batch_fini(&s->columns);
	s->making = false;
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
	case HWTD_E_CANCELED:
		return (ECANCELED);
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
	if (rc == HWTD_AGAIN) {
		s->last.size = sizeof(s->last);
		(void)hwtdi_fail(&s->last, rc, "interrupted");
		return (EINTR);
	}
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
release(struct ArrowArrayStream *stream)
{
	struct stream *s = stream->private_data;
	struct hwtd_context *library;

	if (stream->release == NULL)
		return;
	stream->release = NULL;
	stream->private_data = NULL;
	library = s->library;
	if (s->making)
		hwtdi_column_batch_fini(&s->columns);
	s->from->ops->close(s->from);
	hwtdi_free(library, s, s->bytes);
	hwtd_context_destroy(library);
}

int
hwtd_export_failure(const struct ArrowArrayStream *stream,
    struct hwtd_error *out)
{
	const struct stream *s;

	if (stream == NULL || out == NULL || stream->release != release)
		return (HWTD_E_INVALID);
	s = stream->private_data;
	if (s->rc >= 0)
		return (HWTD_END);
	(void)hwtdi_fail_pass(out, &s->err);
	return (HWTD_OK);
}

/* Choosing. */

static const struct hwtdi_column *
find_column(const struct hwtdi_column_table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->columns[i].name, name) == 0)
			return (&table->columns[i]);
	return (NULL);
}

static int
unknown_name(const struct hwtdi_column_table *table, const char *name,
    struct hwtd_error *err)
{
	struct hwtdi_near_names near;

	hwtdi_near_names_init(&near, name);
	for (size_t i = 0; i < table->n; i++)
		hwtdi_near_names_offer(&near, table->columns[i].name);
	if (near.n == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no column %.64s",
		    name));
	return (hwtdi_fail(err, HWTD_E_INVALID, "no column %.64s; is it %s?",
	    name, near.names[0]));
}

static bool
is_usual(const struct hwtdi_column_table *table,
    const struct hwtdi_column *column, uint64_t wanted)
{
	return (column->column == 0 ||
	    (column->column & (wanted != 0 ? wanted : table->usual)) != 0);
}

static int
check(const struct hwtdi_column_table *table,
    const struct hwtd_export_options *o, struct hwtd_error *err)
{
	if ((o->columns & ~table->all) != 0)
		return (hwtdi_fail(err, HWTD_E_TOO_NEW,
		    "columns %#llx are newer than this library, or of other "
		    "rows",
		    (unsigned long long)(o->columns & ~table->all)));
	if (o->reserved != 0)
		return (hwtdi_fail(err, HWTD_E_TOO_NEW,
		    "reserved is %#x, not 0", o->reserved));
	if (o->rows > HWTD_EXPORT_MAX_ROWS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%u rows in an array; at most %u", o->rows,
		    HWTD_EXPORT_MAX_ROWS));
	if (o->n_names == 0)
		return (HWTD_OK);
	if (o->columns != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "columns are chosen by bits and by names"));
	if (o->names == NULL || o->n_names > table->n)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no names of columns, or %zu of %zu columns", o->n_names,
		    table->n));
	for (size_t i = 0; i < o->n_names; i++) {
		if (o->names[i] == NULL)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "name %zu of columns is NULL", i));
		if (find_column(table, o->names[i]) == NULL)
			return (unknown_name(table, o->names[i], err));
		for (size_t k = 0; k < i; k++)
			if (strcmp(o->names[k], o->names[i]) == 0)
				return (hwtdi_fail(err, HWTD_E_INVALID,
				    "column %s is named twice", o->names[i]));
	}
	return (HWTD_OK);
}

/* Call with each column that is chosen; `plan` may be NULL.  How many there are. */
static size_t
choose(const struct hwtdi_column_table *table,
    const struct hwtd_export_options *o, struct hwtdi_column_plan *plan)
{
	size_t n = 0;

	if (o->n_names > 0) {
		for (; plan != NULL && n < o->n_names; n++)
			plan[n].column = find_column(table, o->names[n]);
		return (o->n_names);
	}
	for (size_t i = 0; i < table->n; i++) {
		if (!is_usual(table, &table->columns[i], o->columns))
			continue;
		if (plan != NULL)
			plan[n].column = &table->columns[i];
		n++;
	}
	return (n);
}

bool
hwtdi_columns_need(const struct hwtdi_column_table *table,
    const struct hwtd_export_options *o, unsigned int source)
{
	for (size_t i = 0; i < o->n_names; i++) {
		const struct hwtdi_column *column = find_column(table,
		    o->names[i]);

		if (column != NULL && column->source == source)
			return (true);
	}
	for (size_t i = 0; o->n_names == 0 && i < table->n; i++)
		if (table->columns[i].source == source &&
		    is_usual(table, &table->columns[i], o->columns))
			return (true);
	return (false);
}

/* Opening. */

static size_t
count_names(const struct hwtdi_column_plan *plan, size_t n)
{
	size_t n_names = 0;

	for (size_t i = 0; i < n; i++)
		n_names += plan[i].column->type == HWTDI_NAME;
	return (n_names);
}

/* Dictionaries of all columns that have one take turns behind the plan. */
static struct stream *
create(struct hwtdi_rows *rows, const struct hwtd_export_options *o,
    struct hwtd_error *err)
{
	const struct hwtdi_column_table *table = rows->ops->table;
	const size_t n = choose(table, o, NULL);
	struct hwtdi_dictionary *dictionary;
	struct hwtdi_column_plan *plan;
	struct stream *s;
	size_t bytes = n * sizeof(*plan), n_names;

	plan = hwtdi_zalloc(rows->library, bytes);
	if (plan == NULL) {
		(void)hwtdi_fail_nomem(err, bytes);
		return (NULL);
	}
	(void)choose(table, o, plan);
	n_names = count_names(plan, n);
	bytes += sizeof(*s) + n_names * sizeof(*dictionary);
	s = hwtdi_zalloc(rows->library, bytes);
	if (s == NULL) {
		(void)hwtdi_fail_nomem(err, bytes);
		hwtdi_free(rows->library, plan, n * sizeof(*plan));
		return (NULL);
	}
	s->library = hwtdi_context_hold(rows->library);
	s->bytes = bytes;
	s->plan = (void *)(s + 1);
	s->n_columns = n;
	memcpy(s->plan, plan, n * sizeof(*plan));
	hwtdi_free(rows->library, plan, n * sizeof(*plan));
	dictionary = (void *)(s->plan + n);
	for (size_t i = 0; i < n; i++) {
		if (s->plan[i].column->type != HWTDI_NAME)
			continue;
		s->plan[i].dictionary = dictionary++;
		hwtdi_dictionary_init(s->plan[i].dictionary,
		    s->plan[i].column->name_of);
	}
	s->err.size = sizeof(s->err);
	s->last.size = sizeof(s->last);
	s->filler.plan = s->plan;
	s->from = rows;
	return (s);
}

int
hwtdi_column_stream(struct hwtdi_rows *rows,
    const struct hwtd_export_options *opts, struct ArrowArrayStream *out,
    struct hwtd_error *err)
{
	struct stream *s;
	int rc = check(rows->ops->table, opts, err);

	if (rc != HWTD_OK)
		return (rc);
	s = create(rows, opts, err);
	if (s == NULL)
		return (HWTD_E_NOMEM);
	s->rows = opts->rows != 0 ? opts->rows : DEFAULT_ROWS;
	s->poll = opts->poll;
	s->poll_arg = opts->poll_arg;
	memset(out, 0, sizeof(*out));
	out->get_schema = get_schema;
	out->get_next = get_next;
	out->get_last_error = get_last_error;
	out->release = release;
	out->private_data = s;
	return (HWTD_OK);
}

void *
hwtdi_rows_create(struct hwtd_context *library,
    const struct hwtdi_rows_ops *ops, size_t bytes, struct hwtd_error *err)
{
	struct hwtdi_rows *rows = hwtdi_zalloc(library, bytes);

	if (rows == NULL) {
		(void)hwtdi_fail_nomem(err, bytes);
		return (NULL);
	}
	rows->ops = ops;
	rows->library = hwtdi_context_hold(library);
	return (rows);
}

void
hwtdi_rows_destroy(struct hwtdi_rows *rows, size_t bytes)
{
	struct hwtd_context *library = rows->library;

	hwtdi_free(library, rows, bytes);
	hwtd_context_destroy(library);
}
