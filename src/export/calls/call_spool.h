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

struct hwtdi_spool {
	struct hwtd_context *ctx;
	struct hwtdi_spool_thread *threads;
	size_t n_threads;
	/* Of this file; lines of the timeline have theirs as `mark`, + 1. */
	struct hwtdi_spool_line *lines;
	size_t n_lines, n_used_lines;
	/* Begins and ends that the file will have. */
	uint64_t events;
};

void hwtdi_spool_init(struct hwtdi_spool *spool, struct hwtd_context *ctx);
void hwtdi_spool_fini(struct hwtdi_spool *spool);

/* As in struct hwtdi_timeline_ops, without lanes. */
int hwtdi_spool_begin(struct hwtdi_spool *spool, struct hwtdi_line *line,
    const struct hwtdi_span *span, struct hwtd_error *err);
int hwtdi_spool_end(struct hwtdi_spool *spool, struct hwtdi_line *line,
    uint64_t at, struct hwtd_error *err);
int hwtdi_spool_brief(struct hwtdi_spool *spool, struct hwtdi_line *line,
    const struct hwtdi_run *run, struct hwtd_error *err);
int hwtdi_spool_gap(struct hwtdi_spool *spool, struct hwtdi_line *line,
    uint64_t begin, uint64_t end, uint32_t reason, struct hwtd_error *err);
int hwtdi_spool_switched(struct hwtdi_spool *spool, struct hwtdi_line *line,
    uint64_t at, struct hwtd_error *err);

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

/*
 * The first time of all threads whose axis is time; false: there is none.  It is
 * what times of JSON are told from, whose numbers are doubles.
 */
bool hwtdi_spool_first(const struct hwtdi_spool *spool,
    const struct hwtdi_timeline *tl, uint64_t *first);

/* Hand out what there is of a thread, once. */
int hwtdi_spool_read(struct hwtdi_spool *spool, size_t thread,
    const struct hwtdi_spool_reader *reader, struct hwtd_error *err);

/* Forget all: the next file begins. */
void hwtdi_spool_clear(struct hwtdi_spool *spool);

#endif /* HWTDI_CALL_SPOOL_H */
