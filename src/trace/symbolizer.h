/*
 * Names of code of a trace, for the layers above.
 */
#ifndef HWTDI_SYMBOLIZER_H
#define HWTDI_SYMBOLIZER_H

#include <hwtdecode/symbol.h>

/*
 * As hwtd_symbolize(), of one place of a process at a moment (NULL: the end of
 * the trace).  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_symbolizer_find(struct hwtd_symbolizer *s, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, struct hwtd_symbol *out,
    struct hwtd_error *err);

#endif /* HWTDI_SYMBOLIZER_H */
