/*
 * Printing calls: indented text, JSON lines, CSV.
 */
#ifndef HWTDECODE_CLI_CALL_WRITER_H
#define HWTDECODE_CLI_CALL_WRITER_H

#include "cli/options/options.h"
#include "cli/output/output.h"

/* A call that has not ended, or of which it is not told yet. */
struct open_call {
	struct hwtd_call row;
	/* Its begin was printed; it is a call of the trigger, or in one. */
	bool printed;
	bool wanted;
	/* Wanted ones around it. */
	size_t level;
};

/* What is open of one stack. */
struct call_line {
	uint32_t thread;
	uint32_t stack;
	struct open_call *calls;
	size_t n, cap;
	/* The lowest level so far. */
	int32_t lowest;
};

/* How many stacks of a thread have a line, and which one was used last. */
struct call_owner {
	size_t n, last;
};

struct call_writer {
	struct output *out;
	const struct options *options;
	const struct hwtd_calls *calls;
	struct call_line *lines;
	size_t n_lines, cap_lines;
	/* By thread. */
	struct call_owner *owners;
	size_t n_owners;
	uint64_t rows;
	/* There was a call of the trigger. */
	bool triggered;
	/* Calls that --min-duration left out: how long they took is not known. */
	uint64_t untimed;
};

void call_writer_init(struct call_writer *writer, struct output *out,
    const struct options *options, const struct hwtd_calls *calls);

/* The line of names; nothing for JSON lines. */
void call_write_header(struct call_writer *writer);

/* A row; true if it counts, for --limit.  False too when out of memory. */
bool call_write(struct call_writer *writer, const struct hwtd_call *row);

/* JSON lines: what was seen in all. */
void call_write_info(struct call_writer *writer);

void call_writer_fini(struct call_writer *writer);

/* The name of a function, or what stands for it. */
void call_write_name(struct output *out, const struct hwtd_calls *calls,
    uint32_t function, uint32_t type, uint32_t flags);

/* A row for each function, those with most time of their own first. */
int call_write_functions(struct output *out, const struct options *options,
    const struct hwtd_calls *calls);

#endif /* HWTDECODE_CLI_CALL_WRITER_H */
