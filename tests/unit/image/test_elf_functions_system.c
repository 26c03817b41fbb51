/*
 * Functions of files of this system, against what nm(1) says.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/elf_functions.h"
#include "support/temp_dir.h"

struct file {
	struct hwtd_context *ctx;
	struct hwtdi_elf_tables tables;
	struct hwtdi_elf_code code;
	uint8_t *bytes;
};

static void
open_file(struct file *f, const char *path)
{
	struct hwtdi_elf_file elf;
	size_t n;

	f->bytes = read_file(path, &n);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	assert_int_equal(hwtdi_elf_tables_init(&f->tables, path, f->bytes, n,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_file_init(&elf, f->ctx, path, f->bytes, n,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_code_init_linked(&f->code, f->ctx, &elf, 0,
			     NULL),
	    HWTD_OK);
	hwtdi_elf_file_fini(&elf, f->ctx);
}

static void
close_file(struct file *f)
{
	hwtdi_elf_code_fini(&f->code, f->ctx);
	hwtd_context_destroy(f->ctx);
	free(f->bytes);
}

/* nm says that a function of this name and size is there. */
static void
check(const struct file *f, const char *name, uint64_t address, uint64_t size)
{
	struct hwtdi_elf_functions found;
	bool there = false;

	assert_int_equal(hwtdi_elf_functions_find(&found, f->ctx, &f->code,
			     &f->tables, name, NULL),
	    HWTD_OK);
	for (size_t i = 0; i < found.n && !there; i++)
		there = found.at[i].first == address &&
		    (size != 0 ? !found.at[i].guessed &&
				found.at[i].last == address + size - 1
			       : found.at[i].last >= address);
	if (!there)
		print_message("%s at %#" PRIx64 ", %" PRIu64 " bytes\n", name,
		    address, size);
	assert_true(there);
	hwtdi_elf_functions_fini(&found, f->ctx);
}

/* Each function that nm lists with a size; how many. */
static size_t
compare(const char *path, const char *options, size_t step)
{
	char command[600], line[5000], name[4096];
	struct file f;
	size_t n = 0;
	FILE *p;

	(void)snprintf(command, sizeof(command),
	    "LC_ALL=C nm -S --defined-only %s '%s' 2>/dev/null", options,
	    path);
	p = popen(command, "r");
	assert_non_null(p);
	open_file(&f, path);
	while (fgets(line, sizeof(line), p) != NULL) {
		uint64_t address, size;
		char type;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %4095s", &address,
			&size, &type, name) != 4 ||
		    strchr("TtWw", type) == NULL)
			continue;
		if (n++ % step == 0)
			check(&f, name, address, size);
	}
	(void)pclose(p);
	close_file(&f);
	return (n);
}

static void
functions_of_this_program_are_those_of_nm(void **state)
{
	char path[400] = "";
	size_t n;

	(void)state;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0)
		skip();
	n = compare(path, "", 7);
	print_message("%zu functions\n", n);
	if (n == 0)
		skip();
	/* This one at least. */
	assert_true(n > 20);
}

static void
functions_of_the_c_library_are_those_of_nm(void **state)
{
	Dl_info info;
	size_t n;

	(void)state;
	if (dladdr(dlsym(RTLD_DEFAULT, "strtol"), &info) == 0 ||
	    info.dli_fname == NULL || info.dli_fname[0] != '/')
		skip();
	/* Names have versions, as "strtol@@GLIBC_2.2.5". */
	n = compare(info.dli_fname, "-D", 23);
	print_message("%s: %zu functions\n", info.dli_fname, n);
	if (n == 0)
		skip();
}

/* What a linker makes of versions, aliases, local and indirect functions. */

static const char source[] =
    "__attribute__((noinline)) static int same(int a) { return (a * 3); }\n"
    "int one(int a) { return (same(a) + 1); }\n"
    "int other(int a) __attribute__((alias(\"one\")));\n"
    "int old(int a) { return (a - 1); }\n"
    "int new(int a) { return (a - 2); }\n"
    "__asm__(\".symver old,pick@V1\\n.symver new,pick@@V2\\n\");\n"
    "int table[4] = { 1, 2, 3, 4 };\n"
    "__asm__(\".text\\n.globl bare\\nbare: ret\\n.globl behind\\n\"\n"
    "	\"behind: ret\\n\");\n"
    "static int fast(int a) { return (a); }\n"
    "static void *choose(void) { return ((void *)fast); }\n"
    "int indirect(int a) __attribute__((ifunc(\"choose\")));\n";
static const char second[] = "__attribute__((noinline)) static int same(int "
			     "a) { return (a * 5); }\n"
			     "int two(int a) { return (same(a) + 2); }\n";
static const char script[] = "V1 { global: *; }; V2 { } V1;\n";

static size_t
count(const struct file *f, const char *name, struct hwtdi_elf_functions *out)
{
	size_t n;

	assert_int_equal(hwtdi_elf_functions_find(out, f->ctx, &f->code,
			     &f->tables, name, NULL),
	    HWTD_OK);
	n = out->n;
	hwtdi_elf_functions_fini(out, f->ctx);
	return (n);
}

static void
what_a_linker_wrote_is_understood(void **state)
{
	struct hwtdi_elf_functions found;
	struct temp_dir dir;
	char command[1200], path[300];
	struct file f;

	(void)state;
	temp_dir_create(&dir);
	write_file(temp_dir_file(&dir, "a.c", path), source,
	    sizeof(source) - 1);
	write_file(temp_dir_file(&dir, "b.c", path), second,
	    sizeof(second) - 1);
	write_file(temp_dir_file(&dir, "map", path), script,
	    sizeof(script) - 1);
	(void)snprintf(command, sizeof(command),
	    "cd '%s' && %s -O1 -w -shared -fPIC -nostdlib -o lib.so a.c b.c "
	    "-Wl,--version-script=map 2>/dev/null",
	    dir.path, HWTDECODE_TEST_CC);
	if (system(command) != 0) {
		temp_dir_remove(&dir);
		skip();
	}
	for (int stripped = 0; stripped < 2; stripped++) {
		(void)snprintf(command, sizeof(command), "strip '%s/lib.so'",
		    dir.path);
		if (stripped && system(command) != 0)
			break;
		open_file(&f, temp_dir_file(&dir, "lib.so", path));
		assert_int_equal(count(&f, "one", &found), 1);
		assert_int_equal(count(&f, "other", &found), 1);
		assert_int_equal(count(&f, "pick", &found), 2);
		assert_int_equal(count(&f, "pick@V1", &found), 1);
		assert_int_equal(count(&f, "pick@@V2", &found), 1);
		assert_int_equal(count(&f, "pick@V3", &found), 0);
		assert_int_equal(count(&f, "same", &found), stripped ? 0 : 2);
		assert_int_equal(count(&f, "table", &found), 0);
		assert_int_equal(hwtdi_elf_functions_find(&found, f.ctx,
				     &f.code, &f.tables, "indirect", NULL),
		    HWTD_OK);
		assert_int_equal(found.n, 0);
		assert_true(found.indirect);
		assert_int_equal(found.complete, !stripped);
		hwtdi_elf_functions_fini(&found, f.ctx);
		/* One instruction, before the next function. */
		assert_int_equal(hwtdi_elf_functions_find(&found, f.ctx,
				     &f.code, &f.tables, "bare", NULL),
		    HWTD_OK);
		assert_int_equal(found.n, 1);
		assert_true(found.at[0].guessed);
#if defined(__x86_64__)
		assert_int_equal(found.at[0].last, found.at[0].first);
#else
		assert_int_equal(found.at[0].last, found.at[0].first + 3);
#endif
		hwtdi_elf_functions_fini(&found, f.ctx);
		close_file(&f);
		if (!stripped)
			print_message("%zu functions\n", compare(path, "", 1));
	}
	temp_dir_remove(&dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_this_program_are_those_of_nm),
		cmocka_unit_test(functions_of_the_c_library_are_those_of_nm),
		cmocka_unit_test(what_a_linker_wrote_is_understood),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
