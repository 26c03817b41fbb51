/*
 * Which file is found for an image, and what it says about it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/image_search.h"
#include "support/elf_writer.h"
#include "support/failing_allocator.h"
#include "support/temp_dir.h"

enum kind {
	NO_FILE,
	/* ELF with code and the build-id that is asked for, another, or none. */
	RIGHT,
	OTHER,
	WITHOUT,
	/* ELF of debug information. */
	DEBUG_RIGHT,
	DEBUG_WITHOUT,
	TEXT,
	SPOILT,
	EMPTY,
	FOLDER,
	FIFO,
	LOOP
};

static const struct hwtdi_build_id asked = { 4, { 0xab, 0xcd, 0xef, 0x01 } };
static const struct hwtdi_build_id other = { 4, { 0xab, 0xcd, 0xef, 0x02 } };

/* What was made, so that it can be removed again. */
struct tree {
	struct temp_dir dir;
	char made[64][300];
	size_t n;
};

static void
keep(struct tree *t, const char *path)
{
	assert_true(t->n < sizeof(t->made) / sizeof(t->made[0]));
	(void)snprintf(t->made[t->n++], sizeof(t->made[0]), "%.299s", path);
}

static void
remove_tree(struct tree *t)
{
	while (t->n > 0)
		(void)remove(t->made[--t->n]);
	temp_dir_remove(&t->dir);
}

/* Folders of a path that are not there. */
static void
make_folders(struct tree *t, const char *path)
{
	char part[300];

	for (const char *slash = strchr(path + strlen(t->dir.path) + 1, '/');
	     slash != NULL; slash = strchr(slash + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(slash - path),
		    path);
		if (mkdir(part, 0755) == 0)
			keep(t, part);
	}
}

static void
write_elf(const char *path, enum kind kind, const char *link, uint32_t crc)
{
	bool debug = kind == DEBUG_RIGHT || kind == DEBUG_WITHOUT;
	const struct hwtdi_build_id *id = kind == OTHER ? &other : &asked;
	struct elf_writer_segment s = { 1, 5, 0, 0x1000, 0x20, 0x20, 1 };
	struct elf_writer w;
	size_t at;

	elf_writer_init(&w, true, false, 3, 62);
	s.off = elf_writer_put(&w, NULL, 0x20, 16);
	(void)elf_writer_segment(&w, &s);
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = debug ? 8 : 1,
		.flags = 6,
		.off = s.off,
		.size = 0x20 });
	if (kind != WITHOUT && kind != DEBUG_WITHOUT) {
		at = elf_writer_put_note(&w, 3, id->bytes, id->n);
		(void)elf_writer_section(&w,
		    &(struct elf_writer_section){ .name = ".note",
			.type = 7,
			.off = at,
			.size = w.n_bytes - at,
			.align = 4 });
	}
	if (link != NULL) {
		at = elf_writer_put(&w, link, strlen(link) + 1, 4);
		(void)elf_writer_put(&w, NULL, 0, 4);
		(void)elf_writer_put_number(&w, crc, 4);
		(void)elf_writer_section(&w,
		    &(struct elf_writer_section){ .name = ".gnu_debuglink",
			.type = 1,
			.off = at,
			.size = w.n_bytes - at });
	}
	elf_writer_finish(&w);
	write_file(path, w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

static void
make(struct tree *t, const char *name, enum kind kind)
{
	char path[300];

	(void)snprintf(path, sizeof(path), "%s/%s", t->dir.path, name);
	make_folders(t, path);
	keep(t, path);
	switch (kind) {
	case TEXT:
		write_file(path, "123456789", 9);
		break;
	case SPOILT:
		write_file(path, "\177ELF", 4);
		break;
	case EMPTY:
		write_file(path, "", 0);
		break;
	case FOLDER:
		assert_int_equal(mkdir(path, 0755), 0);
		break;
	case FIFO:
		assert_int_equal(mkfifo(path, 0644), 0);
		break;
	case LOOP:
		assert_int_equal(symlink(path, path), 0);
		break;
	default:
		write_elf(path, kind, NULL, 0);
		break;
	}
}

struct made {
	const char *name;
	enum kind kind;
};

#define MATCH HWTDI_IMAGE_MATCH
#define UNCHECKED HWTDI_IMAGE_UNCHECKED
#define MISMATCH HWTDI_IMAGE_MISMATCH

/* "/app/prog" or another name is looked for below ids, root and mods. */
static const struct {
	const char *what;
	const char *name;
	bool known;
	struct made made[4];
	const char *want; /* NULL: nothing. */
	uint32_t verdict;
} cases[] = {
	{ "below the root", NULL, true, { { "root/app/prog", RIGHT } },
	    "root/app/prog", MATCH },
	{ "build-id not known", NULL, false, { { "root/app/prog", RIGHT } },
	    "root/app/prog", UNCHECKED },
	{ "file without a build-id", NULL, true,
	    { { "root/app/prog", WITHOUT } }, "root/app/prog", UNCHECKED },
	{ "no ELF file", NULL, true, { { "root/app/prog", TEXT } },
	    "root/app/prog", UNCHECKED },
	{ "nothing else than another", NULL, true,
	    { { "root/app/prog", OTHER } }, "root/app/prog", MISMATCH },
	{ "the right one after another", NULL, true,
	    { { "root/app/prog", OTHER }, { "mods/prog", RIGHT } },
	    "mods/prog", MATCH },
	{ "one without a build-id after another", NULL, true,
	    { { "root/app/prog", OTHER }, { "mods/prog", WITHOUT } },
	    "mods/prog", UNCHECKED },
	{ "one without a build-id before another", NULL, true,
	    { { "root/app/prog", WITHOUT }, { "mods/prog", OTHER } },
	    "root/app/prog", UNCHECKED },
	{ "without a build-id the first is taken", NULL, false,
	    { { "root/app/prog", OTHER }, { "mods/prog", RIGHT } },
	    "root/app/prog", UNCHECKED },
	{ "by build-id, plain", NULL, true,
	    { { "root/app/prog", OTHER }, { "ids/ab/cdef01", RIGHT } },
	    "ids/ab/cdef01", MATCH },
	{ "by build-id, perf", NULL, true,
	    { { "ids/.build-id/ab/cdef01/elf", RIGHT } },
	    "ids/.build-id/ab/cdef01/elf", MATCH },
	{ "by build-id, .debug with code", NULL, true,
	    { { "ids/ab/cdef01.debug", RIGHT } }, "ids/ab/cdef01.debug",
	    MATCH },
	{ "by build-id, .debug without code", NULL, true,
	    { { "ids/.build-id/ab/cdef01.debug", DEBUG_RIGHT },
		{ "root/app/prog", WITHOUT } },
	    "root/app/prog", UNCHECKED },
	{ "by build-id, debuginfod", NULL, true,
	    { { "ids/abcdef01/executable", RIGHT } },
	    "ids/abcdef01/executable", MATCH },
	{ "the file at a build-id has another", NULL, true,
	    { { "ids/ab/cdef01", OTHER } }, "ids/ab/cdef01", MISMATCH },
	{ "a build-id that is not known is not looked for", NULL, false,
	    { { "ids/ab/cdef01", RIGHT } }, NULL, 0 },
	{ "a kernel by its base name", "kernel", false,
	    { { "mods/kernel", WITHOUT } }, "mods/kernel", UNCHECKED },
	{ "a module by its base name", "zfs.ko", true,
	    { { "mods/zfs.ko", RIGHT } }, "mods/zfs.ko", MATCH },
	{ "a relative name below the root", "lib/a.so", true,
	    { { "root/lib/a.so", RIGHT } }, "root/lib/a.so", MATCH },
	{ "a name that leaves the root", "/../mods2/prog", true,
	    { { "root/x", TEXT }, { "mods2/prog", RIGHT } }, NULL, 0 },
	{ "a name of two dots", "..", true, { { "mods/x", TEXT } }, NULL, 0 },
	{ "a name that ends with a slash", "/app/", true,
	    { { "root/app/x", TEXT } }, NULL, 0 },
	{ "no name", "", true, { { "mods/x", TEXT } }, NULL, 0 },
	{ "a folder", NULL, true, { { "root/app/prog", FOLDER } }, NULL, 0 },
	{ "a FIFO", NULL, true, { { "root/app/prog", FIFO } }, NULL, 0 },
	{ "a link to itself", NULL, true, { { "root/app/prog", LOOP } }, NULL,
	    0 },
	{ "a spoilt ELF file", NULL, true, { { "root/app/prog", SPOILT } },
	    NULL, 0 },
	{ "an empty file", NULL, true, { { "root/app/prog", EMPTY } }, NULL,
	    0 },
	{ "after a folder, a FIFO and a loop", NULL, true,
	    { { "root/app/prog", LOOP }, { "ids/ab/cdef01", FOLDER },
		{ "ids/ab/cdef01.debug", FIFO }, { "mods/prog", RIGHT } },
	    "mods/prog", MATCH },
};

static int
search(struct hwtd_context *ctx, const struct tree *t, const char *name,
    const struct hwtdi_build_id *id, struct hwtdi_image_found *found,
    struct hwtd_error *err)
{
	char paths[3][300];
	const char *const ids[] = { temp_dir_file(&t->dir, "ids", paths[0]) };
	const char *const roots[] = { temp_dir_file(&t->dir, "root",
	    paths[1]) };
	const char *const dirs[] = { temp_dir_file(&t->dir, "mods",
	    paths[2]) };
	struct hwtdi_image_places places = { .build_id_dirs = ids };

	places.n_build_id_dirs = 1;
	places.roots = roots;
	places.n_roots = 1;
	places.dirs = dirs;
	places.n_dirs = 1;
	return (hwtdi_image_search(found, ctx, name, id, &places, err));
}

static void
the_best_file_is_found_and_judged(void **state)
{
	struct failing_allocator f;
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct hwtd_context *ctx;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name = cases[i].name != NULL ? cases[i].name
							 : "/app/prog";
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_image_found found;
		struct tree t = { .n = 0 };
		char want[300];
		int rc;

		temp_dir_create(&t.dir);
		for (size_t k = 0; k < 4; k++)
			if (cases[i].made[k].kind != NO_FILE)
				make(&t, cases[i].made[k].name,
				    cases[i].made[k].kind);
		rc = search(ctx, &t, name, cases[i].known ? &asked : NULL,
		    &found, &err);
		print_message("%s: %s\n", cases[i].what,
		    rc != HWTD_OK ? err.message : "found");
		assert_int_equal(rc,
		    cases[i].want != NULL ? HWTD_OK : HWTD_E_NOT_FOUND);
		if (rc == HWTD_OK) {
			(void)temp_dir_file(&t.dir, cases[i].want, want);
			assert_string_equal(found.path, want);
			assert_int_equal(found.verdict, cases[i].verdict);
			assert_int_equal(found.is_elf,
			    found.n_bytes > 4 &&
				memcmp(found.bytes, "\177ELF", 4) == 0);
			hwtdi_image_found_fini(&found, ctx);
		}
		/* Only the context. */
		assert_int_equal(f.blocks, 1);
		remove_tree(&t);
	}
	hwtd_context_destroy(ctx);
}

static void
paths_as_they_are_need_leave_and_a_slash(void **state)
{
	struct hwtdi_image_places places = { .as_is = false };
	struct hwtdi_image_found found;
	struct tree t = { .n = 0 };
	struct hwtd_context *ctx;
	char path[300];

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	temp_dir_create(&t.dir);
	make(&t, "a/prog", RIGHT);
	(void)temp_dir_file(&t.dir, "a/prog", path);
	assert_int_equal(hwtdi_image_search(&found, ctx, path, &asked, &places,
			     NULL),
	    HWTD_E_NOT_FOUND);
	places.as_is = true;
	assert_int_equal(hwtdi_image_search(&found, ctx, path, &asked, &places,
			     NULL),
	    HWTD_OK);
	assert_int_equal(found.verdict, HWTDI_IMAGE_MATCH);
	assert_int_equal(found.elf.n_segments, 1);
	hwtdi_image_found_fini(&found, ctx);
	/* A path of the trace that leads up is its own business. */
	(void)temp_dir_file(&t.dir, "a/../a/prog", path);
	assert_int_equal(hwtdi_image_search(&found, ctx, path, &asked, &places,
			     NULL),
	    HWTD_OK);
	hwtdi_image_found_fini(&found, ctx);
	(void)temp_dir_file(&t.dir, "a", path);
	assert_int_equal(chdir(path), 0);
	assert_int_equal(hwtdi_image_search(&found, ctx, "prog", &asked,
			     &places, NULL),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtdi_image_search(&found, ctx, "./prog", &asked,
			     &places, NULL),
	    HWTD_OK);
	hwtdi_image_found_fini(&found, ctx);
	assert_int_equal(chdir("/"), 0);
	remove_tree(&t);
	hwtd_context_destroy(ctx);
}

static void
a_name_without_end_and_many_folders_are_bounded(void **state)
{
	static char name[20000];
	static const char *dirs[10000];
	struct hwtdi_image_places places = { .dirs = dirs };
	struct hwtdi_image_found found;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (size_t i = 0; i < 10000; i++)
		dirs[i] = "/nonexistent";
	places.n_dirs = 10000;
	places.as_is = true;
	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	assert_int_equal(hwtdi_image_search(&found, ctx, name, NULL, &places,
			     &err),
	    HWTD_E_NOT_FOUND);
	name[100] = '\0';
	assert_int_equal(hwtdi_image_search(&found, ctx, name, NULL, &places,
			     &err),
	    HWTD_E_NOT_FOUND);
	print_message("%s\n", err.message);
	assert_non_null(strstr(err.message, "not found in 4096 places"));
	hwtd_context_destroy(ctx);
}

/* CRC-32 of "123456789", of its specification ("check value"). */
#define CRC_OF_DIGITS 0xcbf43926u

static const struct {
	const char *what;
	enum kind kind;
	const char *link;
	struct made made[3];
	const char *want;
	uint32_t verdict;
} debug_cases[] = {
	{ "beside, by build-id", RIGHT, "prog.debug",
	    { { "root/app/prog.debug", DEBUG_RIGHT } }, "root/app/prog.debug",
	    MATCH },
	{ "in .debug", RIGHT, "prog.debug",
	    { { "root/app/.debug/prog.debug", DEBUG_RIGHT } },
	    "root/app/.debug/prog.debug", MATCH },
	{ "by build-id alone", RIGHT, NULL,
	    { { "ids/ab/cdef01.debug", DEBUG_RIGHT } }, "ids/ab/cdef01.debug",
	    MATCH },
	{ "by build-id, debuginfod", RIGHT, NULL,
	    { { "ids/abcdef01/debuginfo", DEBUG_RIGHT } },
	    "ids/abcdef01/debuginfo", MATCH },
	{ "the checksum is another", WITHOUT, "prog.debug",
	    { { "root/app/prog.debug", DEBUG_WITHOUT } },
	    "root/app/prog.debug", MISMATCH },
	{ "the build-id is another", RIGHT, "prog.debug",
	    { { "root/app/prog.debug", OTHER } }, "root/app/prog.debug",
	    MISMATCH },
	{ "no ELF file, whatever the checksum", WITHOUT, "prog.debug",
	    { { "root/app/prog.debug", TEXT } }, NULL, 0 },
	{ "a link to the file itself", RIGHT, "prog", { { NULL, NO_FILE } },
	    NULL, 0 },
	{ "a link that leads up", RIGHT, "../prog.debug",
	    { { "root/prog.debug", DEBUG_RIGHT } }, NULL, 0 },
	{ "a link of two dots", RIGHT, "..", { { NULL, NO_FILE } }, NULL, 0 },
	{ "no link", WITHOUT, NULL, { { NULL, NO_FILE } }, NULL, 0 },
};

static int
search_debug(struct hwtd_context *ctx, const struct tree *t, const char *path,
    struct hwtdi_image_found *found, struct hwtd_error *err)
{
	char ids_path[300];
	const char *const ids[] = { temp_dir_file(&t->dir, "ids", ids_path) };
	struct hwtdi_image_places places = { .build_id_dirs = ids };
	struct hwtdi_elf_file elf;
	size_t n;
	uint8_t *bytes = read_file(path, &n);
	int rc;

	places.n_build_id_dirs = 1;
	assert_int_equal(hwtdi_elf_file_init(&elf, ctx, path, bytes, n, NULL),
	    HWTD_OK);
	rc = hwtdi_image_search_debug(found, ctx, path, &elf, &places, err);
	hwtdi_elf_file_fini(&elf, ctx);
	free(bytes);
	return (rc);
}

static void
debug_information_is_found_by_build_id_and_link(void **state)
{
	struct hwtd_context *ctx;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	for (size_t i = 0; i < sizeof(debug_cases) / sizeof(debug_cases[0]);
	     i++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_image_found found;
		struct tree t = { .n = 0 };
		char want[300], path[300];
		int rc;

		temp_dir_create(&t.dir);
		for (size_t k = 0; k < 3; k++)
			if (debug_cases[i].made[k].kind != NO_FILE)
				make(&t, debug_cases[i].made[k].name,
				    debug_cases[i].made[k].kind);
		(void)temp_dir_file(&t.dir, "root/app/prog", path);
		make_folders(&t, path);
		keep(&t, path);
		write_elf(path, debug_cases[i].kind, debug_cases[i].link,
		    CRC_OF_DIGITS);
		rc = search_debug(ctx, &t, path, &found, &err);
		print_message("%s: %s\n", debug_cases[i].what,
		    rc != HWTD_OK ? err.message : "found");
		assert_int_equal(rc,
		    debug_cases[i].want != NULL ? HWTD_OK : HWTD_E_NOT_FOUND);
		if (rc == HWTD_OK) {
			(void)temp_dir_file(&t.dir, debug_cases[i].want, want);
			assert_string_equal(found.path, want);
			assert_int_equal(found.verdict,
			    debug_cases[i].verdict);
			hwtdi_image_found_fini(&found, ctx);
		}
		remove_tree(&t);
	}
	hwtd_context_destroy(ctx);
}

/* A file without a build-id is the one that a link means by its checksum. */
static void
checksums_of_debug_links_are_those_of_the_whole_file(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_image_found found;
	struct tree t = { .n = 0 };
	struct hwtd_context *ctx;
	char path[300], command[700], line[64] = "";
	unsigned long crc;
	FILE *p;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	temp_dir_create(&t.dir);
	make(&t, "prog.debug", DEBUG_WITHOUT);
	(void)snprintf(command, sizeof(command),
	    "python3 -c 'import zlib; print(zlib.crc32(open(\"%s/%s\", "
	    "\"rb\").read()))' 2>/dev/null",
	    t.dir.path, "prog.debug");
	p = popen(command, "r");
	if (p != NULL) {
		(void)fgets(line, sizeof(line), p);
		(void)pclose(p);
	}
	crc = strtoul(line, NULL, 10);
	(void)temp_dir_file(&t.dir, "prog", path);
	keep(&t, path);
	write_elf(path, WITHOUT, "prog.debug", (uint32_t)crc);
	if (line[0] != '\0') {
		assert_int_equal(search_debug(ctx, &t, path, &found, &err),
		    HWTD_OK);
		assert_int_equal(found.verdict, HWTDI_IMAGE_MATCH);
		hwtdi_image_found_fini(&found, ctx);
	}
	remove_tree(&t);
	hwtd_context_destroy(ctx);
	if (line[0] == '\0')
		skip();
}

static void
failed_allocations_leave_nothing_behind(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct tree t = { .n = 0 };
	int rc = HWTD_E_NOMEM;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	temp_dir_create(&t.dir);
	make(&t, "root/app/prog", OTHER);
	make(&t, "mods/prog", RIGHT);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtdi_image_found found;
		struct hwtd_error err = { .size = sizeof(err) };

		failing_allocator_arm(&f, n, false);
		rc = search(ctx, &t, "/app/prog", &asked, &found, &err);
		if (rc == HWTD_OK) {
			assert_true(n > 4);
			hwtdi_image_found_fini(&found, ctx);
		} else {
			assert_int_equal(rc, HWTD_E_NOMEM);
			assert_int_equal(err.code, HWTD_E_NOMEM);
		}
		assert_int_equal(f.blocks, 1);
	}
	remove_tree(&t);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_file_is_found_and_judged),
		cmocka_unit_test(paths_as_they_are_need_leave_and_a_slash),
		cmocka_unit_test(
		    a_name_without_end_and_many_folders_are_bounded),
		cmocka_unit_test(
		    debug_information_is_found_by_build_id_and_link),
		cmocka_unit_test(
		    checksums_of_debug_links_are_those_of_the_whole_file),
		cmocka_unit_test(failed_allocations_leave_nothing_behind),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
