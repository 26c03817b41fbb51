/*
 * What a record says, in words and as JSON: for the list of records and for
 * rows of records.
 */
#ifndef HWTDECODE_CLI_RECORD_WRITER_H
#define HWTDECODE_CLI_RECORD_WRITER_H

#include <hwtdecode/hwtdecode.h>

#include "cli/output/output.h"

static inline bool
record_has(const struct hwtd_record *record, uint32_t flag)
{
	return ((record->flags & flag) != 0);
}

/*
 * All but number, type, time and ids, with a blank before each word; untrusted
 * parts are escaped.
 */
void record_write_words(struct output *out, const struct hwtd_trace *trace,
    const struct hwtd_record *record);

/* Names of what is flagged, with blanks between. */
void record_write_flags(struct output *out, const struct hwtd_record *record);

/* Number and type; the keys from the address on. */
void record_write_json_type(struct output *out, uint64_t number,
    const struct hwtd_record *record);
void record_write_json_rest(struct output *out,
    const struct hwtd_record *record);

#endif /* HWTDECODE_CLI_RECORD_WRITER_H */
