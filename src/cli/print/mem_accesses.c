/*
 * Tables of samples: who touches which byte of a cache line.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/output/json_line.h"
#include "cli/print/mem_report.h"
#include "cli/output/message.h"

#define READ_ACCESSES 256

/* All of a line; freed by the caller.  False after a message. */
static bool
read_all(const struct mem_report *report, uint64_t no,
    struct hwtd_memory_access **out, size_t *n_out)
{
	struct hwtd_memory_access *all = NULL;
	size_t n = 0, got = 0;

	for (;;) {
		struct hwtd_memory_access *grown = realloc(all,
		    (n + READ_ACCESSES) * sizeof(*all));

		if (grown == NULL) {
			say_error("out of memory");
			free(all);
			return (false);
		}
		all = grown;
		if (hwtd_memory_accesses(report->memory, no, n, all + n,
			sizeof(*all), READ_ACCESSES, &got) != HWTD_OK)
			break;
		n += got;
	}
	*out = all;
	*n_out = n;
	return (true);
}

#define COMPARE(a, b)                                                         \
	do {                                                                  \
		if ((a) != (b))                                               \
			return ((a) < (b) ? -1 : 1);                          \
	} while (0)

/* Text tells CPUs and data sources in sums only. */
static int
by_code(const void *va, const void *vb)
{
	const struct hwtd_memory_access *a = va, *b = vb;

	COMPARE(a->offset, b->offset);
	COMPARE(a->pid, b->pid);
	COMPARE(a->tid, b->tid);
	/* Where threads are not known CPUs stand for them. */
	if (a->tid == HWTD_NO_ID)
		COMPARE(a->cpu, b->cpu);
	COMPARE(a->flags & HWTD_MEMORY_ROW_ADDRESS,
	    b->flags & HWTD_MEMORY_ROW_ADDRESS);
	COMPARE(a->pc, b->pc);
	return (0);
}

static void
write_text(struct output *out, struct hwtd_memory_access *all, size_t n)
{
	size_t end;

	qsort(all, n, sizeof(*all), by_code);
	for (size_t i = 0; i < n; i = end) {
		struct hwtd_memory_access sum = all[i];

		for (end = i + 1; end < n && by_code(&all[i], &all[end]) == 0;
		     end++) {
			sum.loads += all[end].loads;
			sum.stores += all[end].stores;
			sum.transfers += all[end].transfers;
			sum.latency += all[end].latency;
		}
		output_format(out, "    +%-4" PRIu32, sum.offset);
		if (sum.tid != HWTD_NO_ID)
			output_format(out, " thread %-8" PRIu32, sum.tid);
		else if (sum.cpu != HWTD_NO_ID)
			output_format(out, " cpu %-11" PRIu32, sum.cpu);
		output_format(out,
		    " loads %-7" PRIu64 " stores %-7" PRIu64
		    " transfers %-7" PRIu64 " cycles %-9" PRIu64 " ",
		    sum.loads, sum.stores, sum.transfers, sum.latency);
		if ((sum.flags & HWTD_MEMORY_ROW_ADDRESS) != 0)
			output_format(out, "0x%" PRIx64 " ", sum.pc);
		mem_text_code(out, sum.image, sum.symbol, sum.symbol_off);
		output_char(out, '\n');
	}
}

static void
json_id(struct output *out, const char *name, uint32_t id)
{
	if (id != HWTD_NO_ID)
		json_u64(out, name, id);
}

static void
write_json(struct output *out, const struct hwtd_memory_row *row,
    const struct hwtd_memory_access *a)
{
	json_begin(out, "mem_access");
	json_hex(out, "line", row->address);
	json_u64(out, "offset", a->offset);
	json_id(out, "cpu", a->cpu);
	json_id(out, "pid", a->pid);
	json_id(out, "tid", a->tid);
	if ((a->flags & HWTD_MEMORY_ROW_ADDRESS) != 0)
		json_hex(out, "pc", a->pc);
	json_key(out, "source");
	if ((a->flags & HWTD_MEMORY_ROW_SOURCE) != 0)
		output_u64(out, a->source);
	else
		output_text(out, "null");
	if (a->source_name != NULL)
		json_name(out, "source_name", a->source_name);
	if (a->image != NULL)
		json_string(out, "image", a->image);
	if (a->symbol != NULL) {
		json_string(out, "symbol", a->symbol);
		json_u64(out, "symbol_offset", a->symbol_off);
	} else if (a->image != NULL) {
		json_hex(out, "image_offset", a->symbol_off);
	}
	json_u64(out, "loads", a->loads);
	json_u64(out, "stores", a->stores);
	json_u64(out, "transfers", a->transfers);
	json_u64(out, "latency", a->latency);
	json_end(out);
}

static void
csv_id(struct output *out, uint32_t id)
{
	output_char(out, ',');
	if (id != HWTD_NO_ID)
		output_u64(out, id);
}

static void
csv_text(struct output *out, const char *text)
{
	output_char(out, ',');
	if (text != NULL)
		output_csv_string(out, text);
}

static void
write_csv(struct output *out, const struct hwtd_memory_row *row,
    const struct hwtd_memory_access *a)
{
	output_hex(out, row->address);
	output_format(out, ",%s,%" PRIu32,
	    hwtd_memory_sharing_name(row->sharing), a->offset);
	csv_id(out, a->cpu);
	csv_id(out, a->pid);
	csv_id(out, a->tid);
	output_char(out, ',');
	if ((a->flags & HWTD_MEMORY_ROW_ADDRESS) != 0)
		output_hex(out, a->pc);
	output_char(out, ',');
	if ((a->flags & HWTD_MEMORY_ROW_SOURCE) != 0)
		output_u64(out, a->source);
	csv_text(out,
	    (a->flags & HWTD_MEMORY_ROW_SOURCE) == 0 ? "none"
						     : a->source_name);
	csv_text(out, a->image);
	csv_text(out, a->symbol);
	output_char(out, ',');
	if (a->symbol != NULL)
		output_u64(out, a->symbol_off);
	output_format(out,
	    ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", a->loads,
	    a->stores, a->transfers, a->latency);
}

int
mem_accesses(struct mem_report *report, uint64_t no,
    const struct hwtd_memory_row *row)
{
	struct hwtd_memory_access *all;
	size_t n;

	if (!read_all(report, no, &all, &n))
		return (EXIT_FAILED);
	if (report->options->format == FORMAT_TEXT)
		write_text(report->out, all, n);
	for (size_t i = 0; i < n; i++) {
		if (report->options->format == FORMAT_JSONL)
			write_json(report->out, row, &all[i]);
		else if (report->options->format == FORMAT_CSV)
			write_csv(report->out, row, &all[i]);
	}
	free(all);
	return (EXIT_DONE);
}

void
mem_csv_accesses_header(struct mem_report *report)
{
	output_text(report->out,
	    "line,sharing,offset,cpu,pid,tid,pc,source,source_name,image,"
	    "symbol,symbol_offset,loads,stores,transfers,latency\n");
}
