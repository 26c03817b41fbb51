/*
 * Names of code of files that a compiler makes here: what is expected is in
 * the source, and what nm(1) says.
 */
#include <hwtdecode/hwtdecode.h>

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/mapped_trace.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"

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
#define INNER_LINE 3
#define OUTER_LINE 4
#define HIDDEN_LINE 5

struct program {
	struct temp_dir dir;
	char path[300];
	uint64_t outer, hidden, main;
	uint64_t n_outer;
};

/* Run a command in the folder; its first words are formatted. */
static void run(const struct program *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
run(const struct program *p, const char *fmt, ...)
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
static void
ask_nm(struct program *p)
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

static void
build(struct program *p, const char *flags)
{
	char name[300];

	memset(p, 0, sizeof(*p));
	temp_dir_create(&p->dir);
	write_file(temp_dir_file(&p->dir, "program.c", name), source,
	    sizeof(source) - 1);
	temp_dir_file(&p->dir, "program", p->path);
	run(p, "%s %s -O1 -fPIE -pie -Wl,--build-id -o program program.c",
	    HWTDECODE_TEST_CC, flags);
	ask_nm(p);
}

/* A trace with the program as an image that is mapped everywhere. */
static struct hwtd_trace *
open_trace(const struct program *p, const struct failing_allocator *memory)
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

static struct hwtd_symbolizer *
open_symbolizer(struct hwtd_trace *trace,
    const struct hwtd_symbolizer_options *opts)
{
	struct hwtd_symbolizer *s;

	assert_int_equal(hwtd_symbolizer_open(trace, opts, &s, NULL), HWTD_OK);
	return (s);
}

/* A byte of the only image. */
static struct hwtd_symbol
at(struct hwtd_symbolizer *s, uint64_t off)
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

static void
assert_symbols(struct hwtd_symbolizer *s, const struct program *p)
{
	struct hwtd_symbol symbol = at(s, p->outer + 1);

	assert_string_equal(symbol.name, "outer");
	assert_string_equal(symbol.text, "outer");
	assert_int_equal(symbol.offset, 1);
	assert_int_equal(symbol.symbol_size, p->n_outer);
	assert_int_equal(symbol.symbol_address, p->outer);
	assert_int_equal(symbol.flags, HWTD_SYMBOLF_FILE_OFF);
	assert_int_equal(symbol.image, 0);
	assert_string_equal(symbol.image_name, p->path);
	assert_string_equal(at(s, p->hidden).name, "hidden");
	/* The header of the file is no code. */
	assert_null(at(s, 0).name);
}

/* Somewhere in "outer" code of "inner" stands. */
static void
assert_lines(struct hwtd_symbolizer *s, const struct program *p)
{
	size_t inlined = 0;

	for (uint64_t i = 0; i < p->n_outer; i++) {
		const struct hwtd_symbol symbol = at(s, p->outer + i);
		const struct hwtd_symbol_frame *f = symbol.frames;

		assert_null(symbol.fault);
		assert_true(symbol.n_frames == 1 || symbol.n_frames == 2);
		if (symbol.n_frames == 2) {
			assert_string_equal(f->function, "inner");
			assert_int_equal(f->line, INNER_LINE);
			assert_int_equal(f->flags, HWTD_FRAMEF_INLINED);
			assert_true(ends_with(f->file, "/program.c"));
			inlined++;
			f++;
		}
		assert_string_equal(f->function, "outer");
		assert_int_equal(f->line, OUTER_LINE);
		assert_int_equal(f->flags, 0);
		assert_true(ends_with(f->file, "/program.c"));
		assert_true(strncmp(f->file, p->dir.path,
				strlen(p->dir.path)) == 0);
	}
	assert_true(inlined > 0);
	assert_int_equal(at(s, p->hidden).n_frames, 1);
	assert_int_equal(at(s, p->hidden).frames[0].line, HIDDEN_LINE);
}

static void
all_kinds_of_debug_information_tell_the_same(void **state)
{
	static const char *const flags[] = { "-gdwarf-2", "-gdwarf-3",
		"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz",
		"-gdwarf-4 -gsplit-dwarf", "-gdwarf-5 -gsplit-dwarf",
		"-gdwarf-5 -gdwarf64" };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct hwtd_symbolizer *s;
		struct hwtd_trace *trace;
		struct program p;

		/* Not all compilers have it. */
		if (strstr(flags[i], "64") != NULL &&
		    system(HWTDECODE_TEST_CC " -gdwarf64 -fsyntax-only -xc "
					     "/dev/null 2>/dev/null") != 0)
			continue;
		build(&p, flags[i]);
		trace = open_trace(&p, NULL);
		s = open_symbolizer(trace, NULL);
		hwtd_trace_close(trace);
		assert_symbols(s, &p);
		assert_lines(s, &p);
		hwtd_symbolizer_close(s);
		temp_dir_remove(&p.dir);
	}
}

/* Where debug information may lie, made of "program" with -g. */
static const struct {
	const char *what;
	const char *commands;
	/* Its folder is one of build-ids. */
	bool ids;
	/* Names only. */
	bool names;
} places[] = {
	{ "beside it",
	    "objcopy --only-keep-debug program program.debug &&"
	    " objcopy -S --add-gnu-debuglink=program.debug program",
	    false, false },
	{ "in .debug",
	    "objcopy --only-keep-debug program program.debug &&"
	    " objcopy -S --add-gnu-debuglink=program.debug program &&"
	    " mkdir .debug && mv program.debug .debug/",
	    false, false },
	{ "compressed beside it",
	    "objcopy --only-keep-debug --compress-debug-sections program"
	    " program.debug &&"
	    " objcopy -S --add-gnu-debuglink=program.debug program",
	    false, false },
	{ "by its build-id",
	    "id=$(readelf -n program | sed -n 's/.*Build ID: //p') &&"
	    " d=$(echo $id | cut -c1-2) && f=$(echo $id | cut -c3-) &&"
	    " mkdir -p .build-id/$d &&"
	    " objcopy --only-keep-debug program .build-id/$d/$f.debug &&"
	    " strip program",
	    true, false },
	{ "packed into it",
	    "objcopy -g program mini && xz -k mini && strip program &&"
	    " objcopy --add-section .gnu_debugdata=mini.xz program",
	    false, true },
};

static void
debug_information_is_found_where_debuggers_find_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *dirs[1];
		struct hwtd_search search = { .size = sizeof(search) };
		struct hwtd_symbolizer_options opts = { .size = sizeof(opts) };
		struct hwtd_symbolizer *s;
		struct hwtd_trace *trace;
		struct program p;

		print_message("%s\n", places[i].what);
		build(&p, "-g");
		run(&p, "%s", places[i].commands);
		dirs[0] = p.dir.path;
		search.build_id_dirs = dirs;
		search.n_build_id_dirs = places[i].ids ? 1 : 0;
		opts.search = &search;
		trace = open_trace(&p, NULL);
		s = open_symbolizer(trace, &opts);
		assert_symbols(s, &p);
		if (!places[i].names)
			assert_lines(s, &p);
		hwtd_symbolizer_close(s);
		/* Not where they must not be looked for. */
		opts.flags = HWTD_SYMBOLIZER_NO_DEBUG_FILES;
		s = open_symbolizer(trace, &opts);
		if (!places[i].names)
			assert_null(at(s, p.hidden).name);
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		temp_dir_remove(&p.dir);
	}
}

static void
a_file_of_another_build_is_not_used(void **state)
{
	struct hwtd_symbolizer *s;
	struct hwtd_trace *trace;
	struct program p;

	(void)state;
	build(&p, "-g");
	run(&p,
	    "objcopy --only-keep-debug program program.debug &&"
	    " objcopy -S --add-gnu-debuglink=program.debug program &&"
	    " %s -g -O0 -Wl,--build-id -o other program.c &&"
	    " objcopy --only-keep-debug other program.debug",
	    HWTDECODE_TEST_CC);
	trace = open_trace(&p, NULL);
	s = open_symbolizer(trace, NULL);
	assert_null(at(s, p.hidden).name);
	assert_int_equal(at(s, p.hidden).n_frames, 0);
	hwtd_symbolizer_close(s);
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
}

/* Offsets of stubs by objdump, which names them so too. */
static uint64_t
stub_of_puts(const struct program *p)
{
	char command[600], line[400], name[200];
	uint64_t address, found = 0;
	FILE *dump;

	(void)snprintf(command, sizeof(command), "objdump -d '%s'", p->path);
	dump = popen(command, "r");
	assert_non_null(dump);
	while (fgets(line, sizeof(line), dump) != NULL)
		if (sscanf(line, "%" SCNx64 " <%199[^>]>:", &address, name) ==
			2 &&
		    strcmp(name, "puts@plt") == 0)
			found = address;
	assert_int_equal(pclose(dump), 0);
	return (found);
}

static void
stubs_are_named_after_what_they_call(void **state)
{
	static const char *const flags[] = { "", "-Wl,-z,now",
		"-Wl,-z,lazy -fcf-protection=full", "-Wl,-s" };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct hwtd_symbolizer *s;
		struct hwtd_symbol symbol;
		struct hwtd_trace *trace;
		struct program p;
		uint64_t stub;

		if (strcmp(flags[i], "-Wl,-s") == 0) {
			build(&p, "");
			run(&p, "strip program");
		} else {
			build(&p, flags[i]);
		}
		stub = stub_of_puts(&p);
		if (stub != 0) {
			trace = open_trace(&p, NULL);
			s = open_symbolizer(trace, NULL);
			symbol = at(s, stub + 4);
			assert_non_null(symbol.text);
			assert_string_equal(symbol.text, "puts@plt");
			assert_string_equal(symbol.name, "puts");
			assert_int_equal(symbol.offset, 4);
			assert_true(symbol.flags & HWTD_SYMBOLF_PLT);
			hwtd_symbolizer_close(s);
			hwtd_trace_close(trace);
		}
		temp_dir_remove(&p.dir);
	}
}

static void
places_are_sections_and_processes_too(void **state)
{
	struct hwtd_where where[3] = { { .flags = HWTD_WHERE_SECTION },
		{ .flags = HWTD_WHERE_PID, .pid = 9 }, { .flags = 0 } };
	struct hwtd_symbol symbols[3];
	struct hwtd_symbolizer *s;
	struct hwtd_trace *trace;
	struct program p;

	(void)state;
	build(&p, "");
	trace = open_trace(&p, NULL);
	s = open_symbolizer(trace, NULL);
	for (size_t i = 0; i < 3; i++)
		where[i].address = 0x10000000 + p.main + i;
	assert_int_equal(hwtd_symbolize(s, where, sizeof(where[0]), 3, symbols,
			     sizeof(symbols[0]), NULL),
	    HWTD_OK);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(symbols[i].name, "main");
		assert_int_equal(symbols[i].offset, i);
		assert_int_equal(symbols[i].file_off, p.main + i);
	}
	/* Nothing is mapped there. */
	where[0] = (struct hwtd_where){ .address = 0x500 };
	assert_int_equal(hwtd_symbolize(s, where, sizeof(where[0]), 1, symbols,
			     sizeof(symbols[0]), NULL),
	    HWTD_OK);
	assert_null(symbols[0].name);
	assert_int_equal(symbols[0].image, HWTD_NO_ID);
	assert_int_equal(symbols[0].file_off, 0x500);
	hwtd_symbolizer_close(s);
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
}

static void
names_of_processes_depend_on_the_moment(void **state)
{
	static const uint8_t code[0x100] = { 0x90 };
	struct hwtd_where where = { .flags = HWTD_WHERE_PID, .pid = 5 };
	struct hwtd_trace *trace = mr_two_images(code, code, sizeof(code));
	struct hwtd_record r = mr_record(HWTD_REC_CODE, 5, 0x7000, 0x10);
	struct hwtd_symbolizer *s;
	struct hwtd_symbol symbol;

	(void)state;
	/* Code of a runtime that moves: another name at the same address. */
	r.flags |= HWTD_RECF_FILE_OFF | HWTD_RECF_JIT;
	r.image = 0;
	r.name = "_ZN2js5firstEv";
	mr_time(&r, 10);
	mr_add(trace, &r);
	r.file_off = 0x20;
	r.name = "second";
	mr_time(&r, 20);
	mr_add(trace, &r);
	/* Nothing tells which of these was first. */
	mr_mmap(trace, 5, 0x9000, 0x100, 0);
	mr_mmap(trace, 5, 0x9000, 0x100, 1);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	s = open_symbolizer(trace, NULL);
	where.address = 0x7004;
	where.flags |= HWTD_WHERE_TIME;
	where.time_ns = 15;
	assert_int_equal(hwtd_symbolize(s, &where, sizeof(where), 1, &symbol,
			     sizeof(symbol), NULL),
	    HWTD_OK);
	assert_string_equal(symbol.name, "_ZN2js5firstEv");
	assert_string_equal(symbol.text, "js::first()");
	assert_int_equal(symbol.offset, 4);
	assert_true(symbol.flags & HWTD_SYMBOLF_LISTED);
	assert_true(symbol.flags & HWTD_SYMBOLF_DEMANGLED);
	where.time_ns = 25;
	assert_int_equal(hwtd_symbolize(s, &where, sizeof(where), 1, &symbol,
			     sizeof(symbol), NULL),
	    HWTD_OK);
	assert_string_equal(symbol.name, "second");
	where = (struct hwtd_where){ .flags = HWTD_WHERE_PID |
		    HWTD_WHERE_OFFSET,
		.pid = 5,
		.address = 0x9010,
		.stream_off = 50 };
	assert_int_equal(hwtd_symbolize(s, &where, sizeof(where), 1, &symbol,
			     sizeof(symbol), NULL),
	    HWTD_OK);
	assert_string_equal(symbol.image_name, "b");
	assert_true(symbol.flags & HWTD_SYMBOLF_AMBIGUOUS);
	hwtd_symbolizer_close(s);
	hwtd_trace_close(trace);
}

/* An archive of a program, which lies under its path, or one that differs. */
static void
symbols_of_archives_are_of_the_file_that_ran(void **state)
{
	(void)state;
	for (int other = 0; other < 2; other++) {
		struct hwtd_trace_options opts = { .size = sizeof(opts) };
		struct hwtd_where where = { .flags = HWTD_WHERE_PID,
			.pid = 5 };
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x10000000,
		    0);
		struct hwtd_symbolizer *s;
		struct hwtd_symbol symbol;
		struct hwtd_context *ctx;
		struct hwtd_trace *trace;
		char saved[300];
		struct program p;

		build(&p, "");
		run(&p,
		    "%s -O1 -Wl,--build-id=none -no-pie"
		    " -Wl,-Ttext-segment=0x10000000"
		    " -Wl,-z,noseparate-code -o program program.c",
		    HWTDECODE_TEST_CC);
		ask_nm(&p);
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_create(ctx, &opts, &trace, NULL),
		    HWTD_OK);
		r.flags |= HWTD_RECF_FILE_OFF;
		r.len = 0x1000;
		r.flags |= HWTD_RECF_LEN;
		r.name = p.path;
		mr_add(trace, &r);
		assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
		st_save(trace, temp_dir_file(&p.dir, "saved.hwt", saved),
		    HWTD_SAVE_IMAGES);
		hwtd_trace_close(trace);
		if (other != 0)
			run(&p,
			    "sed -i 's/[+] 7/+ 9/' program.c &&"
			    " %s -O1 -Wl,--build-id=none -no-pie"
			    " -Wl,-Ttext-segment=0x10000000"
			    " -Wl,-z,noseparate-code -o program program.c",
			    HWTDECODE_TEST_CC);
		assert_int_equal(hwtd_trace_open(ctx, saved, NULL, &trace,
				     NULL),
		    HWTD_OK);
		s = open_symbolizer(trace, NULL);
		where.address = p.outer;
		assert_int_equal(hwtd_symbolize(s, &where, sizeof(where), 1,
				     &symbol, sizeof(symbol), NULL),
		    HWTD_OK);
		if (other != 0) {
			assert_null(symbol.name);
			assert_non_null(symbol.fault);
			assert_non_null(strstr(symbol.fault,
			    "its code is not that of the trace"));
		} else {
			assert_null(symbol.fault);
			assert_string_equal(symbol.name, "outer");
		}
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		hwtd_context_destroy(ctx);
		temp_dir_remove(&p.dir);
	}
}

static void
wrong_arguments_are_told(void **state)
{
	static const struct {
		struct hwtd_where where;
		int rc;
	} wrong[] = {
		{ { .flags = 0x40 }, HWTD_E_INVALID },
		{ { .flags = HWTD_WHERE_SECTION | HWTD_WHERE_IMAGE },
		    HWTD_E_INVALID },
		{ { .flags = HWTD_WHERE_SECTION, .section = 99 },
		    HWTD_E_NOT_FOUND },
		{ { .flags = HWTD_WHERE_IMAGE, .image = 99 },
		    HWTD_E_NOT_FOUND },
		{ { .flags = HWTD_WHERE_CONTEXT, .context = 99 },
		    HWTD_E_NOT_FOUND },
		{ { .flags = HWTD_WHERE_OFFSET, .stream = 99 },
		    HWTD_E_NOT_FOUND },
	};
	const struct hwtd_symbolizer_options bad = { .size = sizeof(bad),
		.flags = 0x80 };
	struct hwtd_symbolizer *s = NULL;
	struct hwtd_trace *trace, *open;
	struct hwtd_context *ctx;
	struct hwtd_symbol symbol;
	struct program p;
	char text[64];

	(void)state;
	build(&p, "");
	trace = open_trace(&p, NULL);
	assert_int_equal(hwtd_symbolizer_open(NULL, NULL, &s, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_symbolizer_open(trace, &bad, &s, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(ctx, NULL, &open, NULL), HWTD_OK);
	assert_int_equal(hwtd_symbolizer_open(open, NULL, &s, NULL),
	    HWTD_E_STATE);
	hwtd_trace_close(open);
	hwtd_context_destroy(ctx);
	s = open_symbolizer(trace, NULL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(hwtd_symbolize(s, &wrong[i].where,
				     sizeof(wrong[i].where), 1, &symbol,
				     sizeof(symbol), NULL),
		    wrong[i].rc);
	assert_int_equal(hwtd_symbolize(s, NULL, 48, 1, &symbol,
			     sizeof(symbol), NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_symbolize(s, &wrong[0].where, 8, 1, &symbol,
			     sizeof(symbol), NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_symbolize(s, &wrong[0].where,
			     sizeof(wrong[0].where), 1, &symbol, 12, NULL),
	    HWTD_E_INVALID);
	hwtd_symbolizer_close(s);
	hwtd_symbolizer_close(NULL);
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
	assert_int_equal(hwtd_symbol_text("_Z3foov", text, sizeof(text)),
	    HWTD_OK);
	assert_string_equal(text, "foo()");
	assert_int_equal(hwtd_symbol_text("foo", text, sizeof(text)),
	    HWTD_E_NOT_FOUND);
	assert_int_equal(hwtd_symbol_text("_Z3foov", text, 0), HWTD_E_INVALID);
}

/* Where a section lies in the file, as readelf says. */
static size_t
section_off(const struct program *p, const char *name)
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

static void
damage_is_told_with_its_section_and_offset(void **state)
{
	static const struct {
		const char *section;
		size_t at;
		uint8_t bytes[4];
		size_t n;
		const char *fault;
	} damages[] = {
		/* Length of the first unit, its version, its abbreviations. */
		{ ".debug_info", 0, { 0xff, 0xff, 0xff, 0x7f }, 4,
		    ".debug_info+0x0: a unit of 2147483647 bytes" },
		{ ".debug_info", 4, { 99, 0 }, 2,
		    ".debug_info+0x0: a unit of DWARF version 99" },
		{ ".debug_info", 8, { 0xff, 0xff, 0xff, 0x7f }, 4,
		    ".debug_info+0xc: abbreviation " },
		/* Version of the lines. */
		{ ".debug_line", 4, { 77, 0 }, 2, ".debug_line+0x" },
		/* Behind the header of a compressed section. */
		{ ".debug_info", 26, { 0xff, 0xff, 0xff, 0xff }, 4,
		    ".debug_info+0x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct hwtd_symbolizer *s;
		struct hwtd_symbol symbol;
		struct hwtd_trace *trace;
		struct program p;

		build(&p, damages[i].at == 26 ? "-gdwarf-5 -gz" : "-gdwarf-5");
		poke_file(p.path,
		    section_off(&p, damages[i].section) + damages[i].at,
		    damages[i].bytes, damages[i].n);
		trace = open_trace(&p, NULL);
		s = open_symbolizer(trace, NULL);
		symbol = at(s, p.outer);
		/* The symbol is right in spite of it. */
		assert_string_equal(symbol.name, "outer");
		assert_non_null(symbol.fault);
		print_message("%s\n", symbol.fault);
		assert_non_null(strstr(symbol.fault, damages[i].fault));
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		temp_dir_remove(&p.dir);
	}
}

/* As kernel modules are: places in the file stand for addresses. */
static void
code_of_objects_has_lines_too(void **state)
{
	static const char *const commands[] = { "true",
		"objcopy --only-keep-debug program program.debug &&"
		" objcopy -g --add-gnu-debuglink=program.debug program" };

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct hwtd_symbolizer *s;
		struct hwtd_trace *trace;
		struct program p;

		build(&p, "-g");
		run(&p,
		    "%s -g -O1 -ffunction-sections -c -o program program.c",
		    HWTDECODE_TEST_CC);
		run(&p, "%s", commands[i]);
		p.outer = section_off(&p, ".text.outer");
		p.hidden = section_off(&p, ".text.hidden");
		trace = open_trace(&p, NULL);
		s = open_symbolizer(trace, NULL);
		assert_string_equal(at(s, p.outer).name, "outer");
		assert_string_equal(at(s, p.hidden).name, "hidden");
		assert_true(at(s, p.outer).n_frames > 0);
		assert_int_equal(at(s, p.hidden).n_frames, 1);
		assert_int_equal(at(s, p.hidden).frames[0].line, HIDDEN_LINE);
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		temp_dir_remove(&p.dir);
	}
}

struct sharing {
	struct hwtd_symbolizer *s;
	const struct program *p;
	size_t wrong;
};

static void *
ask_often(void *arg)
{
	struct sharing *share = arg;
	const struct hwtd_where where = { .flags = HWTD_WHERE_IMAGE,
		.address = share->p->outer };

	for (int i = 0; i < 200; i++) {
		struct hwtd_symbol symbol;

		if (hwtd_symbolize(share->s, &where, sizeof(where), 1, &symbol,
			sizeof(symbol), NULL) != HWTD_OK ||
		    symbol.n_frames == 0 || strcmp(symbol.name, "outer") != 0)
			share->wrong++;
	}
	return (NULL);
}

static void
threads_share_a_symbolizer(void **state)
{
	struct sharing shares[4];
	struct hwtd_symbolizer *s;
	pthread_t threads[4];
	struct hwtd_trace *trace;
	struct program p;

	(void)state;
	build(&p, "-g");
	trace = open_trace(&p, NULL);
	s = open_symbolizer(trace, NULL);
	for (size_t i = 0; i < 4; i++) {
		shares[i] = (struct sharing){ s, &p, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often,
				     &shares[i]),
		    0);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(shares[i].wrong, 0);
	}
	hwtd_symbolizer_close(s);
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
}

static void
refused_memory_is_told_and_nothing_leaks(void **state)
{
	struct failing_allocator memory;
	struct hwtd_trace *trace;
	struct program p;
	bool done = false;
	int64_t before;

	(void)state;
	build(&p, "-gdwarf-5");
	failing_allocator_init(&memory);
	trace = open_trace(&p, &memory);
	before = atomic_load(&memory.blocks);
	for (uint64_t n = 1; !done; n++) {
		const struct hwtd_where where = { .flags = HWTD_WHERE_IMAGE,
			.address = p.outer };
		struct hwtd_symbolizer *s = NULL;
		struct hwtd_symbol symbol;
		int rc;

		failing_allocator_arm(&memory, n, false);
		rc = hwtd_symbolizer_open(trace, NULL, &s, NULL);
		if (rc == HWTD_OK)
			rc = hwtd_symbolize(s, &where, sizeof(where), 1,
			    &symbol, sizeof(symbol), NULL);
		failing_allocator_arm(&memory, 0, false);
		if (rc == HWTD_OK) {
			assert_string_equal(symbol.name, "outer");
			assert_true(symbol.n_frames > 0);
			done = true;
		} else {
			assert_int_equal(rc, HWTD_E_NOMEM);
			/* The same works when there is memory again. */
			if (s != NULL)
				assert_string_equal(at(s, p.outer).name,
				    "outer");
		}
		hwtd_symbolizer_close(s);
		assert_int_equal(atomic_load(&memory.blocks), before);
	}
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_of_debug_information_tell_the_same),
		cmocka_unit_test(
		    debug_information_is_found_where_debuggers_find_it),
		cmocka_unit_test(a_file_of_another_build_is_not_used),
		cmocka_unit_test(stubs_are_named_after_what_they_call),
		cmocka_unit_test(places_are_sections_and_processes_too),
		cmocka_unit_test(names_of_processes_depend_on_the_moment),
		cmocka_unit_test(symbols_of_archives_are_of_the_file_that_ran),
		cmocka_unit_test(wrong_arguments_are_told),
		cmocka_unit_test(damage_is_told_with_its_section_and_offset),
		cmocka_unit_test(code_of_objects_has_lines_too),
		cmocka_unit_test(threads_share_a_symbolizer),
		cmocka_unit_test(refused_memory_is_told_and_nothing_leaks),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
