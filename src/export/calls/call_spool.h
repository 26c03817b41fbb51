/*
 * What a file that has a thread's calls in one piece is made of: they are kept in
 * a packed form, a few bytes for each begin and end, until the file is written.
 *
 * Only then it is known which calls were around all of a stack.  What is handed
 * out nests and is in order of time.
 */
#ifndef HWTDI_CALL_SPOOL_H
#define HWTDI_CALL_SPOOL_H

#include "export/calls/call_timeline.h"

struct hwtdi_spool_chunk;

/* Names from the outermost call on. */
struct hwtdi_spool_line {
	uint32_t *names;
	size_t n, cap;
	/* Late ones, the innermost first. */
	uint32_t *late;
	size_t n_late, cap_late;
};

struct hwtdi_spool_thread {
	struct hwtdi_spool_chunk *first, *last;
	/* Where packed times stand; the first. */
	uint64_t at, begin;
	/* Line that it shows, + 1. */
	uint32_t current;
	uint64_t events;
};

struct hwtdi_spool_ops {
	/* Begin a file, and write all of it. */
	int (*begin_file)(void *arg, struct hwtd_error *err);
	int (*put_file)(void *arg, struct hwtd_error *err);
	/* Of a begin or end in the file, about. */
	uint64_t event_bytes;
};

struct hwtdi_spool {
	/* First, as hwtdi_timeline_step() wants it. */
	struct hwtdi_timeline timeline;
	const struct hwtdi_spool_ops *ops;
	void *arg;
	/*
	 * What times are told from, since numbers of JSON are doubles: the first of
	 * the first file.
	 */
	uint64_t base;
	bool based;
	struct hwtdi_spool_thread *threads;
	size_t n_threads;
	/* Of this file; lines of the timeline have theirs as `mark`, + 1. */
	struct hwtdi_spool_line *lines;
	size_t n_lines, n_used_lines;
	/* Begins and ends that the file will have. */
	uint64_t events;
};

/* For an exporter whose state begins with it. */
int hwtdi_spool_init(struct hwtdi_spool *spool, struct hwtd_export *ex,
    const struct hwtdi_spool_ops *ops, void *arg, struct hwtd_error *err);
void hwtdi_spool_fini(struct hwtdi_spool *spool);

/* Who is told what a thread did. */
struct hwtdi_spool_reader {
	int (*begin)(void *arg, uint64_t at, uint32_t name,
	    struct hwtd_error *err);
	int (*end)(void *arg, uint64_t at, uint32_t name,
	    struct hwtd_error *err);
	void *arg;
};

/* There is anything of a thread. */
bool hwtdi_spool_has(const struct hwtdi_spool *spool, size_t thread);

/* What times of a thread are told from. */
uint64_t hwtdi_spool_from(const struct hwtdi_spool *spool, size_t thread);

/* Hand out what there is of a thread, once. */
int hwtdi_spool_read(struct hwtdi_spool *spool, size_t thread,
    const struct hwtdi_spool_reader *reader, struct hwtd_error *err);

#endif /* HWTDI_CALL_SPOOL_H */
