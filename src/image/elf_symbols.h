/*
 * Addresses of global symbols by name: what a kernel and its modules offer to
 * other modules.
 */
#ifndef HWTDI_ELF_SYMBOLS_H
#define HWTDI_ELF_SYMBOLS_H

#include "base/index.h"
#include "image/elf_object.h"

struct hwtdi_elf_symbol {
	/* Borrowed from the file. */
	const char *name;
	uint64_t address;
	/*
	 * Files put it at different addresses, or it is an indirect function:
	 * where it leads is not known.
	 */
	bool disputed;
};

/* All zero: none yet. */
struct hwtdi_elf_symbols {
	struct hwtdi_elf_symbol *at;
	size_t n, cap;
	/* By name. */
	struct hwtdi_index index;
	/* Of what was added first. */
	const struct hwtd_context *library;
};

/*
 * Add the symbols that a linked file defines, moved by `bias`; its bytes must
 * stay as long as the table.  False in *found_out: it has none (stripped).
 *
 * HWTD_E_NOMEM.
 */
int hwtdi_elf_symbols_add_linked(struct hwtdi_elf_symbols *symbols,
    struct hwtd_context *ctx, const struct hwtdi_elf_tables *file,
    uint64_t bias, bool *found_out, struct hwtd_error *err);

/* The same for an object that was placed. */
int hwtdi_elf_symbols_add_object(struct hwtdi_elf_symbols *symbols,
    struct hwtd_context *ctx, const struct hwtdi_elf_object *object,
    struct hwtd_error *err);

bool hwtdi_elf_symbols_find(const struct hwtdi_elf_symbols *symbols,
    const char *name, uint64_t *address_out);

/*
 * The value that a linked file itself gives a symbol, also a local one; false:
 * it has none of that name.
 */
bool hwtdi_elf_symbol_value(const struct hwtdi_elf_tables *file,
    const char *name, uint64_t *value_out);

void hwtdi_elf_symbols_fini(struct hwtdi_elf_symbols *symbols,
    struct hwtd_context *ctx);

#endif /* HWTDI_ELF_SYMBOLS_H */
