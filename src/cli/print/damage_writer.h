/*
 * Where files are damaged, as text and as JSON.
 */
#ifndef HWTDECODE_CLI_DAMAGE_WRITER_H
#define HWTDECODE_CLI_DAMAGE_WRITER_H

#include <hwtdecode/hwtdecode.h>

#include "cli/output/output.h"

/* Bytes of a file, for instance "file bytes 0x10-0x20". */
void damage_bytes(struct output *out, uint64_t first, uint64_t n,
    bool earlier_file);
void json_damage_bytes(struct output *out, uint64_t first, uint64_t n,
    bool earlier_file);

/* An object of its own. */
void json_damage(struct output *out, const struct hwtd_damage *damage);

#endif /* HWTDECODE_CLI_DAMAGE_WRITER_H */
