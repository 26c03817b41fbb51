/*
 * Names: each call of a trace, from which function and line to which function.
 *
 * usage: name_calls TRACE [ROOT]
 */
#include <hwtdecode/hwtdecode.h>

#include <stdio.h>

#define ROWS 256

/* Where a row was, and where it went: by context and time, as rows have it. */
static size_t
place(const struct hwtd_event *row, uint64_t address, struct hwtd_where *where)
{
	*where = (struct hwtd_where){ .address = address,
		.context = row->context,
		.stream = row->stream,
		.stream_off = row->stream_off,
		.time_ns = row->time_ns,
		.flags = HWTD_WHERE_OFFSET };
	if (row->context != HWTD_NO_ID)
		where->flags |= HWTD_WHERE_CONTEXT;
	if ((row->flags & HWTD_EVF_TIME) != 0)
		where->flags |= HWTD_WHERE_TIME;
	return (1);
}

static const char *
or_unknown(const char *text)
{
	return (text != NULL ? text : "?");
}

/* All calls of a batch at once: names are kept, and asked for once. */
static int
print_calls(struct hwtd_symbolizer *names, const struct hwtd_event *rows,
    size_t n, struct hwtd_error *err)
{
	static struct hwtd_where where[2 * ROWS];
	static struct hwtd_symbol symbols[2 * ROWS];
	size_t n_where = 0;
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].branch != HWTD_BRANCH_CALL &&
		    rows[i].branch != HWTD_BRANCH_INDIRECT_CALL)
			continue;
		if ((rows[i].flags & HWTD_EVF_TARGET) == 0)
			continue;
		n_where += place(&rows[i], rows[i].ip, &where[n_where]);
		n_where += place(&rows[i], rows[i].target, &where[n_where]);
	}
	rc = hwtd_symbolize(names, where, sizeof(where[0]), n_where, symbols,
	    sizeof(symbols[0]), err);
	for (size_t i = 0; rc == HWTD_OK && i < n_where; i += 2) {
		const struct hwtd_symbol *from = &symbols[i];

		printf("%s -> %s", or_unknown(from->text),
		    or_unknown(symbols[i + 1].text));
		if (from->n_frames > 0 && from->frames[0].line != 0)
			printf("  %s:%u", or_unknown(from->frames[0].file),
			    from->frames[0].line);
		printf("\n");
	}
	return (rc);
}

int
main(int argc, char **argv)
{
	static struct hwtd_event rows[ROWS];
	const char *const roots[1] = { argc > 2 ? argv[2] : NULL };
	const struct hwtd_search search = { .size = sizeof(search),
		.roots = roots,
		.n_roots = argc > 2 ? 1 : 0 };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.search = &search };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	struct hwtd_symbolizer *names = NULL;
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	struct hwtd_events *ev = NULL;
	int rc;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: name_calls TRACE [ROOT]\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_open(ctx, argv[1], &opts, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_symbolizer_open(trace, NULL, &names, &err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, NULL, &ev, &err);
	while (rc == HWTD_OK) {
		rc = hwtd_events_read(ev, &batch, &err);
		if (rc == HWTD_OK)
			rc = print_calls(names, rows, batch.n, &err);
	}
	if (rc != HWTD_END)
		fprintf(stderr, "name_calls: %s\n", err.message);
	hwtd_events_close(ev);
	hwtd_symbolizer_close(names);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_END ? 0 : 1);
}
