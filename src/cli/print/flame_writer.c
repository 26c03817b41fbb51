/*
 * Printing a flame.
 */
#include "cli/print/flame_writer.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

#define BATCH 256
/* Deeper frames have their level as a number. */
#define INDENT_LEVELS 60

struct writer {
	struct output *out;
	const struct hwtd_flame *flame;
	struct hwtd_flame_info info;
	/* What shares are of. */
	uint64_t base_total;
	bool compared;
};

static double
percent(uint64_t part, uint64_t whole)
{
	return (whole == 0 ? 0 : 100.0 * (double)part / (double)whole);
}

/* Text. */

static void
text_header(const struct writer *w)
{
	const char *what = w->info.value == HWTD_VALUE_TIME
	    ? "time_ns"
	    : hwtd_export_value_name(w->info.value);

	if (w->compared)
		output_format(w->out, "%8s %8s %8s %16s  %s\n", "total",
		    "before", "change", what, "stack");
	else
		output_format(w->out, "%8s %8s %16s  %s\n", "total", "self",
		    what, "stack");
}

static void
text_row(const struct writer *w, const struct hwtd_flame_node *node,
    const struct hwtd_flame_frame *frame)
{
	const double now = percent(node->value, w->info.total);

	if (w->compared) {
		const double before = percent(node->base, w->base_total);

		output_format(w->out, "%7.2f%% %7.2f%% %+7.2f%%", now, before,
		    now - before);
	} else {
		output_format(w->out, "%7.2f%% %7.2f%%", now,
		    percent(node->self, w->info.total));
	}
	output_format(w->out, " %16llu  ", (unsigned long long)node->value);
	for (uint32_t i = 0; i < node->depth && i < INDENT_LEVELS; i++)
		output_text(w->out, "  ");
	if (node->depth > INDENT_LEVELS)
		output_format(w->out, "[%u] ", node->depth);
	output_escaped(w->out, frame->name);
	if (node->merged != 0)
		output_format(w->out, " (%llu frame%s)",
		    (unsigned long long)node->merged,
		    node->merged == 1 ? "" : "s");
	output_char(w->out, '\n');
}

static void
text_notes(const struct writer *w)
{
	const struct hwtd_flame_info *i = &w->info;

	output_format(w->out, "\n%llu gap%s of %llu bytes of trace",
	    (unsigned long long)i->gaps, i->gaps == 1 ? "" : "s",
	    (unsigned long long)i->gap_bytes);
	if (i->value == HWTD_VALUE_TIME)
		output_format(w->out, ", %.2f%% of the time",
		    percent(i->gap, i->total));
	if (w->compared)
		output_format(w->out, "; before: %llu of %llu bytes",
		    (unsigned long long)i->base_gaps,
		    (unsigned long long)i->base_gap_bytes);
	output_char(w->out, '\n');
}

/* JSON lines. */

static void
json_row(const struct writer *w, uint32_t no,
    const struct hwtd_flame_node *node, const struct hwtd_flame_frame *frame)
{
	struct output *out = w->out;

	json_begin(out, "flame_frame");
	json_u64(out, "id", no);
	if (node->parent != HWTD_NO_ID)
		json_u64(out, "parent", node->parent);
	json_u64(out, "depth", node->depth);
	json_string(out, "kind", hwtd_flame_kind_name(frame->kind));
	json_string(out, "name", frame->name);
	if (frame->image != NULL)
		json_string(out, "image", frame->image);
	if (frame->file != NULL)
		json_string(out, "file", frame->file);
	if (frame->line != 0)
		json_u64(out, "line", frame->line);
	json_u64(out, "value", node->value);
	json_u64(out, "self", node->self);
	if (w->compared) {
		json_u64(out, "before", node->base);
		json_u64(out, "self_before", node->base_self);
	}
	if (node->merged != 0)
		json_u64(out, "merged", node->merged);
	json_end(out);
}

static void
json_notes(const struct writer *w)
{
	const struct hwtd_flame_info *i = &w->info;
	struct output *out = w->out;

	json_begin(out, "flame_summary");
	json_string(out, "value", hwtd_export_value_name(i->value));
	json_u64(out, "frames", i->n_nodes);
	json_u64(out, "total", i->total);
	json_u64(out, "in_gaps", i->gap);
	json_u64(out, "gaps", i->gaps);
	json_u64(out, "gap_bytes", i->gap_bytes);
	if (w->compared) {
		json_u64(out, "total_before", i->base_total);
		json_u64(out, "in_gaps_before", i->base_gap);
		json_u64(out, "gaps_before", i->base_gaps);
		json_u64(out, "gap_bytes_before", i->base_gap_bytes);
	}
	json_u64(out, "smaller", i->smaller);
	json_u64(out, "deeper", i->deeper);
	json_u64(out, "other_calls", i->others);
	json_end(out);
}

/* CSV. */

static void
csv_row(const struct writer *w, uint32_t no,
    const struct hwtd_flame_node *node, const struct hwtd_flame_frame *frame)
{
	struct output *out = w->out;

	output_u64(out, no);
	output_csv_u64(out, node->parent != HWTD_NO_ID, node->parent);
	output_csv_u64(out, true, node->depth);
	output_char(out, ',');
	output_text(out, hwtd_flame_kind_name(frame->kind));
	output_char(out, ',');
	output_csv_string(out, frame->name);
	output_char(out, ',');
	output_csv_string(out, frame->image != NULL ? frame->image : "");
	output_csv_u64(out, true, node->value);
	output_csv_u64(out, true, node->self);
	output_csv_u64(out, w->compared, node->base);
	output_csv_u64(out, w->compared, node->base_self);
	output_csv_u64(out, node->merged != 0, node->merged);
	output_char(out, '\n');
}

static void
write_mark(struct output *out, enum flame_format format)
{
	if (format == FLAME_JSONL) {
		json_begin(out, "interrupted");
		json_end(out);
	} else {
		output_text(out,
		    format == FLAME_CSV ? "interrupted,,,,,,,,,,\n"
					: "interrupted\n");
	}
}

int
flame_write(struct output *out, const struct options *options,
    enum flame_format format, const struct hwtd_flame *flame, bool interrupted)
{
	struct writer w = { .out = out,
		.flame = flame,
		.info = { .size = sizeof(w.info) } };
	struct hwtd_flame_node nodes[BATCH];
	size_t n;

	(void)hwtd_flame_info(flame, &w.info);
	w.compared = (w.info.flags & HWTD_FLAMEF_COMPARED) != 0;
	if (format == FLAME_TEXT && !options->no_header)
		text_header(&w);
	else if (format == FLAME_CSV && !options->no_header)
		output_text(out,
		    "id,parent,depth,kind,name,image,value,self,before,"
		    "self_before,merged\n");
	for (uint64_t at = 0; !output_stopped(out) &&
	     hwtd_flame_nodes(flame, at, nodes, sizeof(*nodes), BATCH, &n) ==
		 HWTD_OK;
	     at += n) {
		if (at == 0)
			w.base_total = nodes[0].base;
		for (size_t i = 0; i < n; i++) {
			struct hwtd_flame_frame frame = {
				.size = sizeof(frame)
			};
			const uint32_t no = (uint32_t)(at + i);

			(void)hwtd_flame_frame(flame, nodes[i].frame, &frame);
			if (format == FLAME_TEXT)
				text_row(&w, &nodes[i], &frame);
			else if (format == FLAME_JSONL)
				json_row(&w, no, &nodes[i], &frame);
			else
				csv_row(&w, no, &nodes[i], &frame);
		}
	}
	if (format == FLAME_TEXT && !options->no_header)
		text_notes(&w);
	else if (format == FLAME_JSONL)
		json_notes(&w);
	if (interrupted)
		write_mark(out, format);
	return (EXIT_DONE);
}
