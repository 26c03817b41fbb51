/*
 * Tables of samples: what a row is, and what the numbers depend on.
 */
#include <inttypes.h>

#include "cli/output/json_line.h"
#include "cli/print/mem_report.h"
#include "cli/output/message.h"

void
mem_text_code(struct output *out, const char *image, const char *symbol,
    uint64_t symbol_off)
{
	const char *slash = image != NULL ? strrchr(image, '/') : NULL;
	const char *base = slash != NULL ? slash + 1 : image;

	if (symbol != NULL)
		output_escaped(out, symbol);
	else
		output_escaped(out, base != NULL ? base : "?");
	if (symbol_off != 0)
		output_format(out, "+0x%" PRIx64, symbol_off);
	if (symbol != NULL && base != NULL) {
		output_text(out, " (");
		output_escaped(out, base);
		output_char(out, ')');
	}
}

static void
text_id(struct output *out, const char *before, uint32_t id)
{
	if (id == HWTD_NO_ID)
		output_format(out, "%s-", before);
	else
		output_format(out, "%s%" PRIu32, before, id);
}

static void
text_source(struct output *out, const struct hwtd_memory_row *row)
{
	output_text(out,
	    (row->flags & HWTD_MEMORY_ROW_STORES) != 0 ? "stores " : "loads ");
	if ((row->flags & HWTD_MEMORY_ROW_SOURCE) == 0)
		output_text(out, "none");
	else if (row->source_name != NULL)
		output_format(out, "%s 0x%" PRIx64, row->source_name,
		    row->source);
	else
		output_format(out, "0x%" PRIx64, row->source);
}

static void
text_way(struct output *out, const struct hwtd_memory_row *row)
{
	if ((row->flags & HWTD_MEMORY_ROW_PREV_TARGET) != 0)
		output_format(out, "0x%" PRIx64 " .. ", row->prev_target);
	output_format(out, "0x%" PRIx64, row->address);
	if ((row->flags & HWTD_MEMORY_ROW_TO) != 0)
		output_format(out, " -> 0x%" PRIx64, row->to);
	else if ((row->flags & HWTD_MEMORY_ROW_TAKEN) != 0)
		output_text(out, " -> ?");
	else if (row->branches != 0)
		output_text(out, " not taken");
	output_text(out, "  ");
}

void
mem_text_what(struct mem_report *report, const struct hwtd_memory_row *row)
{
	struct output *out = report->out;

	if ((row->flags & HWTD_MEMORY_ROW_OTHER) != 0) {
		output_text(out, "all others (the table is full)");
		return;
	}
	switch (report->table) {
	case HWTD_MEMORY_SYMBOL:
		mem_text_code(out, row->image, row->symbol, 0);
		break;
	case HWTD_MEMORY_INSN:
		if ((row->flags & HWTD_MEMORY_ROW_ADDRESS) != 0)
			output_format(out, "0x%" PRIx64 "  ", row->address);
		mem_text_code(out, row->image, row->symbol, row->symbol_off);
		break;
	case HWTD_MEMORY_ADDRESS:
	case HWTD_MEMORY_PAGE:
	case HWTD_MEMORY_LINE:
		output_format(out, "0x%" PRIx64, row->address);
		if (row->pid != HWTD_NO_ID)
			text_id(out, " of process ", row->pid);
		if (report->accesses)
			output_format(out,
			    "  %s sharing, %" PRIu32 " users, %" PRIu32
			    " write, on %" PRIu32 " CPUs",
			    hwtd_memory_sharing_name(row->sharing), row->users,
			    row->writers, row->cpus);
		break;
	case HWTD_MEMORY_SOURCE:
		text_source(out, row);
		break;
	case HWTD_MEMORY_CPU:
		text_id(out, "cpu ", row->cpu);
		break;
	case HWTD_MEMORY_THREAD:
		text_id(out, "process ", row->pid);
		text_id(out, " thread ", row->tid);
		break;
	default:
		text_way(out, row);
		mem_text_code(out, row->image, row->symbol, row->symbol_off);
		break;
	}
}

static bool
is_code(const struct mem_report *report)
{
	return (report->table == HWTD_MEMORY_SYMBOL ||
	    report->table == HWTD_MEMORY_INSN ||
	    report->table == HWTD_MEMORY_BRANCH ||
	    report->table == HWTD_MEMORY_PATH);
}

static void
json_id(struct output *out, const char *name, uint32_t id)
{
	if (id != HWTD_NO_ID)
		json_u64(out, name, id);
}

static void
json_code(struct mem_report *report, const struct hwtd_memory_row *row)
{
	struct output *out = report->out;

	if (row->image != NULL)
		json_string(out, "image", row->image);
	if (row->symbol == NULL) {
		if (row->image != NULL && report->table != HWTD_MEMORY_SYMBOL)
			json_hex(out, "image_offset", row->symbol_off);
		return;
	}
	json_string(out, "symbol", row->symbol);
	if (report->table == HWTD_MEMORY_SYMBOL)
		json_hex(out, "symbol_address", row->symbol_off);
	else
		json_u64(out, "symbol_offset", row->symbol_off);
}

void
mem_json_what(struct mem_report *report, const struct hwtd_memory_row *row)
{
	const bool is_way = report->table == HWTD_MEMORY_BRANCH ||
	    report->table == HWTD_MEMORY_PATH;
	struct output *out = report->out;

	if ((row->flags & HWTD_MEMORY_ROW_OTHER) != 0) {
		json_bool(out, "others", true);
		return;
	}
	if ((row->flags & HWTD_MEMORY_ROW_PREV_TARGET) != 0)
		json_hex(out, "prev_target", row->prev_target);
	if ((row->flags & HWTD_MEMORY_ROW_ADDRESS) != 0)
		json_hex(out, is_way ? "from" : "address", row->address);
	if ((row->flags & HWTD_MEMORY_ROW_TO) != 0)
		json_hex(out, "to", row->to);
	/* Of paths others than branches are part, too. */
	if (is_way && row->branches != 0)
		json_bool(out, "is_taken",
		    (row->flags & HWTD_MEMORY_ROW_TAKEN) != 0);
	if (report->table == HWTD_MEMORY_SOURCE) {
		json_name(out, "of",
		    (row->flags & HWTD_MEMORY_ROW_STORES) != 0 ? "stores"
							       : "loads");
		json_key(out, "source");
		if ((row->flags & HWTD_MEMORY_ROW_SOURCE) != 0)
			output_u64(out, row->source);
		else
			output_text(out, "null");
		if (row->source_name != NULL)
			json_name(out, "source_name", row->source_name);
	}
	json_id(out, "cpu", row->cpu);
	json_id(out, "pid", row->pid);
	json_id(out, "tid", row->tid);
	if (is_code(report))
		json_code(report, row);
	if (report->accesses) {
		json_name(out, "sharing",
		    hwtd_memory_sharing_name(row->sharing));
		json_u64(out, "users", row->users);
		json_u64(out, "writers", row->writers);
		json_u64(out, "cpus", row->cpus);
	}
}

/* One set of columns for all tables: what a table has not is empty. */
void
mem_csv_what_header(struct mem_report *report)
{
	output_text(report->out,
	    "by,prev_target,from,to,is_taken,address,of,source,source_name,"
	    "cpu,pid,tid,image,symbol,symbol_address,symbol_offset,sharing,"
	    "users,writers,cpus");
}

static void
csv_text(struct output *out, const char *text)
{
	output_char(out, ',');
	if (text != NULL)
		output_csv_string(out, text);
}

void
mem_csv_what(struct mem_report *report, const struct hwtd_memory_row *row)
{
	const bool is_way = report->table == HWTD_MEMORY_BRANCH ||
	    report->table == HWTD_MEMORY_PATH;
	const bool is_source = report->table == HWTD_MEMORY_SOURCE;
	const bool is_symbol = report->table == HWTD_MEMORY_SYMBOL;
	const bool is_other = (row->flags & HWTD_MEMORY_ROW_OTHER) != 0;
	const bool has_address = (row->flags & HWTD_MEMORY_ROW_ADDRESS) != 0;
	const bool shares = report->accesses;
	struct output *out = report->out;

	output_text(out,
	    is_other ? "others" : hwtd_memory_table_name(report->table));
	output_csv_hex(out, (row->flags & HWTD_MEMORY_ROW_PREV_TARGET) != 0,
	    row->prev_target);
	output_csv_hex(out, is_way && has_address, row->address);
	output_csv_hex(out, (row->flags & HWTD_MEMORY_ROW_TO) != 0, row->to);
	output_csv_u64(out, is_way && row->branches != 0 && !is_other,
	    (row->flags & HWTD_MEMORY_ROW_TAKEN) != 0);
	output_csv_hex(out, !is_way && has_address, row->address);
	csv_text(out,
	    !is_source || is_other			     ? NULL
		: (row->flags & HWTD_MEMORY_ROW_STORES) != 0 ? "stores"
							     : "loads");
	output_csv_u64(out, (row->flags & HWTD_MEMORY_ROW_SOURCE) != 0,
	    row->source);
	csv_text(out,
	    is_source && !is_other &&
		    (row->flags & HWTD_MEMORY_ROW_SOURCE) == 0
		? "none"
		: row->source_name);
	output_csv_u64(out, row->cpu != HWTD_NO_ID, row->cpu);
	output_csv_u64(out, row->pid != HWTD_NO_ID, row->pid);
	output_csv_u64(out, row->tid != HWTD_NO_ID, row->tid);
	csv_text(out, row->image);
	csv_text(out, row->symbol);
	output_csv_hex(out, row->symbol != NULL && is_symbol, row->symbol_off);
	output_csv_u64(out, row->symbol != NULL && !is_symbol,
	    row->symbol_off);
	csv_text(out, shares ? hwtd_memory_sharing_name(row->sharing) : NULL);
	output_csv_u64(out, shares, row->users);
	output_csv_u64(out, shares, row->writers);
	output_csv_u64(out, shares, row->cpus);
}

/* Notes. */

/* Variant and revision: 0 where only the name of the CPU was given. */
#define MIDR_VERSION UINT32_C(0x00f0000f)

static void
text_interval(struct output *out, const struct hwtd_memory_info *info)
{
	if (info->interval_max == 0)
		output_text(out,
		    "# interval   not known: samples have no weight "
		    "(--spe-interval)\n");
	else if (info->interval_min == info->interval_max)
		output_format(out,
		    "# interval   %" PRIu64
		    ": weights are estimates of operations before "
		    "filtering\n",
		    info->interval_max);
	else
		output_format(out, "# interval   %" PRIu64 " to %" PRIu64 "\n",
		    info->interval_min, info->interval_max);
	if (info->interval_max != 0 && info->unweighted != 0)
		output_format(out,
		    "#            %" PRIu64 " samples have no weight\n",
		    info->unweighted);
}

static void
text_cpu(struct output *out, const struct hwtd_memory_info *info)
{
	if ((info->flags & HWTD_MEMORY_INFO_NO_MIDR) != 0)
		output_text(out,
		    "# cpu        not known: data sources are numbers, levels "
		    "are by events (--spe-cpu)\n");
	else if (info->midr != 0)
		output_format(out, "# cpu        MIDR 0x%" PRIx32 "\n",
		    info->midr);
	else if ((info->flags & HWTD_MEMORY_INFO_MANY_MIDRS) != 0)
		output_text(out, "# cpu        of several kinds\n");
	if ((info->flags & HWTD_MEMORY_INFO_BRANCH_BIAS) != 0)
		output_format(out,
		    "# bias       erratum 1694299 (Neoverse N1 before "
		    "r4p1%s): "
		    "targets of branches are\n"
		    "#            sampled too often, what follows them too "
		    "seldom\n",
		    (info->midr & MIDR_VERSION) == 0 ? ", if it is one" : "");
}

void
mem_text_notes(struct mem_report *report, const struct hwtd_memory_info *info)
{
	struct output *out = report->out;

	output_format(out,
	    "# samples    %" PRIu64 ", of them %" PRIu64 " used",
	    info->samples, info->used);
	if (info->samples != info->used)
		output_format(out,
		    "; left out: %" PRIu64 " damaged, %" PRIu64
		    " cut off, %" PRIu64 " mixed, %" PRIu64
		    " without beginning",
		    info->damaged, info->truncated, info->duplicate,
		    info->headless);
	output_char(out, '\n');
	if (report->interrupted)
		output_text(out, "# interrupted: later samples are missing\n");
	if (report->gap_bytes != 0)
		output_format(out,
		    "# loss       %" PRIu64 " of %" PRIu64
		    " bytes; buffers began or ended inside a record %" PRIu64
		    " times\n",
		    report->gap_bytes, report->bytes,
		    report->gaps[HWTD_GAP_TRUNCATED]);
	if (report->buffers == 0)
		output_text(out, "# collisions not told by the trace\n");
	else
		output_format(out,
		    "# collisions in %" PRIu64 " of %" PRIu64
		    " buffers; in %" PRIu64 " samples were lost\n",
		    report->collided, report->buffers, report->cut_short);
	text_interval(out, info);
	text_cpu(out, info);
	if (info->saturated != 0)
		output_format(out,
		    "# latencies  %" PRIu64
		    " samples at the limit of a counter: not in means\n",
		    info->saturated);
	if (info->without_symbol != 0 && is_code(report))
		output_format(out,
		    "# symbols    %" PRIu64
		    " samples are in code without: its file was not found, or "
		    "has none\n",
		    info->without_symbol);
	if (info->without_origin != 0)
		output_format(out,
		    "# levels     %" PRIu64
		    " loads and stores tell no level\n",
		    info->without_origin);
	if (info->accesses_lost != 0)
		output_format(out,
		    "# accesses   %" PRIu64 " are not kept by byte\n",
		    info->accesses_lost);
	output_char(out, '\n');
}

void
mem_json_notes(struct mem_report *report, const struct hwtd_memory_info *info)
{
	struct output *out = report->out;

	json_begin(out, "mem_info");
	json_u64(out, "samples", info->samples);
	json_u64(out, "used", info->used);
	json_u64(out, "damaged", info->damaged);
	json_u64(out, "truncated", info->truncated);
	json_u64(out, "duplicate", info->duplicate);
	json_u64(out, "headless", info->headless);
	json_u64(out, "without_pc", info->without_pc);
	json_u64(out, "without_symbol", info->without_symbol);
	json_u64(out, "without_origin", info->without_origin);
	json_u64(out, "saturated", info->saturated);
	json_u64(out, "unweighted", info->unweighted);
	json_u64(out, "accesses_lost", info->accesses_lost);
	json_u64(out, "bytes", report->bytes);
	json_u64(out, "gap_bytes", report->gap_bytes);
	json_u64(out, "truncations", report->gaps[HWTD_GAP_TRUNCATED]);
	if (report->buffers == 0) {
		json_key(out, "collisions");
		output_text(out, "null");
	} else {
		json_u64(out, "collisions", report->collided);
		json_u64(out, "buffers", report->buffers);
		json_u64(out, "buffers_cut_short", report->cut_short);
	}
	if (info->interval_max != 0) {
		json_u64(out, "interval_min", info->interval_min);
		json_u64(out, "interval_max", info->interval_max);
	}
	if (info->midr != 0)
		json_hex(out, "midr", info->midr);
	json_bool(out, "cpu_unknown",
	    (info->flags & HWTD_MEMORY_INFO_NO_MIDR) != 0);
	json_bool(out, "branch_bias",
	    (info->flags & HWTD_MEMORY_INFO_BRANCH_BIAS) != 0);
	json_bool(out, "table_full",
	    (info->flags & HWTD_MEMORY_INFO_FULL) != 0);
	if (report->interrupted)
		json_bool(out, "interrupted", true);
	json_u64(out, "rows", info->rows[report->table]);
	json_end(out);
}
