/*
 * A file of many segments that is loaded many times: neither time nor memory
 * grows with their product.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/elf_writer.h"
#include "support/mapped_trace.h"
#include "support/temp_dir.h"

#define SEGMENTS 1024u
#define LOADS 20000u
#define MOST_BYTES ((uint64_t)400 << 20)

/* `n` executable segments that share one page of the file. */
static void
write_segments(const char *path, size_t n, bool apart)
{
	struct elf_writer w;
	size_t table;

	elf_writer_init(&w, true, false, 3, 62);
	(void)elf_writer_segment(&w,
	    &(struct elf_writer_segment){ 1, 5, 0, 0, 0x800, 0x800, 4096 });
	elf_writer_finish(&w);
	(void)elf_writer_put(&w, NULL, 0x1000, 8);
	table = w.n_bytes;
	for (size_t i = 0; i < n; i++) {
		(void)elf_writer_put_number(&w, 1, 4);
		(void)elf_writer_put_number(&w, 5, 4);
		(void)elf_writer_put_number(&w, 0, 8);
		(void)elf_writer_put_number(&w, apart ? i * 0x2000 : 0, 8);
		(void)elf_writer_put_number(&w, 0, 8);
		(void)elf_writer_put_number(&w, 0x800, 8);
		(void)elf_writer_put_number(&w, 0x800, 8);
		(void)elf_writer_put_number(&w, 4096, 8);
	}
	elf_writer_poke(&w, 32, table, 8);
	elf_writer_poke(&w, 56, n, 2);
	write_file(path, w.bytes, w.n_bytes);
	elf_writer_free(&w);
}

static uint64_t
peak_of(struct hwtd_context *ctx)
{
	uint64_t peak = 0;

	hwtd_context_memory(ctx, NULL, &peak);
	return (peak);
}

static void
many_segments_loaded_often_are_unknown_at_last(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		bool apart;
		bool new_space;
	} cases[] = {
		{ "modules", HWTD_REC_MODULE_LOAD, true, false },
		{ "modules of processes", HWTD_REC_MODULE_LOAD, true, true },
		{ "programs", HWTD_REC_EXEC, true, false },
		{ "mappings", HWTD_REC_MMAP, true, false },
		{ "mappings of all at once", HWTD_REC_MMAP, false, false },
	};
	struct temp_dir dir;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *dirs[] = { dir.path };
		const struct hwtd_search search = { .size = sizeof(search),
			.dirs = dirs,
			.n_dirs = 1,
			.flags = HWTD_SEARCH_NO_ORIGINAL };
		const struct hwtd_trace_options o = { .size = sizeof(o),
			.search = &search };
		struct hwtd_image_info info = { .size = sizeof(info) };
		struct small_elf small = { .code = "code", .n_code = 4 };
		struct hwtd_context *ctx;
		struct hwtd_trace *trace;
		struct hwtd_record r;

		print_message("case %s\n", cases[i].name);
		write_segments(temp_dir_file(&dir, "many", path), SEGMENTS,
		    cases[i].apart);
		small_elf_write(&small, temp_dir_file(&dir, "small", path));
		assert_int_equal(hwtd_context_create(NULL, &ctx, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_create(ctx, &o, &trace, NULL),
		    HWTD_OK);
		for (uint32_t k = 0; k < LOADS; k++) {
			r = mr_record(cases[i].type,
			    cases[i].new_space ? k : 5,
			    0x10000000 + k * 0x1000, 0);
			r.name = "/lib/many";
			mr_add(trace, &r);
		}
		r = mr_record(HWTD_REC_MODULE_LOAD, 5, 0x700000, 0);
		r.name = "/lib/small";
		mr_add(trace, &r);
		(void)mt_seal(trace);
		print_message("%llu bytes\n",
		    (unsigned long long)peak_of(ctx));
		assert_true(peak_of(ctx) < MOST_BYTES);
		/* Others are as they would be. */
		mr_assert(trace, 5, NULL, 0x701000, "/lib/small", 0x1000);
		assert_int_equal(hwtd_trace_image(trace, 0, &info), HWTD_OK);
		if (strcmp(cases[i].name, "mappings") != 0) {
			assert_int_equal(info.state, HWTD_IMAGE_MISSING);
			assert_memory_equal(info.text, "limit", 5);
		} else {
			assert_int_equal(info.state, HWTD_IMAGE_FOUND);
		}
		hwtd_trace_close(trace);
		hwtd_context_destroy(ctx);
	}
	temp_dir_remove(&dir);
}

/* A file of many segments is no fault. */
static void
many_segments_loaded_once_are_all_there(void **state)
{
	struct hwtd_trace *trace;
	struct temp_dir dir;
	struct hwtd_record r;
	uint8_t byte = 0;
	size_t n = 0;
	char path[300];

	(void)state;
	temp_dir_create(&dir);
	write_segments(temp_dir_file(&dir, "many", path), SEGMENTS, true);
	trace = mr_create(dir.path);
	r = mr_record(HWTD_REC_MODULE_LOAD, 5, 0x10000000, 0);
	r.name = "/lib/many";
	mr_add(trace, &r);
	(void)mt_seal(trace);
	for (uint64_t i = 0; i < SEGMENTS; i++) {
		struct hwtd_mapping m = { .size = sizeof(m) };

		assert_int_equal(hwtd_space_lookup(trace, 5, NULL,
				     0x10000000 + i * 0x2000, &m),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_read_code(trace, m.section,
				     m.address, &byte, 1, &n),
		    HWTD_OK);
		assert_int_equal(byte, 0x7f);
	}
	hwtd_trace_close(trace);
	temp_dir_remove(&dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    many_segments_loaded_often_are_unknown_at_last),
		cmocka_unit_test(many_segments_loaded_once_are_all_there),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
