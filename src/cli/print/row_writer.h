/*
 * Printing rows of the event stream as text, JSON lines or CSV.
 */
#ifndef HWTDECODE_CLI_ROW_WRITER_H
#define HWTDECODE_CLI_ROW_WRITER_H

#include "cli/print/disassembly.h"
#include "cli/input/input.h"
#include "cli/output/output.h"
#include "cli/print/symbol_names.h"

/* What rows need to know of a stream. */
struct row_stream {
	/* HWTD_NO_ID: not known. */
	uint32_t cpu;
	/* Of SPE: MIDR_EL1 and PMSVer; 0: not known. */
	uint32_t midr;
	uint32_t version;
};

struct row_writer {
	struct output *out;
	const struct hwtd_trace *trace;
	enum output_format format;
	bool color;
	bool header;
	bool code_bytes;
	bool code_text;
	/* Samples in full, as spe prints them. */
	bool sample_rows;
	/* NULL unless one of the two above is wanted. */
	struct disassembly *disassembly;
	/* NULL unless names are wanted. */
	struct symbol_names *names;
	struct row_stream *streams;
	uint32_t n_streams;
	/* The context looked up last. */
	bool has_context;
	uint32_t context_id;
	struct hwtd_exec_context context;
};

/* False after a message. */
bool row_writer_init(struct row_writer *writer, struct output *out,
    const struct input *input, const struct options *options);
void row_writer_fini(struct row_writer *writer);

void row_write_header(struct row_writer *writer);
void row_write(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch);
/* Marks that the rows end here because the user broke off. */
void row_write_interrupted(struct row_writer *writer);

/* The three formats. */
void row_write_text(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch);
void row_write_json(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch);
void row_write_csv(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch);

/* The same of rows as spe prints them; false: `row` is no such row. */
void sample_write_header(struct row_writer *writer);
bool sample_write(struct row_writer *writer, const struct hwtd_event *row,
    const struct hwtd_batch *batch);
/* Fields between those of the row and the end, for all that print JSON. */
void sample_write_json(struct row_writer *writer,
    const struct hwtd_sample *sample, const struct row_stream *stream);

/* What is special about the row, in words; untrusted parts are escaped. */
void row_write_detail(struct row_writer *writer, struct output *out,
    const struct hwtd_event *row, const struct hwtd_batch *batch);

/* The context of a row, or NULL; borrowed until the next call. */
const struct hwtd_exec_context *row_context(struct row_writer *writer,
    const struct hwtd_event *row);

/* CPU of a row: of its context, else of its stream; or HWTD_NO_ID. */
uint32_t row_cpu(struct row_writer *writer, const struct hwtd_event *row);

/* The detail of a row, or NULL when it has none. */
const struct hwtd_gap *row_gap(const struct hwtd_event *row,
    const struct hwtd_batch *batch);
const struct hwtd_sample *row_sample(const struct hwtd_event *row,
    const struct hwtd_batch *batch);
const struct hwtd_marker *row_marker(const struct hwtd_event *row,
    const struct hwtd_batch *batch);
const struct hwtd_power *row_power(const struct hwtd_event *row,
    const struct hwtd_batch *batch);
const struct hwtd_async *row_async(const struct hwtd_event *row,
    const struct hwtd_batch *batch);

/* The stream of a row; of none if it has none. */
struct row_stream row_stream(const struct row_writer *writer,
    const struct hwtd_event *row);

/* The record that a row tells of; false: none. */
bool row_record(const struct row_writer *writer, const struct hwtd_event *row,
    struct hwtd_record *out);
/* All rows have an offset but those of records that name no byte. */
bool row_has_offset(const struct row_writer *writer,
    const struct hwtd_event *row);

#endif /* HWTDECODE_CLI_ROW_WRITER_H */
