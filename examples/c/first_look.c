/*
 * The shortest useful program: what is in a trace, and what is missing.
 *
 * usage: first_look TRACE
 */
#include <hwtdecode/hwtdecode.h>

#include <stdio.h>

int
main(int argc, char **argv)
{
	static struct hwtd_event rows[256];
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 256 };
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	struct hwtd_events *ev = NULL;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: first_look TRACE\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_open(ctx, argv[1], NULL, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, NULL, &ev, &err);
	while (rc == HWTD_OK)
		rc = hwtd_events_read(ev, &batch, &err);
	if (rc == HWTD_END && hwtd_events_stats(ev, &stats) == HWTD_OK)
		printf("%llu instructions, %llu of %llu bytes lost\n",
		    (unsigned long long)stats.insns,
		    (unsigned long long)stats.gap_bytes,
		    (unsigned long long)stats.bytes);
	else
		fprintf(stderr, "first_look: %s\n", err.message);
	hwtd_events_close(ev);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_END ? 0 : 1);
}
