/*
 * Units of DWARF and their entries (DIEs): headers, abbreviations, attributes.
 */
#include "image/dwarf_die.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* Source: DWARF 5, "Unit Header Unit Type Encodings". */
#define UT_TYPE 0x02
#define UT_SKELETON 0x04
#define UT_SPLIT_COMPILE 0x05
#define UT_SPLIT_TYPE 0x06

/* Source: DWARF 5, "Form Encodings"; GNU extensions from 0x1f01 on. */
enum {
	FORM_ADDR = 0x01,
	FORM_BLOCK2 = 0x03,
	FORM_BLOCK4 = 0x04,
	FORM_DATA2 = 0x05,
	FORM_DATA4 = 0x06,
	FORM_DATA8 = 0x07,
	FORM_STRING = 0x08,
	FORM_BLOCK = 0x09,
	FORM_BLOCK1 = 0x0a,
	FORM_DATA1 = 0x0b,
	FORM_FLAG = 0x0c,
	FORM_SDATA = 0x0d,
	FORM_STRP = 0x0e,
	FORM_UDATA = 0x0f,
	FORM_REF_ADDR = 0x10,
	FORM_REF1 = 0x11,
	FORM_REF2 = 0x12,
	FORM_REF4 = 0x13,
	FORM_REF8 = 0x14,
	FORM_REF_UDATA = 0x15,
	FORM_INDIRECT = 0x16,
	FORM_SEC_OFFSET = 0x17,
	FORM_EXPRLOC = 0x18,
	FORM_FLAG_PRESENT = 0x19,
	FORM_STRX = 0x1a,
	FORM_ADDRX = 0x1b,
	FORM_REF_SUP4 = 0x1c,
	FORM_STRP_SUP = 0x1d,
	FORM_DATA16 = 0x1e,
	FORM_LINE_STRP = 0x1f,
	FORM_REF_SIG8 = 0x20,
	FORM_IMPLICIT_CONST = 0x21,
	FORM_LOCLISTX = 0x22,
	FORM_RNGLISTX = 0x23,
	FORM_REF_SUP8 = 0x24,
	FORM_STRX1 = 0x25,
	FORM_STRX2 = 0x26,
	FORM_STRX3 = 0x27,
	FORM_STRX4 = 0x28,
	FORM_ADDRX1 = 0x29,
	FORM_ADDRX2 = 0x2a,
	FORM_ADDRX3 = 0x2b,
	FORM_ADDRX4 = 0x2c,
	FORM_GNU_ADDR_INDEX = 0x1f01,
	FORM_GNU_STR_INDEX = 0x1f02,
	FORM_GNU_REF_ALT = 0x1f20,
	FORM_GNU_STRP_ALT = 0x1f21
};

/* Attributes of one DIE, which a hostile file repeats. */
#define MOST_SPECS 128u
/* Abbreviations of one unit. */
#define MOST_ABBREVS 65536u
#define VERSION_MIN 2
#define VERSION_MAX 5

/* Headers. */

int
hwtdi_dwarf_unit_read(const struct hwtdi_dwarf_file *file, uint64_t off,
    struct hwtdi_dwarf_unit *unit, struct hwtd_error *err)
{
	struct hwtdi_dwarf_reader r = hwtdi_dwarf_file_reader(file,
	    HWTDI_DWARF_INFO, off);
	uint64_t length;

	memset(unit, 0, sizeof(*unit));
	unit->off = off;
	length = hwtdi_dw_length(&r, &unit->offset_bytes);
	if (r.bad || length > hwtdi_dw_left(&r))
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO, off,
		    "a unit of %" PRIu64 " bytes, of which there are %" PRIu64,
		    length, hwtdi_dw_left(&r)));
	unit->end = hwtdi_dw_off(&r) + length;
	r.end = r.at + length;
	unit->version = (uint16_t)hwtdi_dw_uint(&r, 2);
	if (!r.bad &&
	    (unit->version < VERSION_MIN || unit->version > VERSION_MAX))
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO, off,
		    "a unit of DWARF version %u", unit->version));
	if (unit->version >= 5) {
		unit->type = hwtdi_dw_u8(&r);
		unit->address_bytes = hwtdi_dw_u8(&r);
		unit->abbrev_off = hwtdi_dw_uint(&r, unit->offset_bytes);
		if (unit->type == UT_SKELETON ||
		    unit->type == UT_SPLIT_COMPILE) {
			unit->dwo_id = hwtdi_dw_uint(&r, 8);
			unit->has_dwo_id = true;
		} else if (unit->type == UT_TYPE ||
		    unit->type == UT_SPLIT_TYPE) {
			hwtdi_dw_skip(&r, 8 + unit->offset_bytes);
		}
	} else {
		unit->abbrev_off = hwtdi_dw_uint(&r, unit->offset_bytes);
		unit->address_bytes = hwtdi_dw_u8(&r);
	}
	unit->dies = hwtdi_dw_off(&r);
	if (r.bad)
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO, off,
		    "a unit ends in its header"));
	if (unit->address_bytes != 4 && unit->address_bytes != 8)
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO, off,
		    "a unit with addresses of %u bytes", unit->address_bytes));
	return (HWTD_OK);
}

struct hwtdi_dwarf_reader
hwtdi_dwarf_unit_reader(const struct hwtdi_dwarf_file *file,
    const struct hwtdi_dwarf_unit *unit, uint64_t off)
{
	struct hwtdi_dwarf_reader r = hwtdi_dwarf_file_reader(file,
	    HWTDI_DWARF_INFO, off);

	if (off < unit->off || off > unit->end ||
	    unit->end - off > hwtdi_dw_left(&r)) {
		r.bad = true;
		r.end = r.at;
	} else {
		r.end = r.at + (unit->end - off);
	}
	return (r);
}

/* Forms. */

static void
set(struct hwtdi_dwarf_value *out, enum hwtdi_dwarf_kind kind, uint64_t v)
{
	out->kind = kind;
	out->v = v;
	out->is_signed = false;
}

static bool
read_reference(const struct hwtdi_dwarf_unit *unit,
    struct hwtdi_dwarf_reader *r, uint64_t v, struct hwtdi_dwarf_value *out)
{
	/* It may only be to its own unit. */
	if (v < unit->end - unit->off)
		set(out, HWTDI_DW_REFERENCE, unit->off + v);
	else
		set(out, HWTDI_DW_OTHER, 0);
	return (!r->bad);
}

static bool
read_block(struct hwtdi_dwarf_reader *r, uint64_t n,
    struct hwtdi_dwarf_value *out)
{
	hwtdi_dw_skip(r, n);
	set(out, HWTDI_DW_OTHER, 0);
	return (!r->bad);
}

static bool
read_number(struct hwtdi_dwarf_reader *r, enum hwtdi_dwarf_kind kind,
    uint64_t v, struct hwtdi_dwarf_value *out)
{
	set(out, kind, v);
	return (!r->bad);
}

/* Forms of DWARF 5 and GNU. */
static bool
read_new_form(const struct hwtdi_dwarf_unit *unit,
    struct hwtdi_dwarf_reader *r, uint64_t form, int64_t implicit,
    struct hwtdi_dwarf_value *out)
{
	switch (form) {
	case FORM_STRX:
	case FORM_GNU_STR_INDEX:
		return (read_number(r, HWTDI_DW_STR_INDEX, hwtdi_dw_uleb(r),
		    out));
	case FORM_STRX1:
	case FORM_STRX2:
	case FORM_STRX3:
	case FORM_STRX4:
		return (read_number(r, HWTDI_DW_STR_INDEX,
		    hwtdi_dw_uint(r, (size_t)(form - FORM_STRX1) + 1), out));
	case FORM_ADDRX:
	case FORM_GNU_ADDR_INDEX:
		return (read_number(r, HWTDI_DW_ADDRESS_INDEX,
		    hwtdi_dw_uleb(r), out));
	case FORM_ADDRX1:
	case FORM_ADDRX2:
	case FORM_ADDRX3:
	case FORM_ADDRX4:
		return (read_number(r, HWTDI_DW_ADDRESS_INDEX,
		    hwtdi_dw_uint(r, (size_t)(form - FORM_ADDRX1) + 1), out));
	case FORM_LINE_STRP:
		return (read_number(r, HWTDI_DW_LINE_STR_OFFSET,
		    hwtdi_dw_uint(r, unit->offset_bytes), out));
	case FORM_RNGLISTX:
		return (read_number(r, HWTDI_DW_LIST_INDEX, hwtdi_dw_uleb(r),
		    out));
	case FORM_LOCLISTX:
		return (read_number(r, HWTDI_DW_OTHER, hwtdi_dw_uleb(r), out));
	case FORM_DATA16:
		return (read_block(r, 16, out));
	case FORM_REF_SIG8:
		return (read_block(r, 8, out));
	case FORM_REF_SUP4:
	case FORM_REF_SUP8:
		return (read_number(r, HWTDI_DW_SHARED_REFERENCE,
		    hwtdi_dw_uint(r, form == FORM_REF_SUP4 ? 4 : 8), out));
	case FORM_GNU_REF_ALT:
		return (read_number(r, HWTDI_DW_SHARED_REFERENCE,
		    hwtdi_dw_uint(r, unit->offset_bytes), out));
	case FORM_STRP_SUP:
	case FORM_GNU_STRP_ALT:
		return (read_number(r, HWTDI_DW_SHARED_STR_OFFSET,
		    hwtdi_dw_uint(r, unit->offset_bytes), out));
	case FORM_IMPLICIT_CONST:
		set(out, HWTDI_DW_NUMBER, (uint64_t)implicit);
		out->is_signed = true;
		return (true);
	default:
		return (false);
	}
}

bool
hwtdi_dwarf_form(const struct hwtdi_dwarf_unit *unit,
    struct hwtdi_dwarf_reader *r, uint64_t form, int64_t implicit,
    struct hwtdi_dwarf_value *out)
{
	/* One that names its form itself may do so again, and again. */
	while (form == FORM_INDIRECT && !r->bad)
		form = hwtdi_dw_uleb(r);
	switch (form) {
	case FORM_ADDR:
		return (read_number(r, HWTDI_DW_ADDRESS,
		    hwtdi_dw_uint(r, unit->address_bytes), out));
	case FORM_BLOCK1:
		return (read_block(r, hwtdi_dw_u8(r), out));
	case FORM_BLOCK2:
		return (read_block(r, hwtdi_dw_uint(r, 2), out));
	case FORM_BLOCK4:
		return (read_block(r, hwtdi_dw_uint(r, 4), out));
	case FORM_BLOCK:
	case FORM_EXPRLOC:
		return (read_block(r, hwtdi_dw_uleb(r), out));
	case FORM_DATA1:
	case FORM_FLAG:
		return (read_number(r, HWTDI_DW_NUMBER, hwtdi_dw_u8(r), out));
	case FORM_DATA2:
		return (read_number(r, HWTDI_DW_NUMBER, hwtdi_dw_uint(r, 2),
		    out));
	case FORM_DATA4:
		return (read_number(r, HWTDI_DW_NUMBER, hwtdi_dw_uint(r, 4),
		    out));
	case FORM_DATA8:
		return (read_number(r, HWTDI_DW_NUMBER, hwtdi_dw_uint(r, 8),
		    out));
	case FORM_SDATA:
		set(out, HWTDI_DW_NUMBER, (uint64_t)hwtdi_dw_sleb(r));
		out->is_signed = true;
		return (!r->bad);
	case FORM_UDATA:
		return (read_number(r, HWTDI_DW_NUMBER, hwtdi_dw_uleb(r),
		    out));
	case FORM_STRING:
		set(out, HWTDI_DW_TEXT, hwtdi_dw_off(r));
		return (hwtdi_dw_text(r) != NULL);
	case FORM_STRP:
		return (read_number(r, HWTDI_DW_STR_OFFSET,
		    hwtdi_dw_uint(r, unit->offset_bytes), out));
	case FORM_REF_ADDR:
		/* DWARF 2 had addresses of the target there. */
		return (read_number(r, HWTDI_DW_REFERENCE,
		    hwtdi_dw_uint(r,
			unit->version < 3 ? unit->address_bytes
					  : unit->offset_bytes),
		    out));
	case FORM_REF1:
		return (read_reference(unit, r, hwtdi_dw_u8(r), out));
	case FORM_REF2:
		return (read_reference(unit, r, hwtdi_dw_uint(r, 2), out));
	case FORM_REF4:
		return (read_reference(unit, r, hwtdi_dw_uint(r, 4), out));
	case FORM_REF8:
		return (read_reference(unit, r, hwtdi_dw_uint(r, 8), out));
	case FORM_REF_UDATA:
		return (read_reference(unit, r, hwtdi_dw_uleb(r), out));
	case FORM_SEC_OFFSET:
		return (read_number(r, HWTDI_DW_NUMBER,
		    hwtdi_dw_uint(r, unit->offset_bytes), out));
	case FORM_FLAG_PRESENT:
		set(out, HWTDI_DW_NUMBER, 1);
		return (true);
	default:
		return (read_new_form(unit, r, form, implicit, out));
	}
}

/* Bytes of a form that always has as many; 0: others, or none at all. */
static uint32_t
form_bytes(const struct hwtdi_dwarf_unit *unit, uint64_t form, bool *fixed)
{
	*fixed = true;
	switch (form) {
	case FORM_FLAG_PRESENT:
	case FORM_IMPLICIT_CONST:
		return (0);
	case FORM_DATA1:
	case FORM_FLAG:
	case FORM_REF1:
	case FORM_STRX1:
	case FORM_ADDRX1:
		return (1);
	case FORM_DATA2:
	case FORM_REF2:
	case FORM_STRX2:
	case FORM_ADDRX2:
		return (2);
	case FORM_DATA4:
	case FORM_REF4:
	case FORM_STRX4:
	case FORM_ADDRX4:
	case FORM_REF_SUP4:
		return (4);
	case FORM_DATA8:
	case FORM_REF8:
	case FORM_REF_SIG8:
		return (8);
	case FORM_ADDR:
		return (unit->address_bytes);
	case FORM_STRP:
	case FORM_LINE_STRP:
	case FORM_SEC_OFFSET:
	case FORM_GNU_REF_ALT:
	case FORM_GNU_STRP_ALT:
		return (unit->offset_bytes);
	default:
		*fixed = false;
		return (0);
	}
}

/* Abbreviations. */

/* Which attribute that is; HWTDI_DW_ATTRIBUTES: none that is looked at. */
static unsigned int
attribute_of(uint64_t name)
{
	/* Source: DWARF 5, "Attribute Encodings"; GNU and MIPS extensions. */
	switch (name) {
	case 0x03:
		return (HWTDI_DW_NAME);
	case 0x6e:
	case 0x2007:
		return (HWTDI_DW_LINKAGE_NAME);
	case 0x11:
		return (HWTDI_DW_LOW_PC);
	case 0x12:
		return (HWTDI_DW_HIGH_PC);
	case 0x55:
		return (HWTDI_DW_RANGES);
	case 0x31:
		return (HWTDI_DW_ORIGIN);
	case 0x47:
		return (HWTDI_DW_SPECIFICATION);
	case 0x58:
		return (HWTDI_DW_CALL_FILE);
	case 0x59:
		return (HWTDI_DW_CALL_LINE);
	case 0x57:
		return (HWTDI_DW_CALL_COLUMN);
	case 0x2136:
		return (HWTDI_DW_DISCRIMINATOR);
	case 0x10:
		return (HWTDI_DW_STMT_LIST);
	case 0x1b:
		return (HWTDI_DW_COMP_DIR);
	case 0x76:
	case 0x2130:
		return (HWTDI_DW_DWO_NAME);
	case 0x2131:
		return (HWTDI_DW_DWO_ID);
	case 0x72:
		return (HWTDI_DW_STR_OFFSETS_BASE);
	case 0x73:
	case 0x2133:
		return (HWTDI_DW_ADDR_BASE);
	case 0x74:
		return (HWTDI_DW_RNGLISTS_BASE);
	case 0x2132:
		return (HWTDI_DW_GNU_RANGES_BASE);
	case 0x3a:
		return (HWTDI_DW_DECL_FILE);
	case 0x3b:
		return (HWTDI_DW_DECL_LINE);
	case 0x52:
		return (HWTDI_DW_ENTRY_PC);
	default:
		return (HWTDI_DW_ATTRIBUTES);
	}
}

static bool
is_wanted_tag(uint32_t tag)
{
	return (tag == HWTDI_DW_TAG_SUBPROGRAM ||
	    tag == HWTDI_DW_TAG_INLINED || tag == HWTDI_DW_TAG_COMPILE_UNIT ||
	    tag == HWTDI_DW_TAG_PARTIAL_UNIT ||
	    tag == HWTDI_DW_TAG_SKELETON_UNIT);
}

/* One abbreviation; code 0: the end.  False: the section ends. */
static bool
read_abbrev(const struct hwtdi_dwarf_unit *unit, struct hwtdi_dwarf_reader *r,
    struct hwtdi_dwarf_abbrev *out)
{
	bool all_fixed = true, fixed;
	uint64_t bytes = 0, name, form;

	memset(out, 0, sizeof(*out));
	out->code = hwtdi_dw_uleb(r);
	if (out->code == 0)
		return (!r->bad);
	out->tag = (uint32_t)hwtdi_dw_uleb(r);
	out->has_children = hwtdi_dw_u8(r) != 0;
	out->is_wanted = is_wanted_tag(out->tag);
	out->specs = r->at;
	for (uint32_t i = 0; !r->bad && i < MOST_SPECS; i++) {
		name = hwtdi_dw_uleb(r);
		form = hwtdi_dw_uleb(r);
		if (name == 0 && form == 0) {
			if (all_fixed)
				out->fixed = (uint32_t)bytes + 1;
			return (!r->bad);
		}
		if (form == FORM_IMPLICIT_CONST)
			(void)hwtdi_dw_sleb(r);
		bytes += form_bytes(unit, form, &fixed);
		all_fixed &= fixed;
	}
	return (false);
}

static int
by_code(const void *va, const void *vb)
{
	const struct hwtdi_dwarf_abbrev *a = va, *b = vb;

	return (a->code < b->code ? -1 : a->code > b->code);
}

int
hwtdi_dwarf_abbrevs_init(struct hwtdi_dwarf_abbrevs *abbrevs,
    const struct hwtdi_dwarf_file *file, const struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err)
{
	struct hwtdi_dwarf_reader r = hwtdi_dwarf_file_reader(file,
	    HWTDI_DWARF_ABBREV, unit->abbrev_off);
	struct hwtdi_dwarf_abbrev one;
	int rc = HWTD_OK;

	memset(abbrevs, 0, sizeof(*abbrevs));
	abbrevs->dense = true;
	for (;;) {
		const uint64_t off = hwtdi_dw_off(&r);

		if (!read_abbrev(unit, &r, &one) ||
		    abbrevs->n == MOST_ABBREVS) {
			rc = hwtdi_dwarf_fail(err, file, HWTDI_DWARF_ABBREV,
			    off, "an abbreviation has no end");
			break;
		}
		if (one.code == 0)
			break;
		rc = hwtdi_array_grow(file->ctx, &abbrevs->at, &abbrevs->cap,
		    abbrevs->n + 1, sizeof(one), err);
		if (rc != HWTD_OK)
			break;
		abbrevs->dense &= one.code == abbrevs->n + 1;
		abbrevs->at[abbrevs->n++] = one;
	}
	if (rc != HWTD_OK) {
		hwtdi_dwarf_abbrevs_fini(abbrevs, file->ctx);
		return (rc);
	}
	if (!abbrevs->dense && abbrevs->n > 1)
		qsort(abbrevs->at, abbrevs->n, sizeof(*abbrevs->at), by_code);
	return (HWTD_OK);
}

void
hwtdi_dwarf_abbrevs_fini(struct hwtdi_dwarf_abbrevs *abbrevs,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, abbrevs->at, abbrevs->cap, sizeof(*abbrevs->at));
	memset(abbrevs, 0, sizeof(*abbrevs));
}

static const struct hwtdi_dwarf_abbrev *
find_abbrev(const struct hwtdi_dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct hwtdi_dwarf_abbrev key = { .code = code };

	if (abbrevs->dense)
		return (code <= abbrevs->n ? &abbrevs->at[code - 1] : NULL);
	return (abbrevs->n == 0 ? NULL
				: bsearch(&key, abbrevs->at, abbrevs->n,
				      sizeof(key), by_code));
}

/* DIEs. */

/* The attributes of a DIE; false: they cannot be read. */
static bool
read_attributes(const struct hwtdi_dwarf_file *file,
    const struct hwtdi_dwarf_unit *unit,
    const struct hwtdi_dwarf_abbrev *abbrev, struct hwtdi_dwarf_reader *r,
    struct hwtdi_dwarf_die *die)
{
	struct hwtdi_dwarf_reader specs = hwtdi_dwarf_file_reader(file,
	    HWTDI_DWARF_ABBREV, 0);
	struct hwtdi_dwarf_value value;

	specs.at = abbrev->specs;
	for (;;) {
		const uint64_t name = hwtdi_dw_uleb(&specs);
		const uint64_t form = hwtdi_dw_uleb(&specs);
		int64_t implicit = 0;
		unsigned int no;

		if (name == 0 && form == 0)
			return (!r->bad);
		if (form == FORM_IMPLICIT_CONST)
			implicit = hwtdi_dw_sleb(&specs);
		if (!hwtdi_dwarf_form(unit, r, form, implicit, &value))
			return (false);
		no = abbrev->is_wanted ? attribute_of(name)
				       : HWTDI_DW_ATTRIBUTES;
		if (no == HWTDI_DW_ATTRIBUTES)
			continue;
		die->at[no] = value;
		die->has |= UINT32_C(1) << no;
	}
}

int
hwtdi_dwarf_die_next(const struct hwtdi_dwarf_view *view,
    struct hwtdi_dwarf_reader *r, struct hwtdi_dwarf_die *die,
    struct hwtd_error *err)
{
	const struct hwtdi_dwarf_abbrev *abbrev;
	uint64_t code;

	die->off = hwtdi_dw_off(r);
	die->tag = 0;
	die->has = 0;
	die->has_children = false;
	code = hwtdi_dw_uleb(r);
	if (r->bad)
		return (hwtdi_dwarf_fail(err, view->file, HWTDI_DWARF_INFO,
		    die->off, "the unit ends in an entry"));
	if (code == 0)
		return (HWTD_OK);
	abbrev = find_abbrev(view->abbrevs, code);
	if (abbrev == NULL)
		return (hwtdi_dwarf_fail(err, view->file, HWTDI_DWARF_INFO,
		    die->off, "abbreviation %" PRIu64 " is not there", code));
	die->tag = abbrev->tag;
	die->has_children = abbrev->has_children;
	if (!abbrev->is_wanted && abbrev->fixed != 0) {
		hwtdi_dw_skip(r, abbrev->fixed - 1);
		if (!r->bad)
			return (HWTD_OK);
	} else if (read_attributes(view->file, view->unit, abbrev, r, die)) {
		return (HWTD_OK);
	}
	return (hwtdi_dwarf_fail(err, view->file, HWTDI_DWARF_INFO, die->off,
	    r->bad ? "the unit ends in an entry"
		   : "an attribute has a form that is not known"));
}

/* Roots. */

/* The root's abbreviation is mostly the first. */
static bool
find_root(const struct hwtdi_dwarf_file *file,
    const struct hwtdi_dwarf_unit *unit, uint64_t code, uint64_t *left_inout,
    struct hwtdi_dwarf_abbrev *out)
{
	struct hwtdi_dwarf_reader r = hwtdi_dwarf_file_reader(file,
	    HWTDI_DWARF_ABBREV, unit->abbrev_off);

	for (uint32_t i = 0; i<MOST_ABBREVS && * left_inout> 0; i++) {
		(*left_inout)--;
		if (!read_abbrev(unit, &r, out) || out->code == 0)
			return (false);
		if (out->code == code)
			return (true);
	}
	return (false);
}

static void
see_root(const struct hwtdi_dwarf_file *file, struct hwtdi_dwarf_unit *unit,
    const struct hwtdi_dwarf_die *root)
{
	const struct hwtdi_dwarf_value *v;
	uint64_t low;

	unit->str_offsets_base = hwtdi_dwarf_die_number(root,
	    HWTDI_DW_STR_OFFSETS_BASE, unit->str_offsets_base);
	v = hwtdi_dwarf_die_get(root, HWTDI_DW_ADDR_BASE);
	unit->has_addr_base = v != NULL && v->kind == HWTDI_DW_NUMBER;
	if (unit->has_addr_base)
		unit->addr_base = v->v;
	unit->rnglists_base = hwtdi_dwarf_die_number(root,
	    HWTDI_DW_RNGLISTS_BASE, unit->rnglists_base);
	unit->ranges_base = hwtdi_dwarf_die_number(root,
	    HWTDI_DW_GNU_RANGES_BASE, 0);
	v = hwtdi_dwarf_die_get(root, HWTDI_DW_STMT_LIST);
	unit->has_stmt_list = v != NULL && v->kind == HWTDI_DW_NUMBER;
	if (unit->has_stmt_list)
		unit->stmt_list = v->v;
	v = hwtdi_dwarf_die_get(root, HWTDI_DW_DWO_ID);
	if (v != NULL && v->kind == HWTDI_DW_NUMBER) {
		unit->has_dwo_id = true;
		unit->dwo_id = v->v;
	}
	unit->comp_dir = hwtdi_dwarf_text(file, unit,
	    hwtdi_dwarf_die_get(root, HWTDI_DW_COMP_DIR));
	unit->dwo_name = hwtdi_dwarf_text(file, unit,
	    hwtdi_dwarf_die_get(root, HWTDI_DW_DWO_NAME));
	v = hwtdi_dwarf_die_get(root, HWTDI_DW_LOW_PC);
	if (hwtdi_dwarf_address(&(const struct hwtdi_dwarf_view){ file, unit,
				    file, unit, NULL },
		v, &low))
		unit->low_pc = low;
}

int
hwtdi_dwarf_unit_root(const struct hwtdi_dwarf_file *file,
    struct hwtdi_dwarf_unit *unit, struct hwtdi_dwarf_die *root,
    uint64_t *left_inout, struct hwtd_error *err)
{
	struct hwtdi_dwarf_reader r = hwtdi_dwarf_unit_reader(file, unit,
	    unit->dies);
	struct hwtdi_dwarf_abbrev abbrev;
	uint64_t code;

	memset(root, 0, sizeof(*root));
	root->off = unit->dies;
	code = hwtdi_dw_uleb(&r);
	if (r.bad || code == 0)
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO,
		    root->off, "a unit without entries"));
	if (*left_inout == 0)
		return (hwtdi_fail_at(err, HWTD_E_LIMIT, root->off,
		    "%.90s: too many units and abbreviations", file->path));
	if (!find_root(file, unit, code, left_inout, &abbrev))
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO,
		    root->off, "abbreviation %" PRIu64 " is not there", code));
	root->tag = abbrev.tag;
	root->has_children = abbrev.has_children;
	if (!read_attributes(file, unit, &abbrev, &r, root))
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO,
		    root->off, "the root of a unit cannot be read"));
	see_root(file, unit, root);
	return (HWTD_OK);
}

/* Values. */

static const char *
text_at(const struct hwtdi_dwarf_file *file, enum hwtdi_dwarf_section_id id,
    uint64_t off)
{
	struct hwtdi_dwarf_reader r = hwtdi_dwarf_file_reader(file, id, off);

	if (hwtdi_dw_left(&r) > HWTDI_ELF_TEXT_MAX * 16)
		r.end = r.at + HWTDI_ELF_TEXT_MAX * 16;
	return (r.bad ? NULL : hwtdi_dw_text(&r));
}

const char *
hwtdi_dwarf_text(const struct hwtdi_dwarf_file *file,
    const struct hwtdi_dwarf_unit *unit, const struct hwtdi_dwarf_value *value)
{
	struct hwtdi_dwarf_reader r;
	uint64_t off;

	if (value == NULL)
		return (NULL);
	switch (value->kind) {
	case HWTDI_DW_TEXT:
		return (text_at(file, HWTDI_DWARF_INFO, value->v));
	case HWTDI_DW_STR_OFFSET:
		return (text_at(file, HWTDI_DWARF_STR, value->v));
	case HWTDI_DW_LINE_STR_OFFSET:
		return (text_at(file, HWTDI_DWARF_LINE_STR, value->v));
	case HWTDI_DW_SHARED_STR_OFFSET:
		return (file->shared != NULL
			? text_at(file->shared, HWTDI_DWARF_STR, value->v)
			: NULL);
	case HWTDI_DW_STR_INDEX:
		if (value->v > UINT32_MAX)
			return (NULL);
		off = unit->str_offsets_base + value->v * unit->offset_bytes;
		r = hwtdi_dwarf_file_reader(file, HWTDI_DWARF_STR_OFFSETS,
		    off);
		off = hwtdi_dw_uint(&r, unit->offset_bytes);
		return (r.bad ? NULL : text_at(file, HWTDI_DWARF_STR, off));
	default:
		return (NULL);
	}
}

bool
hwtdi_dwarf_address(const struct hwtdi_dwarf_view *view,
    const struct hwtdi_dwarf_value *value, uint64_t *out)
{
	struct hwtdi_dwarf_reader r;

	if (value == NULL)
		return (false);
	if (value->kind == HWTDI_DW_ADDRESS) {
		*out = value->v;
		return (true);
	}
	if (value->kind != HWTDI_DW_ADDRESS_INDEX || value->v > UINT32_MAX)
		return (false);
	r = hwtdi_dwarf_file_reader(view->home_file, HWTDI_DWARF_ADDR,
	    view->home->addr_base + value->v * view->home->address_bytes);
	*out = hwtdi_dw_uint(&r, view->home->address_bytes);
	return (!r.bad);
}
