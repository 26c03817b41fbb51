/*
 * Printing coverage: rows of its tables.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/output/color.h"
#include "cli/print/coverage_report.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

#define READ_ROWS 64

/* Rows of one kind of table. */
struct table {
	const char *type;
	const char *csv_header;
	const char *text_header;
	int (*write)(struct coverage_report *r);
};

/* Cells of JSON lines and CSV: the same values under the same names. */

static bool
is_json(const struct coverage_report *r)
{
	return (r->options->format == FORMAT_JSONL);
}

static bool
is_text(const struct coverage_report *r)
{
	return (r->options->format == FORMAT_TEXT);
}

static void
row_begin(struct coverage_report *r, const char *type)
{
	if (is_json(r))
		json_begin(r->out, type);
}

static void
row_end(struct coverage_report *r)
{
	if (is_json(r))
		json_end(r->out);
	else
		output_char(r->out, '\n');
}

static void
cell_begin(struct coverage_report *r, bool first)
{
	if (!is_json(r) && !first)
		output_char(r->out, ',');
}

/* NULL: not known, which JSON leaves out. */
static void
cell_text(struct coverage_report *r, const char *name, const char *value,
    bool first)
{
	cell_begin(r, first);
	if (value == NULL)
		return;
	if (is_json(r))
		json_string(r->out, name, value);
	else
		output_csv_string(r->out, value);
}

static void
cell_u64(struct coverage_report *r, const char *name, uint64_t value,
    bool first)
{
	cell_begin(r, first);
	if (is_json(r))
		json_u64(r->out, name, value);
	else
		output_u64(r->out, value);
}

static void
cell_hex(struct coverage_report *r, const char *name, bool known,
    uint64_t value)
{
	cell_begin(r, false);
	if (!known)
		return;
	if (is_json(r))
		json_hex(r->out, name, value);
	else
		output_hex(r->out, value);
}

static void
cell_bool(struct coverage_report *r, const char *name, bool value)
{
	cell_begin(r, false);
	if (is_json(r))
		json_bool(r->out, name, value);
	else
		output_char(r->out, value ? '1' : '0');
}

static const char *
file_name(const struct coverage_report *r, uint32_t file)
{
	return (file < r->n_files ? r->files[file] : NULL);
}

static const char *
image_name(const struct coverage_report *r, uint32_t image)
{
	return (image < r->n_images ? r->images[image] : NULL);
}

static int
read_error(const struct coverage_report *r, int rc,
    const struct hwtd_error *err)
{
	return (rc == HWTD_END || output_stopped(r->out)
		? EXIT_DONE
		: say_library_error(r->options->operands[0], err));
}

/* Text: "file:line", "?" where there is none. */
static void
text_place(struct coverage_report *r, uint32_t file, uint32_t line)
{
	const char *path = file_name(r, file);

	if (path == NULL) {
		output_char(r->out, '?');
		return;
	}
	output_escaped(r->out, path);
	if (line != 0)
		output_format(r->out, ":%" PRIu32, line);
}

static void
text_share(struct output *out, uint64_t hit, uint64_t total)
{
	char percent[16], share[48];

	coverage_percent(percent, hit, total);
	(void)snprintf(share, sizeof(share), "%" PRIu64 "/%" PRIu64, hit,
	    total);
	output_format(out, "%6s %-13s ", percent, total == 0 ? "-" : share);
}

/* Files, and what of them was not reached. */

/* A stretch of lines of a file: none of those with code was reached. */
struct stretch {
	uint32_t file, first, last, lines;
};

typedef void stretch_fn(struct coverage_report *r, const struct stretch *s);

/* Those in lines [at, end). */
static int
each_stretch(struct coverage_report *r, uint64_t at, uint64_t end,
    stretch_fn *fn)
{
	struct hwtd_coverage_line lines[READ_ROWS];
	struct hwtd_error err = { .size = sizeof(err) };
	struct stretch s = { 0, 0, 0, 0 };
	int rc = HWTD_OK;
	size_t n;

	for (; at < end && !output_stopped(r->out); at += n) {
		rc = hwtd_coverage_lines(r->coverage, at, lines,
		    sizeof(lines[0]), READ_ROWS, &n, &err);
		if (rc != HWTD_OK)
			break;
		for (size_t i = 0; i < n && at + i < end; i++) {
			if (s.lines != 0 &&
			    (lines[i].count != 0 || lines[i].file != s.file)) {
				fn(r, &s);
				s.lines = 0;
			}
			if (lines[i].count != 0)
				continue;
			if (s.lines++ == 0) {
				s.file = lines[i].file;
				s.first = lines[i].line;
			}
			s.last = lines[i].line;
		}
	}
	if (s.lines != 0)
		fn(r, &s);
	return (rc == HWTD_OK ? EXIT_DONE : read_error(r, rc, &err));
}

static void
text_stretch(struct coverage_report *r, const struct stretch *s)
{
	output_format(r->out, " %" PRIu32, s->first);
	if (s->last != s->first)
		output_format(r->out, "-%" PRIu32, s->last);
}

static void
write_stretch(struct coverage_report *r, const struct stretch *s)
{
	if (is_text(r)) {
		output_format(r->out, "%6" PRIu32 "  ", s->lines);
		output_escaped(r->out, file_name(r, s->file));
		output_char(r->out, ':');
		text_stretch(r, s);
		output_char(r->out, '\n');
		return;
	}
	row_begin(r, "coverage-range");
	cell_text(r, "file", file_name(r, s->file), true);
	cell_u64(r, "first", s->first, false);
	cell_u64(r, "last", s->last, false);
	cell_u64(r, "lines", s->lines, false);
	row_end(r);
}

static int
write_stretches(struct coverage_report *r)
{
	return (each_stretch(r, 0, r->info.n_lines, write_stretch));
}

static int
write_file(struct coverage_report *r, const struct hwtd_coverage_file *f)
{
	int code = EXIT_DONE;

	if (is_text(r)) {
		text_share(r->out, f->n_lines_hit, f->n_lines);
		text_share(r->out, f->n_functions_hit, f->n_functions);
		text_share(r->out, f->n_ways_hit, 2 * f->n_branches);
		output_escaped(r->out, f->path);
		output_char(r->out, '\n');
		if (r->options->coverage.uncovered) {
			output_text(r->out, "        not reached:");
			code = each_stretch(r, f->first_line,
			    f->first_line + f->n_lines, text_stretch);
			output_char(r->out, '\n');
		}
		return (code);
	}
	row_begin(r, "coverage-file");
	cell_text(r, "file", f->path, true);
	cell_u64(r, "lines_hit", f->n_lines_hit, false);
	cell_u64(r, "lines", f->n_lines, false);
	cell_u64(r, "functions_hit", f->n_functions_hit, false);
	cell_u64(r, "functions", f->n_functions, false);
	cell_u64(r, "branches_hit", f->n_ways_hit, false);
	cell_u64(r, "branches", 2 * f->n_branches, false);
	row_end(r);
	return (EXIT_DONE);
}

static int
write_files(struct coverage_report *r)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_coverage_file f;
	int code = EXIT_DONE, rc;
	size_t n;

	for (uint64_t at = 0; code == EXIT_DONE; at++) {
		rc = hwtd_coverage_files(r->coverage, at, &f, sizeof(f), 1, &n,
		    &err);
		if (rc != HWTD_OK || output_stopped(r->out))
			return (read_error(r, rc, &err));
		if (!r->options->coverage.uncovered ||
		    f.n_lines_hit < f.n_lines)
			code = write_file(r, &f);
	}
	return (code);
}

/* Functions. */

static void
write_function(struct coverage_report *r,
    const struct hwtd_coverage_function *f)
{
	const bool hit = (f->flags & HWTD_COVERAGE_FUNCTION_HIT) != 0;

	if (r->options->coverage.uncovered && hit)
		return;
	if (is_text(r)) {
		output_format(r->out, "%12" PRIu64 "  %-4s  ", f->count,
		    hit ? "yes" : "no");
		output_escaped(r->out, f->name != NULL ? f->name : "?");
		output_text(r->out, "  ");
		if (f->file != HWTD_NO_ID)
			text_place(r, f->file, f->line);
		else
			output_escaped(r->out, image_name(r, f->image));
		output_char(r->out, '\n');
		return;
	}
	row_begin(r, "coverage-function");
	cell_text(r, "function", f->name, true);
	cell_text(r, "linkage_name", f->linkage_name, false);
	cell_text(r, "file", file_name(r, f->file), false);
	cell_u64(r, "line", f->line, false);
	cell_text(r, "image", image_name(r, f->image), false);
	cell_hex(r, "file_off", (f->flags & HWTD_COVERAGE_FUNCTION_OFF) != 0,
	    f->file_off);
	cell_u64(r, "count", f->count, false);
	cell_bool(r, "hit", hit);
	cell_bool(r, "inlined",
	    (f->flags & HWTD_COVERAGE_FUNCTION_INLINED) != 0);
	row_end(r);
}

static void
write_line(struct coverage_report *r, const struct hwtd_coverage_line *l)
{
	if (r->options->coverage.uncovered && l->count != 0)
		return;
	if (is_text(r)) {
		output_format(r->out, "%12" PRIu64 "  ", l->count);
		text_place(r, l->file, l->line);
		output_char(r->out, '\n');
		return;
	}
	row_begin(r, "coverage-line");
	cell_text(r, "file", file_name(r, l->file), true);
	cell_u64(r, "line", l->line, false);
	cell_u64(r, "count", l->count, false);
	row_end(r);
}

static void
write_branch(struct coverage_report *r, const struct hwtd_coverage_branch *b)
{
	const bool reached = (b->flags & HWTD_COVERAGE_BRANCH_REACHED) != 0;

	if (r->options->coverage.uncovered && b->taken != 0 &&
	    b->not_taken != 0)
		return;
	if (is_text(r)) {
		if (reached)
			output_format(r->out, "%12" PRIu64 " %12" PRIu64 "  ",
			    b->taken, b->not_taken);
		else
			output_format(r->out, "%12s %12s  ", "-", "-");
		text_place(r, b->file, b->line);
		output_format(r->out, "  0x%" PRIx64 " of ", b->file_off);
		output_escaped(r->out, image_name(r, b->image));
		output_char(r->out, '\n');
		return;
	}
	row_begin(r, "coverage-branch");
	cell_text(r, "file", file_name(r, b->file), true);
	cell_u64(r, "line", b->line, false);
	cell_text(r, "image", image_name(r, b->image), false);
	cell_hex(r, "file_off", true, b->file_off);
	cell_bool(r, "reached", reached);
	cell_u64(r, "taken", b->taken, false);
	cell_u64(r, "not_taken", b->not_taken, false);
	row_end(r);
}

static void
write_edge(struct coverage_report *r, const struct hwtd_coverage_edge *e)
{
	const char *to = image_name(r, e->to_image);

	if (r->options->coverage.uncovered && e->count != 0)
		return;
	if (is_text(r)) {
		output_format(r->out,
		    "%12" PRIu64 "  %-13s  0x%" PRIx64 " of ", e->count,
		    hwtd_branch_name(e->branch), e->from);
		output_escaped(r->out, image_name(r, e->from_image));
		output_format(r->out, " -> 0x%" PRIx64, e->to);
		if (to != NULL && e->to_image != e->from_image) {
			output_text(r->out, " of ");
			output_escaped(r->out, to);
		}
		output_char(r->out, '\n');
		return;
	}
	row_begin(r, "coverage-edge");
	cell_text(r, "from_image", image_name(r, e->from_image), true);
	cell_hex(r, "from", true, e->from);
	cell_text(r, "to_image", to, false);
	cell_hex(r, "to", true, e->to);
	cell_text(r, "branch", hwtd_branch_name(e->branch), false);
	cell_u64(r, "count", e->count, false);
	cell_bool(r, "known", (e->flags & HWTD_COVERAGE_EDGE_KNOWN) != 0);
	row_end(r);
}

static void
hex_digits(char *buf, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)snprintf(buf + 2 * i, 3, "%02x", bytes[i]);
	buf[2 * n] = '\0';
}

static void
write_image(struct coverage_report *r, const struct hwtd_coverage_image *i)
{
	char build_id[2 * HWTD_MAX_BUILD_ID + 1];

	if (is_text(r)) {
		text_share(r->out, i->lines.hit, i->lines.total);
		text_share(r->out, i->functions.hit, i->functions.total);
		text_share(r->out, i->branches.hit, i->branches.total);
		text_share(r->out, i->edges.hit, i->edges.total);
		output_escaped(r->out, i->name);
		output_char(r->out, '\n');
		return;
	}
	hex_digits(build_id, i->build_id, i->n_build_id);
	row_begin(r, "coverage-image");
	cell_text(r, "image", i->name, true);
	cell_text(r, "build_id", i->n_build_id != 0 ? build_id : NULL, false);
	cell_bool(r, "missing", (i->flags & HWTD_COVERAGE_IMAGE_MISSING) != 0);
	cell_bool(r, "has_lines", (i->flags & HWTD_COVERAGE_IMAGE_LINES) != 0);
	cell_u64(r, "lines_hit", i->lines.hit, false);
	cell_u64(r, "lines", i->lines.total, false);
	cell_u64(r, "functions_hit", i->functions.hit, false);
	cell_u64(r, "functions", i->functions.total, false);
	cell_u64(r, "branches_hit", i->branches.hit, false);
	cell_u64(r, "branches", i->branches.total, false);
	cell_u64(r, "edges_hit", i->edges.hit, false);
	cell_u64(r, "edges", i->edges.total, false);
	cell_u64(r, "code_bytes", i->code_bytes, false);
	cell_u64(r, "bare_bytes", i->bare_bytes, false);
	cell_text(r, "fault", i->fault, false);
	row_end(r);
}

/* All rows of a table, READ_ROWS at a time. */
#define WRITE_ALL(name, type, read, write_one)                                \
	static int name(struct coverage_report *r)                            \
	{                                                                     \
		struct hwtd_error err = { .size = sizeof(err) };              \
		type rows[READ_ROWS];                                         \
		uint64_t at = 0;                                              \
		size_t n;                                                     \
		int rc;                                                       \
                                                                              \
		while (!output_stopped(r->out) &&                             \
		    (rc = read(r->coverage, at, rows, sizeof(rows[0]),        \
			 READ_ROWS, &n, &err)) == HWTD_OK) {                  \
			for (size_t i = 0; i < n; i++)                        \
				write_one(r, &rows[i]);                       \
			at += n;                                              \
		}                                                             \
		return (output_stopped(r->out) ? EXIT_DONE                    \
					       : read_error(r, rc, &err));    \
	}

WRITE_ALL(write_functions, struct hwtd_coverage_function,
    hwtd_coverage_functions, write_function)
WRITE_ALL(write_lines, struct hwtd_coverage_line, hwtd_coverage_lines,
    write_line)
WRITE_ALL(write_branches, struct hwtd_coverage_branch, hwtd_coverage_branches,
    write_branch)
WRITE_ALL(write_edges, struct hwtd_coverage_edge, hwtd_coverage_edges,
    write_edge)
WRITE_ALL(write_images, struct hwtd_coverage_image, hwtd_coverage_images,
    write_image)

static const struct table tables[] = {
	[COVERAGE_BY_FILE] = { "coverage-file",
	    "file,lines_hit,lines,functions_hit,functions,branches_hit,"
	    "branches",
	    "     % lines              % functions          % branches     "
	    "file",
	    write_files },
	[COVERAGE_BY_FUNCTION] = { "coverage-function",
	    "function,linkage_name,file,line,image,file_off,count,hit,inlined",
	    "     entered  hit   function", write_functions },
	[COVERAGE_BY_LINE] = { "coverage-line", "file,line,count",
	    "    executed  line", write_lines },
	[COVERAGE_BY_BRANCH] = { "coverage-branch",
	    "file,line,image,file_off,reached,taken,not_taken",
	    "       taken    not taken  branch", write_branches },
	[COVERAGE_BY_EDGE] = { "coverage-edge",
	    "from_image,from,to_image,to,branch,count,known",
	    "       count  branch         edge", write_edges },
	[COVERAGE_BY_IMAGE] = { "coverage-image",
	    "image,build_id,missing,has_lines,lines_hit,lines,functions_hit,"
	    "functions,branches_hit,branches,edges_hit,edges,code_bytes,"
	    "bare_bytes,fault",
	    "     % lines              % functions          % branches     "
	    "      % edges        image",
	    write_images },
	[COVERAGE_BY_RANGE] = { "coverage-range", "file,first,last,lines",
	    " lines  not reached", write_stretches },
};

int
coverage_write_rows(struct coverage_report *report)
{
	const struct table *t = &tables[report->options->coverage.by];

	if (!report->options->no_header && is_text(report)) {
		const bool color = color_wanted(report->options, report->out);

		output_text(report->out, color ? COLOR_TITLE : "");
		output_text(report->out, t->text_header);
		output_text(report->out, color ? COLOR_OFF : "");
		output_char(report->out, '\n');
	} else if (!report->options->no_header &&
	    report->options->format == FORMAT_CSV) {
		output_text(report->out, t->csv_header);
		output_char(report->out, '\n');
	}
	return (t->write(report));
}
