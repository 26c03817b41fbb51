/*
 * The sections of an ELF file that hold DWARF, whole or split (.dwo, .dwp).
 *
 * Sources: DWARF 5, "Split DWARF Object Files"; ELF gABI, "Compressed
 * Sections"; GNU binutils, ".zdebug" ("ZLIB" and a size ahead of the data).
 */
#include "image/dwarf_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "image/unpack.h"

/* Source: ELF gABI, "Compressed Sections". */
#define FLAG_COMPRESSED 0x800u
#define COMPRESS_ZLIB 1u
#define COMPRESS_ZSTD 2u
#define HEADER_64 24u
#define HEADER_32 12u

/* "ZLIB" and 8 bytes. */
#define OLD_HEADER 12u

static const char *const names[HWTDI_DWARF_SECTIONS] = { "info", "abbrev",
	"str", "str_offsets", "line", "line_str", "ranges", "rnglists", "addr",
	"aranges", "cu_index" };

static const char *const full_names[HWTDI_DWARF_SECTIONS] = { ".debug_info",
	".debug_abbrev", ".debug_str", ".debug_str_offsets", ".debug_line",
	".debug_line_str", ".debug_ranges", ".debug_rnglists", ".debug_addr",
	".debug_aranges", ".debug_cu_index" };

const char *
hwtdi_dwarf_section_name(enum hwtdi_dwarf_section_id id)
{
	return (full_names[id]);
}

int
hwtdi_dwarf_fail(struct hwtd_error *err, const struct hwtdi_dwarf_file *file,
    enum hwtdi_dwarf_section_id id, uint64_t off, const char *fmt, ...)
{
	char cause[128];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(cause, sizeof(cause), fmt, ap);
	va_end(ap);
	return (hwtdi_fail_at(err, HWTD_E_CORRUPT, off,
	    "%.90s: %s+0x%" PRIx64 ": %s", file->path, full_names[id], off,
	    cause));
}

/* Which section of DWARF has this name; HWTDI_DWARF_SECTIONS: none. */
static unsigned int
section_of(const char *name, bool is_split, bool *old_out)
{
	size_t n;

	*old_out = strncmp(name, ".zdebug_", 8) == 0;
	if (!*old_out && strncmp(name, ".debug_", 7) != 0)
		return (HWTDI_DWARF_SECTIONS);
	name += *old_out ? 8 : 7;
	n = strlen(name);
	if (n > 4 && strcmp(name + n - 4, ".dwo") == 0) {
		if (!is_split)
			return (HWTDI_DWARF_SECTIONS);
		n -= 4;
	} else if (is_split && strcmp(name, "cu_index") != 0) {
		return (HWTDI_DWARF_SECTIONS);
	}
	for (unsigned int i = 0; i < HWTDI_DWARF_SECTIONS; i++)
		if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
			return (i);
	return (HWTDI_DWARF_SECTIONS);
}

static void
find_sections(struct hwtdi_dwarf_file *file, bool is_split)
{
	const struct hwtdi_elf_tables *t = &file->tables;
	GElf_Shdr sh;

	for (uint32_t i = 1; hwtdi_elf_section(t, i, &sh); i++) {
		struct hwtdi_dwarf_section *s;
		unsigned int id;
		bool old;

		id = section_of(hwtdi_elf_section_name(t, &sh), is_split,
		    &old);
		if (id == HWTDI_DWARF_SECTIONS || sh.sh_type == SHT_NOBITS ||
		    sh.sh_offset >= t->n_bytes)
			continue;
		s = &file->sections[id];
		/* Of type units and others in groups the first counts. */
		if (s->index != 0)
			continue;
		s->index = i;
		s->off = sh.sh_offset;
		s->bytes = t->bytes + sh.sh_offset;
		s->n = t->n_bytes - sh.sh_offset;
		if (sh.sh_size < s->n)
			s->n = sh.sh_size;
		s->packed = old || (sh.sh_flags & FLAG_COMPRESSED) != 0;
	}
}

int
hwtdi_dwarf_file_init(struct hwtdi_dwarf_file *file, struct hwtd_context *ctx,
    const char *name, const void *bytes, uint64_t n_bytes, bool is_split,
    struct hwtd_error *err)
{
	int rc;

	memset(file, 0, sizeof(*file));
	file->ctx = ctx;
	file->path = hwtdi_strdup(ctx, name);
	if (file->path == NULL)
		return (hwtdi_fail_nomem(err, strlen(name) + 1));
	rc = hwtdi_elf_tables_init(&file->tables, file->path, bytes, n_bytes,
	    err);
	if (rc != HWTD_OK) {
		hwtdi_dwarf_file_fini(file);
		return (rc);
	}
	file->big = file->tables.encoding == ELFDATA2MSB;
	find_sections(file, is_split);
	return (HWTD_OK);
}

int
hwtdi_dwarf_file_open(struct hwtdi_dwarf_file *file, struct hwtd_context *ctx,
    const char *path, bool is_split, struct hwtd_error *err)
{
	struct hwtdi_mapped_file map;
	int rc;

	memset(file, 0, sizeof(*file));
	rc = hwtdi_mapped_file_open(&map, path, err);
	if (rc != HWTD_OK) {
		hwtdi_fail_prefix(err, "%.120s", path);
		return (rc);
	}
	rc = hwtdi_dwarf_file_init(file, ctx, path, map.bytes, map.n, is_split,
	    err);
	if (rc != HWTD_OK)
		hwtdi_mapped_file_close(&map);
	else
		file->map = map;
	return (rc);
}

bool
hwtdi_dwarf_file_has(const struct hwtdi_dwarf_file *file,
    enum hwtdi_dwarf_section_id id)
{
	return (file->sections[id].n != 0);
}

/* Size and kind of what is packed; the header is taken off. */
static int
read_packed(const struct hwtdi_dwarf_file *file,
    enum hwtdi_dwarf_section_id id, struct hwtdi_unpacking *out,
    struct hwtd_error *err)
{
	const struct hwtdi_dwarf_section *s = &file->sections[id];
	const size_t header = file->tables.is_64 ? HEADER_64 : HEADER_32;
	uint64_t kind;
	size_t n;

	if (s->n >= OLD_HEADER && memcmp(s->bytes, "ZLIB", 4) == 0) {
		/* The size is big-endian in all files. */
		out->expected = hwtdi_uint(true, s->bytes + 4, 8);
		out->packing = HWTDI_PACKED_DEFLATE;
		n = OLD_HEADER;
	} else {
		if (s->n < header)
			return (hwtdi_dwarf_fail(err, file, id, 0,
			    "compressed, and ends in its header"));
		kind = hwtdi_uint(file->big, s->bytes, 4);
		out->expected = hwtdi_uint(file->big,
		    s->bytes + (file->tables.is_64 ? 8 : 4),
		    file->tables.is_64 ? 8 : 4);
		out->packing = kind == COMPRESS_ZSTD ? HWTDI_PACKED_ZSTD
						     : HWTDI_PACKED_DEFLATE;
		n = header;
		if (kind != COMPRESS_ZSTD && kind != COMPRESS_ZLIB)
			return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED, 0,
			    "%.90s: %s: compressed by %" PRIu64
			    ", which is not known",
			    file->path, full_names[id], kind));
	}
	out->bytes = s->bytes + n;
	out->n = s->n - n;
	return (HWTD_OK);
}

int
hwtdi_dwarf_file_need(struct hwtdi_dwarf_file *file,
    enum hwtdi_dwarf_section_id id, struct hwtd_error *err)
{
	struct hwtdi_dwarf_section *s = &file->sections[id];
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_unpacking what = { 0 };
	int rc;

	if (!s->packed)
		return (HWTD_OK);
	rc = read_packed(file, id, &what, err);
	if (rc != HWTD_OK)
		return (rc);
	what.name = "compressed";
	what.most = file->ctx->max_image < HWTDI_DWARF_UNPACKED_MAX
	    ? file->ctx->max_image
	    : HWTDI_DWARF_UNPACKED_MAX;
	/* What it says may be wrong: no more than it can be. */
	if (what.expected == 0 || what.expected > what.n * 1032 + 64)
		what.expected = 4096;
	rc = hwtdi_unpack_bytes(file->ctx, &what, &s->own, &s->n, &inner);
	if (rc == HWTD_E_CORRUPT || rc == HWTD_E_LIMIT) {
		(void)hwtdi_dwarf_fail(err, file, id,
		    rc == HWTD_E_CORRUPT ? inner.offset : 0, "%s",
		    inner.message);
		if (err != NULL)
			err->code = rc;
	}
	if (rc != HWTD_OK)
		return (hwtdi_fail_is_final(rc) ? hwtdi_fail_pass(err, &inner)
						: rc);
	s->bytes = s->own;
	s->packed = false;
	return (HWTD_OK);
}

struct hwtdi_dwarf_reader
hwtdi_dwarf_file_reader(const struct hwtdi_dwarf_file *file,
    enum hwtdi_dwarf_section_id id, uint64_t off)
{
	static const uint8_t nothing[1];
	const struct hwtdi_dwarf_section *s = &file->sections[id];
	struct hwtdi_dwarf_reader r = { .big = file->big };

	if (s->packed || s->bytes == NULL || off > s->n) {
		r.base = r.at = r.end = nothing;
		r.bad = true;
		return (r);
	}
	r.base = s->bytes;
	r.at = s->bytes + off;
	r.end = s->bytes + s->n;
	return (r);
}

void
hwtdi_dwarf_file_fini(struct hwtdi_dwarf_file *file)
{
	if (file->ctx == NULL)
		return;
	for (size_t i = 0; i < HWTDI_DWARF_SECTIONS; i++)
		hwtdi_free(file->ctx, file->sections[i].own,
		    (size_t)file->sections[i].n);
	hwtdi_strfree(file->ctx, file->path);
	hwtdi_mapped_file_close(&file->map);
	memset(file, 0, sizeof(*file));
}
