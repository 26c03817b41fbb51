/*
 * A module that was relocated here, against the same module linked by ld(1) at
 * the same addresses.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/elf_relocate.h"
#include "support/temp_dir.h"

#define ADDRESS 0xffffffff82000000u
#define INIT_ADDRESS 0xffffffff82800000u
#define EXTERNAL 0xffffffff80123450u

/* Calls, jumps, a jump table, data of several kinds, another section. */
static const char
    source[] = "extern int external(const char *, int);\n"
	       "int counter = 3;\n"
	       "static int zeros[100];\n"
	       "int (*volatile pointer)(const char *, int) = external;\n"
	       "__attribute__((section(\".text.unlikely\"), noinline))\n"
	       "int unlikely(int a) { return (external(\"unlikely\", a)); }\n"
	       "__attribute__((noinline))\n"
	       "int choose(int a, int b)\n"
	       "{\n"
	       "	switch (a) {\n"
	       "	case 0: return (b * 3);\n"
	       "	case 1: return (external(\"one\", b));\n"
	       "	case 2: return (unlikely(b));\n"
	       "	case 3: return (counter += b);\n"
	       "	case 4: return (pointer(\"four\", b));\n"
	       "	case 5: return (zeros[b & 63]++);\n"
	       "	case 6: return (b ^ 0x55);\n"
	       "	default: return (a - b);\n"
	       "	}\n"
	       "}\n"
	       "__attribute__((section(\".init.text\")))\n"
	       "int start(void) { return (choose(counter, unlikely(7))); }\n";

static int
run(const char *fmt, ...)
{
	char command[1500];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return (system(command));
}

static bool
resolve(void *arg, const char *name, uint64_t *address_out)
{
	(void)arg;
	*address_out = EXTERNAL;
	return (strcmp(name, "external") == 0);
}

/* A script that puts every section where the object has it. */
static void
write_script(const char *path, const struct hwtdi_elf_object *o)
{
	FILE *f = fopen(path, "w");
	GElf_Shdr sh;

	assert_non_null(f);
	(void)fprintf(f, "external = %#lx;\nSECTIONS {\n",
	    (unsigned long)EXTERNAL);
	for (uint32_t i = 1; i < o->n_places; i++) {
		const char *name;

		if (!hwtdi_elf_section(&o->tables, i, &sh) ||
		    !o->places[i].placed || sh.sh_size == 0)
			continue;
		name = hwtdi_elf_section_name(&o->tables, &sh);
		(void)fprintf(f, "%s %#" PRIx64 " : { *(%s) }\n", name,
		    o->places[i].address, name);
	}
	(void)fprintf(f, "/DISCARD/ : { *(*) }\n}\n");
	(void)fclose(f);
}

/* The bytes of the linked file at an address. */
static const uint8_t *
linked_at(const struct hwtdi_elf_file *f, const uint8_t *bytes,
    uint64_t address, uint64_t length)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct hwtdi_elf_segment *s = &f->segments[i];

		if (address >= s->vaddr &&
		    address - s->vaddr < s->file_bytes &&
		    length <= s->file_bytes - (address - s->vaddr))
			return (bytes + s->file_off + (address - s->vaddr));
	}
	return (NULL);
}

static void
compare(struct hwtd_context *ctx, const struct hwtdi_elf_object *o,
    const uint8_t *copy, const char *linked_path)
{
	struct hwtdi_elf_layout l;
	struct hwtdi_elf_file f;
	size_t n;
	uint8_t *linked = read_file(linked_path, &n);

	assert_int_equal(hwtdi_elf_file_init(&f, ctx, linked_path, linked, n,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_object_layout(o, ctx, &l, NULL), HWTD_OK);
	assert_true(l.n_pieces >= 3);
	for (size_t i = 0; i < l.n_pieces; i++) {
		const struct hwtdi_elf_piece *p = &l.pieces[i];
		const uint8_t *want = linked_at(&f, linked, p->address,
		    p->length);

		print_message("%" PRIu64 " bytes of code at %#" PRIx64 "\n",
		    p->length, p->address);
		assert_non_null(want);
		assert_memory_equal(copy + p->file_off, want,
		    (size_t)p->length);
	}
	hwtdi_elf_layout_fini(&l, ctx);
	hwtdi_elf_file_fini(&f, ctx);
	free(linked);
}

static void
compare_as(struct hwtd_context *ctx, bool as_linux, const char *const path[4])
{
	struct hwtdi_elf_relocated done;
	struct hwtdi_elf_object o;
	size_t n;
	uint8_t *bytes = read_file(path[1], &n);
	uint8_t *copy = malloc(n);
	int rc;

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	if (as_linux)
		rc = hwtdi_elf_object_init_linux(&o, ctx, "module", bytes, n,
		    ADDRESS, INIT_ADDRESS, 0, NULL);
	else
		rc = hwtdi_elf_object_init_freebsd(&o, ctx, "module", bytes, n,
		    ADDRESS, NULL);
	assert_int_equal(rc, HWTD_OK);
	assert_int_equal(hwtdi_elf_relocate(&o,
			     &(struct hwtdi_elf_linker){
				 .resolve_fn = resolve },
			     copy, &done, NULL),
	    HWTD_OK);
	print_message("%s: %lu relocations\n", as_linux ? "Linux" : "FreeBSD",
	    (unsigned long)done.n_done);
	assert_true(done.n_done >= 10);
	assert_int_equal(done.n_unresolved, 0);
	assert_int_equal(done.n_unknown, 0);
	assert_int_equal(done.n_unfit, 0);
	write_script(path[2], &o);
	assert_int_equal(run("%s -nostdlib -static -no-pie -Wl,-T,%s "
			     "-Wl,--build-id=none -Wl,-e,start "
			     "-o %s %s 2>/dev/null",
			     HWTDECODE_TEST_CC, path[2], path[3], path[1]),
	    0);
	compare(ctx, &o, copy, path[3]);
	hwtdi_elf_object_fini(&o, ctx);
	free(copy);
	free(bytes);
}

static void
relocated_code_is_that_of_the_linker(void **state)
{
	static const char *const names[4] = { "m.c", "m.o", "m.ld", "m" };
	char files[4][300];
	const char *path[4];
	struct hwtd_context *ctx;
	struct temp_dir dir;
	int rc;

	(void)state;
	temp_dir_create(&dir);
	for (size_t i = 0; i < 4; i++)
		path[i] = temp_dir_file(&dir, names[i], files[i]);
	write_file(path[0], source, sizeof(source) - 1);
	/* As kernels of x86-64 are compiled. */
	rc = run("%s -c -O1 -fno-pic -mcmodel=kernel -fno-stack-protector "
		 "-fno-asynchronous-unwind-tables -o %s %s 2>/dev/null",
	    HWTDECODE_TEST_CC, path[1], path[0]);
	if (rc == 0) {
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		compare_as(ctx, false, path);
		compare_as(ctx, true, path);
		hwtd_context_destroy(ctx);
	}
	temp_dir_remove(&dir);
	if (rc != 0)
		skip();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relocated_code_is_that_of_the_linker),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
