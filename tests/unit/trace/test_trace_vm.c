/*
 * Address spaces of virtual machines and hypervisors: whose code is found in
 * which context.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/mapped_trace.h"
#include "trace/trace_model.h"

#define KERNEL 0xffff800000000000u
#define USER 0x400000u

static const uint8_t bytes[0x1000] = { 0x90 };

/* What is mapped, each by an image of its own name. */
static const struct {
	const char *name;
	uint32_t pid;
	uint32_t vmid;
	uint32_t flags;
	uint64_t addr;
} mapped[] = {
	{ "host kernel", HWTD_NO_ID, 0, HWTD_RECF_KERNEL_SPACE, KERNEL },
	{ "host program", 5, 0, 0, USER },
	{ "guest kernel", HWTD_NO_ID, 1,
	    HWTD_RECF_VMID | HWTD_RECF_KERNEL_SPACE, KERNEL },
	{ "guest program", 5, 1, HWTD_RECF_VMID, USER },
	{ "other kernel", HWTD_NO_ID, 2,
	    HWTD_RECF_VMID | HWTD_RECF_KERNEL_SPACE, KERNEL },
	{ "hypervisor", HWTD_NO_ID, 0, HWTD_RECF_HYPERVISOR_SPACE, USER },
};

static struct hwtd_trace *
machines(size_t n)
{
	struct hwtd_trace *trace = mt_create();
	struct pt_packets p = { 0 };

	pt_pad(&p, 16);
	(void)mt_stream(trace, &p, NULL);
	pt_free(&p);
	for (size_t i = 0; i < n; i++) {
		struct hwtd_record r = mr_record(HWTD_REC_MMAP, mapped[i].pid,
		    mapped[i].addr, sizeof(bytes));

		r.image = mr_image(trace, mapped[i].name, bytes,
		    sizeof(bytes));
		r.flags |= mapped[i].flags | HWTD_RECF_FILE_OFF;
		r.vmid = mapped[i].vmid;
		mr_add(trace, &r);
	}
	return (mt_seal(trace));
}

#define V HWTD_CTXF_VMID
#define L HWTD_CTXF_LEVEL
#define G HWTD_CTXF_GUEST

static const struct {
	const char *name;
	/* Of `mapped`. */
	size_t n;
	uint32_t pid;
	uint32_t flags;
	uint64_t vmid;
	uint8_t level;
	/* At USER and at KERNEL; NULL: nothing. */
	const char *want[2];
} cases[] = {
	{ "host", 6, 5, 0, 0, 0, { "host program", "host kernel" } },
	{ "machine 0 is the host", 6, 5, V, 0, 0,
	    { "host program", "host kernel" } },
	{ "a guest's process of the same number", 6, 5, V, 1, 0,
	    { "guest program", "guest kernel" } },
	{ "a guest's process that no record names", 6, 6, V, 1, 0,
	    { NULL, "guest kernel" } },
	{ "a guest without processes", 6, 5, V, 2, 0,
	    { NULL, "other kernel" } },
	{ "a guest that no record names", 6, 5, V, 3, 0, { NULL, NULL } },
	{ "a number that no record can name", 6, 5, V, (uint64_t)1 << 40, 0,
	    { NULL, NULL } },
	{ "the hypervisor sees the kernel", 6, 5, L, 0, 2,
	    { "hypervisor", "host kernel" } },
	{ "the kernel of a guest is no hypervisor", 6, 5, L | V, 1, 1,
	    { "guest program", "guest kernel" } },
	{ "the kernel itself is the hypervisor", 5, 5, L, 0, 2,
	    { NULL, "host kernel" } },
	{ "one of several guests", 6, 5, G, 0, 0, { NULL, NULL } },
	{ "the only guest", 4, 5, G, 0, 0,
	    { "guest program", "guest kernel" } },
	{ "a guest, and records of the traced machine only", 2, 5, G, 0, 0,
	    { "host program", "host kernel" } },
};

static void
code_is_that_of_the_machine_that_runs(void **state)
{
	static const uint64_t at[2] = { USER + 0x10, KERNEL + 0x10 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtd_trace *trace = machines(cases[i].n);
		const struct hwtd_exec_context context = {
			.size = sizeof(context),
			.pid = cases[i].pid,
			.tid = HWTD_NO_ID,
			.cpu = HWTD_NO_ID,
			.flags = cases[i].flags,
			.vmid = cases[i].vmid,
			.level = cases[i].level,
		};
		const struct hwtdi_code_place place = { .context = &context };

		print_message("%s\n", cases[i].name);
		for (size_t k = 0; k < 2; k++) {
			struct hwtd_mapping m = { .size = sizeof(m) };
			struct hwtd_section s = { .size = sizeof(s) };
			struct hwtdi_span span;
			int rc = hwtdi_trace_find_code(trace, &place, at[k],
			    &span);

			assert_int_equal(hwtd_space_lookup_context(trace,
					     &context, NULL, at[k], &m),
			    rc);
			if (rc == HWTD_OK)
				assert_int_equal(m.flags,
				    k == 1 ? HWTD_MAPPINGF_KERNEL : 0);
			if (cases[i].want[k] == NULL) {
				assert_int_equal(rc, HWTD_E_NOT_FOUND);
				continue;
			}
			assert_int_equal(rc, HWTD_OK);
			assert_int_equal(hwtd_trace_section(trace,
					     span.section, &s),
			    HWTD_OK);
			assert_string_equal(s.path, cases[i].want[k]);
		}
		hwtd_trace_close(trace);
	}
}

static void
processes_of_machines_are_told_apart(void **state)
{
	struct hwtd_trace *trace = machines(6);
	struct hwtd_process p = { .size = sizeof(p) };

	(void)state;
	assert_int_equal(hwtd_trace_process(trace, 0, &p), HWTD_OK);
	assert_int_equal(p.pid, 5);
	assert_int_equal(p.vmid, HWTD_NO_ID);
	assert_int_equal(hwtd_trace_process(trace, 1, &p), HWTD_OK);
	assert_int_equal(p.pid, 5);
	assert_int_equal(p.vmid, 1);
	assert_int_equal(hwtd_trace_process(trace, 2, &p), HWTD_END);
	hwtd_trace_close(trace);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_that_of_the_machine_that_runs),
		cmocka_unit_test(processes_of_machines_are_told_apart),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
