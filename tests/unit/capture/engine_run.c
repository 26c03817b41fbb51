/*
 * Running a capture on the simulated kernel, in this process.
 */
#include "engine_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Looks after which a capture does not end by itself. */
#define MOST_LOOKS 20000

void
engine_run_init(struct engine_run *run, const struct sim_options *sim)
{
	memset(run, 0, sizeof(*run));
	temp_dir_create(&run->dir);
	(void)temp_dir_file(&run->dir, "out.hwt", run->output);
	assert_int_equal(hwtd_context_create(NULL, &run->ctx, NULL), HWTD_OK);
	run->kernel = sim_create(sim);
	run->options.size = sizeof(run->options);
	run->options.output = run->output;
	run->err.size = sizeof(run->err);
}

static void
note_written(struct engine_run *run)
{
	const size_t n = sim_buffers(run->kernel);

	assert_true(n <= ENGINE_RUN_BUFFERS);
	memset(run->written, 0, sizeof(run->written));
	for (size_t i = 0; i < n; i++) {
		struct sim_buffer buffer;

		sim_buffer(run->kernel, i, &buffer);
		run->written[i] = buffer.n;
	}
}

int
engine_run(struct engine_run *run)
{
	struct hwtdi_engine engine;
	bool ended = false;
	int rc, end;

	rc = hwtdi_engine_begin(&engine, run->ctx, sim_system(run->kernel),
	    &run->options, &run->err);
	if (rc != HWTD_OK) {
		hwtdi_engine_fini(&engine);
		return (rc);
	}
	run->begun = true;
	for (int i = 0; rc == HWTD_OK && !ended; i++) {
		if (i == MOST_LOOKS) {
			run->endless = true;
			break;
		}
		rc = hwtdi_engine_step(&engine, &ended, &run->err);
		if (run->looked != NULL)
			run->looked(run->arg, i, &engine);
		if (rc == HWTD_OK && !ended)
			hwtdi_engine_pause(&engine);
	}
	note_written(run);
	end = hwtdi_engine_end(&engine, rc == HWTD_OK ? &run->err : NULL);
	run->status = engine.status;
	hwtdi_engine_fini(&engine);
	return (rc == HWTD_OK ? end : rc);
}

struct hwtd_trace *
engine_run_open(const struct engine_run *run)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *trace;

	if (hwtd_trace_open(run->ctx, run->output, NULL, &trace, &err) !=
	    HWTD_OK)
		fail_msg("%s", err.message);
	return (trace);
}

void
engine_run_check(const struct engine_run *run)
{
	struct sim_leaks leaks;

	if (sim_panics(run->kernel) > 0)
		fail_msg("%s", sim_panic(run->kernel, 0));
	if (sim_hangs(run->kernel) > 0)
		fail_msg("%s", sim_hang(run->kernel, 0));
	sim_leaks(run->kernel, &leaks);
	assert_int_equal(leaks.fds, 0);
	assert_int_equal(leaks.mappings, 0);
	assert_int_equal(leaks.gates, 0);
	assert_false(run->endless);
}

void
engine_run_fini(struct engine_run *run)
{
	sim_destroy(run->kernel);
	hwtd_context_destroy(run->ctx);
	temp_dir_remove(&run->dir);
}
