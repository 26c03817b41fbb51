/*
 * DWARF of objects (ET_REL), as kernel modules are: linked to where the code is in
 * its file, which stands for its address.
 *
 * Sources: System V ABI, AMD64 and Intel386 supplements, "Relocation Types";
 * ELF for the Arm 64-bit Architecture, "Relocation types".
 */
#include "image/dwarf_object.h"

#include <string.h>

#include "base/fail.h"

/* Bytes of a place that is given an address; 0: another kind. */
static size_t
place_bytes(uint32_t machine, uint64_t type)
{
	switch (machine) {
	case EM_X86_64:
		/* 64, 32, 32S */
		return (type == 1 ? 8 : type == 10 || type == 11 ? 4 : 0);
	case EM_386:
		/* 32 */
		return (type == 1 ? 4 : 0);
	case EM_AARCH64:
		/* ABS64, ABS32 */
		return (type == 257 ? 8 : type == 258 ? 4 : 0);
	default:
		return (0);
	}
}

/*
 * The value of a symbol.  Of debug sections it is the offset in them; tools that
 * take these apart from code leave the numbers of sections as they are.
 */
static uint64_t
value_of(const struct hwtdi_elf_tables *t, const struct hwtdi_elf_tables *code,
    const GElf_Sym *sym)
{
	GElf_Shdr own, other;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE ||
	    !hwtdi_elf_section(t, sym->st_shndx, &own))
		return (sym->st_value);
	if ((own.sh_flags & SHF_EXECINSTR) == 0)
		return (sym->st_value);
	if (!hwtdi_elf_section(code, sym->st_shndx, &other) ||
	    other.sh_type != SHT_PROGBITS ||
	    strcmp(hwtdi_elf_section_name(t, &own),
		hwtdi_elf_section_name(code, &other)) != 0)
		return (UINT64_MAX);
	return (other.sh_offset + sym->st_value);
}

static void
put(uint8_t *at, uint64_t v, size_t n, bool big)
{
	for (size_t i = 0; i < n; i++)
		at[big ? n - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

/* Apply a table of relocations to bytes that are the library's. */
static void
apply(const struct hwtdi_dwarf_file *file, const struct hwtdi_elf_tables *code,
    const GElf_Shdr *table, struct hwtdi_dwarf_section *s)
{
	const struct hwtdi_elf_tables *t = &file->tables;
	GElf_Shdr symbols;
	GElf_Rela rela;
	GElf_Sym sym;

	if (!hwtdi_elf_section(t, table->sh_link, &symbols))
		return;
	for (uint64_t i = 0; hwtdi_elf_relocation(t, table, i, &rela); i++) {
		const size_t n = place_bytes(t->header.e_machine,
		    GELF_R_TYPE(rela.r_info));
		uint64_t value;

		if (n == 0 || rela.r_offset > s->n ||
		    n > s->n - rela.r_offset ||
		    !hwtdi_elf_symbol(t, &symbols, GELF_R_SYM(rela.r_info),
			&sym))
			continue;
		value = value_of(t, code, &sym);
		if (value != UINT64_MAX && table->sh_type == SHT_RELA)
			value += (uint64_t)rela.r_addend;
		else if (value != UINT64_MAX)
			value += hwtdi_uint(file->big, s->own + rela.r_offset,
			    n);
		put(s->own + rela.r_offset, value, n, file->big);
	}
}

/* Which section a table is for; NULL: none of DWARF. */
static struct hwtdi_dwarf_section *
target_of(struct hwtdi_dwarf_file *file, const GElf_Shdr *table)
{
	if (table->sh_type != SHT_RELA && table->sh_type != SHT_REL)
		return (NULL);
	for (size_t i = 0; i < HWTDI_DWARF_SECTIONS; i++)
		if (file->sections[i].index != 0 &&
		    file->sections[i].index == table->sh_info &&
		    !file->sections[i].packed)
			return (&file->sections[i]);
	return (NULL);
}

int
hwtdi_dwarf_object_link(struct hwtdi_dwarf_file *file,
    const struct hwtdi_elf_tables *code, struct hwtd_error *err)
{
	bool done[HWTDI_DWARF_SECTIONS] = { false };
	GElf_Shdr table;

	for (uint32_t i = 1; hwtdi_elf_section(&file->tables, i, &table);
	     i++) {
		struct hwtdi_dwarf_section *s = target_of(file, &table);
		uint8_t *own;

		/* One table for each; a hostile file has many. */
		if (s == NULL || done[s - file->sections])
			continue;
		done[s - file->sections] = true;
		if (s->own == NULL) {
			own = hwtdi_alloc(file->ctx, (size_t)s->n);
			if (own == NULL)
				return (hwtdi_fail_nomem(err, (size_t)s->n));
			memcpy(own, s->bytes, (size_t)s->n);
			s->own = own;
			s->bytes = own;
		}
		apply(file, code, &table, s);
	}
	return (HWTD_OK);
}
