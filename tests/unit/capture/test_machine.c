/*
 * What is found out about a machine, and what is not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "capture/machine.h"
#include "simkernel/simkernel.h"

static void
a_machine_tells_what_it_is(void **state)
{
	struct sim_kernel *k = sim_create(&(struct sim_options){
	    .n_cpus = 3 });
	struct hwtdi_machine m;

	(void)state;
	hwtdi_machine_read(sim_system(k), &m);
	assert_int_equal(m.n_cpus, 3);
	assert_int_equal(m.page_size, 4096);
	assert_string_equal(m.arch, "amd64");
	assert_string_equal(m.release, "15.0-RELEASE");
	assert_string_equal(m.bootfile, "/boot/kernel/kernel");
	assert_string_equal(m.module_path, "/boot/kernel;/boot/modules");
	assert_int_equal(m.family, 6);
	assert_int_equal(m.cpu_model, 158);
	assert_int_equal(m.stepping, 10);
	assert_true(m.has_pt);
	assert_true(m.pt.ip_filter);
	assert_int_equal(m.pt.n_ranges, 2);
	assert_int_equal(m.leaf_14[1][0], 0x2490002);
	assert_int_equal(m.leaf_15[1], 0xd8);
	assert_int_equal(m.midr, 0);
	sim_destroy(k);
}

static void
a_machine_of_arm_has_a_midr_and_no_pt(void **state)
{
	struct sim_kernel *k = sim_create(&(struct sim_options){
	    .arch = SIM_ARM64 });
	struct hwtdi_machine m;

	(void)state;
	hwtdi_machine_read(sim_system(k), &m);
	assert_string_equal(m.arch, "aarch64");
	assert_false(m.has_pt);
	assert_int_equal(m.no_pt.code, HWTD_E_UNSUPPORTED);
	assert_int_equal(m.family, 0);
	/* Arm, Neoverse N1. */
	assert_int_equal(m.midr & 0xff00fff0, 0x4100d0c0);
	sim_destroy(k);
}

/* Source: Intel SDM, "CPUID", leaf 01h. */
static void
signatures_are_put_together(void **state)
{
	static const struct {
		uint32_t eax;
		unsigned family, model, stepping;
	} kinds[] = {
		{ 0x000906ea, 6, 0x9e, 10 },
		{ 0x000b0671, 6, 0xb7, 1 },
		/* Extended families count from 15 on, models also there. */
		{ 0x00a20f12, 25, 0x21, 2 },
		{ 0x00000f41, 15, 4, 1 },
		/* Of others the extended model does not count. */
		{ 0x000f0543, 5, 4, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sim_kernel *k = sim_create(NULL);
		const uint32_t leaf[4] = { kinds[i].eax, 0, 0, 0 };
		struct hwtdi_machine m;

		sim_set_cpuid(k, 1, 0, leaf);
		hwtdi_machine_read(sim_system(k), &m);
		assert_int_equal(m.family, kinds[i].family);
		assert_int_equal(m.cpu_model, kinds[i].model);
		assert_int_equal(m.stepping, kinds[i].stepping);
		sim_destroy(k);
	}
}

static void
frequencies_are_told_in_hundreds_of_mhz(void **state)
{
	static const struct {
		uint32_t highest, mhz;
		unsigned freq;
	} kinds[] = { { 0x16, 2600, 26 }, { 0x16, 0, 0 }, { 0x15, 2600, 0 },
		{ 0x16, 25599, 255 }, { 0x16, 60000, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sim_kernel *k = sim_create(NULL);
		const uint32_t zero[4] = { kinds[i].highest, 0, 0, 0 };
		const uint32_t leaf[4] = { kinds[i].mhz, 0, 0, 0 };
		struct hwtdi_machine m;

		sim_set_cpuid(k, 0, 0, zero);
		sim_set_cpuid(k, 0x16, 0, leaf);
		hwtdi_machine_read(sim_system(k), &m);
		assert_int_equal(m.nom_freq, kinds[i].freq);
		sim_destroy(k);
	}
}

static void
leaves_that_a_cpu_has_not_are_not_read(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	static const uint32_t zero[4] = { 0x13, 0, 0, 0 };
	struct hwtdi_machine m;

	(void)state;
	sim_set_cpuid(k, 0, 0, zero);
	hwtdi_machine_read(sim_system(k), &m);
	assert_int_equal(m.leaf_14[0][1], 0);
	assert_int_equal(m.leaf_15[0], 0);
	assert_int_equal(m.family, 6);
	sim_destroy(k);
}

static void
numbers_have_two_widths(void **state)
{
	struct sim_kernel *k = sim_create(NULL);
	const struct hwtdi_system *sys = sim_system(k);
	const uint32_t narrow = 5;
	const uint64_t wide = 0x100000005;
	uint64_t v;

	(void)state;
	sim_set_sysctl(k, "test.narrow", &narrow, 4);
	sim_set_sysctl(k, "test.wide", &wide, 8);
	sim_set_sysctl(k, "test.odd", &wide, 3);
	assert_true(hwtdi_machine_number(sys, "test.narrow", &v));
	assert_int_equal(v, 5);
	assert_true(hwtdi_machine_number(sys, "test.wide", &v));
	assert_int_equal(v, 0x100000005);
	assert_false(hwtdi_machine_number(sys, "test.odd", &v));
	assert_false(hwtdi_machine_number(sys, "test.none", &v));
	sim_destroy(k);
}

/* Pages of no size, and texts that are too long. */
static void
nonsense_is_not_taken(void **state)
{
	static const uint64_t sizes[] = { 0, 512, 5000 };
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct sim_kernel *k = sim_create(NULL);
		struct hwtdi_machine m;

		sim_set_sysctl(k, "hw.pagesize", &sizes[i], 8);
		sim_set_sysctl_text(k, "kern.osrelease", text);
		hwtdi_machine_read(sim_system(k), &m);
		assert_int_equal(m.page_size, 4096);
		assert_true(strlen(m.release) < sizeof(m.release));
		sim_destroy(k);
	}
}

/* Each answer that does not come is missing, and nothing else is. */
static void
a_machine_that_tells_nothing_is_no_error(void **state)
{
	uint64_t sysctls, cpuids;
	struct hwtdi_machine m;
	struct sim_kernel *k = sim_create(NULL);

	(void)state;
	hwtdi_machine_read(sim_system(k), &m);
	sysctls = sim_call_count(k, SIM_CALL_SYSCTL);
	cpuids = sim_call_count(k, SIM_CALL_CPUID);
	assert_true(sysctls > 5 && cpuids > 5);
	sim_destroy(k);
	for (uint64_t i = 1; i <= sysctls; i++) {
		k = sim_create(NULL);
		sim_fail(k, SIM_CALL_SYSCTL, i, ENOENT);
		hwtdi_machine_read(sim_system(k), &m);
		assert_int_equal(m.page_size, 4096);
		assert_true(m.has_pt);
		sim_destroy(k);
	}
	for (uint64_t i = 1; i <= cpuids; i++) {
		k = sim_create(NULL);
		sim_fail(k, SIM_CALL_CPUID, i, ENOTSUP);
		hwtdi_machine_read(sim_system(k), &m);
		assert_string_equal(m.arch, "amd64");
		if (!m.has_pt)
			assert_true(m.no_pt.message[0] != '\0');
		sim_destroy(k);
	}
}

static void
models_of_arm_are_found_in_what_cpus_call_themselves(void **state)
{
	(void)state;
	/* Arm, "Neoverse N1 TRM": MIDR_EL1 of r3p1 and of r4p1. */
	assert_int_equal(hwtdi_machine_midr("ARM Neoverse-N1 r3p1"),
	    0x413fd0c1);
	assert_int_equal(hwtdi_machine_midr("ARM Neoverse-N1 r4p1"),
	    0x414fd0c1);
	/* Without a revision that is one, the model is known. */
	assert_int_equal(hwtdi_machine_midr("Neoverse-N1") & 0xff00fff0,
	    0x4100d0c0);
	assert_int_equal(hwtdi_machine_midr("Neoverse-N1 r16p1") & 0xfff0ffff,
	    0x4100d0c0);
	assert_int_equal(hwtdi_machine_midr("Neoverse-N1 r3p16") & 0xfff0ffff,
	    0x4100d0c0);
	assert_int_equal(hwtdi_machine_midr("Neoverse-N1 r3p") & 0xfff0ffff,
	    0x4100d0c0);
	assert_int_equal(hwtdi_machine_midr("Neoverse-N1 rp1") & 0xfff0ffff,
	    0x4100d0c0);
	assert_int_equal(hwtdi_machine_midr("Neoverse-N1 r3p1x") & 0xfff0ffff,
	    0x4100d0c0);
	assert_int_equal(hwtdi_machine_midr(""), 0);
	assert_int_equal(hwtdi_machine_midr("   "), 0);
	assert_int_equal(hwtdi_machine_midr("Nobody knows this"), 0);
	assert_int_equal(
	    hwtdi_machine_midr("a-word-that-is-longer-than-any-name-of-a-cpu-"
			       "could-ever-be-in-this-world-and-the-next"),
	    0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_tells_what_it_is),
		cmocka_unit_test(a_machine_of_arm_has_a_midr_and_no_pt),
		cmocka_unit_test(signatures_are_put_together),
		cmocka_unit_test(frequencies_are_told_in_hundreds_of_mhz),
		cmocka_unit_test(leaves_that_a_cpu_has_not_are_not_read),
		cmocka_unit_test(numbers_have_two_widths),
		cmocka_unit_test(nonsense_is_not_taken),
		cmocka_unit_test(a_machine_that_tells_nothing_is_no_error),
		cmocka_unit_test(
		    models_of_arm_are_found_in_what_cpus_call_themselves),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
