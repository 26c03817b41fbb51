/*
 * The table of system calls of the simulated kernel.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_internal.h"

/* 2026-01-01, 00:00 UTC, when the machine came up. */
#define BOOT_NS 1767225600000000000ULL

/* Of each call; returns the fault that it is to have. */
static int
enter(struct sim_kernel *k, enum sim_call call)
{
	struct sim_caller *c;

	sim_lock(k);
	k->epoch++;
	c = sim_caller(k);
	c->n_calls++;
	c->elsewhere = false;
	if (k->callers.n > 1)
		sim_look_after_callers(k);
	sim_until(k, k->now + k->o.call_ns);
	sim_some_steps(k);
	return (sim_fault(k, call));
}

static int
leave(struct sim_kernel *k, int result)
{
	sim_unlock(k);
	return (result);
}

static struct sim_fd *
find_fd(struct sim_kernel *k, int fd)
{
	struct sim_caller *c = sim_caller(k);
	struct sim_fd *f;

	if (fd < SIM_FIRST_FD || (size_t)(fd - SIM_FIRST_FD) >= c->fds.n)
		return (NULL);
	f = &SIM_AT(&c->fds, struct sim_fd, fd - SIM_FIRST_FD);
	return (f->kind == SIM_FD_FREE ? NULL : f);
}

static int
new_fd(struct sim_kernel *k, const struct sim_fd *fd)
{
	struct sim_caller *c = sim_caller(k);
	size_t i = 0;

	while (i < c->fds.n &&
	    SIM_AT(&c->fds, struct sim_fd, i).kind != SIM_FD_FREE)
		i++;
	if (i == c->fds.n)
		SIM_PUSH(k, &c->fds, struct sim_fd);
	SIM_AT(&c->fds, struct sim_fd, i) = *fd;
	return (SIM_FIRST_FD + (int)i);
}

static struct sim_unit *
find_node(const struct sim_kernel *k, const char *path)
{
	for (size_t c = 0; c < HWTDI_HWT_MAX_CONTEXTS; c++) {
		const struct sim_context *ctx = k->contexts[c];

		for (size_t i = 0; ctx != NULL && i < ctx->units.n; i++) {
			struct sim_unit *u = SIM_AT(&ctx->units,
			    struct sim_unit *, i);
			char name[64];

			snprintf(name, sizeof(name), HWTDI_HWT_DEVICE "_%d_%d",
			    ctx->ident, u->id);
			if (strcmp(name, path) == 0)
				return (u);
		}
	}
	return (NULL);
}

static int
call_open(void *state, const char *path)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_OPEN);
	struct sim_fd fd = { .kind = SIM_FD_HWT };

	if (fault != 0)
		return (leave(k, -fault));
	if (strcmp(path, HWTDI_HWT_DEVICE) == 0) {
		if (k->o.device_error != 0)
			return (leave(k, -k->o.device_error));
		return (leave(k, new_fd(k, &fd)));
	}
	fd.kind = SIM_FD_NODE;
	fd.unit = find_node(k, path);
	if (fd.unit == NULL)
		return (leave(k, -ENOENT));
	if (k->o.node_error != 0)
		return (leave(k, -k->o.node_error));
	return (leave(k, new_fd(k, &fd)));
}

/* The gate is gone, and with it the child if it was not let through. */
static int
open_gate(struct sim_kernel *k, struct sim_fd *fd, bool run)
{
	struct sim_process *p = fd->gated;

	fd->kind = SIM_FD_FREE;
	if (p->state != SIM_HELD)
		return (run ? -EPIPE : 0);
	if (!run) {
		sim_end_process(k, p, 0, 0);
		return (0);
	}
	p->state = SIM_LIVES;
	if (p->program == NULL)
		sim_end_process(k, p, 127, 0);
	else
		sim_set_program(k, p, p->program);
	return (0);
}

static int
call_close(void *state, int number)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_CLOSE);
	struct sim_fd *fd = find_fd(k, number);

	if (fd == NULL)
		return (leave(k, -EBADF));
	if (fd->kind == SIM_FD_GATE)
		open_gate(k, fd, false);
	/* It is closed also when a signal came. */
	fd->kind = SIM_FD_FREE;
	return (leave(k, -fault));
}

static int
call_ioctl(void *state, int number, unsigned long request, void *arg)
{
	static const unsigned long requests[] = { HWTDI_HWT_IOC_ALLOC,
		HWTDI_HWT_IOC_START, HWTDI_HWT_IOC_STOP,
		HWTDI_HWT_IOC_RECORD_GET, HWTDI_HWT_IOC_BUFPTR_GET,
		HWTDI_HWT_IOC_SET_CONFIG, HWTDI_HWT_IOC_WAKEUP,
		HWTDI_HWT_IOC_SVC_BUF };
	struct sim_kernel *k = state;
	enum sim_call call = SIM_CALL_UNKNOWN;
	struct sim_fd *fd;
	int fault;

	for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (requests[i] == request)
			call = (enum sim_call)(SIM_CALL_ALLOC + i);
	fault = enter(k, call);
	fd = find_fd(k, number);
	if (fd == NULL)
		return (leave(k, -EBADF));
	if (fd->kind != SIM_FD_HWT && fd->kind != SIM_FD_NODE)
		return (leave(k, -ENOTTY));
	return (leave(k, sim_ioctl(k, fd, request, arg, fault)));
}

static int
map(struct sim_kernel *k, const struct sim_unit *u, size_t length,
    const void **out)
{
	const size_t n = length < u->bufsize ? length : (size_t)u->bufsize;
	struct sim_user_mapping *m = NULL;
	struct sim_caller *c;
	uint8_t *at;

	/* What lies behind it cannot be touched, and nobody can write. */
	at = mmap(NULL, length + SIM_PAGE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return (-ENOMEM);
	if (k->file_size < k->next_file_off) {
		if (ftruncate(k->memory_fd, (off_t)k->next_file_off) != 0) {
			munmap(at, length + SIM_PAGE);
			return (-ENOMEM);
		}
		k->file_size = k->next_file_off;
	}
	if (mmap(at, n, PROT_READ, MAP_SHARED | MAP_FIXED, k->memory_fd,
		(off_t)u->file_off) == MAP_FAILED) {
		munmap(at, length + SIM_PAGE);
		return (-ENOMEM);
	}
	c = sim_caller(k);
	for (size_t i = 0; i < c->mappings.n && m == NULL; i++)
		if (SIM_AT(&c->mappings, struct sim_user_mapping, i).address ==
		    NULL)
			m = &SIM_AT(&c->mappings, struct sim_user_mapping, i);
	if (m == NULL)
		m = SIM_PUSH(k, &c->mappings, struct sim_user_mapping);
	m->address = at;
	m->len = length;
	*out = at;
	return (0);
}

static int
call_mmap(void *state, int number, size_t length, const void **out)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_MMAP);
	const struct sim_fd *fd = find_fd(k, number);

	if (fault != 0)
		return (leave(k, -fault));
	if (fd == NULL)
		return (leave(k, -EBADF));
	if (length == 0)
		return (leave(k, -EINVAL));
	if (fd->kind != SIM_FD_NODE)
		return (leave(k, -ENODEV));
	if (fd->unit->gone)
		return (leave(k, -ENXIO));
	return (leave(k, map(k, fd->unit, length, out)));
}

static int
call_munmap(void *state, const void *address, size_t length)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_MUNMAP);
	struct sim_caller *c = sim_caller(k);

	if (fault != 0)
		return (leave(k, -fault));
	for (size_t i = 0; i < c->mappings.n; i++) {
		struct sim_user_mapping *m = &SIM_AT(&c->mappings,
		    struct sim_user_mapping, i);

		if (m->address == NULL || m->address != address ||
		    m->len != length)
			continue;
		munmap(m->address, m->len + SIM_PAGE);
		m->address = NULL;
		return (leave(k, 0));
	}
	return (leave(k, -EINVAL));
}

static int
call_kqueue(void *state)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_KQUEUE);
	struct sim_fd fd = { .kind = SIM_FD_KQUEUE };

	if (fault != 0)
		return (leave(k, -fault));
	fd.kq = sim_alloc(k, sizeof(*fd.kq));
	return (leave(k, new_fd(k, &fd)));
}

static int
call_kevent_add(void *state, int kq, uint64_t ident)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_KEVENT_ADD);
	const struct sim_fd *fd = find_fd(k, kq);

	if (fault != 0)
		return (leave(k, -fault));
	if (fd == NULL || fd->kind != SIM_FD_KQUEUE)
		return (leave(k, -EBADF));
	return (leave(k, sim_kqueue_add(k, fd->kq, ident)));
}

static bool
has_events(struct sim_kernel *k, void *arg)
{
	const struct sim_kqueue *kq = arg;

	(void)k;
	for (size_t i = 0; i < kq->knotes.n; i++)
		if (SIM_AT(&kq->knotes, struct sim_knote, i).triggered)
			return (true);
	return (false);
}

static int
call_kevent_wait(void *state, int kq, struct hwtdi_kevent *events, int room,
    uint64_t ns)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_KEVENT_WAIT);
	const struct sim_fd *fd = find_fd(k, kq);
	struct sim_kqueue *queue;

	if (fault != 0)
		return (leave(k, -fault));
	if (fd == NULL || fd->kind != SIM_FD_KQUEUE)
		return (leave(k, -EBADF));
	if (room < 1)
		return (leave(k, -EINVAL));
	/* The table of descriptors may move meanwhile. */
	queue = fd->kq;
	if (ns != 0) {
		switch (sim_wait(k,
		    ns > SIM_NEVER - k->now ? SIM_NEVER : k->now + ns,
		    has_events, queue)) {
		case SIM_INTERRUPTED:
			return (leave(k, -EINTR));
		case SIM_FOREVER:
			sim_hung(k, "a kevent is waited for that never comes");
			break;
		default:
			break;
		}
	}
	return (leave(k, sim_kqueue_take(queue, events, room)));
}

static int
call_spawn(void *state, const struct hwtdi_spawn *what, pid_t *pid, int *gate)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_SPAWN);
	const struct sim_caller *c = sim_caller(k);
	struct sim_fd fd = { .kind = SIM_FD_GATE };
	struct sim_process *p;

	if (fault != 0)
		return (leave(k, -fault));
	p = sim_new_process(k, c->process->pid, c->process->name);
	sim_new_thread(k, p, 0);
	p->state = SIM_HELD;
	p->program = sim_find_program(k, what->path);
	fd.gated = p;
	*pid = p->pid;
	*gate = new_fd(k, &fd);
	return (leave(k, 0));
}

static int
call_release(void *state, int gate, bool run)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_RELEASE);
	struct sim_fd *fd = find_fd(k, gate);

	if (fd == NULL || fd->kind != SIM_FD_GATE)
		return (leave(k, -EBADF));
	if (fault != 0) {
		/* The gate is gone in any case. */
		open_gate(k, fd, false);
		return (leave(k, -fault));
	}
	return (leave(k, open_gate(k, fd, run)));
}

/* A process that was forked for real. */
static int
host_ended(struct sim_kernel *k, struct sim_process *p, struct hwtdi_exit *out)
{
	int status;
	const pid_t got = waitpid(p->host_pid, &status, WNOHANG);

	if (got == 0)
		return (0);
	if (got == -1)
		return (-ESRCH);
	for (size_t i = 0; i < k->callers.n; i++) {
		struct sim_caller *c = SIM_AT(&k->callers, struct sim_caller *,
		    i);

		if (c->process == p)
			sim_caller_ended(k, c);
	}
	p->state = SIM_GONE;
	out->ended = true;
	if (WIFEXITED(status))
		out->status = WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		out->signal = WTERMSIG(status);
	return (0);
}

static int
call_ended(void *state, pid_t pid, struct hwtdi_exit *out)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_ENDED);
	const struct sim_caller *c = sim_caller(k);
	struct sim_process *p = NULL;

	if (fault != 0)
		return (leave(k, -fault));
	*out = (struct hwtdi_exit){ 0 };
	for (size_t i = 0; i < k->processes.n && p == NULL; i++) {
		p = SIM_AT(&k->processes, struct sim_process *, i);
		if (p->pid != pid)
			p = NULL;
	}
	if (p == NULL)
		return (leave(k, -ESRCH));
	if (p->host_pid != 0 && p->parent == c->process->pid)
		return (leave(k, host_ended(k, p, out)));
	if (p->parent == c->process->pid) {
		/* One that was asked for is no more. */
		if (p->state == SIM_GONE)
			return (leave(k, -ESRCH));
		if (p->state == SIM_ZOMBIE) {
			p->state = SIM_GONE;
			*out = (struct hwtdi_exit){ .ended = true,
				.status = p->status,
				.signal = p->signal,
				.switches_known = true,
				.switches = p->switches };
		}
		return (leave(k, 0));
	}
	if (p->state != SIM_GONE)
		return (leave(k, 0));
	/* Its parent may take its time. */
	if (k->o.seed == 0 || (k->o.seed + (uint64_t)pid) % 2 == 0)
		return (leave(k, -ESRCH));
	out->ended = true;
	return (leave(k, 0));
}

static int
call_kill(void *state, pid_t pid, int sig)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_KILL);
	struct sim_process *p;

	if (fault != 0)
		return (leave(k, -fault));
	p = sim_find_process(k, pid);
	if (p == NULL)
		return (leave(k, -ESRCH));
	if (p->host_pid != 0)
		return (leave(k, kill(p->host_pid, sig) == 0 ? 0 : -errno));
	sim_deliver(k, p, sig);
	return (leave(k, 0));
}

static int
call_fork(void *state)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_FORK);
	struct sim_caller *self = sim_caller(k);
	struct sim_caller *child;
	pid_t host_pid, pid;

	if (fault != 0)
		return (leave(k, -fault));
	child = sim_new_caller(k,
	    sim_new_process(k, self->process->pid, self->process->name), 0);
	pid = child->process->pid;
	for (size_t i = 0; i < self->fds.n; i++) {
		struct sim_fd *fd = SIM_PUSH(k, &child->fds, struct sim_fd);

		*fd = SIM_AT(&self->fds, struct sim_fd, i);
		/* Queues of events are not inherited. */
		if (fd->kind == SIM_FD_KQUEUE)
			fd->kind = SIM_FD_FREE;
	}
	for (size_t i = 0; i < self->mappings.n; i++)
		*SIM_PUSH(k, &child->mappings,
		    struct sim_user_mapping) = SIM_AT(&self->mappings,
		    struct sim_user_mapping, i);
	/* The lock has one owner, so it is not held across. */
	sim_unlock(k);
	host_pid = fork();
	sim_lock(k);
	if (host_pid == -1) {
		child->gone = true;
		child->process->state = SIM_GONE;
		return (leave(k, -errno));
	}
	child->host_pid = host_pid == 0 ? getpid() : host_pid;
	child->process->host_pid = child->host_pid;
	return (leave(k, host_pid == 0 ? 0 : (int)pid));
}

static int
call_sysctl(void *state, const char *name, void *out, size_t *size)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_SYSCTL);

	if (fault != 0)
		return (leave(k, -fault));
	return (leave(k, sim_get_sysctl(k, name, out, size)));
}

/* Lists may come out short. */
static void
shorten(struct sim_kernel *k, size_t *n)
{
	if (*n != 0 && sim_chance(&k->fault_random, k->per_mille)) {
		k->totals.faults++;
		--*n;
	}
}

static int
call_threads(void *state, pid_t pid, struct hwtdi_thread *out, size_t room,
    size_t *n)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_THREADS);
	struct sim_process *p = sim_find_process(k, pid);

	if (fault != 0)
		return (leave(k, -fault));
	*n = 0;
	if (p == NULL)
		return (leave(k, -ESRCH));
	for (size_t i = 0; i < p->threads.n; i++) {
		const struct sim_thread *t = SIM_AT(&p->threads,
		    struct sim_thread *, i);

		if (t->ended)
			continue;
		if (*n < room) {
			struct hwtdi_thread *to = &out[*n];

			*to = (struct hwtdi_thread){ .tid = t->tid,
				.switches = t->switches,
				.running = t->cpu >= 0 };
			snprintf(to->wmesg, sizeof(to->wmesg), "%s",
			    t->asleep		       ? "hwt-mmap"
				: p->state == SIM_HELD ? "piperd"
				: t->cpu >= 0	       ? ""
						       : "nanslp");
			snprintf(to->name, sizeof(to->name), "%s", p->name);
		}
		++*n;
	}
	shorten(k, n);
	return (leave(k, 0));
}

static int
call_mappings(void *state, pid_t pid, struct hwtdi_vm_entry *out, size_t room,
    size_t *n)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_MAPPINGS);
	struct sim_process *p = sim_find_process(k, pid);

	if (fault != 0)
		return (leave(k, -fault));
	*n = 0;
	if (p == NULL || p->state == SIM_ZOMBIE)
		return (leave(k, -ESRCH));
	for (size_t i = 0; i < p->mappings.n; i++) {
		const struct hwtdi_vm_entry *m = &SIM_AT(&p->mappings,
		    struct hwtdi_vm_entry, i);

		if (m->start == m->end)
			continue;
		if (*n < room)
			out[*n] = *m;
		++*n;
	}
	shorten(k, n);
	return (leave(k, 0));
}

static int
call_modules(void *state, struct hwtdi_module *out, size_t room, size_t *n)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_MODULES);

	if (fault != 0)
		return (leave(k, -fault));
	*n = k->modules.n;
	for (size_t i = 0; i < *n && i < room; i++)
		out[i] = SIM_AT(&k->modules, struct hwtdi_module, i);
	shorten(k, n);
	return (leave(k, 0));
}

static int
call_credentials(void *state, pid_t pid, struct hwtdi_credentials *out)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_CREDENTIALS);
	const struct sim_process *p = pid == 0 ? sim_caller(k)->process
					       : sim_find_process(k, pid);

	if (fault != 0)
		return (leave(k, -fault));
	if (p == NULL)
		return (leave(k, -ESRCH));
	*out = *p->credentials;
	return (leave(k, 0));
}

static int
call_cpuid(void *state, uint32_t number, uint32_t sub, uint32_t out[4])
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_CPUID);

	if (fault != 0)
		return (leave(k, -fault));
	if (k->o.arch != SIM_AMD64)
		return (leave(k, -ENOTSUP));
	memset(out, 0, 4 * sizeof(out[0]));
	for (size_t i = 0; i < k->leaves.n; i++) {
		const struct sim_leaf *l = &SIM_AT(&k->leaves, struct sim_leaf,
		    i);

		if (l->leaf == number && l->subleaf == sub)
			memcpy(out, l->out, sizeof(l->out));
	}
	return (leave(k, 0));
}

/* It counts with the clock, as often as the architecture mostly has it. */
static int
call_counter(void *state, uint64_t *count, uint64_t *frequency)
{
	struct sim_kernel *k = state;
	const int fault = enter(k, SIM_CALL_COUNTER);

	if (fault != 0)
		return (leave(k, -fault));
	*frequency = k->o.arch == SIM_AMD64 ? 2000000000 : 100000000;
	*count = k->o.arch == SIM_AMD64 ? k->now * 2 : k->now / 10;
	return (leave(k, 0));
}

static uint64_t
call_now(void *state)
{
	struct sim_kernel *k = state;
	uint64_t now;

	enter(k, SIM_CALL_TIME);
	now = k->now;
	sim_unlock(k);
	return (now);
}

static uint64_t
call_real_time(void *state)
{
	return (BOOT_NS + call_now(state));
}

static void
call_sleep(void *state, uint64_t ns)
{
	struct sim_kernel *k = state;

	enter(k, SIM_CALL_TIME);
	sim_wait(k, ns > SIM_NEVER - 1 - k->now ? SIM_NEVER - 1 : k->now + ns,
	    NULL, NULL);
	sim_unlock(k);
}

void
sim_fill_table(struct sim_kernel *k)
{
	k->system = (struct hwtdi_system){ .state = k,
		.open = call_open,
		.close = call_close,
		.ioctl = call_ioctl,
		.mmap = call_mmap,
		.munmap = call_munmap,
		.kqueue = call_kqueue,
		.kevent_add = call_kevent_add,
		.kevent_wait = call_kevent_wait,
		.spawn = call_spawn,
		.release = call_release,
		.ended = call_ended,
		.kill = call_kill,
		.fork = call_fork,
		.sysctl = call_sysctl,
		.threads = call_threads,
		.mappings = call_mappings,
		.modules = call_modules,
		.credentials = call_credentials,
		.cpuid = call_cpuid,
		.counter = call_counter,
		.now = call_now,
		.real_time = call_real_time,
		.sleep = call_sleep };
}
