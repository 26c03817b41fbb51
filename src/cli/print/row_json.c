/*
 * Rows as JSON, one object per line, with only the keys that are known.
 */
#include "cli/print/damage_writer.h"
#include "cli/output/json_line.h"
#include "cli/print/marker_fields.h"
#include "cli/print/record_writer.h"
#include "cli/print/row_writer.h"

static void
write_gap(struct output *out, const struct hwtd_gap *gap)
{
	json_name(out, "reason", hwtd_gap_reason_name(gap->reason));
	json_u64(out, "first", gap->first);
	json_u64(out, "end", gap->end);
	if ((gap->flags & HWTD_GAPF_ADDR) != 0)
		json_hex(out, "address", gap->addr);
	if ((gap->flags & HWTD_GAPF_IP_BEFORE) != 0)
		json_hex(out, "ip_before", gap->ip_before);
	if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0)
		json_hex(out, "ip_after", gap->ip_after);
	if ((gap->flags & HWTD_GAPF_TIME_BEFORE) != 0)
		json_u64(out, "time_before_ns", gap->time_before_ns);
	if ((gap->flags & HWTD_GAPF_TIME_AFTER) != 0)
		json_u64(out, "time_after_ns", gap->time_after_ns);
	if ((gap->flags & HWTD_GAPF_FILE) != 0)
		json_damage_bytes(out, gap->file_off, gap->file_bytes,
		    (gap->flags & HWTD_GAPF_EARLIER_FILE) != 0);
	if (gap->text[0] != '\0')
		json_string(out, "text", gap->text);
}

static void
write_marker(struct output *out, const struct hwtd_marker *marker)
{
	const char *channel = marker_channel_name(marker);

	json_name(out, "source", hwtd_marker_source_name(marker->source));
	json_u64(out, "payload_size", marker->size);
	json_hex(out, "payload", marker->payload);
	if (marker_has_master(marker))
		json_u64(out, "master", marker->master);
	if (channel != NULL)
		json_u64(out, channel, marker->channel);
	if (marker->source == HWTD_MARKER_TRIGGER &&
	    (marker->flags & HWTD_MARKERF_MULTIPLE) == 0)
		json_bool(out, "multiple", false);
	for (size_t i = 0; i < N_MARKER_FLAGS; i++)
		if ((marker->flags & marker_flags[i].bit) != 0)
			json_bool(out, marker_flags[i].name, true);
}

static void
write_power(struct output *out, const struct hwtd_power *power)
{
	json_name(out, "what", hwtd_power_what_name(power->what));
	switch (power->what) {
	case HWTD_POWER_MWAIT:
		json_hex(out, "hints", power->hints);
		json_hex(out, "extensions", power->extensions);
		break;
	case HWTD_POWER_ENTRY:
		json_u64(out, "state", power->state);
		json_u64(out, "sub_state", power->sub_state);
		json_bool(out, "by_hardware", power->by_hardware != 0);
		break;
	case HWTD_POWER_EXIT:
		json_u64(out, "state", power->state);
		json_u64(out, "deepest_state", power->sub_state);
		json_u64(out, "wake", power->wake);
		break;
	default:
		break;
	}
}

static void
write_async(struct output *out, const struct hwtd_async *async)
{
	if (async->type != HWTD_ASYNC_UNKNOWN)
		json_name(out, "type", hwtd_async_type_name(async->type));
	if ((async->flags & HWTD_ASYNCF_NUMBER) != 0)
		json_u64(out, "number", async->number);
	if ((async->flags & HWTD_ASYNCF_FAULT_ADDR) != 0)
		json_hex(out, "fault_address", async->fault_addr);
	if ((async->flags & HWTD_ASYNCF_RETURN_ADDR) != 0)
		json_hex(out, "return_address", async->return_addr);
}

static void
write_context(struct output *out, const struct hwtd_exec_context *context)
{
	if ((context->flags & HWTD_CTXF_CR3) != 0)
		json_hex(out, "cr3", context->cr3);
	if ((context->flags & HWTD_CTXF_VMCS) != 0)
		json_hex(out, "vmcs", context->vmcs);
	if ((context->flags & HWTD_CTXF_CONTEXTIDR) != 0)
		json_hex(out, "contextidr", context->contextidr);
	if ((context->flags & HWTD_CTXF_VMID) != 0)
		json_hex(out, "vmid", context->vmid);
	if ((context->flags & HWTD_CTXF_LEVEL) != 0)
		json_u64(out, "level", context->level);
	if ((context->flags & HWTD_CTXF_SECURITY) != 0)
		json_u64(out, "security", context->security);
	if ((context->flags & HWTD_CTXF_GUEST) != 0)
		json_bool(out, "guest", true);
}

static void
write_mode(struct output *out, uint64_t value)
{
	if ((value & HWTD_MODE_IS_TRANSACTION) != 0) {
		json_bool(out, "transaction",
		    (value & HWTD_MODE_TRANSACTION) != 0);
		if ((value & HWTD_MODE_ABORTED) != 0)
			json_bool(out, "aborted", true);
	}
	if ((value & HWTD_MODE_HAS_INTERRUPTS) != 0)
		json_bool(out, "interrupts",
		    (value & HWTD_MODE_INTERRUPTS) != 0);
}

static void
write_record(struct row_writer *writer, const struct hwtd_event *row)
{
	struct hwtd_record record;

	if (!row_record(writer, row, &record))
		return;
	record_write_json_type(writer->out, row->value, &record);
	record_write_json_rest(writer->out, &record);
}

static void
write_value(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	struct output *out = writer->out;
	const struct hwtd_exec_context *context;
	const struct hwtd_sample *sample;
	const struct row_stream stream = row_stream(writer, row);
	const struct hwtd_marker *marker;
	const struct hwtd_power *power;
	const struct hwtd_async *async;
	const struct hwtd_gap *gap;

	if (row->kind == HWTD_EV_CONTEXT) {
		if ((context = row_context(writer, row)) != NULL)
			write_context(out, context);
		return;
	}
	if ((row->flags & HWTD_EVF_VALUE) == 0)
		return;
	switch (row->kind) {
	case HWTD_EV_ASYNC:
		if ((async = row_async(row, batch)) != NULL)
			write_async(out, async);
		break;
	case HWTD_EV_GAP:
		if ((gap = row_gap(row, batch)) != NULL)
			write_gap(out, gap);
		break;
	case HWTD_EV_MODE:
		write_mode(out, row->value);
		break;
	case HWTD_EV_TIME:
		json_u64(out, "count", row->value);
		break;
	case HWTD_EV_CYCLES:
		json_u64(out, "cycles", row->value);
		break;
	case HWTD_EV_FREQUENCY:
		json_u64(out, "ratio", row->value);
		break;
	case HWTD_EV_MARKER:
		if ((marker = row_marker(row, batch)) != NULL)
			write_marker(out, marker);
		break;
	case HWTD_EV_POWER:
		if ((power = row_power(row, batch)) != NULL)
			write_power(out, power);
		break;
	case HWTD_EV_SAMPLE:
		if ((sample = row_sample(row, batch)) != NULL)
			sample_write_json(writer, sample, &stream);
		break;
	case HWTD_EV_RECORD:
		write_record(writer, row);
		break;
	default:
		json_u64(out, "value", row->value);
		break;
	}
}

static void
write_code(struct row_writer *writer, const struct hwtd_event *row)
{
	struct output *out = writer->out;
	const struct instruction_text
	    insn = disassembly_of(writer->disassembly, row);

	if (writer->code_bytes && insn.n_code > 0) {
		json_key(out, "code");
		output_char(out, '"');
		output_hex_bytes(out, insn.code, insn.n_code);
		output_char(out, '"');
	}
	if (writer->code_text)
		json_string(out, "text", insn.text);
}

void
row_write_json(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	static const char first[] = "{\"schema\":1,\"kind\":\"";
	struct output *out = writer->out;
	const struct hwtd_exec_context *context = row_context(writer, row);
	const uint32_t cpu = row_cpu(writer, row);
	const uint32_t isa = (row->flags & HWTD_EVF_ISA_MASK) >>
	    HWTD_EVF_ISA_SHIFT;

	_Static_assert(JSON_SCHEMA == 1, "the text above says 1");
	output_bytes(out, first, sizeof(first) - 1);
	output_text(out, hwtd_event_kind_name(row->kind));
	output_char(out, '"');
	if ((row->flags & HWTD_EVF_TIME) != 0)
		json_u64(out, "time_ns", row->time_ns);
	if ((row->flags & HWTD_EVF_TIME_ESTIMATED) != 0)
		json_bool(out, "time_estimated", true);
	if (row->stream != HWTD_NO_ID)
		json_u64(out, "stream", row->stream);
	if (row_has_offset(writer, row))
		json_u64(out, "offset", row->stream_off);
	if (cpu != HWTD_NO_ID)
		json_u64(out, "cpu", cpu);
	if (context != NULL && context->pid != HWTD_NO_ID)
		json_u64(out, "pid", context->pid);
	if (context != NULL && context->tid != HWTD_NO_ID)
		json_u64(out, "tid", context->tid);
	if ((row->flags & HWTD_EVF_IP) != 0)
		json_hex(out, "ip", row->ip);
	if ((row->flags & HWTD_EVF_TARGET) != 0)
		json_hex(out, "target", row->target);
	if (row->kind == HWTD_EV_BLOCK || row->kind == HWTD_EV_INSN) {
		json_u64(out, "insns", row->insns);
		json_u64(out, "bytes", row->bytes);
		if (row->branch != HWTD_BRANCH_NONE) {
			json_name(out, "branch",
			    hwtd_branch_name(row->branch));
			json_bool(out, "taken",
			    (row->flags & HWTD_EVF_TAKEN) != 0);
		}
	}
	if (isa != HWTD_ISA_UNKNOWN)
		json_name(out, "isa", hwtd_isa_name(isa));
	if ((row->flags & HWTD_EVF_SECTION) != 0)
		json_u64(out, "section", row->section);
	if ((row->flags & HWTD_EVF_RESUMED) != 0)
		json_bool(out, "resumed", true);
	if ((row->flags & HWTD_EVF_ASYNC) != 0)
		json_bool(out, "async", true);
	if ((row->flags & HWTD_EVF_STOPPED) != 0)
		json_bool(out, "stopped", true);
	if ((row->flags & HWTD_EVF_SPECULATIVE) != 0)
		json_bool(out, "speculative", true);
	if ((row->flags & HWTD_EVF_STATUS) != 0)
		json_bool(out, "status", true);
	write_value(writer, row, batch);
	if (row->kind == HWTD_EV_INSN && writer->disassembly != NULL)
		write_code(writer, row);
	if (writer->names != NULL)
		symbol_names_json(writer->names, out, row);
	output_bytes(out, "}\n", 2);
}
