/*
 * Printing histograms of calls: a table, JSON lines, CSV.
 */
#include <stdio.h>

#include "cli/output/color.h"
#include "cli/print/hist_report.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

/* Rows of text, where nothing else was asked for. */
#define TOP_TEXT 40
#define TOP_BARS 10
#define READ_BUCKETS 256

/* Names and values. */

static const char *
untraced_name(uint32_t type)
{
	switch (type) {
	case HWTD_CALL_TYPE_SYSCALL:
		return ("[syscall]");
	case HWTD_CALL_TYPE_INTERRUPT:
		return ("[interrupt]");
	case HWTD_CALL_TYPE_EXCEPTION:
		return ("[exception]");
	default:
		return ("[untraced]");
	}
}

static const char *
last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

void
hist_write_name(struct output *out, const struct hwtd_histogram_row *row,
    bool to)
{
	const char *name = to ? row->to_function : row->function;
	const char *image = to ? row->to_image : row->image;
	const uint64_t address = to ? row->to_address : row->address;
	const uint32_t flags = to ? row->flags >> 2 : row->flags;
	const uint32_t untraced = to ? HWTD_HISTOGRAM_ROWF_TO_UNTRACED
				     : HWTD_HISTOGRAM_ROWF_UNTRACED;

	if (name != NULL) {
		output_escaped(out, name);
	} else if ((row->flags & untraced) != 0) {
		output_text(out, to ? "[untraced]" : untraced_name(row->type));
	} else if ((flags & HWTD_HISTOGRAM_ROWF_FILE_OFF) != 0) {
		output_escaped(out,
		    image != NULL ? last_name(image) : "[unknown]");
		output_char(out, '+');
		output_hex(out, address);
	} else if ((flags & HWTD_HISTOGRAM_ROWF_ADDRESS) != 0) {
		output_hex(out, address);
	} else {
		output_text(out, "[unknown]");
	}
}

/* A part of a thousandth is of no use to people. */
void
hist_format_value(const struct hist_report *report, char text[32],
    uint64_t value)
{
	static const struct {
		uint64_t from, unit;
		const char *name;
	} units[] = { { UINT64_C(10000000000), 1000000000, "s" },
		{ 10000000, 1000000, "ms" }, { 10000, 1000, "us" } };

	for (size_t i = 0; report->is_time && i < 3; i++) {
		if (value < units[i].from)
			continue;
		(void)snprintf(text, 32, "%llu.%02llu%s",
		    (unsigned long long)(value / units[i].unit),
		    (unsigned long long)(value % units[i].unit /
			(units[i].unit / 100)),
		    units[i].name);
		return;
	}
	(void)snprintf(text, 32, "%llu%s", (unsigned long long)value,
	    report->is_time ? "ns" : "");
}

static uint64_t
mean_of(const struct hwtd_histogram_row *row)
{
	return (row->n != 0 ? row->sum / row->n : 0);
}

/* Text. */

static void
write_count(struct output *out, uint64_t n, const char *what)
{
	if (n != 0)
		output_format(out, ", %llu %s", (unsigned long long)n, what);
}

/* What is in a distribution, and what is not. */
static void
write_counts(struct output *out, const struct hwtd_histogram_row *row)
{
	output_format(out, "%llu calls, %llu in full",
	    (unsigned long long)row->calls, (unsigned long long)row->n);
	write_count(out, row->unseen, "without begin or end");
	write_count(out, row->gapped, "with gaps");
	write_count(out, row->switched, "while other stacks ran");
	write_count(out, row->unknown, "of unknown value");
	write_count(out, row->inexact, "left out as inexact");
	write_count(out, row->interpolated, "interpolated");
	write_count(out, row->estimated, "estimated");
}

static void
write_notes(const struct hist_report *report)
{
	struct hwtd_histogram_info info = { .size = sizeof(info) };
	struct hwtd_histogram_row all;
	struct output *out = report->out;
	uint64_t gaps = 0;
	size_t n;

	(void)hwtd_histogram_info(report->histogram, &info);
	(void)hwtd_histogram_rows(report->histogram, HWTD_HISTOGRAM_ALL, &all,
	    sizeof(all), 1, &n);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += info.gaps[i];
	output_format(out, "# %s: ", hwtd_histogram_value_name(info.value));
	write_counts(out, &all);
	output_char(out, '\n');
	if (info.restarted + info.unfinished != 0)
		output_format(out,
		    "# begins without an end: %llu before another begin, %llu "
		    "before the end\n",
		    (unsigned long long)info.restarted,
		    (unsigned long long)info.unfinished);
	if (gaps != 0)
		output_format(out, "# gaps: %llu, %llu of %llu bytes\n",
		    (unsigned long long)gaps,
		    (unsigned long long)info.gap_bytes,
		    (unsigned long long)info.bytes);
	if (report->interrupted)
		output_text(out, "# interrupted: this is a part\n");
}

static void
text_header(const struct hist_report *report)
{
	struct output *out = report->out;
	const bool color = color_wanted(report->options, out);

	if (report->options->no_header)
		return;
	write_notes(report);
	if (report->bars)
		return;
	if (color)
		output_text(out, COLOR_TITLE);
	output_format(out, "%10s %10s %10s %10s %10s %10s %10s %10s %10s  %s",
	    "calls", "in full", "min", "mean", "p50", "p90", "p99", "p99.9",
	    "max", "function");
	if (color)
		output_text(out, COLOR_OFF);
	output_char(out, '\n');
}

static void
write_names(struct output *out, const struct hist_report *report,
    const struct hwtd_histogram_row *row)
{
	hist_write_name(out, row, false);
	if (report->value != HWTD_HISTOGRAM_BETWEEN)
		return;
	output_text(out, " -> ");
	hist_write_name(out, row, true);
}

static void
text_row(const struct hist_report *report,
    const struct hwtd_histogram_row *row, uint64_t no)
{
	const uint64_t values[] = { row->min, mean_of(row), row->p50, row->p90,
		row->p99, row->p999, row->max };
	static const char *const names[] = { "min", "mean", "p50", "p90",
		"p99", "p99.9", "max" };
	struct output *out = report->out;
	char text[32];

	if (!report->bars) {
		output_format(out, "%10llu %10llu",
		    (unsigned long long)row->calls,
		    (unsigned long long)row->n);
		for (size_t i = 0; i < 7; i++) {
			hist_format_value(report, text, values[i]);
			output_format(out, " %10s", row->n != 0 ? text : "-");
		}
		output_text(out, "  ");
		write_names(out, report, row);
		output_char(out, '\n');
		return;
	}
	output_char(out, '\n');
	write_names(out, report, row);
	output_text(out, "\n  ");
	write_counts(out, row);
	output_text(out, "\n");
	if (row->n == 0)
		return;
	output_char(out, ' ');
	for (size_t i = 0; i < 7; i++) {
		hist_format_value(report, text, values[i]);
		output_format(out, " %s %s%s", names[i], text,
		    i < 6 ? "," : "\n");
	}
	hist_write_bars(report, row, no);
}

/* JSON lines. */

static void
json_place(struct output *out, const struct hwtd_histogram_row *row, bool to)
{
	const char *name = to ? row->to_function : row->function;
	const char *image = to ? row->to_image : row->image;
	const uint64_t address = to ? row->to_address : row->address;
	const uint32_t flags = to ? row->flags >> 2 : row->flags;

	if (name != NULL)
		json_string(out, to ? "to_function" : "function", name);
	if (image != NULL)
		json_string(out, to ? "to_image" : "image", image);
	if ((flags & HWTD_HISTOGRAM_ROWF_FILE_OFF) != 0)
		json_hex(out, to ? "to_file_off" : "file_off", address);
	else if ((flags & HWTD_HISTOGRAM_ROWF_ADDRESS) != 0)
		json_hex(out, to ? "to_address" : "address", address);
}

static void
json_counts(struct output *out, const struct hwtd_histogram_row *row)
{
	json_u64(out, "calls", row->calls);
	json_u64(out, "n", row->n);
	json_u64(out, "unseen", row->unseen);
	json_u64(out, "gapped", row->gapped);
	json_u64(out, "switched", row->switched);
	json_u64(out, "unknown", row->unknown);
	json_u64(out, "inexact", row->inexact);
	json_u64(out, "estimated", row->estimated);
	json_u64(out, "interpolated", row->interpolated);
	if (row->n == 0)
		return;
	json_u64(out, "min", row->min);
	json_u64(out, "max", row->max);
	json_u64(out, "sum", row->sum);
	json_u64(out, "mean", mean_of(row));
	json_u64(out, "p50", row->p50);
	json_u64(out, "p90", row->p90);
	json_u64(out, "p99", row->p99);
	json_u64(out, "p999", row->p999);
}

static void
json_buckets(const struct hist_report *report, uint64_t no)
{
	struct hwtd_histogram_bucket buckets[READ_BUCKETS];
	struct output *out = report->out;
	uint64_t at = 0;
	size_t n = 0;

	json_key(out, "buckets");
	output_char(out, '[');
	while (hwtd_histogram_buckets(report->histogram, no, at, buckets,
		   sizeof(buckets[0]), READ_BUCKETS, &n) == HWTD_OK) {
		for (size_t i = 0; i < n; i++)
			output_format(out, "%s[%llu,%llu,%llu]",
			    at + i == 0 ? "" : ",",
			    (unsigned long long)buckets[i].first,
			    (unsigned long long)buckets[i].last,
			    (unsigned long long)buckets[i].n);
		at += n;
	}
	output_char(out, ']');
}

static void
json_row(const struct hist_report *report,
    const struct hwtd_histogram_row *row, uint64_t no)
{
	struct output *out = report->out;

	json_begin(out, no == HWTD_HISTOGRAM_ALL ? "hist_all" : "hist");
	json_name(out, "value", hwtd_histogram_value_name(report->value));
	json_place(out, row, false);
	json_place(out, row, true);
	if ((row->flags & HWTD_HISTOGRAM_ROWF_UNTRACED) != 0)
		json_name(out, "untraced", hwtd_call_type_name(row->type));
	json_counts(out, row);
	json_buckets(report, no);
	json_end(out);
}

static void
json_info(const struct hist_report *report)
{
	struct hwtd_histogram_info info = { .size = sizeof(info) };
	struct output *out = report->out;
	uint64_t gaps = 0;

	(void)hwtd_histogram_info(report->histogram, &info);
	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += info.gaps[i];
	json_begin(out, "hist_info");
	json_name(out, "value", hwtd_histogram_value_name(info.value));
	json_u64(out, "rows", info.n_rows);
	if (report->value == HWTD_HISTOGRAM_BETWEEN) {
		json_u64(out, "restarted", info.restarted);
		json_u64(out, "unfinished", info.unfinished);
	}
	json_u64(out, "bytes", info.bytes);
	json_u64(out, "insns", info.insns);
	json_u64(out, "limited", info.limited);
	json_u64(out, "gaps", gaps);
	json_u64(out, "gap_bytes", info.gap_bytes);
	json_u64(out, "file_gap_bytes", info.file_gap_bytes);
	json_bool(out, "interrupted", report->interrupted);
	json_end(out);
}

/* CSV. */

static void
csv_place(struct output *out, const struct hwtd_histogram_row *row, bool to)
{
	const char *name = to ? row->to_function : row->function;
	const char *image = to ? row->to_image : row->image;
	const uint32_t flags = to ? row->flags >> 2 : row->flags;

	if (to)
		output_char(out, ',');
	output_csv_string(out,
	    name != NULL ? name
		: !to && (row->flags & HWTD_HISTOGRAM_ROWF_UNTRACED) != 0
		? untraced_name(row->type)
		: "");
	output_char(out, ',');
	output_csv_string(out, image != NULL ? image : "");
	output_csv_hex(out,
	    (flags &
		(HWTD_HISTOGRAM_ROWF_FILE_OFF |
		    HWTD_HISTOGRAM_ROWF_ADDRESS)) != 0,
	    to ? row->to_address : row->address);
}

static void
csv_header(const struct hist_report *report)
{
	struct output *out = report->out;

	if (report->options->no_header)
		return;
	output_text(out, "function,image,place");
	if (report->value == HWTD_HISTOGRAM_BETWEEN)
		output_text(out, ",to_function,to_image,to_place");
	output_text(out,
	    report->options->buckets
		? ",first,last,n\n"
		: ",calls,n,unseen,gapped,switched,unknown,inexact,"
		  "estimated,interpolated,min,max,sum,mean,p50,p90,p99,"
		  "p999\n");
}

static void
csv_names(const struct hist_report *report,
    const struct hwtd_histogram_row *row)
{
	csv_place(report->out, row, false);
	if (report->value == HWTD_HISTOGRAM_BETWEEN)
		csv_place(report->out, row, true);
}

static void
csv_buckets(const struct hist_report *report,
    const struct hwtd_histogram_row *row, uint64_t no)
{
	struct hwtd_histogram_bucket buckets[READ_BUCKETS];
	uint64_t at = 0;
	size_t n = 0;

	while (hwtd_histogram_buckets(report->histogram, no, at, buckets,
		   sizeof(buckets[0]), READ_BUCKETS, &n) == HWTD_OK) {
		for (size_t i = 0; i < n; i++) {
			csv_names(report, row);
			output_csv_u64(report->out, true, buckets[i].first);
			output_csv_u64(report->out, true, buckets[i].last);
			output_csv_u64(report->out, true, buckets[i].n);
			output_char(report->out, '\n');
		}
		at += n;
	}
}

static void
csv_row(const struct hist_report *report, const struct hwtd_histogram_row *row,
    uint64_t no)
{
	const uint64_t counts[] = { row->calls, row->n, row->unseen,
		row->gapped, row->switched, row->unknown, row->inexact,
		row->estimated, row->interpolated };
	const uint64_t values[] = { row->min, row->max, row->sum, mean_of(row),
		row->p50, row->p90, row->p99, row->p999 };

	if (report->options->buckets) {
		csv_buckets(report, row, no);
		return;
	}
	csv_names(report, row);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		output_csv_u64(report->out, true, counts[i]);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		output_csv_u64(report->out, row->n != 0, values[i]);
	output_char(report->out, '\n');
}

/* All. */

static void
write_row(const struct hist_report *report,
    const struct hwtd_histogram_row *row, uint64_t no)
{
	switch (report->options->format) {
	case FORMAT_TEXT:
		text_row(report, row, no);
		break;
	case FORMAT_JSONL:
		json_row(report, row, no);
		break;
	case FORMAT_CSV:
		csv_row(report, row, no);
		break;
	}
}

/* Where neither lines before the rows nor behind them say so. */
static void
mark_interrupted(const struct hist_report *report)
{
	const struct options *o = report->options;
	size_t columns = o->buckets ? 6 : 20;

	if (!report->interrupted)
		return;
	if (o->format == FORMAT_TEXT && o->no_header)
		output_text(report->out, "\ninterrupted\n");
	if (o->format != FORMAT_CSV)
		return;
	if (report->value == HWTD_HISTOGRAM_BETWEEN)
		columns += 3;
	output_text(report->out, "interrupted");
	while (--columns > 0)
		output_char(report->out, ',');
	output_char(report->out, '\n');
}

int
hist_report(struct hist_report *report)
{
	const struct options *o = report->options;
	const uint32_t sort = o->has_sort ? o->sort : HWTD_HISTOGRAM_BY_SUM;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_histogram_row row;
	uint64_t left = o->top;
	size_t n;

	if (left == UINT64_MAX && o->format == FORMAT_TEXT)
		left = report->bars ? TOP_BARS : TOP_TEXT;
	else if (left == 0)
		left = UINT64_MAX;
	if (hwtd_histogram_sort(report->histogram, sort, &err) != HWTD_OK)
		return (say_library_error(o->operands[0], &err));
	if (o->format == FORMAT_TEXT)
		text_header(report);
	else if (o->format == FORMAT_CSV)
		csv_header(report);
	for (uint64_t no = 0; left > 0 && !output_stopped(report->out) &&
	     hwtd_histogram_rows(report->histogram, no, &row, sizeof(row), 1,
		 &n) == HWTD_OK;
	     no++, left--)
		write_row(report, &row, no);
	if (o->format == FORMAT_JSONL) {
		(void)hwtd_histogram_rows(report->histogram,
		    HWTD_HISTOGRAM_ALL, &row, sizeof(row), 1, &n);
		json_row(report, &row, HWTD_HISTOGRAM_ALL);
		json_info(report);
	}
	mark_interrupted(report);
	return (EXIT_DONE);
}
