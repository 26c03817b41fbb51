/*
 * What texts say of trace sources: kinds of them, and registers by name.
 */
#ifndef HWTDI_CORESIGHT_CONFIG_H
#define HWTDI_CORESIGHT_CONFIG_H

#include <hwtdecode/coresight.h>

#include <stdbool.h>

/* What a register, or what else describes a source, did to a configuration. */
enum hwtdi_coresight_set {
	/* No register that a decoder needs. */
	HWTDI_CORESIGHT_OTHER,
	HWTDI_CORESIGHT_SET,
	/* Set, and it had another value before. */
	HWTDI_CORESIGHT_AGAIN,
	/* The value has more bits than the register. */
	HWTDI_CORESIGHT_LARGE
};

/*
 * A register by its name, whatever the case.  `told_inout` has the registers that
 * were set before: 0 at first.
 */
enum hwtdi_coresight_set hwtdi_coresight_set(struct hwtd_coresight_config
						 *config,
    uint32_t *told_inout, const char *name, size_t n, uint64_t value);

/* "ETM4.2": an hwtd_cs_protocol; 0: not known. */
uint32_t hwtdi_coresight_protocol(const char *type, size_t n);

/* When all registers are told: the trace ID, and what has a default. */
void hwtdi_coresight_finish(struct hwtd_coresight_config *config);

#endif /* HWTDI_CORESIGHT_CONFIG_H */
