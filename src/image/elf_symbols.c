/*
 * Addresses of global symbols by name.
 */
#include "image/elf_symbols.h"

#include <string.h>

#include "base/fail.h"
#include "base/hash.h"

/*
 * Bytes of names for each byte of the file that holds them: names may share
 * their ends, but hostile tables name one long text again and again.
 */
#define NAME_BYTES_PER_BYTE 4

static struct hwtdi_elf_symbol *
find(const struct hwtdi_elf_symbols *s, const char *name, uint64_t hash)
{
	size_t tries = 0;
	uint32_t no;

	while (hwtdi_index_next(&s->index, hash, &tries, &no))
		if (strcmp(s->at[no].name, name) == 0)
			return (&s->at[no]);
	return (NULL);
}

static int
add(struct hwtdi_elf_symbols *s, struct hwtd_context *ctx, const char *name,
    size_t n, uint64_t address, bool disputed, struct hwtd_error *err)
{
	const uint64_t hash = hwtdi_hash(ctx, name, n);
	struct hwtdi_elf_symbol *symbol = find(s, name, hash);
	int rc;

	if (symbol != NULL) {
		symbol->disputed |= disputed || symbol->address != address;
		return (HWTD_OK);
	}
	rc = hwtdi_index_reserve(&s->index, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &s->at, &s->cap, s->n + 1,
		    sizeof(*s->at), err);
	if (rc != HWTD_OK)
		return (rc);
	hwtdi_index_put(&s->index, hash, (uint32_t)s->n);
	symbol = &s->at[s->n++];
	symbol->name = name;
	symbol->address = address;
	symbol->disputed = disputed;
	s->library = ctx;
	return (HWTD_OK);
}

/* Where a symbol of a file lies; false if it is not for others. */
static bool
address_of(const GElf_Sym *sym, const struct hwtdi_elf_object *object,
    uint64_t bias, uint64_t *out)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (GELF_ST_BIND(sym->st_info) == STB_LOCAL ||
	    sym->st_shndx == SHN_UNDEF || type == STT_SECTION ||
	    type == STT_FILE || type == STT_TLS)
		return (false);
	*out = sym->st_value;
	if (sym->st_shndx == SHN_ABS)
		return (true);
	if (object == NULL) {
		*out += bias;
		return (true);
	}
	if (sym->st_shndx >= SHN_LORESERVE ||
	    sym->st_shndx >= object->n_places ||
	    !object->places[sym->st_shndx].placed)
		return (false);
	*out += object->places[sym->st_shndx].address;
	return (true);
}

/* The table of symbols: the whole one, or what dynamic linking needs. */
static bool
find_table(const struct hwtdi_elf_tables *t, GElf_Shdr *table,
    GElf_Shdr *strings)
{
	static const uint32_t types[2] = { SHT_SYMTAB, SHT_DYNSYM };

	for (size_t k = 0; k < 2; k++)
		for (uint32_t i = 1; hwtdi_elf_section(t, i, table); i++)
			if (table->sh_type == types[k])
				return (hwtdi_elf_section(t, table->sh_link,
				    strings));
	return (false);
}

static int
add_all(struct hwtdi_elf_symbols *s, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *t, const struct hwtdi_elf_object *object,
    uint64_t bias, bool *found_out, struct hwtd_error *err)
{
	uint64_t left = t->n_bytes * NAME_BYTES_PER_BYTE, address;
	GElf_Shdr table, strings;
	int rc = HWTD_OK;
	GElf_Sym sym;

	*found_out = false;
	if (!find_table(t, &table, &strings))
		return (HWTD_OK);
	for (uint64_t i = 1;
	     rc == HWTD_OK && hwtdi_elf_symbol(t, &table, i, &sym); i++) {
		const char *name;
		size_t n;

		if (!address_of(&sym, object, bias, &address))
			continue;
		name = hwtdi_elf_text(t, &strings, sym.st_name);
		if (name == NULL || name[0] == '\0')
			continue;
		n = strlen(name);
		if (n > left)
			break;
		left -= n;
		/* Which function it stands for was found out at run time. */
		rc = add(s, ctx, name, n, address,
		    GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC, err);
		*found_out = true;
	}
	return (rc);
}

int
hwtdi_elf_symbols_add_linked(struct hwtdi_elf_symbols *symbols,
    struct hwtd_context *ctx, const struct hwtdi_elf_tables *file,
    uint64_t bias, bool *found_out, struct hwtd_error *err)
{
	return (add_all(symbols, ctx, file, NULL, bias, found_out, err));
}

int
hwtdi_elf_symbols_add_object(struct hwtdi_elf_symbols *symbols,
    struct hwtd_context *ctx, const struct hwtdi_elf_object *object,
    struct hwtd_error *err)
{
	bool found;

	return (add_all(symbols, ctx, &object->tables, object, 0, &found,
	    err));
}

bool
hwtdi_elf_symbols_find(const struct hwtdi_elf_symbols *symbols,
    const char *name, uint64_t *address_out)
{
	const struct hwtdi_elf_symbol *symbol;

	if (symbols->n == 0)
		return (false);
	symbol = find(symbols, name,
	    hwtdi_hash(symbols->library, name, strlen(name)));
	if (symbol == NULL)
		return (false);
	*address_out = symbol->address;
	return (!symbol->disputed);
}

bool
hwtdi_elf_symbol_value(const struct hwtdi_elf_tables *file, const char *name,
    uint64_t *value_out)
{
	GElf_Shdr table, strings;
	GElf_Sym sym;

	if (!find_table(file, &table, &strings))
		return (false);
	for (uint64_t i = 1; hwtdi_elf_symbol(file, &table, i, &sym); i++) {
		const char *text;

		if (sym.st_shndx == SHN_UNDEF)
			continue;
		text = hwtdi_elf_text(file, &strings, sym.st_name);
		if (text == NULL || strcmp(text, name) != 0)
			continue;
		*value_out = sym.st_value;
		return (true);
	}
	return (false);
}

void
hwtdi_elf_symbols_fini(struct hwtdi_elf_symbols *symbols,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, symbols->at, symbols->cap, sizeof(*symbols->at));
	hwtdi_index_fini(&symbols->index, ctx);
	memset(symbols, 0, sizeof(*symbols));
}
