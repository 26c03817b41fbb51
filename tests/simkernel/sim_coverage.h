/*
 * What the linker calls in place of _exit().
 */
#ifndef HWTDECODE_TESTS_SIM_COVERAGE_H
#define HWTDECODE_TESTS_SIM_COVERAGE_H

void __wrap__exit(int status) __attribute__((noreturn));

#endif /* HWTDECODE_TESTS_SIM_COVERAGE_H */
