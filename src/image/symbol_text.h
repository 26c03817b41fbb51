/*
 * Names of functions as people write them: C++ and Rust.
 */
#ifndef HWTDI_SYMBOL_TEXT_H
#define HWTDI_SYMBOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a mangled name; longer ones are left as they are. */
#define HWTDI_MANGLED_MAX 4096u

/* Bytes of the text of a name, with its NUL; names with more stay mangled. */
#define HWTDI_SYMBOL_TEXT_MAX 65536u

/*
 * The text of a mangled name, with its NUL, into `out`, which has `cap` bytes.
 * "name@VERSION" keeps its version.  False: the name is not mangled, or its
 * text cannot be told in bounded time and room.
 */
bool hwtdi_symbol_text(const char *name, char *out, size_t cap);

#endif /* HWTDI_SYMBOL_TEXT_H */
