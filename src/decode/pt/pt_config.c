/*
 * How an Intel PT stream was recorded, in libipt's terms.
 */
#include "decode/pt/pt_config.h"

#include <string.h>

/*
 * Workarounds for errata.  A CPU that libipt does not know gets those of the
 * newest one that it knows.  BDM70 is always on: what it tolerates, a TIP.PGE
 * after a PSB+ that has a FUP, is illegal otherwise.
 */
static void
set_errata(struct pt_config *out)
{
	/* Newest first: Alder Lake, Ice Lake, Skylake. */
	static const uint8_t newest[] = { 0x97, 0x7d, 0x5e };
	struct pt_cpu cpu = out->cpu;

	memset(&out->errata, 0, sizeof(out->errata));
	if (cpu.vendor != pcv_intel || pt_cpu_errata(&out->errata, &cpu) < 0) {
		cpu.vendor = pcv_intel;
		cpu.family = 6;
		for (size_t i = 0; i < sizeof(newest); i++) {
			cpu.model = newest[i];
			if (pt_cpu_errata(&out->errata, &cpu) == 0)
				break;
			memset(&out->errata, 0, sizeof(out->errata));
		}
	}
	out->errata.bdm70 = 1;
}

static void
set_filters(struct pt_config *out, const struct hwtd_pt_config *pt)
{
	uint64_t *ends[HWTD_PT_MAX_FILTERS][2] = {
		{ &out->addr_filter.addr0_a, &out->addr_filter.addr0_b },
		{ &out->addr_filter.addr1_a, &out->addr_filter.addr1_b },
		{ &out->addr_filter.addr2_a, &out->addr_filter.addr2_b },
		{ &out->addr_filter.addr3_a, &out->addr_filter.addr3_b },
	};

	for (size_t i = 0; i < HWTD_PT_MAX_FILTERS; i++) {
		out->addr_filter.config
		    .addr_cfg |= (uint64_t)(pt->filters[i].mode & 15)
		    << (4 * i);
		*ends[i][0] = pt->filters[i].start;
		*ends[i][1] = pt->filters[i].end;
	}
}

void
hwtdi_pt_config_libipt(struct pt_config *out, const struct hwtd_pt_config *pt)
{
	pt_config_init(out);
#if LIBIPT_VERSION >= 0x201
	out->flags.variant.block.enable_iflags_events = 1;
#endif
	if (pt != NULL) {
		if (pt->cpu_family != 0) {
			out->cpu.vendor = pcv_intel;
			out->cpu.family = pt->cpu_family;
			out->cpu.model = pt->cpu_model;
			out->cpu.stepping = pt->cpu_stepping;
		}
		/* The field has 4 bits; libipt shifts by it. */
		out->mtc_freq = pt->mtc_freq & 15;
		out->nom_freq = pt->nom_freq;
		out->cpuid_0x15_eax = pt->cpuid_15h_eax;
		out->cpuid_0x15_ebx = pt->cpuid_15h_ebx;
		set_filters(out, pt);
	}
	set_errata(out);
	/* libipt looks for the branch of SKL014 inside one block only. */
	if (out->addr_filter.config.addr_cfg == 0 || !out->errata.skl014) {
		out->flags.variant.block.end_on_call = 1;
		out->flags.variant.block.end_on_jump = 1;
	}
}
