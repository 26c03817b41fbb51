/*
 * hwtdecode records: what a trace says about programs, mappings and buffers.
 */
#include <inttypes.h>

#include "cli/image_report.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/json_line.h"
#include "cli/message.h"

struct listing {
	const struct input *input;
	const struct options *options;
	struct output *out;
};

static const struct {
	uint32_t bit;
	const char *name;
} flag_names[] = {
	{ HWTD_RECF_KERNEL_SPACE, "kernel" },
	{ HWTD_RECF_ANONYMOUS, "anonymous" },
	{ HWTD_RECF_JIT, "jit" },
	{ HWTD_RECF_SWITCH_OUT, "switch_out" },
};

#define N_FLAG_NAMES (sizeof(flag_names) / sizeof(flag_names[0]))

static bool
has(const struct hwtd_record *r, uint32_t flag)
{
	return ((r->flags & flag) != 0);
}

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

static bool
is_wanted(const struct options *options, const struct hwtd_record *r)
{
	if (options->record_types != 0 &&
	    (r->type >= HWTD_REC_TYPES ||
		(options->record_types >> r->type & 1) == 0))
		return (false);
	return (is_in(&options->pids, r->pid) &&
	    is_in(&options->tids, r->tid) && is_in(&options->cpus, r->cpu));
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
text_place(struct output *out, const struct hwtd_record *r)
{
	if (has(r, HWTD_RECF_ADDR)) {
		output_char(out, ' ');
		output_hex(out, r->addr);
	}
	if (has(r, HWTD_RECF_LEN)) {
		output_text(out, has(r, HWTD_RECF_ADDR) ? "+" : " length ");
		output_hex(out, r->len);
	}
	if (has(r, HWTD_RECF_FILE_OFF)) {
		output_text(out, " file-offset ");
		output_hex(out, r->file_off);
	}
	if (has(r, HWTD_RECF_BASE)) {
		output_text(out, " interpreter ");
		output_hex(out, r->base);
	}
	if (has(r, HWTD_RECF_VALUE))
		output_format(out, " %s %" PRIu64,
		    r->type == HWTD_REC_FORK ? "parent" : "value", r->value);
	if (has(r, HWTD_RECF_STREAM_OFF)) {
		output_text(out, " at ");
		if (r->stream != HWTD_NO_ID)
			output_format(out, "%" PRIu32 ":", r->stream);
		output_hex(out, r->stream_off);
	}
}

static void
write_text(struct listing *l, uint64_t index, const struct hwtd_record *r)
{
	struct output *out = l->out;
	struct hwtd_image_info image = { .size = sizeof(image) };

	output_format(out, "%6" PRIu64 " ", index);
	if (has(r, HWTD_RECF_TIME))
		output_format(out, "%8" PRIu64 ".%09" PRIu64 " ",
		    r->time_ns / 1000000000, r->time_ns % 1000000000);
	else
		output_format(out, "%18s ", "-");
	text_id(out, r->cpu);
	text_id(out, r->pid);
	text_id(out, r->tid);
	output_format(out, "%-13s", hwtd_record_type_name(r->type));
	text_place(out, r);
	for (size_t i = 0; i < N_FLAG_NAMES; i++)
		if (has(r, flag_names[i].bit))
			output_format(out, " %s", flag_names[i].name);
	if (r->n_build_id > 0) {
		output_text(out, " build-id ");
		write_build_id(out, r->build_id, r->n_build_id);
	}
	if (r->name != NULL) {
		output_char(out, ' ');
		output_escaped(out, r->name);
	}
	if (r->image != HWTD_NO_ID &&
	    hwtd_trace_image(l->input->trace, r->image, &image) == HWTD_OK) {
		output_text(out, " image ");
		output_escaped(out, image.path);
	}
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
	json_u64(out, "record", index);
	json_name(out, "record_type", hwtd_record_type_name(r->type));
	if (has(r, HWTD_RECF_TIME))
		json_u64(out, "time_ns", r->time_ns);
	json_id(out, "cpu", r->cpu);
	json_id(out, "pid", r->pid);
	json_id(out, "tid", r->tid);
	json_id(out, "stream", r->stream);
	if (has(r, HWTD_RECF_STREAM_OFF))
		json_u64(out, "offset", r->stream_off);
	if (has(r, HWTD_RECF_ADDR))
		json_hex(out, "address", r->addr);
	if (has(r, HWTD_RECF_LEN))
		json_u64(out, "length", r->len);
	if (has(r, HWTD_RECF_FILE_OFF))
		json_u64(out, "file_offset", r->file_off);
	if (has(r, HWTD_RECF_BASE))
		json_hex(out, "base", r->base);
	if (has(r, HWTD_RECF_VALUE))
		json_u64(out, "value", r->value);
	json_id(out, "image", r->image);
	if (r->name != NULL)
		json_string(out, "name", r->name);
	if (r->n_build_id > 0) {
		json_key(out, "build_id");
		output_char(out, '"');
		write_build_id(out, r->build_id, r->n_build_id);
		output_char(out, '"');
	}
	for (size_t i = 0; i < N_FLAG_NAMES; i++)
		if (has(r, flag_names[i].bit))
			json_bool(out, flag_names[i].name, true);
	json_end(out);
}

static void
csv_u64(struct output *out, bool known, uint64_t value)
{
	output_char(out, ',');
	if (known)
		output_u64(out, value);
}

static void
csv_hex(struct output *out, bool known, uint64_t value)
{
	output_char(out, ',');
	if (known)
		output_hex(out, value);
}

static void
write_csv(struct listing *l, uint64_t index, const struct hwtd_record *r)
{
	struct output *out = l->out;
	bool any = false;

	output_u64(out, index);
	output_char(out, ',');
	output_text(out, hwtd_record_type_name(r->type));
	csv_u64(out, has(r, HWTD_RECF_TIME), r->time_ns);
	csv_u64(out, r->cpu != HWTD_NO_ID, r->cpu);
	csv_u64(out, r->pid != HWTD_NO_ID, r->pid);
	csv_u64(out, r->tid != HWTD_NO_ID, r->tid);
	csv_u64(out, r->stream != HWTD_NO_ID, r->stream);
	csv_u64(out, has(r, HWTD_RECF_STREAM_OFF), r->stream_off);
	csv_hex(out, has(r, HWTD_RECF_ADDR), r->addr);
	csv_u64(out, has(r, HWTD_RECF_LEN), r->len);
	csv_u64(out, has(r, HWTD_RECF_FILE_OFF), r->file_off);
	csv_hex(out, has(r, HWTD_RECF_BASE), r->base);
	csv_u64(out, has(r, HWTD_RECF_VALUE), r->value);
	csv_u64(out, r->image != HWTD_NO_ID, r->image);
	output_char(out, ',');
	if (r->name != NULL)
		output_csv_string(out, r->name);
	output_char(out, ',');
	write_build_id(out, r->build_id, r->n_build_id);
	output_char(out, ',');
	for (size_t i = 0; i < N_FLAG_NAMES; i++) {
		if (!has(r, flag_names[i].bit))
			continue;
		output_format(out, "%s%s", any ? " " : "", flag_names[i].name);
		any = true;
	}
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
		    "flags\n");
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
		    !is_wanted(l->options, &r))
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
	if (!output_open(&out, options->output)) {
		code = EXIT_FAILED;
	} else {
		code = list(&l);
		if (!output_close(&out, true))
			code = EXIT_FAILED;
	}
	input_close(&input);
	return (code);
}
