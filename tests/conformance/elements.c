/*
 * hwtdecode-elements: what OpenCSD says of each CoreSight source of a trace, as
 * our engine takes it: lines "<stream> <trace id> <KIND>(<text>)", in the words
 * of OpenCSD's own lister.  It is linked so that elements come by here on their
 * way to the engine.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/coresight/cs_decoder.h"

#define EXIT_TROUBLE 2
#define BATCH_ROWS 65536

/* The linker calls the one in place of the other. */
bool __wrap_hwtdi_cs_put_again(struct hwtdi_decoder *d,
    struct hwtdi_flow *flow);
int __wrap_hwtdi_cs_put_element(struct hwtdi_decoder *d,
    struct hwtdi_flow *flow, const struct hwtdi_cs_element *e, uint64_t stamp,
    struct hwtd_error *err);
int __real_hwtdi_cs_put_element(struct hwtdi_decoder *d,
    struct hwtdi_flow *flow, const struct hwtdi_cs_element *e, uint64_t stamp,
    struct hwtd_error *err);

/* The stream that is decoded. */
static uint32_t stream_id;
static uint32_t trace_id;

static const char *
isa_name(uint8_t isa)
{
	switch (isa) {
	case HWTD_ISA_A32:
		return ("A32");
	case HWTD_ISA_T32:
		return ("T32");
	case HWTD_ISA_T32EE:
		return ("TEE");
	case HWTD_ISA_A64:
		return ("A64");
	default:
		return ("Unk");
	}
}

static const char *
name_of(const char *const *names, size_t n, uint8_t i)
{
	return (i < n ? names[i] : "?");
}

#define NAME(names, i) name_of(names, sizeof(names) / sizeof(*(names)), i)

static void
put_cycles(const struct hwtdi_cs_element *e)
{
	if ((e->flags & HWTDI_CS_HAS_CYCLES) != 0)
		printf(" [CC=%" PRIu32 "];", e->cycles);
}

static void
put_range(const struct hwtdi_cs_element *e)
{
	static const char *const lasts[] = { "---", "BR", "iBR", "ISB",
		"DSB.DMB", "WFI.WFE", "TSTART" };
	static const char *const subs[] = { "", " b+link", " A64:ret",
		" A64:eret", " V7:impl ret" };

	printf("INSTR_RANGE(exec range=0x%" PRIx64 ":[0x%" PRIx64
	       "] num_i(%" PRIu32 ") last_sz(%d) (ISA=%s) %c %s%s%s",
	    e->st, e->en, e->n, e->last_bytes, isa_name(e->isa),
	    (e->flags & HWTDI_CS_EXECUTED) != 0 ? 'E' : 'N',
	    NAME(lasts, e->last), NAME(subs, e->last_sub),
	    (e->flags & HWTDI_CS_CONDITIONAL) != 0 ? " <cond>" : "");
	put_cycles(e);
}

static void
put_context(const struct hwtdi_cs_element *e)
{
	static const char *const securities[] = { "S", "N", "Root", "Realm" };

	printf("PE_CONTEXT((ISA=%s) ", isa_name(e->isa));
	if ((e->flags & HWTDI_CS_HAS_LEVEL) != 0)
		printf("EL%d", e->level);
	printf("%s; %s;", NAME(securities, e->security),
	    (e->flags & HWTDI_CS_BITS64) != 0 ? "64-bit" : "32-bit");
	if ((e->flags & HWTDI_CS_HAS_VMID) != 0)
		printf(" VMID=0x%" PRIx32 ";", e->vmid);
	if ((e->flags & HWTDI_CS_HAS_CONTEXT_ID) != 0)
		printf(" CTXTID=0x%" PRIx32 ";", e->context_id);
	put_cycles(e);
}

static void
put_exception(const struct hwtdi_cs_element *e)
{
	printf("EXCEPTION(");
	if ((e->flags & HWTDI_CS_DATA_MARKER) != 0)
		printf("data marker");
	if ((e->flags & HWTDI_CS_HAS_RETURN) != 0)
		printf("pref ret addr:0x%" PRIx64 "%s; ", e->en,
		    (e->flags & HWTDI_CS_RETURN_IS_TARGET) != 0
			? " [addr also prev br tgt]"
			: "");
	printf("excep num (0x%" PRIx32 ")", e->n);
	if ((e->flags & HWTDI_CS_TAIL_CHAIN) != 0)
		printf(" tail chain");
	put_cycles(e);
}

static void
put_software(const struct hwtdi_cs_element *e)
{
	const struct hwtdi_cs_software *s = &e->software;

	if ((s->flags & HWTD_MARKERF_NO_CHANNEL) != 0)
		printf("SWTRACE((Ma:0x?"
		       "?; Ch:0x?"
		       "?)");
	else
		printf("SWTRACE((Ma:0x%x; Ch:0x%x)", s->master, s->channel);
	if (s->bits != 0)
		printf(" 0x%" PRIx64 ";", s->payload);
	if ((s->flags & HWTD_MARKERF_MARKED) != 0)
		printf(" +Mrk");
	if ((s->flags & HWTD_MARKERF_TRIGGER) != 0)
		printf(" Trig");
	if ((e->flags & HWTDI_CS_HAS_TIMESTAMP) != 0)
		printf(" [ TS=0x%" PRIx64 "];", e->timestamp);
	if ((s->flags & HWTD_MARKERF_FREQUENCY) != 0)
		printf(" Freq");
	if ((s->flags & HWTD_MARKERF_GLOBAL_ERROR) != 0)
		printf(" GErr");
	if ((s->flags & HWTD_MARKERF_MASTER_ERROR) != 0)
		printf(" MErr");
}

static void
put_event(const struct hwtdi_cs_element *e)
{
	if ((e->flags & HWTDI_CS_TRIGGER) != 0)
		printf("EVENT(Trigger;");
	else
		printf("EVENT(Numbered:%" PRIu32 ";", e->n);
}

static void
put_element(const struct hwtdi_cs_element *e)
{
	static const char *const unsynced[] = { "unknown", "init-decoder",
		"reset-decoder", "overflow", "discard", "bad-packet",
		"end-of-trace", "bad-program-image", "given up" };
	static const char *const ons[] = { "begin or filter", "overflow",
		"debug restart" };
	static const char *const transactions[] = { "Init", "Start", "Commit",
		"Fail" };

	switch (e->kind) {
	case HWTDI_CS_NO_SYNC:
		printf("NO_SYNC([%s]", NAME(unsynced, e->reason));
		break;
	case HWTDI_CS_TRACE_ON:
		printf("TRACE_ON([%s]", NAME(ons, e->reason));
		put_cycles(e);
		break;
	case HWTDI_CS_END:
		printf("EO_TRACE([%s]", NAME(unsynced, e->reason));
		break;
	case HWTDI_CS_CONTEXT:
		put_context(e);
		break;
	case HWTDI_CS_RANGE:
		put_range(e);
		break;
	case HWTDI_CS_RANGE_NO_PATH:
		printf("I_RANGE_NOPATH(first 0x%" PRIx64 ":[next 0x%" PRIx64
		       "] num_i(%" PRIu32 ")",
		    e->st, e->en, e->n);
		put_cycles(e);
		break;
	case HWTDI_CS_NO_ACCESS:
		printf("ADDR_NACC(0x%" PRIx64, e->st);
		break;
	case HWTDI_CS_ADDRESS_UNKNOWN:
		printf("ADDR_UNKNOWN(");
		break;
	case HWTDI_CS_EXCEPTION:
		put_exception(e);
		break;
	case HWTDI_CS_EXCEPTION_RETURN:
		printf("EXCEPTION_RET(");
		break;
	case HWTDI_CS_TIMESTAMP:
		printf("TIMESTAMP([ TS=0x%" PRIx64 "];", e->timestamp);
		put_cycles(e);
		break;
	case HWTDI_CS_CYCLES:
		printf("CYCLE_COUNT(");
		put_cycles(e);
		break;
	case HWTDI_CS_EVENT:
		put_event(e);
		break;
	case HWTDI_CS_SOFTWARE:
		put_software(e);
		break;
	case HWTDI_CS_SYNC_MARKER:
		printf("SYNC_MARKER([Timestamp marker(0x%08" PRIx64 ")]",
		    e->value);
		break;
	case HWTDI_CS_TRANSACTION:
		printf("MEMTRANS(%s", NAME(transactions, e->reason));
		break;
	case HWTDI_CS_INSTRUMENTATION:
		printf("INSTRUMENTATION(EL%d; 0x%016" PRIx64, e->level,
		    e->value);
		break;
	default:
		printf("UNKNOWN(");
		break;
	}
}

/* Of the last packet the library tells nothing, if it is cut off or cannot be. */
static bool
is_ours(const struct hwtdi_cs_element *e)
{
	return (e->kind == HWTDI_CS_NO_SYNC &&
	    (e->reason == HWTDI_CS_UNSYNCED_END ||
		e->reason == HWTDI_CS_UNSYNCED_LAST_BAD));
}

int
__wrap_hwtdi_cs_put_element(struct hwtdi_decoder *d, struct hwtdi_flow *flow,
    const struct hwtdi_cs_element *e, uint64_t stamp, struct hwtd_error *err)
{
	if (!is_ours(e)) {
		printf("%" PRIu32 " %" PRIx32 " ", stream_id, trace_id);
		put_element(e);
		puts(")");
	}
	return (__real_hwtdi_cs_put_element(d, flow, e, stamp, err));
}

/* Ranges that came before are elements as others are. */
bool
__wrap_hwtdi_cs_put_again(struct hwtdi_decoder *d, struct hwtdi_flow *flow)
{
	(void)d;
	(void)flow;
	return (false);
}

static void
check(int rc, const char *what, const struct hwtd_error *err)
{
	if (rc >= 0)
		return;
	fflush(stdout);
	fprintf(stderr, "hwtdecode-elements: %s: %s: %s\n", what,
	    hwtd_code_text(rc), err->message);
	exit(EXIT_TROUBLE);
}

/* FNV-1a of the bytes of a source. */
static void
put_data(const struct hwtd_trace *trace, uint32_t stream, uint64_t n_bytes,
    struct hwtd_error *err)
{
	static uint8_t part[65536];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t n = 0;

	for (uint64_t off = 0; off < n_bytes; off += n) {
		check(hwtd_trace_read_bytes(trace, stream, off, part,
			  sizeof(part), &n, err),
		    "bytes", err);
		for (size_t i = 0; i < n; i++)
			hash = (hash ^ part[i]) * UINT64_C(0x100000001b3);
		if (n == 0)
			break;
	}
	printf("# data %" PRIu32 " %" PRIx64 "\n", stream, hash);
}

static void
decode(struct hwtd_trace *trace, uint32_t stream, struct hwtd_error *err)
{
	static struct hwtd_event rows[BATCH_ROWS];
	const struct hwtd_events_options how = {
		.size = sizeof(how),
		.streams = &stream,
		.n_streams = 1,
	};
	struct hwtd_batch batch = { .size = sizeof(batch),
		.events = rows,
		.stride = sizeof(rows[0]),
		.cap = BATCH_ROWS };
	struct hwtd_events *events = NULL;
	int rc;

	check(hwtd_events_open(trace, &how, &events, err), "open", err);
	while ((rc = hwtd_events_read(events, &batch, err)) == HWTD_OK)
		if (batch.n_gaps > 0 &&
		    batch.gaps[0].reason == HWTD_GAP_UNSUPPORTED)
			printf("! %" PRIu32 " %s\n", stream,
			    batch.gaps[0].text);
	check(rc, "read", err);
	hwtd_events_close(events);
}

int
main(int argc, char **argv)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };
	struct hwtd_context *context = NULL;
	struct hwtd_trace *trace = NULL;
	char version[16];

	if (argc != 2) {
		fputs("usage: hwtdecode-elements SNAPSHOT\n", stderr);
		return (EXIT_TROUBLE);
	}
	check(hwtd_context_create(NULL, &context, &err), "context", &err);
	check(hwtd_trace_open(context, argv[1], NULL, &trace, &err), argv[1],
	    &err);
	hwtdi_cs_library_text(hwtdi_cs_library_version(), version);
	printf("# opencsd %s\n", version);
	for (; hwtd_trace_stream(trace, stream_id, &stream) == HWTD_OK;
	     stream_id++) {
		trace_id = stream.coresight != NULL
		    ? stream.coresight->trace_id
		    : 0;
		/* A source, maybe of a sink, or a sink. */
		printf("# stream %" PRIu32 " %" PRIx32 " %" PRIu32 " %" PRIu32
		       " %" PRIu64 " %s\n",
		    stream_id, trace_id, stream.framing, stream.sink_plus_1,
		    stream.n_bytes, stream.name);
		if (stream.coresight != NULL)
			put_data(trace, stream_id, stream.n_bytes, &err);
		if (stream.coresight != NULL)
			decode(trace, stream_id, &err);
	}
	hwtd_trace_close(trace);
	hwtd_context_destroy(context);
	return (fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_TROUBLE);
}
