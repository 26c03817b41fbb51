/*
 * Configs of hwt(4): what a CPU or a kernel cannot do never reaches the kernel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_system.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static int
setup(void **state)
{
	struct fake_system *f = malloc(sizeof(*f));

	if (f == NULL)
		return (-1);
	fake_system_init(f);
	*state = f;
	return (0);
}

static int
teardown(void **state)
{
	fake_system_fini(*state);
	free(*state);
	return (0);
}

static void
assert_refused(int rc, const struct hwtd_error *err, int want,
    const char *reason)
{
	assert_int_equal(rc, want);
	if (strstr(err->message, reason) == NULL)
		fail_msg("\"%s\" in \"%s\"", reason, err->message);
	assert_true(strlen(err->message) < sizeof(err->message) - 1);
}

/* Source: Intel SDM, CPUID leaf 14H: a CPU that has all but single regions. */
static void
give_cpuid(struct fake_system *f)
{
	static const uint32_t cpuid[6][4] = {
		{ 0x1f, 0, 0, 0 },
		{ 2, 1u << 25, 0, 0 },
		{ 1, 0x11f, 0x3, 0 },
		{ 0x02490002, 0x003f3fff, 0, 0 },
		{ 0x80000008u, 0, 0, 0 },
		{ 0x3927, 0, 0, 0 },
	};

	memcpy(f->cpuid, cpuid, sizeof(cpuid));
}

static void
capabilities_are_those_of_leaf_14h(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_pt_caps caps;

	give_cpuid(f);
	assert_int_equal(hwtdi_pt_caps_read(&f->table, &caps, NULL), HWTD_OK);
	assert_true(caps.cr3_filter && caps.cyc_psb && caps.ip_filter &&
	    caps.mtc && caps.ptwrite && caps.dis_tnt && caps.topa &&
	    caps.topa_many);
	assert_int_equal(caps.n_ranges, 2);
	assert_int_equal(caps.mtc_periods, 0x249);
	assert_int_equal(caps.cyc_thresholds, 0x3fff);
	assert_int_equal(caps.psb_freqs, 0x3f);
	assert_int_equal(caps.linear_bits, 57);
	/* A CPU of the first kind: branches, and what is not listed is not there. */
	f->cpuid[2][0] = 0;
	f->cpuid[2][1] = 0;
	f->cpuid_rc[4] = -ENOTSUP;
	assert_int_equal(hwtdi_pt_caps_read(&f->table, &caps, NULL), HWTD_OK);
	assert_false(caps.cr3_filter || caps.cyc_psb || caps.ip_filter ||
	    caps.mtc || caps.ptwrite || caps.dis_tnt);
	assert_int_equal(caps.n_ranges, 0);
	assert_int_equal(caps.linear_bits, 0);
}

static void
a_cpu_without_intel_pt_has_no_capabilities(void **state)
{
	struct fake_system *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_pt_caps caps;

	give_cpuid(f);
	f->cpuid[0][0] = 0x13;
	assert_refused(hwtdi_pt_caps_read(&f->table, &caps, &err), &err,
	    HWTD_E_UNSUPPORTED, "leaf 0x13");
	f->cpuid_rc[0] = -ENOTSUP;
	assert_refused(hwtdi_pt_caps_read(&f->table, &caps, &err), &err,
	    HWTD_E_UNSUPPORTED, "no Intel PT");
	give_cpuid(f);
	f->cpuid_rc[0] = 0;
	f->cpuid[1][1] = 0;
	assert_refused(hwtdi_pt_caps_read(&f->table, &caps, &err), &err,
	    HWTD_E_UNSUPPORTED, "hypervisor");
	give_cpuid(f);
	f->cpuid[2][2] = 0x5;
	assert_refused(hwtdi_pt_caps_read(&f->table, &caps, &err), &err,
	    HWTD_E_UNSUPPORTED, "0x5");
	f->cpuid_rc[2] = -ENOTSUP;
	assert_refused(hwtdi_pt_caps_read(&f->table, &caps, &err), &err,
	    HWTD_E_UNSUPPORTED, "cannot be read");
}

/* A CPU with all of it, or but branches. */
static struct hwtdi_hwt *
pt_context(struct fake_system *f, bool able, enum hwtdi_kernel_kind kernel)
{
	struct hwtdi_hwt_options o = fake_thread_options(HWTDI_BACKEND_PT);

	o.kernel = kernel;
	give_cpuid(f);
	if (able)
		assert_int_equal(hwtdi_pt_caps_read(&f->table, &o.pt, NULL),
		    HWTD_OK);
	o.pt.linear_bits = 0;
	return (fake_alloc(f, &o));
}

static void
configs_of_pt_that_would_panic_or_be_dropped_are_refused(void **state)
{
	static const uint64_t dis_tnt = UINT64_C(1) << 55;
	static const struct {
		bool able;
		struct hwtdi_hwt_pt_config c;
		int want;
		const char *reason;
	} c[] = {
		{ true, { .rtit_ctl = 0x2008 }, HWTD_OK, "" },
		{ true, { .rtit_ctl = 0x220c | dis_tnt }, HWTD_OK, "" },
		{ true,
		    { .rtit_ctl = 0x2004,
			.nranges = 2,
			.ip_ranges = { { 0x1000, 0x1fff },
			    { 0xffffffff80000000, 0xffffffffffffffff } } },
		    HWTD_OK, "" },
		{ true, { .rtit_ctl = 0x2000 }, HWTD_E_INVALID,
		    "neither user nor kernel" },
		{ true, { .rtit_ctl = 0x2408 }, HWTD_E_INVALID, "bits 0x400" },
		{ true, { .rtit_ctl = 0x2009 }, HWTD_E_INVALID, "bits 0x1" },
		{ false, { .rtit_ctl = 0x2208 }, HWTD_E_UNSUPPORTED, "MTCEn" },
		{ false, { .rtit_ctl = 0x2008 | dis_tnt }, HWTD_E_UNSUPPORTED,
		    "DisTNT" },
		{ false, { .rtit_ctl = 0x2088 }, HWTD_E_UNSUPPORTED,
		    "CR3Filter" },
		{ true, { .rtit_ctl = 0x2088 }, HWTD_E_UNSUPPORTED,
		    "cr3_filter" },
		{ true, { .rtit_ctl = 0x2008, .cr3_filter = 0x1000 },
		    HWTD_E_UNSUPPORTED, "cr3_filter 0x1000" },
		{ true, { .rtit_ctl = 0x2008, .mtc_freq = 3 },
		    HWTD_E_UNSUPPORTED, "mtc_freq 3" },
		{ true, { .rtit_ctl = 0x2008, .cyc_thresh = 1 },
		    HWTD_E_UNSUPPORTED, "cyc_thresh 1" },
		{ true, { .rtit_ctl = 0x2008, .psb_freq = 1 },
		    HWTD_E_UNSUPPORTED, "psb_freq 1" },
		{ false, { .rtit_ctl = 0x2008, .nranges = 1 },
		    HWTD_E_UNSUPPORTED, "cannot filter" },
		{ true, { .rtit_ctl = 0x2008, .nranges = 3 }, HWTD_E_INVALID,
		    "3 address ranges" },
		{ true, { .rtit_ctl = 0x2008, .nranges = -1 }, HWTD_E_INVALID,
		    "-1 address ranges" },
		{ true,
		    { .rtit_ctl = 0x2008,
			.nranges = 1,
			.ip_ranges = { { 2, 1 } } },
		    HWTD_E_INVALID, "0x2 to 0x1" },
		{ true,
		    { .rtit_ctl = 0x2008,
			.nranges = 1,
			.ip_ranges = { { 1, 0x800000000000 } } },
		    HWTD_E_INVALID, "faults" },
		{ true,
		    { .rtit_ctl = 0x2008,
			.nranges = 1,
			.ip_ranges = { { 0xfff0000000000000,
			    0xffffffffffffffff } } },
		    HWTD_E_INVALID, "faults" },
	};
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(c); i++) {
		struct hwtdi_hwt *hwt = pt_context(f, c[i].able,
		    HWTDI_KERNEL_STOCK);
		struct hwtd_error err = { .size = sizeof(err) };
		const size_t before = fake_asked(f, HWTDI_HWT_IOC_SET_CONFIG);

		print_message("case %zu %s\n", i, c[i].reason);
		assert_refused(hwtdi_hwt_set_config(hwt, false, &c[i].c,
				   sizeof(c[i].c), 0, &err),
		    &err, c[i].want, c[i].reason);
		assert_int_equal(hwt->configured, c[i].want == HWTD_OK);
		assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SET_CONFIG) -
			before,
		    c[i].want == HWTD_OK);
		if (c[i].want == HWTD_OK)
			assert_memory_equal(
			    fake_last(f, HWTDI_HWT_IOC_SET_CONFIG)->blob,
			    &c[i].c, sizeof(c[i].c));
		hwtdi_hwt_close(hwt);
	}
}

static void
sizes_of_configs_are_exact(void **state)
{
	static const struct {
		enum hwtdi_backend backend;
		enum hwtdi_kernel_kind kernel;
		size_t size;
		int version;
		const char *reason;
	} c[] = {
		{ HWTDI_BACKEND_PT, HWTDI_KERNEL_STOCK, 71, 0, "71 bytes" },
		{ HWTDI_BACKEND_PT, HWTDI_KERNEL_STOCK, 88, 0, "takes 72" },
		{ HWTDI_BACKEND_PT, HWTDI_KERNEL_5BSD, 72, 0, "takes 88" },
		{ HWTDI_BACKEND_SPE, HWTDI_KERNEL_STOCK, 16, 1, "16 bytes" },
		{ HWTDI_BACKEND_SPE, HWTDI_KERNEL_STOCK, 12, 0, "version 0" },
		{ HWTDI_BACKEND_CORESIGHT, HWTDI_KERNEL_STOCK, 815, 1,
		    "815 bytes" },
		{ HWTDI_BACKEND_CORESIGHT, HWTDI_KERNEL_STOCK, 816, 2,
		    "version 2" },
		{ HWTDI_BACKEND_PT, HWTDI_KERNEL_STOCK, 4097, 0,
		    "up to 4096" },
	};
	static const uint8_t zeros[4097];
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(c); i++) {
		struct hwtdi_hwt_options o = fake_thread_options(c[i].backend);
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtdi_hwt *hwt;

		o.kernel = c[i].kernel;
		hwt = fake_alloc(f, &o);
		assert_refused(hwtdi_hwt_set_config(hwt, false, zeros,
				   c[i].size, c[i].version, &err),
		    &err, HWTD_E_INVALID, c[i].reason);
		assert_refused(hwtdi_hwt_set_config(hwt, false, NULL, 12, 1,
				   &err),
		    &err, HWTD_E_INVALID, "at NULL");
		hwtdi_hwt_close(hwt);
	}
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SET_CONFIG), 0);
}

static void
pausing_alone_leaves_the_config(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_hwt *hwt = pt_context(f, false, HWTDI_KERNEL_STOCK);
	const struct hwtdi_hwt_pt_config c = fake_pt_config();
	struct hwtdi_hwt_set_config call;

	assert_int_equal(hwtdi_hwt_set_config(hwt, true, &c, sizeof(c), 0,
			     NULL),
	    HWTD_OK);
	memcpy(&call, fake_last(f, HWTDI_HWT_IOC_SET_CONFIG)->arg,
	    sizeof(call));
	assert_int_equal(call.pause_on_mmap, 1);
	assert_int_equal(call.config_size, 72);
	assert_int_equal(hwtdi_hwt_set_config(hwt, false, &c, 0, 0, NULL),
	    HWTD_OK);
	memcpy(&call, fake_last(f, HWTDI_HWT_IOC_SET_CONFIG)->arg,
	    sizeof(call));
	assert_int_equal(call.pause_on_mmap, 0);
	assert_int_equal(call.config_size, 0);
	assert_int_equal(call.config, 0);
	assert_true(hwt->configured);
	assert_int_equal(hwt->rtit_ctl, 0x2008);
	hwtdi_hwt_close(hwt);
}

static void
a_longer_config_of_5bsd_is_checked_against_the_cpu(void **state)
{
	static const struct {
		bool able;
		struct hwtdi_hwt_pt_long_config c;
		int want;
		const char *reason;
	} c[] = {
		{ true,
		    { .rtit_ctl = 0x362a,
			.mtc_freq = 3,
			.cyc_thresh = 13,
			.psb_freq = 5,
			.nranges = 2,
			.ip_ranges = { { 1, 2, 1, 0 }, { 3, 4, 2, 0 } } },
		    HWTD_OK, "" },
		{ true, { .rtit_ctl = 0x4000 }, HWTD_E_INVALID,
		    "bits 0x4000" },
		{ false, { .rtit_ctl = 0xa }, HWTD_E_UNSUPPORTED, "CYCEn" },
		{ false, { .rtit_ctl = 0x1008 }, HWTD_E_UNSUPPORTED, "PTWEn" },
		{ false, { .rtit_ctl = 0x28 }, HWTD_E_UNSUPPORTED,
		    "FUPonPTW" },
		{ true, { .rtit_ctl = 0x2008, .mtc_freq = 1 },
		    HWTD_E_UNSUPPORTED, "this CPU cannot" },
		{ true, { .rtit_ctl = 0x2008, .mtc_freq = 16 },
		    HWTD_E_UNSUPPORTED, "mtc_freq 16" },
		{ true, { .rtit_ctl = 0x2008, .psb_freq = 6 },
		    HWTD_E_UNSUPPORTED, "psb_freq 6" },
		{ true,
		    { .rtit_ctl = 0x2008,
			.nranges = 1,
			.ip_ranges = { { 1, 2, 3, 0 } } },
		    HWTD_E_INVALID, "mode 3" },
		{ true,
		    { .rtit_ctl = 0x2008,
			.nranges = 1,
			.ip_ranges = { { 1, 2, -1, 0 } } },
		    HWTD_E_INVALID, "mode -1" },
	};
	struct fake_system *f = *state;

	for (size_t i = 0; i < N(c); i++) {
		struct hwtdi_hwt *hwt = pt_context(f, c[i].able,
		    HWTDI_KERNEL_5BSD);
		struct hwtd_error err = { .size = sizeof(err) };

		print_message("case %zu %s\n", i, c[i].reason);
		assert_refused(hwtdi_hwt_set_config(hwt, false, &c[i].c,
				   sizeof(c[i].c), 0, &err),
		    &err, c[i].want, c[i].reason);
		hwtdi_hwt_close(hwt);
	}
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SET_CONFIG), 1);
}

/* The kernel sets a frequency with the bit, also where the config has none. */
static void
a_frequency_of_0_is_one_that_the_cpu_must_have(void **state)
{
	const struct hwtdi_hwt_pt_config stock = { .rtit_ctl = 0x2208 };
	const struct hwtdi_hwt_pt_long_config mtc = { .rtit_ctl = 0x2208 };
	const struct hwtdi_hwt_pt_long_config cyc = { .rtit_ctl = 0x200a };
	struct fake_system *f = *state;

	for (int i = 0; i < 3; i++) {
		struct hwtdi_hwt *hwt = pt_context(f, true,
		    i == 0 ? HWTDI_KERNEL_STOCK : HWTDI_KERNEL_5BSD);
		struct hwtd_error err = { .size = sizeof(err) };

		hwt->pt.mtc_periods = 0x248;
		hwt->pt.cyc_thresholds = 0xfffe;
		assert_refused(hwtdi_hwt_set_config(hwt, false,
				   i == 0	? (const void *)&stock
				       : i == 1 ? (const void *)&mtc
						: (const void *)&cyc,
				   i == 0 ? sizeof(stock) : sizeof(mtc), 0,
				   &err),
		    &err, HWTD_E_UNSUPPORTED,
		    i < 2 ? "mtc_freq 0: this CPU cannot"
			  : "cyc_thresh 0: this CPU cannot");
		hwtdi_hwt_close(hwt);
	}
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SET_CONFIG), 0);
}

static void
bits_that_a_kernel_does_not_take_back_stay(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_hwt *hwt = pt_context(f, true, HWTDI_KERNEL_5BSD);
	struct hwtdi_hwt_pt_long_config c = { .rtit_ctl = 0x2208 };
	struct hwtd_error err = { .size = sizeof(err) };

	assert_int_equal(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c), 0,
			     NULL),
	    HWTD_OK);
	/* Nothing was started with them yet. */
	c.rtit_ctl = 0x2008;
	assert_int_equal(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c), 0,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_hwt_start(hwt, NULL), HWTD_OK);
	assert_int_equal(hwtdi_hwt_stop(hwt, NULL), HWTD_OK);
	c.rtit_ctl = 0x200c;
	assert_int_equal(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c), 0,
			     NULL),
	    HWTD_OK);
	c.rtit_ctl = 0x2004;
	assert_refused(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c), 0,
			   &err),
	    &err, HWTD_E_INVALID, "bits 0x8");
	hwtdi_hwt_close(hwt);
}

static void
addresses_of_57_bits_need_a_cpu_with_them(void **state)
{
	struct fake_system *f = *state;
	struct hwtdi_hwt_options o = fake_thread_options(HWTDI_BACKEND_PT);
	struct hwtdi_hwt_pt_config c = { .rtit_ctl = 0x2008,
		.nranges = 1,
		.ip_ranges = { { 0, 0xffffffffffffff } } };
	struct hwtdi_hwt *hwt;

	give_cpuid(f);
	assert_int_equal(hwtdi_pt_caps_read(&f->table, &o.pt, NULL), HWTD_OK);
	hwt = fake_alloc(f, &o);
	assert_int_equal(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c), 0,
			     NULL),
	    HWTD_OK);
	c.ip_ranges[0].end++;
	assert_int_equal(hwtdi_hwt_set_config(hwt, false, &c, sizeof(c), 0,
			     NULL),
	    HWTD_E_INVALID);
	hwtdi_hwt_close(hwt);
}

static void
configs_of_arm_have_values_that_the_hardware_has(void **state)
{
	static const struct {
		struct hwtdi_hwt_spe_config c;
		int want;
		const char *reason;
	} spe[] = {
		{ { 0, 0, 0 }, HWTD_OK, "" },
		{ { 0xffffff, 2, 2 }, HWTD_OK, "" },
		{ { 0x1000000, 0, 0 }, HWTD_E_INVALID, "interval 16777216" },
		{ { 0, 3, 0 }, HWTD_E_INVALID, "level 3" },
		{ { 0, 0, 3 }, HWTD_E_INVALID, "context field 3" },
	};
	struct fake_system *f = *state;
	struct hwtdi_hwt_options o = fake_thread_options(HWTDI_BACKEND_SPE);
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_hwt *hwt = fake_alloc(f, &o);
	struct hwtdi_hwt_cs_config cs;

	for (size_t i = 0; i < N(spe); i++)
		assert_refused(hwtdi_hwt_set_config(hwt, false, &spe[i].c, 12,
				   1, &err),
		    &err, spe[i].want, spe[i].reason);
	assert_int_equal(fake_asked(f, HWTDI_HWT_IOC_SET_CONFIG), 2);
	hwtdi_hwt_close(hwt);
	o = fake_thread_options(HWTDI_BACKEND_CORESIGHT);
	hwt = fake_alloc(f, &o);
	memset(&cs, 0, sizeof(cs));
	cs.addr_val[14] = cs.addr_val[15] = 5;
	assert_int_equal(hwtdi_hwt_set_config(hwt, false, &cs, sizeof(cs), 1,
			     NULL),
	    HWTD_OK);
	cs.addr_val[14] = 6;
	assert_refused(hwtdi_hwt_set_config(hwt, false, &cs, sizeof(cs), 1,
			   &err),
	    &err, HWTD_E_INVALID, "0x6 to 0x5");
	hwtdi_hwt_close(hwt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(capabilities_are_those_of_leaf_14h),
		TEST(a_cpu_without_intel_pt_has_no_capabilities),
		TEST(configs_of_pt_that_would_panic_or_be_dropped_are_refused),
		TEST(sizes_of_configs_are_exact),
		TEST(pausing_alone_leaves_the_config),
		TEST(a_longer_config_of_5bsd_is_checked_against_the_cpu),
		TEST(a_frequency_of_0_is_one_that_the_cpu_must_have),
		TEST(bits_that_a_kernel_does_not_take_back_stay),
		TEST(addresses_of_57_bits_need_a_cpu_with_them),
		TEST(configs_of_arm_have_values_that_the_hardware_has),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
