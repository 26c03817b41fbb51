/*
 * Names that rustc mangles by its scheme "v0".
 *
 * Source: Rust RFC 2603, "Rust symbol name mangling (v0)".
 */
#ifndef HWTDI_RUST_V0_H
#define HWTDI_RUST_V0_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The text of a mangled name, with its NUL, into `out`, and *n_out bytes without
 * it.  Hashes of crates are left out.  False: it is no such name, or its text
 * has no room.
 *
 * References to what was before make short names long: steps, depth and bytes
 * are bounded.
 */
bool hwtdi_rust_v0(const char *name, char *out, size_t cap, size_t *n_out);

#endif /* HWTDI_RUST_V0_H */
