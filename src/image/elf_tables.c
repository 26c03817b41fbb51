/*
 * Headers and tables of an ELF file, entry by entry, every bound checked.
 */
#include "image/elf_tables.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

/* The largest entry of any table is the file header. */
#define ENTRY_MAX sizeof(Elf64_Ehdr)

/* Translate `size` bytes at `off` into `out`, which has as many. */
static bool
translate(const struct hwtdi_elf_tables *t, uint64_t off, Elf_Type type,
    size_t size, void *out)
{
	_Alignas(8) uint8_t raw[ENTRY_MAX];
	Elf_Data from, to;

	if (off > t->n_bytes || size > t->n_bytes - off || size > sizeof(raw))
		return (false);
	/* The bytes may lie at any address; libelf wants them aligned. */
	memcpy(raw, t->bytes + off, size);
	memset(&from, 0, sizeof(from));
	from.d_buf = raw;
	from.d_type = type;
	from.d_size = size;
	from.d_version = EV_CURRENT;
	to = from;
	to.d_buf = out;
	if (t->is_64)
		return (elf64_xlatetom(&to, &from, t->encoding) != NULL);
	return (elf32_xlatetom(&to, &from, t->encoding) != NULL);
}

static bool
read_header(struct hwtdi_elf_tables *t)
{
	GElf_Ehdr *h = &t->header;
	Elf32_Ehdr s;

	if (t->is_64)
		return (translate(t, 0, ELF_T_EHDR, sizeof(*h), h));
	if (!translate(t, 0, ELF_T_EHDR, sizeof(s), &s))
		return (false);
	memcpy(h->e_ident, s.e_ident, sizeof(h->e_ident));
	h->e_type = s.e_type;
	h->e_machine = s.e_machine;
	h->e_version = s.e_version;
	h->e_entry = s.e_entry;
	h->e_phoff = s.e_phoff;
	h->e_shoff = s.e_shoff;
	h->e_flags = s.e_flags;
	h->e_ehsize = s.e_ehsize;
	h->e_phentsize = s.e_phentsize;
	h->e_phnum = s.e_phnum;
	h->e_shentsize = s.e_shentsize;
	h->e_shnum = s.e_shnum;
	h->e_shstrndx = s.e_shstrndx;
	return (true);
}

static size_t
segment_size(const struct hwtdi_elf_tables *t)
{
	return (t->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

static size_t
section_size(const struct hwtdi_elf_tables *t)
{
	return (t->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
}

/* How many of `claimed` entries the file has. */
static uint32_t
entries(const struct hwtdi_elf_tables *t, uint64_t off, uint32_t claimed,
    size_t size)
{
	uint64_t fit;

	if (off == 0 || off > t->n_bytes)
		return (0);
	fit = (t->n_bytes - off) / size;
	return (fit < claimed ? (uint32_t)fit : claimed);
}

static bool
read_section(const struct hwtdi_elf_tables *t, uint64_t off, GElf_Shdr *out)
{
	Elf32_Shdr s;

	if (t->is_64)
		return (translate(t, off, ELF_T_SHDR, sizeof(*out), out));
	if (!translate(t, off, ELF_T_SHDR, sizeof(s), &s))
		return (false);
	out->sh_name = s.sh_name;
	out->sh_type = s.sh_type;
	out->sh_flags = s.sh_flags;
	out->sh_addr = s.sh_addr;
	out->sh_offset = s.sh_offset;
	out->sh_size = s.sh_size;
	out->sh_link = s.sh_link;
	out->sh_info = s.sh_info;
	out->sh_addralign = s.sh_addralign;
	out->sh_entsize = s.sh_entsize;
	return (true);
}

/* Counts that do not fit the header are in section 0. */
static void
count_entries(struct hwtdi_elf_tables *t)
{
	const GElf_Ehdr *h = &t->header;
	GElf_Shdr zero;
	bool has_zero = h->e_shoff != 0 && read_section(t, h->e_shoff, &zero);

	t->claimed_segments = h->e_phoff != 0 ? h->e_phnum : 0;
	t->claimed_sections = h->e_shoff != 0 ? h->e_shnum : 0;
	t->names = h->e_shstrndx;
	if (h->e_phnum == PN_XNUM && has_zero)
		t->claimed_segments = zero.sh_info;
	if (h->e_shnum == 0 && has_zero)
		t->claimed_sections = zero.sh_size > UINT32_MAX
		    ? UINT32_MAX
		    : (uint32_t)zero.sh_size;
	if (h->e_shstrndx == SHN_XINDEX)
		t->names = has_zero ? zero.sh_link : 0;
	t->n_segments = entries(t, h->e_phoff, t->claimed_segments,
	    segment_size(t));
	t->n_sections = entries(t, h->e_shoff, t->claimed_sections,
	    section_size(t));
	if (t->names >= t->n_sections)
		t->names = 0;
}

int
hwtdi_elf_tables_init(struct hwtdi_elf_tables *t, const char *name,
    const void *bytes, uint64_t n_bytes, struct hwtd_error *err)
{
	const uint8_t *ident = bytes;

	memset(t, 0, sizeof(*t));
	t->name = name;
	t->bytes = bytes;
	t->n_bytes = n_bytes;
	if (n_bytes < SELFMAG || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return (hwtdi_fail_at(err, HWTD_E_UNRECOGNIZED, 0,
		    "%.120s: not an ELF file", name));
	if (n_bytes < EI_NIDENT)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, n_bytes,
		    "%.120s: file ends inside the ELF header", name));
	if (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64)
		return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED, EI_CLASS,
		    "%.120s: ELF class %u", name, ident[EI_CLASS]));
	if (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB)
		return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED, EI_DATA,
		    "%.120s: ELF byte order %u", name, ident[EI_DATA]));
	if (elf_version(EV_CURRENT) == EV_NONE ||
	    ident[EI_VERSION] != EV_CURRENT)
		return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED, EI_VERSION,
		    "%.120s: ELF version %u", name, ident[EI_VERSION]));
	t->is_64 = ident[EI_CLASS] == ELFCLASS64;
	t->encoding = ident[EI_DATA];
	if (!read_header(t))
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, n_bytes,
		    "%.120s: file ends inside the ELF header", name));
	if (t->header.e_phoff != 0 && t->header.e_phnum != 0 &&
	    t->header.e_phentsize != segment_size(t))
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT, 0,
		    "%.120s: program headers of %u bytes", name,
		    t->header.e_phentsize));
	/* A file runs without sections; so it can be read without them. */
	if (t->header.e_shentsize != section_size(t))
		t->header.e_shoff = 0;
	count_entries(t);
	return (HWTD_OK);
}

uint64_t
hwtdi_elf_segment_off(const struct hwtdi_elf_tables *t, uint32_t i)
{
	return (t->header.e_phoff + (uint64_t)i * segment_size(t));
}

uint64_t
hwtdi_elf_section_off(const struct hwtdi_elf_tables *t, uint32_t i)
{
	return (t->header.e_shoff + (uint64_t)i * section_size(t));
}

bool
hwtdi_elf_segment(const struct hwtdi_elf_tables *t, uint32_t i, GElf_Phdr *out)
{
	uint64_t off = hwtdi_elf_segment_off(t, i);
	Elf32_Phdr s;

	if (i >= t->n_segments)
		return (false);
	if (t->is_64)
		return (translate(t, off, ELF_T_PHDR, sizeof(*out), out));
	if (!translate(t, off, ELF_T_PHDR, sizeof(s), &s))
		return (false);
	out->p_type = s.p_type;
	out->p_flags = s.p_flags;
	out->p_offset = s.p_offset;
	out->p_vaddr = s.p_vaddr;
	out->p_paddr = s.p_paddr;
	out->p_filesz = s.p_filesz;
	out->p_memsz = s.p_memsz;
	out->p_align = s.p_align;
	return (true);
}

bool
hwtdi_elf_section(const struct hwtdi_elf_tables *t, uint32_t i, GElf_Shdr *out)
{
	if (i >= t->n_sections)
		return (false);
	return (read_section(t, hwtdi_elf_section_off(t, i), out));
}

/* File offset of entry `i` of a section of entries of `size` bytes. */
static bool
locate(const GElf_Shdr *table, uint64_t i, size_t size, uint64_t *off_out)
{
	if (i >= table->sh_size / size ||
	    i * size > UINT64_MAX - table->sh_offset)
		return (false);
	*off_out = table->sh_offset + i * size;
	return (true);
}

bool
hwtdi_elf_symbol(const struct hwtdi_elf_tables *t, const GElf_Shdr *table,
    uint64_t i, GElf_Sym *out)
{
	uint64_t off;
	Elf32_Sym s;

	if (t->is_64)
		return (locate(table, i, sizeof(*out), &off) &&
		    translate(t, off, ELF_T_SYM, sizeof(*out), out));
	if (!locate(table, i, sizeof(s), &off) ||
	    !translate(t, off, ELF_T_SYM, sizeof(s), &s))
		return (false);
	out->st_name = s.st_name;
	out->st_info = s.st_info;
	out->st_other = s.st_other;
	out->st_shndx = s.st_shndx;
	out->st_value = s.st_value;
	out->st_size = s.st_size;
	return (true);
}

static bool
relocation_64(const struct hwtdi_elf_tables *t, const GElf_Shdr *table,
    uint64_t i, GElf_Rela *out)
{
	uint64_t off;
	Elf64_Rel rel;

	if (table->sh_type == SHT_RELA)
		return (locate(table, i, sizeof(*out), &off) &&
		    translate(t, off, ELF_T_RELA, sizeof(*out), out));
	if (!locate(table, i, sizeof(rel), &off) ||
	    !translate(t, off, ELF_T_REL, sizeof(rel), &rel))
		return (false);
	out->r_offset = rel.r_offset;
	out->r_info = rel.r_info;
	out->r_addend = 0;
	return (true);
}

static bool
relocation_32(const struct hwtdi_elf_tables *t, const GElf_Shdr *table,
    uint64_t i, GElf_Rela *out)
{
	bool has_addend = table->sh_type == SHT_RELA;
	size_t size = has_addend ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
	uint64_t off;
	Elf32_Rela rela = { .r_addend = 0 };

	/* Elf32_Rel is the first part of Elf32_Rela. */
	if (!locate(table, i, size, &off) ||
	    !translate(t, off, has_addend ? ELF_T_RELA : ELF_T_REL, size,
		&rela))
		return (false);
	out->r_offset = rela.r_offset;
	out->r_info = GELF_R_INFO((uint64_t)ELF32_R_SYM(rela.r_info),
	    ELF32_R_TYPE(rela.r_info));
	out->r_addend = rela.r_addend;
	return (true);
}

bool
hwtdi_elf_relocation(const struct hwtdi_elf_tables *t, const GElf_Shdr *table,
    uint64_t i, GElf_Rela *out)
{
	if (t->is_64)
		return (relocation_64(t, table, i, out));
	return (relocation_32(t, table, i, out));
}

bool
hwtdi_elf_word(const struct hwtdi_elf_tables *t, uint64_t off, uint32_t *out)
{
	return (translate(t, off, ELF_T_WORD, sizeof(*out), out));
}

const char *
hwtdi_elf_text(const struct hwtdi_elf_tables *t, const GElf_Shdr *strings,
    uint64_t off)
{
	uint64_t left;
	const uint8_t *at;

	if (strings->sh_type != SHT_STRTAB || off >= strings->sh_size ||
	    strings->sh_offset > t->n_bytes ||
	    off >= t->n_bytes - strings->sh_offset)
		return (NULL);
	at = t->bytes + strings->sh_offset + off;
	left = t->n_bytes - strings->sh_offset - off;
	if (left > strings->sh_size - off)
		left = strings->sh_size - off;
	if (left > HWTDI_ELF_TEXT_MAX)
		left = HWTDI_ELF_TEXT_MAX;
	if (memchr(at, 0, (size_t)left) == NULL)
		return (NULL);
	return ((const char *)at);
}

const char *
hwtdi_elf_section_name(const struct hwtdi_elf_tables *t,
    const GElf_Shdr *section)
{
	GElf_Shdr strings;
	const char *text;

	if (t->names == 0 || !hwtdi_elf_section(t, t->names, &strings))
		return ("");
	text = hwtdi_elf_text(t, &strings, section->sh_name);
	return (text != NULL ? text : "");
}
