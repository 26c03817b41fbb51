/*
 * Options of a capture as the config of a backend: each bit that is asked for, and
 * what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/config.h"
#include "simkernel/simkernel.h"

static struct hwtdi_machine
machine_of(enum sim_arch arch)
{
	struct sim_kernel *k = sim_create(&(struct sim_options){
	    .arch = arch });
	struct hwtdi_machine m;

	hwtdi_machine_read(sim_system(k), &m);
	sim_destroy(k);
	return (m);
}

static struct hwtdi_config
make(const struct hwtdi_config_options *o, enum sim_arch arch)
{
	const struct hwtdi_machine m = machine_of(arch);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_config c;

	if (hwtdi_config_make(o, &m, &c, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	return (c);
}

static void
refuse(const struct hwtdi_config_options *o, enum sim_arch arch, int rc,
    const char *words)
{
	const struct hwtdi_machine m = machine_of(arch);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_config c;

	assert_int_equal(hwtdi_config_make(o, &m, &c, &err), rc);
	if (strstr(err.message, words) == NULL)
		fail_msg("no \"%s\": %s", words, err.message);
}

static void
buffers_have_sizes_by_default(void **state)
{
	static const struct {
		enum hwtdi_backend backend;
		uint64_t pages;
	} kinds[] = { { HWTDI_BACKEND_PT, 511 }, { HWTDI_BACKEND_SPE, 256 },
		{ HWTDI_BACKEND_CORESIGHT, 1024 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct hwtdi_config_options o = {
			.backend = kinds[i].backend
		};

		assert_int_equal(hwtdi_config_bufsize(&o, 4096),
		    kinds[i].pages * 4096);
		assert_int_equal(hwtdi_config_bufsize(&o, 16384),
		    kinds[i].pages * 16384);
		o.pt.buffer_bytes = o.spe.buffer_bytes = 8192;
		o.coresight.buffer_bytes = 8192;
		assert_int_equal(hwtdi_config_bufsize(&o, 4096), 8192);
	}
}

/* Bits of IA32_RTIT_CTL.  Source: Intel SDM. */
static void
pt_takes_what_a_stock_kernel_has(void **state)
{
	static const struct {
		uint32_t who, flags;
		enum hwtdi_hwt_mode mode;
		uint64_t ctl;
		const char *text;
	} kinds[] = {
		{ 0, 0, HWTDI_HWT_THREAD, 0x2008,
		    "branches of programs, without times" },
		{ 0, 0, HWTDI_HWT_CPU, 0x2004,
		    "branches of the kernel, without times" },
		{ HWTD_CAPTURE_USER | HWTD_CAPTURE_KERNEL, 0, HWTDI_HWT_CPU,
		    0x200c,
		    "branches of programs and the kernel, without times" },
		{ 0, HWTD_CAPTURE_PTF_NO_BRANCHES, HWTDI_HWT_THREAD, 0x8,
		    "no branches of programs, without times" },
		{ 0, HWTD_CAPTURE_PTF_NO_TNT, HWTDI_HWT_THREAD,
		    0x80000000002008,
		    "branches but conditional ones of programs, without "
		    "times" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct hwtdi_config_options o = {
			.backend = HWTDI_BACKEND_PT,
			.mode = kinds[i].mode,
			.pt = { .who = kinds[i].who, .flags = kinds[i].flags },
		};
		const struct hwtdi_config c = make(&o, SIM_AMD64);

		assert_int_equal(c.size, 72);
		assert_int_equal(c.blob.pt.rtit_ctl, kinds[i].ctl);
		assert_int_equal(c.blob.pt.nranges, 0);
		assert_string_equal(c.text, kinds[i].text);
		assert_int_equal(c.pt.cpu_family, 6);
		assert_int_equal(c.pt.cpu_model, 158);
	}
}

static void
pt_takes_times_of_5bsd(void **state)
{
	const struct hwtdi_filter_range ranges[] = {
		{ 0x1000, 0x1fff, HWTDI_FILTER_TRACE },
		{ 0x3000, 0x3003, HWTDI_FILTER_STOP },
	};
	struct hwtdi_config_options o = {
		.backend = HWTDI_BACKEND_PT,
		.kernel = HWTDI_KERNEL_5BSD,
		.mode = HWTDI_HWT_THREAD,
		.pt = { .flags = HWTD_CAPTURE_PTF_MTC | HWTD_CAPTURE_PTF_CYC |
			HWTD_CAPTURE_PTF_PTWRITE,
		    .mtc_freq = 3,
		    .cyc_threshold = 2,
		    .psb_freq = 4 },
		.ranges = ranges,
		.n_ranges = 2,
	};
	struct hwtdi_config c = make(&o, SIM_AMD64);

	(void)state;
	assert_int_equal(c.size, 88);
	/* BranchEn, PTWEn, TSCEn, MTCEn, FUPonPTW, User, CYCEn. */
	assert_int_equal(c.blob.pt_long.rtit_ctl, 0x362a);
	assert_int_equal(c.blob.pt_long.mtc_freq, 3);
	assert_int_equal(c.blob.pt_long.cyc_thresh, 2);
	assert_int_equal(c.blob.pt_long.psb_freq, 4);
	assert_int_equal(c.blob.pt_long.nranges, 2);
	assert_int_equal(c.blob.pt_long.ip_ranges[0].start, 0x1000);
	assert_int_equal(c.blob.pt_long.ip_ranges[0].end, 0x1fff);
	assert_int_equal(c.blob.pt_long.ip_ranges[0].mode, 1);
	assert_int_equal(c.blob.pt_long.ip_ranges[1].mode, 2);
	assert_int_equal(c.pt.filters[0].mode, HWTD_PT_FILTER_TRACE);
	assert_int_equal(c.pt.filters[1].mode, HWTD_PT_FILTER_STOP);
	assert_int_equal(c.pt.filters[1].end, 0x3003);
	assert_int_equal(c.pt.mtc_freq, 3);
	assert_string_equal(c.text, "branches of programs, with times");
	o.pt.flags = HWTD_CAPTURE_PTF_TSC;
	o.n_ranges = 0;
	c = make(&o, SIM_AMD64);
	assert_int_equal(c.blob.pt_long.rtit_ctl, 0x2408);
}

/* Fault 22 of hwt(8): both ranges are there. */
static void
pt_keeps_both_ranges(void **state)
{
	const struct hwtdi_filter_range ranges[] = {
		{ 0x1000, 0x1fff, HWTDI_FILTER_TRACE },
		{ 0x3000, 0x3fff, HWTDI_FILTER_TRACE },
		{ 0x5000, 0x5fff, HWTDI_FILTER_TRACE },
	};
	struct hwtdi_config_options o = {
		.backend = HWTDI_BACKEND_PT,
		.mode = HWTDI_HWT_THREAD,
		.ranges = ranges,
		.n_ranges = 2,
	};
	const struct hwtdi_config c = make(&o, SIM_AMD64);

	(void)state;
	assert_int_equal(c.blob.pt.nranges, 2);
	assert_int_equal(c.blob.pt.ip_ranges[0].start, 0x1000);
	assert_int_equal(c.blob.pt.ip_ranges[0].end, 0x1fff);
	assert_int_equal(c.blob.pt.ip_ranges[1].start, 0x3000);
	assert_int_equal(c.blob.pt.ip_ranges[1].end, 0x3fff);
	o.n_ranges = 3;
	refuse(&o, SIM_AMD64, HWTD_E_UNSUPPORTED, "3 ranges");
}

static void
pt_refuses_what_would_be_dropped_without_a_word(void **state)
{
	static const struct hwtd_capture_pt kinds[] = {
		{ .flags = HWTD_CAPTURE_PTF_TSC },
		{ .flags = HWTD_CAPTURE_PTF_MTC },
		{ .flags = HWTD_CAPTURE_PTF_CYC },
		{ .flags = HWTD_CAPTURE_PTF_PTWRITE },
		{ .mtc_freq = 1 },
		{ .cyc_threshold = 1 },
		{ .psb_freq = 1 },
	};
	struct hwtdi_config_options o = { .backend = HWTDI_BACKEND_PT,
		.mode = HWTDI_HWT_THREAD };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		o.pt = kinds[i];
		o.kernel = HWTDI_KERNEL_STOCK;
		refuse(&o, SIM_AMD64, HWTD_E_UNSUPPORTED, "5BSD");
		o.kernel = HWTDI_KERNEL_5BSD;
		(void)make(&o, SIM_AMD64);
	}
	o.pt = (struct hwtd_capture_pt){ .flags = 0x100 };
	refuse(&o, SIM_AMD64, HWTD_E_INVALID, "0x100");
	o.pt = (struct hwtd_capture_pt){ .who = 4 };
	refuse(&o, SIM_AMD64, HWTD_E_INVALID, "0x4");
	o.pt = (struct hwtd_capture_pt){ 0 };
	refuse(&o, SIM_ARM64, HWTD_E_UNSUPPORTED, "");
}

static void
spe_takes_who_and_how_often(void **state)
{
	static const struct {
		struct hwtd_capture_spe spe;
		uint32_t interval, level, context, owner;
	} kinds[] = {
		{ { 0 }, 4096, 0, 1, HWTD_SPE_OWNER_PROCESS },
		{ { .who = HWTD_CAPTURE_USER, .interval = 1000 }, 1000, 2, 1,
		    HWTD_SPE_OWNER_PROCESS },
		{ { .who = HWTD_CAPTURE_KERNEL,
		      .flags = HWTD_CAPTURE_SPEF_CPU_CONTEXT },
		    4096, 1, 2, HWTD_SPE_OWNER_CPU },
		{ { .interval = 0xffffff,
		      .flags = HWTD_CAPTURE_SPEF_NO_CONTEXT },
		    0xffffff, 0, 0, HWTD_SPE_OWNER_UNKNOWN },
	};
	struct hwtdi_config_options o = { .backend = HWTDI_BACKEND_SPE };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hwtdi_config c;

		o.spe = kinds[i].spe;
		c = make(&o, SIM_ARM64);
		assert_int_equal(c.size, 12);
		assert_int_equal(c.version, 1);
		assert_int_equal(c.blob.spe.interval, kinds[i].interval);
		assert_int_equal(c.blob.spe.level, kinds[i].level);
		assert_int_equal(c.blob.spe.ctx_field, kinds[i].context);
		assert_int_equal(c.spe.owner, kinds[i].owner);
		assert_int_equal(c.spe.interval, kinds[i].interval);
	}
	o.spe = (struct hwtd_capture_spe){ .interval = 0x1000000 };
	refuse(&o, SIM_ARM64, HWTD_E_INVALID, "16777216");
	o.spe = (struct hwtd_capture_spe){
		.flags = HWTD_CAPTURE_SPEF_CPU_CONTEXT |
		    HWTD_CAPTURE_SPEF_NO_CONTEXT
	};
	refuse(&o, SIM_ARM64, HWTD_E_INVALID, "not both");
	o.spe = (struct hwtd_capture_spe){ .flags = 0x10 };
	refuse(&o, SIM_ARM64, HWTD_E_INVALID, "0x10");
	o.spe = (struct hwtd_capture_spe){ .who = 8 };
	refuse(&o, SIM_ARM64, HWTD_E_INVALID, "0x8");
}

/* Bits of TRCCONFIGR.  Source: Arm ETM architecture specification. */
static void
coresight_takes_each_option(void **state)
{
	static const struct {
		uint32_t flags, configr;
	} kinds[] = {
		/* RS, TS, VMID, CID. */
		{ 0, 0x18c0 },
		{ HWTD_CAPTURE_CSF_CYCLES, 0x18d0 },
		{ HWTD_CAPTURE_CSF_BRANCH_BROADCAST, 0x18c8 },
		{ HWTD_CAPTURE_CSF_NO_RETURN_STACK, 0x8c0 },
		{ HWTD_CAPTURE_CSF_NO_TIMESTAMPS, 0x10c0 },
		{ HWTD_CAPTURE_CSF_NO_CONTEXT, 0x1800 },
	};
	const struct hwtdi_filter_range ranges[] = {
		{ 0x1000, 0x1fff, HWTDI_FILTER_TRACE },
		{ 0x3000, 0x3fff, HWTDI_FILTER_TRACE },
	};
	struct hwtdi_config_options o = { .backend = HWTDI_BACKEND_CORESIGHT };
	struct hwtdi_config c;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		o.coresight.flags = kinds[i].flags;
		c = make(&o, SIM_ARM64);
		assert_int_equal(c.size, 816);
		assert_int_equal(c.blob.cs.cfg, kinds[i].configr);
		assert_int_equal(c.cs.configr, kinds[i].configr);
		assert_int_equal(c.blob.cs.syncfreq, 12);
		assert_int_equal(c.blob.cs.ccctlr, 256);
	}
	o.ranges = ranges;
	o.n_ranges = 2;
	o.coresight.cycle_threshold = 0xfff;
	c = make(&o, SIM_ARM64);
	assert_int_equal(c.blob.cs.ccctlr, 0xfff);
	assert_int_equal(c.blob.cs.addr_val[0], 0x1000);
	assert_int_equal(c.blob.cs.addr_val[1], 0x1fff);
	assert_int_equal(c.blob.cs.addr_val[2], 0x3000);
	assert_int_equal(c.blob.cs.viiectlr, 3);
	o.coresight.cycle_threshold = 0x1000;
	refuse(&o, SIM_ARM64, HWTD_E_INVALID, "4096");
	o.coresight = (struct hwtd_capture_coresight){ .flags = 0x40 };
	refuse(&o, SIM_ARM64, HWTD_E_INVALID, "0x40");
}

static void
ranges_are_those_of_the_hardware(void **state)
{
	struct hwtdi_machine m = machine_of(SIM_AMD64);

	(void)state;
	assert_int_equal(hwtdi_config_ranges(HWTDI_BACKEND_PT, &m), 2);
	/* Kernels take two. */
	m.pt.n_ranges = 4;
	assert_int_equal(hwtdi_config_ranges(HWTDI_BACKEND_PT, &m), 2);
	m.pt.n_ranges = 1;
	assert_int_equal(hwtdi_config_ranges(HWTDI_BACKEND_PT, &m), 1);
	m.pt.ip_filter = false;
	assert_int_equal(hwtdi_config_ranges(HWTDI_BACKEND_PT, &m), 0);
	assert_int_equal(hwtdi_config_ranges(HWTDI_BACKEND_SPE, &m), 0);
	assert_int_equal(hwtdi_config_ranges(HWTDI_BACKEND_CORESIGHT, &m), 8);
}

static void
the_kernel_is_traced_where_it_is_asked_for(void **state)
{
	struct hwtdi_config_options o = { .backend = HWTDI_BACKEND_PT,
		.mode = HWTDI_HWT_THREAD };

	(void)state;
	assert_false(hwtdi_config_traces_kernel(&o));
	o.pt.who = HWTD_CAPTURE_KERNEL;
	assert_true(hwtdi_config_traces_kernel(&o));
	o.pt.who = 0;
	o.mode = HWTDI_HWT_CPU;
	assert_true(hwtdi_config_traces_kernel(&o));
	o.backend = HWTDI_BACKEND_SPE;
	assert_true(hwtdi_config_traces_kernel(&o));
	o.spe.who = HWTD_CAPTURE_USER;
	assert_false(hwtdi_config_traces_kernel(&o));
	o.backend = HWTDI_BACKEND_CORESIGHT;
	assert_true(hwtdi_config_traces_kernel(&o));
}

static void
a_backend_that_there_is_not_is_refused(void **state)
{
	const struct hwtdi_config_options o = {
		.backend = (enum hwtdi_backend)9
	};

	(void)state;
	refuse(&o, SIM_AMD64, HWTD_E_INVALID, "9");
}

static void
ids_of_an_etm_are_read_or_not(void **state)
{
	struct sim_kernel *k = sim_create(&(struct sim_options){
	    .arch = SIM_ARM64 });
	uint32_t idr[HWTD_CS_IDRS];
	uint32_t ids[HWTD_CS_IDRS];
	char names[HWTD_CS_IDRS][64];

	(void)state;
	assert_false(hwtdi_config_etm_ids(sim_system(k), 7, idr));
	for (uint32_t i = 0; i < HWTD_CS_IDRS; i++) {
		/* 3 to 7 may be missing. */
		if (i >= 3 && i <= 7)
			continue;
		(void)snprintf(names[i], sizeof(names[i]),
		    "dev.coresight_etm4x.7.idr%u", i);
		ids[i] = 0x28000ea1 + i;
		sim_set_sysctl(k, names[i], &ids[i], sizeof(ids[i]));
	}
	assert_true(hwtdi_config_etm_ids(sim_system(k), 7, idr));
	assert_int_equal(idr[0], 0x28000ea1);
	assert_int_equal(idr[2], 0x28000ea3);
	assert_int_equal(idr[3], 0);
	assert_int_equal(idr[8], 0x28000ea9);
	sim_destroy(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_have_sizes_by_default),
		cmocka_unit_test(pt_takes_what_a_stock_kernel_has),
		cmocka_unit_test(pt_takes_times_of_5bsd),
		cmocka_unit_test(pt_keeps_both_ranges),
		cmocka_unit_test(
		    pt_refuses_what_would_be_dropped_without_a_word),
		cmocka_unit_test(spe_takes_who_and_how_often),
		cmocka_unit_test(coresight_takes_each_option),
		cmocka_unit_test(ranges_are_those_of_the_hardware),
		cmocka_unit_test(the_kernel_is_traced_where_it_is_asked_for),
		cmocka_unit_test(a_backend_that_there_is_not_is_refused),
		cmocka_unit_test(ids_of_an_etm_are_read_or_not),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
