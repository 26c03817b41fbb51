/*
 * Checks of a config before the kernel has it: the kernel drops what it does not
 * know without a word, and panics at what the CPU cannot do.
 *
 * Source: Intel SDM, "IA32_RTIT_CTL MSR", "Intel PT capabilities" (CPUID leaf 14H).
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "capture/hwt_calls_internal.h"

static_assert(sizeof(struct hwtdi_hwt_pt_long_config) ==
	HWTDI_HWT_PT_LONG_CONFIG_SIZE,
    "config of PT of 5BSD");
static_assert(offsetof(struct hwtdi_hwt_pt_long_config, mtc_freq) == 72,
    "config of PT of 5BSD");

/* An interval is a field of 24 bits. */
#define SPE_MAX_INTERVAL 0xffffffu

/* Intel PT. */

int
hwtdi_pt_caps_read(const struct hwtdi_system *sys, struct hwtdi_pt_caps *out,
    struct hwtd_error *err)
{
	struct hwtdi_pt_caps caps = { .linear_bits = 0 };
	uint32_t r[4];
	bool more;

	memset(r, 0, sizeof(r));
	if (sys->cpuid(sys->state, 0, 0, r) < 0 || r[0] < 0x14)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "this CPU has no Intel PT: CPUID ends at leaf %#x", r[0]));
	if (sys->cpuid(sys->state, 7, 0, r) < 0 || (r[1] >> 25 & 1) == 0)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "this CPU has no Intel PT, or a hypervisor hides it"));
	if (sys->cpuid(sys->state, 0x14, 0, r) < 0)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "CPUID leaf 0x14 of this CPU cannot be read"));
	more = r[0] >= 1;
	caps.cr3_filter = (r[1] & 1) != 0;
	caps.cyc_psb = (r[1] >> 1 & 1) != 0;
	caps.ip_filter = (r[1] >> 2 & 1) != 0;
	caps.mtc = (r[1] >> 3 & 1) != 0;
	caps.ptwrite = (r[1] >> 4 & 1) != 0;
	caps.dis_tnt = (r[1] >> 8 & 1) != 0;
	caps.topa = (r[2] & 1) != 0;
	caps.topa_many = (r[2] >> 1 & 1) != 0;
	if (!caps.topa || !caps.topa_many)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "Intel PT of this CPU has no tables of many regions, "
		    "which hwt(4) needs: CPUID.14H ecx is %#x",
		    r[2]));
	if (more && sys->cpuid(sys->state, 0x14, 1, r) >= 0) {
		caps.n_ranges = r[0] & 7;
		caps.mtc_periods = r[0] >> 16;
		caps.cyc_thresholds = r[1] & 0xffff;
		caps.psb_freqs = r[1] >> 16;
	}
	if (sys->cpuid(sys->state, 0x80000000u, 0, r) >= 0 &&
	    r[0] >= 0x80000008u &&
	    sys->cpuid(sys->state, 0x80000008u, 0, r) >= 0)
		caps.linear_bits = r[0] >> 8 & 0xff;
	*out = caps;
	return (HWTD_OK);
}

/* A config of PT in either form. */
struct pt {
	uint64_t ctl;
	int64_t cr3_filter;
	int32_t nranges;
	uint64_t start[HWTDI_HWT_PT_RANGES];
	uint64_t end[HWTDI_HWT_PT_RANGES];
	int32_t how[HWTDI_HWT_PT_RANGES];
	uint32_t mtc_freq, cyc_thresh, psb_freq;
};

static struct pt
pt_stock(const void *config)
{
	struct hwtdi_hwt_pt_config c;
	struct pt pt = { .ctl = 0 };

	memcpy(&c, config, sizeof(c));
	pt.ctl = c.rtit_ctl;
	pt.cr3_filter = c.cr3_filter;
	pt.nranges = c.nranges;
	for (size_t i = 0; i < HWTDI_HWT_PT_RANGES; i++) {
		pt.start[i] = c.ip_ranges[i].start;
		pt.end[i] = c.ip_ranges[i].end;
	}
	pt.mtc_freq = c.mtc_freq;
	pt.cyc_thresh = c.cyc_thresh;
	pt.psb_freq = c.psb_freq;
	return (pt);
}

static struct pt
pt_long(const void *config)
{
	struct hwtdi_hwt_pt_long_config c;
	struct pt pt = { .ctl = 0 };

	memcpy(&c, config, sizeof(c));
	pt.ctl = c.rtit_ctl;
	pt.cr3_filter = c.cr3_filter;
	pt.nranges = c.nranges;
	for (size_t i = 0; i < HWTDI_HWT_PT_RANGES; i++) {
		pt.start[i] = c.ip_ranges[i].start;
		pt.end[i] = c.ip_ranges[i].end;
		pt.how[i] = c.ip_ranges[i].mode;
	}
	pt.mtc_freq = c.mtc_freq;
	pt.cyc_thresh = c.cyc_thresh;
	pt.psb_freq = c.psb_freq;
	return (pt);
}

/* Registers of addresses fault at others. */
static bool
canonical(const struct hwtdi_pt_caps *caps, uint64_t addr)
{
	const uint32_t bits = caps->linear_bits >= 48 && caps->linear_bits < 64
	    ? caps->linear_bits
	    : 48;
	const uint64_t top = addr >> (bits - 1);

	return (top == 0 || top == UINT64_MAX >> (bits - 1));
}

static int
check_ranges(const struct hwtdi_hwt *hwt, const struct pt *pt,
    struct hwtd_error *err)
{
	const struct hwtdi_pt_caps *caps = &hwt->pt;
	const int32_t most = caps->n_ranges < HWTDI_HWT_PT_RANGES
	    ? (int32_t)caps->n_ranges
	    : HWTDI_HWT_PT_RANGES;

	if (pt->nranges == 0)
		return (HWTD_OK);
	if (!caps->ip_filter)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%" PRId32 " address ranges, and this CPU cannot filter "
		    "by address",
		    pt->nranges));
	if (pt->nranges < 0 || pt->nranges > most)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%" PRId32 " address ranges; this CPU and hwt(4) have "
		    "%" PRId32,
		    pt->nranges, most));
	for (int32_t i = 0; i < pt->nranges; i++) {
		if (pt->start[i] > pt->end[i])
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "address range %#" PRIx64 " to %#" PRIx64
			    " ends before it begins",
			    pt->start[i], pt->end[i]));
		if (!canonical(caps, pt->start[i]) ||
		    !canonical(caps, pt->end[i]))
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "address range %#" PRIx64 " to %#" PRIx64
			    " has an address that the CPU faults at",
			    pt->start[i], pt->end[i]));
		if (pt->how[i] < 0 || pt->how[i] > 2)
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "mode %" PRId32 " of an address range; 1 and 2 "
			    "are known",
			    pt->how[i]));
	}
	return (HWTD_OK);
}

/* Each bit that the CPU has to know. */
static int
check_bits(const struct hwtdi_hwt *hwt, uint64_t ctl, struct hwtd_error *err)
{
	const struct hwtdi_pt_caps *caps = &hwt->pt;
	const struct {
		uint64_t bit;
		bool has;
		const char *name;
	} bits[] = {
		{ HWTDI_HWT_PT_CR3_FILTER, caps->cr3_filter, "CR3Filter" },
		{ HWTDI_HWT_PT_MTC, caps->mtc, "MTCEn" },
		{ HWTDI_HWT_PT_DIS_TNT, caps->dis_tnt, "DisTNT" },
		{ HWTDI_HWT_PT_CYC, caps->cyc_psb, "CYCEn" },
		{ HWTDI_HWT_PT_PTW, caps->ptwrite, "PTWEn" },
		{ HWTDI_HWT_PT_FUP_ON_PTW, caps->ptwrite, "FUPonPTW" },
	};
	uint64_t known = HWTDI_HWT_PT_BITS;

	if (hwt->kernel == HWTDI_KERNEL_5BSD)
		known |= HWTDI_HWT_PT_CYC | HWTDI_HWT_PT_FUP_ON_PTW |
		    HWTDI_HWT_PT_TSC | HWTDI_HWT_PT_PTW;
	if ((ctl & ~known) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "bits %#" PRIx64 " of rtit_ctl; this kernel drops them "
		    "without a word",
		    ctl & ~known));
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if ((ctl & bits[i].bit) != 0 && !bits[i].has)
			return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			    "%s (%#" PRIx64 " of rtit_ctl): this CPU cannot, "
			    "and the kernel would panic",
			    bits[i].name, bits[i].bit));
	if ((ctl & (HWTDI_HWT_PT_OS | HWTDI_HWT_PT_USER)) == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "rtit_ctl %#" PRIx64 " traces neither user nor kernel",
		    ctl));
	if ((hwt->started_rtit_ctl & ~ctl) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "bits %#" PRIx64 " of rtit_ctl stay on in a context that "
		    "was started with them; take a new one",
		    hwt->started_rtit_ctl & ~ctl));
	return (HWTD_OK);
}

/* Fields that only one kernel has a use for. */
static int
check_fields(const struct hwtdi_hwt *hwt, const struct pt *pt,
    struct hwtd_error *err)
{
	const bool plain = hwt->kernel == HWTDI_KERNEL_STOCK;
	const struct {
		const char *name;
		uint32_t value, can;
		/* It is looked at, also where it is 0. */
		bool used;
	} fields[] = {
		{ "mtc_freq", pt->mtc_freq, hwt->pt.mtc_periods,
		    (pt->ctl & HWTDI_HWT_PT_MTC) != 0 },
		{ "cyc_thresh", pt->cyc_thresh, hwt->pt.cyc_thresholds,
		    (pt->ctl & HWTDI_HWT_PT_CYC) != 0 },
		{ "psb_freq", pt->psb_freq, hwt->pt.psb_freqs, false },
	};

	if (pt->cr3_filter != 0 || (pt->ctl & HWTDI_HWT_PT_CR3_FILTER) != 0)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "cr3_filter %#" PRIx64 ": hwt(4) does not look at it, and "
		    "would trace where CR3 is 0",
		    (uint64_t)pt->cr3_filter));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].value != 0 && plain)
			return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			    "%s %" PRIu32 ": this kernel does not look at it",
			    fields[i].name, fields[i].value));
		if ((fields[i].value != 0 || fields[i].used) &&
		    (fields[i].value >= 16 ||
			(fields[i].can >> fields[i].value & 1) == 0))
			return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			    "%s %" PRIu32 ": this CPU cannot, and the kernel "
			    "would panic",
			    fields[i].name, fields[i].value));
	}
	return (HWTD_OK);
}

static int
check_pt(const struct hwtdi_hwt *hwt, const void *config, size_t size,
    uint64_t *rtit_ctl, struct hwtd_error *err)
{
	const bool is_long = hwt->kernel == HWTDI_KERNEL_5BSD;
	const size_t want = is_long ? HWTDI_HWT_PT_LONG_CONFIG_SIZE
				    : sizeof(struct hwtdi_hwt_pt_config);
	struct pt pt;
	int rc;

	/* The kernel reads that much, however much there is. */
	if (size != want)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "config of pt with %zu bytes; this kernel takes %zu", size,
		    want));
	pt = is_long ? pt_long(config) : pt_stock(config);
	rc = check_bits(hwt, pt.ctl, err);
	if (rc == HWTD_OK)
		rc = check_fields(hwt, &pt, err);
	if (rc == HWTD_OK)
		rc = check_ranges(hwt, &pt, err);
	if (rc == HWTD_OK)
		*rtit_ctl = pt.ctl;
	return (rc);
}

/* Arm. */

static int
check_spe(const void *config, size_t size, int version, struct hwtd_error *err)
{
	struct hwtdi_hwt_spe_config c;

	if (size != sizeof(c) || version != HWTDI_HWT_SPE_VERSION)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "config of spe with %zu bytes, version %d; the kernel "
		    "takes %zu, version %d",
		    size, version, sizeof(c), HWTDI_HWT_SPE_VERSION));
	memcpy(&c, config, sizeof(c));
	if (c.interval > SPE_MAX_INTERVAL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "interval %" PRIu32 "; the hardware has up to %u",
		    c.interval, SPE_MAX_INTERVAL));
	if (c.level > HWTDI_HWT_SPE_USER_ONLY)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "level %" PRIu32 " of spe; 0 to 2 are known", c.level));
	if (c.ctx_field > HWTDI_HWT_SPE_CTX_CPU)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "context field %" PRIu32 " of spe; 0 to 2 are known",
		    c.ctx_field));
	return (HWTD_OK);
}

static int
check_coresight(const void *config, size_t size, int version,
    struct hwtd_error *err)
{
	struct hwtdi_hwt_cs_config c;

	if (size != sizeof(c) || version != HWTDI_HWT_CS_VERSION)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "config of coresight with %zu bytes, version %d; the "
		    "kernel takes %zu, version %d",
		    size, version, sizeof(c), HWTDI_HWT_CS_VERSION));
	memcpy(&c, config, sizeof(c));
	for (size_t i = 0; i < HWTDI_HWT_CS_RANGES; i++)
		if (c.addr_val[2 * i] > c.addr_val[2 * i + 1])
			return (hwtdi_fail(err, HWTD_E_INVALID,
			    "address range %#" PRIx64 " to %#" PRIx64
			    " ends before it begins",
			    c.addr_val[2 * i], c.addr_val[2 * i + 1]));
	return (HWTD_OK);
}

int
hwtdi_hwt_check_config(const struct hwtdi_hwt *hwt, const void *config,
    size_t size, int version, uint64_t *rtit_ctl, struct hwtd_error *err)
{
	switch (hwt->backend) {
	case HWTDI_BACKEND_PT:
		return (check_pt(hwt, config, size, rtit_ctl, err));
	case HWTDI_BACKEND_SPE:
		return (check_spe(config, size, version, err));
	default:
		return (check_coresight(config, size, version, err));
	}
}
