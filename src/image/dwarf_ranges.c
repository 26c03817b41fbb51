/*
 * Addresses that a DIE of DWARF covers.
 *
 * Sources: DWARF 5, "Code Addresses, Ranges and Base Addresses" (2.17),
 * "Range List Table" (7.28); DWARF 4, "Non-Contiguous Address Ranges"; GNU,
 * "Fission", DW_AT_GNU_ranges_base.
 */
#include "image/dwarf_ranges.h"

#include <string.h>

#include "base/fail.h"

/* Source: DWARF 5, "Range List Entry Encodings". */
enum {
	RLE_END = 0,
	RLE_BASE_ADDRESSX = 1,
	RLE_STARTX_ENDX = 2,
	RLE_STARTX_LENGTH = 3,
	RLE_OFFSET_PAIR = 4,
	RLE_BASE_ADDRESS = 5,
	RLE_START_END = 6,
	RLE_START_LENGTH = 7
};

/* Header of a table of lists, behind which .dwo files have theirs. */
#define TABLE_HEADER_32 12u
#define TABLE_HEADER_64 20u

struct list {
	struct hwtdi_dwarf_ranges *ranges;
	const struct hwtdi_dwarf_view *view;
	struct hwtdi_dwarf_reader r;
	uint64_t base;
	/* What the list says is no sense. */
	bool bad;
	struct hwtd_error *err;
};

/*
 * Code that linkers left out lies at 0, or at the end of the address space; an
 * empty range has no code.
 */
static int
add(struct hwtdi_dwarf_ranges *ranges, struct hwtd_context *ctx, uint64_t low,
    uint64_t high, struct hwtd_error *err)
{
	int rc;

	if (high <= low)
		return (HWTD_OK);
	rc = hwtdi_array_grow(ctx, &ranges->at, &ranges->cap, ranges->n + 1,
	    sizeof(*ranges->at), err);
	if (rc == HWTD_OK)
		ranges->at[ranges->n++] = (struct hwtdi_dwarf_range){ low,
			high };
	return (rc);
}

static uint64_t
address_at(struct list *l, uint64_t index)
{
	const struct hwtdi_dwarf_value v = { .v = index,
		.kind = HWTDI_DW_ADDRESS_INDEX };
	uint64_t address = 0;

	if (!hwtdi_dwarf_address(l->view, &v, &address))
		l->bad = true;
	return (address);
}

/* One entry of DWARF 5; false: the end. */
static bool
read_entry(struct list *l, uint64_t *low_out, uint64_t *high_out)
{
	const size_t n = l->view->unit->address_bytes;
	struct hwtdi_dwarf_reader *r = &l->r;

	*low_out = *high_out = 0;
	switch (hwtdi_dw_u8(r)) {
	case RLE_END:
		return (false);
	case RLE_BASE_ADDRESSX:
		l->base = address_at(l, hwtdi_dw_uleb(r));
		break;
	case RLE_STARTX_ENDX:
		*low_out = address_at(l, hwtdi_dw_uleb(r));
		*high_out = address_at(l, hwtdi_dw_uleb(r));
		break;
	case RLE_STARTX_LENGTH:
		*low_out = address_at(l, hwtdi_dw_uleb(r));
		*high_out = *low_out + hwtdi_dw_uleb(r);
		break;
	case RLE_OFFSET_PAIR:
		*low_out = l->base + hwtdi_dw_uleb(r);
		*high_out = l->base + hwtdi_dw_uleb(r);
		break;
	case RLE_BASE_ADDRESS:
		l->base = hwtdi_dw_uint(r, n);
		break;
	case RLE_START_END:
		*low_out = hwtdi_dw_uint(r, n);
		*high_out = hwtdi_dw_uint(r, n);
		break;
	case RLE_START_LENGTH:
		*low_out = hwtdi_dw_uint(r, n);
		*high_out = *low_out + hwtdi_dw_uleb(r);
		break;
	default:
		l->bad = true;
		break;
	}
	return (true);
}

/* The same of DWARF 3 and 4. */
static bool
read_pair(struct list *l, uint64_t *low_out, uint64_t *high_out)
{
	const size_t n = l->view->unit->address_bytes;
	const uint64_t last = n == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t low, high;

	low = hwtdi_dw_uint(&l->r, n);
	high = hwtdi_dw_uint(&l->r, n);
	*low_out = *high_out = 0;
	if (low == 0 && high == 0)
		return (false);
	if (low == last) {
		l->base = high;
	} else {
		*low_out = l->base + low;
		*high_out = l->base + high;
	}
	return (true);
}

static int
add_list(struct list *l, enum hwtdi_dwarf_section_id id,
    const struct hwtdi_dwarf_file *file)
{
	struct hwtdi_dwarf_ranges *ranges = l->ranges;
	const uint64_t off = hwtdi_dw_off(&l->r);
	uint64_t low, high;
	int rc = HWTD_OK;

	while (rc == HWTD_OK &&
	    (id == HWTDI_DWARF_RNGLISTS ? read_entry(l, &low, &high)
					: read_pair(l, &low, &high))) {
		if (l->bad || l->r.bad)
			return (hwtdi_dwarf_fail(l->err, file, id, off,
			    "a list of ranges cannot be read"));
		if (ranges->left == 0)
			return (hwtdi_fail(l->err, HWTD_E_LIMIT,
			    "%.90s: too many ranges of addresses",
			    file->path));
		ranges->left--;
		rc = add(ranges, file->ctx, low, high, l->err);
	}
	if (rc == HWTD_OK && l->r.bad)
		rc = hwtdi_dwarf_fail(l->err, file, id, off,
		    "a list of ranges has no end");
	return (rc);
}

/* Where the list of an index is; false: it is in no table. */
static bool
find_list(const struct hwtdi_dwarf_view *view, uint64_t index,
    uint64_t *off_out)
{
	const struct hwtdi_dwarf_unit *unit = view->unit;
	struct hwtdi_dwarf_reader r;
	uint64_t base = unit->rnglists_base;

	/* A .dwo file does not say where its table begins. */
	if (view->unit != view->home)
		base += unit->offset_bytes == 8 ? TABLE_HEADER_64
						: TABLE_HEADER_32;
	if (index > UINT32_MAX)
		return (false);
	r = hwtdi_dwarf_file_reader(view->file, HWTDI_DWARF_RNGLISTS,
	    base + index * unit->offset_bytes);
	*off_out = base + hwtdi_dw_uint(&r, unit->offset_bytes);
	return (!r.bad);
}

static int
add_listed(struct hwtdi_dwarf_ranges *ranges,
    const struct hwtdi_dwarf_view *view, const struct hwtdi_dwarf_die *die,
    const struct hwtdi_dwarf_value *v, struct hwtd_error *err)
{
	const struct hwtdi_dwarf_file *file = view->file;
	enum hwtdi_dwarf_section_id id = HWTDI_DWARF_RNGLISTS;
	struct list l = { .ranges = ranges,
		.view = view,
		.base = view->home->low_pc,
		.err = err };
	uint64_t off = v->v;

	if (view->unit->version < 5) {
		id = HWTDI_DWARF_RANGES;
		file = view->home_file;
		if (view->unit != view->home)
			off += view->home->ranges_base;
	} else if (v->kind == HWTDI_DW_LIST_INDEX &&
	    !find_list(view, v->v, &off)) {
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO, die->off,
		    "a list of ranges is not there"));
	}
	l.r = hwtdi_dwarf_file_reader(file, id, off);
	if (l.r.bad ||
	    (v->kind != HWTDI_DW_NUMBER && v->kind != HWTDI_DW_LIST_INDEX))
		return (hwtdi_dwarf_fail(err, view->file, HWTDI_DWARF_INFO,
		    die->off, "a list of ranges is not there"));
	return (add_list(&l, id, file));
}

int
hwtdi_dwarf_ranges_add(struct hwtdi_dwarf_ranges *ranges,
    const struct hwtdi_dwarf_view *view, const struct hwtdi_dwarf_die *die,
    struct hwtd_error *err)
{
	const struct hwtdi_dwarf_value *v = hwtdi_dwarf_die_get(die,
	    HWTDI_DW_RANGES);
	uint64_t low, high;

	if (v != NULL)
		return (add_listed(ranges, view, die, v, err));
	if (!hwtdi_dwarf_address(view,
		hwtdi_dwarf_die_get(die, HWTDI_DW_LOW_PC), &low))
		return (HWTD_OK);
	v = hwtdi_dwarf_die_get(die, HWTDI_DW_HIGH_PC);
	if (v == NULL)
		return (HWTD_OK);
	/* From DWARF 4 on a number is a length. */
	if (v->kind == HWTDI_DW_NUMBER)
		high = v->v > UINT64_MAX - low ? UINT64_MAX : low + v->v;
	else if (!hwtdi_dwarf_address(view, v, &high))
		return (HWTD_OK);
	return (add(ranges, view->file->ctx, low, high, err));
}

void
hwtdi_dwarf_ranges_fini(struct hwtdi_dwarf_ranges *ranges,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, ranges->at, ranges->cap, sizeof(*ranges->at));
	memset(ranges, 0, sizeof(*ranges));
}
