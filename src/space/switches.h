/*
 * Who runs: the process and thread on a CPU or in a stream, and what threads
 * are called.
 */
#ifndef HWTDI_SWITCHES_H
#define HWTDI_SWITCHES_H

#include "space/position.h"

struct hwtdi_switches;

/* Who runs from the asked place on. */
struct hwtdi_runner {
	/* HWTD_NO_ID: unknown. */
	uint32_t pid;
	uint32_t tid;
	/* The time or byte from which on it is another one; UINT64_MAX: none. */
	uint64_t until;
};

/*
 * `position` was made of the same records; it is not used later.  Names are
 * borrowed from the records.  HWTD_E_NOMEM.
 */
int hwtdi_switches_create(struct hwtd_context *ctx,
    const struct hwtd_record *records, const struct hwtdi_position *position,
    struct hwtdi_switches **switches_out, struct hwtd_error *err);
void hwtdi_switches_destroy(struct hwtdi_switches *switches);

/*
 * Who runs on a CPU at a time, or when a byte of a stream was written.  A
 * SWITCH says who, and so do EXEC, EXIT and THREAD_EXIT, which only the
 * running thread can do.  Of records of one time or byte the last counts.  A
 * record that names only the thread gets the process that other records give
 * that thread.  Records without a place on the CPU's time or in the stream
 * say nothing.  A SWITCH that tells who stops says that nobody is known from
 * there on, unless it tells who comes next; the first SWITCH of a CPU or stream also says that this one ran
 * from the beginning, unless a record before it names another one or made the
 * thread.
 *
 * False: nobody is known; the ids are HWTD_NO_ID, `until` is set.  O(log n).
 */
bool hwtdi_switches_at_time(const struct hwtdi_switches *switches,
    uint32_t cpu, uint64_t time_ns, struct hwtdi_runner *out);
bool hwtdi_switches_at_offset(const struct hwtdi_switches *switches,
    uint32_t stream, uint64_t off, struct hwtdi_runner *out);

/*
 * The process of a thread after the first `seq` records.  Before the first
 * record that tells, what that record tells, unless it made the thread.
 * HWTD_NO_ID: unknown.
 */
uint32_t hwtdi_switches_process(const struct hwtdi_switches *switches,
    uint32_t tid, uint64_t seq);

/* Records speak of a thread of that id. */
bool hwtdi_switches_knows(const struct hwtdi_switches *switches, uint32_t tid);

/*
 * The name of a thread after the first `seq` records; UINT64_MAX: the last
 * known one.  A name outlives its thread, until another thread gets the id.
 * NULL: it has none of its own.
 */
const char *hwtdi_switches_name(const struct hwtdi_switches *switches,
    uint32_t tid, uint64_t seq);

#endif /* HWTDI_SWITCHES_H */
