/*
 * One context of hwt(4) of a capture: its nodes, and taking their bytes.
 *
 * Intel PT has a ring for each node, CoreSight one for all of them; both are looked
 * at.  Arm SPE hands out halves of buffers through a queue.
 */
#ifndef HWTDI_SESSION_H
#define HWTDI_SESSION_H

#include "capture/capture_file.h"
#include "capture/config.h"
#include "capture/entries.h"
#include "capture/hwt_calls.h"
#include "capture/ring_look.h"
#include "capture/thread_table.h"

/* Halves of SPE that are taken from the queue before one is given back. */
#define HWTDI_HALVES 64

/* Positions of BUFFER entries that are kept for a look. */
#define HWTDI_NODE_RECORDS 16

/* A thread or CPU with a buffer. */
struct hwtdi_node {
	/* Number of the thread, or CPU. */
	uint32_t index;
	/* HWTD_NO_ID: not known, or a CPU. */
	uint32_t tid;
	/* -1: closed. */
	int fd;
	const void *buffer;
	/* HWTD_NO_ID: no bytes yet. */
	uint32_t stream;
	/* The thread is gone, all was taken; or nothing of it could be had. */
	bool done;
	bool missed;

	/* A ring of PT or CoreSight.  What the last look knew. */
	struct hwtdi_look_ring ring;
	uint64_t told;
	uint64_t switches;
	bool switches_known;
	/* The last look left something open; the next one says more. */
	bool open;
	/* Of these bytes it is not known whether slices are missing before. */
	bool doubt;
	uint64_t records[HWTDI_NODE_RECORDS];
	size_t n_records;
	/* Hardware wrote into it; only then a CPU has a position. */
	bool written;
	/* The look that is being made. */
	bool looking;
	struct hwtdi_look_told look_told;
	struct hwtdi_thread before, after;
	bool before_known, after_known;
	/* The thread was switched meanwhile, or was not. */
	bool moved, settled;
	/* Lists of threads in a row that had not this one. */
	uint32_t absent;

	/* Bytes before the next ones were left out, or are missing. */
	bool skipped;

	/* SPE: bits of halves that wait; one was given back a moment ago. */
	uint32_t waiting;
	/* Of these: the kernel did not take them back. */
	uint32_t refused;
	bool served;
	/* The kernel said that a record is not whole, and told of a last half. */
	bool partial;
	bool ended;
};

/* A half of a buffer of SPE that waits. */
struct hwtdi_half {
	struct hwtdi_hwt_position at;
	/* The other half waited too: sampling stood still; or may have. */
	bool stalled;
	bool maybe;
};

struct hwtdi_session {
	struct hwtd_context *library;
	const struct hwtdi_system *sys;
	struct hwtdi_capture_file *file;
	const struct hwtdi_machine *machine;
	struct hwtdi_config_options options;
	struct hwtdi_config config;
	struct hwtdi_hwt *hwt;
	uint64_t bufsize;
	uint32_t pid;
	struct hwtdi_node *nodes;
	size_t n_nodes, cap_nodes;
	/* Times in a row that entries could not be copied. */
	uint32_t n_uncopied;
	/* CoreSight: the stream of the sink, and which node has its buffer. */
	uint32_t sink;
	/* SPE: a queue for events, and the kernel said that it ended. */
	int kq;
	bool shut_down;
	uint8_t *half;
	size_t half_bytes;
	/* What was taken from the queue. */
	struct hwtdi_half halves[HWTDI_HALVES];
	size_t n_halves;
};

/*
 * Make the context.  `options` are kept, without ranges.  Nothing is traced yet.
 * `cpus`: of CPU mode, else NULL.
 */
int hwtdi_session_open(struct hwtdi_session *session,
    const struct hwtdi_config_options *options, uint32_t pid,
    const uint32_t *cpus, size_t n_cpus, struct hwtd_error *err);

/* All zero is fine.  The kernel goes on. */
void hwtdi_session_close(struct hwtdi_session *session);

/*
 * A node came up.  One that cannot be had is a loss and no error; HWTD_E_NOMEM,
 * or what the file says.
 */
int hwtdi_session_add(struct hwtdi_session *session, uint32_t index,
    struct hwtd_error *err);
/* NULL: there is none. */
struct hwtdi_node *hwtdi_session_node(struct hwtdi_session *session,
    uint32_t index);

/* Set config and start, with ranges that filters gave. */
int hwtdi_session_start(struct hwtdi_session *session,
    const struct hwtdi_filter_range *ranges, size_t n_ranges,
    struct hwtd_error *err);
/* Before: let threads that map code wait for hwtdi_session_wake(), or not. */
int hwtdi_session_pause(struct hwtdi_session *session, bool pause,
    struct hwtd_error *err);
/*
 * Wake the threads of a list that the kernel holds, and those of which it is not
 * known: a thread that falls asleep a moment later would miss it, so do it again
 * with the next list.
 */
int hwtdi_session_wake(struct hwtdi_session *session,
    const struct hwtdi_thread_list *held, struct hwtd_error *err);

/*
 * Threads of nodes became known: streams get their tid from here on, if they
 * have no bytes yet.
 */
void hwtdi_session_tids(struct hwtdi_session *session,
    const struct hwtdi_thread_table *table);

/*
 * A look in two steps, between which the caller asks for threads and records
 * again.  `before` and `after`: threads, as they were told ahead of the first step
 * and behind it; of CPUs empty lists.  `all`: also of nodes where nothing seems
 * to be new.  `again`: only of those whose threads moved.
 */
void hwtdi_session_look(struct hwtdi_session *session,
    const struct hwtdi_thread_list *before, bool all, bool again);
/* Behind the first step: false if it is to be done again, ahead of which is this. */
bool hwtdi_session_steady(struct hwtdi_session *session,
    const struct hwtdi_thread_list *after);
/*
 * `last`: nobody writes any more.  `exact`: no records came during the look, so
 * that those before it happened before the position, and later ones behind it.
 */
int hwtdi_session_take(struct hwtdi_session *session,
    const struct hwtdi_thread_list *after, uint64_t time_ns, bool exact,
    bool last, struct hwtd_error *err);

/* SPE: all halves that wait.  PT and CoreSight: nothing. */
int hwtdi_session_drain(struct hwtdi_session *session, uint64_t time_ns,
    struct hwtd_error *err);
/* SPE: wait at most `ns` for halves; others have nothing to wait for. */
void hwtdi_session_wait(struct hwtdi_session *session, uint64_t ns);

/* End tracing where the kernel can, and take what it hands out then. */
int hwtdi_session_stop(struct hwtdi_session *session, uint64_t time_ns,
    struct hwtd_error *err);

/* All was taken: describe what has no stream yet. */
int hwtdi_session_end(struct hwtdi_session *session, struct hwtd_error *err);

#endif /* HWTDI_SESSION_H */
