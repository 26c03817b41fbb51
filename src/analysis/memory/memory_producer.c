/*
 * Who wrote a stream of samples.
 */
#include "analysis/memory/memory_producer.h"
#include "trace/trace_model.h"

/* MIDR_EL1: implementer, variant, architecture, part, revision. */
#define MIDR_CPU UINT32_C(0xff00fff0)
#define MIDR_VARIANT(midr) ((midr) >> 20 & 0xf)
#define MIDR_REVISION(midr) ((midr)&0xf)
#define NEOVERSE_N1 UINT32_C(0x4100d0c0)

void
hwtdi_memory_producer(const struct hwtd_trace *trace, uint32_t stream,
    const struct hwtd_memory_options *options,
    struct hwtdi_memory_producer *out)
{
	const struct hwtd_spe_config *config = hwtdi_trace_spe_config(trace,
	    stream);

	out->who.midr = options->midr;
	out->who.version = options->version;
	out->interval = options->interval;
	if (config == NULL)
		return;
	if (config->midr != 0)
		out->who.midr = config->midr;
	if (config->version != 0)
		out->who.version = config->version;
	if (config->interval != 0)
		out->interval = config->interval;
}

bool
hwtdi_memory_has_branch_bias(uint32_t midr)
{
	const uint32_t variant = MIDR_VARIANT(midr);

	return ((midr & MIDR_CPU) == NEOVERSE_N1 &&
	    (variant < 4 || (variant == 4 && MIDR_REVISION(midr) < 1)));
}
