/*
 * Records a program with hwt(4) of FreeBSD and prints its first basic blocks.
 *
 * usage: capture FILE.hwt PROGRAM [ARGUMENT ...]
 *
 * Exits 77 where there is no hwt(4).
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>

#define BLOCKS 20
#define NO_HWT 77

/* What this machine can record with, and what is missing. */
static void
print_backends(struct hwtd_context *ctx)
{
	struct hwtd_capture_backend b = { .size = sizeof(b) };

	for (size_t i = 0; hwtd_capture_backend(ctx, i, &b, NULL) == HWTD_OK;
	     i++) {
		fprintf(stderr, "technology %" PRIu32 ": %s\n", b.tech,
		    b.text);
		if (b.help[0] != '\0')
			fprintf(stderr, "  try: %s\n", b.help);
	}
}

/* Run the program to its end; its trace goes to `file`. */
static int
record(struct hwtd_context *ctx, const char *file, char **argv,
    struct hwtd_error *err)
{
	struct hwtd_capture_status status = { .size = sizeof(status) };
	struct hwtd_capture_options options = {
		.size = sizeof(options),
		.output = file,
		.argv = (const char *const *)argv,
		.flags = HWTD_CAPTUREF_REPLACE,
	};
	struct hwtd_capture *capture;
	int rc;

	rc = hwtd_capture_start(ctx, &options, &capture, err);
	if (rc != HWTD_OK)
		return (rc);
	do
		rc = hwtd_capture_wait(capture, UINT64_MAX, &status, err);
	while (rc == HWTD_AGAIN);
	hwtd_capture_close(capture);

	printf("%" PRIu64 " bytes of %" PRIu32 " threads\n", status.n_bytes,
	    status.n_streams);
	/* Nothing is lost without a word. */
	for (uint32_t i = 0; i < HWTD_CAPTURE_LOSSES; i++)
		if (status.losses[i] != 0)
			printf("lost: %" PRIu64 " %s\n", status.losses[i],
			    hwtd_capture_loss_name(i));
	return (rc);
}

static int
print_blocks(struct hwtd_context *ctx, const char *file,
    struct hwtd_error *err)
{
	const struct hwtd_events_options options = {
		.size = sizeof(options),
		.kinds = 1u << HWTD_EV_BLOCK,
	};
	struct hwtd_event rows[BLOCKS];
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = BLOCKS };
	struct hwtd_trace *trace = NULL;
	struct hwtd_events *events = NULL;
	size_t n = 0;
	int rc;

	rc = hwtd_trace_open(ctx, file, NULL, &trace, err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, &options, &events, err);
	while (rc == HWTD_OK && n < BLOCKS &&
	    (rc = hwtd_events_read(events, &batch, err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n && n < BLOCKS; i++, n++)
			printf("%#" PRIx64 " %" PRIu32 " instructions, %s\n",
			    rows[i].ip, rows[i].insns,
			    hwtd_branch_name(rows[i].branch));
	hwtd_events_close(events);
	hwtd_trace_close(trace);
	return (rc == HWTD_END ? HWTD_OK : rc);
}

int
main(int argc, char **argv)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx = NULL;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: capture FILE.hwt PROGRAM ...\n");
		return (2);
	}
	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = record(ctx, argv[1], argv + 2, &err);
	if (rc == HWTD_OK)
		rc = print_blocks(ctx, argv[1], &err);
	if (rc != HWTD_OK)
		fprintf(stderr, "capture: %s\n", err.message);
	if (rc == HWTD_E_UNSUPPORTED)
		print_backends(ctx);
	hwtd_context_destroy(ctx);
	return (rc == HWTD_OK ? 0 : rc == HWTD_E_UNSUPPORTED ? NO_HWT : 1);
}
