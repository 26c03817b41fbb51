/*
 * Where the last instruction of a block begins: rows say where a block ends.
 */
#ifndef HWTDI_LAST_INSN_H
#define HWTDI_LAST_INSN_H

#include <hwtdecode/event.h>
#include <stdbool.h>

#include "base/library.h"

struct hwtdi_last_insns;

int hwtdi_last_insns_create(struct hwtd_context *ctx,
    const struct hwtd_trace *trace, struct hwtdi_last_insns **out,
    struct hwtd_error *err);
void hwtdi_last_insns_destroy(struct hwtdi_last_insns *last);

/*
 * The address of the last instruction of a row of code, by its bytes; answers are
 * kept.  False: the bytes are not those that the row speaks of.
 */
bool hwtdi_last_insn(struct hwtdi_last_insns *last,
    const struct hwtd_event *row, uint64_t *address_out);

#endif /* HWTDI_LAST_INSN_H */
