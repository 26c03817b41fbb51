/*
 * What the three formats of rows share: lookups of streams, contexts and
 * details, and the choice between the formats.
 */
#include <stdlib.h>

#include "cli/output/color.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"
#include "cli/print/row_writer.h"

bool
row_writer_init(struct row_writer *writer, struct output *out,
    const struct input *input, const struct options *options)
{
	*writer = (struct row_writer){
		.out = out,
		.trace = input->trace,
		.format = options->format,
		.color = color_wanted(options, out),
		.header = !options->no_header,
		.code_bytes = options->code_bytes,
		.code_text = options->disasm,
		.sample_rows = options->sample_rows,
		.n_streams = input->info.n_streams,
	};
	writer->streams = calloc((size_t)writer->n_streams + 1,
	    sizeof(*writer->streams));
	if (options->code_bytes || options->disasm)
		writer->disassembly = disassembly_create(input->trace,
		    options->disasm, options->att_syntax);
	if (writer->streams == NULL ||
	    ((options->code_bytes || options->disasm) &&
		writer->disassembly == NULL)) {
		row_writer_fini(writer);
		say_error("out of memory");
		return (false);
	}
	if (options->symbols) {
		writer->names = symbol_names_create(input->trace,
		    options->lines);
		if (writer->names == NULL) {
			row_writer_fini(writer);
			return (false);
		}
	}
	for (uint32_t i = 0; i < writer->n_streams; i++) {
		struct hwtd_stream_desc stream = { .size = sizeof(stream) };

		writer->streams[i].cpu = HWTD_NO_ID;
		if (hwtd_trace_stream(input->trace, i, &stream) != HWTD_OK)
			continue;
		writer->streams[i].cpu = stream.cpu;
		if (stream.spe == NULL)
			continue;
		writer->streams[i].midr = stream.spe->midr;
		writer->streams[i].version = stream.spe->version;
	}
	return (true);
}

void
row_writer_fini(struct row_writer *writer)
{
	free(writer->streams);
	disassembly_destroy(writer->disassembly);
	symbol_names_destroy(writer->names);
	writer->names = NULL;
	writer->streams = NULL;
	writer->disassembly = NULL;
}

const struct hwtd_exec_context *
row_context(struct row_writer *writer, const struct hwtd_event *row)
{
	if (row->context == HWTD_NO_ID)
		return (NULL);
	if (!writer->has_context || writer->context_id != row->context) {
		writer->context = (struct hwtd_exec_context){
			.size = sizeof(writer->context),
		};
		writer->has_context = hwtd_trace_exec_context(writer->trace,
					  row->context,
					  &writer->context) == HWTD_OK;
		writer->context_id = row->context;
		if (!writer->has_context)
			return (NULL);
	}
	return (&writer->context);
}

struct row_stream
row_stream(const struct row_writer *writer, const struct hwtd_event *row)
{
	static const struct row_stream none = { HWTD_NO_ID, 0, 0 };

	return (row->stream < writer->n_streams ? writer->streams[row->stream]
						: none);
}

uint32_t
row_cpu(struct row_writer *writer, const struct hwtd_event *row)
{
	const struct hwtd_exec_context *context = row_context(writer, row);

	if (context != NULL && context->cpu != HWTD_NO_ID)
		return (context->cpu);
	return (row_stream(writer, row).cpu);
}

/* Element `index` of a detail array, whatever its stride. */
static const void *
detail_at(const void *array, size_t stride, size_t n,
    const struct hwtd_event *row, uint8_t kind)
{
	if (row->kind != kind || (row->flags & HWTD_EVF_VALUE) == 0 ||
	    row->value >= n)
		return (NULL);
	return ((const char *)array + (size_t)row->value * stride);
}

const struct hwtd_gap *
row_gap(const struct hwtd_event *row, const struct hwtd_batch *batch)
{
	return (detail_at(batch->gaps, batch->gap_stride, batch->n_gaps, row,
	    HWTD_EV_GAP));
}

const struct hwtd_sample *
row_sample(const struct hwtd_event *row, const struct hwtd_batch *batch)
{
	return (detail_at(batch->samples, batch->sample_stride,
	    batch->n_samples, row, HWTD_EV_SAMPLE));
}

const struct hwtd_marker *
row_marker(const struct hwtd_event *row, const struct hwtd_batch *batch)
{
	return (detail_at(batch->markers, batch->marker_stride,
	    batch->n_markers, row, HWTD_EV_MARKER));
}

const struct hwtd_power *
row_power(const struct hwtd_event *row, const struct hwtd_batch *batch)
{
	return (detail_at(batch->powers, batch->power_stride, batch->n_powers,
	    row, HWTD_EV_POWER));
}

const struct hwtd_async *
row_async(const struct hwtd_event *row, const struct hwtd_batch *batch)
{
	return (detail_at(batch->asyncs, batch->async_stride, batch->n_asyncs,
	    row, HWTD_EV_ASYNC));
}

bool
row_record(const struct row_writer *writer, const struct hwtd_event *row,
    struct hwtd_record *out)
{
	*out = (struct hwtd_record){ .size = sizeof(*out) };
	return (row->kind == HWTD_EV_RECORD &&
	    hwtd_trace_record(writer->trace, row->value, out) == HWTD_OK);
}

bool
row_has_offset(const struct row_writer *writer, const struct hwtd_event *row)
{
	struct hwtd_record record;

	return (!row_record(writer, row, &record) ||
	    (record.flags & HWTD_RECF_STREAM_OFF) != 0);
}

void
row_write_header(struct row_writer *writer)
{
	struct output *out = writer->out;

	if (!writer->header)
		return;
	if (writer->sample_rows) {
		sample_write_header(writer);
		return;
	}
	if (writer->format == FORMAT_CSV) {
		output_text(out,
		    "kind,time_ns,time_estimated,stream,cpu,pid,"
		    "tid,offset,ip,target,insns,bytes,branch,"
		    "taken,isa,image,detail");
		if (writer->code_bytes)
			output_text(out, ",code");
		if (writer->code_text)
			output_text(out, ",text");
		if (writer->names != NULL)
			symbol_names_csv_header(writer->names, out);
		output_char(out, '\n');
	} else if (writer->format == FORMAT_TEXT) {
		if (writer->color)
			output_text(out, COLOR_TITLE);
		output_text(out,
		    "              time  stream  cpu  kind       "
		    "ip                  target              "
		    "detail");
		if (writer->color)
			output_text(out, COLOR_OFF);
		output_char(out, '\n');
	}
}

void
row_write(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	if (writer->sample_rows && sample_write(writer, row, batch))
		return;
	switch (writer->format) {
	case FORMAT_TEXT:
		row_write_text(writer, row, batch);
		break;
	case FORMAT_JSONL:
		row_write_json(writer, row, batch);
		break;
	case FORMAT_CSV:
		row_write_csv(writer, row, batch);
		break;
	}
}

void
row_write_interrupted(struct row_writer *writer)
{
	switch (writer->format) {
	case FORMAT_TEXT:
		output_text(writer->out, "interrupted\n");
		break;
	case FORMAT_JSONL:
		json_begin(writer->out, "interrupted");
		json_end(writer->out);
		break;
	case FORMAT_CSV:
		if (writer->sample_rows) {
			output_text(writer->out, "interrupted\n");
			break;
		}
		output_text(writer->out, "interrupted,,,,,,,,,,,,,,,,");
		if (writer->code_bytes)
			output_char(writer->out, ',');
		if (writer->code_text)
			output_char(writer->out, ',');
		if (writer->names != NULL)
			symbol_names_csv_none(writer->names, writer->out);
		output_char(writer->out, '\n');
		break;
	}
}
