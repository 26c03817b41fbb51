/*
 * Split DWARF: the part of a unit that is in a file of its own (.dwo), or in a
 * package of them (.dwp).
 *
 * Sources: DWARF 5, "Split DWARF Object Files" (7.3.2), "DWARF Package Files"
 * (7.3.5); GNU, "DWARF Package File Format" (version 2 of the index).
 */
#include "image/dwarf_split.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

/* Sections of a package, as its index numbers them. */
#define SECT_INFO 1u
#define SECT_ABBREV 3u
#define SECT_STR_OFFSETS 6u
/* Of version 5. */
#define SECT_RNGLISTS 8u
#define SECT_MAX 8u

/* Units of a .dwo file that are looked at. */
#define UNITS_MAX 65536u

static int
need_all(struct hwtdi_dwarf_file *file, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (unsigned int i = 0; rc == HWTD_OK && i < HWTDI_DWARF_SECTIONS;
	     i++)
		rc = hwtdi_dwarf_file_need(file,
		    (enum hwtdi_dwarf_section_id)i, err);
	return (rc);
}

/* Open a file; HWTD_E_NOT_FOUND: there is none, or it has no DWARF. */
static int
open_file(struct hwtdi_dwarf_file *file, struct hwtd_context *ctx,
    const char *path, struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_dwarf_file_open(file, ctx, path, true, err);
	if (rc == HWTD_OK)
		rc = need_all(file, err);
	if (rc == HWTD_OK && hwtdi_dwarf_file_has(file, HWTDI_DWARF_INFO))
		return (HWTD_OK);
	if (rc == HWTD_OK)
		rc = hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "%.120s: no split DWARF", path);
	hwtdi_dwarf_file_fini(file);
	return (rc == HWTD_E_IO ? HWTD_E_NOT_FOUND : rc);
}

/* Packages. */

int
hwtdi_dwarf_package_open(struct hwtdi_dwarf_file *package,
    struct hwtd_context *ctx, const struct hwtdi_dwarf_split_places *places,
    struct hwtd_error *err)
{
	const char *const beside[2] = { places->code_path,
		places->debug_path };
	char path[HWTDI_SEARCH_PATH_MAX];
	int rc = HWTD_E_NOT_FOUND;

	memset(package, 0, sizeof(*package));
	for (size_t i = 0; rc == HWTD_E_NOT_FOUND && i < 2; i++) {
		int n;

		if (beside[i] == NULL)
			continue;
		n = snprintf(path, sizeof(path), "%s.dwp", beside[i]);
		if (n > 0 && (size_t)n < sizeof(path))
			rc = open_file(package, ctx, path, err);
	}
	if (rc == HWTD_OK &&
	    !hwtdi_dwarf_file_has(package, HWTDI_DWARF_CU_INDEX)) {
		hwtdi_dwarf_file_fini(package);
		rc = HWTD_E_NOT_FOUND;
	}
	return (rc);
}

struct index {
	struct hwtdi_dwarf_reader r;
	uint32_t n_columns, n_units, n_slots;
	uint64_t signatures, rows, columns, offsets;
};

/* The number at an offset of the index; false: it ends before. */
static bool
number_at(const struct index *x, uint64_t off, size_t n, uint64_t *out)
{
	struct hwtdi_dwarf_reader r = x->r;

	if (off > (uint64_t)(r.end - r.base))
		return (false);
	r.at = r.base + off;
	r.bad = false;
	*out = hwtdi_dw_uint(&r, n);
	return (!r.bad);
}

static bool
read_index(const struct hwtdi_dwarf_file *package, struct index *x)
{
	uint64_t version, n;

	memset(x, 0, sizeof(*x));
	x->r = hwtdi_dwarf_file_reader(package, HWTDI_DWARF_CU_INDEX, 0);
	/* Of version 5 it has 2 bytes, and 2 of padding. */
	if (!number_at(x, 0, 4, &version) || !number_at(x, 4, 4, &n))
		return (false);
	x->n_columns = (uint32_t)n;
	if ((version != 2 && version != 5 && version != 0x50000) ||
	    n > SECT_MAX || !number_at(x, 8, 4, &n))
		return (false);
	x->n_units = (uint32_t)n;
	if (!number_at(x, 12, 4, &n) || n == 0 || (n & (n - 1)) != 0)
		return (false);
	x->n_slots = (uint32_t)n;
	x->signatures = 16;
	x->rows = x->signatures + (uint64_t)8 * x->n_slots;
	x->columns = x->rows + (uint64_t)4 * x->n_slots;
	x->offsets = x->columns + (uint64_t)4 * x->n_columns;
	return (true);
}

/* The row of a unit, from 1 on; 0: it is not there. */
static uint32_t
find_row(const struct index *x, uint64_t id)
{
	const uint64_t mask = x->n_slots - 1;
	const uint64_t step = (id >> 32 & mask) | 1;
	uint64_t slot = id & mask, signature, row;

	for (uint32_t i = 0; i < x->n_slots; i++) {
		if (!number_at(x, x->rows + 4 * slot, 4, &row) || row == 0 ||
		    !number_at(x, x->signatures + 8 * slot, 8, &signature))
			return (0);
		if (signature == id)
			return (row <= x->n_units ? (uint32_t)row : 0);
		slot = (slot + step) & mask;
	}
	return (0);
}

int
hwtdi_dwarf_package_find(const struct hwtdi_dwarf_file *package,
    const struct hwtdi_dwarf_unit *skeleton, struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err)
{
	uint64_t part[SECT_MAX + 1] = { 0 }, id, off;
	uint64_t left = HWTDI_DWARF_INDEX_MAX;
	struct hwtdi_dwarf_die root;
	struct index x;
	uint32_t row;
	int rc;

	if (!read_index(package, &x))
		return (hwtdi_dwarf_fail(err, package, HWTDI_DWARF_CU_INDEX, 0,
		    "the index cannot be read"));
	row = find_row(&x, skeleton->dwo_id);
	if (row == 0)
		return (HWTD_E_NOT_FOUND);
	for (uint32_t i = 0; i < x.n_columns; i++) {
		if (!number_at(&x, x.columns + (uint64_t)4 * i, 4, &id) ||
		    !number_at(&x,
			x.offsets +
			    ((uint64_t)(row - 1) * x.n_columns + i) * 4,
			4, &off))
			return (hwtdi_dwarf_fail(err, package,
			    HWTDI_DWARF_CU_INDEX, 0,
			    "the index ends in a table"));
		if (id <= SECT_MAX)
			part[id] = off;
	}
	rc = hwtdi_dwarf_unit_read(package, part[SECT_INFO], unit, err);
	if (rc != HWTD_OK)
		return (rc);
	unit->abbrev_off += part[SECT_ABBREV];
	unit->str_offsets_base = part[SECT_STR_OFFSETS];
	if (unit->version >= 5) {
		unit->str_offsets_base += unit->offset_bytes == 8 ? 16 : 8;
		unit->rnglists_base = part[SECT_RNGLISTS];
	}
	return (hwtdi_dwarf_unit_root(package, unit, &root, &left, err));
}

/* Files. */

/* The unit of a .dwo file that has the id. */
static int
find_unit(const struct hwtdi_dwarf_file *file, uint64_t id,
    struct hwtdi_dwarf_unit *unit, struct hwtd_error *err)
{
	struct hwtdi_dwarf_die root;
	uint64_t left = HWTDI_DWARF_INDEX_MAX, off = 0;
	int rc;

	for (uint32_t i = 0;
	     i < UNITS_MAX && off < file->sections[HWTDI_DWARF_INFO].n; i++) {
		rc = hwtdi_dwarf_unit_read(file, off, unit, err);
		if (rc != HWTD_OK)
			return (rc);
		/* It does not say where its texts begin. */
		if (unit->version >= 5)
			unit->str_offsets_base = unit->offset_bytes == 8 ? 16
									 : 8;
		rc = hwtdi_dwarf_unit_root(file, unit, &root, &left, err);
		if (rc != HWTD_OK)
			return (rc);
		if (unit->has_dwo_id && unit->dwo_id == id)
			return (HWTD_OK);
		off = unit->end;
	}
	return (HWTD_E_NOT_FOUND);
}

struct opening {
	struct hwtdi_dwarf_file *file;
	struct hwtd_context *ctx;
	uint64_t id;
	struct hwtdi_dwarf_unit *unit;
	/* HWTD_E_NOT_FOUND: go on. */
	int rc;
	struct hwtd_error *err;
};

static void try_path(struct opening *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
try_path(struct opening *o, const char *fmt, ...)
{
	char path[HWTDI_SEARCH_PATH_MAX];
	va_list ap;
	int n;

	if (o->rc != HWTD_E_NOT_FOUND)
		return;
	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(path))
		return;
	o->rc = open_file(o->file, o->ctx, path, o->err);
	if (o->rc != HWTD_OK)
		return;
	o->rc = find_unit(o->file, o->id, o->unit, o->err);
	if (o->rc != HWTD_OK)
		hwtdi_dwarf_file_fini(o->file);
}

/* Below each root, and as it is. */
static void
try_placed(struct opening *o, const struct hwtdi_image_places *places,
    const char *dir, const char *name)
{
	const char *slash = dir[0] != '\0' ? "/" : "";

	if (places == NULL)
		return;
	for (size_t i = 0; i < places->n_roots &&
	     hwtdi_search_stays_inside(dir) && hwtdi_search_stays_inside(name);
	     i++)
		try_path(o, "%s/%s%s%s", places->roots[i], dir, slash, name);
	if (places->as_is)
		try_path(o, "%s%s%s", dir, slash, name);
}

/* In the folder of a file. */
static void
try_beside(struct opening *o, const char *path, const char *name)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;
	const char *base = strrchr(name, '/');

	if (path == NULL)
		return;
	if (name[0] != '/' && hwtdi_search_stays_inside(name))
		try_path(o, "%.*s%s",
		    slash != NULL ? (int)(slash + 1 - path) : 0, path, name);
	if (base != NULL && hwtdi_search_stays_inside(base))
		try_path(o, "%.*s%s",
		    slash != NULL ? (int)(slash + 1 - path) : 0, path,
		    base + 1);
}

int
hwtdi_dwarf_split_open(struct hwtdi_dwarf_file *file, struct hwtd_context *ctx,
    const struct hwtdi_dwarf_split_places *places,
    const struct hwtdi_dwarf_unit *skeleton, struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err)
{
	struct opening o = { .file = file,
		.ctx = ctx,
		.id = skeleton->dwo_id,
		.unit = unit,
		.rc = HWTD_E_NOT_FOUND,
		.err = err };
	const char *name = skeleton->dwo_name;

	if (name == NULL || name[0] == '\0')
		return (HWTD_E_NOT_FOUND);
	if (name[0] == '/')
		try_placed(&o, places->places, "", name);
	else if (skeleton->comp_dir != NULL && skeleton->comp_dir[0] == '/')
		try_placed(&o, places->places, skeleton->comp_dir, name);
	try_beside(&o, places->code_path, name);
	try_beside(&o, places->debug_path, name);
	if (o.rc == HWTD_E_NOT_FOUND)
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND,
		    "%.80s: %.100s is not there; add its folder to the roots",
		    places->debug_path != NULL ? places->debug_path : "",
		    name));
	return (o.rc);
}
