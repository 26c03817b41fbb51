/*
 * Captures on kernels that have more to tell than anybody can take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "arm_run.h"
#include "capture/hwt_abi.h"
#include "pt_run.h"

#define BIAS 0x200000u
#define START (BIAS + PT_RUN_CODE)
#define MS 1000000u

/* What stands between the capture and its kernel. */
static const struct hwtdi_system *inner;
static uint32_t flood_type;
static bool flooding;

/* Each call takes 10 ms and finds as much as there is room for. */
static int
flood_ioctl(void *state, int fd, unsigned long request, void *arg)
{
	struct hwtdi_hwt_entry entry;
	struct hwtdi_hwt_record_get call;
	int32_t n;

	if (request != HWTDI_HWT_IOC_RECORD_GET || !flooding)
		return (inner->ioctl(state, fd, request, arg));
	memcpy(&call, arg, sizeof(call));
	memcpy(&n, (const void *)(uintptr_t)call.nentries, sizeof(n));
	memset(&entry, 0, sizeof(entry));
	entry.type = flood_type;
	for (int32_t i = 0; i < n; i++)
		memcpy((uint8_t *)(uintptr_t)call.records +
			(size_t)i * sizeof(entry),
		    &entry, sizeof(entry));
	inner->sleep(state, 10 * MS);
	return (0);
}

/* The bytes are taken all the same, and it ends. */
static void
run_flood(uint32_t type, bool to_the_end)
{
	struct hwtdi_engine engine;
	struct hwtdi_system sys;
	bool ended = false;
	size_t n = 0;
	struct pt_run r;

	pt_run_init(&r, NULL);
	pt_run_exec(&r, r.path, BIAS);
	for (int i = 0; i < 3; i++) {
		const struct pt_packets *p = pt_run_flow(&r, START, 3);

		pt_run_trace(&r, 0, 200 * MS, p);
		n += p->n;
	}
	pt_run_exit(&r, 0);
	inner = sim_system(r.run.kernel);
	sys = *inner;
	sys.ioctl = flood_ioctl;
	flood_type = type;
	flooding = false;
	assert_int_equal(hwtdi_engine_begin(&engine, r.run.ctx, &sys,
			     &r.run.options, &r.run.err),
	    HWTD_OK);
	flooding = true;
	for (int i = 0; !ended && i < 5000; i++) {
		assert_int_equal(hwtdi_engine_step(&engine, &ended,
				     &r.run.err),
		    HWTD_OK);
		hwtdi_engine_pause(&engine);
	}
	assert_true(ended);
	flooding = to_the_end;
	assert_int_equal(hwtdi_engine_end(&engine, &r.run.err), HWTD_OK);
	assert_int_equal(engine.status.n_bytes, n);
	assert_int_equal(engine.status.losses[HWTD_CAPTURE_LOST_RECORDS],
	    to_the_end ? 1 : 0);
	hwtdi_engine_fini(&engine);
	engine_run_check(&r.run);
	pt_run_fini(&r);
}

static void
records_without_end_leave_time_for_bytes(void **state)
{
	(void)state;
	run_flood(HWTDI_HWT_ENTRY_MUNMAP, false);
	run_flood(HWTDI_HWT_ENTRY_BUFFER, false);
}

static void
records_without_end_do_not_keep_a_capture_from_its_end(void **state)
{
	(void)state;
	run_flood(HWTDI_HWT_ENTRY_MUNMAP, true);
}

/* There is always one more half. */
static int
flood_halves(void *state, int fd, unsigned long request, void *arg)
{
	const int32_t ident = 0;
	const uint64_t bytes = SPE_SLOT, data = 0;
	struct hwtdi_hwt_bufptr_get call;

	if (request != HWTDI_HWT_IOC_BUFPTR_GET || !flooding)
		return (inner->ioctl(state, fd, request, arg));
	memcpy(&call, arg, sizeof(call));
	memcpy((void *)(uintptr_t)call.ident, &ident, sizeof(ident));
	memcpy((void *)(uintptr_t)call.offset, &bytes, sizeof(bytes));
	memcpy((void *)(uintptr_t)call.data, &data, sizeof(data));
	inner->sleep(state, MS);
	return (0);
}

static void
halves_without_end_do_not_keep_a_capture_from_its_end(void **state)
{
	struct arm_run *r = arm_run_new(NULL);
	struct hwtdi_engine engine;
	struct hwtdi_system sys;
	bool ended = false;

	(void)state;
	arm_run_exec(r);
	arm_run_sample(r, 0, 0, 100 * MS, 0x1000, 0, 10);
	arm_run_exit(r);
	inner = sim_system(r->run.kernel);
	sys = *inner;
	sys.ioctl = flood_halves;
	flooding = false;
	assert_int_equal(hwtdi_engine_begin(&engine, r->run.ctx, &sys,
			     &r->run.options, &r->run.err),
	    HWTD_OK);
	flooding = true;
	for (int i = 0; !ended && i < 100; i++) {
		assert_int_equal(hwtdi_engine_step(&engine, &ended,
				     &r->run.err),
		    HWTD_OK);
		hwtdi_engine_pause(&engine);
	}
	assert_true(ended);
	assert_int_equal(hwtdi_engine_end(&engine, &r->run.err), HWTD_OK);
	assert_true(engine.status.losses[HWTD_CAPTURE_LOST_UNKNOWN] > 0);
	hwtdi_engine_fini(&engine);
	engine_run_check(&r->run);
	arm_run_free(r);
}

/* They are not of this capture. */
static void
halves_without_end_before_the_start_keep_a_capture_from_it(void **state)
{
	struct arm_run *r = arm_run_new(NULL);
	struct hwtdi_engine engine;
	struct hwtdi_system sys;

	(void)state;
	arm_run_exec(r);
	arm_run_exit(r);
	inner = sim_system(r->run.kernel);
	sys = *inner;
	sys.ioctl = flood_halves;
	flooding = true;
	assert_int_equal(hwtdi_engine_begin(&engine, r->run.ctx, &sys,
			     &r->run.options, &r->run.err),
	    HWTD_E_STATE);
	assert_non_null(strstr(r->run.err.message, "another capture"));
	assert_int_equal(sim_call_count(r->run.kernel, SIM_CALL_START), 0);
	hwtdi_engine_fini(&engine);
	engine_run_check(&r->run);
	arm_run_free(r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_without_end_leave_time_for_bytes),
		cmocka_unit_test(
		    records_without_end_do_not_keep_a_capture_from_its_end),
		cmocka_unit_test(
		    halves_without_end_before_the_start_keep_a_capture_from_it),
		cmocka_unit_test(
		    halves_without_end_do_not_keep_a_capture_from_its_end),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
