/*
 * What repeats itself compresses like a bomb, and comes back all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/memory_trace.h"
#include "support/saved_trace.h"
#include "support/temp_dir.h"

#define MIB ((size_t)1 << 20)

struct fixture {
	struct temp_dir dir;
	char path[300];
	struct hwtd_context *ctx;
	struct hwtd_trace *trace;
	uint32_t n_images;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "a.hwt", f->path);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	f->trace = mt_create_in(f->ctx);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	hwtd_trace_close(f->trace);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	free(f);
	return (0);
}

static size_t
small_or(size_t small, size_t big)
{
	return (getenv("HWTDECODE_TEST_SMALL") != NULL ? small : big);
}

static struct hwtd_trace_info
info_of(const struct hwtd_trace *trace)
{
	struct hwtd_trace_info info = { .size = sizeof(info) };

	assert_int_equal(hwtd_trace_info(trace, &info), HWTD_OK);
	return (info);
}

/* Saved and opened; nothing may be missing.  The first trace is given up. */
static void
save_and_open(struct fixture *f)
{
	struct hwtd_error err = { .size = sizeof(err) };
	const struct hwtd_trace_info before = info_of(mt_seal(f->trace));
	struct hwtd_damage damage = { .size = sizeof(damage) };
	struct hwtd_trace_info after;

	st_save(f->trace, f->path, HWTD_SAVE_IMAGES);
	hwtd_trace_close(f->trace);
	f->trace = NULL;
	if (hwtd_trace_open(f->ctx, f->path, NULL, &f->trace, &err) != HWTD_OK)
		fail_msg("%s", err.message);
	after = info_of(f->trace);
	if (hwtd_trace_damage(f->trace, 0, &damage) == HWTD_OK)
		fail_msg("at %zu: %s", (size_t)damage.file_off, damage.text);
	assert_int_equal(after.n_records, before.n_records);
	assert_int_equal(after.n_images, before.n_images);
	assert_int_equal(after.n_bytes, before.n_bytes);
}

static void
records_that_are_all_equal_come_back(void **state)
{
	/* Records of no fields: what munmap(2) leaves on FreeBSD. */
	const size_t counts[] = { 1, 482, 483, 700000, small_or(1, 1000000) };
	struct fixture *f = *state;
	const struct hwtd_record r = {
		.size = sizeof(r),
		.type = HWTD_REC_MUNMAP,
		.pid = 7,
		.tid = HWTD_NO_ID,
		.cpu = HWTD_NO_ID,
		.stream = HWTD_NO_ID,
		.image = HWTD_NO_ID,
	};
	struct hwtd_record got = { .size = sizeof(got) };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		print_message("case %zu records\n", counts[i]);
		hwtd_trace_close(f->trace);
		f->trace = mt_create_in(f->ctx);
		for (size_t k = 0; k < counts[i]; k++)
			assert_int_equal(hwtd_trace_add_record(f->trace, &r,
					     NULL),
			    HWTD_OK);
		save_and_open(f);
		assert_int_equal(hwtd_trace_record(f->trace, counts[i] - 1,
				     &got),
		    HWTD_OK);
		assert_int_equal(got.type, HWTD_REC_MUNMAP);
		assert_int_equal(got.pid, 7);
		/* Storing a few as they are is not storing all so. */
		assert_true(st_size(f->path) <
		    counts[i] * 136 / 100 + 2 * MIB);
	}
}

static void
descriptions_that_are_nearly_equal_come_back(void **state)
{
	struct fixture *f = *state;
	struct hwtd_image_info info = { .size = sizeof(info) };
	char *path = malloc(65536);
	struct hwtd_image_desc d = {
		.size = sizeof(d),
		.path = path,
		.bytes = "code",
		.n_bytes = 4,
	};
	uint32_t id = 0;

	memset(path, 'a', 65535);
	path[65535] = '\0';
	for (size_t i = 0; i < 2500; i++)
		assert_int_equal(hwtd_trace_add_image(f->trace, &d, &id, NULL),
		    HWTD_OK);
	save_and_open(f);
	assert_int_equal(hwtd_trace_image(f->trace, id, &info), HWTD_OK);
	assert_string_equal(info.path, path);
	assert_int_equal(info.n_bytes, 4);
	free(path);
}

static void
bytes_that_are_all_equal_come_back(void **state)
{
	const size_t n = small_or(70, 160) * MIB;
	struct fixture *f = *state;
	uint8_t *zeros = calloc(1, n);
	struct hwtd_image_info info = { .size = sizeof(info) };
	struct pt_packets packets = { 0 };
	uint32_t stream, image;
	uint8_t *got = malloc(n);
	size_t n_got = 0;

	image = mt_code(f->trace, 0x10000, zeros, n);
	stream = mt_stream(f->trace, &packets, NULL);
	assert_int_equal(hwtd_trace_add_bytes(f->trace, stream, zeros, n,
			     NULL),
	    HWTD_OK);
	save_and_open(f);
	assert_int_equal(hwtd_trace_image(f->trace, image, &info), HWTD_OK);
	assert_int_equal(info.n_bytes, n);
	assert_int_equal(hwtd_trace_read_bytes(f->trace, stream, 0, got, n,
			     &n_got, NULL),
	    HWTD_OK);
	assert_int_equal(n_got, n);
	assert_memory_equal(got, zeros, n);
	free(got);
	free(zeros);
}

/* What could not be opened again is not written. */
static void
more_than_a_reader_takes_is_not_saved(void **state)
{
	const struct hwtd_context_options o = {
		.size = sizeof(o),
		.max_image = 3 * MIB,
	};
	struct hwtd_error err = { .size = sizeof(err) };
	struct fixture *f = *state;
	uint8_t *bytes = st_noise(2 * MIB, 1);

	hwtd_trace_close(f->trace);
	hwtd_context_destroy(f->ctx);
	assert_int_equal(hwtd_context_create(&o, &f->ctx, NULL), HWTD_OK);
	f->trace = mt_create_in(f->ctx);
	(void)mt_code(f->trace, 0, bytes, 2 * MIB);
	bytes[0]++;
	(void)mt_code(f->trace, 16 * MIB, bytes, 2 * MIB);
	free(bytes);
	(void)mt_seal(f->trace);
	assert_int_equal(hwtd_trace_save(f->trace, f->path, NULL, &err),
	    HWTD_E_LIMIT);
	assert_non_null(strstr(err.message, "max_image"));
	assert_int_equal(temp_dir_count(&f->dir), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(records_that_are_all_equal_come_back),
		T(descriptions_that_are_nearly_equal_come_back),
		T(bytes_that_are_all_equal_come_back),
		T(more_than_a_reader_takes_is_not_saved),
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
