/*
 * Which files names of code come from: debug information of its own, archives,
 * objects.
 */
#include <hwtdecode/hwtdecode.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/compiled_program.h"
#include "support/mapped_trace.h"
#include "support/saved_trace.h"

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
		cp_build(&p, HWTDECODE_TEST_CC, "-g");
		cp_run(&p, "%s", places[i].commands);
		dirs[0] = p.dir.path;
		search.build_id_dirs = dirs;
		search.n_build_id_dirs = places[i].ids ? 1 : 0;
		opts.search = &search;
		trace = cp_trace(&p, NULL);
		s = cp_symbolizer(trace, &opts);
		cp_assert_symbols(s, &p);
		if (!places[i].names)
			cp_assert_lines(s, &p);
		hwtd_symbolizer_close(s);
		/* Not where they must not be looked for. */
		opts.flags = HWTD_SYMBOLIZER_NO_DEBUG_FILES;
		s = cp_symbolizer(trace, &opts);
		if (!places[i].names)
			assert_null(cp_at(s, p.hidden).name);
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
	cp_build(&p, HWTDECODE_TEST_CC, "-g");
	cp_run(&p,
	    "objcopy --only-keep-debug program program.debug &&"
	    " objcopy -S --add-gnu-debuglink=program.debug program &&"
	    " %s -g -O0 -Wl,--build-id -o other program.c &&"
	    " objcopy --only-keep-debug other program.debug",
	    HWTDECODE_TEST_CC);
	trace = cp_trace(&p, NULL);
	s = cp_symbolizer(trace, NULL);
	assert_null(cp_at(s, p.hidden).name);
	assert_int_equal(cp_at(s, p.hidden).n_frames, 0);
	hwtd_symbolizer_close(s);
	hwtd_trace_close(trace);
	temp_dir_remove(&p.dir);
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

		cp_build(&p, HWTDECODE_TEST_CC, "");
		cp_run(&p,
		    "%s -O1 -Wl,--build-id=none -no-pie"
		    " -Wl,-Ttext-segment=0x10000000"
		    " -Wl,-z,noseparate-code -o program program.c",
		    HWTDECODE_TEST_CC);
		cp_ask_nm(&p);
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
			cp_run(&p,
			    "sed -i 's/[+] 7/+ 9/' program.c &&"
			    " %s -O1 -Wl,--build-id=none -no-pie"
			    " -Wl,-Ttext-segment=0x10000000"
			    " -Wl,-z,noseparate-code -o program program.c",
			    HWTDECODE_TEST_CC);
		assert_int_equal(hwtd_trace_open(ctx, saved, NULL, &trace,
				     NULL),
		    HWTD_OK);
		s = cp_symbolizer(trace, NULL);
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

		cp_build(&p, HWTDECODE_TEST_CC, "-g");
		cp_run(&p,
		    "%s -g -O1 -ffunction-sections -c -o program program.c",
		    HWTDECODE_TEST_CC);
		cp_run(&p, "%s", commands[i]);
		p.outer = cp_section_off(&p, ".text.outer");
		p.hidden = cp_section_off(&p, ".text.hidden");
		trace = cp_trace(&p, NULL);
		s = cp_symbolizer(trace, NULL);
		assert_string_equal(cp_at(s, p.outer).name, "outer");
		assert_string_equal(cp_at(s, p.hidden).name, "hidden");
		assert_true(cp_at(s, p.outer).n_frames > 0);
		assert_int_equal(cp_at(s, p.hidden).n_frames, 1);
		assert_int_equal(cp_at(s, p.hidden).frames[0].line,
		    CP_HIDDEN_LINE);
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		temp_dir_remove(&p.dir);
	}
}

/* Where dwz says that what programs share is, and what is done with it then. */
static const struct {
	const char *name;
	const char *commands;
	bool roots, ids, there;
} shared_places[] = {
	{ "$PWD/shared.debug", "true", false, false, true },
	{ "shared.debug", "true", false, false, true },
	{ "/nowhere/.dwz/shared.debug",
	    "mkdir -p nowhere/.dwz && mv shared.debug nowhere/.dwz/", true,
	    false, true },
	{ "/usr/lib/debug/.dwz/shared.debug",
	    "mkdir -p .dwz && mv shared.debug .dwz/", false, true, true },
	{ "/nowhere/shared.debug",
	    "id=$(readelf -n shared.debug | sed -n 's/.*Build ID: //p') &&"
	    " d=$(echo $id | cut -c1-2) && f=$(echo $id | cut -c3-) &&"
	    " mkdir -p .build-id/$d && mv shared.debug .build-id/$d/$f.debug",
	    false, true, true },
	{ "shared.debug", "rm shared.debug", false, false, false },
	/* One of another build. */
	{ "shared.debug", "cp other2 shared.debug", false, false, false },
};

/* Names of what is inlined are in the file that dwz makes of several. */
static void
debug_information_is_shared_with_other_files(void **state)
{
	static const char *const flags[] = { "-gdwarf-4", "-gdwarf-5" };

	(void)state;
	if (system("dwz --version >/dev/null 2>&1") != 0)
		skip();
	for (size_t i = 0;
	     i < 2 * sizeof(shared_places) / sizeof(shared_places[0]); i++) {
		struct hwtd_search search = { .size = sizeof(search) };
		struct hwtd_symbolizer_options opts = { .size = sizeof(opts),
			.search = &search };
		const char *dirs[1], *const flag = flags[i % 2];
		struct hwtd_symbolizer *s;
		struct hwtd_symbol symbol;
		struct hwtd_trace *trace;
		struct program p;

		cp_build(&p, HWTDECODE_TEST_CC, flag);
		cp_run(&p,
		    "cp program.c other.c &&"
		    " %s %s -O1 -fPIE -pie -Wl,--build-id -o other other.c &&"
		    " cp other other2 && dwz -m shared.debug -M %s program"
		    " other && readelf -S program | grep -q altlink",
		    HWTDECODE_TEST_CC, flag, shared_places[i / 2].name);
		cp_run(&p, "%s", shared_places[i / 2].commands);
		dirs[0] = p.dir.path;
		search.roots = search.build_id_dirs = dirs;
		search.n_roots = shared_places[i / 2].roots;
		search.n_build_id_dirs = shared_places[i / 2].ids;
		trace = cp_trace(&p, NULL);
		s = cp_symbolizer(trace, &opts);
		cp_assert_symbols(s, &p);
		symbol = cp_at(s, p.outer);
		if (shared_places[i / 2].there) {
			assert_null(symbol.fault);
			cp_assert_lines(s, &p);
		} else {
			assert_non_null(symbol.fault);
			print_message("%s\n", symbol.fault);
			assert_non_null(strstr(symbol.fault,
			    "names are in shared.debug, which is not there"));
		}
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		temp_dir_remove(&p.dir);
	}
}

static void
a_part_of_split_debug_information_that_is_missing_is_told(void **state)
{
	static const char *const flags[] = { "-gdwarf-4 -gsplit-dwarf",
		"-gdwarf-5 -gsplit-dwarf" };

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct hwtd_symbolizer *s;
		struct hwtd_symbol symbol;
		struct hwtd_trace *trace;
		struct program p;

		cp_build(&p, HWTDECODE_TEST_CC, flags[i]);
		cp_run(&p, "rm *.dwo");
		trace = cp_trace(&p, NULL);
		s = cp_symbolizer(trace, NULL);
		cp_assert_symbols(s, &p);
		symbol = cp_at(s, p.outer);
		assert_non_null(symbol.fault);
		print_message("%s\n", symbol.fault);
		assert_non_null(strstr(symbol.fault, ".dwo is not there"));
		/* Lines are in the program itself. */
		assert_int_equal(symbol.n_frames, 1);
		assert_true(symbol.frames[0].line == CP_INNER_LINE ||
		    symbol.frames[0].line == CP_OUTER_LINE);
		hwtd_symbolizer_close(s);
		hwtd_trace_close(trace);
		temp_dir_remove(&p.dir);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    debug_information_is_found_where_debuggers_find_it),
		cmocka_unit_test(a_file_of_another_build_is_not_used),
		cmocka_unit_test(symbols_of_archives_are_of_the_file_that_ran),
		cmocka_unit_test(code_of_objects_has_lines_too),
		cmocka_unit_test(debug_information_is_shared_with_other_files),
		cmocka_unit_test(
		    a_part_of_split_debug_information_that_is_missing_is_told),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
