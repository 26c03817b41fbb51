/*
 * Names of code that is in no file: which of them a sample gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/memory/memory_code.h"
#include "support/failing_allocator.h"
#include "support/mapped_trace.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_model.h"
#include "trace/trace_names.h"

static const char perf_map[] = "7000 100 jitted\n"
			       "9000 100 also in a record\n"
			       "broken\n";
static const char kallsyms[] = "ffffffff81000000 T do_work\n"
			       "ffffffff81000100 T do_more\n"
			       "ffffffffc0000000 t in_module\t[some]\n";

static const uint8_t code[0x100] = { 0x90 };

/* A record of code in image 0, as a runtime tells it. */
static void
add_code(struct hwtd_trace *trace, uint64_t time, uint64_t addr, uint64_t off,
    const char *name)
{
	struct hwtd_record r = mr_record(HWTD_REC_CODE, 5, addr, 0x10);

	r.flags |= HWTD_RECF_FILE_OFF | HWTD_RECF_JIT;
	r.image = 0;
	r.file_off = off;
	r.name = name;
	mr_time(&r, time);
	mr_add(trace, &r);
}

static int
fill(struct hwtd_trace *trace, struct hwtd_error *err)
{
	int rc;

	rc = hwtdi_trace_add_perf_map(trace, 5, "perf-5.map", perf_map,
	    sizeof(perf_map) - 1, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_add_perf_map(trace, 6, "perf-6.map",
		    "7000 8 six\n", 11, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_add_kallsyms(trace, HWTD_NO_ID, "kallsyms",
		    kallsyms, sizeof(kallsyms) - 1, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_add_kallsyms(trace, 3, "guest",
		    "ffffffff81000000 T guest\n", 25, err);
	if (rc == HWTD_OK)
		rc = hwtdi_trace_add_name(trace, HWTD_NO_ID, HWTD_NO_ID,
		    0xffffffffc1000000, 0x10, "bpf_prog_x", err);
	return (rc);
}

/* Where an address is: image, symbol and byte of it; NULL: none. */
static void
assert_place(struct hwtd_trace *trace, uint32_t pid, uint64_t time,
    uint64_t pc, const char *image, const char *symbol, uint64_t off)
{
	const struct hwtd_position at = mr_at_time(time);
	struct hwtdi_text_pool names = { 0 };
	struct hwtd_context *ctx = hwtdi_trace_library(trace);
	struct hwtdi_memory_place place;
	struct hwtdi_memory_code c;
	const char *got;

	assert_int_equal(hwtdi_memory_code_init(&c, trace, NULL), HWTD_OK);
	assert_int_equal(hwtdi_memory_code_find(&c, &names, pid, &at, pc,
			     &place, NULL),
	    HWTD_OK);
	got = hwtdi_text_pool_get(&names, place.symbol);
	print_message("%#llx: %s\n", (unsigned long long)pc,
	    got != NULL ? got : "-");
	assert_int_equal(got != NULL, symbol != NULL);
	if (symbol != NULL) {
		assert_string_equal(got, symbol);
		assert_int_equal(place.symbol_off, off);
	}
	got = hwtdi_text_pool_get(&names, place.image);
	assert_int_equal(got != NULL, image != NULL);
	if (image != NULL)
		assert_string_equal(got, image);
	hwtdi_memory_code_fini(&c);
	hwtdi_text_pool_fini(&names, ctx);
}

static void
lists_name_code_of_their_process_and_kernel(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x7000, 0x1000);

	(void)state;
	r.name = "//anon";
	r.flags |= HWTD_RECF_FILE_OFF;
	mr_add(trace, &r);
	assert_int_equal(fill(trace, NULL), HWTD_OK);
	(void)mt_seal(trace);
	assert_place(trace, 5, 0, 0x7010, "//anon", "jitted", 0x10);
	assert_place(trace, 5, 0, 0x7100, "//anon", NULL, 0);
	assert_place(trace, 6, 0, 0x7007, NULL, "six", 7);
	assert_place(trace, 7, 0, 0x7007, NULL, NULL, 0);
	assert_place(trace, HWTD_NO_ID, 0, 0x7007, "//anon", NULL, 0);
	for (uint32_t pid = 5; pid < 8; pid++)
		assert_place(trace, pid, 0, 0xffffffff81000101, NULL,
		    "do_more", 1);
	assert_place(trace, HWTD_NO_ID, 0, 0xffffffffc0000008, "[some]",
	    "in_module", 8);
	assert_place(trace, 5, 0, 0xffffffffc100000f, NULL, "bpf_prog_x", 0xf);
	assert_place(trace, 5, 0, 0xffffffffc1000010, NULL, NULL, 0);
	hwtd_trace_close(trace);
}

/* The same place has other code later, and code moves. */
static void
records_name_their_code(void **state)
{
	struct hwtd_trace *trace = mt_create();
	struct temp_dir dir;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	assert_int_equal(mr_image(trace, "jit-5.dump", code, sizeof(code)), 0);
	add_code(trace, 10, 0x9000, 0, "first");
	add_code(trace, 20, 0x9000, 0x10, "second");
	add_code(trace, 30, 0xa000, 0, "first");
	add_code(trace, 30, 0xb000, 0x20, NULL);
	(void)fill(trace, NULL);
	(void)mt_seal(trace);
	st_save(trace, temp_dir_file(&dir, "a.hwt", path), HWTD_SAVE_IMAGES);
	for (int again = 0; again < 2; again++) {
		assert_place(trace, 5, 15, 0x9004, "jit-5.dump", "first", 4);
		assert_place(trace, 5, 25, 0x900f, "jit-5.dump", "second",
		    0xf);
		assert_place(trace, 5, 35, 0xa004, "jit-5.dump", "first", 4);
		assert_place(trace, 5, 35, 0xb004, "jit-5.dump", NULL, 0);
		/* What records tell is saved, lists are not. */
		assert_place(trace, 5, 35, 0x9010, NULL,
		    again ? NULL : "also in a record", 0x10);
		hwtd_trace_close(trace);
		if (!again)
			trace = st_open(path, dir.path);
	}
	temp_dir_remove(&dir);
}

static void
failed_allocations_are_no_memory(void **state)
{
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	int rc = HWTD_E_NOMEM;

	(void)state;
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtd_trace *trace = mt_create_in(ctx);
		struct hwtd_error err = { .size = sizeof(err) };

		assert_int_equal(mr_image(trace, "jit-5.dump", code,
				     sizeof(code)),
		    0);
		add_code(trace, 10, 0x9000, 0, "first");
		failing_allocator_arm(&f, n, false);
		rc = fill(trace, &err);
		if (rc == HWTD_OK)
			rc = hwtd_trace_seal(trace, &err);
		failing_allocator_arm(&f, 0, false);
		if (rc != HWTD_OK) {
			assert_int_equal(rc, HWTD_E_NOMEM);
			/* It can be tried again. */
			if (hwtd_trace_seal(trace, &err) == HWTD_OK)
				assert_place(trace, 5, 15, 0x9004,
				    "jit-5.dump", "first", 4);
		}
		hwtd_trace_close(trace);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_name_code_of_their_process_and_kernel),
		cmocka_unit_test(records_name_their_code),
		cmocka_unit_test(failed_allocations_are_no_memory),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
