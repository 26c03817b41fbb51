/*
 * Relocations of objects (ET_REL) that change code.
 *
 * Sources: System V ABI, AMD64 supplement, "Relocation Types"; Intel386
 * supplement, "Relocation Types"; ELF for the Arm 64-bit Architecture,
 * "Relocation types" (S: symbol, A: addend, P: place).
 */
#include "image/elf_relocate.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"

/* Names that are looked up: so many bytes, and 16 for each of the file. */
#define NAME_BYTES ((uint64_t)1 << 20)

enum what {
	/* S + A */
	ABSOLUTE,
	/* S + A - P */
	RELATIVE,
	/* Page of S + A - page of P */
	PAGE_RELATIVE
};

enum range {
	ANY,
	SIGNED,
	UNSIGNED,
	/* Either; the loader cannot know which is meant. */
	BOTH,
	/* The low bits of an address are taken, whatever is above. */
	LOW
};

/* A relocation: which bits of the value go where. */
struct rule {
	uint32_t type;
	enum what what;
	enum range range;
	/* The value has `bits` bits, of which the low `drop` are left out. */
	uint8_t bits;
	uint8_t drop;
	/* Bytes of the place, and where the field starts. */
	uint8_t bytes;
	uint8_t shift;
	/* Two low bits at bit 29, the rest at bit 5 (ADR, ADRP). */
	bool split;
	/* Of a direct branch, whatever the instruction. */
	bool branch;
};

static const struct rule x86_64_rules[] = {
	{ 1, ABSOLUTE, ANY, 64, 0, 8, 0, false, false }, /* 64 */
	{ 2, RELATIVE, SIGNED, 32, 0, 4, 0, false, false }, /* PC32 */
	{ 4, RELATIVE, SIGNED, 32, 0, 4, 0, false, true }, /* PLT32 */
	{ 10, ABSOLUTE, UNSIGNED, 32, 0, 4, 0, false, false }, /* 32 */
	{ 11, ABSOLUTE, SIGNED, 32, 0, 4, 0, false, false }, /* 32S */
	{ 24, RELATIVE, ANY, 64, 0, 8, 0, false, false }, /* PC64 */
};

static const struct rule i386_rules[] = {
	{ 1, ABSOLUTE, LOW, 32, 0, 4, 0, false, false }, /* 32 */
	{ 2, RELATIVE, LOW, 32, 0, 4, 0, false, false }, /* PC32 */
	{ 4, RELATIVE, LOW, 32, 0, 4, 0, false, true }, /* PLT32 */
};

static const struct rule aarch64_rules[] = {
	{ 257, ABSOLUTE, ANY, 64, 0, 8, 0, false, false }, /* ABS64 */
	{ 258, ABSOLUTE, BOTH, 32, 0, 4, 0, false, false }, /* ABS32 */
	{ 260, RELATIVE, ANY, 64, 0, 8, 0, false, false }, /* PREL64 */
	{ 261, RELATIVE, BOTH, 32, 0, 4, 0, false, false }, /* PREL32 */
	{ 273, RELATIVE, SIGNED, 21, 2, 4, 5, false,
	    false }, /* LD_PREL_LO19 */
	{ 274, RELATIVE, SIGNED, 21, 0, 4, 5, true,
	    false }, /* ADR_PREL_LO21 */
	{ 275, PAGE_RELATIVE, SIGNED, 33, 12, 4, 5, true,
	    false }, /* ..PG_HI21 */
	{ 276, PAGE_RELATIVE, LOW, 33, 12, 4, 5, true,
	    false }, /* ..PG_HI21_NC */
	{ 277, ABSOLUTE, LOW, 12, 0, 4, 10, false,
	    false }, /* ADD_ABS_LO12_NC */
	{ 278, ABSOLUTE, LOW, 12, 0, 4, 10, false, false }, /* LDST8_.. */
	{ 279, RELATIVE, SIGNED, 16, 2, 4, 5, false, true }, /* TSTBR14 */
	{ 280, RELATIVE, SIGNED, 21, 2, 4, 5, false, true }, /* CONDBR19 */
	{ 282, RELATIVE, SIGNED, 28, 2, 4, 0, false, true }, /* JUMP26 */
	{ 283, RELATIVE, SIGNED, 28, 2, 4, 0, false, true }, /* CALL26 */
	{ 284, ABSOLUTE, LOW, 12, 1, 4, 10, false, false }, /* LDST16_.. */
	{ 285, ABSOLUTE, LOW, 12, 2, 4, 10, false, false }, /* LDST32_.. */
	{ 286, ABSOLUTE, LOW, 12, 3, 4, 10, false, false }, /* LDST64_.. */
	{ 299, ABSOLUTE, LOW, 12, 4, 4, 10, false, false }, /* LDST128_.. */
};

/* Relocations of one machine; all of them call "nothing" 0. */
struct rules {
	const struct rule *at;
	size_t n;
};

static bool
rules_of(uint32_t machine, struct rules *out)
{
	switch (machine) {
	case EM_X86_64:
		out->at = x86_64_rules;
		out->n = sizeof(x86_64_rules) / sizeof(x86_64_rules[0]);
		return (true);
	case EM_386:
		out->at = i386_rules;
		out->n = sizeof(i386_rules) / sizeof(i386_rules[0]);
		return (true);
	case EM_AARCH64:
		out->at = aarch64_rules;
		out->n = sizeof(aarch64_rules) / sizeof(aarch64_rules[0]);
		return (true);
	default:
		return (false);
	}
}

static const struct rule *
find_rule(const struct rules *rules, uint64_t type)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->at[i].type == type)
			return (&rules->at[i]);
	return (NULL);
}

static bool
in_range(const struct rule *r, uint64_t v)
{
	uint64_t half, lowest;

	if (r->range == LOW || r->range == ANY)
		return (true);
	half = (uint64_t)1 << (r->bits - 1);
	lowest = -half;
	switch (r->range) {
	case SIGNED:
		return (v < half || v >= lowest);
	case UNSIGNED:
		return (v < half * 2);
	default:
		return (v < half * 2 || v >= lowest);
	}
}

static bool
apply(const struct rule *r, uint8_t *place, uint64_t v)
{
	uint64_t mask, field, old;

	if (!in_range(r, v) ||
	    (r->what != PAGE_RELATIVE &&
		(v & (((uint64_t)1 << r->drop) - 1)) != 0))
		return (false);
	if (r->bits == 8 * r->bytes) {
		hwtdi_put_le(place, v, r->bytes);
		return (true);
	}
	field = v >> r->drop;
	mask = ((uint64_t)1 << (r->bits - r->drop)) - 1;
	field &= mask;
	if (r->split) {
		field = (field & 3) << 29 | (field >> 2) << r->shift;
		mask = (uint64_t)3 << 29 | (mask >> 2) << r->shift;
	} else {
		field <<= r->shift;
		mask <<= r->shift;
	}
	old = hwtdi_le(place, r->bytes);
	hwtdi_put_le(place, (old & ~mask) | field, r->bytes);
	return (true);
}

/* Relocations of one section of code. */
struct target {
	const struct hwtdi_elf_object *object;
	const struct rules *rules;
	const struct hwtdi_elf_linker *to;
	uint8_t *copy;
	struct hwtdi_elf_relocated *out;
	/* Bytes of names that may still be looked up. */
	uint64_t *name_bytes;
	/* The section, how much of it the file has, and its symbols. */
	GElf_Shdr section;
	uint64_t n_bytes;
	uint64_t address;
	GElf_Shdr symbols;
	GElf_Shdr strings;
};

/* Hostile tables name one long text again and again. */
static bool
take_name(const struct target *t, const char *name)
{
	const size_t n = strlen(name);

	if (n > *t->name_bytes)
		return (false);
	*t->name_bytes -= n;
	return (true);
}

static bool
symbol_address(const struct target *t, uint64_t index, uint64_t *out)
{
	const struct hwtdi_elf_object *o = t->object;
	const char *name;
	GElf_Sym sym;

	*out = 0;
	if (index == 0)
		return (true);
	if (!hwtdi_elf_symbol(&o->tables, &t->symbols, index, &sym))
		return (false);
	*out = sym.st_value;
	if (sym.st_shndx == SHN_ABS)
		return (true);
	if (sym.st_shndx == SHN_UNDEF) {
		name = hwtdi_elf_text(&o->tables, &t->strings, sym.st_name);
		return (t->to->resolve_fn != NULL && name != NULL &&
		    name[0] != '\0' && take_name(t, name) &&
		    t->to->resolve_fn(t->to->arg, name, out));
	}
	/* Which function it stands for was found out at run time. */
	if (GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
		return (false);
	if (sym.st_shndx >= SHN_LORESERVE || sym.st_shndx >= o->n_places ||
	    !o->places[sym.st_shndx].placed)
		return (false);
	*out += o->places[sym.st_shndx].address;
	return (true);
}

/*
 * The field is where a direct branch goes: by its type, or because call, jmp
 * or jcc (E8, E9, 0F 80 to 0F 8F) stands before it.
 */
static bool
is_branch(const struct target *t, const struct rule *r, uint64_t off)
{
	const uint8_t *place = t->copy + t->section.sh_offset + off;

	if (r != NULL && r->branch)
		return (true);
	if (t->rules->at == aarch64_rules || (r != NULL && r->bytes != 4))
		return (false);
	if (off >= 1 && (place[-1] == 0xe8 || place[-1] == 0xe9))
		return (true);
	return (off >= 2 && place[-2] == 0x0f && (place[-1] & 0xf0) == 0x80);
}

/* Nobody knows what the kernel wrote here. */
static void
leave(const struct target *t, const struct rule *r, uint64_t off)
{
	if (t->to->left_fn != NULL && off <= t->n_bytes &&
	    t->n_bytes - off >= 4 && is_branch(t, r, off))
		t->to->left_fn(t->to->arg, t->section.sh_offset + off, 4);
}

static bool
fits(const struct target *t, const struct rule *r, uint64_t off)
{
	return (off <= t->n_bytes && r->bytes <= t->n_bytes - off);
}

static void
relocate_one(const struct target *t, const GElf_Rela *rela, bool has_addend)
{
	const struct rule *r = find_rule(t->rules, GELF_R_TYPE(rela->r_info));
	uint64_t addend = (uint64_t)rela->r_addend;
	uint64_t *count = NULL;
	uint64_t p, v;
	uint8_t *place;

	if (GELF_R_TYPE(rela->r_info) == 0)
		return;
	/* Only the i386 has addends in place. */
	if (r == NULL || (!has_addend && t->rules->at != i386_rules))
		count = &t->out->n_unknown;
	else if (!fits(t, r, rela->r_offset))
		count = &t->out->n_unfit;
	else if (!symbol_address(t, GELF_R_SYM(rela->r_info), &v))
		count = &t->out->n_unresolved;
	if (count != NULL) {
		leave(t, r, rela->r_offset);
		(*count)++;
		return;
	}
	place = t->copy + t->section.sh_offset + rela->r_offset;
	if (!has_addend)
		addend = hwtdi_le(place, r->bytes);
	p = t->address + rela->r_offset;
	v += addend;
	if (r->what == RELATIVE)
		v -= p;
	if (r->what == PAGE_RELATIVE)
		v = (v & ~(uint64_t)0xfff) - (p & ~(uint64_t)0xfff);
	if (apply(r, place, v)) {
		t->out->n_done++;
	} else {
		leave(t, r, rela->r_offset);
		t->out->n_unfit++;
	}
}

/* The section that relocations change, if it is code and has its symbols. */
static bool
open_target(struct target *t, const GElf_Shdr *table)
{
	const struct hwtdi_elf_object *o = t->object;
	uint64_t left;

	if (table->sh_info >= o->n_places ||
	    !o->places[table->sh_info].placed ||
	    !o->places[table->sh_info].code ||
	    !hwtdi_elf_section(&o->tables, table->sh_info, &t->section) ||
	    !hwtdi_elf_section(&o->tables, table->sh_link, &t->symbols) ||
	    t->symbols.sh_type != SHT_SYMTAB)
		return (false);
	if (!hwtdi_elf_section(&o->tables, t->symbols.sh_link, &t->strings))
		memset(&t->strings, 0, sizeof(t->strings));
	t->address = o->places[table->sh_info].address;
	left = o->tables.n_bytes - t->section.sh_offset;
	t->n_bytes = t->section.sh_size < left ? t->section.sh_size : left;
	return (true);
}

int
hwtdi_elf_relocate(const struct hwtdi_elf_object *object,
    const struct hwtdi_elf_linker *linker, uint8_t *copy,
    struct hwtdi_elf_relocated *out, struct hwtd_error *err)
{
	const struct hwtdi_elf_tables *tables = &object->tables;
	struct target t = { .object = object, .to = linker };
	/* Tables that overlap may not cost more than the file has bytes. */
	uint64_t left = tables->n_bytes / sizeof(Elf32_Rel);
	uint64_t name_bytes = NAME_BYTES + 16 * tables->n_bytes;
	struct rules rules;
	GElf_Shdr table;
	GElf_Rela rela;

	memset(out, 0, sizeof(*out));
	if (tables->encoding != ELFDATA2LSB ||
	    !rules_of(tables->header.e_machine, &rules))
		return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED,
		    offsetof(Elf64_Ehdr, e_machine),
		    "%.120s: relocations of machine %u, %s-endian",
		    tables->name, tables->header.e_machine,
		    tables->encoding == ELFDATA2LSB ? "little" : "big"));
	t.rules = &rules;
	t.name_bytes = &name_bytes;
	t.copy = copy;
	t.out = out;
	for (uint32_t i = 1; i < object->n_places; i++) {
		if (!hwtdi_elf_section(tables, i, &table) ||
		    (table.sh_type != SHT_RELA && table.sh_type != SHT_REL) ||
		    !open_target(&t, &table))
			continue;
		for (uint64_t k = 0;
		     hwtdi_elf_relocation(tables, &table, k, &rela); k++) {
			if (left-- == 0)
				return (hwtdi_fail_at(err, HWTD_E_CORRUPT,
				    hwtdi_elf_section_off(tables, i),
				    "%.120s: more relocations than the file"
				    " has room for",
				    tables->name));
			relocate_one(&t, &rela, table.sh_type == SHT_RELA);
		}
	}
	return (HWTD_OK);
}
