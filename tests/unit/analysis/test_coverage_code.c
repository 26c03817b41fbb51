/*
 * Branches that are found in code: of all instruction sets, without data between
 * it.  Codes and targets are worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/coverage/coverage_code.h"
#include "support/code_file.h"

#define BASE 0x8000u

struct want {
	uint64_t at;
	/* 0: it does not say. */
	uint64_t to;
	uint8_t branch, length;
};

struct file {
	struct elf_writer w;
	struct hwtdi_symbol_image image;
	struct hwtdi_cov_code code;
	struct hwtd_context *ctx;
	/* Where BASE lies. */
	uint64_t off;
};

static void
open_file(struct file *f, uint16_t machine, bool is_32, const void *code,
    size_t n, const struct code_symbol *symbols, size_t n_symbols)
{
	const struct code_area area = { .vaddr = BASE, .size = n };
	const struct code_spec spec = { .machine = machine,
		.is_32 = is_32,
		.areas = &area,
		.n_areas = 1,
		.symbols = symbols,
		.n_symbols = n_symbols };
	GElf_Phdr ph;

	memset(f, 0, sizeof(*f));
	code_file_write(&f->w, &spec);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	assert_int_equal(hwtdi_elf_tables_init(&f->image.tables, "file",
			     f->w.bytes, f->w.n_bytes, NULL),
	    HWTD_OK);
	assert_true(hwtdi_elf_segment(&f->image.tables, 0, &ph));
	f->off = ph.p_offset;
	memcpy(f->w.bytes + f->off, code, n);
	assert_int_equal(hwtdi_elf_names_init(&f->image.names, f->ctx,
			     &f->image.tables, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_cov_code_init(&f->code, f->ctx, &f->image,
			     NULL),
	    HWTD_OK);
}

static void
close_file(struct file *f)
{
	hwtdi_cov_code_fini(&f->code);
	hwtdi_elf_names_fini(&f->image.names, f->ctx);
	elf_writer_free(&f->w);
	hwtd_context_destroy(f->ctx);
}

/* The branches in [at, end), and there is no other. */
static void
assert_branches(struct file *f, uint64_t at, uint64_t end,
    const struct want *want, size_t n)
{
	struct hwtdi_cov_sweep sweep = { .code = &f->code,
		.at = at,
		.end = end };
	struct hwtdi_cov_branch b;

	for (size_t i = 0; i < n; i++) {
		print_message("at %#llx\n", (unsigned long long)want[i].at);
		assert_true(hwtdi_cov_sweep_next(&sweep, &b));
		assert_int_equal(b.off - f->off + BASE, want[i].at);
		assert_int_equal(b.branch, want[i].branch);
		assert_int_equal(b.length, want[i].length);
		assert_int_equal(b.is_direct, want[i].to != 0);
		if (b.is_direct)
			assert_int_equal(b.to - f->off + BASE, want[i].to);
	}
	assert_false(hwtdi_cov_sweep_next(&sweep, &b));
}

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void
x86_branches_are_found_once(void **state)
{
	static const uint8_t code[] = {
		0x74, 0x02, /* je +2 */
		0x90, /* nop */
		0xeb, 0x01, /* jmp +1 */
		0xc3, /* ret */
		0xe8, 0xf5, 0xff, 0xff, 0xff, /* call the first */
		0xff, 0xe0, /* jmp *%rax */
		0xe3, 0xfe, /* jrcxz itself */
		/* No instruction, and what is behind it is not told .. */
		0x06, 0x74, 0x00,
		/* .. but here something begins. */
		0xe9, 0x00, 0x00, 0x00, 0x10, /* jmp away */
		0x0f, 0x05, /* syscall */
	};
	static const struct want first[] = {
		{ 0x8000, 0x8004, HWTD_BRANCH_CONDITIONAL, 2 },
		{ 0x8003, 0x8006, HWTD_BRANCH_JUMP, 2 },
		{ 0x8005, 0, HWTD_BRANCH_RETURN, 1 },
		{ 0x8006, 0x8000, HWTD_BRANCH_CALL, 5 },
		{ 0x800b, 0, HWTD_BRANCH_INDIRECT_JUMP, 2 },
		{ 0x800d, 0x800d, HWTD_BRANCH_CONDITIONAL, 2 },
	};
	static const struct want second[] = {
		{ 0x8012, 0, HWTD_BRANCH_JUMP, 5 },
		{ 0x8017, 0, HWTD_BRANCH_FAR_CALL, 2 },
	};
	uint64_t off, bytes;
	struct file f;

	(void)state;
	open_file(&f, EM_X86_64, false, code, sizeof(code), NULL, 0);
	assert_branches(&f, 0x7000, 0x8012, first, N(first));
	assert_branches(&f, 0x8000, 0x8010, NULL, 0);
	assert_branches(&f, 0x8012, 0x9000, second, N(second));
	assert_branches(&f, 0x8000, 0x8010, NULL, 0);
	assert_true(hwtdi_cov_code_place(&f.code, 0x8004, &off, &bytes));
	assert_int_equal(off, f.off + 4);
	assert_int_equal(bytes, sizeof(code) - 4);
	assert_false(hwtdi_cov_code_place(&f.code, BASE + sizeof(code), &off,
	    &bytes));
	assert_false(hwtdi_cov_code_place(&f.code, BASE - 1, &off, &bytes));
	close_file(&f);
}

static void
put_words(uint8_t *to, const uint32_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 4; k++)
			to[4 * i + k] = (uint8_t)(words[i] >> 8 * k);
}

static void
a64_branches_are_found(void **state)
{
	static const uint32_t words[] = {
		0x54000040, /* b.eq +8 */
		0xb4000040, /* cbz x0, +8 */
		0x36000040, /* tbz w0, 0, +8 */
		0x14000002, /* b +8 */
		0xd503201f, /* nop */
		0x97fffffb, /* bl -20 */
		0xd65f03c0, /* ret */
		0xd61f0000, /* br x0 */
		/* Data that would be one. */
		0x54000040,
	};
	static const struct want want[] = {
		{ 0x8000, 0x8008, HWTD_BRANCH_CONDITIONAL, 4 },
		{ 0x8004, 0x800c, HWTD_BRANCH_CONDITIONAL, 4 },
		{ 0x8008, 0x8010, HWTD_BRANCH_CONDITIONAL, 4 },
		{ 0x800c, 0x8014, HWTD_BRANCH_JUMP, 4 },
		{ 0x8014, 0x8000, HWTD_BRANCH_CALL, 4 },
		{ 0x8018, 0, HWTD_BRANCH_RETURN, 4 },
		{ 0x801c, 0, HWTD_BRANCH_INDIRECT_JUMP, 4 },
	};
	static const struct code_symbol symbols[] = {
		{ .name = "$x", .section = 1, .value = BASE },
		{ .name = "$d.1", .section = 1, .value = BASE + 0x20 },
	};
	uint8_t code[sizeof(words)];
	struct file f;

	(void)state;
	put_words(code, words, N(words));
	open_file(&f, EM_AARCH64, false, code, sizeof(code), symbols, 2);
	assert_branches(&f, BASE, BASE + 0x100, want, N(want));
	close_file(&f);
}

static void
a32_and_t32_branches_are_found_by_marks(void **state)
{
	static const uint32_t words[] = {
		0x0a000000, /* beq +8 */
		0xea000001, /* b +12 */
		0x0a000000, /* data */
		0xbf08d000, /* beq +4; it eq */
		0x47704770, /* bxeq lr; bx lr */
	};
	static const struct want want[] = {
		{ 0x8000, 0x8008, HWTD_BRANCH_CONDITIONAL, 4 },
		{ 0x8004, 0x8010, HWTD_BRANCH_JUMP, 4 },
		{ 0x800c, 0x8010, HWTD_BRANCH_CONDITIONAL, 2 },
		/* Under its condition it returns, else it goes on. */
		{ 0x8010, 0, HWTD_BRANCH_CONDITIONAL, 2 },
		{ 0x8012, 0, HWTD_BRANCH_RETURN, 2 },
	};
	static const struct code_symbol symbols[] = {
		{ .name = "$t", .section = 1, .value = BASE + 12 },
		{ .name = "$d", .section = 1, .value = BASE + 8 },
		{ .name = "$a", .section = 1, .value = BASE },
	};
	uint8_t code[sizeof(words)];
	struct file f;

	(void)state;
	put_words(code, words, N(words));
	open_file(&f, EM_ARM, true, code, sizeof(code), symbols, 3);
	assert_branches(&f, BASE, BASE + sizeof(code), want, N(want));
	close_file(&f);
	/* Which of the two it is nobody knows without. */
	open_file(&f, EM_ARM, true, code, sizeof(code), NULL, 0);
	assert_branches(&f, BASE, BASE + sizeof(code), NULL, 0);
	close_file(&f);
}

static void
files_of_other_machines_have_no_branches(void **state)
{
	static const uint8_t code[] = { 0x74, 0x00, 0x74, 0x00 };
	struct file f;

	(void)state;
	open_file(&f, EM_RISCV, false, code, sizeof(code), NULL, 0);
	assert_branches(&f, 0, UINT64_MAX, NULL, 0);
	close_file(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_branches_are_found_once),
		cmocka_unit_test(a64_branches_are_found),
		cmocka_unit_test(a32_and_t32_branches_are_found_by_marks),
		cmocka_unit_test(files_of_other_machines_have_no_branches),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
