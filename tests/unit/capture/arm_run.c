/*
 * Captures on the simulated arm64 machine: what its hardware samples, or traces.
 */
#include "arm_run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

#define PROGRAM "/bin/program"
/* ns of a count of the simulated machine: 100 MHz. */
#define COUNT_NS 10u

struct arm_run *
arm_run_new(const struct sim_options *sim)
{
	struct sim_options o = { .n_cpus = 2 };
	struct arm_run *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	if (sim != NULL)
		o = *sim;
	o.arch = SIM_ARM64;
	engine_run_init(&r->run, &o);
	r->script = sim_program(r->run.kernel, PROGRAM);
	r->argv[0] = PROGRAM;
	r->run.options.argv = r->argv;
	r->spe.size = sizeof(r->spe);
	r->spe.buffer_bytes = 2 * ARM_RUN_PAGE;
	r->cs.size = sizeof(r->cs);
	r->run.options.spe = &r->spe;
	return (r);
}

void
arm_run_free(struct arm_run *r)
{
	engine_run_fini(&r->run);
	free(r);
}

void
arm_run_step(struct arm_run *r, const struct sim_step *step)
{
	sim_add(r->script, step);
}

void
arm_run_exec(struct arm_run *r)
{
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_EXEC,
		.path = PROGRAM,
		.addr = 0x200000,
		.off = 0x1000,
		.len = 0x1000 });
}

void
arm_run_exit(struct arm_run *r)
{
	arm_run_step(r, &(struct sim_step){ .op = SIM_EXIT, .ns = 3000000 });
}

const uint8_t *
arm_run_records(struct arm_run *r, uint32_t pid, uint64_t pc, uint64_t count,
    size_t n)
{
	uint8_t *first = r->bytes + r->n_bytes;

	assert_true(r->n_bytes + n * SPE_SLOT <= sizeof(r->bytes));
	for (size_t i = 0; i < n; i++) {
		uint8_t *slot = r->bytes + r->n_bytes;

		spe_slot(slot, pc + 4 * i, count + i);
		/* The contexts of EL1 and EL2. */
		hwtdi_put_le(slot + 10, pid, 4);
		hwtdi_put_le(slot + 15, pid, 4);
		r->n_bytes += SPE_SLOT;
	}
	return (first);
}

void
arm_run_sample(struct arm_run *r, unsigned thread, unsigned cpu, uint64_t ns,
    uint64_t pc, uint64_t count, size_t n)
{
	arm_run_step(r,
	    &(struct sim_step){ .op = SIM_TRACE,
		.thread = thread,
		.cpu = cpu,
		.ns = ns,
		.bytes = arm_run_records(r, 7, pc, count, n),
		.n = n * SPE_SLOT,
		.piece = SPE_SLOT });
}

void
arm_run_ok(struct arm_run *r)
{
	struct engine_account account;

	if (engine_run(&r->run) != HWTD_OK)
		fail_msg("%s", r->run.err.message);
	engine_run_check(&r->run);
	if (sim_risks(r->run.kernel) > 0)
		fail_msg("%s", sim_risk(r->run.kernel, 0));
	engine_account(&r->run, false, &account);
	if (account.wrong[0] != '\0')
		fail_msg("%s", account.wrong);
}

void
arm_run_fails(struct arm_run *r, int code, const char *words)
{
	assert_int_equal(engine_run(&r->run), code);
	if (strstr(r->run.err.message, words) == NULL)
		fail_msg("\"%s\" has no \"%s\"", r->run.err.message, words);
	engine_run_check(&r->run);
}

void
arm_run_assert_losses(const struct arm_run *r, const char *text)
{
	char out[300] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < HWTD_CAPTURE_LOSSES; i++)
		if (r->run.status.losses[i] != 0)
			n += (size_t)snprintf(out + n, sizeof(out) - n,
			    "%s%s=%" PRIu64, n == 0 ? "" : " ",
			    hwtd_capture_loss_name(i),
			    r->run.status.losses[i]);
	assert_string_equal(out, text);
}

void
arm_run_assert_said(const struct arm_run *r, const char *line)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace = engine_run_open(&r->run);
	char whole[200];

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	(void)snprintf(whole, sizeof(whole), "%s\n", line);
	if (info.capture == NULL || strstr(info.capture, whole) == NULL)
		fail_msg("no \"%s\" in:\n%s", line, info.capture);
	hwtd_trace_close(trace);
}

size_t
arm_run_samples(struct hwtd_trace *trace, uint32_t stream,
    struct arm_sample *out, size_t room)
{
	struct mt_rows rows;
	size_t n = 0;

	mt_rows(trace, NULL, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		const struct hwtd_event *e = &rows.at[i].row;
		struct hwtd_exec_context c = { .size = sizeof(c) };

		if (e->stream != stream || e->kind == HWTD_EV_GAP)
			continue;
		assert_int_equal(e->kind, HWTD_EV_SAMPLE);
		assert_true(n < room);
		assert_int_equal(hwtd_trace_exec_context(trace, e->context,
				     &c),
		    HWTD_OK);
		out[n++] = (struct arm_sample){ .pc = e->ip,
			.time_ns = e->time_ns,
			.pid = c.pid,
			.tid = c.tid,
			.cpu = c.cpu,
			.has_pa = (rows.at[i].detail.sample.present &
				      HWTD_SAMPLE_PA) != 0 };
	}
	mt_rows_free(&rows);
	return (n);
}

void
arm_run_assert_samples(const struct arm_sample *samples, size_t *at_inout,
    size_t n, uint64_t pc, uint64_t count, uint32_t tid, uint32_t cpu)
{
	for (size_t i = 0; i < n; i++) {
		const struct arm_sample *s = &samples[(*at_inout)++];

		if (s->pc != pc + 4 * i)
			fail_msg("sample %zu: pc %" PRIx64 ", not %" PRIx64,
			    *at_inout - 1, s->pc, pc + 4 * i);
		assert_int_equal(s->time_ns, (count + i) * COUNT_NS);
		assert_int_equal(s->pid, 7);
		assert_int_equal(s->tid, tid);
		assert_int_equal(s->cpu, cpu);
		/* The kernel has hardware tell them. */
		assert_true(s->has_pa);
	}
}

uint32_t
arm_run_stream(struct hwtd_trace *trace, const char *name,
    struct hwtd_stream_desc *desc)
{
	for (uint32_t i = 0;; i++) {
		*desc = (struct hwtd_stream_desc){ .size = sizeof(*desc) };
		if (hwtd_trace_stream(trace, i, desc) != HWTD_OK)
			fail_msg("no stream \"%s\"", name);
		if (strcmp(desc->name, name) == 0)
			return (i);
	}
}
