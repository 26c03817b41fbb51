/*
 * Signals: SIGINT asks to stop after the batch at hand; writing to a reader
 * that went away is an error code, not a signal.
 */
#include <signal.h>
#include <string.h>

#include "cli/output/interrupt.h"

#ifdef SIGINFO
#define SIGNAL_ASK SIGINFO
#else
#define SIGNAL_ASK SIGUSR1
#endif

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t asked;
static volatile sig_atomic_t times;

static void
on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void
on_count(int number)
{
	(void)number;
	interrupted = 1;
	times++;
}

static void
on_pipe(int number)
{
	(void)number;
}

static void
on_ask(int number)
{
	(void)number;
	asked = 1;
}

void
interrupt_catch(void)
{
	struct sigaction action;
	struct sigaction before;

	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	/* Whoever started us in the background wants no SIGINT. */
	if (sigaction(SIGINT, NULL, &before) == 0 &&
	    before.sa_handler != SIG_IGN) {
		action.sa_handler = on_interrupt;
		action.sa_flags = (int)SA_RESETHAND;
		(void)sigaction(SIGINT, &action, NULL);
	}
	action.sa_handler = on_ask;
	action.sa_flags = SA_RESTART;
	(void)sigaction(SIGNAL_ASK, &action, NULL);
	/* Ignored, it would be so for a program that record starts. */
	if (sigaction(SIGPIPE, NULL, &before) == 0 &&
	    before.sa_handler != SIG_IGN) {
		action.sa_handler = on_pipe;
		(void)sigaction(SIGPIPE, &action, NULL);
	}
}

bool
interrupt_seen(void)
{
	return (interrupted != 0);
}

void
interrupt_count(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction before;
	struct sigaction action;

	/* What came before it counts. */
	times = interrupted;
	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_handler = on_count;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &action, NULL);
}

unsigned int
interrupt_times(void)
{
	return ((unsigned int)times);
}

bool
interrupt_asked(void)
{
	const bool was = asked != 0;

	asked = 0;
	return (was);
}
