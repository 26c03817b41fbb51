/*
 * What is special about a row, in words: the last column of text and CSV.
 */
#include "cli/print/damage_writer.h"
#include "cli/print/marker_fields.h"
#include "cli/print/sample_fields.h"
#include "cli/print/record_writer.h"
#include "cli/print/row_writer.h"

struct words {
	struct output *out;
	bool any;
};

/* The next word, after a blank if it is not the first. */
static void
word(struct words *words, const char *text)
{
	if (words->any)
		output_char(words->out, ' ');
	words->any = true;
	output_text(words->out, text);
}

static void
word_u64(struct words *words, const char *before, uint64_t value)
{
	word(words, before);
	output_char(words->out, ' ');
	output_u64(words->out, value);
}

static void
word_hex(struct words *words, const char *before, uint64_t value)
{
	word(words, before);
	output_char(words->out, ' ');
	output_hex(words->out, value);
}

static void
describe_code(struct words *words, const struct hwtd_event *row)
{
	if (row->kind == HWTD_EV_BLOCK) {
		if (words->any)
			output_char(words->out, ' ');
		words->any = true;
		output_u64(words->out, row->insns);
		output_text(words->out,
		    row->insns == 1 ? " insn " : " insns ");
		output_u64(words->out, row->bytes);
		output_text(words->out, row->bytes == 1 ? " byte" : " bytes");
	}
	if (row->branch != HWTD_BRANCH_NONE)
		word(words, hwtd_branch_name(row->branch));
	if ((row->flags & HWTD_EVF_TAKEN) != 0)
		word(words, "taken");
	else if (row->branch == HWTD_BRANCH_CONDITIONAL)
		word(words, "not taken");
}

static void
describe_gap(struct words *words, const struct hwtd_gap *gap)
{
	word(words, hwtd_gap_reason_name(gap->reason));
	word_hex(words, "bytes", gap->first);
	output_char(words->out, '-');
	output_hex(words->out, gap->end);
	output_text(words->out, " (");
	output_u64(words->out, gap->end - gap->first);
	output_char(words->out, ')');
	if ((gap->flags & HWTD_GAPF_ADDR) != 0)
		word_hex(words, "address", gap->addr);
	if ((gap->flags & HWTD_GAPF_IP_BEFORE) != 0)
		word_hex(words, "after", gap->ip_before);
	if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0)
		word_hex(words, "goes on at", gap->ip_after);
	if ((gap->flags & HWTD_GAPF_FILE) != 0) {
		word(words, "");
		damage_bytes(words->out, gap->file_off, gap->file_bytes,
		    (gap->flags & HWTD_GAPF_EARLIER_FILE) != 0);
	}
	if (gap->text[0] != '\0') {
		output_text(words->out, ": ");
		output_escaped(words->out, gap->text);
	}
}

static void
describe_context(struct words *words, const struct hwtd_exec_context *context)
{
	if (context->pid != HWTD_NO_ID)
		word_u64(words, "pid", context->pid);
	if (context->tid != HWTD_NO_ID)
		word_u64(words, "tid", context->tid);
	if ((context->flags & HWTD_CTXF_CR3) != 0)
		word_hex(words, "cr3", context->cr3);
	if ((context->flags & HWTD_CTXF_VMCS) != 0)
		word_hex(words, "vmcs", context->vmcs);
	if ((context->flags & HWTD_CTXF_CONTEXTIDR) != 0)
		word_hex(words, "contextidr", context->contextidr);
	if ((context->flags & HWTD_CTXF_VMID) != 0)
		word_hex(words, "vmid", context->vmid);
	if ((context->flags & HWTD_CTXF_LEVEL) != 0)
		word_u64(words, "level", context->level);
	if ((context->flags & HWTD_CTXF_SECURITY) != 0)
		word_u64(words, "security", context->security);
	if ((context->flags & HWTD_CTXF_GUEST) != 0)
		word(words, "guest");
}

static void
describe_marker(struct words *words, const struct hwtd_marker *marker)
{
	const char *channel = marker_channel_name(marker);

	word(words, hwtd_marker_source_name(marker->source));
	word_hex(words, "payload", marker->payload);
	if (marker_has_master(marker))
		word_u64(words, "master", marker->master);
	if (channel != NULL)
		word_u64(words, channel, marker->channel);
	for (size_t i = 0; i < N_MARKER_FLAGS; i++)
		if ((marker->flags & marker_flags[i].bit) != 0)
			word(words, marker_flags[i].name);
}

static void
describe_sample(struct words *words, const struct hwtd_sample *s,
    const struct row_stream *stream)
{
	const char *name;

	if ((s->present & HWTD_SAMPLE_OP) != 0) {
		word(words, hwtd_op_class_name(s->op_class));
		if (s->op_class != HWTD_OP_CLASS_BRANCH)
			word(words, hwtd_op_name(s->op));
	}
	for (size_t i = 0; i < N_OP_FLAGS; i++)
		if ((s->op_flags & op_flags[i].bit) != 0)
			word(words, op_flags[i].name);
	for (size_t i = 0; i < N_SAMPLE_FIELDS; i++) {
		const struct sample_field *f = &sample_fields[i];

		if ((s->present & f->present) == 0)
			continue;
		if (f->hex)
			word_hex(words, f->name, sample_field_value(f, s));
		else
			word_u64(words, f->name, sample_field_value(f, s));
		if (f->present == HWTD_SAMPLE_SOURCE &&
		    (name = sample_source_name(s, stream->midr)) != NULL)
			word(words, name);
		for (uint32_t bit = 0;
		     f->present == HWTD_SAMPLE_EVENTS && bit < 64; bit++) {
			name = hwtd_sample_event_name(stream->midr,
			    stream->version, bit);
			if ((s->events >> bit & 1) != 0 && name != NULL)
				word(words, name);
		}
	}
	for (size_t i = 0; i < s->n_extras; i++) {
		word_hex(words, "packet", s->extras[i].header);
		word_u64(words, "index", s->extras[i].index);
		word_hex(words, "payload", s->extras[i].payload);
	}
	for (size_t i = 0; i < N_SAMPLE_FLAGS; i++)
		if ((s->flags & sample_flags[i].bit) != 0)
			word(words, sample_flags[i].name);
}

static void
describe_mode(struct words *words, const struct hwtd_event *row)
{
	if ((row->flags & HWTD_EVF_VALUE) != 0 &&
	    (row->value & HWTD_MODE_IS_TRANSACTION) != 0) {
		word(words,
		    (row->value & HWTD_MODE_ABORTED) != 0
			? "transaction aborted"
			: (row->value & HWTD_MODE_TRANSACTION) != 0
			? "transaction"
			: "no transaction");
	} else {
		word(words,
		    hwtd_isa_name((row->flags & HWTD_EVF_ISA_MASK) >>
			HWTD_EVF_ISA_SHIFT));
	}
	if ((row->flags & HWTD_EVF_VALUE) != 0 &&
	    (row->value & HWTD_MODE_HAS_INTERRUPTS) != 0)
		word(words,
		    (row->value & HWTD_MODE_INTERRUPTS) != 0
			? "interrupts on"
			: "interrupts off");
}

static void
describe_power(struct words *words, const struct hwtd_power *power)
{
	word(words, hwtd_power_what_name(power->what));
	switch (power->what) {
	case HWTD_POWER_MWAIT:
		word_hex(words, "hints", power->hints);
		word_hex(words, "extensions", power->extensions);
		break;
	case HWTD_POWER_ENTRY:
		word_u64(words, "state", power->state);
		word_u64(words, "sub-state", power->sub_state);
		if (power->by_hardware != 0)
			word(words, "by hardware");
		break;
	case HWTD_POWER_EXIT:
		word_u64(words, "state", power->state);
		word_u64(words, "deepest", power->sub_state);
		if ((power->wake & 1) != 0)
			word(words, "interrupt");
		if ((power->wake & 2) != 0)
			word(words, "store");
		if ((power->wake & 4) != 0)
			word(words, "autonomous");
		break;
	default:
		break;
	}
}

static void
describe_async(struct words *words, const struct hwtd_async *async)
{
	if (async->type != HWTD_ASYNC_UNKNOWN)
		word(words, hwtd_async_type_name(async->type));
	if ((async->flags & HWTD_ASYNCF_NUMBER) != 0)
		word_u64(words, "vector", async->number);
	if ((async->flags & HWTD_ASYNCF_FAULT_ADDR) != 0)
		word_hex(words, "fault at", async->fault_addr);
	if ((async->flags & HWTD_ASYNCF_RETURN_ADDR) != 0)
		word_hex(words, "returns to", async->return_addr);
}

static void
describe_record(struct words *words, struct row_writer *writer,
    const struct hwtd_event *row)
{
	struct hwtd_record record;

	if (!row_record(writer, row, &record))
		return;
	word(words, hwtd_record_type_name(record.type));
	if (record.pid != HWTD_NO_ID)
		word_u64(words, "pid", record.pid);
	if (record.tid != HWTD_NO_ID)
		word_u64(words, "tid", record.tid);
	record_write_words(words->out, writer->trace, &record);
}

void
row_write_detail(struct row_writer *writer, struct output *out,
    const struct hwtd_event *row, const struct hwtd_batch *batch)
{
	struct words words = { .out = out };
	const bool valued = (row->flags & HWTD_EVF_VALUE) != 0;
	const struct hwtd_sample *sample;
	const struct row_stream stream = row_stream(writer, row);
	const struct hwtd_marker *marker;
	const struct hwtd_power *power;
	const struct hwtd_async *async;
	const struct hwtd_gap *gap;
	const struct hwtd_exec_context *context;

	switch (row->kind) {
	case HWTD_EV_BLOCK:
	case HWTD_EV_INSN:
		describe_code(&words, row);
		break;
	case HWTD_EV_ASYNC:
		if ((async = row_async(row, batch)) != NULL)
			describe_async(&words, async);
		break;
	case HWTD_EV_GAP:
		if ((gap = row_gap(row, batch)) != NULL)
			describe_gap(&words, gap);
		break;
	case HWTD_EV_CONTEXT:
		if ((context = row_context(writer, row)) != NULL)
			describe_context(&words, context);
		break;
	case HWTD_EV_MODE:
		describe_mode(&words, row);
		break;
	case HWTD_EV_TIME:
		if (valued)
			word_u64(&words, "count", row->value);
		break;
	case HWTD_EV_CYCLES:
		if (valued)
			word_u64(&words, "cycles", row->value);
		break;
	case HWTD_EV_FREQUENCY:
		if (valued)
			word_u64(&words, "ratio", row->value);
		break;
	case HWTD_EV_MARKER:
		if ((marker = row_marker(row, batch)) != NULL)
			describe_marker(&words, marker);
		break;
	case HWTD_EV_POWER:
		if ((power = row_power(row, batch)) != NULL)
			describe_power(&words, power);
		break;
	case HWTD_EV_SAMPLE:
		if ((sample = row_sample(row, batch)) != NULL)
			describe_sample(&words, sample, &stream);
		break;
	case HWTD_EV_RECORD:
		describe_record(&words, writer, row);
		break;
	default:
		if (valued)
			word_u64(&words, "value", row->value);
		break;
	}
	if ((row->flags & HWTD_EVF_RESUMED) != 0)
		word(&words, "resumed");
	if ((row->flags & HWTD_EVF_ASYNC) != 0)
		word(&words, "async");
	if ((row->flags & HWTD_EVF_STOPPED) != 0)
		word(&words, "stopped");
	if ((row->flags & HWTD_EVF_SPECULATIVE) != 0)
		word(&words, "speculative");
	if ((row->flags & HWTD_EVF_STATUS) != 0)
		word(&words, "status");
}
