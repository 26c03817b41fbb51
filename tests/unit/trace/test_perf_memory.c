/*
 * Files of perf.data when memory runs out, at each place where some is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <zstd.h>

#include "support/failing_allocator.h"
#include "support/perf_writer.h"
#include "support/temp_dir.h"

#define ANY HWTD_NO_ID

static const struct pw_who who = { 7, 7, 1000, 1, 0 };

/* Records of all kinds that keep something. */
static void
put_records(struct pw *w)
{
	struct pw_who by = who;

	pw_begin(w, PW_TIME_CONV, 0);
	for (size_t i = 0; i < 3; i++)
		pw_put(w, 10, 8);
	pw_end(w, NULL);
	pw_mmap(w, &who, 2, 7, 0x400000, 0x1000, "/bin/a");
	pw_mmap(w, &who, 1, ANY, 0x80000000, 0x1000, "[kernel.kallsyms]_text");
	pw_mmap(w, &who, 2, 7, 0x600000, 0x1000, "/none/jit-7.dump");
	pw_mmap(w, &who, 2, 7, 0x700000, 0x1000, "//anon");
	pw_comm(w, &who, PW_COMM_EXEC, 7, 7, "program");
	pw_task(w, &who, PW_FORK, 8, 7, 8, 7);
	for (uint64_t i = 0; i < 3; i++) {
		by.time = 2000 + i;
		pw_begin(w, PW_TEXT_POKE, 1);
		pw_put(w, 0x80000000 + 8 * i, 8);
		pw_put(w, 2, 2);
		pw_put(w, 2, 2);
		pw_bytes(w, "abcd", 4);
		pw_end(w, &by);
	}
	pw_switch(w, &who, true);
	by.time = 3000;
	pw_task(w, &by, PW_EXIT, 8, 7, 8, 7);
}

static void
put_header(struct pw *w)
{
	struct pw content;

	pw_init(&content, false, 0);
	pw_begin(&content, PW_BUILD_ID, 0);
	pw_put(&content, ANY, 4);
	for (size_t i = 0; i < 24; i++)
		pw_put(&content, 1, 1);
	pw_text(&content, "/bin/a");
	pw_end(&content, NULL);
	pw_feature(w, 2, &content);
	pw_fini(&content);
	for (unsigned i = 3; i < 7; i++) {
		pw_init(&content, false, 0);
		pw_put(&content, 8, 4);
		pw_text(&content, "text");
		pw_feature(w, i, &content);
		pw_fini(&content);
	}
	pw_init(&content, false, 0);
	pw_put(&content, 1, 8);
	pw_put(&content, 1000, 8);
	pw_put(&content, 48, 8);
	pw_feature(w, 18, &content);
	pw_fini(&content);
}

static void
make_pt(struct pw *w)
{
	pw_file(w, false, PW_USUAL);
	pw_info_pt(w, false);
	put_records(w);
	pw_aux(w, &who, 0, 8, PW_TRUNCATED);
	pw_aux(w, &who, 8, 16, 0);
	pw_auxtrace(w, 16, 0, 0, 0, ANY, "1234567812345678", 16);
	pw_auxtrace(w, 8, 0, 1, 1, ANY, "12345678", 8);
	put_header(w);
	pw_finish(w);
}

static void
make_snapshots(struct pw *w)
{
	uint8_t bytes[8192];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 3);
	pw_pipe(w, true, PW_USUAL);
	pw_info_pt(w, true);
	put_records(w);
	pw_auxtrace(w, 8192, 0, 0, 0, ANY, bytes, 8192);
	pw_auxtrace(w, 8192, 0, 0, 0, ANY, bytes, 8192);
}

static void
make_coresight(struct pw *w)
{
	pw_file(w, false, PW_USUAL);
	pw_begin(w, PW_AUXTRACE_INFO, 0);
	pw_put(w, 3, 4);
	pw_put(w, 0, 4);
	pw_put(w, 1, 8);
	pw_put(w, (uint64_t)8 << 32 | 1, 8);
	pw_put(w, 0, 8);
	pw_put(w, 0x4040404040404040, 8);
	pw_put(w, 0, 8);
	pw_put(w, 7, 8);
	for (size_t i = 0; i < 7; i++)
		pw_put(w, 0x10, 8);
	pw_end(w, NULL);
	pw_aux(w, &who, 0, 32, 0);
	/* A frame of ID 0x10. */
	pw_auxtrace(w, 32, 0, 0, 0, ANY,
	    "\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
	    32);
	pw_finish(w);
}

static void
make_unframed(struct pw *w)
{
	struct pw_who other = who;

	other.cpu = 5;
	pw_file(w, false, PW_USUAL);
	pw_begin(w, PW_AUXTRACE_INFO, 0);
	pw_put(w, 3, 4);
	pw_put(w, 0, 4);
	pw_put(w, 1, 8);
	pw_put(w, 0, 8);
	pw_put(w, 0, 8);
	pw_end(w, NULL);
	pw_aux(w, &who, 0, 8, PW_RAW);
	pw_aux(w, &other, 8, 8, PW_RAW);
	pw_auxtrace(w, 16, 0, 0, ANY, 7, "1234567812345678", 16);
	pw_finish(w);
}

static void
make_compressed(struct pw *w)
{
	uint8_t packed[4096];
	struct pw records;
	size_t n;

	pw_init(&records, false, PW_USUAL);
	put_records(&records);
	n = ZSTD_compress(packed, sizeof(packed), records.bytes, records.n, 1);
	assert_false(ZSTD_isError(n));
	pw_file(w, false, PW_USUAL);
	pw_info_spe(w);
	pw_begin(w, PW_COMPRESSED, 0);
	pw_bytes(w, packed, n);
	pw_end(w, NULL);
	/* What is wrong takes memory, too. */
	pw_begin(w, PW_COMPRESSED, 0);
	pw_put(w, 1, 8);
	pw_end(w, NULL);
	pw_auxtrace(w, 16, 0, 0, 0, ANY, "1234567812345678", 16);
	pw_finish(w);
	pw_fini(&records);
}

static void (*const files[])(struct pw *) = { make_pt, make_snapshots,
	make_coresight, make_unframed, make_compressed };

static void
memory_that_is_refused_is_told_and_all_is_given_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct hwtd_context_options o = { .size = sizeof(o) };
		struct failing_allocator f;
		struct hwtd_context *ctx;
		int rc = HWTD_E_NOMEM;
		uint64_t n;
		struct pw w;

		files[i](&w);
		failing_allocator_init(&f);
		o.allocator = &f.allocator;
		assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
		for (n = 1; rc != HWTD_OK; n++) {
			struct hwtd_error err = { .size = sizeof(err) };
			struct hwtd_trace *trace;

			failing_allocator_arm(&f, n, n % 2 != 0);
			rc = pw_open_in(ctx, &w, NULL, &trace, &err);
			failing_allocator_arm(&f, 0, false);
			if (rc == HWTD_OK)
				hwtd_trace_close(trace);
			else
				assert_int_equal(rc, HWTD_E_NOMEM);
			assert_true(n < 5000);
		}
		print_message("%u places\n", (unsigned)n - 1);
		assert_true(n > 20);
		hwtd_context_destroy(ctx);
		assert_int_equal(f.blocks, 0);
		pw_fini(&w);
	}
}

/* A folder with files beside the data: of the kernel, and of process 7. */
static void
make_folder(struct temp_dir *dir)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\n"
				       "ffffffff81000100 T start\n";
	static const char map[] = "700000 10 one\n700010 20 two\n";
	static const char dump[] = "DTiJ and nothing";
	char path[300];
	struct pw w;

	temp_dir_create(dir);
	assert_int_equal(mkdir(temp_dir_file(dir, "kcore_dir", path), 0700),
	    0);
	write_file(temp_dir_file(dir, "kcore_dir/kcore", path), "\177ELF", 4);
	write_file(temp_dir_file(dir, "kcore_dir/kallsyms", path), kallsyms,
	    sizeof(kallsyms) - 1);
	write_file(temp_dir_file(dir, "perf-7.map", path), map,
	    sizeof(map) - 1);
	write_file(temp_dir_file(dir, "jit-7.dump", path), dump,
	    sizeof(dump) - 1);
	make_pt(&w);
	write_file(temp_dir_file(dir, "data", path), w.bytes, w.n);
	pw_fini(&w);
}

static void
so_it_is_with_files_beside_the_data(void **state)
{
	const struct hwtd_search search = { .size = sizeof(search),
		.flags = HWTD_SEARCH_NO_ORIGINAL };
	const struct hwtd_open_options opts = { .size = sizeof(opts),
		.search = &search };
	struct hwtd_context_options o = { .size = sizeof(o) };
	struct failing_allocator f;
	struct hwtd_context *ctx;
	struct temp_dir dir;
	char path[300];
	int rc = HWTD_E_NOMEM;

	(void)state;
	make_folder(&dir);
	(void)temp_dir_file(&dir, "data", path);
	failing_allocator_init(&f);
	o.allocator = &f.allocator;
	assert_int_equal(hwtd_context_create(&o, &ctx, NULL), HWTD_OK);
	for (uint64_t n = 1; rc != HWTD_OK; n++) {
		struct hwtd_error err = { .size = sizeof(err) };
		struct hwtd_trace *trace;

		failing_allocator_arm(&f, n, n % 2 != 0);
		rc = hwtd_trace_open(ctx, path, &opts, &trace, &err);
		failing_allocator_arm(&f, 0, false);
		if (rc == HWTD_OK)
			hwtd_trace_close(trace);
		else
			assert_int_equal(rc, HWTD_E_NOMEM);
		assert_true(n < 5000);
	}
	hwtd_context_destroy(ctx);
	assert_int_equal(f.blocks, 0);
	temp_dir_remove(&dir);
}

static void
little_memory_is_a_limit_and_no_more(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int rc = HWTD_E_NOMEM;
		struct pw w;

		files[i](&w);
		for (uint64_t most = 4096; rc != HWTD_OK; most += most / 4) {
			struct hwtd_context_options o = { .size = sizeof(o),
				.max_memory = most };
			struct hwtd_error err = { .size = sizeof(err) };
			struct hwtd_context *ctx;
			struct hwtd_trace *trace;

			if (hwtd_context_create(&o, &ctx, &err) != HWTD_OK)
				continue;
			rc = pw_open_in(ctx, &w, NULL, &trace, &err);
			if (rc == HWTD_OK)
				hwtd_trace_close(trace);
			else
				assert_true(rc == HWTD_E_NOMEM ||
				    rc == HWTD_E_LIMIT);
			hwtd_context_destroy(ctx);
			assert_true(most < UINT64_C(1) << 26);
		}
		pw_fini(&w);
	}
}

static void
number_of_streams_is_limited(void **state)
{
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	struct pw w;

	(void)state;
	assert_int_equal(hwtd_context_create(NULL, &ctx, NULL), HWTD_OK);
	pw_file(&w, false, PW_USUAL);
	pw_info_pt(&w, false);
	for (uint32_t i = 0; i < 65537; i++)
		pw_auxtrace(&w, 0, 0, i, i, ANY, "", 0);
	pw_finish(&w);
	assert_int_equal(pw_open_in(ctx, &w, NULL, &trace, &err),
	    HWTD_E_LIMIT);
	assert_non_null(strstr(err.message, "65536 CPUs or threads"));
	pw_fini(&w);
	hwtd_context_destroy(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    memory_that_is_refused_is_told_and_all_is_given_back),
		cmocka_unit_test(so_it_is_with_files_beside_the_data),
		cmocka_unit_test(little_memory_is_a_limit_and_no_more),
		cmocka_unit_test(number_of_streams_is_limited),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
