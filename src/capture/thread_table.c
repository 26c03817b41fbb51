/*
 * Pairing numbers of hwt(4) with threads of the kernel.
 */
#include "capture/thread_table.h"

#include <hwtdecode/record.h>
#include <string.h>

#include "base/fail.h"

/* A number that the kernel skipped: no thread will come for it. */
#define SKIPPED (HWTD_NO_ID - 1)
/* Lists after which no record of a thread is waited for. */
#define LATE 8

/* Without numbers that no thread can have; how many are left. */
static size_t
drop_odd(struct hwtdi_thread *threads, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (threads[i].tid < SKIPPED)
			threads[kept++] = threads[i];
	return (kept);
}

int
hwtdi_thread_list_read(struct hwtdi_thread_list *list,
    struct hwtd_context *library, const struct hwtdi_system *sys, pid_t pid,
    struct hwtd_error *err)
{
	size_t n = 0;
	int rc;

	list->known = false;
	list->n = 0;
	/* There may be more by the time that there is room for them. */
	for (int i = 0; i < 4; i++) {
		if (sys->threads(sys->state, pid, list->threads, list->cap,
			&n) < 0)
			return (HWTD_OK);
		if (n <= list->cap) {
			list->n = drop_odd(list->threads, n);
			list->known = true;
			return (HWTD_OK);
		}
		if (n > HWTDI_THREADS_MAX)
			return (HWTD_OK);
		rc = hwtdi_array_grow(library, &list->threads, &list->cap, n,
		    sizeof(*list->threads), err);
		if (rc != HWTD_OK)
			return (rc);
	}
	return (HWTD_OK);
}

int
hwtdi_thread_list_set(struct hwtdi_thread_list *list,
    struct hwtd_context *library, const struct hwtdi_thread *thread,
    struct hwtd_error *err)
{
	const int rc = hwtdi_array_grow(library, &list->threads, &list->cap, 1,
	    sizeof(*list->threads), err);

	if (rc != HWTD_OK)
		return (rc);
	list->threads[0] = *thread;
	list->n = 1;
	list->known = true;
	return (HWTD_OK);
}

void
hwtdi_thread_list_fini(struct hwtdi_thread_list *list,
    struct hwtd_context *library)
{
	hwtdi_array_free(library, list->threads, list->cap,
	    sizeof(*list->threads));
	*list = (struct hwtdi_thread_list){ 0 };
}

const struct hwtdi_thread *
hwtdi_thread_list_find(const struct hwtdi_thread_list *list, uint32_t tid)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->threads[i].tid == tid)
			return (&list->threads[i]);
	return (NULL);
}

int
hwtdi_thread_table_add(struct hwtdi_thread_table *table,
    struct hwtd_context *library, uint32_t number, struct hwtd_error *err)
{
	int rc;

	if (number >= HWTDI_THREADS_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "thread %u; at most %u are followed", number,
		    HWTDI_THREADS_MAX));
	if (number < table->n)
		return (HWTD_OK);
	rc = hwtdi_array_grow(library, &table->tids, &table->cap,
	    (size_t)number + 1, sizeof(*table->tids), err);
	if (rc != HWTD_OK)
		return (rc);
	/* Numbers of threads that got no buffer are burnt. */
	for (; table->n < number; table->n++)
		table->tids[table->n] = SKIPPED;
	table->tids[table->n++] = HWTD_NO_ID;
	table->n_waiting++;
	return (HWTD_OK);
}

static bool
is_known(const struct hwtdi_thread_table *table, uint32_t tid)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->tids[i] == tid)
			return (true);
	for (size_t i = 0; i < table->n_strangers; i++)
		if (table->strangers[i] == tid)
			return (true);
	return (false);
}

/* Threads of a list that are not known. */
static size_t
count_new(const struct hwtdi_thread_table *table,
    const struct hwtdi_thread_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += !is_known(table, list->threads[i].tid);
	return (n);
}

/* Numbers and threads that wait for each other, in order. */
static void
pair_all(struct hwtdi_thread_table *table,
    const struct hwtdi_thread_list *list)
{
	size_t at = 0;

	for (size_t i = 0; i < table->n; i++) {
		if (table->tids[i] != HWTD_NO_ID)
			continue;
		while (at < list->n && is_known(table, list->threads[at].tid))
			at++;
		/* A list that has one of them twice has fewer than it seems. */
		table->tids[i] = at < list->n ? list->threads[at].tid
					      : SKIPPED;
	}
	table->n_waiting = 0;
}

/* Numbers whose threads are gone, and threads of which nobody says which it is. */
static int
give_up(struct hwtdi_thread_table *table, struct hwtd_context *library,
    const struct hwtdi_thread_list *list, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; i < list->n; i++) {
		if (is_known(table, list->threads[i].tid))
			continue;
		rc = hwtdi_array_grow(library, &table->strangers,
		    &table->cap_strangers, table->n_strangers + 1,
		    sizeof(*table->strangers), err);
		if (rc != HWTD_OK)
			return (rc);
		table->strangers[table->n_strangers++] = list->threads[i].tid;
	}
	for (size_t i = 0; i < table->n; i++)
		if (table->tids[i] == HWTD_NO_ID)
			table->tids[i] = SKIPPED;
	table->n_waiting = 0;
	return (HWTD_OK);
}

int
hwtdi_thread_table_pair(struct hwtdi_thread_table *table,
    struct hwtd_context *library, const struct hwtdi_thread_list *list,
    bool newer, size_t *untraced_out, struct hwtd_error *err)
{
	size_t fresh;

	*untraced_out = 0;
	/* A process that lives has threads. */
	if (!list->known || list->n == 0)
		return (HWTD_OK);
	if (!newer && table->stale) {
		table->stale = false;
		return (HWTD_OK);
	}
	/* A thread that ends while another begins is found a list later. */
	if (table->n_waiting == 0 && list->n == table->n_listed &&
	    table->n_late == 0)
		return (HWTD_OK);
	table->n_listed = list->n;
	fresh = count_new(table, list);
	if (fresh == table->n_waiting) {
		pair_all(table, list);
		table->n_late = 0;
		return (HWTD_OK);
	}
	/* A record of it may be on its way, or the thread came behind the list. */
	if (!newer && ++table->n_late < LATE)
		return (HWTD_OK);
	if (newer && fresh > table->n_waiting) {
		table->n_late += table->n_late == 0;
		return (HWTD_OK);
	}
	if (fresh > table->n_waiting)
		*untraced_out = fresh - table->n_waiting;
	table->n_late = 0;
	table->stale = newer;
	return (give_up(table, library, list, err));
}

/* The number of a thread, if it is `from` or above; table->n: it has none. */
static size_t
number_of(const struct hwtdi_thread_table *table, uint32_t tid, size_t from)
{
	while (from < table->n && table->tids[from] != tid)
		from++;
	return (from);
}

int
hwtdi_thread_table_renamed(struct hwtdi_thread_table *table,
    struct hwtd_context *library, const struct hwtdi_thread_list *list,
    struct hwtdi_thread_walk *walk, const struct hwtdi_thread **out,
    struct hwtd_error *err)
{
	int rc;

	*out = NULL;
	rc = hwtdi_array_grow(library, &table->names, &table->cap_names,
	    table->n, sizeof(*table->names), err);
	if (rc != HWTD_OK)
		return (rc);
	for (; table->n_names < table->n; table->n_names++)
		table->names[table->n_names][0] = '\0';
	for (; walk->at < list->n && *out == NULL; walk->at++) {
		const struct hwtdi_thread *t = &list->threads[walk->at];
		const size_t i = number_of(table, t->tid, walk->number);

		/* Lists have threads in the order of their numbers. */
		if (i == table->n)
			continue;
		walk->number = i + 1;
		if (strncmp(t->name, table->names[i], sizeof(t->name)) == 0)
			continue;
		memcpy(table->names[i], t->name, sizeof(t->name));
		*out = t;
	}
	return (HWTD_OK);
}

void
hwtdi_thread_table_fini(struct hwtdi_thread_table *table,
    struct hwtd_context *library)
{
	hwtdi_array_free(library, table->tids, table->cap,
	    sizeof(*table->tids));
	hwtdi_array_free(library, table->strangers, table->cap_strangers,
	    sizeof(*table->strangers));
	hwtdi_array_free(library, table->names, table->cap_names,
	    sizeof(*table->names));
	*table = (struct hwtdi_thread_table){ 0 };
}

uint32_t
hwtdi_thread_table_tid(const struct hwtdi_thread_table *table, uint32_t number)
{
	if (number >= table->n || table->tids[number] == SKIPPED)
		return (HWTD_NO_ID);
	return (table->tids[number]);
}
