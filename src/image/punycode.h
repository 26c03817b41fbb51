/*
 * Texts of Unicode in letters, digits and one other character.
 *
 * Source: RFC 3492, with "_" for "-" as Rust's names have it (RFC 2603).
 */
#ifndef HWTDI_PUNYCODE_H
#define HWTDI_PUNYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: it is none, or has more than `cap` characters. */
bool hwtdi_punycode(const char *text, size_t n, uint32_t *out, size_t cap,
    size_t *n_out);

#endif /* HWTDI_PUNYCODE_H */
