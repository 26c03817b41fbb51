/*
 * Places of Linux modules that the kernel rewrites after it linked them.
 *
 * Sources: Linux, arch/x86/kernel/module.c, module_finalize();
 * arch/x86/include/asm/alternative.h (struct alt_instr) and paravirt_types.h;
 * include/linux/jump_label.h (struct jump_entry) and static_call_types.h;
 * arch/x86/kernel/ftrace.c (ftrace_init_nop()).
 */
#include "image/elf_patched.h"

#include <string.h>

#include "base/bytes.h"

/* A table of sites, and how long what stands at one is. */
struct table {
	const char *name;
	/* Bytes of a site; 0: see `kind`. */
	uint8_t bytes;
	enum {
		FIXED,
		NOPS,
		ALTERNATIVE,
		JUMP_LABEL,
		PARAVIRT
	} kind;
};

static const struct table tables[] = {
	{ "__mcount_loc", 5, NOPS },
	{ ".altinstructions", 0, ALTERNATIVE },
	{ ".return_sites", 5, FIXED },
	{ ".retpoline_sites", 6, FIXED },
	{ ".static_call_sites", 5, FIXED },
	{ "__jump_table", 0, JUMP_LABEL },
	{ ".parainstructions", 0, PARAVIRT },
};

/* What ftrace writes over a call that is not traced. */
static const uint8_t nop5[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

/* The sites of one table, by its relocations. */
struct sites {
	const struct hwtdi_elf_object *object;
	const struct hwtdi_elf_linker *linker;
	const struct table *table;
	uint8_t *copy;
	/* Bytes of the table, and of an entry. */
	GElf_Shdr section;
	uint64_t stride;
	GElf_Shdr symbols;
};

static const struct table *
find_table(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (strcmp(tables[i].name, name) == 0)
			return (&tables[i]);
	return (NULL);
}

/* A number of an entry, as the file has it; 0 outside. */
static uint8_t
entry_byte(const struct sites *s, uint64_t entry, uint64_t at)
{
	const struct hwtdi_elf_tables *t = &s->object->tables;
	const uint64_t off = entry + at;

	if (off >= s->section.sh_size || s->section.sh_offset > t->n_bytes ||
	    off >= t->n_bytes - s->section.sh_offset)
		return (0);
	return (t->bytes[s->section.sh_offset + off]);
}

/* jmp or nop of 2 bytes, or of 5. */
static uint64_t
label_bytes(const uint8_t *p, uint64_t n)
{
	return (n >= 2 && (p[0] == 0xeb || (p[0] == 0x66 && p[1] == 0x90))
		? 2
		: 5);
}

static uint64_t
site_bytes(const struct sites *s, uint64_t entry, const uint8_t *p, uint64_t n)
{
	switch (s->table->kind) {
	case ALTERNATIVE:
		/* Flags grew to 4 bytes; once a padding length followed. */
		return (entry_byte(s, entry, s->stride == 14 ? 12 : 10));
	case JUMP_LABEL:
		return (label_bytes(p, n));
	case PARAVIRT:
		return (entry_byte(s, entry, 9));
	default:
		return (s->table->bytes);
	}
}

/* What a relocation of a table points to is a site, if it is code. */
static void
take_site(const struct sites *s, const GElf_Rela *rela, uint64_t entry)
{
	const struct hwtdi_elf_object *o = s->object;
	GElf_Shdr code;
	GElf_Sym sym;
	uint64_t off, left, n;

	if (!hwtdi_elf_symbol(&o->tables, &s->symbols,
		GELF_R_SYM(rela->r_info), &sym) ||
	    sym.st_shndx >= o->n_places || !o->places[sym.st_shndx].code ||
	    !hwtdi_elf_section(&o->tables, sym.st_shndx, &code))
		return;
	off = sym.st_value + (uint64_t)rela->r_addend;
	left = o->tables.n_bytes - code.sh_offset;
	if (left > code.sh_size)
		left = code.sh_size;
	if (off >= left)
		return;
	left -= off;
	n = site_bytes(s, entry, s->copy + code.sh_offset + off, left);
	if (n > left)
		n = left;
	off += code.sh_offset;
	if (s->table->kind == NOPS && n == sizeof(nop5)) {
		memcpy(s->copy + off, nop5, sizeof(nop5));
		if (s->linker->known_fn != NULL)
			s->linker->known_fn(s->linker->arg, off, n);
	} else if (n > 0 && s->linker->left_fn != NULL) {
		s->linker->left_fn(s->linker->arg, off, n);
	}
}

/* Bytes of an entry: the distance of the relocations of two sites. */
static uint64_t
find_stride(const struct sites *s, const GElf_Shdr *relocations)
{
	GElf_Rela first, other;

	switch (s->table->kind) {
	case JUMP_LABEL:
	case PARAVIRT:
		return (16);
	case NOPS:
		return (8);
	case ALTERNATIVE:
		/* Site and replacement, 4 bytes each, then the next site. */
		if (hwtdi_elf_relocation(&s->object->tables, relocations, 0,
			&first) &&
		    hwtdi_elf_relocation(&s->object->tables, relocations, 2,
			&other) &&
		    other.r_offset > first.r_offset)
			return (other.r_offset - first.r_offset);
		return (s->section.sh_size);
	default:
		return (strcmp(s->table->name, ".static_call_sites") == 0 ? 8
									  : 4);
	}
}

static void
take_table(struct sites *s, const GElf_Shdr *relocations, uint64_t *left)
{
	GElf_Rela rela;

	s->stride = find_stride(s, relocations);
	if (s->stride == 0)
		return;
	for (uint64_t i = 0; *left > 0 &&
	     hwtdi_elf_relocation(&s->object->tables, relocations, i, &rela);
	     i++, (*left)--)
		if (rela.r_offset % s->stride == 0)
			take_site(s, &rela, rela.r_offset);
}

void
hwtdi_elf_patch_linux(const struct hwtdi_elf_object *object,
    const struct hwtdi_elf_linker *linker, uint8_t *copy)
{
	const struct hwtdi_elf_tables *t = &object->tables;
	struct sites s = { .object = object, .linker = linker, .copy = copy };
	/* Tables that overlap may not cost more than the file has bytes. */
	uint64_t left = t->n_bytes / sizeof(Elf32_Rel);
	GElf_Shdr relocations;

	if (t->header.e_machine != EM_X86_64)
		return;
	for (uint32_t i = 1; hwtdi_elf_section(t, i, &relocations); i++) {
		if (relocations.sh_type != SHT_RELA ||
		    !hwtdi_elf_section(t, relocations.sh_info, &s.section) ||
		    !hwtdi_elf_section(t, relocations.sh_link, &s.symbols) ||
		    s.symbols.sh_type != SHT_SYMTAB)
			continue;
		s.table = find_table(hwtdi_elf_section_name(t, &s.section));
		if (s.table != NULL)
			take_table(&s, &relocations, &left);
	}
}
