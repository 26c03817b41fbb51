/*
 * What records load, unload and unmap: where files lie, and what goes with them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "support/chosen_key.h"
#include "support/mapped_trace.h"
#include "support/temp_dir.h"

static const uint8_t code_a[0x1000] = { 0x90 };
static const uint8_t code_b[0x1000] = { 0xcc };

static void
loaded_file_lies_where_its_record_says(void **state)
{
	const struct small_elf elf = { .type = 2,
		.base = 0x400000,
		.code = code_a,
		.n_code = 64 };
	struct hwtd_record r = mr_record(HWTD_REC_MODULE_LOAD, 5, 0x700000, 0);
	struct hwtd_trace *trace;
	struct temp_dir dir;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	small_elf_write(&elf, temp_dir_file(&dir, "fixed", path));
	trace = mr_create(dir.path);
	r.name = "/boot/fixed";
	mr_add(trace, &r);
	(void)mt_seal(trace);
	mr_assert(trace, 5, NULL, 0x401000, NULL, 0);
	mr_assert(trace, 5, NULL, 0x701000, "/boot/fixed", 0x1000);
	hwtd_trace_close(trace);
	temp_dir_remove(&dir);
}

/* Steps of a program that loads and unloads as a debugger tells it. */
struct load_step {
	uint32_t type;
	uint32_t pid;
	uint64_t addr;
	const char *name;
};

static const struct {
	const char *name;
	struct load_step steps[6];
	/* What is at 0x701000 and 0x801000 of process 5, and of 6. */
	const char *want[4];
} loads[] = {
	{ "unloaded",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MODULE_LOAD, 5, 0x800000, "/lib/fixed" },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x700000, NULL } },
	    { NULL, "/lib/fixed", NULL, NULL } },
	{ "a child unloads what its parent keeps",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_FORK, 6, 0, NULL },
		{ HWTD_REC_MODULE_UNLOAD, 6, 0x700000, NULL } },
	    { "/lib/fixed", NULL, NULL, NULL } },
	{ "a parent unloads what its child keeps, which then unloads it",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MODULE_LOAD, 5, 0x800000, "/lib/fixed" },
		{ HWTD_REC_FORK, 6, 0, NULL },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x700000, NULL },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x800000, NULL },
		{ HWTD_REC_MODULE_UNLOAD, 6, 0x800000, NULL } },
	    { NULL, NULL, "/lib/fixed", NULL } },
	{ "a program ends what was loaded: its mapping there stays",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_EXEC, 5, 0, NULL },
		{ HWTD_REC_MMAP, 5, 0x701000, "/lib/other" },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x700000, NULL } },
	    { "/lib/other", NULL, NULL, NULL } },
	{ "loaded again: unloaded once",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x700000, NULL } },
	    { NULL, NULL, NULL, NULL } },
	{ "a file that is no ELF, and one that is missing",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x701000, "/lib/text" },
		{ HWTD_REC_MODULE_LOAD, 5, 0x801000, "/lib/missing" },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x701000, NULL },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x801000, NULL } },
	    { NULL, NULL, NULL, NULL } },
	{ "an unload of what nobody loaded",
	    { { HWTD_REC_MMAP, 5, 0x701000, "/lib/other" },
		{ HWTD_REC_MODULE_UNLOAD, 5, 0x701000, NULL },
		{ HWTD_REC_MODULE_UNLOAD, 9, 0x701000, NULL } },
	    { "/lib/other", NULL, NULL, NULL } },
};

static void
an_unload_takes_what_was_loaded_there(void **state)
{
	const struct small_elf elf = { .type = 2,
		.base = 0x400000,
		.code = code_a,
		.n_code = 64 };
	struct temp_dir dir;
	char path[300];
	FILE *f;

	(void)state;
	temp_dir_create(&dir);
	small_elf_write(&elf, temp_dir_file(&dir, "fixed", path));
	f = fopen(temp_dir_file(&dir, "text", path), "w");
	assert_non_null(f);
	assert_int_equal(fputs("no ELF", f) < 0, 0);
	assert_int_equal(fclose(f), 0);
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct hwtd_trace *trace = mr_create(dir.path);

		print_message("%s\n", loads[i].name);
		for (size_t k = 0; k < 6 && loads[i].steps[k].type != 0; k++) {
			const struct load_step *s = &loads[i].steps[k];
			struct hwtd_record r = mr_record(s->type, s->pid,
			    s->addr, 0);

			r.name = s->name;
			if (s->type == HWTD_REC_FORK) {
				r.flags |= HWTD_RECF_VALUE;
				r.value = 5;
			}
			mr_add(trace, &r);
		}
		(void)mt_seal(trace);
		for (uint32_t k = 0; k < 4; k++) {
			const uint64_t at = (k & 1) != 0 ? 0x801000 : 0x701000;
			const char *want = loads[i].want[k];

			mr_assert(trace, 5 + k / 2, NULL, at, want,
			    want == NULL || strcmp(want, "/lib/other") == 0
				? 0
				: 0x1000);
		}
		hwtd_trace_close(trace);
	}
	temp_dir_remove(&dir);
}

/* In what order, and what is at 0x1000, 0x2000, 0x701000, 0x801000 then. */
static const struct {
	const char *name;
	struct load_step steps[6];
	const char *want[4];
} unmaps[] = {
	{ "a mapping from its start",
	    { { HWTD_REC_MMAP, 5, 0x1000, "a" },
		{ HWTD_REC_MMAP, 5, 0x2000, "b" },
		{ HWTD_REC_MUNMAP, 5, 0x1000, NULL } },
	    { NULL, "b", NULL, NULL } },
	{ "a mapping from its middle",
	    { { HWTD_REC_MMAP, 5, 0x1000, "a" },
		{ HWTD_REC_MMAP, 5, 0x2000, "b" },
		{ HWTD_REC_MUNMAP, 5, 0x1800, NULL } },
	    { NULL, "b", NULL, NULL } },
	{ "nothing",
	    { { HWTD_REC_MMAP, 5, 0x2000, "b" },
		{ HWTD_REC_MUNMAP, 5, 0x1000, NULL } },
	    { NULL, "b", NULL, NULL } },
	{ "a segment by its start",
	    { { HWTD_REC_MMAP, 5, 0x701000, "/lib/fixed" },
		{ HWTD_REC_MMAP, 5, 0x801000, "/lib/fixed" },
		{ HWTD_REC_MUNMAP, 5, 0x701000, NULL } },
	    { NULL, NULL, NULL, "/lib/fixed" } },
	{ "a segment by the start of its file",
	    { { HWTD_REC_MMAP, 5, 0x701000, "/lib/fixed" },
		{ HWTD_REC_MMAP, 5, 0x801000, "/lib/fixed" },
		{ HWTD_REC_MUNMAP, 5, 0x800000, NULL } },
	    { NULL, NULL, "/lib/fixed", NULL } },
	{ "a file that was loaded",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MUNMAP, 5, 0x700000, NULL } },
	    { NULL, NULL, NULL, NULL } },
	{ "a file that something else hides by now",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MMAP, 5, 0x701000, "b" },
		{ HWTD_REC_MUNMAP, 5, 0x700000, NULL } },
	    { NULL, NULL, "b", NULL } },
	{ "something else where a file started",
	    { { HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MMAP, 5, 0x700000, "b" },
		{ HWTD_REC_MUNMAP, 5, 0x700000, NULL } },
	    { NULL, NULL, "/lib/fixed", NULL } },
	{ "what an earlier program had",
	    { { HWTD_REC_MMAP, 5, 0x701000, "/lib/fixed" },
		{ HWTD_REC_EXEC, 5, 0, NULL },
		{ HWTD_REC_MODULE_LOAD, 5, 0x700000, "/lib/fixed" },
		{ HWTD_REC_MMAP, 5, 0x801000, "/lib/fixed" },
		{ HWTD_REC_MUNMAP, 5, 0x800000, NULL } },
	    { NULL, NULL, "/lib/fixed", NULL } },
	{ "what a child has of its parent",
	    { { HWTD_REC_MMAP, 4, 0x701000, "/lib/fixed" },
		{ HWTD_REC_MMAP, 4, 0x801000, "/lib/fixed" },
		{ HWTD_REC_FORK, 5, 0, NULL },
		{ HWTD_REC_MUNMAP, 5, 0x700000, NULL } },
	    { NULL, NULL, NULL, "/lib/fixed" } },
};

/* Kernels that tell an address alone. */
static void
unmapping_without_a_length_takes_what_starts_there(void **state)
{
	static const uint64_t at[] = { 0x1000, 0x2000, 0x701000, 0x801000 };
	const struct small_elf elf = { .code = code_a, .n_code = 64 };
	struct temp_dir dir;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	small_elf_write(&elf, temp_dir_file(&dir, "fixed", path));
	for (size_t i = 0; i < sizeof(unmaps) / sizeof(unmaps[0]); i++) {
		struct hwtd_trace *trace = mr_create(dir.path);

		print_message("case %s\n", unmaps[i].name);
		(void)mr_image(trace, "a", code_a, sizeof(code_a));
		(void)mr_image(trace, "b", code_b, sizeof(code_b));
		for (size_t k = 0; k < 6 && unmaps[i].steps[k].type != 0;
		     k++) {
			const struct load_step *s = &unmaps[i].steps[k];
			struct hwtd_record r = mr_record(s->type, s->pid,
			    s->addr, 0);

			r.name = s->name;
			if (s->name != NULL && s->name[0] != '/') {
				r.image = s->name[0] == 'b';
				r.flags |= HWTD_RECF_LEN | HWTD_RECF_FILE_OFF;
				r.len = 0x1000;
			}
			if (s->type == HWTD_REC_FORK) {
				r.flags |= HWTD_RECF_VALUE;
				r.value = 4;
			}
			mr_add(trace, &r);
		}
		(void)mt_seal(trace);
		for (size_t k = 0; k < 4; k++)
			mr_assert(trace, 5, NULL, at[k], unmaps[i].want[k],
			    unmaps[i].want[k] != NULL &&
				    unmaps[i].want[k][0] == '/'
				? 0x1000
				: 0);
		hwtd_trace_close(trace);
	}
	temp_dir_remove(&dir);
}

/* Each unload is found at once, whatever was loaded before. */
static void
many_unloads_take_no_time(void **state)
{
	const uint32_t n = getenv("HWTDECODE_TEST_SMALL") != NULL ? 20000
								  : 100000;
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	struct hwtd_record r;
	double seconds;
	clock_t begun;

	(void)state;
	for (uint32_t i = 0; i < 2 * n; i++) {
		r = mr_record(i < n ? HWTD_REC_MODULE_LOAD
				    : HWTD_REC_MODULE_UNLOAD,
		    5, 0x10000000 + (uint64_t)(i % n) * 0x1000, 0);
		r.name = "/no/such/file";
		mr_add(trace, &r);
	}
	begun = clock();
	(void)mt_seal(trace);
	seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
	print_message("%u unloads: %.3f s\n", (unsigned int)n, seconds);
	assert_true(seconds < 10);
	mr_assert(trace, 5, NULL, 0x10000000, NULL, 0);
	hwtd_trace_close(trace);
}

static void
add_fork(struct hwtd_trace *trace, uint32_t child, uint32_t parent)
{
	struct hwtd_record r = mr_record(HWTD_REC_FORK, child, 0, 0);

	r.flags |= HWTD_RECF_VALUE;
	r.value = parent;
	mr_add(trace, &r);
}

static void
add_load(struct hwtd_trace *trace, uint32_t type, uint32_t pid, uint64_t addr)
{
	struct hwtd_record r = mr_record(type, pid, addr, 0);

	if (type == HWTD_REC_MODULE_LOAD)
		r.name = "/no/such/file";
	mr_add(trace, &r);
}

static void
a_child_unloads_what_its_parent_replaced_often(void **state)
{
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));

	(void)state;
	add_load(trace, HWTD_REC_MODULE_LOAD, 5, 0x700000);
	add_fork(trace, 6, 5);
	add_fork(trace, 7, 5);
	for (int i = 0; i < 1000; i++)
		add_load(trace, HWTD_REC_MODULE_LOAD, 5, 0x700000);
	add_load(trace, HWTD_REC_MODULE_UNLOAD, 6, 0x700000);
	(void)mt_seal(trace);
	mr_assert(trace, 5, NULL, 0x700000, "/no/such/file", 0);
	mr_assert(trace, 6, NULL, 0x700000, NULL, 0);
	mr_assert(trace, 7, NULL, 0x700000, "/no/such/file", 0);
	hwtd_trace_close(trace);
}

/* What it had unloaded is not unloaded again, nor by its own child. */
static void
a_child_unloads_what_its_parent_loaded_once(void **state)
{
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));

	(void)state;
	add_load(trace, HWTD_REC_MODULE_LOAD, 5, 0x700000);
	add_fork(trace, 6, 5);
	add_load(trace, HWTD_REC_MODULE_UNLOAD, 6, 0x700000);
	mr_mmap(trace, 6, 0x700000, 0x1000, 0);
	add_fork(trace, 7, 6);
	add_load(trace, HWTD_REC_MODULE_UNLOAD, 6, 0x700000);
	add_load(trace, HWTD_REC_MODULE_UNLOAD, 7, 0x700000);
	(void)mt_seal(trace);
	mr_assert(trace, 6, NULL, 0x700000, "a", 0);
	mr_assert(trace, 7, NULL, 0x700000, "a", 0);
	hwtd_trace_close(trace);
}

static void
a_child_has_the_loads_of_a_parent_that_started_another_program(void **state)
{
	struct hwtd_record exec = mr_record(HWTD_REC_EXEC, 6, 0, 0);
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));

	(void)state;
	add_load(trace, HWTD_REC_MODULE_LOAD, 5, 0x700000);
	add_fork(trace, 6, 5);
	add_fork(trace, 7, 6);
	mr_add(trace, &exec);
	add_load(trace, HWTD_REC_MODULE_UNLOAD, 7, 0x700000);
	(void)mt_seal(trace);
	mr_assert(trace, 5, NULL, 0x700000, "/no/such/file", 0);
	mr_assert(trace, 7, NULL, 0x700000, NULL, 0);
	hwtd_trace_close(trace);
}

/* Each parent goes on to load after its child was forked. */
static void
unloads_behind_many_forks_and_loads_are_not_slow(void **state)
{
	const uint32_t forks = 64, places = 20;
	struct hwtd_trace *trace = mr_two_images(code_a, code_b,
	    sizeof(code_a));
	double start;

	(void)state;
	for (uint32_t i = 1; i <= forks; i++) {
		add_load(trace, HWTD_REC_MODULE_LOAD, i, 0x700000);
		add_fork(trace, i + 1, i);
		for (uint32_t k = 0; k < 64 * places; k++)
			add_load(trace, HWTD_REC_MODULE_LOAD, i,
			    0x800000 + k % places * 0x1000);
	}
	for (uint32_t k = 0; k < 15000 * places; k++)
		add_load(trace, HWTD_REC_MODULE_UNLOAD, forks + 1,
		    0x800000 + k % places * 0x1000);
	add_load(trace, HWTD_REC_MODULE_UNLOAD, forks + 1, 0x700000);
	start = cpu_seconds();
	(void)mt_seal(trace);
	assert_true(cpu_seconds() - start < 2 * chosen_seconds());
	mr_assert(trace, forks + 1, NULL, 0x700000, NULL, 0);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loaded_file_lies_where_its_record_says),
		cmocka_unit_test(an_unload_takes_what_was_loaded_there),
		cmocka_unit_test(
		    unmapping_without_a_length_takes_what_starts_there),
		cmocka_unit_test(many_unloads_take_no_time),
		cmocka_unit_test(
		    a_child_unloads_what_its_parent_replaced_often),
		cmocka_unit_test(a_child_unloads_what_its_parent_loaded_once),
		cmocka_unit_test(
		    a_child_has_the_loads_of_a_parent_that_started_another_program),
		cmocka_unit_test(
		    unloads_behind_many_forks_and_loads_are_not_slow),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
