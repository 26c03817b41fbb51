/*
 * What Zydis says of x86 instructions, to compare with.
 */
#ifndef TESTS_X86_ORACLE_H
#define TESTS_X86_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where instructions lie that are compared. */
#define X86_ORACLE_IP 0x401000u

/* False if Zydis cannot be had. */
bool x86_oracle_init(void);

/*
 * Compare what Zydis and hwtdi_x86_decode say of bytes[0..n), of which 15 can
 * be read; fail the test if they differ.  True if Zydis takes them.
 */
bool x86_oracle_compare(const uint8_t *bytes, size_t n, uint8_t isa);

#endif /* TESTS_X86_ORACLE_H */
