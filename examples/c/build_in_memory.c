/*
 * Builds a trace out of bytes and code in memory and decodes it.
 *
 * The program is three instructions long.  Its trace says: start at 0x100000
 * in 64-bit mode, one conditional branch was not taken, then tracing went off.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>

static const uint8_t program[] = {
	0x75, 0x01, /* jne to the second nop: not taken. */
	0x90, /* nop */
	0x90, /* nop */
	0x90, /* nop: not reached. */
};

/* Source: Intel SDM vol. 3C, "Packet Definitions". */
static const uint8_t packets[] = {
	/* PSB, the synchronisation pattern. */
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, /* 8 bytes, */
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, /* twice. */
	/* FUP with 48 bits of address: tracing is on at 0x100000. */
	0x7d, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
	/* MODE.Exec: 64-bit. */
	0x99, 0x01,
	/* PSBEND. */
	0x02, 0x23,
	/* TNT with one branch, not taken. */
	0x04,
	/* FUP with 16 bits of address: interrupted at 0x100004, ... */
	0x3d, 0x04, 0x00,
	/* ... and TIP.PGD without address: tracing went off there. */
	0x01
};

int
main(void)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_stream_desc stream = { .size = sizeof(stream),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = 0,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = "program",
		.bytes = program,
		.n_bytes = sizeof(program),
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = 0x100000 };
	const struct hwtd_events_options insns = { .size = sizeof(insns),
		.level = HWTD_LEVEL_INSN };
	struct hwtd_event rows[16];
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = 16 };
	struct hwtd_context *ctx = NULL;
	struct hwtd_trace *trace = NULL;
	struct hwtd_events *ev = NULL;
	uint32_t id;
	int rc;

	rc = hwtd_context_create(NULL, &ctx, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_create(ctx, NULL, &trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_stream(trace, &stream, &id, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_bytes(trace, id, packets, sizeof(packets),
		    &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_add_image(trace, &image, NULL, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, &insns, &ev, &err);

	/* The cursor keeps the trace alive, and the trace the context. */
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);

	while (rc == HWTD_OK &&
	    (rc = hwtd_events_read(ev, &batch, &err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++)
			if (rows[i].kind == HWTD_EV_INSN)
				printf("%#" PRIx64 " %" PRIu32 " bytes %s\n",
				    rows[i].ip, rows[i].bytes,
				    hwtd_branch_name(rows[i].branch));
	if (rc != HWTD_END)
		fprintf(stderr, "build_in_memory: %s\n", err.message);
	hwtd_events_close(ev);
	return (rc == HWTD_END ? 0 : 1);
}
