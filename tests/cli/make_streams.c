/*
 * Makes what the cases of packets read: streams.hwt, of two Intel PT streams
 * with an empty one and one of CoreSight between them, and foreign.hwt, of one
 * CoreSight stream.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/memory_trace.h"

static void
expect_ok(int rc, const struct hwtd_error *err)
{
	if (rc == HWTD_OK)
		return;
	fprintf(stderr, "%s\n", err->message);
	exit(1);
}

static void
add_foreign(struct hwtd_trace *trace, uint32_t cpu)
{
	static const uint8_t bytes[16];
	const struct hwtd_stream_desc desc = { .size = sizeof(desc),
		.tech = HWTD_TECH_CORESIGHT,
		.cpu = cpu,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID };
	struct hwtd_error err = { .size = sizeof(err) };
	uint32_t id;

	expect_ok(hwtd_trace_add_stream(trace, &desc, &id, &err), &err);
	expect_ok(hwtd_trace_add_bytes(trace, id, bytes, sizeof(bytes), &err),
	    &err);
}

static void
add_stream(struct hwtd_trace *trace, uint32_t cpu, unsigned int n)
{
	const struct hwtd_stream_desc desc = { .cpu = cpu,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
		.clock = { .counts_per = 1, .ns_per = 1 } };
	struct pt_packets p = { 0 };

	if (n > 0) {
		pt_psb(&p);
		pt_tsc(&p, 1000);
		pt_psbend(&p);
	}
	for (unsigned int i = 0; i < n; i++)
		pt_pge(&p, PT_IP_64, 0x1000 + cpu);
	(void)mt_stream(trace, &p, &desc);
	pt_free(&p);
}

static void
save(struct hwtd_trace *trace, const char *path)
{
	struct hwtd_error err = { .size = sizeof(err) };

	(void)mt_seal(trace);
	expect_ok(hwtd_trace_save(trace, path, NULL, &err), &err);
	hwtd_trace_close(trace);
}

int
main(void)
{
	struct hwtd_trace *trace = mt_create();

	add_stream(trace, 4, 2);
	add_stream(trace, 5, 0);
	add_foreign(trace, 6);
	add_stream(trace, 7, 1);
	save(trace, "streams.hwt");
	trace = mt_create();
	add_foreign(trace, 0);
	save(trace, "foreign.hwt");
	return (0);
}
