/*
 * Names of code by address: tables of symbols, sorted and searched by bisection.
 */
#include "image/elf_names.h"

#include <string.h>

#include "base/fail.h"
#include "base/sort.h"
#include "image/elf_plt.h"

/* A file may be all symbols; names of more are of no use. */
#define MOST_NAMES (UINT32_C(1) << 24)
/* Symbols that are looked at for one that an address is in. */
#define MOST_NESTED 256

static bool
find_table(const struct hwtdi_elf_tables *t, uint32_t type, GElf_Shdr *table,
    GElf_Shdr *strings)
{
	for (uint32_t i = 1; hwtdi_elf_section(t, i, table); i++)
		if (table->sh_type == type)
			return (hwtdi_elf_section(t, table->sh_link, strings));
	return (false);
}

/* Functions before what has no type, then those that others can call. */
static uint32_t
rank_of(const GElf_Sym *sym, const char *name)
{
	const unsigned int type = GELF_ST_TYPE(sym->st_info);
	const unsigned int bind = GELF_ST_BIND(sym->st_info);
	const size_t underscores = strspn(name, "_");
	const uint32_t front = underscores < 15 ? (uint32_t)underscores : 15;

	return ((type == STT_NOTYPE ? HWTDI_ELF_NAME_NO_FUNCTION : 0u) |
	    (sym->st_size == 0 ? 1u : 0u) << 7 |
	    (bind == STB_LOCAL ? 1u : 0u) << 6 | front << 1 |
	    (bind == STB_WEAK ? 1u : 0u));
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

/*
 * Behind the section nothing is of a symbol without a size, such as _init in
 * front of stubs.
 */
static uint64_t
end_of(const struct hwtdi_elf_tables *t, const GElf_Sym *sym)
{
	GElf_Shdr section;
	uint64_t end = UINT64_MAX;

	if (sym->st_size != 0 && sym->st_size - 1 <= end - sym->st_value)
		return (sym->st_value + (sym->st_size - 1));
	if (t->header.e_type == ET_REL) {
		if (hwtdi_elf_section(t, sym->st_shndx, &section) &&
		    section.sh_size != 0)
			end = section.sh_offset + (section.sh_size - 1);
	} else if (sym->st_shndx < SHN_LORESERVE &&
	    hwtdi_elf_section(t, sym->st_shndx, &section) &&
	    sym->st_value - section.sh_addr < section.sh_size) {
		end = section.sh_addr + (section.sh_size - 1);
	}
	return (end < sym->st_value ? UINT64_MAX : end);
}

static int
add_name(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_name *name, struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_array_grow(ctx, &names->at, &names->cap, names->n + 1,
	    sizeof(*names->at), err);
	if (rc != HWTD_OK)
		return (rc);
	names->at[names->n] = *name;
	names->at[names->n++].length = (uint32_t)strlen(name->name);
	return (HWTD_OK);
}

static int
add_names(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *t, uint32_t type, struct hwtd_error *err)
{
	const bool has_thumb = t->header.e_machine == EM_ARM;
	GElf_Shdr table, strings;
	GElf_Sym sym;
	int rc = HWTD_OK;

	if (!find_table(t, type, &table, &strings))
		return (HWTD_OK);
	for (uint64_t i = 1; rc == HWTD_OK && names->n < MOST_NAMES &&
	     hwtdi_elf_symbol(t, &table, i, &sym);
	     i++) {
		const char *name = hwtdi_elf_text(t, &strings, sym.st_name);
		struct hwtdi_elf_name new = { .name = name };

		rc = hwtdi_poll_each(ctx, i, err);
		if (rc != HWTD_OK || !is_name(&sym, name) ||
		    !place_name(t, &sym))
			continue;
		if (has_thumb && GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			sym.st_value &= ~UINT64_C(1);
		new.address = sym.st_value;
		new.size = sym.st_size;
		new.end = end_of(t, &sym);
		new.rank = rank_of(&sym, name);
		if (GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
			new.flags |= HWTDI_ELF_NAME_FINDER;
		if (type == SHT_DYNSYM)
			new.flags |= HWTDI_ELF_NAME_DYNAMIC;
		rc = add_name(names, ctx, &new, err);
	}
	return (rc);
}

/* Symbols have to be sorted: of some functions only the address is known. */
static int
add_stubs(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *t, struct hwtd_error *err)
{
	struct hwtdi_elf_stubs stubs;
	struct hwtdi_elf_stub stub;
	const size_t n = names->n;
	int rc;

	rc = hwtdi_elf_stubs_init(&stubs, ctx, t, err);
	if (rc != HWTD_OK)
		return (rc);
	while (rc == HWTD_OK && names->n < MOST_NAMES &&
	    hwtdi_elf_stubs_next(&stubs, t, &stub)) {
		struct hwtdi_elf_name new = { .address = stub.address,
			.size = stub.size,
			.name = stub.name,
			.flags = HWTDI_ELF_NAME_STUB };
		const struct hwtdi_elf_name *finder;

		new.end = stub.address + (stub.size - 1);
		if (stub.name == NULL) {
			const size_t all = names->n;

			names->n = n;
			finder = hwtdi_elf_names_find(names, stub.finder);
			names->n = all;
			if (finder == NULL)
				continue;
			new.name = finder->name;
		}
		rc = add_name(names, ctx, &new, err);
	}
	hwtdi_elf_stubs_fini(&stubs, ctx);
	return (rc);
}

static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_elf_name *a = va, *b = vb;
	if (a->address != b->address)
		return (a->address < b->address ? -1 : 1);
	if (a->rank != b->rank)
		return (a->rank < b->rank ? -1 : 1);
	if (a->length != b->length)
		return (a->length < b->length ? -1 : 1);
	return (a->name == b->name ? 0 : strcmp(a->name, b->name));
}

/* Of those at one address the best stays, up to where the largest goes. */
static int
sort_names(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    struct hwtd_error *err)
{
	uint64_t reach = 0;
	size_t n = 0;
	int rc;

	rc = hwtdi_sort(ctx, names->at, names->n, sizeof(*names->at),
	    by_address, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < names->n; i++) {
		const struct hwtdi_elf_name *name = &names->at[i];
		struct hwtdi_elf_name *last = n > 0 ? &names->at[n - 1] : NULL;

		if (last == NULL || last->address != name->address) {
			names->at[n++] = *name;
			continue;
		}
		if (name->size > last->size) {
			last->size = name->size;
			last->end = name->end;
		}
		last->flags &= name->flags | ~(uint32_t)HWTDI_ELF_NAME_DYNAMIC;
	}
	names->n = n;
	rc = hwtdi_array_grow(ctx, &names->reach, &names->cap_reach, n + 1,
	    sizeof(*names->reach), err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		if (names->at[i].size != 0 && names->at[i].end > reach)
			reach = names->at[i].end;
		names->reach[i] = reach;
	}
	return (rc);
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
	int rc;

	memset(names, 0, sizeof(*names));
	rc = add_loads(names, ctx, file, err);
	if (rc == HWTD_OK)
		rc = hwtdi_elf_names_add(names, ctx, file, err);
	if (rc != HWTD_OK)
		hwtdi_elf_names_fini(names, ctx);
	return (rc);
}

int
hwtdi_elf_names_add(struct hwtdi_elf_names *names, struct hwtd_context *ctx,
    const struct hwtdi_elf_tables *file, struct hwtd_error *err)
{
	const size_t n = names->n;
	int rc;

	rc = add_names(names, ctx, file, SHT_SYMTAB, err);
	if (rc == HWTD_OK && names->n == n)
		rc = add_names(names, ctx, file, SHT_DYNSYM, err);
	if (rc == HWTD_OK)
		rc = sort_names(names, ctx, err);
	if (rc == HWTD_OK)
		rc = add_stubs(names, ctx, file, err);
	return (rc == HWTD_OK ? sort_names(names, ctx, err) : rc);
}

bool
hwtdi_elf_names_complete(const struct hwtdi_elf_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		if ((names->at[i].flags &
			(HWTDI_ELF_NAME_DYNAMIC | HWTDI_ELF_NAME_STUB)) == 0)
			return (true);
	return (false);
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
	/* Labels inside of a function, and functions in others, hide it. */
	for (size_t i = low; i > 0 && low - i < MOST_NESTED; i--) {
		const struct hwtdi_elf_name *name = &names->at[i - 1];

		if (address > names->reach[i - 1])
			break;
		if (name->size != 0 && address <= name->end)
			return (name);
	}
	if (low == 0 || names->at[low - 1].size != 0 ||
	    address > names->at[low - 1].end)
		return (NULL);
	return (&names->at[low - 1]);
}

void
hwtdi_elf_names_fini(struct hwtdi_elf_names *names, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, names->at, names->cap, sizeof(*names->at));
	hwtdi_array_free(ctx, names->reach, names->cap_reach,
	    sizeof(*names->reach));
	hwtdi_array_free(ctx, names->loads, names->cap_loads,
	    sizeof(*names->loads));
	memset(names, 0, sizeof(*names));
}
