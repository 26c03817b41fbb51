/*
 * Printing tables of samples, as text, JSON lines or CSV.
 */
#ifndef HWTDECODE_CLI_MEM_REPORT_H
#define HWTDECODE_CLI_MEM_REPORT_H

#include "cli/options/options.h"
#include "cli/output/output.h"

struct mem_report {
	struct output *out;
	const struct options *options;
	struct hwtd_memory *memory;
	/* An hwtd_memory_table and an hwtd_memory_sort. */
	uint32_t table;
	uint32_t sort;
	/* Lines that several use only, and accesses to lines. */
	bool shared_only;
	bool accesses;
	/* The user broke off: not all samples were seen. */
	bool interrupted;
	/* Of all inputs: bytes in gaps, and gaps by reason. */
	uint64_t bytes;
	uint64_t gap_bytes;
	uint64_t gaps[HWTD_GAP_REASONS];
	/* Buffers of samples that records tell of, and what happened to them. */
	uint64_t buffers;
	uint64_t collided;
	uint64_t cut_short;
};

/* Sort the table and print it.  Returns an exit code. */
int mem_report(struct mem_report *report);

/* What is known of a row beside its counts, in all formats. */
void mem_text_what(struct mem_report *report,
    const struct hwtd_memory_row *row);
void mem_json_what(struct mem_report *report,
    const struct hwtd_memory_row *row);
void mem_csv_what(struct mem_report *report,
    const struct hwtd_memory_row *row);
void mem_csv_what_header(struct mem_report *report);

/*
 * Text: "symbol+0x10 (image)"; without a symbol "image+0x1010", without an image
 * "?".
 */
void mem_text_code(struct output *out, const char *image, const char *symbol,
    uint64_t symbol_off);

/* What the numbers depend on, and what is left out of them. */
void mem_text_notes(struct mem_report *report,
    const struct hwtd_memory_info *info);
void mem_json_notes(struct mem_report *report,
    const struct hwtd_memory_info *info);

/* Who touches which byte of the line in row `no`.  An exit code. */
int mem_accesses(struct mem_report *report, uint64_t no,
    const struct hwtd_memory_row *row);

void mem_csv_accesses_header(struct mem_report *report);

#endif /* HWTDECODE_CLI_MEM_REPORT_H */
