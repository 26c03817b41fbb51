/*
 * The bytes of a CoreSight source as packets: every byte has a name.
 */
#ifndef HWTDI_CS_LEXER_H
#define HWTDI_CS_LEXER_H

#include <hwtdecode/coresight.h>

#include "base/library.h"
#include "decode/coresight/cs_rows.h"

struct hwtdi_engine;

/*
 * Where segments may begin: at a synchronisation packet that is as long as it must
 * be, and no longer, and that begins with a byte.  All that was before is
 * forgotten there, so that packets depend on their segment alone.
 */
const struct hwtdi_engine *hwtdi_cs_cuts(uint32_t protocol);

/* Bytes that tell whether one begins. */
#define HWTDI_CS_SYNC_BYTES 12
bool hwtdi_cs_begins_sync(uint32_t protocol, const uint8_t *bytes, size_t n);

struct hwtdi_cs_lexer;

/*
 * Rows are put to `rows`.  HWTD_OK, HWTD_E_NOMEM, HWTD_E_UNSUPPORTED (protocol or
 * configuration).
 */
int hwtdi_cs_lexer_create(struct hwtd_context *library,
    const struct hwtd_coresight_config *config, struct hwtdi_cs_rows *rows,
    struct hwtdi_cs_lexer **out, struct hwtd_error *err);
void hwtdi_cs_lexer_destroy(struct hwtdi_cs_lexer *lexer);

/* What comes next begins here, with a synchronisation packet or without. */
void hwtdi_cs_lexer_restart(struct hwtdi_cs_lexer *lexer, uint64_t off);

/* At most HWTDI_CS_ROWS_FEED bytes that adjoin. */
void hwtdi_cs_lexer_feed(struct hwtdi_cs_lexer *lexer, uint64_t off,
    const uint8_t *bytes, size_t n);

/* Nothing adjoins; a restart has to follow. */
void hwtdi_cs_lexer_end(struct hwtdi_cs_lexer *lexer, uint64_t off);

#endif /* HWTDI_CS_LEXER_H */
