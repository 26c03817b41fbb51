/*
 * JSON lines: one object per line, keys written one after the other.
 */
#ifndef HWTDECODE_CLI_JSON_LINE_H
#define HWTDECODE_CLI_JSON_LINE_H

#include "cli/output/output.h"

/* Version of the keys that all commands write. */
#define JSON_SCHEMA 1

/* {"schema":1,"type":"..." and } with the end of the line. */
void json_begin(struct output *out, const char *type);
void json_end(struct output *out);

/* Each writes a comma, the key and the value. */
void json_key(struct output *out, const char *name);
void json_u64(struct output *out, const char *name, uint64_t value);
/* Addresses are strings: numbers past 2^53 do not survive most readers. */
void json_hex(struct output *out, const char *name, uint64_t value);
void json_bool(struct output *out, const char *name, bool value);
/* A name from a fixed set, which needs no escaping. */
void json_name(struct output *out, const char *name, const char *value);
void json_string(struct output *out, const char *name, const char *value);
void json_percent(struct output *out, const char *name, double value);

#endif /* HWTDECODE_CLI_JSON_LINE_H */
