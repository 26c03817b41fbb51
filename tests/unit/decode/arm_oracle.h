/*
 * What Capstone says of Arm instructions, to compare with.
 */
#ifndef TESTS_ARM_ORACLE_H
#define TESTS_ARM_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where instructions lie that are compared: not a multiple of 4. */
#define ARM_ORACLE_IP 0x41000002u

/* False if Capstone cannot be had. */
bool arm_oracle_init(void);
void arm_oracle_fini(void);

/*
 * Compare what Capstone and hwtdi_arm_decode say of the instruction that begins
 * with `word`: of A64 and A32 as it is, of T32 with the first halfword in its
 * high bits.  Fails the test if they differ.  True if Capstone takes it.
 */
bool arm_oracle_compare(uint32_t word, uint8_t isa);

#endif /* TESTS_ARM_ORACLE_H */
