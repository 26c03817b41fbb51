/*
 * The files that records name: found, read, and laid out once each.
 */
#include "trace/trace_image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "trace/import/side_file.h"

/* Parts of one file adjoin: by path, then by build-id, then by number. */
static int
compare_files(const struct hwtdi_file_part *part, const char *path,
    const uint8_t *build_id, uint32_t n_build_id)
{
	int order = strcmp(part->path, path);

	if (order == 0 && part->n_build_id != n_build_id)
		order = part->n_build_id < n_build_id ? -1 : 1;
	return (order != 0 || n_build_id == 0
		? order
		: memcmp(part->build_id, build_id, n_build_id));
}

static int
compare_parts(const void *va, const void *vb)
{
	const struct hwtdi_file_part *a = va, *b = vb;
	int order = compare_files(a, b->path, b->build_id, b->n_build_id);

	return (order != 0 ? order : (a->no > b->no) - (a->no < b->no));
}

static int
add_part(struct hwtd_context *ctx, struct hwtdi_part_list *list,
    const struct hwtdi_image *part, uint32_t no, struct hwtd_error *err)
{
	const struct hwtdi_file_part new = { .path = part->path,
		.build_id = part->build_id,
		.n_build_id = part->n_build_id,
		.no = no,
		.image = HWTD_NO_ID };
	int rc;

	rc = hwtdi_array_grow(ctx, &list->at, &list->cap, list->n + 1,
	    sizeof(new), err);
	if (rc == HWTD_OK)
		list->at[list->n++] = new;
	return (rc);
}

int
hwtdi_named_files_init(struct hwtdi_named_files *files,
    struct hwtd_trace *trace, struct hwtd_error *err)
{
	struct hwtdi_part_list *const lists[2] = { &files->parts,
		&files->linked };
	int rc = HWTD_OK;

	memset(files, 0, sizeof(*files));
	files->trace = trace;
	for (size_t i = 0; rc == HWTD_OK && i < trace->n_parts; i++) {
		const struct hwtdi_image *part = &trace->parts[i];

		if (part->same_file ||
		    (part->bytes != NULL &&
			part->n_bytes <= UINT64_MAX - part->offset))
			rc = add_part(trace->library, lists[part->linked],
			    part, (uint32_t)i, err);
	}
	for (size_t k = 0; k < 2; k++)
		if (lists[k]->n > 1)
			qsort(lists[k]->at, lists[k]->n, sizeof(*lists[k]->at),
			    compare_parts);
	return (rc);
}

void
hwtdi_named_files_fini(struct hwtdi_named_files *files)
{
	struct hwtd_context *ctx = files->trace->library;

	for (size_t i = 0; i < files->n; i++) {
		if (files->files[i]->is_elf)
			hwtdi_elf_file_fini(&files->files[i]->elf, ctx);
		hwtdi_free(ctx, files->files[i], sizeof(*files->files[i]));
	}
	hwtdi_array_free(ctx, files->files, files->cap, sizeof(*files->files));
	hwtdi_index_fini(&files->index, ctx);
	hwtdi_array_free(ctx, files->parts.at, files->parts.cap,
	    sizeof(*files->parts.at));
	hwtdi_array_free(ctx, files->linked.at, files->linked.cap,
	    sizeof(*files->linked.at));
}

static bool
is_file(const struct hwtdi_named_files *files, uint32_t no, const char *name,
    const uint8_t *build_id, uint32_t n_build_id)
{
	const struct hwtdi_image
	    *image = &files->trace->images[files->files[no]->image];

	return (strcmp(image->path, name) == 0 &&
	    image->n_wanted_id == n_build_id &&
	    memcmp(image->build_id, build_id, n_build_id) == 0);
}

/* The first part of a file, or the place where it would be. */
static size_t
find_file(const struct hwtdi_part_list *list, const char *path,
    const uint8_t *build_id, uint32_t n_build_id)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_files(&list->at[middle], path, build_id,
			n_build_id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

/*
 * The parts of a file that a record names; NULL: there are none.  Where no
 * build-id is asked for the first file of the name is taken, and where no
 * other is there one whose build-id is not known.
 */
static struct hwtdi_file_part *
parts_of(const struct hwtdi_named_files *files, const char *name,
    const uint8_t *build_id, uint32_t n_build_id)
{
	struct hwtdi_file_part *const parts = files->parts.at;
	const struct hwtdi_part_list *list = &files->parts;
	size_t i = find_file(list, name, build_id, n_build_id);
	const struct hwtdi_image *part;
	size_t first = files->parts.n;

	if (n_build_id == 0) {
		for (; i < files->parts.n && strcmp(parts[i].path, name) == 0;
		     i++)
			if (first == files->parts.n ||
			    parts[i].no < parts[first].no)
				first = i;
	} else if (i < files->parts.n &&
	    compare_files(&parts[i], name, build_id, n_build_id) == 0) {
		first = i;
	} else {
		i = find_file(list, name, NULL, 0);
		if (i < files->parts.n &&
		    compare_files(&parts[i], name, NULL, 0) == 0)
			first = i;
	}
	if (first == files->parts.n)
		return (NULL);
	part = &files->trace->parts[parts[first].no];
	if (!part->same_file)
		return (&parts[first]);
	/* The file has other names, and this is where its parts are. */
	part = &files->trace->parts[part->file_part];
	first = find_file(list, part->path, part->build_id, part->n_build_id);
	if (first == files->parts.n ||
	    compare_files(&parts[first], part->path, part->build_id,
		part->n_build_id) != 0)
		return (NULL);
	return (&parts[first]);
}

/* The part at `*i` of the same file as `first`, and go behind it. */
static const struct hwtdi_image *
next_part(const struct hwtdi_named_files *files,
    const struct hwtdi_file_part *first, size_t *i)
{
	while (*i < files->parts.n &&
	    compare_files(&files->parts.at[*i], first->path, first->build_id,
		first->n_build_id) == 0) {
		const struct hwtdi_image
		    *part = &files->trace->parts[files->parts.at[(*i)++].no];

		if (!part->same_file)
			return (part);
	}
	return (NULL);
}

/* Parts of a file that were saved with the trace, put at their places. */
static int
read_parts(const struct hwtdi_named_files *files,
    const struct hwtdi_file_part *first, struct hwtdi_image *image,
    struct hwtd_error *err)
{
	struct hwtd_context *ctx = files->trace->library;
	const size_t begin = (size_t)(first - files->parts.at);
	const struct hwtdi_image *part;
	uint64_t end = 0;

	for (size_t i = begin; (part = next_part(files, first, &i)) != NULL;) {
		image->stranger |= part->stranger;
		if (part->offset + part->n_bytes > end)
			end = part->offset + part->n_bytes;
	}
	if (end == 0)
		return (HWTD_E_NOT_FOUND);
	if (end > ctx->max_image)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "parts of %.80s reach to %" PRIu64
		    "; max_image is %" PRIu64,
		    first->path, end, ctx->max_image));
	image->bytes = hwtdi_zalloc(ctx, (size_t)end);
	if (image->bytes == NULL)
		return (hwtdi_trace_no_room(ctx, end, err));
	image->n_bytes = end;
	for (size_t i = begin; (part = next_part(files, first, &i)) != NULL;)
		memcpy(image->bytes + part->offset, part->bytes,
		    (size_t)part->n_bytes);
	return (HWTD_OK);
}

/* The same, once for all names of the file. */
static int
take_parts(const struct hwtdi_named_files *files,
    const struct hwtdi_file_part *first, struct hwtdi_image *image,
    struct hwtd_error *err)
{
	int rc = HWTD_OK;

	if (first == NULL)
		return (HWTD_E_NOT_FOUND);
	if (first->image != HWTD_NO_ID) {
		const struct hwtdi_image *other = &files->trace
						       ->images[first->image];

		image->bytes = other->bytes;
		image->n_bytes = other->n_bytes;
		image->stranger = other->stranger;
		image->borrowed = true;
	} else {
		rc = read_parts(files, first, image, err);
	}
	if (rc != HWTD_OK)
		return (rc);
	image->sparse = true;
	image->state = HWTD_IMAGE_FOUND;
	/* It may be in a section, which is not there any more. */
	if (image->n_build_id == 0) {
		image->n_build_id = first->n_build_id;
		memcpy(image->build_id, first->build_id, first->n_build_id);
	}
	return (HWTD_OK);
}

const struct hwtdi_image *
hwtdi_named_files_next_linked(const struct hwtdi_named_files *files,
    const struct hwtdi_image *image, size_t *at_inout)
{
	const struct hwtdi_part_list *list = &files->linked;
	const size_t first = find_file(list, image->path, image->build_id,
	    image->n_build_id);

	if (*at_inout < first)
		*at_inout = first;
	if (*at_inout == list->n ||
	    compare_files(&list->at[*at_inout], image->path, image->build_id,
		image->n_build_id) != 0)
		return (NULL);
	return (&files->trace->parts[list->at[(*at_inout)++].no]);
}

/* Say what is wrong with a file: where, and why, without its name. */
static void
say_why(struct hwtdi_image *image, const struct hwtd_error *why,
    const char *name)
{
	char place[32] = "";

	if (why->offset != UINT64_MAX)
		(void)snprintf(place, sizeof(place), "byte 0x%" PRIx64 ": ",
		    why->offset);
	(void)snprintf(image->text, sizeof(image->text), "%s%.90s", place,
	    hwtdi_fail_cause(why, name));
}

/* Take over what a search found. */
static int
take_found(struct hwtd_context *ctx, struct hwtdi_image_found *found,
    struct hwtdi_image *image, struct hwtd_error *err)
{
	image->file = hwtdi_strdup(ctx, found->path);
	if (image->file == NULL)
		return (hwtdi_fail_nomem(err, strlen(found->path) + 1));
	if (found->verdict == HWTDI_IMAGE_MISMATCH) {
		image->state = HWTD_IMAGE_MISMATCH;
		(void)snprintf(image->text, sizeof(image->text),
		    "the file has another build-id");
		return (HWTD_OK);
	}
	image->state = HWTD_IMAGE_FOUND;
	image->bytes = found->bytes;
	image->n_bytes = found->n_bytes;
	found->bytes = NULL;
	found->n_bytes = 0;
	return (HWTD_OK);
}

void
hwtdi_named_files_places(const struct hwtdi_named_files *files,
    struct hwtdi_image_places *out)
{
	const struct hwtd_search *search = &files->trace->search.o;

	memset(out, 0, sizeof(*out));
	out->build_id_dirs = search->build_id_dirs;
	out->n_build_id_dirs = search->n_build_id_dirs;
	out->roots = search->roots;
	out->n_roots = search->n_roots;
	out->as_is = (search->flags & HWTD_SEARCH_NO_ORIGINAL) == 0;
	out->dirs = search->dirs;
	out->n_dirs = search->n_dirs;
	out->around = files->around;
	out->release = files->trace->text.release;
}

/* Look for the file and read it.  What cannot be had is said in the image. */
static int
read_file(struct hwtdi_named_files *files, const char *name,
    struct hwtdi_image *image, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_build_id wanted = { .n = image->n_wanted_id };
	struct hwtd_context *ctx = files->trace->library;
	struct hwtdi_image_places places;
	struct hwtdi_image_found *found;
	int rc;

	hwtdi_named_files_places(files, &places);
	/* What is part of the trace is not a file of some machine. */
	if (files->trace->owns_folder &&
	    hwtdi_side_is_beside(files->trace->file.path, name))
		places.as_is = true;
	memcpy(wanted.bytes, image->build_id, wanted.n);
	found = hwtdi_alloc(ctx, sizeof(*found));
	if (found == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*found)));
	rc = hwtdi_image_search(found, ctx, name, &wanted, &places, &inner);
	if (rc == HWTD_OK) {
		rc = take_found(ctx, found, image, err);
		hwtdi_image_found_fini(found, ctx);
	} else if (hwtdi_fail_is_final(rc)) {
		rc = hwtdi_fail_pass(err, &inner);
	} else {
		image->state = HWTD_IMAGE_MISSING;
		say_why(image, &inner, name);
		rc = HWTD_OK;
	}
	hwtdi_free(ctx, found, sizeof(*found));
	return (rc);
}

/* What is whole of a damaged file is used; the image says that it is. */
static void
say_damage(struct hwtdi_image *image, const struct hwtdi_elf_file *elf)
{
	/* Of a file that was saved in parts the rest is not missed. */
	if (elf->n_faults > 0 && !image->sparse)
		say_why(image, &elf->fault, image->path);
	else if (elf->type != HWTDI_ELF_REL && !elf->has_load)
		(void)snprintf(image->text, sizeof(image->text),
		    "it has no segment that is loaded");
}

static int
parse(struct hwtdi_named_files *files, struct hwtdi_named_file *file,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_image *image = &files->trace->images[file->image];
	int rc;

	if (image->bytes == NULL)
		return (HWTD_OK);
	rc = hwtdi_elf_file_init(&file->elf, files->trace->library,
	    image->path, image->bytes, image->n_bytes, &inner);
	if (hwtdi_fail_is_final(rc))
		return (hwtdi_fail_pass(err, &inner));
	/* Other files can be mapped as well. */
	file->is_elf = rc == HWTD_OK;
	if (rc != HWTD_OK && rc != HWTD_E_UNRECOGNIZED)
		say_why(image, &inner, image->path);
	if (rc == HWTD_OK)
		say_damage(image, &file->elf);
	if (rc == HWTD_OK && image->n_build_id == 0 &&
	    file->elf.build_id.n <= HWTD_MAX_BUILD_ID) {
		image->n_build_id = file->elf.build_id.n;
		memcpy(image->build_id, file->elf.build_id.bytes,
		    image->n_build_id);
	}
	return (HWTD_OK);
}

static int
add(struct hwtdi_named_files *files, const char *name, const uint8_t *build_id,
    uint32_t n_build_id, struct hwtdi_named_file *file, struct hwtd_error *err)
{
	struct hwtd_context *ctx = files->trace->library;
	struct hwtdi_image image = { .from_file = true, .named = true };
	struct hwtdi_file_part *first;
	int rc;

	image.n_wanted_id = n_build_id;
	image.n_build_id = n_build_id;
	memcpy(image.build_id, build_id, n_build_id);
	first = parts_of(files, name, build_id, n_build_id);
	rc = take_parts(files, first, &image, err);
	if (rc == HWTD_E_NOT_FOUND)
		rc = read_file(files, name, &image, err);
	image.own = files->trace->owns_folder && image.file != NULL &&
	    hwtdi_side_is_beside(files->trace->file.path, image.file);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_put_image(files->trace, &image, name,
		    &file->image, err);
	if (rc == HWTD_OK) {
		if (image.sparse && !image.borrowed)
			first->image = file->image;
		return (parse(files, file, err));
	}
	hwtdi_strfree(ctx, image.file);
	if (!image.borrowed)
		hwtdi_free(ctx, image.bytes, (size_t)image.n_bytes);
	return (rc);
}

int
hwtdi_named_files_get(struct hwtdi_named_files *files, const char *name,
    const uint8_t *build_id, uint32_t n_build_id,
    struct hwtdi_named_file **out, struct hwtd_error *err)
{
	struct hwtd_context *ctx = files->trace->library;
	const uint64_t hash = hwtdi_hash_more(hwtdi_hash(ctx, name,
						  strlen(name)),
	    build_id, n_build_id);
	struct hwtdi_named_file *file;
	size_t tries = 0;
	uint32_t no;
	int rc;

	while (hwtdi_index_next(&files->index, hash, &tries, &no))
		if (is_file(files, no, name, build_id, n_build_id)) {
			*out = files->files[no];
			return (HWTD_OK);
		}
	rc = hwtdi_index_reserve(&files->index, ctx, err);
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &files->files, &files->cap,
		    files->n + 1, sizeof(*files->files), err);
	if (rc != HWTD_OK)
		return (rc);
	file = hwtdi_zalloc(ctx, sizeof(*file));
	if (file == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*file)));
	rc = add(files, name, build_id, n_build_id, file, err);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, file, sizeof(*file));
		return (rc);
	}
	hwtdi_index_put(&files->index, hash, (uint32_t)files->n);
	files->files[files->n++] = file;
	*out = file;
	return (HWTD_OK);
}
