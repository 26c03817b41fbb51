/*
 * What an operation packet of Arm SPE says.
 */
#ifndef HWTDI_SPE_OPERATION_H
#define HWTDI_SPE_OPERATION_H

#include <hwtdecode/sample.h>

struct hwtdi_spe_operation {
	/* An hwtd_op_class and an hwtd_op. */
	uint8_t op_class;
	uint8_t op;
	/* HWTD_OPF_* bits. */
	uint16_t flags;
	/* 0: it tells no length. */
	uint32_t vector_bits;
};

/* The packet of a class, 0 to 3, with this payload. */
void hwtdi_spe_operation_read(uint8_t op_class, uint8_t v,
    struct hwtdi_spe_operation *out);

#endif /* HWTDI_SPE_OPERATION_H */
