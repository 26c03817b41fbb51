/*
 * Contexts of hwt(4): the ioctls, and the hooks of threads.
 */
#include <errno.h>
#include <string.h>

#include "sim_internal.h"

/* How long nodes stay after their context. */
#define NODES_LINGER 1000000

/* Memory of the caller: what cannot be an address is none. */
static bool
bad(uint64_t address)
{
	return (address < SIM_PAGE);
}

const struct sim_backend *
sim_find_backend(const struct sim_kernel *k, const char *name)
{
	const struct sim_backend *const all[] = { k->o.flavour == SIM_5BSD
		    ? &sim_backend_pt_5bsd
		    : &sim_backend_pt,
		&sim_backend_spe, &sim_backend_coresight };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if ((k->o.backends & all[i]->bit) != 0 &&
		    strcmp(all[i]->name, name) == 0)
			return (all[i]);
	return (NULL);
}

struct sim_unit *
sim_new_unit(struct sim_kernel *k, struct sim_context *ctx,
    struct sim_thread *t, int id)
{
	struct sim_unit *u = sim_alloc(k, sizeof(*u));

	u->ctx = ctx;
	u->id = id;
	u->thread = t;
	u->tid = t == NULL ? 0 : t->tid;
	u->bufsize = ctx->bufsize;
	u->file_off = k->next_file_off;
	k->next_file_off += ctx->bufsize;
	*SIM_PUSH(k, &ctx->units, struct sim_unit *) = u;
	*SIM_PUSH(k, &k->units, struct sim_unit *) = u;
	if (t != NULL)
		t->unit = u;
	return (u);
}

/* A thread gets its buffer and its node, or an error. */
static int
add_thread(struct sim_kernel *k, struct sim_context *ctx, struct sim_thread *t)
{
	const int id = ctx->next_id++;

	if (k->fail_threads != 0 ||
	    sim_chance(&k->fault_random, k->per_mille)) {
		if (k->fail_threads != 0)
			k->fail_threads--;
		k->totals.threads_failed++;
		return (-ENOMEM);
	}
	sim_new_unit(k, ctx, t, id);
	sim_record(k, ctx,
	    &(struct sim_record){ .type = HWTDI_HWT_ENTRY_THREAD_CREATE,
		.id = id });
	return (0);
}

void
sim_hook_thread_create(struct sim_kernel *k, struct sim_thread *t)
{
	struct sim_context *ctx = t->process->ctx;

	if (ctx == NULL || ctx->dead)
		return;
	/* The context is never let go of then. */
	if (add_thread(k, ctx, t) != 0)
		ctx->leaked = true;
}

void
sim_hook_switch_in(struct sim_kernel *k, struct sim_thread *t, unsigned cpu)
{
	struct sim_unit *u = t->unit;

	if (u == NULL || u->ctx->dead || !u->ctx->running)
		return;
	u->cpu = cpu;
	u->ctx->backend->enable(k, u, cpu);
}

void
sim_hook_switch_out(struct sim_kernel *k, struct sim_thread *t)
{
	/* Software interrupts come before the next thread does. */
	k->cpus[t->cpu].held = false;
	if (!k->o.swi_after_switch)
		sim_pt_swi(k, (unsigned)t->cpu);
	if (t->unit != NULL && t->unit->tracing)
		t->unit->ctx->backend->disable(k, t->unit);
}

void
sim_hook_thread_exit(struct sim_kernel *k, struct sim_thread *t)
{
	if (t->unit != NULL && t->unit->tracing) {
		if (t->cpu >= 0)
			sim_pt_swi(k, (unsigned)t->cpu);
		t->unit->ctx->backend->disable(k, t->unit);
	}
}

void
sim_free_context(struct sim_kernel *k, struct sim_context *ctx)
{
	if (ctx->dead)
		return;
	for (size_t i = 0; i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);

		if (u->tracing)
			ctx->backend->disable(k, u);
	}
	ctx->running = false;
	if (ctx->backend->deinit != NULL)
		ctx->backend->deinit(k, ctx);
	ctx->dead = true;
	if (ctx->leaked)
		sim_hung(k,
		    "the exit of an owner waits for a context of which the "
		    "creation of a thread failed");
	for (size_t i = 0; i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);

		u->gone = true;
		if (u->thread != NULL) {
			u->thread->unit = NULL;
			/* Who sleeps for a mapping goes on. */
			sim_wake(k, u->thread);
		} else {
			k->cpus[u->id].unit = NULL;
		}
	}
	if (ctx->process != NULL)
		ctx->process->ctx = NULL;
	k->contexts[ctx->ident] = NULL;
	k->nodes_until[ctx->ident] = k->now + NODES_LINGER;
}

static bool
in_groups(const struct hwtdi_credentials *c, uint32_t group)
{
	for (uint32_t i = 0; i < c->n_groups; i++)
		if (c->groups[i] == group)
			return (true);
	return (false);
}

/* No superuser is above this. */
static bool
may_trace(const struct hwtdi_credentials *owner,
    const struct hwtdi_credentials *target)
{
	if (owner->euid != target->euid && owner->euid != target->ruid &&
	    owner->euid != target->svuid)
		return (false);
	for (uint32_t i = 0; i < target->n_groups; i++)
		if (!in_groups(owner, target->groups[i]))
			return (false);
	return (in_groups(owner, target->rgid) &&
	    in_groups(owner, target->svgid));
}

static int
alloc_thread_mode(struct sim_kernel *k, struct sim_context *ctx, pid_t pid)
{
	struct sim_process *p = sim_find_process(k, pid);
	const struct sim_caller *c = sim_caller(k);
	int rc;

	if (p == NULL || p->state == SIM_ZOMBIE)
		return (-ENXIO);
	if (!may_trace(c->process->credentials, p->credentials))
		return (-EPERM);
	if (p->ctx != NULL || (p->stale != NULL && !p->stale->dead))
		return (-EEXIST);
	ctx->process = p;
	for (size_t i = 0; i < p->threads.n; i++) {
		struct sim_thread *t = SIM_AT(&p->threads, struct sim_thread *,
		    i);

		if (!t->ended && (rc = add_thread(k, ctx, t)) != 0)
			return (rc);
	}
	if (ctx->backend->init != NULL &&
	    (rc = ctx->backend->init(k, ctx)) != 0)
		return (rc);
	p->ctx = ctx;
	return (0);
}

static int
alloc_cpu_mode(struct sim_kernel *k, struct sim_context *ctx)
{
	int rc;

	for (unsigned cpu = 0; cpu < SIM_MAX_CPUS; cpu++) {
		if ((ctx->cpus >> cpu & 1) == 0)
			continue;
		if (cpu >= k->o.n_cpus) {
			sim_panicked(k, "ALLOC of CPU %u on a machine with %u",
			    cpu, k->o.n_cpus);
			return (-ENXIO);
		}
		sim_new_unit(k, ctx, NULL, (int)cpu);
	}
	if (ctx->backend->init != NULL &&
	    (rc = ctx->backend->init(k, ctx)) != 0)
		return (rc);
	/* Each is put before the others. */
	for (size_t i = k->modules.n; i-- > 0;) {
		const struct hwtdi_module *m = &SIM_AT(&k->modules,
		    struct hwtdi_module, i);

		sim_record(k, ctx,
		    &(struct sim_record){ .type = HWTDI_HWT_ENTRY_KERNEL,
			.path = sim_text(k, "%s", m->name),
			.addr = m->addr });
	}
	return (0);
}

/* The set of CPUs of the caller. */
static int
copy_cpus(struct sim_kernel *k, const struct hwtdi_hwt_alloc *a, uint64_t *out)
{
	/* cpuset_t of FreeBSD 15: 1024 bits. */
	uint8_t set[128] = { 0 };
	const size_t n = a->cpusetsize < sizeof(set) ? (size_t)a->cpusetsize
						     : sizeof(set);
	bool beyond = false, any = false;

	if (n != 0) {
		if (bad(a->cpu_map))
			return (-EFAULT);
		memcpy(set, (const void *)(uintptr_t)a->cpu_map, n);
	}
	*out = 0;
	for (size_t i = 0; i < sizeof(set); i++) {
		any = any || set[i] != 0;
		if (i < 8)
			*out |= (uint64_t)set[i] << (8 * i);
		else
			beyond = beyond || set[i] != 0;
	}
	if (!any)
		return (-ENODEV);
	if (beyond) {
		sim_panicked(k, "ALLOC of CPUs beyond the machine");
		return (-ENXIO);
	}
	return (0);
}

/* Whether this owner traces that process already. */
static bool
has_context(const struct sim_kernel *k, pid_t owner, pid_t pid)
{
	for (size_t i = 0; i < HWTDI_HWT_MAX_CONTEXTS; i++) {
		const struct sim_context *ctx = k->contexts[i];

		if (ctx != NULL && ctx->owner == owner &&
		    ctx->process != NULL && ctx->process->pid == pid)
			return (true);
	}
	return (false);
}

static int
backend_name(const struct sim_kernel *k, uint64_t address,
    const struct sim_backend **out)
{
	const char *name = (const char *)(uintptr_t)address;
	size_t n = 0;

	if (address == 0)
		return (-EINVAL);
	if (bad(address))
		return (-EFAULT);
	while (n < HWTDI_HWT_BACKEND_ROOM && name[n] != '\0')
		n++;
	if (n == HWTDI_HWT_BACKEND_ROOM)
		return (-ENAMETOOLONG);
	*out = sim_find_backend(k, name);
	return (*out == NULL ? -ENODEV : 0);
}

static int
new_ident(const struct sim_kernel *k)
{
	for (int i = 0; i < HWTDI_HWT_MAX_CONTEXTS; i++)
		if (k->contexts[i] == NULL)
			return (i);
	return (-ENOMEM);
}

static int
do_alloc(struct sim_kernel *k, struct hwtdi_hwt_alloc *a, int fault)
{
	const pid_t owner = sim_caller(k)->process->pid;
	const struct sim_backend *backend;
	struct sim_context *ctx;
	uint64_t cpus = 0;
	int rc, ident;

	if (a->bufsize > HWTDI_HWT_MAX_BUFSIZE || a->bufsize % SIM_PAGE != 0)
		return (-EINVAL);
	if ((rc = backend_name(k, a->backend_name, &backend)) != 0)
		return (rc);
	sim_caller(k)->owner = true;
	if (a->mode != HWTDI_HWT_THREAD && a->mode != HWTDI_HWT_CPU)
		return (-ENXIO);
	if (a->mode == HWTDI_HWT_THREAD && has_context(k, owner, a->pid))
		return (-EEXIST);
	if (a->mode == HWTDI_HWT_CPU && (rc = copy_cpus(k, a, &cpus)) != 0)
		return (rc);
	if ((ident = new_ident(k)) < 0)
		return (ident);
	if (bad(a->ident))
		return (-EFAULT);
	*(int32_t *)(uintptr_t)a->ident = ident;
	if (fault != 0)
		return (-fault);
	if (a->bufsize == 0) {
		sim_panicked(k, "ALLOC with a bufsize of 0");
		return (-ENXIO);
	}
	if (k->nodes_until[ident] > k->now) {
		sim_panicked(k,
		    "ALLOC of ident %d while its nodes are there still",
		    ident);
		return (-ENXIO);
	}

	ctx = sim_alloc(k, sizeof(*ctx));
	ctx->ident = ident;
	ctx->mode = a->mode;
	ctx->backend = backend;
	ctx->owner = owner;
	ctx->bufsize = a->bufsize;
	ctx->cpus = cpus;
	ctx->kqueue_fd = a->kqueue_fd;
	k->contexts[ident] = ctx;
	rc = ctx->mode == HWTDI_HWT_THREAD ? alloc_thread_mode(k, ctx, a->pid)
					   : alloc_cpu_mode(k, ctx);
	if (rc != 0) {
		/* Threads forget what they were given. */
		ctx->leaked = false;
		sim_free_context(k, ctx);
		k->nodes_until[ident] = 0;
	}
	return (rc);
}

static int
do_start(struct sim_kernel *k, struct sim_context *ctx)
{
	if (ctx->running)
		return (-ENXIO);
	if (ctx->backend->start_check != NULL &&
	    !ctx->backend->start_check(k, ctx))
		return (-ENXIO);
	ctx->running = true;
	ctx->was_started = true;
	/* In thread mode that is all: threads come in later. */
	if (ctx->mode == HWTDI_HWT_CPU)
		ctx->backend->start(k, ctx);
	return (0);
}

static int
do_stop(struct sim_kernel *k, struct sim_context *ctx)
{
	if (!ctx->running)
		return (-ENXIO);
	if (ctx->backend->stop == NULL) {
		sim_panicked(k, "STOP of %s calls through a null pointer",
		    ctx->backend->name);
		return (-ENXIO);
	}
	ctx->backend->stop(k, ctx);
	ctx->running = false;
	return (0);
}

static int
do_set_config(struct sim_context *ctx, const struct hwtdi_hwt_set_config *c)
{
	if (ctx->running)
		return (-ENXIO);
	if (c->config_size > SIM_PAGE)
		return (-EFBIG);
	if (c->config_size != 0) {
		if (bad(c->config))
			return (-EFAULT);
		memcpy(ctx->config, (const void *)(uintptr_t)c->config,
		    (size_t)c->config_size);
		ctx->config_size = (size_t)c->config_size;
		ctx->config_version = c->config_version;
	}
	ctx->pause_on_mmap = c->pause_on_mmap != 0;
	return (0);
}

static int
do_bufptr(struct sim_kernel *k, struct sim_unit *u,
    const struct hwtdi_hwt_bufptr_get *get)
{
	uint64_t offset = 0, data = 0;
	int ident = 0;
	int rc;

	if ((rc = u->ctx->backend->read(k, u, &ident, &offset, &data)) != 0)
		return (rc);
	if ((get->ident != 0 && bad(get->ident)) ||
	    (get->offset != 0 && bad(get->offset)) ||
	    (get->data != 0 && bad(get->data)))
		return (-EFAULT);
	if (get->ident != 0)
		*(int32_t *)(uintptr_t)get->ident = ident;
	if (get->offset != 0)
		*(uint64_t *)(uintptr_t)get->offset = offset;
	if (get->data != 0)
		*(uint64_t *)(uintptr_t)get->data = data;
	return (0);
}

static int
do_svc_buf(struct sim_kernel *k, struct sim_context *ctx,
    const struct hwtdi_hwt_svc_buf *svc)
{
	if (!ctx->running)
		return (-ENXIO);
	if (svc->data_size == 0 || svc->data_size > SIM_PAGE)
		return (-EINVAL);
	if (bad(svc->data))
		return (-EFAULT);
	if (ctx->backend->svc_buf == NULL) {
		sim_panicked(k, "SVC_BUF of %s calls through a null pointer",
		    ctx->backend->name);
		return (-ENXIO);
	}
	return (ctx->backend->svc_buf(k, ctx,
	    (const void *)(uintptr_t)svc->data, (size_t)svc->data_size,
	    svc->data_version));
}

int
sim_ioctl(struct sim_kernel *k, struct sim_fd *fd, unsigned long request,
    void *arg, int fault)
{
	const pid_t owner = sim_caller(k)->process->pid;
	struct sim_context *ctx;

	if (fd->kind == SIM_FD_HWT)
		return (request == HWTDI_HWT_IOC_ALLOC
			? do_alloc(k, arg, fault)
			: -ENXIO);
	if (fault != 0)
		return (-fault);
	ctx = fd->unit->ctx;
	if (!sim_caller(k)->owner)
		return (-ENXIO);
	if (ctx->owner != owner)
		return (-EPERM);
	if (fd->unit->gone)
		return (-ENXIO);
	switch (request) {
	case HWTDI_HWT_IOC_START:
		return (do_start(k, ctx));
	case HWTDI_HWT_IOC_STOP:
		return (do_stop(k, ctx));
	case HWTDI_HWT_IOC_RECORD_GET:
		return (sim_record_get(k, ctx, arg));
	case HWTDI_HWT_IOC_BUFPTR_GET:
		return (do_bufptr(k, fd->unit, arg));
	case HWTDI_HWT_IOC_SET_CONFIG:
		return (do_set_config(ctx, arg));
	case HWTDI_HWT_IOC_WAKEUP:
		if (ctx->mode == HWTDI_HWT_CPU)
			return (-ENXIO);
		sim_wake(k, fd->unit->thread);
		return (0);
	case HWTDI_HWT_IOC_SVC_BUF:
		return (do_svc_buf(k, ctx, arg));
	default:
		return (0);
	}
}
