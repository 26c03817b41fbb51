/*
 * Files of a system, and filters of them, for tests.
 */
#ifndef TEST_FILTER_SCENE_H
#define TEST_FILTER_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/address_filter.h"
#include "support/code_file.h"
#include "support/failing_allocator.h"
#include "support/temp_dir.h"

/* What a symbol of an ELF file is. */
#define FUNC 0x12
#define LOCAL_FUNC 0x02
#define IFUNC 0x1a
#define OBJECT 0x11

/* Files of a system below a root, and filters. */
struct scene {
	struct temp_dir dir;
	struct failing_allocator allocator;
	struct hwtd_context *ctx;
	const char *roots[1];
	struct hwtdi_image_places places;
	struct hwtdi_filters filters;
};

/* The file "prog", and its parts. */
extern const struct code_area prog_areas[1];
#define N_PROG_SYMBOLS 11
extern const struct code_symbol prog_symbols[N_PROG_SYMBOLS];
extern const struct code_spec prog, two, rtld, module;

void put_file(struct scene *s, const char *name, const struct code_spec *spec);
void open_scene(struct scene *s);
void close_scene(struct scene *s);

void add(struct scene *s, const char *text);

/* A record; it is to be taken without an error. */
bool see(struct scene *s, const struct hwtdi_filter_load *load);
bool see_program(struct scene *s, const char *path, uint64_t bias,
    uint64_t base);
bool see_mapping(struct scene *s, const char *path, uint64_t addr);
bool see_kernel(struct scene *s, const char *path, uint64_t addr);

/* The ranges are these: pairs, both ends inside. */
void check_ranges(struct scene *s, size_t n, const uint64_t *want);

#define CHECK_RANGES(s, ...)                                                  \
	check_ranges(s,                                                       \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t) / 2, \
	    (const uint64_t[]){ __VA_ARGS__ })

/* So many filters are not placed yet, and the text about them has `part`. */
void check_missing(struct scene *s, size_t n, const char *part);

#endif /* TEST_FILTER_SCENE_H */
