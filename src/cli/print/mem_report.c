/*
 * Printing tables of samples: the rows and their numbers.
 */
#include "cli/print/mem_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output/color.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

/* Rows of text that fit a person. */
#define TOP_TEXT 40
#define READ_ROWS 64

/* Numbers of a row that are read as they are. */
static const struct {
	const char *name;
	size_t off;
} counts[] = {
#define COUNT(member)                                                         \
	{                                                                     \
#member, offsetof(struct hwtd_memory_row, member)             \
	}
	COUNT(samples),
	COUNT(weight),
	COUNT(loads),
	COUNT(stores),
	COUNT(atomics),
	COUNT(branches),
	COUNT(others),
	COUNT(taken),
	COUNT(mispredicted),
	COUNT(not_retired),
	COUNT(exceptions),
	COUNT(l1_accesses),
	COUNT(l1_misses),
	COUNT(l2_accesses),
	COUNT(l2_misses),
	COUNT(llc_accesses),
	COUNT(llc_misses),
	COUNT(tlb_accesses),
	COUNT(tlb_misses),
	COUNT(misaligned),
	COUNT(remote),
	COUNT(transfers),
	COUNT(modified),
#undef COUNT
};

#define N_COUNTS (sizeof(counts) / sizeof(counts[0]))

static const char *const latency_names[HWTD_MEMORY_LATENCIES] = {
	[HWTD_MEMORY_TOTAL] = "total",
	[HWTD_MEMORY_ISSUE] = "issue",
	[HWTD_MEMORY_TRANSLATION] = "translation",
	[HWTD_MEMORY_EXECUTION] = "execution",
};

/* Numbers in order, each with its name. */
typedef void number_fn(struct output *out, const char *name, uint64_t value);

static void
each_level(const struct hwtd_memory_row *row, struct output *out,
    number_fn *fn)
{
	for (uint32_t i = 0; i < HWTD_MEMORY_LEVELS; i++) {
		const char *level = hwtd_memory_level_name(i);
		char name[2][32];

		(void)snprintf(name[0], sizeof(name[0]), "at_%s", level);
		(void)snprintf(name[1], sizeof(name[1]), "missed_%s", level);
		for (size_t k = 0; k < 2; k++)
			for (char *at = name[k]; *at != '\0'; at++)
				if (*at == '-')
					*at = '_';
		fn(out, name[0], row->at_level[i]);
		fn(out, name[1], row->missed_level[i]);
	}
}

static void
each_latency(const struct hwtd_memory_row *row, struct output *out,
    number_fn *fn)
{
	for (size_t i = 0; i < HWTD_MEMORY_LATENCIES; i++) {
		const struct hwtd_memory_latency *l = &row->latency[i];
		const struct {
			const char *name;
			uint64_t value;
		} values[] = {
			{ "n", l->n },
			{ "sum", l->sum },
			{ "saturated", l->n_saturated },
			{ "saturated_sum", l->saturated_sum },
			{ "min", l->min },
			{ "max", l->max },
			{ "p50", l->p50 },
			{ "p90", l->p90 },
			{ "p99", l->p99 },
			{ "at_least", l->at_least },
			{ "longest", l->longest },
		};

		for (size_t k = 0; k < sizeof(values) / sizeof(values[0]);
		     k++) {
			char name[40];

			(void)snprintf(name, sizeof(name), "%s_%s",
			    latency_names[i], values[k].name);
			fn(out, name, values[k].value);
		}
	}
}

static void
each_number(const struct hwtd_memory_row *row, struct output *out,
    number_fn *fn)
{
	for (size_t i = 0; i < N_COUNTS; i++) {
		uint64_t value;

		memcpy(&value, (const char *)row + counts[i].off,
		    sizeof(value));
		fn(out, counts[i].name, value);
	}
	each_level(row, out, fn);
	each_latency(row, out, fn);
}

static void
csv_name(struct output *out, const char *name, uint64_t value)
{
	(void)value;
	output_char(out, ',');
	output_text(out, name);
}

static void
csv_value(struct output *out, const char *name, uint64_t value)
{
	(void)name;
	output_char(out, ',');
	output_u64(out, value);
}

/* Text. */

static void
text_mean(struct output *out, const struct hwtd_memory_latency *l)
{
	if (l->n == 0)
		output_format(out, "%8s", "-");
	else
		output_format(out, "%8.1f", (double)l->sum / (double)l->n);
}

static void
text_percentile(struct output *out, const struct hwtd_memory_latency *l,
    uint32_t value, uint32_t bit)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%" PRIu32 "%s", value,
	    (l->at_least >> bit & 1) != 0 ? "+" : "");
	output_format(out, "%7s", l->n + l->n_saturated == 0 ? "-" : text);
}

static void
text_max(struct output *out, const struct hwtd_memory_latency *l)
{
	text_percentile(out, l, l->longest, 3);
}

static void
text_header(struct mem_report *report)
{
	struct output *out = report->out;

	output_text(out,
	    " samples      %      weight   loads  stores    mean    p50    p90"
	    "    p99    max   issue    exec   trans  l1-miss llc-miss tlb-miss"
	    " transfers"
	    " remote mispred  ");
	output_text(out,
	    report->shared_only ? "line"
				: hwtd_memory_table_name(report->table));
	output_char(out, '\n');
}

static void
text_row(struct mem_report *report, const struct hwtd_memory_row *row,
    uint64_t used)
{
	const struct hwtd_memory_latency *l = row->latency;
	const struct hwtd_memory_latency *total = &l[HWTD_MEMORY_TOTAL];
	struct output *out = report->out;

	output_format(out, "%8" PRIu64 " %6.2f ", row->samples,
	    used == 0 ? 0.0 : 100.0 * (double)row->samples / (double)used);
	if (row->weight != 0)
		output_format(out, "%11" PRIu64, row->weight);
	else
		output_format(out, "%11s", "-");
	output_format(out, "%8" PRIu64 "%8" PRIu64, row->loads, row->stores);
	text_mean(out, total);
	text_percentile(out, total, total->p50, 0);
	text_percentile(out, total, total->p90, 1);
	text_percentile(out, total, total->p99, 2);
	text_max(out, total);
	text_mean(out, &l[HWTD_MEMORY_ISSUE]);
	text_mean(out, &l[HWTD_MEMORY_EXECUTION]);
	text_mean(out, &l[HWTD_MEMORY_TRANSLATION]);
	output_format(out,
	    "%9" PRIu64 "%9" PRIu64 "%9" PRIu64 "%10" PRIu64 "%7" PRIu64
	    "%8" PRIu64 "  ",
	    row->l1_misses, row->llc_misses, row->tlb_misses, row->transfers,
	    row->remote, row->mispredicted);
	mem_text_what(report, row);
	output_char(out, '\n');
}

/* JSON. */

static void
json_histogram(struct mem_report *report, uint64_t no)
{
	struct output *out = report->out;

	for (uint32_t kind = 0; kind < HWTD_MEMORY_LATENCIES; kind++) {
		struct hwtd_memory_bucket buckets[READ_ROWS];
		char name[40];
		uint64_t at = 0;
		size_t n = 0;

		(void)snprintf(name, sizeof(name), "%s_histogram",
		    latency_names[kind]);
		json_key(out, name);
		output_char(out, '[');
		while (hwtd_memory_histogram(report->memory, report->table, no,
			   kind, at, buckets, sizeof(buckets[0]), READ_ROWS,
			   &n) == HWTD_OK) {
			for (size_t i = 0; i < n; i++)
				output_format(out,
				    "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 "]",
				    at + i == 0 ? "" : ",", buckets[i].first,
				    buckets[i].end, buckets[i].n);
			at += n;
		}
		output_char(out, ']');
	}
}

static void
json_row(struct mem_report *report, const struct hwtd_memory_row *row,
    uint64_t no)
{
	struct output *out = report->out;

	json_begin(out, "mem");
	json_name(out, "by", hwtd_memory_table_name(report->table));
	mem_json_what(report, row);
	each_number(row, out, json_u64);
	if (report->options->histogram)
		json_histogram(report, no);
	json_end(out);
}

static void
csv_row(struct mem_report *report, const struct hwtd_memory_row *row)
{
	mem_csv_what(report, row);
	each_number(row, report->out, csv_value);
	output_char(report->out, '\n');
}

/* All. */

static void
write_header(struct mem_report *report, const struct hwtd_memory_info *info)
{
	static const struct hwtd_memory_row none;

	switch (report->options->format) {
	case FORMAT_TEXT:
		if (report->options->no_header)
			break;
		mem_text_notes(report, info);
		if (color_wanted(report->options, report->out))
			output_text(report->out, COLOR_TITLE);
		text_header(report);
		if (color_wanted(report->options, report->out))
			output_text(report->out, COLOR_OFF);
		break;
	case FORMAT_JSONL:
		mem_json_notes(report, info);
		break;
	case FORMAT_CSV:
		if (report->options->no_header)
			break;
		if (report->accesses) {
			mem_csv_accesses_header(report);
			break;
		}
		mem_csv_what_header(report);
		each_number(&none, report->out, csv_name);
		output_char(report->out, '\n');
		break;
	}
}

static int
write_row(struct mem_report *report, const struct hwtd_memory_info *info,
    const struct hwtd_memory_row *row, uint64_t no)
{
	switch (report->options->format) {
	case FORMAT_TEXT:
		text_row(report, row, info->used);
		break;
	case FORMAT_JSONL:
		json_row(report, row, no);
		break;
	case FORMAT_CSV:
		/* One table has one kind of rows. */
		if (!report->accesses)
			csv_row(report, row);
		break;
	}
	return (report->accesses ? mem_accesses(report, no, row) : EXIT_DONE);
}

static bool
is_wanted(const struct mem_report *report, const struct hwtd_memory_row *row)
{
	return (!report->shared_only ||
	    row->sharing != HWTD_MEMORY_SHARING_NONE);
}

int
mem_report(struct mem_report *report)
{
	struct hwtd_memory_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_memory_row row;
	uint64_t left = report->options->top;
	int code = EXIT_DONE;
	size_t n;

	if (left == UINT64_MAX && report->options->format == FORMAT_TEXT)
		left = TOP_TEXT;
	else if (left == 0)
		left = UINT64_MAX;
	(void)hwtd_memory_info(report->memory, &info);
	if (hwtd_memory_sort(report->memory, report->table, report->sort,
		&err) != HWTD_OK)
		return (say_library_error(report->options->operands[0], &err));
	write_header(report, &info);
	for (uint64_t no = 0;
	     code == EXIT_DONE && left > 0 && !output_stopped(report->out) &&
	     hwtd_memory_read(report->memory, report->table, no, &row,
		 sizeof(row), 1, &n) == HWTD_OK;
	     no++) {
		if (!is_wanted(report, &row))
			continue;
		code = write_row(report, &info, &row, no);
		left--;
	}
	return (code);
}
