/*
 * Branch instructions in the code of an ELF file.
 *
 * Source: ELF for the Arm Architecture, "Mapping symbols".
 */
#include "analysis/coverage/coverage_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "decode/code/arm_insn.h"
#include "decode/code/x86_insn.h"

/* Segments that are looked at for each section of code. */
#define MOST_LOADS 256u
/* Marks of one file. */
#define MOST_MARKS (1u << 24)

/* Where code is. */

static int
add_text(struct hwtdi_cov_code *c, uint64_t address, uint64_t off,
    uint64_t bytes, struct hwtd_error *err)
{
	int rc;

	if (off >= c->file->n_bytes)
		return (HWTD_OK);
	if (bytes > c->file->n_bytes - off)
		bytes = c->file->n_bytes - off;
	if (bytes > UINT64_MAX - address)
		bytes = UINT64_MAX - address;
	if (bytes == 0)
		return (HWTD_OK);
	rc = hwtdi_array_grow(c->library, &c->texts, &c->cap_texts,
	    c->n_texts + 1, sizeof(*c->texts), err);
	if (rc == HWTD_OK)
		c->texts[c->n_texts++] = (struct hwtdi_cov_text){
			.address = address,
			.off = off,
			.bytes = bytes
		};
	return (rc);
}

/* What of [address, address + bytes) is in the file, by its segments. */
static int
add_loaded(struct hwtdi_cov_code *c, const struct hwtdi_elf_names *names,
    uint64_t address, uint64_t bytes, struct hwtd_error *err)
{
	for (size_t i = 0; i < names->n_loads && i < MOST_LOADS; i++) {
		const struct hwtdi_elf_load *l = &names->loads[i];
		const uint64_t into = address - l->address;

		if (address < l->address || into >= l->n_bytes)
			continue;
		if (bytes > l->n_bytes - into)
			bytes = l->n_bytes - into;
		if (into > UINT64_MAX - l->file_off)
			return (HWTD_OK);
		return (add_text(c, address, l->file_off + into, bytes, err));
	}
	return (HWTD_OK);
}

static int
by_address(const void *va, const void *vb)
{
	const struct hwtdi_cov_text *a = va, *b = vb;

	if (a->address != b->address)
		return (a->address < b->address ? -1 : 1);
	return (a->bytes > b->bytes ? -1 : a->bytes < b->bytes);
}

/* What lies over another is cut off; each gets a bit for each byte. */
static int
settle_texts(struct hwtdi_cov_code *c, struct hwtd_error *err)
{
	size_t n = 0;

	if (c->n_texts > 1)
		qsort(c->texts, c->n_texts, sizeof(*c->texts), by_address);
	for (size_t i = 0; i < c->n_texts; i++) {
		struct hwtdi_cov_text text = c->texts[i];
		const uint64_t end = n == 0
		    ? 0
		    : c->texts[n - 1].address + c->texts[n - 1].bytes;

		if (text.address < end) {
			const uint64_t over = end - text.address;

			if (over >= text.bytes)
				continue;
			text.address += over;
			text.off += over;
			text.bytes -= over;
		}
		c->texts[n++] = text;
	}
	c->n_texts = n;
	for (size_t i = 0; i < n; i++) {
		const size_t bytes = (size_t)(c->texts[i].bytes / 64 + 1) * 8;

		c->texts[i].seen = hwtdi_zalloc(c->library, bytes);
		if (c->texts[i].seen == NULL)
			return (hwtdi_fail_nomem(err, bytes));
	}
	return (HWTD_OK);
}

static int
find_texts(struct hwtdi_cov_code *c, const struct hwtdi_elf_names *names,
    struct hwtd_error *err)
{
	const struct hwtdi_elf_tables *t = c->file;
	const bool is_object = t->header.e_type == ET_REL;
	GElf_Shdr sh;
	GElf_Phdr ph;
	int rc = HWTD_OK;

	for (uint32_t i = 1; rc == HWTD_OK && hwtdi_elf_section(t, i, &sh);
	     i++)
		if (sh.sh_type == SHT_PROGBITS &&
		    (sh.sh_flags & SHF_EXECINSTR) != 0)
			rc = is_object ? add_text(c, sh.sh_offset,
					     sh.sh_offset, sh.sh_size, err)
				       : add_loaded(c, names, sh.sh_addr,
					     sh.sh_size, err);
	/* Without sections all is code that may be executed. */
	for (uint32_t i = 0; rc == HWTD_OK && c->n_texts == 0 && !is_object &&
	     hwtdi_elf_segment(t, i, &ph);
	     i++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & PF_X) != 0)
			rc = add_text(c, ph.p_vaddr, ph.p_offset, ph.p_filesz,
			    err);
	return (rc == HWTD_OK ? settle_texts(c, err) : rc);
}

/* Which code it is. */

static int
add_marks(struct hwtdi_cov_code *c, const struct hwtdi_elf_tables *t,
    struct hwtd_error *err)
{
	GElf_Shdr table, strings, at;
	GElf_Sym sym;
	uint32_t i = 1;
	int rc = HWTD_OK;

	while (hwtdi_elf_section(t, i, &table) && table.sh_type != SHT_SYMTAB)
		i++;
	if (!hwtdi_elf_section(t, i, &table) ||
	    !hwtdi_elf_section(t, table.sh_link, &strings))
		return (HWTD_OK);
	for (uint64_t k = 1; rc == HWTD_OK && c->n_marks < MOST_MARKS &&
	     hwtdi_elf_symbol(t, &table, k, &sym);
	     k++) {
		struct hwtdi_cov_mark mark = { .address = sym.st_value };
		const char *name = hwtdi_elf_text(t, &strings, sym.st_name);

		if (name == NULL || name[0] != '$' ||
		    (name[1] != '\0' && name[2] != '\0' && name[2] != '.'))
			continue;
		switch (name[1]) {
		case 'a':
			mark.isa = HWTD_ISA_A32;
			break;
		case 't':
			mark.isa = HWTD_ISA_T32;
			break;
		case 'x':
			mark.isa = HWTD_ISA_A64;
			break;
		case 'd':
			break;
		default:
			continue;
		}
		if (t->header.e_type == ET_REL) {
			if (!hwtdi_elf_section(t, sym.st_shndx, &at))
				continue;
			mark.address += at.sh_offset;
		}
		rc = hwtdi_array_grow(c->library, &c->marks, &c->cap_marks,
		    c->n_marks + 1, sizeof(mark), err);
		if (rc == HWTD_OK)
			c->marks[c->n_marks++] = mark;
	}
	return (rc);
}

static int
by_mark(const void *va, const void *vb)
{
	const struct hwtdi_cov_mark *a = va, *b = vb;

	if (a->address != b->address)
		return (a->address < b->address ? -1 : 1);
	return ((int)a->isa - (int)b->isa);
}

static int
find_marks(struct hwtdi_cov_code *c, const struct hwtdi_symbol_image *image,
    struct hwtd_error *err)
{
	struct hwtdi_elf_tables debug;
	int rc = add_marks(c, c->file, err);

	if (rc == HWTD_OK && c->n_marks == 0 && image->debug != NULL &&
	    image->debug->bytes != NULL &&
	    hwtdi_elf_tables_init(&debug, image->debug->path,
		image->debug->bytes, image->debug->n_bytes, NULL) == HWTD_OK)
		rc = add_marks(c, &debug, err);
	if (c->n_marks > 1)
		qsort(c->marks, c->n_marks, sizeof(*c->marks), by_mark);
	return (rc);
}

int
hwtdi_cov_code_init(struct hwtdi_cov_code *code, struct hwtd_context *library,
    const struct hwtdi_symbol_image *image, struct hwtd_error *err)
{
	int rc;

	memset(code, 0, sizeof(*code));
	code->library = library;
	code->file = &image->tables;
	if (image->tables.bytes == NULL)
		return (HWTD_OK);
	rc = find_texts(code, &image->names, err);
	switch (image->tables.header.e_machine) {
	case EM_X86_64:
		code->isa = HWTD_ISA_X86_64;
		break;
	case EM_386:
		code->isa = HWTD_ISA_X86_32;
		break;
	case EM_AARCH64:
		code->isa = HWTD_ISA_A64;
		break;
	default:
		break;
	}
	if (rc == HWTD_OK &&
	    (image->tables.header.e_machine == EM_ARM ||
		image->tables.header.e_machine == EM_AARCH64))
		rc = find_marks(code, image, err);
	if (rc != HWTD_OK)
		hwtdi_cov_code_fini(code);
	return (rc);
}

void
hwtdi_cov_code_fini(struct hwtdi_cov_code *code)
{
	for (size_t i = 0; i < code->n_texts; i++)
		hwtdi_free(code->library, code->texts[i].seen,
		    (size_t)(code->texts[i].bytes / 64 + 1) * 8);
	hwtdi_array_free(code->library, code->texts, code->cap_texts,
	    sizeof(*code->texts));
	hwtdi_array_free(code->library, code->marks, code->cap_marks,
	    sizeof(*code->marks));
	memset(code, 0, sizeof(*code));
}

/* Asking. */

/* The first that ends behind an address. */
static size_t
text_behind(const struct hwtdi_cov_code *c, uint64_t address)
{
	size_t low = 0, high = c->n_texts;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (c->texts[middle].address + c->texts[middle].bytes <=
		    address)
			low = middle + 1;
		else
			high = middle;
	}
	return (low);
}

bool
hwtdi_cov_code_place(const struct hwtdi_cov_code *code, uint64_t address,
    uint64_t *off_out, uint64_t *bytes_out)
{
	const size_t i = text_behind(code, address);
	const struct hwtdi_cov_text *text;

	if (i == code->n_texts || address < code->texts[i].address)
		return (false);
	text = &code->texts[i];
	*off_out = text->off + (address - text->address);
	*bytes_out = text->bytes - (address - text->address);
	return (true);
}

/* Which instruction set code at an address has, and up to where. */
static uint8_t
isa_at(const struct hwtdi_cov_code *c, uint64_t address, uint64_t *end_out)
{
	size_t low = 0, high = c->n_marks;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (c->marks[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*end_out = low < c->n_marks ? c->marks[low].address : UINT64_MAX;
	return (low > 0 ? c->marks[low - 1].isa : c->isa);
}

static bool
is_seen(const struct hwtdi_cov_text *t, uint64_t byte)
{
	return ((t->seen[byte / 64] >> byte % 64 & 1) != 0);
}

static void
see(struct hwtdi_cov_text *t, uint64_t first, uint64_t n)
{
	for (uint64_t i = first; i < first + n && i < t->bytes; i++)
		t->seen[i / 64] |= UINT64_C(1) << i % 64;
}

/* The next byte from one on, up to `end`, that was not looked at. */
static uint64_t
next_unseen(const struct hwtdi_cov_text *t, uint64_t byte, uint64_t end)
{
	if (end > t->bytes)
		end = t->bytes;
	while (byte < end && is_seen(t, byte)) {
		if (byte % 64 == 0 && t->seen[byte / 64] == UINT64_MAX)
			byte += 64;
		else
			byte++;
	}
	return (byte < end ? byte : end);
}

static bool
decode_arm(struct hwtdi_cov_sweep *s, const uint8_t *bytes, uint64_t n,
    uint8_t isa, struct hwtdi_cov_branch *out, uint64_t *target_out)
{
	struct hwtdi_arm_insn insn;

	if (!hwtdi_arm_decode(bytes, (size_t)n, isa, s->at, &insn))
		return (false);
	out->length = insn.length;
	out->branch = insn.branch;
	out->is_direct = insn.direct;
	*target_out = insn.target;
	if (out->branch != HWTD_BRANCH_NONE &&
	    ((insn.binds & HWTDI_ARM_CONDITIONAL) != 0 ||
		hwtdi_t32_it_is_conditional(s->it)))
		out->branch = HWTD_BRANCH_CONDITIONAL;
	s->it = insn.it != 0 ? insn.it : hwtdi_t32_it_next(s->it);
	return (true);
}

static bool
decode_x86(const struct hwtdi_cov_sweep *s, const uint8_t *bytes, uint64_t n,
    uint8_t isa, struct hwtdi_cov_branch *out, uint64_t *target_out)
{
	struct hwtdi_x86_insn insn;

	if (!hwtdi_x86_decode(bytes, (size_t)n, isa, s->at, &insn))
		return (false);
	out->length = insn.length;
	out->branch = insn.branch;
	out->is_direct = insn.direct;
	*target_out = insn.target;
	return (true);
}

/* One instruction, of which the first byte was not looked at. */
static bool
decode(struct hwtdi_cov_sweep *s, struct hwtdi_cov_text *text, uint8_t isa,
    struct hwtdi_cov_branch *out)
{
	const uint64_t into = s->at - text->address;
	const uint64_t left = text->bytes - into;
	const uint8_t *bytes = s->code->file->bytes + text->off + into;
	uint64_t target, ignored;
	bool is_one;

	memset(out, 0, sizeof(*out));
	out->off = text->off + into;
	is_one = hwtdi_isa_is_arm(isa)
	    ? decode_arm(s, bytes, left < 4 ? left : 4, isa, out, &target)
	    : decode_x86(s, bytes,
		  left < HWTDI_X86_MAX_LENGTH ? left : HWTDI_X86_MAX_LENGTH,
		  isa, out, &target);
	if (!is_one)
		return (false);
	out->is_direct = out->is_direct && out->branch != HWTD_BRANCH_NONE &&
	    hwtdi_cov_code_place(s->code, target, &out->to, &ignored);
	return (true);
}

bool
hwtdi_cov_sweep_next(struct hwtdi_cov_sweep *sweep,
    struct hwtdi_cov_branch *out)
{
	while (sweep->at < sweep->end) {
		const size_t no = text_behind(sweep->code, sweep->at);
		struct hwtdi_cov_text *text;
		uint64_t into, stop;
		uint8_t isa;

		if (no == sweep->code->n_texts)
			return (false);
		text = &sweep->code->texts[no];
		if (sweep->at < text->address) {
			sweep->at = text->address;
			sweep->it = 0;
			continue;
		}
		into = sweep->at - text->address;
		if (is_seen(text, into)) {
			sweep->at = text->address +
			    next_unseen(text, into,
				sweep->end - text->address);
			sweep->it = 0;
			continue;
		}
		isa = isa_at(sweep->code, sweep->at, &stop);
		if (isa == HWTD_ISA_UNKNOWN) {
			sweep->at = stop;
			sweep->it = 0;
			continue;
		}
		/* Where it is no code, the next line or function goes on. */
		if (!decode(sweep, text, isa, out)) {
			see(text, into, 1);
			sweep->at = sweep->end;
			return (false);
		}
		see(text, into, out->length);
		sweep->at += out->length;
		if (out->branch != HWTD_BRANCH_NONE)
			return (true);
	}
	return (false);
}
