/*
 * Names of the code of rows: --symbols and --lines.
 */
#ifndef HWTDECODE_CLI_SYMBOL_NAMES_H
#define HWTDECODE_CLI_SYMBOL_NAMES_H

#include <hwtdecode/hwtdecode.h>

#include "cli/output/output.h"

struct symbol_names;

/* NULL after a message. */
struct symbol_names *symbol_names_create(struct hwtd_trace *trace, bool lines);
void symbol_names_destroy(struct symbol_names *names);

/* What is appended to a row in each format; a CSV row has its own columns. */
void symbol_names_text(struct symbol_names *names, struct output *out,
    const struct hwtd_event *row);
void symbol_names_json(struct symbol_names *names, struct output *out,
    const struct hwtd_event *row);
void symbol_names_csv(struct symbol_names *names, struct output *out,
    const struct hwtd_event *row);
/* Titles of these columns, or the commas of a row without names. */
void symbol_names_csv_header(const struct symbol_names *names,
    struct output *out);
void symbol_names_csv_none(const struct symbol_names *names,
    struct output *out);

#endif /* HWTDECODE_CLI_SYMBOL_NAMES_H */
