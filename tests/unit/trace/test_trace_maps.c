/*
 * Mappings of files that records name, and how they are listed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "support/temp_dir.h"

static const uint8_t code[] = { 0x55, 0x90, 0xc3 };

struct fixture {
	struct temp_dir dir;
	struct hwtd_trace *trace;
};

static void
write_elf(struct fixture *f, const char *name, const struct small_elf *elf)
{
	char path[300];

	small_elf_write(elf, temp_dir_file(&f->dir, name, path));
}

/* The mapping at an address shows these bytes of code. */
static void
assert_code(struct hwtd_trace *trace, uint32_t pid, uint64_t address)
{
	struct hwtd_mapping m = { .size = sizeof(m) };
	uint8_t got[sizeof(code)];
	size_t n = 0;

	assert_int_equal(hwtd_space_lookup(trace, pid, NULL, address, &m),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_read_code(trace, m.section, address, got,
			     sizeof(got), &n),
	    HWTD_OK);
	assert_int_equal(n, sizeof(got));
	assert_memory_equal(got, code, sizeof(got));
}

static struct hwtd_image_info
image_named(const struct hwtd_trace *trace, const char *path)
{
	struct hwtd_image_info info = { .size = sizeof(info) };

	for (uint32_t i = 0; hwtd_trace_image(trace, i, &info) == HWTD_OK; i++)
		if (strcmp(info.path, path) == 0)
			return (info);
	fail_msg("no image %s", path);
	return (info);
}

/* hwt(4) tells only where an executable segment of the file starts. */
static void
mapping_without_length_is_a_segment_of_the_file(void **state)
{
	const struct small_elf elf = { .code = code, .n_code = sizeof(code) };
	struct fixture *f = *state;
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x7f0000001000, 0);

	write_elf(f, "libx.so", &elf);
	r.name = "/lib/libx.so";
	mr_add(f->trace, &r);
	(void)mt_seal(f->trace);
	mr_assert(f->trace, 5, NULL, 0x7f0000001002, "/lib/libx.so", 0x1002);
	assert_code(f->trace, 5, 0x7f0000001000);
	mr_assert(f->trace, 5, NULL, 0x7f0000000000, NULL, 0);
}

static void
program_is_moved_by_its_bias_and_brings_its_interpreter(void **state)
{
	const struct small_elf program = { .code = code,
		.n_code = sizeof(code),
		.interpreter = "/libexec/ld-elf.so.1" };
	const struct small_elf linker = { .code = code,
		.n_code = sizeof(code),
		.base = 0x40000000 };
	struct fixture *f = *state;
	struct hwtd_record r = mr_record(HWTD_REC_EXEC, 5, 0x555500000000, 0);

	write_elf(f, "program", &program);
	write_elf(f, "ld-elf.so.1", &linker);
	r.name = "/bin/program";
	r.flags |= HWTD_RECF_BASE;
	r.base = 0x7f0000000000;
	mr_add(f->trace, &r);
	(void)mt_seal(f->trace);
	mr_assert(f->trace, 5, NULL, 0x555500001001, "/bin/program", 0x1001);
	assert_code(f->trace, 5, 0x555500001000);
	mr_assert(f->trace, 5, NULL, 0x7f0000001001, "/libexec/ld-elf.so.1",
	    0x1001);
	assert_code(f->trace, 5, 0x7f0000001000);
}

static void
program_that_is_not_moved_lies_where_it_says(void **state)
{
	const struct small_elf program = { .type = 2,
		.base = 0x400000,
		.code = code,
		.n_code = sizeof(code) };
	struct fixture *f = *state;
	struct hwtd_record r = mr_record(HWTD_REC_EXEC, 5, 0, 0);

	write_elf(f, "static", &program);
	r.flags = 0;
	r.name = "/bin/static";
	mr_add(f->trace, &r);
	(void)mt_seal(f->trace);
	assert_code(f->trace, 5, 0x401000);
}

/* A module is laid out by where its lowest segment is, and unloaded whole. */
static void
module_is_there_until_it_is_unloaded(void **state)
{
	const struct hwtd_position before = mr_at_time(15);
	const struct small_elf elf = { .code = code, .n_code = sizeof(code) };
	struct fixture *f = *state;
	struct hwtd_record r = mr_record(HWTD_REC_MODULE_LOAD, HWTD_NO_ID,
	    0xffffffff83000000, 0);

	write_elf(f, "module.ko", &elf);
	r.name = "/boot/kernel/module.ko";
	r.flags |= HWTD_RECF_KERNEL_SPACE;
	mr_time(&r, 10);
	mr_add(f->trace, &r);
	r.type = HWTD_REC_MODULE_UNLOAD;
	r.name = NULL;
	mr_time(&r, 20);
	mr_add(f->trace, &r);
	(void)mt_seal(f->trace);
	mr_assert(f->trace, 77, &before, 0xffffffff83001000,
	    "/boot/kernel/module.ko", 0x1000);
	mr_assert(f->trace, 77, NULL, 0xffffffff83001000, NULL, 0);
}

static void
file_of_another_build_id_is_not_used(void **state)
{
	const struct small_elf elf = { .code = code,
		.n_code = sizeof(code),
		.build_id = 0xaa };
	struct fixture *f = *state;
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x10000, 0x1000);
	struct hwtd_image_info info;
	struct hwtd_mapping m = { .size = sizeof(m) };
	uint8_t byte;
	size_t n;

	write_elf(f, "libx.so", &elf);
	r.name = "/lib/libx.so";
	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = 0x1000;
	r.n_build_id = 20;
	memset(r.build_id, 0xbb, 20);
	mr_add(f->trace, &r);
	(void)mt_seal(f->trace);
	info = image_named(f->trace, "/lib/libx.so");
	assert_int_equal(info.state, HWTD_IMAGE_MISMATCH);
	assert_non_null(strstr(info.file, "/libx.so"));
	assert_non_null(strstr(info.text, "build-id"));
	assert_int_equal(info.n_bytes, 0);
	assert_int_equal(info.n_build_id, 20);
	assert_memory_equal(info.build_id, r.build_id, 20);
	assert_int_equal(hwtd_space_lookup(f->trace, 5, NULL, 0x10000, &m),
	    HWTD_OK);
	assert_string_equal(m.path, "/lib/libx.so");
	assert_int_equal(hwtd_trace_read_code(f->trace, m.section, 0x10000,
			     &byte, 1, &n),
	    HWTD_E_NOT_FOUND);
}

static void
file_of_the_same_build_id_is_used(void **state)
{
	const struct small_elf elf = { .code = code,
		.n_code = sizeof(code),
		.build_id = 0xbb };
	struct fixture *f = *state;
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x10000, 0x1000);
	struct hwtd_image_info info;

	write_elf(f, "libx.so", &elf);
	r.name = "/lib/libx.so";
	r.flags |= HWTD_RECF_FILE_OFF;
	r.file_off = 0x1000;
	r.n_build_id = 20;
	memset(r.build_id, 0xbb, 20);
	mr_add(f->trace, &r);
	/* Without a build-id it is an image of its own: that of the file. */
	r.n_build_id = 0;
	r.pid = 6;
	mr_add(f->trace, &r);
	(void)mt_seal(f->trace);
	info = image_named(f->trace, "/lib/libx.so");
	assert_int_equal(info.state, HWTD_IMAGE_FOUND);
	assert_string_equal(info.text, "");
	assert_true(info.n_bytes > 0x1000);
	assert_code(f->trace, 5, 0x10000);
	assert_code(f->trace, 6, 0x10000);
}

static void
missing_file_is_mapped_without_code(void **state)
{
	struct fixture *f = *state;
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x10000, 0x3000);
	struct hwtd_image_info info;

	r.name = "/lib/gone.so";
	r.flags |= HWTD_RECF_FILE_OFF;
	mr_add(f->trace, &r);
	(void)mt_seal(f->trace);
	info = image_named(f->trace, "/lib/gone.so");
	assert_int_equal(info.state, HWTD_IMAGE_MISSING);
	assert_string_equal(info.file, "");
	assert_true(info.text[0] != '\0');
	mr_assert(f->trace, 5, NULL, 0x12fff, "/lib/gone.so", 0x2fff);
}

/* A file of 0x1200 bytes with one of its fields changed, or cut. */
static const struct {
	const char *name;
	long at;
	uint64_t value;
	size_t n;
	/* 0: not cut. */
	long length;
	uint32_t state;
	bool has_code;
	const char *text;
} damages[] = {
	{ "whole", 0, 0x7f, 1, 0, HWTD_IMAGE_FOUND, true, "" },
	{ "program headers past the end", 32, UINT64_MAX, 8, 0,
	    HWTD_IMAGE_FOUND, false,
	    "byte 0x20: 2 program headers, but the file has 0" },
	{ "code that was cut off", 0, 0x7f, 1, 0x1100, HWTD_IMAGE_FOUND, true,
	    "byte 0x78: segment 1: file bytes 0x1000+0x200, but the file "
	    "has 0x1100" },
	{ "65535 program headers", 56, 0xffff, 2, 0, HWTD_IMAGE_FOUND, true,
	    "byte 0x40: 65535 program headers, but the file has 81" },
	{ "no program headers", 56, 0, 2, 0, HWTD_IMAGE_FOUND, false,
	    "it has no segment that is loaded" },
	{ "a header that ends", 0, 0x7f, 1, 40, HWTD_IMAGE_MISSING, false,
	    "byte 0x28: file ends inside the ELF header, file /" },
};

static void
spoil(const char *path, long at, uint64_t value, size_t n, long length)
{
	FILE *file = fopen(path, "r+");
	uint8_t bytes[8];

	assert_non_null(file);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	if (length != 0)
		assert_int_equal(truncate(path, length), 0);
}

static void
damaged_files_say_where_and_why(void **state)
{
	static uint8_t many[0x200];
	const struct small_elf elf = { .code = many, .n_code = sizeof(many) };
	struct fixture *f = *state;
	struct hwtd_image_info info;
	char path[300], name[300];

	memcpy(many, code, sizeof(code));
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct hwtd_record r = mr_record(HWTD_REC_MODULE_LOAD, 5,
		    0x10000, 0);
		struct hwtd_trace *trace = mr_create(f->dir.path);

		print_message("%s\n", damages[i].name);
		write_elf(f, "libx.so", &elf);
		spoil(temp_dir_file(&f->dir, "libx.so", path), damages[i].at,
		    damages[i].value, damages[i].n, damages[i].length);
		/* However long the name is. */
		(void)snprintf(name, sizeof(name), "/%0*d/libx.so",
		    i % 2 == 0 ? 1 : 200, 0);
		r.name = name;
		mr_add(trace, &r);
		(void)mt_seal(trace);
		info = image_named(trace, name);
		assert_int_equal(info.state, damages[i].state);
		print_message("  %s\n", info.text);
		assert_memory_equal(info.text, damages[i].text,
		    strlen(damages[i].text) + (damages[i].text[0] == '\0'));
		if (damages[i].has_code)
			assert_code(trace, 5, 0x11000);
		hwtd_trace_close(trace);
	}
}

/* "first+length path@file_off flags pid", in order. */
static void
assert_listed(struct hwtd_maps *maps, const char *want)
{
	struct hwtd_mapping m = { .size = sizeof(m) };
	char got[1024] = "";
	size_t n = 0;
	int rc;

	while ((rc = hwtd_maps_read(maps, &m)) == HWTD_OK) {
		assert_true(sizeof(got) - n > 128);
		n += (size_t)snprintf(got + n, sizeof(got) - n,
		    "%llx+%llx %s@%llx %x %d\n", (unsigned long long)m.address,
		    (unsigned long long)m.length, m.path,
		    (unsigned long long)m.file_off, m.flags, (int)m.pid);
	}
	assert_int_equal(rc, HWTD_END);
	hwtd_maps_close(maps);
	assert_string_equal(got, want);
}

static void
assert_maps(struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, const char *want)
{
	struct hwtd_maps *maps = NULL;

	assert_int_equal(hwtd_maps_open(trace, pid, at, &maps, NULL), HWTD_OK);
	assert_listed(maps, want);
}

static void
assert_own(struct hwtd_trace *trace, uint32_t pid,
    const struct hwtd_position *at, const char *want)
{
	struct hwtd_maps *maps = NULL;

	const struct hwtd_exec_context who = { .size = sizeof(who),
		.pid = pid };

	assert_int_equal(hwtd_maps_open_context(trace, &who, HWTD_MAPS_OWN, at,
			     &maps, NULL),
	    HWTD_OK);
	assert_listed(maps, want);
}

static void
maps_are_listed_by_address_with_what_holds_for_all(void **state)
{
	const struct hwtd_position start = { sizeof(start),
		HWTD_POSITION_START, 0, 0, 0 };
	const struct hwtd_position middle = mr_at_time(15);
	struct fixture *f = *state;
	struct hwtd_trace *trace = f->trace;
	uint8_t bytes[0x200] = { 0 };
	struct hwtd_record r;
	uint32_t image;

	(void)mt_code(trace, 0x1000, bytes, 0x100);
	image = mr_image(trace, "b", bytes, sizeof(bytes));
	r = mr_record(HWTD_REC_MMAP, HWTD_NO_ID, 0xffffffff80000000, 0x200);
	r.flags |= HWTD_RECF_KERNEL_SPACE;
	r.image = image;
	mr_time(&r, 0);
	mr_add(trace, &r);
	mr_mmap_at(trace, 10, 5, 0x3000, 0x200, image);
	mr_mmap_at(trace, 20, 5, 0x1080, 0x40, image);
	r = mr_record(HWTD_REC_MMAP, 5, 0x8000, 0x1000);
	r.flags |= HWTD_RECF_ANONYMOUS;
	mr_time(&r, 20);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	assert_maps(trace, 5, NULL,
	    "1000+80 code@0 8 -1\n"
	    "1080+40 b@0 0 5\n"
	    "10c0+40 code@c0 8 -1\n"
	    "3000+200 b@0 0 5\n"
	    "8000+1000 @0 2 5\n"
	    "ffffffff80000000+200 b@0 1 -1\n");
	assert_maps(trace, 5, &middle,
	    "1000+100 code@0 8 -1\n"
	    "3000+200 b@0 0 5\n"
	    "ffffffff80000000+200 b@0 1 -1\n");
	assert_maps(trace, 5, &start,
	    "1000+100 code@0 8 -1\n"
	    "ffffffff80000000+200 b@0 1 -1\n");
	assert_maps(trace, HWTD_NO_ID, NULL,
	    "1000+100 code@0 8 -1\n"
	    "ffffffff80000000+200 b@0 1 -1\n");
	assert_own(trace, 5, NULL,
	    "1080+40 b@0 0 5\n"
	    "3000+200 b@0 0 5\n"
	    "8000+1000 @0 2 5\n");
	assert_own(trace, 5, &middle, "3000+200 b@0 0 5\n");
	assert_own(trace, 5, &start, "");
	assert_own(trace, 6, NULL, "");
	assert_own(trace, HWTD_NO_ID, NULL, "ffffffff80000000+200 b@0 1 -1\n");
}

/* What shows through a process's memory is not its own. */
static void
own_maps_are_what_the_process_mapped(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace = f->trace;
	uint8_t bytes[0x100] = { 0 };
	struct hwtd_record r;

	r = mr_record(HWTD_REC_CODE, HWTD_NO_ID, 0x8100, sizeof(bytes));
	r.image = mr_image(trace, "jit", bytes, sizeof(bytes));
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_MMAP, 5, 0x8000, 0x1000);
	r.flags |= HWTD_RECF_ANONYMOUS;
	mr_add(trace, &r);
	(void)mt_seal(trace);
	assert_maps(trace, 5, NULL,
	    "8000+100 @0 2 5\n"
	    "8100+100 jit@0 c -1\n"
	    "8200+e00 @0 2 5\n");
	assert_own(trace, 5, NULL, "8000+1000 @0 2 5\n");
}

static void
wrong_arguments_are_refused(void **state)
{
	const struct hwtd_exec_context who = { .size = sizeof(who), .pid = 5 };
	uint32_t vmid;
	struct fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_position p = { .size = sizeof(p), .flags = 0x80 };
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_process process = { .size = sizeof(process) };
	struct hwtd_maps *maps;

	assert_int_equal(hwtd_maps_open(f->trace, 5, NULL, &maps, &err),
	    HWTD_E_STATE);
	assert_int_equal(hwtd_trace_process(f->trace, 0, &process),
	    HWTD_E_STATE);
	m.path = NULL;
	assert_int_equal(hwtd_space_lookup(f->trace, 5, NULL, 0x1000, &m),
	    HWTD_E_STATE);
	assert_int_equal(m.section, HWTD_NO_ID);
	assert_int_equal(m.image, HWTD_NO_ID);
	assert_string_equal(m.path, "");
	(void)mt_seal(f->trace);
	assert_int_equal(hwtd_maps_open(NULL, 5, NULL, &maps, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_maps_open(f->trace, 5, NULL, NULL, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_maps_open(f->trace, 5, &p, &maps, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_maps_open_context(f->trace, &who, 0, &p, &maps,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_maps_open_context(f->trace, &who, 2, NULL, &maps,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_maps_open_context(f->trace, NULL, 0, NULL, &maps,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_space_lookup_context(f->trace, NULL, NULL, 0,
			     &m),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_machine(f->trace, 0, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_machine(f->trace, 0, &vmid), HWTD_END);
	assert_int_equal(hwtd_space_lookup(f->trace, 5, &p, 0, &m),
	    HWTD_E_INVALID);
	/* There is no stream. */
	p.flags = HWTD_POSITION_OFFSET;
	p.stream = 99;
	assert_int_equal(hwtd_maps_open(f->trace, 5, &p, &maps, &err),
	    HWTD_E_NOT_FOUND);
	assert_non_null(strstr(err.message, "stream 99 of 0"));
	assert_int_equal(hwtd_space_lookup(f->trace, 5, &p, 0, &m),
	    HWTD_E_NOT_FOUND);
	/* Nothing is said of it. */
	p.flags = HWTD_POSITION_TIME;
	assert_int_equal(hwtd_maps_open(f->trace, 5, &p, &maps, &err),
	    HWTD_OK);
	hwtd_maps_close(maps);
	assert_int_equal(hwtd_space_lookup(f->trace, 5, NULL, 0, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_space_lookup(NULL, 5, NULL, 0, &m),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_space_lookup(f->trace, 5, NULL, 0, &m),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_maps_read(NULL, &m), HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_process(f->trace, 0, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_process(f->trace, 0, &process), HWTD_END);
	hwtd_maps_close(NULL);
}

/* Maps keep their trace alive. */
static void
maps_outlive_the_trace(void **state)
{
	struct fixture *f = *state;
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_maps *maps;

	(void)mt_code(f->trace, 0x1000, code, sizeof(code));
	(void)mt_seal(f->trace);
	assert_int_equal(hwtd_maps_open(f->trace, 5, NULL, &maps, NULL),
	    HWTD_OK);
	hwtd_trace_close(f->trace);
	f->trace = NULL;
	/* It costs no mapping. */
	m.size = 0;
	assert_int_equal(hwtd_maps_read(maps, &m), HWTD_E_INVALID);
	m.size = sizeof(m);
	assert_int_equal(hwtd_maps_read(maps, &m), HWTD_OK);
	assert_string_equal(m.path, "code");
	assert_int_equal(hwtd_maps_read(maps, &m), HWTD_END);
	assert_int_equal(hwtd_maps_read(maps, &m), HWTD_END);
	hwtd_maps_close(maps);
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	temp_dir_create(&f->dir);
	f->trace = mr_create(f->dir.path);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtd_trace_close(f->trace);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(mapping_without_length_is_a_segment_of_the_file),
		T(program_is_moved_by_its_bias_and_brings_its_interpreter),
		T(program_that_is_not_moved_lies_where_it_says),
		T(module_is_there_until_it_is_unloaded),
		T(file_of_another_build_id_is_not_used),
		T(file_of_the_same_build_id_is_used),
		T(missing_file_is_mapped_without_code),
		T(damaged_files_say_where_and_why),
		T(maps_are_listed_by_address_with_what_holds_for_all),
		T(own_maps_are_what_the_process_mapped),
		T(wrong_arguments_are_refused),
		T(maps_outlive_the_trace),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
