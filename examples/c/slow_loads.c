/*
 * Samples of Arm SPE: which code waited longest for its loads.
 *
 * usage: slow_loads TRACE
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>

#define ROWS 256
#define TOP 10

/* Tables take what they are given: here loads that tell how long they took. */
static int
is_timed_load(const struct hwtd_sample *s)
{
	const uint64_t needed = HWTD_SAMPLE_OP | HWTD_SAMPLE_LAT_TOTAL;

	return ((s->present & needed) == needed &&
	    s->op_class == HWTD_OP_CLASS_MEMORY &&
	    (s->op_flags & HWTD_OPF_STORE) == 0);
}

static int
add_loads(struct hwtd_memory *table, struct hwtd_events *ev,
    struct hwtd_error *err)
{
	static struct hwtd_event rows[ROWS];
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	int rc;

	while ((rc = hwtd_events_read(ev, &batch, err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n && rc == HWTD_OK; i++) {
			const char *first = (const char *)batch.samples;
			const struct hwtd_sample *s;

			if (rows[i].kind != HWTD_EV_SAMPLE)
				continue;
			s = (const void *)(first +
			    rows[i].value * batch.sample_stride);
			if (is_timed_load(s))
				rc = hwtd_memory_add(table, &rows[i], s, err);
			if (rc != HWTD_OK)
				return (rc);
		}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

static int
print_table(struct hwtd_memory *table, struct hwtd_error *err)
{
	static struct hwtd_memory_row rows[TOP];
	size_t n = 0;
	int rc;

	rc = hwtd_memory_sort(table, HWTD_MEMORY_INSN, HWTD_MEMORY_BY_LATENCY,
	    err);
	if (rc != HWTD_OK)
		return (rc);
	rc = hwtd_memory_read(table, HWTD_MEMORY_INSN, 0, rows,
	    sizeof(rows[0]), TOP, &n);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		const struct hwtd_memory_latency
		    *l = &rows[i].latency[HWTD_MEMORY_TOTAL];

		/* A counter at its limit says "that or more", not how much. */
		printf("%#" PRIx64 " %s: %" PRIu64 " loads, %s%" PRIu64
		       " cycles, longest %" PRIu32 "\n",
		    rows[i].address,
		    rows[i].symbol != NULL ? rows[i].symbol : "?",
		    rows[i].loads, l->n_saturated > 0 ? "at least " : "",
		    l->sum + l->saturated_sum, l->longest);
	}
	return (rc == HWTD_END ? HWTD_OK : rc);
}

int
main(int argc, char **argv)
{
	/* For files of nothing but raw bytes; others say what they are. */
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.tech = HWTD_TECH_SPE };
	const struct hwtd_events_options samples = { .size = sizeof(samples),
		.kinds = 1u << HWTD_EV_SAMPLE };
	const struct hwtd_memory_options by_insn = { .size = sizeof(by_insn),
		.tables = 1u << HWTD_MEMORY_INSN };
	struct hwtd_memory_info info = { .size = sizeof(info) };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_memory *table = NULL;
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	struct hwtd_events *ev = NULL;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: slow_loads TRACE\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_open(ctx, argv[1], &opts, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_memory_open(trace, &by_insn, &table, &err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, &samples, &ev, &err);
	if (rc == HWTD_OK)
		rc = add_loads(table, ev, &err);
	if (rc == HWTD_OK)
		rc = print_table(table, &err);
	if (rc == HWTD_OK && hwtd_memory_info(table, &info) == HWTD_OK &&
	    hwtd_events_stats(ev, &stats) == HWTD_OK)
		printf("%" PRIu64 " of %" PRIu64 " loads used, %" PRIu64
		       " of %" PRIu64 " bytes lost\n",
		    info.used, info.samples, stats.gap_bytes, stats.bytes);
	if (rc != HWTD_OK)
		fprintf(stderr, "slow_loads: %s\n", err.message);
	hwtd_events_close(ev);
	hwtd_memory_close(table);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_OK ? 0 : 1);
}
