/*
 * Captures of CPUs: Intel PT of the kernel, and several ways to record at once.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arm_run.h"
#include "pt_run.h"
#include "support/elf_writer.h"

#define MS UINT64_C(1000000)
#define PAGE 4096u
#define MODULE UINT64_C(0xffffffff83000000)
/* Where the kernel puts .text of the module, behind .data. */
#define TEXT (MODULE + 0x10)
#define RING (4 * PAGE)

/* Bytes that are nowhere else, and none is 0, of which rings are full. */
static uint8_t noise[1 << 16];
static size_t n_noise;

static void
cpus_init(struct pt_run *r, const struct sim_options *sim)
{
	pt_run_init(r, sim);
	n_noise = 0;
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	r->pt.buffer_bytes = RING;
	r->pt.flags |= HWTD_CAPTURE_PTF_ANY_BUFFER;
	pt_run_exec(r, r->path, 0x200000);
}

static void
make_noise(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(noise); i++) {
		x = x * 1664525 + 1013904223;
		noise[i] = (uint8_t)(1 + (x >> 16) % 255);
	}
}

static void
trace_on(struct pt_run *r, unsigned cpu, uint64_t ns, const uint8_t *bytes,
    size_t n, uint64_t page_ns)
{
	pt_run_step(r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.cpu = cpu,
		.ns = ns,
		.bytes = bytes,
		.n = n,
		.piece = PAGE,
		.piece_ns = page_ns });
}

/* `n` bytes that no other step writes. */
static void
noise_on(struct pt_run *r, unsigned cpu, uint64_t ns, size_t n,
    uint64_t page_ns)
{
	assert_true(n_noise + n <= sizeof(noise));
	trace_on(r, cpu, ns, noise + n_noise, n, page_ns);
	n_noise += n;
}

/* All is accounted for; `missing` bytes are not in the file. */
static void
assert_bytes(const struct pt_run *r, uint64_t missing)
{
	struct engine_account account;

	engine_account(&r->run, false, &account);
	assert_string_equal(account.wrong, "");
	assert_int_equal(account.missing, missing);
}

/* Extents of the stream of a CPU: "[0,1000) new ", or "none". */
static void
assert_extents(const struct pt_run *r, const char *name, const char *text)
{
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_trace *trace = engine_run_open(&r->run);
	char out[600] = "";
	size_t n = 0;
	uint32_t id = 0;

	while (hwtd_trace_stream(trace, id, &desc) == HWTD_OK &&
	    strcmp(desc.name, name) != 0)
		id++;
	for (size_t i = 0; hwtd_trace_extent(trace, id, i, &e) == HWTD_OK; i++)
		n += (size_t)snprintf(out + n, sizeof(out) - n,
		    "[%" PRIu64 ",%" PRIu64 ") %s ", e.start, e.end,
		    e.why == HWTD_EXTENT_NEW ? "new" : "after-loss");
	assert_string_equal(n == 0 ? "none" : out, text);
	hwtd_trace_close(trace);
}

/* An object: .data of 4 bytes, then .text. */
static void
write_module(const char *path)
{
	static const uint8_t code[] = { 0xeb, 0x00, 0xeb, 0x00, 0x90, 0xff,
		0xe0 };
	struct elf_writer w;
	size_t at;

	elf_writer_init(&w, true, false, 1, 62);
	at = elf_writer_put(&w, code, sizeof(code), 16);
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".data",
		.type = 1,
		.flags = 3,
		.off = at,
		.size = 4,
		.align = 4 });
	(void)elf_writer_section(&w,
	    &(struct elf_writer_section){ .name = ".text",
		.type = 1,
		.flags = 6,
		.off = at,
		.size = sizeof(code),
		.align = 16 });
	elf_writer_finish(&w);
	write_file(path, w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

static void
modules_are_laid_out_as_the_kernel_does_and_their_flow_is_known(void **state)
{
	char path[300], rows[2000] = "mode value=0 status 64\n";
	struct hwtd_record rec = { .size = sizeof(rec) };
	struct pt_packets p = { 0 };
	struct hwtd_trace *trace;
	struct pt_run r;
	unsigned kernels = 0, modules = 0;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 2 });
	write_module(temp_dir_file(&r.run.dir, "some.ko", path));
	sim_add_module(r.run.kernel, "some.ko", path, MODULE, 0x2000);
	pt_psb(&p);
	pt_mode_exec(&p, 64);
	pt_psbend(&p);
	pt_pge(&p, PT_IP_64, TEXT);
	pt_tip(&p, PT_IP_16, TEXT);
	pt_tip(&p, PT_IP_16, TEXT);
	pt_pgd(&p, PT_IP_NONE, 0);
	trace_on(&r, 1, MS, p.bytes, p.n, 0);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_losses(&r, "");
	pt_run_rows(rows, sizeof(rows), TEXT, 3, 0);
	pt_run_assert_rows(&r, 0, rows);
	trace = engine_run_open(&r.run);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &rec) == HWTD_OK;
	     i++) {
		if (rec.type == HWTD_REC_KERNEL) {
			kernels++;
			assert_string_equal(rec.name, "/boot/kernel/kernel");
			assert_int_equal(rec.addr, 0xffffffff80200000);
		}
		if (rec.type != HWTD_REC_MODULE_LOAD)
			continue;
		modules++;
		assert_true((rec.flags & HWTD_RECF_KERNEL_SPACE) != 0);
		if (strcmp(rec.name, path) != 0)
			continue;
		assert_int_equal(rec.addr, MODULE);
		assert_int_equal(rec.len, 0x2000);
	}
	/* hwt.ko, pt.ko and this one. */
	assert_int_equal(kernels, 1);
	assert_int_equal(modules, 3);
	hwtd_trace_close(trace);
	pt_free(&p);
	pt_run_fini(&r);
}

static void
only_the_cpus_that_are_named_are_traced(void **state)
{
	static const uint32_t cpus[] = { 2 };
	struct hwtd_stream_desc desc = { .size = sizeof(desc) };
	struct hwtd_trace *trace;
	struct pt_run r;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 3 });
	r.run.options.cpus = cpus;
	r.run.options.n_cpus = 1;
	noise_on(&r, 0, MS, 600, 0);
	noise_on(&r, 2, MS, 500, 0);
	noise_on(&r, 1, MS, 400, 0);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_bytes(&r, 0);
	assert_int_equal(r.run.status.n_bytes, 500);
	trace = engine_run_open(&r.run);
	assert_int_equal(hwtd_trace_stream(trace, 0, &desc), HWTD_OK);
	assert_int_equal(desc.cpu, 2);
	assert_int_equal(desc.tid, HWTD_NO_ID);
	assert_int_equal(hwtd_trace_stream(trace, 1, &desc), HWTD_E_NOT_FOUND);
	hwtd_trace_close(trace);
	pt_run_fini(&r);
}

static void
sets_of_cpus_that_cannot_be_are_refused_before_anything_is_made(void **state)
{
	static const struct {
		uint32_t cpus[2];
		size_t n;
		const char *words;
	} sets[] = {
		{ { 1, 2 }, 2, "no CPU 2; this machine has 2" },
		{ { 0, 4000000000u }, 2, "no CPU 4000000000" },
		{ { 1, 1 }, 2, "CPU 1 is named twice" },
		{ { 0, 0 }, 0, "no CPU to trace" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct pt_run r;

		cpus_init(&r, &(struct sim_options){ .n_cpus = 2 });
		r.run.options.cpus = sets[i].cpus;
		r.run.options.n_cpus = sets[i].n;
		pt_run_fails(&r, HWTD_E_INVALID, sets[i].words);
		assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_ALLOC),
		    0);
		assert_int_not_equal(access(r.run.output, F_OK), 0);
		pt_run_fini(&r);
	}
}

/* hwt(4) has one capture of CPUs by pt at a time, and tells another one nothing. */
static void
another_capture_of_cpus_has_nothing_and_asks_for_nothing(void **state)
{
	static const uint32_t cpus[] = { 0, 1 };
	struct hwtd_capture_options o;
	struct hwtdi_engine a, b;
	struct pt_run r;
	char other[300];
	bool ended;

	(void)state;
	for (int same = 0; same < 2; same++) {
		cpus_init(&r, &(struct sim_options){ .n_cpus = 2 });
		noise_on(&r, 0, MS, 3 * PAGE, 3 * MS);
		pt_run_exit(&r, 0);
		o = r.run.options;
		o.pt = &r.pt;
		o.argv = r.argv;
		o.cpus = cpus;
		o.n_cpus = 1;
		assert_int_equal(hwtdi_engine_begin(&a, r.run.ctx,
				     sim_system(r.run.kernel), &o, &r.run.err),
		    HWTD_OK);
		o.argv = NULL;
		o.cpus = cpus + 1 - same;
		o.output = temp_dir_file(&r.run.dir, "b.hwt", other);
		assert_int_equal(hwtdi_engine_begin(&b, r.run.ctx,
				     sim_system(r.run.kernel), &o, &r.run.err),
		    HWTD_OK);
		ended = false;
		for (int i = 0; i < 1000 && !ended; i++) {
			assert_int_equal(hwtdi_engine_step(&b, &ended, NULL),
			    HWTD_OK);
			assert_int_equal(hwtdi_engine_step(&a, &ended, NULL),
			    HWTD_OK);
			hwtdi_engine_pause(&a);
		}
		assert_true(ended);
		assert_int_equal(hwtdi_engine_end(&b, NULL), HWTD_OK);
		assert_int_equal(hwtdi_engine_end(&a, NULL), HWTD_OK);
		assert_int_equal(b.status.n_bytes, 0);
		assert_int_equal(b.status.losses[HWTD_CAPTURE_LOST_UNKNOWN],
		    1);
		assert_int_equal(b.status.losses[HWTD_CAPTURE_DOUBTED], 0);
		assert_int_equal(a.status.n_bytes, 3 * PAGE);
		assert_int_equal(a.status.losses[HWTD_CAPTURE_LOST_UNKNOWN],
		    0);
		hwtdi_engine_fini(&b);
		hwtdi_engine_fini(&a);
		engine_run_check(&r.run);
		pt_run_fini(&r);
	}
}

/* More than fit into a set of the kernel, or into memory. */
static void
numbers_of_cpus_that_no_machine_has_are_refused(void **state)
{
	static const uint32_t cpus[] = { 0 };
	static const size_t counts[] = { 1025, SIZE_MAX / 4 + 2, SIZE_MAX };
	static const uint32_t machines[] = { 1025, 0x7fffffff, UINT32_MAX };
	struct pt_run r;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		cpus_init(&r, &(struct sim_options){ .n_cpus = 2 });
		r.run.options.cpus = cpus;
		r.run.options.n_cpus = counts[i];
		pt_run_fails(&r, HWTD_E_LIMIT, "up to 1024");
		pt_run_fini(&r);
		cpus_init(&r, &(struct sim_options){ .n_cpus = 2 });
		sim_set_sysctl(r.run.kernel, "hw.ncpu", &machines[i],
		    sizeof(machines[i]));
		pt_run_fails(&r, HWTD_E_LIMIT, "up to 1024");
		assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_ALLOC),
		    0);
		pt_run_fini(&r);
	}
}

static void
cpus_of_a_capture_of_threads_are_refused(void **state)
{
	static const uint32_t cpus[] = { 0 };
	struct pt_run r;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 2 });
	r.run.options.mode = HWTD_CAPTURE_THREADS;
	r.run.options.cpus = cpus;
	r.run.options.n_cpus = 1;
	pt_run_fails(&r, HWTD_E_INVALID, "whatever CPU they run");
	pt_run_fini(&r);
}

static void
a_ring_that_goes_round_is_one_piece_while_looks_keep_up(void **state)
{
	struct pt_run r;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 1 });
	/* 11 pages and a bit, 3 ms for each, in a ring of 4. */
	noise_on(&r, 0, MS, 11 * PAGE + 100, 3 * MS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_losses(&r, "");
	assert_extents(&r, "pt CPU 0", "[0,45156) new ");
	assert_bytes(&r, 0);
	pt_run_fini(&r);
}

static void
records_that_the_kernel_dropped_are_not_missed(void **state)
{
	struct pt_run r;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 1 });
	sim_drop_buffers(r.run.kernel, 1000);
	noise_on(&r, 0, MS, 11 * PAGE + 100, 3 * MS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	pt_run_assert_losses(&r, "");
	assert_extents(&r, "pt CPU 0", "[0,45156) new ");
	pt_run_fini(&r);
}

static void
laps_that_nobody_saw_are_told(void **state)
{
	struct pt_run r;
	struct engine_account account;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 1 });
	/* A page; two laps and a page before the next look; a page. */
	noise_on(&r, 0, MS, PAGE, MS);
	noise_on(&r, 0, 5 * MS, 9 * PAGE, 100);
	noise_on(&r, 0, 5 * MS, PAGE, 100);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	engine_account(&r.run, false, &account);
	assert_string_equal(account.wrong, "");
	assert_true(account.missing >= 6 * PAGE);
	assert_int_equal(account.after_loss, 1);
	assert_true(r.run.status.losses[HWTD_CAPTURE_LOST_BYTES] > 0);
	pt_run_fini(&r);
}

static void
a_lap_to_the_same_position_is_found_by_what_it_wrote(void **state)
{
	struct pt_run r;
	struct engine_account account;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 1 });
	sim_drop_buffers(r.run.kernel, 1000);
	noise_on(&r, 0, MS, 2 * PAGE, MS);
	/* Once round, to the same page. */
	noise_on(&r, 0, 5 * MS, RING, 100);
	noise_on(&r, 0, 5 * MS, PAGE, 100);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	engine_account(&r.run, false, &account);
	assert_string_equal(account.wrong, "");
	/* What was there last is saved, but for what may be torn. */
	assert_true(account.missing <= RING);
	pt_run_fini(&r);
}

static void
stock_kernels_are_not_stopped_and_the_last_page_is_saved_all_the_same(void *
	*state)
{
	struct pt_run r;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 2 });
	/* No interrupt ever comes. */
	noise_on(&r, 0, MS, 777, 0);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_STOP), 0);
	pt_run_assert_losses(&r, "");
	assert_extents(&r, "pt CPU 0", "[0,777) new ");
	assert_extents(&r, "pt CPU 1", "none");
	pt_run_fini(&r);
}

static void
kernels_of_5bsd_are_stopped_and_tell_the_last_position(void **state)
{
	struct pt_run r;

	(void)state;
	cpus_init(&r,
	    &(struct sim_options){ .n_cpus = 2, .flavour = SIM_5BSD });
	noise_on(&r, 0, MS, 5 * PAGE + 777, 3 * MS);
	pt_run_exit(&r, 0);
	pt_run_ok(&r);
	assert_int_equal(sim_call_count(r.run.kernel, SIM_CALL_STOP), 1);
	pt_run_assert_losses(&r, "");
	assert_extents(&r, "pt CPU 0", "[0,21257) new ");
	pt_run_fini(&r);
}

static void
a_capture_of_cpus_without_a_program_ends_with_its_time(void **state)
{
	struct sim_program *other;
	struct pt_run r;

	(void)state;
	cpus_init(&r, &(struct sim_options){ .n_cpus = 1 });
	r.run.options.argv = NULL;
	r.run.options.max_ns = 30 * MS;
	other = sim_program(r.run.kernel, NULL);
	sim_add(other,
	    &(struct sim_step){ .op = SIM_TRACE,
		.ns = 5 * MS,
		.bytes = noise,
		.n = 2 * PAGE + 5 });
	(void)sim_start(r.run.kernel, other, "other", 1);
	pt_run_ok(&r);
	assert_int_equal(r.run.status.pid, HWTD_NO_ID);
	assert_int_equal(r.run.status.program_ended, 0);
	assert_true(r.run.status.time_ns >= 30 * MS &&
	    r.run.status.time_ns < 40 * MS);
	assert_extents(&r, "pt CPU 0", "[0,8197) new ");
	pt_run_fini(&r);
}

static void
two_ways_to_record_cpus_go_into_one_file(void **state)
{
	static struct arm_sample samples[100];
	static uint8_t frames[4096];
	const struct sim_options o = { .flavour = SIM_FORK, .n_cpus = 2 };
	struct hwtd_stream_desc desc;
	struct hwtd_trace *trace;
	struct arm_run *r = arm_run_new(&o);
	unsigned kernels = 0;
	struct hwtd_record rec = { .size = sizeof(rec) };

	(void)state;
	r->cs.buffer_bytes = RING;
	r->run.options.coresight = &r->cs;
	r->run.options.mode = HWTD_CAPTURE_CPUS;
	arm_run_exec(r);
	/* The simulated CPU writes to what started last: that is coresight. */
	for (size_t i = 0; i < sizeof(frames); i++)
		frames[i] = (uint8_t)(i % 16 == 0 ? 3 : i % 16 == 15 ? 0 : i);
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.ns = MS,
		.bytes = frames,
		.n = sizeof(frames) });
	arm_run_exit(r);
	arm_run_ok(r);
	arm_run_assert_losses(r, "");
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_ALLOC), 2);
	/* That of SPE; coresight has none. */
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_STOP), 1);
	trace = engine_run_open(&r->run);
	(void)arm_run_stream(trace, "ETR", &desc);
	assert_int_equal(desc.n_bytes, sizeof(frames));
	(void)arm_run_stream(trace, "ID 1", &desc);
	assert_int_equal(desc.cpu, 0);
	assert_int_equal(arm_run_samples(trace,
			     arm_run_stream(trace, "spe CPU 0", &desc),
			     samples, 100),
	    0);
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &rec) == HWTD_OK; i++)
		kernels += rec.type == HWTD_REC_KERNEL;
	assert_true(kernels > 0);
	hwtd_trace_close(trace);
	arm_run_free(r);
}

static void
two_ways_to_record_threads_are_refused(void **state)
{
	const struct sim_options o = { .flavour = SIM_FORK, .n_cpus = 2 };
	struct arm_run *r = arm_run_new(&o);

	(void)state;
	r->run.options.coresight = &r->cs;
	arm_run_exec(r);
	arm_run_fails(r, HWTD_E_UNSUPPORTED, "take one way to record");
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_ALLOC), 0);
	arm_run_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    modules_are_laid_out_as_the_kernel_does_and_their_flow_is_known),
		cmocka_unit_test(only_the_cpus_that_are_named_are_traced),
		cmocka_unit_test(
		    sets_of_cpus_that_cannot_be_are_refused_before_anything_is_made),
		cmocka_unit_test(
		    another_capture_of_cpus_has_nothing_and_asks_for_nothing),
		cmocka_unit_test(
		    numbers_of_cpus_that_no_machine_has_are_refused),
		cmocka_unit_test(cpus_of_a_capture_of_threads_are_refused),
		cmocka_unit_test(
		    a_ring_that_goes_round_is_one_piece_while_looks_keep_up),
		cmocka_unit_test(
		    records_that_the_kernel_dropped_are_not_missed),
		cmocka_unit_test(laps_that_nobody_saw_are_told),
		cmocka_unit_test(
		    a_lap_to_the_same_position_is_found_by_what_it_wrote),
		cmocka_unit_test(
		    stock_kernels_are_not_stopped_and_the_last_page_is_saved_all_the_same),
		cmocka_unit_test(
		    kernels_of_5bsd_are_stopped_and_tell_the_last_position),
		cmocka_unit_test(
		    a_capture_of_cpus_without_a_program_ends_with_its_time),
		cmocka_unit_test(two_ways_to_record_cpus_go_into_one_file),
		cmocka_unit_test(two_ways_to_record_threads_are_refused),
	};

	make_noise();
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
