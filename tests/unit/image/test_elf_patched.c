/*
 * Places of Linux modules that the kernel rewrites after it linked them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf_patched.h"
#include "support/elf_writer.h"

/* One table with two entries; both sites lie in the code below. */
static const struct {
	const char *name;
	/* Bytes of an entry, and of it that are not 0. */
	uint32_t stride;
	uint32_t at;
	uint8_t value;
	/* What stands at the first site. */
	uint8_t code[6];
	/* Unknown bytes there; 0: they become a no-op of 5 bytes. */
	uint64_t n;
} tables[] = {
	{ "__mcount_loc", 8, 0, 0, { 0xe8, 1, 2, 3, 4, 0x90 }, 0 },
	{ ".return_sites", 4, 0, 0, { 0xe9, 1, 2, 3, 4, 0x90 }, 5 },
	{ ".retpoline_sites", 4, 0, 0, { 0x2e, 0xe8, 1, 2, 3, 4 }, 6 },
	{ ".static_call_sites", 8, 0, 0, { 0xe8, 1, 2, 3, 4, 0x90 }, 5 },
	{ "__jump_table", 16, 0, 0, { 0x0f, 0x1f, 0x44, 0, 0, 0x90 }, 5 },
	{ "__jump_table", 16, 0, 0, { 0x66, 0x90, 0x90, 0x90 }, 2 },
	{ "__jump_table", 16, 0, 0, { 0xeb, 3 }, 2 },
	{ ".altinstructions", 12, 10, 3, { 0x90, 0x90, 0x90 }, 3 },
	{ ".altinstructions", 13, 10, 3, { 0x90, 0x90, 0x90 }, 3 },
	{ ".altinstructions", 14, 12, 4, { 0x90, 0x90, 0x90 }, 4 },
	{ ".parainstructions", 16, 9, 7, { 0xff, 0x14, 0x25 }, 7 },
	{ ".other", 8, 0, 0, { 0xe8, 1, 2, 3, 4, 0x90 }, UINT64_MAX },
};

#define SITE 0x10
#define TEXT_BYTES 0x40

/* .text, its symbol, the table and its relocations; where .text is. */
static size_t
write_module(struct elf_writer *w, size_t i)
{
	const bool pairs = strcmp(tables[i].name, ".altinstructions") == 0;
	const uint32_t stride = tables[i].stride;
	size_t text, at;

	elf_writer_init(w, true, false, 1, 62);
	text = elf_writer_put(w, NULL, TEXT_BYTES, 16);
	memcpy(w->bytes + text + SITE, tables[i].code, 6);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = 1,
		.flags = 6,
		.off = text,
		.size = TEXT_BYTES,
		.align = 16 });
	at = elf_writer_put(w, NULL, 2 * (size_t)stride, 8);
	for (size_t k = 0; k < 2; k++)
		w->bytes[at + k * stride + tables[i].at] = tables[i].value;
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = tables[i].name,
		.type = 1,
		.flags = 2,
		.off = at,
		.size = 2 * (uint64_t)stride,
		.align = 1 });
	at = elf_writer_put(w, NULL, 1, 1);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = 3,
		.off = at,
		.size = 1 });
	at = elf_writer_put(w, NULL, 0, 8);
	(void)elf_writer_put_symbol(w, 0, 0, 0, 0);
	(void)elf_writer_put_symbol(w, 0, 3, 1, 0);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".symtab",
		.type = 2,
		.off = at,
		.size = w->n_bytes - at,
		.link = 3,
		.align = 8,
		.entry_bytes = 24 });
	at = elf_writer_put(w, NULL, 0, 8);
	for (uint32_t k = 0; k < 2; k++) {
		(void)elf_writer_put_rela(w, (uint64_t)k * stride, 2, 1,
		    SITE + 0x10 * (int64_t)k);
		/* What replaces it, or its key. */
		if (pairs)
			(void)elf_writer_put_rela(w, (uint64_t)k * stride + 4,
			    2, 1, 0x3f);
	}
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".rela",
		.type = 4,
		.off = at,
		.size = w->n_bytes - at,
		.link = 4,
		.info = 2,
		.align = 8,
		.entry_bytes = 24 });
	elf_writer_finish(w);
	return (text);
}

struct told {
	size_t n_left, n_known;
	uint64_t off[4], n[4];
};

static void
leave(void *arg, uint64_t off, uint64_t n)
{
	struct told *t = arg;

	assert_true(t->n_left < 4);
	t->off[t->n_left] = off;
	t->n[t->n_left++] = n;
}

static void
keep(void *arg, uint64_t off, uint64_t n)
{
	struct told *t = arg;

	assert_true(t->n_known < 4);
	t->off[t->n_known] = off;
	t->n[t->n_known++] = n;
}

static void
sites_are_unknown_or_no_ops(void **state)
{
	static const uint8_t nop5[5] = { 0x0f, 0x1f, 0x44, 0, 0 };
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct told told = { 0 };
		const struct hwtdi_elf_linker linker = { .arg = &told,
			.left_fn = leave,
			.known_fn = keep };
		struct hwtdi_elf_object o;
		struct elf_writer w;
		size_t text;
		uint8_t *copy;

		print_message("%s, %u\n", tables[i].name,
		    (unsigned int)tables[i].stride);
		text = write_module(&w, i);
		copy = malloc(w.n_bytes);
		assert_non_null(copy);
		memcpy(copy, w.bytes, w.n_bytes);
		assert_int_equal(hwtdi_elf_object_init_linux(&o, ctx, "m",
				     w.bytes, w.n_bytes, 0x10000, 0, 0, NULL),
		    HWTD_OK);
		hwtdi_elf_patch_linux(&o, &linker, copy);
		if (tables[i].n == UINT64_MAX) {
			assert_int_equal(told.n_left + told.n_known, 0);
		} else if (tables[i].n == 0) {
			assert_int_equal(told.n_left, 0);
			assert_int_equal(told.n_known, 2);
			assert_memory_equal(copy + text + SITE, nop5, 5);
		} else {
			assert_int_equal(told.n_known, 0);
			assert_int_equal(told.n_left, 2);
			assert_int_equal(told.n[0], tables[i].n);
			assert_memory_equal(copy, w.bytes, w.n_bytes);
		}
		for (size_t k = 0; k < told.n_left + told.n_known; k++)
			assert_int_equal(told.off[k], text + SITE + 0x10 * k);
		/* Every cut and some lies: nothing outside is touched. */
		for (size_t n = 64; n < w.n_bytes; n += 3) {
			uint8_t *exact = malloc(n);

			assert_non_null(exact);
			memcpy(exact, w.bytes, n);
			exact[n / 2] ^= 0xff;
			hwtdi_elf_object_fini(&o, ctx);
			memset(&told, 0, sizeof(told));
			if (hwtdi_elf_object_init_linux(&o, ctx, "m", exact, n,
				0x10000, 0, 0, NULL) == HWTD_OK)
				hwtdi_elf_patch_linux(&o, &linker, exact);
			free(exact);
		}
		hwtdi_elf_object_fini(&o, ctx);
		free(copy);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_are_unknown_or_no_ops),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
