/*
 * Printing the rows of a trace: opens it and writes each row.
 */
#include "cli/output/message.h"
#include "cli/print/print_rows.h"
#include "cli/input/read_rows.h"
#include "cli/print/row_writer.h"
#include "cli/print/where.h"

struct printing {
	const struct options *options;
	struct row_writer *writer;
	struct where where;
	bool begun;
};

/* Once it is sure that there are rows to read. */
static void
begin(struct printing *printing)
{
	if (!printing->begun)
		row_write_header(printing->writer);
	printing->begun = true;
}

/* Write the rows of a batch that are wanted. */
static int
write_rows(void *arg, const struct hwtd_batch *batch, uint64_t *n_out)
{
	struct printing *printing = arg;
	const uint32_t kinds = printing->options->kinds;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];
		const struct hwtd_sample *sample = row_sample(row, batch);
		const struct row_stream stream = row_stream(printing->writer,
		    row);

		if (sample != NULL &&
		    !where_holds(&printing->where, sample, &stream))
			continue;
		if (kinds != 0 && (kinds >> row->kind & 1) == 0)
			continue;
		row_write(printing->writer, row, batch);
		(*n_out)++;
	}
	return (EXIT_DONE);
}

static bool
is_stopped(void *arg)
{
	struct printing *printing = arg;

	begin(printing);
	return (output_stopped(printing->writer->out));
}

static void
flush(void *arg)
{
	output_flush(((struct printing *)arg)->writer->out);
}

static int
print_from(const struct input *input, const struct options *options,
    uint32_t level, const struct where *where, struct output *out)
{
	struct row_writer writer;
	struct printing printing = { .options = options,
		.writer = &writer,
		.where = *where };
	const struct row_reader reader = { &printing, write_rows, is_stopped,
		flush };
	struct hwtd_stats stats;

	if (!row_writer_init(&writer, out, input, options))
		return (EXIT_FAILED);
	const int code = read_rows(input, options, level, &reader, &stats);

	if (code == EXIT_INTERRUPTED)
		row_write_interrupted(&writer);
	row_writer_fini(&writer);
	return (code);
}

int
print_rows(const struct options *options, uint32_t level)
{
	struct input input;
	struct output out;
	struct where where;
	int code;

	if (!where_init(&where, options))
		return (EXIT_BAD_USAGE);
	code = input_open(&input, options);
	if (code != EXIT_DONE) {
		where_fini(&where);
		return (code);
	}
	code = input_check_streams(&input, options);
	if (code == EXIT_DONE && !output_open(&out, options->output))
		code = EXIT_FAILED;
	else if (code == EXIT_DONE) {
		code = print_from(&input, options, level, &where, &out);
		const bool keep = code == EXIT_DONE || code == EXIT_LOSS ||
		    code == EXIT_INTERRUPTED;

		if (!output_close(&out, keep))
			code = EXIT_FAILED;
	}
	input_close(&input);
	where_fini(&where);
	return (code);
}
