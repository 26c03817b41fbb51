/*
 * Processes of the simulated kernel, the scripts that they run, and time.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sim_internal.h"

/* How long a thread takes from its record to its sleep. */
#define FALLS_ASLEEP 2500
#define PIECE_NS 1000

struct sim_process *
sim_find_process(struct sim_kernel *k, pid_t pid)
{
	for (size_t i = 0; i < k->processes.n; i++) {
		struct sim_process *p = SIM_AT(&k->processes,
		    struct sim_process *, i);

		if (p->pid == pid && p->state != SIM_GONE)
			return (p);
	}
	return (NULL);
}

struct sim_program *
sim_find_program(struct sim_kernel *k, const char *path)
{
	static const char *const dirs[] = { "/sbin", "/bin", "/usr/sbin",
		"/usr/bin", "/usr/local/sbin", "/usr/local/bin" };

	for (size_t i = 0; i < k->programs.n; i++) {
		struct sim_program *program = SIM_AT(&k->programs,
		    struct sim_program *, i);
		char full[1024];

		if (program->path == NULL)
			continue;
		if (strcmp(program->path, path) == 0)
			return (program);
		if (strchr(path, '/') != NULL)
			continue;
		for (size_t d = 0; d < sizeof(dirs) / sizeof(dirs[0]); d++) {
			snprintf(full, sizeof(full), "%s/%s", dirs[d], path);
			if (strcmp(program->path, full) == 0)
				return (program);
		}
	}
	return (NULL);
}

struct sim_process *
sim_new_process(struct sim_kernel *k, pid_t parent, const char *name)
{
	struct sim_process *p = sim_alloc(k, sizeof(*p));
	const struct sim_process *from = sim_find_process(k, parent);

	p->pid = k->next_pid++;
	p->parent = parent;
	p->state = SIM_LIVES;
	snprintf(p->name, sizeof(p->name), "%.19s", name);
	p->credentials = sim_alloc(k, sizeof(*p->credentials));
	if (from != NULL)
		*p->credentials = *from->credentials;
	else
		p->credentials->n_groups = 1;
	for (size_t i = 0; k->o.reuse_processes && i < k->processes.n; i++) {
		struct sim_process *old = SIM_AT(&k->processes,
		    struct sim_process *, i);

		if (old->state == SIM_GONE && old->ctx != NULL) {
			p->stale = old->ctx;
			break;
		}
	}
	*SIM_PUSH(k, &k->processes, struct sim_process *) = p;
	return (p);
}

struct sim_thread *
sim_new_thread(struct sim_kernel *k, struct sim_process *p, unsigned number)
{
	struct sim_thread *t = sim_alloc(k, sizeof(*t));

	t->process = p;
	t->number = number;
	t->tid = k->next_tid++;
	t->cpu = -1;
	*SIM_PUSH(k, &p->threads, struct sim_thread *) = t;
	return (t);
}

/* The next step of a thread, or NULL. */
static const struct sim_step *
next_step(struct sim_thread *t)
{
	const struct sim_program *program = t->process->program;

	if (program == NULL)
		return (NULL);
	for (; t->next < program->steps.n; t->next++) {
		const struct sim_step *s = &SIM_AT(&program->steps,
		    struct sim_step, t->next);

		if (s->thread == t->number)
			return (s);
	}
	return (NULL);
}

/* The next step is due once its time has passed. */
static void
set_due(struct sim_kernel *k, struct sim_thread *t)
{
	const struct sim_step *s = next_step(t);

	t->due = s == NULL ? SIM_NEVER : k->now + s->ns;
	/* It waits for a CPU. */
	if (s != NULL && sim_chance(&k->fault_random, k->per_mille))
		t->due += sim_random(&k->fault_random) % 5000000;
}

void
sim_set_program(struct sim_kernel *k, struct sim_process *p,
    struct sim_program *program)
{
	p->program = program;
	for (size_t i = 0; i < p->threads.n; i++)
		set_due(k, SIM_AT(&p->threads, struct sim_thread *, i));
}

struct sim_program *
sim_program(struct sim_kernel *k, const char *path)
{
	struct sim_program *program = sim_alloc(k, sizeof(*program));

	program->k = k;
	program->path = path;
	*SIM_PUSH(k, &k->programs, struct sim_program *) = program;
	return (program);
}

void
sim_add(struct sim_program *program, const struct sim_step *step)
{
	*SIM_PUSH(program->k, &program->steps, struct sim_step) = *step;
}

pid_t
sim_start(struct sim_kernel *k, struct sim_program *program, const char *name,
    unsigned n_threads)
{
	struct sim_process *p = sim_new_process(k, sim_caller(k)->process->pid,
	    name);

	p->parent = 0;
	for (unsigned i = 0; i < n_threads; i++)
		sim_new_thread(k, p, i);
	sim_set_program(k, p, program);
	return (p->pid);
}

void
sim_add_map(struct sim_kernel *k, struct sim_process *p, uint64_t start,
    uint64_t len, uint64_t off, uint32_t prot, const char *path)
{
	struct hwtdi_vm_entry *m;

	if (len == 0)
		return;
	m = SIM_PUSH(k, &p->mappings, struct hwtdi_vm_entry);
	m->start = start;
	m->end = start + len;
	m->file_off = off;
	m->prot = prot;
	snprintf(m->path, sizeof(m->path), "%s", path == NULL ? "" : path);
}

void
sim_add_mapping(struct sim_kernel *k, pid_t pid,
    const struct hwtdi_vm_entry *mapping)
{
	struct sim_process *p = sim_find_process(k, pid);

	*SIM_PUSH(k, &p->mappings, struct hwtdi_vm_entry) = *mapping;
}

/* Cut [start, end) out of what is mapped. */
static void
unmap(struct sim_kernel *k, struct sim_process *p, uint64_t start,
    uint64_t end)
{
	const size_t n = p->mappings.n;

	for (size_t i = 0; i < n; i++) {
		struct hwtdi_vm_entry *m = &SIM_AT(&p->mappings,
		    struct hwtdi_vm_entry, i);

		if (m->end <= start || m->start >= end)
			continue;
		if (m->end > end) {
			struct hwtdi_vm_entry rest = *m;

			rest.file_off += end - rest.start;
			rest.start = end;
			*SIM_PUSH(k, &p->mappings,
			    struct hwtdi_vm_entry) = rest;
			m = &SIM_AT(&p->mappings, struct hwtdi_vm_entry, i);
		}
		/* One that is empty is not told. */
		m->end = m->start < start ? start : m->start;
	}
}

void
sim_wake(struct sim_kernel *k, struct sim_thread *t)
{
	/* Of a thread that does not sleep yet nothing is woken. */
	if (t->asleep) {
		t->asleep = false;
		set_due(k, t);
	}
}

void
sim_switch_out(struct sim_kernel *k, struct sim_thread *t)
{
	if (t->cpu < 0)
		return;
	sim_hook_switch_out(k, t);
	k->cpus[t->cpu].current = NULL;
	t->cpu = -1;
	t->switches++;
}

/* One that nobody has, if there is one. */
static unsigned
any_cpu(struct sim_kernel *k)
{
	const unsigned first = k->o.seed == 0
	    ? 0
	    : (unsigned)(sim_random(&k->random) % k->o.n_cpus);

	for (unsigned i = 0; i < k->o.n_cpus; i++) {
		const unsigned cpu = (first + i) % k->o.n_cpus;

		if (k->cpus[cpu].current == NULL)
			return (cpu);
	}
	return (first);
}

static void
switch_in(struct sim_kernel *k, struct sim_thread *t, unsigned cpu)
{
	if (cpu == SIM_ANY_CPU)
		cpu = t->cpu >= 0 ? (unsigned)t->cpu : any_cpu(k);
	cpu %= k->o.n_cpus;
	if (t->cpu == (int)cpu)
		return;
	sim_switch_out(k, t);
	if (k->cpus[cpu].current != NULL)
		sim_switch_out(k, k->cpus[cpu].current);
	k->cpus[cpu].current = t;
	t->cpu = (int)cpu;
	sim_hook_switch_in(k, t, cpu);
}

static void
end_thread(struct sim_kernel *k, struct sim_thread *t)
{
	if (t->ended)
		return;
	/* Kernels do not count the last time. */
	if (t->cpu >= 0 || t->switches > 0)
		t->process->switches += t->switches - (t->cpu < 0);
	sim_hook_thread_exit(k, t);
	sim_switch_out(k, t);
	t->ended = true;
	t->asleep = t->falls_asleep = false;
	t->due = SIM_NEVER;
}

void
sim_end_process(struct sim_kernel *k, struct sim_process *p, int status,
    int sig)
{
	if (p->state == SIM_ZOMBIE || p->state == SIM_GONE)
		return;
	for (size_t i = 0; i < p->threads.n; i++)
		end_thread(k, SIM_AT(&p->threads, struct sim_thread *, i));
	p->mappings.n = 0;
	p->status = status;
	p->signal = sig;
	p->state = SIM_GONE;
	for (size_t i = 0; i < k->callers.n; i++) {
		const struct sim_caller *c = SIM_AT(&k->callers,
		    struct sim_caller *, i);

		if (!c->gone && c->process->pid == p->parent)
			p->state = SIM_ZOMBIE;
	}
}

void
sim_deliver(struct sim_kernel *k, struct sim_process *p, int sig)
{
	switch (sig) {
	case 0:
	case SIGCHLD:
	case SIGURG:
	case SIGWINCH:
		return;
	case SIGSTOP:
	case SIGTSTP:
		for (size_t i = 0; i < p->threads.n; i++)
			sim_switch_out(k,
			    SIM_AT(&p->threads, struct sim_thread *, i));
		p->stopped = true;
		return;
	case SIGCONT:
		p->stopped = false;
		return;
	default:
		sim_end_process(k, p, 0, sig);
	}
}

/* A step of SIM_EXIT waits until what was listed before is done. */
static bool
others_are_behind(const struct sim_process *p, const struct sim_thread *self)
{
	for (size_t i = 0; i < p->threads.n; i++) {
		struct sim_thread *t = SIM_AT(&p->threads, struct sim_thread *,
		    i);

		if (t == self || t->ended)
			continue;
		if (t->falls_asleep ||
		    (next_step(t) != NULL && t->next < self->next))
			return (true);
	}
	return (false);
}

static bool
runnable(struct sim_thread *t)
{
	const struct sim_process *p = t->process;
	const struct sim_step *s;

	if (p->state != SIM_LIVES || p->stopped || t->ended || t->asleep)
		return (false);
	if (t->falls_asleep)
		return (true);
	s = next_step(t);
	if (s == NULL)
		return (false);
	return (s->op != SIM_EXIT || (s->flags & SIM_AT_ONCE) != 0 ||
	    !others_are_behind(p, t));
}

static void
mapped(struct sim_kernel *k, struct sim_thread *t,
    const struct sim_record *record)
{
	struct sim_context *ctx = t->process->ctx;

	sim_hook_mapping(k, t, record);
	if (ctx == NULL || ctx->dead || !ctx->pause_on_mmap || t->unit == NULL)
		return;
	sim_switch_out(k, t);
	t->falls_asleep = true;
	t->due = k->now + FALLS_ASLEEP;
	if (k->o.seed != 0)
		t->due = k->now + sim_random(&k->random) % (8 * FALLS_ASLEEP);
}

static void
do_exec(struct sim_kernel *k, struct sim_thread *t, const struct sim_step *s)
{
	struct sim_process *p = t->process;
	const char *base = strrchr(s->path, '/');

	for (size_t i = 0; i < p->threads.n; i++) {
		struct sim_thread *other = SIM_AT(&p->threads,
		    struct sim_thread *, i);

		if (other != t)
			end_thread(k, other);
	}
	p->path = s->path;
	snprintf(p->name, sizeof(p->name), "%.19s",
	    base == NULL ? s->path : base + 1);
	p->mappings.n = 0;
	sim_add_map(k, p, s->addr + s->off, s->len, s->off,
	    HWTDI_PROT_READ | HWTDI_PROT_EXEC, s->path);
	if (s->interp != NULL)
		sim_add_map(k, p, s->base, SIM_PAGE, 0,
		    HWTDI_PROT_READ | HWTDI_PROT_EXEC, s->interp);
	mapped(k, t,
	    &(struct sim_record){ .type = HWTDI_HWT_ENTRY_EXECUTABLE,
		.path = s->path,
		.addr = s->addr,
		.baseaddr = s->base });
}

static void
do_mmap(struct sim_kernel *k, struct sim_thread *t, const struct sim_step *s)
{
	const uint32_t prot = s->prot == 0 ? HWTDI_PROT_READ | HWTDI_PROT_EXEC
					   : s->prot;

	unmap(k, t->process, s->addr, s->addr + s->len);
	sim_add_map(k, t->process, s->addr, s->len, s->off, prot, s->path);
	if (s->path == NULL || (prot & HWTDI_PROT_EXEC) == 0 ||
	    (s->flags & SIM_NO_PATH) != 0)
		return;
	mapped(k, t,
	    &(struct sim_record){ .type = HWTDI_HWT_ENTRY_MMAP,
		.path = s->path,
		.addr = s->addr,
		/* What the stack of the kernel had. */
		.baseaddr = 0xfffffe0000000000ULL | s->addr >> 3,
		.pgoff = (int64_t)s->off,
		.len = s->len });
}

/* How much of `n` is written at once. */
static size_t
some_of(struct sim_kernel *k, const struct sim_backend *backend, size_t n)
{
	const size_t granule = backend->granule == 0 ? 1 : backend->granule;

	if (n < 2 * granule)
		return (n);
	return ((1 + (size_t)(sim_random(&k->random) % (n / granule))) *
	    granule);
}

/* A piece of what the hardware writes.  True: the step is done. */
static bool
do_trace(struct sim_kernel *k, struct sim_thread *t, const struct sim_step *s)
{
	const uint8_t *bytes = s->bytes;
	size_t n = s->n - t->done;
	struct sim_unit *u;

	switch_in(k, t, s->cpu);
	u = t->unit;
	if (u == NULL || !u->tracing)
		u = k->cpus[t->cpu].unit;
	if (u == NULL || !u->tracing) {
		k->totals.bytes_untraced += n;
		t->done = s->n;
	} else {
		const size_t room = u->ctx->backend->room(u);

		if (n > room)
			n = room;
		if (s->piece != 0 && n > s->piece)
			n = s->piece;
		if (k->o.seed != 0 && n > 1 && sim_random(&k->random) % 4 == 0)
			n = some_of(k, u->ctx->backend, n);
		u->ctx->backend->write(k, u, s, bytes + t->done, n);
		t->done += n;
	}
	if (t->done < s->n) {
		t->due = k->now + (s->piece_ns == 0 ? PIECE_NS : s->piece_ns);
		return (false);
	}
	t->done = 0;
	if ((s->flags & SIM_STAY) == 0)
		sim_switch_out(k, t);
	return (true);
}

static void
do_fork(struct sim_kernel *k, struct sim_thread *t, const struct sim_step *s)
{
	struct sim_process *child = sim_new_process(k, t->process->pid,
	    t->process->name);

	sim_new_thread(k, child, 0);
	for (size_t i = 0; i < t->process->mappings.n; i++)
		*SIM_PUSH(k, &child->mappings,
		    struct hwtdi_vm_entry) = SIM_AT(&t->process->mappings,
		    struct hwtdi_vm_entry, i);
	if (s->path != NULL)
		sim_set_program(k, child, sim_find_program(k, s->path));
}

static void
do_create(struct sim_kernel *k, struct sim_thread *t, const struct sim_step *s)
{
	struct sim_thread *created = sim_new_thread(k, t->process, s->number);

	sim_hook_thread_create(k, created);
	set_due(k, created);
}

static void
do_error(struct sim_kernel *k, struct sim_thread *t)
{
	struct sim_unit *u = t->unit;

	if ((u == NULL || !u->tracing) && t->cpu >= 0)
		u = k->cpus[t->cpu].unit;
	if (u != NULL && u->tracing && u->ctx->backend->error != NULL)
		u->ctx->backend->error(k, u);
}

/* Do the next step of a thread. */
static void
step(struct sim_kernel *k, struct sim_thread *t)
{
	struct sim_process *p = t->process;
	const struct sim_step *s;

	if (t->falls_asleep) {
		t->falls_asleep = false;
		/* The owner may have gone meanwhile. */
		t->asleep = p->ctx != NULL && !p->ctx->dead;
		if (!t->asleep)
			set_due(k, t);
		return;
	}
	if (sim_chance(&k->fault_random, k->per_mille / 8)) {
		k->totals.faults++;
		sim_end_process(k, p, 0, SIGKILL);
		return;
	}
	s = next_step(t);
	switch (s->op) {
	case SIM_EXEC:
		do_exec(k, t, s);
		break;
	case SIM_MMAP:
		do_mmap(k, t, s);
		break;
	case SIM_MUNMAP:
		unmap(k, p, s->addr, s->addr + s->len);
		sim_hook_mapping(k, t,
		    &(struct sim_record){ .type = HWTDI_HWT_ENTRY_MUNMAP,
			.addr = s->addr });
		break;
	case SIM_THREAD_CREATE:
		do_create(k, t, s);
		break;
	case SIM_THREAD_EXIT:
		end_thread(k, t);
		return;
	case SIM_TRACE:
		if (!do_trace(k, t, s))
			return;
		break;
	case SIM_SWITCH_IN:
		switch_in(k, t, s->cpu);
		break;
	case SIM_SWITCH_OUT:
		sim_switch_out(k, t);
		break;
	case SIM_PT_ERROR:
	case SIM_SPE_ERROR:
		do_error(k, t);
		break;
	case SIM_KLDLOAD:
		sim_add_module(k, s->path, s->interp, s->addr, s->len);
		break;
	case SIM_FORK_CHILD:
		do_fork(k, t, s);
		break;
	case SIM_CAUGHT:
		for (size_t i = 0; i < p->threads.n; i++) {
			struct sim_thread *other = SIM_AT(&p->threads,
			    struct sim_thread *, i);

			if (other->number == s->number && !other->ended)
				sim_wake(k, other);
		}
		break;
	case SIM_EXIT:
		sim_end_process(k, p, s->status, s->signal);
		return;
	case SIM_IDLE:
	case SIM_N_OPS:
		break;
	}
	t->next++;
	if (!t->falls_asleep)
		set_due(k, t);
}

/*
 * The thread whose step comes next.  At one time: the step that was listed
 * first, or any if a seed says so.
 */
static struct sim_thread *
next_thread(struct sim_kernel *k, bool any)
{
	struct sim_thread *best = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < k->processes.n; i++) {
		struct sim_process *p = SIM_AT(&k->processes,
		    struct sim_process *, i);

		if (p->state != SIM_LIVES)
			continue;
		for (size_t j = 0; j < p->threads.n; j++) {
			struct sim_thread *t = SIM_AT(&p->threads,
			    struct sim_thread *, j);

			if (!runnable(t))
				continue;
			if (any) {
				/* Each of n with the same chance. */
				if (sim_random(&k->random) % ++n == 0)
					best = t;
			} else if (best == NULL || t->due < best->due ||
			    (t->due == best->due &&
				t->process == best->process &&
				t->next < best->next)) {
				best = t;
			}
		}
	}
	return (best);
}

uint64_t
sim_next_due(struct sim_kernel *k)
{
	const struct sim_thread *t = next_thread(k, false);

	return (t == NULL ? SIM_NEVER : t->due);
}

void
sim_until(struct sim_kernel *k, uint64_t when)
{
	for (;;) {
		struct sim_thread *t = next_thread(k, false);

		if (t == NULL || t->due > when)
			break;
		if (t->due > k->now)
			k->now = t->due;
		step(k, t);
	}
	if (when > k->now)
		k->now = when;
	for (unsigned cpu = 0; cpu < k->o.n_cpus; cpu++)
		sim_pt_swi(k, cpu);
}

void
sim_some_steps(struct sim_kernel *k)
{
	unsigned n;

	if (k->o.seed == 0)
		return;
	for (n = (unsigned)(sim_random(&k->random) % 4); n > 1; n--) {
		struct sim_thread *t = next_thread(k, true);

		if (t == NULL)
			return;
		step(k, t);
	}
}

void
sim_advance(struct sim_kernel *k, uint64_t ns)
{
	sim_lock(k);
	k->epoch++;
	sim_until(k, k->now + ns);
	sim_unlock(k);
}

void
sim_run(struct sim_kernel *k, uint64_t ns)
{
	uint64_t end;

	sim_lock(k);
	end = k->now + ns;
	k->epoch++;
	for (;;) {
		const uint64_t due = sim_next_due(k);

		if (due > end)
			break;
		sim_until(k, due);
	}
	sim_unlock(k);
}
