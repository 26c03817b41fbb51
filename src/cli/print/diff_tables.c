/*
 * Functions, calls and branches of two traces: what changed most.
 */
#include "cli/output/color.h"
#include "cli/options/diff_options.h"
#include "cli/print/diff_report.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

/* Rows of text, where nothing else was asked for. */
#define TOP_TEXT 20

struct table {
	struct diff_report *report;
	struct hwtd_diff *diff;
	struct hwtd_diff_info info;
	/* Less is no change. */
	double least;
	uint64_t left;
	/* Changes that were left out by the threshold; rows by --top. */
	uint64_t small, more;
};

static uint64_t
value_of(const struct table *t, const struct hwtd_diff_function *f,
    unsigned int side)
{
	/* Which source a number is of, the totals show: the other is 0. */
	const bool runs = f->insns[0] + f->insns[1] != 0;

	switch (t->info.by) {
	case HWTD_DIFF_BY_TIME:
		return (f->self_ns[side]);
	case HWTD_DIFF_BY_TOTAL_TIME:
		return (f->total_ns[side]);
	case HWTD_DIFF_BY_CYCLES:
		return (f->self_cycles[side]);
	case HWTD_DIFF_BY_CALLS:
		return (runs ? f->entered[side] : f->calls[side]);
	default:
		return (runs ? f->insns[side] : f->self_insns[side]);
	}
}

static double
size_of(double change)
{
	return (change < 0 ? -change : change);
}

/* Whether a row is printed, and how many are not. */
static bool
is_wanted(struct table *t, double change)
{
	if (change == 0)
		return (false);
	if (size_of(change) < t->least) {
		t->small++;
		return (false);
	}
	t->report->differs = true;
	if (t->left == 0) {
		t->more++;
		return (false);
	}
	t->left--;
	return (true);
}

static void
begin_table(struct table *t)
{
	const struct options *o = t->report->options;

	t->left = o->top == UINT64_MAX
	    ? (o->format == FORMAT_TEXT ? TOP_TEXT : UINT64_MAX)
	    : o->top == 0 ? UINT64_MAX
			  : o->top;
	t->small = t->more = 0;
}

static void
end_table(struct table *t, uint64_t rows)
{
	struct output *out = t->report->out;

	if (t->report->options->format != FORMAT_TEXT)
		return;
	if (rows == 0)
		output_text(out, "nothing changed\n");
	if (t->more != 0)
		output_format(out, "and %llu more\n",
		    (unsigned long long)t->more);
	if (t->small != 0)
		output_format(out, "%llu changes are below the threshold\n",
		    (unsigned long long)t->small);
}

/* Text. */

static void
text_title(const struct table *t, const char *title, const char *columns)
{
	struct output *out = t->report->out;
	const bool color = color_wanted(t->report->options, out);

	if (t->report->options->no_header)
		return;
	if (color)
		output_text(out, COLOR_TITLE);
	output_format(out, "%s\n%14s %14s %14s %8s  %s", title, "A", "B",
	    "change", "", columns);
	if (color)
		output_text(out, COLOR_OFF);
	output_char(out, '\n');
}

static void
text_values(const struct table *t, uint64_t a, uint64_t b, double change)
{
	struct output *out = t->report->out;

	output_format(out, "%14llu %14llu %+14.0f ", (unsigned long long)a,
	    (unsigned long long)b, change);
	if (a == 0)
		output_format(out, "%8s  ", "new");
	else if (b == 0)
		output_format(out, "%8s  ", "gone");
	else
		output_format(out, "%+7.1f%%  ", 100 * change / (double)a);
}

static const char *
last_name(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

static void
text_name(struct output *out, const char *name, const char *image,
    uint64_t off)
{
	if (name != NULL) {
		output_escaped(out, name);
	} else if (image != NULL) {
		output_escaped(out, last_name(image));
		output_char(out, '+');
		output_hex(out, off);
	} else {
		output_text(out, "[unknown]");
	}
}

/* Functions. */

static void
json_pair(struct output *out, const char *name, const uint64_t values[2])
{
	json_key(out, name);
	output_format(out, "[%llu,%llu]", (unsigned long long)values[0],
	    (unsigned long long)values[1]);
}

static void
json_change(struct output *out, double change, uint32_t flags)
{
	json_key(out, "change");
	output_format(out, "%.3f", change);
	if ((flags & HWTD_DIFF_ONLY_A) != 0)
		json_name(out, "only", "a");
	else if ((flags & HWTD_DIFF_ONLY_B) != 0)
		json_name(out, "only", "b");
}

static const char *
only_of(uint32_t flags)
{
	return ((flags & HWTD_DIFF_ONLY_A) != 0	  ? "a"
		: (flags & HWTD_DIFF_ONLY_B) != 0 ? "b"
						  : "");
}

static void
write_function(const struct table *t, const struct hwtd_diff_function *f)
{
	struct output *out = t->report->out;
	const struct {
		const char *name;
		const uint64_t *values;
	} columns[] = { { "insns", f->insns }, { "entered", f->entered },
		{ "calls", f->calls }, { "self_insns", f->self_insns },
		{ "self_ns", f->self_ns }, { "total_ns", f->total_ns },
		{ "self_cycles", f->self_cycles } };

	switch (t->report->options->format) {
	case FORMAT_TEXT:
		text_values(t, value_of(t, f, 0), value_of(t, f, 1),
		    f->change);
		text_name(out, f->name,
		    (f->flags & HWTD_DIFF_NO_FUNCTION) == 0 ? f->image : NULL,
		    f->file_off);
		if (f->image != NULL &&
		    (f->name != NULL ||
			(f->flags & HWTD_DIFF_NO_FUNCTION) != 0)) {
			output_text(out, "  ");
			output_escaped(out, last_name(f->image));
		}
		output_char(out, '\n');
		break;
	case FORMAT_JSONL:
		json_begin(out, "diff_function");
		if (f->name != NULL)
			json_string(out, "function", f->name);
		else if ((f->flags & HWTD_DIFF_NO_FUNCTION) == 0)
			json_hex(out, "file_off", f->file_off);
		if (f->image != NULL)
			json_string(out, "image", f->image);
		for (size_t i = 0; i < 7; i++)
			json_pair(out, columns[i].name, columns[i].values);
		json_change(out, f->change, f->flags);
		json_end(out);
		break;
	case FORMAT_CSV:
		output_csv_string(out, f->name != NULL ? f->name : "");
		output_char(out, ',');
		output_csv_string(out, f->image != NULL ? f->image : "");
		output_format(out, ",%s,%.3f", only_of(f->flags), f->change);
		for (size_t i = 0; i < 7; i++)
			for (unsigned int k = 0; k < 2; k++)
				output_csv_u64(out, true,
				    columns[i].values[k]);
		output_char(out, '\n');
		break;
	}
}

static void
functions(struct table *t)
{
	struct hwtd_diff_function f;
	struct output *out = t->report->out;
	char title[64] = "Functions, by ";
	uint64_t rows = 0;
	size_t n;

	begin_table(t);
	strcat(title, hwtd_diff_by_name(t->info.by));
	if (t->report->options->format == FORMAT_TEXT)
		text_title(t, title, "function");
	else if (t->report->options->format == FORMAT_CSV &&
	    !t->report->options->no_header)
		output_text(out,
		    "function,image,only,change,a_insns,b_insns,a_entered,"
		    "b_entered,a_calls,b_calls,a_self_insns,b_self_insns,"
		    "a_self_ns,b_self_ns,a_total_ns,b_total_ns,"
		    "a_self_cycles,b_self_cycles\n");
	for (uint64_t i = 0; !output_stopped(out) &&
	     hwtd_diff_functions(t->diff, i, &f, sizeof(f), 1, &n) == HWTD_OK;
	     i++) {
		if (!is_wanted(t, f.change))
			continue;
		write_function(t, &f);
		rows++;
	}
	end_table(t, rows);
}

/* Calls between functions. */

static void
write_edge(const struct table *t, const struct hwtd_diff_edge *e)
{
	struct output *out = t->report->out;
	const uint64_t *values = e->branches[0] + e->branches[1] != 0
	    ? e->branches
	    : e->calls;

	switch (t->report->options->format) {
	case FORMAT_TEXT:
		text_values(t, values[0], values[1], e->change);
		text_name(out, e->from, e->from_image, e->from_off);
		output_text(out, " -> ");
		text_name(out, e->to, e->to_image, e->to_off);
		output_char(out, '\n');
		break;
	case FORMAT_JSONL:
		json_begin(out, "diff_edge");
		if (e->from != NULL)
			json_string(out, "from", e->from);
		if (e->from_image != NULL)
			json_string(out, "from_image", e->from_image);
		if (e->to != NULL)
			json_string(out, "to", e->to);
		if (e->to_image != NULL)
			json_string(out, "to_image", e->to_image);
		json_hex(out, "from_off", e->from_off);
		json_hex(out, "to_off", e->to_off);
		json_pair(out, "branches", e->branches);
		json_pair(out, "calls", e->calls);
		json_change(out, e->change, e->flags);
		json_end(out);
		break;
	case FORMAT_CSV:
		output_csv_string(out, e->from != NULL ? e->from : "");
		output_char(out, ',');
		output_csv_string(out,
		    e->from_image != NULL ? e->from_image : "");
		output_char(out, ',');
		output_csv_string(out, e->to != NULL ? e->to : "");
		output_char(out, ',');
		output_csv_string(out, e->to_image != NULL ? e->to_image : "");
		output_format(out, ",%s,%.3f", only_of(e->flags), e->change);
		for (unsigned int k = 0; k < 2; k++)
			output_csv_u64(out, true, e->branches[k]);
		for (unsigned int k = 0; k < 2; k++)
			output_csv_u64(out, true, e->calls[k]);
		output_char(out, '\n');
		break;
	}
}

static void
edges(struct table *t)
{
	struct output *out = t->report->out;
	struct hwtd_diff_edge e;
	uint64_t rows = 0;
	size_t n;

	begin_table(t);
	if (t->report->options->format == FORMAT_TEXT)
		text_title(t, "Calls between functions", "from -> to");
	else if (t->report->options->format == FORMAT_CSV &&
	    !t->report->options->no_header)
		output_text(out,
		    "from,from_image,to,to_image,only,change,a_branches,"
		    "b_branches,a_calls,b_calls\n");
	for (uint64_t i = 0; !output_stopped(out) &&
	     hwtd_diff_edges(t->diff, i, &e, sizeof(e), 1, &n) == HWTD_OK;
	     i++) {
		if (!is_wanted(t, e.change))
			continue;
		write_edge(t, &e);
		rows++;
	}
	end_table(t, rows);
}

/* Branches. */

static void
write_branch(const struct table *t, const struct hwtd_diff_branch *b)
{
	struct output *out = t->report->out;

	switch (t->report->options->format) {
	case FORMAT_TEXT:
		text_values(t, b->count[0], b->count[1], b->change);
		text_name(out, NULL, b->image, b->from_off);
		output_text(out, " -> ");
		text_name(out, NULL, b->to_image, b->to_off);
		output_format(out, "  %s", hwtd_branch_name(b->branch));
		if (b->function != NULL) {
			output_text(out, " in ");
			output_escaped(out, b->function);
		}
		output_char(out, '\n');
		break;
	case FORMAT_JSONL:
		json_begin(out, "diff_branch");
		json_string(out, "image", b->image);
		json_hex(out, "from_off", b->from_off);
		json_string(out, "to_image", b->to_image);
		json_hex(out, "to_off", b->to_off);
		if (b->function != NULL)
			json_string(out, "function", b->function);
		if (b->to_function != NULL)
			json_string(out, "to_function", b->to_function);
		json_name(out, "branch", hwtd_branch_name(b->branch));
		json_pair(out, "count", b->count);
		json_change(out, b->change, b->flags);
		json_end(out);
		break;
	case FORMAT_CSV:
		output_csv_string(out, b->image);
		output_csv_hex(out, true, b->from_off);
		output_char(out, ',');
		output_csv_string(out, b->to_image);
		output_csv_hex(out, true, b->to_off);
		output_char(out, ',');
		output_csv_string(out, b->function != NULL ? b->function : "");
		output_char(out, ',');
		output_csv_string(out,
		    b->to_function != NULL ? b->to_function : "");
		output_format(out, ",%s,%s,%.3f", hwtd_branch_name(b->branch),
		    only_of(b->flags), b->change);
		for (unsigned int k = 0; k < 2; k++)
			output_csv_u64(out, true, b->count[k]);
		output_char(out, '\n');
		break;
	}
}

static void
branches(struct table *t)
{
	struct output *out = t->report->out;
	struct hwtd_diff_branch b;
	uint64_t rows = 0;
	size_t n;

	begin_table(t);
	if (t->report->options->format == FORMAT_TEXT)
		text_title(t, "Branches", "from -> to");
	else if (t->report->options->format == FORMAT_CSV &&
	    !t->report->options->no_header)
		output_text(out,
		    "image,from_off,to_image,to_off,function,to_function,"
		    "branch,only,change,a_count,b_count\n");
	for (uint64_t i = 0; !output_stopped(out) &&
	     hwtd_diff_branches(t->diff, i, &b, sizeof(b), 1, &n) == HWTD_OK;
	     i++) {
		if (!is_wanted(t, b.change))
			continue;
		write_branch(t, &b);
		rows++;
	}
	end_table(t, rows);
}

/* What both are, and how much of them is not there. */
static void
write_info(const struct table *t)
{
	const struct hwtd_diff_info *info = &t->info;
	struct output *out = t->report->out;

	if (t->report->options->format == FORMAT_TEXT &&
	    !t->report->options->no_header) {
		for (unsigned int i = 0; i < 2; i++) {
			output_format(out, "# %c: ", i == 0 ? 'A' : 'B');
			output_escaped(out, t->report->sides[i].name);
			output_format(out,
			    ": %llu in all, %llu functions of its own; %llu "
			    "gaps, %llu of %llu bytes\n",
			    (unsigned long long)info->total[i],
			    (unsigned long long)info->n_only[i],
			    (unsigned long long)info->gaps[i],
			    (unsigned long long)info->gap_bytes[i],
			    (unsigned long long)info->bytes[i]);
		}
		output_format(out,
		    "# images of both: %llu the same, %llu taken to be the "
		    "same, %llu different\n",
		    (unsigned long long)info->same_images,
		    (unsigned long long)info->assumed_images,
		    (unsigned long long)info->different_images);
	} else if (t->report->options->format == FORMAT_JSONL) {
		json_begin(out, "diff_info");
		json_name(out, "by", hwtd_diff_by_name(info->by));
		json_bool(out, "normalized", t->report->options->normalize);
		json_u64(out, "functions", info->n_functions);
		json_u64(out, "edges", info->n_edges);
		json_u64(out, "branches", info->n_branches);
		json_pair(out, "only", info->n_only);
		json_pair(out, "total", info->total);
		json_pair(out, "bytes", info->bytes);
		json_pair(out, "gap_bytes", info->gap_bytes);
		json_pair(out, "gaps", info->gaps);
		json_u64(out, "same_images", info->same_images);
		json_u64(out, "assumed_images", info->assumed_images);
		json_u64(out, "different_images", info->different_images);
		json_end(out);
	}
}

int
diff_tables(struct diff_report *report)
{
	const struct options *o = report->options;
	const struct hwtd_diff_options how = { .size = sizeof(how),
		.flags = o->normalize ? HWTD_DIFF_NORMALIZE : 0,
		.by = report->by };
	struct hwtd_error err = { .size = sizeof(err) };
	struct table t = { .report = report };

	if (hwtd_diff_create(report->library, report->sides[0].profile,
		report->sides[1].profile, &how, &t.diff, &err) != HWTD_OK)
		return (say_library_error("diff", &err));
	t.info.size = sizeof(t.info);
	(void)hwtd_diff_info(t.diff, &t.info);
	if (o->threshold > 0)
		t.least = o->threshold / 100 *
		    (double)(t.info.total[0] != 0 ? t.info.total[0]
						  : t.info.total[1]);
	write_info(&t);
	if (diff_shows(report, DIFF_FUNCTIONS))
		functions(&t);
	if (diff_shows(report, DIFF_EDGES))
		edges(&t);
	if (diff_shows(report, DIFF_BRANCHES))
		branches(&t);
	hwtd_diff_destroy(t.diff);
	return (EXIT_DONE);
}
