/*
 * Reading the rows of a trace: opens a cursor, seeks, reads batches.
 */
#include <stdlib.h>

#include "cli/output/interrupt.h"
#include "cli/output/loss.h"
#include "cli/output/message.h"
#include "cli/output/progress.h"
#include "cli/input/read_rows.h"

/* Rows per read: they stay in the second-level cache. */
#define BATCH_ROWS 2048

/*
 * How long before the times asked for reading starts.  A seek leaves out all
 * rows before it, also a gap that reaches into these times.
 */
#define LOOK_BACK_NS 10000000

struct reading {
	const struct input *input;
	const struct options *options;
	const struct row_reader *reader;
	struct hwtd_events *events;
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

/* Until the end, the limit, a failed write or an interrupt. */
static int
read_all(struct reading *reading)
{
	const struct row_reader *reader = reading->reader;
	struct hwtd_event *rows = malloc(BATCH_ROWS * sizeof(*rows));
	struct hwtd_error err = { .size = sizeof(err) };
	uint64_t left = reading->options->limit;
	int code = EXIT_DONE;

	if (rows == NULL) {
		say_error("out of memory");
		return (EXIT_FAILED);
	}
	while (code == EXIT_DONE && !reader->stopped(reader->arg) &&
	    left > 0) {
		struct hwtd_batch batch = {
			.size = sizeof(batch),
			.events = rows,
			.stride = sizeof(*rows),
			.cap = left < BATCH_ROWS ? (size_t)left : BATCH_ROWS,
		};
		const int rc = hwtd_events_read(reading->events, &batch, &err);
		uint64_t n = 0;

		if (rc == HWTD_END)
			break;
		if (rc != HWTD_OK) {
			progress_end(&reading->progress);
			reader->flush(reader->arg);
			code = input_say_read_error(reading->input,
			    reading->options, &err);
			break;
		}
		code = reader->take(reader->arg, &batch, &n);
		left -= n;
		show_progress(reading);
		if (code == EXIT_DONE && interrupt_seen())
			code = EXIT_INTERRUPTED;
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
open_rows(struct reading *reading, uint32_t level)
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
	int rc = hwtd_events_open(reading->input->trace, &how,
	    &reading->events, &err);

	/* The filter would do, but only after decoding what comes before. */
	if (rc == HWTD_OK && first > LOOK_BACK_NS)
		rc = hwtd_events_seek_ns(reading->events, first - LOOK_BACK_NS,
		    &err);
	return (rc == HWTD_OK ? EXIT_DONE
			      : say_library_error(reading->input->name, &err));
}

int
read_rows(const struct input *input, const struct options *options,
    uint32_t level, const struct row_reader *reader,
    struct hwtd_stats *stats_out)
{
	struct reading reading = { .input = input,
		.options = options,
		.reader = reader };
	int code = open_rows(&reading, level);

	*stats_out = (struct hwtd_stats){ .size = sizeof(*stats_out) };
	if (code == EXIT_DONE) {
		progress_start(&reading.progress, options->progress,
		    input->info.n_bytes);
		code = read_all(&reading);
		progress_end(&reading.progress);
		if (hwtd_events_stats(reading.events, stats_out) == HWTD_OK &&
		    code == EXIT_DONE)
			code = loss_exit_code(input->name, stats_out,
			    options->max_loss);
	}
	hwtd_events_close(reading.events);
	return (code);
}
