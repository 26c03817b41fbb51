/*
 * What filters by address find in the file of an image.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "capture/address_filter_internal.h"
#include "image/elf_functions.h"

static void
give_back(struct hwtd_context *ctx, struct hwtdi_image_found **found)
{
	if (*found == NULL)
		return;
	hwtdi_image_found_fini(*found, ctx);
	hwtdi_free(ctx, *found, sizeof(**found));
	*found = NULL;
}

int
hwtdi_filter_file_open(struct hwtdi_filter_file *file,
    struct hwtd_context *ctx, const char *path, const char *known,
    const struct hwtdi_image_places *places, struct hwtd_error *err)
{
	static const struct hwtdi_image_places as_is = { .as_is = true };
	struct hwtdi_image_found *found;
	int rc;

	memset(file, 0, sizeof(*file));
	file->name = path;
	file->places = places != NULL ? places : &as_is;
	found = hwtdi_zalloc(ctx, sizeof(*found));
	if (found == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*found)));
	if (known != NULL)
		rc = hwtdi_image_search(found, ctx, known, NULL, &as_is, err);
	else
		rc = hwtdi_image_search(found, ctx, path, NULL, file->places,
		    err);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, found, sizeof(*found));
		return (rc);
	}
	file->found = found;
	rc = hwtdi_elf_tables_init(&file->tables, found->path, found->bytes,
	    found->n_bytes, err);
	if (rc == HWTD_OK && found->elf.type == HWTDI_ELF_CORE)
		rc = hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%.120s: a copy of memory, not the file of an image",
		    found->path);
	if (rc != HWTD_OK)
		hwtdi_filter_file_close(file, ctx);
	return (rc);
}

void
hwtdi_filter_file_close(struct hwtdi_filter_file *file,
    struct hwtd_context *ctx)
{
	give_back(ctx, &file->found);
	give_back(ctx, &file->debug);
}

/*
 * Debug information of a file without SHT_SYMTAB; file->debug stays NULL if there
 * is none.
 */
static int
open_debug(struct hwtdi_filter_file *file, struct hwtd_context *ctx,
    struct hwtd_error *err)
{
	struct hwtdi_image_found *debug;
	int rc;

	if (file->asked_debug)
		return (HWTD_OK);
	file->asked_debug = true;
	debug = hwtdi_zalloc(ctx, sizeof(*debug));
	if (debug == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*debug)));
	rc = hwtdi_image_search_debug(debug, ctx, file->found->path,
	    &file->found->elf, file->places, NULL);
	if (rc == HWTD_E_NOT_FOUND && file->name[0] == '/' &&
	    strcmp(file->name, file->found->path) != 0)
		rc = hwtdi_image_search_debug(debug, ctx, file->name,
		    &file->found->elf, file->places, NULL);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, debug, sizeof(*debug));
		return (rc == HWTD_E_NOMEM
			? hwtdi_fail_nomem(err, sizeof(*debug))
			: HWTD_OK);
	}
	file->debug = debug;
	if (debug->verdict == HWTDI_IMAGE_MISMATCH ||
	    hwtdi_elf_tables_init(&file->debug_tables, debug->path,
		debug->bytes, debug->n_bytes, NULL) != HWTD_OK)
		give_back(ctx, &file->debug);
	return (HWTD_OK);
}

/* Messages. */

static int
no_function(const struct hwtdi_filter_file *file, const char *name,
    const struct hwtdi_elf_functions *functions, struct hwtd_error *err)
{
	struct hwtdi_near_names near;
	const char *base = strrchr(file->found->path, '/');
	char more[160] = "";

	base = base != NULL ? base + 1 : file->found->path;
	if (functions->indirect)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%.60s: \"%.60s\" is an indirect function; name the one "
		    "that it leads to on this machine",
		    base, name));
	if (functions->data)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "%.60s: \"%.60s\" is no code", base, name));
	hwtdi_near_names_init(&near, name);
	if (file->debug != NULL)
		hwtdi_elf_functions_near(&file->debug_tables, &near);
	hwtdi_elf_functions_near(&file->tables, &near);
	if (functions->elsewhere)
		hwtdi_filter_append(more, sizeof(more),
		    ", it is of another image");
	for (size_t i = 0; i < near.n; i++)
		hwtdi_filter_append(more, sizeof(more), "%s\"%.30s\"",
		    i == 0		 ? "; there is "
			: i + 1 < near.n ? ", "
					 : " and ",
		    near.names[i]);
	if (!functions->complete)
		hwtdi_filter_append(more, sizeof(more),
		    "; it is stripped: say where its debug files are");
	return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
	    "%.40s: no function \"%.40s\"%s", base, name, more));
}

/* Ranges. */

/* [first, last] of a part, where it lies. */
static int
add_piece(struct hwtdi_address_filter *filter, struct hwtd_context *ctx,
    const struct hwtdi_elf_code_part *part, uint64_t first, uint64_t last,
    struct hwtd_error *err)
{
	return (hwtdi_address_filter_add_range(filter, ctx,
	    part->address + (first - part->first),
	    part->address + (last - part->first), err));
}

static int
find_in(struct hwtdi_elf_functions *functions, struct hwtd_context *ctx,
    struct hwtdi_filter_file *file, const struct hwtdi_elf_code *code,
    const char *name, struct hwtd_error *err)
{
	bool data, elsewhere;
	int rc;

	rc = hwtdi_elf_functions_find(functions, ctx, code, &file->tables,
	    name, err);
	if (rc != HWTD_OK || functions->complete)
		return (rc);
	/* Local ones are in debug files only, also if there is a global one. */
	rc = open_debug(file, ctx, err);
	if (rc != HWTD_OK || file->debug == NULL)
		return (rc);
	data = functions->data;
	elsewhere = functions->elsewhere;
	hwtdi_elf_functions_fini(functions, ctx);
	rc = hwtdi_elf_functions_find(functions, ctx, code,
	    &file->debug_tables, name, err);
	functions->data |= data;
	functions->elsewhere |= elsewhere;
	return (rc);
}

static int
find_functions(struct hwtdi_address_filter *filter, struct hwtd_context *ctx,
    struct hwtdi_filter_file *file, const struct hwtdi_elf_code *code,
    struct hwtd_error *err)
{
	struct hwtdi_elf_functions functions;
	int rc;

	memset(&functions, 0, sizeof(functions));
	rc = find_in(&functions, ctx, file, code, filter->function, err);
	if (rc == HWTD_OK && (functions.n == 0 || functions.indirect))
		rc = no_function(file, filter->function, &functions, err);
	for (size_t i = 0; rc == HWTD_OK && i < functions.n; i++) {
		const struct hwtdi_elf_function *f = &functions.at[i];
		const struct hwtdi_elf_code_part
		    *part = hwtdi_elf_code_find(code, f->first, f->last);

		filter->guessed |= f->guessed;
		rc = add_piece(filter, ctx, part, f->first, f->last, err);
	}
	hwtdi_elf_functions_fini(&functions, ctx);
	return (rc);
}

static int
find_addresses(struct hwtdi_address_filter *filter, struct hwtd_context *ctx,
    const struct hwtdi_filter_file *file, const struct hwtdi_elf_code *code,
    struct hwtd_error *err)
{
	const struct hwtdi_elf_code_part *part;

	part = hwtdi_elf_code_find(code, filter->first, filter->last);
	if (part != NULL)
		return (add_piece(filter, ctx, part, filter->first,
		    filter->last, err));
	part = hwtdi_elf_code_find(code, filter->first, filter->first);
	if (part != NULL)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "%.80s: the code at %#" PRIx64 " ends at %#" PRIx64
		    ", before %#" PRIx64,
		    file->found->path, filter->first, part->last + 1,
		    filter->last + 1));
	return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
	    "%.80s: no code at %#" PRIx64 "; addresses are those of the file",
	    file->found->path, filter->first));
}

static int
find_all(struct hwtdi_address_filter *filter, struct hwtd_context *ctx,
    const struct hwtdi_filter_file *file, const struct hwtdi_elf_code *code,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (code->n == 0)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "%.120s: has no code that is loaded", file->found->path));
	for (size_t i = 0; rc == HWTD_OK && i < code->n; i++) {
		const struct hwtdi_elf_code_part *p = &code->parts[i];

		if (p->padded && filter->n_ranges > 0)
			filter->ranges[filter->n_ranges - 1].end = p->address +
			    (p->last - p->first);
		else
			rc = add_piece(filter, ctx, p, p->first, p->last, err);
	}
	return (rc);
}

int
hwtdi_address_filter_find(struct hwtdi_address_filter *filter,
    struct hwtd_context *ctx, struct hwtdi_filter_file *file,
    const struct hwtdi_elf_code *code, struct hwtd_error *err)
{
	filter->found = false;
	filter->guessed = false;
	filter->n_ranges = 0;
	switch (filter->what) {
	case HWTDI_FILTER_FUNCTION:
		return (find_functions(filter, ctx, file, code, err));
	case HWTDI_FILTER_ADDRESSES:
		return (find_addresses(filter, ctx, file, code, err));
	default:
		return (find_all(filter, ctx, file, code, err));
	}
}
