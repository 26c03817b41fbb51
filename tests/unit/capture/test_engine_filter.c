/*
 * Captures of Intel PT with filters by address: the trace begins when the images of
 * all of them are loaded, and nobody is held for ever.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pt_run.h"
#include "support/code_file.h"
#include "support/elf_writer.h"

#define BIAS 0x200000u
#define OTHER 0x7f0000u
#define MS 1000000u
#define FUNC (CODE_GLOBAL | CODE_FUNC)

static const struct code_area areas[] = { { 0x1000, 0x1000, 0 } };
static const struct code_symbol symbols[] = {
	{ "main", FUNC, 1, 0x1100, 0x40, 0 },
	{ "far", FUNC, 1, 0x1400, 0x10, 0 },
	{ "farther", FUNC, 1, 0x1800, 0x10, 0 },
};

/* A file with functions. */
static const char *
write_functions(struct pt_run *r, const char *name)
{
	const struct code_spec spec = {
		.areas = areas,
		.n_areas = 1,
		.symbols = symbols,
		.n_symbols = sizeof(symbols) / sizeof(symbols[0]),
	};
	struct elf_writer w;
	char *path = r->paths[r->n_paths++];

	(void)temp_dir_file(&r->run.dir, name, path);
	code_file_write(&w, &spec);
	write_file(path, w.bytes, w.n_bytes);
	elf_writer_free(&w);
	return (path);
}

static void
start(struct pt_run *r, const struct sim_options *sim,
    const char *const *filters, size_t n)
{
	pt_run_init(r, sim);
	(void)write_functions(r, "program");
	r->run.options.filters = filters;
	r->run.options.n_filters = n;
}

/* Of the first stream: "trace 201100-20113f", for each range. */
static void
assert_ranges(const struct pt_run *r, const char *text)
{
	struct hwtd_trace *trace = engine_run_open(&r->run);
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	char got[200] = "";
	size_t n = 0;

	assert_int_equal(hwtd_trace_stream(trace, 0, &desc), HWTD_OK);
	assert_non_null(desc.pt);
	for (size_t i = 0;
	     i < sizeof(desc.pt->filters) / sizeof(desc.pt->filters[0]); i++)
		if (desc.pt->filters[i].mode != HWTD_PT_FILTER_OFF)
			n += (size_t)snprintf(got + n, sizeof(got) - n,
			    "%s%s %" PRIx64 "-%" PRIx64, n > 0 ? " " : "",
			    desc.pt->filters[i].mode == HWTD_PT_FILTER_STOP
				? "stop"
				: "trace",
			    desc.pt->filters[i].start,
			    desc.pt->filters[i].end);
	assert_string_equal(got, text);
	hwtd_trace_close(trace);
}

static void
a_function_of_the_program_is_traced_from_its_start(void **state)
{
	static const char *const filters[] = { "main@program" };
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 1);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 0, pt_run_unique(&r, 300));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_bytes, 300);
	assert_ranges(&r, "trace 201100-20113f");
	pt_run_assert_said(&r, "filter.0", "main@program");
	pt_run_assert_said(&r, "filters.missing", NULL);
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
a_function_of_a_library_is_traced_once_it_is_loaded(void **state)
{
	static const char *const filters[] = { "far@library.so" };
	const char *other, *library;
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 1);
	other = write_functions(&r, "other.so");
	library = write_functions(&r, "library.so");
	pt_run_exec(&r, r.path, BIAS);
	/* Nothing is recorded yet. */
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 100));
	pt_run_mmap(&r, 0, other, 0x600000);
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 200));
	pt_run_mmap(&r, 0, library, OTHER);
	pt_run_trace(&r, 0, 0, pt_run_unique(&r, 400));
	/* Nobody is held any more. */
	pt_run_mmap(&r, 0, other, 0x700000);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_bytes, 400);
	assert_ranges(&r, "trace 7f1400-7f140f");
	pt_run_assert_losses(&r, "");
	pt_run_fini(&r);
}

static void
two_filters_wait_for_both_of_their_images(void **state)
{
	static const char *const filters[] = { "main@program",
		"far@library.so" };
	const char *library;
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 2);
	library = write_functions(&r, "library.so");
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 100));
	pt_run_mmap(&r, 0, library, OTHER);
	pt_run_trace(&r, 0, 0, pt_run_unique(&r, 400));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_bytes, 400);
	assert_ranges(&r, "trace 201100-20113f trace 7f1400-7f140f");
	pt_run_fini(&r);
}

/* Who is woken a moment too early, or maps at the same time as others, goes on. */
static void
threads_that_map_at_once_all_go_on(void **state)
{
	static const char *const filters[] = { "far@last.so" };
	struct pt_run r;

	(void)state;
	for (uint64_t seed = 0; seed < 30; seed++) {
		const struct sim_options o = {
			.n_cpus = 4,
			.seed = seed,
			.lose_wakeups = seed % 3 == 0,
			.call_ns = seed % 2 == 0 ? 100 : 5000,
		};
		const char *other, *last;

		start(&r, &o, filters, 1);
		other = write_functions(&r, "other.so");
		last = write_functions(&r, "last.so");
		pt_run_exec(&r, r.path, BIAS);
		for (unsigned i = 1; i < 4; i++)
			pt_run_thread(&r, 0, i);
		for (unsigned i = 1; i < 4; i++)
			for (unsigned k = 0; k < 3; k++)
				pt_run_mmap(&r, i, other,
				    0x1000000 * (i + 1) + 0x10000 * k);
		pt_run_mmap(&r, 2, last, OTHER);
		for (unsigned i = 1; i < 4; i++)
			pt_run_mmap(&r, i, other, 0x10000000 * (i + 1));
		for (unsigned i = 0; i < 4; i++)
			pt_run_trace(&r, i, 5 * MS, pt_run_unique(&r, 100));
		pt_run_exit(&r, 7);
		pt_run_ok(&r);
		/* To its end, which comes behind all of this. */
		assert_int_equal(r.run.status.exit_status, 7);
		pt_run_fini(&r);
	}
}

static void
a_function_that_never_comes_is_told_and_nobody_is_held(void **state)
{
	static const char *const filters[] = { "main@program",
		"nowhere@library.so", "main@absent.so" };
	const char *library;
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 3);
	library = write_functions(&r, "library.so");
	pt_run_exec(&r, r.path, BIAS);
	pt_run_mmap(&r, 0, library, OTHER);
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 100));
	pt_run_exit(&r, 9);
	pt_run_fails(&r, HWTD_E_NOT_FOUND, "nowhere@library.so");
	/* The program ran, and the file says what happened. */
	assert_int_equal(r.run.status.exit_status, 9);
	assert_int_equal(r.run.status.n_bytes, 0);
	pt_run_assert_records(&r,
	    "thread-create thread 0\n"
	    "exec 200000 $/program\n"
	    "thread-name program thread 0\n"
	    "mmap 7f1000 $/library.so\n");
	pt_run_fini(&r);
}

static void
a_capture_that_ends_while_it_waits_lets_its_process_go_on(void **state)
{
	static const char *const filters[] = { "main@absent.so" };
	const char *library;
	struct pt_run r;
	const struct hwtdi_system *sys;
	struct hwtdi_exit how;

	(void)state;
	start(&r, NULL, filters, 1);
	library = write_functions(&r, "library.so");
	r.run.options.max_ns = 20 * MS;
	pt_run_exec(&r, r.path, BIAS);
	for (unsigned i = 0; i < 8; i++) {
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
		pt_run_mmap(&r, 0, library, OTHER + 0x10000 * i);
	}
	pt_run_exit(&r, 4);
	pt_run_fails(&r, HWTD_E_NOT_FOUND, "main@absent.so");
	assert_int_equal(r.run.status.program_ended, 0);
	/* While this process, which owns the context, is there still. */
	sim_run(r.run.kernel, 1000 * (uint64_t)MS);
	sys = sim_system(r.run.kernel);
	assert_int_equal(sys->ended(sys->state, (pid_t)r.run.status.pid, &how),
	    0);
	assert_true(how.ended);
	assert_int_equal(how.status, 4);
	pt_run_fini(&r);
}

static void
more_ranges_than_the_hardware_has_are_refused(void **state)
{
	static const char *const filters[] = { "main@program", "far@program",
		"farther@program" };
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 3);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 100));
	pt_run_exit(&r, 5);
	assert_int_equal(engine_run(&r.run), HWTD_E_LIMIT);
	engine_run_check(&r.run);
	/* How many there are, and how many can be. */
	assert_non_null(strstr(r.run.err.message, "3"));
	assert_non_null(strstr(r.run.err.message, "2"));
	hwtd_trace_close(engine_run_open(&r.run));
	pt_run_fini(&r);
}

static void
adjoining_functions_share_a_range(void **state)
{
	static const char *const filters[] = { "0x1100-0x1140@program",
		"0x1140-0x1200@program", "far@program" };
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 3);
	pt_run_exec(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 100));
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_ranges(&r, "trace 201100-2011ff trace 201400-20140f");
	pt_run_fini(&r);
}

static void
an_image_that_moves_later_is_told(void **state)
{
	static const char *const filters[] = { "far@library.so" };
	const char *library;
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 1);
	library = write_functions(&r, "library.so");
	pt_run_exec(&r, r.path, BIAS);
	pt_run_mmap(&r, 0, library, OTHER);
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 100));
	pt_run_step(&r,
	    &(struct sim_step){ .op = SIM_MUNMAP,
		.addr = OTHER + PT_RUN_CODE,
		.len = PT_RUN_PAGE });
	pt_run_mmap(&r, 0, library, OTHER + 0x100000);
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_ranges(&r, "trace 7f1400-7f140f");
	pt_run_assert_said(&r, "filters.moved",
	    "an image of a filter was loaded elsewhere while the ranges "
	    "could not be changed");
	pt_run_fini(&r);
}

static void
a_program_may_die_while_it_is_held(void **state)
{
	static const char *const filters[] = { "main@absent.so" };
	struct pt_run r;

	(void)state;
	for (uint64_t ns = 0; ns < 20000; ns += 1000) {
		start(&r, &(struct sim_options){ .call_ns = 300 }, filters, 1);
		pt_run_thread(&r, 0, 1);
		pt_run_exec(&r, r.path, BIAS);
		/* Another thread ends it, whoever sleeps. */
		pt_run_mmap(&r, 0, r.path, OTHER);
		pt_run_step(&r,
		    &(struct sim_step){ .op = SIM_EXIT,
			.ns = ns,
			.signal = SIGKILL,
			.flags = SIM_AT_ONCE });
		pt_run_fails(&r, HWTD_E_NOT_FOUND, "main@absent.so");
		assert_int_equal(r.run.status.exit_signal, SIGKILL);
		pt_run_fini(&r);
	}
}

static void
a_filter_of_what_is_mapped_already_starts_at_once(void **state)
{
	static const char *const filters[] = { "main@program" };
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 1);
	pt_run_attach(&r, 1);
	pt_run_has_file(&r, r.path, BIAS);
	pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 300));
	pt_run_step(&r, &(struct sim_step){ .op = SIM_IDLE, .ns = 5 * MS });
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.n_bytes, 300);
	assert_ranges(&r, "trace 201100-20113f");
	pt_run_fini(&r);
}

static void
hardware_without_ranges_is_told_before_anything_runs(void **state)
{
	static const char *const filters[] = { "main@program" };
	/* Without bit 2 of EBX. */
	static const uint32_t leaf[4] = { 1, 0xb, 7, 0 };
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 1);
	sim_set_cpuid(r.run.kernel, 0x14, 0, leaf);
	pt_run_fails(&r, HWTD_E_UNSUPPORTED, "no filters by address");
	assert_int_equal(temp_dir_count(&r.run.dir), 1);
	pt_run_fini(&r);
}

static void
a_filter_that_is_no_filter_is_quoted(void **state)
{
	static const char *const filters[] = { "main" };
	struct pt_run r;

	(void)state;
	start(&r, NULL, filters, 1);
	pt_run_fails(&r, HWTD_E_INVALID, "\"main\"");
	assert_int_equal(temp_dir_count(&r.run.dir), 1);
	pt_run_fini(&r);
}

static void
ranges_that_stop_the_trace_need_a_kernel_that_has_them(void **state)
{
	static const char *const filters[] = { "main@program",
		"stop:far@program" };
	struct pt_run r;

	(void)state;
	for (int bsd = 0; bsd < 2; bsd++) {
		start(&r,
		    &(struct sim_options){
			.flavour = bsd ? SIM_5BSD : SIM_STOCK },
		    filters, 2);
		pt_run_exec(&r, r.path, BIAS);
		pt_run_trace(&r, 0, 5 * MS, pt_run_unique(&r, 100));
		pt_run_exit(&r, 0);
		if (bsd) {
			pt_run_ok(&r);
			assert_ranges(&r,
			    "trace 201100-20113f stop 201400-20140f");
		} else {
			pt_run_fails(&r, HWTD_E_UNSUPPORTED, "stop:");
		}
		pt_run_fini(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_function_of_the_program_is_traced_from_its_start),
		cmocka_unit_test(
		    a_function_of_a_library_is_traced_once_it_is_loaded),
		cmocka_unit_test(two_filters_wait_for_both_of_their_images),
		cmocka_unit_test(threads_that_map_at_once_all_go_on),
		cmocka_unit_test(
		    a_function_that_never_comes_is_told_and_nobody_is_held),
		cmocka_unit_test(
		    a_capture_that_ends_while_it_waits_lets_its_process_go_on),
		cmocka_unit_test(
		    more_ranges_than_the_hardware_has_are_refused),
		cmocka_unit_test(adjoining_functions_share_a_range),
		cmocka_unit_test(an_image_that_moves_later_is_told),
		cmocka_unit_test(a_program_may_die_while_it_is_held),
		cmocka_unit_test(
		    a_filter_of_what_is_mapped_already_starts_at_once),
		cmocka_unit_test(
		    hardware_without_ranges_is_told_before_anything_runs),
		cmocka_unit_test(a_filter_that_is_no_filter_is_quoted),
		cmocka_unit_test(
		    ranges_that_stop_the_trace_need_a_kernel_that_has_them),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
