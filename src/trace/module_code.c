/*
 * Code of kernel modules that are objects (ET_REL).
 */
#include "trace/module_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/elf_patched.h"
#include "image/image_search.h"
#include "trace/space_builder.h"

/* Kernels, of virtual machines too, whose symbols are looked up. */
#define MAX_KERNELS 64u

/* An object while it is linked. */
struct linking {
	struct hwtdi_space_builder *b;
	const struct hwtdi_elf_symbols *symbols;
	struct hwtdi_module_link link;
	/* What is known, whatever a hole says. */
	struct hwtdi_module_hole *known;
	size_t n_known, cap_known;
	/* A symbol that nobody knows; borrowed from the file. */
	const char *missing;
	int rc;
};

/* Symbols. */

static bool
is_kernel_load(const struct hwtd_record *r, uint32_t vmid)
{
	return (hwtdi_record_vmid(r) == vmid &&
	    (r->type == HWTD_REC_KERNEL ||
		(r->type == HWTD_REC_MODULE_LOAD &&
		    (r->flags & HWTD_RECF_KERNEL_SPACE) != 0)) &&
	    (r->flags & HWTD_RECF_ADDR) != 0 && r->name != NULL);
}

/* The symbols of a kernel without any lie in a file of their own. */
static int
add_debug_file(struct hwtdi_space_builder *b,
    struct hwtdi_elf_symbols *symbols, const struct hwtdi_named_file *file,
    uint64_t bias)
{
	struct hwtdi_modules *m = &b->modules;
	const struct hwtdi_image *image = &b->trace->images[file->image];
	struct hwtd_context *ctx = b->trace->library;
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_image_places places;
	struct hwtdi_image_found *found;
	struct hwtdi_elf_tables tables;
	bool any;
	int rc;

	if (image->file == NULL)
		return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, &m->found, &m->cap_found, m->n_found + 1,
	    sizeof(*m->found), b->err);
	if (rc != HWTD_OK)
		return (rc);
	found = hwtdi_alloc(ctx, sizeof(*found));
	if (found == NULL)
		return (hwtdi_fail_nomem(b->err, sizeof(*found)));
	hwtdi_named_files_places(&b->files, &places);
	rc = hwtdi_image_search_debug(found, ctx, image->file, &file->elf,
	    &places, &inner);
	if (rc == HWTD_E_NOT_FOUND && strcmp(image->file, image->path) != 0)
		rc = hwtdi_image_search_debug(found, ctx, image->path,
		    &file->elf, &places, &inner);
	if (rc != HWTD_OK) {
		hwtdi_free(ctx, found, sizeof(*found));
		return (hwtdi_fail_is_final(rc)
			? hwtdi_fail_pass(b->err, &inner)
			: HWTD_OK);
	}
	m->found[m->n_found++] = found;
	if (found->verdict == HWTDI_IMAGE_MISMATCH ||
	    hwtdi_elf_tables_init(&tables, found->path, found->bytes,
		found->n_bytes, NULL) != HWTD_OK)
		return (HWTD_OK);
	return (hwtdi_elf_symbols_add_linked(symbols, ctx, &tables, bias, &any,
	    b->err));
}

static int
add_symbols(struct hwtdi_space_builder *b, struct hwtdi_elf_symbols *symbols,
    struct hwtdi_named_file *file, const struct hwtd_record *r)
{
	const struct hwtdi_image *image = &b->trace->images[file->image];
	struct hwtd_context *ctx = b->trace->library;
	struct hwtdi_elf_tables tables;
	struct hwtdi_elf_object object;
	uint64_t bias;
	bool found;
	int rc;

	if (image->bytes == NULL || !file->is_elf)
		return (HWTD_OK);
	if (file->elf.type == HWTDI_ELF_REL) {
		rc = hwtdi_elf_object_init(&object, ctx, image->path,
		    image->bytes, image->n_bytes, r->addr, NULL);
		if (rc != HWTD_OK)
			return (rc == HWTD_E_NOMEM
				? hwtdi_fail_nomem(b->err, sizeof(object))
				: HWTD_OK);
		rc = hwtdi_elf_symbols_add_object(symbols, ctx, &object,
		    b->err);
		hwtdi_elf_object_fini(&object, ctx);
		return (rc);
	}
	if (hwtdi_elf_tables_init(&tables, image->path, image->bytes,
		image->n_bytes, NULL) != HWTD_OK)
		return (HWTD_OK);
	bias = hwtdi_space_load_bias(b, r, file);
	rc = hwtdi_elf_symbols_add_linked(symbols, ctx, &tables, bias, &found,
	    b->err);
	return (rc == HWTD_OK && !found
		? add_debug_file(b, symbols, file, bias)
		: rc);
}

/*
 * Stock hwt(4) tells the modules before the kernel, so all records are gone
 * over when the first module is met.
 */
static int
add_all_symbols(struct hwtdi_space_builder *b, uint32_t vmid,
    struct hwtdi_elf_symbols *symbols)
{
	const struct hwtdi_record_list *list = &b->trace->records;
	struct hwtdi_named_file *file;
	int rc = HWTD_OK;

	for (size_t i = 0; i < b->files.n; i++)
		b->files.files[i]->n_offered = 0;
	for (size_t i = 0; i < list->n && rc == HWTD_OK; i++) {
		const struct hwtd_record *r = &list->records[i];

		if (!is_kernel_load(r, vmid))
			continue;
		rc = hwtdi_space_file(b, r, &file);
		if (rc != HWTD_OK ||
		    file->n_offered == HWTDI_MODULE_MAX_PLACES ||
		    (file->n_offered > 0 && file->offered_at == r->addr))
			continue;
		file->n_offered++;
		file->offered_at = r->addr;
		rc = add_symbols(b, symbols, file, r);
	}
	return (rc);
}

/* The symbols of the kernel that loads what the record at hand names. */
static int
symbols_of(struct hwtdi_space_builder *b, const struct hwtdi_elf_symbols **out)
{
	struct hwtdi_modules *m = &b->modules;
	const uint32_t vmid = hwtdi_record_vmid(b->record);
	struct hwtdi_kernel *kernel;
	int rc;

	for (size_t i = 0; i < m->n_kernels; i++) {
		if (m->kernels[i].vmid == vmid) {
			*out = &m->kernels[i].symbols;
			return (HWTD_OK);
		}
	}
	rc = hwtdi_array_grow(b->trace->library, &m->kernels, &m->cap_kernels,
	    m->n_kernels + 1, sizeof(*m->kernels), b->err);
	if (rc != HWTD_OK)
		return (rc);
	kernel = &m->kernels[m->n_kernels++];
	memset(kernel, 0, sizeof(*kernel));
	kernel->vmid = vmid;
	*out = &kernel->symbols;
	/* Of more kernels than there are, nobody knows what they offer. */
	return (m->n_kernels > MAX_KERNELS
		? HWTD_OK
		: add_all_symbols(b, vmid, &kernel->symbols));
}

/* Linking. */

static bool
resolve(void *arg, const char *name, uint64_t *address_out)
{
	struct linking *l = arg;

	if (hwtdi_elf_symbols_find(l->symbols, name, address_out))
		return (true);
	l->missing = name;
	return (false);
}

static void
add_range(struct linking *l, struct hwtdi_module_hole **ranges, size_t *n,
    size_t *cap, const struct hwtdi_module_hole *range)
{
	if (l->rc == HWTD_OK)
		l->rc = hwtdi_array_grow(l->b->trace->library, ranges, cap,
		    *n + 1, sizeof(**ranges), l->b->err);
	if (l->rc == HWTD_OK)
		(*ranges)[(*n)++] = *range;
}

static void
leave(void *arg, uint64_t off, uint64_t n)
{
	const struct hwtdi_module_hole hole = { off, n };
	struct linking *l = arg;

	add_range(l, &l->link.holes, &l->link.n_holes, &l->link.cap_holes,
	    &hole);
}

static void
keep(void *arg, uint64_t off, uint64_t n)
{
	const struct hwtdi_module_hole range = { off, n };
	struct linking *l = arg;

	add_range(l, &l->known, &l->n_known, &l->cap_known, &range);
}

static int
by_off(const void *a, const void *b)
{
	const struct hwtdi_module_hole *x = a, *y = b;

	return (x->off < y->off ? -1 : x->off > y->off);
}

/* Sort holes, drop those that are known, and join what overlaps. */
static void
tidy_holes(struct linking *l)
{
	struct hwtdi_module_hole *holes = l->link.holes;
	size_t n = 0, known = 0;

	if (l->link.n_holes > 1)
		qsort(holes, l->link.n_holes, sizeof(*holes), by_off);
	if (l->n_known > 1)
		qsort(l->known, l->n_known, sizeof(*l->known), by_off);
	for (size_t i = 0; i < l->link.n_holes; i++) {
		while (known < l->n_known &&
		    l->known[known].off + l->known[known].n <= holes[i].off)
			known++;
		if (known < l->n_known && holes[i].off >= l->known[known].off)
			continue;
		if (n > 0 &&
		    holes[n - 1].off + holes[n - 1].n > holes[i].off) {
			const uint64_t end = holes[i].off + holes[i].n;

			if (end > holes[n - 1].off + holes[n - 1].n)
				holes[n - 1].n = end - holes[n - 1].off;
		} else {
			holes[n++] = holes[i];
		}
	}
	l->link.n_holes = n;
}

/* Parts that were saved of the object as it was at its place. */
struct saved {
	const struct hwtdi_image **parts;
	size_t n, cap;
};

static int
by_address(const void *a, const void *b)
{
	const struct hwtdi_image *x = *(const struct hwtdi_image *const *)a;
	const struct hwtdi_image *y = *(const struct hwtdi_image *const *)b;

	return (x->address < y->address ? -1 : x->address > y->address);
}

static int
find_saved(const struct linking *l, const struct hwtdi_image *image,
    struct saved *saved)
{
	const struct hwtdi_image *part;
	size_t at = 0;
	int rc;

	while ((part = hwtdi_named_files_next_linked(&l->b->files, image,
		    &at)) != NULL) {
		if (part->bytes == NULL || part->n_bytes == 0)
			continue;
		rc = hwtdi_array_grow(l->b->trace->library, &saved->parts,
		    &saved->cap, saved->n + 1, sizeof(part), l->b->err);
		if (rc != HWTD_OK)
			return (rc);
		saved->parts[saved->n++] = part;
	}
	if (saved->n > 1)
		qsort(saved->parts, saved->n, sizeof(part), by_address);
	return (HWTD_OK);
}

/* The first part at an address or behind it. */
static size_t
first_saved(const struct saved *saved, uint64_t address)
{
	size_t low = 0, high = saved->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (saved->parts[middle]->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

static bool
is_saved(const struct saved *saved, const struct hwtdi_elf_piece *p)
{
	size_t i = first_saved(saved, p->address);

	return (i < saved->n &&
	    saved->parts[i]->address - p->address < p->length);
}

/* Take a piece of code from parts; what they lack is not known. */
static void
take_saved(struct linking *l, const struct saved *saved,
    const struct hwtdi_elf_piece *p, uint8_t *copy)
{
	const uint64_t end = p->file_off + p->length;
	uint64_t known = p->file_off;

	for (size_t i = first_saved(saved, p->address);
	     i < saved->n && saved->parts[i]->address - p->address < p->length;
	     i++) {
		const struct hwtdi_image *part = saved->parts[i];
		const uint64_t skip = part->address - p->address;

		if (part->offset != p->file_off + skip ||
		    part->n_bytes > p->length - skip || part->offset < known)
			continue;
		memcpy(copy + part->offset, part->bytes,
		    (size_t)part->n_bytes);
		if (part->offset > known)
			leave(l, known, part->offset - known);
		known = part->offset + part->n_bytes;
	}
	if (known < end)
		leave(l, known, end - known);
}

/* HWTD_E_NOT_FOUND: nothing of it was saved for this place. */
static int
link_saved(struct linking *l, const struct hwtdi_image *image,
    const struct hwtdi_elf_object *object, uint8_t *copy)
{
	struct hwtd_context *ctx = l->b->trace->library;
	struct hwtdi_elf_layout layout = { 0 };
	struct saved saved = { 0 };
	bool any = false;
	int rc;

	rc = find_saved(l, image, &saved);
	if (rc == HWTD_OK && saved.n > 0)
		rc = hwtdi_elf_object_layout(object, ctx, &layout, l->b->err);
	for (size_t i = 0; i < layout.n_pieces && !any; i++)
		any = is_saved(&saved, &layout.pieces[i]);
	for (size_t i = 0; i < layout.n_pieces && any; i++)
		take_saved(l, &saved, &layout.pieces[i], copy);
	hwtdi_elf_layout_fini(&layout, ctx);
	hwtdi_array_free(ctx, saved.parts, saved.cap, sizeof(*saved.parts));
	if (rc != HWTD_OK || l->rc != HWTD_OK)
		return (rc != HWTD_OK ? rc : l->rc);
	return (any ? HWTD_OK : HWTD_E_NOT_FOUND);
}

/* A copy of the file with its code linked; the trace owns it. */
static int
link_copy(struct linking *l, const struct hwtdi_image *image,
    const struct hwtdi_elf_object *object, struct hwtd_error *inner)
{
	const struct hwtdi_elf_linker linker = { l, resolve, leave, keep };
	struct hwtd_trace *trace = l->b->trace;
	struct hwtd_context *ctx = trace->library;
	struct hwtdi_elf_relocated done;
	uint8_t *copy;
	int rc;

	if (image->n_bytes > HWTDI_MODULE_MAX_BYTES - l->b->modules.n_bytes) {
		(void)hwtdi_fail(inner, HWTD_E_LIMIT,
		    "modules of more than %" PRIu64 " MiB are linked",
		    HWTDI_MODULE_MAX_BYTES >> 20);
		return (HWTD_E_NOT_FOUND);
	}
	l->b->modules.n_bytes += image->n_bytes;
	rc = hwtdi_array_grow(ctx, &trace->linked, &trace->cap_linked,
	    trace->n_linked + 1, sizeof(*trace->linked), l->b->err);
	if (rc != HWTD_OK)
		return (rc);
	copy = hwtdi_alloc(ctx, (size_t)image->n_bytes);
	if (copy == NULL)
		return (hwtdi_trace_no_room(ctx, image->n_bytes, l->b->err));
	memcpy(copy, image->bytes, (size_t)image->n_bytes);
	trace->linked[trace->n_linked].bytes = copy;
	trace->linked[trace->n_linked++].n_bytes = image->n_bytes;
	l->link.code = copy;
	rc = link_saved(l, image, object, copy);
	if (rc == HWTD_E_NOT_FOUND) {
		rc = hwtdi_elf_relocate(object, &linker, copy, &done, inner);
		if (l->rc != HWTD_OK)
			return (l->rc);
		if (rc != HWTD_OK)
			return (HWTD_E_NOT_FOUND);
		if (hwtdi_elf_object_is_for_linux(&object->tables))
			hwtdi_elf_patch_linux(object, &linker, copy);
		rc = l->rc;
	}
	if (rc != HWTD_OK)
		return (rc);
	tidy_holes(l);
	return (HWTD_OK);
}

/* The image says which symbol was missing, the first time. */
static void
note_missing(struct hwtdi_image *image, const struct linking *l)
{
	if (l->missing == NULL)
		return;
	image->unlinked = true;
	if (image->text[0] == '\0')
		(void)snprintf(image->text, sizeof(image->text),
		    "calls of \"%.60s\" and others lead nowhere", l->missing);
}

/*
 * The object linked for its place, made when it is loaded there first.
 * HWTD_E_NOT_FOUND: it cannot be had, and `inner` says why.
 */
static int
link_object(struct hwtdi_space_builder *b, struct hwtdi_named_file *file,
    const struct hwtdi_elf_object *object, struct hwtdi_module_link *out,
    struct hwtd_error *inner)
{
	struct hwtdi_image *image = &b->trace->images[file->image];
	struct hwtdi_modules *m = &b->modules;
	struct hwtd_context *ctx = b->trace->library;
	struct linking l = { .b = b,
		.link = { .addr = b->record->addr,
		    .vmid = hwtdi_record_vmid(b->record) } };
	uint32_t n = 0;
	int rc;

	for (size_t i = file->links; i != 0; i = m->links[i - 1].before) {
		if (m->links[i - 1].addr == l.link.addr &&
		    m->links[i - 1].vmid == l.link.vmid) {
			*out = m->links[i - 1];
			return (HWTD_OK);
		}
		n++;
	}
	if (n == HWTDI_MODULE_MAX_PLACES) {
		(void)hwtdi_fail(inner, HWTD_E_LIMIT,
		    "loaded at more than %u addresses; at the others its code"
		    " is unknown",
		    HWTDI_MODULE_MAX_PLACES);
		return (HWTD_E_NOT_FOUND);
	}
	rc = symbols_of(b, &l.symbols);
	/* That can have added images. */
	image = &b->trace->images[file->image];
	if (rc == HWTD_OK)
		rc = hwtdi_array_grow(ctx, &m->links, &m->cap_links,
		    m->n_links + 1, sizeof(*m->links), b->err);
	if (rc == HWTD_OK)
		rc = link_copy(&l, image, object, inner);
	hwtdi_array_free(ctx, l.known, l.cap_known, sizeof(*l.known));
	if (rc != HWTD_OK) {
		hwtdi_array_free(ctx, l.link.holes, l.link.cap_holes,
		    sizeof(*l.link.holes));
		return (rc);
	}
	note_missing(image, &l);
	l.link.before = file->links;
	m->links[m->n_links++] = l.link;
	file->links = m->n_links;
	*out = l.link;
	return (HWTD_OK);
}

/* Mapping. */

/* [at, to) of the file, which is in the piece. */
static int
map_part(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_elf_piece *p, struct hwtdi_shown *shown, uint64_t at,
    uint64_t to)
{
	if (to <= at)
		return (HWTD_OK);
	shown->address = p->address + (at - p->file_off);
	shown->length = to - at;
	shown->file_off = at;
	return (hwtdi_space_map(b, space, shown));
}

/* The first hole that ends behind an offset. */
static size_t
first_hole(const struct hwtdi_module_link *link, uint64_t off)
{
	size_t low = 0, high = link->n_holes;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct hwtdi_module_hole *h = &link->holes[middle];

		if (h->off + h->n <= off)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

static int
map_piece(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_elf_piece *p, const struct hwtdi_module_link *link,
    struct hwtdi_shown *shown)
{
	const uint64_t end = p->file_off + p->length;
	uint64_t at = p->file_off;
	int rc = HWTD_OK;

	for (size_t i = first_hole(link, at);
	     i < link->n_holes && link->holes[i].off < end && rc == HWTD_OK;
	     i++) {
		uint64_t from = link->holes[i].off;
		uint64_t to = from + link->holes[i].n;

		/* With too many of them the rest is one. */
		if (++b->modules.n_holes > HWTDI_MODULE_MAX_HOLES || to > end)
			to = end;
		if (from < at)
			from = at;
		shown->code = link->code;
		rc = map_part(b, space, p, shown, at, from);
		shown->code = hwtdi_no_code;
		if (rc == HWTD_OK)
			rc = map_part(b, space, p, shown, from, to);
		at = to;
	}
	shown->code = link->code;
	return (rc == HWTD_OK ? map_part(b, space, p, shown, at, end) : rc);
}

/* What cannot be laid out or linked is as good as missing. */
static int
map_missing(struct hwtdi_space_builder *b, uint32_t space,
    const struct hwtdi_named_file *file, const char *why)
{
	struct hwtdi_image *image = &b->trace->images[file->image];
	const struct hwtd_record *r = b->record;
	const struct hwtdi_shown shown = { .image = file->image,
		.code = hwtdi_no_code,
		.address = r->addr,
		.length = (r->flags & HWTD_RECF_LEN) != 0 ? r->len
							  : HWTDI_SPACE_PAGE };
	int rc;

	/* Elsewhere it can have been linked. */
	if (file->links == 0)
		image->state = HWTD_IMAGE_MISSING;
	(void)snprintf(image->text, sizeof(image->text), "%.95s", why);
	rc = hwtdi_load_list_add_piece(&b->loads, b->trace->library,
	    shown.address, shown.length, b->err);
	return (rc == HWTD_OK ? hwtdi_space_map(b, space, &shown) : rc);
}

static int
map_object(struct hwtdi_space_builder *b, uint32_t space,
    struct hwtdi_named_file *file, const struct hwtdi_elf_object *object,
    const struct hwtdi_module_link *link)
{
	struct hwtd_context *ctx = b->trace->library;
	struct hwtdi_shown shown = { .image = file->image };
	struct hwtdi_elf_layout layout;
	int rc;

	rc = hwtdi_elf_object_layout(object, ctx, &layout, b->err);
	if (rc != HWTD_OK)
		return (rc);
	file->n_pieces = layout.n_pieces;
	for (size_t i = 0; i < layout.n_pieces && rc == HWTD_OK; i++) {
		rc = hwtdi_load_list_add_piece(&b->loads, ctx,
		    layout.pieces[i].address, layout.pieces[i].length, b->err);
		if (rc == HWTD_OK)
			rc = map_piece(b, space, &layout.pieces[i], link,
			    &shown);
	}
	hwtdi_elf_layout_fini(&layout, ctx);
	return (rc);
}

int
hwtdi_module_map(struct hwtdi_space_builder *b, uint32_t space,
    struct hwtdi_named_file *file)
{
	const struct hwtdi_image *image = &b->trace->images[file->image];
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtd_context *ctx = b->trace->library;
	struct hwtdi_elf_object object;
	struct hwtdi_module_link link;
	int rc;

	/* Where it was laid out before, it has as many elsewhere. */
	if (!hwtdi_space_take_pieces(b, file->n_pieces))
		return (map_missing(b, space, file,
		    "limit: too many pieces of files are mapped"));
	rc = hwtdi_elf_object_init(&object, ctx, image->path, image->bytes,
	    image->n_bytes, b->record->addr, &inner);
	if (rc == HWTD_E_NOMEM)
		return (hwtdi_fail_pass(b->err, &inner));
	if (rc != HWTD_OK)
		return (map_missing(b, space, file, inner.message));
	rc = link_object(b, file, &object, &link, &inner);
	if (rc == HWTD_OK)
		rc = map_object(b, space, file, &object, &link);
	else if (rc == HWTD_E_NOT_FOUND)
		rc = map_missing(b, space, file, inner.message);
	hwtdi_elf_object_fini(&object, ctx);
	return (rc);
}

void
hwtdi_modules_fini(struct hwtdi_modules *modules, struct hwtd_context *ctx)
{
	for (size_t i = 0; i < modules->n_kernels; i++)
		hwtdi_elf_symbols_fini(&modules->kernels[i].symbols, ctx);
	hwtdi_array_free(ctx, modules->kernels, modules->cap_kernels,
	    sizeof(*modules->kernels));
	for (size_t i = 0; i < modules->n_found; i++) {
		hwtdi_image_found_fini(modules->found[i], ctx);
		hwtdi_free(ctx, modules->found[i], sizeof(**modules->found));
	}
	hwtdi_array_free(ctx, modules->found, modules->cap_found,
	    sizeof(*modules->found));
	for (size_t i = 0; i < modules->n_links; i++)
		hwtdi_array_free(ctx, modules->links[i].holes,
		    modules->links[i].cap_holes,
		    sizeof(*modules->links[i].holes));
	hwtdi_array_free(ctx, modules->links, modules->cap_links,
	    sizeof(*modules->links));
	memset(modules, 0, sizeof(*modules));
}
