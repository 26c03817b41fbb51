/*
 * ELF files of this system, against what readelf(1) says, and a program's own
 * memory against the file that it came from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/elf_load.h"
#include "support/temp_dir.h"

static struct hwtd_context *
new_context(void)
{
	struct hwtd_context *ctx;

	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	return (ctx);
}

/* Executable segments, lowest address and build-id in the words of readelf. */
struct told {
	struct hwtdi_elf_segment segments[8];
	size_t n_segments;
	uint64_t lowest;
	bool has_load;
	char build_id[2 * HWTDI_BUILD_ID_MAX + 1];
	char interpreter[HWTDI_ELF_PATH_MAX];
};

static void
read_line(struct told *t, const char *line)
{
	struct hwtdi_elf_segment s = { .index = 0 };
	unsigned long off, vaddr, paddr, file, memory, align;
	const char *id;
	char flags[8];

	/* "  LOAD  offset vaddr paddr filesz memsz R E align" */
	if (sscanf(line, " LOAD %lx %lx %lx %lx %lx", &off, &vaddr, &paddr,
		&file, &memory) == 5) {
		if (!t->has_load || vaddr < t->lowest)
			t->lowest = vaddr;
		t->has_load = true;
		if (sscanf(line, " LOAD %*x %*x %*x %*x %*x R%7[ WE] %lx",
			flags, &align) != 2 ||
		    strchr(flags, 'E') == NULL)
			return;
		assert_true(t->n_segments < 8);
		s.file_off = off;
		s.vaddr = vaddr;
		s.file_bytes = file;
		s.memory_bytes = memory;
		s.align = align;
		t->segments[t->n_segments++] = s;
	}
	id = strstr(line, "Build ID: ");
	if (id != NULL)
		(void)sscanf(id, "Build ID: %128s", t->build_id);
	(void)sscanf(line, " [Requesting program interpreter: %1000[^]]",
	    t->interpreter);
}

/* false if there is no readelf or no such file. */
static bool
ask_readelf(const char *path, struct told *t)
{
	char command[600], line[1200];
	FILE *p;

	memset(t, 0, sizeof(*t));
	(void)snprintf(command, sizeof(command),
	    "LC_ALL=C readelf -lnW '%s' 2>/dev/null", path);
	p = popen(command, "r");
	if (p == NULL)
		return (false);
	while (fgets(line, sizeof(line), p) != NULL)
		read_line(t, line);
	return (pclose(p) == 0 && t->has_load);
}

static void
compare(struct hwtd_context *ctx, const char *path, const struct told *t)
{
	struct hwtd_error err = { .size = sizeof(err) };
	char id[2 * HWTDI_BUILD_ID_MAX + 1] = "";
	struct hwtdi_elf_file f;
	size_t n;
	uint8_t *bytes = read_file(path, &n);

	assert_int_equal(hwtdi_elf_file_init(&f, ctx, path, bytes, n, &err),
	    HWTD_OK);
	for (uint32_t i = 0; i < f.build_id.n; i++)
		(void)snprintf(id + 2 * i, 3, "%02x", f.build_id.bytes[i]);
	print_message("%s: %zu code segments, build-id %s\n", path,
	    f.n_segments, id);
	assert_int_equal(f.n_faults, 0);
	assert_string_equal(id, t->build_id);
	assert_string_equal(f.interpreter, t->interpreter);
	assert_int_equal(f.lowest_vaddr, t->lowest);
	assert_int_equal(f.n_segments, t->n_segments);
	for (size_t i = 0; i < f.n_segments; i++) {
		const struct hwtdi_elf_segment *got = &f.segments[i];
		const struct hwtdi_elf_segment *want = &t->segments[i];

		assert_false(got->cut);
		assert_int_equal(got->file_off, want->file_off);
		assert_int_equal(got->vaddr, want->vaddr);
		assert_int_equal(got->file_bytes, want->file_bytes);
		assert_int_equal(got->memory_bytes, want->memory_bytes);
		assert_int_equal(got->align, want->align);
	}
	hwtdi_elf_file_fini(&f, ctx);
	free(bytes);
}

/* This program is linked with -Wl,--build-id. */
#ifdef __linux__
#define SELF "/proc/self/exe"
#else
#define SELF "/proc/curproc/file"
#endif

static const char *const paths[] = { SELF, "/bin/true", "/bin/sh",
	"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
	"/lib/aarch64-linux-gnu/libc.so.6", "/lib/libc.so.7",
	"/libexec/ld-elf.so.1" };

static void
files_of_the_system_are_read_as_readelf_does(void **state)
{
	struct hwtd_context *ctx = new_context();
	char self[300] = "";
	size_t compared = 0;
	struct told t;

	(void)state;
	if (readlink(SELF, self, sizeof(self) - 1) < 0)
		self[0] = '\0';
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *path = i == 0 ? self : paths[i];

		if (access(path, R_OK) != 0 || !ask_readelf(path, &t))
			continue;
		compare(ctx, path, &t);
		if (i == 0)
			assert_int_not_equal(strlen(t.build_id), 0);
		compared++;
	}
	hwtd_context_destroy(ctx);
	if (compared == 0)
		skip();
}

/* An executable mapping of this process by line of /proc/self/maps. */
static bool
read_mapping(const char *line, struct hwtdi_elf_mapping *m, char path[300])
{
	unsigned long start, end, off;
	char prot[8];

	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %299[^\n]", &start, &end,
		prot, &off, path) != 5 ||
	    strchr(prot, 'x') == NULL || path[0] != '/')
		return (false);
	*m = (struct hwtdi_elf_mapping){ .address = start,
		.has_file_off = true,
		.has_length = true,
		.file_off = off,
		.length = end - start };
	return (true);
}

/* The layout must be this mapping, and its bytes those in memory. */
static void
compare_memory(struct hwtd_context *ctx, const char *path,
    const struct hwtdi_elf_mapping *m)
{
	struct hwtdi_elf_mapping alone = { .address = m->address };
	struct hwtdi_elf_layout l;
	struct hwtdi_elf_bias b, guess;
	struct hwtdi_elf_file f;
	struct hwtdi_elf_piece *p;
	size_t n;
	uint8_t *bytes = read_file(path, &n);

	assert_int_equal(hwtdi_elf_file_init(&f, ctx, path, bytes, n, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_elf_bias_of_mappings(&f, m, 1, 0, &b, NULL),
	    HWTD_OK);
	assert_int_equal(b.n_fits, 1);
	/* As a kernel without offsets tells it. */
	assert_int_equal(hwtdi_elf_bias_of_mappings(&f, &alone, 1, 0, &guess,
			     NULL),
	    HWTD_OK);
	if (guess.n_fits == 1)
		assert_int_equal(guess.bias, b.bias);
	assert_int_equal(hwtdi_elf_layout_init(&l, ctx, &f, b.bias, 0, NULL),
	    HWTD_OK);
	assert_true(b.segment < l.n_pieces);
	p = &l.pieces[b.segment];
	print_message("%s at %#lx: bias %#lx\n", path,
	    (unsigned long)m->address, (unsigned long)b.bias);
	assert_int_equal(p->address, m->address);
	assert_int_equal(p->file_off, m->file_off);
	assert_true(p->length <= m->length && m->length - p->length < 4096);
	assert_memory_equal((const void *)(uintptr_t)p->address,
	    bytes + p->file_off, (size_t)p->length);
	hwtdi_elf_layout_fini(&l, ctx);
	hwtdi_elf_file_fini(&f, ctx);
	free(bytes);
}

static void
layouts_are_what_lies_in_the_memory_of_this_program(void **state)
{
	struct hwtd_context *ctx = new_context();
	FILE *maps = fopen("/proc/self/maps", "r");
	struct hwtdi_elf_mapping m;
	char line[600], path[300];
	size_t compared = 0;

	(void)state;
	if (maps == NULL) {
		hwtd_context_destroy(ctx);
		skip();
	}
	while (fgets(line, sizeof(line), maps) != NULL) {
		if (!read_mapping(line, &m, path))
			continue;
		compare_memory(ctx, path, &m);
		compared++;
	}
	(void)fclose(maps);
	assert_true(compared >= 2);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_the_system_are_read_as_readelf_does),
		cmocka_unit_test(
		    layouts_are_what_lies_in_the_memory_of_this_program),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
