/*
 * The driver of Arm SPE: buffers of two halves, and one queue of them for all.
 */
#include <errno.h>
#include <string.h>

#include "sim_internal.h"

#define SVC_BUF_VERSION 1

static int
spe_init(struct sim_kernel *k, struct sim_context *ctx)
{
	if (k->o.spe_cpu_mode_only && ctx->mode == HWTDI_HWT_THREAD)
		return (-ENOTSUP);
	if (ctx->bufsize < 2 * (uint64_t)SIM_PAGE ||
	    ctx->bufsize % k->o.spe_align != 0)
		return (-EINVAL);
	return (0);
}

static struct sim_kqueue *
queue_of(const struct sim_kernel *k, const struct sim_context *ctx)
{
	for (size_t i = 0; i < k->callers.n; i++) {
		const struct sim_caller *c = SIM_AT(&k->callers,
		    struct sim_caller *, i);
		const struct sim_fd *fd;

		if (c->gone || c->process->pid != ctx->owner ||
		    ctx->kqueue_fd < SIM_FIRST_FD ||
		    (size_t)(ctx->kqueue_fd - SIM_FIRST_FD) >= c->fds.n)
			continue;
		fd = &SIM_AT(&c->fds, struct sim_fd,
		    ctx->kqueue_fd - SIM_FIRST_FD);
		return (fd->kind == SIM_FD_KQUEUE ? fd->kq : NULL);
	}
	return (NULL);
}

static bool
post(struct sim_kernel *k, struct sim_context *ctx, uint64_t ident,
    int64_t data)
{
	struct sim_kqueue *kq = queue_of(k, ctx);

	return (kq != NULL && sim_kqueue_post(kq, ident, data));
}

/* All is switched off, and what was not told is lost. */
static void
abort_all(struct sim_kernel *k, struct sim_context *ctx)
{
	if (ctx->aborted)
		return;
	ctx->aborted = true;
	for (size_t i = 0; i < ctx->units.n; i++)
		SIM_AT(&ctx->units, struct sim_unit *, i)->tracing = false;
	post(k, ctx, HWTDI_HWT_SPE_EVENT_SHUTDOWN, 0);
}

static void
enqueue(struct sim_kernel *k, struct sim_unit *u, unsigned half, uint64_t n,
    bool final)
{
	struct sim_spe_entry *e = SIM_PUSH(k, &k->spe_queue,
	    struct sim_spe_entry);

	e->ident = u->id;
	e->offset = n;
	e->data = half | (u->partial ? HWTDI_HWT_SPE_PARTIAL : 0) |
	    (final ? HWTDI_HWT_SPE_FINAL : 0);
}

static void
clear_halves(struct sim_kernel *k, struct sim_unit *u)
{
	u->half = 0;
	u->half_n = 0;
	u->full[0] = u->full[1] = u->disabled = false;
	sim_unit_slice(k, u, 0);
}

static bool
spe_start_check(struct sim_kernel *k, struct sim_context *ctx)
{
	for (size_t i = 0; i < HWTDI_HWT_MAX_CONTEXTS; i++) {
		const struct sim_context *other = k->contexts[i];

		if (other != NULL && other != ctx && other->running &&
		    other->backend == ctx->backend)
			sim_risked(k, "two contexts of spe run");
	}
	if (ctx->config_size != sizeof(struct hwtdi_hwt_spe_config) ||
	    ctx->config_version != HWTDI_HWT_SPE_VERSION)
		sim_risked(k,
		    "spe runs with its own config, not that of %zu "
		    "bytes and version %d",
		    ctx->config_size, ctx->config_version);
	ctx->aborted = false;
	for (size_t i = 0; i < ctx->units.n; i++)
		clear_halves(k, SIM_AT(&ctx->units, struct sim_unit *, i));
	return (true);
}

static void
spe_enable(struct sim_kernel *k, struct sim_unit *u, unsigned cpu)
{
	if (u->ctx->aborted)
		return;
	u->cpu = cpu;
	u->tracing = true;
	/* It goes on where it was. */
	if (!(u->full[0] && u->full[1]))
		u->disabled = false;
	sim_unit_slice(k, u, u->half * (u->bufsize / 2) + u->half_n);
}

static void
spe_disable(struct sim_kernel *k, struct sim_unit *u)
{
	(void)k;
	u->tracing = false;
}

static void
spe_start(struct sim_kernel *k, struct sim_context *ctx)
{
	for (size_t i = 0; i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);

		k->cpus[u->id].unit = u;
		spe_enable(k, u, (unsigned)u->id);
	}
}

static int
spe_stop(struct sim_kernel *k, struct sim_context *ctx)
{
	if (ctx->aborted)
		return (0);
	for (size_t i = 0; i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);
		const unsigned other = 1 - u->half;

		u->tracing = false;
		/* An interrupt that came late is told as a last one too. */
		if (!u->full[other] && k->o.seed != 0 &&
		    sim_random(&k->random) % 4 == 0)
			enqueue(k, u, other, 0, true);
		/* What is full was told already. */
		enqueue(k, u, u->half, u->full[u->half] ? 0 : u->half_n, true);
	}
	post(k, ctx, HWTDI_HWT_SPE_EVENT_SHUTDOWN, 0);
	return (0);
}

static int
spe_read(struct sim_kernel *k, struct sim_unit *u, int *ident,
    uint64_t *offset, uint64_t *data)
{
	const struct sim_spe_entry *e;

	/* Whoever asks gets the oldest, of whatever context. */
	(void)u;
	if (k->spe_taken == k->spe_queue.n)
		return (-ENOENT);
	e = &SIM_AT(&k->spe_queue, struct sim_spe_entry, k->spe_taken++);
	*ident = e->ident;
	*offset = e->offset;
	*data = e->data;
	return (0);
}

static int
spe_svc_buf(struct sim_kernel *k, struct sim_context *ctx, const void *data,
    size_t size, int version)
{
	struct hwtdi_hwt_spe_svc_buf svc;
	struct sim_unit *u = NULL;
	unsigned half;

	if (size != sizeof(svc))
		return (-E2BIG);
	if (version != SVC_BUF_VERSION)
		return (-EINVAL);
	memcpy(&svc, data, sizeof(svc));
	half = svc.buf_idx & 1;
	if (ctx->mode == HWTDI_HWT_CPU && svc.ident >= k->o.n_cpus)
		return (-EINVAL);
	for (size_t i = 0; i < ctx->units.n && u == NULL; i++) {
		u = SIM_AT(&ctx->units, struct sim_unit *, i);
		if ((uint32_t)u->id != svc.ident)
			u = NULL;
	}
	if (ctx->mode == HWTDI_HWT_CPU && (u == NULL || !u->tracing))
		return (-ENXIO);
	if (u == NULL)
		return (-ENOENT);
	u->full[half] = false;
	if (!u->disabled)
		return (0);
	u->half = half;
	u->half_n = 0;
	/* Of a thread the CPU with its number is switched on. */
	if (ctx->mode == HWTDI_HWT_CPU || (unsigned)u->id == u->cpu)
		u->disabled = false;
	sim_unit_slice(k, u, half * (u->bufsize / 2));
	return (0);
}

static size_t
spe_room(const struct sim_unit *u)
{
	return (u->disabled ? SIZE_MAX : (size_t)(u->bufsize / 2 - u->half_n));
}

/* The half is full. */
static void
interrupt(struct sim_kernel *k, struct sim_unit *u)
{
	const unsigned other = 1 - u->half;

	u->full[u->half] = true;
	enqueue(k, u, u->half, u->half_n, !u->tracing);
	if (!post(k, u->ctx, HWTDI_HWT_SPE_EVENT_BUF,
		(int64_t)(k->spe_queue.n - k->spe_taken))) {
		abort_all(k, u->ctx);
		return;
	}
	if (u->full[other]) {
		u->disabled = true;
		return;
	}
	u->half = other;
	u->half_n = 0;
	sim_unit_slice(k, u, other * (u->bufsize / 2));
}

static void
spe_write(struct sim_kernel *k, struct sim_unit *u,
    const struct sim_step *step, const void *bytes, size_t n)
{
	const size_t record = step->piece == 0 ? 1 : step->piece;

	if (u->disabled) {
		sim_unit_drop(k, u, bytes, n);
		return;
	}
	sim_unit_write(k, u, u->half * (u->bufsize / 2) + u->half_n, bytes, n);
	u->half_n += n;
	if ((step->flags & SIM_PARTIAL) != 0)
		/* Nobody ever takes that back. */
		u->partial = true;
	if (u->bufsize / 2 - u->half_n < record)
		interrupt(k, u);
}

static void
spe_error(struct sim_kernel *k, struct sim_unit *u)
{
	abort_all(k, u->ctx);
}

const struct sim_backend sim_backend_spe = { .name = "spe",
	.bit = SIM_SPE,
	.init = spe_init,
	.start_check = spe_start_check,
	.start = spe_start,
	.stop = spe_stop,
	.svc_buf = spe_svc_buf,
	.enable = spe_enable,
	.disable = spe_disable,
	.read = spe_read,
	.write = spe_write,
	.room = spe_room,
	.error = spe_error };
