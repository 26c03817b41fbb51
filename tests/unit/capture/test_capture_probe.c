/*
 * What a machine can record with, and whom one may trace, on the simulated kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "pt_run.h"

static struct sim_kernel *kernel;

/* In place of the system that the library is built for. */
const struct hwtdi_system *
hwtdi_system_host(void)
{
	return (sim_system(kernel));
}

static void
begin(struct pt_run *r, const struct sim_options *options)
{
	pt_run_init(r, options);
	kernel = r->run.kernel;
}

static void
end(struct pt_run *r)
{
	engine_run_check(&r->run);
	pt_run_fini(r);
}

static void
every_way_to_record_is_told(void **state)
{
	struct hwtd_capture_backend b = { .size = sizeof(b) };
	struct hwtd_capture_backend small = { .size = 16, .text = "x" };
	struct pt_run r;

	(void)state;
	begin(&r, NULL);
	assert_int_equal(hwtd_capture_backend(r.run.ctx, 0, &b, NULL),
	    HWTD_OK);
	assert_int_equal(b.tech, HWTD_TECH_INTEL_PT);
	assert_int_not_equal(b.usable, 0);
	assert_int_equal(b.most_bytes, 511 * 4096);
	assert_int_equal(b.n_ranges, 2);
	assert_string_equal(b.help, "");
	/* An older caller has a shorter struct. */
	assert_int_equal(hwtd_capture_backend(r.run.ctx, 0, &small, NULL),
	    HWTD_OK);
	assert_int_equal(small.tech, HWTD_TECH_INTEL_PT);
	assert_int_equal(small.least_bytes, 0);
	assert_string_equal(small.text, "x");
	for (size_t i = 1; i < 3; i++) {
		assert_int_equal(hwtd_capture_backend(r.run.ctx, i, &b, NULL),
		    HWTD_OK);
		assert_int_equal(b.usable, 0);
		assert_string_not_equal(b.text, "");
	}
	assert_int_equal(hwtd_capture_backend(r.run.ctx, 3, &b, NULL),
	    HWTD_END);
	assert_int_equal(hwtd_capture_backend(NULL, 0, &b, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_capture_backend(r.run.ctx, 0, NULL, NULL),
	    HWTD_E_INVALID);
	b.size = 0;
	assert_int_equal(hwtd_capture_backend(r.run.ctx, 0, &b, NULL),
	    HWTD_E_INVALID);
	end(&r);
}

static void
nothing_is_allocated_to_find_out(void **state)
{
	struct hwtd_capture_backend b = { .size = sizeof(b) };
	struct pt_run r;

	(void)state;
	begin(&r, NULL);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(hwtd_capture_backend(r.run.ctx, i, &b, NULL),
		    HWTD_OK);
	assert_int_equal(hwtd_capture_allowed(r.run.ctx, 0, NULL, NULL),
	    HWTD_OK);
	assert_int_equal(sim_call_count(kernel, SIM_CALL_ALLOC), 0);
	engine_run_check(&r.run);
	end(&r);
}

/* What a process has that may be traced, but for what is changed of it. */
static struct hwtdi_credentials
like_me(void)
{
	const struct hwtdi_credentials who = {
		.euid = 1000,
		.ruid = 1000,
		.svuid = 1000,
		.rgid = 1000,
		.svgid = 1000,
		.n_groups = 2,
		.groups = { 1000, 5 },
	};

	return (who);
}

static void
who_may_be_traced_is_told_by_the_rules_of_the_kernel(void **state)
{
	static const struct {
		const char *what;
		uint32_t euid, ruid, svuid, rgid, group;
		int rc;
		const char *words;
	} cases[] = {
		{ "the same", 1000, 1000, 1000, 1000, 5, HWTD_OK,
		    "same user" },
		{ "set-user-id that comes from me", 0, 1000, 0, 1000, 5,
		    HWTD_OK, "same user" },
		{ "another user", 1001, 1001, 1001, 1000, 5, HWTD_END,
		    "runs as user 1001 and you are 1000" },
		{ "root", 0, 0, 0, 1000, 5, HWTD_END, "runs as user 0" },
		{ "a group that is not mine", 1000, 1000, 1000, 1000, 7,
		    HWTD_END, "in group 7" },
		{ "a real group that is not mine", 1000, 1000, 1000, 8, 5,
		    HWTD_END, "real or saved group" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_credentials it = like_me();
		const struct hwtdi_credentials me = like_me();
		char text[HWTD_CAPTURE_TEXT] = "";
		struct pt_run r;
		pid_t pid;

		print_message("case %s\n", cases[i].what);
		begin(&r, NULL);
		pid = sim_start(kernel, r.script, "program", 1);
		it.euid = cases[i].euid;
		it.ruid = cases[i].ruid;
		it.svuid = cases[i].svuid;
		it.rgid = cases[i].rgid;
		it.groups[1] = cases[i].group;
		sim_set_credentials(kernel, 0, &me);
		sim_set_credentials(kernel, pid, &it);
		assert_int_equal(hwtd_capture_allowed(r.run.ctx, (uint32_t)pid,
				     text, &r.run.err),
		    cases[i].rc);
		if (strstr(text, cases[i].words) == NULL)
			fail_msg("\"%s\" lacks \"%s\"", text, cases[i].words);
		end(&r);
	}
}

static void
processes_that_cannot_be_are_an_error(void **state)
{
	char text[HWTD_CAPTURE_TEXT] = "as it was";
	struct pt_run r;

	(void)state;
	begin(&r, NULL);
	assert_int_equal(hwtd_capture_allowed(r.run.ctx, 4711, text,
			     &r.run.err),
	    HWTD_E_NOT_FOUND);
	assert_string_equal(text, "as it was");
	assert_non_null(strstr(r.run.err.message, "4711"));
	assert_int_equal(hwtd_capture_allowed(r.run.ctx, UINT32_MAX, NULL,
			     NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_capture_allowed(NULL, 0, NULL, NULL),
	    HWTD_E_INVALID);
	end(&r);
}

static void
without_the_device_nobody_may_trace(void **state)
{
	static const struct {
		int e;
		int rc;
	} cases[] = {
		{ EACCES, HWTD_END },
		{ EPERM, HWTD_END },
		{ ENOENT, HWTD_E_UNSUPPORTED },
		{ ENOSYS, HWTD_E_UNSUPPORTED },
		{ EBUSY, HWTD_E_UNSUPPORTED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sim_options options = {
			.device_error = cases[i].e,
		};
		char text[HWTD_CAPTURE_TEXT] = "";
		struct pt_run r;

		begin(&r, &options);
		assert_int_equal(hwtd_capture_allowed(r.run.ctx, 0, text,
				     &r.run.err),
		    cases[i].rc);
		assert_string_not_equal(text, "");
		if (cases[i].rc < 0)
			assert_int_equal(r.run.err.sys_errno, cases[i].e);
		end(&r);
	}
}

static void
kinds_of_loss_have_names(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HWTD_CAPTURE_LOSSES; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(hwtd_capture_loss_name(i),
			    hwtd_capture_loss_name(k));
	assert_string_equal(hwtd_capture_loss_name(0), "bytes");
	assert_string_equal(hwtd_capture_loss_name(HWTD_CAPTURE_LOSSES),
	    "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_record_is_told),
		cmocka_unit_test(nothing_is_allocated_to_find_out),
		cmocka_unit_test(
		    who_may_be_traced_is_told_by_the_rules_of_the_kernel),
		cmocka_unit_test(processes_that_cannot_be_are_an_error),
		cmocka_unit_test(without_the_device_nobody_may_trace),
		cmocka_unit_test(kinds_of_loss_have_names),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
