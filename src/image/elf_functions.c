/*
 * Functions of an ELF file by name.
 *
 * Sources: ELF gABI, "Symbol Table"; GNU: "Symbol Versioning" (LSB core,
 * 10.7).
 */
#include "image/elf_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* A file may be all symbols; more are not looked at. */
#define MOST_SYMBOLS (UINT64_C(1) << 24)
/* Versions that a file defines; a hostile one has one at each byte. */
#define MOST_VERSIONS 4096u
/* The part of a version's index that counts. */
#define VERSION_MASK 0x7fffu

/* One of the tables of symbols. */
struct symbols {
	const struct hwtdi_elf_tables *file;
	GElf_Shdr table;
	GElf_Shdr strings;
	/* SHT_NULL: none. */
	GElf_Shdr versions;
	uint64_t n;
};

/* Code. */

static int
add_part(struct hwtdi_elf_code *code, struct hwtd_context *ctx,
    const struct hwtdi_elf_code_part *part, struct hwtd_error *err)
{
	int rc;

	/* One that wraps is at no place. */
	if (part->last - part->first > UINT64_MAX - part->address)
		return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, &code->parts, &code->cap, code->n + 1,
	    sizeof(*part), err);
	if (rc == HWTD_OK)
		code->parts[code->n++] = *part;
	return (rc);
}

int
hwtdi_elf_code_init_linked(struct hwtdi_elf_code *code,
    struct hwtd_context *ctx, const struct hwtdi_elf_file *file, uint64_t bias,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	memset(code, 0, sizeof(*code));
	code->has_thumb = file->machine == EM_ARM;
	for (size_t i = 0; rc == HWTD_OK && i < file->n_segments; i++) {
		const struct hwtdi_elf_segment *s = &file->segments[i];

		rc = add_part(code, ctx,
		    &(const struct hwtdi_elf_code_part){ .first = s->vaddr,
			.last = s->vaddr + (s->memory_bytes - 1),
			.address = s->vaddr + bias },
		    err);
	}
	if (rc != HWTD_OK)
		hwtdi_elf_code_fini(code, ctx);
	return (rc);
}

/* Which parts only padding keeps from the ones before. */
static void
find_padding(struct hwtdi_elf_code *code, const struct hwtdi_elf_tables *t)
{
	GElf_Shdr sh;

	for (size_t i = 1; i < code->n; i++) {
		struct hwtdi_elf_code_part *p = &code->parts[i];
		const struct hwtdi_elf_code_part *before = p - 1;
		const uint64_t end = before->address +
		    (before->last - before->first);

		p->padded = p->address > end &&
		    hwtdi_elf_section(t, p->section, &sh) &&
		    p->address - end - 1 < sh.sh_addralign;
	}
}

int
hwtdi_elf_code_init_object(struct hwtdi_elf_code *code,
    struct hwtd_context *ctx, const struct hwtdi_elf_object *object,
    struct hwtd_error *err)
{
	const struct hwtdi_elf_tables *t = &object->tables;
	GElf_Shdr sh;
	int rc = HWTD_OK;

	memset(code, 0, sizeof(*code));
	code->is_object = true;
	code->has_thumb = t->header.e_machine == EM_ARM;
	for (uint32_t i = 0; rc == HWTD_OK && i < object->n_places; i++) {
		const struct hwtdi_elf_place *place = &object->places[i];

		if (!place->placed || !place->code ||
		    !hwtdi_elf_section(t, i, &sh) || sh.sh_size == 0 ||
		    sh.sh_size - 1 > UINT64_MAX - sh.sh_offset)
			continue;
		rc = add_part(code, ctx,
		    &(const struct hwtdi_elf_code_part){ .first = sh.sh_offset,
			.last = sh.sh_offset + (sh.sh_size - 1),
			.address = place->address,
			.section = i },
		    err);
	}
	if (rc != HWTD_OK) {
		hwtdi_elf_code_fini(code, ctx);
		return (rc);
	}
	find_padding(code, t);
	return (HWTD_OK);
}

const struct hwtdi_elf_code_part *
hwtdi_elf_code_find(const struct hwtdi_elf_code *code, uint64_t first,
    uint64_t last)
{
	for (size_t i = 0; i < code->n; i++)
		if (first >= code->parts[i].first && first <= last &&
		    last <= code->parts[i].last)
			return (&code->parts[i]);
	return (NULL);
}

void
hwtdi_elf_code_fini(struct hwtdi_elf_code *code, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, code->parts, code->cap, sizeof(*code->parts));
	memset(code, 0, sizeof(*code));
}

/* Symbols. */

static bool
find_section(const struct hwtdi_elf_tables *t, uint32_t type, GElf_Shdr *out,
    uint32_t *index_out)
{
	for (uint32_t i = 1; hwtdi_elf_section(t, i, out); i++) {
		if (out->sh_type == type) {
			*index_out = i;
			return (true);
		}
	}
	return (false);
}

/* The table of a type; false: the file has none. */
static bool
open_symbols(struct symbols *s, const struct hwtdi_elf_tables *file,
    uint32_t type)
{
	const uint64_t size = file->is_64 ? sizeof(Elf64_Sym)
					  : sizeof(Elf32_Sym);
	uint32_t index, other;

	memset(s, 0, sizeof(*s));
	s->file = file;
	if (!find_section(file, type, &s->table, &index) ||
	    !hwtdi_elf_section(file, s->table.sh_link, &s->strings))
		return (false);
	s->n = s->table.sh_size / size;
	if (s->n > MOST_SYMBOLS)
		s->n = MOST_SYMBOLS;
	if (type == SHT_DYNSYM &&
	    (!find_section(file, SHT_GNU_versym, &s->versions, &other) ||
		s->versions.sh_link != index))
		s->versions.sh_type = SHT_NULL;
	return (true);
}

/* A symbol with a name that is in this file; false: there are no more. */
static bool
next_symbol(const struct symbols *s, uint64_t *i_inout, GElf_Sym *sym,
    const char **name_out)
{
	for (; *i_inout < s->n; (*i_inout)++) {
		if (!hwtdi_elf_symbol(s->file, &s->table, *i_inout, sym))
			return (false);
		*name_out = hwtdi_elf_text(s->file, &s->strings, sym->st_name);
		if (*name_out != NULL && (*name_out)[0] != '\0') {
			(*i_inout)++;
			return (true);
		}
	}
	return (false);
}

static bool
is_code_type(const GElf_Sym *sym)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_NOTYPE ||
	    type == STT_GNU_IFUNC);
}

/* The part of an object that is a section; NULL: it is no code. */
static const struct hwtdi_elf_code_part *
find_part(const struct hwtdi_elf_code *code, uint32_t section)
{
	size_t low = 0, high = code->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (code->parts[middle].section < section)
			low = middle + 1;
		else
			high = middle;
	}
	return (low < code->n && code->parts[low].section == section
		? &code->parts[low]
		: NULL);
}

/* The part of code that a symbol begins in, and where; NULL: in none. */
static const struct hwtdi_elf_code_part *
place_symbol(const struct hwtdi_elf_code *code, const GElf_Sym *sym,
    uint64_t *first_out)
{
	const struct hwtdi_elf_code_part *part;
	uint64_t value = sym->st_value;

	if (!is_code_type(sym) || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx == SHN_ABS)
		return (NULL);
	if (code->has_thumb && GELF_ST_TYPE(sym->st_info) != STT_NOTYPE)
		value &= ~UINT64_C(1);
	*first_out = value;
	if (!code->is_object)
		return (hwtdi_elf_code_find(code, value, value));
	part = find_part(code, sym->st_shndx);
	if (part == NULL || value > part->last - part->first)
		return (NULL);
	*first_out = part->first + value;
	return (part);
}

/* Names with versions. */

/* The first 2 bytes of what is at `off`. */
static bool
half_word(const struct hwtdi_elf_tables *t, uint64_t off, uint32_t *out)
{
	const uint8_t *at;

	if (off > t->n_bytes || t->n_bytes - off < 2)
		return (false);
	at = t->bytes + off;
	*out = t->encoding == ELFDATA2LSB ? at[0] | (uint32_t)at[1] << 8
					  : at[1] | (uint32_t)at[0] << 8;
	return (true);
}

/*
 * The version of a symbol for dynamic linking; NULL: none, or one of another
 * file.
 */
static const char *
version_of(const struct symbols *s, uint64_t i)
{
	const struct hwtdi_elf_tables *t = s->file;
	uint32_t index, other, aux, name, next, no;
	GElf_Shdr defined, strings;
	uint64_t off;

	/* 0 and 1: local, and global without a version. */
	if (s->versions.sh_type == SHT_NULL || i >= s->versions.sh_size / 2 ||
	    s->versions.sh_offset > t->n_bytes ||
	    !half_word(t, s->versions.sh_offset + 2 * i, &index) ||
	    (index & VERSION_MASK) < 2 ||
	    !find_section(t, SHT_GNU_verdef, &defined, &no) ||
	    !hwtdi_elf_section(t, defined.sh_link, &strings))
		return (NULL);
	off = defined.sh_offset;
	for (uint32_t tries = 0; tries < MOST_VERSIONS; tries++) {
		if (off > t->n_bytes || !half_word(t, off + 4, &other) ||
		    !hwtdi_elf_word(t, off + 12, &aux) ||
		    !hwtdi_elf_word(t, off + 16, &next))
			return (NULL);
		if (other == (index & VERSION_MASK))
			return (hwtdi_elf_word(t, off + aux, &name)
				? hwtdi_elf_text(t, &strings, name)
				: NULL);
		if (next == 0)
			return (NULL);
		off += next;
	}
	return (NULL);
}

/* Bytes of a name without "@VERSION"; the version, or NULL. */
static size_t
split(const char *name, const char **version_out)
{
	const size_t n = strcspn(name, "@");

	*version_out = NULL;
	/* Some assemblers' names begin with one. */
	if (n == 0 || name[n] == '\0')
		return (strlen(name));
	*version_out = name + n + strspn(name + n, "@");
	return (n);
}

static bool
is_called(const struct symbols *s, uint64_t i, const char *symbol,
    const char *name)
{
	const char *has, *wanted;
	const size_t n = split(name, &wanted);

	if (strncmp(symbol, name, n) != 0)
		return (false);
	if (symbol[n] != '\0' && symbol[n] != '@')
		return (false);
	if (split(symbol, &has) != n)
		return (strcmp(symbol, name) == 0);
	if (wanted == NULL)
		return (true);
	if (has == NULL)
		has = version_of(s, i);
	return (has != NULL && strcmp(has, wanted) == 0);
}

/* Functions. */

/* Of a symbol without a size at most this far. */
static uint64_t
end_of_section(const struct symbols *s, const struct hwtdi_elf_code *code,
    const GElf_Sym *sym, uint64_t first, uint64_t last)
{
	GElf_Shdr sh;

	if (code->is_object || sym->st_shndx >= SHN_LORESERVE ||
	    !hwtdi_elf_section(s->file, sym->st_shndx, &sh) ||
	    (sh.sh_flags & SHF_EXECINSTR) == 0 || first < sh.sh_addr ||
	    first - sh.sh_addr >= sh.sh_size ||
	    last - first < sh.sh_size - (first - sh.sh_addr))
		return (last);
	return (first + (sh.sh_size - (first - sh.sh_addr)) - 1);
}

/* One of them may be there already, without a size or with another one. */
static int
add_function(struct hwtdi_elf_functions *f, struct hwtd_context *ctx,
    const struct hwtdi_elf_function *one, struct hwtd_error *err)
{
	int rc;

	for (size_t i = 0; i < f->n; i++) {
		if (f->at[i].first != one->first)
			continue;
		if (f->at[i].guessed
			? !one->guessed || one->last < f->at[i].last
			: !one->guessed && one->last > f->at[i].last)
			f->at[i] = *one;
		return (HWTD_OK);
	}
	if (f->n == HWTDI_ELF_FUNCTIONS_MAX)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "more than %u functions have one name",
		    HWTDI_ELF_FUNCTIONS_MAX));
	rc = hwtdi_array_grow(ctx, &f->at, &f->cap, f->n + 1, sizeof(*one),
	    err);
	if (rc == HWTD_OK)
		f->at[f->n++] = *one;
	return (rc);
}

static int
see_symbol(struct hwtdi_elf_functions *f, struct hwtd_context *ctx,
    const struct hwtdi_elf_code *code, const struct symbols *s,
    const GElf_Sym *sym, struct hwtd_error *err)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);
	const struct hwtdi_elf_code_part *part;
	struct hwtdi_elf_function one;

	if (type == STT_SECTION || type == STT_FILE)
		return (HWTD_OK);
	if (sym->st_shndx == SHN_UNDEF) {
		f->elsewhere = true;
		return (HWTD_OK);
	}
	if (type == STT_GNU_IFUNC) {
		f->indirect = true;
		return (HWTD_OK);
	}
	part = place_symbol(code, sym, &one.first);
	if (part == NULL) {
		f->data = true;
		return (HWTD_OK);
	}
	one.guessed = sym->st_size == 0;
	one.last = part->last;
	if (one.guessed)
		one.last = end_of_section(s, code, sym, one.first, part->last);
	else if (sym->st_size - 1 < part->last - one.first)
		one.last = one.first + (sym->st_size - 1);
	return (add_function(f, ctx, &one, err));
}

static int
add_named(struct hwtdi_elf_functions *f, struct hwtd_context *ctx,
    const struct hwtdi_elf_code *code, const struct symbols *s,
    const char *name, struct hwtd_error *err)
{
	const char *symbol;
	uint64_t i = 1;
	GElf_Sym sym;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && next_symbol(s, &i, &sym, &symbol))
		if (is_called(s, i - 1, symbol, name))
			rc = see_symbol(f, ctx, code, s, &sym, err);
	return (rc);
}

static int
function_by_address(const void *va, const void *vb)
{
	const struct hwtdi_elf_function *a = va, *b = vb;

	return (a->first < b->first ? -1 : a->first > b->first);
}

/* What begins at `at` ends the function before, if that one has no size. */
static void
end_before(struct hwtdi_elf_functions *f, uint64_t at)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (f->at[middle].first < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && f->at[low - 1].guessed && f->at[low - 1].last >= at)
		f->at[low - 1].last = at - 1;
}

/* Labels inside of functions are mostly local, and have no type. */
static bool
is_label(const GElf_Sym *sym)
{
	return (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE &&
	    GELF_ST_BIND(sym->st_info) == STB_LOCAL);
}

static void
end_guessed(struct hwtdi_elf_functions *f, const struct hwtdi_elf_code *code,
    const struct symbols *s)
{
	const char *name;
	uint64_t i = 1, first;
	GElf_Sym sym;

	while (next_symbol(s, &i, &sym, &name))
		if (!is_label(&sym) &&
		    place_symbol(code, &sym, &first) != NULL)
			end_before(f, first);
}

int
hwtdi_elf_functions_find(struct hwtdi_elf_functions *functions,
    struct hwtd_context *ctx, const struct hwtdi_elf_code *code,
    const struct hwtdi_elf_tables *file, const char *name,
    struct hwtd_error *err)
{
	static const uint32_t types[2] = { SHT_SYMTAB, SHT_DYNSYM };
	struct symbols symbols[2];
	bool has[2], guessed = false;
	int rc = HWTD_OK;

	memset(functions, 0, sizeof(*functions));
	for (size_t k = 0; k < 2 && rc == HWTD_OK; k++) {
		has[k] = open_symbols(&symbols[k], file, types[k]);
		if (has[k])
			rc = add_named(functions, ctx, code, &symbols[k], name,
			    err);
	}
	if (rc != HWTD_OK) {
		hwtdi_elf_functions_fini(functions, ctx);
		return (rc);
	}
	functions->complete = has[0];
	if (functions->n > 1)
		qsort(functions->at, functions->n, sizeof(*functions->at),
		    function_by_address);
	for (size_t i = 0; i < functions->n; i++)
		guessed |= functions->at[i].guessed;
	for (size_t k = 0; k < 2 && guessed; k++)
		if (has[k])
			end_guessed(functions, code, &symbols[k]);
	return (HWTD_OK);
}

void
hwtdi_elf_functions_fini(struct hwtdi_elf_functions *functions,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, functions->at, functions->cap,
	    sizeof(*functions->at));
	memset(functions, 0, sizeof(*functions));
}

void
hwtdi_elf_functions_near(const struct hwtdi_elf_tables *file,
    struct hwtdi_near_names *near)
{
	static const uint32_t types[2] = { SHT_SYMTAB, SHT_DYNSYM };
	struct symbols s;
	const char *name;
	GElf_Sym sym;

	for (size_t k = 0; k < 2; k++) {
		if (!open_symbols(&s, file, types[k]))
			continue;
		for (uint64_t i = 1; next_symbol(&s, &i, &sym, &name);)
			if (sym.st_shndx != SHN_UNDEF &&
			    GELF_ST_TYPE(sym.st_info) == STT_FUNC)
				hwtdi_near_names_offer(near, name);
	}
}
