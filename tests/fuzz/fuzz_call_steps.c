/*
 * Fuzz harness of stacks of calls.  An input is a byte of choices (bits 0 to 2: how
 * many calls may be open; bit 3: no symbols; bit 4: no times) and transfers of 4
 * bytes each: what, how much later, where from and where to.
 *
 * Rows nest, each call ends once, times add up, and no more calls are held than
 * may be.
 */
#include <string.h>

#include "analysis/calls/call_stack.h"
#include "fuzz.h"
#include "support/call_check.h"

struct run {
	struct call_check calls;
	bool bare;
	uint64_t called[16];
	size_t n_called;
};

static int
put(void *arg, const struct hwtd_call *row, struct hwtd_error *err)
{
	struct run *run = arg;

	(void)err;
	FUZZ_CHECK(call_check_row(&run->calls, row), "%s", run->calls.text);
	return (HWTD_OK);
}

static int
extent(void *arg, const struct hwtdi_step *step, bool called,
    struct hwtdi_extent *out, struct hwtd_error *err)
{
	struct run *run = arg;

	(void)err;
	if (!run->bare) {
		out->function = (uint32_t)(step->to >> 5);
		out->first = step->to & ~UINT64_C(31);
		out->end = out->first + 32;
		out->at_start = step->to == out->first;
		out->resumes = out->function == 7;
		return (HWTD_OK);
	}
	for (size_t i = 0; i < run->n_called; i++) {
		if (run->called[i] != step->to)
			continue;
		out->function = (uint32_t)i;
		out->at_start = true;
		return (HWTD_OK);
	}
	if (!called || run->n_called == 16)
		return (HWTD_OK);
	out->function = (uint32_t)run->n_called;
	out->at_start = true;
	run->called[run->n_called++] = step->to;
	return (HWTD_OK);
}

static struct hwtdi_step
step_of(const uint8_t *in, uint64_t *now, bool timed)
{
	struct hwtdi_step step = { .what = in[0] % (HWTDI_TRANSFER_GONE + 1),
		.from = in[2],
		.back = (uint64_t)in[2] + 5,
		.to = in[3],
		.insns = in[1] & 7,
		.cycles = in[1] >> 4,
		.from_section = HWTD_NO_ID,
		.to_section = HWTD_NO_ID,
		.flags = HWTDI_STEP_FROM | HWTDI_STEP_BACK };

	if (in[3] != 0)
		step.flags |= HWTDI_STEP_TO;
	if ((in[0] & 0x20) != 0)
		step.flags |= HWTDI_STEP_LED_OUT;
	if ((in[0] & 0x40) != 0)
		step.flags |= HWTDI_STEP_ASYNC;
	if ((in[0] & 0x80) != 0) {
		step.flags |= HWTDI_STEP_LOOSE;
		step.back = step.from;
	}
	if (!timed)
		return (step);
	/* Clocks of processors differ: time may go back. */
	*now += in[1] >= 0xf0 ? (uint64_t)0 - (in[1] & 3) : in[1];
	step.time_ns = *now;
	step.flags |= HWTDI_STEP_TIME;
	if (step.what == HWTDI_TRANSFER_GAP && (in[2] & 1) != 0) {
		step.until_ns = *now + in[3];
		step.flags |= HWTDI_STEP_UNTIL;
	}
	return (step);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = { .bare = size > 0 && (data[0] & 8) != 0 };
	struct hwtdi_call_rules rules = { .extent = extent,
		.put = put,
		.arg = &run,
		.enters = true,
		.gaps = true,
		.max_stacks = 3 };
	static struct hwtdi_call_thread thread;
	struct hwtd_context *ctx;
	uint64_t now = 1000;
	bool timed;

	if (size < 1 || size > 1 << 16)
		return (0);
	timed = (data[0] & 16) == 0;
	FUZZ_CHECK(hwtd_context_create(NULL, &ctx, NULL) == HWTD_OK,
	    "no context");
	rules.library = ctx;
	rules.max_frames = 4u << (data[0] & 7);
	hwtdi_call_thread_init(&thread, &rules, 0);
	for (size_t i = 1; i + 4 <= size; i += 4) {
		const struct hwtdi_step step = step_of(data + i, &now, timed);

		FUZZ_CHECK(hwtdi_call_thread_step(&thread, &step, NULL) ==
			HWTD_OK,
		    "a step failed");
		FUZZ_CHECK(thread.n_frames <= rules.max_frames &&
			thread.n_waiting <= rules.max_stacks &&
			run.calls.n == thread.n_frames,
		    "%zu frames, %zu stacks, %zu calls", thread.n_frames,
		    thread.n_waiting, run.calls.n);
	}
	FUZZ_CHECK(hwtdi_call_thread_end(&thread, NULL) == HWTD_OK, "no end");
	FUZZ_CHECK(call_check_end(&run.calls,
		       thread.last_ns - thread.first_ns - thread.nobody_ns),
	    "%s", run.calls.text);
	hwtdi_call_thread_fini(&thread);
	hwtd_context_destroy(ctx);
	return (0);
}
