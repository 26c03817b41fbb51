/*
 * hwtdecode info: what a trace holds, without decoding it.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/output/color.h"
#include "cli/print/coresight_report.h"
#include "cli/print/damage_writer.h"
#include "cli/print/image_report.h"
#include "cli/input/input.h"
#include "cli/output/interrupt.h"
#include "cli/output/json_line.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"

/* Of more damaged places hwtd_trace_damage() lists no others. */
#define DAMAGES_LISTED 65536

struct report {
	const struct input *input;
	const struct options *options;
	struct output *out;
	bool color;
	/* Filled by --time-span only. */
	struct hwtd_stats stats;
	uint64_t records[HWTD_REC_TYPES];
};

static const char *
extent_start_name(uint32_t why)
{
	switch (why) {
	case HWTD_EXTENT_NEW:
		return ("new");
	case HWTD_EXTENT_AFTER_LOSS:
		return ("after-loss");
	case HWTD_EXTENT_AFTER_DAMAGE:
		return ("after-damage");
	default:
		return ("unknown");
	}
}

static size_t
count_extents(const struct hwtd_trace *trace, uint32_t stream)
{
	struct hwtd_extent extent = { .size = sizeof(extent) };
	size_t n = 0;

	while (hwtd_trace_extent(trace, stream, n, &extent) == HWTD_OK)
		n++;
	return (n);
}

static void
count_records(struct report *report)
{
	for (uint64_t i = 0; i < report->input->info.n_records; i++) {
		struct hwtd_record record = { .size = sizeof(record) };

		if (hwtd_trace_record(report->input->trace, i, &record) !=
		    HWTD_OK)
			break;
		report->records[record.type < HWTD_REC_TYPES
			? record.type
			: HWTD_REC_UNKNOWN]++;
	}
}

static void
title(struct report *report, const char *text)
{
	output_format(report->out, "%s%s%s", report->color ? COLOR_TITLE : "",
	    text, report->color ? COLOR_OFF : "");
}

static void
text_id(struct output *out, const char *name, uint32_t id)
{
	if (id != HWTD_NO_ID)
		output_format(out, "  %s %" PRIu32, name, id);
}

static void
text_pt(struct output *out, const struct hwtd_pt_config *pt)
{
	output_text(out, "  recorded  ");
	if (pt->cpu_family != 0)
		output_format(out, " cpu %u/0x%x/%u", pt->cpu_family,
		    pt->cpu_model, pt->cpu_stepping);
	else
		output_text(out, " cpu unknown");
	output_format(out, "  mtc-freq %u", pt->mtc_freq);
	if (pt->nom_freq != 0)
		output_format(out, "  nom-freq %u", pt->nom_freq);
	if (pt->cpuid_15h_eax != 0)
		output_format(out, "  cpuid-15h %" PRIu32 "/%" PRIu32,
		    pt->cpuid_15h_eax, pt->cpuid_15h_ebx);
	output_char(out, '\n');
	for (size_t i = 0; i < HWTD_PT_MAX_FILTERS; i++) {
		const struct hwtd_pt_filter *filter = &pt->filters[i];

		if (filter->mode == HWTD_PT_FILTER_OFF)
			continue;
		output_format(out,
		    "  filter     %s 0x%" PRIx64 "-0x%" PRIx64 "\n",
		    filter->mode == HWTD_PT_FILTER_STOP ? "stop" : "trace",
		    filter->start, filter->end);
	}
}

static void
text_spe(struct output *out, const struct hwtd_spe_config *spe)
{
	const char *name = hwtd_spe_cpu_name(spe->midr);

	output_text(out, "  recorded  ");
	if (spe->midr != 0)
		output_format(out, " cpu %s (MIDR 0x%08" PRIx32 ")",
		    name != NULL ? name : "unknown", spe->midr);
	else
		output_text(out, " cpu unknown");
	if (spe->version != 0)
		output_format(out, "  SPE 1.%" PRIu32, spe->version - 1);
	if (spe->counter_bits != 0)
		output_format(out, "  counters of %" PRIu32 " bits",
		    spe->counter_bits);
	if (spe->owner != HWTD_SPE_OWNER_UNKNOWN)
		output_format(out, "  contexts are of a %s",
		    hwtd_spe_owner_name(spe->owner));
	if (spe->interval != 0)
		output_format(out, "  every %" PRIu64 " operations",
		    spe->interval);
	output_char(out, '\n');
}

static void
text_clock(struct output *out, const struct hwtd_stream_desc *stream)
{
	const struct hwtd_clock *clock = &stream->clock;

	if (clock->counts_per == 0) {
		output_text(out, "  clock      none: the rows have no time\n");
		return;
	}
	output_format(out,
	    "  clock      %" PRIu64 " counts in %" PRIu64 " ns, count %" PRIu64
	    " at %" PRIu64 " ns%s\n",
	    clock->counts_per, clock->ns_per, clock->base_count,
	    clock->base_ns,
	    (stream->flags & HWTD_STREAMF_CLOCK_DERIVED) != 0
		? " (derived from the nominal frequency)"
		: "");
	if (clock->wrap_mask != 0)
		output_format(out,
		    "  counter    bits 0x%" PRIx64 ", counts from %" PRIu64
		    " on\n",
		    clock->wrap_mask, clock->wrap_base);
}

static void
text_stream(struct report *report, uint32_t id)
{
	struct output *out = report->out;
	const struct hwtd_trace *trace = report->input->trace;
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };
	struct hwtd_extent extent = { .size = sizeof(extent) };

	if (hwtd_trace_stream(trace, id, &stream) != HWTD_OK)
		return;
	output_char(out, '\n');
	title(report, "stream");
	output_format(out, " %" PRIu32 "  %s", id, tech_name(stream.tech));
	text_id(out, "cpu", stream.cpu);
	text_id(out, "pid", stream.pid);
	text_id(out, "tid", stream.tid);
	if (stream.name != NULL && stream.name[0] != '\0') {
		output_text(out, "  ");
		output_escaped(out, stream.name);
	}
	output_format(out, "\n  bytes      %" PRIu64 "\n", stream.n_bytes);
	if (stream.pt != NULL)
		text_pt(out, stream.pt);
	if (stream.spe != NULL)
		text_spe(out, stream.spe);
	coresight_text(out, report->input, id, &stream);
	text_clock(out, &stream);
	for (size_t i = 0; hwtd_trace_extent(trace, id, i, &extent) == HWTD_OK;
	     i++)
		output_format(out,
		    "  extent     0x%" PRIx64 "-0x%" PRIx64 "  %s\n",
		    extent.start, extent.end, extent_start_name(extent.why));
}

static void
text_rest(struct report *report)
{
	struct output *out = report->out;
	const struct hwtd_trace *trace = report->input->trace;
	const struct hwtd_trace_info *info = &report->input->info;

	for (uint32_t i = 0; i < info->n_sections; i++) {
		struct hwtd_section section = { .size = sizeof(section) };

		if (hwtd_trace_section(trace, i, &section) != HWTD_OK)
			continue;
		if (i == 0) {
			output_char(out, '\n');
			title(report, "sections");
			output_char(out, '\n');
		}
		output_format(out,
		    "  %-4" PRIu32 " 0x%016" PRIx64 "-0x%016" PRIx64
		    "  offset 0x%" PRIx64 "  ",
		    i, section.address, section.address + section.length,
		    section.file_off);
		output_escaped(out,
		    section.path != NULL ? section.path : "(no name)");
		output_char(out, '\n');
	}
	if (info->n_images > 0) {
		output_char(out, '\n');
		title(report, "images");
		output_char(out, '\n');
		image_report_text(out, report->input);
	}
	if (info->n_records > 0) {
		output_char(out, '\n');
		title(report, "records");
		output_char(out, '\n');
		for (uint32_t i = 0; i < HWTD_REC_TYPES; i++) {
			if (report->records[i] > 0)
				output_format(out, "  %-14s %" PRIu64 "\n",
				    hwtd_record_type_name(i),
				    report->records[i]);
		}
	}
	for (size_t i = 0;; i++) {
		struct hwtd_damage damage = { .size = sizeof(damage) };

		if (hwtd_trace_damage(trace, i, &damage) != HWTD_OK)
			break;
		if (i == 0) {
			output_char(out, '\n');
			title(report, "damage");
			output_char(out, '\n');
		}
		output_text(out, "  ");
		damage_bytes(out, damage.file_off, damage.file_bytes,
		    (damage.flags & HWTD_DAMAGEF_EARLIER_FILE) != 0);
		output_text(out, "  ");
		if (damage.stream != HWTD_NO_ID)
			output_format(out,
			    "stream %" PRIu32 " bytes 0x%" PRIx64 "-0x%" PRIx64
			    "  ",
			    damage.stream, damage.first, damage.end);
		output_escaped(out, damage.text);
		output_char(out, '\n');
	}
}

/* Texts of a trace, as they are called in a report and in JSON. */
static const struct {
	const char *title;
	const char *key;
} texts[] = {
	{ "origin", "origin" },
	{ "abi", "abi" },
	{ "cpu", "cpu_model" },
	{ "time of", "clock" },
	{ "capture", "capture" },
};

#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

static const char *
info_text(const struct hwtd_trace_info *info, size_t i)
{
	const char *const values[N_TEXTS] = { info->origin, info->abi,
		info->cpu_model, info->clock, info->capture };

	return (values[i]);
}

/* A text may have several lines. */
static void
write_lines(struct output *out, const char *title, const char *text)
{
	while (*text != '\0') {
		const size_t n = strcspn(text, "\n");

		output_format(out, "\n%-10s ", title);
		output_escaped_bytes(out, text, n);
		text += n;
		text += *text == '\n';
	}
}

static void
write_text(struct report *report)
{
	struct output *out = report->out;
	const struct hwtd_trace_info *info = &report->input->info;

	output_text(out, "file       ");
	output_escaped(out, report->input->name);
	output_text(out, "\nformat     ");
	output_escaped(out, info->format);
	for (size_t i = 0; i < N_TEXTS; i++) {
		const char *text = info_text(info, i);

		if (text != NULL)
			write_lines(out, texts[i].title, text);
	}
	output_format(out,
	    "\nstreams    %" PRIu32 "\nbytes      %" PRIu64
	    "\nimages     %" PRIu32 "\nsections   %" PRIu32
	    "\nrecords    %" PRIu64 "\ndamage     ",
	    info->n_streams, info->n_bytes, info->n_images, info->n_sections,
	    info->n_records);
	if (info->n_damages == 0)
		output_text(out, "none known\n");
	else
		output_format(out, "%" PRIu32 " place%s%s\n", info->n_damages,
		    info->n_damages == 1 ? "" : "s",
		    info->n_damages == DAMAGES_LISTED ? " or more" : "");
	if (report->options->time_span) {
		if (report->stats.has_time != 0) {
			output_text(out, "time       ");
			output_seconds(out, report->stats.first_ns);
			output_text(out, " s to ");
			output_seconds(out, report->stats.last_ns);
			output_text(out, " s\n");
		} else {
			output_text(out,
			    "time       not known: no clock, see --clock\n");
		}
	}
	for (uint32_t i = 0; i < info->n_streams; i++)
		text_stream(report, i);
	text_rest(report);
}

static void
json_pt(struct output *out, const struct hwtd_pt_config *pt)
{
	bool any = false;

	if (pt->cpu_family != 0) {
		json_u64(out, "cpu_family", pt->cpu_family);
		json_u64(out, "cpu_model", pt->cpu_model);
		json_u64(out, "cpu_stepping", pt->cpu_stepping);
	}
	json_u64(out, "mtc_freq", pt->mtc_freq);
	if (pt->nom_freq != 0)
		json_u64(out, "nom_freq", pt->nom_freq);
	if (pt->cpuid_15h_eax != 0) {
		json_u64(out, "cpuid_15h_eax", pt->cpuid_15h_eax);
		json_u64(out, "cpuid_15h_ebx", pt->cpuid_15h_ebx);
	}
	json_key(out, "filters");
	output_char(out, '[');
	for (size_t i = 0; i < HWTD_PT_MAX_FILTERS; i++) {
		const struct hwtd_pt_filter *filter = &pt->filters[i];

		if (filter->mode == HWTD_PT_FILTER_OFF)
			continue;
		output_format(out,
		    "%s{\"mode\":\"%s\",\"start\":\"0x%" PRIx64
		    "\",\"last\":\"0x%" PRIx64 "\"}",
		    any ? "," : "",
		    filter->mode == HWTD_PT_FILTER_STOP ? "stop" : "trace",
		    filter->start, filter->end);
		any = true;
	}
	output_char(out, ']');
}

static void
json_spe(struct output *out, const struct hwtd_spe_config *spe)
{
	const char *name = hwtd_spe_cpu_name(spe->midr);

	if (spe->midr != 0)
		json_hex(out, "midr", spe->midr);
	if (name != NULL)
		json_name(out, "cpu_name", name);
	if (spe->version != 0)
		json_u64(out, "pmsver", spe->version);
	if (spe->counter_bits != 0)
		json_u64(out, "counter_bits", spe->counter_bits);
	if (spe->owner != HWTD_SPE_OWNER_UNKNOWN)
		json_name(out, "context_owner",
		    hwtd_spe_owner_name(spe->owner));
	if (spe->interval != 0)
		json_u64(out, "interval", spe->interval);
}

static void
json_stream(struct report *report, uint32_t id)
{
	struct output *out = report->out;
	struct hwtd_stream_desc stream = { .size = sizeof(stream) };
	struct hwtd_extent extent = { .size = sizeof(extent) };

	if (hwtd_trace_stream(report->input->trace, id, &stream) != HWTD_OK)
		return;
	json_begin(out, "stream");
	json_u64(out, "stream", id);
	json_name(out, "tech", tech_name(stream.tech));
	if (stream.name != NULL && stream.name[0] != '\0')
		json_string(out, "name", stream.name);
	if (stream.cpu != HWTD_NO_ID)
		json_u64(out, "cpu", stream.cpu);
	if (stream.pid != HWTD_NO_ID)
		json_u64(out, "pid", stream.pid);
	if (stream.tid != HWTD_NO_ID)
		json_u64(out, "tid", stream.tid);
	json_u64(out, "bytes", stream.n_bytes);
	if (stream.clock.counts_per != 0) {
		json_u64(out, "clock_counts", stream.clock.counts_per);
		json_u64(out, "clock_ns", stream.clock.ns_per);
		json_u64(out, "clock_base_count", stream.clock.base_count);
		json_u64(out, "clock_base_ns", stream.clock.base_ns);
		if (stream.clock.wrap_mask != 0) {
			json_u64(out, "clock_wrap_base",
			    stream.clock.wrap_base);
			json_u64(out, "clock_wrap_mask",
			    stream.clock.wrap_mask);
		}
		json_bool(out, "clock_derived",
		    (stream.flags & HWTD_STREAMF_CLOCK_DERIVED) != 0);
	}
	if (stream.pt != NULL)
		json_pt(out, stream.pt);
	if (stream.spe != NULL)
		json_spe(out, stream.spe);
	coresight_json(out, report->input, id, &stream);
	json_key(out, "extents");
	output_char(out, '[');
	for (size_t i = 0; hwtd_trace_extent(report->input->trace, id, i,
			       &extent) == HWTD_OK;
	     i++)
		output_format(out,
		    "%s{\"start\":%" PRIu64 ",\"end\":%" PRIu64
		    ",\"why\":\"%s\"}",
		    i > 0 ? "," : "", extent.start, extent.end,
		    extent_start_name(extent.why));
	output_char(out, ']');
	json_end(out);
}

static void
write_json(struct report *report)
{
	struct output *out = report->out;
	const struct hwtd_trace *trace = report->input->trace;
	const struct hwtd_trace_info *info = &report->input->info;

	json_begin(out, "trace");
	json_string(out, "file", report->input->name);
	json_string(out, "format", info->format);
	for (size_t i = 0; i < N_TEXTS; i++) {
		const char *text = info_text(info, i);

		if (text != NULL && text[0] != '\0')
			json_string(out, texts[i].key, text);
	}
	json_u64(out, "streams", info->n_streams);
	json_u64(out, "bytes", info->n_bytes);
	json_u64(out, "images", info->n_images);
	json_u64(out, "sections", info->n_sections);
	json_u64(out, "records", info->n_records);
	json_u64(out, "damages", info->n_damages);
	if (report->options->time_span && report->stats.has_time != 0) {
		json_u64(out, "first_ns", report->stats.first_ns);
		json_u64(out, "last_ns", report->stats.last_ns);
	}
	json_end(out);
	for (uint32_t i = 0; i < info->n_streams; i++)
		json_stream(report, i);
	for (uint32_t i = 0; i < info->n_sections; i++) {
		struct hwtd_section section = { .size = sizeof(section) };

		if (hwtd_trace_section(trace, i, &section) != HWTD_OK)
			continue;
		json_begin(out, "section");
		json_u64(out, "section", i);
		json_u64(out, "image", section.image);
		json_u64(out, "generation", section.generation);
		json_hex(out, "address", section.address);
		json_u64(out, "length", section.length);
		json_u64(out, "file_offset", section.file_off);
		if (section.path != NULL)
			json_string(out, "path", section.path);
		json_end(out);
	}
	image_report_json(out, report->input);
	for (uint32_t i = 0; i < HWTD_REC_TYPES; i++) {
		if (report->records[i] == 0)
			continue;
		json_begin(out, "records");
		json_name(out, "record_type", hwtd_record_type_name(i));
		json_u64(out, "count", report->records[i]);
		json_end(out);
	}
	for (size_t i = 0;; i++) {
		struct hwtd_damage damage = { .size = sizeof(damage) };

		if (hwtd_trace_damage(trace, i, &damage) != HWTD_OK)
			break;
		json_damage(out, &damage);
	}
}

static void
csv_id(struct output *out, uint32_t id)
{
	output_char(out, ',');
	if (id != HWTD_NO_ID)
		output_u64(out, id);
}

static void
write_csv(struct report *report)
{
	struct output *out = report->out;
	const struct hwtd_trace *trace = report->input->trace;

	output_text(out, "stream,tech,name,cpu,pid,tid,bytes,extents\n");
	for (uint32_t i = 0; i < report->input->info.n_streams; i++) {
		struct hwtd_stream_desc stream = { .size = sizeof(stream) };

		if (hwtd_trace_stream(trace, i, &stream) != HWTD_OK)
			continue;
		output_u64(out, i);
		output_char(out, ',');
		output_text(out, tech_name(stream.tech));
		output_char(out, ',');
		if (stream.name != NULL)
			output_csv_string(out, stream.name);
		csv_id(out, stream.cpu);
		csv_id(out, stream.pid);
		csv_id(out, stream.tid);
		output_char(out, ',');
		output_u64(out, stream.n_bytes);
		output_char(out, ',');
		output_u64(out, count_extents(trace, i));
		output_char(out, '\n');
	}
}

/* Decode for nothing but the times. */
static int
find_time_span(struct report *report)
{
	struct hwtd_events_options how;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_events *events = NULL;
	struct hwtd_event rows[512];
	struct progress progress;
	int code = EXIT_DONE;
	int rc;

	input_events_options(report->options, &how);
	how.kinds = 1u << HWTD_EV_GAP;
	progress_start(&progress, report->options->progress,
	    report->input->info.n_bytes);
	rc = hwtd_events_open(report->input->trace, &how, &events, &err);
	while (rc == HWTD_OK && !interrupt_seen()) {
		struct hwtd_batch batch = {
			.size = sizeof(batch),
			.events = rows,
			.stride = sizeof(rows[0]),
			.cap = sizeof(rows) / sizeof(rows[0]),
		};

		rc = hwtd_events_read(events, &batch, &err);
		if (hwtd_events_stats(events, &report->stats) == HWTD_OK &&
		    progress_due(&progress))
			progress_show(&progress, report->stats.bytes);
	}
	progress_end(&progress);
	if (rc == HWTD_OK)
		code = EXIT_INTERRUPTED;
	else if (rc != HWTD_END)
		code = input_say_read_error(report->input, report->options,
		    &err);
	hwtd_events_close(events);
	return (code);
}

/* Without decoding, damage is the only loss that is known. */
static void
stats_of_damage(struct report *report)
{
	report->stats.bytes = report->input->info.n_bytes;
	for (size_t i = 0;; i++) {
		struct hwtd_damage damage = { .size = sizeof(damage) };

		if (hwtd_trace_damage(report->input->trace, i, &damage) !=
		    HWTD_OK)
			break;
		report->stats.gaps[HWTD_GAP_FILE_DAMAGED]++;
		report->stats.file_gap_bytes += damage.file_bytes;
		if (damage.stream != HWTD_NO_ID)
			report->stats.gap_bytes += damage.end - damage.first;
	}
}

int
cmd_info(const struct options *options)
{
	struct input input;
	struct output out;
	struct report report = {
		.input = &input,
		.options = options,
		.out = &out,
		.stats = { .size = sizeof(report.stats) },
	};
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	count_records(&report);
	if (options->time_span)
		code = find_time_span(&report);
	else
		stats_of_damage(&report);
	if (code == EXIT_DONE && !output_open(&out, options->output))
		code = EXIT_FAILED;
	else if (code == EXIT_DONE) {
		report.color = color_wanted(options, &out);
		if (options->format == FORMAT_JSONL)
			write_json(&report);
		else if (options->format == FORMAT_CSV)
			write_csv(&report);
		else
			write_text(&report);
		if (!output_close(&out, true))
			code = EXIT_FAILED;
		else
			code = loss_exit_code(input.name, &report.stats,
			    options->max_loss);
	}
	input_close(&input);
	return (code);
}
