/*
 * Asking Python about signals, but not for each row.
 */
#include "signals.h"

#include <Python.h>

#include <time.h>

/* Somebody who waits for an answer does not notice less. */
#define ANSWER_NS 20000000

/* What cffi makes of the declaration in the header. */
int hwtpy_signals_look(void);

static uint64_t handlers_run_in;
/* Of that thread alone. */
static int64_t looked_ns;
static unsigned int level;

void
hwtpy_signals_begin(uint64_t main_thread)
{
	/* What the other thread was in the middle of is not here. */
	if (handlers_run_in != main_thread)
		level = 0;
	handlers_run_in = main_thread;
}

int
hwtpy_signals_poll(void *arg)
{
	struct timespec now;
	int64_t now_ns;
	int raised;

	(void)arg;
	if (PyThread_get_thread_ident() != handlers_run_in)
		return (0);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if (now_ns - looked_ns < ANSWER_NS)
		return (0);
	looked_ns = now_ns;
	level++;
	raised = hwtpy_signals_look();
	level--;
	return (raised);
}

unsigned int
hwtpy_signals_level(void)
{
	return (PyThread_get_thread_ident() == handlers_run_in ? level : 0);
}
