/*
 * The file that several files of debug information share.
 *
 * Sources: GNU, ".gnu_debugaltlink" (a name and a build-id), as dwz(1) writes it;
 * DWARF 5, "DWARF Supplementary Object Files" (7.3.6).
 */
#include "image/dwarf_shared.h"

#include <string.h>

#include "base/fail.h"
#include "image/dwarf_bytes.h"
#include "image/dwarf_image.h"

struct link {
	const char *name;
	struct hwtdi_build_id build_id;
};

/* DWARF 5: a version, 0 for the file that shares, then name, length and id. */
static bool
read_sup(struct hwtdi_dwarf_reader *r, struct link *out)
{
	uint64_t n;

	if (hwtdi_dw_uint(r, 2) != 5 || hwtdi_dw_u8(r) != 0)
		return (false);
	out->name = hwtdi_dw_text(r);
	n = hwtdi_dw_uleb(r);
	if (n > hwtdi_dw_left(r))
		return (false);
	r->end = r->at + n;
	return (true);
}

/* Which file that is; false: none. */
static bool
read_link(const struct hwtdi_dwarf_file *file, struct link *out)
{
	const struct hwtdi_elf_tables *t = &file->tables;
	struct hwtdi_dwarf_reader r = { .big = file->big };
	const char *name = NULL;
	GElf_Shdr sh;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 1; hwtdi_elf_section(t, i, &sh); i++) {
		name = hwtdi_elf_section_name(t, &sh);
		if (strcmp(name, ".gnu_debugaltlink") == 0 ||
		    strcmp(name, ".debug_sup") == 0)
			break;
		name = NULL;
	}
	if (name == NULL || sh.sh_type == SHT_NOBITS ||
	    sh.sh_offset > t->n_bytes ||
	    sh.sh_size > t->n_bytes - sh.sh_offset)
		return (false);
	r.base = r.at = t->bytes + sh.sh_offset;
	r.end = r.at + sh.sh_size;
	if (name[1] == 'd' && !read_sup(&r, out))
		return (false);
	if (name[1] == 'g')
		out->name = hwtdi_dw_text(&r);
	if (r.bad || out->name == NULL || out->name[0] == '\0' ||
	    hwtdi_dw_left(&r) > HWTDI_BUILD_ID_MAX)
		return (false);
	out->build_id.n = (uint32_t)hwtdi_dw_left(&r);
	memcpy(out->build_id.bytes, r.at, out->build_id.n);
	return (true);
}

static int
open_found(struct hwtdi_dwarf_shared *shared, struct hwtd_context *ctx)
{
	const struct hwtdi_dwarf_source source = {
		.name = shared->found->path,
		.bytes = shared->found->bytes,
		.n_bytes = shared->found->n_bytes,
		.is_shared = true,
	};
	int rc;

	rc = hwtdi_dwarf_image_open(ctx, &source, &shared->image,
	    &shared->fault);
	return (rc == HWTD_E_NOT_FOUND
		? hwtdi_fail(&shared->fault, rc, "%.120s: no DWARF",
		      shared->found->path)
		: rc);
}

int
hwtdi_dwarf_shared_open(struct hwtdi_dwarf_shared *shared,
    const struct hwtdi_dwarf_file *file,
    const struct hwtdi_image_places *places, struct hwtd_error *err)
{
	const struct hwtdi_image_places nowhere = { 0 };
	struct hwtd_context *ctx = file->ctx;
	struct link link;
	int rc;

	if (!read_link(file, &link))
		return (HWTD_OK);
	shared->fault.size = sizeof(shared->fault);
	shared->found = hwtdi_zalloc(ctx, sizeof(*shared->found));
	if (shared->found == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*shared->found)));
	rc = hwtdi_image_search_shared(shared->found, ctx, file->path,
	    link.name, &link.build_id, places != NULL ? places : &nowhere,
	    &shared->fault);
	if (rc == HWTD_OK && shared->found->verdict == HWTDI_IMAGE_MATCH)
		rc = open_found(shared, ctx);
	else if (!hwtdi_fail_is_final(rc))
		rc = hwtdi_fail(&shared->fault, HWTD_E_NOT_FOUND,
		    "%.80s: names are in %.100s, which is not there; add its "
		    "folder to the roots",
		    file->path, link.name);
	return (hwtdi_fail_is_final(rc) ? hwtdi_fail_pass(err, &shared->fault)
					: HWTD_OK);
}

void
hwtdi_dwarf_shared_close(struct hwtdi_dwarf_shared *shared,
    struct hwtd_context *ctx)
{
	if (shared->image != NULL)
		hwtdi_dwarf_image_close(shared->image);
	if (shared->found != NULL) {
		hwtdi_image_found_fini(shared->found, ctx);
		hwtdi_free(ctx, shared->found, sizeof(*shared->found));
	}
	memset(shared, 0, sizeof(*shared));
}
