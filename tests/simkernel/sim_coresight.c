/*
 * The driver of CoreSight, of forks: one ring for all that is traced.
 */
#include <errno.h>

#include "sim_internal.h"

static int
cs_init(struct sim_kernel *k, struct sim_context *ctx)
{
	if (k->cs_ctx != NULL) {
		/* -1 is ERESTART: the call is made again, and again. */
		sim_hung(k, "ALLOC of coresight while a context is there");
		return (-ENXIO);
	}
	k->cs_ctx = ctx;
	return (0);
}

static struct sim_unit *
sink(const struct sim_context *ctx)
{
	return (SIM_AT(&ctx->units, struct sim_unit *, 0));
}

static void
cs_deinit(struct sim_kernel *k, struct sim_context *ctx)
{
	struct sim_unit *u;

	if (k->cs_ctx != ctx)
		return;
	k->cs_ctx = NULL;
	if (ctx->units.n == 0)
		return;
	/* What the FIFO has comes out when nobody is there. */
	u = sink(ctx);
	if (k->fifo.n != 0)
		sim_unit_drop(k, u, k->fifo.p, k->fifo.n);
	k->fifo.n = 0;
}

static bool
cs_start_check(struct sim_kernel *k, struct sim_context *ctx)
{
	if (ctx->config_size != HWTDI_HWT_CS_CONFIG_SIZE ||
	    ctx->config_version != HWTDI_HWT_CS_VERSION)
		sim_risked(k,
		    "coresight runs with its own config, not that "
		    "of %zu bytes and version %d",
		    ctx->config_size, ctx->config_version);
	return (true);
}

static void
cs_enable(struct sim_kernel *k, struct sim_unit *u, unsigned cpu)
{
	(void)k;
	u->cpu = cpu;
	u->tracing = true;
}

static void
cs_disable(struct sim_kernel *k, struct sim_unit *u)
{
	(void)k;
	u->tracing = false;
}

static void
cs_start(struct sim_kernel *k, struct sim_context *ctx)
{
	for (size_t i = 0; i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);

		k->cpus[u->id].unit = u;
		cs_enable(k, u, (unsigned)u->id);
	}
}

static int
cs_read(struct sim_kernel *k, struct sim_unit *u, int *ident, uint64_t *offset,
    uint64_t *data)
{
	(void)k;
	(void)data;
	/* The write pointer lies in one buffer, once it is set. */
	if (!u->ctx->was_started || u != sink(u->ctx))
		return (-ENOENT);
	*ident = (int)(u->pos / SIM_PAGE);
	*offset = u->pos % SIM_PAGE;
	return (0);
}

static size_t
cs_room(const struct sim_unit *u)
{
	const struct sim_unit *s = sink(u->ctx);

	return ((size_t)(s->bufsize - s->pos));
}

static void
to_ring(struct sim_kernel *k, struct sim_unit *s, const uint8_t *bytes,
    size_t n)
{
	while (n != 0) {
		const uint64_t left = s->bufsize - s->pos;
		const size_t some = n < left ? n : (size_t)left;

		sim_unit_write(k, s, s->pos, bytes, some);
		bytes += some;
		n -= some;
		s->pos += some;
		if (s->pos == s->bufsize)
			s->pos = 0;
	}
}

static void
cs_write(struct sim_kernel *k, struct sim_unit *u, const struct sim_step *step,
    const void *bytes, size_t n)
{
	struct sim_unit *s = sink(u->ctx);
	const uint8_t *b = bytes;
	size_t out;

	(void)step;
	if (s->cpu != u->cpu && s != u) {
		s->cpu = u->cpu;
		sim_unit_slice(k, s, s->pos);
	}
	if (k->o.etf_bytes == 0) {
		to_ring(k, s, b, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		*SIM_PUSH(k, &k->fifo, uint8_t) = b[i];
	if (k->fifo.n <= k->o.etf_bytes)
		return;
	out = (k->fifo.n - k->o.etf_bytes) & ~(size_t)15;
	to_ring(k, s, k->fifo.p, out);
	for (size_t i = out; i < k->fifo.n; i++)
		SIM_AT(&k->fifo, uint8_t, i - out) = SIM_AT(&k->fifo, uint8_t,
		    i);
	k->fifo.n -= out;
}

const struct sim_backend sim_backend_coresight = { .name = "coresight",
	.bit = SIM_CORESIGHT,
	.granule = 16,
	.init = cs_init,
	.deinit = cs_deinit,
	.start_check = cs_start_check,
	.start = cs_start,
	.enable = cs_enable,
	.disable = cs_disable,
	.read = cs_read,
	.write = cs_write,
	.room = cs_room };
