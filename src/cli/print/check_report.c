/*
 * Printing what hwtdecode check found: as text for people, as JSON lines and
 * as CSV of stream, key and value.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/print/check_report.h"
#include "cli/output/color.h"
#include "cli/print/coresight_report.h"
#include "cli/print/damage_writer.h"
#include "cli/output/json_line.h"
#include "cli/output/loss.h"

/* Places of missing code that text lists. */
#define TEXT_RUNS 20

static const char *
paint(const struct check_report *report, const char *color)
{
	return (report->color ? color : "");
}

void
check_report_begin(struct check_report *report)
{
	if (report->format == FORMAT_CSV)
		output_text(report->out, "stream,key,value\n");
}

static void
text_gap(struct check_report *report, uint32_t stream,
    const struct hwtd_gap *gap)
{
	struct output *out = report->out;

	if (!report->listed_gaps)
		output_format(out, "%sgaps%s\n", paint(report, COLOR_TITLE),
		    paint(report, COLOR_OFF));
	output_format(out,
	    "  stream %" PRIu32 "  0x%" PRIx64 "-0x%" PRIx64 "  %" PRIu64
	    " bytes  %s",
	    stream, gap->first, gap->end, gap->end - gap->first,
	    hwtd_gap_reason_name(gap->reason));
	if ((gap->flags & HWTD_GAPF_ADDR) != 0)
		output_format(out, "  address 0x%" PRIx64, gap->addr);
	if ((gap->flags & HWTD_GAPF_IP_BEFORE) != 0)
		output_format(out, "  after 0x%" PRIx64, gap->ip_before);
	if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0)
		output_format(out, "  goes on at 0x%" PRIx64, gap->ip_after);
	if (gap->text[0] != '\0') {
		output_text(out, "  ");
		output_escaped(out, gap->text);
	}
	output_char(out, '\n');
}

void
check_report_gap(struct check_report *report, uint32_t stream,
    const struct hwtd_event *row, const struct hwtd_gap *gap)
{
	struct output *out = report->out;

	switch (report->format) {
	case FORMAT_TEXT:
		text_gap(report, stream, gap);
		break;
	case FORMAT_JSONL:
		json_begin(out, "gap");
		json_u64(out, "stream", stream);
		json_name(out, "reason", hwtd_gap_reason_name(gap->reason));
		json_u64(out, "first", gap->first);
		json_u64(out, "end", gap->end);
		if ((row->flags & HWTD_EVF_TIME) != 0)
			json_u64(out, "time_ns", row->time_ns);
		if ((gap->flags & HWTD_GAPF_ADDR) != 0)
			json_hex(out, "address", gap->addr);
		if ((gap->flags & HWTD_GAPF_IP_BEFORE) != 0)
			json_hex(out, "ip_before", gap->ip_before);
		if ((gap->flags & HWTD_GAPF_IP_AFTER) != 0)
			json_hex(out, "ip_after", gap->ip_after);
		if (gap->text[0] != '\0')
			json_string(out, "text", gap->text);
		json_end(out);
		break;
	case FORMAT_CSV:
		output_format(out,
		    "%" PRIu32 ",gap,%s 0x%" PRIx64 "-0x%" PRIx64 "\n", stream,
		    hwtd_gap_reason_name(gap->reason), gap->first, gap->end);
		break;
	}
	report->listed_gaps = true;
}

static void
text_stats(struct check_report *report, const struct hwtd_stats *stats)
{
	struct output *out = report->out;
	const double lost = loss_percent(stats);

	output_format(out,
	    "  bytes         %14" PRIu64 "\n"
	    "  decoded       %14" PRIu64 "  %8.4f%%\n"
	    "  %slost          %14" PRIu64 "  %8.4f%%%s\n"
	    "  instructions  %14" PRIu64 "\n"
	    "  blocks        %14" PRIu64 "\n",
	    stats->bytes, stats->bytes - stats->gap_bytes, 100 - lost,
	    stats->gap_bytes > 0 ? paint(report, COLOR_LOSS) : "",
	    stats->gap_bytes, lost,
	    stats->gap_bytes > 0 ? paint(report, COLOR_OFF) : "", stats->insns,
	    stats->blocks);
	if (stats->kinds[HWTD_EV_SAMPLE] != 0)
		output_format(out, "  samples       %14" PRIu64 "\n",
		    stats->kinds[HWTD_EV_SAMPLE]);
	if (stats->has_time != 0) {
		output_text(out, "  time          ");
		output_seconds(out, stats->first_ns);
		output_text(out, " s to ");
		output_seconds(out, stats->last_ns);
		output_text(out, " s\n");
	} else {
		output_text(out, "  time          not known\n");
	}
	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++) {
		if (stats->gaps[i] == 0 && stats->gap_bytes_by_reason[i] == 0)
			continue;
		output_format(out,
		    "  gap %-18s %6" PRIu64 " %-4s %14" PRIu64 " bytes\n",
		    hwtd_gap_reason_name(i), stats->gaps[i],
		    stats->gaps[i] == 1 ? "gap" : "gaps",
		    stats->gap_bytes_by_reason[i]);
	}
}

/* Pages of missing code that adjoin: [start, start + bytes). */
struct missing_run {
	uint64_t start;
	uint64_t bytes;
	uint64_t gaps;
	uint64_t known;
	uint64_t lowest;
};

static int
by_gaps(const void *a, const void *b)
{
	const struct missing_run *x = a;
	const struct missing_run *y = b;

	if (x->gaps != y->gaps)
		return (x->gaps < y->gaps ? 1 : -1);
	return ((x->start > y->start) - (x->start < y->start));
}

/* Runs with most gaps first; NULL when there are none or no memory. */
static struct missing_run *
find_runs(const struct account *account, size_t *n_out)
{
	struct missing_run *runs = calloc(account->n_pages + 1, sizeof(*runs));
	size_t n = 0;

	*n_out = 0;
	if (runs == NULL)
		return (NULL);
	for (size_t i = 0; i < account->n_pages; i++) {
		const struct missing_page *page = &account->pages[i];

		if (n == 0 ||
		    runs[n - 1].start + runs[n - 1].bytes != page->page)
			runs[n++] = (struct missing_run){
				.start = page->page,
				.lowest = page->lowest,
			};
		runs[n - 1].bytes += PAGE_BYTES;
		runs[n - 1].gaps += page->gaps;
		runs[n - 1].known += page->known;
	}
	qsort(runs, n, sizeof(*runs), by_gaps);
	*n_out = n;
	return (runs);
}

static void
text_missing(struct check_report *report, const struct account *account)
{
	struct output *out = report->out;
	size_t n = 0;
	struct missing_run *runs = find_runs(account, &n);

	if (n > 0)
		output_format(out, "\n%smissing code%s\n",
		    paint(report, COLOR_TITLE), paint(report, COLOR_OFF));
	for (size_t i = 0; i < n && i < TEXT_RUNS; i++) {
		const struct missing_run *run = &runs[i];

		output_format(out,
		    "  0x%016" PRIx64 "-0x%016" PRIx64 "  %6" PRIu64
		    " %-4s  lowest 0x%" PRIx64,
		    run->start, run->start + run->bytes, run->gaps,
		    run->gaps == 1 ? "gap" : "gaps", run->lowest);
		/* Its file is to be found, and that it is the right one. */
		if (run->known < run->gaps)
			output_format(out, "  --image FILE@0x%" PRIx64,
			    run->start);
		output_char(out, '\n');
	}
	if (n > TEXT_RUNS)
		output_format(out,
		    "  and in %zu more places; --format jsonl lists them\n",
		    n - TEXT_RUNS);
	if (account->other_missing_gaps > 0)
		output_format(out, "  and %" PRIu64 " gaps in other pages\n",
		    account->other_missing_gaps);
	free(runs);
}

static const char *
advice_on(const struct account *account, uint32_t reason)
{
	if (reason != HWTD_GAP_NO_CODE || account->known_gaps == 0)
		return (loss_advice(reason));
	return (account->known_gaps < account->total.gaps[reason]
		? "Give the files of the missing images; code of no image "
		  "with --image FILE@ADDRESS, or all of it with --images."
		: "Give the files of the missing images.");
}

static void
text_advice(struct check_report *report, const struct account *account)
{
	struct output *out = report->out;
	bool titled = false;

	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++) {
		const char *name = hwtd_gap_reason_name(i);

		if (account->total.gaps[i] == 0 &&
		    !(i == HWTD_GAP_FILE_DAMAGED && account->n_damages > 0))
			continue;
		if (!titled)
			output_format(out, "\n%swhat to do%s\n",
			    paint(report, COLOR_TITLE),
			    paint(report, COLOR_OFF));
		titled = true;
		output_format(out, "  %s: ", name);
		output_wrapped(out, advice_on(account, i), 4,
		    strlen(name) + 4);
	}
}

static void
text_damage(struct check_report *report)
{
	struct output *out = report->out;

	for (size_t i = 0;; i++) {
		struct hwtd_damage damage = { .size = sizeof(damage) };

		if (hwtd_trace_damage(report->input->trace, i, &damage) !=
		    HWTD_OK)
			break;
		if (i == 0)
			output_format(out, "\n%sdamage of the file%s\n",
			    paint(report, COLOR_TITLE),
			    paint(report, COLOR_OFF));
		output_text(out, "  ");
		damage_bytes(out, damage.file_off, damage.file_bytes,
		    (damage.flags & HWTD_DAMAGEF_EARLIER_FILE) != 0);
		output_text(out, "  ");
		output_escaped(out, damage.text);
		output_char(out, '\n');
	}
}

static void
text_account(struct check_report *report, const struct account *account)
{
	struct output *out = report->out;

	if (report->listed_gaps)
		output_char(out, '\n');
	output_escaped(out, report->input->name);
	output_text(out, "  ");
	output_escaped(out, report->input->info.format);
	output_char(out, '\n');
	for (size_t i = 0; i < account->n_streams; i++) {
		const struct stream_account *stream = &account->streams[i];

		output_format(out, "\n%sstream %" PRIu32 "%s  %s%s\n",
		    paint(report, COLOR_TITLE), stream->stream,
		    paint(report, COLOR_OFF), tech_name(stream->tech),
		    stream->is_sink ? "  what no source of the sink has" : "");
		text_stats(report, &stream->stats);
		coresight_check_text(out, report->input, stream->stream,
		    &stream->stats);
	}
	if (account->n_streams > 1) {
		output_format(out, "\n%stotal%s  %zu streams\n",
		    paint(report, COLOR_TITLE), paint(report, COLOR_OFF),
		    account->n_streams);
		text_stats(report, &account->total);
	}
	text_damage(report);
	text_missing(report, account);
	text_advice(report, account);
}

static void
json_stats(struct output *out, const struct hwtd_stats *stats)
{
	json_u64(out, "bytes", stats->bytes);
	json_u64(out, "decoded_bytes", stats->bytes - stats->gap_bytes);
	json_u64(out, "gap_bytes", stats->gap_bytes);
	json_percent(out, "loss_percent", loss_percent(stats));
	json_u64(out, "insns", stats->insns);
	json_u64(out, "blocks", stats->blocks);
	if (stats->kinds[HWTD_EV_SAMPLE] != 0)
		json_u64(out, "samples", stats->kinds[HWTD_EV_SAMPLE]);
	if (stats->has_time != 0) {
		json_u64(out, "first_ns", stats->first_ns);
		json_u64(out, "last_ns", stats->last_ns);
	}
	json_key(out, "gaps");
	output_char(out, '{');
	bool any = false;

	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++) {
		if (stats->gaps[i] == 0 && stats->gap_bytes_by_reason[i] == 0)
			continue;
		output_format(out,
		    "%s\"%s\":{\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
		    any ? "," : "", hwtd_gap_reason_name(i), stats->gaps[i],
		    stats->gap_bytes_by_reason[i]);
		any = true;
	}
	output_char(out, '}');
	if (stats->file_gap_bytes > 0)
		json_u64(out, "file_gap_bytes", stats->file_gap_bytes);
}

static void
json_account(struct check_report *report, const struct account *account)
{
	struct output *out = report->out;

	for (size_t i = 0; i < account->n_streams; i++) {
		const struct stream_account *stream = &account->streams[i];

		json_begin(out, "stream");
		json_u64(out, "stream", stream->stream);
		json_name(out, "tech", tech_name(stream->tech));
		json_stats(out, &stream->stats);
		json_end(out);
	}
	for (size_t i = 0;; i++) {
		struct hwtd_damage damage = { .size = sizeof(damage) };

		if (hwtd_trace_damage(report->input->trace, i, &damage) !=
		    HWTD_OK)
			break;
		json_damage(out, &damage);
	}
	for (size_t i = 0; i < account->n_pages; i++) {
		json_begin(out, "missing_code");
		json_hex(out, "page", account->pages[i].page);
		json_hex(out, "lowest", account->pages[i].lowest);
		json_u64(out, "gaps", account->pages[i].gaps);
		json_end(out);
	}
	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++) {
		if (account->total.gaps[i] == 0)
			continue;
		json_begin(out, "advice");
		json_name(out, "reason", hwtd_gap_reason_name(i));
		json_string(out, "text", advice_on(account, i));
		json_end(out);
	}
}

static void
csv_stats(struct output *out, const char *stream,
    const struct hwtd_stats *stats)
{
	output_format(out,
	    "%s,bytes,%" PRIu64 "\n%s,decoded_bytes,%" PRIu64
	    "\n%s,gap_bytes,%" PRIu64 "\n%s,insns,%" PRIu64
	    "\n%s,blocks,%" PRIu64 "\n",
	    stream, stats->bytes, stream, stats->bytes - stats->gap_bytes,
	    stream, stats->gap_bytes, stream, stats->insns, stream,
	    stats->blocks);
	if (stats->has_time != 0)
		output_format(out,
		    "%s,first_ns,%" PRIu64 "\n%s,last_ns,%" PRIu64 "\n",
		    stream, stats->first_ns, stream, stats->last_ns);
	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++) {
		const char *name = hwtd_gap_reason_name(i);

		if (stats->gaps[i] == 0 && stats->gap_bytes_by_reason[i] == 0)
			continue;
		output_format(out,
		    "%s,gaps.%s.count,%" PRIu64 "\n%s,gaps.%s.bytes,%" PRIu64
		    "\n",
		    stream, name, stats->gaps[i], stream, name,
		    stats->gap_bytes_by_reason[i]);
	}
}

static void
csv_account(struct check_report *report, const struct account *account)
{
	struct output *out = report->out;
	char name[16];

	for (size_t i = 0; i < account->n_streams; i++) {
		*format_u64(name, account->streams[i].stream) = '\0';
		csv_stats(out, name, &account->streams[i].stats);
	}
	csv_stats(out, "total", &account->total);
	for (size_t i = 0; i < account->n_pages; i++)
		output_format(out, "total,missing.0x%" PRIx64 ",%" PRIu64 "\n",
		    account->pages[i].page, account->pages[i].gaps);
}

void
check_report_account(struct check_report *report,
    const struct account *account)
{
	switch (report->format) {
	case FORMAT_TEXT:
		text_account(report, account);
		break;
	case FORMAT_JSONL:
		json_account(report, account);
		break;
	case FORMAT_CSV:
		csv_account(report, account);
		break;
	}
}

void
check_report_difference(void *arg, const char *key, const char *expected,
    const char *found)
{
	struct check_report *report = arg;
	struct output *out = report->out;

	switch (report->format) {
	case FORMAT_TEXT:
		if (!report->listed_differences)
			output_format(out, "\n%sdifferences%s\n",
			    paint(report, COLOR_TITLE),
			    paint(report, COLOR_OFF));
		output_text(out, "  ");
		output_escaped(out, key);
		output_text(out, ": expected ");
		output_escaped(out, expected != NULL ? expected : "nothing");
		output_text(out, ", found ");
		output_escaped(out, found != NULL ? found : "nothing");
		output_char(out, '\n');
		break;
	case FORMAT_JSONL:
		json_begin(out, "difference");
		json_string(out, "key", key);
		if (expected != NULL)
			json_string(out, "expected", expected);
		if (found != NULL)
			json_string(out, "found", found);
		json_end(out);
		break;
	case FORMAT_CSV:
		output_text(out, "total,");
		output_csv_string(out, key);
		output_text(out, ",\"expected ");
		out->quoting = true;
		output_escaped(out, expected != NULL ? expected : "nothing");
		output_text(out, ", found ");
		output_escaped(out, found != NULL ? found : "nothing");
		out->quoting = false;
		output_text(out, "\"\n");
		break;
	}
	report->listed_differences = true;
}

void
check_report_verdict(struct check_report *report,
    const struct account *account)
{
	struct output *out = report->out;
	const struct hwtd_stats *total = &account->total;
	const bool complete = !loss_any(total) && account->n_damages == 0;
	uint64_t gaps = 0;

	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += total->gaps[i];
	switch (report->format) {
	case FORMAT_TEXT:
		if (report->interrupted)
			output_text(out, "\ninterrupted\n");
		else if (complete)
			output_format(out, "\n%severy byte was decoded%s\n",
			    paint(report, COLOR_GOOD),
			    paint(report, COLOR_OFF));
		else if (gaps == 0)
			output_format(out,
			    "\n%severy byte of these streams was decoded, but "
			    "the file is damaged%s\n",
			    paint(report, COLOR_LOSS),
			    paint(report, COLOR_OFF));
		else
			output_format(out,
			    "\n%s%" PRIu64 " %s, %.4f%% of the bytes gave "
			    "nothing%s\n",
			    paint(report, COLOR_LOSS), gaps,
			    gaps == 1 ? "gap" : "gaps", loss_percent(total),
			    paint(report, COLOR_OFF));
		break;
	case FORMAT_JSONL:
		json_begin(out, report->interrupted ? "interrupted" : "total");
		json_bool(out, "complete", complete && !report->interrupted);
		json_stats(out, total);
		json_end(out);
		break;
	case FORMAT_CSV:
		output_format(out, "total,%s,%d\n",
		    report->interrupted ? "interrupted" : "complete",
		    report->interrupted || complete ? 1 : 0);
		break;
	}
}
