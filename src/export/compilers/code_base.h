/*
 * Addresses relative to what: each reader of profiles counts the addresses of a
 * program from another place.
 *
 * All are addresses as the ELF file has them, wherever the program ran.  The
 * text of perf-script(1) alone has those at which it ran.
 */
#ifndef HWTDI_CODE_BASE_H
#define HWTDI_CODE_BASE_H

#include <hwtdecode/format.h>

#include "trace/image_layout.h"

/* What profgen calls code that is not of its program. */
#define HWTDI_PROFGEN_EXTERNAL UINT64_C(1)

/*
 * What an hwtd_export_format subtracts from the addresses of the file.
 *
 * LLVM_UNSYMBOLIZED: the page of the first executable segment, in the order of
 * the file.  AUTOFDO: the lowest segment, also of a program that is not moved.
 * BOLT: nothing.
 */
uint64_t hwtdi_code_base(const struct hwtdi_image_layout *layout,
    uint32_t format);

#endif /* HWTDI_CODE_BASE_H */
