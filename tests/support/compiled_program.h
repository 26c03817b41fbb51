/*
 * A small program that a compiler makes for a test, and what is known of it:
 * lines of its source, and what nm(1) says.  Every failure fails the test.
 */
#ifndef TEST_COMPILED_PROGRAM_H
#define TEST_COMPILED_PROGRAM_H

#include <hwtdecode/hwtdecode.h>

#include "support/failing_allocator.h"
#include "support/temp_dir.h"

/* Lines of the functions; "outer" calls "inner", which is inlined. */
#define CP_INNER_LINE 3
#define CP_OUTER_LINE 4
#define CP_HIDDEN_LINE 5

struct program {
	struct temp_dir dir;
	/* "program", of "program.c" beside it. */
	char path[300];
	uint64_t outer, hidden, main;
	uint64_t n_outer;
};

/* Compile with a compiler and more flags. */
void cp_build(struct program *p, const char *cc, const char *flags);

/* Run a command of the shell in its folder. */
void cp_run(const struct program *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Ask again where functions are. */
void cp_ask_nm(struct program *p);

/* Where a section lies in the file, as readelf says. */
size_t cp_section_off(const struct program *p, const char *name);

/* A sealed trace with it as image 0, at 0x10000000; `memory` may be NULL. */
struct hwtd_trace *cp_trace(const struct program *p,
    const struct failing_allocator *memory);
struct hwtd_symbolizer *cp_symbolizer(struct hwtd_trace *trace,
    const struct hwtd_symbolizer_options *opts);

/* What is known of a byte of image 0. */
struct hwtd_symbol cp_at(struct hwtd_symbolizer *s, uint64_t off);

/* Symbols, and lines with what was inlined, are those of the source. */
void cp_assert_symbols(struct hwtd_symbolizer *s, const struct program *p);
void cp_assert_lines(struct hwtd_symbolizer *s, const struct program *p);

#endif /* TEST_COMPILED_PROGRAM_H */
