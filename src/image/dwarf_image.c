/*
 * Files, lines and inlined functions by address, from the DWARF of one image.
 *
 * Sources: DWARF 5, "Accelerated Access" (6.1), "Split DWARF Object Files".
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/sort.h"
#include "image/dwarf_image_internal.h"
#include "image/dwarf_object.h"

/* Units of one file. */
#define MOST_UNITS (UINT32_C(1) << 22)

/* Pieces of units that are looked at for one that an address is in. */
#define MOST_NESTED 64u

/* What an open file of split DWARF counts for. */
#define SPLIT_BYTES 65536u

/* Keep the first of several errors; one that is final goes on as such. */
int
hwtdi_dwarf_image_note(struct hwtd_error *fault, int rc,
    const struct hwtd_error *err, struct hwtd_error *caller)
{
	if (rc == HWTD_OK)
		return (HWTD_OK);
	if (hwtdi_fail_is_final(rc))
		return (hwtdi_fail_pass(caller, err));
	if (fault->code == HWTD_OK)
		*fault = *err;
	return (HWTD_OK);
}

/* Units that are read. */

struct hwtdi_dwarf_view
hwtdi_dwarf_image_view(const struct hwtdi_dwarf_image *image,
    const struct hwtdi_dwarf_entry *entry)
{
	struct hwtdi_dwarf_view view = { &image->file, &entry->unit,
		&image->file, &entry->unit, NULL };

	if (entry->loaded != NULL)
		view.abbrevs = &entry->loaded->abbrevs;
	if (entry->loaded != NULL && entry->loaded->has_split) {
		view.file = entry->loaded->split_file;
		view.unit = &entry->loaded->split_unit;
		view.abbrevs = &entry->loaded->split_abbrevs;
	}
	return (view);
}

static void
count(struct hwtdi_dwarf_image *image, struct hwtdi_dwarf_loaded *l)
{
	const uint64_t bytes = sizeof(*l) +
	    (l->abbrevs.cap + l->split_abbrevs.cap) * sizeof(*l->abbrevs.at) +
	    hwtdi_dwarf_scopes_bytes(&l->scopes) +
	    hwtdi_dwarf_lines_bytes(&l->lines) +
	    (l->has_split ? SPLIT_BYTES : 0);

	image->bytes += bytes - l->bytes;
	l->bytes = bytes;
}

void
hwtdi_dwarf_image_unload(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry)
{
	struct hwtdi_dwarf_loaded *l = entry->loaded;

	if (l == NULL)
		return;
	hwtdi_dwarf_abbrevs_fini(&l->abbrevs, image->ctx);
	hwtdi_dwarf_abbrevs_fini(&l->split_abbrevs, image->ctx);
	hwtdi_dwarf_scopes_fini(&l->scopes, image->ctx);
	hwtdi_dwarf_lines_fini(&l->lines, image->ctx);
	hwtdi_dwarf_file_fini(&l->own_file);
	image->bytes -= l->bytes;
	hwtdi_free(image->ctx, l, sizeof(*l));
	entry->loaded = NULL;
}

/* The abbreviations of a unit; without them nothing of it can be read. */
int
hwtdi_dwarf_image_load(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_loaded *l = entry->loaded;
	int rc;

	if (l == NULL) {
		l = hwtdi_zalloc(image->ctx, sizeof(*l));
		if (l == NULL)
			return (hwtdi_fail_nomem(err, sizeof(*l)));
		l->fault.size = sizeof(l->fault);
		entry->loaded = l;
	}
	l->used = ++image->clock;
	if (l->has_abbrevs)
		return (HWTD_OK);
	rc = hwtdi_dwarf_abbrevs_init(&l->abbrevs, &image->file, &entry->unit,
	    &inner);
	rc = hwtdi_dwarf_image_note(&l->fault, rc, &inner, err);
	l->has_abbrevs = rc == HWTD_OK;
	count(image, l);
	return (rc);
}

/* Of a package, or of a file of its own. */
static int
find_split(struct hwtdi_dwarf_image *image, struct hwtdi_dwarf_entry *entry,
    struct hwtd_error *err)
{
	struct hwtdi_dwarf_loaded *l = entry->loaded;
	int rc = HWTD_E_NOT_FOUND;

	if (!image->asked_package) {
		rc = hwtdi_dwarf_package_open(&image->package, image->ctx,
		    &image->places, err);
		if (hwtdi_fail_is_final(rc))
			return (rc);
		image->asked_package = true;
		image->has_package = rc == HWTD_OK;
	}
	if (image->has_package) {
		rc = hwtdi_dwarf_package_find(&image->package, &entry->unit,
		    &l->split_unit, err);
		l->split_file = &image->package;
		if (rc != HWTD_E_NOT_FOUND)
			return (rc);
	}
	l->split_file = &l->own_file;
	return (hwtdi_dwarf_split_open(&l->own_file, image->ctx,
	    &image->places, &entry->unit, &l->split_unit, err));
}

static int
load_split(struct hwtdi_dwarf_image *image, struct hwtdi_dwarf_entry *entry,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_loaded *l = entry->loaded;
	int rc;

	if (l->asked_split || !entry->unit.has_dwo_id ||
	    entry->unit.dwo_name == NULL)
		return (HWTD_OK);
	rc = find_split(image, entry, &inner);
	if (rc == HWTD_OK) {
		rc = hwtdi_dwarf_abbrevs_init(&l->split_abbrevs, l->split_file,
		    &l->split_unit, &inner);
		l->has_split = rc == HWTD_OK;
		if (rc != HWTD_OK)
			hwtdi_dwarf_file_fini(&l->own_file);
	}
	l->asked_split = !hwtdi_fail_is_final(rc);
	return (hwtdi_dwarf_image_note(&l->fault, rc, &inner, err));
}

int
hwtdi_dwarf_image_load_scopes(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_view view;
	int rc;

	rc = hwtdi_dwarf_image_load(image, entry, err);
	if (rc == HWTD_OK)
		rc = load_split(image, entry, err);
	if (rc != HWTD_OK || entry->loaded->has_scopes)
		return (rc);
	view = hwtdi_dwarf_image_view(image, entry);
	rc = hwtdi_dwarf_scopes_init(&entry->loaded->scopes, &view, &inner);
	rc = hwtdi_dwarf_image_note(&entry->loaded->fault, rc, &inner, err);
	entry->loaded->has_scopes = rc == HWTD_OK;
	count(image, entry->loaded);
	return (rc);
}

int
hwtdi_dwarf_image_load_lines(struct hwtdi_dwarf_image *image,
    struct hwtdi_dwarf_entry *entry, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc;

	rc = hwtdi_dwarf_image_load(image, entry, err);
	if (rc != HWTD_OK || entry->loaded->has_lines ||
	    !entry->unit.has_stmt_list)
		return (rc);
	rc = hwtdi_dwarf_lines_init(&entry->loaded->lines, &image->file,
	    &entry->unit, &inner);
	rc = hwtdi_dwarf_image_note(&entry->loaded->fault, rc, &inner, err);
	entry->loaded->has_lines = rc == HWTD_OK;
	count(image, entry->loaded);
	return (rc);
}

/* The index. */

static int
add_piece(struct hwtdi_dwarf_image *image, uint64_t low, uint64_t high,
    uint32_t unit, struct hwtd_error *err)
{
	int rc;

	if (high <= low)
		return (HWTD_OK);
	rc = hwtdi_array_grow(image->ctx, &image->pieces, &image->cap_pieces,
	    image->n_pieces + 1, sizeof(*image->pieces), err);
	if (rc != HWTD_OK)
		return (rc);
	image->pieces[image->n_pieces++] = (struct hwtdi_dwarf_unit_piece){
		.low = low,
		.high = high,
		.unit = unit
	};
	image->units[unit].covered = true;
	return (HWTD_OK);
}

/* What the root of a unit says. */
static int
index_root(struct hwtdi_dwarf_image *image, uint32_t no, uint64_t *left_inout,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_entry *entry = &image->units[no];
	const struct hwtdi_dwarf_view view = hwtdi_dwarf_image_view(image,
	    entry);
	struct hwtdi_dwarf_ranges ranges = { .left = *left_inout };
	struct hwtdi_dwarf_die root;
	int rc;

	rc = hwtdi_dwarf_unit_root(&image->file, &entry->unit, &root,
	    &image->left, &inner);
	if (rc != HWTD_OK)
		return (hwtdi_dwarf_image_note(&image->fault, rc, &inner,
		    err));
	entry->usable = root.tag == HWTDI_DW_TAG_COMPILE_UNIT ||
	    root.tag == HWTDI_DW_TAG_SKELETON_UNIT;
	if (!entry->usable)
		return (HWTD_OK);
	rc = hwtdi_dwarf_ranges_add(&ranges, &view, &root, &inner);
	*left_inout = ranges.left;
	rc = hwtdi_dwarf_image_note(&image->fault, rc, &inner, err);
	for (size_t i = 0; rc == HWTD_OK && i < ranges.n; i++)
		rc = add_piece(image, ranges.at[i].low, ranges.at[i].high, no,
		    err);
	hwtdi_dwarf_ranges_fini(&ranges, image->ctx);
	return (rc);
}

static int
index_units(struct hwtdi_dwarf_image *image, struct hwtd_error *err)
{
	const uint64_t n = image->file.sections[HWTDI_DWARF_INFO].n;
	struct hwtd_error inner = { .size = sizeof(inner) };
	uint64_t left = HWTDI_DWARF_RANGES_MAX, off = 0;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && off < n && image->n_units < MOST_UNITS) {
		struct hwtdi_dwarf_unit unit;
		int read = hwtdi_dwarf_unit_read(&image->file, off, &unit,
		    &inner);

		if (read != HWTD_OK) {
			rc = hwtdi_dwarf_image_note(&image->fault, read,
			    &inner, err);
			/* Padding, and a header without sense. */
			if (unit.end <= off)
				break;
			off = unit.end;
			continue;
		}
		off = unit.end;
		rc = hwtdi_array_grow(image->ctx, &image->units,
		    &image->cap_units, image->n_units + 1,
		    sizeof(*image->units), err);
		if (rc != HWTD_OK)
			break;
		image->units[image->n_units++] = (struct hwtdi_dwarf_entry){
			.unit = unit
		};
		rc = index_root(image, (uint32_t)image->n_units - 1, &left,
		    err);
	}
	return (rc);
}

/* The unit that has an offset; NULL: none. */
struct hwtdi_dwarf_entry *
hwtdi_dwarf_image_unit_at(struct hwtdi_dwarf_image *image, uint64_t off)
{
	size_t low = 0, high = image->n_units;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (image->units[middle].unit.off <= off)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || off >= image->units[low - 1].unit.end)
		return (NULL);
	return (&image->units[low - 1]);
}

/* One set of .debug_aranges, of a unit whose root says nothing. */
static int
read_set(struct hwtdi_dwarf_image *image, struct hwtdi_dwarf_reader *r,
    struct hwtd_error *err)
{
	struct hwtdi_dwarf_reader set = *r;
	const uint64_t start = hwtdi_dw_off(r);
	uint64_t length, low, size, n;
	uint8_t offset_bytes, bytes;
	struct hwtdi_dwarf_entry *entry;
	int rc = HWTD_OK;

	length = hwtdi_dw_length(&set, &offset_bytes);
	if (set.bad || length > hwtdi_dw_left(&set))
		return (hwtdi_dwarf_fail(err, &image->file,
		    HWTDI_DWARF_ARANGES, start,
		    "a set is longer than the section"));
	set.end = set.at + length;
	r->at = set.end;
	(void)hwtdi_dw_uint(&set, 2);
	entry = hwtdi_dwarf_image_unit_at(image,
	    hwtdi_dw_uint(&set, offset_bytes));
	bytes = hwtdi_dw_u8(&set);
	if (set.bad || hwtdi_dw_u8(&set) != 0 || (bytes != 4 && bytes != 8) ||
	    entry == NULL || !entry->usable || entry->covered)
		return (HWTD_OK);
	/* Pairs lie at multiples of their size. */
	n = (hwtdi_dw_off(&set) - start) % (2u * bytes);
	if (n != 0)
		hwtdi_dw_skip(&set, 2u * bytes - n);
	while (rc == HWTD_OK) {
		low = hwtdi_dw_uint(&set, bytes);
		size = hwtdi_dw_uint(&set, bytes);
		if (set.bad || (low == 0 && size == 0))
			break;
		if (size <= UINT64_MAX - low)
			rc = add_piece(image, low, low + size,
			    (uint32_t)(entry - image->units), err);
		/* It is of this set, so the others of it count too. */
		entry->covered = false;
	}
	entry->covered = true;
	return (rc);
}

static int
index_sets(struct hwtdi_dwarf_image *image, struct hwtd_error *err)
{
	struct hwtdi_dwarf_reader r = hwtdi_dwarf_file_reader(&image->file,
	    HWTDI_DWARF_ARANGES, 0);
	struct hwtd_error inner = { .size = sizeof(inner) };
	int rc = HWTD_OK;

	while (rc == HWTD_OK && !r.bad && r.at < r.end) {
		rc = read_set(image, &r, &inner);
		if (rc == HWTD_E_CORRUPT)
			r.at = r.end;
		rc = hwtdi_dwarf_image_note(&image->fault, rc, &inner, err);
	}
	return (rc);
}

/* Where nothing else says what a unit covers, its functions and lines do. */
static int
index_contents(struct hwtdi_dwarf_image *image, uint32_t no,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_entry *entry = &image->units[no];
	const struct hwtdi_dwarf_loaded *l;
	uint64_t work;
	int rc;

	/* Many units can share one large table. */
	if (image->left == 0) {
		rc = hwtdi_fail_at(&inner, HWTD_E_LIMIT, entry->unit.off,
		    "%.90s: too many units do not say where their code is",
		    image->file.path);
		return (hwtdi_dwarf_image_note(&image->fault, rc, &inner,
		    err));
	}
	rc = hwtdi_dwarf_image_load_scopes(image, entry, err);
	if (rc == HWTD_OK)
		rc = hwtdi_dwarf_image_load_lines(image, entry, err);
	l = entry->loaded;
	for (size_t i = 0; rc == HWTD_OK && i < l->scopes.n_pieces; i++)
		rc = add_piece(image, l->scopes.pieces[i].low,
		    l->scopes.pieces[i].high, no, err);
	for (size_t i = 0; rc == HWTD_OK && i < l->lines.n_sequences; i++)
		rc = add_piece(image, l->lines.sequences[i].low,
		    l->lines.sequences[i].high, no, err);
	work = l == NULL
	    ? 1
	    : 1 + l->abbrevs.n + l->split_abbrevs.n + l->lines.n_rows +
		l->lines.n_files + (entry->unit.end - entry->unit.off) / 16;
	image->left -= work < image->left ? work : image->left;
	hwtdi_dwarf_image_unload(image, entry);
	return (rc);
}

static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_dwarf_unit_piece *a = va, *b = vb;

	if (a->low != b->low)
		return (a->low < b->low ? -1 : 1);
	if (a->high != b->high)
		return (a->high > b->high ? -1 : 1);
	return (a->unit < b->unit ? -1 : a->unit > b->unit);
}

static int
index_all(struct hwtdi_dwarf_image *image, struct hwtd_error *err)
{
	uint64_t reach = 0;
	bool all = true;
	int rc;

	rc = index_units(image, err);
	for (size_t i = 0; i < image->n_units; i++)
		all &= image->units[i].covered || !image->units[i].usable;
	if (rc == HWTD_OK && !all)
		rc = index_sets(image, err);
	for (size_t i = 0; rc == HWTD_OK && !all && i < image->n_units; i++) {
		rc = hwtdi_poll(image->ctx, err);
		if (rc == HWTD_OK && image->units[i].usable &&
		    !image->units[i].covered)
			rc = index_contents(image, (uint32_t)i, err);
	}
	if (rc == HWTD_OK)
		rc = hwtdi_sort(image->ctx, image->pieces, image->n_pieces,
		    sizeof(*image->pieces), by_address, err);
	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < image->n_pieces; i++) {
		if (image->pieces[i].high > reach)
			reach = image->pieces[i].high;
		image->pieces[i].reach = reach;
	}
	return (HWTD_OK);
}

int
hwtdi_dwarf_image_open(struct hwtd_context *ctx,
    const struct hwtdi_dwarf_source *source, struct hwtdi_dwarf_image **out,
    struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	struct hwtdi_dwarf_image *image;
	int rc;

	image = hwtdi_zalloc(ctx, sizeof(*image));
	if (image == NULL)
		return (hwtdi_fail_nomem(err, sizeof(*image)));
	image->ctx = ctx;
	image->left = HWTDI_DWARF_INDEX_MAX;
	image->fault.size = sizeof(image->fault);
	image->places.debug_path = source->path;
	image->places.code_path = source->code_path;
	image->places.places = source->places;
	if (source->bytes != NULL)
		rc = hwtdi_dwarf_file_init(&image->file, ctx, source->name,
		    source->bytes, source->n_bytes, false, err);
	else
		rc = hwtdi_dwarf_file_open(&image->file, ctx, source->path,
		    false, err);
	if (rc == HWTD_OK &&
	    !hwtdi_dwarf_file_has(&image->file, HWTDI_DWARF_INFO))
		rc = HWTD_E_NOT_FOUND;
	for (unsigned int i = 0; rc == HWTD_OK && i < HWTDI_DWARF_SECTIONS;
	     i++)
		rc = hwtdi_dwarf_image_note(&image->fault,
		    hwtdi_dwarf_file_need(&image->file,
			(enum hwtdi_dwarf_section_id)i, &inner),
		    &inner, err);
	if (rc == HWTD_OK && !source->is_shared)
		rc = hwtdi_dwarf_shared_open(&image->shared, &image->file,
		    source->places, err);
	if (image->shared.image != NULL)
		image->file
		    .shared = hwtdi_dwarf_image_file(image->shared.image);
	if (rc == HWTD_OK && image->file.tables.header.e_type == ET_REL)
		rc = hwtdi_dwarf_object_link(&image->file,
		    source->code != NULL ? source->code : &image->file.tables,
		    err);
	if (rc == HWTD_OK)
		rc = index_all(image, err);
	if (rc != HWTD_OK) {
		hwtdi_dwarf_image_close(image);
		return (rc);
	}
	*out = image;
	return (HWTD_OK);
}

void
hwtdi_dwarf_image_close(struct hwtdi_dwarf_image *image)
{
	struct hwtd_context *ctx = image->ctx;

	for (size_t i = 0; i < image->n_units; i++)
		hwtdi_dwarf_image_unload(image, &image->units[i]);
	hwtdi_array_free(ctx, image->units, image->cap_units,
	    sizeof(*image->units));
	hwtdi_array_free(ctx, image->pieces, image->cap_pieces,
	    sizeof(*image->pieces));
	hwtdi_dwarf_file_fini(&image->package);
	hwtdi_dwarf_file_fini(&image->file);
	hwtdi_dwarf_shared_close(&image->shared, ctx);
	hwtdi_free(ctx, image, sizeof(*image));
}

const struct hwtd_error *
hwtdi_dwarf_image_fault(const struct hwtdi_dwarf_image *image)
{
	return (image->fault.code != HWTD_OK ? &image->fault : NULL);
}

const struct hwtdi_dwarf_file *
hwtdi_dwarf_image_file(const struct hwtdi_dwarf_image *image)
{
	return (&image->file);
}

uint64_t
hwtdi_dwarf_image_bytes(const struct hwtdi_dwarf_image *image)
{
	return (image->bytes +
	    (image->shared.image != NULL ? image->shared.image->bytes : 0));
}

void
hwtdi_dwarf_image_trim(struct hwtdi_dwarf_image *image, uint64_t most)
{
	if (image->shared.image != NULL)
		hwtdi_dwarf_image_trim(image->shared.image, most / 2);
	while (image->bytes > most) {
		struct hwtdi_dwarf_entry *oldest = NULL;

		for (size_t i = 0; i < image->n_units; i++) {
			struct hwtdi_dwarf_entry *entry = &image->units[i];

			if (entry->loaded != NULL &&
			    (oldest == NULL ||
				entry->loaded->used < oldest->loaded->used))
				oldest = entry;
		}
		if (oldest == NULL ||
		    (most != 0 && oldest->loaded->used == image->clock))
			return;
		hwtdi_dwarf_image_unload(image, oldest);
	}
}

/* Asking. */

/* The frames of a unit; *n_out 0: the address is in no function or line. */
static int
find_frames(struct hwtdi_dwarf_image *image, struct hwtdi_dwarf_entry *entry,
    uint64_t address, struct hwtdi_dwarf_frame *frames, size_t *n_out,
    struct hwtd_error *err)
{
	uint32_t chain[HWTDI_DWARF_DEPTH_MAX];
	const struct hwtdi_dwarf_row *row;
	const struct hwtdi_dwarf_loaded *l;
	size_t n;
	int rc;

	rc = hwtdi_dwarf_image_load_scopes(image, entry, err);
	if (rc == HWTD_OK)
		rc = hwtdi_dwarf_image_load_lines(image, entry, err);
	if (rc != HWTD_OK)
		return (rc);
	l = entry->loaded;
	n = hwtdi_dwarf_scopes_find(&l->scopes, address, chain);
	row = hwtdi_dwarf_lines_find(&l->lines, address);
	*n_out = n > 0 ? n : row != NULL;
	memset(frames, 0, *n_out * sizeof(*frames));
	if (row != NULL) {
		hwtdi_dwarf_image_set_file(entry, row->file, &frames[0]);
		frames[0].line = row->line;
		frames[0].column = row->column;
		frames[0].discriminator = row->discriminator;
	}
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		const struct hwtdi_dwarf_scope *scope = &l->scopes
							     .at[chain[i]];

		if (i + 1 < n) {
			hwtdi_dwarf_image_set_file(entry, scope->call_file,
			    &frames[i + 1]);
			frames[i + 1].line = scope->call_line;
			frames[i + 1].column = scope->call_column;
			frames[i + 1].discriminator = scope->discriminator;
		}
		rc = hwtdi_dwarf_image_names(image, entry, scope->die,
		    &frames[i], &entry->loaded->fault, err);
	}
	return (rc);
}

int
hwtdi_dwarf_image_find(struct hwtdi_dwarf_image *image, uint64_t address,
    struct hwtdi_dwarf_frame frames[HWTDI_DWARF_DEPTH_MAX], size_t *n_out,
    struct hwtd_error *err)
{
	const struct hwtd_error *fault = NULL;
	size_t low = 0, high = image->n_pieces;
	int rc = HWTD_OK;

	*n_out = 0;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (image->pieces[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < MOST_NESTED; i--) {
		const struct hwtdi_dwarf_unit_piece
		    *piece = &image->pieces[i - 1];
		struct hwtdi_dwarf_entry *entry = &image->units[piece->unit];

		if (address >= piece->reach)
			break;
		if (address >= piece->high)
			continue;
		rc = find_frames(image, entry, address, frames, n_out, err);
		if (rc != HWTD_OK)
			return (rc);
		if (fault == NULL && entry->loaded->fault.code != HWTD_OK)
			fault = &entry->loaded->fault;
		if (*n_out > 0)
			break;
	}
	if (fault != NULL)
		return (hwtdi_fail_pass(err, fault));
	return (*n_out > 0 ? HWTD_OK : HWTD_E_NOT_FOUND);
}
