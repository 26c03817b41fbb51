/*
 * Names of code by address: tables of symbols, sorted and searched by bisection.
 */
#include "image/elf_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* A file may be all symbols; names of more are of no use. */
#define MOST_NAMES (UINT32_C(1) << 24)
/* Symbols that are looked at for one that an address is in. */
#define MOST_NESTED 16

static bool
find_table(const struct hwtdi_elf_tables *t, uint32_t type, GElf_Shdr *table,
    GElf_Shdr *strings)
{
	for (uint32_t i = 1; hwtdi_elf_section(t, i, table); i++)
		if (table->sh_type == type)
			return (hwtdi_elf_section(t, table->sh_link, strings));
	return (false);
}

/* Functions before what has no type, global before weak before local. */
static uint32_t
rank_of(const GElf_Sym *sym)
{
	const unsigned int bind = GELF_ST_BIND(sym->st_info);
	const unsigned int type = GELF_ST_TYPE(sym->st_info);

	return ((type == STT_NOTYPE ? 4u : 0u) +
	    (bind == STB_GLOBAL	       ? 0u
		    : bind == STB_WEAK ? 1u
				       : 2u));
}

/* Arm marks code and data with $x, $d and so on. */
static bool
is_name(const GElf_Sym *sym, const char *name)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
	    (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC))
		return (false);
	return (name != NULL && name[0] != '\0' && name[0] != '$');
}

/*
 * Symbols of an object are counted from their section; they get the place of
 * their code in the file, which is as good as an address.
 */
static bool
place_name(const struct hwtdi_elf_tables *t, GElf_Sym *sym)
{
	GElf_Shdr section;

	if (t->header.e_type != ET_REL)
		return (true);
	if (!hwtdi_elf_section(t, sym->st_shndx, &section) ||
	    section.sh_type != SHT_PROGBITS ||
	    sym->st_value >= section.sh_size ||
	    sym->st_value > UINT64_MAX - section.sh_offset)
		return (false);
	if (sym->st_size > section.sh_size - sym->st_value)
		sym->st_size = section.sh_size - sym->st_value;
	sym->st_value += section.sh_offset;
	return (true);
}

static int
add_names(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *t, uint32_t type, struct hwtd_error *err)
{
	GElf_Shdr table, strings;
	GElf_Sym sym;
	int rc = HWTD_OK;

	if (!find_table(t, type, &table, &strings))
		return (HWTD_OK);
	for (uint64_t i = 1; rc == HWTD_OK && names->n < MOST_NAMES &&
	     hwtdi_elf_symbol(t, &table, i, &sym);
	     i++) {
		const char *name = hwtdi_elf_text(t, &strings, sym.st_name);

		if (!is_name(&sym, name) || !place_name(t, &sym))
			continue;
		rc = hwtdi_array_grow(ctx, &names->at, &names->cap,
		    names->n + 1, sizeof(*names->at), err);
		if (rc == HWTD_OK)
			names->at[names->n++] = (struct hwtdi_elf_name){
				.address = sym.st_value,
				.size = sym.st_size,
				.name = name,
				.rank = rank_of(&sym),
				.no = (uint32_t)i,
			};
	}
	return (rc);
}

static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_elf_name *a = va, *b = vb;

	if (a->address != b->address)
		return (a->address < b->address ? -1 : 1);
	if ((a->size == 0) != (b->size == 0))
		return (a->size == 0 ? 1 : -1);
	if (a->rank != b->rank)
		return (a->rank < b->rank ? -1 : 1);
	return (a->no < b->no ? -1 : a->no > b->no);
}

static int
add_load(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_load *load, struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_array_grow(ctx, &names->loads, &names->cap_loads,
	    names->n_loads + 1, sizeof(*names->loads), err);
	if (rc == HWTD_OK)
		names->loads[names->n_loads++] = *load;
	return (rc);
}

static int
add_loads(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *t, struct hwtd_error *err)
{
	GElf_Phdr ph;
	int rc = HWTD_OK;

	if (t->header.e_type == ET_REL)
		return (add_load(names, ctx,
		    &(const struct hwtdi_elf_load){ .n_bytes = t->n_bytes },
		    err));
	for (uint32_t i = 0; rc == HWTD_OK && hwtdi_elf_segment(t, i, &ph);
	     i++) {
		if (ph.p_type != PT_LOAD || ph.p_filesz == 0)
			continue;
		rc = add_load(names, ctx,
		    &(const struct hwtdi_elf_load){ .file_off = ph.p_offset,
			.n_bytes = ph.p_filesz,
			.address = ph.p_vaddr },
		    err);
	}
	return (rc);
}

int
hwtdi_elf_names_init(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *file, struct hwtd_error *err)
{
	size_t n = 0;
	int rc;

	memset(names, 0, sizeof(*names));
	rc = add_loads(names, ctx, file, err);
	if (rc == HWTD_OK)
		rc = add_names(names, ctx, file, SHT_SYMTAB, err);
	if (rc == HWTD_OK && names->n == 0)
		rc = add_names(names, ctx, file, SHT_DYNSYM, err);
	if (rc != HWTD_OK) {
		hwtdi_elf_names_fini(names, ctx);
		return (rc);
	}
	if (names->n > 1)
		qsort(names->at, names->n, sizeof(*names->at), by_address);
	for (size_t i = 0; i < names->n; i++)
		if (n == 0 || names->at[n - 1].address != names->at[i].address)
			names->at[n++] = names->at[i];
	names->n = n;
	return (HWTD_OK);
}

bool
hwtdi_elf_names_address(const struct hwtdi_elf_names *names, uint64_t file_off,
    uint64_t *address_out)
{
	for (size_t i = 0; i < names->n_loads; i++) {
		const struct hwtdi_elf_load *load = &names->loads[i];

		if (file_off < load->file_off ||
		    file_off - load->file_off >= load->n_bytes)
			continue;
		*address_out = load->address + (file_off - load->file_off);
		return (true);
	}
	return (false);
}

const struct hwtdi_elf_name *
hwtdi_elf_names_find(const struct hwtdi_elf_names *names, uint64_t address)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (names->at[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return (NULL);
	/* Labels inside of a function, and functions in others, hide it. */
	for (size_t i = low; i > 0 && low - i < MOST_NESTED; i--) {
		const struct hwtdi_elf_name *name = &names->at[i - 1];

		if (name->size != 0 && address - name->address < name->size)
			return (name);
	}
	return (names->at[low - 1].size == 0 ? &names->at[low - 1] : NULL);
}

void
hwtdi_elf_names_fini(struct hwtdi_elf_names *names, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, names->at, names->cap, sizeof(*names->at));
	hwtdi_array_free(ctx, names->loads, names->cap_loads,
	    sizeof(*names->loads));
	memset(names, 0, sizeof(*names));
}
