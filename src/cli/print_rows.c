/*
 * Printing the rows of a trace: opens it, reads batches, writes each row.
 */
#include <stdlib.h>

#include "cli/interrupt.h"
#include "cli/loss.h"
#include "cli/message.h"
#include "cli/print_rows.h"
#include "cli/progress.h"
#include "cli/row_writer.h"

/* Rows per read: they stay in the second-level cache. */
#define BATCH_ROWS 2048

/*
 * How long before the times asked for reading starts.  A seek leaves out all
 * rows before it, also a gap that reaches into these times.
 */
#define LOOK_BACK_NS 10000000

struct reading {
	const struct options *options;
	struct hwtd_events *events;
	struct row_writer *writer;
	struct progress progress;
};

static void
show_progress(struct reading *reading)
{
	struct hwtd_stats stats = { .size = sizeof(stats) };

	if (progress_due(&reading->progress) &&
	    hwtd_events_stats(reading->events, &stats) == HWTD_OK)
		progress_show(&reading->progress, stats.bytes);
}

/* Write the rows of a batch; how many. */
static uint64_t
write_rows(struct reading *reading, const struct hwtd_batch *batch)
{
	const uint32_t kinds = reading->options->kinds;
	uint64_t n = 0;

	for (size_t i = 0; i < batch->n; i++) {
		const struct hwtd_event *row = &batch->events[i];

		if (kinds != 0 && (kinds >> row->kind & 1) == 0)
			continue;
		row_write(reading->writer, row, batch);
		n++;
	}
	return (n);
}

/* Until the end, the limit, a failed write or an interrupt. */
static int
read_rows(struct reading *reading, const struct input *input)
{
	struct hwtd_event *rows = malloc(BATCH_ROWS * sizeof(*rows));
	struct hwtd_error err = { .size = sizeof(err) };
	uint64_t left = reading->options->limit;
	int code = EXIT_DONE;

	if (rows == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	while (left > 0 && !output_stopped(reading->writer->out)) {
		struct hwtd_batch batch = {
			.size = sizeof(batch),
			.events = rows,
			.stride = sizeof(*rows),
			.cap = left < BATCH_ROWS ? (size_t)left : BATCH_ROWS,
		};
		const int rc = hwtd_events_read(reading->events, &batch, &err);

		if (rc == HWTD_END)
			break;
		if (rc != HWTD_OK) {
			progress_end(&reading->progress);
			output_flush(reading->writer->out);
			code = input_say_read_error(input, reading->options,
			    &err);
			break;
		}
		left -= write_rows(reading, &batch);
		show_progress(reading);
		if (interrupt_seen()) {
			row_write_interrupted(reading->writer);
			code = EXIT_INTERRUPTED;
			break;
		}
	}
	free(rows);
	return (code);
}

/* Before it no row is asked for, ns. */
static uint64_t
first_time(const struct options *options)
{
	uint64_t first = options->times.n > 0 ? UINT64_MAX : 0;

	for (size_t i = 0; i < options->times.n; i++) {
		if (options->times.ranges[i].start < first)
			first = options->times.ranges[i].start;
	}
	return (first);
}

static int
open_rows(struct reading *reading, const struct input *input, uint32_t level)
{
	const uint64_t first = first_time(reading->options);
	struct hwtd_events_options how;
	struct hwtd_error err = { .size = sizeof(err) };

	input_events_options(reading->options, &how);
	how.level = level;
	/* For records alone no stream is decoded, but loss is asked for. */
	if (how.kinds == 1u << HWTD_EV_RECORD &&
	    reading->options->max_loss >= 0)
		how.kinds |= 1u << HWTD_EV_GAP;
	int rc = hwtd_events_open(input->trace, &how, &reading->events, &err);

	/* The filter would do, but only after decoding what comes before. */
	if (rc == HWTD_OK && first > LOOK_BACK_NS)
		rc = hwtd_events_seek_ns(reading->events, first - LOOK_BACK_NS,
		    &err);
	return (rc == HWTD_OK ? EXIT_DONE
			      : say_library_error(input->name, &err));
}

static int
print_from(const struct input *input, const struct options *options,
    uint32_t level, struct output *out)
{
	struct hwtd_stats stats = { .size = sizeof(stats) };
	struct row_writer writer;
	struct reading reading = { .options = options, .writer = &writer };

	if (!row_writer_init(&writer, out, input, options))
		return (EXIT_FAILED);
	int code = open_rows(&reading, input, level);

	if (code != EXIT_DONE) {
		hwtd_events_close(reading.events);
		row_writer_fini(&writer);
		return (code);
	}
	row_write_header(&writer);
	progress_start(&reading.progress, options->progress,
	    input->info.n_bytes);
	code = read_rows(&reading, input);

	progress_end(&reading.progress);
	if (code == EXIT_DONE &&
	    hwtd_events_stats(reading.events, &stats) == HWTD_OK)
		code = loss_exit_code(input->name, &stats, options->max_loss);
	hwtd_events_close(reading.events);
	row_writer_fini(&writer);
	return (code);
}

int
print_rows(const struct options *options, uint32_t level)
{
	struct input input;
	struct output out;
	int code = input_open(&input, options);

	if (code != EXIT_DONE)
		return (code);
	code = input_check_streams(&input, options);
	if (code == EXIT_DONE && !output_open(&out, options->output))
		code = EXIT_FAILED;
	else if (code == EXIT_DONE) {
		code = print_from(&input, options, level, &out);
		const bool keep = code == EXIT_DONE || code == EXIT_LOSS ||
		    code == EXIT_INTERRUPTED;

		if (!output_close(&out, keep))
			code = EXIT_FAILED;
	}
	input_close(&input);
	return (code);
}
