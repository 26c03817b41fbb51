/*
 * Places of Linux modules that the kernel rewrites after it linked them.
 */
#ifndef HWTDI_ELF_PATCHED_H
#define HWTDI_ELF_PATCHED_H

#include "image/elf_relocate.h"

/*
 * Change `copy` as Linux does where that is certain: calls of __fentry__ become
 * no-ops.  What depends on the CPU or on the state of the kernel (alternatives,
 * return and retpoline thunks, static calls, jump labels, paravirt calls) is
 * told to linker->left_fn: nobody knows what is there.  x86-64.
 */
void hwtdi_elf_patch_linux(const struct hwtdi_elf_object *object,
    const struct hwtdi_elf_linker *linker, uint8_t *copy);

#endif /* HWTDI_ELF_PATCHED_H */
