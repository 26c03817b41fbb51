/*
 * Names of code of a trace, for the layers above.
 */
#ifndef HWTDI_SYMBOLIZER_H
#define HWTDI_SYMBOLIZER_H

#include <hwtdecode/symbol.h>

#include "trace/symbol_image.h"

/* Closed once more. */
struct hwtd_symbolizer *hwtdi_symbolizer_hold(struct hwtd_symbolizer
	*symbolizer);

/*
 * As hwtd_symbolize(), of one place of a process at a moment (NULL: the end of
 * the trace).  HWTD_E_NOMEM, HWTD_E_LIMIT.
 */
int hwtdi_symbolizer_find(struct hwtd_symbolizer *s, uint32_t pid,
    const struct hwtd_position *at, uint64_t address, struct hwtd_symbol *out,
    struct hwtd_error *err);

/*
 * The symbols and lines of an image, opened if they are not.  They stay until
 * they are dropped, and until then nobody else may ask.  HWTD_E_NOMEM.
 */
int hwtdi_symbolizer_image(struct hwtd_symbolizer *s, uint32_t no,
    struct hwtdi_symbol_image **out, struct hwtd_error *err);
void hwtdi_symbolizer_drop_image(struct hwtd_symbolizer *s, uint32_t no);

#endif /* HWTDI_SYMBOLIZER_H */
