/*
 * The driver of Intel PT: rings that begin anew with each switch, and PMIs.
 */
#include <errno.h>
#include <string.h>

#include "sim_internal.h"

/* Entries of a page of a table, with the one that leads back. */
#define TOPA_PAGE_ENTRIES 512
/* What a table index that ran over is. */
#define SATURATED_PAGE 0x1ffffff

#define RTIT_CYC 0x2ULL
#define RTIT_FUP_ON_PTW 0x20ULL
#define RTIT_TSC 0x400ULL
#define RTIT_PTW 0x1000ULL

/* The config of 5BSD. */
struct long_config {
	uint64_t rtit_ctl;
	int64_t cr3_filter;
	int32_t nranges;
	int32_t padding;
	struct {
		uint64_t start;
		uint64_t end;
		int32_t mode;
		int32_t padding;
	} ip_ranges[HWTDI_HWT_PT_RANGES];
	uint32_t mtc_freq;
	uint32_t cyc_thresh;
	uint32_t psb_freq;
	uint32_t padding2;
};

static_assert(sizeof(struct long_config) == 88, "config of 5BSD");

static int
pt_init(struct sim_kernel *k, struct sim_context *ctx)
{
	const uint64_t entries = ctx->bufsize / SIM_PAGE + 1;

	if (k->o.flavour != SIM_5BSD && entries > TOPA_PAGE_ENTRIES)
		sim_risked(k,
		    "a table of %llu entries, which may not be contiguous",
		    (unsigned long long)entries);
	return (0);
}

static void
pt_deinit(struct sim_kernel *k, struct sim_context *ctx)
{
	if (k->pt_cpu_ctx == ctx)
		k->pt_cpu_ctx = NULL;
}

static const uint32_t *
leaf(const struct sim_kernel *k, uint32_t number, uint32_t sub)
{
	static const uint32_t none[4] = { 0 };

	for (size_t i = 0; i < k->leaves.n; i++) {
		const struct sim_leaf *l = &SIM_AT(&k->leaves, struct sim_leaf,
		    i);

		if (l->leaf == number && l->subleaf == sub)
			return (l->out);
	}
	return (none);
}

/* Bits of `ctl` that this CPU has not; a write of them faults. */
static uint64_t
missing_bits(const struct sim_kernel *k, uint64_t ctl)
{
	/* Bits of EBX of leaf 0x14.  Source: Intel SDM, "CPUID". */
	static const struct {
		uint64_t bit;
		unsigned ebx;
	} needs[] = { { HWTDI_HWT_PT_CR3_FILTER, 0 }, { RTIT_CYC, 1 },
		{ HWTDI_HWT_PT_MTC, 3 }, { RTIT_PTW, 4 },
		{ RTIT_FUP_ON_PTW, 4 }, { HWTDI_HWT_PT_DIS_TNT, 8 } };
	const uint32_t ebx = leaf(k, 0x14, 0)[1];
	uint64_t missing = 0;

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if ((ctl & needs[i].bit) != 0 &&
		    (ebx >> needs[i].ebx & 1) == 0)
			missing |= needs[i].bit;
	return (missing);
}

static bool
frequencies_fit(const struct sim_kernel *k, const struct long_config *c)
{
	const uint32_t *l = leaf(k, 0x14, 1);

	return (((c->rtit_ctl & HWTDI_HWT_PT_MTC) == 0 ||
		    (c->mtc_freq < 16 && (l[0] >> 16 >> c->mtc_freq & 1))) &&
	    (c->cyc_thresh == 0 || (c->rtit_ctl & RTIT_CYC) == 0 ||
		(c->cyc_thresh < 16 && (l[1] >> c->cyc_thresh & 1))) &&
	    (c->psb_freq == 0 ||
		(c->psb_freq < 16 && (l[1] >> 16 >> c->psb_freq & 1))));
}

/*
 * Whether the backend takes the config.  That it does not is noticed by nobody,
 * so the kernel goes on with a null pointer.
 */
static bool
pt_start_check(struct sim_kernel *k, struct sim_context *ctx)
{
	const bool is_long = k->o.flavour == SIM_5BSD;
	const size_t size = is_long ? sizeof(struct long_config)
				    : sizeof(struct hwtdi_hwt_pt_config);
	uint64_t bits = HWTDI_HWT_PT_BITS;
	struct long_config c = { 0 };
	uint64_t missing;

	if (ctx->config_size == 0) {
		sim_panicked(k, "START of pt without a config");
		return (false);
	}
	if (ctx->config_size < size) {
		sim_panicked(k, "a config of pt has %zu bytes, not %zu",
		    ctx->config_size, size);
		return (false);
	}
	/* What both layouts begin with; then the end of that of 5BSD. */
	memcpy(&c, ctx->config, is_long ? sizeof(c) : 24);
	if (is_long)
		bits |= RTIT_TSC | RTIT_CYC | RTIT_PTW | RTIT_FUP_ON_PTW;
	ctx->pt_bits |= c.rtit_ctl & bits;
	missing = missing_bits(k, ctx->pt_bits);
	if (missing != 0) {
		sim_panicked(k, "this CPU has no bits %#llx of RTIT_CTL",
		    (unsigned long long)missing);
		return (false);
	}
	if (c.nranges < 0 ||
	    (c.nranges > 0 && (leaf(k, 0x14, 0)[1] & 4) == 0)) {
		sim_panicked(k, "a config of pt has %d ranges", c.nranges);
		return (false);
	}
	if (is_long && !frequencies_fit(k, &c)) {
		sim_panicked(k, "this CPU has no such frequency");
		return (false);
	}
	return (true);
}

static void
begin(struct sim_kernel *k, struct sim_unit *u, unsigned cpu)
{
	u->cpu = cpu;
	u->tracing = true;
	u->pos = 0;
	sim_unit_slice(k, u, 0);
}

static void
pt_start(struct sim_kernel *k, struct sim_context *ctx)
{
	/* There is one for all; another one is told nothing. */
	if (k->pt_cpu_ctx != NULL && k->pt_cpu_ctx != ctx)
		return;
	k->pt_cpu_ctx = ctx;
	for (size_t i = 0; i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);

		k->cpus[u->id].unit = u;
		begin(k, u, (unsigned)u->id);
	}
}

static void
pt_enable(struct sim_kernel *k, struct sim_unit *u, unsigned cpu)
{
	/* The ring begins anew; what is told of it is what was. */
	begin(k, u, cpu);
}

static void
pt_disable(struct sim_kernel *k, struct sim_unit *u)
{
	(void)k;
	u->tracing = false;
	u->told = u->pos;
	u->told_by_pmi = false;
}

static int
pt_stop(struct sim_kernel *k, struct sim_context *ctx)
{
	for (size_t i = 0; i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);

		if (u->tracing)
			pt_disable(k, u);
	}
	return (0);
}

/* What the kernel believes the position to be. */
static void
tell(const struct sim_kernel *k, const struct sim_unit *u, int *page,
    uint64_t *offset)
{
	const bool right = k->o.positions == SIM_RIGHT ||
	    (!u->told_by_pmi && k->o.positions_at_pmi_only);

	*offset = u->told % SIM_PAGE;
	if (right)
		*page = (int)(u->told / SIM_PAGE);
	else
		*page = k->o.positions == SIM_INDEX_LOST ? 0 : SATURATED_PAGE;
}

/* What a CPU knows is of the one context that was started. */
static struct sim_unit *
unit_of_cpu(struct sim_kernel *k, const struct sim_unit *asked)
{
	struct sim_context *ctx = k->pt_cpu_ctx;

	for (size_t i = 0; ctx != NULL && i < ctx->units.n; i++) {
		struct sim_unit *u = SIM_AT(&ctx->units, struct sim_unit *, i);

		if (u->id == asked->id)
			return (u);
	}
	sim_panicked(k, "BUFPTR_GET of pt of CPU %d, which has no context",
	    asked->id);
	return (NULL);
}

static int
pt_read(struct sim_kernel *k, struct sim_unit *u, int *ident, uint64_t *offset,
    uint64_t *data)
{
	(void)data;
	if (u->ctx->mode == HWTDI_HWT_CPU && !u->ctx->was_started) {
		sim_panicked(k, "BUFPTR_GET of pt of CPU %d before START",
		    u->id);
		return (-ENXIO);
	}
	if (u->ctx->mode == HWTDI_HWT_CPU)
		u = unit_of_cpu(k, u);
	if (u == NULL)
		return (-ENXIO);
	tell(k, u, ident, offset);
	return (0);
}

static size_t
pt_room(const struct sim_unit *u)
{
	return (SIM_PAGE - (size_t)(u->pos % SIM_PAGE));
}

void
sim_pt_swi(struct sim_kernel *k, unsigned cpu)
{
	struct sim_cpu *c = &k->cpus[cpu];
	struct sim_unit *u = c->pending;
	struct sim_record record = { .type = HWTDI_HWT_ENTRY_BUFFER };

	if (u == NULL || c->held)
		return;
	c->pending = NULL;
	if (u->thread != NULL && c->current != u->thread) {
		/* It takes who is there now. */
		u = c->current == NULL ? NULL : c->current->unit;
		if (u == NULL || u->ctx->backend->bit != SIM_PT) {
			k->totals.pmis_coalesced++;
			return;
		}
	}
	record.id = u->id;
	tell(k, u, &record.curpage, &record.offset);
	sim_record(k, u->ctx, &record);
}

static void
pmi(struct sim_kernel *k, struct sim_unit *u, bool later)
{
	struct sim_cpu *c = &k->cpus[u->cpu];

	k->totals.pmis++;
	u->told = u->pos;
	u->told_by_pmi = true;
	if (c->pending != NULL)
		k->totals.pmis_coalesced++;
	c->pending = u;
	c->held = later;
	if (sim_chance(&k->fault_random, 4 * k->per_mille))
		return;
	if (!later && !k->o.coalesce &&
	    (k->o.seed == 0 || sim_random(&k->random) % 8 != 0))
		sim_pt_swi(k, u->cpu);
}

static void
pt_write(struct sim_kernel *k, struct sim_unit *u, const struct sim_step *step,
    const void *bytes, size_t n)
{
	const uint8_t *end = (const uint8_t *)step->bytes + step->n;
	const bool last = (const uint8_t *)bytes + n == end;

	sim_unit_write(k, u, u->pos, bytes, n);
	u->pos += n;
	if (last)
		k->cpus[u->cpu].held = false;
	if (u->pos % SIM_PAGE != 0)
		return;
	if (u->pos == u->bufsize)
		u->pos = 0;
	pmi(k, u, (step->flags & SIM_ONE_PMI) != 0 && !last);
}

static void
pt_error(struct sim_kernel *k, struct sim_unit *u)
{
	if (k->o.flavour == SIM_5BSD)
		sim_record(k, u->ctx,
		    &(struct sim_record){ .type = HWTDI_HWT_ENTRY_OVERFLOW,
			.id = u->id });
}

#define PT_BACKEND                                                            \
	.name = "pt", .bit = SIM_PT, .init = pt_init, .deinit = pt_deinit,    \
	.start_check = pt_start_check, .start = pt_start,                     \
	.enable = pt_enable, .disable = pt_disable, .read = pt_read,          \
	.write = pt_write, .room = pt_room, .error = pt_error

const struct sim_backend sim_backend_pt = { PT_BACKEND };
const struct sim_backend sim_backend_pt_5bsd = { PT_BACKEND, .stop = pt_stop };
