/*
 * Progress on stderr for decoding that takes more than a second.
 */
#ifndef HWTDECODE_CLI_PROGRESS_H
#define HWTDECODE_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	/* Shown by itself; else only when the user asks. */
	bool on;
	bool terminal;
	/* Something stands on the line. */
	bool shown;
	uint64_t total_bytes;
	/* ns of a steady clock. */
	uint64_t start;
	uint64_t next;
};

/* `forced` by --progress; else only when stderr is a terminal. */
void progress_start(struct progress *progress, bool forced,
    uint64_t total_bytes);
/* True when progress_show() would print something now. */
bool progress_due(const struct progress *progress);
void progress_show(struct progress *progress, uint64_t bytes);
/* Another text at its place. */
void progress_text(struct progress *progress, const char *text);
/* Clear the line. */
void progress_end(struct progress *progress);

#endif /* HWTDECODE_CLI_PROGRESS_H */
