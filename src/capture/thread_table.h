/*
 * Threads of the traced process: which one has which buffer, and whether it ran.
 *
 * hwt(4) numbers threads itself and says nowhere which of the kernel's threads has
 * which number.  It gives numbers in the order in which threads are made, which is the
 * order in which the kernel lists them: so numbers and threads that are new at the
 * same time are paired in order, if they are as many.  Else nobody is guessed.
 */
#ifndef HWTDI_THREAD_TABLE_H
#define HWTDI_THREAD_TABLE_H

#include "base/library.h"
#include "capture/system.h"

/* Threads of a process that are looked at. */
#define HWTDI_THREADS_MAX 65536u

/* A list of threads as the kernel told it at one time. */
struct hwtdi_thread_list {
	struct hwtdi_thread *threads;
	size_t n, cap;
	/* The kernel told it; else it is empty. */
	bool known;
};

/* Numbers of hwt(4) and who has them. */
struct hwtdi_thread_table {
	/* By number; HWTD_NO_ID: not known yet. */
	uint32_t *tids;
	size_t n, cap;
	/* Numbers that are not paired, and lists in which too many threads were. */
	size_t n_waiting;
	uint32_t n_late;
	/*
	 * A newer list gave up numbers of threads that are gone: an older one may
	 * still have these, and they are not to get the numbers of others.
	 */
	bool stale;
	/* Threads whose number nobody will know. */
	uint32_t *strangers;
	size_t n_strangers, cap_strangers;
	/* Of the last list. */
	size_t n_listed;
	/* By number, as far as [n_names): what was told of it last. */
	char (*names)[HWTDI_COMM_ROOM];
	size_t n_names, cap_names;
};

/* Ask for the threads of a process.  HWTD_E_NOMEM; not to know is no error. */
int hwtdi_thread_list_read(struct hwtdi_thread_list *list,
    struct hwtd_context *library, const struct hwtdi_system *sys, pid_t pid,
    struct hwtd_error *err);
/* A list of one.  HWTD_E_NOMEM. */
int hwtdi_thread_list_set(struct hwtdi_thread_list *list,
    struct hwtd_context *library, const struct hwtdi_thread *thread,
    struct hwtd_error *err);
void hwtdi_thread_list_fini(struct hwtdi_thread_list *list,
    struct hwtd_context *library);
/* NULL: it is not in the list. */
const struct hwtdi_thread *hwtdi_thread_list_find(
    const struct hwtdi_thread_list *list, uint32_t tid);

/* A number came up.  HWTD_E_NOMEM, HWTD_E_LIMIT. */
int hwtdi_thread_table_add(struct hwtdi_thread_table *table,
    struct hwtd_context *library, uint32_t number, struct hwtd_error *err);
/*
 * Pair what can be paired.  `newer`: the list was read behind the records that
 * numbers come from, so that who is not in it is gone; else it was read ahead of
 * them, and who is in it has a number by now.  *untraced_out: threads that have none
 * after many lists, told once.  HWTD_E_NOMEM.
 */
int hwtdi_thread_table_pair(struct hwtdi_thread_table *table,
    struct hwtd_context *library, const struct hwtdi_thread_list *list,
    bool newer, size_t *untraced_out, struct hwtd_error *err);
/* Where a walk over a list stands; all zero: at its start. */
struct hwtdi_thread_walk {
	size_t number, at;
};

/*
 * The next thread with a number whose name is another one than before, which now
 * counts as told; *out NULL: there is none.  HWTD_E_NOMEM.
 */
int hwtdi_thread_table_renamed(struct hwtdi_thread_table *table,
    struct hwtd_context *library, const struct hwtdi_thread_list *list,
    struct hwtdi_thread_walk *walk, const struct hwtdi_thread **out,
    struct hwtd_error *err);
void hwtdi_thread_table_fini(struct hwtdi_thread_table *table,
    struct hwtd_context *library);
/* HWTD_NO_ID: not known. */
uint32_t hwtdi_thread_table_tid(const struct hwtdi_thread_table *table,
    uint32_t number);

#endif /* HWTDI_THREAD_TABLE_H */
