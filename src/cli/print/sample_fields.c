/*
 * Names of the fields and flags of samples.
 */
#include "cli/print/sample_fields.h"

#include <string.h>

/* Implementers whose cores have data sources of their own. */
#define HISILICON 0x48
#define AMPERE 0xc0

#define AT(member)                                                            \
	offsetof(struct hwtd_sample, member),                                 \
	    sizeof(((struct hwtd_sample *)0)->member)

const struct sample_field sample_fields[N_SAMPLE_FIELDS] = {
	{ "pc_el", HWTD_SAMPLE_PC, false, AT(pc_el) },
	{ "events", HWTD_SAMPLE_EVENTS, true, AT(events) },
	{ "lat_total", HWTD_SAMPLE_LAT_TOTAL, false, AT(lat_total) },
	{ "lat_issue", HWTD_SAMPLE_LAT_ISSUE, false, AT(lat_issue) },
	{ "lat_xlat", HWTD_SAMPLE_LAT_XLAT, false, AT(lat_xlat) },
	{ "branch_target", HWTD_SAMPLE_TARGET, true, AT(target) },
	{ "branch_target_el", HWTD_SAMPLE_TARGET, false, AT(target_el) },
	{ "prev_target", HWTD_SAMPLE_PREV_TARGET, true, AT(prev_target) },
	{ "prev_target_el", HWTD_SAMPLE_PREV_TARGET, false,
	    AT(prev_target_el) },
	{ "va", HWTD_SAMPLE_VA, true, AT(va) },
	{ "va_tag", HWTD_SAMPLE_VA, true, AT(va_tag) },
	{ "pa", HWTD_SAMPLE_PA, true, AT(pa) },
	{ "pa_tag", HWTD_SAMPLE_PA, true, AT(pa_tag) },
	{ "pa_checked", HWTD_SAMPLE_PA, false, AT(pa_checked) },
	{ "source", HWTD_SAMPLE_SOURCE, false, AT(source) },
	{ "vector_bits", HWTD_SAMPLE_VECTOR, false, AT(vector_bits) },
	{ "context_el1", HWTD_SAMPLE_CONTEXT_EL1, true, AT(context_el1) },
	{ "context_el2", HWTD_SAMPLE_CONTEXT_EL2, true, AT(context_el2) },
	{ "count", HWTD_SAMPLE_COUNT, false, AT(count) },
	{ "op_raw", HWTD_SAMPLE_OP, true, AT(op_raw) },
	{ "pc_security", HWTD_SAMPLE_PC, false, AT(pc_security) },
	{ "branch_target_security", HWTD_SAMPLE_TARGET, false,
	    AT(target_security) },
	{ "prev_target_security", HWTD_SAMPLE_PREV_TARGET, false,
	    AT(prev_target_security) },
	{ "pa_security", HWTD_SAMPLE_PA, false, AT(pa_security) },
};

const struct sample_flag op_flags[N_OP_FLAGS] = {
	{ HWTD_OPF_STORE, "store" },
	{ HWTD_OPF_CONDITIONAL, "conditional" },
	{ HWTD_OPF_FLOATING_POINT, "floating_point" },
	{ HWTD_OPF_SIMD, "simd" },
	{ HWTD_OPF_PREDICATED, "predicated" },
	{ HWTD_OPF_GATHER_SCATTER, "gather_scatter" },
	{ HWTD_OPF_ATOMIC, "atomic" },
	{ HWTD_OPF_EXCLUSIVE, "exclusive" },
	{ HWTD_OPF_ACQUIRE_RELEASE, "acquire_release" },
	{ HWTD_OPF_GCS_COMMON, "gcs_common" },
	{ HWTD_OPF_INDIRECT, "indirect" },
	{ HWTD_OPF_GCS, "gcs" },
	{ HWTD_OPF_LINK, "link" },
	{ HWTD_OPF_RETURN, "return" },
	{ HWTD_OPF_NO_LINK_RETURN, "no_link_return" },
};

const struct sample_flag sample_flags[N_SAMPLE_FLAGS] = {
	{ HWTD_SAMPLEF_DAMAGED, "damaged" },
	{ HWTD_SAMPLEF_DUPLICATE, "duplicate" },
	{ HWTD_SAMPLEF_TRUNCATED, "truncated" },
	{ HWTD_SAMPLEF_HEADLESS, "headless" },
	{ HWTD_SAMPLEF_MORE_EXTRAS, "more_extras" },
	{ HWTD_SAMPLEF_TOTAL_SATURATED, "total_saturated" },
	{ HWTD_SAMPLEF_ISSUE_SATURATED, "issue_saturated" },
	{ HWTD_SAMPLEF_XLAT_SATURATED, "xlat_saturated" },
	{ HWTD_SAMPLEF_COUNT_BACK, "count_back" },
};

uint64_t
sample_field_value(const struct sample_field *field,
    const struct hwtd_sample *sample)
{
	const char *at = (const char *)sample + field->off;
	uint64_t value;
	uint32_t value4;
	uint16_t value2;

	switch (field->size) {
	case sizeof(value):
		memcpy(&value, at, sizeof(value));
		return (value);
	case sizeof(value4):
		memcpy(&value4, at, sizeof(value4));
		return (value4);
	case sizeof(value2):
		memcpy(&value2, at, sizeof(value2));
		return (value2);
	default:
		return (*(const uint8_t *)at);
	}
}

const char *
sample_source_name(const struct hwtd_sample *sample, uint32_t midr)
{
	const bool stores = (sample->op_flags & HWTD_OPF_STORE) != 0 &&
	    (sample->op_flags & HWTD_OPF_ATOMIC) == 0;
	const bool own = midr >> 24 == HISILICON || midr >> 24 == AMPERE;

	/* That of a store says nothing on CPUs of Arm Ltd. and their like. */
	if ((sample->present & HWTD_SAMPLE_SOURCE) == 0 ||
	    sample->op_class != HWTD_OP_CLASS_MEMORY || (stores && !own))
		return (NULL);
	return (hwtd_sample_source_name(midr, sample->source));
}
