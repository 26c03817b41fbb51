/*
 * Arm processors by name: which architecture they have.
 */
#ifndef HWTDI_ARM_CORE_H
#define HWTDI_ARM_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An hwtd_arm_arch and hwtd_arm_profile of a processor ("Cortex-A53"), or of an
 * architecture ("ARMv8.2-A", "ARM-aa64"), whatever the case.  False: unknown;
 * both are 0 then.
 */
bool hwtdi_arm_core_find(const char *name, size_t n, uint32_t *arch_out,
    uint32_t *profile_out);

#endif /* HWTDI_ARM_CORE_H */
