/*
 * Builds a trace out of raw bytes, records and code in memory and decodes it.
 *
 * The program is three instructions long.  Its trace says: start at 0x100000
 * in 64-bit mode, one conditional branch was not taken, then tracing went off.
 * That this was process 42, and what lay at that address of it, records say.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>

#define CPU 0
#define PID 42

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

/* What the system told beside the trace, in the order in which it happened. */
static int
add_records(struct hwtd_trace *trace, uint32_t stream, uint32_t image,
    struct hwtd_error *err)
{
	const struct hwtd_record records[] = {
		{ .type = HWTD_REC_EXEC, .name = "/bin/tiny" },
		{ .type = HWTD_REC_MMAP,
		    .flags = HWTD_RECF_ADDR | HWTD_RECF_LEN |
			HWTD_RECF_FILE_OFF,
		    .addr = 0x100000,
		    .len = sizeof(program) },
		{ .type = HWTD_REC_SWITCH },
	};
	int rc = HWTD_OK;

	for (size_t i = 0; i < 3 && rc == HWTD_OK; i++) {
		struct hwtd_record record = records[i];

		record.size = sizeof(record);
		record.cpu = CPU;
		record.pid = PID;
		record.tid = PID;
		/* All of them hold from the first byte of the trace on. */
		record.flags |= HWTD_RECF_STREAM_OFF;
		record.stream = stream;
		record.stream_off = 0;
		record.image = record.type == HWTD_REC_MMAP ? image
							    : HWTD_NO_ID;
		rc = hwtd_trace_add_record(trace, &record, err);
	}
	return (rc);
}

static void
print_row(const struct hwtd_trace *trace, const struct hwtd_event *row)
{
	struct hwtd_exec_context who = { .size = sizeof(who) };

	if (row->context != HWTD_NO_ID &&
	    hwtd_trace_exec_context(trace, row->context, &who) == HWTD_OK)
		printf("process %" PRIu32 ": ", who.pid);
	printf("%#" PRIx64 " %" PRIu32 " bytes %s\n", row->ip, row->bytes,
	    hwtd_branch_name(row->branch));
}

int
main(void)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_stream_desc stream = { .size = sizeof(stream),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = CPU,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = "/bin/tiny",
		.bytes = program,
		.n_bytes = sizeof(program) };
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
	uint32_t id, code;
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
		rc = hwtd_trace_add_image(trace, &image, &code, &err);
	if (rc == HWTD_OK)
		rc = add_records(trace, id, code, &err);
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, &err);
	if (rc == HWTD_OK)
		rc = hwtd_events_open(trace, &insns, &ev, &err);

	while (rc == HWTD_OK &&
	    (rc = hwtd_events_read(ev, &batch, &err)) == HWTD_OK)
		for (size_t i = 0; i < batch.n; i++)
			if (rows[i].kind == HWTD_EV_INSN)
				print_row(trace, &rows[i]);
	if (rc != HWTD_END)
		fprintf(stderr, "build_in_memory: %s\n", err.message);
	/* In any order: the cursor keeps the trace alive, that the context. */
	hwtd_context_destroy(ctx);
	hwtd_trace_close(trace);
	hwtd_events_close(ev);
	return (rc == HWTD_END ? 0 : 1);
}
