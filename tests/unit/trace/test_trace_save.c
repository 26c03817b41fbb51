/*
 * Saving: what comes back is what was there, and the file appears whole or
 * not at all.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/sample_trace.h"
#include "support/temp_dir.h"
#include "trace/container/hwt_writer.h"
#include "trace/trace_model.h"

struct fixture {
	struct temp_dir dir;
	struct hwtd_context *ctx;
	struct hwtd_trace *sample;
	char path[300];
	char other[300];
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "a.hwt", f->path);
	(void)temp_dir_file(&f->dir, "b.hwt", f->other);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	assert_int_equal(sample_trace_build(f->ctx, &f->sample, NULL),
	    HWTD_OK);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;
	uint64_t now = 1;

	hwtd_trace_close(f->sample);
	hwtd_context_memory(f->ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

static struct hwtd_trace *
save_and_open(struct fixture *f, struct hwtd_trace *trace, const char *path,
    const struct hwtd_save_options *o)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtd_trace *back;

	if (hwtd_trace_save(trace, path, o, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	assert_int_equal(hwtd_trace_open(f->ctx, path, NULL, &back, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_info(back, &info), HWTD_OK);
	assert_int_equal(info.n_damages, 0);
	assert_string_equal(info.format, "hwt");
	return (back);
}

static void
everything_comes_back(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int32_t level;
		uint32_t flags;
		uint32_t chunk_bytes;
	} cases[] = {
		{ 0, 0, 0 },
		{ -1, 0, 0 },
		{ 19, HWTD_SAVE_IMAGES, 0 },
		{ 1, 0, 1 },
		{ 0, 0, 7 },
		{ -5, 0, 128 },
		{ 0, HWTD_SAVE_IMAGES, 16u << 20 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct hwtd_save_options o = {
			.size = sizeof(o),
			.level = cases[i].level,
			.flags = cases[i].flags,
			.chunk_bytes = cases[i].chunk_bytes,
		};
		struct hwtd_trace *once, *twice;
		const char *difference;

		once = save_and_open(f, f->sample, f->path, &o);
		difference = trace_difference(f->sample, once);
		if (difference != NULL)
			fail_msg("case %zu: %s", i, difference);
		/* From the file again, over itself. */
		twice = save_and_open(f, once, f->path, &o);
		difference = trace_difference(f->sample, twice);
		if (difference != NULL)
			fail_msg("case %zu again: %s", i, difference);
		hwtd_trace_close(twice);
		/* The old file is gone from the folder but still open. */
		assert_null(trace_difference(f->sample, once));
		hwtd_trace_close(once);
		assert_int_equal(temp_dir_count(&f->dir), 1);
	}
}

static void
same_trace_makes_the_same_file(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *back;
	uint8_t *a, *b;
	size_t na, nb;

	back = save_and_open(f, f->sample, f->path, NULL);
	assert_int_equal(hwtd_trace_save(back, f->other, NULL, NULL), HWTD_OK);
	hwtd_trace_close(back);
	a = read_file(f->path, &na);
	b = read_file(f->other, &nb);
	assert_int_equal(na, nb);
	assert_memory_equal(a, b, na);
	free(a);
	free(b);
}

static void
empty_trace_comes_back_empty(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *trace, *back;

	assert_int_equal(hwtd_trace_create(f->ctx, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	back = save_and_open(f, trace, f->path, NULL);
	assert_null(trace_difference(trace, back));
	hwtd_trace_close(trace);
	hwtd_trace_close(back);
}

/* More than one chunk of records, of an image and of the index. */
static void
large_tables_come_back(void **state)
{
	struct fixture *f = *state;
	const struct hwtd_stream_desc d = { .size = sizeof(d) };
	const size_t n_code = 3000001, n_bytes = 40000;
	struct hwtd_image_desc i = { .size = sizeof(i) };
	struct hwtd_save_options o = { .size = sizeof(o) };
	struct hwtd_record r = { .size = sizeof(r) };
	uint8_t *code = malloc(n_code);
	char name[65537];
	struct hwtd_trace *trace, *back;
	uint32_t id;

	random_bytes(5, code, n_code);
	i.bytes = code;
	i.n_bytes = n_code;
	i.path = "large";
	i.flags = HWTD_IMAGEF_ADDRESS;
	assert_int_equal(hwtd_trace_create(f->ctx, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_stream(trace, &d, &id, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_add_bytes(trace, id, code, n_bytes, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_image(trace, &i, NULL, NULL), HWTD_OK);
	memset(name, 'n', sizeof(name));
	name[65535] = '\0';
	r.name = name;
	for (uint32_t k = 0; k < 5000; k++) {
		/* Now and then a name as long as can be. */
		r.name = k % 1000 == 0 ? name : "short";
		r.value = k;
		assert_int_equal(hwtd_trace_add_record(trace, &r, NULL),
		    HWTD_OK);
	}
	name[65535] = 'n';
	name[65536] = '\0';
	r.name = name;
	assert_int_equal(hwtd_trace_add_record(trace, &r, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);
	/* 20000 chunks. */
	o.chunk_bytes = 2;
	o.level = -1;
	back = save_and_open(f, trace, f->path, &o);
	assert_null(trace_difference(trace, back));
	hwtd_trace_close(back);
	hwtd_trace_close(trace);
	free(code);
}

static void
images_of_files_are_found_again_or_saved(void **state)
{
	struct fixture *f = *state;
	struct hwtd_image_desc d = { .size = sizeof(d) };
	struct hwtd_save_options o = { .size = sizeof(o) };
	struct hwtdi_span span;
	struct hwtd_trace *trace, *back, *again;
	char program[300];

	write_file(temp_dir_file(&f->dir, "program", program), "the code", 8);
	d.path = program;
	d.offset = 4;
	d.flags = HWTD_IMAGEF_ADDRESS;
	d.address = 0x1000;
	assert_int_equal(hwtd_trace_create(f->ctx, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_image(trace, &d, NULL, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_seal(trace, NULL), HWTD_OK);

	/* By name only: read from the program. */
	back = save_and_open(f, trace, f->path, &o);
	assert_null(trace_difference(trace, back));
	hwtd_trace_close(back);
	/* Another program has that name now: no code, but nothing else. */
	write_file(program, "the cope", 8);
	back = save_and_open(f, trace, f->path, &o);
	assert_int_equal(hwtdi_trace_find_code(back,
			     &(struct hwtdi_code_place){ 0 }, 0x1000, &span),
	    HWTD_E_UNSUPPORTED);
	/* Saved without its bytes it is still found when it is back. */
	assert_int_equal(hwtd_trace_save(back, f->other, &o, NULL), HWTD_OK);
	hwtd_trace_close(back);
	write_file(program, "the code", 8);
	assert_int_equal(hwtd_trace_open(f->ctx, f->other, NULL, &again, NULL),
	    HWTD_OK);
	assert_null(trace_difference(trace, again));
	hwtd_trace_close(again);

	/* With its bytes: needs no program. */
	o.flags = HWTD_SAVE_IMAGES;
	assert_int_equal(hwtd_trace_save(trace, f->path, &o, NULL), HWTD_OK);
	assert_int_equal(unlink(program), 0);
	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &back, NULL),
	    HWTD_OK);
	assert_null(trace_difference(trace, back));
	hwtd_trace_close(back);
	hwtd_trace_close(trace);
}

static void
failed_save_leaves_what_was_there(void **state)
{
	struct fixture *f = *state;
	struct hwtd_save_options o = { .size = sizeof(o) };
	struct hwtd_error err = { .size = sizeof(err) };
	char folder[300], missing[300];
	struct stat st;

	write_file(f->path, "old", 3);
	o.level = 100;
	assert_int_equal(hwtd_trace_save(f->sample, f->path, &o, &err),
	    HWTD_E_INVALID);
	o.level = 0;
	o.chunk_bytes = (16u << 20) + 1;
	assert_int_equal(hwtd_trace_save(f->sample, f->path, &o, &err),
	    HWTD_E_INVALID);
	o.chunk_bytes = 0;
	o.flags = 0x10;
	assert_int_equal(hwtd_trace_save(f->sample, f->path, &o, &err),
	    HWTD_E_INVALID);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(mkdir(temp_dir_file(&f->dir, "folder", folder), 0700),
	    0);
	assert_int_equal(hwtd_trace_save(f->sample, folder, NULL, &err),
	    HWTD_E_IO);
	assert_int_equal(err.sys_errno, EISDIR);
	assert_int_equal(hwtd_trace_save(f->sample,
			     temp_dir_file(&f->dir, "no/file", missing), NULL,
			     &err),
	    HWTD_E_IO);
	assert_int_equal(err.sys_errno, ENOENT);
	/* A device must not be replaced by a file. */
	assert_int_equal(hwtd_trace_save(f->sample, "/dev/null", NULL, &err),
	    HWTD_E_IO);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(temp_dir_count(&f->dir), 2);
}

/* What a killed capture leaves: everything that was flushed. */
static void
unfinished_file_in_place_is_readable(void **state)
{
	struct fixture *f = *state;
	const struct hwtdi_writer_options o = { .in_place = true };
	const struct hwtd_stream_desc d = { .size = sizeof(d) };
	struct hwtd_record r = { .size = sizeof(r) };
	struct hwtd_trace_info info = { .size = sizeof(info) };
	struct hwtd_damage damage = { .size = sizeof(damage) };
	struct hwtd_extent e = { .size = sizeof(e) };
	struct hwtdi_trace_text text = { 0 };
	char abi[] = "freebsd-amd64";
	struct hwtdi_writer *w;
	struct hwtd_trace *trace;
	uint32_t id;

	text.abi = abi;
	r.image = HWTD_NO_ID;
	assert_int_equal(hwtdi_writer_create(f->ctx, f->path, &o, &w, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_writer_meta(w, &text, NULL), HWTD_OK);
	assert_int_equal(hwtdi_writer_stream(w, &d, &id, NULL), HWTD_OK);
	assert_int_equal(hwtdi_writer_bytes(w, id, "12345", 5, NULL), HWTD_OK);
	assert_int_equal(hwtdi_writer_record(w, &r, NULL), HWTD_OK);
	assert_int_equal(hwtdi_writer_flush(w, NULL), HWTD_OK);
	assert_int_equal(hwtdi_writer_extent(w, id, 5, HWTD_EXTENT_AFTER_LOSS,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_writer_bytes(w, id, "678", 3, NULL), HWTD_OK);
	/* Not flushed. */
	assert_int_equal(hwtdi_writer_record(w, &r, NULL), HWTD_OK);
	assert_int_equal(hwtdi_writer_extent(w, id, 7, HWTD_EXTENT_NEW, NULL),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_writer_bytes(w, 1, "x", 1, NULL),
	    HWTD_E_NOT_FOUND);
	hwtdi_writer_destroy(w);

	assert_int_equal(hwtd_trace_open(f->ctx, f->path, NULL, &trace, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	assert_int_equal(info.n_bytes, 8);
	assert_int_equal(info.n_records, 1);
	assert_int_equal(info.n_damages, 1);
	assert_int_equal(hwtd_trace_damage(trace, 0, &damage), HWTD_OK);
	assert_int_equal(damage.file_bytes, 0);
	assert_int_equal(hwtd_trace_extent(trace, 0, 1, &e), HWTD_OK);
	assert_int_equal(e.start, 5);
	assert_int_equal(e.why, HWTD_EXTENT_AFTER_LOSS);
	hwtd_trace_close(trace);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(everything_comes_back),
		T(same_trace_makes_the_same_file),
		T(empty_trace_comes_back_empty),
		T(large_tables_come_back),
		T(images_of_files_are_found_again_or_saved),
		T(failed_save_leaves_what_was_there),
		T(unfinished_file_in_place_is_readable),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
