/*
 * Running a capture on the simulated kernel, in this process.
 */
#ifndef TEST_ENGINE_RUN_H
#define TEST_ENGINE_RUN_H

#include "capture/engine.h"
#include "simkernel/simkernel.h"
#include "support/temp_dir.h"

/* Buffers of a kernel at most. */
#define ENGINE_RUN_BUFFERS 128

struct engine_run {
	struct temp_dir dir;
	char output[300];
	struct hwtd_context *ctx;
	struct sim_kernel *kernel;
	struct hwtd_capture_options options;
	struct hwtd_capture_status status;
	struct hwtd_error err;
	/* The engine never ended by itself. */
	bool endless;
	/* Called behind each look, from 0 on; NULL: nobody is. */
	void (*looked)(void *arg, int look, struct hwtdi_engine *engine);
	void *arg;
	/* It began: there is a file. */
	bool begun;
	/* Bytes that hardware had written when it was told to end, by buffer. */
	size_t written[ENGINE_RUN_BUFFERS];
};

/* `sim` NULL: defaults. */
void engine_run_init(struct engine_run *run, const struct sim_options *sim);
/* Begin, look until it ends, end; the code of the first that failed. */
int engine_run(struct engine_run *run);
/* The file, opened; ends the test if it cannot be. */
struct hwtd_trace *engine_run_open(const struct engine_run *run);
/* Nothing panicked or hung, and nothing is left but contexts. */
void engine_run_check(const struct engine_run *run);
void engine_run_fini(struct engine_run *run);

#endif /* TEST_ENGINE_RUN_H */
