/*
 * The sink that writes all rows which are not code, one a line:
 * "<instructions before> <kind> key=value ... [flags]".
 */
#include "flow.h"

#include <inttypes.h>
#include <stdlib.h>

struct events {
	struct flow_sink sink;
	FILE *out;
	const struct hwtd_trace *trace;
	uint64_t n;
	bool cycles;
};

static const void *
detail(const void *array, size_t stride, size_t n, uint64_t index)
{
	if (index >= n)
		return (NULL);
	return ((const char *)array + index * stride);
}

static void
put_addresses(FILE *out, const struct hwtd_event *row)
{
	if ((row->flags & HWTD_EVF_IP) != 0)
		fprintf(out, " ip=%" PRIx64, row->ip);
	if ((row->flags & HWTD_EVF_TARGET) != 0)
		fprintf(out, " target=%" PRIx64, row->target);
}

static void
put_async(FILE *out, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	static const char *const names[] = {
		[HWTD_ASYNC_INTERRUPT] = "interrupt",
		[HWTD_ASYNC_EXCEPTION] = "exception",
		[HWTD_ASYNC_TRANSACTION_ABORT] = "abort",
		[HWTD_ASYNC_VM_EXIT] = "vm-exit",
		[HWTD_ASYNC_SYSTEM_MANAGEMENT] = "smi",
		[HWTD_ASYNC_STARTUP] = "startup",
		[HWTD_ASYNC_INIT] = "init",
		[HWTD_ASYNC_SHUTDOWN] = "shutdown",
		[HWTD_ASYNC_USER_INTERRUPT] = "user-interrupt",
		[HWTD_ASYNC_RETURN] = "iret",
		[HWTD_ASYNC_USER_RETURN] = "uiret",
		[HWTD_ASYNC_SYSTEM_MANAGEMENT_RETURN] = "rsm",
		[HWTD_ASYNC_VM_ENTRY] = "vm-entry",
		[HWTD_ASYNC_SOFTWARE_INTERRUPT] = "software-interrupt",
		[HWTD_ASYNC_SYSTEM_CALL] = "system-call",
	};
	const struct hwtd_async *async = NULL;

	fputs("async", out);
	put_addresses(out, row);
	if ((row->flags & HWTD_EVF_VALUE) != 0)
		async = detail(batch->asyncs, batch->async_stride,
		    batch->n_asyncs, row->value);
	if (async == NULL)
		return;
	if (async->type < sizeof(names) / sizeof(*names) &&
	    names[async->type] != NULL)
		fprintf(out, " reason=%s", names[async->type]);
	if ((async->flags & HWTD_ASYNCF_NUMBER) != 0)
		fprintf(out, " vector=%" PRIx32, async->number);
	if ((async->flags & HWTD_ASYNCF_RETURN_ADDR) != 0)
		fprintf(out, " return=%" PRIx64, async->return_addr);
	if ((async->flags & HWTD_ASYNCF_FAULT_ADDR) != 0)
		fprintf(out, " fault=%" PRIx64, async->fault_addr);
	if ((async->flags & HWTD_ASYNCF_EXIT_REASON) != 0)
		fprintf(out, " exit=%" PRIx64, async->exit_reason);
	if ((async->flags & HWTD_ASYNCF_EXIT_QUALIFICATION) != 0)
		fprintf(out, " qualification=%" PRIx64,
		    async->exit_qualification);
}

static void
put_disable(FILE *out, const struct hwtd_event *row)
{
	fputs("disable", out);
	put_addresses(out, row);
	if ((row->flags & HWTD_EVF_STOPPED) != 0)
		fputs(" reason=stop", out);
	else if ((row->flags & HWTD_EVF_ASYNC) != 0)
		fputs(" reason=async", out);
}

static void
put_gap(FILE *out, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	const struct hwtd_gap *gap = flow_gap_of(batch, row);

	fputs("gap", out);
	if (gap == NULL) {
		fputs(" no-detail", out);
		return;
	}
	fprintf(out, " reason=%s", hwtd_gap_reason_name(gap->reason));
	if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0)
		fprintf(out, " ip=%" PRIx64, gap->ip_after);
	else if ((row->flags & HWTD_EVF_IP) != 0)
		fprintf(out, " ip=%" PRIx64, row->ip);
	if ((gap->flags & HWTD_GAPF_IP_BEFORE) != 0)
		fprintf(out, " before=%" PRIx64, gap->ip_before);
	if ((gap->flags & HWTD_GAPF_ADDR) != 0)
		fprintf(out, " addr=%" PRIx64, gap->addr);
	fprintf(out, " first=%" PRIx64 " end=%" PRIx64, gap->first, gap->end);
}

/* What Arm processors have. */
static void
put_arm_context(FILE *out, const struct hwtd_exec_context *context)
{
	static const char *const names[] = { "s", "ns", "root", "realm" };

	if ((context->flags & HWTD_CTXF_LEVEL) != 0)
		fprintf(out, " level=%u", context->level);
	if ((context->flags & HWTD_CTXF_SECURITY) != 0 &&
	    context->security < sizeof(names) / sizeof(names[0]))
		fprintf(out, " security=%s", names[context->security]);
	if ((context->flags & HWTD_CTXF_CONTEXTIDR) != 0)
		fprintf(out, " contextidr=%" PRIx64,
		    (uint64_t)context->contextidr);
	if ((context->flags & HWTD_CTXF_VMID) != 0)
		fprintf(out, " vmid=%" PRIx64, (uint64_t)context->vmid);
}

static void
put_context(FILE *out, const struct hwtd_trace *trace,
    const struct hwtd_event *row)
{
	struct hwtd_exec_context context = { .size = sizeof(context) };

	fputs("context", out);
	if (hwtd_trace_exec_context(trace, row->context, &context) !=
	    HWTD_OK) {
		fputs(" no-detail", out);
		return;
	}
	if ((context.flags & HWTD_CTXF_CR3) != 0)
		fprintf(out, " cr3=%" PRIx64 " nr=%d", context.cr3,
		    (context.flags & HWTD_CTXF_GUEST) != 0);
	if ((context.flags & HWTD_CTXF_VMCS) != 0)
		fprintf(out, " vmcs=%" PRIx64, context.vmcs);
	put_arm_context(out, &context);
	put_addresses(out, row);
}

static void
put_mode(FILE *out, const struct hwtd_event *row)
{
	fputs("mode", out);
	if ((row->value & HWTD_MODE_IS_TRANSACTION) != 0) {
		if ((row->value & HWTD_MODE_ABORTED) != 0)
			fputs(" tsx=abort", out);
		else if ((row->value & HWTD_MODE_TRANSACTION) != 0)
			fputs(" tsx=begin", out);
		else
			fputs(" tsx=commit", out);
	} else {
		fprintf(out, " mode=%s", flow_mode_of(row));
		if ((row->value & HWTD_MODE_HAS_INTERRUPTS) != 0)
			fprintf(out, " if=%d",
			    (row->value & HWTD_MODE_INTERRUPTS) != 0);
	}
	put_addresses(out, row);
}

/* What STM, ITM and ETM markers have. */
static void
put_arm_marker(FILE *out, const struct hwtd_marker *marker)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} flags[] = {
		{ HWTD_MARKERF_TRIGGER, "trigger" },
		{ HWTD_MARKERF_MARKED, "marked" },
		{ HWTD_MARKERF_NO_CHANNEL, "unassigned" },
		{ HWTD_MARKERF_GLOBAL_ERROR, "global_error" },
		{ HWTD_MARKERF_MASTER_ERROR, "master_error" },
		{ HWTD_MARKERF_FREQUENCY, "frequency" },
		{ HWTD_MARKERF_HARDWARE, "hardware" },
	};

	if (marker->source == HWTD_MARKER_STM)
		fprintf(out, " master=%" PRIu32, marker->master);
	if (marker->source == HWTD_MARKER_STM ||
	    marker->source == HWTD_MARKER_ITM ||
	    marker->source == HWTD_MARKER_INSTRUMENTATION)
		fprintf(out, " channel=%" PRIu32, marker->channel);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if ((marker->flags & flags[i].flag) != 0)
			fprintf(out, " %s=1", flags[i].name);
}

static void
put_marker(FILE *out, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	const struct hwtd_marker *marker = detail(batch->markers,
	    batch->marker_stride, batch->n_markers, row->value);

	fputs("marker", out);
	if (marker == NULL) {
		fputs(" no-detail", out);
		return;
	}
	fprintf(out, " source=%s payload=%" PRIx64 " size=%" PRIu32,
	    hwtd_marker_source_name(marker->source), marker->payload,
	    marker->size);
	if ((marker->flags & HWTD_MARKERF_MULTIPLE) != 0)
		fputs(" multiple=1", out);
	put_arm_marker(out, marker);
	put_addresses(out, row);
}

static void
put_power(FILE *out, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	const struct hwtd_power *power = detail(batch->powers,
	    batch->power_stride, batch->n_powers, row->value);

	fputs("power", out);
	if (power == NULL) {
		fputs(" no-detail", out);
		return;
	}
	switch (power->what) {
	case HWTD_POWER_STOP:
		fputs(" what=stop", out);
		break;
	case HWTD_POWER_MWAIT:
		fprintf(out, " what=mwait hints=%" PRIx32 " ext=%" PRIx32,
		    power->hints, power->extensions);
		break;
	case HWTD_POWER_ENTRY:
		fprintf(out, " what=entry state=%d sub=%d hw=%d", power->state,
		    power->sub_state, power->by_hardware);
		break;
	case HWTD_POWER_EXIT:
		fprintf(out, " what=exit state=%d sub=%d wake=%d",
		    power->state, power->sub_state, power->wake);
		break;
	default:
		fputs(" what=unknown", out);
		break;
	}
	put_addresses(out, row);
}

void
flow_put_row(FILE *out, const struct hwtd_trace *trace,
    const struct hwtd_event *row, const struct hwtd_batch *batch)
{
	switch (row->kind) {
	case HWTD_EV_ASYNC:
		put_async(out, row, batch);
		break;
	case HWTD_EV_ENABLE:
		fputs("enable", out);
		put_addresses(out, row);
		break;
	case HWTD_EV_DISABLE:
		put_disable(out, row);
		break;
	case HWTD_EV_GAP:
		put_gap(out, row, batch);
		break;
	case HWTD_EV_CONTEXT:
		put_context(out, trace, row);
		break;
	case HWTD_EV_MODE:
		put_mode(out, row);
		break;
	case HWTD_EV_TIME:
		fprintf(out, "time tsc=%" PRIx64, row->value);
		break;
	case HWTD_EV_CYCLES:
		fprintf(out, "cycles count=%" PRIu64, row->value);
		break;
	case HWTD_EV_BLOCK:
		fputs("no-path", out);
		put_addresses(out, row);
		fprintf(out, " insns=%" PRIu32, row->insns);
		break;
	case HWTD_EV_FREQUENCY:
		fprintf(out, "frequency ratio=%" PRIu64, row->value);
		break;
	case HWTD_EV_MARKER:
		put_marker(out, row, batch);
		break;
	case HWTD_EV_POWER:
		put_power(out, row, batch);
		break;
	default:
		fprintf(out, "%s", hwtd_event_kind_name(row->kind));
		if ((row->flags & HWTD_EVF_VALUE) != 0)
			fprintf(out, " value=%" PRIx64, row->value);
		put_addresses(out, row);
		break;
	}
	if ((row->flags & HWTD_EVF_RESUMED) != 0)
		fputs(" resumed", out);
	if ((row->flags & HWTD_EVF_STATUS) != 0)
		fputs(" status", out);
}

static void
put_line(const struct events *events, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	fprintf(events->out, "%" PRIu64 " ", events->n);
	flow_put_row(events->out, events->trace, row, batch);
	fputc('\n', events->out);
}

static void
events_rows(struct flow_sink *sink, const struct hwtd_batch *batch)
{
	struct events *events = (struct events *)(void *)sink;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];

		if (row->kind == HWTD_EV_INSN)
			events->n++;
		else if (row->kind != HWTD_EV_CYCLES || events->cycles)
			put_line(events, row, batch);
	}
}

static bool
events_end(struct flow_sink *sink)
{
	struct events *events = (struct events *)(void *)sink;
	bool good = fflush(events->out) == 0 && ferror(events->out) == 0;

	if (events->out != stdout)
		good = fclose(events->out) == 0 && good;
	free(events);
	return (good);
}

struct flow_sink *
flow_events(FILE *out, const struct hwtd_trace *trace, bool cycles)
{
	struct events *events = flow_alloc(sizeof(*events));

	*events = (struct events){
		.sink = { .rows = events_rows, .end = events_end },
		.out = out,
		.trace = trace,
		.cycles = cycles,
	};
	return (&events->sink);
}
