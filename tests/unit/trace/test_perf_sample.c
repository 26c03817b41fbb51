/*
 * Samples in a perf.data that carry trace, or tell switches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "support/frame_writer.h"
#include "support/perf_writer.h"

#define ANY HWTD_NO_ID

/* perf_event_attr.sample_type, in the order of its bits. */
#define READ 0x10u
#define CALLCHAIN 0x20u
#define PERIOD 0x100u
#define RAW 0x400u
#define BRANCH_STACK 0x800u
#define REGS_USER 0x1000u
#define STACK_USER 0x2000u
#define WEIGHT 0x4000u
#define DATA_SRC 0x8000u
#define TRANSACTION 0x20000u
#define REGS_INTR 0x40000u
#define PHYS_ADDR 0x80000u
#define AUX 0x100000u
#define CGROUP 0x200000u
#define DATA_PAGE_SIZE 0x400000u
#define CODE_PAGE_SIZE 0x800000u
#define WEIGHT_STRUCT 0x1000000u

/* perf_event_attr.read_format. */
#define FORMAT_TIMES 0x3u
#define FORMAT_ID 0x4u
#define FORMAT_GROUP 0x8u
#define FORMAT_LOST 0x10u

#define ALL_FIELDS                                                            \
	(PW_IP | PW_TID | PW_TIME | PW_ADDR | PW_ID | PW_STREAM_ID | PW_CPU | \
	    PW_IDENTIFIER | READ | CALLCHAIN | PERIOD | RAW | BRANCH_STACK |  \
	    REGS_USER | STACK_USER | WEIGHT | DATA_SRC | TRANSACTION |        \
	    REGS_INTR | PHYS_ADDR | AUX | CGROUP | DATA_PAGE_SIZE |           \
	    CODE_PAGE_SIZE)

static const struct pw_who who = { 7, 8, 1000, 1, 2 };

/* What is of no interest. */
static void
fill(struct pw *w, size_t words)
{
	for (size_t i = 0; i < words; i++)
		pw_put(w, 0x7777777777777777, 8);
}

static void
put_read(struct pw *w, uint64_t format)
{
	const size_t each = 1u + ((format & FORMAT_ID) != 0) +
	    ((format & FORMAT_LOST) != 0);
	const size_t times = (format & 1) + (format >> 1 & 1);

	if ((format & FORMAT_GROUP) != 0)
		pw_put(w, 3, 8);
	fill(w, times + ((format & FORMAT_GROUP) != 0 ? 3 * each : each));
}

/* `n` bytes are a multiple of 8. */
static void
put_sample(struct pw *w, uint64_t type, uint64_t format, const void *aux,
    size_t n)
{
	pw_begin(w, PW_SAMPLE, 2);
	if ((type & PW_IDENTIFIER) != 0)
		pw_put(w, who.id, 8);
	if ((type & PW_IP) != 0)
		fill(w, 1);
	pw_who(w, type & (PW_TID | PW_TIME), &who);
	if ((type & PW_ADDR) != 0)
		fill(w, 1);
	pw_who(w, type & (PW_ID | PW_STREAM_ID | PW_CPU), &who);
	if ((type & PERIOD) != 0)
		fill(w, 1);
	if ((type & READ) != 0)
		put_read(w, format);
	if ((type & CALLCHAIN) != 0) {
		pw_put(w, 4, 8);
		fill(w, 4);
	}
	if ((type & RAW) != 0) {
		pw_put(w, 12, 4);
		pw_bytes(w, "123456789012", 12);
	}
	if ((type & BRANCH_STACK) != 0) {
		pw_put(w, 2, 8);
		/* Which branch is the first: bit 17 of branch_sample_type. */
		fill(w, 1 + 2 * 3);
	}
	if ((type & REGS_USER) != 0) {
		pw_put(w, 2, 8);
		fill(w, 3);
	}
	if ((type & STACK_USER) != 0) {
		pw_put(w, 16, 8);
		fill(w, 2);
		pw_put(w, 16, 8);
	}
	if ((type & (WEIGHT | WEIGHT_STRUCT)) != 0)
		fill(w, 1);
	if ((type & DATA_SRC) != 0)
		fill(w, 1);
	if ((type & TRANSACTION) != 0)
		fill(w, 1);
	if ((type & REGS_INTR) != 0)
		pw_put(w, 0, 8);
	for (unsigned bit = 19; bit < 24; bit++)
		if ((type >> bit & 1) != 0 && bit != 20)
			fill(w, 1);
	if ((type & AUX) != 0) {
		pw_put(w, n, 8);
		pw_bytes(w, aux, n);
	}
	pw_end(w, NULL);
}

static void
begin(struct pw *w, bool big, uint64_t type, uint64_t format)
{
	const size_t attr = 112;

	pw_file(w, big, type);
	pw_set(w, attr + 32, format, 8);
	pw_set(w, attr + 72, 0x20000, 8);
	pw_set(w, attr + 80, 0x101010, 8);
	pw_set(w, attr + 96, 0xff, 8);
}

static void
assert_bytes(const struct hwtd_trace *trace, const char *want)
{
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	char got[256] = "";
	size_t n = 0;

	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(hwtd_trace_read_bytes(trace, 0, 0, got,
			     sizeof(got) - 1, &n, NULL),
	    HWTD_OK);
	assert_int_equal(n, d.n_bytes);
	assert_string_equal(got, want);
}

static void
trace_is_found_whatever_a_sample_has(void **state)
{
	/* All fields, and each one alone. */
	(void)state;
	for (unsigned bit = 0; bit < 26; bit++) {
		const uint64_t type = bit == 25
		    ? ALL_FIELDS
		    : ((uint64_t)1 << bit & (ALL_FIELDS | WEIGHT_STRUCT)) |
			AUX | PW_CPU;

		for (uint64_t format = 0; format < 32; format++) {
			struct hwtd_stream_desc d = { .size = sizeof(d) };
			struct hwtd_trace *trace;
			struct pw w;

			if ((type & READ) == 0 && format > 0)
				break;
			begin(&w, format % 2 != 0, type, format);
			pw_info_pt(&w, false);
			put_sample(&w, type, format, "trace is here...", 16);
			pw_finish(&w);
			trace = pw_open(&w, NULL);
			pw_assert_no_damage(trace);
			assert_bytes(trace, "trace is here...");
			assert_int_equal(hwtd_trace_stream(trace, 0, &d),
			    HWTD_OK);
			assert_int_equal(d.cpu, 2);
			hwtd_trace_close(trace);
			pw_fini(&w);
		}
	}
}

static void
samples_are_extents_of_their_cpu_or_thread(void **state)
{
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	begin(&w, false, PW_TID | AUX, 0);
	pw_info_pt(&w, false);
	put_sample(&w, PW_TID | AUX, 0, "one.....", 8);
	put_sample(&w, PW_TID | AUX, 0, "", 0);
	put_sample(&w, PW_TID | AUX, 0, "two.....", 8);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_bytes(trace, "one.....two.....");
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.tid, 8);
	assert_int_equal(hwtd_trace_extent(trace, 0, 1, &e), HWTD_OK);
	assert_int_equal(e.start, 8);
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
sample_that_is_cut_is_damage(void **state)
{
	struct pw whole;
	size_t start, size;

	(void)state;
	begin(&whole, false, ALL_FIELDS, 31);
	pw_info_pt(&whole, false);
	start = whole.n;
	put_sample(&whole, ALL_FIELDS, 31, "trace is here...", 16);
	size = whole.n - start;
	for (size_t n = 8; n < size; n += 8) {
		struct hwtd_trace *trace;

		pw_set(&whole, start + 6, n, 2);
		whole.n = start + n;
		pw_finish(&whole);
		trace = pw_open(&whole, NULL);
		pw_assert_damage(trace, start, "SAMPLE at");
		hwtd_trace_close(trace);
	}
	pw_fini(&whole);
}

static void
trace_in_compressed_samples_is_kept(void **state)
{
	static const uint64_t info[] = { 1, (uint64_t)8 << 32 | 1, 0,
		0x4040404040404040, 2, 7, 0, 0x10, 0, 0, 0, 0, 0 };
	struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct frame_writer frames;
	struct hwtd_trace *trace;
	uint8_t packed[1024], bytes[64];
	struct pw w, samples;
	size_t n;

	(void)state;
	frame_writer_init(&frames, bytes, sizeof(bytes));
	for (uint8_t i = 0; i < 20; i++)
		frame_writer_put(&frames, 0x10, i);
	frame_writer_finish(&frames);
	pw_init(&samples, false, PW_CPU | AUX);
	put_sample(&samples, PW_CPU | AUX, 0, bytes, frames.n);
	n = ZSTD_compress(packed, sizeof(packed), samples.bytes, samples.n, 1);
	assert_false(ZSTD_isError(n));
	begin(&w, false, PW_CPU | AUX, 0);
	pw_begin(&w, PW_AUXTRACE_INFO, 0);
	pw_put(&w, 3, 4);
	pw_put(&w, 0, 4);
	for (size_t i = 0; i < sizeof(info) / sizeof(info[0]); i++)
		pw_put(&w, info[i], 8);
	pw_end(&w, NULL);
	pw_begin(&w, PW_COMPRESSED, 0);
	pw_bytes(&w, packed, n);
	pw_end(&w, NULL);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(hwtd_trace_stream(trace, 0, &d), HWTD_OK);
	assert_int_equal(d.framing, HWTD_FRAMING_MEMORY);
	assert_int_equal(d.n_bytes, frames.n);
	/* Which sources there are is found in it. */
	assert_int_equal(hwtd_trace_stream(trace, 1, &d), HWTD_OK);
	assert_int_equal(d.coresight->trace_id, 0x10);
	assert_int_equal(d.n_bytes, 20);
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&samples);
}

static void
tracepoint_of_a_switch_tells_who_comes_next(void **state)
{
	const uint64_t type = PW_TID | PW_TIME | PW_CPU | RAW;
	struct hwtd_trace *trace;
	struct hwtd_record r;
	struct pw w, names;

	(void)state;
	for (int big = 0; big < 2; big++) {
		begin(&w, big != 0, type, 0);
		/* A tracepoint. */
		pw_set(&w, 112, 2, 4);
		pw_init(&names, big != 0, 0);
		pw_put(&names, 1, 4);
		pw_put(&names, 112, 4);
		pw_attr(&names, 112, 2, 0, type);
		pw_put(&names, 1, 4);
		pw_put(&names, 24, 4);
		pw_text(&names, "sched:sched_switch");
		pw_put(&names, 1, 8);
		{
			struct pw host;

			pw_init(&host, big != 0, 0);
			pw_put(&host, 8, 4);
			pw_text(&host, "host");
			pw_feature(&w, 3, &host);
			pw_fini(&host);
		}
		pw_feature(&w, 12, &names);
		for (uint32_t next = 0; next < 2; next++) {
			pw_begin(&w, PW_SAMPLE, 1);
			pw_who(&w, PW_TID | PW_TIME | PW_CPU, &who);
			pw_put(&w, 68, 4);
			/* Up to the next thread, 56 bytes. */
			for (size_t i = 0; i < 14; i++)
				pw_put(&w, 0x5555, 4);
			pw_put(&w, 1234 * next, 4);
			pw_put(&w, 0, 4);
			pw_put(&w, 0, 4);
			pw_end(&w, NULL);
		}
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_no_damage(trace);
		assert_int_equal(pw_n_records(trace), 2);
		r = pw_record(trace, 0);
		assert_int_equal(r.type, HWTD_REC_SWITCH);
		assert_int_equal(r.pid, 0);
		assert_int_equal(r.tid, 0);
		r = pw_record(trace, 1);
		assert_int_equal(r.tid, 1234);
		assert_int_equal(r.pid, HWTD_NO_ID);
		assert_int_equal(r.cpu, 2);
		assert_int_equal(r.time_ns, 1000);
		hwtd_trace_close(trace);
		pw_fini(&w);
		pw_fini(&names);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_is_found_whatever_a_sample_has),
		cmocka_unit_test(samples_are_extents_of_their_cpu_or_thread),
		cmocka_unit_test(sample_that_is_cut_is_damage),
		cmocka_unit_test(trace_in_compressed_samples_is_kept),
		cmocka_unit_test(tracepoint_of_a_switch_tells_who_comes_next),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
