/*
 * The symbols and lines of one image of a trace: which files have them.
 *
 * Source: GDB manual, "Debugging Information in Separate Files", "MiniDebugInfo".
 */
#include "trace/symbol_image.h"

#include <hwtdecode/image.h>
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "image/image_search.h"
#include "image/unpack.h"
#include "trace/trace_internal.h"

/* Bytes of symbols that were packed into a file. */
#define PACKED_MAX (UINT64_C(256) << 20)

/* What is compared at once of files that an archive holds in parts. */
#define PAGE 4096u

/* An image that is being opened. */
struct opening {
	struct hwtdi_symbol_image *image;
	struct hwtd_context *ctx;
	const struct hwtdi_symbol_search *search;
	struct hwtdi_image_source held;
	struct hwtdi_build_id build_id;
	/* The file of the code, whose bytes may be those of the trace. */
	const char *path;
	const uint8_t *bytes;
	uint64_t n_bytes;
	struct hwtdi_elf_tables tables;
	bool is_elf;
	/* `path` is one, and not only a name. */
	bool is_file;
	/* By records, not by the caller. */
	bool named;
	/* The trace holds parts of its file. */
	bool is_sparse;
	struct hwtd_error *err;
};

static int
note(struct opening *o, int rc, const struct hwtd_error *err)
{
	if (hwtdi_fail_is_final(rc))
		return (hwtdi_fail_pass(o->err, err));
	if (rc != HWTD_OK && rc != HWTD_E_NOT_FOUND &&
	    rc != HWTD_E_UNRECOGNIZED && o->image->fault.code == HWTD_OK)
		o->image->fault = *err;
	return (HWTD_OK);
}

static bool
has_dwarf(const struct hwtdi_elf_tables *t)
{
	GElf_Shdr sh;

	for (uint32_t i = 1; hwtdi_elf_section(t, i, &sh); i++) {
		const char *name = hwtdi_elf_section_name(t, &sh);

		if (sh.sh_type != SHT_NOBITS &&
		    (strcmp(name, ".debug_info") == 0 ||
			strcmp(name, ".zdebug_info") == 0))
			return (true);
	}
	return (false);
}

/* The code: as the trace has it, or in its file. */

static void
take_bytes(struct opening *o, const char *path, const uint8_t *bytes,
    uint64_t n_bytes)
{
	o->path = path;
	o->bytes = bytes;
	o->n_bytes = n_bytes;
	o->is_elf = hwtdi_elf_tables_init(&o->tables, path, bytes, n_bytes,
			NULL) == HWTD_OK;
}

/* An archive keeps code; symbols lie behind it. */
static bool
has_sections(const struct opening *o)
{
	return (o->is_elf && o->tables.n_sections > 1 &&
	    o->tables.n_sections == o->tables.claimed_sections &&
	    o->tables.names != 0);
}

static int
map_file(struct hwtdi_image_found *found, const char *path,
    struct hwtd_error *err)
{
	int rc;

	if (strlen(path) >= sizeof(found->path))
		return (HWTD_E_NOT_FOUND);
	strcpy(found->path, path);
	rc = hwtdi_mapped_file_open(&found->map, path, err);
	found->bytes = (uint8_t *)(uintptr_t)found->map.bytes;
	found->n_bytes = found->map.n;
	return (rc);
}

/*
 * Whether a file is another one than that of which an archive holds code, where
 * no build-id tells.  What it does not hold is 0 there.
 */
static bool
is_other(const struct opening *o, const struct hwtdi_image_found *found)
{
	static const uint8_t zeros[PAGE];
	uint64_t n;

	if (found->verdict != HWTDI_IMAGE_UNCHECKED)
		return (false);
	for (uint64_t off = 0; off < o->held.n_bytes; off += n) {
		n = o->held.n_bytes - off < PAGE ? o->held.n_bytes - off
						 : PAGE;
		if (memcmp(o->held.bytes + off, zeros, (size_t)n) == 0)
			continue;
		if (off > found->n_bytes || n > found->n_bytes - off ||
		    memcmp(o->held.bytes + off, found->bytes + off,
			(size_t)n) != 0)
			return (true);
	}
	return (false);
}

static int
find_code(struct opening *o)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_image_places places = o->search->places;
	int rc;

	if (o->held.bytes != NULL)
		take_bytes(o, o->held.name, o->held.bytes, o->held.n_bytes);
	o->is_file = o->held.path != NULL;
	if (o->held.path == NULL || has_sections(o)) {
		if (o->held.path != NULL)
			o->path = o->held.path;
		return (HWTD_OK);
	}
	o->image->code = hwtdi_zalloc(o->ctx, sizeof(*o->image->code));
	if (o->image->code == NULL)
		return (hwtdi_fail_nomem(o->err, sizeof(*o->image->code)));
	places.map = true;
	/* What the caller named is where it says, from the working folder on. */
	if (!o->named)
		rc = map_file(o->image->code, o->held.path, &inner);
	else
		rc = hwtdi_image_search(o->image->code, o->ctx, o->held.path,
		    &o->build_id, &places, &inner);
	/* One of another build has other symbols. */
	if (rc == HWTD_OK && o->is_sparse && is_other(o, o->image->code)) {
		rc = hwtdi_fail(&inner, HWTD_E_NOT_FOUND,
		    "%.120s: its code is not that of the trace; give the file"
		    " that ran",
		    o->image->code->path);
		o->image->fault = inner;
	}
	if (rc == HWTD_OK && o->image->code->verdict != HWTDI_IMAGE_MISMATCH)
		take_bytes(o, o->image->code->path, o->image->code->bytes,
		    o->image->code->n_bytes);
	return (hwtdi_fail_is_final(rc) ? note(o, rc, &inner) : HWTD_OK);
}

/* Debug information in a file of its own. */

static int
find_debug(struct opening *o)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_elf_file elf;
	int rc;

	rc = hwtdi_elf_file_init(&elf, o->ctx, o->path, o->bytes, o->n_bytes,
	    &inner);
	if (rc != HWTD_OK)
		return (note(o, rc, &inner));
	if (elf.build_id.n == 0)
		elf.build_id = o->build_id;
	/* Nothing is beside what is no file. */
	if (!o->is_file)
		elf.debug_link[0] = '\0';
	o->image->debug = hwtdi_zalloc(o->ctx, sizeof(*o->image->debug));
	if (o->image->debug == NULL)
		rc = hwtdi_fail_nomem(o->err, sizeof(*o->image->debug));
	else
		rc = note(o,
		    hwtdi_image_search_debug(o->image->debug, o->ctx, o->path,
			&elf, &o->search->places, &inner),
		    &inner);
	hwtdi_elf_file_fini(&elf, o->ctx);
	if (rc == HWTD_OK && o->image->debug->verdict == HWTDI_IMAGE_MISMATCH)
		hwtdi_image_found_fini(o->image->debug, o->ctx);
	return (rc);
}

/* Symbols that were packed into the file: those that are not for linking. */
static int
add_packed(struct opening *o)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_error why = { .size = sizeof(why) };
	struct hwtdi_unpacking what = { .packing = HWTDI_PACKED_XZ,
		.most = PACKED_MAX,
		.name = o->path };
	struct hwtdi_elf_tables tables;
	GElf_Shdr sh;
	uint32_t i = 1;
	int rc;

	while (hwtdi_elf_section(&o->tables, i, &sh) &&
	    strcmp(hwtdi_elf_section_name(&o->tables, &sh),
		".gnu_debugdata") != 0)
		i++;
	if (!hwtdi_elf_section(&o->tables, i, &sh) ||
	    sh.sh_type == SHT_NOBITS || sh.sh_offset > o->n_bytes ||
	    sh.sh_size > o->n_bytes - sh.sh_offset)
		return (HWTD_OK);
	what.bytes = o->bytes + sh.sh_offset;
	what.n = sh.sh_size;
	rc = hwtdi_unpack_bytes(o->ctx, &what, &o->image->packed,
	    &o->image->n_packed, &inner);
	if (rc == HWTD_OK)
		rc = hwtdi_elf_tables_init(&tables, o->path, o->image->packed,
		    o->image->n_packed, &inner);
	if (hwtdi_fail_is_final(rc))
		return (note(o, rc, &inner));
	if (rc != HWTD_OK)
		return (note(o,
		    hwtdi_fail_at(&why, rc, inner.offset,
			"%.90s: .gnu_debugdata+0x%" PRIx64 ": %s", o->path,
			inner.offset == UINT64_MAX ? 0 : inner.offset,
			hwtdi_fail_cause(&inner, o->path)),
		    &why));
	return (hwtdi_elf_names_add(&o->image->names, o->ctx, &tables,
	    o->err));
}

static int
add_names(struct opening *o)
{
	const struct hwtdi_image_found *debug = o->image->debug;
	struct hwtdi_elf_tables tables;
	int rc = HWTD_OK;

	if (debug != NULL && debug->bytes != NULL &&
	    hwtdi_elf_tables_init(&tables, debug->path, debug->bytes,
		debug->n_bytes, NULL) == HWTD_OK)
		rc = hwtdi_elf_names_add(&o->image->names, o->ctx, &tables,
		    o->err);
	if (rc == HWTD_OK && !hwtdi_elf_names_complete(&o->image->names))
		rc = add_packed(o);
	return (rc);
}

static int
open_dwarf(struct opening *o)
{
	const struct hwtdi_image_found *debug = o->image->debug;
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_source source = { .name = o->path,
		.path = o->is_file ? o->path : NULL,
		.bytes = o->bytes,
		.n_bytes = o->n_bytes,
		.code_path = o->is_file ? o->path : NULL,
		.code = &o->tables,
		.places = &o->search->places };

	if (debug != NULL && debug->bytes != NULL) {
		source.name = source.path = debug->path;
		source.bytes = debug->bytes;
		source.n_bytes = debug->n_bytes;
	}
	return (note(o,
	    hwtdi_dwarf_image_open(o->ctx, &source, &o->image->dwarf, &inner),
	    &inner));
}

int
hwtdi_symbol_image_open(struct hwtdi_symbol_image *image,
    const struct hwtd_trace *trace, uint32_t no,
    const struct hwtdi_symbol_search *search, struct hwtd_error *err)
{
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct opening o = { .image = image,
		.ctx = hwtdi_trace_library(trace),
		.search = search,
		.err = err };
	bool debug;
	int rc;

	memset(image, 0, sizeof(*image));
	image->fault.size = sizeof(image->fault);
	hwtdi_trace_image_source(trace, no, &o.held);
	o.named = trace->images[no].named;
	o.is_sparse = trace->images[no].sparse && o.held.bytes != NULL;
	if (hwtd_trace_image(trace, no, &info) == HWTD_OK &&
	    info.n_build_id <= HWTDI_BUILD_ID_MAX) {
		o.build_id.n = info.n_build_id;
		memcpy(o.build_id.bytes, info.build_id, info.n_build_id);
	}
	rc = find_code(&o);
	if (rc == HWTD_OK && o.is_elf)
		rc = hwtdi_elf_names_init(&image->names, o.ctx, &o.tables,
		    err);
	debug = o.is_elf && search->debug_files &&
	    (!hwtdi_elf_names_complete(&image->names) ||
		(search->lines && !has_dwarf(&o.tables)));
	if (rc == HWTD_OK && debug)
		rc = find_debug(&o);
	if (rc == HWTD_OK && o.is_elf)
		rc = add_names(&o);
	if (rc == HWTD_OK && o.is_elf && search->lines)
		rc = open_dwarf(&o);
	if (rc != HWTD_OK) {
		hwtdi_symbol_image_fini(image, o.ctx);
		return (rc);
	}
	if (o.is_elf)
		image->tables = o.tables;
	image->opened = true;
	return (HWTD_OK);
}

static void
free_found(struct hwtdi_image_found *found, struct hwtd_context *ctx)
{
	if (found == NULL)
		return;
	hwtdi_image_found_fini(found, ctx);
	hwtdi_free(ctx, found, sizeof(*found));
}

void
hwtdi_symbol_image_fini(struct hwtdi_symbol_image *image,
    struct hwtd_context *ctx)
{
	if (image->dwarf != NULL)
		hwtdi_dwarf_image_close(image->dwarf);
	hwtdi_elf_names_fini(&image->names, ctx);
	hwtdi_free(ctx, image->packed, (size_t)image->n_packed);
	free_found(image->debug, ctx);
	free_found(image->code, ctx);
	memset(image, 0, sizeof(*image));
}
