/*
 * Where the bytes of an image's file have their addresses.
 *
 * Source: ELF gABI, "Program Header".
 */
#include "trace/image_layout.h"

#include <hwtdecode/image.h>
#include <string.h>

#include "base/fail.h"
#include "image/elf_tables.h"
#include "image/image_search.h"
#include "trace/trace_internal.h"

static int
add_segment(struct hwtdi_image_layout *layout, const char *name,
    const GElf_Phdr *ph, struct hwtd_error *err)
{
	int rc;

	if (layout->n_segments == HWTDI_LAYOUT_SEGMENTS)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%.120s: more than %u segments", name,
		    HWTDI_LAYOUT_SEGMENTS));
	rc = hwtdi_array_grow(layout->ctx, &layout->segments,
	    &layout->cap_segments, layout->n_segments + 1,
	    sizeof(*layout->segments), err);
	if (rc == HWTD_OK)
		layout->segments
		    [layout->n_segments++] = (struct hwtdi_layout_segment){
			.vaddr = ph->p_vaddr,
			.file_off = ph->p_offset,
			.file_bytes = ph->p_filesz,
			.executable = (ph->p_flags & PF_X) != 0
		};
	return (rc);
}

static int
read_segments(struct hwtdi_image_layout *layout,
    const struct hwtdi_elf_tables *t, const char *name, struct hwtd_error *err)
{
	bool executable = false;
	GElf_Phdr ph;
	int rc = HWTD_OK;

	layout->is_fixed = t->header.e_type == ET_EXEC;
	layout->is_program = layout->is_fixed;
	for (uint32_t i = 0; hwtdi_elf_segment(t, i, &ph) && rc == HWTD_OK;
	     i++) {
		if (ph.p_type == PT_INTERP)
			layout->is_program = true;
		if (ph.p_type != PT_LOAD)
			continue;
		executable = executable || (ph.p_flags & PF_X) != 0;
		rc = add_segment(layout, name, &ph, err);
	}
	if (rc != HWTD_OK || executable)
		return (rc);
	return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
	    "%.120s: no program and no library: it has no executable segment",
	    name));
}

/* Of bytes that the trace has; false: they have no headers. */
static bool
has_headers(struct hwtdi_elf_tables *t, const char *name, const uint8_t *bytes,
    uint64_t n)
{
	return (bytes != NULL &&
	    hwtdi_elf_tables_init(t, name, bytes, n, NULL) == HWTD_OK &&
	    t->n_segments > 0 && t->n_segments == t->claimed_segments);
}

/* Of a file that the caller named, from the working folder on. */
static int
map_file(struct hwtdi_image_found *found, const char *path,
    struct hwtd_error *err)
{
	int rc = hwtdi_mapped_file_open(&found->map, path, err);

	if (rc != HWTD_OK)
		hwtdi_fail_prefix(err, "%.120s", path);
	found->bytes = (uint8_t *)(uintptr_t)found->map.bytes;
	found->n_bytes = found->map.n;
	return (rc);
}

static int
search_file(struct hwtdi_image_found *found, const struct hwtd_trace *trace,
    uint32_t image, struct hwtd_error *err)
{
	const struct hwtd_search *search = &trace->search.o;
	const struct hwtdi_image *held = &trace->images[image];
	const struct hwtdi_image_places places = {
		.build_id_dirs = search->build_id_dirs,
		.n_build_id_dirs = search->n_build_id_dirs,
		.roots = search->roots,
		.n_roots = search->n_roots,
		.as_is = (search->flags & HWTD_SEARCH_NO_ORIGINAL) == 0,
		.dirs = search->dirs,
		.n_dirs = search->n_dirs,
		.release = trace->text.release,
		.map = true,
	};
	struct hwtdi_build_id id = { .n = 0 };
	int rc;

	if (held->n_build_id <= sizeof(id.bytes)) {
		id.n = held->n_build_id;
		memcpy(id.bytes, held->build_id, id.n);
	}
	rc = hwtdi_image_search(found, trace->library, held->path, &id,
	    &places, err);
	if (rc == HWTD_OK && found->verdict == HWTDI_IMAGE_MISMATCH)
		rc = hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "%.120s: only a file of another build is there",
		    held->path);
	return (rc);
}

static int
read_file(struct hwtdi_image_layout *layout, const struct hwtd_trace *trace,
    uint32_t image, const struct hwtdi_image_source *held,
    struct hwtd_error *err)
{
	struct hwtdi_image_found *found = hwtdi_zalloc(layout->ctx,
	    sizeof(*found));
	struct hwtdi_elf_tables t;
	int rc;

	if (found == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*found)));
	if (trace->images[image].named)
		rc = search_file(found, trace, image, err);
	else
		rc = map_file(found, held->path, err);
	if (rc == HWTD_OK)
		rc = hwtdi_elf_tables_init(&t, held->name, found->bytes,
		    found->n_bytes, err);
	if (rc == HWTD_OK)
		rc = read_segments(layout, &t, held->name, err);
	hwtdi_image_found_fini(found, layout->ctx);
	hwtdi_free(layout->ctx, found, sizeof(*found));
	return (rc);
}

int
hwtdi_image_layout_init(struct hwtdi_image_layout *layout,
    const struct hwtd_trace *trace, uint32_t image, struct hwtd_error *err)
{
	struct hwtdi_image_source held;
	struct hwtdi_elf_tables t;
	int rc;

	memset(layout, 0, sizeof(*layout));
	layout->ctx = trace->library;
	hwtdi_trace_image_source(trace, image, &held);
	if (has_headers(&t, held.name, held.bytes, held.n_bytes))
		rc = read_segments(layout, &t, held.name, err);
	else if (held.path != NULL)
		rc = read_file(layout, trace, image, &held, err);
	else
		rc = hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%.120s: no ELF file, so that its code has no addresses "
		    "of its own",
		    held.name);
	if (rc == HWTD_E_UNRECOGNIZED)
		rc = hwtdi_fail(err, HWTD_E_UNSUPPORTED, "%.120s: no ELF file",
		    held.name);
	if (rc != HWTD_OK)
		hwtdi_image_layout_fini(layout);
	return (rc);
}

void
hwtdi_image_layout_fini(struct hwtdi_image_layout *layout)
{
	if (layout->ctx == NULL)
		return;
	hwtdi_array_free(layout->ctx, layout->segments, layout->cap_segments,
	    sizeof(*layout->segments));
	memset(layout, 0, sizeof(*layout));
}

bool
hwtdi_image_layout_address(const struct hwtdi_image_layout *layout,
    uint64_t file_off, uint64_t *address_out)
{
	for (size_t i = 0; i < layout->n_segments; i++) {
		const struct hwtdi_layout_segment *s = &layout->segments[i];

		/* Pages are shared at the ends of segments; code is not. */
		if (!s->executable || file_off < s->file_off ||
		    file_off - s->file_off >= s->file_bytes)
			continue;
		*address_out = s->vaddr + (file_off - s->file_off);
		return (true);
	}
	return (false);
}
