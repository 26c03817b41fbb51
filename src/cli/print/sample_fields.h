/*
 * What fields and flags of a sample are called, in all forms of rows.
 */
#ifndef CLI_SAMPLE_FIELDS_H
#define CLI_SAMPLE_FIELDS_H

#include <hwtdecode/hwtdecode.h>
#include <stdbool.h>

struct sample_field {
	const char *name;
	/* The HWTD_SAMPLE_* bit that it takes. */
	uint32_t present;
	bool hex;
	/* Where it lies in a sample. */
	uint16_t off;
	uint16_t size;
};

#define N_SAMPLE_FIELDS 24

extern const struct sample_field sample_fields[N_SAMPLE_FIELDS];

uint64_t sample_field_value(const struct sample_field *field,
    const struct hwtd_sample *sample);

/* The name of the data source, or NULL: there is none, or it has no meaning. */
const char *sample_source_name(const struct hwtd_sample *sample,
    uint32_t midr);

struct sample_flag {
	uint32_t bit;
	const char *name;
};

/* HWTD_OPF_* and HWTD_SAMPLEF_* bits. */
#define N_OP_FLAGS 15
#define N_SAMPLE_FLAGS 9

extern const struct sample_flag op_flags[N_OP_FLAGS];
extern const struct sample_flag sample_flags[N_SAMPLE_FLAGS];

#endif /* CLI_SAMPLE_FIELDS_H */
