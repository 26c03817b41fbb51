/*
 * Where kernels put the sections of objects, and what relocations make of
 * their code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "image/elf_relocate.h"
#include "support/elf_writer.h"
#include "support/failing_allocator.h"

#define PROGBITS 1
#define SYMTAB 2
#define STRTAB 3
#define RELA 4
#define NOTE 7
#define NOBITS 8
#define REL 9
#define INIT_ARRAY 14
#define UNWIND 0x70000001
#define W 1
#define A 2
#define X 4
#define X86_64 62
#define AARCH64 183

static struct hwtd_context *
new_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

/*
 * Sections of a module and where they must be, worked out by hand from the
 * sources that elf_object.c names.  0: nowhere.
 */
static const struct {
	const char *name;
	uint32_t type;
	uint32_t flags;
	uint64_t size;
	uint64_t align;
	uint64_t freebsd; /* From 0x10000 on. */
	uint64_t linux; /* From 0x10000 on, init from 0x80000 on. */
} module[] = {
	{ ".text", PROGBITS, A | X, 0x123, 16, 0x10000, 0x10000 },
	{ ".comment", PROGBITS, 0, 0x40, 1, 0, 0 },
	{ ".init.text", PROGBITS, A | X, 0x50, 16, 0x10130, 0x80000 },
	{ ".data", PROGBITS, A | W, 0x11, 32, 0x10180, 0x13000 },
	{ ".text.empty", PROGBITS, A | X, 0, 64, 0, 0x10140 },
	{ ".text.unlikely", PROGBITS, A | X, 7, 1, 0x10191, 0x10140 },
	{ ".bss", NOBITS, A | W, 0x1000, 64, 0x101c0, 0x13040 },
	{ ".rodata", PROGBITS, A, 0x21, 8, 0x111c0, 0x11000 },
	{ ".note", NOTE, A, 0x20, 4, 0, 0x11024 },
	{ ".eh_frame", UNWIND, A, 0x18, 8, 0x111e8, 0x11048 },
	{ "set_pcpu", PROGBITS, A | W, 0x10, 8, 0, 0x14040 },
	{ ".init_array", INIT_ARRAY, A | W, 8, 8, 0x11210, 0x81000 },
	{ ".modinfo", PROGBITS, A, 0x30, 1, 0x11218, 0 },
	{ ".data..percpu", PROGBITS, A | W, 0x40, 64, 0x11280, 0 },
	{ "__jump_table", PROGBITS, A | W, 0x10, 8, 0x112c0, 0x12000 },
	{ ".init.data", PROGBITS, A | W, 0x10, 16, 0x112d0, 0x81010 },
	{ ".exit.text", PROGBITS, A | X, 0x10, 1, 0x112e0, 0x10147 },
};

#define N_MODULE (sizeof(module) / sizeof(module[0]))

static void
write_module(struct elf_writer *w)
{
	elf_writer_init(w, true, false, 1, X86_64);
	for (size_t i = 0; i < N_MODULE; i++) {
		struct elf_writer_section s = { .name = module[i].name };

		s.type = module[i].type;
		s.flags = module[i].flags;
		s.size = module[i].size;
		s.align = module[i].align;
		s.off = elf_writer_put(w, NULL,
		    s.type == NOBITS ? 0 : (size_t)s.size, 1);
		(void)elf_writer_section(w, &s);
	}
	elf_writer_finish(w);
}

static void
check_pieces(struct hwtd_context *ctx, const struct hwtdi_elf_object *o,
    const struct elf_writer *w)
{
	struct hwtdi_elf_layout l;
	size_t n = 0;

	assert_int_equal(hwtdi_elf_object_layout(o, ctx, &l, NULL), HWTD_OK);
	for (size_t i = 0; i < N_MODULE; i++) {
		if ((module[i].flags & X) == 0 || module[i].size == 0)
			continue;
		assert_true(n < l.n_pieces);
		assert_int_equal(l.pieces[n].address,
		    o->places[i + 1].address);
		assert_int_equal(l.pieces[n].length, module[i].size);
		assert_int_equal(l.pieces[n].file_off, w->sections[i + 1].off);
		n++;
	}
	assert_int_equal(l.n_pieces, n);
	hwtdi_elf_layout_fini(&l, ctx);
}

static void
freebsd_places_sections_in_their_order(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_object o;
	struct elf_writer w;

	(void)state;
	write_module(&w);
	assert_int_equal(hwtdi_elf_object_init_freebsd(&o, ctx, "m", w.bytes,
			     w.n_bytes, 0x10000, NULL),
	    HWTD_OK);
	for (size_t i = 0; i < N_MODULE; i++) {
		print_message("%s\n", module[i].name);
		assert_int_equal(o.places[i + 1].placed,
		    module[i].freebsd != 0);
		if (module[i].freebsd != 0)
			assert_int_equal(o.places[i + 1].address,
			    module[i].freebsd);
	}
	assert_int_equal(o.end, 0x112f0);
	check_pieces(ctx, &o, &w);
	hwtdi_elf_object_fini(&o, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

static void
linux_places_sections_in_groups_code_first(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_object o;
	struct elf_writer w;

	(void)state;
	write_module(&w);
	assert_int_equal(hwtdi_elf_object_init_linux(&o, ctx, "m", w.bytes,
			     w.n_bytes, 0x10000, 0x80000, 0, NULL),
	    HWTD_OK);
	for (size_t i = 0; i < N_MODULE; i++) {
		print_message("%s\n", module[i].name);
		assert_int_equal(o.places[i + 1].placed, module[i].linux != 0);
		if (module[i].linux != 0)
			assert_int_equal(o.places[i + 1].address,
			    module[i].linux);
	}
	assert_int_equal(o.end, 0x14050);
	check_pieces(ctx, &o, &w);
	hwtdi_elf_object_fini(&o, ctx);
	/* Without an address for it, what starts the module is gone. */
	assert_int_equal(hwtdi_elf_object_init_linux(&o, ctx, "m", w.bytes,
			     w.n_bytes, 0x10000, 0, 0, NULL),
	    HWTD_OK);
	assert_false(o.places[3].placed);
	assert_true(o.places[1].placed);
	hwtdi_elf_object_fini(&o, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

/* Symbols of the objects below. */
enum {
	NONE,
	IN_TEXT,
	IN_DATA,
	OUTSIDE,
	NOWHERE,
	FIXED,
	COMMON,
	IN_NOTE
};

/* One relocation of 8 bytes of code at `where`, in a section at 0x100000. */
static const struct {
	const char *name;
	uint16_t machine;
	uint32_t type;
	uint32_t symbol;
	int64_t addend;
	uint64_t before;
	uint64_t after;
} relocations[] = {
	/* P is 0x100010; in .text 0x100040; in .data 0x100108. */
	{ "x86 64", X86_64, 1, IN_DATA, 0x10, 0, 0x100118 },
	{ "x86 64 of a wide symbol", X86_64, 1, OUTSIDE, -1, 0,
	    0xffffffff80001233 },
	{ "x86 PC32", X86_64, 2, IN_TEXT, -4, 0x1122334400000000,
	    0x112233440000002c },
	{ "x86 PLT32 back", X86_64, 4, FIXED, -4, 0, 0x00000000fff00fec },
	{ "x86 PC32 too far", X86_64, 2, OUTSIDE, 0, 0x77, 0x77 },
	{ "x86 32", X86_64, 10, IN_DATA, 0, 0xaa00000000, 0xaa00100108 },
	{ "x86 32 of a negative", X86_64, 10, OUTSIDE, 0, 0x55, 0x55 },
	{ "x86 32S", X86_64, 11, OUTSIDE, 0, 0, 0x80001234 },
	{ "x86 32S too large", X86_64, 11, FIXED, 0x7ffff000, 0x66, 0x66 },
	{ "x86 PC64", X86_64, 24, FIXED, 0, 0, 0xfffffffffff00ff0 },
	{ "x86 GOTPCREL is not for kernels", X86_64, 9, IN_DATA, 0, 0x99,
	    0x99 },
	{ "x86 unknown symbol", X86_64, 2, NOWHERE, 0, 0x12, 0x12 },
	{ "x86 common symbol", X86_64, 2, COMMON, 0, 0x12, 0x12 },
	{ "x86 symbol of a section that is not loaded", X86_64, 2, IN_NOTE, 0,
	    0x12, 0x12 },
	{ "x86 no symbol", X86_64, 1, NONE, 0x1234, 0, 0x1234 },
	{ "x86 symbol that is not in the table", X86_64, 2, 99, 0, 0x12,
	    0x12 },
	{ "x86 none", X86_64, 0, NONE, 7, 0x12, 0x12 },
	/* bl, b, adrp, add, ldr, tbz, b.eq, adr of the Arm manual. */
	{ "arm CALL26", AARCH64, 283, IN_TEXT, 0, 0xd503201f94000000,
	    0xd503201f9400000c },
	{ "arm JUMP26 back", AARCH64, 282, FIXED, 0, 0x14000000, 0x17fc03fc },
	{ "arm CALL26 too far", AARCH64, 283, OUTSIDE, 0, 0x94000000,
	    0x94000000 },
	{ "arm CALL26 not at an instruction", AARCH64, 283, IN_TEXT, 2,
	    0x94000000, 0x94000000 },
	{ "arm ADR_PREL_PG_HI21", AARCH64, 275, IN_DATA, 0x2000, 0x90000000,
	    0xd0000000 },
	{ "arm ADR_PREL_PG_HI21 back", AARCH64, 275, FIXED, 0, 0x90000000,
	    0xb0fff800 },
	{ "arm ADD_ABS_LO12_NC", AARCH64, 277, IN_DATA, 0, 0x91000021,
	    0x91042021 },
	{ "arm LDST64_ABS_LO12_NC", AARCH64, 286, IN_DATA, 0, 0xf9400021,
	    0xf9408421 },
	{ "arm LDST128 not aligned", AARCH64, 299, IN_DATA, 0, 0x3dc00021,
	    0x3dc00021 },
	{ "arm TSTBR14", AARCH64, 279, IN_TEXT, 0, 0x36000000, 0x36000180 },
	{ "arm CONDBR19", AARCH64, 280, IN_TEXT, 0, 0x54000000, 0x54000180 },
	{ "arm ADR_PREL_LO21", AARCH64, 274, IN_TEXT, 1, 0x10000000,
	    0x30000180 },
	{ "arm ABS64", AARCH64, 257, OUTSIDE, 0, 0, 0xffffffff80001234 },
	{ "arm ABS32 of either sign", AARCH64, 258, OUTSIDE, 0, 0,
	    0x80001234 },
	{ "arm PREL32", AARCH64, 261, FIXED, 0, 0, 0xfff00ff0 },
	{ "arm PREL64", AARCH64, 260, FIXED, 0, 0, 0xfffffffffff00ff0 },
	{ "arm unknown", AARCH64, 311, IN_TEXT, 0, 0x12, 0x12 },
};

/* .text (0x100 bytes), .data, .note; relocations of .text. */
static size_t
write_object(struct elf_writer *w, uint16_t machine)
{
	struct elf_writer_section s;
	size_t text, at;

	elf_writer_init(w, true, false, 1, machine);
	text = elf_writer_put(w, NULL, 0x100, 16);
	s = (struct elf_writer_section){ .name = ".text",
		.type = PROGBITS,
		.flags = A | X,
		.off = text,
		.size = 0x100,
		.align = 16 };
	(void)elf_writer_section(w, &s);
	at = elf_writer_put(w, NULL, 0x10, 16);
	s = (struct elf_writer_section){ .name = ".data",
		.type = PROGBITS,
		.flags = A | W,
		.off = at,
		.size = 0x10,
		.align = 8 };
	(void)elf_writer_section(w, &s);
	s = (struct elf_writer_section){ .name = ".note",
		.type = NOTE,
		.flags = A,
		.off = at,
		.size = 0x10,
		.align = 4 };
	(void)elf_writer_section(w, &s);
	at = elf_writer_put(w, "\0outside\0nowhere", 17, 1);
	s = (struct elf_writer_section){ .name = ".strtab",
		.type = STRTAB,
		.off = at,
		.size = 17,
		.align = 1 };
	(void)elf_writer_section(w, &s);
	at = elf_writer_put(w, NULL, 0, 8);
	(void)elf_writer_put_symbol(w, 0, 0, 0, 0);
	(void)elf_writer_put_symbol(w, 0, 0, 1, 0x40);
	(void)elf_writer_put_symbol(w, 0, 0, 2, 8);
	(void)elf_writer_put_symbol(w, 1, 0x10, 0, 0);
	(void)elf_writer_put_symbol(w, 9, 0x10, 0, 0);
	(void)elf_writer_put_symbol(w, 0, 0, 0xfff1, 0x1000);
	(void)elf_writer_put_symbol(w, 0, 0x10, 0xfff2, 8);
	(void)elf_writer_put_symbol(w, 0, 0, 3, 0);
	s = (struct elf_writer_section){ .name = ".symtab",
		.type = SYMTAB,
		.off = at,
		.size = w->n_bytes - at,
		.link = 4,
		.info = 3,
		.align = 8,
		.entry_bytes = 24 };
	(void)elf_writer_section(w, &s);
	return (text);
}

static void
put_relocations(struct elf_writer *w, size_t off)
{
	struct elf_writer_section s = { .name = ".rela.text",
		.type = RELA,
		.off = off,
		.size = w->n_bytes - off,
		.link = 5,
		.info = 1,
		.align = 8,
		.entry_bytes = 24 };

	(void)elf_writer_section(w, &s);
}

static bool
outside(void *arg, const char *name, uint64_t *address_out)
{
	(*(size_t *)arg)++;
	if (strcmp(name, "outside") != 0)
		return (false);
	*address_out = 0xffffffff80001234;
	return (true);
}

static void
relocations_change_code_as_their_manuals_say(void **state)
{
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < sizeof(relocations) / sizeof(relocations[0]);
	     i++) {
		struct hwtdi_elf_relocated done;
		struct hwtdi_elf_object o;
		struct elf_writer w;
		uint64_t got = 0;
		size_t asked = 0, at, text;
		uint8_t *copy;

		text = write_object(&w, relocations[i].machine);
		elf_writer_poke(&w, text + 0x10, relocations[i].before, 8);
		at = elf_writer_put(&w, NULL, 0, 8);
		(void)elf_writer_put_rela(&w, 0x10, relocations[i].type,
		    relocations[i].symbol, relocations[i].addend);
		put_relocations(&w, at);
		elf_writer_finish(&w);
		copy = malloc(w.n_bytes);
		assert_non_null(copy);
		memcpy(copy, w.bytes, w.n_bytes);
		assert_int_equal(hwtdi_elf_object_init_freebsd(&o, ctx, "m",
				     w.bytes, w.n_bytes, 0x100000, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_elf_relocate(&o,
				     &(struct hwtdi_elf_linker){ .arg = &asked,
					 .resolve_fn = outside },
				     copy, &done, NULL),
		    HWTD_OK);
		for (size_t b = 0; b < 8; b++)
			got |= (uint64_t)copy[text + 0x10 + b] << (8 * b);
		print_message("%s: %#lx, done %lu, unresolved %lu, "
			      "unknown %lu, unfit %lu\n",
		    relocations[i].name, (unsigned long)got,
		    (unsigned long)done.n_done,
		    (unsigned long)done.n_unresolved,
		    (unsigned long)done.n_unknown,
		    (unsigned long)done.n_unfit);
		assert_int_equal(got, relocations[i].after);
		if (relocations[i].type != 0)
			assert_int_equal(done.n_done + done.n_unresolved +
				done.n_unknown + done.n_unfit,
			    1);
		assert_int_equal(done.n_done,
		    relocations[i].before != relocations[i].after);
		/* Nothing else was touched. */
		memcpy(copy + text + 0x10, w.bytes + text + 0x10, 8);
		assert_memory_equal(copy, w.bytes, w.n_bytes);
		hwtdi_elf_object_fini(&o, ctx);
		free(copy);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

/* What may be wrong with the object above. */
static void
relocations_past_the_section_are_left_and_counted(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_relocated done;
	struct hwtdi_elf_object o;
	struct elf_writer w;
	uint8_t *copy;
	size_t at;

	(void)state;
	(void)write_object(&w, X86_64);
	at = elf_writer_put(&w, NULL, 0, 8);
	(void)elf_writer_put_rela(&w, 0xfc, 2, IN_TEXT, 0);
	(void)elf_writer_put_rela(&w, 0xfd, 2, IN_TEXT, 0);
	(void)elf_writer_put_rela(&w, 0xfc, 1, IN_TEXT, 0);
	(void)elf_writer_put_rela(&w, UINT64_MAX, 1, IN_TEXT, 0);
	(void)elf_writer_put_rela(&w, UINT64_MAX - 3, 2, IN_TEXT, 0);
	put_relocations(&w, at);
	elf_writer_finish(&w);
	copy = malloc(w.n_bytes);
	assert_non_null(copy);
	memcpy(copy, w.bytes, w.n_bytes);
	assert_int_equal(hwtdi_elf_object_init_freebsd(&o, ctx, "m", w.bytes,
			     w.n_bytes, 0x100000, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_relocate(&o,
			     &(struct hwtdi_elf_linker){ 0 }, copy, &done,
			     NULL),
	    HWTD_OK);
	assert_int_equal(done.n_done, 1);
	assert_int_equal(done.n_unfit, 4);
	hwtdi_elf_object_fini(&o, ctx);
	free(copy);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

static void
i386_takes_the_addend_from_the_place(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct hwtdi_elf_relocated done;
	struct hwtdi_elf_object o;
	struct elf_writer w;
	struct elf_writer_section s;
	uint8_t copy[4096];
	size_t text, at;

	(void)state;
	elf_writer_init(&w, false, false, 1, 3);
	/* call .+0 ; mov $0x10, %eax */
	text = elf_writer_put(&w, "\xe8\xfc\xff\xff\xff\xb8\x10\0\0\0", 10, 4);
	s = (struct elf_writer_section){ .name = ".text",
		.type = PROGBITS,
		.flags = A | X,
		.off = text,
		.size = 10,
		.align = 4 };
	(void)elf_writer_section(&w, &s);
	at = elf_writer_put(&w, NULL, 0, 4);
	(void)elf_writer_put_symbol(&w, 0, 0, 0, 0);
	(void)elf_writer_put_symbol(&w, 0, 0, 1, 5);
	s = (struct elf_writer_section){ .name = ".symtab",
		.type = SYMTAB,
		.off = at,
		.size = 32,
		.align = 4,
		.entry_bytes = 16 };
	(void)elf_writer_section(&w, &s);
	at = elf_writer_put(&w, NULL, 0, 4);
	(void)elf_writer_put_number(&w, 1, 4);
	(void)elf_writer_put_number(&w, 1 << 8 | 2, 4);
	(void)elf_writer_put_number(&w, 6, 4);
	(void)elf_writer_put_number(&w, 1 << 8 | 1, 4);
	s = (struct elf_writer_section){ .name = ".rel.text",
		.type = REL,
		.off = at,
		.size = 16,
		.link = 2,
		.info = 1,
		.align = 4,
		.entry_bytes = 8 };
	(void)elf_writer_section(&w, &s);
	elf_writer_finish(&w);
	assert_true(w.n_bytes <= sizeof(copy));
	memcpy(copy, w.bytes, w.n_bytes);
	assert_int_equal(hwtdi_elf_object_init_freebsd(&o, ctx, "m", w.bytes,
			     w.n_bytes, 0xc0100000, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_relocate(&o,
			     &(struct hwtdi_elf_linker){ 0 }, copy, &done,
			     NULL),
	    HWTD_OK);
	assert_int_equal(done.n_done, 2);
	/* To 0xc0100005, which follows; and 0xc0100005 + 0x10. */
	assert_memory_equal(copy + text, "\xe8\0\0\0\0\xb8\x15\0\x10\xc0", 10);
	hwtdi_elf_object_fini(&o, ctx);
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

/* Instructions with a field for a symbol that nobody knows. */
static const struct {
	const char *name;
	uint16_t machine;
	uint32_t type;
	/* Where the field is in `code`. */
	uint32_t at;
	uint8_t code[8];
	bool branch;
} unresolved[] = {
	{ "call, PLT32", X86_64, 4, 1, { 0xe8 }, true },
	{ "call, PC32", X86_64, 2, 1, { 0xe8 }, true },
	{ "jmp, PC32", X86_64, 2, 1, { 0xe9 }, true },
	{ "je, PC32", X86_64, 2, 2, { 0x0f, 0x84 }, true },
	{ "lea, PC32", X86_64, 2, 3, { 0x48, 0x8d, 0x05 }, false },
	{ "call *(%rip), GOTPCREL", X86_64, 9, 2, { 0xff, 0x15 }, false },
	{ "mov, 64", X86_64, 1, 0, { 0xe8 }, false },
	{ "bl", AARCH64, 283, 0, { 0, 0, 0, 0x94 }, true },
	{ "tbz", AARCH64, 279, 0, { 0, 0, 0, 0x36 }, true },
	{ "adrp", AARCH64, 275, 0, { 0, 0, 0, 0x90 }, false },
	{ "past the end", X86_64, 4, 0xfd, { 0 }, false },
};

struct left {
	size_t n;
	uint64_t off;
};

static void
leave(void *arg, uint64_t off, uint64_t n)
{
	struct left *left = arg;

	assert_int_equal(n, 4);
	left->off = off;
	left->n++;
}

static void
branches_to_nobody_knows_where_are_told(void **state)
{
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < sizeof(unresolved) / sizeof(unresolved[0]);
	     i++) {
		struct hwtdi_elf_relocated done;
		struct left left = { 0, 0 };
		const struct hwtdi_elf_linker linker = { .arg = &left,
			.left_fn = leave };
		struct hwtdi_elf_object o;
		struct elf_writer w;
		size_t at, text;
		uint8_t *copy;

		print_message("%s\n", unresolved[i].name);
		text = write_object(&w, unresolved[i].machine);
		memcpy(w.bytes + text, unresolved[i].code, 8);
		at = elf_writer_put(&w, NULL, 0, 8);
		(void)elf_writer_put_rela(&w, unresolved[i].at,
		    unresolved[i].type, NOWHERE, 0);
		put_relocations(&w, at);
		elf_writer_finish(&w);
		copy = malloc(w.n_bytes);
		assert_non_null(copy);
		memcpy(copy, w.bytes, w.n_bytes);
		assert_int_equal(hwtdi_elf_object_init(&o, ctx, "m", w.bytes,
				     w.n_bytes, 0x100000, NULL),
		    HWTD_OK);
		assert_int_equal(hwtdi_elf_relocate(&o, &linker, copy, &done,
				     NULL),
		    HWTD_OK);
		assert_int_equal(left.n, unresolved[i].branch);
		if (unresolved[i].branch)
			assert_int_equal(left.off, text + unresolved[i].at);
		hwtdi_elf_object_fini(&o, ctx);
		free(copy);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

static const struct {
	const char *name;
	uint64_t size;
	uint64_t align;
	uint64_t address;
	int rc;
} refused[] = {
	{ "no fault", 0x10, 16, 0x1000, HWTD_OK },
	{ "alignment 0", 0x10, 0, 0x1001, HWTD_OK },
	{ "alignment 3", 0x10, 3, 0x1000, HWTD_E_CORRUPT },
	{ "size that wraps", UINT64_MAX, 1, 0x1000, HWTD_E_CORRUPT },
	{ "alignment that wraps", 1, (uint64_t)1 << 63,
	    ((uint64_t)1 << 63) + 1, HWTD_E_CORRUPT },
};

static void
sections_that_cannot_be_placed_are_refused(void **state)
{
	struct hwtd_context *ctx = new_context();

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct elf_writer_section s = { .name = ".text",
			.type = PROGBITS,
			.flags = A | X };
		struct hwtdi_elf_object o;
		struct elf_writer w;
		int rc;

		elf_writer_init(&w, true, false, 1, X86_64);
		s.off = elf_writer_put(&w, NULL, 16, 16);
		s.size = refused[i].size;
		s.align = refused[i].align;
		(void)elf_writer_section(&w, &s);
		elf_writer_finish(&w);
		rc = hwtdi_elf_object_init_freebsd(&o, ctx, "m", w.bytes,
		    w.n_bytes, refused[i].address, &err);
		print_message("%s: %s\n", refused[i].name,
		    rc != HWTD_OK ? err.message : "-");
		assert_int_equal(rc, refused[i].rc);
		if (rc == HWTD_OK) {
			assert_int_equal(o.places[1].address,
			    refused[i].address);
			hwtdi_elf_object_fini(&o, ctx);
		} else {
			/* Section header 1 of 3 that end the file. */
			assert_int_equal(err.offset, w.n_bytes - 2 * 64);
		}
		rc = hwtdi_elf_object_init_linux(&o, ctx, "m", w.bytes,
		    w.n_bytes, refused[i].address, 0, 0, NULL);
		assert_int_equal(rc, refused[i].rc);
		if (rc == HWTD_OK)
			hwtdi_elf_object_fini(&o, ctx);
		/* A linked file is none. */
		elf_writer_poke(&w, 16, 2, 2);
		assert_int_equal(hwtdi_elf_object_init_freebsd(&o, ctx, "m",
				     w.bytes, w.n_bytes, 0, NULL),
		    HWTD_E_UNSUPPORTED);
		elf_writer_free(&w);
	}
	hwtd_context_destroy(ctx);
}

/* Place, lay out, relocate; whatever the bytes are. */
static void
try(struct hwtd_context *ctx, const uint8_t *bytes, size_t n)
{
	uint8_t *exact = malloc(n != 0 ? n : 1);
	uint8_t *copy = malloc(n != 0 ? n : 1);

	assert_non_null(exact);
	assert_non_null(copy);
	memcpy(exact, bytes, n);
	memcpy(copy, bytes, n);
	for (int how = 0; how < 2; how++) {
		struct hwtdi_elf_relocated done;
		struct hwtdi_elf_object o;
		struct hwtdi_elf_layout l;
		size_t asked = 0;
		int rc = how == 0 ? hwtdi_elf_object_init_freebsd(&o, ctx, "m",
					exact, n, 0x100000, NULL)
				  : hwtdi_elf_object_init_linux(&o, ctx, "m",
					exact, n, 0x100000, 0x200000, 0, NULL);

		if (rc != HWTD_OK)
			continue;
		assert_int_equal(hwtdi_elf_object_layout(&o, ctx, &l, NULL),
		    HWTD_OK);
		for (size_t i = 0; i < l.n_pieces; i++)
			assert_true(l.pieces[i].file_off < n &&
			    l.pieces[i].length <= n - l.pieces[i].file_off);
		hwtdi_elf_layout_fini(&l, ctx);
		(void)hwtdi_elf_relocate(&o,
		    &(struct hwtdi_elf_linker){ .arg = &asked,
			.resolve_fn = outside },
		    copy, &done, NULL);
		hwtdi_elf_object_fini(&o, ctx);
	}
	free(copy);
	free(exact);
}

static void
cut_and_flipped_objects_neither_crash_nor_reach_outside(void **state)
{
	struct hwtd_context *ctx = new_context();
	struct elf_writer w;
	size_t at;

	(void)state;
	(void)write_object(&w, X86_64);
	at = elf_writer_put(&w, NULL, 0, 8);
	(void)elf_writer_put_rela(&w, 0x10, 2, IN_TEXT, 0);
	(void)elf_writer_put_rela(&w, 0x20, 2, OUTSIDE, 0);
	put_relocations(&w, at);
	elf_writer_finish(&w);
	for (size_t n = 0; n <= w.n_bytes; n++)
		try(ctx, w.bytes, n);
	for (at = 0; at < w.n_bytes; at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			w.bytes[at] ^= (uint8_t)(1u << bit);
			try(ctx, w.bytes, w.n_bytes);
			w.bytes[at] ^= (uint8_t)(1u << bit);
		}
	}
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

static void
failed_allocations_leave_nothing_behind(void **state)
{
	struct hwtd_context_options opts = { .size = sizeof(opts) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct elf_writer w;
	int rc = HWTD_E_NOMEM;

	(void)state;
	write_module(&w);
	failing_allocator_init(&f);
	opts.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtdi_elf_layout l = { .pieces = NULL };
		struct hwtdi_elf_object o;
		int64_t blocks = f.blocks;

		failing_allocator_arm(&f, n, false);
		rc = hwtdi_elf_object_init_linux(&o, ctx, "m", w.bytes,
		    w.n_bytes, 0x10000, 0x80000, 0, NULL);
		if (rc == HWTD_OK) {
			rc = hwtdi_elf_object_layout(&o, ctx, &l, NULL);
			hwtdi_elf_layout_fini(&l, ctx);
			hwtdi_elf_object_fini(&o, ctx);
		}
		assert_true(rc == HWTD_OK || rc == HWTD_E_NOMEM);
		assert_true(rc != HWTD_OK || n > 3);
		assert_int_equal(f.blocks, blocks);
	}
	elf_writer_free(&w);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_to_nobody_knows_where_are_told),
		cmocka_unit_test(freebsd_places_sections_in_their_order),
		cmocka_unit_test(linux_places_sections_in_groups_code_first),
		cmocka_unit_test(relocations_change_code_as_their_manuals_say),
		cmocka_unit_test(
		    relocations_past_the_section_are_left_and_counted),
		cmocka_unit_test(i386_takes_the_addend_from_the_place),
		cmocka_unit_test(sections_that_cannot_be_placed_are_refused),
		cmocka_unit_test(
		    cut_and_flipped_objects_neither_crash_nor_reach_outside),
		cmocka_unit_test(failed_allocations_leave_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
