/*
 * Records of perf ring buffers beside raw bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/perf_writer.h"
#include "support/temp_dir.h"

static const struct pw_who who = { 70, 71, 5000, 1, 3 };

static void
assert_who(const struct hwtd_record *r, uint32_t type, uint32_t pid,
    uint32_t tid)
{
	assert_int_equal(r->type, type);
	assert_int_equal(r->pid, pid);
	assert_int_equal(r->tid, tid);
	assert_true((r->flags & HWTD_RECF_TIME) != 0);
	assert_int_equal(r->time_ns, 5000);
	assert_int_equal(r->stream, HWTD_NO_ID);
}

static void
records_beside_raw_bytes_are_on_its_clock(void **state)
{
	static const uint8_t psb[] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x23 };

	(void)state;
	for (uint32_t big = 0; big < 2; big++) {
		struct hwtd_perf_records records = { .size = sizeof(records),
			.sample_type = PW_TID | PW_TIME,
			.cpu_plus_1 = 6,
			.big_endian = big };
		const struct hwtd_open_options opts = { .size = sizeof(opts),
			.tech = HWTD_TECH_INTEL_PT,
			.perf_records = &records,
			.n_perf_records = 1 };
		struct hwtd_context *ctx;
		struct hwtd_trace *trace;
		char raw[300], side[300];
		struct hwtd_record r;
		struct temp_dir dir;
		struct pw w;

		pw_init(&w, big != 0, PW_TID | PW_TIME);
		pw_mmap(&w, &who, PW_USER, 8, 0x401000, 0x1000, "/bin/a");
		pw_switch(&w, &who, true);
		temp_dir_create(&dir);
		write_file(temp_dir_file(&dir, "raw", raw), psb, sizeof(psb));
		write_file(temp_dir_file(&dir, "side", side), w.bytes, w.n);
		records.path = side;
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_open(ctx, raw, &opts, &trace,
				     NULL),
		    HWTD_OK);
		pw_assert_no_damage(trace);
		r = pw_record(trace, 0);
		assert_who(&r, HWTD_REC_MMAP, 8, 8);
		assert_int_equal(r.cpu, 5);
		r = pw_record(trace, 1);
		assert_who(&r, HWTD_REC_SWITCH, 70, 71);
		assert_int_equal(r.cpu, 5);
		hwtd_trace_close(trace);

		/* Another sample_type is wrong, and told with the file. */
		records.sample_type = PW_TIME;
		assert_int_equal(hwtd_trace_open(ctx, raw, &opts, &trace,
				     NULL),
		    HWTD_OK);
		assert_int_equal(pw_n_records(trace), 0);
		{
			struct hwtd_damage d = { .size = sizeof(d) };

			assert_int_equal(hwtd_trace_damage(trace, 0, &d),
			    HWTD_OK);
			assert_non_null(strstr(d.text,
			    "side: MMAP2 at 0: filename"));
		}
		hwtd_trace_close(trace);

		records.path = NULL;
		assert_int_equal(hwtd_trace_open(ctx, raw, &opts, &trace,
				     NULL),
		    HWTD_E_INVALID);
		hwtd_context_destroy(ctx);
		temp_dir_remove(&dir);
		pw_fini(&w);
	}
}

static void
ring_buffer_has_records_of_the_kernel_only(void **state)
{
	static const uint32_t types[] = { PW_HEADER_ATTR, PW_AUXTRACE_INFO,
		PW_AUXTRACE, PW_COMPRESSED, PW_HEADER_FEATURE, 99 };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct hwtd_perf_records records = { .size = sizeof(records),
			.sample_type = PW_TID | PW_TIME };
		const struct hwtd_open_options opts = { .size = sizeof(opts),
			.tech = HWTD_TECH_INTEL_PT,
			.perf_records = &records,
			.n_perf_records = 1 };
		struct hwtd_damage d = { .size = sizeof(d) };
		struct hwtd_context *ctx;
		struct hwtd_trace *trace;
		char raw[300], side[300];
		struct temp_dir dir;
		struct pw w;

		pw_init(&w, false, PW_TID | PW_TIME);
		pw_begin(&w, types[i], 0);
		for (size_t k = 0; k < 16; k++)
			pw_put(&w, 64, 8);
		pw_end(&w, NULL);
		/* Nothing of it swallows what is behind it. */
		pw_comm(&w, &who, 0, 8, 8, "a");
		temp_dir_create(&dir);
		write_file(temp_dir_file(&dir, "raw", raw), "\2\202", 2);
		write_file(temp_dir_file(&dir, "side", side), w.bytes, w.n);
		records.path = side;
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_open(ctx, raw, &opts, &trace,
				     NULL),
		    HWTD_OK);
		assert_string_equal(pw_record(trace, 0).name, "a");
		assert_int_equal(hwtd_trace_damage(trace, 0, &d), HWTD_OK);
		assert_non_null(strstr(d.text, "no kernel writes"));
		hwtd_trace_close(trace);
		hwtd_context_destroy(ctx);
		temp_dir_remove(&dir);
		pw_fini(&w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_beside_raw_bytes_are_on_its_clock),
		cmocka_unit_test(ring_buffer_has_records_of_the_kernel_only),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
