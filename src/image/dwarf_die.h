/*
 * Units of DWARF and their entries (DIEs): headers, abbreviations, attributes.
 *
 * Sources: DWARF 5, "Format of Debugging Information" (7.5), and DWARF 2 to 4;
 * GNU, "Fission" (split DWARF before DWARF 5).
 */
#ifndef HWTDI_DWARF_DIE_H
#define HWTDI_DWARF_DIE_H

#include "image/dwarf_file.h"

/* Tags that are looked at. */
#define HWTDI_DW_TAG_COMPILE_UNIT 0x11
#define HWTDI_DW_TAG_INLINED 0x1d
#define HWTDI_DW_TAG_SUBPROGRAM 0x2e
#define HWTDI_DW_TAG_PARTIAL_UNIT 0x3c
#define HWTDI_DW_TAG_SKELETON_UNIT 0x4a

/* Attributes that are looked at. */
enum hwtdi_dwarf_attribute {
	HWTDI_DW_NAME,
	HWTDI_DW_LINKAGE_NAME,
	HWTDI_DW_LOW_PC,
	HWTDI_DW_HIGH_PC,
	HWTDI_DW_RANGES,
	HWTDI_DW_ORIGIN,
	HWTDI_DW_SPECIFICATION,
	HWTDI_DW_CALL_FILE,
	HWTDI_DW_CALL_LINE,
	HWTDI_DW_CALL_COLUMN,
	HWTDI_DW_DISCRIMINATOR,
	HWTDI_DW_STMT_LIST,
	HWTDI_DW_COMP_DIR,
	HWTDI_DW_DWO_NAME,
	HWTDI_DW_DWO_ID,
	HWTDI_DW_STR_OFFSETS_BASE,
	HWTDI_DW_ADDR_BASE,
	HWTDI_DW_RNGLISTS_BASE,
	HWTDI_DW_GNU_RANGES_BASE,
	HWTDI_DW_DECL_FILE,
	HWTDI_DW_DECL_LINE,
	HWTDI_DW_ENTRY_PC,
	HWTDI_DW_ATTRIBUTES
};

/* What an attribute is; what its form can be. */
enum hwtdi_dwarf_kind {
	HWTDI_DW_NONE = 0,
	/* Constants, and offsets in other sections. */
	HWTDI_DW_NUMBER,
	HWTDI_DW_ADDRESS,
	HWTDI_DW_ADDRESS_INDEX,
	/* Offset in .debug_info of the same file. */
	HWTDI_DW_REFERENCE,
	HWTDI_DW_TEXT,
	HWTDI_DW_STR_OFFSET,
	HWTDI_DW_LINE_STR_OFFSET,
	HWTDI_DW_STR_INDEX,
	HWTDI_DW_LIST_INDEX,
	/* In the file that is shared: of .debug_info, of .debug_str. */
	HWTDI_DW_SHARED_REFERENCE,
	HWTDI_DW_SHARED_STR_OFFSET,
	/* Blocks, and types. */
	HWTDI_DW_OTHER
};

struct hwtdi_dwarf_value {
	uint64_t v;
	/* An hwtdi_dwarf_kind. */
	uint32_t kind;
	/* Of a number: it has a sign. */
	bool is_signed;
};

struct hwtdi_dwarf_die {
	uint64_t off;
	/* 0: the end of a list of children. */
	uint32_t tag;
	bool has_children;
	/* Bits by attribute; others are not set. */
	uint32_t has;
	struct hwtdi_dwarf_value at[HWTDI_DW_ATTRIBUTES];
};

struct hwtdi_dwarf_abbrev {
	uint64_t code;
	/* Pairs of attribute and form, in place. */
	const uint8_t *specs;
	uint32_t tag;
	/* 1 more than the bytes of such a DIE; 0: they differ. */
	uint32_t fixed;
	bool has_children;
	/* It has attributes that are looked at. */
	bool is_wanted;
};

/* All zero: none. */
struct hwtdi_dwarf_abbrevs {
	struct hwtdi_dwarf_abbrev *at;
	size_t n, cap;
	/* Codes are 1, 2 and so on; else they are sorted. */
	bool dense;
};

struct hwtdi_dwarf_unit {
	/* [off, end) in .debug_info; the first DIE is at `dies`. */
	uint64_t off, end, dies;
	uint64_t abbrev_off;
	uint16_t version;
	uint8_t address_bytes, offset_bytes;
	/* DW_UT_*, or 0 before DWARF 5. */
	uint8_t type;
	bool has_dwo_id, has_addr_base, has_stmt_list;
	uint64_t dwo_id;
	/* Of its root. */
	uint64_t low_pc, stmt_list;
	/* Where its parts of other sections begin. */
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	/* Names of its root; NULL: none. */
	const char *comp_dir, *dwo_name;
};

/* What a DIE is read with.  Of split DWARF, `home` has addresses and lines. */
struct hwtdi_dwarf_view {
	const struct hwtdi_dwarf_file *file;
	const struct hwtdi_dwarf_unit *unit;
	const struct hwtdi_dwarf_file *home_file;
	const struct hwtdi_dwarf_unit *home;
	const struct hwtdi_dwarf_abbrevs *abbrevs;
};

/*
 * The header of the unit at `off`.  `end` is set if only the rest of it cannot
 * be read, else 0.  HWTD_E_CORRUPT, HWTD_E_UNSUPPORTED (another version).
 */
int hwtdi_dwarf_unit_read(const struct hwtdi_dwarf_file *file, uint64_t off,
    struct hwtdi_dwarf_unit *unit, struct hwtd_error *err);

/*
 * The root of a unit, without its abbreviations as a whole, and what it says of
 * the unit.  *left_inout counts down abbreviations that are read for that.
 * HWTD_E_CORRUPT, HWTD_E_LIMIT.
 */
int hwtdi_dwarf_unit_root(const struct hwtdi_dwarf_file *file,
    struct hwtdi_dwarf_unit *unit, struct hwtdi_dwarf_die *root,
    uint64_t *left_inout, struct hwtd_error *err);

/* Abbreviations, entries and lines that an index may take. */
#define HWTDI_DWARF_INDEX_MAX (UINT64_C(1) << 26)

/* HWTD_E_CORRUPT, HWTD_E_NOMEM. */
int hwtdi_dwarf_abbrevs_init(struct hwtdi_dwarf_abbrevs *abbrevs,
    const struct hwtdi_dwarf_file *file, const struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err);
void hwtdi_dwarf_abbrevs_fini(struct hwtdi_dwarf_abbrevs *abbrevs,
    struct hwtd_context *ctx);

/* A reader of [off, end of the unit). */
struct hwtdi_dwarf_reader hwtdi_dwarf_unit_reader(const struct hwtdi_dwarf_file
						      *file,
    const struct hwtdi_dwarf_unit *unit, uint64_t off);

/*
 * The next DIE.  Attributes of what has no code are passed over.
 * HWTD_E_CORRUPT.
 */
int hwtdi_dwarf_die_next(const struct hwtdi_dwarf_view *view,
    struct hwtdi_dwarf_reader *r, struct hwtdi_dwarf_die *die,
    struct hwtd_error *err);

static inline const struct hwtdi_dwarf_value *
hwtdi_dwarf_die_get(const struct hwtdi_dwarf_die *die,
    enum hwtdi_dwarf_attribute attribute)
{
	return ((die->has >> attribute & 1) != 0 ? &die->at[attribute] : NULL);
}

/* A number of an attribute; `none` if it has none. */
static inline uint64_t
hwtdi_dwarf_die_number(const struct hwtdi_dwarf_die *die,
    enum hwtdi_dwarf_attribute attribute, uint64_t none)
{
	const struct hwtdi_dwarf_value *v = hwtdi_dwarf_die_get(die,
	    attribute);

	return (v != NULL && v->kind == HWTDI_DW_NUMBER ? v->v : none);
}

/* A text, in place; NULL: it has none. */
const char *hwtdi_dwarf_text(const struct hwtdi_dwarf_file *file,
    const struct hwtdi_dwarf_unit *unit,
    const struct hwtdi_dwarf_value *value);

/* False: it is no address, or its index is in no table. */
bool hwtdi_dwarf_address(const struct hwtdi_dwarf_view *view,
    const struct hwtdi_dwarf_value *value, uint64_t *out);

/* Read a value of a form; false: the form is not known, or the end came. */
bool hwtdi_dwarf_form(const struct hwtdi_dwarf_unit *unit,
    struct hwtdi_dwarf_reader *r, uint64_t form, int64_t implicit,
    struct hwtdi_dwarf_value *out);

#endif /* HWTDI_DWARF_DIE_H */
