/*
 * Calls along an axis of time: rows of calls become spans that nest, in order,
 * for the formats that draw them.
 *
 * A thread has lines, one for each of its stacks.  What a span is around is told
 * behind it.  Calls that are too short or too deep are left out here, short ones
 * that follow on one another become one, and files begin anew where they are
 * full: all formats agree on that.
 */
#ifndef HWTDI_CALL_TIMELINE_H
#define HWTDI_CALL_TIMELINE_H

#include <hwtdecode/calls.h>

#include "export/export.h"

/*
 * What spans are called: a number for each name, so that formats can keep each
 * once.  From HWTDI_NAME_FUNCTIONS on they are functions.
 */
enum {
	HWTDI_NAME_UNKNOWN,
	HWTDI_NAME_SYSCALL,
	HWTDI_NAME_INTERRUPT,
	HWTDI_NAME_EXCEPTION,
	HWTDI_NAME_UNTRACED,
	HWTDI_NAME_SHORT,
	/* Gaps, by reason. */
	HWTDI_NAME_GAPS,
	HWTDI_NAME_FUNCTIONS = HWTDI_NAME_GAPS + HWTD_GAP_REASONS
};

/* Bytes that hwtdi_timeline_name() needs. */
#define HWTDI_NAME_BUFFER 64u

/* Short calls, one behind the other: they are drawn as one. */
struct hwtdi_run {
	uint64_t n;
	/* Where the first begins; all of them together; where the last ended. */
	uint64_t begin, sum, end;
	uint64_t insns;
	/* Of the first. */
	uint32_t name;
	uint8_t type;
};

/* A call that is not over. */
struct hwtdi_span {
	uint64_t begin;
	uint64_t address, site;
	uint32_t name;
	/* HWTD_CALLF_* bits of the row, when it began. */
	uint32_t flags;
	/* An hwtd_call_type. */
	uint8_t type;
	/* The format was told of it. */
	bool shown;
	/*
	 * It became known after spans that it is around: it begins before all
	 * of its line.
	 */
	bool late;
	/* It goes on from the file before. */
	bool continued;
	/* In it. */
	struct hwtdi_run run;
};

/* A stack of a thread. */
struct hwtdi_line {
	/* Index in the timeline, of its thread; number of the stack. */
	uint32_t no, thread, stack;
	/* Of the thread, the one that was begun before it, + 1. */
	uint32_t older;
	struct hwtdi_span *open;
	size_t n, cap;
	/* Of them, from the bottom; all that are shown stand below the others. */
	size_t n_shown;
	/* No span of it ends before; where it begins, in this file. */
	uint64_t last, start;
	int32_t lowest;
	bool used;
	/* Around nothing. */
	struct hwtdi_run run;
	/*
	 * With lanes: which of its thread's, and of all; late spans so far, and
	 * room for them.
	 */
	uint32_t lane, track;
	uint64_t n_late, late_room;
	/* The format's; 0 when a line or a file begins. */
	uint32_t mark;
};

/* A place for one line of a thread at a time. */
struct hwtdi_lane {
	/* When it was left; UINT64_MAX: it is in use. */
	uint64_t left;
	uint32_t track;
};

struct hwtdi_timeline;

/* What a format does with it. */
struct hwtdi_timeline_ops {
	/*
	 * Lines that are there at the same time get lanes of their own.  A late
	 * span begins before all others of the lane.  Else a thread has one lane:
	 * switched() tells which line it shows, and late spans begin where their
	 * line does.
	 */
	bool lanes;
	/* With lanes: from the first time on all are moved, if it is above that. */
	uint64_t latest;
	int (*begin)(void *arg, struct hwtdi_line *line,
	    const struct hwtdi_span *span, struct hwtd_error *err);
	/* `row` is NULL: it does not end, but the file does. */
	int (*end)(void *arg, struct hwtdi_line *line,
	    const struct hwtdi_span *span, uint64_t at,
	    const struct hwtd_call *row, struct hwtd_error *err);
	/* Calls that were short, one or more, drawn as one. */
	int (*brief)(void *arg, struct hwtdi_line *line,
	    const struct hwtdi_run *run, struct hwtd_error *err);
	int (*gap)(void *arg, struct hwtdi_line *line, uint64_t begin,
	    uint64_t end, const struct hwtd_call *row, struct hwtd_error *err);
	/* Without lanes: from here on the thread shows this line.  Else NULL. */
	int (*switched)(void *arg, struct hwtdi_line *line, uint64_t at,
	    struct hwtd_error *err);
	/* Instructions of a thread so far, if they are wanted; may be NULL. */
	int (*count)(void *arg, uint32_t thread, uint64_t at, uint64_t insns,
	    struct hwtd_error *err);
	/* Begin and end a file; the end may be NULL. */
	int (*begin_file)(void *arg, struct hwtd_error *err);
	int (*end_file)(void *arg, struct hwtd_error *err);
	/* Bytes that the file would have if it ended now; NULL: it has them. */
	uint64_t (*file_bytes)(void *arg);
};

struct hwtdi_timeline_thread {
	bool known;
	/* Its axis is not chosen yet. */
	bool waiting;
	/* Instructions, or rows, are its axis. */
	bool by_insns;
	uint64_t first_ns, rows;
	/* Rows that wait. */
	struct hwtd_call *held;
	size_t n_held, cap_held;
	/* Line that the last row was of, + 1. */
	uint32_t current;
	/* Of its lines, the one that was begun last, + 1. */
	uint32_t newest;
	struct hwtdi_lane *lanes;
	size_t n_lanes, cap_lanes;
};

struct hwtdi_timeline {
	struct hwtd_export *ex;
	struct hwtd_context *ctx;
	struct hwtd_calls *calls;
	const struct hwtdi_timeline_ops *ops;
	void *arg;
	uint64_t threshold;
	/* Instructions so far are wanted. */
	bool counts;
	/* Where there is no time, of text: of which instructions are not known. */
	bool by_rows;
	struct hwtd_call *rows;
	struct hwtdi_timeline_thread *threads;
	size_t n_threads;
	struct hwtdi_line *lines;
	size_t n_lines, cap_lines;
	/* Lanes of all threads. */
	uint32_t n_tracks;
	/* Lines that can be used again. */
	uint32_t *free_lines;
	size_t n_free, cap_free;
	/* Added to all times, mod 2^64, once the first is known. */
	uint64_t offset;
	bool has_offset;
	/* The size of this file when it began. */
	uint64_t file_begin;
	bool begun, ended;
};

int hwtdi_timeline_init(struct hwtdi_timeline *tl, struct hwtd_export *ex,
    const struct hwtdi_timeline_ops *ops, void *arg, struct hwtd_error *err);
/* The step of an exporter whose state begins with a timeline. */
int hwtdi_timeline_step(struct hwtd_export *ex, struct hwtd_error *err);
/* Times are told so much later, mod 2^64: for the info. */
void hwtdi_timeline_moved(struct hwtdi_timeline *tl, uint64_t by);
void hwtdi_timeline_fini(struct hwtdi_timeline *tl);

/*
 * An array that grows to hold `wanted` elements, or more; new ones are zeros.
 * HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_timeline_need(struct hwtd_context *ctx, void *array_inout,
    size_t *n_inout, size_t wanted, size_t bytes, struct hwtd_error *err);

/* The text of a name; it may stand in `buffer`. */
const char *hwtdi_timeline_name(const struct hwtdi_timeline *tl, uint32_t name,
    char buffer[HWTDI_NAME_BUFFER]);

/* So many in so many ns, as thousandths for each 1000 ns; ns > 0. */
uint64_t hwtdi_timeline_rate(uint64_t n, uint64_t ns);

/* Where the code of a name is from, or NULL. */
const char *hwtdi_timeline_image(const struct hwtdi_timeline *tl,
    uint32_t name);

/* "name" of the process, or NULL. */
const char *hwtdi_timeline_process(const struct hwtdi_timeline *tl,
    uint32_t pid);

/* A thread as people call it; fills `who`, too. */
void hwtdi_timeline_who(const struct hwtdi_timeline *tl, uint32_t thread,
    struct hwtd_call_thread *who, char text[HWTDI_NAME_BUFFER]);

#endif /* HWTDI_CALL_TIMELINE_H */
