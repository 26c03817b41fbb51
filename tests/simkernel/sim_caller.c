/*
 * The processes under test, as processes of the simulated kernel; how they wait,
 * and what they leave behind.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim_internal.h"

/* Milliseconds of real time after which a process is not waited for any more. */
#define PATIENCE 500
/* So often it is seen to sleep, a millisecond apart. */
#define SLEEPS 4

struct sim_caller *
sim_new_caller(struct sim_kernel *k, struct sim_process *process,
    pid_t host_pid)
{
	struct sim_caller *c = sim_alloc(k, sizeof(*c));

	c->process = process;
	c->host_pid = host_pid;
	*SIM_PUSH(k, &k->callers, struct sim_caller *) = c;
	return (c);
}

struct sim_caller *
sim_caller(struct sim_kernel *k)
{
	const pid_t host_pid = getpid();

	for (size_t i = 0; i < k->callers.n; i++) {
		struct sim_caller *c = SIM_AT(&k->callers, struct sim_caller *,
		    i);

		if (!c->gone && c->host_pid == host_pid)
			return (c);
	}
	return (sim_new_caller(k, sim_new_process(k, 0, "test"), host_pid));
}

void
sim_caller_ended(struct sim_kernel *k, struct sim_caller *c)
{
	const pid_t pid = c->process->pid;

	if (c->gone)
		return;
	c->gone = true;
	for (size_t i = 0; i < c->fds.n; i++) {
		struct sim_fd *fd = &SIM_AT(&c->fds, struct sim_fd, i);

		/* Who waits at a gate that falls down ends. */
		if (fd->kind == SIM_FD_GATE && fd->gated->state == SIM_HELD &&
		    c->host_pid != 0 && fd->gated->parent == pid)
			sim_end_process(k, fd->gated, 0, 0);
		fd->kind = SIM_FD_FREE;
	}
	for (size_t i = 0; i < c->mappings.n; i++) {
		struct sim_user_mapping *m = &SIM_AT(&c->mappings,
		    struct sim_user_mapping, i);

		if (m->address != NULL && c->host_pid == getpid())
			munmap(m->address, m->len + SIM_PAGE);
		m->address = NULL;
	}
	for (size_t i = 0; i < HWTDI_HWT_MAX_CONTEXTS; i++)
		if (k->contexts[i] != NULL && k->contexts[i]->owner == pid)
			sim_free_context(k, k->contexts[i]);
	for (size_t i = 0; i < k->processes.n; i++) {
		struct sim_process *p = SIM_AT(&k->processes,
		    struct sim_process *, i);

		if (p->parent != pid)
			continue;
		p->parent = 0;
		if (p->state == SIM_ZOMBIE)
			p->state = SIM_GONE;
	}
	if (c->process->parent == 0)
		c->process->state = SIM_GONE;
}

void
sim_exit_caller(struct sim_kernel *k)
{
	sim_lock(k);
	k->epoch++;
	sim_caller_ended(k, sim_caller(k));
	sim_unlock(k);
}

void
sim_step_aside(struct sim_kernel *k)
{
	sim_lock(k);
	sim_caller(k)->wakes_at = SIM_NEVER;
	sim_unlock(k);
}

pid_t
sim_host_pid(struct sim_kernel *k, pid_t pid)
{
	const struct sim_process *p;
	pid_t host_pid;

	sim_lock(k);
	p = sim_find_process(k, pid);
	host_pid = p != NULL ? p->host_pid : -1;
	sim_unlock(k);
	return (host_pid);
}

void
sim_signal_caller(struct sim_kernel *k, uint64_t ns)
{
	k->signal_at = k->now + ns;
}

void
sim_look_after_callers(struct sim_kernel *k)
{
	for (size_t i = 0; i < k->callers.n; i++) {
		struct sim_caller *c = SIM_AT(&k->callers, struct sim_caller *,
		    i);
		siginfo_t info = { .si_pid = 0 };

		if (c->process->state == SIM_GONE || c->host_pid <= 0 ||
		    c->host_pid == getpid())
			continue;
		if (waitid(P_PID, (id_t)c->host_pid, &info,
			WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    info.si_pid != 0)
			sim_caller_ended(k, c);
		if (kill(c->host_pid, 0) == 0 || errno != ESRCH)
			continue;
		/* Its parent asked for it without this table. */
		sim_caller_ended(k, c);
		c->process->state = SIM_GONE;
	}
}

/* Whether the host lets a process sleep; false if it does not tell. */
static bool
host_sleeps(pid_t host_pid)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)host_pid);
	f = fopen(path, "re");
	if (f == NULL)
		return (false);
	/* The state comes behind the name, which may have any character. */
	state = fgets(line, sizeof(line), f) == NULL ? NULL
						     : strrchr(line, ')');
	fclose(f);
	return (state != NULL && strncmp(state, ") S", 3) == 0);
}

/* Whether somebody else runs, or is to wake before `when`. */
static struct sim_caller *
who_is_first(const struct sim_kernel *k, const struct sim_caller *self,
    uint64_t when)
{
	for (size_t i = 0; i < k->callers.n; i++) {
		struct sim_caller *c = SIM_AT(&k->callers, struct sim_caller *,
		    i);

		if (c != self && !c->gone && !c->elsewhere &&
		    c->wakes_at < when)
			return (c);
	}
	return (NULL);
}

/* Wait for a signal of other processes, for real, and not for long. */
static void
wait_a_moment(struct sim_kernel *k)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	if (pthread_cond_timedwait(&k->time_passed, &k->lock, &ts) ==
	    EOWNERDEAD)
		pthread_mutex_consistent(&k->lock);
}

/* Other processes do first what they do before `when`. */
static void
let_others(struct sim_kernel *k, struct sim_caller *self, uint64_t when)
{
	struct sim_caller *last = NULL, *c;
	unsigned tries = 0, asleep = 0;
	uint64_t n_calls = 0;

	self->wakes_at = when;
	pthread_cond_broadcast(&k->time_passed);
	for (;;) {
		sim_look_after_callers(k);
		c = who_is_first(k, self, when);
		if (c == NULL)
			break;
		if (c != last || c->n_calls != n_calls)
			tries = asleep = 0;
		last = c;
		n_calls = c->n_calls;
		/* What it waits for may be this process. */
		asleep = c->wakes_at == 0 && host_sleeps(c->host_pid)
		    ? asleep + 1
		    : 0;
		if (asleep >= SLEEPS || tries++ >= PATIENCE) {
			c->elsewhere = true;
			continue;
		}
		wait_a_moment(k);
	}
	self->wakes_at = 0;
}

enum sim_waited
sim_wait(struct sim_kernel *k, uint64_t until,
    bool (*done)(struct sim_kernel *k, void *arg), void *arg)
{
	struct sim_caller *self = sim_caller(k);

	for (;;) {
		uint64_t next;

		if (done != NULL && done(k, arg))
			return (SIM_CAME);
		if (k->signal_at <= k->now) {
			k->signal_at = SIM_NEVER;
			return (SIM_INTERRUPTED);
		}
		if (until <= k->now)
			return (SIM_TIMED_OUT);
		next = sim_next_due(k);
		if (next > k->signal_at)
			next = k->signal_at;
		if (next > until)
			next = until;
		if (k->callers.n > 1 && who_is_first(k, self, next) != NULL) {
			let_others(k, self, next);
			/* They may have changed what comes next. */
			if (sim_next_due(k) < next)
				continue;
		}
		if (next == SIM_NEVER)
			return (SIM_FOREVER);
		sim_until(k, next);
	}
}

void
sim_leaks(struct sim_kernel *k, struct sim_leaks *out)
{
	sim_lock(k);
	sim_look_after_callers(k);
	*out = (struct sim_leaks){ 0 };
	for (size_t i = 0; i < k->callers.n; i++) {
		const struct sim_caller *c = SIM_AT(&k->callers,
		    struct sim_caller *, i);

		if (c->gone)
			continue;
		for (size_t f = 0; f < c->fds.n; f++) {
			const enum sim_fd_kind
			    kind = SIM_AT(&c->fds, struct sim_fd, f).kind;

			out->gates += kind == SIM_FD_GATE;
			out->fds += kind != SIM_FD_FREE && kind != SIM_FD_GATE;
		}
		for (size_t m = 0; m < c->mappings.n; m++)
			out->mappings += SIM_AT(&c->mappings,
					     struct sim_user_mapping, m)
					     .address != NULL;
		for (size_t p = 0; p < k->processes.n; p++) {
			const struct sim_process *child = SIM_AT(&k->processes,
			    struct sim_process *, p);

			out->children += child->parent == c->process->pid &&
			    child->state != SIM_GONE;
		}
	}
	for (size_t i = 0; i < HWTDI_HWT_MAX_CONTEXTS; i++)
		out->contexts += k->contexts[i] != NULL;
	sim_unlock(k);
}
