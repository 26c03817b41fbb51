/*
 * The line table of a unit of DWARF: addresses to files, lines and columns.
 *
 * Source: DWARF 5, "Line Number Information" (6.2), and DWARF 2 to 4.
 */
#include "image/dwarf_lines.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/sort.h"

/* Source: DWARF 5, "Line Number Standard Opcode Encodings" and the following. */
enum {
	LNS_EXTENDED = 0,
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNS_SET_COLUMN = 5,
	LNS_NEGATE_STMT = 6,
	LNS_SET_BASIC_BLOCK = 7,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNS_SET_PROLOGUE_END = 10,
	LNS_SET_EPILOGUE_BEGIN = 11,
	LNS_SET_ISA = 12,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	LNE_DEFINE_FILE = 3,
	LNE_SET_DISCRIMINATOR = 4,
	LNCT_PATH = 1,
	LNCT_DIRECTORY_INDEX = 2
};

/* Rows, sequences, files and folders of one table: packed, it can be small. */
#define MOST_ROWS (UINT32_C(1) << 24)
#define MOST_SEQUENCES (UINT32_C(1) << 22)
#define MOST_FILES (UINT32_C(1) << 20)
/* Sequences that are looked at for one that an address is in. */
#define MOST_NESTED 256u
/* What DWARF 5 says of each file. */
#define MOST_FORMATS 16u

struct program {
	struct hwtdi_dwarf_lines *lines;
	const struct hwtdi_dwarf_file *file;
	/* Sizes of the table, which need not be those of the unit. */
	struct hwtdi_dwarf_unit unit;
	struct hwtdi_dwarf_reader r;
	uint64_t off;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	/* What rows begin with. */
	bool is_statement;
	const uint8_t *lengths;
	/* Registers. */
	struct hwtdi_dwarf_row row;
	uint8_t op_index;
	/* First row of the sequence that is open. */
	size_t first;
	struct hwtd_error *err;
};

static int
damaged(const struct program *p, const char *what)
{
	return (hwtdi_dwarf_fail(p->err, p->file, HWTDI_DWARF_LINE,
	    hwtdi_dw_off(&p->r), "table at 0x%" PRIx64 ": %s", p->off, what));
}

/* Files and folders. */

static int
add_dir(struct program *p, const char *dir)
{
	struct hwtdi_dwarf_lines *l = p->lines;
	int rc;

	if (l->n_dirs == MOST_FILES)
		return (damaged(p, "too many folders"));
	rc = hwtdi_array_grow(p->file->ctx, &l->dirs, &l->cap_dirs,
	    l->n_dirs + 1, sizeof(*l->dirs), p->err);
	if (rc == HWTD_OK)
		l->dirs[l->n_dirs++] = dir;
	return (rc);
}

static int
add_file(struct program *p, const char *name, uint64_t dir)
{
	struct hwtdi_dwarf_lines *l = p->lines;
	int rc;

	if (l->n_files == MOST_FILES)
		return (damaged(p, "too many files"));
	rc = hwtdi_array_grow(p->file->ctx, &l->files, &l->cap_files,
	    l->n_files + 1, sizeof(*l->files), p->err);
	if (rc == HWTD_OK)
		l->files[l->n_files++] = (struct hwtdi_dwarf_file_name){ name,
			dir };
	return (rc);
}

/* The tables of DWARF 2 to 4: texts up to an empty one. */
static int
read_old_tables(struct program *p)
{
	const char *text;
	int rc = HWTD_OK;

	while (rc == HWTD_OK && (text = hwtdi_dw_text(&p->r)) != NULL &&
	    text[0] != '\0')
		rc = add_dir(p, text);
	while (rc == HWTD_OK && (text = hwtdi_dw_text(&p->r)) != NULL &&
	    text[0] != '\0') {
		const uint64_t dir = hwtdi_dw_uleb(&p->r);

		(void)hwtdi_dw_uleb(&p->r);
		(void)hwtdi_dw_uleb(&p->r);
		rc = add_file(p, text, dir);
	}
	return (rc);
}

/* A table of DWARF 5, which says what it has of each entry. */
static int
read_table(struct program *p, bool is_files)
{
	uint64_t type[MOST_FORMATS], form[MOST_FORMATS], n;
	const uint8_t n_formats = hwtdi_dw_u8(&p->r);
	int rc = HWTD_OK;

	if (n_formats > MOST_FORMATS)
		return (damaged(p, "too much is said of each file"));
	for (uint8_t i = 0; i < n_formats; i++) {
		type[i] = hwtdi_dw_uleb(&p->r);
		form[i] = hwtdi_dw_uleb(&p->r);
	}
	n = hwtdi_dw_uleb(&p->r);
	if (n_formats == 0 && n != 0)
		return (damaged(p, "nothing is said of files"));
	for (uint64_t i = 0; rc == HWTD_OK && !p->r.bad && i < n; i++) {
		const char *name = NULL;
		uint64_t dir = 0;

		for (uint8_t k = 0; k < n_formats; k++) {
			struct hwtdi_dwarf_value v = { 0 };
			const uint8_t *at = p->r.at;

			if (!hwtdi_dwarf_form(&p->unit, &p->r, form[k], 0, &v))
				return (damaged(p,
				    "a form of files is not known"));
			if (type[k] == LNCT_PATH)
				name = v.kind == HWTDI_DW_TEXT
				    ? (const char *)at
				    : hwtdi_dwarf_text(p->file, &p->unit, &v);
			else if (type[k] == LNCT_DIRECTORY_INDEX &&
			    v.kind == HWTDI_DW_NUMBER)
				dir = v.v;
		}
		rc = is_files ? add_file(p, name, dir) : add_dir(p, name);
	}
	return (rc);
}

/* The header of a table. */

static int
read_header(struct program *p, const struct hwtdi_dwarf_unit *unit)
{
	struct hwtdi_dwarf_reader *r = &p->r;
	uint64_t length, header;
	const uint8_t *program;
	int rc;

	p->unit = *unit;
	length = hwtdi_dw_length(r, &p->unit.offset_bytes);
	if (r->bad || length > hwtdi_dw_left(r))
		return (damaged(p, "it is longer than the section"));
	r->end = r->at + length;
	p->unit.version = (uint16_t)hwtdi_dw_uint(r, 2);
	if (p->unit.version < 2 || p->unit.version > 5)
		return (damaged(p, "its version is not known"));
	p->lines->version = p->unit.version;
	if (p->unit.version >= 5) {
		p->unit.address_bytes = hwtdi_dw_u8(r);
		(void)hwtdi_dw_u8(r);
	}
	header = hwtdi_dw_uint(r, p->unit.offset_bytes);
	if (r->bad || header > hwtdi_dw_left(r))
		return (damaged(p, "its header is longer than it"));
	program = r->at + header;
	p->min_length = hwtdi_dw_u8(r);
	p->max_ops = p->unit.version >= 4 ? hwtdi_dw_u8(r) : 1;
	p->is_statement = hwtdi_dw_u8(r) != 0;
	p->line_base = (int8_t)hwtdi_dw_u8(r);
	p->line_range = hwtdi_dw_u8(r);
	p->opcode_base = hwtdi_dw_u8(r);
	p->lengths = r->at;
	hwtdi_dw_skip(r, p->opcode_base > 0 ? p->opcode_base - 1u : 0);
	if (r->bad)
		return (damaged(p, "it ends in its header"));
	if (p->line_range == 0)
		return (damaged(p, "its range of lines is 0"));
	rc = p->unit.version >= 5 ? read_table(p, false) : read_old_tables(p);
	if (rc == HWTD_OK && p->unit.version >= 5)
		rc = read_table(p, true);
	if (rc != HWTD_OK)
		return (rc);
	if (r->bad || r->at > program)
		return (damaged(p, "its files have no end"));
	r->at = program;
	return (HWTD_OK);
}

/* The program. */

static void
reset(struct program *p)
{
	memset(&p->row, 0, sizeof(p->row));
	p->row.file = 1;
	p->row.line = 1;
	p->row.is_statement = p->is_statement;
	p->op_index = 0;
	p->first = p->lines->n_rows;
}

static void
advance(struct program *p, uint64_t operations)
{
	uint64_t ops;

	/* Only VLIW machines have several operations in one instruction. */
	if (p->max_ops <= 1) {
		p->row.address += operations * p->min_length;
		return;
	}
	ops = p->op_index + operations;
	p->row.address += p->min_length * (ops / p->max_ops);
	p->op_index = (uint8_t)(ops % p->max_ops);
}

static int
add_row(struct program *p)
{
	struct hwtdi_dwarf_lines *l = p->lines;
	int rc;

	if (l->n_rows == MOST_ROWS)
		return (damaged(p, "too many rows"));
	rc = hwtdi_array_grow(p->file->ctx, &l->rows, &l->cap_rows,
	    l->n_rows + 1, sizeof(*l->rows), p->err);
	if (rc != HWTD_OK)
		return (rc);
	l->rows[l->n_rows++] = p->row;
	p->row.discriminator = 0;
	return (HWTD_OK);
}

static int
by_row_address(const void *va, const void *vb)
{
	const struct hwtdi_dwarf_row *a = va, *b = vb;

	return (a->address < b->address ? -1 : a->address > b->address);
}

/* A sequence that has no addresses in order is left out. */
static int
end_sequence(struct program *p)
{
	struct hwtdi_dwarf_lines *l = p->lines;
	struct hwtdi_dwarf_sequence s = { .first = p->first,
		.end = l->n_rows,
		.high = p->row.address };
	bool in_order = true;
	int rc = HWTD_OK;

	for (size_t i = s.first + 1; i < s.end; i++)
		in_order &= by_row_address(&l->rows[i - 1], &l->rows[i]) <= 0;
	if (s.first < s.end)
		s.low = l->rows[s.first].address;
	if (!in_order || s.high <= s.low || s.first == s.end ||
	    l->rows[s.end - 1].address > s.high) {
		l->n_rows = s.first;
	} else if (l->n_sequences == MOST_SEQUENCES) {
		return (damaged(p, "too many sequences"));
	} else {
		rc = hwtdi_array_grow(p->file->ctx, &l->sequences,
		    &l->cap_sequences, l->n_sequences + 1, sizeof(s), p->err);
		if (rc == HWTD_OK)
			l->sequences[l->n_sequences++] = s;
	}
	reset(p);
	return (rc);
}

static int
run_extended(struct program *p)
{
	struct hwtdi_dwarf_reader *r = &p->r;
	const uint64_t n = hwtdi_dw_uleb(r);
	const uint8_t *end;
	const char *name;
	uint64_t dir;
	int rc = HWTD_OK;

	if (r->bad || n == 0 || n > hwtdi_dw_left(r))
		return (damaged(p, "an operation is longer than it"));
	end = r->at + n;
	switch (hwtdi_dw_u8(r)) {
	case LNE_END_SEQUENCE:
		rc = end_sequence(p);
		break;
	case LNE_SET_ADDRESS:
		/* It says by its length how long addresses are. */
		if (n - 1 == 4 || n - 1 == 8)
			p->row.address = hwtdi_dw_uint(r, (size_t)n - 1);
		p->op_index = 0;
		break;
	case LNE_DEFINE_FILE:
		name = hwtdi_dw_text(r);
		dir = hwtdi_dw_uleb(r);
		if (name != NULL)
			rc = add_file(p, name, dir);
		break;
	case LNE_SET_DISCRIMINATOR:
		p->row.discriminator = hwtdi_dw_uleb(r) & INT32_MAX;
		break;
	default:
		break;
	}
	if (r->bad || r->at > end)
		return (damaged(p, "an operation is longer than it says"));
	r->at = end;
	return (rc);
}

static int
run_standard(struct program *p, uint8_t opcode)
{
	struct hwtdi_dwarf_reader *r = &p->r;

	switch (opcode) {
	case LNS_EXTENDED:
		return (run_extended(p));
	case LNS_COPY:
		return (add_row(p));
	case LNS_ADVANCE_PC:
		advance(p, hwtdi_dw_uleb(r));
		break;
	case LNS_ADVANCE_LINE:
		p->row.line += (uint32_t)hwtdi_dw_sleb(r);
		break;
	case LNS_SET_FILE:
		p->row.file = (uint32_t)hwtdi_dw_uleb(r);
		break;
	case LNS_SET_COLUMN:
		p->row.column = (uint32_t)hwtdi_dw_uleb(r);
		break;
	case LNS_CONST_ADD_PC:
		advance(p, (255u - p->opcode_base) / p->line_range);
		break;
	case LNS_FIXED_ADVANCE_PC:
		p->row.address += hwtdi_dw_uint(r, 2);
		p->op_index = 0;
		break;
	case LNS_NEGATE_STMT:
		p->row.is_statement = !p->row.is_statement;
		break;
	case LNS_SET_BASIC_BLOCK:
	case LNS_SET_PROLOGUE_END:
	case LNS_SET_EPILOGUE_BEGIN:
		break;
	case LNS_SET_ISA:
		(void)hwtdi_dw_uleb(r);
		break;
	default:
		/* The header says how many numbers follow. */
		for (uint8_t i = 0; i < p->lengths[opcode - 1]; i++)
			(void)hwtdi_dw_uleb(r);
		break;
	}
	return (HWTD_OK);
}

static int
run(struct program *p)
{
	uint64_t n = 0;
	int rc;

	reset(p);
	for (rc = HWTD_OK; rc == HWTD_OK && p->r.at < p->r.end;) {
		const uint8_t opcode = hwtdi_dw_u8(&p->r);
		unsigned int special;

		rc = hwtdi_poll_each(p->file->ctx, n++, p->err);
		if (rc != HWTD_OK)
			break;
		if (opcode < p->opcode_base || opcode == LNS_EXTENDED) {
			rc = run_standard(p, opcode);
		} else {
			special = opcode - (unsigned int)p->opcode_base;
			advance(p, special / p->line_range);
			p->row.line += (uint32_t)(p->line_base +
			    (int)(special % p->line_range));
			rc = add_row(p);
		}
		if (rc == HWTD_OK && p->r.bad)
			rc = damaged(p, "its program ends in an operation");
	}
	/* What has no end has no length. */
	p->lines->n_rows = p->first;
	return (rc);
}

static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_dwarf_sequence *a = va, *b = vb;

	if (a->low != b->low)
		return (a->low < b->low ? -1 : 1);
	return (a->first < b->first ? -1 : a->first > b->first);
}

int
hwtdi_dwarf_lines_init(struct hwtdi_dwarf_lines *lines,
    const struct hwtdi_dwarf_file *file, const struct hwtdi_dwarf_unit *unit,
    struct hwtd_error *err)
{
	struct program p = { .lines = lines,
		.file = file,
		.off = unit->stmt_list,
		.err = err };
	uint64_t reach = 0;
	int rc, sorted;

	memset(lines, 0, sizeof(*lines));
	p.r = hwtdi_dwarf_file_reader(file, HWTDI_DWARF_LINE, unit->stmt_list);
	if (p.r.bad)
		return (hwtdi_dwarf_fail(err, file, HWTDI_DWARF_INFO,
		    unit->dies,
		    "its table of lines would be at 0x%" PRIx64
		    " of .debug_line",
		    unit->stmt_list));
	rc = read_header(&p, unit);
	if (rc == HWTD_OK)
		rc = run(&p);
	/* What is damaged has rows all the same. */
	sorted = hwtdi_fail_is_final(rc)
	    ? rc
	    : hwtdi_sort(file->ctx, lines->sequences, lines->n_sequences,
		  sizeof(*lines->sequences), by_address, err);
	if (sorted != HWTD_OK) {
		hwtdi_dwarf_lines_fini(lines, file->ctx);
		return (sorted);
	}
	for (size_t i = 0; i < lines->n_sequences; i++) {
		if (lines->sequences[i].high > reach)
			reach = lines->sequences[i].high;
		lines->sequences[i].reach = reach;
	}
	return (rc);
}

/* Asking. */

/* The last row that begins at or before the address. */
static const struct hwtdi_dwarf_row *
find_row(const struct hwtdi_dwarf_lines *l,
    const struct hwtdi_dwarf_sequence *s, uint64_t address)
{
	size_t low = s->first, high = s->end;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (l->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low > s->first ? &l->rows[low - 1] : NULL);
}

const struct hwtdi_dwarf_row *
hwtdi_dwarf_lines_find(const struct hwtdi_dwarf_lines *lines, uint64_t address)
{
	size_t low = 0, high = lines->n_sequences;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (lines->sequences[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; low > 0 && i < MOST_NESTED; low--, i++) {
		const struct hwtdi_dwarf_sequence
		    *s = &lines->sequences[low - 1];

		if (address >= s->reach)
			break;
		if (address < s->high)
			return (find_row(lines, s, address));
	}
	return (NULL);
}

bool
hwtdi_dwarf_lines_file(const struct hwtdi_dwarf_lines *lines, uint32_t file,
    const char **dir_out, bool *whole_out, const char **name_out)
{
	uint64_t dir;

	/* DWARF 5 counts files and folders from 0, others from 1. */
	if (lines->version < 5 && file-- == 0)
		return (false);
	if (file >= lines->n_files || lines->files[file].name == NULL)
		return (false);
	*name_out = lines->files[file].name;
	*dir_out = NULL;
	dir = lines->files[file].dir;
	/* From DWARF 5 on the first folder is that of the compiler. */
	*whole_out = lines->version >= 5 && dir == 0;
	if (lines->version < 5 && dir-- == 0)
		return (true);
	if (dir < lines->n_dirs)
		*dir_out = lines->dirs[dir];
	return (true);
}

uint64_t
hwtdi_dwarf_lines_bytes(const struct hwtdi_dwarf_lines *lines)
{
	return (lines->cap_rows * sizeof(*lines->rows) +
	    lines->cap_sequences * sizeof(*lines->sequences) +
	    lines->cap_dirs * sizeof(*lines->dirs) +
	    lines->cap_files * sizeof(*lines->files));
}

void
hwtdi_dwarf_lines_fini(struct hwtdi_dwarf_lines *lines,
    struct hwtd_context *ctx)
{
	hwtdi_array_free(ctx, lines->rows, lines->cap_rows,
	    sizeof(*lines->rows));
	hwtdi_array_free(ctx, lines->sequences, lines->cap_sequences,
	    sizeof(*lines->sequences));
	hwtdi_array_free(ctx, lines->dirs, lines->cap_dirs,
	    sizeof(*lines->dirs));
	hwtdi_array_free(ctx, lines->files, lines->cap_files,
	    sizeof(*lines->files));
	memset(lines, 0, sizeof(*lines));
}
