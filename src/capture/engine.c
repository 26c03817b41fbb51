/*
 * A capture from its beginning to its end.
 */
#include "capture/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/regular_file.h"
#include "capture/engine_internal.h"

#define DEFAULT_INTERVAL_NS ((uint64_t)1000000)
#define FLAGS                                                                 \
	(HWTD_CAPTUREF_ARCHIVE | HWTD_CAPTUREF_REPLACE | HWTD_CAPTUREF_KILL)

/* What is waited for at the end, and how long at most. */
#define STEP_NS ((uint64_t)1000000)
#define QUIET_NS ((uint64_t)200000000)
/* Copies of rings until threads stay where they are. */
#define STEADY_TRIES 3
#define TERM_NS ((uint64_t)2000000000)

/* What to record with */

static int
check_options(const struct hwtd_capture_options *o, struct hwtd_error *err)
{
	if (o->output == NULL || o->output[0] == '\0')
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a capture needs a file to write; name one in `output`"));
	if (o->flags & ~(uint32_t)FLAGS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "capture flags %#" PRIx32 " are not known",
		    o->flags & ~(uint32_t)FLAGS));
	if (o->mode > HWTD_CAPTURE_CPUS)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "there is no capture mode %" PRIu32, o->mode));
	if (o->argv != NULL && o->argv[0] == NULL)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "argv names no program"));
	if (o->argv != NULL && o->pid != 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "a program to start and a process that runs: take one"));
	if (o->argv != NULL && hwtdi_regular_file_same(o->argv[0], o->output))
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "%.100s is the program; name another file to write",
		    o->output));
	if (o->pid > INT32_MAX)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "process %" PRIu32 " cannot be", o->pid));
	if (o->mode == HWTD_CAPTURE_THREADS && o->argv == NULL && o->pid == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "no program to trace; name one, or a process, or trace "
		    "CPUs"));
	return (HWTD_OK);
}

static int
set_mode(struct hwtdi_engine *e, struct hwtd_error *err)
{
	const struct hwtd_capture_options *o = &e->options;
	const bool threads = o->mode == HWTD_CAPTURE_THREADS ||
	    (o->mode == 0 && (o->argv != NULL || o->pid != 0));

	e->mode = threads ? HWTDI_HWT_THREAD : HWTDI_HWT_CPU;
	if (threads && o->n_cpus > 0)
		return (hwtdi_fail(err, HWTD_E_INVALID,
		    "threads are traced on whatever CPU they run; leave the "
		    "CPUs out, or trace CPUs"));
	if (threads)
		return (HWTD_OK);
	e->n_cpus = o->cpus != NULL ? o->n_cpus : e->machine.n_cpus;
	if (e->n_cpus == 0)
		return (hwtdi_fail(err, HWTD_E_INVALID, "no CPU to trace"));
	if (e->n_cpus > HWTDI_HWT_SET_CPUS)
		return (hwtdi_fail(err, HWTD_E_LIMIT,
		    "%zu CPUs to trace; hwt(4) takes up to %d, so name fewer",
		    e->n_cpus, HWTDI_HWT_SET_CPUS));
	e->cpus = hwtdi_alloc(e->library, e->n_cpus * sizeof(*e->cpus));
	if (e->cpus == NULL)
		return (hwtdi_fail_nomem(err, e->n_cpus * sizeof(*e->cpus)));
	for (size_t i = 0; i < e->n_cpus; i++)
		e->cpus[i] = o->cpus != NULL ? o->cpus[i] : (uint32_t)i;
	return (HWTD_OK);
}

/* Options of backends that are asked for, of this library's size. */
static int
take_options(const struct hwtdi_engine *e, struct hwtdi_config_options *out,
    size_t *n_out, struct hwtd_error *err)
{
	const struct hwtd_capture_options *o = &e->options;
	const bool any = o->pt != NULL || o->spe != NULL ||
	    o->coresight != NULL;
	const bool arm = strcmp(e->machine.arch, "aarch64") == 0;
	const bool want[HWTDI_BACKENDS] = {
		[HWTDI_BACKEND_PT] = any ? o->pt != NULL : !arm,
		[HWTDI_BACKEND_SPE] = any ? o->spe != NULL : arm,
		[HWTDI_BACKEND_CORESIGHT] = o->coresight != NULL,
	};
	int rc = HWTD_OK;

	*n_out = 0;
	for (size_t i = 0; rc == HWTD_OK && i < HWTDI_BACKENDS; i++) {
		struct hwtdi_config_options *c = &out[*n_out];

		if (!want[i])
			continue;
		c->backend = (enum hwtdi_backend)i;
		c->mode = e->mode;
		rc = hwtdi_options_copy(&c->pt, sizeof(c->pt), o->pt, err);
		if (rc == HWTD_OK)
			rc = hwtdi_options_copy(&c->spe, sizeof(c->spe),
			    o->spe, err);
		if (rc == HWTD_OK)
			rc = hwtdi_options_copy(&c->coresight,
			    sizeof(c->coresight), o->coresight, err);
		(*n_out)++;
	}
	if (rc == HWTD_OK && *n_out > 1 && e->mode == HWTDI_HWT_THREAD)
		return (hwtdi_fail(err, HWTD_E_UNSUPPORTED,
		    "hwt(4) traces the threads of a process once; take one "
		    "way to record, or trace CPUs"));
	return (rc);
}

/*
 * What the kernel would be asked is checked before anything is made; which
 * kernel it is, and with it some of what it can do, is known only later.
 */
static int
open_sessions(struct hwtdi_engine *e, struct hwtd_error *err)
{
	struct hwtdi_config_options options[HWTDI_BACKENDS] = { 0 };
	size_t n;
	int rc;

	rc = take_options(e, options, &n, err);
	for (size_t i = 0; rc == HWTD_OK && i < n; i++) {
		struct hwtdi_session *s = &e->sessions[e->n_sessions];
		struct hwtdi_config_options check = options[i];
		struct hwtdi_config config;

		check.kernel = HWTDI_KERNEL_5BSD;
		rc = hwtdi_config_make(&check, &e->machine, &config, err);
		if (rc == HWTD_OK && e->options.n_filters > 0 &&
		    hwtdi_config_ranges(check.backend, &e->machine) == 0)
			rc = hwtdi_fail(err, HWTD_E_UNSUPPORTED,
			    "%s: the hardware has no filters by address",
			    hwtdi_backend_name(check.backend));
		if (rc != HWTD_OK)
			break;
		s->library = e->library;
		s->sys = e->sys;
		s->file = &e->file;
		s->machine = &e->machine;
		e->n_sessions++;
		rc = hwtdi_session_open(s, &options[i], e->pid, e->cpus,
		    e->n_cpus, err);
	}
	return (rc);
}

/* Looking */

static int
read_threads(struct hwtdi_engine *e, struct hwtdi_thread_list *list,
    struct hwtd_error *err)
{
	list->known = false;
	list->n = 0;
	if (e->mode != HWTDI_HWT_THREAD)
		return (HWTD_OK);
	if (e->last_known)
		return (hwtdi_thread_list_set(list, e->library,
		    &e->last_thread, err));
	return (hwtdi_thread_list_read(list, e->library, e->sys, (pid_t)e->pid,
	    err));
}

/*
 * Threads that are switched in or out while their ring is copied leave it in doubt
 * what is in the copy: it is made again.
 */
static int
copy_rings(struct hwtdi_engine *e, bool all, struct hwtd_error *err)
{
	struct hwtdi_thread_list list;
	bool steady = false;
	int rc = HWTD_OK;

	for (int i = 0; rc == HWTD_OK && !steady && i < STEADY_TRIES; i++) {
		if (i > 0) {
			list = e->before;
			e->before = e->after;
			e->after = list;
		}
		for (size_t k = 0; k < e->n_sessions; k++)
			hwtdi_session_look(&e->sessions[k], &e->before, all,
			    i > 0);
		rc = read_threads(e, &e->after, err);
		steady = true;
		for (size_t k = 0; rc == HWTD_OK && k < e->n_sessions; k++)
			steady = hwtdi_session_steady(&e->sessions[k],
				     &e->after) &&
			    steady;
	}
	return (rc);
}

/*
 * A look at all rings.  Records that come during it are fetched before bytes are
 * taken, since they tell positions, and handled behind them.
 */
static int
look(struct hwtdi_engine *e, bool all, bool last, struct hwtd_error *err)
{
	struct hwtdi_fetched fetched[HWTDI_BACKENDS] = { { 0 } };
	bool exact = true, over;
	uint64_t now;
	int rc = HWTD_OK;

	rc = copy_rings(e, all, err);
	for (size_t i = 0; rc == HWTD_OK && i < e->n_sessions; i++) {
		rc = hwtdi_engine_fetch(e, &e->sessions[i], &fetched[i], err);
		exact = exact && fetched[i].n == 0;
	}
	now = e->sys->now(e->sys->state);
	/* The end of the program tells more: the last look comes then. */
	over = !last && e->after.known && e->after.n == 0;
	for (size_t i = 0; rc == HWTD_OK && !over && i < e->n_sessions; i++)
		rc = hwtdi_session_take(&e->sessions[i], &e->after, now, exact,
		    last, err);
	for (size_t i = 0; rc == HWTD_OK && i < e->n_sessions; i++) {
		rc = hwtdi_engine_handle(e, &e->sessions[i], &fetched[i], err);
		if (rc == HWTD_OK)
			rc = hwtdi_session_drain(&e->sessions[i], now, err);
	}
	e->status.n_looks++;
	return (rc);
}

/* Filters and images */

static void
set_places(struct hwtdi_engine *e)
{
	const struct hwtd_search *search = e->options.search;

	e->places.as_is = true;
	if (search == NULL)
		return;
	e->places.build_id_dirs = search->build_id_dirs;
	e->places.n_build_id_dirs = search->n_build_id_dirs;
	e->places.roots = search->roots;
	e->places.n_roots = search->n_roots;
	e->places.as_is = (search->flags & HWTD_SEARCH_NO_ORIGINAL) == 0;
	e->places.dirs = search->dirs;
	e->places.n_dirs = search->n_dirs;
}

static int
add_filters(struct hwtdi_engine *e, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	set_places(e);
	hwtdi_filters_init(&e->filters, e->library, &e->places,
	    e->machine.page_size);
	for (size_t i = 0; rc == HWTD_OK && i < e->options.n_filters; i++)
		rc = hwtdi_filters_add(&e->filters, e->options.filters[i],
		    err);
	return (rc);
}

/* Ranges of all filters go into a session. */
static int
start_session(struct hwtdi_engine *e, struct hwtdi_session *s,
    struct hwtd_error *err)
{
	struct hwtdi_filter_range ranges[HWTDI_HWT_CS_RANGES];
	const size_t most = hwtdi_config_ranges(s->options.backend,
	    &e->machine);
	size_t n = 0;
	int rc = HWTD_OK;

	if (e->options.n_filters > 0)
		rc = hwtdi_filters_ranges(&e->filters, most, ranges, &n, err);
	return (rc == HWTD_OK ? hwtdi_session_start(s, ranges, n, err) : rc);
}

static int
start_all(struct hwtdi_engine *e, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < e->n_sessions; i++)
		rc = start_session(e, &e->sessions[i], err);
	e->filtering = false;
	if (rc == HWTD_OK)
		rc = hwtdi_engine_describe(e, false, err);
	/* How threads stood before anything was traced. */
	if (rc == HWTD_OK)
		rc = read_threads(e, &e->before, err);
	return (rc == HWTD_OK ? look(e, true, false, err) : rc);
}

/* Programs load images later: until then threads are held where they map code. */
static int
hold(struct hwtdi_engine *e, struct hwtd_error *err)
{
	char missing[128];
	int rc = HWTD_OK;

	if (e->mode == HWTDI_HWT_CPU) {
		(void)hwtdi_filters_missing(&e->filters, missing,
		    sizeof(missing));
		return (hwtdi_fail(err, HWTD_E_NOT_FOUND, "%s", missing));
	}
	e->filtering = true;
	e->holding = true;
	for (size_t i = 0; rc == HWTD_OK && i < e->n_sessions; i++)
		rc = hwtdi_session_pause(&e->sessions[i], true, err);
	return (rc);
}

/* Wake threads that the kernel holds, of which the records were handled. */
static int
wake(struct hwtdi_engine *e, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < e->n_sessions; i++)
		rc = hwtdi_session_wake(&e->sessions[i], &e->before, err);
	return (rc);
}

/* Beginning */

static int
spawn(struct hwtdi_engine *e, struct hwtd_error *err)
{
	const struct hwtdi_spawn program = {
		.path = e->options.argv[0],
		.argv = e->options.argv,
	};
	pid_t pid;
	int rc;

	rc = e->sys->spawn(e->sys->state, &program, &pid, &e->gate);
	if (rc < 0)
		return (hwtdi_fail_sys(err, -rc, "%.100s: cannot start: %s",
		    e->options.argv[0], strerror(-rc)));
	e->pid = (uint32_t)pid;
	e->spawned = true;
	e->gated = true;
	return (HWTD_OK);
}

static int
read_modules(struct hwtdi_engine *e, struct hwtd_error *err)
{
	size_t n = 0;
	int rc = HWTD_OK;

	for (int i = 0; rc == HWTD_OK && i < 4; i++) {
		if (e->sys->modules(e->sys->state, e->modules, e->cap_modules,
			&n) < 0)
			return (HWTD_OK);
		if (n <= e->cap_modules) {
			e->n_modules = n;
			return (HWTD_OK);
		}
		rc = hwtdi_array_grow(e->library, &e->modules, &e->cap_modules,
		    n, sizeof(*e->modules), err);
	}
	return (rc);
}

static int
add_cpus(struct hwtdi_engine *e, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	for (size_t i = 0; rc == HWTD_OK && i < e->n_sessions; i++)
		for (size_t k = 0; rc == HWTD_OK && k < e->n_cpus; k++)
			rc = hwtdi_session_add(&e->sessions[i], e->cpus[k],
			    err);
	return (rc);
}

/* Of CPUs the kernel tells itself what it is made of. */
static bool
traces_kernel(const struct hwtdi_engine *e)
{
	bool kernel = false;

	for (size_t i = 0; i < e->n_sessions; i++)
		kernel = kernel ||
		    hwtdi_config_traces_kernel(&e->sessions[i].options);
	return (kernel && e->mode == HWTDI_HWT_THREAD);
}

static int
begin(struct hwtdi_engine *e, struct hwtd_error *err)
{
	const struct hwtd_capture_options *o = &e->options;
	int rc;

	hwtdi_machine_read(e->sys, &e->machine);
	rc = set_mode(e, err);
	if (rc == HWTD_OK)
		rc = add_filters(e, err);
	if (rc == HWTD_OK)
		rc = read_modules(e, err);
	if (rc == HWTD_OK && o->argv != NULL)
		rc = spawn(e, err);
	if (rc == HWTD_OK && o->pid != 0)
		e->pid = o->pid;
	if (rc == HWTD_OK)
		rc = open_sessions(e, err);
	if (rc == HWTD_OK)
		rc = hwtdi_capture_file_open(&e->file, e->library, o->output,
		    o->level, (o->flags & HWTD_CAPTUREF_REPLACE) != 0,
		    &e->status, err);
	if (rc != HWTD_OK)
		return (rc);
	e->begun_ns = e->sys->now(e->sys->state);
	e->begun_real_ns = e->sys->real_time(e->sys->state);
	e->status.pid = e->pid;
	rc = hwtdi_engine_describe(e, false, err);
	/* Records of kernels, and of threads that there are. */
	if (rc == HWTD_OK)
		rc = hwtdi_engine_drain(e, HWTDI_DRAIN_NS, NULL, err);
	if (rc == HWTD_OK && traces_kernel(e))
		rc = hwtdi_engine_kernel(e, err);
	if (rc == HWTD_OK && e->mode == HWTDI_HWT_CPU)
		rc = add_cpus(e, err);
	if (rc == HWTD_OK && o->pid != 0)
		rc = hwtdi_engine_snapshot(e, err);
	if (rc == HWTD_OK)
		rc = hwtdi_filters_ready(&e->filters) ? start_all(e, err)
						      : hold(e, err);
	if (rc == HWTD_OK && e->gated) {
		rc = e->sys->release(e->sys->state, e->gate, true);
		e->gated = false;
		if (rc < 0)
			rc = hwtdi_fail_sys(err, -rc,
			    "%.100s: cannot be let go: %s", o->argv[0],
			    strerror(-rc));
	}
	return (rc);
}

/* A program that was not let go ends at once; nobody else asks for it. */
static void
drop_program(struct hwtdi_engine *e)
{
	struct hwtdi_exit how = { .ended = false };

	if (e->gated)
		(void)e->sys->release(e->sys->state, e->gate, false);
	e->gated = false;
	for (uint64_t ns = 0; e->spawned && !how.ended && ns < TERM_NS;
	     ns += STEP_NS) {
		const int rc = e->sys->ended(e->sys->state, (pid_t)e->pid,
		    &how);

		if (rc == -ESRCH)
			return;
		if (rc < 0 || !how.ended)
			e->sys->sleep(e->sys->state, STEP_NS);
	}
}

int
hwtdi_engine_begin(struct hwtdi_engine *e, struct hwtd_context *library,
    const struct hwtdi_system *sys, const struct hwtd_capture_options *options,
    struct hwtd_error *err)
{
	int rc;

	memset(e, 0, sizeof(*e));
	e->library = library;
	e->sys = sys;
	e->pid = HWTD_NO_ID;
	e->status.size = sizeof(e->status);
	e->status.pid = HWTD_NO_ID;
	rc = hwtdi_options_copy(&e->options, sizeof(e->options), options, err);
	if (rc == HWTD_OK)
		rc = check_options(&e->options, err);
	if (rc == HWTD_OK)
		rc = begin(e, err);
	if (rc == HWTD_OK)
		return (HWTD_OK);
	drop_program(e);
	/* A file without a capture is nobody's. */
	if (e->file.writer != NULL)
		(void)unlink(e->options.output);
	return (rc);
}

/* Looking */

static void
see_end(struct hwtdi_engine *e, bool *ended)
{
	struct hwtdi_exit how;
	int rc;

	if (e->pid == HWTD_NO_ID || e->status.program_ended != 0)
		return;
	rc = e->sys->ended(e->sys->state, (pid_t)e->pid, &how);
	if (rc < 0 && rc != -ESRCH)
		return;
	if (rc >= 0 && !how.ended)
		return;
	e->status.program_ended = 1;
	if (rc >= 0) {
		e->status.exit_status = (uint32_t)how.status;
		e->status.exit_signal = (uint32_t)how.signal;
		/* Its last time on a CPU ended with it. */
		e->last_known = how.switches_known && e->numbers.n == 1;
		e->last_thread.tid = hwtdi_thread_table_tid(&e->numbers, 0);
		e->last_thread.switches = how.switches + 1;
	}
	*ended = true;
}

static void
see_limits(struct hwtdi_engine *e, bool *ended)
{
	const struct hwtd_capture_options *o = &e->options;
	bool alive = false;

	e->status.time_ns = e->sys->now(e->sys->state) - e->begun_ns;
	if ((o->max_bytes != 0 && e->status.n_bytes >= o->max_bytes) ||
	    (o->max_ns != 0 && e->status.time_ns >= o->max_ns))
		*ended = true;
	for (size_t i = 0; i < e->n_sessions; i++)
		alive = alive || !e->sessions[i].shut_down;
	/* The kernel gave up. */
	if (!alive)
		*ended = true;
}

int
hwtdi_engine_step(struct hwtdi_engine *e, bool *ended_out,
    struct hwtd_error *err)
{
	int rc;

	/* Who is held when the records are read is in these records. */
	*ended_out = false;
	rc = read_threads(e, &e->before, err);
	if (rc == HWTD_OK)
		rc = hwtdi_engine_drain(e, HWTDI_DRAIN_NS, NULL, err);
	if (rc == HWTD_OK && e->filtering && hwtdi_filters_ready(&e->filters))
		rc = start_all(e, err);
	if (rc == HWTD_OK && e->holding)
		rc = wake(e, err);
	/* Those that were woken ran since they were listed. */
	if (rc == HWTD_OK && e->holding)
		rc = read_threads(e, &e->before, err);
	if (rc == HWTD_OK)
		rc = hwtdi_engine_pair(e, &e->before, false, err);
	if (rc == HWTD_OK)
		rc = hwtdi_engine_name(e, &e->before, err);
	if (rc == HWTD_OK)
		rc = look(e, false, false, err);
	if (rc == HWTD_OK)
		rc = hwtdi_capture_file_flush(&e->file,
		    e->sys->now(e->sys->state), err);
	if (rc != HWTD_OK)
		return (rc);
	see_end(e, ended_out);
	see_limits(e, ended_out);
	return (HWTD_OK);
}

void
hwtdi_engine_pause(struct hwtdi_engine *e)
{
	const uint64_t ns = e->options.interval_ns != 0
	    ? e->options.interval_ns
	    : DEFAULT_INTERVAL_NS;

	for (size_t i = 0; i < e->n_sessions; i++) {
		if (e->sessions[i].options.backend == HWTDI_BACKEND_SPE) {
			hwtdi_session_wait(&e->sessions[i], ns);
			return;
		}
	}
	e->sys->sleep(e->sys->state, ns);
}

/* Ending */

static bool
is_running(const struct hwtdi_thread_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->threads[i].running)
			return (true);
	return (false);
}

/* Let no thread of the program run, so that the kernel tells all positions. */
static int
quiesce(struct hwtdi_engine *e, bool *stopped_out, struct hwtd_error *err)
{
	int rc = HWTD_OK;

	*stopped_out = false;
	if (e->mode != HWTDI_HWT_THREAD || e->status.program_ended != 0)
		return (HWTD_OK);
	/* Before it is so: who says it in vain does no harm. */
	if (e->stopped != NULL)
		atomic_store(e->stopped, e->pid);
	if (e->sys->kill(e->sys->state, (pid_t)e->pid, SIGSTOP) < 0)
		return (HWTD_OK);
	*stopped_out = true;
	for (uint64_t ns = 0; ns < QUIET_NS; ns += STEP_NS) {
		rc = read_threads(e, &e->before, err);
		if (rc != HWTD_OK || !e->before.known ||
		    !is_running(&e->before))
			break;
		e->sys->sleep(e->sys->state, STEP_NS);
	}
	return (rc);
}

/* End a program that was started for the capture. */
static void
end_program(struct hwtdi_engine *e)
{
	bool ended = false;
	int sig = SIGTERM;

	for (uint64_t ns = 0; !ended && ns < 2 * TERM_NS; ns += STEP_NS) {
		if (ns == 0 || (sig == SIGTERM && ns >= TERM_NS)) {
			sig = ns == 0 ? SIGTERM : SIGKILL;
			(void)e->sys->kill(e->sys->state, (pid_t)e->pid, sig);
		}
		e->sys->sleep(e->sys->state, STEP_NS);
		see_end(e, &ended);
	}
}

/* The first failure counts, and what comes behind it is done all the same. */
static void
keep_first(int *first, int rc, struct hwtd_error *err,
    const struct hwtd_error *inner)
{
	if (*first == HWTD_OK && rc != HWTD_OK)
		*first = hwtdi_fail_pass(err, inner);
}

/* Hold no thread any more. */
static void
let_go(struct hwtdi_engine *e)
{
	for (size_t i = 0; e->filtering && i < e->n_sessions; i++)
		(void)hwtdi_session_pause(&e->sessions[i], false, NULL);
	/* Those that fall asleep only now are woken when this process ends. */
	(void)wake(e, NULL);
}

/* Nobody adds to them any more; but if there is no end of them, that is told. */
static int
drain_rest(struct hwtdi_engine *e, bool last, struct hwtd_error *err)
{
	bool more;
	int rc;

	rc = hwtdi_engine_drain(e, HWTDI_DRAIN_LAST_NS, &more, err);
	if (rc == HWTD_OK && more && last)
		rc = hwtdi_capture_file_loss(&e->file,
		    HWTD_CAPTURE_LOST_RECORDS, HWTD_NO_ID, 1, err);
	return (rc);
}

static int
take_rest(struct hwtdi_engine *e, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	bool stopped = false, ended = false;
	const uint64_t now = e->sys->now(e->sys->state);
	int first = HWTD_OK;

	see_end(e, &ended);
	if (e->spawned && e->status.program_ended == 0 &&
	    (e->options.flags & HWTD_CAPTUREF_KILL) != 0)
		end_program(e);
	keep_first(&first, quiesce(e, &stopped, &inner), err, &inner);
	/* Records tell of threads whose bytes come then. */
	keep_first(&first, drain_rest(e, false, &inner), err, &inner);
	for (size_t i = 0; i < e->n_sessions; i++)
		keep_first(&first,
		    hwtdi_session_stop(&e->sessions[i], now, &inner), err,
		    &inner);
	keep_first(&first, drain_rest(e, false, &inner), err, &inner);
	keep_first(&first, read_threads(e, &e->before, &inner), err, &inner);
	keep_first(&first, look(e, true, true, &inner), err, &inner);
	keep_first(&first, drain_rest(e, true, &inner), err, &inner);
	for (size_t i = 0; i < e->n_sessions; i++)
		keep_first(&first, hwtdi_session_end(&e->sessions[i], &inner),
		    err, &inner);
	/* Threads that are held would be so for ever. */
	if (e->holding)
		let_go(e);
	if (stopped)
		(void)e->sys->kill(e->sys->state, (pid_t)e->pid, SIGCONT);
	if (e->stopped != NULL)
		atomic_store(e->stopped, 0);
	return (first);
}

int
hwtdi_engine_end(struct hwtdi_engine *e, struct hwtd_error *err)
{
	struct hwtd_error inner = { .size = sizeof(inner) };
	char missing[128];
	int rc, took;

	took = take_rest(e, &inner);
	/* What was saved before is complete all the same. */
	rc = hwtdi_engine_describe(e, true, err);
	if (rc == HWTD_OK)
		rc = hwtdi_capture_file_finish(&e->file, err);
	if (rc == HWTD_OK && took != HWTD_OK)
		rc = hwtdi_fail_pass(err, &inner);
	if (rc == HWTD_OK && e->filtering) {
		(void)hwtdi_filters_missing(&e->filters, missing,
		    sizeof(missing));
		rc = hwtdi_fail(err, HWTD_E_NOT_FOUND, "%s", missing);
	}
	e->status.time_ns = e->sys->now(e->sys->state) - e->begun_ns;
	return (rc);
}

void
hwtdi_engine_fini(struct hwtdi_engine *e)
{
	struct hwtd_context *library = e->library;

	if (library == NULL)
		return;
	for (size_t i = 0; i < e->n_sessions; i++)
		hwtdi_session_close(&e->sessions[i]);
	hwtdi_capture_file_close(&e->file);
	hwtdi_thread_table_fini(&e->numbers, library);
	hwtdi_thread_list_fini(&e->before, library);
	hwtdi_thread_list_fini(&e->after, library);
	hwtdi_filters_fini(&e->filters);
	for (size_t i = 0; i < e->n_files; i++) {
		hwtdi_strfree(library, e->files[i].path);
		hwtdi_strfree(library, e->files[i].found);
	}
	hwtdi_array_free(library, e->files, e->cap_files, sizeof(*e->files));
	hwtdi_array_free(library, e->modules, e->cap_modules,
	    sizeof(*e->modules));
	if (e->cpus != NULL)
		hwtdi_free(library, e->cpus, e->n_cpus * sizeof(*e->cpus));
	memset(e, 0, sizeof(*e));
}
