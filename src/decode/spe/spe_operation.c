/*
 * Operations of Arm SPE: classes, subclasses and their bits.
 */
#include "decode/spe/spe_operation.h"

#include <stddef.h>
#include <string.h>

/* A bit of the payload, and what it says. */
struct bit {
	uint8_t bit;
	uint16_t flag;
};

static const struct bit scalar_bits[] = {
	{ 0x01, HWTD_OPF_CONDITIONAL },
	{ 0x02, HWTD_OPF_FLOATING_POINT },
	{ 0x04, HWTD_OPF_SIMD },
	{ 0, 0 },
};
static const struct bit sve_bits[] = {
	{ 0x02, HWTD_OPF_FLOATING_POINT },
	{ 0x04, HWTD_OPF_PREDICATED },
	{ 0, 0 },
};
static const struct bit sme_bits[] = {
	{ 0x02, HWTD_OPF_FLOATING_POINT },
	{ 0, 0 },
};
static const struct bit store_bits[] = {
	{ 0x01, HWTD_OPF_STORE },
	{ 0, 0 },
};
static const struct bit extended_bits[] = {
	{ 0x01, HWTD_OPF_STORE },
	{ 0x04, HWTD_OPF_ATOMIC },
	{ 0x08, HWTD_OPF_EXCLUSIVE },
	{ 0x10, HWTD_OPF_ACQUIRE_RELEASE },
	{ 0, 0 },
};
static const struct bit vector_bits[] = {
	{ 0x01, HWTD_OPF_STORE },
	{ 0x04, HWTD_OPF_PREDICATED },
	{ 0x80, HWTD_OPF_GATHER_SCATTER },
	{ 0, 0 },
};
static const struct bit gcs_bits[] = {
	{ 0x01, HWTD_OPF_STORE },
	{ 0x04, HWTD_OPF_GCS_COMMON },
	{ 0, 0 },
};
static const struct bit branch_bits[] = {
	{ 0x01, HWTD_OPF_CONDITIONAL },
	{ 0x02, HWTD_OPF_INDIRECT },
	{ 0x04, HWTD_OPF_GCS },
	{ 0, 0 },
};

/* The payloads of a class with these bits; no two of one class overlap. */
struct form {
	uint8_t mask;
	uint8_t value;
	uint8_t op;
	const struct bit *bits;
};

static const struct form other_forms[] = {
	{ 0xf8, 0x00, HWTD_OP_OTHER, scalar_bits },
	{ 0x89, 0x08, HWTD_OP_SVE, sve_bits },
	{ 0x89, 0x88, HWTD_OP_SME, sme_bits },
	{ 0, 0, HWTD_OP_UNKNOWN, NULL },
};
static const struct form memory_forms[] = {
	{ 0xfe, 0x00, HWTD_OP_MEM_GENERAL, store_bits },
	{ 0xfe, 0x04, HWTD_OP_MEM_SIMD_FP, store_bits },
	{ 0xfe, 0x10, HWTD_OP_MEM_UNSPECIFIED, store_bits },
	{ 0xfe, 0x14, HWTD_OP_MEM_TAG, store_bits },
	{ 0xfe, 0x20, HWTD_OP_MEM_COPY, store_bits },
	{ 0xff, 0x25, HWTD_OP_MEM_SET, store_bits },
	{ 0xfe, 0x30, HWTD_OP_MEM_SYSTEM_REGISTER, store_bits },
	{ 0xe2, 0x02, HWTD_OP_MEM_EXTENDED, extended_bits },
	{ 0x0a, 0x08, HWTD_OP_MEM_SVE_SME, vector_bits },
	{ 0xfa, 0x40, HWTD_OP_MEM_GCS, gcs_bits },
	/* Whatever it is, this bit holds. */
	{ 0x00, 0x00, HWTD_OP_RESERVED, store_bits },
};
static const struct form branch_forms[] = {
	{ 0xe0, 0x00, HWTD_OP_BRANCH, branch_bits },
	{ 0, 0, HWTD_OP_UNKNOWN, NULL },
};

static const struct form *const forms[] = { other_forms, memory_forms,
	branch_forms };

void
hwtdi_spe_operation_read(uint8_t op_class, uint8_t v,
    struct hwtdi_spe_operation *out)
{
	static const uint16_t links[] = { 0, HWTD_OPF_LINK, HWTD_OPF_RETURN,
		HWTD_OPF_NO_LINK_RETURN };
	const struct form *f;

	memset(out, 0, sizeof(*out));
	out->op_class = (uint8_t)(HWTD_OP_CLASS_OTHER + (op_class & 3));
	out->op = HWTD_OP_RESERVED;
	if ((op_class & 3) == 3)
		return;
	for (f = forms[op_class & 3]; f->bits != NULL; f++)
		if ((v & f->mask) == f->value)
			break;
	if (f->bits == NULL)
		return;
	out->op = f->op;
	for (const struct bit *b = f->bits; b->bit != 0; b++)
		if ((v & b->bit) != 0)
			out->flags |= b->flag;
	switch (out->op) {
	case HWTD_OP_SVE:
	case HWTD_OP_MEM_SVE_SME:
		out->vector_bits = UINT32_C(32) << (v >> 4 & 7);
		break;
	case HWTD_OP_SME:
		out->vector_bits = UINT32_C(128)
		    << ((v >> 3 & 14) | (v >> 2 & 1));
		break;
	case HWTD_OP_BRANCH:
		out->flags |= links[v >> 3 & 3];
		break;
	default:
		break;
	}
}
