/*
 * Progress on stderr: bytes decoded, share of the whole, MB/s.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/output/interrupt.h"
#include "cli/output/progress.h"

#define SECOND UINT64_C(1000000000)

static uint64_t
steady_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return (0);
	return ((uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec);
}

void
progress_start(struct progress *progress, bool forced, uint64_t total_bytes)
{
	progress->terminal = isatty(STDERR_FILENO) != 0;
	progress->on = forced || progress->terminal;
	progress->shown = false;
	progress->total_bytes = total_bytes;
	progress->start = steady_ns();
	progress->next = progress->start + SECOND;
}

bool
progress_due(const struct progress *progress)
{
	return (interrupt_asked() ||
	    (progress->on && steady_ns() >= progress->next));
}

void
progress_text(struct progress *progress, const char *text)
{
	/* A log wants fewer lines than a terminal. */
	progress->next = steady_ns() +
	    (progress->terminal ? SECOND / 5 : SECOND);
	fprintf(stderr, "%s%s%s", progress->terminal ? "\r" : "", text,
	    progress->terminal ? "\033[K" : "\n");
	fflush(stderr);
	progress->shown = true;
}

void
progress_show(struct progress *progress, uint64_t bytes)
{
	const uint64_t now = steady_ns();
	const double seconds = (double)(now - progress->start) / 1e9;
	const double percent = progress->total_bytes == 0
	    ? 0
	    : 100.0 * (double)bytes / (double)progress->total_bytes;
	char text[128];

	(void)snprintf(text, sizeof(text),
	    "%.1f of %.1f MB (%.0f%%), %.1f MB/s", (double)bytes / 1e6,
	    (double)progress->total_bytes / 1e6, percent,
	    seconds > 0 ? (double)bytes / 1e6 / seconds : 0);
	progress_text(progress, text);
}

void
progress_end(struct progress *progress)
{
	if (progress->shown && progress->terminal)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
