/*
 * Closing what has threads: a process that was forked leaves it as it is.
 */
#include "forked.h"

#include <unistd.h>

static bool
is_here(uint64_t process)
{
	return ((uint64_t)getpid() == process);
}

void
hwtpy_events_close(uint64_t process, struct hwtd_events *events)
{
	if (is_here(process))
		hwtd_events_close(events);
}

void
hwtpy_calls_close(uint64_t process, struct hwtd_calls *calls)
{
	if (is_here(process))
		hwtd_calls_close(calls);
}

void
hwtpy_runs_close(uint64_t process, struct hwtd_runs *runs)
{
	if (is_here(process))
		hwtd_runs_close(runs);
}

void
hwtpy_divergences_close(uint64_t process, struct hwtd_divergences *divergences)
{
	if (is_here(process))
		hwtd_divergences_close(divergences);
}
