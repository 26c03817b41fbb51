/*
 * What an ELF file says about its code: executable segments, build-id,
 * interpreter, debug link.
 */
#include "image/elf_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "image/elf_tables.h"

/* Notes that are looked at in one file; a build-id is among the first. */
#define NOTES_MAX 4096u

/* Sections that are looked at in one file. */
#define SECTIONS_MAX 65536u

struct reader {
	struct hwtdi_elf_file *file;
	struct hwtd_context *ctx;
	struct hwtdi_elf_tables t;
	uint32_t notes_left;
};

#define NOTE_FAULT(r, off, ...)                                               \
	do {                                                                  \
		if ((r)->file->n_faults++ == 0)                               \
			(void)hwtdi_fail_at(&(r)->file->fault,                \
			    HWTD_E_CORRUPT, off, __VA_ARGS__);                \
	} while (0)

/* How much of [off, off + size) the file has. */
static uint64_t
present(const struct reader *r, uint64_t off, uint64_t size)
{
	if (off >= r->t.n_bytes)
		return (0);
	return (size < r->t.n_bytes - off ? size : r->t.n_bytes - off);
}

static bool
wraps(const struct reader *r, uint64_t address, uint64_t size)
{
	uint64_t last = r->t.is_64 ? UINT64_MAX : UINT32_MAX;

	return (size != 0 && (address > last || size - 1 > last - address));
}

static void
see_load(struct reader *r, const GElf_Phdr *ph)
{
	struct hwtdi_elf_file *file = r->file;

	if (!file->has_load || ph->p_vaddr < file->lowest_vaddr)
		file->lowest_vaddr = ph->p_vaddr;
	if (ph->p_align > file->largest_align)
		file->largest_align = ph->p_align;
	file->has_load = true;
}

/* Keep an executable segment, or its whole part. */
static int
add_segment(struct reader *r, uint32_t i, const GElf_Phdr *ph,
    struct hwtd_error *err)
{
	struct hwtdi_elf_file *file = r->file;
	uint64_t at = hwtdi_elf_segment_off(&r->t, i);
	struct hwtdi_elf_segment s = { .index = i };
	int rc;

	s.vaddr = ph->p_vaddr;
	s.file_off = ph->p_offset;
	s.memory_bytes = ph->p_memsz;
	s.align = ph->p_align;
	s.file_bytes = ph->p_filesz;
	if (s.file_bytes > s.memory_bytes) {
		NOTE_FAULT(r, at,
		    "%.100s: segment %" PRIu32 ": %#" PRIx64
		    " bytes of file in %#" PRIx64 " bytes of memory",
		    r->t.name, i, s.file_bytes, s.memory_bytes);
		s.file_bytes = s.memory_bytes;
	}
	if (wraps(r, s.vaddr, s.memory_bytes)) {
		NOTE_FAULT(r, at,
		    "%.100s: segment %" PRIu32 " at %#" PRIx64 "+%#" PRIx64
		    " is past the end of the address space",
		    r->t.name, i, s.vaddr, s.memory_bytes);
		return (HWTD_OK);
	}
	if (present(r, s.file_off, s.file_bytes) < s.file_bytes) {
		NOTE_FAULT(r, at,
		    "%.100s: segment %" PRIu32 ": file bytes %#" PRIx64
		    "+%#" PRIx64 ", but the file has %#" PRIx64,
		    r->t.name, i, s.file_off, s.file_bytes, r->t.n_bytes);
		s.file_bytes = present(r, s.file_off, s.file_bytes);
		s.cut = true;
	}
	if (s.file_bytes == 0)
		return (HWTD_OK);
	if (file->n_segments == HWTDI_ELF_MAX_SEGMENTS) {
		NOTE_FAULT(r, at, "%.100s: more than %u executable segments",
		    r->t.name, HWTDI_ELF_MAX_SEGMENTS);
		return (HWTD_OK);
	}
	rc = hwtdi_array_grow(r->ctx, &file->segments, &file->cap_segments,
	    file->n_segments + 1, sizeof(s), err);
	if (rc == HWTD_OK)
		file->segments[file->n_segments++] = s;
	return (rc);
}

/* The text in [off, off + size) of the file, up to its NUL. */
static void
read_path(struct reader *r, const char *what, uint64_t at, uint64_t off,
    uint64_t size, char out[HWTDI_ELF_PATH_MAX])
{
	uint64_t n = present(r, off, size);
	const char *end = NULL;
	const char *text;

	if (n > HWTDI_ELF_PATH_MAX)
		n = HWTDI_ELF_PATH_MAX;
	if (n != 0) {
		text = (const char *)r->t.bytes + off;
		end = memchr(text, 0, (size_t)n);
	}
	if (end == NULL) {
		NOTE_FAULT(r, at, "%.100s: %s does not end", r->t.name, what);
		return;
	}
	memcpy(out, text, (size_t)(end - text) + 1);
}

static uint64_t
round_up(uint64_t n, uint64_t to)
{
	return ((n + to - 1) & ~(to - 1));
}

/*
 * Look for NT_GNU_BUILD_ID in the notes at [off, off + size).
 *
 * Source: ELF gABI, "Note Section": name and descriptor are padded to 4
 * bytes; with an alignment of 8 (as GNU linkers write .note.gnu.property) to
 * 8.
 */
static void
read_notes(struct reader *r, uint64_t off, uint64_t size, uint64_t align)
{
	uint64_t end = off + present(r, off, size);
	uint64_t pad = align == 8 ? 8 : 4;
	uint32_t name_bytes, desc_bytes, type;

	while (r->file->build_id.n == 0 && r->notes_left > 0 && off < end &&
	    end - off >= 12) {
		uint64_t name, desc, next;

		r->notes_left--;
		if (!hwtdi_elf_word(&r->t, off, &name_bytes) ||
		    !hwtdi_elf_word(&r->t, off + 4, &desc_bytes) ||
		    !hwtdi_elf_word(&r->t, off + 8, &type))
			return;
		name = off + 12;
		/* Below 2^34 each, on top of an offset inside the file. */
		desc = off + round_up(12 + (uint64_t)name_bytes, pad);
		next = desc + round_up(desc_bytes, pad);
		if (desc > end || desc_bytes > end - desc) {
			NOTE_FAULT(r, off, "%.100s: a note does not end",
			    r->t.name);
			return;
		}
		if (type == NT_GNU_BUILD_ID && name_bytes == 4 &&
		    memcmp(r->t.bytes + name, "GNU", 4) == 0) {
			if (desc_bytes == 0 ||
			    desc_bytes > HWTDI_BUILD_ID_MAX) {
				NOTE_FAULT(r, off,
				    "%.100s: build-id of %" PRIu32 " bytes",
				    r->t.name, desc_bytes);
				return;
			}
			r->file->build_id.n = desc_bytes;
			memcpy(r->file->build_id.bytes, r->t.bytes + desc,
			    desc_bytes);
			return;
		}
		off = next;
	}
}

/* Where a field of the file header lies. */
#define HEADER_FIELD(r, field)                                                \
	((r)->t.is_64 ? offsetof(Elf64_Ehdr, field)                           \
		      : offsetof(Elf32_Ehdr, field))

/* A table is where the header says; outside of the file that is the fault. */
static uint64_t
table_fault(const struct reader *r, uint64_t off, uint64_t field)
{
	return (off < r->t.n_bytes ? off : field);
}

static int
read_segments(struct reader *r, struct hwtd_error *err)
{
	GElf_Phdr ph;
	int rc = HWTD_OK;

	if (r->t.header.e_phoff != 0 && r->t.header.e_phnum == PN_XNUM &&
	    r->t.claimed_segments == 0)
		NOTE_FAULT(r, HEADER_FIELD(r, e_phnum),
		    "%.100s: section 0 has no number of program headers",
		    r->t.name);
	if (r->t.n_segments < r->t.claimed_segments)
		NOTE_FAULT(r,
		    table_fault(r, r->t.header.e_phoff,
			HEADER_FIELD(r, e_phoff)),
		    "%.100s: %" PRIu32
		    " program headers, but the file has %" PRIu32,
		    r->t.name, r->t.claimed_segments, r->t.n_segments);
	for (uint32_t i = 0; i < r->t.n_segments && rc == HWTD_OK; i++) {
		if (!hwtdi_elf_segment(&r->t, i, &ph))
			break;
		switch (ph.p_type) {
		case PT_LOAD:
			see_load(r, &ph);
			if ((ph.p_flags & PF_X) != 0 && !r->file->debug_only)
				rc = add_segment(r, i, &ph, err);
			break;
		case PT_INTERP:
			if (r->file->interpreter[0] == '\0')
				read_path(r, "PT_INTERP",
				    hwtdi_elf_segment_off(&r->t, i),
				    ph.p_offset, ph.p_filesz,
				    r->file->interpreter);
			break;
		case PT_NOTE:
			read_notes(r, ph.p_offset, ph.p_filesz, ph.p_align);
			break;
		default:
			break;
		}
	}
	return (rc);
}

/* A name, padding to 4 bytes, and the CRC of the file of that name. */
static void
read_debug_link(struct reader *r, uint64_t at, const GElf_Shdr *sh)
{
	char *link = r->file->debug_link;
	uint64_t crc;

	read_path(r, ".gnu_debuglink", at, sh->sh_offset, sh->sh_size, link);
	if (link[0] == '\0')
		return;
	crc = round_up(strlen(link) + 1, 4);
	if (sh->sh_size < crc + 4 ||
	    !hwtdi_elf_word(&r->t, sh->sh_offset + crc,
		&r->file->debug_link_crc)) {
		NOTE_FAULT(r, at, "%.100s: .gnu_debuglink has no checksum",
		    r->t.name);
		link[0] = '\0';
	}
}

/*
 * What only sections tell.  Tools that take debug information apart leave
 * program headers as they were; only the sections say that the code is gone.
 */
static void
read_sections(struct reader *r)
{
	bool code = false, gone = false;
	GElf_Shdr sh;

	if (r->t.n_sections < r->t.claimed_sections)
		NOTE_FAULT(r,
		    table_fault(r, r->t.header.e_shoff,
			HEADER_FIELD(r, e_shoff)),
		    "%.100s: %" PRIu32
		    " section headers, but the file has %" PRIu32,
		    r->t.name, r->t.claimed_sections, r->t.n_sections);
	for (uint32_t i = 1; i < r->t.n_sections && i < SECTIONS_MAX; i++) {
		if (!hwtdi_elf_section(&r->t, i, &sh))
			break;
		if ((sh.sh_flags & SHF_EXECINSTR) != 0 && sh.sh_size != 0) {
			code |= sh.sh_type == SHT_PROGBITS;
			gone |= sh.sh_type == SHT_NOBITS;
		}
		if (sh.sh_type == SHT_NOTE)
			read_notes(r, sh.sh_offset, sh.sh_size,
			    sh.sh_addralign);
		if (sh.sh_type == SHT_PROGBITS &&
		    r->file->debug_link[0] == '\0' &&
		    strcmp(hwtdi_elf_section_name(&r->t, &sh),
			".gnu_debuglink") == 0)
			read_debug_link(r, hwtdi_elf_section_off(&r->t, i),
			    &sh);
	}
	r->file->debug_only = gone && !code;
}

int
hwtdi_elf_file_init(struct hwtdi_elf_file *file, struct hwtd_context *ctx,
    const char *name, const void *bytes, uint64_t n_bytes,
    struct hwtd_error *err)
{
	struct reader r = { .file = file,
		.ctx = ctx,
		.notes_left = NOTES_MAX };
	int rc;

	memset(file, 0, sizeof(*file));
	file->fault.size = sizeof(file->fault);
	rc = hwtdi_elf_tables_init(&r.t, name, bytes, n_bytes, err);
	if (rc != HWTD_OK)
		return (rc);
	file->type = r.t.header.e_type;
	file->machine = r.t.header.e_machine;
	file->is_64 = r.t.is_64;
	file->is_little = r.t.encoding == ELFDATA2LSB;
	file->entry = r.t.header.e_entry;
	file->n_bytes = n_bytes;
	if (file->type < HWTDI_ELF_REL || file->type > HWTDI_ELF_CORE)
		return (hwtdi_fail_at(err, HWTD_E_UNSUPPORTED,
		    offsetof(Elf64_Ehdr, e_type),
		    "%.120s: ELF file of type %" PRIu32, name, file->type));
	read_sections(&r);
	rc = read_segments(&r, err);
	if (rc != HWTD_OK)
		hwtdi_elf_file_fini(file, ctx);
	return (rc);
}

/* By itself, so that who reads no ELF file needs no libelf for it. */
bool
hwtdi_elf_is_program(const void *bytes, uint64_t n_bytes)
{
	const uint8_t *b = bytes;
	unsigned int type;

	if (n_bytes < EI_NIDENT + 2 || memcmp(b, ELFMAG, SELFMAG) != 0 ||
	    (b[EI_CLASS] != ELFCLASS32 && b[EI_CLASS] != ELFCLASS64) ||
	    b[EI_VERSION] != EV_CURRENT)
		return (false);
	if (b[EI_DATA] == ELFDATA2LSB)
		type = b[EI_NIDENT] | (unsigned int)b[EI_NIDENT + 1] << 8;
	else if (b[EI_DATA] == ELFDATA2MSB)
		type = (unsigned int)b[EI_NIDENT] << 8 | b[EI_NIDENT + 1];
	else
		return (false);
	return (type == HWTDI_ELF_REL || type == HWTDI_ELF_EXEC ||
	    type == HWTDI_ELF_DYN);
}

void
hwtdi_elf_file_fini(struct hwtdi_elf_file *file, struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, file->segments, file->cap_segments,
	    sizeof(*file->segments));
	file->segments = NULL;
	file->n_segments = 0;
	file->cap_segments = 0;
}
