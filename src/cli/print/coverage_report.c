/*
 * Printing coverage: the sums, and what was not seen.
 */
#include "cli/print/coverage_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output/json_line.h"
#include "cli/output/message.h"

void
coverage_percent(char buf[16], uint64_t hit, uint64_t total)
{
	/* 100.0 is only all of it. */
	const uint64_t tenths = total == 0 ? 0
	    : hit <= UINT64_MAX / 1000	   ? hit * 1000 / total
					   : hit / (total / 1000);

	if (total == 0)
		(void)snprintf(buf, 16, "-");
	else
		(void)snprintf(buf, 16, "%" PRIu64 ".%" PRIu64, tenths / 10,
		    tenths % 10);
}

/* Names by index, which rows refer to. */

static int
read_names(struct coverage_report *r)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_coverage_image image;
	struct hwtd_coverage_file file;
	size_t n;

	r->files = calloc((size_t)r->info.n_files + 1, sizeof(*r->files));
	r->images = calloc((size_t)r->info.n_images + 1, sizeof(*r->images));
	if (r->files == NULL || r->images == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	while (hwtd_coverage_files(r->coverage, r->n_files, &file,
		   sizeof(file), 1, &n, &err) == HWTD_OK)
		r->files[r->n_files++] = file.path;
	while (hwtd_coverage_images(r->coverage, r->n_images, &image,
		   sizeof(image), 1, &n, &err) == HWTD_OK)
		r->images[r->n_images++] = image.name;
	return (EXIT_DONE);
}

/* The sums. */

static void
text_share(struct output *out, const char *what,
    const struct hwtd_coverage_share *share)
{
	char percent[16];

	coverage_percent(percent, share->hit, share->total);
	output_format(out, "%-10s %6s%%  %" PRIu64 " of %" PRIu64 "\n", what,
	    share->total == 0 ? "-" : percent, share->hit, share->total);
}

static void
text_gaps(struct output *out, const struct hwtd_coverage_info *info)
{
	uint64_t gaps = 0;

	for (size_t i = 0; i < HWTD_GAP_REASONS; i++)
		gaps += info->gaps[i];
	if (gaps == 0)
		return;
	output_format(out,
	    "not seen: %" PRIu64 " gap%s of %" PRIu64 " bytes of %" PRIu64,
	    gaps, gaps == 1 ? "" : "s", info->gap_bytes + info->file_gap_bytes,
	    info->bytes);
	if (info->lost_insns != 0)
		output_format(out,
		    ", which is about %" PRIu64
		    " instructions besides the %" PRIu64 " that were",
		    info->lost_insns, info->insns);
	output_char(out, '\n');
	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++)
		if (info->gaps[i] != 0)
			output_format(out,
			    "  %s: %" PRIu64 ", %" PRIu64 " bytes\n",
			    hwtd_gap_reason_name(i), info->gaps[i],
			    info->gap_bytes_by_reason[i]);
}

/* Images of which not everything could be told. */
static void
text_images(struct coverage_report *r)
{
	struct hwtd_coverage_image image;
	size_t n;

	for (uint64_t i = 0; hwtd_coverage_images(r->coverage, i, &image,
				 sizeof(image), 1, &n, NULL) == HWTD_OK;
	     i++) {
		const bool missing = (image.flags &
					 HWTD_COVERAGE_IMAGE_MISSING) != 0;
		const bool bare = !missing &&
		    (image.flags &
			(HWTD_COVERAGE_IMAGE_LINES |
			    HWTD_COVERAGE_IMAGE_LEFT_OUT)) == 0;

		if (!missing && !bare && image.fault == NULL)
			continue;
		output_text(r->out,
		    missing    ? "no code: "
			: bare ? "no lines: "
			       : "damaged: ");
		output_escaped(r->out, image.name);
		if (image.fault != NULL) {
			output_text(r->out, ": ");
			output_escaped(r->out, image.fault);
		}
		output_char(r->out, '\n');
	}
}

static void
text_sums(struct coverage_report *r)
{
	const struct hwtd_coverage_info *info = &r->info;
	struct output *out = r->out;

	text_share(out, "lines", &info->lines);
	text_share(out, "functions", &info->functions);
	text_share(out, "branches", &info->branches);
	text_share(out, "edges", &info->edges);
	if (info->bare_functions.total + info->bare_branches.total != 0) {
		output_text(out, "without source file:\n");
		text_share(out, "functions", &info->bare_functions);
		text_share(out, "branches", &info->bare_branches);
	}
	if (info->bare_bytes != 0)
		output_format(out,
		    "code: %" PRIu64 " bytes ran, %" PRIu64
		    " of them without a line\n",
		    info->code_bytes, info->bare_bytes);
	text_gaps(out, info);
	text_images(r);
}

static void
json_share(struct output *out, const char *hit, const char *total,
    const struct hwtd_coverage_share *share)
{
	json_u64(out, hit, share->hit);
	json_u64(out, total, share->total);
}

static void
json_sums(struct coverage_report *r)
{
	const struct hwtd_coverage_info *info = &r->info;
	struct output *out = r->out;
	bool first = true;

	json_begin(out, "coverage-summary");
	json_u64(out, "traces", info->traces);
	json_share(out, "lines_hit", "lines", &info->lines);
	json_share(out, "functions_hit", "functions", &info->functions);
	json_share(out, "branches_hit", "branches", &info->branches);
	json_share(out, "edges_hit", "edges", &info->edges);
	json_share(out, "bare_functions_hit", "bare_functions",
	    &info->bare_functions);
	json_share(out, "bare_branches_hit", "bare_branches",
	    &info->bare_branches);
	json_u64(out, "insns", info->insns);
	json_u64(out, "code_bytes", info->code_bytes);
	json_u64(out, "bare_bytes", info->bare_bytes);
	json_u64(out, "bytes", info->bytes);
	json_u64(out, "gap_bytes", info->gap_bytes);
	json_u64(out, "file_gap_bytes", info->file_gap_bytes);
	json_u64(out, "lost_insns", info->lost_insns);
	json_u64(out, "images", info->n_images);
	json_u64(out, "images_missing", info->images_missing);
	json_u64(out, "images_without_lines", info->images_without_lines);
	json_u64(out, "images_damaged", info->images_damaged);
	json_key(out, "gaps");
	output_char(out, '{');
	for (uint32_t i = 0; i < HWTD_GAP_REASONS; i++) {
		if (info->gaps[i] == 0)
			continue;
		output_format(out,
		    "%s\"%s\":{\"n\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
		    first ? "" : ",", hwtd_gap_reason_name(i), info->gaps[i],
		    info->gap_bytes_by_reason[i]);
		first = false;
	}
	output_char(out, '}');
	json_end(out);
}

int
coverage_report(struct coverage_report *report)
{
	struct hwtd_error err = { .size = sizeof(err) };
	int code;

	report->info.size = sizeof(report->info);
	if (hwtd_coverage_info(report->coverage, &report->info, &err) !=
	    HWTD_OK)
		return (say_library_error(report->options->operands[0], &err));
	code = read_names(report);
	if (code == EXIT_DONE)
		code = coverage_write_rows(report);
	if (code == EXIT_DONE && report->options->format == FORMAT_TEXT)
		text_sums(report);
	if (code == EXIT_DONE && report->options->format == FORMAT_JSONL)
		json_sums(report);
	free(report->files);
	free(report->images);
	return (code);
}
