/*
 * Prints the events of a trace and accounts for every byte of it.
 *
 * usage: print_events TRACE [CODE ADDRESS]
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 256

static void
print_row(const struct hwtd_event *e, const struct hwtd_batch *batch)
{
	printf("%6" PRIu64 " %-9s", e->stream_off,
	    hwtd_event_kind_name(e->kind));
	if ((e->flags & HWTD_EVF_IP) != 0)
		printf(" %#" PRIx64, e->ip);
	if (e->kind == HWTD_EV_BLOCK)
		printf(" %" PRIu32 " instructions, %s", e->insns,
		    hwtd_branch_name(e->branch));
	if ((e->flags & HWTD_EVF_TARGET) != 0)
		printf(" -> %#" PRIx64, e->target);
	if (e->kind == HWTD_EV_GAP) {
		/* A newer library may have longer rows: use its stride. */
		const char *gaps = (const char *)batch->gaps;
		const struct hwtd_gap *gap = (const void *)(gaps +
		    e->value * batch->gap_stride);

		printf(" %s: bytes [%" PRIu64 ", %" PRIu64 ")",
		    hwtd_gap_reason_name(gap->reason), gap->first, gap->end);
	}
	printf("\n");
}

int
main(int argc, char **argv)
{
	static struct hwtd_event rows[ROWS];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_image_desc code = { .size = sizeof(code) };
	struct hwtd_open_options opts = { .size = sizeof(opts) };
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = ROWS };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	struct hwtd_events *ev = NULL;
	int rc;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: print_events TRACE [CODE ADDRESS]\n");
		return (2);
	}
	if (argc == 4) {
		code.path = argv[2];
		code.flags = HWTD_IMAGEF_ADDRESS;
		code.address = strtoull(argv[3], NULL, 0);
		opts.images = &code;
		opts.n_images = 1;
	}

	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_open(ctx, argv[1], &opts, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, NULL, &ev, &err);
	while (rc == HWTD_OK &&
	    (rc = hwtd_events_read(ev, &batch, &err)) == HWTD_OK) {
		for (size_t i = 0; i < batch.n; i++)
			print_row(&rows[i], &batch);
	}
	if (rc == HWTD_END && hwtd_events_stats(ev, &stats) == HWTD_OK)
		printf("%" PRIu64 " instructions out of %" PRIu64
		       " bytes; %" PRIu64 " gaps hold %" PRIu64 " bytes\n",
		    stats.insns, stats.bytes, stats.kinds[HWTD_EV_GAP],
		    stats.gap_bytes);
	else
		fprintf(stderr, "print_events: %s\n", err.message);

	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_END ? 0 : 1);
}
