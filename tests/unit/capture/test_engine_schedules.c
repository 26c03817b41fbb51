/*
 * Random programs, machines and faults: captures lose no byte without a word.
 *
 * HWTDECODE_SEED=n runs one of them alone.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine_account.h"
#include "support/code_file.h"

#define PAGE 4096u
#define POOL ((size_t)1 << 20)
#define SCHEDULES 10000u
#define SCHEDULES_SMALL 500u

enum kind {
	PT_THREADS,
	PT_CPUS,
	SPE_THREADS,
	SPE_CPUS,
	CS_THREADS,
	CS_CPUS,
	SPE_AND_CS,
	KINDS
};

static const char *const kind_names[] = { "pt threads", "pt cpus",
	"spe threads", "spe cpus", "coresight threads", "coresight cpus",
	"spe and coresight" };

/* Bytes that nobody writes twice by chance. */
static uint8_t pool[POOL];

struct schedule {
	uint64_t seed, random;
	enum kind kind;
	/* Nothing fails, and each slice is seen before the next one. */
	bool gentle;
	unsigned per_mille;
	bool attach;
	size_t buffer;
	struct sim_options sim;
	struct hwtd_capture_pt pt;
	struct hwtd_capture_spe spe;
	struct hwtd_capture_coresight cs;
	unsigned n_threads;
	/* Errors of the hardware, which end SPE. */
	bool errors;
	/* The program never ends by itself. */
	bool endless;
	/* With filters; threads are held until the images of these are there. */
	bool filtered;
	const char *filters[2];
	char program[300], library[300];
	const char *argv[2];
};

static uint64_t
draw(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (x * 0x2545f4914f6cdd1dULL >> 16);
}

static unsigned
below(struct schedule *s, unsigned n)
{
	return ((unsigned)(draw(&s->random) % n));
}

static bool
is_cpus(const struct schedule *s)
{
	return (s->kind == PT_CPUS || s->kind == SPE_CPUS ||
	    s->kind == CS_CPUS || s->kind == SPE_AND_CS);
}

static bool
has_frames(const struct schedule *s)
{
	return (s->kind == CS_THREADS || s->kind == CS_CPUS);
}

static void
plan_machine(struct schedule *s)
{
	struct sim_options *o = &s->sim;
	const bool pt = s->kind <= PT_CPUS;

	o->arch = pt ? SIM_AMD64 : SIM_ARM64;
	o->flavour = !pt ? SIM_FORK : below(s, 3) == 0 ? SIM_5BSD : SIM_STOCK;
	o->n_cpus = 1 + below(s, 3);
	if (s->gentle) {
		/* Threads of SPE are served if there are CPUs of their numbers. */
		o->n_cpus += s->kind == SPE_THREADS ? 30 : 0;
		return;
	}
	if (below(s, 4) != 0)
		o->seed = 1 + draw(&s->random);
	if (pt && o->flavour == SIM_STOCK && below(s, 3) == 0) {
		o->positions = below(s, 2) == 0 ? SIM_INDEX_LOST
						: SIM_SATURATED;
		o->positions_at_pmi_only = below(s, 2) == 0;
	}
	o->coalesce = below(s, 5) == 0;
	o->swi_after_switch = below(s, 5) == 0;
	o->lose_wakeups = below(s, 5) == 0;
	if (!pt && below(s, 3) == 0)
		o->etf_bytes = 16 * below(s, 100);
	if (below(s, 4) == 0)
		o->call_ns = 100 + below(s, 100000);
}

static void
plan_capture(struct schedule *s, struct engine_run *run)
{
	s->pt.size = sizeof(s->pt);
	s->spe.size = sizeof(s->spe);
	s->cs.size = sizeof(s->cs);
	s->buffer = (s->gentle ? 8 : 2 + 2 * below(s, 8)) * PAGE;
	s->pt.buffer_bytes = s->spe
				 .buffer_bytes = s->cs
						     .buffer_bytes = s->buffer;
	run->options.mode = is_cpus(s) ? HWTD_CAPTURE_CPUS
				       : HWTD_CAPTURE_THREADS;
	if (s->kind <= PT_CPUS)
		run->options.pt = &s->pt;
	else if (!has_frames(s))
		run->options.spe = &s->spe;
	if (has_frames(s) || s->kind == SPE_AND_CS)
		run->options.coresight = &s->cs;
	run->options.level = 1;
	if (below(s, 4) == 0)
		run->options.flags |= HWTD_CAPTUREF_KILL;
	if (!s->gentle && below(s, 8) == 0)
		run->options.max_bytes = 1 + below(s, 100000);
	if (s->endless || (!s->gentle && below(s, 8) == 0))
		run->options.max_ns = 1000000 + below(s, 60000000);
	if (!s->gentle && below(s, 3) == 0)
		run->options.interval_ns = 100000 + below(s, 5000000);
}

/* Bytes of one time on a CPU. */
static size_t
some_bytes(struct schedule *s)
{
	const size_t most = s->gentle ? s->buffer / 4 : s->buffer / 2;
	size_t n;

	switch (s->gentle ? below(s, 3) : below(s, 8)) {
	case 0:
		n = 1 + below(s, 200);
		break;
	case 1:
		n = PAGE * (1 + below(s, 2));
		break;
	case 7:
		n = 1 + below(s, (unsigned)(3 * s->buffer));
		break;
	default:
		n = 1 + below(s, (unsigned)most);
	}
	if (s->gentle && n > most)
		n = most;
	if (s->kind >= CS_THREADS)
		n = (n + 15) & ~(size_t)15;
	return (n);
}

static void
add_trace(struct schedule *s, struct sim_step *step)
{
	step->op = SIM_TRACE;
	step->n = some_bytes(s);
	step->bytes = pool + below(s, (unsigned)(POOL - step->n));
	if (s->gentle)
		return;
	if (below(s, 3) == 0)
		step->flags |= SIM_STAY;
	if (below(s, 8) == 0)
		step->flags |= SIM_ONE_PMI;
	if (below(s, 10) == 0)
		step->flags |= SIM_PARTIAL;
	if (s->kind == SPE_THREADS || s->kind == SPE_CPUS)
		step->piece = 64;
	else if (below(s, 2) == 0)
		step->piece = 16 * (1 + below(s, 300));
	step->piece_ns = 1 + below(s, 300000);
}

static void
add_other(struct schedule *s, struct sim_step *step, unsigned *made)
{
	switch (below(s, 8)) {
	case 0:
		step->op = SIM_MMAP;
		step->path = s->library;
		step->addr = 0x800000000 + below(s, 100) * UINT64_C(0x10000);
		step->len = 0x1000;
		break;
	case 1:
		step->op = SIM_MUNMAP;
		step->addr = 0x800000000 + below(s, 100) * UINT64_C(0x10000);
		step->len = 0x1000;
		break;
	case 2:
	case 3:
		step->op = SIM_THREAD_CREATE;
		step->number = (*made)++;
		break;
	case 4:
		/* Of a thread that runs something is to be seen. */
		step->op = s->gentle ? SIM_IDLE : SIM_SWITCH_IN;
		break;
	case 5:
		step->op = SIM_SWITCH_OUT;
		break;
	case 6:
		step->op = step->thread != 0 ? SIM_THREAD_EXIT : SIM_IDLE;
		break;
	default:
		step->op = s->errors
		    ? s->kind <= PT_CPUS ? SIM_PT_ERROR : SIM_SPE_ERROR
		    : SIM_IDLE;
		break;
	}
}

/* A file with a function. */
static void
write_image(const struct engine_run *run, const char *name, char path[300])
{
	static const struct code_area area = { 0x1000, 0x1000, 0 };
	static const struct code_symbol symbol = { "work",
		CODE_GLOBAL | CODE_FUNC, 1, 0x1100, 0x40, 0 };
	const struct code_spec spec = {
		.areas = &area,
		.n_areas = 1,
		.symbols = &symbol,
		.n_symbols = 1,
	};
	struct elf_writer w;

	code_file_write(&w, &spec);
	write_file(temp_dir_file(&run->dir, name, path), w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

static void
plan_images(struct schedule *s, struct engine_run *run)
{
	static const char *const filters[] = { "work@program", "work@libx.so",
		"0x1000-0x1fff@libx.so", "work@absent.so" };

	(void)snprintf(s->program, sizeof(s->program), "/bin/program");
	(void)snprintf(s->library, sizeof(s->library), "/lib/libx.so");
	s->argv[0] = s->program;
	s->filtered = s->kind == PT_THREADS && !s->gentle && below(s, 3) != 0;
	if (!s->filtered)
		return;
	write_image(run, "program", s->program);
	write_image(run, "libx.so", s->library);
	run->options.n_filters = 1 + below(s, 2);
	for (size_t i = 0; i < run->options.n_filters; i++)
		s->filters[i] = filters[below(s, below(s, 4) == 0 ? 4 : 3)];
	run->options.filters = s->filters;
}

static void
plan_program(struct schedule *s, struct engine_run *run)
{
	const unsigned n = 4 + below(s, 16);
	struct sim_program *program = sim_program(run->kernel, s->program);
	unsigned made = s->n_threads;

	if (!s->attach)
		sim_add(program,
		    &(struct sim_step){ .op = SIM_EXEC,
			.path = s->program,
			.addr = 0x200000,
			.off = 0x1000,
			.len = 0x1000 });
	for (unsigned i = 0; i < n; i++) {
		struct sim_step step = { .op = SIM_IDLE };

		step.thread = below(s, made);
		step.cpu = below(s, s->sim.n_cpus);
		step.ns = s->gentle
		    ? 5000000 + below(s, 3000000)
		    : below(s, below(s, 3) == 0 ? 6000000 : 300000);
		if (below(s, 4) != 0)
			add_trace(s, &step);
		else
			add_other(s, &step, &made);
		sim_add(program, &step);
	}
	/* All is looked at once more before the end. */
	for (unsigned i = 0; s->gentle && i < made; i++)
		sim_add(program,
		    &(struct sim_step){ .op = SIM_IDLE,
			.thread = i,
			.ns = 5000000 });
	if (!s->endless)
		sim_add(program,
		    &(struct sim_step){ .op = SIM_EXIT,
			.ns = s->gentle ? 5000000 : below(s, 3000000),
			.status = 3 });
	if (s->attach)
		run->options.pid = (uint32_t)sim_start(run->kernel, program,
		    "program", s->n_threads);
	else
		run->options.argv = s->argv;
}

static void
plan(struct schedule *s, struct engine_run *run)
{
	memset(s, 0, offsetof(struct schedule, seed));
	s->random = s->seed * 0x9e3779b97f4a7c15ULL + 0x1234567;
	(void)draw(&s->random);
	s->kind = (enum kind)below(s, KINDS);
	s->gentle = below(s, 6) == 0;
	if (!s->gentle && below(s, 3) != 0)
		s->per_mille = 1 + below(s, below(s, 2) == 0 ? 5 : 40);
	s->errors = !s->gentle && below(s, 10) == 0;
	s->endless = below(s, 8) == 0 && !s->gentle;
	s->attach = !is_cpus(s) && below(s, 4) == 0;
	s->n_threads = s->attach ? 1 + below(s, 3) : 1;
	plan_machine(s);
	engine_run_init(run, &s->sim);
	plan_capture(s, run);
	plan_images(s, run);
	plan_program(s, run);
	if (s->per_mille != 0)
		sim_fault_schedule(run->kernel, draw(&s->random),
		    s->per_mille);
}

static void
describe(const struct schedule *s, const struct engine_run *run, char *out,
    size_t room)
{
	(void)snprintf(out, room,
	    "HWTDECODE_SEED=%" PRIu64 ": %s%s, faults %u, flavour %d, "
	    "positions %d, %zu pages%s%s%s",
	    s->seed, kind_names[s->kind], s->gentle ? ", gentle" : "",
	    s->per_mille, (int)s->sim.flavour, (int)s->sim.positions,
	    s->buffer / PAGE, s->attach ? ", attached" : "",
	    s->sim.seed != 0 ? ", out of turn" : "",
	    s->filtered ? ", filtered" : "");
	(void)run;
}

/* What is left behind, and what broke; NULL: nothing. */
static const char *
check_kernel(const struct schedule *s, const struct engine_run *run)
{
	struct sim_leaks leaks;

	if (sim_panics(run->kernel) > 0)
		return (sim_panic(run->kernel, 0));
	if (sim_hangs(run->kernel) > 0)
		return (sim_hang(run->kernel, 0));
	if (run->endless)
		return ("it does not end");
	sim_leaks(run->kernel, &leaks);
	if (leaks.fds > 0)
		return ("a descriptor is left");
	if (leaks.mappings > 0)
		return ("a mapping is left");
	if (leaks.gates > 0)
		return ("a gate is left");
	if (leaks.children > 0 && !s->attach &&
	    (!run->begun || run->status.program_ended != 0))
		return ("a child is left");
	return (NULL);
}

/* Who was held for a filter goes on when the capture is over. */
static const char *
check_held(const struct schedule *s, const struct engine_run *run)
{
	const struct hwtdi_system *sys = sim_system(run->kernel);
	struct hwtdi_exit how = { 0 };

	if (!s->filtered || s->attach || s->endless || s->per_mille != 0 ||
	    !run->begun || run->status.program_ended != 0)
		return (NULL);
	sim_run(run->kernel, UINT64_C(10000000000));
	if (sys->ended(sys->state, (pid_t)run->status.pid, &how) != 0 ||
	    !how.ended)
		return ("the program is held, and its capture is over");
	return (NULL);
}

static const char *
check_gentle(const struct engine_run *run, int rc,
    const struct engine_account *a, char *text, size_t room)
{
	if (rc != HWTD_OK)
		return (run->err.message);
	for (uint32_t i = 0; i < HWTD_CAPTURE_LOSSES; i++)
		if (run->status.losses[i] != 0) {
			(void)snprintf(text, room, "%" PRIu64 " %s are lost",
			    run->status.losses[i], hwtd_capture_loss_name(i));
			return (text);
		}
	if (a->missing != 0 || a->after_loss != 0)
		return ("bytes are missing, or a loss is told");
	return (NULL);
}

/* What was written, and what is in the file. */
static void
print_file(const struct engine_run *run)
{
	struct hwtd_trace *trace = engine_run_open(run);
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_record r = { .size = sizeof(r) };

	for (size_t i = 0; i < sim_buffers(run->kernel); i++) {
		struct sim_buffer b;

		sim_buffer(run->kernel, i, &b);
		print_message("buffer %d %d thread %u: %zu bytes, %zu before "
			      "the end\n",
		    b.ident, b.id, b.tid, b.n, run->written[i]);
		for (size_t k = 0; k < b.n_slices; k++)
			print_message("  %zu bytes from %zu at %" PRIu64
				      ", %" PRIu64 " us, CPU %u\n",
			    b.slices[k].n, b.slices[k].offset, b.slices[k].at,
			    b.slices[k].ns / 1000, b.slices[k].cpu);
	}
	for (uint32_t i = 0; hwtd_trace_stream(trace, i, &d) == HWTD_OK; i++) {
		print_message("stream %u %s thread %u\n", i, d.name, d.tid);
		for (size_t k = 0;
		     hwtd_trace_extent(trace, i, k, &e) == HWTD_OK; k++)
			print_message("  [%" PRIu64 ", %" PRIu64
				      ") why %" PRIu32 "\n",
			    e.start, e.end, e.why);
	}
	for (uint64_t i = 0; hwtd_trace_record(trace, i, &r) == HWTD_OK; i++)
		print_message("%s stream %" PRIu32 " value %" PRIu64
			      " len %" PRIu64 " off %" PRIu64 " time %" PRIu64
			      " us %s\n",
		    hwtd_record_type_name(r.type), r.stream, r.value, r.len,
		    r.file_off, r.time_ns / 1000,
		    r.name != NULL ? r.name : "");
	hwtd_trace_close(trace);
}

/* False: something is wrong, which was printed. */
static bool
run_one(uint64_t seed, bool talk)
{
	struct schedule s;
	struct engine_run run;
	struct engine_account account = { .wrong = "" };
	char what[300], text[300];
	const char *wrong;
	int rc;

	memset(&s, 0, sizeof(s));
	s.seed = seed;
	plan(&s, &run);
	describe(&s, &run, what, sizeof(what));
	if (talk)
		print_message("%s\n", what);
	rc = engine_run(&run);
	if (talk)
		print_message("code %d: %s\n", rc,
		    rc == 0 ? "" : run.err.message);
	wrong = check_kernel(&s, &run);
	if (wrong == NULL && rc != HWTD_OK && s.per_mille == 0 && !s.errors &&
	    !((s.attach || s.filtered) && rc == HWTD_E_NOT_FOUND))
		wrong = run.err.message;
	if (wrong == NULL)
		wrong = check_held(&s, &run);
	if (wrong == NULL && run.begun) {
		engine_account(&run, rc != HWTD_OK, &account);
		if (account.wrong[0] != '\0')
			wrong = account.wrong;
		else if (s.gentle)
			wrong = check_gentle(&run, rc, &account, text,
			    sizeof(text));
	}
	if (talk && run.begun)
		print_file(&run);
	if (wrong != NULL)
		print_error("%s\n  %s\n", what, wrong);
	engine_run_fini(&run);
	return (wrong == NULL);
}

static void
no_byte_is_lost_without_a_word(void **state)
{
	const char *one = getenv("HWTDECODE_SEED");
	const char *many = getenv("HWTDECODE_SEEDS");
	const uint64_t first = one != NULL ? strtoull(one, NULL, 0) : 1;
	const uint64_t n = one != NULL		     ? 1
	    : many != NULL			     ? strtoull(many, NULL, 0)
	    : getenv("HWTDECODE_TEST_SMALL") != NULL ? SCHEDULES_SMALL
						     : SCHEDULES;
	unsigned wrong = 0;

	(void)state;
	for (uint64_t i = 0; i < n && wrong < 20; i++)
		wrong += !run_one(first + i, one != NULL);
	assert_int_equal(wrong, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_byte_is_lost_without_a_word),
	};
	uint64_t random = 4711;

	for (size_t i = 0; i < POOL; i++)
		pool[i] = (uint8_t)draw(&random);
	return (cmocka_run_group_tests(tests, NULL, NULL));
}
