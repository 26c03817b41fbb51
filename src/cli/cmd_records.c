/*
 * hwtdecode records: what a trace says about programs, mappings and buffers.
 */
#include <inttypes.h>

#include "cli/print/image_report.h"
#include "cli/input/input.h"
#include "cli/output/interrupt.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"
#include "cli/print/record_writer.h"

struct listing {
	const struct input *input;
	const struct options *options;
	struct output *out;
};

static bool
is_in(const struct id_list *list, uint32_t id)
{
	if (list->n == 0)
		return (true);
	for (size_t i = 0; i < list->n; i++)
		if (list->ids[i] == id)
			return (true);
	return (false);
}

/* The CPU of the record, or of the stream that it names; as for rows. */
static uint32_t
cpu_of(const struct hwtd_trace *trace, const struct hwtd_record *r)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };

	if (r->cpu != HWTD_NO_ID ||
	    hwtd_trace_stream(trace, r->stream, &desc) != HWTD_OK)
		return (r->cpu);
	return (desc.cpu);
}

static bool
is_in_times(const struct range_list *times, const struct hwtd_record *r)
{
	if (times->n == 0)
		return (true);
	for (size_t i = 0; i < times->n; i++)
		if (record_has(r, HWTD_RECF_TIME) &&
		    r->time_ns >= times->ranges[i].start &&
		    r->time_ns < times->ranges[i].end)
			return (true);
	return (false);
}

static bool
is_wanted(const struct hwtd_trace *trace, const struct options *options,
    const struct hwtd_record *r)
{
	if (options->record_types != 0 &&
	    (r->type >= HWTD_REC_TYPES ||
		(options->record_types >> r->type & 1) == 0))
		return (false);
	return (is_in(&options->pids, r->pid) &&
	    is_in(&options->tids, r->tid) &&
	    is_in(&options->cpus, cpu_of(trace, r)) &&
	    is_in(&options->streams, r->stream) &&
	    is_in_times(&options->times, r));
}

static void
text_id(struct output *out, uint32_t id)
{
	if (id == HWTD_NO_ID)
		output_format(out, "%7s ", "-");
	else
		output_format(out, "%7" PRIu32 " ", id);
}

static void
write_text(struct listing *l, uint64_t index, const struct hwtd_record *r)
{
	struct output *out = l->out;

	output_format(out, "%6" PRIu64 " ", index);
	if (record_has(r, HWTD_RECF_TIME))
		output_format(out, "%8" PRIu64 ".%09" PRIu64 " ",
		    r->time_ns / 1000000000, r->time_ns % 1000000000);
	else
		output_format(out, "%18s ", "-");
	text_id(out, r->cpu);
	text_id(out, r->pid);
	text_id(out, r->tid);
	output_format(out, "%-13s", hwtd_record_type_name(r->type));
	record_write_words(out, l->input->trace, r);
	output_char(out, '\n');
}

static void
json_id(struct output *out, const char *name, uint32_t id)
{
	if (id != HWTD_NO_ID)
		json_u64(out, name, id);
}

static void
write_json(struct listing *l, uint64_t index, const struct hwtd_record *r)
{
	struct output *out = l->out;

	json_begin(out, "record");
	record_write_json_type(out, index, r);
	if (record_has(r, HWTD_RECF_TIME))
		json_u64(out, "time_ns", r->time_ns);
	json_id(out, "cpu", r->cpu);
	json_id(out, "pid", r->pid);
	json_id(out, "tid", r->tid);
	json_id(out, "stream", r->stream);
	if (record_has(r, HWTD_RECF_STREAM_OFF))
		json_u64(out, "offset", r->stream_off);
	record_write_json_rest(out, r);
	json_end(out);
}

static void
write_csv(struct listing *l, uint64_t index, const struct hwtd_record *r)
{
	struct output *out = l->out;

	output_u64(out, index);
	output_char(out, ',');
	output_text(out, hwtd_record_type_name(r->type));
	output_csv_u64(out, record_has(r, HWTD_RECF_TIME), r->time_ns);
	output_csv_u64(out, r->cpu != HWTD_NO_ID, r->cpu);
	output_csv_u64(out, r->pid != HWTD_NO_ID, r->pid);
	output_csv_u64(out, r->tid != HWTD_NO_ID, r->tid);
	output_csv_u64(out, r->stream != HWTD_NO_ID, r->stream);
	output_csv_u64(out, record_has(r, HWTD_RECF_STREAM_OFF),
	    r->stream_off);
	output_csv_hex(out, record_has(r, HWTD_RECF_ADDR), r->addr);
	output_csv_u64(out, record_has(r, HWTD_RECF_LEN), r->len);
	output_csv_u64(out, record_has(r, HWTD_RECF_FILE_OFF), r->file_off);
	output_csv_hex(out, record_has(r, HWTD_RECF_BASE), r->base);
	output_csv_u64(out, record_has(r, HWTD_RECF_VALUE), r->value);
	output_csv_u64(out, r->image != HWTD_NO_ID, r->image);
	output_char(out, ',');
	if (r->name != NULL)
		output_csv_string(out, r->name);
	output_char(out, ',');
	write_build_id(out, r->build_id, r->n_build_id);
	output_char(out, ',');
	record_write_flags(out, r);
	output_csv_u64(out, record_has(r, HWTD_RECF_VMID), r->vmid);
	output_char(out, '\n');
}

static void
write_header(const struct listing *l)
{
	if (l->options->no_header)
		return;
	if (l->options->format == FORMAT_CSV)
		output_text(l->out,
		    "record,type,time_ns,cpu,pid,tid,stream,offset,address,"
		    "length,file_offset,base,value,image,name,build_id,"
		    "flags,vmid\n");
	else if (l->options->format == FORMAT_TEXT)
		output_format(l->out, "%6s %18s %7s %7s %7s %-13s %s\n",
		    "record", "time", "cpu", "pid", "tid", "type", "what");
}

static int
list(struct listing *l)
{
	uint64_t left = l->options->limit;

	write_header(l);
	for (uint64_t i = 0; left > 0 && i < l->input->info.n_records &&
	     !output_stopped(l->out);
	     i++) {
		struct hwtd_record r = { .size = sizeof(r) };

		if (hwtd_trace_record(l->input->trace, i, &r) != HWTD_OK ||
		    !is_wanted(l->input->trace, l->options, &r))
			continue;
		if (l->options->format == FORMAT_JSONL)
			write_json(l, i, &r);
		else if (l->options->format == FORMAT_CSV)
			write_csv(l, i, &r);
		else
			write_text(l, i, &r);
		left--;
		if (interrupt_seen()) {
			if (l->options->format == FORMAT_JSONL) {
				json_begin(l->out, "interrupted");
				json_end(l->out);
			}
			return (EXIT_INTERRUPTED);
		}
	}
	return (EXIT_DONE);
}

int
cmd_records(const struct options *options)
{
	struct input input;
	struct output out;
	struct listing l = { &input, options, &out };
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	code = input_check_streams(&input, options);
	if (code == EXIT_DONE && !output_open(&out, options->output)) {
		code = EXIT_FAILED;
	} else if (code == EXIT_DONE) {
		code = list(&l);
		if (!output_close(&out, true))
			code = EXIT_FAILED;
	}
	input_close(&input);
	return (code);
}
