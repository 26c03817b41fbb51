/*
 * A small program that a compiler makes for a test, and what is known of it.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/compiled_program.h"

/* Lines count from 1; "outer" calls "inner", which is inlined, on line 4. */
static const char source[] =
    "#include <stdio.h>\n"
    "static inline __attribute__((always_inline)) int inner(volatile int *p)\n"
    "{ return *p + 7; }\n"
    "__attribute__((noinline)) int outer(volatile int *p) { return inner(p); "
    "}\n"
    "static __attribute__((noinline)) int hidden(int c) { return puts(\"x\") "
    "+ c; }\n"
    "int main(int c, char **v) { (void)v; return outer(&c) + hidden(c); }\n";

void
cp_run(const struct program *p, const char *fmt, ...)
{
	char command[2048];
	va_list ap;
	int n;

	n = snprintf(command, sizeof(command), "cd '%s' && ", p->dir.path);
	va_start(ap, fmt);
	(void)vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, ap);
	va_end(ap);
	print_message("%s\n", command);
	assert_int_equal(system(command), 0);
}

/* Addresses are offsets in the file, as linkers lay code out. */
void
cp_ask_nm(struct program *p)
{
	char command[600], line[400], name[200], type;
	uint64_t address, size;
	FILE *nm;

	(void)snprintf(command, sizeof(command), "nm -S '%s'", p->path);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm) != NULL) {
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %199s", &address,
			&size, &type, name) != 4)
			continue;
		if (strcmp(name, "outer") == 0) {
			p->outer = address;
			p->n_outer = size;
		} else if (strcmp(name, "hidden") == 0) {
			p->hidden = address;
		} else if (strcmp(name, "main") == 0) {
			p->main = address;
		}
	}
	assert_int_equal(pclose(nm), 0);
	assert_true(p->outer != 0 && p->hidden != 0 && p->main != 0);
}

void
cp_build(struct program *p, const char *cc, const char *flags)
{
	char name[300];

	memset(p, 0, sizeof(*p));
	temp_dir_create(&p->dir);
	write_file(temp_dir_file(&p->dir, "program.c", name), source,
	    sizeof(source) - 1);
	temp_dir_file(&p->dir, "program", p->path);
	cp_run(p, "%s %s -O1 -fPIE -pie -Wl,--build-id -o program program.c",
	    cc, flags);
	cp_ask_nm(p);
}

/* A trace with the program as an image that is mapped everywhere. */
struct hwtd_trace *
cp_trace(const struct program *p, const struct failing_allocator *memory)
{
	const struct hwtd_image_desc image = { .size = sizeof(image),
		.path = p->path,
		.flags = HWTD_IMAGEF_ADDRESS,
		.address = 0x10000000 };
	const struct hwtd_context_options opts = { .size = sizeof(opts),
		.allocator = memory != NULL ? &memory->allocator : NULL };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;

	assert_int_equal(hwtd_context_create(&opts, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &trace, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_image(trace, &image, NULL, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	hwtd_context_destroy(ctx);
	return (trace);
}

struct hwtd_symbolizer *
cp_symbolizer(struct hwtd_trace *trace,
    const struct hwtd_symbolizer_options *opts)
{
	struct hwtd_symbolizer *s;

	assert_int_equal(hwtd_symbolizer_open(trace, opts, &s, NULL), HWTD_OK);
	return (s);
}

/* A byte of the only image. */
struct hwtd_symbol
cp_at(struct hwtd_symbolizer *s, uint64_t off)
{
	const struct hwtd_where where = { .flags = HWTD_WHERE_IMAGE,
		.address = off };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_symbol symbol;

	assert_int_equal(hwtd_symbolize(s, &where, sizeof(where), 1, &symbol,
			     sizeof(symbol), &err),
	    HWTD_OK);
	return (symbol);
}

static bool
ends_with(const char *text, const char *end)
{
	const size_t n = text != NULL ? strlen(text) : 0;

	return (n >= strlen(end) && strcmp(text + n - strlen(end), end) == 0);
}

void
cp_assert_symbols(struct hwtd_symbolizer *s, const struct program *p)
{
	struct hwtd_symbol symbol = cp_at(s, p->outer + 1);

	assert_string_equal(symbol.name, "outer");
	assert_string_equal(symbol.text, "outer");
	assert_int_equal(symbol.offset, 1);
	assert_int_equal(symbol.symbol_size, p->n_outer);
	assert_int_equal(symbol.symbol_address, p->outer);
	assert_int_equal(symbol.flags, HWTD_SYMBOLF_FILE_OFF);
	assert_int_equal(symbol.image, 0);
	assert_string_equal(symbol.image_name, p->path);
	assert_string_equal(cp_at(s, p->hidden).name, "hidden");
	/* The header of the file is no code. */
	assert_null(cp_at(s, 0).name);
}

/* Somewhere in "outer" code of "inner" stands. */
void
cp_assert_lines(struct hwtd_symbolizer *s, const struct program *p)
{
	size_t inlined = 0;

	for (uint64_t i = 0; i < p->n_outer; i++) {
		const struct hwtd_symbol symbol = cp_at(s, p->outer + i);
		const struct hwtd_symbol_frame *f = symbol.frames;

		assert_null(symbol.fault);
		assert_true(symbol.n_frames == 1 || symbol.n_frames == 2);
		if (symbol.n_frames == 2) {
			assert_string_equal(f->function, "inner");
			assert_int_equal(f->line, CP_INNER_LINE);
			assert_int_equal(f->flags, HWTD_FRAMEF_INLINED);
			assert_true(ends_with(f->file, "/program.c"));
			inlined++;
			f++;
		}
		assert_string_equal(f->function, "outer");
		assert_int_equal(f->line, CP_OUTER_LINE);
		assert_int_equal(f->flags, 0);
		assert_true(ends_with(f->file, "/program.c"));
		assert_true(strncmp(f->file, p->dir.path,
				strlen(p->dir.path)) == 0);
	}
	assert_true(inlined > 0);
	assert_int_equal(cp_at(s, p->hidden).n_frames, 1);
	assert_int_equal(cp_at(s, p->hidden).frames[0].line, CP_HIDDEN_LINE);
}

/* Where a section lies in the file, as readelf says. */
size_t
cp_section_off(const struct program *p, const char *name)
{
	char command[600];
	unsigned long off = 0;
	FILE *f;

	(void)snprintf(command, sizeof(command),
	    "readelf -SW '%s' | awk '$2 == \"%s\" || $3 == \"%s\" "
	    "{ print ($2 == \"%s\" ? $5 : $6) }'",
	    p->path, name, name, name);
	f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx", &off), 1);
	assert_int_equal(pclose(f), 0);
	return (off);
}
