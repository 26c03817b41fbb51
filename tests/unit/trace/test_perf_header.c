/*
 * What the header of a perf.data tells, beside how trace was recorded: texts,
 * build-ids, BPF programs, ids of events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/perf_writer.h"

static const struct pw_who who = { 7, 7, 1000, 1, 2 };

static void
texts_of_the_header_are_those_of_the_trace(void **state)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_task(&w, &who, PW_EXIT, 7, 7, 7, 7);
	pw_text_feature(&w, 3, "box");
	pw_text_feature(&w, 4, "6.1.0");
	pw_text_feature(&w, 5, "6.2");
	pw_text_feature(&w, 6, "x86_64");
	pw_text_feature(&w, 8, "A processor");
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	(void)hwtd_trace_info(trace, &info);
	assert_string_equal(info.format, "perf.data");
	assert_string_equal(info.origin, "perf 6.2, on box, Linux 6.1.0");
	assert_string_equal(info.abi, "Linux x86_64");
	assert_string_equal(info.cpu_model, "A processor");
	assert_string_equal(info.clock, "the clock of Linux perf");
	hwtd_trace_close(trace);
	pw_fini(&w);
}

static void
feature_that_is_cut_is_damage_and_no_more(void **state)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_trace *trace;
	struct pw w, content;
	size_t at;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	pw_task(&w, &who, PW_EXIT, 7, 7, 7, 7);
	pw_init(&content, false, 0);
	pw_put(&content, 100, 4);
	pw_put(&content, 0, 8);
	pw_feature(&w, 3, &content);
	pw_text_feature(&w, 4, "6.1.0");
	at = w.n + 32;
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_damage(trace, at, "header feature 3");
	(void)hwtd_trace_info(trace, &info);
	assert_string_equal(info.origin, "Linux 6.1.0");
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&content);
}

static void
put_build_id(struct pw *w, uint32_t misc, uint32_t n, uint32_t zeros,
    const char *name)
{
	pw_begin(w, PW_BUILD_ID, misc);
	pw_put(w, HWTD_NO_ID, 4);
	for (uint32_t i = 0; i < 20; i++)
		pw_put(w, i < 20 - zeros ? i + 1 : 0, 1);
	pw_put(w, n, 4);
	pw_text(w, name);
	pw_end(w, NULL);
}

static void
build_ids_are_those_of_files_that_are_mapped(void **state)
{
	static const struct {
		const char *name;
		uint32_t n;
	} want[] = {
		{ "/bin/twenty", 20 },
		{ "/bin/eight", 8 },
		{ "/bin/sixteen", 16 },
		{ "/bin/none", 0 },
		{ "[kernel.kallsyms]_text", 20 },
		/* Its last byte is 0. */
		{ "/bin/zero", 20 },
		/* Without its size. */
		{ "/bin/short", 8 },
		{ "/bin/nothing", 0 },
	};
	const size_t n_want = sizeof(want) / sizeof(want[0]);

	(void)state;
	/* As a feature of the header, and as records. */
	for (int as_records = 0; as_records < 2; as_records++) {
		struct hwtd_trace *trace;
		struct pw w, content;

		pw_file(&w, false, PW_USUAL);
		for (size_t i = 0; i < n_want; i++)
			pw_mmap(&w, &who, want[i].name[0] == '[' ? 1 : 2, 8,
			    0x1000 * i, 0x1000, want[i].name);
		pw_init(&content, false, 0);
		put_build_id(&content, 0, 0, 0, "/bin/twenty");
		put_build_id(&content, PW_BUILD_ID_SIZE, 8, 12, "/bin/eight");
		put_build_id(&content, 0, 0, 4, "/bin/sixteen");
		put_build_id(&content, 0, 0, 1, "/bin/zero");
		put_build_id(&content, 0, 0, 12, "/bin/short");
		put_build_id(&content, 0, 0, 20, "/bin/nothing");
		put_build_id(&content, 0, 0, 0, "/bin/other");
		put_build_id(&content, 0, 0, 0, "[kernel.kallsyms]");
		if (as_records != 0)
			pw_bytes(&w, content.bytes, content.n);
		else
			pw_feature(&w, 2, &content);
		pw_finish(&w);
		trace = pw_open(&w, NULL);
		pw_assert_no_damage(trace);
		for (size_t i = 0; i < n_want; i++) {
			const struct hwtd_record r = pw_record(trace, i);

			assert_string_equal(r.name, want[i].name);
			assert_int_equal(r.n_build_id, want[i].n);
			for (uint32_t k = 0; k < r.n_build_id; k++)
				assert_int_equal(r.build_id[k],
				    k == 19 && i == 5 ? 0 : k + 1);
		}
		hwtd_trace_close(trace);
		pw_fini(&w);
		pw_fini(&content);
	}
}

/* A BPF program of `n` bytes at `address`, as the header has it. */
static void
put_bpf(struct pw *w, uint8_t tag, uint64_t address, uint32_t n)
{
	pw_put(w, 128, 4);
	pw_put(w, n + 12, 4);
	/* Its code, addresses and lengths. */
	pw_put(w, 0x19, 8);
	pw_put(w, 0, 8);
	for (unsigned i = 0; i < 8; i++)
		pw_put(w, tag, 1);
	pw_put(w, n, 4);
	pw_put(w, 0, 4);
	pw_put(w, 12, 8);
	for (unsigned i = 32; i < 104; i += 8)
		pw_put(w, 0, 8);
	pw_put(w, 1, 8);
	pw_put(w, 0, 8);
	pw_put(w, 8, 8);
	pw_put(w, address, 8);
	pw_put(w, n, 4);
	for (uint32_t i = 0; i < n; i++)
		pw_put(w, tag, 1);
}

static void
put_symbol(struct pw *w, uint64_t address, uint32_t n, const char *name)
{
	pw_begin(w, 17, 0);
	pw_put(w, address, 8);
	pw_put(w, n, 4);
	pw_put(w, 1, 4);
	pw_text(w, name);
	pw_end(w, &who);
}

static void
bpf_programs_of_one_place_are_told_apart(void **state)
{
	struct hwtd_trace *trace;
	struct pw w, content;

	(void)state;
	pw_file(&w, false, PW_USUAL);
	put_symbol(&w, 0x9000, 5, "bpf_prog_1111111111111111_old");
	put_symbol(&w, 0x9000, 7, "bpf_prog_2222222222222222_new");
	put_symbol(&w, 0x9000, 7, "bpf_prog_3333333333333333_none");
	put_symbol(&w, 0x8000, 4, "bpf_prog_3333333333333333_part");
	pw_init(&content, false, 0);
	pw_put(&content, 3, 4);
	put_bpf(&content, 0x22, 0x9000, 7);
	put_bpf(&content, 0x11, 0x9000, 5);
	put_bpf(&content, 0x11, 0x8000, 4);
	pw_feature(&w, 25, &content);
	pw_finish(&w);
	trace = pw_open(&w, NULL);
	pw_assert_no_damage(trace);
	assert_int_equal(pw_record(trace, 0).file_off, 7);
	assert_int_equal(pw_record(trace, 1).file_off, 0);
	assert_int_equal(pw_record(trace, 1).image, pw_record(trace, 0).image);
	/* It could be either, and is neither. */
	assert_int_equal(pw_record(trace, 2).image, HWTD_NO_ID);
	/* A part of a program has a tag of its own. */
	assert_int_equal(pw_record(trace, 3).file_off, 12);
	hwtd_trace_close(trace);
	pw_fini(&w);
	pw_fini(&content);
}

static void
ids_of_events_are_not_read_for_ever(void **state)
{
	const size_t n_events = 5000, n_ids = 5000;
	struct hwtd_context_options options = { .size = sizeof(options) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct failing_allocator counts;
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct pw w;
	size_t ids;

	(void)state;
	/* All events name the same ids: more than the file has. */
	pw_init(&w, false, PW_USUAL);
	pw_put(&w, UINT64_C(0x32454c4946524550), 8);
	pw_put(&w, 104, 8);
	pw_put(&w, 64 + 16, 8);
	pw_put(&w, 104, 8);
	pw_put(&w, n_events * 80, 8);
	ids = 104 + n_events * 80;
	pw_put(&w, ids, 8);
	pw_put(&w, 8 * n_ids, 8);
	for (size_t i = 0; i < 6; i++)
		pw_put(&w, 0, 8);
	for (size_t i = 0; i < n_events; i++) {
		pw_attr(&w, 64, 8, 0, PW_USUAL);
		pw_put(&w, ids, 8);
		pw_put(&w, 8 * n_ids, 8);
	}
	for (uint64_t i = 0; i < n_ids; i++)
		pw_put(&w, i << 32 | 16 << 16, 8);
	failing_allocator_init(&counts);
	options.allocator = &counts.allocator;
	assert_int_equal(hwtd_context_create(&options, &ctx, NULL), HWTD_OK);
	if (pw_open_in(ctx, &w, NULL, &trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	hwtd_trace_close(trace);
	hwtd_context_destroy(ctx);
	/* The ids of an event are memory, for as long as they are read. */
	assert_true(counts.requests < n_events);
	pw_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_of_the_header_are_those_of_the_trace),
		cmocka_unit_test(feature_that_is_cut_is_damage_and_no_more),
		cmocka_unit_test(build_ids_are_those_of_files_that_are_mapped),
		cmocka_unit_test(bpf_programs_of_one_place_are_told_apart),
		cmocka_unit_test(ids_of_events_are_not_read_for_ever),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
