/*
 * Operations of Arm SPE: every payload of every class.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/spe/spe_operation.h"

#define STORE HWTD_OPF_STORE
#define COND HWTD_OPF_CONDITIONAL

static const struct {
	const char *name;
	uint8_t op_class;
	uint8_t payload;
	struct hwtdi_spe_operation want;
} cases[] = {
	{ "anything", 0, 0x00, { HWTD_OP_CLASS_OTHER, HWTD_OP_OTHER, 0, 0 } },
	{ "csel", 0, 0x01, { HWTD_OP_CLASS_OTHER, HWTD_OP_OTHER, COND, 0 } },
	/* Advanced SIMD arithmetic is no memory. */
	{ "ase fp", 0, 0x06,
	    { HWTD_OP_CLASS_OTHER, HWTD_OP_OTHER,
		HWTD_OPF_SIMD | HWTD_OPF_FLOATING_POINT, 0 } },
	{ "sve 32", 0, 0x08, { HWTD_OP_CLASS_OTHER, HWTD_OP_SVE, 0, 32 } },
	{ "sve fp pred 4096", 0, 0x7e,
	    { HWTD_OP_CLASS_OTHER, HWTD_OP_SVE,
		HWTD_OPF_PREDICATED | HWTD_OPF_FLOATING_POINT, 4096 } },
	{ "sme 128", 0, 0x88, { HWTD_OP_CLASS_OTHER, HWTD_OP_SME, 0, 128 } },
	{ "sme 256", 0, 0x8c, { HWTD_OP_CLASS_OTHER, HWTD_OP_SME, 0, 256 } },
	{ "sme fp 512", 0, 0x9a,
	    { HWTD_OP_CLASS_OTHER, HWTD_OP_SME, HWTD_OPF_FLOATING_POINT,
		512 } },
	{ "sme 4194304", 0, 0xfc,
	    { HWTD_OP_CLASS_OTHER, HWTD_OP_SME, 0, 4194304 } },
	{ "reserved", 0, 0x09,
	    { HWTD_OP_CLASS_OTHER, HWTD_OP_RESERVED, 0, 0 } },
	{ "reserved", 0, 0x80,
	    { HWTD_OP_CLASS_OTHER, HWTD_OP_RESERVED, 0, 0 } },

	{ "ldr", 1, 0x00,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_GENERAL, 0, 0 } },
	{ "str", 1, 0x01,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_GENERAL, STORE, 0 } },
	{ "ldr q", 1, 0x04,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_SIMD_FP, 0, 0 } },
	{ "str q", 1, 0x05,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_SIMD_FP, STORE, 0 } },
	{ "unspecified", 1, 0x11,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_UNSPECIFIED, STORE, 0 } },
	{ "nv2", 1, 0x30,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_SYSTEM_REGISTER, 0, 0 } },
	{ "ldg", 1, 0x14, { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_TAG, 0, 0 } },
	{ "stg", 1, 0x15,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_TAG, STORE, 0 } },
	{ "cpy read", 1, 0x20,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_COPY, 0, 0 } },
	{ "cpy write", 1, 0x21,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_COPY, STORE, 0 } },
	{ "set", 1, 0x25,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_SET, STORE, 0 } },
	{ "no set", 1, 0x24,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_RESERVED, 0, 0 } },
	{ "ldadd", 1, 0x06,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_EXTENDED, HWTD_OPF_ATOMIC,
		0 } },
	{ "ldxr", 1, 0x0a,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_EXTENDED, HWTD_OPF_EXCLUSIVE,
		0 } },
	{ "ldar", 1, 0x12,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_EXTENDED,
		HWTD_OPF_ACQUIRE_RELEASE, 0 } },
	{ "stlr", 1, 0x13,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_EXTENDED,
		STORE | HWTD_OPF_ACQUIRE_RELEASE, 0 } },
	{ "stlxr", 1, 0x1b,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_EXTENDED,
		STORE | HWTD_OPF_ACQUIRE_RELEASE | HWTD_OPF_EXCLUSIVE, 0 } },
	{ "ld1w gather", 1, 0xcc,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_SVE_SME,
		HWTD_OPF_PREDICATED | HWTD_OPF_GATHER_SCATTER, 512 } },
	{ "sve store", 1, 0x29,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_SVE_SME, STORE, 128 } },
	{ "gcs load", 1, 0x40,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_GCS, 0, 0 } },
	{ "gcs common", 1, 0x44,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_MEM_GCS, HWTD_OPF_GCS_COMMON,
		0 } },
	{ "reserved", 1, 0xff,
	    { HWTD_OP_CLASS_MEMORY, HWTD_OP_RESERVED, STORE, 0 } },

	{ "b", 2, 0x00, { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH, 0, 0 } },
	{ "b.cond", 2, 0x01,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH, COND, 0 } },
	{ "br", 2, 0x02,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH, HWTD_OPF_INDIRECT, 0 } },
	{ "both", 2, 0x03,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH, COND | HWTD_OPF_INDIRECT,
		0 } },
	{ "bl", 2, 0x08,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH, HWTD_OPF_LINK, 0 } },
	{ "ret", 2, 0x10,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH, HWTD_OPF_RETURN, 0 } },
	{ "br, told", 2, 0x1a,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH,
		HWTD_OPF_INDIRECT | HWTD_OPF_NO_LINK_RETURN, 0 } },
	{ "ret gcs", 2, 0x16,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_BRANCH,
		HWTD_OPF_INDIRECT | HWTD_OPF_GCS | HWTD_OPF_RETURN, 0 } },
	{ "reserved", 2, 0x20,
	    { HWTD_OP_CLASS_BRANCH, HWTD_OP_RESERVED, 0, 0 } },
	{ "reserved class", 3, 0x00,
	    { HWTD_OP_CLASS_RESERVED, HWTD_OP_RESERVED, 0, 0 } },
};

static void
payloads_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hwtdi_spe_operation got;

		print_message("case %s\n", cases[i].name);
		hwtdi_spe_operation_read(cases[i].op_class, cases[i].payload,
		    &got);
		assert_int_equal(got.op_class, cases[i].want.op_class);
		assert_int_equal(got.op, cases[i].want.op);
		assert_int_equal(got.flags, cases[i].want.flags);
		assert_int_equal(got.vector_bits, cases[i].want.vector_bits);
	}
}

/* How many payloads each form has, counted from the bits it leaves open. */
static void
every_payload_has_one_form(void **state)
{
	static const unsigned int want[3][64] = {
		{ [HWTD_OP_OTHER] = 8,
		    [HWTD_OP_SVE] = 32,
		    [HWTD_OP_SME] = 32,
		    [HWTD_OP_RESERVED] = 184 },
		{ [HWTD_OP_MEM_GENERAL] = 2,
		    [HWTD_OP_MEM_SIMD_FP] = 2,
		    [HWTD_OP_MEM_UNSPECIFIED] = 2,
		    [HWTD_OP_MEM_TAG] = 2,
		    [HWTD_OP_MEM_COPY] = 2,
		    [HWTD_OP_MEM_SET] = 1,
		    [HWTD_OP_MEM_SYSTEM_REGISTER] = 2,
		    [HWTD_OP_MEM_EXTENDED] = 16,
		    [HWTD_OP_MEM_SVE_SME] = 64,
		    [HWTD_OP_MEM_GCS] = 4,
		    [HWTD_OP_RESERVED] = 159 },
		{ [HWTD_OP_BRANCH] = 32, [HWTD_OP_RESERVED] = 224 },
	};

	(void)state;
	for (uint8_t c = 0; c < 3; c++) {
		unsigned int n[64] = { 0 };

		for (unsigned int v = 0; v < 256; v++) {
			struct hwtdi_spe_operation got;

			hwtdi_spe_operation_read(c, (uint8_t)v, &got);
			assert_true(got.op < 64);
			n[got.op]++;
			if (c == 1)
				assert_int_equal(got.flags & STORE, v & 1);
		}
		for (size_t i = 0; i < 64; i++)
			assert_int_equal(n[i], want[c][i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payloads_are_read),
		cmocka_unit_test(every_payload_has_one_form),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
