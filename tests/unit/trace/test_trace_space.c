/*
 * Records become address spaces: what lies where, when, and in which process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/chosen_key.h"
#include "support/failing_allocator.h"
#include "support/mapped_trace.h"
#include "support/temp_dir.h"

static const uint8_t code_a[0x1000] = { 0x90 };
static const uint8_t code_b[0x1000] = { 0xcc };

/* What hwt(4) writes: no times, write positions of the buffer in between. */
static void
records_without_time_hold_from_the_buffer_position_before_them(void **state)
{
	const struct hwtd_position early = mr_at_byte(0, 10);
	const struct hwtd_position between = mr_at_byte(0, 60);
	const struct hwtd_position late = mr_at_byte(0, 80);
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));

	(void)state;
	mr_mmap(trace, 5, 0x1000, 0x1000, 0);
	mr_buffer(trace, 0, 50);
	mr_mmap(trace, 5, 0x1000, 0x1000, 1);
	mr_buffer(trace, 0, 80);
	mr_mmap(trace, 5, 0x3000, 0x1000, 1);
	(void)mt_seal(trace);
	/* Nothing or "a": of what can be mapped there is one. */
	mr_assert(trace, 5, &early, 0x1800, "a", 0x800);
	mr_assert(trace, 5, &early, 0x3000, NULL, 0);
	mr_assert_in_doubt(trace, 5, &between, 0x1800, "b");
	mr_assert(trace, 5, &between, 0x3000, NULL, 0);
	mr_assert(trace, 5, &late, 0x1800, "b", 0x800);
	mr_assert(trace, 5, &late, 0x3010, "b", 0x10);
	mr_assert(trace, 5, NULL, 0x1800, "b", 0x800);
	hwtd_trace_close(trace);
}

static void
records_with_time_hold_from_that_time(void **state)
{
	static const struct {
		uint64_t time_ns;
		const char *path;
	} cases[] = {
		{ 0, NULL },
		{ 99, NULL },
		{ 100, "a" },
		{ 199, "a" },
		{ 200, "b" },
		{ 299, "b" },
		{ 300, NULL },
		{ UINT64_MAX, NULL },
	};
	const struct hwtd_position start = { sizeof(start),
		HWTD_POSITION_START, 0, 0, 0 };
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_record gone = mr_record(HWTD_REC_MUNMAP, 5, 0x1000,
	    0x1000);

	(void)state;
	/* The order of adding does not count. */
	mr_time(&gone, 300);
	mr_add(trace, &gone);
	mr_mmap_at(trace, 200, 5, 0x1000, 0x1000, 1);
	mr_mmap_at(trace, 100, 5, 0x1000, 0x1000, 0);
	mr_mmap_at(trace, 0, 5, 0x8000, 0x1000, 0);
	(void)mt_seal(trace);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtd_position at = mr_at_time(cases[i].time_ns);

		print_message("time %llu\n",
		    (unsigned long long)cases[i].time_ns);
		mr_assert(trace, 5, &at, 0x1004, cases[i].path, 4);
	}
	mr_assert(trace, 5, &start, 0x1000, NULL, 0);
	mr_assert(trace, 5, &start, 0x8000, "a", 0);
	mr_assert(trace, 5, NULL, 0x1000, NULL, 0);
	hwtd_trace_close(trace);
}

static void
a_program_starts_with_an_empty_space(void **state)
{
	const struct hwtd_position old = mr_at_time(15);
	const struct hwtd_position begun = mr_at_time(20);
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_process p = { .size = sizeof(p) };
	struct hwtd_record exec = mr_record(HWTD_REC_EXEC, 5, 0, 0);

	(void)state;
	mr_mmap_at(trace, 10, 5, 0x1000, 0x1000, 0);
	mr_mmap_at(trace, 10, 6, 0x1000, 0x1000, 0);
	exec.flags = 0;
	exec.name = "/bin/second";
	mr_time(&exec, 20);
	mr_add(trace, &exec);
	mr_mmap_at(trace, 21, 5, 0x1800, 0x800, 1);
	(void)mt_seal(trace);
	mr_assert(trace, 5, &old, 0x1900, "a", 0x900);
	mr_assert(trace, 5, &begun, 0x1900, NULL, 0);
	mr_assert(trace, 5, NULL, 0x1900, "b", 0x100);
	mr_assert(trace, 5, NULL, 0x1100, NULL, 0);
	mr_assert(trace, 6, NULL, 0x1100, "a", 0x100);
	assert_int_equal(hwtd_trace_process(trace, 0, &p), HWTD_OK);
	assert_int_equal(p.pid, 5);
	assert_int_equal(p.n_execs, 1);
	assert_int_equal(p.parent, HWTD_NO_ID);
	assert_string_equal(p.name, "/bin/second");
	assert_int_equal(hwtd_trace_process(trace, 1, &p), HWTD_OK);
	assert_int_equal(p.pid, 6);
	assert_int_equal(p.n_execs, 0);
	assert_string_equal(p.name, "");
	assert_int_equal(hwtd_trace_process(trace, 2, &p), HWTD_END);
	hwtd_trace_close(trace);
}

static void
what_remains_around_a_hole_stays_mapped(void **state)
{
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_record hole = mr_record(HWTD_REC_MUNMAP, 5, 0x1400, 0x200);

	(void)state;
	mr_mmap_at(trace, 1, 5, 0x1000, 0x1000, 0);
	mr_time(&hole, 2);
	mr_add(trace, &hole);
	(void)mt_seal(trace);
	mr_assert(trace, 5, NULL, 0x13ff, "a", 0x3ff);
	mr_assert(trace, 5, NULL, 0x1400, NULL, 0);
	mr_assert(trace, 5, NULL, 0x15ff, NULL, 0);
	mr_assert(trace, 5, NULL, 0x1600, "a", 0x600);
	hwtd_trace_close(trace);
}

/* What hwt(4) leaves in fields that it does not set is no fact. */
static void
fields_that_are_not_known_change_nothing(void **state)
{
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_record r;

	(void)state;
	mr_mmap(trace, 5, 0x1000, 0x1000, 0);
	r = mr_record(HWTD_REC_MUNMAP, 5, 0x1000, 0x1000);
	r.flags = 0;
	mr_add(trace, &r);
	/* All of an image, from its first byte. */
	r = mr_record(HWTD_REC_MMAP, 5, 0x4000, 0x10);
	r.flags = HWTD_RECF_ADDR;
	r.file_off = 0x800;
	r.image = 1;
	mr_add(trace, &r);
	/* A page of what nobody knows. */
	r = mr_record(HWTD_REC_MMAP, 5, 0x8000, 0x100000);
	r.flags = HWTD_RECF_ADDR | HWTD_RECF_ANONYMOUS;
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_FORK, 6, 0, 0);
	r.value = 5;
	mr_add(trace, &r);
	(void)mt_seal(trace);
	mr_assert(trace, 5, NULL, 0x1800, "a", 0x800);
	mr_assert(trace, 5, NULL, 0x4000, "b", 0);
	mr_assert(trace, 5, NULL, 0x4fff, "b", 0xfff);
	mr_assert(trace, 5, NULL, 0x5000, NULL, 0);
	mr_assert(trace, 5, NULL, 0x8fff, "", 0xfff);
	mr_assert(trace, 5, NULL, 0x9000, NULL, 0);
	mr_assert(trace, 6, NULL, 0x1800, NULL, 0);
	hwtd_trace_close(trace);
}

static void
a_child_has_what_its_parent_had(void **state)
{
	const struct hwtd_position before = mr_at_time(15);
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_process p = { .size = sizeof(p) };
	struct hwtd_record fork = mr_record(HWTD_REC_FORK, 6, 0, 0);
	struct hwtd_record gone = mr_record(HWTD_REC_MUNMAP, 5, 0x1000,
	    0x1000);

	(void)state;
	mr_mmap_at(trace, 10, 5, 0x1000, 0x1000, 0);
	fork.flags = HWTD_RECF_VALUE;
	fork.value = 5;
	mr_time(&fork, 20);
	mr_add(trace, &fork);
	mr_time(&gone, 30);
	mr_add(trace, &gone);
	mr_mmap_at(trace, 40, 6, 0x5000, 0x1000, 1);
	(void)mt_seal(trace);
	mr_assert(trace, 6, &before, 0x1000, NULL, 0);
	mr_assert(trace, 6, NULL, 0x1000, "a", 0);
	mr_assert(trace, 5, NULL, 0x1000, NULL, 0);
	mr_assert(trace, 6, NULL, 0x5000, "b", 0);
	mr_assert(trace, 5, NULL, 0x5000, NULL, 0);
	assert_int_equal(hwtd_trace_process(trace, 1, &p), HWTD_OK);
	assert_int_equal(p.pid, 6);
	assert_int_equal(p.parent, 5);
	hwtd_trace_close(trace);
}

static void
only_the_exit_of_the_process_empties_its_space(void **state)
{
	const struct hwtd_position thread_gone = mr_at_time(25);
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_record end = mr_record(HWTD_REC_EXIT, 5, 0, 0);

	(void)state;
	mr_mmap_at(trace, 10, 5, 0x1000, 0x1000, 0);
	end.flags = 0;
	end.tid = 77;
	mr_time(&end, 20);
	mr_add(trace, &end);
	end.tid = 5;
	mr_time(&end, 30);
	mr_add(trace, &end);
	(void)mt_seal(trace);
	mr_assert(trace, 5, &thread_gone, 0x1000, "a", 0);
	mr_assert(trace, 5, NULL, 0x1000, NULL, 0);
	hwtd_trace_close(trace);
}

#define KERNEL 0xffffffff80200000u

static void
processes_see_the_kernel_and_not_each_other(void **state)
{
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, KERNEL, 0x1000);
	struct hwtd_mapping m = { .size = sizeof(m) };

	(void)state;
	(void)mt_code(trace, 0x700000, code_a, 16);
	r.flags |= HWTD_RECF_FILE_OFF | HWTD_RECF_KERNEL_SPACE;
	r.image = 1;
	mr_time(&r, 1);
	mr_add(trace, &r);
	mr_mmap_at(trace, 1, 5, 0x1000, 0x1000, 0);
	mr_mmap_at(trace, 1, 6, 0x700000, 0x1000, 1);
	(void)mt_seal(trace);
	/* Process 99 is not in the records. */
	mr_assert(trace, 5, NULL, KERNEL, "b", 0);
	mr_assert(trace, 6, NULL, KERNEL, "b", 0);
	mr_assert(trace, 99, NULL, KERNEL, "b", 0);
	mr_assert(trace, HWTD_NO_ID, NULL, KERNEL, "b", 0);
	mr_assert(trace, 5, NULL, 0x1000, "a", 0);
	mr_assert(trace, 6, NULL, 0x1000, NULL, 0);
	mr_assert(trace, 99, NULL, 0x1000, NULL, 0);
	mr_assert(trace, HWTD_NO_ID, NULL, 0x1000, NULL, 0);
	mr_assert(trace, 5, NULL, 0x700000, "code", 0);
	mr_assert(trace, 6, NULL, 0x700000, "b", 0);
	/* Whose it is. */
	assert_int_equal(hwtd_space_lookup(trace, 5, NULL, KERNEL, &m), 0);
	assert_int_equal(m.pid, HWTD_NO_ID);
	assert_int_equal(m.flags, HWTD_MAPPINGF_KERNEL);
	assert_int_equal(hwtd_space_lookup(trace, 5, NULL, 0x700000, &m), 0);
	assert_int_equal(m.pid, HWTD_NO_ID);
	assert_int_equal(m.flags, HWTD_MAPPINGF_EVERYWHERE);
	assert_int_equal(hwtd_space_lookup(trace, 6, NULL, 0x700000, &m), 0);
	assert_int_equal(m.pid, 6);
	assert_int_equal(m.flags, 0);
	hwtd_trace_close(trace);
}

static void
processes_share_sections_of_the_same_bytes_at_one_address(void **state)
{
	struct hwtd_mapping m[4];
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));

	(void)state;
	for (uint32_t pid = 0; pid < 3; pid++)
		mr_mmap_at(trace, 1, pid, 0x1000, 0x1000, 0);
	mr_mmap_at(trace, 1, 3, 0x2000, 0x1000, 0);
	(void)mt_seal(trace);
	for (uint32_t pid = 0; pid < 4; pid++) {
		m[pid].size = sizeof(m[pid]);
		assert_int_equal(hwtd_space_lookup(trace, pid, NULL,
				     pid == 3 ? 0x2000 : 0x1000, &m[pid]),
		    HWTD_OK);
	}
	assert_int_equal(m[0].section, m[1].section);
	assert_int_equal(m[0].section, m[2].section);
	assert_int_not_equal(m[0].section, m[3].section);
	assert_int_equal(m[3].image, m[0].image);
	hwtd_trace_close(trace);
}

static void
code_made_at_run_time_replaces_what_was_there(void **state)
{
	const struct hwtd_position first = mr_at_time(150);
	struct hwtd_mapping m = { .size = sizeof(m) };
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, 0x1000, 0x10000);

	(void)state;
	r.flags |= HWTD_RECF_ANONYMOUS;
	mr_time(&r, 90);
	mr_add(trace, &r);
	r = mr_record(HWTD_REC_CODE, 5, 0x4000, 0x100);
	r.image = 0;
	mr_time(&r, 100);
	mr_add(trace, &r);
	r.image = 1;
	mr_time(&r, 200);
	mr_add(trace, &r);
	(void)mt_seal(trace);
	assert_int_equal(hwtd_space_lookup(trace, 5, &first, 0x4001, &m), 0);
	assert_string_equal(m.path, "a");
	assert_int_equal(m.flags, HWTD_MAPPINGF_JIT);
	assert_int_equal(hwtd_space_lookup(trace, 5, NULL, 0x4001, &m), 0);
	assert_string_equal(m.path, "b");
	assert_int_equal(hwtd_space_lookup(trace, 5, NULL, 0x8000, &m), 0);
	assert_string_equal(m.path, "");
	assert_int_equal(m.flags, HWTD_MAPPINGF_ANONYMOUS);
	assert_int_equal(m.section, HWTD_NO_ID);
	hwtd_trace_close(trace);
}

/* Two hundred thousand mappings of a hundred processes. */
static void
many_mappings_are_laid_out_fast(void **state)
{
	const bool small = getenv("HWTDECODE_TEST_SMALL") != NULL;
	const uint32_t n = small ? 50000 : 200000;
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	double seconds;
	clock_t begun;

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		mr_mmap_at(trace, i + 1, i % 100,
		    0x10000000 + (uint64_t)(i * 7919 % 65536) * 0x1000, 0x2000,
		    i & 1);
	begun = clock();
	(void)mt_seal(trace);
	seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
	print_message("%u mappings: %.3f s\n", (unsigned int)n, seconds);
	assert_true(seconds < 10);
	mr_assert(trace, 99, NULL,
	    0x10000000 + (uint64_t)((n - 1) * 7919 % 65536) * 0x1000, "b", 0);
	hwtd_trace_close(trace);
}

/* A kernel can be moved although its file names fixed addresses. */
/* All kinds of records, with files that are there and that are not. */
static int
build_all_kinds(struct hwtd_context *ctx, const char *dir)
{
	const struct hwtd_search search = { .size = sizeof(search),
		.dirs = &dir,
		.n_dirs = 1 };
	const struct hwtd_trace_options opts = { .size = sizeof(opts),
		.search = &search };
	static const struct {
		uint32_t type;
		uint32_t pid;
		uint64_t addr, len;
		const char *name;
	} steps[] = {
		{ HWTD_REC_KERNEL, HWTD_NO_ID, KERNEL, 0, "/boot/kernel" },
		{ HWTD_REC_EXEC, 5, 0x400000, 0, "/bin/program" },
		{ HWTD_REC_MMAP, 5, 0x801000, 0, "/lib/program" },
		{ HWTD_REC_MMAP, 5, 0x900000, 0x1000, "/lib/missing" },
		{ HWTD_REC_MUNMAP, 5, 0x900000, 0x100, NULL },
		{ HWTD_REC_MODULE_LOAD, 6, 0x500000, 0, "/lib/program" },
		{ HWTD_REC_MODULE_UNLOAD, 6, 0x500000, 0, NULL },
		{ HWTD_REC_FORK, 7, 0, 0, NULL },
		{ HWTD_REC_SWITCH, 7, 0, 0, NULL },
		{ HWTD_REC_THREAD_NAME, 7, 0, 0, "worker" },
		{ HWTD_REC_EXIT, 7, 0, 0, NULL },
	};
	struct hwtd_trace *trace;
	struct hwtd_maps *maps;
	int rc = hwtd_trace_create(ctx, &opts, &trace, NULL);

	if (rc != HWTD_OK)
		return (rc);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct hwtd_record r = mr_record(steps[i].type, steps[i].pid,
		    steps[i].addr, steps[i].len);

		r.name = steps[i].name;
		r.flags |= HWTD_RECF_VALUE;
		r.value = 5;
		mr_time(&r, 10 * i);
		if (rc == HWTD_OK)
			rc = hwtd_trace_add_record(trace, &r, NULL);
	}
	if (rc == HWTD_OK)
		rc = hwtd_trace_seal(trace, NULL);
	if (rc == HWTD_OK)
		rc = hwtd_maps_open(trace, 5, NULL, &maps, NULL);
	if (rc == HWTD_OK)
		hwtd_maps_close(maps);
	hwtd_trace_close(trace);
	return (rc);
}

static void
each_refused_request_is_reported_and_leaks_nothing(void **state)
{
	const struct small_elf elf = { .code = code_a, .n_code = 64 };
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct temp_dir dir;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	small_elf_write(&elf, temp_dir_file(&dir, "program", path));
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	for (int for_ever = 0; for_ever < 2; for_ever++) {
		int rc = HWTD_E_NOMEM;
		uint64_t n;

		for (n = 1; rc != HWTD_OK; n++) {
			failing_allocator_arm(&f, 0, false);
			assert_int_equal(hwtd_context_create(&o, &ctx, NULL),
			    HWTD_OK);
			failing_allocator_arm(&f, n, for_ever != 0);
			rc = build_all_kinds(ctx, dir.path);
			if (rc != HWTD_OK && rc != HWTD_E_NOMEM)
				fail_msg("request %d: code %d", (int)n, rc);
			hwtd_context_destroy(ctx);
			assert_int_equal(f.blocks, 0);
			assert_int_equal(f.bytes, 0);
		}
		print_message("%d requests\n", (int)n - 2);
	}
	temp_dir_remove(&dir);
}

/* Whatever the address, they are one number together. */
static void
places_in_files_that_were_chosen_for_a_hash_are_not_slow(void **state)
{
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	double start;

	(void)state;
	for (uint64_t i = 1; i <= CHOSEN_KEYS; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5, i * 0x1000,
		    0x1000);

		r.flags |= HWTD_RECF_FILE_OFF;
		r.image = 0;
		r.file_off = r.addr * 0x9e3779b97f4a7c15u ^ 0x1234;
		mr_add(trace, &r);
	}
	start = cpu_seconds();
	(void)mt_seal(trace);
	assert_true(cpu_seconds() - start < chosen_seconds());
	hwtd_trace_close(trace);
}

/* FNV-1a, folded. */
static uint64_t
fnv(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3u;
	return (h ^ h >> 32);
}

static void
file_names_that_were_chosen_for_a_hash_are_not_slow(void **state)
{
	struct hwtd_trace *trace = mr_create("/nonexistent");
	struct pt_packets p = { 0 };
	uint64_t n = 0;
	double start;

	(void)state;
	pt_pad(&p, 100);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	for (uint32_t i = 0; n < CHOSEN_KEYS; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, 5,
		    ++n * 0x1000, 0x1000);
		char name[16];

		(void)snprintf(name, sizeof(name), "/%x", i);
		if (!is_chosen(fnv(name))) {
			n--;
			continue;
		}
		r.flags |= HWTD_RECF_FILE_OFF;
		r.name = name;
		mr_add(trace, &r);
	}
	start = cpu_seconds();
	(void)mt_seal(trace);
	assert_true(cpu_seconds() - start < chosen_seconds());
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    records_without_time_hold_from_the_buffer_position_before_them),
		cmocka_unit_test(records_with_time_hold_from_that_time),
		cmocka_unit_test(a_program_starts_with_an_empty_space),
		cmocka_unit_test(what_remains_around_a_hole_stays_mapped),
		cmocka_unit_test(fields_that_are_not_known_change_nothing),
		cmocka_unit_test(a_child_has_what_its_parent_had),
		cmocka_unit_test(
		    only_the_exit_of_the_process_empties_its_space),
		cmocka_unit_test(processes_see_the_kernel_and_not_each_other),
		cmocka_unit_test(
		    processes_share_sections_of_the_same_bytes_at_one_address),
		cmocka_unit_test(
		    code_made_at_run_time_replaces_what_was_there),
		cmocka_unit_test(many_mappings_are_laid_out_fast),
		cmocka_unit_test(
		    each_refused_request_is_reported_and_leaks_nothing),
		cmocka_unit_test(
		    places_in_files_that_were_chosen_for_a_hash_are_not_slow),
		cmocka_unit_test(
		    file_names_that_were_chosen_for_a_hash_are_not_slow),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
