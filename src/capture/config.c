/*
 * Making configs of backends: what is asked for, checked against what the
 * kernel does with it.
 */
#include "capture/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define BOTH (HWTD_CAPTURE_USER | HWTD_CAPTURE_KERNEL)

/* What only kernels with the mends of 5BSD record. */
#define PT_TIMES                                                              \
	(HWTD_CAPTURE_PTF_TSC | HWTD_CAPTURE_PTF_MTC | HWTD_CAPTURE_PTF_CYC | \
	    HWTD_CAPTURE_PTF_PTWRITE)
#define PT_FLAGS                                                              \
	(PT_TIMES | HWTD_CAPTURE_PTF_NO_BRANCHES | HWTD_CAPTURE_PTF_NO_TNT |  \
	    HWTD_CAPTURE_PTF_ANY_BUFFER)
#define SPE_FLAGS                                                             \
	(HWTD_CAPTURE_SPEF_CPU_CONTEXT | HWTD_CAPTURE_SPEF_NO_CONTEXT)
#define CS_FLAGS                                                              \
	(HWTD_CAPTURE_CSF_CYCLES | HWTD_CAPTURE_CSF_BRANCH_BROADCAST |        \
	    HWTD_CAPTURE_CSF_NO_RETURN_STACK |                                \
	    HWTD_CAPTURE_CSF_NO_TIMESTAMPS | HWTD_CAPTURE_CSF_NO_CONTEXT)

/* Source: Arm ETM architecture specification, "TRCCONFIGR". */
#define TRCCONFIGR_BB 0x8u
#define TRCCONFIGR_CCI 0x10u
#define TRCCONFIGR_CID 0x40u
#define TRCCONFIGR_VMID 0x80u
#define TRCCONFIGR_TS 0x800u
#define TRCCONFIGR_RS 0x1000u
/* "TRCVICTLR": the event that is always true, started. */
#define TRCVICTLR_ALWAYS 0x201u
/* "TRCSYNCPR": 2^12 bytes. */
#define TRCSYNCPR_4096 12u
#define LEAST_CYCLES 256u
#define MOST_CYCLES 0xfffu
#define MOST_INTERVAL ((uint32_t)1 << 24)

uint64_t
hwtdi_config_bufsize(const struct hwtdi_config_options *o, uint64_t page_size)
{
	switch (o->backend) {
	case HWTDI_BACKEND_PT:
		return (o->pt.buffer_bytes != 0
			? o->pt.buffer_bytes
			: HWTDI_CONFIG_PT_PAGES * page_size);
	case HWTDI_BACKEND_SPE:
		return (o->spe.buffer_bytes != 0
			? o->spe.buffer_bytes
			: HWTDI_CONFIG_SPE_PAGES * page_size);
	default:
		return (o->coresight.buffer_bytes != 0
			? o->coresight.buffer_bytes
			: HWTDI_CONFIG_CS_PAGES * page_size);
	}
}

size_t
hwtdi_config_ranges(enum hwtdi_backend backend,
    const struct hwtdi_machine *machine)
{
	switch (backend) {
	case HWTDI_BACKEND_PT:
		if (!machine->has_pt || !machine->pt.ip_filter)
			return (0);
		return (machine->pt.n_ranges < HWTDI_HWT_PT_RANGES
			? machine->pt.n_ranges
			: HWTDI_HWT_PT_RANGES);
	case HWTDI_BACKEND_CORESIGHT:
		return (HWTDI_HWT_CS_RANGES);
	default:
		return (0);
	}
}

static int
check_flags(const char *what, uint32_t flags, uint32_t known,
    struct hwtd_error *err)
{
	if ((flags & ~known) == 0)
		return (HWTD_OK);
	return (hwtdi_fail(err, HWTD_E_INVALID,
	    "%s: flags %#" PRIx32 " are not known", what, flags & ~known));
}

static int
check_ranges(const struct hwtdi_config_options *o, const char *what,
    size_t most, struct hwtd_error *err)
{
	if (o->n_ranges > most)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%s: %zu ranges of addresses are asked for and the "
		    "hardware has %zu; take fewer filters",
		    what, o->n_ranges, most));
	for (size_t i = 0; i < o->n_ranges; i++)
		if (o->ranges[i].mode == HWTDI_FILTER_STOP &&
		    (o->backend != HWTDI_BACKEND_PT ||
			o->kernel != HWTDI_KERNEL_5BSD))
			return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			    "%s: this kernel knows no ranges that stop the "
			    "trace; take the filter without \"stop:\"",
			    what));
	return (HWTD_OK);
}

static uint32_t
who_of(uint32_t who, uint32_t otherwise)
{
	return (who != 0 ? who : otherwise);
}

bool
hwtdi_config_traces_kernel(const struct hwtdi_config_options *o)
{
	switch (o->backend) {
	case HWTDI_BACKEND_PT:
		return ((who_of(o->pt.who,
			     o->mode == HWTDI_HWT_CPU ? HWTD_CAPTURE_KERNEL
						      : HWTD_CAPTURE_USER) &
			    HWTD_CAPTURE_KERNEL) != 0);
	case HWTDI_BACKEND_SPE:
		return ((who_of(o->spe.who, BOTH) & HWTD_CAPTURE_KERNEL) != 0);
	default:
		return (true);
	}
}

static const char *
who_text(uint32_t who)
{
	if (who == BOTH)
		return ("programs and the kernel");
	return (who == HWTD_CAPTURE_USER ? "programs" : "the kernel");
}

/* Intel PT */

static int
check_pt(const struct hwtdi_config_options *o,
    const struct hwtdi_machine *machine, struct hwtd_error *err)
{
	const struct hwtd_capture_pt *pt = &o->pt;
	int rc;

	if (!machine->has_pt) {
		return (machine->no_pt.code != 0
			? hwtdi_fail_pass(err, &machine->no_pt)
			: hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			      "pt: this CPU has no Intel PT"));
	}
	rc = check_flags("pt", pt->flags, PT_FLAGS, err);
	if (rc == HWTD_OK)
		rc = check_flags("pt, whose code", pt->who, BOTH, err);
	if (rc == HWTD_OK)
		rc = check_ranges(o, "pt",
		    hwtdi_config_ranges(HWTDI_BACKEND_PT, machine), err);
	if (rc != HWTD_OK)
		return (rc);
	if (o->kernel == HWTDI_KERNEL_5BSD)
		return (HWTD_OK);
	if ((pt->flags & PT_TIMES) != 0)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "pt: this kernel takes branches only, and would drop "
		    "TSC, MTC, CYC and PTWRITE without a word; 5BSD has "
		    "them"));
	if (pt->mtc_freq != 0 || pt->cyc_threshold != 0 || pt->psb_freq != 0)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "pt: this kernel ignores frequencies of MTC, CYC and PSB; "
		    "5BSD does not"));
	return (HWTD_OK);
}

static void
fill_pt_long(const struct hwtdi_config_options *o, uint64_t ctl,
    struct hwtdi_config *out)
{
	struct hwtdi_hwt_pt_long_config *c = &out->blob.pt_long;

	c->nranges = (int32_t)o->n_ranges;
	for (size_t i = 0; i < o->n_ranges; i++) {
		c->ip_ranges[i].start = o->ranges[i].start;
		c->ip_ranges[i].end = o->ranges[i].end;
		c->ip_ranges[i].mode = o->ranges[i].mode == HWTDI_FILTER_STOP
		    ? 2
		    : 1;
	}
	if ((o->pt.flags & HWTD_CAPTURE_PTF_TSC) != 0)
		ctl |= HWTDI_HWT_PT_TSC;
	/* The kernel turns TSC on with them. */
	if ((o->pt.flags & HWTD_CAPTURE_PTF_MTC) != 0)
		ctl |= HWTDI_HWT_PT_MTC | HWTDI_HWT_PT_TSC;
	if ((o->pt.flags & HWTD_CAPTURE_PTF_CYC) != 0)
		ctl |= HWTDI_HWT_PT_CYC | HWTDI_HWT_PT_TSC;
	if ((o->pt.flags & HWTD_CAPTURE_PTF_PTWRITE) != 0)
		ctl |= HWTDI_HWT_PT_PTW | HWTDI_HWT_PT_FUP_ON_PTW;
	c->rtit_ctl = ctl;
	c->mtc_freq = o->pt.mtc_freq;
	c->cyc_thresh = o->pt.cyc_threshold;
	c->psb_freq = o->pt.psb_freq;
	out->size = sizeof(*c);
}

static void
fill_pt(const struct hwtdi_config_options *o, uint64_t ctl,
    struct hwtdi_config *out)
{
	struct hwtdi_hwt_pt_config *c = &out->blob.pt;

	c->rtit_ctl = ctl;
	c->nranges = (int32_t)o->n_ranges;
	for (size_t i = 0; i < o->n_ranges; i++) {
		c->ip_ranges[i].start = o->ranges[i].start;
		c->ip_ranges[i].end = o->ranges[i].end;
	}
	out->size = sizeof(*c);
}

static int
make_pt(const struct hwtdi_config_options *o,
    const struct hwtdi_machine *machine, struct hwtdi_config *out,
    struct hwtd_error *err)
{
	const uint32_t who = who_of(o->pt.who,
	    o->mode == HWTDI_HWT_CPU ? HWTD_CAPTURE_KERNEL
				     : HWTD_CAPTURE_USER);
	uint64_t ctl = 0;
	int rc;

	rc = check_pt(o, machine, err);
	if (rc != HWTD_OK)
		return (rc);
	if ((who & HWTD_CAPTURE_USER) != 0)
		ctl |= HWTDI_HWT_PT_USER;
	if ((who & HWTD_CAPTURE_KERNEL) != 0)
		ctl |= HWTDI_HWT_PT_OS;
	if ((o->pt.flags & HWTD_CAPTURE_PTF_NO_BRANCHES) == 0)
		ctl |= HWTDI_HWT_PT_BRANCH;
	if ((o->pt.flags & HWTD_CAPTURE_PTF_NO_TNT) != 0)
		ctl |= HWTDI_HWT_PT_DIS_TNT;
	if (o->kernel == HWTDI_KERNEL_5BSD)
		fill_pt_long(o, ctl, out);
	else
		fill_pt(o, ctl, out);

	out->pt.size = sizeof(out->pt);
	out->pt.cpu_family = machine->family;
	out->pt.cpu_model = machine->cpu_model;
	out->pt.cpu_stepping = machine->stepping;
	out->pt.nom_freq = machine->nom_freq;
	out->pt.mtc_freq = o->pt.mtc_freq;
	out->pt.cpuid_15h_eax = machine->leaf_15[0];
	out->pt.cpuid_15h_ebx = machine->leaf_15[1];
	for (size_t i = 0; i < o->n_ranges; i++) {
		out->pt.filters[i].mode = o->ranges[i].mode ==
			HWTDI_FILTER_STOP
		    ? HWTD_PT_FILTER_STOP
		    : HWTD_PT_FILTER_TRACE;
		out->pt.filters[i].start = o->ranges[i].start;
		out->pt.filters[i].end = o->ranges[i].end;
	}
	(void)snprintf(out->text, sizeof(out->text), "%s of %s, %s",
	    (ctl & HWTDI_HWT_PT_BRANCH) == 0 ? "no branches"
		: (ctl & HWTDI_HWT_PT_DIS_TNT) != 0
		? "branches but conditional ones"
		: "branches",
	    who_text(who),
	    (o->pt.flags & PT_TIMES & ~(uint32_t)HWTD_CAPTURE_PTF_PTWRITE) != 0
		? "with times"
		: "without times");
	return (HWTD_OK);
}

/* Arm SPE */

static int
make_spe(const struct hwtdi_config_options *o,
    const struct hwtdi_machine *machine, struct hwtdi_config *out,
    struct hwtd_error *err)
{
	const uint32_t who = who_of(o->spe.who, BOTH);
	const bool by_cpu = (o->spe.flags & HWTD_CAPTURE_SPEF_CPU_CONTEXT) !=
	    0;
	const bool none = (o->spe.flags & HWTD_CAPTURE_SPEF_NO_CONTEXT) != 0;
	struct hwtdi_hwt_spe_config *c = &out->blob.spe;
	int rc;

	rc = check_flags("spe", o->spe.flags, SPE_FLAGS, err);
	if (rc == HWTD_OK)
		rc = check_flags("spe, whose code", o->spe.who, BOTH, err);
	if (rc == HWTD_OK)
		rc = check_ranges(o, "spe", 0, err);
	if (rc != HWTD_OK)
		return (rc);
	if (by_cpu && none)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "spe: samples have a context or none, not both"));
	if (o->spe.interval >= MOST_INTERVAL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "spe: an interval of %" PRIu32
		    " operations; it has to be below %" PRIu32,
		    o->spe.interval, MOST_INTERVAL));
	c->interval = o->spe.interval != 0 ? o->spe.interval
					   : HWTDI_CONFIG_SPE_INTERVAL;
	c->level = who == BOTH	       ? HWTDI_HWT_SPE_KERNEL_AND_USER
	    : who == HWTD_CAPTURE_USER ? HWTDI_HWT_SPE_USER_ONLY
				       : HWTDI_HWT_SPE_KERNEL_ONLY;
	c->ctx_field = none ? HWTDI_HWT_SPE_CTX_NONE
	    : by_cpu	    ? HWTDI_HWT_SPE_CTX_CPU
			    : HWTDI_HWT_SPE_CTX_PID;
	out->size = sizeof(*c);
	out->version = HWTDI_HWT_SPE_VERSION;

	out->spe.size = sizeof(out->spe);
	out->spe.midr = machine->midr;
	out->spe.interval = c->interval;
	out->spe.owner = none ? HWTD_SPE_OWNER_UNKNOWN
	    : by_cpu	      ? HWTD_SPE_OWNER_CPU
			      : HWTD_SPE_OWNER_PROCESS;
	(void)snprintf(out->text, sizeof(out->text),
	    "a sample of each %" PRIu32 " operations of %s, with times and "
	    "physical addresses",
	    c->interval, who_text(who));
	return (HWTD_OK);
}

/* CoreSight */

static int
make_coresight(const struct hwtdi_config_options *o, struct hwtdi_config *out,
    struct hwtd_error *err)
{
	struct hwtdi_hwt_cs_config *c = &out->blob.cs;
	const uint32_t flags = o->coresight.flags;
	const uint32_t least = o->coresight.cycle_threshold;
	int rc;

	rc = check_flags("coresight", flags, CS_FLAGS, err);
	if (rc == HWTD_OK)
		rc = check_ranges(o, "coresight", HWTDI_HWT_CS_RANGES, err);
	if (rc != HWTD_OK)
		return (rc);
	if (least > MOST_CYCLES)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "coresight: a threshold of %" PRIu32
		    " cycles; there are at most %u",
		    least, MOST_CYCLES));
	if ((flags & HWTD_CAPTURE_CSF_CYCLES) != 0)
		c->cfg |= TRCCONFIGR_CCI;
	if ((flags & HWTD_CAPTURE_CSF_BRANCH_BROADCAST) != 0)
		c->cfg |= TRCCONFIGR_BB;
	if ((flags & HWTD_CAPTURE_CSF_NO_RETURN_STACK) == 0)
		c->cfg |= TRCCONFIGR_RS;
	if ((flags & HWTD_CAPTURE_CSF_NO_TIMESTAMPS) == 0)
		c->cfg |= TRCCONFIGR_TS;
	if ((flags & HWTD_CAPTURE_CSF_NO_CONTEXT) == 0)
		c->cfg |= TRCCONFIGR_CID | TRCCONFIGR_VMID;
	c->ccctlr = least != 0 ? least : LEAST_CYCLES;
	c->syncfreq = TRCSYNCPR_4096;
	c->vinst_ctrl = TRCVICTLR_ALWAYS;
	/* Address comparators 2n and 2n + 1 are range n; both ends inside. */
	for (size_t i = 0; i < o->n_ranges; i++) {
		c->addr_val[2 * i] = o->ranges[i].start;
		c->addr_val[2 * i + 1] = o->ranges[i].end;
		c->viiectlr |= 1u << i;
	}
	out->size = sizeof(*c);
	out->version = HWTDI_HWT_CS_VERSION;

	out->cs.size = sizeof(out->cs);
	out->cs.protocol = HWTD_CS_ETMV4;
	out->cs.arch = HWTD_ARM_ARCH_V8;
	out->cs.profile = HWTD_ARM_PROFILE_A;
	out->cs.configr = c->cfg;
	(void)snprintf(out->text, sizeof(out->text),
	    "branches of programs and the kernel, %s%s",
	    (flags & HWTD_CAPTURE_CSF_NO_TIMESTAMPS) == 0 ? "with times"
							  : "without times",
	    (flags & HWTD_CAPTURE_CSF_CYCLES) != 0 ? " and cycles" : "");
	return (HWTD_OK);
}

int
hwtdi_config_make(const struct hwtdi_config_options *o,
    const struct hwtdi_machine *machine, struct hwtdi_config *out,
    struct hwtd_error *err)
{
	memset(out, 0, sizeof(*out));
	out->backend = o->backend;
	switch (o->backend) {
	case HWTDI_BACKEND_PT:
		return (make_pt(o, machine, out, err));
	case HWTDI_BACKEND_SPE:
		return (make_spe(o, machine, out, err));
	case HWTDI_BACKEND_CORESIGHT:
		return (make_coresight(o, out, err));
	default:
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "there is no backend %d", (int)o->backend));
	}
}

bool
hwtdi_config_etm_ids(const struct hwtdi_system *sys, uint32_t unit,
    uint32_t idr[HWTD_CS_IDRS])
{
	char name[64];
	uint64_t v;

	for (uint32_t i = 0; i < HWTD_CS_IDRS; i++) {
		(void)snprintf(name, sizeof(name),
		    "dev.coresight_etm4x.%" PRIu32 ".idr%" PRIu32, unit, i);
		idr[i] = 0;
		if (hwtdi_machine_number(sys, name, &v))
			idr[i] = (uint32_t)v;
		/* 3 to 7 are not used by decoders, and may be missing. */
		else if (i < 3 || i > 7)
			return (false);
	}
	return (true);
}
