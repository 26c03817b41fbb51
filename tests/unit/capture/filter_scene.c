/*
 * Files of a system, and filters of them, for tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter_scene.h"

const struct code_area prog_areas[] = { { 0x1000, 0x1000, 0 } };
const struct code_symbol prog_symbols[N_PROG_SYMBOLS] = {
	{ "main", FUNC, 1, 0x1100, 0x40, 0 },
	{ "helper", LOCAL_FUNC, 1, 0x1140, 0x20, 0 },
	{ "helper", LOCAL_FUNC, 1, 0x1800, 0x20, 0 },
	{ "bare", FUNC, 1, 0x1900, 0, 0 },
	{ "next", FUNC, 1, 0x1980, 4, 0 },
	{ "near1", FUNC, 1, 0x1c00, 4, 0 },
	{ "near2", FUNC, 1, 0x1c10, 4, 0 },
	{ "near3", FUNC, 1, 0x1c20, 4, 0 },
	{ "pick", IFUNC, 1, 0x1a00, 4, 0 },
	{ "table", OBJECT, 1, 0x1b00, 4, 0 },
	{ "puts", FUNC, 0, 0, 0, 0 },
};
const struct code_spec prog = { .areas = prog_areas,
	.n_areas = 1,
	.symbols = prog_symbols,
	.n_symbols = N_PROG_SYMBOLS,
	.interpreter = "/ld-elf.so.1" };

static const struct code_area two_areas[] = { { 0x2000, 0x1000, 0 },
	{ 0x6000, 0x2000, 0 } };
static const struct code_symbol two_symbols[] = {
	{ "first", FUNC, 1, 0x2010, 0x10, 0 },
	{ "second", FUNC, 2, 0x6020, 0x10, 0 },
};
const struct code_spec two = { .areas = two_areas,
	.n_areas = 2,
	.symbols = two_symbols,
	.n_symbols = 2 };

static const struct code_area rtld_areas[] = { { 0x3000, 0x1000, 0 } };
static const struct code_symbol rtld_symbols[] = {
	{ "r_debug_state", FUNC, 1, 0x3020, 0x10, 0 },
};
const struct code_spec rtld = { .areas = rtld_areas,
	.n_areas = 1,
	.symbols = rtld_symbols,
	.n_symbols = 1 };

static const struct code_area kernel_areas[] = { { 0xffffffff80200000, 0x2000,
    0 } };
static const struct code_symbol kernel_symbols[] = {
	{ "vn_open", FUNC, 1, 0xffffffff80200100, 0x80, 0 },
};
static const struct code_spec kernel = { .type = 2,
	.areas = kernel_areas,
	.n_areas = 1,
	.symbols = kernel_symbols,
	.n_symbols = 1 };

/* Sizes of sections are no multiples of 16, to which they are aligned. */
static const struct code_area module_areas[] = { { 0, 0x108, 0 },
	{ 0, 0x40, 0 } };
static const struct code_symbol module_symbols[] = {
	{ "zfs_open", FUNC, 1, 0x20, 0x10, 0 },
	{ "zfs_close", FUNC, 2, 0x8, 0x10, 0 },
};
const struct code_spec module = { .type = 1,
	.areas = module_areas,
	.n_areas = 2,
	.symbols = module_symbols,
	.n_symbols = 2 };

void
put_file(struct scene *s, const char *name, const struct code_spec *spec)
{
	struct elf_writer w;
	char path[300];

	code_file_write(&w, spec);
	write_file(temp_dir_file(&s->dir, name, path), w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

void
open_scene(struct scene *s)
{
	struct hwtd_context_options o = { .size = sizeof(o) };

	memset(s, 0, sizeof(*s));
	temp_dir_create(&s->dir);
	failing_allocator_init(&s->allocator);
	o.allocator = &s->allocator.allocator;
	assert_int_equal(hwtd_context_create(&o, &s->ctx, NULL), HWTD_OK);
	s->roots[0] = s->dir.path;
	s->places.roots = s->roots;
	s->places.n_roots = 1;
	s->places.dirs = s->roots;
	s->places.n_dirs = 1;
	hwtdi_filters_init(&s->filters, s->ctx, &s->places, 0);
	put_file(s, "prog", &prog);
	put_file(s, "libtwo.so", &two);
	put_file(s, "ld-elf.so.1", &rtld);
	put_file(s, "kernel", &kernel);
	put_file(s, "zfs.ko", &module);
}

void
close_scene(struct scene *s)
{
	hwtdi_filters_fini(&s->filters);
	/* Only the context. */
	assert_int_equal(s->allocator.blocks, 1);
	hwtd_context_destroy(s->ctx);
	temp_dir_remove(&s->dir);
}

void
add(struct scene *s, const char *text)
{
	assert_int_equal(hwtdi_filters_add(&s->filters, text, NULL), HWTD_OK);
}

bool
see(struct scene *s, const struct hwtdi_filter_load *load)
{
	struct hwtd_error err = { .size = sizeof(err) };
	bool changed;
	int rc = hwtdi_filters_see(&s->filters, load, &changed, &err);

	if (rc != HWTD_OK)
		print_message("%s\n", err.message);
	assert_int_equal(rc, HWTD_OK);
	return (changed);
}

bool
see_program(struct scene *s, const char *path, uint64_t bias, uint64_t base)
{
	return (see(s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_EXECUTABLE,
		.path = path,
		.addr = bias,
		.base = base }));
}

bool
see_mapping(struct scene *s, const char *path, uint64_t addr)
{
	return (see(s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_MMAP,
		.path = path,
		.addr = addr,
		/* As stock kernels tell it. */
		.base = 0xdeadbeef }));
}

bool
see_kernel(struct scene *s, const char *path, uint64_t addr)
{
	return (see(s,
	    &(const struct hwtdi_filter_load){ .kind = HWTDI_FILTER_KERNEL,
		.path = path,
		.addr = addr }));
}

void
check_ranges(struct scene *s, size_t n, const uint64_t *want)
{
	struct hwtdi_filter_range out[8];
	size_t got;

	assert_int_equal(hwtdi_filters_ranges(&s->filters, 8, out, &got, NULL),
	    HWTD_OK);
	assert_int_equal(got, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(out[i].start, want[2 * i]);
		assert_int_equal(out[i].end, want[2 * i + 1]);
		assert_int_equal(out[i].mode, HWTDI_FILTER_TRACE);
	}
}

void
check_missing(struct scene *s, size_t n, const char *part)
{
	char text[2000];

	assert_int_equal(hwtdi_filters_missing(&s->filters, text,
			     sizeof(text)),
	    n);
	print_message("%s\n", text);
	assert_non_null(strstr(text, part));
	assert_int_equal(hwtdi_filters_ready(&s->filters), n == 0);
}
