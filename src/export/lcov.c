/*
 * Coverage as lcov has it, for genhtml(1) and whoever reads .info files.
 *
 * Source: lcov 1.16, geninfo(1), "FILES".
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/coverage/coverage_internal.h"
#include "base/fail.h"
#include "export/export.h"
#include "export/lcov.h"
#include "export/plain_text.h"

/* Files that one step writes. */
#define FILES_A_STEP 16u

struct state {
	/* The next file. */
	size_t file;
};

/* A function of the file that is written. */
struct entry {
	const char *name;
	uint32_t no;
	/* Another one of the file is called the same. */
	bool is_one_of_many;
};

/*
 * Lines end with LF, and fields of some with a comma, so neither is in a name.
 * Nothing else can be quoted.
 */
static void
put_text(struct hwtdi_sink *sink, const char *text, bool is_field)
{
	static const char digits[] = "0123456789abcdef";
	const size_t all = strlen(text), n = hwtdi_name_bytes(text, all);

	for (size_t i = 0; i < n;) {
		const unsigned char c = (unsigned char)text[i];
		const size_t bytes = hwtdi_utf8_bytes(text + i, n - i);

		if (bytes == 0) {
			hwtdi_sink_text(sink, "\xef\xbf\xbd");
			i++;
		} else if (c < 0x20 || c == 0x7f || (is_field && c == ',')) {
			hwtdi_sink_text(sink, "\\x");
			hwtdi_sink_char(sink, digits[c >> 4]);
			hwtdi_sink_char(sink, digits[c & 15]);
			i++;
		} else {
			hwtdi_sink_put(sink, text + i, bytes);
			i += bytes;
		}
	}
	if (n != all)
		hwtdi_sink_text(sink, "...");
}

/* "KEY:number\n" */
static void
put_number(struct hwtdi_sink *sink, const char *key, uint64_t number)
{
	hwtdi_sink_text(sink, key);
	hwtdi_sink_u64(sink, number);
	hwtdi_sink_char(sink, '\n');
}

/* Functions. */

static int
by_name(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	const int order = strcmp(a->name, b->name);

	return (order != 0 ? order : a->no < b->no ? -1 : a->no > b->no);
}

static int
by_no(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	return (a->no < b->no ? -1 : a->no > b->no);
}

/*
 * As the linker knows them: genhtml(1) has an option that makes them readable, and
 * names of C++ that are have commas.
 */
static const char *
name_of(const struct hwtd_coverage_function *f)
{
	const char *name = f->linkage_name != NULL ? f->linkage_name : f->name;

	return (name != NULL ? name : "?");
}

static void
put_function_name(struct hwtdi_sink *sink, const struct entry *entry,
    const struct hwtd_coverage_function *f)
{
	put_text(sink, entry->name, true);
	if (!entry->is_one_of_many)
		return;
	hwtdi_sink_char(sink, '@');
	hwtdi_sink_u64(sink, f->line);
}

static void
put_functions(struct hwtdi_sink *sink, const struct hwtd_coverage_file *file,
    const struct hwtd_coverage_function *functions,
    const struct entry *entries)
{
	for (size_t i = 0; i < file->n_functions; i++) {
		const struct hwtd_coverage_function *f = &functions[i];

		hwtdi_sink_text(sink, "FN:");
		hwtdi_sink_u64(sink, f->line != 0 ? f->line : 1);
		hwtdi_sink_char(sink, ',');
		put_function_name(sink, &entries[i], f);
		hwtdi_sink_char(sink, '\n');
	}
	for (size_t i = 0; i < file->n_functions; i++) {
		const struct hwtd_coverage_function *f = &functions[i];
		const bool hit = (f->flags & HWTD_COVERAGE_FUNCTION_HIT) != 0;

		/* One in which the trace begins was entered, too. */
		hwtdi_sink_text(sink, "FNDA:");
		hwtdi_sink_u64(sink, hit && f->count == 0 ? 1 : f->count);
		hwtdi_sink_char(sink, ',');
		put_function_name(sink, &entries[i], f);
		hwtdi_sink_char(sink, '\n');
	}
	put_number(sink, "FNF:", file->n_functions);
	put_number(sink, "FNH:", file->n_functions_hit);
}

static int
write_functions(struct hwtd_export *ex, const struct hwtd_coverage_file *file,
    const struct hwtdi_cov_sums *sums, struct hwtd_error *err)
{
	const struct hwtd_coverage_function *functions = sums->functions.at;
	const size_t n = (size_t)file->n_functions;
	struct entry *entries;

	if (n == 0)
		return (HWTD_OK);
	functions += file->first_function;
	entries = hwtdi_zalloc(ex->ctx, n * sizeof(*entries));
	if (entries == NULL)
		return (hwtdi_fail_nomem(err, n * sizeof(*entries)));
	for (uint32_t i = 0; i < n; i++)
		entries[i] = (struct entry){ .name = name_of(&functions[i]),
			.no = i };
	qsort(entries, n, sizeof(*entries), by_name);
	for (size_t i = 1; i < n; i++)
		if (strcmp(entries[i].name, entries[i - 1].name) == 0)
			entries[i].is_one_of_many = entries[i - 1]
							.is_one_of_many = true;
	qsort(entries, n, sizeof(*entries), by_no);
	put_functions(&ex->sink, file, functions, entries);
	hwtdi_free(ex->ctx, entries, n * sizeof(*entries));
	return (HWTD_OK);
}

/* Branches and lines. */

static void
put_way(struct hwtdi_sink *sink, const struct hwtd_coverage_branch *b,
    uint64_t block, unsigned int way, uint64_t count)
{
	hwtdi_sink_text(sink, "BRDA:");
	hwtdi_sink_u64(sink, b->line);
	hwtdi_sink_char(sink, ',');
	hwtdi_sink_u64(sink, block);
	hwtdi_sink_char(sink, ',');
	hwtdi_sink_u64(sink, way);
	hwtdi_sink_char(sink, ',');
	if ((b->flags & HWTD_COVERAGE_BRANCH_REACHED) != 0)
		hwtdi_sink_u64(sink, count);
	else
		hwtdi_sink_char(sink, '-');
	hwtdi_sink_char(sink, '\n');
}

/* A block is a branch instruction; of its line they are counted from 0. */
static void
write_branches(struct hwtdi_sink *sink, const struct hwtd_coverage_file *file,
    const struct hwtdi_cov_sums *sums)
{
	const struct hwtd_coverage_branch *b = sums->branches.at;
	uint64_t block = 0;

	if (file->n_branches == 0)
		return;
	b += file->first_branch;
	for (size_t i = 0; i < file->n_branches; i++) {
		block = i > 0 && b[i].line == b[i - 1].line ? block + 1 : 0;
		put_way(sink, &b[i], block, 0, b[i].taken);
		put_way(sink, &b[i], block, 1, b[i].not_taken);
	}
	put_number(sink, "BRF:", 2 * file->n_branches);
	put_number(sink, "BRH:", file->n_ways_hit);
}

static void
write_lines(struct hwtd_export *ex, const struct hwtd_coverage_file *file,
    const struct hwtdi_cov_sums *sums)
{
	const struct hwtd_coverage_line *lines = sums->lines.at;
	struct hwtdi_sink *sink = &ex->sink;

	if (file->n_lines != 0)
		lines += file->first_line;
	for (size_t i = 0; i < file->n_lines; i++) {
		hwtdi_sink_text(sink, "DA:");
		hwtdi_sink_u64(sink, lines[i].line);
		hwtdi_sink_char(sink, ',');
		hwtdi_sink_u64(sink, lines[i].count);
		hwtdi_sink_char(sink, '\n');
	}
	put_number(sink, "LF:", file->n_lines);
	put_number(sink, "LH:", file->n_lines_hit);
	ex->info.rows += file->n_lines;
}

static int
write_file(struct hwtd_export *ex, const struct hwtdi_cov_sums *sums,
    size_t no, struct hwtd_error *err)
{
	const struct hwtd_coverage_file
	    *file = (const struct hwtd_coverage_file *)sums->files.at + no;
	int rc;

	/* A name of a test is letters, digits and '_'. */
	hwtdi_sink_text(&ex->sink, "TN:\nSF:");
	put_text(&ex->sink, file->path, false);
	hwtdi_sink_char(&ex->sink, '\n');
	rc = write_functions(ex, file, sums, err);
	if (rc != HWTD_OK)
		return (rc);
	write_branches(&ex->sink, file, sums);
	write_lines(ex, file, sums);
	hwtdi_sink_text(&ex->sink, "end_of_record\n");
	return (HWTD_OK);
}

static int
step(struct hwtd_export *ex, struct hwtd_error *err)
{
	struct state *state = ex->state;
	const struct hwtdi_cov_sums *sums;
	int rc;

	rc = hwtdi_coverage_sums(ex->source.coverage, &sums, err);
	for (size_t i = 0; rc == HWTD_OK && i < FILES_A_STEP; i++) {
		if (ex->stopped || state->file >= sums->files.n)
			return (HWTD_END);
		rc = write_file(ex, sums, state->file++, err);
	}
	return (rc);
}

const struct hwtdi_exporter_ops hwtdi_export_lcov = {
	.format = HWTD_FORMAT_LCOV,
	.source = HWTD_SOURCE_COVERAGE,
	.name = "lcov",
	.suffixes = ".info .lcov",
	.viewer = "genhtml",
	.state_bytes = sizeof(struct state),
	.step = step,
};

int
hwtd_export_open_coverage(struct hwtd_coverage *coverage,
    const struct hwtd_format_options *opts, struct hwtd_export **export_out,
    struct hwtd_error *err)
{
	const struct hwtdi_export_source source = { .coverage = coverage };
	const struct hwtdi_cov_sums *sums;
	int rc;

	if (coverage == NULL || opts == NULL || export_out == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "an argument is NULL"));
	rc = hwtdi_coverage_sums(coverage, &sums, err);
	return (rc == HWTD_OK
		? hwtdi_export_open(coverage->library, HWTD_SOURCE_COVERAGE,
		      &source, opts, export_out, err)
		: rc);
}
