/*
 * Kernels of Linux: where their files and copies of their memory lie, and
 * modules that are stored compressed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "support/elf_writer.h"
#include "support/mapped_trace.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_internal.h"

/* Where it was linked for, and where it runs: 0x1c000000 further on. */
#define LINKED 0xffffffff81000000u
#define TEXT 0xffffffff9d000000u
#define STEXT (TEXT + 0x1000)
/* Its modules, and how far the two are apart in a copy of memory. */
#define MODULES 0xffffffffc0200000u
#define IN_COPY 0x1000u

#define LOAD 1

static uint32_t
put_section(struct elf_writer *w, const char *name, uint32_t type, size_t at,
    uint32_t link)
{
	return ((uint32_t)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = name,
		.type = type,
		.flags = type == 1 ? 6 : 0,
		.off = at,
		.size = w->n_bytes - at,
		.link = link,
		.info = 1,
		.align = 1,
		.entry_bytes = type == 2 ? 24 : 0 }));
}

static void
save(struct elf_writer *w, const struct temp_dir *dir, const char *name)
{
	char path[300];

	elf_writer_finish(w);
	write_file(temp_dir_file(dir, name, path), w->bytes, w->n_bytes);
	elf_writer_free(w);
}

/*
 * As x86-64 links it: data of CPUs at 0, code in two segments, of which the
 * first in the file is not the lowest.  Its code is at offset 0x2000, where
 * _text is; _stext is 0x1000 behind it.
 */
static void
write_vmlinux(const struct temp_dir *dir, bool symbols)
{
	static const char names[] = "\0_stext\0_text";
	struct elf_writer w;
	uint32_t section;
	size_t at;

	elf_writer_init(&w, true, false, 2, 62);
	at = elf_writer_put(&w, NULL, 0x1000, 0x1000);
	assert_int_equal(at, 0x1000);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ LOAD, 6, at, 0, 0x1000, 0x1000,
		0x1000 });
	at = elf_writer_put(&w, NULL, 0x2000, 0x1000);
	assert_int_equal(at, 0x2000);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ LOAD, 7, at + 0x1000,
		LINKED + 0x4000, 0x1000, 0x1000, 0x1000 });
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ LOAD, 5, at, LINKED, 0x1000, 0x1000,
		0x1000 });
	section = put_section(&w, ".text", 1, at, 0);
	at = elf_writer_put(&w, names, sizeof(names), 1);
	if (symbols) {
		const uint32_t strings = put_section(&w, ".strtab", 3, at, 0);

		at = elf_writer_put(&w, NULL, 0, 8);
		(void)elf_writer_put_symbol(&w, 0, 0, 0, 0);
		(void)elf_writer_put_symbol(&w, 1, 0x10, (uint16_t)section,
		    LINKED + 0x1000);
		(void)elf_writer_put_symbol(&w, 8, 0x10, (uint16_t)section,
		    LINKED);
		(void)put_section(&w, ".symtab", 2, at, strings);
	}
	save(&w, dir, "vmlinux");
}

/* Memory of code at TEXT and of modules; file offsets 0x1000, 0x2000. */
static void
write_copy(const struct temp_dir *dir, const char *name)
{
	struct elf_writer w;

	elf_writer_init(&w, true, false, 4, 62);
	(void)elf_writer_put(&w, NULL, 0x2000, 0x1000);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ LOAD, 7, IN_COPY, TEXT, 0x1000,
		0x1000, 0x1000 });
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ LOAD, 7, IN_COPY + 0x1000, MODULES,
		0x1000, 0x1000, 0x1000 });
	save(&w, dir, name);
}

static void
write_module(struct elf_writer *w)
{
	size_t at;

	elf_writer_init(w, true, false, 1, 62);
	at = elf_writer_put(w, "\x90\x90\x90\x90", 4, 64);
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = 1,
		.flags = 6,
		.off = at,
		.size = 4,
		.align = 16 });
	(void)elf_writer_section(w,
	    &(struct elf_writer_section){ .name = ".modinfo",
		.type = 1,
		.flags = 2,
		.off = at,
		.size = 1,
		.align = 1 });
	elf_writer_finish(w);
}

static struct hwtd_record
record_of(uint32_t type, const char *name, uint64_t addr)
{
	struct hwtd_record r = mr_record(type, HWTD_NO_ID, addr, 0);

	r.flags |= HWTD_RECF_KERNEL_SPACE;
	r.name = name;
	return (r);
}

#define KERNEL "[kernel.kallsyms]"

static const struct {
	const char *what;
	bool symbols;
	uint64_t value, base;
	/* Where file offsets 0x2000 and 0x3000 are shown. */
	uint64_t want[2];
} kernels[] = {
	{ "_text is known", true, TEXT, 0, { TEXT, TEXT + 0x4000 } },
	{ "_stext is known", true, 0, STEXT, { TEXT, TEXT + 0x4000 } },
	{ "both are known", true, TEXT, STEXT, { TEXT, TEXT + 0x4000 } },
	{ "no symbols: the lowest code", false, TEXT, 0,
	    { TEXT, TEXT + 0x4000 } },
	{ "no symbols, and only _stext: the lowest code", false, 0, TEXT,
	    { TEXT, TEXT + 0x4000 } },
	{ "neither is known", true, 0, 0, { TEXT, TEXT + 0x4000 } },
};

static void
a_kernel_lies_where_its_symbol_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		struct hwtd_record r = record_of(HWTD_REC_KERNEL, KERNEL,
		    TEXT);
		struct hwtd_trace *trace;
		struct temp_dir dir;

		print_message("%s\n", kernels[i].what);
		temp_dir_create(&dir);
		write_vmlinux(&dir, kernels[i].symbols);
		trace = mr_create(dir.path);
		if (kernels[i].value != 0)
			r.flags |= HWTD_RECF_VALUE;
		if (kernels[i].base != 0)
			r.flags |= HWTD_RECF_BASE;
		r.value = kernels[i].value;
		r.base = kernels[i].base;
		mr_add(trace, &r);
		(void)mt_seal(trace);
		for (size_t k = 0; k < 2; k++)
			mr_assert(trace, 5, NULL, kernels[i].want[k] + 8,
			    KERNEL, 0x2008 + 0x1000 * k);
		hwtd_trace_close(trace);
		temp_dir_remove(&dir);
	}
}

static void
a_copy_of_memory_is_not_moved_and_has_modules(void **state)
{
	struct hwtd_record r = record_of(HWTD_REC_KERNEL, KERNEL, TEXT);
	const struct hwtd_position before = mr_at_time(10);
	struct hwtd_trace *trace;
	struct elf_writer w;
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	/* Before the file of the kernel, though that is there. */
	write_vmlinux(&dir, true);
	write_copy(&dir, "kcore");
	write_module(&w);
	save(&w, &dir, "some.ko");
	trace = mr_create(dir.path);
	r.flags |= HWTD_RECF_VALUE;
	r.value = TEXT;
	mr_add(trace, &r);
	/* In the copy; outside of it; and one that was loaded later. */
	r = record_of(HWTD_REC_MODULE_LOAD, "/lib/some.ko", MODULES);
	mr_add(trace, &r);
	r = record_of(HWTD_REC_MODULE_LOAD, "/lib/some.ko", MODULES + 0x1000);
	mr_add(trace, &r);
	r = record_of(HWTD_REC_MODULE_LOAD, "/lib/some.ko", MODULES + 0x800);
	mr_time(&r, 20);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	mr_assert(trace, 5, NULL, TEXT + 8, KERNEL, IN_COPY + 8);
	mr_assert(trace, 5, NULL, MODULES + 1, KERNEL, IN_COPY + 0x1001);
	mr_assert(trace, 5, NULL, MODULES + 0x1001, "/lib/some.ko", 0x201);
	mr_assert(trace, 5, NULL, MODULES + 0x801, "/lib/some.ko", 0x201);
	mr_assert(trace, 5, &before, MODULES + 0x801, KERNEL,
	    IN_COPY + 0x1801);
	hwtd_trace_close(trace);
	temp_dir_remove(&dir);
}

/* What is saved tells the release too, so that the kernel is found again. */
static void
a_kernel_is_found_by_its_release(void **state)
{
	struct hwtd_record r = record_of(HWTD_REC_KERNEL, KERNEL, TEXT);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_search search = { .size = sizeof(search),
		.n_roots = 1,
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	struct hwtd_trace_options how = { .size = sizeof(how),
		.search = &search };
	struct hwtd_open_options open = { .size = sizeof(open),
		.search = &search };
	struct temp_dir dir;
	const char *roots[1] = { dir.path };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	char path[300], other[300];

	(void)state;
	temp_dir_create(&dir);
	search.roots = roots;
	assert_int_equal(mkdir(temp_dir_file(&dir, "boot", path), 0755), 0);
	write_vmlinux(&dir, true);
	assert_int_equal(rename(temp_dir_file(&dir, "vmlinux", path),
			     temp_dir_file(&dir, "boot/vmlinux-6.1", other)),
	    0);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, &how, &trace, &err), HWTD_OK);
	trace->text.release = hwtdi_strdup(ctx, "6.1");
	r.flags |= HWTD_RECF_VALUE;
	r.value = TEXT;
	mr_add(trace, &r);
	(void)mt_seal(trace);
	mr_assert(trace, 5, NULL, TEXT + 8, KERNEL, 0x2008);
	st_save(trace, temp_dir_file(&dir, "b.hwt", path), HWTD_SAVE_IMAGES);
	st_save(trace, temp_dir_file(&dir, "a.hwt", path), 0);
	hwtd_trace_close(trace);
	assert_int_equal(hwtd_trace_open(ctx, path, &open, &trace, &err),
	    HWTD_OK);
	assert_string_equal(trace->text.release, "6.1");
	mr_assert(trace, 5, NULL, TEXT + 8, KERNEL, 0x2008);
	hwtd_trace_close(trace);
	/* With its code, but without its symbols. */
	search.n_roots = 0;
	assert_int_equal(hwtd_trace_open(ctx,
			     temp_dir_file(&dir, "b.hwt", path), &open, &trace,
			     &err),
	    HWTD_OK);
	mr_assert(trace, 5, NULL, TEXT + 8, KERNEL, 0x2008);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
}

static void
assert_state(const struct hwtd_trace *trace, uint32_t image, uint32_t state,
    const char *text)
{
	struct hwtd_image_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_image(trace, image, &info), HWTD_OK);
	print_message("%s: %s\n", info.path, info.text);
	assert_int_equal(info.state, state);
	if (text != NULL)
		assert_non_null(strstr(info.text, text));
}

static void
a_copy_of_another_boot_is_not_used(void **state)
{
	struct hwtd_record r = record_of(HWTD_REC_KERNEL, "/x/kcore",
	    TEXT - 0x200000);
	struct hwtd_trace *trace;
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	write_copy(&dir, "kcore");
	trace = mr_create(dir.path);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	assert_state(trace, 0, HWTD_IMAGE_MISSING,
	    "memory without 0xffffffff9ce00000");
	hwtd_trace_close(trace);
	temp_dir_remove(&dir);
}

/* What perf calls memory that is of no file is missing, and no error. */
static void
names_of_no_file_are_missing_with_a_reason(void **state)
{
	static const char *const names[] = { "[vdso]", "[heap]", "//anon",
		"[vsyscall]", "[kernel.kallsyms]_text", "[stack]" };
	struct hwtd_trace *trace;
	struct temp_dir dir;

	(void)state;
	temp_dir_create(&dir);
	trace = mr_create(dir.path);
	for (uint32_t i = 0; i < 6; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5,
		    0x10000 * (i + 1), 0x1000);

		r.flags |= HWTD_RECF_FILE_OFF;
		r.name = names[i];
		r.n_build_id = i == 0 ? 20 : 0;
		mr_add(trace, &r);
	}
	(void)mt_seal(trace);
	for (uint32_t i = 0; i < 6; i++) {
		assert_state(trace, i, HWTD_IMAGE_MISSING, "not found in ");
		mr_assert(trace, 5, NULL, 0x10000 * (i + 1), names[i], 0);
	}
	hwtd_trace_close(trace);
	temp_dir_remove(&dir);
}

static const struct {
	const char *what;
	/* Where it lies. */
	const char *file;
	/* What it is: 'z' zstd, 'x' xz, 'g' gzip, 'e' the module, and 'c', 'X'
	 * and 'G': without its end. */
	char how;
	uint32_t state;
	const char *text;
} packed[] = {
	{ "zstd", "some.ko.zst", 'z', HWTD_IMAGE_FOUND, NULL },
	{ "zstd that is damaged", "some.ko.zst", 'c', HWTD_IMAGE_MISSING,
	    "zstd: the end is missing" },
	{ "xz", "some.ko.zst", 'x', HWTD_IMAGE_FOUND, NULL },
	{ "xz that is damaged", "some.ko.zst", 'X', HWTD_IMAGE_MISSING,
	    "xz: the end is missing" },
	{ "gzip", "some.ko.zst", 'g', HWTD_IMAGE_FOUND, NULL },
	{ "gzip that is damaged", "some.ko.zst", 'G', HWTD_IMAGE_MISSING,
	    "deflate: the end is missing" },
	{ "not compressed at all", "some.ko.zst", 'e', HWTD_IMAGE_FOUND,
	    NULL },
	{ "unpacked beside its place", "some.ko", 'e', HWTD_IMAGE_FOUND,
	    NULL },
};

/* Compress in one of four ways; bytes in `out`. */
static size_t
pack(char how, const uint8_t *bytes, size_t n, uint8_t *out, size_t room)
{
	z_stream z = { 0 };
	size_t n_out = 0;

	switch (how) {
	case 'x':
	case 'X':
		assert_int_equal(lzma_easy_buffer_encode(3, LZMA_CHECK_CRC64,
				     NULL, bytes, n, out, &n_out, room),
		    LZMA_OK);
		return (how == 'X' ? n_out - 8 : n_out);
	case 'g':
	case 'G':
		/* 16: with a header of gzip. */
		assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8,
				     Z_DEFAULT_STRATEGY),
		    Z_OK);
		z.next_in = (Bytef *)(uintptr_t)bytes;
		z.avail_in = (uInt)n;
		z.next_out = out;
		z.avail_out = (uInt)room;
		assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
		n_out = z.total_out;
		(void)deflateEnd(&z);
		return (how == 'G' ? n_out - 8 : n_out);
	case 'e':
		memcpy(out, bytes, n);
		return (n);
	default:
		n_out = ZSTD_compress(out, room, bytes, n, 3);
		assert_false(ZSTD_isError(n_out));
		return (how == 'c' ? n_out - 8 : n_out);
	}
}

static void
compressed_modules_are_unpacked_or_say_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		const struct hwtd_record r = record_of(HWTD_REC_MODULE_LOAD,
		    "/lib/some.ko.zst", MODULES);
		struct hwtd_trace *trace;
		uint8_t bytes[8192];
		struct temp_dir dir;
		struct elf_writer w;
		char path[300];
		size_t n;

		print_message("%s\n", packed[i].what);
		temp_dir_create(&dir);
		write_module(&w);
		n = pack(packed[i].how, w.bytes, w.n_bytes, bytes,
		    sizeof(bytes));
		write_file(temp_dir_file(&dir, packed[i].file, path), bytes,
		    n);
		trace = mr_create(dir.path);
		mr_add(trace, &r);
		(void)mt_seal(trace);
		assert_state(trace, 0, packed[i].state, packed[i].text);
		if (packed[i].state == HWTD_IMAGE_FOUND)
			mr_assert(trace, 5, NULL, MODULES + 1, r.name, 0x201);
		elf_writer_free(&w);
		hwtd_trace_close(trace);
		temp_dir_remove(&dir);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_lies_where_its_symbol_says),
		cmocka_unit_test(
		    a_copy_of_memory_is_not_moved_and_has_modules),
		cmocka_unit_test(a_kernel_is_found_by_its_release),
		cmocka_unit_test(a_copy_of_another_boot_is_not_used),
		cmocka_unit_test(names_of_no_file_are_missing_with_a_reason),
		cmocka_unit_test(compressed_modules_are_unpacked_or_say_why),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
