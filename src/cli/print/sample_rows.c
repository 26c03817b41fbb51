/*
 * Samples in full: as JSON, and as text and CSV with columns of their own.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/output/color.h"
#include "cli/output/json_line.h"
#include "cli/print/row_writer.h"
#include "cli/print/sample_fields.h"

/* Ends of records by hwtd_sample_end. */
static const char *const end_names[] = { "none", "end", "timestamp" };

static const char *
end_name(const struct hwtd_sample *s)
{
	return (s->end < sizeof(end_names) / sizeof(end_names[0])
		? end_names[s->end]
		: "unknown");
}

/* A load or store of which the record does not tell where the data was. */
static bool
lacks_source(const struct hwtd_sample *s)
{
	return (s->op_class == HWTD_OP_CLASS_MEMORY &&
	    (s->present & HWTD_SAMPLE_SOURCE) == 0);
}

static const char *
source_name(const struct hwtd_sample *s, const struct row_stream *stream)
{
	return (lacks_source(s) ? "none"
				: sample_source_name(s, stream->midr));
}

/*
 * Names of events with `separator` between; one without is "bitN", or left out
 * unless `all` are wanted.
 */
static void
write_events(struct output *out, const struct hwtd_sample *s,
    const struct row_stream *stream, char separator, bool quoted, bool all)
{
	bool any = false;

	for (uint32_t bit = 0; bit < 64; bit++) {
		const char *name = hwtd_sample_event_name(stream->midr,
		    stream->version, bit);

		if ((s->events >> bit & 1) == 0 || (name == NULL && !all))
			continue;
		if (any)
			output_char(out, separator);
		any = true;
		if (quoted)
			output_char(out, '"');
		if (name != NULL)
			output_text(out, name);
		else
			output_format(out, "bit%" PRIu32, bit);
		if (quoted)
			output_char(out, '"');
	}
}

/* Names of set bits with blanks between. */
static void
write_flags(struct output *out, const struct sample_flag *flags, size_t n,
    uint32_t bits)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if ((bits & flags[i].bit) == 0)
			continue;
		if (any)
			output_char(out, ' ');
		any = true;
		output_text(out, flags[i].name);
	}
}

static bool
is_security(const struct sample_field *field)
{
	const size_t n = strlen(field->name), end = strlen("_security");

	return (n > end && strcmp(field->name + n - end, "_security") == 0);
}

/* JSON. */

static void
write_json_extras(struct output *out, const struct hwtd_sample *s)
{
	json_key(out, "packets");
	for (size_t i = 0; i < s->n_extras; i++) {
		output_text(out, i == 0 ? "[{" : ",{");
		output_text(out, "\"header\":");
		output_u64(out, s->extras[i].header);
		json_u64(out, "index", s->extras[i].index);
		json_u64(out, "bytes", s->extras[i].bytes);
		json_hex(out, "payload", s->extras[i].payload);
		output_char(out, '}');
	}
	output_char(out, ']');
}

static void
write_json_security(struct output *out, const struct hwtd_sample *s)
{
	for (size_t i = 0; i < N_SAMPLE_FIELDS; i++) {
		const struct sample_field *f = &sample_fields[i];
		char key[48];

		if (!is_security(f) || (s->present & f->present) == 0)
			continue;
		(void)snprintf(key, sizeof(key), "%s_name", f->name);
		json_name(out, key,
		    hwtd_security_name((uint32_t)sample_field_value(f, s)));
	}
}

/* `all`: also of what has no name, or is not there. */
static void
write_json_names(struct output *out, const struct hwtd_sample *s,
    const struct row_stream *stream, bool all)
{
	const char *name = all ? source_name(s, stream)
			       : sample_source_name(s, stream->midr);

	if (all && lacks_source(s)) {
		json_key(out, "source");
		output_text(out, "null");
	}
	if (name != NULL)
		json_name(out, "source_name", name);
	if ((s->present & HWTD_SAMPLE_EVENTS) != 0) {
		json_key(out, "event_names");
		output_char(out, '[');
		write_events(out, s, stream, ',', true, all);
		output_char(out, ']');
	}
	if (all)
		json_name(out, "end", end_name(s));
}

void
sample_write_json(struct row_writer *writer, const struct hwtd_sample *s,
    const struct row_stream *stream)
{
	struct output *out = writer->out;

	json_u64(out, "first", s->stream_off);
	json_u64(out, "record_bytes", s->bytes);
	if ((s->present & HWTD_SAMPLE_OP) != 0) {
		json_name(out, "op_class", hwtd_op_class_name(s->op_class));
		json_name(out, "op", hwtd_op_name(s->op));
	}
	for (size_t i = 0; i < N_OP_FLAGS; i++)
		if ((s->op_flags & op_flags[i].bit) != 0)
			json_bool(out, op_flags[i].name, true);
	for (size_t i = 0; i < N_SAMPLE_FIELDS; i++) {
		const struct sample_field *f = &sample_fields[i];
		const uint64_t value = sample_field_value(f, s);

		if ((s->present & f->present) == 0)
			continue;
		if (f->hex)
			json_hex(out, f->name, value);
		else
			json_u64(out, f->name, value);
	}
	if (writer->sample_rows)
		write_json_security(out, s);
	write_json_names(out, s, stream, writer->sample_rows);
	if (s->n_extras != 0)
		write_json_extras(out, s);
	for (size_t i = 0; i < N_SAMPLE_FLAGS; i++)
		if ((s->flags & sample_flags[i].bit) != 0)
			json_bool(out, sample_flags[i].name, true);
}

/* CSV. */

static void
csv_number(struct output *out, bool known, uint64_t value, bool hex)
{
	output_char(out, ',');
	if (!known)
		return;
	if (hex)
		output_hex(out, value);
	else
		output_u64(out, value);
}

static void
csv_extras(struct output *out, const struct hwtd_sample *s)
{
	for (size_t i = 0; i < s->n_extras; i++)
		output_format(out, "%s%02x:%u:%u:%" PRIx64, i == 0 ? "" : " ",
		    s->extras[i].header, s->extras[i].index,
		    s->extras[i].bytes, s->extras[i].payload);
}

static void
csv_fields(struct row_writer *writer, const struct hwtd_sample *s)
{
	struct output *out = writer->out;

	for (size_t i = 0; i < N_SAMPLE_FIELDS; i++) {
		const struct sample_field *f = &sample_fields[i];
		const bool known = (s->present & f->present) != 0;
		const uint64_t value = sample_field_value(f, s);

		if (known && is_security(f)) {
			output_char(out, ',');
			output_text(out, hwtd_security_name((uint32_t)value));
		} else {
			csv_number(out, known, value, f->hex);
		}
	}
}

static void
write_csv(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch, const struct hwtd_sample *sample)
{
	static const struct hwtd_sample none;
	const struct hwtd_sample *s = sample != NULL ? sample : &none;
	const struct hwtd_exec_context *who = row_context(writer, row);
	const uint32_t cpu = row_cpu(writer, row);
	const uint32_t pid = who != NULL ? who->pid : HWTD_NO_ID;
	const uint32_t tid = who != NULL ? who->tid : HWTD_NO_ID;
	const bool timed = (row->flags & HWTD_EVF_TIME) != 0;
	const bool has_op = (s->present & HWTD_SAMPLE_OP) != 0;
	const struct row_stream stream = row_stream(writer, row);
	const char *name = source_name(s, &stream);
	struct output *out = writer->out;

	output_text(out, hwtd_event_kind_name(row->kind));
	csv_number(out, timed, row->time_ns, false);
	csv_number(out, timed, (row->flags & HWTD_EVF_TIME_ESTIMATED) != 0,
	    false);
	csv_number(out, row->stream != HWTD_NO_ID, row->stream, false);
	csv_number(out, cpu != HWTD_NO_ID, cpu, false);
	csv_number(out, pid != HWTD_NO_ID, pid, false);
	csv_number(out, tid != HWTD_NO_ID, tid, false);
	csv_number(out, sample != NULL || row_has_offset(writer, row),
	    sample != NULL ? s->stream_off : row->stream_off, false);
	csv_number(out, sample != NULL, s->bytes, false);
	csv_number(out, (row->flags & HWTD_EVF_IP) != 0, row->ip, true);
	csv_number(out, (row->flags & HWTD_EVF_TARGET) != 0, row->target,
	    true);
	output_char(out, ',');
	if (has_op)
		output_text(out, hwtd_op_class_name(s->op_class));
	output_char(out, ',');
	if (has_op)
		output_text(out, hwtd_op_name(s->op));
	output_char(out, ',');
	write_flags(out, op_flags, N_OP_FLAGS, s->op_flags);
	csv_fields(writer, s);
	output_char(out, ',');
	if (name != NULL)
		output_text(out, name);
	output_char(out, ',');
	write_events(out, s, &stream, ' ', false, true);
	output_char(out, ',');
	if (sample != NULL)
		output_text(out, end_name(s));
	output_char(out, ',');
	csv_extras(out, s);
	output_char(out, ',');
	write_flags(out, sample_flags, N_SAMPLE_FLAGS, s->flags);
	output_char(out, ',');
	if (sample == NULL) {
		output_char(out, '"');
		out->quoting = true;
		row_write_detail(writer, out, row, batch);
		out->quoting = false;
		output_char(out, '"');
	}
	output_char(out, '\n');
}

/* Text. */

static void
say_latency(struct output *out, const struct hwtd_sample *s, uint32_t present,
    uint32_t saturated, const char *name, uint16_t value)
{
	if ((s->present & present) != 0)
		output_format(out, " %s %u%s", name, value,
		    (s->flags & saturated) != 0 ? "+" : "");
}

static void
say_address(struct output *out, const char *name, uint64_t address, int el,
    uint8_t security)
{
	output_format(out, " %s 0x%" PRIx64, name, address);
	if (el >= 0)
		output_format(out, " el%d", el);
	output_format(out, " %s", hwtd_security_name(security));
}

static void
say_operation(struct output *out, const struct hwtd_sample *s)
{
	if ((s->present & HWTD_SAMPLE_OP) == 0) {
		output_text(out, "no operation");
		return;
	}
	output_text(out, hwtd_op_class_name(s->op_class));
	if (s->op != HWTD_OP_BRANCH) {
		output_char(out, ' ');
		output_text(out, hwtd_op_name(s->op));
	}
	if (s->op_class == HWTD_OP_CLASS_MEMORY &&
	    (s->op_flags & HWTD_OPF_STORE) == 0)
		output_text(out, " load");
	if (s->op_flags != 0)
		output_char(out, ' ');
	write_flags(out, op_flags, N_OP_FLAGS, s->op_flags);
	if ((s->present & HWTD_SAMPLE_VECTOR) != 0)
		output_format(out, " vector %" PRIu32, s->vector_bits);
	if (s->op == HWTD_OP_RESERVED)
		output_format(out, " raw 0x%x", s->op_raw);
}

static void
say_source(struct output *out, const struct hwtd_sample *s,
    const struct row_stream *stream)
{
	const char *name = source_name(s, stream);

	if ((s->present & HWTD_SAMPLE_SOURCE) == 0 && name == NULL)
		return;
	output_text(out, " source");
	if (name != NULL)
		output_format(out, " %s", name);
	if ((s->present & HWTD_SAMPLE_SOURCE) != 0)
		output_format(out, " 0x%" PRIx64, s->source);
}

static void
say_addresses(struct output *out, const struct hwtd_sample *s)
{
	if ((s->present & HWTD_SAMPLE_TARGET) != 0)
		say_address(out, "target", s->target, s->target_el,
		    s->target_security);
	if ((s->present & HWTD_SAMPLE_PREV_TARGET) != 0)
		say_address(out, "previous-target", s->prev_target,
		    s->prev_target_el, s->prev_target_security);
	if ((s->present & HWTD_SAMPLE_VA) != 0) {
		output_format(out, " va 0x%" PRIx64, s->va);
		if (s->va_tag != 0)
			output_format(out, " tag 0x%x", s->va_tag);
	}
	if ((s->present & HWTD_SAMPLE_PA) != 0) {
		say_address(out, "pa", s->pa, -1, s->pa_security);
		if (s->pa_checked != 0 || s->pa_tag != 0)
			output_format(out, " %s 0x%x",
			    s->pa_checked != 0 ? "checked-tag" : "tag",
			    s->pa_tag);
	}
}

static void
say_sample(struct output *out, const struct hwtd_sample *s,
    const struct row_stream *stream)
{
	say_operation(out, s);
	if ((s->present & HWTD_SAMPLE_PC) != 0)
		output_format(out, " el%u %s", s->pc_el,
		    hwtd_security_name(s->pc_security));
	say_latency(out, s, HWTD_SAMPLE_LAT_TOTAL,
	    HWTD_SAMPLEF_TOTAL_SATURATED, "total", s->lat_total);
	say_latency(out, s, HWTD_SAMPLE_LAT_ISSUE,
	    HWTD_SAMPLEF_ISSUE_SATURATED, "issue", s->lat_issue);
	say_latency(out, s, HWTD_SAMPLE_LAT_XLAT, HWTD_SAMPLEF_XLAT_SATURATED,
	    "translation", s->lat_xlat);
	say_source(out, s, stream);
	say_addresses(out, s);
	if ((s->present & HWTD_SAMPLE_EVENTS) != 0) {
		output_text(out, " events ");
		if (s->events == 0)
			output_text(out, "none");
		write_events(out, s, stream, ',', false, true);
	}
	if ((s->present & HWTD_SAMPLE_CONTEXT_EL1) != 0)
		output_format(out, " context-el1 %" PRIu32, s->context_el1);
	if ((s->present & HWTD_SAMPLE_CONTEXT_EL2) != 0)
		output_format(out, " context-el2 %" PRIu32, s->context_el2);
	if ((s->present & HWTD_SAMPLE_COUNT) != 0)
		output_format(out, " count %" PRIu64, s->count);
	for (size_t i = 0; i < s->n_extras; i++)
		output_format(out, " packet 0x%x index %u payload 0x%" PRIx64,
		    s->extras[i].header, s->extras[i].index,
		    s->extras[i].payload);
	if (s->end == HWTD_SAMPLE_END_NONE)
		output_text(out, " no-end");
	if (s->flags != 0)
		output_char(out, ' ');
	write_flags(out, sample_flags, N_SAMPLE_FLAGS, s->flags);
}

static void
text_id(struct output *out, uint32_t id, int width)
{
	if (id == HWTD_NO_ID)
		output_format(out, "%*s  ", width, "-");
	else
		output_format(out, "%*" PRIu32 "  ", width, id);
}

static void
write_text(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch, const struct hwtd_sample *sample)
{
	const struct hwtd_exec_context *who = row_context(writer, row);
	const bool is_loss = writer->color && row->kind == HWTD_EV_GAP;
	const struct row_stream stream = row_stream(writer, row);
	struct output *out = writer->out;
	char text[40];

	if (is_loss)
		output_text(out, COLOR_LOSS);
	if ((row->flags & HWTD_EVF_TIME) != 0) {
		*format_seconds(text, row->time_ns) = '\0';
		output_format(out, "%17s%c  ", text,
		    (row->flags & HWTD_EVF_TIME_ESTIMATED) != 0 ? '~' : ' ');
	} else {
		output_text(out, "                -   ");
	}
	text_id(out, row->stream, 6);
	text_id(out, row_cpu(writer, row), 3);
	text_id(out, who != NULL ? who->pid : HWTD_NO_ID, 7);
	text_id(out, who != NULL ? who->tid : HWTD_NO_ID, 7);
	if ((row->flags & HWTD_EVF_IP) != 0)
		output_format(out, "0x%-16" PRIx64 "  ", row->ip);
	else
		output_format(out, "%-18s  ", "-");
	if (sample != NULL) {
		say_sample(out, sample, &stream);
	} else {
		output_text(out, hwtd_event_kind_name(row->kind));
		output_char(out, ' ');
		row_write_detail(writer, out, row, batch);
	}
	if (is_loss)
		output_text(out, COLOR_OFF);
	output_char(out, '\n');
}

void
sample_write_header(struct row_writer *writer)
{
	struct output *out = writer->out;

	if (writer->format == FORMAT_CSV) {
		output_text(out,
		    "kind,time_ns,time_estimated,stream,cpu,pid,tid,offset,"
		    "record_bytes,pc,target,op_class,op,op_flags");
		for (size_t i = 0; i < N_SAMPLE_FIELDS; i++) {
			output_char(out, ',');
			output_text(out, sample_fields[i].name);
		}
		output_text(out,
		    ",source_name,event_names,end,packets,flags,detail\n");
	} else if (writer->format == FORMAT_TEXT) {
		if (writer->color)
			output_text(out, COLOR_TITLE);
		output_text(out,
		    "             time   stream  cpu      pid      tid  pc"
		    "                  sample");
		if (writer->color)
			output_text(out, COLOR_OFF);
		output_char(out, '\n');
	}
}

bool
sample_write(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch)
{
	const struct hwtd_sample *sample = row_sample(row, batch);

	switch (writer->format) {
	case FORMAT_TEXT:
		write_text(writer, row, batch, sample);
		return (true);
	case FORMAT_CSV:
		write_csv(writer, row, batch, sample);
		return (true);
	default:
		return (false);
	}
}
