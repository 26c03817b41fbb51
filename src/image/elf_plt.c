/*
 * Names of the stubs that call into other files: "puts@plt".
 *
 * Sources: psABI supplements of AMD64 and i386, "Procedure Linkage Table"; ELF
 * for the Arm 64-bit Architecture, "Dynamic Linking"; Arm DDI 0487, ADRP, LDR
 * (immediate); Intel SDM vol. 2, JMP, PUSH, ENDBR64.
 */
#include "image/elf_plt.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"

/* Relocations that are looked at; a hostile file has a lot. */
#define SLOTS_MAX (UINT32_C(1) << 20)

/* Stubs have 8 bytes, or 16, and begin at a multiple of that. */
#define STUB_BYTES 16u
#define SHORT_STUB_BYTES 8u

struct hwtdi_elf_slot {
	uint64_t address;
	const char *name;
	uint64_t finder;
};

/* Source: the psABI supplements, "Relocation Types". */
#define IRELATIVE_AMD64 37
#define IRELATIVE_I386 42
#define IRELATIVE_AARCH64 1032

/* Names of relocations. */

static bool
is_irelative(const struct hwtdi_elf_tables *t, uint64_t type)
{
	switch (t->header.e_machine) {
	case EM_X86_64:
		return (type == IRELATIVE_AMD64);
	case EM_386:
		return (type == IRELATIVE_I386);
	case EM_AARCH64:
		return (type == IRELATIVE_AARCH64);
	default:
		return (false);
	}
}

static int
add_slot(struct hwtdi_elf_stubs *stubs, struct hwtd_context *ctx,
    const struct hwtdi_elf_slot *slot, bool is_plt, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	/* Old stubs push the number of their relocation. */
	if (is_plt)
		rc = hwtdi_array_grow(ctx, &stubs->pushed, &stubs->cap_pushed,
		    stubs->n_pushed + 1, sizeof(*slot), err);
	if (rc == HWTD_OK && is_plt)
		stubs->pushed[stubs->n_pushed++] = *slot;
	if (rc != HWTD_OK || (slot->name == NULL && slot->finder == 0))
		return (rc);
	rc = hwtdi_array_grow(ctx, &stubs->slots, &stubs->cap, stubs->n + 1,
	    sizeof(*slot), err);
	if (rc == HWTD_OK)
		stubs->slots[stubs->n++] = *slot;
	return (rc);
}

static int
add_relocations(struct hwtdi_elf_stubs *stubs, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *t, const GElf_Shdr *table, bool is_plt,
    struct hwtd_error *err)
{
	GElf_Shdr symbols, strings;
	GElf_Rela rela;
	GElf_Sym sym;
	int rc = HWTD_OK;

	/* A program without dynamic linking has no symbols there. */
	if (!hwtdi_elf_section(t, table->sh_link, &symbols) ||
	    !hwtdi_elf_section(t, symbols.sh_link, &strings))
		memset(&symbols, 0, sizeof(symbols));
	for (uint64_t i = 0; rc == HWTD_OK && stubs->n < SLOTS_MAX &&
	     stubs->n_pushed < SLOTS_MAX &&
	     hwtdi_elf_relocation(t, table, i, &rela);
	     i++) {
		struct hwtdi_elf_slot slot = { .address = rela.r_offset };

		if (is_irelative(t, GELF_R_TYPE(rela.r_info)))
			slot.finder = (uint64_t)rela.r_addend;
		else if (symbols.sh_size != 0 &&
		    hwtdi_elf_symbol(t, &symbols, GELF_R_SYM(rela.r_info),
			&sym))
			slot.name = hwtdi_elf_text(t, &strings, sym.st_name);
		if (slot.name != NULL && slot.name[0] == '\0')
			slot.name = NULL;
		rc = add_slot(stubs, ctx, &slot, is_plt, err);
	}
	return (rc);
}

static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_elf_slot *a = va, *b = vb;

	return (a->address < b->address ? -1 : a->address > b->address);
}

/* Address of the table that position-independent code of i386 uses. */
static uint64_t
find_got(const struct hwtdi_elf_tables *t)
{
	GElf_Shdr section;
	uint64_t got = 0;

	for (uint32_t i = 1; hwtdi_elf_section(t, i, &section); i++) {
		const char *name = hwtdi_elf_section_name(t, &section);

		if (strcmp(name, ".got.plt") == 0)
			return (section.sh_addr);
		if (strcmp(name, ".got") == 0)
			got = section.sh_addr;
	}
	return (got);
}

int
hwtdi_elf_stubs_init(struct hwtdi_elf_stubs *stubs, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *file, struct hwtd_error *err)
{
	GElf_Shdr table;
	int rc = HWTD_OK;

	memset(stubs, 0, sizeof(*stubs));
	if (file->header.e_type == ET_REL)
		return (HWTD_OK);
	for (uint32_t i = 1;
	     rc == HWTD_OK && hwtdi_elf_section(file, i, &table); i++) {
		const char *name = hwtdi_elf_section_name(file, &table);
		const bool is_plt = strcmp(name, ".rela.plt") == 0 ||
		    strcmp(name, ".rel.plt") == 0;

		if (is_plt || strcmp(name, ".rela.dyn") == 0 ||
		    strcmp(name, ".rel.dyn") == 0)
			rc = add_relocations(stubs, ctx, file, &table, is_plt,
			    err);
	}
	if (rc != HWTD_OK) {
		hwtdi_elf_stubs_fini(stubs, ctx);
		return (rc);
	}
	stubs->got = find_got(file);
	if (stubs->n > 1)
		qsort(stubs->slots, stubs->n, sizeof(*stubs->slots),
		    by_address);
	return (HWTD_OK);
}

void
hwtdi_elf_stubs_fini(struct hwtdi_elf_stubs *stubs, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, stubs->slots, stubs->cap, sizeof(*stubs->slots));
	hwtdi_array_free(ctx, stubs->pushed, stubs->cap_pushed,
	    sizeof(*stubs->pushed));
	memset(stubs, 0, sizeof(*stubs));
}

/* Code of stubs. */

static const struct hwtdi_elf_slot *
slot_at(const struct hwtdi_elf_stubs *stubs, uint64_t address)
{
	const struct hwtdi_elf_slot key = { .address = address };

	return (stubs->n == 0 ? NULL
			      : bsearch(&key, stubs->slots, stubs->n,
				    sizeof(key), by_address));
}

/* ENDBR64 and ENDBR32 come first where jumps are checked. */
static size_t
skip_endbr(const uint8_t *code, size_t n)
{
	return (n >= 4 && code[0] == 0xf3 && code[1] == 0x0f &&
		    code[2] == 0x1e && (code[3] == 0xfa || code[3] == 0xfb)
		? 4
		: 0);
}

/* JMP *slot: by address, by distance, or from the table that EBX points to. */
static const struct hwtdi_elf_slot *
x86_slot(const struct hwtdi_elf_stubs *stubs, const struct hwtdi_elf_tables *t,
    uint64_t address, const uint8_t *code, size_t n)
{
	size_t at = skip_endbr(code, n);
	int32_t v;

	if (at < n && code[at] == 0xf2)
		at++;
	if (n - at < 6 || code[at] != 0xff)
		return (NULL);
	v = (int32_t)hwtdi_le32(code + at + 2);
	if (code[at + 1] == 0x25 && t->is_64)
		return (slot_at(stubs,
		    address + at + 6 + (uint64_t)(int64_t)v));
	if (code[at + 1] == 0x25)
		return (slot_at(stubs, (uint32_t)v));
	return (code[at + 1] == 0xa3 && !t->is_64
		? slot_at(stubs, (uint32_t)(stubs->got + (uint32_t)v))
		: NULL);
}

/* ADRP x16, page; LDR x17, [x16, offset], behind BTI where that is used. */
static const struct hwtdi_elf_slot *
a64_slot(const struct hwtdi_elf_stubs *stubs, uint64_t address,
    const uint8_t *code, size_t n)
{
	uint32_t adrp, ldr;
	uint64_t page;

	if (n >= 4 && hwtdi_le32(code) == 0xd503245f) {
		code += 4;
		address += 4;
		n -= 4;
	}
	if (n < 8)
		return (NULL);
	adrp = hwtdi_le32(code);
	ldr = hwtdi_le32(code + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 ||
	    (ldr & 0xffc003ff) != 0xf9400211)
		return (NULL);
	page = (uint64_t)(adrp >> 29 & 3) |
	    (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	/* 21 bits with a sign. */
	page = (page ^ UINT64_C(0x100000)) - UINT64_C(0x100000);
	page = (address & ~UINT64_C(0xfff)) + (page << 12);
	return (slot_at(stubs, page + (uint64_t)(ldr >> 10 & 0xfff) * 8));
}

/* Where jumps are checked the old table only pushes a number. */
static const struct hwtdi_elf_slot *
pushed_slot(const struct hwtdi_elf_stubs *stubs, const uint8_t *code, size_t n)
{
	const size_t at = skip_endbr(code, n);
	uint32_t no;

	if (at == 0 || n - at < 5 || code[at] != 0x68)
		return (NULL);
	no = hwtdi_le32(code + at + 1);
	return (no < stubs->n_pushed ? &stubs->pushed[no] : NULL);
}

static bool
is_stubs(const struct hwtdi_elf_tables *t, const GElf_Shdr *section)
{
	const char *name = hwtdi_elf_section_name(t, section);

	return (section->sh_type == SHT_PROGBITS &&
	    (section->sh_flags & SHF_EXECINSTR) != 0 &&
	    (strncmp(name, ".plt", 4) == 0 || strcmp(name, ".iplt") == 0) &&
	    section->sh_offset <= t->n_bytes &&
	    section->sh_size <= t->n_bytes - section->sh_offset);
}

/*
 * Stubs that do not bind lazily have 8 bytes, where jumps are not checked: those of
 * .plt.got, and all of programs without dynamic linking.
 */
static bool
has_short(const struct hwtdi_elf_tables *t, const GElf_Shdr *section)
{
	if (section->sh_entsize != 0)
		return (section->sh_entsize == SHORT_STUB_BYTES);
	return (strcmp(hwtdi_elf_section_name(t, section), ".plt.got") == 0 ||
	    section->sh_addralign == SHORT_STUB_BYTES);
}

bool
hwtdi_elf_stubs_next(struct hwtdi_elf_stubs *stubs,
    const struct hwtdi_elf_tables *file, struct hwtdi_elf_stub *out)
{
	const bool is_x86 = file->header.e_machine == EM_X86_64 ||
	    file->header.e_machine == EM_386;
	GElf_Shdr section;

	if (stubs->n == 0 ||
	    (!is_x86 && file->header.e_machine != EM_AARCH64) ||
	    file->encoding != ELFDATA2LSB)
		return (false);
	for (; hwtdi_elf_section(file, stubs->section, &section);
	     stubs->section++, stubs->off = 0) {
		const bool is_short = is_x86 && has_short(file, &section);
		const uint64_t size = is_short ? SHORT_STUB_BYTES : STUB_BYTES;

		if (!is_stubs(file, &section))
			continue;
		while (stubs->off < section.sh_size) {
			const uint8_t *code = file->bytes + section.sh_offset +
			    stubs->off;
			const uint64_t left = section.sh_size - stubs->off;
			const uint64_t address = section.sh_addr + stubs->off;
			const size_t n = (size_t)(left < size ? left : size);
			const struct hwtdi_elf_slot *slot;

			if (is_x86)
				slot = x86_slot(stubs, file, address, code, n);
			else
				slot = a64_slot(stubs, address, code, n);
			if (slot == NULL && is_x86)
				slot = pushed_slot(stubs, code, n);
			/* The table of AArch64 begins with 32 other bytes. */
			stubs->off += size;
			if (slot == NULL ||
			    (slot->name == NULL && slot->finder == 0))
				continue;
			*out = (struct hwtdi_elf_stub){ address, n, slot->name,
				slot->finder };
			return (true);
		}
	}
	return (false);
}
