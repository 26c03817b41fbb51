/*
 * Conditions on samples: --where.
 *
 *   EXPR = TERM { ("and" | ",") TERM }
 *   TERM = { "not" } ( FIELD ("=" | "!=" | "<" | "<=" | ">" | ">=") NUMBER
 *                    | FIELD | WORD )
 *
 * A comparison with a field that the sample does not have does not hold; a
 * field alone asks whether it has it.  Words are classes of operations, load,
 * taken, flags of operations, and events by name or as bitN.
 */
#ifndef HWTDECODE_CLI_WHERE_H
#define HWTDECODE_CLI_WHERE_H

#include "cli/options/options.h"
#include "cli/print/row_writer.h"

struct where_term;

struct where {
	struct where_term *terms;
	size_t n;
};

/* All expressions of the options, which all have to hold.  False after a
 * message. */
bool where_init(struct where *where, const struct options *options);
bool where_holds(const struct where *where, const struct hwtd_sample *sample,
    const struct row_stream *stream);
void where_fini(struct where *where);

#endif /* HWTDECODE_CLI_WHERE_H */
