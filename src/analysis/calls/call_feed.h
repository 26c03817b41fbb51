/*
 * Transfers on their way to the stacks of their threads: threads are told apart,
 * and times between two times of the hardware are found by what was executed.
 */
#ifndef HWTDI_CALL_FEED_H
#define HWTDI_CALL_FEED_H

#include "analysis/calls/call_functions.h"

/* Steps that wait for the next time; with more they go on as they are. */
#define HWTDI_CALL_QUEUE 4096u

struct hwtdi_call_who {
	/* HWTD_NO_ID: not known. */
	uint32_t pid, tid, stream;
	/* Where only an address space tells. */
	uint64_t space;
	/* Among those of its process, with the next one + 1. */
	bool listed;
	/* It has ended: who has its number later is another one. */
	bool ended;
	uint32_t next_plus_1;
	/* The stream that it was on last, + 1; 0: none. */
	uint32_t owner_plus_1;
	struct hwtdi_call_thread *calls;
};

struct hwtdi_call_process {
	uint32_t pid;
	/* A thread of it, + 1; 0: none. */
	uint32_t first_plus_1;
};

struct hwtdi_call_threads {
	struct hwtdi_call_rules *rules;
	struct hwtdi_call_who *at;
	size_t n, cap;
	struct hwtdi_index index;
	struct hwtdi_call_process *processes;
	size_t n_processes, cap_processes;
	struct hwtdi_index process_index;
};

/* The thread that `who` says, made if need be.  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_call_threads_find(struct hwtdi_call_threads *threads,
    const struct hwtdi_call_who *who, uint32_t *no_out,
    struct hwtd_error *err);

/* The same, but it is not made; false: there is none. */
bool hwtdi_call_threads_known(const struct hwtdi_call_threads *threads,
    const struct hwtdi_call_who *who, uint32_t *no_out);

/*
 * A thread executes: it is one of its process until that is asked for.
 * HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_call_threads_list(struct hwtdi_call_threads *threads, uint32_t no,
    struct hwtd_error *err);
/* Take the threads of a process that executed since then: the first, + 1. */
uint32_t hwtdi_call_threads_take(struct hwtdi_call_threads *threads,
    uint32_t pid);

/* The end of all: rows of what is open. */
int hwtdi_call_threads_end(struct hwtdi_call_threads *threads,
    struct hwtd_error *err);
void hwtdi_call_threads_fini(struct hwtdi_call_threads *threads);

struct hwtdi_queued {
	struct hwtdi_step step;
	/* Executed in all when it came. */
	uint64_t at;
};

/* Steps of one stream, in its order.  All zero but `threads`: none. */
struct hwtdi_call_feed {
	struct hwtdi_call_threads *threads;
	struct hwtdi_queued *queue;
	size_t n, cap;
	bool interpolate;
	/* Executed in all, and since the last step. */
	uint64_t executed, insns;
	uint64_t cycles;
	bool has_cycles;
	/* The last time of the hardware, and what was executed then. */
	bool has_anchor;
	uint64_t anchor_ns, anchor_at;
};

/*
 * A step; those of before go on if it need not wait.  Its `insns` and `cycles` are
 * set here.  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_call_feed_add(struct hwtdi_call_feed *feed, struct hwtdi_step *step,
    struct hwtd_error *err);

/*
 * The hardware told the time when so much was executed: of steps that wait, too.
 */
int hwtdi_call_feed_anchor(struct hwtdi_call_feed *feed, uint64_t ns,
    uint64_t at, struct hwtd_error *err);

/* Cycles of all since the last such. */
void hwtdi_call_feed_cycles(struct hwtdi_call_feed *feed, uint64_t cycles);

/* Steps go on as they are; what comes has nothing to do with them. */
int hwtdi_call_feed_flush(struct hwtdi_call_feed *feed,
    struct hwtd_error *err);
void hwtdi_call_feed_fini(struct hwtdi_call_feed *feed);

#endif /* HWTDI_CALL_FEED_H */
