/*
 * Simulated kernels out of text files, for tests of whole programs.
 */
#ifndef HWTDECODE_TESTS_SIM_SCRIPT_H
#define HWTDECODE_TESTS_SIM_SCRIPT_H

#include "simkernel.h"

/*
 * The kernel that a file describes; the program ends if it is none.  A line is one
 * of these, words have no blanks in them:
 *
 *   machine [arch=arm64] [flavour=5bsd|fork] [cpus=N] [backends=pt,spe]
 *           [device=ERRNO] [node=ERRNO] [seed=N] [positions=lost|saturated]
 *   sysctl NAME [TEXT]          without a text there is none
 *   cpuid LEAF SUBLEAF EAX EBX ECX EDX
 *   module NAME PATH ADDR LEN
 *   program PATH                what PATH does: the steps that follow
 *   process NAME THREADS        one that runs already, and does them
 *   user N                      whose the last process is
 *   map START END OFF PATH      a mapping that it has
 *   step OP [key=VALUE ...]     keys as struct sim_step has them; file=PATH
 *                               for bytes, and flags by name
 *   fail CALL NTH ERRNO         see sim_fail()
 *   drop_buffers N, fail_threads N
 *
 * Empty lines and lines that begin with # are nothing.
 */
struct sim_kernel *sim_script_read(const char *path);

#endif /* HWTDECODE_TESTS_SIM_SCRIPT_H */
