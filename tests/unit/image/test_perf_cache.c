/*
 * Files in perf's cache of build-ids, and names of perf that are no files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/image_search.h"
#include "image/perf_cache.h"
#include "support/elf_writer.h"
#include "support/temp_dir.h"

static const struct hwtdi_build_id asked = { 4, { 0xab, 0xcd, 0xef, 0x01 } };

/* Kernel memory from here on. */
#define MEMORY 0xffffffff81000000u

enum kind {
	NOTHING,
	/* A program with the build-id that is asked for, or another. */
	RIGHT,
	OTHER,
	/* Copies of memory: of this boot of the kernel, and of another. */
	MEMORY_HERE,
	MEMORY_ELSEWHERE,
	/* `name` is a link to `to`. */
	LINK,
	TEXT
};

struct made {
	const char *name;
	enum kind kind;
	const char *to;
};

static const struct {
	const char *what;
	const char *name;
	bool known;
	struct made made[4];
	const char *want; /* NULL: nothing. */
	uint32_t verdict;
} cases[] = {
	{ "a link to a folder", "/bin/prog", true,
	    { { "ids/bin/prog/abcdef01/elf", RIGHT, NULL },
		{ "ids/.build-id/ab/cdef01", LINK,
		    "../../bin/prog/abcdef01" } },
	    "ids/.build-id/ab/cdef01/elf", HWTDI_IMAGE_MATCH },
	{ "an old link, to the file", "/bin/prog", true,
	    { { "ids/bin/prog/abcdef01", RIGHT, NULL },
		{ "ids/.build-id/ab/cdef01", LINK,
		    "../../bin/prog/abcdef01" } },
	    "ids/.build-id/ab/cdef01", HWTDI_IMAGE_MATCH },
	{ "links were lost", "/bin/prog", true,
	    { { "ids/bin/prog/abcdef01/elf", RIGHT, NULL } },
	    "ids/bin/prog/abcdef01/elf", HWTDI_IMAGE_MATCH },
	{ "old, and links were lost", "/bin/prog", true,
	    { { "ids/bin/prog/abcdef01", RIGHT, NULL } },
	    "ids/bin/prog/abcdef01", HWTDI_IMAGE_MATCH },
	{ "a link to itself", "/bin/prog", true,
	    { { "ids/.build-id/ab/cdef01", LINK, "cdef01" } }, NULL, 0 },
	{ "a name that leaves the folder", "/../bin/prog", true,
	    { { "ids/x", TEXT, NULL },
		{ "bin/prog/abcdef01/elf", RIGHT, NULL } },
	    NULL, 0 },
	{ "vdso", "[vdso]", true,
	    { { "ids/[vdso]/abcdef01/vdso", RIGHT, NULL },
		{ "ids/.build-id/ab/cdef01", LINK, "../../[vdso]/abcdef01" } },
	    "ids/.build-id/ab/cdef01/vdso", HWTDI_IMAGE_MATCH },
	{ "vdso, and links were lost", "[vdso]", true,
	    { { "ids/[vdso]/abcdef01/vdso", RIGHT, NULL } },
	    "ids/[vdso]/abcdef01/vdso", HWTDI_IMAGE_MATCH },
	{ "vdso in a folder of files", "[vdso]", false,
	    { { "mods/[vdso]", RIGHT, NULL } }, "mods/[vdso]",
	    HWTDI_IMAGE_UNCHECKED },
	{ "no vdso", "[vdso]", false, { { "ids/x", TEXT, NULL } }, NULL, 0 },
	{ "symbols of a kernel are no code", "[kernel.kallsyms]", true,
	    { { "ids/[kernel.kallsyms]/abcdef01/kallsyms", TEXT, NULL },
		{ "ids/.build-id/ab/cdef01", LINK,
		    "../../[kernel.kallsyms]/abcdef01" } },
	    NULL, 0 },
	{ "vmlinux", "[kernel.kallsyms]", true,
	    { { "ids/.build-id/ab/cdef01/vmlinux", RIGHT, NULL } },
	    "ids/.build-id/ab/cdef01/vmlinux", HWTDI_IMAGE_MATCH },
	{ "vmlinux as any other file", "[kernel.kallsyms]", true,
	    { { "ids/.build-id/ab/cdef01/elf", RIGHT, NULL } },
	    "ids/.build-id/ab/cdef01/elf", HWTDI_IMAGE_MATCH },
	{ "memory before vmlinux, the newest first", "[kernel.kallsyms]", true,
	    { { "ids/.build-id/ab/cdef01/elf", RIGHT, NULL },
		{ "ids/[kernel.kcore]/abcdef01/2026010112000000/kcore",
		    MEMORY_HERE, NULL },
		{ "ids/[kernel.kcore]/abcdef01/2026010212000000/kcore",
		    MEMORY_HERE, NULL } },
	    "ids/[kernel.kcore]/abcdef01/2026010212000000/kcore",
	    HWTDI_IMAGE_MATCH },
	{ "memory of another boot", "[kernel.kallsyms]", true,
	    { { "ids/[kernel.kcore]/abcdef01/2026010112000000/kcore",
		  MEMORY_HERE, NULL },
		{ "ids/[kernel.kcore]/abcdef01/2026010212000000/kcore",
		    MEMORY_ELSEWHERE, NULL } },
	    "ids/[kernel.kcore]/abcdef01/2026010112000000/kcore",
	    HWTDI_IMAGE_MATCH },
	{ "vmlinux before memory of another boot", "[kernel.kallsyms]", true,
	    { { "ids/.build-id/ab/cdef01/elf", RIGHT, NULL },
		{ "ids/[kernel.kcore]/abcdef01/2026010212000000/kcore",
		    MEMORY_ELSEWHERE, NULL } },
	    "ids/.build-id/ab/cdef01/elf", HWTDI_IMAGE_MATCH },
	{ "memory through a link", "[kernel.kallsyms]", true,
	    { { "ids/[kernel.kcore]/ab/2026010112000000/kcore", MEMORY_HERE,
		  NULL },
		{ "ids/.build-id/ab/cdef01", LINK,
		    "../../[kernel.kcore]/ab" } },
	    "ids/.build-id/ab/cdef01/2026010112000000/kcore",
	    HWTDI_IMAGE_MATCH },
	{ "folders with other names", "[kernel.kallsyms]", true,
	    { { "ids/[kernel.kcore]/abcdef01/new/kcore", MEMORY_HERE, NULL } },
	    NULL, 0 },
	{ "memory of a program is none of a kernel", "/bin/prog", true,
	    { { "ids/[kernel.kcore]/abcdef01/2026010112000000/kcore",
		MEMORY_HERE, NULL } },
	    NULL, 0 },
	{ "a kernel in a folder of files", "[kernel.kallsyms]", false,
	    { { "mods/vmlinux", RIGHT, NULL } }, "mods/vmlinux",
	    HWTDI_IMAGE_UNCHECKED },
	{ "its memory in a folder of files", "[guest.kernel.kallsyms.7]",
	    false,
	    { { "mods/vmlinux", RIGHT, NULL },
		{ "mods/kcore", MEMORY_HERE, NULL } },
	    "mods/kcore", HWTDI_IMAGE_UNCHECKED },
	{ "another kernel than the one asked for", "[kernel.kallsyms]", true,
	    { { "mods/vmlinux", OTHER, NULL } }, "mods/vmlinux",
	    HWTDI_IMAGE_MISMATCH },
	{ "a kernel below a root", "[kernel.kallsyms]", true,
	    { { "root/boot/vmlinux", RIGHT, NULL } }, "root/boot/vmlinux",
	    HWTDI_IMAGE_MATCH },
	{ "a kernel by its release", "[kernel.kallsyms]", true,
	    { { "root/lib/modules/6.1.0-test/build/vmlinux", RIGHT, NULL },
		{ "root/boot/vmlinux-6.1.0-other", OTHER, NULL } },
	    "root/lib/modules/6.1.0-test/build/vmlinux", HWTDI_IMAGE_MATCH },
	{ "another kernel of the same release", "[kernel.kallsyms]", true,
	    { { "root/boot/vmlinux-6.1.0-test", OTHER, NULL },
		{ "root/usr/lib/debug/boot/vmlinux-6.1.0-test", RIGHT,
		    NULL } },
	    "root/usr/lib/debug/boot/vmlinux-6.1.0-test", HWTDI_IMAGE_MATCH },
	{ "a program is not found by release", "/bin/prog", true,
	    { { "root/boot/vmlinux-6.1.0-test", RIGHT, NULL } }, NULL, 0 },
	{ "a module by name", "[ext4]", false,
	    { { "mods/ext4.ko", RIGHT, NULL } }, "mods/ext4.ko",
	    HWTDI_IMAGE_UNCHECKED },
	{ "a module that leaves its folder", "[../x]", false,
	    { { "mods/x", TEXT, NULL }, { "x.ko", RIGHT, NULL } }, NULL, 0 },
};

static void
make_folders(const struct temp_dir *dir, const char *path)
{
	char part[300];

	for (const char *slash = strchr(path + strlen(dir->path) + 1, '/');
	     slash != NULL; slash = strchr(slash + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path),
		    path);
		(void)mkdir(part, 0755);
	}
}

static void
write_elf(const char *path, enum kind kind)
{
	const bool core = kind == MEMORY_HERE || kind == MEMORY_ELSEWHERE;
	struct hwtdi_build_id id = asked;
	struct elf_writer_segment s = { 1, 7, 0, MEMORY, 0x20, 0x20, 1 };
	struct elf_writer w;
	size_t at;

	elf_writer_init(&w, true, false, core ? 4 : 2, 62);
	s.vaddr = kind == MEMORY_ELSEWHERE ? MEMORY + 0x200000 : MEMORY;
	s.off = elf_writer_put(&w, NULL, 0x20, 16);
	(void)elf_writer_segment(&w, &s);
	if (kind == OTHER)
		id.bytes[3]++;
	if (!core) {
		at = elf_writer_put_note(&w, 3, id.bytes, id.n);
		s = (struct elf_writer_segment){ 4, 4, at, 0, w.n_bytes - at,
			w.n_bytes - at, 4 };
		(void)elf_writer_segment(&w, &s);
	}
	elf_writer_finish(&w);
	write_file(path, w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

static void
make(const struct temp_dir *dir, const struct made *made)
{
	char path[300];

	if (made->kind == NOTHING)
		return;
	(void)snprintf(path, sizeof(path), "%s/%s", dir->path, made->name);
	make_folders(dir, path);
	if (made->kind == LINK)
		assert_int_equal(symlink(made->to, path), 0);
	else if (made->kind == TEXT)
		write_file(path, "text", 4);
	else
		write_elf(path, made->kind);
}

static void
files_of_the_cache_are_found(void **state)
{
	const uint64_t around = MEMORY + 0x10;
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_image_found found;
		struct temp_dir dir;
		char paths[3][300], want[300];
		int rc;

		temp_dir_create(&dir);
		const char *const ids[] = { temp_dir_file(&dir, "ids",
		    paths[0]) };
		const char *const roots[] = { temp_dir_file(&dir, "root",
		    paths[1]) };
		const char *const dirs[] = { temp_dir_file(&dir, "mods",
		    paths[2]) };
		const struct hwtdi_image_places places = {
			.build_id_dirs = ids,
			.n_build_id_dirs = 1,
			.roots = roots,
			.n_roots = 1,
			.dirs = dirs,
			.n_dirs = 1,
			.release = "6.1.0-test",
			.around = &around,
		};

		for (size_t k = 0; k < 4; k++)
			make(&dir, &cases[i].made[k]);
		rc = hwtdi_image_search(&found, ctx, cases[i].name,
		    cases[i].known ? &asked : NULL, &places, &err);
		print_message("%s: %s\n", cases[i].what,
		    rc != HWTD_OK ? err.message : found.path);
		assert_int_equal(rc,
		    cases[i].want != NULL ? HWTD_OK : HWTD_E_NOT_FOUND);
		if (rc == HWTD_OK) {
			(void)snprintf(want, sizeof(want), "%.200s/%.90s",
			    dir.path, cases[i].want);
			assert_string_equal(found.path, want);
			assert_int_equal(found.verdict, cases[i].verdict);
			hwtdi_image_found_fini(&found, ctx);
		}
		temp_dir_remove(&dir);
	}
	hwtd_context_destroy(ctx);
}

/* A release is hostile as any name: it is no path. */
static void
a_release_with_a_slash_is_none(void **state)
{
	struct hwtdi_image_found found;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct temp_dir dir;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	make(&dir, &(const struct made){ "boot/vmlinux-x", RIGHT, NULL });
	(void)temp_dir_file(&dir, "root", path);
	make(&dir, &(const struct made){ "root/boot/vmlinux-/x", TEXT, NULL });
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	const char *const roots[] = { path };
	static const char *const releases[] = { "/../../boot/vmlinux-x", "..",
		"", "/" };

	for (size_t i = 0; i < 4; i++) {
		const struct hwtdi_image_places places = { .roots = roots,
			.n_roots = 1,
			.release = releases[i] };

		assert_int_equal(hwtdi_image_search(&found, ctx,
				     "[kernel.kallsyms]", &asked, &places,
				     &err),
		    HWTD_E_NOT_FOUND);
		assert_non_null(strstr(err.message, "not found in 2 places"));
	}
	hwtd_context_destroy(ctx);
	temp_dir_remove(&dir);
}

/* Only so many copies are looked into, and those are the newest. */
static void
the_newest_of_many_copies_are_kept(void **state)
{
	struct hwtdi_perf_copies copies;
	struct temp_dir dir;
	char name[32], path[300];

	(void)state;
	temp_dir_create(&dir);
	for (unsigned int i = 0; i < 40; i++) {
		/* 7 has no divisor with 40, so that all come, out of order. */
		(void)snprintf(name, sizeof(name), "%016u", i * 7 % 40);
		assert_int_equal(mkdir(temp_dir_file(&dir, name, path), 0755),
		    0);
	}
	assert_int_equal(mkdir(temp_dir_file(&dir, "x9", path), 0755), 0);
	hwtdi_perf_copies_find(&copies, dir.path);
	assert_int_equal(copies.n, HWTDI_PERF_MAX_COPIES);
	for (unsigned int i = 0; i < copies.n; i++) {
		(void)snprintf(name, sizeof(name), "%016u", 39 - i);
		assert_string_equal(copies.names[i], name);
	}
	temp_dir_remove(&dir);
	hwtdi_perf_copies_find(&copies, dir.path);
	assert_int_equal(copies.n, 0);
}

static void
names_without_files_are_told_apart(void **state)
{
	static const struct {
		const char *name;
		enum hwtdi_perf_name kind;
	} names[] = {
		{ "[kernel.kallsyms]", HWTDI_PERF_KERNEL },
		{ "[kernel.kallsyms]_text", HWTDI_PERF_KERNEL },
		{ "[kernel.vmlinux]", HWTDI_PERF_KERNEL },
		{ "[kernel]", HWTDI_PERF_KERNEL },
		{ "[guest.kernel.kallsyms.12]", HWTDI_PERF_KERNEL },
		{ "[kernel_tls]", HWTDI_PERF_OTHER },
		{ "[vdso]", HWTDI_PERF_VDSO },
		{ "[vdso32]", HWTDI_PERF_VDSO },
		{ "[heap]", HWTDI_PERF_OTHER },
		{ "[kernel.", HWTDI_PERF_FILE },
		{ "/boot/vmlinux", HWTDI_PERF_FILE },
		{ "//anon", HWTDI_PERF_FILE },
		{ "", HWTDI_PERF_FILE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(hwtdi_perf_name_kind(names[i].name),
		    names[i].kind);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_the_cache_are_found),
		cmocka_unit_test(a_release_with_a_slash_is_none),
		cmocka_unit_test(the_newest_of_many_copies_are_kept),
		cmocka_unit_test(names_without_files_are_told_apart),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
