/*
 * Windows over raw bytes: from memory, files and chunks, against a plain copy
 * of the bytes.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sample_trace.h"
#include "support/temp_dir.h"
#include "trace/trace_model.h"

#define BYTES ((size_t)700000)

struct fixture {
	struct temp_dir dir;
	struct hwtd_context *ctx;
	uint8_t *bytes;
	/* The same stream three times, in extents at `breaks`. */
	struct hwtd_trace *memory;
	struct hwtd_trace *chunks;
	struct hwtd_trace *raw;
};

static const uint64_t breaks[] = { 0, 1, 250000, 250010, BYTES };

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct hwtd_stream_desc d = {
		.size = sizeof(d),
		.tech = HWTD_TECH_INTEL_PT,
	};
	const struct hwtd_open_options o = {
		.size = sizeof(o),
		.tech = HWTD_TECH_INTEL_PT,
	};
	const struct hwtd_save_options so = {
		.size = sizeof(so),
		.chunk_bytes = 10000,
	};
	char path[300], raw[300];
	uint32_t id;

	temp_dir_create(&f->dir);
	(void)temp_dir_file(&f->dir, "a.hwt", path);
	f->bytes = malloc(BYTES);
	/* Half of it compresses. */
	memset(f->bytes, 0x5a, BYTES);
	random_bytes(11, f->bytes, BYTES / 2);
	assert_int_equal(hwtd_context_create(NULL, &f->ctx, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_create(f->ctx, NULL, &f->memory, NULL),
	    HWTD_OK);
	assert_int_equal(hwtd_trace_add_stream(f->memory, &d, &id, NULL),
	    HWTD_OK);
	for (size_t i = 0; i + 1 < sizeof(breaks) / sizeof(breaks[0]); i++) {
		uint64_t at = breaks[i];

		assert_int_equal(hwtd_trace_start_extent(f->memory, id,
				     HWTD_EXTENT_NEW, NULL),
		    HWTD_OK);
		/* In parts of odd sizes. */
		while (at < breaks[i + 1]) {
			size_t n = breaks[i + 1] - at < 7777
			    ? (size_t)(breaks[i + 1] - at)
			    : 7777;

			assert_int_equal(hwtd_trace_add_bytes(f->memory, id,
					     f->bytes + at, n, NULL),
			    HWTD_OK);
			at += n;
		}
	}
	assert_int_equal(hwtd_trace_seal(f->memory, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_save(f->memory, path, &so, NULL), HWTD_OK);
	assert_int_equal(hwtd_trace_open(f->ctx, path, NULL, &f->chunks, NULL),
	    HWTD_OK);
	write_file(temp_dir_file(&f->dir, "raw", raw), f->bytes, BYTES);
	assert_int_equal(hwtd_trace_open(f->ctx, raw, &o, &f->raw, NULL),
	    HWTD_OK);
	*state = f;
	return (0);
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;
	uint64_t now = 1;

	hwtd_trace_close(f->memory);
	hwtd_trace_close(f->chunks);
	hwtd_trace_close(f->raw);
	hwtd_context_memory(f->ctx, &now, NULL);
	assert_int_equal(now, 0);
	hwtd_context_destroy(f->ctx);
	temp_dir_remove(&f->dir);
	free(f->bytes);
	free(f);
	return (0);
}

/* See many ranges of one extent, forth and back, small and large. */
static int
ranges_are_true(struct hwtd_trace *trace, const uint8_t *bytes, uint64_t seed,
    int rounds)
{
	struct hwtd_damage damage;
	struct hwtdi_window *window;
	int bad = 0;

	if (hwtdi_window_create(trace, 0, &window, NULL) != HWTD_OK)
		return (1);
	for (int i = 0; i < rounds; i++) {
		struct hwtd_extent e = { .size = sizeof(e) };
		const uint8_t *got;
		uint64_t off, n;

		if (hwtd_trace_extent(trace, 0,
			(size_t)(next_random(&seed) % 4), &e) != HWTD_OK)
			continue;
		off = e.start + next_random(&seed) % (e.end - e.start);
		n = next_random(&seed) % (e.end - off + 1);
		if (i % 3 != 0)
			n %= 64;
		if (hwtdi_window_see(window, off, (size_t)n, &got, &damage,
			NULL) != HWTD_OK ||
		    memcmp(got, bytes + off, (size_t)n) != 0)
			bad++;
	}
	hwtdi_window_destroy(window);
	return (bad);
}

static void
every_range_of_an_extent_is_seen(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ranges_are_true(f->memory, f->bytes, 1, 600), 0);
	assert_int_equal(ranges_are_true(f->chunks, f->bytes, 2, 600), 0);
	assert_int_equal(ranges_are_true(f->raw, f->bytes, 3, 600), 0);
}

/* As decoders go: steps with an overlap. */
static void
overlapping_steps_are_seen(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *traces[3] = { f->memory, f->chunks, f->raw };

	for (size_t t = 0; t < 3; t++) {
		struct hwtdi_window *window;
		struct hwtd_damage damage;
		const uint8_t *got;

		assert_int_equal(hwtdi_window_create(traces[t], 0, &window,
				     NULL),
		    HWTD_OK);
		for (uint64_t at = 250010; at + 50000 <= BYTES; at += 30011) {
			assert_int_equal(hwtdi_window_see(window, at, 50000,
					     &got, &damage, NULL),
			    HWTD_OK);
			assert_memory_equal(got, f->bytes + at, 50000);
		}
		hwtdi_window_destroy(window);
	}
}

static void
ranges_across_extents_are_invalid(void **state)
{
	struct fixture *f = *state;
	struct hwtd_error err = { .size = sizeof(err) };
	struct hwtdi_window *window;
	struct hwtd_damage damage;
	const uint8_t *got;

	assert_int_equal(hwtdi_window_create(f->chunks, 0, &window, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_window_see(window, 0, 2, &got, &damage, &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_window_see(window, 249999, 2, &got, &damage,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_window_see(window, BYTES, 1, &got, &damage,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_window_see(window, UINT64_MAX, 1, &got, &damage,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_window_see(window, 5, SIZE_MAX, &got, &damage,
			     &err),
	    HWTD_E_INVALID);
	assert_int_equal(hwtdi_window_see(window, BYTES, 0, &got, &damage,
			     &err),
	    HWTD_OK);
	assert_non_null(got);
	hwtdi_window_destroy(window);
	hwtdi_window_destroy(NULL);
	assert_int_equal(hwtdi_window_create(f->chunks, 1, &window, NULL),
	    HWTD_E_NOT_FOUND);
}

static void
memory_is_seen_in_place(void **state)
{
	struct fixture *f = *state;
	struct hwtdi_window *window;
	struct hwtd_damage damage;
	const uint8_t *a, *b;

	assert_int_equal(hwtdi_window_create(f->memory, 0, &window, NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_window_see(window, 1, 249999, &a, &damage,
			     NULL),
	    HWTD_OK);
	assert_int_equal(hwtdi_window_see(window, 1001, 5, &b, &damage, NULL),
	    HWTD_OK);
	assert_ptr_equal(a + 1000, b);
	hwtdi_window_destroy(window);
}

static void
read_bytes_goes_across_extents(void **state)
{
	struct fixture *f = *state;
	struct hwtd_trace *traces[3] = { f->memory, f->chunks, f->raw };
	uint8_t *buf = malloc(BYTES + 10);
	size_t n;

	for (size_t t = 0; t < 3; t++) {
		assert_int_equal(hwtd_trace_read_bytes(traces[t], 0, 0, buf,
				     BYTES + 10, &n, NULL),
		    HWTD_OK);
		assert_int_equal(n, BYTES);
		assert_memory_equal(buf, f->bytes, BYTES);
		assert_int_equal(hwtd_trace_read_bytes(traces[t], 0, BYTES - 3,
				     buf, 10, &n, NULL),
		    HWTD_OK);
		assert_int_equal(n, 3);
		assert_int_equal(hwtd_trace_read_bytes(traces[t], 0,
				     UINT64_MAX, buf, 10, &n, NULL),
		    HWTD_OK);
		assert_int_equal(n, 0);
		assert_int_equal(hwtd_trace_read_bytes(traces[t], 0, 5, NULL,
				     0, &n, NULL),
		    HWTD_OK);
		assert_int_equal(hwtd_trace_read_bytes(traces[t], 9, 0, buf,
				     10, &n, NULL),
		    HWTD_E_NOT_FOUND);
		assert_int_equal(hwtd_trace_read_bytes(traces[t], 0, 0, NULL,
				     10, &n, NULL),
		    HWTD_E_INVALID);
	}
	free(buf);
}

struct worker {
	pthread_t thread;
	struct fixture *f;
	uint64_t seed;
	int bad;
};

static void *
work(void *arg)
{
	struct worker *w = arg;

	w->bad = ranges_are_true(w->f->chunks, w->f->bytes, w->seed, 150) +
	    ranges_are_true(w->f->raw, w->f->bytes, w->seed, 150);
	return (NULL);
}

static void
threads_have_windows_on_one_trace(void **state)
{
	struct worker workers[4];

	for (size_t i = 0; i < 4; i++) {
		workers[i].f = *state;
		workers[i].seed = 100 + i;
		workers[i].bad = -1;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work,
				     &workers[i]),
		    0);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
		assert_int_equal(workers[i].bad, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_range_of_an_extent_is_seen),
		cmocka_unit_test(overlapping_steps_are_seen),
		cmocka_unit_test(ranges_across_extents_are_invalid),
		cmocka_unit_test(memory_is_seen_in_place),
		cmocka_unit_test(read_bytes_goes_across_extents),
		cmocka_unit_test(threads_have_windows_on_one_trace),
	};

	return (cmocka_run_group_tests(tests, set_up, tear_down));
}
