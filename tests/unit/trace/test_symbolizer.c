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

#include "support/compiled_program.h"
#include "support/mapped_trace.h"

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
		cp_build(&p, HWTDECODE_TEST_CC, flags[i]);
		trace = cp_trace(&p, NULL);
		s = cp_symbolizer(trace, NULL);
		hwtd_trace_close(trace);
		cp_assert_symbols(s, &p);
		cp_assert_lines(s, &p);
		hwtd_symbolizer_close(s);
		temp_dir_remove(&p.dir);
	}
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
			cp_build(&p, HWTDECODE_TEST_CC, "");
			cp_run(&p, "strip program");
		} else {
			cp_build(&p, HWTDECODE_TEST_CC, flags[i]);
		}
		stub = stub_of_puts(&p);
		if (stub != 0) {
			trace = cp_trace(&p, NULL);
			s = cp_symbolizer(trace, NULL);
			symbol = cp_at(s, stub + 4);
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

/* Where the calls of a function lead to, as objdump says it. */
static size_t
targets_of(const struct program *p, const char *function, uint64_t *at,
    size_t cap)
{
	char command[512], line[512];
	uint64_t target;
	const char *call;
	bool inside = false;
	size_t n = 0;
	FILE *dump;

	(void)snprintf(command, sizeof(command), "objdump -d %s", p->path);
	dump = popen(command, "r");
	assert_non_null(dump);
	while (fgets(line, sizeof(line), dump) != NULL) {
		if (line[0] != ' ')
			inside = strstr(line, function) != NULL;
		call = strstr(line, "call");
		if (inside && call != NULL && n < cap &&
		    sscanf(call, "%*s %" SCNx64, &target) == 1)
			at[n++] = target;
	}
	assert_int_equal(pclose(dump), 0);
	return (n);
}

/* They have 8 bytes: each of them is one of its own. */
static void
stubs_of_a_program_without_dynamic_linking_have_their_own_names(void **state)
{
	static const char *const want[] = { "one@plt", "two@plt",
		"three@plt" };
	uint64_t stubs[3];
	struct hwtd_symbolizer *s;
	struct hwtd_trace *trace;
	struct program p;

	(void)state;
#if defined(__x86_64__)
	cp_build(&p, HWTDECODE_TEST_CC, "-no-pie");
	cp_run(&p,
	    "printf '#define F(n) static int n##_(void) { return 1; } "
	    "static void *find_##n(void) { return n##_; } "
	    "int n(void) __attribute__((ifunc(\"find_\" #n)));\\n"
	    "F(one) F(two) F(three)\\n"
	    "int main(void) { int n = one(); n += two(); n += three(); return "
	    "n; }\\n' "
	    "> stubs.c && %s -O1 -static -nostdlib -no-pie -fno-pie "
	    "-Wl,-emain "
	    "-o program stubs.c",
	    HWTDECODE_TEST_CC);
	assert_int_equal(targets_of(&p, "<main>", stubs, 3), 3);
	trace = cp_trace(&p, NULL);
	s = cp_symbolizer(trace, NULL);
	for (size_t i = 0; i < 3; i++) {
		struct hwtd_symbol symbol = cp_at(s, stubs[i] - 0x400000);

		print_message("stub at %#" PRIx64 "\n", stubs[i]);
		assert_non_null(symbol.text);
		assert_string_equal(symbol.text, want[i]);
		assert_int_equal(symbol.offset, 0);
	}
	hwtd_symbolizer_close(s);
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
#else
	(void)want;
	(void)stubs;
	skip();
#endif
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
	cp_build(&p, HWTDECODE_TEST_CC, "");
	trace = cp_trace(&p, NULL);
	s = cp_symbolizer(trace, NULL);
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
	s = cp_symbolizer(trace, NULL);
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
	cp_build(&p, HWTDECODE_TEST_CC, "");
	trace = cp_trace(&p, NULL);
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
	s = cp_symbolizer(trace, NULL);
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

		cp_build(&p, HWTDECODE_TEST_CC,
		    damages[i].at == 26 ? "-gdwarf-5 -gz" : "-gdwarf-5");
		poke_file(p.path,
		    cp_section_off(&p, damages[i].section) + damages[i].at,
		    damages[i].bytes, damages[i].n);
		trace = cp_trace(&p, NULL);
		s = cp_symbolizer(trace, NULL);
		symbol = cp_at(s, p.outer);
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
	cp_build(&p, HWTDECODE_TEST_CC, "-g");
	trace = cp_trace(&p, NULL);
	s = cp_symbolizer(trace, NULL);
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
	cp_build(&p, HWTDECODE_TEST_CC, "-gdwarf-5");
	failing_allocator_init(&memory);
	trace = cp_trace(&p, &memory);
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
				assert_string_equal(cp_at(s, p.outer).name,
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
		cmocka_unit_test(stubs_are_named_after_what_they_call),
		cmocka_unit_test(
		    stubs_of_a_program_without_dynamic_linking_have_their_own_names),
		cmocka_unit_test(places_are_sections_and_processes_too),
		cmocka_unit_test(names_of_processes_depend_on_the_moment),
		cmocka_unit_test(wrong_arguments_are_told),
		cmocka_unit_test(damage_is_told_with_its_section_and_offset),
		cmocka_unit_test(threads_share_a_symbolizer),
		cmocka_unit_test(refused_memory_is_told_and_nothing_leaks),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
