/*
 * Where a kernel puts the sections of a relocatable object (ET_REL).
 */
#include "image/elf_object.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"

/* Source: System V ABI, AMD64 supplement, "Sections". */
#define TYPE_X86_64_UNWIND 0x70000001u

/* Source: Linux, include/linux/module.h. */
#define FLAG_RO_AFTER_INIT 0x00200000u

/* Where the next section goes. */
struct cursor {
	uint64_t at;
};

static int
open_object(struct hwtdi_elf_object *o, struct hwtd_context *ctx,
    const char *name, const void *bytes, uint64_t n_bytes,
    struct hwtd_error *err)
{
	int rc;

	memset(o, 0, sizeof(*o));
	rc = hwtdi_elf_tables_init(&o->tables, name, bytes, n_bytes, err);
	if (rc != HWTD_OK)
		return (rc);
	if (o->tables.header.e_type != ET_REL)
		return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED,
		    offsetof(Elf64_Ehdr, e_type),
		    "%.120s: not a relocatable object", name));
	if (o->tables.n_sections < o->tables.claimed_sections ||
	    o->tables.n_sections == 0)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT,
		    o->tables.header.e_shoff,
		    "%.120s: %" PRIu32
		    " section headers, but the file has %" PRIu32,
		    name, o->tables.claimed_sections, o->tables.n_sections));
	if (o->tables.n_sections > HWTDI_ELF_MAX_SECTIONS)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "%.120s: %" PRIu32 " sections are over %u", name,
		    o->tables.n_sections, HWTDI_ELF_MAX_SECTIONS));
	o->n_places = o->tables.n_sections;
	o->places = hwtdi_zalloc(ctx, o->n_places * sizeof(*o->places));
	if (o->places == NULL)
		return (hwtdi_fail_nomem(err,
		    o->n_places * sizeof(*o->places)));
	return (HWTD_OK);
}

/* Align and pass over a section; its address. */
static int
take(const struct hwtdi_elf_object *o, uint32_t i, const GElf_Shdr *sh,
    struct cursor *c, uint64_t *address_out, struct hwtd_error *err)
{
	uint64_t align = sh->sh_addralign != 0 ? sh->sh_addralign : 1;
	uint64_t up;

	if ((align & (align - 1)) != 0)
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT,
		    hwtdi_elf_section_off(&o->tables, i),
		    "%.120s: section %" PRIu32 " is aligned to %" PRIu64,
		    o->tables.name, i, align));
	up = -c->at & (align - 1);
	if (up > UINT64_MAX - c->at || sh->sh_size > UINT64_MAX - (c->at + up))
		return (hwtdi_fail_at(err, HWTD_E_CORRUPT,
		    hwtdi_elf_section_off(&o->tables, i),
		    "%.120s: section %" PRIu32 " of %" PRIu64
		    " bytes goes past the end of the address space",
		    o->tables.name, i, sh->sh_size));
	*address_out = c->at + up;
	c->at += up + sh->sh_size;
	return (HWTD_OK);
}

static int
place(struct hwtdi_elf_object *o, uint32_t i, const GElf_Shdr *sh,
    struct cursor *c, struct hwtd_error *err)
{
	struct hwtdi_elf_place *p = &o->places[i];
	int rc = take(o, i, sh, c, &p->address, err);

	if (rc != HWTD_OK)
		return (rc);
	p->placed = true;
	p->code = (sh->sh_flags & SHF_EXECINSTR) != 0 &&
	    sh->sh_type != SHT_NOBITS && sh->sh_offset < o->tables.n_bytes;
	return (HWTD_OK);
}

/*
 * Sections that a kernel gives memory apart from the module; they keep their
 * place in the module, but it is not where their symbols are.
 */
static bool
is_apart(const char *name)
{
	return (strcmp(name, "set_pcpu") == 0 ||
	    strcmp(name, "set_vnet") == 0);
}

/*
 * Source: FreeBSD, sys/kern/link_elf_obj.c, link_elf_load_file(), and
 * stand/common/load_elf_obj.c for modules that the boot loader loads:
 * allocated sections of these types, in their order, each aligned to
 * sh_addralign, without those of no bytes.
 */
static bool
is_loaded_by_freebsd(const struct hwtdi_elf_object *o, const GElf_Shdr *sh)
{
	if ((sh->sh_flags & SHF_ALLOC) == 0 || sh->sh_size == 0)
		return (false);
	switch (sh->sh_type) {
	case SHT_PROGBITS:
	case SHT_NOBITS:
	case SHT_INIT_ARRAY:
	case SHT_FINI_ARRAY:
		return (true);
	case TYPE_X86_64_UNWIND:
		return (o->tables.header.e_machine == EM_X86_64);
	default:
		return (false);
	}
}

static int
place_freebsd(struct hwtdi_elf_object *o, uint64_t address,
    struct hwtd_error *err)
{
	struct cursor c = { address };
	GElf_Shdr sh;
	int rc = HWTD_OK;

	for (uint32_t i = 1; i < o->n_places && rc == HWTD_OK; i++) {
		if (!hwtdi_elf_section(&o->tables, i, &sh) ||
		    !is_loaded_by_freebsd(o, &sh))
			continue;
		rc = place(o, i, &sh, &c, err);
		if (is_apart(hwtdi_elf_section_name(&o->tables, &sh)))
			o->places[i].placed = false;
	}
	o->end = c.at;
	return (rc);
}

int
hwtdi_elf_object_init_freebsd(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, const char *name, const void *bytes,
    uint64_t n_bytes, uint64_t address, struct hwtd_error *err)
{
	int rc;

	rc = open_object(object, ctx, name, bytes, n_bytes, err);
	if (rc == HWTD_OK)
		rc = place_freebsd(object, address, err);
	if (rc != HWTD_OK)
		hwtdi_elf_object_fini(object, ctx);
	return (rc);
}

/*
 * Source: Linux, kernel/module/main.c, layout_sections(): in each of these
 * groups, in this order, sections that have all of `all` and none of `none`
 * and are in no earlier group.
 */
static const struct {
	uint64_t all;
	uint64_t none;
} linux_groups[] = {
	{ SHF_EXECINSTR | SHF_ALLOC, 0 },
	{ SHF_ALLOC, SHF_WRITE },
	{ FLAG_RO_AFTER_INIT | SHF_ALLOC, 0 },
	{ SHF_WRITE | SHF_ALLOC, 0 },
	{ SHF_ALLOC, 0 },
};

#define LINUX_GROUPS (sizeof(linux_groups) / sizeof(linux_groups[0]))

/*
 * Source: Linux, kernel/module/main.c, rewrite_section_headers() and
 * layout_and_allocate(): flags that the loader changes by name.
 */
static uint64_t
linux_flags(const char *name, uint64_t flags)
{
	static const char *const not_loaded[] = { ".modinfo", "__versions",
		"__version_ext_crcs", "__version_ext_names", ".data..percpu" };

	for (size_t i = 0; i < sizeof(not_loaded) / sizeof(not_loaded[0]); i++)
		if (strcmp(name, not_loaded[i]) == 0)
			return (flags & ~(uint64_t)SHF_ALLOC);
	if (strcmp(name, ".data..ro_after_init") == 0 ||
	    strcmp(name, "__jump_table") == 0)
		return (flags | FLAG_RO_AFTER_INIT);
	return (flags);
}

/* What a section is to the loader, worked out once. */
struct linux_section {
	uint64_t flags;
	bool init;
};

static int
place_linux_group(struct hwtdi_elf_object *o,
    const struct linux_section *sections, size_t group, bool init,
    struct cursor *c, struct hwtd_error *err)
{
	GElf_Shdr sh;
	int rc = HWTD_OK;

	for (uint32_t i = 1; i < o->n_places && rc == HWTD_OK; i++) {
		uint64_t flags = sections[i].flags;

		if (o->places[i].placed || sections[i].init != init ||
		    (flags & linux_groups[group].all) !=
			linux_groups[group].all ||
		    (flags & linux_groups[group].none) != 0 ||
		    !hwtdi_elf_section(&o->tables, i, &sh))
			continue;
		rc = place(o, i, &sh, c, err);
	}
	return (rc);
}

static int
place_linux_part(struct hwtdi_elf_object *o,
    const struct linux_section *sections, bool init, uint64_t address,
    uint64_t page, uint64_t *end_out, struct hwtd_error *err)
{
	struct cursor c = { address };
	int rc = HWTD_OK;

	for (size_t g = 0; g < LINUX_GROUPS && rc == HWTD_OK; g++) {
		uint64_t up = -c.at & (page - 1);

		/* What is writable and what is small is not kept apart. */
		if (g != 0 && g != LINUX_GROUPS - 1 && up <= UINT64_MAX - c.at)
			c.at += up;
		rc = place_linux_group(o, sections, g, init, &c, err);
	}
	*end_out = c.at;
	return (rc);
}

static int
place_linux(struct hwtdi_elf_object *o, struct hwtd_context *ctx,
    uint64_t address, uint64_t init_address, uint64_t page,
    struct hwtd_error *err)
{
	size_t bytes = o->n_places * sizeof(struct linux_section);
	struct linux_section *sections = hwtdi_zalloc(ctx, bytes);
	GElf_Shdr sh;
	uint64_t end;
	int rc;

	if (sections == NULL)
		return (hwtdi_fail_nomem(err, bytes));
	for (uint32_t i = 1; i < o->n_places; i++) {
		const char *name;

		if (!hwtdi_elf_section(&o->tables, i, &sh))
			continue;
		name = hwtdi_elf_section_name(&o->tables, &sh);
		sections[i].flags = linux_flags(name, sh.sh_flags);
		sections[i].init = strncmp(name, ".init", 5) == 0;
	}
	rc = place_linux_part(o, sections, false, address, page, &o->end, err);
	if (rc == HWTD_OK && init_address != 0)
		rc = place_linux_part(o, sections, true, init_address, page,
		    &end, err);
	hwtdi_free(ctx, sections, bytes);
	return (rc);
}

int
hwtdi_elf_object_init_linux(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, const char *name, const void *bytes,
    uint64_t n_bytes, uint64_t address, uint64_t init_address, uint64_t page,
    struct hwtd_error *err)
{
	int rc;

	page = page != 0 ? page : HWTDI_ELF_PAGE;
	memset(object, 0, sizeof(*object));
	if ((page & (page - 1)) != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "page size %" PRIu64 " is no power of 2", page));
	rc = open_object(object, ctx, name, bytes, n_bytes, err);
	if (rc == HWTD_OK)
		rc = place_linux(object, ctx, address, init_address, page,
		    err);
	if (rc != HWTD_OK)
		hwtdi_elf_object_fini(object, ctx);
	return (rc);
}

bool
hwtdi_elf_object_is_for_linux(const struct hwtdi_elf_tables *tables)
{
	GElf_Shdr sh;

	for (uint32_t i = 1; hwtdi_elf_section(tables, i, &sh); i++)
		if (strcmp(hwtdi_elf_section_name(tables, &sh), ".modinfo") ==
		    0)
			return (true);
	return (false);
}

int
hwtdi_elf_object_init(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, const char *name, const void *bytes,
    uint64_t n_bytes, uint64_t address, struct hwtd_error *err)
{
	struct hwtdi_elf_tables t;

	if (hwtdi_elf_tables_init(&t, name, bytes, n_bytes, NULL) == HWTD_OK &&
	    hwtdi_elf_object_is_for_linux(&t))
		return (hwtdi_elf_object_init_linux(object, ctx, name, bytes,
		    n_bytes, address, 0, 0, err));
	return (hwtdi_elf_object_init_freebsd(object, ctx, name, bytes,
	    n_bytes, address, err));
}

void
hwtdi_elf_object_fini(struct hwtdi_elf_object *object,
    struct hwtd_context *ctx)
{
	hwtdi_free(ctx, object->places,
	    object->n_places * sizeof(*object->places));
	object->places = NULL;
	object->n_places = 0;
}

int
hwtdi_elf_object_layout(const struct hwtdi_elf_object *object,
    struct hwtd_context *ctx, struct hwtdi_elf_layout *layout,
    struct hwtd_error *err)
{
	const struct hwtdi_elf_tables *t = &object->tables;
	GElf_Shdr sh;
	int rc = HWTD_OK;

	memset(layout, 0, sizeof(*layout));
	for (uint32_t i = 0; i < object->n_places && rc == HWTD_OK; i++) {
		struct hwtdi_elf_piece p;

		if (!object->places[i].placed || !object->places[i].code ||
		    !hwtdi_elf_section(t, i, &sh))
			continue;
		p.address = object->places[i].address;
		p.file_off = sh.sh_offset;
		p.length = t->n_bytes - sh.sh_offset;
		if (p.length > sh.sh_size)
			p.length = sh.sh_size;
		rc = hwtdi_elf_layout_add(layout, ctx, &p, err);
	}
	if (rc != HWTD_OK)
		hwtdi_elf_layout_fini(layout, ctx);
	return (rc);
}
