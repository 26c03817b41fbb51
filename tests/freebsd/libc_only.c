/*
 * What works with nothing but libc: writes a saved trace without compression,
 * reads it back and decodes its Intel PT and Arm SPE, with internal functions;
 * and begins a capture.
 *
 * For FreeBSD it is linked from object files of the library alone, which shows
 * what they need.  Here it is run.
 */
#include <hwtdecode/capture.h>
#include <hwtdecode/packet.h>
#include <stdio.h>
#include <string.h>

#include "base/regular_file.h"
#include "capture/hwt_abi.h"
#include "capture/system.h"
#include "decode/pt/pt_engines.h"
#include "decode/pt/pt_lexer.h"
#include "decode/spe/spe_engines.h"
#include "record/record_list.h"
#include "trace/container/hwt_reader.h"
#include "trace/container/hwt_writer.h"
#include "trace/trace_model.h"

#define CODE_AT 0x1000u

/* At 0x1000: jz to 0x1004, over two nops; ret. */
static const uint8_t code[] = { 0x74, 0x02, 0x90, 0x90, 0xc3 };

/*
 * Tracing goes on at 0x1000, the jump is taken, and the return leaves what is
 * traced.  Source: Intel SDM vol. 3C, "Packet Definitions".
 */
static const uint8_t pt[] = {
	/* PSB, PSBEND, MODE.Exec: 64 bits. */
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x23, 0x99, 0x01,
	/* TIP.PGE 0x1000, TNT: taken, TIP.PGD 0x2000. */
	0x71, 0x00, 0x10, 0, 0, 0, 0, 0x06, 0x61, 0x00, 0x20, 0, 0, 0, 0
};
#define PT_PACKETS 6

/* Address of an instruction, and time. Source: Arm DDI 0487, "Statistical
 * Profiling Extension sample record specification". */
static const uint8_t spe[] = { 0xb0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x71, 0x39,
	0x30, 0, 0, 0, 0, 0, 0 };

static int failures;
static struct hwtdi_flow flow;

static void
check(int is_right, const char *what)
{
	if (!is_right) {
		(void)fprintf(stderr, "wrong: %s\n", what);
		failures++;
	}
}

static int
find_code(void *arg, const struct hwtdi_code_query *query, uint64_t address,
    struct hwtdi_code_span *out)
{
	(void)arg;
	(void)query;
	if (address < CODE_AT || address >= CODE_AT + sizeof(code))
		return (HWTD_E_NOT_FOUND);
	memset(out, 0, sizeof(*out));
	out->bytes = code;
	out->address = CODE_AT;
	out->length = sizeof(code);
	out->moments.until = UINT64_MAX;
	return (HWTD_OK);
}

static uint32_t
insns_of(const struct hwtdi_code_graph *graph)
{
	struct hwtdi_graph_view view;
	uint32_t n = 0;

	hwtdi_graph_see(graph, &view);
	for (size_t i = 0; i < flow.n_tokens; i++)
		n += view.nodes[flow.tokens[i]].insns;
	return (n);
}

static size_t
rares_of(unsigned int kind)
{
	size_t n = 0;

	for (size_t i = 0; i < flow.n_rares; i++)
		if (flow.rares[i].row.kind == kind)
			n++;
	return (n);
}

static void
decode(struct hwtd_context *ctx, const struct hwtdi_engine *engine,
    const uint8_t *bytes, size_t n)
{
	struct hwtdi_segment segment = { .bytes = bytes, .n = n };
	struct hwtdi_decoder_args args;
	struct hwtdi_decoder *decoder;
	struct hwtdi_code_graph *graph;
	int rc;

	memset(&args, 0, sizeof(args));
	check(hwtdi_graph_create(ctx, &graph, NULL) == HWTD_OK, "graph");
	args.library = ctx;
	args.graph = graph;
	args.code.find = find_code;
	args.code.fixed = true;
	hwtdi_flow_init(&flow);
	rc = engine->open(&args, &decoder, NULL);
	check(rc == HWTD_OK, "open of a decoder");
	if (rc == HWTD_OK)
		rc = engine->start(decoder, &segment, NULL);
	while (rc == HWTD_OK)
		rc = engine->read(decoder, &flow, NULL);
	check(rc == HWTD_END, "end of a stream");
	check(rares_of(HWTD_EV_GAP) == 0, "no gaps");
	if (engine == &hwtdi_pt_native)
		check(insns_of(graph) == 2, "jump and return");
	else
		check(rares_of(HWTD_EV_SAMPLE) == 1, "one sample");
	engine->close(decoder);
	hwtdi_graph_drop(graph);
}

static void
name_packets(const uint8_t *bytes, size_t n)
{
	struct hwtdi_pt_stretch stretch = {
		.bytes = bytes,
		.n = n,
		.kinds = UINT64_MAX,
	};
	struct hwtdi_pt_lexer lexer;
	struct hwtd_packet rows[16];
	size_t used = 0;

	hwtdi_pt_lexer_init(&lexer, NULL);
	check(hwtdi_pt_lexer_rows(&lexer, &stretch, rows, 16, &used) ==
		PT_PACKETS,
	    "packets");
	check(used == n && lexer.bytes_unknown == 0,
	    "all bytes are of packets");
}

static void
save(struct hwtd_context *ctx, const char *path)
{
	const struct hwtdi_writer_options plain = { .level = -1 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc desc = {
		.size = sizeof(desc),
		.tech = HWTD_TECH_INTEL_PT,
		.cpu = 0,
		.pid = HWTD_NO_ID,
		.tid = HWTD_NO_ID,
	};
	struct hwtd_record record = {
		.size = sizeof(record),
		.type = HWTD_REC_THREAD_CREATE,
		.tid = 7,
		.cpu = HWTD_NO_ID,
		.pid = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
		.vmid = HWTD_NO_ID,
	};
	struct hwtdi_trace_text text = { .origin = NULL };
	struct hwtdi_writer *w;
	uint32_t id;
	int rc;

	rc = hwtdi_writer_create(ctx, path, &plain, &w, &err);
	if (rc != HWTD_OK) {
		check(0, err.message);
		return;
	}
	rc = hwtdi_writer_meta(w, &text, &err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_stream(w, &desc, &id, &err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_bytes(w, id, pt, sizeof(pt), &err);
	desc.tech = HWTD_TECH_SPE;
	if (rc == HWTD_OK)
		rc = hwtdi_writer_stream(w, &desc, &id, &err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_bytes(w, id, spe, sizeof(spe), &err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_record(w, &record, &err);
	if (rc == HWTD_OK)
		rc = hwtdi_writer_finish(w, &err);
	check(rc == HWTD_OK, err.message);
	hwtdi_writer_destroy(w);
}

static void
load(struct hwtd_context *ctx, const char *path)
{
	const struct hwtd_open_options opts = { .size = sizeof(opts) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_damage damage;
	struct hwtdi_window *window;
	struct hwtd_trace *trace;
	const uint8_t *bytes;
	bool is_hwt = false;
	int rc;

	rc = hwtdi_trace_new(ctx, "", &trace, &err);
	if (rc != HWTD_OK) {
		check(0, err.message);
		return;
	}
	trace->file.path = hwtdi_strdup(ctx, path);
	rc = hwtdi_regular_file_open(path, &trace->file.fd, &trace->file.size,
	    &err);
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_recognize(trace, &is_hwt, &err);
	check(is_hwt, "a saved trace");
	if (rc == HWTD_OK)
		rc = hwtdi_hwt_read(trace, &opts, &err);
	check(rc == HWTD_OK, err.message);
	check(trace->n_damages == 0,
	    trace->n_damages == 0 ? "" : trace->damages[0].text);
	check(trace->n_streams == 2, "two streams");
	check(trace->records.n == 1 && trace->records.records[0].tid == 7,
	    "one record");
	for (uint32_t i = 0; rc == HWTD_OK && i < 2; i++) {
		const size_t n = i == 0 ? sizeof(pt) : sizeof(spe);

		rc = hwtdi_window_open(trace, i, &window, &err);
		if (rc != HWTD_OK)
			break;
		rc = hwtdi_window_see(window, 0, n, &bytes, &damage, &err);
		check(rc == HWTD_OK &&
			memcmp(bytes, i == 0 ? pt : spe, n) == 0,
		    "the same bytes");
		if (rc == HWTD_OK && i == 0)
			name_packets(bytes, n);
		if (rc == HWTD_OK)
			decode(ctx,
			    i == 0 ? &hwtdi_pt_native : &hwtdi_spe_native,
			    bytes, n);
		hwtdi_window_destroy(window);
	}
	check(rc == HWTD_OK, err.message);
	hwtd_trace_close(trace);
}

/* Of nobody: a capture begins, and is refused with a reason. */
static void
capture(struct hwtd_context *ctx, const char *path)
{
	const struct hwtd_capture_options options = {
		.size = sizeof(options),
		.output = path,
		.mode = HWTD_CAPTURE_THREADS,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_capture *capture;

	check(hwtd_capture_start(ctx, &options, &capture, &err) != HWTD_OK,
	    "a capture of nobody");
	(void)printf("capture: %s\n", err.message);
}

/* Says what there is; where there is no hwt(4) that is right as well. */
static void
look_at_host(void)
{
	const struct hwtdi_system *host = hwtdi_system_host();
	const int fd = host->open(host->state, HWTDI_HWT_DEVICE);

	(void)printf("%s: %s\n", HWTDI_HWT_DEVICE,
	    fd < 0 ? strerror(-fd) : "is there");
	if (fd >= 0)
		(void)host->close(host->state, fd);
}

int
main(int argc, char **argv)
{
	struct hwtd_context *ctx;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: libc_only FILE\n");
		return (2);
	}
	look_at_host();
	if (hwtd_context_create(NULL, &ctx, NULL) != HWTD_OK)
		return (1);
	capture(ctx, argv[1]);
	save(ctx, argv[1]);
	if (failures == 0)
		load(ctx, argv[1]);
	hwtd_context_destroy(ctx);
	(void)printf("%d failures\n", failures);
	return (failures == 0 ? 0 : 1);
}
