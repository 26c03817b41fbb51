/*
 * Where threads of two traces went different ways, with what both did before.
 */
#include "cli/output/color.h"
#include "cli/print/diff_report.h"
#include "cli/output/interrupt.h"
#include "cli/output/json_line.h"
#include "cli/output/message.h"

struct flow {
	struct diff_report *report;
	struct hwtd_divergences *divergences;
	uint64_t rows;
};

static int
open_flow(struct flow *f)
{
	const struct options *o = f->report->options;
	struct hwtd_events_options events[2];
	struct hwtd_divergences_options how = { .size = sizeof(how),
		.flags = o->with_kernel ? HWTD_DIVERGENCES_KERNEL : 0,
		.max_rows = o->divergences,
		.n_blocks = o->blocks,
		.window = o->window };
	struct hwtd_error err = { .size = sizeof(err) };

	for (unsigned int i = 0; i < 2; i++) {
		struct diff_side *s = &f->report->sides[i];
		const struct hwtd_symbolizer_options names = {
			.size = sizeof(names)
		};

		input_events_options(&s->options, &events[i]);
		how.events[i] = &events[i];
		if (o->one_tid[i] != UINT32_MAX)
			how.tid_plus_1[i] = o->one_tid[i] + 1;
		if (hwtd_symbolizer_open(s->input.input.trace, &names,
			&s->symbolizer, &err) != HWTD_OK)
			return (say_library_error(s->name, &err));
	}
	if (hwtd_divergences_open(f->report->sides[0].input.input.trace,
		f->report->sides[1].input.input.trace, &how, &f->divergences,
		&err) != HWTD_OK)
		return (say_library_error("diff", &err));
	return (EXIT_DONE);
}

/* Names. */

static struct hwtd_symbol
symbol_of(const struct flow *f, unsigned int side,
    const struct hwtd_flow_block *block)
{
	struct hwtd_where where = { .flags = HWTD_WHERE_SECTION,
		.section = block->section,
		.address = block->address };
	struct hwtd_symbol symbol = { .image = HWTD_NO_ID };

	if (block->section == HWTD_NO_ID)
		where.flags = 0;
	if (block->context != HWTD_NO_ID) {
		where.flags |= HWTD_WHERE_CONTEXT;
		where.context = block->context;
	}
	if (hwtd_symbolize(f->report->sides[side].symbolizer, &where,
		sizeof(where), 1, &symbol, sizeof(symbol), NULL) != HWTD_OK)
		memset(&symbol, 0, sizeof(symbol));
	return (symbol);
}

static const char *
last_name(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return (slash != NULL && slash[1] != '\0' ? slash + 1 : path);
}

static void
text_place(const struct flow *f, unsigned int side,
    const struct hwtd_flow_block *block)
{
	const struct hwtd_symbol symbol = symbol_of(f, side, block);
	struct output *out = f->report->out;

	output_hex(out, block->address);
	if (symbol.text != NULL) {
		output_char(out, ' ');
		output_escaped(out, symbol.text);
		if (symbol.offset != 0) {
			output_char(out, '+');
			output_hex(out, symbol.offset);
		}
	}
	if (symbol.image_name != NULL) {
		output_text(out, " (");
		output_escaped(out, last_name(symbol.image_name));
		output_char(out, '+');
		output_hex(out, block->file_off);
		output_char(out, ')');
	}
	if (symbol.n_frames != 0 && symbol.frames[0].file != NULL) {
		output_char(out, ' ');
		output_escaped(out, symbol.frames[0].file);
		output_format(out, ":%u", symbol.frames[0].line);
	}
}

static void
text_thread(struct output *out, const struct hwtd_divergence_pair *pair,
    unsigned int side)
{
	if (pair->tid[side] == HWTD_NO_ID)
		output_format(out, "stream %u", pair->stream[side]);
	else
		output_format(out, "%u/%u", pair->pid[side], pair->tid[side]);
	if (pair->name[side] != NULL) {
		output_char(out, ' ');
		output_escaped(out, pair->name[side]);
	}
}

/* Text. */

static const struct hwtd_flow_block *
block_at(const struct hwtd_divergence *row, const struct hwtd_flow_block *at,
    size_t i)
{
	return ((const struct hwtd_flow_block *)(const void *)((const char *)
								   at +
	    i * row->stride));
}

static void
text_next(const struct flow *f, const struct hwtd_divergence *row,
    unsigned int side)
{
	struct output *out = f->report->out;
	const char letter = side == 0 ? 'A' : 'B';
	const struct hwtd_flow_block *first = row->next[side];

	if (row->n_next[side] == 0) {
		output_format(out, "  %c ends here\n", letter);
		return;
	}
	output_format(out, "  %c ", letter);
	if ((first->flags & HWTD_EVF_TIME) != 0) {
		output_text(out, "at ");
		output_seconds(out, first->time_ns);
		output_char(out, ' ');
	}
	output_format(out, "(byte %llu of stream %u, instruction %llu):\n",
	    (unsigned long long)first->stream_off, first->stream,
	    (unsigned long long)first->insns_before);
	for (size_t i = 0; i < row->n_next[side]; i++) {
		output_text(out, "    ");
		text_place(f, side, block_at(row, row->next[side], i));
		output_char(out, '\n');
	}
}

static void
text_row(const struct flow *f, const struct hwtd_divergence *row,
    const struct hwtd_divergence_pair *pair)
{
	struct output *out = f->report->out;
	const bool color = color_wanted(f->report->options, out);

	if (color)
		output_text(out, COLOR_TITLE);
	output_text(out, "Thread ");
	text_thread(out, pair, 0);
	output_text(out, " of A and ");
	text_thread(out, pair, 1);
	output_format(out, " of B: %llu equal blocks, then ",
	    (unsigned long long)row->same);
	output_text(out,
	    row->kind == HWTD_DIVERGENCE_FLOW	   ? "different ones"
		: row->kind == HWTD_DIVERGENCE_END ? "one ends"
		: (row->flags & HWTD_DIVERGENCEF_BEHIND_GAP) != 0
		? "a gap, behind which nothing in common is found"
		: "nothing in common is found");
	if (color)
		output_text(out, COLOR_OFF);
	output_char(out, '\n');
	if ((row->flags & HWTD_DIVERGENCEF_AT_START) != 0)
		output_text(out, "  nothing before was the same\n");
	if ((row->flags & HWTD_DIVERGENCEF_BEHIND_GAP) != 0 &&
	    row->kind != HWTD_DIVERGENCE_LOST)
		output_text(out,
		    "  there was a gap before: what is in it was not "
		    "compared\n");
	if ((row->flags & HWTD_DIVERGENCEF_AMBIGUOUS) != 0)
		output_text(out,
		    "  behind it several places fitted: these may be "
		    "different iterations of a loop\n");
	if ((row->flags & HWTD_DIVERGENCEF_CODE_DIFFERS) != 0)
		output_text(out,
		    "  the code itself is not the same: these are different "
		    "builds\n");
	if (row->n_common != 0)
		output_text(out, "  both executed:\n");
	for (size_t i = 0; i < row->n_common; i++) {
		const struct hwtd_flow_block *block = block_at(row,
		    row->common[0], i);

		output_text(out, "    ");
		text_place(f, 0, block);
		if (i + 1 == row->n_common)
			output_format(out, "  [%s at its end, %#llx]",
			    hwtd_branch_name(block->branch),
			    (unsigned long long)(block->address +
				block->bytes));
		output_char(out, '\n');
	}
	text_next(f, row, 0);
	text_next(f, row, 1);
}

/* JSON lines. */

static void
json_block(const struct flow *f, unsigned int side,
    const struct hwtd_flow_block *block, bool first)
{
	const struct hwtd_symbol symbol = symbol_of(f, side, block);
	struct output *out = f->report->out;

	output_text(out, first ? "{\"address\":\"" : ",{\"address\":\"");
	output_hex(out, block->address);
	output_char(out, '"');
	json_hex(out, "file_off", block->file_off);
	json_u64(out, "bytes", block->bytes);
	json_u64(out, "insns", block->insns);
	json_u64(out, "insns_before", block->insns_before);
	json_name(out, "branch", hwtd_branch_name(block->branch));
	if ((block->flags & HWTD_EVF_TIME) != 0)
		json_u64(out, "time_ns", block->time_ns);
	if ((block->flags & HWTD_EVF_TIME_ESTIMATED) != 0)
		json_bool(out, "time_estimated", true);
	json_u64(out, "stream", block->stream);
	json_u64(out, "offset", block->stream_off);
	if (symbol.text != NULL) {
		json_string(out, "symbol", symbol.text);
		json_u64(out, "symbol_offset", symbol.offset);
	}
	if (symbol.image_name != NULL)
		json_string(out, "image", symbol.image_name);
	if (symbol.n_frames != 0 && symbol.frames[0].file != NULL) {
		json_string(out, "file", symbol.frames[0].file);
		json_u64(out, "line", symbol.frames[0].line);
	}
	output_char(out, '}');
}

static void
json_blocks(const struct flow *f, const char *name, unsigned int side,
    const struct hwtd_divergence *row, const struct hwtd_flow_block *at,
    size_t n)
{
	json_key(f->report->out, name);
	output_char(f->report->out, '[');
	for (size_t i = 0; i < n; i++)
		json_block(f, side, block_at(row, at, i), i == 0);
	output_char(f->report->out, ']');
}

static void
json_row(const struct flow *f, const struct hwtd_divergence *row)
{
	struct output *out = f->report->out;

	json_begin(out, "divergence");
	json_name(out, "kind", hwtd_divergence_kind_name(row->kind));
	json_u64(out, "pair", row->pair);
	json_u64(out, "same", row->same);
	if (row->kind == HWTD_DIVERGENCE_END)
		json_name(out, "ended", row->ended == HWTD_SIDE_A ? "a" : "b");
	json_bool(out, "behind_gap",
	    (row->flags & HWTD_DIVERGENCEF_BEHIND_GAP) != 0);
	json_bool(out, "ambiguous",
	    (row->flags & HWTD_DIVERGENCEF_AMBIGUOUS) != 0);
	json_bool(out, "code_differs",
	    (row->flags & HWTD_DIVERGENCEF_CODE_DIFFERS) != 0);
	json_bool(out, "at_start",
	    (row->flags & HWTD_DIVERGENCEF_AT_START) != 0);
	json_blocks(f, "common", 0, row, row->common[0], row->n_common);
	json_blocks(f, "a", 0, row, row->next[0], row->n_next[0]);
	json_blocks(f, "b", 1, row, row->next[1], row->n_next[1]);
	json_end(out);
}

/* CSV. */

static void
csv_block(const struct flow *f, unsigned int side,
    const struct hwtd_flow_block *block)
{
	struct output *out = f->report->out;
	struct hwtd_symbol symbol;

	if (block == NULL) {
		output_text(out, ",,,");
		return;
	}
	symbol = symbol_of(f, side, block);
	output_csv_hex(out, true, block->address);
	output_csv_u64(out, (block->flags & HWTD_EVF_TIME) != 0,
	    block->time_ns);
	output_char(out, ',');
	output_csv_string(out, symbol.text != NULL ? symbol.text : "");
}

static void
csv_row(const struct flow *f, const struct hwtd_divergence *row)
{
	struct output *out = f->report->out;

	output_format(out, "%s", hwtd_divergence_kind_name(row->kind));
	output_csv_u64(out, true, row->pair);
	output_csv_u64(out, true, row->same);
	output_csv_u64(out, true,
	    (row->flags & HWTD_DIVERGENCEF_BEHIND_GAP) != 0);
	output_csv_u64(out, true,
	    (row->flags & HWTD_DIVERGENCEF_AMBIGUOUS) != 0);
	for (unsigned int side = 0; side < 2; side++) {
		csv_block(f, side,
		    row->n_common != 0
			? block_at(row, row->common[side], row->n_common - 1)
			: NULL);
		csv_block(f, side,
		    row->n_next[side] != 0 ? row->next[side] : NULL);
	}
	output_char(out, '\n');
}

static void
write_row(struct flow *f, const struct hwtd_divergence *row)
{
	struct hwtd_divergence_pair pair = { .size = sizeof(pair) };

	(void)hwtd_divergences_pair(f->divergences, row->pair, &pair);
	f->rows++;
	if (row->kind != HWTD_DIVERGENCE_LOST)
		f->report->differs = true;
	switch (f->report->options->format) {
	case FORMAT_TEXT:
		text_row(f, row, &pair);
		break;
	case FORMAT_JSONL:
		json_row(f, row);
		break;
	case FORMAT_CSV:
		csv_row(f, row);
		break;
	}
}

/* Threads and images. */

static void
json_numbers(struct output *out, const char *name, const uint64_t values[2])
{
	json_key(out, name);
	output_format(out, "[%llu,%llu]", (unsigned long long)values[0],
	    (unsigned long long)values[1]);
}

static void
json_ids(struct output *out, const char *name, const uint32_t ids[2])
{
	json_key(out, name);
	for (unsigned int i = 0; i < 2; i++)
		if (ids[i] == HWTD_NO_ID)
			output_text(out, i == 0 ? "[null" : ",null]");
		else
			output_format(out, i == 0 ? "[%u" : ",%u]", ids[i]);
}

static void
json_thread(struct output *out, const struct hwtd_divergence_pair *p,
    uint32_t no)
{
	json_begin(out, "diff_thread");
	json_u64(out, "pair", no);
	json_ids(out, "pid", p->pid);
	json_ids(out, "tid", p->tid);
	json_ids(out, "stream", p->stream);
	if (p->name[0] != NULL)
		json_string(out, "a_name", p->name[0]);
	if (p->name[1] != NULL)
		json_string(out, "b_name", p->name[1]);
	json_u64(out, "same", p->same);
	json_u64(out, "same_insns", p->same_insns);
	json_numbers(out, "insns", p->insns);
	json_numbers(out, "other", p->other);
	json_numbers(out, "passed", p->passed);
	json_numbers(out, "foreign_insns", p->foreign_insns);
	json_numbers(out, "gaps", p->gaps);
	json_numbers(out, "gap_bytes", p->gap_bytes);
	json_u64(out, "divergences", p->divergences);
	json_bool(out, "done", (p->flags & HWTD_DIVERGENCE_PAIRF_DONE) != 0);
	json_bool(out, "lost", (p->flags & HWTD_DIVERGENCE_PAIRF_LOST) != 0);
	json_bool(out, "more", (p->flags & HWTD_DIVERGENCE_PAIRF_MORE) != 0);
	json_end(out);
}

static void
text_pair(struct output *out, const struct hwtd_divergence_pair *p)
{
	const uint32_t both = HWTD_DIVERGENCE_PAIRF_A |
	    HWTD_DIVERGENCE_PAIRF_B;

	if ((p->flags & both) != both) {
		output_text(out, "Thread ");
		text_thread(out, p,
		    (p->flags & HWTD_DIVERGENCE_PAIRF_A) != 0 ? 0 : 1);
		output_format(out, " is in %c only\n",
		    (p->flags & HWTD_DIVERGENCE_PAIRF_A) != 0 ? 'A' : 'B');
		return;
	}
	output_text(out, "Thread ");
	text_thread(out, p, 0);
	output_text(out, " of A and ");
	text_thread(out, p, 1);
	output_format(out,
	    " of B: %llu blocks are the same, %llu instructions",
	    (unsigned long long)p->same, (unsigned long long)p->same_insns);
	if (p->gaps[0] + p->gaps[1] != 0)
		output_format(out,
		    "; %llu and %llu gaps, for which %llu and %llu blocks "
		    "were passed over",
		    (unsigned long long)p->gaps[0],
		    (unsigned long long)p->gaps[1],
		    (unsigned long long)p->passed[0],
		    (unsigned long long)p->passed[1]);
	if (p->other[0] + p->other[1] != 0)
		output_format(out, "; %llu and %llu are of one only",
		    (unsigned long long)p->other[0],
		    (unsigned long long)p->other[1]);
	if (p->foreign_insns[0] + p->foreign_insns[1] != 0)
		output_format(out,
		    "; %llu and %llu instructions are in different builds "
		    "and were not compared",
		    (unsigned long long)p->foreign_insns[0],
		    (unsigned long long)p->foreign_insns[1]);
	if ((p->flags & HWTD_DIVERGENCE_PAIRF_MORE) != 0)
		output_text(out, "; what follows was not compared");
	if ((p->flags & HWTD_DIVERGENCE_PAIRF_DONE) == 0)
		output_text(out, "; not all was compared");
	output_char(out, '\n');
}

static void
write_pairs(struct flow *f)
{
	struct output *out = f->report->out;
	struct hwtd_divergence_pair p = { .size = sizeof(p) };
	const uint32_t both = HWTD_DIVERGENCE_PAIRF_A |
	    HWTD_DIVERGENCE_PAIRF_B;
	uint64_t none = 0;

	for (uint32_t i = 0;
	     hwtd_divergences_pair(f->divergences, i, &p) == HWTD_OK; i++) {
		none += p.insns[0] + p.insns[1];
		if ((p.flags & both) != both)
			f->report->differs = true;
		if (f->report->options->format == FORMAT_TEXT)
			text_pair(out, &p);
		else if (f->report->options->format == FORMAT_JSONL)
			json_thread(out, &p, i);
	}
	if (none == 0 && f->report->options->format == FORMAT_TEXT)
		output_text(out,
		    "No code was compared; --kernel compares that of kernels, "
		    "too\n");
}

static void
write_images(const struct flow *f)
{
	struct output *out = f->report->out;
	struct hwtd_divergence_image image = { .size = sizeof(image) };
	const char *said = NULL;

	for (uint32_t i = 0;
	     hwtd_divergences_image(f->divergences, i, &image) == HWTD_OK;
	     i++) {
		const char *path = image.path[0] != NULL ? image.path[0]
							 : image.path[1];

		if (image.insns[0] + image.insns[1] == 0)
			continue;
		if (f->report->options->format == FORMAT_JSONL) {
			json_begin(out, "diff_image");
			json_string(out, "image", path != NULL ? path : "");
			json_name(out, "state",
			    hwtd_divergence_image_state_name(image.state));
			json_numbers(out, "insns", image.insns);
			json_end(out);
			continue;
		}
		if (f->report->options->format != FORMAT_TEXT ||
		    (image.state != HWTD_DIVERGENCE_IMAGE_DIFFERENT &&
			image.state != HWTD_DIVERGENCE_IMAGE_ASSUMED))
			continue;
		/* Pieces of one file are images of one name. */
		if (path == NULL || (said != NULL && strcmp(said, path) == 0))
			continue;
		said = path;
		output_text(out,
		    image.state == HWTD_DIVERGENCE_IMAGE_DIFFERENT
			? "Different builds: "
			: "Taken to be the same, since no build-id tells: ");
		output_escaped(out, path);
		output_char(out, '\n');
	}
}

/* Loss, where no profile tells of it. */
static void
note_loss(const struct flow *f)
{
	struct hwtd_divergences_info info = { .size = sizeof(info) };

	if (hwtd_divergences_info(f->divergences, &info) != HWTD_OK)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		struct hwtd_stats *stats = &f->report->sides[i].stats;

		stats->bytes = info.stream_bytes[i];
		stats->gap_bytes = info.gap_bytes[i];
		stats->file_gap_bytes = info.file_gap_bytes[i];
		stats->gaps[HWTD_GAP_UNKNOWN] = info.gaps[i];
	}
}

static int
read_all(struct flow *f)
{
	struct hwtd_divergences_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct progress *progress = &f->report->progress;
	int code = EXIT_DONE, rc = HWTD_OK;

	progress_start(progress, f->report->options->progress, 0);
	while (rc == HWTD_OK && code == EXIT_DONE &&
	    !output_stopped(f->report->out)) {
		struct hwtd_divergence row = { .size = sizeof(row) };

		rc = hwtd_divergences_read(f->divergences, &row, &err);
		if (rc == HWTD_OK && row.kind != HWTD_DIVERGENCE_UNKNOWN)
			write_row(f, &row);
		if (progress_due(progress) &&
		    hwtd_divergences_info(f->divergences, &info) == HWTD_OK) {
			progress->total_bytes = info.all_bytes;
			progress_show(progress, info.bytes);
		}
		if (rc == HWTD_OK && interrupt_seen())
			code = EXIT_INTERRUPTED;
	}
	progress_end(progress);
	if (rc < 0)
		code = say_library_error("diff", &err);
	return (code);
}

int
diff_flow(struct diff_report *report)
{
	struct flow f = { .report = report };
	int code = open_flow(&f);

	if (code == EXIT_DONE) {
		if (report->options->format == FORMAT_CSV &&
		    !report->options->no_header)
			output_text(report->out,
			    "kind,pair,same,behind_gap,ambiguous,"
			    "a_from,a_from_ns,a_from_symbol,a_to,a_to_ns,"
			    "a_to_symbol,b_from,b_from_ns,b_from_symbol,b_to,"
			    "b_to_ns,b_to_symbol\n");
		else if (report->options->format == FORMAT_TEXT &&
		    !report->options->no_header)
			output_text(report->out, "Flow\n");
		code = read_all(&f);
	}
	if (code == EXIT_DONE || code == EXIT_INTERRUPTED) {
		note_loss(&f);
		write_pairs(&f);
		write_images(&f);
	}
	hwtd_divergences_close(f.divergences);
	return (code);
}
