/*
 * Kernel modules that are objects (ET_REL): where records put them, and what
 * their calls of the kernel lead to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/elf_writer.h"
#include "support/failing_allocator.h"
#include "support/library_calls.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"

#define PROGBITS 1
#define SYMTAB 2
#define STRTAB 3
#define RELA 4
#define NOTE 7
#define NOBITS 8
#define CODE_FLAGS 6
#define PLT32 4

#define KERNEL 0xffffffff80200000u
#define SERVICE (KERNEL + 0x1000)
#define MODULE 0xffffffff81000000u
#define OTHER 0xffffffff82000000u

#define NAMES "\0service\0entry"
#define SERVICE_NAME 1
#define ENTRY_NAME 9

/* jmp *%rax */
static const uint8_t service[] = { 0xff, 0xe0 };
/* call service; jmp *%rax */
static const uint8_t calls_service[] = { 0xe8, 0, 0, 0, 0, 0xff, 0xe0 };

static void
save(struct elf_writer *w, const struct temp_dir *dir, const char *name)
{
	char path[300];
	FILE *f;

	elf_writer_finish(w);
	f = fopen(temp_dir_file(dir, name, path), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(w->bytes, 1, w->n_bytes, f), w->n_bytes);
	assert_int_equal(fclose(f), 0);
	elf_writer_free(w);
}

/* Symbols: 1 is `name` in `section`; the names lie in the section before. */
static void
put_symbols(struct elf_writer *w, uint32_t name, uint8_t info,
    uint16_t section, uint64_t value)
{
	size_t at = elf_writer_put(w, NAMES, sizeof(NAMES), 1);
	const uint32_t names = (uint32_t)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".strtab",
		.type = STRTAB,
		.off = at,
		.size = sizeof(NAMES),
		.align = 1 });

	at = elf_writer_put(w, NULL, 0, 8);
	(void)elf_writer_put_symbol(w, 0, 0, 0, 0);
	(void)elf_writer_put_symbol(w, name, info, section, value);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".symtab",
		.type = SYMTAB,
		.off = at,
		.size = w->n_bytes - at,
		.link = names,
		.info = 1,
		.align = 8,
		.entry_bytes = 24 });
}

enum kernel {
	WITH_SYMBOLS,
	/* The symbol is an indirect function: who it is was found out. */
	INDIRECT,
	STRIPPED,
	/* A file of debug information: no code, but symbols. */
	DEBUG_FILE,
	/* It has symbols, but not the one. */
	OTHER_SYMBOLS
};

static void
write_kernel(const struct temp_dir *dir, const char *name, enum kernel kind)
{
	uint8_t id[20];
	struct elf_writer w;
	size_t at;

	memset(id, 0x77, sizeof(id));
	elf_writer_init(&w, true, false, 2, 62);
	at = elf_writer_put_note(&w, 3, id, sizeof(id));
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ 4, 4, at, KERNEL + at, 36, 36, 4 });
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".note",
		.type = NOTE,
		.off = at,
		.size = 36,
		.align = 4 });
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ 1, 4, 0, KERNEL, 0x200, 0x200,
		4096 });
	at = elf_writer_put(&w, kind == DEBUG_FILE ? NULL : service,
	    sizeof(service), 4096);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ 1, 5, at, SERVICE, sizeof(service),
		sizeof(service), 4096 });
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = kind == DEBUG_FILE ? NOBITS : PROGBITS,
		.flags = CODE_FLAGS,
		.addr = SERVICE,
		.off = at,
		.size = sizeof(service),
		.align = 16 });
	if (kind == STRIPPED) {
		at = elf_writer_put(&w, "kernel.debug\0\0\0", 16, 4);
		(void)elf_writer_put_number(&w, 0, 4);
		(void)elf_writer_section(&w,
		    &(struct elf_writer_section){ .name = ".gnu_debuglink",
			.type = PROGBITS,
			.off = at,
			.size = 20,
			.align = 4 });
	} else {
		put_symbols(&w,
		    kind == OTHER_SYMBOLS ? ENTRY_NAME : SERVICE_NAME,
		    kind == INDIRECT ? 0x1a : 0x12, 2, SERVICE);
	}
	save(&w, dir, name);
}

/* One section of code that calls symbol `wanted` of elsewhere. */
static void
write_module(const struct temp_dir *dir, const char *name, bool for_linux)
{
	struct elf_writer w;
	size_t at;

	elf_writer_init(&w, true, false, 1, 62);
	at = elf_writer_put(&w, calls_service, sizeof(calls_service), 16);
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".data",
		.type = PROGBITS,
		.flags = 3,
		.off = at,
		.size = 4,
		.align = 4 });
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = PROGBITS,
		.flags = CODE_FLAGS,
		.off = at,
		.size = sizeof(calls_service),
		.align = 16 });
	if (for_linux)
		(void)elf_writer_section(&w,
		    &(struct elf_writer_section){ .name = ".modinfo",
			.type = PROGBITS,
			.flags = 2,
			.off = at,
			.size = 1,
			.align = 1 });
	put_symbols(&w, SERVICE_NAME, 0x12, 0, 0);
	at = elf_writer_put(&w, NULL, 0, 8);
	(void)elf_writer_put_rela(&w, 1, PLT32, 1, -4);
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".rela.text",
		.type = RELA,
		.off = at,
		.size = 24,
		.link = (uint32_t)w.n_sections - 1,
		.info = 2,
		.align = 8,
		.entry_bytes = 24 });
	save(&w, dir, name);
}

/* A folder with a kernel and a module of it, as FreeBSD or Linux has them. */
static void
set_up(struct temp_dir *dir, enum kernel kind, bool for_linux)
{
	temp_dir_create(dir);
	write_kernel(dir, for_linux ? "vmlinux" : "kernel", kind);
	write_module(dir, "some.ko", for_linux);
}

static void
tear_down(struct hwtd_trace *trace, struct temp_dir *dir)
{
	hwtd_trace_close(trace);
	temp_dir_remove(dir);
}

/* FreeBSD puts .data first, and code at the next 16 bytes. */
#define TEXT (MODULE + 16)

static void
load(struct hwtd_trace *trace, uint32_t type, const char *name, uint64_t addr)
{
	struct hwtd_record r = mr_record(type, HWTD_NO_ID, addr, 0);

	r.flags |= HWTD_RECF_KERNEL_SPACE;
	r.name = name;
	mr_add(trace, &r);
}

/* The module calls the kernel, twice. */
static struct hwtd_trace *
traced(const struct temp_dir *dir, uint64_t text)
{
	struct hwtd_trace *trace = mr_create(dir->path);
	struct pt_packets p = { 0 };

	pt_psb_plus(&p, text, 64);
	pt_tip(&p, PT_IP_64, text);
	pt_fup(&p, PT_IP_64, SERVICE);
	pt_pgd(&p, PT_IP_NONE, 0);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	return (trace);
}

/* The bytes of code that a lookup leads to; how many there are. */
static size_t
code_at(const struct hwtd_trace *trace, uint64_t address, uint8_t *buf,
    size_t n)
{
	struct hwtd_mapping m = { .size = sizeof(m) };

	if (hwtd_space_lookup(trace, HWTD_NO_ID, NULL, address, &m) !=
		HWTD_OK ||
	    hwtd_trace_read_code(trace, m.section, address, buf, n, &n) !=
		HWTD_OK)
		return (0);
	return (n);
}

/* call to `target` from `at`, by hand: E8, then the distance. */
static void
assert_calls(const struct hwtd_trace *trace, uint64_t at, uint64_t target)
{
	const uint32_t distance = (uint32_t)(target - (at + 5));
	uint8_t code[7];

	assert_int_equal(code_at(trace, at, code, sizeof(code)), 7);
	assert_int_equal(code[0], 0xe8);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(code[1 + i], distance >> 8 * i & 0xff);
	assert_int_equal(code[5], 0xff);
}

static void
calls_of_the_kernel_are_followed(void **state)
{
	struct hwtd_trace *trace;
	struct temp_dir dir;

	(void)state;
	set_up(&dir, WITH_SYMBOLS, false);
	trace = traced(&dir, TEXT);
	/* As hwt(4) has them: the kernel last, names without a folder. */
	load(trace, HWTD_REC_KERNEL, "some.ko", MODULE);
	load(trace, HWTD_REC_KERNEL, "kernel", KERNEL);
	(void)mt_seal(trace);
	assert_calls(trace, TEXT, SERVICE);
	lc_assert_images(trace, "some.ko kernel some.ko");
	tear_down(trace, &dir);
}

static void
linux_puts_code_first(void **state)
{
	struct hwtd_trace *trace;
	struct temp_dir dir;

	(void)state;
	set_up(&dir, WITH_SYMBOLS, true);
	trace = traced(&dir, MODULE);
	load(trace, HWTD_REC_KERNEL, "/boot/vmlinux", KERNEL);
	load(trace, HWTD_REC_MODULE_LOAD, "/lib/modules/some.ko", MODULE);
	(void)mt_seal(trace);
	assert_calls(trace, MODULE, SERVICE);
	lc_assert_images(trace,
	    "/lib/modules/some.ko /boot/vmlinux /lib/modules/some.ko");
	tear_down(trace, &dir);
}

static void
a_moved_kernel_moves_what_it_offers(void **state)
{
	struct hwtd_trace *trace;
	struct temp_dir dir;

	(void)state;
	set_up(&dir, WITH_SYMBOLS, false);
	trace = traced(&dir, TEXT);
	load(trace, HWTD_REC_KERNEL, "kernel", KERNEL + 0x400000);
	load(trace, HWTD_REC_MODULE_LOAD, "some.ko", MODULE);
	(void)mt_seal(trace);
	assert_calls(trace, TEXT, SERVICE + 0x400000);
	tear_down(trace, &dir);
}

/* Stripped: its symbols lie in the file that its debug link names. */
static void
symbols_come_from_the_debug_file(void **state)
{
	struct hwtd_trace *trace;
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	write_kernel(&dir, "kernel", STRIPPED);
	write_kernel(&dir, "kernel.debug", DEBUG_FILE);
	write_module(&dir, "some.ko", false);
	trace = traced(&dir, TEXT);
	load(trace, HWTD_REC_KERNEL, "some.ko", MODULE);
	load(trace, HWTD_REC_KERNEL, "kernel", KERNEL);
	(void)mt_seal(trace);
	assert_calls(trace, TEXT, SERVICE);
	lc_assert_images(trace, "some.ko kernel some.ko");
	tear_down(trace, &dir);
}

/* Where a call leads is not known; it does not lead to what follows it. */
static void
a_call_of_nobody_knows_what_is_a_gap(void **state)
{
	static const enum kernel kinds[] = { STRIPPED, OTHER_SYMBOLS,
		INDIRECT };
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_trace *trace;
	uint8_t code[8];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct temp_dir dir;

		set_up(&dir, kinds[i], false);
		trace = traced(&dir, TEXT);
		load(trace, HWTD_REC_KERNEL, "some.ko", MODULE);
		load(trace, HWTD_REC_KERNEL, "kernel", KERNEL);
		(void)mt_seal(trace);
		assert_int_equal(code_at(trace, TEXT, code, 8), 1);
		assert_int_equal(code_at(trace, TEXT + 1, code, 8), 0);
		assert_int_equal(code_at(trace, TEXT + 5, code, 8), 2);
		assert_int_equal(hwtd_space_lookup(trace, HWTD_NO_ID, NULL,
				     TEXT + 1, &m),
		    HWTD_OK);
		assert_int_equal(m.flags,
		    HWTD_MAPPINGF_KERNEL | HWTD_MAPPINGF_UNKNOWN);
		assert_int_equal(hwtd_trace_image(trace, 0, &info), HWTD_OK);
		assert_int_equal(info.state, HWTD_IMAGE_FOUND);
		assert_non_null(strstr(info.text, "\"service\""));
		lc_assert_images(trace,
		    "[no-code ffffffff81000011] "
		    "[no-code ffffffff81000011]");
		tear_down(trace, &dir);
	}
}

/* Loaded again at another address it is linked again. */
static void
each_place_has_its_own_code(void **state)
{
	struct hwtd_trace *trace;
	struct hwtd_record gone;
	struct temp_dir dir;

	(void)state;
	set_up(&dir, WITH_SYMBOLS, false);
	trace = traced(&dir, TEXT);
	load(trace, HWTD_REC_KERNEL, "kernel", KERNEL);
	load(trace, HWTD_REC_MODULE_LOAD, "some.ko", MODULE);
	load(trace, HWTD_REC_MODULE_LOAD, "some.ko", OTHER);
	load(trace, HWTD_REC_MODULE_LOAD, "some.ko", OTHER);
	(void)mt_seal(trace);
	assert_calls(trace, TEXT, SERVICE);
	assert_calls(trace, OTHER + 16, SERVICE);
	hwtd_trace_close(trace);

	trace = traced(&dir, TEXT);
	load(trace, HWTD_REC_KERNEL, "kernel", KERNEL);
	load(trace, HWTD_REC_MODULE_LOAD, "some.ko", MODULE);
	load(trace, HWTD_REC_MODULE_LOAD, "some.ko", OTHER);
	gone = mr_record(HWTD_REC_MODULE_UNLOAD, HWTD_NO_ID, MODULE, 0);
	gone.flags |= HWTD_RECF_KERNEL_SPACE;
	mr_add(trace, &gone);
	(void)mt_seal(trace);
	mr_assert(trace, HWTD_NO_ID, NULL, TEXT, NULL, 0);
	assert_calls(trace, OTHER + 16, SERVICE);
	tear_down(trace, &dir);
}

/* The same module on host and guest, each linked to its own kernel. */
static void
a_guest_s_modules_call_its_own_kernel(void **state)
{
	static const struct {
		const char *name;
		uint64_t addr;
		uint32_t flags;
	} loads[] = {
		{ "some.ko", MODULE, 0 },
		{ "kernel", KERNEL, 0 },
		{ "some.ko", MODULE, HWTD_RECF_VMID },
		{ "kernel", KERNEL + 0x400000, HWTD_RECF_VMID },
	};
	struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = HWTD_NO_ID,
		.vmid = 7 };
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_trace *trace;
	struct temp_dir dir;
	uint8_t code[7];
	size_t n;

	(void)state;
	set_up(&dir, WITH_SYMBOLS, false);
	trace = traced(&dir, TEXT);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct hwtd_record r = mr_record(HWTD_REC_KERNEL, HWTD_NO_ID,
		    loads[i].addr, 0);

		r.flags |= loads[i].flags;
		r.vmid = 7;
		r.name = loads[i].name;
		mr_add(trace, &r);
	}
	(void)mt_seal(trace);
	assert_calls(trace, TEXT, SERVICE);
	who.flags = HWTD_CTXF_VMID;
	assert_int_equal(hwtd_space_lookup_context(trace, &who, NULL, TEXT,
			     &m),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_read_code(trace, m.section, TEXT, code, 7,
			     &n),
	    HWTD_OK);
	assert_int_equal(n, 7);
	assert_int_equal((uint32_t)(code[1] | code[2] << 8 | code[3] << 16 |
			     (uint32_t)code[4] << 24),
	    (uint32_t)(SERVICE + 0x400000 - (TEXT + 5)));
	tear_down(trace, &dir);
}

/* A module without sections cannot be laid out; the rest is decoded. */
static void
a_spoilt_module_is_a_missing_image_that_says_why(void **state)
{
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;
	struct elf_writer w;
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	write_kernel(&dir, "kernel", WITH_SYMBOLS);
	elf_writer_init(&w, true, false, 1, 62);
	save(&w, &dir, "some.ko");
	trace = traced(&dir, MODULE);
	load(trace, HWTD_REC_KERNEL, "some.ko", MODULE);
	load(trace, HWTD_REC_KERNEL, "kernel", KERNEL);
	(void)mt_seal(trace);
	assert_int_equal(hwtd_trace_image(trace, 0, &info), HWTD_OK);
	assert_string_equal(info.path, "some.ko");
	assert_int_equal(info.state, HWTD_IMAGE_MISSING);
	assert_non_null(strstr(info.text, "section headers"));
	mr_assert(trace, HWTD_NO_ID, NULL, SERVICE, "kernel", 0x1000);
	lc_assert_images(trace, "[no-code ffffffff81000000]");
	tear_down(trace, &dir);
}

/* Without the originals code is what it was, and unknown where it was. */
static void
an_archive_has_the_code_as_it_was_linked(void **state)
{
	static const struct {
		enum kernel kernel;
		bool with_debug_file;
		const char *want;
	} kinds[] = {
		{ WITH_SYMBOLS, false, "some.ko kernel some.ko" },
		{ STRIPPED, true, "some.ko kernel some.ko" },
		{ STRIPPED, false,
		    "[no-code ffffffff81000011] "
		    "[no-code ffffffff81000011]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hwtd_trace *trace;
		struct temp_dir dir, empty;
		char path[300], again[300];

		temp_dir_create(&dir);
		temp_dir_create(&empty);
		write_kernel(&dir, "kernel", kinds[i].kernel);
		if (kinds[i].with_debug_file)
			write_kernel(&dir, "kernel.debug", DEBUG_FILE);
		write_module(&dir, "some.ko", false);
		trace = traced(&dir, TEXT);
		load(trace, HWTD_REC_KERNEL, "some.ko", MODULE);
		load(trace, HWTD_REC_KERNEL, "some.ko", OTHER);
		load(trace, HWTD_REC_KERNEL, "kernel", KERNEL);
		(void)mt_seal(trace);
		st_save(trace, temp_dir_file(&empty, "a.hwt", path),
		    HWTD_SAVE_IMAGES);
		tear_down(trace, &dir);
		/* And what was archived is archived again. */
		for (int k = 0; k < 2; k++) {
			trace = st_open(path, empty.path);
			lc_assert_images(trace, kinds[i].want);
			if (kinds[i].want[0] == 's')
				assert_calls(trace, OTHER + 16, SERVICE);
			st_save(trace, temp_dir_file(&empty, "b.hwt", again),
			    HWTD_SAVE_IMAGES);
			memcpy(path, again, sizeof(path));
			hwtd_trace_close(trace);
		}
		temp_dir_remove(&empty);
	}
}

static int
build(struct hwtd_context *ctx, const char *dir)
{
	const struct hwtd_search search = { .size = sizeof(search),
		.dirs = &dir,
		.n_dirs = 1 };
	const struct hwtd_trace_options opts = { .size = sizeof(opts),
		.search = &search };
	static const char *const names[] = { "some.ko", "kernel" };
	struct hwtd_trace *trace;
	int rc = hwtd_trace_create(ctx, &opts, &trace, NULL);

	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < 2 && rc == HWTD_OK; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_KERNEL, HWTD_NO_ID,
		    i == 0 ? MODULE : KERNEL, 0);

		r.name = names[i];
		rc = hwtd_trace_add_record(trace, &r, NULL);
	}
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, NULL);
	hwtd_trace_close(trace);
	return (rc);
}

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	static const enum kernel kinds[] = { WITH_SYMBOLS, STRIPPED };
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct temp_dir dir;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	for (size_t i = 0; i < 2; i++) {
		int rc = HWTD_E_NOMEM;

		temp_dir_create(&dir);
		write_kernel(&dir, "kernel", kinds[i]);
		write_kernel(&dir, "kernel.debug", DEBUG_FILE);
		write_module(&dir, "some.ko", false);
		for (uint64_t n = 1; rc != HWTD_OK; n++) {
			failing_allocator_arm(&f, 0, false);
			assert_int_equal(hwtd_context_create(&o, &ctx, NULL),
			    HWTD_OK);
			failing_allocator_arm(&f, n, false);
			rc = build(ctx, dir.path);
			if (rc != HWTD_OK && rc != HWTD_E_NOMEM)
				fail_msg("request %d: code %d", (int)n, rc);
			hwtd_context_destroy(ctx);
			assert_int_equal(f.blocks, 0);
		}
		temp_dir_remove(&dir);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_the_kernel_are_followed),
		cmocka_unit_test(linux_puts_code_first),
		cmocka_unit_test(a_moved_kernel_moves_what_it_offers),
		cmocka_unit_test(symbols_come_from_the_debug_file),
		cmocka_unit_test(a_call_of_nobody_knows_what_is_a_gap),
		cmocka_unit_test(each_place_has_its_own_code),
		cmocka_unit_test(a_guest_s_modules_call_its_own_kernel),
		cmocka_unit_test(
		    a_spoilt_module_is_a_missing_image_that_says_why),
		cmocka_unit_test(an_archive_has_the_code_as_it_was_linked),
		cmocka_unit_test(
		    each_refused_request_is_reported_and_leaks_nothing),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
