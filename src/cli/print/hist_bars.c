/*
 * Distributions as bars, as wide as the terminal.
 */
#include <sys/ioctl.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/print/hist_report.h"

/* Lines of a distribution at most, and how finely they may part numbers. */
#define MAX_LINES 24u
#define MAX_STEPS 128u
#define READ_BUCKETS 256

#define MIN_BAR 8u
#define COLUMNS_DEFAULT 80u
#define COLUMNS_MOST 200u

static unsigned int
columns_of(const struct output *out)
{
	struct winsize size;

	if (isatty(out->fd) == 0 || ioctl(out->fd, TIOCGWINSZ, &size) != 0 ||
	    size.ws_col == 0)
		return (COLUMNS_DEFAULT);
	return (size.ws_col < COLUMNS_MOST ? size.ws_col : COLUMNS_MOST);
}

/*
 * Numbers below `steps`, a power of 2, are lines of their own; above, so many are
 * as many as a number doubles.  Buckets lie in one line each, since they part
 * numbers in this way, too.
 */
static uint64_t
line_of(uint64_t value, uint64_t steps)
{
	unsigned int octave = 0;

	if (value < steps)
		return (value);
	while (value >> octave >= 2 * steps)
		octave++;
	return (steps + octave * steps + (value >> octave) - steps);
}

static void
range_of(uint64_t line, uint64_t steps, uint64_t *first, uint64_t *last)
{
	uint64_t octave;

	*first = *last = line;
	if (line < steps)
		return;
	octave = (line - steps) / steps;
	*first = (steps + (line - steps) % steps) << octave;
	*last = *first + (UINT64_C(1) << octave) - 1;
}

/* The finest that has room. */
static uint64_t
steps_of(const struct hwtd_histogram_row *row)
{
	uint64_t steps = MAX_STEPS;

	while (steps > 1 &&
	    line_of(row->max, steps) - line_of(row->min, steps) >= MAX_LINES)
		steps /= 2;
	return (steps);
}

/* How many values are in each line; with 1 step there are 65 lines at most. */
static void
count_lines(const struct hist_report *report, uint64_t no, uint64_t steps,
    uint64_t first, uint64_t counts[65])
{
	struct hwtd_histogram_bucket buckets[READ_BUCKETS];
	uint64_t at = 0;
	size_t n = 0;

	memset(counts, 0, 65 * sizeof(counts[0]));
	while (hwtd_histogram_buckets(report->histogram, no, at, buckets,
		   sizeof(buckets[0]), READ_BUCKETS, &n) == HWTD_OK) {
		for (size_t i = 0; i < n; i++)
			counts[line_of(buckets[i].first, steps) -
			    first] += buckets[i].n;
		at += n;
	}
}

static void
write_bar(struct output *out, uint64_t n, uint64_t most, unsigned int width)
{
	const double share = (double)n / (double)most;
	unsigned int length = (unsigned int)(share * width + 0.5);

	/* What is there is seen. */
	if (length == 0 && n != 0)
		length = 1;
	while (length-- > 0)
		output_char(out, '#');
}

void
hist_write_bars(const struct hist_report *report,
    const struct hwtd_histogram_row *row, uint64_t no)
{
	const unsigned int columns = columns_of(report->out);
	/* What stands before a bar: two values, a count, a share. */
	const unsigned int before = 2 + 11 + 3 + 11 + 2 + 12 + 2 + 6 + 2;
	struct output *out = report->out;
	uint64_t counts[65], first, last, most = 0, steps;

	if (row->n == 0)
		return;
	steps = steps_of(row);
	/* The lowest bucket may begin below the least value. */
	first = line_of(row->min, steps);
	last = line_of(row->max, steps);
	count_lines(report, no, steps, first, counts);
	for (uint64_t i = 0; i <= last - first; i++)
		if (counts[i] > most)
			most = counts[i];
	for (uint64_t i = first; i <= last; i++) {
		const uint64_t n = counts[i - first];
		uint64_t low, high;
		char from[32], to[32];

		range_of(i, steps, &low, &high);
		hist_format_value(report, from, low);
		hist_format_value(report, to, high);
		output_format(out, "  %11s - %11s  %12llu  %5.1f%%", from, to,
		    (unsigned long long)n, 100.0 * (double)n / (double)row->n);
		if (n != 0) {
			output_text(out, "  ");
			write_bar(out, n, most,
			    columns > before + MIN_BAR ? columns - before
						       : MIN_BAR);
		}
		output_char(out, '\n');
	}
}
