/*
 * Entries of hwt(4), by the bytes that a kernel writes, and their records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/entries.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define SHORT 1056
#define LONG 1072
#define BUFSIZE (256 * 4096)

/* Source: sys/hwt_record.h: where the fields of an entry are. */
static uint8_t bytes[LONG];

static void
put(size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[at + i] = (uint8_t)(v >> (8 * i));
}

static void
begin(uint32_t type)
{
	memset(bytes, 0, sizeof(bytes));
	put(0, type, 4);
}

static void
put_path(const char *path, uint64_t addr, uint64_t base)
{
	memcpy(bytes + 8, path, strlen(path));
	put(1032, addr, 8);
	put(1040, base, 8);
}

static struct hwtdi_entry
parse(size_t stride)
{
	struct hwtdi_entry e;
	/* As long as it is, so that reading on is found. */
	uint8_t *copy = malloc(stride);

	assert_non_null(copy);
	memcpy(copy, bytes, stride);
	assert_int_equal(hwtdi_entry_read(copy, stride, BUFSIZE, &e, NULL),
	    HWTD_OK);
	free(copy);
	return (e);
}

static const uint32_t tids[] = { 100100, HWTD_NO_ID, 100102 };
static const uint32_t streams[] = { 7, 8, 9 };
static const struct hwtdi_entry_place process = { .pid = 77,
	.tids = tids,
	.n_tids = 3,
	.streams = streams,
	.n_streams = 3 };
static const struct hwtdi_entry_place cpus = { .cpu_mode = true,
	.pid = 77,
	.streams = streams,
	.n_streams = 3 };

static struct hwtd_record
record_of(const struct hwtdi_entry *e, const struct hwtdi_entry_place *place)
{
	struct hwtd_record r;

	memset(&r, 0xa5, sizeof(r));
	hwtdi_entry_record(e, place, &r);
	assert_int_equal(r.size, sizeof(r));
	assert_int_equal(r.image, HWTD_NO_ID);
	assert_int_equal(r.n_build_id, 0);
	assert_int_equal(r.time_ns, 0);
	return (r);
}

static void
entries_of_another_size_are_refused(void **state)
{
	static const size_t sizes[] = { 0, 8, 1055, 1057, 1064, 1088 };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_entry e;

	(void)state;
	for (size_t i = 0; i < N(sizes); i++) {
		assert_int_equal(hwtdi_entry_read(bytes, sizes[i], BUFSIZE, &e,
				     &err),
		    HWTD_E_INVALID);
		assert_non_null(strstr(err.message, "1056 and 1072"));
	}
}

static void
a_program_has_a_bias_and_an_interpreter(void **state)
{
	static const struct {
		uint64_t addr, base;
		bool has_base;
	} c[] = {
		{ 0x1a0000, 0x8002000, true },
		/* Not position independent, dynamic; and static ones. */
		{ 0, 0x800200000, true },
		{ 0, 0, false },
		{ 0x1a0000, 0x1a0000, false },
	};

	(void)state;
	for (size_t i = 0; i < N(c); i++)
		for (size_t stride = SHORT; stride <= LONG; stride += 16) {
			struct hwtdi_entry e;
			struct hwtd_record r;

			begin(2);
			put_path("/bin/ls", c[i].addr, c[i].base);
			e = parse(stride);
			assert_int_equal(e.kind, HWTDI_ENTRY_EXEC);
			r = record_of(&e, &process);
			assert_int_equal(r.type, HWTD_REC_EXEC);
			assert_int_equal(r.pid, 77);
			assert_int_equal(r.tid, HWTD_NO_ID);
			assert_string_equal(r.name, "/bin/ls");
			assert_int_equal(r.flags,
			    HWTD_RECF_ADDR |
				(c[i].has_base ? HWTD_RECF_BASE : 0));
			assert_int_equal(r.addr, c[i].addr);
			assert_int_equal(r.base,
			    c[i].has_base ? c[i].base : 0);
		}
}

static void
a_mapping_has_an_address_and_with_5bsd_a_length(void **state)
{
	struct hwtdi_entry e;
	struct hwtd_record r;

	(void)state;
	begin(0);
	/* The last is what lay on the stack of the kernel. */
	put_path("/lib/libc.so.7", 0x823456000, 0xfffffe0012345678);
	put(1048, 0x80000, 8);
	put(1056, 0x12000, 8);
	e = parse(SHORT);
	assert_int_equal(e.kind, HWTDI_ENTRY_MMAP);
	assert_int_equal(e.base, 0);
	r = record_of(&e, &process);
	assert_int_equal(r.type, HWTD_REC_MMAP);
	assert_int_equal(r.flags, HWTD_RECF_ADDR);
	assert_int_equal(r.addr, 0x823456000);
	assert_string_equal(r.name, "/lib/libc.so.7");
	e = parse(LONG);
	r = record_of(&e, &process);
	assert_int_equal(r.flags,
	    HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_FILE_OFF);
	assert_int_equal(r.len, 0x12000);
	assert_int_equal(r.file_off, 0x80000);
	/* No length, a negative offset, and beyond the end of all addresses. */
	put(1056, 0, 8);
	e = parse(LONG);
	assert_int_equal(e.flags, HWTDI_ENTRYF_ADDR);
	put(1056, 0x1000, 8);
	put(1048, UINT64_MAX, 8);
	e = parse(LONG);
	assert_int_equal(e.flags, HWTDI_ENTRYF_ADDR | HWTDI_ENTRYF_DOUBTFUL);
	assert_int_equal(e.len, 0);
	put(1048, 0, 8);
	put(1056, UINT64_MAX - 0x823456000 + 1, 8);
	e = parse(LONG);
	assert_int_equal(e.flags, HWTDI_ENTRYF_ADDR | HWTDI_ENTRYF_DOUBTFUL);
}

static void
what_is_unmapped_only_5bsd_tells(void **state)
{
	struct hwtdi_entry e;
	struct hwtd_record r;

	(void)state;
	begin(1);
	put(1032, 0x4000, 8);
	e = parse(SHORT);
	r = record_of(&e, &process);
	assert_int_equal(r.type, HWTD_REC_MUNMAP);
	assert_int_equal(r.flags, 0);
	assert_null(r.name);
	e = parse(LONG);
	r = record_of(&e, &process);
	assert_int_equal(r.flags, HWTD_RECF_ADDR);
	assert_int_equal(r.addr, 0x4000);
	put(1032, 0, 8);
	e = parse(LONG);
	r = record_of(&e, &process);
	assert_int_equal(r.flags, 0);
}

static void
a_path_without_an_end_is_cut(void **state)
{
	struct hwtdi_entry e;

	(void)state;
	begin(0);
	memset(bytes + 8, 'x', 1023);
	e = parse(SHORT);
	assert_int_equal(strlen(e.path), 1023);
	assert_int_equal(e.flags & HWTDI_ENTRYF_TRUNCATED, 0);
	bytes[8 + 1023] = 'y';
	e = parse(SHORT);
	assert_int_equal(strlen(e.path), 1024);
	assert_int_equal(e.path[1023], 'y');
	assert_int_not_equal(e.flags & HWTDI_ENTRYF_TRUNCATED, 0);
	bytes[8] = '\0';
	e = parse(SHORT);
	assert_string_equal(e.path, "");
	assert_null(record_of(&e, &process).name);
}

static void
threads_are_known_by_their_index(void **state)
{
	static const struct {
		uint32_t index, tid;
		bool known;
	} c[] = { { 0, 100100, true }, { 1, HWTD_NO_ID, true },
		{ 2, 100102, true }, { 3, HWTD_NO_ID, true },
		{ 0xffffffff, HWTD_NO_ID, false },
		{ 0x80000000, HWTD_NO_ID, false } };
	struct hwtdi_entry_place nobody = process;

	(void)state;
	nobody.tids = NULL;
	for (uint32_t type = 4; type <= 5; type++)
		for (size_t i = 0; i < N(c); i++) {
			struct hwtdi_entry e;
			struct hwtd_record r;

			begin(type);
			put(8, c[i].index, 4);
			e = parse(SHORT);
			assert_int_equal(e.kind,
			    type == 4 ? HWTDI_ENTRY_THREAD
				      : HWTDI_ENTRY_THREAD_NAME);
			assert_int_equal(e.flags,
			    c[i].known ? HWTDI_ENTRYF_INDEX
				       : HWTDI_ENTRYF_DOUBTFUL);
			assert_int_equal(e.index, c[i].known ? c[i].index : 0);
			r = record_of(&e, &process);
			assert_int_equal(r.type,
			    type == 4 ? HWTD_REC_THREAD_CREATE
				      : HWTD_REC_THREAD_NAME);
			assert_int_equal(r.pid, 77);
			assert_int_equal(r.tid, c[i].tid);
			assert_int_equal(r.flags, 0);
			assert_int_equal(record_of(&e, &nobody).tid,
			    HWTD_NO_ID);
			assert_int_equal(record_of(&e, &cpus).tid, HWTD_NO_ID);
			assert_int_equal(record_of(&e, &cpus).pid, HWTD_NO_ID);
		}
}

static void
positions_outside_of_the_buffer_are_doubtful(void **state)
{
	static const struct {
		uint32_t page;
		uint64_t offset;
		bool doubtful;
		uint64_t position;
	} c[] = {
		{ 0, 0, false, 0 },
		{ 3, 0x10, false, 0x3010 },
		{ 255, 4095, false, 0xfffff },
		{ 256, 0, false, 0x100000 },
		{ 256, 1, true, 0 },
		{ 0, 4096, true, 0 },
		{ 0xffffffff, 0, true, 0 },
		{ 0x7fffffff, 4095, true, 0 },
		{ 1, UINT64_MAX, true, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N(c); i++) {
		struct hwtdi_entry e;
		struct hwtd_record r;

		begin(6);
		put(8, 2, 4);
		put(12, c[i].page, 4);
		put(16, c[i].offset, 8);
		e = parse(SHORT);
		assert_int_equal(e.kind, HWTDI_ENTRY_BUFFER);
		assert_int_equal(e.flags,
		    HWTDI_ENTRYF_INDEX |
			(c[i].doubtful ? HWTDI_ENTRYF_DOUBTFUL
				       : HWTDI_ENTRYF_POSITION));
		assert_int_equal(e.page, (int32_t)c[i].page);
		assert_true(e.page_offset == c[i].offset);
		r = record_of(&e, &process);
		assert_int_equal(r.type, HWTD_REC_BUFFER);
		assert_int_equal(r.flags,
		    c[i].doubtful ? 0 : HWTD_RECF_STREAM_OFF);
		assert_int_equal(r.stream_off, c[i].position);
		assert_int_equal(r.stream, 9);
		assert_int_equal(r.tid, 100102);
		assert_int_equal(r.cpu, HWTD_NO_ID);
		r = record_of(&e, &cpus);
		assert_int_equal(r.cpu, 2);
		assert_int_equal(r.tid, HWTD_NO_ID);
		assert_int_equal(r.pid, HWTD_NO_ID);
	}
	/* Of a buffer that cannot be. */
	begin(6);
	put(8, 0xfffffffe, 4);
	{
		const struct hwtdi_entry e = parse(LONG);
		const struct hwtd_record r = record_of(&e, &cpus);

		assert_int_equal(r.cpu, HWTD_NO_ID);
		assert_int_equal(r.stream, HWTD_NO_ID);
	}
}

static void
overflow_is_known_where_5bsd_numbers_entries(void **state)
{
	struct hwtdi_entry e;
	struct hwtd_record r;

	(void)state;
	begin(7);
	put(8, 1, 4);
	e = parse(LONG);
	assert_int_equal(e.kind, HWTDI_ENTRY_OVERFLOW);
	r = record_of(&e, &cpus);
	assert_int_equal(r.type, HWTD_REC_LOST);
	assert_int_equal(r.flags, 0);
	assert_int_equal(r.cpu, 1);
	assert_int_equal(r.stream, 8);
	e = parse(SHORT);
	assert_int_equal(e.kind, HWTDI_ENTRY_UNKNOWN);
}

static void
unknown_types_keep_their_number(void **state)
{
	static const uint32_t types[] = { 8, 0x10000, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < N(types); i++) {
		struct hwtdi_entry e;
		struct hwtd_record r;

		begin(types[i]);
		memset(bytes + 8, 0xff, sizeof(bytes) - 8);
		e = parse(LONG);
		assert_int_equal(e.kind, HWTDI_ENTRY_UNKNOWN);
		r = record_of(&e, &process);
		assert_int_equal(r.type, HWTD_REC_UNKNOWN);
		assert_int_equal(r.flags, HWTD_RECF_VALUE);
		assert_int_equal(r.value, types[i]);
		assert_string_equal(r.name, "hwt entry of an unknown type");
	}
}

/* Files of the kernel. */

struct tree {
	const char *paths[8];
	size_t asked;
};

static bool
tree_has(void *arg, const char *path)
{
	struct tree *tree = arg;

	tree->asked++;
	for (size_t i = 0; i < N(tree->paths); i++)
		if (tree->paths[i] != NULL &&
		    strcmp(tree->paths[i], path) == 0)
			return (true);
	return (false);
}

static void
files_of_the_kernel_are_where_it_was_booted_and_in_its_path(void **state)
{
	static const struct {
		const char *bootfile, *module_path, *name, *want;
		bool found, module;
	} c[] = {
		{ "/boot/kernel/kernel", NULL, "kernel", "/boot/kernel/kernel",
		    true, false },
		{ "/boot/test/GENERIC", NULL, "kernel", "/boot/test/GENERIC",
		    true, false },
		{ "/boot/gone/kernel", "/boot/kernel", "kernel",
		    "/boot/kernel/kernel", true, false },
		{ "/boot/kernel/kernel", "/boot/modules", "zfs.ko",
		    "/boot/kernel/zfs.ko", true, true },
		{ "/boot/kernel/kernel", "/a;;/boot/modules/;/b", "nv.ko",
		    "/boot/modules/nv.ko", true, true },
		{ NULL, "/boot/modules", "nv.ko", "/boot/modules/nv.ko", true,
		    true },
		{ NULL, "/", "root.ko", "/root.ko", true, true },
		{ NULL, NULL, "nv.ko", "nv.ko", false, true },
		{ "kernel", ";", "nv.ko", "nv.ko", false, true },
		{ "/boot/kernel/kernel", "/b", "no.ko", "no.ko", false, true },
		{ NULL, NULL, "/boot/modules/nv.ko", "/boot/modules/nv.ko",
		    true, true },
		{ NULL, NULL, "/none.ko", "/none.ko", false, true },
		/* A kernel tells no such name. */
		{ "/boot/kernel/kernel", "/boot/modules", "../modules/nv.ko",
		    "../modules/nv.ko", false, true },
		{ "/boot/kernel/kernel", NULL, "..", "..", false, false },
		{ "/boot/kernel/kernel", NULL, ".", ".", false, false },
		{ "/boot/kernel/kernel", NULL, "", "", false, false },
		{ "/boot/kernel/kernel", NULL, ".ko", ".ko", false, false },
	};

	(void)state;
	for (size_t i = 0; i < N(c); i++) {
		struct tree tree = {
			.paths = { "/boot/kernel/kernel", "/boot/test/GENERIC",
			    "/boot/kernel/zfs.ko", "/boot/modules/zfs.ko",
			    "/boot/modules/nv.ko", "/root.ko" }
		};
		const struct hwtdi_kernel_files files = {
			.bootfile = c[i].bootfile,
			.module_path = c[i].module_path,
			.exists = tree_has,
			.arg = &tree,
		};
		struct hwtdi_entry e;
		struct hwtd_record r;

		print_message("case %zu %s\n", i, c[i].name);
		begin(3);
		put_path(c[i].name, 0xffffffff80200000, 0);
		e = parse(SHORT);
		hwtdi_entry_resolve(&e, &files);
		assert_string_equal(e.path, c[i].want);
		assert_int_equal((e.flags & HWTDI_ENTRYF_RESOLVED) != 0,
		    c[i].found);
		r = record_of(&e, &cpus);
		assert_int_equal(r.type,
		    c[i].module ? HWTD_REC_MODULE_LOAD : HWTD_REC_KERNEL);
		assert_int_equal(r.flags,
		    HWTD_RECF_ADDR | HWTD_RECF_KERNEL_SPACE);
		assert_true(r.addr == 0xffffffff80200000);
		assert_int_equal(r.pid, HWTD_NO_ID);
		/* Once more changes nothing. */
		tree.asked = 0;
		hwtdi_entry_resolve(&e, &files);
		assert_string_equal(e.path, c[i].want);
		if (c[i].found)
			assert_int_equal(tree.asked, 0);
	}
}

static void
a_module_keeps_its_kind_when_its_file_is_called_otherwise(void **state)
{
	static struct hwtdi_module modules[3] = {
		{ .addr = 0x1000, .len = 1, .name = "zfs.ko", .path = "/no" },
		{ .addr = 0x2000,
		    .len = 0x500,
		    .name = "zfs.ko",
		    .path = "/obj/zfs.debug" },
		{ .addr = 0x3000, .len = UINT64_MAX, .name = "nv.ko" },
	};
	const struct hwtdi_kernel_files files = {
		.bootfile = "/boot/kernel/kernel",
		.modules = modules,
		.n_modules = 3,
	};
	struct hwtdi_entry e;
	struct hwtd_record r;

	(void)state;
	begin(3);
	put_path("zfs.ko", 0x2000, 0);
	e = parse(SHORT);
	hwtdi_entry_resolve(&e, &files);
	r = record_of(&e, &cpus);
	assert_int_equal(r.type, HWTD_REC_MODULE_LOAD);
	assert_string_equal(r.name, "/obj/zfs.debug");
	assert_int_equal(r.len, 0x500);
	assert_int_equal(r.flags,
	    HWTD_RECF_ADDR | HWTD_RECF_LEN | HWTD_RECF_KERNEL_SPACE);
	/* Listed without a path, with a length that cannot be. */
	begin(3);
	put_path("nv.ko", 0x3000, 0);
	e = parse(SHORT);
	hwtdi_entry_resolve(&e, &files);
	assert_string_equal(e.path, "/boot/kernel/nv.ko");
	assert_int_equal(e.flags & HWTDI_ENTRYF_LEN, 0);
	/* One whose path has no end is not believed. */
	memset(modules[2].path, 'p', sizeof(modules[2].path));
	e = parse(SHORT);
	hwtdi_entry_resolve(&e, &files);
	assert_string_equal(e.path, "/boot/kernel/nv.ko");
}

static void
names_that_have_no_room_stay_names(void **state)
{
	static char dir[2000];
	struct hwtdi_kernel_files files = { .module_path = dir };
	struct hwtdi_entry e;

	(void)state;
	memset(dir, 'd', sizeof(dir) - 1);
	begin(3);
	put_path("nv.ko", 0x3000, 0);
	e = parse(SHORT);
	hwtdi_entry_resolve(&e, &files);
	assert_string_equal(e.path, "nv.ko");
	dir[1018] = '\0';
	hwtdi_entry_resolve(&e, &files);
	assert_int_equal(strlen(e.path), 1024);
	assert_int_not_equal(e.flags & HWTDI_ENTRYF_RESOLVED, 0);
	dir[1018] = 'd';
	dir[1019] = '\0';
	e = parse(SHORT);
	hwtdi_entry_resolve(&e, &files);
	assert_string_equal(e.path, "nv.ko");
	/* A name that was cut is nobody's. */
	dir[1] = '\0';
	memset(bytes + 8, 'n', 1024);
	e = parse(SHORT);
	hwtdi_entry_resolve(&e, &files);
	assert_int_equal(e.flags & HWTDI_ENTRYF_RESOLVED, 0);
	/* Files of programs are as they are. */
	begin(0);
	put_path("nv.ko", 0x3000, 0);
	e = parse(SHORT);
	hwtdi_entry_resolve(&e, &files);
	assert_string_equal(e.path, "nv.ko");
	assert_int_equal(e.flags, HWTDI_ENTRYF_ADDR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_another_size_are_refused),
		cmocka_unit_test(a_program_has_a_bias_and_an_interpreter),
		cmocka_unit_test(
		    a_mapping_has_an_address_and_with_5bsd_a_length),
		cmocka_unit_test(what_is_unmapped_only_5bsd_tells),
		cmocka_unit_test(a_path_without_an_end_is_cut),
		cmocka_unit_test(threads_are_known_by_their_index),
		cmocka_unit_test(positions_outside_of_the_buffer_are_doubtful),
		cmocka_unit_test(overflow_is_known_where_5bsd_numbers_entries),
		cmocka_unit_test(unknown_types_keep_their_number),
		cmocka_unit_test(
		    files_of_the_kernel_are_where_it_was_booted_and_in_its_path),
		cmocka_unit_test(
		    a_module_keeps_its_kind_when_its_file_is_called_otherwise),
		cmocka_unit_test(names_that_have_no_room_stay_names),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
