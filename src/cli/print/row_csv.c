/*
 * Rows as CSV with a fixed set of columns; what is not known is empty.
 */
#include "cli/print/row_writer.h"

static void
field_u64(struct output *out, bool known, uint64_t value)
{
	output_room(out, 24);
	*out->at++ = ',';
	if (known)
		out->at = format_u64(out->at, value);
}

static void
field_hex(struct output *out, bool known, uint64_t value)
{
	output_room(out, 24);
	*out->at++ = ',';
	if (known)
		out->at = format_hex(out->at, value);
}

static void
field_name(struct output *out, bool known, const char *name)
{
	output_char(out, ',');
	if (known)
		output_text(out, name);
}

static void
write_code(struct row_writer *writer, const struct hwtd_event *row)
{
	struct output *out = writer->out;
	struct instruction_text insn = { .text = "" };

	if (row->kind == HWTD_EV_INSN)
		insn = disassembly_of(writer->disassembly, row);
	if (writer->code_bytes) {
		output_char(out, ',');
		output_hex_bytes(out, insn.code, insn.n_code);
	}
	if (writer->code_text) {
		output_char(out, ',');
		output_csv_string(out, insn.text);
	}
}

void
row_write_csv(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	struct output *out = writer->out;
	const struct hwtd_exec_context *context = row_context(writer, row);
	const uint32_t cpu = row_cpu(writer, row);
	const uint32_t isa = (row->flags & HWTD_EVF_ISA_MASK) >>
	    HWTD_EVF_ISA_SHIFT;
	const bool is_code = row->kind == HWTD_EV_BLOCK ||
	    row->kind == HWTD_EV_INSN;
	struct hwtd_section section = { .size = sizeof(section) };

	output_text(out, hwtd_event_kind_name(row->kind));
	field_u64(out, (row->flags & HWTD_EVF_TIME) != 0, row->time_ns);
	field_u64(out, (row->flags & HWTD_EVF_TIME) != 0,
	    (row->flags & HWTD_EVF_TIME_ESTIMATED) != 0);
	field_u64(out, row->stream != HWTD_NO_ID, row->stream);
	field_u64(out, cpu != HWTD_NO_ID, cpu);
	field_u64(out, context != NULL && context->pid != HWTD_NO_ID,
	    context != NULL ? context->pid : 0);
	field_u64(out, context != NULL && context->tid != HWTD_NO_ID,
	    context != NULL ? context->tid : 0);
	field_u64(out, row_has_offset(writer, row), row->stream_off);
	field_hex(out, (row->flags & HWTD_EVF_IP) != 0, row->ip);
	field_hex(out, (row->flags & HWTD_EVF_TARGET) != 0, row->target);
	field_u64(out, is_code, row->insns);
	field_u64(out, is_code, row->bytes);
	field_name(out, row->branch != HWTD_BRANCH_NONE,
	    hwtd_branch_name(row->branch));
	field_u64(out, is_code && row->branch != HWTD_BRANCH_NONE,
	    (row->flags & HWTD_EVF_TAKEN) != 0);
	field_name(out, isa != HWTD_ISA_UNKNOWN, hwtd_isa_name(isa));
	output_char(out, ',');
	if ((row->flags & HWTD_EVF_SECTION) != 0 &&
	    hwtd_trace_section(writer->trace, row->section, &section) ==
		HWTD_OK &&
	    section.path != NULL)
		output_csv_string(out, section.path);
	output_text(out, ",\"");
	out->quoting = true;
	row_write_detail(writer, out, row, batch);
	out->quoting = false;
	output_char(out, '"');
	if (writer->disassembly != NULL)
		write_code(writer, row);
	if (writer->names != NULL)
		symbol_names_csv(writer->names, out, row);
	output_char(out, '\n');
}
